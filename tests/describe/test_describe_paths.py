"""Numbers of a description by path, and what differs between two descriptions."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe.alike import differences
from anguilla.describe.paths import changed, number_at, put_number


def robot(young: float = 1e6, radius: float = 0.01, length: float = 0.3, pull: float = 0.008) -> ag.Robot:
    found = ag.Robot("arm")
    rod = ag.Rod(length, ag.Circle(radius), ag.Material(young, 1100.0), ag.kirchhoff(1))
    arm = found.add(rod, at=found.ground, name="arm")
    tip = found.add(ag.RigidBody(0.1, 1e-5 * np.eye(3)), at=arm.tip, joint=ag.Revolute((0, 0, 1)), name="hand")
    found.actuate("t1", ag.Tendon(arm, ag.convergent((pull, 0.0), (pull / 2, 0.0), length)))
    found.load(ag.Wrench(tip.frame, force=lambda t: (0.0, t, 0.0)))
    found.load(ag.TipWrench(arm, force=(1.0, 2.0, 3.0), name="load"))
    return found


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("arm.material.young", 1e6), ("arm.section.radius", 0.01), ("arm.length", 0.3), ("arm.pose[0][3]", 0.0),
        ("hand.mass", 0.1), ("load.force[1]", 2.0), ("gravity[2]", -9.81), ("t1.offset", 0.008), ("t1.angle", 0.0),
        ("t1.routing.y[1]", -0.004 / 0.3), ("arm.material.poisson", 0.3),
    ],
)  # fmt: skip
def test_a_number_is_read_and_set_in_a_copy(path, value):
    first = robot()
    assert number_at(first, path) == pytest.approx(value)
    twin = changed(first, {path: value + 0.05})
    assert number_at(twin, path) == pytest.approx(value + 0.05)
    assert number_at(first, path) == pytest.approx(value)


def test_offset_and_angle_move_the_whole_line():
    twin = changed(robot(), {"t1.offset": 0.016, "t1.angle": np.pi / 2})
    places = twin.actuators["t1"].routing.offset([0.0, 0.3])
    assert np.allclose(places, [[0, 0, 0.016], [0, 0, 0.008]])


def test_a_bad_value_is_refused():
    with pytest.raises(ag.DescriptionError, match=r"Material\.young must be"):
        put_number(robot(), "arm.material.young", -1.0)
    for path, words in (("arm", "ends too early"), ("load.force[7]", r"no item \[7\]"), ("1x", "names and indices")):
        with pytest.raises(ag.DescriptionError, match=words):
            number_at(robot(), path)


def test_what_differs():
    assert differences(robot(), robot()) == ({}, [])
    assert differences(robot(), robot(young=2e6)) == ({0: {"material"}}, [])
    assert differences(robot(), robot(young=2e6, radius=0.02)) == ({0: {"material", "section"}}, [])
    assert differences(robot(), robot(length=0.4)) == ({0: {"length"}}, ["t1"])
    assert differences(robot(), robot(pull=0.009)) == ({}, ["t1"])
    assert differences(robot(), changed(robot(), {"hand.mass": 0.2})) is None
    assert differences(robot(), changed(robot(), {"load.force[0]": 0.2})) is None
    assert differences(robot(), changed(robot(), {"gravity[0]": 0.2})) is None
