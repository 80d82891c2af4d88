"""Stride averages, power of every kind of motor, thrust and drag, torque envelopes; the fish of 003 VII.D."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad, simpson
from swimmers import eel, fish, stick

import anguilla as ag
from anguilla import shooting
from anguilla.errors import DescriptionError


def test_a_gliding_body_has_drag_alone():
    """Straight, towed along its axis: drag 1/2 rho C1 perimeter V^2, no thrust, no motors; it slows as 1 / (1 + k t)."""
    robot, rod = eel(ag.StrainOffset(0.0), 64)
    speed = 0.8
    start = np.zeros(robot.size), np.append([-speed], np.zeros(robot.size - 1))
    run = ag.simulate(robot, duration=1.0, dt=0.01, start=start)
    swum = ag.strides(run, rod.root, period=0.5)
    axes = rod.rod.section.semi_axes
    pieces = [0.0, *rod.rod.breakpoints, 2.0]
    x, w = np.polynomial.legendre.leggauss(40)
    angle, perimeter = 0.5 * np.pi * (1 + x), 0.0
    for low, high in pairwise(pieces):
        X = low + (high - low) * 0.5 * (1 - np.cos(angle))
        perimeter += (high - low) * 0.25 * np.pi * (w * np.sin(angle)) @ (np.pi * axes(X).sum(axis=1))
    drag, mass = 0.5 * 1000.0 * 0.01 * perimeter, rod.rod.mass
    slow = lambda t: speed / (1.0 + drag * speed / mass * t)
    way = lambda t: mass / drag * np.log(1.0 + drag * speed / mass * t)
    assert swum.mass == pytest.approx(mass, rel=1e-6)
    assert swum.speed == pytest.approx([way(0.5) / 0.5, (way(1.0) - way(0.5)) / 0.5], rel=1e-6)
    mean = [quad(lambda t: drag * slow(t) ** 2, a, a + 0.5)[0] / 0.5 for a in (0.0, 0.5)]
    assert swum.drag == pytest.approx(mean, rel=1e-4)
    assert swum.displacement[:, 0] == pytest.approx(-0.5 * swum.speed)
    assert np.abs(swum.thrust).max() < 1e-9 and np.abs(swum.power).max() < 1e-9
    assert not np.any(swum.efficiency)


def test_steady_swimming_balances_thrust_and_drag():
    """By the fifth second of a short, light swimmer the mean force is gone."""
    robot = ag.Robot("worm", gravity=(0, 0, 0))
    gait = ag.TravellingWave(12.0, wavelength=0.2, period=0.5, ramp=(0.0, 0.5))
    rod = ag.Rod(0.3, ag.Circle(0.006), ag.Material(1.0, 1000.0), shape=gait, intervals=32)
    worm = robot.add(rod, at=robot.ground, joint=ag.Free())
    robot.load(ag.Morison(worm, axial=0.1))
    run = ag.simulate(robot, duration=6.0, dt=0.005)
    swum = ag.strides(run, worm.root, period=0.5)
    assert swum.speed[-1] > 0.03
    assert swum.thrust[-1] == pytest.approx(swum.drag[-1], rel=0.02)
    assert swum.thrust[1] > 1.2 * swum.drag[1]  # it gathers speed
    assert swum.cost_of_transport[-1] == pytest.approx(swum.power[-1] / (swum.mass * swum.speed[-1]))
    assert swum.power[-1] > 0.0
    end = ag.strides(run, worm.root, period=0.5, last=2)
    assert end.speed == pytest.approx(swum.speed[-2:]) and end.power == pytest.approx(swum.power[-2:])
    assert end.thrust == pytest.approx(swum.thrust[-2:])


def check_powers(run, least=0.1, tolerance=1e-6):
    """The balance at every instant, and the work against the energy."""
    powers = ag.powers(run)
    size = np.abs(powers.motors).max()
    assert size > least
    assert np.abs(powers.imbalance).max() < tolerance * size
    energy = run.energy["total"]
    work = simpson(powers.motors + powers.water + powers.others - powers.dissipated, x=run.t)
    return work, energy[-1] - energy[0], powers


def test_power_of_muscles():
    robot, _ = fish(50.0)
    run = ag.simulate(robot, duration=1.0, dt=1e-3, tolerance=1e-12)
    work, change, _ = check_powers(run)
    assert work == pytest.approx(change, rel=1e-3)


def test_power_of_tendons_and_damping():
    robot = ag.Robot("arm", gravity=(0, 0, -9.81))
    rod = ag.Rod(0.4, ag.Circle(0.01), ag.Material(1e6, 1000.0, damping=0.05), ag.kirchhoff(3))
    arm = robot.add(
        rod, at=robot.ground, joint=ag.Revolute((0, 0, 1), effort=lambda t: 0.02 * np.sin(4 * t), damping=0.01)
    )
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008)))
    robot.load(ag.TipWrench(arm, force=(0.0, 0.05, 0.0)))
    run = ag.simulate(robot, duration=0.5, dt=5e-4, inputs={"pull": lambda t: 4.0 * t})
    work, change, powers = check_powers(run, least=1e-3)
    assert powers.dissipated.max() > 1e-4 and np.abs(powers.others).max() > 1e-4
    assert work == pytest.approx(change, rel=2e-3)


def test_torque_envelope():
    robot, rod = stick(ag.StrainOffset(0.4, ramp=None), material=ag.Material(2e5, 1000.0))
    run = ag.simulate(robot, duration=0.1, dt=0.05)
    envelope = ag.torque_envelope(run, rod, [0.5, 1.5], since=0.05)
    exact = rod.rod.hooke([0.5])[0, 2] * 0.4
    assert envelope.peak[:, 2] == pytest.approx(exact) and envelope.rms[:, 2] == pytest.approx(exact)
    assert np.abs(envelope.peak_power).max() < 1e-9
    wave, rod = stick(ag.gaits.forward())
    run = ag.simulate(wave, duration=2.0, dt=0.02)
    envelope = ag.torque_envelope(run, rod)
    torque = run.control_torque(rod, envelope.X)
    assert envelope.peak == pytest.approx(np.abs(torque).max(axis=0))
    assert envelope.X.shape == (40,) and envelope.peak_power.max() > 0.1


@pytest.mark.parametrize(
    ("period", "text"), [(0.033, "whole number of stored steps"), (3.0, "shorter than one period"), (-1.0, "period")]
)
def test_mistakes_in_strides(period, text):
    robot, rod = stick()
    run = ag.simulate(robot, duration=0.1, dt=0.05)
    with pytest.raises(DescriptionError, match=text):
        ag.strides(run, rod.root, period=period)
    with pytest.raises(DescriptionError, match="a Trajectory"):
        ag.powers(robot)
    with pytest.raises(DescriptionError, match="since must lie"):
        ag.torque_envelope(run, rod, since=9.0)


# The fish of 003 VII.D ------------------------------------------------------------------------------------------------


def test_acceleration_of_the_fish_by_riccati_two_passes_and_the_core():
    """003 (84)-(85) at one instant of planar swimming: all agree to 1e-6."""
    wave = ag.TravellingWave((1.0, 0.5, 2.0), strain="bend_y", ramp=None, phase=0.4)
    robot, rod = fish(intervals=160)
    rod.rod.shape = wave
    spin, velocity = np.array([0.0, 0.7, 0.0]), np.array([-0.9, 0.0, 0.2])
    start = np.zeros(robot.size), np.concatenate([velocity, spin, np.zeros(robot.size - 6)])
    run = ag.simulate(robot, duration=1e-3, dt=1e-3, start=start)
    core = np.concatenate([run.a[0, 3:6], run.a[0, :3] - np.cross(spin, velocity)])  # rate of the body twist at R = 1

    section, water = rod.rod.section, 1000.0

    def added(X):
        h, w = section.semi_axes(np.minimum(X, 1.0)).T
        inside = np.asarray(X) < 1.0  # the tail sheds water only
        zero = 0.0 * h
        return np.stack([zero, inside * zero, zero, zero, water * np.pi * w**2, water * np.pi * h**2], axis=1)

    def strain(order):
        def field(X):
            out = np.zeros((len(X), 6))
            out[:, 1] = wave.jets(X, 0.0)[0, :, 1, order]
            out[:, 3] = 1.0 if order == 0 else 0.0
            return out

        return field

    plain = ag.Robot("plain", gravity=(0, 0, 0))
    own = plain.add(
        ag.Rod(1.0, section, ag.Material(1.0, 1000.0), ag.Strains(bend_y=4)), at=plain.ground, joint=ag.Free()
    )
    for method in ("riccati", "two-pass"):
        answer = shooting.inverse_dynamics(
            plain, *({own: strain(k)} for k in range(3)), root=(np.eye(4), np.concatenate([spin, velocity])), t=0.0,
            method=method, intervals=160, added={own: added},
        )  # fmt: skip
        assert answer.root_acceleration[own.name] == pytest.approx(core, abs=1e-6 * np.abs(core).max()), method


def test_the_muscle_tends_to_the_imposed_wave():
    """003 figure 6 (b): V1 of the forward motion approaches the inverse one as the gain grows."""
    speeds = []
    for gain in (None, 50.0, 200.0, 800.0):
        robot, rod = fish(gain)
        speeds.append(ag.simulate(robot, duration=1.5, dt=0.005).twist(rod.root)[:, 3])
    gaps = [np.abs(speed - speeds[0]).max() / np.abs(speeds[0]).max() for speed in speeds[1:]]
    assert gaps[0] < 0.05 and gaps[2] < 0.3 * gaps[1] < 0.3 * 0.4 * gaps[0]
