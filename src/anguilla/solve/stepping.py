"""One time step and the compiled time loop: the Newmark family on R^n x SO(3), with constraints of index 3.

q1 = q + dt v + dt^2 ((1/2 - beta) a + beta a1),   v1 = v + dt ((1 - gamma) a + gamma a1),
(1 - am) a1 + am a = (1 - af) A1 + af A,   R(q1, v1, A1, lambda1, t1) = 0,   phi(q1, t1) = 0.

A is the true acceleration, a its average that the integrator works with (003 and 004 take am = af = 0). Newmark: am = af = 0,
so a = A. HHT: am = 0. Generalised alpha: am, af from the spectral radius at infinity. The balance and the closures hold at
the end of every step. The implicit midpoint rule instead has R((q + q1)/2, (v + v1)/2, (v1 - v)/dt) = 0; it is
time-reversible, and does not serve constraints.
"""

from __future__ import annotations

import math

from anguilla._distant import entry
from anguilla._jit import interpreted, part
from anguilla.assemble.evaluate import residual, tangent
from anguilla.loads.table import DT, MOTION, TIME
from anguilla.loads.tendon import rubs, set_friction
from anguilla.loads.thruster import has_states, step_states
from anguilla.mechanics.joints import compose
from anguilla.mechanics.motion import too_coarse
from anguilla.mechanics.vec import store3
from anguilla.solve.linear import factorise, solve_factorised
from anguilla.solve.newton import CONVERGED, DIVERGED, SINGULAR, TOO_COARSE, evaluate_increment, newton, norm

STATIC = (0.0, 0.0, 0.0, 0.0, 1.0)
FARTHEST = 2.0  # [rad] by which the strains of a rod may change in one time step


@part
def _start_acceleration(tree, ws, loads, s, q, v, a):
    """Acceleration that balances the state of a robot without constraints: M a = -R(q, v, 0). False if M is singular."""
    n = len(q)
    a[:] = 0.0
    for b in range(len(tree.ball)):
        store3(ws.increment, tree.ball[b, 1], 0, (0.0, 0.0, 0.0))
    residual(tree, ws, loads, q, v, a, s.d[n:], s.step)
    mass = s.matrix  # M = T(0, 1) - T(0, 0)
    tangent(tree, ws, loads, 0.0, 0.0, s.d[n:], s.spare)
    tangent(tree, ws, loads, 0.0, 1.0, s.d[n:], mass)
    for i in range(n):  # in units of angles and relative displacements, so that pivots can be compared
        for j in range(n):
            mass[i, j] = (mass[i, j] - s.spare[i, j]) / (tree.scale[i] * tree.scale[j])
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


@part
def _accept(tree, loads, s, scheme, dt, q, v, a, acc, lam):
    """The state at the end of a step, from the increment."""
    am, af, beta, gamma, mid = scheme
    static = beta == 0.0
    for b in range(len(tree.ball)):
        k = tree.ball[b, 0]
        total = compose((q[k], q[k + 1], q[k + 2]), (s.d[k], s.d[k + 1], s.d[k + 2]))
        for j in range(3):
            s.q0[k + j] = total[j]
    n = len(q)
    for k in range(n):
        q[k] += s.d[k]
        if not static:
            a1 = (s.d[k] - dt * v[k]) / (beta * dt * dt) - (0.5 / beta - 1.0) * a[k]
            v[k] += dt * ((1.0 - gamma) * a[k] + gamma * a1)
            acc[k] = a1 if mid < 1.0 else ((1.0 - am) * a1 + am * a[k] - af * acc[k]) / (1.0 - af)
            a[k] = a1
    for b in range(len(tree.ball)):
        k = tree.ball[b, 0]
        q[k], q[k + 1], q[k + 2] = s.q0[k], s.q0[k + 1], s.q0[k + 2]
    for b in range(len(loads.driven)):
        k, j = loads.driven[b], loads.at[MOTION] + 3 * b
        q[k] = loads.row[j]
        if not static:
            v[k], a[k], acc[k] = loads.row[j + 1], loads.row[j + 2], loads.row[j + 2]
    for k in range(len(lam)):
        lam[k] = s.d[n + k]
    if not static:
        step_states(loads.frames, dt)


@part
def _advance(tree, ws, loads, s, scheme, dt, q, v, a, acc, lam, relative, absolute, most, chord):
    """One step of length dt, in place on the state; unchanged on failure. Returns Newton's status."""
    am, af, beta, gamma, mid = scheme
    static = beta == 0.0
    n = len(q)
    if not static and rubs(loads.cables):  # tensions along tendons from the state at the start of the step
        residual(tree, ws, loads, q, v, acc, lam, s.step)
        set_friction(tree, ws, loads.cables)
    ca1, cv1, back = 0.0, 0.0, 0.0
    if not static:
        ca1, cv1, back = 1.0 / (beta * dt * dt), gamma / (beta * dt), 0.5 / beta - 1.0
    cq, cv, ca = 1.0, cv1, ca1 * (1.0 - am) / (1.0 - af)
    if mid < 1.0:
        cq, cv, ca = 0.5, 1.0 / dt, 2.0 / (dt * dt)
    status = CONVERGED
    for attempt in range(2):
        for k in range(n):
            # the state at zero increment; the first guess of the increment assumes a constant acceleration, the second
            # a constant velocity
            s.q0[k], s.v0[k], s.a0[k], s.d[k] = q[k], 0.0, 0.0, 0.0
            if not static:
                a1 = -dt * ca1 * v[k] - back * a[k]
                s.v0[k] = v[k] + dt * ((1.0 - gamma) * a[k] + gamma * a1)
                s.a0[k] = ((1.0 - am) * a1 + am * a[k] - af * acc[k]) / (1.0 - af)
                s.d[k] = dt * v[k] + (0.5 * dt * dt * a[k] if attempt == 0 else 0.0)
                if mid < 1.0:
                    s.v0[k], s.a0[k] = 0.0, -2.0 * v[k] / dt
        for k in range(len(lam)):
            s.d[n + k] = lam[k]
        status = newton(tree, ws, loads, s, cq, cv, ca, relative, absolute, most, chord and attempt == 0)
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
        if not static and has_states(loads.frames):
            evaluate_increment(tree, ws, loads, s, cq, cv, ca)  # their rates at the end, after the last correction
        _accept(tree, loads, s, scheme, dt, q, v, a, acc, lam)
    return status


@entry(residual, tangent)
def run(
    tree, ws, s, loads, column, table, scheme, t0, dt, begin, first, last, every, q, v, a, acc, lam, relative, absolute,
    most, chord, out_q, out_v, out_a, out_lam,
):  # fmt: skip
    """Do steps first..last-1 and store every `every`-th state: the one compiled door of statics and dynamics.

    column (w,) are the places in loads.row that change with time, table (steps, w) their values, a row for each step. With
    `begin`, (q, v) gets its starting acceleration first, under the loads as they stand. The STATIC scheme takes no time: each
    step finds the equilibrium under the loads of its row.

    Returns (number of steps done, status); on failure the state is the last good one.
    """
    if begin:
        if not _start_acceleration(tree, ws, loads, s, q, v, a):
            return first, SINGULAR
        for k in range(len(q)):
            acc[k] = a[k]
    for step in range(first, last):
        for j in range(len(column)):
            loads.row[column[j]] = table[step, j]
        if scheme[2] > 0.0:
            loads.row[DT] = dt
            loads.row[TIME] = t0 + (step + scheme[4]) * dt
        status = _advance(tree, ws, loads, s, scheme, dt, q, v, a, acc, lam, relative, absolute, most, chord)
        if status != CONVERGED:
            return step, status
        if (step + 1) % every == 0:
            row = (step + 1) // every
            for k in range(len(q)):
                out_q[row, k], out_v[row, k], out_a[row, k] = q[k], v[k], acc[k]
            for k in range(len(lam)):
                out_lam[row, k] = lam[k]
    return last, CONVERGED


def runner(system):
    """The time loop of a system: compiled, or asking its user-written loads."""
    if not system.user:
        return run
    return interpreted(run, {"residual": system.user.residual, "tangent": system.user.tangent})
