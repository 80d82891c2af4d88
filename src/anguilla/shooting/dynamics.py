"""Dynamics as an optimal control problem (OCP2): the boundary-value problem (61)-(63) of each implicit time step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

from anguilla._doors import public
from anguilla.describe import Robot, RodHandle
from anguilla.errors import DescriptionError, SolverError, as_count, as_flag, as_positive, as_steps
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.results.states import Status
from anguilla.shooting.door import robot_of
from anguilla.shooting.loop import Loop, Snapshot, Start
from anguilla.shooting.march import FULL_PRECISION
from anguilla.shooting.network import refuse_shapes
from anguilla.shooting.problem import BoundaryProblem, Inputs, Stress
from anguilla.shooting.shape import Motion
from anguilla.solve.steps.schemes import Newmark

__all__ = ["simulate"]


@public
def simulate(
    robot: Robot | Model, *, duration: float, dt: float, inputs: Inputs | None = None, start: Start = None,
    stress: Stress | None = None, added: Mapping[RodHandle, Callable[[Floats], Floats]] | None = None,
    method: Newmark | None = None, accelerations: bool = True, shoots: int = 10, intervals: int = 100, every: int = 1,
    follow_strain: bool = True, along: str = "gauss", tolerance: float = 1e-8, iterations: int = 15,
    raise_on_failure: bool = True,
) -> Motion:  # fmt: skip
    """Simulate a motion by shooting along the rods at every time step.

    The time step has a lower limit, below which the initial-value problems along the rods amplify round-off beyond
    repair (003 (88)): the run then stops and says so. Above it, a step that fails is halved, up to four times.

    Args:
        robot: rods and bodies with any joints between them, prescribed motions of joints, and loops (`robot.close`); or its
            model. Loops are closed at the end of every step; a little damping of the material keeps their reactions quiet.
        duration: simulated time [s].
        dt: time step [s].
        inputs: inputs of the actuators by name: numbers, or functions of t [s]; absent ones are zero.
        start: an equilibrium (of shooting or of `ag.statics`), or coordinates and rates (q, v) as in `ag.simulate`; the
            rest shape at rest if not given.
        stress: by rod, active stress: a function (X (m,) [m], t [s]) -> (m, 6) [N m, N] (16).
        added: by rod, a function X (m,) [m] -> (m, 6), the diagonal of the added inertia per length of Lighthill's theory
            (90)-(91): it adds to the inertia, and the tip sheds it.
        method: Newmark(beta, gamma); the default is the average acceleration. The first step has (1/2, 1), which needs no
            initial acceleration (that of a suddenly released rod is not finite), and keeps the second order.
        accelerations: False leaves the equation of the accelerations out, with (89) for the twists (manipulators on
            fixed joints).
        shoots: segments a rod is cut into.
        intervals: integration intervals of each rod.
        every: store every so many steps.
        follow_strain: whether tendons follow the strain; False takes (17) at the rest strain.
        along: method along the rods: "gauss", or "explicit" (Runge-Kutta), with which short waves grow.
        tolerance: size of the last correction [rad, or relative].
        iterations: most corrections of one step.
        raise_on_failure: raise SolverError (with the motion so far in `.result`) instead of returning it.

    Returns:
        A Motion.

    """
    robot = robot_of(robot)
    dt = as_positive(dt, "dt", "s")
    steps = as_steps(duration, dt, every)
    for value, name, least in ((shoots, "shoots", 1), (intervals, "intervals", 2), (iterations, "iterations", 1)):
        as_count(value, name, minimum=least)
    as_flag(accelerations, "accelerations")
    as_positive(tolerance, "tolerance")
    problem = BoundaryProblem(
        robot, shoots=shoots, intervals=intervals, follow_strain=follow_strain, stress=stress, added=added, moving=True,
        along=_as_along(along),
    )  # fmt: skip
    refuse_shapes(robot)
    if problem.relaxes:
        raise DescriptionError(
            "shooting does not support viscoelastic rods (Material.viscosity, loss): use ag.simulate."
        )
    problem.check_inputs(inputs)
    if not accelerations and (problem.roots or problem.jointed):
        raise DescriptionError(
            "accelerations=False is the form (89) of manipulators: the robot must not float, and all joints must be fixed."
        )
    loop = Loop(problem, dt, _as_newmark(method), accelerations, inputs, tolerance, iterations)
    result = _run(loop, start, steps, every)
    if not result.status.success and raise_on_failure:
        raise SolverError(
            f"The motion of {robot.name!r} {result.status.message}.", result=result,
            advice="Try a longer dt, more shoots and intervals, material damping, or ag.simulate, which has no such limit.",
        )  # fmt: skip
    return result


def _as_along(along: str) -> str:
    if along not in ("gauss", "explicit"):
        raise DescriptionError(f'along must be "gauss" or "explicit"; got {along!r}.')
    return along


def _as_newmark(method: Newmark | None) -> Newmark:
    if method is None:
        return Newmark()
    if not isinstance(method, Newmark):
        raise DescriptionError(f"method must be a Newmark(beta, gamma) in shooting; got {method!r}.")
    return method


def _run(loop: Loop, start: Start, steps: int, every: int) -> Motion:
    """All steps, or those up to the one that failed."""
    problem, began = loop.problem, time.perf_counter()
    loop.begin(start)
    # errors of the stages grow along a segment: they are kept well below the tolerance
    problem.rule.precision[:] = max(1e-6 * loop.tolerance, FULL_PRECISION[0]), 1e-5
    kept, reason = [loop.snapshot()], ""
    while loop.step < steps:
        reason = loop.advance()
        if reason:
            break
        if loop.step % every == 0:
            kept.append(loop.snapshot())
    message = f"stopped at t = {loop.step * loop.dt:g} s: {reason}" if reason else "reached the end"
    counters = {
        "steps": loop.step,
        "iterations": loop.iterations,
        "factorisations": loop.memory.factorisations,
        "divided": loop.divided,
        "unknowns": problem.size,
    }
    return _motion(problem, kept, Status(not reason, message, counters, time.perf_counter() - began))


def _motion(problem: BoundaryProblem, kept: list[Snapshot], status: Status) -> Motion:
    """The result of the stored steps."""
    t, states, strain, rate, second, growth = (np.array([shot[k] for shot in kept]) for k in range(6))
    joints = {part.name: np.array([shot.joints[k] for shot in kept]) for k, (_, part) in enumerate(problem.jointed)}
    efforts = {part.name: np.array([shot.efforts[k] for shot in kept]) for k, (_, part) in enumerate(problem.jointed)}
    ties = [np.array([shot.ties[k] for shot in kept]) for k in range(len(kept[0].ties))]
    return Motion(
        problem.robot, status, problem.network, states, strain, joints, efforts, ties, t, growth, rate, second, problem
    )
