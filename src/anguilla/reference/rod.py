"""A rod in strain modes (000 II to V): kinematics allowed, stiffness, tendons.

Twists and strains are (angular, linear), wrenches (moment, force), in section axes. The label X runs from 0 to the length
l [m]; the papers often take l = 1. Fields along the rod are arrays whose first axis runs over the points X (m,).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.polynomial.legendre import leggauss, legvander
from numpy.polynomial.polynomial import polyvander
from numpy.typing import ArrayLike, NDArray

from anguilla import lie

Array = NDArray[np.float64]
Field = Callable[[Array], Array]

STRAIGHT = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])  # xi_o of a straight rod (000, remark 2)
GAUSS_POINTS = 48


@dataclass(frozen=True)
class Rod:
    """A rod whose strains are xi = xi_o + B Phi q (000 (8), (23)).

    Every field takes points X (m,) [m].

    Attributes:
        length: l [m].
        basis: B Phi (m, 6, n): column k is what coordinate k adds to the six strains.
        rest: xi_o (m, 6), the strains at rest [rad/m, -].
        hooke: diagonal of H (m, 6): G J, E I2, E I3 [N m^2], E A, G A, G A [N].
        inertia: diagonal of M (m, 6): rho J1, rho J2, rho J3 [kg m], rho A three times [kg/m].
        damping: mu [s], the viscosity being D = mu H (000 VIII, 004 remark 10).

    """

    length: float
    basis: Field
    rest: Field
    hooke: Field
    inertia: Field
    damping: float = 0.0

    @property
    def size(self) -> int:
        """Number of coordinates n."""
        return int(self.basis(np.zeros(1)).shape[2])


@dataclass(frozen=True)
class Tendon:
    """A tendon that crosses the sections at D = (0, D_Y, D_Z) and is fixed to the last one (000 III).

    Attributes:
        offset: X (m,) [m] -> D (m, 3) [m].
        slope: X (m,) [m] -> D' (m, 3) [-].

    """

    offset: Field
    slope: Field


# Making a rod ---------------------------------------------------------------------------------------------------------


def monomials(x: Array, n: int) -> Array:
    """1, x, x^2, ... (m, n) at x = X / l (000 (29))."""
    return np.asarray(polyvander(x, n - 1))


def chebyshev(x: Array, n: int) -> Array:
    """Chebyshev polynomials T_k(2x - 1), (m, n)."""
    return np.asarray(chebvander(2.0 * x - 1.0, n - 1))


def legendre(x: Array, n: int) -> Array:
    """Legendre polynomials orthonormal on [0, 1], (m, n): these, not Chebyshev's, make K_ee diagonal (000 remark 4)."""
    return np.asarray(legvander(2.0 * x - 1.0, n - 1) * np.sqrt(2.0 * np.arange(n) + 1.0))


def strain_modes(length: float, modes: Sequence[int], functions: Callable[[Array, int], Array] = legendre) -> Field:
    """B Phi of a rod (000 (30)): `modes` functions for each of the six strains K1, K2, K3, Gamma1, Gamma2, Gamma3.

    (3, 5, 5, 0, 0, 0) is an inextensible Kirchhoff rod with 3 torsion and 5 + 5 bending modes: n = 13.
    """

    def basis(X: Array) -> Array:
        table = np.zeros((len(X), 6, sum(modes)))
        column = 0
        for strain, count in enumerate(modes):
            if count:
                table[:, strain, column : column + count] = functions(X / length, count)
            column += count
        return table

    return basis


def constant(value: ArrayLike) -> Field:
    """The field (m, ...) that has the same value at every X."""
    held = np.asarray(value, dtype=float)
    return lambda X: np.broadcast_to(held, (len(X), *held.shape))


def round_rod(
    length: float, radius: float, young: float, density: float, *, modes: Sequence[int], poisson: float = 0.3,
    damping: float = 0.0, functions: Callable[[Array, int], Array] = legendre, rest: ArrayLike = STRAIGHT,
) -> Rod:  # fmt: skip
    """A uniform rod of circular section; lengths in [m], young in [Pa], density in [kg/m^3], damping in [s]."""
    area, second, shear = np.pi * radius**2, np.pi * radius**4 / 4, young / (2 + 2 * poisson)
    hooke = [2 * shear * second, young * second, young * second, young * area, shear * area, shear * area]
    inertia = density * np.array([2 * second, second, second, area, area, area])
    basis = strain_modes(length, modes, functions)
    return Rod(length, basis, constant(rest), constant(hooke), constant(inertia), damping)


# What follows from the strains alone ----------------------------------------------------------------------------------


def strains(rod: Rod, X: Array, q: Array) -> Array:
    """Xi (m, 6) at X (m,) (000 (8), (23))."""
    return rod.rest(X) + rod.basis(X) @ q


def quadrature(rod: Rod, points: int = GAUSS_POINTS) -> tuple[Array, Array]:
    """Gauss points (m,) and weights (m,) [m] on [0, l]."""
    x, w = leggauss(points)
    return 0.5 * rod.length * (1.0 + x), 0.5 * rod.length * w


def stiffness(rod: Rod) -> Array:
    """K_ee (n, n), the integral of Phi^T H_a Phi (000 (26)); D_ee is mu K_ee."""
    X, w = quadrature(rod)
    phi = rod.basis(X)
    return np.einsum("m,mki,mk,mkj->ij", w, phi, rod.hooke(X), phi)


def tendon_line(tendon: Tendon, X: Array, xi: Array) -> tuple[Array, Array]:
    """D (m, 3) and Gamma_c = Gamma + K x D + D' (m, 3), the tangent of the tendon in section axes (000 (14), (16))."""
    D = tendon.offset(X)
    return D, xi[:, 3:] + np.cross(xi[:, :3], D) + tendon.slope(X)


def tendon_stress(tendon: Tendon, X: Array, xi: Array) -> Array:
    """Lambda_d (m, 6) of a unit tension (000 (16), 004 (32))."""
    D, line = tendon_line(tendon, X, xi)
    direction = line / np.linalg.norm(line, axis=1, keepdims=True)
    return np.concatenate([np.cross(D, direction), direction], axis=1)


def tendon_stress_tangent(tendon: Tendon, X: Array, xi: Array) -> Array:
    """Derivative (m, 6, 6) of tendon_stress by the strains xi, for (62) of 004."""
    D, line = tendon_line(tendon, X, xi)
    norm = np.linalg.norm(line, axis=1)[:, None, None]
    direction = line[:, :, None] / norm
    # d Gamma_c = d Gamma + dK x D;  d(Gamma_c / |Gamma_c|) = (1 - u u^T) d Gamma_c / |Gamma_c|
    d_line = np.concatenate([-lie.hat3(D), np.broadcast_to(np.eye(3), (len(X), 3, 3))], axis=2)
    d_direction = (np.eye(3) - direction @ direction.swapaxes(1, 2)) @ d_line / norm
    return np.concatenate([lie.hat3(D) @ d_direction, d_direction], axis=1)


def tendon_length(rod: Rod, tendon: Tendon, q: Array) -> float:
    """Length of a tendon inside the rod [m] (000 (13))."""
    X, w = quadrature(rod)
    return float(w @ np.linalg.norm(tendon_line(tendon, X, strains(rod, X, q))[1], axis=1))


def actuation(rod: Rod, tendons: Sequence[Tendon], q: Array) -> Array:
    """L(q) (n, N): Q_ad = L T for tensions T (N,) [N] (000 (27), (28) with the factor 1/|Gamma_c| the print drops)."""
    X, w = quadrature(rod)
    xi, phi = strains(rod, X, q), rod.basis(X)
    columns = [-np.einsum("m,mki,mk->i", w, phi, tendon_stress(tendon, X, xi)) for tendon in tendons]
    return np.stack(columns, axis=1) if columns else np.zeros((rod.size, 0))
