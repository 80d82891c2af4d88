"""How wrong the Jacobian may be before the PI loop in sensor space turns unstable (002 V.B, (35)-(54)).

One sensor stands for all: the matrices of (35) are identities times scalars. The loop X+ = C X + D w, with
w^T w <= gamma^2 (F X)^T (F X), is stable for every such w if some P > 0 and alpha >= 0 make Q of (52) negative definite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla._doors import public
from anguilla.errors import DescriptionError, SolverError, as_nonnegative, as_positive, require

__all__ = ["Robustness", "exact_gamma", "robust_gamma"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Robustness:
    """Outcome of the analysis.

    Attributes:
        gamma: largest bound on the inversion error for which the loop is proved stable.
        P: (2, 2) matrix of the Lyapunov function, for the state (e, h), scaled so that alpha is 1.
        alpha: multiplier of (49), 1.
        margin: largest eigenvalue of Q (52) in scaled states: negative.

    """

    gamma: float
    P: Floats
    alpha: float
    margin: float


def _loop(kp: float, ki: float) -> tuple[Floats, Floats, Floats]:
    """C, D, F of (36), (46)."""
    return np.array([[1.0 - kp, -ki], [1.0, 1.0]]), np.array([[1.0], [0.0]]), np.array([[kp, ki]])


def _check(kp: float, ki: float) -> tuple[float, float]:
    kp, ki = as_positive(kp, "kp"), as_nonnegative(ki, "ki")
    C, _, _ = _loop(kp, ki)
    if (ki > 0.0 and np.abs(np.linalg.eigvals(C)).max() >= 1.0) or kp >= 2.0:
        raise DescriptionError(f"the loop with kp = {kp:g}, ki = {ki:g} is unstable even with a perfect model.")
    return kp, ki


@public
def exact_gamma(kp: float, ki: float) -> float:
    """Largest gamma exactly: one over the peak gain of F (z - C)^-1 D on the unit circle (bounded-real lemma)."""
    from scipy.optimize import minimize_scalar

    kp, ki = _check(kp, ki)
    if ki == 0.0:  # the integral state is not seen: kp / (z - 1 + kp)
        return min(1.0, (2.0 - kp) / kp)
    C, D, F = _loop(kp, ki)

    def gain(log_angle: float) -> float:
        z = np.exp(1j * np.exp(log_angle))
        return float(abs((F @ np.linalg.solve(z * np.eye(2) - C, D))[0, 0]))

    grid = np.linspace(np.log(1e-9), np.log(np.pi), 4000)
    values = [gain(a) for a in grid]
    k = int(np.argmax(values))
    low, high = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
    best = minimize_scalar(lambda a: -gain(a), bounds=(low, high), method="bounded", options={"xatol": 1e-12})
    return 1.0 / max(values[k], -float(best.fun))


@public
def robust_gamma(kp: float, ki: float, *, tolerance: float = 1e-7) -> Robustness:
    """Largest gamma by the linear matrix inequality (52), with its certificate.

    The integral state is measured in units of kp / ki: unscaled, the entries of P span five decades and solvers give false
    answers. Needs cvxpy and clarabel (extra `robust`).

    Args:
        kp: proportional gain [-].
        ki: integral gain [-], positive.
        tolerance: width of the last interval of gamma.

    """
    cp: Any = require("cvxpy", "robust_gamma needs", "robust", "cvxpy clarabel")
    kp, ki = _check(kp, ki)
    as_positive(ki, "ki")
    as_positive(tolerance, "tolerance")
    scale = np.diag([1.0, kp / ki])  # X = scale Y
    C, D, F = _loop(kp, ki)
    C = np.linalg.solve(scale, C @ scale).astype(np.float64)
    D = np.linalg.solve(scale, D).astype(np.float64)
    F = F @ scale
    P = cp.Variable((2, 2), symmetric=True)
    square = cp.Parameter(nonneg=True)
    t = cp.Variable()
    Q: Any = cp.bmat([[C.T @ P @ C - P + square * (F.T @ F), C.T @ P @ D], [D.T @ P @ C, D.T @ P @ D - 1.0]])
    problem = cp.Problem(cp.Minimize(t), [0.5 * (Q + Q.T) << t * np.eye(3), P >> 0, t >= -1.0])

    def margin(gamma: float) -> float:
        square.value = gamma**2
        problem.solve(solver=cp.CLARABEL)
        if P.value is None:
            raise SolverError("The matrix inequality could not be solved.", advice="Try other gains.")
        p = 0.5 * (P.value + P.value.T)
        q = np.block([[C.T @ p @ C - p + gamma**2 * F.T @ F, C.T @ p @ D], [D.T @ p @ C, D.T @ p @ D - 1.0]])
        return float(np.linalg.eigvalsh(q).max()) if np.linalg.eigvalsh(p).min() > 0.0 else 1.0

    low, high = 0.0, 1.0 + 1.0 / kp
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if margin(middle) < 0.0 else (low, middle)
    left = margin(low)
    back = np.linalg.inv(scale)
    certificate = np.asarray(P.value, dtype=float)
    return Robustness(low, back.T @ certificate @ back, 1.0, left)
