"""Strain and internal wrench along rods, against statics on paper and balances of momentum."""

import numpy as np
import pytest
from scipy.linalg import expm

import anguilla as ag
from anguilla.results.states import Status, Trajectory

RADIUS, LENGTH, DENSITY = 0.02, 0.8, 1000.0
SECTION = ag.Circle(RADIUS)
MATERIAL = ag.Material(young=1e6, poisson=0.4, density=DENSITY)
LINE_MASS = DENSITY * np.pi * RADIUS**2
GRAVITY = np.array([1.0, 2.0, -9.0])
# A constant strain: interval maps and Gauss-Lobatto inertia are then exact to rounding.
CONSTANT = ag.reissner(1)


def one_rod(strains=CONSTANT, **options):
    robot = ag.Robot("one", gravity=GRAVITY)
    rod = ag.Rod(LENGTH, SECTION, MATERIAL, strains, **options)
    return robot, robot.add(rod, at=robot.ground, name="arm")


def random_state(system, seed):
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=(3, system.size)) / system.tree.scale
    return 0.3 * q, 2.0 * v, 10.0 * a


def state(robot, q, v=None, a=None):
    system = ag.Model(robot)
    zero = np.zeros(system.size)
    rows = [np.atleast_2d(zero if x is None else x) for x in (q, v, a)]
    return Trajectory(robot, system, Status(True, "given"), np.zeros(1), *rows)


def world(run, part, X, row=0):
    """Moments and forces (m, 3) of the internal wrench in world axes, and the positions (m, 3) of the sections."""
    wrench = run.wrench(part, X)[row]
    poses = np.array([run.pose(part.section(float(x)))[row] for x in X])
    turn = lambda y: np.einsum("mij,mj->mi", poses[:, :3, :3], y)
    return turn(wrench[:, :3]), turn(wrench[:, 3:]), poses[:, :3, 3]


def weight_beyond(run, part, X, points=12):
    """Integral of (x(s) - x(X)) x rho A g over s > X, by Gauss quadrature of positions."""
    y, w = np.polynomial.legendre.leggauss(points)
    s = X + 0.5 * (LENGTH - X) * (1.0 + y)
    x = np.array([run.position(part.section(float(k)))[0] for k in s]) - run.position(part.section(float(X)))[0]
    return 0.5 * (LENGTH - X) * w @ np.cross(x, LINE_MASS * GRAVITY)


def test_internal_force_of_a_heavy_loaded_rod_is_the_weight_and_the_load_beyond():
    robot, arm = one_rod()
    force = np.array([0.4, -0.3, 0.7])
    robot.load(ag.TipWrench(arm, force=force))
    q, _, _ = random_state(ag.Model(robot), 1)
    X = np.array([0.0, 0.1, 0.37, 0.6, LENGTH])
    _, given, _ = world(state(robot, q), arm, X)
    expected = force + LINE_MASS * np.outer(LENGTH - X, GRAVITY)
    assert given == pytest.approx(expected, abs=1e-10)


def test_internal_moment_of_a_heavy_loaded_rod():
    robot, arm = one_rod()
    force, couple = np.array([0.4, -0.3, 0.7]), np.array([0.1, 0.2, -0.3])
    robot.load(ag.TipWrench(arm, force=force, moment=couple))
    q, _, _ = random_state(ag.Model(robot), 2)
    run = state(robot, q)
    X = np.array([0.0, 0.55])
    given, _, x = world(run, arm, X)
    tip = run.position(arm.tip)[0]
    expected = [couple + np.cross(tip - x[k], force) + weight_beyond(run, arm, X[k]) for k in range(len(X))]
    assert given == pytest.approx(np.array(expected), abs=1e-10)


def test_internal_wrench_of_a_bent_shape_with_many_modes():
    robot, arm = one_rod(ag.reissner(4), intervals=48)
    robot.load(ag.TipWrench(arm, force=(0.4, -0.3, 0.7)))
    q, _, _ = random_state(ag.Model(robot), 3)
    run = state(robot, 0.5 * q)
    X = np.array([0.0, 0.6])
    moment, force, x = world(run, arm, X)
    assert force == pytest.approx([0.4, -0.3, 0.7] + LINE_MASS * np.outer(LENGTH - X, GRAVITY), abs=1e-7)
    arms = run.position(arm.tip)[0] - x
    weights = [weight_beyond(run, arm, s) for s in X]
    assert moment == pytest.approx(np.cross(arms, [0.4, -0.3, 0.7]) + weights, abs=1e-7)


def test_follower_loads_enter_the_internal_wrench_in_section_axes():
    robot, arm = one_rod()
    robot.gravity = (0.0, 0.0, 0.0)
    robot.load(ag.TipWrench(arm, force=(0.4, -0.3, 0.7), moment=(0.1, 0.2, 0.3), follower=True))
    q, _, _ = random_state(ag.Model(robot), 4)
    assert state(robot, q).wrench(arm, [LENGTH])[0, 0] == pytest.approx([0.1, 0.2, 0.3, 0.4, -0.3, 0.7], abs=1e-13)


def test_distributed_loads_sum_up_towards_the_root():
    robot, arm = one_rod()
    robot.gravity = (0.0, 0.0, 0.0)
    robot.load(ag.DistributedWrench(arm, force=lambda X: (1.0, X, X * X)))
    q, _, _ = random_state(ag.Model(robot), 5)
    X = np.array([0.0, 0.3, 0.7])
    _, given, _ = world(state(robot, q), arm, X)
    expected = np.stack([LENGTH - X, (LENGTH**2 - X**2) / 2.0, (LENGTH**3 - X**3) / 3.0], axis=1)
    assert given == pytest.approx(expected, abs=1e-12)


def test_distributed_follower_loads_turn_with_their_section():
    robot, arm = one_rod(ag.Strains(bend_z=1))
    robot.gravity = (0.0, 0.0, 0.0)
    robot.load(ag.DistributedWrench(arm, force=(0.0, 2.0, 0.0), moment=(0.0, 0.0, 0.5), follower=True))
    k = 1.7  # an arc in the plane: n' = -2 t2(s), t2 = (-sin k s, cos k s)
    run = state(robot, np.array([k]))
    moment, force, _ = world(run, arm, np.array([0.0]))
    angle = k * LENGTH
    assert force[0] == pytest.approx([2.0 * (np.cos(angle) - 1.0) / k, 2.0 * np.sin(angle) / k, 0.0], abs=1e-12)
    # x(s) = (sin k s, 1 - cos k s) / k: x cross 2 t2 = 2 sin(k s) cos(k s) / k + 2 (1 - cos k s) sin(k s) / k
    assert moment[0, 2] == pytest.approx(0.5 * LENGTH + 2.0 * (1.0 - np.cos(angle)) / k**2, abs=1e-12)


def test_internal_wrench_jumps_over_a_point_load():
    robot, arm = one_rod()
    robot.load(ag.Wrench(arm.section(0.3), force=(0.0, 1.0, 0.0), moment=(0.0, 0.0, 0.2)))
    q, _, _ = random_state(ag.Model(robot), 6)
    moment, force, _ = world(state(robot, q), arm, np.array([0.3, 0.3 + 1e-7]))
    assert force[0] - force[1] == pytest.approx([0.0, 1.0, 0.0], abs=1e-5)
    assert moment[0] - moment[1] == pytest.approx([0.0, 0.0, 0.2], abs=1e-5)


def test_constitutive_law_agrees_with_the_internal_wrench_at_a_converged_equilibrium():
    robot, arm = one_rod(ag.reissner(10), rest=ag.ConstantCurvature(bend_y=0.8), intervals=160)
    arm.rod.material = ag.Material(young=4e7, poisson=0.4, density=DENSITY)  # stiff: ten modes resolve its deformation
    robot.load(ag.TipWrench(arm, force=(0.0, 0.5, 0.3), moment=(0.02, 0.0, 0.01)))
    equilibrium = ag.statics(robot)
    X = np.linspace(0.0, LENGTH, 7)
    hooke = arm.rod.hooke(X) * (equilibrium.strain(arm, X) - arm.rod.rest.strain(X))
    given = equilibrium.wrench(arm, X)
    assert given[:, :3] == pytest.approx(hooke[:, :3], abs=1e-6 * np.max(np.abs(given[:, :3])))
    assert given[:, 3:] == pytest.approx(hooke[:, 3:], abs=1e-6 * np.max(np.abs(given[:, 3:])))


def tree(strains=CONSTANT, intervals=None):
    robot = ag.Robot("tree", gravity=GRAVITY)
    trunk = robot.add(
        ag.Rod(LENGTH, SECTION, MATERIAL, strains, ag.ConstantCurvature(1.0, 0.5), intervals=intervals), at=robot.ground
    )
    pose = np.eye(4)
    pose[:3, :3] = expm(np.array([[0.0, -0.4, 0.9], [0.4, 0.0, -0.2], [-0.9, 0.2, 0.0]]))
    pose[:3, 3] = 0.05, -0.1, 0.02
    thin = ag.Rod(0.4, ag.Circle(0.015), MATERIAL, strains, intervals=intervals)
    twig = robot.add(thin, at=trunk.section(0.3), pose=pose)
    robot.add(thin, at=twig.tip, pose=pose)
    robot.add(thin, at=trunk.tip, pose=pose)
    return robot


def resultant(robot):
    """Sum of all weights of a robot."""
    return sum(part.rod.mass for part in robot.parts) * GRAVITY


def rates_of_momentum(robot, q, v, a, h=1e-3):
    """Time derivatives of linear and angular momentum, by sixth-order differences along q + t v + t^2/2 a."""
    t = h * np.arange(-3, 4)[:, None]
    rows = q + t * v + 0.5 * t * t * a, v + t * a, a + 0 * t
    run = Trajectory(robot, ag.Model(robot), Status(True, "given"), t[:, 0], *rows)
    weights = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / (60.0 * h)
    return weights @ run.momentum, weights @ run.angular_momentum


@pytest.mark.parametrize(
    ("strains", "intervals", "goal"), [(CONSTANT, 12, 1e-9), (ag.kirchhoff(3), 40, 1e-5)], ids=["constant", "cubic"]
)
def test_momentum_changes_by_external_forces_and_the_reaction_at_the_root(strains, intervals, goal):
    robot = tree(strains, intervals)
    trunk = robot.parts[0]
    state_ = random_state(ag.Model(robot), 7)
    rate, _ = rates_of_momentum(robot, *state_)
    _, root, _ = world(state(robot, *state_), trunk, np.array([0.0]))
    # Lambda is what the rod exerts on the ground: the reaction is minus it
    assert rate == pytest.approx(resultant(robot) - root[0], abs=goal * np.max(np.abs(rate)))


def test_angular_momentum_changes_by_external_moments_and_the_reaction_at_the_root():
    robot = tree(intervals=12)
    state_ = random_state(ag.Model(robot), 8)
    run = state(robot, *state_)
    _, rate = rates_of_momentum(robot, *state_)
    root, _, _ = world(run, robot.parts[0], np.array([0.0]))
    y, w = np.polynomial.legendre.leggauss(10)
    external = 0.0
    for part in robot.parts:
        s, ds = 0.5 * part.length * (1.0 + y), 0.5 * part.length * w
        x = np.array([run.position(part.section(float(k)))[0] for k in s])
        external = external + ds @ np.cross(x, part.rod.inertia(s)[:, 3:] * GRAVITY)
    assert rate == pytest.approx(external - root[0], abs=1e-9 * np.max(np.abs(rate)))


def test_rods_hanging_on_a_rod_are_carried_by_it():
    robot = tree(intervals=12)
    trunk, twig, leaf, top = robot.parts
    q, _, _ = random_state(ag.Model(robot), 9)
    _, force, _ = world(state(robot, q), trunk, np.array([0.0, 0.3, 0.31, LENGTH]))
    mass = [trunk.rod.mass, twig.rod.mass, leaf.rod.mass, top.rod.mass]
    beyond = np.array([sum(mass), LINE_MASS * 0.5 + sum(mass[1:]), LINE_MASS * 0.49 + mass[3], mass[3]])
    assert force == pytest.approx(np.outer(beyond, GRAVITY), abs=1e-10)


def test_strain_field_is_the_rest_strain_plus_the_basis():
    robot, arm = one_rod(ag.Strains(bend_z=ag.Monomial(3), stretch=ag.Monomial(1)), rest=ag.Helix(0.2, 0.3))
    X = np.array([0.0, 0.2, 0.8])
    field = state(robot, np.array([1.0, 2.0, 3.0, 0.1])).strain(arm, X)[0]
    expected = arm.rod.rest.strain(X)
    x = X / LENGTH
    expected[:, 2] += 1.0 + 2.0 * x + 3.0 * x**2
    expected[:, 3] += 0.1
    assert field == pytest.approx(expected, abs=1e-14)
