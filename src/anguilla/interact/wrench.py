"""Wrenches on frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.frames import Frame, Part, RodHandle
from anguilla.describe.load import ZERO, Array, Book, FrameLoad, Seat
from anguilla.describe.signals import Signal, as_time_signal, sample
from anguilla.errors import DescriptionError, as_flag, refuse

__all__ = ["TipWrench", "Wrench"]


@dataclass(eq=False)
class Wrench(FrameLoad):
    """A force and a moment on one frame.

    Attributes:
        frame: where it acts.
        force: force [N], a 3-vector or a function t [s] -> 3-vector.
        moment: moment about the origin of the frame [N m], a 3-vector or a function t [s] -> 3-vector.
        follower: False for components along the world axes (a dead load), True for components along the axes of the
            section, turning with it.
        name: name of the load.

    """

    frame: Frame
    force: Signal = ZERO
    moment: Signal = ZERO
    follower: bool = False
    name: str | None = None

    has_arrows: ClassVar[bool] = True

    def _check(self) -> None:
        kind = type(self).__name__
        if isinstance(self.frame, Part):
            place = "tip" if isinstance(self.frame, RodHandle) else "frame"
            raise DescriptionError(
                f"{kind}.frame must be a frame; got the part {self.frame.name!r}: did you mean its .{place}?"
            )
        if not isinstance(self.frame, Frame):
            raise refuse(f"{kind}.frame", "a frame such as arm.tip", self.frame)
        self._check_name()
        self.follower = as_flag(self.follower, f"{kind}.follower")
        self.force = as_time_signal(self.force, f"{kind}.force", "N")
        self.moment = as_time_signal(self.moment, f"{kind}.moment", "N m")

    @property
    def is_constant(self) -> bool:
        """Whether neither the force nor the moment is a function of time."""
        return not (callable(self.force) or callable(self.moment))

    def values(self, times: ArrayLike) -> Array:
        """Return the wrench (nt, 6) at the times (nt,) [s]: moment [N m], then force [N]."""
        moment = sample(self.moment, times, f"The moment of {self.label}")
        return np.hstack([moment, sample(self.force, times, f"The force of {self.label}")])

    @property
    def dead_force(self) -> Array | None:
        """The force (3,) [N] if it keeps its size and direction and comes without a moment."""
        wrench = self.values([0.0])[0] if self.is_constant and not self.follower else np.ones(6)
        return None if np.any(wrench[:3]) else wrench[3:]

    def enter(self, book: Book) -> Seat:
        """A given wrench."""
        seat = book.seat(self.frame)
        book.wrenches(seat.nodes, self.follower, self.is_constant, self.values)
        return seat

    @property
    def wrench_on(self) -> Frame | None:
        """The frame."""
        return self.frame

    def given_wrench(self, times: Array, rotation: Array) -> Array:
        """Wrench (nt, 6), world axes, on a frame turned by rotation (nt, 3, 3)."""
        values = self.values(times)
        if not self.follower:
            return values
        return np.einsum("tij,tkj->tki", rotation, values.reshape(-1, 2, 3)).reshape(-1, 6)


@dataclass(eq=False, init=False)
class TipWrench(Wrench):
    """A force and a moment at the tip of a rod: a Wrench whose frame is ``part.tip``.

    Args:
        part: the rod in the robot, as returned by ``robot.add``.
        force: force [N], a 3-vector or a function t [s] -> 3-vector.
        moment: moment [N m], a 3-vector or a function t [s] -> 3-vector.
        follower: False for world axes (dead load), True for section axes.
        name: name of the load.

    """

    def __init__(
        self,
        part: RodHandle,
        force: Signal = ZERO,
        moment: Signal = ZERO,
        follower: bool = False,
        name: str | None = None,
    ) -> None:
        if not isinstance(part, RodHandle):
            raise refuse("TipWrench.part", "a rod of the robot, as returned by robot.add(rod, ...)", part)
        super().__init__(part.tip, force, moment, follower, name)

    def file_form(self, fields: dict[str, Any]) -> dict[str, Any]:
        """By its part; as a wrench if its frame is no tip any more."""
        if self.frame.place != "tip" or self.frame.offset is not None:
            return fields | {"type": "wrench"}
        rest = {name: value for name, value in fields.items() if name not in ("type", "frame")}
        return {"type": "tip_wrench", "part": self.frame.part.name, **rest}
