"""Small convex quadratic programs: the one door to the QP solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anguilla._doors import public
from anguilla.errors import DescriptionError

__all__ = ["QpSolution", "solve_qp"]

Floats = NDArray[np.float64]
HUGE = 1e30  # what the solver takes for infinity


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
    n = len(f)
    A = np.zeros((0, n)) if A is None else np.asarray(A, dtype=float)
    low = np.concatenate([_bound(lower, n, -1.0), _bound(row_lower, len(A), -1.0)])
    high = np.concatenate([_bound(upper, n, 1.0), _bound(row_upper, len(A), 1.0)])
    if (low > high).any():
        k = int(np.argmax(low > high))
        raise DescriptionError(f"bounds of a QP contradict each other: {low[k]:g} > {high[k]:g} at number {k}.")
    if not (np.isfinite(H).all() and np.isfinite(f).all() and np.isfinite(A).all()):
        raise DescriptionError("a QP must have finite coefficients.")
    x, flag = _daqp(H, f, A, high, low)
    feasible = flag > 0
    if not feasible:
        x = _least_violation(H, f, A, low, high)
    x = np.minimum(
        np.maximum(x, low[:n]), high[:n]
    )  # its tolerance is 1e-6: a tendon that must not push would, a little
    value = np.concatenate([x, A @ x])
    slack = 1e-9 * (1.0 + np.abs(value))
    below = value <= low + slack
    active = (~below & (value >= high - slack)).astype(np.int64) - below
    return QpSolution(x, feasible, active)


def _bound(value: Floats | None, n: int, sign: float) -> Floats:
    bound = np.full(n, sign * HUGE) if value is None else np.asarray(value, dtype=float)
    return np.minimum(np.maximum(bound, -HUGE), HUGE)


def _daqp(H: Floats, f: Floats, A: Floats, high: Floats, low: Floats) -> tuple[Floats, int]:
    import daqp

    exact = (low == high) & (np.abs(low) < HUGE)
    sense = 5 * exact.astype(np.int32)
    rows = np.ascontiguousarray(A)
    x, _, flag, _ = daqp.solve(np.ascontiguousarray(H), np.ascontiguousarray(f), rows, high, low, sense)
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
    x, flag = _daqp(
        big, np.concatenate([f, np.zeros(m)]), rows,
        np.concatenate([high[:n], free, np.where(high[n:] < HUGE, high[n:] / size, HUGE)]),
        np.concatenate([low[:n], -free, np.where(low[n:] > -HUGE, low[n:] / size, -HUGE)]),
    )  # fmt: skip
    return np.clip(x[:n], low[:n], high[:n]) if flag > 0 else np.clip(np.zeros(n), low[:n], high[:n])
