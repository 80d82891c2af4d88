"""Viscoelastic terms over a step, against the exact solution of z' = e' - z / tau."""

import math

import pytest

from anguilla.mechanics.relaxing import SHORT, faded


@pytest.mark.parametrize("x", [0.3 * SHORT, 0.999 * SHORT, 1.001 * SHORT, 1e-3, 0.5, 40.0])
def test_what_is_left_and_what_is_added(x):
    """Of a strain that grows evenly, exp(-x) is left of the start and (1 - exp(-x)) / x of the increment."""
    left, added = faded(0.2 * x, 0.2)
    assert left == pytest.approx(math.exp(-x), rel=1e-9)
    assert added == pytest.approx((1.0 - math.exp(-x)) / x if x > 1e-4 else 1.0 - x / 2.0 + x * x / 6.0, rel=1e-9)


def test_nothing_is_left_after_all_time():
    assert faded(math.inf, 0.2) == (0.0, 0.0)
