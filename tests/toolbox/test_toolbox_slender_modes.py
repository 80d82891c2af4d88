"""Slow modes of slender rods beside very fast ones: shear of a rod a thousand times as long as wide is 1e6 times stiffer."""

import numpy as np
import pytest
from scipy.optimize import brentq

import anguilla as ag

YOUNG, DENSITY, POISSON = 1e9, 1000.0, 0.3
SLENDER = [10.0, 1e2, 1e3, 1e4]  # length over diameter


def clamped_free(radius, sheared):
    """First pulsation [rad/s] of a Timoshenko (or Rayleigh) cantilever of unit length, from its characteristic equation."""
    second, area = np.pi * radius**4 / 4, np.pi * radius**2
    shear = YOUNG / (2 * (1 + POISSON)) if sheared else np.inf
    r2, s2 = second / area, YOUNG * second / (shear * area)

    def equation(b):  # b^2 = pulsation^2 mass / EI
        root = np.sqrt((r2 - s2) ** 2 + 4.0 / b**2)
        al, be = np.sqrt((-(r2 + s2) + root) / 2.0), np.sqrt((r2 + s2 + root) / 2.0)
        x, y = b * al, b * be
        last = b * (r2 + s2) / np.sqrt(1.0 - b**2 * r2 * s2)
        return 2.0 + (2.0 + b**2 * (r2 - s2) ** 2) * np.cosh(x) * np.cos(y) - last * np.sinh(x) * np.sin(y)

    return brentq(equation, 3.0, 3.7, xtol=1e-14) * np.sqrt(YOUNG * second / (DENSITY * area))


def rod(slender, strains):
    material = ag.Material(YOUNG, DENSITY, poisson=POISSON)
    return ag.Rod(1.0, ag.Circle(0.5 / slender), material, strains, intervals=24)


@pytest.mark.parametrize("slender", SLENDER)
@pytest.mark.parametrize("sheared", [True, False], ids=["shear", "no shear"])
def test_the_slowest_mode_of_a_clamped_rod(slender, sheared):
    robot = ag.Robot("rod", gravity=(0, 0, 0))
    robot.add(rod(slender, ag.reissner(5) if sheared else ag.kirchhoff(5)), at=robot.ground)
    exact = clamped_free(0.5 / slender, sheared) / (2.0 * np.pi)
    for at in (None, np.zeros(robot.size)):
        found = ag.modes(robot, at)
        np.testing.assert_allclose(found.frequencies[:2], exact, rtol=1e-5)
        assert np.all(found.frequencies > 0.0) and np.all(found.damping == 0.0)


def test_a_free_rod_keeps_its_six_zeros():
    for slender in SLENDER:
        robot = ag.Robot("rod", gravity=(0, 0, 0))
        robot.add(rod(slender, ag.reissner(6)), at=robot.ground, joint=ag.Free())
        found = ag.modes(robot, np.zeros(robot.size))
        assert np.sum(found.frequencies == 0.0) == 6
        if slender >= 100.0:
            plain = 4.730040745**2 * np.sqrt(YOUNG / DENSITY) * 0.25 / slender / (2.0 * np.pi)
            np.testing.assert_allclose(found.frequencies[6:8], plain, rtol=1e-5 + 20.0 / slender**2)


def test_a_rod_clamped_at_both_ends_by_a_closure():
    for slender in SLENDER[1:]:
        robot = ag.Robot("rod", gravity=(0, 0, 0))
        part = robot.add(rod(slender, ag.reissner(6)), at=robot.ground)
        robot.close(robot.ground, part.tip, pose=(1.0, 0, 0))
        found = ag.modes(robot, np.zeros(robot.size))
        plain = 4.730040745**2 * np.sqrt(YOUNG / DENSITY) * 0.25 / slender / (2.0 * np.pi)
        np.testing.assert_allclose(found.frequencies[:2], plain, rtol=1e-4 + 20.0 / slender**2)
