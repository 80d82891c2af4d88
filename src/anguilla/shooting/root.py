"""The motion of a free root by the implicit scheme on SO(3) x R^3 (67)-(72), with the tangents of Appendix 3."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anguilla.compiler.jit import kernel
from anguilla.mechanics.tree import Floats
from anguilla.mechanics.vec import add, axpy, cross, dot, scale
from anguilla.shooting.state import ACC, ETA, LAM, POS
from anguilla.solve.steps.schemes import Coefficients, coasting


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
        tangent = np.zeros((18, 6))
        _apply(self.R, self.a, self.b, self.turn, self.turn_rate, self.place, self.velocity, nu, out, tangent)
        return tangent


@kernel
def _apply(R, a, b, turn, turn_rate, place, velocity, nu, out, tangent):
    ia, ba = 1.0 / a, b / a
    th = nu[0], nu[1], nu[2]
    s2 = dot(th, th)
    s = math.sqrt(s2)
    small = s < 1e-3
    c1 = 1.0 - s2 / 6.0 if small else math.sin(s) / s
    c2 = 0.5 - s2 / 24.0 if small else (1.0 - math.cos(s)) / s2
    c3 = 1.0 / 6.0 - s2 / 120.0 if small else (s - math.sin(s)) / (s * s2)
    V, A = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(3):  # rows of R exp(theta), and the velocity and acceleration turned into its axes
        row = R[i, 0], R[i, 1], R[i, 2]
        once = cross(row, th)
        row = axpy(c1, once, axpy(c2, cross(once, th), row))
        out[3 * i], out[3 * i + 1], out[3 * i + 2] = row
        out[POS + i] = nu[3 + i]
        V = axpy(ba * (nu[3 + i] - place[i]) + velocity[i], row, V)
        A = axpy(ia * (nu[3 + i] - place[i]), row, A)
    d = th[0] - turn[0], th[1] - turn[1], th[2] - turn[2]
    O = axpy(ba, d, (turn_rate[0], turn_rate[1], turn_rate[2]))
    rates = add(A, cross(V, O))
    for i in range(3):
        out[ETA + i], out[ETA + 3 + i] = O[i], V[i]
        out[ACC + i], out[ACC + 3 + i] = ia * d[i], rates[i]
    for j in range(3):
        e = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
        once = cross(th, e)
        T = axpy(-c2, once, axpy(c3, cross(th, once), e))  # column j of T(Theta)
        w = out[3 * j], out[3 * j + 1], out[3 * j + 2]  # column j of R^T
        dV = cross(V, T)
        # d V-dot = A x T d + (V x T d) x Omega + b/a V x d
        dA = add(add(cross(A, T), cross(dV, O)), scale(ba, cross(V, e)))
        own = add(scale(ia, w), scale(ba, cross(w, O)))
        for i in range(3):
            tangent[i, j], tangent[3 + i, 3 + j] = T[i], w[i]
            tangent[6 + i, j], tangent[12 + i, j] = ba * e[i], ia * e[i]
            tangent[9 + i, j], tangent[9 + i, 3 + j] = dV[i], ba * w[i]
            tangent[15 + i, j], tangent[15 + i, 3 + j] = dA[i], own[i]


def root_map(state: Floats, scheme: Coefficients, dt: float) -> RootMap:
    """The map of one step from the state (30,) of the root at its start."""
    R = np.ascontiguousarray(state[:9].reshape(3, 3))
    omega, V = state[ETA : ETA + 3], state[ETA + 3 : ACC]
    omega_dot, V_dot = state[ACC : ACC + 3], state[ACC + 3 : LAM]
    velocity, acceleration = R @ V, R @ (V_dot + np.cross(omega, V))
    ahead, rate = coasting(scheme, dt, velocity, acceleration)
    turn, turn_rate = coasting(scheme, dt, omega, omega_dot)
    return RootMap(R, scheme.beta * dt * dt, scheme.gamma * dt, turn, turn_rate, state[POS:ETA] + ahead, rate)
