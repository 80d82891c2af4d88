"""Pressure chambers along rods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from anguilla.describe.actuators import Actuator
from anguilla.describe.plausible import check_area
from anguilla.errors import as_positive

__all__ = ["Chamber"]


@dataclass
class Chamber(Actuator):
    """A pressure chamber of constant cross-section along a routing; its input is the pressure [Pa], positive inflates.

    The pressure pushes the end caps apart: a tension of -pressure x area along the line of centroids.

    Attributes:
        area: cross-section of the chamber [m^2].

    """

    area: float = field(default=1e-4, kw_only=True)

    colour: ClassVar[tuple[float, float, float]] = (0.16, 0.44, 0.72)

    def _check(self) -> None:
        super()._check()
        self.area = as_positive(self.area, "Chamber.area", "m^2")
        for rod, _, low, high in self.stretches:
            half = float(rod.rod.section.thickness([low, high]).max()) / 2.0
            check_area("Chamber.area", self.area, half, rod.length)

    @property
    def unit(self) -> str:
        """Of a pressure."""
        return "Pa"

    @property
    def tension_per_input(self) -> float:
        """Minus the area."""
        return -self.area

    @property
    def thickness(self) -> float | None:
        """Diameter [m] of a round one of its area."""
        return 2.0 * float(np.sqrt(self.area / np.pi))
