"""The snake on the ground against a balance of friction alone."""

import numpy as np
import pytest

import anguilla as ag

pytestmark = pytest.mark.xdist_group("snake_on_the_ground")


@pytest.fixture(scope="module")
def snake(example):
    return example("snake_on_the_ground")


def test_way_in_a_beat_is_that_of_friction_alone(snake):
    way, balance, wave = snake.result.way, snake.result.balance, snake.module.WAVE
    np.testing.assert_allclose(way[1:], balance[1:], rtol=0.01)
    assert way[0] == pytest.approx(balance[0], rel=0.15) and balance[0] < 0.0  # it slips back, by 2 cm
    assert np.all(np.diff(way) > 0.0) and 0.5 < way[-1] / wave < 0.8


def test_smaller_steps_do_not_change_it(snake):
    p = snake.module
    ways = [p.crawl(2.0, dt=dt)[2] for dt in (0.02, 0.01, 0.005)]
    assert abs(ways[1] - ways[2]) < 2e-4 * p.WAVE and abs(ways[1] - ways[2]) < 0.5 * abs(ways[0] - ways[1]) + 1e-5


def test_work_of_the_muscles_goes_into_friction(snake):
    run = snake.result.run
    powers = ag.powers(run)
    size = np.abs(powers.motors).max()
    assert np.abs(powers.imbalance[2:]).max() < 1e-6 * size
    beat = slice(-1 - round(snake.module.PERIOD / snake.module.DT), None)
    mean = lambda x: float(np.mean(0.5 * (x[beat][1:] + x[beat][:-1])))
    assert mean(powers.motors) == pytest.approx(-mean(powers.others), rel=2e-3)
    assert mean(powers.others) < 0.0


def test_the_ground_carries_the_weight(snake):
    run = snake.result.run
    weight = 1000.0 * np.pi * snake.module.RADIUS**2 * snake.module.LENGTH * 9.81
    force = run.exerted(run.robot.loads[0]).force[400:, 2]
    np.testing.assert_allclose(force, weight, rtol=1e-3)
