"""The tangent in blocks, transposed, times a vector: `times` of model/evaluate.py, backward."""

from __future__ import annotations

from anguilla.compiler.distant import VECTOR, distant
from anguilla.compiler.jit import part
from anguilla.interact.kernels.table import Loads
from anguilla.mechanics.tangent import block_width
from anguilla.mechanics.tree import F_P0, F_TH0, FACE, N_X, Tree, Workspace
from anguilla.mechanics.vec import add, cross, load3, sub

__all__ = ["times_back"]


@part
def _spread_weights(tree, ws, y):
    """Weights of forces on all coordinates and of wrenches on faces, in extended lanes, from those of coordinates y."""
    weight = ws.pushed
    weight[:] = 0.0
    for k in range(len(tree.extended)):
        weight[tree.extended[k]] = y[k]
    for b in range(len(tree.root)):
        h = tree.host[b]
        if h >= 0:
            width, above, shift = block_width(tree, h), 4 * tree.extended_at[h], 4 * tree.extended_at[b]
            for r in range(3):
                turn, push = tree.port_at[b] + (F_TH0 + r) * width, tree.port_at[b] + (F_P0 + r) * width
                moment, force = 0.0, 0.0
                for lane in range(4 * tree.face[h], width):
                    moment += ws.ports[turn + lane] * weight[above + lane]
                    force += ws.ports[push + lane] * weight[above + lane]
                weight[shift + F_TH0 + r], weight[shift + F_P0 + r] = moment, force
            if tree.face[h] > 0:
                below, root = tree.parent[tree.first[tree.root[b]]], tree.parent[tree.first[tree.root[h]]]
                arm = sub(load3(ws.node, below, N_X), load3(ws.node, root, N_X))
                turned = weight[above + F_TH0], weight[above + F_TH0 + 1], weight[above + F_TH0 + 2]
                moved = weight[above + F_P0], weight[above + F_P0 + 1], weight[above + F_P0 + 2]
                moved = add(moved, cross(turned, arm))
                for r in range(3):
                    weight[shift + F_TH0 + r] += turned[r]
                    weight[shift + F_P0 + r] += moved[r]


@part
def _weigh_blocks(tree, ws):
    """Slopes, in extended lanes, of the weighed forces of all blocks, each by itself."""
    slope, weight = ws.moved, ws.pushed
    slope[:] = 0.0
    for b in range(len(tree.root)):
        width, face, shift = block_width(tree, b), 4 * tree.face[b], 4 * tree.extended_at[b]
        for i in range(4 * tree.packs[b]):
            row, own = tree.block_at[b] + i * width, weight[shift + face + i]
            for j in range(width):
                slope[shift + j] += ws.matrix[row + j] * own
        if face > 0:
            for r in range(6):
                row, own = 6 * shift + r * width, weight[shift + (F_TH0 + r if r < 3 else F_P0 + r - 3)]
                for j in range(width):
                    slope[shift + j] += ws.roots[row + j] * own


@distant(Tree, Workspace, Loads, VECTOR, VECTOR)
def times_back(tree, ws, loads, y, out):
    """The bordered tangent, from `linearise` without elimination, transposed, times y (n + m,), into out (n + m,)."""
    c, pairs, n = loads.constraints, loads.pairs, len(tree.lane)
    slope, weight = ws.moved, ws.pushed
    _spread_weights(tree, ws, y)
    _weigh_blocks(tree, ws)
    for p in range(len(pairs.table)):
        first, last, at = pairs.table[p, 2], pairs.table[p, 3], pairs.far_at[p]
        for b in range(first, last):
            for l in range(pairs.lanes[b]):
                own = weight[4 * pairs.pack[b] + l]
                for d in range(first, last):
                    for m in range(pairs.lanes[d]):
                        slope[4 * pairs.pack[d] + m] += pairs.far[at] * own
                        at += 1
    for k in range(len(c.table)):
        total = c.diagonal[k] * y[n + k]
        for e in range(c.entry[k], c.entry[k + 1]):
            for l in range(4):
                slope[4 * c.pack[e] + l] += c.jacobian[e, l] * y[n + k]
                total += c.column[e, l] * weight[4 * c.pack[e] + l]
        out[n + k] = total
    for b in range(len(tree.root) - 1, -1, -1):
        h = tree.host[b]
        if h >= 0:
            width, above = block_width(tree, h), 4 * tree.extended_at[h]
            for f in range(FACE):
                row, own = tree.port_at[b] + f * width, slope[4 * tree.extended_at[b] + f]
                for lane in range(width):
                    slope[above + lane] += ws.ports[row + lane] * own
    for k in range(n):
        out[k] = slope[tree.extended[k]]
