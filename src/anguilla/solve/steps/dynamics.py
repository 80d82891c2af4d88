"""Motion in time: the compiled loop, sub-stepping on failure, error-controlled steps, a progress bar on long runs."""

from __future__ import annotations

import os
import time
import warnings
from bisect import bisect_left
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe import Robot, RodHandle
from anguilla.errors import AnguillaWarning, DescriptionError, SolverError, as_positive, as_steps
from anguilla.interact.kernels.rubbing import UNKNOWN, keep_rubbing
from anguilla.interact.kernels.table import DT, MOTION
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Inputs, LoadTable, Model
from anguilla.results.contacts import depths
from anguilla.results.reactions import evaluate
from anguilla.results.states import Equilibrium, Status, Trajectory
from anguilla.solve.newton.closing import SINGULAR_START, broken, close
from anguilla.solve.newton.newton import COUNTERS, FRESH, ITERATIONS, STARTING, Goal, Scratch, scratch
from anguilla.solve.newton.progress import progress_bar
from anguilla.solve.newton.rules import CONVERGED, ENDLESS, EXPLANATION, IMPACT, SINGULAR, TOO_COARSE
from anguilla.solve.steps.balance import balance
from anguilla.solve.steps.checkpoint import Checkpoint, constants, kept
from anguilla.solve.steps.events import Jump, events_of
from anguilla.solve.steps.kinks import kinked
from anguilla.solve.steps.pieces import FEW, LABOUR, controlled_step, cut, fresh_cutting, whole
from anguilla.solve.steps.schemes import Coefficients, GeneralisedAlpha, Scheme, as_scheme, forgets
from anguilla.solve.steps.starting import consistent, massless, settled, tell_changed
from anguilla.solve.steps.stepping import History, Span, State, runner, stored
from anguilla.solve.steps.trust import judge
from anguilla.store.spare import keep_spare

__all__ = ["simulate"]

DEFAULT_METHOD = GeneralisedAlpha(0.9)
Start = Equilibrium | Trajectory | tuple[ArrayLike, ArrayLike] | ArrayLike | None
# error of an increment that is always allowed: what an acceleration [rad/s^2] adds to it, within bounds [rad]; a fixed one
# would be an error of the accelerations that grows as steps get shorter
SLIGHT, ROUND_OFF, FLOOR = 1e-7, 1e-17, 1e-13
BLOCK_SECONDS = 0.2  # how often the compiled loop comes up for air
NEVER = 2**62  # a step that does not come
LEAST_AGAIN = 2000  # Newton's iterations that a piece of a motion may always take when it is computed again


@dataclass
class OngoingMotion:
    """The state on its way and the solver's memory."""

    system: Model
    scheme: Coefficients
    tolerance: float
    q: Floats
    v: Floats
    inputs: Inputs
    substeps: int = 0
    smooth: bool = True  # whether starts are eased
    settles: bool = False  # whether multipliers start with offsets
    kinks: str = ""  # what is said of imposed motions
    passed: int = 0  # steps done
    allowed: int = LABOUR * FEW  # Newton's iterations, at least, before steps in pieces are given up

    def __post_init__(self) -> None:
        n, m = self.system.size, self.system.rows
        self.a, self.acc, self.lam = np.zeros(n), np.zeros(n), np.zeros(m)
        self.memory: Scratch = scratch(n, m)
        self._run = runner(self.system)
        self._steady: LoadTable | None = None
        self.acting: LoadTable  # loads at the ends of its steps, if these are equal
        self._carried, self.unused = State(self.q, self.v, self.a, self.acc, self.lam), stored(1, n, m)
        self.cutting, self._before = fresh_cutting(), 0
        self.system.blank.cables.slip[:] = UNKNOWN
        self.jumps: list[Jump] = []
        self.stopped = ""  # why, if a jump did it
        self.bounds = (-np.inf, np.inf)  # [s] instants behind the last jump and before the next, for loads

    @property
    def state(self) -> tuple[Floats, ...]:
        """All arrays that a step changes."""
        loads = self.system.blank
        return self.q, self.v, self.a, self.acc, self.lam, loads.frames.state, loads.cables.slip

    @property
    def labour(self) -> int:
        """Newton's iterations since the start."""
        return int(self.memory.counters[ITERATIONS]) - self._before

    def restore(self, saved: list[Floats]) -> None:
        """Go back to a copy of the state."""
        for array, value in zip(self.state, saved, strict=True):
            array[:] = value

    def run(
        self,
        table: LoadTable,
        t: float,
        dt: float,
        first: int,
        last: int,
        every: int,
        out: History,
        begin: bool = False,
    ):
        """Steps first..last-1 in compiled code; returns (steps done, status)."""
        floor = min(FLOOR, max(ROUND_OFF, SLIGHT * dt * dt))
        goal = tuple(Goal(self.tolerance, floor, 12, chord=True))
        reached, status = self._run(
            self.system.tree, self.system.workspace, self.memory, table.loads, table.column, table.table, tuple(self.scheme),
            tuple(Span(t, dt, first, last, every)), begin, self._carried, goal, out,
        )  # fmt: skip
        return int(reached), int(status)

    def steps(self, t: float, dt: float, count: int) -> tuple[int, int]:
        """Some steps from t, stored nowhere; (how many were done, status). The state is that after the last good one."""
        times = t + (np.arange(count) + self.scheme.mid) * dt
        begin = min(t, self.bounds[1] - (times[-1] - t))  # loads that read the time themselves see that before a jump
        return self.run(self.loads(times), begin, dt, 0, count, count + 1, self.unused)

    def one_step(self, t: float, dt: float) -> int:
        """One step from t, in pieces if it fails as a whole; Newton's status."""
        tried = whole(self)
        status = self.steps(t, dt, 1)[1] if tried else CONVERGED
        if status != CONVERGED or not tried:
            status = cut(self, t, dt, status)
        if self.scheme.mid < 1.0:
            self.drive(np.array([t + dt]), self.q[None], self.v[None])
        return status

    def drive(self, t: Floats, q: Floats, v: Floats) -> None:
        """Set imposed coordinates of states (nt, n) at times t (nt,) [s]; steps that balance earlier left them there."""
        driven, at = self.system.blank.driven, int(self.system.blank.at[MOTION])
        if len(driven):
            table = self.loads(t)
            for k in range(len(t)):
                row = table.at(k).row[at : at + 3 * len(driven)]
                q[k, driven], v[k, driven] = row[::3], row[1::3]

    def again(self, inputs: Inputs | None = None) -> OngoingMotion:
        """Another motion of the same kind; it does not know of jumps."""
        given = self.inputs if inputs is None else inputs
        other = OngoingMotion(self.system, self.scheme, self.tolerance, self.q.copy(), self.v.copy(), given)
        other.smooth, other.settles = self.smooth, self.settles
        other.allowed = max(LEAST_AGAIN, self.labour // 4)
        return other

    def restart(self, q: Floats, v: Floats) -> None:
        """Forget everything and stand at another state."""
        for array in self.state:
            array[:] = 0.0
        self.system.blank.cables.slip[:] = UNKNOWN
        self.q[:], self.v[:] = q, v
        self.memory.memory[:] = FRESH
        self.cutting, self._before = fresh_cutting(), int(self.memory.counters[ITERATIONS])

    def next_jump(self, step: int) -> int:
        """Number of the first jump in a step or after it."""
        return bisect_left(self.jumps, step, key=lambda jump: jump.step)

    def between(self, step: int) -> int:
        """Take loads on the side of jumps on which a step begins; returns the next step with a jump."""
        k = self.next_jump(step)
        since = self.jumps[k - 1].after if k else -np.inf
        if k == len(self.jumps):
            self.bounds = since, np.inf
            return NEVER
        self.bounds = since, self.jumps[k].before
        return self.jumps[k].step

    def begin_behind(self, jump: Jump, dt: float) -> int:
        """Accelerations and multipliers of the loads behind a jump; Newton's status."""
        k = self.jumps.index(jump, self.next_jump(jump.step)) + 1
        self.bounds = jump.after, self.jumps[k].before if k < len(self.jumps) else np.inf
        try:
            self.begin(jump.after, dt)
        except SolverError as error:
            self.stopped = f"nothing follows the jump at t = {jump.at:.6g} s. {error}".removesuffix(".")
            return SINGULAR
        self.settle(jump.after, dt)
        return CONVERGED

    def begin(self, t: float, dt: float) -> None:
        """Starting accelerations and multipliers, and rates that keep the constraints."""
        self.memory.memory[STARTING] = self.smooth
        self._rub(t)
        if self.system.is_plain:
            self._steady = self.loads(t)
            status = self.run(self._steady, t, dt, 0, 0, 1, self.unused, begin=True)[1]
            if status != CONVERGED:
                mass = self.system.matrices(self.q, self.v, t=t, inputs=self.inputs)[2]
                raise massless(self.system, mass)
        else:
            given = self.v.copy()
            self.v[:], self.a[:], self.lam[:] = consistent(self.system, self.inputs, t, self.q, self.v, dt)
            if t == 0.0:  # behind a jump it is the loads that changed them
                tell_changed(self.system, self.inputs, t, self.q, given, self.v, dt)
            self.acc[:] = self.a
        state = self.system.blank.frames.state
        if len(state):
            state[:, 1] = state[:, 2]

    def _rub(self, t: float) -> None:
        """Friction along tendons at the start: as they were before, or drawn in."""
        cables = self.system.blank.cables
        if len(cables.path):
            loads = self.loads(t).loads
            loads.row[DT] = np.finfo(float).tiny
            evaluate(self.system, loads, self.q, self.v, np.zeros_like(self.q), self.lam)
            keep_rubbing(cables, 1.0)

    def settle(self, t: float, dt: float) -> bool:
        """Offsets of the scheme at the start, so that multipliers start smoothly; whether there are any."""
        if not self.settles:
            return False
        dv, da = settled(self.system, self.inputs, t, (self.q, self.v, self.acc, self.lam), dt, self.scheme)
        self.v += dv
        self.a += da
        return bool(np.any(dv) or np.any(da))

    def balance(
        self, t: Floats, q: Floats, v: Floats, guess: Floats | None = None, inputs: Inputs | None = None
    ) -> Floats:
        """Accelerations (nt, n) that balance the states (q, v) (nt, n) at times t (nt,) [s], in memory of their own."""
        with self.system.apart():
            return balance(self.again(inputs), t, q, v, guess)

    def loads(self, times: ArrayLike) -> LoadTable:
        """Loads at the given times [s], on this side of jumps."""
        if self.jumps:
            times = np.clip(times, *self.bounds)
        return self.system.loads(times, self.inputs, pulling=True)

    def all_loads(self, dt: float, steps: int) -> LoadTable:
        """Loads for a run of some steps from t = 0; steady ones are known from the beginning."""
        if self._steady is None or not self.system.is_steady(self.inputs):
            return self.loads((np.arange(steps) + self.scheme.mid) * dt)
        return self._steady


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
        inputs: inputs of the actuators by name: numbers, or functions of t [s]; absent ones are zero.
        start: an Equilibrium, a Trajectory (its end), coordinates q (n,), or (q, v); the rest shape at rest if not given.
        method: Newmark(), HHT(), GeneralisedAlpha(), Midpoint() or their names.
        every: store every so many steps.
        tolerance: Newton's error as a part of a step's increment, or of ten times what accelerations add to it if that is
            less; 1e-8 if not given, 1e-10 with loops or other constraints (multipliers feel it divided by dt), 1e-11 with
            imposed shapes (they are most of the increment).
        error: local error allowed per step, as an angle [rad] or a relative displacement; steps then adapt themselves.
        progress: show a progress bar; by default when the run takes long and the output is a terminal.
        raise_on_failure: raise SolverError (with the motion so far in `.result`) instead of returning it.
        checkpoint: file that keeps the simulation while it runs; an interrupted one goes on from it when called again with
            the same arguments, and ends bit-identical. It is removed when the result is saved (.nc), let go, or the program
            ends without an error. For steps without `error`.
        smooth_start: accelerations that dt cannot follow at the start (of modes with periods below dt) are eased, and with
            constraints the scheme begins with small offsets that let multipliers start smoothly. `gradient` of a motion
            with constraints needs one without either.
        events: instants [s] at which a load, an input, gravity or an imposed acceleration jumps; the motion steps onto each
            and begins anew behind it. They are found by themselves if not given (in user-written loads they are not); []
            steps across them, at first order, as `gradient` needs it.

    Returns:
        A Trajectory.

    """
    with ExitStack() as desks:
        return simulate_model(
            model_of(robot), desks, duration=duration, dt=dt, inputs=inputs, start=start, method=method, every=every,
            tolerance=tolerance, error=error, progress=progress, raise_on_failure=raise_on_failure,
            checkpoint=checkpoint, smooth_start=smooth_start, events=events,
        )  # fmt: skip


def simulate_model(
    system: Model, desks: ExitStack, *, duration: float, dt: float, inputs: Inputs | None = None,
    start: Start = None, method: Scheme | str = DEFAULT_METHOD,
    every: int = 1, tolerance: float | None = None, error: float | None = None, progress: bool | None = None,
    raise_on_failure: bool = True, checkpoint: str | os.PathLike[str] | None = None, smooth_start: bool = True,
    events: ArrayLike | None = None,
) -> Trajectory:  # fmt: skip
    """`simulate`, in memory of its own until `desks` are left."""
    robot = system.source
    steps = as_steps(duration, dt, every)
    dt, every = float(dt), int(every)
    if checkpoint is not None and error is not None:
        raise DescriptionError("checkpoint works with equal steps only: leave error out.")
    desks.enter_context(system.apart())
    tolerance = newton_tolerance(system, tolerance)
    q, v = start_of(system, start)
    scheme = as_scheme(method).coefficients
    check_serves(scheme, method, system)
    if not system.is_plain:
        system, q = close(system, inputs or {}, 0.0, q)
        desks.enter_context(system.apart())
    motion = OngoingMotion(system, scheme, tolerance, q, v, inputs or {})
    began = time.perf_counter()
    if isinstance(start, Equilibrium) and start.multipliers.shape == motion.lam.shape:
        motion.lam[:] = start.multipliers
    motion.smooth, motion.settles = smooth_start and error is None, smooth_start and system.rows > 0 and forgets(scheme)
    motion.loads(0.0)  # what is wrong is said of the start first
    table = None if error is not None or system.is_steady(motion.inputs) else motion.all_loads(dt, steps)
    known = None if table is None else (table.times, table.table)
    motion.jumps = events_of(system, motion.inputs, dt, steps, events, known)
    motion.between(0)
    motion.begin(0.0, dt)
    rows = steps // every + 1
    out = stored(rows, system.size, system.rows)
    _keep(motion, out, 0)
    settled_start = motion.settle(0.0, dt)
    with progress_bar(f"simulating {robot.name}", steps, progress) as tick:
        if error is None:
            done, status = _fixed(motion, table or motion.all_loads(dt, steps), dt, steps, every, out, tick, checkpoint)
        else:
            done, status = _controlled(motion, dt, steps, every, out, tick, as_positive(error, "error", ""))
    motion.bounds = (-np.inf, np.inf)
    seconds = time.perf_counter() - began
    counters = dict(zip(COUNTERS, motion.memory.counters.tolist(), strict=True))
    counters |= {"steps": done, "substeps": motion.substeps}
    if settled_start:
        counters["settled"] = 1
    if motion.jumps:
        counters["events"] = len(motion.jumps)
    kept = done // every + 1
    ok = done == steps
    message = "reached the end" if ok else f"stopped at t = {done * dt:g} s: {motion.stopped or EXPLANATION[status]}"
    t = dt * every * np.arange(kept, dtype=np.float64)
    end = Status(ok, message, counters, seconds)
    if scheme.mid < 1.0:
        motion.drive(t, out.q[:kept], out.v[:kept])
    lazily = balances_alone(system, scheme)
    accelerations = None if lazily else out.a[:kept]
    states = t, out.q[:kept], out.v[:kept], accelerations, out.lam[:kept]
    balance = motion.balance if lazily else None
    result = Trajectory(robot, system, end, *states, inputs or {}, balance, out.a[:kept] if scheme.mid == 1.0 else None)
    told = motion.kinks
    if ok:
        quality, words = judge(motion, result, dt, every, controlled=error is not None)
        object.__setattr__(result, "_judged", quality)
        told = " ".join(filter(None, (told, words)))
    conflict = broken(system, inputs or {}, t, result.q, result.v)
    if conflict:
        raise SolverError(
            f"The motion of {robot.name!r} is impossible: {conflict}.", result=result, advice=SINGULAR_START
        )
    if ok and told:
        warnings.warn(told, AnguillaWarning, stacklevel=3)
    if not ok and raise_on_failure:
        told = motion.kinks or advice(status, result)
        raise SolverError(f"The motion of {robot.name!r} {message}.", result=result, advice=told)
    if checkpoint is not None and ok:  # last: an interruption before it leaves the checkpoint where it is
        keep_spare(result, Path(checkpoint))
    return result


def balances_alone(system: Model, scheme: Coefficients) -> bool:
    """Whether states alone tell their accelerations, so that these may be found later: no load remembers what was before."""
    remembers = len(system.blank.frames.table) or len(system.blank.cables.path)
    return (system.is_plain or scheme.mid < 1.0) and not remembers


def newton_tolerance(system: Model, given: float | None) -> float:
    """Newton's error that is allowed as a part of a step's increment: the given one, or what serves the system."""
    usual = 1e-11 if system.shapes else 1e-10 if system.rows else 1e-8
    return as_positive(usual if given is None else given, "tolerance", "")


def check_serves(scheme: Coefficients, method: Scheme | str, system: Model) -> None:
    """Refuse a scheme that cannot integrate the robot, and warn of one that does so badly."""
    robot, midpoint = system.robot, scheme.mid < 1.0
    if midpoint and any(load.remembers for load in robot.loads):
        raise DescriptionError(
            "Midpoint does not serve the integral of a Thruster (ki); use Newmark, HHT or GeneralisedAlpha."
        )
    if midpoint and system.rows:
        raise DescriptionError(
            "Midpoint serves open robots; a robot with loops or constraints needs Newmark, HHT or GeneralisedAlpha."
        )
    if system.rows and not forgets(scheme):
        warnings.warn(
            f"{method} has no numerical damping: errors of the multipliers of {robot.name!r} grow from step to step. "
            "GeneralisedAlpha(0.9) or HHT(-0.05) forget them.",
            AnguillaWarning,
            stacklevel=4,  # the line that calls `simulate`
        )


def advice(status: int, result: Trajectory) -> str:
    """What to try after a motion stopped."""
    if status == IMPACT:
        system, q = result.system, result.q[-1:]
        touching = [k for k, load in enumerate(system.robot.loads) if load.touches]
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


def start_of(system: Model, start: Start) -> tuple[Floats, Floats]:
    if isinstance(start, Equilibrium):
        if start.system.size != system.size:
            raise DescriptionError("start is the equilibrium of a robot with other coordinates.")
        return system.vector(start.q, "start"), np.zeros(system.size)
    if isinstance(start, Trajectory):
        if start.system.size != system.size:
            raise DescriptionError("start is the motion of a robot with other coordinates.")
        return system.vector(start.q[-1], "start"), system.vector(start.v[-1], "start")
    if isinstance(start, tuple):
        if len(start) != 2:
            raise DescriptionError(
                "start must be an Equilibrium, a Trajectory (its end), coordinates q, or a pair (q, v)."
            )
        return system.vector(start[0], "start[0]"), system.vector(start[1], "start[1]")
    return system.vector(start, "start"), np.zeros(system.size)


def _fixed(
    m: OngoingMotion, loads: LoadTable, dt: float, steps: int, every: int, out: History, tick: Callable[[int], None],
    checkpoint: str | os.PathLike[str] | None = None,
) -> tuple[int, int]:  # fmt: skip
    """Equal steps in the compiled loop, from the checkpoint on if there is one."""
    m.kinks, m.acting = kinked(m.system, loads, m.scheme, dt), loads
    if checkpoint is None:
        return in_blocks(m, loads, dt, 0, steps, every, out, tick)
    state = {f"motion_{k}": array for k, array in enumerate((*m.state, m.cutting))}
    start = tuple(array.copy() for array in m.state)
    what = loads.at(0)
    acting = loads.column, loads.table, what.row.copy(), constants(what)
    identity = dt, steps, every, m.scheme, m.tolerance, start, tuple(m.system.tree), acting, tuple(m.jumps)
    user = tuple(load.functions for load in m.system.robot.loads if load.functions)
    memory = state | m.memory._asdict()
    keeper = Checkpoint(checkpoint, identity, user, memory, tuple(out), every, counter=(m, "substeps"))
    with kept(keeper):
        return in_blocks(m, loads, dt, keeper.restore(), steps, every, out, keeper.watch(tick))


def in_blocks(
    m: OngoingMotion,
    loads: LoadTable,
    dt: float,
    done: int,
    steps: int,
    every: int,
    out: History,
    tick,
    t0: float = 0.0,
) -> tuple[int, int]:
    """Blocks of steps from `done` on, which begin at t0; a failed step is cut into pieces."""
    block = 64
    while done < steps:
        jump = m.between(done)
        stop, reached, clock, status = min(steps, done + block, jump), done, time.perf_counter(), CONVERGED
        m.passed = done
        if done == jump:
            keep = partial(_keep, m, out, (done + 1) // every, (done + 1) % every == 0)
            status = across(m, done, dt, m.one_step, keep)
            if status != CONVERGED:
                return done, status
            reached = stop = done + 1
        elif whole(m):
            reached, status = m.run(loads, t0, dt, done, stop, every, out)
        clock = time.perf_counter() - clock
        if reached < stop:
            status = cut(m, t0 + reached * dt, dt, status)
            if status != CONVERGED:
                return reached, status
            reached += 1
            _keep(m, out, reached // every, reached % every == 0)
        elif clock < 0.25 * BLOCK_SECONDS:
            block *= 4 if stop - done == block else 1
        elif clock > 2.0 * BLOCK_SECONDS:
            block = max(1, block // 4)
        done = reached
        tick(done)
    return done, CONVERGED


def _keep(m: OngoingMotion, out: History, row: int, due: bool = True) -> None:
    if due:
        out.q[row], out.v[row], out.a[row], out.lam[row] = m.q, m.v, m.acc, m.lam


def across(
    m: OngoingMotion, step: int, dt: float, advance: Callable[[float, float], int], keep: Callable[[], None]
) -> int:
    """One step with jumps in it or at its end: onto each under the loads before it, and anew behind it; Newton's status.

    `advance` goes a length of time on from an instant [s], `keep` stores the state at the end. A jump there is behind it if
    loads read there are those behind.
    """
    t, end, status = step * dt, (step + 1) * dt, CONVERGED
    for jump in m.jumps[m.next_jump(step) : m.next_jump(step + 1)]:
        if jump.at > t:
            status = advance(t, jump.at - t)
        if status != CONVERGED:
            return status
        if jump.at == end:
            keep()
        t, status = jump.at, m.begin_behind(jump, dt)
        if status != CONVERGED:
            return status
    if t < end:
        status = advance(t, end - t)
    if t < end or end >= jump.after:
        keep()
    return status


def _controlled(
    m: OngoingMotion, dt: float, steps: int, every: int, out: History, tick: Callable[[int], None], goal: float
) -> tuple[int, int]:
    """Steps chosen by their error, landing on multiples of dt."""
    h, largest = dt, np.zeros(len(m.loads(0.0).loads.row))

    def advance(t: float, length: float) -> int:
        nonlocal h
        h, status = controlled_step(m, t, t + length, h, goal, largest)
        return status

    for step in range(steps):
        m.passed = step
        keep = partial(_keep, m, out, (step + 1) // every, (step + 1) % every == 0)
        if m.between(step) == step:
            status = across(m, step, dt, advance, keep)
        else:
            h, status = controlled_step(m, step * dt, (step + 1) * dt, h, goal, largest)
            keep()
        if status != CONVERGED:
            return step, status
        tick(step + 1)
    return steps, CONVERGED
