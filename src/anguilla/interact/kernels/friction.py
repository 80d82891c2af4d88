"""Friction between parts that touch: Coulomb's, which holds.

Bristles bend as long as they hold: z is how far the two surfaces have moved against each other since they hold, and
T = -k_t z. They slip where that would be more than mu f, and follow then. So what is at rest stays there, without creeping.
In a time step, with u the sliding velocity at its end,

    z = (1 - n n^T) exp(dt [w_b]) z_0 + dt u,    T = -k_t z,  or  -mu f z / |z|  if that is less.

With a `slip` [m/s] there are no bristles: T = -mu f u / sqrt(|u|^2 + slip^2) needs sliding, has no memory, and creeps.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.interact.kernels.table import FRICTION, GRIP, SLIP, STIFF
from anguilla.mechanics.vec import add, axpy, cross, dot, scale, sub

ZERO = (0.0, 0.0, 0.0)
SHARE = 9  # column of Touches.point
SAME = 1.0  # intervals by which a contact may move along a rod in a step and still be the same


@inline
def sliding(n, v, spin_a, spin_b, reach, part_a, part_b):
    """Velocity of one surface against the other."""
    turning = axpy(-part_b, spin_b, scale(part_a, spin_a))
    return sub(axpy(-dot(n, v), n, v), cross(turning, scale(reach, n)))


@inline
def slot_of(touches, row, where):
    """Which of the two bristles of a point belongs to a contact, or -1 for a new one."""
    for slot in range(2):
        if touches.held[row, slot, 3] > 0.0 and abs(touches.held[row, slot, 3] - 1.0 - where) <= SAME:
            return slot
    return -1


@part
def carried(touches, row, where, spin_b, dt):
    """The bristle at the start of a step, turned along with b."""
    slot = slot_of(touches, row, where)
    if slot < 0:
        return ZERO
    z = touches.held[row, slot, 0], touches.held[row, slot, 1], touches.held[row, slot, 2]
    turned = scale(dt, cross(spin_b, z))
    return add(add(z, turned), scale(0.5 * dt, cross(spin_b, turned)))


@part
def friction(touches, t, k, row, where, n, v, spin_a, spin_b, reach, part_a, part_b, f, dt):
    """(T, bristle at the end of the step)."""
    mu, slip = touches.law[t, FRICTION], touches.law[t, SLIP]
    if mu == 0.0:
        return ZERO, ZERO
    u = sliding(n, v, spin_a, spin_b, reach, part_a, part_b)
    if slip > 0.0:
        return scale(-mu * f / math.sqrt(dot(u, u) + slip * slip), u), ZERO
    z = carried(touches, row, where, spin_b, dt)
    z = axpy(dt, u, axpy(-dot(n, z), n, z))
    grip, most, size = (
        touches.law[t, GRIP] * touches.law[t, STIFF] * touches.point[k, SHARE],
        mu * f,
        math.sqrt(dot(z, z)),
    )
    if grip * size > most:
        z = scale(most / (grip * size), z)
    return scale(-grip, z), z


@part
def friction_change(touches, t, k, row, where, motion, change, dt):
    """Change of T; motion is (n, v, spins, reach, parts, f), change that of (n, v, spins, reach, f)."""
    n, v, spin_a, spin_b, reach, part_a, part_b, f = motion
    dn, dv, dspin_a, dspin_b, dreach, df = change
    mu, slip = touches.law[t, FRICTION], touches.law[t, SLIP]
    if mu == 0.0:
        return ZERO
    u = sliding(n, v, spin_a, spin_b, reach, part_a, part_b)
    turning = axpy(-part_b, spin_b, scale(part_a, spin_a))
    dturning = axpy(-part_b, dspin_b, scale(part_a, dspin_a))
    du = axpy(-dot(n, dv) - dot(dn, v), n, axpy(-dot(n, v), dn, dv))
    du = sub(du, add(cross(dturning, scale(reach, n)), cross(turning, axpy(dreach, n, scale(reach, dn)))))
    if slip > 0.0:
        speed = math.sqrt(dot(u, u) + slip * slip)
        less = f * dot(u, du) / (speed * speed)
        return scale(-mu / speed, axpy(df - less, u, scale(f, du)))
    z0 = carried(touches, row, where, spin_b, dt)
    slot, dz = slot_of(touches, row, where), ZERO
    if slot >= 0:
        old = touches.held[row, slot, 0], touches.held[row, slot, 1], touches.held[row, slot, 2]
        dz = add(
            cross(dspin_b, old),
            scale(0.5 * dt, add(cross(dspin_b, cross(spin_b, old)), cross(spin_b, cross(dspin_b, old)))),
        )
        dz = scale(dt, dz)
    z = axpy(dt, u, axpy(-dot(n, z0), n, z0))
    dz = axpy(-dot(dn, z0) - dot(n, dz), n, axpy(-dot(n, z0), dn, dz))
    dz = axpy(dt, du, dz)
    grip, size = touches.law[t, GRIP] * touches.law[t, STIFF] * touches.point[k, SHARE], math.sqrt(dot(z, z))
    if grip * size <= mu * f:
        return scale(-grip, dz)
    return scale(-mu / size, axpy(df - f * dot(z, dz) / (size * size), z, scale(f, dz)))
