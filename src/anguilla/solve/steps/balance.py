"""Accelerations that balance many states of a robot, without constraints in one compiled loop: M a = -R(q, v, 0)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import interpreted, part
from anguilla.errors import SolverError
from anguilla.interact.kernels.rubbing import rubs
from anguilla.interact.kernels.table import TIME, Loads
from anguilla.mechanics.tree import Floats
from anguilla.mechanics.vec import store3
from anguilla.model.evaluate import residual, tangent
from anguilla.model.model import Model
from anguilla.results.blocks import parts
from anguilla.solve.newton.linear import factorise, solve_factorised
from anguilla.solve.newton.newton import renew, solve_correction
from anguilla.solve.newton.rules import EXPLANATION, SINGULAR
from anguilla.solve.steps.starting import consistent

if TYPE_CHECKING:
    from anguilla.solve.steps.motion import OngoingMotion

HEAVY = 1e30  # [1/s^2] so large that nothing but the mass is left of the tangent
EXACT = 2e-13  # part of the accelerations; a correction is the last if the next one, as much smaller, is below it
SHRINK = 0.1  # corrections by the mass of the state itself shrink at least by this factor, or they are round-off
SERVES = 64  # states that a mass serves: one that has become too large in some direction would not see an error there
PATIENCE = 6  # corrections of a state by the mass of an earlier one: a new one costs about as much as ten of them
MOST = 30  # corrections of a state
MANY = 3  # pieces of tendons and muscles for each node, from which on they take most of the time of a residual


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
def _accelerations(tree, ws, s, force, out):
    """Accelerations out (n,) that forces (n,) give to the factorised mass; returns the product of both."""
    large, product = len(tree.root) > 1, 0.0
    for k in range(len(force)):
        s.step[k] = force[k] if large else force[k] / tree.scale[k]
    if large:
        solve_correction(tree, ws, s)
    else:
        solve_factorised(s.matrix, s.pivot, s.step)
    for k in range(len(force)):
        out[k] = -HEAVY * s.step[k] if large else s.step[k] / tree.scale[k]
        product += force[k] * out[k]
    return product


@part
def _size(tree, a):
    """Square of accelerations (n,) as angles and displacements."""
    size = 0.0
    for k in range(len(a)):
        size += (tree.weight[k] * a[k]) ** 2
    return size


@entry(residual, tangent)
def balanced(tree, ws, s, loads, bare, spared, column, table, times, q, v, a, guessed, memory):
    """Find accelerations a (nt, n) of states q, v (nt, n), from guesses in a, or else from those of the state before.

    bare are the loads without forces along rods, if those are spared: they do not depend on a, so that what the mass makes of
    a is known without them.
    column (w,) are the places in loads.row that change with time, table (nt, w) their values at the times (nt,) [s]. The
    residual is linear in a: conjugate gradients find its zero, preconditioned by the factorised mass of an earlier state. A
    new mass is only needed when the robot has moved far. What is left is weighed with the mass: where that is hardly any, as
    of the twist of a straight rod, the last digits of the forces make large accelerations. memory (6, n).

    Returns the number of states done: less than all if the mass of the next one is singular.
    """
    n = q.shape[1]
    for b in range(len(tree.ball)):
        store3(ws.increment, tree.ball[b, 1], 0, (0.0, 0.0, 0.0))
    usable, mass = False, 0.0
    force, change, way, there, first, bare_force = memory[0], memory[1], memory[2], memory[3], memory[4], memory[5]
    for t in range(len(q)):
        for j in range(len(column)):
            loads.row[column[j]] = table[t, j]
        loads.row[TIME] = times[t]
        if not guessed and t > 0:
            for k in range(n):
                a[t, k] = a[t - 1, k]
        fresh, known, left, usable = False, False, 0.0, usable and t % SERVES > 0
        for tried in range(MOST):
            if not usable:
                there[:] = 0.0
                residual(tree, ws, loads, q[t], v[t], there, s.d[n:], force)
                usable, fresh, left = _mass(tree, ws, loads, s, n), True, 0.0
                if not usable:
                    return t
                whole = _accelerations(tree, ws, s, force, change)
                for k in range(n):
                    a[t, k] = -change[k]
                size = _size(tree, a[t])
                mass = whole / size if size > 0.0 else 0.0
            before = left
            if before == 0.0:  # the first look
                residual(tree, ws, loads, q[t], v[t], a[t], s.d[n:], force)
                left = _accelerations(tree, ws, s, force, change)
                for k in range(n):
                    way[k] = change[k]
            else:
                if not known:
                    for k in range(n):
                        first[k] = a[t, k]
                        bare_force[k] = force[k]
                    if spared:
                        residual(tree, ws, bare, q[t], v[t], first, s.d[n:], bare_force)
                    known = True
                for k in range(n):
                    there[k] = first[k] - way[k]
                residual(tree, ws, bare, q[t], v[t], there, s.d[n:], s.step)
                taken = 0.0  # product of the way and the force that it takes
                for k in range(n):
                    there[k] = bare_force[k] - s.step[k]
                    taken += way[k] * there[k]
                share = before / taken if taken > 0.0 else 0.0
                for k in range(n):
                    a[t, k] -= share * way[k]
                    force[k] -= share * there[k]
                left = _accelerations(tree, ws, s, force, change)
                for k in range(n):
                    way[k] = change[k] + left / before * way[k]
            size, share = _size(tree, a[t]), left / before if before > 0.0 else 1.0
            if not share * left > EXACT * EXACT * mass * size or (fresh and before > 0.0 and share > SHRINK * SHRINK):
                break
            usable = fresh or tried < PATIENCE
        for k in range(n):
            a[t, k] -= change[k]
    return len(q)


def _spared(model: Model, loads: Loads) -> tuple[Loads, Loads, bool]:
    """Loads with and without tendons and muscles along rods, and whether these are so many that it pays to spare them."""
    cables, muscles = loads.cables, loads.muscles
    if rubs(cables) or len(cables.link) + len(muscles.link) < MANY * len(model.tree.parent):
        return loads, loads, False
    bare = loads._replace(cables=cables._replace(link=cables.link[:0]), muscles=muscles._replace(link=muscles.link[:0]))
    return loads, bare, True


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
    memory = np.zeros((6, model.size))
    for at in parts(len(t), model.size + len(model.blank.row)):
        table = motion.loads(t[at])
        fixed = model.tree, model.workspace, motion.memory, *_spared(model, table.loads), table.column, table.table
        done = at.start + kernel(*fixed, t[at], q[at], v[at], a[at], guess is not None, memory)
        if done < at.stop:
            raise SolverError(f"No acceleration balances the state at t = {t[done]:g} s: {EXPLANATION[SINGULAR]}.")
    return a
