"""From a description to the frozen numeric tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anguilla.describe import BodyHandle, Contact, DistributedWrench, Frame, JointHandle, Robot, Rod, RodHandle
from anguilla.describe.frames import Part
from anguilla.errors import DescriptionError
from anguilla.mechanics.builder import Builder, numbered
from anguilla.mechanics.grid import SAME, Grid, rod_grid, strain_gram
from anguilla.mechanics.tree import Floats, Ints, Tree

__all__ = ["Model", "PartLayout", "compile_robot"]

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
    grid: Grid | None = None

    def node_at(self, X: float) -> int | None:
        """Node at arc length X [m], or None if no node sits there."""
        if self.grid is None:
            return int(self.nodes[0])
        hits = np.flatnonzero(np.abs(self.grid.X - X) <= SAME * self.part.length)
        return int(self.nodes[hits[0]]) if len(hits) else None


@dataclass(frozen=True, slots=True)
class Model:
    """A compiled robot: the numeric tree and where each part of the description went."""

    robot: Robot
    tree: Tree
    parts: tuple[PartLayout, ...]
    extra: dict[tuple, int]
    size: int

    @property
    def rods(self) -> tuple[PartLayout, ...]:
        """Layouts of the rods."""
        return tuple(layout for layout in self.parts if layout.grid is not None)

    def node(self, frame: Frame) -> int | None:
        """Node of a frame, or None if no node sits there."""
        if _key(frame) in self.extra:
            return self.extra[_key(frame)]
        if frame.offset is not None:
            return None
        return 0 if frame.is_ground else self.parts[frame.part_index].node_at(frame.X)


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


def _attachments(robot: Robot) -> dict[int, list[float]]:
    """Arc lengths at which something sits on each rod."""
    frames = [part.parent for part in robot.parts] + _loaded(robot)
    places: dict[int, list[float]] = {}
    for frame in frames:
        if not frame.is_ground:
            places.setdefault(frame.part_index, []).append(frame.X)
    for actuator in robot.actuators.values():
        for part, routing, low, high in actuator.stretches:
            inside = [X for X in (low, high, *routing.breakpoints) if 0.0 < X < part.length]
            places.setdefault(part.index, []).extend(inside)
    return places


def _loaded(robot: Robot) -> list[Frame]:
    """Frames that need a node with columns: something acts on them or holds them."""
    frames = [frame for load in robot.loads if not isinstance(load, DistributedWrench) for frame in load._frames]
    for actuator in robot.actuators.values():
        frames += [frame for span in actuator.spans for frame in span]
    for closure in robot.closures.values():
        frames += [closure.a, closure.b.offset_by(closure.sides[1])]
    return frames + [frame for constraint in robot.constraints for frame in constraint._frames]


def _coordinate_scale(rod: Rod) -> tuple[Floats, Floats]:
    """(scale, weight) of the coordinates of a rod.

    scale: mean square of the basis function, times the length for curvatures: a unit of the coordinate as an angle or a
    relative displacement. weight: the same, multiplied for stiff strains by the square root of their stiffness over the
    softest one's, so that an error of given weight stores the same energy whatever the strain.
    """
    scales, stiffness = [], []
    for strain, basis in numbered(rod):
        unit = np.sqrt(np.diag(strain_gram(rod, basis, np.full(6, 1.0 / rod.length), strain)))
        unit *= rod.length if strain < 3 else 1.0
        scales.append(unit)
        stiffness.append(np.mean(np.diag(strain_gram(rod, basis, None, strain)) / unit**2))
    softest = min((k for k in stiffness if k > 0.0), default=1.0)
    weights = [unit * np.sqrt(max(k / softest, 1.0)) for unit, k in zip(scales, stiffness, strict=True)]
    return np.concatenate(scales), np.concatenate(weights)


def _intervals_for_helices(robot: Robot, index: int) -> int:
    """Four intervals for every turn of a helical tendon on a rod."""
    rates = [
        abs(routing.rate) * part.length
        for actuator in robot.actuators.values()
        for part, routing, _, _ in actuator.stretches
        if part.index == index
    ]
    return int(np.ceil(4.0 * max(rates, default=0.0) / (2.0 * np.pi)))


def _intervals_for_contacts(robot: Robot, index: int) -> int:
    """Enough intervals for several nodes of a rod to touch each obstacle."""
    lengths = [
        load.finest
        for load in robot.loads
        if isinstance(load, Contact) and isinstance(load.where, RodHandle) and load.where.index == index
    ]
    if not lengths:
        return 1
    needed = 0.5 * np.pi * robot.parts[index].length / min(lengths)  # the longest of Gauss-Lobatto intervals
    return int(np.clip(np.ceil(needed), TOUCHING, MOST_TOUCHING))


def _add_part(
    builder: Builder, part: Part, host: int, start: int, places: list[float], least: int
) -> tuple[PartLayout, list[int]]:
    """Add a part behind node `host`; returns its layout and the padded lanes of its coordinates, from `start` on."""
    pose = part.parent.offset_pose @ part.pose
    joint = slice(start, start + part.joint.size)
    strains = slice(joint.stop, start + part.size)
    lanes: list[int] = []
    node, entry = host, builder.count
    if isinstance(part, BodyHandle):
        node, lanes = builder.add_joint(part.joint, pose, host, part.body)
        return PartLayout(part, np.array([node], dtype=np.int64), joint, strains, entry), lanes
    if isinstance(part, JointHandle):
        node, lanes = builder.add_joint(part.joint, pose, host)
        return PartLayout(part, np.array([node], dtype=np.int64), joint, strains, entry), lanes
    assert isinstance(part, RodHandle)
    if part.joint.size:
        node, lanes = builder.add_joint(part.joint, pose, host)
        pose = np.eye(4)
    grid = rod_grid(part.rod, places, least)
    nodes, own = builder.add_rod(part.rod, pose, grid, node)
    return PartLayout(part, nodes, joint, strains, entry, grid), lanes + own


def compile_robot(robot: Robot, observed: Sequence[Frame] = ()) -> Model:
    """Compile a robot: cut its rods into intervals, number frames and coordinates, tabulate bases and inertia.

    An `observed` frame between two nodes becomes a leaf: a massless node that hangs on the node before it by a part of the
    interval. Leaves change nothing else; the recursion for motion serves them, those for forces and tangent do not.
    """
    if not robot.parts:
        raise DescriptionError(f"Robot {robot.name!r} has no parts: add a rod, robot.add(rod, at=robot.ground).")
    places = _attachments(robot)
    builder = Builder()
    layouts: dict[int, PartLayout] = {}
    offsets = np.concatenate([[0], np.cumsum([part.size for part in robot.parts])])
    lanes = np.zeros(robot.size, dtype=np.int64)
    scale, weight, strain = np.ones(robot.size), np.ones(robot.size), np.zeros(robot.size)
    for index in _depth_first(robot):
        part = robot.parts[index]
        host = 0 if part.parent.is_ground else layouts[part.parent.part_index].node_at(part.parent.X)
        assert host is not None
        start = int(offsets[index])
        least = max(_intervals_for_helices(robot, index), _intervals_for_contacts(robot, index))
        layout, own = _add_part(builder, part, host, start, places.get(index, []), least)
        lanes[start : start + part.size] = own
        if isinstance(part, RodHandle):
            where = layout.coordinates
            scale[where], weight[where] = _coordinate_scale(part.rod)
            strain[where] = scale[where]
        layouts[index] = layout
    extra: dict[tuple, int] = {}
    for frame in _loaded(robot):
        if frame.offset is not None and _key(frame) not in extra:
            host = 0 if frame.is_ground else layouts[frame.part_index].node_at(frame.X)
            assert host is not None
            extra[_key(frame)] = builder.add_offset(frame.offset_pose, host)
    for frame in observed:
        if not frame.is_ground and layouts[frame.part_index].node_at(frame.X) is None and _key(frame) not in extra:
            layout = layouts[frame.part_index]
            assert layout.grid is not None and isinstance(layout.part, RodHandle)
            extra[_key(frame)] = builder.add_leaf(layout.part.rod, layout.grid, layout.nodes, frame.X)
    tree = builder.freeze(lanes, scale, weight, strain)
    return Model(robot, tree, tuple(layouts[k] for k in range(len(layouts))), extra, robot.size)
