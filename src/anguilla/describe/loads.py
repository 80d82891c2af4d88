"""Wrenches on frames and along rods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.description import Description, as_name
from anguilla.describe.frames import Frame, Part, RodHandle
from anguilla.describe.signals import (
    Array,
    Signal,
    as_field_signal,
    as_time_signal,
    depends_on_time,
    sample,
    sample_along,
)
from anguilla.errors import DescriptionError, as_flag, refuse

ZERO = (0.0, 0.0, 0.0)


class Load(Description):
    """Base class of loads."""

    name: str | None

    @property
    def is_constant(self) -> bool:
        """Whether the load does not depend on time."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        raise NotImplementedError

    @property
    def _frames(self) -> tuple[Frame, ...]:
        """Frames the load refers to; they must belong to the robot it is put on."""
        raise NotImplementedError

    def _check_name(self) -> None:
        if self.name is not None:
            self.name = as_name(self.name, f"{type(self).__name__}.name")


class FrameLoad(Load):
    """Base class of loads on one frame."""

    frame: Frame

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        return self.name or f"{type(self).__name__} on {self.frame.label}"

    @property
    def _frames(self) -> tuple[Frame, ...]:
        return (self.frame,)


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


@dataclass(eq=False)
class DistributedWrench(Load):
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

    def _check(self) -> None:
        if not isinstance(self.part, RodHandle):
            raise refuse("DistributedWrench.part", "a rod of the robot, as returned by robot.add(rod, ...)", self.part)
        self._check_name()
        self.follower = as_flag(self.follower, "DistributedWrench.follower")
        self.force = as_field_signal(self.force, "DistributedWrench.force", "N/m")
        self.moment = as_field_signal(self.moment, "DistributedWrench.moment", "N m/m")

    @property
    def is_constant(self) -> bool:
        """Whether neither the force nor the moment depends on time (they may depend on X)."""
        return not (depends_on_time(self.force) or depends_on_time(self.moment))

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        return self.name or f"{type(self).__name__} on {self.part.name}"

    @property
    def _frames(self) -> tuple[Frame, ...]:
        return (self.part.root,)

    def values(self, X: ArrayLike, times: ArrayLike) -> Array:
        """Return the wrench per length (nt, m, 6) at the arc lengths X (m,) [m] and the times (nt,) [s].

        Moment [N m/m] first, then force [N/m].
        """
        parts = []
        for field in ("moment", "force"):
            name = f"The {field} of {self.label}"
            parts.append(sample_along(getattr(self, field), X, times, name))
        return np.concatenate(parts, axis=2)
