"""What the sensors of a soft body show: the sensors of robots, on its effectors and actuators, and its strings."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anguilla.describe.description import did_you_mean
from anguilla.describe.load import FrameMotion
from anguilla.describe.sensors import Effort, LineLength, Pose, Position, Sensor, Velocity
from anguilla.errors import DescriptionError, refuse
from anguilla.fem.body import SoftBody
from anguilla.fem.mesh import Floats
from anguilla.fem.parts import Tendon
from anguilla.fem.system import SoftState, SoftSystem

__all__ = ["SoftReader", "SoftSeen", "check_sensor"]

KINDS = (Position, Pose, Velocity, LineLength, Effort)
WANTED = (
    "a fem.String, or Position, Pose, Velocity of an effector, LineLength, Effort of an actuator (anguilla.sensors)"
)


def check_sensor(body: SoftBody, name: str, sensor: object) -> Sensor:
    """Refuse a sensor that a soft body cannot have."""
    if not isinstance(sensor, KINDS):
        raise refuse(f"sense {name!r}", WANTED, sensor)
    for what, wanted, known in (
        ("effector", sensor.frames, body.effectors),
        ("actuator", sensor.lines, body.actuators),
    ):
        for one in wanted:
            if not isinstance(one, str) or one not in known:
                hint = did_you_mean(one, list(known)) if isinstance(one, str) else ""
                told = ", ".join(known) or "none"
                raise DescriptionError(f"sense {name!r}: there is no {what} {one!r}{hint}; there are: {told}.")
    if isinstance(sensor, Pose) and not body.effectors[str(sensor.frame)].orientation:
        raise DescriptionError(
            f"sense {name!r}: effector {sensor.frame!r} has no orientation: add it with orientation=True."
        )
    if type(sensor) is LineLength and not isinstance(body.actuators[sensor.actuator], Tendon):
        raise DescriptionError(
            f"sense {name!r}: {sensor.actuator!r} is no tendon and has no length; Effort reads pressures."
        )
    return sensor


@dataclass
class SoftSeen:
    """States of a soft body as its sensors see them (`Sensed`).

    Attributes:
        system: the body.
        x: (nt, n, 3) [m].
        v: (nt, n, 3) [m/s].
        efforts: (nt, actuators) [N, Pa].

    """

    system: SoftSystem
    x: Floats
    v: Floats
    efforts: Floats
    _known: dict[str, FrameMotion] = field(default_factory=dict, repr=False)

    def motion(self, frame: str) -> FrameMotion:
        """Motion (nt, 1) of an effector by its name: its place, velocity and turn."""
        if frame not in self._known:
            frames, zero = self.system.frames, np.zeros((len(self.x), 1, 3))
            k = frames.names.index(frame)
            place, rate = (np.array([frames.position(one, k) for one in some])[:, None] for some in (self.x, self.v))
            turn = np.array([frames.rotation(one, k) for one in self.x])[:, None]
            self._known[frame] = FrameMotion(turn, place, zero, rate, zero, zero)
        return self._known[frame]

    def line(self, name: str) -> Floats:
        """Length (nt,) [m] of a string or a tendon."""
        k = line_of(self.system, name)
        return np.array([self.system.cable_lengths(one)[k] for one in self.x])

    def effort(self, actuator: str) -> Floats:
        """Tension or pressure (nt,) [N, Pa] of an actuator."""
        return self.efforts[:, self.system.names.index(actuator)]


def line_of(system: SoftSystem, name: str) -> int:
    """Number of a tendon or a string among all lines."""
    tendons = [key for key, part in system.body.actuators.items() if isinstance(part, Tendon)]
    return len(tendons) + system.sensors.index(name) if name in system.sensors else tendons.index(name)


class SoftReader:
    """Reads the sensors of a soft body: its strings, then the others, in the order they were added.

    Attributes:
        sensors: by name.
        labels: names of all numbers, such as "tip.x".
        units: their units.
        slices: which numbers each sensor shows, by its name.

    """

    def __init__(self, system: SoftSystem) -> None:
        self.system, body = system, system.body
        self.sensors: dict[str, Sensor] = {name: LineLength(name) for name in body.sensors} | body.instruments
        self.labels: list[str] = []
        self.units: list[str] = []
        self.slices: dict[str, slice] = {}
        for name, sensor in self.sensors.items():
            first = len(self.labels)
            self.labels += [f"{name}.{label}" if label else name for label in sensor.labels]
            self.units += [body.units[sensor.lines[0]]] if isinstance(sensor, Effort) else sensor.units
            self.slices[name] = slice(first, len(self.labels))

    def at(self, name: str) -> slice:
        """Which of the numbers a sensor shows."""
        if name not in self.slices:
            raise DescriptionError(f"there is no sensor {name!r}; there are: {', '.join(self.slices) or 'none'}.")
        return self.slices[name]

    def true(self, seen: SoftSeen) -> Floats:
        """True values (nt, size) of all sensors."""
        out = np.empty((len(seen.x), len(self.labels)))
        for name, sensor in self.sensors.items():
            out[:, self.slices[name]] = sensor.measure(seen)  # type: ignore[arg-type]
        return out

    def rows(self, state: SoftState) -> tuple[Floats, Floats]:
        """Derivatives of all numbers by the places and by the velocities of the nodes: (size, n, 3) each."""
        shape = len(self.labels), *state.x.shape
        place, rate, system = np.zeros(shape), np.zeros(shape), self.system
        frames, begin = system.frames.gradient(state.x), np.cumsum([0, *system.frames.rows])
        strings, tendons = system.sensor_rows(state), -system.actuator_rows(state)
        for name, sensor in self.sensors.items():
            at = self.slices[name]
            if isinstance(sensor, (Pose, Effort)):
                raise DescriptionError(
                    f"a linear model does not support {name!r}: use sensors of places, rates, lengths."
                )
            if isinstance(sensor, LineLength):
                lines = (system.sensors, strings) if name in system.sensors else (system.names, tendons)
                place[at] = lines[1][lines[0].index(sensor.actuator)]
            else:
                first = int(begin[system.frames.names.index(str(sensor.frames[0]))])
                (rate if isinstance(sensor, Velocity) else place)[at] = frames[first : first + 3]
        return place, rate
