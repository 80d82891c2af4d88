"""Motions can be cut in time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from anguilla.errors import DescriptionError, as_count, as_number, refuse
from anguilla.mechanics.tree import Floats, Ints

__all__ = ["Slices", "refuse_key"]


def refuse_key(key: object, wanted: str, more: str = "") -> DescriptionError:
    """Return (not raise) the error about run[key]; `more` says what else a number in the place of # may stand for."""
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        end = "" if key == -1 else int(key) + 1
        alone = f"a slice, run[{key}:{end}], is the motion at that state alone"
        return DescriptionError(f"run[{key}]: a motion has no numbered items; {alone}{more.replace('#', str(key))}.")
    if isinstance(key, (float, np.floating)):
        return DescriptionError(
            f"run[{key}]: run[a:b] counts states; run.between({key}, {key}) is the motion at that time."
        )
    return refuse("run[...]", wanted, key)


class Slices:
    """A motion of which parts can be taken: run[a:b], run.between(1.0, 2.0), run.every(10). Times stay what they are."""

    t: Any  # (time,) [s]

    def _picked(self, rows: Ints) -> Self:
        raise NotImplementedError

    def picked(self, rows: ArrayLike) -> Self:
        """Return the motion at the states with the given numbers, in ascending order; everything can be read from it."""
        count, numbers = len(self.t), np.asarray(rows, dtype=np.int64)
        if not len(numbers):
            raise DescriptionError(
                f"there are no such states: the motion has {count}, from {self.t[0]:g} s to {self.t[-1]:g} s."
            )
        if numbers[0] < 0 or numbers[-1] >= count or np.any(np.diff(numbers) < 0):
            raise DescriptionError(f"rows must be indices of states, from 0 to {count - 1}, in ascending order.")
        return self._picked(numbers)

    def __len__(self) -> int:
        """Number of states."""
        return len(self.t)

    def __getitem__(self, key: slice) -> Any:
        """Return the motion at some of its states, run[a:b:step]."""
        if not isinstance(key, slice):
            raise refuse_key(key, "a slice of the states such as run[10:20]")
        if any(isinstance(end, float) for end in (key.start, key.stop)):
            raise DescriptionError("run[a:b] counts states; run.between(start, end) takes times [s].")
        if key.step is not None and key.step < 0:
            raise DescriptionError("run[a:b:step] goes forwards in time: step must be positive.")
        return self.picked(np.arange(len(self.t))[key])

    def between(self, start: float, end: float) -> Self:
        """Return the motion from one time to another [s], both included."""
        first, last = as_number(start, "start", "s"), as_number(end, "end", "s")
        t: Floats = self.t
        slack = 1e-9 * float(np.max(np.abs(t)))
        return self.picked(np.flatnonzero((t >= first - slack) & (t <= last + slack)))

    def every(self, count: int) -> Self:
        """Return the motion at every so many of its states, from the first on."""
        return self.picked(np.arange(0, len(self.t), as_count(count, "count")))

    def some(self, count: int) -> Self:
        """Return the motion at so many of its states at most, equally spaced, the first and the last among them."""
        return self.picked(np.unique(np.linspace(0, len(self.t) - 1, count).round().astype(np.int64)))
