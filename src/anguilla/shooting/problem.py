"""The two-point problem of a whole robot: fields along its rods, loads at a time, unknowns, residual and derivative."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csc_matrix

from anguilla import lie
from anguilla.describe import STRAIN_NAMES, BodyHandle, Part, Robot, RodHandle
from anguilla.errors import DescriptionError, refuse
from anguilla.interact import Wrench
from anguilla.mechanics.tree import Floats
from anguilla.shooting.balance import Nodes, balance, retract
from anguilla.shooting.closing import tie_residual
from anguilla.shooting.jointing import joint_residual, moved_joint
from anguilla.shooting.joints import JointStep, coadjoint_matrix, is_free, joint_pose
from anguilla.shooting.linear import derivative, factorised, pattern
from anguilla.shooting.loading import Inputs, Stress, add_muscles, as_field, sample_loads, stream_inertia
from anguilla.shooting.march import FULL_PRECISION, Gauss, Segments, Stages, march, rule_along, work
from anguilla.shooting.network import Network, Segment, build, is_stream
from anguilla.shooting.point import STATIC, Fields, StepSlopes
from anguilla.shooting.root import RootMap
from anguilla.shooting.state import ETA, LAM, STATE
from anguilla.shooting.ties import Join, closing_ties

STAGES = 3  # Gauss points of an interval: order 6 at the nodes


@dataclass
class Unknowns:
    """Start states of the segments (S, 30), joint coordinates by part, wrenches of ties, motion of free roots."""

    start: Floats
    joints: dict[int, Floats]
    ties: list[Floats]
    roots: dict[int, Floats] = field(default_factory=dict)

    def copy(self) -> Unknowns:
        """An independent copy."""
        return Unknowns(
            self.start.copy(), {k: q.copy() for k, q in self.joints.items()}, [m.copy() for m in self.ties],
            {k: v.copy() for k, v in self.roots.items()},
        )  # fmt: skip


class BoundaryProblem:
    """The boundary-value problem of a robot.

    Args:
        robot: the robot.
        shoots: segments each rod is cut into, at least.
        intervals: integration intervals of each rod.
        ties: loops and held frames (statics).
        follow_strain: whether tendons follow the strain; False takes (17) at the rest strain, as in the paper's tests.
        stress: by rod, a function (X (m,) [m], t [s]) -> (m, 6), active stress Lambda_ad of (16).
        added: by rod, a function X (m,) -> (m, 6), inertia per length of the water that moves along (test 4).
        moving: dynamics or statics.
        t: time [s] at which prescribed poses of closures are taken.
        along: method along the rods, "gauss" or "explicit".

    """

    def __init__(
        self, robot: Robot, *, shoots: int, intervals: int, ties: Sequence[Join] = (), follow_strain: bool = True,
        stress: Stress | None = None, added: Mapping[RodHandle, Callable[[Floats], Floats]] | None = None,
        moving: bool = False, t: float = 0.0, along: str = "gauss",
    ) -> None:  # fmt: skip
        self.robot, self.moving = robot, moving
        self.own_ties = list(ties)
        self.tableau = rule_along(along)
        self.ties = [*ties, *closing_ties(robot, t)]
        self.shoots, self.intervals = shoots, intervals
        frames = [frame for tie in self.ties for frame in (tie.a, tie.b) if not frame.is_ground]
        for frame in frames:
            if frame.robot is not robot:
                raise DescriptionError(f"The tied frame {frame.label} belongs to another robot.")
        self.network: Network = build(robot, shoots, intervals, self.tableau[0], frames)
        self.follow_strain = follow_strain
        self.soft = 0.0
        self.told_slack: set[str] = set()  # tendons that were told to be slack
        self.efforts: list[Floats] = []
        self.given: list[Floats] = []
        self.joint_steps: dict[int, JointStep] = {}  # set by the time loop
        self.stress = dict(stress or {})
        self.added = dict(added or {})
        for rod in (*self.stress, *self.added):
            if not isinstance(rod, RodHandle) or rod.robot is not robot:
                raise refuse("The rod of an active stress or of added inertia", f"a rod of {robot.name!r}", rod)
        net = self.network.segments
        self.count = len(net)
        self.segments = Segments(
            self.network.first,
            self.network.node,
            np.array([s.count for s in net], dtype=np.int64),
            np.array([(s.X1 - s.X0) / s.count if s.count else 0.0 for s in net]),
        )
        self.length = max(part.length for part in robot.parts if isinstance(part, RodHandle))
        self._sample()
        self._place()
        self._number()
        self.set_scheme(STATIC)

    # What does not change ------------------------------------------------------------------------------------------

    def _sample(self) -> None:
        """Sections, materials, rest shapes and routings at all points."""
        robot, n = self.robot, self.network.size
        names = list(robot.actuators)
        cables = len(names) if self.follow_strain else 0
        rest = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0], (n, 1))
        f: dict[str, Floats] = {name: np.zeros((n, 6)) for name in Fields._fields[:-1]}
        f["route"] = np.zeros((n, cables, 6))
        f["hooke"][:], f["rest"][:] = 1.0, rest
        self.damping, self.relaxes = np.zeros(n), False
        self.routes = np.zeros((n, len(names), 6))
        self.within = np.zeros((self.count, len(names)), dtype=bool)
        stiffest = 0.0
        for s, segment in enumerate(self.network.segments):
            part = robot.parts[segment.part]
            if segment.count == 0 or not isinstance(part, RodHandle):
                continue
            at, X = self.points(s), self.network.X(s)
            active = np.array([name in part.rod.strains for name in STRAIN_NAMES])
            f["hooke"][at] = part.rod.hooke(X)
            f["compliance"][at] = np.where(active, 1.0 / f["hooke"][at], 0.0)
            f["rest"][at] = part.rod.rest.strain(X)
            f["inertia"][at] = part.rod.inertia(X)
            stiffest = max(stiffest, float(np.max(f["hooke"][at, 1:3])) / part.length**2)
            self.damping[at] = part.rod.material.damping
            self.relaxes = self.relaxes or len(part.rod.material.terms) > 0
            for k, name in enumerate(names):
                for rod, routing, low, high in robot.actuators[name].stretches:
                    if rod.index == part.index and low <= X[0] and X[-1] <= high:
                        self.routes[at, k, :3], self.routes[at, k, 3:] = routing.offset(X), routing.slope(X)
                        self.within[s, k] = True
        if self.follow_strain:
            f["route"] = self.routes
        self.force_scale = stiffest
        self.elastic = np.where(f["compliance"] > 0.0, f["hooke"], 0.0)  # what the damping goes with
        self.muscles = add_muscles(self, f)
        self.hooke, self.compliance, self.rest = f["hooke"].copy(), f["compliance"].copy(), f["rest"].copy()
        self.weight = f["inertia"][:, 3].copy()  # rho A, before the water is added
        f["past"][:] = f["rest"]
        tails = np.zeros((self.count, 6))
        streams = [(rod, function, True) for rod, function in self.added.items()]
        streams += [(load.part, stream_inertia(load), load.tail) for load in robot.loads if is_stream(load)]  # type: ignore[attr-defined]
        for rod, added, wake in streams:
            own = self.network.of(rod.index)
            for s in own:
                X = self.network.X(s)
                f["inertia"][self.points(s)] += as_field(added(X), len(X), "The added inertia")
            if wake:
                tails[own[-1]] += as_field(added(np.array([rod.length])), 1, "The added inertia")[0]
        self.fields = Fields(**f)
        self.tails = tails
        self.pulls = np.zeros((self.count, cables))

    def points(self, s: int) -> slice:
        """Points of a segment."""
        first = int(self.segments.first[s])
        return slice(first, first + STAGES * int(self.segments.intervals[s]))

    def nodes_of(self, s: int) -> slice:
        """Nodes of a segment."""
        first = int(self.segments.node[s])
        return slice(first, first + int(self.segments.intervals[s]) + 1)

    def _place(self) -> None:
        """Nodes: relative poses, masses, and the places of wrenches."""
        S, net, robot = self.count, self.network, self.robot
        place, mass = np.zeros((S, 12)), np.zeros((S, 6, 6))
        place[:, [0, 4, 8]] = 1.0
        self.fixed = np.array([s.place for s in net.segments])
        at: list[int] = []
        maps: list[Floats] = []
        self.wrenches: list[tuple[Wrench, int, Floats]] = []
        self.weights: list[tuple[int, float]] = []  # row of `dead`, mass
        for s, segment in enumerate(net.segments):
            part = robot.parts[segment.part]
            if not self._floats(segment, part):  # a free root carries its own pose
                place[s] = flat(segment.place)
            if isinstance(part, BodyHandle):
                body = part.body
                mass[s] = spatial_inertia(body.mass, body.inertia_matrix, np.array(body.com))
                self.weights.append((len(at), body.mass))
                at.append(s)
                maps.append(_dead_map(lie.pose(None, body.com)))
        for load in robot.loads:
            if isinstance(load, Wrench):
                s = net.end_at(load.frame.bare)
                if s < 0:
                    continue  # on the ground
                if load.follower:
                    self.wrenches.append((load, s, lie.Ad(lie.inverse(load.frame.offset_pose)).T))
                else:
                    self.wrenches.append((load, len(at), np.eye(6)))
                    at.append(s)
                    maps.append(_dead_map(load.frame.offset_pose))
        base = np.zeros((S, STATE))
        base[:, [0, 4, 8]] = 1.0
        self.nodes = Nodes(
            np.array([s.parent for s in net.segments], dtype=np.int64), place, np.zeros((S, 12)),
            np.zeros(S, dtype=np.int64), base, mass,
            np.any(mass != 0.0, axis=(1, 2)).astype(np.int64), np.zeros((S, 6)), self.tails,
            np.array(at, dtype=np.int64), np.array(maps).reshape(len(at), 6, 6), np.zeros((len(at), 6)),
        )  # fmt: skip

    def _floats(self, segment: Segment, part: Part) -> bool:
        """Whether the motion of a segment is that of a free root (67)-(72)."""
        return self.moving and segment.jointed and segment.parent < 0 and is_free(part)

    def _number(self) -> None:
        """Numbers of unknowns and equations, and the pattern of the derivative of the segments."""
        self.xdim = 18 if self.moving else 6
        self.nd = self.xdim + 6
        self.jointed: list[tuple[int, Part]] = []
        self.roots: list[int] = []
        for s, segment in enumerate(self.network.segments):
            part = self.robot.parts[segment.part]
            if not segment.jointed or part.joint.size == 0:
                continue
            if self._floats(segment, part):
                self.roots.append(s)
                continue
            if not self.moving and is_free(part):
                if not any(tie.a.part is part or not tie.b.is_ground for tie in self.ties):
                    raise DescriptionError(
                        f"Part {part.name!r} floats: it has no static equilibrium of its own. Attach it with another "
                        "joint, hold one of its frames, or simulate it."
                    )
            self.jointed.append((s, part))
        self.nodes.driven[[s for s, _ in self.jointed]] = int(self.moving)
        nd, S = self.nd, self.count
        at = S * nd
        self.joint_slice: list[slice] = []
        for _, part in self.jointed:
            self.joint_slice.append(slice(at, at + part.joint.size))
            at += part.joint.size
        self.root_slice = []
        for _ in self.roots:
            self.root_slice.append(slice(at, at + 6))
            at += 6
        self.tie_slice = []
        for tie in self.ties:
            k = tie.held.shape[1]
            self.tie_slice.append(slice(at, at + k))
            at += k
        self.size = at
        self.root_maps: dict[int, RootMap] = {}  # set by the time loop
        self.root_tangent: list[Floats] = []
        self.rows, self.cols = pattern(self)
        self.work = work(STAGES, nd)
        self.rule = Gauss(*self.tableau[:0:-1], np.ones(STATE), np.array(FULL_PRECISION))
        self.kept = Stages(np.zeros((self.network.size, STATE)), np.zeros((self.network.size, 24, nd)))
        self.node_states = np.zeros((self.network.nodes, STATE))
        self.end = np.zeros((S, STATE))
        self.transfer = np.zeros((S, 24, nd))
        self.values = np.zeros(len(self.rows))
        self.residual = np.zeros(at)

    # Loads at a time -----------------------------------------------------------------------------------------------

    def check_inputs(self, inputs: Inputs | None) -> None:
        """Refuse inputs of unknown actuators."""
        if inputs is not None and not isinstance(inputs, Mapping):
            raise refuse("inputs", "a dictionary from names of actuators to numbers or functions of t", inputs)
        for name in inputs or {}:
            if name not in self.robot.actuators:
                known = ", ".join(self.robot.actuators) or "none"
                raise DescriptionError(f"inputs: robot {self.robot.name!r} has no actuator {name!r}; it has: {known}.")

    def load(self, t: float, inputs: Inputs | None, factor: float = 1.0) -> None:
        """Sample gravity, loads, inputs and active stress at a time [s], times a load factor."""
        sample_loads(self, t, inputs, factor)

    def set_scheme(self, scheme: StepSlopes) -> None:
        """Set the coefficients of the time integrator, and the scales of states that go with them."""
        self.scheme = scheme
        length, force = self.length, self.force_scale
        rate = np.sqrt(scheme.second) if scheme.second > 0.0 else max(scheme.reduced, 1.0)
        motion = np.array([1.0] * 3 + [length] * 3)
        self.scale = np.concatenate(
            [motion, rate * motion, rate**2 * motion, force * length * np.ones(3), force * np.ones(3)]
        )
        self.rule.scale[:] = np.concatenate([np.ones(6), self.scale])
        self.units = self._units()

    def _units(self) -> tuple[Floats, Floats]:
        """Units of the equations and of the unknowns (size,): 1 rad, one length, the forces of one rod bent by 1 rad."""
        length, force = self.length, self.force_scale
        motion, wrench = self.scale[:6], self.scale[18:]
        one = self.scale if self.moving else np.concatenate([motion, wrench])
        rows, cols = [np.tile(one, self.count)], [np.tile(one, self.count)]
        for _, part in self.jointed:
            turns = [bool(axis.turn) for axis in part.joint.axes for _ in range(axis.size)]
            rows.append(np.where(turns, force * length, force))
            cols.append(np.where(turns, 1.0, length))
        for _ in self.roots:
            rows.append(wrench)
            cols.append(motion)
        for tie in self.ties:
            angular = np.max(np.abs(tie.held[:3]), axis=0) > 0.5
            rows.append(np.where(angular, 1.0, length))
            cols.append(np.where(angular, force * length, force))
        return np.concatenate(rows), np.concatenate(cols)

    # Unknowns, residual, derivative --------------------------------------------------------------------------------

    def rest_guess(self) -> Unknowns:
        """The rest shape without loads, joints at the rest of their springs."""
        start = np.zeros((self.count, STATE))
        start[:, [0, 4, 8]] = 1.0
        joints = {s: part.joint.rest_values.copy() for s, part in self.jointed}
        u = Unknowns(start, joints, [np.zeros(tie.held.shape[1]) for tie in self.ties])
        for s in range(self.count):  # integrate the rest strain segment by segment
            goal = np.eye(4) if self.nodes.parent[s] < 0 else square(self.end[self.nodes.parent[s]])
            part = self.robot.parts[self.network.segments[s].part]
            motion = joint_pose(part, joints[s])[0] if s in joints else np.eye(4)
            start[s, :ETA] = flat(goal @ self.fixed[s] @ motion)
            g, at, h = square(start[s]), self.points(s), self.segments.step[s]
            for k in range(int(self.segments.intervals[s])):
                g = g @ lie.exp6(h * self.rule.b @ self.rest[at][STAGES * k : STAGES * (k + 1)])
            self.end[s, :ETA] = flat(g)
        return u

    def evaluate(self, u: Unknowns, tangent: bool, slack: Sequence[Floats] = ()) -> bool:
        """Residual (and entries of its derivative) at the unknowns; False if an integration overflowed."""
        joint_residual(self, u)
        self.root_tangent = [self.root_maps[s].apply(u.roots[s], self.nodes.base[s]) for s in self.roots]
        bad = march(
            self.fields, self.segments, self.pulls, self.scheme, self.rule, self.kept, u.start, self.node_states, self.end,
            self.transfer, self.moving, tangent, self.work,
        )  # fmt: skip
        if bad >= 0:
            return False
        balance(self.nodes, u.start, self.end, self.transfer, self.moving, tangent, self.residual, self.values)
        for k, s in enumerate(self.roots):
            self.residual[self.root_slice[k]] = u.start[s, LAM:]
        for k, tie in enumerate(self.ties):
            tie_residual(self, k, tie, u.ties[k], slack[k] if len(slack) else np.zeros(6))
        return bool(np.all(np.isfinite(self.residual)))

    def frame_pose(self, frame) -> Floats:
        """Pose (4, 4) of a frame at the end of a segment, after `evaluate`."""
        s = self.network.end_at(frame.bare)
        return (np.eye(4) if s < 0 else square(self.end[s])) @ frame.offset_pose

    def matrix(self, u: Unknowns) -> csc_matrix | Floats:
        """Derivative of the residual, after `evaluate` with its tangent."""
        return derivative(self, u)

    def factorise(self, u: Unknowns) -> Callable[[Floats], Floats] | None:
        """Solver of the linear equations of the derivative, after `evaluate` with its tangent; None if singular."""
        return factorised(derivative(self, u), *self.units)

    def move(self, u: Unknowns, step: Floats, factor: float = 1.0) -> Unknowns:
        """Unknowns after a correction."""
        new = u.copy()
        retract(u.start, step[: self.count * self.nd].reshape(self.count, self.nd), factor, self.xdim, new.start)
        for k, (s, part) in enumerate(self.jointed):
            new.joints[s] = moved_joint(self, part, u.joints[s], factor * step[self.joint_slice[k]])
        for k in range(len(self.ties)):
            new.ties[k] = u.ties[k] + factor * step[self.tie_slice[k]]
        for k, s in enumerate(self.roots):
            new.roots[s] = u.roots[s] + factor * step[self.root_slice[k]]
        return new


def flat(g: Floats) -> Floats:
    """R (9) and r (3) of a pose."""
    return np.concatenate([g[:3, :3].ravel(), g[:3, 3]])


def square(y: Floats) -> Floats:
    """Pose (4, 4) at the head of a state."""
    return lie.pose(y[:9].reshape(3, 3), y[9:12])


def spatial_inertia(mass: float, inertia: Floats, com: Floats) -> Floats:
    """Inertia (6, 6), angular part first, about the origin of the body frame."""
    c = lie.hat3(com)
    return np.block([[inertia - mass * c @ c, mass * c], [-mass * c, mass * np.eye(3)]])


def _dead_map(offset: Floats) -> Floats:
    """From components in section axes to the wrench at the section of a load that acts at an offset."""
    turn = offset[:3, :3].T
    return lie.Ad(lie.inverse(offset)).T @ np.block([[turn, np.zeros((3, 3))], [np.zeros((3, 3)), turn]])


__all__ = ["BoundaryProblem", "Inputs", "Stress", "Unknowns", "coadjoint_matrix", "flat", "square"]
