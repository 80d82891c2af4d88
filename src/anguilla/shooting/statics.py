"""Statics as an optimal control problem (OCP1): the boundary-value problem (51)-(52) by single or multiple shooting."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from anguilla import lie
from anguilla.describe import Robot
from anguilla.errors import AnguillaWarning, DescriptionError, SolverError, as_count, as_flag, as_number, as_positive
from anguilla.results.states import Status
from anguilla.shooting.jointing import joint_efforts
from anguilla.shooting.network import refuse_shapes
from anguilla.shooting.problem import Inputs, Problem, Stress, Unknowns
from anguilla.shooting.shape import StaticShape, fields_of
from anguilla.shooting.solver import SOLVERS, Outcome
from anguilla.shooting.stability import NOT_JUDGED, UNSTABLE, judged
from anguilla.shooting.ties import Join

__all__ = ["statics"]

FEW = 2  # shoots to begin with when more of them fail
SMALLEST_STEP = 1e-4  # of the load
SOFTEST, STIFF = 3.0, 1e-5  # of ties on their way to being closed, in units of a rod's own
SOFTER, SLOWEST = 0.3, 0.97  # from one softness to the next, and where to give up
TOO_FAR = 2.0  # turn of a section in one load step [rad]


def statics(
    robot: Robot, *, inputs: Inputs | None = None, ties: Sequence[Join] = (), stress: Stress | None = None,
    start: StaticShape | None = None, t: float = 0.0, shoots: int = 10, intervals: int = 60, solver: str = "newton",
    follow_strain: bool = True, tolerance: float = 1e-10, iterations: int = 40, raise_on_failure: bool = True,
) -> StaticShape:  # fmt: skip
    """Find a static equilibrium by shooting along the rods, without modes.

    The full load is tried first, from the rest shape or from `start`; when that fails, or turns a section too far at
    once, loads, inputs and gaps of ties grow in steps that adapt themselves. The message of the status says whether a chain
    of rods and bodies under conservative loads is unstable there (`shooting.stability`); of other robots, and with two
    shoots or fewer, that stability was not judged.

    Args:
        robot: rods and bodies, with any joints between them.
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
    as_count(shoots, "shoots")
    as_count(intervals, "intervals", minimum=2)
    as_positive(tolerance, "tolerance")
    as_count(iterations, "iterations")
    as_flag(follow_strain, "follow_strain")
    t = as_number(t, "t", "s")
    if solver not in SOLVERS:
        raise DescriptionError(f"solver must be one of {', '.join(SOLVERS)}; got {solver!r}.")
    problem = Problem(
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
    u, ok, message, counters = _continuation(problem, inputs, t, start, solver, tolerance, iterations, coarse)
    doubt = judged(problem, u) if ok and shoots > FEW else NOT_JUDGED if ok else ""
    problem.evaluate(u, False)
    _, strain = fields_of(problem)
    message += f" ({doubt})" if doubt else ""
    status = Status(ok, message, counters, time.perf_counter() - began)
    result = StaticShape(
        robot, status, problem.network, problem.node_states[None].copy(), strain[None],
        {part.name: u.joints[s] for s, part in problem.jointed},
        {part.name: joint_efforts(problem, u, k) for k, (_, part) in enumerate(problem.jointed)},
        [tie.held @ m for tie, m in zip(problem.ties, u.ties, strict=True)], problem, u, inputs, t,
    )  # fmt: skip
    if not ok and raise_on_failure:
        advice = (
            "Start closer (start=...), use more shoots, load it in smaller pieces, or look for a bifurcation: a perfectly "
            "straight rod under compression has no unique answer."
        )
        raise SolverError(f"No equilibrium of {robot.name!r}: {message}.", result=result, advice=advice)
    if doubt == UNSTABLE and start is None:
        remedy = "A start (start=...) next to another shape leads there."
        warnings.warn(f"The equilibrium of {robot.name!r} is {doubt}. {remedy}", AnguillaWarning, stacklevel=2)
    return result


def _continuation(
    problem: Problem,
    inputs: Inputs | None,
    t: float,
    start: StaticShape | None,
    solver: str,
    tolerance: float,
    most: int,
    coarse: Callable[[], StaticShape] | None,
) -> tuple[Unknowns, bool, str, dict[str, int]]:
    rest = problem.rest_guess()
    begin = rest if start is None else _same(problem, start)
    gaps = _gaps(problem, begin)
    solve = SOLVERS[solver]

    def attempt(u: Unknowns, factor: float) -> Outcome:
        problem.load(t, inputs, factor)
        slack = [(1.0 - factor) * gap for gap in gaps]
        return solve(problem, u, tolerance=tolerance, most=most, slack=slack)

    out = attempt(begin.copy(), 1.0)
    total, pieces, factor = out.iterations, 1, 1.0
    stepped = start is not None
    few = coarse() if coarse is not None and not out.success else None
    if few is not None and few.status.success:
        out = attempt(few.unknowns_at(problem), 1.0)
        total, stepped = total + few.status.counters["iterations"] + out.iterations, True
        pieces += few.status.counters["load_steps"] - 1
    if problem.ties and not out.success:
        out = _soften(problem, begin, lambda u: attempt(u, 1.0))
        total += out.iterations
        stepped = True
    if not out.success or (not stepped and _turn(begin, out.unknowns) > TOO_FAR):
        gaps = _gaps(problem, rest)
        u, factor, step, reason = rest, 0.0, 0.125, out.reason
        previous: tuple[float, Unknowns] | None = None
        while factor < 1.0 and step > SMALLEST_STEP:
            goal = min(1.0, factor + step)
            guess = u.copy()
            if previous is not None:
                _extrapolate(guess, u, previous[1], (goal - factor) / (factor - previous[0]))
            out = attempt(guess, goal)
            total += out.iterations
            if not out.success or _turn(u, out.unknowns) > TOO_FAR:
                reason = out.reason if not out.success else "one load step turns a section by more than 2 rad"
                step *= 0.5
                continue
            pieces += 1
            previous, u, factor = (factor, u), out.unknowns, goal
            if out.iterations <= 6:
                step *= 2.0
        out = Outcome(u, factor >= 1.0, reason, total, out.size)
    counters = {"iterations": total, "load_steps": pieces, "unknowns": problem.size}
    if factor >= 1.0 and out.success:
        return out.unknowns, True, f"converged in {total} iterations, {pieces} load step{'s' * (pieces > 1)}", counters
    problem.load(t, inputs, factor)
    return out.unknowns, False, f"stopped at {factor:.3g} of the load: {out.reason}", counters


def _soften(problem: Problem, begin: Unknowns, attempt: Callable[[Unknowns], Outcome]) -> Outcome:
    """Close ties by springs that stiffen: a straight inextensible rod cannot be shortened until something bends it.

    A rod that buckles on the way turns fast: then the springs stiffen in smaller steps.
    """
    u, out, total = begin.copy(), None, 0
    reached, ratio, problem.soft = np.inf, SOFTER, SOFTEST
    while ratio < SLOWEST:
        out = attempt(u.copy())
        total += out.iterations
        if out.success and _turn(u, out.unknowns) < TOO_FAR:
            u, reached, ratio = out.unknowns, problem.soft, max(SOFTER, ratio**2)
            if reached == 0.0:
                break
        else:
            ratio = np.sqrt(ratio)
        if not np.isfinite(reached):
            break
        problem.soft = reached * ratio if reached * ratio > STIFF else 0.0
    problem.soft = 0.0
    assert out is not None
    return replace(out, success=reached == 0.0, unknowns=u, iterations=total)


def _gaps(problem: Problem, u: Unknowns) -> list:
    """Gaps (6,) of the ties at given unknowns; only from here does a guess have to be closed."""
    problem.load(0.0, None, 0.0)
    problem.evaluate(u, False)
    return [tie.gap(problem.frame_pose(tie.a), problem.frame_pose(tie.b)) for tie in problem.ties]


def _same(problem: Problem, start: StaticShape) -> Unknowns:
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


def _extrapolate(guess: Unknowns, now: Unknowns, before: Unknowns, ratio: float) -> None:
    """Next unknowns along the line through the last two."""
    a, b = (u.start[:, :9].reshape(-1, 3, 3) for u in (before, now))
    turn = lie.log3(np.swapaxes(a, 1, 2) @ b)
    guess.start[:, :9] = (b @ lie.exp3(ratio * turn)).reshape(-1, 9)
    guess.start[:, 9:] += ratio * (now.start[:, 9:] - before.start[:, 9:])
    for s in guess.joints:
        guess.joints[s] = now.joints[s] + ratio * (now.joints[s] - before.joints[s])
    for k in range(len(guess.ties)):
        guess.ties[k] = now.ties[k] + ratio * (now.ties[k] - before.ties[k])
