"""From a gait to the coordinates of a rod: projection on the rod's own bases; and gaits given as functions of (X, t)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import as_points
from anguilla.describe.differences import jets
from anguilla.describe.gaits import Gait, Term, as_strain
from anguilla.describe.signals import arguments_of
from anguilla.describe.strains import STRAIN_NAMES, Strains
from anguilla.errors import DescriptionError, refuse

Array = NDArray[np.float64]

EXTRA_POINTS = 24  # of the quadrature, beyond the degree of a basis


@dataclass
class ShapeFunction(Gait):
    """A gait given by a function of X [m] and t [s]; the rod needs bases of its own.

    Attributes:
        function: (X, t) -> change of the strain from rest [rad/m for a curvature].
        strain: the strain.
        rate: its time derivative, by sixth-order differences if not given.
        acceleration: its second time derivative, likewise; give both or none.

    """

    function: Callable[[float, float], float]
    strain: str = "bend_z"
    rate: Callable[[float, float], float] | None = None
    acceleration: Callable[[float, float], float] | None = None

    def _check(self) -> None:
        self.strain = as_strain(self.strain, "ShapeFunction.strain")
        for name in ("function", "rate", "acceleration"):
            given, wanted = getattr(self, name), "a function of (X, t) returning a number"
            if given is None and name != "function":
                continue
            if not callable(given):
                raise refuse(f"ShapeFunction.{name}", wanted, given)
            if len(arguments_of(given, f"ShapeFunction.{name}", wanted)) != 2:
                raise refuse(f"ShapeFunction.{name}", wanted, given)
        if (self.rate is None) != (self.acceleration is None):
            raise DescriptionError("ShapeFunction takes both rate and acceleration, or none of them.")

    @property
    def terms(self) -> tuple[Term, ...]:
        """There are none."""
        raise DescriptionError(
            "A ShapeFunction is not a finite sum of products of functions of X and of t, as is needed here."
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The strain it prescribes."""
        return (self.strain,)

    @property
    def is_finite(self) -> bool:
        """Not a finite sum of products."""
        return False

    def factors(self, strain: str, X: ArrayLike, times: ArrayLike) -> tuple[Array, Array]:
        """(nt, 3, m), its jets at the points, and the identity (m, m)."""
        points, moments = as_points(X), as_points(times)
        if self.rate is not None and self.acceleration is not None:
            each = [self._values(f, points, moments) for f in (self.function, self.rate, self.acceleration)]
            return np.stack(each, axis=1), np.eye(points.size)
        return jets(lambda t: self._values(self.function, points, t), moments), np.eye(points.size)

    def _values(self, function: Callable[..., object], X: Array, times: Array) -> Array:
        rows = [[float(function(x, t)) for x in X.tolist()] for t in times.tolist()]  # type: ignore[arg-type]
        values = np.array(rows, dtype=np.float64).reshape(times.size, X.size)
        if not np.all(np.isfinite(values)):
            k, m = np.argwhere(~np.isfinite(values))[0]
            raise DescriptionError(
                f"ShapeFunction of {self.strain} must be finite; got {values[k, m]} at X = {X[m]:g} m, t = {times[k]:g} s."
            )
        return values


class ShapeProjection:
    """The least-squares projection of a gait on the bases of a rod, by Gauss quadrature between breakpoints.

    Args:
        gait: the gait.
        strains: strains of the rod.
        length: length of the rod [m].
        breakpoints: arc lengths [m] at which something of the rod jumps.

    Attributes:
        driven: (k,) numbers of the rod's coordinates that the gait prescribes.

    """

    def __init__(self, gait: Gait, strains: Strains, length: float, breakpoints: tuple[float, ...] = ()) -> None:
        self.gait = gait
        missing = [name for name in gait.names if name not in strains]
        if missing:
            raise DescriptionError(
                f"Rod.shape bends {', '.join(missing)}, which the rod does not have; its strains are "
                f"{', '.join(strains.names)}: give them a basis in Rod.strains, or leave Rod.strains out."
            )
        x, w = leggauss(max(basis.degree for _, basis in strains.items()) + EXTRA_POINTS)
        ends = np.array([0.0, *breakpoints, length])
        half = 0.5 * np.diff(ends)[:, None]
        self.X, self.weights = (ends[:-1, None] + half * (1.0 + x)).ravel(), (half * w).ravel() / length
        self._solve: dict[str, Array] = {}
        self._values: dict[str, Array] = {}
        driven, at = [], 0
        for name, basis in strains.items():
            if name in gait.names:
                phi = basis(self.X / length)
                gram = phi.T @ (phi * self.weights[:, None])
                self._values[name] = phi
                self._solve[name] = np.asarray(np.linalg.solve(gram, phi.T * self.weights), dtype=np.float64)
                driven += list(range(at, at + basis.size))
            at += basis.size
        self.driven = np.array(driven, dtype=np.int64)

    def coordinates(self, times: ArrayLike) -> Array:
        """Prescribed coordinates with their rates and accelerations (nt, k, 3) at the times (nt,) [s]."""
        moments = as_points(times)
        columns = [np.zeros((moments.size, 0, 3))]
        for name, solve in self._solve.items():
            law, along = self.gait.factors(name, self.X, moments)
            columns.append(np.einsum("tjr,rk->tkj", law, along @ solve.T))
        return np.concatenate(columns, axis=1)

    def error(self, times: ArrayLike) -> float:
        """Largest mean-square error of the strains over the times, relative to their largest mean square."""
        moments = as_points(times)
        missed, size = np.zeros(moments.size), np.zeros(moments.size)
        for name, solve in self._solve.items():
            law, along = self.gait.factors(name, self.X, moments)
            left = along - (along @ solve.T) @ self._values[name].T
            for total, part in ((missed, left), (size, along)):
                gram = (part * self.weights) @ part.T
                total += np.einsum("tr,rs,ts->t", law[:, 0], gram, law[:, 0])
        largest = float(np.max(size, initial=0.0))
        return float(np.sqrt(max(float(np.max(missed, initial=0.0)), 0.0) / largest)) if largest > 0.0 else 0.0


def strain_places(gait: Gait) -> list[int]:
    """Places of the strains that a gait prescribes among the six."""
    return [STRAIN_NAMES.index(name) for name in gait.names]
