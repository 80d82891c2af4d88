"""A spring and a damper along a direction n fixed in the world: force -(k (n . x - rest) + c n . v) n at the node."""

from __future__ import annotations

from anguilla.compiler.jit import inline
from anguilla.interact.kernels.table import NODE
from anguilla.interact.kernels.thruster import put_block
from anguilla.mechanics.tree import N_V, N_X
from anguilla.mechanics.vec import dot, iso_hat, load3, outer_add, scale, store3

# Places in Frames.data
DIRECTION, STIFFNESS, DAMPING, FREE = 0, 3, 4, 5


@inline
def world_spring_wrench(node, row, frames, f):
    """World wrench of spring f: a force, no moment about the node."""
    i, data = frames.table[f, NODE], frames.data
    n = load3(data, f, DIRECTION)
    stretch = dot(n, load3(node, i, N_X)) - data[f, FREE]
    pull = data[f, STIFFNESS] * stretch + data[f, DAMPING] * dot(n, load3(node, i, N_V))
    store3(frames.wrench, f, 3, scale(-pull, n))


@inline
def world_spring_block(node, row, frames, f):
    """d(force) = -k n (n . dx) - c n (n . dv)."""
    n = load3(frames.data, f, DIRECTION)
    none = iso_hat(0.0, 0.0, n)
    put_block(frames.block, f, 3, 3, outer_add(-frames.data[f, STIFFNESS], n, n, none))
    put_block(frames.block, f, 3, 9, outer_add(-frames.data[f, DAMPING], n, n, none))
