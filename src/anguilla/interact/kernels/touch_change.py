"""How contacts between parts change: their exact tangent, four coordinates at a time.

A contact acts on its nodes with weights of F, with the moments of F at their vectors, and with shares of M_a or M_b, moments
on the two sections. A coordinate moves x against y by p, and turns sections and nodes. F and the moments change with that; so
do weights and shares on b, because the contact moves along b, and the vectors of the nodes, which turn. What all contacts of
a pair change on a node is summed up before it goes to the rows of the coordinates that move the node: a contact costs no more
than there are coordinates.
"""

from __future__ import annotations

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import FOUR, U
from anguilla.compiler.simd import lay, lay3, spread, take, take3
from anguilla.interact.kernels.distance import shape_curvature
from anguilla.interact.kernels.friction import friction_change
from anguilla.interact.kernels.gliding import ARM, GLIDE, SECOND, SHARE, arm_at, glide_way, glides, leaning
from anguilla.interact.kernels.nearest import arm, axis, blend, cubic, cubic_bend, cubic_slope
from anguilla.interact.kernels.pairs import PLACES, RATES, ROTATIONS, SPINS
from anguilla.interact.kernels.table import DAMPING, HITS, PAIR, SCALES, STIFF
from anguilla.interact.kernels.touch import (
    FORCE,
    FREE,
    LENGTH,
    MOMENT,
    THICK,
    THIN,
    ZERO,
    S,
    meeting,
    own_row,
    pushing,
    scales_axis,
    weights_of,
)
from anguilla.mechanics.tree import N_R, N_V, N_W, N_X, P0, P1, TH0, TH1
from anguilla.mechanics.vec import add, axpy, cross, dot, load3, load9, matmul, matvec, scale, sub, tmatvec, transpose

# Touches.lane, what a coordinate does: p, rotations of the sections, change of y', velocity of x against y, spins,
# rotations of the four nodes
P, TURN_A, TURN_B, SLOPE, RATE, SPIN_A, SPIN_B, TURN, LANE = 0, 3, 6, 9, 12, 15, 18, 21, 33
# Touches.change, what follows: of F, M_a, M_b and s, and of P of sliding and rolling (`friction.py`)
D_FORCE, D_A, D_B, D_S, D_RUB, D_ROLL, CHANGE = 0, 3, 6, 9, 10, 13, 16
D_MOMENT, D_PUSH, WRENCH = 0, 3, 6  # Touches.turn


@part
def mark_touching(touches):
    """Say of which nodes the columns are needed."""
    touches.used[:] = 0
    for e in range(min(touches.count[HITS], len(touches.hits))):
        c, m = touches.hits[e, 1], touches.hits[e, 3]
        touches.used[touches.slot[touches.cluster[c, 2]]] = 1
        touches.used[touches.slot[touches.cluster[c, 3]]] = 1
        if m < len(touches.curve):
            touches.used[touches.slot[touches.curve[m, 0]]] = 1
            touches.used[touches.slot[touches.curve[m, 1]]] = 1
        else:
            touches.used[touches.slot[touches.body[m - len(touches.curve)]]] = 1


@part
def gather_touching(a, places, touches, block):
    """Columns of the nodes on a block that contacts act on."""
    jac = touches.jacobian
    for v in range(touches.at[block], touches.at[block + 1]):
        if touches.used[v] == 1:
            for k in range(touches.entry[v], touches.entry[v + 1]):
                c, o = touches.source[k, 1], touches.source[k, 2]
                lay3(jac, _of_node(k, ROTATIONS), take3(a, c + TH0))
                lay3(jac, _of_node(k, SPINS), take3(a, c + TH1))
                lay3(jac, _of_node(k, PLACES), take3(places, o + P0))
                lay3(jac, _of_node(k, RATES), take3(places, o + P1))


@inline
def _of_node(k, at):
    """Where rows of a node's Jacobian stand, for the four coordinates of entry k."""
    return FOUR * U(12 * k + at)


@inline
def _of_lane(p, at):
    """Where a field of `lane` stands, for the four coordinates of pack p of a pair."""
    return FOUR * U(LANE * p + at)


@inline
def _of_change(p, at):
    """The same of `change`."""
    return FOUR * U(CHANGE * p + at)


@inline
def _of_turn(touches, row, p, at):
    """The same of `turn`, of the node with a row there."""
    return FOUR * U(WRENCH * (row * touches.turn.shape[1] + p) + at)


@inline
def _raise(a, o, s, x):
    """Add s x to four three-vectors at offset o."""
    lay3(a, o, axpy(s, x, take3(a, o)))


@inline
def _next(pairs, first, last, at, pack):
    """Place of a pack among those of a pair, from `first` to `last`, that is most likely the one behind `at`."""
    while pairs.pack[at] != pack:
        at = at + 1 if at + 1 < last else first
    return at


@part
def _spread(node, pairs, touches, t, i, number, sign, a, b, w, t_i, slopes):
    """Add what all coordinates do to one node of a contact, with its weights and its vector, to their lanes."""
    lane, jac, v, pair = touches.lane, touches.jacobian, touches.slot[i], touches.table[t, PAIR]
    first, last, spin = pairs.table[pair, 2], pairs.table[pair, 3], load3(node, i, N_W)
    at = first
    for k in range(touches.entry[v], touches.entry[v + 1]):
        at = _next(pairs, first, last, at, int(touches.source[k, 0]))
        p = at - first
        theta, way = take3(jac, _of_node(k, ROTATIONS)), take3(jac, _of_node(k, PLACES))
        turned, rate = cross(theta, t_i), take3(jac, _of_node(k, RATES))
        dspin = add(take3(jac, _of_node(k, SPINS)), cross(theta, spin))
        moved = axpy(sign * a, way, scale(sign * b, turned))
        sped = axpy(sign * a, rate, scale(sign * b, add(cross(dspin, t_i), cross(spin, turned))))
        _raise(lane, _of_lane(p, P), 1.0, moved)
        _raise(lane, _of_lane(p, RATE), 1.0, sped)
        _raise(lane, _of_lane(p, TURN_A if sign > 0.0 else TURN_B), w, theta)
        _raise(lane, _of_lane(p, SPIN_A if sign > 0.0 else SPIN_B), w, dspin)
        _raise(lane, _of_lane(p, SLOPE), 1.0, axpy(slopes[0], way, scale(slopes[1], turned)))
        lay3(lane, _of_lane(p, TURN + 3 * number), theta)


@part
def lanes_of(node, pairs, touches, e):
    """What all coordinates do to contact e."""
    t, c, k, m, s = touches.hits[e, 0], touches.hits[e, 1], touches.hits[e, 2], touches.hits[e, 3], touches.hit[e, S]
    i, j, w, second = touches.cluster[c, 2], touches.cluster[c, 3], weights_of(touches, k), touches.point[k, SECOND]
    pair = touches.table[t, PAIR]
    for n in range(LANE * (pairs.table[pair, 3] - pairs.table[pair, 2])):
        lay(touches.lane, FOUR * U(n), 0.0)
    _spread(node, pairs, touches, t, i, 0, 1.0, w[0], w[2], 1.0 - second, arm_at(node, touches, i, k, s), ZERO)
    if j != i:
        _spread(node, pairs, touches, t, j, 1, 1.0, w[1], w[3], second, arm(node, j, touches.point, k, ARM), ZERO)
    if m < len(touches.curve):
        h, l, length = touches.curve[m, 0], touches.curve[m, 1], touches.span[m, LENGTH]
        w, d = cubic(s, length), cubic_slope(s, length)
        _spread(node, pairs, touches, t, h, 2, -1.0, w[0], w[2], 1.0 - s, axis(node, h), (d[0], d[2], 0.0))
        _spread(node, pairs, touches, t, l, 3, -1.0, w[1], w[3], s, axis(node, l), (d[1], d[3], 0.0))
    else:
        i = touches.body[m - len(touches.curve)]
        x = meeting(node, touches, c, k, m, s)[0]
        _spread(node, pairs, touches, t, i, 2, -1.0, 1.0, 1.0, 1.0, sub(x, load3(node, i, N_X)), ZERO)


@part
def _along(node, touches, m, s):
    """(y', y'', its velocity's derivative along b, that of b's spin) on a rod."""
    h, l, length = touches.curve[m, 0], touches.curve[m, 1], touches.span[m, LENGTH]
    th, tl, xh, xl = axis(node, h), axis(node, l), load3(node, h, N_X), load3(node, l, N_X)
    wh, wl, d = load3(node, h, N_W), load3(node, l, N_W), cubic_slope(s, length)
    rate = blend(d, load3(node, h, N_V), load3(node, l, N_V), cross(wh, th), cross(wl, tl))
    return blend(d, xh, xl, th, tl), blend(cubic_bend(s, length), xh, xl, th, tl), rate, sub(wl, wh)


@part
def _axis_change(node, touches, e, p, ds):
    """How the coordinates of pack p change the axis of scales of contact e (`scales_axis`), whose place changes by ds."""
    t, c, k, m, s = touches.hits[e, 0], touches.hits[e, 1], touches.hits[e, 2], touches.hits[e, 3], touches.hit[e, S]
    side, lane = touches.law[t, SCALES], touches.lane
    if side == 0.0:
        return spread(0.0), spread(0.0), spread(0.0)
    if side > 0.0:
        second = touches.point[k, SECOND]
        first = cross(take3(lane, _of_lane(p, TURN)), axis(node, touches.cluster[c, 2]))
        return axpy(
            second,
            cross(take3(lane, _of_lane(p, TURN + 3)), axis(node, touches.cluster[c, 3])),
            scale(1.0 - second, first),
        )
    if m < len(touches.curve):
        h, l = axis(node, touches.curve[m, 0]), axis(node, touches.curve[m, 1])
        turned = axpy(
            s - 1.0,
            cross(take3(lane, _of_lane(p, TURN + 6)), h),
            scale(-s, cross(take3(lane, _of_lane(p, TURN + 9)), l)),
        )
        return axpy(ds, sub(h, l), turned)
    return cross(axis(node, touches.body[m - len(touches.curve)]), take3(lane, _of_lane(p, TURN + 6)))


@part
def changes_of(node, pairs, touches, e, dt):
    """Change of the wrench of contact e, and of its place, for all coordinates."""
    t, c, k, m, s = touches.hits[e, 0], touches.hits[e, 1], touches.hits[e, 2], touches.hits[e, 3], touches.hit[e, S]
    lane, change, curve, pair = touches.lane, touches.change, m < len(touches.curve), touches.table[t, PAIR]
    x, n, depth, v, spin_a, spin_b, reach, part_a, part_b = meeting(node, touches, c, k, m, s)
    f, g, g1, h, h1 = pushing(touches, t, k, depth, -dot(n, v))
    force, stiffness, damping = (
        load3(touches.hit, e, FORCE),
        touches.law[t, STIFF] * touches.point[k, SHARE],
        touches.law[t, DAMPING],
    )
    motion, row = (n, v, spin_a, spin_b, reach, part_a, part_b, f), own_row(touches, t, c, k)
    d = scales_axis(node, touches, t, c, k, m, s)
    slope, rate, twist, wider, steep, N = ZERO, ZERO, ZERO, 0.0, 1.0, load9(node, 0, N_R)
    free = touches.hit[e, FREE] == 1.0
    if curve:
        slope, bend, rate, twist = _along(node, touches, m, s)
        wider = touches.span[m, THICK] - touches.span[m, THIN]
        steep = reach * dot(n, bend) - dot(slope, slope) - wider * dot(n, slope)
    else:
        b = m - len(touches.curve)
        i = touches.body[b]
        R = load9(node, i, N_R)
        local = tmatvec(R, sub(x, load3(node, i, N_X)))
        N = matmul(matmul(R, shape_curvature(local, tmatvec(R, n), touches.shape, b, touches.grid)), transpose(R))
        if free:  # the point glides along its own line
            along, half = glide_way(node, touches, touches.cluster[c, 2], k)
            slope = scale(2.0 * half, along)
            rate = cross(spin_a, slope)
            steep = dot(slope, matvec(N, slope)) + leaning(touches, k, b) * dot(slope, slope)
    for q in range(pairs.table[pair, 3] - pairs.table[pair, 2]):
        p, dv, ds = take3(lane, _of_lane(q, P)), take3(lane, _of_lane(q, RATE)), spread(0.0)
        dspin_a, dspin_b = take3(lane, _of_lane(q, SPIN_A)), take3(lane, _of_lane(q, SPIN_B))
        if curve:
            if free:
                along = dot(p, slope) + reach * dot(n, take3(lane, _of_lane(q, SLOPE))) + wider * dot(n, p)
                ds = (-1.0 / steep) * along
            away = axpy(-ds, slope, p)
            dn = scale(1.0 / reach, axpy(-dot(n, away), n, away))
            dreach = dot(n, away)
            dv, dspin_b = axpy(-ds, rate, dv), axpy(ds, twist, dspin_b)
            ddepth = wider * ds - dreach
        else:
            turned, ddepth = cross(take3(lane, _of_lane(q, TURN_B)), n), -1.0 * dot(n, p)
            if free:
                turning = cross(take3(lane, _of_lane(q, TURN_A)), slope)
                ds = (-1.0 / steep) * (dot(slope, turned) + dot(slope, matvec(N, p)) + dot(n, turning))
                p, dv = axpy(ds, slope, p), axpy(ds, rate, dv)
            dn = add(turned, matvec(N, p))
            dreach = dot(n, p)
            dv = sub(dv, cross(spin_b, p))
        drate = -dot(dn, v) - dot(n, dv)
        df = stiffness * (g1 * h * ddepth + g * h1 * damping * drate)
        step = dn, dv, dspin_a, dspin_b, dreach, df, _axis_change(node, touches, e, q, ds)
        dT, dM, dP, dY = friction_change(touches, t, k, row, m + s, motion, d, step, dt)
        dF = add(axpy(df, n, scale(f, dn)), dT)
        dmoment = add(cross(axpy(dreach, n, scale(reach, dn)), force), cross(scale(reach, n), dF))
        lay3(change, _of_change(q, D_FORCE), dF)
        lay3(change, _of_change(q, D_A), axpy(-part_a, dmoment, dM))
        lay3(change, _of_change(q, D_B), sub(scale(part_b, dmoment), dM))
        lay(change, _of_change(q, D_S), ds)
        lay3(change, _of_change(q, D_RUB), dP)
        lay3(change, _of_change(q, D_ROLL), dY)


@part
def _seat(pairs, touches, pair, i):
    """Row of `turn` of a node, which is empty at first."""
    v, packs = touches.slot[i], pairs.table[pair, 3] - pairs.table[pair, 2]
    if touches.seat[v] < 0:
        row = touches.seated[0]
        touches.seat[v], touches.seated[row + 1], touches.seated[0] = row, v, row + 1
        for p in range(packs):
            for x in range(WRENCH):
                lay(touches.turn, _of_turn(touches, row, p, x), 0.0)
    return touches.seat[v]


@part
def _add_node(pairs, touches, pair, i, number, weight, vector, share, along, force, moment):
    """Add what a contact changes on one of its nodes to that of the others there.

    The contact acts with weight F, the moment of that at `vector` from the node, which turns with the node, and share times a
    moment, M_a or M_b. `along` is how weight, weight times vector and share change along b, or along the line of a point.
    """
    row, lane, change, turn = _seat(pairs, touches, pair, i), touches.lane, touches.change, touches.turn
    own, lever = D_A if number < 2 else D_B, scale(weight[1], vector)
    pull = axpy(along[2], moment, cross(along[1], force))
    for p in range(pairs.table[pair, 3] - pairs.table[pair, 2]):
        dF, ds = take3(change, _of_change(p, D_FORCE)), take(change, _of_change(p, D_S))
        turned = cross(take3(lane, _of_lane(p, TURN + 3 * number)), lever)
        twist = axpy(share, take3(change, _of_change(p, own)), add(cross(lever, dF), cross(turned, force)))
        _raise(turn, _of_turn(touches, row, p, D_MOMENT), 1.0, axpy(ds, pull, twist))
        _raise(turn, _of_turn(touches, row, p, D_PUSH), 1.0, axpy(along[0] * ds, force, scale(weight[0], dF)))


@part
def _add_nodes(node, pairs, touches, e):
    """Add what contact e changes on its nodes."""
    t, c, k, m, s = touches.hits[e, 0], touches.hits[e, 1], touches.hits[e, 2], touches.hits[e, 3], touches.hit[e, S]
    i, j, w, second = touches.cluster[c, 2], touches.cluster[c, 3], weights_of(touches, k), touches.point[k, SECOND]
    force, pair = load3(touches.hit, e, FORCE), touches.table[t, PAIR]
    x, n, _, _, _, _, reach, _, part_b = meeting(node, touches, c, k, m, s)
    moment = sub(scale(part_b * reach, cross(n, force)), load3(touches.hit, e, MOMENT))
    ti, tj = arm_at(node, touches, i, k, s), arm(node, j, touches.point, k, ARM)
    still, along = (0.0, ZERO, 0.0), ZERO
    if glides(touches, k) and touches.hit[e, FREE] == 1.0:
        along = scale(2.0, arm(node, i, touches.point, k, GLIDE))
    _add_node(pairs, touches, pair, i, 0, (w[0], w[2]), ti, 1.0 - second, (0.0, along, 0.0), force, ZERO)
    if j != i:
        _add_node(pairs, touches, pair, j, 1, (w[1], w[3]), tj, second, still, force, ZERO)
    if m < len(touches.curve):
        h, l, length = touches.curve[m, 0], touches.curve[m, 1], touches.span[m, LENGTH]
        w, d, th, tl = cubic(s, length), cubic_slope(s, length), axis(node, h), axis(node, l)
        first, last = (-d[0], scale(-d[2], th), -1.0), (-d[1], scale(-d[3], tl), 1.0)
        _add_node(pairs, touches, pair, h, 2, (-w[0], -w[2]), th, 1.0 - s, first, force, moment)
        _add_node(pairs, touches, pair, l, 3, (-w[1], -w[3]), tl, s, last, force, moment)
        return
    i = touches.body[m - len(touches.curve)]
    _add_node(pairs, touches, pair, i, 2, (-1.0, -1.0), sub(x, load3(node, i, N_X)), 1.0, still, force, ZERO)
    row, turn = touches.seat[touches.slot[i]], touches.turn
    for p in range(
        pairs.table[pair, 3] - pairs.table[pair, 2]
    ):  # x moves along the body: the vector does not only turn
        way = axpy(take(touches.change, _of_change(p, D_S)), along, take3(touches.lane, _of_lane(p, P)))
        _raise(turn, _of_turn(touches, row, p, D_MOMENT), -1.0, cross(way, force))


@part
def _add_rows(pairs, touches, pair, out, at, width, whole):
    """Subtract the changes on all nodes of a pair from the rows of the coordinates that move them."""
    first, last, jac = pairs.table[pair, 2], pairs.table[pair, 3], touches.jacobian
    for row in range(touches.seated[0]):
        v, d = touches.seated[row + 1], first
        touches.seat[v] = -1
        for k in range(touches.entry[v], touches.entry[v + 1]):
            d = _next(pairs, first, last, d, int(touches.source[k, 0]))
            for r in range(pairs.lanes[d]):
                theta = jac[k, ROTATIONS, r], jac[k, ROTATIONS + 1, r], jac[k, ROTATIONS + 2, r]
                way = jac[k, PLACES, r], jac[k, PLACES + 1, r], jac[k, PLACES + 2, r]
                own = at + width * (r + (4 * pairs.pack[d] if whole else pairs.lane_at[d] - pairs.lane_at[first]))
                for b in range(first, last):
                    turned = take3(touches.turn, _of_turn(touches, row, b - first, D_MOMENT))
                    pushed = take3(touches.turn, _of_turn(touches, row, b - first, D_PUSH))
                    more = dot(theta, turned) + dot(way, pushed)
                    if whole:
                        o = U(own + 4 * pairs.pack[b])
                        lay(out, o, take(out, o) - more)
                    else:
                        lay(touches.change, U(0), more)
                        for l in range(pairs.lanes[b]):
                            out[own + pairs.lane_at[b] - pairs.lane_at[first] + l] -= touches.change[0, 0, l]
    touches.seated[0] = 0


@part
def add_touching_tangent(node, pairs, touches, dt, matrix, width, whole):
    """Add the tangent of all contacts to the matrix of a robot of one block, or to what distant parts share."""
    hits = min(touches.count[HITS], len(touches.hits))
    for e in range(hits):
        lanes_of(node, pairs, touches, e)
        changes_of(node, pairs, touches, e, dt)
        _add_nodes(node, pairs, touches, e)
        pair = touches.table[touches.hits[e, 0], PAIR]
        if e == hits - 1 or touches.table[touches.hits[e + 1, 0], PAIR] != pair:
            if whole:
                _add_rows(pairs, touches, pair, matrix, 0, width, True)
            else:
                own = pairs.lane_at[pairs.table[pair, 3]] - pairs.lane_at[pairs.table[pair, 2]]
                _add_rows(pairs, touches, pair, pairs.far, pairs.far_at[pair], own, False)
