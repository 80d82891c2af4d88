"""One time step and the compiled time loop: the Newmark family (schemes.py) on R^n x SO(3), with constraints of index 3.

The balance R(q1, v1, A1, lambda1, t1) = 0 and the closures phi(q1, t1) = 0 hold at the end of every step. The implicit
midpoint rule is time-reversible, and does not serve constraints.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from anguilla.compiler.distant import NUMBER, compiled, direct, distant, entry
from anguilla.compiler.jit import inline, interpreted, part
from anguilla.compiler.table import Arrays
from anguilla.interact.kernels.contact import grips, has_contacts, keep_grips
from anguilla.interact.kernels.impact import touching_unknown
from anguilla.interact.kernels.rubbing import keep_rubbing, rubs
from anguilla.interact.kernels.table import DT, HITS, KIND, LENGTH, MOTION, TIME, Loads, may_touch
from anguilla.interact.kernels.thruster import has_states, step_states
from anguilla.interact.kernels.touch import hear, hush
from anguilla.interact.kernels.touch_steps import holds, keep_touching, may_hold, meeting_unknown
from anguilla.linear.choice import DENSE, SPARSE, TREES
from anguilla.mechanics.joints import compose
from anguilla.mechanics.motion import too_coarse
from anguilla.mechanics.relaxing import keep_relaxing
from anguilla.mechanics.tree import Floats, Tree, Workspace
from anguilla.mechanics.vec import store3
from anguilla.model.evaluate import judge_touch, linearise, note_touch, residual, tangent, times
from anguilla.solve.newton.linear import factorise, is_definite, solve_factorised
from anguilla.solve.newton.nets import told
from anguilla.solve.newton.newton import (
    COASTED,
    CONTRACTION,
    EASED,
    MISSED,
    SOON,
    STARTING,
    USABLE,
    Goal,
    Scratch,
    evaluate_increment,
    newton,
    norm,
    renew,
    solve_correction,
)
from anguilla.solve.newton.rules import CONVERGED, DIVERGED, IMPACT, SINGULAR, TIGHTENED, TOO_COARSE
from anguilla.solve.steps.schemes import Coefficients, ended, factors, unmoved

STATIC = Coefficients(0.0, 0.0, 0.0, 0.0, 1.0)
HEAVY = 1e16  # [1/s^2] so large that subtracting the stiffness from the tangent costs no digits of the mass
HEAVIEST = 1e30  # [1/s^2] so large that nothing but the mass is left
FARTHEST = 2.0  # [rad] by which the strains of a rod may change in one time step
UNRESOLVED = 0.9  # part of the accelerations that a step must be unable to follow before they are eased
# [rad] change by accelerations alone during a step, above which they may be eased: at the start of a motion, and later
FELT, ROUGH = 1e-6, 10.0
FAR = 1.0  # [rad] the same after they were eased, above which the step is too long


class State(Arrays):
    """What a step changes, in place."""

    q: Floats  # (n,) coordinates
    v: Floats  # (n,) rates
    a: Floats  # (n,) accelerations that the scheme works with
    acc: Floats  # (n,) true accelerations
    lam: Floats  # (m,) multipliers


_NONE = np.zeros(0)
State(_NONE, _NONE, _NONE, _NONE, _NONE)  # kernels may be compiled before the first


class History(Arrays):
    """States that are kept, one a row."""

    q: Floats  # (rows, n)
    v: Floats  # (rows, n)
    a: Floats  # (rows, n) true accelerations
    lam: Floats  # (rows, m)


class Span(NamedTuple):
    """Steps first..last-1 of length dt [s]; the first of all begins at t0 [s]. Every so many states one is stored."""

    t0: float
    dt: float
    first: int
    last: int
    every: int


ONCE = Span(0.0, 1.0, 0, 1, 2)  # one step, stored nowhere


def stored(rows: int, n: int, m: int) -> History:
    """Room for some states of n coordinates and m multipliers."""
    return History(np.zeros((rows, n)), np.zeros((rows, n)), np.zeros((rows, n)), np.zeros((rows, m)))


@part
def heavy_correction(tree, ws, loads, s, a):
    """Correct the accelerations of a large robot by the residual in s.step: nothing but the mass is left of the tangent."""
    if not renew(tree, ws, loads, s, 1.0, 0.0, HEAVIEST):
        return False
    s.memory[USABLE] = 0.0
    solve_correction(tree, ws, s)
    for k in range(len(a)):
        a[k] += HEAVIEST * s.step[k]
    return True


@part
def _start_acceleration(tree, ws, loads, s, x):
    """Acceleration that balances the state of a robot without constraints: M a = -R(q, v, 0). False if M is singular."""
    q, v, a = x.q, x.v, x.a
    n = len(q)
    a[:] = 0.0
    for b in range(len(tree.ball)):
        store3(ws.increment, tree.ball[b, 1], 0, (0.0, 0.0, 0.0))
    residual(tree, ws, loads, q, v, a, s.d[n:], s.step)
    if len(tree.root) > 1:
        return heavy_correction(tree, ws, loads, s, a)
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
def _accept(tree, loads, s, scheme, dt, x):
    """The state at the end of a step, from the increment."""
    q, v, a, acc, lam = x.q, x.v, x.a, x.acc, x.lam
    static = scheme.beta == 0.0
    for b in range(len(tree.ball)):
        k = tree.ball[b, 0]
        total = compose((q[k], q[k + 1], q[k + 2]), (s.d[k], s.d[k + 1], s.d[k + 2]))
        for j in range(3):
            s.q0[k + j] = total[j]
    n = len(q)
    for k in range(n):
        q[k] += s.d[k]
        if not static:
            v[k], a[k], acc[k] = ended(scheme, dt, s.d[k], v[k], a[k], acc[k])
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


@distant(Tree, Workspace, Loads, Scratch, NUMBER, State, needs=(linearise,))
def follow_blocks(tree, ws, loads, s, cv, x):
    """(K + cv C) a and the same of the true accelerations of a large robot, into s.left and s.last."""
    n = len(x.q)
    linearise(tree, ws, loads, ws.none, cv, 0.0, x.lam)
    s.step[:] = 0.0
    for row in range(2):
        for k in range(n):
            s.step[k] = x.a[k] if row == 0 else x.acc[k]
        times(tree, ws, loads, s.step, s.left if row == 0 else s.last)


@part
def _ease(tree, ws, loads, s, cv, ca, x):
    """Replace accelerations a by those that a linear step of the scheme can follow, T^-1 ca M a with T = K + cv C + ca M.

    The start of a motion, or shorter steps before, leave accelerations of modes so fast that the next step cannot resolve
    them; multiplied by dt^2, they would set those modes ringing between wrong states. Nothing is changed where a step can
    follow a fair part of the accelerations. Returns whether they were eased; s.kept has what they were.
    """
    q, v, a, acc, lam = x.q, x.v, x.a, x.acc, x.lam
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
    large = len(tree.root) > 1
    if large:
        follow_blocks(tree, ws, loads, s, cv, x)
    else:
        tangent(tree, ws, loads, cv, ca, lam, s.spare)
        if not is_definite(s.spare, n):
            return False  # a load far above that of buckling: what it does fast is no ringing
        tangent(tree, ws, loads, cv, 0.0, lam, s.spare)
    if not renew(tree, ws, loads, s, 1.0, cv, ca):
        return False
    if len(s.blocks.at) > 0 and s.blocks.good[1] == 0:  # the same of an open robot in blocks
        s.memory[USABLE] = 0.0
        return False
    for row in range(2):
        y = a if row == 0 else acc
        for i in range(len(s.step)):
            s.step[i] = 0.0
            if large and i < n:
                s.step[i] = s.left[i] if row == 0 else s.last[i]
            elif i < n:
                for j in range(n):
                    s.step[i] += s.spare[i, j] * y[j]
        for b in range(len(loads.driven)):
            s.step[loads.driven[b]] = 0.0
        solve_correction(tree, ws, s)
        for k in range(n):
            y[k] += s.step[k]
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
def _attempt(tree, ws, loads, s, scheme, dt, x, goal, first):
    """Newton's status of one step, from a guess with a constant acceleration; or if that failed, a constant velocity.

    Accelerations of modes that steps do not resolve say nothing about the next step: after one that they misled, the first
    guess of a large robot, which has many such modes, is a constant velocity too.
    """
    q, v, a, acc, lam = x.q, x.v, x.a, x.acc, x.lam
    static = scheme.beta == 0.0
    n, bend = len(q), 0.5 * dt * dt if first and s.memory[COASTED] == 0.0 else 0.0
    for k in range(n):  # the state at zero increment, and the guess
        s.q0[k], s.v0[k], s.a0[k], s.d[k], s.drift[k] = q[k], 0.0, 0.0, 0.0, 0.0
        if not static:
            s.v0[k], s.a0[k] = unmoved(scheme, dt, v[k], a[k], acc[k])
            s.drift[k] = dt * v[k]
            s.d[k] = s.drift[k] + bend * a[k]
    for k in range(len(lam)):
        s.d[n + k] = lam[k]
    by = factors(scheme, dt)
    status = newton(tree, ws, loads, s, by, goal, goal.chord and first)
    if status == CONVERGED and too_coarse(ws):
        return TOO_COARSE
    if status == CONVERGED and not static and norm(s.d, tree.strain_scale) > FARTHEST * math.sqrt(len(tree.first) - 1):
        return DIVERGED  # a step so long that Newton found another solution
    if status == CONVERGED and not static and (has_states(loads.frames) or _holds(loads)):
        evaluate_increment(tree, ws, loads, s, by)  # their rates at the end, after the last correction
    return status


@part
def _coasted(s, weight, dt, a):
    """1 if the increment is nearer to a constant velocity than to a constant acceleration, else 0."""
    coasting, bent = 0.0, 0.0
    for k in range(len(a)):
        off = s.d[k] - s.drift[k]
        coasting += (weight[k] * off) ** 2
        bent += (weight[k] * (off - 0.5 * dt * dt * a[k])) ** 2
    return 1.0 if coasting < bent else 0.0


@inline
def _holds(loads):
    """Whether friction of some contact holds something."""
    return grips(loads.frames) or (loads.touches.count[HITS] > 0 and holds(loads.touches))


@part
def _advance(tree, ws, loads, s, scheme, dt, x, goal):
    """One step of length dt, in place on the state; unchanged on failure. Returns Newton's status."""
    q, v, a, acc, lam = x.q, x.v, x.a, x.acc, x.lam
    static = scheme.beta == 0.0
    moving = not static and not (scheme.beta == 1.0 and scheme.gamma == 1.0)  # not on the way to a rest (relaxing.py)
    touching = moving and may_touch(loads)
    relaxes = len(loads.relaxing.term) > 0
    if relaxes:
        loads.relaxing.over[0] = dt if moving else math.inf
    large = not static and len(q) > TREES
    if touching and (touching_unknown(loads.frames) or meeting_unknown(loads.touches)):
        residual(tree, ws, loads, q, v, acc, lam, s.step)
        note_touch(ws, loads, 1.0, s.memory[MISSED:])
    if touching and s.memory[SOON] < 2.0 * dt:
        s.memory[CONTRACTION] = 1.0  # a tangent of the free motion says nothing about that of what touches
    eased, status = False, CONVERGED
    if not static and scheme.mid == 1.0:
        bow = 0.5 * dt * dt * norm(a, tree.weight)
        if bow > ROUGH or (s.memory[STARTING] == 1.0 and bow > FELT):
            _, cv, ca = factors(scheme, dt)
            eased = _ease(tree, ws, loads, s, cv, ca, x)
            if eased and 0.5 * dt * dt * norm(a, tree.weight) > FAR:
                status = DIVERGED  # too long a step even for the slow modes
        if large and s.memory[STARTING] == 1.0:
            s.memory[COASTED] = 1.0 if bow > FAR and not eased else 0.0
    quiet = touching and status == CONVERGED and hush(loads.touches)
    if status == CONVERGED:
        status = _attempt(tree, ws, loads, s, scheme, dt, x, goal, True)
        if status != CONVERGED and not static:  # from another guess
            status = _attempt(tree, ws, loads, s, scheme, dt, x, goal, False)
    if quiet:
        hear(loads.touches)
    if touching and status == CONVERGED:
        judge_touch(tree, ws, loads, dt, scheme.mid, s.memory[MISSED:])
        if s.memory[MISSED] == 1.0:
            status = IMPACT
            note_touch(ws, loads, -1.0, s.memory[MISSED:])
    if status == CONVERGED:
        s.memory[STARTING] = 0.0
        if large:
            s.memory[COASTED] = _coasted(s, tree.weight, dt, a)
        _accept(tree, loads, s, scheme, dt, x)
        if touching:
            note_touch(ws, loads, 1.0 if scheme.mid == 1.0 else 0.0, s.memory[MISSED:])
        if moving and rubs(loads.cables):
            keep_rubbing(loads.cables, scheme.mid)
        if not static and has_contacts(loads.frames):
            keep_grips(loads.frames)
        if not static and len(loads.touches.table) > 0 and holds(loads.touches):
            keep_touching(loads.touches)
        if relaxes and moving:
            keep_relaxing(tree, loads.relaxing, q, dt)
    elif eased:
        for k in range(len(q)):
            a[k], acc[k] = s.kept[0, k], s.kept[1, k]
    if relaxes and moving:
        loads.relaxing.over[0] = 0.0
    return status


@part
def _pulling(c, lam):
    """The lines of given length, without a compliance, that pull: a bit each; those beyond sixty share them."""
    bits, bit = 0, 1
    for k in range(len(c.table)):
        if c.table[k, KIND] == LENGTH and c.value[k] == 0.0:
            if lam[k] > 0.0:
                bits |= bit
            bit = 1 if bit == 1 << 60 else bit << 1
    return bits


@part
def _keep(x, out, row):
    """Store a state in a row."""
    for k in range(len(x.q)):
        out.q[row, k], out.v[row, k], out.a[row, k] = x.q[k], x.v[k], x.acc[k]
    for k in range(len(x.lam)):
        out.lam[row, k] = x.lam[k]


@entry(residual, tangent)
def run(tree, ws, s, loads, column, table, numbers, steps, begin, x, wanted, out):
    """Do some steps on a `State` and keep some in `History`: the one compiled door of statics and dynamics.

    numbers, steps and wanted are `Coefficients`, a `Span` and a `Goal`, as plain tuples, which take a third of the time to
    hand over. column (w,) are the places in loads.row that change with time, table (steps, w) their values, a row for each
    step. With `begin`, (q, v) gets its starting acceleration first, under the loads as they stand, and is kept too. The
    STATIC scheme takes no time: each step finds the equilibrium under the loads of its row.

    Returns (number of steps done, status), -1 if there is no starting acceleration; on failure the state is the last good
    one. A motion also stops behind a step in which a slack line of given length became taut: that is an impact, behind which
    it has to begin anew.
    """
    scheme, span, goal = Coefficients(*numbers), Span(*steps), Goal(*wanted)
    may_hold(loads.touches)
    if begin:
        if not _start_acceleration(tree, ws, loads, s, x):
            return -1, SINGULAR
        for k in range(len(x.q)):
            x.acc[k] = x.a[k]
        _keep(x, out, span.first // span.every)
    moving = scheme.beta > 0.0 and not (scheme.beta == 1.0 and scheme.gamma == 1.0)  # not on the way to a rest
    for step in range(span.first, span.last):
        pulled = _pulling(loads.constraints, x.lam)
        for j in range(len(column)):
            loads.row[column[j]] = table[step, j]
        if scheme.beta > 0.0:
            loads.row[DT] = span.dt
            loads.row[TIME] = span.t0 + (step + scheme.mid) * span.dt
        status = _advance(tree, ws, loads, s, scheme, span.dt, x, goal)
        if status != CONVERGED:
            return step, status
        if (step + 1) % span.every == 0:
            _keep(x, out, (step + 1) // span.every)
        if moving and _pulling(loads.constraints, x.lam) & ~pulled:
            return step + 1, TIGHTENED
    return span.last, CONVERGED


def _asking(tree, ws, s, *arguments):
    """The time loop of a net: what goes wrong in the sparse solver is raised here."""
    found = run(tree, ws, s, *arguments)
    told(s)
    return found


def runner(system):
    """The time loop of a system: compiled, or asking its user-written loads."""
    if system.linear != DENSE:
        compiled(follow_blocks)
    if system.linear == SPARSE:
        return _asking
    if not system.user:
        return direct(run)
    return interpreted(run, {"residual": system.user.residual, "tangent": system.user.tangent})
