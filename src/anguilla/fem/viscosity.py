"""Damping of soft bodies: Kelvin-Voigt, Prony and Rayleigh.

Viscous stresses are second Piola-Kirchhoff stresses. Over a step of length dt, with S the elastic stress,

    Kelvin-Voigt   S + (mu / dt) (S - S_n)
    Prony term     h = exp(-dt / tau) h_n + g c (S - S_n),   c = (tau / dt) (1 - exp(-dt / tau))

so that the stress is a multiple of the elastic one plus a constant of the step: the kernels of statics serve unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anguilla._doors import public
from anguilla.describe.material import Prony
from anguilla.errors import DescriptionError, as_nonnegative
from anguilla.fem.mesh import Floats
from anguilla.fem.system import SoftSystem

__all__ = ["Prony", "Rayleigh", "Viscosity"]


@public
@dataclass(frozen=True)
class Rayleigh:
    """Damping alpha M + beta K (002 (56)); K is the stiffness at the start of the step.

    Attributes:
        alpha: on the mass [1/s].
        beta: on the stiffness [s].

    """

    alpha: float = 0.0
    beta: float = 0.0

    def __post_init__(self) -> None:
        as_nonnegative(self.alpha, "Rayleigh.alpha", "1/s")
        as_nonnegative(self.beta, "Rayleigh.beta", "s")


class Viscosity:
    """Viscous stresses over steps."""

    def __init__(self, system: SoftSystem, terms: Sequence[Prony] | None) -> None:
        own = [Prony(*term) for term in system.body.material.terms.tolist()]
        self.system, self.kelvin = system, system.body.material.damping
        self.terms = own if terms is None else list(terms)
        if any(len(painted.terms) for painted in system.body.materials.values()):
            raise DescriptionError("Prony terms and loss factors are those of a whole body, not of a painted region.")
        self.active = bool(self.terms) or self.kelvin > 0.0
        if self.active and system.body.element == "averaged":
            raise DescriptionError('damping and viscosity need element="linear" or "quadratic".')
        count = system.elements.weight.size
        self.last = np.zeros((count, 9))
        self.before: Floats | None = None  # the same a step earlier, of that length [s]
        self.length = 0.0
        self.past = np.zeros((len(self.terms), count, 9))

    def elastic(self, x: Floats) -> Floats:
        """Elastic stresses (m * points, 9) [Pa]."""
        return self.system.elastic_stress(x)

    def start(self, x: Floats) -> None:
        """Begin at rest at positions x, with nothing remembered."""
        self.before, self.length = None, 0.0
        self.past = 0.0 * self.past
        if self.active:
            self.last = self.elastic(x)

    def jolt(self) -> None:
        """What acts jumps now: rates of the stresses before tell nothing of those behind it."""
        self.before = None

    def _rate(self, dt: float) -> tuple[float, Floats]:
        """Factor on the stresses, and what is added, that give their rate [Pa/s] at the end of a step.

        From those at the ends of the last three steps, which is of second order; of the last two at first.
        """
        if self.before is None or abs(dt - self.length) > 1e-9 * dt:
            return 1.0 / dt, -self.last / dt
        return 1.5 / dt, (0.5 * self.before - 2.0 * self.last) / dt

    def _factors(self, dt: float) -> tuple[Floats, Floats]:
        decay = np.array([np.exp(-dt / term.time) for term in self.terms])
        gain = np.array([t.weight * t.time / dt * (1.0 - np.exp(-dt / t.time)) for t in self.terms])
        return decay, gain

    def step(self, dt: float) -> tuple[float, Floats | None]:
        """(gain, history) for a step of length dt."""
        if not self.active:
            return 1.0, None
        decay, gain = self._factors(dt)
        own, total = float(gain.sum()), 1.0 + float(gain.sum())
        history = np.einsum("k,kij->ij", decay, self.past) - own * self.last
        if self.kelvin:
            factor, known = self._rate(dt)
            total, history = total + self.kelvin * factor, history + self.kelvin * known
        return total, history

    def accept(self, x: Floats, dt: float) -> None:
        """Remember a step that ended at positions x."""
        if self.active:
            decay, gain = self._factors(dt)
            now = self.elastic(x)
            self.past = decay[:, None, None] * self.past + gain[:, None, None] * (now - self.last)
            self.before, self.last, self.length = self.last, now, dt
