"""Soft volumes in robot files: the section `volumes`, read and written."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from anguilla.describe.description import did_you_mean
from anguilla.describe.frames import BodyHandle, RodHandle
from anguilla.describe.obstacles import Obstacle
from anguilla.errors import DescriptionError, show
from anguilla.files.build import BAD, RobotBuilder
from anguilla.files.expressions import Expression
from anguilla.files.text import Node
from anguilla.files.unmake import Unmaker, frame_text, pose_text
from anguilla.files.wording import split_error
from anguilla.interact.volume_contact import VolumeContact
from anguilla.lie import inverse

if TYPE_CHECKING:
    from anguilla.describe.robot import Robot
    from anguilla.describe.volumes import Patch, VolumeHandle
    from anguilla.files.places import Finder

__all__ = ["HELD", "add_contacts", "add_volume", "check_input", "frames_of", "hangs_on", "inputs_of", "volume_section"]

HELD = ("at", "pose", "patch", "clamps", "frames", "embeds", "contacts")
LAW = ("stiffness", "damping", "friction", "smooth", "spacing", "name")  # of a contact, beside `other` and `surface`
ADVICE = "See the section on volumes in the documentation of robot files."


def _door() -> Any:
    """What makes volumes and reads them; it belongs to a room above this one, and is asked for when a file has volumes."""
    return import_module("anguilla.mixed.volume_file")


def frames_of(node: Node) -> dict[str, Node]:
    """Rigid regions that a volume of a file makes, by name."""
    frames = node.value.get("frames") if isinstance(node.value, dict) else None
    return dict(frames.value) if frames is not None and isinstance(frames.value, dict) else {}


def hangs_on(node: Node) -> list[str]:
    """Names of the parts that must be there before a volume is."""
    found = []
    if isinstance(node.value, dict):
        clamps = node.value.get("clamps")
        embeds = node.value.get("embeds")
        places = [node.value.get("at")]
        for entries, key in ((clamps, "frame"), (embeds, "rod")):
            if entries is not None and isinstance(entries.value, list):
                places += [one.value.get(key) for one in entries.value if isinstance(one.value, dict)]
        for place in places:
            while place is not None and isinstance(place.value, dict):
                place = place.value.get("frame")
            if place is not None and isinstance(place.value, str):
                found.append(place.value.split(".")[0].split("[")[0].strip())
    return found


def inputs_of(name: str, node: Node) -> list[str]:
    """Names of the inputs that a volume of a file brings, whether it can be made or not."""
    actuators = node.value.get("actuators") if isinstance(node.value, dict) else None
    return (
        [f"{name}.{key}" for key in actuators.value]
        if actuators is not None and isinstance(actuators.value, dict)
        else []
    )


def check_input(handle: VolumeHandle, name: str, value: float) -> None:
    """Refuse an input such as "pad.pull", a number, beyond the limits of its actuator."""
    _door().check_input(handle.volume, name.removeprefix(f"{handle.name}."), value)


def add_volume(robot: Robot, name: str, node: Node, builder: RobotBuilder, finder: Finder) -> None:
    """Add a volume of a file to the robot; its frames become known to the finder."""
    for frame in frames_of(node):
        finder.links[frame] = BAD  # until it is made
    _add(robot, name, node, builder, finder)


def _add(robot: Robot, name: str, node: Node, builder: RobotBuilder, finder: Finder) -> Any:
    path, fields = f"volumes.{name}", (*_door().FIELDS, *HELD)
    if not isinstance(node.value, dict):
        return builder.problem(node, path, f"got {show(node.plain)}.", f"Give the fields {', '.join(fields)}.")
    for key in node.value:
        if key not in fields:
            hint = f"The fields of a volume are: {', '.join(fields)}{did_you_mean(key, fields)}."
            builder.problems.add(node.keys[key], f"{path}.{key}", "a volume has no such field.", hint)
            return BAD
    at, pose = _frame(node, "at", path, builder, finder), _pose(node, "pose", path, finder)
    if at is BAD or pose is BAD:
        return BAD
    given = {key: _plain(child, builder.names) for key, child in node.value.items() if key not in HELD}
    folder = None if builder.path is None else builder.path.resolve().parent
    try:
        with builder.noting(node.value.get("mesh", node), path):
            volume = _door().make_volume(name, given, folder)
        patch = node.value.get("patch")
        handle = robot.add(volume, at=at, pose=pose, name=name, patch=None if patch is None else patch.plain)
        _hold(handle, node, path, builder, finder)
    except (DescriptionError, ArithmeticError, ValueError, TypeError) as error:
        return builder.problem(node, path, *split_error(str(error), ADVICE))
    return handle


def add_contacts(robot: Robot, nodes: Mapping[str, Node], builder: RobotBuilder, finder: Finder) -> None:
    """Add what the volumes of a file touch; all parts and volumes are there."""
    handles = {handle.name: handle for handle in robot.volumes}
    for name, node in nodes.items():
        if name not in handles:
            continue  # it could not be made, and that is said
        path = f"volumes.{name}.contacts"
        try:
            for k, one in enumerate(_entries(node, "contacts")):
                _touch(handles[name], one, f"{path}[{k}]", builder, finder, handles)
        except (DescriptionError, ValueError, TypeError) as error:
            builder.problem(node, path, *split_error(str(error), ADVICE))


def _touch(
    handle: VolumeHandle, node: Node, path: str, builder: RobotBuilder, finder: Finder, handles: Mapping[str, Any]
) -> Any:
    fields = ("other", "surface", *LAW)
    for key in node.value:
        if key not in fields:
            hint = f"The fields of a contact of a volume are: {', '.join(fields)}{did_you_mean(key, fields)}."
            return builder.problems.add(
                node.keys[key], f"{path}.{key}", "a contact of a volume has no such field.", hint
            )
    if "other" not in node.value:
        hint = (
            "Give what the volume touches: the name of a part or a volume, or an obstacle such as {type: half_space}."
        )
        return builder.problem(node, f"{path}.other", "it is missing.", hint)
    other = node.value["other"]
    if isinstance(other.value, str) and other.value in handles:
        touched = handles[other.value]
    elif isinstance(other.value, str) and other.value in finder.known:
        touched = finder.known[other.value]
    else:
        touched = builder.object(other, (Obstacle,), f"{path}.other")
    if touched is BAD:
        return BAD
    law = {key: _plain(child, builder.names) for key, child in node.value.items() if key != "other"}
    return handle.robot.load(VolumeContact(handle, touched, **law))


def _frame(node: Node, key: str, path: str, builder: RobotBuilder, finder: Finder) -> Any:
    if key not in node.value:
        return builder.problem(
            node, f"{path}.{key}", "it is missing.", "Give a frame: ground, arm.tip, arm[0.25], hand."
        )
    return finder.frame(node.value[key], f"{path}.{key}")


def _pose(node: Node, key: str, path: str, finder: Finder) -> Any:
    return finder.pose(node.value[key], f"{path}.{key}") if key in node.value else None


def _entries(node: Node, key: str) -> list[Node]:
    found = node.value.get(key)
    if found is None:
        return []
    if not isinstance(found.value, list) or not all(isinstance(one.value, dict) for one in found.value):
        raise DescriptionError(f"{key} must be a list of dictionaries.")
    return list(found.value)


def _hold(handle: VolumeHandle, node: Node, path: str, builder: RobotBuilder, finder: Finder) -> None:
    """Weld a volume to frames, make its rigid regions, and let rods run through it."""
    for k, one in enumerate(_entries(node, "clamps")):
        frame, pose = _frame(one, "frame", f"{path}.clamps[{k}]", builder, finder), _pose(one, "pose", path, finder)
        if frame is not BAD and pose is not BAD:
            handle.clamp(_where(one, f"clamps[{k}]"), frame, pose)
    for name, one in frames_of(node).items():
        pose = _pose(one, "at", f"{path}.frames.{name}", finder)
        if pose is not BAD:
            finder.links[name] = handle.frame(name, _where(one, f"frames.{name}"), pose)
    for k, one in enumerate(_entries(node, "embeds")):
        rod, pose = finder.part(one.value["rod"], f"{path}.embeds[{k}].rod"), _pose(one, "pose", path, finder)
        if rod is not BAD and pose is not BAD:
            handle.embed(rod, pose)


def _where(node: Node, path: str) -> Any:
    """Points of the mesh: a named set, or numbers."""
    if not isinstance(node.value, dict) or "where" not in node.value:
        raise DescriptionError(f"{path}: where is missing, a named set of the mesh or numbers of points.")
    return node.value["where"].plain


def _plain(node: Node, names: Mapping[str, float]) -> Any:
    """Plain values; texts that are formulas of the parameters become numbers."""
    if isinstance(node.value, dict):
        return {key: _plain(child, names) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [_plain(child, names) for child in node.value]
    if isinstance(node.value, str):
        try:
            formula = Expression(node.value, names=names)
            return node.value if formula.arguments else formula()
        except DescriptionError:
            return node.value
    return node.value


# back -----------------------------------------------------------------------------------------------------------------


def volume_section(robot: Robot, unmaker: Unmaker) -> dict[str, Any]:
    """The section `volumes` of the file of a robot."""
    return {handle.name: _document(handle, unmaker) for handle in robot.volumes}


def _document(handle: VolumeHandle, unmaker: Unmaker) -> dict[str, Any]:
    found: dict[str, Any] = _door().volume_document(handle.volume)
    found["at"] = frame_text(handle.at)
    if not np.array_equal(handle.pose, np.eye(4)):
        found["pose"] = pose_text(handle.pose)
    clamps, frames = [], {}
    sets: Mapping[str, Any] = handle.volume.mesh.nodes  # type: ignore[attr-defined]
    for patch in handle.patches:
        part = None if patch.frame.is_ground else patch.frame.part
        if part is not None and not isinstance(part, (RodHandle, BodyHandle)):
            assert patch.pose is not None
            frames[part.name] = {"where": _points(patch, sets), "at": pose_text(inverse(patch.pose))}
            continue
        clamp = {"where": _points(patch, sets), "frame": frame_text(patch.frame)}
        clamps.append(clamp if patch.pose is None else clamp | {"pose": pose_text(patch.pose)})
    own = [*handle.volume.contacts, *handle.contacts]  # type: ignore[attr-defined]
    touches = [_contact(each, f"volumes.{handle.name}.contacts[{k}]", sets, unmaker) for k, each in enumerate(own)]
    every = {"clamps": clamps, "frames": frames, "contacts": touches}
    return found | {key: value for key, value in every.items() if value}


def _contact(contact: VolumeContact, path: str, sets: Mapping[str, Any], unmaker: Unmaker) -> dict[str, Any]:
    """A contact of a volume as plain values."""
    other = contact.other
    found = {"other": unmaker.object(other, f"{path}.other") if isinstance(other, Obstacle) else other.name}
    defaults = {field.name: field.default for field in dataclasses.fields(VolumeContact)}
    found |= {key: getattr(contact, key) for key in LAW if getattr(contact, key) != defaults[key]}
    where, body = contact.surface, contact.volume
    if isinstance(where, str):
        found["surface"] = where
    elif where is not None:
        points = (body if contact.holder is None else body.volume).points_of(where, f"{path}.surface")
        same = (name for name, own in sets.items() if np.array_equal(np.sort(own), points))
        found["surface"] = next(same, points.tolist())
    return found


def _points(patch: Patch, sets: Mapping[str, Any]) -> Any:
    """The points of a patch: the name of their set if they have one."""
    same = (name for name, points in sets.items() if np.array_equal(np.sort(points), np.sort(patch.points)))
    return next(same, patch.points.tolist())
