"""The observer: its step against the simulation, its derivatives, its honesty over many runs, forces from shapes."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.stats import chi2

import anguilla as ag


def arm(modes: int = 2) -> ag.Robot:
    robot = ag.Robot("arm")
    material = ag.Material(1e6, 1100.0, poisson=0.5, damping=0.02)
    part = robot.add(ag.Rod(0.3, ag.Circle(0.01), material, ag.kirchhoff(modes)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(part, ag.parallel(y=0.008)))
    return robot


def watched(robot: ag.Robot, dt: float, **options) -> ag.Observer:
    return ag.Observer(robot, dt=dt, markers={"tip": "arm.tip", "mid": "arm[0.15]"}, **options)


def test_steps_follow_the_simulation_at_second_order():
    robot = arm()
    truth = ag.simulate(robot, duration=0.2, dt=1e-4, inputs={"pull": 1.0}, every=2000).q[-1]
    errors = []
    for dt in (4e-3, 2e-3):
        seen = watched(robot, dt)
        for _ in range(round(0.2 / dt)):
            seen.predict({"pull": 1.0})
        errors.append(np.max(np.abs(seen.q - truth)) / np.max(np.abs(truth)))
    assert errors[1] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.35)


def test_derivatives_of_a_step_and_of_measurements():
    robot, rng = arm(1), np.random.default_rng(0)
    seen = ag.Observer(
        robot, dt=1e-6, markers={"tip": ag.Marker("arm.tip", (0.0, 0.01, 0.02))}, gyros={"imu": "arm.tip"}, lengths=["pull"],
        forces={"hand": "arm.tip"}, start=(rng.normal(0, 1, 3), rng.normal(0, 5, 3)),
    )  # fmt: skip
    seen.x[6:] = rng.normal(0.0, 0.1, 3)
    x = seen.x.copy()

    def after(state):
        seen.x = state.copy()
        return state + seen._flow({"pull": 0.5})[1]

    def shown(state, name):
        seen.x = state.copy()
        return seen._predicted(name)[0]

    h = 1e-5
    flow = seen._flow({"pull": 0.5})[0]
    for k in range(9):
        e = h * np.eye(9)[k]
        seen.x = x.copy()
        truth = (after(x + e) - after(x - e)) / (2 * h)
        rate, slope = (truth - np.eye(9)[k]) / 1e-6, (flow[:, k] - np.eye(9)[k]) / 1e-6
        assert np.allclose(slope, rate, atol=1e-4 * np.max(np.abs(rate)))
        for name in ("tip", "imu", "pull"):
            seen.x = x.copy()
            by = seen._predicted(name)[1]
            assert np.allclose(by[:, k], (shown(x + e, name) - shown(x - e, name)) / (2 * h), atol=1e-6)


def consistency(runs: int, steps: int) -> tuple[float, float, int]:
    """Mean normalised square of the errors of states, and of what measurements missed, over many runs."""
    robot, rng, total, surprise, count = arm(1), np.random.default_rng(4), 0.0, 0.0, 0
    for _ in range(runs):
        truth, seen = watched(robot, 5e-3), watched(robot, 5e-3)
        truth.x = rng.multivariate_normal(truth.x, truth.P)
        for k in range(steps):
            pull = {"pull": 1.0 + np.sin(0.1 * k)}
            truth.predict(pull)
            truth.x = truth.x + rng.multivariate_normal(np.zeros(6), truth.Q)
            shown = {name: truth._predicted(name)[0] + rng.normal(0.0, 1e-3, 3) for name in ("tip", "mid")}
            seen.step(shown, pull)
            surprise, count = surprise + seen.surprise[0], count + seen.surprise[1]
        miss = seen.x - truth.x
        total += miss @ np.linalg.solve(seen.P, miss)
    return total, surprise, count


@pytest.mark.slow
def test_errors_are_as_large_as_it_says_over_100_runs():
    total, surprise, count = consistency(100, 20)
    assert chi2.ppf(0.025, 600) < total < chi2.ppf(0.975, 600)
    assert chi2.ppf(0.025, count) < surprise < chi2.ppf(0.975, count)


def test_errors_are_as_large_as_it_says():
    total, _, _ = consistency(8, 10)
    assert chi2.ppf(0.001, 48) < total < chi2.ppf(0.999, 48)


def test_a_force_on_the_tip_from_shape_alone():
    robot, rng = arm(2), np.random.default_rng(2)
    loaded = arm(2)
    loaded.load(ag.TipWrench(loaded.part("arm"), force=(0.0, 0.3, 0.4), name="hand"))
    eq = ag.statics(loaded)
    tip, mid = eq.position(loaded.part("arm").tip), eq.position(loaded.part("arm").section(0.15))
    seen = watched(
        robot, 5e-3, forces={"hand": "arm.tip"}, noise={"markers": 5e-4}, start=eq.q, force_rate=0.2, process=0.3
    )
    for _ in range(200):
        seen.step({"tip": tip + rng.normal(0, 5e-4, 3), "mid": mid + rng.normal(0, 5e-4, 3)})
    assert np.linalg.norm(seen.forces["hand"] - (0.0, 0.3, 0.4)) < 0.05 * 0.5
    data = ag.Measurements(positions={"arm.tip": tip[None], "arm[0.15]": mid[None]})
    start = arm(2)
    start.load(ag.TipWrench(start.part("arm"), force=(0.0, 0.0, 0.0), name="hand"))
    free = [ag.Unknown(f"hand.force[{k}]", prior=(0.0, 2.0)) for k in range(3)]
    at_rest = ag.identify(start, data, free)  # the same at rest, with a prior
    assert np.linalg.norm(at_rest.found - (0.0, 0.3, 0.4)) < 0.05 * 0.5


def test_lost_markers_and_doors():
    seen = watched(arm(1), 5e-3)
    before = seen.P.copy()
    seen.update({"tip": [np.nan] * 3})
    assert np.array_equal(seen.P, before)
    assert seen.surprise == (0.0, 0)
    with pytest.raises(ag.DescriptionError, match="some of tip, mid"):
        seen.update({"top": np.zeros(3)})
    with pytest.raises(ag.DescriptionError, match="3 numbers"):
        seen.update({"tip": np.zeros(2)})
    with pytest.raises(ag.DescriptionError, match="something that is measured"):
        ag.Observer(arm(1), dt=1e-3)
    robot = arm(1)
    robot.close(robot.part("arm").tip, robot.ground, joint=ag.Spherical(), pose=None)
    with pytest.raises(ag.DescriptionError, match="open robots"):
        watched(robot, 1e-3)


@pytest.mark.slow
def test_200_steps_a_second_with_12_coordinates():
    seen = watched(arm(4), 5e-3)
    shown = {"tip": np.array([0.3, 0.0, 0.0]), "mid": np.array([0.15, 0.0, 0.0])}
    seen.step(shown)
    times = []
    for _ in range(100):
        began = time.perf_counter()
        seen.step(shown, {"pull": 0.1})
        times.append(time.perf_counter() - began)
    assert np.median(times) < 5e-3


def test_sensors_of_the_robot_are_measured_as_markers_and_gyros_are():
    robot, rng = arm(2), np.random.default_rng(1)
    rod = robot.part("arm")
    robot.sense("place", ag.sensors.Position(rod.tip, noise=1e-3))
    robot.sense("turn", ag.sensors.Gyro(rod.tip, noise=1e-2))
    robot.sense("line", ag.sensors.LineLength("pull", noise=1e-3))
    robot.sense("bent", ag.sensors.StrainGauge(rod, (0.05, 0.2), noise=0.02))
    robot.sense("shaken", ag.sensors.Accelerometer(rod.tip))
    seen = ag.Observer(
        robot, dt=1e-3, markers={"tip": "arm.tip"}, gyros={"imu": "arm.tip"}, lengths=["pull"],
        sensors=["place", "turn", "line", "bent"], forces={"hand": "arm.tip"},
        start=(rng.normal(0, 2, 6), rng.normal(0, 5, 6)),
    )  # fmt: skip
    for exact, sensor in (("tip", "place"), ("imu", "turn"), ("pull", "line")):
        (there, by), (shown, slope) = seen._predicted(exact), seen._predicted(sensor)
        assert np.allclose(shown, there, atol=1e-12)
        assert np.allclose(slope, by, atol=1e-6 * np.max(np.abs(by)))
    shown, slope = seen._predicted("bent")
    assert np.allclose(slope[:, :6] @ seen.q, shown, atol=1e-8) and not slope[:, 6:].any()  # strains are linear
    with pytest.raises(ag.DescriptionError, match="'shaken' depends on accelerations"):
        ag.Observer(robot, dt=1e-3, sensors=["shaken"])
    with pytest.raises(ag.DescriptionError, match="no sensor 'top'; it has: place"):
        ag.Observer(robot, dt=1e-3, sensors=["top"])


def test_what_came_later_makes_earlier_estimates_better_and_they_know_how_much():
    """Smoothed errors over some runs: smaller than those of the filter, and as large as they say."""
    robot, rng, squares, filtered, smooth = arm(1), np.random.default_rng(6), 0.0, 0.0, 0.0
    for _ in range(8):
        truth, seen = watched(robot, 5e-3), watched(robot, 5e-3, lag=10)
        truth.x = rng.multivariate_normal(truth.x, truth.P)
        states, estimates = [], []
        for k in range(16):
            pull = {"pull": 1.0 + np.sin(0.1 * k)}
            truth.predict(pull)
            truth.x = truth.x + rng.multivariate_normal(np.zeros(6), truth.Q)
            states.append(truth.x)
            shown = {name: truth._predicted(name)[0] + rng.normal(0.0, 1e-3, 3) for name in ("tip", "mid")}
            estimates.append(seen.step(shown, pull))
        t, x, deviations = seen.smoothed()
        assert t.shape == (11,) and t[-1] == pytest.approx(seen.t) and t[0] == pytest.approx(6 * 5e-3)
        assert np.array_equal(x[-1], seen.x) and np.allclose(deviations[-1], seen.deviations)
        squares += np.sum(((x[0] - states[5]) / deviations[0]) ** 2)
        filtered += np.sum((estimates[5] - states[5])[4:] ** 2)  # rates of bending; markers hardly see the twist
        smooth += np.sum((x[0] - states[5])[4:] ** 2)
    assert smooth < 0.6 * filtered
    assert chi2.ppf(0.001, 48) / 2 < squares < 2 * chi2.ppf(0.999, 48)  # single numbers, which are correlated
