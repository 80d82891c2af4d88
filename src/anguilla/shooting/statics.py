"""Statics as an optimal control problem (OCP1): the boundary-value problem (51)-(52) by single or multiple shooting."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from anguilla import lie
from anguilla._doors import public
from anguilla.describe import Robot
from anguilla.errors import (
    DescriptionError,
    SolverError,
    as_count,
    as_flag,
    as_number,
    as_positive,
    warn,
)
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.results.states import Status
from anguilla.shooting.door import robot_of
from anguilla.shooting.jointing import joint_efforts
from anguilla.shooting.network import refuse_shapes
from anguilla.shooting.problem import BoundaryProblem, Inputs, Stress, Unknowns
from anguilla.shooting.shape import StaticShape, fields_of
from anguilla.shooting.solver import SOLVERS, WORDS
from anguilla.shooting.stability import NOT_JUDGED, UNSTABLE, judged
from anguilla.shooting.ties import Join
from anguilla.solve.newton.continuation import Attempt, Continuation, counted, halted
from anguilla.solve.newton.rules import CONVERGED, DIVERGED

__all__ = ["statics"]

FEW = 2  # shoots to begin with when more of them fail
SOFTEST, STIFF = 3.0, 1e-5  # of ties on their way to being closed, in units of a rod's own
SOFTER, SLOWEST = 0.3, 0.97  # from one softness to the next, and where to give up
TOO_FAR = 2.0  # turn of a section in one load increment [rad]
ADVICE = (
    "Start closer (start=...), use more shoots, load it in smaller pieces, or look for a bifurcation: a perfectly straight "
    "rod under compression has no unique answer."
)
FAR = "one load increment turns a section by more than 2 rad"


@public
def statics(
    robot: Robot | Model, *, inputs: Inputs | None = None, ties: Sequence[Join] = (), stress: Stress | None = None,
    start: StaticShape | None = None, t: float = 0.0, shoots: int = 10, intervals: int = 60, solver: str = "newton",
    follow_strain: bool = True, tolerance: float = 1e-10, iterations: int = 40, raise_on_failure: bool = True,
) -> StaticShape:  # fmt: skip
    """Find a static equilibrium by shooting along the rods, without modes.

    The full load is tried first, from the rest shape or from `start`; when that fails, or turns a section too far at
    once, loads, inputs and gaps of ties grow in steps that adapt themselves. The message of the status says whether a chain
    of rods and bodies under conservative loads is unstable there (`shooting.stability`); of other robots, and with two
    shoots or fewer, that stability was not judged.

    Args:
        robot: rods and bodies, with any joints between them; or its model.
        inputs: inputs of the actuators by name: numbers, or functions of t [s]; absent ones are zero.
        ties: loops (`Join`) and held frames (`Hold`), beside those of `robot.close`.
        stress: by rod, active stress: a function (X (m,) [m], t [s]) -> (m, 6) [N m, N] (16).
        start: an equilibrium of the same robot with the same shoots, intervals and ties.
        t: time [s] at which time-dependent loads are taken.
        shoots: segments a rod is cut into; 1 is single shooting, `intervals` is a finite-difference method.
        intervals: integration intervals of each rod; the error falls with their sixth power.
        solver: "newton" or "levenberg".
        follow_strain: whether tendons follow the strain (remark 4); False takes (17) at the rest strain.
        tolerance: size of the last correction [rad, or relative].
        iterations: most corrections of one solve.
        raise_on_failure: raise SolverError (with the last good shape in `.result`) instead of returning it.

    Returns:
        A StaticShape.

    """
    robot = robot_of(robot)
    as_count(shoots, "shoots")
    as_count(intervals, "intervals", minimum=2)
    as_positive(tolerance, "tolerance")
    as_count(iterations, "iterations")
    as_flag(follow_strain, "follow_strain")
    t = as_number(t, "t", "s")
    if solver not in SOLVERS:
        raise DescriptionError(f"solver must be one of {', '.join(SOLVERS)}; got {solver!r}.")
    problem = BoundaryProblem(
        robot, shoots=shoots, intervals=intervals, ties=ties, follow_strain=follow_strain, stress=stress, t=t
    )
    refuse_shapes(robot)
    problem.check_inputs(inputs)
    began = time.perf_counter()
    coarse = None
    if start is None and shoots > FEW:  # fewer unknowns converge from further away
        coarse = lambda: statics(
            robot, inputs=inputs, ties=ties, stress=stress, t=t, shoots=FEW, intervals=intervals, solver=solver,
            follow_strain=follow_strain, tolerance=tolerance, iterations=iterations, raise_on_failure=False,
        )  # fmt: skip
    solve = _Solve(problem, inputs, t, solver, tolerance, iterations)
    u, ok, message, counters = _continuation(solve, start, coarse)
    doubt = judged(problem, u) if ok and shoots > FEW else NOT_JUDGED if ok else ""
    message += f" ({doubt})" if doubt else ""
    result = _shape(solve, u, Status(ok, message, counters, time.perf_counter() - began))
    if not ok and raise_on_failure:
        raise SolverError(f"No equilibrium of {robot.name!r}: {message}.", result=result, advice=ADVICE)
    if doubt == UNSTABLE and start is None:
        remedy = "A start (start=...) next to another shape leads there."
        warn(f"The equilibrium of {robot.name!r} is {doubt}. {remedy}")
    return result


def _shape(solve: _Solve, u: Unknowns, status: Status) -> StaticShape:
    """The shape at given unknowns."""
    problem = solve.problem
    problem.evaluate(u, False)
    _, strain = fields_of(problem)
    return StaticShape(
        problem.robot, status, problem.network, problem.node_states[None].copy(), strain[None],
        {part.name: u.joints[s] for s, part in problem.jointed},
        {part.name: joint_efforts(problem, u, k) for k, (_, part) in enumerate(problem.jointed)},
        [tie.held @ m for tie, m in zip(problem.ties, u.ties, strict=True)], problem, u, solve.inputs, solve.t,
    )  # fmt: skip


class _Solve:
    """One of the solvers, under a part of the load, and what it took so far."""

    def __init__(
        self, problem: BoundaryProblem, inputs: Inputs | None, t: float, solver: str, tolerance: float, most: int
    ) -> None:
        self.problem, self.inputs, self.t = problem, inputs, t
        self.solver, self.tolerance, self.most = SOLVERS[solver], tolerance, most
        self.iterations = 0
        self.gaps: list[Floats] = []

    def __call__(self, start: Unknowns, last: Unknowns, factor: float = 1.0) -> Attempt[Unknowns]:
        """Solve from a start; gaps of ties shrink as the load grows."""
        self.problem.load(self.t, self.inputs, factor)
        slack = [(1.0 - factor) * gap for gap in self.gaps]
        out = self.solver(self.problem, start.copy(), slack=slack, tolerance=self.tolerance, most=self.most)
        self.iterations += out.iterations
        far = FAR if out.status == CONVERGED and _turn(last, out.x) > TOO_FAR else ""
        return Attempt(out.x, out.status, out.iterations, far)


def _continuation(
    solve: _Solve, start: StaticShape | None, coarse: Callable[[], StaticShape] | None
) -> tuple[Unknowns, bool, str, dict[str, int]]:
    """Try the full load, then fewer shoots, then softer ties, then load increments.

    Returns (unknowns, whether they balance, in words, counters).
    """
    problem = solve.problem
    rest = problem.rest_guess()
    begin = rest if start is None else _same(problem, start)
    solve.gaps = _gaps(problem, begin)
    out = solve(begin, begin)
    pieces, factor = 1, 1.0
    near = start is not None or not out.far
    few = coarse() if coarse is not None and out.status != CONVERGED else None
    if few is not None and few.status.success:
        out, near = solve(few.unknowns_at(problem), begin), True
        solve.iterations += few.status.counters["iterations"]
        pieces += few.status.counters["load_steps"] - 1
    if problem.ties and out.status != CONVERGED:
        out, near = _soften(solve, begin), True
    if out.status != CONVERGED or not near:
        solve.gaps = _gaps(problem, rest)
        found = Continuation().follow(rest, solve, _ahead)
        out, factor = Attempt(found.x, found.status, 0, found.far), found.factor
        pieces += found.steps - 1
    counters = {"iterations": solve.iterations, "load_steps": pieces, "unknowns": problem.size}
    if factor >= 1.0 and out.status == CONVERGED:
        return out.x, True, counted(solve.iterations, pieces), counters
    problem.load(solve.t, solve.inputs, factor)
    return out.x, False, halted(factor, out.far or WORDS[out.status]), counters


def _soften(solve: _Solve, begin: Unknowns) -> Attempt[Unknowns]:
    """Close ties by springs that stiffen: a straight inextensible rod cannot be shortened until something bends it.

    A rod that buckles on the way turns fast: then the springs stiffen in smaller steps.
    """
    problem, u = solve.problem, begin
    reached, ratio, problem.soft = np.inf, SOFTER, SOFTEST
    while ratio < SLOWEST:
        out = solve(u, u)
        if out.status == CONVERGED and not out.far:
            u, reached, ratio = out.x, problem.soft, max(SOFTER, ratio**2)
            if reached == 0.0:
                break
        else:
            ratio = np.sqrt(ratio)
        if not np.isfinite(reached):
            break
        problem.soft = reached * ratio if reached * ratio > STIFF else 0.0
    problem.soft = 0.0
    return Attempt(u, CONVERGED if reached == 0.0 else out.status or DIVERGED, 0)


def _gaps(problem: BoundaryProblem, u: Unknowns) -> list:
    """Gaps (6,) of the ties at given unknowns; only from here does a guess have to be closed."""
    problem.load(0.0, None, 0.0)
    problem.evaluate(u, False)
    return [tie.gap(problem.frame_pose(tie.a), problem.frame_pose(tie.b)) for tie in problem.ties]


def _same(problem: BoundaryProblem, start: StaticShape) -> Unknowns:
    if not isinstance(start, StaticShape) or start.unknowns is None:
        raise DescriptionError("start must be an equilibrium found by shooting.statics.")
    if len(start.unknowns.start) != problem.count or len(start.unknowns.ties) != len(problem.ties):
        raise DescriptionError("start must come from the same robot with the same shoots, intervals and ties.")
    return start.unknowns.copy()


def _turn(before: Unknowns, after: Unknowns) -> float:
    """Largest turn [rad] of a segment's start between two solutions."""
    a, b = (u.start[:, :9].reshape(-1, 3, 3) for u in (before, after))
    trace = np.einsum("sij,sij->s", a, b)
    return float(np.max(np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0))))


def _ahead(before: Unknowns, now: Unknowns, ratio: float) -> Unknowns:
    """Next unknowns along the line through the last two."""
    guess = now.copy()
    a, b = (u.start[:, :9].reshape(-1, 3, 3) for u in (before, now))
    turn = lie.log3(np.swapaxes(a, 1, 2) @ b)
    guess.start[:, :9] = (b @ lie.exp3(ratio * turn)).reshape(-1, 9)
    guess.start[:, 9:] += ratio * (now.start[:, 9:] - before.start[:, 9:])
    for s in guess.joints:
        guess.joints[s] = now.joints[s] + ratio * (now.joints[s] - before.joints[s])
    for k in range(len(guess.ties)):
        guess.ties[k] = now.ties[k] + ratio * (now.ties[k] - before.ties[k])
    return guess
