"""Numerical damping: every stepper against its own linear theory, low modes kept and high modes removed."""

import numpy as np
import pytest
from dynamics_oracles import amplification, observed_radius, spectral_radius
from scipy.linalg import eigh

import anguilla as ag

SCHEMES = [
    ag.Newmark(),
    ag.Newmark(0.3025, 0.6),
    ag.HHT(-0.05),
    ag.HHT(-0.3),
    ag.GeneralisedAlpha(0.0),
    ag.GeneralisedAlpha(0.5),
    ag.GeneralisedAlpha(0.9),
    ag.Midpoint(),
]


def oscillator(modes, damping=0.0):
    """A rod that vibrates with so small an angle that it is linear: robot, frequencies, mode shapes, mass."""
    robot = ag.Robot(gravity=(0, 0, 0))
    material = ag.Material(young=1e6, density=1000, damping=damping)
    robot.add(ag.Rod(0.5, ag.Circle(0.01), material, ag.planar(modes), intervals=12), at=robot.ground)
    system = ag.Model(robot)
    stiffness, _, mass = system.matrices(np.zeros(system.size))
    squares, shapes = eigh(stiffness, mass)
    return robot, np.sqrt(squares), shapes * 1e-4 / np.linalg.norm(shapes * system.tree.scale[:, None], axis=0), mass


@pytest.mark.filterwarnings("ignore::anguilla.AnguillaWarning")  # long steps on purpose
@pytest.mark.parametrize("z", [0.1, 0.5, 2.0, 10.0, 100.0])
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_every_step_is_that_of_the_amplification_matrix(scheme, z):
    robot, omega, shapes, _ = oscillator(1)
    dt, steps = z / omega[0], 60
    start = shapes[0, 0]
    run = ag.simulate(robot, duration=steps * dt, dt=dt, start=[start], method=scheme, tolerance=1e-11,
                      smooth_start=False)  # fmt: skip
    matrix = amplification(scheme.coefficients, z)
    exact = np.array([np.linalg.matrix_power(matrix, k) @ [1.0, 0.0, -(z**2)] for k in range(steps + 1)])
    np.testing.assert_allclose(run.q[:, 0] / start, exact[:, 0], atol=1e-6)
    np.testing.assert_allclose(dt * run.v[:, 0] / start / max(z, 1.0), exact[:, 1] / max(z, 1.0), atol=1e-6)
    if z < 10.0:
        assert observed_radius(run.q[:, 0]) == pytest.approx(spectral_radius(matrix), abs=1e-3)


@pytest.mark.parametrize("z", [0.3, 3.0, 30.0])
def test_material_damping_and_numerical_damping_together(z):
    ratio, scheme = 0.05, ag.GeneralisedAlpha(0.8)
    omega = oscillator(1)[1][0]
    robot, _, shapes, _ = oscillator(1, damping=2 * ratio / omega)
    dt, start = z / omega, shapes[0, 0]
    run = ag.simulate(robot, duration=40 * dt, dt=dt, start=[start], method=scheme, tolerance=1e-11,
                      smooth_start=False)  # fmt: skip
    matrix = amplification(scheme.coefficients, z, ratio)
    exact = [(np.linalg.matrix_power(matrix, k) @ [1.0, 0.0, -(z**2)])[0] for k in range(41)]
    np.testing.assert_allclose(run.q[:, 0] / start, exact, atol=1e-6)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, 1.0])
def test_rho_inf_is_the_factor_left_of_the_highest_frequencies(rho):
    matrix = amplification(ag.GeneralisedAlpha(rho).coefficients, 1e5)
    assert spectral_radius(matrix) == pytest.approx(rho, abs=1e-2)


def modal_decay(scheme, steps, z):
    """(energy left in the first mode, amplitude left in the fifth, om dt of the fifth), z being om dt of the first."""
    robot, omega, shapes, mass = oscillator(6)
    low, high = 0, 4
    dt = z / omega[low]
    run = ag.simulate(robot, duration=steps * dt, dt=dt, start=shapes[:, low] + shapes[:, high], method=scheme,
                      tolerance=1e-10, smooth_start=False)  # fmt: skip
    energies = []
    for k in (low, high):
        unit = shapes[:, k] @ mass @ shapes[:, k]
        q, v = run.q @ mass @ shapes[:, k] / unit, run.v @ mass @ shapes[:, k] / unit
        energies.append(q**2 + (v / omega[k]) ** 2)
    return energies[0][-1], np.sqrt(energies[1][-1]), omega[high] * dt


@pytest.mark.parametrize(
    ("scheme", "z"),
    [
        (ag.HHT(-0.3), 0.02),
        (ag.GeneralisedAlpha(0.5), 0.02),
        (ag.GeneralisedAlpha(0.8), 0.04),
        (ag.GeneralisedAlpha(0.9), 0.08),
    ],
    ids=repr,
)
def test_only_high_modes_are_damped(scheme, z):
    steps = 300
    low, high, z_high = modal_decay(scheme, steps, z)
    radius = spectral_radius(amplification(scheme.coefficients, z_high))
    assert low == pytest.approx(1.0, abs=0.01)
    assert high ** (1 / steps) == pytest.approx(radius, abs=1e-3)
    assert high < 0.3


@pytest.mark.parametrize("scheme", [ag.Newmark(), ag.Midpoint(), ag.GeneralisedAlpha(1.0)], ids=repr)
def test_undamped_schemes_keep_all_modes(scheme):
    low, high, _ = modal_decay(scheme, 300, 0.02)
    assert low == pytest.approx(1.0, abs=1e-3)
    assert high == pytest.approx(1.0, abs=0.35)  # the amplitude of Newmark wanders with om dt, it does not decay
