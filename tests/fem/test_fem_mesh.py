"""Meshes: volumes and surfaces against geometry, and what is refused."""

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.fem.mesh import enclosed_volume, locate, open_edges

SHAPES = {
    "block": lambda: fem.block((0.1, 0.02, 0.03), (5, 2, 3)),
    "cylinder": lambda: fem.cylinder(0.1, 0.01, (24, 8)),
    "tube": lambda: fem.tube(0.1, 0.01, 0.02, (5, 16, 2)),
    "finger": fem.finger,
    "parallel_robot": fem.parallel_robot,
    "trunk": fem.trunk,
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_boundary_encloses_the_tetrahedra(name):
    mesh = SHAPES[name]()
    shells = mesh.shells()
    outside = enclosed_volume(mesh.points, shells[0])
    cavities = sum(enclosed_volume(mesh.points, shell) for shell in shells[1:])
    assert mesh.volume == pytest.approx(outside - cavities, rel=1e-12)
    assert all(open_edges(shell) == 0 for shell in shells)
    assert mesh.quality().min() > 0.02


def test_volumes_are_those_of_geometry():
    assert SHAPES["block"]().volume == pytest.approx(0.1 * 0.02 * 0.03, rel=1e-12)
    sides = 16  # a polygon instead of a circle
    polygon = 0.5 * sides * np.sin(2 * np.pi / sides)
    assert SHAPES["tube"]().volume == pytest.approx(0.1 * polygon * (0.02**2 - 0.01**2), rel=1e-12)
    errors = [1 - fem.cylinder(0.1, 0.01, (2, n)).volume / (np.pi * 1e-5) for n in (4, 8, 16)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_the_finger_has_the_chamber_asked_for():
    mesh = fem.finger((0.1, 0.02, 0.02), wall=3e-3, cap=8e-3, offset=2e-3)
    assert enclosed_volume(mesh.points, mesh.surfaces["chamber"]) == pytest.approx(0.084 * 0.014 * 0.012, rel=1e-12)
    assert len(mesh.shells()) == 2


def test_the_parallel_robot_has_the_size_of_the_paper():
    mesh = fem.parallel_robot(along=20)
    np.testing.assert_allclose(np.ptp(mesh.points, axis=0), [0.18, 0.18, 0.13], rtol=1e-12)
    assert 1400 < len(mesh.points) < 1700
    assert 3900 < len(mesh.tets) < 4300
    top = mesh.points[mesh.nodes["top"]]
    np.testing.assert_allclose(top.mean(axis=0), [0, 0, 0.13], atol=1e-12)


def test_the_trunk_has_six_chambers_with_a_threefold_symmetry():
    mesh = fem.trunk()
    volumes = [enclosed_volume(mesh.points, mesh.surfaces[f"chamber_{k + 1}"]) for k in range(6)]
    assert len(mesh.shells()) == 7
    np.testing.assert_allclose(volumes[:3], volumes[0], rtol=1e-9)
    np.testing.assert_allclose(volumes[3:], volumes[3], rtol=1e-9)
    assert volumes[0] > volumes[3] > 0
    middle = mesh.points[mesh.surfaces["chamber_1"]].mean(axis=(0, 1))
    assert middle[0] > 0.02
    assert abs(middle[1]) < 1e-4


def test_inverted_tetrahedra_are_turned_round():
    mesh = fem.TetMesh(np.eye(4, 3), [[0, 1, 2, 3], [0, 1, 2, 3]][:1])
    other = fem.TetMesh(np.eye(4, 3), [[0, 2, 1, 3]])
    assert mesh.volume == pytest.approx(1 / 6)
    assert other.volume == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("points", "tets", "words"),
    [
        (np.zeros((4, 3)), [[0, 1, 2, 3]], "has no volume"),
        (np.eye(4, 3), [[0, 1, 2, 4]], "must name points 0 to 3"),
        (np.eye(5, 3), [[0, 1, 2, 3]], "belong to no tetrahedron"),
        (np.vstack([np.eye(4, 3), np.eye(4, 3) + 5]), [[0, 1, 2, 3], [4, 5, 6, 7]], "2 separate pieces"),
        (np.eye(4, 3), [[0, 1, 2, 3], [1, 0, 2, 3]], "appear twice"),
        (np.full((4, 3), np.nan), [[0, 1, 2, 3]], "TetMesh.points"),
        (np.eye(4, 3), [[0.5, 1, 2, 3]], "TetMesh.tets"),
        (np.eye(4, 3), np.zeros((0, 4), int), "TetMesh.tets"),
    ],
)
def test_a_bad_mesh_is_refused(points, tets, words):
    with pytest.raises(ag.DescriptionError, match=words):
        fem.TetMesh(points, tets)


def test_points_are_found_inside_tetrahedra():
    mesh = fem.block((0.1, 0.02, 0.02), (5, 2, 2))
    places = np.random.default_rng(0).uniform([0, -0.01, -0.01], [0.1, 0.01, 0.01], (30, 3))
    tet, bary = locate(mesh, places, "places")
    np.testing.assert_allclose(np.einsum("ka,kai->ki", bary, mesh.points[mesh.tets[tet]]), places, atol=1e-15)
    assert bary.min() > -1e-9
    with pytest.raises(ag.DescriptionError, match="lies outside the mesh"):
        locate(mesh, (0.2, 0, 0), "places")
