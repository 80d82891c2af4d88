"""Motions of robots with soft volumes: from a description to a judged trajectory.

Steps end at each jump of what acts, and begin anew behind it. Accelerations with which they begin are those that the steps
can follow: of modes much faster than dt, only what a first step of the scheme would leave of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.ports import Drive, followed
from anguilla.describe.robot import Robot
from anguilla.describe.sampled import Sampled
from anguilla.errors import DescriptionError, SolverError, as_positive, as_steps, warn
from anguilla.fem.contact import Touched
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.mesh import Floats
from anguilla.interact.kernels.table import Loads
from anguilla.mixed.dynamics import WORDS, MixedStep, MixedStepper, Moving, refuse_motion
from anguilla.mixed.half import Half
from anguilla.mixed.judging import judge, places_of, signals
from anguilla.mixed.model import MixedModel, mixed_of
from anguilla.mixed.momenta import Momenta, is_isolated
from anguilla.mixed.results import MixedEquilibrium, MixedTrajectory
from anguilla.mixed.statics import Mixed, nodes_from
from anguilla.model.model import Model
from anguilla.results.quality import Quality
from anguilla.results.states import Equilibrium, Status
from anguilla.solve.newton.closing import SINGULAR_START, broken, close
from anguilla.solve.newton.progress import progress_bar
from anguilla.solve.newton.rules import CONVERGED
from anguilla.solve.steps.dynamics import DEFAULT_METHOD, check_serves
from anguilla.solve.steps.events import SNAP, Jump, events_of, jumps_of_signals, place
from anguilla.solve.steps.schemes import Coefficients, Scheme, as_scheme
from anguilla.solve.steps.walked import Path

__all__ = ["MixedMotion", "simulate"]

# what acts at a time: loads of the carrier, efforts of each volume, the time [s]
Acting = tuple[Loads, list[Floats], float]


class _Onset(MixedStep):
    """The balance where a step begins, with given accelerations, and the tangent of a step from there.

    Accelerations by contact are not among these: see `Moving`.
    """

    def __init__(self, stepper: MixedStepper, begin: Moving, what: Acting) -> None:
        super().__init__(stepper, begin, *what)
        self.touching = False
        self.nodes_unmoved = [(velocity, acc) for velocity, _, acc in begin.dx]

    def rates(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Coordinates, rates and accelerations (n,) of the beginning."""
        return self.begin.q.copy(), self.begin.v, self.begin.acc

    def still(self) -> Mixed:
        """Nothing has moved yet."""
        return Mixed(0.0 * self.begin.q, self.begin.lam.copy(), [x.copy() for x in self.begin.x])


@dataclass
class MixedMotion:
    """A robot with soft volumes on its way, to be walked with steps of any length.

    Attributes:
        model: the robot.
        carrier: its rods and bodies, with loops as they are closed at the start.
        scheme: of the steps.
        tolerance: of Newton's method.
        inputs: as given.
        own: those of rods and bodies.
        start: coordinates, rates (n,) and positions (nodes, 3) [m] of each volume at t = 0.
        velocities: (nodes, 3) [m/s] of each volume at t = 0; with their frames if not given.
        touched: what each volume touched before t = 0, if that is known.
        smooth: whether accelerations that steps cannot follow are smoothed where they begin.
        jumps: instants [s] just before and just after each jump of what acts.
        slack: tendons that were told to be slack.

    """

    model: MixedModel
    carrier: Model
    scheme: Coefficients
    tolerance: float
    inputs: Mapping[str, Any]
    own: dict[str, Any]
    start: tuple[Floats, Floats, list[Floats]]
    velocities: list[Floats] | None = None
    touched: list[Touched | None] | None = None
    smooth: bool = True
    jumps: tuple[tuple[float, float], ...] = ()
    slack: set[str] = field(default_factory=set)

    def acting(self, t: float) -> Acting:
        """What acts at a time [s]."""
        return self.carrier.loads(t, self.own, pulling=True).at(0), self.model.split(self.inputs, t, self.slack)[1], t

    def begin(self, stepper: MixedStepper, what: Acting) -> tuple[Moving, Floats]:
        """The state at t = 0, and the wrenches (F, 6) of the volumes."""
        q, v, x = self.start
        now, wrenches = stepper.begin(q.copy(), v.copy(), [nodes.copy() for nodes in x], what[0], what[1], self.touched)
        if self.velocities is not None:
            dx = [(own, *rates[1:]) for own, rates in zip(self.velocities, now.dx, strict=True)]
            now = now._replace(dx=dx)
        if self.smooth:
            rest = now._replace(a=0.0 * now.a, acc=0.0 * now.acc, lam=0.0 * now.lam)
            rest = rest._replace(dx=[(rates[0], 0.0 * rates[1], 0.0 * rates[1]) for rates in now.dx])
            begun = _begun(stepper, rest, None, what)
            now = now if begun is None else begun._replace(lam=begun.lam + now.push.lam)
        return now, wrenches

    def keeper(self, now: Moving) -> Callable[[Moving], Moving]:
        """What gives states of a robot that flies alone the momenta of its start; of others nothing."""
        if not is_isolated(self.model, self.carrier):
            return lambda state: state
        momenta = Momenta(self.model, self.carrier)
        wanted = momenta.of(now)
        return lambda state: momenta.kept(state, wanted)

    def walk(self, dt: float, steps: int, counted: Callable[[MixedStepper], None] | None = None) -> Iterator[Any]:
        """The states at t = 0 and after each step, with the wrenches (F, 6) of the volumes there."""
        stepper = MixedStepper(self.model, self.carrier, self.scheme, dt, self.tolerance)
        if counted is not None:
            counted(stepper)
        jumps: dict[int, list[Jump]] = {}
        for jump in place(self.jumps, dt, steps):
            jumps.setdefault(jump.step, []).append(jump)
        table = self.carrier.loads(dt * np.arange(steps + 1), self.own, pulling=True)
        now, wrenches = self.begin(stepper, self.acting(jumps[-1][-1].after if -1 in jumps else 0.0))
        keep = self.keeper(now)
        yield now, wrenches
        for k in range(1, steps + 1):
            if k - 1 in jumps:
                status, now, wrenches = self._across(stepper, now, jumps[k - 1], (k - 1) * dt, k * dt)
            else:
                efforts = self.model.split(self.inputs, k * dt, self.slack)[1]
                status, now, wrenches = stepper.step(now, table.at(k), efforts, k * dt)
            if status != CONVERGED:
                raise SolverError(WORDS[status])
            now = keep(now)
            yield now, wrenches

    def _across(
        self, stepper: MixedStepper, now: Moving, jumps: list[Jump], t: float, end: float
    ) -> tuple[int, Moving, Floats]:
        """A step from t to `end` [s] with jumps in it, in pieces that end at each."""
        dt, status, wrenches = stepper.dt, CONVERGED, np.zeros(0)
        try:
            for jump in [*jumps, None]:
                until = end if jump is None else min(jump.at, end)
                if until - t > SNAP * dt:
                    stepper.stretch(until - t)
                    what = self.acting(until if jump is None else jump.before)
                    status, now, wrenches = stepper.step(now, *what)
                    if status != CONVERGED:
                        break
                    t = until
                if jump is not None:
                    stepper.stretch(dt)
                    for viscosity in stepper.viscosity:
                        viscosity.jolt()
                    now = _begun(stepper, now, self.acting(jump.before), self.acting(jump.after)) or now
        finally:
            stepper.stretch(dt)
        return status, now, wrenches


def _begun(stepper: MixedStepper, now: Moving, before: Acting | None, after: Acting) -> Moving | None:
    """The state with accelerations and multipliers that something new makes; None if that cannot be found.

    What changes in the balance is taken up as a step of the scheme would do it: M + gamma dt C + beta dt^2 K in place of the
    mass. Of modes that steps follow that is their acceleration but for terms of second order; faster ones hardly feel it.
    """
    problem = _Onset(stepper, now, after)
    new = problem.evaluate(problem.still())
    if new is None:
        return None
    left, gradients = new.left, new.gradients
    if before is not None:
        onset = _Onset(stepper, now, before)
        old = onset.evaluate(onset.still())
        if old is None:
            return None
        left = left - old.left
        left[stepper.carrier.size :] = 0.0
        gradients = [b - a for a, b in zip(old.gradients, gradients, strict=True)]
    solve = problem.factorise(new)
    if solve is None:
        return None
    step, ca = solve(new._replace(left=left, gradients=gradients)), problem.by[2]
    acc, dx = now.acc + ca * step.q, []
    at = problem.imposed()
    acc[at[0]] = at[1][:, 2]
    for half, (velocity, _, old_acc), change in zip(stepper.model.halves, now.dx, step.x, strict=True):
        a = old_acc.copy()
        a[half.free] += ca * change
        dx.append((velocity, a, a))
    return now._replace(a=acc, acc=acc.copy(), lam=now.lam + step.lam, dx=dx)


def simulate(
    robot: Robot | MixedModel, *, duration: float, dt: float, inputs: Mapping[str, Any] | None = None,
    start: object = None, method: Scheme | str = DEFAULT_METHOD, every: int = 1, tolerance: float | None = None,
    error: float | None = None, progress: bool | None = None, raise_on_failure: bool = True, checkpoint: object = None,
    smooth_start: bool = True, events: ArrayLike | None = None,
) -> MixedTrajectory:  # fmt: skip
    """`ag.simulate` of a robot with soft volumes: equal steps, which end at jumps of what acts."""
    model = mixed_of(robot)
    with model.alone, ExitStack() as desks:
        desks.enter_context(model.carrier.apart())
        refuse_motion(model, model.carrier, {"error": error, "checkpoint": checkpoint})
        steps, dt, every = as_steps(duration, dt, every), float(dt), int(every)
        motion = opened(model, desks, dt, steps, inputs, start, method, tolerance, smooth_start)
        motion.jumps = _jumps(motion, dt, steps, events)
        return _simulate(motion, dt, steps, every, progress, raise_on_failure)


def opened(
    model: MixedModel, desks: ExitStack, dt: float, steps: int, inputs: Mapping[str, Any] | None, start: object,
    method: Scheme | str, tolerance: float | None, smooth: bool,
) -> MixedMotion:  # fmt: skip
    """A motion, ready to be walked."""
    accuracy = 1e-8 if tolerance is None else as_positive(tolerance, "tolerance", "")
    scheme = as_scheme(method).coefficients
    if scheme.mid < 1.0:
        raise DescriptionError(
            "Midpoint does not support robots with soft volumes; use Newmark, HHT or GeneralisedAlpha."
        )
    carrier = model.carrier
    check_serves(scheme, method, carrier)
    if any(drive != Drive() for drive in model.robot.drives.values()):
        inputs = followed(model.robot.drives, inputs or {}, dt, steps)
    slack: set[str] = set()
    own, _ = model.split(inputs, 0.0, slack)
    carrier.told_slack.clear()
    q, v = _start(model, start)
    if not carrier.is_plain:
        carrier, q = close(carrier, own, 0.0, q)
        desks.enter_context(carrier.apart())
    x = nodes_from(model, q, start, model.gravity([0.0])[0])
    told = start.touched[-1] if isinstance(start, MixedEquilibrium | MixedTrajectory) and start.touched else None
    velocities, touched = None, None if told is None else list(told)
    if isinstance(start, MixedTrajectory):
        velocities = [start.volume(half.name).v[-1] for half in model.halves]
    return MixedMotion(
        model, carrier, scheme, accuracy, dict(inputs or {}), own, (q, v, x), velocities, touched, smooth,
        slack=slack,
    )  # fmt: skip


def _start(model: MixedModel, start: object) -> tuple[Floats, Floats]:
    """Coordinates and rates (n,) to start from."""
    size = model.carrier.vector
    if isinstance(start, MixedTrajectory):
        return size(start.q[-1], "start"), size(start.v[-1], "start")
    if isinstance(start, tuple) and len(start) == 2:
        return size(start[0], "start[0]"), size(start[1], "start[1]")
    if isinstance(start, Equilibrium) and not isinstance(start, MixedEquilibrium):
        raise DescriptionError("start must be an equilibrium of the same robot with its volumes, q, or (q, v).")
    given: Any = start.q if isinstance(start, MixedEquilibrium) else start
    return size(given, "start"), size(None, "start")


def _jumps(motion: MixedMotion, dt: float, steps: int, events: ArrayLike | None) -> tuple[tuple[float, float], ...]:
    """Instants [s] before and after each jump of what acts on rods, bodies and volumes."""
    known = motion.carrier.loads(dt * np.arange(1, steps + 1), motion.own)
    table = None if events is not None or steps < 2 else (known.times, known.table)
    found = [(jump.before, jump.after) for jump in events_of(motion.carrier, motion.own, dt, steps, events, table)]
    if events is None:
        found += jumps_of_signals(motion.model.name, *signals(motion), dt, steps)
    return tuple(sorted(found))


def _simulate(
    motion: MixedMotion, dt: float, steps: int, every: int, progress: bool | None, raise_on_failure: bool
) -> MixedTrajectory:
    began, model, carrier = time.perf_counter(), motion.model, motion.carrier
    steppers: list[MixedStepper] = []
    kept: list[tuple[Moving, Floats]] = []
    path, places = Path(dt, steps, model.length), places_of(motion)
    done, why = 0, ""
    with progress_bar(f"simulating {model.name}", steps, progress) as tick:
        try:
            for k, state in enumerate(motion.walk(dt, steps, steppers.append)):
                done = k
                path.add(places(state[0]))
                if k % every == 0:
                    kept.append(state)
                if k:
                    tick(1)
        except SolverError as stopped:
            if not kept:
                raise
            why = str(stopped).rstrip(".")
    ok = done == steps
    message = "reached the end" if ok else f"stopped at t = {done * dt:g} s: {why}"
    (stepper,) = steppers
    counters = {"iterations": stepper.iterations, "factorisations": stepper.memory.factorisations, "steps": done}
    if motion.jumps:
        counters["events"] = len(motion.jumps)
    end = Status(ok, message, counters, time.perf_counter() - began)
    result = trajectory(motion, kept, dt * every, end)
    conflict = broken(carrier, result.inputs, result.t, result.q, result.v)
    if conflict:
        raise SolverError(
            f"The motion of {model.name!r} is impossible: {conflict}.", result=result, advice=SINGULAR_START
        )
    if not ok and raise_on_failure:
        raise SolverError(f"The motion of {model.name!r} {message}.", result=result, advice="Try a smaller dt.")
    if ok:
        quality = judge(motion, result, path, places)
        object.__setattr__(result, "_judged", partial(_same, quality))
        if quality.messages:
            warn(" ".join(quality.messages))
    return result


def _same(quality: Quality) -> Quality:
    return quality


def trajectory(
    motion: MixedMotion, kept: list[tuple[Moving, Floats]], interval: float, end: Status, first: float = 0.0
) -> MixedTrajectory:
    """States that were kept, an interval [s] apart from the first on, as a result."""
    model, own = motion.model, motion.own
    states = [state for state, _ in kept]
    t = first + interval * np.arange(len(kept), dtype=np.float64)
    wrenches = np.array([pull.ravel() for _, pull in kept]).reshape(len(kept), -1)
    ports: Any = list(chain(*model.ports))
    if len(kept) == 1:
        told = own | dict(zip(ports, wrenches[0].tolist(), strict=True))
    else:
        told = own | {name: Sampled(wrenches[:, k], interval) for k, name in enumerate(ports)}
    q, v, a, lam = (np.array([getattr(s, name) for s in states]) for name in ("q", "v", "acc", "lam"))
    a = a + np.array([s.push.q for s in states])
    volumes = {}
    for k, half in enumerate(model.halves):
        names = {f"{half.name}.{name}": name for name in half.system.names}
        inputs = {names[key]: value for key, value in motion.inputs.items() if key in names}
        velocity = np.array([_velocities(model, half, s, s.dx[k][0], k) for s in states])
        nodes = np.array([s.x[k] for s in states])
        volumes[half.name] = SoftTrajectory(half.view.body, half.view, t, nodes, velocity, half.whole_mass, end, inputs)
    return MixedTrajectory(
        model.source, motion.carrier, end, t, q, v, a, lam.reshape(len(t), -1), told, volumes=volumes, mixed=model,
        touched=[s.touched for s in states],
    )  # fmt: skip


def _velocities(model: MixedModel, half: Half, state: Moving, own: Floats, k: int) -> Floats:
    """Velocities (nodes, 3) [m/s] of all nodes; those of led ones are what their frames do."""
    lead = model.lead(state.q)
    twists = (lead.J[model.rows_of(half)] @ state.v).reshape(-1, 6)
    out = half.velocities(state.x[k], lead.poses, twists)
    out[half.free] = own[half.free]
    return out
