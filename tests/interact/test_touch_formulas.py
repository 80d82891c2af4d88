"""Formulas of contact kernels, against vector algebra and differences."""

import numpy as np
import pytest

from anguilla.interact.kernels import contact
from anguilla.interact.kernels.contact import _scales
from anguilla.interact.kernels.touch_change import _turning


def test_the_moment_of_a_force_turns_with_its_arm():
    a, b, t, force = np.random.default_rng(3).standard_normal((4, 3))
    found = _turning(*(tuple(x) for x in (a, b, t, force)))
    assert found == pytest.approx(a @ np.cross(np.cross(b, t), force), rel=1e-12)


@pytest.mark.parametrize("speed", [-0.3, -1e-3, 0.0, 2e-3, 0.5])
def test_friction_of_scales_goes_from_backward_to_forward(speed):
    """A smooth step between both coefficients, less that across; its slope by differences."""
    data = np.zeros((1, 1 + max(contact.SLIP, contact.FORWARD, contact.BACKWARD, contact.FRICTION)))
    data[0, [contact.SLIP, contact.FORWARD, contact.BACKWARD, contact.FRICTION]] = 1e-2, 0.3, 0.7, 0.45
    value, slope = _scales(speed, data, 0)
    assert value + 0.45 == pytest.approx(0.5 - 0.2 * speed / np.hypot(speed, 1e-2), rel=1e-12)
    h = 1e-5
    two = [_scales(speed + s * h, data, 0)[0] for s in (-1, 1)]
    assert slope == pytest.approx((two[1] - two[0]) / (2 * h), rel=1e-4)
