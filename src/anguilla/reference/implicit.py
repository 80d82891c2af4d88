"""Implicit motion in time (004 III, IV, Appendix 1): Newmark on R^n x SO(3) x R^3, corrected by Newton. Algorithm 1.

Over one step the unknowns are chi-bar = (nu_0, q, lambda) with nu_0 = (Theta_0, d_0): the base turns by exp(Theta_0) and
moves by d_0. Everything else follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from anguilla import lie
from anguilla.errors import SolverError
from anguilla.reference.newton_euler import idm
from anguilla.reference.robots import Chi, Robot, sizes
from anguilla.reference.rod import Array
from anguilla.reference.tangent import tidm


@dataclass(frozen=True)
class Newmark:
    """The scheme (71) to (73) for a step dt [s]; (1/4, 1/2) is of second order without damping."""

    dt: float
    beta: float = 0.25
    gamma: float = 0.5

    @property
    def a(self) -> float:
        """Factor of the increment in the rates [1/s]."""
        return self.gamma / (self.beta * self.dt)

    @property
    def b(self) -> float:
        """Factor of the increment in the accelerations [1/s^2]."""
        return 1.0 / (self.beta * self.dt**2)

    def f(self, x: Array, y: Array) -> Array:
        """Rate at zero increment from rate x and acceleration y of the last step (72)."""
        return (1.0 - self.gamma / self.beta) * x + self.dt * (1.0 - self.gamma / (2.0 * self.beta)) * y

    def h(self, x: Array, y: Array) -> Array:
        """Acceleration at zero increment (73)."""
        return -x / (self.beta * self.dt) + (1.0 - 1.0 / (2.0 * self.beta)) * y


def at_rest(robot: Robot, q: Array | None = None, g0: Array | None = None) -> Chi:
    """The state at rest with coordinates q (n,) and the base at g0 (4, 4); zero and the identity by default."""
    n, m = sizes(robot)
    q = np.zeros(n) if q is None else np.asarray(q, dtype=float)
    six = np.zeros(6)
    return Chi(np.eye(4) if g0 is None else g0, six, six, q, np.zeros(n), np.zeros(n), np.zeros(m))


def linear_rates(chi: Chi) -> tuple[Array, Array]:
    """(r_0', r_0'') (3,), (3,) of the base in inertial axes, from V = R^T r'."""
    R, (w, V), dV = chi.g0[:3, :3], (chi.eta0[:3], chi.eta0[3:]), chi.deta0[3:]
    return R @ V, R @ (dV + np.cross(w, V))


def _constrained(chi: Chi, scheme: Newmark, nu: Array, q: Array, lam: Array) -> Chi:
    """The inputs that obey the scheme: (10) for q, (74), (75) for the base."""
    a, b, f, h = scheme.a, scheme.b, scheme.f, scheme.h
    theta, d = nu[:3], nu[3:]
    R = chi.g0[:3, :3] @ lie.exp3(theta)
    rate, acceleration = linear_rates(chi)
    omega, d_omega = a * theta + f(chi.eta0[:3], chi.deta0[:3]), b * theta + h(chi.eta0[:3], chi.deta0[:3])
    V = R.T @ (a * d + f(rate, acceleration))
    dV = R.T @ (b * d + h(rate, acceleration)) + np.cross(V, omega)
    step = q - chi.q
    return Chi(
        lie.pose(R, chi.g0[:3, 3] + d), np.concatenate([omega, V]), np.concatenate([d_omega, dV]),
        q, a * step + f(chi.v, chi.a), b * step + h(chi.v, chi.a), lam,
    )  # fmt: skip


def _directions(robot: Robot, scheme: Newmark | None, at: Chi, theta: Array) -> Chi:
    """One column per unknown: variations of chi that obey the scheme, (14), (15), (76); without a scheme, statics."""
    n, m = sizes(robot)
    six, k = (6 if robot.free else 0), (6 if robot.free else 0) + n + m
    a, b = (scheme.a, scheme.b) if scheme else (0.0, 0.0)
    zeta, eta, deta = np.zeros((6, k)), np.zeros((6, k)), np.zeros((6, k))
    if robot.free:
        T, Rt, one = lie.dexp3(theta, side="right"), at.g0[:3, :3].T, np.eye(3)
        omega, V, dV = at.eta0[:3], at.eta0[3:], at.deta0[3:]
        E = lie.hat3(dV + np.cross(omega, V)) - lie.hat3(omega) @ lie.hat3(V)
        zeta[:3, :3], zeta[3:, 3:6] = T, Rt
        eta[:3, :3], eta[3:, :3], eta[3:, 3:6] = a * one, lie.hat3(V) @ T, a * Rt
        deta[:3, :3], deta[3:, :3] = b * one, E @ T + a * lie.hat3(V)
        deta[3:, 3:6] = (b * one - a * lie.hat3(omega)) @ Rt
    dq, d_lam = np.zeros((n, k)), np.zeros((m, k))
    dq[:, six : six + n], d_lam[:, six + n :] = np.eye(n), np.eye(m)
    return Chi(zeta, eta, deta, dq, a * dq, b * dq, d_lam)


def residual_and_jacobian(
    robot: Robot, at: Chi, t: float, scheme: Newmark | None = None, theta: Array | None = None
) -> tuple[Array, Array]:
    """R-bar (k,) of (17) and its Jacobian (k, k) of (19), for the unknowns (nu_0 if the base is free, q, lambda).

    The columns of lambda come out as -J^T and the lower-left block as J_0 dC/dnu_0: (19) prints J^T and J_0.
    """
    balance, motions = idm(robot, at, t)
    delta = _directions(robot, scheme, at, np.zeros(3) if theta is None else theta)
    dR0, dRq, dPhi = tidm(robot, at, delta, balance, motions, t)
    base = [balance.R0] if robot.free else []
    d_base = [dR0] if robot.free else []
    return np.concatenate([*base, balance.Rq, balance.Phi]), np.concatenate([*d_base, dRq, dPhi])


def accelerated(robot: Robot, chi: Chi, t: float = 0.0) -> Chi:
    """The state with the accelerations (and multipliers) that balance it, the residual being linear in them.

    Loops are differentiated twice: the multipliers keep J (deta0, a) equal to minus the rest of Phi''.
    """
    n, m = sizes(robot)
    six = 6 if robot.free else 0
    k = six + n + m
    still = replace(chi, deta0=np.zeros(6), a=np.zeros(n), lam=np.zeros(m))
    balance, motions = idm(robot, still, t)
    zero = np.zeros((6, k))
    unit = Chi(zero, zero.copy(), zero.copy(), np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, k)), np.zeros((m, k)))
    unit.deta0[:, :six], unit.a[:, six : six + n], unit.lam[:, six + n :] = np.eye(6)[:, :six], np.eye(n), np.eye(m)
    dR0, dRq, _ = tidm(robot, still, unit, balance, motions, t)
    matrix = np.concatenate([dR0[:six], dRq, np.zeros((m, k))])
    right = -np.concatenate([balance.R0[:six], balance.Rq, np.zeros(m)])
    if m:
        matrix[six + n :, : six + n] = -matrix[: six + n, six + n :].T  # the columns of lambda are -J^T
        right[six + n :] = -_closure_acceleration(robot, still)
    x = np.linalg.solve(matrix, right)
    deta0 = x[:6] if robot.free else np.zeros(6)
    return replace(chi, deta0=deta0, a=x[six : six + n], lam=x[six + n :])


def _closure_acceleration(robot: Robot, chi: Chi, h: float = 1e-4) -> Array:
    """Phi'' (m,) at zero accelerations, by a difference along the motion that keeps the rates (used once, at the start)."""

    def Phi(t: float) -> Array:
        moved = replace(chi, g0=chi.g0 @ lie.exp6(t * chi.eta0), q=chi.q + t * chi.v)
        return idm(robot, moved)[0].Phi

    second: Array = (Phi(h) - 2.0 * Phi(0.0) + Phi(-h)) / h**2
    return second


def _newton(robot: Robot, chi: Chi, scheme: Newmark | None, t: float, tolerance: float, most: int, guess) -> Chi:
    """Correct (nu_0, q, lambda) by (18) until the correction is small."""
    n, _ = sizes(robot)
    six = 6 if robot.free else 0
    nu, q, lam = guess
    for _ in range(most):
        if scheme is None:
            at = replace(chi, q=q, v=np.zeros(n), a=np.zeros(n), lam=lam)
        else:
            at = _constrained(chi, scheme, nu, q, lam)
        residual, jacobian = residual_and_jacobian(robot, at, t, scheme, nu[:3])
        step = np.linalg.solve(jacobian, -residual)
        nu, q, lam = nu + (step[:6] if six else 0.0), q + step[six : six + n], lam + step[six + n :]
        if np.max(np.abs(step[: six + n]), initial=0.0) < tolerance:
            return replace(at, q=q, lam=lam) if scheme is None else _constrained(chi, scheme, nu, q, lam)
    raise SolverError(
        f"Newton has not converged at t = {t:g} s after {most} corrections; the last was {np.max(np.abs(step)):.2g}.", at,
        "Take a shorter time step or a smaller load increment.",
    )  # fmt: skip


def step(robot: Robot, chi: Chi, scheme: Newmark, t: float, *, tolerance: float = 1e-10, most: int = 20) -> Chi:
    """The state at t [s], one step after chi: inertial predictor (no acceleration), then Newton (18)."""
    b, h = scheme.b, scheme.h
    rate, acceleration = linear_rates(chi)
    theta, d = -h(chi.eta0[:3], chi.deta0[:3]) / b, -h(rate, acceleration) / b
    q = chi.q - h(chi.v, chi.a) / b
    return _newton(robot, chi, scheme, t, tolerance, most, (np.concatenate([theta, d]), q, chi.lam))


def simulate(robot: Robot, chi: Chi, *, dt: float, steps: int, tolerance: float = 1e-10) -> list[Chi]:
    """Algorithm 1: the states at t = 0, dt, ..., steps dt, from the state chi at t = 0."""
    scheme = Newmark(dt)
    states = [accelerated(robot, chi)]
    for k in range(steps):
        states.append(step(robot, states[-1], scheme, (k + 1) * dt, tolerance=tolerance))
    return states


def equilibrium(robot: Robot, chi: Chi, t: float = 0.0, *, tolerance: float = 1e-10, most: int = 40) -> Chi:
    """The state at rest near chi under the loads of time t: the static mounting of loops (004 X.C)."""
    return _newton(robot, replace(chi, eta0=np.zeros(6), deta0=np.zeros(6)), None, t, tolerance, most,
                   (np.zeros(6), chi.q, chi.lam))  # fmt: skip
