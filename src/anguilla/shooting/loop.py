"""The time loop of shooting: what a step knows of the past, its first guess, its division when it fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe import STRAIN_NAMES, RodHandle
from anguilla.errors import DescriptionError, as_vector
from anguilla.mechanics.tree import Floats
from anguilla.results.states import Equilibrium
from anguilla.shooting.critical import CARRIED, expected_growth, explain, growth_of
from anguilla.shooting.jointing import joint_efforts
from anguilla.shooting.joints import Relative, imposed, imposed_values, joint_pose, joint_step
from anguilla.shooting.kinematics import reconstruct
from anguilla.shooting.point import StepSlopes
from anguilla.shooting.problem import BoundaryProblem, Inputs, Unknowns
from anguilla.shooting.root import root_map
from anguilla.shooting.shape import StaticShape, fields_of
from anguilla.shooting.solver import WORDS, newton
from anguilla.shooting.state import ACC, ETA, LAM, STATE
from anguilla.shooting.ties import closing_ties
from anguilla.solve.newton.method import KeptSolver
from anguilla.solve.newton.rules import CONVERGED
from anguilla.solve.steps.schemes import Coefficients, Newmark, coasting, factors

__all__ = ["Loop", "Snapshot", "Start"]

DIVISIONS = 4  # times a step that fails is halved

Start = StaticShape | Equilibrium | tuple[ArrayLike, ArrayLike] | None


class Snapshot(NamedTuple):
    """What is stored of a step: time, nodes, strains with their rates, growth; coordinates and efforts of joints, ties."""

    t: float
    states: Floats
    strain: Floats
    rate: Floats
    second: Floats
    growth: float
    joints: list[Floats]
    efforts: list[Floats]
    ties: list[Floats]


@dataclass
class Loop:
    """The time loop: strains and their rates at all points, and the unknowns of the last step."""

    problem: BoundaryProblem
    dt: float
    method: Newmark
    full: bool
    inputs: Inputs | None
    tolerance: float
    most: int
    step: int = 0
    fresh: bool = True
    divided: int = 0
    iterations: int = 0
    growth: float = np.nan
    before: Unknowns | None = None
    earlier: Unknowns | None = None
    u: Unknowns = field(init=False)
    xi: Floats = field(init=False)
    rate: Floats = field(init=False)
    second: Floats = field(init=False)
    states: Floats = field(init=False)
    nodes: Floats = field(init=False)
    joints: dict[int, tuple[Floats, Floats, Floats]] = field(default_factory=dict)  # q, v, a by segment
    held: Unknowns | None = None  # those of an equilibrium at the start
    constant: bool = False
    memory: KeptSolver = field(default_factory=KeptSolver)

    def begin(self, start: Start) -> None:
        """Set the initial strains, rates and states."""
        problem = self.problem
        n = problem.network.size
        self.xi, self.rate, self.second = problem.rest.copy(), np.zeros((n, 6)), np.zeros((n, 6))
        bases = {s: (problem.fixed[s].copy(), np.zeros(6)) for s in problem.roots}
        for s, part in problem.jointed:
            q, v, a = np.where(imposed(part)[:, None], imposed_values(part, 0.0), 0.0).T
            self.joints[s] = np.where(imposed(part), q, part.joint.rest_values), v, a
        if isinstance(start, StaticShape):
            if start.robot is not problem.robot:
                raise DescriptionError("start must be an equilibrium of this robot.")
            self.xi, self.held = start.strain_at(problem), start.unknowns_at(problem)
            for s, part in problem.jointed:
                self.joints[s] = start.joints[part.name].copy(), *self.joints[s][1:]
        elif isinstance(start, Equilibrium):
            self._from_coordinates(start.q, np.zeros_like(start.q), bases)
            self.held = self._wrenches(start)
        elif isinstance(start, tuple):
            if len(start) != 2:
                raise DescriptionError("start must be an equilibrium or a pair (q, v).")
            size = problem.robot.size
            self._from_coordinates(as_vector(start[0], size, "start[0]"), as_vector(start[1], size, "start[1]"), bases)
        elif start is not None:
            raise DescriptionError(f"start must be an equilibrium or a pair (q, v); got {start!r}.")
        self._reconstruct(bases)
        self.constant = (
            all(load.is_constant for load in problem.robot.loads) and problem.robot.gravity_is_constant
            and all(part.joint.effort_is_constant for _, part in problem.jointed)
            and not problem.stress and not any(callable(v) for v in (self.inputs or {}).values())
        )  # fmt: skip
        if self.constant:
            problem.load(0.0, self.inputs)

    def _from_coordinates(self, q: Floats, v: Floats, bases: dict) -> None:
        """Strains, their rates and the motion of free roots from the coordinates of the strain-mode core."""
        problem, at = self.problem, 0
        for part in problem.robot.parts:
            own, k = self.problem.network.of(part.index), part.joint.size
            if k and own[0] in self.joints:
                self.joints[own[0]] = q[at : at + k].copy(), v[at : at + k].copy(), np.zeros(k)
            elif k:
                motion, jacobian = joint_pose(part, q[at : at + k])
                bases[own[0]] = problem.fixed[own[0]] @ motion, jacobian @ v[at : at + k]
            at += k
            if not isinstance(part, RodHandle):
                continue
            for name, basis in part.rod.strains.items():
                i = STRAIN_NAMES.index(name)
                for s in own:
                    X = self.problem.network.X(s) / part.length
                    values = basis(X)
                    self.xi[problem.points(s), i] += values @ q[at : at + basis.size]
                    self.rate[problem.points(s), i] += values @ v[at : at + basis.size]
                at += basis.size

    def _wrenches(self, start: Equilibrium) -> Unknowns:
        """The wrenches of an equilibrium of the core at the starts of the segments, as a first guess."""
        states = np.zeros((self.problem.count, STATE))
        for s, segment in enumerate(self.problem.network.segments):
            part = self.problem.robot.parts[segment.part]
            if segment.count and isinstance(part, RodHandle):
                states[s, LAM:] = start.wrench(part, [segment.X0])[0]
        return Unknowns(states, {}, [np.zeros(tie.held.shape[1]) for tie in self.problem.ties])

    def _reconstruct(self, bases: dict) -> None:
        """Poses and twists from strains and their rates (49), and unknowns from them."""
        problem = self.problem
        start = np.zeros((problem.count, STATE))
        joints = {}
        for s, part in problem.jointed:
            pose, jacobian = joint_pose(part, self.joints[s][0])
            zero, none = np.zeros(6), np.zeros((6, 0))
            joints[s] = Relative(pose, jacobian @ self.joints[s][1], zero, none, none, none)
        reconstruct(problem, self.xi, self.rate, np.zeros_like(self.xi), bases, start, joints)
        self.states, _ = fields_of(problem)
        self.nodes = problem.node_states.copy()
        active = problem.compliance > 0.0
        stress = problem.hooke * (self.xi - problem.rest) * active
        for s in range(problem.count):
            if problem.segments.intervals[s]:
                start[s, LAM:] = stress[problem.points(s)][0]
        own = {s: state[0].copy() for s, state in self.joints.items()}
        ties = [np.zeros(tie.held.shape[1]) for tie in problem.ties]
        self.u = Unknowns(start, own, ties, {s: np.concatenate([np.zeros(3), start[s, 9:12]]) for s in problem.roots})

    @property
    def coefficients(self) -> Coefficients:
        """Those of the next step: the first one needs no initial acceleration."""
        return (Newmark(0.5, 1.0) if self.fresh else self.method).coefficients

    def _history(self, t: float, dt: float) -> None:
        """Fill the fields with what the step to time t knows: (58) with (65), or (89)."""
        problem, f = self.problem, self.problem.fields
        active = problem.compliance > 0.0
        scheme = self.coefficients
        if self.full:
            ahead, past_rate = coasting(scheme, dt, self.rate, self.second)
            past = self.xi + ahead
            _, rate, second = factors(scheme, dt)
            problem.set_scheme(StepSlopes(rate, second, -1.0))
        else:  # errata 003.12: z-dot = c z + (alpha - 1)/alpha z-dot_n - c z_n; alpha = 1 in the first step
            alpha = scheme.gamma
            past, past_rate = self.xi, (alpha - 1.0) / alpha * self.rate
            c = 1.0 / (alpha * dt)
            f.past_twist[:] = (alpha - 1.0) / alpha * self.states[:, ACC:LAM] - c * self.states[:, ETA:ACC]
            problem.set_scheme(StepSlopes(c, 0.0, c))
        f.past[:] = np.where(active, past, problem.rest)
        f.past_rate[:] = np.where(active, past_rate, 0.0)
        ratio, viscous = problem.scheme.rate, problem.damping[:, None] * problem.elastic
        f.hooke[:] = problem.hooke + ratio * viscous
        f.compliance[:] = np.where(active, 1.0 / f.hooke, 0.0)
        past_stress = problem.hooke * problem.rest + viscous * (ratio * f.past - f.past_rate)
        f.rest[:] = np.where(active, past_stress / f.hooke, problem.rest)
        for s in problem.roots:
            state = self.nodes[problem.segments.node[s]]
            problem.root_maps[s] = root_map(state, scheme, dt)
        for s, part in problem.jointed:
            problem.joint_steps[s] = joint_step(part, self.joints[s], t, scheme, dt)

    def advance(self) -> str:
        """One time step, in pieces if need be; returns why it failed, or an empty text."""
        t = self.step * self.dt
        reason = self._take(t + self.dt, self.dt)
        if reason and self._divisible(self.dt):
            reason = self._divide(t, self.dt, DIVISIONS) and reason
        if not reason:
            self.step += 1
        return reason

    def _divisible(self, dt: float) -> bool:
        """Whether half a step is still above the critical one."""
        return expected_growth(self.problem) ** np.sqrt(2.0) < CARRIED and dt > 0.0

    def _divide(self, t: float, dt: float, left: int) -> str:
        """Two steps of half the length from time t, each divided again if need be."""
        self.divided += 1
        for k in (1, 2):
            self._forget()
            now = t + 0.5 * k * dt
            reason = self._take(now, 0.5 * dt)
            if reason and left > 1 and self._divisible(0.5 * dt):
                reason = self._divide(now - 0.5 * dt, 0.5 * dt, left - 1) and reason
            if reason:
                return reason
        self._forget()
        return ""

    def _forget(self) -> None:
        """Drop what was kept for steps of the same length."""
        self.memory.solve, self.before, self.earlier = None, None, None
        self.problem.kept.state[:] = 0.0

    def _take(self, t: float, dt: float) -> str:
        """One step of length dt to time t; returns why it failed, or an empty text."""
        problem = self.problem
        self._history(t, dt)
        if any(not closure.is_constant for closure in problem.robot.closures.values()):
            problem.ties = [*problem.own_ties, *closing_ties(problem.robot, t)]
        if not self.constant:
            problem.load(t, self.inputs)
        guesses = [self._guess]
        if self.before is not None or (self.fresh and self.held is not None):
            guesses.append(self._still)  # extrapolation may mislead when loads jump
        for k, guess in enumerate(guesses):
            if k:
                problem.kept.state[:] = 0.0
                self.memory.solve = None
            out = newton(problem, guess(), tolerance=self.tolerance, most=self.most, memory=self.memory)
            self.iterations += out.iterations
            if out.status == CONVERGED:
                break
        self.growth = growth_of(problem)
        if out.status != CONVERGED:
            return explain(problem, dt, WORDS[out.status])
        self.earlier, self.before, self.u = self.before, self.u, out.x
        self.states, xi = fields_of(problem)
        self.nodes = problem.node_states.copy()
        for s, joint in problem.joint_steps.items():
            self.joints[s] = joint.end(self.u.joints[s])
        past, past_rate = problem.fields.past, problem.fields.past_rate
        rate = problem.scheme.rate * (xi - past) + past_rate
        self.second = problem.scheme.second * (xi - past)
        self.xi, self.rate = xi, rate
        if self.fresh:
            self.fresh, self.memory.solve = False, None  # the first step has another scheme
        return ""

    def _still(self) -> Unknowns:
        """The last unknowns, with the root carried on without acceleration."""
        u = self.u.copy()
        for s in self.problem.roots:
            root = self.problem.root_maps[s]
            u.roots[s] = np.concatenate([root.turn, root.place])
        for s, joint in self.problem.joint_steps.items():
            u.joints[s] = joint.guess()
        return u

    def _guess(self) -> Unknowns:
        """Extrapolation of the last steps.

        Accelerations and stresses of the average-acceleration scheme swing from step to step: y1 = y-1 + (y0 - y-2)
        carries on both the trend and the swing.
        """
        u = self._still()
        if self.fresh and self.held is not None:  # as if nothing were let go
            u.start[:, LAM:] = self.held.start[:, LAM:]
            u.ties = [m.copy() for m in self.held.ties]
        if self.before is None:
            return u
        a, b = (x.start[:, :9].reshape(-1, 3, 3) for x in (self.before, self.u))
        ahead, _, back = np.linalg.svd(b @ np.swapaxes(a, 1, 2) @ b)  # a rotation again: drift would double every step
        u.start[:, :9] = (ahead @ back).reshape(-1, 9)
        u.start[:, 9:ACC] = 2.0 * self.u.start[:, 9:ACC] - self.before.start[:, 9:ACC]
        if self.earlier is not None:
            u.start[:, ACC:] = self.before.start[:, ACC:] + self.u.start[:, ACC:] - self.earlier.start[:, ACC:]
        return u

    def snapshot(self) -> Snapshot:
        """What is stored of a step."""
        problem = self.problem
        if self.step == 0:  # accelerations are not known yet, and no forces
            efforts = [np.full(part.joint.size, np.nan) for _, part in problem.jointed]
            ties = [np.full(6, np.nan) for _ in problem.ties]
        else:
            efforts = [joint_efforts(problem, self.u, k) for k in range(len(problem.jointed))]
            ties = [tie.held @ m for tie, m in zip(problem.ties, self.u.ties, strict=True)]
        states, strain, rate, second = (array.copy() for array in (self.nodes, self.xi, self.rate, self.second))
        joints = [self.joints[s][0] for s, _ in problem.jointed]
        return Snapshot(self.step * self.dt, states, strain, rate, second, self.growth, joints, efforts, ties)
