"""Contact together with everything else: user-written loads, loops, explicit steps, modes, designs, the stepper."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.view.scene import scene
from anguilla.view.stage import Tracks, contact_forces, load_forces

G = 9.81
RUBBER = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.01)


def arm_on_floor(drop=0.05, stiffness=2e3, strains=None, **options):
    robot = ag.Robot("arm")
    rod = ag.Rod(0.4, ag.Circle(0.01), RUBBER, strains or ag.Strains(bend_y=3, bend_z=1), intervals=12)
    arm = robot.add(rod, at=robot.ground, name="arm")
    given = dict(damping=1.0, friction=0.3, smooth=2e-3, slip=0.02) | options
    return robot, arm, robot.load(ag.Contact(arm, ag.HalfSpace((0, 0, 1), -drop), stiffness, **given))


def law(contact):
    """The same contact, written in Python."""
    k, s, c, mu, slip = contact.stiffness, contact.smooth, contact.damping, contact.friction, contact.slip
    n, height, r = np.asarray(contact.obstacle.normal), contact.obstacle.offset, 0.01

    def wrench(motion, t, X):
        depth = r + height - n @ motion.position
        if depth <= 0.0:
            return np.zeros(6)
        x, z = depth / s, -c * (n @ motion.velocity)
        g = depth - s / 2 if x > 1 else s * (x**3 - x**4 / 2)
        u = motion.velocity - r * np.cross(motion.spin, n)
        u -= n * (n @ u)
        force = k * g * (1 + z if z > 0 else 1 / (1 - z + z * z)) * (n - mu * u / np.sqrt(u @ u + slip**2))
        return np.concatenate([-r * np.cross(n, force), force])

    return wrench


def test_a_contact_written_in_python_gives_the_same_motion():
    robot, arm, contact = arm_on_floor()
    run = ag.simulate(robot, duration=0.2, dt=2e-3)
    assert run.depth(contact).max() > 1e-3 and run.status.counters["substeps"] == 0
    other = ag.Robot("arm")
    rod = other.add(arm.rod, at=other.ground, name="arm")
    other.load(ag.UserLoad(rod, law(contact)))
    np.testing.assert_allclose(run.q, ag.simulate(other, duration=0.2, dt=2e-3).q, atol=1e-6 * np.abs(run.q).max())


@pytest.mark.slow
def test_contact_beside_a_load_written_in_python():
    """The phases in Python ask the compiled contact too."""
    robot, arm, contact = arm_on_floor()
    given = ag.simulate(robot, duration=0.2, dt=5e-3)
    robot.load(ag.UserLoad(arm.tip, lambda motion, t: np.zeros(6)))
    run = ag.simulate(robot, duration=0.2, dt=5e-3)
    np.testing.assert_allclose(run.q, given.q, atol=1e-9)
    assert run.depth(contact).max() > 1e-3


def test_explicit_and_implicit_steps_agree():
    robot, arm, contact = arm_on_floor(strains=ag.Strains(bend_y=2))
    implicit = ag.simulate(robot, duration=0.2, dt=5e-4)
    explicit = ag.simulate_explicit(robot, duration=0.2, dt=5e-4)
    assert implicit.depth(contact).max() > 1e-3
    np.testing.assert_allclose(explicit.position(arm.tip)[-1], implicit.position(arm.tip)[-1], atol=1e-4)


def test_a_stepper_feels_the_floor():
    robot, _, _ = arm_on_floor()
    run = ag.simulate(robot, duration=0.1, dt=5e-3, smooth_start=False)
    stepper = ag.Stepper(robot, dt=5e-3)
    for _ in range(20):
        stepper.step()
    np.testing.assert_allclose(stepper.q, run.q[-1], atol=1e-5 * np.abs(run.q).max())


def test_frequency_of_a_ball_on_a_floor():
    """w^2 = k / m about the rest, beyond the smooth start."""
    robot = ag.Robot("ball")
    ball = robot.add(ag.RigidBody.sphere(0.05, mass=0.2), at=robot.ground, joint=ag.Prismatic((0, 0, 1)))
    robot.load(ag.Contact(ball, ag.HalfSpace(), 2000.0, smooth=1e-5))
    found = ag.modes(robot, ag.statics(robot, start=[0.04]))
    assert found.frequencies[0] == pytest.approx(np.sqrt(2000.0 / 0.2) / (2 * np.pi), rel=1e-9)


def test_gradients_of_a_floor():
    """How the tip rests, by the height and the stiffness of the floor: the adjoint against differences."""

    def make(p):
        return arm_on_floor(drop=p[0], stiffness=p[1])[0]

    p = np.array([0.05, 2e3])
    rest = lambda p: ag.statics(make(p), tolerance=1e-13)
    cost = lambda eq: ag.Reach(eq.robot.parts[0].tip, (0.3, 0.1, 0.0))
    eq = rest(p)
    found = ag.gradient(eq, cost(eq), design=(make, p)).design
    for k, h in ((0, 1e-6), (1, 1e-1)):
        step = h * np.eye(2)[k]
        ends = [ag.gradient(other, cost(other)).value for other in (rest(p + step), rest(p - step))]
        assert found[k] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5)
    assert abs(found[0]) > 1e-3


def test_a_loop_lies_on_the_floor():
    """Two soft rods joined at their tips: weight is carried by the root and the floor together."""
    robot = ag.Robot("loop")
    rod = ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.Strains(bend_y=4, bend_z=1), intervals=16)
    left = robot.add(rod, at=robot.ground, name="left")
    right = robot.add(rod, at=robot.ground.offset_by((0.0, 0.0, 0.05)), name="right")
    robot.close(left.tip, right.tip, joint=ag.Spherical(), name="pin")
    floor = ag.HalfSpace((-0.1, 0, 1), 0.005)
    loads = [robot.load(ag.Contact(part, floor, 5e3, smooth=1e-3)) for part in (left, right)]
    eq = ag.statics(robot)
    weight = 2 * 0.3 * 1000.0 * np.pi * 1e-4 * G
    carried = sum(eq.exerted(load).force for load in loads)
    roots = eq.wrench(left, [0.0])[0, 3:] + eq.wrench(right, [0.0])[0, 3:]
    np.testing.assert_allclose(roots, carried - [0, 0, weight], atol=1e-6)
    assert carried[2] > 0.1 * weight


@pytest.mark.parametrize(
    ("obstacle", "intervals"),
    [(ag.HalfSpace(), 24), (ag.Pillar((0.2, 0, -0.1), (0, 1, 0), 0.03), 32), (ag.Sphere((0.2, 0, -0.1), 1e-3), 96)],
    ids=["floor", "peg", "needle"],
)
def test_rods_that_leave_it_open_get_enough_intervals(obstacle, intervals):
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.01), RUBBER, ag.Strains(bend_y=3)), at=robot.ground)
    robot.load(ag.Contact(arm, obstacle, 1e3))
    grid = ag.Model(robot).layout.parts[0].grid
    assert len(grid.X) - 1 == intervals
    if intervals < 96 and not isinstance(obstacle, ag.HalfSpace):
        assert np.diff(grid.X).max() <= 0.5 * (0.03 + 0.01)


def test_forces_of_contact_are_drawn():
    robot, _, contact = arm_on_floor()
    for result in (ag.statics(robot), ag.simulate(robot, duration=0.3, dt=5e-3)):
        tail, force = contact_forces(Tracks(result), -1, 0.4)
        found = result.exerted(contact)
        np.testing.assert_allclose(force.sum(axis=0), np.atleast_2d(found.force)[-1], atol=1e-12)
        assert len(tail) > 0 and force[:, 2].max() > 0.0
        assert not len(load_forces(Tracks(result), scene(result), -1)[0])  # they are drawn once
