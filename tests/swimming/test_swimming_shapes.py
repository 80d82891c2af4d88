"""Prescribed shapes in the core: first integrals in vacuum, order in time and space, efforts, control torque, power."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import simpson
from swimmers import SOFT, stick

import anguilla as ag
from anguilla.errors import DescriptionError

RUBBER = ag.Material(young=2e5, density=1000.0, damping=0.02)


def test_first_integrals_in_vacuum():
    """001 VI: six first integrals, here over 10 s of the spiral gait."""
    robot, _ = stick()
    run = ag.simulate_explicit(robot, duration=10.0, dt=0.1, rtol=1e-10, atol=1e-12)
    assert np.abs(run.q).max() > 0.1  # it moves
    assert np.abs(run.momentum).max() < 1e-9
    assert np.abs(run.angular_momentum).max() < 1e-9


def test_the_shape_is_followed_exactly():
    robot, eel = stick()
    X, gait = np.linspace(0, 2, 7), ag.gaits.spiral()
    for run in (
        ag.simulate(robot, duration=0.6, dt=0.02),
        ag.simulate_explicit(robot, duration=0.6, dt=0.02),
    ):
        exact = gait.jets(X, run.t)[..., 0] + [0, 0, 0, 1, 0, 0]
        assert run.strain(eel, X) == pytest.approx(exact, abs=1e-10)


def test_implicit_steps_are_of_second_order():
    robot, eel = stick(intervals=16)
    exact = ag.simulate_explicit(robot, duration=2.0, dt=0.1, rtol=1e-10, atol=1e-12)
    errors, drifts = [], []
    for dt in (0.04, 0.02, 0.01):
        run = ag.simulate(robot, duration=2.0, dt=dt)
        errors.append(np.abs(run.position(eel.root)[-1] - exact.position(eel.root)[-1]).max())
        drifts.append(np.abs(run.angular_momentum).max())
    assert errors[-1] < 2e-4
    for values in (errors, drifts):
        assert all(3.6 < a / b < 4.4 for a, b in pairwise(values))


def test_space_is_of_fourth_order():
    tips = []
    for intervals in (12, 24, 48, 96):
        robot, eel = stick(intervals=intervals)
        run = ag.simulate_explicit(robot, duration=0.6, dt=0.1, rtol=1e-10, atol=1e-12)
        tips.append(run.position(eel.tip)[-1])
    errors = [np.abs(tip - tips[-1]).max() for tip in tips[:-1]]
    assert errors[-1] < 2e-6
    assert all(12.0 < a / b < 24.0 for a, b in pairwise(errors))


def test_rest_of_the_balance_vanishes_at_the_free_end():
    """001 figure 10: the wrench integrated from one end is zero at the other."""
    robot, eel = stick(intervals=160)
    run = ag.simulate_explicit(robot, duration=1.6, dt=0.1, rtol=1e-9, atol=1e-11)
    wrench = run.wrench(eel, [0.0, 1.0, 2.0])[::4]
    assert np.abs(wrench[:, 1]).max() > 1.0
    assert np.abs(wrench[:, 2]).max() == 0.0
    assert np.abs(wrench[:, 0]).max() < 2e-8


@pytest.mark.parametrize("material", [SOFT, RUBBER], ids=["soft", "rubber"])
def test_efforts_are_the_moments_of_the_control_torque(material):
    """effort = integral of phi^T M, with the passive law of the rod in both."""
    robot, eel = stick(ag.gaits.turning() + ag.StrainOffset(0.0, "twist"), intervals=60, material=material)
    run = ag.simulate(robot, duration=0.8, dt=0.02, every=10)
    x, w = np.polynomial.legendre.leggauss(24)
    X = 1.0 + x
    torque, effort = run.control_torque(eel, X), run.effort(eel)
    assert effort.shape == (5, 6 + 4) and not np.any(effort[:, :6])
    projected, at = [], 6
    for name, basis in eel.rod.strains.items():
        column = torque[:, :, ag.STRAIN_NAMES.index(name)]
        projected.append(np.einsum("tm,m,mk->tk", column, w, basis(X / 2.0)))
        at += basis.size
    assert effort[:, 6:] == pytest.approx(np.concatenate(projected, axis=1), abs=3e-6 * np.abs(effort).max())
    assert not np.any(torque[:, :, [1, 3, 4, 5]])  # what is not prescribed


def test_control_torque_of_a_held_bend_is_elastic():
    """A bent rod at rest without loads: M = E I K, positive along the strain."""
    robot, eel = stick(ag.StrainOffset((0.3, 0.1), ramp=None), material=RUBBER)
    run = ag.simulate(robot, duration=0.1, dt=0.05)
    X = np.array([0.2, 1.7])
    torque = run.control_torque(eel, X)[-1, :, 2]
    assert torque == pytest.approx(eel.rod.hooke(X)[:, 2] * (0.3 + 0.1 * X), rel=1e-9)
    assert np.abs(run.momentum).max() < 1e-12


def test_power_of_the_motors_is_the_rate_of_energy():
    """Without damping and water all work of the motors is kinetic or elastic."""
    material = ag.Material(young=2e5, density=1000.0)
    robot, eel = stick(intervals=16, material=material)
    run = ag.simulate_explicit(robot, duration=0.6, dt=0.01, rtol=1e-9, atol=1e-11)
    power = np.sum(run.effort(eel)[:, 6:] * run.v[:, 6:], axis=1)
    energy = run.energy["total"]
    assert energy[-1] - energy[0] > 0.5
    assert simpson(power, x=run.t) == pytest.approx(energy[-1] - energy[0], rel=1e-6)


def test_free_and_imposed_strains_live_together():
    """A rod that prescribes bend_z and twists and bends the other way by itself: stiffer springs give the rigid result."""
    gait = ag.TravellingWave(0.6, wavelength=1.5, period=1.0)
    straight, line = stick(gait)
    exact = ag.simulate(straight, duration=0.5, dt=0.01).position(line.tip)[-1]
    lean = ag.Strains(bend_y=ag.Legendre(2), bend_z=gait.strains(2.0)["bend_z"])
    errors = []
    for young in (1e6, 4e6):
        robot, eel = stick(gait, strains=lean, material=ag.Material(young, 1000.0), intervals=24)
        robot.load(ag.Wrench(eel.tip, force=(0.0, 0.0, 2.0)))
        base, _ = stick(gait, material=ag.Material(young, 1000.0))
        base.load(ag.Wrench(base.part("eel").tip, force=(0.0, 0.0, 2.0)))
        stiff = ag.simulate(base, duration=0.5, dt=0.01)
        run = ag.simulate(robot, duration=0.5, dt=0.01)
        assert np.abs(run["eel.bend_y[0]"]).max() > 1e-4
        errors.append(np.abs(run["eel.bend_y[0]"]).max())
        assert run.effort(eel).shape == (51, 6 + 4)
        assert not np.any(run.effort(eel)[:, 6:8])
        assert np.abs(stiff.position(base.part("eel").tip)[-1] - exact).max() > 0.0
    assert 3.0 < errors[0] / errors[1] < 5.0


def test_a_fixed_root_needs_no_free_coordinate():
    """The wave of a clamped rod is pure kinematics; the reaction at the clamp is the rate of momentum."""
    robot, eel = stick(ag.gaits.forward(), joint=ag.Fixed(), intervals=80)
    run = ag.simulate(robot, duration=0.4, dt=1e-3)
    force = -np.einsum("tij,tj->ti", run.pose(eel.root)[:, :3, :3], run.wrench(eel, [0.0])[:, 0, 3:])
    rate = np.gradient(run.momentum, run.t, axis=0)
    assert np.abs(rate).max() > 1.0
    assert force[2:-2] == pytest.approx(rate[2:-2], abs=1e-4 * np.abs(rate).max())


def test_control_torque_needs_an_imposed_shape():
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.01), RUBBER, ag.planar(2)), at=robot.ground)
    with pytest.raises(DescriptionError, match="has no prescribed shape"):
        ag.statics(robot).control_torque(arm)


def test_a_result_with_a_shape_is_saved_and_read(tmp_path):
    robot, eel = stick()
    run = ag.simulate(robot, duration=0.2, dt=0.02)
    again = ag.load(run.save(tmp_path / "run.nc"))
    assert again.control_torque(again.robot.part("eel"), [1.0]) == pytest.approx(run.control_torque(eel, [1.0]))
