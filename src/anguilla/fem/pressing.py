"""Points of a surface against shapes: a smooth penalty, damping that never pulls, bristles that hold.

A point is a mean of the nodes of a face. With n the normal of what is touched, d the depth of the point x, d_0 that at the
start of the step and a the place where its bristle is rooted (it moves with what is touched),

    F = f n + T,  f = k g(d) h(c (d - d_0) / dt),  z = (1 - n n^T)(x - a),  T = -k_t z,  or -mu f z / |z| if that is less.

All of it is told by places at the end of the step. It depends on where the point is in the axes of what it touches, and on
nothing else: so does its derivative A = dF/dx, and a motion of what is touched needs no other one.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, kernel, part
from anguilla.interact.kernels.contact import GRIP, damped, pressed, stored
from anguilla.interact.kernels.distance import shape_curvature, shape_distance
from anguilla.mechanics.vec import (
    add,
    axpy,
    dot,
    iso_hat,
    load3,
    load9,
    matmul,
    matvec,
    maxpy,
    outer_add,
    scale,
    store3,
    store9,
    sub,
)

# Columns of the law of a point
STIFFNESS, SMOOTH, DAMPING, FRICTION = range(4)
# Whether a point touches, and how it rubs
APART, HOLDS, SLIDES = range(3)
LARGE = 1e300


@part
def _nearest(x, shapes, first, last, grid):
    """(The shape with the deepest place, its distance)."""
    found, least = first, LARGE
    for s in range(first, last):
        distance, _ = shape_distance(x, shapes, s, grid)
        if distance < least:
            found, least = s, distance
    return found, least


@inline
def _rooted(root, p, moved, s):
    """Where the bristle of a point is rooted now."""
    return add(matvec(load9(moved, s, 0), load3(root, p, 0)), load3(moved, s, 9))


@inline
def point_place(x, nodes, weights, p):
    """Where a point is."""
    a, b = load3(x, nodes[p, 0], 0), load3(x, nodes[p, 1], 0)
    return axpy(weights[p, 2], load3(x, nodes[p, 2], 0), axpy(weights[p, 1], b, scale(weights[p, 0], a)))


@kernel
def depths(x, nodes, weights, range_of, shapes, grid, out):
    """How deep (p,) [m] the points are; minus the distance where they do not touch."""
    for p in range(len(nodes)):
        place = point_place(x, nodes, weights, p)
        out[p] = -_nearest(place, shapes, range_of[p, 0], range_of[p, 1], grid)[1]


@kernel
def press(
    x, nodes, weights, range_of, law, shapes, moved, grid, root, before, rate, rubs,
    force, change, tilt, state, rooted, kept,
):  # fmt: skip
    """Forces (p, 3) on points, their derivatives (p, 9) by the places, and energies kept (p,) [J] of depth and bristles.

    Points are means, with weights (p, 3), of nodes (p, 3). range_of (p, 2) are the shapes that each may touch; moved (s, 12)
    is the rotation and shift of each since the start of the step, when bristles were rooted at root (p, 3) and depths were
    before (p,). rate is 1 / dt, or 0 at rest. Without `rubs` there is no friction. Of points that slide, tilt (p, 6) holds U
    and V: U V^T is the part of -A by which friction follows the pressing force, the only one that is far from symmetric.
    state (p, 2) tells whether a point touches, and the shape; rooted (p, 3) becomes where bristles are rooted afterwards.
    """
    for p in range(len(nodes)):
        place = point_place(x, nodes, weights, p)
        s, distance = _nearest(place, shapes, range_of[p, 0], range_of[p, 1], grid)
        state[p, 0], state[p, 1], kept[p] = APART, s, 0.0
        store3(rooted, p, 0, place)
        store3(force, p, 0, (0.0, 0.0, 0.0))
        store3(tilt, p, 0, (0.0, 0.0, 0.0))
        store3(tilt, p, 3, (0.0, 0.0, 0.0))
        store9(change, p, 0, iso_hat(0.0, 0.0, place))
        if distance >= 0.0:
            continue
        depth, k, c = -distance, law[p, STIFFNESS], law[p, DAMPING] * rate
        _, n = shape_distance(place, shapes, s, grid)
        N = shape_curvature(place, n, shapes, s, grid)
        g, g1 = pressed(depth, law[p, SMOOTH])
        h, h1 = damped(c * (depth - before[p]))
        size, slope = k * g * h, k * (g1 * h + g * h1 * c)
        kept[p] = k * stored(depth, law[p, SMOOTH])
        mu, grip = law[p, FRICTION], GRIP * k
        state[p, 0] = HOLDS
        F, A = scale(size, n), maxpy(size, N, outer_add(-slope, n, n, iso_hat(0.0, 0.0, n)))
        if mu > 0.0 and rubs:
            w = sub(place, _rooted(root, p, moved, s))
            z = axpy(-dot(n, w), n, w)
            z_x = outer_add(-1.0, n, n, maxpy(-dot(n, w), N, outer_add(-1.0, n, matvec(N, w), iso_hat(1.0, 0.0, n))))
            length = math.sqrt(dot(z, z))
            if grip * length <= mu * size:
                F, A = axpy(-grip, z, F), maxpy(-grip, z_x, A)
            else:
                state[p, 0] = SLIDES
                along = scale(1.0 / length, z)
                S = outer_add(-mu * size / length, along, along, iso_hat(mu * size / length, 0.0, n))
                F = axpy(-mu * size, along, F)
                store3(tilt, p, 0, scale(-mu * slope, along))
                store3(tilt, p, 3, n)
                A = maxpy(-1.0, matmul(S, z_x), outer_add(mu * slope, along, n, A))
                z = scale(mu * size / grip, along)
            kept[p] += 0.5 * grip * dot(z, z)
            store3(rooted, p, 0, sub(place, z))
        store3(force, p, 0, F)
        store9(change, p, 0, A)
