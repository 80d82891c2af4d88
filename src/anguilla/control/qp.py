"""Small convex quadratic programs: the one door to the QP solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anguilla._doors import public
from anguilla.compiler.jit import kernel
from anguilla.errors import DescriptionError

__all__ = ["QpSolution", "solve_qp"]

Floats = NDArray[np.float64]
HUGE = 1e30  # what the solver takes for infinity
FINE, NOT_FINITE = -1, -2
EXACT = 5  # what the solver calls an equality


@dataclass(frozen=True)
class QpSolution:
    """Solution of a QP.

    Attributes:
        x: (n,) minimiser.
        feasible: whether all constraints hold; if not, x violates the general rows as little as possible (in the sense of
            least squares, simple bounds kept).
        active: (n + m,) -1 at a lower bound, 1 at an upper one, 0 between; variables first, then rows.

    """

    x: Floats
    feasible: bool
    active: NDArray[np.int64]


@public
def solve_qp(
    H: Floats, f: Floats, *, lower: Floats | None = None, upper: Floats | None = None,
    A: Floats | None = None, row_lower: Floats | None = None, row_upper: Floats | None = None,
) -> QpSolution:  # fmt: skip
    """Minimise x.H.x / 2 + f.x subject to lower <= x <= upper and row_lower <= A x <= row_upper.

    Args:
        H: (n, n) symmetric, positive semidefinite.
        f: (n,).
        lower: (n,) or None.
        upper: (n,) or None.
        A: (m, n) or None.
        row_lower: (m,) or None.
        row_upper: (m,) or None.

    """
    n, rows = len(f), 0 if A is None else len(A)
    H, f = np.ascontiguousarray(H, dtype=float), np.ascontiguousarray(f, dtype=float)
    A = np.zeros((0, n)) if A is None else np.ascontiguousarray(A, dtype=float)
    low, high, sense = np.empty(n + rows), np.empty(n + rows), np.empty(n + rows, dtype=np.int32)
    low[:n], high[:n] = -HUGE if lower is None else lower, HUGE if upper is None else upper
    if rows:
        low[n:], high[n:] = -HUGE if row_lower is None else row_lower, HUGE if row_upper is None else row_upper
    wrong = _ready(H, f, A, low, high, sense)
    if wrong >= 0:
        raise DescriptionError(
            f"bounds of a QP contradict each other: {low[wrong]:g} > {high[wrong]:g} at number {wrong}."
        )
    if wrong == NOT_FINITE:
        raise DescriptionError("a QP must have finite coefficients.")
    x, flag = _daqp(H, f, A, high, low, sense)
    feasible = flag > 0
    if not feasible:
        x = _least_violation(H, f, A, low, high)
    active = np.zeros(n + rows, dtype=np.int64)
    _settle(A, low, high, x, active)
    return QpSolution(x, feasible, active)


@kernel
def _ready(H, f, A, low, high, sense):
    """Make bounds finite in place and mark equalities; returns FINE, NOT_FINITE, or the number of a bound that is wrong."""
    wrong = FINE
    for k in range(len(low)):
        low[k], high[k] = min(max(low[k], -HUGE), HUGE), min(max(high[k], -HUGE), HUGE)
        sense[k] = EXACT if low[k] == high[k] and abs(low[k]) < HUGE else 0
        if low[k] > high[k] and wrong == FINE:
            wrong = k
    total = 0.0
    for i in range(len(f)):
        total += 0.0 * f[i]
        for j in range(len(f)):
            total += 0.0 * H[i, j]
        for k in range(len(A)):
            total += 0.0 * A[k, i]
    return NOT_FINITE if wrong == FINE and not total == 0.0 else wrong


@kernel
def _settle(A, low, high, x, active):
    """Put x within its bounds, and find which bounds hold.

    The tolerance of the solver is 1e-6: a tendon that must not push would, a little.
    """
    n = len(x)
    for k in range(len(low)):
        if k < n:
            value = x[k] = min(max(x[k], low[k]), high[k])
        else:
            value = 0.0
            for j in range(n):
                value += A[k - n, j] * x[j]
        slack = 1e-9 * (1.0 + abs(value))
        active[k] = -1 if value <= low[k] + slack else (1 if value >= high[k] - slack else 0)


def _daqp(H: Floats, f: Floats, A: Floats, high: Floats, low: Floats, sense: NDArray[np.int32]) -> tuple[Floats, int]:
    import daqp

    x, _, flag, _ = daqp.solve(H, f, A, high, low, sense)
    return np.asarray(x, dtype=float), int(flag)


def _least_violation(H: Floats, f: Floats, A: Floats, low: Floats, high: Floats) -> Floats:
    """Let the rows be violated by s, at a price that beats everything else."""
    n, m = len(f), len(A)
    price = 1e6 * max(float(np.trace(H)) / max(n, 1), 1e-12)
    size = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
    big = np.zeros((n + m, n + m))
    big[:n, :n] = H
    big[n:, n:] = price * np.eye(m)
    rows = np.hstack([A / size[:, None], np.eye(m)])
    free = np.full(m, HUGE)
    low_all = np.concatenate([low[:n], -free, np.where(low[n:] > -HUGE, low[n:] / size, -HUGE)])
    high_all = np.concatenate([high[:n], free, np.where(high[n:] < HUGE, high[n:] / size, HUGE)])
    sense = EXACT * ((low_all == high_all) & (np.abs(low_all) < HUGE)).astype(np.int32)
    x, flag = _daqp(big, np.concatenate([f, np.zeros(m)]), rows, high_all, low_all, sense)
    return np.clip(x[:n], low[:n], high[:n]) if flag > 0 else np.clip(np.zeros(n), low[:n], high[:n])
