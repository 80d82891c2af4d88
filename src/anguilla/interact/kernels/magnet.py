"""A magnetic moment fixed to a node, in a field B(x, t) = B0(t) + G x: moment m x B, force G m (003 section III: an F_d).

G is symmetric and traceless (no currents in the workspace), so that the force is the gradient of m . B.
"""

from __future__ import annotations

from anguilla.compiler.jit import inline
from anguilla.interact.kernels.table import NODE, ROW
from anguilla.interact.kernels.thruster import put_block
from anguilla.interact.kernels.wrench import row3
from anguilla.mechanics.tree import N_R, N_X
from anguilla.mechanics.vec import add, cross, cross_columns, iso_hat, load3, load9, matmul, matvec, maxpy, store3


@inline
def _moment_and_field(node, row, frames, f):
    i, j = frames.table[f, NODE], frames.table[f, ROW]
    data = frames.data
    gradient = (
        data[f, 3], data[f, 4], data[f, 5], data[f, 6], data[f, 7], data[f, 8], data[f, 9], data[f, 10], data[f, 11],
    )  # fmt: skip
    m = matvec(load9(node, i, N_R), load3(data, f, 0))
    return m, add(row3(row, j), matvec(gradient, load3(node, i, N_X))), gradient


@inline
def magnet_wrench(node, row, frames, f):
    """World wrench of magnet f."""
    m, b, gradient = _moment_and_field(node, row, frames, f)
    moment, force = cross(m, b), matvec(gradient, m)
    store3(frames.wrench, f, 0, moment)
    store3(frames.wrench, f, 3, force)


@inline
def magnet_block(node, row, frames, f):
    """d(m x B) = (Theta x m) x B + m x G dx, d(G m) = G (Theta x m)."""
    m, b, gradient = _moment_and_field(node, row, frames, f)
    # (Theta x m) x B = -B x (Theta x m) = [B][m] Theta
    put_block(frames.block, f, 0, 0, cross_columns(b, iso_hat(0.0, 1.0, m)))
    put_block(frames.block, f, 0, 3, cross_columns(m, gradient))
    put_block(frames.block, f, 3, 0, maxpy(-1.0, matmul(gradient, iso_hat(0.0, 1.0, m)), iso_hat(0.0, 0.0, m)))
