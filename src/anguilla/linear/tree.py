"""Newton's system of a tree in blocks: one elimination from the tips to the root, and one way back.

A block b knows its matrix T over (z, x): the motion z of its face and its own coordinates x; the wrench that it gives back on
its host, W (z, x); and its face as a frame of the host, z = A z_host + B x_host. Once everything below is eliminated,
    T_x x + T_z z = r   and   w = W_x x + W_z z + w_0
give x = T_x^-1 (r - T_z z) and w = (W_z - W_x T_x^-1 T_z) z + ..., a load on one node of the host that depends on the motion
of that node alone. Work and memory grow with the number of blocks. Coordinates are scaled to angles and relative
displacements.
"""

from __future__ import annotations

import math

from anguilla.compiler.distant import NUMBER, VECTOR, distant
from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import FOUR, U
from anguilla.compiler.simd import lay, take, take3
from anguilla.mechanics.tangent import block_width, columns_of, matters, places_of
from anguilla.mechanics.tree import (
    DF,
    DM,
    F_P0,
    F_P1,
    F_P2,
    F_TH0,
    F_TH1,
    F_TH2,
    FACE,
    N_A,
    N_V,
    N_X,
    P0,
    P1,
    P2,
    TH0,
    TH1,
    TH2,
    Elimination,
    Tree,
    Workspace,
)
from anguilla.mechanics.vec import add, axpy, cross, load3, store3, sub

SINGULAR = 1e-15  # pivot of a block, as a part of its largest entry


@inline
def _subtract(a, into, source, factor, count):
    """a[into : into + count] -= factor x a[source : source + count]."""
    j = 0
    while j + 4 <= count:
        lay(a, into + j, take(a, into + j) - factor * take(a, source + j))
        j += 4
    while j < count:
        a[into + j] -= factor * a[source + j]
        j += 1


@part
def _gather(tree, e, b, lanes):
    """Matrix of a block in scaled coordinates, and its first `lanes` columns of the face, to where it is factorised.

    Returns its largest entry.
    """
    first, width, face = tree.lead[b], block_width(tree, b), 4 * tree.face[b]
    own, shift, largest = tree.lead[b + 1] - first, 4 * tree.extended_at[b], 0.0
    for i in range(own):
        k = tree.coordinate[first + i]
        row, into = (tree.extended[k] - shift - face) * width, e.at[b] + i * (own + FACE)
        for j in range(own):
            l = tree.coordinate[first + j]
            value = e.matrix[row + tree.extended[l] - shift] / (tree.scale[k] * tree.scale[l])
            if e.held[k] == 1 or e.held[l] == 1:
                value = 1.0 if k == l else 0.0
            else:
                largest = max(largest, abs(value))
            e.factor[into + j] = value
        for j in range(min(lanes, face)):
            e.factor[into + own + j] = 0.0 if e.held[k] == 1 else e.matrix[row + j] / tree.scale[k]
    for i in range(own):
        if e.held[tree.coordinate[first + i]] == 1 and largest > 0.0:  # as large as the others: it is not singular
            e.factor[e.at[b] + i * (own + FACE) + i] = largest
    return largest


@part
def _is_definite(e, at, own):
    """Whether the symmetric part of the matrix of a block is positive definite, by Cholesky."""
    a, c = e.factor, e.spare
    for i in range(own):
        for j in range(i + 1):
            total = 0.5 * (a[at + i * (own + FACE) + j] + a[at + j * (own + FACE) + i])
            for k in range(j):
                total -= c[i * own + k] * c[j * own + k]
            if i > j:
                c[i * own + j] = total / c[j * own + j]
            elif total > 0.0:
                c[i * own + i] = math.sqrt(total)
            else:
                return False
    return True


@part
def _factorise(e, at, pivot, own, lanes, least):
    """LU factors of a block in place, with partial pivoting; T_x^-1 T_z to the right of them. False if it is singular."""
    a, width = e.factor, own + FACE
    for k in range(own):
        p, largest = k, abs(a[at + k * width + k])
        for i in range(k + 1, own):
            if abs(a[at + i * width + k]) > largest:
                p, largest = i, abs(a[at + i * width + k])
        if not largest > least:
            return False
        e.pivot[pivot + k] = p
        if p != k:
            for j in range(own + lanes):
                x, y = at + k * width + j, at + p * width + j
                a[x], a[y] = a[y], a[x]
        source = at + k * width
        inverse = 1.0 / a[source + k]
        for i in range(k + 1, own):
            into = at + i * width
            factor = a[into + k] * inverse
            a[into + k] = factor
            if factor != 0.0:
                _subtract(a, into + k + 1, source + k + 1, factor, own + lanes - k - 1)
    for i in range(own - 1, -1, -1):
        into = at + i * width
        for j in range(i + 1, own):
            _subtract(a, into + own, at + j * width + own, a[into + j], lanes)
        inverse = 1.0 / a[into + i]
        for j in range(lanes):
            a[into + own + j] *= inverse
    return True


@part
def _condense(tree, e, b, lanes):
    """What block b gives back when its face moves, with its own coordinates free."""
    first, width, shift = tree.lead[b], block_width(tree, b), 4 * tree.extended_at[b]
    own = tree.lead[b + 1] - first
    for r in range(6):
        for j in range(lanes):
            e.schur[b, r, j] = e.roots[r * width + j]
        for i in range(own):
            k = tree.coordinate[first + i]
            e.back[first + i, r] = e.roots[r * width + tree.extended[k] - shift]
            factor = e.back[first + i, r] / tree.scale[k]
            at = e.at[b] + i * (own + FACE) + own
            for j in range(lanes):
                e.schur[b, r, j] -= factor * e.factor[at + j]


@inline
def _row(s, r, x0, x1, x2, x3):
    """Row r of what a block gives back times a motion of its face."""
    return (
        s[r, 0] * x0[0] + s[r, 1] * x0[1] + s[r, 2] * x0[2] + s[r, 3] * x1[0] + s[r, 4] * x1[1] + s[r, 5] * x1[2]
        + s[r, 6] * x2[0] + s[r, 7] * x2[1] + s[r, 8] * x2[2] + s[r, 9] * x3[0] + s[r, 10] * x3[1] + s[r, 11] * x3[2]
    )  # fmt: skip


@part
def _keep_port(tree, ws, e, b, col, c, o):
    """Keep the motion of the face of block b by pack `col` of the coordinates of its host: columns c and places o."""
    h, a, places = tree.host[b], ws.columns, ws.places
    for l in range(4):
        if tree.of_lane[4 * (tree.extended_at[h] + col) + l] >= 0:
            into = e.port_at[b] + (4 * (col - tree.face[h]) + l) * FACE
            for x in range(F_P0):
                e.port[into + x] = a[c + U(4 * x + l)]
            for x in range(FACE - F_P0):
                e.port[into + F_P0 + x] = places[o + U(4 * x + l)]


@part
def _keep_arm(tree, ws, e, b):
    """Keep the vector from the face of the host of block b to the face of block b, with its rates."""
    below, above = tree.parent[tree.first[tree.root[b]]], tree.parent[tree.first[tree.root[tree.host[b]]]]
    store3(e.arm, b, 0, sub(load3(ws.node, below, N_X), load3(ws.node, above, N_X)))
    store3(e.arm, b, 3, sub(load3(ws.node, below, N_V), load3(ws.node, above, N_V)))
    store3(e.arm, b, 6, sub(load3(ws.node, below, N_A), load3(ws.node, above, N_A)))


@distant(Tree, Workspace, Elimination, NUMBER, NUMBER)
def load_host(tree, ws, e, block, most):
    """Add what a block gives back to the wrench columns of the node that it hangs on; keep how its face moves."""
    b, wide = int(block), int(most) == FACE
    a, places, schur = ws.columns, ws.places, e.schur[b]
    parent = tree.parent[tree.first[tree.root[b]]]
    s = tree.segment[parent]
    path, face = tree.path_packs[s], tree.face[tree.host[b]]
    _keep_arm(tree, ws, e, b)
    for k in range(path + tree.own_packs[s]):
        if wide or matters(tree, s, k):
            c, o = columns_of(tree, s, k, parent), places_of(tree, s, k, parent)
            col = tree.path[tree.path_at[s] + k] if k < path else face + tree.own_at[s] + k - path
            if col >= face:
                _keep_port(tree, ws, e, b, col, c, o)
            th0, th1, th2, p2 = take3(a, c + TH0), take3(a, c + TH1), take3(a, c + TH2), take3(a, c + P2)
            p0, p1 = take3(places, o + P0), take3(places, o + P1)
            for r in range(6):
                at = c + (DM if r < 3 else DF) + FOUR * U(r % 3)
                change = _row(schur, r, th0, th1, th2, p2)
                if wide:
                    change = change + (
                        schur[r, 12] * p0[0] + schur[r, 13] * p0[1] + schur[r, 14] * p0[2]
                        + schur[r, 15] * p1[0] + schur[r, 16] * p1[1] + schur[r, 17] * p1[2]
                    )  # fmt: skip
                lay(a, at, take(a, at) + change)


@distant(Tree, Workspace, Elimination, NUMBER, NUMBER)
def eliminate(tree, ws, e, block, most):
    """Factorise the matrix of a block and find what it gives back to its host; `most` lanes of the face matter."""
    b, lanes = int(block), int(most)
    own = tree.lead[b + 1] - tree.lead[b]
    if own > 0:
        face = lanes if tree.face[b] > 0 else 0
        largest = _gather(tree, e, b, face)
        if e.good[1] == 1 and not _is_definite(e, e.at[b], own):
            e.good[1] = 0
        if not _factorise(e, e.at[b], tree.lead[b], own, face, SINGULAR * largest):
            e.good[0] = 0
        elif face > 0:
            _condense(tree, e, b, face)


@part
def _solve_block(tree, e, b, x):
    """x = T_x^-1 x of the coordinates of block b, in place."""
    first, at, a = tree.lead[b], e.at[b], e.factor
    own = tree.lead[b + 1] - first
    width, c = own + FACE, tree.coordinate
    for i in range(own):
        k = c[first + i]
        x[k] = 0.0 if e.held[k] == 1 else x[k] / tree.scale[k]
    for i in range(own):
        k, l = c[first + i], c[first + e.pivot[first + i]]
        x[k], x[l] = x[l], x[k]
    for i in range(own):
        total = x[c[first + i]]
        for j in range(i):
            total -= a[at + i * width + j] * x[c[first + j]]
        x[c[first + i]] = total
    for i in range(own - 1, -1, -1):
        total = x[c[first + i]]
        for j in range(i + 1, own):
            total -= a[at + i * width + j] * x[c[first + j]]
        x[c[first + i]] = total / a[at + i * width + i]
    for i in range(own):
        x[c[first + i]] /= tree.scale[c[first + i]]


@inline
def _arm(tree, ws, b):
    """Vector from the face of the host of block b to the face of block b."""
    below, above = tree.parent[tree.first[tree.root[b]]], tree.parent[tree.first[tree.root[tree.host[b]]]]
    return sub(load3(ws.node, below, N_X), load3(ws.node, above, N_X))


@inline
def _row3(a, at):
    """Three numbers of a flat array."""
    return a[at], a[at + 1], a[at + 2]


@part
def _move_face(tree, e, b, x):
    """Motion of the face of block b, from that of its host and the coordinates x."""
    h, motion = tree.host[b], e.motion
    for f in range(FACE):
        motion[b, f] = 0.0
    if tree.face[h] > 0:  # it turns and moves with the face of its host
        r0, r1, r2 = load3(e.arm, b, 0), load3(e.arm, b, 3), load3(e.arm, b, 6)
        th0, th1, th2 = load3(motion, h, F_TH0), load3(motion, h, F_TH1), load3(motion, h, F_TH2)
        p2 = add(cross(th2, r0), axpy(2.0, cross(th1, r1), cross(th0, r2)))
        store3(motion, b, F_TH0, th0)
        store3(motion, b, F_TH1, th1)
        store3(motion, b, F_TH2, th2)
        store3(motion, b, F_P2, add(load3(motion, h, F_P2), p2))
        store3(motion, b, F_P0, add(load3(motion, h, F_P0), cross(th0, r0)))
        store3(motion, b, F_P1, add(load3(motion, h, F_P1), add(cross(th1, r0), cross(th0, r1))))
    first = 4 * (tree.extended_at[h] + tree.face[h])
    for i in range(tree.lead[h], tree.lead[h + 1]):
        k = tree.coordinate[i]
        at = e.port_at[b] + (tree.extended[k] - first) * FACE
        for f in range(FACE):
            motion[b, f] += e.port[at + f] * x[k]


@inline
def _port3(ws, at, width, lane):
    """Three rows of the motion of a face, at one column."""
    return ws.ports[at + lane], ws.ports[at + width + lane], ws.ports[at + 2 * width + lane]


@inline
def _dot(x, y):
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@distant(Tree, Elimination, VECTOR)
def solve_tree(tree, e, x):
    """Solve for the right-hand side x (n,) in place, with the factors of an elimination."""
    e.wrench[:] = 0.0
    for b in range(len(tree.root) - 1, -1, -1):
        _solve_block(tree, e, b, x)
        h = tree.host[b]
        if h >= 0:
            for i in range(tree.lead[b], tree.lead[b + 1]):
                for r in range(6):
                    e.wrench[b, r] += e.back[i, r] * x[tree.coordinate[i]]
            moment, force = load3(e.wrench, b, 0), load3(e.wrench, b, 3)
            first = 4 * (tree.extended_at[h] + tree.face[h])
            for i in range(tree.lead[h], tree.lead[h + 1]):
                k = tree.coordinate[i]
                at = e.port_at[b] + (tree.extended[k] - first) * FACE
                x[k] -= _dot(_row3(e.port, at + F_TH0), moment) + _dot(_row3(e.port, at + F_P0), force)
            if tree.host[h] >= 0:
                store3(e.wrench, h, 0, add(load3(e.wrench, h, 0), add(moment, cross(load3(e.arm, b, 0), force))))
                store3(e.wrench, h, 3, add(load3(e.wrench, h, 3), force))
    for b in range(len(tree.root)):
        if tree.host[b] >= 0:
            _move_face(tree, e, b, x)
            own = tree.lead[b + 1] - tree.lead[b]
            for i in range(own):
                k, row, total = tree.coordinate[tree.lead[b] + i], e.at[b] + i * (own + FACE) + own, 0.0
                for f in range(FACE):
                    total += e.factor[row + f] * e.motion[b, f]
                x[k] -= total / tree.scale[k]


# The tangent in blocks times a vector -------------------------------------------------------------------------------


@part
def spread_motion(tree, ws, x):
    """Motion of all faces and coordinates, in extended lanes, from coordinates x."""
    moved = ws.moved
    for k in range(len(tree.extended)):
        moved[tree.extended[k]] = x[k]
    for b in range(len(tree.root)):
        h = tree.host[b]
        if h >= 0:
            width, shift = block_width(tree, h), 4 * tree.extended_at[h]
            for f in range(FACE):
                total, row = 0.0, tree.port_at[b] + f * width
                for lane in range(width):
                    total += ws.ports[row + lane] * moved[shift + lane]
                moved[4 * tree.extended_at[b] + f] = total


@part
def push_blocks(tree, ws):
    """Forces of all blocks, each by itself, that answer a motion in extended lanes."""
    moved, pushed = ws.moved, ws.pushed
    pushed[:] = 0.0
    for b in range(len(tree.root)):
        width, face, shift = block_width(tree, b), 4 * tree.face[b], 4 * tree.extended_at[b]
        for i in range(4 * tree.packs[b]):
            total, row = 0.0, tree.block_at[b] + i * width
            for j in range(width):
                total += ws.matrix[row + j] * moved[shift + j]
            pushed[shift + face + i] = total
        if face > 0:
            for r in range(6):
                total, row = 0.0, 6 * shift + r * width
                for j in range(width):
                    total += ws.roots[row + j] * moved[shift + j]
                pushed[shift + (F_TH0 + r if r < 3 else F_P0 + r - 3)] = total


@part
def gather_forces(tree, ws, out):
    """Forces on all coordinates, into out (n,), from those of the blocks: what a block gives back acts on its host."""
    pushed = ws.pushed
    for b in range(len(tree.root) - 1, -1, -1):
        h = tree.host[b]
        if h >= 0:
            shift = 4 * tree.extended_at[b]
            moment = pushed[shift + F_TH0], pushed[shift + F_TH0 + 1], pushed[shift + F_TH0 + 2]
            force = pushed[shift + F_P0], pushed[shift + F_P0 + 1], pushed[shift + F_P0 + 2]
            width, shift, at = block_width(tree, h), 4 * tree.extended_at[h], tree.port_at[b]
            for lane in range(4 * tree.face[h], width):
                change = _dot(_port3(ws, at, width, lane), moment)
                pushed[shift + lane] += change + _dot(_port3(ws, at + F_P0 * width, width, lane), force)
            if tree.face[h] > 0:
                turned = add(moment, cross(_arm(tree, ws, b), force))
                for x in range(3):
                    pushed[shift + F_TH0 + x] += turned[x]
                    pushed[shift + F_P0 + x] += force[x]
    for k in range(len(tree.extended)):
        out[k] = pushed[tree.extended[k]]
