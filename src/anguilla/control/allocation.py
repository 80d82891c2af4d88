"""Which efforts move rows of a model closest to where they should be: the QP of 002 (12)-(14) and (29)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anguilla._doors import public
from anguilla.compiler.jit import kernel
from anguilla.control.qp import solve_qp
from anguilla.fem.projection import Projection

__all__ = ["Allocation", "allocate"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Allocation:
    """Efforts chosen by the QP.

    Attributes:
        change: (actuators,) change of the efforts [N, Pa].
        left: (rows,) what remains of the error, predicted.
        feasible: whether efforts and strokes can stay within their limits; if not, strokes are violated least.
        effort_limit: (actuators,) -1 or 1 where an effort sits at its lower or upper limit.
        stroke_limit: (actuators,) the same for strokes.

    """

    change: Floats
    left: Floats
    feasible: bool
    effort_limit: NDArray[np.int64]
    stroke_limit: NDArray[np.int64]


@public
def allocate(
    projection: Projection, rows: str, error: Floats, limits: tuple[Floats, Floats, Floats, Floats], *,
    weights: Floats | None = None, energy: float = 1e-6, calm: float = 0.0,
    turn: Floats | None = None,
) -> Allocation:  # fmt: skip
    """Change of efforts that takes the error of rows "e" or "s" to zero, or as near as the limits allow.

    Args:
        projection: the linearised model.
        rows: "e" (effectors, 002 (12)) or "s" (sensors, 002 (29)).
        error: (rows,) present value minus desired value, after the free motion.
        limits: smallest and largest effort, smallest and largest stroke (actuators,) each (002 (13)).
        weights: (rows,) weight of each row; 1 by default.
        energy: weight of the deformation energy against the error, as a part of the traces (002 (14) takes 1e-3): what
            chooses among many answers, and keeps the answer tame where there is almost none.
        calm: weight of the energy of the change over that of the effort: slows down the choice among many answers by
            1 + calm, and hardly the way to the target.
        turn: (rows, rows) derivative of the error with respect to the rows; the identity by default.

    """
    moves = projection.W(rows, "a") if turn is None else turn @ projection.W(rows, "a")
    moves, Waa = np.ascontiguousarray(moves), np.ascontiguousarray(projection.W("a", "a"))
    n = len(Waa)
    if not n:
        none = np.zeros(0, dtype=np.int64)
        return Allocation(np.zeros(0), error, True, none, none)
    size, scaled, both, scratch = np.empty(n), np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    if not _scale(Waa, size, scaled, both, scratch):
        both = _energy(both)
    weights = np.ones(len(error)) if weights is None else weights
    error, limits = np.ascontiguousarray(error), tuple(np.ascontiguousarray(limit) for limit in limits)  # type: ignore
    strokes = projection.strokes + projection.drift("a")
    H, f, lower, upper = np.empty((n, n)), np.empty(n), np.empty(n), np.empty(n)
    A, row_lower, row_upper, place = np.empty((n, n)), np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    bounded = _pose(
        moves, weights, error, size, scaled, both, projection.efforts, strokes, limits, energy, calm, H, f, lower, upper, A,
        row_lower, row_upper, place,
    )  # fmt: skip
    answer = solve_qp(
        H, f, lower=lower, upper=upper, A=A[:bounded], row_lower=row_lower[:bounded], row_upper=row_upper[:bounded]
    )
    change = size * answer.x
    stroke_limit = np.zeros(n, dtype=np.int64)
    if bounded:
        stroke_limit[place[:bounded]] = answer.active[n:]
    left = error + moves @ change
    return Allocation(change, left, answer.feasible, answer.active[:n], stroke_limit)


@kernel
def _scale(Waa, size, scaled, both, scratch):
    """Units (n,) in which a unit effort does unit work, so that tensions and pressures are alike; the compliance in these.

    Fills it as it is and symmetric, and returns whether it is positive definite.
    """
    n = len(Waa)
    for i in range(n):
        size[i] = 1.0 / np.sqrt(max(abs(Waa[i, i]), 1e-300))
    for i in range(n):
        for j in range(n):
            scaled[i, j] = Waa[i, j] * size[i] * size[j]
            both[i, j] = 0.5 * (Waa[i, j] + Waa[j, i]) * size[i] * size[j]
    for i in range(n):  # Cholesky
        for j in range(i + 1):
            left = both[i, j]
            for k in range(j):
                left -= scratch[i, k] * scratch[j, k]
            if i == j:
                if not left > 0.0:
                    return False
                scratch[i, i] = np.sqrt(left)
            else:
                scratch[i, j] = left / scratch[j, j]
    return True


@kernel
def _pose(
    moves, weights, error, size, scaled, both, efforts, strokes, limits, energy, calm, H, f, lower, upper, A, row_lower,
    row_upper, place,
):  # fmt: skip
    """Fill the QP in these units, divided by the trace of its first part; returns the number of strokes with limits."""
    n = len(size)
    trace = 0.0
    for i in range(n):
        f[i] = 0.0
        for j in range(n):
            H[i, j] = 0.0
        for r in range(len(error)):
            left = weights[r] * moves[r, i] * size[i]
            f[i] += left * weights[r] * error[r]
            for j in range(n):
                H[i, j] += left * weights[r] * moves[r, j] * size[j]
        trace += H[i, i]
    trace = max(trace, 1e-300)
    for i in range(n):
        pull = 0.0
        for j in range(n):
            H[i, j] = H[i, j] / trace + (1.0 + calm) * energy / n * both[i, j]
            pull += both[i, j] * efforts[j] / size[j]
        f[i] = f[i] / trace + energy / n * pull  # the energy of all of the effort, not of its change
        lower[i], upper[i] = (limits[0][i] - efforts[i]) / size[i], (limits[1][i] - efforts[i]) / size[i]
    count = 0
    for i in range(n):
        if np.isfinite(limits[2][i]) or np.isfinite(limits[3][i]):
            place[count] = i
            row_lower[count], row_upper[count] = (
                (limits[2][i] - strokes[i]) * size[i],
                (limits[3][i] - strokes[i]) * size[i],
            )
            for j in range(n):
                A[count, j] = scaled[i, j]
            count += 1
    return count


def _energy(compliance: Floats) -> Floats:
    """The compliance with directions of negative energy turned round: a body held by its tendons alone has some."""
    values, vectors = np.linalg.eigh(compliance)
    return np.ascontiguousarray((vectors * np.abs(values)) @ vectors.T)
