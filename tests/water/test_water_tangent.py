"""Water on rods and bodies: the tangent against differences of the residual, the wrench against independent formulas."""

import numpy as np
import pytest

import anguilla as ag

SOFT = ag.Material(young=2e3, poisson=0.4, density=1100.0, damping=0.03)
UNIVERSAL = ag.Universal((0, 1, 0), (0, 0, 1))
CURRENT = (0.3, -0.2, 0.5)


def differences(system, q, v, a, alpha, beta):
    """dR along (dq, alpha dq, beta dq), column by column: central differences of fourth order."""
    size = 1e-3 / max(1.0, abs(alpha) / 3.0, abs(beta) / 30.0)
    columns = []
    for j in range(system.size):
        e = np.zeros(system.size)
        e[j] = size / system.tree.scale[j]
        at = lambda s, e=e: system.residual(q + s * e, v + s * alpha * e, a + s * beta * e)
        columns.append((8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * e[j]))
    return np.array(columns).T


def check(robot, seed=1):
    system = ag.Model(robot)
    q, v, a = np.random.default_rng(seed).normal(size=(3, system.size)) / system.tree.scale
    q, v, a = 0.3 * q, 2.0 * v, 10.0 * a
    given = system.matrices(q, v, a)
    stiffness = differences(system, q, v, a, 0.0, 0.0)
    damping = differences(system, q, v, a, 1.0, 0.0) - stiffness
    mass = differences(system, q, v, a, 0.0, 1.0) - stiffness
    size = np.outer(system.tree.scale, system.tree.scale)
    for name, x, y in zip("KCM", given, (stiffness, damping, mass), strict=True):
        assert np.max(np.abs((x - y) / size)) < 1e-7 * np.max(np.abs(y / size)), name
    return given


def fish(strains, joint=None):
    robot = ag.Robot("fish", gravity=(1.0, -2.0, -9.0))
    section = ag.taper(ag.Ellipse(0.03, 0.05), ag.Ellipse(0.01, 0.04), 0.6)
    joint = joint or ag.Revolute((0.3, 1.0, -0.4))
    return robot, robot.add(ag.Rod(0.6, section, SOFT, strains, intervals=4), at=robot.ground, joint=joint, name="body")


RODS = {"kirchhoff": ag.kirchhoff(2), "reissner": ag.reissner(2), "planar": ag.planar(3)}
FLUIDS = {
    "morison": lambda rod: ag.Morison(rod, current=CURRENT, axial=0.5, spin=3.0),
    "lighthill": lambda rod: ag.Lighthill(rod, current=CURRENT),
    "lighthill without tail": lambda rod: ag.Lighthill(rod, current=CURRENT, tail=False),
    "resistive": lambda rod: ag.ResistiveForce(rod, tangential=3.0, normal=5.0, turning=0.2, current=CURRENT),
    "buoyancy": lambda rod: ag.Buoyancy(rod),
}


@pytest.mark.parametrize("strains", RODS.values(), ids=RODS)
@pytest.mark.parametrize("fluid", FLUIDS.values(), ids=FLUIDS)
def test_tangent_of_water_along_a_rod(fluid, strains):
    robot, rod = fish(strains)
    robot.load(fluid(rod))
    check(robot)


HULLS = {
    "blunt": dict(drag=(2, 3, 4, 0.02, 0.03, 0.04), added=(1, 2, 3, 0.1, 0.2, 0.3), displaced=0.5),
    "slender": dict(drag=(2, 3, 4, 0.02, 0.03, 0.04), slender=True),
    "without convection": dict(friction=(1, 2, 3, 0.1, 0.2, 0.3), added=(1, 2, 3, 0.1, 0.2, 0.3), potential=False),
}


@pytest.mark.parametrize("hull", HULLS.values(), ids=HULLS)
def test_tangent_of_a_hull(hull):
    robot, rod = fish(ag.kirchhoff(1))
    body = robot.add(ag.RigidBody(0.3, (0.01, 0.02, 0.03), (0.1, 0, 0)), at=rod.tip, joint=UNIVERSAL, name="float")
    robot.load(ag.Hull(body.at((0.05, 0.1, -0.05)), current=CURRENT, **hull))
    check(robot)


@pytest.mark.parametrize("kind", [ag.Morison, ag.Lighthill])
def test_tangent_of_water_along_a_rigid_body(kind):
    robot, rod = fish(ag.kirchhoff(1))
    body = robot.add(ag.RigidBody(0.3, (0.01, 0.02, 0.03)), at=rod.tip, joint=UNIVERSAL, name="fin")
    robot.load(kind(body, section=ag.Ellipse(0.01, 0.04), span=(0.0, 0.2), current=CURRENT))
    check(robot)


def morison_wrench(motion, t, X):
    """001 (9)-(15) written once more, with semi-axes 0.03 and 0.05."""
    b, c, rho = 0.03, 0.05, 1000.0
    R, V = motion.rotation, motion.rotation.T @ (motion.velocity - CURRENT)
    A, W, L = (R.T @ x for x in (motion.acceleration, motion.spin, motion.spin_rate))
    cross_flow = np.hypot(V[1], V[2])
    force = -0.5 * rho * np.array([
        0.01 * np.pi * (b + c) * abs(V[0]) * V[0], 2 * c * cross_flow * V[1], 2 * b * cross_flow * V[2]
    ])  # fmt: skip
    force[1] -= rho * np.pi * c**2 * A[1]
    force[2] -= rho * np.pi * b**2 * A[2]
    roll = -0.5 * rho * (b**2 - c**2) ** 2 * abs(W[0]) * W[0] - rho * np.pi / 8 * (b**2 - c**2) ** 2 * L[0]
    return np.concatenate([R @ [roll, 0, 0], R @ force])


def test_morison_is_the_formula_of_the_paper():
    """The same residual as that of a load written in Python, at the nodes of the rod."""
    residuals = []
    for load in (lambda rod: ag.Morison(rod, current=CURRENT), lambda rod: ag.UserLoad(rod, morison_wrench)):
        robot = ag.Robot("eel")
        part = robot.add(ag.Rod(0.6, ag.Ellipse(0.03, 0.05), SOFT, ag.kirchhoff(2)), at=robot.ground, joint=ag.Free())
        robot.load(load(part))
        system = ag.Model(robot)
        q, v, a = np.random.default_rng(3).normal(size=(3, system.size))
        residuals.append(system.residual(0.3 * q, v, a))
    np.testing.assert_allclose(residuals[0], residuals[1], rtol=1e-11, atol=1e-11)
