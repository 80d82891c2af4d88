"""Exact gradients of motions of robots with soft volumes, by the discrete adjoint of their steps.

A step takes the increments d of coordinates and nodes from R(q1, v1, A1, lambda1, x1) = 0; rates and accelerations are linear
in d and in those before (`schemes.ended`). Let a hat be the gradient of the cost from here on, and E the table of `ended`.
The multipliers mu of the step solve T^T mu = q1^ + B^T (E_vd v1^ + E_ad a1^ + E_Ad A1^), T = K + (E_vd C + E_Ad M) B the
tangent of Newton's method, with B = dd/dq1, the identity but for balls. Hats of the state before follow by the transpose of
E, less C^T mu and M^T mu. The cost changes by -mu . dR with what else the balance depends on. How accelerations at the start
depend on things is found by differences of these.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from anguilla.describe.robot import Robot
from anguilla.errors import DescriptionError, SolverError
from anguilla.fem.mesh import Floats
from anguilla.fem.parts import Chamber
from anguilla.fem.viscosity import Viscosity
from anguilla.interact.kernels.table import INPUT, Loads
from anguilla.lie import dexp3_inv, exp3, log3
from anguilla.mixed.contact import refuse_contact
from anguilla.mixed.dynamics import MixedStepper
from anguilla.mixed.model import Lead, MixedModel
from anguilla.mixed.momenta import is_isolated
from anguilla.mixed.motion import Acting, MixedMotion
from anguilla.mixed.results import MixedTrajectory
from anguilla.mixed.statics import factored, nodes_from, solved
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Model
from anguilla.model.slopes import balance_slope, input_slopes, named
from anguilla.model.user import move
from anguilla.results.states import Trajectory
from anguilla.solve.gradients.adjoint import Gradient, by_input, direct_cost, refuse_rubbing
from anguilla.solve.gradients.costs import Cost
from anguilla.solve.gradients.designs import Design, as_design, design_slopes, with_same_rows
from anguilla.solve.gradients.sweep import linear_part
from anguilla.solve.steps.dynamics import DEFAULT_METHOD
from anguilla.solve.steps.schemes import Coefficients, Scheme, as_scheme, ended

__all__ = ["motion_gradient"]

FOURTH = ((-2, 1.0 / 12.0), (-1, -8.0 / 12.0), (1, 8.0 / 12.0), (2, -1.0 / 12.0))
STEP = 1e-3  # of what the start depends on, over its size
SAME = 1e-9  # part of its size by which a start may differ from what it follows from


class _Hats(NamedTuple):
    """Gradients of the cost from here on: by q, v, a, A (4, n), and by those of the free nodes of each volume (4, 3 f)."""

    own: Floats
    nodes: list[Floats]


class _Balance(NamedTuple):
    """What a step balances, evaluated."""

    here: Evaluation
    left: Floats  # (n + m,)
    gradients: list[Floats]
    blocks: list[Floats]
    lead: Lead
    touches: list[None]
    meets: tuple[()] = ()  # volumes that touch each other are refused


class _Tape:
    """A motion with equal steps, all stored."""

    def __init__(self, run: MixedTrajectory, method: Scheme | str | None) -> None:
        assert run.mixed is not None
        self.run, self.model, self.carrier = run, run.mixed, run.system
        self.scheme: Coefficients = as_scheme(DEFAULT_METHOD if method is None else method).coefficients
        _refuse_unfit(self)
        self.dt = float(run.t[1] - run.t[0])
        self.E = np.array([ended(self.scheme, self.dt, *unit) for unit in np.eye(4)]).T  # (v1, a1, A1) by (d, v, a, A)
        hidden = {name for names in self.model.ports for name in names}
        self.own = {name: value for name, value in run.inputs.items() if name not in hidden}
        self.soft = {f"{name}.{key}": value for name, each in run.volumes.items() for key, value in each.inputs.items()}
        volumes = run.volumes.values()
        self.start = run.q[0].copy(), run.v[0].copy(), [each.x[0].copy() for each in volumes]
        rates = [each.v[0].copy() for each in volumes]
        lead = self.model.lead(run.q[0])
        follows = nodes_from(self.model, run.q[0], None, self.model.gravity([0.0])[0])
        self.rested = all(_same(a, b, self.model.length) for a, b in zip(follows, self.start[2], strict=True))
        carried = []
        for half, x in zip(self.model.halves, self.start[2], strict=True):
            twists = (lead.J[self.model.rows_of(half)] @ run.v[0]).reshape(-1, 6)
            carried.append(half.velocities(x, lead.poses, twists))
        size = max(float(np.abs(each).max(initial=0.0)) for each in rates)
        self.carried = all(_same(a, b, size) for a, b in zip(carried, rates, strict=True))
        self.rates = rates
        self.smooth = True
        self.smooth = _same(self.begun(self.model, self.carrier)[0], run.a[0], float(np.abs(run.a[0]).max(initial=0.0)))
        self.accelerations = self._accelerations()

    def begun(
        self, model: MixedModel, carrier: Model, start: tuple[Floats, Floats] | None = None,
        change: Callable[[Loads, list[Floats]], None] | None = None,
    ) -> tuple[Floats, list[Floats], list[Floats], list[Floats]]:  # fmt: skip
        """Accelerations (n,) at the start; positions, velocities and accelerations (nodes, 3) of each volume.

        For another design, other coordinates and rates, or with loads and efforts changed in place by `change`.
        """
        q, v = self.start[:2] if start is None else start
        x = nodes_from(model, q, None, model.gravity([0.0])[0]) if self.rested else self.start[2]
        velocities = None if self.carried else self.rates
        given = self.own | self.soft
        motion = MixedMotion(model, carrier, self.scheme, 1e-8, given, self.own, (q, v, x), velocities)
        motion.smooth = self.smooth
        what: Acting = motion.acting(0.0)
        if change is not None:
            change(what[0], what[1])
        with carrier.apart():
            stepper = MixedStepper(model, carrier, self.scheme, self.dt, 1e-8)
            now, _ = motion.begin(stepper, what)
        return now.a, now.x, [rates[0] for rates in now.dx], [rates[1] for rates in now.dx]

    def _accelerations(self) -> list[Floats]:
        """True accelerations (nt, nodes, 3) of the nodes of each volume, by the steps."""
        _, _, velocities, begun = self.begun(self.model, self.carrier)
        found = []
        for each, v, a in zip(self.run.volumes.values(), velocities, begun, strict=True):
            rates, out = (v, a, a), [a]
            for d in np.diff(each.x, axis=0):
                rates = ended(self.scheme, self.dt, d, *rates)
                out.append(rates[2])
            found.append(np.array(out))
        return found

    def balance(self, k: int, model: MixedModel, carrier: Model, loads: Loads, stiffness: bool) -> _Balance:
        """The balance at the end of step k, in the robot or in one of another design; loads get the wrenches there."""
        run, t = self.run, float(self.run.t[k])
        lead, gravity = model.lead(run.q[k]), model.gravity([t])[0]
        total, gradients, blocks = np.zeros((len(model.frames), 6)), [], []
        efforts = model.split(self.own | self.soft, t)[1]
        for half, each, acc, own in zip(model.halves, run.volumes.values(), self.accelerations, efforts, strict=True):
            x = each.x[k].copy()
            half.place(x, lead.poses)
            half.system.body.gravity = gravity
            energy, force, found = half.system.evaluate(half.state(x), own, t=t, stiffness=stiffness)
            if not np.isfinite(energy):
                raise SolverError("The design cannot be changed: elements would turn inside out.")
            total[half.frames] += half.wrenches(force, lead.poses)
            force[half.free] += (half.matrix @ acc[k])[half.free]
            if stiffness:
                found[:, [0, 4, 8]] += self.E[2, 0] * half.mass[:, None]
            gradients.append(force)
            blocks.append(found)
        lam = np.ascontiguousarray(run.stored.lam[k])
        here = Evaluation(carrier, model.pulled(loads, total), run.q[k], run.v[k], run.a[k], lam)
        return _Balance(here, here.values, gradients, blocks, lead, [None] * len(blocks))


def _same(a: Floats, b: Floats, size: float) -> bool:
    return bool(np.abs(a - b).max(initial=0.0) <= SAME * size)


def _refuse_unfit(tape: _Tape) -> None:
    run, model, carrier = tape.run, tape.model, tape.carrier
    counters, steps = run.status.counters, len(run.t) - 1
    if steps < 1 or counters.get("steps") != steps or counters.get("events"):
        raise DescriptionError(
            "gradient needs a motion of a robot with soft volumes with equal steps, all stored: every=1, and no jump of what "
            "acts (simulate(..., events=[]) takes equal steps across jumps)."
        )
    refuse_contact(model, "gradients of motions")
    refuse_rubbing(carrier, "gradient")
    for half in model.halves:
        if Viscosity(half.system, None).active:
            raise DescriptionError(
                f"gradient does not support motions with damping or Prony terms of a soft volume ({half.name!r}) yet: leave "
                "them out, or take differences of motions; rods and joints may be damped."
            )
    if len(carrier.blank.driven) or carrier.rows or is_isolated(model, carrier):
        raise DescriptionError(
            "gradient of a motion with soft volumes does not support prescribed motions, loops and other constraints, and "
            "robots that fly with nothing acting on them, yet: take differences of motions."
        )


def motion_gradient(
    run: MixedTrajectory, cost: Cost, *, method: Scheme | str | None = None, design: Design | None = None
) -> Gradient:
    """`ag.gradient` of a motion of a robot with soft volumes.

    Derivatives by the start keep the nodes of its volumes where they are, unless these follow from its coordinates, as those
    of a motion that did not start from an equilibrium do.
    """
    assert run.mixed is not None
    with run.mixed.alone, ExitStack() as desks:
        desks.enter_context(run.system.apart())
        tape = _Tape(run, method)
        value, by_q, by_v = cost.terms(run)
        table = run.system.loads(run.t, run.inputs)
        rows, efforts, mus, nodes, hats = _swept(tape, table, by_q, by_v)
        inputs = _by_inputs(tape, table, rows, efforts, mus, hats)
        by_start = _by_start(tape, hats)
        slopes = np.zeros(0)
        if design is not None:
            make, p, _ = as_design(design, run.robot)
            slopes = np.array(design_slopes((make, p), lambda robot: _weighed(tape, cost, robot, mus, nodes, hats)))
    return Gradient(value, inputs, *by_start, slopes, mus)


def _swept(
    tape: _Tape, table: Any, by_q: Floats, by_v: Floats
) -> tuple[Floats, list[Floats], Floats, list[list[Floats]], _Hats]:
    """Gradients (nt, row) by the loads and (nt, actuators) by the efforts of each volume, multipliers, hats of the start."""
    model, carrier, run, E = tape.model, tape.carrier, tape.run, tape.E
    n, count, halves = carrier.size, len(run.t), model.halves
    rows, mus = np.zeros((count, len(table.loads.row))), np.zeros((count, n + carrier.rows))
    efforts, nodes = [np.zeros((count, len(half.system.names))) for half in halves], [[np.zeros(0)] for _ in halves]
    hats = _Hats(np.zeros((4, n)), [np.zeros((4, 3 * len(half.free))) for half in halves])
    hats.own[0], hats.own[1] = by_q[-1], by_v[-1]
    by_d = np.concatenate([[1.0], E[:, 0]])  # of q1, v1, a1, A1
    kept: list[list[Floats]] = []
    for k in range(count - 1, 0, -1):
        loads = table.at(k)
        at = tape.balance(k, model, carrier, loads, True)
        B, turn = _balls(carrier, run.q[k - 1], run.q[k])
        matrix = at.here.flat.copy()
        matrix[:, :n] += (at.here.bordered(E[0, 0], E[2, 0]) - matrix)[:, :n] @ B
        whole = factored(model, carrier, matrix, at, loads, definite=False)
        if whole is None:
            raise SolverError("The adjoint has a singular matrix.", advice="Try a smaller dt.")
        right = np.concatenate([hats.own[0] + (by_d[1:] @ hats.own[1:]) @ B, np.zeros(carrier.rows)])[:, None]
        found, moved = solved(model, whole, right, [by_d[None] @ hat for hat in hats.nodes], transposed=True)
        mu = mus[k] = found[:, 0]
        kept.append([each[0] for each in moved])
        linear_part(
            carrier.tree, carrier.workspace, loads, mu[:n].copy(), mu[n:].copy(), run.q[k], np.zeros(n), rows[k]
        )
        J = at.lead.J
        for h, half in enumerate(halves):
            if half.system.names:
                x = run.volumes[half.name].x[k]
                force = half.system.actuator_rows(half.state(x))
                twists = J[model.rows_of(half)] @ mu[:n]
                efforts[h][k] = half.by_twists(force, at.lead.poses) @ twists
                efforts[h][k] += force[:, half.free].reshape(len(force), -1) @ moved[h][0]
        heavy = at.here.by_acceleration.T @ mu
        hats.own[:] = _before(E, hats.own, at.here.by_rate.T @ mu, heavy)
        hats.own[0] = turn @ (hats.own[0] @ B) + by_q[k - 1]
        hats.own[1] += by_v[k - 1]
        for half, hat, each in zip(halves, hats.nodes, moved, strict=True):
            whole_mu = np.zeros_like(half.system.rest.x)
            whole_mu[half.free] = each[0].reshape(-1, 3)
            heavy = (half.matrix @ whole_mu)[half.free].ravel()
            hat[:] = _before(E, hat, np.zeros_like(heavy), heavy)
    nodes = [[np.zeros(0)] * len(halves), *kept[::-1]]
    return rows, efforts, mus, nodes, hats


def _balls(carrier: Model, before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """How increments d change with small turns of the balls after a step, and these with small turns before it: (n, n)."""
    B, turn = np.eye(len(before)), np.eye(len(before))
    for first in carrier.tree.ball[:, 0].tolist():
        own = slice(first, first + 3)
        d = log3(exp3(before[own]).T @ exp3(after[own]))
        B[own, own], turn[own, own] = dexp3_inv(d).T, exp3(d)
    return B, turn


def _before(E: Floats, hat: Floats, viscous: Floats, heavy: Floats) -> Floats:
    """Hats (4, k) of the state before a step, from those of its end and from C^T mu and M^T mu."""
    rates = hat[1:].copy()  # by v1, a1, A1
    rates[0] -= viscous
    rates[2] -= heavy
    return np.vstack([-(E[:, 0] @ rates), E[:, 1:].T @ rates])


def _at_start(tape: _Tape, hats: _Hats, start: tuple[Any, ...]) -> float:
    """Hats of the start times what it is made of: its accelerations, nodes and their rates."""
    a, *nodes = start
    total = float((hats.own[2] + hats.own[3]) @ a)
    for half, hat, x, v, acc in zip(tape.model.halves, hats.nodes, *nodes, strict=True):
        by = hat[0], hat[1], hat[2] + hat[3]
        total += sum(float(g @ what[half.free].ravel()) for g, what in zip(by, (x, v, acc), strict=True))
    return total


def _difference(of: Callable[[float], float], h: float) -> float:
    return sum(weight / h * of(step * h) for step, weight in FOURTH)


def _by_start(tape: _Tape, hats: _Hats) -> tuple[Floats, Floats]:
    """Derivatives (n,) by the coordinates and rates of the start."""
    (q, v), carrier = tape.start[:2], tape.carrier
    sizes = STEP / np.maximum(carrier.tree.weight, 1e-300)
    found = hats.own[0].copy(), hats.own[1].copy()

    def at(dq: Floats, dv: Floats) -> float:
        return _at_start(tape, hats, tape.begun(tape.model, carrier, (move(carrier.tree, q, dq), v + dv)))

    for k, unit in enumerate(np.eye(len(q))):
        found[0][k] += sum(w / sizes[k] * at(step * sizes[k] * unit, 0.0 * unit) for step, w in FOURTH)
        speed = sizes[k] / tape.dt
        found[1][k] += sum(w / speed * at(0.0 * unit, step * speed * unit) for step, w in FOURTH)
    return found


def _by_inputs(
    tape: _Tape, table: Any, rows: Floats, efforts: list[Floats], mus: Floats, hats: _Hats
) -> dict[str, Floats]:
    """Derivatives (nt,) by all inputs: by their values at each instant."""
    run, model, carrier = tape.run, tape.model, tape.carrier
    first = int(carrier.blank.at[INPUT])

    def started(change: Callable[[Loads, list[Floats], float], None], size: float) -> float:
        def of(h: float) -> float:
            begun = tape.begun(model, carrier, change=lambda loads, own: change(loads, own, h))
            return _at_start(tape, hats, begun)

        return _difference(of, STEP * size)

    for k, name in enumerate(carrier.robot.actuators):

        def pulled(loads: Loads, _: list[Floats], h: float, k: int = k) -> None:
            loads.row[first + k] += h

        rows[0, first + k] = started(pulled, max(1.0, abs(_value(tape.own.get(name, 0.0)))))
    slopes = input_slopes(carrier, run.t, run.inputs)
    reasons, ports = named(slopes), {}
    for slope in slopes:
        if slope.name in model.robot.inputs and not slope.reason and slope.name not in _hidden(model):
            ports[slope.name] = np.einsum("tr,tr->t", slope.rows, rows)
            if slope.asked:
                for k in range(1, len(run.t)):
                    state = run.q[k], run.v[k], run.a[k], np.ascontiguousarray(run.stored.lam[k])
                    ports[slope.name][k] -= mus[k] @ balance_slope(carrier, table.at(k), slope.only_asked(k), state)

            def asked(loads: Loads, _: list[Floats], h: float, row: Floats = slope.rows[0]) -> None:
                loads.row[:] += h * row

            ports[slope.name][0] = started(asked, max(1.0, abs(_value(tape.own.get(slope.name, 0.0)))))
    found = dict(by_input(run, rows, ports, reasons))
    for j, half in enumerate(model.halves):
        for k, name in enumerate(half.system.names):

            def blown(_: Loads, own: list[Floats], h: float, j: int = j, k: int = k) -> None:
                own[j] = own[j].copy()
                own[j][k] += h

            chamber = isinstance(half.system.body.actuators[name], Chamber)
            size = 1e-2 * float(half.system.elements.mu.max()) if chamber else 1.0
            efforts[j][0, k] = started(blown, max(size, abs(_value(tape.soft.get(f"{half.name}.{name}", 0.0)))))
            found[f"{half.name}.{name}"] = efforts[j][:, k].copy()
    return {name: slope for name, slope in found.items() if name not in _hidden(model)}


def _hidden(model: MixedModel) -> set[str]:
    return {name for names in model.ports for name in names}


def _value(given: Any) -> float:
    return float(given(0.0) if callable(given) else given)


def _weighed(tape: _Tape, cost: Cost, robot: Robot, mus: Floats, nodes: list[list[Floats]], hats: _Hats) -> float:
    """The cost of the same motion in a robot of another design, less its balances weighed by the multipliers."""
    run, model = tape.run, MixedModel(robot)
    carrier = with_same_rows(model.carrier, run.system)
    table, total = carrier.loads(run.t, tape.own), 0.0
    with carrier.apart():
        for k in range(1, len(run.t)):
            at = tape.balance(k, model, carrier, table.at(k), False)
            total += float(mus[k] @ at.left)
            for half, force, own in zip(model.halves, at.gradients, nodes[k], strict=True):
                total += float(force[half.free].ravel() @ own)
    plain = Trajectory(run.robot, run.system, run.status, run.t, run.q, run.v, run.a, run.stored.lam, tape.own)
    begun = _at_start(tape, hats, tape.begun(model, carrier))
    return direct_cost(cost, robot, carrier, plain) - total + begun
