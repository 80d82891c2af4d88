"""Collects the arrays of a numeric tree, segment by segment."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anguilla.compiler.lanes import LANES
from anguilla.describe import Joint, RigidBody, Rod
from anguilla.describe.joints import Axis
from anguilla.mechanics.blocks import cut_blocks
from anguilla.mechanics.grid import RodGrid, gauss_points, nodal_inertia, numbered, strain_grams, values
from anguilla.mechanics.rodmap import RECORD
from anguilla.mechanics.tree import BALL, FACE, FIXED, JOINT, PACK_SIZE, ROD, TERM, Floats, Ints, Tree, own_tables

NO_STRAIN = np.zeros((1, 12))
NO_INERTIA = np.zeros((1, 3))
NOWHERE = np.concatenate([np.eye(3).ravel(), np.zeros(3)])[None]  # a fixed link that leads nowhere
LEAVES_PLANE = np.array([True, True, False, False, False, True])  # strains: all but bend_z, stretch and shear_y
MANY_TERMS = 256  # from so many on, equal ones are kept once
FLATNESS = 1e-14  # [rad, m] by which a fixed link of a flat robot may leave the plane


@dataclass(frozen=True, slots=True)
class RodTables:
    """What is tabulated of one rod: the same for all parts that are made of it and cut at the same places.

    Attributes:
        grid: where its m nodes lie.
        grams: of each strain, integrals of basis x basis^T times 1/L, and times its stiffness.
        inertia: (m, 6) lumped inertia of the nodes.
        rest: (m - 1, 12) strains at the Gauss points of the intervals that do not depend on q.
        basis: (m - 1, 2, lanes) values of the coordinates at the Gauss points, in padded lanes.

    """

    grid: RodGrid
    grams: list[tuple[Floats, Floats]]
    inertia: Floats
    rest: Floats
    basis: Floats


def tabulate(rod: Rod, grid: RodGrid) -> RodTables:
    """Tabulate a rod at the nodes of its grid."""
    return RodTables(grid, strain_grams(rod, grid), nodal_inertia(rod, grid), *_at_points(rod, gauss_points(grid.X)))


def _at_points(rod: Rod, gauss: Floats) -> tuple[Floats, Floats]:
    """Rest strains and values of the bases at the Gauss points (m, 2) of intervals: RodTables.rest and basis."""
    points, count = gauss.ravel(), len(gauss)
    rest = rod.rest.strain(points).reshape(count, 12)
    bases = [basis for _, basis in numbered(rod)]
    table = np.zeros((count, 2, sum(_width(basis.size) for basis in bases)))
    x, at = points / rod.length, 0
    for basis in bases:
        table[:, :, at : at + basis.size] = values(basis, x).reshape(count, 2, -1)
        at += _width(basis.size)
    return rest, table


def _width(count: int) -> int:
    """Lanes of the packs that hold so many coordinates."""
    return LANES * -(-count // LANES)


class Builder:
    """Collects the arrays of a tree: nodes, one by one or many at a time, and segments in depth-first order."""

    def __init__(self) -> None:
        self.nodes: dict[str, list] = {name: [] for name in ("parent", "kind", "segment", "length", "mass", "basis_at")}
        self.rows: dict[str, list[Floats]] = {name: [] for name in ("fixed", "inertia", "prescribed")}  # (k, ...) each
        tables = ("first", "last", "own_pack", "own_packs", "strain_count", "strains", "viscosity")
        self.segments: dict[str, list] = {name: [] for name in (*tables, "stiffness_at")}
        self.basis: dict[bytes, int] = {}  # tables of numbers, and where each begins: equal ones are kept once
        self.tables: dict[int, tuple[int, Floats]] = {}  # the same by identity, which is faster
        self.stiffness: list[Floats] = []
        self.pack_slot: list[int] = []
        self.friction: dict[int, float] = {}
        self.preload: dict[int, float] = {}
        self.balls: list[tuple[int, int]] = []
        self.stiffness_size, self.basis_size = 0, 0
        # the ground: a segment of one node without coordinates
        self._segment(1, [], [], 0.0, [])
        self._node(0, FIXED, 0, NOWHERE)

    @property
    def count(self) -> int:
        """Number of nodes so far."""
        return len(self.nodes["parent"])

    def _segment(self, count: int, strains: list[int], slots: list[int], mu: float, blocks: Sequence[Floats]) -> int:
        """Open a segment of `count` nodes; blocks: stiffness of each strain. Returns its number."""
        seg, number = self.segments, len(self.segments["first"])
        first, own = len(self.nodes["parent"]), len(self.pack_slot)
        seg["first"].append(first)
        seg["last"].append(first + count - 1)
        seg["own_pack"].append(own)
        seg["own_packs"].append(len(slots))
        seg["strain_count"].append(len(strains))
        seg["strains"].append(strains + [0] * (6 - len(strains)))
        seg["viscosity"].append(mu)
        seg["stiffness_at"].append(self.stiffness_size)
        self.pack_slot += slots
        if slots:
            width, at = LANES * len(slots), 0
            stiffness = np.zeros((width, width))
            for block in blocks:
                k = len(block)
                stiffness[at : at + k, at : at + k] = block
                at += _width(k)
            self.stiffness.append(stiffness.ravel())
            self.stiffness_size += width * width
        return number

    def _node(
        self, parent: int, kind: int, segment: int, fixed: Floats, table: Floats | None = None, mass: float = 0.0,
        inertia: Floats = NO_INERTIA,
    ) -> int:  # fmt: skip
        """Add a node and the link it hangs on; table (2, own lanes): values of the own coordinates at the Gauss points."""
        node, number = self.nodes, len(self.nodes["parent"])
        node["parent"].append(parent)
        node["kind"].append(kind)
        node["segment"].append(segment)
        node["length"].append(0.0)
        node["mass"].append(mass)
        node["basis_at"].append(0 if table is None else self._table(table))
        self.rows["fixed"].append(fixed)
        self.rows["inertia"].append(inertia)
        if kind != FIXED:
            self.rows["prescribed"].append(NO_STRAIN)
        return number

    def _table(self, table: Floats) -> int:
        """Where the values of a table begin among all."""
        if id(table) not in self.tables:
            at = self.basis.setdefault(table.tobytes(), self.basis_size)
            if at == self.basis_size:
                self.basis_size += table.size
            self.tables[id(table)] = at, table
        return self.tables[id(table)][0]

    def add_joint(
        self, joint: Joint, pose: Floats, parent: int, body: RigidBody | None = None
    ) -> tuple[int, list[int]]:
        """Add a joint (with its offset pose before it) and the body behind it.

        Returns the node behind the joint, which is the body's frame, and the padded lanes of the coordinates.
        """
        axes = joint.axes
        stiffness, damping, rest = joint.stiffness_values, joint.damping_values, joint.rest_values
        places = [k for axis in axes for k in range(axis.size)]  # of each coordinate, among the strains of its link
        strains = sorted(set(places))
        groups = [[c for c, place in enumerate(places) if place == strain] for strain in strains]
        slots = [slot for slot, group in enumerate(groups) for _ in range(_width(len(group)) // LANES)]
        blocks = [np.diag(stiffness[group]) for group in groups]
        segment = self._segment(1 + len(axes) + (body is not None), strains, slots, 0.0, blocks)
        first, lane = LANES * self.segments["own_pack"][segment], [0] * len(places)
        for slot, group in enumerate(groups):
            for k, coordinate in enumerate(group):
                lane[coordinate] = LANES * slots.index(slot) + k
        lanes = [first + each for each in lane]
        node = self._node(parent, FIXED, segment, _fixed(pose))
        at = 0
        for axis in axes:
            table = np.zeros((2, LANES * len(slots)))
            table[0, lane[at : at + axis.size]] = 1.0
            if isinstance(axis, Axis):
                fixed = np.array([[*axis.direction, axis.turn, axis.slide, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
                node = self._node(node, JOINT, segment, fixed, table)
            else:
                node = self._node(node, BALL, segment, np.zeros((1, 12)), table)
                self.balls.append((lanes[at], node))
            at += axis.size
        self.friction.update(zip(lanes, damping.tolist(), strict=True))
        self.preload.update(zip(lanes, (stiffness * rest).tolist(), strict=True))
        if body is not None:
            pose_in_body, mass, inertia = _centre(body)
            self._node(node, FIXED, segment, pose_in_body, mass=mass, inertia=inertia)
        return node, lanes

    def add_rod(self, rod: Rod, tables: RodTables, pose: Floats, parent: int) -> tuple[Ints, list[int]]:
        """Add a rod; returns its node numbers, root first, and the padded lanes of its coordinates."""
        slots: list[int] = []
        lanes: list[int] = []
        bases = numbered(rod)
        for slot, (_, basis) in enumerate(bases):
            start = LANES * (len(self.pack_slot) + len(slots))
            lanes += list(range(start, start + basis.size))
            slots += [slot] * -(-basis.size // LANES)
        strains, stiffness = [strain for strain, _ in bases], [stiff for _, stiff in tables.grams]
        segment = self._segment(len(tables.grid.X), strains, slots, rod.material.damping, stiffness)
        mass, turning = tables.inertia[:, 3], tables.inertia[:, :3]
        node = self._node(parent, FIXED, segment, _fixed(pose), mass=float(mass[0]), inertia=turning[:1])
        parents = list(range(node, node + len(tables.grid.X) - 1))
        self._intervals(tables.grid.X, tables.rest, tables.basis, segment, parents, mass[1:], turning[1:])
        return np.arange(node, self.count), lanes

    def _intervals(
        self, X: Floats, rest: Floats, basis: Floats, segment: int, parents: list[int], mass: Floats, inertia: Floats
    ) -> None:
        """Add the nodes at the ends of intervals, from X[:-1] to X[1:], each hanging on one of the parents."""
        node, count = self.nodes, len(parents)
        node["parent"] += parents
        node["kind"] += [ROD] * count
        node["segment"] += [segment] * count
        node["length"] += (X[1:] - X[:-1]).ravel().tolist()
        node["mass"] += mass.tolist()
        self.rows["fixed"] += [NOWHERE] * count
        self.rows["inertia"].append(inertia)
        self.rows["prescribed"].append(rest)
        first, size = self._table(basis), basis[0].size
        node["basis_at"] += range(first, first + size * count, size)

    def add_offset(self, pose: Floats, parent: int) -> int:
        """Add a massless frame at a fixed pose from a node, a segment of its own: it can carry loads."""
        return self._node(parent, FIXED, self._segment(1, [], [], 0.0, []), _fixed(pose))

    def add_leaves(self, rod: Rod, grid: RodGrid, nodes: Ints, X: Floats) -> range:
        """Add massless nodes at arc lengths X (m,) of a rod, each hanging on the one before it: they can only be observed."""
        first, k = self.count, np.searchsorted(grid.X, X) - 1
        ends = np.stack([grid.X[k], X])
        gauss = gauss_points(ends).reshape(2, -1).T  # of intervals that do not follow each other
        segment = self.nodes["segment"][int(nodes[0])]
        inertia = np.zeros((len(X), 3))
        self._intervals(ends, *_at_points(rod, gauss), segment, nodes[k].tolist(), inertia[:, 0], inertia)
        return range(first, self.count)

    def with_room(self) -> Builder:
        """The same collection; leaves that are added to it are not in this one."""
        twin = copy(self)
        twin.nodes, twin.rows = ({name: list(x) for name, x in both.items()} for both in (self.nodes, self.rows))
        twin.basis, twin.tables = dict(self.basis), dict(self.tables)
        return twin

    def freeze(self, lanes: Ints, scale: Floats, weight: Floats, strain: Floats, cut: int = 0) -> Tree:
        """All arrays, read-only; of a tree cut into blocks (`cut_blocks`), or of a single one."""
        seg = {name: np.array(found) for name, found in self.segments.items()}
        node = {name: np.array(found) for name, found in self.nodes.items()}
        rows = {name: np.ascontiguousarray(np.concatenate(found)) for name, found in self.rows.items() if found}
        prescribed = rows.get("prescribed", np.zeros((0, 12)))
        counts = seg["last"] - seg["first"] + 1
        blocks = cut_blocks(node["segment"][node["parent"][seg["first"]]], seg["own_packs"], cut)
        links = node["kind"] != FIXED
        rank = np.cumsum(links) - links
        basis = np.frombuffer(b"".join(self.basis))
        sizes = counts * (blocks["path_packs"] + blocks["sub_packs"]) * int(PACK_SIZE)
        four = np.zeros((-(-len(prescribed) // LANES) * LANES, 12))
        four[: len(prescribed)] = prescribed
        place = np.zeros(LANES * len(self.pack_slot), dtype=np.int64)
        place[lanes] = np.arange(len(lanes))
        balls = np.array(self.balls, dtype=np.int64).reshape(-1, 2)
        balls[:, 0] = place[balls[:, 0]]
        slot = _ints(self.pack_slot)
        term_at, term, term_value = _terms(node, seg, slot, basis)
        fields: dict[str, Any] = node | rows | seg | blocks | _numbered(blocks, seg, _ints(lanes))
        fields |= dict(
            flat=_ints([_is_flat(node, rows["fixed"], prescribed, seg)]),
            turning=turning(node["kind"], rows["fixed"], rows["inertia"]),
            record_at=np.where(links, rank // LANES * int(RECORD) + rank % LANES, 0).astype(np.uint64),
            prescribed=np.ascontiguousarray(four.reshape(-1, LANES, 12).transpose(0, 2, 1)).ravel(),
            term_at=term_at, term=term, term_value=term_value, basis=basis,
            ready=_ready(node["segment"], blocks["block"], links),
            pack_slot=slot, ball=balls, lane=_ints(lanes), stiffness=np.concatenate([np.zeros(0), *self.stiffness]),
            friction=_by_lane(self.friction, len(place)), preload=_by_lane(self.preload, len(place)),
            columns_at=_within(sizes, blocks["block"]).astype(np.uint64), scale=scale, weight=weight, strain_scale=strain,
        )  # fmt: skip
        for array in fields.values():
            array.setflags(write=False)
        return Tree(**fields)


def _numbered(blocks: dict[str, Any], seg: dict[str, Any], lanes: Ints) -> dict[str, Ints]:
    """Where the coordinates with the given padded lanes (n,) stand in the blocks, and the blocks in memory."""
    packs, face, block = blocks["packs"], blocks["face"], blocks["block"]
    width = LANES * (face + packs)
    owner = np.repeat(np.arange(len(block)), seg["own_packs"])[lanes // LANES]  # segment of each coordinate
    place = lanes - LANES * seg["own_pack"][owner] + LANES * (blocks["own_at"] + face[block])[owner]
    extended = place + LANES * blocks["extended_at"][block[owner]]
    of_lane = np.full(int(width.sum()), -1)
    of_lane[extended] = np.arange(len(lanes))
    host, each = blocks["host"], np.arange(len(packs) + 1)
    ports = np.where(host >= 0, FACE * width[host], 0)
    hosts, members = host.argsort(kind="stable"), block[1:].argsort(kind="stable")
    hosts = hosts[host[hosts] >= 0]
    return dict(
        member=1 + members, member_at=block[1:][members].searchsorted(each),
        child=hosts, child_at=host[hosts].searchsorted(each),
        coordinate=of_lane[of_lane >= 0], lead=np.sort(extended).searchsorted(_ends(width)), extended=extended,
        of_lane=of_lane, block_at=_ends(LANES * packs * width)[:-1], port_at=_ends(ports)[:-1],
    )  # fmt: skip


def _ready(segment: Ints, block: Ints, links: Ints) -> Ints:
    """First node and first record of four links that each block, or one after it, needs: `Tree.ready`."""
    count = int(np.max(block)) + 1
    if count == 1:
        return np.array([[1, 0]])
    nodes = np.arange(1, len(segment))
    rank = np.cumsum(links) - links
    first, record = np.full(count, len(segment)), np.full(count, -(-int(np.sum(links)) // LANES))
    np.minimum.at(first, block[segment[nodes]], nodes)
    there = nodes[links[nodes]]
    np.minimum.at(record, block[segment[there]], rank[there] // LANES)
    first, record = (np.minimum.accumulate(x[::-1])[::-1] for x in (first, record))
    leading = np.append(np.flatnonzero(links), len(segment))[np.minimum(LANES * record, int(np.sum(links)))]
    found = np.stack([np.minimum(first, leading), record], axis=1)
    found[0] = 1, 0
    return found


def _within(sizes: Ints, block: Ints) -> Ints:
    """Where the things of segments, of the given sizes, begin in the memory of their block."""
    if not block.any():
        return np.cumsum(sizes) - sizes
    order = np.argsort(block, kind="stable")
    at = np.cumsum(sizes[order]) - sizes[order]
    first = np.searchsorted(block[order], block[order])
    found = np.empty_like(at)
    found[order] = at - at[first]
    return found


def _ends(sizes: Ints) -> Ints:
    """Where things of the given sizes begin that stand one after the other, and where the last ends."""
    ends = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.add.accumulate(sizes, out=ends[1:])
    return ends


def _is_flat(node: dict[str, Any], fixed: Floats, prescribed: Floats, seg: dict[str, Any]) -> bool:
    """Whether no link can leave the plane x-y of the world, but for frames on which nothing hangs."""
    kind = node["kind"]
    rods, joints = kind == ROD, kind == JOINT
    used = np.arange(6) < seg["strain_count"][:, None]
    out = (LEAVES_PLANE[seg["strains"]] & used).any(axis=1)
    if out[node["segment"][rods]].any() or (kind == BALL).any():
        return False
    carrying = np.zeros(len(kind), dtype=bool)
    carrying[node["parent"][1:]] = True
    still = fixed[(kind == FIXED) & carrying]
    if (np.abs(still[:, [2, 5, 6, 7, 11]]) > FLATNESS).any() or (still[:, 8] <= 0.0).any():
        return False  # or turned over
    if prescribed[rods[kind != FIXED]].reshape(-1, 2, 6)[:, :, LEAVES_PLANE].any():
        return False
    axis, turn, slide = fixed[joints, :3], fixed[joints, 3], fixed[joints, 4]
    leaves = (slide != 0.0) & (np.abs(axis[:, 2]) > FLATNESS)
    return not (leaves | (turn != 0.0) & (np.hypot(axis[:, 0], axis[:, 1]) > FLATNESS)).any()


def turning(kind: Ints, fixed: Floats, inertia: Floats) -> Floats:
    """Inertia of every node about the world's z, in a flat robot: only fixed links turn other axes into z."""
    normals = np.where(kind[:, None] == FIXED, fixed[:, 6:9], (0.0, 0.0, 1.0))
    return np.einsum("ij,ij->i", normals**2, inertia)


def _terms(
    node: dict[str, Any], seg: dict[str, Any], slot: Ints, basis: Floats
) -> tuple[Ints, npt.NDArray[np.uint64], Floats]:
    """What packs of coordinates add to the strains of records of four links: Tree.term_at, term, term_value."""
    links = np.flatnonzero(node["kind"] != FIXED)
    owner = node["segment"][links]
    rank, k, tables = own_tables(links, seg["own_packs"][owner], basis, node["basis_at"])
    there = tables.reshape(-1, 2 * LANES).any(axis=1)
    rank, tables = rank[there], tables[there]
    pack = seg["own_pack"][owner[rank]] + k[there]
    keys = rank // LANES * len(slot) + pack  # a term for every record and pack, in the order of the links
    found: dict[int, int] = {}
    number = [found.setdefault(key, len(found)) for key in keys.tolist()]
    term_value = np.zeros((len(found), LANES, 2, LANES))
    term_value[number, :, :, rank % LANES] = tables.transpose(0, 2, 1)
    record, pack = np.divmod(_ints([*found]), max(len(slot), 1))
    strain = seg["strains"][np.repeat(np.arange(len(seg["own_packs"])), seg["own_packs"])[pack], slot[pack]]
    records = np.arange(-(-len(links) // LANES) + 1)
    if (
        len(term_value) > MANY_TERMS
    ):  # alike rods have alike values: those of a large robot would not fit in fast memory
        which: dict[bytes, int] = {}
        value_at = np.array([which.setdefault(one.tobytes(), len(which)) for one in term_value])
        term_value = term_value[np.unique(value_at, return_index=True)[1]]
    else:
        value_at = np.arange(len(term_value))
    term = np.empty((len(record), 3), np.uint64)
    term[:, 0], term[:, 1], term[:, 2] = LANES * strain, LANES * pack, TERM * value_at
    return record.searchsorted(records), term, term_value.ravel()


def _by_lane(given: dict[int, float], count: int) -> Floats:
    out = np.zeros(count)
    out[list(given)] = list(given.values())
    return out


def _fixed(pose: Floats) -> Floats:
    """Rotation (9) and translation (3) of a pose, (1, 12)."""
    return np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]])[None]


def _centre(body: RigidBody) -> tuple[Floats, float, Floats]:
    """Principal axes at the centre of mass in body axes (1, 12), mass and principal moments (1, 3)."""
    moments, rotation = body.principal()
    return np.concatenate([rotation.ravel(), body.com])[None], float(body.mass), np.asarray(moments)[None]


def _ints(values: Sequence | Ints) -> Ints:
    return np.ascontiguousarray(values, dtype=np.int64)
