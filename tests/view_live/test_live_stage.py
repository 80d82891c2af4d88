"""Where the viewer puts tendons, arrows and surfaces."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.view.scene import scene
from anguilla.view.stage import faces_of, load_arrows, suggested_limits, tendon_lines, vertices_of


@pytest.fixture(scope="module")
def bent(arm):
    return ag.statics(arm, inputs={"a1": 8.0, "c2": 4.0})


def test_lines_are_where_the_tendons_are(arm, bent):
    picture = scene(bent, sections=33, around=12)
    lines = tendon_lines(bent.system.robot, picture, 0)
    assert list(lines) == list(arm.actuators)
    # the polygon is as long as the tendon, a little less where it is curved
    for name in ("a1", "b3", "c2"):
        length = np.linalg.norm(lines[name][:, 1] - lines[name][:, 0], axis=1).sum()
        assert bent.length(name) * (1 - 1e-3) < length < bent.length(name) * (1 + 1e-5)
    # it begins on the ground section at its offset
    offset = arm.actuators["b3"].stretches[0][1].offset([0.0])[0]
    np.testing.assert_allclose(lines["b3"][0, 0], offset, atol=1e-7)


def test_surfaces_are_closed_and_turned_outwards(bent):
    picture = scene(bent, sections=33, around=24)
    tube = picture.tubes[0]
    p = vertices_of(tube, 0).astype(float)
    a, b, c = (p[faces_of(tube)[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0
    assert volume == pytest.approx(np.pi * 0.02**2 * 0.2, rel=0.05)
    edges = np.sort(
        np.concatenate([faces_of(tube)[:, [0, 1]], faces_of(tube)[:, [1, 2]], faces_of(tube)[:, [2, 0]]]), 1
    )
    assert np.all(np.unique(edges, axis=0, return_counts=True)[1] == 2)


def test_arrows_show_forces():
    robot = ag.Robot("r", gravity=(0, 0, 0))
    rod = ag.Rod(0.4, ag.Circle(0.01), ag.Material(1e9, 1000), ag.kirchhoff(2))
    arm = robot.add(rod, at=robot.ground)
    robot.load(ag.TipWrench(arm, force=(0, 0, 2e-3)))
    robot.load(ag.Wrench(arm.section(0.2), force=(0, 1e-3, 0), follower=True))
    eq = ag.statics(robot)
    arrows = load_arrows(eq, scene(eq), 0, size=1.0)
    along = arrows[:, 1] - arrows[:, 0]
    np.testing.assert_allclose(along, [[0, 0, 0.18], [0, 0.09, 0]], atol=1e-4)
    np.testing.assert_allclose(arrows[0, 0], eq.position(arm.tip), atol=1e-6)
    robot.loads[0].force = robot.loads[1].force = (0, 0, 0)
    eq = ag.statics(robot)
    assert load_arrows(eq, scene(eq), 0, 1.0).shape == (0, 2, 3)


def test_sliders_reach_about_a_right_angle(arm):
    low, high = suggested_limits(arm)["a1"]
    assert low == 0.0
    eq = ag.statics(ag_without_gravity(arm), inputs={"a1": high})
    bend = np.degrees(np.arccos(np.clip(eq.pose(eq.robot.part("a").tip)[0, 0], -1, 1)))
    assert 45.0 < bend < 250.0


def ag_without_gravity(robot):
    import copy

    still = copy.deepcopy(robot)
    still.gravity = (0, 0, 0)
    return still
