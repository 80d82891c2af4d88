"""The eel of 001 by the core against the algorithm of the paper, in water; signs, balances, orders."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import simpson
from swimmers import eel

import anguilla as ag
from anguilla import lie
from anguilla.interact.fluids import Morison
from anguilla.reference import eel as reference
from anguilla.reference import gaits, water

BENT = (
    ag.TravellingWave((1.0, -0.75, 1.0), ramp=None, phase=0.3)
    + ag.TravellingWave((0.4, 0.3), wavelength=1.7, period=0.8, strain="bend_y", ramp=None)
    + ag.TravellingWave(0.5, wavelength=2.5, period=1.3, strain="twist", ramp=None, phase=1.0)
)
SEA, NOSE = water.Water(), water.Water(head_drag=1.767146, head_mass=0.441786)


def moving():
    """A head with any pose and velocity: the state of the paper's algorithm, coordinates and rates of the core."""
    rng = np.random.default_rng(3)
    turn, r, dr, spin = 0.8 * rng.normal(size=3), rng.normal(size=3), 0.6 * rng.normal(size=3), 1.5 * rng.normal(size=3)
    R = lie.exp3(turn)
    return reference.Head(r, R, dr, R @ spin), np.concatenate([r, turn]), np.concatenate([dr, spin])


def accelerations(robot):
    """Acceleration of the head (3,) and its angular acceleration (3,), world axes, and the result they come from."""
    head, q, v = moving()
    rest = np.zeros(robot.size - 6)
    run = ag.simulate(robot, duration=1e-3, dt=1e-3, start=(np.append(q, rest), np.append(v, rest)))
    return run.a[0, :3], head.R @ run.a[0, 3:6], run


@pytest.mark.parametrize("nose", [False, True])
def test_acceleration_and_control_torque_are_those_of_the_paper(nose):
    """001 (34), (63), (64) at one instant of a motion in space: K, its rates, and the water all act."""
    robot, rod = eel(BENT, 128, nose=nose)
    linear, angular, run = accelerations(robot)
    swimmer = reference.make_eel(water.eel_body(), NOSE if nose else SEA, gaits.curvature_law(BENT), points=24)
    now = reference.instant(swimmer, moving()[0], 0.0)
    assert linear == pytest.approx(now.ddr_o, abs=2e-5 * np.abs(now.ddr_o).max())
    assert angular == pytest.approx(now.d_omega_o, abs=2e-5 * np.abs(now.d_omega_o).max())
    X = swimmer.grid.X.ravel()[20::16]
    wrench, torque = run.wrench(rod, X)[0], run.control_torque(rod, X)[0]
    n = np.einsum("pmji,pmj->pmi", now.R, now.n).reshape(-1, 3)[20::16]
    M = now.M.reshape(-1, 3)[20::16]
    assert -wrench[:, 3:] == pytest.approx(n, abs=3e-5 * np.abs(n).max())
    assert -wrench[:, :3] == pytest.approx(M, abs=1e-4 * np.abs(M).max())
    assert torque[:, :3] == pytest.approx(M, abs=1e-4 * np.abs(M).max())


@pytest.mark.parametrize("column", [13, 14, 15], ids=["along t2", "along t3", "about t1"])
def test_a_wrong_sign_of_added_mass_is_seen(column, monkeypatch):
    """With rho A - c_lm, or rho I - c_am, as printed in (42), the head accelerates otherwise."""
    now = reference.instant(
        reference.make_eel(water.eel_body(), SEA, gaits.curvature_law(BENT), points=24), moving()[0], 0.0
    )
    right = Morison.coefficients

    def wrong(self, X):
        out = right(self, X)
        out[:, column] *= -1.0
        return out

    monkeypatch.setattr(Morison, "coefficients", wrong)
    linear, angular, _ = accelerations(eel(BENT, 192)[0])
    off = max(np.abs(linear - now.ddr_o).max() / np.abs(now.ddr_o).max(),
              np.abs(angular - now.d_omega_o).max() / np.abs(now.d_omega_o).max())  # fmt: skip
    assert off > 3e-4


def test_core_and_paper_swim_together():
    """The first second of the spiral."""
    robot, rod = eel(ag.gaits.spiral(), 128)
    times = np.linspace(0.0, 1.0, 11)
    run = ag.simulate_explicit(robot, duration=1.0, dt=0.1, rtol=1e-9, atol=1e-11)
    swimmer = reference.make_eel(water.eel_body(), SEA, gaits.spiral)
    states = reference.swim(swimmer, times, tolerance=1e-8)
    assert np.abs(states[-1, :3]).max() > 0.03
    assert run.position(rod.root) == pytest.approx(states[:, :3], abs=2e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", gaits.GAITS)
def test_core_and_paper_swim_together_for_ten_seconds(name):
    """Both integrate from tenth to tenth of a second, so that no step runs over the end of the ramp."""
    robot, rod = eel(getattr(ag.gaits, name)(), 192)
    run = ag.simulate_explicit(robot, duration=10.0, dt=0.1, rtol=1e-10, atol=1e-12)
    swimmer = reference.make_eel(water.eel_body(), SEA, gaits.GAITS[name], points=24)
    states = [reference.AT_REST]
    for k in range(100):
        states.append(reference.swim(swimmer, [0.1 * k, 0.1 * (k + 1)], start=states[-1], tolerance=1e-10)[-1])
    assert run.position(rod.root) == pytest.approx(np.array(states)[:, :3], abs=1e-6)


def test_steps_in_water_are_of_second_order():
    robot, rod = eel(ag.gaits.turning(), 64)
    exact = ag.simulate_explicit(robot, duration=2.0, dt=0.1, rtol=1e-8, atol=1e-10).position(rod.root)[-1]
    errors = []
    for dt in (0.04, 0.02, 0.01):
        errors.append(np.abs(ag.simulate(robot, duration=2.0, dt=dt).position(rod.root)[-1] - exact).max())
    assert errors[-1] < 5e-5
    assert all(3.4 < a / b < 4.6 for a, b in pairwise(errors))


def test_nodes_along_the_body_converge():
    """Intervals are shared out among the panels: the round tail gets one of 48, two of 64, three of 128."""
    places = []
    for intervals in (48, 64, 128, 256):
        robot, rod = eel(ag.gaits.turning(), intervals)
        places.append(ag.simulate(robot, duration=1.5, dt=0.02).position(rod.root)[-1])
    errors = [np.abs(place - places[-1]).max() for place in places[:-1]]
    assert [e < most for e, most in zip(errors, (5e-4, 5e-6, 5e-7), strict=True)] == [True] * 3
    assert all(b < 0.2 * a for a, b in pairwise(errors))


def test_power_balance_closes_in_water():
    """Work of motors and water over 1 s is the kinetic energy; at every instant nothing is missing."""
    robot, _ = eel(ag.gaits.spiral(), 64)
    run = ag.simulate_explicit(robot, duration=1.0, dt=0.01, rtol=1e-8, atol=1e-10)
    powers = ag.powers(run)
    size = np.abs(powers.motors).max()
    assert size > 1.0
    assert np.abs(powers.imbalance).max() < 1e-6 * size
    energy = run.energy["total"]
    work = simpson(powers.motors + powers.water, x=run.t)
    assert work == pytest.approx(energy[-1] - energy[0], abs=1e-6 * size)


def test_current_carries_the_eel_away():
    """In a uniform stream everything happens as at rest in still water seen from the stream."""
    gait, drift = ag.gaits.forward(), np.array([0.3, -0.2, 0.1])
    still, rod = eel(gait, 48)
    moved, other = eel(gait, 48, current=tuple(drift))
    start = np.zeros(still.size), np.append(drift, np.zeros(still.size - 3))
    a = ag.simulate(still, duration=1.5, dt=0.02)
    b = ag.simulate(moved, duration=1.5, dt=0.02, start=start)
    assert b.position(other.tip) - drift * b.t[:, None] == pytest.approx(a.position(rod.tip), abs=1e-8)
