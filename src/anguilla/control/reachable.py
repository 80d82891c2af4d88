"""Where an effector can go."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla.control.model import as_model
from anguilla.errors import DescriptionError, SolverError, as_array, as_count

__all__ = ["workspace"]

Floats = NDArray[np.float64]


@public
def workspace(
    robot: Any, efforts: ArrayLike, *, samples: int = 50, steps: int = 4, seed: int = 0
) -> tuple[Floats, dict[str, Floats]]:
    """Positions of the effectors for efforts spread evenly over a box.

    Args:
        robot: a SoftBody, or a model (SoftModel, RodModel).
        efforts: (actuators, 2) smallest and largest effort of each actuator [N, Pa].
        samples: number of equilibria (some may be missing: an effort that turns elements inside out is left out).
        steps: steps in which the effort goes from one sample to the next.
        seed: of the spreading.

    Returns:
        (efforts (k, actuators), positions (k, 3) [m] by effector).

    """
    from scipy.stats import qmc

    model = as_model(robot)
    box = as_array(efforts, "efforts", "two efforts for each actuator")
    if box.shape != (len(model.actuators), 2) or np.any(box[:, 0] > box[:, 1]):
        raise DescriptionError(
            f"efforts must be increasing pairs of shape ({len(model.actuators)}, 2); got {box.shape}."
        )
    low, high, _, _ = model.limits()
    for name, given, least, most in zip(model.actuators, box, low, high, strict=True):
        if given[0] < least or given[1] > most:
            raise DescriptionError(
                f"efforts: those of {name!r} must lie between {least:g} and {most:g}, its limits; got {given.tolist()}."
            )
    spread = qmc.Halton(len(box), seed=seed).random(as_count(samples, "samples"))
    wanted = box[:, 0] + spread * (box[:, 1] - box[:, 0])
    reached, places = [], []
    for goal in wanted:
        home, start = model.remember(), model.efforts.copy()
        try:
            for part in np.linspace(0.0, 1.0, as_count(steps, "steps") + 1)[1:]:
                model.efforts = (1.0 - part) * start + part * goal
                model.relax(tolerance=1e-6 if part < 1.0 else 1e-9)
        except SolverError:
            model.restore(home)
            continue
        reached.append(goal)
        places.append(model.positions())
    names = list(model.effectors)
    return np.array(reached), {name: np.array([place[k] for place in places]) for k, name in enumerate(names)}
