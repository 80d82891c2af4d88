"""Capsules touch each other at one place, where they are nearest, wherever that is along them."""

import numpy as np
import pytest

import anguilla as ag

RADIUS, HALF, STIFFNESS, MASS, GRAVITY = 0.01, 0.05, 1e5, 0.1, 9.81
BAR = ag.Capsule((-HALF, 0, 0), (HALF, 0, 0), RADIUS)
TENSOR = MASS * np.diag([0.5 * RADIUS**2, HALF**2 / 3.0, HALF**2 / 3.0])


def two(pose, joint, radius=RADIUS, gravity=GRAVITY, **options):
    """One that is held along x, and another one."""
    robot = ag.Robot("bars", gravity=(0, 0, -gravity))
    shapes = BAR, ag.Capsule((-HALF, 0, 0), (HALF, 0, 0), radius)
    held, other = (ag.RigidBody(MASS, TENSOR, shape=shape) for shape in shapes)
    held = robot.add(held, at=robot.ground, name="held")
    other = robot.add(other, at=robot.ground, joint=joint, pose=pose, name="other")
    return robot, other, robot.load(ag.Contact(held, other, STIFFNESS, smooth=1e-7, **options))


@pytest.mark.parametrize("angle", [0.5 * np.pi, 1.0, 0.3])
@pytest.mark.parametrize("x", [0.0, 0.0025, 0.005, 0.0131, -0.03])
def test_crossed_bars_sink_in_by_the_weight_over_the_stiffness(x, angle):
    """Wherever they cross, straight down. Between two balls of theirs it was 160 um, not 10, with 6 % of the force aside."""
    way = np.array([np.cos(angle), np.sin(angle), 0.0])
    pose = ag.lie.pose(ag.lie.rotation((0, 0, 1), angle), (x, 0, 2 * RADIUS) - 0.6 * x * way)
    robot, other, touch = two(pose, ag.Prismatic((0, 0, 1)))
    eq = ag.statics(robot)
    assert eq.contacts(touch).points == 1
    np.testing.assert_allclose(eq.contacts(touch).force, (0, 0, MASS * GRAVITY), atol=3e-3 * MASS * GRAVITY)
    np.testing.assert_allclose(eq.contacts(touch).place[:2], (x, 0.0), atol=2e-3 * HALF)
    assert 2 * RADIUS - eq.position(other.frame)[2] == pytest.approx(MASS * GRAVITY / STIFFNESS, abs=3e-4 * RADIUS)


@pytest.mark.parametrize("x", [0.0, 0.03, -0.07])
def test_parallel_bars_bear_each_other_below_the_weight(x):
    """At rest the contact is below the middle of the upper one, as long as the lower one reaches there."""
    robot, other, touch = two(
        (x, 0, 2 * RADIUS), ag.Planar((0, 1, 0), damping=(0.0, 0.0, 1e-3)), friction=0.5, damping=10.0
    )
    run = ag.simulate(robot, duration=0.3, dt=1e-3)
    if abs(x) > HALF:
        assert abs(run.pose(other.frame)[-1][0, 2]) > 0.1  # it tips over
        return
    np.testing.assert_allclose(run.contacts(touch).force[-1], (0, 0, MASS * GRAVITY), atol=1e-3 * MASS * GRAVITY)
    assert run.contacts(touch).place[-1, 0] == pytest.approx(x, abs=1e-3 * HALF)
    assert 2 * RADIUS - run.position(other.frame)[-1, 2] == pytest.approx(MASS * GRAVITY / STIFFNESS, abs=3e-4 * RADIUS)


@pytest.mark.filterwarnings("ignore:The time steps of 'bars':anguilla.errors.AnguillaWarning")
@pytest.mark.parametrize("seed", range(3))
def test_bars_that_tumble_into_each_other_keep_momenta_and_energy(seed):
    """Also where they are nearly parallel, and where ends meet."""
    rng = np.random.default_rng(seed)
    robot = ag.Robot("bars", gravity=(0, 0, 0))
    for name, place in (("a", (0, 0, 0)), ("b", (0.01, 0.005, 0.03))):
        turned = ag.lie.rotation((0, 0, 1), 0.02 * seed)
        robot.add(
            ag.RigidBody(MASS, TENSOR, shape=BAR),
            at=robot.ground,
            joint=ag.Free(),
            name=name,
            pose=ag.lie.pose(turned, place),
        )
    touch = robot.load(ag.Contact(*robot.parts, 1e4, smooth=1e-4))
    v = np.concatenate([0.1 * rng.normal(size=3), 10.0 * rng.normal(size=3)] * 2)
    v[2], v[8] = 0.4, -0.4
    run = ag.simulate(robot, start=(np.zeros(12), v), duration=0.08, dt=1e-4)
    energy = run.energy["total"]
    assert np.count_nonzero(run.contacts(touch).points) > 5
    assert np.ptp(energy) < 2e-3 * energy[0] + np.max(run.contacts(touch).energy) * 1e-2
    assert energy[-1] == pytest.approx(energy[0], rel=1e-3)
    np.testing.assert_allclose(
        run.momentum, run.momentum[[0]].repeat(len(run.t), 0), atol=1e-6 * np.abs(run.momentum).max()
    )
    spin = run.angular_momentum
    np.testing.assert_allclose(spin, spin[[0]].repeat(len(run.t), 0), atol=2e-3 * np.abs(spin).max())


def test_a_bar_slides_along_another_one_without_a_bump():
    """Without friction its speed stays, and its height; it went over valleys of 6 % of the radius."""
    robot = ag.Robot("bars", gravity=(0, 0, -GRAVITY))
    held = robot.add(ag.RigidBody(MASS, TENSOR, shape=BAR), at=robot.ground)
    across = ag.RigidBody(MASS, TENSOR, shape=ag.Capsule((0, -HALF, 0), (0, HALF, 0), RADIUS))
    start = (-0.04, 0, 2 * RADIUS - MASS * GRAVITY / STIFFNESS)
    other = robot.add(across, at=robot.ground, joint=ag.Planar((0, 1, 0)), pose=start)
    robot.load(ag.Contact(held, other, STIFFNESS, smooth=1e-7))
    run = ag.simulate(robot, start=(np.zeros(3), [0.0, 0.5, 0.0]), duration=0.15, dt=5e-4)
    x = run.position(other.frame)
    assert x[-1, 0] - x[0, 0] == pytest.approx(0.075, rel=1e-3)
    assert np.ptp(x[:, 2]) < 2e-3 * RADIUS
