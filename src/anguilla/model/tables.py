"""From the loads, actuators and constraints of a description to the tables that kernels read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from anguilla.compiler.lanes import LANES
from anguilla.compiler.table import Arrays
from anguilla.describe import Actuator, Frame, Load, Rod, RodHandle, Routing
from anguilla.describe.load import Seat, Side, Values, repeated
from anguilla.describe.shaping import ShapeProjection
from anguilla.errors import DescriptionError
from anguilla.interact.kernels.distance import SIZE
from anguilla.interact.kernels.fluid import FLUID_SIZE
from anguilla.interact.kernels.frames import KINDS
from anguilla.interact.kernels.rubbing import UNKNOWN
from anguilla.interact.kernels.table import (
    CONSTANTS,
    EFFORT,
    FRAME,
    GRAVITY,
    INPUT,
    LENGTH,
    MOTION,
    POSE,
    RATES,
    REST,
    ROTATION,
    STRESS,
    TRANSLATION,
    TWIST,
    WRENCH,
    Cables,
    Constraints,
    Frames,
    Loads,
    Muscles,
    Pairs,
    Streams,
    Touches,
)
from anguilla.mechanics.compile import Layout
from anguilla.mechanics.grid import SAME, gauss_points, nodal_integrals, numbered
from anguilla.mechanics.relaxing import Relaxing, relaxing_of
from anguilla.mechanics.tree import Floats, Ints, columns_of, in_blocks, is_cut, lanes_used
from anguilla.model.touching import Touching

SHORT = 1e-6  # of the length: distance of two frames below which a line between them pulls less and less
STREAMED = (0, 3, 4, 5)  # strains that feel the stream along a fish: torsion, stretch, shears
ROWS = {"translation": TRANSLATION, "rotation": ROTATION}


class Samples(NamedTuple):
    """Values in time that stand in the row.

    Attributes:
        family: place in `Loads.at` of the part of the row they stand in; None for the row as a whole.
        start: their first place in that part.
        constant: whether they do not depend on time.
        values: function of times (nt,) [s] that returns them, (nt, ...).
        width: how many there are, if they are forces, which a load factor multiplies; else 0.

    """

    family: int | None
    start: int
    constant: bool
    values: Values
    width: int = 0


@dataclass
class Tables:
    """Lists on their way to `Loads`, filled one load after the other: the `Book` that loads write themselves into."""

    model: Layout
    wrench_node: list[int] = field(default_factory=list)
    wrench_follower: list[int] = field(default_factory=list)
    cables: list[tuple[list[int], int, Floats]] = field(default_factory=list)  # nodes, actuator, data of a stretch
    cable_count: int = 0  # intervals of all of them
    between: dict[tuple[int, float, float], tuple[list[int], Floats, Floats]] = field(default_factory=dict)
    muscle_link: list[int] = field(default_factory=list)
    muscle_gain: list[Floats] = field(default_factory=list)
    # kind, node, numbers in the row, constants
    frames: list[tuple[int, int, int, Floats]] = field(default_factory=list)
    grids: dict[int, Floats] = field(default_factory=dict)  # coefficients of grids, by what they are of
    entering: Load | None = None  # the load that is writing itself
    frame_loads: list[int] = field(default_factory=list)  # number of the load of each of them
    frame_spread: list[bool] = field(default_factory=list)  # whether each of them is known as a density too
    streamed: list[tuple[int, Floats, Ints, Floats]] = field(default_factory=list)  # node, basis, strains, constants
    stream_loads: list[int] = field(default_factory=list)  # likewise
    users: list[tuple[Any, float, float]] = field(default_factory=list)  # load, X, weight of each USER frame
    forces: list[Any] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    springs: list[tuple[int, Sequence[float]]] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    line: list[tuple[int, int, int]] = field(default_factory=list)  # stretches and spans along tendons with friction
    closures: list[int] = field(default_factory=list)
    twists: list[tuple[int, Floats]] = field(default_factory=list)
    rows: list[tuple[int, int, int, int, float]] = field(default_factory=list)
    row_names: list[str] = field(default_factory=list)
    driven: list[int] = field(default_factory=list)  # coordinates whose motion is given
    shapes: dict[int, ShapeProjection] = field(
        default_factory=dict
    )  # prescribed shapes of rods by the number of their part
    widths: list[int] = field(default_factory=lambda: [0] * 8)  # of the parts of the row
    sampled: list[Samples] = field(default_factory=list)
    seats: list[Seat] = field(default_factory=list)  # of each load
    touch_loads: list[int] = field(default_factory=list)  # number of the load of each row of `Touches.table`
    touching: Touching = field(init=False)

    def __post_init__(self) -> None:
        self.touching = Touching(self.model)

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

    def stretch(self, part: RodHandle, low: float, high: float) -> tuple[list[int], Floats, Floats]:
        """Intervals of a rod between two arc lengths: their nodes, their Gauss points (m, 2) and lengths (m,)."""
        key = part.index, low, high
        if key not in self.between:
            layout = self.model.parts[part.index]
            assert layout.grid is not None
            X = layout.grid.X
            if high > X[-1] * (1.0 + SAME):
                raise DescriptionError(f"an actuator spans to {high:g} m, but {part.name} is now {X[-1]:g} m long.")
            inside: Any = slice(None)
            if low > 0.0 or high < X[-1]:
                inside = (X[:-1] >= low - SAME * X[-1]) & (X[1:] <= high + SAME * X[-1])
            self.between[key] = layout.nodes[1:][inside].tolist(), gauss_points(X)[inside], (X[1:] - X[:-1])[inside]
        return self.between[key]

    def seat(self, where: Frame | RodHandle | Sequence[Frame]) -> Seat:
        """Where to act: on a frame, on several, or on the nodes of a rod that carry a share of it."""
        if not isinstance(where, RodHandle):
            return Seat.on([self.node(frame) for frame in ([where] if isinstance(where, Frame) else where)])
        layout = self.model.parts[where.index]
        assert layout.grid is not None
        inside = np.flatnonzero(layout.grid.weights > 0.0)
        return Seat(layout.nodes[inside], layout.grid.X[inside], layout.grid.weights[inside])

    def gauss(self, part: RodHandle) -> Seat:
        """The Gauss points of the intervals of a rod, two for each: X and weights (2 m,), nodes (m,)."""
        nodes, points, lengths = self.stretch(part, 0.0, part.length)
        return Seat(_ints(nodes), points.ravel(), np.repeat(0.5 * lengths, 2))

    def integrals(self, part: RodHandle, density: Callable[[Floats], Floats]) -> tuple[Seat, Floats]:
        """All nodes of a rod, and the integrals (k, c) around them of a density X (m,) -> (m, c)."""
        layout = self.model.parts[part.index]
        assert layout.grid is not None
        seat = Seat(layout.nodes, layout.grid.X, layout.grid.weights)
        return seat, nodal_integrals(part.rod, layout.grid, density)

    def sample(
        self, family: int, width: int, constant: bool, values: Values, *, at: int | None = None, force: bool = False
    ) -> None:
        """Keep room in the row for values in time, at the end of a part of it or at a place of it."""
        start = self.widths[family] if at is None else at
        self.widths[family] = max(self.widths[family], start + width)
        self.sampled.append(Samples(family, start, constant, values, width if force else 0))

    def wrenches(self, nodes: Ints, follower: bool, constant: bool, values: Values) -> None:
        """Wrenches that are given in time: values (nt, k, 6), in world axes, or those of the nodes (follower)."""
        self.wrench_node += nodes.tolist()
        self.wrench_follower += [int(follower)] * len(nodes)
        self.sample(WRENCH, 6 * len(nodes), constant, values, force=True)

    def stresses(self, nodes: Ints, gains: Floats, constant: bool, values: Values) -> None:
        """Strain loads on intervals: values + gains (m, 12) x strain, at their two Gauss points, times the weights."""
        self.muscle_link += nodes.tolist()
        self.muscle_gain += list(gains)
        self.sample(STRESS, 12 * len(nodes), constant, values, force=True)

    def on_frames(
        self, kernel: str, nodes: Ints, constants: Floats, *, values: Values | None = None, numbers: int = 0,
        constant: bool = True, force: bool = False, spread: bool = True,
    ) -> None:  # fmt: skip
        """Frame loads: what `kernel` does with the constants (k, c) and, from the row, with values (nt, numbers) in time."""
        spread = spread and self.entering is not None and self.entering.density_on is not None
        kind = KINDS[kernel]
        self.frames += [(kind, node, numbers, row) for node, row in zip(nodes.tolist(), constants, strict=True)]
        self.frame_spread += [spread] * len(nodes)
        if values is not None:
            each = partial(repeated, values, len(nodes))
            self.sample(FRAME, numbers * len(nodes), constant, each, force=force)

    def grid(self, coefficients: Floats) -> int:
        """Place of the coefficients of a grid of distances in the flat array of all of them."""
        if id(coefficients) not in self.grids:
            self.grids[id(coefficients)] = coefficients.ravel()
        at = list(self.grids).index(id(coefficients))
        return sum(values.size for values in list(self.grids.values())[:at])

    @property
    def all_grids(self) -> Floats:
        """The flat array."""
        return np.concatenate([np.zeros(0), *self.grids.values()])

    def streams(self, part: RodHandle, which: Ints, constants: Floats) -> None:
        """Streams along a rod, on its strains, at some of its nodes; none on strains that do not feel them."""
        layout = self.model.parts[part.index]
        assert layout.grid is not None
        values, strains = _bases(part.rod, layout.grid.X)
        if np.any(np.isin(strains, STREAMED)):
            places = zip(layout.nodes[which].tolist(), values[which], constants, strict=True)
            self.streamed += [(node, basis, strains, row) for node, basis, row in places]

    def spring(self, a: Frame, b: Frame, constants: Sequence[float]) -> Seat:
        """A pair load: stiffness, rest length and damping of a spring between two frames."""
        self.springs.append((self.pair(a, b), constants))
        return Seat.on(self.pairs[-1])

    def touch(self, a: Side, b: Side, law: tuple[float, ...], thinnest: float) -> Seat:
        """Contact between two parts; law is as in `Touches`, scales on a."""
        self.touching.touch(self._with_grid(a), self._with_grid(b), law, thinnest)
        return Seat.on([])

    def _with_grid(self, side: Side) -> Side:
        """The same, with the place of the grid of its shape among the constants of that."""
        if side.grid is None or side.shape is None:
            return side
        shape = side.shape.copy()
        shape[SIZE] = self.grid(side.grid)
        return replace(side, shape=shape)

    def user_frames(self, load: Any, seat: Seat) -> None:
        """A load written in Python, on frames."""
        self.users += [(load, X, weight) for X, weight in zip(seat.X.tolist(), seat.weights.tolist(), strict=True)]
        self.on_frames("user", seat.nodes, np.zeros((len(seat.nodes), 0)))

    def user_force(self, load: Any) -> None:
        """Generalised forces written in Python."""
        self.forces.append(load)

    def add_actuator(self, number: int, name: str, actuator: Actuator) -> None:
        """Stretches along rods, spans between bodies, and the constraint of a tendon driven by its length."""
        along = []
        for part, routing, low, high in actuator.stretches:
            nodes, points, lengths = self.stretch(part, low, high)
            self.cables.append((nodes, number, line(routing, points, actuator.tension_per_input * lengths)))
            along.append(range(self.cable_count, self.cable_count + len(nodes)))
            self.cable_count += len(nodes)
        first = len(self.spans)
        for a, b in actuator.spans:
            self.spans.append((self.pair(a, b), number))
        if actuator.rubbing:
            links = [[(0, k, number) for k in piece] for piece in along]
            through = [(1, k, number) for k in range(first, len(self.spans))]
            self.line += [place for piece in actuator.in_order(links, through) for place in piece]
        if actuator.slack is not None:
            self.rows.append((LENGTH, number, 0, 0, actuator.slack))
            self.row_names.append(f"length of {name!r}")

    def entered(self, load: Load) -> Seat:
        """Have a load write itself into the tables."""
        self.entering = load
        seat, self.entering = load.enter(self), None
        return seat

    def add_load(self, number: int, load: Load) -> None:
        """One load of the description."""
        given = len(self.wrench_node)
        self.seats.append(self.entered(load))
        if len(self.wrench_node) > given and load.wrench_on is None and load.density_on is None:
            raise DescriptionError(
                f"{load.label}: a load of given wrenches must say the frame (wrench_on) or the rod (density_on) they act on."
            )
        self.frame_loads += [number] * (len(self.frames) - len(self.frame_loads))
        self.stream_loads += [number] * (len(self.streamed) - len(self.stream_loads))
        self.touch_loads += [number] * (len(self.touching.tables) - len(self.touch_loads))

    def add_joints(self) -> None:
        """Efforts of joints, motions given to them, and prescribed shapes of rods."""
        self.widths[EFFORT] = self.model.size
        for layout in self.model.parts:
            part, joint = layout.part, layout.part.joint
            if joint.size:
                start = layout.joint.start
                self.sample(EFFORT, joint.size, joint.effort_is_constant, joint.effort_values, at=start, force=True)
            for k, given in enumerate(joint.motions):
                if given is not None:
                    self.driven.append(layout.joint.start + k)
                    moves = callable(given) or isinstance(given, tuple)
                    self.sample(MOTION, 3, not moves, partial(joint.motion_values, k))
            if isinstance(part, RodHandle) and part.rod.shape is not None:
                shape = self.shapes[part.index] = part.rod.projection()
                self.driven += (layout.coordinates.start + shape.driven).tolist()
                self.sample(MOTION, 3 * len(shape.driven), False, shape.coordinates)

    def add_constraints(self) -> None:
        """Closures of loops and constraints on twists."""
        robot = self.model.robot
        for number, closure in enumerate(robot.closures.values()):
            self.closures.append(self.pair(closure.a, closure.b.offset_by(closure.sides[1])))
            self.sample(POSE, 12, closure.is_constant, closure.flat_poses)
            for kind, k, l, value in closure.rows:
                self.rows.append((ROWS[kind], number, k, l, value))
                self.row_names.append(closure.name)
        for number, twist in enumerate(robot.constraints):
            other = twist.frame.robot.ground if twist.other is None else twist.other
            self.twists.append(
                (self.pair(twist.frame, other), np.concatenate([twist.coefficients, twist.other_coefficients]))
            )
            self.sample(RATES, 1, twist.is_constant, twist.rates)
            self.rows.append((TWIST, number, 0, 0, 0.0))
            self.row_names.append(twist.label)


def build(model: Layout) -> tuple[Loads, Tables]:
    """Tables of all loads of a compiled robot, with scratch memory."""
    t, robot, tree = Tables(model), model.robot, model.tree
    t.sampled.append(Samples(None, GRAVITY, robot.gravity_is_constant, robot.gravity_values, 3))
    t.widths[INPUT] = len(robot.actuators)
    t.add_constraints()
    for number, (name, actuator) in enumerate(robot.actuators.items()):
        t.add_actuator(number, name, actuator)
    for number, load in enumerate(robot.loads):
        t.add_load(number, load)
    t.add_joints()
    # the row: wrenches, efforts, inputs, poses, motions, stresses, rates, then what frame loads ask for
    at = list(accumulate(t.widths, initial=REST))
    pairs = _shared(Pairs, t.pairs or t.touching.pairs, lambda: _pairs(t))
    cables = _shared(Cables, robot.actuators, lambda: _cables(t))
    terms = _terms(model)
    loads = Loads(
        np.zeros(at[-1]),
        _ints(at[:-1]),
        _ints(np.array([t.wrench_node, t.wrench_follower]).reshape(2, -1).T),
        *in_blocks(tree, _ints(t.wrench_node)),
        _ints(t.driven),
        np.zeros(len(robot.actuators)),
        cables,
        _shared(Muscles, t.muscle_link, lambda: _muscles(t)),
        _shared(Frames, t.frames, lambda: _frames(t, at[FRAME])),
        _shared(Streams, t.streamed, lambda: _streams(model, t.streamed)),
        pairs,
        _shared(Touches, t.touching.tables, lambda: t.touching.build(len(t.pairs), _widest(pairs), t.all_grids)),
        _constraints(t, cables, pairs),
        _shared(Relaxing, terms, lambda: relaxing_of(tree, terms)),
    )
    return loads, t


def _widest(pairs: Pairs) -> int:
    """The most packs that a pair depends on."""
    return int(np.max(pairs.table[:, 3] - pairs.table[:, 2], initial=0))


def _terms(layout: Layout) -> dict[int, Floats]:
    """Weights and times (p, 2) of the Prony terms of segments that have any."""
    parts = {int(layout.tree.segment[one.nodes[0]]): layout.robot.parts[one.part.index] for one in layout.rods}
    found = {segment: part.rod.material.terms for segment, part in parts.items() if isinstance(part, RodHandle)}
    return {segment: rows for segment, rows in found.items() if len(rows)}


def with_lines(
    loads: Loads, tables: Tables, layout: Layout, names: Collection[str], longer: Mapping[int, float]
) -> Loads:
    """Loads made of `tables`, for another layout with the same nodes: some actuators run elsewhere, some rods are longer.

    Weights and times of Prony terms may be others, but not their number. names: those actuators; longer: the new lengths of
    rods over the old ones.
    """
    t, data, first, known = Tables(layout), loads.cables.data.copy(), 0, iter(tables.cables)
    for name, actuator in layout.robot.actuators.items():
        for part, routing, low, high in actuator.stretches:
            until = first + len(next(known)[0])
            if name in names or (part.index in longer and not routing.is_parallel):
                _, points, lengths = t.stretch(part, low, high)  # found once for all that run along it
                data[first:until] = line(routing, points, actuator.tension_per_input * lengths)
            elif part.index in longer:
                data[first:until, 6::7] *= longer[part.index]
            first = until
    terms = _terms(layout)
    relaxing = loads.relaxing._replace(term=relaxing_of(layout.tree, terms).term) if terms else loads.relaxing
    return loads._replace(cables=loads.cables._replace(data=data), relaxing=relaxing)


def line(routing: Routing, points: Floats, pulls: Floats) -> Floats:
    """Data (m, 14) of a line in intervals: place and slope at two Gauss points (m, 2); pulls: length times force by input."""
    data, X = np.zeros((2 * len(points), 7)), points.ravel()
    data[:, :3], data[::2, 6] = routing.offset(X), 0.5 * pulls
    data[1::2, 6] = data[::2, 6]
    if not routing.is_parallel:
        data[:, 3:6] = routing.slope(X)
    return data.reshape(-1, 14)


_EMPTY: dict[type[Arrays], Arrays] = {}
AnyTable = TypeVar("AnyTable", bound=Arrays)


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
        link=_ints([(node, number) for nodes, number, _ in t.cables for node in nodes]).reshape(-1, 2),
        data=np.concatenate([np.zeros((0, 14)), *(data for _, _, data in t.cables)]),
        friction=_floats([actuator.rubbing for actuator in actuators]),
        factor=np.ones((t.cable_count, 2)),
        path=_ints(np.array(t.line).reshape(-1, 3)),
        slip=np.full((len(t.line), 2, 2), UNKNOWN),
        slips=np.zeros((len(t.line), 2, 2)),
    )


def _muscles(t: Tables) -> Muscles:
    """Active stresses."""
    return Muscles(_ints(t.muscle_link), _floats(np.array(t.muscle_gain).reshape(-1, 12)))


def _frames(t: Tables, first: int) -> Frames:
    """Loads on frames; their values begin at `first` in the row."""
    count, row = len(t.frames), _ints(list(accumulate((width for _, _, width, _ in t.frames), initial=first)))
    data = np.zeros((count, CONSTANTS))
    for k, (_, _, _, values) in enumerate(t.frames):
        data[k, : len(values)] = values
    kind, node = np.array([frame[:2] for frame in t.frames], dtype=np.int64).reshape(-1, 2).T
    which, _, columns, places = columns_of(t.model.tree, node)
    until = np.searchsorted(which, np.arange(count + 1))
    inside, at = in_blocks(t.model.tree, node)
    return Frames(
        table=_ints(np.stack([kind, node, row[:count], until[:-1], until[1:]], axis=1)), data=data,
        source=np.stack([columns, places], axis=1).astype(np.uint64), inside=inside, at=at,
        grid=t.all_grids,
        wrench=np.zeros((count, 6)), block=np.zeros((count, 6, 18)), state=np.zeros((count, 3, 6)),
    )  # fmt: skip


def _pairs(t: Tables) -> Pairs:
    """Pairs of frames, and what acts between them: springs and free spans of tendons."""
    count = len(t.pairs)
    pairs = np.array(t.pairs, dtype=np.int64).reshape(-1, 2)
    side, pack, columns, places = columns_of(t.model.tree, pairs.ravel())
    many = [len(nodes) for nodes in t.touching.pairs]  # what may touch: pairs of many nodes, behind the others
    all_nodes = np.concatenate([np.zeros(0, np.int64), *t.touching.pairs]).astype(np.int64)
    which, more, _, _ = columns_of(t.model.tree, all_nodes)
    most = int(max(np.max(pack, initial=0), np.max(more, initial=0))) + 1
    owner = count + np.repeat(np.arange(len(many)), many)[which]
    keys, place = np.unique(np.concatenate([side // 2 * most + pack, owner * most + more]), return_inverse=True)
    place = place[: len(side)]
    pair, either = np.divmod(keys, most)  # packs that move either node
    ends = np.searchsorted(pair, np.arange(count + len(many) + 1))
    lanes = lanes_used(t.model.tree)[either]
    lane_at = np.concatenate([[0], np.cumsum(lanes)])
    sizes = np.diff(lane_at[ends]) ** 2
    order, at = in_blocks(t.model.tree, pairs.ravel()[side])
    ends_of = np.concatenate([pairs, *([[nodes[0], nodes[-1]]] for nodes in t.touching.pairs)])
    return Pairs(
        table=_ints(np.stack([*ends_of.T, ends[:-1], ends[1:]], axis=1)),
        pack=_ints(either), lanes=lanes, lane_at=_ints(lane_at),
        source=np.stack([place, side % 2, columns, places], axis=1).astype(np.uint64)[order], at=at,
        jacobian=np.zeros((len(either), 24, LANES)), block=np.zeros((count, 12, 24)),
        far_at=_ints(np.cumsum(sizes) - sizes), far=np.zeros(int(sizes.sum()) if is_cut(t.model.tree) else 0),
        spring=_ints([x[0] for x in t.springs]), spring_data=_floats(np.array([x[1] for x in t.springs]).reshape(-1, 3)),
        span=_ints(np.array(t.spans).reshape(-1, 2)), factor=np.ones(len(t.spans)),
        least=np.array([(SHORT * t.model.length) ** 2 if len(sizes) else 1.0]),  # all robots without pairs share the table
    )  # fmt: skip


def _depending(t: Tables, cables: Cables, pairs: Pairs) -> tuple[list[list[int]], Ints, Ints]:
    """Packs that each constraint depends on; where those of spans and of links begin among them, or -1."""
    tree, near = t.model.tree, lambda p: pairs.pack[pairs.table[p, 2] : pairs.table[p, 3]].tolist()
    packs: list[list[int]] = []
    spans, links, at = np.full(len(pairs.span), -1), np.full(len(cables.link), -1), 0
    for kind, number, *_ in t.rows:
        if kind != LENGTH:
            found = near(t.twists[number][0] if kind == TWIST else t.closures[number])
        else:
            found = []
            for k in np.flatnonzero(pairs.span[:, 1] == number):
                spans[k] = at + len(found)
                found += near(pairs.span[k, 0])
            segments: dict[int, int] = {}
            for k in np.flatnonzero(cables.link[:, 1] == number):
                s = int(tree.segment[cables.link[k, 0]])
                if s not in segments:
                    segments[s], block = at + len(found), tree.block[s]
                    first = int(tree.extended_at[block] + tree.face[block] + tree.own_at[s])
                    found += range(first, first + int(tree.own_packs[s]))
                links[k] = segments[s]
        packs.append(found)
        at += len(found)
    return packs, spans, links


def _constraints(t: Tables, cables: Cables, pairs: Pairs) -> Constraints:
    """Rows of closures, of relations between twists and of tendons driven by their length."""
    packs, spans, links = _depending(t, cables, pairs)
    actuators = len(t.model.robot.actuators)
    input_row = np.full(actuators, -1)
    for k, (kind, number, *_) in enumerate(t.rows):
        if kind == LENGTH:
            input_row[number] = k
    if t.rows or t.closures or t.twists:
        return _rows(t, packs, spans, links, input_row)
    none = _shared(Constraints, None, lambda: _rows(t, [], *3 * [np.zeros(0, np.int64)]))
    if not actuators:
        return none
    return none._replace(input_row=input_row, span_entry=spans, link_entry=links, length=np.zeros(actuators))


def _rows(t: Tables, packs: list[list[int]], spans: Ints, links: Ints, input_row: Ints) -> Constraints:
    """Their table; input_row: by actuators, the row of those driven by their length, or -1."""
    count, entry = len(t.rows), np.concatenate([[0], np.cumsum([len(x) for x in packs])])
    return Constraints(
        table=_ints(np.array([x[:4] for x in t.rows]).reshape(-1, 4)), value=_floats([x[4] for x in t.rows]),
        closure=_ints(t.closures),
        twist=_ints([x[0] for x in t.twists]), twist_data=_floats(np.array([x[1] for x in t.twists]).reshape(-1, 12)),
        input_row=_ints(input_row), entry=_ints(entry), pack=_ints([k for x in packs for k in x]),
        span_entry=_ints(spans), link_entry=_ints(links),
        jacobian=np.zeros((int(entry[-1]), LANES)), column=np.zeros((int(entry[-1]), LANES)),
        diagonal=np.zeros(count), slack=np.zeros(count, np.int64), length=np.zeros(len(input_row)),
    )  # fmt: skip


def some_rows(old: Constraints, keep: Ints) -> Constraints:
    """Some of the constraints."""
    place = np.full(len(old.table) + 1, -1)  # the last is that of no row
    place[keep] = np.arange(len(keep))
    entries = np.concatenate([np.arange(old.entry[k], old.entry[k + 1]) for k in keep] or [np.zeros(0, np.int64)])
    moved = np.full(len(old.pack) + 1, -1)
    moved[entries] = np.arange(len(entries))
    by_row = {name: np.ascontiguousarray(getattr(old, name)[keep]) for name in ("table", "value", "diagonal", "slack")}
    by_entry = {name: np.ascontiguousarray(getattr(old, name)[entries]) for name in ("pack", "jacobian", "column")}
    return old._replace(
        **by_row, **by_entry, input_row=_ints(place[old.input_row]), span_entry=_ints(moved[old.span_entry]),
        entry=_ints(np.concatenate([[0], np.cumsum(np.diff(old.entry)[keep])])), link_entry=_ints(moved[old.link_entry]),
    )  # fmt: skip


def _bases(rod: Rod, X: Floats) -> tuple[Floats, Ints]:
    """Values (m, lanes) of the coordinates of a rod at its nodes, in padded lanes, and the strain (lanes,) of each."""
    values, strains = [], []
    for strain, basis in numbered(rod):
        width = LANES * -(-basis.size // LANES)
        values.append(np.pad(basis(X / rod.length), ((0, 0), (0, width - basis.size))))
        strains += [strain] * width
    return np.concatenate(values, axis=1), _ints(strains)


def _streams(model: Layout, found: list[tuple[int, Floats, Ints, Floats]]) -> Streams:
    tree, node, width = model.tree, _ints([x[0] for x in found]), _ints([len(x[1]) for x in found])
    which, pack, columns, places = columns_of(tree, node)
    until = np.searchsorted(which, np.arange(len(found) + 1))
    first, at = LANES * tree.own_pack[tree.segment[node]], np.cumsum(width) - width
    inside, starts = in_blocks(tree, node)
    return Streams(
        table=_ints(np.stack([node, first, width, at, until[:-1], until[1:]], axis=1)),
        basis=_floats(np.concatenate([np.zeros(0), *(x[1] for x in found)])),
        strain=_ints(np.concatenate([np.zeros(0), *(x[2] for x in found)])),
        data=_floats(np.array([x[3] for x in found]).reshape(-1, FLUID_SIZE)),
        source=np.stack([pack, columns, places], axis=1).astype(np.uint64),
        inside=inside,
        at=starts,
        stress=np.zeros((len(found), 6)),
        change=np.zeros((len(pack), LANES, 6)),
    )


def _ints(values) -> Ints:
    return np.ascontiguousarray(values, dtype=np.int64)


def _floats(values) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)
