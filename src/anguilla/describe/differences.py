"""Rates and accelerations of motions that come without: central differences of sixth order, over a time that suits them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["jets"]

LONGEST, SHORTEST = 1e-3, 1e-9  # [s] between the points of a difference
SHORTER = 0.1  # factor from one to the next
RESOLVED = 1e-5  # part of an acceleration by which formulas of fourth and sixth order may differ
_FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
_SECOND = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0
_FOURTH = np.array([0.0, -1.0, 16.0, -30.0, 16.0, -1.0, 0.0]) / 12.0  # second derivative, fourth order
_ROUND_OFF = 1e-14


def jets(sample: Callable[[Array], Array], times: Array) -> Array:
    """Values, rates and accelerations (nt, 3, ...) of a function of t at the times (nt,) [s].

    Points of a difference lie 1 ms apart. They move closer for motions so fast that most of the accelerations are not seen
    at this distance; a kink in a slow motion stays spread over it.

    Args:
        sample: values (nt, ...) of the function at times (nt,) [s].
        times: (nt,) [s].

    """
    h = LONGEST
    first, unseen = _differences(sample, times, h)
    found = first
    while unseen and h > SHORTEST:
        h *= SHORTER
        found, unseen = _differences(sample, times, h)
    return first if unseen else found


def _differences(sample: Callable[[Array], Array], times: Array, h: float) -> tuple[Array, bool]:
    """The jets by points h apart, and whether most accelerations are not seen by them."""
    points = {
        k: sample(times + k * h) for k in (0, -1, 1, -2, 2, -3, 3)
    }  # first the times themselves, for error messages
    around = np.stack([points[k] for k in sorted(points)], axis=-1)
    value, rate, acceleration = around[..., 3], around @ _FIRST / h, around @ _SECOND / h**2
    gap, size = np.abs(acceleration - around @ _FOURTH / h**2), np.max(np.abs(acceleration), initial=0.0)
    noise = _ROUND_OFF * np.max(np.abs(around), initial=0.0) / h**2
    seen = gap <= max(RESOLVED * size, noise)
    return np.stack([value, rate, acceleration], axis=1), bool(np.mean(seen) < 0.5) if seen.size else False
