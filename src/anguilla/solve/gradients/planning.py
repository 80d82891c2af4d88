"""Optimal motions: inputs over time, start, duration and design that make a cost least, by exact gradients."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize

from anguilla._doors import public
from anguilla.describe import Robot
from anguilla.describe.sampled import Sampled
from anguilla.errors import AnguillaWarning, DescriptionError, as_array, as_count, as_named, as_positive, as_range
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.ports import moving_ports
from anguilla.results.states import Trajectory
from anguilla.solve.gradients.adjoint import gradient
from anguilla.solve.gradients.costs import Cost
from anguilla.solve.gradients.designs import as_design
from anguilla.solve.steps.dynamics import DEFAULT_METHOD, simulate
from anguilla.solve.steps.schemes import Scheme

__all__ = ["MotionPlan", "MotionProblem", "optimise_motion"]

FOURTH = ((-2, 1.0 / 12.0), (-1, -8.0 / 12.0), (1, 8.0 / 12.0), (2, -1.0 / 12.0))
STEP = 1e-3  # of a duration, over itself


@dataclass(frozen=True)
class SmoothInput:
    """A smooth function of t through values at equal times: an input that prescribes a motion needs its rate too."""

    values: Floats
    duration: float

    @property
    def _spline(self) -> CubicSpline:
        return CubicSpline(np.linspace(0.0, self.duration, len(self.values)), self.values, bc_type="clamped")

    def __call__(self, t: float) -> float:
        """Value at time t [s]."""
        return float(self.jets(np.array([t]))[0, 0])

    def jets(self, times: Floats) -> Floats:
        """Values, rates and accelerations (nt, 3)."""
        spline, inside = self._spline, np.clip(times, 0.0, self.duration)
        return np.stack([spline(inside, order) for order in range(3)], axis=1)


@public
@dataclass(frozen=True)
class MotionPlan:
    """What `optimise_motion` found.

    Attributes:
        run: the motion.
        cost: its cost.
        costs: of all motions that were tried.
        inputs: values at the knots, by input.
        design: (d,) parameters.
        duration: [s].
        start: coordinates and rates at the start (q, v).
        message: how the search ended.

    """

    run: Trajectory
    cost: float
    costs: list[float]
    inputs: dict[str, Floats]
    design: Floats
    duration: float
    start: tuple[Floats, Floats]
    message: str

    def __repr__(self) -> str:
        return f"<motion of cost {self.cost:.6g}, {len(self.costs)} motions tried: {self.message}>"


@dataclass
class MotionProblem:
    """The cost of a motion as a function of numbers x, all in one: inputs, start, design, duration; see `optimise_motion`."""

    robot: Robot
    cost: Cost
    duration: float
    dt: float
    inputs: dict[str, Floats]
    known: dict[str, Any] = field(default_factory=dict)
    start: tuple[Floats, Floats] | None = None
    free_start: Sequence[str] = ()
    design: Sequence[str] = ()
    free_duration: bool = False
    method: Scheme | str = DEFAULT_METHOD

    def __post_init__(self) -> None:
        model = model_of(self.robot)
        labels, known = self.robot.coordinates(), list(self.robot.inputs)
        for name in (*self.inputs, *self.known):
            if name not in known:
                raise DescriptionError(f"inputs: there is no input {name!r}; there are: {', '.join(known) or 'none'}.")
        self.steps = round(as_positive(self.duration, "duration", "s") / as_positive(self.dt, "dt", "s"))
        if self.steps < 1:
            raise DescriptionError("duration must be at least one step dt.")
        self.moving = [name for name in model.once(moving_ports) if name in self.inputs]
        self.open = model.is_plain
        zero = np.zeros(model.size)
        self.begin = (zero, zero.copy()) if self.start is None else self.start
        balls = {k + i for k in model.tree.ball[:, 0].tolist() for i in range(3)}
        self.places: list[tuple[int, int]] = []  # 0 for a coordinate, 1 for its rate; which
        for name in self.free_start:
            which, label = (1, name.removeprefix("rate of ")) if name.startswith("rate of ") else (0, name)
            if label not in labels:
                raise DescriptionError(f"free_start: there is no coordinate {label!r}; there are: {', '.join(labels)}.")
            if which == 0 and labels.index(label) in balls:
                raise DescriptionError(f"free_start: {label!r} is a rotation of a ball joint, which is not supported.")
            self.places.append((which, labels.index(label)))
        self.make, self.parameters = None, np.zeros(0)
        if self.design:
            self.make, self.parameters, _ = as_design(list(self.design), self.robot)

    @property
    def first(self) -> Floats:
        """x to begin with."""
        start = np.array([self.begin[which][k] for which, k in self.places])
        last = np.array([self.duration] if self.free_duration else [])
        return np.concatenate([*self.inputs.values(), start, self.parameters, last])

    def split(self, x: Floats) -> tuple[dict[str, Floats], tuple[Floats, Floats], Floats, float]:
        """Inputs at the knots, start, design and duration of x."""
        sizes = [len(values) for values in self.inputs.values()]
        parts = np.split(x, np.cumsum([*sizes, len(self.places), len(self.parameters)]))
        begin = tuple(part.copy() for part in self.begin)
        for (which, k), value in zip(self.places, parts[-3], strict=True):
            begin[which][k] = value
        inputs = dict(zip(self.inputs, parts[: len(sizes)], strict=True))
        return inputs, (begin[0], begin[1]), parts[-2], float(parts[-1][0]) if self.free_duration else self.duration

    def run(self, x: Floats) -> tuple[Trajectory, Cost]:
        """The motion of x, and the cost for its robot."""
        inputs, start, design, duration = self.split(x)
        robot, cost = self.robot, self.cost
        if self.make is not None:
            robot = self.make(design)
            cost = cost.on(robot)
        dt = duration / self.steps
        given: dict[str, Any] = dict(self.known)
        for name, values in inputs.items():
            given[name] = (
                SmoothInput(values, duration) if name in self.moving else Sampled(self._spread(values) @ values, dt)
            )
        run = simulate(
            robot, duration=duration, dt=dt, inputs=given, start=start, method=self.method, tolerance=1e-10, events=[],
            smooth_start=self.open, progress=False,
        )  # fmt: skip
        return run, cost

    def _spread(self, values: Floats) -> Floats:
        """(nt, knots) values at all instants by those at the knots: straight lines in between."""
        if len(values) == self.steps + 1:
            return np.eye(len(values))
        at = np.linspace(0.0, len(values) - 1.0, self.steps + 1)
        return np.array([np.interp(at, np.arange(len(values)), unit) for unit in np.eye(len(values))]).T

    def _jets(self, name: str, count: int, duration: float) -> Floats:
        """(nt, 3, knots) values, rates and accelerations by the values at the knots."""
        t = np.linspace(0.0, duration, self.steps + 1)
        return np.stack([SmoothInput(unit, duration).jets(t) for unit in np.eye(count)], axis=2)

    def value(self, x: Floats) -> float:
        """The cost of x."""
        run, cost = self.run(x)
        return cost(run)

    def gradient(self, x: Floats) -> tuple[float, Floats, Trajectory]:
        """The cost of x, its exact gradient, and the motion; by the duration it is that of differences of fourth order."""
        run, cost = self.run(x)
        inputs, _, design, duration = self.split(x)
        wanted = None if self.make is None else (self.make, design)
        found = gradient(run, cost, method=self.method, design=wanted)
        out = []
        for name, values in inputs.items():
            if name in self.moving:
                out.append(np.einsum("to,tok->k", found.motions[name], self._jets(name, len(values), duration)))
            else:
                out.append(self._spread(values).T @ found.inputs[name])
        out.append(np.array([(found.q, found.v)[which][k] for which, k in self.places]))
        out.append(found.design)
        if self.free_duration:
            h = STEP * duration
            ends = [weight / h * self.value(np.append(x[:-1], duration + step * h)) for step, weight in FOURTH]
            out.append(np.array([float(np.sum(ends))]))
        return found.value, np.concatenate(out), run


@public
def optimise_motion(
    robot: Robot, cost: Cost, *, duration: float, dt: float, inputs: Mapping[str, ArrayLike],
    bounds: Mapping[str, tuple[float, float]] | None = None, knots: int | None = None,
    known: Mapping[str, Any] | None = None, start: Any = None, free_start: Sequence[str] = (),
    design: Sequence[str] = (), free_duration: bool = False, iterations: int = 200, tolerance: float = 1e-9,
    method: Scheme | str = DEFAULT_METHOD,
) -> MotionPlan:  # fmt: skip
    """Find the motion of least cost, by exact gradients (L-BFGS-B).

    Args:
        robot: the robot.
        cost: a Cost such as Reach(arm.tip, goal, weight="last") + InputEffort(1e-3) + Energy(0.1).
        duration: how long [s], or first guess of it.
        dt: time step [s]; with a free duration the number of steps stays.
        inputs: inputs to be found: first guesses by name, numbers or values at the knots.
        bounds: (lowest, highest) by input, path of the design, label of the start, or "duration"; tendons do not push.
        knots: number of values of each input, at equal times; one for each instant if not given. Straight lines in between,
            smooth curves that begin and end at rest for inputs that prescribe motions.
        known: other inputs, numbers or functions of t.
        start: coordinates q or (q, v) at the start; the rest shape at rest if not given.
        free_start: labels of coordinates whose start is to be found, "rate of <label>" for rates.
        design: paths of numbers in the description to be found, such as ["arm.length"].
        free_duration: whether the duration is to be found; bounds={"duration": ...} then are needed.
        iterations: most of them.
        tolerance: relative fall of the cost below which it stops.
        method: the integrator.

    Returns:
        A MotionPlan.

    """
    if not isinstance(cost, Cost):
        raise DescriptionError("cost must be a Cost such as Reach(arm.tip, goal) + InputEffort(1e-3).")
    given = {name: as_range(pair, f"bounds[{name!r}]") for name, pair in as_named(bounds, "bounds").items()}
    steps = round(as_positive(duration, "duration", "s") / as_positive(dt, "dt", "s"))
    table: dict[str, Floats] = {}
    for name, guess in inputs.items():
        array = as_array(guess, f"guess of input {name!r}", "a number, or values at the knots")
        count = len(array) if array.ndim else steps + 1 if knots is None else as_count(knots, "knots", 2, steps + 1)
        table[name] = np.full(count, float(array)) if array.ndim == 0 else array
        if table[name].ndim != 1 or not 2 <= as_count(count, "knots") <= steps + 1:
            raise DescriptionError(
                f"input {name!r} needs from 2 to {steps + 1} values at knots; got {np.shape(guess)}."
            )
    begin = None
    if start is not None:
        model = model_of(robot)
        pair = start if isinstance(start, tuple) else (getattr(start, "q", start), None)
        begin = model.vector(pair[0], "start"), model.vector(pair[1], "start")
    problem = MotionProblem(
        robot,
        cost,
        duration,
        dt,
        table,
        dict(known or {}),
        begin,
        tuple(free_start),
        tuple(design),
        free_duration,
        method,
    )
    if free_duration and "duration" not in given:
        raise DescriptionError("free_duration needs bounds={'duration': (shortest, longest)}.")
    names = [name for name, values in table.items() for _ in values] + [*free_start, *design]
    names += ["duration"] if free_duration else []
    for name in given:
        if name not in names:
            raise DescriptionError(
                f"bounds: {name!r} is not among the unknowns, which are: {', '.join(dict.fromkeys(names))}."
            )
    return _searched(problem, names, given, iterations, tolerance)


def _searched(
    problem: MotionProblem, names: list[str], bounds: dict[str, tuple[float, float]], iterations: int, tolerance: float
) -> MotionPlan:
    first = problem.first
    lowest = {name: actuator.lowest for name, actuator in problem.robot.actuators.items()}
    pairs = [bounds.get(name, (lowest.get(name, -np.inf), np.inf)) for name in names]
    low, high = np.array(pairs, dtype=float).T
    first = np.clip(first, low, high)
    size: dict[str, float] = {}
    for name in dict.fromkeys(names):
        mine = np.array([other == name for other in names])
        span = bounds[name][1] - bounds[name][0] if name in bounds else np.inf
        size[name] = span if 0.0 < span < np.inf else max(float(np.max(np.abs(first[mine]))), 1e-300)
        if size[name] <= 1e-300:
            size[name] = 1.0
    scale = np.array([size[name] for name in names])
    costs: list[float] = []
    best: list[Any] = [np.inf, first]

    def value(y: Floats) -> tuple[float, Floats]:
        x = np.clip(y * scale, low, high)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", AnguillaWarning
            )  # of motions on the way; that of the last one is told below
            cost, slope, _ = problem.gradient(x)
        costs.append(cost)
        if cost < best[0]:
            best[:] = [cost, x]
        return cost, slope * scale

    options = {"maxiter": as_count(iterations, "iterations"), "ftol": tolerance, "gtol": 1e-12}
    limits = list(zip(low / scale, high / scale, strict=True))
    found = minimize(value, first / scale, jac=True, method="L-BFGS-B", bounds=limits, options=options)
    inputs, start, design, duration = problem.split(best[1])
    return MotionPlan(problem.run(best[1])[0], best[0], costs, inputs, design, duration, start, str(found.message))
