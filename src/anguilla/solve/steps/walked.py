"""The judge of motions that are computed step by step outside compiled loops, as those of soft volumes are.

What steps of second order miss is a twelfth of the third differences of the path. Where these add up to little, nothing more
is done. Else the motion is computed once more from its start with steps twice as long, until it is clear what they say of the
whole: until enough of all that the steps miss, and of the time, lies behind. Steps twice as long may be too long for what the
steps of the motion still follow; so before a word is said, the same is done with steps half as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from anguilla.errors import SolverError
from anguilla.mechanics.tree import Floats, Ints
from anguilla.results.quality import ENERGY, TIME, Quality
from anguilla.solve.steps.gains import ENERGIES, ROUND_OFF
from anguilla.solve.steps.measured import TimeError
from anguilla.solve.steps.trust import QUIET, nice_step
from anguilla.solve.steps.windows import CAREFUL, CERTAIN, LEAST, NOTHING

__all__ = ["Energies", "Path", "Walk", "judged", "some_nodes", "some_rows"]

Walk = Callable[
    [float, int], Iterator[Floats]
]  # places (k, 3) [m] at the start and after each step, for dt and their number

SHARE = 0.2  # part of all that the steps miss, and of the time, after which the rest is guessed for the first time
# guesses below which a part of a motion says enough: after jumps errors may be of first order, and longer steps show a third
CLEAR = 0.005
STEEPEST = (
    2.0  # power of the time with which errors may grow: where a motion builds up, they do so faster than it lasts
)
MOST = 2000  # instants at which paths are compared
PLACES = 60  # places at which they are
# errors as parts of all that the steps missed: the largest seen, and a usual one
WORST, TYPICAL = 4.0, 2.0
TOLD = TIME / 1.3  # of 90 random motions one was off by 1.45 times what was found
ALREADY = 0.3  # part of what is told that steps twice as long may find before others are asked


class Energies(NamedTuple):
    """Energies (nt,) [J] of a robot on which nothing works but what has a potential, at instants t (nt,) [s]."""

    t: Floats
    kinetic: Floats
    potential: Floats


class Path:
    """Some places of a robot during its motion, as its steps lead them.

    Args:
        dt: step [s].
        steps: number of steps.
        length: what errors are measured by [m].

    """

    def __init__(self, dt: float, steps: int, length: float) -> None:
        self.dt, self.steps, self.length = dt, steps, length
        self.stride = 2 * max(1, math.ceil(steps / (2 * MOST)))  # steps between places that are kept
        self.places: list[Floats] = []
        self.missed: list[float] = []  # sum [m] of what the steps missed until then
        self._last: list[Floats] = []
        self._sum, self._count = 0.0, 0

    def add(self, places: Floats) -> None:
        """Go on to places (k, 3) [m] after the next step, or at the start."""
        self._last = [*self._last[-3:], places]
        if len(self._last) == 4:
            a, b, c, d = self._last
            self._sum += float(np.linalg.norm(d - 3.0 * c + 3.0 * b - a, axis=1).max()) / 12.0
        if self._count % self.stride == 0:
            self.places.append(places)
            self.missed.append(self._sum)
        self._count += 1

    @property
    def all_missed(self) -> float:
        """Sum of what the steps missed, as a part of the length."""
        return self._sum / self.length


def some_nodes(count: int) -> Ints:
    """Numbers of some of many nodes, evenly."""
    return np.unique(np.linspace(0, count - 1, min(count, PLACES)).round().astype(np.int64))


def some_rows(count: int) -> Ints:
    """Numbers of some of many instants, evenly, at which energies are looked at."""
    return np.unique(np.linspace(0, count - 1, min(count, ENERGIES)).round().astype(np.int64))


def time_error(path: Path, walk: Walk) -> TimeError | None:
    """Error of the time steps; None if neither longer nor shorter ones reach far enough to tell."""
    if WORST * path.all_missed < QUIET:
        return TimeError(TYPICAL * path.all_missed, path.dt * path.steps, 0)
    longer = _compared(path, walk, 2) if path.steps >= 2 * LEAST else None
    if longer is not None and longer.size < ALREADY * TIME:
        return longer
    return _compared(path, walk, 1) or longer


def _compared(path: Path, walk: Walk, longer: int) -> TimeError | None:
    """The error by steps twice as long (2), or half as long (1); None if they fail before they say anything."""
    each = path.stride // 2 if longer == 2 else 2 * path.stride  # steps between instants that are compared
    dt, share = (2.0 * path.dt, 1.0 / 3.0) if longer == 2 else (0.5 * path.dt, 4.0 / 3.0)
    count = len(path.places) - 1
    found, errors, goal = TimeError(0.0, 0.0, 0), [], SHARE
    try:
        for k, places in enumerate(walk(dt, count * each)):
            if k == 0 or k % each:
                continue
            row = k // each
            off = np.linalg.norm(places - path.places[row], axis=1)
            at = int(off.argmax())
            error = share * float(off[at]) / path.length
            behind = min(path.missed[row] / max(path.missed[-1], 1e-300), row / count)
            errors.append((behind, error))
            if error > found.size:
                found = TimeError(error, row * path.stride * path.dt, at)
            if found.size > CERTAIN * TIME:
                return found._replace(size=_expected(errors, 1.0))
            if behind >= goal and row >= LEAST:
                goal = 2.0 * behind
                if (size := _expected(errors)) < CLEAR:
                    return found._replace(size=size)
    except SolverError:
        if not errors or errors[-1][0] < SHARE:
            return None
    return found._replace(size=_expected(errors)) if errors else None


def _expected(errors: list[tuple[float, float]], steepest: float = STEEPEST) -> float:
    """The error of the whole motion, if it goes on to grow as from the first half of what lies behind to the second."""
    behind = errors[-1][0]
    early = max((error for share, error in errors if 2.0 * share <= behind), default=0.0)
    late = max((error for share, error in errors if 2.0 * share > behind), default=0.0)
    size = max(early, late)
    if behind > 0.95 or size < NOTHING:
        return size
    growth = min(max(math.log2(late / early), 0.0), steepest) if early > 0.0 and late > 0.0 else 1.0
    return CAREFUL * size * (1.0 / max(behind, 1e-3)) ** growth


def energy_gain(energies: Energies | None) -> tuple[float | None, float]:
    """Largest gain of energy as a part of that in play, and its end [s]; None where something unknown works."""
    if energies is None:
        return None, 0.0
    total = energies.kinetic + energies.potential
    gains = total - np.minimum.accumulate(total)
    at = int(gains.argmax())
    play = float(energies.kinetic.max() + np.ptp(energies.potential))
    size = float(np.abs(energies.potential).max())
    return (float(gains[at]) / play if play > ROUND_OFF * size and play > 0.0 else 0.0), float(energies.t[at])


def judged(
    name: str, path: Path, walk: Walk, part: Callable[[int], str], energies: Energies | None, events: tuple[float, ...]
) -> Quality:
    """The quality of a motion that reached its end; its messages are what to warn with.

    Args:
        name: of the robot.
        path: of some of its places.
        walk: the same motion with other steps.
        part: name of the part that a place belongs to.
        energies: of the motion; None where something unknown works on it.
        events: instants [s] at which loads jump.

    """
    time, told = time_error(path, walk), []
    remedy = nice_step(path.dt * math.sqrt(0.5 * TIME / max(time.size if time else 1.0, TIME)))
    if time is None:
        told.append(
            f"Steps of other lengths fail in the motion of {name!r}, so that nobody knows how far it is off: compare with "
            f"dt={nice_step(0.25 * path.dt):g}."
        )
    elif time.size > TOLD:
        size = f"about {100 * time.size:.2g} %" if time.size < 0.3 else "a large part"
        told.append(
            f"The time steps of {name!r} make an error of {size} of its length, most at {part(time.where)} around "
            f"t = {time.at:.3g} s: try dt={remedy:g}."
        )
    gain, until = energy_gain(energies)
    if gain is not None and gain > ENERGY:
        told.append(
            f"{name!r} gains {100 * gain:.2g} % of its energy from nothing until t = {until:.4g} s: take a smaller dt, such "
            f"as {nice_step(0.25 * path.dt):g}."
        )
    return Quality(None if time is None else time.size, gain, None, events, 0, path.steps, tuple(told))
