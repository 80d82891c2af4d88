"""One file and the files it includes, as one tree; its parameters as numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from anguilla.describe.description import did_you_mean
from anguilla.describe.units import in_si
from anguilla.errors import DescriptionError, show
from anguilla.files.expressions import CONSTANTS, FUNCTIONS, VARIABLES, Expression
from anguilla.files.problems import ARGUMENTS, FileError, Problem, Problems
from anguilla.files.text import MOST_BYTES, Node, parse_text, read_text
from anguilla.files.wording import split_error

__all__ = ["Parameter", "gather", "gather_text", "included_path", "parameters_of"]

MOST_INCLUDES = 50
MOST_FILES = 100  # that one robot file may include, all levels together
SUFFIXES = (".yaml", ".yml", ".json")
OUTSIDE = (
    "Copy it into that folder, or below it; or open a folder that holds both: read_robot(..., folder=...), "
    "anguilla --folder FOLDER ..."
)
INCLUDE = "Give the path of another robot file, relative to this one."
CHECK = "Check it by itself: anguilla check FILE."
WANTED = {"gravity": "It must be 3 numbers [m/s^2], such as [0, 0, -9.81], or formulas of t."}
OVERRIDABLE = ("parameters", "define", "inputs", "simulate", "statics")


@dataclass(frozen=True)
class Parameter:
    """A number a file may be read with.

    Attributes:
        value: the value used.
        default: the value written in the file.
        unit: its unit, in SI, as written.
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
    return _Gatherer(sections, problems, path.resolve().parent).gather(path, [])


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
            hint = WANTED.get(key) or f"It must be {_kinds(sections[key])}."
            problems.add(node.place, key, f"got {show(node.plain)}.", hint)
        elif node.value is not None:
            kept[key] = node
    return Node(kept, root.place, root.keys)


def _kinds(types: type | tuple[type, ...]) -> str:
    names = {dict: "a dictionary", list: "a list", str: "a text", int: "a whole number", float: "a number"}
    return " or ".join(names[kind] for kind in (types if isinstance(types, tuple) else (types,)))


class _Gatherer:
    """Reads every file once: a file that is included again adds nothing more.

    Args:
        sections: the sections of a robot file.
        problems: gets what is wrong.
        folder: what is included lies in this folder or below.

    """

    def __init__(self, sections: Mapping[str, Any], problems: Problems, folder: Path) -> None:
        self.sections, self.problems, self.folder = sections, problems, folder
        self.read: set[Path] = set()
        self.left = MOST_BYTES

    def gather(self, path: Path, chain: list[Path]) -> Node:
        text = read_text(path, self.left)
        self.left -= len(text)
        root = parse_text(text, str(path))
        if chain and not (isinstance(root.value, dict) and any(key in self.sections for key in root.value)):
            raise FileError([Problem(str(path), 1, 1, "(file)", "is not a robot file.", CHECK)])
        own = _top(root, self.sections, self.problems)
        chain = [*chain, path.resolve()]
        self.read.add(chain[-1])
        merged = Node({}, own.place, {})
        include = own.value.pop("include", None)
        entries = [] if include is None else include.value if isinstance(include.value, list) else [include]
        for k, entry in enumerate(entries):
            other = self.include(entry, f"include[{k}]", path, chain)
            if other is not None:
                _merge(merged, other, self.problems)
        _merge(merged, own, self.problems)
        return merged

    def include(self, entry: Node, field: str, path: Path, chain: list[Path]) -> Node | None:
        target = included_path(entry, field, path, self.folder, self.problems)
        if target is None:
            return None
        found = target.resolve()
        if found in chain or len(chain) >= MOST_INCLUDES:
            message, advice = f"{entry.value!r} includes itself.", "Break the circle of includes."
            self.problems.add(entry.place, field, message, advice)
            return None
        if found in self.read:
            return None
        if len(self.read) > MOST_FILES:
            self.problems.add(entry.place, field, "too many files are included.", f"Include at most {MOST_FILES}.")
            return None
        try:
            return self.gather(target, chain)
        except FileError as error:
            self.read.add(found)
            for problem in error.problems:  # of what the file is, its text is not told: it may be any file
                if target.is_file():
                    place = (problem.file, problem.line, problem.column)
                    self.problems.add(place, problem.field, "it is not a robot file.", CHECK)
                else:
                    self.problems.add(entry.place, field, f"{entry.value!r} {problem.message}", INCLUDE)
            return None


def included_path(
    entry: Node,
    field: str,
    path: Path,
    folder: Path,
    problems: Problems,
    suffixes: tuple[str, ...] = (*SUFFIXES, ".urdf"),
) -> Path | None:
    """Where a file that another one names lies, or None with a problem noted: nothing outside of a folder is opened."""
    if not isinstance(entry.value, str) or not entry.value.strip() or "\0" in entry.value:
        problems.add(entry.place, field, f"got {show(entry.plain)}.", INCLUDE)
        return None
    name = entry.value
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).is_absolute() or "://" in name:
        problems.add(entry.place, field, f"got the absolute path {name!r}.", INCLUDE)
        return None
    target = path.parent / name
    try:
        inside = target.resolve().is_relative_to(problems.folder or folder)
    except (OSError, RuntimeError):  # a circle of links, a name too long
        inside = False
    if not inside:
        message = (
            f"{name!r} lies outside of the folder {'of the robot file' if problems.folder is None else 'that is open'}."
        )
        problems.add(entry.place, field, message, OUTSIDE)
        return None
    if target.exists() and not target.is_file():
        problems.add(entry.place, field, f"{name!r} is not a file.", INCLUDE)
        return None
    if target.suffix.lower() not in suffixes:
        message = f"{name!r} is not the name of {'a robot file' if '.urdf' in suffixes else 'such a file'}."
        problems.add(entry.place, field, message, f"The name must end in {', '.join(suffixes[:-1])} or {suffixes[-1]}.")
        return None
    return target


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
    place = section.place if section is not None else (ARGUMENTS, 1, 1)
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
    if len(problems) == before and "unit" in fields:
        factor, si = in_si(fields["unit"].value)
        if abs(factor - 1.0) > 1e-12:
            message = f"the unit {fields['unit'].value!r} is not SI, and nothing is converted."
            hint = f"Robot files are in SI units: write 'default: {factor * numbers['default']:.6g}, unit: {si}'."
            problems.add(fields["unit"].place, f"{path}.unit", message, hint)
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
