"""What a user puts on a soft body: tendons, chambers, strings, effectors, loads, stiff layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe.actuators import Routing, warn_slack
from anguilla.describe.description import Description
from anguilla.describe.material import Material
from anguilla.errors import (
    DescriptionError,
    as_array,
    as_count,
    as_flag,
    as_nonnegative,
    as_number,
    as_pose,
    as_positive,
    as_vector,
    refuse,
)
from anguilla.fem.mesh import Floats

__all__ = [
    "Chamber",
    "Effector",
    "Layer",
    "Moved",
    "PointForce",
    "PointMass",
    "Spring",
    "String",
    "Tendon",
    "Traction",
    "route",
]

INF = float("inf")
Words = tuple[
    str, str, str, str
]  # of an actuator: field of its limits, kind and unit of its effort, unit of its stroke
ROUNDING = 1e-9  # [N] of negative tension that nobody means


def _points(value: object, name: str, least: int) -> Floats:
    wanted = f"at least {least} positions of shape (k, 3) [m]"
    if isinstance(value, Routing):
        raise DescriptionError(
            f"{name} must be {wanted}; got a Routing: give route(routing, length), which makes them."
        )
    points = np.atleast_2d(as_array(value, name, wanted))
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < least:
        raise refuse(name, wanted, value)
    return points


def _limit(value: object, name: str, unit: str) -> float:
    if isinstance(value, float) and np.isinf(value):
        return value
    return as_number(value, name, unit)


@public
def route(routing: Routing, span: float | ArrayLike, *, guides: int = 11, pose: ArrayLike | None = None) -> Floats:
    """Guide points (guides, 3) [m] of a tendon or string described like one along a rod.

    Args:
        routing: `parallel(...)`, `convergent(...)`, `helical(...)` or any Routing, with X along the axis of the body.
        span: arc lengths (from, to) [m], or the length if it begins at 0.
        guides: number of guide points; between them the line is straight, so that the difference to a rod's continuous tendon
            falls with the square of their distance.
        pose: (4, 4) of the axis at rest: its x is along the body, its origin is where X = 0; the world's by default.

    """
    if not isinstance(routing, Routing):
        raise refuse("route.routing", "a Routing such as parallel(y=0.01)", routing)
    ends = np.atleast_1d(as_array(span, "route.span", "a length, or two arc lengths [m]"))
    low, high = (0.0, float(ends[0])) if len(ends) == 1 else as_vector(span, 2, "route.span", "m")
    if not low < high:
        raise refuse("route.span", "a positive length, or two increasing arc lengths [m]", span)
    X = np.linspace(low, high, as_count(guides, "route.guides", 2))
    points = routing.offset(X) + np.outer(X, [1.0, 0.0, 0.0])
    if pose is None:
        return points
    g = as_pose(pose, "route.pose")
    return points @ g[:3, :3].T + g[:3, 3]


@dataclass(eq=False)
class _Line(Description):
    """A frictionless line through guide points of the body.

    Attributes:
        points: (k, 3) guide points [m] at rest, inside or on the mesh, from the end that is pulled to the end that is fixed.
        origin: a point fixed in the world [m] from which the line comes; without it the line begins at the first point.
        pad: radius [m] of the area that holds each guide point: a pull on a single point would dig into a soft body, the
            deeper the finer the mesh. 0 holds it by the element around it. A guide point may lie outside the mesh by as much.

    """

    points: Any
    origin: Any = None
    pad: float = field(default=0.0, kw_only=True)

    def _check(self) -> None:
        kind = type(self).__name__
        self.points = _points(self.points, f"{kind}.points", 2 if self.origin is None else 1)
        if self.origin is not None:
            self.origin = as_vector(self.origin, 3, f"{kind}.origin", "m")
        self.pad = as_nonnegative(self.pad, f"{kind}.pad", "m")
        chain = self.points if self.origin is None else np.vstack([self.origin, self.points])
        if np.any(np.linalg.norm(np.diff(chain, axis=0), axis=1) <= 0.0):
            raise DescriptionError(f"{kind}.points: two neighbours are the same point; a segment needs a direction.")


@dataclass(eq=False)
class Tendon(_Line):
    """A tendon (002 II-C a); its input is the tension [N], positive pulls; its stroke is by how much it got shorter [m].

    Attributes:
        points: (k, 3) guide points [m] at rest, from the end that is pulled to the end that is fixed.
        origin: a point fixed in the world [m] from which it is pulled, or None.
        pad: radius [m] of the area that holds each guide point.
        force: smallest and largest tension [N]; a tendon cannot push.
        stroke: smallest and largest stroke [m].
        friction: Coulomb friction at the guide points [-]: tension falls by exp(-friction x angle) at each of them.

    """

    force: tuple[float, float] = field(default=(0.0, INF), kw_only=True)
    stroke: tuple[float, float] = field(default=(-INF, INF), kw_only=True)
    friction: float = field(default=0.0, kw_only=True)

    words: ClassVar[Words] = ("force", "tension", "N", "m")
    least: ClassVar[str] = "a tendon cannot push"

    def _check(self) -> None:
        super()._check()
        self.force = _range(self.force, "Tendon.force", "N")
        if self.force[0] < 0.0:
            raise refuse("Tendon.force", "two tensions [N], none negative: a tendon cannot push", self.force)
        self.stroke = _range(self.stroke, "Tendon.stroke", "m")
        self.friction = as_nonnegative(self.friction, "Tendon.friction")

    def is_slack(self, tension: float) -> bool:
        """Whether a function of time or a command that gives this tension [N] leaves it slack."""
        return tension < 0.0 == self.force[0]


@dataclass(eq=False)
class String(_Line):
    """A string potentiometer (002 II-D): it measures the length of its line [m] and does not pull."""


@dataclass(eq=False)
class Chamber(Description):
    """A closed cavity under pressure (002 II-C b); its input is the pressure [Pa], positive inflates.

    Its stroke is the volume gained since rest [m^3].

    Attributes:
        surface: name of a closed surface of the mesh, or triangles (k, 3) whose normals point out of the enclosed space.
        pressure: smallest and largest pressure [Pa]; give a negative minimum if there is vacuum.
        stroke: smallest and largest gain of volume [m^3].
        fluid_density: density of the fluid inside [kg/m^3]; its weight loads the walls (hydraulics). 0 for air.
        port: where the pressure is measured [m], fixed in the world; matters only with a heavy fluid.

    """

    surface: Any
    pressure: tuple[float, float] = field(default=(0.0, INF), kw_only=True)
    stroke: tuple[float, float] = field(default=(-INF, INF), kw_only=True)
    fluid_density: float = field(default=0.0, kw_only=True)
    port: Any = field(default=(0.0, 0.0, 0.0), kw_only=True)

    words: ClassVar[Words] = ("pressure", "pressure", "Pa", "m^3")
    least: ClassVar[str] = "give a negative minimum if there is vacuum"

    def _check(self) -> None:
        if not isinstance(self.surface, str):
            triangles = np.asarray(self.surface)
            if triangles.dtype.kind not in "iu" or triangles.ndim != 2 or triangles.shape[1] != 3 or not len(triangles):
                raise refuse("Chamber.surface", "the name of a surface of the mesh, or triangles (k, 3)", self.surface)
            self.surface = triangles.astype(np.int64)
        self.pressure = _range(self.pressure, "Chamber.pressure", "Pa")
        self.stroke = _range(self.stroke, "Chamber.stroke", "m^3")
        self.fluid_density = as_nonnegative(self.fluid_density, "Chamber.fluid_density", "kg/m^3")
        self.port = as_vector(self.port, 3, "Chamber.port", "m")

    @property
    def force(self) -> tuple[float, float]:
        """Limits of the input, under the name all actuators share."""
        return self.pressure

    def is_slack(self, pressure: float) -> bool:
        """Never: its smallest pressure is a limit."""
        return False


def beyond(name: str, part: Tendon | Chamber, value: float, *, stroke: bool = False) -> str:
    """What is wrong with an effort, or a stroke, of an actuator that its limits do not allow, in words."""
    low, high = part.stroke if stroke else part.force
    field, kind, unit, travel = part.words
    if stroke:
        field, kind, unit = "stroke", "stroke", travel
    reason = f" ({part.least})" if not stroke and value < min(low, 0.0) else ""
    return (
        f"the {kind} of {name!r} must lie between {low:g} and {high:g} {unit}, the limits in its {field}=; "
        f"got {value:.6g}{reason}"
    )


def slackened(
    parts: Mapping[str, Tendon | Chamber], inputs: Mapping[str, float], when: str, told: set[str]
) -> dict[str, float]:
    """Inputs by name in which tendons with a negative tension are slack; told once for each, `told` remembers which."""
    found = dict(inputs)
    for name, value in inputs.items():
        if name in parts and parts[name].is_slack(value):
            found[name] = 0.0
            if value < -ROUNDING and name not in told:
                told.add(name)
                warn_slack(name, value, when, rods=False)
    return found


def _range(value: object, name: str, unit: str) -> tuple[float, float]:
    wanted = f"two increasing numbers [{unit}], the smallest and the largest"
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
        raise refuse(name, wanted, value)
    low, high = (_limit(v, name, unit) for v in value)
    if not low <= high:
        raise refuse(name, wanted, value)
    return low, high


@dataclass(eq=False)
class Effector(Description):
    """A point of the body whose position matters (002 II-B), with its orientation if asked for.

    Attributes:
        point: position at rest [m]; inside or on the mesh, unless a radius is given.
        orientation: also follow the mean rotation of the surroundings.
        radius: the mean of the nodes within this distance [m] carries it (the middle of a hollow plate, say); by default the
            tetrahedron around it.

    """

    point: Any
    orientation: bool = False
    radius: float | None = None

    def _check(self) -> None:
        self.point = as_vector(self.point, 3, "Effector.point", "m")
        self.orientation = as_flag(self.orientation, "Effector.orientation")
        if self.radius is not None:
            self.radius = as_positive(self.radius, "Effector.radius", "m")

    @property
    def rows(self) -> int:
        """Number of rows: 3 for the position, 3 more for the rotation."""
        return 6 if self.orientation else 3


@dataclass(eq=False)
class PointForce(Description):
    """A constant force at a point of the body, in world axes; the load at an effector (002, lambda_e = m g).

    Attributes:
        point: position at rest [m], inside or on the mesh.
        force: force [N], a vector or a function t [s] -> vector (dynamics).

    """

    point: Any
    force: Any

    def _check(self) -> None:
        self.point = as_vector(self.point, 3, "PointForce.point", "m")
        if not callable(self.force):
            self.force = as_vector(self.force, 3, "PointForce.force", "N")

    def at(self, t: float) -> Floats:
        """The force (3,) [N] at a time [s]."""
        value: ArrayLike | Callable[[float], ArrayLike] = self.force
        return as_vector(value(t), 3, "PointForce.force", "N") if callable(value) else np.asarray(value)


@public
@dataclass(eq=False)
class Traction(Description):
    """A force spread over a part of the boundary, in world axes: it keeps its direction while the body turns.

    Attributes:
        where: name of a surface of the mesh, or what `fix` takes: faces of the boundary with all corners among these points.
        stress: force over the area at rest [Pa], a vector or a function t [s] -> vector (dynamics).

    """

    where: Any
    stress: Any

    def _check(self) -> None:
        if not callable(self.stress):
            self.stress = as_vector(self.stress, 3, "Traction.stress", "Pa")

    def at(self, t: float) -> Floats:
        """The stress (3,) [Pa] at a time [s]."""
        value: ArrayLike | Callable[[float], ArrayLike] = self.stress
        return as_vector(value(t), 3, "Traction.stress", "Pa") if callable(value) else np.asarray(value)


@public
@dataclass(eq=False)
class Spring(Description):
    """A spring between a point of the body and the world: its force is -stiffness (x - anchor), axis by axis.

    Attributes:
        point: position at rest [m], inside or on the mesh.
        stiffness: [N/m], a number or one for each of x, y, z.
        anchor: where the spring is at ease [m]; the point at rest if not given.

    """

    point: Any
    stiffness: Any
    anchor: Any = None

    def _check(self) -> None:
        self.point = as_vector(self.point, 3, "Spring.point", "m")
        wanted = "a stiffness [N/m] that is not negative, or one for each of x, y, z"
        stiffness = as_array(self.stiffness, "Spring.stiffness", wanted)
        if stiffness.shape not in ((), (3,)) or np.any(stiffness < 0.0):
            raise refuse("Spring.stiffness", wanted, self.stiffness)
        self.stiffness = np.broadcast_to(stiffness, 3).astype(float)
        if self.anchor is not None:
            self.anchor = as_vector(self.anchor, 3, "Spring.anchor", "m")


@public
@dataclass(eq=False)
class PointMass(Description):
    """A mass at a point of the body: its weight loads it, and its inertia counts in motion.

    Attributes:
        point: position at rest [m], inside or on the mesh.
        mass: [kg].

    """

    point: Any
    mass: float

    def _check(self) -> None:
        self.point = as_vector(self.point, 3, "PointMass.point", "m")
        self.mass = as_nonnegative(self.mass, "PointMass.mass", "kg")


Goal = ArrayLike | Callable[[float], ArrayLike]
GOAL = "a displacement (3,) [m], a pose (4, 4) that takes rest to there, or a function of t [s] giving one"


def as_goal(value: object, name: str) -> Goal:
    """Check a displacement or a pose; functions are checked when they are asked."""
    if callable(value):
        return value
    array = as_array(value, name, GOAL)
    if array.shape == (4, 4):
        return as_pose(array, name)
    if array.shape != (3,):
        raise refuse(name, GOAL, value)
    return array


@dataclass(eq=False)
class Moved(Description):
    """Points of the body whose motion is given.

    Attributes:
        nodes: numbers of the points.
        to: a displacement (3,) [m], a pose (4, 4) that takes rest to there, or a function of t [s] giving one.

    """

    nodes: Any
    to: Any

    def _check(self) -> None:
        self.nodes = np.asarray(self.nodes, dtype=np.int64)
        self.to = as_goal(self.to, "Moved.to")


@dataclass(eq=False)
class Layer(Description):
    """A thin stiff layer (fabric, film, skin) stuck to triangles of the mesh: it resists stretch, not bending.

    Attributes:
        triangles: (k, 3) corners in the mesh, or "boundary" for the whole boundary, or the name of a surface.
        thickness: thickness [m].
        material: its material, taken in plane stress.

    """

    triangles: Any
    thickness: float
    material: Material

    def _check(self) -> None:
        if not isinstance(self.triangles, str):
            triangles = np.asarray(self.triangles)
            if triangles.dtype.kind not in "iu" or triangles.ndim != 2 or triangles.shape[1] != 3 or not len(triangles):
                raise refuse(
                    "Layer.triangles", '"boundary", the name of a surface, or triangles (k, 3)', self.triangles
                )
            self.triangles = triangles.astype(np.int64)
        self.thickness = as_positive(self.thickness, "Layer.thickness", "m")
        if not isinstance(self.material, Material):
            raise refuse("Layer.material", "a Material", self.material)
