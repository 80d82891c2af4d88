"""What a robot is to do, for many copies of it at once: goals, observations, rewards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.describe import Robot
from anguilla.errors import DescriptionError, as_count, as_positive, refuse
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Model
from anguilla.solve.steps.copies import BatchStepper
from anguilla.solve.steps.motion import Start

__all__ = ["Fleet", "Task"]

Rng = np.random.Generator


def checked_source(robot: Any, who: str) -> Robot | Callable[..., Robot]:
    """A robot, or a function that returns one; anything else is refused."""
    if not (isinstance(robot, Robot) or callable(robot)):
        raise refuse(f"{who}.robot", "a Robot, or a function that returns one", robot)
    return robot


class Task:
    """Base class of tasks. A subclass makes its robot and says what is good.

    Args:
        robot: the robot with its sensors, or a function of parameters by name that returns one.
        limits: (low, high) of each input that an action moves, by name; the others stay zero.
        dt: time step [s].
        substeps: steps that an action lasts.
        horizon: actions of an episode.
        rate: an action of 1 changes an input by so many times its range per second; None if it sets the input itself.
        randomise: (low, high) of parameters of the robot by name: copies are of `variants` robots that differ in them.
        variants: how many different robots there are.
        start: where episodes begin, as in `Stepper`.

    """

    def __init__(
        self,
        robot: Robot | Callable[..., Robot],
        limits: Mapping[str, tuple[float, float]],
        *,
        dt: float = 0.01,
        substeps: int = 5,
        horizon: int = 100,
        rate: float | None = None,
        randomise: Mapping[str, tuple[float, float]] | None = None,
        variants: int = 8,
        start: Start = None,
    ) -> None:
        self._make, self.start = checked_source(robot, type(self).__name__), start
        self.randomise, self.variants = dict(randomise or {}), as_count(variants, "variants")
        if isinstance(robot, Robot) and self.randomise:
            raise DescriptionError("randomise needs a function of the parameters that returns a robot.")
        self.robot = self.make({})
        self.dt, self.rate = as_positive(dt, "dt", "s"), None if rate is None else as_positive(rate, "rate", "1/s")
        self.substeps, self.horizon = as_count(substeps, "substeps"), as_count(horizon, "horizon")
        known = self.robot.inputs
        if not limits or not set(limits) <= set(known):
            raise refuse("limits", f"(low, high) of inputs among {', '.join(known) or 'none'}", limits)
        self.names = [name for name in known if name in limits]
        self.low, self.high = (np.array([float(limits[name][k]) for name in self.names]) for k in (0, 1))
        if np.any(self.low >= self.high):
            raise refuse("limits", "(low, high) with low < high", limits)

    def make(self, parameters: Mapping[str, float]) -> Robot:
        """The robot with some parameters."""
        return self._make if isinstance(self._make, Robot) else self._make(**parameters)

    @property
    def period(self) -> float:
        """Time that an action lasts [s]."""
        return self.substeps * self.dt

    # What a subclass says

    def first_inputs(self) -> Floats:
        """Inputs (k,) at the start of episodes: the end of their ranges that is nearest to zero."""
        return np.clip(0.0, self.low, self.high)

    def new_goals(self, rng: Rng, count: int) -> Floats:
        """Goals (count, g) of new episodes."""
        return np.zeros((count, 0))

    def observe(self, readings: Floats, efforts: Floats, goals: Floats, t: Floats) -> Floats:
        """Observations (copies, o), numbers of order one.

        Args:
            readings: (copies, r) what the sensors show.
            efforts: (copies, k) inputs as parts of their ranges, from -1 to 1.
            goals: (copies, g).
            t: (copies,) time since the start of the episode [s].

        """
        return np.hstack([readings, efforts, goals])

    def reward(
        self, readings: Floats, efforts: Floats, goals: Floats, t: Floats, action: Floats
    ) -> tuple[Floats, dict[str, NDArray[Any]]]:
        """Rewards (copies,), and more to be told of each copy (copies,); arguments as in `observe`."""
        raise NotImplementedError


class Fleet:
    """The copies of all variants of a robot, stepped together.

    Args:
        task: the task.
        copies: how many in all.
        rng: draws the parameters of the variants.
        threads: how many run at once; all cores by default.

    """

    def __init__(self, task: Task, copies: int, rng: Rng, threads: int | None = None) -> None:
        models: list[Model] = [model_of(task.robot)]
        if task.randomise:
            count = min(task.variants, copies)
            drawn = [{name: rng.uniform(*span) for name, span in task.randomise.items()} for _ in range(count)]
            models = [model_of(task.make(parameters)) for parameters in drawn]
        self._groups = np.array_split(np.arange(copies), len(models))
        seeds = rng.integers(2**31, size=len(models)).tolist()
        self._batches = [
            BatchStepper(model, len(group), dt=task.dt, start=task.start, threads=threads, seed=seed)
            for model, group, seed in zip(models, self._groups, seeds, strict=True)
        ]
        self._names, self._task = self._batches[0].names, task
        self._places = [self._names.index(name) for name in task.names]

    def step(self, inputs: Floats) -> None:
        """One action: inputs (copies, k) of the task."""
        for batch, group in zip(self._batches, self._groups, strict=True):
            whole = np.zeros((len(group), len(self._names)))
            whole[:, self._places] = inputs[group]
            batch.step(whole, self._task.substeps)

    def reset(self, which: NDArray[np.bool_], inputs: Floats) -> None:
        """Bring some copies (copies,) back to the start, with inputs (copies, k)."""
        for batch, group in zip(self._batches, self._groups, strict=True):
            whole = np.zeros((len(group), len(self._names)))
            whole[:, self._places] = inputs[group]
            if which[group].any():
                batch.reset(which[group], inputs=whole)

    def read(self) -> Floats:
        """What the sensors of all copies show (copies, r)."""
        return np.concatenate([batch.read() for batch in self._batches])

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Copies (copies,) that could not be stepped further."""
        return np.concatenate([batch.failed for batch in self._batches])

    @property
    def t(self) -> Floats:
        """Time (copies,) [s] since the last reset."""
        return np.concatenate([batch.t for batch in self._batches])

    @property
    def first(self) -> BatchStepper:
        """The batch with the first copy."""
        return self._batches[0]


def pool(robot: Robot, inputs: Sequence[Mapping[str, float]], read: Callable[[Any], Floats]) -> Floats:
    """What is read of the equilibria under some inputs, one after the other; those that are not found are left out."""
    from anguilla.errors import SolverError
    from anguilla.solve.statics.statics import statics

    model, found, last = model_of(robot), [], None
    for given in inputs:
        try:
            last = statics(model, inputs=given, start=last)
        except SolverError:
            continue
        found.append(read(last))
    return np.array(found)
