"""Cross-sections given by numbers, and cross-sections that vary along the rod."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe.description import as_breakpoints, as_points
from anguilla.describe.section import Array, CrossSection, SectionProperties
from anguilla.errors import DescriptionError, as_nonnegative, as_positive, refuse


@dataclass
class GeneralSection(CrossSection):
    """A section known by its numbers only, with its principal axes along t2 and t3.

    Attributes:
        area: A [m^2].
        second_y: I2 about t2, the integral of z^2 [m^4].
        second_z: I3 about t3, the integral of y^2 [m^4].
        torsion: Saint-Venant torsion constant J [m^4].
        polar: polar moment for the rotary inertia about t1 [m^4]; I2 + I3 if not given.
        shear_y: shear factor along t2 [-].
        shear_z: shear factor along t3 [-].
        width: largest full transverse dimension [m]; if not given, that of the ellipse with the same I2/A and I3/A.

    """

    area: float
    second_y: float
    second_z: float
    torsion: float
    polar: float | None = None
    shear_y: float = 1.0
    shear_z: float = 1.0
    width: float | None = None

    def _check(self) -> None:
        units = {"area": "m^2", "shear_y": "", "shear_z": "", "width": "m"}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not (value is None and field.default is None):
                clean = as_positive(value, f"GeneralSection.{field.name}", units.get(field.name, "m^4"))
                setattr(self, field.name, clean)

    def _properties(self) -> tuple[float, ...]:
        polar = self.second_y + self.second_z if self.polar is None else self.polar
        return self.area, self.second_y, self.second_z, self.torsion, polar, self.shear_y, self.shear_z

    def _extent(self) -> tuple[float, float]:
        # An ellipse has I3 = A semi_y^2 / 4 and I2 = A semi_z^2 / 4.
        semi_y, semi_z = 2.0 * np.sqrt(self.second_z / self.area), 2.0 * np.sqrt(self.second_y / self.area)
        scale = 1.0 if self.width is None else self.width / (2.0 * max(semi_y, semi_z))
        return scale * semi_y, scale * semi_z


@dataclass
class Tapered(CrossSection):
    """A section that varies along the rod.

    Attributes:
        function: X [m] -> CrossSection, for every X of the rod; at a breakpoint it gives the section beyond it.
        breakpoints: arc lengths [m], increasing, at which the section jumps or its slope does.

    """

    function: Callable[[float], CrossSection]
    breakpoints: tuple[float, ...] = ()

    def _check(self) -> None:
        if not callable(self.function):
            raise refuse("Tapered.function", "a function of X [m] that returns a cross-section", self.function)
        self.breakpoints = as_breakpoints(self.breakpoints, "Tapered.breakpoints", unit="m")

    def section(self, X: float) -> CrossSection:
        """Return the section at the arc length X [m]."""
        section = self.function(float(X))
        if not isinstance(section, CrossSection):
            raise refuse(f"Tapered.function(X = {float(X):g} m)", "a cross-section such as Circle(radius)", section)
        return section

    def at(self, X: ArrayLike) -> SectionProperties:
        """Return the properties at the arc lengths X (m,) [m]."""
        points = as_points(X)
        rows = [np.concatenate(self.section(x).at(x)) for x in points]
        table = np.array(rows).reshape(points.size, len(SectionProperties._fields))
        return SectionProperties(*table.T.copy())

    def thickness(self, X: ArrayLike) -> Array:
        """Return the largest full transverse dimension (m,) [m] at the arc lengths X (m,) [m]."""
        return np.array([self.section(x).thickness(x)[0] for x in as_points(X)])

    def semi_axes(self, X: ArrayLike) -> Array:
        """Return the half dimensions along t2 and t3 (m, 2) [m] at the arc lengths X (m,) [m]."""
        return np.array([self.section(x).semi_axes([x])[0] for x in as_points(X)]).reshape(-1, 2)

    def outline(self, X: float = 0.0, count: int = 24) -> Array:
        """Return a polygon (count, 2) of points (y, z) [m] around the section at X [m], for drawing; not closed."""
        return self.section(X).outline(X, count)


@dataclass
class EllipticProfile(CrossSection):
    """Full ellipses whose semi-axes vary along the rod, as on a fish; they may shrink to nothing at its ends.

    Attributes:
        semi_y: half the width along t2 [m], a number or a function of X [m].
        semi_z: half the width along t3 [m], a number or a function of X [m].
        breakpoints: arc lengths [m], increasing, at which the outline kinks.

    """

    semi_y: float | Callable[[float], float]
    semi_z: float | Callable[[float], float]
    breakpoints: tuple[float, ...] = ()

    may_be_flat: ClassVar[bool] = True

    def _check(self) -> None:
        for name in ("semi_y", "semi_z"):
            value = getattr(self, name)
            if not callable(value):
                setattr(self, name, as_positive(value, f"EllipticProfile.{name}", "m"))
        self.breakpoints = as_breakpoints(self.breakpoints, "EllipticProfile.breakpoints", unit="m")

    def _axis(self, name: str, points: Array) -> Array:
        value = getattr(self, name)
        if not callable(value):
            return np.full(points.shape, float(value))
        try:  # a function of numpy takes all places at once
            many = np.asarray(value(points), dtype=np.float64)
            if many.shape == points.shape and np.all(many >= 0.0) and np.all(np.isfinite(many)):
                return many
        except (TypeError, ValueError):
            pass
        name = f"EllipticProfile.{name}"
        return np.array([as_nonnegative(value(x), f"{name} at X = {x:g} m", "m") for x in points.tolist()])

    def semi_axes(self, X: ArrayLike) -> Array:
        """Return the half dimensions along t2 and t3 (m, 2) [m] at the arc lengths X (m,) [m]."""
        points = as_points(X)
        return np.stack([self._axis("semi_y", points), self._axis("semi_z", points)], axis=1)

    def at(self, X: ArrayLike) -> SectionProperties:
        """Return the properties at the arc lengths X (m,) [m]."""
        b, c = self.semi_axes(X).T
        area, one = np.pi * b * c, np.ones_like(b)
        second_y, second_z = area * c**2 / 4.0, area * b**2 / 4.0
        square = b**2 + c**2
        torsion = np.pi * (b * c) ** 3 / np.where(square > 0.0, square, 1.0)
        return SectionProperties(area, second_y, second_z, torsion, second_y + second_z, one, one)

    def thickness(self, X: ArrayLike) -> Array:
        """Return the largest full transverse dimension (m,) [m] at the arc lengths X (m,) [m]."""
        return 2.0 * np.max(self.semi_axes(X), axis=1)

    def outline(self, X: float = 0.0, count: int = 24) -> Array:
        """Return a polygon (count, 2) of points (y, z) [m] around the section at X [m], for drawing; not closed."""
        angle = 2.0 * np.pi * np.arange(count) / count
        return np.stack([np.cos(angle), np.sin(angle)], axis=1) * self.semi_axes([X])[0]


@public
def taper(root: CrossSection, tip: CrossSection, length: float) -> Tapered:
    """Return a section whose dimensions go linearly from ``root`` at X = 0 to ``tip`` at X = length [m].

    Both sections must be of one type, for example two circles. Beyond ``length`` the section stays that of the tip.
    """
    for name, section in (("root", root), ("tip", tip)):
        if not isinstance(section, CrossSection) or isinstance(section, Tapered):
            raise refuse(f"taper {name}", "a constant cross-section such as Circle(radius)", section)
    if type(root) is not type(tip):
        raise DescriptionError(
            f"taper needs two sections of one type; got a {type(root).__name__} and a {type(tip).__name__}."
        )
    span = as_positive(length, "taper length", "m")
    ends = {f.name: (getattr(root, f.name), getattr(tip, f.name)) for f in dataclasses.fields(root)}  # type: ignore[arg-type]
    for name, pair in ends.items():
        if pair.count(None) == 1:
            raise DescriptionError(f"taper needs {type(root).__name__}.{name} for both sections or for none.")

    def between(X: float) -> CrossSection:
        s = min(max(X / span, 0.0), 1.0)
        return type(root)(**{k: None if a is None else (1.0 - s) * a + s * b for k, (a, b) in ends.items()})

    return Tapered(between, breakpoints=(span,))
