"""The explicit method shortens the steps in which a stage went astray."""

import numpy as np
import pytest

import anguilla as ag


@pytest.mark.parametrize(("young", "span"), [(1e6, 0.05), (1e7, 0.02)])
def test_a_first_step_that_is_too_long_is_shortened(young, span):
    robot = ag.Robot("beam")
    material = ag.Material(young, 1000, poisson=0.3, damping=1e-4)
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), material, ag.reissner(2)), at=robot.ground)
    explicit = ag.simulate_explicit(robot, duration=span, dt=span)
    implicit = ag.simulate(robot, duration=span, dt=span / 2000)
    sunk = explicit.position(arm.tip)[-1]
    np.testing.assert_allclose(sunk, implicit.position(arm.tip)[-1], rtol=0, atol=1e-4 * abs(sunk[2]))
