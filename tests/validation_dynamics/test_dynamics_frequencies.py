"""Frequencies of small vibrations: five of a slender and of a thick cantilever, of a bar, a shaft, a bent rod."""

import numpy as np
import pytest
from dynamics_oracles import CLAMPED_FREE, bar_frequencies, beam_frequencies, newmark_phase
from scipy.linalg import eigh

import anguilla as ag

YOUNG, DENSITY, POISSON = 2e9, 1200.0, 0.3


def cantilever(length, section, strains, intervals=80, damping=0.0, gravity=(0, 0, 0)):
    robot = ag.Robot(gravity=gravity)
    material = ag.Material(young=YOUNG, density=DENSITY, poisson=POISSON, damping=damping)
    return robot, robot.add(ag.Rod(length, section, material, strains, intervals=intervals), at=robot.ground)


def frequencies(robot, q=None, count=5):
    """Angular frequencies [rad/s] of the vibrations about q."""
    system = ag.Model(robot)
    stiffness, _, mass = system.matrices(np.zeros(system.size) if q is None else q)
    return np.sqrt(eigh(stiffness, mass, eigvals_only=True)[:count])


def test_the_beam_oracle_contains_euler_and_bernoulli():
    bending = beam_frequencies(5, 2.0, 3.0, np.inf, 0.7, 0.0)
    np.testing.assert_allclose(bending, np.array(CLAMPED_FREE[:5]) ** 2 * np.sqrt(3.0 / 0.7) / 4.0, rtol=1e-9)


@pytest.mark.parametrize("basis", ["legendre", "free_tip"])
@pytest.mark.parametrize("plane", ["bend_y", "bend_z"])
def test_five_frequencies_of_a_slender_rod_are_those_of_euler_and_bernoulli(basis, plane):
    length, radius = 1.0, 5e-5  # rotary inertia lowers the fifth by 5e-8
    robot, _ = cantilever(length, ag.Circle(radius), ag.Strains(**{plane: ag.make_basis(basis, 12)}), intervals=96)
    unit = np.sqrt(YOUNG * radius**2 / (4 * DENSITY)) / length**2
    np.testing.assert_allclose(frequencies(robot), np.array(CLAMPED_FREE[:5]) ** 2 * unit, rtol=1e-4)


def test_five_frequencies_with_rotary_inertia_are_those_of_rayleigh():
    length, radius = 1.0, 0.05
    robot, _ = cantilever(length, ag.Circle(radius), ag.planar(13))
    area, second = np.pi * radius**2, np.pi * radius**4 / 4
    exact = beam_frequencies(5, length, YOUNG * second, np.inf, DENSITY * area, DENSITY * second)
    plain = np.array(CLAMPED_FREE[:5]) ** 2 * np.sqrt(YOUNG * second / (DENSITY * area)) / length**2
    assert exact[4] < 0.95 * plain[4]  # so the rotary inertia is seen
    np.testing.assert_allclose(frequencies(robot), exact, rtol=1e-4)


@pytest.mark.parametrize("ratio", [5.0, 12.0])
def test_five_frequencies_of_a_thick_rod_are_those_of_timoshenko(ratio):
    length, thickness = 0.8, 0.8 / ratio
    section = ag.Rectangle(size_y=thickness, size_z=0.6 * thickness)
    robot, _ = cantilever(length, section, ag.Strains(bend_z=12, shear_y=12))
    area, second = 0.6 * thickness**2, 0.6 * thickness**4 / 12
    shear = YOUNG / (2 * (1 + POISSON))
    exact = beam_frequencies(5, length, YOUNG * second, shear * area, DENSITY * area, DENSITY * second)
    np.testing.assert_allclose(frequencies(robot), exact, rtol=1e-4)


def test_the_planes_of_a_flat_section_are_not_exchanged():
    section = ag.Rectangle(size_y=0.02, size_z=0.01)
    weak, _ = cantilever(1.0, section, ag.Strains(bend_y=9))
    strong, _ = cantilever(1.0, section, ag.Strains(bend_z=9))
    both, _ = cantilever(1.0, section, ag.Strains(bend_y=9, bend_z=9))
    assert frequencies(strong, count=1) == pytest.approx(2.0 * frequencies(weak, count=1), rel=1e-3)
    expected = np.sort(np.concatenate([frequencies(weak, count=3), frequencies(strong, count=2)]))
    np.testing.assert_allclose(frequencies(both), expected, rtol=1e-10)


def test_five_axial_frequencies():
    robot, _ = cantilever(0.5, ag.Circle(0.01), ag.Strains(stretch=14), intervals=110)
    np.testing.assert_allclose(frequencies(robot), bar_frequencies(5, 0.5, YOUNG, DENSITY), rtol=1e-6)


@pytest.mark.parametrize("section", [ag.Circle(0.01), ag.Rectangle(0.02, 0.005), ag.Ellipse(0.01, 0.003)])
def test_five_torsional_frequencies(section):
    robot, _ = cantilever(0.5, section, ag.Strains(twist=14), intervals=110)
    p = section.at([0.0])
    stiffness = YOUNG / (2 * (1 + POISSON)) * p.torsion[0]
    exact = bar_frequencies(5, 0.5, stiffness, DENSITY * (p.second_y[0] + p.second_z[0]))
    np.testing.assert_allclose(frequencies(robot), exact, rtol=1e-6)


def test_all_six_strains_together_keep_the_frequencies_apart():
    length, radius = 0.5, 0.02
    robot, _ = cantilever(length, ag.Circle(radius), ag.reissner(9), intervals=60)
    area, second = np.pi * radius**2, np.pi * radius**4 / 4
    shear = YOUNG / (2 * (1 + POISSON))
    bending = beam_frequencies(3, length, YOUNG * second, shear * area, DENSITY * area, DENSITY * second)
    others = [bar_frequencies(1, length, YOUNG, DENSITY), bar_frequencies(1, length, shear, DENSITY)]
    exact = np.sort(np.concatenate([bending, bending, *others]))
    np.testing.assert_allclose(frequencies(robot, count=7), exact[:7], rtol=1e-4)


@pytest.mark.parametrize("mode", [0, 1])
def test_small_vibration_of_a_bent_rod_has_the_frequency_of_its_tangent(mode):
    """A soft rod sagging under gravity, released beside its equilibrium: phase over 40 periods of its mode."""
    robot = ag.Robot(gravity=(0, 0, -9.81))
    material = ag.Material(young=3e5, density=1000.0, poisson=0.45)
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), material, ag.kirchhoff(4)), at=robot.ground)
    rest = ag.statics(robot)
    assert rest.position(arm.tip)[2] < -0.1  # pre-deformed
    stiffness, _, mass = rest.system.matrices(rest.q)
    squares, shapes = eigh(stiffness, mass)
    omega, shape = np.sqrt(squares[mode]), shapes[:, mode]
    amplitude = 1e-5 / np.linalg.norm(shape * rest.system.tree.scale)
    per_period, periods = 60, 40
    dt = 2 * np.pi / omega / per_period
    run = ag.simulate(robot, duration=per_period * periods * dt, dt=dt, start=rest.q + amplitude * shape,
                      method=ag.Newmark(), tolerance=1e-9)  # fmt: skip
    projection = (run.q - rest.q) @ mass @ shape / amplitude
    rate = run.v @ mass @ shape / amplitude
    phase = np.unwrap(np.arctan2(-rate / omega, projection))
    per_step = np.polyfit(run.t, phase, 1)[0] * dt
    # Newmark turns by 2 arctan(om dt / 2) a step instead of om dt
    assert per_step == pytest.approx(newmark_phase(omega * dt), rel=1e-4)
    np.testing.assert_allclose(np.max(np.abs(projection)), 1.0, rtol=1e-3)
