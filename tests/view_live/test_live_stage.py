"""Where the viewer puts tendons, arrows and surfaces."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.view.scene import scene
from anguilla.view.stage import (
    Tracks,
    arrows,
    faces_of,
    load_arrows,
    reaction_forces,
    suggested_limits,
    tendon_lines,
    trail,
    vertices_of,
)


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


def test_a_tendon_runs_through_the_air_between_bodies():
    robot = ag.Robot("crane", gravity=(0, 0, 0))
    mast = robot.add(ag.RigidBody.box((0.1, 0.1, 0.1), mass=1.0), at=robot.ground, name="mast")
    rod = ag.Rod(0.4, ag.Circle(0.01), ag.Material(1e7, 1000), ag.kirchhoff(2))
    boom = robot.add(rod, at=robot.ground, name="boom")
    robot.actuate("stay", ag.Tendon([mast.at((0, 0, 0.3)), boom.section(0.2), boom.tip], ag.parallel()))
    eq = ag.statics(robot, inputs={"stay": 1.0})
    picture = scene(eq)
    lines = tendon_lines(eq.system.robot, picture, 0, Tracks(eq))["stay"]
    assert lines.shape == (2, 2, 3)
    np.testing.assert_allclose(lines[0, 0], [0, 0, 0.3], atol=1e-6)
    np.testing.assert_allclose(lines[1, 1], eq.position(boom.tip), atol=1e-6)
    assert np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1).sum() == pytest.approx(eq.length("stay"), rel=1e-6)


@pytest.mark.filterwarnings("ignore:The equilibrium of 'beam' is not unique. nothing holds slider.turn")
def test_reactions_point_where_they_push():
    # a straight rod between clamp and pin, pushed down in the middle: the pin holds 5/16 of the force (beam theory)
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    rod = ag.Rod(
        1.0, ag.Circle(0.01), ag.Material(1e9, 1000), ag.Strains(bend_y=ag.PiecewisePolynomial([0.5], degree=2))
    )
    beam = robot.add(rod, at=robot.ground)
    robot.load(ag.Wrench(beam.section(0.5), force=(0, 0, -0.01)))
    hold = robot.add(ag.RigidBody.sphere(0.001, mass=1e-6), at=robot.ground.offset_by((1.0, 0, 0)),
                     joint=ag.Cylindrical((1, 0, 0)), name="slider")  # fmt: skip
    robot.close(hold.frame, beam.tip, joint=ag.Spherical(), name="pin")
    with pytest.warns(ag.AnguillaWarning, match="redundant"):
        eq = ag.statics(robot)
    places, forces = reaction_forces(Tracks(eq), 0)
    np.testing.assert_allclose(places, [[1.0, 0, 0]], atol=1e-4)
    np.testing.assert_allclose(forces, [[0, 0, 0.01 * 5 / 16]], atol=1e-5)
    shown = arrows(places, forces, 0.2, 0.01)
    assert shown[0, 1, 2] - shown[0, 0, 2] == pytest.approx(0.2 * 5 / 16, rel=1e-2)


def test_a_trail_is_the_path_of_the_tip():
    robot = ag.Robot("r")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000), ag.kirchhoff(2)), at=robot.ground)
    run = ag.simulate(robot, duration=0.1, dt=0.01)
    np.testing.assert_allclose(trail(scene(run), 7), run.position(arm.tip)[:8], atol=1e-9)
