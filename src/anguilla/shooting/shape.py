"""What shooting returns: states at the nodes and strains at the Gauss points, and anything between by interpolation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anguilla import lie
from anguilla.describe import Frame, Part, Robot, RodHandle
from anguilla.describe.constraints import Closure
from anguilla.errors import DescriptionError
from anguilla.mechanics.tree import Floats
from anguilla.results.base import sections
from anguilla.results.states import Status
from anguilla.shooting.march import at_points
from anguilla.shooting.network import Network
from anguilla.shooting.problem import BoundaryProblem, Unknowns
from anguilla.shooting.state import ACC, ETA, LAM, POS, STATE
from anguilla.shooting.ties import Join

__all__ = ["Motion", "StaticShape"]

WINDOW = 7  # points of an interpolation


@dataclass(frozen=True)
class _Fields:
    """States (time, nodes, 30) at the nodes and strains (time, points, 6) at the Gauss points of a network."""

    robot: Robot
    status: Status
    network: Network
    states: Floats
    point_strains: Floats
    joints: dict[str, Floats]
    efforts: dict[str, Floats]
    reactions: list[Floats]

    def _pick(self, array: Floats) -> Any:
        return array

    def _at(self, rod: RodHandle, X: Floats) -> tuple[Floats, Floats]:
        """States (time, m, 30) and strains (time, m, 6) at arc lengths of a rod."""
        net, count = self.network, len(self.states)
        states, strain = np.zeros((count, len(X), STATE)), np.zeros((count, len(X), 6))
        for piece in net.pieces(rod.index):
            low, high = net.segments[piece[0]].X0, net.segments[piece[-1]].X1
            inside = (X >= low) & ((X < high) | (high >= rod.length))
            if not np.any(inside):
                continue
            nodes = [net.node[s] + np.arange(int(s != piece[0]), net.segments[s].count + 1) for s in piece]
            where = np.concatenate([net.X_nodes(s)[int(s != piece[0]) :] for s in piece])
            states[:, inside] = interpolate(where, self.states[:, np.concatenate(nodes)], X[inside])
            points = [net.first[s] + np.arange(net.stages * net.segments[s].count) for s in piece]
            where = np.concatenate([net.X(s) for s in piece])
            strain[:, inside] = interpolate(where, self.point_strains[:, np.concatenate(points)], X[inside])
        return states, strain

    def _frame(self, frame: Frame) -> tuple[Floats, Floats]:
        """States (time, 30) at a frame without its offset."""
        if not isinstance(frame, Frame):
            given = f"its name, {frame!r}: give the frame itself" if isinstance(frame, str) else repr(frame)
            raise DescriptionError(f"expected a frame such as arm.tip or arm.section(X); got {given}.")
        if frame.robot is not self.robot:
            raise DescriptionError(f"frame {frame.label} belongs to another robot, {frame.robot.name!r}.")
        n = len(self.states)
        if frame.is_ground:
            state = np.zeros((n, STATE))
            state[:, [0, 4, 8]] = 1.0
            return state, np.tile(frame.offset_pose, (n, 1, 1))
        part = frame.part
        if isinstance(part, RodHandle):
            state = self._at(part, np.array([frame.X]))[0][:, 0]
        else:
            state = self.states[:, self.network.node[self.network.of(part.index)[0]]]
        pose = np.tile(np.eye(4), (n, 1, 1))
        pose[:, :3, :3] = _rotation(state[:, :9].reshape(-1, 3, 3))
        pose[:, :3, 3] = state[:, POS : POS + 3]
        return state, pose @ frame.offset_pose

    def position(self, frame: Frame) -> Floats:
        """Position of a frame [m], world axes: (time, 3), or (3,) of an equilibrium."""
        return self._pick(self._frame(frame)[1][:, :3, 3])

    def pose(self, frame: Frame) -> Floats:
        """Pose of a frame: (time, 4, 4), or (4, 4) of an equilibrium."""
        return self._pick(self._frame(frame)[1])

    def twist(self, frame: Frame) -> Floats:
        """Body twist of a frame: angular velocity [rad/s] then velocity [m/s], in its own axes: (time, 6)."""
        state, _ = self._frame(frame)
        return self._pick(state[:, ETA:ACC] @ lie.Ad(lie.inverse(frame.offset_pose)).T)

    def effort(self, part: Part) -> Floats:
        """Effort of a joint (time, nq), or (nq,) of an equilibrium [N m, N]: given, or what its prescribed motion takes."""
        if not isinstance(part, Part) or part.name not in self.efforts or part.robot is not self.robot:
            known = ", ".join(self.efforts) or "none"
            raise DescriptionError(f"effort needs a part with a joint that moves; there are: {known}.")
        return self.efforts[part.name]

    def reaction(self, closure: Closure | str) -> Floats:
        """Wrench of a closure on its frame b, in the axes of b: (time, 6), or (6,) of an equilibrium [N m, N]."""
        names = [tie.name for tie in self._ties]
        closure = self.robot.closures.get(closure, closure) if isinstance(closure, str) else closure
        if not isinstance(closure, Closure) or closure.robot is not self.robot or closure.name not in names:
            raise DescriptionError(
                f"expected a closure of robot {self.robot.name!r} made before, or its name; it has: "
                f"{', '.join(map(str, names)) or 'none'}; got {closure!r}."
            )
        wrench = np.reshape(self.reactions[names.index(closure.name)], (-1, 6))
        ga, gb = self._frame(closure.a)[1], self._frame(closure.b)[1]
        times = np.reshape(getattr(self, "t", 0.0), -1).tolist()
        out = np.zeros((len(ga), 6))
        for k, t in enumerate(times):
            base = ga[k] @ np.asarray(closure.pose(t) if callable(closure.pose) else closure.pose)
            if closure.b.is_ground:  # the tie is the other way round
                arm = base[:3, 3] - gb[k, :3, 3]
                at_b = wrench[k, :3] + np.cross(gb[k, :3, :3].T @ arm, wrench[k, 3:])
                out[k] = -np.concatenate([at_b, wrench[k, 3:]])
                continue
            turn = gb[k, :3, :3].T @ base[:3, :3]
            out[k] = np.concatenate([turn @ wrench[k, :3], turn @ wrench[k, 3:]])
        return self._pick(out)

    @property
    def _ties(self) -> list[Join]:
        problem = getattr(self, "problem", None)
        return [] if problem is None else problem.ties

    def _own(self, rod: RodHandle) -> RodHandle:
        if not isinstance(rod, RodHandle) or rod.robot is not self.robot:
            raise DescriptionError(
                f"expected a rod of robot {self.robot.name!r}, as returned by robot.add; got {rod!r}."
            )
        return rod

    def _sections(self, rod: RodHandle, X: ArrayLike | None) -> Floats:
        return sections(rod, X)

    def centerline(self, rod: RodHandle, points: int = 60) -> Floats:
        """Positions of equally spaced sections [m]: (time, points, 3)."""
        X = np.linspace(0.0, self._own(rod).length, points)
        return self._pick(self._at(rod, X)[0][:, :, POS : POS + 3])

    def strain(self, rod: RodHandle, X: ArrayLike | None = None) -> Floats:
        """Strains xi = (K, Gamma) at arc lengths X [m] (default 60 equally spaced): (time, points, 6) [1/m, -]."""
        return self._pick(self._at(self._own(rod), self._sections(rod, X))[1])

    def wrench(self, rod: RodHandle, X: ArrayLike | None = None) -> Floats:
        """Internal wrench Lambda at arc lengths X [m], section axes: (time, points, 6) [N m, N]."""
        return self._pick(self._at(self._own(rod), self._sections(rod, X))[0][:, :, LAM:])


def interpolate(nodes: Floats, values: Floats, X: Floats) -> Floats:
    """Values (time, m, k) at X (m,) by the polynomials through up to WINDOW nodes around each."""
    n = min(WINDOW, len(nodes))
    at = np.clip(np.searchsorted(nodes, X) - n // 2, 0, len(nodes) - n)
    out = np.zeros((values.shape[0], len(X), values.shape[2]))
    for i in range(n):
        basis = np.ones(len(X))
        for j in range(n):
            if j != i:
                basis *= (X - nodes[at + j]) / (nodes[at + i] - nodes[at + j])
        out += basis[:, None] * values[:, at + i]
    return out


def _rotation(R: Floats) -> Floats:
    """The nearest rotations."""
    u, _, vt = np.linalg.svd(R)
    return u @ vt


@dataclass(frozen=True)
class StaticShape(_Fields):
    """A static equilibrium found by shooting.

    Attributes:
        status: how the solver ended, with counters.
        joints: coordinates (nq,) of the joints by the name of their part.
        efforts: what each joint takes beyond its spring [N m, N]; of a prescribed coordinate, the effort that holds it.
        reactions: wrench (6,) of each tie on its frame a, in the axes of b: moment [N m], force [N]; then of closures.
        inputs, t: of the call.

    """

    problem: BoundaryProblem | None = field(default=None, repr=False)
    unknowns: Unknowns | None = field(default=None, repr=False)
    inputs: Any = None
    t: float = 0.0

    def _pick(self, array: Floats) -> Any:
        return array[0]

    def unknowns_at(self, problem: BoundaryProblem) -> Unknowns:
        """The same equilibrium as unknowns of another problem of the same robot, with other segments."""
        assert self.unknowns is not None
        old = self.network
        start = np.zeros((problem.count, STATE))
        for s, segment in enumerate(problem.network.segments):
            part = self.robot.parts[segment.part]
            if segment.count and isinstance(part, RodHandle):
                start[s] = self._at(part, np.array([segment.X0]))[0][0, 0]
            else:
                start[s] = self.states[0, old.node[old.of(segment.part)[0]]]
            start[s, :9] = _rotation(start[s, :9].reshape(3, 3)).ravel()
        parts = {segment.part: s for s, segment in reversed(list(enumerate(problem.network.segments)))}
        joints = {parts[old.segments[s].part]: q.copy() for s, q in self.unknowns.joints.items()}
        return Unknowns(start, joints, [m.copy() for m in self.unknowns.ties])

    def strain_at(self, problem: BoundaryProblem) -> Floats:
        """Strains (points, 6) at the points of another problem of the same robot."""
        old, new = self.network, problem.network
        if [(s.part, s.X0, s.X1, s.count) for s in old.segments] == [
            (s.part, s.X0, s.X1, s.count) for s in new.segments
        ] and self.point_strains.shape[1] == new.size:
            return self.point_strains[0].copy()
        out = problem.rest.copy()
        for part in self.robot.parts:
            if isinstance(part, RodHandle):
                for s in new.of(part.index):
                    out[problem.points(s)] = self._at(part, new.X(s))[1][0]
        return np.where(problem.compliance > 0.0, out, problem.rest)

    def __repr__(self) -> str:
        return f"<equilibrium of {self.robot.name!r} by shooting: {self.status.message}>"


@dataclass(frozen=True)
class Motion(_Fields):
    """A motion found by shooting.

    Attributes:
        t: (time,) [s].
        joints: coordinates (time, nq) of the joints by the name of their part.
        efforts: (time, nq) what each joint takes beyond its spring and damper [N m, N]; of a prescribed coordinate, the
            effort that moves it. Not known (NaN) at the start.
        status: how the solver ended, with counters.
        reactions: (time, 6) of each closure, see `reaction`.
        growth: (time,) largest factor by which a segment's initial-value problem amplifies an error; NaN if not measured.

    """

    t: Floats = field(default_factory=lambda: np.zeros(0))
    growth: Floats = field(default_factory=lambda: np.zeros(0))
    strain_rate: Floats = field(default_factory=lambda: np.zeros((0, 0, 6)), repr=False)
    strain_acceleration: Floats = field(default_factory=lambda: np.zeros((0, 0, 6)), repr=False)
    problem: BoundaryProblem | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"<motion of {self.robot.name!r} by shooting: {len(self.t)} states, {self.status.message}>"


def fields_of(problem: BoundaryProblem) -> tuple[Floats, Floats]:
    """States and strains at all points, after an evaluation."""
    n = problem.network.size
    states, strain = np.zeros((n, STATE)), np.zeros((n, 6))
    at_points(
        problem.fields, problem.segments, problem.pulls, problem.scheme, problem.rule, problem.kept, problem.node_states,
        states, strain, problem.work,
    )  # fmt: skip
    return states, strain
