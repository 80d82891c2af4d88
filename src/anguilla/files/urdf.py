"""Rigid robots from URDF files: links become bodies, or frames of their parent when they have no mass and do not move.

Meshes are not read: a link is drawn as its first box, cylinder or sphere. Limits of joints are not part of the model.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla.describe.bodies import RigidBody, Shape
from anguilla.describe.description import did_you_mean
from anguilla.describe.frames import BodyHandle, Frame
from anguilla.describe.joints import Fixed, Free, Joint, Planar, Prismatic, Revolute
from anguilla.describe.robot import Robot
from anguilla.errors import DescriptionError
from anguilla.files.places import rpy
from anguilla.files.problems import FileError, Problem
from anguilla.files.sources import included_path
from anguilla.files.text import Node, read_text

if TYPE_CHECKING:
    from anguilla.files.build import RobotBuilder
    from anguilla.files.places import Finder

__all__ = ["add_urdf", "read_urdf"]

Array = NDArray[np.float64]
JOINTS = ("fixed", "revolute", "continuous", "prismatic", "floating", "planar")


@public
def read_urdf(path: str | os.PathLike[str], *, base: str = "fixed", notes: list[str] | None = None) -> Robot:
    """Return a robot made from a URDF file alone; the arguments are those of `add_urdf`."""
    target = Path(path)
    robot = Robot(_clean(_parse(target).get("name", target.stem)))
    try:
        add_urdf(robot, target, at=robot.ground, base=base, notes=notes)
    except FileError:
        raise
    except DescriptionError as error:
        raise _error(target, str(error).rstrip("."), "See the element named in the message.") from None
    return robot


@public
def add_urdf(
    robot: Robot,
    path: str | os.PathLike[str],
    *,
    at: Frame,
    pose: ArrayLike | None = None,
    prefix: str = "",
    base: str = "fixed",
    notes: list[str] | None = None,
) -> dict[str, Frame]:
    """Add the links of a URDF file to a robot.

    Args:
        robot: the robot.
        path: the file.
        at: frame the root link is attached to.
        pose: fixed pose (4, 4) of the root link in that frame, translation in [m].
        prefix: put before the names of all links.
        base: "fixed", or "free" for a root link that floats.
        notes: gets one line for each thing that was left out (meshes, limits).

    Returns:
        The frames of the links by their names with the prefix: attach rods to them.

    """
    target, remarks = Path(path), notes if notes is not None else []
    model = _parse(target)
    links = {element.get("name", ""): element for element in model.findall("link")}
    joints = {_child(element): element for element in model.findall("joint")}
    roots = [name for name in links if name not in joints]
    if len(roots) != 1:
        raise _error(
            target, f"it has {len(roots)} root links ({', '.join(roots) or 'none'})", "Exactly one link has no parent."
        )
    if base not in ("fixed", "free"):
        raise DescriptionError(f"base must be 'fixed' or 'free'; got {base!r}.")
    place = np.eye(4) if pose is None else np.asarray(pose, dtype=np.float64)
    adder = _Adder(robot, target, links, prefix, remarks)
    adder.link(roots[0], at, place, Free() if base == "free" else Fixed())
    while joints:
        ready = [name for name, joint in joints.items() if _parent(joint) in adder.frames]
        if not ready:
            raise _error(target, f"the links {', '.join(joints)} hang on no root", "Check the parents of their joints.")
        for name in ready:
            joint = joints.pop(name)
            adder.link(name, adder.frames[_parent(joint)], _origin(joint), _joint(joint, target, remarks))
    return {prefix + name: frame for name, frame in adder.frames.items()}


@dataclass
class _Adder:
    robot: Robot
    path: Path
    links: dict[str, ET.Element]
    prefix: str
    notes: list[str]

    def __post_init__(self) -> None:
        self.frames: dict[str, Frame] = {}

    def link(self, name: str, at: Frame, pose: Array, joint: Joint) -> None:
        """Add one link; without mass it is a frame of its parent."""
        if name not in self.links:
            hint = f"The links are: {', '.join(self.links)}{did_you_mean(name, self.links)}."
            raise _error(self.path, f"a joint leads to the link {name!r}, which is not there", hint)
        body = _body(self.links[name], self.path, self.notes)
        if body is None:
            if joint.size:
                raise _error(
                    self.path,
                    f"the link {name!r} moves but has no mass",
                    "Give it an <inertial> with a mass, or fix it.",
                )
            self.frames[name] = at.offset_by(pose)
            return
        handle = self.robot.add(body, at=at, pose=pose, joint=joint, name=_clean(self.prefix + name))
        assert isinstance(handle, BodyHandle)
        self.frames[name] = handle.frame


def _parse(path: Path) -> ET.Element:
    text = read_text(path)
    if "<!" in text.replace("<!--", ""):  # no document type, hence no entities that unfold
        line = text[: text.replace("<!--", "    ").index("<!")].count("\n") + 1
        raise _error(path, "it has a document type or entities", "Remove everything that begins with '<!'.", line)
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise _error(path, f"it is not XML: {error}", "Repair it near this place.", error.position[0]) from None
    except ValueError as error:
        raise _error(path, f"it is not XML: {error}", "Write it in UTF-8 without an encoding declaration.") from None
    if root.tag != "robot":
        raise _error(path, f"its first element is <{root.tag}>", "A URDF file begins with <robot name=...>.")
    return root


def _error(path: Path, message: str, suggestion: str, line: int = 1) -> FileError:
    return FileError([Problem(str(path), line, 1, "urdf", message + ".", suggestion)])


def _clean(name: str) -> str:
    """A name the library accepts."""
    kept = "".join(c if c.isalnum() or c in "_-" else "_" for c in name) or "link"
    return kept if kept[0].isalpha() or kept[0] == "_" else "_" + kept


def _numbers(element: ET.Element | None, key: str, default: tuple[float, ...], path: str = "") -> Array:
    if element is None or element.get(key) is None:
        return np.array(default)
    try:
        values = np.array([float(part) for part in element.get(key, "").split()])
    except ValueError:
        values = np.zeros(0)
    if values.shape != (len(default),) or not np.all(np.isfinite(values)):
        raise DescriptionError(f"<{element.tag} {key}> must be {len(default)} numbers; got {element.get(key)!r}.")
    return values


def _origin(element: ET.Element) -> Array:
    origin = element.find("origin")
    pose = np.eye(4)
    pose[:3, :3] = rpy(_numbers(origin, "rpy", (0.0, 0.0, 0.0)))
    pose[:3, 3] = _numbers(origin, "xyz", (0.0, 0.0, 0.0))
    return pose


def _named(joint: ET.Element, tag: str) -> str:
    found = joint.find(tag)
    return "" if found is None else found.get("link", "")


def _parent(joint: ET.Element) -> str:
    return _named(joint, "parent")


def _child(joint: ET.Element) -> str:
    return _named(joint, "child")


def _joint(element: ET.Element, path: Path, notes: list[str]) -> Joint:
    name, kind = element.get("name", "?"), element.get("type", "")
    if kind not in JOINTS:
        hint = f"The types are: {', '.join(JOINTS)}{did_you_mean(kind, JOINTS)}."
        raise _error(path, f"joint {name!r} has the type {kind!r}", hint)
    if element.find("mimic") is not None:
        raise _error(path, f"joint {name!r} mimics another one", "Coupled joints are not supported: remove <mimic>.")
    if element.find("limit") is not None and kind in ("revolute", "prismatic"):
        notes.append(f"{path}: joint {name}: its limits are not part of the model.")
    if kind == "fixed":
        return Fixed()
    if kind == "floating":
        return Free()
    axis = _numbers(element.find("axis"), "xyz", (1.0, 0.0, 0.0))
    damping = float(_numbers(element.find("dynamics"), "damping", (0.0,))[0])
    if kind == "planar":
        return Planar(axis)
    return Prismatic(axis, damping=damping) if kind == "prismatic" else Revolute(axis, damping=damping)


def _body(link: ET.Element, path: Path, notes: list[str]) -> RigidBody | None:
    inertial = link.find("inertial")
    mass = 0.0 if inertial is None else float(_numbers(inertial.find("mass"), "value", (0.0,))[0])
    if inertial is None or mass == 0.0:
        return None
    pose = _origin(inertial)
    terms = inertial.find("inertia")
    xx, xy, xz, yy, yz, zz = (
        float(_numbers(terms, key, (0.0,))[0]) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    inertia = pose[:3, :3] @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ pose[:3, :3].T
    if np.count_nonzero(inertia - np.diag(np.diag(inertia))) == 0:
        inertia = np.diag(inertia)
    shape = _shape(link, path, notes)
    return RigidBody(mass, inertia if np.any(inertia) else None, tuple(pose[:3, 3]), shape=shape)


def _shape(link: ET.Element, path: Path, notes: list[str]) -> Shape | None:
    """The first simple shape of a link, along the body axes; the axis of a URDF cylinder is z, ours x: drawn as a box."""
    for geometry in (*link.findall("visual/geometry"), *link.findall("collision/geometry")):
        box, cylinder, sphere = (geometry.find(tag) for tag in ("box", "cylinder", "sphere"))
        if box is not None:
            return Shape("box", tuple(_numbers(box, "size", (0.1, 0.1, 0.1)).tolist()))
        if cylinder is not None:
            width = 2.0 * float(_numbers(cylinder, "radius", (0.05,))[0])
            return Shape("box", (width, width, float(_numbers(cylinder, "length", (0.1,))[0])))
        if sphere is not None:
            return Shape("sphere", (float(_numbers(sphere, "radius", (0.05,))[0]),))
        notes.append(f"{path}: link {link.get('name')}: its mesh is not drawn.")
    return None


def add_urdf_section(
    robot: Robot, node: Node, path: str, file: Path | None, builder: RobotBuilder, finder: Finder, notes: list[str]
) -> None:
    """The section `urdf` of a robot file: {file, at, pose, prefix, base}."""
    allowed = ("file", "at", "pose", "prefix", "base")
    advice = "Write 'urdf: {file: arm.urdf, at: ground}'."
    if not isinstance(node.value, dict) or not isinstance(getattr(node.value.get("file"), "value", None), str):
        builder.problem(node, f"{path}.file", "there is no file.", advice)
        return
    for key in node.value:
        if key not in allowed:
            hint = f"Its fields are: {', '.join(allowed)}{did_you_mean(key, allowed)}."
            builder.problems.add(node.keys[key], f"{path}.{key}", "there is no such field.", hint)
    values = {key: str(node.value[key].value) for key in ("prefix", "base") if key in node.value}
    at = finder.frame(node.value["at"], f"{path}.at") if "at" in node.value else robot.ground
    pose = finder.pose(node.value["pose"], f"{path}.pose") if "pose" in node.value else None
    if not isinstance(at, Frame) or not (pose is None or isinstance(pose, np.ndarray)):
        return
    name = node.value["file"]
    if file is None:
        builder.problem(name, f"{path}.file", "a text cannot name files.", "Read it from a file.")
        return
    target = included_path(name, f"{path}.file", file, file.resolve().parent, builder.problems)
    if target is None:
        return
    if not target.is_file():
        builder.problem(name, f"{path}.file", f"there is no file {name.value!r}.", "Give a path relative to this file.")
        return
    try:
        frames = add_urdf(robot, target, at=at, pose=pose, notes=notes, **values)
    except FileError as error:
        builder.problems.extend(error.problems)
        return
    except (DescriptionError, ValueError) as error:
        builder.problem(name, f"{path}.file", str(error), advice)
        return
    for label, frame in frames.items():
        if frame.offset is None and not frame.is_ground and isinstance(frame.part, BodyHandle):
            finder.known[label] = frame.part
        else:
            finder.links[label] = frame
