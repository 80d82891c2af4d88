"""Fields along a rod: strains, and the internal wrench by integrating densities at high order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from anguilla.describe import STRAIN_NAMES, Frame, Load, Part, Rod, RodHandle
from anguilla.describe.load import Seat, Values
from anguilla.describe.shaping import strain_places
from anguilla.errors import DescriptionError
from anguilla.interact.kernels.table import CONSTANTS, KIND, NODE, REST, Frames
from anguilla.mechanics.grid import gauss
from anguilla.mechanics.tree import N_F, N_M, N_R, N_X, Floats, Ints
from anguilla.model.model import Model
from anguilla.model.tables import Tables
from anguilla.results.blocks import Block, Evaluations, States, parts
from anguilla.results.kinematics import TOO_COARSE, as_motion, node_motions
from anguilla.results.observe import SNAPSHOT, in_section_axes, resultants
from anguilla.results.reactions import NodeWrench, point_wrenches, points

GAUSS_POINTS = 4  # of each piece, which is at most an interval: exact to degree 7
WET_POINTS = 8  # the same in water


def strain_field(system: Model, part: RodHandle, X: Floats, q: Floats) -> Floats:
    """Strains (nt, m, 6) of a rod at arc lengths X (m,) [m] for coordinates q (nt, n)."""
    return strains_of(part.rod, X, q[:, system.layout.parts[part.index].coordinates])


def strains_of(rod: Rod, X: Floats, own: Floats) -> Floats:
    """Strains (k, m, 6) of a rod at arc lengths X (m,) [m] for k rows of its own coordinates."""
    field = np.broadcast_to(rod.rest.strain(X), (len(own), len(X), 6)).copy()
    at = 0
    for name, basis in rod.strains.items():
        field[:, :, STRAIN_NAMES.index(name)] += own[:, at : at + basis.size] @ basis(X / rod.length).T
        at += basis.size
    return field


def _pieces(system: Model, part: RodHandle, X: Floats) -> Floats:
    """Ends of the pieces to integrate over: requested sections, breakpoints, panel ends and sections carrying something."""
    layout = system.layout.parts[part.index]
    assert layout.grid is not None
    ends = np.concatenate([X, layout.grid.X, [0.0, part.length]])
    ends = np.unique(ends)
    return ends[np.concatenate([[True], np.diff(ends) > 1e-12 * part.length])]


@dataclass(frozen=True)
class _Carried:
    """What a rod carries at single sections.

    Attributes:
        wrenches: loads that give one, with the frame and the node that it acts on.
        children: parts that hang on the rod.
        places: arc lengths of the nodes that other loads and constraints may act on.

    """

    wrenches: list[tuple[Load, Frame, int]]
    children: list[Part]
    places: dict[int, float]

    def __bool__(self) -> bool:
        return bool(self.wrenches or self.children or self.places)


def _carried(model: Model, rods: Sequence[RodHandle]) -> list[_Carried]:
    """What rods carry at single sections."""
    found = {rod.index: _Carried([], [], {}) for rod in rods}
    for load in model.robot.loads:
        if (frame := load.wrench_on) is not None and frame.part_index in found:
            found[frame.part_index].wrenches.append((load, frame, model.tables.node(frame)))
    for child in model.robot.parts:
        if child.parent.part_index in found and not child.parent.is_ground:
            found[child.parent.part_index].children.append(child)
    if len(points(model)) or len(model.blank.pairs.table):
        for index, carried in found.items():
            layout = model.layout.parts[index]
            assert layout.grid is not None
            carried.places.update(zip(layout.nodes.tolist(), layout.grid.X.tolist(), strict=True))
        for (index, X, _), node in model.layout.extra.items():
            if index in found:
                found[index].places[node] = X
    return [found[rod.index] for rod in rods]


def _jumps(
    model: Model, every: list[_Carried], block: Block, kept: dict[int, int], pushed: dict[int, list[NodeWrench]], k: int
) -> Iterator[tuple[float, Floats, Floats, Floats]]:
    """(X, origin, moment, force), inertia minus external, of point loads and of parts hanging on the k-th rod.

    kept: where the block keeps a node, if not at its number; pushed: what else acts on single nodes.
    """
    node, carried = block.node, every[k]
    for load, frame, i in carried.wrenches:
        own = node[:, kept.get(i, i)]
        wrench = load.given_wrench(block.states.t, own[:, N_R : N_R + 9].reshape(-1, 3, 3))
        yield frame.X, own[:, N_X : N_X + 3], -wrench[:, :3], -wrench[:, 3:]
    for child in carried.children:
        entry = model.layout.parts[child.index].entry
        own = node[:, kept.get(entry, entry)]
        yield child.parent.X, own[:, N_X : N_X + 3], own[:, N_M : N_M + 3], own[:, N_F : N_F + 3]
    for i, X in carried.places.items():
        for _, moment, force in pushed.get(i, ()):
            yield X, node[:, i, N_X : N_X + 3], -moment, -force


def _spread_on(model: Model, rods: Sequence[RodHandle]) -> list[list[Load]]:
    """Loads that are known as a wrench per length along rods, of each."""
    found: dict[int, list[Load]] = {rod.index: [] for rod in rods}
    for load in model.robot.loads:
        if (rod := load.density_on) is not None and rod.index in found:
            found[rod.index].append(load)
    return [found[rod.index] for rod in rods]


def _quadrature(loads: list[Load], ends: Floats) -> tuple[Floats, Floats]:
    """Points and weights between the ends of pieces; water on a round nose starts like a square root, which they follow."""
    wet = any(load.account == "water" for load in loads)
    x, w = gauss(WET_POINTS if wet else GAUSS_POINTS)
    s, weight = 0.5 * (1.0 + x), 0.5 * w
    if wet:
        angle = np.pi * s
        s, weight = 0.5 * (1.0 - np.cos(angle)), 0.5 * np.pi * np.sin(angle) * weight
    length = np.diff(ends)[:, None]
    return (ends[:-1, None] + length * s).ravel(), (length * weight).ravel()


class _Fine(Tables):
    """The book for loads along one rod, in which they act on many points instead of the nodes of the model."""

    def __init__(self, model: Model, points: Seat) -> None:
        super().__init__(model.layout)
        self.points = points
        self.given_wrenches: list[tuple[int, Values]] = []  # whether it turns with the section, values
        self.asked: list[Load] = []  # for their density, of which the kernels know only a part
        self._asks = False

    def take(self, load: Load) -> None:
        """A load along the rod."""
        self._asks = False
        self.entered(load)
        if self._asks:
            self.asked.append(load)

    def seat(self, where: Frame | RodHandle | Sequence[Frame]) -> Seat:
        """The points."""
        return self.points

    def integrals(self, part: RodHandle, density: Callable[[Floats], Floats]) -> tuple[Seat, Floats]:
        """The points, and what they stand for."""
        return self.points, self.points.weights[:, None] * density(self.points.X)

    def streams(self, part: RodHandle, which: Ints, constants: Floats) -> None:
        """Nothing: streams say what they carry past a section (`Load.advected`)."""

    def on_frames(
        self, kernel: str, nodes: Ints, constants: Floats, *, values: Values | None = None, **others: Any
    ) -> None:
        """Frame loads on the points; those that read values in time are asked."""
        if values is None:
            super().on_frames(kernel, nodes, constants, **others)
        self._asks |= values is not None

    def user_frames(self, load: Any, seat: Seat) -> None:
        """A load written in Python is asked."""
        self._asks = True

    def wrenches(self, nodes: Ints, follower: bool, constant: bool, values: Values) -> None:
        """Wrenches that are given in time, on the points."""
        self.given_wrenches.append((int(follower), values))

    def spread(self) -> Frames:
        """The frame loads on the points."""
        found = [frame for frame, spread in zip(self.frames, self.frame_spread, strict=True) if spread]
        table, data = np.zeros((len(found), 5), np.int64), np.zeros((len(found), CONSTANTS))
        for k, (kind, node, numbers, constants) in enumerate(found):
            assert numbers == 0, "a load known as a density that reads the row"
            table[k, KIND], table[k, NODE], data[k, : len(constants)] = kind, node, constants
        none = np.zeros(0, np.int64)
        return Frames(
            table=table, source=np.zeros((0, 2), np.uint64), inside=none, at=none, data=data, grid=np.zeros(0),
            wrench=np.zeros((len(found), 6)), block=np.zeros((0, 6, 18)), state=np.zeros((0, 3, 6)),
        )  # fmt: skip

    def given(self, observer: Model, states: States, gravity: Floats) -> tuple[Floats, Floats]:
        """Wrenches on the points (nt or 0, p, 6) that are given or asked for: in world axes, and in section axes."""
        X, nodes, weights = self.points.X, self.points.nodes, self.points.weights
        found = [np.zeros((0, len(X), 6)) for _ in range(2)]
        for follower, sample in self.given_wrenches:
            before = found[follower] if len(found[follower]) else np.zeros((len(states.t), len(X), 6))
            found[follower] = before + sample(states.t)
        if self.asked:
            world = found[0] = found[0] if len(found[0]) else np.zeros((len(states.t), len(X), 6))
            for at, snapshot in node_motions(observer, nodes, *states[1:4]):
                motion = as_motion(snapshot)
                for load in self.asked:
                    world[at] += weights[:, None] * load.wrench_density(X, states.t[at], motion, gravity[at])
        return found[0], found[1]


@dataclass(frozen=True)
class _Along:
    """Rods cut into points and sections, of which the motion is observed.

    Attributes:
        observer: a model with nodes at all of them.
        books: of each rod the points, and what acts along it, on these.
        inertia: (p, 4) principal moments and mass that points stand for, rod by rod.
        sections: (m,) nodes of the sections, rod by rod.
        first: (m,) first point beyond each section.
        end: (m,) number of points up to the end of its rod.
        spread: what acts along the rods and depends on the motion.

    """

    observer: Model
    books: list[_Fine]
    inertia: Floats
    sections: Ints
    first: Ints
    end: Ints
    spread: Frames

    def given(self, states: States, gravity: Floats) -> tuple[Floats, Floats]:
        """Wrenches on the points (nt or 0, p, 6) that are given or asked for: in world axes, and in section axes."""
        found, count = [book.given(self.observer, states, gravity) for book in self.books], len(states.t)
        return _joined([world for world, _ in found], count), _joined([own for _, own in found], count)


def _joined(wrenches: list[Floats], count: int) -> Floats:
    """Wrenches (count, p, 6) on all points, from those (count or 0, ., 6) of each rod; (0, p, 6) if there are none."""
    if any(map(len, wrenches)):
        wrenches = [each if len(each) else np.zeros((count, *each.shape[1:])) for each in wrenches]
    return np.ascontiguousarray(np.concatenate(wrenches, axis=1))


def _along(model: Model, rods: Sequence[RodHandle], X: Sequence[Floats], loads: list[list[Load]]) -> _Along:
    """Points that serve for ascending sections X (m,) of each rod; none lies before the first section."""
    cut = []
    for rod, own, wanted in zip(rods, loads, X, strict=True):
        ends = _pieces(model, rod, wanted)
        cut.append(_quadrature(own, ends[ends >= wanted[0] - 1e-12 * rod.length]))
    frames = [
        rod.section(float(x)) for rod, (places, _), own in zip(rods, cut, X, strict=True) for x in (*places, *own)
    ]
    observer = model.observing(frames, keep=len(rods) == 1)  # of many rods it is large
    nodes, at, before = np.array([observer.tables.node(frame) for frame in frames], np.int64), 0, 0
    books, inertia, sections, first, end = [], [], [], [], []
    for rod, own, (places, weights), wanted in zip(rods, loads, cut, X, strict=True):
        books.append(_Fine(model, Seat(nodes[at : at + len(places)], places, weights)))
        for load in own:
            books[-1].take(load)
        inertia.append(weights[:, None] * rod.rod.inertia(places)[:, :4])
        at += len(places)
        sections.append(nodes[at : at + len(wanted)])
        at += len(wanted)
        first.append(before + np.searchsorted(places, wanted, side="right"))
        before += len(places)
        end.append(np.full(len(wanted), before))
    spread = [book.spread() for book in books]
    joined = {name: np.concatenate([getattr(each, name) for each in spread]) for name in ("table", "data", "wrench")}
    return _Along(
        observer, books, np.concatenate(inertia), np.concatenate(sections), np.concatenate(first), np.concatenate(end),
        spread[0]._replace(**joined),
    )  # fmt: skip


def internal_wrench(evaluations: Evaluations, part: RodHandle, X: Floats) -> Floats:
    """Lambda(X) (nt, m, 6) of one rod: see `internal_wrenches`."""
    return internal_wrenches(evaluations, [part], [X])[0]


def internal_wrenches(evaluations: Evaluations, rods: Sequence[RodHandle], X: Sequence[Floats]) -> list[Floats]:
    """Lambda(X) (nt, m, 6) in section axes: minus the resultant, beyond X, of inertia minus external forces.

    At a section that carries a point load the value is the one just before it. The whole robot is followed once for all rods.
    """
    model, states = evaluations.model, evaluations.states
    out = [np.zeros((len(states.t), len(each), 6)) for each in X]
    if not len(rods) or not len(X[0]):
        return out
    order = [np.argsort(each, kind="stable") for each in X]
    sorted_X = [each[k] for each, k in zip(X, order, strict=True)]
    loads = _spread_on(model, rods)
    along, carried = _along(model, rods, sorted_X, loads), _carried(model, rods)
    ends = np.cumsum([0, *map(len, X)])
    for at, jumps in _carrying(evaluations, carried, (SNAPSHOT + 6) * int(ends[-1]) + 6 * len(along.inertia)):
        total, motion = _beyond(model, along, states.some(at))
        for k, (rod, places) in enumerate(zip(rods, sorted_X, strict=True)):
            own = total[:, ends[k] : ends[k + 1]]
            for place, origin, moment, force in jumps(k):
                before = np.searchsorted(places, place + 1e-12 * rod.length, side="right")
                own[:, :before, :3] += (moment + np.cross(origin, force))[:, None]
                own[:, :before, 3:] += force[:, None]
        in_section_axes(total, motion)
        for k, places in enumerate(sorted_X):
            mine = slice(ends[k], ends[k + 1])
            for load in loads[k]:
                total[:, mine] -= load.advected(places, as_motion(motion[:, mine]))
            out[k][at, order[k]] = total[:, mine]
    return out


def _carrying(
    evaluations: Evaluations, carried: list[_Carried], numbers: int
) -> Iterator[tuple[slice, Callable[[int], Iterable[tuple[float, Floats, Floats, Floats]]]]]:
    """Blocks of states, with what the k-th rod carries at single sections in them; `numbers` are those kept of a state."""
    if not any(carried):
        for at in parts(len(evaluations.states.t), numbers):
            yield at, lambda _: ()
        return
    model, places = evaluations.model, {node for each in carried for node in each.places}
    nodes, kept = None, dict[int, int]()
    if not places:  # a few nodes are enough
        needed = {node for each in carried for _, _, node in each.wrenches}
        needed |= {model.layout.parts[child.index].entry for each in carried for child in each.children}
        nodes = np.array(sorted(needed), dtype=np.int64)
        kept = {int(node): k for k, node in enumerate(nodes)}
    for block in evaluations.blocks(nodes, in_space=True):
        pushed: dict[int, list[NodeWrench]] = {}
        for wrench in point_wrenches(model, block, places) if places else ():
            pushed.setdefault(wrench.node, []).append(wrench)
        yield block.at, partial(_jumps, model, carried, block, kept, pushed)


def _beyond(model: Model, along: _Along, states: States) -> tuple[Floats, Floats]:
    """Moment about the world origin and force (nb, m, 6) beyond sections, and the motion (nb, m, SNAPSHOT) of these."""
    observer, nodes = along.observer, np.concatenate([book.points.nodes for book in along.books])
    count, m = len(states.t), len(along.sections)
    motion, out = np.zeros((count, m, SNAPSHOT)), np.zeros((count, m, 6))
    gravity = np.ascontiguousarray(np.broadcast_to(model.robot.gravity_values(states.t), (count, 3)))
    pairs = model.blank.pairs
    touches = model.blank.touches
    none = {"pairs": pairs._replace(table=pairs.table[:0]), "touches": touches._replace(table=touches.table[:0])}
    loads = model.blank._replace(row=np.zeros(REST), frames=along.spread, **none)
    if resultants(
        observer.tree, observer.workspace, nodes, along.inertia, loads, gravity,
        *along.given(states, gravity), *states[1:4], along.sections, along.first, along.end, motion, out,
    ):  # fmt: skip
        raise DescriptionError(TOO_COARSE)
    return out, motion


def control_torque(evaluations: Evaluations, part: RodHandle, X: Floats) -> Floats:
    """M(X) (nt, m, 6) of the motors of a prescribed shape: the passive stress minus Lambda, along the prescribed strains.

    Lambda = H eps + D eps' - M, so M is the effort along the strain, opposite in sign to the Lambda_a of 000.
    """
    system, states = evaluations.model, evaluations.states
    if part.index not in system.shapes:
        raise DescriptionError(
            f"{part.name} has no prescribed shape: its strains have no motors. Give Rod.shape a gait."
        )
    rod, out = part.rod, internal_wrench(evaluations, part, X)
    free = np.setdiff1d(np.arange(6), strain_places(system.shapes[part.index].gait))
    overstrain = evaluations.overstrain()
    for at in parts(len(out), 6 * len(X)):
        strained = strain_field(system, part, X, states.q[at]) - rod.rest.strain(X)
        rate = strain_field(system, part, X, states.v[at]) - rod.rest.strain(X)
        strained = strained + rod.material.damping * rate
        if overstrain is not None:
            strained += strain_field(system, part, X, overstrain[at]) - rod.rest.strain(X)
        out[at] = rod.hooke(X) * strained - out[at]
        out[at, :, free] = 0.0
    return out
