"""The residual against Lagrange's equations of energies computed in plain NumPy (plain_rods.py)."""

import numpy as np
import pytest
from plain_rods import PlainRobot
from scipy.linalg import expm

import anguilla as ag

SOFT = ag.Material(young=2e3, poisson=0.4, density=1100.0, damping=0.02)
THICK = ag.Ellipse(0.03, 0.05)
SIX = ag.Strains(twist=2, bend_y=2, bend_z=3, stretch=2, shear_y=1, shear_z=2)


def random_state(system, seed):
    """Coordinates of about half a radian, rates of a few rad/s."""
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=(3, system.size)) / system.tree.scale
    return 0.3 * q, 2.0 * v, 10.0 * a


def random_pose(seed):
    rng = np.random.default_rng(seed)
    x, y, z = rng.normal(size=3)
    pose = np.eye(4)
    pose[:3, :3] = expm(np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]))
    pose[:3, 3] = 0.1 * rng.normal(size=3)
    return pose


def one_rod(strains=SIX, section=THICK, rest=None, material=SOFT, intervals=4, **options):
    robot = ag.Robot("one", gravity=(1.0, -2.0, -9.0))
    rod = ag.Rod(0.6, section, material, strains, rest or ag.Straight(), intervals=intervals)
    return robot, robot.add(rod, at=robot.ground, name="arm", **options)


def helical():
    return one_rod(rest=ag.Helix(0.12, 0.3))[0]


def curved():
    return one_rod(rest=ag.RestFunction(lambda X: (1.0 - X, 2.0 * X, np.sin(5.0 * X), 1.0 + 0.2 * X, 0.1 * X, -0.1)))[0]


def tapered():
    return one_rod(section=ag.taper(ag.Ellipse(0.05, 0.03), ag.Ellipse(0.02, 0.01), 0.6))[0]


def offset():
    return one_rod(pose=random_pose(3))[0]


def pieces():
    strains = ag.Strains(bend_y=ag.PiecewiseConstant(3), twist=ag.PiecewisePolynomial((0.3,), 2), stretch=ag.FreeTip(2))
    return one_rod(strains, intervals=7)[0]


def loaded():
    robot, arm = one_rod(rest=ag.Helix(0.2, 0.1))
    robot.gravity = lambda t: (np.sin(t), 2.0, -9.0 * t)
    robot.load(ag.TipWrench(arm, force=(0.3, -0.2, 0.4), moment=(0.02, 0.05, -0.03)))
    robot.load(ag.TipWrench(arm, force=lambda t: (0.3 * t, 0.2, 0.1), moment=(-0.04, 0.01, 0.02), follower=True))
    robot.load(ag.Wrench(arm.section(0.23), force=(0.4, 0.1, 0.0), moment=(0.02, 0.0, 0.06), follower=True))
    robot.load(ag.Wrench(arm.section(0.41), force=(-0.1, 0.1, 0.3), moment=lambda t: (0.02, -0.01, 0.06 * t)))
    robot.load(ag.DistributedWrench(arm, force=lambda X, t: (X * t, 1.0, -X), moment=(0.1, 0.2, -0.1)))
    robot.load(ag.DistributedWrench(arm, force=lambda X: (0.3, X, 1.0), moment=(0.1, -0.1, 0.2), follower=True))
    return robot


def branching():
    robot = ag.Robot("tree", gravity=(2.0, -1.0, -9.0))
    trunk = robot.add(
        ag.Rod(0.5, THICK, SOFT, ag.reissner(2), ag.ConstantCurvature(0.5, 1.0, -2.0), intervals=3),
        at=robot.ground, pose=random_pose(5), name="trunk",
    )  # fmt: skip
    twig = robot.add(
        ag.Rod(0.3, ag.Circle(0.02), SOFT, ag.kirchhoff(2), intervals=2), at=trunk.tip, pose=random_pose(6), name="twig"
    )
    side = robot.add(
        ag.Rod(0.3, ag.Circle(0.02), SOFT, ag.planar(2, stretch_modes=1), intervals=3),
        at=trunk.section(0.21), pose=random_pose(7), name="side",
    )  # fmt: skip
    robot.load(ag.TipWrench(twig, force=(0.1, 0.2, 0.3), moment=(0.01, 0.02, -0.01), follower=True))
    robot.load(ag.DistributedWrench(side, force=(0.1, 0.2, 0.3)))
    return robot


@pytest.mark.parametrize(
    "build", [lambda: one_rod()[0], helical, curved, tapered, offset, pieces, loaded, branching],
    ids=["straight", "helical", "curved", "tapered", "offset", "pieces", "loaded", "branching"],
)  # fmt: skip
def test_residual_is_lagranges_equations(build):
    system = ag.Model(build())
    q, v, a = random_state(system, 11)
    expected = PlainRobot(system).lagrange(q, v, a, t=0.7) / system.tree.scale
    given = system.residual(q, v, a, t=0.7) / system.tree.scale
    # the inertia of a node is that of sections 1e-9 of the length away from it: a taper shows it
    assert np.max(np.abs(given - expected)) < (1e-8 if build is tapered else 1e-10) * np.max(np.abs(expected))


@pytest.mark.parametrize("name", ag.STRAIN_NAMES)
def test_residual_of_each_strain_alone(name):
    system = ag.Model(one_rod(ag.Strains(**{name: 5}), rest=ag.Helix(0.12, 0.3))[0])
    q, v, a = random_state(system, 12)
    expected = PlainRobot(system).lagrange(q, v, a)
    assert system.residual(q, v, a) == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.max(np.abs(expected)))


def test_residual_at_rest_of_a_straight_rod_is_the_gravity_load_alone():
    # zero angle everywhere: the series of the local map at s = 0
    system = ag.Model(one_rod()[0])
    zero = np.zeros(system.size)
    expected = PlainRobot(system).lagrange(zero, zero, zero)
    assert np.max(np.abs(system.residual(zero) - expected)) < 1e-12 * np.max(np.abs(expected))


def test_residual_with_an_interval_that_turns_by_three_radians():
    system = ag.Model(one_rod(ag.Strains(twist=1, bend_y=1, bend_z=1, stretch=1), intervals=1)[0])
    q = np.array([1.0, 4.0, 2.5, 0.1])
    assert 2.7 < np.linalg.norm(q[:3]) * 0.6 < 3.0
    v, a = np.array([3.0, -2.0, 4.0, 0.5]), np.array([5.0, 9.0, -4.0, 2.0])
    expected = PlainRobot(system).lagrange(q, v, a)
    assert system.residual(q, v, a) == pytest.approx(expected, rel=1e-9)


def test_mass_matrix_is_the_hessian_of_the_kinetic_energy():
    system = ag.Model(branching())
    plain = PlainRobot(system)
    q, v, a = random_state(system, 13)
    n = system.size
    expected = np.array([plain.momenta(q, e) for e in np.eye(n)])
    scale = np.outer(system.tree.scale, system.tree.scale)
    given = system.matrices(q, v, a)[2]
    assert np.max(np.abs(given - expected) / scale) < 1e-12 * np.max(np.abs(expected) / scale)


def test_elastic_stiffness_is_the_quadrature_of_hookes_law():
    system = ag.Model(tapered())
    expected = PlainRobot(system).stiffness
    assert system.elastic_stiffness() == pytest.approx(expected, rel=1e-12, abs=1e-13 * np.max(expected))
