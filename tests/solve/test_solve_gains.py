"""What states gain of energy, against the energies of a mass on a spring and numbers by chance."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.compiler.distant import direct
from anguilla.solve.steps.gains import NOTHING, _gained, _in_play, _steady

MASS, SPRING, G = 0.3, 40.0, 9.81
Q, V = np.random.default_rng(4).normal(size=(2, 9))


@pytest.mark.parametrize("joins", [None, False, True], ids=["alone", "others", "joined"])
def test_the_gain_of_states_is_the_largest_rise_above_the_lowest_before(joins):
    """Further energies are kinds of their own, or the first is one with the elastic energy."""
    robot = ag.Robot("mass", gravity=(0, 0, -G))
    slide = ag.Prismatic((0, 0, 1), stiffness=SPRING)
    robot.add(ag.RigidBody.sphere(0.02, mass=MASS), at=robot.ground, joint=slide)
    model = ag.Model(robot)
    others = NOTHING if joins is None else 30.0 * np.random.default_rng(6).normal(size=(2, len(Q)))
    found = direct(_gained)(
        model.tree, model.workspace, *_steady(model), Q[:, None].copy(), V[:, None].copy(), others, bool(joins)
    )
    kinetic, kept = 0.5 * MASS * V**2, np.stack([0.5 * SPRING * Q**2, MASS * G * Q, *others])
    if joins:
        kept = np.stack([kept[0] + kept[2], kept[1], kept[3]])
    total = kinetic + kept.sum(axis=0)
    rise = total - np.minimum.accumulate(total)
    play, size = np.ptp(kept, axis=1).sum() + kinetic.max(), np.abs(kept).max(axis=1).sum()
    np.testing.assert_allclose(found, [rise.max(), np.argmax(rise), play, size], rtol=1e-12)


def test_the_energy_in_play_is_what_may_become_motion_and_all_that_others_give_or_take():
    rows = np.random.default_rng(5).normal(size=(5, 7))
    total = np.zeros(7)
    play, size = _in_play(rows, total)
    np.testing.assert_allclose(total, rows[[0, 1, 3, 4]].sum(axis=0), rtol=1e-12)
    ways = np.abs(np.diff(rows[3:], axis=1)).sum()
    assert play == pytest.approx(rows[0, 0] + rows[1, 0] - rows[1].min() + ways, rel=1e-12)
    assert size == pytest.approx(np.abs(rows[[1, 3, 4]]).max(axis=1).sum(), rel=1e-12)
