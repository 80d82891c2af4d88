"""Obstacles in pictures."""

import json
import re

import contact_surfaces
import numpy as np
import pytest

import anguilla as ag
from anguilla.view.obstacles import obstacles_of, shell
from anguilla.view.panels import draw_solid
from anguilla.view.scene import scene
from anguilla.view.style import figure

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.01)
KINDS = {
    "floor": ag.HalfSpace((0.2, 0.1, 1), -0.2),
    "sphere": ag.Sphere((0.4, 0.06, -0.15), 0.06),
    "hollow": ag.Sphere((0.2, 0.0, 0.0), 0.7, inside=True),
    "peg": ag.Pillar((0.25, 0, -0.08), (0.3, 1, 0), 0.04),
    "tube": ag.Pillar((0.05, 0, 0), (1, 0, 0), 0.45, inside=True),
    "capsule": ag.Capsule((0.1, 0.2, -0.3), (0.5, -0.1, -0.3), 0.03),
    "room": ag.Box((0.2, 0, 0), (1.5, 1.4, 1.3), (0.1, 0.2, 0.3), inside=True),
    "step": ag.Box((0.2, 0.2, -0.4), (0.2, 0.3, 0.1), (0.1, 0.2, 0.3)),
    "coin": ag.Cylinder((0.3, 0.3, -0.3), (1, 0.5, 0.2), 0.1, 0.03),
    "cave": ag.Mesh(None, *contact_surfaces.ball(0.7), inside=True, pose=(0.2, 0, 0)),
}
BOUNDS = np.array([[0.0, -0.1, -0.3], [0.6, 0.1, 0.1]])


def course(strains=None):
    robot = ag.Robot("course")
    arm = robot.add(ag.Rod(0.6, ag.Circle(0.01), RUBBER, strains or ag.kirchhoff(3), intervals=20), at=robot.ground)
    for obstacle in (*KINDS.values(), KINDS["floor"]):
        robot.load(ag.Contact(arm, obstacle, 2e3))
    return robot


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_shells_lie_on_the_surface_and_face_out_of_the_solid(kind):
    obstacle, piece = KINDS[kind], shell(KINDS[kind], BOUNDS)
    error, lift = (3e-3, 0.05) if kind == "cave" else (1e-12, 1e-3)  # corners are rounded by the grid
    np.testing.assert_allclose(obstacle.distance(piece.vertices), 0.0, atol=error)
    lifted = piece.vertices + lift * piece.normals
    np.testing.assert_allclose(obstacle.distance(lifted), lift, atol=max(error, 1e-9))
    a, b, c = np.moveaxis(piece.vertices[piece.faces], 1, 0)
    normal = np.cross(b - a, c - a)
    real = np.linalg.norm(normal, axis=1) > 1e-9 * np.linalg.norm(normal, axis=1).max()  # those at the poles are lines
    assert np.all(np.sum(normal * piece.outward, axis=1)[real] > 0.0)
    assert np.linalg.norm(piece.vertices - BOUNDS.mean(axis=0), axis=1).min() < 0.9


def test_each_obstacle_is_drawn_once():
    assert obstacles_of(course()) == tuple(KINDS.values())


def test_pages_and_figures_show_obstacles(tmp_path):
    run = ag.simulate(course(), duration=0.1, dt=0.01)
    assert scene(run).obstacles == tuple(KINDS.values())
    text = ag.animate(run, tmp_path / "course.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r"<script[^>]*application/json[^>]*>(.*?)</script>", text, re.S)[1])
    assert [solid["vertices"]["shape"][1] for solid in data["solids"]] == [7] * len(KINDS)
    for solid in data["solids"]:
        assert max(solid["index"]) < solid["vertices"]["shape"][0] and len(solid["index"]) % 3 == 0
    ax = figure(4, 4).add_subplot(projection="3d")
    draw_solid(ax, scene(run), [])
    assert len(ax.collections) == 1 + len(KINDS)


def test_flat_pictures_show_where_the_plane_cuts_obstacles():
    eq = ag.statics(course(ag.Strains(bend_y=4)))
    shapes = ag.plot(eq).axes[0]
    assert len(shapes.collections) >= 4  # the hollow sphere and the tube are out of sight
    low, high = shapes.get_xlim()
    reach = 100 * eq.centerline(eq.robot.parts[0])[:, 0].max()  # [cm]
    assert -0.2 * reach < low < 0.0 and reach < high < 1.2 * reach
