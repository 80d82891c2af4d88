"""Who compiles what: of several processes that want the same kernel, one compiles it and the others wait for its file.

A claim is a lock on a file beside the kernel's. The system lets it go when its process ends, however it ends. Where there
are no locks, nobody waits, and work is done twice.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None  # type: ignore[assignment]

__all__ = ["AVAILABLE", "BusyError", "Claim", "unhurried"]

AVAILABLE = fcntl is not None
PATIENCE, PAUSE = 300.0, 0.05  # [s] to wait for another process at most, and between two looks
_THREAD = threading.local()


class BusyError(Exception):
    """Another process is compiling the kernel; raised only to those who have other things to do meanwhile."""


@contextlib.contextmanager
def unhurried() -> Iterator[None]:
    """Inside, in this thread, a kernel that another process is compiling raises `BusyError` instead of being waited for."""
    _THREAD.unhurried = True
    try:
        yield
    finally:
        _THREAD.unhurried = False


class Claim:
    """The right to compile a kernel."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file: IO[Any] | None = None

    def take(self) -> None:
        """Take it, after whoever has it."""
        if self.file is None and AVAILABLE:
            with contextlib.suppress(OSError):  # nothing can be written there, or the disk knows no locks
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._lock(open(self.path, "a"))

    def _lock(self, file: IO[Any]) -> None:
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if getattr(_THREAD, "unhurried", False):
                    file.close()
                    raise BusyError from None
                time.sleep(PAUSE)
                continue
            self.file = file
            return
        file.close()

    def drop(self) -> None:
        """Let others have it."""
        if self.file is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            self.file.close()
            self.file = None
