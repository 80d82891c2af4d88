"""Files that appear complete or not at all, also when the machine stops in between."""

from __future__ import annotations

import glob
import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from anguilla.compiler.interrupts import held_back
from anguilla.errors import AnguillaError, DescriptionError, as_path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["as_target", "whole_file", "write_archive", "write_bytes"]


def as_target(
    path: str | os.PathLike[str], suffixes: tuple[str, ...], elsewhere: Mapping[str, str] = MappingProxyType({})
) -> Path:
    """Return the path of a file to write, or raise an error naming the folder or the suffixes that would do.

    Args:
        path: where to write.
        suffixes: ends of names that can be written.
        elsewhere: who writes others, by the end of the name.

    """
    target = as_path(path)
    ending = target.suffix.lower()
    if ending not in suffixes:
        hint = f": {elsewhere[ending]}" if ending in elsewhere else ""
        raise DescriptionError(f"path must end in {' or '.join(suffixes)}; got {str(target)!r}{hint}.")
    if not target.parent.is_dir():
        raise DescriptionError(f"path must lie in an existing folder; there is no folder {str(target.parent)!r}.")
    if target.is_dir():
        raise DescriptionError(f"path must name a file; {str(target)!r} is a folder.")
    return target


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give a path beside the target to write to.

    At the end it is forced to the disk and takes the target's place in one step; on failure it goes away and the target
    stays as it was. What the disk refuses is raised as one AnguillaError.
    """
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex[:8]}.part{target.suffix}")
    try:
        with _marked(part):
            try:
                yield part
                with open(part, "rb+") as stream:
                    os.fsync(stream.fileno())
                os.replace(part, target)
            finally:
                part.unlink(missing_ok=True)
        _sync_folder(target.parent)
        _remove_abandoned(target)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(part), part):
            raise
        raise AnguillaError(
            f"{str(target)!r} could not be written ({error.strerror}); what was there before is unchanged. Make room, or "
            "name another place."
        ) from None


def write_bytes(part: Path, *data: bytes | memoryview) -> None:
    """Write a file of some pieces, after the disk has promised the room for it."""
    size = sum(len(piece) for piece in data)
    with open(part, "wb") as stream:
        if hasattr(os, "posix_fallocate") and size:
            os.posix_fallocate(stream.fileno(), 0, size)
        stream.writelines(data)


def write_archive(stream: IO[bytes], write: Callable[..., None], arrays: Mapping[str, Any]) -> None:
    """Write arrays by name with `numpy.savez` or `numpy.savez_compressed`.

    Ctrl-C waits until it is done: their ZipFile, interrupted, raises a ValueError in place of KeyboardInterrupt, and another
    when it is collected.
    """
    with held_back():
        write(stream, **arrays)


@contextmanager
def _marked(part: Path) -> Iterator[None]:
    """Make a file and mark it as being written, until this process ends, however it does."""
    handle = os.open(part, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Whether a file could be locked: nobody else is writing it."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # locked, or a disk without locks
        return False
    return True


def _remove_abandoned(target: Path) -> None:
    """Remove what processes left that were killed while they wrote the target."""
    pattern = f".{glob.escape(target.stem)}.{'[0-9a-f]' * 8}.part{glob.escape(target.suffix)}"
    for part in target.parent.glob(pattern):
        with suppress(OSError):
            handle = os.open(part, os.O_RDWR)
            try:
                if _lock(handle):
                    part.unlink()
            finally:
                os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Force the new name to the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
