"""Starts of closed robots: one that is closed stays where it is, and rates that break a loop are not changed in silence."""

import warnings

import numpy as np
import pytest
from test_multibody_limits import coordinates, four_bar, four_bar_angles

import anguilla as ag
from anguilla import lie


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
    system = ag.Model(robot)
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


def linkage(normal, up):
    """A four-bar linkage in a plane through x."""
    robot, hinge = ag.Robot("linkage", gravity=tuple(-9.81 * np.array(up))), ag.Revolute(normal)
    bar = lambda length: ag.RigidBody.box((length, 0.02, 0.02), mass=1.0, com=(length / 2, 0, 0))
    crank = robot.add(bar(0.3), at=robot.ground, joint=hinge, name="crank")
    coupler = robot.add(bar(0.8), at=crank.at((0.3, 0, 0)), joint=hinge, name="coupler")
    rocker = robot.add(bar(0.7), at=robot.ground.offset_by((0.9, 0, 0)), joint=hinge, name="rocker")
    robot.close(coupler.at((0.8, 0, 0)), rocker.at((0.7, 0, 0)), joint=hinge, name="pin")
    return robot


def test_a_flat_loop_says_nothing_of_rows_out_of_its_plane():
    """The same linkage twice: in the plane x-y, where robots are known to stay, and in x-z, where they are not."""
    start = [0.5, -1.0, 1.0]
    flat = ag.simulate(linkage((0, 0, 1), (0, 1, 0)), duration=0.05, dt=1e-3, start=start)
    with pytest.warns(ag.AnguillaWarning, match="3 of 5 constraints are redundant"):
        other = ag.simulate(linkage((0, -1, 0), (0, 0, 1)), duration=0.05, dt=1e-3, start=start)
    np.testing.assert_allclose(flat.q, other.q, atol=1e-9)


def test_what_is_held_twice_in_a_plane_is_still_told():
    robot = linkage((0, 0, 1), (0, 1, 0))
    rocker = robot.part("rocker")
    start = ag.simulate(robot, duration=1e-3, dt=1e-3, start=[0.5, -1.0, 1.0]).q[0]
    robot.close(robot.part("coupler").at((0.8, 0, 0)), rocker.at((0.7, 0, 0)), joint=ag.Spherical(), name="again")
    with pytest.warns(ag.AnguillaWarning, match=r"2 of 8 constraints are redundant and left out: again \(2\)"):
        ag.simulate(robot, duration=1e-3, dt=1e-3, start=start)


@pytest.mark.parametrize("joint", [ag.Fixed(), ag.Spherical()], ids=["clamped", "pinned"])
def test_a_rod_held_at_its_full_length_is_refused_at_once_if_it_is_pushed(joint):
    """It cannot give way without stretching: the warning of redundant constraints said that its motion is not affected."""
    for strains in (ag.kirchhoff(4), ag.extensible_kirchhoff(4)):
        robot = ag.Robot("beam", gravity=(0, 0, -9.81))
        rod = ag.Rod(0.5, ag.Circle(0.01), ag.Material(young=1e6, poisson=0.45, density=1000, damping=0.02), strains)
        arm = robot.add(rod, at=robot.ground, name="rod")
        robot.close(robot.ground, arm.tip, joint=joint, pose=lie.pose(None, (0.5, 0, 0)), name="grip")
        if "stretch" in strains:
            assert ag.statics(robot).position(arm.section(0.25))[2] < -1e-3
            continue
        for solve in (ag.statics, lambda robot: ag.simulate(robot, duration=0.1, dt=0.01)):
            with pytest.raises(ag.SolverError, match=r"starts singular: grip .* 'rod' .*Let the rod stretch"):
                solve(robot)


def test_a_stiff_beam_held_at_its_full_length_sags_as_a_beam():
    """It would stretch by 1e-9 m at most: w l^4 / (185 EI) at rest, clamped and pinned, and twice as much when let go."""
    robot = ag.Robot("beam", gravity=(0, 0, -9.81))
    radius, length = 0.02, 1.0
    steel = ag.Material(young=2e11, poisson=0.3, density=7800)
    beam = robot.add(ag.Rod(length, ag.Circle(radius), steel, ag.kirchhoff(6)), at=robot.ground)
    robot.close(robot.ground, beam.tip, joint=ag.Spherical(), pose=lie.pose(None, (length, 0, 0)))
    with pytest.warns(ag.AnguillaWarning, match="1 of 3 constraints are redundant"):
        eq = ag.statics(robot)
    sag = 7800 * np.pi * radius**2 * 9.81 * length**4 / (185 * 2e11 * np.pi * radius**4 / 4)
    middle = beam.section(0.5785)
    assert eq.position(middle)[2] == pytest.approx(-sag, rel=5e-3)
    assert np.linalg.norm(eq.position(beam.tip) - (length, 0, 0)) < 1e-8
    with pytest.warns(ag.AnguillaWarning, match="redundant"):
        run = ag.simulate(robot, duration=0.02, dt=1e-4)
    assert run.position(middle)[:, 2].min() == pytest.approx(-2 * sag, rel=0.05)


@pytest.mark.filterwarnings("ignore:'beam'. 1 of 6 constraints are redundant")
def test_a_beam_held_at_its_full_length_stays_where_it_sags_when_started_from_there():
    """Closed again, it is nearly straight: the row that would pull it straight with 9 kN still depends on the others."""
    robot = ag.Robot("beam", gravity=(0, 0, -9.81))
    plastic = ag.Material(young=9.1e8, density=1400, poisson=0.4)
    beam = robot.add(ag.Rod(0.043, ag.Circle(3.8e-4), plastic, ag.kirchhoff(3)), at=robot.ground, joint=ag.Spherical())
    robot.close(robot.ground, beam.tip, joint=ag.Fixed(), pose=lie.pose(None, (0.043, 0, 0)))
    middle, eq = beam.section(0.0215), ag.statics(robot)
    sag = eq.position(middle)[2]
    assert sag < -1e-4 * 0.043
    for start in (eq, eq.q):
        again = ag.statics(robot, start=start)
        assert again.position(middle)[2] == pytest.approx(sag, rel=1e-9)
        assert np.max(np.abs(again.multipliers)) < 1e-3
    run = ag.simulate(robot, duration=2e-3, dt=5e-5, start=eq)
    assert run.position(middle)[:, 2] == pytest.approx(sag, rel=0.05)
