"""Files that appear complete or not at all, also when the machine stops in between."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anguilla.errors import DescriptionError

__all__ = ["as_target", "whole_file"]


def as_target(path: str | os.PathLike[str], suffixes: tuple[str, ...]) -> Path:
    """Return the path of a file to write, or raise an error naming the folder or the suffixes that would do."""
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        raise DescriptionError(f"path must end in {' or '.join(suffixes)}; got {str(target)!r}.")
    if not target.parent.is_dir():
        raise DescriptionError(f"path must lie in an existing folder; there is no folder {str(target.parent)!r}.")
    if target.is_dir():
        raise DescriptionError(f"path must name a file; {str(target)!r} is a folder.")
    return target


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give a path beside the target to write to.

    At the end it is forced to the disk and takes the target's place in one step; on failure it goes away and the target
    stays as it was.
    """
    part = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        yield part
        with open(part, "rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(part, target)
        _sync_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Force the new name to the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
