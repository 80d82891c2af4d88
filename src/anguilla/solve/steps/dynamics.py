"""Motion in time: from a description to a judged trajectory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe import Robot, RodHandle
from anguilla.describe.ports import Drive, followed
from anguilla.describe.volumes import solvers_of
from anguilla.errors import DescriptionError, SolverError, as_named, as_positive, as_steps, warn
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Inputs, LoadTable, Model
from anguilla.results.base import of_states
from anguilla.results.blocks import Remembered
from anguilla.results.contacts import depths
from anguilla.results.passing import gives_way
from anguilla.results.reactions import relaxes, remembers
from anguilla.results.states import Status, Trajectory
from anguilla.solve.newton.closing import SINGULAR_START, broken, close, was_open
from anguilla.solve.newton.newton import COUNTERS, USABLE
from anguilla.solve.newton.progress import progress_bar
from anguilla.solve.newton.rules import ENDLESS, EXPLANATION, IMPACT, TOO_COARSE
from anguilla.solve.steps.checkpoint import Checkpoint, constants, kept
from anguilla.solve.steps.events import events_of
from anguilla.solve.steps.kinks import kinked
from anguilla.solve.steps.marching import by_error, in_blocks
from anguilla.solve.steps.motion import (
    ENDLESSLY,
    OngoingMotion,
    Start,
    balances_alone,
    keep_state,
    newton_tolerance,
    start_of,
)
from anguilla.solve.steps.schemes import Coefficients, GeneralisedAlpha, Scheme, as_scheme, forgets
from anguilla.solve.steps.stepping import History
from anguilla.solve.steps.trust import judge
from anguilla.store.spare import keep_spare

__all__ = ["simulate"]

DEFAULT_METHOD = GeneralisedAlpha(0.9)
SMALL = 1e9  # [bytes] that any machine has


@public
def simulate(
    robot: Robot | Model, *, duration: float, dt: float, inputs: Inputs | None = None,
    start: Start = None, method: Scheme | str = DEFAULT_METHOD,
    every: int = 1, tolerance: float | None = None, error: float | None = None, progress: bool | None = None,
    raise_on_failure: bool = True, checkpoint: str | os.PathLike[str] | None = None, smooth_start: bool = True,
    events: ArrayLike | None = None,
) -> Trajectory:  # fmt: skip
    """Simulate the motion of a robot.

    Args:
        robot: the robot, or its model.
        duration: simulated time [s].
        dt: time step [s]; with `error`, the interval between stored states and the largest step.
        inputs: inputs of the actuators by name: numbers, or functions of t [s]; absent ones are zero. Where a function gives
            a tendon a negative tension, the tendon is slack, with a warning.
        start: an Equilibrium, a Trajectory (its end), coordinates q (n,), or (q, v); the rest shape at rest if not given.
        method: Newmark(), HHT(), GeneralisedAlpha(), Midpoint() or their names.
        every: store every n-th step.
        tolerance: error of Newton's method relative to the increment of a time step, or to ten times what accelerations
            add to it if that is less; 1e-8 if not given, 1e-10 with loops or other constraints (their multipliers are
            divided by dt), 1e-11 with prescribed shapes (which are most of the increment). What is left adds up: over more
            than 200 steps at most 0.05 / steps, over more than 1,000 at most 50 / steps^2.
        error: tolerance of the local error per step, as an angle [rad] or a relative displacement; time steps then adapt.
        progress: show a progress bar; by default when the run takes long, on a terminal or in a notebook.
        raise_on_failure: raise SolverError (with the motion so far in `.result`) instead of returning it.
        checkpoint: file with the state of the simulation while it runs; an interrupted simulation resumes from it when called
            again with the same arguments, with bit-identical results. It is removed when the result is saved (.nc), let go,
            or the program ends without an error. For steps without `error`.
        smooth_start: smooth accelerations at the start that dt cannot resolve (of modes with periods below dt); with
            constraints, start with small offsets so that multipliers start smoothly. `gradient` of a motion with
            constraints needs smooth_start=False.
        events: instants [s] at which a load, an input, gravity or a prescribed acceleration jumps; the time steps end
            exactly at each, and the integration restarts there. Found automatically if not given, except in loads written in
            Python; [] steps across them, at first order, as `gradient` requires.

    Returns:
        A Trajectory; of a robot with soft volumes, one whose ``volume(...)`` has theirs. (Such robots take equal steps,
        without `error` and `checkpoint`.)

    """
    if (others := solvers_of(robot)) is not None:
        found: Trajectory = others.simulate(
            robot, duration=duration, dt=dt, inputs=inputs, start=start, method=method, every=every, tolerance=tolerance,
            error=error, progress=progress, raise_on_failure=raise_on_failure, checkpoint=checkpoint,
            smooth_start=smooth_start, events=events,
        )  # fmt: skip
        return found
    return simulate_model(
        model_of(robot), duration=duration, dt=dt, inputs=inputs, start=start, method=method, every=every,
        tolerance=tolerance, error=error, progress=progress, raise_on_failure=raise_on_failure, checkpoint=checkpoint,
        smooth_start=smooth_start, events=events,
    )  # fmt: skip


def simulate_model(
    system: Model, *, duration: float, dt: float, inputs: Inputs | None = None, start: Start = None,
    method: Scheme | str = DEFAULT_METHOD, every: int = 1, tolerance: float | None = None, **how: Any,
) -> Trajectory:  # fmt: skip
    """`simulate`, in memory of its own."""
    steps = as_steps(duration, dt, every)
    dt, every, inputs = float(dt), int(every), as_named(inputs)
    _refuse_too_many(steps // every + 1, system)
    if system.once(_drives):
        inputs = followed(system.robot.drives, inputs, dt, steps)
    with system.apart():
        system.told_slack.clear()
        tolerance = newton_tolerance(system, tolerance, steps)
        q, v = start_of(system, start)
        scheme = as_scheme(method).coefficients
        check_serves(scheme, method, system)
        if system.is_plain:
            return _moved(OngoingMotion(system, scheme, tolerance, q, v, inputs), start, dt, steps, every, **how)
        closed, shut = close(system, inputs, 0.0, q)
        with closed.apart():
            motion = OngoingMotion(closed, scheme, tolerance, shut, v, inputs)
            motion.opened = q if was_open(closed, q, shut) else None
            return _moved(motion, start, dt, steps, every, **how)


def _refuse_too_many(rows: int, system: Model) -> None:
    """Raise an error if so many states do not fit into the memory of this machine."""
    need = 8.0 * rows * (1 + 3 * system.size + system.rows)
    if need > SMALL and hasattr(os, "sysconf") and need > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        raise DescriptionError(
            f"duration / dt, with this every, makes {rows:.4g} states to store, {1e-9 * need:.3g} GB, more than the memory "
            "of this machine: store fewer (every=...), or give a larger dt or a shorter duration."
        )


def _drives(system: Model) -> bool:
    """Whether some input follows its command in a way of its own."""
    return any(drive != Drive() for drive in system.robot.drives.values())


def _moved(
    motion: OngoingMotion, start: Start, dt: float, steps: int, every: int, *, error: float | None = None,
    progress: bool | None = None, raise_on_failure: bool = True, checkpoint: str | os.PathLike[str] | None = None,
    smooth_start: bool = True, events: ArrayLike | None = None, judged: bool = True,
) -> Trajectory:  # fmt: skip
    """The motion from its start, judged unless it is known to be like one that was."""
    began, system = time.perf_counter(), motion.system
    robot = system.source
    if checkpoint is not None and error is not None:
        raise DescriptionError("checkpoint works with equal steps only: leave error out.")
    motion.take_over(start)
    motion.noting = remembers(system)
    motion.smooth = smooth_start and error is None
    motion.settles = smooth_start and system.rows > 0 and forgets(motion.scheme)
    first = motion.loads_at_start()  # what is wrong is said of the start first
    steady = system.is_steady(motion.inputs)
    table = None if error is not None or steady else motion.all_loads(dt, steps)
    known = None if table is None else (table.times, table.table)
    if events is not None or not steady:
        motion.jumps = events_of(system, motion.inputs, dt, steps, events, known)
        motion.between(0)
    at_once = not steady or bool(motion.jumps) or error is not None or checkpoint is not None
    begun = motion.begin(0.0, dt, None if motion.jumps else first, at_once)
    out = motion.make_history(steps // every + 1, dt * every)
    if begun:
        keep_state(motion, out, 0)
    settled_start = motion.settle(0.0, dt)
    with progress_bar(f"simulating {robot.name}", steps, progress) as tick:
        if error is None:
            done, code = _fixed(motion, table or motion.all_loads(dt, steps), dt, steps, every, out, tick, checkpoint)
        else:
            done, code = by_error(motion, dt, steps, every, out, tick, as_positive(error, "error", ""))
    motion.bounds = ENDLESSLY
    counters, ok = _counters(motion, done, settled_start), done == steps
    message = "reached the end" if ok else f"stopped at t = {done * dt:g} s: {motion.stopped or EXPLANATION[code]}"
    end = Status(ok, message, counters, time.perf_counter() - began)
    result = _result(robot, motion, done // every + 1, end, first, table, every)
    told = _judged(motion, result, dt, every, error is not None) if ok and judged else ""
    _conclude(motion, result, code, told, raise_on_failure)
    if checkpoint is not None and ok:  # last: an interruption before it leaves the checkpoint where it is
        keep_spare(result, Path(checkpoint))
    motion.leave()
    return result


def _conclude(m: OngoingMotion, result: Trajectory, code: int, told: str, raise_on_failure: bool) -> None:
    """Say what is wrong with a motion, or raise it."""
    name, end = result.robot.name, result.status
    if m.system.left_out is not None and (conflict := broken(m.system, m.inputs, result.t, result.q, result.v)):
        raise SolverError(f"The motion of {name!r} is impossible: {conflict}.", result=result, advice=SINGULAR_START)
    if told:
        warn(told)
    if not end.success and raise_on_failure:
        told = m.kinks or advice(code, result)
        raise SolverError(f"The motion of {name!r} {end.message}.", result=result, advice=told)


def _counters(m: OngoingMotion, done: int, settled: bool) -> dict[str, int]:
    """What the steps of a motion took."""
    counters = dict(zip(COUNTERS, m.memory.counters.tolist(), strict=True))
    counters["steps"], counters["substeps"] = done, m.substeps
    if settled:
        counters["settled"] = 1
    if m.opened is not None:
        counters["closed"] = 1
    if m.jumps:
        counters["events"] = len(m.jumps)
    if snaps := m.snaps.item():
        counters["snaps"] = snaps
    return counters


def _result(
    robot: Robot, m: OngoingMotion, count: int, end: Status, first: LoadTable, table: LoadTable | None, every: int
) -> Trajectory:
    """The first states that were stored; accelerations that they tell are found later.

    first, table: loads at the start and after it.
    """
    t, q, v, a, lam = m.taken(count)
    if m.scheme.mid < 1.0:
        m.drive(t, q, v)
    lazily = balances_alone(m.system, m.scheme)
    balance, guess = m.balance if lazily else None, a if m.scheme.mid == 1.0 else None
    return of_states(Trajectory, dict(
        robot=robot, _system=m.system, status=end, _t=t, _q=q, _v=v, _a=None if lazily else a, _lam=lam, inputs=m.inputs,
        _balance=balance, _integrated=guess, _memory=m.held, _known=m.known, _opened=m.opened,
        _given=None if table is None else _given(first, table, t, every),
    ))  # fmt: skip


def _given(first: LoadTable, table: LoadTable, t: Floats, every: int) -> Floats | None:
    """Inputs of the actuators (time, actuators) at the states that were stored, if the loads were sampled there."""
    at_states = slice(every - 1, every * (len(t) - 1), every)
    if first.given is None or table.given is None or not np.array_equal(table.times[at_states], t[1:]):
        return None
    given = np.broadcast_to(table.given, (len(table.times), table.given.shape[1]))
    return np.concatenate([first.given, given[at_states]])


def _judged(m: OngoingMotion, result: Trajectory, dt: float, every: int, controlled: bool) -> str:
    """What is to be said of a motion that reached its end; its quality goes with it."""
    quality, words = judge(m, result, dt, every, controlled=controlled)
    object.__setattr__(result, "_judged", quality)
    return " ".join(filter(None, (m.kinks, words)))


def check_serves(scheme: Coefficients, method: Scheme | str, system: Model) -> None:
    """Refuse a scheme that cannot integrate the robot, and warn of one that does so badly."""
    robot, midpoint = system.robot, scheme.mid < 1.0
    if midpoint and any(load.remembers for load in robot.loads):
        raise DescriptionError(
            "Midpoint does not support the integral of a Thruster (ki); use Newmark, HHT or GeneralisedAlpha."
        )
    if midpoint and relaxes(system.blank):
        raise DescriptionError("Midpoint does not support viscoelastic rods; use Newmark, HHT or GeneralisedAlpha.")
    if midpoint and system.rows:
        raise DescriptionError(
            "Midpoint supports open robots; a robot with loops or constraints needs Newmark, HHT or GeneralisedAlpha."
        )
    if system.rows and not forgets(scheme):
        warn(
            f"{method} has no numerical damping: errors of the multipliers of {robot.name!r} grow from step to step. "
            "GeneralisedAlpha(0.9) or HHT(-0.05) forget them.",
        )


def advice(status: int, result: Trajectory) -> str:
    """What to try after a motion stopped."""
    if status == IMPACT:
        system, q = result.system, result.q[-1:]
        if soft := gives_way(system):
            return soft
        touching = [k for k, load in enumerate(system.robot.loads) if load.touches]
        if not touching:
            meeting = ", ".join(load.label for load in system.robot.loads if load.meets)
            return f"It happens where parts touch, {meeting}: try a smaller dt, less stiffness, or damping."
        deepest = touching[int(np.argmax([np.max(depths(system, k, q)) for k in touching]))]
        load = system.robot.loads[deepest]
        where = f"{load.label} is where it happens, with {load.obstacles[0]}"
        return f"{where}: try a smaller dt, less stiffness or damping."
    if status == ENDLESS:
        pieces = result.status.counters.get("substeps", 0) / max(result.status.counters.get("steps", 0), 1)
        return (
            f"It took pieces of about dt / {max(pieces, 1.0):.0f}: try a dt like that, error=1e-3, a damped method such as "
            "GeneralisedAlpha(0.5), or damping, and look for a part that is far lighter or stiffer than the others."
        )
    if status != TOO_COARSE:
        return "Try a smaller dt, error=1e-3, a damped method such as GeneralisedAlpha(0.5), or material damping."
    turns = {}
    for part in result.robot.parts:
        if isinstance(part, RodHandle):
            X = np.linspace(0.0, part.length, _intervals(result.system, part) + 1)
            turns[part] = float(np.max(np.linalg.norm(result.strain(part, X)[-1, :, :3], axis=1))) * X[1]
    rod = max(turns, key=lambda part: turns[part])
    count = _intervals(result.system, rod)
    return f"Rod {rod.name!r} has {count}: try intervals={2 * count}, and more modes if it does curl up so far."


def _intervals(system: Model, part: RodHandle) -> int:
    return len(system.tables.stretch(part, 0.0, part.length)[0])


def _fixed(
    m: OngoingMotion, loads: LoadTable, dt: float, steps: int, every: int, out: History, tick: Callable[[int], None],
    checkpoint: str | os.PathLike[str] | None = None,
) -> tuple[int, int]:  # fmt: skip
    """Equal steps in the compiled loop, from the checkpoint on if there is one."""
    m.kinks, m.acting = kinked(m.system, loads, m.scheme, dt) if m.system.rows else "", loads
    if checkpoint is None:
        return in_blocks(m, loads, dt, 0, steps, every, out, tick)
    state = {f"motion_{k}": array for k, array in enumerate((*m.state, m.cutting, m.snaps))}
    start = tuple(array.copy() for array in m.state)
    what = loads.at(0)
    acting = loads.column, loads.table, what.row.copy(), constants(what)
    identity = dt, steps, every, m.scheme, m.tolerance, start, tuple(m.system.tree), acting, tuple(m.jumps)
    user = tuple(load.functions for load in m.system.robot.loads if load.functions)
    whole = {name: array for name, array in m.memory._asdict().items() if name not in ("blocks", "question")}
    like = Remembered.of(m.system.blank)
    m.notes = np.zeros((len(out.q), 1 + len(like.flat) if m.noting else 0))
    rows = *out, m.notes
    keeper = Checkpoint(checkpoint, identity, user, state | whole, rows, every, counter=(m, "substeps"))
    done = keeper.restore()
    m.known |= {row: like.shaped(m.notes[row, 1:]) for row in np.flatnonzero(m.notes[:, :1]).tolist()}
    if done and m.system.linear != DENSE:
        m.memory.memory[USABLE] = 0.0  # a tangent in blocks or a sparse one is not kept
    with kept(keeper):
        ended = in_blocks(m, loads, dt, done, steps, every, out, keeper.watch(tick))
    keeper.finish()
    return ended
