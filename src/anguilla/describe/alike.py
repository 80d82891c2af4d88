"""What differs between two descriptions of robots that were made in the same way."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any

import numpy as np

from anguilla.describe.frames import Frame, Part, RodHandle
from anguilla.describe.robot import Robot

__all__ = ["ROD_FIELDS", "other_rods"]

ROD_FIELDS = ("material", "section")
PLAIN = (int, float, str, bool, type(None))
ROBOT = ("gravity", "loads", "actuators", "closures", "constraints")


def other_rods(a: Robot, b: Robot) -> list[tuple[int, str]] | None:
    """Parts and fields, (number, "material" or "section"), of rods that differ; None if anything else does, or may."""
    if len(a.parts) != len(b.parts) or not all(_same(getattr(a, name), getattr(b, name)) for name in ROBOT):
        return None
    found: list[tuple[int, str]] = []
    for one, two in zip(a.parts, b.parts, strict=True):
        if type(one) is not type(two) or not isinstance(one, RodHandle):
            if type(one) is not type(two) or not _same_fields(vars(one), vars(two)):
                return None
            continue
        assert isinstance(two, RodHandle)
        if not _same_fields(vars(one), vars(two), ("rod",)) or not _same_fields(
            vars(one.rod), vars(two.rod), ROD_FIELDS
        ):
            return None
        found += [(one.index, name) for name in ROD_FIELDS if not _same(getattr(one.rod, name), getattr(two.rod, name))]
    return found


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
