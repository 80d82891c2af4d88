"""Robots with soft volumes step by step and in batches: the same states as whole motions."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.errors import DescriptionError

SOFT = ag.Material(young=1e6, poisson=0.3, density=1000.0, damping=1e-3)


@pytest.fixture(scope="module")
def arm() -> tuple[ag.Robot, ag.Frame]:
    """A rod with a tendon, and a soft pad with another at its end."""
    robot = ag.Robot("arm")
    rod = robot.add(ag.Rod(0.05, ag.Circle(radius=0.005), SOFT, strains=ag.kirchhoff(2)), at=robot.ground, name="rod")
    robot.actuate("line", ag.Tendon(rod, ag.parallel(y=0.003)))
    pad = ag.Volume(fem.block((0.03, 0.01, 0.01), (2, 1, 1)), SOFT, name="pad")
    pad.actuate("pull", fem.Tendon([(0.0, 0.004, 0.0), (0.03, 0.004, 0.0)]))
    end = robot.add(pad, at=rod.tip, patch="base").frame("end", "tip")
    robot.sense("tip", ag.sensors.Position(end))
    return robot, end


def test_steps_give_the_states_of_a_whole_motion(arm):
    robot, end = arm
    inputs = {"line": 0.1, "pad.pull": 0.2}
    run = ag.simulate(robot, duration=0.02, dt=2e-3, inputs=inputs, events=[])
    stepper = ag.Stepper(robot, dt=2e-3, inputs=inputs, history=True)
    stepper.step(4)
    ag.statics(robot)  # somebody else uses the solvers of its volumes
    stepper.step(6)
    assert np.abs(stepper.q - run.q[-1]).max() < 1e-9 * np.abs(run.q).max()
    assert np.allclose(stepper.position(end), run.position(end)[-1], rtol=0, atol=1e-10)
    assert np.allclose(stepper.read("tip"), run.position(end)[-1], rtol=0, atol=1e-10)
    assert np.allclose(stepper.volume("pad").x[0], run.volume("pad").x[-1], rtol=0, atol=1e-10)
    kept = stepper.trajectory()
    assert np.allclose(kept.t, run.t) and np.allclose(kept.v, run.v, atol=1e-7)
    assert np.allclose(kept.energy["total"], run.energy["total"], rtol=1e-9)
    stepper.reset()
    assert stepper.t == 0.0
    stepper.step(10)
    assert np.abs(stepper.q - run.q[-1]).max() < 1e-9 * np.abs(run.q).max()


def test_inputs_change_between_steps(arm):
    robot, _ = arm
    stepper = ag.Stepper(robot, dt=2e-3, history=True)
    for k in range(5):
        stepper.step({"pad.pull": 0.1 * (k + 1)})
    run = ag.simulate(robot, duration=0.01, dt=2e-3, inputs={"pad.pull": lambda t: 0.1 * t / 2e-3}, events=[])
    assert np.allclose(stepper.q, run.q[-1], rtol=0, atol=1e-10)
    assert stepper.trajectory().volume("pad").inputs["pull"](4e-3) == pytest.approx(0.2)
    with pytest.raises(DescriptionError, match=r"no input .push.; there are: line, pad\.pull"):
        stepper.step({"push": 1.0})


def test_a_negative_tension_is_slack(arm):
    """As in `ag.Stepper` of rods alone: told once, and the same as no tension."""
    robot, _ = arm
    slack, loose = (ag.Stepper(robot, dt=0.002) for _ in range(2))
    loose.step({"line": 0.0})
    with pytest.warns(ag.AnguillaWarning, match="'line' is -1 N"):
        slack.step({"line": -1.0})
    slack.step({"line": -2.0})
    loose.step()
    np.testing.assert_allclose(slack.q, loose.q, atol=1e-9)  # they take turns at the factors: the tolerance of Newton
    pushed = ag.Stepper(robot, dt=0.002)
    pushed.step(2, {"line": 1.0})
    assert np.abs(pushed.q - loose.q).max() > 1e-3


def test_batches_are_the_motions_one_by_one(arm):
    robot, end = arm
    inputs = [{"pad.pull": pull} for pull in (0.0, 0.2, 0.4)]
    runs = ag.simulate_batch(robot, duration=0.01, dt=2e-3, inputs=inputs, threads=2)
    for given, run in zip(inputs, runs, strict=True):
        alone = ag.simulate(robot, duration=0.01, dt=2e-3, inputs=given)
        assert np.allclose(run.position(end), alone.position(end), rtol=0, atol=1e-12)


def test_accelerometers_feel_contact():
    """What a box on a soft mat feels is the force of the mat over its mass, at each step."""
    robot = ag.Robot("mat")
    soft = ag.Material(young=1e5, poisson=0.3, density=1000.0, damping=5e-3)
    mat = ag.Volume(fem.block((0.06, 0.06, 0.02), (2, 2, 1)), soft, name="mat")
    mat = robot.add(mat, at=robot.ground, patch=lambda x: x[:, 2] < -0.01 + 1e-9)
    pose = np.eye(4)
    pose[:3, 3] = 0.03, 0.002, 0.0201
    box = ag.RigidBody.box((0.04, 0.04, 0.02), mass=0.2)
    box = robot.add(box, at=robot.ground, joint=ag.Free(), pose=pose, name="box")
    contact = robot.load(ag.Contact(mat, box, friction=0.5, damping=1.0))
    robot.sense("felt", ag.sensors.Accelerometer(box.frame))
    stepper = ag.Stepper(robot, dt=2e-3, method=ag.GeneralisedAlpha(0.5))
    hardest = 0.0
    for _ in range(20):
        stepper.step()
        now = stepper.result()
        force = now.contacts(contact).force[0]
        R = now.pose(box.frame)[0, :3, :3]
        np.testing.assert_allclose(stepper.read("felt"), R.T @ force / 0.2, atol=1e-4)
        hardest = max(hardest, force[2])
    assert hardest > 0.2 * 9.81 * 1.5  # it came down hard
