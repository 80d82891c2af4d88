"""Numbers of a description by their path: "arm.material.young", "t1.friction", "payload.force[2]", "gravity[2]"."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from anguilla._words import SURE, meant
from anguilla.describe.actuators import Actuator, Routing
from anguilla.describe.description import did_you_mean
from anguilla.describe.frames import BodyHandle, Part, RodHandle
from anguilla.describe.robot import Robot
from anguilla.describe.volumes import SoftPart
from anguilla.errors import DescriptionError, as_number, refuse

__all__ = ["changed", "number_at", "put_number", "steps_of"]

Steps = list[str | int]
DEEP = 2  # fields one inside the other that are looked through for a name
POLAR = (
    "offset",
    "angle",
)  # of the line of an actuator in the sections: distance from the axis [m], from y towards z [rad]


def steps_of(path: str) -> Steps:
    """Names and indices of a path: "payload.force[2]" is "payload", "force", 2."""
    if not isinstance(path, str) or not re.fullmatch(r"[^\W\d][\w-]*(\.[^\W\d]\w*|\[\d+\])*", path):
        raise refuse("a path", 'names and indices such as "arm.material.young" or "gravity[2]"', path)
    return [int(found[1:-1]) if found[0] == "[" else found for found in re.findall(r"[\w-]+|\[\d+\]", path)]


def number_at(robot: Robot, path: str) -> float:
    """The number of a robot's description at a path, SI; or an error that says what there is instead."""
    steps = steps_of(path)
    item, rest = _begin(robot, steps, path)
    for k, step in enumerate(rest):
        if _is_polar(item, rest[k:]):
            return _polar(_routings(item)[0])[POLAR.index(str(step))]
        item = _next(item, step, path)
    return as_number(item, f"path {path!r}: what it leads to")


def put_number(robot: Robot, path: str, value: float) -> None:
    """Set the number at a path, in place. What shares the object that holds it (a material of two rods) changes with it."""
    number_at(robot, path)
    steps = steps_of(path)
    if steps[0] == "gravity":
        robot.gravity = _with(robot.gravity, steps[1:], value, path)
        return
    item, rest = _begin(robot, steps, path)
    if rest[0] == "pose" or rest[0] == "joint":  # of the handle itself
        new = _with(getattr(item, str(rest[0])), rest[1:], value, path)
        if isinstance(new, np.ndarray):
            new.setflags(write=False)
        setattr(item, str(rest[0]), new)
        return
    _with(_described(item), rest, value, path)


def changed(robot: Robot, values: Mapping[str, float]) -> Robot:
    """A copy of a robot with other numbers at some paths."""
    twin = copy.deepcopy(robot)
    for path, value in values.items():
        put_number(twin, path, float(value))
    return twin


def _begin(robot: Robot, steps: Steps, path: str) -> tuple[Any, Steps]:
    """What the first name of a path means, and the rest of the path."""
    name = str(steps[0])
    if name == "gravity":
        return robot, steps
    loads = {load.name: load for load in robot.loads if load.name}
    known: dict[str, Any] = {part.name: part for part in robot.parts} | robot.actuators | loads
    known |= {volume.name: volume.volume for volume in robot.volumes}
    if name not in known:
        there = ", ".join([*known, "gravity"])
        hint = did_you_mean(name, [*known, "gravity"]) or _deeper(known, name, path[len(name) :])
        raise DescriptionError(f"path {path!r}: robot {robot.name!r} has {there}{hint}.")
    if len(steps) < 2:
        names = ", ".join(_names(_described(known[name])))
        raise DescriptionError(f"path {path!r} ends too early: {name} has {names}.")
    return known[name], steps[1:]


def _described(item: Any) -> Any:
    """What a handle stands for."""
    if isinstance(item, RodHandle):
        return item.rod
    return item.body if isinstance(item, BodyHandle) else item


def _names(item: Any) -> list[str]:
    if isinstance(item, SoftPart):
        return ["material"]
    return [field.name for field in dataclasses.fields(item)] if dataclasses.is_dataclass(item) else []


def _deeper(items: Mapping[str, Any], name: str, rest: str) -> str:
    """A question for what lies a field or two further inside, " (did you mean 'arm.material.young'?)"; or nothing."""
    for _ in range(DEEP):
        inside = {f"{at}.{field}": getattr(_described(item), field)
                  for at, item in items.items() for field in _names(_described(item))}  # fmt: skip
        own = {at.rpartition(".")[2]: at for at in reversed(inside)}
        found = meant(name, own, near=SURE)
        if found is not None:
            return f" (did you mean {own[found] + rest!r}?)"
        items = inside
    return ""


def _next(item: Any, step: str | int, path: str) -> Any:
    """The field or item that one step leads to."""
    if isinstance(step, int):
        try:
            return np.asarray(item)[step] if not isinstance(item, (list, tuple)) else item[step]
        except IndexError:
            raise DescriptionError(f"path {path!r}: there is no item [{step}] in {item!r}.") from None
    if isinstance(item, Part) and step in ("pose", "joint"):
        return getattr(item, step)
    item = _described(item)
    if isinstance(item, Robot) and step == "gravity":
        if callable(item.gravity):
            raise DescriptionError(f"path {path!r}: gravity is a function of time.")
        return item.gravity
    names = _names(item)
    if step not in names:
        kind = type(item).__name__
        head, _, rest = path.partition(f".{step}")
        inside = {f"{head}.{name}": getattr(item, name) for name in names}
        hint = _deeper(inside, step, rest) or did_you_mean(step, names)
        there = f"its fields are {', '.join(names)}{hint}" if names else "a number has no fields"
        raise DescriptionError(f"path {path!r}: {kind} has no {step!r}; {there}.")
    found = getattr(item, step)
    if step == "poisson" and found is None and getattr(item, "shear", None) is None:
        return item.young / (2.0 * item.shear_modulus) - 1.0
    return found


def _with(item: Any, steps: Steps, value: float, path: str) -> Any:
    """An item with another number at the end of the steps: itself if it can be changed in place, else a new one."""
    if not steps:
        return value
    step = steps[0]
    if _is_polar(item, steps):
        distance, angle = _polar(_routings(item)[0])
        if step == "offset" and distance == 0.0:
            raise DescriptionError(
                f"path {path!r}: the line is on the axis, so it has no direction: give .routing.y[0] or .routing.z[0]."
            )
        factor, turn = (value / distance, 0.0) if step == "offset" else (1.0, value - angle)
        new = [_moved(routing, factor, turn) for routing in _routings(item)]
        item.routing = new if isinstance(item.routing, (list, tuple)) else new[0]
        return item
    inner = _with(_next(item, step, path), steps[1:], value, path)
    if isinstance(step, int):
        items = np.array(item, dtype=float) if not isinstance(item, (list, tuple)) else list(item)
        items[step] = inner
        return tuple(items) if isinstance(item, tuple) else items
    if _is_frozen(item):
        return dataclasses.replace(item, **{step: inner})
    setattr(item, step, inner)
    return item


def _is_frozen(item: Any) -> bool:
    return bool(getattr(getattr(type(item), "__dataclass_params__", None), "frozen", False))


def _is_polar(item: Any, steps: Steps) -> bool:
    return isinstance(item, Actuator) and len(steps) == 1 and steps[0] in POLAR


def _routings(actuator: Actuator) -> list[Routing]:
    return list(actuator.routing) if isinstance(actuator.routing, Iterable) else [actuator.routing]


def _polar(routing: Routing) -> tuple[float, float]:
    """Distance from the axis [m] and angle from y towards z [rad] of a line, at X = 0."""
    _, y, z = routing.offset([0.0])[0]
    return float(np.hypot(y, z)), float(np.arctan2(z, y))


def _moved(routing: Routing, factor: float, turn: float) -> Routing:
    """A line at `factor` times its distance from the axis, turned about it [rad]."""
    if type(routing) is not Routing:
        raise DescriptionError("offset and angle of a line given by a function cannot be set: define the tendon again.")
    size = max(len(routing.y), len(routing.z))
    y, z = (np.pad(np.array(given), (0, size - len(given))) for given in (routing.y, routing.z))
    c, s = factor * np.cos(turn), factor * np.sin(turn)
    return dataclasses.replace(
        routing, y=tuple((c * y - s * z).tolist()), z=tuple((s * y + c * z).tolist()),
        radius=factor * routing.radius, phase=routing.phase + turn,
    )  # fmt: skip
