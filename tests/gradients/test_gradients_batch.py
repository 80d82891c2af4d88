"""Batches: the same motions as one by one, to the last bit, whatever the order and number of threads."""

import numpy as np
import pytest
from gradients_robots import ROBOTS, shape

import anguilla as ag


def arm(young=1e6):
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))
    material = ag.Material(young=young, poisson=0.4, density=1000, damping=0.01)
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.02), material, ag.kirchhoff(2), intervals=4), at=robot.ground)
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.01)))
    return robot


def test_a_batch_equals_its_motions_one_by_one():
    robot = arm()
    pulls = [{"pull": 0.3 * k} for k in range(9)]
    batch = ag.simulate_batch(robot, duration=0.2, dt=0.01, inputs=pulls, threads=3)
    for inputs, run in zip(pulls, batch, strict=True):
        alone = ag.simulate(robot, duration=0.2, dt=0.01, inputs=inputs)
        np.testing.assert_array_equal(run.q, alone.q)
        assert run.status.success


@pytest.mark.parametrize("name", ["loop", "swimmer"])
def test_loops_and_integrals_are_their_own(name):
    """Copies share the compiled robot, but neither multipliers nor integrals of thrusters."""
    robot, _ = ROBOTS[name][0](ROBOTS[name][1])
    start = shape(robot)
    pulls = [{"pull": float(k)} for k in range(4)]
    batch = ag.simulate_batch(robot, duration=0.1, dt=0.01, inputs=pulls, starts=[start] * 4, threads=2)
    for inputs, run in zip(pulls, batch, strict=True):
        alone = ag.simulate(robot, duration=0.1, dt=0.01, inputs=inputs, start=start)
        np.testing.assert_array_equal(run.q, alone.q)
        np.testing.assert_array_equal(run.multipliers, alone.multipliers)


def test_starts_and_parameters():
    starts = [0.1 * k * np.ones(6) for k in range(3)]
    batch = ag.simulate_batch(arm, duration=0.1, dt=0.01, starts=starts, parameters=[1e6, 2e6, 4e6])
    for k, run in enumerate(batch):
        alone = ag.simulate(arm((1e6, 2e6, 4e6)[k]), duration=0.1, dt=0.01, start=starts[k])
        np.testing.assert_array_equal(run.q, alone.q)


def test_one_that_fails_leaves_the_others_alone():
    bad = lambda t: 0.1 if t < 0.05 else 1e308
    batch = ag.simulate_batch(arm(), duration=0.1, dt=0.01, inputs=[{"pull": 1.0}, {"pull": bad}, {"pull": 2.0}])
    assert [run.status.success for run in batch] == [True, False, True]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "nothing says it"),
        ({"inputs": [{}] * 2, "starts": [None] * 3}, "inputs has 2, starts has 3"),
        ({"parameters": [1.0]}, "robot must be a function"),
    ],
)
def test_doors(options, text):
    with pytest.raises(ag.DescriptionError, match=text):
        ag.simulate_batch(arm(), duration=0.1, dt=0.01, **options)


@pytest.mark.parametrize("inputs", [{"pull": 1.0}, 3.0])
def test_inputs_of_a_batch_are_a_list(inputs):
    robot = ag.Robot("arm")
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(3e6, 1100), ag.planar(2)), at=robot.ground)
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.005)))
    with pytest.raises(ag.DescriptionError, match="a list with one entry for each copy"):
        ag.simulate_batch(robot, duration=0.1, dt=0.01, inputs=inputs)
