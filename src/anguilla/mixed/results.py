"""What the solvers of robots with soft volumes return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from anguilla.describe.volumes import VolumeHandle
from anguilla.errors import DescriptionError
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.mesh import Floats
from anguilla.fem.results import SoftEquilibrium
from anguilla.mixed.half import Half
from anguilla.mixed.model import MixedModel
from anguilla.results.acting import OfEnergies
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.store.record import Record

__all__ = ["MixedEquilibrium", "MixedTrajectory"]


class _WithVolumes(OfEnergies):
    """What results of robots with volumes share: energies and momenta count all parts, files hold them."""

    volumes: Mapping[str, Any]
    mixed: MixedModel | None  # the model it was computed with

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
        return found

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

    def _picked(self, rows: Any) -> MixedTrajectory:
        found = super()._picked(rows)
        volumes = {name: motion._picked(rows) for name, motion in self.volumes.items()}
        object.__setattr__(found, "volumes", volumes)
        assert isinstance(found, MixedTrajectory)
        return found
