"""A robot as a network of segments: pieces of rod and rigid bodies, joined at nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from anguilla.describe import Frame, Load, Robot, RodHandle
from anguilla.errors import DescriptionError
from anguilla.interact import DistributedWrench, Muscle, Wrench
from anguilla.mechanics.tree import Floats, Ints

FEWEST = 3  # intervals of a segment


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a rod, or a body (X0 = X1, no intervals).

    Attributes:
        part: index of the part.
        X0, X1: arc lengths of its ends [m].
        count: number of intervals.
        parent: segment whose end carries its start; -1 for the ground.
        place: (4, 4) fixed pose from there to its start, or to the joint before it.
        jointed: whether the joint of the part stands before it.
        smooth: whether it continues its parent without a jump of anything.

    """

    part: int
    X0: float
    X1: float
    count: int
    parent: int
    place: Floats
    jointed: bool = False
    smooth: bool = False


@dataclass
class Network:
    """The segments of a robot in order, parents first; points are Gauss points of intervals."""

    robot: Robot
    along: Floats  # places of the points in an interval, from 0 to 1
    segments: list[Segment] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ends: dict[tuple[int, float], int] = {}

    @property
    def stages(self) -> int:
        """Number of points of an interval."""
        return len(self.along)

    @property
    def first(self) -> Ints:
        """(S,) first point of each segment."""
        return _starts([self.stages * s.count for s in self.segments])

    @property
    def node(self) -> Ints:
        """(S,) first node of each segment."""
        return _starts([s.count + 1 for s in self.segments])

    @property
    def size(self) -> int:
        """Number of points."""
        return sum(self.stages * s.count for s in self.segments)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return sum(s.count + 1 for s in self.segments)

    def X(self, s: int) -> Floats:
        """Arc lengths [m] of the points of a segment."""
        segment = self.segments[s]
        if segment.count == 0:
            return np.zeros(0)
        h = (segment.X1 - segment.X0) / segment.count
        return (segment.X0 + h * (np.arange(segment.count)[:, None] + self.along)).ravel()

    def X_nodes(self, s: int) -> Floats:
        """Arc lengths [m] of the nodes of a segment."""
        segment = self.segments[s]
        return np.linspace(segment.X0, segment.X1, segment.count + 1)

    def of(self, part: int) -> list[int]:
        """Segments of a part, from the root on."""
        return [k for k, s in enumerate(self.segments) if s.part == part]

    def pieces(self, part: int) -> list[list[int]]:
        """Segments of a rod, grouped into pieces without jumps inside."""
        groups: list[list[int]] = []
        for s in self.of(part):
            if self.segments[s].count == 0:
                continue
            if self.segments[s].smooth:
                groups[-1].append(s)
            else:
                groups.append([s])
        return groups

    def end_at(self, frame: Frame) -> int:
        """Segment that ends at a frame without offset; -1 for the ground."""
        if frame.is_ground:
            return -1
        return self._ends[frame.part_index, float(frame.X)]

    def add(self, segment: Segment) -> int:
        """Append a segment."""
        self.segments.append(segment)
        self._ends[segment.part, segment.X1] = len(self.segments) - 1
        return len(self.segments) - 1


def _starts(sizes: list[int]) -> Ints:
    return np.array([0, *np.cumsum(sizes)[:-1]], dtype=np.int64)


def is_stream(load: Load) -> bool:
    """Whether a load is the potential flow along a slender body, (90)-(91): added inertia, and a wake."""
    return bool(getattr(load, "kirchhoff", False)) and isinstance(getattr(load, "part", None), RodHandle)


def check_known(robot: Robot, *, muscles: bool = True) -> None:
    """Refuse what shooting does not know, rather than leave it out."""
    for load in robot.loads:
        if is_stream(load):
            if np.any(getattr(load, "current", 0.0)):
                raise DescriptionError(
                    f"{load.label}: shooting supports still water only. Use ag.simulate for a current."
                )
        elif not isinstance(load, (Wrench, DistributedWrench)) and not (muscles and isinstance(load, Muscle)):
            known = "Wrench, TipWrench, DistributedWrench" + (", Muscle and Lighthill" if muscles else "")
            raise DescriptionError(
                f"{load.label}: shooting supports {known}; got {type(load).__name__}. Use ag.statics and ag.simulate for it."
            )
    for name, actuator in robot.actuators.items():
        reason = ""
        if actuator.slack is not None:
            reason = "is given by its length"
        elif actuator.rubbing:
            reason = "has friction"
        elif actuator.spans:
            reason = "runs through the air between rods or bodies"
        if reason:
            raise DescriptionError(
                f"Actuator {name!r} {reason}: shooting supports tendons along rods, by their tension and without friction. "
                "Use ag.statics and ag.simulate for it."
            )
    if robot.constraints:
        raise DescriptionError(
            f"{robot.constraints[0].label}: shooting does not support constraints on velocities. Use ag.simulate for them."
        )


def refuse_shapes(robot: Robot) -> None:
    """Refuse prescribed shapes where strains are unknowns: inverse dynamics is for strains that are given."""
    for part in robot.parts:
        if isinstance(part, RodHandle) and part.rod.shape is not None:
            raise DescriptionError(
                f"Rod {part.name!r} has a prescribed shape: shooting finds the strains of a rod from its loads. Use "
                "ag.statics and ag.simulate for it, or shooting.inverse_dynamics with these strains."
            )


def build(robot: Robot, shoots: int, intervals: int, along: Floats, frames: Sequence[Frame] = ()) -> Network:
    """Cut the rods of a robot where anything jumps or acts, and further into about `shoots` segments each."""
    if not any(isinstance(part, RodHandle) for part in robot.parts):
        raise DescriptionError(f"Robot {robot.name!r} has no rod: shooting integrates along rods.")
    network = Network(robot, along)
    marked = [frame.bare for frame in frames] + [part.parent for part in robot.parts]
    check_known(robot)
    marked += [load.frame.bare for load in robot.loads if isinstance(load, Wrench)]
    for part in robot.parts:
        parent, place = network.end_at(part.parent), part.pose
        here = [frame.X for frame in marked if frame.part_index == part.index]
        if not isinstance(part, RodHandle):
            network.add(Segment(part.index, 0.0, 0.0, 0, parent, place, True))
            continue
        jointed = True
        if 0.0 in here:
            parent = network.add(Segment(part.index, 0.0, 0.0, 0, parent, place, True))
            place, jointed = np.eye(4), False
        cuts = _cuts(robot, part, here)
        share = np.diff(cuts) / part.length
        pieces = np.maximum(1, np.round(share * shoots).astype(int))
        for k, n in enumerate(pieces):
            ends = np.linspace(cuts[k], cuts[k + 1], n + 1)
            ends[-1] = cuts[k + 1]
            count = max(FEWEST, round(intervals * share[k] / n))
            for a, b in pairwise(ends):
                smooth = a != cuts[k]
                parent = network.add(Segment(part.index, float(a), float(b), count, parent, place, jointed, smooth))
                place, jointed = np.eye(4), False
    return network


def _cuts(robot: Robot, part: RodHandle, here: list[float]) -> Floats:
    """Arc lengths between which nothing jumps: ends, breakpoints, ends of tendons, places where something acts."""
    points = [0.0, part.length, *here, *part.rod.section.breakpoints, *part.rod.rest.breakpoints]
    for actuator in robot.actuators.values():
        for rod, routing, low, high in actuator.stretches:
            if rod.index == part.index:
                points += [low, high, *routing.breakpoints]
    inner = sorted(X for X in points if 0.0 <= X <= part.length)
    kept = [0.0]
    for X in inner:
        if X - kept[-1] > 1e-9 * part.length:
            kept.append(X)
        elif X in here and X > 0.0:
            kept[-1] = X
    if part.length - kept[-1] < 1e-9 * part.length:
        kept[-1] = part.length
    return np.array(kept)
