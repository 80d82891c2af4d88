"""What a robot looks like beside its tubes: tendons, loads and frames, at one instant of a scene. Nothing is drawn here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anguilla.assemble.observe import S_X
from anguilla.describe import DistributedWrench, Robot, RodHandle, Wrench
from anguilla.results import Equilibrium, Trajectory
from anguilla.view.scene import Array, Scene, Tube

__all__ = ["Arrows", "faces_of", "load_arrows", "tendon_lines", "tip_frames"]

ARROW = 0.18  # length of the arrow of the largest force, as a part of the size of the scene
ALONG = 7  # arrows along a rod under a distributed force


@dataclass(frozen=True, slots=True)
class Arrows:
    """Arrows (n, 2, 3) [m] from tail to head."""

    points: Array


def faces_of(tube: Tube) -> np.ndarray:
    """Triangles (n, 3) of the surface of a tube with its two ends; the middles of the ends are two extra vertices."""
    m, k = tube.outline.shape[:2]
    here = np.arange((m - 1) * k).reshape(m - 1, k)
    around = np.roll(here, -1, axis=1)
    sides = np.concatenate([np.stack([here, around, around + k], 2), np.stack([here, around + k, here + k], 2)])
    ring = np.arange(k)
    after = np.roll(ring, -1)
    root = np.stack([np.full(k, m * k), after, ring], 1)
    tip = np.stack([np.full(k, m * k + 1), (m - 1) * k + ring, (m - 1) * k + after], 1)
    return np.concatenate([sides.reshape(-1, 3), root, tip]).astype(np.uint32)


def vertices_of(tube: Tube, index: int) -> Array:
    """Vertices (m k + 2, 3) [m] of a tube at one instant, in the order `faces_of` counts them."""
    surface = tube.surface(index)
    return np.concatenate([surface.reshape(-1, 3), tube.position[index, [0, -1]]]).astype(np.float32)


def tendon_lines(robot: Robot, picture: Scene, index: int) -> dict[str, Array]:
    """Segments (n, 2, 3) [m] of the lines of all actuators that run along rods, by name."""
    tubes = {tube.name: tube for tube in picture.tubes}
    found: dict[str, Array] = {}
    for name, actuator in robot.actuators.items():
        points = []
        for part, routing, low, high in getattr(actuator, "stretches", ()):
            tube = tubes[part.name]
            inside = (tube.X >= low - 1e-9) & (tube.X <= high + 1e-9)
            offset = routing.offset(tube.X[inside])
            rotation, place = tube.rotation[index][inside], tube.position[index][inside]
            points.append(place + np.einsum("mij,mj->mi", rotation, offset))
        if points:
            line = np.concatenate(points)
            found[name] = np.stack([line[:-1], line[1:]], axis=1).astype(np.float32)
    return found


def load_arrows(result: Trajectory | Equilibrium, picture: Scene, index: int, size: float) -> Array:
    """Arrows (n, 2, 3) [m] of all forces; the largest is a part of the size [m] of the scene."""
    robot, t = result.system.robot, float(picture.t[index])
    tails: list[Array] = []
    forces: list[Array] = []
    tubes = {tube.name: tube for tube in picture.tubes}
    for load in robot.loads:
        if isinstance(load, Wrench):
            motion = result._snapshots([load.frame])[index, 0]
            force = load.values([t])[0, 3:]
            tails.append(motion[None, S_X : S_X + 3])
            forces.append((motion[:9].reshape(3, 3) @ force if load.follower else force)[None])
        elif isinstance(load, DistributedWrench):
            tube = tubes[load.part.name]
            picked = np.unique(np.linspace(0, len(tube.X) - 1, ALONG).round().astype(int))
            density = load.values(tube.X[picked], [t])[0, :, 3:] * load.part.length
            if load.follower:
                density = np.einsum("mij,mj->mi", tube.rotation[index][picked], density)
            tails.append(tube.position[index][picked])
            forces.append(density / ALONG)
    if not tails:
        return np.zeros((0, 2, 3), dtype=np.float32)
    tail, force = np.concatenate(tails), np.concatenate(forces)
    largest = float(np.max(np.linalg.norm(force, axis=1)))
    if largest == 0.0:
        return np.zeros((0, 2, 3), dtype=np.float32)
    seen = np.linalg.norm(force, axis=1) > 0.02 * largest
    head = tail + ARROW * size / largest * force
    return np.stack([tail, head], axis=1)[seen].astype(np.float32)


def tip_frames(picture: Scene, index: int) -> dict[str, tuple[Array, Array]]:
    """Position (3,) [m] and rotation (3, 3) of the last section of every tube, by name."""
    return {tube.name: (tube.position[index, -1], tube.rotation[index, -1]) for tube in picture.tubes}


def suggested_limits(robot: Robot) -> dict[str, tuple[float, float]]:
    """Range of every input for a slider: from zero to what bends a rod by about a right angle.

    T d = E I pi / (2 L) for a tendon at a distance d from the axis of a rod of length L.
    """
    found: dict[str, tuple[float, float]] = {}
    for name, actuator in robot.actuators.items():
        high = 10.0
        for part, routing, low, end in getattr(actuator, "stretches", ())[:1]:
            X = np.linspace(low, end, 9)
            arm = float(np.max(np.linalg.norm(routing.offset(X), axis=1)))
            bending = float(np.mean(part.rod.hooke(X)[:, 1:3]))
            tension = bending * np.pi / (2.0 * part.length * max(arm, 1e-3 * part.length))
            high = tension / max(abs(actuator.tension_per_input), 1e-300)
        found[name] = (0.0, _round_up(high))
    return found


def _round_up(value: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below a value."""
    power = 10.0 ** np.floor(np.log10(max(value, 1e-12)))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= value * (1.0 - 1e-9)))


def rods_of_robot(robot: Robot) -> list[RodHandle]:
    """The rods of a robot."""
    return [part for part in robot.parts if isinstance(part, RodHandle)]
