"""The robot in a lumen: it stays inside, and the work of the hand is accounted for."""

import numpy as np
import pytest

import anguilla as ag

pytestmark = pytest.mark.xdist_group("lumen")


@pytest.fixture(scope="module")
def lumen(example):
    return example("lumen")


def test_the_robot_follows_the_lumen(lumen):
    result, p = lumen.result, lumen.module
    places = np.linspace(0, len(result.line) - 1, 4000)
    line = np.stack([np.interp(places, np.arange(len(result.line)), x) for x in result.line.T], axis=1)
    for run in result.runs:
        part = run.robot.part("wire")
        shape = run.centerline(part, 60)[-1]
        away = np.linalg.norm(shape[:, None] - line, axis=2).min(axis=1)
        assert away.max() < p.BORE - 0.85 * p.RADIUS  # it sinks in by less than 15 % of its radius
        tip = run.position(part.tip)[-1]
        assert tip[2] > 0.8 * result.line[-1, 2]  # around the first bend, and in the second one
        assert all(run.depth(load).max() < 0.25 * p.RADIUS for load in run.robot.loads)


def test_the_work_of_the_hand_is_kept_or_damped(lumen):
    """Slowly and without friction most of it is found again as energy; powers balance with friction too."""
    result = lumen.result
    kept = result.runs[0].energy["elastic"][-1]
    assert 0.8 * result.work[-1] < kept < 1.001 * result.work[-1]
    powers = ag.powers(result.runs[1])
    assert np.abs(powers.imbalance[2:]).max() < 1e-3 * np.abs(powers.motors).max()


def test_friction_asks_for_more_push(lumen):
    plain, rubbed = lumen.result.push
    inside = lumen.result.way > 0.07
    assert np.all(rubbed[inside][:-5] > plain[inside][:-5])
    assert 1.5 < rubbed.max() / plain.max() < 3.0
