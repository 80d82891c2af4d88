"""What the solvers of soft bodies return."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anguilla._doors import public
from anguilla._lazy import ShowsItself
from anguilla.errors import DescriptionError
from anguilla.fem.body import SoftBody
from anguilla.fem.contact import Grip, Touched, points_of
from anguilla.fem.fields import equivalent_strain, von_mises
from anguilla.fem.mesh import Floats, Ints, TetMesh
from anguilla.fem.parts import Chamber, Tendon
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.interact.volume_contact import VolumeContact
from anguilla.results.contacts import TouchPoints
from anguilla.results.states import Status
from anguilla.store.kept import Kept
from anguilla.store.record import Record

__all__ = ["SoftEquilibrium", "Status"]


def pick(name: str, names: list[str], what: str) -> int:
    """Place of a name in a list, or an error that lists them."""
    if name not in names:
        raise DescriptionError(f"there is no {what} {name!r}; there are: {', '.join(names) or 'none'}.")
    return names.index(name)


@public
@dataclass(frozen=True)
class SoftEquilibrium(Kept, ShowsItself):
    """A static equilibrium of a soft body.

    Attributes:
        body: the description.
        status: how the solver ended, with counters.
        x: (n, 3) positions of the nodes [m]; the points of the mesh come first.
        efforts: (actuators,) tensions [N] and pressures [Pa], those given and those found.

    """

    body: SoftBody
    system: SoftSystem = field(repr=False)
    state: SoftState = field(repr=False)
    efforts: Floats
    status: Status
    grip: Grip | None = field(default=None, repr=False)
    touched: Touched | None = field(default=None, repr=False)

    @property
    def x(self) -> Floats:
        """Positions (n, 3) [m] of the nodes."""
        return self.state.x

    @property
    def points(self) -> Floats:
        """Positions (n, 3) [m] of the points of the mesh."""
        return self.state.x[: len(self.body.mesh.points)]

    @property
    def inputs(self) -> dict[str, float]:
        """Tension [N] or pressure [Pa] of every actuator, by name."""
        return dict(zip(self.system.names, self.efforts.tolist(), strict=True))

    def position(self, effector: str) -> Floats:
        """Position (3,) [m] of an effector."""
        return self.system.frames.position(self.x, pick(effector, self.system.frames.names, "effector"))

    def rotation(self, effector: str) -> Floats:
        """Rotation (3, 3) since rest of an effector made with orientation=True."""
        k = pick(effector, self.system.frames.names, "effector")
        if self.system.frames.rows[k] == 3:
            raise DescriptionError(f"effector {effector!r} has no orientation: add it with orientation=True.")
        return self.system.frames.rotation(self.x, k)

    def length(self, name: str) -> float:
        """Length [m] of a string or of a tendon."""
        if name in self.system.sensors:
            return float(self.system.readings(self.state)[self.system.sensors.index(name)])
        tendons = [key for key, part in self.body.actuators.items() if isinstance(part, Tendon)]
        return float(self.system.cable_lengths(self.x)[pick(name, tendons, "string or tendon")])

    def volume(self, name: str) -> float:
        """Volume [m^3] of a chamber."""
        chambers = [key for key, part in self.body.actuators.items() if isinstance(part, Chamber)]
        return float(self.system.cavity_volumes(self.x)[pick(name, chambers, "chamber")])

    def stroke(self, name: str) -> float:
        """Stroke of an actuator: shortening [m] of a tendon, gain of volume [m^3] of a chamber."""
        return float(self.system.strokes(self.state)[pick(name, self.system.names, "actuator")])

    @property
    def energy(self) -> float:
        """Potential energy [J]: elastic, of gravity, loads, tendons and pressures."""
        return self.system.evaluate(self.state, self.efforts, grip=self.grip)[0]

    @property
    def elastic_energy(self) -> float:
        """Elastic energy [J]."""
        system = self.system
        energy = system.evaluate(self.state, self.efforts, grip=self.grip)[0]
        scratch = np.zeros_like(self.x)
        return energy - system.external_forces(self.x, self.efforts, 1.0, 0.0, scratch, system.nothing_pulled, False)

    @property
    def imbalance(self) -> float:
        """Largest force left on a node [N]."""
        _, gradient, _ = self.system.evaluate(self.state, self.efforts, grip=self.grip)
        return float(np.abs(self.system.unknowns.gather(self.x, gradient[None])).max())

    @property
    def balance(self) -> float:
        """Sum of the forces left on the nodes, over that of the loads [-]: 0 in perfect balance."""
        from anguilla.fem.equilibrium import unbalanced

        return unbalanced(self.system, self.state, self.efforts, self.grip)

    def reaction(self, moved: str | None = None) -> Floats:
        """Force (3,) [N] that the supports exert on the body, or the points of a moved set, by its name."""
        _, gradient, _ = self.system.evaluate(self.state, self.efforts, grip=self.grip)
        if moved is not None:
            names = list(self.system.moved_nodes)
            return gradient[self.system.moved_nodes[names[pick(moved, names, "moved set")]]].sum(axis=0)
        gradient[self.system.driven] = 0.0
        held = self.system.unknowns.first < 0
        total = gradient[held].sum(axis=0)
        partly = self.system.unknowns.free
        return total + np.where(self.system.unknowns.held[: len(partly)], gradient[partly], 0.0).sum(axis=0)

    def contact_points(self, contact: VolumeContact) -> TouchPoints:
        """Where a contact touches: place (k, 3) [m] and force (k, 3) [N] of the body on what it touches, world axes."""
        return points_of(self.system.touching, self.touched, contact)

    def stress(self) -> Floats:
        """Von Mises stress (m,) [Pa] of each tetrahedron, of the Cauchy stress averaged over its points."""
        return von_mises(self.system, self.x)

    def strain(self) -> Floats:
        """Equivalent strain (m,) [-] of each tetrahedron: sqrt(2/3) times the norm of the deviator of the logarithmic one."""
        return equivalent_strain(self.system, self.x)

    def deformed(self) -> TetMesh:
        """The mesh as it is deformed."""
        mesh = self.body.mesh
        return TetMesh(self.points.copy(), mesh.tets, mesh.nodes, mesh.surfaces, mesh.regions)

    def surface(self) -> Ints:
        """Triangles (k, 3) of the boundary through all nodes, for drawing with `x`."""
        return self.system.grid.refine(self.body.mesh.boundary)

    def _record(self) -> Record:
        from anguilla.fem.keep import gather

        return gather(self)

    def __repr__(self) -> str:
        return f"<equilibrium of {self.body.name!r}: {self.status.message}>"
