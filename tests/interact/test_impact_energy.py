"""Energy that contacts gain in steps: none by an elastic one in short steps, and what damping takes."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import anguilla as ag
from anguilla.interact.kernels import impact
from anguilla.interact.kernels.contact import stored
from anguilla.interact.kernels.impact import gained
from anguilla.interact.kernels.table import DAMPING, SMOOTH, STIFF
from anguilla.interact.kernels.touch_steps import DEPTH, RATE, _misfit

STIFFNESS, ROUND = 300.0, 1e-3


def total(depths, rate, damping):
    """Over many steps between depths [m], at one rate [m/s]."""
    return sum(gained(a, rate, b, rate, b - a, STIFFNESS, ROUND, damping) for a, b in pairwise(depths))


@pytest.mark.parametrize("rate", [0.2, -0.2])
@pytest.mark.parametrize("damping", [0.0, 1.5])
def test_a_contact_gains_what_its_damping_does_not_take(rate, damping):
    """The force is (1 + c e) times the elastic one while it goes in, 1 / (1 - c e + (c e)^2) times while it comes out."""
    z = damping * rate
    depths = np.linspace(0.0, 4e-3, 2001)[:: 1 if rate > 0.0 else -1]
    factor = 1.0 + z if z >= 0.0 else 1.0 / (1.0 - z + z * z)
    energy = STIFFNESS * (stored(depths[-1], ROUND) - stored(depths[0], ROUND))
    assert total(depths, rate, damping) == pytest.approx((1.0 - factor) * energy, abs=1e-5 * abs(energy))


def test_one_long_step_gains_by_the_trapezoid():
    """Beyond the smooth part the force is linear, and the trapezoid exact; one step from outside takes half too much."""
    inside = gained(2e-3, 0.2, 4e-3, 0.2, 2e-3, STIFFNESS, ROUND, 0.0)
    assert abs(inside) < 1e-12 * STIFFNESS * stored(4e-3, ROUND)
    assert (
        gained(0.0, 0.2, 4e-3, 0.2, 4e-3, STIFFNESS, ROUND, 0.0)
        < 0.0
        < gained(4e-3, -0.2, 0.0, -0.2, -4e-3, STIFFNESS, ROUND, 0.0)
    )


@pytest.mark.parametrize("damping", [0.0, 1.5])
def test_a_step_between_parts_is_right_where_the_force_is_linear(damping):
    """No energy can be wrong there by the trapezoid, whatever the rates; what is stored at the end is told."""
    law = np.zeros((1, 7))
    law[0, [STIFF, SMOOTH, DAMPING]] = STIFFNESS, ROUND, damping
    before, deep = np.zeros((2, 1, max(DEPTH, RATE) + 1))
    before[0, [DEPTH, RATE]], deep[0, [DEPTH, RATE]] = (2e-3, 1.0), (4e-3, 0.2)
    wrong, gain, kept = _misfit(SimpleNamespace(before=before, deep=deep, law=law), 0, 0, STIFFNESS, 4e-3)
    assert wrong == 0.0 and kept == pytest.approx(STIFFNESS * stored(4e-3, ROUND), rel=1e-14)
    assert gain == pytest.approx(gained(2e-3, 1.0, 4e-3, 0.2, 2e-3, STIFFNESS, ROUND, damping), abs=1e-18)


@pytest.mark.parametrize("mid", [0.5, 1.0], ids=["midpoint", "end"])
@pytest.mark.parametrize("damping", [0.0, 1.5])
def test_a_ball_that_sinks_in_gains_what_its_damping_does_not_take(mid, damping):
    """Both rules are exact where the force is linear: only the work of the damping is missing."""
    robot = ag.Robot("ball")
    ball = robot.add(ag.RigidBody.sphere(0.05, mass=0.1), at=robot.ground, joint=ag.Free())
    robot.load(ag.Contact(ball, ag.HalfSpace(), STIFFNESS, damping=damping))
    model = ag.Model(robot)
    frames, node = model.loads(0.0, {}).loads.frames, np.array(model.workspace.node)
    smooth, depths, rates = float(frames.data[0, impact.SMOOTH]), (2e-2, 4e-2), (0.6, 0.2)
    assert smooth < depths[0]
    place, speed = (np.array([(0.0, 0.0, x) for x in ends]) for ends in (np.subtract(0.05, depths), np.negative(rates)))
    at = int(frames.table[0, impact.NODE])
    frames.state[0, 0] = *place[0], *speed[0]
    for start, two in ((impact.N_X, place), (impact.N_V, speed)):
        node[at, start : start + 3] = (1.0 - mid) * two[0] + mid * two[1]
    _, gain, kept, normal = impact._misfit(node, frames, 0, 0.02, mid)
    force = [STIFFNESS * (d - 0.5 * smooth) for d in depths]
    mean = 0.5 * sum(force) * 0.5 * sum(rates) if mid < 1.0 else 0.5 * (force[0] * rates[0] + force[1] * rates[1])
    assert gain == pytest.approx(-damping * mean * (depths[1] - depths[0]), abs=1e-12)
    assert kept == pytest.approx(STIFFNESS * stored(depths[1], smooth), rel=1e-12) and normal == (0.0, 0.0, 1.0)
