"""Local maps of joints: an axis that turns and slides, and a ball.

Revolute, prismatic and helical joints are one axis; universal, cylindrical and planar ones are chains of axes; a ball turns
freely; a free joint is three slides and a ball. A joint uses the record of a rod interval of zero length (whose rod terms
all vanish), with its coordinates in the place of the first strains; so the recursions do not know it from a rod. Axes may
turn many times: sine and cosine, not a series.

A ball is an SO(3) block. Its coordinates are a rotation vector, its rates the angular velocity of the child in the child's
axes, and it is varied by small rotations of the child in those axes (dphi): q -> log(exp(q) exp(dphi)). Over a time step
the rates depend on the increment x = log(R_n^T R), so that d(rate) = alpha T(x)^-1 dphi with T the right differential of
the exponential (003 and 004: Newmark on the Lie group); x is kept in Workspace.increment.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import get3, get9, put3, put9, put_column
from anguilla.mechanics.rodmap import (
    FORCE,
    HESSIAN,
    JACOBIAN,
    JET,
    KK,
    Q0,
    Q1,
    Q2,
    RATE,
    RHO,
    SPIN,
    STRAIN,
    TURN,
    U0,
    U1,
    U2,
    WRENCH,
    stumpff,
)
from anguilla.mechanics.tree import N_AL, N_R, N_W
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
    sub,
    tmatvec,
)


@part
def joint_motion(tree, local, i):
    """Relative rotation, translation jet and spin of joint link i from its coordinate u, u', u''."""
    o = tree.record_at[i]
    axis, turn, slide = load3(tree.fixed, i, 0), tree.fixed[i, 3], tree.fixed[i, 4]
    u = o + STRAIN
    u0, u1, u2 = local[u], local[u + RATE], local[u + RATE + RATE]
    c, s = math.cos(turn * u0), math.sin(turn * u0)
    put9(local, o + TURN, outer_add(1.0 - c, axis, axis, iso_hat(c, s, axis)))
    put3(local, o + RHO, scale(slide * u0, axis))
    put3(local, o + RHO + JET, scale(slide * u1, axis))
    put3(local, o + RHO + JET + JET, scale(slide * u2, axis))
    put3(local, o + SPIN, scale(turn * u1, axis))
    put3(local, o + SPIN + JET, scale(turn * u2, axis))


@part
def joint_force(tree, local, i):
    """Generalised force on the coordinate of joint link i: power of the child's wrench per unit rate."""
    o = tree.record_at[i]
    axis = load3(tree.fixed, i, 0)
    moment, force = get3(local, o + WRENCH), get3(local, o + WRENCH + JET)
    local[o + FORCE] = tree.fixed[i, 3] * dot(axis, moment) + tree.fixed[i, 4] * dot(axis, force)


@part
def joint_jacobian(tree, ws, i, alpha, beta):
    """Rotation and translation columns of joint link i with their time jets, world axes (see rodmap._world_jets)."""
    p, node, jets = tree.parent[i], ws.node, ws.jets
    turn, slide = tree.fixed[i, 3], tree.fixed[i, 4]
    w, al = load3(node, p, N_W), load3(node, p, N_AL)
    y0 = matvec(load9(node, p, N_R), load3(tree.fixed, i, 0))
    y1 = cross(w, y0)
    y2 = add(cross(al, y0), cross(w, y1))
    y2 = axpy(2.0 * alpha, y1, axpy(beta, y0, y2))
    y1 = axpy(alpha, y0, y1)
    o = ws.jets_at[i] + JACOBIAN
    put_column(jets, o + Q0, scale(turn, y0))
    put_column(jets, o + Q1, scale(turn, y1))
    put_column(jets, o + Q2, scale(turn, y2))
    put_column(jets, o + U0, scale(slide, y0))
    put_column(jets, o + U1, scale(slide, y1))
    put_column(jets, o + U2, scale(slide, y2))


@part
def ball_motion(tree, local, i):
    """Relative rotation and spin of ball link i from its rotation vector and the child's angular velocity."""
    o = tree.record_at[i]
    u = o + STRAIN
    theta, rate, acceleration = get3(local, u), get3(local, u + RATE), get3(local, u + RATE + RATE)
    s = dot(theta, theta)
    c1, c2, _, _, _, _, _, _, _ = stumpff(s)
    turn = outer_add(c2, theta, theta, iso_hat(1.0 - c2 * s, c1, theta))
    zero = (0.0, 0.0, 0.0)
    put9(local, o + TURN, turn)
    put3(local, o + RHO, zero)
    put3(local, o + RHO + JET, zero)
    put3(local, o + RHO + JET + JET, zero)
    put3(local, o + SPIN, matvec(turn, rate))
    put3(local, o + SPIN + JET, matvec(turn, acceleration))


@part
def ball_force(tree, local, i):
    """Moment about the child's axes, and its derivative with the child turning in it: d(R^T M) = [R^T M] dphi + ..."""
    o = tree.record_at[i]
    moment = tmatvec(get9(local, o + TURN), get3(local, o + WRENCH))
    put3(local, o + FORCE, moment)


@part
def ball_jacobian(tree, ws, i, alpha, beta):
    """Columns of ball link i, world axes: Q0 = R, and jets with d(rate) = alpha B dphi, B = T(x)^-1."""
    node, jets, o = ws.node, ws.jets, ws.jets_at[i]
    p = tree.parent[i]
    w, al = load3(node, p, N_W), load3(node, p, N_AL)
    r = load9(node, i, N_R)
    relative = sub(load3(node, i, N_W), w)
    x = load3(ws.increment, i, 0)
    s = dot(x, x)
    _, c2, c3, c4, _, _, _, _, _ = stumpff(s)
    # T(x)^-1 = 1 + [x]/2 + k [x]^2 with k = (c3 - 2 c4) / (2 c2), and [x]^2 = x x^T - s 1
    k = 0.5 * (c3 - 2.0 * c4) / c2
    rb = matmul(r, outer_add(k, x, x, iso_hat(1.0 - k * s, 0.5, x)))
    wr = cross_columns(w, r)
    # Q1 = w x R + alpha R B ;  Q2 = al x R + w x (w x R) + alpha (2 w + w_relative) x R B + beta R B
    q2 = madd(cross_columns(al, r), cross_columns(w, wr))
    q2 = maxpy(alpha, cross_columns(axpy(2.0, w, relative), rb), maxpy(beta, rb, q2))
    j = o + JACOBIAN
    put9(jets, j + Q0, r)
    put9(jets, j + Q1, maxpy(alpha, rb, wr))
    put9(jets, j + Q2, q2)
    zero = iso_hat(0.0, 0.0, x)
    put9(jets, j + U0, zero)
    put9(jets, j + U1, zero)
    put9(jets, j + U2, zero)
    put9(jets, o + HESSIAN + KK, iso_hat(0.0, 1.0, get3(ws.local, tree.record_at[i] + FORCE)))


@inline
def compose(a, b):
    """Rotation vector of exp(a) exp(b), by quaternions."""
    x, y = 0.5 * math.sqrt(dot(a, a)), 0.5 * math.sqrt(dot(b, b))
    sx = 0.5 * math.sin(x) / x if x > 1e-9 else 0.5
    sy = 0.5 * math.sin(y) / y if y > 1e-9 else 0.5
    u, v = scale(sx, a), scale(sy, b)
    w = math.cos(x) * math.cos(y) - dot(u, v)
    vector = add(cross(u, v), axpy(math.cos(x), v, scale(math.cos(y), u)))
    if w < 0.0:
        w, vector = -w, scale(-1.0, vector)
    n = math.sqrt(dot(vector, vector))
    return scale(2.0 * math.atan2(n, w) / n if n > 1e-12 else 2.0, vector)
