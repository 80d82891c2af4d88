"""Adjoint gradients through friction that holds, against differences of whole simulations."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import anguilla as ag
from anguilla.lie import exp3, pose

MASS, TILT, GOAL = 0.05, 0.2, np.array([0.01, 0.02, 0.03])
DESIGN = np.array([2e3, 0.5, MASS])  # stiffness, friction, mass


def block(p=DESIGN, parts=False, ball=False, turning=0.0):
    """A block or a ball on a slope, fixed in space or a body that may turn, pushed aside by an input."""
    robot = ag.Robot("block")
    push = robot.input("push", "N", along=(1.0, 0.2, 0.0))
    slope, axes = ag.HalfSpace((np.sin(TILT), 0.0, np.cos(TILT))), exp3((0.0, TILT, 0.0))
    body = ag.RigidBody.sphere(0.02, mass=p[2]) if ball else ag.RigidBody.box((0.04, 0.03, 0.02), mass=p[2])
    height = 0.02 - 2.95e-4 if ball else 0.01 - 1.1e-4  # as deep as it sinks in
    free = robot.add(body, at=robot.ground, joint=ag.Free(), pose=pose(axes, axes @ np.array([0.0, 0.0, height])))
    robot.load(ag.Wrench(free.at((0.0, 0.003, 0.004)), force=push))
    if parts:
        turn = ag.Revolute((np.sin(TILT), 0, np.cos(TILT)), motion=lambda t: turning * t * t)
        slope = robot.add(slope, at=robot.ground, joint=turn)
    robot.load(ag.Contact(free, slope, p[0], friction=p[1], damping=1.0, smooth=1e-4))
    return robot


def pushed(robot, size, more=0.0):
    """The robot after 60 steps."""
    push = lambda t: size * np.sin(40.0 * t) + more * np.cos(30.0 * t)
    return ag.simulate(robot, duration=0.03, dt=5e-4, inputs={"push": push}, events=[], smooth_start=False)


def reach(run):
    free = run.robot.parts[0]
    return ag.Reach(free.at((0.01, 0.0, 0.0)), GOAL)


@pytest.mark.parametrize("size", [0.05, 0.6], ids=["holds", "slips"])
@pytest.mark.parametrize(
    "kind",
    [{}, {"ball": True}, {"parts": True}, {"parts": True, "turning": 40.0}],
    ids=["box", "ball", "parts", "turns"],
)
def test_bristles_carry_gradients_back(kind, size):
    run = pushed(block(**kind), size)
    found = ag.gradient(run, reach(run), design=(lambda p: block(p, **kind), DESIGN))
    value = lambda run: reach(run).terms(run)[0]
    h = 1e-5
    slope = (value(pushed(block(**kind), size, h)) - value(pushed(block(**kind), size, -h))) / (2.0 * h)
    assert found.inputs["push"] @ np.cos(30.0 * run.t) == pytest.approx(slope, rel=1e-6)
    for k, h in enumerate((1e-2, 1e-6, 1e-8)):
        step = h * np.eye(3)[k]
        slope = (
            value(pushed(block(DESIGN + step, **kind), size)) - value(pushed(block(DESIGN - step, **kind), size))
        ) / (2.0 * h)
        assert found.design[k] == pytest.approx(slope, rel=2e-6, abs=1e-12)


def example():
    path = Path(__file__).parents[2] / "examples" / "gripper.py"
    spec = importlib.util.spec_from_file_location("gripper_example", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
