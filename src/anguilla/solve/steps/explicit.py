"""Explicit motion in time: a(q, v, t) = -M^-1 R(q, v, 0, t), integrated by an adaptive Runge-Kutta method of high order.

For soft robots whose frequencies are low, and as the oracle of the implicit steppers: its error is what one asks for. The
mass matrix and the forces come from the same residual and tangent as everything else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import ExitStack

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from anguilla._doors import public
from anguilla.describe import Robot
from anguilla.errors import DescriptionError, SolverError, as_named, as_positive
from anguilla.interact.kernels.table import MOTION, TIME
from anguilla.mechanics.motion import too_coarse
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Inputs, LoadTable, Model
from anguilla.model.user import move
from anguilla.results.passing import refuse_coinciding
from anguilla.results.reactions import integrates, refuse_holding, refuse_relaxing
from anguilla.results.states import Equilibrium, Status, Trajectory
from anguilla.solve.newton.rules import CONVERGED, EXPLANATION, SINGULAR, TOO_COARSE
from anguilla.solve.steps.motion import OngoingMotion, start_of
from anguilla.solve.steps.schemes import Newmark

__all__ = ["simulate_explicit"]

_Sampler = Callable[[float], LoadTable]

SAMPLES, SMOOTH = 17, 1e-13  # loads are interpolated through so many times of an interval if that is exact to this part


@public
def simulate_explicit(
    robot: Robot | Model, *, duration: float, dt: float, inputs: Inputs | None = None,
    start: Equilibrium | tuple[ArrayLike, ArrayLike] | ArrayLike | None = None, rtol: float = 1e-9, atol: float = 1e-11,
    method: str = "DOP853", raise_on_failure: bool = True,
) -> Trajectory:  # fmt: skip
    """Simulate the motion of an open robot by an explicit method with error control.

    Stiff robots (thin rods that stretch or shear, fine bases) make it slow: `simulate` is for them. Prescribed motions and
    shapes are followed exactly; only the other coordinates are integrated. Loops and loads with a memory are not served.

    Args:
        robot: the robot, or its model.
        duration: simulated time [s].
        dt: interval between stored states [s]; the method chooses its own steps between them.
        inputs: inputs of the actuators by name: numbers, or functions of t [s]; absent ones are zero.
        start: an Equilibrium, coordinates q (n,), or (q, v); the rest shape at rest if not given.
        rtol: relative local error.
        atol: absolute local error, in the units of the coordinates and their rates.
        method: name of an explicit method of scipy's solve_ivp: "DOP853", "RK45", "RK23".
        raise_on_failure: raise SolverError (with the motion so far in `.result`) instead of returning it.

    Returns:
        A Trajectory.

    """
    with ExitStack() as desks:
        return _explicit(model_of(robot), desks, duration, dt, inputs, start, rtol, atol, method, raise_on_failure)


def _explicit(
    system: Model, desks: ExitStack, duration: float, dt: float, inputs: Inputs | None,
    start: Equilibrium | tuple[ArrayLike, ArrayLike] | ArrayLike | None, rtol: float, atol: float, method: str,
    raise_on_failure: bool,
) -> Trajectory:  # fmt: skip
    """`simulate_explicit`, in memory of its own until `desks` are left."""
    robot = system.source
    duration, dt = as_positive(duration, "duration", "s"), as_positive(dt, "dt", "s")
    as_positive(rtol, "rtol", ""), as_positive(atol, "atol", "")
    if method not in ("DOP853", "RK45", "RK23"):
        raise DescriptionError(f"method must be 'DOP853', 'RK45' or 'RK23'; got {method!r}.")
    steps = round(duration / dt)
    if steps < 1 or abs(steps * dt - duration) > 1e-6 * duration:
        raise DescriptionError(f"duration must be a whole number of dt; {duration:g} s / {dt:g} s = {duration / dt:g}.")
    desks.enter_context(system.apart())
    if system.rows or integrates(system.blank):
        raise DescriptionError("simulate_explicit supports open robots without integral control; use simulate.")
    if len(system.blank.cables.path):
        raise DescriptionError(
            "simulate_explicit does not support tendons with friction, which remember; use simulate."
        )
    refuse_holding(system.blank, "simulate_explicit", "; or use simulate")
    refuse_relaxing(system.blank, "simulate_explicit")
    q, v = start_of(system, start)
    system.told_slack.clear()
    motion = OngoingMotion(system, Newmark().coefficients, 1e-8, q, v, as_named(inputs))
    began = time.perf_counter()
    states, calls, message = _integrate(motion, dt, steps, rtol, atol, method)
    end = Status(not message, message or "reached the end", {"evaluations": calls}, time.perf_counter() - began)
    t = dt * np.arange(len(states[0]), dtype=np.float64)
    result = Trajectory(robot, system, end, t, *states, np.zeros((len(t), 0)), as_named(inputs))
    if message and raise_on_failure:
        raise SolverError(
            f"The motion of {robot.name!r} {message}.", result=result, advice="Use simulate: its steps are implicit."
        )
    return result


def _integrate(
    motion: OngoingMotion, dt: float, steps: int, rtol: float, atol: float, method: str
) -> tuple[tuple[Floats, Floats, Floats], int, str]:
    """States (q, v, a), number of evaluations, and what went wrong.

    Between stored states, rotations are written by their increments, in which the chart is never singular.
    """
    system, n = motion.system, motion.system.size
    free = np.setdiff1d(np.arange(n), system.blank.driven)
    q, v = motion.q.copy(), motion.v.copy()
    out: list[tuple[Floats, Floats, Floats]] = [_balanced(motion, 0.0, q, v)]
    q, v, _ = out[0]
    if not system.is_plain:  # else it was asked before
        refuse_coinciding(system, q)
    calls = 1
    longest = dt
    for k in range(steps):
        loads = _loads_between(motion, k * dt, (k + 1) * dt)

        def full(y: Floats, origin: Floats) -> tuple[Floats, Floats, Floats]:
            """Increments, coordinates and rates; those of prescribed coordinates are set with the loads."""
            d, v = np.zeros(n), np.zeros(n)
            d[free], v[free] = y[: len(free)], y[len(free) :]
            return d, move(system.tree, origin, d), v

        def rates(t: float, y: Floats, origin: Floats = q, loads: _Sampler = loads) -> Floats:
            d, q, v = full(y, origin)
            try:
                _, v, a = _balanced(motion, t, q, v, loads)
            except SolverError:  # a stage that went too far: the step is refused, and a shorter one tried
                return np.full(len(y), np.nan)
            return np.concatenate([_chart_rate(system, d, v)[free], a[free]])

        begin, span = np.concatenate([np.zeros(len(free)), v[free]]), (k * dt, (k + 1) * dt)
        first = min(longest, span[1] - span[0])
        try:
            path = solve_ivp(rates, span, begin, method, rtol=rtol, atol=atol, first_step=first)
        except SolverError as error:
            return _columns(out), calls, f"stopped at t = {k * dt:g} s: {error}"
        calls += path.nfev
        if not path.success or not np.all(np.isfinite(path.y[:, -1])):
            return _columns(out), calls, f"stopped at t = {k * dt:g} s: its steps become too small"
        taken = np.diff(path.t)
        longest = min(dt, float(np.max(taken)))
        _, q, v = full(path.y[:, -1], q)
        out.append(_balanced(motion, (k + 1) * dt, q, v))
        q, v, _ = out[-1]
    return _columns(out), calls, ""


def _columns(out: list[tuple[Floats, Floats, Floats]]) -> tuple[Floats, Floats, Floats]:
    q, v, a = (np.array(column) for column in zip(*out, strict=True))
    return q, v, a


def _loads_between(motion: OngoingMotion, low: float, high: float) -> _Sampler:
    """Loads at any time of an interval: smooth ones are interpolated by Chebyshev polynomials, which is much faster."""
    angles = np.pi * np.arange(SAMPLES) / (SAMPLES - 1)
    points = 0.5 * (low + high) - 0.5 * (high - low) * np.cos(angles)
    sampled = motion.loads(points)
    if not len(sampled.column):
        return lambda t: sampled
    series = np.linalg.solve(np.cos(np.outer(np.pi - angles, np.arange(SAMPLES))), sampled.table)
    if np.any(np.abs(series[-3:]) > SMOOTH * np.max(np.abs(series), axis=0) + 1e-300):
        return motion.loads

    def interpolated(t: float) -> LoadTable:
        x = min(1.0, max(-1.0, (2.0 * t - low - high) / (high - low)))
        sampled.loads.row[sampled.column] = np.cos(np.arccos(x) * np.arange(SAMPLES)) @ series
        sampled.loads.row[TIME] = t
        return sampled

    return interpolated


def _balanced(
    motion: OngoingMotion, t: float, q: Floats, v: Floats, loads: _Sampler | None = None
) -> tuple[Floats, Floats, Floats]:
    """The state with its prescribed coordinates set, and the acceleration that balances it."""
    system, table = motion.system, (loads or motion.loads)(t)
    if not len(system.blank.driven):
        motion.q[:], motion.v[:] = q, v
        _, status = motion.run(table, t, 1.0, 0, 0, 1, motion.unused, begin=True)
        if status != CONVERGED:
            raise SolverError(f"No acceleration balances the state at t = {t:g} s: {EXPLANATION[status]}.")
        return q, v, motion.a.copy()
    driven, at, row = system.blank.driven, int(system.blank.at[MOTION]), table.loads.row
    none, a, free = np.zeros(0), np.zeros(system.size), np.ones(system.size, dtype=bool)
    free[driven] = False
    q, v = q.copy(), v.copy()
    q[driven], v[driven], a[driven] = row[at : at + 3 * len(driven)].reshape(-1, 3).T
    here = Evaluation(system, table.loads, q, v, a, none)
    force = here.values
    if loads is None and too_coarse(system.workspace):  # at stored states: slow from here
        raise SolverError(f"No acceleration balances the state at t = {t:g} s: {EXPLANATION[TOO_COARSE]}.")
    scale = system.tree.scale[free]
    mass = here.M[np.ix_(free, free)] / np.outer(scale, scale)
    try:
        a[free] = np.linalg.solve(mass, -force[free] / scale) / scale
    except np.linalg.LinAlgError:
        raise SolverError(f"No acceleration balances the state at t = {t:g} s: {EXPLANATION[SINGULAR]}.") from None
    return q, v, a


def _chart_rate(system: Model, d: Floats, v: Floats) -> Floats:
    """Rates of the increments d: those of the coordinates, and for a ball T(d)^-1 w with w in the child's axes.

    T^-1 = 1 + [d]/2 + c [d]^2, c = (1 - (s/2) cot(s/2)) / s^2 with s the length of d.
    """
    rate = v.copy()
    for k in system.tree.ball[:, 0]:
        (x, y, z), (p, q, r) = d[k : k + 3].tolist(), v[k : k + 3].tolist()
        square, along = x * x + y * y + z * z, x * p + y * q + z * r
        half = 0.5 * math.sqrt(square)
        c = (1.0 - half / math.tan(half)) / square if square > 1e-4 else 1.0 / 12.0 + square / 720.0
        rate[k] += 0.5 * (y * r - z * q) + c * (along * x - square * p)
        rate[k + 1] += 0.5 * (z * p - x * r) + c * (along * y - square * q)
        rate[k + 2] += 0.5 * (x * q - y * p) + c * (along * z - square * r)
    return rate
