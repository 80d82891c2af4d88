"""Modes, linear models and gradients of volumes: beam theory, step responses, differences."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from fem_bodies import bar

import anguilla as ag
from anguilla import fem


def test_modes_of_a_beam_are_those_of_theory():
    E, rho, L, b, h = 1e6, 1000.0, 0.2, 0.01, 0.006
    body = bar((16, 1, 1), (L, b, h), ag.Material(young=E, poisson=0.0, density=rho), element="quadratic")
    found = fem.modes(body, count=6)
    assert np.all(np.diff(found.frequencies) > 0)
    roots = np.array([1.875104, 4.694091, 7.854757])
    bend = lambda t: roots**2 / (2 * np.pi * L**2) * np.sqrt(E * t**2 / (12 * rho))
    along_z, along_y = bend(h), bend(b)
    for exact, tolerance in zip([*along_z[:2], *along_y[:2]], (3e-3, 1e-2, 3e-3, 2e-2), strict=True):
        nearest = found.frequencies[np.argmin(np.abs(found.frequencies - exact))]
        assert nearest == pytest.approx(exact, rel=tolerance)
    # Timoshenko's beam is softer than Euler's: the higher mode lies below
    assert found.frequencies[np.argmin(np.abs(found.frequencies - along_y[1]))] < along_y[1]


def test_modes_are_orthogonal_and_balance():
    body = bar((8, 2, 2), gravity=(0, 0, -9.81))
    found = fem.modes(body, count=5)
    run = found.motion(2, amplitude=1e-4)
    eq = found.equilibrium
    pairs = lambda a, b: replace(run, t=run.t[:1], x=run.x[:1], v=(a + b)[None]).kinetic_energy[0]
    for i in range(3):
        for j in range(3):
            a, b = found.shapes[i], found.shapes[j]
            both = 2 * pairs(a, b) - 2 * pairs(a, 0 * b) - 2 * pairs(b, 0 * a) if i != j else 4 * pairs(a, 0 * b)
            assert both == pytest.approx(2.0 if i == j else 0.0, abs=1e-8)
    # forces along a mode are omega^2 times the mass times it: by differences of the forces themselves
    force = lambda s: eq.system.residual(fem.SoftState(eq.x + s * found.shapes[1], eq.state.rotations), eq.efforts)
    s = 1e-7 / np.abs(found.shapes[1]).max() * 0.1
    slope = (force(s) - force(-s)) / (2 * s)
    shape = eq.system.unknowns.gather(eq.x, found.shapes[1][None])[0]
    assert slope @ shape == pytest.approx((2 * np.pi * found.frequencies[1]) ** 2, rel=1e-6)


def test_a_pulled_string_is_a_string():
    """A thin strip between two grips, pulled: sqrt(F / (m L)) / 2, and a little more for its ends, which do not turn."""
    body = fem.SoftBody(
        "string", fem.block((0.2, 0.002, 0.002), (40, 1, 1)), ag.Material(young=1e6, poisson=0.0, density=1000.0),
        law="st_venant", element="quadratic", gravity=(0, 0, 0),
    )  # fmt: skip
    body.fix("base")
    body.move("grip", "tip")
    eq = fem.statics(body, moves={"grip": (0.02, 0, 0)})
    pull, length = eq.reaction("grip")[0], 0.22
    ends = 2 / length * np.sqrt(1e6 * (3 * 1.1**2 - 1) / 2 * 0.002**4 / 12 / pull)
    exact = 0.5 * np.sqrt(pull / (1000.0 * 0.2 * 4e-6 * length)) * (1 + ends)
    found = fem.modes(eq, count=2)
    assert found.frequencies == pytest.approx([exact, exact], rel=5e-3)
    assert found.frequencies[0] > 2 * fem.modes(body, count=1).frequencies[0]


def test_damping_of_the_material():
    body = bar((6, 1, 1), material=ag.Material(young=1e6, poisson=0.3, density=1000.0, damping=2e-3))
    found = fem.modes(body, count=3)
    assert found.damping == pytest.approx(2e-3 * np.pi * found.frequencies, rel=1e-9)  # half of time times omega


def test_rigid_parts_and_point_masses_have_modes():
    body = bar((20, 1, 1), material=ag.Material(young=1e6, poisson=0.0, density=1.0), element="quadratic")
    body.load(fem.PointMass((0.1, 0, 0), 0.05))
    stiff = 3 * 1e6 * 0.01**4 / 12 / 0.1**3
    assert fem.modes(body, count=1).frequencies[0] == pytest.approx(np.sqrt(stiff / 0.05) / (2 * np.pi), rel=0.01)
    body.rigid("cap", "tip")  # a mass on a rigid plate: nearly the same
    assert fem.modes(body, count=1).frequencies[0] == pytest.approx(np.sqrt(stiff / 0.05) / (2 * np.pi), rel=0.01)


def test_the_linear_model_answers_as_the_body():
    material = ag.Material(young=2e5, poisson=0.3, density=1000.0, damping=5e-3)
    body = bar((8, 2, 2), material=material, gravity=(0, 0, -9.81))
    body.actuate("pull", fem.Tendon([(0.0, 0.0, 0.004), (0.1, 0.0, 0.004)]))
    eq = fem.statics(body, inputs={"pull": 0.05})
    model = fem.linearise(eq, count=12)
    assert model.outputs == ["tip.x", "tip.y", "tip.z", "pull.stroke"]
    h = 1e-4
    more, less = (fem.statics(body, inputs={"pull": 0.05 + s}, start=eq) for s in (h, -h))
    slope = (more.position("tip") - less.position("tip")) / (2 * h)
    assert model.gain[:3, 0] == pytest.approx(slope, abs=1e-6 * np.abs(slope).max())
    assert model.gain[3, 0] == pytest.approx((more.stroke("pull") - less.stroke("pull")) / (2 * h), rel=1e-6)
    # a small step of the tension: the body itself, and the model by the same rule
    dt, steps, small = 2e-3, 40, 1e-4
    run = fem.simulate(body, duration=dt * steps, dt=dt, inputs={"pull": 0.05 + small}, start=eq, tolerance=1e-12)
    k = len(model.A)
    one = np.linalg.solve(np.eye(k) - dt / 2 * model.A, np.eye(k) + dt / 2 * model.A)
    push = np.linalg.solve(np.eye(k) - dt / 2 * model.A, dt * model.B[:, 0] * small)
    state, seen = np.zeros(k), []
    for _ in range(steps):
        state = one @ state + push
        seen.append(model.C[2] @ state + model.D[2, 0] * small)
    moved = run.position("tip")[1:, 2] - eq.position("tip")[2]
    assert np.abs(moved - seen).max() < 0.02 * np.abs(moved).max()


def rich(law="corotational", element="linear"):
    mesh = fem.finger(cells=(4, 2, 2))
    far = np.flatnonzero(mesh.points[mesh.tets].mean(axis=1)[:, 0] > 0.05)
    mesh = fem.TetMesh(mesh.points, mesh.tets, mesh.nodes, mesh.surfaces, {"front": far})
    body = fem.SoftBody("finger", mesh, ag.Material(1e5, 1000.0, poisson=0.35), law=law, element=element)
    body.paint("front", ag.Material(2e5, 1500.0, poisson=0.2))
    body.fix("base")
    body.move("side", lambda p: (np.abs(p[:, 0] - 0.05) < 0.013) & (p[:, 1] > 0.0099))
    body.actuate("pull", fem.Tendon([(0.01, 0, 0.009), (0.05, 0.002, 0.009), (0.09, 0, 0.009)]))
    body.actuate("air", fem.Chamber("chamber", fluid_density=500.0))
    body.load(fem.PointForce((0.1, 0.0, 0.005), (0.01, 0.02, -0.03)))
    body.effector("tip", fem.Effector((0.1, 0, 0), radius=0.012))
    return body


@pytest.mark.parametrize(
    "law, element",
    [
        ("corotational", "linear"), ("neo_hookean", "averaged"),
        pytest.param("st_venant", "quadratic", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_gradients_against_differences(law, element):
    body = rich(law, element)
    at = {"inputs": {"pull": 0.2, "air": 400.0}, "moves": {"side": np.array([1e-3, -5e-4, 2e-3])}}
    c = np.array([0.3, -0.2, 1.0])

    def value(trial=body, **change):
        return c @ fem.statics(trial, tolerance=1e-13, **(at | change)).position("tip")

    def slope(of, h):
        return (8 * (of(h) - of(-h)) - (of(2 * h) - of(-2 * h))) / (12 * h)

    def changed(region, **fields):
        trial = copy.deepcopy(body)
        own = trial.materials[region] if region else trial.material
        new = replace(own, **fields)
        if region:
            trial.materials[region] = new
        else:
            trial.material = new
        return trial

    found = fem.gradient(fem.statics(body, tolerance=1e-13, **at), {"tip": c})
    loaded = copy.deepcopy(body)

    def pushed(h):
        loaded.loads[0].force = np.array([0.01, 0.02 + h, -0.03])
        return value(loaded)

    assert found.loads[0, 1] == pytest.approx(slope(pushed, 1e-3), rel=1e-6)
    assert found.inputs["air"] == pytest.approx(
        slope(lambda h: value(inputs={"pull": 0.2, "air": 400.0 + h}), 5.0), rel=1e-6
    )
    shift = lambda h: value(moves={"side": at["moves"]["side"] + [0, 0, h]})
    assert found.moves["side"][2] == pytest.approx(slope(shift, 1e-5), rel=1e-6)
    for region in ("", "front"):
        own = body.materials[region] if region else body.material
        by = lambda h, region=region, own=own: value(changed(region, young=own.young * (1 + h)))
        assert found.young[region] * own.young == pytest.approx(slope(by, 1e-3), rel=1e-6)
        by = lambda h, region=region, own=own: value(changed(region, poisson=own.poisson + h))
        assert found.poisson[region] == pytest.approx(slope(by, 1e-3), rel=1e-6)
        by = lambda h, region=region, own=own: value(changed(region, density=own.density * (1 + h)))
        assert found.density[region] * own.density == pytest.approx(slope(by, 1e-2), rel=1e-6)


def test_gradient_by_tension():
    body = rich()
    at = lambda pull: fem.statics(body, tolerance=1e-13, inputs={"pull": pull}).position("tip")[2]
    found = fem.gradient(fem.statics(body, tolerance=1e-13, inputs={"pull": 0.2}), {"tip": (0, 0, 1)})
    h = 1e-3
    slope = (8 * (at(0.2 + h) - at(0.2 - h)) - (at(0.2 + 2 * h) - at(0.2 - 2 * h))) / (12 * h)
    assert found.inputs["pull"] == pytest.approx(slope, rel=1e-6)
    body.actuators["pull"].friction = 0.2
    with pytest.raises(ag.DescriptionError, match="friction at its guides"):
        fem.gradient(fem.statics(body, inputs={"pull": 0.2}), {"tip": (0, 0, 1)})


def test_refusals():
    body = bar((2, 1, 1))
    with pytest.raises(ag.DescriptionError, match="no effector 'hand'"):
        fem.gradient(fem.statics(body), {"hand": (0, 0, 1)})
    with pytest.raises(ag.DescriptionError, match="for the nodes"):
        fem.gradient(fem.statics(body), np.zeros(3))
    with pytest.raises(ag.DescriptionError, match=r"equilibrium that fem\.statics returned"):
        fem.modes("bar")


def test_a_free_bar_has_six_modes_as_a_whole_and_bends_as_theory_says():
    length, thick, material = 0.2, 0.01, ag.Material(young=1e6, poisson=0.0, density=1000.0, damping=1e-3)
    body = fem.SoftBody(
        "bar", fem.block((length, thick, thick), (16, 1, 1)), material, element="quadratic", gravity=(0, 0, 0)
    )
    found = fem.modes(body, count=8)
    assert np.array_equal(found.frequencies[:6], np.zeros(6)) and np.array_equal(found.damping[:6], np.zeros(6))
    slope = np.sqrt(material.young * thick**2 / 12.0 / (material.density * length**4))
    assert found.frequencies[6:] == pytest.approx(4.7300**2 * slope / (2.0 * np.pi), rel=0.01)  # shear lowers it
    assert found.damping[6:] == pytest.approx(np.pi * found.frequencies[6:] * material.damping, rel=1e-6)
    with pytest.raises(ag.SolverError, match="can move as a whole"):
        fem.linearise(body)
    body.gravity = (0, 0, -9.81)
    with pytest.raises(ag.DescriptionError, match="is not held"):
        fem.modes(body)
