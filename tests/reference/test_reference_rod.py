"""Reference rods (000 II to V): stiffness, tendons, actuation matrix, spectral grid."""

import numpy as np
import pytest
from reference_plain import MATERIAL, plain_rod, plain_tendon
from scipy.linalg import expm

import anguilla as ag
from anguilla import lie
from anguilla.reference import idm, rod, spectral

RNG = np.random.default_rng(0)


def test_hilbert_matrix_of_monomials():
    """000, after (48): K_ee = EI / (i + j - 1); its last corner is 1/(2n - 1), not the printed 1/(2n)."""
    beam = rod.round_rod(1.0, 0.01, 1e8, 1000.0, modes=(0, 0, 5, 0, 0, 0), functions=rod.monomials)
    hilbert = 1.0 / (1.0 + np.add.outer(np.arange(5), np.arange(5)))
    assert rod.stiffness(beam) == pytest.approx(1e8 * np.pi * 0.01**4 / 4 * hilbert, rel=1e-12)


def test_legendre_makes_the_stiffness_diagonal_and_chebyshev_does_not():
    ratios = {}
    for functions in (rod.legendre, rod.chebyshev):
        K = rod.stiffness(rod.round_rod(1.0, 0.01, 1e8, 1000.0, modes=(0, 0, 5, 0, 0, 0), functions=functions))
        ratios[functions] = np.abs(K - np.diag(np.diag(K))).max() / K[0, 0]
    assert ratios[rod.legendre] < 1e-13
    assert ratios[rod.chebyshev] > 0.1


def test_stiffness_of_a_tapered_rod_is_that_of_the_core():
    section = ag.taper(ag.Ellipse(0.012, 0.02), ag.Ellipse(0.008, 0.006), 0.5)
    described = ag.Rod(0.5, section, MATERIAL, ag.reissner(3))
    robot = ag.Robot("arm")
    robot.add(described, at=robot.ground)
    K = rod.stiffness(plain_rod(described))
    assert ag.Model(robot).elastic_stiffness() == pytest.approx(K, rel=1e-12, abs=1e-12 * K.max())


ROUTINGS = {
    "parallel": ag.parallel(y=0.008, z=0.003),
    "convergent": ag.convergent((0.008, 0.0), (0.0, 0.0), 0.5),
    "helix": ag.helical(0.009, 0.4),
}


@pytest.mark.parametrize("routing", ROUTINGS.values(), ids=ROUTINGS.keys())
def test_actuation_is_minus_the_gradient_of_the_tendon_length(routing):
    """000 (13) to (15), (27), (28): Q_ad = -T dl/dq. Without 1/|Gamma_c|, which (28) drops, this fails."""
    described = ag.Rod(0.5, ag.Circle(0.01), MATERIAL, ag.reissner(3))
    plain, tendon = plain_rod(described), plain_tendon(routing)
    q = RNG.normal(size=plain.size) * np.repeat([3.0, 3.0, 3.0, 0.1, 0.1, 0.1], 3)
    L = rod.actuation(plain, [tendon], q)[:, 0]
    h = 1e-6 * np.eye(plain.size)
    slope = [(rod.tendon_length(plain, tendon, q + e) - rod.tendon_length(plain, tendon, q - e)) / 2e-6 for e in h]
    assert np.array(slope) == pytest.approx(-L, abs=2e-9)
    X, _ = rod.quadrature(plain)
    bare = rod.tendon_line(tendon, X, rod.strains(plain, X, q))[1]
    assert np.abs(np.linalg.norm(bare, axis=1) - 1.0).max() > 1e-2  # the factor matters in this state


@pytest.mark.parametrize("routing", ROUTINGS.values(), ids=ROUTINGS.keys())
def test_actuation_matrix_of_the_core(routing):
    """The core integrates tendons on its own grid: it converges to the reference."""
    errors = []
    for intervals in (8, 16, 32):
        robot = ag.Robot("arm", gravity=(0, 0, 0))
        arm = robot.add(ag.Rod(0.5, ag.Circle(0.01), MATERIAL, ag.kirchhoff(3), intervals=intervals), at=robot.ground)
        robot.actuate("pull", ag.Tendon(arm, routing))
        held = ag.statics(robot, inputs={"pull": 3.0})
        L = rod.actuation(plain_rod(arm.rod), [plain_tendon(routing)], held.q)
        errors.append(np.abs(held.actuation() - L).max() / np.abs(L).max())
    assert errors[-1] < 1e-8
    assert errors[-1] < 1e-12 or np.log2(errors[-2] / errors[-1]) > 3.7


def test_tendon_stress_tangent():
    tendon = plain_tendon(ROUTINGS["helix"])
    X, xi = np.linspace(0, 0.5, 7), rod.STRAIGHT + RNG.normal(size=(7, 6)) * [3, 3, 3, 0.1, 0.1, 0.1]
    tangent = rod.tendon_stress_tangent(tendon, X, xi)
    for j, e in enumerate(1e-6 * np.eye(6)):
        slope = (rod.tendon_stress(tendon, X, xi + e) - rod.tendon_stress(tendon, X, xi - e)) / 2e-6
        assert tangent[:, :, j] == pytest.approx(slope, abs=1e-8)


# The Chebyshev grid (004 IX) ------------------------------------------------------------------------------------------


def test_differentiation_and_integration_on_the_grid():
    grid = spectral.chebyshev_grid(20, 0.7)
    assert grid.D @ np.exp(3 * grid.X) == pytest.approx(3 * np.exp(3 * grid.X), abs=1e-10)
    assert spectral.integral(grid, np.exp(3 * grid.X)[:, None]) == pytest.approx([(np.exp(2.1) - 1) / 3], rel=1e-13)


def test_poses_of_constant_strain_are_the_exponential():
    grid, xi = spectral.chebyshev_grid(20, 0.7), np.array([1.0, -2.0, 3.0, 1.1, 0.1, -0.2])
    start = lie.exp6(RNG.normal(size=6))
    poses = spectral.poses(grid, np.tile(xi, (20, 1)), start)
    assert poses[-1] == pytest.approx(start @ expm(0.7 * lie.hat6(xi)), abs=1e-12)


def test_twists_and_wrenches_of_constant_strain():
    """x' = -ad x + b and L' = ad^T L + b have closed forms by the adjoint: x(l) = int Ad(exp(-xi s)) b."""
    grid, xi = spectral.chebyshev_grid(24, 0.7), np.array([1.0, -2.0, 3.0, 1.1, 0.1, -0.2])
    b, tip = RNG.normal(size=6), RNG.normal(size=6)
    A = -lie.ad(xi)
    block = np.zeros((7, 7))
    block[:6, :6], block[:6, 6] = A, b
    assert spectral.twists(grid, np.tile(xi, (24, 1)), np.tile(b, (24, 1)))[-1] == pytest.approx(
        expm(0.7 * block)[:6, 6], abs=1e-12
    )
    block[:6, :6] = -A.T
    root = expm(-0.7 * block) @ np.append(tip, 1.0)
    found = spectral.wrenches(grid, np.tile(xi, (24, 1)), np.tile(b, (24, 1)), tip)[0]
    assert found == pytest.approx(root[:6], abs=1e-12)


def test_the_two_quaternion_equations_agree():
    """A(R K) Q of 000 (21), in fixed axes, and the one in body axes of the spectral cascade."""
    Q, K = RNG.normal(size=4), RNG.normal(size=3)
    Q /= np.linalg.norm(Q)
    fixed = idm.quaternion_rate(lie.rotation_from_wxyz(Q) @ K) @ Q
    assert fixed == pytest.approx(spectral.quaternion_body_rate(K[None])[0] @ Q, abs=1e-14)
