"""The tangent of robots with joints, bodies, tendons and chambers against differences of the residual."""

import numpy as np
import pytest
from multibody_oracles import random_inertia, random_rotation

import anguilla as ag

# Soft and thick, so that inertia, gravity, loads and every stiffness show up in the tangent with comparable size.
SOFT = ag.Material(young=2e3, poisson=0.4, density=1100.0, damping=0.03)
GRAVITY = (1.0, -2.0, -9.0)


def random_pose(rng):
    pose = np.eye(4)
    pose[:3, :3] = random_rotation(rng)
    pose[:3, 3] = 0.1 * rng.normal(size=3)
    return pose


def random_body(rng):
    return ag.RigidBody(0.4, inertia=random_inertia(rng), com=0.1 * rng.normal(size=3))


def rod(strains=None, length=0.6, intervals=4):
    return ag.Rod(length, ag.Ellipse(0.03, 0.05), SOFT, strains or ag.kirchhoff(2), intervals=intervals)


def differences(system, q, v, a, alpha, beta, **options):
    """dR along (dq, alpha dq, beta dq), column by column: central differences of fourth order."""
    size = 1e-3 / max(1.0, abs(alpha) / 3.0, abs(beta) / 30.0)
    columns = []
    for j in range(system.size):
        e = np.zeros(system.size)
        e[j] = size / system.tree.scale[j]
        at = lambda s, e=e: system.residual(q + s * e, v + s * alpha * e, a + s * beta * e, **options)
        columns.append((8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * e[j]))
    return np.array(columns).T


def check(robot, seed=1, **options):
    """K, C and M, each alone, at a moving state."""
    system = ag.Model(robot)
    q, v, a = np.random.default_rng(seed).normal(size=(3, system.size)) / system.tree.scale
    q, v, a = 0.3 * q, 2.0 * v, 10.0 * a
    given = system.matrices(q, v, a, **options)
    stiffness = differences(system, q, v, a, 0.0, 0.0, **options)
    damping = differences(system, q, v, a, 1.0, 0.0, **options) - stiffness
    mass = differences(system, q, v, a, 0.0, 1.0, **options) - stiffness
    size = np.outer(system.tree.scale, system.tree.scale)
    for name, x, y in zip("KCM", given, (stiffness, damping, mass), strict=True):
        assert np.max(np.abs((x - y) / size)) < 1e-7 * np.max(np.abs(y / size)), name
    return given


# Joints ---------------------------------------------------------------------------------------------------------------

AXIS, OTHER = (1.0, 2.0, -0.5), (0.3, -1.0, 2.0)
JOINTS = {
    "revolute": lambda **k: ag.Revolute(AXIS, **k),
    "prismatic": lambda **k: ag.Prismatic(AXIS, **k),
    "helical": lambda **k: ag.Helical(AXIS, pitch=-0.7, **k),
    "cylindrical": lambda **k: ag.Cylindrical(AXIS, **k),
    "universal": lambda **k: ag.Universal(AXIS, OTHER, **k),
    "planar": lambda **k: ag.Planar(AXIS, along=OTHER, **k),
}
SIZES = {"cylindrical": 2, "universal": 2, "planar": 3}


def full(name):
    """A joint with springs, rest values, dampers and efforts."""
    n = SIZES.get(name, 1)
    k = np.arange(1, n + 1)
    values = dict(stiffness=3.0 * k, rest=0.2 * k, damping=0.1 * k)
    single = {key: float(value[0]) for key, value in values.items()}
    each = tuple(lambda t, k=k: np.sin(t + k) for k in range(n))
    return JOINTS[name](**(single if n == 1 else values), effort=each[0] if n == 1 else each)


@pytest.mark.parametrize("bare", [True, False], ids=["bare", "full"])
@pytest.mark.parametrize("name", JOINTS)
def test_bodies_in_a_chain(name, bare):
    rng = np.random.default_rng(3)
    robot = ag.Robot(name, gravity=GRAVITY)
    joint = JOINTS[name]() if bare else full(name)
    first = robot.add(random_body(rng), at=robot.ground, pose=random_pose(rng), joint=joint)
    second = robot.add(random_body(rng), at=first.at(random_pose(rng)), joint=full("revolute"))
    third = robot.add(random_body(rng), at=second.frame, pose=random_pose(rng), joint=joint)
    robot.load(ag.Wrench(third.at((0.1, 0.2, 0.3)), force=(1, 2, 3), moment=(0.1, 0.2, 0.3), follower=True))
    robot.load(ag.Wrench(second.at(random_pose(rng)), force=(1, -2, 3), moment=(0.1, 0.2, 0.3)))
    check(robot, t=0.3)


@pytest.mark.parametrize("name", JOINTS)
def test_rods_on_bodies_on_rods(name):
    rng = np.random.default_rng(4)
    robot = ag.Robot(name, gravity=GRAVITY)
    arm = robot.add(rod(), at=robot.ground, pose=random_pose(rng), joint=full(name))
    hand = robot.add(random_body(rng), at=arm.tip, pose=random_pose(rng), joint=full(name))
    side = robot.add(random_body(rng), at=arm.section(0.25))  # fixed, between two nodes
    finger = robot.add(rod(ag.planar(3)), at=hand.at((0.1, 0.0, 0.05)), joint=JOINTS[name]())
    robot.add(random_body(rng), at=finger.tip.offset_by((0.0, 0.02, 0.0)), joint=full("universal"))
    for frame in (side.at((0.1, 0.0, 0.2)), finger.tip.offset_by(random_pose(rng))):
        robot.load(ag.Wrench(frame, force=(1, 2, 3), moment=(0.1, 0.2, 0.3), follower=True))
    check(robot, t=0.3)


def test_branches_of_every_joint():
    rng = np.random.default_rng(5)
    robot = ag.Robot("tree", gravity=GRAVITY)
    trunk = robot.add(rod(ag.reissner(1)), at=robot.ground)
    handles = [
        robot.add(random_body(rng), at=trunk.section(0.1 * (k + 1)), joint=full(n)) for k, n in enumerate(JOINTS)
    ]
    for k, handle in enumerate(handles):
        robot.add(
            rod(intervals=2) if k % 2 else random_body(rng), at=handle.at(random_pose(rng)), joint=full("helical")
        )
    stiffness, _, mass = check(robot, t=0.3)
    assert np.linalg.eigvalsh(0.5 * (mass + mass.T))[0] > 0.0
    assert np.max(np.abs(mass - mass.T)) < 1e-12 * np.max(np.abs(mass))
    assert stiffness.shape == (robot.size, robot.size)


def test_tangent_after_many_turns():
    robot = ag.Robot("turned", gravity=GRAVITY)
    body = robot.add(ag.RigidBody.box((0.1, 0.2, 0.3), mass=1.0), at=robot.ground, joint=full("helical"))
    robot.add(ag.RigidBody.point_mass(1.0, com=(0.3, 0.1, 0.0)), at=body.at((0.1, 0, 0)), joint=full("universal"))
    system = ag.Model(robot)
    q, v = np.array([40.3, -25.0, 11.0]), np.array([1.0, 2.0, 3.0])
    away = 2.0 * np.pi * np.array([0, 3, -2])  # the first one also advances
    spring = system.elastic_stiffness() @ away
    np.testing.assert_allclose(system.residual(q + away, v), system.residual(q, v) + spring, atol=1e-11)
    np.testing.assert_allclose(system.tangent(q + away, v), system.tangent(q, v), atol=1e-11)


# Tendons and chambers -------------------------------------------------------------------------------------------------


def arm(strains=None):
    robot = ag.Robot("arm", gravity=GRAVITY)
    return robot, robot.add(rod(strains), at=robot.ground)


LENGTH = 0.6
ROUTINGS = {
    "parallel": ag.parallel(y=0.02, z=-0.01),
    "centred": ag.parallel(),
    "convergent": ag.convergent((0.03, 0.01), (0.0, 0.02), LENGTH),
    "cross": ag.convergent((0.03, 0.0), (-0.03, 0.0), LENGTH),
    "helical": ag.helical(0.02, 0.3, 0.4),
    "left_handed": ag.helical(0.02, -0.3, 0.4),
    "polynomial": ag.Routing((0.01, 0.1, -0.2), (0.0, -0.05, 0.3)),
    "function": ag.FunctionRouting(function=lambda X: (0.02 * np.cos(5 * X), 0.01 * np.exp(-X))),
    "kinked": ag.FunctionRouting(function=lambda X: (0.02 - 0.05 * abs(X - 0.25), 0.0), breakpoints=(0.25,)),
}
PULL = {"tendon": 2.0, "chamber": 1e4}


@pytest.mark.parametrize("routing", ROUTINGS.values(), ids=ROUTINGS)
def test_tendon_and_chamber_of_every_routing(routing):
    robot, a = arm(ag.reissner(2))
    robot.actuate("tendon", ag.Tendon(a, routing))
    robot.actuate("chamber", ag.Chamber(a, routing, span=(0.13, 0.5), area=3e-4))
    check(robot, inputs=PULL)


SUBSETS = {name: ag.Strains(**{name: 3}) for name in ag.STRAIN_NAMES} | {
    "kirchhoff": ag.kirchhoff(3),
    "no_twist": ag.kirchhoff(3, twist_modes=0),
    "extensible": ag.extensible_kirchhoff(3, stretch_modes=1),
    "reissner": ag.reissner(2),
    "planar": ag.planar(5),
    "planar_all": ag.planar(3, stretch_modes=2, shear_modes=1),
    "pieces": ag.Strains(twist=ag.PiecewiseConstant(2), bend_y=ag.PiecewisePolynomial(2, 2), stretch=1),
}


@pytest.mark.parametrize("strains", SUBSETS.values(), ids=SUBSETS)
def test_tendons_with_every_set_of_strains(strains):
    robot, a = arm(strains)
    robot.actuate("tendon", ag.Tendon(a, ag.helical(0.02, 0.5), span=(0.0, 0.41)))
    robot.actuate("chamber", ag.Chamber(a, ag.convergent((0.02, 0.01), (0.01, 0.02), LENGTH), area=3e-4))
    check(robot, inputs=PULL)


def test_tendons_through_a_robot_with_joints():
    rng = np.random.default_rng(6)
    robot = ag.Robot("all", gravity=GRAVITY)
    base = robot.add(random_body(rng), at=robot.ground, joint=full("universal"))
    a = robot.add(rod(), at=base.at((0.1, 0.0, 0.0)), joint=full("helical"))
    b = robot.add(rod(ag.reissner(2), length=0.4), at=a.tip)
    robot.add(random_body(rng), at=b.tip, joint=full("planar"))
    robot.load(ag.DistributedWrench(a, force=(1.0, 2.0, 3.0), follower=True))
    robot.actuate("long", ag.Tendon((a, b), ag.parallel(y=0.02, z=0.01), span=(0.0, 0.3)))
    routings = (ag.helical(0.02, 0.3), ag.convergent((0.02, 0.0), (0.0, 0.01), 0.4))
    robot.actuate("each", ag.Tendon((a, b), routings))
    robot.actuate("chamber", ag.Chamber((a, b), ag.parallel(z=0.02), area=3e-4))
    check(robot, t=0.2, inputs={"long": 2.0, "each": 1.0, "chamber": 1e4})


def test_stiffness_of_tendons_is_symmetric_and_linear_in_the_tension():
    robot, a = arm(ag.reissner(2))
    robot.actuate("p", ag.Tendon(a, ag.helical(0.02, 0.3)))
    system = ag.Model(robot)
    q = 0.3 * np.random.default_rng(1).normal(size=system.size) / system.tree.scale
    slack, one, two = (system.tangent(q, inputs={"p": u}) for u in (0.0, 1.0, 2.0))
    np.testing.assert_allclose(two - slack, 2.0 * (one - slack), atol=1e-12 * np.abs(slack).max())
    np.testing.assert_allclose(one - slack, (one - slack).T, atol=1e-12 * np.abs(slack).max())
