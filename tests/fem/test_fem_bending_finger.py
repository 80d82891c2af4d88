"""The bending formula of thread-wound fingers: its limit for small angles, and a round finger as a soft volume beside it."""

from __future__ import annotations

import numpy as np
import pytest
from script_modules import ROOT, script


def test_small_angles_are_those_of_a_beam():
    finger = script(ROOT / "validation" / "bending_finger.py", "bending_finger")
    a, b = finger.RADIUS, finger.OUTER
    # as its width is kept, the wall has the modulus 4 mu; second moment of a ring about a tangent of its outside
    stiff = 4.0 * finger.SHEAR * (0.25 * np.pi * (b**4 - a**4) + np.pi * (b**2 - a**2) * b**2)
    assert finger.published(1e-6, half=False) == pytest.approx(1e-6 * stiff / (np.pi * a**2 * b), rel=1e-4)
    rows = np.linspace(0.0, np.pi, 20001)
    ring = 0.25 * (b**4 - a**4) * np.sin(rows) ** 2 + 2.0 / 3.0 * (b**3 - a**3) * finger.WALL * np.sin(rows)
    second = np.trapezoid(ring + 0.5 * (b**2 - a**2) * finger.WALL**2, rows) + 2.0 * b * finger.WALL**3 / 3.0
    first = 2.0 / 3.0 * a**3 + 0.5 * np.pi * a**2 * finger.WALL
    assert finger.published(1e-6, half=True) == pytest.approx(4e-6 * finger.SHEAR * second / first, rel=1e-4)


@pytest.mark.slow
def test_a_round_finger_bends_as_the_formula_says():
    finger = script(ROOT / "validation" / "bending_finger.py", "bending_finger")
    ((_, told, here),) = finger.measure(False, (10, 6), (2.0,))
    assert here == pytest.approx(told, rel=0.06)
