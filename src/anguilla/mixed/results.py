"""What the solvers of robots with soft volumes return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from anguilla.describe.volumes import VolumeHandle
from anguilla.errors import DescriptionError
from anguilla.fem.contact import Touched, points_of
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.mesh import Floats
from anguilla.fem.results import SoftEquilibrium
from anguilla.interact.volume_contact import VolumeContact
from anguilla.mixed.half import Half
from anguilla.mixed.model import MixedModel
from anguilla.results.acting import OfEnergies
from anguilla.results.contacts import PartForces, TouchPoints
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.store.record import Record

__all__ = ["MixedEquilibrium", "MixedTrajectory"]


class _WithVolumes(OfEnergies):
    """What results of robots with volumes share: energies and momenta count all parts, files hold them."""

    volumes: Mapping[str, Any]
    mixed: MixedModel | None  # the model it was computed with
    touched: Sequence[Sequence[Touched | None]]  # at each instant, what each volume touches, then each pair of them

    @property
    def halves(self) -> list[Half]:
        """Its volumes, compiled."""
        return [] if self.mixed is None else self.mixed.halves

    def volume(self, volume: VolumeHandle | str) -> Any:
        """The equilibrium, or the motion, of one of its volumes: nodes, effectors, strokes, stresses, ..."""
        name = volume.name if isinstance(volume, VolumeHandle) else volume
        if name not in self.volumes:
            raise DescriptionError(f"there is no volume {name!r}; there are: {', '.join(self.volumes)}.")
        return self.volumes[name]

    def _record(self) -> Record:
        from anguilla.mixed.keep import gather

        return gather(self)  # type: ignore[arg-type]

    def _motions(self) -> list[tuple[Half, Floats, Floats]]:
        """Compiled volumes, with positions and velocities (time, nodes, 3) of their nodes."""
        found = []
        for half, each in zip(self.halves, self.volumes.values(), strict=True):
            moving = isinstance(each, SoftTrajectory)
            found.append((half, each.x if moving else each.x[None], each.v if moving else 0.0 * each.x[None]))
        return found

    @property
    def energy(self) -> dict[str, Any]:
        """Energies [J] of rods, bodies and volumes: kinetic, elastic, gravitational (zero at the world origin), total."""
        found = super().energy
        for half, x, _ in self._motions():
            assert self.mixed is not None
            with self.mixed.alone:
                elastic = self._pick(np.array([half.elastic_energy(nodes) for nodes in x]))
            for name in ("elastic", "total"):
                found[name] = found[name] + elastic
        if self.touches:
            kept = [sum(float(each.energy.sum()) for each in told if each is not None) for told in self._what_touched]
            for name in ("elastic", "total"):
                found[name] = found[name] + self._pick(np.array(kept))
        return found

    @property
    def _touchers(self) -> list[Any]:
        """What touches, in the order of `touched`."""
        return [] if self.mixed is None else self.mixed.touchers

    @property
    def touches(self) -> bool:
        """Whether a volume may touch something."""
        return self.mixed is not None and self.mixed.touches and bool(self.touched)

    def touching_at(self, index: int) -> tuple[Floats, Floats]:
        """Where volumes touch at an instant (k, 3) [m], and forces (k, 3) [N]: on bodies and rods, but of obstacles."""
        places, forces = [np.zeros((0, 3))], [np.zeros((0, 3))]
        for toucher, told in zip(self._touchers, self.touched[index], strict=True):
            if toucher is not None and told is not None:
                sign = np.array([-1.0 if contact.obstacles else 1.0 for contact in toucher.contacts])
                places.append(told.place)
                forces.append(sign[told.contact][:, None] * told.force)
        return np.concatenate(places), np.concatenate(forces)

    def contact_points(self, contact: Any) -> Any:
        """Every place where something touches, of a contact between parts, or of a volume: one answer for each instant.

        Each has place (k, 3) [m] and force (k, 3) [N] there, world axes: of its part a on its part b, or of a volume on what
        it touches.
        """
        if not getattr(contact, "of_volume", False):
            return super().contact_points(contact)  # type: ignore[misc]
        found: Any = [self._points(told, contact) for told in self._what_touched]
        return self._pick(found)

    def contacts(self, contact: Any) -> PartForces:
        """What two parts give to each other, or a volume to what it touches.

        Returns (force (time, 3) [N] of its part a on its part b, world axes, place (time, 3) [m] where it acts on average,
        energy (time,) [J] that the contact keeps, points (time,), how many touch); places are NaN where nothing does.
        """
        if not getattr(contact, "of_volume", False):
            return super().contacts(contact)  # type: ignore[misc]
        each = [self._points(told, contact) for told in self._what_touched]
        number, row = self._place_of(contact)
        own = [told[number] for told in self._what_touched]
        energy = np.array([0.0 if told is None else told.energy[row] for told in own])
        sizes = [np.linalg.norm(points.force, axis=1) for points in each]
        middle = [
            size @ points.place / size.sum() if len(size) else np.full(3, np.nan)
            for size, points in zip(sizes, each, strict=True)
        ]
        force = np.array([points.force.sum(axis=0) for points in each])
        counted = np.array([len(size) for size in sizes])
        return PartForces(*(self._pick(array) for array in (force, np.array(middle), energy, counted)))

    @property
    def _what_touched(self) -> Sequence[Sequence[Touched | None]]:
        """`touched`, if it is known."""
        if not self.touched and any(one is not None for one in self._touchers):
            raise DescriptionError(
                f"what the soft volumes of {self.robot.name!r} touched is not told by this file, of an older version."
            )
        return self.touched

    def _place_of(self, contact: VolumeContact) -> tuple[int, int]:
        """Numbers of what touches, and of a contact among its own."""
        known = [[] if one is None else one.contacts for one in self._touchers]
        for k, own in enumerate(known):
            tokens = [each.token for each in own]
            if contact.token in tokens:
                return k, tokens.index(contact.token)
        labels = ", ".join(each.label for own in known for each in own) or "none"
        raise DescriptionError(f"expected a contact of a volume of robot {self.robot.name!r}; it has: {labels}.")

    def _points(self, told: Sequence[Touched | None], contact: VolumeContact) -> TouchPoints:
        number, _ = self._place_of(contact)
        return points_of(self._touchers[number], told[number], contact)

    @property
    def mass(self) -> float:
        """Mass of the robot [kg], volumes included."""
        return super().mass + sum(float(half.system.weights.sum()) for half in self.halves)

    @cached_property
    def _balances(self) -> Floats:
        """Kinetic and gravitational energy, momentum, angular momentum and moment of the masses (time, 11)."""
        out: Floats = OfEnergies._balances.func(self).copy()  # type: ignore[attr-defined]
        gravity = self.robot.gravity_values(self._t)
        for half, x, v in self._motions():
            for k in range(len(x)):
                p, centre = half.matrix @ v[k], half.system.weights @ x[k]
                out[k, 0] += 0.5 * float(np.sum(v[k] * p))
                out[k, 1] -= float(gravity[k] @ centre)
                out[k, 2:5] += p.sum(axis=0)
                out[k, 5:8] += np.cross(x[k], p).sum(axis=0)
                out[k, 8:11] += centre
        return out


@dataclass(frozen=True, repr=False)
class MixedEquilibrium(_WithVolumes, Equilibrium):
    """A static equilibrium of a robot with soft volumes: that of its rods and bodies, and `volume(...)`.

    Attributes:
        q: (n,) coordinates of rods and bodies, labelled by `coordinates`.
        status: how the solver ended, with counters.
        volumes: the equilibrium of each volume, by name.

    """

    volumes: Mapping[str, SoftEquilibrium] = field(default_factory=dict, repr=False)
    mixed: MixedModel | None = field(default=None, repr=False)
    touched: Sequence[Sequence[Touched | None]] = field(default=(), repr=False)


@dataclass(frozen=True, repr=False)
class MixedTrajectory(_WithVolumes, Trajectory):
    """A motion of a robot with soft volumes: that of its rods and bodies, and `volume(...)`.

    Attributes:
        t: (time,) [s].
        q, v, a: (time, n) coordinates, rates and accelerations of rods and bodies, labelled by `coordinates`.
        status: how the solver ended, with counters.
        volumes: the motion of each volume, by name.

    """

    volumes: Mapping[str, SoftTrajectory] = field(default_factory=dict, repr=False)
    mixed: MixedModel | None = field(default=None, repr=False)
    touched: Sequence[Sequence[Touched | None]] = field(default=(), repr=False)

    def _picked(self, rows: Any) -> MixedTrajectory:
        found = super()._picked(rows)
        volumes = {name: motion._picked(rows) for name, motion in self.volumes.items()}
        object.__setattr__(found, "volumes", volumes)
        if self.touched:
            object.__setattr__(found, "touched", [self.touched[k] for k in np.arange(len(self.t))[rows]])
        assert isinstance(found, MixedTrajectory)
        return found
