"""Motion of robots with soft volumes: one scheme of the Newmark family steps coordinates and nodes alike.

Nodes that frames lead have their masses on the frames, so that the inertia of rods and bodies, in their coordinates, and
that of the other nodes, in world axes, do not mix. Both halves meet in the elastic forces alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from anguilla.errors import DescriptionError, SolverError
from anguilla.fem.contact import Touched, weight_of
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.system import SoftState
from anguilla.fem.viscosity import Viscosity
from anguilla.interact.kernels.rubbing import rubs
from anguilla.interact.kernels.table import MOTION, Loads
from anguilla.mixed.contact import (
    Push,
    VolumeTouches,
    contact_wrenches,
    grips_of,
    meets_of,
    node_pushes,
    press,
    pushed,
    touched_of,
)
from anguilla.mixed.half import Poses
from anguilla.mixed.model import Lead, MixedModel
from anguilla.mixed.pairs import Met
from anguilla.mixed.statics import Correction, Factored, Mixed, corrected, factored
from anguilla.model.evaluate import residual, tangent
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Model
from anguilla.model.user import move
from anguilla.results.reactions import grasps, relaxes
from anguilla.solve.newton.method import KeptSolver, Newton
from anguilla.solve.newton.rules import CONVERGED, EXPLANATION, NOT_FINITE
from anguilla.solve.steps.schemes import Coefficients, ended, factors, unmoved

__all__ = ["MixedStep", "MixedStepper", "Moving", "refuse_motion"]

WORDS = EXPLANATION | {NOT_FINITE: "elements turned inside out"}
SMALLEST = 1e-14  # [rad, or relative displacement] error asked of a step at most
REACH = 0.5  # [rad, or relative displacement] in one correction


class Moving(NamedTuple):
    """A state in motion: coordinates, rates, accelerations of the scheme and true ones (n,), multipliers (m,); and nodes.

    Of the nodes (nodes, 3) of each volume, led ones have rates only where results are read.
    """

    q: Floats
    v: Floats
    a: Floats
    acc: Floats
    lam: Floats
    x: list[Floats]
    dx: list[tuple[Floats, Floats, Floats]]  # velocities, accelerations of the scheme, true ones
    touched: list[Touched | None]  # of each volume, then of each pair of them
    push: Push  # accelerations by contact, which the others are without


class Stepped(NamedTuple):
    """What is known of a step: as `Known`, at its end."""

    state: Mixed  # the increment of the coordinates, multipliers, and nodes
    lead: Lead
    left: Floats
    gradients: list[Floats]
    blocks: list[Floats]
    wrenches: Floats
    touches: list[VolumeTouches | None]
    meets: list[Met]
    matrix: Callable[[], Floats]  # tangent of the carrier (n + m, n + m)


class MixedStep:
    """The balance of one step, as a problem for Newton's method; unknown are the increment, multipliers, nodes at its end."""

    reach = REACH

    def __init__(self, stepper: MixedStepper, begin: Moving, loads: Loads, efforts: list[Floats], t: float) -> None:
        self.stepper, self.begin, self.loads, self.efforts, self.t = stepper, begin, loads, efforts, t
        self.gravity = stepper.model.gravity([t])[0]
        self.by = factors(stepper.scheme, stepper.dt)
        self.unmoved = unmoved(stepper.scheme, stepper.dt, begin.v, begin.a, begin.acc)
        self.nodes_unmoved = [unmoved(stepper.scheme, stepper.dt, *rates) for rates in begin.dx]
        self.careful, self.correct = False, cast("Callable[[Stepped], Correction] | None", None)
        self.viscous = [viscosity.step(stepper.dt) for viscosity in stepper.viscosity]
        poses, weight = stepper.model.lead(begin.q).poses, weight_of(stepper.scheme, stepper.dt)
        self.grips = grips_of(stepper.model, begin.x, poses, begin.touched, rate=1.0 / stepper.dt, weight=weight)
        self.touching = True

    def guess(self, share: float) -> Mixed:
        """Where to begin: as if velocities stayed, and a share of the accelerations."""
        b, dt = self.begin, self.stepper.dt
        d = dt * b.v + 0.5 * share * dt * dt * (b.acc + b.push.q)
        rows = zip(b.x, b.dx, b.push.nodes, strict=True)
        x = [x + dt * v + 0.5 * share * dt * dt * (acc + push) for x, (v, _, acc), push in rows]
        return Mixed(d, b.lam.copy(), x)

    def size(self) -> float:
        """What errors of the step are measured by: its increment, or ten times what accelerations make of it if less."""
        b, dt = self.begin, self.stepper.dt
        along = dt * self._length(b.v, [rates[0] for rates in b.dx])
        return min(along or np.inf, 5.0 * dt * dt * self._length(b.a, [rates[1] for rates in b.dx]))

    def _length(self, q: Floats, x: list[Floats]) -> float:
        """Largest angle or relative displacement of changes of coordinates (n,) and of nodes (nodes, 3)."""
        sizes = [float(np.linalg.norm(q * self.stepper.carrier.tree.weight))]
        for half, change in zip(self.stepper.model.halves, x, strict=True):
            sizes.append(float(np.abs(change).max(initial=0.0)) / half.size)
        return max(sizes)

    def rates(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Coordinates, rates and accelerations (n,) at the end of a step with increment d; imposed ones as imposed."""
        (_, cv, ca), (v0, a0) = self.by, self.unmoved
        q, v, a = move(self.stepper.carrier.tree, self.begin.q, d), v0 + cv * d, a0 + ca * d
        driven, imposed = self.imposed()
        q[driven], v[driven], a[driven] = imposed.T
        return q, v, a

    def imposed(self) -> tuple[Ints, Floats]:
        """Numbers (k,) of the imposed coordinates, and (k, 3) their values, rates and accelerations."""
        driven, at = self.loads.driven, int(self.loads.at[MOTION])
        return driven, self.loads.row[at : at + 3 * len(driven)].reshape(-1, 3)

    def evaluate(self, state: Mixed) -> Stepped | None:
        """Forces and tangent at the end of the step; None if an element is inside out."""
        s, ca = self.stepper, self.by[2]
        model = s.model
        q, v, a = self.rates(state.q)
        lead = model.lead(q)
        total, gradients, blocks, touches = np.zeros((len(model.frames), 6)), [], [], []
        for half, x in zip(model.halves, state.x, strict=True):
            half.place(x, lead.poses)
        pairs = model.pairs if self.touching else []
        meets = meets_of(model, state.x, self.grips) if self.touching else []
        for k, half in enumerate(model.halves):
            x, (gain, history) = state.x[k], self.viscous[k]
            half.system.body.gravity = self.gravity
            energy, force, found = half.system.evaluate(
                SoftState(x, half.system.rest.rotations), self.efforts[k], t=self.t, stiffness=True, gain=gain,
                history=history, blocks=s.work[k],
            )  # fmt: skip
            if not np.isfinite(energy):
                return None
            touched = press(half, x, lead.poses, self.grips[k], force, found) if self.touching else None
            for pair, met in zip(pairs, meets, strict=True):
                pair.add(k, met, force, found)
            total[half.frames] += half.wrenches(force, lead.poses)
            total += 0.0 if touched is None else touched.wrenches
            touches.append(touched)
            force[half.free] += (half.matrix @ (self.nodes_unmoved[k][1] + ca * (x - self.begin.x[k])))[half.free]
            found[:, [0, 4, 8]] += ca * half.mass[:, None]
            gradients.append(force)
            blocks.append(found)
        left, matrix = self._carrier(model.pulled(self.loads, total), q, v, a, state)
        return None if left is None else Stepped(state, lead, left, gradients, blocks, total, touches, meets, matrix)

    def _carrier(
        self, loads: Loads, q: Floats, v: Floats, a: Floats, state: Mixed
    ) -> tuple[Floats | None, Callable[[], Floats]]:
        """Residual (n + m,) of the carrier, and what gives its tangent as long as nothing else is evaluated."""
        carrier, (_, cv, ca) = self.stepper.carrier, self.by
        desk, size = carrier.desk(), carrier.size + carrier.rows
        space, left = desk.workspace, np.zeros(size)
        (desk.user.residual if desk.user else residual)(carrier.tree, space, loads, q, v, a, state.lam, left)
        left[loads.driven] = 0.0

        def matrix() -> Floats:
            out = np.zeros((size, size))
            for ball in carrier.tree.ball:
                space.increment[ball[1]] = state.q[ball[0] : ball[0] + 3]
            (desk.user.tangent if desk.user else tangent)(
                carrier.tree, space, loads, float(cv), float(ca), state.lam, out
            )
            return out

        return (left if np.isfinite(left).all() else None), matrix

    def factorise(self, at: Stepped) -> Callable[[Stepped], Correction] | None:
        """Factorise the tangent of the step."""
        s = self.stepper
        again = self.evaluate(at.state)  # the workspace may hold another state
        found: Factored | None = None
        if again is not None:
            found = factored(s.model, s.carrier, again.matrix(), again, self.loads, definite=False)
        self.correct = None if found is None else lambda now: corrected(s.model, s.carrier, found, now)
        return self.correct

    def measure(self, at: Stepped, step: Correction) -> tuple[float, float]:
        """Largest angle or relative displacement."""
        size = self._length(step.q, step.x)
        return size, size

    def move(self, at: Stepped, step: Correction, part: float) -> Mixed:
        """The step after a part of a correction; increments of balls are composed, and nodes turn along with their frames."""
        s, nodes = self.stepper, []
        model, d = s.model, move(s.carrier.tree, at.state.q, part * step.q)
        after = model.lead(self.rates(d)[0]).poses
        for half, x, change in zip(model.halves, at.state.x, step.x, strict=True):
            twists = (at.lead.J[model.rows_of(half)] @ step.q).reshape(-1, 6)
            rest = change - half.carried(x, at.lead.poses, twists)
            nodes.append(half.moved(x, at.lead.poses, after, part * rest))
        return Mixed(d, at.state.lam + step.lam, nodes)

    def improves(self, at: Stepped, new: Stepped, step: Correction, part: float, near: bool) -> bool:
        """Anything that is not inside out; if care is taken, what the same tangent would correct by less."""
        if near or not self.careful or self.correct is None:
            return True
        return self.measure(new, self.correct(new))[0] <= (1.0 - 0.25 * part) * self.measure(at, step)[0]

    def end(self, found: Mixed, wrenches: Floats) -> Moving:
        """The state at the end of the step."""
        s, b = self.stepper, self.begin
        q, _, _ = self.rates(found.q)
        v, a, acc = (np.array(x) for x in ended(s.scheme, s.dt, found.q, b.v, b.a, b.acc))
        driven, imposed = self.imposed()
        v[driven], a[driven], acc[driven] = imposed[:, 1], imposed[:, 2], imposed[:, 2]
        dx = [ended(s.scheme, s.dt, x - x0, *r) for x, x0, r in zip(found.x, b.x, b.dx, strict=True)]
        poses = s.model.lead(q).poses
        touched = touched_of(s.model, found.x, poses, self.grips)
        push = s.push(self.loads, q, v, found.x, poses, touched)
        (v, a, acc), dx, excess = pushed(s.scheme, s.dt, push, (v, a, acc), dx)
        return Moving(q, v, a, acc, found.lam - excess, found.x, dx, touched, push)


class MixedStepper:
    """Steps of one robot."""

    def __init__(self, model: MixedModel, carrier: Model, scheme: Coefficients, dt: float, tolerance: float) -> None:
        self.model, self.carrier, self.scheme, self.dt = model, carrier, scheme, dt
        self.tolerance, self.memory = tolerance, KeptSolver()
        self.viscosity = [Viscosity(half.system, None) for half in model.halves]
        self.work = [np.zeros((len(half.system.pattern.rows), 9)) for half in model.halves]
        self.iterations, self._factored = 0, model.factored
        self.touchy = model.touches  # whether Newton must take care

    def stretch(self, dt: float) -> None:
        """Make the next steps so long [s]."""
        if dt != self.dt:
            self.dt = dt
            self.memory.forget()

    def begin(
        self, q: Floats, v: Floats, x: list[Floats], loads: Loads, efforts: list[Floats],
        touched: list[Touched | None] | None = None,
    ) -> tuple[Moving, Floats]:  # fmt: skip
        """The state at t = 0 with the accelerations that balance it, and the wrenches (F, 6) of the volumes."""
        model, carrier = self.model, self.carrier
        lead, dx, gravity = model.lead(q), [], model.gravity([0.0])[0]
        total = np.zeros((len(model.frames), 6))
        for k, half in enumerate(model.halves):
            self.viscosity[k].start(x[k])
            half.system.body.gravity = gravity
            state = SoftState(x[k], half.system.rest.rotations)
            energy, force, blocks = half.system.evaluate(state, efforts[k], stiffness=True, blocks=self.work[k])
            if not np.isfinite(energy):
                raise SolverError(f"Elements of {half.name!r} are inside out at the start.")
            total[half.frames] += half.wrenches(force, lead.poses)
            blocks[:] = 0.0
            blocks[:, [0, 4, 8]] = half.mass[:, None]
            half.system.solver.factor(blocks[half.system.inner])
            a = np.zeros_like(x[k])
            a[half.free] = half.system.solver.solve(-force[half.free].reshape(1, -1))[0].reshape(-1, 3)
            twists = (lead.J[model.rows_of(half)] @ v).reshape(-1, 6)
            dx.append((half.velocities(x[k], lead.poses, twists), a, a))
        a, lam = _accelerations(carrier, model.pulled(loads, total), q, v)
        grips = grips_of(model, x, lead.poses, touched or [None] * len(x))
        now = touched_of(model, x, lead.poses, grips)
        push = self.push(loads, q, v, x, lead.poses, now)
        total = total + contact_wrenches(model, x, lead.poses, now)
        return Moving(q, v, a, a.copy(), lam + push.lam, x, dx, now, push), total

    def push(
        self, loads: Loads, q: Floats, v: Floats, x: list[Floats], poses: Poses, touched: list[Touched | None]
    ) -> Push:
        """Accelerations by what touches, and the multipliers that go with them."""
        model, carrier = self.model, self.carrier
        nodes, none = node_pushes(model, x, touched), np.zeros(carrier.size)
        wrenches = contact_wrenches(model, x, poses, touched)
        if not wrenches.any():
            return Push(none, nodes, np.zeros(carrier.rows))
        force = model.lead(q).J.T @ wrenches.ravel()
        here = Evaluation(carrier, model.pulled(loads, 0.0 * wrenches), q, v, none, np.zeros(carrier.rows))
        more, lam = _balanced(carrier, here, force, loads.driven)
        return Push(more, nodes, lam)

    def step(self, now: Moving, loads: Loads, efforts: list[Floats], t: float) -> tuple[int, Moving, Floats]:
        """(status, the state after a step that ends at t, the wrenches of the volumes there)."""
        if self._factored != self.model.factored:
            self.memory.forget()  # somebody else has used the solvers of the volumes
        problem = MixedStep(self, now, loads, efforts, t)
        still = Mixed(0.0 * now.q, now.lam.copy(), [x.copy() for x in now.x])
        goal = max(SMALLEST, self.tolerance * problem.size())
        quick, slow = (Newton(goal, 40, chord=chord, round_off=max(1e-11, goal)) for chord in (True, False))
        first, second = (0.0, 1.0) if any(told is not None and len(told.point) for told in now.touched) else (1.0, 0.0)
        for newton, guess in ((quick, problem.guess(first)), (quick, problem.guess(second)), (slow, still)):
            problem.careful, problem.correct = newton is slow or self.touchy, self.memory.solve
            out = newton.solve(problem, guess, self.memory)
            self.iterations += out.iterations
            if out.status == CONVERGED:
                break
            self.memory.forget()
        self._factored = self.model.factored
        if out.status != CONVERGED:
            return out.status, now, np.zeros(0)
        found = problem.evaluate(out.x)
        assert found is not None
        for viscosity, x in zip(self.viscosity, out.x.x, strict=True):
            viscosity.accept(x, self.dt)
        after = problem.end(out.x, found.wrenches)
        heavy = contact_wrenches(self.model, after.x, found.lead.poses, after.touched)
        return CONVERGED, after, found.wrenches - (weight_of(self.scheme, self.dt) - 1.0) * heavy


def _accelerations(carrier: Model, loads: Loads, q: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Accelerations (n,) and multipliers (m,) that balance the carrier; imposed accelerations as imposed."""
    n, m = carrier.size, carrier.rows
    a, at = np.zeros(n), int(loads.at[MOTION])
    for k, coordinate in enumerate(loads.driven.tolist()):
        a[coordinate] = loads.row[at + 3 * k + 2]
    here = Evaluation(carrier, loads, q, v, a, np.zeros(m))
    more, lam = _balanced(carrier, here, -here.residual, loads.driven)
    return a + more, lam


def _balanced(carrier: Model, here: Evaluation, force: Floats, driven: Ints) -> tuple[Floats, Floats]:
    """Accelerations (n,) and multipliers (m,) that balance a generalised force (n,); imposed coordinates get none."""
    n, m = carrier.size, carrier.rows
    border = here.flat.copy()
    border[:n, :n] = here.M
    right = np.concatenate([force, np.zeros(m)])
    border[driven], border[:, driven] = 0.0, 0.0
    border[driven, driven], right[driven] = 1.0, 0.0
    scale = np.concatenate([carrier.tree.scale, np.ones(m)])
    found = np.linalg.lstsq(border / scale[:, None] / scale, right / scale, rcond=1e-14)[0] / scale
    return found[:n], found[n:]


def refuse_motion(model: MixedModel, carrier: Model, given: Mapping[str, Any]) -> None:
    """Refuse what motions with volumes cannot do yet."""
    for name, value in given.items():
        if value is not None:
            raise DescriptionError(f"{name} is not available for robots with soft volumes yet: leave it out.")
    loads = carrier.robot.loads
    if any(load.touches or load.remembers for load in loads) or relaxes(carrier.blank) or grasps(carrier.blank):
        raise DescriptionError(
            f"Robot {model.name!r}: contact, viscoelastic rods and loads that remember do not move together with soft "
            "volumes yet; ag.statics takes contact without friction."
        )
    if rubs(carrier.blank.cables):
        raise DescriptionError(
            f"Robot {model.name!r}: tendons with friction are not supported in motions with soft volumes yet."
        )
