"""Cross-sections of rods.

The section frame is (t1, t2, t3) = (x, y, z) with t1 along the rod; coordinates in the section are (y, z).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import Description, as_points
from anguilla.describe.plausible import check_width
from anguilla.errors import DescriptionError, as_count, as_nonnegative, as_positive

Array = NDArray[np.float64]

ZETA_5 = 1.0369277551433699263  # Riemann zeta(5); the sum over odd n of 1/n^5 is 31/32 of it


class SectionProperties(NamedTuple):
    """Properties of the sections at m arc lengths; every field has shape (m,).

    Attributes:
        area: A [m^2].
        second_y: second moment of area I2 about t2, the integral of z^2 [m^4].
        second_z: second moment of area I3 about t3, the integral of y^2 [m^4].
        torsion: Saint-Venant torsion constant J [m^4]; torsional stiffness is G J.
        polar: polar second moment of area I2 + I3 [m^4]; rotary inertia about t1 is density times it.
        shear_y: shear factor along t2 [-].
        shear_z: shear factor along t3 [-].

    """

    area: Array
    second_y: Array
    second_z: Array
    torsion: Array
    polar: Array
    shear_y: Array
    shear_z: Array


class CrossSection(Description):
    """Base class of cross-sections: properties as functions of the rest arc length X [m].

    A section that does not vary along the rod implements ``_properties``, ``_extent`` and ``_outline``; a section that
    does vary implements ``at``, ``thickness``, ``semi_axes`` and ``outline``.
    """

    is_plain: ClassVar[bool] = False  # a full or hollow section of a solid, not one known by its numbers
    may_be_flat: ClassVar[bool] = False  # as high as it is long, as a fin is

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Arc lengths [m], increasing, at which the properties jump or kink."""
        return ()

    def at(self, X: ArrayLike) -> SectionProperties:
        """Return the properties at the arc lengths X (m,) [m]."""
        table = np.empty((len(SectionProperties._fields), as_points(X).size))
        table[:] = np.array(self._properties())[:, None]
        return SectionProperties(*table)

    def thickness(self, X: ArrayLike) -> Array:
        """Return the largest full transverse dimension (m,) [m] at the arc lengths X (m,) [m]."""
        return np.full(as_points(X).size, 2.0 * max(self._extent()))

    def semi_axes(self, X: ArrayLike) -> Array:
        """Return the half dimensions along t2 and t3 (m, 2) [m] at the arc lengths X (m,) [m]."""
        return np.tile(np.asarray(self._extent(), dtype=float), (as_points(X).size, 1))

    def outline(self, X: float = 0.0, count: int = 24) -> Array:
        """Return a polygon (count, 2) of points (y, z) [m] around the section at X [m], for drawing; not closed."""
        return self._outline(as_count(count, "count", minimum=4))

    def _properties(self) -> tuple[float, ...]:
        """Return the seven fields of SectionProperties as numbers."""
        raise NotImplementedError

    def _extent(self) -> tuple[float, float]:
        """Return the half dimensions along y and z [m]."""
        raise NotImplementedError

    def _outline(self, count: int) -> Array:
        """Return the ellipse with the half dimensions of the section, (count, 2) [m]."""
        angle = 2.0 * np.pi * np.arange(count) / count
        return np.stack([np.cos(angle), np.sin(angle)], axis=1) * self._extent()


@dataclass
class Circle(CrossSection):
    """Full disc.

    Attributes:
        radius: radius [m].

    """

    radius: float

    is_plain: ClassVar[bool] = True

    def _check(self) -> None:
        self.radius = as_positive(self.radius, "Circle.radius", "m")
        check_width("Circle.radius", self.radius, self.radius)

    def _properties(self) -> tuple[float, ...]:
        second = np.pi * self.radius**4 / 4.0
        return np.pi * self.radius**2, second, second, 2.0 * second, 2.0 * second, 1.0, 1.0

    def _extent(self) -> tuple[float, float]:
        return self.radius, self.radius


@dataclass
class Tube(CrossSection):
    """Ring between two concentric circles.

    Attributes:
        outer: outer radius [m].
        inner: inner radius [m], smaller than ``outer``.

    """

    outer: float
    inner: float

    is_plain: ClassVar[bool] = True

    def _check(self) -> None:
        self.outer = as_positive(self.outer, "Tube.outer", "m")
        self.inner = as_nonnegative(self.inner, "Tube.inner", "m")
        if self.inner >= self.outer:
            raise DescriptionError(
                f"Tube.inner must be smaller than Tube.outer = {self.outer!r} [m]; got {self.inner!r}."
            )
        check_width("Tube.outer", self.outer, self.outer)

    def _properties(self) -> tuple[float, ...]:
        second = np.pi * (self.outer**4 - self.inner**4) / 4.0
        return np.pi * (self.outer**2 - self.inner**2), second, second, 2.0 * second, 2.0 * second, 1.0, 1.0

    def _extent(self) -> tuple[float, float]:
        return self.outer, self.outer


@dataclass
class Ellipse(CrossSection):
    """Full ellipse.

    Attributes:
        semi_y: half axis along t2 [m].
        semi_z: half axis along t3 [m].

    """

    semi_y: float
    semi_z: float

    is_plain: ClassVar[bool] = True

    def _check(self) -> None:
        self.semi_y = as_positive(self.semi_y, "Ellipse.semi_y", "m")
        self.semi_z = as_positive(self.semi_z, "Ellipse.semi_z", "m")
        check_width("Ellipse.semi_y", self.semi_y, self.semi_y)
        check_width("Ellipse.semi_z", self.semi_z, self.semi_z)

    def _properties(self) -> tuple[float, ...]:
        b, c = self.semi_y, self.semi_z
        second_y, second_z = np.pi * b * c**3 / 4.0, np.pi * b**3 * c / 4.0
        torsion = np.pi * b**3 * c**3 / (b**2 + c**2)
        return np.pi * b * c, second_y, second_z, torsion, second_y + second_z, 1.0, 1.0

    def _extent(self) -> tuple[float, float]:
        return self.semi_y, self.semi_z


@dataclass
class Rectangle(CrossSection):
    """Full rectangle.

    Attributes:
        size_y: full width along t2 [m].
        size_z: full width along t3 [m].

    """

    size_y: float
    size_z: float

    is_plain: ClassVar[bool] = True

    def _check(self) -> None:
        self.size_y = as_positive(self.size_y, "Rectangle.size_y", "m")
        self.size_z = as_positive(self.size_z, "Rectangle.size_z", "m")
        check_width("Rectangle.size_y", 0.5 * self.size_y, self.size_y)
        check_width("Rectangle.size_z", 0.5 * self.size_z, self.size_z)

    def _properties(self) -> tuple[float, ...]:
        a, b = self.size_y, self.size_z
        second_y, second_z = a * b**3 / 12.0, a**3 * b / 12.0
        return a * b, second_y, second_z, rectangle_torsion(a, b), second_y + second_z, 1.0, 1.0

    def _extent(self) -> tuple[float, float]:
        return self.size_y / 2.0, self.size_z / 2.0

    def _outline(self, count: int) -> Array:
        # The four corners, and the other points spread along the sides.
        corners = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
        sides = []
        for i in range(4):
            along = np.linspace(0.0, 1.0, count // 4 + (i < count % 4), endpoint=False)[:, None]
            sides.append(corners[i] * (1.0 - along) + corners[(i + 1) % 4] * along)
        return np.concatenate(sides) * self._extent()


def rectangle_torsion(size_y: float, size_z: float) -> float:
    """Return the Saint-Venant torsion constant J [m^4] of a rectangle of full widths [m], to machine precision.

    J = a b^3 (1/3 - 64/pi^5 b/a S), S = sum over odd n of tanh(n pi a / 2 b) / n^5, with a the longer side. Writing
    tanh = 1 - 2/(exp + 1) and summing the ones in closed form leaves a series that converges like exp(-n pi).
    """
    a, b = max(size_y, size_z), min(size_y, size_z)
    n = np.arange(1, 15, 2)
    decay = np.exp(-n * np.pi * a / b)
    series = 31.0 / 32.0 * ZETA_5 - float(np.sum(2.0 * decay / (1.0 + decay) / n**5))
    return a * b**3 * (1.0 / 3.0 - 64.0 / np.pi**5 * b / a * series)
