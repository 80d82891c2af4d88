"""Sensors: named outputs of a robot, as its instruments would read them.

A sensor says what it measures, in which axes and units, from the motion of its robot (`Sensed`), and what its electronics
do to that: noise, steps of resolution, delay, sampling rate. `Stepper.read()` gives what the instruments show;
`run.readings()` the true values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import hang
from anguilla.describe.description import Description, as_points, did_you_mean
from anguilla.describe.frames import BodyHandle, Frame, Part, RodHandle
from anguilla.describe.load import FrameMotion, Load, as_frame, as_rod
from anguilla.describe.strains import STRAIN_NAMES
from anguilla.errors import DescriptionError, as_nonnegative, as_positive, refuse

__all__ = [
    "Accelerometer",
    "ContactForce",
    "Effort",
    "Gyro",
    "JointPosition",
    "JointRate",
    "LineLength",
    "Pose",
    "Position",
    "Sensor",
    "StateSensor",
    "StrainGauge",
    "Velocity",
]

Array = NDArray[np.float64]


class Sensed(Protocol):
    """What sensors may know of a robot, in one or many states over a leading axis (nt, ...)."""

    def motion(self, frame: Frame) -> FrameMotion:
        """Motion (nt, 1) of a frame, world axes."""

    def gravity(self) -> Array:
        """Gravity (nt, 3) [m/s^2], world axes."""

    def coordinates(self, part: Part) -> tuple[Array, Array]:
        """Coordinates of the joint of a part and their rates (nt, size)."""

    def state(self) -> tuple[Array, Array]:
        """All coordinates and rates (nt, n)."""

    def strain(self, rod: RodHandle, X: Array) -> Array:
        """Strains (nt, m, 6) [1/m, -] of a rod at arc lengths X (m,) [m]."""

    def line(self, actuator: str) -> Array:
        """Length (nt,) [m] of the line of an actuator."""

    def effort(self, actuator: str) -> Array:
        """Tension or pressure (nt,) [N, Pa] of an actuator."""

    def contact(self, load: Load) -> Array:
        """Force (nt, 3) [N] of a contact, world axes."""


@dataclass(eq=False)
class Sensor(Description):
    """Base class of sensors. A subclass says what it measures; all share these keywords.

    Attributes:
        noise: standard deviation of white noise on each number, in its unit.
        resolution: step between two values that it tells apart; 0 for none.
        delay: age of what it shows [s].
        rate: readings per second [Hz]; in between it shows the last one. Every step if not given.

    """

    noise: float = field(default=0.0, kw_only=True)
    resolution: float = field(default=0.0, kw_only=True)
    delay: float = field(default=0.0, kw_only=True)
    rate: float | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        kind = type(self).__name__
        for name, unit in (("noise", ""), ("resolution", ""), ("delay", "s")):
            setattr(self, name, as_nonnegative(getattr(self, name), f"{kind}.{name}", unit))
        if self.rate is not None:
            self.rate = as_positive(self.rate, f"{kind}.rate", "Hz")

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of its numbers."""
        raise NotImplementedError

    @property
    def units(self) -> tuple[str, ...]:
        """Units of its numbers."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many numbers it shows."""
        return len(self.labels)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Frames that it refers to."""
        return ()

    @property
    def lines(self) -> tuple[str, ...]:
        """Actuators that it refers to."""
        return ()

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, size)."""
        raise NotImplementedError


@dataclass(eq=False)
class _OnFrame(Sensor):
    """Base class of sensors on a frame, or on an effector of a soft body, by its name."""

    frame: Frame

    def _check(self) -> None:
        given: object = self.frame
        if not isinstance(given, str):
            self.frame = as_frame(given, f"{type(self).__name__}.frame")
        super()._check()

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frame."""
        return (self.frame,)


@dataclass(eq=False)
class Position(_OnFrame):
    """Position (3,) [m] of a frame in world axes: a marker."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Axes."""
        return ("x", "y", "z")

    @property
    def units(self) -> tuple[str, ...]:
        """Metres."""
        return ("m",) * 3

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, 3)."""
        return at.motion(self.frame).position[:, 0]


@dataclass(eq=False)
class Pose(_OnFrame):
    """Position [m] of a frame and its orientation as a unit quaternion (w, x, y, z) with w >= 0: 7 numbers."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Axes and parts of the quaternion."""
        return ("x", "y", "z", "qw", "qx", "qy", "qz")

    @property
    def units(self) -> tuple[str, ...]:
        """Metres, then none."""
        return ("m",) * 3 + ("",) * 4

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, 7)."""
        motion = at.motion(self.frame)
        return np.hstack([motion.position[:, 0], quaternions(motion.rotation[:, 0])])


def quaternions(R: Array) -> Array:
    """Unit quaternions (nt, 4), w first and not negative, of rotations (nt, 3, 3)."""
    if len(R) == 1:
        return np.array([_quaternion(R[0].tolist())])
    square = np.empty((len(R), 4, 4))  # 4 q q^T; its row with the largest diagonal is taken
    x, y, z = R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]
    for k, (a, b, c) in enumerate(((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))):
        square[:, k, k] = 1.0 + a * x + b * y + c * z
    for k, (i, j) in enumerate(((2, 1), (0, 2), (1, 0)), 1):
        square[:, 0, k] = square[:, k, 0] = R[:, i, j] - R[:, j, i]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        square[:, i + 1, j + 1] = square[:, j + 1, i + 1] = R[:, i, j] + R[:, j, i]
    best = np.argmax(np.diagonal(square, axis1=1, axis2=2), axis=1)
    q = square[np.arange(len(R)), best]
    q = q / np.sqrt((q[:, 0] * q[:, 0] + q[:, 1] * q[:, 1]) + (q[:, 2] * q[:, 2] + q[:, 3] * q[:, 3]))[:, None]
    return np.where(q[:, :1] < 0.0, -q, q)


def _quaternion(r: list[list[float]]) -> list[float]:
    """The same of one rotation, by the same sums: a stepper asks for one at a time."""
    (a, b, c), (d, e, f), (g, h, i) = r
    x, y, z = h - f, c - g, d - b
    square = (
        (1.0 + a + e + i, x, y, z),
        (x, 1.0 + a - e - i, b + d, c + g),
        (y, b + d, 1.0 - a + e - i, f + h),
        (z, c + g, f + h, 1.0 - a - e + i),
    )
    q = square[max(range(4), key=lambda k: square[k][k])]
    size = math.sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]))
    return [(-part if q[0] < 0.0 else part) / size for part in q]


@dataclass(eq=False)
class Velocity(_OnFrame):
    """Velocity (3,) [m/s] of a frame in world axes."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Axes."""
        return ("vx", "vy", "vz")

    @property
    def units(self) -> tuple[str, ...]:
        """Metres per second."""
        return ("m/s",) * 3

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, 3)."""
        return at.motion(self.frame).velocity[:, 0]


@dataclass(eq=False)
class Gyro(_OnFrame):
    """Angular velocity (3,) [rad/s] of a frame in its own axes."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Axes."""
        return ("wx", "wy", "wz")

    @property
    def units(self) -> tuple[str, ...]:
        """Radians per second."""
        return ("rad/s",) * 3

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, 3)."""
        motion = at.motion(self.frame)
        return np.einsum("tji,tj->ti", motion.rotation[:, 0], motion.spin[:, 0])


@dataclass(eq=False)
class Accelerometer(_OnFrame):
    """Acceleration minus gravity (3,) [m/s^2] of a frame in its own axes: at rest it shows 9.81 upwards."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Axes."""
        return ("ax", "ay", "az")

    @property
    def units(self) -> tuple[str, ...]:
        """Metres per second squared."""
        return ("m/s^2",) * 3

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, 3)."""
        motion = at.motion(self.frame)
        return np.einsum("tji,tj->ti", motion.rotation[:, 0], motion.acceleration[:, 0] - at.gravity())


@dataclass(eq=False)
class JointPosition(Sensor):
    """Coordinates of the joint of a part [rad, m]: an encoder."""

    part: Part

    def _check(self) -> None:
        kind = type(self).__name__
        if not isinstance(self.part, Part):
            raise refuse(f"{kind}.part", "a part of the robot, as returned by robot.add", self.part)
        if not self.part.joint.size:
            raise DescriptionError(f"{kind}.part: the joint of {self.part.name!r} has no coordinates.")
        super()._check()

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self.part.joint.names

    @property
    def units(self) -> tuple[str, ...]:
        """Radians or metres."""
        return tuple("rad" if turns else "m" for turns in self.part.joint.turns)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """A frame of the part, to see that it belongs to the robot."""
        return (self.part.frame if isinstance(self.part, BodyHandle) else self.part.root,)

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, size)."""
        return at.coordinates(self.part)[0]


@dataclass(eq=False)
class JointRate(JointPosition):
    """Rates of the joint of a part [rad/s, m/s]: a tachometer."""

    @property
    def units(self) -> tuple[str, ...]:
        """Per second."""
        return tuple("rad/s" if turns else "m/s" for turns in self.part.joint.turns)

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, size)."""
        return at.coordinates(self.part)[1]


@dataclass(eq=False)
class StrainGauge(Sensor):
    """Strains of a rod at arc lengths: curvatures and twist [1/m], stretch and shears [-]; fibres with Bragg gratings.

    Attributes:
        rod: the rod.
        X: arc lengths (m,) [m].
        strains: which of twist, bend_y, bend_z, stretch, shear_y, shear_z, as one text, "bend_y bend_z", or a list.

    """

    rod: RodHandle
    X: ArrayLike
    strains: str = "bend_y bend_z"

    def _check(self) -> None:
        self.rod = as_rod(self.rod, "StrainGauge.rod")
        self.X = tuple(as_points(self.X).tolist())
        if not self.X or min(self.X) < 0.0 or max(self.X) > self.rod.length * (1 + 1e-12):
            raise refuse("StrainGauge.X", f"arc lengths within {self.rod.length:g} m", self.X)
        self.strains = self.strains if isinstance(self.strains, str) else " ".join(map(str, self.strains))
        if not self._names:
            raise refuse("StrainGauge.strains", "names of strains such as 'bend_y bend_z'", self.strains)
        for name in self._names:
            if name not in STRAIN_NAMES:
                hint = did_you_mean(str(name), STRAIN_NAMES)
                raise DescriptionError(f"StrainGauge.strains: there is no strain {name!r}{hint}.")
        super()._check()

    @property
    def _names(self) -> list[str]:
        return self.strains.replace(",", " ").split()

    @property
    def labels(self) -> tuple[str, ...]:
        """Strains with their arc lengths."""
        return tuple(f"{name}[{x:g}]" for x in np.asarray(self.X).tolist() for name in self._names)

    @property
    def units(self) -> tuple[str, ...]:
        """1/m for curvatures, none for the rest."""
        return tuple("1/m" if STRAIN_NAMES.index(name) < 3 else "" for _ in np.asarray(self.X) for name in self._names)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The root of the rod, to see that it belongs to the robot."""
        return (self.rod.root,)

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, m strains)."""
        found = at.strain(self.rod, np.asarray(self.X, dtype=np.float64))
        return found[:, :, [STRAIN_NAMES.index(name) for name in self._names]].reshape(len(found), -1)


@dataclass(eq=False)
class LineLength(Sensor):
    """Length [m] of a tendon, or of the centre line of a chamber, by the name of its input."""

    actuator: str

    def _check(self) -> None:
        if not isinstance(self.actuator, str):
            raise refuse(f"{type(self).__name__}.actuator", "the name of an actuator", self.actuator)
        super()._check()

    @property
    def labels(self) -> tuple[str, ...]:
        """One number."""
        return ("length",)

    @property
    def units(self) -> tuple[str, ...]:
        """Metres."""
        return ("m",)

    @property
    def lines(self) -> tuple[str, ...]:
        """The actuator."""
        return (self.actuator,)

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, 1)."""
        return at.line(self.actuator)[:, None]


@dataclass(eq=False)
class Effort(LineLength):
    """Tension [N] of a tendon, or pressure [Pa] of a chamber, by the name of its input."""

    @property
    def labels(self) -> tuple[str, ...]:
        """One number."""
        return ("effort",)

    @property
    def units(self) -> tuple[str, ...]:
        """Newtons or pascals, as the actuator has it."""
        return ("N or Pa",)

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, 1)."""
        return at.effort(self.actuator)[:, None]


@dataclass(eq=False)
class ContactForce(Sensor):
    """Force (3,) [N] of a contact in world axes: on the robot by an obstacle, or of part a on part b."""

    contact: Load

    def _check(self) -> None:
        if not isinstance(self.contact, Load) or not (self.contact.touches or self.contact.meets):
            raise refuse("ContactForce.contact", "a contact, as returned by robot.load", self.contact)
        super()._check()

    @property
    def labels(self) -> tuple[str, ...]:
        """Axes."""
        return ("fx", "fy", "fz")

    @property
    def units(self) -> tuple[str, ...]:
        """Newtons."""
        return ("N",) * 3

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Those of the contact."""
        return self.contact.frames

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, 3)."""
        return at.contact(self.contact)


@dataclass(eq=False)
class StateSensor(Sensor):
    """All coordinates and rates of the robot: what no instrument shows, for controllers that are given the state.

    Attributes:
        count: number of coordinates of the robot.

    """

    count: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Numbers of the coordinates."""
        return tuple(f"{letter}{k}" for letter in "qv" for k in range(self.count))

    @property
    def units(self) -> tuple[str, ...]:
        """Those of the coordinates."""
        return ("",) * (2 * self.count)

    def measure(self, at: Sensed) -> Array:
        """The true values (nt, 2 n)."""
        return np.hstack(at.state())


hang(__all__, globals())
