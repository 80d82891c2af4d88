"""A closed loop: a controller reads the sensors of a stepper and tells its inputs, period by period."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.errors import DescriptionError, as_positive, as_vector, refuse
from anguilla.mechanics.tree import Floats

__all__ = ["ClosedLoop", "Controller", "full_state", "run"]

WHOLE = 1e-6  # part of a step by which a time may miss a whole number of steps
NEEDED = ("dt", "t", "step", "read", "set_inputs", "commands", "trajectory", "reading_labels")  # of a stepper


class Controller(Protocol):
    """What `run` needs of a controller.

    It may have a `reset()` too, called before the first update, and a `period` [s]: the time between two updates that it is
    made for, the only one that `run` then takes.
    """

    def update(self, reading: Floats, t: float) -> Mapping[str, float] | ArrayLike:
        """Inputs from now on: by name, or all in the order of `robot.inputs`.

        Args:
            reading: (r,) what the sensors show now.
            t: time [s].

        """


@public
@dataclass(frozen=True)
class ClosedLoop:
    """A motion under a controller.

    Attributes:
        run: the motion, every step of it, with the inputs as the drives followed them: a Trajectory, or of a soft volume a
            SoftTrajectory.
        t: (u,) instants of the updates [s].
        readings: (u, r) what the controller read.
        commands: (u, k) what it told, in the order of `inputs`; NaN before an input was first told.
        seconds: (u,) computing time of each update [s].
        inputs: names of the inputs.
        labels: names of the readings; empty where `observe` made them.

    """

    run: Any
    t: Floats
    readings: Floats
    commands: Floats
    seconds: Floats
    inputs: list[str]
    labels: list[str]

    @property
    def rate(self) -> float:
        """Updates per second that the controller could do: one over their mean computing time [Hz]."""
        return 1.0 / max(float(np.mean(self.seconds)), 1e-12)

    def command(self, name: str) -> Floats:
        """Commands (u,) of one input."""
        if name not in self.inputs:
            raise DescriptionError(f"there is no input {name!r}; there are: {', '.join(self.inputs) or 'none'}.")
        return self.commands[:, self.inputs.index(name)]

    def __repr__(self) -> str:
        mean, worst = 1e3 * float(np.mean(self.seconds)), 1e3 * float(np.max(self.seconds))
        return f"<closed loop: {len(self.t)} updates, {mean:.3g} ms each, {worst:.3g} ms the longest; {self.run!r}>"


@public
def full_state(stepper: Any) -> Floats:
    """The whole state (q, v) (2 n,), which no instrument shows: for controllers of the state. Of a soft volume, its nodes."""
    return np.concatenate([np.ravel(stepper.x if hasattr(stepper, "x") else stepper.q), np.ravel(stepper.v)])


def _steps(value: float, dt: float, name: str) -> int:
    count = as_positive(value, name, "s") / dt
    if round(count) < 1 or abs(count - round(count)) > WHOLE * max(1.0, count):
        raise DescriptionError(f"{name} must be a whole number of steps of {dt:g} s; got {value:g} s.")
    return round(count)


def _check_period(controller: Controller, period: float) -> None:
    made = getattr(controller, "period", None)
    if isinstance(made, (int, float)) and not math.isclose(made, period, rel_tol=1e-9):
        raise DescriptionError(
            f"{type(controller).__name__} is made for a period of {made:g} s, but run updates it every {period:g} s: "
            f"give run(..., period={made:g}), or make the controller with period={period:g}."
        )


def _check_update(update: Callable[..., Any]) -> None:
    """Refuse an update that cannot be called with (reading, t)."""
    try:
        signature = inspect.signature(update)
    except (TypeError, ValueError):  # compiled functions may have none
        return
    try:
        signature.bind(None, 0.0)
    except TypeError:
        raise DescriptionError(f"controller must have update(reading, t); it has update{signature}.") from None


@public
def run(
    stepper: Any, controller: Controller, *, duration: float, period: float | None = None,
    observe: Callable[[Any], ArrayLike] | None = None, disturb: Callable[[Any], None] | None = None,
) -> ClosedLoop:  # fmt: skip
    """Run a controller with a robot, from where the stepper is.

    Args:
        stepper: the robot, made with history=True: a Stepper, or a fem.Stepper of a soft volume.
        controller: something with `update(reading, t)` that returns inputs; its `reset()` is called first, if it has one.
        duration: how long [s], a whole number of steps.
        period: time between two updates [s], a whole number of steps; one step if not given.
        observe: what the controller reads, a function of the stepper such as `full_state`; what the sensors show if not
            given.
        disturb: called with the stepper before every update.

    Returns:
        A ClosedLoop.

    """
    if not all(hasattr(stepper, name) for name in NEEDED):
        raise refuse("stepper", "a Stepper(robot, dt=..., history=True), or a fem.Stepper", stepper)
    if not callable(getattr(controller, "update", None)):
        raise refuse("controller", "an object with update(reading, t)", controller)
    _check_update(controller.update)
    stepper.trajectory()  # refuses a stepper without history
    steps = _steps(duration, stepper.dt, "duration")
    every = 1 if period is None else _steps(period, stepper.dt, "period")
    _check_period(controller, stepper.dt if period is None else period)
    names = list(stepper.names if hasattr(stepper, "names") else stepper.robot.inputs)
    if callable(reset := getattr(controller, "reset", None)):
        reset()
    out: dict[str, list[Any]] = {name: [] for name in ("t", "readings", "commands", "seconds")}
    for k in range(0, steps, every):
        if disturb is not None:
            disturb(stepper)
        reading = stepper.read() if observe is None else np.asarray(observe(stepper), dtype=np.float64)
        began = time.perf_counter()
        told = controller.update(reading, stepper.t)
        out["seconds"].append(time.perf_counter() - began)
        if not isinstance(told, Mapping):
            values = as_vector(told, len(names), "what the controller told")
            told = dict(zip(names, values.tolist(), strict=True))
        stepper.set_inputs(told)
        out["t"].append(stepper.t)
        out["readings"].append(reading)
        out["commands"].append([stepper.commands.get(name, np.nan) for name in names])
        for _ in range(min(every, steps - k)):
            stepper.step()
            if observe is None:
                stepper.read()  # instruments see every step: delays and rates count in steps
    arrays = {name: np.array(values, dtype=np.float64) for name, values in out.items()}
    labels = stepper.reading_labels if observe is None else []
    return ClosedLoop(stepper.trajectory(), **arrays, inputs=names, labels=labels)
