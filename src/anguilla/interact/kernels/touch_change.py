"""How contacts between parts change: their exact tangent, one coordinate at a time.

What a coordinate feels of a contact is Q = p . F + theta_a . M_a + theta_b . M_b, where the coordinate moves x against y by p
and turns the two sections by theta_a and theta_b. F and the moments change with the motion; p and theta_b do because the
contact moves along b, and because the vectors of the nodes turn. All of it follows, for each coordinate, from what it does to
the four nodes.
"""

from __future__ import annotations

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import FOUR, U
from anguilla.interact.kernels.distance import shape_curvature
from anguilla.interact.kernels.friction import friction_change
from anguilla.interact.kernels.nearest import arm, axis, blend, cubic, cubic_bend, cubic_slope
from anguilla.interact.kernels.pairs import PLACES, RATES, ROTATIONS, SPINS
from anguilla.interact.kernels.table import DAMPING, HITS, PAIR, SCALES, STIFF
from anguilla.interact.kernels.touch import (
    ARM,
    FORCE,
    FREE,
    LENGTH,
    MOMENT,
    SECOND,
    SHARE,
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
from anguilla.mechanics.vec import (
    add,
    axpy,
    cross,
    dot,
    load3,
    load9,
    matmul,
    matvec,
    scale,
    store3,
    sub,
    tmatvec,
    transpose,
)

# Touches.lane, what a coordinate does: p, rotations of the sections, change of y' and of theta_b along b, velocity of x
# against y, spins, rotations of the four nodes
P, TURN_A, TURN_B, SLOPE, TWIST, RATE, SPIN_A, SPIN_B, TURN, LANE = 0, 3, 6, 9, 12, 15, 18, 21, 24, 36
# Touches.change, what follows: of F, M_a, M_b and s, and of P of sliding and rolling (`friction.py`)
D_FORCE, D_A, D_B, D_S, D_RUB, D_ROLL, CHANGE = 0, 3, 6, 9, 10, 13, 16


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
                for x in range(U(3)):
                    for l in range(FOUR):
                        f = FOUR * x + l
                        jac[k, U(ROTATIONS) + x, l] = a[c + TH0 + f]
                        jac[k, U(SPINS) + x, l] = a[c + TH1 + f]
                        jac[k, U(PLACES) + x, l] = places[o + P0 + f]
                        jac[k, U(RATES) + x, l] = places[o + P1 + f]


@inline
def _raise(lane, j, at, s, x):
    """lane[j, at:] += s x."""
    store3(lane, j, at, axpy(s, x, load3(lane, j, at)))


@part
def _spread(node, pairs, touches, t, i, number, sign, a, b, w, t_i, slopes):
    """Add what all coordinates do to one node of a contact, with its weights and its vector, to their lanes."""
    lane, jac, v, pair = touches.lane, touches.jacobian, touches.slot[i], touches.table[t, PAIR]
    first, last, spin = pairs.table[pair, 2], pairs.table[pair, 3], load3(node, i, N_W)
    for k in range(touches.entry[v], touches.entry[v + 1]):
        at = first
        while at < last - 1 and pairs.pack[at] != touches.source[k, 0]:
            at += 1
        for l in range(pairs.lanes[at]):
            j = 4 * (at - first) + l
            theta = jac[k, ROTATIONS, l], jac[k, ROTATIONS + 1, l], jac[k, ROTATIONS + 2, l]
            way = jac[k, PLACES, l], jac[k, PLACES + 1, l], jac[k, PLACES + 2, l]
            rate = jac[k, RATES, l], jac[k, RATES + 1, l], jac[k, RATES + 2, l]
            turned = cross(theta, t_i)
            dspin = add((jac[k, SPINS, l], jac[k, SPINS + 1, l], jac[k, SPINS + 2, l]), cross(theta, spin))
            _raise(lane, j, P, sign * a, way)
            _raise(lane, j, P, sign * b, turned)
            _raise(lane, j, RATE, sign * a, rate)
            _raise(lane, j, RATE, sign * b, add(cross(dspin, t_i), cross(spin, turned)))
            _raise(lane, j, TURN_A if sign > 0.0 else TURN_B, w, theta)
            _raise(lane, j, SPIN_A if sign > 0.0 else SPIN_B, w, dspin)
            _raise(lane, j, SLOPE, slopes[0], way)
            _raise(lane, j, SLOPE, slopes[1], turned)
            _raise(lane, j, TWIST, slopes[2], theta)
            store3(lane, j, TURN + 3 * number, theta)


@part
def lanes_of(node, pairs, touches, e):
    """What all coordinates do to contact e."""
    t, c, k, m, s = touches.hits[e, 0], touches.hits[e, 1], touches.hits[e, 2], touches.hits[e, 3], touches.hit[e, S]
    i, j, w, second = touches.cluster[c, 2], touches.cluster[c, 3], weights_of(touches, k), touches.point[k, SECOND]
    touches.lane[:] = 0.0
    _spread(node, pairs, touches, t, i, 0, 1.0, w[0], w[2], 1.0 - second, arm(node, i, touches.point, k, ARM), ZERO)
    if j != i:
        _spread(node, pairs, touches, t, j, 1, 1.0, w[1], w[3], second, arm(node, j, touches.point, k, ARM), ZERO)
    if m < len(touches.curve):
        h, l, length = touches.curve[m, 0], touches.curve[m, 1], touches.span[m, LENGTH]
        w, d = cubic(s, length), cubic_slope(s, length)
        _spread(node, pairs, touches, t, h, 2, -1.0, w[0], w[2], 1.0 - s, axis(node, h), (d[0], d[2], -1.0))
        _spread(node, pairs, touches, t, l, 3, -1.0, w[1], w[3], s, axis(node, l), (d[1], d[3], 1.0))
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
def _axis_change(node, touches, e, j, ds):
    """How coordinate j changes the axis of scales of contact e (`scales_axis`), whose place changes by ds."""
    t, c, k, m, s = touches.hits[e, 0], touches.hits[e, 1], touches.hits[e, 2], touches.hits[e, 3], touches.hit[e, S]
    side, lane = touches.law[t, SCALES], touches.lane
    if side == 0.0:
        return ZERO
    if side > 0.0:
        second = touches.point[k, SECOND]
        first = cross(load3(lane, j, TURN), axis(node, touches.cluster[c, 2]))
        return axpy(
            second, cross(load3(lane, j, TURN + 3), axis(node, touches.cluster[c, 3])), scale(1.0 - second, first)
        )
    if m < len(touches.curve):
        h, l = axis(node, touches.curve[m, 0]), axis(node, touches.curve[m, 1])
        turned = axpy(s - 1.0, cross(load3(lane, j, TURN + 6), h), scale(-s, cross(load3(lane, j, TURN + 9), l)))
        return axpy(ds, sub(h, l), turned)
    return cross(axis(node, touches.body[m - len(touches.curve)]), load3(lane, j, TURN + 6))


@part
def changes_of(node, pairs, touches, e, dt):
    """Change of the wrench of contact e, and of its place, for every coordinate."""
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
    for j in range(4 * (pairs.table[pair, 3] - pairs.table[pair, 2])):
        p, dv, dspin_b, ds = load3(lane, j, P), load3(lane, j, RATE), load3(lane, j, SPIN_B), 0.0
        if curve:
            if touches.hit[e, FREE] == 1.0:
                ds = -(dot(p, slope) + reach * dot(n, load3(lane, j, SLOPE)) + wider * dot(n, p)) / steep
            away = axpy(-ds, slope, p)
            dn = scale(1.0 / reach, axpy(-dot(n, away), n, away))
            dreach = dot(n, away)
            dv, dspin_b = axpy(-ds, rate, dv), axpy(ds, twist, dspin_b)
            ddepth = wider * ds - dreach
        else:
            dn = add(cross(load3(lane, j, TURN_B), n), matvec(N, p))
            dreach = dot(n, p)
            dv = sub(dv, cross(spin_b, p))
            ddepth = -dreach
        drate = -dot(dn, v) - dot(n, dv)
        df = stiffness * (g1 * h * ddepth + g * h1 * damping * drate)
        step = dn, dv, load3(lane, j, SPIN_A), dspin_b, dreach, df, _axis_change(node, touches, e, j, ds)
        dT, dM, dP, dY = friction_change(touches, t, k, row, m + s, motion, d, step, dt)
        dF = add(axpy(df, n, scale(f, dn)), dT)
        dmoment = add(cross(axpy(dreach, n, scale(reach, dn)), force), cross(scale(reach, n), dF))
        store3(change, j, D_FORCE, dF)
        store3(change, j, D_A, axpy(-part_a, dmoment, dM))
        store3(change, j, D_B, sub(scale(part_b, dmoment), dM))
        change[j, D_S] = ds
        store3(change, j, D_RUB, dP)
        store3(change, j, D_ROLL, dY)


@inline
def _turning(a, b, t, force):
    """a . ((b x t) x force): how the moment of a force at a vector t changes as t turns."""
    return dot(a, t) * dot(b, force) - dot(a, b) * dot(t, force)


@part
def _add(node, pairs, touches, e, out, at, width, spread):
    """Subtract the change of Q of all coordinates from their rows."""
    t, c, k, m, s = touches.hits[e, 0], touches.hits[e, 1], touches.hits[e, 2], touches.hits[e, 3], touches.hit[e, S]
    lane, change, pair = touches.lane, touches.change, touches.table[t, PAIR]
    first, last, curve = pairs.table[pair, 2], pairs.table[pair, 3], m < len(touches.curve)
    x, n, _, _, _, _, reach, _, part_b = meeting(node, touches, c, k, m, s)
    force, w = load3(touches.hit, e, FORCE), weights_of(touches, k)
    moment_b = sub(scale(part_b * reach, cross(n, force)), load3(touches.hit, e, MOMENT))
    t0 = scale(w[2], arm(node, touches.cluster[c, 2], touches.point, k, ARM))
    t1 = scale(w[3], arm(node, touches.cluster[c, 3], touches.point, k, ARM))
    t3 = ZERO
    if curve:
        w = cubic(s, touches.span[m, LENGTH])
        t2, t3 = scale(-w[2], axis(node, touches.curve[m, 0])), scale(-w[3], axis(node, touches.curve[m, 1]))
    else:
        t2 = sub(load3(node, touches.body[m - len(touches.curve)], N_X), x)
    for b in range(first, last):
        for l in range(pairs.lanes[b]):
            j = 4 * (b - first) + l
            dF, dA, dB, ds = load3(change, j, D_FORCE), load3(change, j, D_A), load3(change, j, D_B), change[j, D_S]
            j0, j1, j2, j3 = (
                load3(lane, j, TURN),
                load3(lane, j, TURN + 3),
                load3(lane, j, TURN + 6),
                load3(lane, j, TURN + 9),
            )
            swing = ZERO if curve else cross(load3(lane, j, P), force)
            column = at + (4 * pairs.pack[b] if spread else pairs.lane_at[b] - pairs.lane_at[first]) + l
            for d in range(first, last):
                for r in range(pairs.lanes[d]):
                    i = 4 * (d - first) + r
                    turn_b = load3(lane, i, TURN_B)
                    total = dot(load3(lane, i, P), dF) + dot(load3(lane, i, TURN_A), dA) + dot(turn_b, dB)
                    total += ds * (dot(load3(lane, i, TWIST), moment_b) - dot(load3(lane, i, SLOPE), force))
                    total += _turning(load3(lane, i, TURN), j0, t0, force) + _turning(
                        load3(lane, i, TURN + 3), j1, t1, force
                    )
                    total += _turning(load3(lane, i, TURN + 6), j2, t2, force) + _turning(
                        load3(lane, i, TURN + 9), j3, t3, force
                    )
                    total -= dot(turn_b, swing)
                    own = 4 * pairs.pack[d] if spread else pairs.lane_at[d] - pairs.lane_at[first]
                    out[(own + r) * width + column] -= total


@part
def add_touching_tangent(node, pairs, touches, dt, matrix, width, whole):
    """Add the tangent of all contacts to the matrix of a robot of one block, or to what distant parts share."""
    for e in range(min(touches.count[HITS], len(touches.hits))):
        pair = touches.table[touches.hits[e, 0], PAIR]
        lanes_of(node, pairs, touches, e)
        changes_of(node, pairs, touches, e, dt)
        if whole:
            _add(node, pairs, touches, e, matrix, 0, width, True)
        else:
            own = pairs.lane_at[pairs.table[pair, 3]] - pairs.lane_at[pairs.table[pair, 2]]
            _add(node, pairs, touches, e, pairs.far, pairs.far_at[pair], own, False)
