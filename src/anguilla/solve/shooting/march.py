"""The initial-value problem of a segment and its tangent, by Runge-Kutta over equal intervals, compiled.

A segment is a piece of rod without jumps inside. Its sections are nodes and midpoints: interval k of a segment whose
points start at `first` has the points first + 2k, first + 2k + 1 (midpoint) and first + 2k + 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anguilla._jit import inline, kernel
from anguilla.mechanics.tree import Floats, Ints
from anguilla.mechanics.vec import dot
from anguilla.solve.shooting.point import LAM, STATE, TANGENT, Work, law, slope, slope_tangent


class Segments(NamedTuple):
    """Pieces of rod: (segments,) first point, number of intervals (0 for a point), their length [m]."""

    first: Ints
    count: Ints
    step: Floats


def work(columns: int) -> Work:
    """Scratch for tangents of so many columns."""
    return Work(
        np.zeros(6), np.zeros((6, 6)), np.zeros((6, 6)), np.zeros(6), np.zeros(6), np.zeros(STATE),
        np.zeros((5, STATE)), np.zeros((4, TANGENT, columns)),
    )  # fmt: skip


@kernel
def step(fields, pull, scheme, p, h, y, Y, w, tangent):
    """One interval of the classical fourth-order method, for the state y and the columns Y of its tangent, in place."""
    k, total, trial = w.slopes[0], w.slopes[1], w.state
    Yk, Ytotal, Ytrial = w.columns[0], w.columns[1], w.columns[2]
    m = Y.shape[1]
    for i in range(STATE):
        trial[i], total[i] = y[i], y[i]
    if tangent:
        for i in range(TANGENT):
            for j in range(m):
                Ytrial[i, j], Ytotal[i, j] = Y[i, j], Y[i, j]
    for stage in range(4):
        at = p if stage == 0 else (p + 2 if stage == 3 else p + 1)
        weight = h / 6.0 if (stage == 0 or stage == 3) else h / 3.0
        ahead = h if stage == 2 else 0.5 * h
        slope(fields, pull, scheme, at, trial, k, w)
        if tangent:
            slope_tangent(fields, scheme, at, trial, w, Ytrial, Yk)
            for i in range(TANGENT):
                for j in range(m):
                    Ytotal[i, j] += weight * Yk[i, j]
                    Ytrial[i, j] = Y[i, j] + ahead * Yk[i, j]
        for i in range(STATE):
            total[i] += weight * k[i]
            trial[i] = y[i] + ahead * k[i]
    for i in range(STATE):
        y[i] = total[i]
    _orthonormal(y)
    if tangent:
        for i in range(TANGENT):
            for j in range(m):
                Y[i, j] = Ytotal[i, j]


@inline
def _orthonormal(y):
    """One step of the iteration R <- R (3 - R^T R) / 2 to the nearest rotation: the rows keep no drift."""
    r0, r1, r2 = (y[0], y[1], y[2]), (y[3], y[4], y[5]), (y[6], y[7], y[8])
    aa, bb, cc, ab, ac, bc = dot(r0, r0), dot(r1, r1), dot(r2, r2), dot(r0, r1), dot(r0, r2), dot(r1, r2)
    for i in range(3):
        y[i] = 0.5 * ((3.0 - aa) * r0[i] - ab * r1[i] - ac * r2[i])
        y[i + 3] = 0.5 * ((3.0 - bb) * r1[i] - ab * r0[i] - bc * r2[i])
        y[i + 6] = 0.5 * ((3.0 - cc) * r2[i] - ac * r0[i] - bc * r1[i])


@kernel
def march(fields, segments, pulls, scheme, start, end, transfer, moving, tangent, w):
    """End states (S, 30) of all segments from their start states, and d end / d start (S, 24, columns) if asked for.

    The columns are all 24 components of the tangent when `moving`, else zeta and Lambda (12). Returns the first segment
    whose integration overflowed, or -1.
    """
    Y = w.columns[3]
    for s in range(len(segments.first)):
        y = end[s]
        for i in range(STATE):
            y[i] = start[s, i]
        if tangent:
            for i in range(TANGENT):
                for j in range(Y.shape[1]):
                    Y[i, j] = 0.0
            for j in range(Y.shape[1]):
                Y[j if (moving or j < 6) else j + 12, j] = 1.0
        for k in range(segments.count[s]):
            step(fields, pulls[s], scheme, segments.first[s] + 2 * k, segments.step[s], y, Y, w, tangent)
        if not np.isfinite(y[LAM] + y[LAM + 3]):
            return s
        if tangent:
            for i in range(TANGENT):
                for j in range(Y.shape[1]):
                    transfer[s, i, j] = Y[i, j]
    return -1


@kernel
def profile(fields, segments, pulls, scheme, start, states, slopes, strain, w):
    """States, their slopes and strains at all points (points, 30), (points, 30), (points, 6) from the start states.

    At midpoints states are interpolated by Hermite's cubic, as accurate as the nodes, which stages are not.
    """
    Y = w.columns[3]
    for s in range(len(segments.first)):
        p, h = segments.first[s], segments.step[s]
        for i in range(STATE):
            states[p, i] = start[s, i]
        slope(fields, pulls[s], scheme, p, states[p], slopes[p], w)
        for i in range(6):
            strain[p, i] = w.xi[i]
        for k in range(segments.count[s]):
            a, m, b = p + 2 * k, p + 2 * k + 1, p + 2 * k + 2
            for i in range(STATE):
                states[b, i] = states[a, i]
            step(fields, pulls[s], scheme, a, h, states[b], Y, w, False)
            slope(fields, pulls[s], scheme, b, states[b], slopes[b], w)
            for i in range(6):
                strain[b, i] = w.xi[i]
            for i in range(STATE):
                states[m, i] = 0.5 * (states[a, i] + states[b, i]) + 0.125 * h * (slopes[a, i] - slopes[b, i])
            slope(fields, pulls[s], scheme, m, states[m], slopes[m], w)
            for i in range(6):
                strain[m, i] = w.xi[i]


@kernel
def strains_of(fields, segments, pulls, states, strain, w):
    """Strains (points, 6) that carry the stresses of states (points, 30)."""
    for s in range(len(segments.first)):
        for p in range(segments.first[s], segments.first[s] + 2 * segments.count[s] + 1):
            law(fields, pulls[s], p, states[p], w)
            for i in range(6):
                strain[p, i] = w.xi[i]
