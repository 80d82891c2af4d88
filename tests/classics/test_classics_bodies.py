"""Rigid bodies and linkages: a seven-body benchmark, paradoxical and spherical linkages, gyroscopes, a shaken pendulum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import anguilla as ag
from anguilla.lie import pose, rotation

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def squeezer():
    """Andrews' squeezing mechanism: seven bodies in the plane, three loops, a spring, a motor; data of Schiehlen 1990."""
    mass = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    inertia = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    A, B, C = (-0.06934, -0.00227, 0), (-0.03635, 0.03273, 0), (0.014, 0.072, 0)
    robot = ag.Robot("squeezer", gravity=(0, 0, 0))

    def add(number, com, at, place=(0, 0, 0), effort=0.0):
        body = ag.RigidBody(mass[number - 1], np.array([0.5, 0.5, 1.0]) * inertia[number - 1], (*com, 0), f"K{number}")
        return robot.add(body, at=at, pose=place, joint=ag.Revolute(Z, effort=effort))

    k1 = add(1, (0.00092, 0), robot.ground, effort=0.033)
    k2 = add(2, (-0.0115, 0), k1.at((0.007, 0, 0)))
    k3 = add(3, (0.01043, -0.01874), robot.ground, B)
    k5 = add(5, (0.02308, 0.00916), robot.ground, A)
    k4 = add(4, (0, -0.00579), k5.at((0.04, 0, 0)))
    k7 = add(7, (-0.00449, -0.01228), robot.ground, A)
    k6 = add(6, (0.00579, 0), k7.at((0, -0.04, 0)))
    for body, place in ((k3, (0, -0.035, 0)), (k4, (0, -0.02, 0)), (k6, (0.02, 0, 0))):
        robot.close(k2.at((-0.028, 0, 0)), body.at(place), joint=ag.Revolute(Z))
    robot.load(ag.Spring(k3.at((0.02, -0.018, 0)), robot.ground.offset_by(C), stiffness=4530.0, rest=0.07785))
    return robot


def test_andrews_squeezer():
    """Angles after 30 ms as in the Test Set for IVP Solvers, by extrapolation; the motor turns two and a half times."""
    start = [
        -0.0617138900142764, 0.0, 0.455279819163070, 0.487364979543843, 0.222668390165886, 1.23054744454982,
        -0.222668390165886,
    ]  # fmt: skip
    want = [
        15.81077119629904, -15.75637105984298, 0.04082224013073101, 0.5244099658805304, -0.5347301163226948,
        1.048080741042263, 0.5347301163226948,
    ]  # fmt: skip
    errors = []
    for dt in (5e-5, 2.5e-5):
        run = ag.simulate(squeezer(), duration=0.03, dt=dt, start=start)
        errors.append(run.q[-1] - want)
    assert np.abs(errors[1]).max() < 1e-3
    assert np.log2(np.abs(errors[0]).max() / np.abs(errors[1]).max()) == pytest.approx(2.0, abs=0.05)
    assert np.abs(errors[1] + (errors[1] - errors[0]) / 3).max() < 5e-6


def test_bennetts_linkage():
    """Bennett 1903: four hinges in space that should be stiff, and move: tan(a / 2) tan(b / 2) stays the same."""
    twists = np.radians([40.0, 70.0, 40.0, 70.0])
    lengths = 0.3 * np.sin(twists) / np.sin(twists[0])
    links = [pose(rotation(X, twist), (length, 0, 0)) for twist, length in zip(twists, lengths, strict=True)]
    product = np.sin((twists[1] + twists[0]) / 2) / np.sin((twists[1] - twists[0]) / 2)
    robot = ag.Robot("linkage", gravity=(0, 0, 0))
    place = robot.ground
    for k, link in enumerate(links[:3]):
        motion = (lambda t: 1.0 + 2.0 * t, lambda t: 2.0, lambda t: 0.0) if k == 0 else None
        bar = ag.RigidBody(1.0, (0.01, 0.01, 0.01), name=f"bar_{k}")
        place = robot.add(bar, at=place, joint=ag.Revolute(Z, motion=motion)).frame.offset_by(link)
    robot.close(robot.ground.offset_by(np.linalg.inv(links[3])), place, joint=ag.Revolute(Z))
    start = [1.0, 2 * np.arctan(product / np.tan(0.5)), -1.0]
    with pytest.warns(ag.AnguillaWarning, match="3 of 5 constraints are redundant"):
        run = ag.simulate(robot, duration=1.0, dt=0.01, start=start)
    a, b, c = run.q.T
    assert np.tan(a / 2) * np.tan(b / 2) == pytest.approx(product, rel=1e-8)
    assert c == pytest.approx(-a, abs=1e-9)
    assert np.ptp(b) > 2.0


def test_cardan_joint():
    """Poncelet 1822: shafts at an angle b by a cross, tan(out) cos(b) = tan(in), and the torque to keep the first steady."""
    bend, rate, inertia = np.radians(35), 5.0, 0.01
    robot = ag.Robot("cardan", gravity=(0, 0, 0))
    shaft = ag.RigidBody(1.0, (inertia, inertia, inertia))
    motor = ag.Revolute(X, motion=(lambda t: rate * t, lambda t: rate, lambda t: 0.0))
    first = robot.add(shaft, at=robot.ground, joint=motor, name="first")
    second = robot.add(shaft, at=robot.ground, pose=pose(rotation(Z, bend)), joint=ag.Revolute(X), name="second")
    robot.close(first.frame, second.frame, joint=ag.Universal(Y, Z))
    with pytest.warns(ag.AnguillaWarning, match="redundant"):
        run = ag.simulate(robot, duration=1.5, dt=2e-3)
    angle = rate * run.t
    c = np.cos(bend)
    assert run["second.angle"] == pytest.approx(np.unwrap(np.arctan2(np.sin(angle), np.cos(angle) * c)), abs=1e-9)
    under = 1 - np.sin(bend) ** 2 * np.cos(angle) ** 2
    ratio, slope = c / under, -c * np.sin(bend) ** 2 * np.sin(2 * angle) / under**2
    want = inertia * ratio * slope * rate**2  # power of the motor: I w w'
    assert run.effort(first)[5:, 0] == pytest.approx(want[5:], abs=1e-3 * np.abs(want).max())


def test_free_body_by_jacobis_functions():
    """Jacobi 1849: a free body near its middle axis, (cn, sn, dn) in its own axes, over a whole period."""
    moments, first, last = np.array([1.0, 2.0, 3.0]), 1.5, 1.1
    twice = moments[0] * first**2 + moments[2] * last**2
    square = (moments[0] * first) ** 2 + (moments[2] * last) ** 2
    assert square > moments[1] * twice
    quick = (moments[2] - moments[1]) * (square - moments[0] * twice)
    slow = (moments[1] - moments[0]) * (moments[2] * twice - square)
    rate, m = np.sqrt(quick / np.prod(moments)), slow / quick
    middle = np.sqrt((moments[2] * twice - square) / (moments[1] * (moments[2] - moments[1])))
    robot = ag.Robot("nut", gravity=(0, 0, 0), base="free")
    robot.add(ag.RigidBody(1.0, moments), at=robot.ground)
    period, errors = 4 * ellipk(m) / rate, []
    for steps in (500, 1000):
        start = np.zeros(6), [0, 0, 0, first, 0, last]
        run = ag.simulate(robot, duration=period, dt=period / steps, start=start, tolerance=1e-12)
        sn, cn, dn, _ = ellipj(rate * run.t, m)
        errors.append(np.abs(run.v[:, 3:] - np.stack([first * cn, middle * sn, last * dn], axis=1)).max())
    assert errors[1] < 2e-5
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.filterwarnings("ignore:The time steps of")  # the angle of a spin of 250 rad/s; its axis is what counts
def test_steady_precession_of_a_top():
    """Lagrange 1788: A cos(tilt) W^2 - C w W + m g h = 0, the slow of two steady precessions; it does not nod."""
    mass, height, moment, axial, tilt, spin = 0.6, 0.1, 8e-3, 1e-3, 0.5, 250.0
    rate = np.min(np.roots([moment * np.cos(tilt), -axial * spin, mass * 9.81 * height]))
    across = moment - mass * height**2
    robot = ag.Robot("top")
    body = ag.RigidBody(mass, (across, across, axial), com=(0, 0, height))
    top = robot.add(body, at=robot.ground, joint=ag.Spherical())
    rates = [-rate * np.sin(tilt), 0.0, spin]
    period, slips = 2 * np.pi / rate, []
    for steps in (5000, 10000):
        run = ag.simulate(robot, duration=period, dt=period / steps, start=([0, tilt, 0], rates), every=50)
        axis = run.pose(top.frame)[:, :3, 2]
        slips.append(np.arctan2(axis[-1, 1], axis[-1, 0]))
    assert np.ptp(axis[:, 2]) < 2e-4
    assert np.log2(slips[0] / slips[1]) == pytest.approx(2.0, abs=0.1)
    assert slips[1] + (slips[1] - slips[0]) / 3 == pytest.approx(0.0, abs=2e-4)


def test_pendulum_stands_on_a_shaking_pivot():
    """Stephenson 1908, Kapitza 1951: upright is stable if a^2 w^2 > 2 g l; against the equation of the angle."""
    length, amplitude, w = 0.2, 0.02, 2 * np.pi * 30
    assert amplitude**2 * w**2 > 2 * 9.81 * length
    shake = (
        lambda t: amplitude * np.cos(w * t),
        lambda t: -amplitude * w * np.sin(w * t),
        lambda t: -amplitude * w**2 * np.cos(w * t),
    )
    robot = ag.Robot("pendulum")
    pivot = robot.add(ag.RigidBody.point_mass(1.0), at=robot.ground, joint=ag.Prismatic(Z, motion=shake), name="pivot")
    bob = ag.RigidBody.point_mass(0.5, com=(0, 0, length))
    robot.add(bob, at=pivot.frame, joint=ag.Revolute(Y), name="bob")
    rates = lambda t, y: [y[1], (9.81 - amplitude * w**2 * np.cos(w * t)) / length * np.sin(y[0])]
    exact = solve_ivp(rates, (0, 2), [0.3, 0], rtol=1e-11, atol=1e-12).y[0, -1]
    errors = []
    for dt in (5e-4, 2.5e-4):
        run = ag.simulate(robot, duration=2.0, dt=dt, start=[amplitude, 0.3])
        errors.append(run["bob.angle"][-1] - exact)
    assert np.abs(run["bob.angle"]).max() < 0.31
    assert abs(errors[1]) < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_watts_governor():
    """Watt's governor turning at w opens to cos(angle) = g / l w^2 and hunts at w sin(angle)."""
    length, angle = 0.4, 0.6
    w = np.sqrt(9.81 / length / np.cos(angle))
    robot = ag.Robot("governor")
    motor = ag.Revolute(Z, motion=(lambda t: w * t, lambda t: w, lambda t: 0.0))
    hub = robot.add(ag.RigidBody(1.0, (0.1, 0.1, 0.1)), at=robot.ground, joint=motor, name="hub")
    ball = ag.RigidBody.point_mass(1.0, com=(0, 0, -length))
    robot.add(ball, at=hub.frame, joint=ag.Revolute(Y), name="ball")
    found = ag.modes(robot, ([0.0, -angle], [w, 0.0])).frequencies
    assert 2 * np.pi * found == pytest.approx([w * np.sin(angle)], rel=1e-10)
