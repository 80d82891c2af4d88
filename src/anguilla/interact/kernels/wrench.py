"""Wrenches on nodes: dead (world axes) or follower (axes of the node), with their tangent."""

from __future__ import annotations

from anguilla.compiler.jit import inline, part
from anguilla.compiler.simd import lay3, take3
from anguilla.interact.kernels.table import KIND, WRENCH
from anguilla.mechanics.tangent import columns_of
from anguilla.mechanics.tree import DF, DM, N_F, N_M, N_R, TH0
from anguilla.mechanics.vec import cross, load3, load9, matvec, store3, sub


@inline
def row3(row, j):
    """The three numbers row[j:j+3]."""
    return row[j], row[j + 1], row[j + 2]


@inline
def has_kind(frames, kind):
    """Whether some frame load is of a kind."""
    found = False
    for f in range(len(frames.table)):
        if frames.table[f, KIND] == kind:
            found = True
    return found


@part
def add_wrenches(ws, loads):
    """Subtract the external wrenches (moment, force) from the balance of their nodes."""
    node = ws.node
    for k in range(len(loads.wrench)):
        i, j = loads.wrench[k, 0], loads.at[WRENCH] + 6 * k
        moment, force = row3(loads.row, j), row3(loads.row, j + 3)
        if loads.wrench[k, 1] == 1:
            rotation = load9(node, i, N_R)
            moment, force = matvec(rotation, moment), matvec(rotation, force)
        store3(node, i, N_M, sub(load3(node, i, N_M), moment))
        store3(node, i, N_F, sub(load3(node, i, N_F), force))


@part
def add_wrench_columns(tree, ws, loads, b):
    """A follower wrench on block b turns with its node: d(force) = Theta x force. A dead one does not."""
    node, a = ws.node, ws.columns
    for place in range(loads.wrench_at[b], loads.wrench_at[b + 1]):
        k = loads.wrench_in[place]
        if loads.wrench[k, 1] == 1:
            i, j = loads.wrench[k, 0], loads.at[WRENCH] + 6 * k
            s = tree.segment[i]
            rotation = load9(node, i, N_R)
            moment, force = matvec(rotation, row3(loads.row, j)), matvec(rotation, row3(loads.row, j + 3))
            for pack in range(tree.path_packs[s] + tree.own_packs[s]):
                c = columns_of(tree, s, pack, i)
                th0 = take3(a, c + TH0)
                lay3(a, c + DF, sub(take3(a, c + DF), cross(th0, force)))
                lay3(a, c + DM, sub(take3(a, c + DM), cross(th0, moment)))
