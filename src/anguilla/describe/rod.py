"""The rod: a length, a section, a material, the strains that may vary, a rest shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import Description, as_name, as_points
from anguilla.describe.gaits import Gait
from anguilla.describe.material import Material
from anguilla.describe.plausible import check_rod
from anguilla.describe.profiles import ProfileBasis
from anguilla.describe.rest import RestShape, Straight
from anguilla.describe.section import CrossSection
from anguilla.describe.shaping import ShapeProjection
from anguilla.describe.strains import Strains
from anguilla.errors import DescriptionError, as_count, as_positive, as_vector, refuse

Array = NDArray[np.float64]

# Breakpoints closer than this fraction of the length to each other or to an end are one.
MERGE = 1e-9
MOST_INTERVALS = 1000
ALONG = np.linspace(0.0, 1.0, 9)  # parts of the length at which a rod is looked at when it is described


@dataclass
class Rod(Description):
    """A slender rod, along +x of its section frame.

    Attributes:
        length: rest length [m].
        section: cross-section.
        material: material.
        strains: the strains that may vary and their bases; a rod with a ``shape`` takes them from it if not given.
        rest: rest shape.
        intervals: number of integration intervals over the whole rod, at least one per piece between breakpoints;
            chosen from the bases if not given.
        name: name of the rod in a robot.
        shape: prescribed shape in time, a gait such as TravellingWave(...): changes of the strains it names from rest. Its
            strains are then prescribed, and the efforts this takes are results. A gait is projected on the bases.
        stiffness: (6,) stiffness in the order of the strains, G J, E I2, E I3 [N m^2], E A, G A, G A [N], instead of that
            of section and material; or a function of X [m] returning it.

    """

    length: float
    section: CrossSection
    material: Material
    strains: Strains = None  # type: ignore[assignment]
    rest: RestShape = field(default_factory=Straight)
    intervals: int | None = None
    name: str | None = None
    shape: Gait | None = None
    stiffness: ArrayLike | Callable[[float], ArrayLike] | None = None

    def _check(self) -> None:
        self.length = as_positive(self.length, "Rod.length", "m")
        if self.shape is not None:
            if not isinstance(self.shape, Gait):
                raise refuse("Rod.shape", "a gait such as TravellingWave(envelope=1.0)", self.shape)
            if self.strains is None or self.strains_from_shape:
                self.strains = self.shape.strains(self.length)
        if not isinstance(self.section, CrossSection):
            raise refuse("Rod.section", "a cross-section such as Circle(radius)", self.section)
        if not isinstance(self.material, Material):
            raise refuse("Rod.material", "a Material(young, density, ...)", self.material)
        if not isinstance(self.strains, Strains):
            raise refuse("Rod.strains", "a Strains such as kirchhoff(modes=4)", self.strains)
        if not isinstance(self.rest, RestShape):
            raise refuse("Rod.rest", "a rest shape such as Straight() or Helix(radius, pitch)", self.rest)
        if self.name is not None:
            self.name = as_name(self.name, "Rod.name")
        if self.intervals is not None:
            self.intervals = as_count(self.intervals, "Rod.intervals", maximum=MOST_INTERVALS)
            pieces = len(self.breakpoints) + 1
            if self.intervals < pieces:
                raise DescriptionError(
                    f"Rod.intervals must be at least {pieces}, one per piece between the breakpoints of the rod; "
                    f"got {self.intervals}."
                )
        if self.shape is not None:
            self.projection()
        self._check_along()

    def _check_along(self) -> None:
        """Evaluate what varies along the rod once, so that its errors come now, and look at the slenderness."""
        X = self.length * ALONG
        self.rest.strain(X)
        if self.stiffness is not None and not callable(self.stiffness):
            self.stiffness = tuple(as_vector(self.stiffness, 6, "Rod.stiffness", "N m^2, N").tolist())
        self.hooke(X)
        slenderness = self.length / float(self.section.thickness(X).max())
        check_rod(self, slenderness)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.strains.size

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Interior arc lengths [m], increasing, at which the bases, the section or the rest shape jump or kink."""
        points = [x * self.length for x in self.strains.breakpoints]
        points += [*self.section.breakpoints, *self.rest.breakpoints]
        gap = MERGE * self.length
        kept: list[float] = []
        for X in sorted(points):
            if gap < X < self.length - gap and (not kept or X - kept[-1] > gap):
                kept.append(X)
        return tuple(kept)

    @property
    def strains_from_shape(self) -> bool:
        """Whether the bases are those of the prescribed shape, which they hold exactly."""
        return isinstance(self.strains, Strains) and all(isinstance(b, ProfileBasis) for _, b in self.strains.items())

    def projection(self) -> ShapeProjection:
        """Return the projection of the prescribed shape on the bases of the rod."""
        if self.shape is None:
            raise DescriptionError(
                "The rod has no prescribed shape: give Rod.shape, such as TravellingWave(envelope=1.0)."
            )
        return ShapeProjection(self.shape, self.strains, self.length, self.breakpoints)

    def hooke(self, X: ArrayLike) -> Array:
        """Return the diagonal of the stiffness (m, 6) at the arc lengths X (m,) [m].

        Columns in the order of the strains: G J, E I2, E I3 [N m^2], E A, k_y G A, k_z G A [N].
        """
        if self.stiffness is not None:
            return self._given_stiffness(as_points(X))
        p = self.section.at(X)
        E, G = self.material.young, self.material.shear_modulus
        columns = [
            G * p.torsion,
            E * p.second_y,
            E * p.second_z,
            E * p.area,
            p.shear_y * G * p.area,
            p.shear_z * G * p.area,
        ]
        return np.array(columns).T.copy()

    def _given_stiffness(self, X: Array) -> Array:
        given = self.stiffness
        rows = [given(x) if callable(given) else given for x in X.tolist()]
        values = np.array([as_vector(row, 6, "Rod.stiffness", "N m^2, N") for row in rows]).reshape(-1, 6)
        if np.any(values < 0.0):
            raise refuse(
                "Rod.stiffness", "6 numbers, none negative [N m^2, N]", values[np.any(values < 0.0, axis=1)][0]
            )
        return values

    def inertia(self, X: ArrayLike) -> Array:
        """Return the diagonal of the inertia per length (m, 6) at the arc lengths X (m,) [m].

        Columns: density times polar moment, I2, I3 [kg m], then three times density times area [kg/m].
        """
        p = self.section.at(X)
        columns = np.array([p.polar, p.second_y, p.second_z, p.area, p.area, p.area])
        return self.material.density * columns.T.copy()

    @property
    def mass(self) -> float:
        """Mass [kg], by Gauss quadrature between breakpoints."""
        nodes, weights = leggauss(20)
        ends = np.array([0.0, *self.breakpoints, self.length])
        half = np.diff(ends)[:, None] / 2.0
        X = (ends[:-1, None] + half * (1.0 + nodes)).ravel()
        return self.material.density * float(self.section.at(X).area @ (half * weights).ravel())
