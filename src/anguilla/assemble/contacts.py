"""How deep robots sink into obstacles, and the energy they store there."""

from __future__ import annotations

import numpy as np

from anguilla.assemble.fields import motion_of
from anguilla.assemble.observe import S_X
from anguilla.assemble.system import System
from anguilla.describe import Contact, RodHandle
from anguilla.loads.contact import SMOOTH, STIFFNESS
from anguilla.mechanics.tree import Floats


def depths(system: System, load: Contact, q: Floats) -> Floats:
    """Depths (nt, k) [m] of all places of a load that may touch, in states q (nt, n); negative ones are distances."""
    _, X, _ = system.tables.touching(load)
    where, zero = load.where, np.zeros_like(q)
    frames = [where.section(float(x)) for x in X] if isinstance(where, RodHandle) else load.points()
    place = motion_of(system, frames, q, zero, zero)[:, :, S_X : S_X + 3]
    return load.radii(X) - load.obstacle.distance(place)


def contact_energy(system: System, q: Floats) -> Floats:
    """Energy (nt,) [J] stored in all contacts, in states q (nt, n): the integral of k g over the depth."""
    out = np.zeros(len(q))
    for load in system.robot.loads:
        if isinstance(load, Contact):
            _, X, weights = system.tables.touching(load)
            stiffness, smooth = load.constants(X, weights)[:, [STIFFNESS, SMOOTH]].T
            deep = np.maximum(depths(system, load, q), 0.0)
            x = np.minimum(deep / smooth, 1.0)
            beyond = np.maximum(deep - smooth, 0.0)
            rise = smooth**2 * x**4 * (0.25 - 0.1 * x) + 0.5 * beyond * (smooth + beyond)
            out += rise @ stiffness
    return out
