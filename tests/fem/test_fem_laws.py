"""Laws of rubber, fibres, prestrain, tractions, springs: closed forms, and tangents against differences."""

import numpy as np
import pytest
from fem_bodies import moved, times
from scipy.integrate import quad
from scipy.optimize import brentq, fsolve

import anguilla as ag
from anguilla import fem
from anguilla.fem.fields import cauchy

SOFT = ag.Material(young=3e5, poisson=0.45, density=1000.0)
LAWS = {
    "mooney": fem.MooneyRivlin(4e4, 1e4),
    "yeoh": fem.Yeoh(5e4, -3e3, 4e2),
    "ogden": fem.Ogden([(6e4, 1.8), (-2e3, -3.0), (10.0, 9.0)]),
}
ELEMENTS = ("linear", "averaged", "quadratic")
W = {  # energy of principal stretches at constant volume
    "mooney": lambda a, b, c: 4e4 * (a**2 + b**2 + c**2 - 3) + 1e4 * (a**-2 + b**-2 + c**-2 - 3),
    "yeoh": lambda a, b, c: (
        5e4 * (i := a**2 + b**2 + c**2 - 3) - 3e3 * i**2 + 4e2 * i**3
    ),
    "ogden": lambda a, b, c: sum(
        m / p * (a**p + b**p + c**p - 3) for m, p in [(6e4, 1.8), (-2e3, -3.0), (10.0, 9.0)]
    ),
}  # fmt: skip


def cube(law="corotational", element="linear", material=SOFT, cells=(2, 2, 2)):
    """A unit-like cube on three sliding planes: whatever it does is uniform."""
    body = fem.SoftBody(
        "cube", fem.block((0.1, 0.1, 0.1), cells), material, law=law, element=element, gravity=(0, 0, 0)
    )
    low = body.mesh.points.min(axis=0)
    for k, axis in enumerate("xyz"):
        body.fix(lambda p, k=k: p[:, k] < low[k] + 1e-9, axis)
    return body


def side(k):
    return lambda p: p[:, k] > p[:, k].max() - 1e-9


def stretches(eq):
    return np.ptp(eq.points, axis=0) / 0.1


def principal(name, bulk, l, h=1e-6):
    """First Piola-Kirchhoff stresses (3,) of stretches (3,), by central differences of the energy: another route."""

    def energy(s):
        volume = np.prod(s)
        return W[name](*(s / volume ** (1 / 3))) + 0.5 * bulk * np.log(volume) ** 2

    eye = np.eye(3)
    return np.array([(energy(l + h * e) - energy(l - h * e)) / (2 * h) for e in eye])


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", LAWS)
def test_tangent_of_rubber_fibres_springs_against_differences(name, element):
    body = fem.SoftBody("b", fem.finger(cells=(3, 2, 2)), SOFT, law=LAWS[name], element=element)
    body.fix("base")
    body.prestrain([[1.05, 0.02, 0.0], [0.0, 0.98, 0.0], [0.01, 0.0, 1.0]])
    body.reinforce(fem.Fibres(lambda p: np.stack([1 + 0 * p[:, 0], p[:, 0], 0.1 + 0 * p[:, 0]], axis=1), 3e4, 0.7))
    body.load(fem.Spring((0.1, 0.0, 0.003), (100.0, 200.0, 50.0), anchor=(0.12, 0.0, 0.0)))
    body.load(fem.Traction("tip", (1e3, 2e3, -5e2)))
    body.load(fem.PointMass((0.1, 0.0, 0.0), 0.02))
    system = fem.SoftSystem(body)
    rng = np.random.default_rng(2)
    u, none = system.unknowns, np.zeros(0)
    state = moved(system, system.rest, rng.standard_normal((u.size, 3)), 2e-4)
    d = rng.standard_normal((u.size, 3))
    _, gradient, blocks = system.evaluate(state, none, stiffness=True)
    force = u.gather(state.x, gradient[None])[0]
    Kd = times(system, u.fold(state.x, blocks, gradient), d)
    energy_at = lambda h: system.evaluate(moved(system, state, d, h), none)[0]
    force_at = lambda h: system.residual(moved(system, state, d, h), none).reshape(-1, 3)
    h = 1e-7
    slope = (8 * (energy_at(h) - energy_at(-h)) - (energy_at(2 * h) - energy_at(-2 * h))) / (12 * h)
    assert slope == pytest.approx(force @ d.ravel(), rel=1e-7)
    change = (8 * (force_at(h) - force_at(-h)) - (force_at(2 * h) - force_at(-2 * h))) / (12 * h)
    assert np.abs(change - Kd).max() < 1e-7 * np.abs(Kd).max()


@pytest.mark.parametrize("name", LAWS)
def test_stiffness_at_rest_is_that_of_hooke(name):
    """Equal stretches, where the formula for different ones divides by zero."""
    law = LAWS[name]
    mu, bulk = law.shear, law.bulk_for(0.45)
    young = 9 * bulk * mu / (3 * bulk + mu)
    same = ag.Material(young=young, poisson=young / (2 * mu) - 1, density=1000.0)
    blocks = []
    for body in (cube(law), cube("st_venant", material=same)):
        system = fem.SoftSystem(body)
        blocks.append(system.evaluate(system.rest, np.zeros(0), stiffness=True)[2])
    assert np.abs(blocks[0] - blocks[1]).max() < 1e-12 * np.abs(blocks[1]).max()


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", LAWS)
def test_uniaxial_and_biaxial_pull(name, element):
    law = LAWS[name]
    bulk = law.bulk_for(0.45)
    for pulled in ((0,), (0, 1)):
        body = cube(law, element)
        for k in pulled:
            body.load(fem.Traction(side(k), 6e4 * np.eye(3)[k]))
        l = stretches(fem.statics(body))
        goal = np.array([6e4 if k in pulled else 0.0 for k in range(3)])
        own = fsolve(lambda s: principal(name, bulk, s) - goal, l, xtol=1e-12)  # noqa: B023
        assert l == pytest.approx(own, rel=1e-7)
        assert l[0] > 1.1


@pytest.mark.parametrize("name", LAWS)
def test_nearly_incompressible_pull_is_the_textbook_curve(name):
    law = LAWS[name]
    stiff = type(law)(**{f: getattr(law, f) for f in law.__dataclass_fields__ if f != "bulk"}, bulk=1e10)
    body = cube(stiff, "averaged")
    body.load(fem.Traction(side(0), (8e4, 0, 0)))
    l = stretches(fem.statics(body))[0]
    if name == "mooney":
        nominal = 2 * (l - l**-2) * (4e4 + 1e4 / l)
    elif name == "yeoh":
        i = l**2 + 2 / l - 3
        nominal = 2 * (l - l**-2) * (5e4 - 2 * 3e3 * i + 3 * 4e2 * i**2)
    else:
        nominal = sum(m * (l ** (p - 1) - l ** (-p / 2 - 1)) for m, p in law.terms)
    assert nominal == pytest.approx(8e4, rel=2e-5)


@pytest.mark.parametrize("name", LAWS)
def test_simple_shear(name):
    system = fem.SoftSystem(cube(LAWS[name]))
    gamma = 0.8
    F = np.eye(3)
    F[0, 1] = gamma
    stress = cauchy(system, system.rest.x @ F.T)
    l = gamma / 2 + np.sqrt(1 + gamma**2 / 4)  # the larger stretch in the plane; volume is kept
    if name == "mooney":
        shear = 2 * (4e4 + 1e4) * gamma
    elif name == "yeoh":
        shear = 2 * gamma * (5e4 - 2 * 3e3 * gamma**2 + 3 * 4e2 * gamma**4)
    else:
        shear = sum(m * (l**p - l**-p) for m, p in LAWS[name].terms) / (l + 1 / l)
    assert np.allclose(stress[:, 0, 1], shear, rtol=1e-10)
    assert np.allclose(stress[:, 0, 0] - stress[:, 1, 1], gamma * stress[:, 0, 1], rtol=1e-9)  # Rivlin's relation


def sphere(level, layers, inner, outer):
    """A hollow sphere: a divided icosahedron times layers; each prism in three tetrahedra, cut by its points' numbers."""
    g = (1 + 5**0.5) / 2
    p = [np.array(v, float) for v in
         [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g),
          (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]]  # fmt: skip
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
             (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10),
             (8, 6, 7), (9, 8, 1)]  # fmt: skip
    for _ in range(level):
        middle, fresh = {}, []

        def mid(a, b, middle=middle):
            key = (min(a, b), max(a, b))
            if key not in middle:
                middle[key] = len(p)
                p.append(0.5 * (p[a] + p[b]))
            return middle[key]

        for a, b, c in faces:
            ab, bc, ca = mid(a, b), mid(b, c), mid(c, a)
            fresh += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = fresh
    unit = np.array([v / np.linalg.norm(v) for v in p])
    n = len(unit)
    points = np.concatenate([r * unit for r in np.linspace(inner, outer, layers + 1)])
    tets = []
    for k in range(layers):
        for face in faces:
            a, b, c = sorted(face)
            low, high = k * n, (k + 1) * n
            tets += [(low + a, low + b, low + c, high + c), (low + a, low + b, high + b, high + c),
                     (low + a, high + a, high + b, high + c)]  # fmt: skip
    return fem.TetMesh(points, np.array(tets), surfaces={"inside": np.array(faces)})


def test_inflation_of_a_sphere():
    """Pressure over stretch of a thick incompressible sphere: p = int dW/dl / (l^3 - 1) dl (Green and Shield)."""
    slope = lambda l, h=1e-6: (
        (W["mooney"]((l + h) ** -2, l + h, l + h) - W["mooney"]((l - h) ** -2, l - h, l - h)) / (2 * h)
    )
    inner, outer, pressure = 0.02, 0.03, 2.5e4
    law = fem.MooneyRivlin(4e4, 1e4, bulk=1e7)  # a hundred times the shear modulus
    body = fem.SoftBody("ball", sphere(1, 2, inner, outer), SOFT, law=law, element="quadratic", gravity=(0, 0, 0))
    for axes, where in (("xyz", 0), ("yz", 3), ("x", 4)):  # six numbers hold it; the load asks nothing of them
        body.fix([where], axes)
    body.actuate("air", fem.Chamber("inside"))
    eq = fem.statics(body, inputs={"air": pressure})
    l = (eq.volume("air") / (eq.volume("air") - eq.stroke("air"))) ** (1 / 3)
    assert l > 1.1 and np.abs(eq.reaction()).max() < 1e-9
    far = (1 + (inner / outer) ** 3 * (l**3 - 1)) ** (1 / 3)
    assert quad(lambda s: slope(s) / (s**3 - 1), far, l)[0] == pytest.approx(pressure, rel=5e-3)


def test_fibres_carry_tension_only():
    k, h, t = 5e4, 2.0, 4e4
    body = cube("st_venant", material=ag.Material(young=1e5, poisson=0.0, density=1e3))
    body.reinforce(fem.Fibres((1, 0, 0), k, h))
    body.load(fem.Traction(side(0), (t, 0, 0)))
    l = stretches(fem.statics(body))
    # St Venant without Poisson's effect: nominal stress l E (l^2 - 1) / 2, and that of the fibres
    own = lambda s: 1e5 * s * (s**2 - 1) / 2 + 2 * s * k * (s**2 - 1) * np.exp(h * (s**2 - 1) ** 2) - t
    assert l[0] == pytest.approx(brentq(own, 1.0, 2.0, xtol=1e-13), rel=1e-8)
    assert l[1:] == pytest.approx(1.0, abs=1e-9)
    body.tractions.clear()
    body.load(fem.Traction(side(0), (-1e4, 0, 0)))
    pressed = stretches(fem.statics(body))[0]
    assert pressed == pytest.approx(brentq(lambda s: 1e5 * s * (s**2 - 1) / 2 + 1e4, 0.7, 1.0, xtol=1e-13), rel=1e-8)


@pytest.mark.parametrize("law", ["corotational", "neo_hookean", LAWS["ogden"]])
def test_a_free_body_takes_its_natural_shape(law):
    body = cube(law, "quadratic", cells=(1, 1, 1))
    body.prestrain((1.1, 0.95, 1.02))
    eq = fem.statics(body)
    assert stretches(eq) == pytest.approx([1.1, 0.95, 1.02], rel=1e-9)
    assert eq.stress().max() < 1e-4 and abs(eq.elastic_energy) < 1e-12
    # held at the length of the mesh it presses as if it had been squeezed to it from its natural one
    body.fix(side(0), "x")
    held = fem.statics(body)
    free = cube(law, "quadratic", cells=(1, 1, 1))
    free.load(fem.Traction(side(0), (-1.0, 0, 0)))
    own = -held.reaction()[0]
    assert abs(own) < 1e-9  # both sides of the block press alike
    assert np.all(cauchy(held.system, held.x)[:, 0, 0] < -0.05 * 3e5)


def test_two_layers_of_which_one_swells_bend_as_timoshenko_says():
    mesh = fem.block((0.1, 0.004, 0.004), (40, 1, 4))
    upper = np.flatnonzero(mesh.points[mesh.tets].mean(axis=1)[:, 2] > 0)
    mesh = fem.TetMesh(mesh.points, mesh.tets, mesh.nodes, mesh.surfaces, {"upper": upper})
    body = fem.SoftBody(
        "strip", mesh, ag.Material(young=1e6, poisson=0.0, density=1e3), element="quadratic", gravity=(0, 0, 0)
    )
    body.fix("base")
    body.effector("tip", (0.1, 0, 0))
    strain = 1e-3
    body.prestrain((1 + strain, 1, 1), "upper")
    curvature = 1.5 * strain / 0.004  # two equal halves of total thickness h: 3/2 of the misfit over h
    assert fem.statics(body).position("tip")[2] == pytest.approx(-0.5 * curvature * 0.1**2, rel=0.01)


@pytest.mark.parametrize("element", ELEMENTS)
def test_tractions_sum_to_area_times_stress(element):
    body = fem.SoftBody("b", fem.block((0.1, 0.02, 0.03), (4, 2, 2)), SOFT, element=element, gravity=(0, 0, 0))
    body.fix("base")
    body.load(fem.Traction("tip", (3.0, -4.0, 5.0)))
    body.load(fem.Traction(side(2), (0.0, 2.0, 0.0)))
    eq = fem.statics(body)
    force = 6e-4 * np.array([3.0, -4.0, 5.0]) + 2e-3 * np.array([0.0, 2.0, 0.0])
    assert eq.reaction() == pytest.approx(-force, rel=1e-6)


def test_a_spring_shares_the_load_with_the_body():
    body = fem.SoftBody("bar", fem.block((0.1, 0.01, 0.01), (10, 1, 1)), SOFT, gravity=(0, 0, 0))
    body.fix("base")
    body.load(fem.Spring((0.1, 0.0, 0.0), (1e9, 0.0, 0.0), anchor=(0.1005, 0.0, 0.0)))
    body.effector("tip", (0.1, 0.0, 0.0))
    eq = fem.statics(body)  # a very stiff spring takes the tip to its anchor
    assert eq.position("tip")[0] == pytest.approx(0.1005, abs=1e-9)
    body.springs[0].stiffness = 40.0
    half = fem.statics(body)
    pull = half.reaction()[0]
    assert -pull == pytest.approx(40.0 * (0.1005 - half.position("tip")[0]), rel=1e-6)


def test_a_point_mass_hangs_by_its_weight():
    hung, loaded = (cube("corotational", cells=(2, 2, 2)) for _ in range(2))
    hung.gravity = loaded.gravity = np.array([0.0, 0.0, -9.81])
    hung.load(fem.PointMass((0.03, 0.01, 0.02), 0.5))
    loaded.load(fem.PointForce((0.03, 0.01, 0.02), (0, 0, -0.5 * 9.81)))
    assert np.allclose(fem.statics(hung).x, fem.statics(loaded).x, atol=1e-12)


def test_painted_laws_and_files(tmp_path):
    mesh = fem.block((0.1, 0.02, 0.02), (4, 2, 2))
    half = np.flatnonzero(mesh.points[mesh.tets].mean(axis=1)[:, 0] > 0.05)
    mesh = fem.TetMesh(mesh.points, mesh.tets, mesh.nodes, mesh.surfaces, {"front": half})
    body = fem.SoftBody("two", mesh, SOFT, law=LAWS["yeoh"])
    body.paint("front", SOFT, law=LAWS["ogden"])
    body.fix("base")
    body.prestrain((1.01, 1.0, 1.0), "front")
    body.reinforce(fem.Fibres(lambda p: 0 * p + [1.0, 0.2, 0.0], 1e4, region="front"))
    body.load(fem.Traction(side(2), (0, 0, 100.0)))
    body.load(fem.Spring((0.1, 0, 0), 20.0))
    body.load(fem.PointMass((0.1, 0, 0), 0.01))
    eq = fem.statics(body)
    again = ag.load(eq.save(tmp_path / "two.nc"))
    assert np.array_equal(again.x, eq.x) and np.array_equal(fem.statics(again.body).x, eq.x)
    assert again.balance < 1e-9


def test_refusals():
    with pytest.raises(ag.DescriptionError, match="shear modulus at rest"):
        fem.MooneyRivlin(1e4, -2e4)
    with pytest.raises(ag.DescriptionError, match="one to 4 pairs"):
        fem.Ogden([(1.0, 0.0)])
    with pytest.raises(ag.DescriptionError, match="law of its own"):
        mesh = fem.block((0.1, 0.02, 0.02), (2, 1, 1))
        body = fem.SoftBody("b", fem.TetMesh(mesh.points, mesh.tets, regions={"all": [0]}), SOFT)
        body.paint("all", SOFT, law=LAWS["yeoh"])
    with pytest.raises(ag.DescriptionError, match="positive stretches"):
        body.prestrain((1.0, -1.0, 1.0))
    with pytest.raises(ag.DescriptionError, match="no face of the boundary"):
        body.load(fem.Traction([0], (1.0, 0, 0)))
    with pytest.raises(ag.DescriptionError, match="not negative"):
        fem.Spring((0, 0, 0), -1.0)
    with pytest.raises(ag.DescriptionError, match="directions that are not zero"):
        fem.Fibres((0, 0, 0), 1e4)
    with pytest.raises(ag.DescriptionError, match=r"fem\.Traction, a fem\.Spring"):
        body.load("heavy")
