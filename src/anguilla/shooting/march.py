"""The initial-value problem of a segment and its tangent, by Gauss collocation over equal intervals, compiled.

A segment is a piece of rod without jumps inside. Its points are the Gauss points of its intervals, so that what a
time step knows of the past is kept where the equations ask for it. Gauss collocation preserves the structure of the
optimal control problem: the discrete rod is a Lagrangian system, and short waves do not gain energy from the
discretisation (with an explicit Runge-Kutta method along X they do, and blow up the average-acceleration scheme
within tens of steps). It keeps R orthogonal, too. The stages are found by fixed-point sweeps, from those of the last
evaluation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss

from anguilla.compiler.jit import inline, kernel
from anguilla.mechanics.tree import Floats, Ints
from anguilla.shooting.point import Work, slope, slope_tangent
from anguilla.shooting.state import LAM, STATE, TANGENT

SWEEPS = 80
FULL_PRECISION = (2e-15, 1e-8)


class Segments(NamedTuple):
    """Pieces of rod: (segments,) first point, first node, number of intervals (0 for a point), their length [m]."""

    first: Ints
    node: Ints
    intervals: Ints
    step: Floats


class Gauss(NamedTuple):
    """The collocation method.

    Attributes:
        a, b: (s, s), (s,) its coefficients.
        scale: (30,) scales of a state.
        precision: (2,) sweeps stop when they change the stages of the state, and of the tangent, by less than this.

    """

    a: Floats
    b: Floats
    scale: Floats
    precision: Floats


class Stages(NamedTuple):
    """StepSlopes at all points, kept from one evaluation to the next: of the state (points, 30), of the tangent."""

    state: Floats
    tangent: Floats


def gauss(stages: int) -> tuple[Floats, Floats, Floats]:
    """Nodes c (s,), weights b (s,) and matrix a (s, s) of Gauss collocation on [0, 1]."""
    x, w = leggauss(stages)
    c, b = 0.5 * (1.0 + x), 0.5 * w
    powers = np.arange(stages)
    # sum_j a_ij c_j^k = c_i^(k+1) / (k+1)
    a = (c[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(c[:, None] ** powers)
    return c, b, np.ascontiguousarray(a)


def rule_along(name: str) -> tuple[Floats, Floats, Floats]:
    """Nodes, weights and matrix of a method with three stages: "gauss" (order 6), or "explicit" (Heun's, order 3).

    The explicit one is as the paper's in kind: it serves to show how short waves grow with it (figure 3 (b)).
    """
    if name == "explicit":
        a = np.zeros((3, 3))
        a[1, 0], a[2, 1] = 1.0 / 3.0, 2.0 / 3.0
        return np.array([0.0, 1.0, 2.0]) / 3.0, np.array([0.25, 0.0, 0.75]), a
    return gauss(3)


def work(stages: int, columns: int) -> Work:
    """Scratch for tangents of so many columns."""
    return Work(
        np.zeros((stages, 6)), np.zeros((stages, 6, 6)), np.zeros((stages, 6)), np.zeros((6, 6)), np.zeros(6),
        np.zeros((stages, STATE)), np.zeros(STATE), np.zeros(STATE),
        np.zeros((stages, TANGENT, columns)), np.zeros((TANGENT, columns)),
        np.zeros((TANGENT, columns)),
    )  # fmt: skip


@inline
def larger(a, b):
    """The larger of two numbers, or the one that is not a number (which max() may lose)."""
    return b if (b > a or b != b) else a


@kernel
def advance(fields, pull, scheme, rule, kept, p, h, y, w):
    """State y over one interval whose points start at p, in place. Returns whether the stages settled."""
    s = len(rule.b)
    settled = False
    last = np.inf
    for n in range(STATE):
        w.weight[n] = h / (rule.scale[n] + abs(y[n]))
    for _ in range(SWEEPS):
        change = 0.0
        for i in range(s):
            for n in range(STATE):
                total = 0.0
                for j in range(s):
                    total += rule.a[i, j] * kept.state[p + j, n]
                w.states[i, n] = y[n] + h * total
            slope(fields, pull, scheme, p + i, w.states[i], w.trial, w, i)
            for n in range(STATE):
                change = larger(change, w.weight[n] * abs(w.trial[n] - kept.state[p + i, n]))
                kept.state[p + i, n] = w.trial[n]
        if not np.isfinite(change):
            break
        if change < rule.precision[0] or (change < 1e-11 and change >= last):
            settled = True
            break
        last = change
    if not settled:
        for i in range(s):  # do not start the next evaluation from here
            for n in range(STATE):
                kept.state[p + i, n] = 0.0
        return False
    for n in range(STATE):
        total = 0.0
        for i in range(s):
            total += rule.b[i] * kept.state[p + i, n]
        y[n] += h * total
    return True


@kernel
def advance_tangent(fields, scheme, rule, kept, p, h, Y, w, moving):
    """Columns Y of the tangent over one interval, in place, after `advance` over it."""
    s, m = len(rule.b), Y.shape[1]
    for _ in range(SWEEPS):
        change, size = 0.0, 0.0
        for i in range(s):
            Z, K = w.transfer, kept.tangent[p + i]
            for n in range(TANGENT):
                for c in range(m):
                    Z[n, c] = Y[n, c]
            for j in range(s):
                factor = h * rule.a[i, j]
                for n in range(TANGENT):
                    for c in range(m):
                        Z[n, c] += factor * kept.tangent[p + j, n, c]
            slope_tangent(fields, scheme, p + i, w.states[i], w, i, Z, w.change)
            for n in range(TANGENT):
                scale = 1.0 / rule.scale[n + 6]
                for c in range(m):
                    both = scale * rule.scale[c + 6 if (moving or c < 6) else c + 18]
                    change = larger(change, both * abs(w.change[n, c] - K[n, c]))
                    size = max(size, both * abs(w.change[n, c]))
                    K[n, c] = w.change[n, c]
        if change <= rule.precision[1] * size or not np.isfinite(change):
            break
    for i in range(s):
        factor = h * rule.b[i]
        for n in range(TANGENT):
            for c in range(m):
                Y[n, c] += factor * kept.tangent[p + i, n, c]


@kernel
def march(fields, segments, pulls, scheme, rule, kept, start, nodes, end, transfer, moving, tangent, w):
    """End states (S, 30) of all segments from their start states, and d end / d start (S, 24, columns) if asked for.

    All states at nodes are kept too (nodes, 30). The columns are all 24 components of the tangent when `moving`, else
    zeta and Lambda (12). Returns the first segment whose integration failed, or -1.
    """
    for s in range(len(segments.first)):
        Y, y = transfer[s], end[s]
        for i in range(STATE):
            y[i] = start[s, i]
            nodes[segments.node[s], i] = y[i]
        if tangent:
            for i in range(TANGENT):
                for j in range(Y.shape[1]):
                    Y[i, j] = 0.0
            for j in range(Y.shape[1]):
                Y[j if (moving or j < 6) else j + 12, j] = 1.0
        for k in range(segments.intervals[s]):
            p, h = segments.first[s] + k * len(rule.b), segments.step[s]
            if not advance(fields, pulls[s], scheme, rule, kept, p, h, y, w):
                return s
            if tangent:
                advance_tangent(fields, scheme, rule, kept, p, h, Y, w, moving)
            for i in range(STATE):
                nodes[segments.node[s] + k + 1, i] = y[i]
        if not np.isfinite(y[LAM] + y[LAM + 3]):
            return s
    return -1


@kernel
def at_points(fields, segments, pulls, scheme, rule, kept, nodes, states, strain, w):
    """States (points, 30) and strains (points, 6) at the Gauss points, after `march`."""
    stages = len(rule.b)
    for s in range(len(segments.first)):
        for k in range(segments.intervals[s]):
            p, h = segments.first[s] + k * stages, segments.step[s]
            for i in range(stages):
                for n in range(STATE):
                    total = 0.0
                    for j in range(stages):
                        total += rule.a[i, j] * kept.state[p + j, n]
                    states[p + i, n] = nodes[segments.node[s] + k, n] + h * total
                slope(fields, pulls[s], scheme, p + i, states[p + i], w.trial, w, 0)
                for n in range(6):
                    strain[p + i, n] = w.xi[0, n]
