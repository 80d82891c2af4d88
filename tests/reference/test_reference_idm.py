"""Inverse dynamics and Lagrangian matrices of 000, and the core against them."""

from dataclasses import replace

import numpy as np
import pytest
from reference_plain import MATERIAL, base_maps, clamped, free, plain_rod, plain_tendon, random_state, screw_inertia

import anguilla as ag
from anguilla import lie
from anguilla.reference import idm, rod

HAND = ag.RigidBody(0.3, inertia=(2e-3, 1e-3, 2.5e-3), com=(0.02, 0.03, -0.01))
ELLIPSES = ag.taper(ag.Ellipse(0.012, 0.02), ag.Ellipse(0.008, 0.006), 0.5)
RODS = {
    "kirchhoff": ag.Rod(0.5, ag.Circle(0.01), MATERIAL, ag.kirchhoff(3)),
    "six_strains_tapered_curved": ag.Rod(
        0.5, ELLIPSES, MATERIAL, ag.reissner(2), rest=ag.ConstantCurvature(0.5, 1.0, -1.5)
    ),
}
GRAVITY = (1.0, 2.0, -9.81)
SMALL = ag.Rod(0.5, ag.Circle(0.01), MATERIAL, ag.kirchhoff(2, twist_modes=1))
PLANAR = rod.round_rod(0.5, 0.01, 1e6, 1000.0, modes=(0, 0, 3, 0, 0, 0), damping=0.01)


@pytest.mark.parametrize("floats", [False, True], ids=["clamped", "free"])
@pytest.mark.parametrize("hand", [None, HAND], ids=["bare", "body"])
@pytest.mark.parametrize("name", RODS)
def test_core_converges_to_the_matrices_of_000(name, hand, floats):
    """000 (32) to (36): M, the whole inverse dynamics, and the static forces; order four in the intervals."""
    described, make = RODS[name], free if floats else clamped
    plain, n = plain_rod(described), described.size
    q, v, a = random_state(make(described, hand), 1)
    own = q[-n:], v[-n:], a[-n:]
    g0, eta0, deta0, T = np.eye(4), np.zeros(6), np.zeros(6), np.eye(6 + n)[:, 6:]
    if floats:
        g0 = lie.pose(lie.exp3(q[3:6]), q[:3])
        P, eta0, deta0 = base_maps(g0[:3, :3], v[:6], a[:6])
        T = np.block([[P, np.zeros((6, n))], [np.zeros((n, 6)), np.eye(n)]])
    loads = idm.Loads(GRAVITY, tip_inertia=None if hand is None else screw_inertia(hand))
    model = idm.matrices(plain, own[0], own[1], g0, eta0, loads)
    mass, static = T.T @ model.mass @ T, T.T @ model.static
    whole = T.T @ idm.idm(plain, *own, g0, eta0, deta0, loads)

    errors = []
    for intervals in (32, 64, 128):
        system = ag.Model(make(replace(described, intervals=intervals), hand))
        scale, K = system.tree.scale, system.elastic_stiffness()
        found = system.residual(q, v, a) - K @ (q + MATERIAL.damping * v), system.residual(q) - K @ q
        off = [
            np.abs((x - y) / scale).max() / np.abs(y / scale).max() for x, y in zip(found, (whole, static), strict=True)
        ]
        size = np.outer(scale, scale)
        errors.append([*off, np.abs((system.matrices(q)[2] - mass) / size).max() / np.abs(mass / size).max()])
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.max(errors[-1]) < 1e-8
    assert np.all(np.abs(orders - 4.0) < 0.2)
    # what (33) to (36) gave must add up to the inverse dynamics itself
    accelerations = np.concatenate([deta0, own[2]])
    assert model.mass @ accelerations + model.velocity + model.static == pytest.approx(
        idm.idm(plain, *own, g0, eta0, deta0, loads), abs=1e-9
    )


def test_mass_matrix_is_symmetric_and_positive():
    plain = plain_rod(RODS["six_strains_tapered_curved"])
    q = random_state(clamped(RODS["six_strains_tapered_curved"]), 2)[0]
    M = idm.matrices(plain, q, np.zeros(plain.size), np.eye(4), np.zeros(6), tolerance=1e-13).mass
    assert np.abs(M - M.T).max() < 1e-10 * np.abs(M).max()
    assert np.linalg.eigvalsh(0.5 * (M + M.T)).min() > 0.0


def test_mass_rate_minus_twice_coriolis_is_skew():
    plain = plain_rod(SMALL)
    q, v, _ = random_state(clamped(SMALL), 3)
    n, zero = plain.size, np.zeros(6)

    def mass(s):
        return idm.matrices(plain, q + s * v, np.zeros(n), np.eye(4), zero, tolerance=1e-13).mass[6:, 6:]

    h = 1e-3  # differences of fourth order
    rate = (8 * (mass(h) - mass(-h)) - (mass(2 * h) - mass(-2 * h))) / (12 * h)
    C = idm.coriolis(plain, q, v, tolerance=1e-13)
    skew = rate - 2 * C
    assert np.abs(skew + skew.T).max() < 1e-8 * np.abs(rate).max()
    assert np.abs(skew).max() > 0.1 * np.abs(rate).max()  # not skew because it vanishes
    Qv = idm.matrices(plain, q, v, np.eye(4), zero).velocity[6:]
    assert C @ v == pytest.approx(Qv, abs=1e-10 * np.abs(Qv).max())


def test_power_of_a_floating_rod_is_the_rate_of_its_kinetic_energy():
    """v . Q_v = 1/2 v . dM/dt v, base included: no power hides in the velocity forces."""
    plain = plain_rod(SMALL)
    q, v, _ = random_state(free(SMALL), 4)
    qs, vs, eta = q[6:], v[6:], v[:6]
    rates = np.concatenate([eta, vs])
    h = 1e-3
    M = {s: idm.matrices(plain, qs + s * h * vs, 0 * vs, np.eye(4), 0 * eta).mass for s in (-2, -1, 1, 2)}
    rate = (8 * (M[1] - M[-1]) - (M[2] - M[-2])) / (12 * h)
    velocity = idm.matrices(plain, qs, vs, np.eye(4), eta).velocity
    assert rates @ velocity == pytest.approx(0.5 * rates @ rate @ rates, rel=1e-8)


def test_signs_of_appendix_2_matter():
    """Q_a' = + Phi^T Lambda: gravity along -y bends down a rod along x, so holding it takes a positive K3 couple."""
    force = idm.idm(PLANAR, np.zeros(3), np.zeros(3), np.zeros(3), np.eye(4), np.zeros(6), np.zeros(6),
                    idm.Loads((0.0, -9.81, 0.0)))  # fmt: skip
    weight = 1000.0 * np.pi * 1e-4 * 0.5 * 9.81
    assert force[:6] == pytest.approx([0, 0, weight * 0.25, 0, weight, 0], rel=1e-9)
    # first Legendre mode: K3 = q / 1, work of the couple = int M(X) dX = w L^3 / 6
    assert force[6] == pytest.approx(weight * 0.5**2 / 6, rel=1e-9)


# Explicit motion in time (37) -----------------------------------------------------------------------------------------


def test_explicit_motion_of_a_clamped_rod_is_that_of_the_core():
    """Released from a bent state, with a tendon pulling; the core at a fine step and many intervals."""
    soft = ag.Material(young=1e6, density=1000.0, damping=1e-3)
    described = ag.Rod(0.5, ag.Circle(0.01), soft, ag.planar(2), intervals=48)
    robot = clamped(described, gravity=(0.0, -9.81, 0.0))
    routing = ag.parallel(y=0.006)
    robot.actuate("pull", ag.Tendon(robot.part("rod"), routing))
    q0, times = np.array([2.0, 0.3]), np.linspace(0.0, 0.05, 2)
    pull = lambda t: 4.0 * t
    q, _, _, v = idm.simulate(
        plain_rod(described), times, q=q0, v=0 * q0, loads=idm.Loads((0.0, -9.81, 0.0)),
        tendons=[plain_tendon(routing)], tensions=lambda t: (pull(t),), tolerance=1e-6,
    )  # fmt: skip
    ends = []
    for dt in (1e-3, 5e-4):
        run = ag.simulate(robot, duration=0.05, dt=dt, start=(q0, 0 * q0), inputs={"pull": pull}, method=ag.Newmark(),
                          tolerance=1e-11)  # fmt: skip
        ends.append(np.concatenate([run.q[-1], run.v[-1]]))
    limit = ends[1] + (ends[1] - ends[0]) / 3.0  # Newmark is of second order: the step's error removed
    assert limit == pytest.approx(np.concatenate([q[-1], v[-1]]), abs=1e-5 * np.abs(v[-1]).max())
    assert np.abs(q[-1] - q0).max() > 0.1


def test_explicit_motion_of_a_free_rod_keeps_its_momentum():
    """A floating rod bent by a tendon in vacuum (000, test 6): the six first integrals, with a quaternion base."""
    tendon = plain_tendon(ag.helical(0.008, 0.7))
    plain = rod.round_rod(0.5, 0.01, 1e6, 1000.0, modes=(0, 1, 1, 0, 0, 0), damping=1e-3)
    g0 = lie.exp6(np.array([0.3, -0.2, 0.5, 0.1, 0.2, 0.3]))
    eta0 = np.array([1.0, 2.0, -0.5, 0.1, -0.3, 0.2])
    q, g, eta, v = idm.simulate(
        plain, np.linspace(0.0, 0.05, 3), q=np.zeros(2), v=np.zeros(2), g0=g0, eta0=eta0, clamped=False,
        tendons=[tendon], tensions=lambda t: (400.0 * t,), tolerance=1e-6,
    )  # fmt: skip
    momenta = []
    for k in range(3):
        M = idm.matrices(plain, q[k], v[k], g[k], eta[k]).mass
        wrench = M[:6] @ np.concatenate([eta[k], v[k]])  # of the whole rod, about the root, in its axes
        momenta.append(lie.Ad(lie.inverse(g[k])).T @ wrench)
    assert np.abs(q[-1]).max() > 0.2
    assert np.array(momenta) == pytest.approx(np.tile(momenta[0], (3, 1)), abs=1e-6 * np.abs(momenta[0]).max())
