"""Independent answers for dynamics: beam theory, the linear theory of the time integrators, a high-order integration.

Nothing here uses the steppers under test.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

# Euler-Bernoulli cantilever: the roots of cos x cosh x = -1.
CLAMPED_FREE = tuple(
    brentq(lambda x: np.cos(x) + 1.0 / np.cosh(x), (k - 0.5) * np.pi - 0.4, (k - 0.5) * np.pi + 0.4, xtol=1e-14)
    for k in range(1, 9)
)


def beam_frequencies(count: int, length: float, EI: float, GA: float, mass: float, rotary: float) -> np.ndarray:
    """First angular frequencies [rad/s] of a Timoshenko cantilever; `mass` and `rotary` are per length.

    With y = (w, phi, Q, M): w' = phi + Q / GA, phi' = M / EI, Q' = -mass om^2 w, M' = -Q - rotary om^2 phi. The transfer
    matrix over the length is an exponential; clamped at 0 and free at L, its block from (Q, M) to (Q, M) is singular.
    GA infinite is Rayleigh's beam, and rotary zero as well Euler and Bernoulli's.
    """
    unit = np.sqrt(EI / mass) / length**2

    def determinant(omega: float) -> float:
        y = omega**2 * length**4 / EI  # lengths in L, forces in EI / L^2
        shear = EI / (GA * length**2)
        A = np.array([[0, 1, shear, 0], [0, 0, 0, 1], [-mass * y, 0, 0, 0], [0, -rotary * y / length**2, -1, 0]])
        roots, shapes = np.linalg.eig(A)  # four different ones
        transfer = (shapes * np.exp(roots)) @ np.linalg.inv(shapes)
        return float(np.linalg.det(transfer[2:, 2:].real))

    found: list[float] = []
    grid = np.linspace(0.5, 1.05 * CLAMPED_FREE[count - 1] ** 2, 200) * unit
    values = [determinant(omega) for omega in grid]
    for k in range(len(grid) - 1):
        if values[k] * values[k + 1] < 0.0:
            found.append(brentq(determinant, grid[k], grid[k + 1], xtol=1e-13 * grid[k]))
    return np.array(found[:count])


def bar_frequencies(count: int, length: float, stiffness: float, inertia: float) -> np.ndarray:
    """First angular frequencies of a clamped-free bar in tension (EA, rho A) or torsion (GJ, rho times polar moment)."""
    return (np.arange(1, count + 1) - 0.5) * np.pi / length * np.sqrt(stiffness / inertia)


def amplification(coefficients: tuple[float, float, float, float, float], z: float, damping: float = 0.0) -> np.ndarray:
    """(3, 3) matrix that takes (q, dt v, dt^2 a) over one step of q'' + 2 damping om q' + om^2 q = 0, z = om dt.

    Written from the equations of the generalised-alpha family as two linear systems, left x1 = right x0.
    """
    am, af, beta, gamma, mid = coefficients
    if mid < 1.0:  # the midpoint rule is the member with am = af = 1/2
        am = af = 0.5
    stiff, viscous = z**2, 2.0 * damping * z
    left = np.array([[1, 0, -beta], [0, 1, -gamma], [(1 - af) * stiff, (1 - af) * viscous, 1 - am]])
    right = np.array([[1, 1, 0.5 - beta], [0, 1, 1 - gamma], [-af * stiff, -af * viscous, -am]])
    return np.linalg.solve(left, right)


def spectral_radius(matrix: np.ndarray) -> float:
    """Largest modulus of the eigenvalues."""
    return float(np.max(np.abs(np.linalg.eigvals(matrix))))


def observed_radius(q: np.ndarray) -> float:
    """Spectral radius of the step behind a sequence q (m,): the largest root of the recurrence of order 3 that fits it."""
    past = np.stack([q[2:-1], q[1:-2], q[:-3]], axis=1)
    coefficients = np.linalg.lstsq(past, q[3:], rcond=1e-9)[0]
    return float(np.max(np.abs(np.roots([1.0, *-coefficients]))))


def newmark_phase(z: float) -> float:
    """Phase per step of the undamped average-acceleration scheme at z = om dt: 2 arctan(z / 2)."""
    return 2.0 * np.arctan(0.5 * z)


def exact_motion(system, times: np.ndarray, q: np.ndarray, v: np.ndarray, rtol: float = 1e-11) -> np.ndarray:
    """(nt, 2n) states (q, v) at the times, by an explicit method of order 8 on M(q) q'' = -R(q, q', 0, t)."""
    n = len(q)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        mass = system.tangent(y[:n], beta=1.0) - system.tangent(y[:n])
        return np.concatenate([y[n:], np.linalg.solve(mass, -system.residual(y[:n], y[n:], t=t))])

    start = np.concatenate([q, v])
    scale = np.max(np.abs(start)) + 1.0
    span = (float(times[0]), float(times[-1]))
    answer = solve_ivp(rate, span, start, method="DOP853", t_eval=times, rtol=rtol, atol=rtol * scale)
    assert answer.success
    return answer.y.T


def order(steps: np.ndarray | list[float], errors: np.ndarray | list[float]) -> float:
    """Slope of log(error) against log(step)."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


Signal = Callable[[float], tuple[float, float, float]]


def pulse(peak: tuple[float, float, float], duration: float) -> Signal:
    """A load [N] that rises and falls as sin^4 over the duration: smooth at both ends."""

    def value(t: float) -> tuple[float, float, float]:
        s = np.sin(np.pi * t / duration) ** 4 if 0.0 <= t <= duration else 0.0
        return (peak[0] * s, peak[1] * s, peak[2] * s)

    return value


def triangle(peak: tuple[float, float, float], duration: float) -> Signal:
    """A load [N] that rises linearly to its peak at half the duration, falls to zero at its end and stays zero."""

    def value(t: float) -> tuple[float, float, float]:
        s = max(0.0, 1.0 - abs(2.0 * t / duration - 1.0))
        return (peak[0] * s, peak[1] * s, peak[2] * s)

    return value
