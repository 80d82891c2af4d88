"""Water around a whole body, by coefficients in the axes of one frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.frames import Frame
from anguilla.describe.load import ZERO, Array, Book, FrameLoad, Seat, as_frame
from anguilla.errors import as_array, as_flag, as_nonnegative, as_vector, refuse
from anguilla.interact.fluids import water

__all__ = ["Hull"]


@dataclass(eq=False)
class Hull(FrameLoad):
    """The fluid around a whole body, by coefficients in the axes of a frame: a head, a float, a fin.

    Attributes:
        frame: where it acts: the centre of the displaced volume.
        drag: (6,) quadratic drag on velocities [kg/m] and on turning [kg m^2]; or (3,), on velocities.
        friction: (6,) linear friction [N s/m], [N m s]; or (3,).
        added: (6,) added mass [kg] and added inertia [kg m^2]; or (3,).
        displaced: mass of the displaced fluid [kg], which carries the body.
        current: velocity of the fluid [m/s], world axes.
        slender: False for a speed |V| in the drag of every direction; True for |V1| along x and that of the cross-flow
            across it, as along rods.
        potential: True for the added mass of a potential flow, which turns with the body; False for one that feels the
            acceleration of the frame alone (001 (16)).
        name: name of the load.

    """

    frame: Frame
    drag: ArrayLike = ZERO
    friction: ArrayLike = ZERO
    added: ArrayLike = ZERO
    displaced: float = 0.0
    current: ArrayLike = ZERO
    slender: bool = field(default=False, kw_only=True)
    potential: bool = field(default=True, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    account: ClassVar[str] = "water"

    def _check(self) -> None:
        self.frame = as_frame(self.frame, "Hull.frame")
        self._check_name()
        for name in ("drag", "friction", "added"):
            value = as_array(getattr(self, name), f"Hull.{name}", "3 or 6 numbers, none negative")
            if value.shape not in ((3,), (6,)) or np.any(value < 0.0):
                raise refuse(f"Hull.{name}", "3 or 6 numbers, none negative", getattr(self, name))
            setattr(self, name, tuple(np.concatenate([value, np.zeros(6 - len(value))]).tolist()))
        self.displaced = as_nonnegative(self.displaced, "Hull.displaced", "kg")
        self.current = tuple(as_vector(self.current, 3, "Hull.current", "m/s").tolist())
        self.slender, self.potential = as_flag(self.slender, "Hull.slender"), as_flag(self.potential, "Hull.potential")

    @property
    def coefficients(self) -> Array:
        """Coefficients (19,) of the frame."""
        return np.concatenate([self.drag, self.friction, self.added, [self.displaced]])

    def enter(self, book: Book) -> Seat:
        """A frame load."""
        seat = book.seat(self.frame)
        flags = np.array([self.potential, not self.slender])
        book.on_frames("fluid", seat.nodes, water(self.coefficients[None], flags, self.current))
        return seat
