"""Distances of shapes against closed forms, their gradients and curvatures against differences."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from anguilla.describe.splines import coefficients, interpolate
from anguilla.interact.kernels.distance import (
    AXES,
    BOX,
    CAPSULE,
    CYLINDER,
    GRID,
    HALF_SPACE,
    PILLAR,
    POINT,
    ROUND,
    SHAPE,
    SHAPE_SIZE,
    SIDE,
    SIZE,
    SPHERE,
    distances,
)

TURN = Rotation.from_rotvec([0.4, -0.9, 0.3]).as_matrix()  # columns are the axes of the shapes
CENTRE = np.array([0.1, -0.3, 0.2])
B, R, L, ROUNDED = np.array([0.3, 0.2, 0.1]), 0.2, 0.3, 0.04  # half widths; radius, half length; rounding


def row(kind, *sizes, side=1.0, rounded=0.0):
    out = np.zeros((1, SHAPE_SIZE))
    out[0, POINT : POINT + 3], out[0, AXES : AXES + 9], out[0, SHAPE], out[0, SIDE] = CENTRE, TURN.T.ravel(), kind, side
    out[0, SIZE : SIZE + len(sizes)] = sizes
    if rounded:
        out[0, ROUND] = rounded
    return out


def told(points, data, grid=None):
    """Distance, gradient and curvature of points (m, 3)."""
    m = len(points)
    d, n, N = np.zeros(m), np.zeros((m, 3)), np.zeros((m, 9))
    distances(np.ascontiguousarray(points), data, np.zeros(0) if grid is None else grid.ravel(), d, n, N)
    return d, n, N.reshape(m, 3, 3)


def box(y, b, rounded):
    """Signed distance of points in the axes of a box, by the nearest point."""
    core = b - rounded
    outside = np.linalg.norm(y - np.clip(y, -core, core), axis=1)
    return np.where(outside > 0.0, outside, -np.min(core - np.abs(y), axis=1)) - rounded


def cylinder(y):
    return box(np.stack([np.hypot(y[:, 1], y[:, 2]), y[:, 0]], axis=1), np.array([R, L]), ROUNDED)


def capsule(y):
    ends = np.stack([np.clip(y[:, 0], -L, L), 0 * y[:, 0], 0 * y[:, 0]], axis=1)
    return np.linalg.norm(y - ends, axis=1) - R


CLOSED = {
    "sphere": (row(SPHERE, R), lambda y: np.linalg.norm(y, axis=1) - R),
    "pillar": (row(PILLAR, R), lambda y: np.hypot(y[:, 1], y[:, 2]) - R),
    "capsule": (row(CAPSULE, R, L), capsule),
    "box": (row(BOX, *(B - ROUNDED), rounded=ROUNDED), lambda y: box(y, B, ROUNDED)),
    "cylinder": (row(CYLINDER, R - ROUNDED, L - ROUNDED, rounded=ROUNDED), cylinder),
}


def places(count, size, seed=0):
    return np.random.default_rng(seed).uniform(-size, size, (count, 3))


@pytest.mark.parametrize("kind", sorted(CLOSED))
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_distance_is_the_closed_form(kind, side):
    data, form = CLOSED[kind]
    data = data.copy()
    data[0, SIDE] = side
    y = places(400, 0.6)
    d, n, _ = told(CENTRE + y @ TURN.T, data)
    assert np.any(d > 0.0) and np.any(d < 0.0)
    np.testing.assert_allclose(d, side * form(y), atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0, atol=1e-14)


def test_distance_of_a_half_space():
    data = row(HALF_SPACE, 0.05)
    x = places(20, 1.0)
    d, n, N = told(x, data)
    np.testing.assert_allclose(d, x @ TURN[:, 0] - 0.05, atol=1e-15)
    np.testing.assert_allclose(n, np.tile(TURN[:, 0], (20, 1)), atol=1e-15)
    assert not np.any(N)


def differ(f, x, h):
    """Central differences of fourth order of f: (m, 3) -> (m, ...), along all three axes, the last of the result."""
    found = []
    for step in h * np.eye(3):
        at = [f(x + s * step) for s in (1, -1, 2, -2)]
        found.append((8.0 * (at[0] - at[1]) - (at[2] - at[3])) / (12.0 * h))
    return np.stack(found, axis=-1)


def smooth(x, data, grid, h):
    """Those points around which second derivatives do not jump: the differences of nearer and farther points agree."""
    N = lambda s: np.abs(told(s, data, grid)[2]).sum(axis=(1, 2))
    here = N(x)
    near = np.stack([N(x + s * step) for step in h * np.eye(3) for s in (-3, 3)])
    n = told(x, data, grid)[1]
    flips = np.stack([np.sum(told(x + s * step, data, grid)[1] * n, axis=1) for step in h * np.eye(3) for s in (-3, 3)])
    return x[(np.abs(near - here) < 0.05 * (1.0 + here)).all(axis=0) & (flips > 0.9).all(axis=0)]


@pytest.mark.parametrize("kind", sorted(CLOSED))
def test_gradient_and_curvature_are_those_of_the_distance(kind):
    data = CLOSED[kind][0]
    h = 1e-4
    x = smooth(CENTRE + places(600, 0.6, 1), data, None, h)
    x = x[np.abs(told(x, data)[2]).sum(axis=(1, 2)) < 100.0]  # not next to a centre or an axis
    assert len(x) > 300
    _, n, N = told(x, data)
    np.testing.assert_allclose(n, differ(lambda s: told(s, data)[0], x, h), atol=1e-8)
    np.testing.assert_allclose(N, differ(lambda s: told(s, data)[1], x, h), atol=1e-6)
    np.testing.assert_allclose(N, np.swapaxes(N, 1, 2), atol=1e-12)
    np.testing.assert_allclose(np.einsum("mij,mj->mi", N, n), 0.0, atol=1e-12)


COUNTS, SPACING = (7, 9, 6), 0.1


def a_grid(side=1.0, lift=0.0):
    values = np.random.default_rng(2).normal(size=COUNTS) + lift
    return values, coefficients(values), row(GRID, 0.0, *COUNTS, SPACING, side=side)


def tensor(values, u):
    """Natural cubic splines along one axis after the other."""
    for k in range(3):
        values = CubicSpline(np.arange(values.shape[0]), values, bc_type="natural")(u[k])
    return values


def test_grid_is_a_natural_spline():
    values, c, data = a_grid()
    assert c.shape == (9, 11, 8)
    u = np.random.default_rng(3).uniform(size=(50, 3)) * (np.array(COUNTS) - 1.0)
    u[0], u[1] = 0.0, np.array(COUNTS) - 1.0
    d, _, _ = told(CENTRE + SPACING * u @ TURN.T, data, c)
    np.testing.assert_allclose(d, [tensor(values, x) for x in u], atol=1e-12)
    np.testing.assert_allclose(interpolate(c, u), d, atol=1e-12)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("lift", [5.0, -5.0])  # beyond the box there are two rules, for positive and negative distances
def test_grid_gives_its_own_derivatives(side, lift):
    _, c, data = a_grid(side, lift)
    size = SPACING * (np.array(COUNTS) - 1.0)
    x = CENTRE + np.random.default_rng(4).uniform(-0.3, 1.3, (500, 3)) * size @ TURN.T
    h = 2e-4
    y = (x - CENTRE) @ TURN
    near_a_face = np.any(np.minimum(np.abs(y), np.abs(y - size)) < 3 * h, axis=1)  # there the gradient jumps
    x = x[~near_a_face]
    outside = np.any(((x - CENTRE) @ TURN < 0) | ((x - CENTRE) @ TURN > size), axis=1)
    assert 50 < outside.sum() < len(x) - 50
    _, n, N = told(x, data, c)
    np.testing.assert_allclose(n, differ(lambda s: told(s, data, c)[0], x, h), atol=1e-7 * np.abs(n).max())
    found = differ(lambda s: told(s, data, c)[1], x, h)
    inside_a_cell = np.all(np.abs((x - CENTRE) @ TURN / SPACING % 1.0 - 0.5) < 0.5 - 3 * h / SPACING, axis=1)
    np.testing.assert_allclose(N[inside_a_cell], found[inside_a_cell], atol=1e-6 * np.abs(N).max())
    np.testing.assert_allclose(N, np.swapaxes(N, 1, 2), atol=1e-12 * np.abs(N).max())


def test_beyond_its_box_a_grid_tells_no_more_than_the_true_distance():
    """Of a ball in the middle of the box: exact at the nearest point, and then at least the distance from the box."""
    half = SPACING * 0.5 * (np.array(COUNTS) - 1.0)
    at = np.stack(np.meshgrid(*(SPACING * np.arange(n) for n in COUNTS), indexing="ij"), axis=-1) - half
    c, data = coefficients(np.linalg.norm(at, axis=3) - 0.15), row(GRID, 0.0, *COUNTS, SPACING)
    y = places(300, 1.5, 7)
    y = y[np.any(np.abs(y) > half, axis=1)]
    d, _, _ = told(CENTRE + (y + half) @ TURN.T, data, c)
    nearest = np.clip(y, -half, half)
    assert np.all(d < np.linalg.norm(y, axis=1) - 0.15 + 1e-3)
    assert np.all(d > np.linalg.norm(y - nearest, axis=1))
    wanted = np.hypot(np.linalg.norm(nearest, axis=1) - 0.15, np.linalg.norm(y - nearest, axis=1))
    np.testing.assert_allclose(d, wanted, atol=2e-3)


def test_grid_goes_on_without_a_jump():
    """Of value and slope in cells, of the value at the faces of the grid."""
    _, c, data = a_grid()
    size = SPACING * (np.array(COUNTS) - 1.0)
    u = np.random.default_rng(5).uniform(size=(60, 3)) * size
    face, end = np.repeat(np.arange(3), 20), np.tile([0.0, 1.0], 30)
    u[np.arange(60), face] = end * size[face]
    step = 1e-9 * np.eye(3)[face]
    low, high = (told(CENTRE + (u + s * step) @ TURN.T, data, c)[0] for s in (-1, 1))
    np.testing.assert_allclose(low, high, atol=1e-6)
    edge = SPACING * np.random.default_rng(6).integers(1, 5, (60, 3))
    low, high = (told(CENTRE + (edge + s * step) @ TURN.T, data, c) for s in (-1, 1))
    for a, b in zip(low, high, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
