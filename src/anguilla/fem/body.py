"""The description of a soft volume: a mesh, its material, what holds it, what pulls it, what is measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anguilla._lazy import ShowsItself
from anguilla.describe.description import as_name, did_you_mean
from anguilla.describe.material import Material
from anguilla.describe.sensors import Sensor
from anguilla.describe.volumes import SoftPart
from anguilla.errors import DescriptionError, as_array, as_vector, refuse
from anguilla.fem.elements import KINDS
from anguilla.fem.hyperelastic import NUMBERS, Fibres, Rubber
from anguilla.fem.laws import LAWS
from anguilla.fem.mesh import Floats, Ints, TetMesh, Where, enclosed_volume, find_nodes, locate, open_edges
from anguilla.fem.parts import (
    Chamber,
    Effector,
    Goal,
    Layer,
    Moved,
    PointForce,
    PointMass,
    Spring,
    String,
    Tendon,
    Traction,
)
from anguilla.interact.volume_contact import VolumeContact

__all__ = ["SoftBody"]

MOST_POISSON = 0.4999


class SoftBody(SoftPart, ShowsItself):
    """A soft volume as a robot of its own.

    Attributes:
        name: its name.
        mesh: its tetrahedra at rest [m].
        material: its material; Poisson's ratio below 0.5.
        law: "corotational" (small strain, large rotation), "st_venant" (002 (20)), "neo_hookean" (large strain), or a law of
            rubber with numbers of its own: `fem.MooneyRivlin`, `fem.Yeoh`, `fem.Ogden`.
        element: "linear" tetrahedra; "averaged" (linear, volume strain averaged around nodes: no volumetric locking);
            "quadratic" (ten nodes: no locking, accurate bending).
        gravity: acceleration [m/s^2].

    Example:
        >>> from anguilla import Material, fem
        >>> silicone = Material(young=2e5, poisson=0.45, density=1070)
        >>> body = fem.SoftBody("bar", fem.block((0.1, 0.01, 0.01), (10, 2, 2)), silicone, element="quadratic")
        >>> body.fix("base")
        >>> body.actuate("pull", fem.Tendon([(0.0, 0.0, 0.004), (0.1, 0.0, 0.004)]))
        >>> body.effector("tip", (0.1, 0.0, 0.0))
        >>> fem.statics(body, inputs={"pull": 0.1}).position("tip")

    """

    def __init__(
        self, name: str, mesh: TetMesh, material: Material, *, law: str | Rubber = "corotational", element: str = "linear",
        gravity: ArrayLike = (0.0, 0.0, -9.81),
    ) -> None:  # fmt: skip
        self.name = as_name(name, "SoftBody.name")
        if not isinstance(mesh, TetMesh):
            raise refuse("SoftBody.mesh", "a TetMesh, such as fem.block(...) or fem.read_mesh(...)", mesh)
        self.mesh = mesh
        self.material = _solid(material, "SoftBody.material")
        named = (
            [(element, KINDS, "element")]
            if isinstance(law, Rubber)
            else [(law, tuple(LAWS), "law"), (element, KINDS, "element")]
        )
        for value, known, field in named:
            if value not in known:
                hint = did_you_mean(value, known) if isinstance(value, str) else ""
                raise DescriptionError(f"SoftBody.{field} must be one of {', '.join(known)}; got {value!r}{hint}.")
        self.law, self.element = law, element
        self.gravity = gravity
        self.materials: dict[str, Material] = {}
        self.laws: dict[str, Rubber] = {}
        self.natural: dict[str, Floats] = {}
        self.fibres: list[Fibres] = []
        self.fixed = np.zeros((len(mesh.points), 3), dtype=bool)
        self.moves: dict[str, Moved] = {}
        self.rigid_parts: dict[str, Ints] = {}
        self.actuators: dict[str, Tendon | Chamber] = {}
        self.sensors: dict[str, String] = {}
        self.instruments: dict[str, Sensor] = {}
        self.effectors: dict[str, Effector] = {}
        self.loads: list[PointForce] = []
        self.tractions: list[Traction] = []
        self.springs: list[Spring] = []
        self.masses: list[PointMass] = []
        self.layers: list[Layer] = []
        self.contacts: list[VolumeContact] = []

    @property
    def gravity(self) -> Floats:
        """Acceleration of gravity (3,) [m/s^2]; a vector may be set."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = as_vector(value, 3, "SoftBody.gravity", "m/s^2")

    def fix(self, where: Where, axes: str = "xyz") -> None:
        """Hold points where they are.

        Args:
            where: a named set of the mesh, numbers, a mask, or a function of positions (n, 3) returning a mask.
            axes: the directions held, such as "xyz" or "z".

        """
        nodes = find_nodes(self.mesh, where, "fix")
        if not axes or any(axis not in "xyz" for axis in axes):
            raise refuse("fix.axes", 'some of the letters "xyz"', axes)
        for axis in axes:
            self.fixed[nodes, "xyz".index(axis)] = True

    def move(self, name: str, where: Where, to: Goal = (0.0, 0.0, 0.0)) -> None:
        """Prescribe where points are: a grip, a moving base. Solvers take other values by name (``moves=``).

        Args:
            name: name of the set.
            where: its points, as those of `fix`.
            to: a displacement (3,) [m], a pose (4, 4) that takes rest to there, or a function of t [s] giving one.

        """
        nodes = find_nodes(self.mesh, where, "move")
        self._new(name, "move", self.moves)
        for other, own in self.moves.items():
            if len(np.intersect1d(own.nodes, nodes)):
                raise DescriptionError(f"move {name!r} shares points with {other!r}.")
        if self.fixed[nodes].any():
            raise DescriptionError(f"move {name!r} has points that are fixed: a point is fixed or moved.")
        self.moves[name] = Moved(nodes, to)

    def rigid(self, name: str, where: Where) -> None:
        """Make a set of points move as one rigid body (a vertebra, 002 IV-D2): six unknowns instead of three each.

        Args:
            name: name of the rigid part.
            where: its points, as those of `fix`.

        """
        nodes = find_nodes(self.mesh, where, "rigid")
        self._new(name, "rigid", self.rigid_parts)
        for other, own in self.rigid_parts.items():
            if len(np.intersect1d(own, nodes)):
                raise DescriptionError(f"rigid {name!r} shares points with {other!r}.")
        if np.linalg.matrix_rank(self.mesh.points[nodes] - self.mesh.points[nodes].mean(axis=0), tol=1e-9) < 2:
            raise DescriptionError(f"rigid {name!r} needs at least three points that are not on one line.")
        self.rigid_parts[name] = nodes

    def paint(self, region: str, material: Material, *, law: Rubber | None = None) -> None:
        """Give a named region of the mesh another material, and another law of rubber if the body has one."""
        self._region(region, "paint")
        if law is not None and not (isinstance(law, Rubber) and isinstance(self.law, Rubber)):
            raise DescriptionError(
                "paint: a region may have a law of its own (fem.MooneyRivlin, fem.Yeoh, fem.Ogden) if the body has one."
            )
        self.materials[region] = _solid(material, f"paint[{region!r}]")
        if law is not None:
            self.laws[region] = law

    def _region(self, region: str, what: str) -> None:
        if region not in self.mesh.regions:
            known = ", ".join(self.mesh.regions) or "none"
            raise DescriptionError(
                f"{what}: the mesh has no region {region!r}{did_you_mean(region, self.mesh.regions)}; it has: {known}."
            )

    def prestrain(self, natural: ArrayLike, region: str = "") -> None:
        """Say in which shape a region is free of stress, if that is not the shape of the mesh (growth, heat, pre-stretch).

        Args:
            natural: stretches (3,) along x, y, z, or a deformation gradient (3, 3), that take the mesh to that shape: 1.02
                along x for a part that would be 2 % longer if nothing held it.
            region: name of a region of the mesh; the whole body if not given.

        """
        if region:
            self._region(region, "prestrain")
        wanted = "three positive stretches, or a matrix (3, 3) with a positive determinant"
        value = as_array(natural, "prestrain", wanted)
        if value.shape not in ((3,), (3, 3)):
            raise refuse("prestrain", wanted, natural)
        matrix = np.diag(value) if value.ndim == 1 else value
        if not np.linalg.det(matrix) > 0.0 or (value.ndim == 1 and np.any(value <= 0.0)):
            raise refuse("prestrain", wanted, natural)
        self.natural[region] = matrix

    def reinforce(self, fibres: Fibres) -> None:
        """Add `fem.Fibres`."""
        if not isinstance(fibres, Fibres):
            raise refuse("reinforce", "a fem.Fibres", fibres)
        if fibres.region is not None:
            self._region(fibres.region, "reinforce")
        if callable(fibres.direction):  # as numbers, which a file can hold
            middles = self.mesh.points[self.mesh.tets].mean(axis=1)
            own = middles if fibres.region is None else middles[self.mesh.regions[fibres.region]]
            fibres = replace(fibres, direction=fibres.along(own, None))
        self.fibres.append(fibres)

    def actuate(self, name: str, actuator: Tendon | Chamber) -> None:
        """Add an actuator.

        Args:
            name: name of its input.
            actuator: a `fem.Tendon`, whose input is its tension [N], or a `fem.Chamber`, whose input is its pressure [Pa].

        """
        self._new(name, "actuate", self.actuators)
        if isinstance(actuator, Tendon):
            locate(self.mesh, actuator.points, f"The guide points of {name!r}", pad=actuator.pad)
        elif isinstance(actuator, Chamber):
            self.surface(actuator.surface, name)
        else:
            raise refuse("actuate", "a fem.Tendon (its guides from fem.route, say) or a fem.Chamber", actuator)
        self.actuators[name] = actuator

    def sense(self, name: str, sensor: String | Sensor) -> None:
        """Add a sensor, whose reading `Stepper.read` gives.

        Args:
            name: name of the sensor.
            sensor: a `fem.String`, which measures a length [m], or a sensor as robots have them (`anguilla.sensors`):
                Position, Velocity or Pose of an effector, LineLength of a tendon, Effort of an actuator, by their names.

        """
        self._new(name, "sense", self.sensors | self.instruments)
        if not isinstance(sensor, String):
            from anguilla.fem.sensing import check_sensor

            self.instruments[name] = check_sensor(self, name, sensor)
            return
        locate(self.mesh, sensor.points, f"The guide points of {name!r}", pad=sensor.pad)
        self.sensors[name] = sensor

    def effector(self, name: str, effector: Effector | ArrayLike) -> None:
        """Add an effector: a place of the body that is to be moved.

        Args:
            name: name of the effector.
            effector: a `fem.Effector`, or just its position at rest (3,) [m].

        """
        self._new(name, "effector", self.effectors)
        item = effector if isinstance(effector, Effector) else Effector(effector)
        if item.radius is None:
            locate(self.mesh, item.point, f"The place of effector {name!r}")
        self.effectors[name] = item

    def load(self, load: PointForce | Traction | Spring | PointMass | VolumeContact) -> None:
        """Add a `fem.PointForce`, `fem.Traction`, `fem.Spring` or `fem.PointMass`, or an `ag.Contact` with an obstacle."""
        if getattr(load, "of_volume", False):
            assert not isinstance(load, PointForce | Traction | Spring | PointMass)
            if load.volume is not self:
                raise DescriptionError(f"load: {load.label} is of another volume; this one is {self.name!r}.")
            if load.surface is not None:
                self.patch(load.surface)
            self.contacts.append(load)
            return
        if isinstance(load, Traction):
            self.patch(load.where)
            named = isinstance(load.where, str)
            where = load.where if named else find_nodes(self.mesh, load.where, "Traction.where")
            self.tractions.append(Traction(where, load.stress))
            return
        lists: tuple[tuple[type, list[Any]], ...] = (
            (PointForce, self.loads), (Spring, self.springs), (PointMass, self.masses),
        )  # fmt: skip
        item: Any = load
        for kind, found in lists:
            if issubclass(type(item), kind):
                locate(self.mesh, item.point, "The place of the load")
                found.append(item)
                return
        wanted = "a fem.PointForce, a fem.Traction, a fem.Spring, a fem.PointMass, or an ag.Contact of this body"
        raise refuse("load", wanted, load)

    def patch(self, where: Where) -> Ints:
        """Faces (k, 3) of the boundary that a traction loads: those of a named surface, or between given points."""
        outside = self.mesh.boundary
        if isinstance(where, str) and where in self.mesh.surfaces:
            n = len(self.mesh.points)
            code = lambda t: np.sort(t, axis=1) @ np.array([n * n, n, 1])
            wanted = self.mesh.surfaces[where]
            if not np.all(np.isin(code(wanted), code(outside))):
                raise DescriptionError(f"Traction: surface {where!r} has triangles that are not faces of the boundary.")
            return wanted
        chosen = np.zeros(len(self.mesh.points), dtype=bool)
        chosen[find_nodes(self.mesh, where, "Traction.where")] = True
        faces = outside[chosen[outside].all(axis=1)]
        if not len(faces):
            raise DescriptionError("Traction.where: no face of the boundary has all its corners among these points.")
        return faces

    def cover(self, layer: Layer) -> None:
        """Add a thin stiff layer."""
        if not isinstance(layer, Layer):
            raise refuse("cover", "a fem.Layer", layer)
        self.layer_triangles(layer)
        self.layers.append(layer)

    def surface(self, surface: str | Ints, name: str) -> Ints:
        """Triangles (k, 3) of a chamber, checked: closed, and turned so that normals point out of the enclosed space."""
        if isinstance(surface, str):
            if surface not in self.mesh.surfaces:
                known = ", ".join(self.mesh.surfaces) or "none"
                raise DescriptionError(
                    f"Chamber {name!r}: the mesh has no surface {surface!r}{did_you_mean(surface, self.mesh.surfaces)}; "
                    f"it has: {known}."
                )
            triangles = self.mesh.surfaces[surface]
        else:
            triangles = surface
            if triangles.min() < 0 or triangles.max() >= len(self.mesh.points):
                raise DescriptionError(f"Chamber {name!r} names points that the mesh does not have.")
        gaps = open_edges(triangles)
        if gaps:
            raise DescriptionError(
                f"Chamber {name!r} is open or twisted: {gaps} of its edges have no partner. A pressure needs a closed "
                "surface; close the ends with triangles between points of the rims, all turned the same way."
            )
        return (
            triangles
            if enclosed_volume(self.mesh.points, triangles) > 0.0
            else np.ascontiguousarray(triangles[:, ::-1])
        )

    def layer_triangles(self, layer: Layer) -> Ints:
        """Triangles (k, 3) of a layer; they must be faces of the mesh."""
        if isinstance(layer.triangles, str):
            if layer.triangles == "boundary":
                return self.mesh.boundary
            if layer.triangles not in self.mesh.surfaces:
                raise DescriptionError(f"Layer: the mesh has no surface {layer.triangles!r}.")
            triangles = self.mesh.surfaces[layer.triangles]
        else:
            triangles = layer.triangles
        faces = np.sort(self.mesh.tets[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1)
        n = len(self.mesh.points)
        code = lambda t: (t[:, 0] * n + t[:, 1]) * n + t[:, 2]
        missing = ~np.isin(code(np.sort(triangles, axis=1)), code(faces))
        if missing.any():
            raise DescriptionError(f"Layer: {missing.sum()} of its triangles are not faces of the mesh.")
        return triangles

    def lame(self) -> tuple[Floats, Floats, Floats]:
        """Lame's mu and lambda [Pa] and the density [kg/m^3] of every tetrahedron."""
        count = len(self.mesh.tets)
        mu, lam, density = (np.empty(count) for _ in range(3))
        for where, material in [(slice(None), self.material)] + [
            (self.mesh.regions[name], material) for name, material in self.materials.items()
        ]:
            shear = material.shear_modulus
            poisson = material.young / (2.0 * shear) - 1.0
            mu[where], density[where] = shear, material.density
            lam[where] = material.young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
        for where, law, material in self._rubbers():
            poisson = material.young / (2.0 * material.shear_modulus) - 1.0
            mu[where], lam[where] = law.shear, law.bulk_for(poisson)
        return mu, lam, density

    @property
    def places(self) -> Floats:
        """Its points (n, 3) at rest [m]."""
        return self.mesh.points

    def points_of(self, where: Where, what: str) -> Ints:
        """Numbers of the points that a user means."""
        return find_nodes(self.mesh, where, what)

    @property
    def units(self) -> dict[str, str]:
        """Units of its inputs, by name."""
        return {name: "N" if isinstance(part, Tendon) else "Pa" for name, part in self.actuators.items()}

    @property
    def inputs(self) -> dict[str, str]:
        """Units of its inputs, by name, as `Robot.inputs`."""
        return self.units

    def _rubbers(self) -> list[tuple[Any, Rubber, Material]]:
        """(tetrahedra, law, material) of laws of rubber, later ones over earlier ones; none for the built-in laws."""
        if not isinstance(self.law, Rubber):
            return []
        return [(slice(None), self.law, self.material)] + [
            (self.mesh.regions[name], self.laws.get(name, self.law), material)
            for name, material in self.materials.items()
        ]

    def rubber(self) -> Floats:
        """Numbers (m, NUMBERS) of the law of rubber of each tetrahedron, or (0, NUMBERS) for the built-in laws."""
        found = self._rubbers()
        out = np.zeros((len(self.mesh.tets) if found else 0, NUMBERS))
        for where, law, _ in found:
            out[where] = law.row()
        return out

    def _new(self, name: object, what: str, known: dict[str, Any]) -> None:
        key = as_name(name, f"{what}: name")
        if key in known:
            raise DescriptionError(f"{what}: body {self.name!r} already has {name!r}.")

    def __repr__(self) -> str:
        kind = type(self.law).__name__ if isinstance(self.law, Rubber) else self.law
        return f"<SoftBody {self.name!r}: {self.mesh!r}, {kind}, {self.element}>"


def _solid(material: object, name: str) -> Material:
    if not isinstance(material, Material):
        raise refuse(name, "a Material", material)
    poisson = material.young / (2.0 * material.shear_modulus) - 1.0
    if not -1.0 < poisson <= MOST_POISSON:
        raise DescriptionError(
            f"{name}: a volume needs Poisson's ratio below {MOST_POISSON}; got {poisson:g}. Take 0.49 for rubber, with "
            'element="quadratic" or "averaged".'
        )
    return material


def as_body(body: object) -> SoftBody:
    """Check that a solver got a soft body."""
    if not isinstance(body, SoftBody):
        raise refuse("body", "a SoftBody", body)
    return body
