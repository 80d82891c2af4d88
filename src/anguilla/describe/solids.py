"""Obstacles with flat faces: boxes, and cylinders with ends."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.joint import Direction, as_direction
from anguilla.describe.obstacles import RINGS, Array, Ints, Obstacle, axes_to, rings, rounded, with_edges
from anguilla.errors import as_array, as_flag, as_nonnegative, as_pose, as_positive, as_vector, refuse
from anguilla.lie import exp3

__all__ = ["Box", "Cylinder"]

ROUND = 0.05  # of the smallest width: radius of the edges, if not given
MANY = 200  # points on three faces of a box, about
RIM = 12  # points of the rim of a cylinder
ROLLING = 0.99  # part of its radius at which these lie if it has balls to roll on
CORNERS = np.stack(np.meshgrid(*[[-0.5, 0.5]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)  # of a box of size 1
EDGES = np.array([(i, j) for i in range(8) for j in range(i) if np.sum(CORNERS[i] != CORNERS[j]) == 1])


class Rounded(Obstacle):
    """Base class of solids with edges, rounded: a core, and all points within a radius of it."""

    round: float | None

    @property
    def _least(self) -> float:
        """The smallest width [m]."""
        raise NotImplementedError

    def _check_edges(self) -> None:
        self.inside = as_flag(self.inside, f"{type(self).__name__}.inside")
        if self.round is not None:
            self.round = as_nonnegative(self.round, f"{type(self).__name__}.round", "m")
            if self.round > 0.5 * self._least:
                raise refuse(
                    f"{type(self).__name__}.round", f"at most half of the smallest width {self._least:g} m", self.round
                )

    @property
    def edge(self) -> float:
        """Radius [m] of the edges."""
        return ROUND * self._least if self.round is None else self.round

    def _from_core(self, beyond: Array) -> Array:
        """Distance (...) [m] from how far (..., k) places are beyond the faces of the core."""
        outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
        found = outside + np.minimum(np.max(beyond, axis=-1), 0.0) - self.edge
        return np.asarray(-found if self.inside else found)

    @property
    def solid_radius(self) -> float:
        """Half of the smallest width [m]; infinite for a hollow."""
        return np.inf if self.inside else 0.5 * self._least

    @property
    def room(self) -> float:
        """Half of the smallest width [m]."""
        return 0.5 * self._least

    @property
    def reach(self) -> float:
        """Radius [m] of the thickest thing that may touch: in a hollow that of the edges, where two walls touch at once."""
        return self.edge if self.inside else np.inf

    @property
    def advice(self) -> str:
        """What to do about what is thicker."""
        return f"its inner edges are rounded by {self.edge:g} m, give more by round=..., or a HalfSpace for each wall"


@dataclass
class Box(Rounded):
    """A box with rounded edges, or the space around a hollow one: a step, a wall, a room.

    Attributes:
        centre: (3,) its centre [m], world axes.
        size: (3,) its three widths [m].
        rotation: how its edges are turned: a rotation matrix (3, 3), columns are the directions of its edges, or a rotation
            vector (3,) [rad].
        inside: True for a hollow: the robot is inside, and the solid is all around.
        round: radius of the edges [m]; 5 % of the smallest width if not given. In a hollow box it must not be less than the
            radius of what touches, which feels one wall at a time.

    """

    centre: ArrayLike
    size: ArrayLike
    rotation: ArrayLike | None = None
    inside: bool = field(default=False, kw_only=True)
    round: float | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        self.centre = tuple(as_vector(self.centre, 3, "Box.centre", "m").tolist())
        size = as_vector(self.size, 3, "Box.size", "m")
        if np.any(size <= 0.0):
            raise refuse("Box.size", "three positive numbers [m]", self.size)
        self.size = tuple(size.tolist())
        if self.rotation is not None:
            self.rotation = _as_rotation(self.rotation, "Box.rotation")
        self._check_edges()

    @property
    def _least(self) -> float:
        return float(np.min(np.asarray(self.size)))

    def _axes(self) -> Array:
        """Directions (3, 3) of its edges, rows."""
        return np.eye(3) if self.rotation is None else np.asarray(self.rotation).T

    def distance(self, points: ArrayLike) -> Array:
        """Distance (...) [m] of points (..., 3) [m] from the surface; negative in the solid."""
        away = (np.asarray(points, dtype=float) - np.asarray(self.centre)) @ self._axes().T
        return self._from_core(np.abs(away) - 0.5 * np.asarray(self.size) + self.edge)

    def surface(self, middle: Array, reach: float) -> tuple[Array, Array, Ints]:
        """All of it."""
        core, turn = 0.5 * np.asarray(self.size) - self.edge, np.linspace(0.0, 0.5 * np.pi, RINGS // 4 + 1)
        angle = (turn + 0.5 * np.pi * np.arange(4)[:, None]).ravel()  # quarters, each with its own corner
        corner = np.repeat([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], len(turn), axis=0)
        polar = np.concatenate([[0.0], turn, turn + 0.5 * np.pi, [np.pi]])[:, None, None]
        end = np.repeat([1.0, -1.0], len(turn) + 1)[:, None, None]
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        flat = np.concatenate([[0.0], np.ones(2 * len(turn)), [0.0]])[
            :, None, None
        ]  # the first and last are middles of faces
        normals = np.concatenate([np.sin(polar) * circle, np.cos(polar) + 0.0 * circle[:, :1]], axis=2)
        points = np.concatenate([flat * core[:2] * corner, end * core[2] + 0.0 * angle[:, None]], axis=2)
        points, normals = (points + self.edge * normals) @ self._axes(), normals @ self._axes()
        return rings(np.asarray(self.centre) + points, -normals if self.inside else normals)

    def corners(self, spacing: float | None = None) -> Array:
        """Its eight corners, and points along its edges."""
        if not self.has_ends:
            return np.zeros((0, 3))
        return with_edges(np.asarray(self.centre) + CORNERS * np.asarray(self.size) @ self._axes(), EDGES, spacing)

    def on_faces(self, spacing: float, inset: float) -> tuple[Array, Array]:
        """Grids on its six faces; the points of a face share the stiffness of its four corners."""
        if not self.has_ends:
            return super().on_faces(spacing, inset)
        size = np.asarray(self.size)
        half = 0.5 * size - np.minimum(max(inset, ROUND * self._least), 0.45 * size)
        while (count := 1 + np.maximum(np.ceil(2.0 * half / spacing), 1.0).astype(int)) @ np.roll(count, 1) > MANY:
            spacing *= 1.5
        points, shares = [], []
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            for side in (-0.5, 0.5):
                face = np.full((count[i], count[j], 3), side * size[k])
                face[..., i] = np.linspace(-half[i], half[i], count[i])[:, None]
                face[..., j] = np.linspace(-half[j], half[j], count[j])
                points.append(face.reshape(-1, 3))
                shares.append(np.full(count[i] * count[j], 4.0 / (count[i] * count[j])))
        return np.asarray(self.centre) + np.concatenate(points) @ self._axes(), np.concatenate(shares)

    def constants(self) -> Array:
        """Shape and sizes (19,)."""
        return self._row(4, self.centre, self._axes(), *(0.5 * np.asarray(self.size) - self.edge), self.edge)


@dataclass
class Cylinder(Rounded):
    """A round bar with flat ends and rounded edges, or the space around a hollow one: a peg, a coin, a can.

    Attributes:
        centre: (3,) its centre [m], world axes.
        axis: (3,) direction of its axis, world axes, of any length.
        radius: [m].
        length: from end to end [m].
        inside: True for a hollow: the robot is inside, and the solid is all around.
        round: radius of the edges [m]; 5 % of the smallest width if not given. In a hollow one it must not be less than the
            radius of what touches, which feels one wall at a time.

    """

    centre: ArrayLike
    axis: Direction
    radius: float
    length: float
    inside: bool = field(default=False, kw_only=True)
    round: float | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        self.centre = tuple(as_vector(self.centre, 3, "Cylinder.centre", "m").tolist())
        self.axis = as_direction(self.axis, "Cylinder.axis")
        self.radius = as_positive(self.radius, "Cylinder.radius", "m")
        self.length = as_positive(self.length, "Cylinder.length", "m")
        self._check_edges()

    @property
    def _least(self) -> float:
        return min(2.0 * self.radius, self.length)

    def _axes(self) -> Array:
        """Its axis and two directions across (3, 3), rows."""
        return np.roll(axes_to(np.asarray(self.axis)), 1, axis=0)

    def _core(self) -> Array:
        """Radius and half length (2,) [m] of the core."""
        return np.array([self.radius, 0.5 * self.length]) - self.edge

    def distance(self, points: ArrayLike) -> Array:
        """Distance (...) [m] of points (..., 3) [m] from the surface; negative in the solid."""
        away = (np.asarray(points, dtype=float) - np.asarray(self.centre)) @ self._axes().T
        return self._from_core(
            np.stack([np.hypot(away[..., 1], away[..., 2]), np.abs(away[..., 0])], axis=-1) - self._core()
        )

    def surface(self, middle: Array, reach: float) -> tuple[Array, Array, Ints]:
        """All of it."""
        radius, half = self._core().tolist()
        points, normals = rounded(self._axes(), radius, half, self.edge)
        return rings(np.asarray(self.centre) + points, -normals if self.inside else normals)

    def corners(self, spacing: float | None = None) -> Array:
        """Points of its two rims."""
        return self._rims(self.radius, spacing) if self.has_ends else np.zeros((0, 3))

    def _rims(self, radius: float, spacing: float | None) -> Array:
        """Points (n, 3) [m] of circles at its ends."""
        count = RIM if spacing is None else int(np.ceil(2.0 * np.pi * self.radius / spacing))
        angle = 2.0 * np.pi * np.arange(count) / count
        ring = np.stack([0.0 * angle, radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        end = np.array([0.5 * self.length, 0.0, 0.0])
        return np.asarray(self.centre) + np.concatenate([ring - end, ring + end]) @ self._axes()

    def balls(self, spacing: float | None = None) -> tuple[Array, Array]:
        """Points of its rims; and if it is not too short, balls that fill it, on which it rolls, and not on these points."""
        room = 0.5 * self.length - self.radius
        if not self.has_ends or room < 0.0:
            return super().balls(spacing)
        points = self._rims(ROLLING * self.radius, spacing)
        count = 1 + int(np.ceil(2.0 * room / min(self.radius, spacing or self.radius)))
        along = np.linspace(-room, room, count) if count > 1 else np.zeros(1)
        middles = np.asarray(self.centre) + along[:, None] * self._axes()[0]
        return np.concatenate([points, middles]), np.repeat([0.0, self.radius], [len(points), count])

    def on_faces(self, spacing: float, inset: float) -> tuple[Array, Array]:
        """Circles on its two ends, and their middles."""
        if not self.has_ends:
            return super().on_faces(spacing, inset)
        inside = max(inset, ROUND * self._least)
        ends = np.asarray(self.centre) + np.outer([-0.5 * self.length, 0.5 * self.length], self._axes()[0])
        points = np.concatenate([self._rims(max(self.radius - inside, 0.1 * self.radius), None), ends])
        return points, np.ones(len(points))

    def constants(self) -> Array:
        """Shape and sizes (19,)."""
        return self._row(5, self.centre, self._axes(), *self._core(), 0.0, self.edge)


def _as_rotation(value: object, name: str) -> tuple[tuple[float, ...], ...]:
    """Return a rotation matrix, of a matrix or a rotation vector."""
    wanted = "a rotation matrix (3, 3) or a rotation vector (3,) [rad]"
    given = as_array(value, name, wanted)
    if given.shape == (3,):
        return tuple(map(tuple, exp3(given).tolist()))
    if given.shape != (3, 3):
        raise refuse(name, wanted, value)
    pose = np.eye(4)
    pose[:3, :3] = given
    return tuple(map(tuple, as_pose(pose, name)[:3, :3].tolist()))
