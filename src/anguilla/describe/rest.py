"""Rest shapes of rods, as strains xi_o = (K, Gamma) along the rest arc length X [m]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import Description, as_breakpoints, as_points
from anguilla.errors import DescriptionError, as_flag, as_nonnegative, as_number, as_positive, refuse, show

Array = NDArray[np.float64]


class RestShape(Description):
    """Base class of rest shapes. A shape of constant strain implements ``_curvature``, another one ``strain``."""

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Arc lengths [m], increasing, at which the strain jumps or kinks."""
        return ()

    def strain(self, X: ArrayLike) -> Array:
        """Return the strains (m, 6) at the arc lengths X (m,) [m]: K [rad/m], then Gamma [-] = (1, 0, 0)."""
        out = np.empty((as_points(X).size, 6))
        out[:] = *self._curvature(), 1.0, 0.0, 0.0
        return out

    def _curvature(self) -> tuple[float, float, float]:
        """Return the constant (twist, bend_y, bend_z) [rad/m]."""
        raise NotImplementedError


@dataclass
class Straight(RestShape):
    """A straight rod without twist."""

    def _curvature(self) -> tuple[float, float, float]:
        return 0.0, 0.0, 0.0


@dataclass
class ConstantCurvature(RestShape):
    """A rod of constant curvature and twist: a line, an arc of circle or a helix.

    Attributes:
        twist: rotation about t1 per length [rad/m].
        bend_y: rotation about t2 per length [rad/m].
        bend_z: rotation about t3 per length [rad/m].

    """

    twist: float = 0.0
    bend_y: float = 0.0
    bend_z: float = 0.0

    def _check(self) -> None:
        for name in ("twist", "bend_y", "bend_z"):
            setattr(self, name, as_number(getattr(self, name), f"ConstantCurvature.{name}", "rad/m"))

    def _curvature(self) -> tuple[float, float, float]:
        return self.twist, self.bend_y, self.bend_z


@dataclass
class Helix(RestShape):
    """A helix, with the Frenet frame as section frame: t1 tangent, t2 towards the axis of the helix.

    With b = pitch / 2 pi: bend_z = radius / (radius^2 + b^2) is the curvature, twist = b / (radius^2 + b^2) the torsion
    of the curve.

    Attributes:
        radius: radius of the cylinder the helix lies on [m].
        pitch: advance along its axis per turn [m]; 0 gives a circle.
        left_handed: False for the thread of a common screw.

    """

    radius: float
    pitch: float
    left_handed: bool = False

    def _check(self) -> None:
        self.radius = as_positive(self.radius, "Helix.radius", "m")
        self.pitch = as_nonnegative(self.pitch, "Helix.pitch", "m")
        self.left_handed = as_flag(self.left_handed, "Helix.left_handed")

    def _curvature(self) -> tuple[float, float, float]:
        b = self.pitch / (2.0 * np.pi)
        scale = 1.0 / (self.radius**2 + b**2)
        return (-b if self.left_handed else b) * scale, 0.0, self.radius * scale


@dataclass
class RestFunction(RestShape):
    """A rest shape given by a function.

    Attributes:
        function: X [m] -> the 3 curvatures (twist, bend_y, bend_z) [rad/m] or all 6 strains; at a breakpoint it gives
            the value beyond it.
        breakpoints: arc lengths [m], increasing, at which the function jumps or kinks.

    """

    function: Callable[[float], ArrayLike]
    breakpoints: tuple[float, ...] = ()

    def _check(self) -> None:
        if not callable(self.function):
            raise refuse("RestFunction.function", "a function of X [m] returning 3 or 6 numbers", self.function)
        self.breakpoints = as_breakpoints(self.breakpoints, "RestFunction.breakpoints", unit="m")

    def strain(self, X: ArrayLike) -> Array:
        """Return the strains (m, 6) at the arc lengths X (m,) [m]: K [rad/m], then Gamma [-]."""
        points = as_points(X)
        strains = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0], (points.size, 1))
        for row, x in zip(strains, points.tolist(), strict=True):
            given = self.function(x)
            value = np.asarray(given)
            if value.shape not in ((3,), (6,)) or value.dtype.kind not in "iuf" or not np.isfinite(value).all():
                raise DescriptionError(
                    f"RestFunction.function must return 3 curvatures [rad/m] or 6 strains, all finite; "
                    f"got {show(given)} at X = {x:g} m."
                )
            row[: value.size] = value
        return strains
