"""One tendon through a rod and a soft volume, over guides that are rigid regions of it."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem

SOFT = ag.Material(young=1e6, poisson=0.3, density=1000.0)


def arm(*, one: bool) -> tuple[ag.Robot, ag.Frame]:
    """A rod with a soft end: one tendon through both, or one through each, along the same straight lines."""
    robot = ag.Robot("arm", gravity=(0.0, 0.0, -1.0))
    rod = robot.add(ag.Rod(0.05, ag.Rectangle(0.01, 0.01), SOFT, strains=ag.kirchhoff(2)), at=robot.ground, name="rod")
    pad = ag.Volume(fem.block((0.04, 0.01, 0.01), (4, 2, 2)), SOFT, name="pad")
    middle = np.flatnonzero(np.isclose(pad.mesh.points[:, 0], 0.02))
    if not one:
        pad.actuate("pull", fem.Tendon([(0.0, 0.004, 0.0), (0.02, 0.004, 0.0), (0.04, 0.004, 0.0)]))
    handle = robot.add(pad, at=rod.tip, patch="base")
    guides = [handle.frame("guide", middle), handle.frame("end", "tip")]
    through = [rod, *(guide.offset_by((0.0, 0.004, 0.0)) for guide in guides)] if one else rod
    robot.actuate("line", ag.Tendon(through, ag.parallel(y=0.004)))
    return robot, guides[1]


@pytest.fixture(scope="module")
def robots() -> tuple[tuple[ag.Robot, ag.Frame], tuple[ag.Robot, ag.Frame]]:
    return arm(one=True), arm(one=False)


def test_one_tendon_does_what_two_of_equal_tension_do(robots):
    (whole, end), (two, other) = robots
    found, expected = ag.statics(whole, inputs={"line": 0.5}), ag.statics(two, inputs={"line": 0.5, "pad.pull": 0.5})
    assert np.abs(expected.position(other)[1]) > 5e-3
    assert np.abs(found.position(end) - expected.position(other)).max() < 1e-12
    assert np.abs(found.volume("pad").x - expected.volume("pad").x).max() < 1e-12


def test_its_gradient_counts_all_of_its_path(robots):
    (whole, end), _ = robots
    goal = (0.08, 0.02, 0.0)
    rest = ag.statics(whole, inputs={"line": 0.5}, tolerance=1e-13)
    slope = ag.gradient(rest, ag.Reach(end, goal)).inputs["line"][0]

    def cost(pull: float) -> float:
        there = ag.statics(whole, inputs={"line": pull}, tolerance=1e-13, start=rest).position(end)
        return 0.5 * float(np.sum((there - np.array(goal)) ** 2))

    h = 5e-3
    ends = [cost(0.5 + k * h) for k in (-2, -1, 1, 2)]
    assert slope == pytest.approx((ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * h), rel=1e-6, abs=0.0)


def test_it_pulls_in_motion_too(robots):
    (whole, end), (two, other) = robots
    rise = lambda t: 25.0 * t
    found = ag.simulate(whole, duration=0.01, dt=1e-3, inputs={"line": rise})
    expected = ag.simulate(two, duration=0.01, dt=1e-3, inputs={"line": rise, "pad.pull": rise})
    assert np.abs(found.position(end) - expected.position(other)).max() < 1e-9
