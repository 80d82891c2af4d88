"""What two parts that may touch each other are made of: points and surfaces, and the law between them."""

from __future__ import annotations

import numpy as np

from anguilla.describe.frames import BodyHandle, Frame, RodHandle
from anguilla.describe.load import Array, Side
from anguilla.errors import DescriptionError

SOFTENING = 0.01  # of the smaller radius: depth over which the stiffness rises, if not given
SPACING = 0.5  # of the smaller radius: distance of the points along a rod that touch, if not given
MOST = 1000  # points along a rod
GRIP = 2.0 / 3.0  # stiffness along the surface over that across it, of an incompressible solid (Mindlin)


def rod_radii(rod: RodHandle, X: Array) -> Array:
    """Radii (m,) [m] of a rod at X (m,) [m]: half of the largest width of its section."""
    return np.asarray(0.5 * rod.rod.section.thickness(X))


def stiff(part: RodHandle) -> float:
    """E / (1 - nu^2) [Pa] of a rod."""
    material = part.rod.material
    poisson = min(0.5 * material.young / material.shear_modulus - 1.0, 0.5)
    return float(material.young / (1.0 - poisson**2))
