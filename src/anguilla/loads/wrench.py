"""Wrenches on nodes: dead (world axes) or follower (axes of the node), with their tangent."""

from __future__ import annotations

from anguilla._jit import merge
from anguilla.mechanics.lanes import FOUR, get3, put3
from anguilla.mechanics.tangent import columns_of
from anguilla.mechanics.tree import DF, DM, N_F, N_M, N_R, TH0
from anguilla.mechanics.vec import cross, load3, load9, matvec, store3, sub


@merge
def add_wrenches(ws, where, follower, values):
    """Subtract external wrench values[k] (moment, force) from the balance of node where[k]."""
    node = ws.node
    for k in range(len(where)):
        i = where[k]
        moment, force = load3(values, k, 0), load3(values, k, 3)
        if follower[k] == 1:
            rotation = load9(node, i, N_R)
            moment, force = matvec(rotation, moment), matvec(rotation, force)
        store3(node, i, N_M, sub(load3(node, i, N_M), moment))
        store3(node, i, N_F, sub(load3(node, i, N_F), force))


@merge
def add_wrench_columns(tree, ws, where, follower, values):
    """A follower wrench turns with its node: d(force) = Theta x force. A dead one does not."""
    node, a = ws.node, ws.columns
    for k in range(len(where)):
        if follower[k] == 1:
            i = where[k]
            s = tree.segment[i]
            rotation = load9(node, i, N_R)
            moment, force = matvec(rotation, load3(values, k, 0)), matvec(rotation, load3(values, k, 3))
            for b in range(tree.path_packs[s] + tree.own_packs[s]):
                c = columns_of(tree, s, b, i)
                for lane in range(FOUR):
                    j = c + lane
                    th0 = get3(a, j + TH0)
                    put3(a, j + DF, sub(get3(a, j + DF), cross(th0, force)))
                    put3(a, j + DM, sub(get3(a, j + DM), cross(th0, moment)))
