"""Contact gains no energy out of nothing, and a motion that does says so."""

from unittest import mock

import numpy as np
import pytest

import anguilla as ag
from anguilla.lie import pose
from anguilla.solve.steps import gains

STIFF, PUSH = 4.857, 7.954e-5  # [N/m], [N]


def pinched():
    """A ball between two others on slides, which push it from both sides."""
    robot = ag.Robot("pinch", gravity=(0, 0, 0))
    free = robot.add(
        ag.RigidBody.sphere(0.002526, mass=5.863e-06),
        at=robot.ground,
        joint=ag.Free(),
        pose=pose(np.eye(3), (0.0165, 0, 0)),
    )
    slide, balls = ag.Prismatic((0.0, 1.0, 0.0)), [free]
    for side, radius, mass in ((1.0, 0.001264, 4.027e-06), (-1.0, 0.0006564, 3.792e-06)):
        place = pose(np.eye(3), (0.0165, side * 0.006962, 0.0))
        body = robot.add(ag.RigidBody.sphere(radius, mass=mass), at=robot.ground, joint=slide, pose=place)
        robot.load(ag.Wrench(body.frame, force=(0.0, -side * PUSH, 0.0)))
        balls.append(body)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        robot.load(ag.Contact(balls[a], balls[b], STIFF, friction=0.5842, damping=4.426))
    return robot, balls


@pytest.mark.filterwarnings("ignore:The time steps of 'pinch':anguilla.errors.AnguillaWarning")
def test_newton_does_not_take_its_first_correction_on_trust_where_parts_meet():
    """The tangent of the free motion threw balls apart that did not touch in the end: 14 % of the energy from nothing."""
    robot, (_, *pushed) = pinched()
    run = ag.simulate(robot, duration=30 * 1.368e-3, dt=1.368e-3)
    total = run.energy["kinetic"] + run.energy["elastic"]
    for body, side in zip(pushed, (1.0, -1.0), strict=True):
        total = total + side * PUSH * run.position(body.frame)[:, 1]
    apart = run.energy["elastic"] == 0.0
    growth = np.diff(total[apart])
    assert np.max(growth) < 0.01 * (np.max(total) - np.min(total))


def ball():
    robot = ag.Robot("ball")
    body = robot.add(ag.RigidBody.sphere(0.05, mass=0.2), at=robot.ground, joint=ag.Free())
    robot.load(ag.Contact(body, ag.HalfSpace((0, 0, 1), 0.0), 1e6))
    return robot


@pytest.mark.parametrize("method", [ag.GeneralisedAlpha(0.9), ag.Newmark(), ag.Midpoint()])
@pytest.mark.parametrize("dt", [1e-2, 3e-3, 1e-3, 3e-4])
def test_a_ball_that_bounces_gains_nothing(method, dt):
    run = ag.simulate(ball(), duration=1.2, dt=dt, start=np.array([0, 0, 0.55, 0, 0, 0]), method=method)
    total = sum(run.energy.values())[run.energy["elastic"] == 0.0]
    assert np.max(total) < total[0] + 1e-3 * 0.2 * 9.81 * 0.5


@pytest.mark.parametrize("part", [0.0, 5e-3])
def test_a_motion_that_touches_and_gains_says_so(part):
    energies = gains.energies

    def more(some):
        found = energies(some)
        found[0] += part * 0.2 * 9.81 * 0.5 * (some.t > 0.5)
        return found

    ask = lambda: ag.simulate(ball(), duration=0.8, dt=2e-3, start=np.array([0, 0, 0.55, 0, 0, 0]))
    with mock.patch.object(gains, "energies", more):
        if part:
            with pytest.warns(
                ag.AnguillaWarning, match=r"'ball', which touches something, gains 0\.\d+ % of its energy"
            ):
                run = ask()
            assert not run.quality.ok
        else:
            assert ask().quality.ok


def test_a_robot_at_rest_with_nothing_in_play_is_judged():
    """Two free balls apart from each other, without weight: no energy at all."""
    robot = ag.Robot("still", gravity=(0, 0, 0))
    balls = [
        robot.add(
            ag.RigidBody.sphere(0.01, mass=0.1), at=robot.ground, joint=ag.Free(), pose=pose(np.eye(3), (x, 0, 0))
        )
        for x in (0.0, 0.05)
    ]
    robot.load(ag.Contact(*balls, 1e3))
    run = ag.simulate(robot, duration=0.3, dt=0.01)
    assert np.array_equal(run.q[-1], run.q[0]) and gains.gain_of_touching(run, gains.all_of(run), 0.0) == (0.0, 0.0)


def grown_by_pairs(total, kept, play, wide):
    """The growth of means by its definition: all pairs of windows are compared."""
    mean = lambda x: np.convolve(x, np.ones(wide) / wide, "valid")
    means, held = mean(total), mean(kept)
    later = np.triu(held[:, None] <= held[None, :] + gains.ALIKE * play)
    growth = np.where(later, means[None, :] - means[:, None], 0.0)
    growth[0] = np.maximum(growth[0], means - total[0])
    column = np.unravel_index(int(np.argmax(growth)), growth.shape)[1]
    return float(np.max(growth)) / play, int(column) + wide // 2


@pytest.mark.parametrize("seed", range(12))
def test_growth_is_that_of_all_pairs_of_windows(seed):
    rng = np.random.default_rng(seed)
    count, wide = int(rng.integers(12, 300)), int(rng.integers(1, 6))
    drift = (1.0, -1.0, 0.0)[seed % 3] * np.linspace(0.0, 3.0, count)
    kept = np.maximum(np.cumsum(rng.normal(size=count)), 0.0) * (seed % 4 != 3)
    rows = np.stack([rng.normal(size=count) + drift, kept, kept, rng.normal(size=count)])
    rows[0] += 5.0
    play = rows[0, 0] + kept[0] - kept.min() + np.sum(np.abs(np.diff(rows[3])))
    found = gains._grown(rows, 0.0, wide, np.zeros((3, count)))
    expected = grown_by_pairs(rows[0] + rows[1] + rows[3], kept, play, wide)
    assert found[0] == pytest.approx(expected[0], abs=1e-13) and found[1] == expected[1]
