"""The kinds of joint: fixed, hinges, sliders, screws, chains of them, balls and the free joint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, cast

import numpy as np

from anguilla.describe.joint import (
    ACROSS,
    ALIGNED,
    ALL,
    LOCKED,
    PARALLEL,
    Axis,
    Ball,
    Direction,
    Joint,
    JointHold,
    Triple,
    as_direction,
    axis,
)
from anguilla.errors import DescriptionError, as_number

__all__ = [
    "Axis",
    "Ball",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]


@dataclass
class Fixed(Joint):
    """No relative motion."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """No axis."""
        return ()

    @property
    def closing(self) -> JointHold | None:
        """Everything."""
        return JointHold(ALL, LOCKED)


@dataclass
class Revolute(Joint):
    """A hinge: one rotation, "angle" [rad].

    Attributes:
        axis: direction of the axis of rotation in the frame of the joint; any length but zero, or a name such as "z".

    """

    axis: Direction

    names: ClassVar[tuple[str, ...]] = ("angle",)

    def _check(self) -> None:
        self.axis = as_direction(self.axis, "Revolute.axis")
        super()._check()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axis of rotation."""
        return (axis(cast(Triple, self.axis), turn=1.0),)

    @property
    def closing(self) -> JointHold | None:
        """All but the rotation."""
        return JointHold(ALL, ALIGNED, (cast(Triple, self.axis),) * 2)


@dataclass
class Prismatic(Joint):
    """A slider: one translation, "slide" [m].

    Attributes:
        axis: direction of the translation in the frame of the joint; any length but zero, or a name such as "z".

    """

    axis: Direction

    names: ClassVar[tuple[str, ...]] = ("slide",)

    def _check(self) -> None:
        self.axis = as_direction(self.axis, "Prismatic.axis")
        super()._check()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axis of translation."""
        return (axis(cast(Triple, self.axis), slide=1.0),)

    @property
    def closing(self) -> JointHold | None:
        """All but the translation."""
        return JointHold(ACROSS, LOCKED, (cast(Triple, self.axis),) * 2)


@dataclass
class Helical(Joint):
    """A screw: a rotation, "angle" [rad], which advances the child along its axis.

    Attributes:
        axis: direction of the axis of the screw in the frame of the joint; any length but zero, or a name such as "z".
        pitch: advance along the axis per turn [m]; negative for a left-handed screw.

    """

    axis: Direction
    pitch: float

    names: ClassVar[tuple[str, ...]] = ("angle",)

    def _check(self) -> None:
        self.axis = as_direction(self.axis, "Helical.axis")
        self.pitch = as_number(self.pitch, "Helical.pitch", "m")
        super()._check()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axis of the screw."""
        return (axis(cast(Triple, self.axis), turn=1.0, slide=self.pitch / (2.0 * np.pi)),)


@dataclass
class Cylindrical(Joint):
    """A shaft in a sleeve: a translation "slide" [m] along an axis and a rotation "turn" [rad] about it.

    Attributes:
        axis: direction of the axis in the frame of the joint; any length but zero, or a name such as "z".

    """

    axis: Direction

    names: ClassVar[tuple[str, ...]] = ("slide", "turn")

    def _check(self) -> None:
        self.axis = as_direction(self.axis, "Cylindrical.axis")
        super()._check()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The translation, then the rotation."""
        line = cast(Triple, self.axis)
        return axis(line, slide=1.0), axis(line, turn=1.0)

    @property
    def closing(self) -> JointHold | None:
        """All but the translation and the rotation."""
        return JointHold(ACROSS, ALIGNED, (cast(Triple, self.axis),) * 2)


@dataclass
class Universal(Joint):
    """A cardan joint: a rotation "angle_1" [rad] about an axis of the parent, then "angle_2" about one it carries.

    Attributes:
        first: direction of the first axis in the frame of the joint; any length but zero, or a name such as "z".
        second: direction of the second axis, in the same frame when both angles are zero; not parallel to ``first``.

    """

    first: Direction
    second: Direction

    names: ClassVar[tuple[str, ...]] = ("angle_1", "angle_2")

    def _check(self) -> None:
        self.first = as_direction(self.first, "Universal.first")
        self.second = as_direction(self.second, "Universal.second")
        _refuse_parallel(self.second, "Universal.second", self.first, "Universal.first")
        super()._check()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axis of the parent, then that of the child."""
        return axis(cast(Triple, self.first), turn=1.0), axis(cast(Triple, self.second), turn=1.0)

    @property
    def closing(self) -> JointHold | None:
        """All translations, and the angle between its axes."""
        axes = cast(Triple, self.first), cast(Triple, self.second)
        return JointHold(ALL, ((0, 0),), axes, float(np.dot(*axes)))


@dataclass
class Planar(Joint):
    """A plate on a table: translations "slide_1" and "slide_2" [m] in a plane, then a rotation "turn" [rad] in it.

    Attributes:
        normal: direction of the normal of the plane in the frame of the joint; any length but zero, or a name such as "z".
        along: direction of the first translation, projected on the plane; by default y, z or x for a normal closest to
            x, y or z. The second one is normal x first: a normal z has the translations x and y.

    """

    normal: Direction
    along: Direction | None = None

    names: ClassVar[tuple[str, ...]] = ("slide_1", "slide_2", "turn")

    def _check(self) -> None:
        self.normal = as_direction(self.normal, "Planar.normal")
        if self.along is not None:
            self.along = as_direction(self.along, "Planar.along")
            _refuse_parallel(self.along, "Planar.along", self.normal, "Planar.normal")
        super()._check()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The two translations, then the rotation."""
        return _plane(cast(Triple, self.normal), cast(Triple | None, self.along))

    @property
    def closing(self) -> JointHold | None:
        """The translation along the normal, and the plane."""
        return JointHold((0,), ALIGNED, (cast(Triple, self.normal),) * 2)


@lru_cache(maxsize=256)
def _plane(normal: Triple, along: Triple | None) -> tuple[Axis, ...]:
    n = np.array(normal, dtype=np.float64)
    first = np.roll(np.eye(3), -1, axis=0)[np.argmax(np.abs(n))] if along is None else np.array(along)
    first = first - (first @ n) * n
    first = first / np.linalg.norm(first)
    second = np.cross(n, first)
    x, y = (cast(Triple, tuple(way.tolist())) for way in (first, second))
    return Axis(x, slide=1.0), Axis(y, slide=1.0), Axis(normal, turn=1.0)


def _refuse_parallel(direction: Triple, name: str, other: Triple, other_name: str) -> None:
    if np.linalg.norm(np.cross(np.array(direction), np.array(other))) < PARALLEL:
        raise DescriptionError(f"{name} must not be parallel to {other_name}; got {direction!r} and {other!r}.")


@dataclass
class Spherical(Joint):
    """A ball joint: a free rotation, "turn_x", "turn_y", "turn_z" (a rotation vector [rad]).

    Its rates are the angular velocity in the child's axes [rad/s], its efforts torques about them [N m]. It has no spring.
    """

    names: ClassVar[tuple[str, ...]] = ("turn_x", "turn_y", "turn_z")

    def _check(self) -> None:
        super()._check()
        _refuse_spring(self)

    @property
    def axes(self) -> tuple[Axis | Ball, ...]:
        """The ball."""
        return (Ball(),)

    @property
    def closing(self) -> JointHold | None:
        """All translations."""
        return JointHold(ALL, ())


_FREE: tuple[Axis | Ball, ...] = (
    Axis((1.0, 0.0, 0.0), slide=1.0), Axis((0.0, 1.0, 0.0), slide=1.0), Axis((0.0, 0.0, 1.0), slide=1.0), Ball(),
)  # fmt: skip


@dataclass
class Free(Joint):
    """No constraint at all, for a floating base: "x", "y", "z" [m] along the parent's axes, then a ball.

    The rotation is as in `Spherical`. It has no spring.
    """

    names: ClassVar[tuple[str, ...]] = ("x", "y", "z", "turn_x", "turn_y", "turn_z")

    def _check(self) -> None:
        super()._check()
        _refuse_spring(self)

    @property
    def axes(self) -> tuple[Axis | Ball, ...]:
        """Three slides and a ball."""
        return _FREE


def _refuse_spring(joint: Joint) -> None:
    if np.any(joint.stiffness_values[-3:] != 0.0):
        kind = type(joint).__name__
        raise DescriptionError(
            f"{kind}.stiffness must be zero for its rotation: a ball has no spring; got {joint.stiffness}."
        )
