"""The inverse dynamics of a rod and its Lagrangian matrices (000 VI, VII and Appendix 2).

The rod is integrated along X as a continuous manipulator: poses, velocities and accelerations forward from the root, the
stress backward from the tip. Inputs of special values then give the matrices of the Lagrangian model one column at a time.

Several inputs are treated side by side: v, a, eta0 and deta0 may be vectors or have one column per case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from scipy.linalg import cho_factor, cho_solve

from anguilla import lie
from anguilla.errors import SolverError
from anguilla.reference.rod import Array, Rod, Tendon, actuation, stiffness

TOLERANCE = 1e-11  # of the integration along X


@dataclass(frozen=True)
class Loads:
    """External loads F-bar and F_1 of 000 (4) to (6).

    Attributes:
        gravity: acceleration (3,) in inertial axes [m/s^2].
        tip: wrench at X = l (6,): moment [N m], force [N].
        follower: whether the tip wrench is given in section axes (and turns with them) or in inertial axes.
        tip_inertia: M_1 (6, 6) of a rigid body fixed to the last section, in its frame (000, test 5).

    """

    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    tip: tuple[float, ...] = (0.0,) * 6
    follower: bool = True
    tip_inertia: ArrayLike | None = None


@dataclass(frozen=True)
class Matrices:
    """The Lagrangian model of 000 (31), the six rows of the root first: (F_0, Q_a) = mass . (deta0, a) + velocity + static.

    Attributes:
        mass: M (6 + n, 6 + n).
        velocity: (F_v, Q_v) (6 + n,).
        static: (F_c, Q_c) (6 + n,).

    """

    mass: Array
    velocity: Array
    static: Array


def quaternion_rate(w: Array) -> Array:
    """A(w) (4, 4) of 000 (21): a frame that turns by w per unit, in fixed axes, has Q' = A(w) Q / 2."""
    x, y, z = w
    return np.array([[0, -x, -y, -z], [x, 0, -z, y], [y, z, 0, -x], [z, -y, x, 0]])


def inertia_force(M: Array, eta: Array, deta: Array) -> Array:
    """M deta - ad_eta^T M eta (6, k) for columns eta, deta (6, k) and an inertia M (6, 6)."""
    momentum = (M @ eta).T[:, :, None]
    gyroscopic = lie.ad(eta.T).swapaxes(1, 2) @ momentum
    force: Array = M @ deta - gyroscopic[:, :, 0].T
    return force


def weight(M: Array, R: Array, gravity: ArrayLike) -> Array:
    """Wrench (6,) of gravity on an inertia M (6, 6) in a frame R: M (0, R^T gravity)."""
    return M @ np.concatenate([np.zeros(3), R.T @ np.asarray(gravity)])


def _kinematics(rod: Rod, X: float, q: Array, v: Array, a: Array, y: Array) -> tuple[Array, ...]:
    """The right-hand side of the forward equations, and what the backward ones need besides."""
    Q, eta, deta = y[:4], y[7 : 7 + v.shape[1] * 6].reshape(6, -1), y[7 + v.shape[1] * 6 :][: v.shape[1] * 6]
    deta = deta.reshape(6, -1)
    point = np.array([X])
    phi = rod.basis(point)[0]
    xi, dxi, ddxi = rod.rest(point)[0] + phi @ q, phi @ v, phi @ a  # 000 (8), (23), (42)
    R = lie.rotation_from_wxyz(Q)
    turning = (lie.ad(dxi.T) @ eta.T[:, :, None])[:, :, 0].T
    rates = [
        0.5 * quaternion_rate(R @ xi[:3]) @ Q / np.linalg.norm(Q),  # (20)
        R @ xi[3:],
        (-lie.ad(xi) @ eta + dxi).ravel(),  # (41)
        (-lie.ad(xi) @ deta - turning + ddxi).ravel(),  # (41); the print of Appendix 2 lacks the dot on xi
    ]
    return np.concatenate(rates), R, eta, deta, xi, phi


def _integrate(rate: Callable[[float, Array], Array], span: tuple[float, float], y: Array, tolerance: float) -> Array:
    run = solve_ivp(rate, span, y, method="DOP853", rtol=tolerance, atol=tolerance)
    if not run.success:
        raise SolverError(f"The integration along X stopped at {run.t[-1]:g} m: {run.message}")
    end: Array = run.y[:, -1]
    return end


def forward(
    rod: Rod, q: Array, v: Array, a: Array, g0: Array, eta0: Array, deta0: Array, tolerance: float = TOLERANCE
) -> Array:
    """Integrate 000 (41) from the root to the tip; returns the state (Q, r, eta, deta) at X = l, flat."""
    start = [lie.quaternion_wxyz(g0[:3, :3]), g0[:3, 3], eta0.ravel(), deta0.ravel()]
    return _integrate(
        lambda X, y: _kinematics(rod, X, q, v, a, y)[0], (0.0, rod.length), np.concatenate(start), tolerance
    )


def idm(
    rod: Rod, q: Array, v: ArrayLike, a: ArrayLike, g0: Array, eta0: ArrayLike, deta0: ArrayLike,
    loads: Loads | None = None, *, tolerance: float = TOLERANCE,
) -> Array:  # fmt: skip
    """(F_0, Q_a) = IDM(q, v, a, g_0, eta_0, deta_0) (000 (32), Appendix 2).

    Args:
        rod: the rod, a virtual manipulator without stiffness.
        q: coordinates (n,).
        v: rates (n,) or (n, k) for k cases at once.
        a: accelerations (n,) or (n, k).
        g0: pose of the root (4, 4).
        eta0: twist of the root (6,) or (6, k), body axes.
        deta0: time derivative of the components eta0, (6,) or (6, k).
        loads: external loads; none by default.
        tolerance: relative and absolute error of the integration along X.

    Returns:
        (6 + n,) or (6 + n, k): the wrench on the root [N m, N], then the generalised forces.

    """
    loads = loads or Loads()
    inputs = [np.asarray(x, dtype=float) for x in (v, a, eta0, deta0)]
    single = all(x.ndim == 1 for x in inputs)
    k = max(1 if x.ndim == 1 else x.shape[1] for x in inputs)
    v, a, eta0, deta0 = (np.broadcast_to(x[:, None] if x.ndim == 1 else x, (len(x), k)) for x in inputs)
    n, gravity = rod.size, np.asarray(loads.gravity)
    tip = forward(rod, q, v, a, g0, eta0, deta0, tolerance)
    moved = 7 + 12 * k

    R1, eta1, deta1 = lie.rotation_from_wxyz(tip[:4]), tip[7 : 7 + 6 * k].reshape(6, k), tip[7 + 6 * k :].reshape(6, k)
    F1 = np.tile(np.asarray(loads.tip, dtype=float)[:, None], k)
    if not loads.follower:
        F1 = np.concatenate([R1.T @ F1[:3], R1.T @ F1[3:]])
    if loads.tip_inertia is not None:  # F_1 = -M_1 deta_1 + F_in + F_ext (000, test 5)
        M1 = np.asarray(loads.tip_inertia)
        F1 = F1 - inertia_force(M1, eta1, deta1) + weight(M1, R1, gravity)[:, None]

    def backward(X: float, y: Array) -> Array:
        rates, R, eta, deta, xi, phi = _kinematics(rod, X, q, v, a, y)
        Lambda = y[moved : moved + 6 * k].reshape(6, k)
        M = np.diag(rod.inertia(np.array([X]))[0])
        density = weight(M, R, gravity)[:, None]
        d_Lambda = lie.ad(xi).T @ Lambda + inertia_force(M, eta, deta) - density  # (40)
        d_Qa = phi.T @ Lambda  # (43); the sign printed in Appendix 2 is the other one
        return np.concatenate([rates, d_Lambda.ravel(), d_Qa.ravel()])

    y1 = np.concatenate([tip, F1.ravel(), np.zeros(n * k)])
    y0 = _integrate(backward, (rod.length, 0.0), y1, tolerance)
    F0, Qa = -y0[moved : moved + 6 * k].reshape(6, k), y0[moved + 6 * k :].reshape(n, k)
    out = np.concatenate([F0, Qa])
    return out[:, 0] if single else out


def matrices(
    rod: Rod, q: Array, v: Array, g0: Array, eta0: Array, loads: Loads | None = None, *, tolerance: float = TOLERANCE
) -> Matrices:
    """All matrices of the Lagrangian model (000 (31)) by unit inputs of the IDM, (33) to (36), side by side."""
    n = rod.size
    k = 2 + 6 + n
    V, A, eta, deta = np.zeros((n, k)), np.zeros((n, k)), np.zeros((6, k)), np.zeros((6, k))
    V[:, 1], eta[:, 1] = v, eta0  # (34)
    deta[:, 2:8] = np.eye(6)  # (35)
    A[:, 8:] = np.eye(n)  # (36)
    out = idm(rod, q, V, A, g0, eta, deta, loads, tolerance=tolerance)
    static = out[:, 0]  # (33)
    return Matrices(out[:, 2:] - static[:, None], out[:, 1] - static, static)


def coriolis(rod: Rod, q: Array, v: Array, *, tolerance: float = TOLERANCE) -> Array:
    """C (n, n) of a clamped rod with Q_v = C v, the one that makes dM/dt - 2C skew.

    Q_v(v) is a quadratic form Gamma(v, v) with the symmetric Christoffel symbols: C w = Gamma(v, w), by polarisation.
    """
    n, zero = rod.size, np.zeros(6)
    V = np.concatenate([v[:, None] + np.eye(n), v[:, None] - np.eye(n)], axis=1)
    Qv = idm(rod, q, V, np.zeros(n), np.eye(4), zero, zero, tolerance=tolerance)[6:]
    return (Qv[:, :n] - Qv[:, n:]) / 4.0


def simulate(
    rod: Rod, times: Array, *, q: Array, v: Array, g0: Array | None = None, eta0: ArrayLike = (0.0,) * 6,
    clamped: bool = True, loads: Loads | None = None, tendons: Sequence[Tendon] = (),
    tensions: Callable[[float], ArrayLike] = lambda t: (), tolerance: float = 1e-8, method: str = "RK45",
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """Explicit motion in time (000 (37)) with a quaternion for the root; RK45 is the paper's ODE45.

    Returns:
        q (t, n), g0 (t, 4, 4), eta0 (t, 6) and v (t, n) at the times (t,) [s], the first of which is the start.

    """
    n, K = rod.size, stiffness(rod)
    g0 = np.eye(4) if g0 is None else g0
    y0 = np.concatenate([q, lie.quaternion_wxyz(g0[:3, :3]), g0[:3, 3], np.asarray(eta0, dtype=float), v])

    def rate(t: float, y: Array) -> Array:
        q, Q, r, eta0, v = np.split(y, [n, n + 4, n + 7, n + 13])
        R = lie.rotation_from_wxyz(Q)
        model = matrices(rod, q, v, lie.pose(R, r), eta0, loads, tolerance=1e-2 * tolerance)
        total = model.velocity + model.static
        Q_ad = actuation(rod, tendons, q) @ np.asarray(tensions(t), dtype=float).reshape(len(tendons))  # (28)
        total[6:] += K @ q + rod.damping * K @ v - Q_ad  # F_tot, Q_tot
        own = slice(6, None) if clamped else slice(None)  # remark 6
        accelerations = np.zeros(6 + n)
        accelerations[own] = cho_solve(cho_factor(model.mass[own, own]), -total[own])
        turning = 0.5 * quaternion_rate(R @ eta0[:3]) @ Q / np.linalg.norm(Q)  # (20), t in the place of X
        return np.concatenate([v, turning, R @ eta0[3:], accelerations])

    options = dict(method=method, rtol=tolerance, atol=1e-2 * tolerance, t_eval=times)
    run = solve_ivp(rate, (times[0], times[-1]), y0, **options)
    if not run.success:
        raise SolverError(f"The motion stopped at t = {run.t[-1]:g} s: {run.message}", advice="Loosen the tolerance.")
    q, Q, r, eta, v = np.split(run.y, [n, n + 4, n + 7, n + 13])
    return q.T, lie.pose(lie.rotation_from_wxyz(Q.T), r.T), eta.T, v.T
