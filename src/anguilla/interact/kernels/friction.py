"""Friction between parts that touch: Coulomb's, which holds, with or without scales; and resistance against rolling.

Bristles bend as long as they hold: z is how far the two surfaces have moved against each other since they hold, and
P = k_t z. They slip where that would be more than mu f, and follow then. So what is at rest stays there, without creeping.
In a time step, with u the sliding velocity at its end and w the spin that bristles turn with,

    z = (1 - n n^T) exp(dt [w]) z_0 + dt u,    P = k_t z,  or  mu f z / |z|  if that is less,    T = -P.

With a `slip` [m/s] there are no bristles: P = mu f u / sqrt(|u|^2 + slip^2) needs sliding, has no memory, and creeps.

With scales mu is the largest coefficient, and T = -s P - (c - s) (t . P) t, with t the axis of the scaly section along the
surface: c is the part of mu that is left of friction forward, where t . P > 0, or backward, and s sideways; with a slip c
goes from one to the other as on obstacles (`contact.py`). Bristles turn with the scales, so that what they keep, -z . T / 2,
does not change as these turn on the spot.

Rolling is resisted by a moment -r P on a, in the same way: P is that of a sliding velocity r w, with w the rotation of a
against b about axes along the surface, and mu = 1. So the moment is at most r f, and what is to roll holds until then.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.compiler.simd import spread
from anguilla.interact.kernels.contact import UPRIGHT
from anguilla.interact.kernels.table import (
    BACKWARD,
    FORWARD,
    FRICTION,
    GRIP,
    ROLLING,
    SCALES,
    SIDEWAYS,
    SLIP,
    STIFF,
)
from anguilla.mechanics.vec import add, axpy, cross, dot, scale, sub

ZERO = (0.0, 0.0, 0.0)
SHARE = 9  # column of Touches.point
SAME = 1.0  # intervals by which a contact may move along a rod in a step and still be the same
RUBS, WHERE, ROLLS, HELD = 0, 3, 4, 7  # columns of Touches.held: bristles, where they are, those of rolling


@inline
def sliding(n, v, spin_a, spin_b, reach, part_a, part_b):
    """Velocity of one surface against the other."""
    turning = axpy(-part_b, spin_b, scale(part_a, spin_a))
    return sub(axpy(-dot(n, v), n, v), cross(turning, scale(reach, n)))


@inline
def rolling(n, spin_a, spin_b, lever):
    """How fast a lever moves that rolls with a against b, along the surface."""
    turning = sub(spin_a, spin_b)
    return scale(lever, axpy(-dot(n, turning), n, turning))


@inline
def turning_with(touches, t, n, spin_a, spin_b):
    """The spin that bristles turn with: that of b, but about the normal that of the scales."""
    if touches.law[t, SCALES] > 0.0:
        return axpy(dot(n, sub(spin_a, spin_b)), n, spin_b)
    return spin_b


@inline
def slot_of(touches, row, where):
    """Which of the two bristles of a point belongs to a contact, or -1 for a new one."""
    for slot in range(2):
        if touches.held[row, slot, WHERE] > 0.0 and abs(touches.held[row, slot, WHERE] - 1.0 - where) <= SAME:
            return slot
    return -1


@inline
def _old(touches, row, where, at):
    """A bristle at the start of a step."""
    slot = slot_of(touches, row, where)
    if slot < 0:
        return ZERO
    return touches.held[row, slot, at], touches.held[row, slot, at + 1], touches.held[row, slot, at + 2]


@part
def carried(touches, row, where, at, spin, dt):
    """The bristle at the start of a step, turned along."""
    z = _old(touches, row, where, at)
    turned = scale(dt, cross(spin, z))
    return add(add(z, turned), scale(0.5 * dt, cross(spin, turned)))


@inline
def grip_of(touches, t, k):
    """Stiffness along the surface of a point."""
    return touches.law[t, GRIP] * touches.law[t, STIFF] * touches.point[k, SHARE]


@part
def _resist(touches, row, where, at, n, u, spin, most, grip, slip, dt):
    """(P, bristle at the end of the step) of a sliding velocity u; P is at most `most`."""
    if slip > 0.0:
        return scale(most / math.sqrt(dot(u, u) + slip * slip), u), ZERO
    z = carried(touches, row, where, at, spin, dt)
    z = axpy(dt, u, axpy(-dot(n, z), n, z))
    size = math.sqrt(dot(z, z))
    if grip * size > most:
        z = scale(most / (grip * size), z)
    return scale(grip, z), z


@part
def _resist_change(touches, row, where, at, state, change, grip, slip, dt):
    """Change of P; state is (n, u, spin, most), change that of each."""
    n, u, spin, most = state
    dn, du, dspin, dmost = change
    if slip > 0.0:
        speed = math.sqrt(dot(u, u) + slip * slip)
        return scale(1.0 / speed, axpy(dmost - (most / (speed * speed)) * dot(u, du), u, scale(most, du)))
    old, z0 = _old(touches, row, where, at), carried(touches, row, where, at, spin, dt)
    twice = add(cross(dspin, cross(spin, old)), cross(spin, cross(dspin, old)))
    dz = scale(dt, add(cross(dspin, old), scale(0.5 * dt, twice)))
    z = axpy(dt, u, axpy(-dot(n, z0), n, z0))
    dz = axpy(-dot(dn, z0) - dot(n, dz), n, axpy(-dot(n, z0), dn, dz))
    dz = axpy(dt, du, dz)
    size = math.sqrt(dot(z, z))
    if grip * size <= most:
        return scale(grip, dz)
    return scale(1.0 / size, axpy(dmost - (most / (size * size)) * dot(z, dz), z, scale(most, dz)))


@inline
def along_surface(n, d):
    """(axis t of a section along the surface, its length there)."""
    flat = axpy(-dot(n, d), n, d)
    length = math.sqrt(dot(flat, flat) + UPRIGHT * UPRIGHT)
    return scale(1.0 / length, flat), length


@inline
def scale_parts(touches, t, along):
    """(c - s, its slope, s) of scales that slide forward by `along`, or backward; with a slip it goes smoothly."""
    slip, half = touches.law[t, SLIP], 0.5 * (touches.law[t, FORWARD] - touches.law[t, BACKWARD])
    mean, side = 0.5 * (touches.law[t, FORWARD] + touches.law[t, BACKWARD]), touches.law[t, SIDEWAYS]
    speed = max(math.sqrt(along * along + slip * slip), 1e-300)
    return mean + half * along / speed - side, half * (slip / speed) * (slip / speed) / speed, side


@part
def _with_scales(touches, t, n, d, P, u):
    """-T; u is the sliding velocity."""
    axis = along_surface(n, d)[0]
    more, _, side = scale_parts(touches, t, dot(axis, u if touches.law[t, SLIP] > 0.0 else P))
    return axpy(more * dot(axis, P), axis, scale(side, P))


@part
def _with_scales_change(touches, t, n, d, P, u, change):
    """Its change, with that of (n, d, P, u)."""
    dn, dd, dP, du = change
    axis, length = along_surface(n, d)
    dflat = axpy(-dot(n, d), dn, axpy(-dot(dn, d) - dot(n, dd), n, dd))
    daxis = scale(1.0 / length, axpy(-dot(axis, dflat), axis, dflat))
    more, slope, side = scale_parts(touches, t, dot(axis, u if touches.law[t, SLIP] > 0.0 else P))
    along, dalong = dot(axis, P), dot(daxis, P) + dot(axis, dP)
    if touches.law[t, SLIP] > 0.0:
        dalong = more * dalong + slope * (dot(daxis, u) + dot(axis, du)) * along
    else:
        dalong = more * dalong
    return axpy(dalong, axis, axpy(more * along, daxis, scale(side, dP)))


@part
def friction(touches, t, k, row, where, motion, d, dt):
    """(T, moment against rolling, the bristles of both at the end of the step).

    motion is (n, v, spins, reach, parts, f), d the axis of scales, both as seen from the points.
    """
    n, v, spin_a, spin_b, reach, part_a, part_b, f = motion
    mu, slip, lever = touches.law[t, FRICTION], touches.law[t, SLIP], touches.law[t, ROLLING]
    T, M, z, y = ZERO, ZERO, ZERO, ZERO
    grip, spin = grip_of(touches, t, k), turning_with(touches, t, n, spin_a, spin_b)
    if mu > 0.0:
        u = sliding(n, v, spin_a, spin_b, reach, part_a, part_b)
        P, z = _resist(touches, row, where, RUBS, n, u, spin, mu * f, grip, slip, dt)
        if touches.law[t, SCALES] != 0.0:
            P = _with_scales(touches, t, n, d, P, u)
        T = scale(-1.0, P)
    if lever > 0.0:
        u = rolling(n, spin_a, spin_b, lever)
        P, y = _resist(touches, row, where, ROLLS, n, u, spin, f, grip, slip, dt)
        M = scale(-lever, P)
    return T, M, z, y


@part
def friction_change(touches, t, k, row, where, motion, d, change, dt):
    """Changes of T and of the moment against rolling, and of P of both, four at a time.

    `change` is that of motion, without parts, and d.
    """
    n, v, spin_a, spin_b, reach, part_a, part_b, f = motion
    dn, dv, dspin_a, dspin_b, dreach, df, dd = change
    mu, slip, lever = touches.law[t, FRICTION], touches.law[t, SLIP], touches.law[t, ROLLING]
    none = spread(0.0), spread(0.0), spread(0.0)
    dT, dM, dP, dY = none, none, none, none
    grip, spin = grip_of(touches, t, k), turning_with(touches, t, n, spin_a, spin_b)
    apart, dapart, dspin = sub(spin_a, spin_b), sub(dspin_a, dspin_b), dspin_b
    drilling = dot(dn, apart) + dot(n, dapart)
    if touches.law[t, SCALES] > 0.0:
        dspin = axpy(drilling, n, axpy(dot(n, apart), dn, dspin_b))
    if mu > 0.0:
        u = sliding(n, v, spin_a, spin_b, reach, part_a, part_b)
        turning = axpy(-part_b, spin_b, scale(part_a, spin_a))
        dturning = axpy(-part_b, dspin_b, scale(part_a, dspin_a))
        du = axpy(-dot(n, dv) - dot(dn, v), n, axpy(-dot(n, v), dn, dv))
        du = sub(du, add(cross(dturning, scale(reach, n)), cross(turning, axpy(dreach, n, scale(reach, dn)))))
        state, dstate = (n, u, spin, mu * f), (dn, du, dspin, mu * df)
        dP = _resist_change(touches, row, where, RUBS, state, dstate, grip, slip, dt)
        dT = scale(-1.0, dP)
        if touches.law[t, SCALES] != 0.0:
            P = _resist(touches, row, where, RUBS, n, u, spin, mu * f, grip, slip, dt)[0]
            dT = scale(-1.0, _with_scales_change(touches, t, n, d, P, u, (dn, dd, dP, du)))
    if lever > 0.0:
        u = rolling(n, spin_a, spin_b, lever)
        du = scale(lever, axpy(-drilling, n, axpy(-dot(n, apart), dn, dapart)))
        dY = _resist_change(touches, row, where, ROLLS, (n, u, spin, f), (dn, du, dspin, df), grip, slip, dt)
        dM = scale(-lever, dY)
    return dT, dM, dP, dY
