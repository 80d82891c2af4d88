"""The tangent against differences of the residual, and the structure that mechanics gives it."""

import numpy as np
import pytest
from scipy.linalg import expm

import anguilla as ag

# Soft and thick, so that inertia, gravity, loads and every stiffness show up in the tangent with comparable size.
SOFT = ag.Material(young=2e3, poisson=0.4, density=1100.0)
DAMPED = ag.Material(young=2e3, poisson=0.4, density=1100.0, damping=0.03)
THICK = ag.Ellipse(0.03, 0.05)
LENGTH = 0.6


def one_rod(strains=None, section=THICK, rest=None, material=DAMPED, intervals=5, gravity=(1.0, -2.0, -9.0), **options):
    robot = ag.Robot("one", gravity=gravity)
    rod = ag.Rod(LENGTH, section, material, strains or ag.reissner(2), rest or ag.Straight(), intervals=intervals)
    return robot, robot.add(rod, at=robot.ground, name="arm", **options)


def random_state(system, seed=1):
    """Coordinates of about half a radian, rates of a few rad/s."""
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=(3, system.size)) / system.tree.scale
    return 0.3 * q, 2.0 * v, 10.0 * a


def random_pose(seed):
    x, y, z, *offset = np.random.default_rng(seed).normal(size=6)
    pose = np.eye(4)
    pose[:3, :3] = expm(np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]))
    pose[:3, 3] = 0.1 * np.array(offset)
    return pose


def differences(system, q, v, a, alpha, beta, t):
    """dR along (dq, alpha dq, beta dq), column by column: central differences of fourth order."""
    size = 1e-3 / max(1.0, abs(alpha) / 3.0, abs(beta) / 30.0)
    columns = []
    for j in range(system.size):
        e = np.zeros(system.size)
        e[j] = size / system.tree.scale[j]
        at = lambda s, e=e: system.residual(q + s * e, v + s * alpha * e, a + s * beta * e, t=t)
        columns.append((8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * e[j]))
    return np.array(columns).T


def scaled(system, matrix):
    return matrix / np.outer(system.tree.scale, system.tree.scale)


def check(robot, t=0.0, q=None):
    """K, C and M, each alone, at a moving state."""
    system = ag.Model(robot)
    shape, v, a = random_state(system)
    q = shape if q is None else q
    given = system.matrices(q, v, a, t=t)
    stiffness = differences(system, q, v, a, 0.0, 0.0, t)
    damping = differences(system, q, v, a, 1.0, 0.0, t) - stiffness
    mass = differences(system, q, v, a, 0.0, 1.0, t) - stiffness
    for name, x, y in zip("KCM", given, (stiffness, damping, mass), strict=True):
        x, y = scaled(system, x), scaled(system, y)
        assert np.max(np.abs(x - y)) < 1e-7 * np.max(np.abs(y)), name


BASES = {
    "monomial": ag.Monomial(3),
    "chebyshev": ag.Chebyshev(5),  # more than one pack of lanes
    "legendre": ag.Legendre(4),
    "free_tip": ag.FreeTip(3),
    "piecewise_constant": ag.PiecewiseConstant(3),
    "uneven_constant": ag.PiecewiseConstant((0.2, 0.5)),
    "piecewise_polynomial": ag.PiecewisePolynomial(2, 3),
}


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
def test_tangent_for_every_basis(basis):
    check(one_rod(ag.Strains(twist=basis, bend_z=basis, shear_y=basis), intervals=6)[0])


SUBSETS = {name: ag.Strains(**{name: 5}) for name in ag.STRAIN_NAMES} | {
    "kirchhoff": ag.kirchhoff(3),
    "no_twist": ag.kirchhoff(3, twist_modes=0),
    "extensible": ag.extensible_kirchhoff(3, stretch_modes=1),
    "reissner": ag.reissner(3),
    "planar": ag.planar(6),
    "planar_all": ag.planar(3, stretch_modes=2, shear_modes=1),
    "shears": ag.Strains(shear_y=2, shear_z=5),
}


@pytest.mark.parametrize("strains", SUBSETS.values(), ids=SUBSETS)
def test_tangent_for_every_set_of_strains(strains):
    check(one_rod(strains, rest=ag.ConstantCurvature(0.5, -1.0, 2.0))[0])


LOADS = {
    "nothing": lambda arm: None,
    "dead_tip": lambda arm: ag.TipWrench(arm, force=(3.0, -2.0, 4.0), moment=(0.2, -0.3, 0.4)),
    "follower_tip": lambda arm: ag.TipWrench(arm, force=(3.0, -2.0, 4.0), moment=(0.2, -0.3, 0.4), follower=True),
    "dead_mid": lambda arm: ag.Wrench(arm.section(0.25), force=(3.0, -2.0, 4.0), moment=(0.2, -0.3, 0.4)),
    "follower_mid": lambda arm: ag.Wrench(arm.section(0.25), (3.0, -2.0, 4.0), (0.2, -0.3, 0.4), follower=True),
    "follower_root": lambda arm: ag.Wrench(arm.root, (3.0, -2.0, 4.0), (0.2, -0.3, 0.4), follower=True),
    "dead_spread": lambda arm: ag.DistributedWrench(arm, force=lambda X: (3.0, X, 4.0), moment=(0.2, -0.3, 0.4)),
    "follower_spread": lambda arm: ag.DistributedWrench(
        arm, force=(3.0, 1.0, 4.0), moment=lambda X: (X, -0.3, 0.4), follower=True
    ),
    "dead_in_time": lambda arm: ag.TipWrench(arm, force=lambda t: (3.0 * t, -2.0, t * t), moment=(0.2, -0.3, 0.4)),
    "follower_in_time": lambda arm: ag.TipWrench(arm, lambda t: (3.0 * t, -2.0, t), lambda t: (t, -0.3, 0.4), True),
    "spread_in_time": lambda arm: ag.DistributedWrench(
        arm, force=lambda X, t: (3.0 * t, X, t * t), moment=lambda X, t: (X * t, 1.0, 0.0), follower=True
    ),
}


@pytest.mark.parametrize("load", LOADS.values(), ids=LOADS)
def test_tangent_for_every_load(load):
    robot, arm = one_rod(ag.reissner(2, shear_modes=1))
    if load(arm) is not None:
        robot.load(load(arm))
    check(robot, t=0.8)


def test_loads_in_time_are_taken_at_the_time_asked_for():
    robot, arm = one_rod(gravity=lambda t: (0.0, 0.0, -9.0 * t))
    robot.load(ag.TipWrench(arm, force=lambda t: (t, 2.0 * t, 0.0), follower=True))
    frozen, same = one_rod(gravity=(0.0, 0.0, -9.0 * 0.8))
    frozen.load(ag.TipWrench(same, force=(0.8, 1.6, 0.0), follower=True))
    one, two = ag.Model(robot), ag.Model(frozen)
    state = random_state(one)
    assert np.array_equal(one.residual(*state, t=0.8), two.residual(*state))
    assert np.array_equal(one.tangent(*state, t=0.8), two.tangent(*state))
    assert not np.allclose(one.tangent(*state, t=0.1), two.tangent(*state))


def test_tangent_without_gravity():
    check(one_rod(gravity=(0.0, 0.0, 0.0))[0])


REST = {
    "arc": ag.ConstantCurvature(bend_y=3.0),
    "helix": ag.Helix(0.1, 0.2),
    "left_helix": ag.Helix(0.1, 0.2, left_handed=True),
    "function": ag.RestFunction(lambda X: (X, 2.0 - X, np.sin(9.0 * X), 1.0 + X, 0.3 * X, -0.2)),
}


@pytest.mark.parametrize("rest", REST.values(), ids=REST)
def test_tangent_for_every_rest_shape(rest):
    check(one_rod(rest=rest)[0])


SECTIONS = {
    "tapered": ag.taper(ag.Ellipse(0.05, 0.03), ag.Ellipse(0.02, 0.01), LENGTH),
    "stepped": ag.Tapered(lambda X: ag.Circle(0.05 if X < 0.3 else 0.02), breakpoints=(0.3,)),
    "tube": ag.Tube(0.05, 0.04),
}


@pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
def test_tangent_for_every_kind_of_section(section):
    check(one_rod(section=section)[0])


def test_tangent_without_damping():
    check(one_rod(material=SOFT)[0])


@pytest.mark.parametrize("intervals", [1, 2, 3, 4, 9])
def test_tangent_for_any_number_of_intervals(intervals):
    # intervals share records of four: full and partly filled ones
    check(one_rod(ag.reissner(1), intervals=intervals)[0])


@pytest.mark.parametrize("angle", [1.0, 2.0, 2.9])
def test_tangent_with_an_interval_that_turns_far(angle):
    # the high orders of the series in the angle count only here
    direction = np.array([0.3, -0.5, 0.8])
    q = np.concatenate([angle / LENGTH * direction / np.linalg.norm(direction), [0.3, -0.4, 0.5]])
    check(one_rod(ag.reissner(1), intervals=1)[0], q=q)


def test_tangent_of_a_rod_at_a_pose():
    check(one_rod(pose=random_pose(2))[0])


def tree():
    robot = ag.Robot("tree", gravity=(2.0, -1.0, -9.0))
    add = robot.add
    trunk = add(
        ag.Rod(0.5, THICK, DAMPED, ag.reissner(2), ag.ConstantCurvature(0.5, 1.0, -2.0), intervals=3),
        at=robot.ground, pose=random_pose(5), name="trunk",
    )  # fmt: skip
    thin = ag.Rod(0.3, ag.Circle(0.02), SOFT, ag.kirchhoff(2), intervals=2)
    twig = add(thin, at=trunk.tip, pose=random_pose(6), name="twig")
    flat = ag.Rod(0.3, ag.Circle(0.03), DAMPED, ag.planar(2, stretch_modes=1), intervals=3)
    side = add(flat, at=trunk.section(0.21), pose=random_pose(7), name="side")
    robot.load(ag.TipWrench(twig, force=(0.1, 0.2, 0.3), moment=(0.01, 0.02, -0.01), follower=True))
    robot.load(ag.Wrench(trunk.section(0.1), force=(0.1, 0.2, 0.3), moment=(0.01, 0.02, -0.01), follower=True))
    robot.load(ag.DistributedWrench(side, force=(0.1, 0.2, 0.3), follower=True))
    return robot


def test_tangent_of_a_branching_tree():
    check(tree())


def test_tangent_of_a_deep_and_wide_tree():
    robot = ag.Robot("bush")
    rod = ag.Rod(0.3, ag.Circle(0.03), SOFT, ag.kirchhoff(1), intervals=2)
    one = robot.add(rod, at=robot.ground)
    robot.add(rod, at=robot.ground, pose=random_pose(1))
    two = robot.add(rod, at=one.section(0.1), pose=random_pose(2))
    robot.add(rod, at=one.root, pose=random_pose(3))
    three = robot.add(rod, at=two.tip, pose=random_pose(4))
    robot.add(rod, at=two.section(0.2), pose=random_pose(5))
    robot.load(ag.TipWrench(three, force=(0.1, 0.4, 0.3), follower=True))
    check(robot)


SCHEMES = {
    "newmark": ag.Newmark(),
    "damped_newmark": ag.Newmark(0.3025, 0.6),
    "hht": ag.HHT(-0.2),
    "generalised_alpha": ag.GeneralisedAlpha(0.5),
    "midpoint": ag.Midpoint(),
}


@pytest.mark.parametrize("dt", [1e-3, 0.05])
@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_tangent_for_every_time_stepper(scheme, dt):
    # dv/dq and da/dq of the balance state of one step
    am, af, beta, gamma, _ = scheme.coefficients
    alpha, beta = gamma / (beta * dt), (1.0 - am) / ((1.0 - af) * beta * dt**2)
    system = ag.Model(tree())
    state = random_state(system)
    given = scaled(system, system.tangent(*state, alpha=alpha, beta=beta))
    expected = scaled(system, differences(system, *state, alpha, beta, 0.0))
    assert np.max(np.abs(given - expected)) < 1e-7 * np.max(np.abs(expected))


def test_tangent_is_affine_in_alpha_and_beta():
    system = ag.Model(tree())
    state = random_state(system)
    K, C, M = system.matrices(*state)
    expected = scaled(system, K + 70.0 * C + 3000.0 * M)
    given = scaled(system, system.tangent(*state, alpha=70.0, beta=3000.0))
    assert np.max(np.abs(given - expected)) < 1e-11 * np.max(np.abs(expected))


def asymmetry(system, matrix):
    matrix = scaled(system, matrix)
    return np.max(np.abs(matrix - matrix.T)) / np.max(np.abs(matrix))


def test_stiffness_is_symmetric_under_conservative_loads():
    robot, arm = one_rod(rest=ag.Helix(0.1, 0.2), section=SECTIONS["tapered"])
    twig = robot.add(ag.Rod(0.3, THICK, SOFT, ag.kirchhoff(2)), at=arm.section(0.4), pose=random_pose(3))
    robot.load(ag.TipWrench(twig, force=(3.0, -2.0, 4.0)))
    robot.load(ag.Wrench(arm.section(0.2), force=(1.0, 2.0, 4.0)))
    robot.load(ag.DistributedWrench(arm, force=lambda X: (1.0, X, 2.0)))
    system = ag.Model(robot)
    q, _, _ = random_state(system)
    assert asymmetry(system, system.tangent(q)) < 1e-12


def test_stiffness_is_not_symmetric_under_a_follower_force():
    robot, arm = one_rod()
    robot.load(ag.TipWrench(arm, force=(0.0, 1.0, 0.0), follower=True))
    system = ag.Model(robot)
    q, _, _ = random_state(system)
    assert asymmetry(system, system.tangent(q)) > 1e-3


def test_stiffness_is_not_symmetric_under_a_dead_moment():
    robot, arm = one_rod()
    robot.load(ag.TipWrench(arm, moment=(0.0, 1.0, 0.0)))
    system = ag.Model(robot)
    q, _, _ = random_state(system)
    assert asymmetry(system, system.tangent(q)) > 1e-3


@pytest.mark.parametrize("build", [lambda: one_rod(ag.reissner(4), intervals=8)[0], tree], ids=["rod", "tree"])
def test_mass_matrix_is_symmetric_positive_definite(build):
    system = ag.Model(build())
    mass = system.matrices(*random_state(system))[2]
    assert asymmetry(system, mass) < 1e-12
    # kinetic energy of any motion is positive: compare with the diagonal, which it cannot exceed by far
    unit = 1.0 / np.sqrt(np.diag(mass))
    assert np.linalg.eigvalsh(mass * np.outer(unit, unit)).min() > 1e-9


def test_damping_at_rest_is_proportional_to_stiffness():
    system = ag.Model(one_rod()[0])
    q, _, _ = random_state(system)
    damping = system.matrices(q)[1]
    expected = 0.03 * system.elastic_stiffness()
    assert damping == pytest.approx(expected, rel=1e-9, abs=1e-12 * np.max(expected))


def test_tangent_does_not_remember_earlier_states():
    system, other = ag.Model(tree()), ag.Model(tree())
    one, two = random_state(system, 1), random_state(system, 2)
    other.tangent(*two, alpha=4.0, beta=9.0)
    assert np.array_equal(other.tangent(*one, alpha=1.0, beta=2.0), system.tangent(*one, alpha=1.0, beta=2.0))


def test_matrices_of_two_robots_do_not_mix():
    one, two = ag.Model(tree()), ag.Model(one_rod()[0])
    state = random_state(one)
    before = one.tangent(*state)
    two.tangent(*random_state(two))
    assert np.array_equal(one.tangent(*state), before)
