"""Backward passes along the segments, compiled: the wrench of a given motion, and the Riccati equations (84)."""

from __future__ import annotations

import numpy as np

from anguilla.compiler.jit import inline, kernel
from anguilla.mechanics.vec import add, cross, scale

SWEEPS = 100
SMALL = 1e-16


@inline
def _coad(x, z, out):
    """out = ad_x^T z, of six numbers each."""
    K, G, C, N = (x[0], x[1], x[2]), (x[3], x[4], x[5]), (z[0], z[1], z[2]), (z[3], z[4], z[5])
    c, n = scale(-1.0, add(cross(K, C), cross(G, N))), scale(-1.0, cross(K, N))
    for i in range(3):
        out[i], out[i + 3] = c[i], n[i]


@kernel
def backward(xi, source, a, b, h, count, z, nodes, given, at_points, k, trial):
    """z' = ad_xi^T z + source over a segment from its end value z (6,), in place to its start.

    xi, source, at_points: (points, 6); nodes (count + 1, 6); k (stages, 6) and trial (2, 6) are scratch. With `given`,
    values at the nodes are known already and those at the points are found from them, interval by interval.
    """
    s = len(b)
    for interval in range(count - 1, -1, -1):
        p = interval * s
        for n in range(6):
            if given:
                z[n] = nodes[interval + 1, n]
            else:
                nodes[interval + 1, n] = z[n]
        for i in range(s):
            for n in range(6):
                k[i, n] = 0.0
        for _ in range(SWEEPS):
            change, size = 0.0, 0.0
            for i in range(s):
                for n in range(6):  # stages from the far end: z1 - h sum (b_j - a_ij) k_j
                    total = 0.0
                    for j in range(s):
                        total += (b[j] - a[i, j]) * k[j, n]
                    at_points[p + i, n] = z[n] - h * total
                _coad(xi[p + i], at_points[p + i], trial[0])
                for n in range(6):
                    new = trial[0, n] + source[p + i, n]
                    change, size = max(change, abs(new - k[i, n])), max(size, abs(new))
                    k[i, n] = new
            if not change > SMALL * size:
                break
        for n in range(6):
            for i in range(s):
                z[n] -= h * b[i] * k[i, n]
    if not given:
        for n in range(6):
            nodes[0, n] = z[n]


@kernel
def riccati(xi, inertia, force, drift, a, b, h, count, S, s_, matrices, vectors, stage, kS, ks, trial, row):
    """S and s of (84) over a segment, from its end to its start in place; their values at the nodes are kept.

    The relation (57) is bilinear, and Gauss collocation keeps it at the nodes to round-off (not at the points).

    xi, inertia (diagonal), force F~, drift (ad_xi-dot eta - B xi-dot-dot): (points, 6); S (6, 6), s_ (6,);
    matrices (count + 1, 6, 6), vectors (count + 1, 6); stage (7, 6), kS (stages, 6, 6), ks (stages, 6), trial (6, 6) and
    row (6,) are scratch.
    """
    m = len(b)
    S_i, s_i = stage[:6], stage[6]
    for n in range(6):
        vectors[count, n] = s_[n]
        for c in range(6):
            matrices[count, n, c] = S[n, c]
    for interval in range(count - 1, -1, -1):
        p = interval * m
        for i in range(m):
            for n in range(6):
                ks[i, n] = 0.0
                for c in range(6):
                    kS[i, n, c] = 0.0
        for _ in range(SWEEPS):
            change, size = 0.0, 0.0
            for i in range(m):
                for n in range(6):
                    total = 0.0
                    for j in range(m):
                        total += (b[j] - a[i, j]) * ks[j, n]
                    s_i[n] = s_[n] - h * total
                    for c in range(6):
                        total = 0.0
                        for j in range(m):
                            total += (b[j] - a[i, j]) * kS[j, n, c]
                        S_i[n, c] = S[n, c] - h * total
                # S' = M + ad^T S + (ad^T S)^T for a symmetric S
                for c in range(6):
                    _coad(xi[p + i], S_i[c], row)  # column c: S is symmetric
                    for n in range(6):
                        trial[n, c] = row[n]
                _coad(xi[p + i], s_i, row)
                for n in range(6):
                    total = row[n] - force[p + i, n]
                    for c in range(6):
                        total += S_i[n, c] * drift[p + i, c]
                        new = trial[n, c] + trial[c, n] + (inertia[p + i, n] if n == c else 0.0)
                        change, size = max(change, abs(new - kS[i, n, c])), max(size, abs(new))
                        kS[i, n, c] = new
                    change, size = max(change, abs(total - ks[i, n])), max(size, abs(total))
                    ks[i, n] = total
            if not change > SMALL * size:
                break
        for n in range(6):
            for i in range(m):
                s_[n] -= h * b[i] * ks[i, n]
                for c in range(6):
                    S[n, c] -= h * b[i] * kS[i, n, c]
            vectors[interval, n] = s_[n]
            for c in range(6):
                matrices[interval, n, c] = S[n, c]


def scratch(stages: int) -> tuple:
    """Scratch of `riccati`."""
    return np.zeros((7, 6)), np.zeros((stages, 6, 6)), np.zeros((stages, 6)), np.zeros((6, 6)), np.zeros(6)
