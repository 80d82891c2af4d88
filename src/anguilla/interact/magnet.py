"""Magnets in a field."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.frames import Frame, RodHandle
from anguilla.describe.load import ZERO, Array, Book, FrameMotion, PlacedLoad, Seat, as_frame
from anguilla.describe.signals import Signal, as_time_signal, sample
from anguilla.errors import as_array, as_vector, refuse

__all__ = ["Magnet"]


@dataclass(eq=False)
class Magnet(PlacedLoad):
    """A magnetic moment fixed to a frame, or spread along a rod, in a field B(x, t) = B0(t) + G x.

    The moment it feels is m x B, the force G m.

    Attributes:
        where: a frame, or a rod.
        moment: (3,) in the axes of the frame or of the sections: [A m^2] of a frame, [A m] (per length) along a rod.
        field: B0 [T], world axes, a 3-vector or a function of t [s].
        gradient: G (3, 3) [T/m], symmetric and traceless, world axes.
        name: name of the load.

    """

    where: Frame | RodHandle
    moment: ArrayLike
    field: Signal = ZERO
    gradient: ArrayLike = ((0.0,) * 3,) * 3
    name: str | None = None

    def _check(self) -> None:
        if not isinstance(self.where, RodHandle):
            self.where = as_frame(self.where, "Magnet.where")
        self._check_name()
        self.moment = tuple(as_vector(self.moment, 3, "Magnet.moment").tolist())
        self.field = as_time_signal(self.field, "Magnet.field", "T")
        wanted = "a symmetric 3x3 matrix of trace zero [T/m], as Maxwell's equations ask"
        gradient = as_array(self.gradient, "Magnet.gradient", wanted)
        size = 1e-9 * max(1e-300, float(np.max(np.abs(gradient), initial=0.0)))
        if gradient.shape != (3, 3) or np.max(np.abs(gradient - gradient.T)) > size or abs(np.trace(gradient)) > size:
            raise refuse("Magnet.gradient", wanted, self.gradient)
        self.gradient = tuple(tuple(row) for row in gradient.tolist())

    @property
    def is_constant(self) -> bool:
        """Whether the field does not depend on time."""
        return not callable(self.field)

    def values(self, times: ArrayLike) -> Array:
        """B0 (nt, 3) [T]."""
        return sample(self.field, times, f"The field of {self.label}")

    def enter(self, book: Book) -> Seat:
        """A frame load on every node; the field stands in the row."""
        seat = book.seat(self.where)
        moments = seat.weights[:, None] * np.asarray(self.moment)
        constants = np.hstack([moments, np.tile(np.ravel(self.gradient), (len(moments), 1))])
        book.on_frames(
            "magnet", seat.nodes, constants, values=self.values, numbers=3, constant=self.is_constant, force=True
        )
        return seat

    def wrench_density(self, X: Array, times: Array, motion: FrameMotion, gravity: Array) -> Array:
        """Wrench per length (nt, m, 6), world axes."""
        moment, gradient = motion.turned(np.asarray(self.moment)), np.asarray(self.gradient)  # G is symmetric
        field = self.values(times)[:, None] + motion.position @ gradient
        return np.concatenate([np.cross(moment, field), moment @ gradient], axis=-1)
