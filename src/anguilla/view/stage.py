"""What a robot looks like beside its tubes: tendons, forces, trails and frames, at one instant. Nothing is drawn here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anguilla.describe import Closure, Frame, FrameMotion, Robot
from anguilla.results.observe import S_X
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.view.scene import Array, Scene, Tube

__all__ = [
    "Lines",
    "Tracks",
    "arrows",
    "contact_forces",
    "faces_of",
    "load_arrows",
    "load_forces",
    "plate",
    "reaction_forces",
    "tendon_lines",
    "tip_frames",
    "trail",
]

ARROW = 0.18  # length of the arrow of the largest force, as a part of the size of the scene
ALONG = 7  # arrows along a rod under a distributed force
TOGETHER = 0.03  # of the size of the scene: contacts nearer than this to each other are drawn as one


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


def plate(tube: Tube) -> tuple[Array, np.ndarray]:
    """Vertices (n, 3) [m] and triangles (m, 3) of a short disc behind the root of a tube, on which it is mounted."""
    radius, k = float(tube.radius[0]), 40
    angle = 2.0 * np.pi * np.arange(k) / k
    circle = np.stack([np.zeros(k), 1.7 * radius * np.cos(angle), 1.7 * radius * np.sin(angle)], axis=1)
    back = np.array([-0.7 * radius, 0.0, 0.0])
    local = np.concatenate([circle + back, circle, [back, np.zeros(3)]])
    here, after = np.arange(k), np.roll(np.arange(k), -1)
    sides = [[here, after, after + k], [here, after + k, here + k]]
    ends = [[np.full(k, 2 * k), after, here], [np.full(k, 2 * k + 1), here + k, after + k]]
    faces = np.concatenate([np.stack(corners, axis=1) for corners in sides + ends])
    return (tube.position[0, 0] + local @ tube.rotation[0, 0].T).astype(np.float32), faces.astype(np.uint32)


class Tracks:
    """Motions of single frames of a result, and reactions of its closures, each computed once."""

    def __init__(
        self, result: Trajectory | Equilibrium, also: Callable[[int], tuple[Array, Array]] | None = None
    ) -> None:
        self.result, self._also = result, also  # also: other places where something touches at an instant, and forces
        self._motions: dict[object, Array] = {}
        self._reactions: dict[str, Array] = {}
        self._exerted: dict[int, tuple[Array, Array]] = {}

    def pose(self, frame: Frame, index: int) -> tuple[Array, Array]:
        """Rotation (3, 3) and position (3,) [m] of a frame at one instant, world axes."""
        offset = None if frame.offset is None else frame.offset_pose.tobytes()
        key = (frame.part_index, frame.place, offset)
        if key not in self._motions:
            self._motions[key] = self.result.motion([frame])[:, 0]
        motion = self._motions[key][index]
        return motion[:9].reshape(3, 3), motion[S_X : S_X + 3]

    def reaction(self, closure: Closure, index: int) -> Array:
        """Force (3,) [N] of a closure on its frame b at one instant, world axes."""
        if closure.name not in self._reactions:
            own = self.result.robot.closures[closure.name]
            self._reactions[closure.name] = np.atleast_2d(self.result.reaction(own))
        rotation, _ = self.pose(closure.b, index)
        return rotation @ self._reactions[closure.name][index, 3:]

    def exerted(self, number: int, index: int) -> tuple[Array, Array]:
        """Where load `number` acts (k, 3) [m] at one instant, and its forces there (k, 3) [N], world axes."""
        if number not in self._exerted:
            found = self.result.exerted(self.result.system.robot.loads[number])
            size = len(np.atleast_1d(self.result.t))
            force = found.wrench.reshape(size, -1, 6)[:, :, 3:]
            self._exerted[number] = found.place.reshape(size, -1, 3), force
        place, force = self._exerted[number]
        return place[index], force[index]

    def touching(self, index: int) -> tuple[Array, Array]:
        """Where parts touch obstacles and each other (k, 3) [m] at one instant, and the forces there (k, 3) [N]."""
        system = self.result.system
        places, forces = [np.zeros((0, 3))], [np.zeros((0, 3))]
        for number, load in enumerate(system.robot.loads):
            if load.touches:
                place, force = self.exerted(number, index)
                touch = np.any(force != 0.0, axis=1)
                places.append(place[touch] - self._depth_below(number, force)[touch])
                forces.append(force[touch])
        if len(system.tables.touch_loads):
            for found in self.result.all_contact_points[index].values():
                places.append(found.place)
                forces.append(found.force)
        if self._also is not None:
            place, force = self._also(index)
            places.append(place)
            forces.append(force)
        return np.concatenate(places), np.concatenate(forces)

    def _depth_below(self, number: int, force: Array) -> Array:
        """From places of a contact to the surface that touches (k, 3) [m], which is where the force comes from."""
        load = self.result.system.robot.loads[number]
        seat = self.result.system.tables.seats[number]
        radii = np.asarray(load.radii(seat.X))[:, None]
        return radii * force / np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-300)


class Lines:
    """The lines of all actuators of a robot; what does not change from picture to picture is computed once."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._spans = {name: list(actuator.spans) for name, actuator in robot.actuators.items()}
        self._offsets: dict[tuple[str, int], tuple[Array, Any, Array]] = {}

    def at(self, picture: Scene, index: int, tracks: Tracks | None = None) -> dict[str, Array]:
        """Segments (n, 2, 3) [m] along rods and, given the tracks, through the air, by name."""
        tubes = {tube.name: tube for tube in picture.tubes}
        found: dict[str, Array] = {}
        for name, actuator in self.robot.actuators.items():
            pieces: list[Array] = []
            for k, (part, routing, low, high) in enumerate(actuator.stretches):
                tube = tubes[part.name]
                known = self._offsets.get((name, k))
                if known is None or not np.array_equal(known[0], tube.X):
                    inside = np.flatnonzero((tube.X >= low - 1e-9) & (tube.X <= high + 1e-9))
                    known = (tube.X, inside, routing.offset(tube.X[inside]))
                    self._offsets[name, k] = known
                rotation, place = tube.rotation[index][known[1]], tube.position[index][known[1]]
                line = place + np.einsum("mij,mj->mi", rotation, known[2])
                pieces.append(np.stack([line[:-1], line[1:]], axis=1))
            if tracks is not None:
                for a, b in self._spans[name]:
                    pieces.append(np.stack([tracks.pose(a, index)[1], tracks.pose(b, index)[1]])[None])
            if pieces:
                found[name] = np.concatenate(pieces).astype(np.float32)
        return found


def tendon_lines(robot: Robot, picture: Scene, index: int, tracks: Tracks | None = None) -> dict[str, Array]:
    """Segments (n, 2, 3) [m] of the lines of all actuators, along rods and, given the tracks, through the air, by name."""
    return Lines(robot).at(picture, index, tracks)


def load_forces(tracks: Tracks, picture: Scene, index: int) -> tuple[Array, Array]:
    """Where the forces of all loads act (n, 3) [m] and how large they are (n, 3) [N], world axes."""
    with tracks.result.acting():
        return _load_forces(tracks, picture, index)


def _load_forces(tracks: Tracks, picture: Scene, index: int) -> tuple[Array, Array]:
    """The same, where inputs in the description have their values."""
    robot, t = tracks.result.system.robot, float(picture.t[index])
    tails: list[Array] = []
    forces: list[Array] = []
    tubes = {tube.name: tube for tube in picture.tubes}
    acting = set(tracks.result.system.tables.frame_loads)  # what `exerted` knows
    for number, load in enumerate(robot.loads):
        if not load.has_arrows or load.touches:  # contacts are drawn by themselves
            continue
        if load.wrench_on is not None:
            rotation, place = tracks.pose(load.wrench_on, index)
            tails.append(place[None])
            forces.append(load.given_wrench(np.array([t]), rotation[None])[:, 3:])
        elif load.density_on is not None and number not in acting:
            tube = tubes[load.density_on.name]
            picked = np.unique(np.linspace(0, len(tube.X) - 1, ALONG).round().astype(int))
            still = np.zeros((1, len(picked), 3))
            place = tube.position[index][picked]
            motion = FrameMotion(tube.rotation[index][picked][None], place[None], still, still, still, still)
            density = load.wrench_density(tube.X[picked], np.array([t]), motion, still[:, 0])[0, :, 3:]
            tails.append(place)
            forces.append(density * load.density_on.length / ALONG)
        else:
            place, push = tracks.exerted(number, index)
            for some in np.array_split(np.arange(len(place)), min(len(place), ALONG)):
                size = np.linalg.norm(push[some], axis=1) + 1e-300
                tails.append((size @ place[some] / size.sum())[None])
                forces.append(push[some].sum(axis=0)[None])
    if not tails:
        return np.zeros((0, 3)), np.zeros((0, 3))
    return np.concatenate(tails), np.concatenate(forces)


def reaction_forces(tracks: Tracks, index: int) -> tuple[Array, Array]:
    """Where closures act on their frames b (n, 3) [m], and their forces (n, 3) [N], world axes."""
    closures = list(tracks.result.system.robot.closures.values())
    if not closures:
        return np.zeros((0, 3)), np.zeros((0, 3))
    places = [tracks.pose(closure.b, index)[1] for closure in closures]
    return np.array(places), np.array([tracks.reaction(closure, index) for closure in closures])


def contact_forces(tracks: Tracks, index: int, size: float) -> tuple[Array, Array]:
    """Where things touch (n, 3) [m] and the forces there (n, 3) [N]; contacts side by side are taken together.

    On a part, of an obstacle; on part b, of part a. Those of a rod on itself push both ways, and stay apart.
    """
    place, force = tracks.touching(index)
    left, places, forces = np.ones(len(place), dtype=bool), [], []
    for k in np.argsort(-np.linalg.norm(force, axis=1)):
        if not left[k]:
            continue
        near = left & (np.linalg.norm(place - place[k], axis=1) < TOGETHER * size) & (force @ force[k] > 0.0)
        near[k] = True
        share = np.linalg.norm(force[near], axis=1) + 1e-300
        places.append(share @ place[near] / share.sum())
        forces.append(force[near].sum(axis=0))
        left &= ~near
    return np.reshape(places, (-1, 3)), np.reshape(forces, (-1, 3))


def arrows(tail: Array, force: Array, length: float, largest: float) -> Array:
    """Arrows (n, 2, 3) [m] from tail to head; that of the largest force [N] has the length [m], tiny ones are left out."""
    if not len(tail) or largest <= 0.0:
        return np.zeros((0, 2, 3), dtype=np.float32)
    seen = np.linalg.norm(force, axis=1) > 0.02 * largest
    return np.stack([tail, tail + length / largest * force], axis=1)[seen].astype(np.float32)


def load_arrows(result: Trajectory | Equilibrium, picture: Scene, index: int, size: float) -> Array:
    """Arrows (n, 2, 3) [m] of all loads; the largest is a part of the size [m] of the scene."""
    tail, force = load_forces(Tracks(result), picture, index)
    return arrows(tail, force, ARROW * size, float(np.max(np.linalg.norm(force, axis=1), initial=0.0)))


def trail(picture: Scene, index: int) -> Array:
    """Path (n, 3) [m] so far of the last free tip, or of the last body."""
    free = [tube for tube in picture.tubes if tube.free]
    tube = free[-1] if free else picture.tubes[-1]
    along = tube.position[: index + 1, -1] if free else tube.position[: index + 1].mean(axis=1)
    return along


def tip_frames(picture: Scene, index: int) -> dict[str, tuple[Array, Array]]:
    """Position (3,) [m] and rotation (3, 3) of the last section of every tube, by name."""
    return {tube.name: (tube.position[index, -1], tube.rotation[index, -1]) for tube in picture.tubes}


def suggested_limits(robot: Robot) -> dict[str, tuple[float, float]]:
    """Range of every input for a slider: from zero to what bends a rod by about a right angle.

    Of a push rod, as far below zero.

    T d = E I pi / (2 L) for a tendon at a distance d from the axis of a rod of length L.
    """
    found: dict[str, tuple[float, float]] = {}
    for name, actuator in robot.actuators.items():
        high = 10.0
        for part, routing, low, end in actuator.stretches[:1]:
            X = np.linspace(low, end, 9)
            arm = float(np.max(np.linalg.norm(routing.offset(X), axis=1)))
            bending = float(np.mean(part.rod.hooke(X)[:, 1:3]))
            tension = bending * np.pi / (2.0 * part.length * max(arm, 1e-3 * part.length))
            high = tension / max(abs(actuator.tension_per_input), 1e-300)
        high = _round_up(high)
        found[name] = (-high if actuator.is_push_rod else 0.0, high)
    return found


def _round_up(value: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below a value."""
    power = 10.0 ** np.floor(np.log10(max(value, 1e-12)))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= value * (1.0 - 1e-9)))
