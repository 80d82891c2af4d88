"""Closed forms of beam theory: buckling, small deflections, torsion, stretch, varying sections."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import jv

import anguilla as ag

LENGTH, RADIUS, YOUNG, POISSON, DENSITY = 0.8, 0.01, 5e7, 0.35, 1300.0
AREA, SECOND = np.pi * RADIUS**2, np.pi * RADIUS**4 / 4
EI, EA = YOUNG * SECOND, YOUNG * AREA
G = YOUNG / (2 * (1 + POISSON))
MATERIAL = ag.Material(young=YOUNG, density=DENSITY, poisson=POISSON)


def cantilever(strains, *, section=None, gravity=(0.0, 0.0, 0.0), intervals=None, length=LENGTH):
    robot = ag.Robot(gravity=gravity)
    rod = ag.Rod(length, section or ag.Circle(RADIUS), MATERIAL, strains, intervals=intervals)
    return robot, robot.add(rod, at=robot.ground)


def critical(robot, low, high):
    """Time, used as a load factor, at which the smallest eigenvalue of the tangent of the rest shape passes zero."""
    system = ag.Model(robot)
    rest = np.zeros(system.size)

    def smallest(t):
        tangent = system.tangent(rest, t=t)
        np.testing.assert_allclose(tangent, tangent.T, atol=1e-12 * np.max(np.abs(tangent)))
        return np.linalg.eigvalsh(tangent)[0]

    return brentq(smallest, low, high, xtol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("strains", [ag.planar(8), ag.kirchhoff(8)], ids=["planar", "space"])
def test_column_buckles_at_eulers_load(strains):
    robot, arm = cantilever(strains, intervals=40)
    robot.load(ag.TipWrench(arm, force=lambda t: (-t * EI / LENGTH**2, 0, 0)))
    assert critical(robot, 1.0, 4.0) == pytest.approx(np.pi**2 / 4, rel=1e-6)


def test_column_under_a_follower_force_does_not_buckle_statically():
    robot, arm = cantilever(ag.planar(8), intervals=40)
    robot.load(ag.TipWrench(arm, force=lambda t: (-t * EI / LENGTH**2, 0, 0), follower=True))
    system = ag.Model(robot)
    signs = [np.sign(np.linalg.det(system.tangent(np.zeros(8), t=t) / EI)) for t in np.linspace(0.0, 20.0, 41)]
    assert set(signs) == {1.0}  # Beck's column loses stability by flutter, at 20.05


def test_column_buckles_under_its_own_weight_as_greenhill_found():
    weight = DENSITY * AREA
    robot, _ = cantilever(ag.planar(10), gravity=lambda t: (-t * EI / (weight * LENGTH**3), 0, 0), intervals=40)
    root = brentq(lambda j: jv(-1 / 3, j), 1.5, 2.2, xtol=1e-14)
    assert 9 / 4 * root**2 == pytest.approx(7.8373, abs=1e-4)
    assert critical(robot, 5.0, 10.0) == pytest.approx(9 / 4 * root**2, rel=1e-6)


SMALL = 1e-5  # tip deflection over length: what is nonlinear is below 1e-9 of it


@pytest.mark.parametrize("axis", [1, 2])
def test_small_deflection_under_a_tip_force(axis):
    force = np.zeros(3)
    force[axis] = 3 * EI / LENGTH**2 * SMALL
    robot, arm = cantilever(ag.kirchhoff(2), intervals=20)
    robot.load(ag.TipWrench(arm, force=force))
    assert ag.statics(robot).position(arm.tip)[axis] == pytest.approx(SMALL * LENGTH, rel=1e-6)


def test_small_deflection_under_a_distributed_force_and_under_weight():
    density = 8 * EI / LENGTH**3 * SMALL
    robot, arm = cantilever(ag.planar(3), intervals=20)
    robot.load(ag.DistributedWrench(arm, force=(0, density, 0)))
    assert ag.statics(robot).position(arm.tip)[1] == pytest.approx(SMALL * LENGTH, rel=1e-6)
    robot, arm = cantilever(ag.planar(3), gravity=(0, -density / (DENSITY * AREA), 0), intervals=20)
    assert ag.statics(robot).position(arm.tip)[1] == pytest.approx(-SMALL * LENGTH, rel=1e-6)


def test_small_deflection_of_timoshenkos_beam():
    length = 6 * RADIUS
    section = ag.GeneralSection(AREA, SECOND, SECOND, 2 * SECOND, shear_y=0.9, shear_z=0.8)
    for axis, factor in ((1, 0.9), (2, 0.8)):
        force = np.zeros(3)
        force[axis] = 3 * EI / length**2 * SMALL
        robot, arm = cantilever(ag.reissner(3), section=section, intervals=20, length=length)
        robot.load(ag.TipWrench(arm, force=force))
        exact = force[axis] * (length**3 / (3 * EI) + length / (factor * G * AREA))
        assert ag.statics(robot).position(arm.tip)[axis] == pytest.approx(exact, rel=1e-6)

        robot, arm = cantilever(ag.reissner(3), section=section, intervals=20, length=length)
        robot.load(ag.DistributedWrench(arm, force=force))
        exact = force[axis] * (length**4 / (8 * EI) + length**2 / (2 * factor * G * AREA))
        assert ag.statics(robot).position(arm.tip)[axis] == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("section", [ag.Circle(0.01), ag.Rectangle(0.03, 0.01)], ids=["circle", "rectangle"])
def test_torsion_angle(section):
    angle = 2.5
    stiffness = G * section.at([0.0]).torsion[0]
    robot, arm = cantilever(ag.kirchhoff(2), section=section)
    robot.load(ag.TipWrench(arm, moment=(angle * stiffness / LENGTH, 0, 0)))
    rotation = ag.statics(robot).pose(arm.tip)[:3, :3]
    assert np.arctan2(rotation[2, 1], rotation[1, 1]) == pytest.approx(angle, rel=1e-9)
    np.testing.assert_allclose(rotation[0], [1, 0, 0], atol=1e-12)


def test_axial_stretch():
    robot, arm = cantilever(ag.reissner(1))
    robot.load(ag.TipWrench(arm, force=(0.2 * EA, 0, 0)))
    np.testing.assert_allclose(ag.statics(robot).position(arm.tip), [1.2 * LENGTH, 0, 0], atol=1e-10)


def test_hanging_along_gravity():
    robot, arm = cantilever(ag.reissner(2), gravity=(2000.0, 0, 0))
    eq = ag.statics(robot)
    X = np.array([0.0, 0.1, 0.5, LENGTH])
    weight = DENSITY * AREA * 2000.0
    np.testing.assert_allclose(eq.wrench(arm, X)[:, 3], weight * (LENGTH - X), rtol=1e-9, atol=1e-9)
    for x in X:
        exact = x + weight / EA * (LENGTH * x - x**2 / 2)
        np.testing.assert_allclose(eq.position(arm.section(float(x))), [exact, 0, 0], atol=1e-10)


def test_hanging_along_gravity_stays_straight_and_is_stiffened():
    robot, _ = cantilever(ag.planar(4), gravity=(9.81, 0, 0))
    eq = ag.statics(robot)
    np.testing.assert_allclose(eq.q, 0, atol=1e-12)
    loose = ag.Model(cantilever(ag.planar(4))[0]).tangent(eq.q)
    assert np.linalg.eigvalsh(eq.system.tangent(eq.q) - loose)[0] > 0


def test_conical_cantilever():
    tip = 0.4 * RADIUS
    section = ag.taper(ag.Circle(RADIUS), ag.Circle(tip), LENGTH)
    force = EI / LENGTH**2 * SMALL
    robot, arm = cantilever(ag.planar(12), section=section, intervals=60)
    robot.load(ag.TipWrench(arm, force=(0, force, 0)))
    exact = force * LENGTH**3 / (3 * EI) * RADIUS / tip
    second = lambda X: np.pi * (RADIUS + (tip - RADIUS) * X / LENGTH) ** 4 / 4
    by_quadrature = quad(lambda X: force * (LENGTH - X) ** 2 / (YOUNG * second(X)), 0, LENGTH, epsrel=1e-12)[0]
    assert exact == pytest.approx(by_quadrature, rel=1e-10)
    assert ag.statics(robot).position(arm.tip)[1] == pytest.approx(exact, rel=1e-6)


class Discontinuous(ag.Basis):
    """Linear on each side of x = 0.4, with a jump there."""

    size, degree, breakpoints = 4, 1, (0.4,)

    def __call__(self, x):
        x = np.atleast_1d(np.asarray(x, dtype=float))
        first = (x < 0.4)[:, None] * np.stack([1 + 0 * x, x], axis=1)
        second = (x >= 0.4)[:, None] * np.stack([1 + 0 * x, x], axis=1)
        return np.concatenate([first, second], axis=1)


def test_section_that_jumps():
    step, thin = 0.4 * LENGTH, 0.6 * RADIUS
    section = ag.Tapered(lambda X: ag.Circle(RADIUS if X < step else thin), breakpoints=(step,))
    second = lambda X: SECOND if X < step else np.pi * thin**4 / 4
    force = EI / LENGTH**2 * SMALL
    robot, arm = cantilever(ag.Strains(bend_z=Discontinuous()), section=section, intervals=20)
    robot.load(ag.TipWrench(arm, force=(0, force, 0)))
    rest = LENGTH - step
    exact = force / (3 * YOUNG) * ((LENGTH**3 - rest**3) / SECOND + rest**3 / (np.pi * thin**4 / 4))
    work = lambda X: force * (LENGTH - X) ** 2 / (YOUNG * second(X))
    assert exact == pytest.approx(quad(work, 0, LENGTH, points=[step], epsrel=1e-12)[0], rel=1e-10)
    eq = ag.statics(robot)
    assert eq.position(arm.tip)[1] == pytest.approx(exact, rel=1e-6)
    X = np.array([0.2, 0.6]) * LENGTH
    curvature = force * (LENGTH - X) / (YOUNG * np.array([second(x) for x in X]))
    np.testing.assert_allclose(eq.strain(arm, X)[:, 2], curvature, rtol=1e-6)


def test_weight_of_a_section_that_jumps():
    """Own weight: each side of the jump with its own mass, and the moment at the root."""
    step, thin = 0.4 * LENGTH, 0.6 * RADIUS
    section = ag.Tapered(lambda X: ag.Circle(RADIUS if X < step else thin), breakpoints=(step,))
    robot, arm = cantilever(ag.Strains(bend_z=Discontinuous()), section=section, gravity=(0, -1e-3, 0), intervals=20)
    eq = ag.statics(robot)
    heavy, light = DENSITY * np.pi * RADIUS**2 * 1e-3, DENSITY * np.pi * thin**2 * 1e-3
    rest = LENGTH - step
    wrench = eq.wrench(arm, [0.0, step])
    assert wrench[0, 4] == pytest.approx(-(heavy * step + light * rest), rel=1e-6)
    assert wrench[0, 2] == pytest.approx(-(heavy * step**2 / 2 + light * rest * (step + rest / 2)), rel=1e-6)
    assert wrench[1, 2] == pytest.approx(-light * rest**2 / 2, rel=1e-6)


def test_internal_wrench_jumps_at_a_point_load():
    middle, force = 0.5 * LENGTH, EI / LENGTH**2 * SMALL
    robot, arm = cantilever(ag.planar(6), intervals=20)
    robot.load(ag.Wrench(arm.section(middle), force=(0, force, 0)))
    X = np.array([0.0, 0.25, 0.5, 0.75]) * LENGTH
    wrench = ag.statics(robot).wrench(arm, X)
    np.testing.assert_allclose(wrench[:, 2], [force * middle, force * middle / 2, 0, 0], atol=1e-8 * force * LENGTH)
    np.testing.assert_allclose(wrench[:, 4], [force, force, force, 0], atol=1e-8 * force)


@pytest.mark.parametrize("basis", [ag.Legendre, ag.Chebyshev, ag.Monomial])
@pytest.mark.parametrize("modes", [1, 4, 5, 6, 7, 8])
def test_pure_bending_is_exact_with_any_number_of_modes(modes, basis):
    """Patch test: a moment at the tip bends a rod to two turns of a circle, whatever the default intervals."""
    robot, arm = cantilever(ag.Strains(bend_z=basis(modes), stretch=basis(modes)))
    robot.load(ag.TipWrench(arm, force=(0, 0, 0), moment=(0, 0, 4 * np.pi * EI / LENGTH)))
    radius = LENGTH / (4 * np.pi)
    s = np.linspace(0.0, LENGTH, 25)
    circle = radius * np.stack([np.sin(s / radius), 1.0 - np.cos(s / radius), 0.0 * s], axis=1)
    error = np.abs(ag.statics(robot).centerline(arm, 25) - circle).max() / LENGTH
    assert error < (1e-10 if basis is ag.Monomial else 1e-12)


def test_stiffness_stays_positive_with_few_intervals():
    for modes in (5, 8, 12):
        for intervals in (1, 2, 3, 4, 6):
            system = ag.Model(cantilever(ag.planar(modes), intervals=intervals)[0])
            assert np.linalg.eigvalsh(system.elastic_stiffness())[0] > 0.0


def test_the_stiffness_of_a_tapered_rod_is_integrated_exactly():
    section = ag.taper(ag.Circle(2 * RADIUS), ag.Circle(RADIUS), LENGTH)
    few, many = (
        ag.Model(cantilever(ag.planar(6), section=section, intervals=n)[0]).elastic_stiffness() for n in (6, 40)
    )
    assert few == pytest.approx(many, rel=1e-12, abs=1e-14 * np.max(many))
