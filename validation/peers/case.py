"""What a case of a peer is, and how it is compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

import numpy as np

import anguilla as ag

Numbers = dict[str, float | list[float]]


@dataclass(frozen=True, slots=True)
class Case:
    """An example of a peer, remade.

    Attributes:
        name: short name, also the key of what the peer's program gives.
        source: where the peer keeps it.
        what: what is compared, in a few words.
        solve: builds the robot and solves it; returns numbers by name.
        want: the same numbers as the authors publish them, or as the closed form they compare with gives them; empty if only
            the peer's program knows; or a function that returns them.
        tolerance: of the largest difference of each number, over its scale.
        scale: what differences are divided by, by name; the largest absolute value of a number if not given.
        note: why it differs, if it does, or cannot be modelled.
        origin: of `want`.
        peer_tolerance: of the difference from what the peer's program gives; None leaves it as a number only.
        slow: takes more than a second.

    """

    name: str
    source: str
    what: str
    solve: Callable[[], Numbers] | None = None
    want: Numbers | Callable[[], Numbers] | None = None
    tolerance: float = 1e-3
    scale: dict[str, float] | None = None
    note: str = ""
    origin: str = "published"
    peer_tolerance: float | None = 0.01
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case; differences are shares, times in seconds of processor time."""

    case: Case
    off: float | None = None  # from what is published
    off_peer: float | None = None  # from the peer's program
    seconds: float | None = None
    seconds_peer: float | None = None
    said: tuple[str, ...] = ()  # warnings

    @property
    def agrees(self) -> bool:
        """Whether all differences are within their tolerances; true of what cannot be modelled."""
        case = self.case
        if self.off is not None and not self.off <= case.tolerance:
            return False
        return self.off_peer is None or case.peer_tolerance is None or self.off_peer <= case.peer_tolerance


def difference(numbers: Numbers, want: Numbers, scale: dict[str, float] | None) -> float:
    """Largest difference of the numbers that both have, each over its scale."""
    shares = []
    for name in want:
        a, b = np.asarray(numbers[name], float), np.asarray(want[name], float)
        if a.shape != b.shape:
            raise ValueError(f"{name!r} has {a.size} numbers here and {b.size} there")
        size = (scale or {}).get(name) or float(np.max(np.abs(b)))
        shares.append(float(np.max(np.abs(a - b))) / size)
    return max(shares)


def compare(case: Case, stored: dict, *, warm: bool = True) -> Outcome:
    """Solve a case and compare it; with `warm` it is solved twice, and the second time counts."""
    if case.solve is None:
        return Outcome(case)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ag.AnguillaWarning)
        if warm:
            case.solve()
        said.clear()
        began = process_time()
        numbers = case.solve()
        seconds = process_time() - began
    texts = tuple(dict.fromkeys(str(one.message) for one in said))
    theirs = stored.get(case.name)
    want = case.want() if callable(case.want) else case.want
    return Outcome(
        case,
        difference(numbers, want, case.scale) if want else None,
        difference(numbers, theirs["numbers"], case.scale) if theirs else None,
        seconds,
        theirs["seconds"] if theirs else None,
        texts,
    )
