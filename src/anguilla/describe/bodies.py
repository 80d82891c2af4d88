"""Rigid bodies: mass, centre of mass and inertia."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import Description, as_name
from anguilla.describe.obstacles import Obstacle, Sphere
from anguilla.describe.plausible import check_body
from anguilla.describe.solids import Box, Cylinder
from anguilla.errors import DescriptionError, as_array, as_positive, as_vector, refuse

Array = NDArray[np.float64]
Triple = tuple[float, float, float]

# An inertia may miss symmetry, positivity or the triangle inequality by this fraction of its largest moment: it was
# typed with few digits.
INERTIA_SLACK = 1e-6

# Names of the dimensions of each kind of shape [m].
SHAPES = {"box": ("x", "y", "z"), "cylinder": ("radius", "length"), "sphere": ("radius",)}
VOLUMES = {
    "box": (1.0, (1, 1, 1)),
    "cylinder": (math.pi, (2, 1)),
    "sphere": (4.0 / 3.0 * math.pi, (3,)),
}  # factor, powers


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape a body is drawn with, centred on its centre of mass, along the body axes.

    Attributes:
        kind: "box", "cylinder" (its axis along +x, like a rod) or "sphere".
        size: its dimensions [m]: the three full widths of a box, (radius, length) of a cylinder, (radius,) of a sphere.

    """

    kind: str
    size: tuple[float, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in SHAPES:
            raise refuse("Shape.kind", f"one of {', '.join(SHAPES)}", self.kind)
        names = SHAPES[self.kind]
        wanted = f"{len(names)} positive numbers ({', '.join(names)}) [m]" if len(names) > 1 else "(radius,) [m]"
        size = as_array(self.size, "Shape.size", wanted)
        if size.shape != (len(names),) or np.any(size <= 0.0):
            raise refuse("Shape.size", wanted, self.size)
        object.__setattr__(self, "size", tuple(size.tolist()))

    @property
    def volume(self) -> float:
        """Volume [m^3]."""
        factor, powers = VOLUMES[self.kind]
        return factor * math.prod(x**power for x, power in zip(self.size, powers, strict=True))


@dataclass
class RigidBody(Description):
    """A rigid body.

    ``RigidBody.box``, ``RigidBody.cylinder``, ``RigidBody.sphere`` and ``RigidBody.point_mass`` make the common ones.

    Attributes:
        mass: mass [kg].
        inertia: inertia about the centre of mass, in body axes [kg m^2]: the 3 diagonal terms, or a symmetric 3x3
            matrix; a point mass, without inertia, if not given.
        com: position of the centre of mass in the body frame [m].
        name: name of the body in a robot.
        shape: what it is drawn as, and touches others with: a Shape around its centre of mass, or any obstacle, in body
            axes: ``Mesh("part.stl")``, ``HalfSpace()``, ``Pillar(..., inside=True)``. It has no part in mass and inertia.

    """

    mass: float
    inertia: ArrayLike | None = None
    com: ArrayLike = (0.0, 0.0, 0.0)
    name: str | None = None
    shape: Shape | Obstacle | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        self.mass = as_positive(self.mass, "RigidBody.mass", "kg")
        self.inertia = None if self.inertia is None else _as_inertia(self.inertia, "RigidBody.inertia")
        self.com = tuple(as_vector(self.com, 3, "RigidBody.com", "m").tolist())
        if self.name is not None:
            self.name = as_name(self.name, "RigidBody.name")
        if not (self.shape is None or isinstance(self.shape, Shape | Obstacle)):
            wanted = "a Shape such as Shape('box', (0.1, 0.1, 0.2)), or an obstacle such as Mesh(...)"
            raise refuse("RigidBody.shape", wanted, self.shape)
        if isinstance(self.shape, Shape):
            check_body(self.mass, self.shape.volume)

    @property
    def extent(self) -> float:
        """Largest dimension of its shape [m]; 0 if it has none, or no end."""
        if isinstance(self.shape, Obstacle):
            return (
                float(np.max(np.ptp(self.shape.surface(np.zeros(3), 1.0)[0], axis=0))) if self.shape.has_ends else 0.0
            )
        return 0.0 if self.shape is None else max(self.shape.size)

    @property
    def solid(self) -> Obstacle | None:
        """Its shape as an obstacle, in body axes; None if it has none."""
        if not isinstance(self.shape, Shape):
            return self.shape
        com, size = np.asarray(self.com), self.shape.size
        if self.shape.kind == "sphere":
            return Sphere(com, size[0])
        return Box(com, size) if self.shape.kind == "box" else Cylinder(com, (1.0, 0.0, 0.0), *size)

    @classmethod
    def box(
        cls,
        size: ArrayLike,
        *,
        mass: float | None = None,
        density: float | None = None,
        com: ArrayLike = (0.0, 0.0, 0.0),
        name: str | None = None,
    ) -> RigidBody:
        """Return a full box, with its faces along the body axes.

        Args:
            size: full widths along x, y and z [m].
            mass: mass [kg]; give either this or ``density``.
            density: mass per unit volume [kg/m^3].
            com: position of its centre in the body frame [m].
            name: name of the body.

        """
        wanted = "3 positive numbers, the full widths along x, y and z [m]"
        widths = as_array(size, "RigidBody.box size", wanted)
        if widths.shape != (3,) or np.any(widths <= 0.0):
            raise refuse("RigidBody.box size", wanted, size)
        x, y, z = widths.tolist()
        m = _mass(mass, density, x * y * z, "RigidBody.box")
        inertia = (m * (y**2 + z**2) / 12.0, m * (z**2 + x**2) / 12.0, m * (x**2 + y**2) / 12.0)
        return cls(m, inertia, com, name, shape=Shape("box", (x, y, z)))

    @classmethod
    def cylinder(
        cls,
        radius: float,
        length: float,
        *,
        mass: float | None = None,
        density: float | None = None,
        com: ArrayLike = (0.0, 0.0, 0.0),
        name: str | None = None,
    ) -> RigidBody:
        """Return a full circular cylinder, with its axis along +x like that of a rod.

        Args:
            radius: radius [m].
            length: length along x [m].
            mass: mass [kg]; give either this or ``density``.
            density: mass per unit volume [kg/m^3].
            com: position of its centre in the body frame [m].
            name: name of the body.

        """
        radius = as_positive(radius, "RigidBody.cylinder radius", "m")
        length = as_positive(length, "RigidBody.cylinder length", "m")
        m = _mass(mass, density, np.pi * radius**2 * length, "RigidBody.cylinder")
        across = m * (3.0 * radius**2 + length**2) / 12.0
        return cls(m, (m * radius**2 / 2.0, across, across), com, name, shape=Shape("cylinder", (radius, length)))

    @classmethod
    def sphere(
        cls,
        radius: float,
        *,
        mass: float | None = None,
        density: float | None = None,
        com: ArrayLike = (0.0, 0.0, 0.0),
        name: str | None = None,
    ) -> RigidBody:
        """Return a full sphere.

        Args:
            radius: radius [m].
            mass: mass [kg]; give either this or ``density``.
            density: mass per unit volume [kg/m^3].
            com: position of its centre in the body frame [m].
            name: name of the body.

        """
        radius = as_positive(radius, "RigidBody.sphere radius", "m")
        m = _mass(mass, density, 4.0 / 3.0 * np.pi * radius**3, "RigidBody.sphere")
        return cls(m, (0.4 * m * radius**2,) * 3, com, name, shape=Shape("sphere", (radius,)))

    @classmethod
    def point_mass(cls, mass: float, *, com: ArrayLike = (0.0, 0.0, 0.0), name: str | None = None) -> RigidBody:
        """Return a body without rotary inertia, of a mass [kg], at the position ``com`` in the body frame [m]."""
        return cls(mass, None, com, name)

    @property
    def inertia_matrix(self) -> Array:
        """Inertia about the centre of mass (3, 3), in body axes [kg m^2]."""
        if self.inertia is None:
            return np.zeros((3, 3))
        value = np.array(self.inertia, dtype=np.float64)
        return np.diag(value) if value.ndim == 1 else value

    def principal(self) -> tuple[Array, Array]:
        """Return the principal moments of inertia and the principal axes.

        Returns:
            The moments (3,) about the centre of mass [kg m^2], and a rotation (3, 3) whose columns are the principal
            axes in body axes. A diagonal inertia keeps the body axes; otherwise the moments increase.

        """
        matrix = self.inertia_matrix
        if np.count_nonzero(matrix - np.diag(np.diag(matrix))) == 0:
            return np.maximum(np.diag(matrix), 0.0), np.eye(3)
        moments, axes = np.linalg.eigh(matrix)
        # The sign of an eigenvector is free: its largest component is made positive, then the third axis closes.
        largest = np.argmax(np.abs(axes), axis=0)
        axes *= np.where(axes[largest, range(3)] < 0.0, -1.0, 1.0)
        axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
        return np.maximum(moments, 0.0), axes


def _mass(mass: float | None, density: float | None, volume: float, name: str) -> float:
    """Return the mass [kg], given as such or by a density [kg/m^3] and a volume [m^3]."""
    if (mass is None) == (density is None):
        raise DescriptionError(f"{name} takes either mass or density; got mass={mass!r} and density={density!r}.")
    if density is None:
        return as_positive(mass, f"{name} mass", "kg")
    return as_positive(density, f"{name} density", "kg/m^3") * volume


def _as_inertia(value: object, name: str) -> Triple | tuple[Triple, ...]:
    """Return an inertia that a body can have: 3 diagonal terms, or a symmetric matrix as nested tuples."""
    wanted = "3 diagonal terms or a symmetric 3x3 matrix of finite numbers [kg m^2]"
    given = as_array(value, name, wanted)
    if given.shape not in ((3,), (3, 3)):
        raise refuse(name, wanted, value)
    matrix = np.diag(given) if given.ndim == 1 else (given + given.T) / 2.0
    slack = INERTIA_SLACK * float(np.max(np.abs(given)))
    skew = float(np.max(np.abs(given - given.T)))
    if skew > slack:
        raise DescriptionError(f"{name} must be symmetric; got opposite terms that differ by {skew:.3g} kg m^2.")
    a, b, c = np.linalg.eigvalsh(matrix).tolist()
    if a < -slack:
        raise DescriptionError(f"{name} must have no negative principal moment; got {a:.6g} kg m^2.")
    if a + b < c - slack:
        raise DescriptionError(
            f"{name} must have principal moments of which none exceeds the sum of the other two, as in every body; "
            f"got {a:.6g}, {b:.6g} and {c:.6g} kg m^2."
        )
    rows = (given if given.ndim == 1 else matrix).tolist()
    return tuple(rows) if given.ndim == 1 else tuple(tuple(row) for row in rows)
