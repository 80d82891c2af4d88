"""Inverse dynamics of any robot: the inputs that make some of its coordinates move as wanted; computed torque from it.

A step of the integrator (stepping.py) balances R(q1, v1, A1, lambda1; u) = 0 at its end. Here the increments of some
coordinates are wanted, and as many inputs u are unknown, beside the other increments and the multipliers of loops: the same
equations, solved for other unknowns. So a robot that is the model follows to the tolerance of Newton's method, whatever the
step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.control.feedback import Limits, Pick, as_picker, input_limits
from anguilla.describe import Robot
from anguilla.describe.sampled import Sampled
from anguilla.errors import DescriptionError, SolverError, as_number, as_positive, as_vector, refuse
from anguilla.interact.kernels.table import DT, INPUT, KIND, THRUSTER, Loads
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Model
from anguilla.model.ports import only_ports, port_map
from anguilla.model.slopes import balance_slope, input_slopes, named
from anguilla.model.user import move
from anguilla.results.reactions import refuse_holding, refuse_relaxing
from anguilla.results.states import Equilibrium
from anguilla.solve.modes.local import actuator_slopes
from anguilla.solve.newton.closing import close
from anguilla.solve.newton.dense import least
from anguilla.solve.steps.dynamics import DEFAULT_METHOD
from anguilla.solve.steps.schemes import Coefficients, Scheme, as_scheme, ended, factors

__all__ = ["ComputedTorque", "InverseDynamics", "inverse_dynamics"]

CLOSE, MOST = 1e-12, 30  # relative last change of the unknowns, and iterations
REST = 1e-8  # relative imbalance of a start that counts as rest


def refuse_memory(loads: Loads, what: str) -> None:
    """Raise an error if some force depends on the steps before: the steps of a copy of the robot would not be its own."""
    refuse_holding(loads, what)
    refuse_relaxing(loads, what)
    if np.any(loads.cables.friction):
        raise DescriptionError(f"{what} does not support tendons with friction. Set friction=0.")
    if np.any(loads.frames.data[loads.frames.table[:, KIND] == THRUSTER, 6:12]):
        raise DescriptionError(f"{what} does not support thrusters with an integral gain.")


@dataclass
class _Memory:
    """What an integrator takes from step to step."""

    q: Floats
    v: Floats
    a: Floats
    true: Floats


class _Inverse:
    """One step of a model, solved for some of its inputs."""

    def __init__(
        self, robot: Robot | Model, wanted: Sequence[str], inputs: Sequence[str], others: Mapping[str, float], dt: float,
        start: Equilibrium | ArrayLike | None, method: Scheme | str,
    ) -> None:  # fmt: skip
        whole = model_of(robot)
        self.dt, self.scheme = as_positive(dt, "dt", "s"), as_scheme(method).coefficients
        if self.scheme.mid < 1.0:
            raise DescriptionError("inverse dynamics supports Newmark, HHT and GeneralisedAlpha, not Midpoint.")
        refuse_memory(whole.blank, "inverse dynamics")
        if len(whole.blank.driven):
            raise DescriptionError("inverse dynamics does not support prescribed motions: remove motion= and shape=.")
        labels = whole.robot.coordinates()
        for name in wanted:
            if name not in labels:
                raise DescriptionError(f"motion: there is no coordinate {name!r}; there are: {', '.join(labels)}.")
        self.names, self.others, known = list(inputs), dict(others), list(whole.robot.inputs)
        for name in (*self.names, *self.others):
            if name not in known:
                raise DescriptionError(f"inputs: there is no input {name!r}; there are: {', '.join(known) or 'none'}.")
        if len(self.names) != len(wanted):
            raise DescriptionError(
                f"inverse dynamics needs as many inputs as coordinates that move as wanted; got {len(self.names)} for "
                f"{len(wanted)}."
            )
        q = start.q if isinstance(start, Equilibrium) else whole.vector(start, "start")
        self.model = whole
        if not whole.is_plain:
            self.model, q = close(whole, self.others, 0.0, q)
        self.wanted = [labels.index(name) for name in wanted]
        self.free = [k for k in range(whole.size) if k not in self.wanted]
        self._actuators = list(self.model.robot.actuators)
        self._kept: tuple[float, Loads, Floats] | None = None
        self._steady = self.model.once(port_map).steady and self.model.once(only_ports)
        self.begin = _Memory(q, 0.0 * q, 0.0 * q, 0.0 * q)

    def inputs(self, u: Floats) -> dict[str, float]:
        """All inputs by name."""
        return self.others | dict(zip(self.names, u.tolist(), strict=True))

    def _table(self, t: float) -> tuple[Loads, Floats]:
        """Loads at time t [s] without the inputs to be found, and the change (k, row) of their row with each of these."""
        model, zero = self.model, self.inputs(np.zeros(len(self.names)))
        if not model.once(port_map).linear:
            raise DescriptionError("inverse dynamics needs loads that are linear in the inputs made by Robot.input.")
        slopes = {slope.name: slope for slope in input_slopes(model, np.array([t]), zero)}
        for name, reason in named(list(slopes.values())).items():
            if name in self.names:
                raise DescriptionError(f"inputs: {reason}")
        loads, first = model.loads(t, zero).loads, int(model.blank.at[INPUT])
        loads.row[DT] = self.dt
        actuators = {name: np.eye(len(loads.row))[first + k] for k, name in enumerate(model.robot.actuators)}
        return loads, np.array([actuators[n] if n in actuators else slopes[n].rows[0] for n in self.names])

    def _at(self, t: float) -> tuple[Loads, Floats]:
        """The same, found once where nothing depends on time."""
        if self._kept is None or not (self._steady or self._kept[0] == t):
            self._kept = t, *self._table(t)
        return self._kept[1:]

    def _evaluated(self, t: float, u: Floats, state: tuple[Floats, ...]) -> tuple[Evaluation, Floats]:
        """The balance in a state (q, v, a, lambda), and its derivative (n + m, k) with respect to the inputs."""
        model, (blank, slopes) = self.model, self._at(t)
        loads = blank._replace(row=blank.row + u @ slopes)
        actuators, columns = actuator_slopes(model, loads, *state), []
        for name, change in zip(self.names, slopes, strict=True):
            if name in self._actuators:
                columns.append(actuators[:, self._actuators.index(name)])
            else:
                columns.append(balance_slope(model, loads, change, state))
        return Evaluation(model, loads, *state), np.stack(columns, axis=1)

    def hold(self, exactly: bool = True) -> tuple[Floats, Floats]:
        """(inputs, multipliers) that hold the start at rest, or come nearest to it."""
        m, zero, q = self.model.rows, np.zeros(self.model.size), self.begin.q
        here, by_u = self._evaluated(0.0, np.zeros(len(self.names)), (q, zero, zero, np.zeros(m)))
        matrix = np.hstack([by_u, here.flat[:, self.model.size :]])
        found = -least(matrix, here.values)[0]
        u, lam = found[: len(self.names)], found[len(self.names) :]
        left = self._evaluated(0.0, u, (q, zero, zero, lam))[0].values[: self.model.size] / self.model.tree.scale
        size = np.max(np.abs(by_u[: self.model.size] / self.model.tree.scale[:, None]), axis=0) @ (1e-3 + np.abs(u))
        if exactly and np.max(np.abs(left)) > REST * max(float(size), 1e-300):
            raise DescriptionError(
                f"inverse dynamics starts at rest, and the inputs {', '.join(self.names)} cannot hold "
                f"{self.model.robot.name!r} there: take the start from statics."
            )
        return u, lam

    def step(self, at: _Memory, goal: Floats, t: float, u: Floats, lam: Floats) -> tuple[_Memory, Floats, Floats]:
        """The state after a step to time t that brings the wanted coordinates to the goal, inputs and multipliers."""
        model, n, k = self.model, self.model.size, len(self.names)
        scale = model.tree.scale
        _, cv, ca = factors(self.scheme, self.dt)
        d = self.dt * at.v + 0.5 * self.dt**2 * at.a
        d[self.wanted] = goal - at.q[self.wanted]
        before = np.inf
        for _ in range(MOST):
            v1, _, true = ended(self.scheme, self.dt, d, at.v, at.a, at.true)
            q1 = move(model.tree, at.q, d)
            here, by_u = self._evaluated(t, u, (q1, v1, true, lam))
            whole = here.bordered(cv, ca)
            matrix = np.hstack([whole[:, self.free], by_u, whole[:, n:]])
            change = -least(matrix, here.values)[0]
            f = len(self.free)
            d[self.free] += change[:f]
            u, lam = u + change[f : f + k], lam + change[f + k :]
            small = np.max(np.abs(change[:f] * scale[self.free]), initial=0.0)
            pushed = float(np.max(np.abs(change[f : f + k]), initial=0.0))
            if not np.all(np.isfinite(change)):
                break
            # inputs near zero stop changing at round-off, which has no size that is known beforehand
            if small <= CLOSE and (pushed <= CLOSE * np.max(np.abs(u), initial=0.0) or pushed >= 0.5 * before):
                return _Memory(move(model.tree, at.q, d), *ended(self.scheme, self.dt, d, at.v, at.a, at.true)), u, lam
            before = pushed
        raise SolverError(
            f"The inverse dynamics of {model.robot.name!r} found no inputs at t = {t:g} s.",
            advice="The inputs do not move these coordinates, or the motion asks for too much: try a smaller dt.",
        )


@dataclass(frozen=True)
class InverseDynamics:
    """Inputs that make a robot move as wanted, and the motion.

    Attributes:
        t: (nt,) [s].
        q, v, a: (nt, n) the whole motion.
        inputs: (nt,) by input.

    """

    t: Floats
    q: Floats
    v: Floats
    a: Floats
    inputs: dict[str, Floats]

    def signals(self) -> dict[str, Sampled]:
        """The inputs as functions of t, for `simulate` and `FeedForward`."""
        return {name: Sampled(values, float(self.t[1] - self.t[0])) for name, values in self.inputs.items()}


Motion = Mapping[str, Callable[[float], float]]


@public
def inverse_dynamics(
    robot: Robot | Model, motion: Motion, inputs: Sequence[str], *, duration: float, dt: float,
    start: Equilibrium | ArrayLike | None = None, others: Mapping[str, float] | None = None,
    method: Scheme | str = DEFAULT_METHOD,
) -> InverseDynamics:  # fmt: skip
    """Inputs that make some coordinates of a robot move as wanted; the others, and loops, follow.

    Args:
        robot: the robot, or its model; it may have loops, and float.
        motion: functions of t by label of a coordinate, such as {"crank.angle": lambda t: ...}. They begin at rest.
        inputs: names of as many inputs, to be found.
        duration: how long [s].
        dt: time step [s].
        start: an Equilibrium or coordinates q (n,); the rest shape if not given. It is at rest.
        others: inputs that are known, numbers by name.
        method: the integrator.

    Returns:
        InverseDynamics: with the same dt and method `simulate` moves the robot so, to the tolerance of its solver.

    """
    solver = _Inverse(robot, list(motion), inputs, others or {}, dt, start, method)
    u, lam = solver.hold()
    at, rows, told = solver.begin, [solver.begin], [u]
    steps = round(as_positive(duration, "duration", "s") / solver.dt)
    for k in range(1, steps + 1):
        goal = np.array([as_number(law(k * solver.dt), f"motion: {name!r}") for name, law in motion.items()])
        at, u, lam = solver.step(at, goal, k * solver.dt, u, lam)
        rows.append(at)
        told.append(u)
    table, t = np.array(told), solver.dt * np.arange(steps + 1, dtype=np.float64)
    q, v, a = (np.array([getattr(row, name) for row in rows]) for name in ("q", "v", "true"))
    return InverseDynamics(t, q, v, a, {name: table[:, k] for k, name in enumerate(solver.names)})


class ComputedTorque:
    """Inputs that cancel the dynamics of the model and make errors die out as y'' + kd y' + kp y = 0.

    Every update solves the next step of the model for its inputs, from the state that is read: with the true model errors
    stay at the tolerance of the solver, loops and floating robots included. It reads the state (q, v), once every step.

    Args:
        robot: the model of the robot that the controller has.
        motion: functions of t by label of a coordinate; they begin at rest.
        inputs: names of as many inputs.
        dt: time step of the stepper, and time between two updates [s].
        kp: [1/s^2] and kd [1/s], numbers or (m,).
        start: where it is at rest: an Equilibrium or coordinates q (n,).
        others: inputs that are known, numbers by name.
        method: the integrator of the stepper.
        state: where (q, v) is in the reading.
        limits: (lowest, highest) by input.

    """

    def __init__(
        self, robot: Robot | Model, motion: Motion, inputs: Sequence[str], *, dt: float, kp: ArrayLike, kd: ArrayLike,
        start: Equilibrium | ArrayLike | None = None, others: Mapping[str, float] | None = None,
        method: Scheme | str = DEFAULT_METHOD, state: Pick = None, limits: Limits = None,
    ) -> None:  # fmt: skip
        self._solver = _Inverse(robot, list(motion), inputs, others or {}, dt, start, method)
        self.motion, self.state = dict(motion), as_picker(state)
        self.kp, self.kd = (np.asarray(gain, dtype=np.float64) for gain in (kp, kd))
        if np.any(self.kp < 0.0) or np.any(self.kd < 0.0):
            raise refuse("kp and kd", "numbers that are not negative", (kp, kd))
        every = list(self._solver.model.robot.inputs)
        low, high = input_limits(self._solver.model.robot, limits)
        where = [every.index(name) for name in self._solver.names]
        self.low, self.high = low[where], high[where]
        self._hold = self._solver.hold(exactly=False)  # the model need not be the robot
        self.reset()

    @property
    def hold(self) -> dict[str, float]:
        """Inputs by name that hold the model at the start: those of the stepper before the first update."""
        return self._solver.inputs(self._hold[0])

    def reset(self) -> None:
        """Take the robot to be at the start."""
        self._last: _Memory | None = None
        self._guess = self._hold
        y = self._goal(0.0)
        self._wanted = _Memory(y, 0.0 * y, 0.0 * y, 0.0 * y)

    def _goal(self, t: float) -> Floats:
        return np.array([as_number(law(t), f"motion: {name!r}") for name, law in self.motion.items()])

    def _remembered(self, q: Floats, v: Floats) -> _Memory:
        """The state with the accelerations that the integrator must have had, as its rates tell."""
        scheme, dt, last = self._solver.scheme, self._solver.dt, self._last
        if last is None:
            return _Memory(q, v, 0.0 * q, 0.0 * q)
        am, af, gamma = scheme.am, scheme.af, scheme.gamma
        a = ((v - last.v) / dt - (1.0 - gamma) * last.a) / gamma
        return _Memory(q, v, a, ((1.0 - am) * a + am * last.a - af * last.true) / (1.0 - af))

    def update(self, reading: Floats, t: float) -> dict[str, float]:
        """Inputs of the next step."""
        solver, n = self._solver, self._solver.model.size
        state = as_vector(self.state(reading), 2 * n, "the state (q, v) in the reading")
        at = self._last = self._remembered(state[:n], state[n:])
        scheme, dt, wanted, which = solver.scheme, solver.dt, self._wanted, solver.wanted
        goal = self._goal(t + dt)
        error = _Memory(*(x[which] - y for x, y in zip(_parts(at), _parts(wanted), strict=True)))
        self._wanted = _Memory(goal, *ended(scheme, dt, goal - wanted.q, wanted.v, wanted.a, wanted.true))
        target = goal + error.q + _decay(scheme, dt, error, self.kp, self.kd)
        _, u, lam = solver.step(at, target, t + dt, *self._guess)
        self._guess = u, lam
        return solver.others | dict(zip(solver.names, np.clip(u, self.low, self.high).tolist(), strict=True))


def _parts(memory: _Memory) -> tuple[Floats, Floats, Floats, Floats]:
    return memory.q, memory.v, memory.a, memory.true


def _decay(scheme: Coefficients, dt: float, error: _Memory, kp: Floats, kd: Floats) -> Floats:
    """Increment of the error in a step at whose end e'' + kd e' + kp e = 0."""
    _, cv, ca = factors(scheme, dt)
    rate, _, acceleration = ended(scheme, dt, 0.0 * error.q, error.v, error.a, error.true)
    return np.asarray(-(acceleration + kd * rate + kp * error.q) / (ca + kd * cv + kp))
