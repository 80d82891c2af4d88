"""What control asks of a robot, and how it gets it: a protocol that soft volumes and rods both satisfy."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anguilla.describe import Robot
from anguilla.errors import DescriptionError, refuse
from anguilla.fem.projection import Projection

__all__ = ["ConstraintModel", "as_model"]

Floats = NDArray[np.float64]


class ConstraintModel(Protocol):
    """A robot with a present state, linearised in constraint space on request (see `fem.SoftModel`, `RodModel`)."""

    efforts: Floats
    size: float

    @property
    def actuators(self) -> list[str]:
        """Names of the actuators."""

    @property
    def sensors(self) -> list[str]:
        """Names of the sensors."""

    @property
    def effectors(self) -> dict[str, int]:
        """Number of rows, 3 or 6, of each effector."""

    def limits(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Smallest and largest effort, smallest and largest stroke."""

    def errors(self, positions: list[Floats], rotations: list[Floats | None]) -> Floats:
        """Effectors as seen from where they should be."""

    def positions(self) -> list[Floats]:
        """Present positions of the effectors."""

    def strokes(self) -> Floats:
        """Present strokes."""

    def readings(self) -> Floats:
        """Present lengths of the sensors."""

    def remember(self) -> Any:
        """Something to give to `restore`."""

    def restore(self, memory: Any) -> None:
        """Go back."""

    def project(self, *, reuse: bool = False) -> Projection:
        """Linearise."""

    def advance(self, projection: Projection, change: Floats, *, reach: float = np.inf) -> float:
        """Change the efforts, move along, return the length of the step."""

    def relax(self, *, tolerance: float = 1e-10, strokes: bool = False) -> Any:
        """Go to the equilibrium at the present efforts, or with tight tendons held at their present lengths."""


def as_model(robot: Any, *, solver: str = "auto") -> ConstraintModel:
    """Make a model of a SoftBody; a model is returned as it is. Rods need `RodModel`, which is told its effectors."""
    from anguilla.fem.body import SoftBody
    from anguilla.fem.projection import SoftModel
    from anguilla.fem.system import SoftSystem

    if isinstance(robot, (SoftBody, SoftSystem)):
        return SoftModel(robot, solver=solver)
    if isinstance(robot, Robot) and robot.volumes:
        raise DescriptionError(
            "a robot with soft volumes needs a mixed.MixedRobotModel(robot, effectors={...}), which is told its effectors."
        )
    if isinstance(robot, Robot):
        raise DescriptionError(
            "a robot of rods needs a RodModel(robot, effectors={...}), which says what its effectors are."
        )
    if not hasattr(robot, "project"):
        raise refuse("robot", "a SoftBody, a SoftModel or a RodModel", robot)
    return robot
