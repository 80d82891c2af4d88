"""Inverse statics and dynamics: the active stress behind a given motion of the strains (003, section VI).

Two algorithms for manipulators, locomotors and trees of rods and bodies: the Riccati sweep (84)-(86), in which Lambda
= S eta-dot + s with -S the inertia of all that lies beyond a section, frozen in its shape (errata 003.4); and two
Newton-Euler passes, the acceleration of a free root being found from seven of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import lsq_linear

from anguilla import lie
from anguilla._doors import public
from anguilla.describe import Robot, RodHandle
from anguilla.errors import DescriptionError, as_count, as_number, as_pose, as_vector, refuse
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.shooting.door import robot_of
from anguilla.shooting.kinematics import reconstruct
from anguilla.shooting.problem import BoundaryProblem, Inputs
from anguilla.shooting.shape import Motion, StaticShape, fields_of, interpolate
from anguilla.shooting.state import ACC, ETA, LAM, STATE
from anguilla.shooting.sweep import backward, riccati, scratch

__all__ = ["Actuation", "inverse_dynamics", "inverse_statics"]

StrainFields = dict[RodHandle, Callable[[Floats], ArrayLike]]
METHODS = ("riccati", "two-pass")


@dataclass(frozen=True)
class Actuation:
    """The stress that a motion asks for.

    Attributes:
        robot: the robot.
        root_acceleration: by part, rate of the twist (6,) of a root that floats.
        base_wrench: by part on the ground, wrench (6,) of the robot on the ground at its root, root axes.

    """

    robot: Robot
    root_acceleration: dict[str, Floats]
    base_wrench: dict[str, Floats]
    _problem: BoundaryProblem
    _strain: Floats
    _stress: Floats
    _wrench: Floats

    def points(self, rod: RodHandle) -> Floats:
        """Arc lengths (m,) [m] at which the fields are known best."""
        net = self._problem.network
        return np.concatenate([net.X(s) for s in net.of(rod.index)])

    def _of(self, rod: RodHandle, field: Floats, X: ArrayLike | None) -> Floats:
        if not isinstance(rod, RodHandle) or rod.robot is not self.robot:
            raise DescriptionError(f"expected a rod of robot {self.robot.name!r}; got {rod!r}.")
        net = self._problem.network
        if X is None:
            return np.concatenate([field[self._problem.points(s)] for s in net.of(rod.index)])
        X = np.atleast_1d(np.asarray(X, dtype=float))
        out = np.zeros((len(X), 6))
        for piece in net.pieces(rod.index):
            low, high = net.segments[piece[0]].X0, net.segments[piece[-1]].X1
            inside = (X >= low) & ((X < high) | (high >= rod.length))
            where = np.concatenate([net.X(s) for s in piece])
            own = np.concatenate([field[self._problem.points(s)] for s in piece])
            out[inside] = interpolate(where, own[None], X[inside])[0]
        return out

    def stress(self, rod: RodHandle, X: ArrayLike | None = None) -> Floats:
        """Active stress Lambda_ad (m, 6) [N m, N] at arc lengths X, by default at `points`; zero on locked strains."""
        return self._of(rod, self._stress, X)

    def wrench(self, rod: RodHandle, X: ArrayLike | None = None) -> Floats:
        """Internal wrench Lambda (m, 6) [N m, N] at arc lengths X, by default at `points`."""
        return self._of(rod, self._wrench, X)

    def inputs(self, bounds: tuple[float, float] = (0.0, np.inf)) -> tuple[dict[str, float], float]:
        """Inputs of the robot's actuators nearest to the stress (remark 10), and what they cannot do.

        The distance is an energy: the integral of the squared stress over the stiffness.

        Args:
            bounds: least and greatest tension along a routing [N]; tendons do not push.

        Returns:
            The inputs by name, and the remaining distance as a part of that of the whole stress (0 = exact).

        """
        low, high = as_number(bounds[0], "bounds[0]"), bounds[1]
        problem, names = self._problem, list(self.robot.actuators)
        if not names:
            raise DescriptionError(f"Robot {self.robot.name!r} has no actuators.")
        weight = np.zeros(len(self._stress))
        columns = np.zeros((len(names), *self._stress.shape))
        for s in range(problem.count):
            at = problem.points(s)
            weight[at] = np.tile(problem.rule.b, int(problem.segments.intervals[s])) * problem.segments.step[s]
            for k in np.flatnonzero(problem.within[s]):
                columns[k, at] = unit_tension(self._strain[at], problem.routes[at, k])
        root = np.sqrt(weight[:, None] * problem.compliance)
        matrix = (columns * root).reshape(len(names), -1).T
        wanted = (self._stress * root).ravel()
        size = np.linalg.norm(matrix, axis=0)
        # of answers that do the same, such as tendons pulling against each other, the smallest tensions
        least = 1e-7 * np.eye(len(names))
        whole = np.concatenate([wanted, np.zeros(len(names))])
        answer = lsq_linear(
            np.vstack([matrix / size, least]), whole, (low * size, high * size), method="bvls", tol=1e-15
        )
        tension = answer.x / size
        left = float(np.linalg.norm(matrix @ tension - wanted)) / max(float(np.linalg.norm(wanted)), 1e-300)
        gains = [actuator.tension_per_input for actuator in self.robot.actuators.values()]
        return {name: float(T / gain) for name, T, gain in zip(names, tension, gains, strict=True)}, left


def unit_tension(xi: Floats, route: Floats) -> Floats:
    """Stress (m, 6) of a tendon of 1 N at strains xi (m, 6), from D and D' (m, 6) (17)."""
    D, slope = route[:, :3], route[:, 3:]
    line = xi[:, 3:] + np.cross(xi[:, :3], D) + slope
    line /= np.linalg.norm(line, axis=1)[:, None]
    return np.hstack([np.cross(D, line), line])


@public
def inverse_statics(
    robot: Robot | Model, strain: StrainFields | StaticShape, *, inputs: Inputs | None = None, t: float = 0.0,
    intervals: int = 60, method: str = "two-pass",
) -> Actuation:  # fmt: skip
    """Active stress that holds the given strains.

    Args:
        robot: rods and bodies from the ground, on fixed joints; or its model.
        strain: by rod, a function X (m,) [m] -> strains xi (m, 6); rods without one keep their rest shape. Or a shape.
        inputs: inputs of actuators that act besides.
        t: time [s] of the loads.
        intervals: integration intervals of each rod.
        method: "riccati" or "two-pass".

    """
    return inverse_dynamics(robot, strain, inputs=inputs, t=t, intervals=intervals, method=method)


@public
def inverse_dynamics(
    robot: Robot | Model, strain: StrainFields | StaticShape | Motion, rate: StrainFields | None = None,
    acceleration: StrainFields | None = None, *, root: tuple[ArrayLike, ArrayLike] | None = None,
    inputs: Inputs | None = None, t: float = 0.0, intervals: int = 60, method: str = "riccati",
    added: dict[RodHandle, Callable[[Floats], Floats]] | None = None, step: int = -1,
) -> Actuation:  # fmt: skip
    """Active stress behind a motion of the strains; also the acceleration of a root that floats.

    Args:
        robot: rods and bodies on fixed joints, from the ground or from a `Free` joint; or its model.
        strain: by rod, a function X (m,) [m] -> strains xi (m, 6); rods without one keep their rest shape. Or a Motion of
            shooting, from which strains, rates and accelerations of one stored step are taken.
        rate: by rod, rates of the strains; zero if not given.
        acceleration: by rod, second time derivatives of the strains; zero if not given.
        root: pose (4, 4) and twist (6,) of a root that floats.
        inputs: inputs of actuators that act besides.
        t: time [s] of the loads.
        intervals: integration intervals of each rod.
        method: "riccati" or "two-pass".
        added: by rod, added inertia of Lighthill's theory, as in `simulate`.
        step: stored step of a Motion.

    """
    robot = robot_of(robot)
    as_count(intervals, "intervals", minimum=2)
    if method not in METHODS:
        raise DescriptionError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    if isinstance(strain, (StaticShape, Motion)):
        source = strain.problem
        assert source is not None
        if source.robot is not robot:
            raise DescriptionError("strain must be a motion of this robot.")
        problem = BoundaryProblem(
            robot,
            shoots=source.shoots,
            intervals=source.intervals,
            ties=source.own_ties,
            added=source.added,
            moving=True,
        )
    else:
        problem = BoundaryProblem(robot, shoots=1, intervals=intervals, moving=True, added=added)
    problem.check_inputs(inputs)
    check_tree(problem, "inverse dynamics")
    if isinstance(strain, (StaticShape, Motion)):
        fields, bases = _of_motion(strain, problem, step)
        t = float(strain.t[step]) if isinstance(strain, Motion) else t
    else:
        fields = [_sample(problem, strain, problem.rest), _sample(problem, rate), _sample(problem, acceleration)]
        bases = _bases(problem, root)
    problem.load(t, inputs)
    locked = problem.compliance == 0.0
    xi, xi_rate, xi_second = fields
    fields = [np.where(locked, problem.rest, xi), np.where(locked, 0.0, xi_rate), np.where(locked, 0.0, xi_second)]
    solve = _Riccati(problem, fields, bases) if method == "riccati" else _TwoPass(problem, fields, bases)
    accelerations, wrench, roots = solve.run()
    passive = problem.hooke * (fields[0] - problem.rest) + problem.damping[:, None] * problem.elastic * fields[1]
    # (16), less what the actuators do already
    stress = np.where(locked, 0.0, wrench - passive - problem.fields.stress - tendon_stress(problem, fields[0]))
    names = {s: robot.parts[problem.network.segments[s].part].name for s in range(problem.count)}
    return Actuation(
        robot, {names[s]: a for s, a in accelerations.items()}, {names[s]: w for s, w in roots.items()}, problem,
        fields[0], stress, wrench,
    )  # fmt: skip


def check_tree(problem: BoundaryProblem, what: str) -> None:
    """Refuse joints that move and loops, whose wrenches strains alone do not tell."""
    if problem.jointed or problem.ties:
        raise DescriptionError(
            f"{what} by shooting is for rods and bodies on fixed joints, from the ground or from a Free() joint, without "
            "loops."
        )


def _of_motion(strain, problem: BoundaryProblem, step: int):
    if isinstance(strain, Motion):
        fields = [strain.point_strains[step], strain.strain_rate[step], strain.strain_acceleration[step]]
    else:
        still = np.zeros_like(strain.point_strains[0])
        fields = [strain.point_strains[0], still, still]
    bases = {}
    for s in problem.roots:
        state = strain.states[step, strain.network.node[s]]
        bases[s] = lie.pose(state[:9].reshape(3, 3), state[9:12]), state[ETA:ACC]
    return fields, bases


def _sample(problem: BoundaryProblem, fields: StrainFields | None, default: Floats | None = None) -> Floats:
    out = np.zeros_like(problem.rest) if default is None else default.copy()
    if fields is not None and not isinstance(fields, Mapping):
        wanted = "a dictionary from rods to functions of X (m,) [m] that return (m, 6), or a result of shooting"
        raise refuse("The strains", wanted, fields)
    for rod, function in (fields or {}).items():
        if not isinstance(rod, RodHandle) or rod.robot is not problem.robot:
            raise DescriptionError(f"strains are given by rod of robot {problem.robot.name!r}; got {rod!r}.")
        for s in problem.network.of(rod.index):
            X = problem.network.X(s)
            value = np.asarray(function(X), dtype=float)
            if value.shape != (len(X), 6) or not np.all(np.isfinite(value)):
                raise DescriptionError(f"The strains of {rod.name} must be finite, ({len(X)}, 6); got {value.shape}.")
            out[problem.points(s)] = value
    return out


def _bases(problem: BoundaryProblem, root: tuple[ArrayLike, ArrayLike] | None) -> dict:
    if root is None:
        return {}
    if len(problem.roots) != 1:
        raise DescriptionError("root is for a robot with one part that floats, on a Free() joint.")
    return {problem.roots[0]: (as_pose(root[0], "root[0]"), as_vector(root[1], 6, "root[1]"))}


def tendon_stress(problem: BoundaryProblem, xi: Floats) -> Floats:
    """Stress (points, 6) of the tendons that follow the strain, at strains xi."""
    out = np.zeros_like(xi)
    for s in range(problem.count):
        at = problem.points(s)
        for k in np.flatnonzero(problem.pulls[s]):
            out[at] += problem.pulls[s, k] * unit_tension(xi[at], problem.routes[at, k])
    return out


class Passes:
    """What both algorithms share: the motion of all sections, and forces at points and at ends."""

    def __init__(self, problem: BoundaryProblem, fields: list[Floats], bases: dict) -> None:
        self.problem, self.fields, self.bases = problem, fields, bases
        self.carry = [lie.Ad(lie.inverse(s.place)) for s in problem.network.segments]

    def motion(self, accelerations: dict[int, Floats]) -> Floats:
        """States (points, 30) with given accelerations of the roots (49), (45)."""
        problem = self.problem
        bases = {}
        for s in range(problem.count):
            if problem.nodes.parent[s] < 0:
                pose, *rest = self.bases.get(s, (problem.fixed[s], np.zeros(6)))
                bases[s] = pose, *(rest[:1] or [np.zeros(6)]), accelerations.get(s, np.zeros(6))
        xi, rate, second = self.fields
        reconstruct(problem, xi, rate, second, bases, np.zeros((problem.count, STATE)))
        return fields_of(problem)[0]

    def external(self, states: Floats) -> Floats:
        """F~ = F + ad_eta^T M eta (points, 6)."""
        f = self.problem.fields
        R = states[:, :9].reshape(-1, 3, 3)
        dead = np.hstack([np.einsum("pji,pj->pi", R, f.dead[:, :3]), np.einsum("pji,pj->pi", R, f.dead[:, 3:])])
        return f.follower + dead + coadjoint(states[:, ETA:ACC], f.inertia * states[:, ETA:ACC])

    def end_force(self, s: int) -> Floats:
        """Wrench on the end of a segment without its accelerations: loads, velocity terms, the wake."""
        nodes, y = self.problem.nodes, self.problem.end[s]
        eta = y[ETA:ACC]
        out = nodes.follower[s] + coadjoint(eta[None], (nodes.mass[s] @ eta)[None])[0]
        R = y[:9].reshape(3, 3)
        for k in np.flatnonzero(nodes.dead_at == s):
            out += nodes.dead_map[k] @ np.concatenate([R.T @ nodes.dead[k, :3], R.T @ nodes.dead[k, 3:]])
        flow = nodes.tail[s] * eta
        out += eta[3] * flow
        out[3] -= 0.5 * flow @ eta
        return out

    def pass_back(self, s: int, states: Floats, z: Floats, nodes: Floats, wrench: Floats, *, given: bool) -> None:
        """Wrench along a segment from its end value z, or from its values at the nodes."""
        problem, at = self.problem, self.problem.points(s)
        source = problem.fields.inertia[at] * states[at, ACC:LAM] - self.external(states)[at]
        stages, count = len(problem.rule.b), int(problem.segments.intervals[s])
        backward(
            self.fields[0][at], source, problem.rule.a, problem.rule.b, problem.segments.step[s], count, z, nodes, given,
            wrench[at], np.zeros((stages, 6)), np.zeros((2, 6)),
        )  # fmt: skip


class _Riccati(Passes):
    def run(self):
        """Forward (49), backward (84), forward again for the accelerations, Lambda = S eta-dot + s (57)."""
        problem = self.problem
        states = self.motion({})
        count, size = problem.count, problem.network.nodes
        matrices, vectors = np.zeros((size, 6, 6)), np.zeros((size, 6))
        force = self.external(states)
        xi, rate, second = self.fields
        drift = adjoint(rate, states[:, ETA:ACC]) - second
        S, s_ = np.zeros((count, 6, 6)), np.zeros((count, 6))
        for s in range(count):
            S[s], s_[s] = -problem.nodes.mass[s], self.end_force(s)
        work = scratch(len(problem.rule.b))
        accelerations = {}
        for s in range(count - 1, -1, -1):  # children come after their parents
            at = problem.points(s)
            riccati(
                xi[at], problem.fields.inertia[at], force[at], drift[at], problem.rule.a, problem.rule.b,
                problem.segments.step[s], problem.segments.intervals[s], S[s], s_[s], matrices[problem.nodes_of(s)],
                vectors[problem.nodes_of(s)], *work,
            )  # fmt: skip
            parent, carry = int(problem.nodes.parent[s]), self.carry[s]
            if parent >= 0:
                S[parent] += carry.T @ S[s] @ carry
                s_[parent] += carry.T @ s_[s]
            elif s in problem.roots:
                accelerations[s] = -np.linalg.solve(S[s], s_[s])  # (85)
        states = self.motion(accelerations)
        at_nodes = np.einsum("pij,pj->pi", matrices, problem.node_states[:, ACC:LAM]) + vectors
        wrench = np.zeros((len(states), 6))
        for s in range(count):
            self.pass_back(s, states, np.zeros(6), at_nodes[problem.nodes_of(s)], wrench, given=True)
        roots = {s: s_[s] for s in range(count) if problem.nodes.parent[s] < 0 and s not in problem.roots}
        return accelerations, wrench, roots


class _TwoPass(Passes):
    def run(self):
        """One forward and one backward pass; a free root needs its inertia first, by unit accelerations."""
        problem = self.problem
        accelerations = {}
        for s in problem.roots:
            zero = self.back({})[1][s]
            unit = np.array([self.back({s: e})[1][s] for e in np.eye(6)]).T - zero[:, None]
            accelerations[s] = -np.linalg.solve(unit, zero)
        wrench, roots = self.back(accelerations)
        return accelerations, wrench, {s: w for s, w in roots.items() if s not in problem.roots}

    def back(self, accelerations: dict[int, Floats]):
        """Wrenches at the points and at the roots, for given accelerations of the roots."""
        problem = self.problem
        states = self.motion(accelerations)
        wrench = np.zeros((len(states), 6))
        ends = np.array(
            [self.end_force(s) - problem.nodes.mass[s] @ problem.end[s, ACC:LAM] for s in range(problem.count)]
        )
        roots = {}
        for s in range(problem.count - 1, -1, -1):
            z = ends[s].copy()
            self.pass_back(s, states, z, np.zeros((int(problem.segments.intervals[s]) + 1, 6)), wrench, given=False)
            parent = int(problem.nodes.parent[s])
            if parent >= 0:
                ends[parent] += self.carry[s].T @ z
            else:
                roots[s] = z
        return wrench, roots


def adjoint(x: Floats, y: Floats) -> Floats:
    """ad_x y by rows (n, 6)."""
    K, G, O, V = x[:, :3], x[:, 3:], y[:, :3], y[:, 3:]
    return np.hstack([np.cross(K, O), np.cross(G, O) + np.cross(K, V)])


def coadjoint(x: Floats, z: Floats) -> Floats:
    """ad_x^T z by rows (n, 6)."""
    K, G, C, N = x[:, :3], x[:, 3:], z[:, :3], z[:, 3:]
    return -np.hstack([np.cross(K, C) + np.cross(G, N), np.cross(K, N)])
