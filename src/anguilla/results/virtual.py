"""Virtual power: generalised forces of a given force on one node, in many states."""

from __future__ import annotations

from anguilla.compiler.distant import entry
from anguilla.mechanics.forces import carry_up, collect_forces
from anguilla.mechanics.tree import N_F, N_M
from anguilla.mechanics.vec import load3, store3
from anguilla.model.evaluate import descend


@entry(descend)
def generalised_forces(tree, ws, node, q, zero, wrench, out):
    """J^T (moment, force) into out (nt, n): wrench (nt, 6) on a node, about it, world axes, in the states q (nt, n)."""
    for t in range(len(q)):
        descend(tree, ws, q[t], zero, zero)
        for i in range(len(tree.parent)):
            for c in range(3):
                ws.node[i, N_F + c] = 0.0
                ws.node[i, N_M + c] = 0.0
        store3(ws.node, node, N_M, load3(wrench, t, 0))
        store3(ws.node, node, N_F, load3(wrench, t, 3))
        carry_up(tree, ws)
        collect_forces(tree, ws)
        for k in range(q.shape[1]):
            out[t, k] = ws.rows[tree.lane[k]]
