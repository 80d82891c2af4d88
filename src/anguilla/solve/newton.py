"""The one Newton solver of the library, compiled.

The unknown is an increment d. The residual is evaluated at q = q0 + cq d, v = v0 + cv d, a = a0 + ca d: statics has
cq = 1, cv = ca = 0; a time step has the coefficients of its integrator. Corrections are measured as angles or relative
displacements (tree.weight), so that curvatures and stretches can be compared.

With `chord`, a factorised tangent is kept, across steps too, until the corrections shrink too slowly. A correction that
grows is halved (backtracking) after the tangent has been renewed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anguilla._jit import inline, kernel, merge
from anguilla.assemble.evaluate import residual, tangent
from anguilla.mechanics.joints import compose
from anguilla.mechanics.tree import Floats, Ints
from anguilla.mechanics.vec import scale, store3
from anguilla.solve.linear import factorise, solve_factorised

# Statuses
CONVERGED, TOO_MANY_ITERATIONS, DIVERGED, SINGULAR, NOT_FINITE, TOO_COARSE, TOO_STRICT = range(7)
EXPLANATION = {
    CONVERGED: "converged",
    TOO_MANY_ITERATIONS: "Newton's corrections still shrink, but not fast enough",
    DIVERGED: "Newton's corrections grow, even after halving them",
    SINGULAR: "the tangent is singular",
    NOT_FINITE: "the residual is not finite",
    TOO_COARSE: "an interval of a rod turned by more than 3 rad: give the rod more intervals",
    TOO_STRICT: "the error goal would need steps too small to take",
}

ROUND_OFF = 1e-9
PATIENCE = 4.0  # corrections that a new tangent is worth

# counters
ITERATIONS, FACTORISATIONS, HALVINGS = 0, 1, 2


class Scratch(NamedTuple):
    """Memory of the Newton solver."""

    d: Floats  # (n,) increment: start value in, solution out
    matrix: Floats  # (n, n) factorised tangent
    pivot: Ints  # (n,)
    step: Floats  # (n,) correction
    last: Floats  # (n,) previous correction
    q: Floats  # (n,) where the residual is evaluated
    v: Floats
    a: Floats
    q0: Floats  # (n,) state at zero increment
    v0: Floats
    a0: Floats
    spare: Floats  # (n, n)
    memory: Floats  # [0] 1 if matrix holds a usable factorisation; [1], [2] its alpha and beta; [3] last contraction
    counters: Ints  # (3,)


def scratch(n: int) -> Scratch:
    """Allocate the memory of the Newton solver for n unknowns."""
    d, step, last, q, v, a, q0, v0, a0 = (np.zeros(n) for _ in range(9))
    memory, counters = np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3, np.int64)
    matrix, spare, pivot = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n, np.int64)
    return Scratch(d, matrix, pivot, step, last, q, v, a, q0, v0, a0, spare, memory, counters)


@inline
def norm(x, weight):
    """Size of x with weights."""
    total = 0.0
    for k in range(len(x)):
        total += (x[k] * weight[k]) ** 2
    return np.sqrt(total)


@merge
def _evaluate(tree, ws, forces, s, cq, cv, ca):
    """Residual at the present increment, into s.step."""
    for k in range(len(s.d)):
        s.q[k] = s.q0[k] + cq * s.d[k]
        s.v[k] = s.v0[k] + cv * s.d[k]
        s.a[k] = s.a0[k] + ca * s.d[k]
    for b in range(len(tree.ball)):
        k = tree.ball[b, 0]
        x = scale(cq, (s.d[k], s.d[k + 1], s.d[k + 2]))
        s.q[k], s.q[k + 1], s.q[k + 2] = compose((s.q0[k], s.q0[k + 1], s.q0[k + 2]), x)
        store3(ws.increment, tree.ball[b, 1], 0, x)
    residual(tree, ws, forces, s.q, s.v, s.a, s.step)


@merge
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


@merge
def _renew(tree, ws, forces, s, cq, alpha, beta):
    """Factorise the tangent at the state of the last residual."""
    tangent(tree, ws, forces, alpha, beta, s.matrix)
    matrix = s.matrix
    if cq != 1.0:
        for i in range(len(matrix)):
            for j in range(len(matrix)):
                matrix[i, j] *= cq
    s.counters[FACTORISATIONS] += 1
    good = factorise(matrix, s.pivot)
    s.memory[0] = 1.0 if good else 0.0
    s.memory[1], s.memory[2] = alpha, beta
    return good


@kernel
def newton(tree, ws, forces, s, cq, cv, ca, relative, absolute, most, chord):
    """Solve R(q0 + cq d, v0 + cv d, a0 + ca d) = 0 for s.d, starting from its value. Returns a status.

    Converged when the estimated error of d is below relative |d| + absolute, both measured with tree.weight.
    """
    alpha, beta = cv / cq, ca / cq
    n = len(s.d)
    if not (chord and s.memory[0] == 1.0 and s.memory[1] == alpha and s.memory[2] == beta):
        s.memory[0] = 0.0
    before = -1.0  # size of the previous correction
    halvings = 0
    fresh = False  # the factorisation belongs to this solve
    for _ in range(most):
        s.counters[ITERATIONS] += 1
        _evaluate(tree, ws, forces, s, cq, cv, ca)
        if s.memory[0] == 0.0:
            for k in range(n):
                s.v[k] = s.step[k]  # s.step is overwritten below only by the solve
            if not _renew(tree, ws, forces, s, cq, alpha, beta):
                return SINGULAR if np.isfinite(norm(s.v, tree.weight)) else NOT_FINITE
            fresh = True
        for k in range(n):
            s.step[k] = -s.step[k]
        solve_factorised(s.matrix, s.pivot, s.step)
        size = norm(s.step, tree.weight)
        if before >= 0.0 and not size < before:  # grew, or not finite
            if fresh and before <= ROUND_OFF * (1.0 + norm(s.q, tree.weight)):
                return CONVERGED  # corrections no longer shrink because they are round-off
            if fresh or not np.isfinite(size):
                if halvings == 30:
                    return DIVERGED if np.isfinite(size) else NOT_FINITE
                halvings += 1
                s.counters[HALVINGS] += 1
                for k in range(n):
                    s.last[k] *= 0.5
                    s.d[k] -= s.last[k]
                before *= 0.5
                continue
            s.memory[0] = 0.0  # an old factorisation: renew it here before judging
            before = -1.0
            continue
        if not np.isfinite(size):
            return NOT_FINITE
        if before > 0.0:
            contraction = size / before
        else:  # the contraction seen in the last solve, trusted less and less (it tends to 1 until measured again)
            contraction = 1.0 if fresh else s.memory[3] ** 0.8
        s.memory[3] = 1.0 if fresh else contraction  # quadratic convergence says nothing about the next, older tangent
        _correct(tree, s, cq)
        goal = relative * norm(s.d, tree.weight) + absolute
        if size <= goal or (contraction < 0.9 and size * contraction / (1.0 - contraction) <= goal):
            return CONVERGED
        if not chord:
            s.memory[0] = 0.0
        elif before > 0.0 and not fresh:
            # too slow: a new tangent when it would take more than PATIENCE further corrections
            if contraction > 0.9 or size * contraction**PATIENCE > goal * (1.0 - contraction):
                s.memory[0] = 0.0
        before = size
    s.memory[0] = 0.0
    return TOO_MANY_ITERATIONS
