"""Water on a node, and what a stream of water carries over a tail: drag, friction, added mass, buoyancy.

With V and W the velocity (relative to the water) and the angular velocity, A and L the accelerations of the node, all in
its axes, the body wrench is

    force  = -d |V| V - c V - m A - k (W x m V - m (W x V)) - m_w R^T g
    moment = -e |W| W - b W - j L - k (W x j W + V x m V)

d, c, e, b, m and j are diagonal. In d |V| V the speed is |V1| along the axis and that of the cross-flow across it (001 (9),
(14)), or the whole speed for a body that is not slender. k = 0 is Morison's added mass, which feels the acceleration of the
section and nothing else (001 (12)); k = 1 is Kirchhoff's, the inertia of a potential flow (003 with M + M_a).

The tail of a slender fish gives the wrench (003 (91)) of the flow that leaves it: moment V1 j W, force V1 m V - T e1, with
T = (V . m V + W . j W)/2.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.interact.kernels.table import GRAVITY, NODE
from anguilla.interact.kernels.thruster import put_block
from anguilla.interact.kernels.wrench import row3
from anguilla.mechanics.tree import N_A, N_AL, N_R, N_V, N_W
from anguilla.mechanics.vec import (
    add,
    axpy,
    cross,
    cross_columns,
    dot,
    iso_hat,
    load3,
    load9,
    madd,
    matmul,
    matvec,
    maxpy,
    outer_add,
    scale,
    store3,
    sub,
    tmatvec,
    transpose,
)

# Places in Frames.data
DRAG, DRAG_TURN, VISCOUS, VISCOUS_TURN, ADDED, ADDED_TURN = 0, 3, 6, 9, 12, 15
KIRCHHOFF, BLUNT, DISPLACED, CURRENT = 18, 19, 20, 21
FLUID_SIZE = 24
E1 = (1.0, 0.0, 0.0)


@inline
def _times(d, a):
    """Diagonal times vector."""
    return d[0] * a[0], d[1] * a[1], d[2] * a[2]


@inline
def _diagonal(d):
    return d[0], 0.0, 0.0, 0.0, d[1], 0.0, 0.0, 0.0, d[2]


@inline
def _rows(d, m):
    """Diagonal times matrix."""
    return (
        d[0] * m[0], d[0] * m[1], d[0] * m[2],
        d[1] * m[3], d[1] * m[4], d[1] * m[5],
        d[2] * m[6], d[2] * m[7], d[2] * m[8],
    )  # fmt: skip


@inline
def flow_of(node, i, data, f):
    """Velocity relative to the water and angular velocity, axes of the node."""
    rotation = load9(node, i, N_R)
    return tmatvec(rotation, sub(load3(node, i, N_V), load3(data, f, CURRENT))), tmatvec(rotation, load3(node, i, N_W))


@inline
def _speeds(V, blunt):
    """Speeds that multiply the axial and the other components of V."""
    across = math.sqrt(V[1] * V[1] + V[2] * V[2])
    if blunt > 0.0:
        whole = math.sqrt(V[0] * V[0] + V[1] * V[1] + V[2] * V[2])
        return whole, whole
    return abs(V[0]), across


@part
def fluid_wrench(node, row, frames, f):
    """World wrench of the water on node f."""
    i, data = frames.table[f, NODE], frames.data
    rotation = load9(node, i, N_R)
    V, W = flow_of(node, i, data, f)
    A, L = tmatvec(rotation, load3(node, i, N_A)), tmatvec(rotation, load3(node, i, N_AL))
    m, j, k = load3(data, f, ADDED), load3(data, f, ADDED_TURN), data[f, KIRCHHOFF]
    along, across = _speeds(V, data[f, BLUNT])
    drag, turn = load3(data, f, DRAG), load3(data, f, DRAG_TURN)
    quadratic = drag[0] * along * V[0], drag[1] * across * V[1], drag[2] * across * V[2]
    spinning = turn[0] * abs(W[0]) * W[0], turn[1] * abs(W[1]) * W[1], turn[2] * abs(W[2]) * W[2]
    force = add(quadratic, add(_times(load3(data, f, VISCOUS), V), _times(m, A)))
    moment = add(spinning, add(_times(load3(data, f, VISCOUS_TURN), W), _times(j, L)))
    mV = _times(m, V)
    force = axpy(k, sub(cross(W, mV), _times(m, cross(W, V))), force)
    moment = axpy(k, add(cross(W, _times(j, W)), cross(V, mV)), moment)
    lift = axpy(-data[f, DISPLACED], row3(row, GRAVITY), matvec(rotation, scale(-1.0, force)))
    store3(frames.wrench, f, 0, matvec(rotation, scale(-1.0, moment)))
    store3(frames.wrench, f, 3, lift)


@part
def _conjugate(rotation, m):
    """R m R^T."""
    return matmul(matmul(rotation, m), transpose(rotation))


@part
def _put_turned(node, frames, f, rotation, by_V, by_W, by_A, by_L, r, wrench):
    """Rows r of the block from body derivatives: d(R y) = Theta x R y + R dy, dV = R^T (du - Theta x u) and so on."""
    i, block = frames.table[f, NODE], frames.block
    u = sub(load3(node, i, N_V), load3(frames.data, f, CURRENT))
    by_u, by_w = _conjugate(rotation, by_V), _conjugate(rotation, by_W)
    by_a, by_al = _conjugate(rotation, by_A), _conjugate(rotation, by_L)
    put_block(block, f, r, 6, by_w)
    put_block(block, f, r, 9, by_u)
    put_block(block, f, r, 12, by_al)
    put_block(block, f, r, 15, by_a)
    turn = madd(matmul(by_u, iso_hat(0.0, 1.0, u)), matmul(by_w, iso_hat(0.0, 1.0, load3(node, i, N_W))))
    turn = madd(turn, matmul(by_a, iso_hat(0.0, 1.0, load3(node, i, N_A))))
    turn = madd(turn, matmul(by_al, iso_hat(0.0, 1.0, load3(node, i, N_AL))))
    put_block(block, f, r, 0, madd(turn, iso_hat(0.0, -1.0, wrench)))


@part
def _drag_slope(V, drag, blunt):
    """Derivative of the quadratic drag, which is smooth at rest: d |V| V -> |V| d + d V V^T / |V|."""
    along, across = _speeds(V, blunt)
    if blunt > 0.0:
        n = V
    else:
        n = (0.0, V[1], V[2])
    share = 1.0 / across if across > 0.0 else 0.0
    slope = outer_add(share, n, n, _diagonal((along, across, across)))
    if blunt <= 0.0:
        slope = outer_add(along, E1, E1, slope)
    return _rows(drag, slope)


@part
def fluid_block(node, row, frames, f):
    """Derivative of the wrench of the water on node f (the weight of displaced water is constant)."""
    i, data = frames.table[f, NODE], frames.data
    rotation = load9(node, i, N_R)
    V, W = flow_of(node, i, data, f)
    m, j, k = load3(data, f, ADDED), load3(data, f, ADDED_TURN), data[f, KIRCHHOFF]
    turn, viscous = load3(data, f, DRAG_TURN), load3(data, f, VISCOUS)
    mV, jW, none = _times(m, V), _times(j, W), iso_hat(0.0, 0.0, V)
    hat_V, hat_W, M = iso_hat(0.0, 1.0, V), iso_hat(0.0, 1.0, W), _diagonal(m)
    # minus the derivatives of the wrench
    F_V = madd(_drag_slope(V, load3(data, f, DRAG), data[f, BLUNT]), _diagonal(viscous))
    F_V = maxpy(k, maxpy(-1.0, _rows(m, hat_W), cross_columns(W, M)), F_V)
    F_W = maxpy(k, maxpy(-1.0, iso_hat(0.0, 1.0, mV), _rows(m, hat_V)), none)
    M_V = maxpy(k, maxpy(-1.0, iso_hat(0.0, 1.0, mV), cross_columns(V, M)), none)
    spin = 2.0 * turn[0] * abs(W[0]), 2.0 * turn[1] * abs(W[1]), 2.0 * turn[2] * abs(W[2])
    M_W = _diagonal(add(spin, load3(data, f, VISCOUS_TURN)))
    M_W = maxpy(k, maxpy(-1.0, iso_hat(0.0, 1.0, jW), cross_columns(W, _diagonal(j))), M_W)
    minus, wrench = -1.0, frames.wrench
    g = row3(row, GRAVITY)
    force = axpy(data[f, DISPLACED], g, load3(wrench, f, 3))  # the part that turns with the node
    _put_turned(node, frames, f, rotation, maxpy(minus, M_V, none), maxpy(minus, M_W, none), none,
                _diagonal(scale(minus, j)), 0, load3(wrench, f, 0))  # fmt: skip
    _put_turned(node, frames, f, rotation, maxpy(minus, F_V, none), maxpy(minus, F_W, none),
                _diagonal(scale(minus, m)), none, 3, force)  # fmt: skip


@inline
def advected(V, W, m, j):
    """(003 (90)) moment V1 j W, force V1 m V - T e1, with T the kinetic energy of the water per length."""
    mV, jW = _times(m, V), _times(j, W)
    energy = 0.5 * (dot(V, mV) + dot(W, jW))
    return scale(V[0], jW), axpy(-energy, E1, scale(V[0], mV))


@inline
def advected_slopes(V, W, m, j):
    """Derivatives of the moment by V and W, and of the force by V and W."""
    mV, jW, none = _times(m, V), _times(j, W), iso_hat(0.0, 0.0, V)
    F_V = outer_add(-1.0, E1, mV, outer_add(1.0, mV, E1, _diagonal(scale(V[0], m))))
    return outer_add(1.0, jW, E1, none), _diagonal(scale(V[0], j)), F_V, outer_add(-1.0, E1, jW, none)


@part
def tail_wrench(node, row, frames, f):
    """World wrench of the water that leaves a tail."""
    i, data = frames.table[f, NODE], frames.data
    rotation = load9(node, i, N_R)
    V, W = flow_of(node, i, data, f)
    moment, force = advected(V, W, load3(data, f, ADDED), load3(data, f, ADDED_TURN))
    store3(frames.wrench, f, 0, matvec(rotation, moment))
    store3(frames.wrench, f, 3, matvec(rotation, force))


@part
def tail_block(node, row, frames, f):
    """Derivative of the wrench of a tail."""
    i, data = frames.table[f, NODE], frames.data
    rotation = load9(node, i, N_R)
    V, W = flow_of(node, i, data, f)
    M_V, M_W, F_V, F_W = advected_slopes(V, W, load3(data, f, ADDED), load3(data, f, ADDED_TURN))
    none = iso_hat(0.0, 0.0, V)
    _put_turned(node, frames, f, rotation, M_V, M_W, none, none, 0, load3(frames.wrench, f, 0))
    _put_turned(node, frames, f, rotation, F_V, F_W, none, none, 3, load3(frames.wrench, f, 3))
