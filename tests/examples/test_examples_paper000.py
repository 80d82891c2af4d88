"""Numbers of the examples of paper 000, against solutions that share nothing with the library."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.polynomial import chebyshev, legendre
from scipy.integrate import cumulative_trapezoid, solve_ivp
from scipy.special import ellipj, ellipk

TEST1, TEST2, TEST4 = "paper000_test1_tip_torque", "paper000_test2_follower_force", "paper000_test4_release"

pytestmark = pytest.mark.xdist_group("paper000")  # one process runs each example once


# Test 1: a circle -----------------------------------------------------------------------------------------------------


def test_newton_finds_the_curvature_of_euler(example):
    p, result = example(TEST1).module, example(TEST1).result
    for torque, eq in zip(p.TORQUES, result.equilibria, strict=True):
        expected = torque / (np.pi / 4) / np.sqrt(2.0)  # EI = 1e8 pi 0.01^4 / 4, half of the square on each axis
        K = eq.strain(result.beam)
        np.testing.assert_allclose(K[:, 1:3], expected, rtol=1e-9)
        np.testing.assert_allclose(eq.position(result.beam.tip), p.euler(torque, np.ones(1))[0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(eq.centerline(result.beam), p.euler(torque, np.linspace(0, 1, 60)), atol=1e-9)


def test_the_circle_of_the_example_is_a_circle(example):
    p = example(TEST1).module
    line = p.euler(5.0, np.linspace(0.0, 1.0, 1001))
    assert np.linalg.norm(np.diff(line, axis=0), axis=1).sum() == pytest.approx(1.0, abs=1e-5)
    assert np.abs(line @ p.AXIS).max() < 1e-15
    centre = np.pi / 4 / 5.0 * np.cross(p.AXIS, [1.0, 0.0, 0.0])
    np.testing.assert_allclose(np.linalg.norm(line - centre, axis=1), np.pi / 4 / 5.0, rtol=1e-12)


def test_the_flow_settles_exponentially(example):
    p, result = example(TEST1).module, example(TEST1).result
    # the path of (45) is exact too: in each pause K approaches its goal like exp(-t / mu), all along the beam
    since = (result.flow.t.reshape(5, -1) - 0.02 * np.arange(5)[:, None])[:, :, None]
    rates = (result.flow.v.reshape(-1, 2, 5) @ (0.3 ** np.arange(5))).reshape(5, -1, 2)
    peak = 1.0 / (np.pi / 4) / np.sqrt(2.0) / 1e-3
    np.testing.assert_allclose(
        rates, np.broadcast_to(peak * np.exp(-since / 1e-3), rates.shape), rtol=0, atol=1e-5 * peak
    )
    # 20 times mu later what is left is exp(-20) = 2e-9 of an increment
    for torque, tip in zip(p.TORQUES, result.settled, strict=True):
        np.testing.assert_allclose(tip, p.euler(torque, np.ones(1))[0], rtol=0, atol=3e-9)


def test_five_newton_metres_make_one_turn(example):
    p, result = example(TEST1).module, example(TEST1).result
    assert p.TORQUES[-1] / p.EI == pytest.approx(6.366, abs=1e-3)
    assert np.linalg.norm(result.settled[-1]) < 0.02


# Test 2: a pendulum ---------------------------------------------------------------------------------------------------


def elliptic_tip(force, length=100.0, EI=4.015e8 * np.pi * 0.57**4 / 4):
    """Tip under a follower force by Jacobi's functions.

    u = phi + pi/2, with phi the angle from the tip section, is the angle of a pendulum let go from the horizontal:
    sin(u / 2) = k sn, k^2 = 1/2. Force times the position along and across it follow from the two integrals of motion.
    """
    rate, m = np.sqrt(force / EI), 0.5
    sn, cn, _, _ = ellipj(rate * length + ellipk(m), m)
    u = 2.0 * np.arcsin(np.sqrt(m) * sn)
    slope = 2.0 * np.sqrt(m) * rate * cn
    # x = int cos(phi) = int sin(u) = -slope / rate^2;  y = int sin(phi) = -int cos(u), by the integral of dn^2
    s = (np.arange(400_000) + 0.5) / 400_000 * length
    y = -np.mean(1.0 - 2.0 * m * ellipj(rate * s + ellipk(m), m)[0] ** 2) * length
    x = -slope / rate**2
    turn = -(u - np.pi / 2)
    return np.array([np.cos(turn) * x - np.sin(turn) * y, np.sin(turn) * x + np.cos(turn) * y])


def test_the_reference_agrees_with_elliptic_functions(example):
    p = example(TEST2).module
    for force in (1e3, 30e3, 80e3, 130e3):
        np.testing.assert_allclose(p.exact_tip(force), elliptic_tip(force), rtol=0, atol=1e-7)


def test_small_follower_forces_bend_linearly(example):
    p = example(TEST2).module
    assert p.exact_tip(1.0)[1] == pytest.approx(1.0 * 100.0**3 / (3 * p.EI), rel=1e-6)


def test_fourteen_modes_have_converged(example):
    result = example(TEST2).result
    assert result.error("14 modes").max() < 1e-6
    np.testing.assert_allclose(result.exact[-1], [17.1907, -50.3774], atol=1e-4)


def test_five_monomials_are_one_percent_off(example):
    result = example(TEST2).result
    assert 0.005 < result.error("5 monomials").max() < 0.015
    assert result.error("5 monomials")[:11].max() < 1e-3  # to 50 kN
    worst = [result.error(name).max() for name in ("5 monomials", "8 modes", "10 modes", "14 modes")]
    assert np.all(np.diff(worst) < 0.0)


# Test 4: a plain planar beam ------------------------------------------------------------------------------------------


def plain_release(p, torque, modes, times, points=48):
    """Tip (times, 2) of the released beam by Lagrange's equations in the plane and an explicit integrator.

    The angle is the integral of the curvature, the position that of its cosine and sine. Integrals along the beam are
    exact for polynomials through all Gauss points.
    """
    x, w = legendre.leggauss(points)
    integral = np.stack([legendre.legint(row, lbnd=-1) / 2 for row in np.eye(points)], axis=1)
    along = legendre.legvander(x, points) @ integral @ np.linalg.inv(legendre.legvander(x, points - 1))
    x, w = (x + 1) / 2, w / 2
    phi = chebyshev.chebvander(2 * x - 1, modes - 1)
    psi = along @ phi
    area, second = np.pi * 0.01**2, np.pi * 0.01**4 / 4
    stiffness = 1e8 * second * phi.T @ (phi * w[:, None])
    m = 1000.0 * area * w
    rotary = 1000.0 * second * psi.T @ (w[:, None] * psi)

    def rates(t, state):
        q, v = np.split(state, 2)
        c, s, spin = np.cos(psi @ q), np.sin(psi @ q), psi @ v
        Jx, Jy = along @ (-s[:, None] * psi), along @ (c[:, None] * psi)
        mass = Jx.T @ (m[:, None] * Jx) + Jy.T @ (m[:, None] * Jy) + rotary
        force = Jx.T @ (m * (along @ (c * spin**2))) + Jy.T @ (m * (along @ (s * spin**2))) - stiffness @ (q + 1e-3 * v)
        return np.concatenate([v, np.linalg.solve(mass, force)])

    start = np.zeros(2 * modes)
    start[0] = torque / (1e8 * second)
    states = solve_ivp(rates, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-9, atol=1e-9).y
    angle = psi @ states[:modes]
    return np.stack([w @ np.cos(angle), w @ np.sin(angle)], axis=1)


@pytest.mark.parametrize(("torque", "allowed"), [(0.8, 5e-5), (2.3, 2e-4), (5.4, 2e-3)])
def test_release_against_plain_equations(example, torque, allowed):
    p, result = example(TEST4).module, example(TEST4).result
    expected = plain_release(p, torque, 5, result.runs[torque, 5].t)
    error = np.linalg.norm(result.tip(torque) - expected, axis=1)
    assert error.max() < allowed
    assert result.step_error[torque] < allowed


def test_halving_the_step_quarters_the_error(example):
    p = example(TEST4).module
    tips = []
    for dt in (5e-4, 2.5e-4, 1.25e-4):
        run = p.release(0.8, 5, dt)
        tips.append(run.position(run.robot.part("beam").tip))
    first, second = (np.linalg.norm(a - b, axis=1).max() for a, b in pairwise(tips))
    assert 3.5 < first / second < 4.6


@pytest.mark.parametrize("torque", [0.8, 5.4])
def test_energy_goes_into_the_damping(example, torque, monkeypatch):
    p = example(TEST4).module
    monkeypatch.setattr(p, "KEPT", 1.25e-4)  # the first milliseconds need every state
    run = p.release(torque, 5, 1.25e-4)
    energy = run.energy["total"]
    assert energy[0] == pytest.approx(torque**2 / (2 * p.EI), rel=1e-4)
    power = 1e-3 * np.einsum("ti,ij,tj->t", run.v, run.system.elastic_stiffness(), run.v)
    lost = cumulative_trapezoid(power, run.t, initial=0.0)
    assert np.abs(energy + lost - energy[0]).max() < 1e-3 * energy[0]
    assert np.all(np.diff(energy) < 0.0)


def test_convergence_over_modes_is_as_the_paper_says(example):
    result = example(TEST4).result
    relative = {torque: eps / eps[0] for torque, eps in result.eps.items()}
    enough = {torque: int(np.argmax(values < 0.01)) + 1 for torque, values in relative.items()}
    assert enough == {0.8: 4, 2.3: 4, 5.4: 5}  # first n with eps(n + 1 / n) below 1 % of eps(2 / 1)
    for values in relative.values():
        assert np.all(np.diff(values) < 0.0)
    for n in (3, 4, 5, 6, 7):  # slower for larger torques
        assert relative[0.8][n - 1] < relative[2.3][n - 1] < relative[5.4][n - 1]


def test_five_modes_suffice_in_figure_10(example):
    result = example(TEST4).result
    for t in (1.0, 1.5):
        best = result.shapes(2.3, 8, [t])[0, -1]
        off = [np.linalg.norm(result.shapes(2.3, n, [t])[0, -1] - best) for n in range(1, 6)]
        assert off[0] > 0.3 and off[-1] < 0.02


@pytest.mark.parametrize(("torque", "low", "high"), [(0.8, 1e-3, 3e-3), (2.3, 5e-3, 0.015), (5.4, 0.2, 0.35)])
def test_how_far_five_modes_are_from_eight(example, torque, low, high):
    result = example(TEST4).result
    assert low < np.linalg.norm(result.tip(torque, 5) - result.tip(torque, 8), axis=1).max() < high
