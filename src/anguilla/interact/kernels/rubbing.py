"""Friction of tendons against their guides: Coulomb's, with bristles.

Of the tension at the drawn end of a line the part exp(-mu sum z theta) is left at a place, with theta the angles that the
line turns by on the way there: between Gauss points of rods, and at the frames that it passes. z is 1 where the line slides
towards the drawn end (capstan), -1 where it slides back; where the sliding turns round, z follows bristles that bend over a
small length delta, z' = (w - |w| z) / delta with w the rate of sliding. So what is at rest is held, and friction takes energy
whichever way the line moves (but for the little that bristles keep). The far end is fixed: a line slides past a place by what
it gets shorter beyond it.

During a time step z follows from that at its start and the sliding since then, as part of the balance. In statics lines are
drawn in: z = 1, and factors are iterated until they settle.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, kernel, part
from anguilla.compiler.lanes import get3
from anguilla.interact.kernels.pairs import span
from anguilla.interact.kernels.tendon import line_at
from anguilla.mechanics.rodmap import LENGTH, SIX, STRAIN
from anguilla.mechanics.tree import N_R
from anguilla.mechanics.vec import add, axpy, cross, dot, load9, matvec, sub

GAUSS = 1.0 / math.sqrt(3.0)
BRISTLE = 1e-3  # delta as a part of the length of the line
UNKNOWN = 2.0  # z of a line of which nothing is known: it was drawn in
ZERO = (0.0, 0.0, 0.0)


@inline
def rubs(cables):
    """Whether any tendon has friction."""
    return len(cables.path) > 0


@inline
def _turn(t1, k1, t2, k2, distance):
    """Angle between the directions of a line at two sections: both change, and the section axes turn."""
    d = axpy(0.25 * distance, cross(add(k1, k2), add(t1, t2)), sub(t2, t1))
    return math.sqrt(dot(d, d))


@inline
def _corner(a, b):
    """Angle between two unit vectors."""
    less, more = sub(a, b), add(a, b)
    return 2.0 * math.atan2(math.sqrt(dot(less, less)), math.sqrt(dot(more, more)))


@inline
def _bent(z, slid, delta):
    """Bristle after the line has slid by so much, from z."""
    if z == UNKNOWN:
        return 1.0
    if slid >= 0.0:
        return 1.0 - (1.0 - z) * math.exp(-slid / delta)
    return (1.0 + z) * math.exp(slid / delta) - 1.0


@part
def _measure(tree, ws, cables, pairs):
    """Lengths of line from every place to the far end, into slips."""
    beyond = 0.0
    for p in range(len(cables.path) - 1, -1, -1):
        k = cables.path[p, 1]
        if p == len(cables.path) - 1 or cables.path[p + 1, 2] != cables.path[p, 2]:
            beyond = 0.0
        if cables.path[p, 0] == 1:
            beyond += span(ws.node, pairs, pairs.span[k, 0])[1]
        else:
            u = tree.record_at[cables.link[k, 0]] + STRAIN
            _, stretch, _, weight = line_at(cables, ws.local, k, 1, u + SIX)
            beyond += weight * stretch
            cables.slips[p, 1, 1] = beyond
            _, stretch, _, weight = line_at(cables, ws.local, k, 0, u)
            beyond += weight * stretch
        cables.slips[p, 0, 1] = beyond


@inline
def _loss(cables, p, side, angle, delta, moving):
    """mu z theta of one place; keeps its z."""
    z = 1.0
    if moving:
        z = _bent(cables.slip[p, side, 0], cables.slip[p, side, 1] - cables.slips[p, side, 1], delta)
    cables.slips[p, side, 0] = z
    return cables.friction[cables.path[p, 2]] * z * angle


@part
def rub(tree, ws, cables, pairs, moving):
    """Parts of the tension that are left along lines, at the present strains; of lines drawn in, if not moving."""
    local, node = ws.local, ws.node
    _measure(tree, ws, cables, pairs)
    loss, delta, gap, before = 0.0, 1.0, 0.0, -1  # before: kind of the place before, -1 for none
    t, kappa, out = ZERO, ZERO, ZERO  # direction and curvature there, in section axes; direction, world axes
    for p in range(len(cables.path)):
        kind, k = cables.path[p, 0], cables.path[p, 1]
        if p == 0 or cables.path[p - 1, 2] != cables.path[p, 2]:
            loss, delta, before = 0.0, BRISTLE * cables.slips[p, 0, 1], -1
        if kind == 1:
            along, angle = span(node, pairs, pairs.span[k, 0])[0], 0.0
            if before >= 0:
                angle = _corner(out, along)
            if before == 0:
                angle += _turn(t, kappa, t, kappa, gap)
            loss += _loss(cables, p, 0, angle, delta, moving)
            pairs.factor[k] = math.exp(-loss)
            out = along
        else:
            link = cables.link[k, 0]
            o = tree.record_at[link]
            u, h = o + STRAIN, local[o + LENGTH]
            lead = 0.5 * h * (1.0 - GAUSS)  # from the end of the interval to its Gauss point
            t1, k1 = line_at(cables, local, k, 0, u)[0], get3(local, u)
            t2, k2 = line_at(cables, local, k, 1, u + SIX)[0], get3(local, u + SIX)
            if before == 0:
                angle = _turn(t, kappa, t1, k1, gap + lead)
            else:
                angle = _turn(t1, k1, t1, k1, lead)
                if before == 1:
                    angle += _corner(out, matvec(load9(node, tree.parent[link], N_R), t1))
            loss += _loss(cables, p, 0, angle, delta, moving)
            cables.factor[k, 0] = math.exp(-loss)
            loss += _loss(cables, p, 1, _turn(t1, k1, t2, k2, h * GAUSS), delta, moving)
            cables.factor[k, 1] = math.exp(-loss)
            gap, t, kappa, out = lead, t2, k2, matvec(load9(node, link, N_R), t2)
        before = kind


@kernel
def set_friction(tree, ws, cables, pairs):
    """Parts of the tension that are left along lines that are drawn in, at the present strains."""
    rub(tree, ws, cables, pairs, False)


@kernel
def keep_rubbing(cables, mid):
    """Accept a step whose balance was taken at the part `mid` of it: bristles and lengths at its end start the next one."""
    delta = 1.0
    for p in range(len(cables.path)):
        if p == 0 or cables.path[p - 1, 2] != cables.path[p, 2]:
            delta = BRISTLE * cables.slips[p, 0, 1]
        for side in range(2 - cables.path[p, 0]):
            z, length = cables.slip[p, side, 0], cables.slip[p, side, 1]
            if z == UNKNOWN:
                length = cables.slips[p, side, 1]
            slid = (length - cables.slips[p, side, 1]) / mid
            cables.slip[p, side, 0], cables.slip[p, side, 1] = _bent(z, slid, delta), length - slid
