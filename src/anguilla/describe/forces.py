"""Loads that depend on the motion: muscles, thrusters, magnets, springs, and loads written by the user."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import as_points
from anguilla.describe.frames import Frame, Part, RodHandle
from anguilla.describe.gaits import Gait
from anguilla.describe.loads import ZERO, FrameLoad, Load
from anguilla.describe.signals import (
    Signal,
    as_field_signal,
    as_time_signal,
    depends_on_time,
    sample,
    sample_along,
)
from anguilla.errors import DescriptionError, as_array, as_nonnegative, as_number, as_vector, refuse

Array = NDArray[np.float64]

__all__ = ["FrameMotion", "Magnet", "Muscle", "Spring", "Thruster", "UserForce", "UserLoad"]


def _as_frame(value: object, name: str) -> Frame:
    if isinstance(value, Part) or not isinstance(value, Frame):
        raise refuse(name, "a frame such as arm.tip or body.frame", value)
    return value


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
class Muscle(Load):
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

    def _check(self) -> None:
        if not isinstance(self.part, RodHandle):
            raise refuse("Muscle.part", "a rod of the robot, as returned by robot.add(rod, ...)", self.part)
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

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        return self.name or f"Muscle on {self.part.name}"

    @property
    def _frames(self) -> tuple[Frame, ...]:
        return (self.part.root,)

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

    def _check(self) -> None:
        self.frame = _as_frame(self.frame, "Thruster.frame")
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


@dataclass(eq=False)
class Magnet(Load):
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
            self.where = _as_frame(self.where, "Magnet.where")
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

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        place = self.where.name if isinstance(self.where, RodHandle) else self.where.label
        return self.name or f"Magnet on {place}"

    @property
    def _frames(self) -> tuple[Frame, ...]:
        return (self.where.root,) if isinstance(self.where, RodHandle) else (self.where,)

    def values(self, times: ArrayLike) -> Array:
        """B0 (nt, 3) [T]."""
        return sample(self.field, times, f"The field of {self.label}")


@dataclass(eq=False)
class Spring(Load):
    """A spring with a damper between the origins of two frames.

    Attributes:
        a, b: the frames.
        stiffness: [N/m].
        rest: length at which it is free [m].
        damping: [N s/m].
        name: name of the load.

    """

    a: Frame
    b: Frame
    stiffness: float
    rest: float = 0.0
    damping: float = 0.0
    name: str | None = None

    def _check(self) -> None:
        self.a, self.b = _as_frame(self.a, "Spring.a"), _as_frame(self.b, "Spring.b")
        self._check_name()
        if self.a == self.b:
            raise DescriptionError(f"{self.label} joins a place to itself: it needs two frames.")
        self.stiffness = as_nonnegative(self.stiffness, "Spring.stiffness", "N/m")
        self.rest = as_nonnegative(self.rest, "Spring.rest", "m")
        self.damping = as_nonnegative(self.damping, "Spring.damping", "N s/m")

    @property
    def is_constant(self) -> bool:
        """A spring does not depend on time."""
        return True

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        return self.name or f"Spring between {self.a.label} and {self.b.label}"

    @property
    def _frames(self) -> tuple[Frame, ...]:
        return (self.a, self.b)


@dataclass(frozen=True, slots=True)
class FrameMotion:
    """Motion of a frame, world axes: what a user-written load may depend on.

    Attributes:
        rotation: (3, 3).
        position: (3,) [m].
        spin: (3,) angular velocity [rad/s].
        velocity: (3,) [m/s].
        spin_rate: (3,) angular acceleration [rad/s^2].
        acceleration: (3,) [m/s^2].

    """

    rotation: Array
    position: Array
    spin: Array
    velocity: Array
    spin_rate: Array
    acceleration: Array


@dataclass(eq=False)
class UserLoad(Load):
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

    def _check(self) -> None:
        if not isinstance(self.where, RodHandle):
            self.where = _as_frame(self.where, "UserLoad.where")
        self._check_name()
        if not callable(self.wrench):
            raise refuse("UserLoad.wrench", "a function of (motion, t) returning 6 numbers", self.wrench)
        if self.tangent is not None and not callable(self.tangent):
            raise refuse("UserLoad.tangent", "a function of (motion, t) returning a (6, 18) array", self.tangent)
        given = ("motion", "t", "X") if isinstance(self.where, RodHandle) else ("motion", "t")
        for name in ("wrench", "tangent"):
            _check_arguments(getattr(self, name), f"{name} of {self.label}", given)

    @property
    def is_constant(self) -> bool:
        """The function is asked at every instant: nothing to sample."""
        return True

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        place = self.where.name if isinstance(self.where, RodHandle) else self.where.label
        return self.name or f"UserLoad on {place}"

    @property
    def _frames(self) -> tuple[Frame, ...]:
        return (self.where.root,) if isinstance(self.where, RodHandle) else (self.where,)


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

    def _check(self) -> None:
        self._check_name()
        if not callable(self.force):
            raise refuse("UserForce.force", "a function of (q, v, t) returning a force per coordinate", self.force)
        if self.tangent is not None and not callable(self.tangent):
            raise refuse("UserForce.tangent", "a function of (q, v, t) returning two matrices", self.tangent)
        for name in ("force", "tangent"):
            _check_arguments(getattr(self, name), f"{name} of {self.label}", ("q", "v", "t"))

    @property
    def is_constant(self) -> bool:
        """The function is asked at every instant: nothing to sample."""
        return True

    @property
    def label(self) -> str:
        """The name of the load, or its type."""
        return self.name or "UserForce"

    @property
    def _frames(self) -> tuple[Frame, ...]:
        return ()
