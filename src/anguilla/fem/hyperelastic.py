"""Laws of rubber beyond the built-in ones: Mooney-Rivlin, Yeoh, Ogden; fibres. They compile to rows of numbers.

All are W = w(stretches at constant volume) + K/2 (ln J)^2, with the stretches at constant volume l_i J^(-1/3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anguilla._doors import public
from anguilla.describe.description import Description
from anguilla.errors import DescriptionError, as_array, as_nonnegative, as_number, as_positive, refuse
from anguilla.fem.mesh import Floats, Ints

__all__ = ["Fibres", "MooneyRivlin", "Ogden", "Rubber", "Yeoh"]

TERMS = 4  # of Ogden's sum that a row holds
NUMBERS = 3 + 2 * TERMS


@dataclass(eq=False)
class Rubber(Description):
    """What the laws of rubber share: the stiffness comes from the law, the density and the damping from the material.

    Attributes:
        bulk: bulk modulus [Pa]; if not given, that which the Poisson's ratio of the material gives with the shear modulus of
            the law.

    """

    bulk: float | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        kind = type(self).__name__
        if self.bulk is not None:
            self.bulk = as_positive(self.bulk, f"{kind}.bulk", "Pa")
        if not self.shear > 0.0:
            raise DescriptionError(f"{kind}: its shear modulus at rest is {self.shear:g} Pa; it must be positive.")

    @property
    def shear(self) -> float:
        """Shear modulus at rest [Pa]."""
        raise NotImplementedError

    def bulk_for(self, poisson: float) -> float:
        """Bulk modulus [Pa], for a material with a Poisson's ratio."""
        return self.bulk or 2.0 * self.shear * (1.0 + poisson) / (3.0 * (1.0 - 2.0 * poisson))

    def row(self) -> Floats:
        """Numbers (NUMBERS,): three of Yeoh, then pairs (mu, alpha) of Ogden."""
        raise NotImplementedError


@public
@dataclass(eq=False)
class MooneyRivlin(Rubber):
    """W = c10 (I1 - 3) + c01 (I2 - 3) + K/2 (ln J)^2, invariants at constant volume.

    Attributes:
        c10: [Pa].
        c01: [Pa]; 0 gives the Neo-Hookean law.
        bulk: bulk modulus [Pa]; from the Poisson's ratio of the material if not given.

    """

    c10: float
    c01: float = 0.0

    def _check(self) -> None:
        self.c10, self.c01 = (
            as_number(v, f"MooneyRivlin.{n}", "Pa") for v, n in ((self.c10, "c10"), (self.c01, "c01"))
        )
        super()._check()

    @property
    def shear(self) -> float:
        """Shear modulus at rest [Pa]: 2 (c10 + c01)."""
        return 2.0 * (self.c10 + self.c01)

    def row(self) -> Floats:
        """Numbers (NUMBERS,) for the kernels."""
        out = np.zeros(NUMBERS)
        out[[0, 3, 4]] = self.c10, -2.0 * self.c01, -2.0
        return out


@public
@dataclass(eq=False)
class Yeoh(Rubber):
    """W = c1 (I1 - 3) + c2 (I1 - 3)^2 + c3 (I1 - 3)^3 + K/2 (ln J)^2, invariants at constant volume.

    Attributes:
        c1: [Pa].
        c2: [Pa].
        c3: [Pa].
        bulk: bulk modulus [Pa]; from the Poisson's ratio of the material if not given.

    """

    c1: float
    c2: float = 0.0
    c3: float = 0.0

    def _check(self) -> None:
        for name in ("c1", "c2", "c3"):
            setattr(self, name, as_number(getattr(self, name), f"Yeoh.{name}", "Pa"))
        super()._check()

    @property
    def shear(self) -> float:
        """Shear modulus at rest [Pa]: 2 c1."""
        return 2.0 * self.c1

    def row(self) -> Floats:
        """Numbers (NUMBERS,) for the kernels."""
        out = np.zeros(NUMBERS)
        out[:3] = self.c1, self.c2, self.c3
        return out


@public
@dataclass(eq=False)
class Ogden(Rubber):
    """W = sum of mu_p / alpha_p (l1^alpha_p + l2^alpha_p + l3^alpha_p - 3), plus K/2 (ln J)^2; stretches at constant volume.

    Attributes:
        terms: up to four pairs (mu_p [Pa], alpha_p [-]); half the sum of mu_p alpha_p is the shear modulus at rest.
        bulk: bulk modulus [Pa]; from the Poisson's ratio of the material if not given.

    """

    terms: Any

    def _check(self) -> None:
        wanted = f"one to {TERMS} pairs (mu [Pa], alpha [-])"
        terms = np.atleast_2d(as_array(self.terms, "Ogden.terms", wanted))
        if terms.ndim != 2 or terms.shape[1] != 2 or not 1 <= len(terms) <= TERMS or np.any(terms[:, 1] == 0.0):
            raise refuse("Ogden.terms", f"{wanted}, no alpha zero", self.terms)
        self.terms = terms
        super()._check()

    @property
    def shear(self) -> float:
        """Shear modulus at rest [Pa]."""
        return 0.5 * float(np.sum(self.terms[:, 0] * self.terms[:, 1]))

    def row(self) -> Floats:
        """Numbers (NUMBERS,) for the kernels."""
        out = np.zeros(NUMBERS)
        out[3 : 3 + self.terms.size] = self.terms.ravel()
        return out


@public
@dataclass(eq=False)
class Fibres(Description):
    """Fibres in the solid, which resist being stretched and nothing else.

    W = k / (2 h) (exp(h E^2) - 1) with E = l^2 - 1 of the stretch l along the fibres, where it is positive; k/2 E^2 without
    hardening. A fibre that is shortened carries nothing. They add to the law of the body, and take no part in its viscosity.

    Attributes:
        direction: along the fibres at rest (3,), or a function of positions (m, 3) [m] that gives directions (m, 3).
        stiffness: k [Pa]; 4 k is the modulus of the fibres at small strain.
        hardening: h [-].
        region: name of a region of the mesh; the whole body if not given.

    """

    direction: Any
    stiffness: float
    hardening: float = 0.0
    region: str | None = None

    def _check(self) -> None:
        self.stiffness = as_positive(self.stiffness, "Fibres.stiffness", "Pa")
        self.hardening = as_nonnegative(self.hardening, "Fibres.hardening")
        if not callable(self.direction):
            self.direction = as_array(
                self.direction, "Fibres.direction", "a direction (3,), or one for each tetrahedron"
            )
            self.along(np.zeros((max(1, self.direction.size // 3), 3)), None)

    def along(self, middles: Floats, chosen: Ints | None) -> Floats:
        """Unit directions (m, 3) at the middles (m, 3) [m] of tetrahedra; `chosen` are their numbers."""
        value = np.asarray(self.direction(middles) if callable(self.direction) else self.direction, dtype=float)
        if value.ndim == 2 and chosen is not None and len(value) != len(middles):
            value = value[chosen]
        try:
            rows = np.broadcast_to(value, middles.shape)
        except ValueError:
            raise refuse("Fibres.direction", f"one direction, or ({len(middles)}, 3)", self.direction) from None
        size = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.all(np.isfinite(rows)) or np.any(size <= 0.0):
            raise refuse("Fibres.direction", "directions that are not zero", self.direction)
        return np.ascontiguousarray(rows / size)
