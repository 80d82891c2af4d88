"""Functions of time as jets, functions of arc length as profiles, and the basis that profiles span."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.polynomial.polynomial import polyval
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.basis import Basis
from anguilla.describe.description import as_points

Array = NDArray[np.float64]

RANK = 1e-12  # profiles that differ by less than this part are one


def start(times: ArrayLike, begin: float = 0.0, end: float = 1.0) -> Array:
    """Jets (nt, 3) of a smooth step from 0 to 1, x - sin(2 pi x) / (2 pi) (001 (68) prints the sine without its 2 pi).

    A jet is a value with its first and second time derivative.
    """
    T = end - begin
    x = np.clip((as_points(times) - begin) / T, 0.0, 1.0)
    angle = 2.0 * np.pi * x
    columns = x - np.sin(angle) / (2.0 * np.pi), (1.0 - np.cos(angle)) / T, 2.0 * np.pi * np.sin(angle) / T**2
    return np.stack(columns, axis=1)


def quintic(times: ArrayLike, begin: float = 0.0, end: float = 1.0) -> Array:
    """Jets (nt, 3) of the polynomial of degree 5 from 0 to 1 with zero rate and acceleration at both ends (001 IX.D)."""
    T = end - begin
    x = np.clip((as_points(times) - begin) / T, 0.0, 1.0)
    value, rate = x**3 * (10.0 - 15.0 * x + 6.0 * x**2), 30.0 * x**2 * (1.0 - x) ** 2 / T
    return np.stack([value, rate, 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / T**2], axis=1)


def oscillation(times: Array, rate: float, phase: float) -> Array:
    """Jets (nt, 3) of cos(rate t + phase)."""
    angle = rate * times + phase
    return np.stack([np.cos(angle), -rate * np.sin(angle), -(rate**2) * np.cos(angle)], axis=1)


def product(f: Array, g: Array) -> Array:
    """Jets (nt, 3) of a product."""
    second = f[:, 2] * g[:, 0] + 2.0 * f[:, 1] * g[:, 1] + f[:, 0] * g[:, 2]
    return np.stack([f[:, 0] * g[:, 0], f[:, 1] * g[:, 0] + f[:, 0] * g[:, 1], second], axis=1)


class Profile(NamedTuple):
    """A function of X [m]: a polynomial times cos or sin of wavenumber x X."""

    coefficients: tuple[float, ...]  # of 1, X, X^2, ...
    wavenumber: float = 0.0  # [rad/m]
    odd: bool = False  # sin instead of cos

    def __call__(self, X: ArrayLike) -> Array:
        """Values (m,) at arc lengths X (m,) [m]."""
        points = as_points(X)
        wave = np.sin(self.wavenumber * points) if self.odd else np.cos(self.wavenumber * points)
        return np.asarray(polyval(points, self.coefficients) * wave, dtype=np.float64)


class ProfileBasis(Basis):
    """An orthonormal basis of what some profiles span on a rod; profiles that follow from the others add nothing.

    Args:
        profiles: the functions of X.
        length: length of the rod [m].

    """

    def __init__(self, profiles: tuple[Profile, ...], length: float) -> None:
        self.profiles, self.length = tuple(profiles), float(length)
        x, w = leggauss(self._points())
        x = 0.5 * (1.0 + x)
        table = self._table(x) * np.sqrt(0.5 * w)[:, None]
        norms = np.linalg.norm(table, axis=0)
        norms[norms == 0.0] = 1.0
        _, sizes, turn = np.linalg.svd(table / norms, full_matrices=False)
        kept = sizes > RANK * sizes[0]
        self._weights = turn[kept].T / sizes[kept] / norms[:, None]  # (profiles, size)

    def __repr__(self) -> str:
        return f"ProfileBasis({self.size} functions)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProfileBasis):
            return False
        return self.length == other.length and self.profiles == other.profiles

    __hash__ = None  # type: ignore[assignment]

    def _points(self) -> int:
        return self.degree + 24

    def _table(self, x: Array) -> Array:
        return np.stack([profile(x * self.length) for profile in self.profiles], axis=1)

    @property
    def size(self) -> int:
        """Number of functions."""
        return self._weights.shape[1]

    @property
    def degree(self) -> int:
        """Degree of the polynomials that describe the functions to about six digits.

        cos(k x) on [0, 1] needs about k / 2 + 8 of them.
        """
        turns = [abs(p.wavenumber) * self.length for p in self.profiles]
        return max(
            len(p.coefficients) - 1 + (int(np.ceil(0.5 * k)) + 8 if k else 0)
            for p, k in zip(self.profiles, turns, strict=True)
        )

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values (m, size) of the functions at the points x (m,) of [0, 1]."""
        return self._table(as_points(x)) @ self._weights
