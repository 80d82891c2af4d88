"""Large and coupled deformations: springs, helices, cables, frames; closed forms and a boundary-value problem."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.linalg import expm
from scipy.optimize import fsolve

import anguilla as ag
from anguilla.lie import hat3, pose, rotation

Z = (0, 0, 1)
RADIUS, YOUNG = 2e-3, 1e9
MATERIAL = ag.Material(young=YOUNG, poisson=0.3, density=1000.0)
EI, GJ = YOUNG * np.pi * RADIUS**4 / 4, YOUNG * np.pi * RADIUS**4 / 4 / 1.3


def settled(robot, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)  # planar loops in space have redundant rows
        return ag.statics(robot, **options)


@pytest.mark.parametrize("angle", [0.02, np.radians(25)], ids=["close", "open"])
def test_coil_spring(angle):
    """Saint-Venant: a pull P along the axis lengthens a coil by P R^2 l (cos^2 / GJ + sin^2 / EI), and turns its end."""
    R, turns, pull = 0.02, 4, 1e-6
    length = turns * 2 * np.pi * R / np.cos(angle)
    rest = ag.Helix(R, 2 * np.pi * R * np.tan(angle))
    tangent, inward = np.array([0, np.cos(angle), np.sin(angle)]), np.array([-1.0, 0, 0])
    foot = pose(np.stack([tangent, inward, np.cross(tangent, inward)], axis=1), (R, 0, 0))
    robot = ag.Robot("spring", gravity=(0, 0, 0))
    wire = ag.Rod(length, ag.Circle(RADIUS / 4), MATERIAL, ag.kirchhoff(16), rest=rest)
    coil = robot.add(wire, at=robot.ground, pose=foot)
    hook = coil.tip.offset_by((0, R, 0))  # on the axis
    robot.load(ag.Wrench(hook, force=(0, 0, pull)))
    eq = ag.statics(robot)
    bend, twist = EI / 4**4, GJ / 4**4
    want = pull * R**2 * length * (np.cos(angle) ** 2 / twist + np.sin(angle) ** 2 / bend)
    assert eq.position(hook)[2] - turns * rest.pitch == pytest.approx(want, rel=1e-4)
    turned = eq.pose(hook)[:3, :3] @ foot[:3, :3].T
    want = pull * R * length * np.sin(angle) * np.cos(angle) * (1 / twist - 1 / bend)
    assert 0.5 * (turned[1, 0] - turned[0, 1]) == pytest.approx(want, rel=1e-3)


@pytest.mark.parametrize("modes", [1, 4])
def test_a_helix_stays_a_helix(modes):
    """Kirchhoff 1859: under a wrench along its axis a helix goes over into another one, of uniform curvature and torsion.

    The moment (GJ (t - t0), 0, EI (k - k0)) is constant in the section, and K x m = -e1 x n makes the force n a multiple
    of K = (t, 0, k), which is the axis.
    """
    length, first, last = 1.5, np.array([1.0, 0.0, 3.0]), np.array([4.0, 0.0, 5.0])
    moment = np.array([GJ, EI, EI]) * (last - first)
    force = np.cross(last, moment)[1] / last[2] * last
    rate = np.zeros((4, 4))
    rate[:3, :3], rate[0, 3] = hat3(last), 1.0
    tip = expm(length * rate)
    robot = ag.Robot("helix", gravity=(0, 0, 0))
    rest = ag.ConstantCurvature(*first)
    rod = robot.add(ag.Rod(length, ag.Circle(RADIUS), MATERIAL, ag.kirchhoff(modes), rest=rest), at=robot.ground)
    robot.load(ag.TipWrench(rod, force=tip[:3, :3] @ force, moment=tip[:3, :3] @ moment))
    eq = ag.statics(robot)
    assert eq.pose(rod.tip) == pytest.approx(tip, abs=1e-9)
    assert eq.strain(rod)[:, :3] == pytest.approx(np.tile(last, (60, 1)), abs=1e-8)
    assert eq.wrench(rod)[:, 3:] == pytest.approx(np.tile(force, (60, 1)), abs=1e-9 * np.linalg.norm(force))


def test_elastic_cable():
    """Irvine 1981: the elastic catenary between hooks at different heights, without any bending stiffness."""
    span, rise, weight = 0.7, 0.2, 1000 * np.pi * RADIUS**2 * 9.81
    axial = 5 * weight

    def miss(p):
        H, V = p
        left, right = V / H, (V - weight) / H
        x = H / axial + H / weight * (np.arcsinh(left) - np.arcsinh(right))
        y = weight / axial * (V / weight - 0.5) + H / weight * (np.hypot(1, left) - np.hypot(1, right))
        return x - span, y + rise

    H, V = fsolve(miss, [0.3 * weight, 0.6 * weight], xtol=1e-13)
    errors = []
    for modes in (8, 12):
        robot = ag.Robot("cable", gravity=(0, -9.81, 0))
        line = ag.Rod(
            1.0, ag.Circle(RADIUS), MATERIAL, ag.planar(modes, stretch_modes=modes), stiffness=(0, 0, 0, axial, 0, 0)
        )
        cable = robot.add(line, at=robot.ground, joint=ag.Revolute(Z))
        robot.close(robot.ground, cable.tip, joint=ag.Revolute(Z), pose=(span, rise, 0))
        eq = settled(robot)
        tension = eq.wrench(cable, [0.0, 0.5, 1.0])[:, 3]
        errors.append(np.abs(tension / np.hypot(H, V - weight * np.array([0.0, 0.5, 1.0])) - 1).max())
    assert errors[1] < 3e-4
    assert errors[1] < errors[0] / 5


@pytest.mark.parametrize("load", [6.0, -6.0], ids=["pulled", "pushed"])
def test_diamond_frame(load):
    """Jenkins, Seitz and Przemieniecki 1966: a square with hinges at two corners, P l^2 / EI = 6, by half of one side."""

    def rates(_, y):
        return np.array([np.cos(y[2]), np.sin(y[2]), y[3], -0.5 * load * np.cos(y[2])])

    s = np.linspace(0.0, 1.0, 41)
    start = np.array([0.7 * s, 0.7 * s, 0 * s + np.pi / 4, 0 * s])
    exact = solve_bvp(rates, lambda a, b: np.array([a[0], a[1], a[3], b[2] - np.pi / 4]), s, start, tol=1e-8)
    assert exact.success
    robot = ag.Robot("diamond", gravity=(0, 0, 0))
    side = ag.Rod(1.0, ag.Circle(RADIUS), MATERIAL, ag.planar(8))
    turn = lambda angle: pose(rotation(Z, angle))
    ends = []
    for hand in (1, -1):
        lower = robot.add(side, at=robot.ground, joint=ag.Revolute(Z), pose=turn(np.pi / 2 - hand * np.pi / 4))
        ends.append(robot.add(side, at=lower.tip, pose=turn(hand * np.pi / 2)))
    robot.close(ends[0].tip, ends[1].tip, joint=ag.Revolute(Z))
    robot.load(ag.Wrench(ends[0].tip, force=(0, load * EI, 0)))
    eq = settled(robot)
    x, y = exact.y[:2, -1]
    assert eq.position(ends[0].root)[:2] == pytest.approx([x, y], abs=1e-6)
    assert eq.position(ends[0].tip)[:2] == pytest.approx([0, 2 * y], abs=2e-6)


@pytest.mark.parametrize(
    ("force", "published"), [((0, 1, 0), 5.424e-3), ((0, 0, 1), 1.754e-3)], ids=["flat", "upright"]
)
def test_twisted_strip(force, published):
    """MacNeal and Harder 1985: a strip twisted by 90 degrees, bent by its end in both planes; by Castigliano."""
    width, thickness, length, young = 1.1, 0.32, 12.0, 29e6
    x, w = np.polynomial.legendre.leggauss(30)
    x, w = length * (x + 1) / 2, length * w / 2
    soft, stiff = young * width * thickness**3 / 12, young * thickness * width**3 / 12
    arm, turn = w * (length - x) ** 2, np.pi / 2 * x / length
    c, s = np.cos(turn), np.sin(turn)
    along = [np.sum(arm * (c**2 / soft + s**2 / stiff)), np.sum(arm * (s**2 / soft + c**2 / stiff))]
    across = np.sum(arm * s * c * (1 / soft - 1 / stiff))
    material = ag.Material(young=young, poisson=0.22, density=1000.0)
    shear = length / (material.shear_modulus * width * thickness)
    robot = ag.Robot("strip", gravity=(0, 0, 0))
    rest = ag.ConstantCurvature(twist=np.pi / 2 / length)
    rod = ag.Rod(length, ag.Rectangle(thickness, width), material, ag.reissner(8, stretch_modes=0), rest=rest)
    strip = robot.add(rod, at=robot.ground)
    robot.load(ag.TipWrench(strip, force=1e-3 * np.array(force)))
    tip = 1e3 * ag.statics(robot).position(strip.tip)[1:]
    want = np.array([along[0] + shear, across] if force[1] else [across, along[1] + shear])
    assert tip == pytest.approx(want, rel=1e-5)
    assert tip[0 if force[1] else 1] == pytest.approx(published, rel=4e-3)


def test_a_twisted_ring_folds_in_three():
    """Goto et al. 1992, the sunshade of cars: opposite points of a flat ring turned by 2 pi make a ring a third as wide."""
    R = 0.2
    robot = ag.Robot("sunshade", gravity=(0, 0, 0))
    rest = ag.ConstantCurvature(bend_z=1 / R)
    half = ag.Rod(np.pi * R, ag.Rectangle(R / 60, R / 20), MATERIAL, ag.kirchhoff(10), rest=rest)
    ring = robot.add(half, at=robot.ground)  # the other half does the same, mirrored
    shoe = ag.RigidBody(1e-3, (1e-8, 1e-8, 1e-8))
    rail = robot.add(shoe, at=robot.ground, joint=ag.Prismatic((0, 1, 0)), pose=(0, 2 * R, 0))
    back = pose(rotation(Z, np.pi))
    robot.close(rail.frame, ring.tip, pose=lambda t: pose(rotation((0, 1, 0), t)) @ back)
    branch = ag.trace(robot, factors=(0.0, 2 * np.pi), largest_step=0.3)
    last = branch.equilibrium(len(branch) - 1)
    assert last.t == pytest.approx(2 * np.pi)
    assert last.position(ring.tip) == pytest.approx([0, 2 * R / 3, 0], abs=1e-6 * R)
    assert np.linalg.norm(last.strain(ring)[:, :3], axis=1) == pytest.approx(3 / R, rel=1e-5)
