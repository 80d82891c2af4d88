"""Exact gradients of a cost with respect to inputs over time, the start, and the design, by the discrete adjoint.

The cost of a gradient is about that of a simulation, whatever the number of inputs: one backward sweep (sweep.py) gives
multipliers for every step. They weigh the balance of each step, so that the derivative with respect to anything the balance
depends on is a sum over steps: for loads and inputs in closed form, for a design parameter by differences of the weighed
balance (two evaluations of it, the motion kept).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from anguilla.assemble.reactions import evaluate
from anguilla.assemble.system import System
from anguilla.assemble.user import move
from anguilla.describe import Frame, Robot
from anguilla.errors import DescriptionError, SolverError, as_array
from anguilla.loads.table import DT, INPUT
from anguilla.mechanics.tree import Floats
from anguilla.results import Equilibrium, Trajectory
from anguilla.solve.schemes import Scheme, as_scheme
from anguilla.solve.sweep import linear_part, sweep, weigh

__all__ = ["Cost", "Gradient", "Reach", "Rest", "Sampled", "StateCost", "gradient"]

STEP = 1e-4  # relative, of differences in design parameters (fourth order)
Design = Callable[[Floats], Robot]


class Cost:
    """A scalar cost of a motion or of an equilibrium; costs can be added."""

    def __call__(self, result: Trajectory | Equilibrium) -> float:
        """The value."""
        return self.terms(result)[0]

    def terms(self, result: Trajectory | Equilibrium) -> tuple[float, Floats, Floats]:
        """Value, and its derivatives (nt, n) with respect to coordinates and rates (balls: small rotations, child's axes)."""
        raise NotImplementedError

    def __add__(self, other: Cost) -> Cost:
        return _Sum((self, other))


@dataclass(frozen=True)
class _Sum(Cost):
    parts: tuple[Cost, ...]

    def terms(self, result: Trajectory | Equilibrium) -> tuple[float, Floats, Floats]:
        values, by_q, by_v = zip(*(part.terms(result) for part in self.parts), strict=True)
        return sum(values), np.sum(by_q, axis=0), np.sum(by_v, axis=0)


def _weights(weight: ArrayLike, count: int) -> Floats:
    w = as_array(weight, "weight", "a number, or one for each instant")
    if w.ndim == 0:
        return np.full(count, float(w))
    if w.shape != (count,):
        raise DescriptionError(f"weight must be a number or have the shape ({count},); got {w.shape}.")
    return w


@dataclass(frozen=True)
class Reach(Cost):
    """Sum over instants of weight/2 |x - goal|^2, x the position of a frame [m].

    Attributes:
        frame: the frame.
        goal: (3,) or (nt, 3) [m].
        weight: a number, one for each instant (nt,), or "last" for the last instant alone.

    """

    frame: Frame
    goal: ArrayLike
    weight: ArrayLike | str = 1.0

    def terms(self, result: Trajectory | Equilibrium) -> tuple[float, Floats, Floats]:
        """Value and derivatives."""
        q = result._q
        place = np.atleast_2d(result.position(self.frame))
        if isinstance(self.weight, str):
            w = np.zeros(len(q))
            w[-1] = 1.0
        else:
            w = _weights(self.weight, len(q))
        miss = place - np.asarray(self.goal, dtype=np.float64)
        pose = np.asarray(result.pose(self.frame)).reshape(-1, 4, 4)
        jacobian = np.asarray(result.jacobian(self.frame)).reshape(len(q), 6, -1)
        pulled = np.einsum("t,tij,ti->tj", w, pose[:, :3, :3], miss)  # in the axes of the frame
        by_q = np.einsum("tj,tjn->tn", pulled, jacobian[:, 3:])
        return float(0.5 * np.sum(w * np.sum(miss**2, axis=1))), by_q, np.zeros_like(q)


@dataclass(frozen=True)
class Rest(Cost):
    """Sum over instants of weight/2 |v|^2: rates of the coordinates.

    Attributes:
        weight: a number, one for each instant, or "last".

    """

    weight: ArrayLike | str = 1.0

    def terms(self, result: Trajectory | Equilibrium) -> tuple[float, Floats, Floats]:
        """Value and derivatives."""
        v = result._v
        w = np.zeros(len(v))
        w[-1] = 1.0
        if not isinstance(self.weight, str):
            w = _weights(self.weight, len(v))
        return float(0.5 * np.sum(w[:, None] * v**2)), np.zeros_like(v), w[:, None] * v


@dataclass(frozen=True)
class StateCost(Cost):
    """Any cost of the states: function of (t, q, v) returning (value, dvalue/dq (nt, n), dvalue/dv (nt, n))."""

    function: Callable[[Floats, Floats, Floats], tuple[float, Floats, Floats]]

    def terms(self, result: Trajectory | Equilibrium) -> tuple[float, Floats, Floats]:
        """Value and derivatives."""
        value, by_q, by_v = self.function(result._t, result._q, result._v)
        return float(value), np.asarray(by_q, dtype=np.float64), np.asarray(by_v, dtype=np.float64)


@dataclass(frozen=True)
class Sampled:
    """An input given by its values at t = 0, dt, 2 dt, ...; straight lines in between, the last value after the end.

    Attributes:
        values: (m,).
        dt: [s].

    """

    values: ArrayLike
    dt: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.atleast_1d(as_array(self.values, "Sampled.values", "finite numbers")))

    def __call__(self, t: float) -> float:
        """Value at time t [s]."""
        return float(self.at_times(np.array([t]))[0])

    def at_times(self, times: Floats) -> Floats:
        """Values at many times [s], at once: solvers ask for these."""
        values = np.asarray(self.values)
        return np.interp(times / self.dt, np.arange(len(values)), values)


@dataclass(frozen=True)
class Gradient:
    """Value of a cost and its derivatives.

    Attributes:
        value: the cost.
        inputs: by actuator, (nt,): derivative with respect to the input at each instant of the result.
        q: (n,) with respect to the starting coordinates (balls: small rotations in the axes of the child).
        v: (n,) with respect to the starting rates.
        design: (k,) with respect to the design parameters; empty if none were given.
        multipliers: (nt, n + m) of the sweep.
        start_inputs: by actuator, (1,): with respect to the inputs of the equilibrium that the motion started from.

    """

    value: float
    inputs: dict[str, Floats]
    q: Floats
    v: Floats
    design: Floats = field(default_factory=lambda: np.zeros(0))
    multipliers: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    start_inputs: dict[str, Floats] = field(default_factory=dict)


def gradient(
    result: Trajectory | Equilibrium, cost: Cost, *, method: Scheme | str | None = None,
    design: tuple[Design, ArrayLike] | None = None, start: Equilibrium | None = None,
) -> Gradient:  # fmt: skip
    """Exact gradient of a cost of a motion or of an equilibrium.

    Args:
        result: from `simulate` (equal steps, every one stored) or `statics`. Its own tolerance limits the accuracy.
        cost: the cost.
        method: the scheme the motion was computed with; the default of `simulate` if not given.
        design: (make, p): a function of parameters (k,) returning the robot, and the parameters of this result.
        start: the equilibrium of the same robot that the motion started from; its dependence on the design then counts.

    Returns:
        A Gradient.

    """
    if not isinstance(cost, Cost):
        raise DescriptionError("cost must be a Cost such as Reach(arm.tip, goal) + Rest(weight).")
    if isinstance(result, Equilibrium):
        return _of_equilibrium(result, cost, design)
    if not isinstance(result, Trajectory):
        raise DescriptionError("result must come from simulate or statics.")
    return _of_motion(result, cost, method, design, start)


def _by_input(system: System, rows: Floats) -> dict[str, Floats]:
    at = int(system._loads.at[INPUT])
    return {name: rows[:, at + k].copy() for k, name in enumerate(system.robot.actuators)}


def _static_multipliers(result: Equilibrium, by_q: Floats) -> tuple[Floats, Floats]:
    """Multipliers (n + m,) of an equilibrium for a derivative by_q (n,), and the row gradient."""
    system = result.system
    n, zero = system.size, np.zeros(system.size)
    loads = system.loads(result.t, result.inputs).loads
    loads.row[DT] = 0.0
    lam = np.ascontiguousarray(result._lam[0])
    evaluate(system, loads, result.q, zero, zero, lam)
    matrix = system._bordered(loads, lam, 0.0, 0.0).T.copy()
    right = np.concatenate([by_q, np.zeros(system.rows)])
    for k in loads.driven:
        matrix[k], right[k] = 0.0, 0.0
        matrix[k, k] = 1.0
    scale = np.concatenate([1.0 / system.tree.scale, np.ones(system.rows)])
    mu = scale * np.linalg.solve(scale[:, None] * matrix * scale, scale * right)
    row = np.zeros(len(loads.row))
    linear_part(system.tree, system.workspace, loads, mu[:n].copy(), mu[n:].copy(), result.q, zero, row)
    return mu, row


def _of_equilibrium(result: Equilibrium, cost: Cost, design: tuple[Design, ArrayLike] | None) -> Gradient:
    value, by_q, _ = cost.terms(result)
    mu, row = _static_multipliers(result, by_q[0])
    slopes = np.zeros(0)
    if design is not None:
        slopes = _design(design, lambda robot: -_weighed_statics(robot, result, mu), cost, result)
    return Gradient(value, _by_input(result.system, row[None]), by_q[0], 0.0 * by_q[0], slopes, mu[None])


def _weighed_statics(robot: Robot, result: Equilibrium, mu: Floats) -> float:
    system = _same(System(robot), result.system)
    loads = system.loads(result.t, result.inputs).loads
    zero = np.zeros(system.size)
    return float(mu @ evaluate(system, loads, result.q, zero, zero, np.ascontiguousarray(result._lam[0])))


def _same(system: System, other: System) -> System:
    """A system of a changed design, with the same rows left out as in the other one."""
    if system.size != other.size:
        raise DescriptionError("design: the number of coordinates must not depend on the parameters.")
    if other.left_out is not None:
        system.drop_rows(other.left_out[1])
    return system


def _design(
    design: tuple[Design, ArrayLike], weighed: Callable[[Robot], float], cost: Cost, result: Trajectory | Equilibrium
) -> Floats:
    """Derivative of a function of the robot with respect to each parameter, by fourth-order differences."""
    make, given = design
    p = np.atleast_1d(as_array(given, "design parameters", "finite numbers"))
    slopes = np.zeros(len(p))
    for k in range(len(p)):
        h = STEP * max(abs(p[k]), 1e-8)
        values = []
        for step in (-2, -1, 1, 2):
            changed = p.copy()
            changed[k] += step * h
            robot = make(changed)
            values.append(weighed(robot) + _direct(cost, robot, result))
        slopes[k] = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * h)
    return slopes


def _direct(cost: Cost, robot: Robot, result: Trajectory | Equilibrium) -> float:
    """The cost of the same states on a changed robot."""
    states = result._t, result._q, result._v, result._accelerations, result._lam
    twin = type(result)(robot, System(robot), result.status, *states, result.inputs)
    return _on(cost, robot).terms(twin)[0]


def _on(cost: Cost, robot: Robot) -> Cost:
    """A cost with its frames taken on another robot of the same parts."""
    if isinstance(cost, _Sum):
        return _Sum(tuple(_on(part, robot) for part in cost.parts))
    if isinstance(cost, Reach):
        frame = cost.frame
        return Reach(Frame(robot, frame.part_index, frame.place, frame.offset), cost.goal, cost.weight)
    return cost


def _of_motion(
    run: Trajectory, cost: Cost, method: Scheme | str | None, design: tuple[Design, ArrayLike] | None,
    start: Equilibrium | None,
) -> Gradient:  # fmt: skip
    from anguilla.solve.dynamics import DEFAULT_METHOD

    system = run.system
    scheme = as_scheme(DEFAULT_METHOD if method is None else method).coefficients
    steps, n, m = len(run.t) - 1, system.size, system.rows
    dt = float(run.t[1] - run.t[0]) if steps else 0.0
    _refuse_unfit(run, scheme, steps, dt)
    value, by_q, by_v = cost.terms(run)
    table = system.loads(run.t, run.inputs)
    loads = table.loads
    states = tuple(np.ascontiguousarray(x) for x in (run.q, run.v, run.a, run._lam))
    mu, rows = np.zeros((steps + 1, n + m)), np.zeros((steps + 1, len(loads.row)))
    driven, hats = np.zeros((steps + 1, len(loads.driven), 3)), np.zeros((4, n))
    scratch = np.zeros((4, n + m, n + m)), np.zeros((8, n + m)), np.zeros(n + m, np.int64)
    good = sweep(
        system.tree, system.workspace, loads, table.column, np.ascontiguousarray(table.table[1:]), scheme, dt, *states,
        by_q, by_v, *scratch, mu, rows, driven, hats,
    )  # fmt: skip
    if not good:
        raise SolverError("The adjoint has a singular matrix.", advice="Try a smaller dt.")
    q_hat, v_hat = hats[0].copy(), hats[1].copy()
    begin = _begin(run, table.at(0), dt, hats[2] + hats[3])
    mu[0], rows[0] = begin.mu, begin.row
    q_hat += begin.q
    v_hat += begin.v
    slopes = np.zeros(0)
    at_rest = None if start is None else _static_multipliers(start, q_hat)
    if design is not None:

        def weighed(robot: Robot) -> float:
            other = _same(System(robot), system)
            sampled = other.loads(run.t, run.inputs)
            place = other.tree, other.workspace, sampled.loads, sampled.column, sampled.table
            total = weigh(*place, dt, *states, mu, 1, np.zeros(n + m)) + begin.weighed(other, sampled.at(0))
            return -float(total) - (0.0 if at_rest is None else _weighed_statics(robot, _checked(start), at_rest[0]))

        slopes = _design(design, weighed, cost, run)
    held = {} if at_rest is None or start is None else _by_input(start.system, at_rest[1][None])
    return Gradient(value, _by_input(system, rows), q_hat, v_hat, slopes, mu, held)


def _checked(start: Equilibrium | None) -> Equilibrium:
    assert start is not None
    return start


def _refuse_unfit(run: Trajectory, scheme: Sequence[float], steps: int, dt: float) -> None:
    counters = run.status.counters
    if steps < 1 or counters.get("steps") != steps or counters.get("substeps"):
        raise DescriptionError("gradient needs a motion with equal steps, all stored: every=1, no error=, no step cut.")
    if counters.get("settled"):
        raise DescriptionError("gradient of a robot with constraints needs simulate(..., smooth_start=False).")
    if scheme[4] < 1.0:
        raise DescriptionError("gradient serves Newmark, HHT and GeneralisedAlpha, not Midpoint.")
    loads = run.system._loads
    if np.any(loads.frames.data[:, 6:12]) or np.any(loads.cables.friction) or run.system.user:
        raise DescriptionError("gradient does not serve integral gains of thrusters, friction, or user-written loads.")


@dataclass(frozen=True)
class _Begin:
    """Share of the starting acceleration, which balances the starting state."""

    mu: Floats
    row: Floats
    q: Floats
    v: Floats
    run: Trajectory

    def weighed(self, system: System, loads) -> float:
        """mu . R + nu . J A of a changed robot, in the starting state."""
        n = system.size
        q, v, a, lam = (np.ascontiguousarray(x[0]) for x in (self.run.q, self.run.v, self.run.a, self.run._lam))
        total = self.mu[:n] @ evaluate(system, loads, q, v, a, lam)[:n]
        if system.rows:
            total += self.mu[n:] @ (system._bordered(loads, lam, 0.0, 0.0)[n:, :n] @ a)
        return float(total)


def _begin(run: Trajectory, loads, dt: float, total: Floats) -> _Begin:
    """M A + J^T lambda = -R(q, v, 0), J A = -(...): multipliers of it, for the derivative `total` with respect to A."""
    system = run.system
    n, m = system.size, system.rows
    q, v, a, lam = (np.ascontiguousarray(x[0]) for x in (run.q, run.v, run.a, run._lam))
    loads.row[DT] = dt
    evaluate(system, loads, q, v, a, lam)
    stiff, damp, mass = (system._bordered(loads, lam, *ab) for ab in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)))
    matrix = stiff.copy()
    matrix[:n, :n] = mass[:n, :n] - stiff[:n, :n]
    right = np.concatenate([total, np.zeros(m)])
    matrix = matrix.T.copy()
    for k in loads.driven:
        matrix[k], right[k] = 0.0, 0.0
        matrix[k, k] = 1.0
    scale = np.concatenate([1.0 / system.tree.scale, np.ones(m)])
    mu = scale * np.linalg.solve(scale[:, None] * matrix * scale, scale * right)
    by_q, by_v = -(stiff[:n, :n].T @ mu[:n]), -((damp - stiff)[:n, :n].T @ mu[:n])
    if m:  # J(q) A changes with q
        h = 1e-5
        for k in range(n):
            pushed = []
            for sign in (1.0, -1.0):
                moved = move(system.tree, q, sign * h / system.tree.scale[k] * np.eye(n)[k])
                evaluate(system, loads, moved, v, a, lam)
                pushed.append(mu[n:] @ (system._bordered(loads, lam, 0.0, 0.0)[n:, :n] @ a))
            by_q[k] -= (pushed[0] - pushed[1]) / (2.0 * h) * system.tree.scale[k]
    row = np.zeros(len(loads.row))
    linear_part(system.tree, system.workspace, loads, mu[:n].copy(), 0.0 * mu[n:], q, np.zeros(n), row)
    return _Begin(mu, row, by_q, by_v, run)
