"""Which efforts move rows of a model closest to where they should be: the QP of 002 (12)-(14) and (29)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anguilla._doors import public
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
    w = np.ones(len(error)) if weights is None else weights
    moves = projection.W(rows, "a") if turn is None else turn @ projection.W(rows, "a")
    J = w[:, None] * moves
    e = w * error
    Waa = projection.W("a", "a")
    if not len(Waa):
        none = np.zeros(0, dtype=np.int64)
        return Allocation(np.zeros(0), error, True, none, none)
    # in units in which a unit effort does unit work, tensions and pressures are alike
    size = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(Waa)), 1e-300))
    J, Waa_s = J * size, Waa * size[:, None] * size
    Waa_e = _energy(0.5 * (Waa_s + Waa_s.T))
    H, f = J.T @ J, J.T @ e
    scale = max(float(np.trace(H)), 1e-300)
    weight = energy * scale / len(size)
    H = H + (1.0 + calm) * weight * Waa_e
    f = f + weight * (Waa_e @ (projection.efforts / size))  # the energy of all of the effort, not of its change
    low, high, stroke_low, stroke_high = limits
    strokes = projection.strokes + projection.drift("a")
    bounded = np.isfinite(stroke_low) | np.isfinite(stroke_high)
    answer = solve_qp(
        H / scale, f / scale, lower=(low - projection.efforts) / size, upper=(high - projection.efforts) / size,
        A=Waa_s[bounded], row_lower=((stroke_low - strokes) * size)[bounded],
        row_upper=((stroke_high - strokes) * size)[bounded],
    )  # fmt: skip
    change = size * answer.x
    n = len(size)
    stroke_limit = np.zeros(n, dtype=np.int64)
    stroke_limit[bounded] = answer.active[n:]
    left = error + moves @ change
    return Allocation(change, left, answer.feasible, answer.active[:n], stroke_limit)


def _energy(compliance: Floats) -> Floats:
    """The compliance with directions of negative energy turned round: a body held by its tendons alone has some."""
    from scipy.linalg import lapack

    if lapack.dpotrf(compliance)[1] == 0:  # there is none
        return compliance
    values, vectors = np.linalg.eigh(compliance)
    return np.asarray((vectors * np.abs(values)) @ vectors.T)
