"""Exact gradients of a cost with respect to inputs over time, the start, and the design, by the discrete adjoint.

The cost of a gradient is about that of a simulation, whatever the number of inputs: one backward sweep (sweep.py) gives
multipliers for every step. They weigh the balance of each step, so that the derivative with respect to anything the balance
depends on is a sum over steps: for loads and inputs in closed form, for a design parameter by differences of the weighed
balance (the motion kept).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from anguilla._doors import public
from anguilla._words import numbered
from anguilla.describe import Robot
from anguilla.describe.volumes import solvers_of
from anguilla.errors import DescriptionError, SolverError
from anguilla.interact.kernels.table import DT, INPUT
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.evaluate import residual
from anguilla.model.evaluation import Evaluation, at_rest
from anguilla.model.model import LoadTable, Model
from anguilla.model.slopes import InputSlope, WhyNot, balance_slope, input_slopes, named
from anguilla.results.reactions import grasps
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.solve.gradients.costs import Cost, Pulls, pulled
from anguilla.solve.gradients.designs import Design, as_design, design_slopes, twins, with_same_rows
from anguilla.solve.gradients.edges import actuators, away_from_edges
from anguilla.solve.gradients.instants import take_instant, weigh
from anguilla.solve.gradients.large import start_back, sweep_large
from anguilla.solve.gradients.record import Tape, door, record
from anguilla.solve.gradients.sweep import CostSlopes, SweepRoom, Swept, Trail, linear_part, sweep_back
from anguilla.solve.newton.dense import solve_bordered
from anguilla.solve.steps.origin import Origin, StartClosing, closing, driven_values, origin
from anguilla.solve.steps.schemes import Scheme

__all__ = ["Gradient", "gradient"]


@dataclass(frozen=True)
class Gradient:
    """Value of a cost and its derivatives.

    Attributes:
        value: the cost.
        inputs: by input, (nt,): derivative with respect to the input at each instant of the result. One that prescribes a
            motion is in `motions` instead.
        q: (n,) with respect to the starting coordinates (balls: small rotations in the axes of the child).
        v: (n,) with respect to the starting rates.
        design: (k,) with respect to the design parameters; empty if none were given.
        multipliers: (nt, n + m) of the sweep.
        start_inputs: by input, (1,): with respect to the inputs of the equilibrium that the motion started from.
        motions: by input that prescribes a motion, (nt, 3): with respect to its value, rate and acceleration at each instant.

    """

    value: float
    inputs: Mapping[str, Floats]
    q: Floats
    v: Floats
    design: Floats = field(default_factory=lambda: np.zeros(0))
    multipliers: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    start_inputs: Mapping[str, Floats] = field(default_factory=dict)
    motions: Mapping[str, Floats] = field(default_factory=dict)

    def __repr__(self) -> str:
        given = [f"{numbered(len(x), 'instant')} of {name!r}" for name, x in self.inputs.items()]
        given += [f"{len(self.q)} coordinates of the start"] if len(self.q) else []
        given += [f"{len(self.design)} parameters"] if len(self.design) else []
        return f"<gradient of a cost of {self.value:.6g}: by {', '.join(given) or 'nothing'}>"


@public
def gradient(
    result: Trajectory | Equilibrium, cost: Cost, *, method: Scheme | str | None = None,
    design: Design | None = None, start: Equilibrium | None = None,
) -> Gradient:  # fmt: skip
    """Exact gradient of a cost of a motion or of an equilibrium.

    Args:
        result: from `simulate` (equal steps, every one stored; with loops, smooth_start=False) or `statics`. Its own
            tolerance limits the accuracy.
        cost: the cost.
        method: the scheme the motion was computed with; the default of `simulate` if not given.
        design: paths of numbers in the description, such as ["arm.material.young", "arm.length"]; or (make, p): a function
            of parameters (k,) returning the robot, and the parameters of this result.
        start: the equilibrium of the same robot that the motion started from; its dependence on the design then counts.

    Returns:
        A Gradient.

    """
    if not isinstance(cost, Cost):
        raise DescriptionError("cost must be a Cost such as Reach(arm.tip, goal) + Rest(weight).")
    if isinstance(result, Equilibrium | Trajectory) and (others := solvers_of(result.robot)) is not None:
        found: Gradient = others.gradient(result, cost, method=method, design=design, start=start)
        return found
    if isinstance(result, Equilibrium):
        with result.system.apart():  # where the equilibrium was found
            return _of_equilibrium(result, cost, design)
    if not isinstance(result, Trajectory):
        raise DescriptionError("result must come from simulate or statics.")
    return _of_motion(result, cost, method, design, start)


def by_input(
    result: Trajectory | Equilibrium, rows: Floats, ports: Mapping[str, Floats], reasons: Mapping[str, str]
) -> WhyNot:
    """Derivatives by the inputs (nt,) of a result, from those (nt, row) by its loads; none while a tendon is slack."""
    system, at = result.system, int(result.system.blank.at[INPUT])
    found = {name: rows[:, at + k].copy() for k, name in enumerate(system.robot.actuators)}
    for name, instants in system.slack(result.t, result.inputs).items():
        found[name][instants] = 0.0
    return WhyNot(found | dict(ports), reasons)


def _add_direct(found: WhyNot, motions: dict[str, Floats], cost: Cost, result: Trajectory | Equilibrium) -> None:
    """Add what the cost depends on inputs itself."""
    for name, slope in cost.by_inputs(result).items():
        if name in motions:
            motions[name][:, 0] += slope
        else:
            found[name] = found[name] + slope


def static_ports(result: Equilibrium, mu: Floats, row: Floats) -> tuple[dict[str, Floats], dict[str, str]]:
    """Derivatives (1,) by the inputs that `Robot.input` made, and why others have none."""
    system = result.system
    if not system.robot.ports:
        return {}, {}
    zero, slopes = np.zeros(system.size), input_slopes(system, np.array([result.t]), result.inputs)
    reasons, found = named(slopes), {}
    for slope in slopes:
        if slope.name not in reasons:
            found[slope.name] = np.array([slope.rows[0] @ row])
            if slope.asked:
                loads = system.loads(result.t, result.inputs).loads
                state = result.q, zero, zero, np.ascontiguousarray(result.stored.lam[0])
                found[slope.name] -= mu @ balance_slope(system, loads, slope.only_asked(0), state)
    return found, reasons


def _ports(found: Tape, back: _Back, rows: Floats) -> tuple[dict[str, Floats], dict[str, Floats], dict[str, str]]:
    """Derivatives by the inputs that `Robot.input` made: (nt,) of forces, (nt, 3) of motions; why others have none."""
    system, run = found.system, found.run
    slopes = input_slopes(system, run.t, run.inputs)
    reasons, forces, motions = named(slopes), {}, {}
    for slope in slopes:
        if slope.reason:
            continue
        value = np.einsum("tr,tr->t", slope.rows, rows)
        if slope.asked:
            value -= _asked(found, back, slope)
        value[1] += back.eased.get(slope.name, 0.0)
        if slope.imposes:
            motions[slope.name] = np.einsum("tb,tbo->to", slope.moves, back.driven)
            motions[slope.name][:, 0] += value
        else:
            forces[slope.name] = value
    return forces, motions, reasons


def _asked(found: Tape, back: _Back, slope: InputSlope) -> Floats:
    """mu . dR (nt,) of what loads that are no plain forces ask for."""
    out, place = np.zeros(found.steps + 1), found.place()
    for step in range(len(out)):
        take_instant(place[2], place[3], place[4], found.dt, step, found.Y[step])
        state = tuple(x[step] for x in found.states)
        out[step] = back.mu[step] @ balance_slope(found.system, place[2], slope.only_asked(step), state)
    return out


def _static_multipliers(result: Equilibrium, by_q: Floats, table: LoadTable | None = None) -> tuple[Floats, Floats]:
    """Multipliers (n + m,) of an equilibrium for a derivative by_q (n,), and the row gradient; table: its loads, if known."""
    system = result.system
    refuse_rubbing(system, "gradient")
    n, zero = system.size, np.zeros(system.size)
    loads = (table or system.loads(result.t, result.inputs)).loads
    loads.row[DT] = 0.0
    lam = np.ascontiguousarray(result.stored.lam[0])
    mu = solve_at_rest(at_rest(system, loads, result.q, lam), np.concatenate([by_q, np.zeros(system.rows)]))
    row = np.zeros(len(loads.row))
    linear_part(system.tree, system.workspace, loads, mu[:n].copy(), mu[n:].copy(), result.q, zero, row)
    return mu, row


def refuse_rubbing(model: Model, what: str) -> None:
    """Raise an error if tendons rub: their tensions then change with the shape; or if contact holds."""
    holds, rubs = model.once(_frictions)
    if holds:
        raise DescriptionError(
            f"{what} does not support equilibria that friction holds: they are one of many, which the way there decides. "
            "Simulate the way, ag.simulate(...) with a slow input and damping, and take its "
            f"{what}; or give the contact a slip, such as slip=1e-3 [m/s], and there is no friction at rest."
        )
    if rubs:
        raise DescriptionError(
            f"{what} does not support equilibria with friction of tendons, which changes with the shape. Set friction=0."
        )


def _frictions(model: Model) -> tuple[bool, bool]:
    """Whether friction of contact holds, and whether tendons rub."""
    return grasps(model.blank), bool(np.any(model.blank.cables.friction))


def refuse_path(start: Equilibrium) -> None:
    """Raise an error if a motion started from an equilibrium that friction holds, which shall change with the design."""
    refuse_rubbing(start.system, "sensitivities")


def solve_at_rest(here: Evaluation, right: Floats, transposed: bool = True) -> Floats:
    """Solve for right (n + m,) with the bordered tangent of a state at rest, transposed or not; prescribed ones stay zero."""
    if here.model.linear == DENSE:
        return solve_bordered(here.model, here.flat.T if transposed else here.flat, right)
    right = right.copy()
    right[here.model.blank.driven] = 0.0
    try:
        found = here.operator().solve(right, transposed)
    except np.linalg.LinAlgError:
        found = np.full_like(right, np.nan)
    if not np.isfinite(found).all():
        raise SolverError(
            "The equilibrium has a singular stiffness.", advice="Gradients need an equilibrium that is held in place."
        )
    return found


def _of_equilibrium(result: Equilibrium, cost: Cost, design: Design | None) -> Gradient:
    (value, by_q, _), pulls = cost.whole_terms(result)
    table = result.system.loads(result.t, result.inputs)
    mu, row = _static_multipliers(result, by_q[0], table)
    slopes = np.zeros(0) if design is None else _by_design(result, cost, pulls, design, mu, table)
    inputs = by_input(result, row[None], *static_ports(result, mu, row))
    _add_direct(inputs, {}, cost, result)
    return Gradient(value, inputs, by_q[0], 0.0 * by_q[0], slopes, mu[None])


def _by_design(
    result: Equilibrium, cost: Cost, pulls: Pulls | None, design: Design, mu: Floats, table: LoadTable
) -> Floats:
    """Derivatives (k,) of a cost of an equilibrium by a design: of its balance, weighed, and of the cost in its state."""
    found = twins(result.system, design, whole=not cost.of_places)
    direct = [moved or not cost.of_places for moved in found.placed]
    table = away_from_edges(table, result.q, result.stored.lam[0])

    def weighed(model: Model, direct: bool) -> float:
        value = -float(mu @ static_balance(model, result, table))
        if direct:
            value += direct_cost(cost, model.robot, model, result) if pulls is None else pulled(pulls, model, result.q)
        return value

    return np.array([found.slope(k, partial(weighed, direct=also)) for k, also in enumerate(direct)])


def static_balance(system: Model, result: Equilibrium, table: LoadTable | None = None) -> Floats:
    """(R, phi) (n + m,) of an equilibrium in a robot of another design; table: its loads in its own robot, if known.

    Leaves the motion of all nodes in the workspace.
    """
    desk = system.desk()
    loads = None if table is None else system.loads_like(table)
    if loads is None:
        loads = system.loads(result.t, result.inputs).loads
        if table is not None:
            actuators(loads)[:] = actuators(table.loads)
    zero, out = np.zeros(system.size), np.zeros(system.size + system.rows)
    kernel = desk.user.residual if desk.user else residual
    kernel(system.tree, desk.workspace, loads, result.q, zero, zero, np.ascontiguousarray(result.stored.lam[0]), out)
    return out


def direct_cost(cost: Cost, robot: Robot, system: Model, result: Trajectory | Equilibrium) -> float:
    """The cost of the same states on a changed robot."""
    t, q, v, lam = result.stored
    return cost.on(robot)(type(result)(robot, system, result.status, t, q, v, None, lam, result.inputs))


@dataclass(frozen=True)
class _Back:
    """What a backward sweep found: multipliers of every step and of the start."""

    record: Tape
    mu: Floats
    integrals: Floats
    driven: Floats
    origin: Origin
    begin: Floats  # (n + m,) multipliers of the starting balance
    q: Floats  # (n,) gradient with respect to the start itself, closed and consistent
    v: Floats
    closing: StartClosing
    ease: Floats  # (n,) multipliers of the eased start; zero if it is none
    eased: dict[str, float]  # what it adds to derivatives by inputs of the first step, those that `Robot.input` made

    def weighed(self, system: Model, free: bool) -> float:
        """The balance of the same motion in a robot of another design; free: its start is given, not an equilibrium."""
        record, n = self.record, system.size
        place = record.place(system)
        total = door(system, weigh)(
            *place,
            record.dt,
            *record.states,
            record.Y,
            self.mu,
            self.integrals,
            record.hold,
            np.zeros(n + system.rows),
        )
        record.forget(system)
        there = origin(system, record.run.inputs, record.dt, record.states)
        total += self.begin @ there.balance(there.q, there.v)
        if record.ease is not None:
            total -= self.ease @ record.ease.on(system, system.loads(record.run.t, record.run.inputs))
        if len(self.origin.free) < n:
            table = system.loads(record.run.t, record.run.inputs)
            total -= sum(float(np.sum(self.driven[k] * driven_values(table, k))) for k in range(record.steps + 1))
        if system.rows:
            total += (self.closing.rate.T @ self.v) @ there.rates(there.q, there.v)
            if free:
                q, _ = _through_rates(self.origin, self.closing, self.q, self.v)
                if record.was_open:
                    total -= q @ record.closed_again(system)
                else:
                    total += (self.closing.place.T @ q) @ there.values(there.q, there.v)[n:]
        return float(total)


def _through_rates(at: Origin, close: StartClosing, q: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Gradients (q, v) of the start through the rates that keep the constraints."""
    if not at.system.rows:
        return q, v
    weights = close.rate.T @ v
    if at.moving or np.any(at.v):
        q = q - at.along(at.rates, rates=False)[0].T @ weights
    return q, v - at.gradient(at.q).T @ weights


def _sweep_small(found: Tape, by_q: Floats, by_v: Floats, swept: Swept) -> None:
    """The backward sweep of a small robot, compiled."""
    size, frames = found.system.size + found.system.rows, found.Y.shape[1]
    room = SweepRoom(np.zeros((4, size, size)), np.zeros((12, size)), np.zeros(size, np.int64), np.zeros((frames, 15)))
    slopes = CostSlopes(np.ascontiguousarray(by_q), np.ascontiguousarray(by_v))
    symmetric, states = found.has_symmetric_mass(), Trail(*found.states, found.Y)
    sweep = door(found.system, sweep_back)
    if not sweep(*found.place(), found.scheme, found.dt, states, slopes, symmetric, room, swept, found.hold):
        raise SolverError("The adjoint has a singular matrix.", advice="Try a smaller dt.")


def _start_back(at: Origin, hat: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Multipliers (n + m,) of the starting balance, its slopes (n,) in q and v, and those of accelerations (n,)."""
    system, m = at.system, at.system.rows
    if system.linear == DENSE or m:
        begin = solve_bordered(system, at.matrix().T, np.concatenate([hat, np.zeros(m)]))
        slopes = at.slopes(begin)
        return begin, *slopes, at.tangents()[2].T @ begin if len(at.free) < system.size else hat
    return start_back(at, hat)


def _sweep(found: Tape, by_q: Floats, by_v: Floats) -> tuple[_Back, Floats]:
    """The backward sweep; and the gradient with respect to all loads, (nt, row)."""
    system, steps = found.system, found.steps
    n, m, loads = system.size, system.rows, found.table.loads
    frames = found.Y.shape[1]
    mu, rows = np.zeros((steps + 1, n + m)), np.zeros((steps + 1, len(loads.row)))
    driven, hats = np.zeros((steps + 1, len(loads.driven), 3)), np.zeros((4, n))
    integrals = np.zeros((steps + 2, frames, 6))
    swept = Swept(mu, rows, driven, integrals, hats)
    if system.linear == DENSE:
        _sweep_small(found, by_q, by_v, swept)
    else:
        sweep_large(found, by_q, by_v, swept)
    found.forget(system)
    at = origin(system, found.run.inputs, found.dt, found.states)
    hat, ease, eased = hats[2] + hats[3], np.zeros(n), {}
    if found.ease is not None:
        ease, hat = found.ease.back(hat)
    begin, slope_q, slope_v, heavy = _start_back(at, hat)
    q, v = hats[0] - slope_q, hats[1] - slope_v
    if found.ease is not None:
        by_q, by_v = found.ease.slopes()
        q, v = q + by_q.T @ ease, v + by_v.T @ ease
        slopes = input_slopes(system, found.run.t, found.run.inputs)
        actuators, by_inputs = len(system.robot.actuators), found.ease.by_inputs(slopes).T @ ease
        rows[1, int(loads.at[INPUT]) : int(loads.at[INPUT]) + actuators] += by_inputs[:actuators]
        eased = {slope.name: float(x) for slope, x in zip(slopes, by_inputs[actuators:], strict=True)}
    for b, k in enumerate(loads.driven):  # its start is prescribed
        driven[0, b] = q[k], v[k], hats[2, k] + hats[3, k] - heavy[k]
        q[k], v[k] = 0.0, 0.0
    lengths = np.where(at.elastic, begin[n:], 0.0)  # other constraints feel the input by its second derivative
    linear_part(system.tree, system.workspace, at.loads(), begin[:n].copy(), lengths, at.q, np.zeros(n), rows[0])
    mu[0] = begin
    return _Back(found, mu, integrals, driven, at, begin, q, v, closing(at), ease, eased), rows


def _of_motion(
    run: Trajectory, cost: Cost, method: Scheme | str | None, design: Design | None,
    start: Equilibrium | None,
) -> Gradient:  # fmt: skip
    value, by_q, by_v = cost.terms(run)
    found = record(run, method, "gradient", holding=True)
    back, rows = _sweep(found, by_q, by_v)
    system, at = found.system, back.origin
    q, v = _through_rates(at, back.closing, back.q, back.v)
    rest = None if start is None else (start, *_static_multipliers(start, q))
    slopes = np.zeros(0)
    if design is not None:

        def weighed(robot: Robot) -> float:
            other = with_same_rows(model_of(robot), system)
            total = back.weighed(other, rest is None)
            if rest is not None:
                total += float(rest[1] @ static_balance(with_same_rows(model_of(robot), rest[0].system), rest[0]))
            return direct_cost(cost, robot, other, run) - total

        short = len(found.hold.held) > 0
        slopes = np.array(design_slopes(as_design(design, system.robot)[:2], weighed, short=short))
    held = {} if rest is None else by_input(rest[0], rest[2][None], *static_ports(*rest))
    if system.rows:
        n = system.size
        q = q - at.tangents()[0][n:, :n].T @ (back.closing.place.T @ q)
    forces, motions, reasons = _ports(found, back, rows)
    inputs = by_input(run, rows, forces, reasons)
    _add_direct(inputs, motions, cost, run)
    return Gradient(value, inputs, q, v, slopes, back.mu, held, motions)
