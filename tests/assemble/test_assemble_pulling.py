"""A tendon pulls and cannot push: a negative number is refused at the doors; functions and commands leave it slack."""

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


def test_motions_steps_and_batches_refuse_numbers(robot):
    with pytest.raises(ag.DescriptionError, match=WORDS.format("0")):
        ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pull": -2.0})
    with pytest.raises(ag.DescriptionError, match=WORDS.format("0")):
        ag.Stepper(robot, dt=0.01, inputs={"pull": -2.0})
    with pytest.raises(ag.DescriptionError, match=WORDS.format("0")):
        ag.BatchStepper(robot, 2, dt=0.01, inputs={"pull": -2.0}, threads=1)
    with pytest.raises(ag.DescriptionError, match="cannot push"):
        ag.simulate_batch(robot, duration=0.02, dt=0.01, inputs=[{"pull": 1.0}, {"pull": -2.0}], threads=1)


def slack(told, when):
    """Exactly one warning, beside that of two modes, which names the tendon, the instant and the remedy."""
    told = [one for one in told if "too few modes" not in str(one.message)]
    assert len(told) == 1, [str(one.message) for one in told]
    words = str(told[0].message)
    assert "'pull'" in words and when in words and "slack" in words and "max(0, ...)" in words


def wave(t):
    return 2.0 * np.cos(30.0 * t)


def cut(t):
    return max(0.0, wave(t))


def test_statics_and_branches_are_slack_below_zero(robot):
    free = ag.statics(robot)
    with pytest.warns(ag.AnguillaWarning) as told:
        found = ag.statics(robot, inputs={"pull": lambda t: -4.0 * t}, t=0.5)
    slack(told, "-2 N at t = 0.5 s")
    np.testing.assert_array_equal(found.q, free.q)
    assert found.tension("pull") == 0.0
    with pytest.warns(ag.AnguillaWarning) as told:
        path = ag.trace(robot, inputs={"pull": lambda t: -t}, factors=(0.0, 1.0))
    slack(told, "N at t = ")
    np.testing.assert_allclose(path.q, np.tile(free.q, (len(path.q), 1)), atol=1e-9)
    with pytest.warns(ag.AnguillaWarning) as told:
        far = ag.shooting.statics(robot, inputs={"pull": lambda t: -4.0 * t}, t=0.5)
    slack(told, "-2 N at t = 0.5 s")
    np.testing.assert_array_equal(
        far.position(robot.parts[0].tip), ag.shooting.statics(robot).position(robot.parts[0].tip)
    )


def test_a_motion_is_slack_below_zero(robot):
    """The same bits as with max(0, ...), in states, tensions and after a file; the warning comes with every run."""
    given = {"duration": 0.2, "dt": 0.01}
    right = ag.simulate(robot, inputs={"pull": cut}, **given)
    for _ in range(2):
        with pytest.warns(ag.AnguillaWarning) as told:
            run = ag.simulate(robot, inputs={"pull": wave}, **given)
        slack(told, "at t = 0.06 s")
        np.testing.assert_array_equal(run.q, right.q)
    assert np.abs(run.q[-1]).max() > 0.1, "it moves"
    np.testing.assert_array_equal(run.tension("pull"), right.tension("pull"))
    assert run.tension("pull").min() == 0.0 < run.tension("pull").max()


def test_steps_and_copies_are_slack_below_zero(robot):
    """Commanded step by step: each the bits of a Stepper that is told max(0, ...); told once."""
    at = 0.01 * np.arange(1, 13)

    def stepped(command):
        stepper = ag.Stepper(robot, dt=0.01, inputs={"pull": 2.0})
        for t in at:
            stepper.step(1, {"pull": command(t)})
        return stepper

    right = stepped(cut)
    with pytest.warns(ag.AnguillaWarning) as told:
        stepper = stepped(wave)
    slack(told, "at t = 0.05 s")
    np.testing.assert_array_equal(stepper.q, right.q)
    assert stepper.commands["pull"] < 0.0 == stepper.inputs["pull"]
    copies = ag.BatchStepper(robot, 2, dt=0.01, inputs={"pull": 2.0}, threads=1)
    with pytest.warns(ag.AnguillaWarning) as told:
        for t in at:
            copies.step({"pull": [2.0, wave(t)]})
    slack(told, "in copy 1 at t = 0.05 s")
    np.testing.assert_array_equal(copies.q[1], right.q)
    with pytest.warns(ag.AnguillaWarning, match="slack"):
        stepper = ag.Stepper(robot, dt=0.01)
        stepper.set_inputs({"pull": -1.0})
    stepper.reset()
    stepper.step()
    assert stepper.inputs == {"pull": 0.0}


def test_drives_may_wind_below_zero():
    """A drive follows a negative command; the tendon is slack meanwhile, in steps, copies and motions alike."""
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000), ag.planar(2)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.006)))
    robot.drive("pull", ag.Drive(lag=0.02))
    stepper, copies = (
        ag.Stepper(robot, dt=0.01, inputs={"pull": 1.0}),
        ag.BatchStepper(robot, 1, dt=0.01, inputs={"pull": 1.0}),
    )
    with pytest.warns(ag.AnguillaWarning) as told:
        for k in range(1, 16):
            stepper.step(1, {"pull": wave(0.01 * k)})
    slack(told, "at t = 0.")
    with pytest.warns(ag.AnguillaWarning, match="slack"):
        for k in range(1, 16):
            copies.step({"pull": wave(0.01 * k)})
    np.testing.assert_array_equal(copies.q[0], stepper.q)
    with pytest.warns(ag.AnguillaWarning, match="slack"):
        run = ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pull": lambda t: 1.0 - 40.0 * t})
    assert run.tension("pull").min() == 0.0
    with pytest.warns(ag.AnguillaWarning, match="slack"):
        assert ag.statics(robot, inputs={"pull": lambda t: -1.0}).inputs == {"pull": 0.0}


def test_slack_tendons_have_no_slopes(robot):
    """By differences: where a sample is negative, the motion does not depend on it."""
    arm, dt, samples = robot.parts[0], 0.01, np.array([1.0, 0.6, -0.5, -1.0, 0.4, 0.8])
    cost = ag.Reach(arm.tip, (0.2, 0.1, 0.0))

    def run(values):
        given = {"pull": ag.Sampled(values, dt)}
        return ag.simulate(robot, duration=0.05, dt=dt, inputs=given, tolerance=1e-12, events=[])

    with pytest.warns(ag.AnguillaWarning, match="slack"):
        motion = run(samples)
        found = ag.gradient(motion, cost).inputs["pull"]
        changes = ag.sensitivities(motion, inputs={"pull": np.eye(6)}).q[-1]
        slopes = [(cost.terms(run(samples + h))[0] - cost.terms(run(samples - h))[0]) / 2e-4 for h in 1e-4 * np.eye(6)]
    assert found[2] == found[3] == 0.0 and not changes[:, 2:4].any() and np.abs(found[4]) > 0.0
    np.testing.assert_allclose(found, slopes, rtol=1e-4, atol=1e-7 * np.abs(slopes).max())


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


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.AnguillaWarning")
def test_tendons_of_rods_and_volumes_of_one_robot_are_slack_below_zero():
    robot = ag.Robot("hand")
    rubber = ag.Material(1e6, 1000, poisson=0.3)
    arm = robot.add(ag.Rod(0.1, ag.Circle(0.01), rubber, ag.planar(2)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.006)))
    pad = ag.Volume(ag.fem.block((0.04, 0.01, 0.01), (4, 1, 1)), rubber)
    pad.actuate("string", ag.fem.Tendon([(0.0, 0.0, 0.004), (0.04, 0.0, 0.004)]))
    robot.add(pad, at=arm.tip, patch="base", name="pad")

    def run(function):
        return ag.simulate(
            robot, duration=0.1, dt=0.01, inputs={"pull": function, "pad.string": lambda t: function(t + 0.02)}
        )

    right = run(cut)
    with pytest.warns(ag.AnguillaWarning) as told:
        found = run(wave)
    words = sorted(str(one.message) for one in told if "slack" in str(one.message))
    assert len(words) == 2
    assert "'pad.string'" in words[0] and "at t = 0.04 s" in words[0]
    assert "'pull'" in words[1] and "at t = 0.06 s" in words[1]
    np.testing.assert_array_equal(found.q, right.q)
    np.testing.assert_array_equal(found.volume("pad").x, right.volume("pad").x)
    with pytest.warns(ag.AnguillaWarning, match="'pad.string' is -1 N at t = 0.5 s"):
        ag.statics(robot, inputs={"pad.string": lambda t: -2.0 * t}, t=0.5)
    with pytest.raises(ag.DescriptionError, match="cannot push"):
        ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pad.string": -1.0})
