"""Closed loop in sensor space: a PI law, an estimator beside the inverse model, and a plant that is not the model (002 V)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla.control.allocation import Allocation, allocate
from anguilla.control.forward import as_lengths, free_limits
from anguilla.control.model import ConstraintModel, as_model
from anguilla.errors import DescriptionError, as_array, as_count, as_nonnegative, as_positive, as_vector
from anguilla.store.facts import facts_of
from anguilla.store.kept import Kept
from anguilla.store.record import Record

__all__ = ["Plant", "Run", "SensorControl", "impedance_step", "run_loop"]

Floats = NDArray[np.float64]
CLOSED_LOOP = "closed_loop"
COLUMNS = (
    ("lengths", "sensor", "m", "true lengths"),
    ("measured", "sensor", "m", "lengths as read"),
    ("goals", "sensor", "m", "desired lengths"),
    ("commands", "actuator", "", "commanded efforts: tension [N] or pressure [Pa]"),
    ("positions", "axis", "m", "first effector of the plant"),
)


@dataclass
class Plant:
    """A simulated robot that the controller does not know exactly. Its actuators give what their limits allow, and no more.

    Attributes:
        model: its own mechanics, usually with another stiffness than the controller's.
        noise: standard deviation of the sensors [m].
        resolution: step of the sensors [m]; 0 for continuous ones.
        dead_zone: an effort follows its command only when the two differ by more than this (valves) [N, Pa].
        delay: control steps between a command and its effect.
        seed: of the noise.

    """

    model: Any
    noise: float = 0.0
    resolution: float = 0.0
    dead_zone: float = 0.0
    delay: int = 0
    seed: int = 0
    _queue: list[Floats] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self.model = as_model(self.model)
        as_nonnegative(self.noise, "Plant.noise", "m")
        as_nonnegative(self.resolution, "Plant.resolution", "m")
        as_nonnegative(self.dead_zone, "Plant.dead_zone")
        as_count(self.delay, "Plant.delay", 0)
        self._rng = np.random.default_rng(self.seed)

    def measure(self) -> Floats:
        """Lengths of the sensors (sensors,) [m], as they are read."""
        lengths = self.model.readings()
        if self.noise:
            lengths = lengths + self.noise * self._rng.standard_normal(len(lengths))
        return self.resolution * np.round(lengths / self.resolution) if self.resolution else lengths

    def apply(self, command: Floats) -> None:
        """Give a command; the plant goes to the equilibrium of the efforts that arrive."""
        low, high, _, _ = self.model.limits()
        self._queue.append(np.clip(as_vector(command, len(low), "command"), low, high))
        arrived = self._queue.pop(0) if len(self._queue) > self.delay else self.model.efforts
        moved = np.abs(arrived - self.model.efforts) > self.dead_zone
        self.model.efforts = np.where(moved, arrived, self.model.efforts)
        self.model.relax(tolerance=1e-8)


class SensorControl:
    """The controller of 002 figure 16.

    Args:
        model: the controller's own model of the robot; it becomes the state estimator.
        kp: proportional gain [-] (002: 0.14).
        ki: integral gain [-] (002: 0.0003).
        energy: weight of the deformation energy in the allocation.

    """

    def __init__(self, model: Any, *, kp: float = 0.14, ki: float = 0.0003, energy: float = 1e-9) -> None:
        self.model: ConstraintModel = as_model(model)
        if not self.model.sensors or not self.model.actuators:
            raise DescriptionError("a loop in sensor space needs sensors and actuators.")
        self.kp, self.ki = as_positive(kp, "kp"), as_nonnegative(ki, "ki")
        self.energy = as_positive(energy, "energy")
        self.command = self.model.efforts.copy()
        self.integral = np.zeros(len(self.model.sensors))

    def estimate(self, lengths: Floats) -> Any:
        """Bring the model to the measured lengths by one step of the forward model; returns its projection there."""
        model = self.model
        projection = model.project()
        error = model.readings() - lengths + projection.drift("s")
        choice = allocate(projection, "s", error, free_limits(len(model.actuators)), energy=self.energy)
        model.advance(projection, choice.change, reach=0.05 * model.size)
        return projection

    def update(self, lengths: ArrayLike, goal: ArrayLike) -> Allocation:
        """One control step: estimate, PI law (25)-(26), allocation (29); the new command is in `command`.

        Args:
            lengths: measured lengths (sensors,) [m].
            goal: desired lengths (sensors,) [m].

        """
        n = len(self.model.sensors)
        measured, wanted = as_vector(lengths, n, "lengths", "m"), as_vector(goal, n, "goal", "m")
        projection = self.estimate(measured)
        error = measured - wanted
        v = -self.kp * error - self.ki * self.integral
        low, high, _, _ = self.model.limits()
        free = np.full(len(low), np.inf)
        # the limits are those of the commands, which differ from the efforts of the estimator
        shift = self.command - projection.efforts
        choice = allocate(projection, "s", -v, (low - shift, high - shift, -free, free), energy=self.energy)
        change = choice.change
        if not np.any(choice.effort_limit):  # integrate only while the actuators can follow
            self.integral = self.integral + error
        self.command = np.clip(self.command + change, low, high)
        return choice


@dataclass(frozen=True)
class Run(Kept):
    """A closed-loop experiment.

    Attributes:
        lengths: (steps, sensors) true lengths [m].
        measured: (steps, sensors) lengths as read [m].
        goals: (steps, sensors) desired lengths [m].
        commands: (steps, actuators) commanded efforts [N, Pa].
        positions: (steps, 3) first effector of the plant [m].
        saturated: (steps,) whether some effort sat at a limit.
        sensors: names of the sensors.
        actuators: names of the actuators.

    """

    lengths: Floats
    measured: Floats
    goals: Floats
    commands: Floats
    positions: Floats
    saturated: NDArray[np.bool_]
    sensors: tuple[str, ...] = ()
    actuators: tuple[str, ...] = ()

    def settling(self, start: int = 0, stop: int | None = None, band: float = 0.05) -> int:
        """Steps after `start` until the largest error stays within a band, as a part of the error at the start."""
        error = np.abs(self.lengths - self.goals)[start:stop].max(axis=1)
        outside = np.flatnonzero(error > band * error[0])
        return int(outside[-1]) + 1 if len(outside) else 0

    def _record(self) -> Record:
        record = Record()
        for axis, names in (("sensor", self.sensors), ("actuator", self.actuators), ("axis", "xyz")):
            if names:
                record.add(axis, (axis,), np.array(list(names), dtype=object))
        for name, axis, unit, title in COLUMNS:
            record.add(name, ("step", axis), getattr(self, name), unit, title)
        record.add("saturated", ("step",), self.saturated.astype(np.int8), "", "1 where some effort sat at a limit")
        record.facts |= facts_of(CLOSED_LOOP, "Closed-loop experiment")
        return record


def restore(record: Record) -> Run:
    """Return the experiment of a record."""
    values: dict[str, Any] = {name: record.floats(name, 2) for name, *_ in COLUMNS}
    names: dict[str, Any] = {
        f"{axis}s": tuple(record[axis].tolist()) for axis in ("sensor", "actuator") if axis in record
    }
    return Run(**values, saturated=record["saturated"] != 0, **names)


@public
def run_loop(
    control: SensorControl, plant: Plant, goals: Sequence[tuple[int, ArrayLike]], steps: int, *,
    disturb: Callable[[int, Plant], None] | None = None,
) -> Run:  # fmt: skip
    """Run the controller against a plant.

    Args:
        control: the controller.
        plant: the plant.
        goals: pairs (step, lengths (sensors,) [m]): set points and when they begin; the first at step 0.
        steps: number of control steps.
        disturb: called with (step, plant) before each step, to push the plant.

    """
    as_count(steps, "steps")
    if not goals or goals[0][0] != 0:
        raise DescriptionError("goals must begin with a set point at step 0.")
    points = [(int(k), as_lengths(plant.model, as_array(goal, "goals", "lengths [m]"))) for k, goal in goals]
    out: dict[str, list[Any]] = {name: [] for name in ("lengths", "measured", "goals", "commands", "positions", "hit")}
    for k in range(steps):
        if disturb is not None:
            disturb(k, plant)
        goal = [value for begin, value in points if begin <= k][-1]
        read = plant.measure()
        choice = control.update(read, goal)
        plant.apply(control.command)
        out["measured"].append(read)
        out["goals"].append(goal)
        out["commands"].append(control.command.copy())
        out["lengths"].append(plant.model.readings())
        out["positions"].append(plant.model.positions()[0] if plant.model.effectors else np.zeros(3))
        out["hit"].append(bool(np.any(choice.effort_limit)))
    hit = np.array(out.pop("hit"), dtype=bool)
    arrays: dict[str, Any] = {name: np.array(values) for name, values in out.items()}
    return Run(**arrays, saturated=hit, sensors=tuple(plant.model.sensors), actuators=tuple(plant.model.actuators))


@public
def impedance_step(
    model: Any, measured: ArrayLike, target: ArrayLike, stiffness: ArrayLike, *, gain: float = 0.5, energy: float = 1e-6
) -> Allocation:
    """One step that makes an effector yield like a spring of a given stiffness around its target (002 VI).

    The compliance W_ee of the robot, read off the model, says by how much a force moves the effector when the efforts are
    kept. The efforts are changed so that the whole motion answers the force with stiffness^-1 instead.

    Args:
        model: the model (SoftModel, RodModel) with one effector; its efforts are changed, and it moves along.
        measured: measured position (3,) [m] of the effector of the real robot, under a force nobody tells.
        target: where the effector should be without force (3,) [m].
        stiffness: desired stiffness (3, 3) [N/m].
        gain: part of the correction made in one step.
        energy: weight of the deformation energy.

    """
    m = as_model(model)
    if list(m.effectors.values()) != [3]:
        raise DescriptionError("impedance control is for a model with one effector without orientation.")
    x, goal = as_vector(measured, 3, "measured", "m"), as_vector(target, 3, "target", "m")
    k = as_array(stiffness, "stiffness", "a matrix (3, 3) [N/m]")
    if k.shape != (3, 3):
        raise DescriptionError(f"stiffness must have shape (3, 3) [N/m]; got {k.shape}.")
    projection = m.project()
    # the force seen by the model: what it takes to bring its free effector to the measured place
    force = np.linalg.solve(projection.W("e", "e"), x - m.positions()[0] - projection.drift("e"))
    wanted = goal + np.linalg.solve(k, force)
    choice = allocate(projection, "e", gain * (x - wanted) + projection.drift("e"), m.limits(), energy=energy)
    m.advance(projection, choice.change, reach=0.1 * m.size)
    return choice
