"""Actuators inside rods: tendons and pressure chambers along a routing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import Description, as_points
from anguilla.describe.frames import Frame, RodHandle
from anguilla.errors import DescriptionError, as_array, as_number, as_positive, as_vector, refuse

__all__ = ["Actuator", "Chamber", "FunctionRouting", "Routing", "Tendon", "convergent", "helical", "parallel"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Routing:
    """Where a tendon crosses the sections: D(X) = (0, y, z) in section axes, polynomial in X plus a helix.

    Attributes:
        y, z: coefficients of 1, X, X^2, ... [m, -, 1/m, ...].
        radius: radius of the helix [m].
        rate: angle of the helix per length [rad/m].
        phase: angle of the helix at X = 0, from y towards z [rad].

    """

    y: tuple[float, ...] = (0.0,)
    z: tuple[float, ...] = (0.0,)
    radius: float = 0.0
    rate: float = 0.0
    phase: float = 0.0

    breakpoints: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("y", "z"):
            as_array(getattr(self, name), f"Routing.{name}", "finite coefficients of 1, X, X^2, ...")
        for name in ("radius", "rate", "phase"):
            as_number(getattr(self, name), f"Routing.{name}")

    def offset(self, X: ArrayLike) -> Array:
        """Return D (m, 3) [m] at the arc lengths X (m,) [m]."""
        X = as_points(X)
        poly = np.polynomial.polynomial.polyval
        angle = self.rate * X + self.phase
        y = poly(X, self.y) + self.radius * np.cos(angle)
        return np.stack([np.zeros_like(X), y, poly(X, self.z) + self.radius * np.sin(angle)], axis=1)

    def slope(self, X: ArrayLike) -> Array:
        """Return dD/dX (m, 3) [-]."""
        X = as_points(X)
        poly, der = np.polynomial.polynomial.polyval, np.polynomial.polynomial.polyder
        angle, spin = self.rate * X + self.phase, self.radius * self.rate
        y = poly(X, der(self.y)) - spin * np.sin(angle)
        return np.stack([np.zeros_like(X), y, poly(X, der(self.z)) + spin * np.cos(angle)], axis=1)


@dataclass(frozen=True)
class FunctionRouting(Routing):
    """A routing given by a function X [m] -> (y, z) [m]; its slope is found by differences.

    Attributes:
        function: the routing.
        breakpoints: arc lengths [m] at which it jumps or kinks.

    """

    function: Callable[[float], ArrayLike] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise refuse("FunctionRouting.function", "a function of X [m] returning (y, z) [m]", self.function)

    def offset(self, X: ArrayLike) -> Array:
        """Return D (m, 3) [m] at the arc lengths X (m,) [m]."""
        rows = []
        for x in as_points(X).tolist():
            value = as_array(self.function(x), f"The routing at X = {x:g} m", "2 finite numbers: y and z [m]")
            if value.shape != (2,):
                raise refuse(f"The routing at X = {x:g} m", "2 finite numbers: y and z [m]", value)
            rows.append([0.0, *value])
        return np.array(rows).reshape(-1, 3)

    def slope(self, X: ArrayLike) -> Array:
        """Return dD/dX (m, 3) [-], by central differences of fourth order."""
        X = as_points(X)
        h = 1e-4 * max(float(np.max(np.abs(X), initial=0.0)), 1e-3)
        near, far = self.offset(X + h) - self.offset(X - h), self.offset(X + 2 * h) - self.offset(X - 2 * h)
        return (8.0 * near - far) / (12.0 * h)


def parallel(y: float = 0.0, z: float = 0.0) -> Routing:
    """A tendon at a constant place (y, z) [m] of the sections."""
    return Routing((as_number(y, "parallel.y", "m"),), (as_number(z, "parallel.z", "m"),))


def convergent(root: ArrayLike, tip: ArrayLike, length: float) -> Routing:
    """A tendon that goes straight from (y, z) = root [m] at X = 0 to tip [m] at X = length [m]."""
    a, b = (as_array(v, f"convergent.{n}", "2 finite numbers: y and z [m]") for v, n in ((root, "root"), (tip, "tip")))
    if a.shape != (2,) or b.shape != (2,):
        raise refuse("convergent", "two points (y, z) [m]", (root, tip))
    slope = (b - a) / as_positive(length, "convergent.length", "m")
    return Routing((float(a[0]), float(slope[0])), (float(a[1]), float(slope[1])))


def helical(radius: float, pitch: float, phase: float = 0.0) -> Routing:
    """A tendon on a helix of a radius [m], with a pitch [m] per turn (negative for left-handed), starting at phase [rad]."""
    pitch = as_number(pitch, "helical.pitch", "m")
    if pitch == 0.0:
        raise DescriptionError("helical.pitch must not be zero.")
    rate = 2.0 * np.pi / pitch
    return Routing(
        radius=as_positive(radius, "helical.radius", "m"), rate=rate, phase=as_number(phase, "helical.phase")
    )


@dataclass
class Actuator(Description):
    """Base class of actuators that run through rods.

    Attributes:
        part: the rod, or the rods in series, it runs through.
        routing: one routing for all of them (with X measured along each), or one for each.
        span: arc lengths (from, to) [m] it covers on the last rod; the whole rod if not given. On the rods before, all.

    """

    part: RodHandle | Sequence[RodHandle]
    routing: Routing | Sequence[Routing]
    span: tuple[float, float] | None = None

    def _check(self) -> None:
        kind = type(self).__name__
        parts: list[Any] = list(self.part) if isinstance(self.part, (list, tuple)) else [self.part]
        if not parts or not all(isinstance(part, RodHandle) for part in parts):
            raise refuse(f"{kind}.part", "a rod of the robot as returned by robot.add, or several in series", self.part)
        routings = list(self.routing) if isinstance(self.routing, (list, tuple)) else [self.routing] * len(parts)
        if len(routings) != len(parts) or not all(isinstance(r, Routing) for r in routings):
            raise refuse(f"{kind}.routing", "a Routing such as parallel(y=0.01), or one for each rod", self.routing)
        for before, after in pairwise(parts):
            straight = after.parent == before.tip and after.joint.size == 0 and np.allclose(after.pose, np.eye(4))
            if not straight:
                raise DescriptionError(
                    f"{kind}.part must be rods in series, each fixed to the tip of the one before without an offset; "
                    f"{after.name} is not so on {before.name}."
                )
        if self.span is not None:
            low, high = as_vector(self.span, 2, f"{kind}.span", "m")
            if not 0.0 <= low < high <= parts[-1].length * (1 + 1e-12):
                raise refuse(f"{kind}.span", f"two increasing arc lengths within {parts[-1].length:g} m", self.span)

    @property
    def stretches(self) -> list[tuple[RodHandle, Routing, float, float]]:
        """(rod, routing, from, to): the stretches it runs along [m]."""
        parts = list(self.part) if isinstance(self.part, (list, tuple)) else [cast(RodHandle, self.part)]
        routings = [self.routing] * len(parts) if isinstance(self.routing, Routing) else list(self.routing)
        spans = [(0.0, part.length) for part in parts]
        if self.span is not None:
            spans[-1] = (float(self.span[0]), min(float(self.span[1]), parts[-1].length))
        return [(part, routing, *span) for part, routing, span in zip(parts, routings, spans, strict=True)]

    @property
    def _frames(self) -> tuple[Frame, ...]:
        return tuple(part.root for part, *_ in self.stretches)

    @property
    def tension_per_input(self) -> float:
        """Tension [N] along the routing per unit of the input."""
        return 1.0


@dataclass
class Tendon(Actuator):
    """A frictionless tendon (000 (13)-(16)); its input is the tension [N], positive when it pulls."""


@dataclass
class Chamber(Actuator):
    """A pressure chamber of constant cross-section along a routing; its input is the pressure [Pa], positive inflates.

    The pressure pushes the end caps apart: a tension of -pressure x area along the line of centroids.

    Attributes:
        area: cross-section of the chamber [m^2].

    """

    area: float = field(default=1e-4, kw_only=True)

    def _check(self) -> None:
        super()._check()
        self.area = as_positive(self.area, "Chamber.area", "m^2")

    @property
    def tension_per_input(self) -> float:
        """Minus the area."""
        return -self.area
