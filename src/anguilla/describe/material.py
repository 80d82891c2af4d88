"""Linear elastic material with Kelvin-Voigt damping."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from anguilla.describe.description import Description
from anguilla.errors import AnguillaWarning, DescriptionError, as_nonnegative, as_number, as_positive, refuse

DEFAULT_POISSON = 0.3


@dataclass
class Material(Description):
    """A linear elastic isotropic material.

    Attributes:
        young: Young's modulus [Pa].
        density: mass per unit volume [kg/m^3].
        poisson: Poisson's ratio [-], in (-1, 0.5]; 0.3 is used if neither this nor ``shear`` is given
            (silicones and rubbers are nearly incompressible: give 0.5 for them).
        shear: shear modulus [Pa], instead of ``poisson``.
        damping: Kelvin-Voigt time mu [s]: the viscous stress is mu times the elastic stress of the strain rate.

    """

    young: float
    density: float
    poisson: float | None = None
    shear: float | None = None
    damping: float = 0.0

    def _check(self) -> None:
        self.young = as_positive(self.young, "Material.young", "Pa")
        self.density = as_positive(self.density, "Material.density", "kg/m^3")
        self.damping = as_nonnegative(self.damping, "Material.damping", "s")
        if self.poisson is not None and self.shear is not None:
            raise DescriptionError(
                f"Material takes either poisson or shear, not both; got poisson={self.poisson!r} "
                f"and shear={self.shear!r}."
            )
        if self.poisson is not None:
            self.poisson = as_number(self.poisson, "Material.poisson")
            if not -1.0 < self.poisson <= 0.5:
                raise refuse("Material.poisson", "greater than -1 and at most 0.5", self.poisson)
        if self.shear is not None:
            self.shear = as_positive(self.shear, "Material.shear", "Pa")
        if not 1.0 <= self.young <= 1e13:
            _warn(f"Material.young = {self.young:g} Pa is outside 1 Pa to 1e13 Pa: is it in pascals?")
        if self.density > 3e4:
            _warn(f"Material.density = {self.density:g} kg/m^3 exceeds any known solid: is it in kg/m^3?")

    @property
    def shear_modulus(self) -> float:
        """Shear modulus G [Pa]: ``shear`` if given, else young / (2 (1 + poisson))."""
        if self.shear is not None:
            return self.shear
        poisson = DEFAULT_POISSON if self.poisson is None else self.poisson
        return self.young / (2.0 * (1.0 + poisson))


def _warn(message: str) -> None:
    # Levels above: _check, __post_init__, the generated __init__, the user.
    warnings.warn(message, AnguillaWarning, stacklevel=5)
