"""From the loads, actuators and constraints of a description to the tables that kernels read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from anguilla.compiler.lanes import LANES
from anguilla.compiler.table import Table
from anguilla.describe import (
    Actuator,
    Contact,
    DistributedWrench,
    Fluid,
    Frame,
    Hull,
    Magnet,
    Muscle,
    Rod,
    RodHandle,
    Spring,
    Tendon,
    Thruster,
    UserForce,
    UserLoad,
    Wrench,
)
from anguilla.errors import DescriptionError
from anguilla.loads.fluid import BLUNT, CURRENT, DISPLACED, FLUID_SIZE, KIRCHHOFF
from anguilla.loads.rubbing import UNKNOWN
from anguilla.loads.table import (
    CONTACT,
    FLUID,
    LENGTH,
    MAGNET,
    REST,
    ROTATION,
    TAIL,
    THRUSTER,
    TRANSLATION,
    TWIST,
    USER,
    Cables,
    Constraints,
    Frames,
    Loads,
    Muscles,
    Pairs,
    Streams,
)
from anguilla.mechanics.compile import Layout, PartLayout
from anguilla.mechanics.grid import SAME, gauss_points, nodal_integrals, numbered
from anguilla.mechanics.tree import Floats, Ints, columns_of

STREAMED = (0, 3, 4, 5)  # strains that feel the stream along a fish: torsion, stretch, shears
KINDS = {"translation": TRANSLATION, "rotation": ROTATION}


@dataclass
class Tables:
    """Lists on their way to `Loads`, filled one load after the other."""

    model: Layout
    wrench_node: list[int] = field(default_factory=list)
    wrench_follower: list[int] = field(default_factory=list)
    cables: list[tuple[int, int, Floats]] = field(default_factory=list)
    muscle_link: list[int] = field(default_factory=list)
    muscle_gain: list[Floats] = field(default_factory=list)
    # kind, node, numbers in the row, constants
    frames: list[tuple[int, int, int, Floats]] = field(default_factory=list)
    frame_loads: list[int] = field(default_factory=list)  # number of the load of each of them
    streams: list[tuple[int, Floats, Ints, Floats]] = field(default_factory=list)  # node, basis, strains, constants
    stream_loads: list[int] = field(default_factory=list)  # likewise
    users: list[tuple[UserLoad, float, float]] = field(default_factory=list)  # load, X, weight of each USER frame
    forces: list[UserForce] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    springs: list[tuple[int, list[float]]] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    line: list[tuple[int, int, int]] = field(default_factory=list)  # stretches and spans along tendons with friction
    closures: list[int] = field(default_factory=list)
    twists: list[tuple[int, Floats]] = field(default_factory=list)
    rows: list[tuple[int, int, int, int, float]] = field(default_factory=list)
    row_names: list[str] = field(default_factory=list)

    def node(self, frame: Frame) -> int:
        """Node of a frame."""
        node = self.model.node(frame)
        if node is None:
            raise DescriptionError(f"{frame.label} was moved after the robot was compiled: compile it again.")
        return node

    def pair(self, a: Frame, b: Frame) -> int:
        """Number of the pair of two frames."""
        self.pairs.append((self.node(a), self.node(b)))
        return len(self.pairs) - 1

    def links(self, part: RodHandle, low: float, high: float) -> list[tuple[int, Floats, float]]:
        """(node, Gauss points, length) of the intervals of a rod between two arc lengths."""
        layout = self.model.parts[part.index]
        assert layout.grid is not None
        X = layout.grid.X
        if high > X[-1] * (1.0 + SAME):
            raise DescriptionError(f"an actuator spans to {high:g} m, but {part.name} is now {X[-1]:g} m long.")
        inside = np.flatnonzero((X[:-1] >= low - SAME * X[-1]) & (X[1:] <= high + SAME * X[-1]))
        nodes, lengths = layout.nodes[1:][inside].tolist(), np.diff(X)[inside].tolist()
        return list(zip(nodes, gauss_points(X)[inside], lengths, strict=True))

    def along(self, part: RodHandle) -> list[tuple[int, float, float]]:
        """(node, X, weight) of the nodes of a rod that carry a share of it."""
        layout = self.model.parts[part.index]
        assert layout.grid is not None
        inside = np.flatnonzero(layout.grid.weights > 0.0)
        return [(int(layout.nodes[k]), float(layout.grid.X[k]), float(layout.grid.weights[k])) for k in inside]

    def places(self, where: Frame | RodHandle) -> list[tuple[int, float, float]]:
        """(node, X, weight): of a frame itself, or along a rod."""
        return self.along(where) if isinstance(where, RodHandle) else [(self.node(where), 0.0, 1.0)]

    def touching(self, load: Contact) -> tuple[list[int], Floats, Floats]:
        """Nodes that may touch an obstacle, their arc lengths (m,) and their shares of the length (m,)."""
        found = [(self.node(frame), 0.0, 1.0) for frame in load.points()]
        found = self.along(load.where) if isinstance(load.where, RodHandle) else found
        nodes, X, weights = zip(*found, strict=True)
        return list(nodes), _floats(X), _floats(weights)

    def add_actuator(self, number: int, name: str, actuator: Actuator) -> None:
        """Stretches along rods, spans between bodies, and the constraint of a tendon driven by its length."""
        along = []
        for part, routing, low, high in actuator.stretches:
            first = len(self.cables)
            links = self.links(part, low, high)
            X = np.concatenate([np.zeros(0), *(points for _, points, _ in links)])
            data = np.zeros((len(X), 7))
            data[:, :3], data[:, 3:6] = routing.offset(X), routing.slope(X)
            data[:, 6] = np.repeat([0.5 * actuator.tension_per_input * length for _, _, length in links], 2)
            self.cables += [(link[0], number, row) for link, row in zip(links, data.reshape(-1, 14), strict=True)]
            along.append([(0, k, number) for k in range(first, len(self.cables))])
        first = len(self.spans)
        for a, b in actuator.spans:
            self.spans.append((self.pair(a, b), number))
        if getattr(actuator, "friction", 0.0):
            through = [(1, k, number) for k in range(first, len(self.spans))]
            self.line += [place for piece in actuator.in_order(along, through) for place in piece]
        if isinstance(actuator, Tendon) and actuator.by == "length":
            self.rows.append((LENGTH, number, 0, 0, actuator.compliance))
            self.row_names.append(f"length of {name!r}")

    def add_load(self, load) -> None:
        """One load of the description."""
        if isinstance(load, Wrench):
            self.wrench_node.append(self.node(load.frame))
            self.wrench_follower.append(int(load.follower))
        elif isinstance(load, DistributedWrench):
            nodes = [node for node, _, _ in self.along(load.part)]
            self.wrench_node += nodes
            self.wrench_follower += [int(load.follower)] * len(nodes)
        elif isinstance(load, Muscle):
            for node, points, length in self.links(load.part, 0.0, load.part.length):
                self.muscle_link.append(node)
                self.muscle_gain.append((0.5 * length * load.gains(points)).ravel())
        elif isinstance(load, Thruster):
            self.frames.append((THRUSTER, self.node(load.frame), 9, np.concatenate([load.kp, load.ki])))
        elif isinstance(load, Magnet):
            gradient = np.asarray(load.gradient).ravel()
            for node, _, weight in self.places(load.where):
                self.frames.append((MAGNET, node, 3, np.concatenate([weight * np.asarray(load.moment), gradient])))
        elif isinstance(load, Spring):
            self.springs.append((self.pair(load.a, load.b), [load.stiffness, load.rest, load.damping]))
        elif isinstance(load, UserLoad):
            for node, X, weight in self.places(load.where):
                self.users.append((load, X, weight))
                self.frames.append((USER, node, 0, np.zeros(0)))
        elif isinstance(load, UserForce):
            self.forces.append(load)
        elif isinstance(load, Fluid):
            self.add_fluid(load)
        elif isinstance(load, Contact):
            nodes, *shares = self.touching(load)
            self.frames += [(CONTACT, i, 0, row) for i, row in zip(nodes, load.constants(*shares), strict=True)]
        elif isinstance(load, Hull):
            flags = np.array([load.potential, not load.slender], dtype=float)
            self.frames.append((FLUID, self.node(load.frame), 0, _water(load.coefficients, flags, load.current)))
        else:
            raise DescriptionError(f"{load.label}: a load of type {type(load).__name__} is not known to the core.")

    def add_fluid(self, load: Fluid) -> None:
        """Water on the nodes of a rod or on frames of a body; the stream along a fish and the wake of its tail."""
        flags = np.array([load.kirchhoff, 0.0])
        for frame, integrals in load.points():
            self.frames.append((FLUID, self.node(frame), 0, _water(integrals, flags, load.current)))
        if not isinstance(load.part, RodHandle):
            return
        layout, rod = self.model.parts[load.part.index], load.part.rod
        assert layout.grid is not None
        table = nodal_integrals(rod, layout.grid, load.coefficients)
        bases = _bases(rod, layout.grid.X)
        carried = bool(np.any(np.isin(bases[1], STREAMED)))
        for node, basis, integrals in zip(layout.nodes.tolist(), bases[0], table, strict=True):
            if np.any(integrals):
                constants = _water(integrals, flags, load.current)
                self.frames.append((FLUID, node, 0, constants))
                if load.kirchhoff and carried:
                    self.streams.append((node, basis, bases[1], constants))
        if load.has_tail:
            end = load.coefficients(np.array([rod.length]))[0]
            self.frames.append((TAIL, int(layout.nodes[-1]), 0, _water(end, flags, load.current)))

    def add_constraints(self) -> None:
        """Closures of loops and constraints on twists."""
        robot = self.model.robot
        for number, closure in enumerate(robot.closures.values()):
            self.closures.append(self.pair(closure.a, closure.b.offset_by(closure.sides[1])))
            for kind, k, l, value in closure.rows:
                self.rows.append((KINDS[kind], number, k, l, value))
                self.row_names.append(closure.name)
        for number, twist in enumerate(robot.constraints):
            other = twist.frame.robot.ground if twist.other is None else twist.other
            self.twists.append(
                (self.pair(twist.frame, other), np.concatenate([twist.coefficients, twist.other_coefficients]))
            )
            self.rows.append((TWIST, number, 0, 0, 0.0))
            self.row_names.append(twist.label)


def build(model: Layout) -> tuple[Loads, Tables]:
    """Tables of all loads of a compiled robot, with scratch memory."""
    tables, robot, tree = Tables(model), model.robot, model.tree
    tables.add_constraints()
    for number, (name, actuator) in enumerate(robot.actuators.items()):
        tables.add_actuator(number, name, actuator)
    for number, load in enumerate(robot.loads):
        tables.add_load(load)
        tables.frame_loads += [number] * (len(tables.frames) - len(tables.frame_loads))
        tables.stream_loads += [number] * (len(tables.streams) - len(tables.stream_loads))
    t = tables
    driven = [k for layout in model.parts for k in driven_coordinates(layout)]
    # the row: wrenches, efforts, inputs, poses, motions, stresses, rates, then what frame loads ask for
    sizes = [6 * len(t.wrench_node), model.size, len(robot.actuators), 12 * len(t.closures), 3 * len(driven)]
    sizes += [12 * len(t.muscle_link), len(t.twists)]
    at = REST + np.concatenate([[0], np.cumsum(sizes)])
    frame_row = at[-1] + np.concatenate([[0], np.cumsum([count for _, _, count, _ in t.frames])])
    lanes = LANES * len(tree.pack_slot)
    loads = Loads(
        np.zeros(int(frame_row[-1])),
        _ints(at),
        _ints(np.array([t.wrench_node, t.wrench_follower]).reshape(2, -1).T),
        _ints(driven),
        np.zeros(len(robot.actuators)),
        _shared(Cables, robot.actuators, lambda: _cables(t)),
        _shared(Muscles, t.muscle_link, lambda: _muscles(t)),
        _shared(Frames, t.frames, lambda: _frames(t, frame_row)),
        _shared(Streams, t.streams, lambda: _streams(model, t.streams, lanes)),
        _shared(Pairs, t.pairs, lambda: _pairs(t, lanes)),
        _shared(Constraints, t.rows or robot.actuators, lambda: _constraints(t, lanes)),
    )
    return loads, tables


_EMPTY: dict[type[Table], Table] = {}
AnyTable = TypeVar("AnyTable", bound=Table)


def _shared(kind: type[AnyTable], there: object, make: Callable[[], AnyTable]) -> AnyTable:
    """Make a table of loads that are there; of others once for all robots, since it holds nothing that could change."""
    if there:
        return make()
    if kind not in _EMPTY:
        _EMPTY[kind] = make()
    return cast(AnyTable, _EMPTY[kind])


def _cables(t: Tables) -> Cables:
    """Tendons and chambers along rods."""
    actuators = t.model.robot.actuators.values()
    return Cables(
        link=_ints(np.array([c[:2] for c in t.cables]).reshape(-1, 2)),
        data=_floats(np.array([c[2] for c in t.cables]).reshape(-1, 14)),
        friction=_floats([getattr(actuator, "friction", 0.0) for actuator in actuators]),
        factor=np.ones((len(t.cables), 2)),
        path=_ints(np.array(t.line).reshape(-1, 3)),
        slip=np.full((len(t.line), 2, 2), UNKNOWN),
        slips=np.zeros((len(t.line), 2, 2)),
    )


def _muscles(t: Tables) -> Muscles:
    """Active stresses."""
    return Muscles(_ints(t.muscle_link), _floats(np.array(t.muscle_gain).reshape(-1, 12)))


def _frames(t: Tables, row: Ints) -> Frames:
    """Loads on frames; `row` says where their values begin in the row."""
    count = len(t.frames)
    data = np.zeros((count, FLUID_SIZE))
    for k, (_, _, _, values) in enumerate(t.frames):
        data[k, : len(values)] = values
    kind, node = np.array([frame[:2] for frame in t.frames], dtype=np.int64).reshape(-1, 2).T
    which, _, columns, places = columns_of(t.model.tree, node)
    until = np.searchsorted(which, np.arange(count + 1))
    return Frames(
        table=_ints(np.stack([kind, node, row[:count], until[:-1], until[1:]], axis=1)), data=data,
        source=np.stack([columns, places], axis=1).astype(np.uint64),
        wrench=np.zeros((count, 6)), block=np.zeros((count, 6, 18)), state=np.zeros((count, 3, 6)),
    )  # fmt: skip


def _pairs(t: Tables, lanes: int) -> Pairs:
    """Pairs of frames, and what acts between them: springs and free spans of tendons."""
    count = len(t.pairs)
    pairs = np.array(t.pairs, dtype=np.int64).reshape(-1, 2)
    side, pack, columns, places = columns_of(t.model.tree, pairs.ravel())
    pair, either = np.divmod(np.unique(side // 2 * max(lanes, 1) + pack), max(lanes, 1))  # packs that move either node
    ends = np.searchsorted(pair, np.arange(count + 1))
    return Pairs(
        table=_ints(np.stack([*pairs.T, ends[:-1], ends[1:]], axis=1)),
        pack=_ints(either),
        source=np.stack([side, LANES * pack, columns, places], axis=1).astype(np.uint64),
        jacobian=np.zeros((count, 24, lanes)), block=np.zeros((count, 12, 24)),
        spring=_ints([x[0] for x in t.springs]), spring_data=_floats(np.array([x[1] for x in t.springs]).reshape(-1, 3)),
        span=_ints(np.array(t.spans).reshape(-1, 2)), factor=np.ones(len(t.spans)),
    )  # fmt: skip


def _constraints(t: Tables, lanes: int) -> Constraints:
    """Rows of closures, of relations between twists and of tendons driven by their length."""
    count, actuators = len(t.rows), len(t.model.robot.actuators)
    input_row = np.full(actuators, -1)
    for k, (kind, number, *_) in enumerate(t.rows):
        if kind == LENGTH:
            input_row[number] = k
    return Constraints(
        table=_ints(np.array([x[:4] for x in t.rows]).reshape(-1, 4)), value=_floats([x[4] for x in t.rows]),
        closure=_ints(t.closures),
        twist=_ints([x[0] for x in t.twists]), twist_data=_floats(np.array([x[1] for x in t.twists]).reshape(-1, 12)),
        input_row=_ints(input_row), jacobian=np.zeros((count, lanes)), column=np.zeros((count, lanes)),
        diagonal=np.zeros(count), slack=np.zeros(count, np.int64), length=np.zeros(actuators),
    )  # fmt: skip


def _water(integrals: Floats, flags: Floats, current: ArrayLike) -> Floats:
    """Constants of a node in a fluid."""
    out = np.zeros(FLUID_SIZE)
    out[:18], out[[KIRCHHOFF, BLUNT]], out[DISPLACED], out[CURRENT:] = integrals[:18], flags, integrals[18], current
    return out


def _bases(rod: Rod, X: Floats) -> tuple[Floats, Ints]:
    """Values (m, lanes) of the coordinates of a rod at its nodes, in padded lanes, and the strain (lanes,) of each."""
    values, strains = [], []
    for strain, basis in numbered(rod):
        width = LANES * -(-basis.size // LANES)
        values.append(np.pad(basis(X / rod.length), ((0, 0), (0, width - basis.size))))
        strains += [strain] * width
    return np.concatenate(values, axis=1), _ints(strains)


def _streams(model: Layout, found: list[tuple[int, Floats, Ints, Floats]], lanes: int) -> Streams:
    tree, node, width = model.tree, _ints([x[0] for x in found]), _ints([len(x[1]) for x in found])
    which, pack, columns, places = columns_of(tree, node)
    until = np.searchsorted(which, np.arange(len(found) + 1))
    first, at = LANES * tree.own_pack[tree.segment[node]], np.cumsum(width) - width
    return Streams(
        table=_ints(np.stack([node, first, width, at, until[:-1], until[1:]], axis=1)),
        basis=_floats(np.concatenate([np.zeros(0), *(x[1] for x in found)])),
        strain=_ints(np.concatenate([np.zeros(0), *(x[2] for x in found)])),
        data=_floats(np.array([x[3] for x in found]).reshape(-1, FLUID_SIZE)),
        source=np.stack([LANES * pack, columns, places], axis=1).astype(np.uint64),
        stress=np.zeros((len(found), 6)),
        change=np.zeros((len(found), lanes, 6)),
    )


def driven_coordinates(layout: PartLayout) -> list[int]:
    """Coordinates of a part whose motion is given: of its joint, then those of a rod with an imposed shape."""
    found = [layout.joint.start + k for k, motion in enumerate(layout.part.joint.motions) if motion is not None]
    if isinstance(layout.part, RodHandle) and layout.part.rod.shape is not None:
        found += (layout.coordinates.start + layout.part.rod.projection().driven).tolist()
    return found


def _ints(values) -> Ints:
    return np.ascontiguousarray(values, dtype=np.int64)


def _floats(values) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)
