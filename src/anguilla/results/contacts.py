"""How deep robots sink into obstacles, and the energy they store there."""

from __future__ import annotations

import numpy as np

from anguilla.describe import Contact, HalfSpace, RodHandle
from anguilla.loads.contact import SMOOTH, STIFFNESS
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.results.fields import motion_of
from anguilla.results.observe import S_X


def _places(system: Model, load: Contact, q: Floats) -> tuple[Floats, Floats]:
    """Places (nt, k, 3) [m] of a load that may touch, in states q (nt, n), and their radii (k,) [m]."""
    _, X, _ = system.tables.touching(load)
    where, zero = load.where, np.zeros_like(q)
    frames = [where.section(float(x)) for x in X] if isinstance(where, RodHandle) else load.points()
    return motion_of(system, frames, q, zero, zero)[:, :, S_X : S_X + 3], load.radii(X)


def depths(system: Model, load: Contact, q: Floats) -> Floats:
    """Depths (nt, k) [m] of all places of a load that may touch, in states q (nt, n); negative ones are distances."""
    place, radii = _places(system, load, q)
    return radii - load.obstacle.distance(place)


def contact_energy(system: Model, q: Floats) -> Floats:
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


def jumps(system: Model, before: Floats, after: Floats) -> bool:
    """Whether a place that may touch could have gone through an obstacle between two states (n,).

    It cannot if it moved by less than its distance from a round solid and the radius of that; nothing goes through
    half-spaces, nor out of hollows.
    """
    for load in system.robot.loads:
        if isinstance(load, Contact) and not load.obstacle.inside and not isinstance(load.obstacle, HalfSpace):
            place, radii = _places(system, load, np.stack([before, after]))
            clear = load.obstacle.distance(place[0]) - radii + load.obstacle.radius  # type: ignore[attr-defined]
            if np.any(np.linalg.norm(place[1] - place[0], axis=1) > np.maximum(clear, 0.1 * radii)):
                return True
    return False
