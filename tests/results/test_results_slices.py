"""Motions cut in time read like the whole, also where loads remember what was before; steppers keep their history."""

import numpy as np
import pytest
from readings import RUBBER, assert_same, closed, crowded, readings

import anguilla as ag
from anguilla.errors import DescriptionError
from anguilla.view.scene import thin


@pytest.fixture(scope="module", params=[crowded, closed])
def run(request):
    return request.param(31)


@pytest.mark.parametrize(
    ("cut", "rows"),
    [
        (lambda run: run[10:20], slice(10, 20)),
        (lambda run: run[-5:], slice(-5, None)),
        (lambda run: run.between(0.1, 0.2), slice(10, 21)),
        (lambda run: run.every(4), slice(None, None, 4)),
        (lambda run: run[5:25].every(3)[1:], slice(8, 25, 3)),
        (lambda run: run.picked([0, 3, 3, 30]), [0, 3, 3, 30]),
    ],
)
def test_a_part_of_a_motion_reads_like_the_whole(run, cut, rows):
    part = cut(run)
    np.testing.assert_array_equal(part.t, run.t[rows])
    assert_same({name: x[rows] for name, x in readings(run).items()}, readings(part))


def test_labels_still_name_coordinates(run):
    label = run.coordinates[1]
    np.testing.assert_array_equal(run[5:9][label], run[label][5:9])


def test_what_cannot_be_cut_is_refused(run):
    with pytest.raises(DescriptionError, match="no numbered items"):
        run[3]
    with pytest.raises(DescriptionError, match="forwards"):
        run[::-1]
    with pytest.raises(DescriptionError, match="there are no such states: the motion has 31, from 0 s to"):
        run.between(7.0, 8.0)
    with pytest.raises(DescriptionError, match="ascending"):
        run.picked([4, 2])
    with pytest.raises(KeyError, match="no coordinate"):
        run["arm.nonsense[0]"]


def swinging():
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.01), RUBBER, ag.kirchhoff(2)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008)))
    robot.actuate("other", ag.Tendon(arm, ag.parallel(y=-0.008)))
    return robot, arm


def test_a_motion_thinned_for_drawing_keeps_its_accelerations():
    robot, arm = swinging()
    run = ag.simulate(robot, duration=0.1, dt=0.002)
    rows = np.unique(np.linspace(0, 50, 11).round().astype(int))
    np.testing.assert_allclose(thin(run, 11).wrench(arm, [0.1]), run.wrench(arm, [0.1])[rows], atol=1e-12)


def test_the_history_of_a_stepper_is_the_simulated_motion():
    robot, arm = swinging()
    run = ag.simulate(robot, duration=0.1, dt=0.002, inputs={"pull": 1.0}, events=[])
    stepper = ag.Stepper(robot, dt=0.002, inputs={"pull": 1.0}, history=True)
    stepper.step(20)
    stepper.reset()
    stepper.step(50)
    found = stepper.trajectory()
    np.testing.assert_array_equal(found.q, run.q)
    np.testing.assert_array_equal(found.v, run.v)
    np.testing.assert_allclose(found.t, run.t, rtol=1e-15)
    assert found.inputs == {"pull": 1.0}
    assert_same({"w": run.wrench(arm)}, {"w": found.wrench(arm)})


def test_inputs_that_changed_live_are_in_the_history(tmp_path):
    robot, _ = swinging()
    stepper = ag.Stepper(robot, dt=0.002, inputs={"pull": 1.0}, history=True)
    pulls = [1.0]
    for k in range(30):
        pulls.append(1.0 + np.sin(0.2 * k))
        stepper.step({"pull": pulls[-1]})
    stepper.step(5, {"other": 0.5})
    run = stepper.trajectory()
    np.testing.assert_allclose(run.tension("pull"), [*pulls, *[pulls[-1]] * 5], atol=1e-12)
    np.testing.assert_allclose(run.tension("other"), [0.0] * 31 + [0.5] * 5, atol=1e-12)
    power = ag.powers(run)
    assert np.abs(power.imbalance).max() < 1e-9 * np.abs(power.motors).max()
    again = ag.load(run.save(tmp_path / "run.nc"))
    np.testing.assert_allclose(again.tension("pull"), run.tension("pull"), atol=1e-12)
    with pytest.raises(DescriptionError, match="history=True"):
        ag.Stepper(robot, dt=0.002).trajectory()


@pytest.mark.parametrize("load", ["thruster", "friction"])
def test_the_present_state_of_a_stepper_remembers(load):
    """Integrals of thrusters and friction of tendons, as the whole history tells them."""
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.01), RUBBER, ag.kirchhoff(2)), at=robot.ground, name="arm")
    inputs = {}
    if load == "thruster":
        robot.load(ag.Thruster(arm.tip, 0.01, 0.5, velocity=(0.0, 0.2, 0.0)))
    else:
        robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008), friction=0.3))
        inputs = {"pull": 1.0}
    stepper = ag.Stepper(robot, dt=0.002, inputs=inputs, history=True)
    stepper.step(20)
    stepper.step(15, {name: 0.5 for name in inputs})
    now, all_of_it = stepper.result(), stepper.trajectory()
    if load == "thruster":
        pushed = robot.loads[0]
        np.testing.assert_allclose(now.exerted(pushed).wrench[0], all_of_it.exerted(pushed).wrench[-1], rtol=1e-9)
    left = [next(iter(run.evaluations.blocks())).residual[-1] for run in (now, all_of_it[-1:])]
    np.testing.assert_allclose(left[0], left[1], atol=1e-9)
    assert np.abs(left).max() < 1e-7
