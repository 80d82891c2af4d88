"""The singular linear-quadratic form of forward dynamics (003, Appendix 2), and why it cannot be used.

The Gauss constraint is only linear in the strain accelerations u, so the optimality condition B^T Lambda = Lambda_ad
+ H eps does not contain u. Its second derivative along X does (106), and u follows as (56); put into (45), that gives
a linear two-point problem (108) with Riccati equations (110). But u is multiplied by the rotary inertia of the
sections alone: the coefficients of (108) have eigenvalues of the size sqrt(A / I), one over the radius of the
section, and its solutions grow like exp(l / radius).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla import lie

Array = NDArray[np.float64]

__all__ = ["Section", "SingularLQ", "growth_rate", "riccati_growth", "singular_lq"]


@dataclass(frozen=True)
class Section:
    """A section in motion: all that (107) needs.

    Attributes:
        xi, xi_slope: strains (6,) and their derivative along X.
        xi_rate: rate of the strains (6,).
        eta: twist (6,).
        inertia, inertia_slope: diagonal (6,) of M and its derivative along X.
        force, force_slope: F~ = F + ad_eta^T M eta (6,) and its derivative along X.
        active: indices of the strains that may vary, the columns of B.

    """

    xi: ArrayLike
    xi_slope: ArrayLike
    xi_rate: ArrayLike
    eta: ArrayLike
    inertia: ArrayLike
    inertia_slope: ArrayLike
    force: ArrayLike
    force_slope: ArrayLike
    active: tuple[int, ...] = (0, 1, 2)


@dataclass(frozen=True)
class SingularLQ:
    """The matrices of (107) and (108) at one section.

    Attributes:
        Maa: (n, n) B^T M B.
        D, E: (6, 6).
        I: (6,).
        G: (6, 6) B Maa^-1 B^T.
        P: (12, 12) coefficients of (108), acting on (eta-dot, Lambda).

    """

    Maa: Array
    D: Array
    E: Array
    I: Array
    G: Array
    P: Array

    def second_derivative(self, u: ArrayLike, acceleration: ArrayLike, stress: ArrayLike) -> Array:
        """B^T Lambda'' (n,) by (106), for strain accelerations u (n,), eta-dot (6,) and Lambda (6,)."""
        active = np.flatnonzero(np.diag(self.G))
        rest = self.D @ np.asarray(acceleration) + self.E @ np.asarray(stress) + self.I
        return self.Maa @ np.asarray(u) + rest[active]

    def control(self, second: ArrayLike, acceleration: ArrayLike, stress: ArrayLike) -> Array:
        """u (n,) of (56), from (Lambda_ad + H eps)'' (n,)."""
        active = np.flatnonzero(np.diag(self.G))
        rest = self.D @ np.asarray(acceleration) + self.E @ np.asarray(stress) + self.I
        return np.linalg.solve(self.Maa, np.asarray(second) - rest[active])


def singular_lq(section: Section) -> SingularLQ:
    """The matrices of (107)-(108); ad of xi-dot on eta in I, as the errata say."""
    xi, xi_slope = np.asarray(section.xi, float), np.asarray(section.xi_slope, float)
    M, M_slope = np.diag(np.asarray(section.inertia, float)), np.diag(np.asarray(section.inertia_slope, float))
    force = np.asarray(section.force, float)
    ad, ad_slope = lie.ad(xi), lie.ad(xi_slope)
    B = np.eye(6)[:, list(section.active)]
    Maa = B.T @ M @ B
    D = M_slope + ad.T @ M - M @ ad
    E = ad_slope.T + ad.T @ ad.T
    drift = lie.ad(np.asarray(section.xi_rate, float)) @ np.asarray(section.eta, float)
    I = -np.asarray(section.force_slope, float) - ad.T @ force - M @ drift
    G = B @ np.linalg.solve(Maa, B.T)
    P = np.block([[-ad - G @ D, -G @ E], [M, ad.T]])
    return SingularLQ(Maa, D, E, I, G, P)


def growth_rate(lq: SingularLQ) -> float:
    """Largest real part of the eigenvalues of P [1/m]: solutions of (108) grow like exp(rate l)."""
    return float(np.max(np.linalg.eigvals(lq.P).real))


def riccati_growth(lq: SingularLQ, length: float, steps: int) -> Array:
    """Norms (steps + 1,) of S of (110) from the tip to the root of a uniform rod, by classical Runge-Kutta; may be inf."""
    P = lq.P
    ss, sc, cs, cc = P[:6, :6], P[:6, 6:], P[6:, :6], P[6:, 6:]
    rate = lambda S: cs - S @ ss + cc @ S - S @ sc @ S
    S, h = np.zeros((6, 6)), -length / steps
    norms = [0.0]
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(steps):
            k1 = rate(S)
            k2 = rate(S + 0.5 * h * k1)
            k3 = rate(S + 0.5 * h * k2)
            k4 = rate(S + h * k3)
            S = S + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            size = float(np.linalg.norm(S)) if np.all(np.isfinite(S)) else np.inf
            norms.append(size)
            if not np.isfinite(size):
                S = np.full((6, 6), np.nan)
    return np.array([n if np.isfinite(n) else np.inf for n in norms])
