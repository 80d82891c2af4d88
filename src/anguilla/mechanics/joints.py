"""The local map of a one-degree-of-freedom joint: a turn about, and a slide along, an axis fixed in the parent's frame.

Revolute, prismatic and helical joints are one such link; universal, cylindrical and planar ones are chains of them. A joint
uses the record of a rod interval of zero length (whose rod terms all vanish), with its coordinate in the place of the
first strain; so the recursions do not know it from a rod. Joints may turn many times: sine and cosine, not a series.
"""

from __future__ import annotations

import math

from anguilla._jit import inline
from anguilla.mechanics.lanes import get3, put3, put9, put_column
from anguilla.mechanics.rodmap import (
    FORCE,
    JACOBIAN,
    JET,
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
)
from anguilla.mechanics.tree import N_AL, N_R, N_W
from anguilla.mechanics.vec import add, axpy, cross, dot, iso_hat, load3, load9, matvec, outer_add, scale


@inline
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


@inline
def joint_force(tree, local, i):
    """Generalised force on the coordinate of joint link i: power of the child's wrench per unit rate."""
    o = tree.record_at[i]
    axis = load3(tree.fixed, i, 0)
    moment, force = get3(local, o + WRENCH), get3(local, o + WRENCH + JET)
    local[o + FORCE] = tree.fixed[i, 3] * dot(axis, moment) + tree.fixed[i, 4] * dot(axis, force)


@inline
def joint_jacobian(tree, node, local, i, alpha, beta):
    """Rotation and translation columns of joint link i with their time jets, world axes (see rodmap._world_jets)."""
    p = tree.parent[i]
    turn, slide = tree.fixed[i, 3], tree.fixed[i, 4]
    w, al = load3(node, p, N_W), load3(node, p, N_AL)
    y0 = matvec(load9(node, p, N_R), load3(tree.fixed, i, 0))
    y1 = cross(w, y0)
    y2 = add(cross(al, y0), cross(w, y1))
    y2 = axpy(2.0 * alpha, y1, axpy(beta, y0, y2))
    y1 = axpy(alpha, y0, y1)
    o = tree.record_at[i] + JACOBIAN
    put_column(local, o + Q0, scale(turn, y0))
    put_column(local, o + Q1, scale(turn, y1))
    put_column(local, o + Q2, scale(turn, y2))
    put_column(local, o + U0, scale(slide, y0))
    put_column(local, o + U1, scale(slide, y1))
    put_column(local, o + U2, scale(slide, y2))
