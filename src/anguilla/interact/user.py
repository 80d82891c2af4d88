"""Loads written in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.frames import Frame, RodHandle
from anguilla.describe.load import Array, Book, FrameMotion, Load, PlacedLoad, Seat, as_frame
from anguilla.errors import DescriptionError, refuse

__all__ = ["UserForce", "UserLoad"]


def _check_arguments(function: Callable[..., object] | None, name: str, given: tuple[str, ...]) -> None:
    """Check that a function can be called with as many arguments as it is given."""
    if function is None:
        return
    try:
        inspect.signature(function).bind(*given)
    except TypeError as error:
        raise DescriptionError(f"The {name} must be a function of ({', '.join(given)}): {error}.") from None
    except ValueError:
        pass  # a built-in function does not tell


@dataclass(eq=False)
class UserLoad(PlacedLoad):
    """A load written in Python: a wrench on a frame, or per length along a rod, as a function of the motion there.

    It is as slow as Python, and as right as any other load: Newton gets its tangent, given or by differences.

    Attributes:
        where: a frame, or a rod.
        wrench: function of (motion, t) returning (6,) moment about the frame's origin [N m] and force [N], world axes; along
            a rod, of (motion, t, X) per unit length [N, N/m].
        tangent: function of the same returning the derivative (6, 18) of the wrench with respect to a small rotation, a
            displacement, and changes of spin, velocity, spin rate and acceleration, world axes. By differences if not given;
            if given, it is compared with differences once, and refused if wrong.
        name: name of the load.

    """

    where: Frame | RodHandle
    wrench: Callable[..., ArrayLike]
    tangent: Callable[..., ArrayLike] | None = None
    name: str | None = None

    in_files: ClassVar[bool] = False

    def _check(self) -> None:
        if not isinstance(self.where, RodHandle):
            self.where = as_frame(self.where, "UserLoad.where")
        self._check_name()
        if not callable(self.wrench):
            raise refuse("UserLoad.wrench", "a function of (motion, t) returning 6 numbers", self.wrench)
        if self.tangent is not None and not callable(self.tangent):
            raise refuse("UserLoad.tangent", "a function of (motion, t) returning a (6, 18) array", self.tangent)
        given = ("motion", "t", "X") if isinstance(self.where, RodHandle) else ("motion", "t")
        for name in ("wrench", "tangent"):
            _check_arguments(getattr(self, name), f"{name} of {self.label}", given)

    @property
    def functions(self) -> tuple[Callable[..., Any] | None, ...]:
        """The wrench and its tangent."""
        return self.wrench, self.tangent

    def enter(self, book: Book) -> Seat:
        """A frame load on every node, asked between the phases of the residual."""
        seat = book.seat(self.where)
        book.user_frames(self, seat)
        return seat

    def wrench_density(self, X: Array, times: Array, motion: FrameMotion, gravity: Array) -> Array:
        """Wrench per length (nt, m, 6), world axes."""
        asked = [
            self.wrench(motion.one(i, k), t, x) for i, t in enumerate(times.tolist()) for k, x in enumerate(X.tolist())
        ]
        return np.reshape(np.asarray(asked, dtype=np.float64), (len(times), len(X), 6))


@dataclass(eq=False)
class UserForce(Load):
    """Generalised forces written in Python, as a function of all coordinates: controllers, springs across the robot, ...

    Attributes:
        force: function of (q, v, t) returning (n,) forces on the coordinates, positive along them.
        tangent: function of the same returning (dF/dq, dF/dv), (n, n) each, for balls with respect to small rotations in
            the axes of the child; by differences if not given.
        name: name of the load.

    """

    force: Callable[..., ArrayLike]
    tangent: Callable[..., tuple[ArrayLike, ArrayLike]] | None = field(default=None)
    name: str | None = None

    in_files: ClassVar[bool] = False

    def _check(self) -> None:
        self._check_name()
        if not callable(self.force):
            raise refuse("UserForce.force", "a function of (q, v, t) returning a force per coordinate", self.force)
        if self.tangent is not None and not callable(self.tangent):
            raise refuse("UserForce.tangent", "a function of (q, v, t) returning two matrices", self.tangent)
        for name in ("force", "tangent"):
            _check_arguments(getattr(self, name), f"{name} of {self.label}", ("q", "v", "t"))

    @property
    def label(self) -> str:
        """The name of the load, or its type."""
        return self.name or "UserForce"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """None: it acts on the coordinates."""
        return ()

    @property
    def functions(self) -> tuple[Callable[..., Any] | None, ...]:
        """The force and its tangent."""
        return self.force, self.tangent

    def enter(self, book: Book) -> Seat:
        """Added to the residual."""
        book.user_force(self)
        return Seat.on(())
