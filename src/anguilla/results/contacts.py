"""How deep robots sink into obstacles, and the energy that loads keep."""

from __future__ import annotations

import numpy as np

from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.results.fields import seat_motion


def depths(system: Model, number: int, q: Floats) -> Floats:
    """Depths (nt, k) [m] of all places of load `number` that may touch, in states q (nt, n); negative ones are distances."""
    seat = system.tables.seats[number]
    return system.robot.loads[number].depths(seat, seat_motion(system, seat, q).position)


def load_energy(system: Model, q: Floats) -> Floats:
    """Energy (nt,) [J] that loads keep, springs and contacts, in states q (nt, n)."""
    out = np.zeros(len(q))
    for load, seat in zip(system.robot.loads, system.tables.seats, strict=True):
        if load.is_passive:
            out += load.energy(seat, seat_motion(system, seat, q))
    return out


def jumps(system: Model, before: Floats, after: Floats) -> bool:
    """Whether a place that may touch could have gone through an obstacle between two states (n,)."""
    both, acting = np.stack([before, after]), zip(system.robot.loads, system.tables.seats, strict=True)
    return any(load.touches and load.passes(seat, seat_motion(system, seat, both).position) for load, seat in acting)
