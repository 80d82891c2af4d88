"""Tasks in which a robot touches things: grasp a ball and lift it, crawl between pegs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla import sensors
from anguilla.describe import (
    Circle,
    Drive,
    Free,
    Material,
    PiecewisePolynomial,
    Planar,
    Prismatic,
    RigidBody,
    Robot,
    Rod,
    parallel,
)
from anguilla.describe.load import as_rod
from anguilla.describe.obstacles import HalfSpace, Pillar
from anguilla.describe.strains import Strains, kirchhoff
from anguilla.env.task import Rng, Task
from anguilla.errors import as_vector
from anguilla.interact import Contact, Muscle, PartContact, Tendon, WorldSpring
from anguilla.mechanics.tree import Floats

__all__ = ["Crawl", "Grasp", "peg_snake", "soft_gripper"]


def _pose(place: ArrayLike, axes: ArrayLike | None = None) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = place
    if axes is not None:
        pose[:3, :3] = axes
    return pose


def soft_gripper(friction: float = 0.8, mass: float = 0.03, young: float = 1.5e6) -> Robot:
    """Three soft fingers of 12 cm, each bent by a tendon, above a ball of 6 cm on a table; the palm goes up by an input.

    Args:
        friction: of the fingers on the ball.
        mass: of the ball [kg].
        young: Young's modulus of the fingers [Pa].

    """
    robot = Robot("soft_gripper")
    silicone = Material(young=young, density=1100.0, poisson=0.5, damping=0.02)
    up = Prismatic((0, 0, 1), motion=robot.input("lift", "m", drive=Drive(lag=0.1)))
    palm = robot.add(
        RigidBody.box((0.12, 0.12, 0.01), mass=0.2), at=robot.ground, joint=up, pose=_pose((0, 0, 0.125)), name="palm"
    )
    ball = robot.add(
        RigidBody.sphere(0.03, mass=mass), at=robot.ground, joint=Free(), pose=_pose((0, 0, 0.03)), name="ball"
    )
    felt = []
    for k in range(3):
        out = np.array([np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3), 0.0])
        down = np.array([0.0, 0.0, -1.0])
        axes = np.stack([down, -out, np.cross(down, -out)], axis=1)  # along the finger, inwards, sideways
        rod = Rod(0.12, Circle(0.006), silicone, kirchhoff(3))
        finger = robot.add(rod, at=palm.frame, pose=_pose(0.045 * out, axes), name=f"finger_{k + 1}")
        robot.actuate(f"tendon_{k + 1}", Tendon(finger, parallel(y=0.0042)))
        held = robot.load(PartContact(finger, ball, friction=friction, damping=1.0))
        felt.append(sensors.ContactForce(held))
    robot.load(Contact(ball, HalfSpace(), 5e3, friction=0.5, damping=2.0))
    robot.sense("ball", sensors.Position(ball.frame))
    robot.sense("speed", sensors.Velocity(ball.frame))
    robot.sense("palm", sensors.Position(palm.frame))
    for k, force in enumerate(felt):
        robot.sense(f"touch_{k + 1}", force)
    return robot


class Grasp(Task):
    """Grasp a ball on a table, lift it to a given height, and hold it there.

    Observed are where the ball is, seen from the palm, its velocity, heights of palm and goal, the inputs, and what further
    sensors show: of `soft_gripper` the forces of its fingers on the ball [N]. The reward is minus the distance from the
    wanted height, with a bonus within 5 mm.

    Args:
        robot: a gripper with sensors "ball" (Position), "speed" (Velocity) and "palm" (Position), in this order, or a
            function returning one; `soft_gripper` if not given.
        limits: (low, high) of the inputs by name; 0 to 4 N for the tendons, 0 to 0.1 m for the palm.
        height: (lowest, highest) goal of the middle of the ball [m].
        keywords: those of `Task`.

    """

    SPAN = 0.1  # [m] heights are seen as parts of it
    CLOSE = 0.005  # [m] from the goal that counts as reached

    def __init__(
        self,
        robot: Robot | Callable[..., Robot] = soft_gripper,
        limits: Mapping[str, tuple[float, float]] | None = None,
        *,
        height: ArrayLike = (0.06, 0.11),
        dt: float = 0.004,
        horizon: int = 150,
        rate: float | None = 1.5,
        **keywords: Any,
    ) -> None:
        if limits is None:
            limits = {f"tendon_{k}": (0.0, 4.0) for k in (1, 2, 3)} | {"lift": (0.0, self.SPAN)}
        super().__init__(robot, limits, dt=dt, horizon=horizon, rate=rate, **keywords)
        self._lowest, self._highest = as_vector(height, 2, "height", "m").tolist()

    def new_goals(self, rng: Rng, count: int) -> Floats:
        """Heights (count, 1) [m]."""
        return rng.uniform(self._lowest, self._highest, (count, 1))

    def observe(self, readings: Floats, efforts: Floats, goals: Floats, t: Floats) -> Floats:
        """The ball from the palm, its velocity, heights, the way to go (far and near), inputs, and what else is sensed."""
        ball, speed, palm = readings[:, :3], readings[:, 3:6], readings[:, 6:9]
        way = goals[:, 0] - ball[:, 2]
        heights = np.stack([palm[:, 2], ball[:, 2], way], axis=1) / self.SPAN
        near = np.tanh(way / self.CLOSE)[:, None]
        return np.hstack([(ball - palm) / self.SPAN, speed, heights, near, efforts, readings[:, 9:]])

    def reward(
        self, readings: Floats, efforts: Floats, goals: Floats, t: Floats, action: Floats
    ) -> tuple[Floats, dict[str, NDArray[Any]]]:
        """Minus the distance from the wanted height and from below the palm, a bonus near the goal."""
        away = np.abs(goals[:, 0] - readings[:, 2])
        aside = np.linalg.norm(readings[:, :2] - readings[:, 6:8], axis=1)
        near = away < self.CLOSE
        calm = 0.02 * np.mean(action**2, axis=1)
        return -(away + aside) / self.SPAN + 0.5 * near - calm, {"distance": away, "is_success": near}


BODY, WIDTH, WAVE, BEND = 1.0, 0.012, 0.5, 9.0  # of the snake [m], radius [m], wave on it [m], its amplitude [rad/m]
MUSCLES = 13  # places along the body where a moment is given, straight lines in between
PEG, TIGHT = 0.012, 0.0005  # radius of pegs, how far they reach into the track [m]
BASIS = PiecewisePolynomial(8, 2)


def _track(s: ArrayLike, far: float) -> tuple[Floats, Floats]:
    """Points (n, 2) [m] and directions (n,) [rad] of the track that a wave follows; s [m] is negative ahead of the head."""
    fine = np.linspace(-far, BODY, 8001)
    angle = -BEND * WAVE / (2 * np.pi) * np.cos(2 * np.pi * fine / WAVE)
    along = np.diff(fine, prepend=fine[0])[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    place = np.cumsum(along, axis=0)
    place -= [np.interp(0.0, fine, x) for x in place.T]
    return np.stack([np.interp(np.asarray(s, dtype=np.float64), fine, x) for x in place.T], axis=1), np.interp(
        np.asarray(s, dtype=np.float64), fine, angle
    )


def _hat(k: int, X: float) -> tuple[float, float, float]:
    """Moment of a muscle along the body (3,): straight lines from its place to its neighbours."""
    return 0.0, 0.0, max(0.0, 1.0 - abs(X / BODY * (MUSCLES - 1) - k))


def peg_snake(young: float = 2e6, mud: float = 0.5, waves: int = 5) -> Robot:
    """A snake of 1 m in the plane between pairs of pegs, without friction, with 13 muscles along its body.

    Args:
        young: Young's modulus [Pa].
        mud: drag per length and speed [N s/m^2].
        waves: how many waves of pegs lie ahead.

    """
    robot = Robot("peg_snake", gravity=(0, 0, 0))
    flesh = Material(young=young, density=1000.0, poisson=0.5, damping=0.02)
    far = (waves + 1) * WAVE
    angle = float(_track(np.zeros(1), far)[1][0])
    c, s = np.cos(angle), np.sin(angle)
    rod = Rod(BODY, Circle(WIDTH), flesh, Strains(bend_z=BASIS), intervals=48)
    turned = _pose((0, 0, 0), [[c, -s, 0], [s, c, 0], [0, 0, 1]])
    body = robot.add(rod, at=robot.ground, joint=Planar((0, 0, 1), (1, 0, 0)), pose=turned, name="snake")
    for k in range(MUSCLES):
        moment = robot.input(f"muscle_{k + 1}", "N m", along=partial(_hat, k))
        robot.load(Muscle(body, moment=moment))
    for axis in np.eye(3)[:2]:
        robot.load(WorldSpring(body, 0.0, axis, damping=mud))
    at = np.arange(-2 * waves, round(2 * BODY / WAVE) + 1) * 0.5 * WAVE
    place, turn = _track(at, far)
    aside = (WIDTH + PEG - TIGHT) * np.stack([-np.sin(turn), np.cos(turn)], axis=1)
    for x, y in np.concatenate([place + aside, place - aside]).tolist():
        robot.load(Contact(body, Pillar((x, y, 0), axis=(0, 0, 1), radius=PEG), 3e3, damping=3.0))
    robot.sense("head", sensors.Position(body.root))
    robot.sense("middle", sensors.Velocity(body.section(0.5 * BODY)))
    robot.sense("state", sensors.StateSensor(robot.size))
    return robot


class Crawl(Task):
    """Crawl forward between pegs, by bending alone.

    Observed are the shape and its rates, where in the wave of the pegs the head is, and the inputs; the reward is the speed
    forward, less a little for effort.

    Args:
        robot: a snake as `peg_snake` makes it, or a function returning one.
        limits: (low, high) of the inputs by name; for `peg_snake` the moments of its wave and a fifth more.
        keywords: those of `Task`.

    """

    def __init__(
        self,
        robot: Robot | Callable[..., Robot] = peg_snake,
        limits: Mapping[str, tuple[float, float]] | None = None,
        *,
        dt: float = 0.01,
        horizon: int = 120,
        **keywords: Any,
    ) -> None:
        made = robot if isinstance(robot, Robot) else robot()
        body = as_rod(made.part("snake"), "the part 'snake'")
        self._moment = float(body.rod.material.young * np.pi / 4 * WIDTH**4 * BEND)  # [N m]
        most = 1.2 * self._moment
        X = np.linspace(0.0, 1.0, 401)
        bent = np.linalg.lstsq(BASIS(X), BEND * np.sin(2 * np.pi * X * BODY / WAVE))[0]
        keywords.setdefault("start", np.concatenate([np.zeros(3), bent]))
        super().__init__(robot, limits or dict.fromkeys(made.inputs, (-most, most)), dt=dt, horizon=horizon, **keywords)
        chord = _track(np.array([-WAVE, 0.0]), 2 * WAVE)[0]
        self._wave, self._size = float(chord[1, 0] - chord[0, 0]), self.robot.size

    def moments(self, phase: ArrayLike) -> Floats:
        """Moments (..., 13) [N m] of the muscles that hold the wave at a phase [rad]; the phase grows as it crawls."""
        X = np.linspace(0.0, BODY, MUSCLES)
        return -self._moment * np.sin(2 * np.pi * X / WAVE - np.asarray(phase)[..., None])

    def first_inputs(self) -> Floats:
        """Moments that hold the snake in its track."""
        return np.clip(self.moments(0.0), self.low, self.high)

    def observe(self, readings: Floats, efforts: Floats, goals: Floats, t: Floats) -> Floats:
        """Shape, rates, the head in the wave of the pegs, and the inputs."""
        state = readings[:, 6:]
        turn, shape, rates = state[:, 2:3], state[:, 3 : self._size], state[:, self._size :]
        phase = 2 * np.pi * readings[:, :1] / self._wave
        return np.hstack([np.cos(phase), np.sin(phase), readings[:, 1:2], turn, 0.1 * shape, 0.1 * rates, efforts])

    def reward(
        self, readings: Floats, efforts: Floats, goals: Floats, t: Floats, action: Floats
    ) -> tuple[Floats, dict[str, NDArray[Any]]]:
        """Speed of the middle forward, less effort."""
        speed = -readings[:, 3]
        return speed - 0.01 * np.mean(efforts**2, axis=1), {"speed": speed, "way": -readings[:, 0]}
