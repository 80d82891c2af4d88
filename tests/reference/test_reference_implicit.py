"""Algorithm 1 of 004: motion in time against the core, loops against closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from reference_plain import as_reference, clamped, free
from scipy.integrate import solve_ivp
from test_reference_flows import TARGET, clamped_clamped, go_to_target

import anguilla as ag
from anguilla import lie
from anguilla.errors import SolverError
from anguilla.reference import flows, implicit, newton_euler, robots, tangent

RUBBER = ag.Material(young=1e6, poisson=0.4, density=1000.0)
FLYER = ag.Rod(1.0, ag.Circle(0.05), RUBBER, ag.kirchhoff(2))
INCLINED = lie.pose(lie.exp3([0.0, 0.0, 0.6]), [0.1, 0.2, 0.3])


def kick(t):
    """A triangle of 0.1 s: moment [N m] and force [N] on the root, inertial axes."""
    height = max(0.0, 1.0 - abs(t / 0.05 - 1.0))
    return height * np.array([0.0, -4.0, -8.0, 40.0, 0.0, 20.0])


def test_flying_rod_of_algorithm_1_is_that_of_the_core():
    """004 X.A.2: the same Newmark steps on R^n x SO(3) x R^3; what differs is the space error of the core, order four."""
    dt, steps = 0.005, 40
    plain = as_reference(FLYER, free=True, gravity=(0, 0, 0), wrenches=(robots.Wrench(0, kick),), points=16)
    states = implicit.simulate(plain, implicit.at_rest(plain, g0=INCLINED), dt=dt, steps=steps, tolerance=1e-11)
    assert np.abs(states[-1].q).max() > 0.3
    start = np.concatenate([INCLINED[:3, 3], lie.log3(INCLINED[:3, :3]), np.zeros(FLYER.size)])
    errors = []
    for intervals in (8, 16, 32):
        robot = free(replace(FLYER, intervals=intervals), gravity=(0, 0, 0))
        robot.load(ag.Wrench(robot.part("rod").root, moment=lambda t: kick(t)[:3], force=lambda t: kick(t)[3:]))
        run = ag.simulate(robot, duration=steps * dt, dt=dt, start=start, method=ag.Newmark(), tolerance=1e-12)
        assert run.status.counters["substeps"] == 0
        poses = run.pose(robot.part("rod").root)
        off = [np.abs(poses[-1] - states[-1].g0).max(), np.abs(run.q[-1, 6:] - states[-1].q).max()]
        errors.append(max(off))
    assert errors[-1] < 2e-6
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(4.0, abs=0.3)


def test_clamped_rod_of_algorithm_1_is_that_of_the_core():
    """004 X.A.1 and Algorithm 1: a bent rod is let go in gravity, with a body at its tip."""
    described = ag.Rod(1.0, ag.Circle(0.02), ag.Material(1e7, 1000.0, damping=1e-3), ag.kirchhoff(3))
    hand = ag.RigidBody(0.2, inertia=(2e-4, 1e-4, 2.5e-4), com=(0.02, 0.03, 0.0))
    q0, dt, steps = np.zeros(described.size), 0.01, 30
    q0[3], q0[6] = 1.0, 0.5
    plain = as_reference(described, hand, gravity=(9.81, 0, 0), points=16)
    states = implicit.simulate(plain, implicit.at_rest(plain, q0), dt=dt, steps=steps, tolerance=1e-11)
    errors = []
    for intervals in (16, 32, 64):
        robot = clamped(replace(described, intervals=intervals), hand, gravity=(9.81, 0, 0))
        run = ag.simulate(robot, duration=steps * dt, dt=dt, start=q0, method=ag.Newmark(), tolerance=1e-12)
        errors.append(max(np.abs(run.q[k] - states[k].q).max() for k in range(steps + 1)))
    assert errors[-1] < 3e-7
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(4.0, abs=0.2)


def test_momentum_of_a_free_rod_after_the_kick():
    """The momentum gained tends to the impulse of the kick, at least at order two in the step (its error oscillates)."""
    flat, errors = replace(FLYER, strains=ag.planar(2)), []
    push = robots.Wrench(0, lambda t: kick(t) * [0, 0, 1, 1, 1, 0])
    still, straight = np.zeros((6, 1)), np.zeros((2, 1))
    for dt in (0.01, 0.0025):
        plain = as_reference(flat, free=True, gravity=(0, 0, 0), wrenches=(push,), points=16)
        end = implicit.simulate(plain, implicit.at_rest(plain, g0=INCLINED), dt=dt, steps=round(0.12 / dt))[-1]
        unit = robots.Chi(still, still, end.eta0[:, None], straight, straight, end.v[:, None], np.zeros((0, 1)))
        momentum = tangent.tidm(plain, end, unit, *newton_euler.idm(plain, end))[0][:, 0]  # M (eta0, v), at the root
        errors.append(np.abs(end.g0[:3, :3] @ momentum[3:] - 0.05 * push.value(0.05)[3:]).max())
    assert errors[1] < 3e-4
    assert errors[0] > 16 * errors[1]


# Loops ----------------------------------------------------------------------------------------------------------------


def parallelogram():
    """Two equal cranks (0.5 m, 1 kg) hinged to the ground 0.8 m apart, and a coupler (2 kg): a loop cut at its end.

    The cut is held by the two positions in the plane; the other closures of a hinge are met by the plane itself.
    """
    hinge = robots.Lumped((0, 0, 1, 0, 0, 0))
    beam = lambda m, l: _inertia(m, np.array([l / 2, 0, 0]), np.diag([0, 1, 1]) * m * l**2 / 12)
    links = (
        robots.Link(0, hinge, inertia=beam(1.0, 0.5)),
        robots.Link(1, hinge, lie.pose(None, [0.5, 0, 0]), beam(2.0, 0.8)),
        robots.Link(0, hinge, lie.pose(None, [0.8, 0, 0]), beam(1.0, 0.5)),
    )
    ends = lie.pose(None, [0.5, 0, 0]), lie.pose(None, [0.8, 0, 0])
    loop = robots.Loop(3, 2, np.eye(6)[[3, 4]], *ends)
    return robots.Robot(links, gravity=(0.0, -9.81, 0.0), loops=(loop,))


def _inertia(m, c, about_centre):
    c = lie.hat3(c)
    return np.block([[about_centre - m * c @ c, m * c], [-m * c, m * np.eye(3)]])


def test_parallelogram_swings_as_one_pendulum():
    """The coupler only translates: T = 1/2 (2 m l^2/3 + M l^2) w^2; the closure holds at every step."""
    robot, angle = parallelogram(), -0.3
    l, g = 0.5, 9.81
    inertia, torque = 2 * 1.0 * l**2 / 3 + 2.0 * l**2, (2 * 1.0 * l / 2 + 2.0 * l) * g
    truth = solve_ivp(
        lambda t, y: [y[1], -torque * np.cos(y[0]) / inertia], (0, 0.4), [angle, 0], rtol=1e-11, atol=1e-12
    )
    errors = []
    for dt in (0.02, 0.01):
        states = implicit.simulate(robot, implicit.at_rest(robot, [angle, -angle, angle]), dt=dt, steps=round(0.4 / dt))
        q = np.array([state.q for state in states])
        assert q[:, 0] == pytest.approx(q[:, 2], abs=1e-10)
        assert q[:, 1] == pytest.approx(-q[:, 0], abs=1e-10)
        errors.append(abs(q[-1, 0] - truth.y[0, -1]))
    assert errors[1] < 2e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


def test_start_of_a_moving_loop():
    """`accelerated` finds the accelerations for which the closure keeps its rate: Phi'' = 0 along the motion."""
    robot = parallelogram()
    q, v = np.array([-0.3, 0.4, -0.1]), np.array([2.0, -1.0, 0.5])
    start = implicit.accelerated(robot, replace(implicit.at_rest(robot, q), v=v))
    Phi = lambda t: newton_euler.idm(robot, replace(start, q=q + t * v + 0.5 * t**2 * start.a))[0].Phi
    second = (Phi(1e-3) - 2 * Phi(0.0) + Phi(-1e-3)) / 1e-6
    free_fall = implicit.accelerated(replace(robot, loops=()), replace(start, lam=np.zeros(0))).a
    assert second == pytest.approx(0.0, abs=1e-4)
    assert np.abs(free_fall - start.a).max() > 1.0  # the reactions do something
    balance, _ = newton_euler.idm(robot, start)
    assert balance.Rq == pytest.approx(0.0, abs=1e-10)


def test_columns_of_the_multipliers_are_minus_the_transposed_rows():
    """Errata 8 on (19): with the signs of (6) the columns of lambda are -J^T."""
    robot = parallelogram()
    chi = implicit.at_rest(robot, [-0.3, 0.4, -0.1])
    _, jacobian = implicit.residual_and_jacobian(robot, chi, 0.0)
    assert jacobian[:3, 3:] == pytest.approx(-jacobian[3:, :3].T, abs=1e-12)
    assert np.abs(jacobian[:3, 3:]).max() > 0.1


def test_rod_clamped_at_both_ends_by_a_loop_is_that_of_the_projective_flow():
    """004 (36) to (38) with six closures against 000 (55) to (58); the multipliers give the reaction at the tip."""
    plain = clamped_clamped(6)
    q = go_to_target(plain, 1e-6)
    loop = robots.Loop(0, 1, leader_pose=TARGET)
    robot = robots.Robot((robots.Link(0, robots.Soft(plain)),), loops=(loop,), points=24)
    start = replace(implicit.at_rest(robot, q + 0.02 * np.cos(np.arange(len(q)))), lam=np.zeros(6))
    held = implicit.equilibrium(robot, start)
    assert held.q == pytest.approx(q, abs=1e-4)
    reaction = flows.tip_reaction(plain, held.q)
    assert held.lam == pytest.approx(reaction, abs=1e-7 * np.abs(reaction).max())  # closed: J is the identity


def test_newton_says_when_it_fails():
    plain = as_reference(FLYER, gravity=(0, -9.81e6, 0), points=8)
    with pytest.raises(SolverError, match=r"Newton has not converged at t = 0\.1 s"):
        implicit.step(plain, implicit.at_rest(plain), implicit.Newmark(0.1), 0.1, most=3)
