"""Batches of large robots: threads share a model, each with a solver of its own."""

import numpy as np
import pytest

import anguilla as ag


def ladder(young=2e6, count=6):
    """Two arms of rods with rungs closed onto the second: a small net."""
    robot = ag.Robot("ladder")
    rod = ag.Rod(0.1, ag.Circle(4e-3), ag.Material(young, 1000.0, damping=0.02), ag.kirchhoff(1), intervals=2)
    sides = [robot.ground, robot.ground.offset_by((0.0, 0.1, 0.0))]
    for _ in range(count):
        sides = [robot.add(rod, at=side).tip for side in sides]
        rung = robot.add(ag.RigidBody.box((0.02, 0.1, 0.01), mass=5e-3), at=sides[0], joint=ag.Spherical())
        robot.load(ag.Spring(rung.at((0.0, 0.1, 0.0)), sides[1], 50.0, damping=0.1))
    robot.close(sides[0], sides[1], joint=ag.Spherical(), pose=(0.0, 0.1, 0.0))
    return robot


def arm(young=2e6, count=8):
    robot = ag.Robot("arm")
    at, rod = (
        robot.ground,
        ag.Rod(0.1, ag.Circle(4e-3), ag.Material(young, 1000.0, damping=0.02), ag.kirchhoff(1), intervals=2),
    )
    for _ in range(count):
        at = robot.add(rod, at=at).tip
    return robot


@pytest.mark.parametrize(("make", "way"), [(arm, "tree"), (arm, "sparse"), (ladder, "sparse")])
def test_threads_give_what_each_motion_gives_alone(make, way):
    model = ag.Model(make(), linear=way)
    rng = np.random.default_rng(4)
    rates = 0.2 * rng.normal(size=(6, model.size)) / model.tree.scale
    zero = np.zeros(model.size)
    starts = [(zero, ag.forward_dynamics(model, zero, v).v) for v in rates]  # that keep the constraints
    options = {"duration": 0.05, "dt": 0.005}
    together = ag.simulate_batch(model, starts=starts, threads=3, **options)
    for start, run in zip(starts, together, strict=True):
        alone = ag.simulate(model, start=start, **options)
        assert run.status.success
        np.testing.assert_array_equal(run.q, alone.q)
        np.testing.assert_array_equal(run.multipliers, alone.multipliers)


def test_a_batch_over_designs_chooses_its_linear_algebra_for_each():
    sizes = [2, 12]
    runs = ag.simulate_batch(lambda count: arm(count=count), parameters=sizes, duration=0.02, dt=0.005, threads=2)
    assert [run.system.linear for run in runs] == ["dense", "dense"]
    runs = ag.simulate_batch(lambda count: arm(count=count), parameters=[25], duration=0.02, dt=0.005, threads=2)
    assert runs[0].system.linear == "tree" and runs[0].status.success
