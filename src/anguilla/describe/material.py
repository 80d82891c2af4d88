"""Linear elastic material with Kelvin-Voigt damping, Prony terms, or a constant loss factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from anguilla.describe.description import Description
from anguilla.describe.plausible import HEAVIEST
from anguilla.errors import (
    DescriptionError,
    as_nonnegative,
    as_number,
    as_positive,
    as_vector,
    refuse,
    warn,
)

DEFAULT_POISSON = 0.3
EACH_DECADE, BEYOND = (
    2.5,
    2.0,
)  # Prony terms of a constant loss factor, for a decade; how far they reach beyond its band
WIDEST = 8.0  # [decades] of a band
MOST_LOSS = 0.5
LEAST_RATIO = 0.05  # a density between this and 0.5 is a Poisson's ratio that was not named
MOST_DAMPING = 10.0  # [s]


@dataclass(frozen=True)
class Prony:
    """A part of the stiffness that relaxes: a spring in series with a dashpot, beside the long-term stiffness.

    Attributes:
        weight: its stiffness, as a part of the long-term one.
        time: relaxation time [s].

    """

    weight: float
    time: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", as_positive(self.weight, "Prony.weight"))
        object.__setattr__(self, "time", as_positive(self.time, "Prony.time", "s"))


@dataclass
class Material(Description):
    """A linear elastic isotropic material.

    Attributes:
        young: Young's modulus [Pa]; of a material that relaxes, the long-term one.
        density: mass per unit volume [kg/m^3].
        poisson: Poisson's ratio [-], in (-1, 0.5]; 0.3 is used if neither this nor ``shear`` is given
            (silicones and rubbers are nearly incompressible: give 0.5 for them).
        shear: shear modulus [Pa], instead of ``poisson``.
        damping: Kelvin-Voigt time mu [s]: the viscous stress is mu times the elastic stress of the strain rate. The
            damping ratio of a mode grows with its frequency.
        viscosity: Prony terms. In motions the stress of a sudden strain is 1 + sum of the weights times the long-term one,
            and relaxes to it; `statics` has the long-term one. Motions start relaxed in their first shape.
        loss: loss factor [-], the same for all frequencies of `band` (so damping ratios are about loss / 2), by Prony terms
            that are fitted to it. As in any material that is causal, stiffness then grows with frequency: by the factor
            (f / f0)^(2 loss / pi) or so.
        band: lowest and highest frequency of the loss factor [Hz]; below it the stiffness is the long-term one.

    """

    young: float
    density: float
    poisson: float | None = None
    shear: float | None = None
    damping: float = 0.0
    viscosity: Sequence[Prony] = ()
    loss: float = 0.0
    band: Sequence[float] | None = None

    def _check(self) -> None:
        self.young = as_positive(self.young, "Material.young", "Pa")
        self.density = as_positive(self.density, "Material.density", "kg/m^3")
        self._check_places()
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
        self._check_viscosity()
        self._check_sizes()

    def _check_sizes(self) -> None:
        if not 1.0 <= self.young <= 1e13:
            warn(f"Material.young = {self.young:g} Pa is outside 1 Pa to 1e13 Pa: is it in pascals?")
        if self.density > HEAVIEST:
            warn(f"Material.density = {self.density:g} kg/m^3 exceeds any known solid: is it in kg/m^3?")
        if self.damping > MOST_DAMPING:
            warn(
                f"Material.damping = {self.damping:g} s is a time: is it a viscosity [Pa s]? Then give viscosity / young, "
                f"{self.damping / self.young:g} s."
            )

    def _check_places(self) -> None:
        """Refuse a Poisson's ratio where the density belongs: Material(1e6, 0.3)."""
        ratio = LEAST_RATIO <= self.density <= 0.5
        if ratio and self.poisson is None and self.shear is None:
            raise DescriptionError(
                f"Material.density = {self.density:g} kg/m^3 is lighter than air: is it Poisson's ratio? Name them: "
                f"Material(young={self.young:g}, density=1000, poisson={self.density:g})."
            )
        if ratio and isinstance(self.poisson, float | int) and self.poisson > 1.0:
            raise DescriptionError(
                f"Material.density = {self.density:g} kg/m^3 and Material.poisson = {self.poisson:g}: are they swapped? Name "
                f"them: Material(young={self.young:g}, density={self.poisson:g}, poisson={self.density:g})."
            )

    def _check_viscosity(self) -> None:
        if not isinstance(self.viscosity, (list, tuple)) or not all(isinstance(x, Prony) for x in self.viscosity):
            raise refuse("Material.viscosity", "Prony terms such as [Prony(weight=0.2, time=0.1)]", self.viscosity)
        self.viscosity = tuple(self.viscosity)
        self.loss = as_nonnegative(self.loss, "Material.loss")
        if self.loss > MOST_LOSS:
            raise refuse("Material.loss", f"at most {MOST_LOSS:g}; Prony terms describe stronger losses", self.loss)
        if self.loss > 0.0 and self.band is None:
            raise DescriptionError("Material.loss needs the band of its frequencies [Hz], such as band=(1, 20).")
        if self.band is not None:
            low, high = as_vector(self.band, 2, "Material.band", "Hz").tolist()
            if not 0.0 < low < high <= low * 10.0**WIDEST:
                raise refuse(
                    "Material.band", "two frequencies [Hz], the lower one first, at most 8 decades apart", self.band
                )
            self.band = (low, high)

    @property
    def terms(self) -> NDArray[np.float64]:
        """Weights and times [s] (p, 2) of all Prony terms, those of the loss factor included."""
        rows = [(term.weight, term.time) for term in self.viscosity]
        if self.loss > 0.0 and self.band is not None:
            rows += _loss_terms(self.loss, *self.band)
        return np.array(rows, dtype=np.float64).reshape(-1, 2)

    def modulus(self, frequency: float) -> complex:
        """Complex Young's modulus [Pa] at a frequency [Hz]: storage + i loss."""
        w, (g, tau) = 2.0 * math.pi * frequency, self.terms.T
        relaxing = np.sum(g * 1j * w * tau / (1.0 + 1j * w * tau))
        return complex(self.young * (1.0 + 1j * w * self.damping + relaxing))

    @property
    def shear_modulus(self) -> float:
        """Shear modulus G [Pa]: ``shear`` if given, else young / (2 (1 + poisson))."""
        if self.shear is not None:
            return self.shear
        poisson = DEFAULT_POISSON if self.poisson is None else self.poisson
        return self.young / (2.0 * (1.0 + poisson))


@cache
def _loss_terms(loss: float, low: float, high: float) -> list[tuple[float, float]]:
    """Weights and times of Prony terms with a constant loss factor between two frequencies [Hz].

    The loss modulus is to be `loss` times the storage modulus, which is linear in the weights: non-negative least squares.
    """
    from scipy.optimize import nnls  # which takes long to import

    count = round(EACH_DECADE * math.log10(BEYOND**2 * high / low)) + 1
    times = np.geomspace(1.0 / (BEYOND * high), BEYOND / low, count) / (2.0 * math.pi)
    x = 2.0 * math.pi * np.geomspace(low, high, 20 * len(times))[:, None] * times
    weights = nnls((x - loss * x**2) / (1.0 + x**2), np.full(len(x), loss))[0]
    return [(float(g), float(tau)) for g, tau in zip(weights, times, strict=True) if g > 0.0]
