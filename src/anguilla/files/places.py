"""Frames, parts and poses as a file names them: `ground`, `arm.tip`, `arm[0.25]`, `{frame: hand, position: [0, 0, 0.1]}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anguilla.describe.description import did_you_mean
from anguilla.describe.frames import BodyHandle, Frame, Part, RodHandle
from anguilla.describe.joint import as_direction
from anguilla.describe.plausible import check_angle
from anguilla.errors import DescriptionError, as_number, as_pose, as_vector, show
from anguilla.files.build import BAD
from anguilla.files.registry import Form
from anguilla.files.text import Node
from anguilla.files.wording import split_error
from anguilla.lie import rotation, rotation_from_wxyz

if TYPE_CHECKING:
    from anguilla.describe.robot import Robot
    from anguilla.files.build import RobotBuilder

__all__ = ["Finder", "MovingPose"]

_NAME = re.compile(r"(?P<part>[^\W\d][\w-]*)(?:\.(?P<place>\w+)|\[(?P<X>.+)\])?")
ROTATIONS = ("matrix", "axis", "angle", "rpy", "wxyz")
POSE = ("position", *ROTATIONS)
Array = NDArray[np.float64]


INPUT = ("input", "unit", "along")


class Finder:
    """Finds parts and frames of the robot on its way.

    Attributes:
        robot: the robot.
        known: handles by the names of the parts; BAD for a part with a problem.
        links: frames by name, of links that are no part of their own.

    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.known: dict[str, Any] = {}
        self.links: dict[str, Frame] = {}
        self.builder: RobotBuilder

    def part(self, node: Node, path: str) -> Any:
        """Return the handle of a part by its name."""
        if not isinstance(node.value, str) or node.value not in self.known:
            close = did_you_mean(str(node.value), self.known)
            hint = f"The parts are: {', '.join(self.known) or 'none'}{close}."
            return self.builder.problem(node, path, f"there is no part {show(node.plain)}.", hint)
        return self.known[node.value]

    def input(self, node: Node, path: str) -> Any:
        """Return an input of the robot, from its name, unit and direction; it is made where it is first met."""
        for key in node.value:
            if key not in INPUT:
                hint = f"An input has the fields {', '.join(INPUT)}{did_you_mean(key, INPUT)}."
                self.builder.problems.add(node.keys[key], f"{path}.{key}", f"an input has no field {key!r}.", hint)
                return BAD
        name, unit = node.value["input"].value, node.value["unit"].value if "unit" in node.value else ""
        try:
            if name not in self.robot.ports:
                self.robot.input(name, unit)
            port = self.robot.ports[name]
            return port if "along" not in node.value else port.along(node.value["along"].plain)
        except DescriptionError as error:
            return self.builder.problem(node, path, *split_error(str(error), "Write {input: motor, unit: N m}."))

    def is_part(self, name: str, *, bodies: bool) -> bool:
        """Whether this is the name of a rod or, if bodies count, of a body; also of one with a problem."""
        return name in self.known and (bodies or not isinstance(self.known[name], BodyHandle))

    def frame(self, node: Node, path: str) -> Any:
        """Return a frame, from its name or from a dictionary with an offset."""
        if isinstance(node.value, str):
            return self._named(node, path)
        advice = "It must be a name such as ground, arm.tip or arm[0.25], or {frame: name, position: [x, y, z]}."
        if not isinstance(node.value, dict) or "frame" not in node.value:
            return self.builder.problem(node, path, "this is not a frame.", advice)
        frame = self.frame(node.value["frame"], f"{path}.frame")
        rest = {key: child for key, child in node.value.items() if key != "frame"}
        pose = self.pose(Node(rest, node.place, node.keys), path)
        return BAD if frame is BAD or pose is BAD else frame.offset_by(pose)

    def _named(self, node: Node, path: str) -> Any:
        match = _NAME.fullmatch(node.value.strip())
        name = match["part"] if match else node.value
        if match and name == "ground" and match["place"] is None and match["X"] is None:
            return self.robot.ground
        if match and name in self.links and match["place"] in (None, "root") and match["X"] is None:
            return self.links[name]
        if match and path == f"parts.{name}.at":
            return self.builder.problem(
                node, path, f"{name!r} is attached to itself.", "Give a frame of another part, or ground."
            )
        if not match or name not in self.known:
            known = ["ground", *self.links, *self.known]
            hint = f"Frames begin with one of: {', '.join(known)}{did_you_mean(str(name), known)}."
            return self.builder.problem(node, path, f"there is no frame {node.value!r}.", hint)
        part = self.known[name]
        if part is BAD:
            return BAD
        if match["X"] is not None:
            return self._section(node, path, part, match["X"])
        return self._place(node, path, part, match["place"])

    def _place(self, node: Node, path: str, part: Part, place: str | None) -> Any:
        if isinstance(part, BodyHandle):
            valid = ["frame"]
            if place in (None, "frame"):
                return part.frame
        else:
            valid = ["root", "tip"]
            if place in valid:
                return getattr(part, place)
        options = ", ".join(f"{part.name}.{p}" for p in valid) + (f", {part.name}[0.1]" if len(valid) > 1 else "")
        return self.builder.problem(node, path, f"{node.value!r} is not a frame.", f"Did you mean one of: {options}?")

    def _section(self, node: Node, path: str, part: Part, text: str) -> Any:
        if not isinstance(part, RodHandle):
            return self.builder.problem(node, path, f"{part.name} is no rod.", f"Its frame is {part.name}.")
        X = self.builder.formula(Node(text, node.place), Form(number=True), path, ())
        if X is BAD:
            return BAD
        try:
            return part.section(X)
        except DescriptionError as error:
            return self.builder.problem(node, path, *split_error(str(error), f"X lies within {part.length:g} m."))

    def pose(self, node: Node, path: str, moving: bool = False) -> Any:
        """Return a pose (4, 4): a position, a matrix, or a dictionary with a position and one kind of rotation.

        With `moving`, formulas of t are allowed and give a function of t.
        """
        try:
            if moving and _uses_time(node):
                return self._moving(node, path)
            if not isinstance(node.value, dict):
                value = self._numbers(node, path)
                if value is BAD:
                    return BAD
                given = np.asarray(value, dtype=np.float64)
                return as_pose(given, "the pose") if given.ndim == 2 else _place(as_vector(given, 3, "the pose", "m"))
            fields = {key: self._numbers(child, f"{path}.{key}") for key, child in node.value.items()}
            for key in fields:
                if key not in POSE:
                    hint = f"A pose has the fields {', '.join(POSE)}{did_you_mean(key, POSE)}."
                    self.builder.problems.add(node.keys[key], f"{path}.{key}", "a pose has no such field.", hint)
                    return BAD
            if any(value is BAD for value in fields.values()):
                return BAD
            pose = _pose(fields)
            with self.builder.noting(node, path):
                for key in ("angle", "rpy"):
                    check_angle(key, float(np.abs(fields.get(key, 0.0)).max()))
            return pose
        except (DescriptionError, ValueError, TypeError) as error:
            advice = "A pose is [x, y, z], a 4x4 matrix, or {position: [x, y, z], axis: [0, 0, 1], angle: pi / 2}."
            return self.builder.problem(node, path, *split_error(str(error), advice))

    def _moving(self, node: Node, path: str) -> Any:
        form = Form(number=True, function=True)
        if not isinstance(node.value, dict):
            value = self.builder.formula(node, form, path, ("t",))
            return BAD if value is BAD else MovingPose(pose=value)
        fields = {key: self.builder.formula(child, form, f"{path}.{key}", ("t",)) for key, child in node.value.items()}
        if any(value is BAD for value in fields.values()):
            return BAD
        return MovingPose(**fields)

    def _numbers(self, node: Node, path: str) -> Any:
        return self.builder.formula(node, Form(number=True), path, ())


class MovingPose:
    """A pose (4, 4) that depends on the time t [s], from formulas: ``MovingPose(position=Expression(["0", "0", "t"]))``.

    Args:
        fields: position [m], and axis with angle [rad], rpy [rad], wxyz or matrix, each constant or an Expression of t; or
            `pose`, all of it as a position or a matrix.

    """

    def __init__(self, **fields: Any) -> None:
        wrong = [key for key in fields if key not in (*POSE, "pose")]
        if wrong:
            raise DescriptionError(
                f"a pose has no {wrong[0]!r}{did_you_mean(wrong[0], POSE)}; it has {', '.join(POSE)}."
            )
        self.fields = fields
        self(0.0)

    def __call__(self, t: float) -> Array:
        """Return the pose (4, 4) at the time t [s]."""
        now = {key: value(t) if callable(value) else value for key, value in self.fields.items()}
        if "pose" not in now:
            return _pose(now)
        given = np.asarray(now["pose"], dtype=np.float64)
        return as_pose(given, "the pose") if given.ndim == 2 else _place(as_vector(given, 3, "the pose", "m"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MovingPose) and self.fields == other.fields

    __hash__ = None  # type: ignore[assignment]


def _uses_time(node: Node) -> bool:
    """Whether some text in a node has the word t."""
    if isinstance(node.value, dict):
        return any(_uses_time(child) for child in node.value.values())
    if isinstance(node.value, list):
        return any(_uses_time(child) for child in node.value)
    return isinstance(node.value, str) and re.search(r"\bt\b", node.value) is not None


def _place(position: Array) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = position
    return pose


def _pose(fields: Mapping[str, Any]) -> Array:
    pose = _place(as_vector(fields.get("position", (0.0, 0.0, 0.0)), 3, "position", "m"))
    kinds = [key for key in fields if key in ROTATIONS and key != "angle"]
    if len(kinds) > 1 or ("angle" in fields) != ("axis" in fields):
        raise DescriptionError("a pose takes one rotation: matrix, rpy, wxyz, or axis together with angle.")
    if "matrix" in fields:
        block = np.asarray(fields["matrix"], dtype=np.float64)
        if block.shape != (3, 3):
            raise DescriptionError(f"matrix must be a rotation of 3 rows of 3 numbers; got the shape {block.shape}.")
        pose[:3, :3] = block
    elif "axis" in fields:
        pose[:3, :3] = rotation(as_direction(fields["axis"], "axis"), as_number(fields["angle"], "angle", "rad"))
    elif "rpy" in fields:
        pose[:3, :3] = rpy(as_vector(fields["rpy"], 3, "rpy", "rad"))
    elif "wxyz" in fields:
        pose[:3, :3] = rotation_from_wxyz(as_vector(fields["wxyz"], 4, "wxyz"))
    return as_pose(pose, "the pose")


def rpy(angles: Array) -> Array:
    """Rotation (3, 3) of fixed-axis angles about x, then y, then z [rad], as in URDF."""
    x, y, z = (rotation(axis, angle) for angle, axis in zip(angles, np.eye(3), strict=True))
    return z @ y @ x
