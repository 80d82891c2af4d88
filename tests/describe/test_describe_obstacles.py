"""Obstacles of any shape: distances, meshes from files, and what is refused."""

import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe.measuring import distances_of_grid
from anguilla.describe.triangles import read_triangles
from anguilla.interact.kernels.distance import distances

sys.path.insert(0, str(Path(__file__).parents[1] / "contact"))

from contact_surfaces import ball, bend, block, obj, stl, stl_text, straight

HILLS = 0.02 * np.sin(np.arange(12)[:, None] / 2.0) * np.cos(np.arange(9) / 3.0)
SHAPES = {
    "half_space": ag.HalfSpace((1, 2, -1), 0.1),
    "sphere": ag.Sphere((0.1, 0, 0), 0.2),
    "pillar": ag.Pillar((0.1, 0, 0), (1, -1, 0.5), 0.2),
    "capsule": ag.Capsule((0.1, 0, 0), (-0.2, 0.1, 0.3), 0.12),
    "box": ag.Box((0.1, 0, 0.05), (0.3, 0.2, 0.4), (0.3, -0.2, 0.9), round=0.03),
    "cylinder": ag.Cylinder((0.1, 0, 0.05), (1, -1, 0.5), 0.2, 0.25),
    "mesh": ag.Mesh(None, *block((0.3, 0.2, 0.25)), pose=(0.05, 0, 0.1), spacing=0.02),
    "hills": ag.HeightField(HILLS, 0.05, (-0.2, -0.2, 0.0)),
}


@pytest.mark.parametrize("kind", sorted(SHAPES))
@pytest.mark.parametrize("inside", [False, True])
def test_descriptions_and_kernels_tell_the_same_distance(kind, inside):
    shape = copy.deepcopy(SHAPES[kind])
    if inside and kind in ("half_space", "hills"):
        return
    if inside:
        shape.inside = True
    x = np.random.default_rng(1).uniform(-0.5, 0.6, (300, 3))
    d, n, N = np.zeros(300), np.zeros((300, 3)), np.zeros((300, 9))
    grid = np.zeros(0) if shape.grid is None else shape.grid.ravel()
    distances(x, shape.constants()[None], grid, d, n, N)
    np.testing.assert_allclose(shape.distance(x), d, atol=1e-13)
    np.testing.assert_allclose(shape.distance(x.reshape(3, 100, 3)), d.reshape(3, 100), atol=1e-13)


@pytest.mark.parametrize("kind", ["capsule", "box", "cylinder"])
def test_distance_is_that_from_the_nearest_point_of_the_surface(kind):
    """By brute force over the surface, of which triangles are drawn; outside, where there is one answer."""
    shape = SHAPES[kind]
    corners, _, faces = shape.surface(np.zeros(3), 1.0)
    share = np.random.default_rng(0).dirichlet((1, 1, 1), 400)
    a, b, c = np.moveaxis(corners[faces], 1, 0)
    big = np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-4
    on = np.concatenate([corners, np.einsum("sk,fkx->fsx", share, corners[faces][big]).reshape(-1, 3)])
    for x in np.random.default_rng(2).uniform(-0.5, 0.6, (60, 3)):
        found = float(shape.distance(x))
        if found > 0.05:
            assert np.linalg.norm(on - x, axis=1).min() == pytest.approx(found, abs=2e-3)


def exact(vertices, faces, points):
    """Unsigned distances by brute force: dense points of all triangles."""
    share = np.stack(np.meshgrid(*[np.linspace(0, 1, 41)] * 2), axis=-1).reshape(-1, 2)
    share = share[share.sum(axis=1) <= 1.0]
    share = np.concatenate([share, 1.0 - share.sum(axis=1, keepdims=True)], axis=1)
    on = np.einsum("sk,fkx->fsx", share, vertices[faces]).reshape(-1, 3)
    return np.array([np.linalg.norm(on - x, axis=1).min() for x in points])


def test_distances_of_a_grid_are_exact():
    """Of a block, whose edges and corners lie on lines of the grid: by the closed form; of a ball, by brute force."""
    size, h = np.array([0.4, 0.2, 0.3]), 0.05
    low, counts = -0.5 * size - 4 * h, tuple((size / h).round().astype(int) + 9)
    found = distances_of_grid(*block(size), low, counts, h)
    x = low + h * np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1)
    beyond = np.abs(x) - 0.5 * size
    wanted = np.linalg.norm(np.maximum(beyond, 0), axis=-1) + np.minimum(beyond.max(axis=-1), 0.0)
    np.testing.assert_allclose(found, wanted, atol=1e-14)
    vertices, faces = ball(0.2, 1)
    low, counts = np.full(3, -0.3), (7, 7, 7)
    found = distances_of_grid(vertices, faces, low, counts, 0.1)
    x = low + 0.1 * np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3)
    wanted = exact(vertices, faces, x)
    np.testing.assert_allclose(np.abs(found).ravel(), wanted, atol=3e-3)
    normals = np.cross(*(vertices[faces[:, k]] - vertices[faces[:, 0]] for k in (1, 2)))
    inside = np.all(np.einsum("fx,pfx->pf", normals, x[:, None] - vertices[faces[:, 0]]) < 0.0, axis=1)  # it is convex
    off = np.abs(found.ravel()) > 1e-12
    np.testing.assert_array_equal((found.ravel() < 0.0)[off], inside[off])


def test_sign_of_things_in_things():
    """A ball with a hollow in it, two balls that overlap, and one beside them."""
    vertices, faces = ball(0.3, 3)
    parts = [(vertices, faces), (vertices / 2, faces[:, ::-1]), (vertices / 3 + [0.6, 0, 0], faces),
             (vertices / 3 + [0.7, 0, 0], faces)]  # fmt: skip
    many = len(vertices)
    corners = np.concatenate([part[0] for part in parts])
    faces = np.concatenate([part[1] + k * many for k, part in enumerate(parts)])
    low, h, counts = np.array([-0.4, -0.4, -0.4]), 0.05, (27, 17, 17)
    found = distances_of_grid(corners, faces, low, counts, h)
    x = low + h * np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1)
    r = [np.linalg.norm(x - [c, 0, 0], axis=-1) for c in (0.0, 0.6, 0.7)]
    deep = np.abs(found) > 0.01  # the balls are of triangles
    wanted = ((r[0] < 0.3) & (r[0] > 0.15)) | (r[1] < 0.1) | (r[2] < 0.1)
    np.testing.assert_array_equal((found < 0.0)[deep], wanted[deep])


@pytest.mark.parametrize(("suffix", "write"), [("stl", stl), ("STL", stl_text), ("obj", obj)])
def test_meshes_are_read_from_files(tmp_path, suffix, write):
    vertices, faces = straight(0.02, 0.3, 16, 4)
    (tmp_path / f"tube.{suffix}").write_bytes(write(1e3 * vertices, faces))
    read = read_triangles(tmp_path / f"tube.{suffix}")
    np.testing.assert_allclose(read[0][read[1]], 1e3 * vertices[faces], rtol=1e-6, atol=1e-4)
    mesh = ag.Mesh(tmp_path / f"tube.{suffix}", scale=1e-3, inside=True)
    same = ag.Mesh(vertices=vertices, faces=faces, inside=True)
    assert len(mesh.triangles[0]) == len(vertices) and len(mesh.triangles[1]) == len(faces)
    x = np.random.default_rng(0).uniform([0, -0.01, -0.01], [0.3, 0.01, 0.01], (50, 3))
    np.testing.assert_allclose(mesh.distance(x), same.distance(x), atol=1e-6)
    assert repr(mesh).startswith("Mesh('") and "inside" in repr(mesh) and "128 triangles" in repr(same)


def test_triangles_may_face_either_way_and_corners_may_be_apart():
    vertices, faces = bend(0.01, 0.03, 0.05, 1.0, 12, 8)
    x = np.random.default_rng(0).uniform([0, -0.01, -0.01], [0.1, 0.01, 0.05], (50, 3))
    plain = ag.Mesh(vertices=vertices, faces=faces)
    turned = ag.Mesh(vertices=vertices, faces=faces[:, ::-1])
    noise = 1e-9 * np.random.default_rng(1).normal(size=(len(faces), 3, 3))
    apart = ag.Mesh(vertices=(vertices[faces] + noise).reshape(-1, 3), faces=np.arange(3 * len(faces)).reshape(-1, 3))
    np.testing.assert_allclose(turned.distance(x), plain.distance(x), atol=1e-15)
    np.testing.assert_allclose(apart.distance(x), plain.distance(x), atol=1e-7)
    h = plain.measured.spacing
    hollow = ag.Mesh(vertices=vertices, faces=faces, inside=True, spacing=h, margin=8 * h)
    np.testing.assert_allclose(hollow.distance(x), -plain.distance(x), atol=1e-12)


def test_a_mesh_is_measured_once(monkeypatch):
    counted = []
    monkeypatch.setattr(
        "anguilla.describe.measuring.distances_of_grid", lambda *given: counted.append(1) or distances_of_grid(*given)
    )
    mesh = ag.Mesh(vertices=block((0.1, 0.1, 0.1))[0], faces=block((0.1, 0.1, 0.1))[1])
    twin = copy.deepcopy(mesh)
    assert not counted and twin == mesh
    assert twin.grid is mesh.grid and copy.deepcopy(twin).grid is mesh.grid and len(counted) == 1
    mesh.spacing = 0.02
    assert mesh.grid is not twin.grid and len(counted) == 2 and mesh != twin


def test_a_mesh_is_what_was_read_not_what_stands_in_the_file_now(tmp_path):
    file = tmp_path / "a.stl"
    file.write_bytes(stl(*block((0.1, 0.1, 0.1))))
    first, same = ag.Mesh(file), ag.Mesh(file)
    file.write_bytes(stl(*block((0.1, 0.1, 0.2))))
    later = ag.Mesh(file)
    assert first == same and first != later
    assert float(first.distance((0, 0, 0.07))) == pytest.approx(0.02, abs=1e-3)
    assert float(later.distance((0, 0, 0.07))) == pytest.approx(-0.03, abs=1e-3)
    again = pickle.loads(pickle.dumps(first))
    assert again == first and np.array_equal(again.grid, first.grid)


def test_ground_of_heights():
    """A slope is a plane; hills are those of the heights."""
    x, y = np.meshgrid(0.1 * np.arange(20), 0.1 * np.arange(30), indexing="ij")
    slope = ag.HeightField(0.3 * x - 0.2 * y, 0.1)
    n = np.array([-0.3, 0.2, 1.0]) / np.linalg.norm([-0.3, 0.2, 1.0])
    at = np.array([[0.95, 1.45, 0.02], [0.9, 1.5, 0.3], [1.03, 1.37, -0.1]])
    np.testing.assert_allclose(slope.distance(at), at @ n, atol=2e-4)
    hills = SHAPES["hills"]
    corners = np.stack(
        [-0.2 + 0.05 * np.arange(12)[:, None] + 0 * HILLS, -0.2 + 0.05 * np.arange(9) + 0 * HILLS, HILLS], -1
    )
    np.testing.assert_allclose(hills.distance(corners), 0.0, atol=3e-4)  # 0.6 % of the spacing
    up = np.array([0.0, 0.0, 0.01])
    assert np.all(hills.distance(corners + up) > 0.008) and np.all(hills.distance(corners - up) < -0.008)


VERTICES, FACES = block((0.1, 0.1, 0.1))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ag.Capsule((0, 0, 0), (0, 0, 0), 1.0), "must be different places"),
        (lambda: ag.Capsule((0, 0, 0), (0, 0, 1), 0.0), "Capsule.radius must be a positive number"),
        (lambda: ag.Box((0, 0, 0), (1, 0, 1)), "Box.size must be three positive numbers"),
        (lambda: ag.Box((0, 0, 0), (1, 1, 1), round=0.6), "Box.round must be at most half of the smallest width 1 m"),
        (lambda: ag.Box((0, 0, 0), (1, 1, 1), 2 * np.eye(3)), "must be a rotation"),
        (lambda: ag.Box((0, 0, 0), (1, 1, 1), (1, 2)), "Box.rotation must be a rotation matrix"),
        (lambda: ag.Cylinder((0, 0, 0), (0, 0, 0), 1.0, 1.0), "Cylinder.axis must be a direction"),
        (lambda: ag.Cylinder((0, 0, 0), (0, 0, 1), 1.0, -1.0), "Cylinder.length must be a positive"),
        (lambda: ag.Mesh(), "either a path, or vertices and faces"),
        (lambda: ag.Mesh("there/is/none.stl"), "there is no file"),
        (lambda: ag.Mesh("some.step"), r"must end in .stl or .obj; got 'some.step'"),
        (lambda: ag.Mesh(vertices=VERTICES, faces=FACES + 1), "whole numbers from 0 to 7"),
        (lambda: ag.Mesh(vertices=VERTICES[:, :2], faces=FACES), r"Mesh.vertices must be corners \(n, 3\)"),
        (lambda: ag.Mesh(vertices=VERTICES, faces=FACES[1:]), "is not closed: 3 edges belong to one triangle only, one at"),
        (lambda: ag.Mesh(vertices=VERTICES, faces=[FACES[0, ::-1], *FACES[1:]]), "face opposite ways along 3 edges"),
        (lambda: ag.Mesh(vertices=VERTICES * [1, 1, 0], faces=FACES), "encloses nothing"),
        (lambda: ag.Mesh(vertices=VERTICES, faces=FACES, spacing=1e-4).grid, "would have 1.05e.09 points"),
        (lambda: ag.Mesh(vertices=VERTICES * [30, 30, 0.01], faces=FACES).grid, "too thin for a grid"),
        (lambda: ag.HeightField(np.zeros(5), 0.1), r"heights \(nx, ny\)"),
        (lambda: ag.HeightField(np.zeros((4000, 4000)), 0.1), "fewer heights"),
    ],
)  # fmt: skip
def test_refused(make, text):
    with pytest.raises(ag.DescriptionError, match=text):
        make()


@pytest.mark.parametrize(
    ("raw", "name", "text"),
    [
        (b"", "a.stl", "could not be read"),
        (stl(VERTICES, FACES)[:-3], "a.stl", "it has 681 bytes, but 12 triangles of STL take 684"),
        (b"x" * 80 + b"\xff\xff\xff\xff" + b"y" * 50, "a.stl", "triangles of STL take"),
        (b"solid x\nvertex 0 0 zero", "a.stl", "could not be read"),
        (b"solid x\nendsolid", "a.stl", "has no triangles"),
        (b"v 0 0\nf 1 2 3", "a.obj", "could not be read"),
        (b"v 0 0 0\nf 1 2 3", "a.obj", "corners that do not exist"),
        (stl(VERTICES, FACES).replace(np.float32(0.05).tobytes(), np.float32(np.nan).tobytes()), "a.stl", "not finite"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path, raw, name, text):
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(ag.DescriptionError, match=text):
        ag.Mesh(tmp_path / name)


def test_files_that_are_too_large_are_refused(tmp_path, monkeypatch):
    (tmp_path / "a.stl").write_bytes(stl(VERTICES, FACES))
    monkeypatch.setattr("anguilla.describe.triangles.MOST_BYTES", 600)
    with pytest.raises(ag.DescriptionError, match="more than 600 bytes"):
        ag.Mesh(tmp_path / "a.stl")
    monkeypatch.setattr("anguilla.describe.triangles.MOST_BYTES", 1000)
    monkeypatch.setattr("anguilla.describe.triangles.MOST_TRIANGLES", 10)
    with pytest.raises(ag.DescriptionError, match="12 triangles; at most 10"):
        ag.Mesh(tmp_path / "a.stl")
