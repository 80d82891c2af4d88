"""The snake between pegs: it follows its own track, and the pegs push it."""

import numpy as np
import pytest

pytestmark = [pytest.mark.xdist_group("snake_on_pegs"), pytest.mark.slow]


@pytest.fixture(scope="module")
def snake(example):
    return example("snake_on_pegs")


def test_it_makes_a_wave_of_its_track_in_a_beat(snake):
    """By geometry alone: the track is known. Without pegs nothing pushes it."""
    p, (run, lost) = snake.module, snake.result.runs
    beat, chord = round(p.PERIOD / p.STEP), np.diff(p.track(np.array([-p.WAVE, 0.0]))[0][:, 0])[0]
    way = p.middle(run)[-1 - beat, 0] - p.middle(run)[-1, 0]
    assert way == pytest.approx(chord, rel=0.005)
    assert abs(p.middle(lost)[-1, 0] - p.middle(lost)[0, 0]) < 1e-3 * chord


def test_it_stays_on_its_track(snake):
    p, run = snake.module, snake.result.runs[0]
    line = p.track(np.linspace(-p.TRACK, p.LENGTH, 4001))[0]
    shape = run.centerline(snake.result.body, 60)[::50, :, :2].reshape(-1, 2)
    away = np.linalg.norm(shape[:, None] - line, axis=2).min(axis=1)
    assert away.max() < 0.01  # of waves of 5 cm to each side


def test_the_pegs_push_it(snake):
    """Drag and change of momentum are what all pegs together give; in a beat they push forward."""
    p, run, force = snake.module, snake.result.runs[0], snake.result.force
    mass = 1000.0 * np.pi * p.RADIUS**2 * p.LENGTH
    speed = np.gradient(p.middle(run)[:, 0], run.t)
    beat = slice(-1 - round(p.PERIOD / p.STEP), -1)
    push = force[:, beat, 0].sum(axis=0).mean()
    gained = mass * (speed[beat][-1] - speed[beat][0]) / p.PERIOD
    assert push == pytest.approx(
        p.MUD * p.LENGTH * speed[beat].mean() + gained, rel=0.03
    )  # read at steps, while it rattles
    assert push < -0.1  # [N], against x: forward
    assert np.all(run.exerted(run.robot.loads[-1]).force[:, 2] == 0.0)
