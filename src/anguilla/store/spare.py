"""Files that stand in for a result as long as it is nowhere but in memory, such as the checkpoint it was made with.

A spare file goes when the result is saved, when nothing refers to the result any more, or when the program ends in peace. It
stays when the process is killed, ends with an error, or could not save the result.
"""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["drop_spare", "keep_spare", "leave_spares", "saved", "unsaved"]

_SPARES: dict[Path, weakref.finalize] = {}


def keep_spare(result: Any, path: Path) -> None:
    """Let a file stand in for a result."""
    if path.exists():
        _SPARES[path.absolute()] = spare = weakref.finalize(result, _remove, path.absolute(), os.getpid())
        # not as soon as an error drops it, such as Ctrl-C while it is saved: the garbage collector comes later
        vars(result)["kept_by"] = result
        spare.atexit = False


def saved(result: Any) -> None:
    """The result is in a file of its own."""
    for path in _of(result):
        drop_spare(path)


def unsaved(result: Any) -> None:
    """The result could not be saved: its spare file stays for good."""
    for path in _of(result):
        _SPARES.pop(path).detach()


def _of(result: Any) -> list[Path]:
    """Spare files of a result."""
    alive = {path: spare.peek() for path, spare in _SPARES.items()}
    return [path for path, kept in alive.items() if kept is not None and kept[0] is result]


def drop_spare(path: Path) -> None:
    """Remove a file, if it is the spare of a result of this process."""
    spare = _SPARES.pop(path.absolute(), None)
    if spare is not None:
        spare()


def leave_spares() -> None:
    """Leave all spare files where they are: the program failed, or was interrupted."""
    while _SPARES:
        _SPARES.popitem()[1].detach()


def _remove(path: Path, process: int) -> None:
    _SPARES.pop(path, None)
    if os.getpid() == process:  # a fork has copies of our results
        with suppress(OSError):
            path.unlink()


@atexit.register
def _end() -> None:
    if getattr(sys, "last_value", None) is None:  # set by an error that ended the program
        for path in list(_SPARES):
            drop_spare(path)
