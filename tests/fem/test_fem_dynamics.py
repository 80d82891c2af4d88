"""Motion: energy, order of the steps, frequencies of a beam, decay of damped and relaxing bars."""

import numpy as np
import pytest
from fem_bodies import RUBBER, bar

import anguilla as ag
from anguilla import fem
from anguilla.fem.inertia import mass_blocks


def released(dt, duration=0.04, start=None, **options):
    body = bar(
        (8, 1, 1), gravity=(0, 0, -9.81), **{k: v for k, v in options.items() if k in ("element", "law", "material")}
    )
    rest = {k: v for k, v in options.items() if k not in ("element", "law", "material")}
    return fem.simulate(body, duration=duration, dt=dt, start=start, **rest)


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_mass_is_whole(element):
    system = fem.SoftSystem(bar((4, 1, 1), element=element))
    mass = mass_blocks(system)
    rows, cols = system.pattern.rows, system.pattern.cols
    kept = (mass * np.where(rows == cols, 1, 2)).sum()
    # a rigid shift of all nodes that are kept: what is missing belongs to the fixed ones
    assert 0.8 * 1000 * 1e-5 < kept < 1000 * 1e-5


SCHEMES = [ag.Newmark(), ag.HHT(-0.1), ag.GeneralisedAlpha(0.7), ag.Midpoint()]


@pytest.mark.parametrize("method", SCHEMES, ids=lambda method: type(method).__name__)
def test_steps_are_of_second_order(method):
    body = bar((6, 1, 1))
    body.load(fem.PointForce((0.1, 0, 0), lambda t: (0, 0, 5e-3 * np.sin(60 * t) ** 2)))
    system = fem.SoftSystem(body)

    def tip(dt, method=method):
        return fem.simulate(system, duration=0.03, dt=dt, method=method).position("tip")[-1]

    fine = (4.0 * tip(1.25e-4, ag.Newmark()) - tip(2.5e-4, ag.Newmark())) / 3.0  # one truth for all of them
    errors = [np.linalg.norm(tip(dt) - fine) for dt in (1e-3, 5e-4)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.filterwarnings("ignore:The time steps of 'bar'", "ignore:'bar' gains")
def test_schemes_damp_what_they_should():
    """A step much longer than all periods multiplies the rates by the spectral radius at infinity, or nearly."""
    kept = {}
    for method in (*SCHEMES, ag.GeneralisedAlpha(0.0)):
        run = released(5e-2, duration=1.0, method=method)
        kept[method] = run.kinetic_energy[-5:].mean() / run.kinetic_energy[1:5].mean()
    assert kept[ag.Newmark()] > 0.1 and kept[ag.Midpoint()] > 0.1
    assert kept[ag.GeneralisedAlpha(0.0)] < 1e-3 * kept[ag.Newmark()]
    assert kept[ag.GeneralisedAlpha(0.0)] < kept[ag.GeneralisedAlpha(0.7)] < kept[ag.Newmark()]


def test_schemes_that_do_not_serve_are_refused():
    body = bar((4, 1, 1))
    with pytest.raises(ag.DescriptionError, match="Midpoint supports bodies without viscosity"):
        fem.simulate(body, duration=0.01, dt=1e-3, method="midpoint", viscosity=[fem.Prony(1.0, 0.1)])
    with pytest.raises(ag.DescriptionError, match="give one of them"):
        fem.simulate(body, duration=0.01, dt=1e-3, method=ag.HHT(), dissipation=0.1)
    with pytest.raises(ag.DescriptionError, match="method must be a scheme"):
        fem.simulate(body, duration=0.01, dt=1e-3, method="euler")


def test_energy_is_kept():
    run = released(1e-3)
    system = run.system
    rest = system.rest.rotations
    total = run.kinetic_energy + [system.evaluate(fem.SoftState(x, rest), np.zeros(0))[0] for x in run.x]
    swing = run.kinetic_energy.max()
    assert np.ptp(total) < 0.02 * swing


def test_first_frequency_of_a_beam():
    """Small swings of a slender quadratic bar: f = 1.8751^2 sqrt(EI / rho A L^4) / 2 pi."""
    body = bar((12, 1, 1), size=(0.1, 0.006, 0.006), element="quadratic")
    body.load(fem.PointForce((0.1, 0, 0), (0, 0, 1e-5)))
    held = fem.statics(body)
    body.loads.clear()
    exact = 1.8751**2 * np.sqrt(1e6 * 0.006**2 / 12 / (1000 * 0.1**4)) / (2 * np.pi)
    run = fem.simulate(body, duration=round(2 / exact, 3), dt=1e-3, start=held)
    z = run.position("tip")[:, 2]
    crossings = np.flatnonzero(np.diff(np.sign(z)))
    times = run.t[crossings] - z[crossings] * 1e-3 / (z[crossings + 1] - z[crossings])
    assert 0.5 / np.mean(np.diff(times)) == pytest.approx(exact, rel=0.02)


def decay(material=RUBBER, **options):
    """(rate of the energy [1/s], angular frequency [1/s]) of a bar let go from a small deflection."""
    body = bar((6, 1, 1), material=material)
    body.load(fem.PointForce((0.1, 0, 0), (0, 0, 1e-4)))
    held = fem.statics(body)
    body.loads.clear()
    run = fem.simulate(body, duration=0.12, dt=5e-4, start=held, **options)
    rest = run.system.rest.rotations
    energy = run.kinetic_energy + [run.system.evaluate(fem.SoftState(x, rest), np.zeros(0))[0] for x in run.x]
    late = run.t > 0.02
    z = run.position("tip")[:, 2]
    k = np.flatnonzero(np.diff(np.sign(z)))
    times = run.t[k] - z[k] * 5e-4 / (z[k + 1] - z[k])
    return -np.polyfit(run.t[late], np.log(energy[late]), 1)[0], np.pi / np.mean(np.diff(times))


def test_kelvin_voigt_damps_like_its_time():
    """A mode of frequency w loses energy at the rate mu w^2."""
    mu = 1e-3
    rate, w = decay(ag.Material(young=1e6, poisson=0.3, density=1000.0, damping=mu))
    assert rate == pytest.approx(mu * w**2, rel=0.08)


def test_rayleigh_damping_has_its_two_rates():
    rate, _ = decay(rayleigh=fem.Rayleigh(alpha=20.0))
    assert rate == pytest.approx(20.0, rel=0.05)
    rate, w = decay(rayleigh=fem.Rayleigh(beta=1e-3))
    assert rate == pytest.approx(1e-3 * w**2, rel=0.05)


def test_prony_creeps_to_the_long_term_shape():
    """Under a sudden load a relaxing bar first bends as if (1 + g) times stiffer, then creeps to the elastic shape."""
    material = ag.Material(young=1e6, poisson=0.3, density=1.0)  # light: quasi-static
    body = bar((8, 1, 1), material=material)
    body.load(fem.PointForce((0.1, 0, 0), (0, 0, 1e-4)))
    elastic = fem.statics(body).position("tip")[2]
    run = fem.simulate(body, duration=0.8, dt=1e-2, viscosity=[fem.Prony(1.0, 0.1)], dissipation=0.5)
    z = run.position("tip")[:, 2] / elastic
    late = run.t >= 0.1
    creep = 1.0 - 0.5 * np.exp(-run.t / 0.2)  # a standard solid: time tau (1 + g)
    np.testing.assert_allclose(z[late], creep[late], atol=0.01)


def test_motion_ends_in_the_equilibrium():
    material = ag.Material(young=1e6, poisson=0.3, density=1000.0, damping=0.02)
    run = released(4e-3, duration=0.6, material=material)
    body = bar((8, 1, 1), gravity=(0, 0, -9.81), material=material)
    np.testing.assert_allclose(run.position("tip")[-1], fem.statics(body).position("tip"), atol=1e-6)


def test_bad_requests_are_refused():
    body = bar((4, 1, 1))
    with pytest.raises(ag.DescriptionError, match="whole number of steps"):
        fem.simulate(body, duration=0.1, dt=0.03)
    with pytest.raises(ag.DescriptionError, match="no actuator 'x'"):
        fem.simulate(body, duration=0.1, dt=0.01, inputs={"x": 1.0})
    body.rigid("cap", "tip")
    with pytest.raises(ag.DescriptionError, match="Midpoint supports bodies without rigid parts"):
        fem.simulate(body, duration=0.1, dt=0.01, method="midpoint")


def test_steps_are_of_second_order_behind_a_jump_of_a_tendon_where_fast_modes_are_damped():
    soft = ag.Material(young=3e5, poisson=0.3, density=1070.0, damping=2e-3)

    def end(steps: int) -> np.ndarray:
        body = fem.SoftBody("bar", fem.block((0.1, 0.02, 0.02), (5, 1, 1)), soft, gravity=(0.0, 0.0, 0.0))
        body.fix("base")
        body.effector("tip", (0.1, 0.0, 0.0))
        body.actuate("pull", fem.Tendon([(x, 0.0, 0.008) for x in np.linspace(0.0, 0.1, 6)]))
        jump = {"pull": lambda t: 0.3 if t >= 0.01 else 0.0}
        return fem.simulate(body, duration=0.04, dt=0.04 / steps, inputs=jump, tolerance=1e-10).position("tip")[-1]

    fine = end(320)
    off = [np.linalg.norm(end(steps) - fine) for steps in (40, 80)]
    assert 1.7 < np.log2(off[0] / off[1]) < 2.3


def test_a_body_that_nothing_holds_falls_and_keeps_its_momentum(tmp_path):
    pytest.importorskip("h5py")
    body = fem.SoftBody("free", fem.block((0.1, 0.02, 0.02), (4, 1, 1)), RUBBER)
    body.actuate("pull", fem.Tendon([(0.0, 0.0, 0.008), (0.1, 0.0, 0.008)]))
    body.effector("middle", (0.05, 0.0, 0.0))
    run = fem.simulate(body, duration=0.1, dt=0.002, inputs={"pull": lambda t: 0.5 * np.sin(30.0 * t) ** 2})
    mass = run.system.weights
    centre = np.einsum("n,tni->ti", mass, run.x) / mass.sum()
    assert np.allclose(centre - centre[0], -0.5 * np.outer(run.t**2, [0, 0, 9.81]), rtol=0, atol=1e-12)
    speed = np.einsum("n,tni->ti", mass, run.v) / mass.sum()
    assert np.allclose(speed, -np.outer(run.t, [0, 0, 9.81]), rtol=0, atol=1e-11)
    assert np.ptp(run.position("middle") - centre, axis=0).max() > 2e-5  # it bends on the way
    assert np.array_equal(ag.load(run.save(tmp_path / "run.nc")).x, run.x)
    stepper = fem.Stepper(body, dt=0.002)
    for _ in range(10):
        stepper.step({"pull": 0.0})
    assert stepper.position("middle")[2] == pytest.approx(-0.5 * 9.81 * 0.02**2, rel=1e-9)
