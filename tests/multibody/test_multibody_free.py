"""Balls and free joints: SO(3) blocks in the tree."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import anguilla as ag
from anguilla import lie

MATERIAL = ag.Material(young=1e6, poisson=0.4, density=1000.0, damping=0.01)


def turned(system, q, e):
    """q moved by e: rotations of balls are composed in the axes of the child."""
    out = q + e
    for k, _ in system.tree.ball:
        out[k : k + 3] = lie.log3(lie.exp3(q[k : k + 3]) @ lie.exp3(e[k : k + 3]))
    return out


def tangent_error(robot, seed, alpha=2.0, beta=5.0):
    system = ag.Model(robot)
    scale = system.tree.scale
    q, v, a = np.random.default_rng(seed).normal(size=(3, system.size)) * [[0.6], [1.5], [2.0]] / scale
    exact = system.tangent(q, v, a, alpha=alpha, beta=beta)
    measured = np.zeros_like(exact)
    for j in range(system.size):
        e = np.zeros(system.size)
        e[j] = 1e-5 / scale[j]
        ahead = system.residual(turned(system, q, e), v + alpha * e, a + beta * e)
        behind = system.residual(turned(system, q, -e), v - alpha * e, a - beta * e)
        measured[:, j] = (ahead - behind) / (2.0 * e[j])
    size = np.outer(scale, scale)
    return np.abs((exact - measured) / size).max() / np.abs(exact / size).max()


def flying_arm():
    robot = ag.Robot("flyer")
    base = robot.add(ag.RigidBody(1.0, inertia=(0.1, 0.2, 0.25), com=(0.05, 0.02, 0)), at=robot.ground, joint=ag.Free())
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.01), MATERIAL, ag.reissner(2)), at=base.at((0.1, 0, 0)))
    inertia = np.array([[0.1, 0.01, 0.02], [0.01, 0.12, 0.0], [0.02, 0.0, 0.11]])
    hand = ag.RigidBody(0.3, inertia=inertia, com=(0.0, 0.02, 0.1))
    hand = robot.add(hand, at=arm.tip, joint=ag.Spherical(damping=(0.1, 0.2, 0.3), effort=lambda t: (t, 0.1, -0.2)))
    robot.load(ag.Wrench(hand.at((0.1, 0.2, 0.3)), force=(1, 2, 3), moment=(0.1, 0.2, 0.3), follower=True))
    return robot


@pytest.mark.parametrize("seed", range(3))
def test_tangent_of_balls_is_exact(seed):
    assert tangent_error(flying_arm(), seed) < 1e-7


@pytest.mark.filterwarnings("ignore::anguilla.AnguillaWarning")  # long steps on purpose
def test_newton_converges_quadratically_over_a_large_rotation_of_a_step():
    """The right differential in the tangent: without it a step that turns by 0.5 rad needs many more corrections."""
    robot = ag.Robot("top", gravity=(0, 0, 0))
    robot.add(ag.RigidBody(1.5, inertia=(1.0, 2.0, 3.0)), at=robot.ground, joint=ag.Free())
    start = (np.zeros(6), np.array([0, 0, 0, 1.0, 4.0, 2.0]))
    run = ag.simulate(robot, duration=1.0, dt=0.1, start=start, tolerance=1e-10)
    assert run.status.counters["substeps"] == 0
    assert run.status.counters["iterations"] <= 9 * run.status.counters["steps"]


@pytest.mark.parametrize("method", [ag.Newmark(), ag.GeneralisedAlpha(0.8), ag.Midpoint()], ids=str)
def test_free_rigid_body_against_eulers_equations(method):
    J, omega, velocity = np.array([1.0, 2.0, 3.0]), np.array([0.3, 2.0, 0.1]), np.array([0.5, -0.2, 0.1])

    def euler(_, y):
        w = y[9:]
        return np.concatenate([(y[:9].reshape(3, 3) @ lie.hat3(w)).ravel(), -np.cross(w, J * w) / J])

    truth = solve_ivp(euler, (0, 4), [*np.eye(3).ravel(), *omega], rtol=1e-12, atol=1e-13, method="DOP853").y[:9, -1]
    robot = ag.Robot("top", gravity=(0, 0, 0))
    body = robot.add(ag.RigidBody(1.5, inertia=tuple(J)), at=robot.ground, joint=ag.Free())
    errors = []
    for dt in (0.02, 0.01):
        start = (np.zeros(6), np.concatenate([velocity, omega]))
        run = ag.simulate(robot, duration=4.0, dt=dt, start=start, method=method, tolerance=1e-11)
        pose = run.pose(body.frame)[-1]
        assert pose[:3, 3] == pytest.approx(4.0 * velocity, abs=1e-11)
        errors.append(np.abs(pose[:3, :3].ravel() - truth).max())
    assert errors[1] < 2e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_spherical_pendulum_equals_a_universal_one():
    """A ball hung under gravity swings as two hinges do: no spin about its axis, so the same positions."""
    tips = []
    for joint, start in (
        (ag.Spherical(), ([0.0, 0.5, 0.0], [0.0, 0.0, 0.0])),
        (ag.Universal((0, 0, 1), (0, 1, 0)), ([0.0, 0.5], [0.0, 0.0])),
    ):
        robot = ag.Robot("pendulum", gravity=(9.81, 3.0, 0))
        bob = ag.RigidBody(1.0, (1e-6, 1e-6, 1e-6), com=(0.7, 0, 0))  # a point would leave the spin without inertia
        body = robot.add(bob, at=robot.ground, joint=joint)
        run = ag.simulate(robot, duration=1.0, dt=0.0005, start=start, tolerance=1e-10)
        tips.append(run.position(body.at((0.7, 0, 0)))[-1])
    assert tips[0] == pytest.approx(tips[1], abs=2e-5)


def test_momentum_of_a_flying_rod_tends_to_the_impulse_at_order_two():
    robot = ag.Robot("flying_rod", gravity=(0, 0, 0))
    rod = ag.Rod(1.0, ag.Circle(0.03), ag.Material(young=1e7, poisson=0.4, density=1000.0), ag.kirchhoff(3))
    arm = robot.add(rod, at=robot.ground, joint=ag.Free())
    robot.load(ag.Wrench(arm.section(0.3), force=lambda t: (0.0, 4.0 * np.sin(np.pi * min(t, 1.0)) ** 2, 0.0)))
    drifts = []
    for dt in (0.005, 0.0025, 0.00125):
        run = ag.simulate(robot, duration=2.0, dt=dt, tolerance=1e-11)
        drifts.append(np.abs(run.momentum[-1] - (0.0, 2.0, 0.0)).max())
    assert drifts[2] < 1e-5
    assert np.log2(drifts[1] / drifts[2]) == pytest.approx(2.0, abs=0.2)


def test_free_rod_under_gravity_falls_without_bending():
    robot = ag.Robot("falling")
    arm = robot.add(ag.Rod(1.0, ag.Circle(0.03), MATERIAL, ag.kirchhoff(3)), at=robot.ground, joint=ag.Free())
    run = ag.simulate(robot, duration=1.0, dt=0.05)
    assert run.position(arm.tip)[-1] == pytest.approx((1.0, 0.0, -9.81 / 2), abs=1e-9)
    assert np.abs(run.q[:, 6:]).max() < 1e-9


def test_a_ball_refuses_a_spring():
    with pytest.raises(ag.DescriptionError, match=r"Spherical\.stiffness must be zero"):
        ag.Spherical(stiffness=(1.0, 0.0, 0.0))
