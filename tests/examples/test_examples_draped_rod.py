"""A rod draped over a rod, against the heavy elastica and beam theory."""

import numpy as np
import pytest

pytestmark = pytest.mark.xdist_group("draped_rod")


@pytest.fixture(scope="module")
def drape(example):
    return example("draped_rod")


def test_its_shape_is_that_of_a_heavy_elastica(drape):
    p, result = drape.module, drape.result
    away = np.linalg.norm(result.shape[:, None, [0, 2]] - result.theory, axis=2).min(axis=1)
    assert away.max() < 0.0025 * p.LENGTH
    ends = result.shape[[0, -1]][:, [0, 2]] - result.theory[[0, -1]]
    assert np.abs(ends).max() < 0.0025 * p.LENGTH  # the place where it touches has moved along it by so much


def test_the_bar_carries_it_and_sags_as_a_beam(drape):
    p, result = drape.module, drape.result
    weight = p.DROP * p.LENGTH
    np.testing.assert_allclose(result.force[-1], [0.0, 0.0, weight], atol=1e-4 * weight)
    low = result.runs[0].position(result.bar.section(0.5 * p.BAR))[-1, 2]
    assert -low == pytest.approx(p.sagging(), rel=2e-3)


def test_friction_holds_it(drape):
    """At rest with friction, off its middle; without, it has slipped off."""
    p, (run, slips) = drape.module, drape.result.runs
    lines = run.centerline(drape.result.rod, 50)[-200:]
    assert np.ptp(lines, axis=0).max() < 1e-4 * p.LENGTH
    lost = slips.centerline(slips.robot.part("rod"), 50)[-1]
    assert lost[:, 2].mean() < -0.3 and slips.contacts(slips.robot.loads[0]).points[-1] == 0
