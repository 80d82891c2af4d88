"""Bodies whose velocity is controlled by thrust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.frames import Frame
from anguilla.describe.load import ZERO, Array, Book, FrameLoad, Seat, as_frame
from anguilla.describe.signals import Signal, as_time_signal, sample
from anguilla.errors import as_number, as_vector

__all__ = ["Thruster"]


@dataclass(eq=False)
class Thruster(FrameLoad):
    """A body whose velocity is controlled by thrust (004 (68)-(69)): body wrench kP e + kI (integral of e).

    e is the error of its twist in its own axes. The integral is a state of the simulation; in statics only its start counts.

    Attributes:
        frame: where the wrench acts, and whose twist is controlled.
        kp: (6,) gains on (angular velocity, velocity) [N m s, N s/m], or one number for all.
        ki: (6,) gains on their integrals [N m, N/m], or one number.
        velocity: wanted velocity [m/s], world axes: a 3-vector or a function of t [s].
        spin: wanted angular velocity [rad/s], world axes, likewise.
        place: the point [m] about which the wanted motion turns, world axes, likewise; matters only with a spin.
        name: name of the load.

    """

    frame: Frame
    kp: ArrayLike
    ki: ArrayLike = 0.0
    velocity: Signal = ZERO
    spin: Signal = ZERO
    place: Signal = ZERO
    name: str | None = None

    account: ClassVar[str] = "motors"

    def _check(self) -> None:
        self.frame = as_frame(self.frame, "Thruster.frame")
        self._check_name()
        for name in ("kp", "ki"):
            value = getattr(self, name)
            six = np.full(6, as_number(value, f"Thruster.{name}")) if np.ndim(value) == 0 else value
            setattr(self, name, tuple(as_vector(six, 6, f"Thruster.{name}").tolist()))
        for name, unit in (("velocity", "m/s"), ("spin", "rad/s"), ("place", "m")):
            setattr(self, name, as_time_signal(getattr(self, name), f"Thruster.{name}", unit))

    @property
    def is_constant(self) -> bool:
        """Whether the wanted motion does not depend on time."""
        return not any(callable(s) for s in (self.velocity, self.spin, self.place))

    def values(self, times: ArrayLike) -> Array:
        """Wanted place, spin and velocity (nt, 9), world axes."""
        names = ("place", "spin", "velocity")
        return np.hstack([sample(getattr(self, name), times, f"The {name} of {self.label}") for name in names])

    @property
    def remembers(self) -> bool:
        """Whether the integral of the error counts."""
        return bool(np.any(self.ki))

    def enter(self, book: Book) -> Seat:
        """A frame load; the wanted motion stands in the row."""
        seat = book.seat(self.frame)
        constants = np.concatenate([self.kp, self.ki])[None]
        book.on_frames("thruster", seat.nodes, constants, values=self.values, numbers=9, constant=self.is_constant)
        return seat
