"""Which types a file may name, and what their fields take: read from the descriptions themselves.

Every public class of `anguilla.describe` and `anguilla.interact`, and every public function that returns one of them, is
known to files under its name in small letters (`TipWrench` is `tip_wrench`). A new description is known as soon as it is
exported there. A field that takes a function of something else than t has its variables in VARIABLES, or in the attribute
`variables` of a load.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import anguilla.describe as describe
import anguilla.describe.sensors as sensors
import anguilla.interact as interact
from anguilla._doors import documentation
from anguilla.describe.frames import BodyHandle, Frame, Part

__all__ = ["Form", "Maker", "candidates", "form_of", "kind_name", "makers", "variables"]

# Variables of the functions in the fields of a class, or in one field of it; t alone for the others.
VARIABLES: dict[str, tuple[str, ...]] = {
    "FunctionRouting": ("X",),
    "RestFunction": ("X",),
    "Tapered": ("X",),
    "EllipticProfile": ("X",),
    "Rod.stiffness": ("X",),
    "FunctionBasis": ("x",),
    "ShapeFunction": ("X", "t"),
}
# Public names that are no values of a file: bases of others, and what only Python makes.
BASES = {"Actuator", "Basis", "CrossSection", "Gait", "Joint", "Load", "Obstacle", "RestShape", "Sensor"}
NOT_IN_FILES = {
    "Axis", "Ball", "BodyHandle", "Closure", "Frame", "FrameMotion", "JointHandle", "Part", "Robot", "RodHandle",
    "SectionProperties", "contacts", "make_basis",
}  # fmt: skip


@dataclass(frozen=True)
class Form:
    """What a field takes.

    Attributes:
        number, integer, text, flag, none: whether a number (or a nested list of numbers), a whole number only, a text,
            true or false, nothing.
        whole: whether a whole number has a meaning of its own.
        function, functions: whether formulas, a list of formulas each of which is a function.
        each: whether a list holds values each of its own, numbers, formulas or nothing.
        template: classes of objects whose fields may be formulas of the variable.
        frame, part, body: whether a frame of the robot, a part of it, also a body by its name.
        many: whether a list of frames, parts or objects.
        kinds: classes of objects it takes.
        words: texts it takes, each with a meaning of its own.

    """

    number: bool = False
    integer: bool = False
    text: bool = False
    flag: bool = False
    none: bool = False
    whole: bool = False
    function: bool = False
    functions: bool = False
    each: bool = False
    frame: bool = False
    part: bool = False
    body: bool = False
    many: bool = False
    kinds: tuple[type, ...] = ()
    template: tuple[type, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Field:
    """A field of a type: its form, its default (or `inspect.Parameter.empty`), its documentation and unit."""

    name: str
    form: Form
    default: Any
    text: str
    unit: str

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True)
class Maker:
    """A type of a file: its name, the function or class that makes it, and the class it makes."""

    name: str
    make: Callable[..., Any]
    kind: type

    @property
    def title(self) -> str:
        """First line of the documentation."""
        return (inspect.getdoc(self.make) or self.name).splitlines()[0]

    @property
    def fields(self) -> dict[str, Field]:
        """The fields by name."""
        return _fields(self.make)

    @property
    def rest(self) -> Form | None:
        """Form of any further field (the strains of `Strains(**bases)`), or None."""
        for parameter in inspect.signature(self.make).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                return form_of(_hints(self.make).get(parameter.name, float))
        return None


def snake(name: str) -> str:
    """TipWrench -> tip_wrench."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@cache
def makers() -> tuple[Maker, ...]:
    """All types a file may name."""
    found: list[Maker] = []
    for name in (*describe.__all__, *interact.__all__, *sensors.__all__):
        thing: Any = getattr(describe, name, None) or getattr(interact, name, None) or getattr(sensors, name)
        if name in NOT_IN_FILES or not callable(thing) or not vars(thing).get("in_files", True):
            continue
        if inspect.isclass(thing):
            if name not in BASES:
                found.append(Maker(snake(name), thing, thing))
            for method, raw in vars(thing).items():
                if isinstance(raw, classmethod) and not method.startswith("_"):
                    maker = getattr(thing, method)
                    made: Any = _hints(maker).get("return")
                    if made is thing:
                        found.append(Maker(method, maker, made))
        else:
            made = _hints(thing).get("return")
            if isinstance(made, type):
                found.append(Maker(snake(name), thing, made))
    return tuple(found)


@cache
def candidates(kinds: tuple[type, ...]) -> dict[str, Maker]:
    """The types that make one of some classes, by name; a class comes before a function of its name."""
    found: dict[str, Maker] = {}
    for maker in makers():
        if any(issubclass(maker.kind, kind) for kind in kinds):
            found.setdefault(maker.name, maker)
    return found


def kind_name(kinds: tuple[type, ...]) -> str:
    """What objects of some classes are called in messages: "a cross-section" for CrossSection."""
    names = [snake(kind.__name__).replace("_", " ") for kind in kinds]
    return " or ".join(f"{'an' if name[0] in 'aeio' else 'a'} {name}" for name in names)


def variables(maker: Maker, field: str) -> tuple[str, ...]:
    """Variables of the functions a field takes, such as ("X", "t")."""
    for kind in maker.kind.__mro__:
        own = vars(kind).get("variables", {})
        if field in own or "" in own:
            return tuple(own.get(field, own.get("")))
        for key in (f"{kind.__name__}.{field}", kind.__name__):
            if key in VARIABLES:
                return VARIABLES[key]
    return ("t",)


@cache
def _hints(make: Callable[..., Any]) -> dict[str, Any]:
    """Resolved annotations of the arguments and of the result."""
    own = inspect.isclass(make) and not (dataclasses.is_dataclass(make) and "__init__" not in _written(make))
    target = make.__init__ if own else make
    try:
        return typing.get_type_hints(target, localns=_names_of_types())
    except (NameError, TypeError):
        return {}


def _written(cls: type) -> set[str]:
    """Names of the methods the source of a dataclass defines, as opposed to generated ones."""
    parameters = getattr(cls, "__dataclass_params__", None)
    return set() if parameters is not None and parameters.init else set(vars(cls))


def _names_of_types() -> dict[str, Any]:
    """Names that appear in annotations but are imported for type checkers only."""
    return {"Robot": describe.Robot}


@cache
def _fields(make: Callable[..., Any]) -> dict[str, Field]:
    hints, documented = _hints(make), documentation(make)
    fields: dict[str, Field] = {}
    for name, parameter in inspect.signature(make).parameters.items():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) or name == "self":
            continue
        text = documented.get(name, "")
        unit = re.search(r"\[([^\]]*)\]", text)
        fields[name] = Field(name, form_of(hints.get(name, float)), parameter.default, text, unit[1] if unit else "")
    return fields


def form_of(annotation: Any) -> Form:
    """What an annotation takes. A union takes what its members take."""
    merged: dict[str, Any] = {}
    for part in _members(annotation):
        for name, value in _simple_form(part).items():
            joined = tuple(dict.fromkeys((*merged.get(name, ()), *value))) if name in ("kinds", "template") else value
            merged[name] = joined
    array, real = merged.pop("array", False), merged.pop("real", False)
    if array:  # numpy's ArrayLike allows texts and truth values; no field means them
        merged.pop("text", None)
        merged.pop("flag", None)
    if array or real:
        merged.pop("integer", None)
    return Form(**merged)


def _members(annotation: Any) -> tuple[Any, ...]:
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return tuple(member for item in typing.get_args(annotation) for member in _members(item))
    if hasattr(annotation, "__value__"):  # type X = ...
        return _members(annotation.__value__)
    return (annotation,)


def _simple_form(part: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(part), typing.get_args(part)
    if part is None or part is type(None):
        return {"none": True}
    if part is bool:
        return {"flag": True}
    if part is Any:
        return {"number": True, "real": True, "function": True, "none": True, "each": True}
    if part is int:
        return {"number": True, "integer": True, "whole": True}
    if part is float:
        return {"number": True, "real": True}
    if part is str:
        return {"text": True}
    if origin is typing.Literal:
        return {"words": arguments}
    if origin is Callable:
        result = arguments[1] if len(arguments) == 2 else None
        if inspect.isclass(result) and result.__module__.startswith("anguilla."):
            return {"template": (result,)}
        return {"function": True}
    if origin in (tuple, list, Sequence):
        return _sequence_form(form_of(typing.Union[tuple(item for item in arguments if item is not ...)]))  # noqa: UP007
    if "_SupportsArray" in repr(part) or part is complex or origin is np.ndarray:
        return {"number": True, "array": True}
    if inspect.isclass(part):
        if issubclass(part, Frame):
            return {"frame": True}
        if issubclass(part, Part):
            return {"part": True, "body": True} if issubclass(part, BodyHandle) else {"part": True}
        if part.__module__.startswith("anguilla."):
            return {"kinds": (part,)}
    return {}


def _sequence_form(inner: Form) -> dict[str, Any]:
    found: dict[str, Any] = {name: True for name in ("number", "frame", "part") if getattr(inner, name)}
    if inner.number:
        found["real"] = True
    if inner.function:
        found["function" if inner.number else "functions"] = True
    if inner.frame or inner.part or inner.kinds:
        found["many"] = True
    return found | ({"kinds": inner.kinds} if inner.kinds else {})
