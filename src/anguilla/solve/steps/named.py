"""Instants that functions of time name: the numbers in their code, and those they read from outside.

A blow that is over between two steps is in none of their samples. But whoever writes `F if 0.101 < t < 0.106 else 0` names
its instants; to look there costs a few samples more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from anguilla.model.model import Inputs, Model

__all__ = ["instants_named_by", "named_instants"]

OURS = "anguilla."  # functions of the library are smooth, or jump where they are sampled
MOST = 50  # numbers that are looked at
DEEP = 4  # functions that call each other


def named_instants(system: Model, inputs: Inputs, end: float) -> list[float]:
    """Numbers between 0 and `end` [s] that functions of loads, joints and inputs name, in order; none if they are many."""
    return _inside(set(system.once(_of_robot)) | set(_numbers(inputs.values(), DEEP)), end)


def instants_named_by(functions: Iterable[Any], end: float) -> list[float]:
    """Numbers between 0 and `end` [s] that functions name, in order; none if they are many."""
    return _inside(set(_numbers(functions, DEEP)), end)


def _inside(found: set[float], end: float) -> list[float]:
    inside = sorted({float(x) for x in found if 0.0 < x < end})
    return inside if len(inside) <= MOST else []


def _of_robot(system: Model) -> frozenset[float]:
    """Numbers in the functions of a robot."""
    robot = system.robot
    things: list[Any] = [*robot.loads, *(part.joint for part in robot.parts), *robot.closures.values(), robot.gravity]
    values = (getattr(thing, field.name) for thing in things if is_dataclass(thing) for field in fields(thing))
    return frozenset(_numbers([robot.gravity, *values], DEEP))


def _numbers(things: Iterable[Any], deep: int) -> Iterator[float]:
    """Numbers in functions, and in the functions that these call."""
    for thing in things:
        if isinstance(thing, (tuple, list)):
            yield from _numbers(thing, deep)
        elif isinstance(thing, partial):
            yield from _plain([thing.args, tuple(thing.keywords.values())])
            yield from _numbers([thing.func], deep)
        elif isinstance(thing, (FunctionType, MethodType)) and deep and not str(thing.__module__).startswith(OURS):
            function: Any = getattr(thing, "__func__", thing)
            code, outside = function.__code__, function.__globals__
            read = [*_cells(function), *(outside[name] for name in code.co_names if name in outside)]
            yield from _plain([*_constants(code), *read, *(function.__defaults__ or ())])
            yield from _numbers([one for one in read if isinstance(one, FunctionType)], deep - 1)


def _cells(function: FunctionType) -> Iterator[Any]:
    """What a function reads of the functions around it, as far as that is known yet."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # empty
            continue


def _constants(code: CodeType) -> Iterator[Any]:
    """Constants of a function, and of those inside it."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _constants(constant)
        else:
            yield constant


def _plain(things: Iterable[Any]) -> Iterator[float]:
    """The numbers among some things, also in short tuples."""
    for thing in things:
        if isinstance(thing, (int, float, np.integer, np.floating)) and not isinstance(thing, bool):
            yield float(thing)
        elif isinstance(thing, (tuple, list)) and len(thing) <= MOST:
            yield from _plain(thing)
