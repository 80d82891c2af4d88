"""Files that appear complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
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
    """Give a path beside the target to write to; it takes the target's place at the end, or goes away on failure."""
    part = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        yield part
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
