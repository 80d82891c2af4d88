"""Motions that start in sliding: Coulomb's friction acts at once, and derivatives know of it."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag

MU, WEIGHT = 0.5, 10.0


def slider(part, spring=0.0, stiffness=1e7):
    """A ball of 0.1 kg that slides along x on a floor, which it is pressed to by 10 N."""
    robot = ag.Robot("slider", gravity=(0, 0, 0))
    slide = ag.Prismatic((1, 0, 0), stiffness=spring)
    sphere, pose = ag.RigidBody.sphere(0.02, mass=0.1), (0, 0, 0.02 - WEIGHT / stiffness)
    body = robot.add(sphere, at=robot.ground, joint=slide, pose=pose, name="body")
    floor = robot.add(ag.HalfSpace(), at=robot.ground, name="floor") if part else ag.HalfSpace()
    return robot, robot.load(ag.Contact(body, floor, stiffness, friction=MU, smooth=1e-12))


def free(part, shape, p=(0.3, 5e4, 0.0)):
    """A block or a ball of 0.5 kg on a floor; p are friction, stiffness and by how much it is lifted."""
    robot = ag.Robot("free")
    body, height, points = {
        "block": (ag.RigidBody.box((0.1, 0.1, 0.01), mass=0.5), 0.005, 4),
        "ball": (ag.RigidBody.sphere(0.02, mass=0.5), 0.02, 1),
    }[shape]
    pose = (0, 0, height - 0.5 * 9.81 / points / 5e4 + p[2])
    body = robot.add(body, at=robot.ground, joint=ag.Free(), pose=pose, name="body")
    floor = robot.add(ag.HalfSpace(), at=robot.ground, name="floor") if part else ag.HalfSpace()
    return robot, robot.load(ag.Contact(body, floor, p[1], friction=p[0], damping=2.0, smooth=1e-5))


def force(run, load):
    """Of the floor on what slides (nt, 3) [N]."""
    return -run.contacts(load).force if load.meets else run.exerted(load).force


RATES = np.array([1.0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("shape", ["block", "ball"])
def test_friction_is_there_from_the_first_instant(part, shape):
    """It was zero at t = 0, and half a step of its impulse was missing for good."""
    robot, load = free(part, shape)
    run = ag.simulate(robot, duration=0.02, dt=1e-3, start=(np.zeros(6), RATES))
    found = force(run, load)
    np.testing.assert_allclose(found[:, 0], -0.3 * found[:, 2], rtol=1e-9)
    np.testing.assert_allclose(run.a[0, 0], found[0, 0] / 0.5, rtol=1e-9)
    impulse = np.trapezoid(found[:, 0], run.t)
    np.testing.assert_allclose(0.5 * (run.v[-1, 0] - 1.0), impulse, rtol=1e-3)


@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("dt", [1e-3, 2.5e-4])
def test_the_way_until_it_stops_is_that_of_coulomb(part, dt):
    """v^2 / (2 mu g), up to what bristles bend; the error was dt v / 2."""
    robot, _ = slider(part)
    run = ag.simulate(robot, duration=0.03, dt=dt, start=([0.0], [0.93]))
    bent = MU * WEIGHT / (2 / 3 * 1e7)
    assert run.q[-1, 0] == pytest.approx(0.93**2 * 0.1 / (2 * MU * WEIGHT), abs=1.01 * bent)


@pytest.mark.parametrize("part", [False, True])
def test_sliding_against_a_spring_is_of_second_order(part):
    """x = d (cos wt - 1) + v/w sin wt, with d the way that friction presses the spring."""
    robot, _ = slider(part, 500.0)
    w, d, t = np.sqrt(5000.0), MU * WEIGHT / 500.0, 8e-3
    exact = d * (np.cos(w * t) - 1.0) + np.sin(w * t) / w
    steps = np.array([1e-3, 5e-4, 2.5e-4])
    errors = [ag.simulate(robot, duration=t, dt=dt, start=([0.0], [1.0])).q[-1, 0] - exact for dt in steps]
    np.testing.assert_allclose(np.diff(np.log2(np.abs(errors))), -2.0, atol=0.15)


@pytest.mark.parametrize("part", [False, True])
def test_derivatives_of_a_start_in_sliding_are_those_of_differences(part):
    p, step = np.array([0.3, 5e4, 0.0]), np.array([1e-6, 1e-1, 1e-9])

    def cost(p):
        robot, _ = free(part, "block", p)
        run = ag.simulate(robot, duration=0.03, dt=1e-3, start=(np.zeros(6), RATES), tolerance=1e-13)
        return run, ag.Reach(robot.part("body").frame, (0, 0, 0), "last")

    run, reach = cost(p)
    design = (lambda p: free(part, "block", p)[0]), p
    value = lambda p: (lambda run, reach: reach.terms(run)[0])(*cost(p))
    by_hand = [(value(p + e) - value(p - e)) / (2.0 * e.sum()) for e in np.diag(step)]
    np.testing.assert_allclose(ag.gradient(run, reach, design=design).design, by_hand, rtol=1e-5)
    moved = ag.sensitivities(run, design=design)
    x = [(cost(p + e)[0].q[-1, 0] - cost(p - e)[0].q[-1, 0]) / (2.0 * e.sum()) for e in np.diag(step)]
    np.testing.assert_allclose(moved.q[-1, 0], x, rtol=1e-5)


@pytest.mark.parametrize("part", [False, True])
def test_steps_and_going_on_are_the_same_motion(part):
    robot, load = free(part, "ball")
    robot.sense("push", ag.sensors.ContactForce(load))
    options = {"dt": 1e-3, "start": (np.zeros(6), RATES)}
    run = ag.simulate(robot, duration=0.02, **options)
    one, many = ag.Stepper(robot, **options), ag.BatchStepper(robot, 2, **options)
    for _ in range(2):
        shown = run.reading("push")[one.count]
        np.testing.assert_allclose(one.read("push"), shown, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(many.read(), np.tile(shown, (2, 1)), rtol=1e-9, atol=1e-9)
        if one.count == 0:
            one.step(count=20)
            many.step(count=20)
    np.testing.assert_array_equal(one.q, run.q[-1])
    np.testing.assert_array_equal(many.q, np.tile(run.q[-1], (2, 1)))
    first = ag.simulate(robot, duration=0.01, **options)
    then = ag.simulate(robot, duration=0.01, dt=1e-3, start=first)
    np.testing.assert_allclose(then.q[-1], run.q[-1], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(force(then, load)[0], force(first, load)[-1], rtol=1e-9, atol=1e-9)
