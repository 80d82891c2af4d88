"""Springs and dampers along a direction fixed in the world: foundations, tethers, guides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anguilla.describe.frames import Frame, RodHandle
from anguilla.describe.joint import Direction, as_direction
from anguilla.describe.load import Array, Book, FrameMotion, PlacedLoad, Seat, as_frame
from anguilla.errors import as_nonnegative, as_number

__all__ = ["WorldSpring"]


@dataclass(eq=False)
class WorldSpring(PlacedLoad):
    """A spring with a damper along a direction fixed in the world, on a frame or all along a rod.

    It pulls the place x to the plane direction . x = rest, with the force -(stiffness (direction . x - rest) + damping x
    speed) along the direction, and leaves it free across: a soft bearing, the swell under a float, the elastic ground that a
    rod lies on (Winkler's foundation). Add one for each direction that is held.

    Attributes:
        where: a frame, or a rod.
        stiffness: [N/m] of a frame; per length [N/m^2] along a rod.
        direction: (3,) world axes, of any length.
        rest: where it is free, along the direction [m]; 0 through the world origin.
        damping: [N s/m] of a frame; per length [N s/m^2] along a rod.
        name: name of the load.

    """

    where: Frame | RodHandle
    stiffness: float
    direction: Direction = (0.0, 0.0, 1.0)
    rest: float = 0.0
    damping: float = 0.0
    name: str | None = None

    account: ClassVar[str] = "stored"
    is_passive: ClassVar[bool] = True
    has_arrows: ClassVar[bool] = True

    def _check(self) -> None:
        if not isinstance(self.where, RodHandle):
            self.where = as_frame(self.where, "WorldSpring.where")
        self._check_name()
        self.stiffness = as_nonnegative(self.stiffness, "WorldSpring.stiffness", "N/m, or N/m^2 along a rod")
        self.direction = as_direction(self.direction, "WorldSpring.direction")
        self.rest = as_number(self.rest, "WorldSpring.rest", "m")
        self.damping = as_nonnegative(self.damping, "WorldSpring.damping", "N s/m, or N s/m^2 along a rod")

    def enter(self, book: Book) -> Seat:
        """A frame load on every node, by its share of the length."""
        seat = book.seat(self.where)
        both = seat.weights[:, None] * np.array([self.stiffness, self.damping])
        directions, free = np.tile(self.direction, (len(both), 1)), np.full((len(both), 1), self.rest)
        book.on_frames("world_spring", seat.nodes, np.hstack([directions, both, free]))
        return seat

    def wrench_density(self, X: Array, times: Array, motion: FrameMotion, gravity: Array) -> Array:
        """Wrench per length (nt, m, 6), world axes: a force."""
        pull = self.stiffness * (self._along(motion.position) - self.rest) + self.damping * self._along(motion.velocity)
        force = -pull[..., None] * np.asarray(self.direction, dtype=np.float64)
        return np.concatenate([np.zeros_like(force), force], axis=-1)

    def _along(self, vectors: Array) -> Array:
        """Components (nt, k) of vectors (nt, k, 3) along the direction."""
        return np.asarray(vectors @ np.asarray(self.direction, dtype=np.float64))

    def energy(self, seat: Seat, motion: FrameMotion) -> Array:
        """Of the stretch (nt,) [J]."""
        return np.asarray(0.5 * self.stiffness * (self._along(motion.position) - self.rest) ** 2 @ seat.weights)

    def stored_power(self, seat: Seat, motion: FrameMotion) -> Array:
        """Rate (nt,) [W] of its energy."""
        stretch = self._along(motion.position) - self.rest
        return np.asarray(self.stiffness * stretch * self._along(motion.velocity) @ seat.weights)

    def lost_power(self, seat: Seat, motion: FrameMotion) -> Array:
        """What the damper takes (nt,) [W]."""
        return np.asarray(self.damping * self._along(motion.velocity) ** 2 @ seat.weights)
