"""Prescribed poses that were measured: noisy, and straight between samples, so that their rates jump."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import anguilla as ag
from anguilla.solve.steps.kinks import kinked

TIMES = np.arange(0.0, 0.7, 0.02)


def held(damping=0.01, noise=1e-3, spline=False):
    """A rod whose tip follows samples."""
    rng = np.random.default_rng(0)
    path = np.stack([0.25 + 0.02 * np.sin(3 * TIMES), 0.08 * np.sin(5 * TIMES), 0.05 * np.cos(4 * TIMES)], axis=1)
    path += noise * rng.standard_normal(path.shape)
    smooth = CubicSpline(TIMES, path)

    def pose(t):
        out = np.eye(4)
        out[:3, 3] = smooth(t) if spline else [np.interp(t, TIMES, path[:, k]) for k in range(3)]
        return out

    robot = ag.Robot("held")
    material = ag.Material(5e6, 1000, poisson=0.45, damping=damping)
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.006), material, ag.kirchhoff(3)), at=robot.ground, name="rod")
    robot.close(robot.ground, rod.tip, pose=pose, name="hand")
    return robot


def test_kinks_are_told_where_the_scheme_does_not_forget_them():
    """With the default scheme reactions are off by far more than their size; the two remedies that are named serve."""
    with pytest.warns(
        ag.AnguillaWarning, match=r"What hand of 'held' should follow has kinks.*GeneralisedAlpha\(0\.5\)"
    ):
        ringing = ag.simulate(held(), duration=0.6, dt=2e-3)
    with pytest.warns(ag.AnguillaWarning, match="make an error of about 2 %"):  # as runs with shorter steps confirm
        calm = ag.simulate(held(), duration=0.6, dt=2e-3, method=ag.GeneralisedAlpha(0.5))
    smooth = ag.simulate(held(noise=0.0, spline=True), duration=0.6, dt=2e-3)
    sizes = [np.abs(run.multipliers[20:]).max() for run in (ringing, calm, smooth)]
    assert sizes[0] > 5.0 * sizes[1] and sizes[1] > sizes[2]


def test_a_motion_that_fails_of_kinks_says_so():
    with pytest.raises(ag.SolverError, match=r"has kinks, from t = 0\.02 s on.*GeneralisedAlpha\(0\.5\)"):
        ag.simulate(held(damping=0.0), duration=0.6, dt=5e-3)


def test_a_ramp_that_stops_is_not_told():
    robot = ag.Robot("ramp")
    material = ag.Material(5e6, 1000, poisson=0.45, damping=0.01)
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.006), material, ag.extensible_kirchhoff(3)), at=robot.ground)
    robot.close(robot.ground, rod.tip, joint=ag.Spherical(), pose=lambda t: (0.3, 0.1 * min(t, 0.05), 0.0))
    assert ag.simulate(robot, duration=0.1, dt=1e-3).status.success


def test_a_smooth_turn_by_a_radian_a_step_is_no_kink_and_a_jerky_one_is():
    """Entries of its matrices jump as those of a kinked motion do; its angle per step does not."""
    t = np.linspace(0.0, 1.02, 52)

    def told(angle):
        robot = ag.Robot("turned", gravity=(0, 0, 0))
        rod = robot.add(ag.Rod(1.0, ag.Circle(0.01), ag.Material(2.5e6, 1000), ag.kirchhoff(3)), at=robot.ground)
        turn = lambda s: ag.lie.pose(ag.lie.rotation((1, 0, 0), float(angle(s))), (0.97, 0, 0))
        robot.close(robot.ground, rod.tip, pose=turn, name="hand")
        model = ag.Model(robot)
        return kinked(model, model.loads(t), ag.Newmark().coefficients, 0.02)

    assert told(lambda s: 50.0 * min(s, 1.0) ** 3 * (10.0 - 15.0 * min(s, 1.0) + 6.0 * min(s, 1.0) ** 2)) == ""
    corners = np.interp(t, t[::3], 50.0 * t[::3] ** 2)
    assert "What hand of 'turned' should follow has kinks" in told(lambda s: np.interp(s, t, corners))
