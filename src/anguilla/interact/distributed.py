"""Wrenches per length along rods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.frames import Frame, RodHandle
from anguilla.describe.load import ZERO, Array, Book, FrameMotion, RodLoad, Seat, as_rod
from anguilla.describe.signals import Signal, as_field_signal, depends_on_time, sample_along
from anguilla.errors import as_flag

__all__ = ["DistributedWrench"]


@dataclass(eq=False)
class DistributedWrench(RodLoad):
    """A force and a moment per unit of rest length, all along a rod.

    Attributes:
        part: the rod in the robot, as returned by ``robot.add``.
        force: force per length [N/m], a 3-vector or a function of X [m] or of (X [m], t [s]) returning one.
        moment: moment per length [N m/m], likewise.
        follower: False for components along the world axes (a dead load), True for components along the axes of each
            section.
        name: name of the load.

    """

    part: RodHandle
    force: Signal = ZERO
    moment: Signal = ZERO
    follower: bool = False
    name: str | None = None

    has_arrows: ClassVar[bool] = True
    variables: ClassVar[dict[str, tuple[str, ...]]] = {"": ("X", "t")}

    def _check(self) -> None:
        self.part = as_rod(self.part, "DistributedWrench.part")
        self._check_name()
        self.follower = as_flag(self.follower, "DistributedWrench.follower")
        self.force = as_field_signal(self.force, "DistributedWrench.force", "N/m")
        self.moment = as_field_signal(self.moment, "DistributedWrench.moment", "N m/m")

    @property
    def is_constant(self) -> bool:
        """Whether neither the force nor the moment depends on time (they may depend on X)."""
        return not (depends_on_time(self.force) or depends_on_time(self.moment))

    def values(self, X: ArrayLike, times: ArrayLike) -> Array:
        """Return the wrench per length (nt, m, 6) at the arc lengths X (m,) [m] and the times (nt,) [s].

        Moment [N m/m] first, then force [N/m].
        """
        parts = []
        for field in ("moment", "force"):
            name = f"The {field} of {self.label}"
            parts.append(sample_along(getattr(self, field), X, times, name))
        return np.concatenate(parts, axis=2)

    @property
    def stations(self) -> tuple[Frame, ...]:
        """None: every rod has nodes."""
        return ()

    def enter(self, book: Book) -> Seat:
        """A given wrench on every node, by its share of the length."""
        seat = book.seat(self.part)
        book.wrenches(seat.nodes, self.follower, self.is_constant, partial(self._shares, seat))
        return seat

    def _shares(self, seat: Seat, times: Array) -> Array:
        return seat.weights[:, None] * self.values(seat.X, times)

    @property
    def density_on(self) -> RodHandle | None:
        """The rod."""
        return self.part

    def wrench_density(self, X: Array, times: Array, motion: FrameMotion, gravity: Array) -> Array:
        """Wrench per length (nt, m, 6), world axes, at X (m,) [m]."""
        values = self.values(X, times)
        if not self.follower:
            return values
        return np.concatenate([motion.turned(values[:, :, :3]), motion.turned(values[:, :, 3:])], axis=2)
