"""Accelerations that balance many states of a robot, without constraints in one compiled loop: M a = -R(q, v, 0)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import interpreted, part
from anguilla.errors import SolverError
from anguilla.interact.kernels.table import TIME
from anguilla.mechanics.tree import Floats
from anguilla.mechanics.vec import store3
from anguilla.model.evaluate import residual, tangent
from anguilla.results.blocks import parts
from anguilla.solve.newton.linear import factorise, solve_factorised
from anguilla.solve.newton.newton import renew, solve_correction
from anguilla.solve.newton.rules import EXPLANATION, SINGULAR
from anguilla.solve.steps.starting import consistent

if TYPE_CHECKING:
    from anguilla.solve.steps.motion import OngoingMotion

HEAVY = 1e30  # [1/s^2] so large that nothing but the mass is left of the tangent
EXACT = 1e-12  # a correction this small, as a part of the accelerations, is the last
NOISE = 1e-10  # larger corrections are never taken for round-off of a robot in earlier states
SHRINK = 0.1  # a mass of earlier states serves as long as corrections shrink at least by this factor
MOST = 30  # corrections of a state


@part
def _mass(tree, ws, loads, s, n):
    """Factorised mass at the state of the last residual, in units of angles and relative displacements; False if singular."""
    if len(tree.root) > 1:
        return renew(tree, ws, loads, s, 1.0, 0.0, HEAVY)
    tangent(tree, ws, loads, 0.0, HEAVY, s.d[n:], s.matrix)
    for i in range(n):
        for j in range(n):
            s.matrix[i, j] /= HEAVY * tree.scale[i] * tree.scale[j]
    if not factorise(s.matrix, s.pivot):
        return False
    smallest, largest = math.inf, 0.0
    for k in range(n):
        smallest, largest = min(smallest, abs(s.matrix[k, k])), max(largest, abs(s.matrix[k, k]))
    return smallest >= 1e-15 * largest


@part
def _correct(tree, ws, s, a):
    """Correct accelerations by the residual they leave; returns squares of the sizes of correction and accelerations."""
    large = len(tree.root) > 1
    if large:
        solve_correction(tree, ws, s)
    else:
        for k in range(len(a)):
            s.step[k] /= tree.scale[k]
        solve_factorised(s.matrix, s.pivot, s.step)
    correction, whole = 0.0, 0.0
    for k in range(len(a)):
        change = -HEAVY * s.step[k] if large else s.step[k] / tree.scale[k]
        a[k] -= change
        correction += (tree.weight[k] * change) ** 2
        whole += (tree.weight[k] * a[k]) ** 2
    return correction, whole


@entry(residual, tangent)
def balanced(tree, ws, s, loads, column, table, times, q, v, a, guessed):
    """Find accelerations a (nt, n) of states q, v (nt, n), from guesses in a, or else from those of the state before.

    column (w,) are the places in loads.row that change with time, table (nt, w) their values at the times (nt,) [s]. The
    residual is linear in a, so that the factorised mass of an earlier state corrects it until nothing is left; a new one is
    only needed when the robot has moved far.

    Returns the number of states done: less than all if the mass of the next one is singular.
    """
    n = q.shape[1]
    for b in range(len(tree.ball)):
        store3(ws.increment, tree.ball[b, 1], 0, (0.0, 0.0, 0.0))
    usable, exact = False, EXACT
    for t in range(len(q)):
        for j in range(len(column)):
            loads.row[column[j]] = table[t, j]
        loads.row[TIME] = times[t]
        if not guessed and t > 0:
            for k in range(n):
                a[t, k] = a[t - 1, k]
        fresh, before = False, math.inf
        for _ in range(MOST):
            residual(tree, ws, loads, q[t], v[t], a[t], s.d[n:], s.step)
            if not usable:
                usable, fresh, before = _mass(tree, ws, loads, s, n), True, math.inf
                if not usable:
                    return t
            correction, whole = _correct(tree, ws, s, a[t])
            if not correction > exact * exact * whole:
                break
            if correction > SHRINK * SHRINK * before:
                if fresh:  # round-off
                    exact = min(NOISE, 4.0 * math.sqrt(correction / whole))
                    break
                usable = False
            before = correction
    return len(q)


def balance(motion: OngoingMotion, t: Floats, q: Floats, v: Floats, guess: Floats | None = None) -> Floats:
    """Accelerations (nt, n) that balance states (q, v) (nt, n) at times t (nt,) [s]; good guesses (nt, n) make it quicker.

    The motion gives the robot, its inputs and memory.
    """
    model, a = motion.system, np.zeros_like(q) if guess is None else guess.copy()
    if not model.is_plain:
        for k in range(len(t)):
            a[k] = consistent(model, motion.inputs, t[k], q[k].copy(), v[k], 0.0)[1]
        return a
    user, kernel = model.user, balanced
    if user:
        kernel = interpreted(balanced, {"residual": user.residual, "tangent": user.tangent})
    for at in parts(len(t), model.size + len(model.blank.row)):
        table = motion.loads(t[at])
        fixed = model.tree, model.workspace, motion.memory, table.loads, table.column, table.table
        done = at.start + kernel(*fixed, t[at], q[at], v[at], a[at], guess is not None)
        if done < at.stop:
            raise SolverError(f"No acceleration balances the state at t = {t[done]:g} s: {EXPLANATION[SINGULAR]}.")
    return a
