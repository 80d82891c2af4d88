"""Robot files: write them. What is written reads back as the same robot, to the last digit."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe.frames import BodyHandle, RodHandle
from anguilla.describe.joints import Fixed
from anguilla.describe.ports import Drive
from anguilla.describe.robot import Robot
from anguilla.errors import AnguillaError, DescriptionError, as_path, refuse
from anguilla.files.read import METHODS, OBJECTS, VERSION, check_runs
from anguilla.files.unmake import Unmaker, frame_text, pose_text, same
from anguilla.files.volumes import volume_section

__all__ = ["robot_document", "robot_text", "to_yaml", "write_robot"]

WIDTH = 118
_PLAIN = re.compile(r"[A-Za-z_][\w.\- ]*(\[[\d.e+-]+\])?")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "~"}


@public
def write_robot(
    robot: Robot,
    path: str | os.PathLike[str],
    *,
    inputs: Mapping[str, Any] | None = None,
    simulate: Mapping[str, Any] | None = None,
) -> Path:
    """Write a robot to a file.

    Args:
        robot: the robot; functions in it must be given as `Expression` or `Table`.
        path: file to write, .yaml or .yml.
        inputs: inputs of its actuators, numbers or functions of t.
        simulate: settings of a simulation, such as {"duration": 2.0, "dt": 0.01}.

    Returns:
        The path of the file.

    """
    target = as_path(path)
    if target.suffix.lower() not in (".yaml", ".yml"):
        raise DescriptionError(f"path must end in .yaml or .yml; got {str(target)!r}.")
    if not target.parent.is_dir():
        raise DescriptionError(f"path must lie in an existing folder; there is no folder {str(target.parent)!r}.")
    text = robot_text(robot, inputs=inputs, simulate=simulate)
    if inputs or simulate:
        check_runs(text, robot)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, target)
    except OSError as error:
        raise AnguillaError(
            f"{str(target)!r} could not be written ({error.strerror}); what was there before is unchanged."
        ) from None
    finally:
        part.unlink(missing_ok=True)
    return target


@public
def robot_text(
    robot: Robot,
    *,
    inputs: Mapping[str, Any] | None = None,
    simulate: Mapping[str, Any] | None = None,
    times: ArrayLike | None = None,
) -> str:
    """Return the text of the file of a robot.

    Args:
        robot: the robot.
        inputs: inputs of its actuators.
        simulate: settings of a simulation.
        times: instants (nt,) [s]: functions written in Python are then sampled there, and along the rods, and written as
            tables; without it they are refused.

    Returns:
        The text.

    """
    file, sampled = robot_document(robot, inputs=inputs, simulate=simulate, times=times)
    head = "# A robot of Anguilla; all units are SI.\n"
    if sampled:
        head += f"# Tables in place of functions written in Python: {', '.join(sampled)}.\n"
    return head + to_yaml(file)


@public
def robot_document(
    robot: Robot,
    *,
    inputs: Mapping[str, Any] | None = None,
    simulate: Mapping[str, Any] | None = None,
    times: ArrayLike | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Return the file of a robot as plain values, and the fields in which a table stands for a function.

    The arguments are those of `robot_text`.
    """
    if not isinstance(robot, Robot):
        raise refuse("robot", "a Robot (that of a result or a part is its .robot)", robot)
    moments = None if times is None else np.unique(np.asarray(times, dtype=np.float64))
    unmaker = Unmaker(moments)
    file: dict[str, Any] = {"anguilla": VERSION, "name": robot.name}
    gravity = unmaker.value(robot.gravity, "gravity")
    if not same(robot.gravity, (0.0, 0.0, -9.81)):
        file["gravity"] = gravity
    file["define"] = _definitions(robot, unmaker)
    whole = [part for part in robot.parts if isinstance(part, (RodHandle, BodyHandle))]  # not those that closures add
    file["parts"] = {part.name: _part(part, unmaker) for part in whole}
    file["volumes"] = volume_section(robot, unmaker)
    file["actuators"] = {name: unmaker.object(a, f"actuators.{name}") for name, a in robot.actuators.items()}
    for section in OBJECTS:
        file[section] = [_object(thing, f"{section}[{k}]", unmaker) for k, thing in enumerate(getattr(robot, section))]
    for section in METHODS:
        file[section] = {
            name: _closure(entry, f"{section}.{name}", unmaker) for name, entry in getattr(robot, section).items()
        }
    drives = {name: drive for name, drive in robot.drives.items() if drive != Drive()}
    file["drives"] = {name: unmaker.object(drive, f"drives.{name}") for name, drive in drives.items()}
    file["sensors"] = {name: unmaker.object(sensor, f"sensors.{name}") for name, sensor in robot.sensors.items()}
    file["inputs"] = {name: unmaker.value(value, f"inputs.{name}") for name, value in (inputs or {}).items()}
    file["simulate"] = {name: unmaker.value(value, f"simulate.{name}") for name, value in (simulate or {}).items()}
    return {key: value for key, value in file.items() if value not in ({}, [])}, unmaker.sampled


def _definitions(robot: Robot, unmaker: Unmaker) -> dict[str, Any]:
    """Materials and rods that are used more than once get a name."""
    rods = [part.rod for part in robot.parts if isinstance(part, RodHandle)]
    unique = list({id(rod): rod for rod in rods}.values())
    counts = Counter(id(rod.material) for rod in unique)
    materials = {id(rod.material): rod.material for rod in unique if counts[id(rod.material)] > 1}
    taken = {part.name for part in robot.parts}
    found: dict[str, Any] = {}
    for thing in materials.values():
        name = _fresh("material", {*taken, *found})
        found[name] = unmaker.object(thing, f"define.{name}")
        unmaker.names[id(thing)] = name
    repeated = Counter(id(rod) for rod in rods)
    for rod in unique:
        if repeated[id(rod)] > 1:
            name = _fresh(rod.name or "rod", {*taken, *found})
            unmaker.length = rod.length
            found[name] = unmaker.object(rod, f"define.{name}")
            unmaker.names[id(rod)] = name
    return found


def _fresh(stem: str, taken: set[str]) -> str:
    number, name = 1, stem
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    return name


def _part(part: Any, unmaker: Unmaker) -> dict[str, Any]:
    path = f"parts.{part.name}"
    found: dict[str, Any] = {}
    if isinstance(part, BodyHandle):
        found["body"] = unmaker.object(part.body, f"{path}.body")
    else:
        unmaker.length = part.length
        found["rod"] = unmaker.object(part.rod, f"{path}.rod")
    thing = next(iter(found.values()))
    if isinstance(thing, dict):
        thing.pop("type")
    found["at"] = frame_text(part.parent)
    if not np.array_equal(part.pose, np.eye(4)):
        found["pose"] = pose_text(part.pose)
    joint = unmaker.object(part.joint, f"{path}.joint")
    if type(part.joint) is not Fixed:
        found["joint"] = joint
    return found


def _object(thing: Any, path: str, unmaker: Unmaker) -> Any:
    rod = getattr(thing, "part", None)
    if isinstance(rod, RodHandle):
        unmaker.length = rod.length
    return unmaker.object(thing, path)


def _closure(closure: Any, path: str, unmaker: Unmaker) -> dict[str, Any]:
    """A closure as it was asked for: a joint with coordinates of its own is a part that the robot added."""
    a, joint, pose = closure.a, closure.joint, closure.pose
    part = None if a.is_ground else a.part
    if part is not None and not isinstance(part, (RodHandle, BodyHandle)):
        a, joint, pose = part.parent, part.joint, part.pose
    found: dict[str, Any] = {"a": frame_text(a), "b": frame_text(closure.b)}
    if callable(pose):
        found["pose"] = unmaker.value(pose, f"{path}.pose")
    elif not np.array_equal(pose, np.eye(4)):
        found["pose"] = pose_text(np.asarray(pose))
    if type(joint) is not Fixed:
        found["joint"] = unmaker.object(joint, f"{path}.joint")
    return found


# text -----------------------------------------------------------------------------------------------------------------


def to_yaml(value: Any, indent: int = 0) -> str:
    """Return plain values as YAML: short ones on one line."""
    if not isinstance(value, dict) or not value:
        return " " * indent + _flow(value) + "\n"
    lines = []
    for key, item in value.items():
        start = " " * indent + f"{_text(str(key))}:"
        short = f"{start} {_flow(item)}"
        if not isinstance(item, (dict, list)) or not item or (len(short) <= WIDTH and indent):
            lines.append(short + "\n")
        elif isinstance(item, dict):
            lines.append(start + "\n" + to_yaml(item, indent + 2))
        elif _is_numbers(item) and not (indent == 0 and any(isinstance(entry, dict) for entry in item)):
            lines.append(short + "\n")
        else:
            lines.append(start + "\n" + "".join(f"{' ' * (indent + 2)}- {_flow(entry)}\n" for entry in item))
    return "".join(lines)


def _is_numbers(item: list[Any]) -> bool:
    return all(not isinstance(entry, dict) for entry in item)


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(str(key))}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if not np.isfinite(value):
        raise DescriptionError(f"a file cannot hold the number {value!r}.")
    return repr(value)


def _text(value: str) -> str:
    safe = _PLAIN.fullmatch(value) and value.lower() not in _WORDS and value == value.strip() and "[" not in value
    return value if safe else json.dumps(value, ensure_ascii=False)
