"""Muscles: an active stress along a rod."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.description import as_points
from anguilla.describe.frames import RodHandle
from anguilla.describe.gaits import Gait
from anguilla.describe.load import ZERO, Array, Book, RodLoad, Seat, as_rod
from anguilla.describe.signals import Signal, as_field_signal, depends_on_time, sample_along
from anguilla.errors import as_vector

__all__ = ["Muscle"]


@dataclass(eq=False)
class Muscle(RodLoad):
    """An active stress along a rod, with an optional proportional law on its strains (003 (92)).

    Lambda_active(X, t) = (moment, force) + gain (xi - goal). It adds to the elastic stress: a constant active moment M bends
    a free rod to the curvature -M / EI. The law of 003 (92) is a gain H_r with a goal K_d(X, t).

    Attributes:
        part: the rod.
        moment: active moment [N m], section axes: a 3-vector, or a function of X [m] or of (X, t [s]).
        force: active force [N], likewise.
        gain: (6,) stiffness of the law on (K, Gamma) [N m^2, N], or a function of X returning it.
        curvature: goal of K [1/m], a 3-vector, a function of X or (X, t), or a gait.
        stretch: goal of Gamma [-], likewise; (1, 0, 0) is an unstretched rod.
        name: name of the load.

    """

    part: RodHandle
    moment: Signal = ZERO
    force: Signal = ZERO
    gain: ArrayLike | Callable[[float], ArrayLike] = (0.0,) * 6
    curvature: Signal | Gait = ZERO
    stretch: Signal = (1.0, 0.0, 0.0)
    name: str | None = None

    account: ClassVar[str] = "motors"
    variables: ClassVar[dict[str, tuple[str, ...]]] = {"": ("X", "t"), "gain": ("X",)}

    def _check(self) -> None:
        self.part = as_rod(self.part, "Muscle.part")
        self._check_name()
        for name, unit in (("moment", "N m"), ("force", "N"), ("curvature", "1/m"), ("stretch", "-")):
            if name == "curvature" and isinstance(self.curvature, Gait):
                continue
            setattr(self, name, as_field_signal(getattr(self, name), f"Muscle.{name}", unit))
        if not callable(self.gain):
            self.gain = tuple(as_vector(self.gain, 6, "Muscle.gain", "N m^2, N").tolist())

    @property
    def is_constant(self) -> bool:
        """Whether nothing depends on time."""
        if isinstance(self.curvature, Gait):
            return False
        return not any(depends_on_time(s) for s in (self.moment, self.force, self.curvature, self.stretch))

    def gains(self, X: ArrayLike) -> Array:
        """Gains (m, 6) at the arc lengths X (m,) [m]."""
        points = as_points(X)
        if not callable(self.gain):
            return np.tile(np.asarray(self.gain), (points.size, 1))
        return np.array([as_vector(self.gain(x), 6, f"Muscle.gain at X = {x:g} m") for x in points.tolist()])

    def values(self, X: ArrayLike, times: ArrayLike) -> Array:
        """Stress at zero strain (nt, m, 6): (moment, force) - gain goal."""
        along = lambda name: sample_along(getattr(self, name), X, times, f"The {name} of {self.label}")
        stress = np.concatenate([along("moment"), along("force")], axis=2)
        bent = self.curvature.jets(X, times)[:, :, :3, 0] if isinstance(self.curvature, Gait) else along("curvature")
        return stress - self.gains(X) * np.concatenate([bent, along("stretch")], axis=2)

    def enter(self, book: Book) -> Seat:
        """A strain load on every interval of the rod."""
        seat = book.gauss(self.part)
        gains = (seat.weights[:, None] * self.gains(seat.X)).reshape(-1, 12)
        book.stresses(seat.nodes, gains, self.is_constant, partial(self._weighted, seat))
        return seat

    def _weighted(self, seat: Seat, times: Array) -> Array:
        return seat.weights[:, None] * self.values(seat.X, times)

    @property
    def stress_on(self) -> RodHandle | None:
        """The rod."""
        return self.part

    def stress(self, X: Array, times: Array, strain: Array) -> Array:
        """Active stress (nt, m, 6) at X (m,) [m] and strains (nt, m, 6), section axes."""
        return self.values(X, times) + self.gains(X) * strain
