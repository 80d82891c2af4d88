"""Tendons, along rods and freely between bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from anguilla.describe.actuators import Actuator, Array, Indices
from anguilla.describe.frames import Frame, RodHandle
from anguilla.errors import DescriptionError, as_flag, as_nonnegative, refuse

__all__ = ["Tendon"]

ROUNDING = 1e-9  # [N], or part of the largest tension: 5 sin(pi t) may end a little below zero


@dataclass
class Tendon(Actuator):
    """A tendon (000 (13)-(16)). Its input is its tension [N], positive when it pulls, or its length [m].

    Attributes:
        by: "tension", or "length": the input is then the length of the line [m], the tension is found, and where it
            would have to push it is slack. Without a compliance it becomes taut abruptly, without rebound.
        compliance: elastic elongation per tension [m/N]; only with a length.
        friction: Coulomb coefficient between the tendon and its guides, along rods and at the frames where it turns. Drawn
            in at the start of the path, it loses tension as exp(-friction x turned angle) (capstan); let out, it gains as
            much; the transition takes 1e-3 of its length, so friction holds what is at rest. `statics` finds the equilibrium
            reached by drawing the tendon in, or the next one after `start`: a sequence of equilibria follows the hysteresis
            loop. Motions continue from their start.
        pushes: whether it is a push rod, which takes negative tensions too. A tendon refuses a negative number; where a
            function of time or a command of a Stepper is negative, it is slack.

    """

    by: str = field(default="tension", kw_only=True)
    compliance: float = field(default=0.0, kw_only=True)
    friction: float = field(default=0.0, kw_only=True)
    pushes: bool = field(default=False, kw_only=True)

    _wanted: ClassVar[str] = "a rod of the robot, or several rods and frames (of a body: body.at((x, y, z))) in order"

    def _check(self) -> None:
        super()._check()
        if self.by not in ("tension", "length"):
            raise refuse("Tendon.by", '"tension" or "length"', self.by)
        self.compliance = as_nonnegative(self.compliance, "Tendon.compliance", "m/N")
        self.friction = as_nonnegative(self.friction, "Tendon.friction")
        self.pushes = as_flag(self.pushes, "Tendon.pushes")
        if self.pushes and self.by == "length":
            raise DescriptionError(
                "Tendon.pushes is for tensions; a line of given length is slack where it would push."
            )
        for a, b in pairwise(self._path):
            if isinstance(a, Frame) and a == b:
                raise DescriptionError(f"Tendon.part passes {a.label} twice in a row: consecutive frames must differ.")
        if self.compliance and self.by == "tension":
            raise DescriptionError('Tendon.compliance matters only when the input is a length: by="length".')

    def _goes(self, path: list[Any]) -> bool:
        rods = [part.index for part in path if isinstance(part, RodHandle)]
        return (len(path) > 1 or bool(rods)) and (len(set(rods)) == len(rods) or len({p.robot for p in path}) > 1)

    @property
    def unit(self) -> str:
        """Of a tension, or of a length."""
        return "m" if self.by == "length" else "N"

    @property
    def rubbing(self) -> float:
        """Coulomb coefficient between the tendon and its guides."""
        return self.friction

    @property
    def slack(self) -> float | None:
        """Its compliance [m/N], if its input is its length."""
        return self.compliance if self.by == "length" else None

    @property
    def lowest(self) -> float:
        """A tendon pulls only."""
        return -np.inf if self.pushes or self.by == "length" else 0.0

    @property
    def is_push_rod(self) -> bool:
        """Whether it pushes as well as it pulls."""
        return self.pushes

    def pushing(self, inputs: Array) -> Indices:
        """Where tensions (nt,) [N] are negative, if it is driven by its tension and no push rod."""
        if self.lowest < 0.0:
            return super().pushing(inputs)
        return np.flatnonzero(inputs < -ROUNDING * max(1.0, float(np.abs(inputs).max())))
