"""Numbers of tests 3, 5 and 6 of paper 000, against solutions that share nothing with the library."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson, simpson

import anguilla as ag

pytestmark = pytest.mark.xdist_group("paper000_dynamics")  # one process runs each example once
LOOP, SWING, FLOAT = "paper000_test3_loop", "paper000_test5_pendulum", "paper000_test6_floating"


# Test 3: a twisted rod makes a loop -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_straight_rod_is_twisted_uniformly(example):
    p, result = example(LOOP).module, example(LOOP).result
    np.testing.assert_allclose(result.phase1, p.GJ * 2.0 * np.pi * p.TURNS / p.LENGTH, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_the_refined_rod_is_that_of_shooting(example):
    p, result = example(LOOP).module, example(LOOP).result
    fine = result.fine.invariants()
    assert {0.9, 0.4, 0.3} <= {round(p.PLACES[k], 1) for k in result.exact}  # both sides of the pitchfork
    for k, exact in result.exact.items():
        allowed = [1e-8, 4e-4, 1e-3, 2e-3, 1e-6]  # m, m, N m, N, rad/m; of 20 m, 240 N m, 160 N, 0.3 rad/m
        assert np.all(np.abs(fine[k] - exact) < allowed), p.PLACES[k]


@pytest.mark.slow
def test_the_loop_is_a_circle_when_the_ends_meet(example):
    p, result = example(LOOP).module, example(LOOP).result
    k = int(np.argmin(np.abs(p.PLACES)))
    line = result.fine.equilibria[k].centerline(result.fine.rod, 50)
    radius = p.LENGTH / (2.0 * np.pi)
    np.testing.assert_allclose(np.linalg.norm(line - (0.0, radius, 0.0), axis=1), radius, rtol=1e-5)
    assert result.fine.energies()[k, 1] == pytest.approx(0.5 * p.EI * (2.0 * np.pi) ** 2 / p.LENGTH, rel=1e-5)


@pytest.mark.slow
def test_twist_of_a_round_rod_is_uniform(example):
    """Kirchhoff's integral: no external moment turns the sections about the rod."""
    result = example(LOOP).result
    for eq in result.fine.equilibria:
        assert np.ptp(eq.strain(result.fine.rod)[:, 0]) < 1e-5


@pytest.mark.slow
def test_newton_and_the_flow_agree(example):
    result = example(LOOP).result
    np.testing.assert_allclose(result.paper.invariants(), result.flow.invariants(), rtol=0, atol=1e-5)
    assert all(eq.status.success for eq in result.flow.equilibria)


@pytest.mark.slow
def test_the_plate_that_guides_newton_carries_nothing(example):
    result = example(LOOP).result
    for eq in (*result.paper.equilibria, *result.fine.equilibria):
        assert (
            np.abs(eq.reaction(result.paper.guide if eq in result.paper.equilibria else result.fine.guide)).max() < 1e-6
        )


@pytest.mark.slow
def test_the_pitchfork(example):
    """The twist left just before it falls like a square root: two equilibria give the place where it vanishes."""
    p, result = example(LOOP).module, example(LOOP).result
    K1 = result.fine.invariants()[:, 4]
    assert K1[6] > 0.08 and abs(K1[7]) < 1e-9  # 0.4 l and 0.3 l
    robot, rod, _, _ = p.cable(p.FINE, ag.Legendre, guided=True, intervals=60)
    eq, square, exact, places = result.fine.equilibria[6], [], [], (0.335, 0.33)
    for place in places:
        eq = ag.statics(robot, start=eq, t=1.0 + (1.0 - place) / 1.5)
        root = eq.wrench(rod, [0.0])[0]
        square.append(eq.strain(rod)[:, 0].mean() ** 2)
        exact.append(p.shoot(place, root[:3], root[3:])[4] ** 2)
    fork, truth = (places[1] - s[1] * (places[0] - places[1]) / (s[0] - s[1]) for s in (square, exact))
    assert fork == pytest.approx(truth, abs=1e-5)
    assert truth == pytest.approx(0.3252, abs=1e-4)


@pytest.mark.slow
def test_energy_is_the_work_of_the_push(example):
    """dE = F1 dx along the branch, by Simpson over the places in the plane, where the force is smooth."""
    p, result = example(LOOP).module, example(LOOP).result
    energy, force = result.fine.energies().sum(axis=1), result.fine.invariants()[:, 3]
    assert energy[14] - energy[8] == pytest.approx(simpson(force[8:15], x=p.LENGTH * p.PLACES[8:15]), rel=2e-3)


@pytest.mark.slow
def test_how_far_the_basis_of_the_paper_is(example):
    result = example(LOOP).result
    gap = np.abs(result.paper.invariants() - result.fine.invariants())
    assert 0.1 < gap[:, 1].max() < 0.13  # [m] of 20 m
    assert 0.01 < gap[5, 4] / result.fine.invariants()[5, 4] < 0.02  # of the mean twist, at x1 = l / 2


def test_a_method_that_is_none_is_refused():
    robot = ag.Robot("none")
    robot.add(ag.Rod(1.0, ag.Circle(0.01), ag.Material(1e6, 1000), ag.kirchhoff(2)), at=robot.ground)
    with pytest.raises(ag.DescriptionError, match="ProjectiveFlow"):
        ag.statics(robot, method="flow")
    with pytest.raises(ag.DescriptionError, match=r"ProjectiveFlow\.mu"):
        ag.ProjectiveFlow(mu=-1.0)


# Test 5: a string on a moving root ------------------------------------------------------------------------------------


def test_the_hinged_string_is_a_chain_of_many_links(example):
    result = example(SWING).result
    assert result.links.max() < 3e-5  # by which the chain was extrapolated
    assert result.off(result.hinged).max() < 1e-5


def test_the_step_error_of_the_string_is_of_second_order(example):
    p, result = example(SWING).module, example(SWING).result
    tips = [result.tip(p.swing(3, hinged=False, dt=dt)) for dt in (1e-2, 5e-3, 2.5e-3)]
    first, second = (np.linalg.norm(a - b, axis=1).max() for a, b in pairwise(tips))
    assert np.log2(first / second) == pytest.approx(2.0, abs=0.1)


def test_clamped_strings_tend_to_the_hinged_one(example):
    result = example(SWING).result
    modes = np.array(list(result.clamped))
    off = np.array([result.off(run).max() for run in result.clamped.values()])
    assert 0.1 < off[0] < 0.15  # three modes, as in the paper [m]
    orders = -np.diff(np.log(off)) / np.diff(np.log(modes))
    assert np.all((orders > 1.4) & (orders < 2.0))  # a smooth basis makes a kink only slowly


def test_the_root_moves_as_imposed_and_takes_the_force_it_needs(example):
    p, result = example(SWING).module, example(SWING).result
    run = result.clamped[3]
    string = run.robot.part("string")
    root, t = run.position(string.root), run.t
    np.testing.assert_allclose(root[:, 1:], 0.15 * np.stack([np.sin(p.OMEGA * t), np.cos(p.OMEGA * t)], 1), atol=1e-12)
    # impulse in the plane, where gravity does not pull
    force = run.effort(string)[:, :2]
    gained = run.momentum[:, 1:] - run.momentum[0, 1:]
    np.testing.assert_allclose(cumulative_simpson(force.T, x=t, initial=0.0).T, gained, rtol=0, atol=2e-5)
    # and its work is the energy
    speed = p.AMPLITUDE * p.OMEGA * np.stack([np.cos(p.OMEGA * t), -np.sin(p.OMEGA * t)], axis=1)
    work = cumulative_simpson(np.einsum("ti,ti->t", force, speed), x=t, initial=0.0)
    energy = run.energy["total"]
    np.testing.assert_allclose(work, energy - energy[0], rtol=0, atol=1e-4 * np.ptp(energy))


# Test 6: a floating beam ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("radius", [0.01, 0.005])
def test_momentum_is_kept_by_explicit_integration(example, radius):
    p, run = example(FLOAT).module, example(FLOAT).result.explicit[radius]
    assert np.abs(run.momentum).max() < 1e-9
    assert np.abs(run.angular_momentum).max() < 1e-9
    assert np.linalg.norm(p.centre(run) - p.centre(run)[0], axis=1).max() < 2e-5


@pytest.mark.slow
def test_momentum_of_implicit_steps_drifts_at_order_two(example):
    drift = np.array(list(example(FLOAT).result.drift.values()))
    orders = np.log2(drift[:-1] / drift[1:])
    assert np.all(np.abs(orders[-1] - 2.0) < 0.1)
    assert drift[-1].max() < 1e-3  # what the paper finds


@pytest.mark.slow
@pytest.mark.parametrize(("radius", "allowed"), [(0.01, 1e-4), (0.005, 5e-3)])
def test_explicit_and_implicit_motions_agree(example, radius, allowed):
    result = example(FLOAT).result
    one, two = result.explicit[radius], result.implicit[radius, 3]
    lines = [run.centerline(run.robot.part("beam"), 20)[: len(one.t)] for run in (one, two)]
    assert np.linalg.norm(lines[0] - lines[1], axis=2).max() < allowed


@pytest.mark.slow
def test_halving_the_step_quarters_the_distance_to_the_explicit_motion(example):
    p, result = example(FLOAT).module, example(FLOAT).result
    exact = result.explicit[0.01]
    tip = exact.position(exact.robot.part("beam").tip)
    off = []
    for dt in (2e-3, 1e-3):
        run = p.float_about(0.01, 3, dt)
        off.append(np.linalg.norm(run.position(run.robot.part("beam").tip)[: len(tip)] - tip, axis=1).max())
    assert np.log2(off[0] / off[1]) == pytest.approx(2.0, abs=0.15)


@pytest.mark.slow
def test_slow_waves_bend_the_beam_against_the_active_stress(example):
    """K2 follows -stress / EI, the wave being slow against the beam (its first free frequency is 5.6 Hz)."""
    p, result = example(FLOAT).module, example(FLOAT).result
    run = result.implicit[0.01, 12]
    X = np.linspace(0.1, 0.9, 41)
    K2 = run.strain(run.robot.part("beam"), X)[6:, :, 1]
    target = np.array([[-p.stress(x, t)[1] for x in X] for t in run.t[6:]]) / (1e8 * np.pi * 0.01**4 / 4)
    assert np.sum(K2 * target) / np.sum(target**2) == pytest.approx(1.0, abs=0.1)


@pytest.mark.slow
def test_three_modes_are_not_enough(example):
    p, result = example(FLOAT).module, example(FLOAT).result
    off = {}
    for (radius, n), run in result.implicit.items():
        best = result.implicit[radius, p.MODES[radius][-1]]
        lines = [r.centerline(r.robot.part("beam"), 30) for r in (run, best)]
        off[radius, n] = np.linalg.norm(lines[0] - lines[1], axis=2).max()
    assert 0.003 < off[0.01, 3] < 0.005  # of a motion of 9 mm
    assert off[0.005, 3] > 0.2 and off[0.005, 8] > 0.1  # of a motion of 0.2 m


def test_what_explicit_integration_refuses():
    robot = ag.Robot("closed")
    rod = robot.add(ag.Rod(1.0, ag.Circle(0.01), ag.Material(1e6, 1000), ag.kirchhoff(2)), at=robot.ground)
    with pytest.raises(ag.DescriptionError, match="DOP853"):
        ag.simulate_explicit(robot, duration=1.0, dt=0.1, method="Radau")
    with pytest.raises(ag.DescriptionError, match="whole number"):
        ag.simulate_explicit(robot, duration=1.0, dt=0.3)
    robot.close(robot.ground, rod.tip, joint=ag.Spherical())
    with pytest.raises(ag.DescriptionError, match="open robots"):
        ag.simulate_explicit(robot, duration=1.0, dt=0.1)
