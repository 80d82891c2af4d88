"""What holds frames together beyond the tree: closures of loops, prescribed poses, and constraints on velocities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla.describe.description import Description, as_name
from anguilla.describe.frames import Frame, Part
from anguilla.describe.joint import Joint, JointHold, as_direction
from anguilla.describe.signals import arguments_of
from anguilla.errors import DescriptionError, as_number, as_pose, as_positive, as_vector, refuse

if TYPE_CHECKING:
    from anguilla.describe.robot import Robot

Array = NDArray[np.float64]
Pose = ArrayLike | Callable[[float], ArrayLike]


def frame_with_x(axis: ArrayLike) -> Array:
    """Return a pose (4, 4) without translation whose x is the given unit vector."""
    x = np.asarray(axis, dtype=np.float64)
    side = np.eye(3)[np.argmin(np.abs(x))]
    y = np.cross(side, x)
    y /= np.linalg.norm(y)
    pose = np.eye(4)
    pose[:3, :3] = np.stack([x, y, np.cross(x, y)], axis=1)
    return pose


@dataclass(frozen=True, eq=False)
class Closure:
    """A joint that closes a loop, or a pose prescribed on a frame, as returned by ``robot.close``.

    Attributes:
        name: unique name.
        a, b: the frames held together.
        joint: the joint between them.
        pose: pose (4, 4) of the joint in frame a, constant or a function of t [s].

    """

    robot: Robot
    name: str
    a: Frame
    b: Frame
    joint: Joint
    pose: Pose

    @property
    def is_constant(self) -> bool:
        """Whether the pose does not depend on time."""
        return not callable(self.pose)

    @property
    def holds(self) -> JointHold:
        """What the joint holds."""
        held = self.joint.closing
        if held is None:
            raise DescriptionError(
                f"Closure {self.name!r}: a {type(self.joint).__name__} joint cannot close a loop by itself."
            )
        return held

    @property
    def sides(self) -> tuple[Array, Array]:
        """Poses (4, 4) that turn x to the axis of the joint, on the side of a and on the side of b."""
        axes = self.holds.axes
        return (np.eye(4), np.eye(4)) if axes is None else (frame_with_x(axes[0]), frame_with_x(axes[1]))

    @property
    def rows(self) -> list[tuple[str, int, int, float]]:
        """(kind, axis of a, axis of b, value) of each constraint."""
        held = self.holds
        rows = [("translation", k, k, 0.0) for k in held.along]
        return rows + [("rotation", k, l, held.cosine) for k, l in held.angles]

    def poses(self, times: ArrayLike) -> Array:
        """Poses (nt, 4, 4) of the frame that carries the rows of the joint, in frame a, at the times (nt,) [s]."""
        side = self.sides[0]
        if not callable(self.pose):
            return np.tile(np.asarray(self.pose) @ side, (np.size(times), 1, 1))
        what = f"The pose of closure {self.name!r}"
        moments = np.atleast_1d(np.asarray(times, dtype=np.float64)).tolist()
        return np.array([as_pose(self.pose(t), f"{what} at t = {t:g} s") @ side for t in moments])

    def flat_poses(self, times: ArrayLike) -> Array:
        """The same as rotation (9 numbers) and translation (3): (nt, 12)."""
        poses = self.poses(times)
        return np.concatenate([poses[:, :3, :3].reshape(-1, 9), poses[:, :3, 3]], axis=1)

    def __repr__(self) -> str:
        return f"<closure {self.name!r}: {self.a.label} - {type(self.joint).__name__} - {self.b.label}>"


def as_pose_signal(value: Any, name: str) -> Pose:
    """Return a constant pose, or a function of t unchanged; None is the identity."""
    if value is None:
        return np.eye(4)
    if not callable(value):
        return as_pose(value, name)
    names = arguments_of(value, name, "a pose (4, 4) or a function of the time t returning one")
    if len(names) != 1:
        raise DescriptionError(f"{name} must be a pose or a function of the time t; got a function of {names}.")
    return value


@dataclass(eq=False)
class TwistConstraint(Description):
    """A linear relation between the twists of one or two frames, not integrable in general (004 (7)).

    coefficients . (omega, v) + other_coefficients . (omega, v)_other = rate, each twist in the axes of its frame.

    Attributes:
        frame: the frame.
        coefficients: (6,) on its angular velocity [rad/s] and velocity [m/s].
        other: a second frame, or None.
        other_coefficients: (6,) likewise.
        rate: right-hand side, a number or a function of t [s].
        name: name of the constraint.

    """

    frame: Frame
    coefficients: ArrayLike
    other: Frame | None = None
    other_coefficients: ArrayLike = (0.0,) * 6
    rate: float | Callable[[float], float] = 0.0
    name: str | None = None

    def _check(self) -> None:
        for frame in self.frames:
            if isinstance(frame, Part) or not isinstance(frame, Frame):
                raise refuse("TwistConstraint.frame", "a frame such as arm.tip", frame)
        self.coefficients = tuple(as_vector(self.coefficients, 6, "TwistConstraint.coefficients").tolist())
        other = as_vector(self.other_coefficients, 6, "TwistConstraint.other_coefficients")
        self.other_coefficients = tuple(other.tolist())
        if not np.any(self.coefficients) and not np.any(other):
            raise DescriptionError("TwistConstraint.coefficients must not all be zero.")
        if not callable(self.rate):
            self.rate = as_number(self.rate, "TwistConstraint.rate")
        if self.name is not None:
            self.name = as_name(self.name, "TwistConstraint.name")

    @property
    def is_constant(self) -> bool:
        """Whether the right-hand side does not depend on time."""
        return not callable(self.rate)

    def rates(self, times: ArrayLike) -> Array:
        """Right-hand side (nt,) at the times (nt,) [s]."""
        moments = np.atleast_1d(np.asarray(times, dtype=np.float64)).tolist()
        if not callable(self.rate):
            return np.full(len(moments), self.rate)
        return np.array([as_number(self.rate(t), f"TwistConstraint.rate at t = {t:g} s") for t in moments])

    @property
    def label(self) -> str:
        """The name, or the type and place."""
        return self.name or f"TwistConstraint on {self.frame.label}"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frame, and the other one if there is one."""
        return (self.frame,) if self.other is None else (self.frame, self.other)


@public
def no_slip(frame: Frame, direction: ArrayLike, *, name: str | None = None) -> TwistConstraint:
    """A skate, or the tip of a needle: the frame does not move along a direction of its own axes.

    Args:
        frame: the frame that is held.
        direction: (3,) in the axes of the frame; its length does not matter.
        name: name of the constraint.

    """
    return TwistConstraint(frame, (0.0, 0.0, 0.0, *as_direction(direction, "no_slip direction")), name=name)


@public
def rolling(
    carrier: Frame, wheel: Frame, *, radius: float, forward: ArrayLike = (1.0, 0.0, 0.0),
    axle: ArrayLike = (0.0, 1.0, 0.0), name: str | None = None,
) -> TwistConstraint:  # fmt: skip
    """A wheel that rolls without slipping: speed of the carrier forward = radius x spin of the wheel about its axle.

    Args:
        carrier: frame at the centre of the wheel that does not spin with it.
        wheel: frame of the wheel.
        radius: of the wheel [m].
        forward: direction of motion, axes of the carrier; axle x up, with up from the ground to the centre.
        axle: direction of the axle, axes of the wheel.
        name: name of the constraint.

    """
    radius = as_positive(radius, "rolling radius", "m")
    ahead, axis = as_direction(forward, "rolling forward"), as_direction(axle, "rolling axle")
    return TwistConstraint(
        carrier, (0.0, 0.0, 0.0, *ahead), wheel, (*(-radius * x for x in axis), 0.0, 0.0, 0.0), name=name
    )
