"""Robot files: read them, with all their problems at once."""

from __future__ import annotations

import inspect
import os
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from anguilla._doors import public
from anguilla.describe.actuators import Actuator
from anguilla.describe.bodies import RigidBody
from anguilla.describe.description import did_you_mean
from anguilla.describe.ports import Drive
from anguilla.describe.robot import Robot
from anguilla.describe.rod import Rod
from anguilla.describe.sensors import Sensor
from anguilla.errors import DescriptionError, as_count, as_named, as_path, as_positive, as_steps, show, warn
from anguilla.files.build import BAD, RobotBuilder
from anguilla.files.places import Finder
from anguilla.files.problems import ARGUMENTS, Problems
from anguilla.files.registry import Form, Maker, form_of, makers
from anguilla.files.sources import Parameter, gather, gather_text, parameters_of
from anguilla.files.text import Node
from anguilla.files.volumes import add_contacts, add_volume, check_input, frames_of, hangs_on, inputs_of
from anguilla.files.wording import split_error

__all__ = ["METHODS", "SECTIONS", "RobotFile", "check_runs", "read_file", "read_robot", "read_text_file"]

VERSION = 1

# Sections whose entries are arguments of a method of the robot, and sections whose entries are objects given to one.
METHODS = {name: method for name, method in {"closures": "close"}.items() if hasattr(Robot, method)}
OBJECTS = {
    name: method for name, method in {"loads": "load", "constraints": "constrain"}.items() if hasattr(Robot, method)
}

# sections whose entries are objects given to a method by name
NAMED: dict[str, tuple[str, type]] = {"drives": ("drive", Drive), "sensors": ("sense", Sensor)}

SECTIONS: dict[str, type | tuple[type, ...]] = {
    "anguilla": int,
    "name": str,
    "description": str,
    "include": (str, list),
    "parameters": dict,
    "gravity": (list, str, dict),
    "define": dict,
    "urdf": (dict, list),
    "parts": dict,
    "volumes": dict,
    "actuators": dict,
    **dict.fromkeys(NAMED, dict),
    **dict.fromkeys((*OBJECTS, *METHODS), (list, dict)),
    "inputs": dict,
    "statics": dict,
    "simulate": dict,
}

SETTINGS = {
    "statics": {"t": Form(number=True), "tolerance": Form(number=True), "iterations": Form(number=True, integer=True)},
    "simulate": {
        "duration": Form(number=True),
        "dt": Form(number=True),
        "method": Form(text=True),
        "every": Form(number=True, integer=True),
        "tolerance": Form(number=True),
        "error": Form(number=True, none=True),
        "start": Form(text=True),
    },
}
CHECKS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("duration", "dt"), partial(as_positive, unit="s")),
    **dict.fromkeys(("tolerance", "error"), as_positive),
    **dict.fromkeys(("every", "iterations"), as_count),
}
CHOICES = {
    "start": ("rest", "equilibrium", "held"),  # equilibrium: without inputs; held: with the inputs at t = 0
    "method": ("newmark", "hht", "generalised_alpha", "midpoint"),  # names of `anguilla.solve.steps.schemes`
}


@dataclass(frozen=True)
class RobotFile:
    """What a file describes.

    Attributes:
        robot: the robot.
        inputs: inputs of the actuators by name: numbers, or functions of t [s].
        statics, simulate: settings for the solvers, by the names of their arguments; `start` of a simulation is "rest",
            "equilibrium" (without inputs) or "held" (the equilibrium under the inputs at t = 0).
        parameters: the parameters and the values they had.
        notes: what looks like a mistake, one line each with its place.
        path: where it was read.

    """

    robot: Robot
    inputs: dict[str, Any] = field(default_factory=dict)
    statics: dict[str, Any] = field(default_factory=dict)
    simulate: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    path: Path | None = None


@public
def read_robot(
    path: str | os.PathLike[str],
    *,
    parameters: Mapping[str, float] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Robot:
    """Read a robot from a file.

    Args:
        path: a robot file (.yaml), or a URDF (.urdf).
        parameters: values in place of the defaults in the file.
        folder: files that the robot file names must lie in this folder or below; in its own if not given.

    Returns:
        The robot. A file with mistakes raises a FileError that lists all of them with their lines.

    """
    file = read_file(path, parameters=parameters, folder=folder)
    for note in file.notes:
        warn(note)
    return file.robot


@public
def read_file(
    path: str | os.PathLike[str],
    *,
    parameters: Mapping[str, float] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> RobotFile:
    """Read a robot file with its inputs and settings; like `read_robot`, but warnings are returned as notes."""
    target = as_path(path)
    if target.suffix.lower() == ".urdf":
        from anguilla.files.urdf import read_urdf

        notes: list[str] = []
        return RobotFile(read_urdf(target, notes=notes), notes=tuple(notes), path=target)
    problems = Problems()
    problems.folder = None if folder is None else Path(folder).resolve()
    root = gather(target, SECTIONS, problems)
    return _Reader(root, as_named(parameters, "parameters"), problems, target).read()


@public
def read_text_file(text: str, *, name: str = "(text)", parameters: Mapping[str, float] | None = None) -> RobotFile:
    """Read a robot file from its text."""
    problems = Problems()
    return _Reader(
        gather_text(text, name, SECTIONS, problems), as_named(parameters, "parameters"), problems, None
    ).read()


def check_runs(text: str, robot: Robot) -> None:
    """Refuse inputs and settings, in the text of a robot's file, with which it could not be read."""
    problems = Problems()
    reader = _Reader(gather_text(text, ARGUMENTS, SECTIONS, problems), {}, problems, None)
    reader.robot = robot
    reader.runs()
    problems.check()


class _Reader:
    def __init__(self, root: Node, given: Mapping[str, float], problems: Problems, path: Path | None) -> None:
        self.root, self.sections, self.problems, self.path = root, root.value, problems, path
        self.notes: list[str] = []
        self.parameters = parameters_of(self.sections.get("parameters"), given, problems)
        names = {name: parameter.value for name, parameter in self.parameters.items()}
        for name in self.sections["parameters"].value if "parameters" in self.sections else ():
            names.setdefault(name, 1.0)  # a parameter with a problem of its own causes no others
        self.robot = Robot()
        self.finder = Finder(self.robot)
        definitions = self.sections["define"].value if "define" in self.sections else {}
        self.builder = self.finder.builder = RobotBuilder(problems, names, definitions, self.finder, self.notes, path)

    def read(self) -> RobotFile:
        self._head()
        if "urdf" in self.sections:
            self._urdf(self.sections["urdf"])
        self._parts()
        self._definitions()
        self._actuators()
        for section, method in OBJECTS.items():
            kinds = kinds_of(method)
            self._entries(section, lambda *entry, method=method, kinds=kinds: self._object(method, kinds, *entry))
        for section, method in METHODS.items():
            self._entries(section, lambda node, name, path, method=method: self._call(method, node, name, path))
        for section, (method, kind) in NAMED.items():
            self._named(section, method, kind)
        inputs, settings = self.runs()
        self._attempt(self.root, "parts", self.robot.check_size)
        self.problems.check()
        return RobotFile(
            self.robot, inputs, **settings, parameters=self.parameters, notes=tuple(self.notes), path=self.path
        )

    # head -------------------------------------------------------------------------------------------------------------

    def _head(self) -> None:
        version = self.sections.get("anguilla")
        if version is not None and version.value != VERSION:
            hint = f"This version of the library reads version {VERSION}."
            self.builder.problem(version, "anguilla", f"the file has version {version.plain} of the format.", hint)
        name = self.sections.get("name")
        stem = "".join(c if c.isalnum() or c in "_-" else "_" for c in self.path.stem) if self.path else "robot"
        self._attempt(name, "name", lambda: setattr(self.robot, "name", Robot(name.value if name else stem).name))
        gravity = self.sections.get("gravity")
        if gravity is not None:
            value = self.builder.value(gravity, Form(number=True, function=True), "gravity")
            if value is not BAD:
                self._attempt(gravity, "gravity", lambda: setattr(self.robot, "gravity", value))

    def _attempt(self, node: Node | None, path: str, work: Any, advice: str = "") -> Any:
        """Do something that may refuse; note the problem."""
        try:
            return work()
        except (DescriptionError, ArithmeticError, ValueError, TypeError) as error:
            advice = advice or "See the description of this section in the documentation of robot files."
            return self.builder.problem(node or self.root, path, *split_error(str(error), advice))

    # parts ------------------------------------------------------------------------------------------------------------

    def _urdf(self, section: Node) -> None:
        from anguilla.files.urdf import add_urdf_section

        entries = section.value if isinstance(section.value, list) else [section]
        for k, entry in enumerate(entries):
            path = f"urdf[{k}]" if isinstance(section.value, list) else "urdf"
            add_urdf_section(self.robot, entry, path, self.path, self.builder, self.finder, self.notes)

    def _parts(self) -> None:
        """Add the parts in the order of the file, a parent before its children."""
        nodes = self.sections["parts"].value if "parts" in self.sections else {}
        volumes = self.sections["volumes"].value if "volumes" in self.sections else {}
        makers = {frame: name for name, node in volumes.items() for frame in frames_of(node)}
        if not nodes and not volumes and not self.robot.parts:
            hint = "Write 'parts:' and below it, indented, the parts by name."
            self.builder.problem(self.root, "parts", "the robot has no parts.", hint)
        for name in nodes:
            if name in self.finder.known or name in self.finder.links:
                self.builder.problem(
                    nodes[name], f"parts.{name}", "a link of the URDF has this name.", "Choose another."
                )
        soft = dict(volumes)
        waiting = dict(nodes) | soft

        def is_ready(name: str) -> bool:
            above = hangs_on(waiting[name]) if name in soft else [_parent(waiting[name])]
            before = [makers.get(str(one), one) for one in above]
            return all(one not in waiting or one == name for one in before)

        while waiting:
            ready = [name for name in waiting if is_ready(name)]
            if not ready:
                around = ", ".join(waiting)
                for name, node in waiting.items():
                    hint = "One of them must be attached to the ground or to a part outside the circle."
                    self.builder.problem(node, f"parts.{name}.at", f"the parts {around} hang on each other.", hint)
                    self.finder.known[name] = BAD
                return
            name, node = ready[0], waiting.pop(ready[0])
            if name in soft:
                add_volume(self.robot, name, node, self.builder, self.finder)
            else:
                self.finder.known[name] = self._part(name, node)
        add_contacts(self.robot, soft, self.builder, self.finder)

    def _part(self, name: str, node: Node) -> Any:
        path = f"parts.{name}"
        if not isinstance(node.value, dict):
            hint = "Write {rod: ..., at: ground} or {body: ..., at: arm.tip, joint: ...}."
            return self.builder.problem(node, path, f"got {show(node.plain)}.", hint)
        kinds = {"rod": (Rod,), "body": (RigidBody,)}
        given = [key for key in kinds if key in node.value]
        extra = _arguments(Robot.add)
        allowed = (*kinds, "at", "pose", *(key for key in extra if key not in ("part", "at", "pose", "name")))
        fine = True
        for key in node.value:
            if key not in allowed:
                hint = f"The fields of a part are: {', '.join(allowed)}{did_you_mean(key, allowed)}."
                self.problems.add(node.keys[key], f"{path}.{key}", "a part has no such field.", hint)
                fine = False
        if len(given) != 1:
            self.builder.problem(
                node, path, f"it has {' and '.join(given) or 'no rod and no body'}.", "Give one: rod or body."
            )
            fine = False
        if "at" not in node.value:
            hint = "Give the frame it is attached to: ground, arm.tip, arm[0.25], hand."
            self.builder.problem(node, f"{path}.at", "it is missing.", hint)
            fine = False
        values = {
            key: self._part_field(key, child, path, kinds, extra) for key, child in node.value.items() if key in allowed
        }
        if not fine or any(value is BAD for value in values.values()):
            return BAD
        part = values.pop(given[0])
        return self._attempt(node, path, lambda: self.robot.add(part, name=name, **values))

    def _part_field(self, key: str, node: Node, path: str, kinds: Any, extra: Mapping[str, Form]) -> Any:
        where = f"{path}.{key}"
        if key in kinds:
            return self.builder.object(node, kinds[key], where)
        if key == "at":
            return self.finder.frame(node, where)
        if key == "pose":
            return self.finder.pose(node, where)
        return self.builder.value(node, extra[key], where)

    def _definitions(self) -> None:
        """Check the definitions that nothing uses."""
        used = {name for name, _ in self.builder.made_of}
        for name, node in self.builder.definitions.items():
            if name in used:
                continue
            path, given = f"define.{name}", node.value.get("type") if isinstance(node.value, dict) else None
            types = {maker.name: maker for maker in makers()}
            if given is None or given.value not in types:
                close = did_you_mean(str(given.value), types) if given is not None else ""
                hint = f"A definition is a dictionary with a type: {', '.join(types)}{close}."
                self.builder.problem(given or node, f"{path}.type", "the type is missing or unknown.", hint)
                continue
            choices = [maker for maker in makers() if maker.name == given.value]
            fitting = [maker for maker in choices if all(key == "type" or key in maker.fields for key in node.value)]
            self.builder.make((fitting or choices)[0], node, path)

    # loads and actuators ----------------------------------------------------------------------------------------------

    def _actuators(self) -> None:
        self._named("actuators", "actuate", Actuator)

    def _named(self, section: str, method: str, kind: type) -> None:
        """Give the objects of a section to a method of the robot, by name."""
        nodes = self.sections[section].value if section in self.sections else {}
        for name, node in nodes.items():
            path = f"{section}.{name}"
            thing = self.builder.object(node, (kind,), path)
            if thing is not BAD:
                self._attempt(node, path, lambda name=name, thing=thing: getattr(self.robot, method)(name, thing))

    def _entries(self, section: str, add: Any) -> None:
        """Add the entries of a section that is a list, or a dictionary by name."""
        node = self.sections.get(section)
        if node is None:
            return
        named = isinstance(node.value, dict)
        kind = node.value.get("type") if named else None
        if kind is not None and isinstance(kind.value, str):
            hint = f"Write a list: {section}: [{{type: {kind.value}, ...}}], or give it a name."
            self.builder.problem(node, section, "a single entry stands where a list of them is expected.", hint)
            return
        for key, child in node.value.items() if named else enumerate(node.value):
            add(child, key if named else None, f"{section}.{key}" if named else f"{section}[{key}]")

    def _object(self, method: str, kinds: tuple[type, ...], node: Node, name: str | None, path: str) -> None:
        """Give an object to a method of the robot; an entry of a dictionary has its key as name."""
        if isinstance(node.value, dict) and name is not None and "name" not in node.value:
            node = Node({**node.value, "name": Node(name, node.place)}, node.place, {**node.keys, "name": node.place})
        thing = self.builder.object(node, kinds, path)
        if thing is not BAD:
            self._attempt(node, path, lambda: getattr(self.robot, method)(thing))

    def _call(self, method: str, node: Node, name: str | None, path: str) -> None:
        """Call a method of the robot with the fields of an entry."""
        function = getattr(self.robot, method)
        if not isinstance(node.value, dict):
            self.builder.problem(
                node, path, f"got {show(node.plain)}.", f"Give the fields {', '.join(_arguments(function))}."
            )
            return
        fixed = {"name": name} if name is not None and "name" in inspect.signature(function).parameters else {}
        rest = dict(node.value)
        if "pose" in rest:
            fixed["pose"] = self.finder.pose(rest.pop("pose"), f"{path}.pose", moving=True)
        if fixed.get("pose") is not BAD:
            self.builder.make(Maker(method, function, Robot), Node(rest, node.place, node.keys), path, **fixed)

    # inputs and settings ----------------------------------------------------------------------------------------------

    def runs(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Inputs, and the settings of the solvers."""
        return self._inputs(), {name: self._settings(name) for name in SETTINGS}

    def _inputs(self) -> dict[str, Any]:
        node = self.sections.get("inputs")
        found = {}
        wished = [*(self.sections["actuators"].value if "actuators" in self.sections else {}), *self.robot.inputs]
        volumes = self.sections["volumes"].value if "volumes" in self.sections else {}
        wished += [key for name, node in volumes.items() for key in inputs_of(name, node)]
        wished = list(dict.fromkeys(wished))
        for name, child in node.value.items() if node is not None else ():
            if name not in wished:
                hint = f"The inputs are: {', '.join(wished) or 'none'}{did_you_mean(name, wished)}."
                self.problems.add(node.keys[name], f"inputs.{name}", "there is no such input.", hint)
                continue
            value = self.builder.value(child, Form(number=True, function=True), f"inputs.{name}")
            if isinstance(value, (list, tuple)):
                hint = "It must be one number, a formula of t, or a table {t: [...], values: [...]}."
                value = self.builder.problem(child, f"inputs.{name}", f"got {show(value)}.", hint)
            elif isinstance(value, (int, float)):
                self._attempt(child, f"inputs.{name}", partial(self._check_input, name, float(value)))
            found[name] = value
        return found

    def _check_input(self, name: str, value: float) -> None:
        """Refuse a constant input that solvers would: one of a tendon that pushes, or beyond the limits of a volume."""
        if name in self.robot.actuators:
            self.robot.actuators[name].refuse_pushing(name, np.array([value]), np.zeros(1))
        for volume in self.robot.volumes:
            if name in volume.inputs:
                check_input(volume, name, value)

    def _settings(self, section: str) -> dict[str, Any]:
        node, forms, found = self.sections.get(section), SETTINGS[section], {}
        for key, child in node.value.items() if node is not None else ():
            if key not in forms:
                hint = f"The settings of {section} are: {', '.join(forms)}{did_you_mean(key, forms)}."
                self.problems.add(node.keys[key], f"{section}.{key}", "there is no such setting.", hint)
                continue
            found[key] = self.builder.value(child, forms[key], f"{section}.{key}")
            if found[key] not in CHOICES.get(key, (found[key],)) and found[key] is not BAD:
                found[key] = self.builder.problem(
                    child,
                    f"{section}.{key}",
                    f"got {show(child.plain)}.",
                    f"It must be one of {', '.join(CHOICES[key])}.",
                )
        if node is not None and not any(value is BAD for value in found.values()):
            self._check_settings(section, node, found)
        return found

    def _check_settings(self, section: str, node: Node, found: Mapping[str, Any]) -> None:
        """Refuse what the solver would: each setting by itself, then a step that does not divide the duration."""
        before = len(self.problems)
        for key, value in found.items():
            if key in CHECKS and value is not None:
                self._attempt(node.value[key], f"{section}.{key}", partial(CHECKS[key], value, key))
        if len(self.problems) == before and {"duration", "dt"} <= found.keys():
            steps = partial(as_steps, found["duration"], found["dt"])
            if self._attempt(node.value["dt"], f"{section}.dt", steps) is not BAD and "every" in found:
                self._attempt(node.value["every"], f"{section}.every", partial(steps, found["every"]))


def _parent(node: Node) -> str | None:
    """Name of the part another one is attached to, as far as it can be read."""
    at = node.value.get("at") if isinstance(node.value, dict) else None
    while at is not None and isinstance(at.value, dict):
        at = at.value.get("frame")
    if at is None or not isinstance(at.value, str):
        return None
    return at.value.split(".")[0].split("[")[0].strip()


def kinds_of(method: str) -> tuple[type, ...]:
    """Classes of the objects a method of the robot takes."""
    (hint, *_) = [hint for name, hint in typing.get_type_hints(getattr(Robot, method)).items() if name != "return"]
    return (getattr(hint, "__bound__", None) or hint,)


def _arguments(function: Any) -> dict[str, Form]:
    """Forms of the arguments of a method."""
    hints = typing.get_type_hints(function)
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    return {name: form_of(hints.get(name, float)) for name in names}
