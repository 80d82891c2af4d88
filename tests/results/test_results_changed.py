"""A result belongs to the robot as it was: what is done to the robot afterwards does not change it."""

import numpy as np
import pytest

import anguilla as ag


def arm():
    robot = ag.Robot("arm")
    material = ag.Material(young=1e6, density=1000.0, poisson=0.45, damping=0.01)
    return robot, robot.add(ag.Rod(0.3, ag.Circle(0.01), material, ag.planar(2)), at=robot.ground, name="arm")


def readings(result, rod):
    frames = rod.tip, rod.section(0.1), rod.tip.offset_by((0.0, 0.01, 0.0))
    of_frames = [f(frame) for frame in frames for f in (result.position, result.pose, result.twist, result.jacobian)]
    return [*of_frames, result.centerline(rod), result.wrench(rod, 0.1), result.mass]


@pytest.mark.parametrize("solve", [ag.statics, lambda robot: ag.simulate(robot, duration=0.02, dt=0.01)])
@pytest.mark.parametrize("length", [0.2, 0.5], ids=["shorter", "longer"])
def test_frames_of_a_result_stay_where_they_were(solve, length):
    robot, rod = arm()
    robot.load(ag.TipWrench(rod, force=(0.0, 0.5, 0.0)))
    result, same = solve(robot), solve(robot)
    before = readings(same, rod)
    rod.rod.length = length
    for one, other in zip(readings(result, rod), before, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.allclose(solve(robot).position(rod.tip), before[0])


def test_places_that_were_not_there_are_told():
    robot, rod = arm()
    result = ag.statics(robot)
    rod.rod.length = 0.5
    with pytest.raises(ag.DescriptionError, match=r"arm\[0\.4\] lies beyond the tip: the rod was 0\.3 m long"):
        result.position(rod.section(0.4))
    second = robot.add(rod.rod, at=rod.tip, name="second")
    for ask in (result.position, result.jacobian):
        with pytest.raises(ag.DescriptionError, match=r"second\.tip belongs to a part that was added after"):
            ask(second.tip)
    with pytest.raises(ag.DescriptionError, match="'second' was added after this was computed"):
        result.wrench(second)
