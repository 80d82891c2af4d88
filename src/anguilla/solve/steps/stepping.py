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

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import inline, interpreted, part
from anguilla.interact.kernels.contact import has_contacts
from anguilla.interact.kernels.impact import touching_unknown
from anguilla.interact.kernels.rubbing import keep_rubbing, rubs
from anguilla.interact.kernels.table import DT, MOTION, TIME
from anguilla.interact.kernels.thruster import has_states, step_states
from anguilla.mechanics.joints import compose
from anguilla.mechanics.motion import too_coarse
from anguilla.mechanics.vec import store3
from anguilla.model.evaluate import judge_touch, note_touch, residual, tangent
from anguilla.solve.newton.linear import factorise, is_definite, solve_factorised
from anguilla.solve.newton.newton import (
    CONTRACTION,
    CONVERGED,
    DIVERGED,
    EASED,
    IMPACT,
    MISSED,
    SINGULAR,
    SOON,
    STARTING,
    TOO_COARSE,
    USABLE,
    evaluate_increment,
    newton,
    norm,
    renew,
    solve_correction,
)

STATIC = (0.0, 0.0, 0.0, 0.0, 1.0)
HEAVY = 1e16  # [1/s^2] so large that subtracting the stiffness from the tangent costs no digits of the mass
FARTHEST = 2.0  # [rad] by which the strains of a rod may change in one time step
UNRESOLVED = 0.9  # part of the accelerations that a step must be unable to follow before they are eased
# [rad] change by accelerations alone during a step, above which they may be eased: at the start of a motion, and later
FELT, ROUGH = 1e-6, 10.0
FAR = 1.0  # [rad] the same after they were eased, above which the step is too long


@part
def _start_acceleration(tree, ws, loads, s, q, v, a):
    """Acceleration that balances the state of a robot without constraints: M a = -R(q, v, 0). False if M is singular."""
    n = len(q)
    a[:] = 0.0
    for b in range(len(tree.ball)):
        store3(ws.increment, tree.ball[b, 1], 0, (0.0, 0.0, 0.0))
    residual(tree, ws, loads, q, v, a, s.d[n:], s.step)
    mass = s.matrix  # M = (T(0, b) - T(0, 0)) / b
    tangent(tree, ws, loads, 0.0, 0.0, s.d[n:], s.spare)
    tangent(tree, ws, loads, 0.0, HEAVY, s.d[n:], mass)
    for i in range(n):  # in units of angles and relative displacements, so that pivots can be compared
        for j in range(n):
            mass[i, j] = (mass[i, j] - s.spare[i, j]) / (HEAVY * tree.scale[i] * tree.scale[j])
    s.memory[USABLE] = 0.0
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


@inline
def _factors(scheme, dt):
    """(cq, cv, ca) of the increment in the state where a step is balanced; see newton.py."""
    am, af, beta, gamma, mid = scheme
    if beta == 0.0:
        return 1.0, 0.0, 0.0
    if mid < 1.0:
        return 0.5, 1.0 / dt, 2.0 / (dt * dt)
    return 1.0, gamma / (beta * dt), (1.0 - am) / (1.0 - af) / (beta * dt * dt)


@part
def _ease(tree, ws, loads, s, cv, ca, q, v, a, acc, lam):
    """Replace accelerations a by those that a linear step of the scheme can follow, T^-1 ca M a with T = K + cv C + ca M.

    The start of a motion, or shorter steps before, leave accelerations of modes so fast that the next step cannot resolve
    them; multiplied by dt^2, they would set those modes ringing between wrong states. Nothing is changed where a step can
    follow a fair part of the accelerations. Returns whether they were eased; s.kept has what they were.
    """
    n = len(q)
    for b in range(len(tree.ball)):
        store3(ws.increment, tree.ball[b, 1], 0, (0.0, 0.0, 0.0))
    for k in range(len(lam)):
        s.d[n + k] = lam[k]
    for k in range(n):
        s.a[k] = (
            0.0  # T has no stiffness of the inertia of a; its loads are those at the end of the step, so -R is not M a
        )
        s.kept[0, k], s.kept[1, k] = a[k], acc[k]
    residual(tree, ws, loads, q, v, s.a, lam, s.step)
    tangent(tree, ws, loads, cv, ca, lam, s.spare)
    if not is_definite(s.spare, n):
        return False  # a load far above that of buckling: what it does fast is no ringing
    tangent(tree, ws, loads, cv, 0.0, lam, s.spare)
    if not renew(tree, ws, loads, s, 1.0, cv, ca):
        return False
    for row in range(2):
        x = a if row == 0 else acc
        for i in range(len(s.step)):
            s.step[i] = 0.0
            for j in range(n):
                s.step[i] += s.spare[i, j] * x[j] if i < n else 0.0
        for b in range(len(loads.driven)):
            s.step[loads.driven[b]] = 0.0
        solve_correction(s)
        for k in range(n):
            x[k] += s.step[k]
    change, size = 0.0, 0.0
    for k in range(n):
        change += (tree.weight[k] * (a[k] - s.kept[0, k])) ** 2
        size += (tree.weight[k] * s.kept[0, k]) ** 2
    if change < UNRESOLVED**2 * size:
        for k in range(n):
            a[k], acc[k] = s.kept[0, k], s.kept[1, k]
        s.memory[USABLE] = 0.0
        return False
    s.counters[EASED] += 1
    return True


@part
def _attempt(tree, ws, loads, s, scheme, dt, q, v, a, acc, lam, relative, absolute, most, chord, curved):
    """Newton's status of one step; the guess assumes a constant acceleration if `curved`, else a constant velocity."""
    am, af, beta, gamma, mid = scheme
    static = beta == 0.0
    n = len(q)
    ca1, back = 0.0, 0.0
    if not static:
        ca1, back = 1.0 / (beta * dt * dt), 0.5 / beta - 1.0
    for k in range(n):  # the state at zero increment, and the guess
        s.q0[k], s.v0[k], s.a0[k], s.d[k], s.drift[k] = q[k], 0.0, 0.0, 0.0, 0.0
        if not static:
            a1 = -dt * ca1 * v[k] - back * a[k]
            s.v0[k] = v[k] + dt * ((1.0 - gamma) * a[k] + gamma * a1)
            s.a0[k] = ((1.0 - am) * a1 + am * a[k] - af * acc[k]) / (1.0 - af)
            s.drift[k] = dt * v[k]
            s.d[k] = s.drift[k] + (0.5 * dt * dt * a[k] if curved else 0.0)
            if mid < 1.0:
                s.v0[k], s.a0[k] = 0.0, -2.0 * v[k] / dt
    for k in range(len(lam)):
        s.d[n + k] = lam[k]
    cq, cv, ca = _factors(scheme, dt)
    status = newton(tree, ws, loads, s, cq, cv, ca, relative, absolute, most, chord)
    if status == CONVERGED and too_coarse(ws):
        return TOO_COARSE
    if status == CONVERGED and not static and norm(s.d, tree.strain_scale) > FARTHEST * math.sqrt(len(tree.first) - 1):
        return DIVERGED  # a step so long that Newton found another solution
    if status == CONVERGED and not static and has_states(loads.frames):
        evaluate_increment(tree, ws, loads, s, cq, cv, ca)  # their rates at the end, after the last correction
    return status


@part
def _advance(tree, ws, loads, s, scheme, dt, q, v, a, acc, lam, relative, absolute, most, chord):
    """One step of length dt, in place on the state; unchanged on failure. Returns Newton's status."""
    static = scheme[2] == 0.0
    moving = not static and not (scheme[2] == 1.0 and scheme[3] == 1.0)  # not on the way to a rest (relaxing.py)
    touching = moving and has_contacts(loads.frames)
    if touching and touching_unknown(loads.frames):
        residual(tree, ws, loads, q, v, acc, lam, s.step)
        note_touch(ws, loads, 1.0, s.memory[MISSED:])
    if touching and s.memory[SOON] < 2.0 * dt:
        s.memory[CONTRACTION] = 1.0  # a tangent of the free motion says nothing about that of what touches
    eased, status = False, CONVERGED
    if not static and scheme[4] == 1.0:
        bow = 0.5 * dt * dt * norm(a, tree.weight)
        if bow > ROUGH or (s.memory[STARTING] == 1.0 and bow > FELT):
            _, cv, ca = _factors(scheme, dt)
            eased = _ease(tree, ws, loads, s, cv, ca, q, v, a, acc, lam)
            if eased and 0.5 * dt * dt * norm(a, tree.weight) > FAR:
                status = DIVERGED  # too long a step even for the slow modes
    if status == CONVERGED:
        status = _attempt(tree, ws, loads, s, scheme, dt, q, v, a, acc, lam, relative, absolute, most, chord, True)
        if status != CONVERGED and not static:  # from another guess
            status = _attempt(tree, ws, loads, s, scheme, dt, q, v, a, acc, lam, relative, absolute, most, False, False)
    if touching and status == CONVERGED:
        judge_touch(tree, ws, loads, dt, scheme[4], s.memory[MISSED:])
        if s.memory[MISSED] == 1.0:
            status = IMPACT
            note_touch(ws, loads, 0.0, s.memory[MISSED:])
    if status == CONVERGED:
        s.memory[STARTING] = 0.0
        _accept(tree, loads, s, scheme, dt, q, v, a, acc, lam)
        if touching:
            note_touch(ws, loads, 1.0 if scheme[4] == 1.0 else 0.0, s.memory[MISSED:])
        if moving and rubs(loads.cables):
            keep_rubbing(loads.cables, scheme[4])
    elif eased:
        for k in range(len(q)):
            a[k], acc[k] = s.kept[0, k], s.kept[1, k]
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
