"""Points of bodies, and those that glide along a line of their body to where they are deepest in what they touch.

A point of a capsule is at x(s), 0 <= s <= 1, on its axis. Against another capsule, of which phi is the distance, it is where

    r - phi(x) - e z^2 / 2

is largest, with z the way from the middle of the axis; and that is the depth. phi is convex, so there is one such place, and
it moves smoothly, also where the two are parallel: there the last term settles it. As the place is one of the largest depth,
the force acts along the normal there as if the point were fixed, and comes from an energy.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.interact.kernels.distance import SIZE, shape_distance
from anguilla.interact.kernels.nearest import ROUNDS, arm
from anguilla.mechanics.tree import N_R, N_X
from anguilla.mechanics.vec import add, axpy, dot, load3, load9, matvec, scale, sub, tmatvec

# Columns of Touches.point: weights of the two nodes, vector in node axes, weight of the second one, radius, share, arc
# length, how far a point of a body glides to either side
WEIGHTS, ARM, SECOND, RADIUS, SHARE, ARC, GLIDE, POINTS = 0, 4, 7, 8, 9, 10, 11, 14
LEANING = 1e-4  # of points that glide, to the middle of their line: parallel lines would leave it open where they are
NEAR_ENOUGH = 1e-13  # of its line


@part
def surface(node, touches, b, x):
    """Distance from the surface of a body, and its normal, at x."""
    i = touches.body[b]
    R = load9(node, i, N_R)
    phi, n = shape_distance(tmatvec(R, sub(x, load3(node, i, N_X))), touches.shape, b, touches.grid)
    return phi, matvec(R, n)


@inline
def glides(touches, k):
    """Whether a point glides along a line of its body to where it is deepest."""
    return touches.point[k, GLIDE] != 0.0 or touches.point[k, GLIDE + 1] != 0.0 or touches.point[k, GLIDE + 2] != 0.0


@inline
def arm_at(node, touches, i, k, s):
    """Vector from node i to a point, which is at the part s of its line if it glides."""
    ti = arm(node, i, touches.point, k, ARM)
    return axpy(2.0 * s - 1.0, arm(node, i, touches.point, k, GLIDE), ti) if glides(touches, k) else ti


@inline
def leaning(touches, k, b):
    """1 / [m] of what a point that glides lacks in depth, for each half of the square of its way from the middle."""
    return LEANING / (touches.point[k, RADIUS] + touches.shape[b, SIZE])


@inline
def glide_way(node, touches, i, k):
    """(direction of the line of a point, half of its length)."""
    way = arm(node, i, touches.point, k, GLIDE)
    half = math.sqrt(dot(way, way))
    return scale(1.0 / half, way), half


@part
def gliding(node, touches, c, k, b):
    """(s, 1 if it may move along or 0 at an end) of a point that glides, where its depth less what it lacks is largest."""
    i, low, high = touches.cluster[c, 2], 0.0, 1.0
    along, half = glide_way(node, touches, i, k)
    less = 2.0 * half * leaning(touches, k, b)
    x = load3(node, i, N_X)
    first = dot(along, surface(node, touches, b, add(x, arm_at(node, touches, i, k, 0.0)))[1]) - 0.5 * less
    last = dot(along, surface(node, touches, b, add(x, arm_at(node, touches, i, k, 1.0)))[1]) + 0.5 * less
    if first >= 0.0:
        return 0.0, 0.0
    if last <= 0.0:
        return 1.0, 0.0
    s, side = first / (first - last), 0
    for _ in range(ROUNDS):  # false position, with half of the value of an end that stays
        value = dot(along, surface(node, touches, b, add(x, arm_at(node, touches, i, k, s)))[1]) + (s - 0.5) * less
        if value > 0.0:
            high, last = s, value
            first = 0.5 * first if side == 1 else first
            side = 1
        else:
            low, first = s, value
            last = 0.5 * last if side == -1 else last
            side = -1
        step = (low * last - high * first) / (last - first)
        if abs(step - s) < NEAR_ENOUGH or high - low < NEAR_ENOUGH:
            return step, 1.0
        s = step
    return s, 1.0
