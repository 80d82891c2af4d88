"""A tendon pulls and cannot push: negative tensions are refused at the doors, not inside."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.model.model import Model


@pytest.fixture(scope="module")
def robot():
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000), ag.planar(2)), at=robot.ground, name="arm")
    robot.actuate("air", ag.Chamber(arm, ag.parallel(y=-0.004), area=1e-5))
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.006)))
    return robot


WORDS = r"'pull' .* -2 N at t = {} s.*cannot push"


def test_statics_refuses(robot):
    with pytest.raises(ag.DescriptionError, match=WORDS.format("0")):
        ag.statics(robot, inputs={"pull": -2.0})
    with pytest.raises(ag.DescriptionError, match=WORDS.format(r"0\.5")):
        ag.statics(robot, inputs={"pull": lambda t: -4.0 * t}, t=0.5)


def test_simulate_refuses_at_the_instant(robot):
    with pytest.raises(ag.DescriptionError, match=WORDS.format("0")):
        ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pull": -2.0})
    with pytest.raises(ag.DescriptionError, match=r"tension -2 N at t = 0\.0[56]\d* s"):
        ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pull": lambda t: 1.0 if t < 0.051 else -2.0})


def test_steps_and_batches_refuse(robot):
    with pytest.raises(ag.DescriptionError, match=WORDS.format("0")):
        ag.Stepper(robot, dt=0.01, inputs={"pull": -2.0})
    stepper = ag.Stepper(robot, dt=0.01, inputs={"pull": 2.0})
    stepper.step(2)
    with pytest.raises(ag.DescriptionError, match="cannot push"):
        stepper.step(1, {"pull": -2.0})
    assert stepper.inputs == {"pull": 2.0}, "the one before"
    stepper.step()
    with pytest.raises(ag.DescriptionError, match="cannot push"):
        ag.simulate_batch(robot, duration=0.02, dt=0.01, inputs=[{"pull": 1.0}, {"pull": -2.0}], threads=1)


def test_shooting_refuses(robot):
    with pytest.raises(ag.DescriptionError, match="cannot push"):
        ag.shooting.statics(robot, inputs={"pull": -2.0})


def test_suction_and_rounding_pass(robot):
    assert ag.statics(robot, inputs={"air": -1000.0}).status.success
    run = ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pull": lambda t: 5.0 * np.sin(10 * np.pi * t)})
    assert run.status.success


def test_matrices_and_ramps_before_the_start_are_no_doors(robot):
    """A ramp is negative before t = 0, where starts look; a matrix is a number of the model."""
    ag.simulate(robot, duration=0.05, dt=0.01, inputs={"pull": lambda t: 10.0 * t})
    q = np.zeros(2)
    odd = [Model(robot).residual(q, inputs={"pull": s}) - Model(robot).residual(q, inputs={}) for s in (2.0, -2.0)]
    np.testing.assert_allclose(odd[0], -odd[1], atol=1e-12)


def test_a_push_rod_pushes(robot):
    """On the other side of a straight rod, a push is the mirror image of a pull."""

    def bent(pushes, y, tension):
        robot = ag.Robot("arm", gravity=(0, 0, 0))
        arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000), ag.planar(2)), at=robot.ground)
        robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=y), pushes=pushes))
        return ag.statics(robot, inputs={"pull": tension}).position(arm.tip), robot

    pull, plain = bent(False, 0.006, 1.0)
    push, rod = bent(True, -0.006, -1.0)
    assert abs(pull[1]) > 0.01
    np.testing.assert_allclose(push[1], pull[1], rtol=0.05)  # one pulls the rod short of buckling, the other does not
    assert plain.actuators["pull"].lowest == 0.0 and rod.actuators["pull"].lowest == -np.inf
    assert ag.control.input_limits(rod)[0] == [-np.inf] and ag.control.input_limits(plain)[0] == [0.0]
    ag.Stepper(rod, dt=0.01, inputs={"pull": -1.0}).step()
    assert ag.control.RodModel(rod, {}).limits()[0] == [-np.inf]
    with pytest.raises(ag.DescriptionError, match="pushes is for tensions"):
        ag.Tendon(rod.parts[0], ag.parallel(y=0.01), by="length", pushes=True)


def test_motions_are_planned_without_pushing():
    """The best tension is negative; the plan stays at zero instead of failing on the way."""
    robot = ag.Robot("arm", gravity=(0, 0, 0))
    rod = ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000, damping=0.01), ag.planar(2))
    arm = robot.add(rod, at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.006)))
    away = ag.Reach(arm.tip, (0.3, -0.05, 0.0))
    plan = ag.optimise_motion(robot, away, duration=0.1, dt=0.01, inputs={"pull": 0.5}, knots=3)
    assert np.all(plan.inputs["pull"] >= 0.0)
