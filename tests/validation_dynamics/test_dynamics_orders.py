"""Large motions against an explicit method of order 8: every stepper is of second order and converges to the truth."""

from functools import cache

import numpy as np
import pytest
from dynamics_oracles import exact_motion, order, pulse

import anguilla as ag

METHODS = {
    "newmark": ag.Newmark(),
    "hht": ag.HHT(),
    "hht -0.3": ag.HHT(-0.3),
    "alpha 0.5": ag.GeneralisedAlpha(0.5),
    "alpha 0.8": ag.GeneralisedAlpha(0.8),
    "alpha 0.9": ag.GeneralisedAlpha(0.9),
    "midpoint": ag.Midpoint(),
}
pytestmark = pytest.mark.filterwarnings("ignore:.*too few modes")  # the truth has as few

LENGTH, DURATION = 0.4, 0.6


@cache
def driven(damping):
    """A soft rod at rest without gravity, swung through large angles in space by a smooth tip force."""
    robot = ag.Robot(gravity=(0, 0, 0))
    material = ag.Material(young=2e5, density=1000, poisson=0.45, damping=damping)
    arm = robot.add(ag.Rod(LENGTH, ag.Circle(0.01), material, ag.kirchhoff(2), intervals=8), at=robot.ground)
    robot.load(ag.TipWrench(arm, force=pulse((-0.03, 0.09, 0.05), 0.5)))
    system = ag.Model(robot)
    zero = np.zeros(system.size)
    truth = exact_motion(system, np.array([0.0, DURATION]), zero, zero)[-1]
    return robot, arm, truth[: system.size], truth[system.size :]


@cache
def released():
    """The same rod bent by tip forces and gravity, then left to swing."""
    material = ag.Material(young=2e5, density=1000, poisson=0.45)
    rod = ag.Rod(LENGTH, ag.Circle(0.01), material, ag.kirchhoff(2), intervals=8)
    robot, held = ag.Robot(gravity=(0, 0, -9.81)), ag.Robot(gravity=(0, 0, -9.81))
    arm, other = robot.add(rod, at=robot.ground), held.add(rod, at=held.ground)
    held.load(ag.TipWrench(other, force=(0.02, 0.1, 0.06)))
    start = ag.statics(held).q
    system = ag.Model(robot)
    truth = exact_motion(system, np.linspace(0.0, DURATION, 5), start, np.zeros(system.size))
    return robot, arm, start, truth


def distance(system, a, b):
    """Distance of two states (or rates, or accelerations) as an angle [rad, rad/s, rad/s^2]."""
    return float(np.linalg.norm((a - b) * system.tree.scale))


@pytest.mark.parametrize("damping", [0.0, 0.01])
@pytest.mark.parametrize("name", METHODS)
def test_order_two_on_a_large_motion_driven_by_a_load(name, damping):
    robot, _, q, v = driven(damping)
    steps = np.array([480, 960, 1920])
    errors = []
    for count in steps:
        run = ag.simulate(robot, duration=DURATION, dt=DURATION / count, method=METHODS[name], tolerance=1e-10)
        errors.append((distance(run.system, run.q[-1], q), distance(run.system, run.v[-1], v)))
    errors = np.array(errors)
    assert np.abs(run.q * run.system.tree.scale).max() > 1.0  # rad: the motion is large
    assert order(DURATION / steps, errors[:, 0]) == pytest.approx(2.0, abs=0.1)
    assert order(DURATION / steps, errors[:, 1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("name", ["newmark", "midpoint", "alpha 0.9"])
def test_a_free_swing_converges_to_the_truth(name):
    robot, arm, start, truth = released()
    errors, tips = [], []
    for count in (1500, 3000, 6000):
        run = ag.simulate(robot, duration=DURATION, dt=DURATION / count, start=start, method=METHODS[name],
                          tolerance=1e-10, every=count // 4)  # fmt: skip
        errors.append(max(distance(run.system, a, b[: len(a)]) for a, b in zip(run.q, truth, strict=True)))
        tips.append(run.position(arm.tip))
    assert np.ptp(tips[-1], axis=0).max() > 0.3 * LENGTH  # a large motion
    assert order([4.0, 2.0, 1.0], errors) == pytest.approx(2.0, abs=0.1)
    extrapolated = (4 * tips[2] - tips[1]) / 3  # without the term in dt^2
    exact = ag.Trajectory(robot, run.system, run.status, run.t, *(np.ascontiguousarray(x) for x in (
        truth[:, : run.system.size], truth[:, run.system.size :], 0 * truth[:, run.system.size :])))  # fmt: skip
    assert np.abs(tips[2] - exact.position(arm.tip)).max() < 3e-5 * LENGTH
    assert np.abs(extrapolated - exact.position(arm.tip)).max() < 1e-6 * LENGTH


@pytest.mark.parametrize("name", METHODS)
def test_order_two_of_the_accelerations(name):
    robot, _, q, v = driven(0.01)
    system = ag.Model(robot)
    exact = np.linalg.solve(system.matrices(q)[2], -system.residual(q, v, t=DURATION))
    steps = np.array([960, 1920, 3840])
    errors = []
    for count in steps:
        run = ag.simulate(robot, duration=DURATION, dt=DURATION / count, method=METHODS[name], tolerance=1e-10)
        errors.append(distance(system, run.a[-1], exact))
    assert order(DURATION / steps, errors) == pytest.approx(2.0, abs=0.1)


def test_newton_meets_its_tolerance_in_every_step():
    """One step of Newmark, solved to the last digit here from the states of the run, against the step of the run."""
    robot, _, start, _ = released()
    dt, goal = 4e-4, 1e-8
    run = ag.simulate(robot, duration=400 * dt, dt=dt, start=start, method=ag.Newmark(), tolerance=goal)
    system, weight = run.system, run.system.tree.weight
    errors, a_next = [], run.a[0]
    for k in range(400):
        q, v, a = run.q[k], run.v[k], a_next
        a_next = 2 / dt * (run.v[k + 1] - v) - a  # as the scheme carries it
        d = run.q[k + 1] - q
        for _ in range(2):
            a1 = 4 / dt**2 * (d - dt * v) - a
            state = q + d, v + dt / 2 * (a + a1), a1
            d = d - np.linalg.solve(system.tangent(*state, alpha=2 / dt, beta=4 / dt**2), system.residual(*state))
        errors.append(np.linalg.norm((run.q[k + 1] - q - d) * weight) / np.linalg.norm(d * weight))
    assert np.median(errors) < goal
    # Newton stops on an estimate of its error, which may fail now and then
    assert np.quantile(errors, 0.9) < 10 * goal
    assert np.max(errors) < 300 * goal


def test_the_equations_of_motion_are_those_of_lagrange():
    """R = d/dt dT/dv - dT/dq + dV/dq with the energies by differences, for a flat and thick rod with all strains."""
    robot = ag.Robot(gravity=(1.0, -3.0, 9.0))
    material = ag.Material(young=1e4, density=1000, poisson=0.3)
    robot.add(ag.Rod(0.5, ag.Rectangle(0.12, 0.04), material, ag.reissner(2), intervals=5), at=robot.ground)
    system = ag.Model(robot)
    n = system.size
    rng = np.random.default_rng(5)
    q, v, a = (rng.normal(size=n) / system.tree.scale * size for size in (0.3, 3.0, 30.0))
    status = ag.simulate(robot, duration=1e-4, dt=1e-4).status

    def energies(q, v):
        """Kinetic and potential energy (m,) of the states (m, n)."""
        q, v = (np.ascontiguousarray(np.broadcast_to(x, (max(len(q), len(v)), n))) for x in (q, v))
        values = ag.Trajectory(robot, system, status, np.zeros(len(q)), q, v, 0 * v).energy
        return values["kinetic"], values["elastic"] + values["gravitational"]

    def momenta(q, v):
        """dT/dv (n,); T is quadratic in v, so the difference is exact."""
        e = np.diag(1.0 / system.tree.scale)
        return (energies(q[None], v + e)[0] - energies(q[None], v - e)[0]) / 2 * system.tree.scale

    def slope(function, h):
        """Derivative at 0 by central differences of fourth order."""
        return (8 * (function(h) - function(-h)) - function(2 * h) + function(-2 * h)) / (12 * h)

    h = 1e-3
    rate = slope(lambda s: momenta(q + s * v, v + s * a), h / 3)
    e = np.diag(1.0 / system.tree.scale)
    kinetic = slope(lambda s: energies(q + s * e, v[None])[0], h) * system.tree.scale
    potential = slope(lambda s: energies(q + s * e, v[None])[1], h) * system.tree.scale
    exact = (rate - kinetic + potential) / system.tree.scale
    np.testing.assert_allclose(
        system.residual(q, v, a) / system.tree.scale, exact, atol=1e-7 * np.abs(exact).max(), rtol=0
    )


def test_errors_of_a_double_pendulum_fall_with_the_square_of_the_step_down_to_ten_microseconds():
    """A fixed floor of Newton's error of 1e-13 rad is 1e-3 rad/s^2 there: errors grew again below 0.1 ms."""
    robot = ag.Robot("pendulum")
    body, hinge = ag.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, com=(0.3, 0, 0)), ag.Revolute((0, 1, 0))
    upper = robot.add(body, at=robot.ground, joint=hinge, name="upper")
    robot.add(body, at=upper.at((0.6, 0, 0)), joint=hinge, name="lower")
    exact = exact_motion(ag.Model(robot), np.array([0.0, 0.5]), np.zeros(2), np.zeros(2))[-1, :2]
    errors = {}
    for dt in (1e-3, 1e-4, 1e-5):
        run = ag.simulate(robot, duration=0.5, dt=dt, every=round(0.5 / dt))
        errors[dt] = np.abs(run.q[-1] - exact).max()
    assert errors[1e-3] < 1e-4
    assert errors[1e-4] == pytest.approx(errors[1e-3] / 1e2, rel=0.05)
    assert errors[1e-5] < errors[1e-3] / 1e3  # a hundredth of the one before, but for round-off over 50000 steps
