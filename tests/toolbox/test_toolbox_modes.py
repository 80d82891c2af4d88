"""Frequencies against closed forms; stability."""

import numpy as np
import pytest
from scipy.optimize import brentq

import anguilla as ag
from anguilla.lie import pose

E, NU, RHO, R, L = 2e9, 0.25, 1200.0, 5e-4, 0.8
PLAIN = ag.Material(young=E, poisson=NU, density=RHO)
SECTION = ag.Circle(R)
EI, LINE = E * np.pi * R**4 / 4, RHO * np.pi * R**2
WAVE = np.sqrt(EI / LINE) / L**2 / (2 * np.pi)  # [Hz]


def build(strains, joint=None, material=PLAIN, intervals=60, gravity=(0, 0, 0)):
    robot = ag.Robot("beam", gravity=gravity)
    rod = robot.add(ag.Rod(L, SECTION, material, strains, intervals=intervals), at=robot.ground, joint=joint)
    return robot, rod


def roots(characteristic, count, first, period=np.pi):
    """Roots of cos x cosh x = ... near first, first + period, ..."""
    return np.array(
        [brentq(characteristic, first + k * period - 1.0, first + k * period + 1.0, xtol=1e-14) for k in range(count)]
    )


def test_clamped_free_beam():
    robot, _ = build(ag.planar(11))
    beta = roots(lambda x: np.cos(x) + 1 / np.cosh(x), 4, 1.8751)
    found = ag.modes(robot, count=4)
    # rotary inertia lowers them by a part of about (beta R / 2 L)^2
    assert np.allclose(found.frequencies, beta**2 * WAVE, rtol=1e-5)
    assert np.array_equal(found.damping, np.zeros(4))


def test_bar_and_shaft():
    k = np.arange(3)
    robot, _ = build(ag.Strains(stretch=10))
    assert np.allclose(ag.modes(robot, count=3).frequencies, (2 * k + 1) / (4 * L) * np.sqrt(E / RHO), rtol=2e-6)
    robot, _ = build(ag.Strains(twist=10))
    shear = E / 2 / (1 + NU)
    assert np.allclose(ag.modes(robot, count=3).frequencies, (2 * k + 1) / (4 * L) * np.sqrt(shear / RHO), rtol=2e-6)


def test_free_free_beam_has_six_zero_modes():
    robot, _ = build(ag.kirchhoff(10, twist_modes=2), joint=ag.Free())
    found = ag.modes(robot, np.r_[0.3, 0.1, -0.2, 0.4, 0.5, -0.3, np.zeros(22)])
    beta = roots(lambda x: np.cos(x) - 1 / np.cosh(x), 3, 4.7300)
    assert np.max(found.frequencies[:6]) < 1e-4 * found.frequencies[6]
    assert np.allclose(found.frequencies[6:12], np.repeat(beta**2 * WAVE, 2), rtol=1e-5)
    assert np.linalg.matrix_rank(found.shapes[:6, :6], tol=1e-6) == 6


def test_kelvin_voigt_damping_is_proportional():
    """zeta = mu omega / 2 in every mode, overdamped ones included."""
    robot, _ = build(ag.planar(5), material=ag.Material(young=E, poisson=NU, density=RHO, damping=2e-2))
    found = ag.modes(robot)
    assert np.allclose(found.damping, 0.5 * 2e-2 * 2 * np.pi * found.frequencies, rtol=1e-8)
    assert found.damping[0] < 1.0 < found.damping[-1]
    assert np.allclose(np.abs(found.eigenvalues[0]), 2 * np.pi * found.frequencies[0])


def test_compound_pendulum_with_friction():
    robot = ag.Robot("pendulum")
    body = ag.RigidBody(2.0, inertia=np.diag([0.1, 0.12, 0.15]), com=(0.3, 0, 0))
    robot.add(body, at=robot.ground, joint=ag.Revolute((0, 1, 0), damping=0.2))
    inertia = 0.12 + 2.0 * 0.3**2
    hanging = ag.statics(robot, start=[1.0])
    found = ag.modes(robot, hanging)
    pulsation = np.sqrt(2.0 * 9.81 * 0.3 / inertia)
    assert found.frequencies[0] == pytest.approx(pulsation / (2 * np.pi), rel=1e-12)
    assert found.damping[0] == pytest.approx(0.2 / (2 * inertia * pulsation), rel=1e-12)
    up = ag.modes(robot, [-np.pi / 2])
    assert up.damping[0] == -1.0
    assert not ag.stability(robot, [-np.pi / 2]).stable
    assert ag.stability(robot, hanging).stable


def test_ball_pendulum():
    """A body on a ball swings in two planes and turns freely about the vertical."""
    robot = ag.Robot("ball")
    body = ag.RigidBody(2.0, inertia=np.diag([0.1, 0.12, 0.15]), com=(0, 0, -0.3))
    robot.add(body, at=robot.ground, joint=ag.Spherical())
    found = ag.modes(robot, [0.0, 0.0, 0.4])
    want = np.sqrt(2.0 * 9.81 * 0.3 / (np.array([0.12, 0.1]) + 2.0 * 0.3**2)) / (2 * np.pi)
    assert np.allclose(found.frequencies, [0.0, *want], rtol=1e-12, atol=1e-12)


def test_parallelogram_of_bars():
    """One degree of freedom: omega^2 = weight / inertia, with the tie moving as the end of the crank."""
    robot = ag.Robot("parallelogram", gravity=(0, -9.81, 0))
    bar = ag.RigidBody(0.7, inertia=0.02 * np.eye(3), com=(0.25, 0, 0))
    pin = lambda: ag.Revolute((0, 0, 1))
    one = robot.add(bar, at=robot.ground, joint=pin(), name="one")
    two = robot.add(bar, at=one.at((0.5, 0, 0)), joint=pin(), name="two")
    three = robot.add(bar, at=robot.ground, joint=pin(), pose=pose(p=(0.5, 0.0, 0)), name="three")
    robot.close(two.at((0.5, 0, 0)), three.at((0.5, 0, 0)), joint=pin())
    at = ag.statics(robot, start=[-np.pi / 2 + 0.1, np.pi / 2 - 0.1, -np.pi / 2 + 0.1])
    found = ag.modes(robot, at)
    inertia = 2 * (0.02 + 0.7 * 0.25**2) + 0.7 * 0.5**2
    weight = 9.81 * (2 * 0.7 * 0.25 + 0.7 * 0.5)
    assert found.frequencies == pytest.approx([np.sqrt(weight / inertia) / (2 * np.pi)], rel=1e-9)
    run = found.motion(0, amplitude=0.1)
    assert np.allclose(run.q[0], run.q[-1])
    assert run.t[-1] == pytest.approx(1 / found.frequencies[0])


def four_bar_oracle(lengths, base, weight=9.81):
    """Frequency of a four-bar of uniform rods (1 kg/m) hanging from two pins, by one-dimensional calculus."""
    a, b, c = lengths

    def angles(x):
        A = a * np.array([np.cos(x), np.sin(x)])
        d = np.array([base, 0.0]) - A
        D = np.linalg.norm(d)
        inside = np.arccos((b**2 + D**2 - c**2) / (2 * b * D))
        y = np.arctan2(d[1], d[0]) - inside  # the knee below
        B = A + b * np.array([np.cos(y), np.sin(y)])
        z = np.arctan2(base * 0.0 - B[1], base - B[0])
        return A, B, x, y, z

    def points(x):
        A, B, *turn = angles(x)
        return np.array([A / 2, (A + B) / 2, (B + np.array([base, 0.0])) / 2]), np.array(turn)

    m = np.array(lengths)
    potential = lambda x: weight * (m @ points(x)[0][:, 1])
    h = 1e-3
    slope = lambda x: (8 * (potential(x + h) - potential(x - h)) - potential(x + 2 * h) + potential(x - 2 * h)) / 12 / h
    x = brentq(slope, -2.6, -0.6, xtol=1e-14)
    bend = (8 * (slope(x + h) - slope(x - h)) - slope(x + 2 * h) + slope(x - 2 * h)) / (12 * h)
    moved = [points(x + s * h) for s in (-2, -1, 1, 2)]
    v, w = ((8 * (moved[2][k] - moved[1][k]) - (moved[3][k] - moved[0][k])) / (12 * h) for k in (0, 1))
    inertia = m @ np.sum(v**2, axis=1) + (m**3 / 12) @ w**2
    return x, angles(x), np.sqrt(bend / inertia) / (2 * np.pi)


def test_four_bar_of_unequal_bars():
    lengths, base = (0.5, 1.0, 0.8), 0.9
    _, (_, _, x, y, z), want = four_bar_oracle(lengths, base)
    robot = ag.Robot("four_bar", gravity=(0, -9.81, 0))
    at = robot.ground
    for k, length in enumerate(lengths):
        bar = ag.RigidBody(length, inertia=length**3 / 12 * np.eye(3), com=(length / 2, 0, 0))
        at = robot.add(bar, at=at, joint=ag.Revolute((0, 0, 1)), name=f"bar_{k}").at((length, 0, 0))
    robot.close(robot.ground, at, joint=ag.Revolute((0, 0, 1)), pose=pose(p=(base, 0, 0)))
    rest = ag.statics(robot, start=[x + 0.05, y - x, z - y])
    assert rest.q[0] == pytest.approx(x, abs=1e-8)
    assert ag.modes(robot, rest).frequencies == pytest.approx([want], rel=1e-7)
    assert ag.stability(robot, rest).stable


def test_hinged_beam_under_compression():
    """omega^2 = omega_0^2 (1 - P / P_cr): the force acts through the stiffness of the load and of the closure."""
    critical = np.pi**2 * EI / L**2
    for part in (-0.5, 0.0, 0.4, 0.9):
        robot, rod = build(ag.planar(8), joint=ag.Revolute((0, 0, 1)))
        shoe = ag.RigidBody(1e-6, inertia=1e-12 * np.eye(3))
        rail = robot.add(shoe, at=robot.ground, joint=ag.Prismatic((1, 0, 0)), pose=pose(p=(L, 0, 0)))
        robot.close(rail.frame, rod.tip, joint=ag.Revolute((0, 0, 1)))
        robot.load(ag.TipWrench(rod, force=(-part * critical, 0, 0)))
        at = ag.statics(robot)
        want = np.pi**2 * WAVE * np.sqrt(1 - part)
        assert ag.modes(robot, at, count=1).frequencies[0] == pytest.approx(want, rel=1e-5), part


def test_follower_force_flutters():
    """Beck's column: a tangential force at the free end makes it flutter beyond 20.0509 EI / L^2."""

    def growth(P):
        robot, rod = build(ag.planar(7))
        robot.load(ag.TipWrench(rod, force=(-P * EI / L**2, 0, 0), follower=True))
        found = ag.modes(robot, np.zeros(7))
        return np.max(found.eigenvalues.real) / (2 * np.pi * found.frequencies[0])

    assert growth(20.04) < 1e-6
    assert growth(20.06) > 1e-3
    robot, rod = build(ag.planar(4))
    robot.load(ag.TipWrench(rod, force=(-15 * EI / L**2, 0, 0), follower=True))
    assert not ag.stability(robot, np.zeros(4)).symmetric


def test_shapes_are_shown_by_a_motion(tmp_path):
    robot, _ = build(ag.kirchhoff(4))
    found = ag.modes(robot)
    run = found.motion(1, amplitude=0.5)
    assert np.max(np.abs(run.q * run.system.tree.scale)) == pytest.approx(0.5)
    assert ag.animate(run, tmp_path / "mode.html").exists()
    assert "Hz" in repr(found)
    with pytest.raises(ag.DescriptionError, match="mode must be"):
        found.motion(99)


def test_the_motion_of_a_mode_has_its_kinetic_energy():
    robot, _ = build(ag.planar(3), intervals=6)
    run = ag.modes(robot).motion(1, amplitude=0.01, instants=5)
    kinetic = [0.5 * v @ ag.mass_matrix(robot, q) @ v for q, v in zip(run.q, run.v, strict=True)]
    assert run.energy["kinetic"] == pytest.approx(kinetic, rel=1e-9, abs=1e-9 * max(kinetic))


def test_a_floating_loop_has_six_zero_modes():
    """Two bodies held apart by two soft rods, in free space."""
    soft = ag.Material(young=2e5, poisson=0.4, density=1100.0)
    robot = ag.Robot("loop", gravity=(0, 0, 0))
    body = ag.RigidBody(0.2, inertia=1e-3 * np.eye(3))
    rod = ag.Rod(0.4, ag.Circle(0.01), soft, ag.kirchhoff(3), intervals=6)
    one = robot.add(body, at=robot.ground, joint=ag.Free(), name="one")
    first = robot.add(rod, at=one.at((0, 0.05, 0)), name="first")
    two = robot.add(body, at=first.tip, name="two")
    second = robot.add(rod, at=one.at((0, -0.05, 0)), name="second")
    robot.close(two.at((0, -0.1, 0)), second.tip)
    found = ag.modes(robot)
    assert len(found) == robot.size - 6
    assert np.max(found.frequencies[:6]) < 1e-5 * found.frequencies[6]
    assert found.frequencies[6] > 0.1
    assert ag.stability(robot, np.zeros(robot.size)).neutral == 6


def test_a_robot_that_nothing_lets_move_has_no_modes():
    robot = ag.Robot("puppet")
    robot.add(ag.RigidBody.point_mass(1.0, com=(0.1, 0, 0)), at=robot.ground, joint=ag.Revolute((0, 0, 1), motion=0.2))
    with pytest.raises(ag.DescriptionError, match="'puppet' has no modes: nothing in it is free to move"):
        ag.modes(robot)
