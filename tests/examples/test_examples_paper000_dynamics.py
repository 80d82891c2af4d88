"""Numbers of tests 3, 5 and 6 of paper 000, against solutions that share nothing with the library."""

import numpy as np
import pytest
from scipy.integrate import simpson

import anguilla as ag

LOOP = "paper000_test3_loop"


# Test 3: a twisted rod makes a loop -----------------------------------------------------------------------------------


def test_a_straight_rod_is_twisted_uniformly(example):
    p, result = example(LOOP).module, example(LOOP).result
    np.testing.assert_allclose(result.phase1, p.GJ * 2.0 * np.pi * p.TURNS / p.LENGTH, rtol=1e-9, atol=1e-9)


def test_the_refined_rod_is_that_of_shooting(example):
    p, result = example(LOOP).module, example(LOOP).result
    fine = result.fine.invariants()
    assert {0.9, 0.4, 0.3} <= {round(p.PLACES[k], 1) for k in result.exact}  # both sides of the pitchfork
    for k, exact in result.exact.items():
        allowed = [1e-8, 4e-4, 1e-3, 2e-3, 1e-6]  # m, m, N m, N, rad/m; of 20 m, 240 N m, 160 N, 0.3 rad/m
        assert np.all(np.abs(fine[k] - exact) < allowed), p.PLACES[k]


def test_the_loop_is_a_circle_when_the_ends_meet(example):
    p, result = example(LOOP).module, example(LOOP).result
    k = int(np.argmin(np.abs(p.PLACES)))
    line = result.fine.equilibria[k].centerline(result.fine.rod, 50)
    radius = p.LENGTH / (2.0 * np.pi)
    np.testing.assert_allclose(np.linalg.norm(line - (0.0, radius, 0.0), axis=1), radius, rtol=1e-5)
    assert result.fine.energies()[k, 1] == pytest.approx(0.5 * p.EI * (2.0 * np.pi) ** 2 / p.LENGTH, rel=1e-5)


def test_twist_of_a_round_rod_is_uniform(example):
    """Kirchhoff's integral: no external moment turns the sections about the rod."""
    result = example(LOOP).result
    for eq in result.fine.equilibria:
        assert np.ptp(eq.strain(result.fine.rod)[:, 0]) < 1e-5


def test_newton_and_the_flow_agree(example):
    result = example(LOOP).result
    np.testing.assert_allclose(result.paper.invariants(), result.flow.invariants(), rtol=0, atol=1e-5)
    assert all(eq.status.success for eq in result.flow.equilibria)


def test_the_plate_that_guides_newton_carries_nothing(example):
    result = example(LOOP).result
    for eq in (*result.paper.equilibria, *result.fine.equilibria):
        assert (
            np.abs(eq.reaction(result.paper.guide if eq in result.paper.equilibria else result.fine.guide)).max() < 1e-6
        )


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


def test_energy_is_the_work_of_the_push(example):
    """dE = F1 dx along the branch, by Simpson over the places in the plane, where the force is smooth."""
    p, result = example(LOOP).module, example(LOOP).result
    energy, force = result.fine.energies().sum(axis=1), result.fine.invariants()[:, 3]
    assert energy[14] - energy[8] == pytest.approx(simpson(force[8:15], x=p.LENGTH * p.PLACES[8:15]), rel=2e-3)


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
