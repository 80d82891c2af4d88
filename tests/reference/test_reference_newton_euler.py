"""Inverse dynamics and tangent of 004: against 000, differences, and the core's residual and tangent."""

from dataclasses import replace

import numpy as np
import pytest
from reference_plain import (
    MATERIAL,
    as_reference,
    base_maps,
    clamped,
    free,
    plain_rod,
    plain_tendon,
    random_state,
    screw_inertia,
)

import anguilla as ag
from anguilla import lie
from anguilla.reference import idm as idm000
from anguilla.reference import implicit, newton_euler, robots, rod, tangent

RNG = np.random.default_rng(0)
HAND = ag.RigidBody(0.3, inertia=(2e-3, 1e-3, 2.5e-3), com=(0.02, 0.03, -0.01))
CURVED = ag.Rod(
    0.5, ag.taper(ag.Circle(0.012), ag.Circle(0.008), 0.5), MATERIAL, ag.reissner(2), rest=ag.Helix(0.3, 0.5)
)
GRAVITY = (1.0, 2.0, -9.81)
LOAD = np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])
TENDON = ag.helical(0.009, 0.4)


def random_pose(size=1.0):
    return lie.exp6(size * RNG.normal(size=6))


def random_body():
    """Screw inertia (6, 6) of a few point masses."""
    points = np.concatenate([-lie.hat3(0.1 * RNG.normal(size=(5, 3))), np.tile(np.eye(3), (5, 1, 1))], axis=2)
    return 0.1 * np.einsum("kai,kaj->ij", points, points)


def a_tree():
    """A floating base, a hinge, two rods, a slider, a fixed body, two loops, a tendon, dead and follower wrenches."""
    plain = plain_rod(replace(CURVED, strains=ag.reissner(1)))
    soft = robots.Soft(plain, (plain_tendon(TENDON),), lambda t: (2.0,))
    links = (
        robots.Link(0, robots.Lumped((0, 0, 1, 0, 0, 0)), random_pose(), random_body()),
        robots.Link(1, soft, random_pose(), random_body()),
        robots.Link(0, robots.Soft(plain), random_pose(), random_body()),
        robots.Link(2, robots.Lumped((0, 0, 0, 0.6, 0.8, 0)), random_pose(), random_body()),
        robots.Link(4, robots.Lumped(), random_pose(), random_body()),
    )
    loops = (
        robots.Loop(3, 5, np.eye(6)[[0, 1, 3, 4, 5]], random_pose(0.3), random_pose(0.3)),
        robots.Loop(0, 5, np.eye(6)[3:]),
    )
    wrenches = (robots.Wrench(1, lambda t: LOAD), robots.Wrench(3, lambda t: LOAD, follower=True))
    return robots.Robot(links, True, random_body(), GRAVITY, loops, wrenches, points=18)


def test_inverse_dynamics_of_004_and_of_000_agree():
    """The spectral cascade against the integration along X, six strains, curved, with a body at the tip."""
    plain, n = plain_rod(CURVED), CURVED.size
    q, v, a = random_state(clamped(CURVED), 5)
    g0, eta0, deta0 = random_pose(), RNG.normal(size=6), RNG.normal(size=6)
    loads = idm000.Loads(GRAVITY, tuple(LOAD), False, screw_inertia(HAND))
    force = idm000.idm(plain, q, v, a, g0, eta0, deta0, loads)
    K = rod.stiffness(plain)
    force[6:] += K @ (q + plain.damping * v)
    robot = as_reference(CURVED, HAND, free=True, gravity=GRAVITY, wrenches=(robots.Wrench(1, lambda t: LOAD),))
    balance, _ = newton_euler.idm(robot, robots.Chi(g0, eta0, deta0, q, v, a, np.zeros(0)))
    assert np.concatenate([balance.R0, balance.Rq]) == pytest.approx(force, abs=1e-9 * np.abs(force).max())
    assert n == len(balance.Rq)


def test_tangent_is_the_derivative_of_the_inverse_dynamics():
    """TIDM* against central differences of IDM* for every input and output, loops included (errata 8)."""
    robot = a_tree()
    n, m = robots.sizes(robot)
    q, v, a = 0.5 * RNG.normal(size=(3, n))
    chi = robots.Chi(random_pose(), RNG.normal(size=6), RNG.normal(size=6), q, v, a, RNG.normal(size=m))
    ends = np.cumsum([6, 6, 6, n, n, n])
    directions = np.eye(18 + 3 * n + m)
    balance, motions = newton_euler.idm(robot, chi)
    found = np.concatenate(tangent.tidm(robot, chi, robots.Chi(*np.split(directions, ends)), balance, motions))

    def outputs(x):
        z, e, d, dq, dv, da, dl = np.split(x, ends)
        moved = (chi.g0 @ lie.exp6(z), chi.eta0 + e, chi.deta0 + d, chi.q + dq, chi.v + dv, chi.a + da, chi.lam + dl)
        b, _ = newton_euler.idm(robot, robots.Chi(*moved))
        return np.concatenate([b.R0, b.Rq, b.Phi])

    h = 1e-5
    measured = np.stack([(outputs(h * x) - outputs(-h * x)) / (2 * h) for x in directions], axis=1)
    assert np.abs(found - measured).max() < 1e-7
    assert np.abs(found).max() > 10.0


# The core -------------------------------------------------------------------------------------------------------------


def core_tree(intervals):
    """A hinged body, a rod with a tendon, a hinged body at its tip, a second rod: in the core."""
    robot = ag.Robot("tree", gravity=GRAVITY)
    shoulder = robot.add(HAND, at=robot.ground, joint=ag.Revolute((0, 0, 1)), pose=lie.pose(lie.exp3([0.3, 0.2, 0.1])))
    upper = robot.add(replace(CURVED, intervals=intervals), at=shoulder.at((0.05, 0.0, 0.02)))
    elbow = robot.add(HAND, at=upper.tip, joint=ag.Revolute((0, 1, 0)))
    lower = ag.Rod(0.3, ag.Circle(0.008), MATERIAL, ag.kirchhoff(2), intervals=intervals)
    robot.add(lower, at=elbow.frame, pose=lie.pose(None, [0.0, 0.03, 0.0]))
    robot.actuate("pull", ag.Tendon(upper, TENDON))
    return robot


def plain_tree():
    """The same tree for 004."""
    inertia = screw_inertia(HAND)
    lower = ag.Rod(0.3, ag.Circle(0.008), MATERIAL, ag.kirchhoff(2))
    soft = robots.Soft(plain_rod(CURVED), (plain_tendon(TENDON),), lambda t: (2.0,))
    links = (
        robots.Link(0, robots.Lumped((0, 0, 1, 0, 0, 0)), lie.pose(lie.exp3([0.3, 0.2, 0.1])), inertia),
        robots.Link(1, soft, lie.pose(None, [0.05, 0.0, 0.02])),
        robots.Link(2, robots.Lumped((0, 1, 0, 0, 0, 0)), inertia=inertia),
        robots.Link(3, robots.Soft(plain_rod(lower)), lie.pose(None, [0.0, 0.03, 0.0])),
    )
    return robots.Robot(links, gravity=GRAVITY, points=28)


def test_residual_and_tangents_of_a_tree_converge_to_004():
    """R, K = dR/dq, C = dR/dv and M = dR/da of the core, rods and bodies, hinges, a tendon: order four to below 1e-8."""
    q, v, a = random_state(core_tree(16), 2)
    plain = plain_tree()
    n = len(q)
    zero, none = np.zeros((6, 3 * n)), np.zeros((0, 3 * n))
    chi = robots.Chi(np.eye(4), np.zeros(6), np.zeros(6), q, v, a, np.zeros(0))
    balance, motions = newton_euler.idm(plain, chi)
    delta = robots.Chi(zero, zero, zero, *np.split(np.eye(3 * n), 3), none)
    _, dR, _ = tangent.tidm(plain, chi, delta, balance, motions)
    K_e = np.zeros((n, n))
    errors = []
    for intervals in (32, 64, 128):
        system = ag.Model(core_tree(intervals))
        scale = system.tree.scale
        K_e = system.elastic_stiffness()
        elastic = K_e @ (q + MATERIAL.damping * v)  # exact in both: it would hide the rest
        R = (system.residual(q, v, a, inputs={"pull": 2.0}) - elastic) / scale
        truth = (balance.Rq - elastic) / scale
        off = [np.abs(R - truth).max() / np.abs(truth).max()]
        for found, want, part in zip(
            system.matrices(q, v, a, inputs={"pull": 2.0}), np.split(dR, 3, axis=1), (K_e, MATERIAL.damping * K_e, 0.0)
        , strict=True):  # fmt: skip
            size = np.outer(scale, scale)
            off.append(np.abs((found - want) / size).max() / np.abs((want - part) / size).max())
        errors.append(off)
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.max(errors[-1]) < 1e-8
    assert np.all(np.abs(orders - 4.0) < 0.2)


def test_tangent_of_a_free_rod_converges_to_004():
    """Newmark's Jacobian (19) with a floating base: (15) and (76) against the ball joint of the core."""
    q, v, a = random_state(free(CURVED, HAND), 3)
    n, scheme = CURVED.size, implicit.Newmark(0.1)
    g0 = lie.pose(lie.exp3(q[3:6]), q[:3])
    P, eta0, deta0 = base_maps(g0[:3, :3], v[:6], a[:6])
    robot = as_reference(CURVED, HAND, free=True)
    chi = robots.Chi(g0, eta0, deta0, q[6:], v[6:], a[6:], np.zeros(0))
    R, jacobian = implicit.residual_and_jacobian(robot, chi, 0.0, scheme)
    # core: rows and columns (position, rotation); its force rows are in inertial axes and turn with the base
    order = [3, 4, 5, 0, 1, 2, *range(6, 6 + n)]
    T = np.block([[P, np.zeros((6, n))], [np.zeros((n, 6)), np.eye(n)]])
    want = T.T @ jacobian[:, order]
    want[:3, 3:6] -= g0[:3, :3] @ lie.hat3(R[3:6])
    errors = []
    for intervals in (32, 64, 128):
        system = ag.Model(free(replace(CURVED, intervals=intervals), HAND))
        found = system.tangent(q, v, a, alpha=scheme.a, beta=scheme.b)
        K = (1.0 + scheme.a * MATERIAL.damping) * system.elastic_stiffness()
        size = np.outer(system.tree.scale, system.tree.scale)
        errors.append(np.abs((found - want) / size).max() / np.abs((want - K) / size).max())
    assert errors[-1] < 1e-8
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(4.0, abs=0.2)
