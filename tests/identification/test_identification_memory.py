"""What remembers is found from measurements: plays of drives, friction of tendons, losses of materials."""

from __future__ import annotations

import numpy as np
import pytest
from identification_robots import MARKERS, filmed, tendon_arm

import anguilla as ag
from anguilla.identification.trial import played


def test_a_play_is_crossed_at_every_turn():
    u = np.array([0.0, 1.0, 2.0, 1.5, 0.5, 1.0, 3.0])
    np.testing.assert_allclose(played(u, 1.0), [0.0, 0.5, 1.5, 1.5, 1.0, 1.0, 2.5])
    np.testing.assert_array_equal(played(u, 0.0), u)


def test_the_backlash_of_a_drive():
    """Measured at the motors, while the tendons pull with what comes through a play of 0.4 N."""
    s = np.linspace(0.0, 4.0 * np.pi, 40)
    motors = {"t1": 2.0 + 1.5 * np.sin(s), "t2": 1.0 + 0.8 * np.cos(1.3 * s), "t3": np.full(40, 0.5)}
    places = filmed(tendon_arm(), {n: played(u, 0.4) for n, u in motors.items()}, 1e-4, np.random.default_rng(1))
    data = ag.Measurements(
        positions=places, inputs=motors, markers=MARKERS, t=np.arange(40.0), sigma={"positions": 1e-4}
    )
    free = [ag.Unknown("inputs.backlash", start=0.1, bounds=(0.0, 2.0)), ag.Unknown("arm.material.young", start=1.2e6)]
    found = ag.identify(tendon_arm(), data, free)
    assert found.values["inputs.backlash"] == pytest.approx(0.4, abs=0.02)
    low, high = found.interval["inputs.backlash"]
    assert low < 0.4 < high


def rubbing(friction=0.2):
    robot = ag.Robot("arm", gravity=(0, 0, 0))
    rod = ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1100.0, poisson=0.5), ag.planar(3))
    arm = robot.add(rod, at=robot.ground, name="arm")
    robot.actuate("t1", ag.Tendon(arm, ag.parallel(0.008), friction=friction))
    return robot


def test_friction_of_a_tendon_from_pulling_and_letting_out():
    pulls = np.concatenate([np.linspace(1.0, 6.0, 6), np.linspace(5.0, 1.0, 5)])
    truth, eq, seen = rubbing(0.2), None, []
    for pull in pulls:
        eq = ag.statics(truth, inputs={"t1": pull}, start=eq)
        seen.append(eq.position(truth.part("arm").tip))
    assert np.linalg.norm(seen[4] - seen[6]) > 5e-3  # 5 N, drawn in and let out
    data = ag.Measurements(positions={"arm.tip": np.array(seen)}, inputs={"t1": pulls}, t=np.arange(11.0))
    found = ag.identify(rubbing(0.1), data, ["t1.friction", ag.Unknown("arm.material.young", start=1.1e6)])
    assert found.values["t1.friction"] == pytest.approx(0.2, rel=1e-3)
    assert found.values["arm.material.young"] == pytest.approx(1e6, rel=1e-3)


def test_a_loss_factor_from_a_release():
    def whip(loss):
        robot = ag.Robot("whip")
        material = ag.Material(1e6, 1100.0, loss=loss, band=(0.5, 20.0))
        arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), material, ag.planar(2)), at=robot.ground, name="arm")
        robot.load(ag.TipWrench(arm, force=(0.0, 0.0, 0.0), name="hand"))
        return robot

    truth, held = whip(0.12), whip(0.12)
    held.loads[0].force = (0.0, 0.2, 0.0)
    run = ag.simulate(truth, duration=1.0, dt=0.005, start=ag.statics(held).q)
    data = ag.Measurements(
        positions={"arm.tip": run.position(truth.part("arm").tip)}, t=run.t, motion=True, held={"hand.force[1]": 0.2},
        dt=0.005,
    )  # fmt: skip
    found = ag.identify(whip(0.05), data, ["arm.material.loss", ag.Unknown("arm.material.young", start=1.1e6)])
    assert found.values["arm.material.loss"] == pytest.approx(0.12, rel=1e-4)
    assert found.values["arm.material.young"] == pytest.approx(1e6, rel=1e-4)
