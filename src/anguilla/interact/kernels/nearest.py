"""Points of parts, the smooth centreline of a rod between its nodes, and where it is nearest to a point.

Between two nodes with places x0, x1 and section axes t0, t1 the centreline is the cubic

    y(s) = A0 x0 + A1 x1 + B0 t0 + B1 t1,    0 <= s <= 1,

with Hermite's polynomials A and B (these times the length of the interval): it is smooth across nodes, so that nothing slips
through between them and nothing catches on them. A point of a rod is the same with a fixed s; one of a rigid body has
A0 = B0 = 1 and, for t0, the vector from the origin of the body to it.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.mechanics.tree import N_R, N_V, N_W, N_X
from anguilla.mechanics.vec import add, axpy, cross, dot, load3, load9, matvec, scale, sub

ENOUGH, ROUNDS = 1e-9, 60  # change of s that is the last one, as the next is about its square; and rounds at most
BULGE = 4.0 / 27.0  # most that B can be, per length
PARALLEL = 1e-5  # sine of the angle between lines that count as parallel


@inline
def cubic(s, length):
    """(A0, A1, B0, B1) at s."""
    u = 1.0 - s
    return u * u * (1.0 + 2.0 * s), s * s * (3.0 - 2.0 * s), length * s * u * u, -length * s * s * u


@inline
def cubic_slope(s, length):
    """Their derivatives by s."""
    u = 1.0 - s
    return -6.0 * s * u, 6.0 * s * u, length * u * (1.0 - 3.0 * s), length * s * (3.0 * s - 2.0)


@inline
def cubic_bend(s, length):
    """Their second derivatives."""
    return 12.0 * s - 6.0, 6.0 - 12.0 * s, length * (6.0 * s - 4.0), length * (6.0 * s - 2.0)


@inline
def axis(node, i):
    """The axis of a section along the rod."""
    return node[i, N_R], node[i, N_R + 3], node[i, N_R + 6]


@inline
def arm(node, i, data, k, at):
    """A vector of data (at row k) that turns with node i."""
    return matvec(load9(node, i, N_R), load3(data, k, at))


@inline
def blend(c, x0, x1, t0, t1):
    """c0 x0 + c1 x1 + c2 t0 + c3 t1."""
    return add(axpy(c[0], x0, scale(c[1], x1)), axpy(c[2], t0, scale(c[3], t1)))


@inline
def place(node, i, j, c, t0, t1):
    """A point of two nodes."""
    return blend(c, load3(node, i, N_X), load3(node, j, N_X), t0, t1)


@inline
def velocity(node, i, j, c, t0, t1):
    """Its velocity."""
    spin0, spin1 = cross(load3(node, i, N_W), t0), cross(load3(node, j, N_W), t1)
    return blend(c, load3(node, i, N_V), load3(node, j, N_V), spin0, spin1)


@inline
def spin(node, i, j, s):
    """Angular velocity of the section there."""
    return axpy(1.0 - s, load3(node, i, N_W), scale(s, load3(node, j, N_W)))


@part
def _steepness(x, s, length, widening, x0, x1, t0, t1):
    """How the squared gap changes towards smaller s: (x - y) . y' + |x - y| r', and its derivative."""
    away = sub(x, blend(cubic(s, length), x0, x1, t0, t1))
    slope = blend(cubic_slope(s, length), x0, x1, t0, t1)
    bend = blend(cubic_bend(s, length), x0, x1, t0, t1)
    distance = math.sqrt(dot(away, away))
    along = dot(away, slope)
    change = dot(away, bend) - dot(slope, slope) - widening * along / max(distance, 1e-150)
    return along + widening * distance, change


@inline
def _steepness_at(x, x0, t0, length, widening):
    """How the squared gap changes at a node."""
    away = sub(x, x0)
    more = widening * math.sqrt(dot(away, away)) if widening != 0.0 else 0.0
    return length * dot(away, t0) + more


@part
def nearest(node, i, j, x, length, widening, first, last):
    """(whether the surface of an interval has a place nearest to x, s, 1 if it moves along or 0 at the end of a rod).

    The interval lies between nodes i and j; `widening` is how much its radius grows from one to the other. What is nearest
    to a node of two intervals belongs to one of them. first and last say whether the rod ends there.
    """
    x0, x1, t0, t1 = load3(node, i, N_X), load3(node, j, N_X), axis(node, i), axis(node, j)
    low, high = _steepness_at(x, x0, t0, length, widening), _steepness_at(x, x1, t1, length, widening)
    if low <= 0.0:
        return first, 0.0, 0.0
    if high > 0.0:
        return last, 1.0, 0.0
    a, b, s = 0.0, 1.0, low / (low - high)
    for _ in range(ROUNDS):
        value, slope = _steepness(x, s, length, widening, x0, x1, t0, t1)
        if value > 0.0:
            a = s
        else:
            b = s
        step = s - value / slope if slope < 0.0 else -1.0
        if abs(step - s) < ENOUGH:
            s = min(max(step, 0.0), 1.0)
            break
        if step <= a or step >= b:
            step = 0.5 * (a + b)
        s = step
    return True, s, 1.0


@part
def bound(node, i, j, length):
    """(centre, radius) of a ball around the centreline between two nodes; of a body (i = j) around its origin."""
    x0, x1 = load3(node, i, N_X), load3(node, j, N_X)
    if i == j:
        return x0, 0.0
    chord, t0, t1 = sub(x1, x0), axis(node, i), axis(node, j)
    d0, d1 = axpy(length, t0, scale(-1.0, chord)), axpy(length, t1, scale(-1.0, chord))
    swell = math.sqrt(dot(d0, d0)) + math.sqrt(dot(d1, d1))
    return scale(0.5, add(x0, x1)), 0.5 * math.sqrt(dot(chord, chord)) + BULGE * swell


@inline
def _inside(x):
    return min(max(x, 0.0), 1.0)


@part
def between_lines(p, d, q, e):
    """Distance between two straight lines, or less: from p to p + d, and from q to q + e; they may be points."""
    to = sub(p, q)
    a, b, c, f, g = dot(d, d), dot(d, e), dot(e, e), dot(d, to), dot(e, to)
    a, c, less = max(a, 1e-300), max(c, 1e-300), 0.0
    across = a * c - b * b
    if across > PARALLEL * PARALLEL * a * c:
        s = _inside((b * g - f * c) / across)
    else:  # where it is least is unknown, how large it is nearly
        s, less = _inside(-f / a), PARALLEL * math.sqrt(min(a, c))
    t = _inside((g + b * s) / c)
    s = _inside((b * t - f) / a)
    t = _inside((g + b * s) / c)
    way = axpy(s, d, axpy(-t, e, to))
    return math.sqrt(dot(way, way)) - less
