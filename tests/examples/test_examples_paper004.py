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


# Planar parallel robot ------------------------------------------------------------------------------------------------


def test_the_mounted_robot_is_free_of_stress(example):
    p = example(CPR).module
    robot = p.robot_of()
    rest = ag.statics(robot)
    assert np.abs(rest.q).max() < 1e-12 and np.abs(rest.multipliers).max() < 1e-12
    np.testing.assert_allclose(rest.position(robot.part("leg1").tip), (np.sqrt(1 - 0.4**2), 0.0, 0.0), atol=1e-12)


def test_the_held_robot_is_that_of_shooting(example):
    p = example(CPR).module
    x, angle, force = p.held()
    assert 0.5 + force * x == pytest.approx(0.0, abs=1e-9)  # moments about the motor
    robot = p.robot_of(10, intervals=40)
    eq = p.quietly(ag.statics, robot, t=3.0)
    np.testing.assert_allclose(eq.position(robot.part("leg1").tip), (x, 0.0, 0.0), atol=1e-6)
    assert eq["leg1.angle"] == pytest.approx(angle, abs=1e-5)
    assert eq["leg2.angle"] == pytest.approx(-angle, abs=1e-5)
    assert np.linalg.norm(eq.reaction(robot.closures["hinge"])[3:]) == pytest.approx(-force, abs=1e-5)


def test_the_loop_stays_closed(example):
    assert example(CPR).result.gap() < 1e-9


def test_the_robot_is_symmetric_until_one_torque_changes(example):
    result = example(CPR).result
    before = result.run.t <= 4.0
    assert np.abs(result.tip()[before, 1]).max() < 1e-9
    assert np.abs(result.angles()[before].sum(axis=1)).max() < 1e-8
    assert np.abs(result.multipliers()[before, 0]).max() < 1e-6
    assert result.tip()[:, 1].max() > 0.15  # then it tilts upwards
    tall = result.tip()[400:701, 1] > 0.14
    assert np.sum(np.diff(tall.astype(int)) == 1) == 2  # twice up in three cycles of the torque


def test_the_motion_converges_with_the_step_and_the_modes(example):
    p = example(CPR).module
    tips = [p.drive(dt=dt).tip()[:401] for dt in (5e-3, 2.5e-3, 1.25e-3)]
    first, second = (np.abs(a - b).max() for a, b in pairwise(tips))
    assert second < 1e-3
    assert np.log2(first / second) == pytest.approx(2.0, abs=0.25)
    five, eight = (p.drive(n, dt=5e-3).tip() for n in (5, 8))
    assert np.abs(five - eight).max() < 5e-4  # five modes are enough


def test_work_of_the_motors_is_energy_and_heat(example):
    p = example(CPR).module
    run = p.drive(dt=2.5e-3).run
    rates = run.v[:, [0, run.v.shape[1] // 2]]
    power = np.einsum("ti,ti->t", np.array([p.torques(t) for t in run.t]), rates)
    heat = p.MU * np.einsum("ti,ij,tj->t", run.v, run.system.elastic_stiffness(), run.v)
    balance = cumulative_trapezoid(power - heat, run.t, initial=0.0) - run.energy["total"]
    assert np.abs(balance).max() < 5e-3 * run.energy["total"].max()


@pytest.mark.slow
def test_the_law_as_printed_winds_the_legs_up(example):
    p = example(CPR).module
    run = p.literal(2.5e-3)  # longer steps do not follow the legs to where they break
    assert not run.status.success and 4.0 < run.t[-1] < 4.6
    assert np.abs(run["leg1.angle"]).max() > 13.0
