"""Equilibria against beam theory, balances, and other solvers."""

import numpy as np
import pytest
from fem_bodies import RUBBER, bar, dense, everything

import anguilla as ag
from anguilla import fem
from anguilla.fem.lattice import lattice
from anguilla.fem.linear import make_solver

LENGTH, SIDE, YOUNG = 0.1, 0.01, 1e6
SECOND = SIDE**4 / 12.0


def deflection(load, poisson):
    """Tip of a cantilever by Timoshenko, shear factor 5/6."""
    shear = YOUNG / (2 * (1 + poisson))
    return load * LENGTH**3 / (3 * YOUNG * SECOND) + load * LENGTH / (5 / 6 * shear * SIDE**2)


def bent(cells, poisson=0.3, load=1e-3, **options):
    material = ag.Material(young=YOUNG, poisson=poisson, density=1000.0)
    body = bar(cells, material=material, **options)
    body.load(fem.PointForce((LENGTH, 0, 0), (0, 0, -load)))
    return -fem.statics(body).position("tip")[2] / deflection(load, poisson)


@pytest.mark.slow
def test_linear_tetrahedra_approach_beam_theory_with_order_two():
    ratios = np.array([bent((10 * k, k, k)) for k in (2, 4, 8)])
    # a clamped end holds the sides, so the limit is a little stiffer than beam theory: take it from quadratic elements
    limit = bent((40, 4, 4), element="quadratic")
    errors = limit - ratios
    orders = np.log2(errors[:-1] / errors[1:])
    assert np.all(orders > 1.3), orders
    assert orders[-1] > 1.6
    assert ratios[0] == pytest.approx(0.604, abs=0.01)  # this is what two linear elements through the thickness give


@pytest.mark.slow
def test_averaged_tetrahedra_approach_the_same_limit():
    ratios = np.array([bent((10 * k, k, k), 0.49, element="averaged") for k in (2, 4, 6)])
    errors = bent((40, 4, 4), 0.49, element="quadratic") - ratios
    assert np.log(errors[0] / errors[2]) / np.log(3.0) > 1.4


def test_quadratic_tetrahedra_bend_like_a_beam():
    assert bent((20, 2, 2), 0.3, element="quadratic") == pytest.approx(1.0, abs=0.012)
    coarse, fine = (bent((10 * k, k, k), element="quadratic") for k in (1, 2))
    limit = bent((40, 4, 4), element="quadratic")
    assert np.log2((limit - coarse) / (limit - fine)) > 2.0


def test_two_quadratic_elements_through_the_thickness_do_not_lock():
    assert bent((20, 2, 2), 0.49, element="quadratic") == pytest.approx(1.0, abs=0.05)
    assert bent((20, 2, 2), 0.49) < 0.6  # linear ones do


def squeezed(n, element, poisson, cut):
    """Stiffness [N/m] of a cube held between two plates; cut "plain" or "mirrored" into tetrahedra."""
    flips = None if cut == "mirrored" else (np.zeros(n, int),) * 3
    mesh = lattice((n, n, n), lambda g: 0.02 * g / n, flips=flips)
    body = fem.SoftBody(
        "cube", mesh, ag.Material(young=1e6, poisson=poisson, density=1.0), element=element, gravity=(0, 0, 0)
    )
    body.fix(lambda p: (p[:, 0] < 1e-9) | (p[:, 0] > 0.02 - 1e-9))
    system = fem.SoftSystem(body)
    start = fem.SoftState(system.rest.x * [0.999, 1, 1], system.rest.rotations)
    return 2 * fem.statics(system, start=start).elastic_energy / (0.02 * 1e-3) ** 2


def test_averaging_takes_the_volume_lock_away():
    truth = squeezed(6, "quadratic", 0.4995, "mirrored")
    assert truth == pytest.approx(1.25 * 1e6 * 0.02, rel=0.01)  # between free sides (1) and the bulk modulus
    assert squeezed(4, "linear", 0.4995, "plain") > 9 * truth
    assert squeezed(4, "averaged", 0.4995, "plain") < 1.35 * truth
    assert squeezed(8, "averaged", 0.4995, "plain") < 1.12 * truth
    assert squeezed(8, "linear", 0.4995, "mirrored") < 1.1 * truth  # why the built-in shapes are cut so


def test_an_incompressible_material_is_refused():
    with pytest.raises(ag.DescriptionError, match=r"below 0\.4999"):
        fem.SoftBody("b", fem.block((1, 1, 1), (1, 1, 1)), ag.Material(young=1e6, poisson=0.5, density=1.0))


def test_reactions_carry_the_weight():
    body = bar(gravity=(0, 0, -9.81), material=ag.Material(young=1e6, poisson=0.4, density=1100.0))
    eq = fem.statics(body)
    np.testing.assert_allclose(eq.reaction(), [0, 0, 1100 * 1e-5 * 9.81], atol=1e-11)
    assert eq.imbalance < 1e-11
    assert eq.status.success


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_work_of_the_actuators_is_the_gain_of_energy(element):
    """dPi/d(effort) at equilibrium is minus the stroke (up to the constant rest length): d(Pi + T L0) / dT = -stroke."""
    system = fem.SoftSystem(everything(element=element))
    base = {"pull": 1.0, "air": 3e3}
    for name, h in (("pull", 1e-2), ("air", 30.0)):
        ends = [fem.statics(system, inputs=base | {name: base[name] + s * h}) for s in (-1, 1)]
        rest = {"pull": system._rest_length[0], "air": -system._rest_volume[0]}[name]
        slope = (ends[1].energy - ends[0].energy) / (2 * h) - rest
        assert slope == pytest.approx(-fem.statics(system, inputs=base).stroke(name), rel=1e-4)


def test_a_given_stroke_is_reached_and_its_effort_gives_it_back():
    system = fem.SoftSystem(everything())
    driven = fem.statics(system, strokes={"pull": 2e-3, "air": 1e-6})
    assert driven.stroke("pull") == pytest.approx(2e-3, rel=1e-9)
    assert driven.stroke("air") == pytest.approx(1e-6, rel=1e-9)
    again = fem.statics(system, inputs=driven.inputs)
    np.testing.assert_allclose(again.x, driven.x, atol=1e-10)


@pytest.mark.parametrize("solver", ["splu", "mkl"])
def test_all_linear_solvers_agree(solver):
    if solver == "mkl":
        pytest.importorskip("pypardiso")
    inputs = {"pull": 1.0, "air": 3e3}
    one = fem.statics(everything(), inputs=inputs)
    two = fem.statics(everything(), inputs=inputs, solver=solver)
    np.testing.assert_allclose(one.x, two.x, atol=1e-11)


def test_pressure_in_a_closed_chamber_has_no_net_force():
    system = fem.SoftSystem(everything())
    x = system.rest.x + 1e-4 * np.random.default_rng(0).standard_normal(system.rest.x.shape)
    row = system.actuator_rows(fem.SoftState(x, system.rest.rotations))[1]
    assert np.abs(row.sum(axis=0)).max() < 1e-15
    assert np.abs(np.cross(x, row).sum(axis=0)).max() < 1e-17


def test_the_fluid_in_a_chamber_weighs_what_it_should():
    eq = fem.statics(everything(), inputs={"air": 1e3})
    solid = 1000 * eq.body.mesh.volume
    np.testing.assert_allclose(eq.reaction(), [0, 0, 9.81 * (solid + 1000 * eq.volume("air"))], atol=1e-9)


def test_a_rigid_part_keeps_its_shape_and_balances():
    eq = fem.statics(everything(), inputs={"pull": 3.0})
    nodes = eq.body.mesh.nodes["tip"]
    rest = eq.body.mesh.points[nodes]
    apart = lambda p: np.linalg.norm(p[:, None] - p[None], axis=2)
    np.testing.assert_allclose(apart(eq.points[nodes]), apart(rest), atol=1e-15)
    assert eq.imbalance < 1e-9


def test_friction_weakens_a_tendon():
    def tip(friction):
        body = bar((10, 2, 2))
        guides = [(x, 0, 0.004) for x in np.linspace(0.0, 0.1, 6)]
        body.actuate("pull", fem.Tendon(guides, friction=friction))
        return fem.statics(body, inputs={"pull": 1.0}).position("tip")[2]

    free, rough = tip(0.0), tip(0.5)
    assert 0.9 * free < rough < 0.985 * free


@pytest.mark.parametrize("law", ["corotational", "st_venant", "neo_hookean"])
def test_large_loads_go_in_steps(law):
    material = ag.Material(young=1e5, poisson=0.3, density=1000.0)
    body = bar((20, 2, 2), material=material, law=law, gravity=(0, 0, -25.0))
    eq = fem.statics(body)
    assert eq.status.success
    assert eq.position("tip")[2] < -0.015
    assert eq.imbalance < 1e-9


def test_failures_are_clear():
    body = fem.SoftBody("loose", fem.block((0.1, 0.02, 0.02), (4, 2, 2)), RUBBER)
    with pytest.raises(ag.DescriptionError, match="is not held"):
        fem.statics(body)
    body.fix("base", "x")  # it can still slide and turn
    with pytest.raises(ag.SolverError, match="singular"):
        fem.statics(body)
    squashed = bar((4, 2, 2), gravity=(-1e7, 0, 0))
    with pytest.raises(ag.SolverError, match="stopped at") as caught:
        fem.statics(squashed)
    assert np.all(np.isfinite(caught.value.result.x))
    assert not caught.value.result.status.success


@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_solvers_count_negative_pivots_and_project_alike(shift):
    """A stiffness that is positive definite, and the same after a shift that makes it indefinite, against dense algebra."""
    pytest.importorskip("pypardiso")
    system = fem.SoftSystem(everything())
    u = system.unknowns
    _, gradient, blocks = system.evaluate(system.rest, np.array([1.0, 1e3]), stiffness=True)
    values = u.fold(system.rest.x, blocks, gradient)
    for k in (0, 4, 8):
        values[u.rows == u.cols, k] -= shift
    K = dense(system, values)
    b = np.random.default_rng(0).standard_normal((5, len(K)))
    truth = b @ np.linalg.solve(K, b.T)
    negative = int(np.sum(np.linalg.eigvalsh(K) < 0.0))
    assert (negative > 0) == (shift > 0.0)
    for name in ("ldl", "mkl"):
        solver = make_solver(name, u.points, u.rows, u.cols)
        assert solver.factor(values) == negative
        w, finish = solver.gram(b)
        np.testing.assert_allclose(w, truth, atol=1e-9 * np.abs(truth).max())
        c = np.arange(5.0)
        np.testing.assert_allclose(K @ finish(c), c @ b, atol=1e-9 * np.abs(c @ b).max())
        np.testing.assert_allclose(solver.solve(b) @ K, b, atol=1e-9 * np.abs(b).max())
        assert solver.factor(values) == negative  # again, on the same handle


@pytest.mark.parametrize("element", ["linear", "quadratic"])
@pytest.mark.parametrize("pad", [1e-3, 4e-3, 8e-3])
def test_a_pad_holds_a_guide_outside_the_mesh(element, pad):
    """A tendon 0.3 mm above the body turns it by its own lever arm, whatever holds it."""
    body = bar((10, 2, 2), element=element)
    with pytest.raises(ag.DescriptionError, match=r"0\.0003 m from it; a pad"):
        body.actuate("out", fem.Tendon([(0.0, 0, 0.0053), (0.1, 0, 0.0053)]))
    body.actuate("out", fem.Tendon([(0.0, 0, 0.0053), (0.1, 0, 0.0053)], pad=pad))
    system = fem.SoftSystem(body)
    assert system._rest_length[0] == pytest.approx(0.1, rel=1e-12)
    pull = system.actuator_rows(system.rest)[0]
    tip = system.rest.x[:, 0] > 0.05
    np.testing.assert_allclose(pull[tip].sum(axis=0), [-1, 0, 0], atol=1e-12)
    moment = np.cross(system.rest.x[tip], pull[tip]).sum(axis=0)
    np.testing.assert_allclose(moment, [0, -0.0053, 0], atol=1e-12)
    with pytest.raises(ag.DescriptionError, match="lies outside the mesh"):
        body.actuate("far", fem.Tendon([(0.0, 0, 0.005), (0.1, 0, 0.0151)], pad=pad))


def test_springs_hold_a_body_that_nothing_else_holds():
    """A stiff bed on four springs, with its weight out of the middle: each corner sinks as those of a rigid plate."""
    size, stiff, mass = np.array([0.1, 0.05, 0.02]), 2000.0, 0.2
    firm = ag.Material(young=1e9, poisson=0.3, density=1000.0)
    body = fem.SoftBody("bed", fem.block(size, (4, 2, 1)), firm)
    corners = np.array([(x, y, -0.01) for x in (0.0, 0.1) for y in (-0.025, 0.025)])
    for k, corner in enumerate(corners):
        body.load(fem.Spring(corner, stiff))
        body.effector(f"c{k}", corner)
    body.load(fem.PointMass((0.075, 0.0, 0.0), mass))
    eq = fem.statics(body)
    found = np.array([eq.position(f"c{k}")[2] + 0.01 for k in range(4)])
    weight, arm = 9.81 * (1000.0 * size.prod() + mass), 9.81 * mass * 0.025
    tilt = arm / (4.0 * stiff * 0.05**2)
    tipped = -weight / (4.0 * stiff) - tilt * (corners[:, 0] - 0.05)
    assert found.max() / found.min() < 0.6
    assert found == pytest.approx(tipped, rel=5e-3)
    assert -stiff * found.sum() == pytest.approx(weight, rel=1e-9)


def test_a_spring_across_keeps_a_bar_on_rollers_from_sliding():
    even = ag.Material(young=1e6, poisson=0.0, density=1000.0)
    body = fem.SoftBody("bar", fem.block((0.1, 0.02, 0.02), (4, 1, 1)), even, gravity=(0, 0, 0))
    body.fix("base", "x")
    body.fix([0], "yz")
    body.load(fem.Spring((0.0, 0.01, 0.01), (0.0, 1e4, 1e4)))
    body.load(fem.Traction("tip", (1e3, 0.0, 0.0)))
    eq = fem.statics(body)  # the spring is idle, but nothing else keeps it from turning about x
    assert eq.x[body.mesh.nodes["tip"], 0] == pytest.approx(0.1 * (1.0 + 1e3 / even.young), rel=1e-9)
    loose = fem.SoftBody("bar", body.mesh, even, gravity=(0, 0, 0))
    loose.load(fem.Spring((0.0, 0.01, 0.01), 1e4))  # it can turn about that point
    with pytest.raises(ag.SolverError, match="singular"):
        fem.statics(loose)
