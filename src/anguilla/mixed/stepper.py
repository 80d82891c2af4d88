"""Robots with soft volumes step by step, as `ag.Stepper` does it for all robots."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from anguilla.describe.frames import Frame
from anguilla.describe.load import Load
from anguilla.describe.ports import Drive, Following, acting
from anguilla.describe.robot import Robot
from anguilla.describe.sampled import Sampled
from anguilla.describe.volumes import VolumeHandle
from anguilla.errors import DescriptionError, SolverError, as_count, as_flag, as_named, as_positive, refuse
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.mesh import Floats
from anguilla.mixed.dynamics import WORDS, MixedStepper, refuse_motion
from anguilla.mixed.model import MixedModel, mixed_of
from anguilla.mixed.motion import opened, trajectory
from anguilla.mixed.results import MixedTrajectory
from anguilla.model.model import Model
from anguilla.model.ports import moving_ports
from anguilla.results.reading import Instruments, Reader, Seen
from anguilla.results.states import Status
from anguilla.solve.newton.closing import SINGULAR_START, broken
from anguilla.solve.newton.rules import CONVERGED
from anguilla.solve.steps.dynamics import DEFAULT_METHOD
from anguilla.solve.steps.schemes import Scheme
from anguilla.solve.steps.stepper import Stepper

__all__ = ["MixedRobotStepper"]


class MixedRobotStepper(Stepper):
    """`ag.Stepper` of a robot with soft volumes; `volume(...)` has these."""

    def __init__(
        self, robot: Robot | MixedModel, *, dt: float, inputs: Mapping[str, float] | None = None, start: Any = None,
        method: Scheme | str = DEFAULT_METHOD, tolerance: float | None = None, history: bool = False,
        seed: int | None = 0,
    ) -> None:  # fmt: skip
        self.model = mixed_of(robot)
        self.system = self._whole = self.model.carrier
        self.robot = self.model.source
        self.dt = as_positive(dt, "dt", "s")
        refuse_motion(self.model, self._whole, {})
        self._options = start, method, tolerance
        self._commands: dict[str, float] = {}
        self._slack: set[str] = set()  # tendons that were told to be slack
        self._inputs: dict[str, float] = {}
        self._states: list[tuple[Any, Floats, Floats]] | None = [] if as_flag(history, "history") else None
        self.count = 0
        hidden = {name for names in self.model.ports for name in names}
        soft = [f"{half.name}.{name}" for half in self.model.halves for name in half.system.names]
        self._names = [name for name in self._whole.robot.inputs if name not in hidden] + soft
        self._reader = self._whole.once(Reader)
        self._instruments = Instruments(self._reader.sensors, self.dt, seed=seed)
        drives = [self._whole.robot.drives.get(name, Drive()) for name in self._names]
        self._drives = Following(drives, np.zeros(len(drives)), self.dt) if any(d != Drive() for d in drives) else None
        self._moving = [name for name in self._whole.once(moving_ports) if name in self._names]
        self.set_inputs(as_named(inputs))
        self.reset()

    def reset(self) -> None:
        """Go back to the start, at t = 0 s; the inputs stay as they are, and drives stand still at them."""
        self._inputs = {name: self._pulling(name, value) for name, value in self._commands.items()}
        if self._drives is not None:
            self._drives.reset([self._commands.get(name, 0.0) for name in self._names])
            self._inputs |= self._followed(self._drives.value)
        self._moved = {name: (self._inputs.get(name, 0.0), 0.0) for name in self._moving}
        self._instruments.reset()
        self._shown: tuple[int, Floats] | None = None
        self.count = 0
        start, method, tolerance = self._options
        with self.model.alone, ExitStack() as desks:
            desks.enter_context(self._whole.apart())
            self._walk = opened(self.model, desks, self.dt, 1, dict(self._inputs), start, method, tolerance, True)
        self.system = self._walk.carrier
        self._desk = self.system.new_desk()
        with self.model.alone, self.system.at(self._desk):
            m = self._walk
            self._steps = MixedStepper(self.model, self.system, m.scheme, self.dt, m.tolerance)
            self._now, self._wrenches = m.begin(self._steps, m.acting(0.0))
            self._momenta = m.keeper(self._now)
        if self._states is not None:
            self._states.clear()
            self._keep()

    @property
    def q(self) -> Floats:
        """Coordinates (n,) of rods and bodies, a copy."""
        return self._now.q.copy()

    @property
    def v(self) -> Floats:
        """Rates of the coordinates (n,) of rods and bodies, a copy."""
        return self._now.v.copy()

    def step(self, count: int | Mapping[str, float] = 1, inputs: Mapping[str, float] | None = None) -> None:
        """Do some steps with constant inputs; `step(inputs)` does one.

        Args:
            count: number of steps.
            inputs: inputs, or commands of drives, by name [N, Pa, ...]; those not given keep their values.

        Raises:
            SolverError: with the last good state in `.result`, when a step fails.

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
        for _ in range(as_count(count, "count")):
            self._one(self._follow(), self.t + self.dt)

    def _one(self, given: Mapping[str, Any], t: float) -> None:
        """One step that ends at t [s]."""
        with self.model.alone, self.system.at(self._desk):
            own, efforts = self.model.split(given, t)
            loads = self.system.loads(t, own, pulling=True).at(0)
            status, now, wrenches = self._steps.step(self._now, loads, efforts, t)
            now = self._momenta(now) if status == CONVERGED else now
        if status != CONVERGED:
            raise SolverError(
                f"The motion of {self.robot.name!r} stopped at t = {self.t:g} s: {WORDS[status]}.",
                result=self.result(),
                advice="Try a smaller dt.",
            )
        self._now, self._wrenches = now, wrenches
        self.count += 1
        if self._states is not None:
            self._keep()
        if self.system.left_out is not None:
            conflict = broken(self.system, own, np.array([self.t]), now.q[None], now.v[None])
            if conflict:
                raise SolverError(
                    f"The motion of {self.robot.name!r} is impossible: {conflict}.",
                    result=self.result(),
                    advice=SINGULAR_START,
                )

    def read(self, sensor: str | None = None) -> Floats:
        """What the sensors show now, in one array (`reading_labels` says what), or what one of them shows."""
        if self._shown is None or self._shown[0] != self.count:
            now = self._now
            state = np.array([self.t]), now.q[None], now.v[None], (now.acc + now.push.q)[None]  # with what contact adds
            with self.system.at(self._desk):
                seen = Seen(self._reader, *state, self._tensions, self._touches, self._gravity)
                self._shown = self.count, self._instruments.show(self._reader.true(seen))[0]
        shown = self._shown[1]
        return shown.copy() if sensor is None else shown[self._reader.at(sensor)].copy()

    def _tensions(self) -> Floats:
        return np.array([[self.result().tension(name)[0] for name in self._whole.robot.actuators]])

    def _touches(self, load: Load) -> Floats:
        return np.asarray(self.result().contact_force(load)).reshape(1, 3)

    def _gravity(self) -> Floats:
        with acting(self.robot.name, self._inputs):
            return self.system.robot.gravity_values([self.t])

    def position(self, frame: Frame) -> Floats:
        """Position (3,) [m] of a frame now, in world axes; `result()` has everything else."""
        return self.result().position(frame)[0]

    def volume(self, volume: VolumeHandle | str) -> SoftTrajectory:
        """One of its volumes now, as a motion of one instant: nodes, effectors, stresses."""
        found: SoftTrajectory = self.result().volume(volume)
        return found

    def _keep(self) -> None:
        """Put the present state with its inputs to the history."""
        row = np.array([self._inputs.get(name, np.nan) for name in self._names])
        assert self._states is not None
        self._states.append((self._now, self._wrenches, row))

    def trajectory(self) -> MixedTrajectory:
        """Return the motion since the start, with the inputs that changed on the way; needs `history=True`."""
        if self._states is None:
            raise DescriptionError("this stepper keeps no history: make it with Stepper(..., history=True).")
        table, inputs = np.array([row for _, _, row in self._states]), {}
        for name, column in zip(self._names, table.T, strict=True):
            known = column[np.isfinite(column)]
            if len(known):
                changes = len(known) < len(column) or np.any(column != column[0])
                inputs[name] = Sampled(np.nan_to_num(column), self.dt) if changes else float(column[0])
        return self._result([(now, pull) for now, pull, _ in self._states], inputs, 0.0)

    def result(self, system: Model | None = None) -> MixedTrajectory:
        """Return the present state as a motion of one instant, to be read or drawn."""
        return self._result([(self._now, self._wrenches)], self._inputs, self.t)

    def _result(self, states: list[Any], inputs: dict[str, Any], first: float) -> MixedTrajectory:
        own = {name: value for name, value in inputs.items() if name in self._whole.robot.inputs}
        counters = {"steps": self.count, "iterations": self._steps.iterations}
        told = replace(self._walk, inputs=dict(inputs), own=own)
        with self.model.alone:
            return trajectory(told, states, self.dt, Status(True, "on its way", counters), first)
