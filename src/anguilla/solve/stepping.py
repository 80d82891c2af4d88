"""One time step and the compiled time loop: the Newmark family with the balance at an intermediate instant.

q1 = q + dt v + dt^2 ((1/2 - beta) a + beta a1),   v1 = v + dt ((1 - gamma) a + gamma a1),
R((1 - af) q1 + af q, (1 - af) v1 + af v, (1 - am) a1 + am a, t + (1 - af) dt) = 0.

Newmark: am = af = 0. HHT: am = 0. Generalised alpha: am, af from the spectral radius at infinity. Implicit midpoint:
am = af = 1/2, beta = 1/4, gamma = 1/2, which is time-reversible.
"""

from __future__ import annotations

import numpy as np

from anguilla._jit import kernel
from anguilla.assemble.evaluate import Forces, residual, tangent
from anguilla.solve.linear import factorise, solve_factorised
from anguilla.solve.newton import CONVERGED, newton


@kernel
def start_acceleration(tree, ws, forces, s, q, v, a):
    """Acceleration that balances the state: M a = -R(q, v, 0). Returns False if M is singular."""
    n = len(q)
    a[:] = 0.0
    residual(tree, ws, forces, q, v, a, s.step)
    stiffness = np.empty((n, n))
    tangent(tree, ws, forces, 0.0, 0.0, stiffness)
    mass = s.matrix
    tangent(tree, ws, forces, 0.0, 1.0, mass)
    mass -= stiffness
    s.memory[0] = 0.0
    good = factorise(mass, s.pivot)
    if good:
        for k in range(n):
            a[k] = -s.step[k]
        solve_factorised(mass, s.pivot, a)
    return good


@kernel
def advance(tree, ws, forces, s, scheme, dt, q, v, a, tolerance, most, chord, q0, v0, a0):
    """One step of length dt, in place on (q, v, a); unchanged on failure. Returns Newton's status."""
    am, af, beta, gamma = scheme
    n = len(q)
    ca1, cv1 = 1.0 / (beta * dt * dt), gamma / (beta * dt)
    for k in range(n):
        # state at zero increment
        a1 = -v[k] / (beta * dt) - (0.5 / beta - 1.0) * a[k]
        v1 = v[k] + dt * ((1.0 - gamma) * a[k] + gamma * a1)
        q0[k] = q[k]
        v0[k] = (1.0 - af) * v1 + af * v[k]
        a0[k] = (1.0 - am) * a1 + am * a[k]
        s.d[k] = dt * (v[k] + 0.5 * dt * a[k])
    cq, cv, ca = 1.0 - af, (1.0 - af) * cv1, (1.0 - am) * ca1
    status = newton(tree, ws, forces, s, q0, v0, a0, cq, cv, ca, tolerance, 1e-13, most, chord)
    if status != CONVERGED:  # once more from a plainer guess, with fresh tangents
        for k in range(n):
            s.d[k] = dt * v[k]
        s.memory[0] = 0.0
        status = newton(tree, ws, forces, s, q0, v0, a0, cq, cv, ca, tolerance, 1e-13, most, False)
        s.memory[0] = 0.0
    if status == CONVERGED:
        for k in range(n):
            a1 = ca1 * (s.d[k] - dt * v[k]) - (0.5 / beta - 1.0) * a[k]
            v[k] += dt * ((1.0 - gamma) * a[k] + gamma * a1)
            q[k] += s.d[k]
            a[k] = a1
    return status


@kernel
def run(
    tree, ws, s, where, follower, gravity, wrench, scheme, dt, first, last, every, q, v, a, tolerance, most, chord,
    out_q, out_v, out_a, q0, v0, a0,
):  # fmt: skip
    """Steps first..last-1, storing every `every`-th state. gravity (m, 3) and wrench (m, k, 6): one row per step, or one.

    Returns (number of steps done, status); on failure (q, v, a) is the last good state.
    """
    for step in range(first, last):
        g = step if len(gravity) > 1 else 0
        w = step if len(wrench) > 1 else 0
        forces = Forces(gravity[g], where, follower, wrench[w])
        status = advance(tree, ws, forces, s, scheme, dt, q, v, a, tolerance, most, chord, q0, v0, a0)
        if status != CONVERGED:
            return step, status
        if (step + 1) % every == 0:
            row = (step + 1) // every
            for k in range(len(q)):
                out_q[row, k] = q[k]
                out_v[row, k] = v[k]
                out_a[row, k] = a[k]
    return last, CONVERGED
