"""What is to be found: numbers of the description by their path, and gains, offsets and lags of inputs."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import numpy as np

from anguilla.describe import Robot
from anguilla.describe.paths import number_at, put_number
from anguilla.errors import AnguillaError, DescriptionError, as_number, as_positive, refuse
from anguilla.mechanics.tree import Floats

__all__ = ["Sought", "Unknown", "as_free", "made_robot"]

OF_INPUTS = {"gain": 1.0, "offset": 0.0, "lag": 0.0, "backlash": 0.0}
Source = Any  # a Robot or a SoftBody, or a function that returns one


@dataclass(frozen=True)
class Unknown:
    """A number to be found.

    Attributes:
        path: where it stands: "arm.material.young", "t1.offset", "gravity[2]", ...; or of inputs: "inputs.t1.gain",
            "inputs.gain" (of all), ".offset" (a pretension, in the unit of the input), ".lag" [s], ".backlash" (a play, in
            its unit: at every turn the measured input moves so far before it acts; rows in order of time); or the
            name of an argument of the function that makes the robot. Several paths share one value.
        start: where the search begins; what the description says if not given.
        bounds: (lowest, highest); either may be None.
        prior: (value, standard deviation) that was known before.
        only: names or groups of the experiments that it belongs to; all if not given.
        name: what to call it; its path if not given.

    """

    path: str | Sequence[str]
    start: float | None = None
    bounds: tuple[float | None, float | None] = (None, None)
    prior: tuple[float, float] | None = None
    only: Sequence[str] | None = None
    name: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """All its paths."""
        return (self.path,) if isinstance(self.path, str) else tuple(self.path)


@dataclass(frozen=True)
class Sought:
    """A number to be found, as the search sees it.

    Attributes:
        free: what was asked for.
        name: its name.
        value: where the search begins.
        low, high: bounds.
        log: whether its logarithm is searched: it cannot be negative.

    """

    free: Unknown
    name: str
    value: float
    low: float
    high: float
    log: bool

    @property
    def of_inputs(self) -> bool:
        """Whether it changes the inputs, not the robot."""
        return self.free.paths[0].startswith("inputs.")

    @property
    def size(self) -> float:
        """How large it is by itself: what an uncertainty of 100 % means; 0 if nobody knows."""
        if self.value or self.free.prior is not None:
            return max(abs(self.value), 0.0 if self.free.prior is None else self.free.prior[1])
        return self.high - self.low if np.isfinite(self.high - self.low) else 0.0

    def to_search(self, value: float) -> float:
        """The number that is searched."""
        return float(np.log(value / self.value)) if self.log else (value - self.value) / (self.size or 1.0)

    def from_search(self, x: float) -> float:
        """The value."""
        with np.errstate(over="ignore"):  # a step that far is taken back
            return float(self.value * np.exp(x)) if self.log else self.value + x * (self.size or 1.0)

    def slope(self, value: float) -> float:
        """Derivative of the value by the number that is searched."""
        return value if self.log else self.size or 1.0

    def concerns(self, name: str, group: str) -> bool:
        """Whether it belongs to an experiment."""
        return self.free.only is None or name in self.free.only or group in self.free.only


def as_free(source: Source, free: Sequence[str | Unknown] | Mapping[str, float]) -> list[Sought]:
    """The parameters of a search, checked."""
    if isinstance(free, Mapping):
        free = [Unknown(path, start=value) for path, value in free.items()]
    if isinstance(free, str) or not free:
        raise refuse("free", 'paths of what is to be found, such as ["arm.material.young"]', free)
    found = [_parameter(source, item if isinstance(item, Unknown) else Unknown(item)) for item in free]
    names = [parameter.name for parameter in found]
    for name in names:
        if names.count(name) > 1:
            raise DescriptionError(f"free: {name!r} appears twice; tell them apart with Unknown(..., name=...).")
    return found


def _parameter(source: Source, free: Unknown) -> Sought:
    name, path = free.name or free.paths[0], free.paths[0]
    _check_pair(free.bounds, f"free: bounds of {name!r}", "(lowest, highest), None where there is none")
    if free.prior is not None:
        _check_pair(free.prior, f"free: prior of {name!r}", "(value, standard deviation)")
    inputs = [p.startswith("inputs.") for p in free.paths]
    if any(inputs) and not all(inputs):
        raise DescriptionError(f"free: {name!r} mixes paths of inputs with others.")
    value = free.start
    if all(inputs):
        kind = path.rsplit(".", 1)[-1]
        if kind not in OF_INPUTS:
            raise refuse(
                f"free: {path!r}", "a gain, an offset, a lag or a backlash of inputs, such as 'inputs.t1.gain'", path
            )
        value = OF_INPUTS[kind] if value is None else value
        if kind in ("gain", "backlash") and free.bounds[0] is None:
            free = replace(free, bounds=(0.0, free.bounds[1]))
    elif is_described(source):
        for each in free.paths:
            there = number_at(source, each) if isinstance(source, Robot) else _volumes().body_number(source, each)
            value = there if value is None else value
    elif value is None:
        raise DescriptionError(f"free: {name!r} needs a value to begin with: the robot is made by a function.")
    value = as_number(value, f"free: the start of {name!r}")
    low, high = (far if bound is None else as_number(bound, f"free: a bound of {name!r}")
                 for bound, far in zip(free.bounds, (-np.inf, np.inf), strict=True))  # fmt: skip
    if not low < high:
        raise refuse(f"free: bounds of {name!r}", "(lowest, highest) with lowest < highest", free.bounds)
    refused = is_described(source) and not any(inputs) and _refuses(source, free, -abs(value) or -1e-6)
    if refused:
        low = max(low, 0.0)
    if not low <= value <= high:
        raise DescriptionError(f"free: {name!r} must begin within its bounds ({low:g}, {high:g}); got {value:g}.")
    if free.prior is not None:
        as_number(free.prior[0], f"free: prior of {name!r}")
        as_positive(free.prior[1], f"free: deviation of the prior of {name!r}")
    return Sought(replace(free, name=name), name, value, low, high, value > 0.0 and low >= 0.0)


def _check_pair(value: object, name: str, wanted: str) -> None:
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
        raise refuse(name, f"a pair {wanted}", value)


def is_described(source: Source) -> bool:
    """Whether it is a robot or a soft body itself, not a function that makes one."""
    return isinstance(source, Robot) or (not isinstance(source, FunctionType) and is_volume(source))


def is_volume(source: object) -> bool:
    """Whether it is a soft body; what it takes to know one is imported only if it may be."""
    return type(source).__module__.startswith("anguilla.fem") and isinstance(source, _volumes().SoftBody)


def _volumes() -> Any:
    from anguilla.identification import volumes

    return volumes


def _refuses(robot: Source, free: Unknown, value: float) -> bool:
    """Whether a description refuses a value."""
    try:
        if isinstance(robot, Robot):
            put_number(copy.deepcopy(robot), free.paths[0], value)
        else:
            _volumes().made_body(robot, {free.paths[0]: value}, {})
    except AnguillaError:
        return True
    return False


def made_robot(source: Source, parameters: Sequence[Sought], values: Floats, given: Mapping[str, Any]) -> Any:
    """The robot or body with values of its parameters, and with what is given of an experiment."""
    asked = {path: float(value) for parameter, value in zip(parameters, values, strict=True)
             for path in parameter.free.paths if not parameter.of_inputs}  # fmt: skip
    if is_volume(source):
        return _volumes().made_body(source, asked, given)
    if isinstance(source, Robot):
        robot = copy.deepcopy(source)
    else:
        arguments = {path: value for path, value in asked.items() if path.isidentifier()}
        asked = {path: value for path, value in asked.items() if path not in arguments}
        robot = source(**arguments, **{name: x for name, x in given.items() if name.isidentifier()})
        given = {name: x for name, x in given.items() if not name.isidentifier()}
        if is_volume(robot):
            return _volumes().made_body(robot, asked, given)
    for path, value in {**asked, **given}.items():
        put_number(robot, path, float(value))
    return robot
