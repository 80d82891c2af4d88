"""The examples with tendons: their numbers, and how they converge."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from multibody_oracles import tendon_shape
from script_modules import load

import anguilla as ag


@cache
def result(name):
    return load(name).main()


# Paper 000, figure 7 --------------------------------------------------------------------------------------------------

PAPER = "paper000_tendons"


def exact_tips(name):
    """Tips (2, 3) at the least and the greatest tension, from the pointwise balance, which has no modes."""
    p = load(PAPER)
    routing, span = p.ROUTINGS[name]
    stiffness = np.array([p.EI / (1.0 + p.POISSON), p.EI, p.EI])
    there = lambda X: (routing.offset([X])[0], routing.slope([X])[0])
    end = np.array([p.LENGTH])
    return np.array([tendon_shape(stiffness, T, there, p.LENGTH, end, span)[0][-1] for T in p.TENSIONS[::4]])


@pytest.mark.parametrize(
    ("name", "five", "ten"),
    [("parallel", 1e-7, 1e-7), ("convergent", 1e-7, 1e-7), ("cross", 1e-7, 1e-7), ("spiral", 5e-3, 1e-6)],
)
def test_five_modes_suffice_but_for_the_spiral(name, five, ten):
    exact = exact_tips(name)
    for basis, allowed in (("5 modes", five), ("10 modes", ten)):
        assert np.abs(result(PAPER).tips(name, basis)[::4] - exact).max() < allowed


def test_truncated_cable_needs_more_modes_or_a_breakpoint():
    tips, exact = result(PAPER).tips, exact_tips("truncated")
    five, ten, cut = (np.abs(tips("truncated", b)[::4] - exact).max() for b in ("5 modes", "10 modes", "cut"))
    assert cut < 1e-7
    assert 5e-5 < ten < five < 5e-3


def test_parallel_cable_makes_the_circle_of_figure_1():
    p = load(PAPER)
    K = np.array(p.TENSIONS) * p.SIDE / p.EI
    expected = np.stack([np.sin(K) / K, *[(1 - np.cos(K)) / K / np.sqrt(2)] * 2], axis=1)
    np.testing.assert_allclose(result(PAPER).tips("parallel"), expected, atol=1e-8)


def test_shapes_are_those_of_figure_7():
    shapes = {name: result(PAPER).shapes(name, "10 modes", 31) for name in load(PAPER).ROUTINGS}
    for name in ("convergent", "cross", "truncated"):  # in the plane, the more the harder the pull
        assert np.abs(shapes[name][:, :, 2]).max() < 1e-12
        assert np.all(np.diff(shapes[name][:, -1, 1]) > 0.0)
    assert np.abs(shapes["spiral"][-1, :, 2]).max() > 0.05  # out of the plane
    # Across the middle a crossing cable bends the other way: the tip is parallel to the root.
    ends = np.diff(shapes["cross"][:, -2:], axis=1)[:, 0]
    assert np.abs(ends[:, 1] / ends[:, 0]).max() < 0.06
    # Beyond its end a truncated cable leaves the beam straight; only the cut basis knows.
    straight = np.diff(result(PAPER).shapes("truncated", "cut", 31)[-1, 15:], 2, axis=0)
    assert np.abs(straight).max() < 1e-9


# The arm of two sections ----------------------------------------------------------------------------------------------

ARM = "tendon_arm"


def test_arm_hangs_straight_then_settles_towards_its_tendons():
    r = result(ARM)
    hanging, settled = r.hanging.position(r.tip), r.settled.position(r.tip)
    np.testing.assert_allclose(hanging[1:], 0.0, atol=1e-12)
    assert 0.600 < hanging[0] < 0.605
    np.testing.assert_allclose(settled, [0.59983, 0.00944, 0.01406], atol=2e-5)


def test_pulled_tendons_shorten_most():
    r, names = result(ARM), load(ARM).INPUTS
    change = {name: r.settled.length(name) - r.hanging.length(name) for name in r.run.robot.actuators}
    for group in ("near", "far"):
        shortest = min((n for n in change if n.startswith(group)), key=change.get)
        assert shortest in names


def test_arm_stays_where_it_settles():
    r, p = result(ARM), load(ARM)
    still = ag.simulate(r.run.robot, duration=0.2, dt=0.01, inputs=p.INPUTS, start=r.settled).position(r.tip)
    np.testing.assert_allclose(still, np.tile(still[0], (len(still), 1)), atol=1e-7)
    away = np.linalg.norm(r.run.position(r.tip) - r.hanging.position(r.tip), axis=1)
    assert 0.02 < away.max() < 0.04  # it swings through to about twice the way
    way = np.linalg.norm(r.settled.position(r.tip) - r.hanging.position(r.tip))
    assert 1.6 < away.max() / way < 2.0


def test_arm_converges_with_modes_intervals_and_steps():
    p, r = load(ARM), result(ARM)
    end = r.run.position(r.tip)[::20]
    for finer, allowed in ((dict(modes=6), 2e-5), (dict(intervals=16), 2e-5), (dict(dt=0.0025), 4e-4)):
        other = p.main(**finer)
        every = (len(other.run.t) - 1) // 10
        gap = np.linalg.norm(other.run.position(other.tip)[::every] - end, axis=1).max()
        assert gap < allowed, finer
        assert np.linalg.norm(other.settled.position(other.tip) - r.settled.position(r.tip)) < 2e-5


def test_work_of_the_tendons_is_energy_and_heat():
    p = load(ARM)
    r = p.main(dt=0.001)
    run = r.run
    work = -p.PULL * sum(run.length(name) - run.length(name)[0] for name in p.INPUTS)
    power = 0.01 * np.einsum("ti,ij,tj->t", run.v, run.system.elastic_stiffness(), run.v)
    heat = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(run.t))])
    gap = run.energy["total"] - run.energy["total"][0] + heat - work
    assert np.abs(gap).max() < 0.01 * work.max()


def test_figures_are_kept(tmp_path):
    kept = Path(__file__).parents[2] / "docs" / "figures" / "tendons"
    load(ARM).figures(tmp_path, result(ARM))
    drawn = sorted(file.name for file in tmp_path.iterdir())
    assert drawn == ["tendon_arm.png", "tendon_arm_lengths.png"]
    assert all((tmp_path / name).stat().st_size < 150_000 for name in drawn)
    assert all((kept / name).exists() for name in [*drawn, "tendons.png"])
