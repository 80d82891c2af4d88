"""Motion in time: the compiled loop, sub-stepping on failure, error-controlled steps, a progress bar on long runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anguilla.assemble.system import Inputs, LoadTable, System, as_robot
from anguilla.describe import Robot
from anguilla.errors import DescriptionError, SolverError, as_count, as_positive
from anguilla.mechanics.tree import Floats
from anguilla.results import Equilibrium, Status, Trajectory
from anguilla.solve.checkpoint import Checkpoint, kept
from anguilla.solve.newton import CONVERGED, EXPLANATION, TOO_STRICT, Scratch, scratch
from anguilla.solve.progress import progress_bar
from anguilla.solve.schemes import GeneralisedAlpha, Scheme, as_scheme
from anguilla.solve.stepping import run

__all__ = ["simulate"]

DEFAULT_METHOD = GeneralisedAlpha(0.9)
MOST_HALVINGS = 8  # a failed step is cut into at most 2^8 pieces
BLOCK_SECONDS = 0.2  # how often the compiled loop comes up for air


@dataclass
class _Motion:
    """The state on its way and the solver's memory."""

    system: System
    scheme: tuple[float, float, float, float]
    tolerance: float
    q: Floats
    v: Floats
    a: Floats
    memory: Scratch
    inputs: Inputs
    substeps: int = 0

    def run(self, loads: LoadTable, dt: float, first: int, last: int, every: int, out, begin: bool = False):
        """Steps first..last-1 in compiled code; returns (steps done, status)."""
        table = loads.where, loads.follower, loads.gravity, loads.wrench, loads.effort, loads.tension
        reached, status = run(
            self.system.tree, self.system.workspace, self.memory, *table, self.scheme, dt, begin, first, last, every,
            self.q, self.v, self.a, self.tolerance, 1e-13, 12, True, *out,
        )  # fmt: skip
        return int(reached), int(status)

    def step(self, t: float, dt: float) -> int:
        """One step from t; the state is unchanged on failure."""
        unused = np.zeros((1, len(self.q)))
        return self.run(self.loads(t + (1.0 - self.scheme[1]) * dt), dt, 0, 1, 2, (unused, unused))[1]

    def balance(self, t: Floats, q: Floats, v: Floats) -> Floats:
        """Accelerations (nt, n) that balance the states (q, v) (nt, n) at times t (nt,) [s]."""
        a = np.zeros_like(q)
        unused = np.zeros((1, q.shape[1]))
        for k in range(len(t)):
            self.q, self.v, self.a = q[k].copy(), v[k].copy(), a[k]
            _, status = self.run(self.loads(t[k]), 1.0, 0, 0, 1, (unused, unused), begin=True)
            if status != CONVERGED:
                raise SolverError(f"No acceleration balances the state at t = {t[k]:g} s: {EXPLANATION[status]}.")
        return a

    def loads(self, times: ArrayLike) -> LoadTable:
        """Loads at the given times [s]."""
        return self.system.loads(times, self.inputs)


def simulate(
    robot: Robot, *, duration: float, dt: float, inputs: Inputs | None = None,
    start: Equilibrium | tuple[ArrayLike, ArrayLike] | ArrayLike | None = None, method: Scheme | str = DEFAULT_METHOD,
    every: int = 1, tolerance: float = 1e-8, error: float | None = None, progress: bool | None = None,
    raise_on_failure: bool = True, checkpoint: str | os.PathLike[str] | None = None,
) -> Trajectory:  # fmt: skip
    """Simulate the motion of a robot.

    Args:
        robot: the robot.
        duration: simulated time [s].
        dt: time step [s]; with `error`, the interval between stored states and the largest step.
        inputs: inputs of the actuators by name: numbers, or functions of t [s]; absent ones are zero.
        start: an Equilibrium, coordinates q (n,), or (q, v); the rest shape at rest if not given.
        method: Newmark(), HHT(), GeneralisedAlpha(), Midpoint() or their names.
        every: store every so many steps.
        tolerance: Newton's error as a part of a step's increment.
        error: local error allowed per step, as an angle [rad] or a relative displacement; steps then adapt themselves.
        progress: show a progress bar; by default when the run takes long and the output is a terminal.
        raise_on_failure: raise SolverError (with the motion so far in `.result`) instead of returning it.
        checkpoint: file that keeps the simulation while it runs; an interrupted one goes on from it when called again with
            the same arguments, and ends bit-identical. It is removed at the end. For steps without `error`.

    Returns:
        A Trajectory.

    """
    as_robot(robot)
    duration, dt = as_positive(duration, "duration", "s"), as_positive(dt, "dt", "s")
    every = as_count(every, "every")
    tolerance = as_positive(tolerance, "tolerance", "")
    steps = round(duration / dt)
    if steps < 1 or abs(steps * dt - duration) > 1e-6 * duration:
        raise DescriptionError(
            f"duration must be a whole number of steps; {duration:g} s / {dt:g} s = {duration / dt:g}."
        )
    if steps % every:
        raise DescriptionError(f"every must divide the number of steps, {steps}; got {every}.")
    if checkpoint is not None and error is not None:
        raise DescriptionError("checkpoint works with equal steps only: leave error out.")
    system = System(robot)
    q, v = _start(system, start)
    n = system.size
    scheme = as_scheme(method).coefficients
    motion = _Motion(system, scheme, tolerance, q, v, np.zeros(n), scratch(n), inputs or {})
    began = time.perf_counter()
    unused = np.zeros((1, n))
    if motion.run(motion.loads(0.0), dt, 0, 0, 1, (unused, unused), begin=True)[1] != CONVERGED:
        raise SolverError(
            f"The mass matrix of {robot.name!r} is singular: some coordinate moves no mass.",
            advice="Use fewer modes, more intervals, or a section with mass.",
        )
    rows = steps // every + 1
    out = np.zeros((rows, n)), np.zeros((rows, n))
    out[0][0], out[1][0] = q, v
    with progress_bar(f"simulating {robot.name}", steps, progress) as tick:
        if error is None:
            done, status = _fixed(motion, dt, steps, every, out, tick, checkpoint)
        else:
            done, status = _controlled(motion, dt, steps, every, out, tick, as_positive(error, "error", ""))
    seconds = time.perf_counter() - began
    counters = dict(zip(("iterations", "factorisations", "halvings"), motion.memory.counters.tolist(), strict=True))
    counters |= {"steps": done, "substeps": motion.substeps}
    kept = done // every + 1
    ok = done == steps
    message = "reached the end" if ok else f"stopped at t = {done * dt:g} s: {EXPLANATION[status]}"
    t = dt * every * np.arange(kept, dtype=np.float64)
    end = Status(ok, message, counters, seconds)
    result = Trajectory(robot, system, end, t, out[0][:kept], out[1][:kept], None, inputs or {}, motion.balance)
    if not ok and raise_on_failure:
        advice = "Try a smaller dt, error=1e-3, a damped method such as GeneralisedAlpha(0.5), or material damping."
        raise SolverError(f"The motion of {robot.name!r} {message}.", result=result, advice=advice)
    return result


def _start(system: System, start) -> tuple[Floats, Floats]:
    if isinstance(start, Equilibrium):
        if start.system.size != system.size:
            raise DescriptionError("start is the equilibrium of a robot with other coordinates.")
        return system.vector(start.q, "start"), np.zeros(system.size)
    if isinstance(start, tuple):
        if len(start) != 2:
            raise DescriptionError("start must be an Equilibrium, coordinates q, or a pair (q, v).")
        return system.vector(start[0], "start[0]"), system.vector(start[1], "start[1]")
    return system.vector(start, "start"), np.zeros(system.size)


def _fixed(
    m: _Motion, dt: float, steps: int, every: int, out, tick: Callable[[int], None],
    checkpoint: str | os.PathLike[str] | None = None,
) -> tuple[int, int]:  # fmt: skip
    """Equal steps in the compiled loop, from the checkpoint on if there is one."""
    loads = m.loads((np.arange(steps) + 1.0 - m.scheme[1]) * dt)
    if checkpoint is None:
        return _blocks(m, loads, dt, 0, steps, every, out, tick)
    state = {f"motion_{name}": getattr(m, name) for name in "qva"}
    start = tuple(array.copy() for array in state.values())
    identity = dt, steps, every, m.scheme, m.tolerance, start, tuple(m.system.tree), loads
    keeper = Checkpoint(checkpoint, identity, state | m.memory._asdict(), out, every, counter=(m, "substeps"))
    with kept(keeper):
        done, status = _blocks(m, loads, dt, keeper.restore(), steps, every, out, keeper.watch(tick))
    if done == steps:
        keeper.finish()
    return done, status


def _blocks(m: _Motion, loads: LoadTable, dt: float, done: int, steps: int, every: int, out, tick) -> tuple[int, int]:
    """Blocks of steps from `done` on; a failed step is cut into halves, quarters, ..."""
    block = 512
    while done < steps:
        stop = min(steps, done + block)
        clock = time.perf_counter()
        reached, status = m.run(loads, dt, done, stop, every, out)
        clock = time.perf_counter() - clock
        if reached < stop:
            status = _cut(m, reached * dt, dt)
            if status != CONVERGED:
                return reached, status
            reached += 1
            if reached % every == 0:
                _keep(m, out, reached // every)
        elif clock < BLOCK_SECONDS:
            block *= 4 if clock < 0.25 * BLOCK_SECONDS else 1
        done = reached
        tick(done)
    return done, CONVERGED


def _keep(m: _Motion, out, row: int) -> None:
    out[0][row], out[1][row] = m.q, m.v


def _cut(m: _Motion, t: float, dt: float) -> int:
    """One step of length dt as 2, 4, 8, ... smaller ones; the state is unchanged on failure."""
    saved = m.q.copy(), m.v.copy(), m.a.copy()
    status = -1
    for halvings in range(1, MOST_HALVINGS + 1):
        pieces = 2**halvings
        h = dt / pieces
        for k in range(pieces):
            status = m.step(t + k * h, h)
            m.substeps += 1
            if status != CONVERGED:
                break
        if status == CONVERGED:
            return status
        m.q[:], m.v[:], m.a[:] = saved
    return status


def _controlled(
    m: _Motion, dt: float, steps: int, every: int, out, tick: Callable[[int], None], goal: float
) -> tuple[int, int]:
    """Steps chosen so that the local error, (beta - 1/6) h^2 (a1 - a0), stays below the goal; lands on multiples of dt."""
    factor = abs(m.scheme[2] - 1.0 / 6.0)
    weight = m.system.tree.scale
    h = dt
    for step in range(steps):
        t, end = step * dt, (step + 1) * dt
        while end - t > 1e-9 * dt:
            pieces = max(1, int(np.ceil((end - t) / h - 1e-9)))
            trial = (end - t) / pieces
            saved = m.q.copy(), m.v.copy(), m.a.copy()
            status = m.step(t, trial)
            size = (
                factor * trial**2 * float(np.linalg.norm((m.a - saved[2]) * weight)) if status == CONVERGED else np.inf
            )
            if size > goal:
                m.q[:], m.v[:], m.a[:] = saved
                shrink = 0.5 if not np.isfinite(size) else max(0.2, 0.9 * (goal / size) ** (1.0 / 3.0))
                h = trial * shrink
                if h < 1e-9 * dt:
                    return step, TOO_STRICT if status == CONVERGED else status
                continue
            m.substeps += 1
            t += trial
            h = trial * min(2.0, 0.9 * (goal / max(size, 1e-300)) ** (1.0 / 3.0))
            h = min(h, dt)
        if (step + 1) % every == 0:
            _keep(m, out, (step + 1) // every)
        tick(step + 1)
    return steps, CONVERGED
