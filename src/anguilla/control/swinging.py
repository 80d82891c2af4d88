"""iLQR: inputs over time that bring a robot to a state at the least cost, by exact tangents of the steps, within limits.

Backward: the cost to go is quadratic about the last motion, with the exact derivatives of every step of the integrator
(Gauss-Newton: the steps themselves are taken as linear), and the change of the inputs of a step is a small QP within
their limits.
Forward: the motion is computed anew with the feedback that was found, in shorter steps if the cost does not fall.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.control.feedback import Limits, Pick, as_picker, input_limits
from anguilla.control.qp import solve_qp
from anguilla.control.regulators import weights
from anguilla.control.torque import refuse_memory
from anguilla.describe import Robot
from anguilla.errors import DescriptionError, SolverError, as_array, as_count, as_positive, as_vector
from anguilla.interact.kernels.table import DT
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Model
from anguilla.model.slopes import balance_slope, input_slopes, named
from anguilla.model.user import between
from anguilla.results.states import Trajectory
from anguilla.solve.modes.linearise import StepEnd, remembered, step_change
from anguilla.solve.modes.local import actuator_slopes
from anguilla.solve.steps.dynamics import DEFAULT_METHOD
from anguilla.solve.steps.motion import Start
from anguilla.solve.steps.schemes import Scheme, as_scheme
from anguilla.solve.steps.stepper import Stepper

__all__ = ["ILQR", "ilqr"]

SHORTER = 0.5 ** np.arange(9)  # parts of the change that are tried
LEAST, FIRST, HIGHEST = 1e-8, 1e-4, 1e8  # of the regularisation, over the curvature of the inputs
WORTH = 0.05  # part of the promised fall of the cost that a step must keep


@dataclass(frozen=True)
class ILQR:
    """Inputs over time with the feedback that keeps a robot to its motion; a controller that reads the state (q, v).

    Attributes:
        run: the motion.
        names: the inputs (k,).
        inputs: (steps, k): those of the step that begins at t = 0, dt, ...
        gains: (steps, k, s): by the changes of what the integrator remembers, (q, v, a, ...).
        costs: of each iteration.
        seconds: time of the processor [s].

    """

    run: Trajectory
    names: list[str]
    inputs: Floats
    gains: Floats
    costs: list[float]
    seconds: float
    _problem: _Problem
    _states: Floats
    state: Pick = None

    def reset(self) -> None:
        """Begin at the start again."""
        self._problem.forget()

    def update(self, reading: Floats, t: float) -> dict[str, float]:
        """Inputs of the next step; after the end, those of the last one."""
        problem, n = self._problem, self._problem.model.size
        state = as_vector(as_picker(self.state)(reading), 2 * n, "the state (q, v) in the reading")
        k = min(round(t / problem.dt), len(self.inputs) - 1)
        here = problem.remember(state[:n], state[n:])
        u = self.inputs[k] + self.gains[k] @ problem.change(self._states[k], here)
        return dict(zip(self.names, np.clip(u, problem.low, problem.high).tolist(), strict=True))


class _Problem:
    """What iLQR minimises, and the steps of the robot with their derivatives."""

    def __init__(
        self, robot: Robot | Model, start: Start, dt: float, names: Sequence[str] | None, limits: Limits,
        method: Scheme | str,
    ) -> None:  # fmt: skip
        self.model, self.dt = model_of(robot), as_positive(dt, "dt", "s")
        self.scheme = as_scheme(method).coefficients
        if self.scheme.mid < 1.0:
            raise DescriptionError("ilqr supports Newmark, HHT and GeneralisedAlpha, not Midpoint.")
        refuse_memory(self.model.blank, "ilqr")
        every = list(self.model.robot.inputs)
        self.names = every if names is None else list(names)
        if not self.names or not set(self.names) <= set(every):
            raise DescriptionError(
                f"inputs: there are {', '.join(every) or 'none'}; got {', '.join(self.names) or 'none'}."
            )
        low, high = input_limits(self.model.robot, limits)
        which = [every.index(name) for name in self.names]
        self.low, self.high = low[which], high[which]
        if any(drive.follows_at_once is False for drive in self.model.robot.drives.values()):
            raise DescriptionError(
                "ilqr supports inputs that act at once: drives with delay, lag, rate or play are refused."
            )
        self.stepper = Stepper(self.model, dt=self.dt, start=start, method=method, history=True)
        self.forget()

    def forget(self) -> None:
        """Begin at the start."""
        self._last: tuple[Floats, Floats, Floats] | None = None

    def remember(self, q: Floats, v: Floats) -> Floats:
        """What the integrator remembers (blocks, n): (q, v) and accelerations, which follow from the rates.

        Those of the start are taken as zero: what counts are changes between two motions, and they start alike.
        """
        am, af, gamma = self.scheme.am, self.scheme.af, self.scheme.gamma
        if self._last is None:
            a = true = 0.0 * v
        else:
            before, a, true = self._last
            a, old = ((v - before) / self.dt - (1.0 - gamma) * a) / gamma, a
            true = ((1.0 - am) * a + am * old - af * true) / (1.0 - af)
        self._last = v.copy(), a, true
        return np.array([q, v, a, true])[: remembered(self.scheme)]

    def change(self, wanted: Floats, here: Floats) -> Floats:
        """(s,) what changed."""
        out = here - wanted
        out[0] = between(self.model.tree, wanted[0], here[0])
        return out.ravel()

    def roll(self, inputs: Floats, gains: Floats | None, states: Floats | None) -> tuple[Floats, Floats]:
        """States (steps + 1, blocks, n) and inputs (steps, k) of a motion with feedback about another."""
        stepper = self.stepper
        still = np.clip(0.0, self.low, self.high).tolist()  # every motion starts alike
        stepper.set_inputs(dict(zip(self.names, still, strict=True)))
        stepper.reset()
        self.forget()
        rows, told = [self.remember(stepper.q, stepper.v)], np.zeros_like(inputs)
        for k, u in enumerate(inputs):
            if gains is not None and states is not None:
                u = u + gains[k] @ self.change(states[k], rows[-1])
            told[k] = np.clip(u, self.low, self.high)
            stepper.step(dict(zip(self.names, told[k].tolist(), strict=True)))
            rows.append(self.remember(stepper.q, stepper.v))
        return np.array(rows), told

    def tangents(self, run: Trajectory) -> list[tuple[Floats, Floats]]:
        """(A (s, s), B (s, k)) of every step of a motion."""
        model, n = run.system, run.system.size
        table = model.loads(run.t, run.inputs)
        slopes = {slope.name: slope for slope in input_slopes(model, run.t, run.inputs)}
        for name, reason in named(list(slopes.values())).items():
            if name in self.names:
                raise DescriptionError(f"inputs: {reason}")
        own, accelerations = list(model.robot.actuators), run.a if run.integrated is None else run.integrated
        found = []
        for k in range(1, len(run.t)):
            loads = table.at(k)
            loads.row[DT] = self.dt
            state = run.q[k], run.v[k], accelerations[k], run.multipliers[k]
            here = Evaluation(model, loads, *state)
            flat, steep = here.flat, here.by_rate
            by_actuators = actuator_slopes(model, loads, *state)[:n] if own else np.zeros((n, 0))
            B = np.stack(
                [
                    -by_actuators[:, own.index(name)]
                    if name in own
                    else -balance_slope(model, loads, slopes[name].rows[k], state)[:n]
                    for name in self.names
                ],
                axis=1,
            )
            end = StepEnd(here.K, here.C, here.M, B, flat[:n, n:], flat[n:, :n], steep[n:])
            d = between(model.tree, run.q[k - 1], run.q[k])
            blocks = step_change(model, end, run.q[k - 1], d, self.dt, self.scheme)
            whole = np.vstack(blocks)
            found.append((whole[:, : len(blocks) * n], whole[:, 4 * n :]))
        return found


@dataclass(frozen=True)
class _Cost:
    """1/2 x.Q.x + 1/2 u.R.u over steps, x = state less goal, and 1/2 x.F.x at the end."""

    problem: _Problem
    goal: Floats
    Q: Floats
    F: Floats
    R: Floats
    rest: Floats

    def miss(self, states: Floats) -> Floats:
        """x (steps + 1, 2 n)."""
        tree, n = self.problem.model.tree, self.problem.model.size
        return np.array([np.concatenate([between(tree, self.goal[:n], s[0]), s[1] - self.goal[n:]]) for s in states])

    def value(self, states: Floats, inputs: Floats) -> float:
        """The whole cost."""
        x, u = self.miss(states), inputs - self.rest
        running = 0.5 * np.einsum("ti,ij,tj->", x[:-1], self.Q, x[:-1]) + 0.5 * np.einsum("ti,ij,tj->", u, self.R, u)
        return float(running + 0.5 * x[-1] @ self.F @ x[-1])


def _back(
    cost: _Cost, tangents: list[tuple[Floats, Floats]], states: Floats, inputs: Floats, firm: float
) -> tuple[Floats, Floats, float] | None:
    """Changes of the inputs (steps, k), gains (steps, k, s) and the promised fall of the cost; None if nothing is convex."""
    problem, miss = cost.problem, cost.miss(states)
    n2, s, k = miss.shape[1], tangents[0][0].shape[0], inputs.shape[1]
    changes, gains, promised = np.zeros_like(inputs), np.zeros((len(inputs), k, s)), 0.0
    Vx, Vxx = np.zeros(s), np.zeros((s, s))
    Vx[:n2], Vxx[:n2, :n2] = cost.F @ miss[-1], cost.F
    for step in range(len(inputs) - 1, -1, -1):
        A, B = tangents[step]
        Qx, Qu = A.T @ Vx, cost.R @ (inputs[step] - cost.rest) + B.T @ Vx
        Qxx, Qux, Quu = A.T @ Vxx @ A, B.T @ Vxx @ A, cost.R + B.T @ Vxx @ B
        Qx[:n2] += cost.Q @ miss[step]
        Qxx[:n2, :n2] += cost.Q
        safe = Quu + firm * max(float(np.trace(Quu)) / k, 1e-300) * np.eye(k)
        size = np.sqrt(np.maximum(np.diag(safe), 1e-300))
        low, high = problem.low - inputs[step], problem.high - inputs[step]
        found = solve_qp(safe / np.outer(size, size), Qu / size, lower=low * size, upper=high * size)
        free = found.active[:k] == 0
        du = changes[step] = np.where(
            free, np.clip(found.x / size, low, high), np.where(found.active[:k] < 0, low, high)
        )
        if np.any(free):
            gains[step][free] = -np.linalg.solve(safe[np.ix_(free, free)], Qux[free])
        K = gains[step]
        promised -= float(Qu @ du + 0.5 * du @ Quu @ du)
        Vx = Qx + K.T @ Quu @ du + K.T @ Qu + Qux.T @ du
        Vxx = Qxx + K.T @ Quu @ K + K.T @ Qux + Qux.T @ K
        Vxx = 0.5 * (Vxx + Vxx.T)
        if not np.all(np.isfinite(Vxx)):
            return None
    return changes, gains, promised


@public
def ilqr(
    robot: Robot | Model, goal: ArrayLike, *, duration: float, dt: float, start: Start = None,
    state_weight: ArrayLike = 0.0, final_weight: ArrayLike = 1.0, input_weight: ArrayLike = 1.0,
    inputs: Sequence[str] | None = None, guess: ArrayLike = 0.0, rest: ArrayLike = 0.0, limits: Limits = None,
    iterations: int = 100, tolerance: float = 1e-6, method: Scheme | str = DEFAULT_METHOD, state: Pick = None,
) -> ILQR:  # fmt: skip
    """Inputs over time that bring a robot from its start to a goal at the least cost, with feedback about the motion.

    The cost is the sum over all steps of x.Q.x/2 + u.R.u/2, and x.F.x/2 at the end; x = (q, v) - goal, u = inputs - rest.

    Args:
        robot: the robot, or its model.
        goal: state (q, v) (2 n,).
        duration: how long [s], a whole number of steps.
        dt: time step [s].
        start: as for `Stepper`; the rest shape at rest if not given.
        state_weight: Q: a number, a diagonal or a matrix (2 n, 2 n).
        final_weight: F, likewise.
        input_weight: R: a number, a diagonal or a matrix (k, k).
        inputs: names of the inputs (k,); all by default.
        guess: (steps, k), (k,) or a number: inputs to begin with.
        rest: (k,) inputs that cost nothing.
        limits: (lowest, highest) by input; those of drives and tendons are kept anyway.
        iterations: most of them.
        tolerance: relative fall of the cost below which it stops.
        method: the integrator.
        state: where (q, v) is in the readings, when the result is used as a controller.

    Returns:
        An ILQR, which is a controller too.

    """
    began = time.process_time()
    problem = _Problem(robot, start, dt, inputs, limits, method)
    n2, k = 2 * problem.model.size, len(problem.names)
    steps = round(as_positive(duration, "duration", "s") / problem.dt)
    first = as_array(guess, "guess", f"a number, ({k},) or ({steps}, {k})")
    told = np.clip(np.broadcast_to(first, (steps, k)) if first.ndim < 2 else first, problem.low, problem.high)
    if told.shape != (steps, k):
        raise DescriptionError(f"guess must be a number, ({k},) or ({steps}, {k}); got {first.shape}.")
    Q, F = weights(state_weight, n2, "state_weight"), weights(final_weight, n2, "final_weight")
    R, idle = weights(input_weight, k, "input_weight"), np.broadcast_to(as_array(rest, "rest", "numbers"), (k,))
    cost = _Cost(problem, as_vector(goal, n2, "goal"), Q, F, R, idle)
    states, told = problem.roll(told, None, None)
    run, firm, costs = problem.stepper.trajectory(), FIRST, [cost.value(states, told)]
    gains = np.zeros((steps, k, states[0].size))
    for _ in range(as_count(iterations, "iterations")):
        tangents, found = problem.tangents(run), None
        while found is None:
            back = _back(cost, tangents, states, told, firm)
            found = None if back is None else _forward(cost, back, states, told, costs[-1])
            if found is None:
                firm = 10.0 * firm
                if firm > HIGHEST:
                    break
        if found is None or back is None:
            problem.roll(told, None, None)
            break
        fall = costs[-1] - found[2]
        states, told, gains, run = found[0], found[1], back[1], problem.stepper.trajectory()
        costs.append(found[2])
        firm = max(LEAST, 0.2 * firm)
        if fall <= tolerance * max(costs[-1], 1e-300):
            break
    final = _back(cost, problem.tangents(run), states, told, LEAST)
    gains = gains if final is None else final[1]
    seconds = time.process_time() - began
    return ILQR(run, problem.names, told, gains, costs, seconds, problem, states, state)


def _forward(
    cost: _Cost, back: tuple[Floats, Floats, float], states: Floats, told: Floats, before: float
) -> tuple[Floats, Floats, float] | None:
    """States, inputs and cost of the first motion that keeps its promise; None if no part of the change does."""
    changes, gains, promised = back
    for part in SHORTER:
        try:
            new, inputs = cost.problem.roll(told + part * changes, gains, states)
        except SolverError:
            continue
        value = cost.value(new, inputs)
        if before - value >= WORTH * part * promised and value < before:
            return new, inputs, value
    return None
