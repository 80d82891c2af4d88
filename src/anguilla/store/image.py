"""A file in memory: HDF5 ends the process when it cannot write to a disk."""

from __future__ import annotations

import io
import mmap
from collections.abc import Iterable, Iterator

import numpy as np

__all__ = ["Image"]

ROOM = 1 << 22  # [bytes] beside the arrays
LARGE = 1 << 16  # [bytes] of an array that is not copied


class Image(io.RawIOBase):
    """A file in memory that does not copy large arrays when they are written whole, and remembers where they belong.

    The arrays must stay as they are while the file is used.
    """

    def __init__(self, arrays: Iterable[np.ndarray]) -> None:
        super().__init__()
        known = [array for array in arrays if array.nbytes >= LARGE and array.flags.c_contiguous]
        self._known = {(array.ctypes.data, array.nbytes): array for array in known}
        room = mmap.mmap(-1, ROOM + sum(array.nbytes for array in known))
        self._memory = np.frombuffer(room, np.uint8)  # small pages, which take no memory until they are touched
        self._arrays: dict[int, np.ndarray] = {}  # by place
        self._place = self._end = 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place and return it."""
        self._place = offset + (0, self._place, self._end)[whence]
        return self._place

    def tell(self) -> int:
        """Return the place."""
        return self._place

    def truncate(self, size: int | None = None) -> int:
        """End the file at a place."""
        end = self._place if size is None else size
        self._hold(end, max(end, self._end))
        self._memory[end : self._end] = 0
        self._end = end
        return end

    def write(self, data: object) -> int:
        """Write bytes at the place."""
        found = np.frombuffer(data, np.uint8)  # type: ignore[call-overload]
        begin, end = self._place, self._place + len(found)
        self._hold(begin, end)
        array = self._known.get((found.ctypes.data, len(found)))
        if array is None:
            self._memory[begin:end] = found
        else:
            self._arrays[begin] = array
        self._place, self._end = end, max(self._end, end)
        return len(found)

    def readinto(self, buffer: object) -> int:
        """Read bytes at the place."""
        into = np.frombuffer(buffer, np.uint8)  # type: ignore[call-overload]
        end = max(self._place, min(self._place + len(into), self._end))
        self._hold(self._place, end)
        count = end - self._place
        into[:count] = self._memory[self._place : end]
        self._place = end
        return count

    def pieces(self) -> Iterator[memoryview]:
        """The bytes of the file, piece by piece."""
        at = 0
        for begin, array in sorted(self._arrays.items(), key=lambda item: item[0]):
            yield self._memory[at:begin].data
            yield array.data.cast("B")
            at = begin + array.nbytes
        yield self._memory[at : self._end].data

    def _hold(self, begin: int, end: int) -> None:
        """Have memory up to the end, and in it what belongs between two places."""
        if end > len(self._memory):
            self._memory = np.concatenate([self._memory, np.zeros(max(end, ROOM), np.uint8)])
        for at, array in list(self._arrays.items()):
            if at < end and begin < at + array.nbytes:
                self._memory[at : at + array.nbytes] = np.frombuffer(array, np.uint8)
                del self._arrays[at]
