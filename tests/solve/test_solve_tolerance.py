"""Newton's tolerance: what it leaves in each step of a motion adds up, and is kept small."""

import numpy as np
import pytest

import anguilla as ag


def released(dt: float, tolerance: float | None) -> ag.Trajectory:
    """A stiff rod swings for 0.2 s from a bent shape."""
    steel = ag.Material(young=2e9, poisson=0.5, density=1000)
    strains = ag.Strains(bend_z=ag.FreeTip(12), stretch=ag.Legendre(6), shear_y=ag.Legendre(6))
    robot = ag.Robot("stiff", gravity=(9.81, 0, 0))
    robot.add(ag.Rod(1.0, ag.Circle(0.01), steel, strains, intervals=18), at=robot.ground)
    start = np.zeros(robot.size)
    start[:2] = 2.0, -0.7  # [1/m]
    steps = round(0.2 / dt)
    return ag.simulate(robot, duration=0.2, dt=dt, start=start, tolerance=tolerance, every=steps // 100, progress=False)


def apart(a: ag.Trajectory, b: ag.Trajectory) -> float:
    """Largest distance of two tips, over the length of 1 m."""
    return float(np.max(np.linalg.norm(a.position(a.robot.parts[0].tip) - b.position(b.robot.parts[0].tip), axis=1)))


@pytest.mark.parametrize("dt", [2e-4, 2e-5])
def test_what_a_loose_tolerance_leaves_does_not_add_up(dt: float) -> None:
    assert apart(released(dt, 1e-3), released(dt, None)) < 0.005
