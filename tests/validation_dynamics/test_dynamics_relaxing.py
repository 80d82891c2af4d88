"""Viscoelastic rods: Prony terms and constant loss factors against closed forms."""

import dataclasses

import numpy as np
import pytest
from scipy.linalg import expm

import anguilla as ag

YOUNG, AREA, LENGTH = 1e6, np.pi * 0.01**2, 0.3
TERMS = (ag.Prony(0.5, 0.2), ag.Prony(0.3, 0.02))


def bar(density=1000.0, force=None, viscosity=TERMS, **given):
    """A bar that stretches evenly: one coordinate, exactly linear, K = E A L, M = rho A L^3 / 3."""
    robot = ag.Robot("bar", gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, density=density, poisson=0.5, viscosity=viscosity, **given)
    rod = ag.Rod(LENGTH, ag.Circle(0.01), material, ag.Strains(stretch=ag.Legendre(1)), intervals=8, name="arm")
    arm = robot.add(rod, at=robot.ground)
    if force is not None:
        robot.load(ag.TipWrench(arm, force=force))
    return robot


def first_order(robot, damping=0.0, viscosity=TERMS):
    """Matrix of (q, v, z...) of the bar."""
    stiff, _, mass = ag.Model(robot).matrices(np.zeros(1))
    k, m, p = stiff[0, 0], mass[0, 0], len(viscosity)
    matrix = np.zeros((2 + p, 2 + p))
    matrix[0, 1] = 1.0
    matrix[1, :2] = -k / m, -damping * k / m
    for i, term in enumerate(viscosity):
        matrix[1, 2 + i] = -term.weight * k / m
        matrix[2 + i, 1], matrix[2 + i, 2 + i] = 1.0, -1.0 / term.time
    return matrix


def test_swings_as_the_linear_system_does_at_second_order():
    robot = bar(damping=1e-4)
    matrix, errors = first_order(robot, 1e-4), []
    for dt in (4e-5, 2e-5, 1e-5):
        run = ag.simulate(robot, duration=8e-3, dt=dt, start=([0.0], [1.0]), method=ag.Newmark())
        exact = np.array([(expm(t * matrix) @ [0.0, 1.0, 0.0, 0.0])[0] for t in run.t[:: len(run.t) // 20]])
        errors.append(np.max(np.abs(run.q[:: len(run.t) // 20, 0] - exact)) / np.max(np.abs(exact)))
    assert errors[-1] < 1e-3
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.05)


@pytest.mark.filterwarnings("ignore:Material.density")  # light, so that it creeps without swinging
def test_creeps_as_the_closed_form():
    """Under a force that grows evenly for T and stays: one term, no inertia."""
    g, tau, T, F = 0.8, 0.15, 0.05, 2.0
    robot = bar(1.0, lambda t: (F * np.minimum(t / T, 1.0), 0, 0), (ag.Prony(g, tau),))
    run = ag.simulate(robot, duration=1.0, dt=0.0025, method=ag.GeneralisedAlpha(0.5))
    late = tau * (1.0 + g)  # retardation time

    def ramp(t):
        t = np.maximum(t, 0.0)
        return (t - g / (1.0 + g) * late * (1.0 - np.exp(-t / late))) / T

    exact = F / (YOUNG * AREA) * (ramp(run.t) - ramp(run.t - T))
    np.testing.assert_allclose(run.q[:, 0], exact, atol=1e-3 * exact[-1])
    assert run.q[-1, 0] == pytest.approx(ag.statics(robot, t=1.0).q[0], rel=0.02)
    np.testing.assert_allclose(ag.statics(robot, t=1.0).q[0], F / (YOUNG * AREA), rtol=1e-9)


def test_relaxes_as_the_closed_form():
    """A stretch that grows as a sine for T and stays: the stress that its motors hold."""
    T, size = 0.05, 0.1
    robot = ag.Robot("held", gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, density=1e-3, poisson=0.5, viscosity=TERMS)

    def grown(t):
        return np.sin(0.5 * np.pi * np.minimum(t / T, 1.0)) ** 2

    shape = ag.ShapeFunction(lambda X, t: size * grown(t) * np.ones_like(X), strain="stretch")
    rod = ag.Rod(LENGTH, ag.Circle(0.01), material, ag.Strains(stretch=ag.Legendre(1)), shape=shape)
    arm = robot.add(rod, at=robot.ground)
    run = ag.simulate(robot, duration=0.6, dt=0.0025)
    exact, w = grown(run.t), np.pi / T
    for term in TERMS:
        s, slow = np.minimum(run.t, T), 1.0 / term.time
        kept = 0.5 * w * (slow * np.sin(w * s) - w * np.cos(w * s) + w * np.exp(-slow * s)) / (slow**2 + w**2)
        exact = exact + term.weight * kept * np.exp(-slow * np.maximum(run.t - T, 0.0))
    stress = run.control_torque(arm, [0.5 * LENGTH])[:, 0, 3]
    np.testing.assert_allclose(stress, YOUNG * AREA * size * exact, atol=1e-3 * YOUNG * AREA * size)


def tentacle(**given):
    robot = ag.Robot("tentacle")
    material = ag.Material(young=2e5, density=1070, poisson=0.5, **given)
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), material, ag.kirchhoff(3), name="arm"), at=robot.ground)
    robot.actuate("t1", ag.Tendon(arm, ag.parallel(y=0.008)))
    return robot


@pytest.fixture(scope="module")
def swing():
    robot = tentacle(viscosity=TERMS, damping=1e-3)
    return robot, ag.simulate(robot, duration=0.6, dt=2e-3, inputs={"t1": 1.0})


def test_powers_balance(swing):
    power = ag.powers(swing[1])
    assert np.max(np.abs(power.imbalance)) < 1e-6 * np.max(np.abs(power.stored))
    assert np.min(power.dissipated) >= 0.0


def test_energy_changes_by_what_is_given_and_lost(swing):
    run = swing[1]
    power = ag.powers(run)
    flow = power.motors + power.others - power.dissipated
    given = np.concatenate([[0.0], np.cumsum(0.5 * (flow[1:] + flow[:-1]) * np.diff(run.t))])
    total = run.energy["total"] - run.energy["total"][0]
    assert np.max(np.abs(total - given)) < 5e-3 * np.max(np.abs(given))


def test_goes_on_from_the_end_of_a_motion(swing):
    robot, whole = swing
    half = ag.simulate(robot, duration=0.3, dt=2e-3, inputs={"t1": 1.0})
    rest = ag.simulate(robot, duration=0.3, dt=2e-3, inputs={"t1": 1.0}, start=half)
    scale = np.max(np.abs(whole.q))
    np.testing.assert_allclose(rest.q[-1], whole.q[-1], atol=2e-3 * scale)  # accelerations begin anew
    np.testing.assert_allclose(rest.energy["elastic"][0], whole.energy["elastic"][150], rtol=1e-9)
    assert np.max(np.abs(ag.powers(rest).imbalance)) < 1e-6 * np.max(np.abs(ag.powers(whole).stored))
    relaxed = ag.simulate(robot, duration=0.3, dt=2e-3, inputs={"t1": 1.0}, start=(half.q[-1], half.v[-1]))
    assert np.max(np.abs(relaxed.q[-1] - whole.q[-1])) > 1e-2 * scale  # the memory matters


def test_a_stepper_and_parts_of_a_motion_agree(swing):
    robot, whole = swing
    stepper = ag.Stepper(robot, dt=2e-3, inputs={"t1": 1.0})
    stepper.step(100)
    np.testing.assert_allclose(stepper.q, whole.q[100], atol=1e-12 * np.max(np.abs(whole.q)))
    part = whole[90:110]
    np.testing.assert_allclose(ag.powers(part).dissipated, ag.powers(whole).dissipated[90:110], rtol=1e-9)


def test_in_blocks_it_moves_the_same(swing):
    robot, whole = swing
    run = ag.simulate(ag.Model(robot, linear="tree"), duration=0.1, dt=2e-3, inputs={"t1": 1.0})
    np.testing.assert_allclose(run.q, whole.q[:51], atol=1e-8 * np.max(np.abs(whole.q)))


def test_rest_has_the_long_term_stiffness():
    with_terms, without = (ag.statics(tentacle(viscosity=v), inputs={"t1": 1.0}) for v in (TERMS, ()))
    np.testing.assert_array_equal(with_terms.q, without.q)
    slow = ag.simulate(tentacle(viscosity=TERMS), duration=1.0, dt=0.02, inputs={"t1": 1.0}, start=with_terms)
    np.testing.assert_allclose(slow.q, np.tile(without.q, (51, 1)), atol=1e-7 * np.max(np.abs(without.q)))


@pytest.mark.parametrize("loss", [0.02, 0.1, 0.4])
def test_loss_factor_is_constant_in_its_band(loss):
    material = ag.Material(young=2e5, density=1000, loss=loss, band=(1.0, 100.0))
    moduli = np.array([material.modulus(f) for f in np.geomspace(1.0, 100.0, 60)])
    np.testing.assert_allclose(moduli.imag / moduli.real, loss, rtol=0.02)
    assert material.modulus(1e-4).real == pytest.approx(2e5, rel=1e-3)
    slope = np.log(moduli[-1].real / moduli[0].real) / np.log(100.0)
    assert slope == pytest.approx(2.0 / np.pi * np.arctan(loss), rel=0.1)


@pytest.mark.parametrize("length", [0.3, 0.6])
def test_swings_of_all_frequencies_fade_alike(length):
    """Damping ratio loss / 2 of a thin cantilever at two frequencies, four times apart; Kelvin-Voigt's would be too."""
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    material = ag.Material(young=1e6, density=1000, loss=0.1, band=(0.5, 50.0))
    robot.add(ag.Rod(length, ag.Circle(0.01), material, ag.planar(1)), at=robot.ground)
    run = ag.simulate(robot, duration=6.0 * length**2 / 0.09, dt=5e-3 * length**2 / 0.09, start=([1e-3], [0.0]))
    q = run.q[:, 0]
    peaks = q[1:-1][(q[1:-1] > q[:-2]) & (q[1:-1] > q[2:])]
    ratio = -np.log(peaks[6] / peaks[2]) / (4 * 2.0 * np.pi)
    assert ratio == pytest.approx(0.05, rel=0.05)


def test_what_is_not_served_is_refused():
    robot = tentacle(loss=0.1, band=(1, 20))
    run = ag.simulate(robot, duration=0.02, dt=2e-3)
    for call in (
        lambda: ag.modes(robot),
        lambda: ag.linearise(robot),
        lambda: ag.simulate_explicit(robot, duration=0.1, dt=0.01),
        lambda: ag.gradient(run, ag.Reach(robot.part("arm").tip, (0.1, 0.0, 0.0))),
        lambda: ag.simulate(robot, duration=0.1, dt=0.01, method="midpoint"),
    ):
        with pytest.raises(ag.DescriptionError, match="viscoelastic rods"):
            call()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"loss": 0.1}, "band"),
        ({"loss": 2.0, "band": (1, 2)}, "at most 0.5"),
        ({"loss": 0.1, "band": (20, 1)}, "lower one first"),
        ({"viscosity": [(0.1, 0.2)]}, "Prony"),
    ],
)
def test_bad_materials_are_refused(given, words):
    with pytest.raises(ag.DescriptionError, match=words):
        ag.Material(young=1e6, density=1000, **given)


def test_files_keep_it(tmp_path):
    robot = tentacle(viscosity=TERMS, loss=0.1, band=(1, 20))
    ag.write_robot(robot, tmp_path / "arm.yaml")
    again = ag.read_robot(tmp_path / "arm.yaml").part("arm").rod.material
    assert dataclasses.asdict(again) == dataclasses.asdict(robot.part("arm").rod.material)
