"""The showcase examples: their numbers against other equations."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from script_modules import load

ROOT = Path(__file__).parents[2]
NAMES = [
    "four_bar", "six_leg_robot", "three_section_arm", "gripper_on_arm", "antagonistic_pair", "rolling_wheel",
    "steered_needle", "magnetic_catheter",
]  # fmt: skip


@cache
def result(name):
    return load(name).main()


def test_four_bar():
    r, p = result("four_bar"), load("four_bar")
    assert r.gap < 1e-10
    assert "3 of 5 constraints are redundant" in r.warning
    # the second turn is the first again: the work of the crank is nothing
    period = round(1.0 / (r.run.t[1] - r.run.t[0]))
    np.testing.assert_allclose(r.effort[period:], r.effort[: period + 1], atol=1e-4 * np.abs(r.effort).max())
    assert abs(np.trapezoid(r.effort[: period + 1], r.run.t[: period + 1])) * p.SPEED < 1e-4
    # the curve of the coupler by two circles
    for k in (0, 100, 333):
        q = p.SPEED * r.run.t[k]
        a = p.CRANK * np.array([np.cos(q), np.sin(q)])
        way = np.array([p.GROUND, 0.0]) - a
        s = np.linalg.norm(way)
        angle = np.arctan2(way[1], way[0]) + np.arccos((p.COUPLER**2 + s**2 - p.ROCKER**2) / (2 * p.COUPLER * s))
        c, d = np.cos(angle), np.sin(angle)
        exact = a + p.COUPLER / 2 * np.array([c, d]) + 0.25 * np.array([-d, c])
        np.testing.assert_allclose(r.curve[k, [0, 2]], exact, atol=1e-8)


def test_six_leg_robot():
    r, p = result("six_leg_robot"), load("six_leg_robot")
    np.testing.assert_allclose(r.balance, 0.0, atol=1e-8)  # weight, load and six legs
    assert r.gap < 1e-10
    finer = p.main(modes=6, duration=0.01)
    assert np.abs(finer.place - r.place).max() < 5e-5
    # it is symmetric about the plane y = 0, and swings about the place without load with the damping of steel
    assert abs(r.place[1]) < 1e-9 and np.abs(r.run.position(r.platform)[:, 1]).max() < 1e-8
    energy = r.run.energy["total"]
    assert energy[-1] < energy[0]
    # the sliders carry what hangs on them
    robot = r.equilibrium.robot
    pushes = sum(r.equilibrium.effort(robot.part(f"leg_{k}"))[0] for k in range(1, 7))
    rods = 6 * 7800 * np.pi * 1e-6 * p.LENGTH
    assert pushes == pytest.approx((rods + 0.15) * 9.81 - p.LOAD[2], rel=1e-6)


def test_three_section_arm():
    r, p = result("three_section_arm"), load("three_section_arm")
    free, loaded = r.tips
    assert np.abs(free - r.wanted).max() < 2e-3  # arcs, up to the give of the tendons
    tight = p.build()[0]
    assert all(tendon.by == "length" for tendon in tight.actuators.values())
    for name, goal in p.lengths(p.GOALS).items():
        tension = r.free.tension(name)
        assert r.free.length(name) == pytest.approx(goal + p.GIVE * tension, abs=1e-7) or tension == 0.0
        assert tension >= 0.0 and r.run.tension(name).min() >= 0.0
    assert np.linalg.norm(r.run.position(r.rods[-1].tip)[-1] - loaded) < 0.02  # nearly settled
    # without give, the arcs exactly
    p.GIVE, before = 1e-8, p.GIVE
    try:
        robot, rods = p.build()
        eq = p.ag.statics(robot, inputs=p.lengths(p.GOALS))
        if all(eq.tension(name) > 0.0 for name in p.lengths(p.GOALS)):
            np.testing.assert_allclose(eq.position(rods[-1].tip), r.wanted, atol=1e-5)
    finally:
        p.GIVE = before


def test_gripper_on_arm():
    r = result("gripper_on_arm")
    energy = r.run.energy["total"]
    # the hinges lower the arm; the tendons put some work in, and the rubber turns some to heat
    tendons = -sum(np.trapezoid(r.run.tension(n)[1:], r.run.length(n)[1:]) for n in r.run.robot.actuators)
    heat = 0.02 * np.einsum("ti,ij,tj->t", r.run.v, r.run.system.elastic_stiffness(), r.run.v)
    lost = np.trapezoid(heat, r.run.t)
    assert energy[-1] - energy[0] == pytest.approx(r.work + tendons - lost, abs=2e-4)
    assert abs(r.work) > 1.0 and tendons > 1e-3
    assert r.opening[0] == pytest.approx(0.03, abs=1e-3) and r.opening[-1] < 0.01
    # at rest the shoulder carries the weight
    k, robot = -1, r.run.robot
    weight = sum(
        part.body.mass * 9.81 * r.run.position(part.at(part.body.com))[k, 0]
        for part in map(robot.part, ("upper", "fore", "palm"))
    )
    # (fingers: centre of mass of each, by its centre line)
    for finger in r.fingers:
        X = np.linspace(0, finger.length, 200)
        density = np.array([finger.rod.inertia([x])[0, 3] for x in X])
        weight += 9.81 * np.trapezoid(density * r.run.centerline(finger, 200)[k][:, 0], X)
    assert r.efforts[k, 0] == pytest.approx(-weight, abs=2e-3)


def test_antagonistic_pair():
    r = result("antagonistic_pair")
    for name in ("up", "down"):
        tension, gap = r.tension[name], r.gap[name]
        assert tension.min() >= 0.0 and gap.min() > -1e-8
        assert np.minimum(tension, gap).max() < 1e-8
        assert 0.2 < np.mean(tension == 0.0) < 0.9


def test_rolling_wheel():
    p = load("rolling_wheel")
    assert result("rolling_wheel").slip < 1e-7
    errors = []
    for dt in (0.02, 0.01):
        r = p.main(antenna=False, dt=dt)
        found = np.column_stack([r.run.position(r.cart.frame)[:, :2], r.run["cart.turn"]])
        errors.append(np.abs(found - r.exact).max())
    assert errors[1] < 3e-4 and 3.4 < errors[0] / errors[1] < 4.6
    fine = p.main(antenna=False, dt=2e-3)
    assert np.abs(fine.run.position(fine.cart.frame)[:, :2] - fine.exact[:, :2]).max() < 1e-5


def test_steered_needle():
    r, p = result("steered_needle"), load("steered_needle")
    assert r.sideways < 1e-9
    way = np.diff(r.path, axis=0)
    moving = np.linalg.norm(way, axis=1) > 1e-4  # at 2 cm/s, half the speed of the push
    heading = r.run.pose(r.needle.tip)[:, :3, 0]
    middle = 0.5 * (heading[1:] + heading[:-1])
    across = np.linalg.norm(np.cross(way[moving], middle[moving]), axis=1) / np.linalg.norm(way[moving], axis=1)
    assert moving.sum() > 300 and across.max() < 1e-4
    # the guide's work is stored in the needle, but for what its damping takes (no friction along the path)
    slide = np.gradient(np.array([p.slide(t) for t in r.run.t]), r.run.t)
    turn = np.gradient(np.array([p.turn(t) for t in r.run.t]), r.run.t)
    work = np.trapezoid(r.force * slide + r.torque * turn, r.run.t)
    stored = r.run.energy["total"][-1] - r.run.energy["total"][0]
    assert 0.9 < stored / work < 1.0


def test_magnetic_catheter(monkeypatch):
    r, p = result("magnetic_catheter"), load("magnetic_catheter")
    pull = p.MOMENT * p.FIELD * p.LENGTH / p.STIFFNESS
    exact = [brentq(lambda x, d=d: x - pull * np.sin(d - x), 0.0, d) for d in p.DIRECTIONS]
    np.testing.assert_allclose(r.angles, exact, atol=1e-8)
    for line, angle in zip(r.lines, exact, strict=True):
        arc = p.LENGTH / angle * np.array([np.sin(angle), 1 - np.cos(angle), 0.0])
        np.testing.assert_allclose(line[-1], arc, atol=1e-8)
    # in the turning field the tip draws a circle about the axis; its inertia widens it with the square of the speed
    angle = brentq(lambda x: x - pull * np.sin(p.CONE - x), 0.0, p.CONE)
    radii = []
    for turns in (0.5, 0.25):
        monkeypatch.setattr(p, "TURNS", turns)
        away = np.linalg.norm(p.main(duration=4.0).path[600:, 1:], axis=1)
        assert np.ptp(away) < 1e-5
        radii.append(away[-1])
    slow = radii[1] + (radii[1] - radii[0]) / 3.0
    assert slow == pytest.approx(p.LENGTH / angle * (1 - np.cos(angle)), rel=2e-4)


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_kept(name, tmp_path):
    load(name).figures(tmp_path, result(name))
    drawn = [file.name for file in tmp_path.iterdir()]
    assert drawn == [f"{name}.png"]
    assert (tmp_path / drawn[0]).stat().st_size < 150_000
    assert (ROOT / "docs" / "figures" / "multibody" / drawn[0]).exists()
