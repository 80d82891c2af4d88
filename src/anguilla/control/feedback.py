"""Controllers of readings: given inputs, PID in any space, impedance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.control.qp import solve_qp
from anguilla.describe import Frame, Robot
from anguilla.errors import DescriptionError, as_array, as_positive, as_vector, refuse
from anguilla.fem.body import SoftBody
from anguilla.fem.results import SoftEquilibrium, pick
from anguilla.fem.vibrations import soft_gain
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Model
from anguilla.results.states import Equilibrium, Status
from anguilla.solve.gradients.sensitivity import sensitivities
from anguilla.solve.modes.local import input_forces

__all__ = [
    "PID",
    "FeedForward",
    "Impedance",
    "Limits",
    "as_goal",
    "as_picker",
    "input_forces",
    "input_limits",
    "steady_gain",
]

Goal = ArrayLike | Callable[[float], ArrayLike]
Pick = slice | Sequence[int] | Callable[[Floats], ArrayLike] | None
Limits = Mapping[str, tuple[float, float]] | None


def as_goal(goal: Goal, size: int | None, name: str) -> Callable[[float], Floats]:
    """A function of t that returns numbers (size,), from one or from numbers."""

    def checked(value: ArrayLike) -> Floats:
        array = np.atleast_1d(as_array(value, name, "finite numbers, or a function of t that returns them"))
        if array.ndim != 1 or (size is not None and len(array) != size):
            raise refuse(name, f"{size} numbers" if size else "a list of numbers", value)
        return array

    if callable(goal):
        return lambda t: checked(goal(t))
    fixed = checked(goal)
    return lambda t: fixed


def as_picker(measure: Pick) -> Callable[[Floats], Floats]:
    """A function of the reading that returns the numbers of it that count."""
    if measure is None:
        return lambda reading: np.asarray(reading, dtype=np.float64)
    if callable(measure):
        ask = measure
        return lambda reading: np.atleast_1d(np.asarray(ask(reading), dtype=np.float64))
    which = measure if isinstance(measure, slice) else [int(k) for k in measure]
    return lambda reading: np.asarray(reading, dtype=np.float64)[which]


@public
def input_limits(robot: Robot | SoftBody, limits: Limits = None) -> tuple[Floats, Floats]:
    """(lowest, highest) (k,) of all inputs: those of their drives; tendons do not push; `limits` by name narrow them.

    Of a soft volume, those of its tendons and chambers.
    """
    names, given = list(robot.inputs), dict(limits or {})
    for name in given:
        if name not in names:
            raise DescriptionError(f"limits: there is no input {name!r}; there are: {', '.join(names) or 'none'}.")
    if isinstance(robot, SoftBody):
        ends = np.array([part.force for part in robot.actuators.values()]).reshape(-1, 2)
    else:
        drives, actuators = robot.drives, robot.actuators
        ends = np.array([(drives[name].low, drives[name].high) for name in names]).reshape(-1, 2)
        least = [actuators[name].lowest if name in actuators else -np.inf for name in names]
        ends[:, 0] = np.maximum(ends[:, 0], least)
    low, high = ends.T.copy()
    for k, name in enumerate(names):
        if name in given:
            low[k], high[k] = max(low[k], given[name][0]), min(high[k], given[name][1])
        if low[k] > high[k]:
            raise DescriptionError(f"limits of the input {name!r} are empty: {low[k]:g} to {high[k]:g}.")
    return low, high


@public
def steady_gain(eq: Equilibrium | SoftEquilibrium, frame: Frame | str, inputs: Sequence[str] | None = None) -> Floats:
    """How the place of a frame changes with the inputs of an equilibrium (3, k) [m per unit]; all inputs if not given.

    Of a soft volume, how the place of an effector does, by its name. Its pseudo-inverse allocates what a controller in task
    space wants among the inputs.
    """
    if isinstance(eq, SoftEquilibrium):
        system = eq.system
        first = sum(system.frames.rows[: pick(str(frame), system.frames.names, "effector")])
        which = range(len(system.names)) if inputs is None else [pick(x, system.names, "input") for x in inputs]
        return soft_gain(eq, system.frames.gradient(eq.x)[first : first + 3])[:, list(which)]
    if not isinstance(frame, Frame):
        raise refuse("steady_gain frame", "a frame such as arm.tip", frame)
    names = list(eq.system.robot.inputs if inputs is None else inputs)
    return sensitivities(eq, inputs=names).position(frame)


class FeedForward:
    """Inputs that are known beforehand.

    Args:
        inputs: numbers or functions of t [s], by input.

    """

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        self.inputs = dict(inputs)

    def update(self, reading: Floats, t: float) -> dict[str, float]:
        """The inputs at time t [s]."""
        return {name: float(value(t) if callable(value) else value) for name, value in self.inputs.items()}


class PID:
    """u = feed(t) + allocation (kp e + ki integral of e + kd de/dt), with e = goal(t) - what is measured.

    The integral stands still while an input sits at a limit and the error would push it further. In joint or tendon space
    the allocation is the identity; in task space it is the pseudo-inverse of `steady_gain`, or a Jacobian transposed.

    Args:
        robot: the robot, or a soft volume (SoftBody), for the names and limits of its inputs.
        goal: (m,) or a function of t.
        kp, ki, kd: gains, numbers or (m,).
        period: time between two updates [s].
        measure: which numbers of the reading are measured: a slice, indices, or a function of the reading; all by default.
        inputs: names of the inputs that it tells (k,); all by default.
        allocation: (k, m), or a function of (reading, t) that returns it; the identity by default.
        feed: inputs (k,) or a function of t, added.
        lag: time constant of the filter of de/dt [s].
        limits: (lowest, highest) by input; those of drives and tendons are kept anyway.

    """

    def __init__(
        self, robot: Robot | SoftBody, goal: Goal, *, kp: ArrayLike, ki: ArrayLike = 0.0, kd: ArrayLike = 0.0, period: float,
        measure: Pick = None, inputs: Sequence[str] | None = None,
        allocation: ArrayLike | Callable[[Floats, float], ArrayLike] | None = None, feed: Goal = 0.0,
        lag: float = 0.0, limits: Limits = None,
    ) -> None:  # fmt: skip
        self.names = list(robot.inputs if inputs is None else inputs)
        low, high = input_limits(robot, limits)
        where = [list(robot.inputs).index(name) for name in self.names if name in robot.inputs]
        if len(where) < len(self.names):
            raise DescriptionError(
                f"inputs: there are {', '.join(robot.inputs) or 'none'}; got {', '.join(self.names)}."
            )
        self.low, self.high = low[where], high[where]
        self.goal, self.measure = as_goal(goal, None, "goal"), as_picker(measure)
        self.kp, self.ki, self.kd = (np.asarray(gain, dtype=np.float64) for gain in (kp, ki, kd))
        self.period, self.lag = as_positive(period, "period", "s"), float(lag)
        self.allocation, self._feed = allocation, as_goal(feed, None, "feed")
        self.reset()

    def __repr__(self) -> str:
        return f"<PID of {', '.join(self.names)}: every {self.period:g} s>"

    def reset(self) -> None:
        """Forget all errors."""
        self.integral: Floats | float = 0.0
        self._last: Floats | None = None
        self._rate: Floats | float = 0.0

    def update(self, reading: Floats, t: float) -> dict[str, float]:
        """Inputs from now on."""
        error = self.goal(t) - self.measure(reading)
        if self._last is not None:
            share = self.period / (self.period + self.lag)
            self._rate = self._rate + share * ((error - self._last) / self.period - self._rate)
        self._last = error
        grown = self.integral + self.period * error
        wanted = self._told(error, grown, reading, t)
        told = np.clip(wanted, self.low, self.high)
        if not np.any(self.ki) or np.array_equal(wanted, told):
            self.integral = grown
        else:  # keep the error from pushing on where an input cannot follow
            before = self._told(error, self.integral, reading, t)
            if np.sum(np.abs(wanted - told)) < np.sum(np.abs(before - np.clip(before, self.low, self.high))):
                self.integral = grown
        return dict(zip(self.names, told.tolist(), strict=True))

    def _told(self, error: Floats, integral: Floats | float, reading: Floats, t: float) -> Floats:
        action = self.kp * error + self.ki * integral + self.kd * self._rate
        if self.allocation is not None:
            matrix = self.allocation(reading, t) if callable(self.allocation) else self.allocation
            action = np.asarray(matrix, dtype=np.float64) @ action
        if action.shape != (len(self.names),):
            raise DescriptionError(
                f"PID has {len(action)} numbers for {len(self.names)} inputs: give an allocation ({len(self.names)}, "
                f"{len(error)})."
            )
        return np.asarray(self._feed(t) + action)


class Impedance:
    """A frame that yields like a spring and a damper around its goal: F = stiffness (goal - x) - damping v.

    The inputs give the generalised forces of F, and those that hold the robot against its own stiffness and weight,
    as far as they can: the nearest ones within their limits, by least squares. It reads the state (q, v).

    Args:
        robot: the robot, or its model.
        frame: the frame.
        goal: place (3,) [m], or a function of t.
        stiffness: (3, 3), (3,) or a number [N/m].
        damping: likewise [N s/m].
        state: where the state (2 n,) is in the reading: a slice, indices, or a function; the whole reading by default.
        limits: (lowest, highest) by input.
        effort: weight of the inputs, as a part of that of forces: chooses among many answers.

    """

    def __init__(
        self, robot: Robot | Model, frame: Frame, goal: Goal, *, stiffness: ArrayLike, damping: ArrayLike = 0.0,
        state: Pick = None, limits: Limits = None, effort: float = 1e-8,
    ) -> None:  # fmt: skip
        self.model = model_of(robot)
        if self.model.rows:
            raise DescriptionError("Impedance supports robots without loops and other constraints.")
        self.frame, self.goal, self.state = frame, as_goal(goal, 3, "goal"), as_picker(state)
        self.stiffness, self.damping = (
            _matrix(x, name) for x, name in ((stiffness, "stiffness"), (damping, "damping"))
        )
        self.names, self.effort = list(self.model.robot.inputs), float(effort)
        self.low, self.high = input_limits(self.model.robot, limits)

    def update(self, reading: Floats, t: float) -> Floats:
        """Inputs from now on (k,)."""
        model, n = self.model, self.model.size
        state = as_vector(self.state(reading), 2 * n, "the state (q, v) in the reading")
        q, v = state[:n], state[n:]
        here = Equilibrium(
            model.source,
            model,
            Status(True, "now"),
            np.array([t]),
            q[None],
            v[None],
            0.0 * q[None],
            np.zeros((1, 0)),
            {},
        )
        J = here.pose(self.frame)[:3, :3] @ here.jacobian(self.frame)[3:]
        force = self.stiffness @ (self.goal(t) - here.position(self.frame)) - self.damping @ (J @ v)
        zero = dict.fromkeys(self.names, 0.0)
        wanted = J.T @ force + model.residual(q, 0.0 * v, t=t, inputs=zero)
        B = input_forces(model, q, v, t, zero)
        weight = 1.0 / model.tree.scale[:, None]  # in units of angles and relative displacements
        B, wanted = weight * B, weight[:, 0] * wanted
        H = B.T @ B
        H += self.effort * max(float(np.trace(H)) / len(H), 1e-300) * np.eye(len(H))
        size = np.sqrt(np.diag(H))
        found = solve_qp(
            H / np.outer(size, size), -(B.T @ wanted) / size, lower=self.low * size, upper=self.high * size
        )
        return np.clip(found.x / size, self.low, self.high)


def _matrix(value: ArrayLike, name: str) -> Floats:
    array = as_array(value, name, "a number, 3 numbers, or a matrix (3, 3)")
    if array.ndim == 0:
        return float(array) * np.eye(3)
    if array.shape == (3,):
        return np.diag(array)
    if array.shape != (3, 3):
        raise refuse(name, "a number, 3 numbers, or a matrix (3, 3)", value)
    return array
