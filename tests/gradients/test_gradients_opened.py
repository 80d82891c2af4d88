"""Motions whose loops are open where the start is given: closing them moves softer parts more, which the design decides."""

import numpy as np
import pytest
from gradients_robots import LOOP, METHOD, OPEN, cost_at, differences, loop, motion

import anguilla as ag


def changed(key, x):
    return loop(LOOP | {key: LOOP[key] * x})


def moved(key, x):
    """The motion from a start with open loops, and its tip."""
    robot, tip = changed(key, x)
    run = motion(robot, OPEN, {"pull": 1.0}, events=[])
    return run, tip


@pytest.mark.parametrize("key", ["joint spring", "length", "base"])
def test_the_start_is_closed_again_for_every_design(key):
    run, tip = moved(key, 1.0)
    assert run.opened is not None
    cost, design = cost_at(tip), (lambda p: changed(key, p[0])[0], [1.0])

    def value(h):
        other, place = moved(key, 1.0 + h)
        return cost_at(place).terms(other)[0]

    right = differences(value, 1e-4)
    found = ag.gradient(run, cost, method=METHOD, design=design).design[0]
    np.testing.assert_allclose(found, right, rtol=1e-5)
    ahead = ag.sensitivities(run, method=METHOD, design=design)
    np.testing.assert_allclose(ahead.of(cost)[0], right, rtol=1e-5)
    if key == "joint spring":
        assert np.max(np.abs(ahead.q[0])) > 1e-6


def test_a_file_does_not_keep_an_open_start(tmp_path):
    run, tip = moved("length", 1.0)
    run.save(tmp_path / "run.nc")
    again = ag.load(tmp_path / "run.nc", robot=run.robot)
    with pytest.raises(ag.DescriptionError, match="simulate it again"):
        ag.gradient(again, cost_at(tip), design=(lambda p: changed("length", p[0])[0], [1.0]))


def test_a_stepper_knows_its_open_start():
    robot = changed("joint spring", 1.0)[0]
    stepper = ag.Stepper(robot, dt=5e-3, start=OPEN, inputs={"pull": 1.0}, history=True)
    stepper.step(2)
    assert stepper.trajectory().opened is not None
    start = stepper.trajectory().q[0]
    closed = ag.Stepper(robot, dt=5e-3, start=start, inputs={"pull": 1.0}, history=True)
    closed.step(2)
    assert closed.trajectory().opened is None
