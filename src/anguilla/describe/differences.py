"""Rates and accelerations of functions of time by differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Sampled = Callable[[Array], Array]

LONGEST = 1e-3  # [s] between the points of central differences of sixth order, for motions up to about 50 Hz
SHORTEST = 2e-6
FINER = 7.3  # times: no whole number, so that a vibration that looks still at one spacing does not at the next
LOOKED_AT = 12  # instants at which a spacing is tried
AGREE = 1e-3
ROUND_OFF = 1e-12
STEPS = np.arange(-3.0, 4.0)
FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
SECOND = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0


def jets(sample: Sampled, moments: Array) -> Array:
    """Values, rates and accelerations (nt, 3, ...) at the times (nt,) [s] of a function sampled at times (k,) -> (k, ...).

    Fast motions get a spacing that resolves them.
    """
    return _jets(sample, moments, _spacing(sample, moments))


def _around(sample: Sampled, moments: Array, h: float) -> Array:
    """Values (nt, ..., 7) at and around the times (nt,) [s]."""
    values = np.asarray(sample((moments[:, None] + h * STEPS).ravel()), dtype=np.float64)
    return np.moveaxis(values.reshape(moments.size, 7, *values.shape[1:]), 1, -1)


def _jets(sample: Sampled, moments: Array, h: float) -> Array:
    around = _around(sample, moments, h)
    return np.stack([around[..., 3], around @ FIRST / h, around @ SECOND / h**2], axis=1)


def _spacing(sample: Sampled, moments: Array) -> float:
    """The longest spacing at which most differences agree with those of a finer one; the longest of all if none does.

    (Where a motion has a kink they do not agree at any.)
    """
    some = moments[:: max(1, moments.size // LOOKED_AT)]
    h, coarse = LONGEST, _around(sample, some, LONGEST)
    size = 0.0
    while some.size and h > SHORTEST:
        fine = _around(sample, some, h / FINER)
        size = max(size, ROUND_OFF * float(np.max(np.abs(fine))))
        if all(_agree(coarse @ weights, fine @ weights * FINER**k, size * FINER**k)
               for k, weights in ((1, FIRST), (2, SECOND))):  # fmt: skip
            return h
        h, coarse = h / FINER, fine
    return LONGEST


def _agree(coarse: Array, fine: Array, slack: float) -> bool:
    return float(np.median(np.abs(fine - coarse))) <= AGREE * float(np.max(np.abs(fine))) + slack
