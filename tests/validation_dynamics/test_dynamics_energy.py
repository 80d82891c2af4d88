"""Energy: kept by the midpoint rule over many steps, in the plane and in space; lost to damping as it should."""

from functools import cache

import numpy as np
import pytest
from dynamics_oracles import order
from scipy.linalg import eigh

import anguilla as ag

LENGTH, RADIUS, YOUNG = 0.3, 0.01, 3e5  # of the vibrating rod


@cache
def swing(kind, young=3e6, push=3.0, damping=0.0):
    """A hanging rod, released from the equilibrium under gravity and a sideways force at its tip, in EI / L^2."""
    strains = {"plane": ag.planar(2), "space": ag.Strains(twist=1, bend_y=2, bend_z=2)}[kind]
    force = push * young * np.pi * RADIUS**4 / 4 / LENGTH**2 * np.array([0.0, 1.0, 0.0 if kind == "plane" else 0.5])
    section = ag.Ellipse(RADIUS, 0.8 * RADIUS)
    material = ag.Material(young=young, density=1000, poisson=0.45, damping=damping)
    rod = ag.Rod(LENGTH, section, material, strains, intervals=6)
    robot, held = ag.Robot(gravity=(9.81, 0, 0)), ag.Robot(gravity=(9.81, 0, 0))
    arm, other = robot.add(rod, at=robot.ground), held.add(rod, at=held.ground)
    held.load(ag.TipWrench(other, force=force))
    return robot, arm, ag.statics(held)


def energy_error(kind, steps, dt, young=3e6, push=3.0):
    """(total energy minus its start) over the largest kinetic energy, every 10 steps, and the tip's travel / L."""
    robot, arm, start = swing(kind, young, push)
    run = ag.simulate(robot, duration=steps * dt, dt=dt, start=start, method=ag.Midpoint(), tolerance=1e-10, every=10)
    energy = run.energy
    error = (energy["total"] - energy["total"][0]) / energy["kinetic"].max()
    return error, np.ptp(run.position(arm.tip), axis=0).max() / LENGTH


def envelope(error, pieces=50):
    """Middle and width (pieces,) of the band in which the error moves."""
    blocks = error[1:].reshape(pieces, -1)
    return 0.5 * (blocks.max(axis=1) + blocks.min(axis=1)), np.ptp(blocks, axis=1)


@pytest.mark.filterwarnings("ignore::anguilla.AnguillaWarning")  # long steps on purpose
@pytest.mark.parametrize("kind", ["plane", "space"])
@pytest.mark.parametrize("steps", [10_000, 100_000])
def test_midpoint_keeps_the_energy_of_a_large_regular_swing(kind, steps):
    error, travel = energy_error(kind, steps, 0.0047)  # about 120 steps a period
    middle, width = envelope(error)
    drift = abs(np.polyfit(np.linspace(0.0, 1.0, len(middle)), middle, 1)[0])  # over the whole run
    assert travel > 1.0
    assert np.abs(error).max() < 5e-4
    assert drift < 0.05 * width.mean()


def test_midpoint_loses_no_energy_in_a_wild_swing():
    """A very soft rod moves chaotically: the energy wanders, by less than 3 % over 1e5 steps, and has no trend.

    The rule is time-reversible but not symplectic in (q, v), so it promises no more than that.
    """
    error, travel = energy_error("space", 100_000, 1e-3, young=3e5, push=25.0)
    assert travel > 1.0
    assert np.abs(error).max() < 0.03


@pytest.mark.parametrize("kind", ["plane", "space"])
@pytest.mark.parametrize("method", [ag.Midpoint(), ag.Newmark()])
def test_the_energy_error_falls_with_the_square_of_the_step(kind, method):
    robot, _, start = swing(kind)
    errors = []
    for steps in (1000, 2000, 4000):
        run = ag.simulate(robot, duration=1.0, dt=1.0 / steps, start=start, method=method, tolerance=1e-10,
                          every=steps // 200)  # fmt: skip
        energy = run.energy
        errors.append(np.sqrt(np.mean((energy["total"] - energy["total"][0]) ** 2)) / energy["kinetic"].max())
    assert errors[-1] < 1e-5
    assert order([4.0, 2.0, 1.0], errors) == pytest.approx(2.0, abs=0.15)


def test_midpoint_can_be_run_backwards():
    robot, arm, start = swing("space")
    options = {"duration": 0.5, "dt": 1e-3, "method": ag.Midpoint(), "tolerance": 1e-12}
    there = ag.simulate(robot, start=start, **options)
    back = ag.simulate(robot, start=(there.q[-1], -there.v[-1]), **options)
    assert np.ptp(there.position(arm.tip), axis=0).max() > 0.5 * LENGTH
    np.testing.assert_allclose((back.q[-1] - start.q) * back.system.tree.scale, 0.0, atol=1e-6)


@pytest.mark.parametrize("kind", ["plane", "space"])
def test_lost_energy_is_the_work_of_the_viscous_stress(kind):
    damping = 2e-2
    robot, arm, start = swing(kind, damping=damping)
    gaps = []
    for steps in (500, 1000, 2000):
        run = ag.simulate(robot, duration=0.5, dt=0.5 / steps, start=start, method=ag.Newmark(), tolerance=1e-9)
        total = run.energy["total"]
        # power mu H (strain rate)^2 along the rod; strain rates are the strains of the rates, the rest shape taken off
        x, w = np.polynomial.legendre.leggauss(8)
        X = 0.5 * LENGTH * (1 + x)
        rates = ag.Trajectory(robot, run.system, run.status, run.t, run.v, run.v, run.v).strain(arm, X)
        rates = rates - arm.rod.rest.strain(X)
        power = damping * np.einsum("m,mi,tmi->t", 0.5 * LENGTH * w, arm.rod.hooke(X), rates**2)
        gaps.append(abs(total[0] - total[-1] - np.trapezoid(power, run.t)) / (total[0] - total[-1]))
    assert total[0] - total[-1] > 0.2 * run.energy["kinetic"].max()
    assert gaps[-1] < 1e-4
    assert order([4.0, 2.0, 1.0], gaps) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("mode", [0, 1])
def test_a_mode_decays_with_half_mu_omega(mode):
    damping = [3e-2, 3e-3][mode]
    robot = ag.Robot(gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, density=1000, poisson=0.45, damping=damping)
    robot.add(ag.Rod(LENGTH, ag.Circle(RADIUS), material, ag.planar(3), intervals=10), at=robot.ground)
    system = ag.Model(robot)
    stiffness, viscosity, mass = system.matrices(np.zeros(3))
    np.testing.assert_allclose(viscosity, damping * stiffness, atol=1e-9 * np.abs(viscosity).max())
    squares, shapes = eigh(stiffness, mass)
    omega, shape = np.sqrt(squares[mode]), shapes[:, mode]
    ratio = 0.5 * damping * omega
    assert 0.02 < ratio < 0.2
    shape = 1e-4 * shape / np.linalg.norm(shape * system.tree.scale)
    damped = omega * np.sqrt(1 - ratio**2)
    # the free decay q = exp(-ratio omega t) cos(damped t): its rate at t = 0 is -ratio omega
    dt = 2 * np.pi / damped / 800
    run = ag.simulate(robot, duration=8 * 800 * dt, dt=dt, start=(shape, -ratio * omega * shape), method=ag.Newmark(),
                      tolerance=1e-9)  # fmt: skip
    projection = run.q @ mass @ shape / (shape @ mass @ shape)
    rate = run.v @ mass @ shape / (shape @ mass @ shape)
    # exp(-ratio omega t) is the modulus of q + i (rate + ratio omega q) / damped
    modulus = np.hypot(projection, (rate + ratio * omega * projection) / damped)
    keep = modulus > 1e-3
    measured = -np.polyfit(run.t[keep], np.log(modulus[keep]), 1)[0] / omega
    assert measured == pytest.approx(ratio, rel=1e-4)
