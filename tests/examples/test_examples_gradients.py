"""Examples of gradients: numbers against what was put in, or against calculus of variations."""

import numpy as np
import pytest

pytestmark = pytest.mark.xdist_group("gradients")  # one process runs each example once


def test_the_arm_stops_at_its_goal(example):
    result = example("gradient_reach").result
    assert result.miss < 1e-3
    assert result.speed < 0.02
    assert result.costs[-1] < 1e-2 * result.costs[0]
    assert np.all(result.pulls >= 0.0)


def test_identification_recovers_the_modulus_from_noisy_data(example):
    result = example("gradient_identify").result
    assert abs(result.error[0]) < 1e-3
    assert abs(result.error[1]) < 0.05


def test_the_taper_is_that_of_the_calculus_of_variations(example):
    # small sag: radius ~ (L - X)^(1/3), mass over that of a uniform rod sqrt(9/5) 3/5
    result = example("gradient_taper").result
    assert result.sag == pytest.approx(0.02, abs=1e-6)
    assert result.mass / result.uniform_mass == pytest.approx(np.sqrt(9 / 5) * 3 / 5, rel=0.01)
    assert np.all(np.diff(result.radii) < 0.0)
