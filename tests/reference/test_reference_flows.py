"""Statics by damped flows (000 VIII.A): closed forms, the core, and a boundary-value solver."""

import numpy as np
import pytest
from reference_plain import MATERIAL, clamped, plain_rod, plain_tendon
from scipy.integrate import solve_bvp

import anguilla as ag
from anguilla import lie
from anguilla.errors import SolverError
from anguilla.reference import flows, idm, rod, spectral

EI = 1e8 * np.pi * 0.01**4 / 4


def beam(functions=rod.monomials, modes=(0, 3, 3, 0, 0, 0)):
    """The beam of test 1 (radius 0.01 m)."""
    return rod.round_rod(1.0, 0.01, 1e8, 1000.0, modes=modes, functions=functions)


def test_static_forces_are_those_of_the_inverse_dynamics():
    """(33) by the integration of Appendix 2 and by the Chebyshev grid."""
    plain = rod.round_rod(0.5, 0.01, 1e6, 1000.0, modes=(2, 2, 2, 1, 1, 1), rest=(1.0, 2.0, -1.0, 1.0, 0.0, 0.0))
    q = np.random.default_rng(0).normal(size=9) * [3, 3, 3, 3, 3, 3, 0.1, 0.1, 0.1]
    for follower in (True, False):
        loads = idm.Loads((1.0, 2.0, -9.81), (0.1, 0.2, 0.3, 1.0, 2.0, 3.0), follower, np.diag([1, 2, 3, 4, 4, 4.0]))
        still = [np.zeros(9), np.zeros(9), np.eye(4), np.zeros(6), np.zeros(6)]
        force = idm.idm(plain, q, *still, loads)[6:]
        assert flows.static_forces(plain, q, loads) == pytest.approx(force, abs=1e-9 * np.abs(force).max())


def test_jacobian_of_the_tip():
    plain, q = beam(), np.array([2.0, -1.0, 0.5, 1.0, 1.0, -2.0])
    _, J = flows.tip_pose_and_jacobian(plain, q)
    for k, e in enumerate(1e-6 * np.eye(6)):
        ahead, behind = flows.tip_pose_and_jacobian(plain, q + e)[0], flows.tip_pose_and_jacobian(plain, q - e)[0]
        assert lie.log6(lie.inverse(behind) @ ahead) / 2e-6 == pytest.approx(J[:, k], abs=1e-8)
    F = np.array([0.1, 0.2, 0.3, 1.0, -2.0, 0.5])
    assert flows.static_forces(plain, q, idm.Loads(tip=tuple(F))) == pytest.approx(-J.T @ F, abs=1e-10)  # (46)


def test_tip_torque_winds_a_circle():
    """Test 1: in monomials the exact answer is q = (C/EI, 0, 0, ...) for each curvature."""
    C = 5.0 / np.sqrt(2.0)
    q = flows.static_flow(beam(), idm.Loads(tip=(0, C, C, 0, 0, 0)), tolerance=1e-7)
    assert q == pytest.approx([C / EI, 0, 0, C / EI, 0, 0], abs=1e-6)


def test_a_couple_inside_bends_the_other_way():
    """A straight tendon at y pulls with a couple -y T about t3: K3 = +y T / EI, as Lambda_ad = -EI K (errata)."""
    tendon = plain_tendon(ag.parallel(y=0.004))
    q = flows.static_flow(beam(), tendons=[tendon], tensions=[50.0], tolerance=1e-7)
    assert q == pytest.approx([0, 0, 0, 0.2 / EI, 0, 0], abs=1e-6)


@pytest.mark.parametrize("follower", [True, False])
def test_static_flow_reaches_the_equilibrium_of_the_core(follower):
    described = ag.Rod(0.5, ag.Circle(0.01), MATERIAL, ag.kirchhoff(2), intervals=64)
    robot = clamped(described, gravity=(0.0, 0.5, -1.0))
    load = ag.TipWrench(robot.part("rod"), force=(0.0, 0.002, -0.005), moment=(1e-3, 0, 1e-3), follower=follower)
    robot.load(load)
    held = ag.statics(robot)
    loads = idm.Loads((0.0, 0.5, -1.0), tip=(1e-3, 0, 1e-3, 0.0, 0.002, -0.005), follower=follower)
    q = flows.static_flow(plain_rod(described), loads, tolerance=1e-7)
    assert held.q == pytest.approx(q, abs=2e-6)
    assert np.abs(q).max() > 0.3


# Two clamped ends -----------------------------------------------------------------------------------------------------

L, GJ, BEND, EA = 1.0, 1.0 / 1.3, 1.0, 4e3
HOOKE = np.array([GJ, BEND, BEND, EA, 1e30, 1e30])
TARGET = lie.pose(lie.exp3(np.array([0.8, 0.2, 0.3])), np.array([0.93, 0.15, -0.1]))


def clamped_clamped(modes):
    """An extensible Kirchhoff rod (49) in Legendre modes."""
    basis = rod.strain_modes(L, (modes, modes, modes, modes, 0, 0))
    return rod.Rod(L, basis, rod.constant(rod.STRAIGHT), rod.constant(HOOKE), rod.constant(np.ones(6)))


def strong_form(guess):
    """Strains X -> (m, 6) of the same rod by solve_bvp, from the coarse guess (X, g, Lambda) of its fields.

    The state is (quaternion, position, Lambda); shear strains are zero, their stress is a reaction.
    """

    def strain(Lambda):
        xi = np.zeros_like(Lambda)
        xi[:, :3], xi[:, 3] = Lambda[:, :3] / HOOKE[:3], 1.0 + Lambda[:, 3] / EA
        return xi

    def rate(_, y):
        Q, Lambda = y[:4].T, y[7:].T
        xi = strain(Lambda)
        turning = 0.5 * np.einsum("mij,mj->mi", spectral.quaternion_body_rate(xi[:, :3]), Q)
        moving = np.einsum("mij,mj->mi", lie.rotation_from_wxyz(Q), xi[:, 3:])
        return np.concatenate([turning, moving, np.einsum("mji,mj->mi", lie.ad(xi), Lambda)], axis=1).T

    def ends(a, b):
        tip = lie.pose(lie.rotation_from_wxyz(b[:4]), b[4:7])
        return np.concatenate([a[:7] - [1, 0, 0, 0, 0, 0, 0], lie.log6(lie.inverse(TARGET) @ tip)])

    X, g, Lambda = guess
    start = np.concatenate([lie.quaternion_wxyz(g[:, :3, :3]), g[:, :3, 3], Lambda], axis=1).T
    found = solve_bvp(rate, ends, X, start, tol=1e-8, max_nodes=4000)
    assert found.success
    return lambda X: strain(found.sol(X)[7:].T)


def coarse_guess():
    """Fields of a rod with three modes a strain, the force being constant in inertial axes."""
    plain = clamped_clamped(3)
    q = go_to_target(plain, 1e-2)
    grid = spectral.chebyshev_grid(15, L)
    xi = rod.strains(plain, grid.X, q)
    Lambda = spectral.wrenches(grid, xi, np.zeros((15, 6)), flows.tip_reaction(plain, q))
    return grid.X, spectral.poses(grid, xi, np.eye(4)), Lambda


def go_to_target(plain, tolerance):
    """Move the tip from its place at rest to the target in two steps."""
    rest, q = lie.pose(None, [L, 0, 0]), np.zeros(plain.size)
    for s in (0.5, 1.0):
        goal = rest @ lie.exp6(s * lie.log6(lie.inverse(rest) @ TARGET))
        q = flows.projective_flow(plain, goal, q=q, tolerance=1e-2 if s < 1 else tolerance)
    return q


def test_projective_flow_reaches_the_solution_of_the_boundary_value_problem():
    """(55) to (58): spectral convergence in the modes to what solve_bvp finds, in strains and in the reaction."""
    X = np.linspace(0.0, L, 21)
    truth = strong_form(coarse_guess())(X)
    stress = ((truth[-1] - rod.STRAIGHT) * HOOKE)[:4]
    strains, reactions = [], []
    for modes in (5, 7, 9):
        plain = clamped_clamped(modes)
        q = go_to_target(plain, 1e-8)
        off = lie.log6(lie.inverse(TARGET) @ flows.tip_pose_and_jacobian(plain, q)[0])
        assert off == pytest.approx(0.0, abs=1e-7)  # the flow rests by its rates, off = J_1 rates / k_p
        strains.append(np.abs(rod.strains(plain, X, q) - truth)[:, :3].max())
        reactions.append(np.abs(flows.tip_reaction(plain, q)[:4] - stress).max() / np.abs(stress).max())
    assert strains[0] > 4 * strains[1] > 16 * strains[2]
    assert reactions[0] > 15 * reactions[1] > 225 * reactions[2]
    assert strains[2] < 2e-3
    assert reactions[2] < 1e-6


def test_printed_sign_of_the_feedback_loses_the_tip():
    """(58) as printed is our feedback with a negative gain: the tip runs away and the flow never rests."""
    with pytest.raises(SolverError, match="not come to rest"):
        flows.projective_flow(clamped_clamped(2), TARGET, q=np.zeros(8), gain=-1.0, duration=1.0, tolerance=1e-2)


def loop(x1, q, plain, tolerance):
    return flows.projective_flow(plain, lie.pose(None, [x1, 0, 0]), q=q, tolerance=tolerance)


@pytest.mark.slow
def test_flexion_torsion_passes_the_pitchfork():
    """Test 3 (errata 7): twisted by a turn and pushed, the spatial branch meets a planar loop without torsion.

    The torsion vanishes between x1 = 0.325 l and 0.3125 l, like the square root of the distance; the flow crosses that
    point and goes on along the planar loop.
    """
    plain = clamped_clamped(6)
    q = np.zeros(plain.size)
    for angle in np.linspace(0.0, 2 * np.pi, 7)[1:]:
        goal = lie.pose(lie.rotation([1, 0, 0], angle), [L, 0, 0])
        q = flows.projective_flow(plain, goal, q=q, tolerance=1e-3)
    assert q[0] == pytest.approx(2 * np.pi, abs=1e-3)
    q += 1e-2 * np.random.default_rng(0).normal(size=plain.size)  # a straight twisted rod must be nudged to buckle
    torsion = {}
    for x1 in (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.45, 0.4, 0.36, 0.34, 0.33, 0.325, 0.3125, 0.3, 0.2, 0.0, -0.2):
        q = loop(x1, q, plain, 1e-4)
        torsion[x1] = abs(q[0])
    assert torsion[0.325] > 0.05
    assert torsion[0.3125] < 1e-3
    fork = [0.4, 0.36, 0.34, 0.33, 0.325]
    slope, crossing = np.polyfit(fork[1:], [torsion[x] ** 2 for x in fork[1:]], 1)
    assert 0.3125 < -crossing / slope < 0.325
    assert torsion[-0.2] < 1e-6
