"""One step after another, with inputs that change between them: for real time, control and learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from anguilla.describe import Drive, Frame, Load, Robot
from anguilla.describe.actuators import warn_slack
from anguilla.describe.description import copied
from anguilla.describe.ports import Following, acting
from anguilla.describe.sampled import Sampled
from anguilla.describe.volumes import solvers_of
from anguilla.errors import DescriptionError, SolverError, as_count, as_flag, as_named, as_number, as_positive, refuse
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Inputs, Model
from anguilla.model.ports import Glide, Wiring, moving_ports
from anguilla.results.blocks import Remembered
from anguilla.results.feeling import Feeler
from anguilla.results.reactions import remembers
from anguilla.results.reading import Instruments, Reader, Seen
from anguilla.results.states import Status, Trajectory
from anguilla.solve.newton.closing import SINGULAR_START, broken, close, was_open
from anguilla.solve.newton.rules import CONVERGED, EXPLANATION
from anguilla.solve.steps.dynamics import DEFAULT_METHOD, advice, check_serves
from anguilla.solve.steps.motion import OngoingMotion, Start, balances_alone, newton_tolerance, start_of
from anguilla.solve.steps.schemes import Scheme, as_scheme

__all__ = ["Stepper"]


class Stepper:
    """A motion that is computed step by step; equal inputs give the same states as `simulate(..., events=[])`, bit for bit.

    Args:
        robot: the robot, or its model.
        dt: time step [s].
        inputs: inputs by name, numbers; absent ones are zero. `step` changes them. Where an input has a drive these are
            commands, which the input follows; at the start it stands still at them.
        start: an Equilibrium, a Trajectory (its end), coordinates q (n,), or (q, v); the rest shape at rest if not given.
        method: Newmark(), HHT(), GeneralisedAlpha(), Midpoint() or their names; what `simulate` refuses, this does too.
        tolerance: Newton's error as a part of a step's increment; as in `simulate` if not given.
        history: keep all states, for `trajectory`.
        seed: of the noise of sensors; the same noise in every process if not given.

    A robot with soft volumes is stepped alike; `volume(...)` has these.

    """

    def __new__(cls, *given: Any, **named: Any) -> Stepper:
        """Make a stepper of the kind that the robot needs."""
        robot = given[0] if given else named.get("robot")
        others = solvers_of(robot) if cls is Stepper else None
        return object.__new__(cls if others is None else others.Stepper)

    def __init__(
        self,
        robot: Robot | Model,
        *,
        dt: float,
        inputs: Mapping[str, float] | None = None,
        start: Start = None,
        method: Scheme | str = DEFAULT_METHOD,
        tolerance: float | None = None,
        history: bool = False,
        seed: int | None = 0,
    ) -> None:
        self.system = self._whole = model_of(robot)
        self.robot = self.system.source
        self.dt = as_positive(dt, "dt", "s")
        self._start, self._begin = start, start_of(self.system, start)
        self._scheme = as_scheme(method).coefficients
        check_serves(self._scheme, method, self.system)
        self._tolerance = newton_tolerance(self.system, tolerance)
        self._inputs: dict[str, float] = {}
        self._commands: dict[str, float] = {}
        self._history: list[tuple[Floats, ...]] | None = [] if as_flag(history, "history") else None
        self._pieces, self._remembers = 0, remembers(self.system)
        self.count = 0
        self._names = list(self._whole.robot.inputs)
        self._reader = self._whole.once(Reader)
        self._instruments = Instruments(self._reader.sensors, self.dt, seed=seed)
        drives = list(self._whole.robot.drives.values())
        self._drives = Following(drives, np.zeros(len(drives)), self.dt) if any(d != Drive() for d in drives) else None
        self._moving = [name for name in self._whole.once(moving_ports) if name in self._names]
        for name, actuator in self._whole.robot.actuators.items():
            actuator.refuse_pushing(name, np.array([as_number(as_named(inputs).get(name, 0.0), name)]), np.zeros(1))
        self._slack: set[str] = set()  # tendons that were told to be slack
        self.set_inputs(as_named(inputs))
        self._motion: OngoingMotion
        self.reset()

    def __repr__(self) -> str:
        return f"<stepper of {self.robot.name!r}: at t = {self.t:g} s, steps of {self.dt:g} s>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Stepper:
        return copied(self, memo)

    def __reduce__(self) -> Any:
        raise DescriptionError(
            "A Stepper cannot be pickled or sent to another process: send its robot and (stepper.q, stepper.v), and begin "
            "there with Stepper(robot, dt=..., start=(q, v))."
        )

    def reset(self) -> None:
        """Go back to the start, at t = 0 s; the inputs stay as they are, and drives stand still at them."""
        q, v = (part.copy() for part in self._begin)
        self._inputs = {name: self._pulling(name, value) for name, value in self._commands.items()}
        if self._drives is not None:
            self._drives.reset([self._commands.get(name, 0.0) for name in self._names])
            self._inputs |= self._followed(self._drives.value)
        self._moved = {name: (self._inputs.get(name, 0.0), 0.0) for name in self._moving}  # value and rate
        self._instruments.reset()
        self._shown: tuple[int, Floats] | None = None
        self._feeler: Feeler | None = None
        self._forces: tuple[int, Callable[[Load], Floats]] | None = None  # number of the step, and what finds them
        given = q
        if not self._whole.is_plain:
            with self._whole.apart():
                self.system, q = close(self._whole, self._inputs, 0.0, q)
        self._desk = self.system.new_desk()
        with self.system.at(self._desk):
            self._motion = OngoingMotion(self.system, self._scheme, self._tolerance, q, v, self._inputs)
            self._motion.opened = given if q is not given and was_open(self.system, given, q) else None
            self._motion.take_over(self._start)
            if Wiring.serves(self.system):
                self._motion.wired = Wiring(self.system).table
            self.count = 0
            self._motion.begin(0.0, self.dt)
        if self._history is not None:
            self._history.clear()
            self._keep()

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.count * self.dt

    @property
    def q(self) -> Floats:
        """Coordinates (n,), a copy."""
        return self._motion.q.copy()

    @property
    def v(self) -> Floats:
        """Rates of the coordinates (n,), a copy."""
        return self._motion.v.copy()

    @property
    def names(self) -> list[str]:
        """Names of the inputs, in their order."""
        return list(self._names)

    @property
    def inputs(self) -> dict[str, float]:
        """Inputs by name; with drives, what they have followed of the commands so far."""
        return dict(self._inputs)

    @property
    def commands(self) -> dict[str, float]:
        """Commands by name, as they were last given."""
        return dict(self._commands)

    def _followed(self, values: Floats) -> dict[str, float]:
        """Inputs that were ever commanded, by name."""
        pairs = zip(self._names, values.tolist(), strict=True)
        return {name: self._pulling(name, value) for name, value in pairs if name in self._commands or value}

    def _pulling(self, name: str, value: float) -> float:
        """An input that is about to act: a tendon with a negative tension is slack, which is told once."""
        actuator = self._whole.robot.actuators.get(name) if value < 0.0 else None
        if actuator is None or not len(actuator.pushing(np.array([value]))):
            return value
        if name not in self._slack:
            self._slack.add(name)
            warn_slack(name, value, f"at t = {self.t:g} s")
        return 0.0

    def set_inputs(self, inputs: Mapping[str, float]) -> None:
        """Change some inputs, or commands of their drives; the others stay as they are. A negative tension is none: slack."""
        for name, value in inputs.items():
            if name not in self._names:
                told = ", ".join(self._names) or "none"
                raise DescriptionError(f"there is no input {name!r}; there are: {told}.")
            number = as_number(value, f"the input {name!r}")
            self._commands[name] = number
            if self._drives is None:
                self._inputs[name] = self._pulling(name, number)

    def _follow(self) -> Inputs:
        """What acts during the next step: the commands, as drives follow them; prescribed motions with their rates."""
        dt = self.dt
        if self._drives is not None:
            command = np.array([self._commands.get(name, 0.0) for name in self._names])
            self._inputs |= self._followed(self._drives.follow(command))
        if not self._moving:
            return self._inputs
        given: dict[str, Any] = dict(self._inputs)
        for name in self._moving:
            value, (before, slower) = self._inputs.get(name, 0.0), self._moved[name]
            rate = (value - before) / dt
            given[name] = Glide(self.t + dt, value, rate, (rate - slower) / dt)
            self._moved[name] = value, rate
        return given

    def step(self, count: int | Mapping[str, float] = 1, inputs: Mapping[str, float] | None = None) -> None:
        """Do some steps with constant inputs; a step that fails is cut into smaller ones. `step(inputs)` does one.

        Args:
            count: number of steps.
            inputs: inputs, or commands of drives, by name [N, Pa, ...]; those not given keep their values.

        Raises:
            SolverError: with the last good state in `.result`, when the smallest steps fail too.

        """
        if isinstance(count, Mapping):
            if inputs is not None:
                raise DescriptionError(
                    "step takes step(count, inputs), or step(inputs) for one step; got inputs twice."
                )
            inputs, count = count, 1
        if not isinstance(count, (int, np.integer)):
            raise refuse("Stepper.step", "given a number of steps, or inputs by name such as {'pull': 2.0}", count)
        self.set_inputs(as_named(inputs))
        m, dt = self._motion, self.dt
        for _ in range(as_count(count, "count")):
            m.inputs = self._follow()
            m.passed = self.count
            with self.system.at(self._desk):
                status = m.one_step(self.t, dt)
            if status != CONVERGED:
                message = f"The motion of {self.robot.name!r} stopped at t = {self.t:g} s: {EXPLANATION[status]}."
                result = self.result()
                raise SolverError(message, result=result, advice=advice(status, result))
            self.count += 1
            if self._history is not None:
                self._keep()
            if self.system.left_out is not None:
                self._check_left_out()

    def _check_left_out(self) -> None:
        """Refuse to go on when constraints that were left out as redundant do not hold."""
        m = self._motion
        conflict = broken(self.system, self._inputs, np.array([self.t]), m.q[None], m.v[None])
        if conflict:
            raise SolverError(
                f"The motion of {self.robot.name!r} is impossible: {conflict}.",
                result=self.result(),
                advice=SINGULAR_START,
            )

    def read(self, sensor: str | None = None) -> Floats:
        """What the sensors show now, in one array (`reading_labels` says what), or what one of them shows.

        Noise is drawn once a step: to read again gives the same.
        """
        if self._shown is None or self._shown[0] != self.count:
            m = self._motion
            with self.system.at(self._desk):
                self._shown = self.count, self._instruments.show(self._reader.true(self._seen(m)))[0]
        shown = self._shown[1]
        return shown.copy() if sensor is None else shown[self._reader.at(sensor)].copy()

    @property
    def reading_labels(self) -> list[str]:
        """Names of the numbers that `read` gives, such as "tip.x"."""
        return list(self._reader.labels)

    @property
    def reading_units(self) -> list[str]:
        """Units of the numbers that `read` gives."""
        return list(self._reader.units)

    def _seen(self, m: OngoingMotion) -> Seen:
        """The present state as sensors see it."""

        def gravity() -> Floats:
            if self.system.robot.gravity_is_constant:
                return self.system.once(_gravity)
            with acting(self.robot.name, self._inputs):
                return self.system.robot.gravity_values([self.t])

        def effort() -> Floats:
            if self.count:
                return self._desk.loads.tension[None].copy()  # as the last step left it
            return np.array([[self.result().tension(name)[0] for name in self._whole.robot.actuators]])

        state = np.array([self.t]), m.q[None], m.v[None], m.acc[None]

        def contact(load: Load) -> Floats:
            if self._forces is None or self._forces[0] != self.count:
                if self._feeler is None:
                    self._feeler = Feeler(self.system, [self._desk.loads])
                row = m.loads(self.t).at(0).row[None]
                given = np.array([self.dt * (not self.count and m.held is None)]), self._feeler.column, row
                self._forces = self.count, self._feeler.forces(*state[:3], *given)
            return self._forces[1](load)

        return Seen(self._reader, *state, effort, contact, gravity)

    def position(self, frame: Frame) -> Floats:
        """Position (3,) [m] of a frame now, in world axes; `result()` has everything else."""
        return self.result().position(frame)[0]

    def _keep(self) -> None:
        """Put the present state with its inputs to the history."""
        m = self._motion
        inputs = np.array([self._inputs.get(name, np.nan) for name in self._names])
        row, pieces = len(self._history), m.substeps  # type: ignore[arg-type]
        self._history.append((*(x.copy() for x in (m.q, m.v, m.acc, m.lam)), inputs))  # type: ignore[union-attr]
        if row and pieces > self._pieces and self._remembers:
            m.known[row] = Remembered.of(self._desk.loads).copy()
        self._pieces = pieces

    def trajectory(self) -> Trajectory:
        """Return the motion since the start, with the inputs that changed on the way; needs `history=True`.

        At every instant the inputs are those of the step that ended there.
        """
        if self._history is None:
            raise DescriptionError("this stepper keeps no history: make it with Stepper(..., history=True).")
        q, v, acc, lam, table = (np.array(column) for column in zip(*self._history, strict=True))
        inputs: dict[str, Any] = {}
        for name, column in zip(self._names, table.T, strict=True):
            known = column[np.isfinite(column)]
            if len(known):  # an input that was given later was zero before
                changes = len(known) < len(column) or np.any(column != column[0])
                inputs[name] = Sampled(np.nan_to_num(column), self.dt) if changes else float(column[0])
        lazily, end = balances_alone(self.system, self._scheme), self._scheme.mid == 1.0
        balance = self._motion.balance if lazily else None
        status = Status(True, "on its way", {"steps": self.count, "substeps": self._motion.substeps})
        times, true = self.dt * np.arange(len(q), dtype=float), None if lazily else acc
        kept = acc if end else None
        memory, known = self._motion.held, dict(self._motion.known)
        states = times, q, v, true, lam, inputs, balance, kept
        more: dict[str, Any] = {"_memory": memory, "_known": known, "_opened": self._motion.opened}
        return Trajectory(self.robot, self.system, status, *states, **more)

    def result(self, system: Model | None = None) -> Trajectory:
        """Return the present state as a motion of one instant, to be read or drawn.

        Args:
            system: the same robot compiled with other observed frames.

        """
        m, status = self._motion, Status(True, "on its way")
        given: Any = dict(self._inputs)
        lazily = balances_alone(self.system, self._scheme)
        a = None if lazily else m.acc.copy()[None]
        t, q, v, lam = np.array([self.t]), m.q.copy()[None], m.v.copy()[None], m.lam.copy()[None]
        balance = m.balance if lazily else None
        memory = Remembered.of(self._desk.loads).copy() if self.count else m.held
        return Trajectory(self.robot, system or self.system, status, t, q, v, a, lam, given, balance, _memory=memory)


def _gravity(model: Model) -> Floats:
    """Gravity (1, 3) [m/s^2] of a model in which it is the same at all times."""
    return model.robot.gravity_values([0.0])
