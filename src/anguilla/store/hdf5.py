"""What a file of a result may be, looked at before any of its numbers are read.

A small file can announce arrays that no memory holds, name other files to be read in its place, or ask for filters from
elsewhere. A result as we write it does none of this: all that it announces is in the file, packed with gzip at most.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from anguilla.errors import DescriptionError

__all__ = ["check_seal", "check_sizes", "seal", "sealed"]

PACKED = 1100  # gzip makes data smaller by a factor of 1032 at most
SMALL = 1 << 16  # [bytes] of an array that need not be in the file: empty ones, fill values
FREE, FACTOR = 256_000_000, 100  # bytes that any file may unfold to; beyond, times its own size
MOST_VARIABLES, MOST_TEXTS, MOST_FACTS = 10_000, 100_000, 1000
MARK = b"\nanguilla-sha256 "
FILTERS = {1: "gzip", 2: "shuffle", 3: "checksum"}


def seal(pieces: Iterable[bytes | memoryview]) -> bytes:
    """A hash of the bytes of a file, to stand behind them where HDF5 does not look; a program that changes it cuts it off."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return MARK + digest.hexdigest().encode() + b"\n"


def sealed(image: bytes) -> bytes:
    """The bytes of a file with their seal."""
    return image + seal([image])


def check_seal(path: Path) -> bool:
    """Return whether there is a hash behind a file; raise a DescriptionError if it is not that of its bytes.

    HDF5 may never end on damaged ones.
    """
    tail = len(seal([]))
    size = path.stat().st_size - tail
    if size < 0:
        return False
    with open(path, "rb") as stream:
        stream.seek(size)
        if not (found := stream.read(tail)).startswith(MARK):
            return False
        stream.seek(0)
        digest, left = hashlib.sha256(), size
        while left > 0 and (piece := stream.read(min(left, 1 << 20))):
            digest.update(piece)
            left -= len(piece)
    if found[len(MARK) : -1] != digest.hexdigest().encode():
        raise DescriptionError("its bytes are not those that were written.")
    return True


def check_sizes(path: Path) -> None:
    """Raise a DescriptionError if reading an HDF5 file could take much more memory than it has bytes, or other files."""
    import h5py

    size = path.stat().st_size
    most = FREE + FACTOR * size
    with h5py.File(path, "r") as file:
        if len(file) > MOST_VARIABLES:
            raise DescriptionError(f"it has {len(file)} variables; at most {MOST_VARIABLES} are read.")
        total = _facts(file.attrs, "the file")
        for name in file:
            if not isinstance(file.get(name, getlink=True), h5py.HardLink):
                raise DescriptionError(f"its variable {name!r} is a link, maybe to another file.")
            thing = file[name]
            if not isinstance(thing, h5py.Dataset):
                raise DescriptionError(f"its entry {name!r} is not a variable.")
            total += _variable(name, thing, size) + _facts(thing.attrs, repr(name))
            if total > most:
                raise DescriptionError(f"its {size} bytes would unfold to more than {most}.")


def _variable(name: str, variable: Any, size: int) -> int:
    """Bytes that a variable takes in memory at most, without the texts that it may name many times."""
    import h5py

    layout = variable.id.get_create_plist()
    used = [layout.get_filter(k)[0] for k in range(layout.get_nfilters())]
    if variable.is_virtual or layout.get_external_count():
        raise DescriptionError(f"its variable {name!r} takes its values from another file.")
    if len(set(used)) < len(used) or not set(used) <= FILTERS.keys():
        raise DescriptionError(f"its variable {name!r} is compressed in an unsupported way; only gzip is read.")
    count = math.prod(variable.shape or ())
    if variable.dtype.kind == "O":
        texts = h5py.check_string_dtype(variable.dtype) is not None
        if not texts or count > MOST_TEXTS or len(variable.shape) > 1:
            raise DescriptionError(f"its variable {name!r} is not a text, nor a list of {MOST_TEXTS} at most.")
        return count * 64
    if variable.dtype.kind not in "biufS":
        raise DescriptionError(f"its variable {name!r} holds neither numbers nor texts.")
    needed, stored = count * variable.dtype.itemsize, variable.id.get_storage_size()
    if needed > SMALL + PACKED * stored or stored > size:
        raise DescriptionError(f"its variable {name!r} announces {needed} bytes, and {stored} are in the file.")
    if variable.chunks is not None and math.prod(variable.chunks) * variable.dtype.itemsize > max(needed, SMALL):
        raise DescriptionError(f"its variable {name!r} has chunks larger than itself.")
    return int(needed)


def _facts(facts: Any, owner: str) -> int:
    """Bytes of the attributes of a file or a variable; those that tie dimensions together are the library's own."""
    total = 0
    for name in facts:
        if name in ("DIMENSION_LIST", "REFERENCE_LIST"):
            continue
        held = facts.get_id(name)
        if math.prod(held.shape or ()) > MOST_FACTS:
            raise DescriptionError(f"a fact about {owner}, {name!r}, is a long list.")
        total += held.get_storage_size()
    return total
