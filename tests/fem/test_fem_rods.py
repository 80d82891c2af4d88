"""The same slender bodies as volumes and as Cosserat rods: tip loads, gravity, tendons described by the same words."""

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem

LENGTH, SIDE = 0.2, 0.01
NOTHING = (0.0, 0.0, 0.0)


def material(poisson):
    return ag.Material(young=1e6, poisson=poisson, density=1000.0)


def volume(cells, guides=11, *, poisson=0.0, gravity=NOTHING, load=NOTHING, routing=None, tension=0.0):
    """Tip of a block of quadratic tetrahedra."""
    mesh = fem.block((LENGTH, SIDE, SIDE), cells)
    body = fem.SoftBody("block", mesh, material(poisson), element="quadratic", gravity=gravity)
    body.fix("base")
    body.effector("tip", (LENGTH, 0, 0))
    body.load(fem.PointForce((LENGTH, 0, 0), load))
    if routing is not None:
        body.actuate("pull", fem.Tendon(fem.route(routing, LENGTH, guides=guides)))
    return fem.statics(body, inputs={"pull": tension} if routing else None).position("tip")


def rod(*, poisson=0.0, gravity=NOTHING, load=NOTHING, routing=None, tension=0.0):
    """Tip of the rod of the same shape and material."""
    robot = ag.Robot("rod", gravity=gravity)
    shape = ag.Rod(LENGTH, ag.Rectangle(SIDE, SIDE), material(poisson), ag.reissner(6))
    arm = robot.add(shape, at=robot.ground, name="arm")
    robot.load(ag.TipWrench(arm, force=load))
    if routing is not None:
        robot.actuate("pull", ag.Tendon(arm, routing))
    return ag.statics(robot, inputs={"pull": tension} if routing else None).position(arm.tip)


def differences(meshes, **case):
    """Distance of the tips over the way of the rod's tip, for each mesh."""
    truth = rod(**case)
    way = np.linalg.norm(truth - [LENGTH, 0, 0])
    return truth, np.array([np.linalg.norm(volume(*mesh, **case) - truth) / way for mesh in meshes])


@pytest.mark.parametrize(("poisson", "left"), [(0.0, 0.002), (0.3, 0.006)])
def test_a_block_sinks_like_a_rod(poisson, left):
    """Weight and a tip load, bent by more than half its length; the clamp holds the sides, which a rod does not know."""
    truth, apart = differences(
        [((5, 1, 1),), ((10, 1, 1),), ((20, 2, 2),)], poisson=poisson, gravity=(0, 0, -9.81), load=(0, 0, -0.002)
    )
    assert truth[2] < -0.6 * LENGTH
    assert np.all(apart[:-1] > 2.0 * apart[1:])
    assert apart[-1] < left


def test_a_side_load_bends_and_twists_alike():
    """A load across the plane in which the weight bends: three-dimensional, with torsion."""
    truth, apart = differences([((10, 1, 1),), ((20, 2, 2),)], gravity=(0, 0, -9.81), load=(0, 0.02, 0))
    assert truth[1] > 0.1 * LENGTH
    assert apart[1] < apart[0] < 0.003
    assert apart[1] < 0.0015


def test_a_straight_tendon_bends_a_finger_like_a_rod():
    """The difference is that of the straight pieces between guides: second order in their distance."""
    truth, apart = differences(
        [((20, 2, 2), 6), ((20, 2, 2), 11), ((20, 2, 2), 21)], routing=ag.parallel(z=3e-3), tension=0.6
    )
    assert truth[2] > 0.2 * LENGTH
    orders = np.log2(apart[:-1] / apart[1:])
    assert np.all(orders > 1.6), orders
    assert apart[-1] < 0.007


def test_a_helical_tendon_bends_a_finger_like_a_rod():
    routing = ag.helical(3e-3, 0.6)
    truth, apart = differences([((20, 2, 2), 11), ((20, 2, 2), 21)], routing=routing, tension=0.6)
    assert np.all(np.abs(truth[1:]) > 0.05 * LENGTH)
    assert np.log2(apart[0] / apart[1]) > 1.8
    assert apart[1] < 0.006


def test_routes_are_those_of_rods():
    routing = ag.convergent((4e-3, 0), (1e-3, 2e-3), 0.2)
    points = fem.route(routing, (0.05, 0.2), guides=4)
    np.testing.assert_allclose(points[:, 0], [0.05, 0.1, 0.15, 0.2])
    np.testing.assert_allclose(points[:, 1:], routing.offset(points[:, 0])[:, 1:])
    upright = np.array([[0, 0, 1, 0.01], [0, 1, 0, 0], [-1, 0, 0, 0.3], [0, 0, 0, 1.0]])
    turned = fem.route(ag.parallel(y=1e-3), 0.1, guides=2, pose=upright)
    np.testing.assert_allclose(turned, [[0.01, 1e-3, 0.3], [0.01, 1e-3, 0.2]], atol=1e-15)
    for bad in (
        {"routing": 3, "span": 0.1},
        {"routing": routing, "span": -1.0},
        {"routing": routing, "span": (1, 2, 3)},
    ):
        with pytest.raises(ag.DescriptionError, match="route"):
            fem.route(**bad)
    with pytest.raises(ag.DescriptionError, match="give route"):
        fem.Tendon(routing)
