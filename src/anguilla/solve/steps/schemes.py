"""Time integrators of the Newmark family: their five numbers, and what a step does to a state.

q1 = q + dt v + dt^2 ((1/2 - beta) a + beta a1),   v1 = v + dt ((1 - gamma) a + gamma a1),
(1 - am) a1 + am a = (1 - af) A1 + af A,   balance at (q1, v1, A1).

A is the true acceleration, a its average that the integrator works with (003 and 004 take am = af = 0). Newmark: am = af = 0,
so a = A. HHT: am = 0. Generalised alpha: am, af from the spectral radius at infinity. The implicit midpoint rule instead is
balanced at ((q + q1)/2, (v + v1)/2, (v1 - v)/dt).

A step is told by its increment d = q1 - q (of a ball, a small turn). The functions below serve numbers in kernels and arrays
in Python alike: rods, volumes and shooting step by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anguilla.compiler.jit import inline
from anguilla.errors import DescriptionError, as_number

__all__ = ["HHT", "GeneralisedAlpha", "Midpoint", "Newmark", "Scheme", "as_scheme"]


class Coefficients(NamedTuple):
    """The numbers of a scheme: mid is the part of a step after which the balance is taken; beta = 0 takes no time."""

    am: float
    af: float
    beta: float
    gamma: float
    mid: float


@inline
def factors(scheme, dt):
    """(cq, cv, ca): how the coordinates, rates and accelerations of the balance change with the increment."""
    am, af, beta, gamma, mid = scheme
    if beta == 0.0:
        return 1.0, 0.0, 0.0
    if mid < 1.0:
        return 0.5, 1.0 / dt, 2.0 / (dt * dt)
    return 1.0, gamma / (beta * dt), (1.0 - am) / (1.0 - af) / (beta * dt * dt)


@inline
def ended(scheme, dt, d, v, a, acc):
    """(v1, a1, A1) at the end of a step with increment d from rates v, accelerations a and true ones acc."""
    am, af, beta, gamma, mid = scheme
    a1 = (d - dt * v) / (beta * dt * dt) - (0.5 / beta - 1.0) * a
    true = a1 if mid < 1.0 else ((1.0 - am) * a1 + am * a - af * acc) / (1.0 - af)
    return v + dt * ((1.0 - gamma) * a + gamma * a1), a1, true


@inline
def unmoved(scheme, dt, v, a, acc):
    """(rate, acceleration) of the balance if the increment were zero; `factors` tell how they change with it."""
    v1, _, true = ended(scheme, dt, 0.0, v, a, acc)
    if scheme.mid < 1.0:
        return 0.0 * v, -2.0 * v / dt
    return v1, true


@inline
def coasting(scheme, dt, v, a):
    """(increment, rate) at the end of a step whose last acceleration a1 is zero: f and h of 003 (65), without q."""
    return dt * v + dt * dt * (0.5 - scheme.beta) * a, v + dt * (1.0 - scheme.gamma) * a


class Scheme:
    """A time integrator."""

    @property
    def coefficients(self) -> Coefficients:
        """Its five numbers."""
        raise NotImplementedError


@dataclass(frozen=True)
class Newmark(Scheme):
    """Newmark's scheme; the default is the average-acceleration one (second order, no numerical damping)."""

    beta: float = 0.25
    gamma: float = 0.5

    def __post_init__(self) -> None:
        beta, gamma = as_number(self.beta, "Newmark.beta"), as_number(self.gamma, "Newmark.gamma")
        if not (0.0 < beta <= 1.0 and 0.0 < gamma <= 1.0):
            raise DescriptionError(f"Newmark needs beta and gamma in (0, 1]; got {self.beta}, {self.gamma}.")

    @property
    def coefficients(self) -> Coefficients:
        """(0, 0, beta, gamma, 1)."""
        return Coefficients(0.0, 0.0, float(self.beta), float(self.gamma), 1.0)


@dataclass(frozen=True)
class HHT(Scheme):
    """Hilber, Hughes and Taylor: alpha in [-1/3, 0], more negative damps high frequencies more."""

    alpha: float = -0.05

    def __post_init__(self) -> None:
        if not -1.0 / 3.0 - 1e-12 <= as_number(self.alpha, "HHT.alpha") <= 0.0:
            raise DescriptionError(f"HHT.alpha must lie in [-1/3, 0]; got {self.alpha}.")

    @property
    def coefficients(self) -> Coefficients:
        """am = 0, af = -alpha, gamma = 1/2 + af, beta = (1 + af)^2 / 4."""
        af = -float(self.alpha)
        return Coefficients(0.0, af, 0.25 * (1.0 + af) ** 2, 0.5 + af, 1.0)


@dataclass(frozen=True)
class GeneralisedAlpha(Scheme):
    """Chung and Hulbert: rho_inf in [0, 1] is the factor left of the highest frequencies after one step."""

    rho_inf: float = 0.9

    def __post_init__(self) -> None:
        if not 0.0 <= as_number(self.rho_inf, "GeneralisedAlpha.rho_inf") <= 1.0:
            raise DescriptionError(f"GeneralisedAlpha.rho_inf must lie in [0, 1]; got {self.rho_inf}.")

    @property
    def coefficients(self) -> Coefficients:
        """am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1), gamma = 1/2 - am + af, beta = (1 - am + af)^2 / 4."""
        rho = float(self.rho_inf)
        am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        return Coefficients(am, af, 0.25 * (1.0 - am + af) ** 2, 0.5 - am + af, 1.0)


@dataclass(frozen=True)
class Midpoint(Scheme):
    """Implicit midpoint: time-reversible; the energy of a regular undamped motion stays in a narrow band.

    It supports robots without loops and other constraints.
    (It is not symplectic in these coordinates: in a chaotic motion the energy wanders, without trend, by a per cent.)
    """

    @property
    def coefficients(self) -> Coefficients:
        """beta = 1/4, gamma = 1/2, mid = 1/2."""
        return Coefficients(0.0, 0.0, 0.25, 0.5, 0.5)


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
    rate, acceleration = np.eye(2)
    step = np.array(ended(scheme, 1.0, 0.0, rate, acceleration, 0.0)[:2])
    return max(float(np.max(np.abs(np.linalg.eigvals(step)))), scheme.af / (1.0 - scheme.af))


def forgets(scheme: Coefficients) -> bool:
    """Whether such errors die out."""
    return memory(scheme) < 1.0 - 1e-6
