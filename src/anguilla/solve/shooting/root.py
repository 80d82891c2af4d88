"""The motion of a free root by the implicit scheme on SO(3) x R^3 (67)-(72), with the tangents of Appendix 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anguilla import lie
from anguilla.mechanics.tree import Floats
from anguilla.solve.shooting.point import ACC, ETA, LAM, POS


@dataclass(frozen=True)
class RootMap:
    """(g, eta, eta-dot) of the root at the end of a step as functions of nu = (Theta, r) (72).

    Attributes:
        R: (3, 3) rotation at the start of the step.
        a, b: coefficients of (58).
        turn, turn_rate: k_n, l_n of (69).
        place, velocity: f_n, h_n of (65) for r.

    """

    R: Floats
    a: float
    b: float
    turn: Floats
    turn_rate: Floats
    place: Floats
    velocity: Floats

    def apply(self, nu: Floats, out: Floats) -> Floats:
        """Write the state of the root; return its tangent (18, 6) by nu (112)-(113)."""
        theta, r = nu[:3], nu[3:]
        Rt = (self.R @ lie.exp3(theta)).T
        ia, ba = 1.0 / self.a, self.b / self.a
        omega, omega_dot = ba * (theta - self.turn) + self.turn_rate, ia * (theta - self.turn)
        V = Rt @ (ba * (r - self.place) + self.velocity)
        A = Rt @ (ia * (r - self.place))
        out[:9], out[POS:ETA] = Rt.T.ravel(), r
        out[ETA:ACC] = np.concatenate([omega, V])
        out[ACC:LAM] = np.concatenate([omega_dot, A + np.cross(V, omega)])
        T, zero, one = lie.dexp3(theta, side="right"), np.zeros((3, 3)), np.eye(3)
        hv, ho = lie.hat3(V), lie.hat3(omega)
        return np.block(
            [
                [T, zero],
                [zero, Rt],
                [ba * one, zero],
                [hv @ T, ba * Rt],
                [ia * one, zero],
                [(lie.hat3(A) - ho @ hv) @ T + ba * hv, (ia * one - ba * ho) @ Rt],
            ]
        )


def root_map(state: Floats, dt: float, beta: float, gamma: float) -> RootMap:
    """The map of one step from the state (30,) of the root at its start."""
    R = state[:9].reshape(3, 3)
    omega, V = state[ETA : ETA + 3], state[ETA + 3 : ACC]
    omega_dot, V_dot = state[ACC : ACC + 3], state[ACC + 3 : LAM]
    velocity, acceleration = R @ V, R @ (V_dot + np.cross(omega, V))
    past = dt * dt * (0.5 - beta)
    return RootMap(
        R, beta * dt * dt, gamma * dt,
        dt * omega + past * omega_dot, omega + dt * (1.0 - gamma) * omega_dot,
        state[POS:ETA] + dt * velocity + past * acceleration, velocity + dt * (1.0 - gamma) * acceleration,
    )  # fmt: skip
