"""Collects the arrays of a numeric tree, segment by segment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anguilla.compiler.lanes import LANES
from anguilla.describe import STRAIN_NAMES, Joint, RigidBody, Rod
from anguilla.describe.basis import Basis
from anguilla.describe.joints import Ball
from anguilla.mechanics.grid import Grid, gauss_points, nodal_inertia
from anguilla.mechanics.rodmap import RECORD
from anguilla.mechanics.tree import BALL, FIXED, JOINT, PACK_SIZE, ROD, Floats, Ints, Tree

NO_STRAIN = np.zeros(36)
NOWHERE = np.concatenate([np.eye(3).ravel(), np.zeros(3)])  # a fixed link that leads nowhere
FLAT_STRAINS = {2, 3, 4}  # bending about z, stretch, shear along y
FLATNESS = 1e-14  # [rad, m] by which a fixed link of a flat robot may leave the plane


def numbered(rod: Rod) -> list[tuple[int, Basis]]:
    """Active strains by number, with their bases."""
    return [(STRAIN_NAMES.index(name), basis) for name, basis in rod.strains.items()]


class Builder:
    """Collects the arrays of a tree: nodes one by one, segments in depth-first order."""

    def __init__(self) -> None:
        names = (
            "parent",
            "kind",
            "segment",
            "fixed",
            "length",
            "prescribed",
            "basis_at",
            "mass",
            "inertia",
            "record_at",
        )
        self.nodes: dict[str, list] = {name: [] for name in names}
        tables = (
            "first",
            "last",
            "own_pack",
            "own_packs",
            "sub_packs",
            "path_packs",
            "path_at",
            "strain_count",
            "strains",
        )
        self.segments: dict[str, list] = {name: [] for name in (*tables, "viscosity", "stiffness_at")}
        self.basis: list[Floats] = []
        self.stiffness: list[Floats] = []
        self.path: list[int] = []
        self.pack_slot: list[int] = []
        self.friction: dict[int, float] = {}
        self.preload: dict[int, float] = {}
        self.balls: list[tuple[int, int]] = []
        self.basis_size = 0
        self.stiffness_size = 0
        # the ground: a segment of one node without coordinates
        self._segment(-1, 1, [], [], 0.0, [])
        self._node(0, FIXED, 0, _fixed(np.eye(4)))

    @property
    def count(self) -> int:
        """Number of nodes so far."""
        return len(self.nodes["parent"])

    def _segment(
        self, parent_node: int, count: int, strains: list[int], slots: list[int], mu: float, blocks: list[Floats]
    ) -> int:
        """Open a segment of `count` nodes that hangs on a node; blocks: stiffness of each strain. Returns its number."""
        seg = self.segments
        first = len(self.nodes["parent"])
        path = self._path_below(self.nodes["segment"][parent_node]) if parent_node >= 0 else []
        seg["first"].append(first)
        seg["last"].append(first + count - 1)
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
        stiffness = np.zeros((width, width))
        at = 0
        for block in blocks:
            k = len(block)
            stiffness[at : at + k, at : at + k] = block
            at += LANES * -(-k // LANES)
        self.stiffness.append(stiffness.ravel())
        self.stiffness_size += width * width
        return len(seg["first"]) - 1

    def _path_below(self, segment: int) -> list[int]:
        """Packs that anything hanging on this segment depends on."""
        seg = self.segments
        at, count = seg["path_at"][segment], seg["path_packs"][segment]
        own = range(seg["own_pack"][segment], seg["own_pack"][segment] + seg["own_packs"][segment])
        return [*self.path[at : at + count], *own]

    def _node(
        self, parent: int, kind: int, segment: int, fixed: Floats, length: float = 0.0, prescribed: Floats = NO_STRAIN,
        table: Floats | None = None, mass: float = 0.0, inertia: Sequence[float] | Floats = (0.0, 0.0, 0.0),
    ) -> int:  # fmt: skip
        """Add a node and the link it hangs on; table (2, own lanes): values of the own coordinates at the Gauss points."""
        node = self.nodes
        rank = len(node["prescribed"])
        node["parent"].append(parent)
        node["kind"].append(kind)
        node["segment"].append(segment)
        node["fixed"].append(fixed)
        node["length"].append(length)
        node["record_at"].append((rank // LANES) * int(RECORD) + rank % LANES if kind != FIXED else 0)
        node["basis_at"].append(self.basis_size)
        node["mass"].append(mass)
        node["inertia"].append(np.asarray(inertia, dtype=float))
        if kind != FIXED:
            assert table is not None
            node["prescribed"].append(prescribed)
            self.basis.append(table.ravel())
            self.basis_size += table.size
        return len(node["parent"]) - 1

    def add_joint(
        self, joint: Joint, pose: Floats, parent: int, body: RigidBody | None = None
    ) -> tuple[int, list[int]]:
        """Add a joint (with its offset pose before it) and the body behind it.

        Returns the node behind the joint, which is the body's frame, and the padded lanes of the coordinates.
        """
        size = joint.size
        centre = _centre(body)
        blocks = [np.array([[k]]) for k in joint.stiffness_values]
        strains = [k for axis in joint.axes for k in range(axis.size)]
        segment = self._segment(parent, 1 + len(joint.axes) + len(centre), strains, list(range(size)), 0.0, blocks)
        lanes = [LANES * (self.segments["own_pack"][segment] + k) for k in range(size)]
        node = self._node(parent, FIXED, segment, _fixed(pose))
        at = 0
        for axis in joint.axes:
            table = np.zeros((2, LANES * size))
            table[0, LANES * np.arange(at, at + axis.size)] = 1.0
            if isinstance(axis, Ball):
                node = self._node(node, BALL, segment, np.zeros(12), table=table)
                self.balls.append((lanes[at], node))
            else:
                fixed = np.array([*axis.direction, axis.turn, axis.slide, *np.zeros(7)])
                node = self._node(node, JOINT, segment, fixed, table=table)
            at += axis.size
        for k, lane in enumerate(lanes):
            self.friction[lane] = float(joint.damping_values[k])
            self.preload[lane] = float(joint.stiffness_values[k] * joint.rest_values[k])
        for pose_in_body, mass, inertia in centre:
            self._node(node, FIXED, segment, _fixed(pose_in_body), mass=mass, inertia=inertia)
        return node, lanes

    def add_rod(
        self, rod: Rod, stiffness: list[Floats], pose: Floats, grid: Grid, parent: int
    ) -> tuple[Ints, list[int]]:
        """Add a rod; returns its node numbers, root first, and the padded lanes of its coordinates."""
        slots: list[int] = []
        lanes: list[int] = []
        for slot, (_, basis) in enumerate(numbered(rod)):
            start = LANES * (len(self.pack_slot) + len(slots))
            lanes += list(range(start, start + basis.size))
            slots += [slot] * -(-basis.size // LANES)
        strains = [strain for strain, _ in numbered(rod)]
        segment = self._segment(parent, len(grid.X), strains, slots, rod.material.damping, stiffness)
        inertia = nodal_inertia(rod, grid)
        node = self._node(parent, FIXED, segment, _fixed(pose), mass=inertia[0, 3], inertia=inertia[0, :3])
        nodes = [node, *self._intervals(rod, grid.X, segment, node, inertia[1:])]
        return np.array(nodes, dtype=np.int64), lanes

    def _intervals(self, rod: Rod, X: Floats, segment: int, parent: int, inertia: Floats) -> list[int]:
        """Add the nodes at the ends of intervals of a rod, with their rest strains and basis values."""
        points, count = gauss_points(X).ravel(), len(X) - 1
        prescribed = np.zeros((count, 36))
        prescribed[:, :12] = rod.rest.strain(points).reshape(count, 12)
        table = np.zeros((count, 2, LANES * self.segments["own_packs"][segment]))
        at = 0
        for _, basis in numbered(rod):
            table[:, :, at : at + basis.size] = basis(points / rod.length).reshape(count, 2, -1)
            at += LANES * -(-basis.size // LANES)
        lengths = np.diff(X).tolist()
        nodes = []
        for k in range(count):
            what = lengths[k], prescribed[k], table[k], inertia[k, 3], inertia[k, :3]
            parent = self._node(parent, ROD, segment, NOWHERE, *what)
            nodes.append(parent)
        return nodes

    def add_offset(self, pose: Floats, parent: int) -> int:
        """Add a massless frame at a fixed pose from a node, a segment of its own: it can carry loads."""
        return self._node(parent, FIXED, self._segment(parent, 1, [], [], 0.0, []), _fixed(pose))

    def add_leaf(self, rod: Rod, grid: Grid, nodes: Ints, X: float) -> int:
        """Add a massless node at arc length X of a rod, hanging on the node before it: it can only be observed."""
        k = int(np.searchsorted(grid.X, X)) - 1
        parent = int(nodes[k])
        return self._intervals(rod, np.array([grid.X[k], X]), self.nodes["segment"][parent], parent, np.zeros((1, 6)))[
            0
        ]

    def _is_flat(self) -> bool:
        """Whether no link can leave the plane x-y of the world, but for frames on which nothing hangs."""
        node, seg = self.nodes, self.segments
        carrying = set(node["parent"][1:])
        strains = iter(node["prescribed"])
        for i, (kind, fixed, s) in enumerate(zip(node["kind"], node["fixed"], node["segment"], strict=True)):
            rest = np.zeros((6, 6)) if kind == FIXED else next(strains).reshape(6, 6)
            if kind == FIXED:
                in_plane = np.max(np.abs(fixed[[2, 5, 6, 7, 11]])) <= FLATNESS and fixed[8] > 0.0  # and not turned over
                good = i not in carrying or bool(in_plane)
            elif kind == ROD:
                good = (
                    not np.any(rest[:, [0, 1, 5]]) and set(seg["strains"][s][: seg["strain_count"][s]]) <= FLAT_STRAINS
                )
            elif kind == JOINT:
                axis, turn, slide = fixed[:3], fixed[3], fixed[4]
                out, along = abs(axis[2]), float(np.hypot(axis[0], axis[1]))
                good = (slide == 0.0 or out <= FLATNESS) and (turn == 0.0 or along <= FLATNESS)
            else:
                good = False
            if not good:
                return False
        return True

    def _turning(self) -> Floats:
        """Inertia of every node about the world's z, in a flat robot: only fixed links turn other axes into z."""
        node = self.nodes
        normals = np.array(
            [f[6:9] if k == FIXED else (0.0, 0.0, 1.0) for k, f in zip(node["kind"], node["fixed"], strict=True)]
        )
        return np.einsum("ij,ij->i", normals**2, _floats(node["inertia"]))

    def _terms(self) -> tuple[Ints, npt.NDArray[np.uint64], Floats]:
        """What packs of coordinates add to the strains of records of four links: Tree.term_at, term, term_value."""
        node, seg = self.nodes, self.segments
        links = [i for i, kind in enumerate(node["kind"]) if kind != FIXED]
        at, terms, values = [0], [], []
        for record in range(0, len(links), LANES):
            found: dict[tuple[int, int], Floats] = {}
            for place, i in enumerate(links[record : record + LANES]):
                s = node["segment"][i]
                table = self.basis[record + place].reshape(2, -1, LANES)
                for k in np.flatnonzero(np.any(table, axis=(0, 2))).tolist():
                    pack = seg["own_pack"][s] + k
                    strain = seg["strains"][s][self.pack_slot[pack]]
                    found.setdefault((strain, pack), np.zeros((LANES, 2, LANES)))[:, :, place] = table[:, k].T
            terms += [(LANES * strain, LANES * pack) for strain, pack in found]
            values += [value.ravel() for value in found.values()]
            at.append(len(terms))
        return (
            _ints(at),
            np.array(terms, dtype=np.uint64).reshape(-1, 2),
            _floats(np.concatenate([np.zeros(0), *values])),
        )

    def freeze(self, lanes: Ints, scale: Floats, weight: Floats, strain: Floats) -> Tree:
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
        strains = np.array([*node["prescribed"], *np.zeros((-len(node["prescribed"]) % LANES, 36))]).reshape(-1, 36)
        by_lane = lambda values: np.array([values.get(k, 0.0) for k in range(LANES * packs)])
        fields: dict[str, Any] = {name: _ints(node[name]) for name in ("parent", "kind", "segment", "basis_at")}
        fields |= {name: _ints(seg[name]) for name in seg if name != "viscosity"}
        arrays: dict[str, Any] = {name: _floats(node[name]) for name in ("fixed", "length", "mass", "inertia")}
        arrays |= dict(
            viscosity=_floats(seg["viscosity"]),
            friction=by_lane(self.friction),
            preload=by_lane(self.preload),
            basis=_floats(np.concatenate([np.zeros(0), *self.basis])),
            stiffness=_floats(np.concatenate([np.zeros(0), *self.stiffness])),
            scale=_floats(scale),
            weight=_floats(weight),
            strain_scale=_floats(strain),
            prescribed=_floats(strains.reshape(-1, LANES, 36).transpose(0, 2, 1)).ravel(),
        )
        term_at, term, term_value = self._terms()
        tree = Tree(
            term_at=term_at,
            term=term,
            term_value=term_value,
            flat=_ints([self._is_flat()]),
            turning=self._turning(),
            **fields,
            **arrays,
            path=_ints(self.path),
            ball=_ints([(int(np.flatnonzero(lanes == lane)[0]), node) for lane, node in self.balls]).reshape(-1, 2),
            pack_slot=_ints(self.pack_slot),
            lane=_ints(lanes),
            columns_at=np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.uint64),
            record_at=np.array(node["record_at"], dtype=np.uint64),
        )
        for array in tree:
            array.setflags(write=False)
        return tree


def _fixed(pose: Floats) -> Floats:
    return np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]])


def _centre(body: RigidBody | None) -> list[tuple[Floats, float, Floats]]:
    """Pose of the principal axes at the centre of mass in body axes, mass and principal moments."""
    if body is None:
        return []
    moments, rotation = body.principal()
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, body.com
    return [(pose, float(body.mass), np.asarray(moments))]


def _ints(values: Sequence | Ints) -> Ints:
    return np.ascontiguousarray(values, dtype=np.int64)


def _floats(values: Sequence | Floats) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)
