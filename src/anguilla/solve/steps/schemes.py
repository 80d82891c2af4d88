"""Time integrators of the Newmark family, each five numbers (am, af, beta, gamma, mid); see stepping.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anguilla.errors import DescriptionError

__all__ = ["HHT", "GeneralisedAlpha", "Midpoint", "Newmark", "Scheme", "as_scheme"]

Coefficients = tuple[float, float, float, float, float]


class Scheme:
    """A time integrator."""

    @property
    def coefficients(self) -> Coefficients:
        """(am, af, beta, gamma, mid): mid is the part of a step after which the balance is taken."""
        raise NotImplementedError


@dataclass(frozen=True)
class Newmark(Scheme):
    """Newmark's scheme; the default is the average-acceleration one (second order, no numerical damping)."""

    beta: float = 0.25
    gamma: float = 0.5

    def __post_init__(self) -> None:
        if not (0.0 < self.beta <= 1.0 and 0.0 < self.gamma <= 1.0):
            raise DescriptionError(f"Newmark needs beta and gamma in (0, 1]; got {self.beta}, {self.gamma}.")

    @property
    def coefficients(self) -> Coefficients:
        """(0, 0, beta, gamma, 1)."""
        return 0.0, 0.0, float(self.beta), float(self.gamma), 1.0


@dataclass(frozen=True)
class HHT(Scheme):
    """Hilber, Hughes and Taylor: alpha in [-1/3, 0], more negative damps high frequencies more."""

    alpha: float = -0.05

    def __post_init__(self) -> None:
        if not -1.0 / 3.0 - 1e-12 <= self.alpha <= 0.0:
            raise DescriptionError(f"HHT.alpha must lie in [-1/3, 0]; got {self.alpha}.")

    @property
    def coefficients(self) -> Coefficients:
        """am = 0, af = -alpha, gamma = 1/2 + af, beta = (1 + af)^2 / 4."""
        af = -float(self.alpha)
        return 0.0, af, 0.25 * (1.0 + af) ** 2, 0.5 + af, 1.0


@dataclass(frozen=True)
class GeneralisedAlpha(Scheme):
    """Chung and Hulbert: rho_inf in [0, 1] is the factor left of the highest frequencies after one step."""

    rho_inf: float = 0.9

    def __post_init__(self) -> None:
        if not 0.0 <= self.rho_inf <= 1.0:
            raise DescriptionError(f"GeneralisedAlpha.rho_inf must lie in [0, 1]; got {self.rho_inf}.")

    @property
    def coefficients(self) -> Coefficients:
        """am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1), gamma = 1/2 - am + af, beta = (1 - am + af)^2 / 4."""
        rho = float(self.rho_inf)
        am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        return am, af, 0.25 * (1.0 - am + af) ** 2, 0.5 - am + af, 1.0


@dataclass(frozen=True)
class Midpoint(Scheme):
    """Implicit midpoint: time-reversible; the energy of a regular undamped motion stays in a narrow band.

    It serves robots without loops and other constraints.
    (It is not symplectic in these coordinates: in a chaotic motion the energy wanders, without trend, by a per cent.)
    """

    @property
    def coefficients(self) -> Coefficients:
        """beta = 1/4, gamma = 1/2, mid = 1/2."""
        return 0.0, 0.0, 0.25, 0.5, 0.5


NAMES = {"newmark": Newmark, "hht": HHT, "generalised_alpha": GeneralisedAlpha, "midpoint": Midpoint}


def as_scheme(method: Scheme | str) -> Scheme:
    """Return a scheme from itself or from its name."""
    if isinstance(method, Scheme):
        return method
    if isinstance(method, str) and method in NAMES:
        return NAMES[method]()
    raise DescriptionError(f"method must be a scheme or one of {', '.join(NAMES)}; got {method!r}.")


def memory(scheme: Coefficients) -> float:
    """Part of the errors of a coordinate that is held by a constraint (q1 = q = 0) that is left after a step.

    A step multiplies its rate and acceleration (dt v, dt^2 a) by a matrix, and its true acceleration by -af / (1 - af).
    """
    _, af, beta, gamma, _ = scheme
    a = np.array([-1.0 / beta, -(0.5 - beta) / beta])
    step = np.array([np.array([1.0, 1.0 - gamma]) + gamma * a, a])
    return max(float(np.max(np.abs(np.linalg.eigvals(step)))), af / (1.0 - af))


def forgets(scheme: Coefficients) -> bool:
    """Whether such errors die out."""
    return memory(scheme) < 1.0 - 1e-6
