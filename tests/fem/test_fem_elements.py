"""Elements: patch test, another library's stiffness, tangents against differences, frame indifference."""

import numpy as np
import pytest
from fem_bodies import RUBBER, bar, dense, everything, moved, times

import anguilla as ag
from anguilla import fem
from anguilla.fem.assembly import STIFFNESS, assemble
from anguilla.fem.lanes import WORK, assemble_lanes, make_lanes
from anguilla.lie import exp3, log3

LAWS = ("corotational", "st_venant", "neo_hookean")
ELEMENTS = ("linear", "averaged", "quadratic")


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("law", LAWS)
def test_patch_of_uniform_strain_is_exact(law, element):
    """Inside nodes of a distorted mesh, with a linear map on the outside, land on the linear map."""
    mesh = fem.block((0.03, 0.02, 0.02), (3, 2, 2))
    rng = np.random.default_rng(3)
    outer = np.unique(mesh.boundary)
    points = mesh.points.copy()
    inner = np.setdiff1d(np.arange(len(points)), outer)
    points[inner] += rng.uniform(-2e-3, 2e-3, (len(inner), 3))
    mesh = fem.TetMesh(points, mesh.tets)
    body = fem.SoftBody("patch", mesh, RUBBER, law=law, element=element, gravity=(0, 0, 0))
    body.fix(outer)
    system = fem.SoftSystem(body)
    F = exp3([0.3, -0.2, 0.5]) @ (np.eye(3) + 0.02 * rng.standard_normal((3, 3)))
    x = system.rest.x @ F.T
    free = system.unknowns.free
    assert len(free) > 0
    x[free] += 1e-4 * rng.standard_normal((len(free), 3))
    eq = fem.statics(system, start=fem.SoftState(x, system.rest.rotations), tolerance=1e-13)
    assert np.abs(eq.x - system.rest.x @ F.T).max() < 1e-12 * 0.04 * 10


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_stiffness_at_rest_is_that_of_scikit_fem(element):
    skfem = pytest.importorskip("skfem")
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    mesh = fem.block((0.03, 0.02, 0.02), (3, 2, 2))
    body = fem.SoftBody("b", mesh, RUBBER, element=element)
    body.fix([0])  # one corner, left out of the comparison
    system = fem.SoftSystem(body)
    _, gradient, blocks = system.evaluate(system.rest, np.zeros(0), stiffness=True)
    own = dense(system, system.unknowns.fold(system.rest.x, blocks, gradient))
    other = skfem.MeshTet(mesh.points.T.copy(), mesh.tets.T.copy())
    kind = skfem.ElementTetP1() if element == "linear" else skfem.ElementTetP2()
    basis = skfem.Basis(other, skfem.ElementVector(kind), intorder=2)
    K = linear_elasticity(*lame_parameters(1e6, 0.3)).assemble(basis).toarray()
    places = basis.doflocs.T  # one row per unknown, in the order x, y, z at each place
    number = {}
    for row, place in enumerate(places):
        number.setdefault(tuple(np.round(place, 9)), []).append(row)
    take = np.concatenate([number[tuple(np.round(p, 9))] for p in system.rest.x[system.unknowns.free]])
    assert np.abs(own - K[np.ix_(take, take)]).max() < 1e-12 * np.abs(K).max()


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("law", LAWS)
def test_tangent_of_everything_against_differences(law, element):
    system = fem.SoftSystem(everything(law, element))
    rng = np.random.default_rng(1)
    u, efforts = system.unknowns, np.array([3.0, 2e4])
    state = moved(system, system.rest, rng.standard_normal((u.size, 3)), 1.5e-4)
    d = rng.standard_normal((u.size, 3))
    energy, gradient, blocks = system.evaluate(state, efforts, stiffness=True)
    force = u.gather(state.x, gradient[None])[0]
    Kd = times(system, u.fold(state.x, blocks, gradient), d)

    def energy_at(h):
        return system.evaluate(moved(system, state, d, h), efforts)[0]

    def force_at(h):
        at = moved(system, state, d, h)
        return u.gather(at.x, system.evaluate(at, efforts)[1][None])[0].reshape(-1, 3)

    def derivative(f, h):  # fourth order
        return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h)

    h = 1e-6
    assert derivative(energy_at, h) == pytest.approx(force @ d.ravel(), rel=1e-6)
    # the rotation of a rigid part is updated from the left, so its own rows are compared by the energy only
    free = len(u.free)
    assert np.abs(derivative(force_at, h)[:free] - Kd[:free]).max() < 1e-7 * np.abs(Kd).max()
    second = (16.0 * (energy_at(h) + energy_at(-h)) - energy_at(2 * h) - energy_at(-2 * h) - 30.0 * energy) / (
        12.0 * h * h
    )
    assert second == pytest.approx(d.ravel() @ Kd.ravel(), rel=1e-6)


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_rows_against_differences(element):
    system = fem.SoftSystem(everything(element=element))
    rng = np.random.default_rng(2)
    u = system.unknowns
    state = moved(system, system.rest, rng.standard_normal((u.size, 3)), 1.5e-4)
    d = rng.standard_normal((u.size, 3))
    h = 1e-7
    before, after = moved(system, state, d, -h), moved(system, state, d, h)
    for rows, value in (
        (system.actuator_rows(state), system.strokes),
        (system.sensor_rows(state), system.readings),
    ):
        change = (value(after) - value(before)) / (2 * h)
        np.testing.assert_allclose(u.gather(state.x, rows) @ d.ravel(), change, rtol=1e-6)
    rate = u.gather(state.x, system.frames.gradient(state.x)) @ d.ravel()
    move = (system.frames.position(after.x, 0) - system.frames.position(before.x, 0)) / (2 * h)
    turn = log3(system.frames.rotation(after.x, 0) @ system.frames.rotation(before.x, 0).T) / (2 * h)
    np.testing.assert_allclose(rate, np.r_[move, turn], rtol=1e-6)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("law", LAWS)
def test_energy_does_not_feel_rigid_motion(law, element):
    system = fem.SoftSystem(bar(cells=(3, 2, 2), law=law, element=element))
    rng = np.random.default_rng(5)
    x = system.rest.x + 3e-4 * rng.standard_normal(system.rest.x.shape)
    R = exp3([1.0, -2.0, 0.7])
    energy, gradient, _ = system.evaluate(fem.SoftState(x, system.rest.rotations), np.zeros(0))
    turned, other, _ = system.evaluate(fem.SoftState(x @ R.T + [1.0, 2.0, 3.0], system.rest.rotations), np.zeros(0))
    assert turned == pytest.approx(energy, rel=1e-10)
    np.testing.assert_allclose(other, gradient @ R.T, atol=1e-9 * np.abs(gradient).max())
    assert np.abs(gradient.sum(axis=0)).max() < 1e-12 * np.abs(gradient).max()  # no net force, no net moment
    assert np.abs(np.cross(x, gradient).sum(axis=0)).max() < 1e-13 * np.abs(gradient).max()


@pytest.mark.parametrize("law", LAWS)
def test_uniaxial_traction_has_its_closed_form(law):
    """Stretch s along x with free sides: W minimal over the side stretch c, force = dW/ds."""
    E, nu, s = 1e6, 0.3, 1.2
    mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    if law == "corotational":
        c = 1 - nu * (s - 1)
        stress = E * (s - 1)
    elif law == "st_venant":
        e = (s * s - 1) / 2
        c = np.sqrt(1 - 2 * nu * e)
        stress = s * E * e
    else:
        from scipy.optimize import brentq

        side = lambda c: mu * (c - 1 / c) + lam * np.log(s * c * c) / c
        c = brentq(side, 0.5, 1.0, xtol=1e-15)
        stress = mu * (s - 1 / s) + lam * np.log(s * c * c) / s
    mesh = fem.block((0.02, 0.02, 0.02), (2, 2, 2))
    body = fem.SoftBody("cube", mesh, RUBBER, law=law, gravity=(0, 0, 0))
    body.fix(lambda p: (p[:, 0] < 1e-9) | (p[:, 0] > 0.02 - 1e-9), "x")
    body.fix(lambda p: np.abs(p[:, 1]) < 1e-9, "y")
    body.fix(lambda p: np.abs(p[:, 2]) < 1e-9, "z")
    system = fem.SoftSystem(body)
    x = system.rest.x * [s, 1.0, 1.0]
    eq = fem.statics(system, start=fem.SoftState(x, system.rest.rotations))
    np.testing.assert_allclose(eq.x, system.rest.x * [s, c, c], atol=1e-12)
    _, gradient, _ = system.evaluate(eq.state, eq.efforts)
    pull = gradient[mesh.points[:, 0] > 0.02 - 1e-9, 0].sum()
    assert pull == pytest.approx(stress * 0.02**2, rel=1e-9)


def test_a_layer_stretches_as_a_plane_sheet():
    """A skin on a soft cube adds E t / (1 - nu^2) of its own in plane strain across."""
    skin = ag.Material(young=1e9, poisson=0.25, density=1000.0)
    soft = ag.Material(young=1.0, poisson=0.25, density=1000.0)
    mesh = fem.block((0.02, 0.02, 0.01), (2, 2, 1))
    top = mesh.boundary[np.all(mesh.points[mesh.boundary][:, :, 2] > 0.005 - 1e-9, axis=1)]
    body = fem.SoftBody("cube", mesh, soft, gravity=(0, 0, 0))
    body.fix("base")
    body.cover(fem.Layer(top, 1e-3, skin))
    system = fem.SoftSystem(body)
    s = 1.05
    energy, gradient, _ = system.evaluate(fem.SoftState(system.rest.x * [s, 1, 1], system.rest.rotations), np.zeros(0))
    e = (s * s - 1) / 2
    sheet = 1e9 / (1 - 0.25**2) * 1e-3 * 0.02
    pull = gradient[mesh.nodes["tip"], 0].sum()
    assert pull == pytest.approx(sheet * s * e, rel=1e-6)
    assert energy == pytest.approx(0.5 * sheet * 0.02 * e * e, rel=1e-6)


def test_eight_at_a_time_equals_one_by_one():
    """The vector kernel of corotational tetrahedra against the plain one, in a state of large strains and rotations."""
    system = fem.SoftSystem(bar(cells=(5, 1, 1)))  # 30 elements: the last group is not full
    rng = np.random.default_rng(8)
    assert len(system.elements.nodes) % 8
    x = 1.3 * system.rest.x @ exp3([0.7, 2.0, -1.0]).T + 6e-4 * rng.standard_normal(system.rest.x.shape)
    assert np.abs(np.linalg.det(x[system.elements.nodes[:, 1:]] - x[system.elements.nodes[:, :1]])).min() > 0
    force, blocks = np.zeros_like(x), np.zeros((len(system.pattern.rows), 9))
    none = system.no_history
    energy, bad = assemble(system.elements, system.stars, x, system.node_pressure, 1.7, none, force, blocks, STIFFNESS)
    assert bad == -1
    other, tangent = np.zeros_like(x), np.zeros_like(blocks)
    again, bad = assemble_lanes(make_lanes(system.elements), x, 1.7, np.zeros(WORK), other, tangent)
    assert bad == -1
    assert again == pytest.approx(energy, rel=1e-13)
    np.testing.assert_allclose(other, force, atol=1e-13 * np.abs(force).max())
    np.testing.assert_allclose(tangent, blocks, atol=1e-13 * np.abs(blocks).max())


def test_eight_at_a_time_see_an_inverted_element():
    system = fem.SoftSystem(bar(cells=(5, 1, 1)))
    x = system.rest.x.copy()
    x[system.elements.nodes[-1, 0]] += [-0.1, 0, 0]
    energy, _, _ = system.evaluate(fem.SoftState(x, system.rest.rotations), np.zeros(0), stiffness=True)
    assert energy == np.inf
