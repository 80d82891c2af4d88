"""Surfaces of obstacles, as far as they are near the robot. Nothing is drawn here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anguilla.describe import Obstacle, Robot

__all__ = ["Carried", "Shell", "obstacles_of", "placed", "shell", "shell_of"]

Array = NDArray[np.float64]

REACH = 0.75  # of the size of a scene: how far planes and pillars go on beyond its middle


@dataclass(frozen=True, slots=True)
class Shell:
    """A piece of a surface, to be seen from outside the solid only, so that nobody looks at the back of a wall.

    Attributes:
        vertices: (n, 3) [m].
        normals: (n, 3) out of the solid.
        faces: (m, 3) triangles, counter-clockwise when seen from outside the solid.

    """

    vertices: Array
    normals: Array
    faces: NDArray[np.uint32]

    @property
    def outward(self) -> Array:
        """Normals (m, 3) of the faces, of any length, out of the solid."""
        return self.normals[self.faces].sum(axis=1)


@dataclass(frozen=True, slots=True)
class Carried:
    """An obstacle without ends that a body carries.

    Attributes:
        obstacle: in the axes of the body.
        position: (time, 3) of the body [m].
        rotation: (time, 3, 3) of the body.

    """

    obstacle: Obstacle
    position: Array
    rotation: Array

    def at(self, instants: slice) -> Carried:
        """The same at some instants."""
        return Carried(self.obstacle, self.position[instants], self.rotation[instants])

    def distance(self, points: Array, index: int = -1) -> Array:
        """Distance (...) [m] of points (..., 3) [m], world axes, from the surface at one instant."""
        return self.obstacle.distance((points - self.position[index]) @ self.rotation[index])


def obstacles_of(robot: Robot) -> tuple[Obstacle, ...]:
    """The obstacles of a robot, each once."""
    found: list[Obstacle] = []
    for load in robot.loads:
        found += [obstacle for obstacle in load.obstacles if obstacle not in found]
    return tuple(found)


def shell(obstacle: Obstacle, bounds: Array) -> Shell:
    """The surface of an obstacle near the bounds (2, 3) [m] of a scene."""
    middle, size = bounds.mean(axis=0), float(np.linalg.norm(bounds[1] - bounds[0]))
    vertices, normals, faces = obstacle.surface(middle, REACH * size)
    return Shell(vertices, normals, faces.astype(np.uint32))


def shell_of(carried: Carried, bounds: Array) -> Shell:
    """The surface of an obstacle that is carried, in the axes of the body, as far as the scene comes near it."""
    middle, size = bounds.mean(axis=0), float(np.linalg.norm(bounds[1] - bounds[0]))
    seen = np.einsum("tji,tj->ti", carried.rotation, middle - carried.position)
    reach = REACH * size + float(np.max(np.linalg.norm(seen - seen[0], axis=1)))
    vertices, normals, faces = carried.obstacle.surface(seen[0], reach)
    return Shell(vertices, normals, faces.astype(np.uint32))


def placed(piece: Shell, carried: Carried, index: int = -1) -> Shell:
    """A piece in the axes of the body, in world axes at one instant."""
    turn = carried.rotation[index]
    return Shell(piece.vertices @ turn.T + carried.position[index], piece.normals @ turn.T, piece.faces)
