"""Sensitivities of equilibria: against equilibria of changed robots, closed forms, and each other."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe.paths import changed, number_at
from anguilla.model.model import Model

PATHS = ["arm.material.young", "arm.section.radius", "arm.length", "arm.material.density", "gravity[2]", "pull.offset"]


def tendon_arm(by: str = "tension") -> ag.Robot:
    robot = ag.Robot("arm")
    rod = ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1100.0, poisson=0.5), ag.extensible_kirchhoff(2))
    arm = robot.add(rod, at=robot.ground, name="arm")
    for name, angle in (("pull", 0.3), ("hold", 2.4)):
        place = ag.parallel(0.008 * np.cos(angle), 0.008 * np.sin(angle))
        robot.actuate(name, ag.Tendon(arm, place, by=by, compliance=1e-4 if by == "length" else 0.0))
    robot.load(ag.TipWrench(arm, force=(0.0, 0.02, -0.03), name="payload"))
    return robot


def by_differences(robot, path, inputs, of, h=1e-4):
    """Fourth-order differences of equilibria of changed robots."""
    value = number_at(robot, path)
    step = h * (abs(value) or 1.0)
    f = [
        of(ag.statics(changed(robot, {path: value + k * step}), inputs=inputs, tolerance=1e-12)) for k in (-2, -1, 1, 2)
    ]
    return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * step)


@pytest.mark.parametrize("path", [*PATHS, "arm.material.poisson", "payload.force[1]", "arm.pose[1][3]", "pull.angle"])
def test_tension_driven_arm_against_equilibria_of_changed_robots(path):
    robot, inputs = tendon_arm(), {"pull": 2.0, "hold": 0.5}
    eq = ag.statics(robot, inputs=inputs, tolerance=1e-12)
    found = ag.sensitivities(eq, design=[path])
    assert found.names == [path]
    if path == "arm.material.poisson":  # at its limit: differences to one side
        low = by_differences(changed(robot, {path: 0.4999}), path, inputs, lambda e: e.q)
        assert np.allclose(found.q[:, 0], low, rtol=2e-3, atol=1e-7)
        return
    tip = by_differences(robot, path, inputs, lambda e: e.position(e.robot.part("arm").tip))
    assert np.allclose(found.position(robot.part("arm").tip)[:, 0], tip, rtol=1e-6, atol=1e-7 * np.abs(tip).max())


def test_length_driven_arm_with_a_slack_tendon():
    robot = tendon_arm("length")
    inputs = {"pull": 0.28, "hold": 0.35}
    eq = ag.statics(robot, inputs=inputs, tolerance=1e-12)
    assert eq.tension("hold") == 0.0
    assert eq.tension("pull") > 0.1
    found = ag.sensitivities(eq, design=["arm.material.young", "pull.compliance"], inputs=["pull", "hold"])
    for k, path in enumerate(found.names[:2]):
        truth = by_differences(robot, path, inputs, lambda e: e.multipliers)
        assert np.allclose(found.multipliers[:, k], truth, rtol=1e-6, atol=1e-9 * np.abs(truth).max())
    h = 1e-6
    more, less = (ag.statics(robot, inputs={"pull": 0.28 + s, "hold": 0.35}, tolerance=1e-12).q for s in (h, -h))
    assert np.allclose(found.q[:, 2], (more - less) / (2 * h), rtol=1e-6, atol=1e-6)
    assert np.all(found.q[:, 3] == 0.0)


def one_sided(of, value, step):
    """Derivative of second order from values on one side."""
    f = [of(value + k * step) for k in range(3)]
    return (-1.5 * f[0] + 2.0 * f[1] - 0.5 * f[2]) / step


@pytest.mark.parametrize("path", ["arm.length", "pull.offset", "pull.compliance", "arm.material.young"])
@pytest.mark.parametrize("beyond", [-1e-9, 1e-9])
def test_a_tendon_that_is_about_to_become_slack_has_the_derivative_of_its_side(path, beyond):
    robot = tendon_arm("length")
    loose = ag.statics(robot, inputs={"pull": 0.35, "hold": 0.28}, tolerance=1e-13)
    edge = loose.length("pull")  # where it becomes taut
    inputs = {"pull": edge + beyond, "hold": 0.28}
    eq, tip = ag.statics(robot, inputs=inputs, tolerance=1e-13), robot.part("arm").tip
    assert (eq.tension("pull") > 0.0) == (beyond < 0.0)
    assert eq.tension("pull") < 1e-5
    cost = ag.Reach(tip, (0.1, 0.1, 0.1))
    found, slope = ag.sensitivities(eq, design=[path]), ag.gradient(eq, cost, design=[path]).design[0]

    def at(value):
        twin = changed(robot, {path: value})
        return ag.statics(twin, inputs=inputs, tolerance=1e-13)

    def place(eq):
        return eq.position(eq.robot.part("arm").tip)

    def missed(eq):
        return cost.on(eq.robot)(eq)

    value, truths = number_at(robot, path), []
    for step in (1e-4 * value, -1e-4 * value):  # on the side where it stays what it is
        ends = [at(value + k * step) for k in (1, 2)]
        if all((end.tension("pull") > 0.0) == (beyond < 0.0) for end in ends):
            truths.append([one_sided(lambda x, of=of: of(at(x)), value, step) for of in (place, missed)])
    assert truths
    for by_place, by_cost in truths:
        wide = 1e-4 * np.abs(by_place).max() + 1e-10 / value  # round-off of the differences
        np.testing.assert_allclose(found.position(tip)[:, 0], by_place, rtol=0.0, atol=wide)
        assert slope == pytest.approx(by_cost, rel=1e-4, abs=1e-11 / value)


def test_patched_and_compiled_twins_agree():
    robot = tendon_arm()
    robot._loads.clear()
    eq = ag.statics(robot, inputs={"pull": 1.0})
    paths = ["arm.material.young", "arm.section.radius", "arm.material.density"]

    def make(p):
        return changed(robot, dict(zip(paths, p, strict=True)))

    p = [number_at(robot, path) for path in paths]
    quick, whole = ag.sensitivities(eq, design=paths), ag.sensitivities(eq, design=(make, p))
    assert np.allclose(quick.q, whole.q, rtol=1e-7, atol=1e-8 * np.abs(whole.q).max(axis=0))


def test_gradient_and_sensitivities_agree_by_path():
    robot = tendon_arm()
    arm = robot.part("arm")
    eq = ag.statics(robot, inputs={"pull": 2.0, "hold": 0.5})
    cost = ag.Reach(arm.tip, (0.1, 0.05, 0.0)) + ag.Reach(arm.section(0.11), (0.1, 0.0, 0.0))
    back = ag.gradient(eq, cost, design=PATHS)
    forth = ag.sensitivities(eq, design=PATHS)
    assert np.allclose(back.design, forth.of(cost), rtol=1e-7)
    assert np.allclose([back.inputs["pull"][0]], ag.sensitivities(eq, inputs=["pull"]).of(cost), rtol=1e-9)


def test_twins_are_compiled_once_for_a_model_and_anew_for_another(monkeypatch):
    robot, design = tendon_arm(), ["arm.material.young", "arm.length"]

    def slopes(robot, pull):
        eq = ag.statics(robot, inputs={"pull": pull})
        return ag.gradient(eq, ag.Reach(robot.part("arm").tip, (0.1, 0.05, 0.0)), design=design).design

    slopes(robot, 2.0)
    found, made = _counted(monkeypatch, lambda: slopes(robot, 1.0))
    assert made == 0
    assert np.array_equal(found, slopes(changed(robot, {}), 1.0))
    robot.part("arm").rod.material.young = 2e6
    assert np.array_equal(slopes(robot, 1.0), slopes(changed(robot, {}), 1.0))


def _counted(monkeypatch, act):
    """What was done returns, and how many models were made on the way."""
    count, make = [0], Model.__init__

    def counting(self, *given, **named):
        count[0] += 1
        make(self, *given, **named)

    monkeypatch.setattr(Model, "__init__", counting)
    found = act()
    monkeypatch.setattr(Model, "__init__", make)
    return found, count[0]


class Stored(ag.Cost):
    """The elastic energy: it depends on the design in the same state."""

    def terms(self, result):
        q = result.stored.q
        force = q @ result.system.elastic_stiffness()
        return float(0.5 * np.sum(q * force)), force, np.zeros_like(q)


def test_a_cost_that_depends_on_forces():
    robot, cost = tendon_arm(), Stored()
    eq = ag.statics(robot, inputs={"pull": 2.0}, tolerance=1e-12)
    found = ag.gradient(eq, cost, design=["arm.material.young"]).design[0]
    truth = by_differences(robot, "arm.material.young", {"pull": 2.0}, cost)
    assert found == pytest.approx(truth, rel=1e-6)
    assert ag.sensitivities(eq, design=["arm.material.young"]).of(cost)[0] == pytest.approx(truth, rel=1e-6)


def test_a_bar_under_its_end_moment_in_closed_form():
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(ag.Rod(0.5, ag.Circle(0.01), ag.Material(1e6, 1000.0), ag.planar(1)), at=robot.ground, name="arm")
    robot.load(ag.TipWrench(arm, moment=(0, 0, 1e-3), name="twist"))
    eq = ag.statics(robot)
    curvature = 1e-3 / (1e6 * np.pi * 1e-8 / 4)
    found = ag.sensitivities(eq, design=["arm.material.young", "arm.section.radius", "twist.moment[2]"])
    assert np.allclose(found.q[0], curvature * np.array([-1e-6, -4 / 0.01, 1e3]), rtol=1e-8)


def test_errors_say_what_there_is():
    robot = tendon_arm()
    eq = ag.statics(robot)
    for design, words in (
        (["arm.material.yung"], "did you mean 'young'"),
        (["leg.length"], "has arm, pull, hold, payload, gravity"),
        (["arm.material"], "what it leads to must be"),
        ([], "design must be"),
        ("arm.length", "design must be"),
    ):
        with pytest.raises(ag.DescriptionError, match=words):
            ag.sensitivities(eq, design=design)
    with pytest.raises(ag.DescriptionError, match="needs parameters"):
        ag.sensitivities(eq)
    with pytest.raises(ag.DescriptionError, match="no input 'push'"):
        ag.sensitivities(eq, inputs=["push"])


def test_shared_materials_change_together():
    robot = ag.Robot()
    material = ag.Material(1e6, 1000.0)
    rod = ag.Rod(0.2, ag.Circle(0.01), material, ag.kirchhoff(1))
    a = robot.add(rod, at=robot.ground, name="a")
    robot.add(ag.Rod(0.1, ag.Circle(0.008), material, ag.kirchhoff(1)), at=a.tip, name="b")
    eq = ag.statics(robot, tolerance=1e-12)
    found = ag.sensitivities(eq, design=["a.material.young"]).q[:, 0]
    truth = by_differences(robot, "b.material.young", None, lambda e: e.q)
    assert np.allclose(found, truth, rtol=1e-6, atol=1e-9 * np.abs(truth).max())
