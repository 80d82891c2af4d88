"""One time step and the compiled time loop: the Newmark family with the balance at an intermediate instant.

q1 = q + dt v + dt^2 ((1/2 - beta) a + beta a1),   v1 = v + dt ((1 - gamma) a + gamma a1),
R((1 - af) q1 + af q, (1 - af) v1 + af v, (1 - am) a1 + am a, t + (1 - af) dt) = 0.

Newmark: am = af = 0. HHT: am = 0. Generalised alpha: am, af from the spectral radius at infinity. Implicit midpoint:
am = af = 1/2, beta = 1/4, gamma = 1/2, which is time-reversible.
"""

from __future__ import annotations

import math

from anguilla._jit import inline, kernel, merge
from anguilla.assemble.evaluate import Forces, residual, tangent
from anguilla.mechanics.joints import compose
from anguilla.mechanics.motion import too_coarse
from anguilla.mechanics.vec import store3
from anguilla.solve.linear import factorise, solve_factorised
from anguilla.solve.newton import CONVERGED, DIVERGED, SINGULAR, TOO_COARSE, newton, norm

STATIC = (0.0, 0.0, 0.0, 0.0)
FARTHEST = 2.0  # [rad] by which the strains of a rod may change in one time step


@merge
def _start_acceleration(tree, ws, forces, s, q, v, a):
    """Acceleration that balances the state: M a = -R(q, v, 0). Returns False if M is singular."""
    n = len(q)
    a[:] = 0.0
    for b in range(len(tree.ball)):
        store3(ws.increment, tree.ball[b, 1], 0, (0.0, 0.0, 0.0))
    residual(tree, ws, forces, q, v, a, s.step)
    mass = s.matrix  # M = T(0, 1) - T(0, 0)
    tangent(tree, ws, forces, 0.0, 0.0, s.spare)
    tangent(tree, ws, forces, 0.0, 1.0, mass)
    for i in range(n):
        for j in range(n):
            mass[i, j] -= s.spare[i, j]
    for i in range(n):  # in units of angles and relative displacements, so that pivots can be compared
        for j in range(n):
            mass[i, j] /= tree.scale[i] * tree.scale[j]
    s.memory[0] = 0.0
    if not factorise(mass, s.pivot):
        return False
    smallest, largest = math.inf, 0.0
    for k in range(n):
        smallest, largest = min(smallest, abs(mass[k, k])), max(largest, abs(mass[k, k]))
        a[k] = -s.step[k] / tree.scale[k]
    if smallest < 1e-15 * largest:
        return False
    solve_factorised(mass, s.pivot, a)
    for k in range(n):
        a[k] /= tree.scale[k]
    return True


@merge
def _advance(tree, ws, forces, s, scheme, dt, q, v, a, relative, absolute, most, chord):
    """One step of length dt, in place on (q, v, a); unchanged on failure. Returns Newton's status."""
    am, af, beta, gamma = scheme
    static = beta == 0.0
    n = len(q)
    ca1, cv1, back = 0.0, 0.0, 0.0
    if not static:
        ca1, cv1, back = 1.0 / (beta * dt * dt), gamma / (beta * dt), 0.5 / beta - 1.0
    cq, cv, ca = 1.0 - af, (1.0 - af) * cv1, (1.0 - am) * ca1
    status = CONVERGED
    for attempt in range(2):
        for k in range(n):
            # the state at zero increment; the first guess of the increment assumes a constant acceleration, the second
            # a constant velocity
            s.q0[k], s.v0[k], s.a0[k], s.d[k] = q[k], 0.0, 0.0, 0.0
            if not static:
                a1 = -dt * ca1 * v[k] - back * a[k]
                v1 = v[k] + dt * ((1.0 - gamma) * a[k] + gamma * a1)
                s.v0[k] = (1.0 - af) * v1 + af * v[k]
                s.a0[k] = (1.0 - am) * a1 + am * a[k]
                s.d[k] = dt * v[k] + (0.5 * dt * dt * a[k] if attempt == 0 else 0.0)
        status = newton(tree, ws, forces, s, cq, cv, ca, relative, absolute, most, chord and attempt == 0)
        if status == CONVERGED and too_coarse(ws):
            status = TOO_COARSE
        if (
            status == CONVERGED
            and not static
            and norm(s.d, tree.strain_scale) > FARTHEST * math.sqrt(len(tree.first) - 1)
        ):
            status = DIVERGED  # a step so long that Newton found another solution
        if status == CONVERGED or static:
            break
    if status == CONVERGED:
        for b in range(len(tree.ball)):
            k = tree.ball[b, 0]
            total = compose((q[k], q[k + 1], q[k + 2]), (s.d[k], s.d[k + 1], s.d[k + 2]))
            for j in range(3):
                s.q0[k + j] = total[j]
        for k in range(n):
            q[k] += s.d[k]
            if not static:
                a1 = ca1 * (s.d[k] - dt * v[k]) - back * a[k]
                v[k] += dt * ((1.0 - gamma) * a[k] + gamma * a1)
                a[k] = a1
        for b in range(len(tree.ball)):
            k = tree.ball[b, 0]
            q[k], q[k + 1], q[k + 2] = s.q0[k], s.q0[k + 1], s.q0[k + 2]
    return status


@inline
def _row(where, follower, gravity, wrench, effort, tension, row):
    """Forces of one row of the tables; tables of a single row serve all."""
    g = row if len(gravity) > 1 else 0
    w = row if len(wrench) > 1 else 0
    e = row if len(effort) > 1 else 0
    c = row if len(tension) > 1 else 0
    return Forces(gravity[g], where, follower, wrench[w], effort[e], tension[c])


@kernel
def run(
    tree, ws, s, where, follower, gravity, wrench, effort, tension, scheme, dt, begin, first, last, every, q, v, a,
    relative, absolute, most, chord, out_q, out_v,
):  # fmt: skip
    """Do steps first..last-1 and store every `every`-th state: the one compiled door of statics and dynamics.

    gravity (m, 3), wrench (m, k, 6), effort (m, n) and tension (m, c) have one row per step, or a single one. With
    `begin`, (q, v) gets
    its starting acceleration first, under the loads of the last row. The STATIC scheme takes no time: each
    step finds the equilibrium under the loads of its row.

    Returns (number of steps done, status); on failure (q, v, a) is the last good state.
    """
    if begin:
        forces = _row(where, follower, gravity, wrench, effort, tension, -1)
        if not _start_acceleration(tree, ws, forces, s, q, v, a):
            return first, SINGULAR
    for step in range(first, last):
        forces = _row(where, follower, gravity, wrench, effort, tension, step)
        status = _advance(tree, ws, forces, s, scheme, dt, q, v, a, relative, absolute, most, chord)
        if status != CONVERGED:
            return step, status
        if (step + 1) % every == 0:
            row = (step + 1) // every
            for k in range(len(q)):
                out_q[row, k] = q[k]
                out_v[row, k] = v[k]
    return last, CONVERGED
