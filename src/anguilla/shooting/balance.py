"""The conditions at the ends of segments, compiled: continuity of the motion and balance of the wrenches, with tangents.

Unknowns of segment s: its start state, as increments (zeta, [eta, eta-dot,] Lambda). Its equations:

    K: start = end of the parent moved through a pose P        (zeta, eta, eta-dot),
    B: Lambda(end) = external wrench - lumped inertia + sum over children of Ad_{P^-1}^T Lambda(start of the child).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from anguilla.compiler.jit import inline, kernel
from anguilla.mechanics.tree import Floats, Ints
from anguilla.mechanics.vec import add, cross, dot, scale, sub
from anguilla.shooting.state import (
    ACC,
    ETA,
    LAM,
    POS,
    T_ACC,
    T_ETA,
    T_LAM,
    column3,
    get3,
    put_column3,
    times6,
    to_section,
    to_world,
    unit3,
)


class Nodes(NamedTuple):
    """How segments are joined, and what acts on their ends.

    Attributes:
        parent: (S,) segment whose end carries the start; -1 for the world.
        place: (S, 12) pose P, as R (9) and p (3), from there to the start.
        drive: (S, 12) twist w and its rate of the start relative to there, start axes, if a joint stands between.
        driven: (S,) 1 if there is a joint.
        base: (S, 30) motion prescribed on the start of a segment without parent.
        mass: (S, 6, 6) inertia lumped at the end.
        heavy: (S,) 1 if there is any.
        follower: (S, 6) wrench on the end, section axes.
        tail: (S, 6) added inertia per length of the water left by the end (91); zero without.
        dead_at: (m,) segment of each dead wrench.
        dead_map: (m, 6, 6) from its components turned into section axes to the wrench at the end.
        dead: (m, 6) its components in world axes.

    """

    parent: Ints
    place: Floats
    drive: Floats
    driven: Ints
    base: Floats
    mass: Floats
    heavy: Ints
    follower: Floats
    tail: Floats
    dead_at: Ints
    dead_map: Floats
    dead: Floats


@kernel
def retract(start, step, factor, xdim, new):
    """New start states (S, 30): R exp(theta), r + R d, and the rest plus its increment, for steps (S, nd)."""
    for s in range(len(start)):
        th = factor * step[s, 0], factor * step[s, 1], factor * step[s, 2]
        angle2 = dot(th, th)
        angle = math.sqrt(angle2)
        c1 = math.sin(angle) / angle if angle > 1e-4 else 1.0 - angle2 / 6.0
        half = math.sin(0.5 * angle) / angle if angle > 1e-4 else 0.5 - angle2 / 48.0
        c2 = 2.0 * half * half
        for i in range(3):
            row = start[s, 3 * i], start[s, 3 * i + 1], start[s, 3 * i + 2]
            once = cross(row, th)  # row of R th^
            twice = cross(once, th)
            for j in range(3):
                new[s, 3 * i + j] = row[j] + c1 * once[j] + c2 * twice[j]
            move = row[0] * step[s, 3] + row[1] * step[s, 4] + row[2] * step[s, 5]
            new[s, POS + i] = start[s, POS + i] + factor * move
        for i in range(12):
            new[s, ETA + i] = start[s, ETA + i] + (factor * step[s, 6 + i] if xdim > 6 else 0.0)
        for i in range(6):
            new[s, LAM + i] = start[s, LAM + i] + factor * step[s, xdim + i]


@inline
def _gap(start, goal, place, out):
    """Rotation vector and displacement, in start axes, from the start to the goal moved through P."""
    p = add(get3(goal, POS), to_world(goal, get3(place, POS)))
    d = to_section(start, sub(p, get3(start, POS)))
    out[3], out[4], out[5] = d
    # E = R_start^T R_goal P
    e0 = to_section(start, to_world(goal, (place[0], place[3], place[6])))
    e1 = to_section(start, to_world(goal, (place[1], place[4], place[7])))
    e2 = to_section(start, to_world(goal, (place[2], place[5], place[8])))
    v = 0.5 * (e1[2] - e2[1]), 0.5 * (e2[0] - e0[2]), 0.5 * (e0[1] - e1[0])
    sine = math.sqrt(dot(v, v))
    factor = math.atan2(sine, 0.5 * (e0[0] + e1[1] + e2[2] - 1.0)) / sine if sine > 1e-12 else 1.0
    out[0], out[1], out[2] = scale(factor, v)


@inline
def _carry(place, o, v):
    """Ad_{P^-1} (o, v)."""
    return to_section(place, o), to_section(place, add(v, cross(o, get3(place, POS))))


@inline
def _driven(drive, o, v, x, z):
    """(o, v) - ad_w (x, z): the rate (o, v) of a twist (x, z) seen through a joint that moves with the twist w."""
    wo, wv = get3(drive, 0), get3(drive, 3)
    return sub(o, cross(wo, x)), sub(v, add(cross(wv, x), cross(wo, z)))


@kernel
def balance(nodes, start, end, transfer, moving, tangent, residual, values):
    """Residual (S nd,) of all segments and, if asked for, the entries of its derivative in the order of `pattern`."""
    xdim = 18 if moving else 6
    nd = xdim + 6
    S = len(nodes.parent)
    for s in range(S):
        r = residual[s * nd : s * nd + nd]
        _continuity(nodes, start, end, s, moving, r)
        _end_wrench(nodes, end, s, moving, r[xdim:])
    for k in range(len(nodes.dead_at)):
        s = nodes.dead_at[k]
        c, f = to_section(end[s], get3(nodes.dead[k], 0)), to_section(end[s], get3(nodes.dead[k], 3))
        _take(residual, s * nd + xdim, times6(nodes.dead_map[k], c, f))
    for s in range(S):
        parent = nodes.parent[s]
        if parent >= 0:
            place = nodes.place[s]
            f = to_world(place, get3(start[s], LAM + 3))
            c = add(to_world(place, get3(start[s], LAM)), cross(get3(place, POS), f))
            _take(residual, parent * nd + xdim, (c, f))
    if tangent:
        _derivative(nodes, end, transfer, moving, values)


@inline
def _take(residual, at, wrench):
    for i in range(3):
        residual[at + i] -= wrench[0][i]
        residual[at + 3 + i] -= wrench[1][i]


@inline
def _continuity(nodes, start, end, s, moving, r):
    """Equations K of a segment into the head of r."""
    parent, place, drive = nodes.parent[s], nodes.place[s], nodes.drive[s]
    goal = nodes.base[s] if parent < 0 else end[parent]
    _gap(start[s], goal, place, r)
    if moving:
        for k in (ETA, ACC):
            if parent < 0:
                o, v = get3(goal, k), get3(goal, k + 3)
            else:
                o, v = _carry(place, get3(goal, k), get3(goal, k + 3))
            at = 6 if k == ETA else 12
            if nodes.driven[s]:
                o, v = add(o, get3(drive, at - 6)), add(v, get3(drive, at - 3))
                if k == ACC and parent >= 0:
                    x, z = _carry(place, get3(goal, ETA), get3(goal, ETA + 3))
                    o, v = _driven(drive, o, v, x, z)
            for i in range(3):
                r[at + i] = o[i] - start[s, k + i]
                r[at + 3 + i] = v[i] - start[s, k + 3 + i]


@inline
def _end_wrench(nodes, end, s, moving, r):
    """What the end of a segment itself brings to its equations B, into r (6,)."""
    y, M, tail = end[s], nodes.mass[s], nodes.tail[s]
    for i in range(6):
        w = y[LAM + i] - nodes.follower[s, i]
        if moving and nodes.heavy[s]:
            for j in range(6):
                w += M[i, j] * y[ACC + j]
        r[i] = w
    if moving and nodes.heavy[s]:  # M eta-dot - ad_eta^T M eta
        o, v = get3(y, ETA), get3(y, ETA + 3)
        po, pv = times6(M, o, v)
        c, f = add(cross(o, po), cross(v, pv)), cross(o, pv)
        for i in range(3):
            r[i] += c[i]
            r[3 + i] += f[i]
    if moving and tail[4] + tail[5] > 0.0:  # (91)
        energy = 0.0
        for i in range(6):
            flow = tail[i] * y[ETA + i]
            energy += 0.5 * flow * y[ETA + i]
            r[i] -= y[ETA + 3] * flow
        r[3] += energy


@inline
def _derivative(nodes, end, transfer, moving, values):
    """Entries of the derivative: for each segment -1 in K, its own columns of B, and what it shares with its parent."""
    xdim = 18 if moving else 6
    nd = xdim + 6
    at = 0
    for s in range(len(nodes.parent)):
        for _ in range(xdim):
            values[at] = -1.0
            at += 1
        T = transfer[s]
        own = values[at : at + 6 * nd].reshape(6, nd)
        for i in range(6):
            for j in range(nd):
                own[i, j] = T[T_LAM + i, j]
        if moving and nodes.heavy[s]:
            _add_inertia(nodes.mass[s], end[s], T, own)
        if moving and nodes.tail[s, 4] + nodes.tail[s, 5] > 0.0:
            _add_wake(nodes.tail[s], end[s], T, own)
        for k in range(len(nodes.dead_at)):
            if nodes.dead_at[k] == s:
                _add_dead(nodes.dead_map[k], nodes.dead[k], end[s], T, own)
        at += 6 * nd
        parent = nodes.parent[s]
        if parent >= 0:
            _carried(nodes, s, transfer[parent], values[at : at + xdim * nd].reshape(xdim, nd))
            at += xdim * nd
            _handed_on(nodes.place[s], values[at : at + 36].reshape(6, 6))
            at += 36


@inline
def _add_inertia(M, y, T, own):
    """Derivative of M eta-dot - ad_eta^T M eta at the end."""
    O, V = get3(y, ETA), get3(y, ETA + 3)
    pO, pV = times6(M, O, V)
    for j in range(own.shape[1]):
        o, v = column3(T, T_ETA, j), column3(T, T_ETA + 3, j)
        po, pv = times6(M, o, v)
        c, f = times6(M, column3(T, T_ACC, j), column3(T, T_ACC + 3, j))
        c = add(c, add(add(cross(o, pO), cross(O, po)), add(cross(v, pV), cross(V, pv))))
        f = add(f, add(cross(o, pV), cross(O, pv)))
        for i in range(3):
            own[i, j] += c[i]
            own[i + 3, j] += f[i]


@inline
def _add_wake(tail, y, T, own):
    """Derivative of (91), the water left by the end."""
    for j in range(own.shape[1]):
        energy = 0.0
        for i in range(6):
            energy += tail[i] * y[ETA + i] * T[T_ETA + i, j]
            own[i, j] -= T[T_ETA + 3, j] * tail[i] * y[ETA + i] + y[ETA + 3] * tail[i] * T[T_ETA + i, j]
        own[3, j] += energy


@inline
def _add_dead(A, dead, y, T, own):
    """Derivative of a dead wrench on the end: d(R^T f) = (R^T f) x theta."""
    c, f = to_section(y, get3(dead, 0)), to_section(y, get3(dead, 3))
    for j in range(own.shape[1]):
        th = column3(T, 0, j)
        a, b = times6(A, cross(c, th), cross(f, th))
        for i in range(3):
            own[i, j] -= a[i]
            own[i + 3, j] -= b[i]


@inline
def _carried(nodes, s, T, out):
    """Derivative of the equations K of a segment with respect to the unknowns of its parent, whose transfer is T."""
    place = nodes.place[s]
    for row in range(0, len(out), 6):
        for j in range(out.shape[1]):
            o, v = _carry(place, column3(T, row, j), column3(T, row + 3, j))
            if row == T_ACC and nodes.driven[s]:
                x, z = _carry(place, column3(T, T_ETA, j), column3(T, T_ETA + 3, j))
                o, v = _driven(nodes.drive[s], o, v, x, z)
            put_column3(out, row, j, o)
            put_column3(out, row + 3, j, v)


@inline
def _handed_on(place, out):
    """Derivative of the parent's equations B with respect to the stress at the start of a segment: -Ad_{P^-1}^T."""
    for j in range(3):
        turned = to_world(place, unit3(j))
        lever = cross(get3(place, POS), turned)
        for i in range(3):
            out[i, j] = out[i + 3, j + 3] = -turned[i]
            out[i, j + 3], out[i + 3, j] = -lever[i], 0.0
