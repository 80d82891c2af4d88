"""Gradients of closed robots of any size: without gravity a robot s times as large moves alike, s times slower."""

import numpy as np
import pytest

import anguilla as ag


def bow(p=(1.0,), size=1.0):
    plastic = ag.Material(1e9 * p[0], 1000, poisson=0.3)
    robot = ag.Robot("bow", gravity=(0, 0, 0))
    rod = ag.Rod(0.3 * size, ag.Circle(0.006 * size), plastic, ag.extensible_kirchhoff(2), intervals=6)
    part = robot.add(rod, at=robot.ground, name="rod")
    robot.close(robot.ground, part.tip, joint=ag.Spherical(), pose=np.array([0.27, 0.05, 0.02]) * size)
    return robot, part


@pytest.fixture(scope="module")
def held():
    """Coordinates of the bow in balance, and its slowest period [s]."""
    robot, _ = bow()
    found = ag.statics(robot)
    return found.q, 1.0 / ag.modes(robot, found, count=1).frequencies[0]


def begin(held, size):
    """A start out of balance and a push along its bend; strains other than stretch go with 1 / size, time with size."""
    q, period = held
    unit = np.array(["stretch" in name for name in bow()[0].coordinates()])
    return 0.7 * q * np.where(unit, 1.0, 1.0 / size), 0.02 * q * np.where(unit, 1.0, 1.0 / size) / (period * size)


def run(held, size, v=1.0, p=(1.0,), pushed=True):
    robot, part = bow(p, size)
    q, push = begin(held, size)
    dt = held[1] * size / 200
    motion = ag.simulate(
        robot, duration=20 * dt, dt=dt, start=(q, v * push * pushed), smooth_start=False, tolerance=1e-12
    )
    return motion, ag.Reach(part.section(0.15 * size), (0.1 * size, 0.1 * size, 0.0), weight="last")


def slopes(held, size, pushed=True):
    """Gradients along the push and by the modulus, for a robot of unit size (the cost goes with its square)."""
    found = ag.gradient(*run(held, size, pushed=pushed), design=(lambda p: bow(p, size)[0], [1.0]))
    return np.array([found.v @ begin(held, size)[1], found.design[0]]) / size**2


@pytest.mark.filterwarnings("ignore:The rates with which:anguilla.AnguillaWarning")  # they are projected: on purpose
@pytest.mark.parametrize("pushed", [True, False], ids=["pushed", "at rest"])
def test_gradients_of_closed_robots_from_a_millimetre_to_a_hundred_metres(held, pushed):
    value = lambda pair: pair[1](pair[0])
    h = 1e-3
    by_p = (value(run(held, 1.0, p=(1 + h,), pushed=pushed)) - value(run(held, 1.0, p=(1 - h,), pushed=pushed))) / (
        2 * h
    )
    exact = slopes(held, 1.0, pushed)
    assert exact[1] == pytest.approx(by_p, rel=1e-4)
    if pushed:
        by_v = (value(run(held, 1.0, v=1 + h)) - value(run(held, 1.0, v=1 - h))) / (2 * h)
        assert exact[0] == pytest.approx(by_v, rel=1e-4)
    for size in (1e-3, 1e-2, 0.1, 10.0, 1e2):
        np.testing.assert_allclose(slopes(held, size, pushed), exact, rtol=1e-5)
