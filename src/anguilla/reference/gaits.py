"""The swimming of the eel (001 IX): curvature laws K_d(X, t) with their first two time derivatives.

A function of time is carried as a jet: its value and its first and second derivative. A gait takes points X (any shape) [m]
and a time [s] and returns the jet of K_d, three arrays (..., 3) in [rad/m].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anguilla.reference.rod import Array

Jet = tuple[Array, Array, Array]
Gait = Callable[[Array, float], Jet]

TURN = 0.5  # K3_off [rad/m]
DIVE = 0.5  # K2_off [rad/m]
DIVE_TIMES = (4.0, 6.0, 8.0, 10.0, 12.0, 14.0)  # t_1 .. t_6 [s]


def product(f: Jet, g: Jet) -> Jet:
    """Jet of a product."""
    return f[0] * g[0], f[1] * g[0] + f[0] * g[1], f[2] * g[0] + 2 * f[1] * g[1] + f[0] * g[2]


def start(t: float, t_i: float = 0.0, t_f: float = 1.0) -> Jet:
    """h_o, a smooth step from 0 at t_i to 1 at t_f: x - sin(2 pi x)/(2 pi); (68) prints the sine without its 2 pi."""
    T = t_f - t_i
    x = np.clip((t - t_i) / T, 0.0, 1.0)
    angle = 2 * np.pi * x
    return np.asarray(x - np.sin(angle) / (2 * np.pi)), (1 - np.cos(angle)) / T, 2 * np.pi * np.sin(angle) / T**2


def wave(X: Array, t: float, wavelength: float = 1.0, period: float = 1.0) -> Jet:
    """h_1 = sin(2 pi (X / lambda - t / T)), running from head to tail (69)."""
    rate, angle = 2 * np.pi / period, 2 * np.pi * (X / wavelength - t / period)
    return np.sin(angle), -rate * np.cos(angle), -(rate**2) * np.sin(angle)


def amplitude(X: Array) -> Array:
    """Alpha = X^2 - 0.75 X + 1 [rad/m]."""
    return X**2 - 0.75 * X + 1.0


def quintic(t: float, t_i: float, t_j: float, f_i: float, f_j: float) -> Jet:
    """P(t_i, t_j, f_i, f_j): from f_i to f_j with zero first and second derivatives at both ends; constant outside."""
    T = t_j - t_i
    x = np.clip((t - t_i) / T, 0.0, 1.0)
    d = f_j - f_i
    return (
        np.asarray(f_i + d * x**3 * (10 - 15 * x + 6 * x**2)),
        d * 30 * x**2 * (1 - x) ** 2 / T,
        d * 60 * x * (1 - x) * (1 - 2 * x) / T**2,
    )


def _curvatures(X: Array, K2: Jet, K3: Jet) -> Jet:
    zero = np.zeros_like(X)
    jets = [np.stack(np.broadcast_arrays(zero, a + zero, b + zero), axis=-1) for a, b in zip(K2, K3, strict=True)]
    return jets[0], jets[1], jets[2]


def _still(X: Array) -> Jet:
    return np.zeros_like(X), np.zeros_like(X), np.zeros_like(X)


def _swimming(X: Array, t: float, offset: float = 0.0) -> Jet:
    h, wavy = start(t), wave(X, t)
    bent = amplitude(X)
    return product(h, (bent * wavy[0] + offset, bent * wavy[1], bent * wavy[2]))


def straight(X: Array, t: float) -> Jet:
    """No bending at all: a towed body."""
    return _curvatures(X, _still(X), _still(X))


def forward(X: Array, t: float) -> Jet:
    """First example: K3 = alpha h_o h_1 (67)."""
    return _curvatures(X, _still(X), _swimming(X, t))


def turning(X: Array, t: float) -> Jet:
    """Second example: K3 = h_o (alpha h_1 + K3_off)."""
    return _curvatures(X, _still(X), _swimming(X, t, TURN))


def submergence(X: Array, t: float) -> Jet:
    """Third example: forward swimming, with K2 bent up from t_1 to t_3 and down from t_4 to t_6."""
    t1, t2, t3, t4, t5, t6 = DIVE_TIMES
    pieces = [(t1, t2, 0.0, DIVE), (t2, t3, DIVE, 0.0), (t4, t5, 0.0, -DIVE), (t5, t6, -DIVE, 0.0)]
    K2 = _still(X)
    for t_i, t_j, f_i, f_j in pieces:
        if t_i <= t < t_j:
            K2 = tuple(x + np.zeros_like(X) for x in quintic(t, t_i, t_j, f_i, f_j))  # type: ignore[assignment]
    return _curvatures(X, K2, _swimming(X, t))


def spiral(X: Array, t: float) -> Jet:
    """Last example: K2 = K2_off h_o and K3 = h_o (alpha h_1 + K3_off)."""
    h = start(t)
    return _curvatures(X, (DIVE * h[0], DIVE * h[1], DIVE * h[2]), _swimming(X, t, TURN))


GAITS: dict[str, Gait] = {"forward": forward, "turning": turning, "submergence": submergence, "spiral": spiral}
