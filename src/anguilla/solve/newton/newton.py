"""The one Newton solver of the library, compiled.

The unknown is an increment d of the coordinates, followed by the multipliers of the constraints. The residual is evaluated
at q = q0 + cq d, v = v0 + cv d, a = a0 + ca d: statics has cq = 1, cv = ca = 0; a time step has the coefficients of its
integrator. Corrections are measured as angles or relative displacements (tree.weight), so that curvatures and stretches can
be compared. Coordinates whose motion is given are not solved for.

With constraints the matrix is scaled to entries of order one before it is factorised, whatever the step: coordinates by
their units, the balance by its largest diagonal entry tau, constraints by their gradients, multipliers by tau.

With `chord`, a factorised tangent is kept, across steps too, until the corrections shrink too slowly. A correction that
grows is halved (backtracking) after the tangent has been renewed. Of large robots it is undone before that, the tangent is
renewed as often as it takes, and corrections are compared only with those of the same tangent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anguilla.compiler.asking import ask
from anguilla.compiler.distant import NUMBER, compiled, distant
from anguilla.compiler.jit import inline, part
from anguilla.compiler.table import Arrays
from anguilla.interact.kernels.contact import has_contacts
from anguilla.interact.kernels.table import HITS, KIND, LENGTH, MOTION, TWIST, Loads, may_touch
from anguilla.interact.kernels.touch import hushed
from anguilla.linear.choice import DENSE, SPARSE, TREE, TREES
from anguilla.linear.tree import solve_tree
from anguilla.mechanics.joints import compose
from anguilla.mechanics.tangent import block_width
from anguilla.mechanics.tree import NO_ELIMINATION, Elimination, Floats, Ints, Tree, Workspace, elimination
from anguilla.mechanics.vec import scale, store3
from anguilla.model.evaluate import linearise, residual, tangent
from anguilla.model.model import Model
from anguilla.solve.newton.linear import INVERTED, factorise, invert, multiply, solve_factorised
from anguilla.solve.newton.nets import attend
from anguilla.solve.newton.rules import (
    CONVERGED,
    DIVERGED,
    NOT_FINITE,
    PATIENCE,
    ROUND_OFF,
    SINGULAR,
    SLOWEST,
    TOO_MANY_ITERATIONS,
    at_once,
    converged,
    expected,
    too_slow,
)

# [m, rad] gap of a closure before the last correction; of large robots, also as a part of the allowed error
CLOSED, GAP = 1e-9, 0.1
# An error of d, as a part of d, makes one of the acceleration that grows as steps get shorter. So it is measured by so many
# times the part of d that the acceleration makes, where that is less.
FREE = 10.0
# Powers of two are counted less multiples of this: beside larger ones, a sum would lose the smallest.
PRIME = 2.0**40 - 87.0

# memory between solves: 1 if the matrix holds a usable factorisation; its alpha and beta; the last contraction; the pattern
# of slack tendons; 1 before the first step of a motion; 1 if the last step missed an impact; time [s] before which nothing
# touches; of the factorised tangent, how much of an increment its coordinates move; 1 if the last step was nearer to a
# constant velocity than to a constant acceleration
USABLE, ALPHA, BETA, CONTRACTION, SLACKS, STARTING, MISSED, SOON, PART, COASTED = range(10)

FRESH = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)  # of a solver that has not begun

# counters
COUNTERS = ("iterations", "factorisations", "halvings", "eased")
ITERATIONS, FACTORISATIONS, HALVINGS, EASED = range(4)


class Goal(NamedTuple):
    """What a solve must reach: an error of d below relative |d| + absolute, in `most` iterations.

    A chord keeps the factorised tangent of earlier iterations and solves as long as it serves; a new one is worth
    `patience` corrections.
    """

    relative: float
    absolute: float
    most: int
    chord: bool
    patience: float = PATIENCE


class Scratch(Arrays):
    """Memory of the Newton solver."""

    d: Floats  # (n + m,) increment and multipliers: start value in, solution out
    matrix: Floats  # (n + m, n + m) factorised tangent, of a small robot, or its inverse
    blocks: Elimination  # the same of a tree in blocks
    question: Ints  # (2,) numbers that factorise and solve with one sparse matrix
    pivot: Ints  # (n + m,)
    step: Floats  # (n + m,) correction
    last: Floats  # (n + m,) previous correction
    left: Floats  # (n + m,) factors of the rows of the matrix; of one that is inverted, the residual
    right: Floats  # (n + m,) factors of its columns
    q: Floats  # (n,) where the residual is evaluated
    v: Floats
    a: Floats
    q0: Floats  # (n,) state at zero increment
    v0: Floats
    a0: Floats
    drift: Floats  # (n,) increment without acceleration
    spare: Floats  # (n + m, n + m) of a small robot
    memory: Floats  # (10,)
    kept: Floats  # (2, n) accelerations before they were eased
    counters: Ints  # (4,)


# Kernels may be compiled before the first memory is made: this one says what it consists of.
_LINE, _SQUARE, _COUNT = np.zeros(0), np.zeros((0, 0)), np.zeros(0, np.int64)
Scratch(
    d=_LINE, matrix=_SQUARE, blocks=NO_ELIMINATION, question=_COUNT, pivot=_COUNT, step=_LINE, last=_LINE, left=_LINE,
    right=_LINE, q=_LINE, v=_LINE, a=_LINE, q0=_LINE, v0=_LINE, a0=_LINE, drift=_LINE, spare=_SQUARE, memory=_LINE,
    kept=_SQUARE, counters=_COUNT,
)  # fmt: skip


def scratch(system: Model) -> Scratch:
    """Allocate the memory of the Newton solver of a model."""
    n, m, dense = system.size, system.rows, system.linear == DENSE
    size = n + m if dense else 0
    d, step, last, left, right = (np.zeros(n + m) for _ in range(5))
    q, v, a, q0, v0, a0, drift = (np.zeros(n) for _ in range(7))
    memory, counters = np.array(FRESH), np.zeros(4, np.int64)
    matrix, spare, pivot = np.zeros((size, size)), np.zeros((size, size)), np.zeros(size, np.int64)
    blocks = elimination(system.tree) if system.linear == TREE else NO_ELIMINATION
    if not dense:
        compiled(renew_blocks, solve_blocks)
    made = Scratch(
        d, matrix, blocks, np.zeros(2, np.int64), pivot, step, last, left, right, q, v, a, q0, v0, a0, drift, spare, memory,
        np.zeros((2, n)), counters,
    )  # fmt: skip
    if system.linear == SPARSE:
        attend(system, made)
    return made


@inline
def norm(x, weight):
    """Size of the coordinates of x, with weights."""
    total = 0.0
    for k in range(len(weight)):
        total += (x[k] * weight[k]) ** 2
    return np.sqrt(total)


@part
def _measure(s, weight):
    """What the error of the increment is measured by."""
    total, driven = 0.0, 0.0
    for k in range(len(weight)):
        total += (s.d[k] * weight[k]) ** 2
        driven += ((s.d[k] - s.drift[k]) * weight[k]) ** 2
    return np.sqrt(min(total, FREE**2 * driven))


@part
def evaluate_increment(tree, ws, loads, s, by):
    """Residual at the present increment, into s.step. Returns the largest gap of the constraints."""
    cq, cv, ca = by
    n = len(s.q)
    for k in range(n):
        s.q[k] = s.q0[k] + cq * s.d[k]
        s.v[k] = s.v0[k] + cv * s.d[k]
        s.a[k] = s.a0[k] + ca * s.d[k]
    for b in range(len(loads.driven)):
        k, j = loads.driven[b], loads.at[MOTION] + 3 * b
        s.q[k], s.v[k], s.a[k] = loads.row[j], loads.row[j + 1], loads.row[j + 2]
    for b in range(len(tree.ball)):
        k = tree.ball[b, 0]
        x = scale(cq, (s.d[k], s.d[k + 1], s.d[k + 2]))
        s.q[k], s.q[k + 1], s.q[k + 2] = compose((s.q0[k], s.q0[k + 1], s.q0[k + 2]), x)
        store3(ws.increment, tree.ball[b, 1], 0, x)
    residual(tree, ws, loads, s.q, s.v, s.a, s.d[n:], s.step)
    for b in range(len(loads.driven)):
        s.step[loads.driven[b]] = 0.0
    gap = 0.0
    c = loads.constraints
    for k in range(len(c.table)):
        if c.table[k, KIND] != TWIST and c.slack[k] == 0:
            gap = max(gap, abs(s.step[n + k]))
    return gap


@part
def _correct(tree, s, cq):
    """Add the correction to the increment; rotations of balls are composed."""
    for k in range(len(s.d)):
        s.last[k] = s.step[k]
    for b in range(len(tree.ball)):
        k = tree.ball[b, 0]
        x, y = scale(cq, (s.d[k], s.d[k + 1], s.d[k + 2])), scale(cq, (s.step[k], s.step[k + 1], s.step[k + 2]))
        total = scale(1.0 / cq, compose(x, y))
        s.last[k], s.last[k + 1], s.last[k + 2] = total[0] - s.d[k], total[1] - s.d[k + 1], total[2] - s.d[k + 2]
    for k in range(len(s.d)):
        s.d[k] += s.last[k]


@part
def _slacks(loads):
    """A number that tells patterns of slack tendons apart: a sum of whole numbers, exact in any order."""
    total, bit, c = 0.0, 1.0, loads.constraints
    for k in range(len(c.table)):
        if c.table[k, KIND] == LENGTH:
            total += bit * c.slack[k]
            bit *= 2.0
            if bit > PRIME:
                bit -= PRIME
    return total


@part
def equilibrate(tree, matrix, left, right):
    """Scale a bordered matrix in place to entries of order one."""
    n, size = len(tree.scale), len(matrix)
    tau = 0.0
    for i in range(n):
        right[i] = 1.0 / tree.scale[i]
        tau = max(tau, abs(matrix[i, i]) * right[i] * right[i])
    tau = tau if tau > 0.0 else 1.0
    for i in range(n):
        left[i] = right[i] / tau
    for k in range(n, size):
        row, column = abs(matrix[k, k]), 0.0
        for i in range(n):
            row = max(row, abs(matrix[k, i]) * right[i])
            column = max(column, abs(matrix[i, k]) * right[i])
        left[k] = 1.0 / row if row > 0.0 else 1.0
        right[k] = tau / column if column > 0.0 else 1.0
    for i in range(size):
        for j in range(size):
            matrix[i, j] *= left[i] * right[j]


@part
def _weigh_multipliers(tree, ws, loads, s):
    """Units of the multipliers: the forces that displacements of order one make, over their gradients."""
    c, n, tau = loads.constraints, len(s.q), 0.0
    for b in range(len(tree.root)):
        width, shift = block_width(tree, b), 4 * tree.extended_at[b]
        for i in range(tree.lead[b], tree.lead[b + 1]):
            k = tree.coordinate[i]
            lane = tree.extended[k] - shift
            at = tree.block_at[b] + (lane - 4 * tree.face[b]) * width + lane
            tau = max(tau, abs(ws.matrix[at]) / tree.scale[k] ** 2)
    for k in range(len(c.table)):
        column = 0.0
        for e in range(c.entry[k], c.entry[k + 1]):
            for l in range(4):
                i = tree.of_lane[4 * c.pack[e] + l]
                if i >= 0:
                    column = max(column, abs(c.column[e, l]) / tree.scale[i])
        s.right[n + k] = (tau if tau > 0.0 else 1.0) / (column if column > 0.0 else 1.0)


@distant(Tree, Workspace, Loads, Scratch, NUMBER, NUMBER, needs=(linearise,))
def renew_blocks(tree, ws, loads, s, alpha, beta):
    """Factorise the tangent of a large robot. s.memory[USABLE] says whether that went well."""
    n = len(s.q)
    s.blocks.held[:] = 0
    s.blocks.good[:] = 1
    if len(s.blocks.at) > 0:
        for b in range(len(loads.driven)):
            s.blocks.held[loads.driven[b]] = 1
    linearise(tree, ws, loads, s.blocks, alpha, beta, s.d[n:])
    if len(s.blocks.at) > 0:
        s.memory[USABLE] = float(s.blocks.good[0])
    else:
        _weigh_multipliers(tree, ws, loads, s)
        s.memory[USABLE] = 1.0 if ask(s.question[0]) == 0 else 0.0


@distant(Tree, Workspace, Scratch)
def solve_blocks(tree, ws, s):
    """Correction from the residual, both in s.step, with the factorised tangent of a large robot."""
    n = len(s.q)
    for k in range(len(s.step)):
        s.step[k] = -s.step[k]
    if len(s.blocks.at) > 0:
        solve_tree(tree, s.blocks, s.step)
    elif ask(s.question[1]) != 0:
        s.step[0] = np.nan
    for k in range(n):
        s.step[k] /= s.memory[PART]


@part
def renew(tree, ws, loads, s, cq, alpha, beta):
    """Factorise the tangent at the state of the last residual."""
    n = len(s.q)
    matrix = s.matrix
    if len(tree.root) > 1:
        s.counters[FACTORISATIONS] += 1
        s.memory[ALPHA], s.memory[BETA], s.memory[SLACKS], s.memory[PART] = alpha, beta, _slacks(loads), cq
        renew_blocks(tree, ws, loads, s, alpha, beta)
        return s.memory[USABLE] == 1.0
    tangent(tree, ws, loads, alpha, beta, s.d[n:], matrix)
    if cq != 1.0:
        for i in range(len(matrix)):
            for j in range(n):
                matrix[i, j] *= cq
    for b in range(len(loads.driven)):
        k = loads.driven[b]
        largest = abs(matrix[k, k])
        for j in range(len(matrix)):
            matrix[k, j], matrix[j, k] = 0.0, 0.0  # its correction is zero, whatever the size of the pivot
        matrix[k, k] = largest if largest > 0.0 else 1.0
    if len(matrix) > n:
        equilibrate(tree, matrix, s.left, s.right)
    s.counters[FACTORISATIONS] += 1
    good = invert(matrix, s.pivot) if _inverts(s, beta) else factorise(matrix, s.pivot)
    s.memory[USABLE] = 1.0 if good else 0.0
    s.memory[ALPHA], s.memory[BETA], s.memory[SLACKS] = alpha, beta, _slacks(loads)
    return good


@inline
def _inverts(s, beta):
    """Whether the tangent is inverted: that of a small robot without constraints, for the many corrections of a motion."""
    return beta > 0.0 and len(s.matrix) == len(s.q) and len(s.q) <= INVERTED


@part
def solve_correction(tree, ws, s):
    """Correction from the residual, both in s.step."""
    size = len(s.step)
    if len(tree.root) > 1:
        solve_blocks(tree, ws, s)
    elif _inverts(s, s.memory[BETA]):
        for k in range(size):
            s.left[k] = -s.step[k]
        multiply(s.matrix, s.left, s.step)
    elif size == len(s.q):
        for k in range(size):
            s.step[k] = -s.step[k]
        solve_factorised(s.matrix, s.pivot, s.step)
    else:
        for k in range(size):
            s.step[k] = -s.left[k] * s.step[k]
        solve_factorised(s.matrix, s.pivot, s.step)
        for k in range(size):
            s.step[k] *= s.right[k]


@inline
def _shift(s):
    """Size of the correction of the multipliers, as the displacements that they make."""
    largest = 0.0
    for k in range(len(s.q), len(s.step)):
        largest = max(largest, abs(s.step[k]) / s.right[k])
    return largest


@inline
def _touching(loads):
    """Whether something may touch in the present step."""
    return may_touch(loads) and (has_contacts(loads.frames) or not hushed(loads.touches))


@part
def newton(tree, ws, loads, s, by, goal, chord):
    """Solve R(q0 + cq d, v0 + cv d, a0 + ca d, lambda) = 0 for s.d, starting from its value. Returns a status.

    `by` is (cq, cv, ca). Converged when the estimated error of d is below that of the `Goal`, or less if d is almost its
    drift (`_measure`), both measured with tree.weight; that of the multipliers, as displacements, too.
    """
    cq, cv, ca = by
    alpha, beta = cv / cq, ca / cq
    n = len(s.q)
    if not (chord and s.memory[USABLE] == 1.0 and s.memory[ALPHA] == alpha and s.memory[BETA] == beta):
        s.memory[USABLE] = 0.0
    before, all_before = -1.0, -1.0  # size of the previous correction, without and with the multipliers
    halvings, cuts, worst = 0, 0, 0.0  # cuts: halvings of the last correction
    fresh = False  # the factorisation belongs to this solve
    stale = SLOWEST  # ratio of the last two corrections with an older one
    large = chord and n > TREES  # its steps are often far from linear, and go on well with a second new tangent
    for number in range(goal.most):
        s.counters[ITERATIONS] += 1
        gap = evaluate_increment(tree, ws, loads, s, by)
        if s.memory[SLACKS] != _slacks(loads):  # a tendon became slack or taut: another problem
            s.memory[USABLE], before = 0.0, -1.0
        if number == 0 and loads.touches.count[HITS] > 0:
            s.memory[CONTRACTION] = 1.0  # that of a motion without contact says nothing
        new = s.memory[USABLE] == 0.0
        if new:
            for k in range(n):
                s.v[k] = s.step[k]  # s.step is overwritten below only by the solve
            if not renew(tree, ws, loads, s, cq, alpha, beta):
                return SINGULAR if np.isfinite(norm(s.v, tree.weight)) else NOT_FINITE
            fresh = True
            if large:
                before, worst = -1.0, 0.0  # corrections of two tangents are not compared
        solve_correction(tree, ws, s)
        size, shift = norm(s.step, tree.weight), _shift(s)
        limit = before
        if large and cuts > 0:  # with one and the same tangent, a part of a correction leaves the rest of it
            limit = before * (2.0**cuts - 0.5)
        if before >= 0.0 and not size < limit:  # grew, or not finite
            if fresh and cuts == 0 and before <= ROUND_OFF * (1.0 + norm(s.q, tree.weight)):
                return CONVERGED  # corrections no longer shrink because they are round-off
            if fresh or not np.isfinite(size):
                if halvings == 30:
                    return DIVERGED if np.isfinite(size) else NOT_FINITE
                halvings, cuts = halvings + 1, cuts + 1
                s.counters[HALVINGS] += 1
                for k in range(len(s.d)):
                    s.last[k] *= 0.5
                    s.d[k] -= s.last[k]
                before *= 0.5
                continue
            s.memory[USABLE], before = 0.0, -1.0  # an old factorisation: renew it before judging
            if large:  # from where it led astray
                for k in range(len(s.d)):
                    s.d[k] -= s.last[k]
            continue
        if not np.isfinite(size):
            return NOT_FINITE
        total = max(size, shift)
        if before > 0.0:
            contraction = total / all_before
            worst = max(worst, contraction)  # multipliers follow one correction behind: the last ratio flatters
            if new and chord and len(s.step) == n and not _touching(loads):
                contraction = min(contraction, at_once(size, norm(s.d, tree.weight), stale))
            elif not fresh:
                stale = contraction
        else:
            contraction = expected(fresh, s.memory[CONTRACTION])
        if len(s.step) > n:
            contraction = max(contraction, worst)
        s.memory[CONTRACTION] = 1.0 if fresh else contraction
        _correct(tree, s, cq)
        cuts = 0
        allowed = goal.relative * _measure(s, tree.weight) + goal.absolute
        closed = max(CLOSED, GAP * allowed) if n > TREES else CLOSED
        if gap <= closed and converged(total, all_before, contraction, allowed):
            return CONVERGED
        if not chord:
            s.memory[USABLE] = 0.0
        elif before > 0.0 and (large or not fresh) and too_slow(total, contraction, allowed, goal.patience):
            s.memory[USABLE] = 0.0
        before, all_before = size, total
        if number == 0 and not chord and len(s.d) > n:
            before = -1.0  # the first correction finds the multipliers: its size says nothing about the next
    s.memory[USABLE] = 0.0
    return TOO_MANY_ITERATIONS
