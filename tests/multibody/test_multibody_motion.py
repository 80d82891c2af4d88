"""Motion and equilibrium of jointed robots: periods, energies, work, springs."""

from itertools import pairwise

import numpy as np
import pytest
from multibody_oracles import double_pendulum, random_inertia
from scipy.integrate import cumulative_simpson, solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipk

import anguilla as ag

Y = (0.0, 1.0, 0.0)


def pendulum(**options):
    """A box that hangs along -z at q = 0: the robot, its mass, distance of the centre and inertia about the hinge."""
    robot = ag.Robot("pendulum")
    body = ag.RigidBody.box((0.1, 0.05, 0.4), mass=0.8, com=(0.0, 0.0, -0.25))
    robot.add(body, at=robot.ground, joint=ag.Revolute(Y, **options), name="bob")
    return robot, 0.8, 0.25, body.inertia[1] + 0.8 * 0.25**2


def half_period(run):
    """Mean time [s] between passages through zero, by cubic interpolation of angle and rate."""
    q, v, t = run.q[:, 0], run.v[:, 0], run.t
    times = []
    for k in np.flatnonzero(q[:-1] * q[1:] < 0.0):
        h = t[k + 1] - t[k]
        hermite = lambda s, k=k, h=h: (
            (1 + 2 * s) * (1 - s) ** 2 * q[k] + s * (1 - s) ** 2 * h * v[k]
            + s**2 * (3 - 2 * s) * q[k + 1] - s**2 * (1 - s) * h * v[k + 1]
        )  # fmt: skip
        times.append(t[k] + h * brentq(hermite, 0.0, 1.0))
    return np.mean(np.diff(times))


@pytest.mark.parametrize("angle", [0.01, 1.0, 2.0, 3.0])
def test_period_of_a_pendulum(angle):
    robot, mass, distance, inertia = pendulum()
    exact = 2.0 * np.sqrt(inertia / (mass * 9.81 * distance)) * ellipk(np.sin(angle / 2.0) ** 2)
    run = ag.simulate(robot, duration=6.0, dt=1e-3, start=[angle], method=ag.Midpoint())
    assert half_period(run) == pytest.approx(exact, rel=1e-5)


def test_double_pendulum_converges_with_the_step():
    m1, m2, l1, l2 = 1.0, 2.0, 0.7, 0.5
    robot = ag.Robot("double")
    a = robot.add(ag.RigidBody.point_mass(m1, com=(l1, 0, 0)), at=robot.ground, joint=ag.Revolute(Y))
    robot.add(ag.RigidBody.point_mass(m2, com=(l2, 0, 0)), at=a.at((l1, 0, 0)), joint=ag.Revolute(Y))
    rates = lambda t, y: [*y[2:], *double_pendulum(m1, m2, l1, l2, 9.81, y[:2], y[2:])]
    exact = solve_ivp(rates, (0.0, 1.0), [0.2, 0.3, 0.0, 0.0], rtol=1e-12, atol=1e-12, method="DOP853").y[:2, -1]
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        run = ag.simulate(robot, duration=1.0, dt=dt, start=[0.2, 0.3], method=ag.Midpoint(), tolerance=1e-10)
        errors.append(np.abs(run.q[-1] - exact).max())
    assert errors[-1] < 1e-4
    assert all(3.5 < a / b < 4.5 for a, b in pairwise(errors))


def arm(damping=0.0, effort=0.0, stiffness=2.0, gravity=(0.0, 0.0, -9.81)):
    """A body on a universal joint, a rod on it, and a body that slides and turns at the tip of the rod."""
    rng = np.random.default_rng(1)
    robot = ag.Robot("mixed", gravity=gravity)
    pair = lambda x: (x, x)
    first = ag.Universal((0, 1, 0), (0, 0, 1), stiffness=pair(stiffness), rest=(0.3, -0.2), damping=pair(damping))
    base = robot.add(ag.RigidBody(0.5, random_inertia(rng), (0.1, 0.0, 0.05)), at=robot.ground, joint=first)
    material = ag.Material(young=1e6, poisson=0.4, density=1000.0)
    rod = robot.add(ag.Rod(0.4, ag.Circle(0.012), material, ag.kirchhoff(2)), at=base.at((0.2, 0.0, 0.0)))
    last = ag.Cylindrical((1, 0, 0), stiffness=(20.0, 0.1), damping=pair(damping), effort=(0.0, effort))
    robot.add(ag.RigidBody.box((0.05, 0.08, 0.02), mass=0.1, com=(0.02, 0.01, 0.0)), at=rod.tip, joint=last)
    return robot


def test_energy_is_kept():
    drift = []
    for dt in (2e-3, 1e-3):
        run = ag.simulate(arm(), duration=1.0, dt=dt, method=ag.Midpoint(), tolerance=1e-10)
        energy = run.energy
        swing = np.ptp(energy["kinetic"])
        assert swing > 0.1
        drift.append(np.abs(energy["total"] - energy["total"][0]).max() / swing)
    assert drift[1] < 1e-3
    assert drift[0] / drift[1] > 3.0


def test_dampers_take_the_energy():
    run = ag.simulate(arm(damping=0.02), duration=1.0, dt=5e-4, method=ag.Midpoint(), tolerance=1e-10)
    joints = [k for k, name in enumerate(run.coordinates) if "[" not in name]
    assert len(joints) == 4
    lost = cumulative_simpson(0.02 * np.sum(run.v[:, joints] ** 2, axis=1), x=run.t, initial=0.0)
    total = run.energy["total"]
    assert lost[-1] > 0.1 * np.ptp(run.energy["kinetic"])
    np.testing.assert_allclose(total + lost, total[0], atol=3e-4 * lost[-1] + 1e-4 * np.ptp(run.energy["kinetic"]))


def test_work_of_an_effort():
    torque = lambda t: 0.02 * np.sin(20.0 * t)
    run = ag.simulate(arm(effort=torque), duration=1.0, dt=5e-4, method=ag.Midpoint(), tolerance=1e-10)
    power = torque(run.t) * run.v[:, run.coordinates.index("body_2.turn")]
    work, total = cumulative_simpson(power, x=run.t, initial=0.0), run.energy["total"]
    assert np.ptp(work) > 0.02
    np.testing.assert_allclose(total - work, total[0], atol=3e-4 * np.ptp(run.energy["kinetic"]))


def test_screw_falls_with_its_apparent_mass():
    robot = ag.Robot("screw")
    body = ag.RigidBody.cylinder(0.05, 0.1, mass=2.0)
    robot.add(body, at=robot.ground, joint=ag.Helical((0, 0, 1), pitch=0.3))
    advance = 0.3 / (2.0 * np.pi)
    exact = -2.0 * 9.81 * advance / (body.inertia[2] + 2.0 * advance**2)
    run = ag.simulate(robot, duration=2.0, dt=0.01)
    np.testing.assert_allclose(run.q[:, 0], 0.5 * exact * run.t**2, rtol=1e-9, atol=1e-9)
    assert abs(run.q[-1, 0]) > 20.0  # several turns
    np.testing.assert_allclose(run.position(robot.part("body").frame)[:, 2], advance * run.q[:, 0], atol=1e-12)


# Equilibria -----------------------------------------------------------------------------------------------------------


def test_equilibrium_of_a_hinge_with_a_spring():
    robot, mass, distance, _ = pendulum(stiffness=3.0, rest=1.0)
    # The centre is at distance (-sin q, -cos q): gravity turns it back by m g l sin q.
    exact = brentq(lambda q: 3.0 * (q - 1.0) + mass * 9.81 * distance * np.sin(q), 0.0, 1.0)
    assert ag.statics(robot).q[0] == pytest.approx(exact, abs=1e-9)


def test_equilibrium_of_two_hinges_with_springs():
    k, rest, m, l = np.array([8.0, 5.0]), np.array([0.4, -0.3]), 0.5, 0.6
    robot = ag.Robot("two")
    at = robot.ground
    for stiffness, angle in zip(k, rest, strict=True):
        joint = ag.Revolute(Y, stiffness=stiffness, rest=angle)
        at = robot.add(ag.RigidBody.point_mass(m, com=(l, 0, 0)), at=at, joint=joint).at((l, 0, 0))
    q = ag.statics(robot).q
    one, two = np.cos(q[0]), np.cos(q[0] + q[1])
    pull = m * 9.81 * l * np.array([2.0 * one + two, two])
    np.testing.assert_allclose(k * (q - rest), pull, atol=1e-9)


def test_equilibrium_of_sliders():
    robot = ag.Robot("slider", gravity=(1.0, 2.0, -9.81))
    joint = ag.Planar((0, 0, 1), stiffness=(10.0, 20.0, 0.5), rest=(0.1, 0.0, 0.2), effort=(0.0, -1.0, 0.1))
    robot.add(ag.RigidBody.sphere(0.1, mass=2.0), at=robot.ground, joint=joint)
    np.testing.assert_allclose(ag.statics(robot).q, [0.1 + 0.2, (4.0 - 1.0) / 20.0, 0.2 + 0.1 / 0.5], atol=1e-9)


def test_hanging_chain_settles_under_its_weight():
    robot = ag.Robot("chain")
    at = robot.ground
    for _ in range(4):
        at = robot.add(ag.RigidBody.point_mass(0.1, com=(0.2, 0, 0)), at=at, joint=ag.Revolute(Y)).at((0.2, 0, 0))
    eq = ag.statics(robot, start=[1.2, 0.1, 0.1, -0.1])
    np.testing.assert_allclose(eq.q, [np.pi / 2.0, 0.0, 0.0, 0.0], atol=1e-8)
    np.testing.assert_allclose(eq.position(at), [0.0, 0.0, -0.8], atol=1e-8)


@pytest.mark.parametrize("rest", [2.5, -4.0, 9.0])
def test_springs_may_rest_far_from_zero(rest):
    robot, mass, distance, _ = pendulum(stiffness=50.0, rest=rest)
    q = ag.statics(robot).q[0]
    assert 50.0 * (q - rest) == pytest.approx(-mass * 9.81 * distance * np.sin(q), abs=1e-8)


def test_a_light_motion_of_a_heavy_rest():
    """A start from an equilibrium does not move."""
    robot = arm()
    run = ag.simulate(robot, duration=0.2, dt=0.01, start=ag.statics(robot))
    np.testing.assert_allclose(run.q, np.tile(run.q[0], (len(run.t), 1)), atol=1e-7)
