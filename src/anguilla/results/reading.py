"""What the sensors of a robot show: true values in many states at once, and what the instruments make of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.describe import Frame, FrameMotion, Load, Part, RodHandle
from anguilla.describe.sensors import Sensor
from anguilla.errors import DescriptionError
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.results.acting import OfActions
from anguilla.results.fields import strain_field
from anguilla.results.kinematics import as_motion, motion_of
from anguilla.results.lines import LineLengths, line_lengths

__all__ = ["Instruments", "OfSensors", "Reader", "Seen"]


@dataclass
class Seen:
    """States of a robot as its sensors see them (`Sensed`): everything is found when it is first asked for.

    Attributes:
        reader: who reads.
        t: (nt,) [s].
        q, v, a: (nt, n).
        efforts: function that finds tensions and pressures (nt, actuators) [N, Pa].
        contacts: function of a contact that finds its force (nt, 3) [N].

    """

    reader: Reader
    t: Floats
    q: Floats
    v: Floats
    a: Floats
    efforts: Callable[[], Floats]
    contacts: Callable[[Load], Floats]
    gravities: Callable[[], Floats] = field(default=lambda: np.zeros((1, 3)))
    _each: dict[int, FrameMotion] = field(default_factory=dict, repr=False)  # of frames, by their number

    @cached_property
    def _motions(self) -> FrameMotion:
        reader = self.reader
        return as_motion(motion_of(reader.model, reader.frames, self.q, self.v, self.a))

    def motion(self, frame: Frame) -> FrameMotion:
        """Motion (nt, 1) of a frame, world axes."""
        k, whole = self.reader.number(frame), self._motions
        if len(self.reader.frames) == 1:
            return whole
        if k not in self._each:
            each = whole.rotation, whole.position, whole.spin, whole.velocity, whole.spin_rate, whole.acceleration
            self._each[k] = FrameMotion(*(array[:, k : k + 1] for array in each))
        return self._each[k]

    def gravity(self) -> Floats:
        """Gravity (nt, 3) [m/s^2], world axes."""
        return self.gravities()

    def coordinates(self, part: Part) -> tuple[Floats, Floats]:
        """Coordinates of the joint of a part and their rates (nt, size)."""
        joint = self.reader.model.layout.parts[part.index].joint
        return self.q[:, joint], self.v[:, joint]

    def state(self) -> tuple[Floats, Floats]:
        """All coordinates and rates (nt, n)."""
        return self.q, self.v

    def strain(self, rod: RodHandle, X: Floats) -> Floats:
        """Strains (nt, m, 6) [1/m, -] of a rod at arc lengths X (m,) [m]."""
        rest, by_q = self.reader.strains(rod, X)
        return rest + (self.q @ by_q).reshape(len(self.q), len(X), 6)

    @cached_property
    def _lengths(self) -> Floats:
        if len(self.q) == 1:
            return self.reader.model.once(LineLengths).lengths(self.q[0])[None]
        return line_lengths(self.reader.model, list(self.reader.model.robot.actuators), self.q)

    def line(self, actuator: str) -> Floats:
        """Length (nt,) [m] of the line of an actuator."""
        return self._lengths[:, self.reader.lines[actuator]]

    @cached_property
    def _efforts(self) -> Floats:
        return self.efforts()

    def effort(self, actuator: str) -> Floats:
        """Tension or pressure (nt,) [N, Pa] of an actuator."""
        return self._efforts[:, self.reader.lines[actuator]]

    def contact(self, load: Load) -> Floats:
        """Force (nt, 3) [N] of a contact, world axes."""
        return self.contacts(load)


def _key(frame: Frame) -> tuple:
    offset = None if frame.offset is None else np.asarray(frame.offset_pose).tobytes()
    return frame.part_index, frame.X, offset


class Reader:
    """Reads the sensors of a model.

    Args:
        model: the model.

    Attributes:
        labels: names of all numbers, such as "tip.x".
        units: their units.
        slices: which numbers each sensor shows, by its name.

    """

    def __init__(self, model: Model) -> None:
        robot = model.robot
        self.model, self.sensors = model, robot.sensors
        self.lines = {name: k for k, name in enumerate(robot.actuators)}
        self.labels: list[str] = []
        self.units: list[str] = []
        self.slices: dict[str, slice] = {}
        self.place: dict[tuple, int] = {}
        self.frames: list[Frame] = []
        self._strains: dict[tuple[int, bytes], tuple[Floats, Floats]] = {}
        self._known: dict[int, int] = {}  # numbers of the frames of the sensors, which live as long as these
        self._measures: list[tuple[slice, Callable[[Any], Floats]]] = []
        for name, sensor in self.sensors.items():
            for line in sensor.lines:
                if line not in self.lines:
                    known = ", ".join(self.lines) or "none"
                    raise DescriptionError(f"sensor {name!r}: there is no actuator {line!r}; there are: {known}.")
            for frame in sensor.frames:
                if _key(frame) not in self.place:
                    self.place[_key(frame)] = len(self.frames)
                    self.frames.append(frame)
                self._known[id(frame)] = self.place[_key(frame)]
            first = len(self.labels)
            self.labels += [f"{name}.{label}" if label else name for label in sensor.labels]
            units = sensor.units
            if sensor.lines and units == ("N or Pa",):
                units = (robot.actuators[sensor.lines[0]].unit,)
            self.units += units
            self.slices[name] = slice(first, len(self.labels))
            measure = inspect.unwrap(type(sensor).measure)  # no door: that takes longer than some sensors do
            self._measures.append((self.slices[name], partial(measure, sensor)))

    def number(self, frame: Frame) -> int:
        """Which of the frames of the sensors it is."""
        found = self._known.get(id(frame))
        return self.place[_key(frame)] if found is None else found

    def strains(self, rod: RodHandle, X: Floats) -> tuple[Floats, Floats]:
        """Strains (m, 6) of a rod at zero coordinates, and their derivative (n, 6 m); found once."""
        key = rod.index, X.tobytes()
        if key not in self._strains:
            n = self.model.size
            found = strain_field(self.model, rod, X, np.vstack([np.zeros((1, n)), np.eye(n)]))
            self._strains[key] = found[0], np.ascontiguousarray((found[1:] - found[0]).reshape(n, -1))
        return self._strains[key]

    @property
    def size(self) -> int:
        """How many numbers all sensors show."""
        return len(self.labels)

    def at(self, name: str) -> slice:
        """Which of the numbers a sensor shows."""
        if name not in self.slices:
            raise DescriptionError(f"there is no sensor {name!r}; there are: {', '.join(self.slices) or 'none'}.")
        return self.slices[name]

    def true(self, seen: Seen) -> Floats:
        """True values (nt, size) of all sensors."""
        out = np.empty((len(seen.q), self.size))
        for at, measure in self._measures:
            out[:, at] = measure(seen)
        return out


class OfSensors(OfActions):
    """What sensors show."""

    @cached_property
    def _readings(self) -> Floats:
        reader = self.system.once(Reader)
        return reader.true(self._seen(reader))

    def _seen(self, reader: Reader) -> Seen:
        """The states as sensors see them."""

        def gravity() -> Floats:
            with self.acting():
                return self.system.robot.gravity_values(self._t)

        def contact(load: Load) -> Floats:
            force: Floats = self.contact_force(load)
            return force.reshape(len(self._t), 3)

        def effort() -> Floats:
            return self._found[0]

        return Seen(reader, self._t, self._q, self._v, self._accelerations, effort, contact, gravity)

    def contact_force(self, load: Load) -> Floats:
        """Force (time, 3) [N] of a contact, world axes: on the robot by an obstacle, or of part a on part b."""
        numbers = self._numbers(load)
        between = bool(numbers) and numbers[0] in self.system.tables.touch_loads
        return np.asarray(self.contacts(load).force if between else self.exerted(load).force)

    @property
    def readings(self) -> Floats:
        """What all sensors would show without noise, delay and steps of resolution: (time, numbers).

        `reading_labels` and `reading_units` say what the numbers are.
        """
        return self._pick(self._readings)

    @property
    def reading_labels(self) -> list[str]:
        """Names of the numbers of `readings`, such as "tip.x"."""
        return list(self.system.once(Reader).labels)

    @property
    def reading_units(self) -> list[str]:
        """Units of the numbers of `readings`."""
        return list(self.system.once(Reader).units)

    def reading(self, sensor: str) -> Floats:
        """What one sensor would show without noise, delay and steps of resolution: (time, size)."""
        return self._pick(self._readings[:, self.system.once(Reader).at(sensor)])


class Instruments:
    """What the electronics of sensors make of true values, step by step, for one robot or many copies of it.

    Args:
        sensors: the sensors by name.
        dt: time between two readings [s].
        copies: number of robots.
        seed: of the noise.

    """

    def __init__(self, sensors: Mapping[str, Sensor], dt: float, copies: int = 1, seed: int | None = 0) -> None:
        each = [sensor for sensor in sensors.values() for _ in range(sensor.size)]
        self._noise = np.array([sensor.noise for sensor in each])
        self._step = np.array([sensor.resolution for sensor in each])
        self._wait = np.array([round(sensor.delay / dt) for sensor in each], dtype=np.int64)
        period = [1 if sensor.rate is None else max(1, round(1.0 / (sensor.rate * dt))) for sensor in each]
        self._period = np.array(period, dtype=np.int64)
        self._plain = not (np.any(self._noise) or np.any(self._step) or np.any(self._wait) or np.any(self._period > 1))
        self._copies, self._random = copies, np.random.default_rng(seed)
        self.reset()

    def reset(self, which: NDArray[np.bool_] | None = None) -> None:
        """Forget what was read: of all copies, or of some."""
        if which is None:
            self._count = np.zeros(self._copies, dtype=np.int64)
            self._past = np.zeros((int(self._wait.max(initial=0)) + 1, self._copies, len(self._wait)))
            self._shown = np.zeros((self._copies, len(self._wait)))
        else:
            self._count[which] = 0

    def show(self, true: Floats) -> Floats:
        """What they show (copies, size) when these are the true values (copies, size), one dt after the last time."""
        if self._plain:
            return true
        new = self._count == 0
        self._past = np.roll(self._past, 1, axis=0)
        self._past[0] = true
        if np.any(new):
            self._past[:, new] = true[new]
        old = self._past[self._wait, :, np.arange(len(self._wait))].T
        read = old + self._noise * self._random.standard_normal(old.shape) if np.any(self._noise) else old
        with np.errstate(divide="ignore", invalid="ignore"):
            read = np.where(self._step > 0.0, self._step * np.round(read / self._step), read)
        due = (self._count[:, None] % self._period) == 0
        self._shown = np.where(due, read, self._shown)
        self._count += 1
        return self._shown.copy()
