"""Forward sensitivities: how a whole motion changes with a few parameters, one linear solve per step for all of them.

The step of the integrator (stepping.py) is differentiated as it stands, with the exact tangent of the residual. With the
change dq of the state before, w = -(B P dq + dt dv)/(beta dt^2) - (1/(2 beta) - 1) da and x = dv + dt (1 - gamma) da,

    (K + N B) dq1 + (dR/dlambda) dlambda1 = -dR - C (x + dt gamma w) - M ((1 - am)/(1 - af) w + (am da - af dA)/(1 - af)),
    N = (dt gamma C + (1 - am)/(1 - af) M)/(beta dt^2),

bordered by the constraints. B = T(d)^-1 and P = exp(-d) for balls, identities otherwise; dR is the explicit change.
For many parameters and one cost `gradient` is cheaper; for many outputs and few parameters this is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe.volumes import refuse_volumes
from anguilla.errors import DescriptionError, SolverError, as_array
from anguilla.interact.kernels.table import DT, KIND, LENGTH, THRUSTER
from anguilla.lie import dexp3, exp3, log3
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.evaluation import Evaluation, at_rest
from anguilla.model.model import Model
from anguilla.model.slopes import balance_slope, input_slopes
from anguilla.results.reactions import evaluate, relaxes
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.solve.gradients.adjoint import refuse_path, solve_at_rest, static_balance
from anguilla.solve.gradients.bristles import Bristles
from anguilla.solve.gradients.changes import Sensitivities
from anguilla.solve.gradients.designs import Design, Make, Twins, as_design, design_slopes, with_same_rows
from anguilla.solve.gradients.equilibria import check_input, of_equilibrium, slope_of_input
from anguilla.solve.gradients.fading import fading_of, relaxing_rows
from anguilla.solve.gradients.forth import march_forth
from anguilla.solve.gradients.instants import balance_rows, take_instant
from anguilla.solve.gradients.large import start_forth, step_forth
from anguilla.solve.gradients.record import Tape, door, record
from anguilla.solve.gradients.sweep import SweepRoom, Trail
from anguilla.solve.gradients.thruster_errors import pull_errors
from anguilla.solve.newton.dense import solve_bordered
from anguilla.solve.steps.origin import Origin, closing, driven_values, origin
from anguilla.solve.steps.schemes import Scheme

__all__ = ["Sensitivities", "motion_changes", "sensitivities"]

PARTS = ("rows", "errors", "driven", "begin", "q", "v", "ease", "bristles")  # of what is explicit


@dataclass
class _Explicit:
    """Changes, at fixed states, of everything the equations depend on; the last axis is over the parameters."""

    names: list[str]
    rows: Floats  # (N + 1, n + m, k) of (R, phi)
    errors: Floats  # (N + 1, 6 f, k) of the errors of thrusters
    driven: Floats  # (N + 1, driven, 3, k) of prescribed motions
    begin: Floats  # (n + m, k) of the starting balance
    q: Floats  # (n, k) of the start
    v: Floats
    ease: Floats  # (n, k) of what an eased start misses
    bristles: Floats  # (N + 1, b, k) of bristles after each state, with those before it as they are


@public
def sensitivities(
    run: Trajectory | Equilibrium, *, design: Design | None = None,
    inputs: Mapping[str, ArrayLike] | Sequence[str] | None = None,
    state: bool = False, start: Equilibrium | None = None, method: Scheme | str | None = None,
) -> Sensitivities:  # fmt: skip
    """Derivatives of all states of a motion, or of an equilibrium, with respect to a few parameters.

    Args:
        run: from `statics`; or from `simulate`, with equal steps, every one stored; constraints need smooth_start=False. With
            viscoelastic rods, one that did not go on from another motion, without balls and prescribed motions.
        design: paths of numbers in the description, such as ["arm.material.young", "arm.length"]; or (make, p): a function
            of parameters (k,) returning the robot, and the parameters of this motion.
        inputs: by input, shapes (nt,) or (nt, k) over the instants: the parameters are factors of what is added. Of an
            equilibrium names of inputs: these are the parameters. Inputs that prescribe motions are refused.
        state: whether the starting coordinates and rates are parameters too, 2 n of them.
        start: the equilibrium of the same robot that the motion started from; it then changes with the design.
        method: the scheme the motion was computed with; the default of `simulate` if not given.

    Returns:
        Sensitivities, in the order design, inputs, state.

    """
    if isinstance(run, Equilibrium | Trajectory):
        refuse_volumes(run.robot.volumes, run.robot.name)
    if isinstance(run, Equilibrium):
        if state or start is not None or method is not None:
            raise DescriptionError("state, start and method are for motions; the run is an equilibrium.")
        with run.system.apart():
            return of_equilibrium(run, design, inputs)
    if not isinstance(run, Trajectory):
        raise DescriptionError("run must come from simulate or statics.")
    if inputs is not None and not isinstance(inputs, Mapping):
        raise DescriptionError("inputs of a motion must be shapes by input: {'pull': numbers over the instants}.")
    found = record(run, method, "sensitivities", holding=True, fading=True)
    if start is not None:
        refuse_path(start)
    found.forget(found.system)
    at = origin(found.system, run.inputs, found.dt, found.states)
    pieces = []
    made = None if design is None else as_design(design, found.system.robot)
    if made is not None:
        slopes = partial(_made_slopes, made[:2], len(found.hold.held) > 0)
        pieces.append(_of_design(found, at, made[2], slopes, start))
    if inputs:
        pieces.append(_of_inputs(found, inputs))
    if state:
        pieces.append(_of_state(found, at))
    if not pieces:
        raise DescriptionError("sensitivities needs parameters: give design, inputs, or state=True.")
    explicit = _joined(pieces)
    return Sensitivities(run, explicit.names, *_march(found, at, explicit), None if made is None else made[:2])


def _joined(pieces: list[_Explicit]) -> _Explicit:
    """The parameters of all of them, one after the other."""
    whole = [np.concatenate([getattr(piece, name) for piece in pieces], axis=-1) for name in PARTS]
    return _Explicit([name for piece in pieces for name in piece.names], *whole)


def motion_changes(
    run: Trajectory, twins: Twins, inputs: Sequence[Mapping[str, Floats]], begin: Floats
) -> Sensitivities:
    """Derivatives of a motion by parameters of a design, whose twins are known, then by factors of changes of the inputs.

    Args:
        run: the motion.
        twins: of the model of the motion, for the first parameters.
        inputs: of each further parameter, what it adds over the instants (nt,) per unit, by input.
        begin: (n, k) how the start, as it was given, changes with all parameters.

    """
    found = record(run, None, "sensitivities", fading=True)
    at = origin(found.system, run.inputs, found.dt, found.states)
    pieces = []
    if twins.around:
        slopes = lambda parts: [twins.slope(k, parts) for k in range(len(twins.around))]
        pieces.append(_of_design(found, at, list(twins.names), slopes, None))
    for number, change in enumerate(inputs):
        whole = _of_inputs(found, {name: shape for name, shape in change.items() if np.any(shape)})
        one = _empty(found, [f"input[{number}]"])
        for name in PARTS:
            getattr(one, name)[..., 0] = getattr(whole, name).sum(axis=-1)
        pieces.append(one)
    explicit = _joined(pieces)
    place, given = _placed(at), _empty(found, explicit.names)
    given.q[:] = place @ begin
    _rates_follow(at, closing(at).rate, given)
    explicit.q += given.q
    explicit.v += given.v
    return Sensitivities(run, explicit.names, *_march(found, at, explicit), twins)


def _made_slopes(design: tuple[Make, Floats], short: bool, parts: Callable[[Model], Floats]) -> list[Floats]:
    return design_slopes(design, lambda robot: parts(model_of(robot)), short=short)


def _empty(found: Tape, names: list[str]) -> _Explicit:
    n, m, k, nt = found.system.size, found.system.rows, len(names), found.steps + 1
    frames, driven = found.Y.shape[1], len(found.table.loads.driven)
    bent = Bristles.count(found)
    shapes = (nt, n + m, k), (nt, 6 * frames, k), (nt, driven, 3, k), (n + m, k), (n, k), (n, k), (n, k), (nt, bent, k)
    return _Explicit(names, *(np.zeros(shape) for shape in shapes))


def _of_design(
    found: Tape, at: Origin, names: list[str], slopes: Callable[[Callable[[Model], Floats]], list[Floats]],
    start: Equilibrium | None,
) -> _Explicit:  # fmt: skip
    """Explicit changes by differences in each parameter, which `slopes` takes of what it is given of a model."""
    system, n, nt = found.system, found.system.size, found.steps + 1
    out = _empty(found, names)
    close = closing(at)

    def parts(model: Model) -> Floats:
        other = model if model.rows == system.rows else with_same_rows(model, system)
        place = found.place(other)
        rows, errors = np.zeros((nt, n + system.rows)), np.zeros((nt, found.Y.shape[1], 6))
        bristles = np.zeros((nt, Bristles.count(found)))
        if len(found.hold.held):
            Bristles(found, 0).rows_of(other, rows, errors, bristles)
        elif relaxes(system.blank):
            relaxing_rows(*place, found.dt, *found.states, found.Y, rows)
        else:
            door(other, balance_rows)(*place, found.dt, *found.states, found.Y, rows, errors)
        found.forget(other)
        there = origin(other, found.run.inputs, found.dt, found.states)
        table = found.loads_of(other)
        motions = np.array([driven_values(table, k) for k in range(nt if len(system.blank.driven) else 0)])
        if start is not None:
            q = static_balance(with_same_rows(model, start.system), start)
        else:
            q = found.closed_again(other) if found.was_open else there.values(at.q, at.v)[n:]
        ease = np.zeros(n) if found.ease is None else found.ease.on(other, table)
        sizes = (
            rows.ravel(),
            errors.ravel(),
            motions.ravel(),
            there.balance(at.q, at.v),
            there.rates(at.q, at.v),
            ease,
            bristles.ravel(),
            q,
        )
        return np.concatenate(sizes)

    for k, slope in enumerate(slopes(parts)):
        ends = np.cumsum([out.rows[..., k].size, out.errors[..., k].size, out.driven[..., k].size, n + system.rows,
                          system.rows, n, out.bristles[..., k].size])  # fmt: skip
        rows, errors, motions, begin, rates, out.ease[:, k], bristles, q = np.split(slope, ends)
        for target, value in ((out.rows, rows), (out.errors, errors), (out.driven, motions), (out.begin, begin),
                              (out.bristles, bristles)):  # fmt: skip
            target[..., k] = value.reshape(target.shape[:-1])
        if start is not None:
            out.q[:, k] = _static_change(start, q)
        else:
            out.q[:, k] = q if found.was_open else -close.place @ q
        out.q[system.blank.driven, k] = out.driven[0, :, 0, k]
        out.v[:, k] = -close.rate @ rates
    _rates_follow(at, close.rate, out)
    return out


def _rates_follow(at: Origin, rate: Floats, out: _Explicit) -> None:
    """Rates that keep the constraints change with the place; prescribed ones are given."""
    driven = at.system.blank.driven
    if at.system.rows and (at.moving or np.any(at.v)):
        out.v -= rate @ (at.along(at.rates, rates=False)[0] @ out.q)
    out.v[driven] = out.driven[0, :, 1]


def _static_change(start: Equilibrium, change: Floats) -> Floats:
    """Change (n,) of an equilibrium for an explicit change (n + m,) of its balance."""
    system = start.system
    loads = system.loads(start.t, start.inputs).loads
    loads.row[DT] = 0.0
    here = at_rest(system, loads, start.q, np.ascontiguousarray(start.stored.lam[0]))
    return solve_at_rest(here, -change, transposed=False)[: system.size]


def _of_inputs(found: Tape, inputs: Mapping[str, ArrayLike]) -> _Explicit:
    """The balance is linear in the inputs: one difference each, exact."""
    system, nt = found.system, found.steps + 1
    actuators, slopes = list(system.robot.actuators), input_slopes(system, found.run.t, found.run.inputs)
    names = list(system.robot.inputs)
    shapes: list[tuple[int, str, Floats]] = []
    slack = system.slack(found.run.t, found.run.inputs)
    for name, given in inputs.items():
        check_input(name, actuators, slopes)
        array = as_array(given, f"shapes of input {name!r}", "numbers over the instants, (nt,) or (nt, k)")
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2 or len(array) != nt:
            raise DescriptionError(f"shapes of input {name!r} must be ({nt},) or ({nt}, k); got {np.shape(given)}.")
        if name in slack:
            array = array.copy()
            array[slack[name]] = 0.0
        shapes += [(names.index(name), f"{name}[{k}]", array[:, k]) for k in range(array.shape[1])]
    out = _empty(found, [name for _, name, _ in shapes])
    place = found.place()
    used = sorted({number for number, _, _ in shapes})
    for step in range(nt):
        take_instant(place[2], place[3], place[4], found.dt, step, found.Y[step])
        state = [x[step] for x in found.states]
        base = evaluate(system, place[2], *state)
        for number in used:
            if number < len(actuators):
                column = slope_of_input(system, place[2], number, state, base)
            else:
                change = slopes[number - len(actuators)].rows[step]
                column = balance_slope(system, place[2], change, tuple(state))
            for k, (own, _, shape) in enumerate(shapes):
                if own == number:
                    out.rows[step, :, k] = shape[step] * column
    n, loads = system.size, place[2]
    elastic = (loads.constraints.table[:, KIND] == LENGTH) & (loads.constraints.value > 0.0)
    out.begin[:n] = out.rows[0, :n]
    out.begin[n:] = np.where(elastic[:, None], out.rows[0, n:], 0.0)
    if found.ease is not None:
        columns = found.ease.by_inputs(slopes)
        for k, (own, _, shape) in enumerate(shapes):
            out.ease[:, k] = shape[1] * columns[:, own]
    return out


def _of_state(found: Tape, at: Origin) -> _Explicit:
    """The start as given: simulate closes it, and takes the nearest rates that keep the constraints."""
    system, n = found.system, found.system.size
    labels = system.robot.coordinates()
    out = _empty(found, [f"start of {x}" for x in labels] + [f"rate of {x}" for x in labels])
    close, J = closing(at), at.gradient(at.q)
    free = np.zeros(n)
    free[at.free] = 1.0
    out.q[:, :n] = _placed(at)
    out.v[:, n:] = (np.eye(n) - close.rate @ J) * free
    _rates_follow(at, close.rate, out)
    return out


def _placed(at: Origin) -> Floats:
    """How the start changes with what was given for it (n, n): prescribed coordinates do not, and loops are closed."""
    free = np.zeros(at.system.size)
    free[at.free] = 1.0
    return (np.eye(len(free)) - closing(at).place @ at.gradient(at.q)) * free


def _turns(system: Model, q0: Floats, q1: Floats) -> tuple[Floats, Floats]:
    """(B, P) of a step: the increment changes by B (dq1 - P dq)."""
    B, P = np.eye(system.size), np.eye(system.size)
    for k in system.tree.ball[:, 0]:
        block = slice(k, k + 3)
        d = log3(exp3(q0[block]).T @ exp3(q1[block]))
        B[block, block], P[block, block] = np.linalg.inv(dexp3(d, side="right")), exp3(-d)
    return B, P


class _Integrals:
    """Integrals of thrusters on the way: dy and how errors change with the state."""

    def __init__(self, found: Tape, columns: int) -> None:
        self.found, self.frames = found, found.Y.shape[1]
        self.change = np.zeros((6 * self.frames, columns))
        loads = found.table.loads
        thruster = loads.frames.table[:, [KIND]] == THRUSTER
        self.gains = np.where(thruster, loads.frames.data[:, 6:12], 0.0)[: self.frames].ravel()

    def slopes(self, step: int) -> tuple[Floats, Floats]:
        """Derivatives (6 f, n) of the errors with respect to q and v; the loads stand at the step."""
        found, system = self.found, self.found.system
        n = system.size
        by_q, by_v = np.zeros((2, 6 * self.frames, n))
        scratch = np.zeros((self.frames, 15)), np.zeros((2, n)), np.zeros(n)
        q, v = found.states[0][step], found.states[1][step].copy()
        for j in range(6 * self.frames):
            weight = np.eye(6 * self.frames)[j].reshape(self.frames, 6)
            pull_errors(system.tree, system.workspace, found.table.loads, q, v, weight, *scratch, by_q[j], by_v[j])
        return by_q, by_v

    def advance(self, step: int, slopes: tuple[Floats, Floats], dq: Floats, dv: Floats, explicit: Floats) -> None:
        """The integral that the next step sees."""
        part = 0.5 * self.found.dt if step == 0 else self.found.dt
        self.change += part * (slopes[0] @ dq + slopes[1] @ dv + explicit)


def _march(found: Tape, at: Origin, explicit: _Explicit) -> tuple[Floats, Floats, Floats, Floats]:
    """(dq, dv, dA, dlambda) of all instants."""
    system, n, m = found.system, found.system.size, found.system.rows
    k, nt, driven = len(explicit.names), found.steps + 1, system.blank.driven
    dq, dv, dacc, dlam = np.zeros((nt, n, k)), np.zeros((nt, n, k)), np.zeros((nt, n, k)), np.zeros((nt, m, k))
    dq[0], dv[0] = explicit.q, explicit.v
    large = system.linear != DENSE
    if large and not m:
        dacc[0] = start_forth(at, explicit.begin, dq[0], dv[0], explicit.driven[0, :, 2])
    else:
        by_q, by_v = at.jacobians()
        matrix = at.matrix()
        right = -(explicit.begin + by_q @ dq[0] + by_v @ dv[0] + matrix[:, driven] @ explicit.driven[0, :, 2])
        first = solve_bordered(system, matrix, right)
        dacc[0], dlam[0] = first[:n], first[n:]
        dacc[0, driven] = explicit.driven[0, :, 2]
    da = dacc[0].copy()  # of the averaged acceleration
    if found.ease is not None:
        slopes = found.ease.slopes()
        da = found.ease.forth(da, explicit.ease + slopes[0] @ dq[0] + slopes[1] @ dv[0])
    integrals, bristles = _Integrals(found, k), Bristles(found, k)
    if not (large or system.user or len(driven) or len(system.tree.ball) or integrals.frames or len(found.hold.held)):
        return _march_small(found, explicit.rows, (dq, dv, dacc, dlam), da)
    place = found.place()
    for step in range(nt):
        take_instant(place[2], place[3], place[4], found.dt, step, found.Y[step])
        lean = integrals.slopes(step) if integrals.frames else None
        if step > 0:
            bristles.recall(step)
            forces = explicit.rows[step] + bristles.forces(step)
            if lean is not None:
                forces[:n] += lean[1].T @ (integrals.gains[:, None] * integrals.change)
            before = dq[step - 1], dv[step - 1], da, da if step == 1 else dacc[step - 1]
            march = step_forth if large else _step
            dq[step], dv[step], da, dacc[step], dlam[step] = march(found, step, before, forces, explicit.driven[step])
        if step > 0:
            bristles.advance(step, dq[step], dv[step], explicit.bristles[step])
        if lean is not None:
            integrals.advance(step, lean, dq[step], dv[step], explicit.errors[step])
    return dq, dv, dacc, dlam


def _march_small(
    found: Tape, rows: Floats, changes: tuple[Floats, ...], da: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """The march in compiled code; `changes` are (dq, dv, dA, dlambda) of which the first instants are known."""
    size = found.system.size + found.system.rows
    room = SweepRoom(np.zeros((4, size, size)), np.zeros((12, size)), np.zeros(size, np.int64), np.zeros((0, 15)))
    turned = [np.ascontiguousarray(np.swapaxes(x, 1, 2)) for x in (rows, *changes)]
    states, averaged = Trail(*found.states, found.Y), np.ascontiguousarray(da.T)
    fading, over = fading_of(found.system, found.dt, len(averaged)), found.system.blank.relaxing.over
    over[:] = found.dt
    done = march_forth(*found.place(), found.scheme, found.dt, states, turned[0], averaged, room, fading, *turned[1:])
    over[:] = np.inf
    if not done:
        raise SolverError("The sensitivities have a singular matrix.", advice="Try a smaller dt.")
    dq, dv, dacc, dlam = (np.ascontiguousarray(np.swapaxes(x, 1, 2)) for x in turned[1:])
    return dq, dv, dacc, dlam


def _step(
    found: Tape, step: int, before: tuple[Floats, ...], forces: Floats, imposed: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Changes (q, v, a, A, lambda) after a step; forces (n + m, k) is the explicit change, prescribed (driven, 3, k)."""
    am, af, beta, gamma, _ = found.scheme
    system, dt, n, loads = found.system, found.dt, found.system.size, found.table.loads
    ca1, back, share = 1.0 / (beta * dt * dt), 0.5 / beta - 1.0, (1.0 - am) / (1.0 - af)
    dq, dv, da, dacc = before
    Q, V, A, LAM = (x[step] for x in found.states)
    here = Evaluation(system, loads, Q, V, A, LAM)
    K, T, H = (here.bordered(*w) for w in ((0.0, 0.0), (ca1 * gamma * dt, ca1 * share), (0.0, ca1)))
    N, M = (T - K)[:, :n], (H - K)[:, :n] / ca1
    B, P = _turns(system, found.states[0][step - 1], Q)
    w = -ca1 * (B @ (P @ dq) + dt * dv) - back * da
    x = (dv + dt * (1.0 - gamma) * da) / (gamma * dt)
    old = (am * da - af * dacc) / (1.0 - af)
    driven = loads.driven
    w[driven], x[driven], old[driven] = 0.0, 0.0, 0.0
    right = -forces - N @ (w + x) / ca1 - M @ (old - share * x)
    if len(driven):
        C = (N / ca1 - share * M) / (gamma * dt)
        for matrix, which in ((K, 0), (C, 1), (M, 2)):
            right -= matrix[:, driven] @ imposed[:, which]
    K[:, :n] += N @ B
    solved = solve_bordered(system, K, right)
    dq1, dlam1 = solved[:n], solved[n:]
    da1 = ca1 * (B @ dq1) + w
    dv1 = dv + dt * ((1.0 - gamma) * da + gamma * da1)
    dacc1 = share * da1 + old
    dq1[driven], dv1[driven], da1[driven], dacc1[driven] = imposed[:, 0], imposed[:, 1], imposed[:, 2], imposed[:, 2]
    return dq1, dv1, da1, dacc1, dlam1
