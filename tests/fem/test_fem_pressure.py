"""Pressure in chambers: consistent loads, exact tangents, caps that are no faces of the mesh, and Lame's closed forms."""

import numpy as np
import pytest
from fem_bodies import RUBBER, moved, times

import anguilla as ag
from anguilla import fem
from anguilla.fem.lattice import lattice

STIFF = ag.Material(young=1e6, poisson=0.3, density=1.0)


def polygon(ring):
    """Triangles of a polygon, cut so that a half turn leaves the cuts where they are."""
    half = [ring[: len(ring) // 2 + 1], [*ring[len(ring) // 2 :], ring[0]]]
    return [(part[0], part[k], part[k + 1]) for part in half for k in range(1, len(part) - 1)]


def capped(mesh, inner):
    """The inside of a tube along x, closed by polygons that are no faces of its mesh, all turned the same way."""
    radius = np.linalg.norm(mesh.points[:, 1:], axis=1)
    wall = mesh.boundary[np.all(radius[mesh.boundary] < 1.001 * inner, axis=1)][:, ::-1]
    caps = []
    for x, sign in ((mesh.points[:, 0].min(), -1), (mesh.points[:, 0].max(), 1)):
        ring = np.flatnonzero((radius < 1.001 * inner) & (mesh.points[:, 0] == x))
        ring = ring[np.argsort(sign * np.arctan2(mesh.points[ring, 2], mesh.points[ring, 1]))]
        caps += polygon(list(ring))
    return np.concatenate([wall, np.array(caps)])


def pipe(element, cells=(6, 12, 1), fluid=0.0, gravity=(0, 0, 0)):
    mesh = fem.tube(0.06, 0.01, 0.013, cells)
    body = fem.SoftBody("pipe", mesh, RUBBER, element=element, gravity=gravity)
    body.fix("base")
    body.actuate("air", fem.Chamber(capped(mesh, 0.01), fluid_density=fluid))
    body.effector("tip", fem.Effector((0.06, 0, 0), radius=0.014))
    return body


@pytest.mark.parametrize("element", ["linear", "quadratic"])
@pytest.mark.parametrize("fluid", [0.0, 1e4])
def test_caps_that_are_no_faces_have_an_exact_tangent(element, fluid):
    system = fem.SoftSystem(pipe(element, (3, 8, 1), fluid, (0, 0, -9.81)))
    rng = np.random.default_rng(0)
    x = system.rest.x + 3e-4 * rng.standard_normal(system.rest.x.shape) * (system.unknowns.first >= 0)[:, None]
    state, u = fem.SoftState(x, system.rest.rotations), system.unknowns
    calm, loaded = np.zeros(1), np.array([5e4])
    # of the fluid alone: the elastic part is far stiffer and would hide a mistake
    air = fem.SoftSystem(pipe(element, (3, 8, 1), 0.0, (0, 0, -9.81)))
    part = lambda s, k: system.evaluate(s, loaded, stiffness=True)[k] - air.evaluate(s, calm, stiffness=True)[k]
    direction = rng.standard_normal((u.size, 3))
    h = 1e-6
    ends = [moved(system, state, direction, s * h) for s in (-1, 1)]
    force = (u.gather(x, (part(ends[1], 1) - part(ends[0], 1))[None]) / (2 * h)).reshape(-1, 3)
    exact = times(system, part(state, 2), direction)
    np.testing.assert_allclose(force, exact, atol=1e-7 * np.abs(exact).max())
    slope = (part(ends[1], 0) - part(ends[0], 0)) / (2 * h)
    assert slope == pytest.approx(float((u.gather(x, part(state, 1)[None])[0] * direction.ravel()).sum()), rel=1e-6)


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_a_straight_tube_under_pressure_stays_straight(element):
    eq = fem.statics(pipe(element), inputs={"air": 2e4})
    tip = eq.position("tip")
    assert tip[0] > 0.0602
    assert np.abs(tip[1:]).max() < 1e-9 * 0.06
    cap = np.pi * 0.01**2 * 0.955 * 2e4  # a polygon of twelve sides: 0.955 of the circle
    row = eq.system.actuator_rows(eq.system.rest)[0]
    tip_force = row[eq.system.rest.x[:, 0] > 0.0599].sum(axis=0) * 2e4
    np.testing.assert_allclose(tip_force, [cap, 0, 0], atol=1e-3 * cap)


@pytest.mark.parametrize("element", ["linear", "averaged", "quadratic"])
def test_a_uniform_pull_on_a_block_is_a_uniform_strain(element):
    """Hydrostatic tension on all of the boundary: u = p (1 - 2 nu) / E x exactly, up to the square of the strain."""
    mesh = fem.block((0.02, 0.02, 0.02), (2, 3, 2))
    body = fem.SoftBody("block", mesh, STIFF, element=element, gravity=(0, 0, 0))
    body.actuate("pull", fem.Chamber(mesh.boundary))
    corner, along, up = (np.argmin(np.linalg.norm(mesh.points - p, axis=1)) for p in
                         ((0, -0.01, -0.01), (0.02, -0.01, -0.01), (0, 0.01, -0.01)))  # fmt: skip
    body.fix([corner])
    body.fix([along], "yz")
    body.fix([up], "z")
    eq = fem.statics(body, inputs={"pull": 1.0})
    strain = 1.0 * (1 - 2 * 0.3) / 1e6
    rest = eq.system.rest.x
    np.testing.assert_allclose(eq.x - rest, strain * (rest - rest[corner]), atol=3e-6 * strain * 0.02)
    assert eq.stroke("pull") == pytest.approx(3 * strain * 8e-6, rel=1e-5)


def test_the_load_of_a_flat_face_of_six_nodes_is_a_third_at_each_middle():
    mesh = fem.block((0.02, 0.02, 0.02), (2, 2, 2))
    body = fem.SoftBody("block", mesh, STIFF, element="quadratic")
    body.fix("base")
    body.actuate("pull", fem.Chamber(mesh.boundary))
    system = fem.SoftSystem(body)
    load = system.actuator_rows(system.rest)[0]
    top = np.flatnonzero(np.abs(system.rest.x[:, 0] - 0.02) < 1e-12)
    assert np.abs(load[top[top < len(mesh.points)], 0]).max() < 1e-18
    middles = load[top[top >= len(mesh.points)], 0]
    area = 0.5 * 0.01**2  # of one triangle; inner edges have two of them
    assert sorted(set(np.round(middles / area * 3, 9))) == [1.0, 2.0]
    assert middles.sum() == pytest.approx(0.02**2, rel=1e-12)


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_the_volume_gained_is_the_integral_of_the_rows(element):
    system = fem.SoftSystem(pipe(element, (3, 8, 1)))
    rng = np.random.default_rng(1)
    x = system.rest.x + 1e-3 * rng.standard_normal(system.rest.x.shape)
    points, weights = np.polynomial.legendre.leggauss(3)  # the volume is a cubic of the way
    way, turns = x - system.rest.x, system.rest.rotations
    state = lambda part: fem.SoftState(system.rest.x + part * way, turns)
    rates = [np.sum(system.actuator_rows(state(0.5 * (1 + s)))[0] * way) for s in points]
    gained = system.strokes(fem.SoftState(x, system.rest.rotations))[0]
    assert 0.5 * weights @ rates == pytest.approx(gained, rel=1e-11)


def test_a_curved_face_encloses_the_volume_of_its_surface():
    """Middles moved out on a sphere: the volume inside comes near that of the sphere, far beyond that of the corners."""
    system = fem.SoftSystem(ball(1, "quadratic"))
    x = system.rest.x.copy()
    inside = np.unique(system.surfaces.face)
    x[inside] *= (0.01 / np.linalg.norm(x[inside], axis=1))[:, None]
    volume = system.cavity_volumes(x)[0] / (4 / 3 * np.pi * 0.01**3)
    assert volume == pytest.approx(1.0, abs=0.012)
    assert system._rest_volume[0] / (4 / 3 * np.pi * 0.01**3) < 0.83


def ball(n, element, inner=0.01, outer=0.02):
    """A thick sphere: a cube of boxes with a hole, its shells made round; each octant is held by its symmetry."""
    count = 4 * n
    hole = np.zeros((count,) * 3, dtype=bool)
    hole[(slice(n, 3 * n),) * 3] = True

    def place(g):
        u = g / (2 * n) - 1.0
        shell = np.abs(u).max(axis=1)
        u = np.tan(0.25 * np.pi * u / np.maximum(shell, 1e-9)[:, None])
        radius = inner + (outer - inner) * (2 * shell - 1.0)
        return u * (radius / np.maximum(np.linalg.norm(u, axis=1), 1e-9))[:, None]

    mesh = lattice((count,) * 3, place, keep=~hole, holes={"chamber": hole})
    body = fem.SoftBody("ball", mesh, STIFF, element=element, gravity=(0, 0, 0))
    for axis in range(3):
        body.fix(lambda p, a=axis: np.abs(p[:, a]) < 1e-9, "xyz"[axis])
    body.actuate("air", fem.Chamber("chamber"))
    return body


def lame_sphere(r, p, a=0.01, b=0.02, E=1e6, nu=0.3):
    return p * a**3 / (b**3 - a**3) * ((1 - 2 * nu) * r / E + (1 + nu) * b**3 / (2 * E * r**2))


@pytest.mark.slow
def test_a_thick_sphere_swells_as_lame_says():
    """Edges are straight, so a mesh is smaller than its sphere: the error falls as 1/n^2, alike at all nodes."""
    errors = []
    for n in (1, 2):
        eq = fem.statics(ball(n, "quadratic"), inputs={"air": 10.0})
        rest = eq.body.mesh.points
        r = np.linalg.norm(rest, axis=1)
        u = np.einsum("ni,ni->n", eq.points - rest, rest) / r
        errors.append(u[r < 0.01001] / lame_sphere(0.01, 10.0) - 1.0)
    coarse, fine = (float(e.mean()) for e in errors)
    assert abs((4 * fine - coarse) / 3) < 0.015
    assert np.ptp(errors[1]) < 0.03
    assert errors[1].max() < 0.0  # nowhere more than the sphere itself


def swollen(around):
    """Radial displacement of a ring over that of Lame's, (n,): plane strain between caps that are held along the axis."""
    a, b, p, E, nu = 0.01, 0.02, 10.0, 1e6, 0.3
    mesh = fem.tube(0.01, a, b, (2, around, 3))
    body = fem.SoftBody("ring", mesh, STIFF, element="quadratic", gravity=(0, 0, 0))
    body.fix("base", "x")
    body.fix("tip", "x")
    body.fix(lambda q: np.abs(q[:, 1]) < 1e-9, "y")
    body.fix(lambda q: np.abs(q[:, 2]) < 1e-9, "z")
    body.actuate("air", fem.Chamber(capped(mesh, a)))
    eq = fem.statics(body, inputs={"air": p})
    rest = mesh.points
    r = np.linalg.norm(rest[:, 1:], axis=1)
    u = np.einsum("ni,ni->n", (eq.points - rest)[:, 1:], rest[:, 1:]) / r
    return u / ((1 + nu) / E * p * a**2 / (b**2 - a**2) * ((1 - 2 * nu) * r + b**2 / r))


def test_a_thick_cylinder_swells_as_lame_says():
    coarse, fine = swollen(16), swollen(32)
    np.testing.assert_allclose(fine, 1.0, atol=0.01)
    assert (4 * fine.mean() - coarse.mean()) / 3 == pytest.approx(1.0, abs=2e-3)
