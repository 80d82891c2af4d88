"""Compiled assembly of soft volumes: elastic forces, energy, and the stiffness in 3x3 blocks with a fixed pattern."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anguilla.compiler.jit import inline, kernel
from anguilla.fem.laws import COROTATIONAL, IDENTITY, MEMBRANE, cofactor, respond, volume_strain
from anguilla.fem.mesh import Floats, Ints
from anguilla.mechanics.vec import cross_columns, dot, matvec

FORCES, STIFFNESS = 0, 1
U = np.uint64  # unsigned indices: Numba drops its test for negative ones
X, Y, Z = U(0), U(1), U(2)
C3, C4, C5, C6, C7, C8, C9 = U(3), U(4), U(5), U(6), U(7), U(8), U(9)


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
def deformation(nodes, gradient, x, e, q):
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
def determinant(f):
    """Determinant of F."""
    c = cofactor(f)
    return f[0] * c[0] + f[1] * c[1] + f[2] * c[2]


@inline
def _turned(q, g, w):
    """w Q G Q^T."""
    a, b, c = matvec(g, (q[0], q[1], q[2])), matvec(g, (q[3], q[4], q[5])), matvec(g, (q[6], q[7], q[8]))
    xx = w * (q[0] * a[0] + q[1] * a[1] + q[2] * a[2])
    xy = w * (q[0] * b[0] + q[1] * b[1] + q[2] * b[2])
    xz = w * (q[0] * c[0] + q[1] * c[1] + q[2] * c[2])
    yy = w * (q[3] * b[0] + q[4] * b[1] + q[5] * b[2])
    yz = w * (q[3] * c[0] + q[4] * c[1] + q[5] * c[2])
    zz = w * (q[6] * c[0] + q[7] * c[1] + q[8] * c[2])
    return xx, xy, xz, xy, yy, yz, xz, yz, zz


@inline
def _rotated_block(iso, alpha, u, v, m):
    """iso 1 + alpha u v^T + M [v]x^T."""
    x, y, z = alpha * u[0], alpha * u[1], alpha * u[2]
    return (
        iso + x * v[0] + m[2] * v[1] - m[1] * v[2], x * v[1] + m[0] * v[2] - m[2] * v[0],
        x * v[2] + m[1] * v[0] - m[0] * v[1],
        y * v[0] + m[5] * v[1] - m[4] * v[2], iso + y * v[1] + m[3] * v[2] - m[5] * v[0],
        y * v[2] + m[4] * v[0] - m[3] * v[1],
        z * v[0] + m[8] * v[1] - m[7] * v[2], z * v[1] + m[6] * v[2] - m[8] * v[0],
        iso + z * v[2] + m[7] * v[0] - m[6] * v[1],
    )  # fmt: skip


@inline
def _strained_block(iso, alpha, beta, u, v, ab, l):
    """iso 1 + alpha u v^T + beta v u^T + ab L."""
    x, y, z = alpha * u[0], alpha * u[1], alpha * u[2]
    r, s, t = beta * u[0], beta * u[1], beta * u[2]
    return (
        iso + ab * l[0] + (x + r) * v[0], ab * l[1] + x * v[1] + s * v[0], ab * l[2] + x * v[2] + t * v[0],
        ab * l[3] + y * v[0] + r * v[1], iso + ab * l[4] + (y + s) * v[1], ab * l[5] + y * v[2] + t * v[1],
        ab * l[6] + z * v[0] + r * v[2], ab * l[7] + z * v[1] + s * v[2], iso + ab * l[8] + (z + t) * v[2],
    )  # fmt: skip


@inline
def put(blocks, slot, k):
    """Add a block, if it is kept."""
    if slot >= 0:
        b = U(slot)
        blocks[b, X] += k[0]
        blocks[b, Y] += k[1]
        blocks[b, Z] += k[2]
        blocks[b, C3] += k[3]
        blocks[b, C4] += k[4]
        blocks[b, C5] += k[5]
        blocks[b, C6] += k[6]
        blocks[b, C7] += k[7]
        blocks[b, C8] += k[8]


@inline
def _against(a, b, c):
    """-(A + B + C)."""
    return (
        -a[0] - b[0] - c[0], -a[1] - b[1] - c[1], -a[2] - b[2] - c[2], -a[3] - b[3] - c[3], -a[4] - b[4] - c[4],
        -a[5] - b[5] - c[5], -a[6] - b[6] - c[6], -a[7] - b[7] - c[7], -a[8] - b[8] - c[8],
    )  # fmt: skip


@inline
def _flip(m):
    return m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]


@inline
def _add_stiffness_of_four(el, e, w, qm, s, alpha, beta, gamma, g, blocks):
    """The tangent of a tetrahedron of four nodes: its gradients add up to zero, so three nodes tell the rest."""
    one, two, three = (
        (el.gradient[e, X, Y, X], el.gradient[e, X, Y, Y], el.gradient[e, X, Y, Z]),
        (el.gradient[e, X, Z, X], el.gradient[e, X, Z, Y], el.gradient[e, X, Z, Z]),
        (el.gradient[e, X, C3, X], el.gradient[e, X, C3, Y], el.gradient[e, X, C3, Z]),
    )
    a, b, c = matvec(qm, one), matvec(qm, two), matvec(qm, three)
    wa = w * alpha
    if el.law[e] == COROTATIONAL:  # Q is a rotation, S a multiple of the identity: everything in world axes
        m, i = _turned(qm, g, w), w * s[0]
        ma, mb, mc = cross_columns(a, m), cross_columns(b, m), cross_columns(c, m)
        aa = _rotated_block(i * dot(a, a), wa, a, a, ma)
        ab = _rotated_block(i * dot(a, b), wa, a, b, ma)
        ac = _rotated_block(i * dot(a, c), wa, a, c, ma)
        bb = _rotated_block(i * dot(b, b), wa, b, b, mb)
        bc = _rotated_block(i * dot(b, c), wa, b, c, mb)
        cc = _rotated_block(i * dot(c, c), wa, c, c, mc)
    else:
        l, wb, wg = _turned(qm, IDENTITY, 1.0), w * beta, w * gamma
        sa, sb, sc = matvec(s, one), matvec(s, two), matvec(s, three)
        aa = _strained_block(w * dot(sa, one), wa, wb, a, a, wg * dot(one, one), l)
        ab = _strained_block(w * dot(sa, two), wa, wb, a, b, wg * dot(one, two), l)
        ac = _strained_block(w * dot(sa, three), wa, wb, a, c, wg * dot(one, three), l)
        bb = _strained_block(w * dot(sb, two), wa, wb, b, b, wg * dot(two, two), l)
        bc = _strained_block(w * dot(sb, three), wa, wb, b, c, wg * dot(two, three), l)
        cc = _strained_block(w * dot(sc, three), wa, wb, c, c, wg * dot(three, three), l)
    za, zb, zc = _against(aa, _flip(ab), _flip(ac)), _against(ab, bb, _flip(bc)), _against(ac, bc, cc)
    put(blocks, el.slot[e, X], _against(za, zb, zc))
    put(blocks, el.slot[e, Y], za)
    put(blocks, el.slot[e, Z], zb)
    put(blocks, el.slot[e, C3], zc)
    put(blocks, el.slot[e, C4], aa)
    put(blocks, el.slot[e, C5], ab)
    put(blocks, el.slot[e, C6], ac)
    put(blocks, el.slot[e, C7], bb)
    put(blocks, el.slot[e, C8], bc)
    put(blocks, el.slot[e, C9], cc)


@inline
def _add_stiffness(el, e, q, w, qm, s, alpha, beta, gamma, g, blocks):
    """Add w times the tangent of one point to the blocks of its element (see laws), whatever its number of nodes."""
    k = U(el.nodes.shape[1])
    wa, wb, wg = w * alpha, w * beta, w * gamma
    rotated = el.law[e] == COROTATIONAL
    m = _turned(qm, g, w) if rotated else _turned(qm, IDENTITY, 1.0)
    pair = U(0)
    for a in range(k):
        u = (el.gradient[e, q, a, X], el.gradient[e, q, a, Y], el.gradient[e, q, a, Z])
        qa, sa = matvec(qm, u), matvec(s, u)
        ma = cross_columns(qa, m)
        for b in range(a, k):
            slot = el.slot[e, pair]
            pair += Y
            if slot < 0:
                continue
            v = (el.gradient[e, q, b, X], el.gradient[e, q, b, Y], el.gradient[e, q, b, Z])
            qb = matvec(qm, v)
            iso = w * dot(sa, v)
            if rotated:
                put(blocks, slot, _rotated_block(iso, wa, qa, qb, ma))
            else:
                put(blocks, slot, _strained_block(iso, wa, wb, qa, qb, wg * dot(u, v), m))


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
            f = deformation(el.nodes, el.gradient, x, e, q)
            if el.law[e] != MEMBRANE and not determinant(f) > 0.0:
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
                if k == C4:
                    _add_stiffness_of_four(el, e, scaled, qm, s, alpha, beta, gamma, g, blocks)
                else:
                    _add_stiffness(el, e, q, scaled, qm, s, alpha, beta, gamma, g, blocks)
            if len(history) > 0:
                add_history(
                    el, np.int64(e), np.int64(q), weight, f, history, np.int64(e * points + q), force, blocks, want
                )
    return energy, np.int64(-1)


@inline
def add_history(el, e, q, weight, f, history, row, force, blocks, want):
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
        f = deformation(el.nodes, el.gradient, x, U(e), X)
        if not determinant(f) > 0.0:
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
            f = deformation(el.nodes, el.gradient, x, U(e), X)
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
            f = deformation(el.nodes, el.gradient, x, U(e), U(q))
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
