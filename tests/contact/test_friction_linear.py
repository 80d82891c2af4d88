"""Linear models about equilibria that friction holds: bristles are springs along the surface, not dampers."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla.solve.modes.few import Place

SPRING, STIFFNESS, MASS = 50.0, 1e4, 0.1
ALONG = 2 / 3 * STIFFNESS


def slider(part, friction=0.5):
    """A ball on a spring along a floor that it is pressed to by 10 N, with an input that pulls at it."""
    robot = ag.Robot("slider", gravity=(0, 0, 0))
    pull = robot.input("pull", "N", along=(1.0, 0.0, 0.0))
    sphere, slide = ag.RigidBody.sphere(0.02, mass=MASS), ag.Prismatic((1, 0, 0), stiffness=SPRING)
    body = robot.add(sphere, at=robot.ground, joint=slide, pose=(0, 0, 0.019), name="body")
    floor = robot.add(ag.HalfSpace(), at=robot.ground, name="floor") if part else ag.HalfSpace()
    robot.load(ag.Contact(body, floor, STIFFNESS, friction=friction, smooth=1e-9))
    robot.load(ag.Wrench(body.frame, force=pull))
    return robot


@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("pull", [0.0, 1.0, 4.9])
def test_what_friction_holds_is_on_a_spring(part, pull):
    """It crept, as on a damper."""
    robot = slider(part)
    eq = ag.statics(robot, inputs={"pull": pull})
    model, stiff = ag.linearise(robot, eq), SPRING + ALONG
    np.testing.assert_allclose(np.linalg.solve(-model.A, model.B)[0, 0], 1.0 / stiff, rtol=1e-9)
    np.testing.assert_allclose(model.local.C, 0.0, atol=1e-9)
    modes = ag.modes(robot, eq)
    np.testing.assert_allclose(modes.frequencies, np.sqrt(stiff / MASS) / (2.0 * np.pi), rtol=1e-9)
    np.testing.assert_allclose(modes.damping, 0.0, atol=1e-12)
    np.testing.assert_allclose(ag.stability(robot, eq).eigenvalues * robot_scale(robot) ** 2, stiff, rtol=1e-9)


def robot_scale(robot):
    return ag.Model(robot).tree.scale[0]


@pytest.mark.parametrize("part", [False, True])
def test_a_small_step_of_the_force_moves_it_as_the_linear_model_says(part):
    robot = slider(part)
    eq = ag.statics(robot, inputs={"pull": 1.0})
    run = ag.simulate(robot, duration=0.05, dt=2e-5, start=eq, inputs={"pull": 1.1})
    w = np.sqrt((SPRING + ALONG) / MASS)
    wave = 0.1 / (SPRING + ALONG) * (1.0 - np.cos(w * run.t))
    np.testing.assert_allclose(run.q[:, 0] - eq.q[0], wave, atol=0.05 * wave.max())
    model = ag.linearise(robot, eq, dt=2e-5, method=ag.Newmark())
    gain = np.linalg.solve(np.eye(len(model.A)) - model.A, model.B)[0, 0]
    np.testing.assert_allclose(gain, 1.0 / (SPRING + ALONG), rtol=1e-6)


@pytest.mark.parametrize("part", [False, True])
def test_sliding_and_no_friction_are_as_they_were(part):
    smooth = slider(part, 0.0)
    np.testing.assert_allclose(ag.linearise(smooth, ([0.0], [0.3])).local.K, SPRING, rtol=1e-12)
    sliding = ag.linearise(slider(part), ([0.0], [0.3])).local
    np.testing.assert_allclose(sliding.K, SPRING, rtol=1e-9)
    np.testing.assert_allclose(sliding.C, 0.0, atol=1e-9)


@pytest.mark.parametrize("part", [False, True])
def test_a_block_on_a_floor_is_held_in_all_directions(part):
    """It was neutral in three. Twisting about the vertical axis bends four bristles at the corners."""
    robot = ag.Robot("block")
    body = ag.RigidBody.box((0.1, 0.1, 0.05), mass=0.5)
    body = robot.add(body, at=robot.ground, joint=ag.Free(), pose=(0, 0, 0.0249), name="body")
    floor = robot.add(ag.HalfSpace(), at=robot.ground, name="floor") if part else ag.HalfSpace()
    robot.load(ag.Contact(body, floor, 5e3, friction=0.5, damping=2.0))
    eq = ag.statics(robot)
    found = ag.stability(robot, eq)
    assert found.stable
    assert found.neutral == 0
    twist = np.sqrt(4 * 2 / 3 * 5e3 * 2 * 0.05**2 / (0.5 * 0.1**2 / 6)) / (2.0 * np.pi)
    assert np.min(np.abs(ag.modes(robot, eq).frequencies - twist)) < 1e-6 * twist


@pytest.mark.parametrize("part", [False, True])
def test_a_few_modes_of_a_large_robot_know_it_too(part):
    rubber = ag.Material(1e6, 1000.0, poisson=0.45)
    robot = ag.Robot("large")
    floor = ag.HalfSpace((0, 0, 1), -0.03)
    floor = robot.add(floor, at=robot.ground, name="floor") if part else floor
    at = robot.ground
    for k in range(12):
        arm = robot.add(ag.Rod(0.05, ag.Circle(0.01), rubber, ag.kirchhoff(2), intervals=2), at=at, name=f"arm{k}")
        at = arm.tip
    robot.load(ag.Contact(arm, floor, 500.0, friction=0.5))
    model = ag.Model(robot, linear="sparse" if part else "tree")
    eq = ag.statics(model)
    few, every = ag.modes(model, eq, count=3), ag.modes(model, eq)
    assert isinstance(few.local, Place)
    np.testing.assert_allclose(few.frequencies, every.frequencies[:3], rtol=1e-6)
    robot.loads[0].friction = 0.0
    assert ag.modes(robot, count=1).frequencies[0] < 0.9 * few.frequencies[0]
