"""Obstacles: solids fixed in space, or carried by a body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import Description
from anguilla.describe.joint import Direction, as_direction
from anguilla.errors import DescriptionError, as_flag, as_number, as_positive, as_vector

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
ZERO = (0.0, 0.0, 0.0)
AROUND, RINGS = 64, 33  # points of a ring, rings of a sphere

__all__ = ["Capsule", "HalfSpace", "Obstacle", "Pillar", "Sphere"]


def axes_to(axis: Array) -> Array:
    """Three directions (3, 3), rows, the last of which is the axis."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(other, axis)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first), axis])


def rings(points: Array, normals: Array) -> tuple[Array, Array, Ints]:
    """A surface of rings (m, k, 3) of points with normals, joined by triangles; rings of two points are not closed."""
    m, k = points.shape[:2]
    here = np.arange((m - 1) * k).reshape(m - 1, k)
    after = np.roll(here, -1, axis=1)
    if k == 2:  # a strip
        here, after = here[:, :1], after[:, :1]
    faces = np.concatenate([np.stack([here, after, after + k], 2), np.stack([here, after + k, here + k], 2)]).reshape(
        -1, 3
    )
    points, normals = points.reshape(-1, 3), normals.reshape(-1, 3)
    a, b, c = np.moveaxis(points[faces], 1, 0)
    back = np.sum(np.cross(b - a, c - a) * normals[faces].sum(axis=1), axis=1) < 0.0
    faces[back] = faces[back][:, ::-1]
    return points, normals, faces


def rounded(axes: Array, radius: float, half: float, round: float) -> tuple[Array, Array]:
    """Rings (m, k, 3) around the first of the axes (rows), and normals, of all points within `round` of a cylinder."""
    bend = np.linspace(0.0, 0.5 * np.pi, RINGS // 2 + 1)
    along, out = np.cos(bend), np.sin(bend)
    level = np.concatenate([[1.0], along, -along[::-1], [-1.0]])
    side = np.concatenate([[0.0], out, out[::-1], [0.0]])
    place = np.concatenate([[half + round], half + round * along, -half - round * along[::-1], [-half - round]])
    wide = np.concatenate([[0.0], radius + round * out, radius + round * out[::-1], [0.0]])
    circle = _circle() @ axes[1:]
    points = place[:, None, None] * axes[0] + wide[:, None, None] * circle
    return points, level[:, None, None] * axes[0] + side[:, None, None] * circle


def with_edges(points: Array, edges: Ints, spacing: float | None) -> Array:
    """Points (n, 3) [m], and more along edges (m, 2) between them, no further apart than a spacing [m] if one is given."""
    found = [points]
    for a, b in points[edges] if spacing is not None else ():
        count = int(np.ceil(float(np.linalg.norm(b - a)) / float(spacing)))  # type: ignore[arg-type]
        found.append(a + np.linspace(0.0, 1.0, count + 1)[1:-1, None] * (b - a))
    return np.concatenate(found)


def _circle() -> Array:
    """Points (AROUND, 2) of the unit circle."""
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


class Obstacle(Description):
    """Base class of obstacles: solids that rods and bodies may touch, fixed in space or carried by a body as its shape."""

    inside: bool = False

    @property
    def has_ends(self) -> bool:
        """Whether the solid ends somewhere to all sides."""
        return not self.inside

    def corners(self, spacing: float | None = None) -> Array:
        """Points (n, 3) [m] of a solid that touch others, in its axes; none for what has no ends.

        With a spacing [m], there are points along its edges too.
        """
        return np.zeros((0, 3))

    @property
    def ball(self) -> float:
        """Radius [m] of the balls around these points."""
        return 0.0

    def balls(self, spacing: float | None = None) -> tuple[Array, Array]:
        """Centres (n, 3) and radii (n,) [m] of all balls that touch others, in its axes."""
        points = self.corners(spacing)
        return points, np.full(len(points), self.ball)

    def on_faces(self, spacing: float, inset: float) -> tuple[Array, Array]:
        """Points (n, 3) [m] spread over its faces, in its axes, and their shares (n,) of the stiffness of a corner.

        They are no further apart than a spacing [m], and inset [m] from the edges: what two bodies with faces need that lie
        on each other without a corner of one inside the face of the other. None for what is round.
        """
        return np.zeros((0, 3)), np.zeros(0)

    @property
    def meets_faces(self) -> bool:
        """Whether what touches it needs points on its faces: neither balls of its own nor the corners of that do."""
        return not self.inside

    @property
    def edge(self) -> float:
        """Radius [m] of its edges."""
        return 0.0

    def distance(self, points: ArrayLike) -> Array:
        """Distance (...) [m] of points (..., 3) [m] from the surface, world axes; negative in the solid."""
        raise NotImplementedError

    @property
    def solid_radius(self) -> float:
        """Radius [m] of a round solid; infinite for half-spaces and hollows, which nothing goes through."""
        return np.inf

    @property
    def inner_radius(self) -> float:
        """Radius [m] of the largest ball inside the solid: what is deeper in it has passed its middle."""
        return self.solid_radius

    @property
    def room(self) -> float:
        """Radius [m] of the largest ball inside a hollow one."""
        raise NotImplementedError

    @property
    def reach(self) -> float:
        """Radius [m] of the thickest thing that may touch it."""
        return np.inf

    @property
    def advice(self) -> str:
        """What to do about what is thicker."""
        return ""

    def may_pass(self, start: Array, end: Array, radii: Array) -> bool:
        """Whether places of radii (k,) [m] could have gone through it between start and end (k, 3) [m].

        One cannot if it moved by less than its distance from a round solid and the radius of that; nothing goes through
        half-spaces, nor out of hollows.
        """
        if not np.isfinite(self.solid_radius):
            return False
        clear = self.distance(start) - radii + self.solid_radius
        return bool(np.any(np.linalg.norm(end - start, axis=1) > np.maximum(clear, 0.1 * radii)))

    def surface(self, middle: Array, reach: float) -> tuple[Array, Array, Ints]:
        """Points (n, 3) [m] of the surface near a place (3,) [m], normals (n, 3) out of the solid, and triangles (m, 3).

        Without ends it goes on for `reach` [m] to all sides. Triangles are counter-clockwise seen from outside the solid.
        """
        raise NotImplementedError

    def file_form(self, fields: dict[str, Any]) -> dict[str, Any]:
        """How a robot file writes it, from its fields."""
        return fields

    def constants(self) -> Array:
        """Point, axes, shape, side and sizes (19,), as `interact/kernels/distance.py` reads them."""
        raise NotImplementedError

    @property
    def grid(self) -> Array | None:
        """Coefficients of a grid of distances, the place of which stands among the sizes; None if there is none."""
        return None

    def _row(self, shape: int, point: ArrayLike, axes: Array, *sizes: float) -> Array:
        """Constants (19,) of a shape with axes (3, 3), rows, or (3,), the first of them alone."""
        out = np.zeros(19)
        out[:3], out[3 : 3 + axes.size], out[12:14] = point, axes.ravel(), (shape, -1.0 if self.inside else 1.0)
        out[14 : 14 + len(sizes)] = sizes
        return out


@dataclass
class HalfSpace(Obstacle):
    """Everything on one side of a plane: a floor, a wall. The solid is where normal . x <= offset.

    Attributes:
        normal: (3,) direction out of the solid, world axes, of any length.
        offset: where the plane stands along the normal [m]; 0 through the world origin.

    """

    normal: Direction = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def _check(self) -> None:
        self.normal = as_direction(self.normal, "HalfSpace.normal")
        self.offset = as_number(self.offset, "HalfSpace.offset", "m")

    @property
    def has_ends(self) -> bool:
        """It has none."""
        return False

    @property
    def meets_faces(self) -> bool:
        """No: corners touch it first."""
        return False

    def distance(self, points: ArrayLike) -> Array:
        """Height (...) [m] of points (..., 3) [m] above the plane; negative in the solid."""
        return np.asarray(np.asarray(points, dtype=float) @ np.asarray(self.normal) - self.offset)

    def surface(self, middle: Array, reach: float) -> tuple[Array, Array, Ints]:
        """A square of the plane."""
        across = axes_to(np.asarray(self.normal))
        centre = middle - float(self.distance(middle)) * across[2]
        corners = np.array([[[-1.0, -1.0], [1.0, -1.0]], [[-1.0, 1.0], [1.0, 1.0]]])
        return rings(centre + reach * corners @ across[:2], np.tile(across[2], (2, 2, 1)))

    def constants(self) -> Array:
        """Shape and sizes (19,)."""
        return self._row(0, ZERO, np.asarray(self.normal), self.offset)


@dataclass
class Sphere(Obstacle):
    """A solid sphere, or the space around a hollow one.

    Attributes:
        centre: (3,) its centre [m], world axes.
        radius: [m].
        inside: True for a hollow: the robot is inside, and the solid is all around.

    """

    centre: ArrayLike
    radius: float
    inside: bool = field(default=False, kw_only=True)

    def _check(self) -> None:
        self.centre = tuple(as_vector(self.centre, 3, "Sphere.centre", "m").tolist())
        self.radius = as_positive(self.radius, "Sphere.radius", "m")
        self.inside = as_flag(self.inside, "Sphere.inside")

    @property
    def meets_faces(self) -> bool:
        """No: its own ball touches them."""
        return False

    def distance(self, points: ArrayLike) -> Array:
        """Distance (...) [m] of points (..., 3) [m] from the surface; negative in the solid."""
        away = np.linalg.norm(np.asarray(points, dtype=float) - np.asarray(self.centre), axis=-1)
        return np.asarray((away - self.radius) * (-1.0 if self.inside else 1.0))

    @property
    def solid_radius(self) -> float:
        """Radius [m] of the solid; infinite for a hollow."""
        return np.inf if self.inside else self.radius

    @property
    def room(self) -> float:
        """Its radius [m]."""
        return self.radius

    def surface(self, middle: Array, reach: float) -> tuple[Array, Array, Ints]:
        """All of it."""
        polar, circle = np.linspace(0.0, np.pi, RINGS)[:, None, None], _circle()
        normals = np.concatenate([np.sin(polar) * circle, np.cos(polar) + 0.0 * circle[:, :1]], axis=2)
        return rings(np.asarray(self.centre) + self.radius * normals, -normals if self.inside else normals)

    def corners(self, spacing: float | None = None) -> Array:
        """Its centre."""
        return np.asarray(self.centre)[None] if self.has_ends else np.zeros((0, 3))

    @property
    def ball(self) -> float:
        """Its radius [m]."""
        return self.radius

    def constants(self) -> Array:
        """Shape and sizes (19,)."""
        return self._row(1, self.centre, np.eye(3), self.radius)


@dataclass
class Pillar(Obstacle):
    """A round pillar without ends, or the space around a round tube: a peg, a pipe, a vessel.

    Attributes:
        point: (3,) a point of its axis [m], world axes.
        axis: (3,) direction of its axis, world axes, of any length.
        radius: [m].
        inside: True for a tube: the robot is inside, and the solid is all around.

    """

    point: ArrayLike
    axis: Direction
    radius: float
    inside: bool = field(default=False, kw_only=True)

    def _check(self) -> None:
        self.point = tuple(as_vector(self.point, 3, "Pillar.point", "m").tolist())
        self.axis = as_direction(self.axis, "Pillar.axis")
        self.radius = as_positive(self.radius, "Pillar.radius", "m")
        self.inside = as_flag(self.inside, "Pillar.inside")

    @property
    def has_ends(self) -> bool:
        """It has none."""
        return False

    def distance(self, points: ArrayLike) -> Array:
        """Distance (...) [m] of points (..., 3) [m] from the surface; negative in the solid."""
        away = np.asarray(points, dtype=float) - np.asarray(self.point)
        across = away - (away @ np.asarray(self.axis))[..., None] * np.asarray(self.axis)
        return np.asarray((np.linalg.norm(across, axis=-1) - self.radius) * (-1.0 if self.inside else 1.0))

    @property
    def solid_radius(self) -> float:
        """Radius [m] of the solid; infinite for a hollow."""
        return np.inf if self.inside else self.radius

    @property
    def room(self) -> float:
        """Its radius [m]."""
        return self.radius

    def surface(self, middle: Array, reach: float) -> tuple[Array, Array, Ints]:
        """A piece of it."""
        across = axes_to(np.asarray(self.axis))
        centre = np.asarray(self.point) + (middle - np.asarray(self.point)) @ across[2] * across[2]
        normals = np.tile(_circle() @ across[:2], (2, 1, 1))
        ends = reach * np.array([-1.0, 1.0])[:, None, None] * across[2]
        return rings(centre + self.radius * normals + ends, -normals if self.inside else normals)

    def constants(self) -> Array:
        """Shape and sizes (19,)."""
        return self._row(2, self.point, np.asarray(self.axis), self.radius)


@dataclass
class Capsule(Obstacle):
    """A round bar with round ends, or the space around a hollow one: all points within a radius of a line.

    Attributes:
        a: (3,) one end of its axis [m], world axes; the solid goes on for the radius.
        b: (3,) the other end [m].
        radius: [m].
        inside: True for a hollow: the robot is inside, and the solid is all around.

    """

    a: ArrayLike
    b: ArrayLike
    radius: float
    inside: bool = field(default=False, kw_only=True)

    def _check(self) -> None:
        self.a = tuple(as_vector(self.a, 3, "Capsule.a", "m").tolist())
        self.b = tuple(as_vector(self.b, 3, "Capsule.b", "m").tolist())
        self.radius = as_positive(self.radius, "Capsule.radius", "m")
        self.inside = as_flag(self.inside, "Capsule.inside")
        if self.a == self.b:
            raise DescriptionError("Capsule.a and Capsule.b must be different places; for a ball use a Sphere.")

    def _axis(self) -> tuple[Array, Array, float]:
        """Middle, direction and half length of the axis."""
        a, b = np.asarray(self.a), np.asarray(self.b)
        length = float(np.linalg.norm(b - a))
        return 0.5 * (a + b), (b - a) / length, 0.5 * length

    @property
    def meets_faces(self) -> bool:
        """No: its own balls touch them."""
        return False

    def distance(self, points: ArrayLike) -> Array:
        """Distance (...) [m] of points (..., 3) [m] from the surface; negative in the solid."""
        middle, axis, half = self._axis()
        away = np.asarray(points, dtype=float) - middle
        away = away - np.clip(away @ axis, -half, half)[..., None] * axis
        return np.asarray((np.linalg.norm(away, axis=-1) - self.radius) * (-1.0 if self.inside else 1.0))

    @property
    def solid_radius(self) -> float:
        """Radius [m] of the solid; infinite for a hollow."""
        return np.inf if self.inside else self.radius

    @property
    def room(self) -> float:
        """Its radius [m]."""
        return self.radius

    def surface(self, middle: Array, reach: float) -> tuple[Array, Array, Ints]:
        """All of it."""
        centre, axis, half = self._axis()
        points, normals = rounded(np.roll(axes_to(axis), 1, axis=0), 0.0, half, self.radius)
        return rings(centre + points, -normals if self.inside else normals)

    def corners(self, spacing: float | None = None) -> Array:
        """Points along its axis, a radius apart if no spacing is given."""
        if not self.has_ends:
            return np.zeros((0, 3))
        ends = np.array([self.a, self.b])
        return with_edges(ends, np.array([[0, 1]]), self.radius if spacing is None else spacing)

    @property
    def ball(self) -> float:
        """Its radius [m]."""
        return self.radius

    def constants(self) -> Array:
        """Shape and sizes (19,)."""
        centre, axis, half = self._axis()
        return self._row(3, centre, axis, self.radius, half)
