import dataclasses

import numpy as np
import pytest

import anguilla as ag
from anguilla.view.scene import _stations, plane_of_motion, rods_of, scene, thin


def test_ends_of_a_tube_are_the_ends_of_the_rod(case):
    tubes = scene(case.run).tubes
    for tube, rod in zip(tubes, (case.arm, case.blade), strict=True):
        assert tube.name == rod.name
        # the sections get nodes of their own, which refines the integration of the strains a little
        np.testing.assert_allclose(tube.position[:, 0], case.run.position(rod.root), atol=2e-4)
        np.testing.assert_allclose(tube.position[:, -1], case.run.position(rod.tip), atol=2e-4)
    assert [tube.clamped for tube in tubes] == [True, False]
    assert [tube.free for tube in tubes] == [False, True]


def test_surface_of_a_taper_keeps_its_radius(case):
    tube = scene(case.run, sections=20, around=16).tubes[0]
    surface = tube.surface(7)
    assert surface.shape == (20, 16, 3)
    distance = np.linalg.norm(surface - tube.position[7][:, None], axis=2)
    np.testing.assert_allclose(distance, np.linspace(0.02, 0.01, 20)[:, None] * np.ones(16), rtol=1e-9)
    # sections are perpendicular to t1
    along = np.einsum("mki,mi->mk", surface - tube.position[7][:, None], tube.rotation[7][:, :, 0])
    assert np.max(np.abs(along)) < 1e-12


def test_surface_of_a_rectangle_has_its_corners(case):
    tube = scene(case.eq, around=8).tubes[1]
    distance = np.linalg.norm(tube.surface(0) - tube.position[0][:, None], axis=2)
    np.testing.assert_allclose(distance.max(axis=1), np.hypot(0.015, 0.003), rtol=1e-9)


def test_bounds_contain_every_surface(case):
    picture = scene(case.run)
    low, high = picture.bounds
    for tube in picture.tubes:
        for k in range(len(picture.t)):
            surface = tube.surface(k)
            assert np.all(surface >= low - 1e-12) and np.all(surface <= high + 1e-12)


def test_a_jump_of_the_section_is_drawn_from_both_sides():
    X, side = _stations(1.0, 3, (0.25,))
    np.testing.assert_array_equal(X, [0.0, 0.25, 0.25, 0.5, 1.0])
    assert side[1] < 0.25 == side[2]


def test_the_picture_shows_the_robot_that_was_computed():
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000)
    robot = ag.Robot("short")
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.01), rubber, ag.kirchhoff(2)), at=robot.ground)
    eq = ag.statics(robot)
    before = scene(eq).tubes[0]
    arm.rod.length, arm.rod.section = 0.1, ag.Circle(0.02)
    after = scene(eq).tubes[0]
    np.testing.assert_array_equal(before.position, after.position)
    np.testing.assert_array_equal(before.outline, after.outline)


def test_thinning_keeps_the_ends(case):
    few = thin(case.run, 7)
    assert len(few.t) == 7
    assert few.t[0] == case.run.t[0] and few.t[-1] == case.run.t[-1]
    np.testing.assert_array_equal(few.q[-1], case.run.q[-1])
    assert thin(case.run, 10_000) is case.run


@pytest.mark.parametrize("normal", [(0, 1, 0), (1, 0, 0), (0, 0, 1), (1, 2, 0.5)])
def test_plane_of_motion_finds_the_plane(normal):
    normal = np.array(normal, dtype=float) / np.linalg.norm(normal)
    along = np.linalg.svd(normal[None])[2][1:]
    points = np.random.default_rng(0).normal(size=(50, 2)) @ along + [0.1, 0.2, 0.3]
    plane = plane_of_motion(points)
    assert plane.offset < 1e-12
    np.testing.assert_allclose(np.abs(plane.normal @ normal), 1.0, atol=1e-12)
    assert plane.axes[1] @ [0, 1e-6, 1] > 0.0  # the second axis points up
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-12)
    flat = plane.project(points)
    np.testing.assert_allclose(np.linalg.norm(flat[0] - flat[1]), np.linalg.norm(points[0] - points[1]), rtol=1e-12)


def test_plane_of_a_line_is_vertical():
    plane = plane_of_motion(np.outer(np.linspace(0, 1, 9), [1.0, 0.0, 0.0]))
    np.testing.assert_allclose(plane.axes, [[1, 0, 0], [0, 0, 1]], atol=1e-12)


def test_errors_say_what_a_picture_needs(case):
    with pytest.raises(ag.DescriptionError, match=r"ag\.simulate or ag\.statics"):
        scene(case.robot)  # type: ignore[arg-type]
    empty = dataclasses.replace(case.eq, robot=ag.Robot("empty"))
    with pytest.raises(ag.DescriptionError, match="no rods"):
        rods_of(empty)
