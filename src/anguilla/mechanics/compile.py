"""From a description to the frozen numeric tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anguilla.describe import STRAIN_NAMES, Frame, Robot, Rod, RodHandle, Wrench
from anguilla.describe.basis import Basis
from anguilla.errors import DescriptionError
from anguilla.mechanics.grid import SAME, Grid, gauss_points, nodal_inertia, rod_grid, strain_gram
from anguilla.mechanics.lanes import LANES
from anguilla.mechanics.rodmap import RECORD
from anguilla.mechanics.tree import FIXED, PACK_SIZE, ROD, Floats, Ints, Tree

__all__ = ["Model", "RodLayout", "compile_robot"]


@dataclass(frozen=True, slots=True)
class RodLayout:
    """Where one rod lives in the tree.

    Attributes:
        part: its handle.
        grid: its nodes along the rod.
        nodes: (m,) node numbers, root first.
        coordinates: slice of its coordinates in q.

    """

    part: RodHandle
    grid: Grid
    nodes: Ints
    coordinates: slice


@dataclass(frozen=True, slots=True)
class Model:
    """A compiled robot: the numeric tree and where each part of the description went."""

    robot: Robot
    tree: Tree
    rods: tuple[RodLayout, ...]
    leaves: dict[tuple[int, float], int]
    size: int

    def node(self, frame: Frame) -> int | None:
        """Node of a frame, or None if no node sits there."""
        if frame.is_ground:
            return 0
        rod = self.rods[frame.part_index]
        hits = np.flatnonzero(np.abs(rod.grid.X - frame.X) <= SAME * rod.part.length)
        return int(rod.nodes[hits[0]]) if len(hits) else self.leaves.get((frame.part_index, frame.X))


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
    frames = [part.parent for part in robot.parts]
    frames += [load.frame for load in robot.loads if isinstance(load, Wrench)]
    places: dict[int, list[float]] = {}
    for frame in frames:
        if not frame.is_ground:
            places.setdefault(frame.part_index, []).append(frame.X)
    return places


class _Builder:
    """Collects the arrays of a tree, segment by segment."""

    def __init__(self) -> None:
        self.nodes: dict[str, list] = {k: [] for k in ("parent", "kind", "segment", "fixed", "length", "prescribed")}
        self.nodes |= {k: [] for k in ("basis_at", "mass", "inertia", "record_at")}
        self.segments: dict[str, list] = {k: [] for k in ("first", "last", "own_pack", "own_packs", "sub_packs")}
        self.segments |= {k: [] for k in ("path_packs", "path_at", "strain_count", "strains", "viscosity")}
        self.segments |= {k: [] for k in ("stiffness_at",)}
        self.basis: list[Floats] = []
        self.stiffness: list[Floats] = []
        self.path: list[int] = []
        self.pack_slot: list[int] = []
        self.basis_size = 0
        self.stiffness_size = 0
        # the ground: a segment of one node without coordinates
        self._segment(0, 0, [], [], 0.0, [], [])
        self._node(-1, FIXED, 0, np.eye(4), 0.0, np.zeros(36), 0.0, np.zeros(3))

    def _segment(
        self,
        first: int,
        last: int,
        strains: list[int],
        slots: list[int],
        mu: float,
        path: list[int],
        stiffness: list[Floats],
    ) -> None:
        seg = self.segments
        seg["first"].append(first)
        seg["last"].append(last)
        seg["own_pack"].append(len(self.pack_slot))
        seg["own_packs"].append(len(slots))
        seg["sub_packs"].append(len(slots))
        seg["path_packs"].append(len(path))
        seg["path_at"].append(len(self.path))
        seg["strain_count"].append(len(strains))
        seg["strains"].append(strains + [0] * (6 - len(strains)))
        seg["viscosity"].append(mu)
        seg["stiffness_at"].append(self.stiffness_size)
        self.path += path
        self.pack_slot += slots
        width = LANES * len(slots)
        block = np.zeros((width, width))
        at = 0
        for gram in stiffness:
            k = len(gram)
            block[at : at + k, at : at + k] = gram
            at += LANES * -(-k // LANES)
        self.stiffness.append(block.ravel())
        self.stiffness_size += width * width

    def _node(
        self,
        parent: int,
        kind: int,
        segment: int,
        pose: Floats,
        length: float,
        prescribed: Floats,
        mass: float,
        inertia: Floats,
    ) -> int:
        node = self.nodes
        node["parent"].append(max(parent, 0))
        node["kind"].append(kind)
        node["segment"].append(segment)
        node["fixed"].append(np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]]))
        node["length"].append(length)
        rank = len(node["prescribed"])
        node["record_at"].append((rank // LANES) * int(RECORD) + rank % LANES if kind == ROD else 0)
        if kind == ROD:
            node["prescribed"].append(prescribed)
        node["basis_at"].append(self.basis_size)
        node["mass"].append(mass)
        node["inertia"].append(inertia)
        return len(node["parent"]) - 1

    def path_below(self, segment: int) -> list[int]:
        """Packs that anything hanging on this segment depends on."""
        seg = self.segments
        at, count = seg["path_at"][segment], seg["path_packs"][segment]
        own = range(seg["own_pack"][segment], seg["own_pack"][segment] + seg["own_packs"][segment])
        return [*self.path[at : at + count], *own]

    def add_rod(self, part: RodHandle, grid: Grid, parent_node: int) -> tuple[Ints, list[int]]:
        """Add a rod; returns its node numbers and the padded lanes of its coordinates."""
        rod = part.rod
        parent_segment = self.nodes["segment"][parent_node]
        segment = len(self.segments["first"])
        first = len(self.nodes["parent"])
        names = [strain for strain, _ in _numbered(rod)]
        slots: list[int] = []
        lanes: list[int] = []
        grams: list[Floats] = []
        for slot, (strain, basis) in enumerate(_numbered(rod)):
            start = LANES * (len(self.pack_slot) + len(slots))
            lanes += list(range(start, start + basis.size))
            slots += [slot] * -(-basis.size // LANES)
            grams.append(strain_gram(rod, basis, None, strain))
        path = self.path_below(parent_segment)
        last = first + len(grid.X) - 1
        self._segment(first, last, names, slots, rod.material.damping, path, grams)
        inertia = nodal_inertia(rod, grid)
        node = self._node(parent_node, FIXED, segment, part.pose, 0.0, np.zeros(36), inertia[0, 3], inertia[0, :3])
        nodes = [node]
        for k in range(len(grid.X) - 1):
            node = self._interval(rod, grid.X[k : k + 2], segment, node, inertia[k + 1])
            nodes.append(node)
        return np.array(nodes, dtype=np.int64), lanes

    def _interval(self, rod: Rod, ends: Floats, segment: int, parent: int, inertia: Floats) -> int:
        """Add the node at the end of an interval of a rod, with its rest strains and basis values."""
        points = gauss_points(ends)[0]
        prescribed = np.concatenate([rod.rest.strain(points).ravel(), np.zeros(24)])
        node = self._node(parent, ROD, segment, np.eye(4), ends[1] - ends[0], prescribed, inertia[3], inertia[:3])
        table = np.zeros((2, LANES * self.segments["own_packs"][segment]))
        at = 0
        for _, basis in _numbered(rod):
            table[:, at : at + basis.size] = basis(points / rod.length)
            at += LANES * -(-basis.size // LANES)
        self.basis.append(table.ravel())
        self.basis_size += table.size
        return node

    def add_leaf(self, host: RodLayout, X: float) -> int:
        """Add a massless node at arc length X of a rod, hanging on the node before it."""
        k = int(np.searchsorted(host.grid.X, X)) - 1
        parent = int(host.nodes[k])
        ends = np.array([host.grid.X[k], X])
        return self._interval(host.part.rod, ends, self.nodes["segment"][parent], parent, np.zeros(6))

    def freeze(self, lanes: Ints, scale: Floats, weight: Floats) -> Tree:
        """All arrays, read-only."""
        seg, node = self.segments, self.nodes
        packs = len(self.pack_slot)
        parents = [node["segment"][node["parent"][first]] for first in seg["first"]]
        for s in range(len(parents) - 1, 0, -1):
            seg["sub_packs"][parents[s]] += seg["sub_packs"][s]
        sizes = [
            (seg["last"][s] - seg["first"][s] + 1) * (seg["path_packs"][s] + seg["sub_packs"][s]) * int(PACK_SIZE)
            for s in range(len(parents))
        ]
        strains = np.array(node["prescribed"])
        strains = np.concatenate([strains, np.zeros((-len(strains) % LANES, 36))])
        ints = lambda x: np.ascontiguousarray(x, dtype=np.int64)  # noqa: E731
        floats = lambda x: np.ascontiguousarray(x, dtype=np.float64)  # noqa: E731
        flat = lambda x: floats(np.concatenate([np.zeros(0), *x]))  # noqa: E731
        fields: dict[str, np.ndarray] = {k: ints(node[k]) for k in ("parent", "kind", "segment", "basis_at")}
        fields |= {k: floats(node[k]) for k in ("fixed", "length", "mass", "inertia")}
        names = ("first", "last", "own_pack", "own_packs", "sub_packs", "path_packs", "path_at")
        fields |= {k: ints(seg[k]) for k in (*names, "strain_count", "strains", "stiffness_at")}
        fields |= dict(
            viscosity=floats(seg["viscosity"]),
            path=ints(self.path),
            pack_slot=ints(self.pack_slot).reshape(packs),
            basis=flat(self.basis),
            stiffness=flat(self.stiffness),
            lane=ints(lanes),
            scale=floats(scale),
            weight=floats(weight),
            columns_at=np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.uint64),
            record_at=np.array(node["record_at"], dtype=np.uint64),
            prescribed=floats(strains.reshape(-1, LANES, 36).transpose(0, 2, 1)).ravel(),
        )
        for array in fields.values():
            array.setflags(write=False)
        return Tree(**fields)


def _numbered(rod: Rod) -> list[tuple[int, Basis]]:
    """Active strains by number, with their bases."""
    return [(STRAIN_NAMES.index(name), basis) for name, basis in rod.strains.items()]


def _coordinate_scale(rod: Rod) -> tuple[Floats, Floats]:
    """(scale, weight) of the coordinates of a rod.

    scale: mean square of the basis function, times the length for curvatures: a unit of the coordinate as an angle or a
    relative displacement. weight: the same, multiplied for stiff strains by the square root of their stiffness over the
    softest one's, so that an error of given weight stores the same energy whatever the strain.
    """
    scales, stiffness = [], []
    for strain, basis in _numbered(rod):
        unit = np.sqrt(np.diag(strain_gram(rod, basis, np.full(6, 1.0 / rod.length), strain)))
        unit *= rod.length if strain < 3 else 1.0
        scales.append(unit)
        stiffness.append(np.mean(np.diag(strain_gram(rod, basis, None, strain)) / unit**2))
    softest = min((k for k in stiffness if k > 0.0), default=1.0)
    weights = [unit * np.sqrt(max(k / softest, 1.0)) for unit, k in zip(scales, stiffness, strict=True)]
    return np.concatenate(scales), np.concatenate(weights)


def compile_robot(robot: Robot, observed: Sequence[Frame] = ()) -> Model:
    """Compile a robot: cut its rods into intervals, number frames and coordinates, tabulate bases and inertia.

    An `observed` frame between two nodes becomes a leaf: a massless node that hangs on the node before it by a part of the
    interval. Leaves change nothing else; the recursion for motion serves them, those for forces and tangent do not.
    """
    if not robot.parts:
        raise DescriptionError(f"Robot {robot.name!r} has no parts: add a rod, robot.add(rod, at=robot.ground).")
    places = _attachments(robot)
    builder = _Builder()
    layouts: dict[int, RodLayout] = {}
    offsets = np.concatenate([[0], np.cumsum([part.size for part in robot.parts])])
    lanes = np.zeros(robot.size, dtype=np.int64)
    scale, weight = np.zeros(robot.size), np.zeros(robot.size)
    for index in _depth_first(robot):
        part = robot.parts[index]
        assert isinstance(part, RodHandle)
        grid = rod_grid(part.rod, places.get(index, []))
        node = 0
        if not part.parent.is_ground:
            host = layouts[part.parent.part_index]
            node = int(host.nodes[np.argmin(np.abs(host.grid.X - part.parent.X))])
        nodes, own = builder.add_rod(part, grid, node)
        where = slice(int(offsets[index]), int(offsets[index + 1]))
        lanes[where] = own
        scale[where], weight[where] = _coordinate_scale(part.rod)
        layouts[index] = RodLayout(part, grid, nodes, where)
    leaves: dict[tuple[int, float], int] = {}
    for frame in observed:
        if not frame.is_ground and (frame.part_index, frame.X) not in leaves:
            host = layouts[frame.part_index]
            if np.min(np.abs(host.grid.X - frame.X)) > SAME * host.part.length:
                leaves[frame.part_index, frame.X] = builder.add_leaf(host, frame.X)
    tree = builder.freeze(lanes, scale, weight)
    return Model(robot, tree, tuple(layouts[k] for k in range(len(layouts))), leaves, robot.size)
