"""Poses, twists, accelerations and Jacobians against matrix exponentials, an ODE solver and differences in time."""

import numpy as np
import pytest
from plain_rods import PlainRobot, hat, strain_table, vee
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import anguilla as ag
from anguilla.results.states import Status, Trajectory

MATERIAL = ag.Material(young=1e5, poisson=0.4, density=1000.0)
LENGTH = 0.7


def pose_of(vector):
    return expm(hat(np.asarray(vector, dtype=float)))


def tree(intervals=5):
    robot = ag.Robot("tree")
    trunk = robot.add(
        ag.Rod(LENGTH, ag.Circle(0.03), MATERIAL, ag.reissner(3), ag.Helix(0.3, 0.5), intervals=intervals),
        at=robot.ground, pose=pose_of([0.3, -0.4, 0.8, 0.1, 0.2, 0.3]), name="trunk",
    )  # fmt: skip
    robot.add(
        ag.Rod(0.4, ag.Circle(0.02), MATERIAL, ag.kirchhoff(2), intervals=intervals),
        at=trunk.section(0.31), pose=pose_of([1.3, 0.5, 0.2, 0.0, 0.1, -0.1]), name="branch",
    )  # fmt: skip
    return robot


def random_state(system, seed):
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=(3, system.size)) / system.tree.scale
    return 0.3 * q, 2.0 * v, 10.0 * a


def states(robot, q, v=None, a=None):
    """A trajectory made of given states (nt, n)."""
    system = ag.Model(robot)
    q = np.atleast_2d(q)
    v, a = (np.zeros_like(q) if x is None else np.atleast_2d(x) for x in (v, a))
    return Trajectory(robot, system, Status(True, "given"), np.arange(len(q)) * 1.0, q, v, a)


def integrate_pose(part, q, X):
    """g(X) of g' = g xi, from the root of a rod, by an adaptive Runge-Kutta method of order 8."""
    columns = slice(0, part.rod.size)

    def slope(s, g):
        s = np.array([s])
        xi = part.rod.rest.strain(s)[0] + strain_table(part, s, columns, part.rod.size)[0] @ q
        return (g.reshape(4, 4) @ hat(xi)).ravel()

    run = solve_ivp(slope, (0.0, X), np.eye(4).ravel(), method="DOP853", rtol=1e-12, atol=1e-13)
    return part.pose @ run.y[:, -1].reshape(4, 4)


def test_node_poses_are_products_of_matrix_exponentials():
    robot = tree()
    system = ag.Model(robot)
    q, _, _ = random_state(system, 1)
    run = states(robot, q)
    for part, (poses, _) in zip(robot.parts, PlainRobot(system).motion(q, 0 * q), strict=True):
        X = system.layout.rods[part.index].grid.X
        given = np.array([run.pose(part.section(float(x)))[0] for x in X])
        assert np.max(np.abs(given - poses)) < 1e-13


def test_node_rotations_stay_orthogonal_over_many_intervals():
    robot = tree(intervals=100)
    q, _, _ = random_state(ag.Model(robot), 2)
    rotation = states(robot, q).pose(robot.parts[1].tip)[0, :3, :3]
    assert np.max(np.abs(rotation.T @ rotation - np.eye(3))) < 1e-13


@pytest.mark.parametrize("X", [0.0, 0.1234, 0.31, 0.5, LENGTH])
def test_pose_anywhere_solves_the_rod_equation(X):
    robot = tree(intervals=160)
    trunk = robot.parts[0]
    q, _, _ = random_state(ag.Model(robot), 3)
    assert np.max(np.abs(states(robot, q).pose(trunk.section(X))[0] - integrate_pose(trunk, q[: trunk.size], X))) < 1e-9


def test_pose_error_falls_with_the_fourth_power_of_the_interval():
    q, _, _ = random_state(ag.Model(tree()), 4)
    truth, numbers, errors = None, np.array([12, 16, 24, 32, 48]), []
    for intervals in numbers:
        robot = tree(int(intervals))
        trunk = robot.parts[0]
        truth = integrate_pose(trunk, q[: trunk.size], LENGTH) if truth is None else truth
        errors.append(np.max(np.abs(states(robot, q).pose(trunk.tip)[0] - truth)))
    order = -np.polyfit(np.log(numbers), np.log(errors), 1)[0]
    assert 3.7 < order < 4.5


def test_constant_strain_is_exact_with_one_interval():
    robot = ag.Robot("arc")
    rod = ag.Rod(LENGTH, ag.Circle(0.03), MATERIAL, ag.reissner(1), intervals=1)
    arm = robot.add(rod, at=robot.ground)
    q = np.array([1.0, -2.0, 1.5, 0.2, 0.1, -0.3])
    expected = expm(LENGTH * hat(q + np.eye(6)[3]))
    assert states(robot, q).pose(arm.tip)[0] == pytest.approx(expected, abs=1e-14)


def test_an_interval_that_turns_too_far_is_refined_or_refused():
    robot = ag.Robot("coil")
    rod = ag.Rod(LENGTH, ag.Circle(0.03), MATERIAL, ag.Strains(bend_z=1), intervals=1)
    arm = robot.add(rod, at=robot.ground)
    try:
        given = states(robot, np.array([12.0 / LENGTH])).pose(arm.tip)[0]
    except ag.AnguillaError:
        return
    assert given == pytest.approx(expm(hat(np.array([0.0, 0.0, 12.0, LENGTH, 0.0, 0.0]))), abs=1e-9)


def along_motion(robot, frame, q, v, a, h):
    """Poses (7, 4, 4) at t = -3h ... 3h of the motion q + t v + t^2/2 a."""
    t = h * np.arange(-3, 4)[:, None]
    return states(robot, q + t * v + 0.5 * t * t * a).pose(frame)


FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
SECOND = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0


@pytest.mark.parametrize("place", ["trunk.tip", "trunk[0.2]", "branch.root", "branch.tip"])
def test_twist_is_the_rate_of_the_pose(place):
    robot = tree()
    trunk, branch = robot.parts
    places = {"trunk.tip": trunk.tip, "trunk[0.2]": trunk.section(0.2)}
    frame = (places | {"branch.root": branch.root, "branch.tip": branch.tip})[place]
    q, v, a = random_state(ag.Model(robot), 5)
    poses = along_motion(robot, frame, q, v, a, 2e-3)
    rate = np.linalg.solve(poses[3], np.tensordot(FIRST, poses, 1) / 2e-3)
    expected = np.concatenate([vee(rate[:3, :3]), rate[:3, 3]])
    assert states(robot, q, v, a).twist(frame)[0] == pytest.approx(expected, abs=1e-9 * np.max(np.abs(expected)))


@pytest.mark.parametrize("branch", [False, True])
def test_acceleration_is_the_second_rate_of_the_pose(branch):
    robot = tree()
    frame = robot.parts[1].tip if branch else robot.parts[0].section(0.2)
    q, v, a = random_state(ag.Model(robot), 6)
    poses = along_motion(robot, frame, q, v, a, 4e-3)
    second = np.tensordot(SECOND, poses, 1) / 4e-3**2
    # R'' R^T = [al] + [w]^2, whose antisymmetric part is [al]
    expected = np.concatenate([vee(second[:3, :3] @ poses[3, :3, :3].T), second[:3, 3]])
    given = states(robot, q, v, a).acceleration(frame)[0]
    assert given == pytest.approx(expected, abs=1e-8 * np.max(np.abs(expected)))


@pytest.mark.parametrize("place", ["trunk.root", "trunk[0.2]", "trunk.tip", "branch.root", "branch.tip"])
def test_jacobian_is_the_derivative_of_the_pose(place):
    robot = tree()
    trunk, branch = robot.parts
    places = {"trunk.root": trunk.root, "trunk[0.2]": trunk.section(0.2), "trunk.tip": trunk.tip}
    frame = (places | {"branch.root": branch.root, "branch.tip": branch.tip})[place]
    q, _, _ = random_state(ag.Model(robot), 7)
    zero = np.zeros_like(q)
    expected = np.zeros((6, len(q)))
    scale = ag.Model(robot).tree.scale
    for j in range(len(q)):
        direction = zero.copy()
        direction[j] = 1.0 / scale[j]
        poses = along_motion(robot, frame, q, direction, zero, 1e-2)
        rate = np.linalg.solve(poses[3], np.tensordot(FIRST, poses, 1) / 1e-2)
        expected[:, j] = scale[j] * np.concatenate([vee(rate[:3, :3]), rate[:3, 3]])
    given = states(robot, q).jacobian(frame)[0]
    assert np.max(np.abs(given - expected) / scale) < 1e-10


def test_jacobian_times_rates_is_the_twist():
    robot = tree()
    q, v, a = random_state(ag.Model(robot), 8)
    run = states(robot, q, v, a)
    for part in robot.parts:
        for frame in (part.tip, part.section(0.17)):
            assert run.jacobian(frame)[0] @ v == pytest.approx(run.twist(frame)[0], abs=1e-11)


def test_the_motion_of_a_frame_does_not_depend_on_what_else_is_observed():
    robot = tree()
    q, v, a = random_state(ag.Model(robot), 10)
    run = states(robot, q, v, a)
    for part in robot.parts:
        line = run.centerline(part, 7)[0]
        for X, point in zip(np.linspace(0.0, part.length, 7), line, strict=True):
            assert run.position(part.section(float(X)))[0] == pytest.approx(point, abs=1e-14)


def test_a_frame_of_the_ground_does_not_move():
    robot = tree()
    q, v, a = random_state(ag.Model(robot), 9)
    run = states(robot, q, v, a)
    assert np.array_equal(run.pose(robot.ground)[0], np.eye(4))
    assert not run.twist(robot.ground).any() and not run.jacobian(robot.ground).any()
