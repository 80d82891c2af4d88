"""The rods that every simulator of the comparison solves, and the measure of their error. Needs NumPy only.

Cantilever release (paper 004, X.A): a round rod is clamped at the origin and hangs along -y; x is horizontal, y up.
It starts at rest in the equilibrium under gravity and a horizontal tip force; the force vanishes at t = 0 and the rod
swings without damping.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

REFERENCE = Path(__file__).resolve().parent / "reference"
GRAVITY = 9.81  # [m/s^2], along -y


@dataclass(frozen=True, slots=True)
class Cantilever:
    """A round rod, the force it is released from and the times at which its tip is compared."""

    name: str
    length: float  # [m]
    diameter: float  # [m]
    density: float  # [kg/m^3]
    young: float  # [Pa]
    tip_force: float  # [N], along +x until t = 0
    duration: float  # [s], simulated time of the full case
    check_times: tuple[float, ...]  # [s]
    poisson: float = 0.5

    @property
    def area(self) -> float:
        """Cross-section [m^2]."""
        return math.pi * self.diameter**2 / 4

    @property
    def second_moment(self) -> float:
        """Second moment of area about a diameter [m^4]."""
        return math.pi * self.diameter**4 / 64

    @property
    def shear(self) -> float:
        """Shear modulus [Pa]."""
        return self.young / (2 * (1 + self.poisson))

    @property
    def bending_stiffness(self) -> float:
        """E I [N m^2]."""
        return self.young * self.second_moment

    @property
    def axial_stiffness(self) -> float:
        """E A [N]."""
        return self.young * self.area

    @property
    def shear_stiffness(self) -> float:
        """G A [N], without shear correction factor."""
        return self.shear * self.area

    @property
    def mass_per_length(self) -> float:
        """Rho A [kg/m]."""
        return self.density * self.area

    @property
    def inertia_per_length(self) -> float:
        """Rho I [kg m], about a diameter of the section."""
        return self.density * self.second_moment

    @property
    def last_check(self) -> float:
        """Last check time [s]; a simulation that stops there can still be judged."""
        return self.check_times[-1]


CANTILEVERS = {
    case.name: case
    for case in (
        Cantilever("soft", 10.0, 1e-2, 7800.0, 1e11, 50.0, 10.0, (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)),
        # As printed in the paper: E = 2e9 Pa, so that f L^2 / (E I) is 1019.
        Cantilever("stiff", 0.4, 2e-3, 8000.0, 2e9, 10.0, 1.0, (0.025, 0.05, 0.1, 0.15, 0.2)),
        # Steel, which the paper probably meant: f L^2 / (E I) is 10.
        Cantilever("stiff200", 0.4, 2e-3, 8000.0, 2e11, 10.0, 1.0, (0.025, 0.05, 0.1, 0.15, 0.2)),
    )
}


def reference(case: Cantilever) -> tuple[np.ndarray, np.ndarray]:
    """Times (m,) [s] and tip positions (m, 2) [m] of the converged motion of `case`."""
    with np.load(REFERENCE / f"ref_{case.name}.npz") as data:
        return data["t"], data["tip"]


def tip_error(case: Cantilever, t: np.ndarray, tip: np.ndarray) -> float:
    """Largest distance to the reference over the check times, as a share of the length.

    `tip` (m, 2) [m] is the position at the times `t` (m,) [s]; between samples both motions are interpolated by cubics.
    A motion that stops before the last check time raises ValueError; one that is not finite has an infinite error.
    """
    t, tip = np.asarray(t, dtype=float), np.asarray(tip, dtype=float)
    if t.ndim != 1 or t.size < 4 or tip.shape != (t.size, 2):
        raise ValueError(f"t and tip have shapes {t.shape} and {tip.shape}: (m,) and (m, 2) with m >= 4 are needed")
    if np.any(np.diff(t) <= 0):
        raise ValueError("t must increase strictly")
    if not (np.isfinite(t).all() and np.isfinite(tip).all()):
        return math.inf
    slack = 1e-9 * case.last_check
    if t[0] > case.check_times[0] or t[-1] < case.last_check - slack:
        raise ValueError(
            f"t covers {t[0]:g} to {t[-1]:g} s, the check times of {case.name} end at {case.last_check:g} s"
        )
    times = np.array(case.check_times)
    gap = interpolate(times, t, tip) - interpolate(times, *reference(case))
    return float(np.linalg.norm(gap, axis=1).max() / case.length)


def interpolate(times: np.ndarray, t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (k, d) at `times` (k,) of samples (m, d) at `t` (m,): cubic Lagrange through the four nearest around."""
    first = np.clip(np.searchsorted(t, times) - 2, 0, t.size - 4)
    stencil = first[:, None] + np.arange(4)
    nodes = t[stencil]
    weights = np.ones_like(nodes)
    for i in range(4):
        for j in range(4):
            if i != j:
                weights[:, i] *= (times - nodes[:, j]) / (nodes[:, i] - nodes[:, j])
    return np.einsum("ki,kid->kd", weights, values[stencil])
