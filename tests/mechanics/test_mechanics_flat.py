"""Robots that stay in the plane x-y: the short recursion against the spatial one, and which robots take it."""

import numpy as np
import pytest

import anguilla as ag

SOFT = ag.Material(young=2e3, poisson=0.4, density=1100.0, damping=0.03)
GRAVITY = (1.0, -2.0, -9.0)
Z = (0.0, 0.0, 1.0)


def rod(strains=None, length=0.6, intervals=5, **options):
    strains = strains or ag.Strains(bend_z=ag.Legendre(3), stretch=ag.Legendre(2), shear_y=ag.Legendre(2))
    return ag.Rod(length, ag.Ellipse(0.03, 0.05), SOFT, strains, intervals=intervals, **options)


def turned(angle, x=0.0, y=0.0):
    """A pose in the plane."""
    pose = np.eye(4)
    c, s = np.cos(angle), np.sin(angle)
    pose[:2, :2], pose[:2, 3] = [[c, -s], [s, c]], (x, y)
    return pose


def body():
    """A body whose principal axes are not those of the plane."""
    inertia = np.array([[0.03, 0.004, 0.003], [0.004, 0.02, -0.002], [0.003, -0.002, 0.025]])
    return ag.RigidBody(0.4, inertia=inertia, com=(0.05, 0.02, 0.01))


def lone_rod():
    robot = ag.Robot("rod", gravity=GRAVITY)
    handle = robot.add(rod(), at=robot.ground, pose=turned(0.7, 0.1, -0.2))
    robot.load(ag.TipWrench(handle, force=(1.0, 2.0, 3.0), moment=(0.1, 0.2, 0.3)))
    robot.load(ag.Wrench(handle.section(0.2), force=(1.0, 2.0, 3.0), moment=(0.1, 0.2, 0.3), follower=True))
    return robot


def curved_rod():
    robot = ag.Robot("hook", gravity=GRAVITY)
    handle = robot.add(rod(ag.planar(4), rest=ag.ConstantCurvature(bend_z=4.0)), at=robot.ground)
    robot.load(ag.DistributedWrench(handle, force=(0.5, 1.0, 2.0), follower=True))
    return robot


def jointed_tree():
    robot = ag.Robot("tree", gravity=GRAVITY)
    arm = robot.add(rod(), at=robot.ground, joint=ag.Planar(Z, stiffness=(3.0, 2.0, 1.0)))
    hand = robot.add(body(), at=arm.tip, joint=ag.Revolute((0, 0, -1), stiffness=1.0, damping=0.1))
    robot.add(rod(ag.planar(2)), at=hand.at((0.1, 0.05, 0.0)), joint=ag.Prismatic((1.0, 2.0, 0.0), stiffness=5.0))
    side = robot.add(rod(ag.planar(2)), at=arm.section(0.25), pose=turned(-1.0))
    above = side.tip.offset_by(((1, 0, 0, 0.1), (0, 0, -1, 0.2), (0, 1, 0, 0.3), (0, 0, 0, 1)))
    robot.load(ag.Wrench(above, force=(1.0, 2.0, 3.0), moment=(0.1, 0.2, 0.3), follower=True))
    robot.load(ag.Spring(above, hand.at((0.0, 0.1, 0.0)), stiffness=4.0, rest=0.1, damping=0.3))
    return robot


def pulled_arm():
    robot = ag.Robot("arm", gravity=GRAVITY)
    arm = robot.add(rod(), at=robot.ground, name="arm")
    robot.actuate("left", ag.Tendon(arm, ag.parallel(y=0.02, z=0.01)))
    robot.load(ag.Muscle(arm, moment=(0.1, 0.2, 0.3), gain=(0.1, 0.2, 0.3, 1.0, 2.0, 3.0), curvature=(0.0, 1.0, 2.0)))
    return robot


def swimmer():
    robot = ag.Robot("fish", gravity=GRAVITY)
    fish = robot.add(rod(), at=robot.ground, joint=ag.Planar(Z))
    robot.load(ag.Lighthill(fish, current=(0.3, -0.2, 0.0)))
    robot.load(ag.Morison(fish, current=(0.3, -0.2, 0.0), axial=0.5, spin=3.0))
    return robot


def loop():
    robot = ag.Robot("loop", gravity=GRAVITY)
    left = robot.add(rod(ag.planar(3)), at=robot.ground, joint=ag.Revolute(Z))
    right = robot.add(rod(), at=robot.ground, pose=turned(0.0, 0.3), joint=ag.Revolute(Z))
    robot.close(left.tip, right.tip, joint=ag.Revolute(Z))
    return robot


ROBOTS = (lone_rod, curved_rod, jointed_tree, pulled_arm, swimmer, loop)


def states(system, seed=2):
    q, v, a = np.random.default_rng(seed).normal(size=(3, system.size)) / system.tree.scale
    return 0.3 * q, 2.0 * v, 10.0 * a


@pytest.mark.parametrize("make", ROBOTS)
def test_the_flat_recursion_is_the_spatial_one(make):
    system, other = ag.Model(make()), ag.Model(make())
    assert system.tree.flat[0] == 1
    other.tree = other.spatial
    given = {"inputs": {"left": 5.0}} if "left" in system.robot.actuators else {}
    size = system.tree.scale
    for seed in range(3):
        state = states(system, seed)
        if system.rows:
            given["multipliers"] = np.random.default_rng(seed).normal(size=system.rows)
        one, two = (s.residual(*state, t=0.3, **given) for s in (system, other))
        n = system.size
        np.testing.assert_allclose(one[:n] / size, two[:n] / size, rtol=0, atol=1e-13 * np.max(np.abs(two[:n] / size)))
        np.testing.assert_allclose(one[n:], two[n:], rtol=0, atol=1e-13)
        for x, y in zip(*(s.matrices(*state, t=0.3, **given) for s in (system, other)), strict=True):
            scaled = np.max(np.abs(y / np.outer(size, size)))
            np.testing.assert_allclose(x / np.outer(size, size), y / np.outer(size, size), rtol=0, atol=1e-12 * scaled)


def test_a_state_that_is_not_finite_leaves_nothing_behind():
    """A line pulls out of the plane too; the hinge before the rod shares a record with the first intervals."""
    robot = ag.Robot("hinged", gravity=GRAVITY)
    arm = robot.add(rod(), at=robot.ground, joint=ag.Revolute(Z, stiffness=1.0))
    robot.actuate("left", ag.Tendon(arm, ag.parallel(y=0.02, z=0.01)))
    system = ag.Model(robot)
    assert system.tree.flat[0] == 1
    state, far = states(system), np.full(system.size, np.finfo(float).max)
    right = system.residual(*state, inputs={"left": 5.0}).copy()
    assert not np.all(np.isfinite(system.residual(far, *state[1:], inputs={"left": 5.0})))
    np.testing.assert_array_equal(system.residual(*state, inputs={"left": 5.0}), right)


@pytest.mark.parametrize("make", [lone_rod, curved_rod, swimmer])
def test_results_see_what_acts_out_of_the_plane(make):
    """The motion is found without it; the wrench inside the rod has it. A light body on a screw makes the robot spatial."""
    robots = make(), make()
    light = ag.RigidBody(1e-9, inertia=(1e-12, 1e-12, 1e-12))
    robots[1].add(light, at=robots[1].ground, joint=ag.Helical(Z, pitch=0.1, stiffness=1.0, damping=1.0))
    assert [ag.Model(robot).tree.flat[0] for robot in robots] == [1, 0]
    flat, spatial = (ag.simulate(robot, duration=0.05, dt=0.01, tolerance=1e-12) for robot in robots)
    n = flat.q.shape[1]
    np.testing.assert_allclose(flat.q, spatial.q[:, :n], rtol=0, atol=1e-10 * np.max(np.abs(flat.q)))
    one, two = (run.wrench(run.robot.parts[0], [0.0, 0.3]) for run in (flat, spatial))
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-9 * np.max(np.abs(two)))
    assert np.max(np.abs(two[:, 0, 5])) > 1.0  # gravity pulls out of the plane
    for run in (flat, spatial):
        assert np.max(np.abs(run.position(run.robot.parts[0].tip)[:, 2])) == 0.0


SPATIAL = {
    "bending about y": lambda r: r.add(rod(ag.Strains(bend_y=ag.Legendre(2))), at=r.ground),
    "twist": lambda r: r.add(rod(ag.kirchhoff(2)), at=r.ground),
    "rest shape": lambda r: r.add(rod(ag.planar(2), rest=ag.ConstantCurvature(bend_y=1.0)), at=r.ground),
    "tilted base": lambda r: r.add(rod(ag.planar(2)), at=r.ground, joint=ag.Revolute((0.0, 1.0, 1.0))),
    "slide": lambda r: r.add(body(), at=r.ground, joint=ag.Prismatic(Z)),
    "screw": lambda r: r.add(body(), at=r.ground, joint=ag.Helical(Z, pitch=0.1)),
    "ball": lambda r: r.add(body(), at=r.ground, joint=ag.Spherical()),
    "turned over": lambda r: r.add(rod(ag.planar(2)), at=r.ground, pose=np.diag([1.0, -1.0, -1.0, 1.0])),
    "raised": lambda r: r.add(rod(ag.planar(2)), at=r.ground.offset_by((0.0, 0.0, 0.1))),
}


@pytest.mark.parametrize("add", SPATIAL.values(), ids=SPATIAL)
def test_other_robots_are_spatial(add):
    robot = ag.Robot("spatial")
    add(robot)
    assert ag.Model(robot).tree.flat[0] == 0
