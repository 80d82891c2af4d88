"""The gripper: the ball is carried by the fingers, does not creep, and slips with little friction."""

import numpy as np
import pytest

pytestmark = pytest.mark.xdist_group("gripper")


@pytest.fixture(scope="module")
def gripper(example):
    return example("gripper")


def held(run, p):
    return np.flatnonzero((run.t > p.TWIST[1] + 1.0) & (run.t < p.RELEASE[0]))


def test_the_ball_is_lifted_turned_and_released(gripper):
    p, run = gripper.module, gripper.result.runs[0]
    ball = run.robot.part("ball")
    height, at = run.position(ball.frame)[:, 2], held(run, p)
    assert abs(height[at[0]] - p.BALL - p.LIFT) < 0.05 * p.BALL  # the fingers raise it a little as they close
    turned = run.pose(ball.frame)[at[0]]
    angle = np.arctan2(turned[1, 0], turned[0, 0])
    assert angle == pytest.approx(p.TURN, rel=0.03)  # some points slip a little while the palm turns
    assert abs(height[-1] - p.BALL) < 0.02 * p.BALL  # on the table again
    assert abs(np.hypot(*run.position(ball.frame)[at[0], :2])) < 1e-9  # the three pull evenly


def test_it_does_not_creep(gripper):
    """Less than 1e-6 of its size in 10 s, when the swing of the turn has died down."""
    p, run = gripper.module, gripper.result.runs[0]
    height = run.position(run.robot.part("ball").frame)[held(run, p)[-250:], 2]
    assert abs(height[-50:].mean() - height[:50].mean()) < 1e-6 * 2 * p.BALL / 10.0 * 250 * p.STEP


def test_the_fingers_carry_its_weight(gripper):
    p, run, forces = gripper.module, gripper.result.runs[0], gripper.result.forces
    total = forces.sum(axis=0)[held(run, p)[-1]]
    np.testing.assert_allclose(total, [0.0, 0.0, 9.81 * p.MASS], atol=1e-6 * 9.81 * p.MASS)


def test_a_tenth_of_the_friction_lets_it_slip(gripper):
    p, run = gripper.module, gripper.result.runs[1]
    assert run.position(run.robot.part("ball").frame)[:, 2].max() < 1.1 * p.BALL
