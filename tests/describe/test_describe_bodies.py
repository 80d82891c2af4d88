"""Rigid bodies: inertia that a body can have, common shapes, principal axes."""

import numpy as np
import pytest

from anguilla.describe import RigidBody, Shape
from anguilla.errors import DescriptionError


def rotation(*angles):
    """Product of rotations about z, y and x."""
    c, s = np.cos(angles), np.sin(angles)
    z = np.array([[c[0], -s[0], 0], [s[0], c[0], 0], [0, 0, 1]])
    y = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
    x = np.array([[1, 0, 0], [0, c[2], -s[2]], [0, s[2], c[2]]])
    return z @ y @ x


def cloud_inertia(points, density):
    """Mass and inertia about the origin of a fine regular cloud of points (n, 3), each of unit volume share."""
    mass = density * np.ones(len(points))
    moments = np.einsum("k,ki,kj->ij", mass, points, points)
    return np.sum(mass), np.trace(moments) * np.eye(3) - moments


def test_fields_are_cleaned():
    body = RigidBody(2, inertia=np.array([1, 2, 3]), com=[0, 0, 1], name="hand")
    assert body.mass == 2.0 and body.inertia == (1.0, 2.0, 3.0) and body.com == (0.0, 0.0, 1.0)
    np.testing.assert_array_equal(body.inertia_matrix, np.diag([1, 2, 3]))
    assert body == RigidBody(2, (1, 2, 3), (0, 0, 1), "hand") and body.shape is None
    body.inertia_matrix[0, 0] = 9
    assert body.inertia_matrix[0, 0] == 1


def test_a_matrix_is_kept_and_made_symmetric():
    matrix = rotation(0.1, 0.2, 0.3) @ np.diag([1, 2, 2.5]) @ rotation(0.1, 0.2, 0.3).T
    body = RigidBody(1, inertia=matrix + 1e-8 * np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]))
    np.testing.assert_allclose(body.inertia_matrix, matrix, atol=1e-8)
    np.testing.assert_array_equal(body.inertia_matrix, body.inertia_matrix.T)
    assert body == RigidBody(1, inertia=body.inertia_matrix)


def test_a_point_mass_has_no_inertia():
    body = RigidBody.point_mass(0.5, com=(1, 0, 0), name="bob")
    assert body == RigidBody(0.5, com=(1, 0, 0), name="bob") and body.inertia is None
    np.testing.assert_array_equal(body.inertia_matrix, np.zeros((3, 3)))
    np.testing.assert_array_equal(body.principal()[0], np.zeros(3))


GRID = (np.arange(60) + 0.5) / 60 - 0.5
CUBE = np.stack(np.meshgrid(GRID, GRID, GRID, indexing="ij"), axis=-1).reshape(-1, 3)


@pytest.mark.parametrize(
    ("body", "points", "widths"),
    [
        (RigidBody.box((0.1, 0.2, 0.3), density=500), CUBE, (0.1, 0.2, 0.3)),
        (RigidBody.cylinder(0.1, 0.5, density=500), CUBE[np.hypot(CUBE[:, 1], CUBE[:, 2]) < 0.5], (0.5, 0.2, 0.2)),
        (RigidBody.sphere(0.15, density=500), CUBE[np.linalg.norm(CUBE, axis=1) < 0.5], (0.3, 0.3, 0.3)),
    ],
)
def test_shapes_against_a_cloud_of_points(body, points, widths):
    mass, inertia = cloud_inertia(points * widths, 500 * np.prod(widths) / len(CUBE))
    assert body.mass == pytest.approx(mass, rel=2e-3)
    np.testing.assert_allclose(np.diag(body.inertia_matrix), np.diag(inertia), rtol=4e-3)
    assert body.com == (0.0, 0.0, 0.0)


def test_shapes_by_mass_and_by_density_agree():
    for make in (
        lambda **by: RigidBody.box((0.1, 0.2, 0.3), **by, com=(1, 0, 0), name="a"),
        lambda **by: RigidBody.cylinder(0.1, 0.3, **by, com=(1, 0, 0), name="a"),
        lambda **by: RigidBody.sphere(0.1, **by, com=(1, 0, 0), name="a"),
    ):
        dense = make(density=1000)
        assert make(mass=dense.mass) == dense and dense.com == (1.0, 0.0, 0.0) and dense.name == "a"


def test_shapes_are_recorded_for_drawing():
    assert RigidBody.box((1, 2, 3), mass=1).shape == Shape("box", (1.0, 2.0, 3.0))
    assert RigidBody.cylinder(1, 2, mass=1).shape == Shape("cylinder", (1.0, 2.0))
    assert RigidBody.sphere(2, mass=1).shape == Shape("sphere", (2.0,))
    assert RigidBody(1, shape=Shape("sphere", [0.1])).shape.size == (0.1,)


@pytest.mark.parametrize("angles", [(0.3, -0.7, 1.1), (2.0, 0.1, -3.0), (0.0, 0.0, 1e-9)])
def test_principal_axes(angles):
    R = rotation(*angles)
    body = RigidBody(1, inertia=R @ np.diag([3.0, 1.0, 2.5]) @ R.T)
    moments, axes = body.principal()
    np.testing.assert_allclose(moments, [1, 2.5, 3], rtol=1e-14)
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, body.inertia_matrix, atol=1e-14)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-14)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_a_diagonal_inertia_keeps_the_body_axes():
    for inertia in ((3, 1, 2.5), np.diag([3, 1, 2.5])):
        moments, axes = RigidBody(1, inertia=inertia).principal()
        np.testing.assert_array_equal(moments, [3, 1, 2.5])
        np.testing.assert_array_equal(axes, np.eye(3))


def test_bounds_of_what_a_body_can_have():
    RigidBody(1, inertia=(1, 1, 2))  # a flat disc
    RigidBody(1, inertia=(0, 1, 1))  # a thin bar
    RigidBody(1, inertia=(1, 1, 2 + 1e-7))  # a flat disc, rounded
    moments, _ = RigidBody(1, inertia=(-1e-9, 1, 1)).principal()
    assert moments[0] == 0.0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: RigidBody(0), "RigidBody.mass must be a positive number [kg]; got 0."),
        (lambda: RigidBody(-1), "RigidBody.mass must be a positive number [kg]"),
        (lambda: RigidBody(1, inertia=1), "RigidBody.inertia must be 3 diagonal terms or a symmetric 3x3 matrix"),
        (lambda: RigidBody(1, inertia=(1, 1)), "RigidBody.inertia must be 3 diagonal terms"),
        (lambda: RigidBody(1, inertia=(1, 1, np.nan)), "RigidBody.inertia must be 3 diagonal terms"),
        (lambda: RigidBody(1, inertia=[[1, 0, 0], [0.1, 1, 0], [0, 0, 1]]), "RigidBody.inertia must be symmetric; got"),
        (lambda: RigidBody(1, inertia=(-1, 1, 1)), "RigidBody.inertia must have no negative principal moment; got -1"),
        (lambda: RigidBody(1, inertia=(1, 1, 2.01)), "none exceeds the sum of the other two, as in every body; got 1,"),
        (lambda: RigidBody(1, com=(1, 2)), "RigidBody.com must be a vector of 3 finite numbers [m]; got (1, 2)."),
        (lambda: RigidBody(1, name="a b"), "RigidBody.name must be a name"),
        (lambda: RigidBody(1, shape="box"), "RigidBody.shape must be a Shape"),
        (lambda: RigidBody.box((1, 1, 0), mass=1), "RigidBody.box size must be 3 positive numbers"),
        (lambda: RigidBody.box(1, mass=1), "RigidBody.box size must be 3 positive numbers"),
        (
            lambda: RigidBody.box((1, 1, 1)),
            "RigidBody.box takes either mass or density; got mass=None and density=None",
        ),
        (lambda: RigidBody.sphere(1, mass=1, density=1), "RigidBody.sphere takes either mass or density; got mass=1"),
        (lambda: RigidBody.sphere(0, mass=1), "RigidBody.sphere radius must be a positive number [m]"),
        (lambda: RigidBody.sphere(1, density=-1), "RigidBody.sphere density must be a positive number [kg/m^3]"),
        (lambda: RigidBody.cylinder(1, -1, mass=1), "RigidBody.cylinder length must be a positive number [m]"),
        (lambda: RigidBody.cylinder(1, 1, mass=0), "RigidBody.cylinder mass must be a positive number [kg]"),
        (lambda: RigidBody.point_mass(0), "RigidBody.mass must be a positive number [kg]"),
        (lambda: Shape("cone", (1, 2)), "Shape.kind must be one of box, cylinder, sphere; got 'cone'."),
        (lambda: Shape("cylinder", (1,)), "Shape.size must be 2 positive numbers (radius, length) [m]"),
        (lambda: Shape("sphere", (-1,)), "Shape.size must be (radius,) [m]; got (-1,)."),
    ],
)
def test_bad_bodies(make, text):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert text in str(caught.value)


def test_a_bad_assignment_is_refused_and_the_old_value_kept():
    body = RigidBody(1, inertia=(1, 1, 1))
    with pytest.raises(DescriptionError, match=r"RigidBody\.inertia must have principal moments"):
        body.inertia = (1, 1, 5)
    with pytest.raises(DescriptionError, match="has no field 'mas'"):
        body.mas = 2
    body.mass = 2
    assert body == RigidBody(2, inertia=(1, 1, 1))
