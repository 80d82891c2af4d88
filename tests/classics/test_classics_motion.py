"""Motions of rods: a turning beam, a shaken beam, a wave in a bar, a vibrating ring that turns, a chain that falls."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy.integrate import solve_ivp

import anguilla as ag

YOUNG, DENSITY, RADIUS = 1e9, 1000.0, 2e-3
EI, MU = YOUNG * np.pi * RADIUS**4 / 4, DENSITY * np.pi * RADIUS**2

# The spin-up manoeuvre of Kane, Ryan and Banerjee 1987 and of Simo and Vu-Quoc 1986: to 6 rad/s in 15 s
SPIN, TIME, LENGTH, AXIAL, BEND, LINE = 6.0, 15.0, 10.0, 2.8e7, 1.4e4, 1.2


def turned(t):
    if t >= TIME:
        return SPIN * (t - TIME / 2)
    return SPIN / TIME * (t**2 / 2 + (TIME / 2 / np.pi) ** 2 * (np.cos(2 * np.pi * t / TIME) - 1))


def turning(t):
    return SPIN if t >= TIME else SPIN / TIME * (t - TIME / 2 / np.pi * np.sin(2 * np.pi * t / TIME))


def speeding(t):
    return 0.0 if t >= TIME else SPIN / TIME * (1 - np.cos(2 * np.pi * t / TIME))


def lag_by_ritz(times, powers=4):
    """Deflection (nt,) [m] of the tip against the turning line, small, with the stiffness of the centrifugal force."""
    x, w = leggauss(20)
    x, w = LENGTH * (x + 1) / 2, LENGTH * w / 2
    k = np.arange(2, 2 + powers)[:, None]
    shape, slope, bent = (
        (x / LENGTH) ** k, k * (x / LENGTH) ** (k - 1) / LENGTH, k * (k - 1) * (x / LENGTH) ** (k - 2) / LENGTH**2,
    )  # fmt: skip
    M, K = LINE * (shape * w) @ shape.T, BEND * (bent * w) @ bent.T
    G = LINE * (slope * w * (LENGTH**2 - x**2) / 2) @ slope.T - M
    push, inverse = LINE * (shape * w) @ x, np.linalg.inv(M)

    def rates(t, y):
        force = -(K + turning(t) ** 2 * G) @ y[:powers] - speeding(t) * push
        return np.concatenate([y[powers:], inverse @ force])

    found = solve_ivp(rates, (0, times[-1]), np.zeros(2 * powers), "LSODA", times, rtol=1e-7, atol=1e-9)
    return np.sum(found.y[:powers], axis=0)


def test_spin_up_of_a_beam():
    section = ag.GeneralSection(1.0, BEND / AXIAL, BEND / AXIAL, 2 * BEND / AXIAL)
    material = ag.Material(young=AXIAL, poisson=0.3, density=LINE)
    robot = ag.Robot("rotor", gravity=(0, 0, 0))
    joint = ag.Revolute((0, 0, 1), motion=(turned, turning, speeding))
    blade = robot.add(
        ag.Rod(LENGTH, section, material, ag.planar(4, stretch_modes=3)), at=robot.ground, joint=joint, name="blade"
    )
    run = ag.simulate(robot, duration=20.0, dt=0.02)
    x, y, _ = run.position(blade.tip).T
    angle = np.array([turned(t) for t in run.t])
    along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    lag = lag_by_ritz(run.t)
    assert across.min() == pytest.approx(lag.min(), rel=2e-3)  # 0.57 m: nearly small
    assert np.abs(across - lag).max() < 5e-3 * np.abs(lag).max()
    # turning steadily, the bar is longer by the centrifugal force: x'' = -k^2 x, x'(l) = 1
    k = SPIN * np.sqrt(LINE / AXIAL)
    steady = run.t > 17.0
    assert np.mean(along[steady]) - LENGTH == pytest.approx(np.tan(k * LENGTH) / k - LENGTH, rel=2e-3)


def response_of_a_shaken_beam(pulsation, damping):
    """Complex amplitude of the tip per amplitude of the clamp: EI (1 + i w mu) W'''' = m w^2 W."""
    k = (MU * pulsation**2 / (EI * (1 + 1j * pulsation * damping))) ** 0.25
    c, s, ch, sh = np.cos(k), np.sin(k), np.cosh(k), np.sinh(k)
    rows = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [-c, -s, ch, sh], [s, -c, sh, ch]])
    return np.linalg.solve(rows, [1, 0, 0, 0]) @ [c, s, ch, sh]


@pytest.mark.parametrize("ratio", [0.7, 1.0, 1.3])
def test_beam_on_a_shaker(ratio):
    """Amplitude and phase of the tip of a Kelvin-Voigt cantilever whose clamp is shaken, below, at and above resonance."""
    damping, amplitude, periods, steps = 0.04, 1e-4, 25, 200
    w = ratio * 1.8751040687**2 * np.sqrt(EI / MU)
    shake = (
        lambda t: amplitude * np.sin(w * t),
        lambda t: amplitude * w * np.cos(w * t),
        lambda t: -amplitude * w**2 * np.sin(w * t),
    )
    robot = ag.Robot("shaker", gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, poisson=0.3, density=DENSITY, damping=damping)
    rod = ag.Rod(1.0, ag.Circle(RADIUS), material, ag.planar(4))
    beam = robot.add(rod, at=robot.ground, joint=ag.Prismatic((0, 1, 0), motion=shake))
    run = ag.simulate(robot, duration=periods * 2 * np.pi / w, dt=2 * np.pi / w / steps)
    last = slice(-2 * steps, None)
    found = 2j * np.mean(run.position(beam.tip)[last, 1] * np.exp(-1j * w * run.t[last])) / amplitude
    want = response_of_a_shaken_beam(w, damping)
    assert abs(found / want - 1) < 5e-3


def test_wave_in_a_bar():
    """D'Alembert: a force put suddenly on the end of a bar moves it to and fro between 0 and twice its static way."""
    length, force, radius, young = 1.0, 1.0, 0.01, 1e8
    period = 4 * length / np.sqrt(young / DENSITY)
    static = force * length / (young * np.pi * radius**2)
    errors = []
    for modes in (10, 40):
        robot = ag.Robot("bar", gravity=(0, 0, 0))
        material = ag.Material(young=young, poisson=0.3, density=DENSITY)
        bar = robot.add(ag.Rod(length, ag.Circle(radius), material, ag.Strains(stretch=modes)), at=robot.ground)
        robot.load(ag.TipWrench(bar, force=(force, 0, 0)))
        run = ag.simulate(robot, duration=2 * period, dt=period / 800)
        way = run.position(bar.tip)[:, 0] - length
        exact = 2 * static * (1 - np.abs(2 * ((run.t / period) % 1.0) - 1))
        errors.append(np.abs(way - exact).max() / static)
    assert errors[1] < 0.025
    assert errors[1] < 0.5 * errors[0]


def test_a_vibrating_ring_knows_that_it_turns():
    """Bryan 1890: the pattern of an n-lobed vibration lags behind a turning ring by 2 / (n^2 + 1) of its turn, 0.4 here."""
    R = 0.3
    natural = 6 / np.sqrt(5) * np.sqrt(EI / MU) / R**2
    spin, period, steps, periods = 0.025 * natural, 2 * np.pi / natural, 60, 30
    robot = ag.Robot("ring", gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, poisson=0.3, density=DENSITY)
    rest = ag.ConstantCurvature(bend_z=1 / R)
    ring = robot.add(
        ag.Rod(2 * np.pi * R, ag.Circle(RADIUS), material, ag.planar(10), rest=rest),
        at=robot.ground, joint=ag.Planar((0, 0, 1)),
    )  # fmt: skip
    robot.close(ring.root, ring.tip)
    shape = ag.modes(robot, np.zeros(robot.size), count=4)
    assert 2 * np.pi * shape.frequencies[3] == pytest.approx(natural, rel=1e-4)
    rates = np.zeros(robot.size)
    rates[0], rates[2] = spin * R, spin  # about its centre, (0, R)
    run = ag.simulate(
        robot, duration=periods * period, dt=period / steps, start=(0.01 * np.real(shape.shapes[:, 3]), rates)
    )
    angle = 2 * np.pi * np.arange(32) / 32
    places = np.stack([run.position(ring.section(R * a))[:, :2] for a in angle], axis=1)
    out = np.linalg.norm(places - places.mean(axis=1, keepdims=True), axis=2)
    lobes = (out * np.exp(-2j * angle)).mean(axis=1)[:-1].reshape(periods, steps)
    lobes = lobes - lobes.mean(axis=1, keepdims=True)
    pattern = -np.unwrap(np.angle(np.sum(lobes**2, axis=1))) / 4  # the line on which the amplitude moves
    lag = np.polyfit(period * np.arange(periods), pattern, 1)[0]
    assert lag / spin == pytest.approx(-0.4, abs=0.01)


def test_the_free_end_of_a_folded_chain_falls_faster_than_free():
    """Calkin and March 1989: of a chain held at one end and let go at the other, beside it; 0.847 of the time of a stone."""
    links, length, weight = 30, 1.0, 9.81
    step = length / links
    robot = ag.Robot("chain", gravity=(0, -weight, 0))
    place = robot.ground
    link = ag.RigidBody(step, (1e-3 * step**3, step**3 / 12, step**3 / 12), com=(step / 2, 0, 0))
    for _ in range(links):
        place = robot.add(link, at=place, joint=ag.Revolute((0, 0, 1))).at((step, 0, 0))
    start = np.zeros(links)
    start[[0, links // 2, links // 2 + 1]] = -np.pi / 2, np.pi / 2, np.pi / 2
    run = ag.simulate(robot, duration=0.4, dt=2e-4, start=start)
    height = run.position(place)[:, 1]
    fallen = height[0] - height
    half = np.argmax(fallen > 0.8 * length)
    # by the conservation of energy: v^2 = 2 g x (1 - x / 2 l) / (1 - x / l), x fallen, for an infinitely thin fold
    x = np.linspace(0.0, np.sqrt(fallen[half]), 4001)[1:] ** 2
    speed = np.sqrt(2 * weight * x * (1 - x / (2 * length)) / (1 - x / length))
    middle = 2 * np.sqrt(x) / speed  # dt / d sqrt(x)
    ideal = np.trapezoid(np.r_[2 / np.sqrt(2 * weight), middle], np.sqrt(np.r_[0.0, x]))
    stone = np.sqrt(2 * fallen[half] / weight)
    assert run.t[half] == pytest.approx(ideal, rel=0.02)
    assert ideal < 0.93 * stone
    energy = run.energy["total"][: half + 1]
    assert np.ptp(energy) < 1e-2 * run.energy["kinetic"][half]
