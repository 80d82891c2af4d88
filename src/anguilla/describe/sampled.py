"""Inputs that are given by their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.errors import as_array, as_positive, refuse

__all__ = ["Sampled"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sampled:
    """An input given by its values at t = 0, dt, 2 dt, ...; straight lines in between, the last value after the end.

    Attributes:
        values: (m,).
        dt: [s].

    """

    values: ArrayLike
    dt: float

    def __post_init__(self) -> None:
        wanted = "finite numbers, one for each instant t = 0, dt, 2 dt, ..."
        values = np.atleast_1d(as_array(self.values, "Sampled.values", wanted))
        if values.ndim != 1 or not values.size:
            raise refuse("Sampled.values", wanted, self.values)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "dt", as_positive(self.dt, "Sampled.dt", "s"))

    def __call__(self, t: float) -> float:
        """Value at time t [s]."""
        return float(self.at_times(np.array([t]))[0])

    def at_times(self, times: Floats) -> Floats:
        """Values at many times [s], at once: solvers ask for these."""
        values = np.asarray(self.values)
        return np.interp(times / self.dt, np.arange(len(values)), values)
