"""Starts of closed robots: one that is closed stays where it is, and rates that break a loop are not changed in silence."""

import warnings

import numpy as np
import pytest
from test_multibody_limits import coordinates, four_bar, four_bar_angles

import anguilla as ag


def arch(joint, angle=1.0):
    rubber = ag.Material(3e6, 1000, poisson=0.45, damping=0.01)
    robot = ag.Robot("arch", gravity=(0, -9.81, 0))
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    a = robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.reissner(2)), at=robot.ground, name="a")
    b = robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.kirchhoff(3)), at=a.tip, pose=turn, name="b")
    end = turn.copy()
    end[:3, 3] = 0.3 + 0.3 * np.cos(angle), 0.3 * np.sin(angle), 0
    robot.close(robot.ground, b.tip, joint=joint, pose=end)
    return robot, a


UNIVERSALS = [((1, 0, 0), (0, 0, 1)), ((0, 0, 1), (1, 0, 0)), ((1, 0, 0), (0.6, 0.8, 0)), ((0, 1, 0), (0, 0.2, -1))]


@pytest.mark.parametrize("axes", UNIVERSALS, ids=str)
def test_a_universal_closure_leaves_a_closed_robot_where_it_is(axes):
    robot, a = arch(ag.Universal(*axes))
    rest = ag.simulate(robot, duration=1e-3, dt=1e-3)
    np.testing.assert_allclose(rest.position(a.tip)[0], (0.3, 0, 0), atol=1e-12)
    eq = ag.statics(robot)
    begun = ag.simulate(robot, duration=5e-3, dt=1e-3, start=eq)
    np.testing.assert_allclose(begun.q[0], eq.q, atol=1e-9)
    more = ag.simulate(robot, duration=1e-3, dt=1e-3, start=begun)
    np.testing.assert_allclose(more.q[0], begun.q[-1], atol=1e-9)


def test_a_universal_closure_is_mounted_from_afar():
    """Open by 0.1 m and a turn: afterwards the ends meet, and the axes are at right angles."""
    robot, _ = arch(ag.Universal((1, 0, 0), (0, 0, 1)))
    q = np.zeros(robot.size)
    q[robot.coordinates().index("a.bend_z[0]")] = 2.0
    q[robot.coordinates().index("b.bend_y[0]")] = 1.0
    system = ag.System(robot)
    assert np.abs(system.constraints(q)[0]).max() > 0.1
    start = ag.simulate(robot, duration=1e-3, dt=1e-3, start=q).q[0]
    assert np.abs(system.constraints(start)[0]).max() < 1e-9


def test_rates_that_break_a_loop_are_told():
    robot, start = four_bar()[0], coordinates(four_bar_angles(0.5))
    go = lambda v: ag.simulate(robot, duration=2e-3, dt=1e-3, start=(start, v))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* redundant", ag.AnguillaWarning)
        with pytest.warns(
            ag.AnguillaWarning, match=r"'four_bar' should start break pin: .* crank.angle from 1 to 0.35"
        ):
            run = go([1.0, 0.0, 0.0])
        kept = run.v[0]
        np.testing.assert_allclose(go(kept * (1.0 + 1e-6)).v[0], kept, rtol=1e-5)
        go(kept + 1e-5 * np.abs(kept).max())  # in silence
        near = ag.forward_dynamics(robot, start, [1.0, 0.0, 0.0])  # as the warning says, redundant rows or not
        np.testing.assert_allclose(go(near.v).v[0], near.v, rtol=1e-9)
        np.testing.assert_allclose(go(near.v).a[0], near.a, rtol=1e-9)
        with pytest.warns(ag.AnguillaWarning, match="break pin"):
            go(kept + 0.01 * np.abs(kept).max() * np.array([1.0, 0.0, 0.0]))
        ag.simulate(robot, duration=2e-3, dt=1e-3, start=run)
        ag.simulate(robot, duration=2e-3, dt=1e-3, start=start)
