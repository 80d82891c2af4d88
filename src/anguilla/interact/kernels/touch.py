"""Contact between parts: points of one against the centreline of a rod or the surface of a body, both of which move.

With x a point of part a with a ball of radius r around it, y the nearest point of the centreline of b, of radius R there,
n the unit vector from y to x and the depth d = r + R - |x - y|; or, on a body, d = r - phi with phi the distance from its
surface and n its normal,

    F = f n + T on a, -F on b,    f = k g(d) h(c d'),

as against obstacles fixed in space (`contact.py`). Both act at one point between the two, so that momentum and angular
momentum are kept. T is friction, and a moment resists rolling (`friction.py`). Points are spread along a rod, and each stands
for a share of its length: rods side by side push all along, crossed ones at their crossing with a force that grows as d^1.5
(Hertz).

A contact acts on up to four nodes: those of the interval of x, and those of y's. What it does is found in two steps: which
contacts there are, from a list of what can touch soon, which is renewed when something has moved far enough; then the wrench
of each.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.interact.kernels.contact import damped, pressed, stored
from anguilla.interact.kernels.distance import HALF_SPACE, SHAPE, SIDE
from anguilla.interact.kernels.friction import friction, grip_of
from anguilla.interact.kernels.gliding import (
    ARC,
    ARM,
    RADIUS,
    SECOND,
    SHARE,
    WEIGHTS,
    arm_at,
    glide_way,
    glides,
    gliding,
    leaning,
    surface,
)
from anguilla.interact.kernels.nearest import (
    BULGE,
    arm,
    axis,
    between_lines,
    bound,
    cubic,
    nearest,
    place,
    spin,
    velocity,
)
from anguilla.interact.kernels.table import (
    CLEAR,
    DAMPING,
    FIRST,
    HITS,
    ITSELF,
    KNOWN,
    LAST,
    NEAR,
    OWN,
    QUIET,
    SCALES,
    SEEN,
    SILENT,
    SINCE,
    SMOOTH,
    STIFF,
    UNTIL,
)
from anguilla.mechanics.tree import N_F, N_M, N_V, N_W, N_X
from anguilla.mechanics.vec import add, axpy, cross, dot, load3, scale, store3, sub

# Columns of Touches.span: length, radius at both ends, arc length of the first
LENGTH, THIN, THICK, START = range(4)
# Columns of Touches.hit: place s, 1 if it may move along, depth, force, point that it acts at, bristles of sliding and
# rolling, moment against rolling
S, FREE, DEPTH, FORCE, POINT, BRISTLE, ROLLED, MOMENT, HIT = 0, 1, 2, 3, 6, 9, 12, 15, 18
# Columns of Touches.told: power that a contact gives to the robot [W], energy that it keeps [J], force on its points [N],
# places times size of the force, that size, and the number of points that touch
POWER, ENERGY, PUSH, PLACE, SIZE, COUNT, TOLD = 0, 1, 2, 5, 8, 9, 10
CALM = 0.5  # of the square of the way that things may move before the list has to be made again
ROOM = 0.25  # of the skin, around things that do not touch in the next step
ENOUGH = 0.2  # of the longest rod: gaps that are wider need not be known
HALF = 0.5  # of the skin: points that are nearer to a chord than that, and what is around it, are looked at
CLOSE, STRAIGHT = 6, 0.71  # intervals along a rod that are near to each other; cosine of an angle
NOWHERE = -1e300  # depth of a point that has nothing near
FAR = 1e9  # [m] radius of a ball around what has no ends
# Columns of Touches.rest: place and axis of a node; and of Touches.free: how much nearer [m] balls may come to each other,
# and how far the end of an axis may move, before something may touch; the longest interval [m]
PLACE_THEN, AXIS_THEN, REST = 0, 3, 6
WAY, TURN, LONGEST, FREE_SIZE = range(4)
# Values of the second column of Touches.node: of a body; of a rod; of a rod, an interval behind the node in the row before
ALONE, ROD, NEXT = range(3)
ZERO = (0.0, 0.0, 0.0)


@inline
def _cluster_ball(node, touches, c):
    """Centre and radius of a ball around the points of a cluster."""
    centre, radius = bound(node, touches.cluster[c, 2], touches.cluster[c, 3], touches.reach[c, 0])
    return centre, radius + touches.reach[c, 1]


@inline
def _field_ball(node, touches, m):
    """Centre and radius of a ball around an interval, or a body; bodies are numbered behind the intervals."""
    if m < len(touches.curve):
        centre, radius = bound(node, touches.curve[m, 0], touches.curve[m, 1], touches.span[m, LENGTH])
        return centre, radius + max(touches.span[m, THIN], touches.span[m, THICK])
    b = m - len(touches.curve)
    return load3(node, touches.body[b], N_X), min(touches.size[b], FAR)


@inline
def _twins(touches, m):
    """Whether interval m and cluster m are the same piece of a rod, and the ball around the points contains the interval."""
    return (
        m < min(len(touches.curve), len(touches.cluster))
        and touches.curve[m, 0] == touches.cluster[m, 2]
        and touches.curve[m, 1] == touches.cluster[m, 3]
        and max(touches.span[m, THIN], touches.span[m, THICK]) <= touches.reach[m, 1]
    )


@part
def _balls(node, touches):
    """Balls around everything."""
    ball, clusters = touches.ball, len(touches.cluster)
    for k in range(len(ball)):
        if k < clusters:
            centre, radius = _cluster_ball(node, touches, k)
        elif _twins(touches, k - clusters):
            for x in range(4):
                ball[k, x] = ball[k - clusters, x]
            continue
        else:
            centre, radius = _field_ball(node, touches, k - clusters)
        store3(ball, k, 0, centre)
        ball[k, 3] = radius


@part
def _measure(node, touches):
    """Balls around everything; whether all that can touch is in the list. Notes whether that will stay so for a while."""
    ball, anchor, slack, clusters = touches.ball, touches.anchor, 0.5 * touches.skin[0], len(touches.cluster)
    same, calm = touches.count[KNOWN] == 1, True
    _balls(node, touches)
    for k in range(len(ball)):
        if k >= clusters and _twins(touches, k - clusters):
            continue
        way, room = sub(load3(ball, k, 0), load3(anchor, k, 0)), slack - (ball[k, 3] - anchor[k, 3])
        moved = dot(way, way)
        if not (room > 0.0 and moved < room * room):
            same = False
        if not moved < CALM * room * room:
            calm = False
    touches.count[QUIET] = 1 if same and calm else 0
    return same


@inline
def _nearing(apart, stretched, turned, longest):
    """How much nearer two balls may come (`bound`).

    Places move by `apart` against each other, the two ends of an interval by `stretched`, and ends of axes by `turned`.
    """
    return apart + (1.0 + 4.0 * BULGE) * stretched + 4.0 * BULGE * longest * turned


@part
def _still(node, touches):
    """Whether nodes have moved so little against each other since the list was made that nothing can touch.

    Once it is not so, it is not until a new list is made: what goes away and comes back may have passed something.
    """
    if not touches.free[WAY] > 0.0:
        return False
    low, high, last = (math.inf, math.inf, math.inf), (-math.inf, -math.inf, -math.inf), ZERO
    stretched, turned = 0.0, 0.0
    for v in range(len(touches.node)):
        i, kind = touches.node[v, 0], touches.node[v, 1]
        way = sub(load3(node, i, N_X), load3(touches.rest, v, PLACE_THEN))
        low = min(low[0], way[0]), min(low[1], way[1]), min(low[2], way[2])
        high = max(high[0], way[0]), max(high[1], way[1]), max(high[2], way[2])
        if kind != ALONE:
            bow, more = sub(axis(node, i), load3(touches.rest, v, AXIS_THEN)), sub(way, last)
            turned = max(turned, dot(bow, bow))
            if kind == NEXT:
                stretched = max(stretched, dot(more, more))
        last = way
    between = sub(high, low)
    apart, stretched, turned = math.sqrt(dot(between, between)), math.sqrt(stretched), math.sqrt(turned)
    if _nearing(apart, stretched, turned, touches.free[LONGEST]) < touches.free[WAY] and turned < touches.free[TURN]:
        return True
    touches.free[WAY] = 0.0
    return False


@inline
def hush(touches):
    """Leave out contacts in the next step, if there is room around everything and little moved; returns whether it is so.

    `hear` ends that, and `judge_meeting` looks again at the end of the step.
    """
    if touches.count[QUIET] == 1 or touches.count[QUIET] == 4:
        touches.count[QUIET], touches.count[HITS] = 2, 0
        return True
    return False


@inline
def hushed(touches):
    """Whether contacts are left out of the present step."""
    return touches.count[QUIET] == 2


@inline
def silent(touches):
    """Whether contacts are left out, and nothing of earlier ones is left."""
    return touches.count[QUIET] == 2 and touches.count[HITS] == 0 and touches.count[SILENT] == 1


@inline
def hear(touches):
    """Contacts count again."""
    touches.count[QUIET] = 3


@inline
def _meet(ball, c, m, more):
    """Whether the gap between two balls is less than `more`."""
    way, reach = sub(load3(ball, c, 0), load3(ball, m, 0)), ball[c, 3] + ball[m, 3] + more
    return dot(way, way) < reach * reach


@inline
def _drift(node, i, j, length, reach):
    """(velocity of the middle of two nodes, how much faster anything around them may be)."""
    v, u, w, z = load3(node, i, N_V), load3(node, j, N_V), load3(node, i, N_W), load3(node, j, N_W)
    apart = scale(0.5, sub(u, v))
    turning = max(math.sqrt(dot(w, w)), math.sqrt(dot(z, z)))
    arm = reach if i == j else 2.0 * BULGE * length  # what a rod has around its centreline turns on the spot
    return scale(0.5, add(u, v)), math.sqrt(dot(apart, apart)) + arm * turning


@inline
def as_far(node, touches, c, i):
    """How far a cluster reaches from a node."""
    way = sub(load3(touches.ball, c, 0), load3(node, i, N_X))
    return math.sqrt(dot(way, way)) + touches.ball[c, 3]


@inline
def _stops(touches, m):
    """Whether nothing goes through a surface: a half-space, or the solid around a hollow."""
    b = m - len(touches.curve)
    return b >= 0 and (touches.shape[b, SHAPE] == HALF_SPACE or touches.shape[b, SIDE] < 0.0)


@part
def _drifts(node, touches):
    """Velocities of all clusters, intervals and bodies, and how much faster parts of them may be; of a body, per reach."""
    clusters, curves = len(touches.cluster), len(touches.curve)
    for k in range(len(touches.drift)):
        if k < clusters:
            i, j, length, reach = touches.cluster[k, 2], touches.cluster[k, 3], touches.reach[k, 0], touches.reach[k, 1]
        elif k < clusters + curves:
            i, j = touches.curve[k - clusters, 0], touches.curve[k - clusters, 1]
            length, reach = touches.span[k - clusters, LENGTH], 0.0
        else:
            i = j = touches.body[k - clusters - curves]
            length, reach = 0.0, 1.0
        v, touches.drift[k, 3] = _drift(node, i, j, length, reach)
        store3(touches.drift, k, 0, v)


@inline
def _closing(node, touches, c, m):
    """The most that the speed of a cluster against an interval or a body can be."""
    k, b = len(touches.cluster) + m, m - len(touches.curve)
    v, more = sub(load3(touches.drift, c, 0), load3(touches.drift, k, 0)), touches.drift[k, 3]
    if b >= 0 and more > 0.0:
        more *= min(touches.size[b], as_far(node, touches, c, touches.body[b]))
    return math.sqrt(dot(v, v)) + touches.drift[c, 3] + more


@part
def may_have_met(node, touches, dt):
    """Whether two things moved against each other by more than the skin in a step, and are no further apart than that.

    Neighbours along a rod are not asked.
    """
    table, clusters, skin = touches.table, len(touches.cluster), touches.skin[0]
    _balls(node, touches)  # those of the list may be old
    _drifts(node, touches)
    for t in range(len(table)):
        for c in range(table[t, SINCE], table[t, UNTIL]):
            for m in range(table[t, FIRST], table[t, LAST]):
                apart = abs(m - table[t, FIRST] - (c - table[t, SINCE]))
                if table[t, ITSELF] == 2:  # the last interval of a ring is a neighbour of the first
                    apart = min(apart, table[t, LAST] - table[t, FIRST] - apart)
                if (table[t, ITSELF] == 0 or apart > 1) and not _stops(touches, m):
                    way = dt * _closing(node, touches, c, m)
                    if way > skin and _meet(touches.ball, c, clusters + m, way):
                        return True
    return False


@part
def _straightness(node, touches, t, c, m):
    """How much less a rod turns from one of its intervals to another one close by than it may without touching itself.

    By the least cosine; not positive if it turns farther, and of what is not close by. Where they are pi radii apart along
    the rod, they are 2.8 apart in space if two neighbours turn by less than a right angle together, and 2.2 if all in
    between turn by less than half of one.
    """
    if touches.table[t, ITSELF] == 0:
        return -1.0
    here, there = touches.table[t, FIRST] + c - touches.table[t, SINCE], m
    first, last = min(here, there), max(here, there)
    if last - first > CLOSE:
        return -1.0
    along, least, left = axis(node, touches.curve[first, 0]), 0.0 if last - first < 2 else STRAIGHT, 2.0
    for k in range(first, last + 1):
        left = min(left, dot(along, axis(node, touches.curve[k, 1])) - least)
        if not left > 0.0:
            return -1.0
    return left


@inline
def _cluster_capsule(node, touches, c):
    """(one end, way to the other one, radius around both) of what contains the points of a cluster."""
    i, j = touches.cluster[c, 2], touches.cluster[c, 3]
    start = load3(node, i, N_X)
    chord = sub(load3(node, j, N_X), start)
    return start, chord, touches.reach[c, 1] + _bulge(node, i, j, chord, touches.reach[c, 0])


@inline
def _field_capsule(node, touches, m):
    """The same of an interval, or a body."""
    if m < len(touches.curve):
        i, j = touches.curve[m, 0], touches.curve[m, 1]
        start = load3(node, i, N_X)
        chord = sub(load3(node, j, N_X), start)
        thick = max(touches.span[m, THIN], touches.span[m, THICK])
        return start, chord, thick + _bulge(node, i, j, chord, touches.span[m, LENGTH])
    b = m - len(touches.curve)
    return load3(node, touches.body[b], N_X), ZERO, min(touches.size[b], FAR)


@inline
def _bulge(node, i, j, chord, length):
    """How far a centreline is from its chord at most; nothing of a body (i = j)."""
    return bound(node, i, j, length)[1] - 0.5 * math.sqrt(dot(chord, chord))


@part
def _room(node, touches, c, m):
    """Gap between a cluster and an interval or a body at least: between their chords, less what is around these."""
    p, d, r = _cluster_capsule(node, touches, c)
    q, e, s = _field_capsule(node, touches, m)
    return between_lines(p, d, q, e) - r - s


@inline
def _lengths(touches):
    """The longest interval, of points or of a surface, and the longest rod [m]."""
    longest, whole = 0.0, 0.0
    for c in range(len(touches.reach)):
        longest = max(longest, touches.reach[c, 0])
    for m in range(len(touches.span)):
        longest, whole = (
            max(longest, touches.span[m, LENGTH]),
            max(whole, touches.span[m, START] + touches.span[m, LENGTH]),
        )
    return longest, whole


@part
def _search(node, touches):
    """List what can touch before something has moved by half of the skin; note how long nothing can, if that is longer."""
    ball, near, count, clusters, skin = touches.ball, touches.near, 0, len(touches.cluster), touches.skin[0]
    longest, whole = _lengths(touches)
    gap, turn = max(ENOUGH * whole, 2.0 * skin), FAR
    for t in range(len(touches.table)):
        for c in range(touches.table[t, SINCE], touches.table[t, UNTIL]):
            for m in range(touches.table[t, FIRST], touches.table[t, LAST]):
                if _meet(ball, c, clusters + m, skin):
                    if count < len(near):
                        near[count, 0], near[count, 1], near[count, 2] = t, c, m
                    count += 1
                if gap > skin and _meet(ball, c, clusters + m, gap):
                    bend = 0.5 * _straightness(node, touches, t, c, m)
                    if bend * whole < gap:  # what bends by that moves its end by about so much
                        room = _room(node, touches, c, m)
                        if bend * whole < room or bend < 0.0:
                            gap, bend = min(gap, room), FAR
                    turn = min(turn, bend)
    touches.count[NEAR], touches.count[KNOWN] = count, 1
    for k in range(len(ball)):
        for x in range(4):
            touches.anchor[k, x] = ball[k, x]
    touches.free[WAY], touches.free[TURN], touches.free[LONGEST] = 0.0, turn, longest
    if gap > skin:  # else the list is as good
        size = 0.0
        for v in range(len(touches.node)):
            x = load3(node, touches.node[v, 0], N_X)
            size += dot(x, x)
            store3(touches.rest, v, PLACE_THEN, x)
            store3(touches.rest, v, AXIS_THEN, axis(node, touches.node[v, 0]))
        if size < math.inf:  # a motion that went astray has no places
            touches.free[WAY] = gap - HALF * skin


@inline
def weights_of(touches, k):
    """Weights of the places and of the vectors of the two nodes of a point."""
    return (
        touches.point[k, WEIGHTS],
        touches.point[k, WEIGHTS + 1],
        touches.point[k, WEIGHTS + 2],
        touches.point[k, WEIGHTS + 3],
    )


@inline
def own_row(touches, t, c, k):
    """Where the memory of a point in a contact stands."""
    return touches.table[t, OWN] + k - touches.cluster[touches.table[t, SINCE], 0]


@part
def meeting(node, touches, c, k, m, s):
    """(x, n, depth, velocity of x against b, spins of a and b, reach, parts of it on both sides) of a contact.

    The reach D = r + R - d is |x - y|, or the distance of x from the surface. From the point where the contact acts to x, and
    to what moves with b, it is kappa_a D n and kappa_b D n.
    """
    i, j, w, r = touches.cluster[c, 2], touches.cluster[c, 3], weights_of(touches, k), touches.point[k, RADIUS]
    ti, tj = arm_at(node, touches, i, k, s), arm(node, j, touches.point, k, ARM)
    x, v, spin_a = (
        place(node, i, j, w, ti, tj),
        velocity(node, i, j, w, ti, tj),
        spin(node, i, j, touches.point[k, SECOND]),
    )
    if m < len(touches.curve):
        h, l, span = touches.curve[m, 0], touches.curve[m, 1], touches.span
        th, tl, w = axis(node, h), axis(node, l), cubic(s, span[m, LENGTH])
        away = sub(x, place(node, h, l, w, th, tl))
        reach = max(math.sqrt(dot(away, away)), 1e-150)
        n, depth = scale(1.0 / reach, away), r + span[m, THIN] + s * (span[m, THICK] - span[m, THIN]) - reach
        part_a = r / (r + 0.5 * (span[m, THIN] + span[m, THICK]))
        return (
            x,
            n,
            depth,
            sub(v, velocity(node, h, l, w, th, tl)),
            spin_a,
            spin(node, h, l, s),
            reach,
            part_a,
            part_a - 1.0,
        )
    b = m - len(touches.curve)
    reach, n = surface(node, touches, b, x)
    lacks = 0.0
    if glides(touches, k):
        lacks = 0.5 * leaning(touches, k, b) * ((2.0 * s - 1.0) * glide_way(node, touches, i, k)[1]) ** 2
    i = touches.body[b]
    to = sub(x, load3(node, i, N_X))
    return (
        x,
        n,
        r - reach - lacks,
        sub(v, velocity(node, i, i, (1.0, 0.0, 1.0, 0.0), to, to)),
        spin_a,
        spin(node, i, i, 0.0),
        reach,
        1.0,
        1.0,
    )


@part
def _visit(node, touches, t, c, m):
    """List the contacts of a cluster of points with an interval or a body; how deep every point is at most."""
    span, point, deep = touches.span, touches.point, touches.deep
    curve, itself = m < len(touches.curve), touches.table[t, ITSELF]
    i, j = touches.cluster[c, 2], touches.cluster[c, 3]
    ti, tj, start, chord, square, around = axis(node, i), axis(node, j), ZERO, ZERO, 1.0, 0.0
    if curve:  # what is further from the chord than the centreline and half of the skin is not near
        start, end = load3(node, touches.curve[m, 0], N_X), load3(node, touches.curve[m, 1], N_X)
        chord = sub(end, start)
        square = max(dot(chord, chord), 1e-300)
        bulge = bound(node, touches.curve[m, 0], touches.curve[m, 1], span[m, LENGTH])[1] - 0.5 * math.sqrt(square)
        around = max(span[m, THIN], span[m, THICK]) + bulge + HALF * touches.skin[0]
    for k in range(touches.cluster[c, 0], touches.cluster[c, 1]):
        s, free = 0.0, 0.0
        if curve:
            if itself == 1:  # a piece of the rod that is too close along it as a whole
                before = span[m, START] - point[k, ARC]
                if max(abs(before), abs(before + span[m, LENGTH])) < touches.law[t, CLEAR]:
                    continue
            if i == j:
                ti = tj = arm(node, i, point, k, ARM)
            x = place(node, i, j, weights_of(touches, k), ti, tj)
            to = sub(x, start)
            away = axpy(-min(max(dot(to, chord) / square, 0.0), 1.0), chord, to)
            if dot(away, away) > (around + point[k, RADIUS]) ** 2:
                continue
            first, last = m == touches.table[t, FIRST], m == touches.table[t, LAST] - 1
            between = touches.curve[m, 0], touches.curve[m, 1]
            wider = span[m, THICK] - span[m, THIN]
            found, s, free = nearest(node, *between, x, span[m, LENGTH], wider, first, last)
            if not found:
                continue
            if itself > 0:
                along, end = abs(span[m, START] + s * span[m, LENGTH] - point[k, ARC]), touches.table[t, LAST] - 1
                if itself == 2:  # the other way round is shorter
                    along = min(along, span[end, START] + span[end, LENGTH] - along)
                if along < touches.law[t, CLEAR]:
                    continue
        elif glides(touches, k):
            s, free = gliding(node, touches, c, k, m - len(touches.curve))
        _, n, depth, v, _, _, _, _, _ = meeting(node, touches, c, k, m, s)
        row = own_row(touches, t, c, k)
        if depth > deep[row, 0]:
            deep[row, 0], deep[row, 1] = depth, -dot(n, v)
            touches.count[SEEN] = 1
            store3(deep, row, 2, n)
        if depth > 0.0:
            at = touches.count[HITS]
            if at < len(touches.hits):
                touches.hits[at, 0], touches.hits[at, 1], touches.hits[at, 2], touches.hits[at, 3] = t, c, k, m
                touches.hit[at, S], touches.hit[at, FREE], touches.hit[at, DEPTH] = s, free, depth
            touches.count[HITS] = at + 1


@inline
def _smooth(node, touches, t, c, m):
    """Whether a rod hardly turns from one of its intervals to another one close by: then they do not touch."""
    return _straightness(node, touches, t, c, m) > 0.0


@part
def find_touching(node, touches):
    """List all contacts at the present motion."""
    if touches.count[QUIET] == 2:
        return
    touches.count[HITS] = 0
    if touches.count[SEEN] == 1:
        for row in range(len(touches.deep)):
            touches.deep[row, 0] = NOWHERE
        touches.count[SEEN] = 0
    if _still(node, touches):
        touches.count[QUIET] = 1
        return
    left_out = touches.count[QUIET] == 3
    if not _measure(node, touches) or (
        left_out and touches.count[QUIET] == 0
    ):  # a new list lets them be left out again
        _search(node, touches)
        touches.count[QUIET] = 4
    clusters = len(touches.cluster)
    if touches.count[NEAR] <= len(touches.near):
        for e in range(touches.count[NEAR]):
            t, c, m = touches.near[e, 0], touches.near[e, 1], touches.near[e, 2]
            if _meet(touches.ball, c, clusters + m, ROOM * touches.skin[0]) and not _smooth(node, touches, t, c, m):
                if _room(node, touches, c, m) < HALF * touches.skin[0]:
                    touches.count[QUIET] = 0
                    if _meet(touches.ball, c, clusters + m, 0.0):
                        _visit(node, touches, t, c, m)
    else:  # more than fit in the list
        touches.count[QUIET] = 0
        for t in range(len(touches.table)):
            for c in range(touches.table[t, SINCE], touches.table[t, UNTIL]):
                for m in range(touches.table[t, FIRST], touches.table[t, LAST]):
                    if _meet(touches.ball, c, clusters + m, 0.0) and not _smooth(node, touches, t, c, m):
                        _visit(node, touches, t, c, m)


@inline
def _act(node, touches, i, force, moment):
    """An external wrench on a node."""
    store3(node, i, N_F, sub(load3(node, i, N_F), force))
    store3(node, i, N_M, sub(load3(node, i, N_M), moment))
    v = touches.slot[i]
    store3(touches.wrench, v, 0, add(load3(touches.wrench, v, 0), moment))
    store3(touches.wrench, v, 3, add(load3(touches.wrench, v, 3), force))


@part
def pushing(touches, t, k, depth, rate):
    """f, with g, g', h and h'."""
    g, g1 = pressed(depth, touches.law[t, SMOOTH])
    h, h1 = damped(touches.law[t, DAMPING] * rate)
    return touches.law[t, STIFF] * touches.point[k, SHARE] * g * h, g, g1, h, h1


@inline
def kept_energy(touches, t, k, depth):
    """Energy of a contact, without its bristles."""
    return touches.law[t, STIFF] * touches.point[k, SHARE] * stored(depth, touches.law[t, SMOOTH])


@part
def scales_axis(node, touches, t, c, k, m, s):
    """Axis of the section with scales, turned round if it is not that of the points; zero if there are none."""
    if touches.law[t, SCALES] == 0.0:
        return ZERO
    if touches.law[t, SCALES] > 0.0:
        second = touches.point[k, SECOND]
        return axpy(1.0 - second, axis(node, touches.cluster[c, 2]), scale(second, axis(node, touches.cluster[c, 3])))
    if m < len(touches.curve):
        return axpy(s - 1.0, axis(node, touches.curve[m, 0]), scale(-s, axis(node, touches.curve[m, 1])))
    return scale(-1.0, axis(node, touches.body[m - len(touches.curve)]))


@part
def add_touching(node, dt, touches):
    """Subtract the wrenches of all contacts from the balance of their nodes."""
    if touches.count[HITS] == 0 and touches.count[SILENT] == 1:
        return
    touches.wrench[:] = 0.0
    touches.told[:] = 0.0
    touches.count[SILENT] = 1 if touches.count[HITS] == 0 else 0
    if touches.count[HITS] > len(touches.hits):  # more than there is room for: said by a residual that is no number
        node[touches.cluster[0, 3], N_F] = math.nan
        return
    for e in range(touches.count[HITS]):
        t, c, k, m, s = (
            touches.hits[e, 0],
            touches.hits[e, 1],
            touches.hits[e, 2],
            touches.hits[e, 3],
            touches.hit[e, S],
        )
        x, n, depth, v, spin_a, spin_b, reach, part_a, part_b = meeting(node, touches, c, k, m, s)
        f, _, _, _, _ = pushing(touches, t, k, depth, -dot(n, v))
        row = own_row(touches, t, c, k)
        motion, d = (n, v, spin_a, spin_b, reach, part_a, part_b, f), scales_axis(node, touches, t, c, k, m, s)
        rub, stay, bristle, rolled = friction(touches, t, k, row, m + s, motion, d, dt)
        force = axpy(f, n, rub)
        moment = cross(scale(reach, n), force)
        store3(touches.hit, e, FORCE, force)
        store3(touches.hit, e, POINT, axpy(-part_a * reach, n, x))
        store3(touches.hit, e, BRISTLE, bristle)
        store3(touches.hit, e, ROLLED, rolled)
        store3(touches.hit, e, MOMENT, stay)
        turning = axpy(-part_b, spin_b, scale(part_a, spin_a))
        told, push = touches.told, math.sqrt(dot(force, force))
        told[t, POWER] += dot(force, v) - dot(moment, turning) + dot(stay, sub(spin_a, spin_b))
        bent = 0.5 * (grip_of(touches, t, k) * dot(rolled, rolled) - dot(rub, bristle))
        told[t, ENERGY] += kept_energy(touches, t, k, depth) + bent
        store3(told, t, PUSH, add(load3(told, t, PUSH), force))
        store3(told, t, PLACE, axpy(push, load3(touches.hit, e, POINT), load3(told, t, PLACE)))
        told[t, SIZE] += push
        told[t, COUNT] += 1.0
        i, j, w, second = touches.cluster[c, 2], touches.cluster[c, 3], weights_of(touches, k), touches.point[k, SECOND]
        ti, tj = arm_at(node, touches, i, k, s), arm(node, j, touches.point, k, ARM)
        more = axpy(-part_a, moment, stay)
        _act(node, touches, i, scale(w[0], force), axpy(w[2], cross(ti, force), scale(1.0 - second, more)))
        if j != i:
            _act(node, touches, j, scale(w[1], force), axpy(w[3], cross(tj, force), scale(second, more)))
        more = sub(scale(part_b, moment), stay)
        if m < len(touches.curve):
            h, l, w = touches.curve[m, 0], touches.curve[m, 1], cubic(s, touches.span[m, LENGTH])
            _act(node, touches, h, scale(-w[0], force), axpy(-w[2], cross(axis(node, h), force), scale(1.0 - s, more)))
            _act(node, touches, l, scale(-w[1], force), axpy(-w[3], cross(axis(node, l), force), scale(s, more)))
        else:
            i = touches.body[m - len(touches.curve)]
            _act(node, touches, i, scale(-1.0, force), add(more, cross(force, sub(x, load3(node, i, N_X)))))
