"""The stream of water along a slender fish works on its strains (003 (90)).

The momentum that the stream carries past section X is Phi = (V1 j W, V1 m V - T e1). Its derivative along the body is a
load per length; integrated by parts it leaves Phi at the tail (`fluid.py`) and -Phi on the strains, here at the nodes. On a
rod that neither stretches nor shears only the torsion feels it.
"""

from __future__ import annotations

from anguilla.compiler.jit import part
from anguilla.compiler.lanes import FOUR, get3
from anguilla.interact.kernels.fluid import ADDED, ADDED_TURN, CURRENT, advected, advected_slopes, flow_of
from anguilla.mechanics.tangent import block_width
from anguilla.mechanics.tree import N_R, N_V, P1, TH0, TH1
from anguilla.mechanics.vec import add, cross, load3, load9, matvec, store3, sub, tmatvec

NODE, FIRST, WIDTH, VALUES, FROM, TO = range(6)  # Streams.table


@part
def add_stream_forces(node, streams, rows):
    """Rows += basis x Phi at the nodes."""
    data = streams.data
    for s in range(len(streams.table)):
        i, first, width, at = (
            streams.table[s, NODE], streams.table[s, FIRST], streams.table[s, WIDTH], streams.table[s, VALUES],
        )  # fmt: skip
        V, W = flow_of(node, i, data, s)
        moment, force = advected(V, W, load3(data, s, ADDED), load3(data, s, ADDED_TURN))
        store3(streams.stress, s, 0, moment)
        store3(streams.stress, s, 3, force)
        for l in range(width):
            rows[first + l] += streams.basis[at + l] * streams.stress[s, streams.strain[at + l]]


@part
def gather_streams(node, a, places, streams, b):
    """Change of Phi on block b with every coordinate that moves the node, before the columns are used up."""
    data, change = streams.data, streams.change
    for place in range(streams.at[b], streams.at[b + 1]):
        s = streams.inside[place]
        i = streams.table[s, NODE]
        rotation = load9(node, i, N_R)
        V, W = flow_of(node, i, data, s)
        u = sub(load3(node, i, N_V), load3(data, s, CURRENT))
        M_V, M_W, F_V, F_W = advected_slopes(V, W, load3(data, s, ADDED), load3(data, s, ADDED_TURN))
        for k in range(streams.table[s, FROM], streams.table[s, TO]):
            c, o = streams.source[k, 1], streams.source[k, 2]
            for l in range(FOUR):
                # dV = R^T (dv - Theta x u), dW = R^T (dw - Theta x w), dw = Theta1 + Theta x w
                dV = tmatvec(rotation, sub(get3(places, o + l + P1), cross(get3(a, c + l + TH0), u)))
                dW = tmatvec(rotation, get3(a, c + l + TH1))
                store3(change[k], l, 0, add(matvec(M_V, dV), matvec(M_W, dW)))
                store3(change[k], l, 3, add(matvec(F_V, dV), matvec(F_W, dW)))


@part
def add_stream_rows(tree, ws, streams):
    """Matrix += basis x change of Phi."""
    matrix = ws.matrix
    for s in range(len(streams.table)):
        segment, at = tree.segment[streams.table[s, NODE]], streams.table[s, VALUES]
        b = tree.block[segment]
        width = block_width(tree, b)
        first = tree.block_at[b] + 4 * tree.own_at[segment] * width - 4 * tree.extended_at[b]
        for r in range(streams.table[s, WIDTH]):
            value, strain = streams.basis[at + r], streams.strain[at + r]
            if value != 0.0:
                for k in range(streams.table[s, FROM], streams.table[s, TO]):
                    o = first + r * width + 4 * int(streams.source[k, 0])
                    for l in range(4):
                        matrix[o + l] += value * streams.change[k, l, strain]
