"""Copies that are stepped together do what each does alone, bit for bit."""

import numpy as np
import pytest
from test_ports import RUBBER, instrumented, pole

import anguilla as ag
from anguilla import sensors


def alone(robot, rows, dt, names, start=None, inputs=None):
    stepper = ag.Stepper(robot, dt=dt, start=start, inputs=inputs)
    for row in rows:
        stepper.step(dict(zip(names, row, strict=True)))
    return stepper


def commands(copies, steps, scale, seed=0):
    return np.random.default_rng(seed).uniform(0.0, 1.0, (steps, copies, len(scale))) * scale


def test_copies_with_forces_and_a_prescribed_motion():
    robot, _, _ = instrumented()
    rows = commands(5, 20, [1.0, 0.1, 0.1, 0.003])
    batch = ag.BatchStepper(robot, 5, dt=0.005, threads=2)
    for row in rows:
        batch.step(row)
    shown = batch.read()
    for k in range(5):
        stepper = alone(robot, rows[:, k], 0.005, batch.names, inputs=dict.fromkeys(batch.names, 0.0))
        assert np.allclose(batch.q[k], stepper.q, rtol=0, atol=1e-13) and batch.t[k] == pytest.approx(0.1)
        assert np.allclose(shown[k], stepper.read(), rtol=0, atol=1e-9)


def test_several_steps_at_once_and_some_reset():
    robot, _ = pole(True)
    batch = ag.BatchStepper(robot, 3, dt=0.005)
    scale = np.array([1.0, 0.1, 0.1, 0.0])
    first, second = commands(3, 2, scale)
    batch.step(first, 10)
    start = (np.full(robot.size, 0.01), np.zeros(robot.size))
    batch.reset([False, True, False], starts=[start])
    assert np.array_equal(batch.t, [0.05, 0.0, 0.05])
    batch.step(second, 10)
    one = alone(
        robot, [*[first[0]] * 10, *[second[0]] * 10], 0.005, batch.names, inputs=dict.fromkeys(batch.names, 0.0)
    )
    assert np.allclose(batch.q[0], one.q, rtol=0, atol=1e-13)
    other = alone(robot, [second[1]] * 10, 0.005, batch.names, start, dict(zip(batch.names, first[1], strict=True)))
    assert np.allclose(batch.q[1], other.q, rtol=0, atol=1e-12)


def test_drives_and_loads_that_depend_on_time():
    robot, rod = pole(True)
    robot.drive("motor", ag.Drive(rate=2.0, delay=0.01))
    robot.load(ag.Wrench(rod.tip, force=lambda t: (0.0, 0.02 * np.sin(9 * t), 0.0)))
    rows = commands(2, 12, [1.0, 0.3, 0.1, 0.0])
    batch = ag.BatchStepper(robot, 2, dt=0.01)
    for row in rows:
        batch.step(row)
    stepper = alone(robot, rows[:, 1], 0.01, batch.names, inputs=dict.fromkeys(batch.names, 0.0))
    assert np.allclose(batch.q[1], stepper.q, rtol=0, atol=1e-12)


def test_closed_loops_contact_and_what_is_remembered():
    """A hopper on a spring, with friction that holds: steps are cut, bristles belong to one copy."""
    robot = ag.Robot("hopper")
    lift = robot.input("lift", "N", along=(0.3, 0, 1))
    ball = robot.add(ag.RigidBody(0.2, (1e-4,) * 3), at=robot.ground, joint=ag.Free(), pose=[0, 0, 0.05])
    robot.load(ag.Wrench(ball.frame, force=lift))
    robot.load(ag.Contact(ball.frame, ag.HalfSpace((0, 0, 1)), radius=0.03, stiffness=2e4, damping=5, friction=0.5))
    rows = commands(3, 40, [4.0], seed=2)
    batch = ag.BatchStepper(robot, 3, dt=0.005)
    for row in rows:
        batch.step(row)
    for k in range(3):
        stepper = alone(robot, rows[:, k], 0.005, batch.names, inputs={"lift": 0.0})
        assert np.allclose(batch.q[k], stepper.q, rtol=0, atol=1e-10)
    assert not batch.failed.any() and np.ptp(batch.q[:, 2]) > 1e-4


def test_a_four_bar_with_a_length_driven_tendon():
    robot = ag.Robot("loop")
    motor = robot.input("motor", "N m")
    a = robot.add(
        ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.planar(2)), at=robot.ground, joint=ag.Revolute("z", effort=motor)
    )
    b = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.planar(2)), at=a.tip, joint=ag.Revolute("z"))
    robot.close(robot.ground, b.tip, joint=ag.Revolute("z"), pose=[0.4, 0.0, 0.0])
    rows = commands(2, 10, [0.05])
    batch = ag.BatchStepper(robot, 2, dt=0.005)
    for row in rows:
        batch.step(row)
    stepper = alone(robot, rows[:, 1], 0.005, batch.names, inputs={"motor": 0.0})
    assert np.allclose(batch.q[1], stepper.q, rtol=0, atol=1e-11)


def test_a_line_driven_by_its_length_and_one_that_cannot_push():
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.planar(3)), at=robot.ground)
    robot.actuate("up", ag.Tendon(rod, ag.parallel(y=0.008), by="length"))
    robot.actuate("down", ag.Tendon(rod, ag.parallel(y=-0.008)))
    batch, stepper = (
        ag.BatchStepper(robot, 2, dt=0.01, inputs={"up": 0.3}),
        ag.Stepper(robot, dt=0.01, inputs={"up": 0.3}),
    )
    for k in range(30):
        batch.step({"up": 0.3 - 5e-4 * k})
        stepper.step({"up": 0.3 - 5e-4 * k})
    assert np.allclose(batch.q[0], stepper.q, rtol=0, atol=1e-10)
    with pytest.warns(ag.AnguillaWarning, match="'down' is -1 N in copy 0 at t = 0.3 s.* slack"):
        batch.step({"down": -1.0})
    stepper.step()
    assert np.allclose(batch.q[0], stepper.q, rtol=0, atol=1e-10), "no tension"


def test_noise_differs_between_copies():
    robot, rod = pole(True)
    robot.sense("tip", sensors.Position(rod.tip, noise=1e-3))
    batch = ag.BatchStepper(robot, 200, dt=0.005)
    shown = batch.read()
    assert 0.8e-3 < np.std(shown[:, 0]) < 1.2e-3
    assert batch.reading_labels == ["tip.x", "tip.y", "tip.z"]


def test_what_cannot_be_stepped_together_is_refused():
    robot, rod = pole(True)
    with pytest.raises(ag.DescriptionError, match=r"inputs must have the shape \(4,\) or \(2, 4\)"):
        ag.BatchStepper(robot, 2, dt=0.01, inputs=[1.0])
    with pytest.raises(ag.DescriptionError, match="there is no input 'x'; there are: line, motor, push, slide"):
        ag.BatchStepper(robot, 2, dt=0.01).step({"x": 1.0})
    square = robot.input("square")
    robot.load(ag.Wrench(rod.tip, force=lambda t: (square(t) ** 2, 0.0, 0.0)))
    with pytest.raises(ag.DescriptionError, match="inputs that act linearly"):
        ag.BatchStepper(robot, 2, dt=0.01)


def touching_robot():
    """A ball that is pushed over a floor with friction that holds and into an upright rod; every contact is felt."""
    robot = ag.Robot("felt")
    push = robot.input("push", "N", along=(1, 0.2, 0))
    ball = robot.add(ag.RigidBody.sphere(0.03, mass=0.1), at=robot.ground, joint=ag.Free(), pose=[0, 0, 0.03])
    upright = np.array([[0, 0, 1, 0.045], [0, 1, 0, 0], [-1, 0, 0, 0.1], [0, 0, 0, 1.0]])
    rod = robot.add(ag.Rod(0.1, ag.Circle(0.01), RUBBER, ag.kirchhoff(2)), at=robot.ground, pose=upright)
    robot.load(ag.Wrench(ball.frame, force=push))
    floor = robot.load(ag.Contact(ball, ag.HalfSpace(), 2e4, damping=5, friction=0.5))
    meeting = robot.load(ag.PartContact(rod, ball, friction=0.3, damping=1.0))
    robot.sense("floor", sensors.ContactForce(floor))
    robot.sense("rod", sensors.ContactForce(meeting))
    return robot, floor, meeting


def test_copies_feel_contacts_bit_for_bit_as_one_robot_does():
    robot, floor, meeting = touching_robot()
    rows = commands(3, 60, [0.6], seed=4)
    batch = ag.BatchStepper(robot, 3, dt=0.004, threads=2)
    alone = [ag.Stepper(robot, dt=0.004, inputs={"push": 0.0}) for _ in range(3)]
    assert np.array_equal(batch.read(), [stepper.read() for stepper in alone])
    for number, row in enumerate(rows):
        batch.step(row)
        for k, stepper in enumerate(alone):
            stepper.step({"push": row[k, 0]})
        if number == 30:
            batch.reset([1])
            alone[1].reset()
        assert np.array_equal(batch.read(), [stepper.read() for stepper in alone]), number
    shown, results = batch.read(), [batch.result(k) for k in range(3)]
    assert np.allclose(shown[::2, 2], 0.1 * 9.81, rtol=0.3) and np.abs(shown[:, 3]).min() > 0.01, shown  # all are felt
    for k, run in enumerate(results):
        one = alone[k].result()
        for a, b in zip(run.contacts(meeting), one.contacts(meeting), strict=True):
            assert np.array_equal(a, b, equal_nan=True)
        for a, b in zip(run.exerted(floor), one.exerted(floor), strict=True):
            assert np.array_equal(a, b)
        assert np.array_equal(run.depth(floor), one.depth(floor))
        assert np.array_equal(shown[k], np.hstack([run.contact_force(load)[0] for load in (floor, meeting)]))


def test_to_feel_a_contact_changes_nothing():
    robot, *_ = touching_robot()
    read, unread = ag.Stepper(robot, dt=0.004), ag.Stepper(robot, dt=0.004)
    for _ in range(80):
        read.step({"push": 0.5})
        read.read()
    unread.step(80, {"push": 0.5})
    assert np.array_equal(read.q, unread.q) and np.array_equal(read.read(), unread.read())


def test_copies_that_start_from_a_result_feel_what_it_felt():
    robot, *_ = touching_robot()
    first = ag.Stepper(robot, dt=0.004)
    first.step(80, {"push": 0.5})
    start = first.result()
    batch, one = (make(robot, dt=0.004, start=start, inputs={"push": 0.5}) for make in (
        lambda r, **more: ag.BatchStepper(r, 2, **more), ag.Stepper))  # fmt: skip
    assert np.array_equal(batch.read()[1], one.read()) and np.allclose(one.read(), first.read(), rtol=1e-9)
    batch.step(), one.step()
    assert np.array_equal(batch.read()[1], one.read())


def test_copies_show_tensions_and_pressures_before_the_first_step():
    """They showed zeros there."""
    robot = ag.Robot("arm")
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.planar(3)), at=robot.ground)
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.008)))
    robot.actuate("air", ag.Chamber(rod, ag.parallel(y=-0.004), area=1e-5))
    robot.actuate("line", ag.Tendon(rod, ag.parallel(y=-0.008), by="length"))
    for name in ("pull", "air", "line"):
        robot.sense(name, sensors.Effort(name))
    inputs = {"pull": 1.0, "air": 2e3, "line": 0.3}
    batch, one = ag.BatchStepper(robot, 2, dt=0.002, inputs=inputs), ag.Stepper(robot, dt=0.002, inputs=inputs)
    for _ in range(3):
        assert np.array_equal(batch.read(), [one.read()] * 2) and np.all(one.read() > 0.5)
        batch.step(), one.step()
    batch.reset([0])
    assert np.allclose(batch.read()[0, :2], [1.0, 2e3]) and np.array_equal(batch.read()[1], one.read())
