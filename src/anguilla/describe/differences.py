"""Rates and accelerations of motions that come without: central differences of sixth order, over a time that suits them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["jets"]

LONGEST, SHORTEST = 1e-3, 1e-9  # [s] between the points of a difference
FINER = 7.3  # times: no whole number, so that a vibration that looks still at one spacing does not at the next
LOOKED_AT = 12  # instants at which a spacing is tried
RESOLVED = 1e-7  # part of the largest difference by which those of two spacings may differ
ROUND_OFF = 1e-15
ORDER = (0, -1, 1, -2, 2, -3, 3)  # first the times themselves, which errors should name
IN_TIME = np.argsort(ORDER)
RATE = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
ACCELERATION = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0


def jets(sample: Callable[[Array], Array], times: Array) -> Array:
    """Values, rates and accelerations (nt, 3, ...) of a function of t at the times (nt,) [s].

    Points of a difference lie 1 ms apart, and closer for motions so fast that this does not resolve most of their rates and
    accelerations. A kink, which none does, stays spread over 1 ms.

    Args:
        sample: values (nt, ...) of the function at times (nt,) [s].
        times: (nt,) [s].

    """
    h, around = _spacing(sample, times)
    if around is None:
        around = _around(sample, times, h)
    return np.stack([around[..., 3], around @ RATE / h, around @ ACCELERATION / h**2], axis=1)


def _around(sample: Callable[[Array], Array], times: Array, h: float) -> Array:
    """Values (nt, ..., 7) at times h apart."""
    found = sample(np.concatenate([times + k * h for k in ORDER]))
    points = found.reshape(len(ORDER), len(times), *found.shape[1:])
    return np.stack(list(points[IN_TIME]), axis=-1)


def _spacing(sample: Callable[[Array], Array], times: Array) -> tuple[float, Array | None]:
    """The longest spacing that resolves the motion at most of the times; the longest of all if none does.

    Also the values around all times, if they were looked at.
    """
    some = times[:: max(1, times.size // LOOKED_AT)]
    h, coarse = LONGEST, _around(sample, some, LONGEST)
    longest = coarse if len(some) == len(times) else None
    late = np.max(np.abs(some), initial=0.0)
    while some.size and h > SHORTEST:
        fine = _around(sample, some, h / FINER)
        noise = ROUND_OFF * (
            np.max(np.abs(fine)) + late * np.max(np.abs(fine @ RATE)) * FINER / h
        )  # of values, of times
        if _agree(coarse, fine, float(noise)):
            return h, coarse if len(some) == len(times) else None
        h, coarse = h / FINER, fine
    return LONGEST, longest


def _agree(coarse: Array, fine: Array, noise: float) -> bool:
    """Whether most differences of two spacings agree, those of values in the unit of the values."""
    pairs = [(coarse @ weights, FINER**k * (fine @ weights), FINER**k) for k, weights in ((1, RATE), (2, ACCELERATION))]
    size = max(float(np.max(np.abs(finer))) for _, finer, _ in pairs)
    return all(np.mean(np.abs(a - b) <= RESOLVED * size + factor * noise) >= 0.5 for a, b, factor in pairs)
