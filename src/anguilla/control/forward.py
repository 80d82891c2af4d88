"""Forward kinematics in sensor space: the shape of a robot from the lengths of its strings (002 (15))."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla.control.allocation import Allocation, allocate
from anguilla.control.model import ConstraintModel, as_model
from anguilla.control.settling import Reach, settle
from anguilla.errors import DescriptionError, as_positive, as_vector

__all__ = ["as_lengths", "forward_kinematics", "free_limits"]

Floats = NDArray[np.float64]


@public
def forward_kinematics(
    robot: Any, lengths: Mapping[str, float] | ArrayLike, *, energy: float = 1e-9, limited: bool = False,
    reach: float = 0.1, tolerance: float = 1e-7, iterations: int = 100, raise_on_failure: bool = True,
) -> Reach:  # fmt: skip
    """Shape of a robot from the lengths of its sensors (002 (15)): efforts that make the model read them.

    Args:
        robot: a SoftBody, or a model (SoftModel, RodModel) whose state is then used and moved.
        lengths: measured length [m] of every sensor, by name or in order.
        energy: weight of the deformation energy in the QP.
        limited: keep efforts and strokes within their limits; otherwise they are free, as in an observer.
        reach: longest way of a node in one step, over the size of the robot.
        tolerance: largest last displacement, over the size of the robot.
        iterations: most steps.
        raise_on_failure: raise SolverError instead of returning a result that did not settle.

    """
    model = as_model(robot)
    goal = as_lengths(model, lengths)
    limits = model.limits() if limited else free_limits(len(model.actuators))

    pace = _Pace(as_positive(reach, "reach") * model.size)

    def step() -> tuple[Allocation, float]:
        projection = model.project()
        error = model.readings() - goal + projection.drift("s")
        choice = allocate(projection, "s", error, limits, energy=energy)
        length = model.advance(projection, choice.change, reach=pace.trust)
        pace.trust = min(1.3 * pace.trust, pace.reach)
        return choice, length

    return settle(model, step, lambda: model.readings() - goal, tolerance, iterations, raise_on_failure, pace)


class _Pace:
    """How far a step may go."""

    def __init__(self, reach: float) -> None:
        self.reach = self.trust = reach

    def retreat(self, trust: float) -> None:
        """Make shorter steps."""
        self.trust = trust


def as_lengths(model: ConstraintModel, lengths: Mapping[str, float] | ArrayLike) -> Floats:
    """Check lengths of the sensors: (sensors,) [m]."""
    names = model.sensors
    if not names:
        raise DescriptionError("the robot has no sensor: add strings with sense(...).")
    if isinstance(lengths, Mapping):
        for name in lengths:
            if name not in names:
                raise DescriptionError(f"lengths: there is no sensor {name!r}; there are: {', '.join(names)}.")
        missing = [name for name in names if name not in lengths]
        if missing:
            raise DescriptionError(f"lengths: the length of sensor {missing[0]!r} is missing.")
        lengths = [lengths[name] for name in names]
    goal = as_vector(lengths, len(names), "lengths", "m")
    if np.any(goal <= 0.0):
        name = names[int(np.argmin(goal))]
        raise DescriptionError(f"lengths: a length must be positive; got {goal.min():g} m for sensor {name!r}.")
    return goal


def free_limits(n: int) -> tuple[Floats, Floats, Floats, Floats]:
    """No limits at all."""
    return np.full(n, -np.inf), np.full(n, np.inf), np.full(n, -np.inf), np.full(n, np.inf)
