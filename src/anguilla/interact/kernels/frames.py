"""Frame loads: a wrench on one node and its derivative with respect to the motion of that node.

The wrench (moment about the node, force) is external, in world axes. Its derivative is a 6 x 18 block over the small
rotation, the displacement, and the changes of angular velocity, velocity, angular acceleration and acceleration, world
axes. In terms of the columns these changes are Theta0, P0, Theta1 + Theta0 x w, P1, Theta2 + Theta1 x w + Theta0 x al, P2.
"""

from __future__ import annotations

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import FOUR, U
from anguilla.compiler.simd import lay, take, take3
from anguilla.interact.kernels.fluid import fluid_block, fluid_wrench, tail_block, tail_wrench
from anguilla.interact.kernels.magnet import magnet_block, magnet_wrench
from anguilla.interact.kernels.table import CONTACT, FROM, KIND, NODE, THRUSTER, TO, USER
from anguilla.interact.kernels.thruster import thruster_block, thruster_wrench
from anguilla.interact.kernels.world_spring import world_spring_block, world_spring_wrench
from anguilla.mechanics.tree import DF, DM, N_AL, N_F, N_M, N_W, P0, P1, P2, TH0, TH1, TH2
from anguilla.mechanics.vec import add, cross, load3, store3, sub


@inline
def _nothing(node, row, frames, f):
    """Of what has been evaluated before: contacts, all at once, and loads written in Python."""


# (wrench, block) of each kind of frame load, by the name that descriptions give it: functions of (node, row, frames, f),
# which write into frames.wrench[f] and frames.block[f]. The number of a kind is its place here.
LAWS = {
    "user": (_nothing, _nothing),
    "thruster": (thruster_wrench, thruster_block),
    "contact": (_nothing, _nothing),
    "magnet": (magnet_wrench, magnet_block),
    "fluid": (fluid_wrench, fluid_block),
    "tail": (tail_wrench, tail_block),
    "world_spring": (world_spring_wrench, world_spring_block),
}
KINDS = {name: number for number, name in enumerate(LAWS)}
assert (KINDS["user"], KINDS["thruster"], KINDS["contact"]) == (USER, THRUSTER, CONTACT)


def _rung(number, law, rest):
    """The law of one kind, or the rest of the ladder."""

    def rung(kind, node, row, frames, f):
        if kind == number:
            law(node, row, frames, f)
        else:
            rest(kind, node, row, frames, f)

    return inline(rung)


def _ladder(laws):
    """A function of (kind, node, row, frames, f) that does what the law of a kind does, by one comparison after the other."""

    def ladder(kind, node, row, frames, f):
        pass

    ladder = inline(ladder)
    for number, law in reversed(list(enumerate(laws))):
        ladder = ladder if law is _nothing else _rung(number, law, ladder)
    return ladder


_wrench = _ladder([wrench for wrench, _ in LAWS.values()])
_block = _ladder([block for _, block in LAWS.values()])


@part
def add_frame_loads(node, row, frames):
    """Evaluate the frame loads but contacts, which have been, and subtract all from the balance of their nodes."""
    for f in range(len(frames.table)):
        _wrench(frames.table[f, KIND], node, row, frames, f)
        i = frames.table[f, NODE]
        store3(node, i, N_M, sub(load3(node, i, N_M), load3(frames.wrench, f, 0)))
        store3(node, i, N_F, sub(load3(node, i, N_F), load3(frames.wrench, f, 3)))


@inline
def _row(block, f, r, x0, x1, x2, x3, x4, x5):
    """Row r of a block times a change of motion."""
    b = block
    return (
        b[f, r, 0] * x0[0] + b[f, r, 1] * x0[1] + b[f, r, 2] * x0[2]
        + b[f, r, 3] * x1[0] + b[f, r, 4] * x1[1] + b[f, r, 5] * x1[2]
        + b[f, r, 6] * x2[0] + b[f, r, 7] * x2[1] + b[f, r, 8] * x2[2]
        + b[f, r, 9] * x3[0] + b[f, r, 10] * x3[1] + b[f, r, 11] * x3[2]
        + b[f, r, 12] * x4[0] + b[f, r, 13] * x4[1] + b[f, r, 14] * x4[2]
        + b[f, r, 15] * x5[0] + b[f, r, 16] * x5[1] + b[f, r, 17] * x5[2]
    )  # fmt: skip


@part
def add_frame_columns(node, a, places, row, frames, b):
    """Subtract the change of frame loads on block b from the wrench columns of their nodes; blocks of contacts are there."""
    block = frames.block
    for place in range(frames.at[b], frames.at[b + 1]):
        f = frames.inside[place]
        _block(frames.table[f, KIND], node, row, frames, f)
        i = frames.table[f, NODE]
        w, al = load3(node, i, N_W), load3(node, i, N_AL)
        for k in range(frames.table[f, FROM], frames.table[f, TO]):
            c, o = frames.source[k, 0], frames.source[k, 1]
            th0, th1, th2 = take3(a, c + TH0), take3(a, c + TH1), take3(a, c + TH2)
            x, v, acc = take3(places, o + P0), take3(places, o + P1), take3(a, c + P2)
            dw = add(th1, cross(th0, w))
            dal = add(th2, add(cross(th1, w), cross(th0, al)))
            for r in range(6):
                at = c + (DM if r < 3 else DF) + FOUR * U(r % 3)
                lay(a, at, take(a, at) - _row(block, f, r, th0, x, dw, v, dal, acc))
