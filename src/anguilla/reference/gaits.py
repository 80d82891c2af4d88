"""The swimming of the eel (001 IX): curvature laws K_d(X, t) with their first two time derivatives.

A gait takes points X (any shape) [m] and a time [s] and returns the jet of K_d: its value and its first and second time
derivative, three arrays (..., 3) in [rad/m]. The laws themselves are those of `anguilla.gaits`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anguilla.describe import gaits
from anguilla.reference.rod import Array

Jet = tuple[Array, Array, Array]
Gait = Callable[[Array, float], Jet]


def curvature_law(gait: gaits.Gait) -> Gait:
    """K_d of a gait of the library."""

    def law(X: Array, t: float) -> Jet:
        K = gait.jets(np.ravel(X), t)[0, :, :3].reshape(*np.shape(X), 3, 3)
        return K[..., 0], K[..., 1], K[..., 2]

    return law


straight = curvature_law(gaits.StrainOffset(0.0))  # a towed body
forward = curvature_law(gaits.forward())  # first example, (67)
turning = curvature_law(gaits.turning())  # second example
submergence = curvature_law(gaits.submergence())  # third example
spiral = curvature_law(gaits.spiral())  # last example

GAITS: dict[str, Gait] = {"forward": forward, "turning": turning, "submergence": submergence, "spiral": spiral}
