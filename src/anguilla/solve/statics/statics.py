"""Static equilibrium: Newton with automatic load continuation, or a damped flow: 000 (45), or (55)-(58) with loops."""

from __future__ import annotations

import time
from contextlib import ExitStack

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe import Robot
from anguilla.describe.actuators import warn_slack
from anguilla.describe.ports import Drive, within_limits
from anguilla.describe.volumes import solvers_of
from anguilla.errors import DescriptionError, SolverError, as_count, as_named, as_number, as_positive, warn
from anguilla.interact.kernels.rubbing import rubs
from anguilla.interact.kernels.table import Loads
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Inputs, Model
from anguilla.results.blocks import Remembered
from anguilla.results.passing import refuse_coinciding
from anguilla.results.reactions import grasps
from anguilla.results.resolution import doubtful, like_a_good_one
from anguilla.results.states import Equilibrium, Status, Trajectory
from anguilla.solve.newton.closing import SINGULAR_START, broken, close, crushed
from anguilla.solve.newton.rules import CONVERGED, SINGULAR, TOO_COARSE
from anguilla.solve.statics.downhill import BALANCED
from anguilla.solve.statics.drawing import follow_lines, has_twists, remember_lines
from anguilla.solve.statics.finding import FROM_START, PASSING, find, origin_of
from anguilla.solve.statics.flow import Flow, ProjectiveFlow, follow, relax
from anguilla.solve.statics.judging import balanced, contradiction, unbalanced
from anguilla.solve.steps.motion import recall, refuse_other_start

__all__ = ["statics"]

ROUGHLY = 1e-3  # of the loads, that a flow may leave unbalanced

ADVICE = (
    "Start closer (start=...), load it in smaller pieces, try method=Flow() or ProjectiveFlow(), or look for a "
    "bifurcation: a perfectly straight rod under compression has no unique answer."
)
CRUSHED_ADVICE = "Let it bend out of the way: start from a bent shape (start=...). Or look at the load and the units."
HELD_ADVICE = "Give the contact more friction, press harder, or see in ag.simulate where it comes to rest."
TOUCH_ADVICE = (
    "Obstacles hold what touches them: start where it does (start=...), or let it come to rest in ag.simulate."
)
MEET_ADVICE = "Let it come to rest in ag.simulate, with damping, and start from there (start=run)."
SPECIAL_ADVICE = {
    SINGULAR: "Attach it to the ground, or hold it by a joint with a stiffness or by a spring.",
    TOO_COARSE: "Rod(..., intervals={more}) has four times as many. If it should not bend that far, look at the units.",
}


@public
def statics(
    robot: Robot | Model, *, inputs: Inputs | None = None, start: Equilibrium | Trajectory | ArrayLike | None = None,
    t: float = 0.0,
    method: str | Flow | ProjectiveFlow = "newton", tolerance: float = 1e-10, iterations: int = 40,
    raise_on_failure: bool = True,
) -> Equilibrium:  # fmt: skip
    """Find a static equilibrium.

    Newton's method applies the full load first, from the rest shape or from `start`; if it does not converge, gravity and
    loads are applied in adaptive load increments. Without a `start`, the result is a stable equilibrium, unless symmetry
    alone holds an unstable one, such as a straight column; the message of the status says so. For a robot with loops or
    prescribed motions, an equilibrium given as `start` is followed to the present loads and poses in such increments. With
    friction of tendons the result depends on the history, which goes on from `start` (without one, tendons are drawn in).
    Parts in contact do not pass through each other on the way from the start.

    Args:
        robot: the robot, or its model.
        inputs: inputs of the actuators by name: numbers, or functions of t [s]; absent ones are zero.
        start: an equilibrium, a motion (its end) or coordinates (n,) to start from; the rest shape if not given.
            Friction that holds goes on from an equilibrium or a motion.
        t: time [s] at which time-dependent loads are evaluated.
        method: "newton", a `Flow`, or a `ProjectiveFlow` for a robot with loops.
        tolerance: size of the last correction, as an angle [rad] or a relative displacement.
        iterations: limit of the iterations of one Newton solve.
        raise_on_failure: raise SolverError (with the last good state in `.result`) instead of returning a failed result.

    Returns:
        An Equilibrium; of a robot with soft volumes, one whose ``volume(...)`` has theirs.

    """
    if (others := solvers_of(robot)) is not None:
        found: Equilibrium = others.statics(
            robot, inputs=inputs, start=start, t=t, method=method, tolerance=tolerance, iterations=iterations,
            raise_on_failure=raise_on_failure,
        )  # fmt: skip
        return found
    with ExitStack() as desks:
        return _statics(model_of(robot), desks, inputs, start, t, method, tolerance, iterations, raise_on_failure)


def _settled(system: Model, inputs: Inputs, t: float) -> dict[str, float]:
    """What the drives make of commands, numbers or functions of t, in the end; functions leave tendons slack."""
    found = within_limits(system.robot.drives, {k: x(t) if callable(x) else x for k, x in inputs.items()})
    for name, actuator in system.robot.actuators.items():
        if callable(inputs.get(name)) and len(actuator.pushing(np.array([found[name]]))):
            warn_slack(name, found[name], f"at t = {t:g} s")
            found[name] = 0.0
    return found


def _statics(
    system: Model, desks: ExitStack, inputs: Inputs | None, start: Equilibrium | Trajectory | ArrayLike | None, t: float,
    method: str | Flow | ProjectiveFlow, tolerance: float, iterations: int, raise_on_failure: bool,
) -> Equilibrium:  # fmt: skip
    """`statics`, in memory of its own until `desks` are left."""
    robot = system.source
    t = as_number(t, "t", "s")
    as_positive(tolerance, "tolerance", "")
    as_count(iterations, "iterations")
    drives = system.robot.drives
    if inputs and any(drive != Drive() for drive in drives.values()):
        inputs = _settled(system, inputs, t)
    desks.enter_context(system.apart())
    system.told_slack.clear()
    q = _start_of(system, start)
    began, origin = time.perf_counter(), q
    if system.is_plain or isinstance(method, ProjectiveFlow):
        refuse_coinciding(system, q)
    else:
        system, q = close(system, as_named(inputs), t, q)
        desks.enter_context(system.apart())
    lam = np.zeros(system.rows)
    if isinstance(start, Equilibrium) and start.multipliers.shape == lam.shape:
        lam[:] = start.multipliers
    recall(system, start)
    loads, advice = system.loads(t, inputs, pulling=True), ADVICE
    if isinstance(method, Flow):
        q, ok, message, counters = relax(system, loads.loads, q, method)
    elif isinstance(method, ProjectiveFlow):
        q, lam, ok, message, counters = follow(system, loads.loads, q, method)
    elif method == "newton":
        before = _before(system, start)
        if before is not None:
            q, status, message, counters = follow_lines(system, loads.loads, before, q, lam, tolerance)
        else:
            followed = origin_of(system, start) if isinstance(start, Equilibrium | Trajectory) else None
            from_here = origin if followed is None else followed
            q, status, message, counters = find(
                system, loads, from_here, q, lam, tolerance, iterations, chosen=start is not None
            )
        most = max((len(layout.grid.X) - 1 for layout in system.layout.parts if layout.grid is not None), default=1)
        ok, advice = status == CONVERGED, SPECIAL_ADVICE.get(status, ADVICE).format(more=4 * most)
        if status == SINGULAR and any(load.touches for load in robot.loads):
            advice = TOUCH_ADVICE
        if message.endswith((PASSING, FROM_START)):
            advice = MEET_ADVICE
        if grasps(system.blank):
            advice = HELD_ADVICE
    else:
        raise DescriptionError(f'method must be "newton", a Flow or a ProjectiveFlow; got {method!r}.')
    if ok and (name := crushed(system, q)):
        ok, message, advice = False, f"{name!r} would be squeezed to nothing", CRUSHED_ADVICE
    if ok and (wrong := _wrong(system, loads.loads, q, lam, BALANCED if method == "newton" else ROUGHLY)):
        ok, message = False, wrong
    outcome = Status(ok, message, counters, time.perf_counter() - began)
    zero = np.zeros((1, system.size))
    states = np.array([float(t)]), q[None, :].copy(), zero, zero, lam[None, :].copy()
    if ok and rubs(system.blank.cables):
        remember_lines(system, loads.loads, q, lam)
    held = Remembered.of(system.blank).copy() if grasps(system.blank) or rubs(system.blank.cables) else None
    result = Equilibrium(robot, system, outcome, *states, as_named(inputs), _memory=held)
    conflict = broken(system, as_named(inputs), *result.stored[:3])
    if conflict:
        raise SolverError(f"No equilibrium of {robot.name!r}: {conflict}.", result=result, advice=SINGULAR_START)
    if not ok and raise_on_failure:
        raise SolverError(f"No equilibrium of {robot.name!r}: {message}.", result=result, advice=advice)
    if ok and doubtful(system, result.stored.q)[0] > 1.0:
        memory, row, want = system.desk().kept, loads.loads.row, lambda: result.resolution.want
        if not like_a_good_one(memory, row, q, system.tree.strain_scale, want):
            said = f"The equilibrium of {robot.name!r}: {result.resolution.words}"
            warn(said)
    return result


def _start_of(system: Model, start: Equilibrium | Trajectory | ArrayLike | None) -> Floats:
    """Coordinates (n,) to start from."""
    if isinstance(start, Equilibrium | Trajectory):
        refuse_other_start(system, start)
        return system.vector(start.stored.q[-1], "start")
    return system.vector(start, "start")


def _before(system: Model, start: object) -> Floats | None:
    """Row of loads of an equilibrium whose lines remember, to go on from; None if there is nothing to remember."""
    if not rubs(system.blank.cables) or not isinstance(start, Equilibrium | Trajectory) or start.remembered is None:
        return None
    row = start.system.loads(start.stored.t[-1:], start.inputs).loads.row
    alike = row.shape == system.blank.row.shape and start.remembered.slip.shape == system.blank.cables.slip.shape
    if not alike or grasps(system.blank) or has_twists(system.blank):
        return None
    return row.copy()


def _wrong(system: Model, loads: Loads, q: Floats, lam: Floats, limit: float) -> str:
    """Why a state is no equilibrium after all, whatever led there; maybe nothing."""
    if balanced(system, loads, q, lam, limit):
        if system.is_plain and not len(loads.cables.path):
            return ""  # nothing else can contradict it
    else:
        left, name = unbalanced(system, loads, q, lam)
        if not left <= limit:
            return f"{left:.2g} of its loads are left unbalanced on {name!r}"
    return contradiction(system, loads, q, lam)
