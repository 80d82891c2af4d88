"""One experiment, computed: its states for values of the parameters, and their derivatives."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anguilla.describe import Robot
from anguilla.describe.description import did_you_mean
from anguilla.errors import AnguillaWarning, DescriptionError, SolverError
from anguilla.identification.measurements import Measurements
from anguilla.identification.parameters import Sought, Source, made_robot
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import at_rest
from anguilla.model.model import Inputs, Model
from anguilla.results.reactions import refuse_relaxing, relaxes
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.solve.gradients.designs import FROM_ZERO, STEP, Twins, around, moves, twins, with_same_rows
from anguilla.solve.gradients.edges import moved_lengths
from anguilla.solve.gradients.fading import can_fade
from anguilla.solve.gradients.instants import balance_rows
from anguilla.solve.gradients.record import door
from anguilla.solve.gradients.sensitivity import motion_changes
from anguilla.solve.newton.dense import solve_bordered
from anguilla.solve.statics.statics import statics
from anguilla.solve.steps.dynamics import simulate_model

__all__ = ["RowStates", "Trial"]

DYNAMIC_STEP = 1e-4  # relative, of a difference between motions: their phases change fast
TIME_STEP = 1e-3  # [s] of a difference by a lag
NEXT_TO_NOTHING = 1e-6  # of the size of a parameter, or of its unit
TIGHT = 1e-11  # tolerance of motions between which differences are taken
FINER = 4  # steps between two rows of a motion


class Column:
    """An input given at the rows, whatever their times."""

    def __init__(self, values: Floats) -> None:
        self.values = values

    def at_times(self, times: Floats) -> Floats:
        """Values at the rows."""
        return self.values

    def __call__(self, t: float) -> float:
        """One number cannot be told."""
        raise AssertionError("an input of rows is asked for all of them at once")


class Line:
    """An input that goes straight from row to row."""

    def __init__(self, t: Floats, values: Floats) -> None:
        self.t, self.values = t, values

    def at_times(self, times: Floats) -> Floats:
        """Values at times [s]."""
        return np.interp(times, self.t, self.values)

    def __call__(self, t: float) -> float:
        """Value at a time [s]."""
        return float(np.interp(t, self.t, self.values))


def _tried(*what: Any) -> Any:
    """The robot that is made of values on the way: that they are implausible is no slip of the user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnguillaWarning)
        return made_robot(*what)


@dataclass
class RowStates:
    """RowStates of an experiment at its rows.

    Attributes:
        model: the model they belong to.
        values: (k,) the parameters.
        inputs: (rows,) by actuator.
        q: (rows, n).
        lam: (rows, m) multipliers.
        run: of a motion, the motion.
        held: of a motion that began at an equilibrium, that.

    """

    model: Model
    values: Floats
    inputs: dict[str, Floats]
    q: Floats
    lam: Floats
    run: Trajectory | None = None
    held: Equilibrium | None = None


@dataclass
class Changes:
    """Derivatives of states by parameters.

    Attributes:
        q: (rows, n, k).
        lam: (rows, m, k).
        twins: those of the parameters that change the robot.
        own: (twins,) their numbers among all parameters.

    """

    q: Floats
    lam: Floats
    twins: Twins
    own: list[int]


@dataclass
class Driven:
    """One experiment: its parameters, and its inputs with their gains, offsets, lags and plays."""

    source: Source
    parameters: Sequence[Sought]
    data: Measurements

    def __post_init__(self) -> None:
        data = self.data
        mine = [k for k, p in enumerate(self.parameters) if p.concerns(data.name, data.group)]
        self.driving = [k for k in mine if self.parameters[k].of_inputs]
        self.own = [k for k in mine if not self.parameters[k].of_inputs]
        for k in self.driving:
            self._check_input(self.parameters[k])

    def _check_input(self, parameter: Sought) -> None:
        for path in parameter.free.paths:
            names = path.split(".")[1:-1]
            if names and names[0] not in self.data.inputs:
                there = ", ".join(self.data.inputs) or "none"
                raise DescriptionError(
                    f"free: {path!r}, but {self.data.name!r} has no input {names[0]!r}; it has {there}."
                )
        if path.endswith(".lag") and self.data.t is None:
            raise DescriptionError(f"free: {path!r} needs the times t of {self.data.name!r}.")

    # Inputs ---------------------------------------------------------------------------------------------------------------

    def inputs(self, values: Floats) -> dict[str, Floats]:
        """Inputs (rows,) by actuator, with their gains, offsets, lags and plays."""
        found = {}
        for name, given in self.data.inputs.items():
            gain, offset, lag, play = 1.0, 0.0, 0.0, 0.0
            for k in self.driving:
                for path in self.parameters[k].free.paths:
                    _, *names, kind = path.split(".")
                    if not names or names[0] == name:
                        gain *= values[k] if kind == "gain" else 1.0
                        offset += values[k] if kind == "offset" else 0.0
                        lag += values[k] if kind == "lag" else 0.0
                        play += values[k] if kind == "backlash" else 0.0
            u = np.asarray(given)
            if lag:
                t = np.asarray(self.data.t)
                u = np.interp(t - lag, t, u)
            u = played(u, play) if play else u
            found[name] = gain * u + offset
        return found

    def _driven(self, values: Floats, k: int) -> dict[str, Floats]:
        """Derivative of the inputs by a parameter."""
        kind = self.parameters[k].free.paths[0].rsplit(".", 1)[1]
        h = TIME_STEP if kind == "lag" else 1e-6 * max(1.0, abs(values[k]))
        if kind == "backlash":  # of the size of the inputs, and not below zero
            h = min(1e-3 * max(float(np.ptp(u)) for u in self.data.inputs.values()), max(0.5 * values[k], 1e-12))
        more, less = values.copy(), values.copy()
        more[k], less[k] = more[k] + h, less[k] - h
        high, low = self.inputs(more), self.inputs(less)
        return {name: (high[name] - low[name]) / (2.0 * h) for name in high}

    def made(self, values: Floats) -> Any:
        """The robot or body for values of all parameters."""
        mine = [self.parameters[k] for k in self.own]
        return _tried(self.source, mine, values[self.own], self.data.given)


@dataclass
class Trial(Driven):
    """One experiment with a robot whose parameters are to be found.

    `like` is another one with the same robot for all values of the parameters: models and twins are made once for both.
    """

    like: Trial | None = field(default=None, repr=False)
    last: RowStates | None = field(default=None, repr=False)
    inexact: str = ""  # why derivatives are differences, if they are
    _model: tuple[bytes, Model] | None = field(
        default=None, repr=False
    )  # the last one, and the values of its parameters
    _twins: Twins | None = field(default=None, repr=False)  # the last ones

    def is_like(self, other: object) -> bool:
        """Whether another experiment has the same robot, whatever the parameters are."""
        if not isinstance(other, Trial) or self.own != other.own:
            return False
        plain = all(isinstance(x, (float, int, str)) for x in self.data.given.values())
        return plain and dict(self.data.given) == dict(other.data.given)

    # States ---------------------------------------------------------------------------------------------------------------

    def model(self, values: Floats) -> Model:
        """The model for values of all parameters."""
        model = self._made_model(values)
        known = model.robot.actuators
        unknown = [name for name in self.data.inputs if name not in known]
        if unknown:
            raise DescriptionError(
                f"{self.data.name!r} has an input {unknown[0]!r}, but the robot has {', '.join(known) or 'no actuator'}"
                f"{did_you_mean(unknown[0], list(known))}: say which columns are inputs, Measurements.read(..., "
                "inputs=[...]), and what they are called here, columns={...}."
            )
        return model

    def _made_model(self, values: Floats) -> Model:
        if self.like is not None:
            return self.like._made_model(values)
        key = values[self.own].tobytes()
        if self._model is None or self._model[0] != key:
            self._model = key, Model(self.made(values))
        return self._model[1]

    def _made_twins(self, model: Model, own: Floats) -> Twins:
        """Twins of a model for its values of the parameters that change the robot."""
        if self.like is not None:
            return self.like._made_twins(model, own)
        if self._twins is None or self._twins.model is not model:
            self._twins = twins(model, (self._made, own), steps=self._steps(own)) if len(own) else Twins(model, [])
        return self._twins

    def _held_twins(self, model: Model, own: Floats) -> Twins:
        """The same of what holds a motion until it begins."""
        make = lambda p: self._made(p, self.data.held)
        return twins(model, (make, own), steps=self._steps(own)) if self.own else Twins(model, [])

    def _steps(self, own: Floats) -> Floats:
        """Steps (own,) of differences between twins."""
        return np.array([self._step(k, float(x), STEP, FROM_ZERO) for k, x in zip(self.own, own, strict=True)])

    def _step(self, k: int, value: float, part: float, from_zero: float) -> float:
        """Step of a difference by a parameter: a part of its value, or of what it may be if that is next to nothing."""
        size = self.parameters[k].size or 1.0
        return part * abs(value) if abs(value) > NEXT_TO_NOTHING * size else from_zero * size

    def states(self, values: Floats) -> RowStates:
        """RowStates for values (k,) of all parameters."""
        inputs = self.inputs(values)
        if self.data.motion:
            found = self._motion(self.model(values), values, inputs)
        else:
            found = self._equilibria(self.model(values), values, inputs, self.last)
        self.last = found
        return found

    def _equilibria(
        self, model: Model, values: Floats, inputs: dict[str, Floats], guess: RowStates | None
    ) -> RowStates:
        q, lam, system, last = list[Floats](), list[Floats](), model, None
        if self.data.t is not None and np.any(model.blank.cables.friction):
            return self._on_a_path(model, values, inputs)
        for row in range(self.data.rows):
            if not self.data.seen[row]:
                q.append(np.zeros(model.size))
                lam.append(np.zeros(system.rows))
                continue
            given = {name: float(u[row]) for name, u in inputs.items()}
            near = guess.q[row] if guess is not None else last if self.data.t is not None else None
            try:
                eq = statics(model, inputs=given, start=near)
            except SolverError:
                if near is None:
                    raise
                eq = statics(model, inputs=given)
            system, last = eq.system, eq.q
            q.append(eq.q)
            lam.append(eq.stored.lam[0])
        return RowStates(system, values.copy(), inputs, np.array(q), np.array(lam).reshape(len(q), system.rows))

    def _on_a_path(self, model: Model, values: Floats, inputs: dict[str, Floats]) -> RowStates:
        """Equilibria one after the other: friction of tendons remembers those before, also where nothing was measured."""
        found, last = [], None
        for row in range(self.data.rows):
            last = statics(model, inputs={name: float(u[row]) for name, u in inputs.items()}, start=last)
            found.append(last)
        lam = np.array([eq.stored.lam[0] for eq in found]).reshape(len(found), -1)
        return RowStates(found[-1].system, values.copy(), inputs, np.array([eq.q for eq in found]), lam)

    def _motion(
        self, model: Model, values: Floats, inputs: dict[str, Floats], tolerance: float | None = None
    ) -> RowStates:
        """The motion; with a tolerance, one beside it, between which differences are taken."""
        data = self.data
        t = np.asarray(data.t) - np.asarray(data.t)[0]
        lines: Inputs = {name: Line(t, u) for name, u in inputs.items()}
        held = None
        if data.held is not None:
            robot = Model(self._made(values[self.own], data.held)) if data.held else model
            held = statics(robot, inputs={name: float(u[0]) for name, u in inputs.items()}, tolerance=1e-12)
        steps = int(np.ceil(t[-1] / (data.dt or np.min(np.diff(t)) / FINER) - 1e-9))
        run = simulate_model(
            model, duration=t[-1], dt=t[-1] / steps, inputs=lines, start=None if held is None else held.q,
            tolerance=tolerance, progress=False, judged=tolerance is None,
        )  # fmt: skip
        lam = np.array([np.interp(t, run.t, x) for x in run.stored.lam.T]).reshape(run.system.rows, len(t)).T
        return RowStates(run.system, values.copy(), inputs, between(run.t, run.q, run.v, t), lam, run, held)

    def _made(self, own: Floats, more: Mapping[str, float] | None = None) -> Robot:
        """The robot for values of the parameters that change it, with what is given of the experiment, and more of it."""
        mine = [self.parameters[k] for k in self.own]
        robot: Robot = _tried(self.source, mine, own, {**self.data.given, **(more or {})})
        return robot

    def actuators(self, states: RowStates) -> list[str]:
        """Names of the actuators."""
        return list(states.model.robot.actuators)

    def size(self, states: RowStates) -> float:
        """How large the robot is [m]."""
        return states.model.length

    # Derivatives ----------------------------------------------------------------------------------------------------------

    def changes(self, states: RowStates) -> Changes:
        """Derivatives of the states by all parameters: exact, but where what is remembered, such as friction, forbids it."""
        model, count = states.model, len(self.parameters)
        q, lam = np.zeros((*states.q.shape, count)), np.zeros((*states.lam.shape, count))
        if not self.data.motion and not np.any(model.blank.cables.friction):
            found, solved = self._static_changes(states, self._made_twins, states.values, self.data.seen)
            for row, change in solved.items():
                q[row][:, [*self.own, *self.driving]] = change[: model.size]
                lam[row][:, [*self.own, *self.driving]] = change[model.size :]
            return Changes(q, lam, found, self.own)
        if states.run is not None:
            try:
                return self._of_motion(states, states.run, q, lam)
            except DescriptionError as error:
                self.inexact = str(error)
        else:
            self.inexact = "friction of tendons remembers the equilibria before."
        return self._by_differences(states, q, lam)

    def _static_changes(
        self, states: RowStates, make: Callable[[Model, Floats], Twins], values: Floats, seen: Any
    ) -> tuple[Twins, dict[int, Floats]]:
        """Twins for the parameters that change the robot, and changes (n + m, own and driving) of each row seen."""
        found = make(states.model, values[self.own])
        inputs = _apart(states)
        columns = [found.slope(j, lambda m: _balance(m, states, inputs)) for j in range(len(self.own))]
        for k in self.driving:
            change = self._driven(values, k)
            columns.append(_driving(states, inputs, {name: u[: len(states.q)] for name, u in change.items()}))
        return found, _solved(states, columns, seen)

    def _of_motion(self, states: RowStates, run: Trajectory, q: Floats, lam: Floats) -> Changes:
        """Derivatives of a motion and of the equilibrium that it began at, exact; refuses motions that have none."""
        if relaxes(run.system.blank) and not can_fade(run):
            refuse_relaxing(run.system.blank, "sensitivities")  # before twins are made
        n, order = states.model.size, [*self.own, *self.driving]
        begin, own, held = np.zeros((n, len(order))), states.values[self.own], states.held
        t = np.asarray(self.data.t) - np.asarray(self.data.t)[0]
        if held is not None:
            rows = {name: u[:1] for name, u in states.inputs.items()}
            first = RowStates(held.system, states.values, rows, held.stored.q, held.stored.lam)
            make = self._held_twins if self.data.held else self._made_twins
            _, solved = self._static_changes(first, make, states.values, np.ones(1, dtype=bool))
            begin = solved[0][:n]
        found = self._made_twins(states.model, own)
        shapes = [
            {name: np.interp(run.t, t, u) for name, u in self._driven(states.values, k).items()} for k in self.driving
        ]
        change = motion_changes(run, found, shapes, begin)
        for j, k in enumerate(order):
            q[..., k] = between(run.t, change.q[..., j], change.v[..., j], t)
            for i in range(lam.shape[1]):
                lam[:, i, k] = np.interp(t, run.t, change.multipliers[:, i, j])
        return Changes(q, lam, found, self.own)

    def _by_differences(self, states: RowStates, q: Floats, lam: Floats) -> Changes:
        found = Twins(states.model, [])
        for k in [*self.own, *self.driving]:
            lag = self.parameters[k].free.paths[0].endswith(".lag") and self.parameters[k].of_inputs
            h = TIME_STEP if lag else self._step(k, float(states.values[k]), DYNAMIC_STEP, 1e-5)

            def at(steps: float, k: int = k, h: float = h) -> RowStates:
                values = states.values.copy()
                values[k] += steps * h
                model, inputs = with_same_rows(self.model(values), states.model), self.inputs(values)
                if self.data.motion:
                    return self._motion(model, values, inputs, TIGHT)
                return self._equilibria(model, values, inputs, states)

            places = around(at, h)
            q[..., k] = sum(weight * there.q for weight, there in places)
            lam[..., k] = sum(weight * there.lam for weight, there in places)
            if k in self.own:
                found.around.append([(weight, there.model) for weight, there in places])
                found.placed.append(any(moves(states.model, there.model) for _, there in places))
        return Changes(q, lam, found, self.own)


def played(u: Floats, play: float) -> Floats:
    """What comes through a play: it stays until the given values (rows,), in order of time, push it."""
    found, now = np.empty(len(u)), float(u[0])
    for k, value in enumerate(np.asarray(u, dtype=float).tolist()):
        now = min(max(now, value - 0.5 * play), value + 0.5 * play)
        found[k] = now
    return found


def between(t: Floats, q: Floats, v: Floats, times: Floats) -> Floats:
    """Coordinates at times between steps, cubic in each step."""
    k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    h = (t[k + 1] - t[k])[:, None]
    s = np.clip((times - t[k])[:, None] / h, 0.0, 1.0)
    a, b = s * s * (3.0 - 2.0 * s), s * (1.0 - s)
    return q[k] * (1.0 - a) + q[k + 1] * a + h * b * ((1.0 - s) * v[k] - s * v[k + 1])


def _balance(model: Model, states: RowStates, inputs: dict[str, Floats]) -> Floats:
    """(R, phi) (rows, n + m) of a model in states at rest under inputs."""
    rows = len(states.q)
    table = model.loads(np.zeros(rows), {name: Column(u) for name, u in inputs.items()})
    out, none, zero = np.zeros((rows, model.size + model.rows)), np.zeros((rows, 0, 6)), np.zeros_like(states.q)
    place = model.tree, model.workspace, table.loads, table.column, table.table
    door(model, balance_rows)(*place, 0.0, states.q, zero, zero, states.lam, none, out, none.copy())
    return out


def _apart(states: RowStates) -> dict[str, Floats]:
    """Inputs (rows,) by actuator under which tendons of given length stay slack or taut when something changes a bit."""
    model, rows = states.model, len(states.q)
    if not np.any(model.blank.constraints.input_row >= 0):
        return states.inputs
    table = model.loads(np.zeros(rows), {name: Column(u) for name, u in states.inputs.items()})
    moved = np.array([moved_lengths(model, table.at(row), states.q[row], states.lam[row]) for row in range(rows)])
    places = {name: k for k, name in enumerate(model.robot.actuators)}
    return {name: u + moved[:, places[name]] for name, u in states.inputs.items()}


def _driving(states: RowStates, inputs: dict[str, Floats], change: dict[str, Floats]) -> Floats:
    """Change (rows, n + m) of the balance with the inputs, in which it is linear."""
    lengths = any(actuator.slack is not None for actuator in states.model.robot.actuators.values())
    largest = max((float(np.max(np.abs(x))) for x in change.values()), default=0.0)
    if not largest:
        return np.zeros((len(states.q), states.model.size + states.model.rows))
    h = (1e-6 if lengths else 1e-2) / largest
    more, less = ({name: u + s * h * change[name] for name, u in inputs.items()} for s in (1.0, -1.0))
    return (_balance(states.model, states, more) - _balance(states.model, states, less)) / (2.0 * h)


def _solved(states: RowStates, columns: list[Floats], seen: Any) -> dict[int, Floats]:
    """Changes (n + m, k) of each row that was seen for changes of its balance, k columns of (rows, n + m)."""
    model = states.model
    right = -np.stack(columns, axis=2) if columns else np.zeros((len(states.q), model.size + model.rows, 0))
    table = model.loads(np.zeros(len(states.q)), {name: Column(u) for name, u in states.inputs.items()})
    found = {}
    for row in np.flatnonzero(seen).tolist():
        here = at_rest(model, table.at(row), states.q[row], states.lam[row])
        try:
            found[row] = solve_bordered(model, here.flat, right[row])
        except np.linalg.LinAlgError:
            raise SolverError(
                f"The equilibrium of row {row} has a singular stiffness, so nothing can be identified from it."
            ) from None
    return found
