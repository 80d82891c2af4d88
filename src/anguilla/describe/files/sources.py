"""One file and the files it includes, as one tree; its parameters as numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from anguilla.describe.description import did_you_mean
from anguilla.describe.files.expressions import CONSTANTS, FUNCTIONS, VARIABLES, Expression
from anguilla.describe.files.problems import FileError, Problems
from anguilla.describe.files.text import Node, parse_text, read_text
from anguilla.describe.files.wording import split_error
from anguilla.errors import DescriptionError, show

__all__ = ["Parameter", "gather", "parameters_of"]

MOST_INCLUDES = 50
OVERRIDABLE = ("parameters", "define", "inputs", "simulate", "statics")


@dataclass(frozen=True)
class Parameter:
    """A number a file may be read with.

    Attributes:
        value: the value used.
        default: the value written in the file.
        unit: its unit, as written.
        description: what it is.
        low, high: bounds, or None.

    """

    value: float
    default: float
    unit: str = ""
    description: str = ""
    low: float | None = None
    high: float | None = None


def gather(path: Path, sections: Mapping[str, type | tuple[type, ...]], problems: Problems) -> Node:
    """Read a file and what it includes; return the sections of all of them in one dictionary."""
    return _gather(path, sections, problems, [])


def gather_text(text: str, name: str, sections: Mapping[str, Any], problems: Problems) -> Node:
    """The same from a text, which can include nothing."""
    root = _top(parse_text(text, name), sections, problems)
    if "include" in root.value:
        problems.add(root.keys["include"], "include", "a text cannot include files.", "Read it from a file.")
    return root


def _top(root: Node, sections: Mapping[str, Any], problems: Problems) -> Node:
    if not isinstance(root.value, dict):
        hint = f"A robot file is a dictionary with the sections {', '.join(sections)}."
        problems.add(root.place, "(file)", f"got {show(root.plain)}.", hint)
        return Node({}, root.place)
    kept: dict[str, Node] = {}
    for key, node in root.value.items():
        if key not in sections:
            hint = f"The sections of a robot file are: {', '.join(sections)}{did_you_mean(key, sections)}."
            problems.add(root.keys[key], key, "there is no such section.", hint)
        elif node.value is not None and not isinstance(node.value, sections[key]):
            problems.add(node.place, key, f"got {show(node.plain)}.", f"It must be {_kinds(sections[key])}.")
        elif node.value is not None:
            kept[key] = node
    return Node(kept, root.place, root.keys)


def _kinds(types: type | tuple[type, ...]) -> str:
    names = {dict: "a dictionary", list: "a list", str: "a text", int: "a whole number", float: "a number"}
    return " or ".join(names[kind] for kind in (types if isinstance(types, tuple) else (types,)))


def _gather(path: Path, sections: Mapping[str, Any], problems: Problems, chain: list[Path]) -> Node:
    own = _top(parse_text(read_text(path), str(path)), sections, problems)
    chain = [*chain, path.resolve()]
    merged = Node({}, own.place, {})
    include = own.value.pop("include", None)
    entries = [] if include is None else include.value if isinstance(include.value, list) else [include]
    for k, entry in enumerate(entries):
        other = _include(entry, f"include[{k}]", path, sections, problems, chain)
        if other is not None:
            _merge(merged, other, problems)
    _merge(merged, own, problems)
    return merged


def _include(
    entry: Node, field: str, path: Path, sections: Mapping[str, Any], problems: Problems, chain: list[Path]
) -> Node | None:
    advice = "Give the path of another robot file, relative to this one."
    if not isinstance(entry.value, str) or not entry.value.strip() or "\0" in entry.value:
        problems.add(entry.place, field, f"got {show(entry.plain)}.", advice)
        return None
    if PurePosixPath(entry.value).is_absolute() or Path(entry.value).is_absolute() or "://" in entry.value:
        problems.add(entry.place, field, f"got the absolute path {entry.value!r}.", advice)
        return None
    target = path.parent / entry.value
    if target.resolve() in chain or len(chain) >= MOST_INCLUDES:
        problems.add(entry.place, field, f"{entry.value!r} includes itself.", "Break the circle of includes.")
        return None
    try:
        return _gather(target, sections, problems, chain)
    except FileError as error:
        unreadable = not target.is_file()
        for problem in error.problems:
            if unreadable:
                problems.add(entry.place, field, f"{entry.value!r} {problem.message}", advice)
            else:
                problems.add(
                    (problem.file, problem.line, problem.column), problem.field, problem.message, problem.suggestion
                )
        return None


def _merge(into: Node, other: Node, problems: Problems) -> None:
    """Add the sections of another file; what comes later wins where that makes sense."""
    for key, node in other.value.items():
        place = other.keys.get(key, other.place)
        before = into.value.get(key)
        if before is None or not isinstance(node.value, (dict, list)):
            if isinstance(node.value, dict):
                node = Node(dict(node.value), node.place, dict(node.keys))
            into.value[key], into.keys[key] = node, place
        elif isinstance(node.value, list) and isinstance(before.value, list):
            into.value[key] = Node([*before.value, *node.value], before.place)
        elif isinstance(node.value, dict) and isinstance(before.value, dict):
            for name, child in node.value.items():
                if name in before.value and key not in OVERRIDABLE:
                    first = before.keys[name]
                    message = f"{name!r} is already in {first[0]}, line {first[1]}."
                    problems.add(node.keys[name], f"{key}.{name}", message, "Choose another name.")
                before.value[name], before.keys[name] = child, node.keys[name]
        else:
            message = "it is a list in one file and a dictionary in another."
            problems.add(place, key, message, "Write it in the same way in both.")


# parameters -----------------------------------------------------------------------------------------------------------

FIELDS = ("default", "unit", "description", "min", "max")


def parameters_of(section: Node | None, given: Mapping[str, float], problems: Problems) -> dict[str, Parameter]:
    """Return the parameters of a file, with given values in place of their defaults."""
    nodes: dict[str, Node] = section.value if section is not None else {}
    place = section.place if section is not None else ("(arguments)", 1, 1)
    for name in given:
        if name not in nodes:
            hint = f"The parameters are: {', '.join(nodes) or 'none'}{did_you_mean(name, nodes)}."
            problems.add(place, f"parameters.{name}", "the file has no such parameter.", hint)
    found: dict[str, Parameter] = {}
    for name, node in nodes.items():
        reserved = name in CONSTANTS or name in VARIABLES or name in FUNCTIONS
        if reserved or not re.fullmatch(r"[^\W\d]\w*", name):
            hint = "A parameter is a name of letters, digits and '_', and none of the names formulas know."
            problems.add(
                section.keys[name] if section else place, f"parameters.{name}", "this name cannot be used.", hint
            )
            continue
        parameter = _parameter(name, node, found, given, problems)
        if parameter is not None:
            found[name] = parameter
    return found


def _parameter(
    name: str, node: Node, found: Mapping[str, Parameter], given: Mapping[str, float], problems: Problems
) -> Parameter | None:
    path = f"parameters.{name}"
    fields = node.value if isinstance(node.value, dict) else {"default": node}
    before = len(problems)
    for key in fields:
        if key not in FIELDS:
            hint = f"A parameter has the fields {', '.join(FIELDS)}{did_you_mean(key, FIELDS)}."
            problems.add(node.keys[key], f"{path}.{key}", "a parameter has no such field.", hint)
    if "default" not in fields:
        problems.add(node.place, path, "it has no default.", "Write 'name: 0.3' or 'name: {default: 0.3, unit: m}'.")
    names = {other: parameter.value for other, parameter in found.items()}
    numbers = {
        key: _number(fields[key], f"{path}.{key}", names, problems)
        for key in ("default", "min", "max")
        if key in fields
    }
    for key in ("unit", "description"):
        if key in fields and not isinstance(fields[key].value, str):
            problems.add(fields[key].place, f"{path}.{key}", f"got {show(fields[key].plain)}.", "It must be a text.")
    if len(problems) > before:
        return None
    default = numbers["default"]
    value, low, high = given.get(name, default), numbers.get("min"), numbers.get("max")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e300:
        problems.add(node.place, path, f"got {show(value)}.", "It must be a finite number.")
        return None
    if (low is not None and value < low) or (high is not None and value > high):
        lowest, highest = "any" if low is None else f"{low:g}", "any" if high is None else f"{high:g}"
        problems.add(node.place, path, f"got {value:g}.", f"It must lie between {lowest} and {highest}.")
    texts = {key: fields[key].value for key in ("unit", "description") if key in fields}
    return Parameter(float(value), default, low=low, high=high, **texts)


def _number(node: Node, path: str, names: Mapping[str, float], problems: Problems) -> float:
    advice = "It must be a number, or a formula of the parameters above it."
    if isinstance(node.value, (int, float)) and not isinstance(node.value, bool) and abs(node.value) < 1e300:
        return float(node.value)
    if not isinstance(node.value, str):
        problems.add(node.place, path, f"got {show(node.plain)}.", advice)
        return 0.0
    try:
        return float(Expression(node.value, arguments=(), names=names)())
    except (DescriptionError, TypeError) as error:
        problems.add(node.place, path, *split_error(str(error), advice))
        return 0.0
