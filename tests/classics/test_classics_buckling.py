"""Buckling, snap-through and flutter of classical problems: closed forms, published loads, a boundary-value problem."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.optimize import brentq
from scipy.special import jv

import anguilla as ag
from anguilla.lie import pose, rotation

Z = (0, 0, 1)
ALUMINIUM = ag.Material(young=70e9, poisson=0.33, density=2700.0)
STRIP = ag.Rectangle(2e-3, 40e-3)


def trace(robot, last, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)  # planar loops in space have redundant rows
        return ag.trace(robot, factors=(0.0, last), **options)


def strip_unit():
    """Sqrt(EI GJ) of the strip about its weak axis [N m^2]."""
    p = STRIP.at([0.0])
    return np.sqrt(ALUMINIUM.young * p.second_z[0] * ALUMINIUM.shear_modulus * p.torsion[0])


def test_narrow_strip_tips_over_under_a_force_at_its_end():
    """Prandtl 1899, Michell 1899: P l^2 / sqrt(EI GJ) = 4.0126, twice the first zero of J_-1/4, if it is rigid upright."""
    critical = 2 * brentq(lambda z: jv(-0.25, z), 1.5, 2.5)
    unit = strip_unit()
    robot = ag.Robot("strip", gravity=(0, 0, 0))
    strip = robot.add(ag.Rod(1.0, STRIP, ALUMINIUM, ag.Strains(twist=8, bend_z=8)), at=robot.ground)
    robot.load(ag.TipWrench(strip, force=lambda t: (0, 0, -t * unit)))
    (point,) = trace(robot, 6.0).special
    assert point.kind == "bifurcation"
    assert point.factor == pytest.approx(critical, rel=1e-5)


def test_narrow_strip_tips_over_under_its_weight():
    """Prandtl 1899: q l^3 / sqrt(EI GJ) = 12.85."""
    weight = 2700.0 * 8e-5
    robot = ag.Robot("strip", gravity=lambda t: (0, 0, -t))
    robot.add(ag.Rod(1.0, STRIP, ALUMINIUM, ag.Strains(twist=8, bend_z=8)), at=robot.ground)
    (point,) = trace(robot, 15.0 * strip_unit() / weight).special
    assert point.factor * weight / strip_unit() == pytest.approx(12.854, abs=1e-3)


@pytest.mark.parametrize("side", [1, -1])
def test_right_angle_frame(side):
    """Argyris et al. 1979: a frame bent by moments at its hinges leaves its plane at pi / l sqrt(EI GJ) = 622.2 N mm."""
    height, thickness, length, young = 30e-3, 0.6e-3, 240e-3, 71240e6
    weak, torsion = height * thickness**3 / 12, height * thickness**3 / 3
    section = ag.GeneralSection(thickness * height, weak, thickness * height**3 / 12, torsion)
    material = ag.Material(young=young, poisson=0.31, density=2700.0)
    critical = np.pi / length * np.sqrt(young * weak * material.shear_modulus * torsion)
    assert critical == pytest.approx(0.6222, abs=1e-4)
    leg = ag.Rod(length, section, material, ag.Strains(twist=6, bend_y=6))
    robot = ag.Robot("frame", gravity=(0, 0, 0))
    turn = lambda angle: pose(rotation(Z, angle))
    left = robot.add(leg, at=robot.ground, joint=ag.Revolute(Z), pose=turn(np.pi / 4), name="left")
    right = robot.add(leg, at=left.tip, pose=turn(-np.pi / 2), name="right")
    foot = ag.RigidBody(1e-3, (1e-9, 1e-9, 1e-9))
    rail = robot.add(foot, at=robot.ground, joint=ag.Prismatic((1, 0, 0)), pose=(np.sqrt(2) * length, 0, 0))
    robot.close(rail.frame, right.tip, joint=ag.Revolute(Z), pose=turn(-np.pi / 4))
    robot.load(ag.Wrench(left.root, moment=lambda t: (0, 0, t * critical)))
    robot.load(ag.Wrench(right.tip, moment=lambda t: (0, 0, -t * critical)))
    point = trace(robot, side * 1.3, special=1).special[0]
    assert point.kind == "bifurcation"
    assert point.factor == pytest.approx(side, rel=4e-5)


@pytest.mark.parametrize("slenderness", [4.0, 8.0])
def test_thick_column(slenderness):
    """Haringx 1942, Reissner 1972: P (1 + P / GA - P / EA) = pi^2 EI / 4 l^2 with shear and shortening."""
    young, radius = 1e6, 0.5 / slenderness
    area = np.pi * radius**2
    bend, axial, shear = young * area * radius**2 / 4, young * area, young / 2.6 * area
    robot = ag.Robot("column", gravity=(0, 0, 0))
    material = ag.Material(young=young, poisson=0.3, density=1000.0)
    rod = ag.Rod(1.0, ag.Circle(radius), material, ag.planar(8, stretch_modes=2, shear_modes=8))
    column = robot.add(rod, at=robot.ground)
    robot.load(ag.TipWrench(column, force=lambda t: (-t * bend, 0, 0)))
    want = np.max(np.roots([bend / shear - bend / axial, 1.0, -(np.pi**2) / 4]))
    assert trace(robot, 3.0).special[0].factor == pytest.approx(want, rel=1e-6)


def test_ring_under_pressure():
    """Levy 1884: a ring under a pressure that follows it collapses to n lobes at p R^3 / EI = n^2 - 1."""
    R, radius, young = 0.3, 3e-3, 1e9
    unit = young * np.pi * radius**4 / 4 / R**3
    robot = ag.Robot("ring", gravity=(0, 0, 0))
    material = ag.Material(young=young, poisson=0.3, density=1000.0)
    rest = ag.ConstantCurvature(bend_z=1 / R)
    ring = robot.add(ag.Rod(2 * np.pi * R, ag.Circle(radius), material, ag.planar(14), rest=rest), at=robot.ground)
    robot.close(robot.ground, ring.tip)
    robot.load(ag.DistributedWrench(ring, force=lambda X, t: (0, t * unit, 0), follower=True))
    found = trace(robot, 10.0, start=np.zeros(robot.size), special=2).special
    assert [point.factor for point in found] == pytest.approx([3.0, 8.0], rel=4e-4)
    assert [point.kind for point in found] == ["bifurcation", "bifurcation"]  # the pressure goes on to grow


def test_deep_arch_clamped_and_hinged():
    """DaDeppo and Schmidt 1975: an arch of 215 degrees, pushed down at its top, snaps sideways at 8.97 EI / R^2."""
    R, half = 1.0, np.radians(107.5)
    section = ag.Circle(2e-3)
    material = ag.Material(young=1e9, poisson=0.3, density=1000.0)
    unit = 1e9 * np.pi * 2e-3**4 / 4 / R**2
    robot = ag.Robot("arch", gravity=(0, 0, 0))
    rod = ag.Rod(R * half, section, material, ag.planar(10), rest=ag.ConstantCurvature(bend_z=-1 / R))
    left = robot.add(rod, at=robot.ground, pose=pose(rotation(Z, half)), name="left")
    right = robot.add(rod, at=left.tip, name="right")
    robot.close(robot.ground, right.tip, joint=ag.Revolute(Z), pose=(2 * R * np.sin(half), 0, 0))
    robot.load(ag.Wrench(left.tip, force=lambda t: (0, -t * unit, 0)))
    point = trace(robot, 10.0, special=1, largest_step=0.3).special[0]
    assert point.kind == "limit"
    assert point.factor == pytest.approx(8.97, abs=0.005)


LEG, YOUNG, AREA, SECOND = 1.2, 7.2e9, 6e-4, 2e-8  # Lee's frame


def lees_frame_by_bvp(depth, guess):
    """Load that holds the loaded point of Lee's frame at a depth: three extensible elasticas, each on (0, 1)."""
    pieces = (LEG, 0.2 * LEG, 0.8 * LEG)

    def rates(_, y, p):
        out = []
        for k, length in enumerate(pieces):
            angle, moment = y[4 * k + 2 : 4 * k + 4]
            c, s, fx, fy = np.cos(angle), np.sin(angle), p[0], p[1] + (p[2] if k == 2 else 0.0)
            g = length * (1 + (fx * c + fy * s) / (YOUNG * AREA))
            out += [g * c, g * s, length * moment / (YOUNG * SECOND), g * (s * fx - c * fy)]
        return np.array(out)

    def ends(a, b, p):
        joints = b[:8] - a[4:12]
        joints[2] -= np.pi / 2
        return np.array([a[0], a[1], a[3], *joints, b[8] - LEG, b[9] - LEG, b[11], b[5] - LEG + depth])

    found = solve_bvp(rates, ends, *guess, tol=1e-6, max_nodes=20000)
    assert found.success
    return found.x, found.y, found.p


def test_lees_frame():
    """Lee, Manuel and Rossow 1968: the limit load against a boundary-value problem; then it pulls back."""
    section = ag.GeneralSection(AREA, SECOND, SECOND, 2 * SECOND)
    material = ag.Material(young=YOUNG, poisson=0.3, density=1000.0)
    robot = ag.Robot("frame", gravity=(0, 0, 0))
    place, turn, frames = robot.ground, np.pi / 2, []
    for name, length, joint in (("column", LEG, ag.Revolute(Z)), ("near", 0.2 * LEG, None), ("far", 0.8 * LEG, None)):
        rod = ag.Rod(length, section, material, ag.planar(7, stretch_modes=4))
        place = robot.add(rod, at=place, joint=joint, pose=pose(rotation(Z, turn)), name=name).tip
        frames.append(place)
        turn = -np.pi / 2 if name == "column" else 0.0
    robot.close(robot.ground, place, joint=ag.Revolute(Z), pose=(LEG, LEG, 0))
    robot.load(ag.Wrench(frames[1], force=lambda t: (0, -1e3 * t, 0)))
    branch = trace(robot, 25.0, limits=(-15.0, 25.0))
    assert [point.kind for point in branch.special] == ["limit", "limit"]
    s = np.linspace(0.0, 1.0, 31)
    z = 0.0 * s
    shape = [z, LEG * s, z + np.pi / 2, z, 0.2 * LEG * s, z + LEG, z, z, LEG * (0.2 + 0.8 * s), z + LEG, z, z]
    guess = s, np.array(shape), np.array([0.0, 0.0, 1e3])
    loads, depths = [], 0.01 * np.array([5.0, 15.0, 25.0, 35.0, 44.0, 47.7, 48.2, 48.7, 49.2, 49.7])
    for depth in depths:
        guess = lees_frame_by_bvp(depth, guess)
        loads.append(1e-3 * guess[2][2])
    middle = np.polynomial.Polynomial.fit(depths[-5:], loads[-5:], 4)
    limit = np.max(middle(np.linspace(depths[-5], depths[-1], 2001)))
    assert branch.limits[0].factor == pytest.approx(limit, rel=1e-4)
    assert branch.limits[1].factor < 0.0
    assert branch.factors[-1] == pytest.approx(25.0)


def zieglers_pendulum(load, damping=0.0):
    """Fastest growth of a double pendulum under a force that follows its end (k = l = m = 1)."""
    robot = ag.Robot("pendulum", gravity=(0, 0, 0))
    place = robot.ground
    for mass in (2.0, 1.0):
        joint = ag.Revolute(Z, stiffness=1.0, damping=damping)
        place = robot.add(ag.RigidBody.point_mass(mass, com=(1, 0, 0)), at=place, joint=joint).at((1, 0, 0))
    robot.load(ag.Wrench(place, force=(-load, 0, 0), follower=True))
    return ag.modes(robot, np.zeros(2)).eigenvalues.real.max()


def test_zieglers_pendulum():
    """Ziegler 1952: flutter at 7/2 - sqrt(2), but at 41/28 + c^2 / 2 with any damping c, however small."""
    undamped = 3.5 - np.sqrt(2)
    assert zieglers_pendulum(undamped - 1e-6) < 1e-8
    assert zieglers_pendulum(undamped + 1e-6) > 1e-4
    for damping in (1e-2, 1e-3):
        found = brentq(lambda load, c=damping: zieglers_pendulum(load, c), 1.2, 1.7, xtol=1e-10)
        assert found == pytest.approx(41 / 28 + damping**2 / 2, rel=1e-9)


def test_leipholz_column():
    """Leipholz 1962: a uniform load that follows the column makes it flutter at q l^3 / EI = 40.05."""
    bend = 1e9 * np.pi * 5e-3**4 / 4

    def growth(load):
        robot = ag.Robot("column", gravity=(0, 0, 0))
        material = ag.Material(young=1e9, poisson=0.3, density=1000.0)
        column = robot.add(ag.Rod(1.0, ag.Circle(5e-3), material, ag.planar(9)), at=robot.ground)
        robot.load(ag.DistributedWrench(column, force=(-load * bend, 0, 0), follower=True))
        values = ag.modes(robot, np.zeros(9)).eigenvalues
        return values.real.max() / np.abs(values[0])

    assert growth(40.04) < 1e-6
    assert growth(40.07) > 1e-2
