"""What actuators along rods share: where they run, and what they answer. Tendons and chambers are in `interact`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla.describe.description import Description, as_points, copied
from anguilla.describe.frames import Frame, RodHandle
from anguilla.describe.plausible import check_angle, check_offset
from anguilla.errors import (
    DescriptionError,
    as_array,
    as_number,
    as_positive,
    as_vector,
    refuse,
    warn,
)

__all__ = ["Actuator", "FunctionRouting", "Routing", "convergent", "helical", "parallel"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
HERE = np.eye(4)
CLOSE, THERE = 1e-8 + 1e-5 * HERE, HERE.tobytes()  # of a pose to none; that as it mostly is


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
            given = as_array(getattr(self, name), f"Routing.{name}", "finite coefficients of 1, X, X^2, ...")
            object.__setattr__(self, name, tuple(np.atleast_1d(given).tolist()))
        for name in ("radius", "rate", "phase"):
            as_number(getattr(self, name), f"Routing.{name}")
        check_angle("Routing.phase", self.phase)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self if type(self) is Routing else copied(self, memo)

    @property
    def is_parallel(self) -> bool:
        """Whether it is known to cross all sections at the same place."""
        return type(self) is Routing and not (any(self.y[1:]) or any(self.z[1:]) or self.radius * self.rate)

    def offset(self, X: ArrayLike) -> Array:
        """Return D (m, 3) [m] at the arc lengths X (m,) [m]."""
        X = as_points(X)
        out = np.zeros((len(X), 3))
        out[:, 1], out[:, 2] = _polynomial(self.y, X), _polynomial(self.z, X)
        if self.radius:
            angle = self.rate * X + self.phase
            out[:, 1] += self.radius * np.cos(angle)
            out[:, 2] += self.radius * np.sin(angle)
        return out

    def slope(self, X: ArrayLike) -> Array:
        """Return dD/dX (m, 3) [-]."""
        X = as_points(X)
        out = np.zeros((len(X), 3))
        out[:, 1], out[:, 2] = (_polynomial([k * c for k, c in enumerate(p)][1:], X) for p in (self.y, self.z))
        if self.radius:
            angle, spin = self.rate * X + self.phase, self.radius * self.rate
            out[:, 1] -= spin * np.sin(angle)
            out[:, 2] += spin * np.cos(angle)
        return out


def _polynomial(coefficients: Sequence[float], X: Array) -> Array | float:
    """Value (m,) of a polynomial, given by its coefficients of 1, X, X^2, ..., by Horner's rule; a number if constant."""
    value: Array | float = 0.0
    for c in reversed(coefficients):
        value = c + value * X if isinstance(value, np.ndarray) or value else c
    return value


@dataclass(frozen=True)
class FunctionRouting(Routing):
    """A routing given by a function X [m] -> (y, z) [m]; its slope is found by differences.

    Attributes:
        function: the routing.
        breakpoints: arc lengths [m] at which it jumps or kinks.

    """

    y: tuple[float, ...] = field(default=(0.0,), init=False, repr=False)  # a function needs no polynomials and no helix
    z: tuple[float, ...] = field(default=(0.0,), init=False, repr=False)
    radius: float = field(default=0.0, init=False, repr=False)
    rate: float = field(default=0.0, init=False, repr=False)
    phase: float = field(default=0.0, init=False, repr=False)
    breakpoints: tuple[float, ...] = field(default=(), kw_only=True)
    function: Callable[[float], ArrayLike]

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
        h = 1e-4 * np.maximum(np.abs(X), 1e-3)
        near, far = self.offset(X + h) - self.offset(X - h), self.offset(X + 2 * h) - self.offset(X - 2 * h)
        return (8.0 * near - far) / (12.0 * h[:, None])


@public
def parallel(y: float = 0.0, z: float = 0.0) -> Routing:
    """A tendon at a constant place (y, z) [m] of the sections."""
    return Routing((as_number(y, "parallel.y", "m"),), (as_number(z, "parallel.z", "m"),))


@public
def convergent(root: ArrayLike, tip: ArrayLike, length: float) -> Routing:
    """A tendon that goes straight from (y, z) = root [m] at X = 0 to tip [m] at X = length [m]."""
    a, b = (as_array(v, f"convergent.{n}", "2 finite numbers: y and z [m]") for v, n in ((root, "root"), (tip, "tip")))
    if a.shape != (2,) or b.shape != (2,):
        raise refuse("convergent", "two points (y, z) [m]", (root, tip))
    slope = (b - a) / as_positive(length, "convergent.length", "m")
    return Routing((float(a[0]), float(slope[0])), (float(a[1]), float(slope[1])))


@public
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
        part: the rod it runs through, or several in order; a tendon may also pass points of bodies (frames). Between rods
            that are not fixed to each other tip to root, and to and from frames, it runs straight through the air.
        routing: one routing for all rods (with X measured along each), or one for each.
        span: arc lengths (from, to) [m] it covers on the last rod; the whole rod if not given. On the rods before, all.

    """

    part: RodHandle | Sequence[RodHandle | Frame]
    routing: Routing | Sequence[Routing]
    span: tuple[float, float] | None = None

    def _check(self) -> None:
        kind = type(self).__name__
        path: list[Any] = self._path
        parts = [part for part in path if isinstance(part, RodHandle)]
        if not path or not all(isinstance(part, (RodHandle, Frame)) for part in path) or not self._goes(path):
            raise refuse(f"{kind}.part", f"{self._wanted}, as returned by robot.add", self.part)
        routings = list(self.routing) if isinstance(self.routing, (list, tuple)) else [self.routing] * len(parts)
        if len(routings) != len(parts) or not all(isinstance(r, Routing) for r in routings):
            raise refuse(f"{kind}.routing", "a Routing such as parallel(y=0.01), or one for each rod", self.routing)
        if self.span is not None:
            if not parts:
                raise DescriptionError(f"{kind}.span is a stretch of a rod, but the path has no rod.")
            low, high = as_vector(self.span, 2, f"{kind}.span", "m")
            if not 0.0 <= low < high <= parts[-1].length * (1 + 1e-12):
                raise refuse(f"{kind}.span", f"two increasing arc lengths within {parts[-1].length:g} m", self.span)
        for rod, routing, low, high in self.stretches:
            ends = np.array([low, high])
            half = float(rod.rod.section.thickness(ends).max()) / 2.0
            check_offset(f"{kind}.routing", routing.offset(ends), half, rod.length)

    @property
    def stretches(self) -> list[tuple[RodHandle, Routing, float, float]]:
        """(rod, routing, from, to): the stretches it runs along [m]."""
        parts = [part for part in self._path if isinstance(part, RodHandle)]
        routings = [self.routing] * len(parts) if isinstance(self.routing, Routing) else self.routing
        found = [(part, routing, 0.0, part.length) for part, routing in zip(parts, routings, strict=True)]
        if self.span is not None:
            low, high = self.span
            found[-1] = *found[-1][:2], float(low), min(float(high), parts[-1].length)
        return found

    @property
    def spans(self) -> list[tuple[Frame, Frame]]:
        """(from, to): frames between which the line runs straight through the air."""
        path = self._path
        free = [not _continues(a, b) for a, b in pairwise(path)]
        if not any(free):
            return []
        along = iter(self.stretches)
        stretches = [next(along) if isinstance(part, RodHandle) else None for part in path]

        def end(k: int, last: bool) -> Frame:
            """Where the line enters element k of the path, or leaves it."""
            stretch = stretches[k]
            if stretch is None:
                return path[k]
            rod, routing, low, high = stretch
            X = high if last else low
            return rod.section(X).offset_by(routing.offset([X])[0])

        return [(end(k, True), end(k + 1, False)) for k, through_air in enumerate(free) if through_air]

    def in_order(self, along: list[Any], through: list[Any]) -> list[Any]:
        """Something of each stretch and something of each span, as lists, in the order in which the line passes them."""
        stretches, spans = iter(along), iter(through)
        found = [next(stretches)] if isinstance(self._path[0], RodHandle) else []
        for a, b in pairwise(self._path):
            found += [] if _continues(a, b) else [[next(spans)]]
            found += [next(stretches)] if isinstance(b, RodHandle) else []
        return found

    @property
    def _path(self) -> list[Any]:
        return list(self.part) if isinstance(self.part, (list, tuple)) else [self.part]

    _wanted: ClassVar[str] = "a rod of the robot or several in series"

    def _goes(self, path: list[Any]) -> bool:
        """Whether the path makes sense: here, rods fixed to each other tip to root."""
        rods = all(isinstance(part, RodHandle) for part in path)
        return rods and all(_continues(a, b) for a, b in pairwise(path))

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Frames it refers to; they must belong to the robot it is put on."""
        return tuple(part.root if isinstance(part, RodHandle) else part for part in self._path)

    colour: ClassVar[tuple[float, float, float]] = (0.10, 0.11, 0.14)  # of its line in pictures

    @property
    def unit(self) -> str:
        """Unit of the input."""
        return "N"

    @property
    def tension_per_input(self) -> float:
        """Tension [N] along the routing per unit of the input."""
        return 1.0

    @property
    def rubbing(self) -> float:
        """Coulomb coefficient between the line and its guides."""
        return 0.0

    @property
    def slack(self) -> float | None:
        """Elongation per tension [m/N] of a line whose input is its length; None if the input gives the tension."""
        return None

    @property
    def thickness(self) -> float | None:
        """Of its line [m]; None for a line too thin to matter."""
        return None

    @property
    def lowest(self) -> float:
        """Smallest input it takes, in its unit."""
        return -np.inf

    @property
    def is_push_rod(self) -> bool:
        """Whether it pushes as well as it pulls."""
        return False

    def pushing(self, inputs: Array) -> Indices:
        """Where inputs (nt,) would make a line push that only pulls; nowhere, for other actuators."""
        return np.zeros(0, dtype=np.intp)

    def refuse_pushing(self, name: str, inputs: Array, times: Array) -> None:
        """Raise an error if a line that only pulls is made to push by inputs (nt or 1,) at the times (nt,) [s]."""
        below = self.pushing(inputs)
        if len(below):
            raise DescriptionError(
                f"inputs: the tendon {name!r} is given the tension {inputs[below[0]]:g} N at t = {times[below[0]]:g} s, "
                "and a tendon cannot push: give zero or more, such as max(0, ...), and a second tendon for the other side; "
                "a rod that does push is a Tendon(..., pushes=True)."
            )


def warn_slack(name: str, tension: float, when: str, *, rods: bool = True) -> None:
    """Tell that a tendon is slack because its input, a function or a command, is a negative tension [N]."""
    other = "; a rod that does push is a Tendon(..., pushes=True)." if rods else "."
    warn(
        f"The input of the tendon {name!r} is {tension:g} N {when}. A tendon cannot push: it is slack, with no tension, "
        f"while its input is negative. Write max(0, ...) if that is meant, or add a second tendon on the other side{other}"
    )


def _continues(a: Any, b: Any) -> bool:
    """Whether rod b is fixed to the tip of rod a without an offset."""
    if not (isinstance(a, RodHandle) and isinstance(b, RodHandle)) or b.joint.size:
        return False
    at = b.parent
    if at.part_index != a.index or at.place != "tip" or at.offset is not None or at.robot is not a.robot:
        return False
    return b.pose.tobytes() == THERE or bool((np.abs(b.pose - HERE) <= CLOSE).all())
