"""The estimate of the error in space, against the same robots with many modes and intervals."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.results.resolution import doubtful

SILICONE = ag.Material(young=4e5, poisson=0.5, density=1070)


def tip_load(robot, arm):
    robot.load(ag.TipWrench(arm, force=(0, 0.2, 0.4)))


def follower(robot, arm):
    robot.load(ag.TipWrench(arm, force=(0, 0, 0.6), follower=True))


def tendon(robot, arm):
    robot.actuate("pull", ag.Tendon(arm, ag.helical(0.008, 0.4)))


def weight(robot, arm):
    robot.gravity = (0, 0, -9.81)


def second_arm(robot, arm):
    rod = ag.Rod(0.2, ag.Circle(0.01), SILICONE, ag.planar(5), intervals=40)
    other = robot.add(rod, at=arm.tip, joint=ag.Revolute((0, 1, 0), stiffness=0.2), name="other")
    robot.load(ag.TipWrench(other, force=(0, 0, 0.2)))


LOADS = [tip_load, follower, tendon, weight, second_arm]


def held(strains, load, intervals=None, section=None):
    robot = ag.Robot("robot", gravity=(0, 0, 0))
    rod = ag.Rod(0.4, section or ag.Circle(0.012), SILICONE, strains, intervals=intervals)
    arm = robot.add(rod, at=robot.ground, name="arm")
    load(robot, arm)
    return ag.statics(robot, inputs={"pull": 3.0} if load is tendon else None)


def distance(one, other):
    """Largest distance between the rods of two equilibria, over the length of the robot."""
    lines = [[eq.centerline(part, 30) for part in eq.robot.parts] for eq in (one, other)]
    return np.linalg.norm(np.subtract(*lines), axis=2).max() / one.system.layout.length


@pytest.mark.filterwarnings("ignore:.*too few modes")
@pytest.mark.parametrize("modes", [2, 3, 4])
@pytest.mark.parametrize("load", LOADS)
def test_modes_left_out_are_estimated(load, modes):
    found = held(ag.kirchhoff(modes), load, 40)
    miss = distance(found, held(ag.kirchhoff(9), load, 40))
    assert miss / 3 < found.resolution.modes < 3 * miss
    assert found.resolution.intervals < 0.1 * miss + 1e-6


@pytest.mark.parametrize("load", LOADS[:4])
def test_intervals_left_out_are_estimated(load):
    found = held(ag.kirchhoff(5), load, 4)
    miss = distance(found, held(ag.kirchhoff(5), load, 60))
    assert miss / 4 < found.resolution.intervals < 4 * miss


@pytest.mark.parametrize("pieces", [4, 8])
def test_pieces_and_tapers_are_judged_too(pieces):
    cone = ag.Tapered(lambda X: ag.Circle(0.014 - 0.02 * X))
    basis = ag.PiecewiseConstant(pieces)
    found = held(ag.Strains(bend_y=basis, bend_z=basis), tip_load, 48, cone)
    miss = distance(found, held(ag.Strains(bend_y=9, bend_z=9), tip_load, 48, cone))
    assert miss / 3 < found.error_estimate < 3 * miss


def test_a_rod_in_a_loop():
    def bow(modes):
        robot = ag.Robot("bow", gravity=(0, 0, 0))
        rod = ag.Rod(0.4, ag.Circle(0.004), SILICONE, ag.extensible_kirchhoff(modes), intervals=40)
        rod = robot.add(rod, at=robot.ground, name="rod")
        robot.close(robot.ground, rod.tip, joint=ag.Spherical(), pose=(0.3, 0.1, 0.0))
        start = np.zeros(robot.size)
        start[robot.coordinates().index("rod.bend_z[0]")] = 2.0
        return ag.statics(robot, start=start)

    found = bow(3)
    miss = distance(found, bow(9))
    assert miss / 3 < found.error_estimate < 3 * miss


def test_too_few_modes_are_said():
    with pytest.warns(ag.AnguillaWarning, match="rod 'arm' has too few modes; more of them would move it by"):
        held(ag.kirchhoff(1), weight)
    assert held(ag.kirchhoff(5), weight).error_estimate < 2e-3


def test_what_is_resolved_is_not_in_doubt():
    assert doubtful((fine := held(ag.kirchhoff(6), tip_load)).system, fine.q[None])[0] < 1.0
    assert fine.error_estimate < 1e-3


def test_rigid_robots_have_no_such_error():
    robot = ag.Robot("pendulum")
    robot.add(
        ag.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, com=(0, 0, -0.2)), at=robot.ground, joint=ag.Revolute((0, 1, 0))
    )
    assert ag.statics(robot).error_estimate == 0.0
