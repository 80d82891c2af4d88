"""How a step that fails is cut, and how its pieces grow again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from anguilla.solve.newton.rules import CONVERGED, TOO_MANY_ITERATIONS
from anguilla.solve.steps.pieces import CALM, cut, fresh_cutting, whole


@dataclass
class _Motion:
    """A motion in which steps that begin before an instant [s] must not be longer than some length [s]."""

    until: float
    longest: float
    state: tuple[np.ndarray, ...] = ()
    substeps: int = 0
    labour: int = 0
    allowed: int = 1_000_000
    limit: float = np.inf
    passed: int = 0
    pieces: list[tuple[float, float]] = field(default_factory=list)
    cutting: np.ndarray = field(default_factory=fresh_cutting)
    done: list[tuple[float, float]] = field(default_factory=list)  # begin and length of each piece [s]

    def steps(self, t: float, dt: float, count: int) -> tuple[int, int]:
        """As that of `OngoingMotion`."""
        for k in range(count):
            if t + k * dt < self.until and dt > self.longest:
                return k, TOO_MANY_ITERATIONS
            self.done.append((t + k * dt, dt))
        return count, CONVERGED


@pytest.mark.parametrize("level", [4, 7, 10])
@pytest.mark.parametrize("number", range(12))
def test_pieces_grow_again_wherever_the_rough_part_ends(level: int, number: int) -> None:
    """Behind an odd number of pieces, twice as long ones did not fit, and all others stayed as short as these."""
    short = 2.0**-level
    motion = _Motion(until=number * short, longest=short)
    assert cut(motion, 0.0, 1.0, TOO_MANY_ITERATIONS) == CONVERGED
    begins, lengths = np.array(motion.done).T
    assert np.allclose(begins, np.concatenate([[0.0], np.cumsum(lengths)[:-1]]), atol=1e-12)
    assert np.isclose(lengths.sum(), 1.0)
    assert np.all(np.isclose(begins % lengths, 0.0))  # each where a longer one could stand
    # a failed trial may double what is waited for; then every level takes few pieces
    assert len(lengths) <= number + (2 * CALM + 1) * level
    assert whole(motion) or motion.cutting[0] < level


def test_pieces_stay_as_short_as_they_must() -> None:
    motion = _Motion(until=1.0, longest=1.0 / 64.0)
    assert cut(motion, 0.0, 1.0, TOO_MANY_ITERATIONS) == CONVERGED
    assert len(motion.done) == motion.substeps == 64
    assert motion.pieces == [(0.0, 1.0 / 64.0)]
