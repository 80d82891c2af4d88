"""Obstacles in pictures."""

import json
import re

import contact_surfaces
import numpy as np
import pytest

import anguilla as ag
from anguilla.view.obstacles import obstacles_of, placed, shell, shell_of
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


def shaken():
    """A ball and a cube given as a mesh, on a floor that moves and turns."""
    robot = ag.Robot("shaken")
    first = robot.add(
        ag.RigidBody(0.1), at=robot.ground, joint=ag.Prismatic((1, 0, 0), motion=lambda t: 0.2 * t), name="slide"
    )
    floor = robot.add(ag.HalfSpace(), at=first.frame, joint=ag.Revolute((0, 1, 0), motion=lambda t: 0.5 * t))
    ball = robot.add(ag.RigidBody.sphere(0.02, mass=0.1), at=robot.ground, joint=ag.Free(), pose=(0, 0, 0.02))
    cube = ag.Mesh(None, *contact_surfaces.ball(0.03))
    other = robot.add(ag.RigidBody(0.1, (1e-5,) * 3, shape=cube), at=robot.ground, joint=ag.Free(), pose=(0.1, 0, 0.03))
    robot.load(ag.Contact(ball, floor, 1e3, damping=1.0))
    robot.load(ag.Contact(other, floor, 1e3, damping=1.0))
    return ag.simulate(robot, duration=0.1, dt=1e-3)


def test_pictures_show_what_moves(tmp_path):
    run = shaken()
    picture = scene(run)
    (floor,) = picture.carried
    assert not picture.obstacles and {tube.name for tube in picture.tubes} == {"slide", "body", "body_2"}
    place = np.array([0.02, 0.0, 0.0]) + 0.01 * np.array([np.sin(0.05), 0.0, np.cos(0.05)])  # 1 cm above it at the end
    assert floor.distance(place) == pytest.approx(0.01, abs=1e-9)
    piece = placed(shell_of(floor, picture.bounds), floor)
    np.testing.assert_allclose(floor.distance(piece.vertices), 0.0, atol=1e-12)
    mesh = picture.tubes[-1]  # a ball of triangles, cut into slices
    middle = mesh.position[0].mean(axis=0)
    far = np.linalg.norm(mesh.surface(0) - middle, axis=2)
    assert np.max(far) == pytest.approx(0.03, rel=0.02) and np.min(far) > 0.028
    text = ag.animate(run, tmp_path / "shaken.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r"<script[^>]*application/json[^>]*>(.*?)</script>", text, re.S)[1])
    (solid,) = data["solids"]
    assert solid["position"]["shape"] == [data["frames"], 3] and solid["rotation"]["shape"] == [data["frames"], 4]
    ax = figure(4, 4).add_subplot(projection="3d")
    draw_solid(ax, picture, [])
    assert len(ax.collections) == 2
    ag.plot(run)
