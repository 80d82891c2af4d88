"""What differs between two descriptions of robots that were made in the same way."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from anguilla.describe.frames import Frame, Part, RodHandle
from anguilla.describe.paths import POLAR, steps_of
from anguilla.describe.robot import Robot

__all__ = ["Differences", "at_path", "differences"]

ROD_FIELDS = ("material", "section", "stiffness", "length")
PLAIN = (int, float, str, bool, type(None))
ROBOT = ("gravity", "loads", "closures", "constraints")


class Differences(NamedTuple):
    """In what two robots differ, if it is numbers of rods and lines of actuators alone.

    Attributes:
        rods: by the number of a rod, those of `ROD_FIELDS` that are others.
        lines: names of actuators with another routing.

    """

    rods: dict[int, set[str]]
    lines: list[str]


def differences(a: Robot, b: Robot) -> Differences | None:
    """What differs between rods and routings of two robots; None if anything else does, or may."""
    if len(a.parts) != len(b.parts) or list(a.actuators) != list(b.actuators):
        return None
    if not all(_same(getattr(a, name), getattr(b, name)) for name in ROBOT):
        return None
    found = Differences({}, [])
    for one, two in zip(a.parts, b.parts, strict=True):
        if type(one) is not type(two) or not _same_fields(vars(one), vars(two), ("rod",)):
            return None
        if isinstance(one, RodHandle) and isinstance(two, RodHandle):
            if not _same_fields(vars(one.rod), vars(two.rod), ROD_FIELDS):
                return None
            other = {name for name in ROD_FIELDS if not _same(getattr(one.rod, name), getattr(two.rod, name))}
            if other:
                found.rods[one.index] = other
    for name, line in a.actuators.items():
        there = b.actuators[name]
        if type(line) is not type(there) or not _same_fields(vars(line), vars(there), ("routing",)):
            return None
        if not _same(line.routing, there.routing):
            found.lines.append(name)
    return found


def at_path(robot: Robot, path: str) -> Differences | None:
    """In what a robot differs from one with another number at a path; None if that cannot be told from the path."""
    name, *steps = steps_of(path)
    if name in robot.actuators:
        return Differences({}, [str(name)]) if steps[0] in ("routing", *POLAR) else None
    part = next((part for part in robot.parts if part.name == name), None)
    if not isinstance(part, RodHandle) or steps[0] not in ROD_FIELDS or len(steps) > 2 or robot.loads:
        return None  # deeper objects may be shared by others, loads may hold materials and sections
    field = str(steps[0])
    rods = [other for other in robot.parts if isinstance(other, RodHandle)]
    if len(steps) == 1 or isinstance(getattr(part.rod, field), tuple):
        return Differences({other.index: {field} for other in rods if other.rod is part.rod}, [])
    held = getattr(part.rod, field)
    return Differences({other.index: {field} for other in rods if getattr(other.rod, field) is held}, [])


def _same_fields(a: dict[str, Any], b: dict[str, Any], but: tuple[str, ...] = ()) -> bool:
    return a.keys() == b.keys() and all(_same(value, b[name]) for name, value in a.items() if name not in but)


def _same(a: Any, b: Any) -> bool:
    """Whether two objects describe the same, each in its own robot."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, PLAIN):
        return bool(a == b)
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return _same_fields(a, b)
    if isinstance(a, Robot):
        return True  # the two that are compared
    if isinstance(a, Frame):
        return (a.part_index, a.place, a.offset) == (b.part_index, b.place, b.offset)
    if isinstance(a, Part):
        return bool(a.index == b.index)
    if isinstance(a, FunctionType):
        cells = [[cell.cell_contents for cell in f.__closure__ or ()] for f in (a, b)]
        return a.__code__ is b.__code__ and _same(cells[0], cells[1]) and _same(a.__defaults__, b.__defaults__)
    if is_dataclass(a):  # with slots or without
        return all(_same(getattr(a, each.name), getattr(b, each.name)) for each in fields(a)) and _same_fields(
            getattr(a, "__dict__", {}), getattr(b, "__dict__", {})
        )
    return hasattr(a, "__dict__") and not hasattr(type(a), "__slots__") and _same_fields(vars(a), vars(b))
