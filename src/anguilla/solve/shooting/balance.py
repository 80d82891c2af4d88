"""The conditions at the ends of segments, compiled: continuity of the motion and balance of the wrenches, with tangents.

Unknowns of segment s: its start state, as increments (zeta, [eta, eta-dot,] Lambda). Its equations:

    K: start = end of the parent moved through a pose P        (zeta, eta, eta-dot),
    B: Lambda(end) = external wrench - lumped inertia + sum over children of Ad_{P^-1}^T Lambda(start of the child).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from anguilla._jit import inline, kernel
from anguilla.mechanics.tree import Floats, Ints
from anguilla.mechanics.vec import add, cross, dot, scale, sub
from anguilla.solve.shooting.point import ACC, ETA, LAM, POS, T_ACC, T_ETA, T_LAM, to_section


class Nodes(NamedTuple):
    """How segments are joined, and what acts on their ends.

    Attributes:
        parent: (S,) segment whose end carries the start; -1 for the world.
        place: (S, 12) pose P, as R (9) and p (3), from there to the start.
        drive: (S, 12) twist w and its rate of the start relative to there, start axes, if a joint stands between.
        driven: (S,) 1 if there is a joint.
        base: (S, 30) motion imposed on the start of a segment without parent.
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


@inline
def _get(y, k):
    return y[k], y[k + 1], y[k + 2]


@inline
def _turn(a, v):
    """R v of a matrix stored at the head of a row."""
    return (
        a[0] * v[0] + a[1] * v[1] + a[2] * v[2],
        a[3] * v[0] + a[4] * v[1] + a[5] * v[2],
        a[6] * v[0] + a[7] * v[1] + a[8] * v[2],
    )


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
    p = add(_get(goal, POS), _turn(goal, _get(place, POS)))
    d = to_section(start, sub(p, _get(start, POS)))
    out[3], out[4], out[5] = d
    # E = R_start^T R_goal P
    e0 = to_section(start, _turn(goal, (place[0], place[3], place[6])))
    e1 = to_section(start, _turn(goal, (place[1], place[4], place[7])))
    e2 = to_section(start, _turn(goal, (place[2], place[5], place[8])))
    v = 0.5 * (e1[2] - e2[1]), 0.5 * (e2[0] - e0[2]), 0.5 * (e0[1] - e1[0])
    sine = math.sqrt(dot(v, v))
    factor = math.atan2(sine, 0.5 * (e0[0] + e1[1] + e2[2] - 1.0)) / sine if sine > 1e-12 else 1.0
    out[0], out[1], out[2] = scale(factor, v)


@inline
def _carry(place, o, v):
    """Ad_{P^-1} (o, v)."""
    return to_section(place, o), to_section(place, add(v, cross(o, _get(place, POS))))


@kernel
def balance(nodes, start, end, transfer, moving, tangent, residual, values):
    """Residual (S nd,) of all segments and, if asked for, the entries of its derivative in the order of `pattern`."""
    xdim = 18 if moving else 6
    nd = xdim + 6
    S = len(nodes.parent)
    for s in range(S):  # equations K
        r = residual[s * nd : s * nd + nd]
        parent = nodes.parent[s]
        goal = nodes.base[s] if parent < 0 else end[parent]
        place = nodes.place[s]
        _gap(start[s], goal, place, r)
        if moving:
            for k in (ETA, ACC):
                if parent < 0:
                    o, v = _get(goal, k), _get(goal, k + 3)
                else:
                    o, v = _carry(place, _get(goal, k), _get(goal, k + 3))
                at = 6 if k == ETA else 12
                if nodes.driven[s]:
                    o, v = add(o, _get(nodes.drive[s], at - 6)), add(v, _get(nodes.drive[s], at - 3))
                    if k == ACC and parent >= 0:  # - ad_w Ad eta
                        wo, wv = _get(nodes.drive[s], 0), _get(nodes.drive[s], 3)
                        x, z = _carry(place, _get(goal, ETA), _get(goal, ETA + 3))
                        o, v = sub(o, cross(wo, x)), sub(v, add(cross(wv, x), cross(wo, z)))
                for i in range(3):
                    r[at + i] = o[i] - start[s, k + i]
                    r[at + 3 + i] = v[i] - start[s, k + 3 + i]
        for i in range(6):
            w = end[s, LAM + i] - nodes.follower[s, i]
            if moving and nodes.heavy[s]:
                for j in range(6):
                    w += nodes.mass[s, i, j] * end[s, ACC + j]
            r[xdim + i] = w
        if moving and nodes.heavy[s]:
            o, v = _get(end[s], ETA), _get(end[s], ETA + 3)
            po, pv = _momentum(nodes.mass[s], o, v)
            c, f = add(cross(o, po), cross(v, pv)), cross(o, pv)
            for i in range(3):
                r[xdim + i] += c[i]
                r[xdim + 3 + i] += f[i]
        if moving and nodes.tail[s, 4] + nodes.tail[s, 5] > 0.0:  # (91)
            energy = 0.0
            for i in range(6):
                flow = nodes.tail[s, i] * end[s, ETA + i]
                energy += 0.5 * flow * end[s, ETA + i]
                r[xdim + i] -= end[s, ETA + 3] * flow
            r[xdim + 3] += energy
    for k in range(len(nodes.dead_at)):
        s = nodes.dead_at[k]
        c, f = to_section(end[s], _get(nodes.dead[k], 0)), to_section(end[s], _get(nodes.dead[k], 3))
        A = nodes.dead_map[k]
        for i in range(6):
            residual[s * nd + xdim + i] -= (
                A[i, 0] * c[0] + A[i, 1] * c[1] + A[i, 2] * c[2] + A[i, 3] * f[0] + A[i, 4] * f[1] + A[i, 5] * f[2]
            )
    for s in range(S):
        parent = nodes.parent[s]
        if parent >= 0:
            place = nodes.place[s]
            f = _turn(place, _get(start[s], LAM + 3))
            c = add(_turn(place, _get(start[s], LAM)), cross(_get(place, POS), f))
            for i in range(3):
                residual[parent * nd + xdim + i] -= c[i]
                residual[parent * nd + xdim + 3 + i] -= f[i]
    if tangent:
        _derivative(nodes, end, transfer, moving, values)


@inline
def _momentum(M, o, v):
    po = (
        M[0, 0] * o[0] + M[0, 1] * o[1] + M[0, 2] * o[2] + M[0, 3] * v[0] + M[0, 4] * v[1] + M[0, 5] * v[2],
        M[1, 0] * o[0] + M[1, 1] * o[1] + M[1, 2] * o[2] + M[1, 3] * v[0] + M[1, 4] * v[1] + M[1, 5] * v[2],
        M[2, 0] * o[0] + M[2, 1] * o[1] + M[2, 2] * o[2] + M[2, 3] * v[0] + M[2, 4] * v[1] + M[2, 5] * v[2],
    )
    pv = (
        M[3, 0] * o[0] + M[3, 1] * o[1] + M[3, 2] * o[2] + M[3, 3] * v[0] + M[3, 4] * v[1] + M[3, 5] * v[2],
        M[4, 0] * o[0] + M[4, 1] * o[1] + M[4, 2] * o[2] + M[4, 3] * v[0] + M[4, 4] * v[1] + M[4, 5] * v[2],
        M[5, 0] * o[0] + M[5, 1] * o[1] + M[5, 2] * o[2] + M[5, 3] * v[0] + M[5, 4] * v[1] + M[5, 5] * v[2],
    )
    return po, pv


@inline
def _derivative(nodes, end, transfer, moving, values):
    xdim = 18 if moving else 6
    nd = xdim + 6
    at = 0
    for s in range(len(nodes.parent)):
        for _ in range(xdim):
            values[at] = -1.0
            at += 1
        T, place = transfer[s], nodes.place[s]
        M, tail, y = nodes.mass[s], nodes.tail[s], end[s]
        heavy = moving and nodes.heavy[s]
        wet = moving and tail[4] + tail[5] > 0.0
        for i in range(6):  # equations B, own columns
            for j in range(nd):
                values[at + i * nd + j] = T[T_LAM + i, j]
        if heavy:
            O, V = _get(y, ETA), _get(y, ETA + 3)
            pO, pV = _momentum(M, O, V)
            for j in range(nd):
                o = T[T_ETA, j], T[T_ETA + 1, j], T[T_ETA + 2, j]
                v = T[T_ETA + 3, j], T[T_ETA + 4, j], T[T_ETA + 5, j]
                do = T[T_ACC, j], T[T_ACC + 1, j], T[T_ACC + 2, j]
                dv = T[T_ACC + 3, j], T[T_ACC + 4, j], T[T_ACC + 5, j]
                po, pv = _momentum(M, o, v)
                c, f = _momentum(M, do, dv)
                c = add(c, add(add(cross(o, pO), cross(O, po)), add(cross(v, pV), cross(V, pv))))
                f = add(f, add(cross(o, pV), cross(O, pv)))
                for i in range(3):
                    values[at + i * nd + j] += c[i]
                    values[at + (i + 3) * nd + j] += f[i]
        if wet:
            for j in range(nd):
                energy = 0.0
                for i in range(6):
                    energy += tail[i] * y[ETA + i] * T[T_ETA + i, j]
                    d = T[T_ETA + 3, j] * tail[i] * y[ETA + i] + y[ETA + 3] * tail[i] * T[T_ETA + i, j]
                    values[at + i * nd + j] -= d
                values[at + 3 * nd + j] += energy
        for k in range(len(nodes.dead_at)):
            if nodes.dead_at[k] == s:
                c, f = to_section(y, _get(nodes.dead[k], 0)), to_section(y, _get(nodes.dead[k], 3))
                A = nodes.dead_map[k]
                for j in range(nd):
                    th = T[0, j], T[1, j], T[2, j]
                    a, b = cross(c, th), cross(f, th)
                    for i in range(6):
                        values[at + i * nd + j] -= (
                            A[i, 0] * a[0] + A[i, 1] * a[1] + A[i, 2] * a[2]
                            + A[i, 3] * b[0] + A[i, 4] * b[1] + A[i, 5] * b[2]
                        )  # fmt: skip
        at += 6 * nd
        parent = nodes.parent[s]
        if parent >= 0:
            T = transfer[parent]
            for row in range(0, xdim, 6):  # equations K, columns of the parent
                for j in range(nd):
                    o, v = (T[row, j], T[row + 1, j], T[row + 2, j]), (T[row + 3, j], T[row + 4, j], T[row + 5, j])
                    o, v = _carry(place, o, v)
                    if row == 12 and nodes.driven[s]:
                        x, z = (T[6, j], T[7, j], T[8, j]), (T[9, j], T[10, j], T[11, j])
                        x, z = _carry(place, x, z)
                        wo, wv = _get(nodes.drive[s], 0), _get(nodes.drive[s], 3)
                        o, v = sub(o, cross(wo, x)), sub(v, add(cross(wv, x), cross(wo, z)))
                    for i in range(3):
                        values[at + (row + i) * nd + j] = o[i]
                        values[at + (row + 3 + i) * nd + j] = v[i]
            at += xdim * nd
            for j in range(6):  # the parent's B, columns Lambda of this segment
                e = (1.0 if j % 3 == 0 else 0.0, 1.0 if j % 3 == 1 else 0.0, 1.0 if j % 3 == 2 else 0.0)
                turned = _turn(place, e)
                lever = cross(_get(place, POS), turned)
                for i in range(3):
                    values[at + i * 6 + j] = -turned[i] if j < 3 else -lever[i]
                    values[at + (i + 3) * 6 + j] = 0.0 if j < 3 else -turned[i]
            at += 36
