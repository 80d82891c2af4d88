"""Numbers of the examples of paper 004, against other programs, other integrators and the laws of mechanics."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

import anguilla as ag

FLY, DRONES, CPR = "paper004_flying_rods", "paper004_drones", "paper004_parallel_robot"

pytestmark = pytest.mark.xdist_group("paper004")  # one process runs each example once


# Flying rods ----------------------------------------------------------------------------------------------------------


def test_the_soft_flying_rod_is_that_of_another_program(example):
    off = example(FLY).result.off
    assert off["reissner 8"].max() < 3e-3  # of 10 m, over 5 s
    assert off["reissner 4"].max() < 2e-2
    assert off["reissner 8"][20] < 2e-4  # at 1 s


def test_the_kirchhoff_rod_is_another_model(example):
    """It neither stretches nor shears: about 1e-2 m apart at 3 s (errata) when converged."""
    p = example(FLY).module
    run = p.fly(p.soft(ag.kirchhoff(8)), duration=3.0)
    assert 0.01 < p.distance(run)[-1] < 0.04


@pytest.mark.parametrize(("which", "impulse"), [("soft", 50.0), ("stiff", 1.07)])
def test_momentum_is_the_impulse(example, which, impulse):
    """The force is along x and gone at 5 or 0.2 s; what is left of the step's error is of second order."""
    p = example(FLY).module
    drift = []
    for dt in (5e-3, 2.5e-3):
        run = p.fly(
            getattr(p, which)(ag.kirchhoff(3)), dt=dt, duration=6.0 if which == "soft" else 0.5, tolerance=1e-10
        )
        drift.append(np.abs(run.momentum[-1] - (impulse, 0.0, 0.0)).max())
    assert drift[1] < 3e-3 * impulse
    assert drift[0] > 3.0 * drift[1]


def test_the_stiff_rod_converges_to_the_explicit_motion(example):
    p = example(FLY).module
    exact = ag.simulate_explicit(p.stiff(ag.kirchhoff(3)), duration=0.5, dt=p.KEPT, rtol=1e-8, atol=1e-11)
    assert np.abs(exact.momentum[-1] - (1.07, 0.0, 0.0)).max() < 1e-6
    assert np.ptp(exact.energy["total"][4:]) < 1e-6 * exact.energy["total"][-1]  # after the stroke
    truth, off = np.concatenate(p.ends(exact), axis=1), []
    for dt in (1.25e-3, 6.25e-4):
        run = p.fly(p.stiff(ag.kirchhoff(3)), dt=dt, duration=0.5, tolerance=1e-10)
        off.append(np.linalg.norm(np.concatenate(p.ends(run), axis=1) - truth, axis=1).max())
    assert off[1] < 3e-4
    assert np.log2(off[0] / off[1]) == pytest.approx(2.0, abs=0.15)


def test_real_time_factors_are_far_below_those_of_the_paper(example):
    paper = {"stiff cantilever": 7.1, "soft cantilever": 9.1, "stiff flying rod": 8.5, "soft flying rod": 7.9}
    for name, ratio in example(FLY).module.realtime(repeat=3).items():
        assert ratio < 0.1 * paper[name]


# Drones ---------------------------------------------------------------------------------------------------------------


def test_thrust_is_the_rate_of_momentum(example):
    """The thrusts follow from the control law and the motion; nothing else acts from outside."""
    result = example(DRONES).result
    run, places = result.run, result.places()
    force, moment = np.zeros((len(run.t), 3)), np.zeros((len(run.t), 3))
    for body in (0, 2):
        thrust = result.thrust(body)
        force += thrust[:, 3:]
        moment += thrust[:, :3] + np.cross(places[body], thrust[:, 3:])
    for rate, total in ((force, run.momentum), (moment, run.angular_momentum)):
        gained = cumulative_trapezoid(rate, run.t, axis=0, initial=0.0)
        assert np.abs(gained - total).max() < 2e-3 * np.abs(total).max()


def test_power_of_the_thrusts_is_the_rate_of_energy(example):
    result = example(DRONES).result
    run = result.run
    power = np.zeros(len(run.t))
    for body in (0, 2):
        frame = result.frames[body]
        twist, rotation = run.twist(frame), run.pose(frame)[:, :3, :3]
        world = np.concatenate([np.einsum("tij,tj->ti", rotation, twist[:, k : k + 3]) for k in (0, 3)], axis=1)
        power += np.einsum("ti,ti->t", result.thrust(body), world)
    work = cumulative_trapezoid(power, run.t, initial=0.0)
    assert np.abs(work - run.energy["total"]).max() < 5e-3 * np.abs(work).max()


def test_the_drones_stay_in_their_plane(example):
    assert np.abs(example(DRONES).result.places()[:, :, 1]).max() < 1e-12


def test_the_flight_converges(example):
    p = example(DRONES).module
    places = [p.Result(p.carry(dt=dt)).places()[:, :: round(0.02 / dt)] for dt in (2e-2, 1e-2, 5e-3)]
    first, second = (np.abs(a - b).max() for a, b in pairwise(places))
    assert second < 5e-4
    assert np.log2(first / second) == pytest.approx(2.0, abs=0.15)
    modes = [p.Result(p.carry(n)).places() for n in (5, 7, 9)]
    few, many = (np.abs(a - b).max() for a, b in pairwise(modes))
    assert many < 0.3 * few and many < 2e-3
    assert 0.01 < np.abs(modes[-1] - p.Result(p.carry(3)).places()).max() < 0.05  # how far the paper's three are


def test_identical_commands_move_identical_halves_alike(monkeypatch, example):
    """With the same velocity wanted of both drones the robot stays symmetric about the plane of the box."""
    p = example(DRONES).module
    monkeypatch.setattr(p, "wanted", lambda body, t: np.array([0.0, 0.0, np.sin(np.pi * t)]))
    off = []
    for dt in (1e-2, 5e-3):
        first, box, second = p.Result(p.carry(duration=2.0, dt=dt)).places()
        tilt, shift = first[:, 2] - second[:, 2], first[:, 0] + second[:, 0] - 2.0 * box[:, 0]
        off.append(max(np.abs(tilt).max(), np.abs(shift).max()))
        assert np.abs(box[:, 2] - first[:, 2]).max() > 0.05
    # the coordinates start at the first drone: only the motion is symmetric, the error of the steps is not
    assert off[1] < 1e-5
    assert np.log2(off[0] / off[1]) == pytest.approx(2.0, abs=0.2)
