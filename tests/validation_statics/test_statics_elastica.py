"""Euler's elastica under a dead tip force, and pure bending: closed forms, and the orders of convergence."""

import numpy as np
import pytest
from statics_oracles import elastica_tip, elastica_tip_by_shooting

import anguilla as ag

LENGTH, RADIUS, YOUNG = 0.7, 0.004, 3e6
EI = YOUNG * np.pi * RADIUS**4 / 4
LOADS = [0.5, 1.0, 2.0, 5.0, 10.0]


def cantilever(strains, intervals=None):
    """A straight rod along x, without gravity."""
    robot = ag.Robot(gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, density=1000, poisson=0.3)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), material, strains, intervals=intervals)
    return robot, robot.add(rod, at=robot.ground)


def elastica_error(alpha, strains, intervals):
    """Distance of the tip from Euler's, over the length."""
    robot, arm = cantilever(strains, intervals)
    robot.load(ag.TipWrench(arm, force=(0, alpha * EI / LENGTH**2, 0)))
    tip = ag.statics(robot, tolerance=1e-13).position(arm.tip)
    return float(np.linalg.norm(tip / LENGTH - [*elastica_tip(alpha)[:2], 0.0]))


@pytest.mark.parametrize("alpha", LOADS)
def test_the_closed_form_solves_the_differential_equation(alpha):
    np.testing.assert_allclose(elastica_tip(alpha), elastica_tip_by_shooting(alpha), rtol=0, atol=2e-13)


@pytest.mark.parametrize("alpha", LOADS)
def test_tip_of_the_elastica(alpha):
    assert elastica_error(alpha, ag.planar(10), 160) < 1e-8


def test_tip_slope_and_root_moment_of_the_elastica():
    alpha = 5.0
    x, _, slope = elastica_tip(alpha)
    robot, arm = cantilever(ag.planar(12), 160)
    robot.load(ag.TipWrench(arm, force=(0, alpha * EI / LENGTH**2, 0)))
    eq = ag.statics(robot)
    pose = eq.pose(arm.tip)
    assert np.arctan2(pose[1, 0], pose[0, 0]) == pytest.approx(slope, abs=1e-8)
    assert eq.wrench(arm, [0.0])[0, 2] == pytest.approx(alpha * x * EI / LENGTH, rel=1e-8)
    # the stress of the strain field is that moment as well: the modes satisfy the balance they were not asked to
    assert EI * eq.strain(arm, [0.0])[0, 2] == pytest.approx(alpha * x * EI / LENGTH, rel=1e-6)


def test_elastica_in_space_lies_in_the_plane_of_its_load():
    alpha = 2.0
    direction = np.array([0.0, 0.6, -0.8])
    robot, arm = cantilever(ag.kirchhoff(9), 120)
    robot.load(ag.TipWrench(arm, force=alpha * EI / LENGTH**2 * direction))
    x, y, _ = elastica_tip(alpha)
    tip = ag.statics(robot).position(arm.tip)
    np.testing.assert_allclose(tip / LENGTH, np.array([x, 0, 0]) + y * direction, rtol=0, atol=1e-8)


@pytest.mark.filterwarnings("ignore:.*too few modes")
@pytest.mark.parametrize("alpha", [1.0, 10.0])
@pytest.mark.parametrize("basis", ["legendre", "chebyshev", "free_tip"])
def test_error_falls_spectrally_with_the_modes(alpha, basis):
    modes = np.arange(1, 12)
    errors = np.array([elastica_error(alpha, ag.planar(int(k), basis=basis), 200) for k in modes])
    first = int(np.argmax(errors < 1e-9))
    assert first > 0 and np.all(errors[first:] < 1e-9)
    k, e = modes[: first + 1], errors[: first + 1]
    # a straight line in log10(error) against modes; the tip error changes sign, which makes it wander about the line
    slope, intercept = np.polyfit(k, np.log10(e), 1)
    assert slope < -0.9
    assert np.max(np.abs(np.log10(e) - slope * k - intercept)) < 1.0
    assert np.all(e[1:] < e[:-1]) and np.all(e[2:] < e[:-2] / 5)


@pytest.mark.parametrize("alpha", [1.0, 10.0])
def test_error_falls_with_the_fourth_power_of_the_intervals(alpha):
    intervals = np.array([24, 32, 44, 60, 80, 112])
    errors = [elastica_error(alpha, ag.planar(12), int(n)) for n in intervals]
    slope, _ = np.polyfit(np.log(intervals), np.log(errors), 1)
    assert slope == pytest.approx(-4.0, abs=0.3)


def test_piecewise_constant_strain_converges_with_the_square_of_its_pieces():
    pieces = np.array([4, 8, 16, 32])
    errors = [elastica_error(5.0, ag.planar(int(k), basis="piecewise_constant"), 4 * int(k)) for k in pieces]
    slope, _ = np.polyfit(np.log(pieces), np.log(errors), 1)
    assert slope == pytest.approx(-2.0, abs=0.15)


@pytest.mark.parametrize("turns", [0.25, 1.0, 2.0])
@pytest.mark.parametrize("follower", [False, True])
def test_pure_bending_with_one_mode(turns, follower):
    angle = 2 * np.pi * turns
    robot, arm = cantilever(ag.planar(1), 8)
    robot.load(ag.TipWrench(arm, moment=(0, 0, angle * EI / LENGTH), follower=follower))
    eq = ag.statics(robot)
    places = np.array([0.3, 0.77, 1.0])
    for x in places:
        circle = np.array([np.sin(angle * x), 1 - np.cos(angle * x), 0.0]) / angle
        np.testing.assert_allclose(eq.position(arm.section(x * LENGTH)) / LENGTH, circle, rtol=0, atol=1e-9)
    assert eq.energy["elastic"] == pytest.approx(EI * angle**2 / (2 * LENGTH), rel=1e-10)


def test_pure_bending_out_of_plane_with_a_follower_moment():
    angle = 3 * np.pi
    robot, arm = cantilever(ag.kirchhoff(1), 8)
    robot.load(ag.TipWrench(arm, moment=(0, angle * EI / LENGTH, 0), follower=True))
    eq = ag.statics(robot)
    circle = np.array([np.sin(angle), 0.0, -(1 - np.cos(angle))]) / angle
    np.testing.assert_allclose(eq.position(arm.tip) / LENGTH, circle, rtol=0, atol=1e-9)
