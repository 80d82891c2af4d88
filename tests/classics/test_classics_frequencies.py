"""Frequencies of classical problems: chains, tapers, rings, strings, rotors; closed forms and a published table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import iv, jn_zeros, jv

import anguilla as ag

YOUNG, DENSITY, RADIUS = 1e9, 1000.0, 2e-3
MATERIAL = ag.Material(young=YOUNG, poisson=0.3, density=DENSITY)
EI, GJ = YOUNG * np.pi * RADIUS**4 / 4, YOUNG * np.pi * RADIUS**4 / 4 / 1.3
MU = DENSITY * np.pi * RADIUS**2  # mass per length [kg/m]
WAVE = np.sqrt(EI / MU)  # [m^2/s]


def pulsations(robot, at=None, count=None):
    return 2 * np.pi * ag.modes(robot, np.zeros(robot.size) if at is None else at, count=count).frequencies


def steady_turn(rate):
    """A prescribed rotation at a steady rate."""
    return (lambda t: rate * t, lambda t: rate, lambda t: 0.0)


def test_heavy_chain():
    """Daniel Bernoulli 1733: a chain without stiffness swings at j_0k / 2 sqrt(g / l), j_0k the zeros of J_0."""
    errors = []
    for modes in (6, 12):
        robot = ag.Robot("chain", gravity=(9.81, 0, 0))
        chain = ag.Rod(1.5, ag.Circle(1e-3), MATERIAL, ag.planar(modes), stiffness=(0,) * 6)
        robot.add(chain, at=robot.ground, joint=ag.Revolute((0, 0, 1)))
        want = 0.5 * jn_zeros(0, 4) * np.sqrt(9.81 / 1.5)
        errors.append(np.abs(pulsations(robot, count=4) / want - 1))
    assert np.max(errors[1]) < 1e-4
    assert errors[1][0] < 1e-6
    assert errors[0][3] > 30 * errors[1][3]  # by the modes


@pytest.mark.parametrize("order", [1, 2], ids=["wedge", "cone"])
def test_cantilever_that_tapers_to_a_point(order):
    """Kirchhoff 1879: (x^(n+2) w'')'' = Omega^2 x^n w has w = x^(-n/2) J_n, I_n of 2 sqrt(Omega x); n = 1 wedge, 2 cone."""
    condition = lambda z: jv(order, z) * iv(order + 1, z) + iv(order, z) * jv(order + 1, z)
    grid = np.linspace(2.0, 16.0, 400)
    signs = np.flatnonzero(np.diff(np.sign(condition(grid))))[:3]
    want = np.array([brentq(condition, grid[k], grid[k + 1]) for k in signs]) ** 2 / 4
    assert want[0] == pytest.approx({1: 5.315, 2: 8.719}[order], abs=5e-4)  # as published
    half = lambda X: RADIUS * (1 - X)
    section = ag.EllipticProfile(semi_y=half, semi_z=half if order == 2 else 0.02)
    robot = ag.Robot("point", gravity=(0, 0, 0))
    robot.add(ag.Rod(1.0, section, MATERIAL, ag.planar(9)), at=robot.ground)
    assert pulsations(robot, count=3) / (want * WAVE) == pytest.approx(1, abs=2e-5)


@pytest.mark.parametrize(
    ("rate", "flaps"),
    [(2, (4.1373, 22.6149, 62.2732)), (6, (7.3604, 26.8091, 66.6839)), (12, (13.1702, 37.6031, 79.6145))],
)
def test_rotating_cantilever(rate, flaps):
    """Wright, Smith, Thresher and Wang 1982: flapping of a blade without hub; in the plane of rotation omega^2 - rate^2."""
    spin = rate * WAVE
    robot = ag.Robot("rotor", gravity=(0, 0, 0))
    blade = ag.Rod(1.0, ag.Circle(RADIUS), MATERIAL, ag.kirchhoff(9, twist_modes=0))
    robot.add(blade, at=robot.ground, joint=ag.Revolute((0, 0, 1), motion=steady_turn(spin)))
    at = np.zeros(robot.size), np.r_[spin, np.zeros(robot.size - 1)]
    want = np.sort([*flaps, *np.sqrt(np.array(flaps) ** 2 - rate**2)])
    assert pulsations(robot, at, 6) / WAVE == pytest.approx(want, rel=1e-4)


@pytest.mark.parametrize("ratio", [0.5, 1.1, 2.0])
def test_shaft_with_internal_damping_is_unstable_above_its_critical_speed(ratio):
    """Kimball 1924: seen from the shaft, s^2 + (2 i W + mu omega^2) s + omega^2 - W^2 = 0 for each bending mode."""
    mu, natural = 1e-3, np.array([1.8751040687, 4.6940911330]) ** 2 * WAVE
    spin = ratio * natural[0]
    robot = ag.Robot("shaft", gravity=(0, 0, 0))
    rubbing = ag.Material(young=YOUNG, poisson=0.3, density=DENSITY, damping=mu)
    shaft = ag.Rod(1.0, ag.Circle(RADIUS), rubbing, ag.kirchhoff(7, twist_modes=0))
    robot.add(shaft, at=robot.ground, joint=ag.Revolute((1, 0, 0), motion=steady_turn(spin)))
    found = ag.modes(robot, (np.zeros(robot.size), np.r_[spin, np.zeros(robot.size - 1)]), count=4).eigenvalues
    want = np.concatenate([np.roots([1, 2j * spin + mu * w**2, w**2 - spin**2]) for w in natural])
    want = want[np.argsort(np.abs(want))]
    assert found.real == pytest.approx(want.real, rel=2e-4)
    assert np.abs(found.imag) == pytest.approx(np.abs(want.imag), rel=1e-4)
    assert (found.real.max() > 0) == (ratio > 1)


def test_floating_ring():
    """Hoppe 1871 in its plane, n (n^2 - 1) / sqrt(n^2 + 1), and Michell 1889 out of it, n (n^2 - 1) / sqrt(n^2 + EI / GJ)."""
    R = 0.3
    robot = ag.Robot("ring", gravity=(0, 0, 0), base="free")
    curved = ag.Rod(
        2 * np.pi * R, ag.Circle(RADIUS), MATERIAL, ag.kirchhoff(13), rest=ag.ConstantCurvature(bend_z=1 / R)
    )
    ring = robot.add(curved, at=robot.ground)
    robot.close(ring.root, ring.tip)
    found = pulsations(robot, count=14) / (WAVE / R**2)
    n = np.array([2, 2, 3, 3])
    want = np.sort(np.concatenate([n * (n**2 - 1) / np.sqrt(n**2 + x) for x in (1.0, EI / GJ)]))
    assert np.max(found[:6]) < 1e-4
    assert found[6:] == pytest.approx(want, rel=1e-3)
    assert found[6:10] == pytest.approx(want[:4], rel=1e-4)


def test_stiff_string():
    """Fletcher 1964: a pinned wire under tension, k / 2 l sqrt(T / mu) sqrt(1 + k^2 pi^2 EI / T l^2); Rayleigh's inertia."""
    tension, k = 50.0, np.arange(1, 6)
    robot = ag.Robot("wire", gravity=(0, 0, 0))
    wire = robot.add(
        ag.Rod(1.0, ag.Circle(RADIUS), MATERIAL, ag.planar(13)), at=robot.ground, joint=ag.Revolute((0, 0, 1))
    )
    shoe = robot.add(ag.RigidBody.point_mass(1e-9), at=robot.ground, joint=ag.Prismatic((1, 0, 0)), pose=(1.0, 0, 0))
    robot.close(shoe.frame, wire.tip, joint=ag.Revolute((0, 0, 1)))
    robot.load(ag.TipWrench(wire, force=(tension, 0, 0)))
    found = ag.modes(robot, count=5).frequencies
    want = 0.5 * k * np.sqrt(tension / MU) * np.sqrt(1 + k**2 * np.pi**2 * EI / tension)
    want /= np.sqrt(1 + k**2 * np.pi**2 * RADIUS**2 / 4)
    assert found == pytest.approx(want, rel=1e-4)
    assert found[:3] == pytest.approx(want[:3], rel=1e-5)


@pytest.mark.parametrize(
    ("joint", "roots"),
    [
        (ag.Fixed(), (4.7300407449, 7.8532046241, 10.9956078380)),
        (ag.Revolute((0, 0, 1)), (3.9266023120, 7.0685827456, 10.2101761228)),
    ],
    ids=["clamped", "hinged"],
)
def test_beam_clamped_at_its_root_and_held_at_its_tip(joint, roots):
    """Euler and Bernoulli: cos x cosh x = 1 and tan x = tanh x."""
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    rod = ag.Rod(1.0, ag.Circle(RADIUS), MATERIAL, ag.planar(11, stretch_modes=2))
    beam = robot.add(rod, at=robot.ground)
    robot.close(robot.ground, beam.tip, joint=joint, pose=(1.0, 0, 0))
    found = pulsations(robot, count=3)
    assert found / WAVE == pytest.approx(np.array(roots) ** 2, rel=1e-4)
