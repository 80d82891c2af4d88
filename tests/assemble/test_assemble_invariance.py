"""What must not matter: how a robot is cut, the order of its branches, where the world axes point."""

import numpy as np
import pytest
from scipy.linalg import expm

import anguilla as ag

MATERIAL = ag.Material(young=2e3, poisson=0.4, density=1100.0, damping=0.03)
SECTION = ag.Ellipse(0.03, 0.05)


def random_state(system, seed):
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=(3, system.size)) / system.tree.scale
    return 0.3 * q, 2.0 * v, 10.0 * a


def pose_of(x, y, z, *offset):
    pose = np.eye(4)
    pose[:3, :3] = expm(np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]))
    pose[:3, 3] = offset
    return pose


def pieces(count):
    return ag.Strains(**{name: ag.PiecewiseConstant(count) for name in ag.STRAIN_NAMES})


def agree(one, two, state, order):
    """Residual and tangent of `one` are those of `two` at the reordered state."""
    there = [x[order] for x in state]
    expected = two.residual(*there)
    assert one.residual(*state)[order] == pytest.approx(expected, abs=1e-12 * np.max(np.abs(expected)))
    expected = two.tangent(*there, alpha=3.0, beta=20.0)
    given = one.tangent(*state, alpha=3.0, beta=20.0)[np.ix_(order, order)]
    assert given == pytest.approx(expected, abs=1e-12 * np.max(np.abs(expected)))


def test_a_rod_cut_in_two_is_the_same_rod():
    whole, halves = ag.Robot("whole"), ag.Robot("halves")
    rest = ag.ConstantCurvature(0.5, -1.0, 2.0)
    arm = whole.add(ag.Rod(0.8, SECTION, MATERIAL, pieces(4), rest, intervals=8), at=whole.ground)
    half = ag.Rod(0.4, SECTION, MATERIAL, pieces(2), rest, intervals=4)
    first = halves.add(half, at=halves.ground)
    second = halves.add(half, at=first.tip)
    for robot, tip in ((whole, arm), (halves, second)):
        robot.load(ag.TipWrench(tip, force=(1.0, 2.0, 3.0), moment=(0.1, 0.2, -0.1), follower=True))
        for part in robot.parts:
            robot.load(ag.DistributedWrench(part, force=(1.0, 0.0, 2.0), moment=(0.1, 0.0, 0.2), follower=True))
    # coordinates of the whole: strain by strain, four pieces; of the halves: half, then strain, then two pieces
    order = np.arange(24).reshape(6, 2, 2).transpose(1, 0, 2).ravel()
    one, two = ag.Model(whole), ag.Model(halves)
    agree(one, two, random_state(one, 1), order)


def branching(names):
    """A trunk with three different branches, added in the given order."""
    robot = ag.Robot("tree", gravity=(1.0, -2.0, -9.0))
    trunk = robot.add(ag.Rod(0.5, SECTION, MATERIAL, ag.reissner(2), intervals=4), at=robot.ground, name="trunk")
    branches = {
        "twig": (ag.kirchhoff(2), trunk.tip, pose_of(0.3, 0.2, 0.9, 0.0, 0.1, 0.0)),
        "side": (ag.planar(3), trunk.section(0.2), pose_of(-0.3, 1.2, 0.1, 0.05, 0.1, 0.0)),
        "leaf": (ag.reissner(1), trunk.section(0.2), pose_of(1.3, 0.2, 0.1, 0.0, 0.0, 0.2)),
    }
    for name in names:
        strains, frame, pose = branches[name]
        part = robot.add(ag.Rod(0.3, ag.Circle(0.02), MATERIAL, strains, intervals=3), at=frame, pose=pose, name=name)
        robot.load(ag.TipWrench(part, force=(0.1, 0.2, 0.3), follower=True))
        robot.add(ag.Rod(0.2, ag.Circle(0.02), MATERIAL, ag.planar(1), intervals=2), at=part.tip, name=f"{name}_end")
    return robot


@pytest.mark.parametrize("names", [("leaf", "side", "twig"), ("side", "twig", "leaf")])
def test_the_order_of_branches_does_not_matter(names):
    one, two = ag.Model(branching(("twig", "side", "leaf"))), ag.Model(branching(names))
    labels = one.robot.coordinates()
    order = np.array([labels.index(label) for label in two.robot.coordinates()])
    assert not np.array_equal(order, np.arange(len(order)))
    agree(one, two, random_state(one, 2), order)


def test_breadth_first_and_depth_first_descriptions_agree():
    def build(late):
        robot = ag.Robot("fork")
        rod = ag.Rod(0.3, SECTION, MATERIAL, ag.kirchhoff(1), intervals=2)
        trunk = robot.add(rod, at=robot.ground, name="trunk")
        left = robot.add(rod, at=trunk.tip, name="left")
        if late:
            robot.add(rod, at=trunk.section(0.1), pose=pose_of(1.0, 0.5, 0.2, 0.0, 0.0, 0.1), name="right")
        robot.add(rod, at=left.tip, name="end")
        if not late:
            robot.add(rod, at=trunk.section(0.1), pose=pose_of(1.0, 0.5, 0.2, 0.0, 0.0, 0.1), name="right")
        return robot

    one, two = ag.Model(build(True)), ag.Model(build(False))
    labels = one.robot.coordinates()
    agree(one, two, random_state(one, 3), np.array([labels.index(label) for label in two.robot.coordinates()]))


def test_turning_the_world_does_not_matter():
    def build(turn):
        robot = ag.Robot("arm", gravity=turn[:3, :3] @ [1.0, -2.0, -9.0])
        arm = robot.add(ag.Rod(0.5, SECTION, MATERIAL, ag.reissner(3)), at=robot.ground, pose=turn)
        robot.load(ag.TipWrench(arm, force=turn[:3, :3] @ [0.5, 0.2, 0.3]))
        robot.load(ag.Wrench(arm.section(0.3), moment=(0.01, 0.02, 0.03), follower=True))
        return ag.Model(robot)

    one, two = build(np.eye(4)), build(pose_of(0.7, -1.1, 0.4, 3.0, -2.0, 1.0))
    agree(one, two, random_state(one, 4), np.arange(one.size))


def test_two_robots_on_the_ground_do_not_feel_each_other():
    rod = ag.Rod(0.5, SECTION, MATERIAL, ag.reissner(2))
    alone, pair = ag.Robot("alone"), ag.Robot("pair")
    alone.add(rod, at=alone.ground)
    for shift in (0.0, 1.0):
        pair.add(rod, at=pair.ground, pose=pose_of(0.0, 0.0, 0.0, shift, 0.0, 0.0))
    one, two = ag.Model(alone), ag.Model(pair)
    q, v, a = random_state(two, 5)
    n = one.size
    given = two.residual(q, v, a)
    for k in (0, n):
        assert given[k : k + n] == pytest.approx(one.residual(q[k : k + n], v[k : k + n], a[k : k + n]), rel=1e-12)
    assert not two.tangent(q, v, a, alpha=1.0, beta=1.0)[:n, n:].any()


def test_more_intervals_do_not_change_a_rod_of_constant_strain_without_inertia():
    def build(intervals):
        robot = ag.Robot("arc", gravity=(0.0, 0.0, 0.0))
        arm = robot.add(ag.Rod(0.5, SECTION, MATERIAL, ag.reissner(1), intervals=intervals), at=robot.ground)
        robot.load(ag.TipWrench(arm, force=(0.5, 0.2, 0.3), moment=(0.1, 0.0, 0.2)))
        return ag.Model(robot)

    one, two = build(2), build(9)
    q, _, _ = random_state(one, 6)
    assert one.residual(q) == pytest.approx(two.residual(q), abs=1e-13)


def test_added_mass_of_a_zero_weight_node_is_none():
    # the same arm with and without a node for a load of zero
    def build(place):
        robot = ag.Robot("arc")
        arm = robot.add(ag.Rod(0.5, SECTION, MATERIAL, ag.reissner(1), intervals=6), at=robot.ground)
        if place:
            robot.load(ag.Wrench(arm.section(place)))
        return ag.Model(robot)

    one, two = build(None), build(0.21)
    agree(one, two, random_state(one, 7), np.arange(one.size))
