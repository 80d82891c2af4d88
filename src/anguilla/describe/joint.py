"""Joints between a part and the frame it is attached to.

A joint is a chain of axes, one per coordinate, from the parent to the child. The first axis is given in the frame of the
joint on the parent side; each further one in the frame which the axes before it have moved. At zero coordinates all
those frames coincide, and with them the frame of the child.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import Description, as_points
from anguilla.describe.differences import jets
from anguilla.describe.plausible import check_angle
from anguilla.describe.ports import Port
from anguilla.describe.signals import Signal, arguments_of
from anguilla.errors import DescriptionError, all_finite, as_array, as_number, as_vector, refuse

Array = NDArray[np.float64]
Triple = tuple[float, float, float]
Effort = Signal | Sequence[float | Callable[..., ArrayLike]]

OneMotion = None | float | Callable[[float], float] | tuple[Callable[[float], float], ...]
Motion = Any  # OneMotion, or a tuple of them

# Two axes whose angle has a smaller sine than this are parallel.
PARALLEL = 1e-6


@dataclass(frozen=True, slots=True)
class Axis:
    """One degree of freedom: for the coordinate u, a rotation about a line and a translation along it.

    Attributes:
        direction: unit vector of the line, which passes through the origin of the joint.
        turn: angle per unit of the coordinate: 1 if u is an angle [rad], 0 if the axis only slides.
        slide: translation along ``direction`` per unit of the coordinate: 1 if u is a length [m], the advance [m/rad]
            of a screw, 0 if the axis only turns.

    """

    direction: Triple
    turn: float = 0.0
    slide: float = 0.0

    size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", as_direction(self.direction, "Axis.direction"))
        object.__setattr__(self, "turn", as_number(self.turn, "Axis.turn"))
        object.__setattr__(self, "slide", as_number(self.slide, "Axis.slide"))
        if self.turn == 0.0 and self.slide == 0.0:
            raise DescriptionError("Axis must turn or slide; got turn = 0 and slide = 0.")


@lru_cache(maxsize=1024)
def axis(direction: Triple, turn: float = 0.0, slide: float = 0.0) -> Axis:
    """Return the axis, kept: a joint is asked for its axes many times."""
    return Axis(direction, turn, slide)


@dataclass(frozen=True, slots=True)
class Ball:
    """Three degrees of freedom: a free rotation, as a block of SO(3).

    Its coordinates are a rotation vector [rad]; its rates are the angular velocity in the axes of the child [rad/s].
    """

    size: ClassVar[int] = 3
    turn: ClassVar[float] = 1.0


class JointHold(NamedTuple):
    """What a joint holds when it closes a loop, in frames whose x is its axis.

    Attributes:
        along: directions of the first frame in which it lets nothing move.
        angles: pairs of axes, of the first frame and of the second, that it keeps at a fixed angle.
        axes: its axis on either side, in the frame of the joint; None if the frames themselves serve.
        cosine: of the angle between these pairs.

    """

    along: tuple[int, ...]
    angles: tuple[tuple[int, int], ...]
    axes: tuple[Triple, Triple] | None = None
    cosine: float = 0.0


ALL, ACROSS = (0, 1, 2), (1, 2)  # of JointHold.along
LOCKED, ALIGNED = ((0, 1), (1, 2), (2, 0)), ((0, 1), (0, 2))  # of JointHold.angles


@dataclass
class Joint(Description):
    """Base class of joints.

    The keywords below are shared by all joints. Each is one number for a joint of one coordinate, and one number per
    coordinate for a joint of several; the units are those of a coordinate which is an angle [rad] or a length [m].

    Attributes:
        stiffness: spring between parent and child [N m/rad] or [N/m]; none by default.
        rest: coordinate at which the spring is free [rad] or [m].
        damping: viscous resistance [N m s/rad] or [N s/m].
        effort: torque [N m] or force [N] of the joint on the child, positive along the coordinate: constant, or a
            function of the time t [s] returning it; a joint of several coordinates also takes a constant or a function
            for each.
        motion: the coordinate itself [rad] or [m], when it is prescribed: a constant, a function of the time t [s], or a
            triple of functions (coordinate, rate, acceleration), else found by differences; a joint of several coordinates
            takes a tuple with one of these, or None, for each. The effort it takes is a result.

    """

    stiffness: ArrayLike = field(default=0.0, kw_only=True)
    rest: ArrayLike = field(default=0.0, kw_only=True)
    damping: ArrayLike = field(default=0.0, kw_only=True)
    effort: Effort = field(default=0.0, kw_only=True)
    motion: Motion = field(default=None, kw_only=True)

    names: ClassVar[tuple[str, ...]] = ()
    """Labels of the coordinates."""

    def _check(self) -> None:
        self.stiffness = self._clean(self.stiffness, "stiffness", "N m/rad", "N/m", signed=False)
        self.rest = self._clean(self.rest, "rest", "rad", "m")
        self.damping = self._clean(self.damping, "damping", "N m s/rad", "N s/m", signed=False)
        self.effort = self._clean_effort()
        self.motion = self._clean_motion()
        for turns, rest in zip(self.turns, np.atleast_1d(np.asarray(self.rest)), strict=False):
            if turns:
                check_angle(f"{type(self).__name__}.rest", float(rest))
        for turns, motion in zip(self.turns, self.motions, strict=True):
            if turns and isinstance(motion, float):
                check_angle(f"{type(self).__name__}.motion", motion)

    @property
    def axes(self) -> tuple[Axis | Ball, ...]:
        """The axes, from the parent to the child: one per coordinate, or a ball for three."""
        raise NotImplementedError

    @property
    def closing(self) -> JointHold | None:
        """What it holds when it closes a loop; None if it needs coordinates there too."""
        return None

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return sum([axis.size for axis in self.axes])

    @property
    def turns(self) -> list[bool]:
        """Whether each coordinate is an angle."""
        return [bool(axis.turn) for axis in self.axes for _ in range(axis.size)]

    @property
    def stiffness_values(self) -> Array:
        """Stiffness of each coordinate (size,) [N m/rad or N/m]."""
        return np.array(self.stiffness, dtype=np.float64).reshape(self.size)

    @property
    def rest_values(self) -> Array:
        """Value of each coordinate at which its spring is free (size,) [rad or m]."""
        return np.array(self.rest, dtype=np.float64).reshape(self.size)

    @property
    def damping_values(self) -> Array:
        """Damping of each coordinate (size,) [N m s/rad or N s/m]."""
        return np.array(self.damping, dtype=np.float64).reshape(self.size)

    @property
    def motions(self) -> tuple[OneMotion, ...]:
        """The prescribed motion of each coordinate, or None."""
        if self.motion is None:
            return (None,) * self.size
        return (self.motion,) if self.size == 1 else self.motion

    def motion_values(self, k: int, times: ArrayLike) -> Array:
        """Prescribed coordinate k with its rate and acceleration (nt, 3) at the times (nt,) [s]."""
        motion, moments = self.motions[k], as_points(times)
        name = f"The motion of {type(self).__name__}, {self.names[k]},"
        if isinstance(motion, Port):
            return motion.jets(moments)
        if isinstance(motion, tuple):
            rows = [[f(t) for f in motion] for t in moments.tolist()]
            found = all_finite(rows, (moments.size, 3))
            if found is None:
                pairs = zip(rows, moments.tolist(), strict=True)
                found = np.array([[as_number(value, f"{name} at t = {t:g} s") for value in row] for row, t in pairs])
            return found.reshape(-1, 3)
        if not callable(motion):
            return np.tile([float(motion or 0.0), 0.0, 0.0], (moments.size, 1))

        def sample(moments: Array) -> Array:
            given = [motion(t) for t in moments.tolist()]
            found = all_finite(given, moments.shape)
            if found is None:
                pairs = zip(given, moments.tolist(), strict=True)
                found = np.array([as_number(value, f"{name} at t = {t:g} s") for value, t in pairs])
            return found

        return jets(sample, moments)

    @property
    def effort_is_constant(self) -> bool:
        """Whether no effort is a function of time."""
        return not any(callable(effort) for effort in self._efforts)

    def effort_values(self, times: ArrayLike) -> Array:
        """Return the effort (nt, size) [N m or N] at the times (nt,) [s]; errors give the time."""
        moments, what = as_points(times), f"The effort of {type(self).__name__}"
        if callable(self.effort):
            given, size = [self.effort(t) for t in moments.tolist()], self.size
            found = all_finite(given, (moments.size,)) if size == 1 else all_finite(given, (moments.size, size))
            if found is not None:
                return found.reshape(moments.size, size)
            wanted, pairs = self._wanted("N m", "N"), zip(given, moments.tolist(), strict=True)
            rows = [self._as_values(value, f"{what} at t = {t:g} s", wanted) for value, t in pairs]
            return np.array(rows).reshape(moments.size, size)
        values = np.zeros((moments.size, self.size))
        for k, effort in enumerate(self._efforts):
            if callable(effort):
                name, unit = f"{what}, {self.names[k]},", "N m" if self.turns[k] else "N"
                values[:, k] = [as_number(effort(t), f"{name} at t = {t:g} s", unit) for t in moments.tolist()]
            else:
                values[:, k] = effort
        return values

    @property
    def _efforts(self) -> tuple[float | Callable[..., ArrayLike], ...]:
        """The effort of each coordinate; one function may stand for all."""
        each = self.effort if isinstance(self.effort, tuple) else (self.effort,)
        return cast(tuple[float | Callable[..., ArrayLike], ...], each)

    def _wanted(self, turn_unit: str, slide_unit: str, *, signed: bool = True) -> str:
        """Return what a field must be: "a finite number [N]", or "2 finite numbers: slide [N], turn [N m]"."""
        units = [turn_unit if turns else slide_unit for turns in self.turns]
        if not units:
            return "left out, as the joint has no coordinates"
        if len(units) == 1:
            return f"a finite number [{units[0]}]" if signed else f"a number, zero or positive, [{units[0]}]"
        kind = "finite numbers" if signed else "numbers, zero or positive"
        each = ", ".join(f"{name} [{unit}]" for name, unit in zip(self.names, units, strict=True))
        return f"{len(units)} {kind}: {each}"

    def _as_values(self, value: object, name: str, wanted: str) -> Array:
        """Return one number per coordinate (size,); a single number serves one coordinate."""
        values = as_array(value, name, wanted)
        if values.ndim == 0 and self.size == 1:
            values = values.reshape(1)
        if values.shape != (self.size,):
            raise refuse(name, wanted, value)
        return values

    def _clean(
        self, value: object, name: str, turn_unit: str, slide_unit: str, *, signed: bool = True
    ) -> float | tuple[float, ...]:
        """Return a number for one coordinate, a tuple for several; zero, the default, stands for as many zeros."""
        wanted = self._wanted(turn_unit, slide_unit, signed=signed)
        name = f"{type(self).__name__}.{name}"
        if type(value) in (int, float) and value == 0:
            value = (0.0,) * self.size
        values = self._as_values(value, name, wanted)
        if not signed and np.any(values < 0.0):
            raise refuse(name, wanted, value)
        return float(values[0]) if self.size == 1 else tuple(values.tolist())

    def _clean_motion(self) -> Motion:
        """Return the motion with its functions checked."""
        name = f"{type(self).__name__}.motion"
        if self.motion is None:
            return None
        if any(isinstance(axis, Ball) for axis in self.axes):
            raise DescriptionError(
                f"{name}: the motion of a ball is prescribed by robot.close(a, b, pose=function of t), not by the joint."
            )
        wanted = "a number, a function of the time t, or three functions (coordinate, rate, acceleration)"
        if self.size == 1:
            return _as_motion(self.motion, name, wanted)
        if self.size == 0 or not isinstance(self.motion, (list, tuple)) or len(self.motion) != self.size:
            raise refuse(name, f"{self.size} items, each None, {wanted}", self.motion)
        return tuple(None if m is None else _as_motion(m, name, wanted) for m in self.motion)

    def _clean_effort(self) -> Effort:
        """Return a constant as ``_clean`` does, a function unchanged, or a tuple of constants and functions."""
        name, wanted = f"{type(self).__name__}.effort", self._wanted("N m", "N")
        if callable(self.effort):
            if not self.axes:
                raise refuse(name, wanted, self.effort)
            return _as_function(self.effort, name, f"{wanted}, or a function of the time t returning as many")
        if not (isinstance(self.effort, (list, tuple)) and any(callable(e) for e in self.effort)):
            return self._clean(self.effort, "effort", "N m", "N")
        if len(self.effort) != self.size:
            raise refuse(name, wanted, self.effort)
        each = f"{wanted}, or a function of the time t for each"
        efforts = tuple(_as_function(e, name, each) if callable(e) else as_number(e, name) for e in self.effort)
        return efforts[0] if self.size == 1 else efforts


Direction = ArrayLike | Literal["x", "y", "z", "-x", "-y", "-z"]
NAMED_AXES: dict[str, Triple] = {
    "x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0), "-y": (0.0, -1.0, 0.0), "-z": (0.0, 0.0, -1.0),
}  # fmt: skip


def as_direction(value: object, name: str) -> Triple:
    """Return a vector of any length but zero as a unit vector; one of unit length is kept to the last digit.

    The axes go by their names too: "x", "y", "z", and "-x", "-y", "-z".
    """
    if isinstance(value, str):
        if value not in NAMED_AXES:
            raise refuse(name, f"a vector of 3 numbers, or one of {', '.join(NAMED_AXES)}", value)
        return NAMED_AXES[value]
    vector = as_vector(value, 3, name)
    largest = float(np.max(np.abs(vector)))
    if largest == 0.0:
        raise refuse(name, "a direction, a vector of 3 numbers that are not all zero", value)
    scaled = vector / largest
    norm = float(np.linalg.norm(scaled))
    x, y, z = (vector if abs(largest * norm - 1.0) < 1e-15 else scaled / norm).tolist()
    return x, y, z


def _as_motion(value: Any, name: str, wanted: str) -> OneMotion:
    if isinstance(value, (list, tuple)):
        if len(value) != 3 or not all(callable(f) for f in value):
            raise refuse(name, wanted, value)
        return tuple(_as_function(f, name, wanted) for f in value)  # type: ignore[misc]
    if callable(value):
        return _as_function(value, name, wanted)  # type: ignore[return-value]
    if isinstance(value, str):
        raise refuse(name, f"{wanted}; a text becomes a function by ag.Expression({value!r})", value)
    return as_number(value, name)


def _as_function(value: Callable[..., ArrayLike], name: str, wanted: str) -> Callable[..., ArrayLike]:
    names = arguments_of(value, name, wanted)
    if len(names) != 1:
        raise DescriptionError(f"{name} must be {wanted}; got a function of ({', '.join(names)}).")
    return value
