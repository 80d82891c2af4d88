"""Viscoelastic terms over a step, against the exact solution of z' = e' - z / tau."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from anguilla.mechanics.relaxing import SHORT, add_overstress, faded


@pytest.mark.parametrize("x", [0.3 * SHORT, 0.999 * SHORT, 1.001 * SHORT, 1e-3, 0.5, 40.0])
def test_what_is_left_and_what_is_added(x):
    """Of a strain that grows evenly, exp(-x) is left of the start and (1 - exp(-x)) / x of the increment."""
    left, added = faded(0.2 * x, 0.2)
    assert left == pytest.approx(math.exp(-x), rel=1e-9)
    assert added == pytest.approx((1.0 - math.exp(-x)) / x if x > 1e-4 else 1.0 - x / 2.0 + x * x / 6.0, rel=1e-9)


def test_nothing_is_left_after_all_time():
    assert faded(math.inf, 0.2) == (0.0, 0.0)


def test_the_terms_of_a_rod_add_to_its_coordinates_where_they_stand():
    """The second of two rods, with two terms and lanes 4 to 11: z of what was left inside and of the way since then."""
    lanes, h, (g, tau) = 12, 0.03, np.array([[0.5, 0.3], [0.2, 0.02]])
    random = np.random.default_rng(2)
    past, padded = random.normal(size=(3, lanes)), random.normal(size=(4, lanes))
    x, expected = h / tau[:, None], padded.copy()
    z = np.exp(-x) * past[1:] + (1.0 - np.exp(-x)) / x * (padded[0] - past[0])
    expected[3, 4:12] += (g @ z)[4:12]
    term = np.array([[0.0, 1.0, 0.0, 1.0], np.stack([g, tau], axis=1).ravel()])
    given = padded.ravel()
    add_overstress(SimpleNamespace(term=term, past=past.ravel(), over=np.array([h])), given, lanes, 1, 4, 8)
    np.testing.assert_allclose(given.reshape(4, lanes), expected, rtol=1e-13)
