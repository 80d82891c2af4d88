"""Corotational linear tetrahedra, eight at a time: the same numbers as `assembly.assemble`, in loops that become vectors.

Values of eight elements lie side by side in one work array, at constant distances, so that the compiler sees that its
loads and stores do not meet. Nodes 1 to 3 of an element tell all about node 0, since the gradients of the shape functions
add up to zero.

In world axes, with F = V R, p_n = R g_n and Y = tr(V) 1 - V, a block of the stiffness is
    2 mu (p_a . p_b) 1 + lambda p_a p_b^T + (lambda theta - 2 mu) [p_a]x Y^-1 [p_b]x^T,
which is that of `laws` with Q = R.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anguilla.compiler.jit import inline, kernel
from anguilla.compiler.lanes import LANES
from anguilla.compiler.simd import lay, take, turned
from anguilla.fem.assembly import Elements
from anguilla.fem.laws import COROTATIONAL, POLAR_STEPS, cofactor, inner
from anguilla.fem.mesh import Floats, Ints
from anguilla.mechanics.vec import cross_columns, dot, maxpy, mscale

__all__ = ["WORK", "Lanes", "assemble_lanes", "make_lanes"]

U = np.uint64  # unsigned indices: Numba drops its test for negative ones
WIDTH = 8
# Places in the work array, in rows.
EDGE, GRADIENT, DATA, DEFORMATION, ROTATION, FORCE, BLOCK = 0, 9, 18, 21, 30, 39, 51
WORK = WIDTH * (BLOCK + 90)
# Blocks between nodes 1, 2 and 3 begin here.
AB, AC, BC = U(WIDTH * (BLOCK + 45)), U(WIDTH * (BLOCK + 54)), U(WIDTH * (BLOCK + 72))


class Lanes(NamedTuple):
    """Elements in groups of eight; the last group repeats its last element."""

    number: int  # of elements
    node: Ints  # (groups, 4, 8)
    slot: Ints  # (groups, 10, 8)
    constant: Floats  # (groups, 12, 8): gradients of nodes 1 to 3 [1/m], weight [m^3], mu, lambda [Pa]


def make_lanes(el: Elements) -> Lanes | None:
    """The same elements in groups; None if they are not corotational linear tetrahedra."""
    m = len(el.nodes)
    if not m or el.nodes.shape[1] != 4 or el.weight.shape[1] != 1 or np.any(el.law != COROTATIONAL):
        return None
    groups = -(-m // WIDTH)
    take = np.minimum(np.arange(groups * WIDTH), m - 1).reshape(groups, WIDTH)
    side_by_side = lambda a: np.ascontiguousarray(np.swapaxes(a[take].reshape(groups, WIDTH, -1), 1, 2))
    constant = np.concatenate([el.gradient[:, 0, 1:].reshape(m, 9), el.weight, el.mu[:, None], el.lam[:, None]], axis=1)
    return Lanes(m, side_by_side(el.nodes), side_by_side(el.slot), side_by_side(constant))


@inline
def load(work, k, l):
    """Three numbers of lane l from row k on."""
    return work[U(WIDTH * k) + l], work[U(WIDTH * (k + 1)) + l], work[U(WIDTH * (k + 2)) + l]


@inline
def load9(work, k, l):
    a, b, c = load(work, k, l), load(work, k + 3, l), load(work, k + 6, l)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@inline
def store(work, k, l, v):
    work[U(WIDTH * k) + l] = v[0]
    work[U(WIDTH * (k + 1)) + l] = v[1]
    work[U(WIDTH * (k + 2)) + l] = v[2]


@inline
def store9(work, k, l, m):
    store(work, k, l, (m[0], m[1], m[2]))
    store(work, k + 3, l, (m[3], m[4], m[5]))
    store(work, k + 6, l, (m[6], m[7], m[8]))


@inline
def deform(work):
    """F = sum (x_n - x_0) g_n^T of all lanes, also as the first guess of R; returns the smallest determinant."""
    least = 1e300
    for l in range(U(WIDTH)):
        a, b, c = load(work, EDGE, l), load(work, EDGE + 3, l), load(work, EDGE + 6, l)
        u, v, w = load(work, GRADIENT, l), load(work, GRADIENT + 3, l), load(work, GRADIENT + 6, l)
        f = (
            a[0] * u[0] + b[0] * v[0] + c[0] * w[0], a[0] * u[1] + b[0] * v[1] + c[0] * w[1],
            a[0] * u[2] + b[0] * v[2] + c[0] * w[2],
            a[1] * u[0] + b[1] * v[0] + c[1] * w[0], a[1] * u[1] + b[1] * v[1] + c[1] * w[1],
            a[1] * u[2] + b[1] * v[2] + c[1] * w[2],
            a[2] * u[0] + b[2] * v[0] + c[2] * w[0], a[2] * u[1] + b[2] * v[1] + c[2] * w[1],
            a[2] * u[2] + b[2] * v[2] + c[2] * w[2],
        )  # fmt: skip
        k = cofactor(f)
        det = f[0] * k[0] + f[1] * k[1] + f[2] * k[2]
        least = det if det < least else least
        store9(work, DEFORMATION, l, f)
        store9(work, ROTATION, l, f)
    return least


@inline
def rotate(work):
    """R of F = V R in all lanes, by Newton's iteration R <- (R + R^-T) / 2 (see `laws.polar`)."""
    for _ in range(POLAR_STEPS):
        far = 0.0
        for l in range(U(WIDTH)):
            r = load9(work, ROTATION, l)
            c = cofactor(r)
            n = maxpy(0.5, r, mscale(0.5 / (r[0] * c[0] + r[1] * c[1] + r[2] * c[2]), c))
            d = maxpy(-1.0, n, r)
            far += inner(d, d)
            store9(work, ROTATION, l, n)
        if far < 1e-17:
            break


@inline
def _block(iso, u, x, m):
    """iso 1 + x u^T + M [u]x^T."""
    return (
        iso + x[0] * u[0] + m[2] * u[1] - m[1] * u[2], x[0] * u[1] + m[0] * u[2] - m[2] * u[0],
        x[0] * u[2] + m[1] * u[0] - m[0] * u[1],
        x[1] * u[0] + m[5] * u[1] - m[4] * u[2], iso + x[1] * u[1] + m[3] * u[2] - m[5] * u[0],
        x[1] * u[2] + m[4] * u[0] - m[3] * u[1],
        x[2] * u[0] + m[8] * u[1] - m[7] * u[2], x[2] * u[1] + m[6] * u[2] - m[8] * u[0],
        iso + x[2] * u[2] + m[7] * u[0] - m[6] * u[1],
    )  # fmt: skip


@inline
def stretch(work, gain, l):
    """Forces of the four nodes of lane l; returns what its blocks are made of, and its energy as it is weighted.

    That is p of nodes 1 to 3, and weighted: (lambda theta - 2 mu) Y^-1, 2 mu, lambda.
    """
    f, r = load9(work, DEFORMATION, l), load9(work, ROTATION, l)
    weight, mu, lam = load(work, DATA, l)
    # V = F R^T, symmetric
    xx, yy = f[0] * r[0] + f[1] * r[1] + f[2] * r[2], f[3] * r[3] + f[4] * r[4] + f[5] * r[5]
    zz = f[6] * r[6] + f[7] * r[7] + f[8] * r[8]
    xy = 0.5 * (f[0] * r[3] + f[1] * r[4] + f[2] * r[5] + f[3] * r[0] + f[4] * r[1] + f[5] * r[2])
    xz = 0.5 * (f[0] * r[6] + f[1] * r[7] + f[2] * r[8] + f[6] * r[0] + f[7] * r[1] + f[8] * r[2])
    yz = 0.5 * (f[3] * r[6] + f[4] * r[7] + f[5] * r[8] + f[6] * r[3] + f[7] * r[4] + f[8] * r[5])
    theta = xx + yy + zz - 3.0
    a, b, c = xx - 1.0, yy - 1.0, zz - 1.0
    energy = weight * (mu * (a * a + b * b + c * c + 2.0 * (xy * xy + xz * xz + yz * yz)) + 0.5 * lam * theta * theta)
    w = gain * weight
    turn, two = w * (lam * theta - 2.0 * mu), 2.0 * w * mu
    y = (yy + zz, -xy, -xz, -xy, xx + zz, -yz, -xz, -yz, xx + yy)
    k = cofactor(y)
    g = mscale(turn / (y[0] * k[0] + y[1] * k[1] + y[2] * k[2]), k)
    u, v, t = load(work, GRADIENT, l), load(work, GRADIENT + 3, l), load(work, GRADIENT + 6, l)
    a1, a2, a3 = dot((r[0], r[1], r[2]), u), dot((r[3], r[4], r[5]), u), dot((r[6], r[7], r[8]), u)
    b1, b2, b3 = dot((r[0], r[1], r[2]), v), dot((r[3], r[4], r[5]), v), dot((r[6], r[7], r[8]), v)
    c1, c2, c3 = dot((r[0], r[1], r[2]), t), dot((r[3], r[4], r[5]), t), dot((r[6], r[7], r[8]), t)
    # P g = (lambda theta - 2 mu) R g + 2 mu F g
    fp = (turn * a1 + two * dot((f[0], f[1], f[2]), u), turn * a2 + two * dot((f[3], f[4], f[5]), u),
          turn * a3 + two * dot((f[6], f[7], f[8]), u))  # fmt: skip
    fq = (turn * b1 + two * dot((f[0], f[1], f[2]), v), turn * b2 + two * dot((f[3], f[4], f[5]), v),
          turn * b3 + two * dot((f[6], f[7], f[8]), v))  # fmt: skip
    fs = (turn * c1 + two * dot((f[0], f[1], f[2]), t), turn * c2 + two * dot((f[3], f[4], f[5]), t),
          turn * c3 + two * dot((f[6], f[7], f[8]), t))  # fmt: skip
    store(work, FORCE, l, (-fp[0] - fq[0] - fs[0], -fp[1] - fq[1] - fs[1], -fp[2] - fq[2] - fs[2]))
    store(work, FORCE + 3, l, fp)
    store(work, FORCE + 6, l, fq)
    store(work, FORCE + 9, l, fs)
    return (a1, a2, a3), (b1, b2, b3), (c1, c2, c3), g, two, w * lam, energy


@inline
def _respond(work, gain):
    """Forces of the four nodes and blocks of nodes 1 to 3 of all lanes; returns the energy of lanes as they are weighted."""
    energy = 0.0
    for l in range(U(WIDTH)):
        p, q, s, g, two, wl, kept = stretch(work, gain, l)
        energy += kept
        x = (wl * p[0], wl * p[1], wl * p[2])
        mp, mq, ms = cross_columns(p, g), cross_columns(q, g), cross_columns(s, g)
        store9(work, BLOCK + 36, l, _block(two * dot(p, p), p, x, mp))
        store9(work, BLOCK + 45, l, _block(two * dot(p, q), q, x, mp))
        store9(work, BLOCK + 54, l, _block(two * dot(p, s), s, x, mp))
        x = (wl * q[0], wl * q[1], wl * q[2])
        store9(work, BLOCK + 63, l, _block(two * dot(q, q), q, x, mq))
        store9(work, BLOCK + 72, l, _block(two * dot(q, s), s, x, mq))
        store9(work, BLOCK + 81, l, _block(two * dot(s, s), s, (wl * s[0], wl * s[1], wl * s[2]), ms))
    return energy


@inline
def _complete(work):
    """Blocks of node 0: minus the sums of the rows."""
    for i in range(U(3)):
        for j in range(U(3)):
            for half in range(U(0), U(WIDTH), U(LANES)):
                s, t = U(WIDTH) * (U(3) * i + j) + half, U(WIDTH) * (U(3) * j + i) + half
                za = -take(work, U(WIDTH * (BLOCK + 36)) + s) - take(work, AB + t) - take(work, AC + t)
                zb = -take(work, AB + s) - take(work, U(WIDTH * (BLOCK + 63)) + s) - take(work, BC + t)
                zc = -take(work, AC + s) - take(work, BC + s) - take(work, U(WIDTH * (BLOCK + 81)) + s)
                lay(work, U(WIDTH * BLOCK) + s, -za - zb - zc)
                lay(work, U(WIDTH * (BLOCK + 9)) + s, za)
                lay(work, U(WIDTH * (BLOCK + 18)) + s, zb)
                lay(work, U(WIDTH * (BLOCK + 27)) + s, zc)


@inline
def _add(blocks, slot, first, second, last):
    """Add the nine numbers of a block, if it is one of those kept."""
    if slot >= 0:
        o = U(9) * U(slot)
        lay(blocks, o, take(blocks, o) + first)
        lay(blocks, o + U(4), take(blocks, o + U(4)) + second)
        blocks[U(slot), U(8)] += last


@inline
def _columns(work, o):
    """Of four rows of four lanes each, from o on: the numbers of each lane."""
    return turned(take(work, o), take(work, o + U(WIDTH)), take(work, o + U(2 * WIDTH)), take(work, o + U(3 * WIDTH)))


@inline
def _scatter(work, slot, group, blocks):
    """Add the blocks of a group of elements; numbers of four lanes become those of four blocks by a transposition."""
    for pair in range(U(10)):
        for half in range(U(0), U(WIDTH), U(LANES)):
            o = U(WIDTH) * (U(BLOCK) + U(9) * pair) + half
            a, b, c, d = _columns(work, o)
            e, f, g, h = _columns(work, o + U(4 * WIDTH))
            o += U(8 * WIDTH)
            _add(blocks, slot[group, pair, half], a, e, work[o])
            _add(blocks, slot[group, pair, half + U(1)], b, f, work[o + U(1)])
            _add(blocks, slot[group, pair, half + U(2)], c, g, work[o + U(2)])
            _add(blocks, slot[group, pair, half + U(3)], d, h, work[o + U(3)])


@kernel
def assemble_lanes(lanes, x, gain, work, force, blocks):
    """Energy [J] and -1, or the number of an inverted element; adds dW/dx to force (n, 3) and the tangent to blocks.

    Args:
        lanes: the elements.
        x: (n, 3) positions [m].
        gain: factor on the elastic stress.
        work: (WORK,) scratch.
        force: (n, 3) [N].
        blocks: (nb, 9) [N/m].

    """
    energy = 0.0
    for group in range(U(len(lanes.node))):
        begin = group * U(WIDTH)
        real = min(U(WIDTH), U(lanes.number) - begin)
        for l in range(U(WIDTH)):
            o = U(lanes.node[group, U(0), l])
            for n in range(U(3)):
                p = U(lanes.node[group, n + U(1), l])
                for i in range(U(3)):
                    work[U(WIDTH) * (U(EDGE) + U(3) * n + i) + l] = x[p, i] - x[o, i]
        for k in range(U(12)):
            for l in range(U(WIDTH)):
                work[U(WIDTH) * (U(GRADIENT) + k) + l] = lanes.constant[group, k, l]
        for l in range(real, U(WIDTH)):
            work[U(WIDTH * DATA) + l] = 0.0  # repeated elements weigh nothing
        if not deform(work) > 0.0:
            return energy, np.int64(begin)
        rotate(work)
        energy += _respond(work, gain)
        _complete(work)
        _scatter(work, lanes.slot, group, blocks)
        for l in range(real):
            for n in range(U(4)):
                p = U(lanes.node[group, n, l])
                for i in range(U(3)):
                    force[p, i] += work[U(WIDTH) * (U(FORCE) + U(3) * n + i) + l]
    return energy, np.int64(-1)
