"""From a description to the frozen numeric tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from anguilla.describe import BodyHandle, Frame, JointHandle, Robot, Rod, RodHandle
from anguilla.describe.actuators import Routing
from anguilla.describe.frames import Part
from anguilla.errors import DescriptionError
from anguilla.mechanics.builder import Builder, RodTables, tabulate
from anguilla.mechanics.grid import SAME, RodGrid, numbered, rod_grid
from anguilla.mechanics.tree import Floats, Ints, Tree

__all__ = ["Layout", "PartLayout", "compile_robot", "inner_places"]

Stretch = tuple[RodHandle, Routing, float, float]  # of a line along a rod: from, to [m]
NO_STRAINS = np.zeros(0), np.zeros(0)
TOUCHING, MOST_TOUCHING = 24, 96  # intervals of a rod that touches something, if it leaves them open


@dataclass(frozen=True, slots=True)
class PartLayout:
    """Where one part lives in the tree.

    Attributes:
        part: its handle.
        nodes: (m,) node numbers: of a rod from root to tip, of a body its frame.
        joint: slice of the coordinates of its joint in q.
        coordinates: slice of its strain coordinates in q (empty for a body).
        entry: first node of the part, before its joint.
        grid: where the nodes of a rod lie along it; None for a body.

    """

    part: Part
    nodes: Ints
    joint: slice
    coordinates: slice
    entry: int
    grid: RodGrid | None = None

    def node_at(self, X: float) -> int | None:
        """Node at arc length X [m], or None if no node sits there."""
        if self.grid is None:
            return int(self.nodes[0])
        if X == 0.0 or X == self.part.length:
            return int(self.nodes[-1 if X else 0])
        hits = np.flatnonzero(np.abs(self.grid.X - X) <= SAME * self.part.length)
        return int(self.nodes[hits[0]]) if len(hits) else None


@dataclass(frozen=True, slots=True)
class Layout:
    """A compiled robot: the numeric tree and where each part of the description went."""

    robot: Robot
    tree: Tree
    parts: tuple[PartLayout, ...]
    extra: dict[tuple, int]
    size: int  # number of coordinates
    length: float  # [m] that displacements are measured by
    made: tuple[Builder, Ints, Floats, Floats, Floats, int]  # what the tree was frozen from

    @property
    def rods(self) -> tuple[PartLayout, ...]:
        """Layouts of the rods."""
        return tuple(layout for layout in self.parts if layout.grid is not None)

    def observing(self, frames: Sequence[Frame]) -> Layout:
        """The same robot with a node at every given frame, without its offset.

        A frame between two nodes becomes a leaf: a massless node that hangs on the node before it by a part of the interval.
        Leaves change nothing else; the recursion for motion serves them, those for forces and tangent do not.
        """
        builder, lanes, scale, weight, strain, blocks = self.made
        builder, extra = builder.with_room(), dict(self.extra)
        leaves: dict[int, dict[tuple, float]] = {}  # of each rod
        for frame in frames:
            X, key = self.place(frame), self._key(frame)
            if not frame.is_ground and key not in extra and self.parts[frame.part_index].node_at(X) is None:
                leaves.setdefault(frame.part_index, {})[key] = X
        for index, places in leaves.items():
            layout = self.parts[index]
            assert layout.grid is not None and isinstance(layout.part, RodHandle)
            made_of = layout.part.rod, layout.grid, layout.nodes, np.array(list(places.values()))
            extra.update(zip(places, builder.add_leaves(*made_of), strict=True))
        made = builder, lanes, scale, weight, strain, blocks
        return replace(self, tree=builder.freeze(*made[1:]), extra=extra, made=made)

    def whole(self) -> Layout:
        """The same robot as one block."""
        made = *self.made[:5], 0
        return replace(self, tree=self.made[0].freeze(*made[1:]), made=made)

    def node(self, frame: Frame) -> int | None:
        """Node of a frame, or None if no node sits there."""
        if self.extra and (key := self._key(frame)) in self.extra:
            return self.extra[key]
        if frame.offset is not None:
            return None
        X = self.place(frame)
        return 0 if frame.is_ground else self.parts[frame.part_index].node_at(X)

    def place(self, frame: Frame) -> float:
        """Arc length [m] of a frame on its part as it was compiled: the description may have changed since."""
        if frame.is_ground:
            return 0.0
        if frame.part_index >= len(self.parts):
            raise DescriptionError(
                f"Frame {frame.label} belongs to a part that was added after this was computed: compute it again."
            )
        if frame.place == "root":
            return 0.0
        length = self.parts[frame.part_index].part.length
        if isinstance(frame.place, str):
            return length
        if frame.place > length:
            raise DescriptionError(
                f"Frame {frame.label} lies beyond the tip: the rod was {length:g} m long when this was computed."
            )
        return frame.place

    def _key(self, frame: Frame) -> tuple:
        return frame.part_index, self.place(frame), frame.offset


def _key(frame: Frame) -> tuple:
    return frame.part_index, frame.X, frame.offset


def _depth_first(robot: Robot) -> list[int]:
    children: dict[int, list[int]] = {}
    for part in robot.parts:
        children.setdefault(part.parent.part_index, []).append(part.index)
    order: list[int] = []
    stack = list(reversed(children.get(-1, [])))
    while stack:
        index = stack.pop()
        order.append(index)
        stack.extend(reversed(children.get(index, [])))
    return order


def _stretches(robot: Robot) -> list[Stretch]:
    """All stretches of lines along rods."""
    return [stretch for actuator in robot.actuators.values() for stretch in actuator.stretches]


def _attachments(robot: Robot, loaded: list[Frame], along: list[Stretch]) -> dict[int, list[float]]:
    """Arc lengths at which something sits on each rod; loaded: frames that need a node, along: stretches of lines."""
    places: dict[int, list[float]] = {}
    for frame in [part.parent for part in robot.parts] + loaded:
        if not frame.is_ground:
            places.setdefault(frame.part_index, []).append(frame.X)
    for part, routing, low, high in along:
        inside = [X for X in (low, high, *routing.breakpoints) if 0.0 < X < part.length]
        places.setdefault(part.index, []).extend(inside)
    return places


def inner_places(robot: Robot) -> dict[int, list[float]]:
    """Arc lengths [m] strictly inside each rod at which something sits on it."""
    found = _attachments(robot, _loaded(robot), _stretches(robot))
    return {index: [X for X in places if 0.0 < X < robot.parts[index].length] for index, places in found.items()}


def _loaded(robot: Robot) -> list[Frame]:
    """Frames that need a node with columns: something acts on them or holds them."""
    frames = [frame for load in robot.loads for frame in load.stations]
    for actuator in robot.actuators.values():
        frames += [frame for span in actuator.spans for frame in span]
    for closure in robot.closures.values():
        frames += [closure.a, closure.b.offset_by(closure.sides[1])]
    return frames + [frame for constraint in robot.constraints for frame in constraint.frames]


def _coordinate_scale(rod: Rod, grams: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """(scale, weight) of the coordinates of a rod, from the integrals of its bases.

    scale: mean square of the basis function, times the length for curvatures: a unit of the coordinate as an angle or a
    relative displacement. weight: the same, multiplied for stiff strains by the square root of their stiffness over the
    softest one's, so that an error of given weight stores the same energy whatever the strain.
    """
    scales, stiffness = [], []
    for (strain, _), (square, stiff) in zip(numbered(rod), grams, strict=True):
        unit = np.sqrt(square.diagonal())
        unit *= rod.length if strain < 3 else 1.0
        scales.append(unit)
        stiffness.append(float(np.add.reduce(stiff.diagonal() / (unit * unit))) / len(unit))  # their mean
    softest = min((k for k in stiffness if k > 0.0), default=1.0)
    weights = [unit * math.sqrt(max(k / softest, 1.0)) for unit, k in zip(scales, stiffness, strict=True)]
    return np.concatenate(scales), np.concatenate(weights)


def _length(robot: Robot) -> float:
    """A length [m] that displacements are measured by: the longest rod, or else what bodies have of one."""
    rods = [part.length for part in robot.parts if isinstance(part, RodHandle)]
    if rods:
        return max(rods)
    offsets = [float(np.linalg.norm((part.parent.offset_pose @ part.pose)[:3, 3])) for part in robot.parts]
    bodies = [part.body for part in robot.parts if isinstance(part, BodyHandle)]
    radii = [float(np.sqrt(np.max(body.principal()[0]) / body.mass)) for body in bodies if body.mass > 0.0]
    return max([*offsets, *radii], default=0.0) or 1.0


def _least_intervals(robot: Robot, along: list[Stretch]) -> dict[int, int]:
    """Intervals that rods need by what is on them; along: stretches of lines.

    Four for every turn of a helical tendon; and enough for several nodes to touch each obstacle.
    """
    least: dict[int, int] = {}
    for part, routing, _, _ in along:
        needed = math.ceil(4.0 * abs(routing.rate) * part.length / (2.0 * math.pi))
        least[part.index] = max(least.get(part.index, 1), needed)
    for load in robot.loads:
        if load.finest is not None:
            rod, length = load.finest
            longest = 0.5 * np.pi * rod.length / length  # of Gauss-Lobatto intervals
            needed = int(np.clip(np.ceil(longest), TOUCHING, MOST_TOUCHING))
            least[rod.index] = max(least.get(rod.index, 1), needed)
    return least


class Tabulated:
    """Tables of the rods of a robot: made once for parts of the same rod that are cut at the same places."""

    def __init__(self) -> None:
        self._made: dict[tuple, tuple[RodTables, tuple[Floats, Floats]]] = {}

    def of(self, rod: Rod, places: list[float], least: int) -> tuple[RodTables, tuple[Floats, Floats]]:
        """The tables of a rod, and (scale, weight) of its coordinates."""
        key = id(rod), tuple(sorted({place for place in places if 0.0 < place < rod.length})), least
        if key not in self._made:
            tables = tabulate(rod, rod_grid(rod, places, least))
            self._made[key] = tables, _coordinate_scale(rod, tables.grams)
        return self._made[key]


def _add_part(
    builder: Builder, part: Part, host: int, start: int, places: list[float], least: int, tabulated: Tabulated
) -> tuple[PartLayout, list[int], tuple[Floats, Floats]]:
    """Add a part behind node `host`.

    Returns its layout, the padded lanes of its coordinates, from `start` on, and (scale, weight) of those of strains.
    """
    pose = part.pose
    joint = slice(start, start + part.joint.size)
    strains = slice(joint.stop, start + part.size)
    lanes: list[int] = []
    node, entry = host, builder.count
    if isinstance(part, BodyHandle):
        node, lanes = builder.add_joint(part.joint, pose, host, part.body)
        return PartLayout(part, np.array([node], dtype=np.int64), joint, strains, entry), lanes, NO_STRAINS
    if isinstance(part, JointHandle):
        node, lanes = builder.add_joint(part.joint, pose, host)
        return PartLayout(part, np.array([node], dtype=np.int64), joint, strains, entry), lanes, NO_STRAINS
    assert isinstance(part, RodHandle)
    if part.joint.size:
        node, lanes = builder.add_joint(part.joint, pose, host)
        pose = np.eye(4)
    tables, scales = tabulated.of(part.rod, places, least)
    nodes, own = builder.add_rod(part.rod, tables, pose, node)
    return PartLayout(part, nodes, joint, strains, entry, tables.grid), lanes + own, scales


def compile_robot(robot: Robot, blocks: int = 0) -> Layout:
    """Compile a robot: cut its rods into intervals, number frames and coordinates, tabulate bases and inertia.

    With `blocks`, as a large one: its tree is cut into blocks (`cut_blocks`).
    """
    if not robot.parts:
        raise DescriptionError(f"Robot {robot.name!r} has no parts: add a rod, robot.add(rod, at=robot.ground).")
    robot.check_size()
    loaded, along = _loaded(robot), _stretches(robot)
    places, least = _attachments(robot, loaded, along), _least_intervals(robot, along)
    builder, tabulated = Builder(), Tabulated()
    layouts: dict[int, PartLayout] = {}
    offsets = list(accumulate((part.size for part in robot.parts), initial=0))
    size, length = offsets[-1], _length(robot)
    lanes = np.zeros(size, dtype=np.int64)
    scale, weight, strain = np.ones(size), np.ones(size), np.zeros(size)
    for index in _depth_first(robot):
        part = robot.parts[index]
        host = 0 if part.parent.is_ground else layouts[part.parent.part_index].node_at(part.parent.X)
        assert host is not None
        start = offsets[index]
        layout, own, (units, weights) = _add_part(
            builder, part, host, start, places.get(index, []), least.get(index, 1), tabulated
        )
        lanes[start : offsets[index + 1]] = own
        where = layout.coordinates
        scale[where], weight[where], strain[where] = units, weights, units
        for k, turns in enumerate(part.joint.turns):
            if not turns:
                scale[start + k] = weight[start + k] = 1.0 / length
        layouts[index] = layout
    extra: dict[tuple, int] = {}
    for frame in loaded:
        if frame.offset is not None and _key(frame) not in extra:
            host = 0 if frame.is_ground else layouts[frame.part_index].node_at(frame.X)
            assert host is not None
            extra[_key(frame)] = builder.add_offset(frame.offset_pose, host)
    made = builder, lanes, scale, weight, strain, blocks
    parts = tuple(layouts[k] for k in range(len(layouts)))
    return Layout(robot, builder.freeze(*made[1:]), parts, extra, size, length, made)
