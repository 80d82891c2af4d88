"""Springs with dampers between two frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anguilla.describe.frames import Frame
from anguilla.describe.load import Array, Book, FrameMotion, Load, Seat, as_frame
from anguilla.errors import DescriptionError, as_nonnegative

__all__ = ["Spring"]


@dataclass(eq=False)
class Spring(Load):
    """A spring with a damper between the origins of two frames.

    Attributes:
        a, b: the frames.
        stiffness: [N/m].
        rest: length at which it is free [m].
        damping: [N s/m].
        name: name of the load.

    """

    a: Frame
    b: Frame
    stiffness: float
    rest: float = 0.0
    damping: float = 0.0
    name: str | None = None

    account: ClassVar[str] = "stored"
    is_passive: ClassVar[bool] = True

    def _check(self) -> None:
        self.a, self.b = as_frame(self.a, "Spring.a"), as_frame(self.b, "Spring.b")
        self._check_name()
        if self.a == self.b:
            raise DescriptionError(f"{self.label} joins a place to itself: it needs two frames.")
        self.stiffness = as_nonnegative(self.stiffness, "Spring.stiffness", "N/m")
        self.rest = as_nonnegative(self.rest, "Spring.rest", "m")
        self.damping = as_nonnegative(self.damping, "Spring.damping", "N s/m")

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        return self.name or f"Spring between {self.a.label} and {self.b.label}"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Its ends."""
        return (self.a, self.b)

    def enter(self, book: Book) -> Seat:
        """A pair load."""
        return book.spring(self.a, self.b, (self.stiffness, self.rest, self.damping))

    def _stretched(self, motion: FrameMotion) -> tuple[Array, Array]:
        """Elongation (nt,) [m] and its rate (nt,) [m/s]."""
        line = motion.position[:, 1] - motion.position[:, 0]
        length = np.linalg.norm(line, axis=1)
        rate = np.sum(line * (motion.velocity[:, 1] - motion.velocity[:, 0]), axis=1)
        return length - self.rest, rate / np.where(length > 0.0, length, 1.0)

    def energy(self, seat: Seat, motion: FrameMotion) -> Array:
        """Of the elongation (nt,) [J]."""
        return 0.5 * self.stiffness * self._stretched(motion)[0] ** 2

    def stored_power(self, seat: Seat, motion: FrameMotion) -> Array:
        """Rate (nt,) [W] of its energy."""
        elongation, rate = self._stretched(motion)
        return self.stiffness * elongation * rate

    def lost_power(self, seat: Seat, motion: FrameMotion) -> Array:
        """What the damper takes (nt,) [W]."""
        return self.damping * self._stretched(motion)[1] ** 2
