"""From what may touch each other to the tables that kernels read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from anguilla.compiler.lanes import LANES
from anguilla.describe import BodyHandle, RodHandle
from anguilla.describe.load import Side
from anguilla.interact.kernels.distance import SHAPE_SIZE
from anguilla.interact.kernels.friction import HELD
from anguilla.interact.kernels.gliding import GLIDE, POINTS
from anguilla.interact.kernels.nearest import cubic
from anguilla.interact.kernels.table import COUNT, LAW, SCALES, STIFF, Touches
from anguilla.interact.kernels.touch import ALONE, FREE_SIZE, HIT, NEXT, NOWHERE, REST, ROD, TOLD
from anguilla.interact.kernels.touch_change import CHANGE, LANE
from anguilla.interact.kernels.touch_steps import BEFORE
from anguilla.mechanics.compile import Layout
from anguilla.mechanics.tree import Floats, Ints, columns_of, in_blocks

ROOM = 64  # places in the list of what is near, for each cluster and interval
HITS = 4  # contacts of a point at once


@dataclass
class Touching:
    """Lists on their way to `Touches`: points of parts in clusters, intervals of rods, shapes of bodies."""

    model: Layout
    tables: list[tuple[int, ...]] = field(default_factory=list)
    laws: list[Floats] = field(default_factory=list)
    clusters: list[tuple[int, ...]] = field(default_factory=list)
    reaches: list[tuple[float, float]] = field(default_factory=list)
    points: list[Floats] = field(default_factory=list)
    curves: list[Ints] = field(default_factory=list)
    spans: list[Floats] = field(default_factory=list)
    bodies: list[int] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    shapes: list[Floats] = field(default_factory=list)
    skin: float = np.inf
    held: int = 0
    sides: list[float] = field(default_factory=list)  # 1 where the points are those of a
    pairs: list[Ints] = field(default_factory=list)  # nodes of both parts
    known: dict[tuple, tuple[int, int]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Points so far."""
        return sum(len(rows) for rows in self.points)

    def _once(self, what: str, side: Side, make: Callable[[Side], tuple[int, int]]) -> tuple[int, int]:
        """The same points or surface of a part serve all its contacts."""
        wide = (side.radii(self._grid(side)) if side.on_rod else np.asarray(side.radius)).tobytes()
        given = (
            wide,
            side.spacing if what == "points" else 0.0,
            side.points.tobytes(),
            side.glide.tobytes(),
            None if side.shape is None else side.shape.tobytes(),
        )
        key = what, *self.nodes(side).tolist(), *given
        if key not in self.known:
            self.known[key] = make(side)
        return self.known[key]

    def nodes(self, side: Side) -> Ints:
        """Nodes of what may touch."""
        if isinstance(side.where, RodHandle):
            return np.asarray(self.model.parts[side.where.index].nodes)
        return np.array([self.model.node(side.where)])

    def _grid(self, side: Side) -> Floats:
        """Arc lengths of the nodes of a rod [m]."""
        grid = self.model.parts[side.where.index].grid if isinstance(side.where, RodHandle) else None
        assert grid is not None
        return grid.X

    def _cluster(self, rows: Floats, i: int, j: int, length: float, beyond: float) -> None:
        first = self.count
        self.points.append(rows)
        self.clusters.append((first, first + len(rows), i, j))
        self.reaches.append((length, beyond))

    def _points(self, side: Side) -> tuple[int, int]:
        """Clusters of the points of a part."""
        first, nodes = len(self.clusters), self.nodes(side)
        if not side.on_rod:
            rows = np.zeros((len(side.points), POINTS))
            rows[:, [0, 2]], rows[:, 4:7], rows[:, 8], rows[:, 9] = 1.0, side.points, side.radius, side.shares
            rows[:, GLIDE:] = side.glide
            far = float(np.max(np.linalg.norm(side.points, axis=1) + side.radius, initial=0.0))
            far += float(np.linalg.norm(side.glide))
            self._cluster(rows, int(nodes[0]), int(nodes[0]), 0.0, far)
            return first, len(self.clusters)
        grid = self._grid(side)
        for k, length in enumerate(np.diff(grid)):
            many = max(1, int(np.ceil(length / side.spacing)))
            s = (np.arange(many) + 0.5) / many
            X = grid[k] + s * length
            rows = np.zeros((many, POINTS))
            rows[:, :4] = np.array([cubic(x, length) for x in s])
            rows[:, 4], rows[:, 7], rows[:, 8] = 1.0, s, side.radii(X)
            rows[:, 9], rows[:, 10] = length / many, X
            self._cluster(rows, int(nodes[k]), int(nodes[k + 1]), float(length), float(rows[:, 8].max()))
        return first, len(self.clusters)

    def _curve(self, side: Side) -> tuple[int, int]:
        """Intervals of a rod."""
        first, nodes, X = sum(map(len, self.curves)), self.nodes(side), self._grid(side)
        radii = side.radii(X)
        self.curves.append(np.stack([nodes[:-1], nodes[1:]], axis=1))
        self.spans.append(np.stack([np.diff(X), radii[:-1], radii[1:], X[:-1]], axis=1))
        return first, first + len(nodes) - 1

    def _shape(self, side: Side) -> tuple[int, int]:
        """The shape of a body; bodies are numbered behind all intervals, which is settled at the end."""
        assert side.shape is not None
        row = np.zeros(SHAPE_SIZE)
        row[: len(side.shape)] = side.shape
        self.bodies.append(int(self.nodes(side)[0]))
        self.sizes.append(side.size)
        self.shapes.append(row)
        return -len(self.bodies), -len(self.bodies)

    def touch(self, a: Side, b: Side, law: tuple[float, ...], thinnest: float) -> None:
        """Let two parts touch, or a rod itself: law is as in `Touches`, scales on a."""
        itself = a.where is b.where
        self.pairs.append(np.unique(np.concatenate([self.nodes(a), self.nodes(b)])))
        ways = [(x, y) for x, y in ((a, b), (b, a))[: 1 if itself else 2] if x.has_points and y.has_surface]
        for best in (lambda x: x.on_rod, lambda x: len(x.points) == 1):  # rods touch all along, balls with one point
            ways = [(x, y) for x, y in ways if best(x)] or ways
        if all(len(x.points) == 1 for x, _ in ways):  # two balls: one contact, which both sides would see
            ways = ways[:1]
        halves = itself or (all(x.on_rod for x, _ in ways) and len(ways) == 2)  # what both rods feel counts twice
        alone = int(itself) + int(itself and a.ring)
        for x, y in ways:
            since, until = self._once("points", x, self._points)
            first, last = self._once("surface", y, self._curve if y.on_rod else self._shape)
            self.tables.append((len(self.pairs) - 1, since, until, first, last, alone, self.held))
            self.sides.append(1.0 if x is a else -1.0)
            own = np.append(law, self._pushed(x, y))
            own[STIFF] *= 0.5 if halves else 1.0
            own[SCALES] *= self.sides[-1]
            self.laws.append(own)
            self.held += self.clusters[until - 1][1] - self.clusters[since][0]
        self.skin = min(self.skin, thinnest)

    def _pushed(self, x: Side, y: Side) -> float:
        """Mass [kg] of what is pushed by the other one, whose motion is given; of a rod that of an interval, else 0."""
        side = y if _is_driven(x) else x
        if not (_is_driven(x) or _is_driven(y)):
            return 0.0
        if isinstance(side.where, RodHandle):
            return side.where.rod.mass / (len(self.nodes(side)) - 1)
        return side.where.part.body.mass if isinstance(side.where.part, BodyHandle) else 0.0

    def build(self, pairs_before: int, widest: int, grid: Floats) -> Touches:
        """All tables, with scratch memory: behind other pairs; for `widest` packs of a pair; with all grids."""
        tree = self.model.tree
        table = np.array(self.tables, dtype=np.int64).reshape(-1, 7)
        curve = np.concatenate([np.zeros((0, 2), np.int64), *self.curves]).astype(np.int64)
        bodies = table[:, 3] < 0
        table[bodies, 3] = len(curve) - table[bodies, 3] - 1
        table[bodies, 4] = table[bodies, 3] + 1
        table[:, 0] += pairs_before
        cluster = np.array(self.clusters, dtype=np.int64).reshape(-1, 4)
        nodes = np.unique(np.concatenate([cluster[:, 2:].ravel(), curve.ravel(), np.array(self.bodies, np.int64)]))
        order, at = in_blocks(tree, nodes)
        nodes = nodes[order]
        which, pack, columns, places = columns_of(tree, nodes)
        rows = _in_rows(nodes, np.concatenate([cluster[:, 2:], curve]))
        if not self.tables:  # all robots without contacts share the table: nothing of this one stands in it
            at = np.zeros(1, np.int64)
        slot = np.full(len(tree.parent) if self.tables else 0, -1)
        slot[nodes] = np.arange(len(nodes))
        balls, points = len(cluster) + len(curve) + len(self.bodies), self.count
        most = max(map(len, self.pairs), default=0)
        return Touches(
            table=_ints(table), law=_floats(np.array(self.laws).reshape(-1, LAW)), cluster=_ints(cluster),
            reach=_floats(np.array(self.reaches).reshape(-1, 2)),
            point=_floats(np.concatenate([np.zeros((0, POINTS)), *self.points])), curve=_ints(curve),
            span=_floats(np.concatenate([np.zeros((0, 4)), *self.spans])), body=_ints(self.bodies), size=_floats(self.sizes),
            shape=_floats(np.array(self.shapes).reshape(-1, SHAPE_SIZE)),
            grid=grid, slot=_ints(slot), node=rows,
            entry=_ints(np.searchsorted(which, np.arange(len(nodes) + 1))),
            source=np.stack([pack, columns, places], axis=1).astype(np.uint64), at=_ints(at),
            skin=np.array([self.skin if self.tables else 1.0, -1.0]), held=np.zeros((self.held, 2, HELD)),
            before=np.zeros((self.held, BEFORE)), deep=np.tile([NOWHERE, 0.0, 0.0, 0.0, 0.0], (self.held, 1)),
            ball=np.zeros((balls, 4)),
            anchor=np.zeros((balls, 4)), rest=np.zeros((len(rows), REST)), free=np.zeros(FREE_SIZE),
            near=np.zeros((ROOM * balls, 3), np.int64), count=np.zeros(COUNT, np.int64),
            hits=np.zeros((HITS * points, 4), np.int64), hit=np.zeros((HITS * points, HIT)),
            used=np.zeros(len(nodes), np.int64), wrench=np.zeros((len(nodes), 6)), told=np.zeros((len(table), TOLD)),
            jacobian=np.zeros((len(which), 12, LANES)),
            lane=np.zeros((widest, LANE, LANES)), change=np.zeros((widest, CHANGE, LANES)),
            seat=np.full(len(nodes), -1), seated=np.zeros(most + 1, np.int64), turn=np.zeros((most, widest, 6, LANES)),
            drift=np.zeros((balls, 4)),
        )  # fmt: skip


def _is_driven(side: Side) -> bool:
    """Whether something moves as its joints, and those that carry it, are told to."""
    if isinstance(side.where, RodHandle):
        return False
    given, frame = False, side.where
    while not frame.is_ground:
        motions = frame.part.joint.motions
        if isinstance(frame.part, RodHandle) or None in motions:
            return False
        given, frame = given or len(motions) > 0, frame.part.parent
    return given


def _in_rows(nodes: Ints, ends: Ints) -> Ints:
    """Nodes (v, 2), and what each is (`touch.py`); ends (m, 2) are those of intervals.

    An interval whose ends are in rows that do not follow each other gets rows of its own.
    """
    rows, pairs = [], {(int(i), int(j)) for i, j in ends if i != j}
    rods = {i for pair in pairs for i in pair}
    for before, here in zip([-1, *nodes.tolist()], nodes.tolist(), strict=False):
        rows.append((here, (NEXT if (before, here) in pairs else ROD) if here in rods else ALONE))
        pairs.discard((before, here))
    for i, j in sorted(pairs):
        rows += [(i, ROD), (j, NEXT)]
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def _ints(values) -> Ints:
    return np.ascontiguousarray(values, dtype=np.int64)


def _floats(values) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)
