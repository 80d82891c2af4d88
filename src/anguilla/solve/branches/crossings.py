"""Where eigenvalues of the constrained stiffness cross zero along a branch of equilibria."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from anguilla.mechanics.tree import Floats
from anguilla.solve.branches.paths import Curve, Point
from anguilla.solve.modes.modes import Stability

TOGETHER = 0.02  # of a step: crossings nearer than this are one (grid and modes split multiple ones)
CRITICAL = 1e-11  # critical eigenvalue that is zero, as a part of the largest
MOST_TRIALS = 80


class _Trial(NamedTuple):
    """A trial on the way to a crossing: how far along, what was found there, and the eigenvalues that cross (their mean)."""

    x: float
    point: Point
    state: Stability
    value: float


def located(
    path: Curve, point: Point, along: Floats, step: float, counts: tuple[int, int]
) -> tuple[Point, Stability] | None:
    """The point, up to `step` along the branch, where the number of negative eigenvalues changes between two counts.

    By false position (Illinois) on the mean of the eigenvalues that cross. Where branches cross almost, because grid and
    modes are small imperfections, Newton fails close to the point: it is interpolated between trials on both sides.
    """
    neutral = path.stability(point).neutral

    def at(x: float) -> _Trial | None:
        found = path.correct(path.shift(point, x * along), along)
        if found is None:
            return None
        state = path.stability(found)
        return _Trial(x, found, state, _crossing(state, counts, neutral))

    low, high = at(0.0), at(step)
    if low is None or high is None:
        return None
    neutral = min(low.state.neutral, high.state.neutral)
    low, high = (end._replace(value=_crossing(end.state, counts, neutral)) for end in (low, high))
    if low.value * high.value >= 0.0:
        return high.point, high.state
    largest, side, weights = abs(float(low.state.eigenvalues[-1])), 0, [low.value, high.value]
    best = high
    for _ in range(MOST_TRIALS):
        x = (low.x * weights[1] - high.x * weights[0]) / (weights[1] - weights[0])
        found = at(x)
        if found is None:
            return _between(path, *_closer(at, low, high, x))
        best = found
        if high.x - low.x < 1e-10 * step or abs(best.value) < CRITICAL * largest:
            break
        if best.value * high.value > 0.0:
            high, weights = best, [weights[0] * (0.5 if side == 1 else 1.0), best.value]
            side = 1
        else:
            low, weights = best, [best.value, weights[1] * (0.5 if side == -1 else 1.0)]
            side = -1
    return best.point, best.state


def _crossing(state: Stability, counts: tuple[int, int], neutral: int) -> float:
    """Mean of the eigenvalues that change sign, without those that are zero throughout."""
    values = state.eigenvalues
    if neutral:
        values = np.delete(values, np.argsort(np.abs(values), kind="stable")[:neutral])
    return float(np.mean(values[min(counts) : max(counts)]))


def _closer(at: Callable[[float], _Trial | None], low: _Trial, high: _Trial, x: float) -> tuple[_Trial, _Trial]:
    """Trials nearer to a point x where Newton fails, on both sides, as long as it serves there."""
    for _ in range(6):
        before, after = at(x - 0.3 * (x - low.x)), at(x + 0.3 * (high.x - x))
        if before is None or after is None or before.value * low.value <= 0.0 or after.value * high.value <= 0.0:
            break
        low, high = before, after
        x = (low.x * high.value - high.x * low.value) / (high.value - low.value)
    return low, high


def _between(path: Curve, low: _Trial, high: _Trial) -> tuple[Point, Stability]:
    """The crossing by interpolation."""
    part = low.value / (low.value - high.value)
    a, b = low.point, high.point
    q, lam = (1.0 - part) * a.q + part * b.q, (1.0 - part) * a.lam + part * b.lam
    found = Point(q, lam, (1.0 - part) * a.s + part * b.s)
    return found, path.stability(found)


def apart(before: Stability, at: Stability, after: Stability) -> bool:
    """Whether eigenvalues that change sign in one step do so at different places: where some cross, others are not zero."""
    low, high = sorted((before.unstable, after.unstable))
    window = slice(low, high + min(before.neutral, after.neutral))  # those that are zero throughout lie among them
    change = float(np.max(np.abs(after.eigenvalues - before.eigenvalues)[window]))
    return float(np.max(np.abs(at.eigenvalues[window]))) > TOGETHER * change
