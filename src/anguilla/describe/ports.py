"""Inputs of a robot: named numbers that change while it moves, and stand wherever a function of time may stand.

A robot has one input for each of its actuators, and one for each port made by `robot.input`. A port is called like a
function of time. What it gives then is what the computation under way was told of it: `simulate(robot, inputs=...)`,
`Stepper.step(inputs)`. The description itself holds no value, so that a model can be shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import as_name
from anguilla.describe.differences import jets
from anguilla.describe.sampled import Sampled
from anguilla.describe.units import check_unit
from anguilla.errors import DescriptionError, all_finite, as_nonnegative, as_number, as_positive, as_vector, refuse

__all__ = ["Drive", "Port", "acting"]

Floats = NDArray[np.float64]
Given = float | Callable[[float], float]

_acting: ContextVar[tuple[str, Mapping[str, Any]] | None] = ContextVar("acting", default=None)


@contextmanager
def acting(robot: str, inputs: Mapping[str, Any]) -> Iterator[None]:
    """Within this block, ports give these inputs: numbers or functions of t [s]; absent ones are zero."""
    before = _acting.set((robot, inputs))
    try:
        yield
    finally:
        _acting.reset(before)


@dataclass(frozen=True)
class Drive:
    """How an input follows its command: what a motor, a valve or a winch does to it.

    A command goes through the parts in this order. It arrives after the delay; it is ignored while it differs by less than
    the dead zone from what was last followed; it is kept within its limits; it is followed no faster than the rate, and
    with the lag; and the play of a gear is taken off.

    Attributes:
        low, high: limits of the input, in its unit.
        rate: largest change per time, in its unit per second.
        delay: time until a command arrives [s].
        lag: time constant of a first-order lag [s].
        dead_zone: smallest change of a command that is followed, in its unit.
        backlash: play between the drive and the input, in its unit: the input moves after the drive has crossed it.

    """

    low: float = -np.inf
    high: float = np.inf
    rate: float = np.inf
    delay: float = 0.0
    lag: float = 0.0
    dead_zone: float = 0.0
    backlash: float = 0.0

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or np.isnan(value):
                raise refuse(f"Drive.{name}", "a number", value)
        if self.low > self.high:
            raise DescriptionError(f"Drive.low must not exceed Drive.high; got {self.low:g} and {self.high:g}.")
        if self.rate != np.inf:
            as_positive(self.rate, "Drive.rate")
        for name, unit in (("delay", "s"), ("lag", "s"), ("dead_zone", ""), ("backlash", "")):
            as_nonnegative(getattr(self, name), f"Drive.{name}", unit)

    @property
    def follows_at_once(self) -> bool:
        """Whether it does nothing but keep limits."""
        return self.rate == np.inf and not (self.delay or self.lag or self.dead_zone or self.backlash)


class Following:
    """Drives at work: what the inputs are while their commands change, step by step.

    Args:
        drives: one for each input (k,).
        start: (k,) inputs at the start, at which the drives stand still.
        dt: time between two commands [s].

    """

    def __init__(self, drives: list[Drive], start: ArrayLike, dt: float) -> None:
        def column(name: str) -> Floats:
            return np.array([getattr(drive, name) for drive in drives], dtype=np.float64)

        self._low, self._high, self._rate, self._lag = (column(name) for name in ("low", "high", "rate", "lag"))
        self._dead, self._play = column("dead_zone"), 0.5 * column("backlash")
        self._dt = dt
        self._delay = np.rint(column("delay") / dt).astype(np.int64)
        self._share = np.where(self._lag > 0.0, -np.expm1(-dt / np.maximum(self._lag, 1e-300)), 1.0)
        self._plain = all(drive.follows_at_once for drive in drives)
        self.reset(start)

    def reset(self, start: ArrayLike) -> None:
        """Stand still at the inputs (k,)."""
        self.value = np.clip(np.array(start, dtype=np.float64), self._low, self._high)
        self._drive, self._heard = self.value.copy(), self.value.copy()
        self._waiting = [self.value.copy()] * int(self._delay.max(initial=0))

    def follow(self, command: Floats) -> Floats:
        """The inputs (k,) during the next dt, under these commands (k,)."""
        if self._plain:
            self.value = np.minimum(np.maximum(command, self._low), self._high)
            return self.value
        self._waiting.append(np.array(command))
        last = len(self._waiting) - 1
        arrived = np.array([self._waiting[last - wait][k] for k, wait in enumerate(self._delay.tolist())])
        if last >= int(self._delay.max(initial=0)):
            self._waiting.pop(0)
        self._heard = np.where(np.abs(arrived - self._heard) > self._dead, arrived, self._heard)
        wanted = np.clip(self._heard, self._low, self._high)
        most = self._rate * self._dt
        self._drive = self._drive + np.clip(self._share * (wanted - self._drive), -most, most)
        self.value = np.clip(self.value, self._drive - self._play, self._drive + self._play)
        return self.value


def followed(drives: Mapping[str, Drive], inputs: Mapping[str, Any], dt: float, steps: int) -> dict[str, Any]:
    """Inputs by name that follow these commands, numbers or functions of t, in so many steps; they start standing still."""
    names = [name for name in drives if name in inputs]
    given = [inputs[name] for name in names]
    rows = np.array([[float(x(k * dt)) if callable(x) else float(x) for x in given] for k in range(steps + 1)])
    drive = Following([drives[name] for name in names], rows[0], dt)
    values = np.array([drive.value, *(drive.follow(row) for row in rows[1:])])
    return {**inputs, **{name: Sampled(values[:, k], dt) for k, name in enumerate(names) if drives[name] != Drive()}}


def within_limits(drives: Mapping[str, Drive], inputs: Mapping[str, float]) -> dict[str, float]:
    """What inputs are when these commands, numbers by name, have long been followed."""
    known = {name: drives.get(name, Drive()) for name in inputs}
    return {name: min(max(float(value), known[name].low), known[name].high) for name, value in inputs.items()}


class Port:
    """An input of a robot, made by `robot.input`. It is a function of the time t [s].

    Attributes:
        name: its name among the inputs.
        unit: its unit, in SI.
        drive: how it follows its command.

    """

    __slots__ = ("drive", "name", "unit")

    def __init__(self, name: str, unit: str = "", drive: Drive | None = None) -> None:
        self.name = as_name(name, "Robot.input name")
        if not isinstance(unit, str):
            raise refuse("Robot.input unit", "a text such as 'N m'", unit)
        check_unit(unit, f"the input {name!r}")
        if drive is not None and not isinstance(drive, Drive):
            raise refuse("Robot.input drive", "a Drive(...)", drive)
        self.unit, self.drive = unit, drive or Drive()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        return f"<input {self.name!r}{f' [{self.unit}]' if self.unit else ''}>"

    def __call__(self, t: float) -> float:
        """Its value at time t [s] in the computation under way."""
        value = self.given
        return as_number(value(t), f"inputs: {self.name!r} at t = {t:g} s") if callable(value) else value

    def jets(self, times: Floats) -> Floats:
        """Its values, rates and accelerations (nt, 3) at the times (nt,) [s], as prescribed motions need them."""
        value = self.given
        if not callable(value):
            return np.tile([value, 0.0, 0.0], (len(times), 1))
        known = getattr(value, "jets", None)
        return jets(lambda at: np.array([self(t) for t in at.tolist()]), times) if known is None else known(times)

    @property
    def given(self) -> Given:
        """What the computation under way was told of it: a number or a function of t; zero if nothing."""
        now = _acting.get()
        if now is None:
            raise DescriptionError(
                f"The input {self.name!r} has no value outside a computation: set it with inputs={{{self.name!r}: ...}}."
            )
        return now[1].get(self.name, 0.0)

    def along(self, direction: ArrayLike | Callable[[float], ArrayLike]) -> Along | Spread:
        """A vector of so many times this direction (3,), as a function of t: for forces, moments and fields.

        A direction that is a function of the arc length X [m] gives a function of (X, t): for loads along rods.
        """
        if callable(direction):
            return Spread(self, direction)
        way = as_vector(direction, 3, f"the direction of input {self.name!r}")
        return Along(self, (float(way[0]), float(way[1]), float(way[2])))


@dataclass(frozen=True)
class Along:
    """A vector along a direction, as long as an input says: a function of t."""

    port: Port
    direction: tuple[float, float, float]

    def __call__(self, t: float) -> Floats:
        """The vector (3,) at time t [s]."""
        return self.port(t) * np.array(self.direction)


@dataclass(frozen=True)
class Spread:
    """A vector that varies along a rod, as large as an input says: a function of X and t."""

    port: Port
    shape: Callable[[float], ArrayLike]

    def __call__(self, X: float, t: float) -> Floats:
        """The vector (3,) at the arc length X [m] and time t [s]."""
        return self.port(t) * as_vector(self.shape(X), 3, f"the direction of input {self.port.name!r} at X = {X:g} m")

    def field(self, X: Floats, times: Floats) -> Floats:
        """The vectors (nt, m, 3) at the arc lengths X (m,) [m] and times (nt,) [s]."""
        name = f"the direction of input {self.port.name!r}"
        shape = all_finite([self.shape(x) for x in X.tolist()], (len(X), 3))
        if shape is None:
            shape = np.array([as_vector(self.shape(x), 3, f"{name} at X = {x:g} m") for x in X.tolist()]).reshape(-1, 3)
        given = self.port.given
        values = all_finite(
            [given(t) for t in times.tolist()] if callable(given) else [given] * len(times), times.shape
        )
        if values is None:
            values = np.array([self.port(t) for t in times.tolist()])
        return values[:, None, None] * shape
