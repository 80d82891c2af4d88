"""Ready-made tasks: reach a point, track a curve, swim to a goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla import sensors
from anguilla.describe import Circle, EllipticProfile, Frame, Material, Robot, Rod, parallel
from anguilla.describe.strains import planar, universal
from anguilla.env.task import Rng, Task, checked_source, pool
from anguilla.errors import DescriptionError, as_positive, as_vector
from anguilla.interact import Morison, Tendon
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of

__all__ = ["Reach", "Swim", "Track", "eel", "tendon_arm"]

POOL = 128  # goals that are drawn from
SEED = 7  # of the pool: all environments of a robot share it
_POOLS: dict[tuple[Any, bytes, bytes], Floats] = {}  # by robot and limits


def tendon_arm(young: float = 1.5e5, payload: float = 0.0) -> Robot:
    """A soft arm of two sections of 30 cm with three tendons each, hanging down; 12 coordinates.

    Args:
        young: Young's modulus [Pa].
        payload: mass at its tip [kg].

    """
    from anguilla.describe import RigidBody

    rubber = Material(young=young, poisson=0.49, density=1000, damping=0.05)
    section = Rod(0.3, Circle(0.02), rubber, universal(3))
    robot = Robot("tendon_arm", gravity=(9.81, 0, 0))  # it hangs along +x
    near = robot.add(section, at=robot.ground, name="near")
    far = robot.add(section, at=near.tip, name="far")
    if payload:
        robot.add(RigidBody(payload, (1e-6 * payload,) * 3), at=far.tip, name="payload")
    for k in range(3):
        for name, rods, turn in (("near", near, 0.0), ("far", (near, far), np.pi / 3)):
            angle = turn + 2 * np.pi * k / 3
            path = parallel(y=0.015 * np.cos(angle), z=0.015 * np.sin(angle))
            robot.actuate(f"{name}_{k + 1}", Tendon(rods, path))
    robot.sense("tip", sensors.Position(far.tip))
    robot.sense("speed", sensors.Velocity(far.tip))
    return robot


class Reach(Task):
    """Bring a point of a robot to a goal that it can reach, and hold it there.

    Observed are the position and velocity of the point, the way to the goal, and the inputs; the reward is minus the
    distance, as a part of the robot's length, with a bonus within `close`.

    Args:
        robot: a robot with sensors "tip" (Position) and "speed" (Velocity), or a function returning one; a tendon arm of two
            sections if not given.
        limits: (low, high) of the inputs by name; 0 to 15 N for the tendon arm.
        close: distance that counts as reached, as a part of the length.
        keywords: those of `Task`.

    """

    def __init__(
        self,
        robot: Robot | Callable[..., Robot] = tendon_arm,
        limits: Mapping[str, tuple[float, float]] | None = None,
        *,
        close: float = 0.02,
        rate: float | None = 1.0,
        **keywords: Any,
    ) -> None:
        source = checked_source(robot, type(self).__name__)
        made = source if isinstance(source, Robot) else source()
        super().__init__(robot, limits or dict.fromkeys(made.inputs, (0.0, 15.0)), rate=rate, **keywords)
        for name, kind in (("tip", sensors.Position), ("speed", sensors.Velocity)):
            if not isinstance(self.robot.sensors.get(name), kind):
                raise DescriptionError(f"this task needs a sensor {name!r} of type {kind.__name__} on the robot.")
        self.close, self.length = as_positive(close, "close"), model_of(self.robot).length
        labels = [f"{name}.{label}" for name, sensor in self.robot.sensors.items() for label in sensor.labels]
        self._tip = slice(labels.index("tip.x"), labels.index("tip.x") + 3)
        self._speed = slice(labels.index("speed.vx"), labels.index("speed.vx") + 3)

    @property
    def frame(self) -> Frame:
        """The point."""
        return self.robot.sensors["tip"].frames[0]

    def reachable(self) -> Floats:
        """Positions (m, 3) [m] of the point at rest under inputs drawn from their ranges."""
        key = self if isinstance(self._make, Robot) else self._make, self.low.tobytes(), self.high.tobytes()
        if key not in _POOLS:
            rng = np.random.default_rng(SEED)
            drawn = self.low + (self.high - self.low) * rng.uniform(0.0, 1.0, (POOL, len(self.names))) ** 2
            inputs = [dict(zip(self.names, row, strict=True)) for row in drawn.tolist()]
            _POOLS[key] = pool(self.robot, inputs, lambda eq: eq.position(self.frame))
            if not len(_POOLS[key]):
                raise DescriptionError(
                    "no equilibrium was found within the limits of the inputs: there is nothing to reach."
                )
        return _POOLS[key]

    def new_goals(self, rng: Rng, count: int) -> Floats:
        """Goals (count, 3) [m]."""
        known = self.reachable()
        return known[rng.integers(len(known), size=count)]

    def wanted(self, goals: Floats, t: Floats) -> Floats:
        """Where the point shall be (copies, 3) [m]."""
        return goals

    def observe(self, readings: Floats, efforts: Floats, goals: Floats, t: Floats) -> Floats:
        """Position, velocity, way to go (twice: far and near), and inputs."""
        tip, speed = readings[:, self._tip], readings[:, self._speed]
        way = self.wanted(goals, t) - tip
        near = np.tanh(way / (self.close * self.length))  # seen well where it counts
        return np.hstack([tip / self.length, speed, 5.0 * way / self.length, near, efforts])

    def reward(
        self, readings: Floats, efforts: Floats, goals: Floats, t: Floats, action: Floats
    ) -> tuple[Floats, dict[str, NDArray[Any]]]:
        """Minus the distance, a bonus near the goal, and a little for calm actions."""
        distance = np.linalg.norm(self.wanted(goals, t) - readings[:, self._tip], axis=1) / self.length
        near = distance < self.close
        calm = 0.02 * np.mean(action**2, axis=1)
        return -3.0 * distance + 0.5 * near - calm, {"distance": distance, "is_success": near}


class Track(Reach):
    """Follow a figure of eight with a point of a robot; the goal moves.

    Args:
        robot: as in `Reach`.
        limits: as in `Reach`.
        period: time of a round [s].
        size: half of its width [m].
        keywords: those of `Reach`.

    """

    def __init__(
        self,
        robot: Robot | Callable[..., Robot] = tendon_arm,
        limits: Mapping[str, tuple[float, float]] | None = None,
        *,
        period: float = 5.0,
        size: float = 0.1,
        **keywords: Any,
    ) -> None:
        super().__init__(robot, limits, **keywords)
        self._period, self._size = as_positive(period, "period", "s"), as_positive(size, "size", "m")
        self._centre = np.mean(self.reachable(), axis=0)

    def new_goals(self, rng: Rng, count: int) -> Floats:
        """Where in the round an episode begins (count, 1) [rad]."""
        return rng.uniform(0.0, 2.0 * np.pi, (count, 1))

    def wanted(self, goals: Floats, t: Floats) -> Floats:
        """Where the point shall be (copies, 3) [m]."""
        angle = goals[:, 0] + 2.0 * np.pi * t / self._period
        eight = np.stack([0.0 * angle, np.sin(angle), 0.5 * np.sin(2.0 * angle)], axis=1)
        return self._centre + self._size * eight


def eel(young: float = 2e5) -> Robot:
    """An eel of 60 cm that swims in a plane, bent by three pairs of muscles along its body.

    Args:
        young: Young's modulus [Pa].

    """
    length = 0.6
    body = EllipticProfile(
        lambda X: 0.016 * np.sqrt(np.maximum(1 - (X / length - 0.5) ** 2 / 0.26, 0.0)),
        lambda X: 0.035 * np.sqrt(np.maximum(1 - (X / length - 0.6) ** 2 / 0.4, 0.0)),
    )
    from anguilla.describe import Planar

    robot = Robot("eel", gravity=(0, 0, 0))
    flesh = Material(young=young, density=1000, damping=0.05)
    fish = robot.add(Rod(length, body, flesh, planar(4)), at=robot.ground, joint=Planar("z"), name="fish")
    robot.load(Morison(fish))
    for k in range(3):
        span = (length * k / 3, length * (k + 1) / 3)
        for side, y in (("left", 0.008), ("right", -0.008)):
            robot.actuate(f"{side}_{k + 1}", Tendon(fish, parallel(y=y), span=span))
    robot.sense("head", sensors.Position(fish.root))
    robot.sense("state", sensors.StateSensor(robot.size))
    return robot


class Swim(Task):
    """Swim to a goal in the plane.

    Args:
        robot: a swimmer with sensors "head" (Position) and "state" (StateSensor), or a function returning one; an eel if
            not given.
        limits: (low, high) of the inputs by name; 0 to 6 N for the eel.
        distance: (nearest, farthest) goal [m].
        keywords: those of `Task`.

    """

    def __init__(
        self,
        robot: Robot | Callable[..., Robot] = eel,
        limits: Mapping[str, tuple[float, float]] | None = None,
        *,
        distance: ArrayLike = (0.5, 1.5),
        dt: float = 0.02,
        horizon: int = 200,
        **keywords: Any,
    ) -> None:
        source = checked_source(robot, type(self).__name__)
        made = source if isinstance(source, Robot) else source()
        super().__init__(robot, limits or dict.fromkeys(made.inputs, (0.0, 6.0)), dt=dt, horizon=horizon, **keywords)
        self._nearest, self._farthest = as_vector(distance, 2, "distance", "m").tolist()
        self._size = self.robot.size

    def new_goals(self, rng: Rng, count: int) -> Floats:
        """Goals (count, 2) [m]: ahead, where the head points to -x."""
        far, angle = rng.uniform(self._nearest, self._farthest, count), rng.uniform(-0.6, 0.6, count)
        return np.stack([-far * np.cos(angle), far * np.sin(angle)], axis=1)

    def _way(self, readings: Floats, goals: Floats) -> Floats:
        return goals - readings[:, :2]

    def observe(self, readings: Floats, efforts: Floats, goals: Floats, t: Floats) -> Floats:
        """The way to the goal in axes of the head, its turn, the shape and its rates, and the inputs."""
        way, state = self._way(readings, goals), readings[:, 3:]
        turn, shape = state[:, 2], state[:, 3 : self._size]
        c, s = np.cos(turn), np.sin(turn)
        ahead = np.stack([c * way[:, 0] + s * way[:, 1], -s * way[:, 0] + c * way[:, 1]], axis=1)
        rates = state[:, self._size :]
        return np.hstack([ahead, np.stack([c, s], axis=1), 0.1 * shape, rates[:, :3], 0.02 * rates[:, 3:], efforts])

    def reward(
        self, readings: Floats, efforts: Floats, goals: Floats, t: Floats, action: Floats
    ) -> tuple[Floats, dict[str, NDArray[Any]]]:
        """Speed towards the goal, less effort."""
        way = self._way(readings, goals)
        distance = np.linalg.norm(way, axis=1)
        rates = readings[:, 3 + self._size : 3 + self._size + 2]
        towards = np.sum(rates * way, axis=1) / np.maximum(distance, 1e-9)
        near = distance < 0.1
        return towards + 1.0 * near - 0.01 * np.mean(efforts**2, axis=1), {"distance": distance, "is_success": near}
