"""Motions of robots with soft volumes are judged: long steps are told, jumps of what acts are stepped onto, threads agree."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.errors import AnguillaWarning

SOFT = ag.Material(young=1e6, poisson=0.0, density=1000.0)


def arm(
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0), material: ag.Material = SOFT
) -> tuple[ag.Robot, ag.Frame]:
    """A soft bar of 0.1 m: half of it a rod, half of it a volume."""
    robot = ag.Robot("arm", gravity=gravity)
    rod = robot.add(
        ag.Rod(0.05, ag.Rectangle(0.01, 0.01), material, strains=ag.reissner(2)), at=robot.ground, name="rod"
    )
    pad = ag.Volume(fem.block((0.05, 0.01, 0.01), (2, 2, 2)), material, name="pad")
    pad.actuate("pull", fem.Tendon([(0.0, 0.004, 0.0), (0.025, 0.004, 0.0), (0.05, 0.004, 0.0)]))
    return robot, robot.add(pad, at=rod.tip, patch="base").frame("end", "tip")


def path(
    robot: ag.Robot, end: ag.Frame, dt: float, duration: float = 0.08, **given
) -> tuple[ag.Trajectory, np.ndarray]:
    run = ag.simulate(robot, duration=duration, dt=dt, **given)
    return run, run.position(end)


def test_the_error_of_the_steps_is_estimated_and_told():
    robot, end = arm((0.0, 0.0, -40.0))
    fine, expected = path(robot, end, 2e-3, 0.128, every=8)
    assert fine.quality.ok and fine.quality.time_error < 0.01 and fine.quality.energy_error < 0.01
    with pytest.warns(AnguillaWarning, match=r"The time steps of 'arm' make an error of about .* % of its length"):
        run, found = path(robot, end, 1.6e-2, 0.128)
    error = np.linalg.norm(found - expected, axis=1).max() / (0.05 + np.sqrt(0.0027))
    assert 0.5 * error < run.quality.time_error < 2.0 * error


def test_a_pendulum_with_long_steps_is_told_to_be_off():
    robot = ag.Robot("pendulum")
    stiff = ag.Material(young=2e8, poisson=0.0, density=1000.0, damping=1e-3)
    rod = ag.Rod(0.1, ag.Rectangle(0.01, 0.01), stiff, strains=ag.kirchhoff(1))
    first = robot.add(rod, at=robot.ground, joint=ag.Revolute(axis=(0, 1, 0)))
    pad = ag.Volume(fem.block((0.1, 0.01, 0.01), (3, 1, 1)), stiff)
    end = robot.add(pad, at=first.tip, patch="base").frame("end", "tip")
    with pytest.warns(AnguillaWarning, match="time steps of 'pendulum'"):
        coarse = ag.simulate(robot, duration=0.48, dt=0.04)
    fine = ag.simulate(robot, duration=0.48, dt=0.008, every=5)
    error = np.linalg.norm(coarse.position(end) - fine.position(end), axis=1).max() / 0.2
    assert error > 0.02
    assert 0.4 * error < coarse.quality.time_error < 2.5 * error


def test_a_jump_is_found_and_stepped_onto_at_second_order():
    at, paths = 0.0213, []
    robot, end = arm(material=ag.Material(young=1e6, poisson=0.0, density=1000.0, damping=2e-3))
    robot.load(ag.Wrench(end, force=lambda t: (0.0, 0.0, 0.0 if t < at else -0.02)))
    for dt in (2e-3, 1e-3, 2.5e-4):
        run, found = path(robot, end, dt, 0.04, every=round(2e-3 / dt))
        assert run.quality.events == pytest.approx((at,), abs=1e-6)
        paths.append(found)
    errors = [np.linalg.norm(each - paths[-1], axis=1).max() for each in paths[:2]]
    assert errors[0] > 3.2 * errors[1]
    assert errors[0] < 1e-5  # 5.6e-5 across the jump
    assert "jump once" in str(run.quality)


@pytest.mark.parametrize("what", ["pull", "force"])
def test_jumps_of_what_acts_on_volumes_are_found(what):
    robot, end = arm()
    step = lambda t: 0.0 if t < 0.0213 else 0.5
    if what == "pull":
        run, _ = path(robot, end, 2e-3, 0.03, inputs={"pad.pull": step})
    else:
        robot.volumes[0].volume.load(fem.PointForce((0.05, 0.0, 0.0), lambda t: (0.0, 0.0, -0.02 * step(t))))
        run, _ = path(robot, end, 2e-3, 0.03)
    assert run.quality.events == pytest.approx((0.0213,), abs=1e-6)
    assert run.status.counters["events"] == 1


def test_events_may_be_declared_and_blows_between_steps_are_told():
    robot, end = arm()
    robot.load(ag.Wrench(end, force=lambda t: (0.0, 0.0, 0.0 if t < 0.0213 else -0.02)))
    found = path(robot, end, 2e-3, 0.04)[1]
    assert np.allclose(path(robot, end, 2e-3, 0.04, events=[0.0213])[1], found, atol=1e-9)
    assert np.abs(path(robot, end, 2e-3, 0.04, events=[])[1] - found).max() > 1e-6
    with pytest.warns(AnguillaWarning, match="over between two steps"):
        robot, end = arm()
        path(robot, end, 2e-3, 0.02, inputs={"pad.pull": lambda t: 5.0 * max(0.0, 1.0 - abs(t - 0.0109) / 5e-4)})


def test_one_model_serves_two_threads():
    from anguilla.mixed import MixedModel

    robots = [arm((0.0, 0.0, g))[0] for g in (-9.81, -9.81)]
    model = MixedModel(robots[0])
    pulls = [0.1, 0.2, 0.3, 0.4]
    run = lambda pull: ag.simulate(model, duration=0.01, dt=1e-3, inputs={"pad.pull": pull}).volume("pad").x[-1]
    alone = [run(pull) for pull in pulls]
    rest = ag.statics(model).q
    with ThreadPoolExecutor(4) as pool:
        moving, still = [pool.submit(run, pull) for pull in pulls], [pool.submit(ag.statics, model) for _ in range(2)]
        for expected, found in zip(alone, moving, strict=True):
            assert np.array_equal(found.result(), expected)
        for found in still:
            assert np.allclose(found.result().q, rest, atol=1e-12)
