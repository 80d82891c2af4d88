"""Doors: public functions, classes and methods that answer a wrong call with a sentence instead of a bare TypeError.

A call that binds goes straight through; only one that does not is looked at: a door costs a third of a microsecond. Functions
are given one by `@public`; the public classes of a package, and their methods, by `hang`.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, Protocol, TypeVar

from anguilla._words import ELSEWHERE, instead, meant, note
from anguilla.errors import ArgumentError, show

__all__ = ["documentation", "hang", "has_doors", "public", "refuse_unknown"]

Thing = TypeVar("Thing")
LONGEST = 90  # characters of what an argument means
INSIDE = ("anguilla.model.",)  # rooms whose methods are called within solvers, where a third of a microsecond counts


def public(thing: Thing) -> Thing:
    """Return a function with a door; a class gets doors at its constructor and its public methods, in place."""
    if isinstance(thing, type):
        _door_of_class(thing)
    elif isinstance(thing, FunctionType) and not hasattr(thing, "has_door"):
        return _through(thing, thing.__name__, False)
    return thing


def hang(names: Iterable[str], room: Mapping[str, Any]) -> None:
    """Give doors to all classes among some names of a room."""
    for name in names:
        if isinstance(room[name], type):
            public(room[name])


def refuse_unknown(label: str, options: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """Raise an error if some options that are handed on are no arguments of the function they go to."""
    names = list(inspect.signature(function).parameters)
    unknown = [name for name in options if name not in names]
    if unknown:
        raise ArgumentError(_unknown(label, unknown, names, names, _told(function)))


def _door_of_class(kind: type) -> None:
    if issubclass(kind, (BaseException, tuple)) or Protocol in kind.__mro__:
        return
    if not hasattr(kind, "__getattr__"):
        kind.__getattr__ = _without  # type: ignore[attr-defined]
    for cls in kind.__mro__:
        if not cls.__module__.startswith("anguilla.") or "_has_doors" in vars(cls):
            continue
        cls._has_doors = True  # type: ignore[attr-defined]
        for name, method in list(vars(cls).items()):
            if name == "__init__" and isinstance(method, FunctionType):
                setattr(cls, name, _through(method, cls.__name__, True))
            elif not name.startswith("_") and not cls.__module__.startswith(INSIDE):
                _door_of_method(cls, name, method)


def has_doors(cls: type) -> bool:
    """Whether a class, or what it derives from, has doors. To ask its objects for an attribute they lack takes long."""
    return hasattr(cls, "_has_doors")


class _NoAttributeError(AttributeError):
    """An attribute that is not there. What was meant is looked for only when somebody reads it: `hasattr` asks often."""

    def __str__(self) -> str:
        kind, name = type(self.obj), str(self.name)
        if offered := instead(kind, name):
            return f"{kind.__name__} has no attribute {name!r}: {offered}."
        found = meant(name, {*dir(kind), *getattr(self.obj, "__dict__", ())})
        return f"{kind.__name__} has no attribute {name!r}" + (f"; did you mean {found!r}?" if found else "")

    def __reduce__(self) -> Any:
        return AttributeError, (str(self),)


# A traceback shows the name that people know.
_NoAttributeError.__name__ = _NoAttributeError.__qualname__ = "AttributeError"
_NoAttributeError.__module__ = "builtins"


def _without(self: Any, name: str) -> Any:
    """What `__getattr__` answers for a name that is not there."""
    if name.startswith("_"):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    if hasattr(type(self), name):  # a property that failed: what it said
        return object.__getattribute__(self, name)
    raise _NoAttributeError(name=name, obj=self)


def _door_of_method(cls: type, name: str, method: Any) -> None:
    label = f"{cls.__name__}.{name}"
    if isinstance(method, FunctionType):
        setattr(cls, name, _through(method, label, True))
    elif isinstance(method, classmethod) and isinstance(method.__func__, FunctionType):
        setattr(cls, name, classmethod(_through(method.__func__, label, True)))


def _through(function: Any, label: str, bound: bool) -> Any:
    @functools.wraps(function)
    def through(*args: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        try:
            return function(*args, **named)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # from within
            wrong = _wrong(function, label, args, named, bound)
            if wrong is None:
                raise
        raise ArgumentError(wrong)

    through.has_door = True  # type: ignore[attr-defined]
    return through


def _wrong(function: Any, label: str, args: tuple[Any, ...], named: dict[str, Any], bound: bool) -> str | None:
    """What is wrong with the arguments of a call that does not bind, in one sentence."""
    taken, documented, kind = list(inspect.signature(function).parameters.values()), function, None
    if bound:  # a constructor or a method is known by the class it was called on
        kind = args[0] if isinstance(args[0], type) else type(args[0])
        label = ".".join([kind.__name__, *label.split(".")[1:]])
        documented = kind if function.__name__ == "__init__" else function
        taken, args = taken[1:], args[1:]
    names = [p.name for p in taken if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    by_place = [p.name for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    told = _told(documented)
    unknown = [] if any(p.kind is p.VAR_KEYWORD for p in taken) else [name for name in named if name not in names]
    if unknown:
        expected = instead(kind, unknown[0]) if function.__name__ == "__init__" else ""
        if not expected and "inputs" in names and args and unknown[0] in getattr(args[0], "actuators", ()):
            value = show(named[unknown[0]])
            expected = f"it is an input of the robot, given as inputs={{{unknown[0]!r}: {value}}}"
        if expected:
            return f"{label} has no argument {unknown[0]!r}: {expected}."
        return _unknown(label, unknown, [name for name in names if name not in named], names, told)
    if len(args) > len(by_place) and not any(p.kind is p.VAR_POSITIONAL for p in taken):
        extra = args[len(by_place)]
        if isinstance(extra, Mapping) and any(p.kind is p.VAR_KEYWORD for p in taken):  # what it takes by any name
            said = [show(x) for x in args[: len(by_place)]] + [f"{name}={show(value)}" for name, value in extra.items()]
            return f"{label} takes names, not a dictionary of them: {label}({', '.join(said)})."
        return _too_many(label, args, by_place, [name for name in names if name not in by_place])
    twice = [name for name in by_place[: len(args)] if name in named]
    if twice:
        return f"{label} is given {twice[0]!r} twice: by its place among the arguments, and by its name."
    missing = [p for p in taken if p.default is p.empty and p.name in names and p.name not in by_place[: len(args)]]
    lacking = [f"{p.name}{told(p.name)}" for p in missing if p.name not in named]
    return f"{label} needs {' and '.join(lacking)}." if lacking else None


def _unknown(label: str, unknown: list[str], free: list[str], names: list[str], told: Callable[[str], str]) -> str:
    """Arguments that do not exist, and what they may mean."""
    wrong = f"{label} has no argument{'s' * (len(unknown) > 1)} {', '.join(map(repr, unknown))}"
    guesses = []
    for name in unknown:
        found = meant(name, free)
        if found is None and (elsewhere := ELSEWHERE.get(name)):
            return f"{wrong}: {elsewhere}."
        if found is not None:
            free = [other for other in free if other != found]
            more = note(name, found)
            guesses.append(f"{found!r}{told(found)}" + (f", {more}" if more else ""))
    question = f"; did you mean {', '.join(guesses)}?" if guesses else ""
    if len(guesses) == len(unknown):
        return wrong + question
    have = f"its arguments are {', '.join(names)}" if names else "it takes no arguments by name"
    return f"{wrong}{question} {have[0].upper()}{have[1:]}." if guesses else f"{wrong}; {have}."


def _too_many(label: str, args: tuple[Any, ...], by_place: list[str], others: list[str]) -> str:
    """More values than places."""
    extra, places = args[len(by_place) :], f" ({', '.join(by_place)})" if by_place else ""
    count = f"{len(by_place) or 'no'} argument{'s' * (len(by_place) != 1)} by place{places}"
    wrong = f"{label} takes {count} and was given {len(args)}"
    if not others:
        return f"{wrong}: {show(extra[0])} is one too many."
    said = ", ".join(f"{name}={show(value)}" for name, value in zip(others, extra, strict=False))
    return f"{wrong}: name the others, such as {said}."


def _told(documented: Any) -> Callable[[str], str]:
    """A function that says what an argument means, from the documentation."""
    texts = documentation(documented)

    def told(name: str) -> str:
        meaning = re.split(r"[;:.](?:\s|$)", texts.get(name, ""))[0].replace("``", "")
        return f" ({meaning})" if 0 < len(meaning) <= LONGEST else ""

    return told


def documentation(make: Callable[..., Any]) -> dict[str, str]:
    """Texts of the arguments in the docstrings of a function, or of a class and its bases."""
    found: dict[str, str] = {}
    sources = list(reversed(make.__mro__)) if inspect.isclass(make) else [make]
    for source in sources:
        if source is object:
            continue
        for match in re.finditer(r"^ {4}([\w, ]+): ((?:.|\n {8,})*)", inspect.cleandoc(source.__doc__ or ""), re.M):
            for name in match[1].split(","):
                found[name.strip()] = " ".join(match[2].split())
    return found
