"""Compiled assembly of soft volumes: elastic forces, energy, and the stiffness in 3x3 blocks with a fixed pattern."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anguilla._jit import inline, kernel
from anguilla.fem.laws import MEMBRANE, cofactor, respond, volume_strain
from anguilla.fem.mesh import Floats, Ints
from anguilla.mechanics.vec import dot, matvec

FORCES, STIFFNESS = 0, 1
U = np.uint64  # unsigned indices: Numba drops its test for negative ones
X, Y, Z = U(0), U(1), U(2)
C3, C4, C5, C6, C7, C8 = U(3), U(4), U(5), U(6), U(7), U(8)


class Elements(NamedTuple):
    """Elements of one kind, frozen for the kernels. Nodes of an element are in increasing order."""

    nodes: Ints  # (m, k)
    gradient: Floats  # (m, points, k, 3) of the shape functions at rest [1/m]
    weight: Floats  # (m, points) [m^3]
    mu: Floats  # (m,) [Pa]
    lam: Floats  # (m,) [Pa]
    law: Ints  # (m,)
    slot: Ints  # (m, k (k + 1) / 2) block of each pair of nodes, row by row of the upper triangle, -1 if not kept


class Stars(NamedTuple):
    """Neighbourhoods over which the volume strain is averaged; empty arrays when it is not."""

    volume: Floats  # (n,) [m^3] of a quarter of the elements around a node
    bulk: Floats  # (n,) [N m] of lambda times it
    element_at: Ints  # (n + 1,)
    element: Ints  # elements around each node
    local: Ints  # (m, 4) for each of those entries, place of the element's nodes in the star
    node_at: Ints  # (n + 1,)
    node: Ints  # nodes of each star, increasing
    slot_at: Ints  # (n + 1,)
    slot: Ints  # block of each pair of nodes of a star, row by row of the upper triangle


@inline
def _deformation(nodes, gradient, x, e, q):
    """Deformation gradient F of element e at its point q (unsigned)."""
    a, b, c, d, f, g, h, i, j = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for n in range(U(nodes.shape[1])):
        p = U(nodes[e, n])
        u, v, w = gradient[e, q, n, X], gradient[e, q, n, Y], gradient[e, q, n, Z]
        s, t, r = x[p, X], x[p, Y], x[p, Z]
        a, b, c = a + s * u, b + s * v, c + s * w
        d, f, g = d + t * u, f + t * v, g + t * w
        h, i, j = h + r * u, i + r * v, j + r * w
    return a, b, c, d, f, g, h, i, j


@inline
def _determinant(f):
    c = cofactor(f)
    return f[0] * c[0] + f[1] * c[1] + f[2] * c[2]


@inline
def _add_stiffness(el, e, q, w, qm, s, alpha, beta, gamma, g, blocks):
    """Add w times the tangent of one point to the blocks of its element (see laws)."""
    k = U(el.nodes.shape[1])
    # Q Q^T
    ll = (
        qm[0] * qm[0] + qm[1] * qm[1] + qm[2] * qm[2], qm[0] * qm[3] + qm[1] * qm[4] + qm[2] * qm[5],
        qm[0] * qm[6] + qm[1] * qm[7] + qm[2] * qm[8], qm[3] * qm[3] + qm[4] * qm[4] + qm[5] * qm[5],
        qm[3] * qm[6] + qm[4] * qm[7] + qm[5] * qm[8], qm[6] * qm[6] + qm[7] * qm[7] + qm[8] * qm[8],
    )  # fmt: skip
    pair = U(0)
    for a in range(k):
        u = (el.gradient[e, q, a, X], el.gradient[e, q, a, Y], el.gradient[e, q, a, Z])
        qa, sa = matvec(qm, u), matvec(s, u)
        # H = Q [u]x G, so that the last term is H [b]x^T Q^T
        m0, m1, m2 = qm[1] * u[2] - qm[2] * u[1], qm[2] * u[0] - qm[0] * u[2], qm[0] * u[1] - qm[1] * u[0]
        m3, m4, m5 = qm[4] * u[2] - qm[5] * u[1], qm[5] * u[0] - qm[3] * u[2], qm[3] * u[1] - qm[4] * u[0]
        m6, m7, m8 = qm[7] * u[2] - qm[8] * u[1], qm[8] * u[0] - qm[6] * u[2], qm[6] * u[1] - qm[7] * u[0]
        h0, h1, h2 = matvec(g, (m0, m1, m2))
        h3, h4, h5 = matvec(g, (m3, m4, m5))
        h6, h7, h8 = matvec(g, (m6, m7, m8))
        for b in range(a, k):
            slot = el.slot[e, pair]
            pair += Y
            if slot < 0:
                continue
            block = U(slot)
            v = (el.gradient[e, q, b, X], el.gradient[e, q, b, Y], el.gradient[e, q, b, Z])
            qb = matvec(qm, v)
            iso, ab = dot(sa, v), gamma * dot(u, v)
            n0, n1, n2 = qm[1] * v[2] - qm[2] * v[1], qm[2] * v[0] - qm[0] * v[2], qm[0] * v[1] - qm[1] * v[0]
            n3, n4, n5 = qm[4] * v[2] - qm[5] * v[1], qm[5] * v[0] - qm[3] * v[2], qm[3] * v[1] - qm[4] * v[0]
            n6, n7, n8 = qm[7] * v[2] - qm[8] * v[1], qm[8] * v[0] - qm[6] * v[2], qm[6] * v[1] - qm[7] * v[0]
            x, y, z = alpha * qa[0], alpha * qa[1], alpha * qa[2]
            r, t, o = beta * qa[0], beta * qa[1], beta * qa[2]
            blocks[block, X] += w * (iso + ab * ll[0] + x * qb[0] + r * qb[0] + h0 * n0 + h1 * n1 + h2 * n2)
            blocks[block, Y] += w * (ab * ll[1] + x * qb[1] + t * qb[0] + h0 * n3 + h1 * n4 + h2 * n5)
            blocks[block, Z] += w * (ab * ll[2] + x * qb[2] + o * qb[0] + h0 * n6 + h1 * n7 + h2 * n8)
            blocks[block, C3] += w * (ab * ll[1] + y * qb[0] + r * qb[1] + h3 * n0 + h4 * n1 + h5 * n2)
            blocks[block, C4] += w * (iso + ab * ll[3] + y * qb[1] + t * qb[1] + h3 * n3 + h4 * n4 + h5 * n5)
            blocks[block, C5] += w * (ab * ll[4] + y * qb[2] + o * qb[1] + h3 * n6 + h4 * n7 + h5 * n8)
            blocks[block, C6] += w * (ab * ll[2] + z * qb[0] + r * qb[2] + h6 * n0 + h7 * n1 + h8 * n2)
            blocks[block, C7] += w * (ab * ll[4] + z * qb[1] + t * qb[2] + h6 * n3 + h7 * n4 + h8 * n5)
            blocks[block, C8] += w * (iso + ab * ll[5] + z * qb[2] + o * qb[2] + h6 * n6 + h7 * n7 + h8 * n8)


@kernel
def assemble(el, stars, x, pressure, gain, history, force, blocks, want):
    """Elastic energy [J], or NaN with the first inverted element; adds dW/dx to force (n, 3) and the tangent to blocks.

    Args:
        el: the elements.
        stars: the neighbourhoods of averaged volume strains.
        x: (n, 3) positions [m].
        pressure: (n,) averaged pressures [Pa] of `average`; used if there are stars.
        gain: factor on the elastic stress (1 in statics; more with viscosity over a time step).
        history: (m * points, 9) stress added to S [Pa], symmetric (viscosity), or (0, 9).
        force: (n, 3) [N].
        blocks: (nb, 9) [N/m].
        want: FORCES or STIFFNESS.

    Returns:
        (energy, -1), or (energy so far, number of an inverted element).

    """
    averaged = 1 if len(stars.volume) > 0 else 0
    energy = 0.0
    points = U(el.weight.shape[1])
    k = U(el.nodes.shape[1])
    for e in range(U(len(el.nodes))):
        p = 0.0
        if averaged == 1:
            for n in range(k):
                p += 0.25 * pressure[el.nodes[e, n]]
        for q in range(points):
            f = _deformation(el.nodes, el.gradient, x, e, q)
            if el.law[e] != MEMBRANE and not _determinant(f) > 0.0:
                return energy, np.int64(e)
            w, stress, qm, s, alpha, beta, gamma, g = respond(el.law[e], f, el.mu[e], el.lam[e], p, averaged)
            weight = el.weight[e, q]
            energy += weight * w
            scaled = gain * weight
            for n in range(k):
                to = U(el.nodes[e, n])
                t = matvec(stress, (el.gradient[e, q, n, X], el.gradient[e, q, n, Y], el.gradient[e, q, n, Z]))
                force[to, X] += scaled * t[0]
                force[to, Y] += scaled * t[1]
                force[to, Z] += scaled * t[2]
            if want == STIFFNESS:
                _add_stiffness(el, e, q, scaled, qm, s, alpha, beta, gamma, g, blocks)
            if len(history) > 0:
                _add_history(
                    el, np.int64(e), np.int64(q), weight, f, history, np.int64(e * points + q), force, blocks, want
                )
    return energy, np.int64(-1)


@inline
def _add_history(el, e, q, weight, f, history, row, force, blocks, want):
    """A constant second Piola-Kirchhoff stress Z: P = F Z, tangent (a . Z b) 1."""
    k = el.nodes.shape[1]
    z = (history[row, 0], history[row, 1], history[row, 2], history[row, 3], history[row, 4], history[row, 5],
         history[row, 6], history[row, 7], history[row, 8])  # fmt: skip
    pair = 0
    for a in range(k):
        to = el.nodes[e, a]
        za = matvec(z, (el.gradient[e, q, a, 0], el.gradient[e, q, a, 1], el.gradient[e, q, a, 2]))
        t = matvec(f, za)
        force[to, 0] += weight * t[0]
        force[to, 1] += weight * t[1]
        force[to, 2] += weight * t[2]
        if want == STIFFNESS:
            for b in range(a, k):
                block = el.slot[e, pair]
                pair += 1
                if block >= 0:
                    iso = weight * dot(za, (el.gradient[e, q, b, 0], el.gradient[e, q, b, 1], el.gradient[e, q, b, 2]))
                    blocks[block, 0] += iso
                    blocks[block, 4] += iso
                    blocks[block, 8] += iso


@kernel
def average(el, stars, x, pressure):
    """Averaged pressures (n,) [Pa] of linear tetrahedra; returns their energy [J] and an inverted element or -1."""
    pressure[:] = 0.0
    for e in range(len(el.nodes)):
        f = _deformation(el.nodes, el.gradient, x, U(e), X)
        if not _determinant(f) > 0.0:
            return 0.0, e
        theta, _ = volume_strain(el.law[e], f)
        for n in range(4):
            pressure[el.nodes[e, n]] += 0.25 * el.weight[e, 0] * theta
    energy = 0.0
    for n in range(len(stars.volume)):
        theta = pressure[n] / stars.volume[n]
        energy += 0.5 * stars.bulk[n] * theta * theta
        pressure[n] = stars.bulk[n] * theta / stars.volume[n]
    return energy, -1


@kernel
def add_averaged_stiffness(el, stars, x, row, blocks):
    """Add the bulk stiffness of averaged volume strains: bulk (d theta)(d theta)^T for every star; row is scratch (k, 3)."""
    for n in range(len(stars.volume)):
        begin = stars.node_at[n]
        count = stars.node_at[n + 1] - begin
        row[:count] = 0.0
        for i in range(stars.element_at[n], stars.element_at[n + 1]):
            e = stars.element[i]
            f = _deformation(el.nodes, el.gradient, x, U(e), X)
            _, q = volume_strain(el.law[e], f)
            share = 0.25 * el.weight[e, 0] / stars.volume[n]
            for a in range(4):
                v = matvec(q, (el.gradient[e, 0, a, 0], el.gradient[e, 0, a, 1], el.gradient[e, 0, a, 2]))
                to = stars.local[i, a]
                row[to, 0] += share * v[0]
                row[to, 1] += share * v[1]
                row[to, 2] += share * v[2]
        pair = stars.slot_at[n]
        for a in range(count):
            for b in range(a, count):
                block = stars.slot[pair]
                pair += 1
                if block >= 0:
                    for i in range(3):
                        for j in range(3):
                            blocks[block, 3 * i + j] += stars.bulk[n] * row[a, i] * row[b, j]


@kernel
def stresses(el, stars, x, pressure, out):
    """Second Piola-Kirchhoff stress S = F^-1 P (m * points, 9) [Pa], elastic part; returns an inverted element or -1."""
    averaged = 1 if len(stars.volume) > 0 else 0
    points = el.weight.shape[1]
    for e in range(len(el.nodes)):
        p = 0.0
        if averaged == 1:
            for n in range(el.nodes.shape[1]):
                p += 0.25 * pressure[el.nodes[e, n]]
        for q in range(points):
            f = _deformation(el.nodes, el.gradient, x, U(e), U(q))
            c = cofactor(f)
            det = f[0] * c[0] + f[1] * c[1] + f[2] * c[2]
            if not det > 0.0:
                return e
            _, t, _, _, _, _, _, _ = respond(el.law[e], f, el.mu[e], el.lam[e], p, averaged)
            for i in range(3):
                for j in range(3):
                    total = 0.0
                    for m in range(3):
                        total += c[3 * m + i] * t[3 * m + j]
                    out[e * points + q, 3 * i + j] = total / det
    return -1
