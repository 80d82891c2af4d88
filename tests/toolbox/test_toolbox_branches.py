"""Limit points and bifurcations against closed forms; branches against the elastica."""

import numpy as np
import pytest
from scipy.special import ellipk

import anguilla as ag
from anguilla.lie import pose, rotation

E, R, L = 1e9, 5e-3, 1.0
MATERIAL = ag.Material(young=E, poisson=0.3, density=1000.0)
EI = E * np.pi * R**4 / 4
GJ = EI / 1.3
EULER = np.pi**2 * EI / (4 * L**2)  # clamped and free


def column(strains, intervals=20):
    robot = ag.Robot("column", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(L, ag.Circle(R), MATERIAL, strains, intervals=intervals), at=robot.ground)
    robot.load(ag.TipWrench(rod, force=lambda t: (-t * EULER, 0, 0)))
    return robot, rod


def test_euler_column_buckles_at_its_load():
    robot, _ = column(ag.planar(8))
    branch = ag.trace(robot, factors=(0.0, 12.0), largest_step=0.1)
    assert [point.kind for point in branch.special] == ["bifurcation", "bifurcation"]
    assert [point.factor for point in branch.special] == pytest.approx([1.0, 9.0], rel=1e-4)
    assert list(np.unique(branch.unstable)) == [0, 1, 2]
    assert np.array_equal(branch.stable, branch.factors < 1.0)
    assert branch.factors[-1] == pytest.approx(12.0)
    assert "bifurcation" in repr(branch)


def test_critical_load_converges_with_the_grid():
    """Of fourth order in the length of the intervals."""
    errors = []
    for intervals in (20, 40):
        robot, _ = column(ag.planar(9), intervals=intervals)
        errors.append(abs(ag.trace(robot, factors=(0.0, 2.0)).special[0].factor - 1.0))
    assert errors[1] < 1e-7
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.1)


def test_buckled_branch_is_the_elastica():
    """P / P_cr = (2 K(k) / pi)^2 with k = sin(tip angle / 2), on both sides, stable."""
    robot, rod = column(ag.planar(9), intervals=40)
    straight = ag.trace(robot, factors=(0.0, 2.0))
    for direction in (1, -1):
        buckled = ag.trace(robot, factors=(0.0, 2.0), start=straight.bifurcations[0], direction=direction)
        assert len(buckled) > 5
        assert np.all(buckled.stable[1:])
        side = []
        for eq in buckled.equilibria[1:]:
            x, y = eq.pose(rod.tip)[:2, 0]
            k = np.sin(0.5 * np.arctan2(y, x))
            side.append(np.sign(y))
            assert eq.t == pytest.approx((2 * ellipk(k**2) / np.pi) ** 2, rel=2e-6)
        assert abs(sum(side)) == len(side)
        assert np.sign(side[0]) == np.sign(direction * straight.bifurcations[0].directions[0, 0])


def test_round_column_buckles_in_two_planes_at_once():
    robot, _ = column(ag.kirchhoff(5))
    branch = ag.trace(robot, factors=(0.0, 3.0))
    (point,) = branch.special
    assert point.kind == "bifurcation"
    assert point.factor == pytest.approx(1.0, rel=1e-5)
    assert point.directions.shape[1] == 2
    buckled = ag.trace(robot, factors=(0.0, 1.5), start=point, direction=(0.6, 0.8), neutral=1e-9)
    assert buckled.factors[-1] == pytest.approx(1.5)
    assert np.all(np.diff(buckled.factors[1:]) > 0.0)


def test_twisted_rod():
    """Greenhill: a clamped rod, its end turned by an angle and free to slide, writhes when tan x = x, x = M L / 2 EI.

    With w = y + i z and the moment M along the axis, EI w'''' = i M w''', so w = a + b X + c X^2 + d exp(i m X), m = M / EI.
    The conditions w = w' = 0 at both ends leave exp(i m L) - 1 = (i m L / 2) (exp(i m L) + 1), that is
    tan(m L / 2) = m L / 2: M = 8.98682 EI / L, at the angle M L / GJ.
    """
    robot = ag.Robot("shaft", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(L, ag.Circle(R), MATERIAL, ag.kirchhoff(12, twist_modes=3), intervals=40), at=robot.ground)
    critical = 2 * 4.493409457909064 * EI / GJ
    shoe = ag.RigidBody(1e-3, inertia=1e-8 * np.eye(3))
    slide = robot.add(shoe, at=robot.ground, joint=ag.Prismatic((1, 0, 0)), pose=pose(p=(L, 0, 0)))
    turned = lambda t: pose(rotation((1, 0, 0), t * critical))
    robot.close(slide.frame, rod.tip, pose=turned)
    branch = ag.trace(robot, factors=(0.0, 1.1), step=0.1)
    (point,) = branch.special
    assert point.kind == "bifurcation"
    assert point.directions.shape[1] == 2
    assert point.factor == pytest.approx(1.0, rel=1e-4)


def test_twisted_ring():
    """Michell: a straight rod bent into a ring, its ends turned against each other by 2 pi sqrt(3) EI / GJ, leaves its plane.

    Balance of moments, with M = GJ x twist constant in a round rod: EI t x t'' + M t' + t x F = 0. About the ring of radius
    1, t = t0 + u n + w b, its first variation is u'' + m w' = 0 along b and -(w'' + w) + m u' = 0 along n, m = M / EI (a
    change of F acts on the harmonics 0 and 1 alone). The harmonic k >= 2 has m^2 = k^2 - 1: the first is m = sqrt(3).
    The ring may also turn about its clamp while its sections roll back: one direction is neutral throughout.
    """
    robot = ag.Robot("ring", gravity=(0, 0, 0))
    material = ag.Material(young=E, poisson=0.0, density=1000.0)  # GJ = EI
    rod = robot.add(ag.Rod(L, ag.Circle(R), material, ag.kirchhoff(16, twist_modes=3), intervals=48), at=robot.ground)
    turn = 2 * np.pi * np.sqrt(3)
    robot.close(robot.ground, rod.tip, pose=lambda t: pose(rotation((1, 0, 0), t * turn)))
    start = np.zeros(robot.size)
    start[robot.coordinates().index("rod.bend_z[0]")] = 2 * np.pi / L
    branch = ag.trace(robot, factors=(0.0, 1.05), start=start, neutral=1e-7, largest_step=1.0)
    assert np.allclose(np.linalg.norm(branch.equilibrium(3).position(rod.section(L / 2))), L / np.pi, rtol=1e-6)
    # two shapes turned by an eighth of the ring, cos and sin of the second harmonic, become neutral at once
    (point,) = branch.special
    assert point.kind == "bifurcation"
    assert point.factor == pytest.approx(1.0, rel=2e-5)
    assert point.directions.shape[1] == 3
    assert np.array_equal(branch.unstable, np.where(branch.factors < 1.0, 0, 2))
    # the ring stays plane to the end of the branch, and is no longer stable there
    end = branch.equilibrium(len(branch) - 1)
    places = end.centerline(rod, 40)
    assert np.linalg.svd(places - places.mean(axis=0))[1][2] < 1e-3 * L
    assert not ag.stability(robot, end).stable


# Snap-through ---------------------------------------------------------------------------------------------------------

HALF, RISE, EA = 1.0, 0.3, 50.0


def truss():
    """Half of von Mises' truss: an elastic bar from a pin to a slider that is pushed down."""
    robot = ag.Robot("truss", gravity=(0, 0, 0))
    length, area = np.hypot(HALF, RISE), np.pi * R**2
    soft = ag.Material(young=EA / area, poisson=0.3, density=1000.0)
    turn = pose(rotation((0, 0, 1), np.arctan2(RISE, HALF)))
    bar = robot.add(
        ag.Rod(length, ag.Circle(R), soft, ag.Strains(stretch=1)),
        at=robot.ground, joint=ag.Revolute((0, 0, 1)), pose=turn,
    )  # fmt: skip
    shoe = ag.RigidBody(1e-3, inertia=1e-8 * np.eye(3))
    slide = robot.add(shoe, at=robot.ground, joint=ag.Prismatic((0, 1, 0)), pose=pose(p=(HALF, RISE, 0)), name="shoe")
    robot.close(slide.frame, bar.tip, joint=ag.Revolute((0, 0, 1)))
    robot.load(ag.Wrench(slide.frame, force=lambda t: (0, -t, 0)))
    return robot


def test_von_mises_truss_snaps_through():
    """P = EA (1 - l / l0) y / l with l^2 = b^2 + y^2; dP/dy = 0 at l^3 = l0 b^2."""
    robot, length = truss(), np.hypot(HALF, RISE)
    branch = ag.trace(robot, factors=(-1.0, 1.0), start=None)
    force = lambda y: EA * (1 - np.hypot(HALF, y) / length) * y / np.hypot(HALF, y)
    turning = np.sqrt((length * HALF**2) ** (2 / 3) - HALF**2)
    assert [p.kind for p in branch.special] == ["limit", "limit"]
    assert [p.factor for p in branch.special] == pytest.approx([force(turning), force(-turning)], rel=1e-9)
    heights = RISE + branch.q[:, 2]
    assert np.allclose(branch.factors, force(heights), rtol=0, atol=1e-9 * EA)
    assert np.array_equal(branch.stable, np.abs(heights) > turning)
    assert branch.factors[-1] == pytest.approx(1.0)
    assert heights[-1] < -RISE


def test_a_factor_in_the_inputs():
    """A tendon along the axis of a column pulls it together: inputs as functions of the factor; it does not buckle it."""
    robot = ag.Robot("column", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(L, ag.Circle(R), MATERIAL, ag.planar(4, stretch_modes=1), intervals=8), at=robot.ground)
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=1e-3)))
    branch = ag.trace(robot, factors=(0.0, 2.0), inputs={"pull": lambda t: 5.0 * t})
    assert not branch.special
    end = branch.equilibrium(len(branch) - 1)
    assert np.allclose(end.q, ag.statics(robot, inputs={"pull": 10.0}).q, rtol=1e-8, atol=1e-10)
    assert end.tension("pull") == pytest.approx(10.0)


def test_errors_say_what_is_wrong():
    robot, _ = column(ag.planar(3), intervals=6)
    with pytest.raises(ag.DescriptionError, match="two different numbers"):
        ag.trace(robot, factors=(1.0, 1.0))
    with pytest.raises(ag.DescriptionError, match="direction must be"):
        ag.trace(robot, factors=(0.0, 1.0), direction=3)
    with pytest.raises(ag.DescriptionError, match="step must be"):
        ag.trace(robot, factors=(0.0, 1.0), step=-1.0)
    with pytest.raises(ag.DescriptionError, match="limits must be"):
        ag.trace(robot, factors=(0.0, 1.0), limits=(0.5, 1.0))
    with pytest.raises(ag.DescriptionError, match="finite numbers"):
        ag.trace(robot, factors=0.0)


def test_the_number_of_points_is_limited():
    robot, _ = column(ag.planar(2), intervals=4)
    branch = ag.trace(robot, factors=(0.0, 2.0), points=3)
    assert "3 points" in branch.status.message
    assert len(branch) == 3
    assert np.allclose(branch.motion().q, branch.q)


def test_imposed_turn_of_a_hinge_is_a_load_factor():
    """A weightless strut on a prescribed hinge: the load moves nothing else, and the equilibrium follows it."""
    robot = ag.Robot("crane", gravity=(0, -9.81, 0))
    arm = robot.add(
        ag.RigidBody(1.0, inertia=0.01 * np.eye(3)), at=robot.ground, joint=ag.Revolute((0, 0, 1), motion=lambda t: t)
    )
    weight = ag.RigidBody(0.5, inertia=0.01 * np.eye(3), com=(0.2, 0, 0))
    robot.add(weight, at=arm.at((0.6, 0, 0)), joint=ag.Revolute((0, 0, 1), stiffness=3.0), name="flap")
    branch = ag.trace(robot, factors=(0.0, 1.5))
    assert np.allclose(branch.q[:, 0], branch.factors)
    assert not branch.special
    torque = 3.0 * branch.q[:, 1] + 0.5 * 9.81 * 0.2 * np.cos(branch.q[:, 0] + branch.q[:, 1])
    assert np.max(np.abs(torque)) < 1e-9
