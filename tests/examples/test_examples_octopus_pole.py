"""The octopus arm on a pole: it winds around, carries its weight by friction alone, and slides without."""

import numpy as np
import pytest

pytestmark = [pytest.mark.xdist_group("octopus_pole"), pytest.mark.slow]


@pytest.fixture(scope="module")
def octopus(example):
    return example("octopus_pole")


def test_it_winds_around_the_pole(octopus):
    """Three turns, outside of the pole, and coils do not pass through each other."""
    p, run = octopus.module, octopus.result.winding
    line, X = run.centerline(run.robot.part("arm"), 201)[-1], np.linspace(0.0, p.LENGTH, 201)
    radius = p.THICK + (p.THIN - p.THICK) * X / p.LENGTH
    assert np.ptp(np.unwrap(np.arctan2(line[:, 1], line[:, 0]))) > 2.8 * 2 * np.pi
    assert np.all(np.hypot(line[:, 0], line[:, 1]) > p.POLE + 0.8 * radius)  # the tip sinks deepest
    gap = np.linalg.norm(line[:, None] - line, axis=2) - radius[:, None] - radius
    assert gap[np.abs(X[:, None] - X) > np.pi * p.POLE].min() > -0.05 * p.THIN


def test_friction_carries_its_weight(octopus):
    p, result = octopus.module, octopus.result
    np.testing.assert_allclose(result.force[-1], [0.0, 0.0, p.weight()], atol=1e-6 * p.weight())


def test_it_does_not_creep(octopus):
    """Less than 1e-6 of its length in 10 s, in any direction; here it is held for 2 s."""
    p, run = octopus.module, octopus.result.runs[0]
    lines = run.centerline(run.robot.part("arm"), 50)[-round(2.0 / p.STEP) :]
    assert np.ptp(lines, axis=0).max() < 1e-6 * p.LENGTH * 2.0 / 10.0


def test_it_slides_with_a_tenth_of_the_friction(octopus):
    """It falls as fast as what friction does not carry says."""
    p, run = octopus.module, octopus.result.runs[1]
    height = p.height(run)
    assert height[-1] < height[0] - 0.3
    friction = run.exerted(run.robot.loads[1]).force[:, 2]
    late = run.t > p.EBB - 0.2
    carried = 9.81 * (1.0 - friction[late].mean() / p.weight())
    speed = np.gradient(height, run.t)[late]
    fall = -(speed[-2] - speed[1]) / (run.t[late][-2] - run.t[late][1])
    assert fall == pytest.approx(carried, rel=0.05)
