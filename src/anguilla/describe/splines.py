"""Values on a regular grid in space, interpolated by cubic B-splines: twice differentiable everywhere.

The splines are natural: their second derivative across a face of the grid is zero there.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["coefficients", "interpolate"]


def coefficients(values: Array) -> Array:
    """Coefficients (nx + 2, ny + 2, nz + 2) of the splines that take the values (nx, ny, nz) at the points."""
    for axis in range(3):
        values = np.moveaxis(_along_first(np.moveaxis(values, axis, 0)), 0, axis)
    return np.ascontiguousarray(values)


def _along_first(values: Array) -> Array:
    """The same along the first axis: (c[i-1] + 4 c[i] + c[i+1]) / 6 is value i, and c is straight at both ends."""
    from scipy.linalg import solve_banded

    n = len(values)
    inner = values.copy()
    if n > 2:
        bands = np.tile([[1.0], [4.0], [1.0]], n - 2)
        given = 6.0 * values[1:-1]
        given[0] -= values[0]
        given[-1] -= values[-1]
        inner[1:-1] = solve_banded((1, 1), bands, given.reshape(n - 2, -1)).reshape(given.shape)
    return np.concatenate([[2.0 * inner[0] - inner[1]], inner, [2.0 * inner[-1] - inner[-2]]])


def interpolate(c: Array, places: Array) -> Array:
    """Values (m,) of splines with coefficients c at places (m, 3), in spacings from the first point, in the grid."""
    counts = np.array(c.shape) - 2
    cell = np.minimum(np.floor(places), counts - 2).astype(np.int64)
    t = places - cell
    s = 1.0 - t
    weights = (s**3, 4.0 - 6.0 * t**2 + 3.0 * t**3, 4.0 - 6.0 * s**2 + 3.0 * s**3, t**3)
    out = np.zeros(len(places))
    for i, j, k in itertools.product(range(4), repeat=3):
        share = weights[i][:, 0] * weights[j][:, 1] * weights[k][:, 2] / 216.0
        out += share * c[cell[:, 0] + i, cell[:, 1] + j, cell[:, 2] + k]
    return out
