"""Statics of a robot whose motion is prescribed as a function of time: at rest, however the motion goes on."""

import numpy as np
import pytest

import anguilla as ag


def test_an_equilibrium_has_no_centrifugal_force():
    robot = ag.Robot("crane", gravity=(0, -9.81, 0))
    turn = ag.Revolute((0, 0, 1), motion=lambda t: 5.0 * t)
    arm = robot.add(ag.RigidBody(1.0, inertia=0.01 * np.eye(3)), at=robot.ground, joint=turn)
    flap = ag.RigidBody(0.5, inertia=0.01 * np.eye(3), com=(0.2, 0, 0))
    robot.add(flap, at=arm.at((0.6, 0, 0)), joint=ag.Revolute((0, 0, 1), stiffness=3.0))
    q = ag.statics(robot, t=0.1).q
    assert q[0] == pytest.approx(0.5)
    assert 3.0 * q[1] == pytest.approx(-0.5 * 9.81 * 0.2 * np.cos(q[0] + q[1]), rel=1e-9)
