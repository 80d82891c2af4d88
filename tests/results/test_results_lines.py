"""Lengths of tendons in many states, against the polygon through points of the line in space."""

import numpy as np

import anguilla as ag
from anguilla.results.base import Status
from anguilla.results.lines import LineLengths, cable_length


def _arm():
    robot = ag.Robot("arm")
    soft = ag.Material(young=1e6, poisson=0.4, density=1000)
    first = robot.add(ag.Rod(0.2, ag.Circle(0.01), soft, ag.reissner(2), intervals=24), at=robot.ground, name="first")
    second = robot.add(ag.Rod(0.15, ag.Circle(0.01), soft, ag.kirchhoff(2), intervals=24), at=first.tip, name="second")
    robot.actuate("straight", ag.Tendon([first, second], ag.parallel(y=0.006, z=-0.003)))
    robot.actuate("wound", ag.Tendon(first, ag.helical(0.007, pitch=0.13)))
    return robot, first, second


def _polygon(run, rod, routing):
    """Length (time,) of the polygon through points of a line."""
    X = np.linspace(0.0, rod.length, 201)
    frames = [rod.section(float(x)).offset_by(place) for x, place in zip(X, routing.offset(X), strict=True)]
    points = run.motion(frames)[:, :, 9:12]
    return np.sum(np.linalg.norm(np.diff(points, axis=1), axis=2), axis=1)


def test_lengths_are_those_of_the_lines_in_space():
    robot, first, second = _arm()
    chance = np.random.default_rng(3)
    model = ag.Model(robot)
    turning = ["bend" in label or "twist" in label for label in robot.coordinates()]
    q = chance.normal(size=(40, model.size)) * np.where(turning, 4.0, 0.05)
    states = np.arange(40.0), q, np.zeros_like(q)
    run = ag.Trajectory(robot, model, Status(True, "given"), *states)
    routings = ag.parallel(y=0.006, z=-0.003), ag.helical(0.007, pitch=0.13)
    straight = _polygon(run, first, routings[0]) + _polygon(run, second, routings[0])
    wound = _polygon(run, first, routings[1])
    assert np.ptp(straight) > 1e-3 and np.ptp(wound) > 1e-3
    np.testing.assert_allclose(run.lengths, np.stack([straight, wound], axis=1), rtol=2e-4)


def test_one_state_and_many_agree():
    robot, _, _ = _arm()
    model = ag.Model(robot)
    q = np.random.default_rng(4).normal(size=(3, model.size))
    lines = LineLengths(model)
    for k, name in enumerate(robot.actuators):
        length, gradient = cable_length(model, name, q)
        for row in range(3):
            one, slope = lines.at(q[row])
            np.testing.assert_allclose((length[row], *gradient[row]), (one[k], *slope[k]), rtol=1e-12, atol=1e-14)
