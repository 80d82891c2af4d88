"""Pair loads: wrenches on two nodes and their derivative with respect to the motion of both.

Nodes on different branches do not share columns, so the derivative is added to the matrix itself: J^T S J over the
coordinates that move either node. J has 24 rows (small rotation, displacement, and their rates Theta1, P1, of either node);
S is a 12 x 24 block for the wrenches (moment, force; moment, force), in world axes and internal: they add to the balance.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import FOUR, U
from anguilla.mechanics.tree import N_F, N_M, N_V, N_X, P0, P1, TH0, TH1
from anguilla.mechanics.vec import add, axpy, dot, iso_hat, load3, outer_add, scale, store3, sub

HALF = 12  # rows of one node in a pair's Jacobian
ROTATIONS, PLACES, SPINS, RATES = 0, 3, 6, 9  # rows of the Jacobian of a node


@inline
def add_force(node, i, force):
    """Add an internal force at the origin of a node to its balance."""
    store3(node, i, N_F, add(load3(node, i, N_F), force))


@inline
def add_moment(node, i, moment):
    """Add an internal moment to the balance of a node."""
    store3(node, i, N_M, add(load3(node, i, N_M), moment))


@part
def gather_pairs(a, places, pairs, block):
    """Rows of the pairs' Jacobians from the columns of their nodes on a block."""
    jac = pairs.jacobian
    for k in range(pairs.at[block], pairs.at[block + 1]):
        b, row, c, o = pairs.source[k, 0], U(HALF) * pairs.source[k, 1], pairs.source[k, 2], pairs.source[k, 3]
        for x in range(U(3)):
            for l in range(FOUR):
                f = FOUR * x + l
                jac[b, row + U(ROTATIONS) + x, l] = a[c + TH0 + f]
                jac[b, row + U(SPINS) + x, l] = a[c + TH1 + f]
                jac[b, row + U(PLACES) + x, l] = places[o + P0 + f]
                jac[b, row + U(RATES) + x, l] = places[o + P1 + f]


@inline
def _is_empty(block, p, r, c):
    """Whether nothing stands in the 3x3 part of a pair's block at row r and column c."""
    for i in range(3):
        for j in range(3):
            if block[p, r + i, c + j] != 0.0:
                return False
    return True


@inline
def _part_times(s, p, r, parts, jac, b, l):
    """Three rows of S, from row r on, times a column of J: the 3x3 parts that are not empty, as bits of `parts`."""
    t0, t1, t2 = 0.0, 0.0, 0.0
    for k in range(2 * HALF // 3):
        if (parts >> k) & 1:
            c = 3 * k
            x, y, z = jac[b, c, l], jac[b, c + 1, l], jac[b, c + 2, l]
            t0 += s[p, r, c] * x + s[p, r, c + 1] * y + s[p, r, c + 2] * z
            t1 += s[p, r + 1, c] * x + s[p, r + 1, c + 1] * y + s[p, r + 1, c + 2] * z
            t2 += s[p, r + 2, c] * x + s[p, r + 2, c + 1] * y + s[p, r + 2, c + 2] * z
    return t0, t1, t2


@part
def add_pair_tangent(pairs, p, out, at, width, spread):
    """Add J^T S J of a pair to rows of the given width, by parts (3x3) of S that are not empty.

    With `spread` a pack stands where its number says, without, lanes that move anything stand side by side.
    """
    jac, s, first, last, lane_at = pairs.jacobian, pairs.block, pairs.table[p, 2], pairs.table[p, 3], pairs.lane_at
    for r in range(0, HALF, 3):
        source, parts = r if r < 6 else r + 6, 0
        for c in range(2 * HALF // 3):
            if not _is_empty(s, p, r, 3 * c):
                parts += 1 << c
        if parts == 0:
            continue
        for b in range(first, last):
            for l in range(pairs.lanes[b]):
                t0, t1, t2 = _part_times(s, p, r, parts, jac, b, l)
                if t0 == 0.0 and t1 == 0.0 and t2 == 0.0:
                    continue
                j = at + (4 * pairs.pack[b] if spread else lane_at[b] - lane_at[first]) + l
                for d in range(first, last):
                    row = 4 * pairs.pack[d] if spread else lane_at[d] - lane_at[first]
                    for m in range(pairs.lanes[d]):
                        x, y, z = jac[d, source, m], jac[d, source + 1, m], jac[d, source + 2, m]
                        if x != 0.0 or y != 0.0 or z != 0.0:
                            out[(row + m) * width + j] += x * t0 + y * t1 + z * t2


@part
def add_block(block, p, r, c, sign, m):
    """Add sign x m (3x3) at row r and column c of a pair's block."""
    block[p, r, c] += sign * m[0]
    block[p, r, c + 1] += sign * m[1]
    block[p, r, c + 2] += sign * m[2]
    block[p, r + 1, c] += sign * m[3]
    block[p, r + 1, c + 1] += sign * m[4]
    block[p, r + 1, c + 2] += sign * m[5]
    block[p, r + 2, c] += sign * m[6]
    block[p, r + 2, c + 1] += sign * m[7]
    block[p, r + 2, c + 2] += sign * m[8]


@inline
def span(node, pairs, p):
    """Unit direction from the first node of a pair to the second, their distance and the rate of the vector.

    A span of no length pulls in no direction: near it, the pull grows smoothly with the distance.
    """
    i, j = pairs.table[p, 0], pairs.table[p, 1]
    line = sub(load3(node, j, N_X), load3(node, i, N_X))
    length = math.sqrt(dot(line, line) + pairs.least[0])
    return scale(1.0 / length, line), length, sub(load3(node, j, N_V), load3(node, i, N_V))


@inline
def _pull(node, pairs, p, tension):
    """A tension along the span of a pair: it does the work -T dl."""
    t, _, _ = span(node, pairs, p)
    add_force(node, pairs.table[p, 0], scale(-tension, t))
    add_force(node, pairs.table[p, 1], scale(tension, t))


@inline
def _pull_block(block, p, k, c):
    """The force T t of a span changes by k on the difference of the rows at c (places or rates)."""
    add_block(block, p, 3, c, 1.0, k)
    add_block(block, p, 3, HALF + c, -1.0, k)
    add_block(block, p, 9, c, -1.0, k)
    add_block(block, p, 9, HALF + c, 1.0, k)


@part
def add_spring_forces(node, pairs, tensions):
    """Springs with dampers and spans of tendons between two nodes."""
    for k in range(len(pairs.spring)):
        p, data = pairs.spring[k], load3(pairs.spring_data, k, 0)
        t, length, rate = span(node, pairs, p)
        _pull(node, pairs, p, data[0] * (length - data[1]) + data[2] * dot(t, rate))
    for k in range(len(pairs.span)):
        _pull(node, pairs, pairs.span[k, 0], tensions[pairs.span[k, 1]] * pairs.factor[k])


@part
def add_spring_blocks(node, pairs, tensions):
    """d(T t) = T (1 - t t^T)/l dx + t dT, with dT = k t . dx + c (t . dv + v (1 - t t^T)/l . dx)."""
    for k in range(len(pairs.spring)):
        p = pairs.spring[k]
        t, length, rate = span(node, pairs, p)
        stiffness, rest, damping = load3(pairs.spring_data, k, 0)
        tension = stiffness * (length - rest) + damping * dot(t, rate)
        across = scale(1.0 / length, axpy(-dot(t, rate), t, rate))
        kx = outer_add(-tension / length, t, t, iso_hat(tension / length, 0.0, t))
        kx = outer_add(1.0, t, axpy(damping, across, scale(stiffness, t)), kx)
        _pull_block(pairs.block, p, kx, PLACES)
        _pull_block(pairs.block, p, outer_add(damping, t, t, iso_hat(0.0, 0.0, t)), RATES)
    for k in range(len(pairs.span)):
        p = pairs.span[k, 0]
        t, length, _ = span(node, pairs, p)
        tension = tensions[pairs.span[k, 1]] * pairs.factor[k] / length
        _pull_block(pairs.block, p, outer_add(-tension, t, t, iso_hat(tension, 0.0, t)), PLACES)
