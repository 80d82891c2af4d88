"""Closed forms of what touches: capstans, crossing rods, impacts with a loss, a ball that slides until it rolls."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import anguilla as ag

G = 9.81
MU, DRUM, THIN, ANGLE = (
    0.3,
    0.1,
    0.002,
    np.pi,
)  # friction, radii of the drum and of the string [m], angle around the drum
ROPE = ag.Material(young=1e7, density=1000.0, damping=0.02)


def pose(x, rotation=None):
    out = np.eye(4)
    out[:3, 3], out[:3, :3] = x, np.eye(3) if rotation is None else rotation
    return out


def drawn(around, part, hold=1.0):
    """How far [m] a string around half of a drum goes, and creeps at the end; it is drawn by a part of exp(mu angle)."""
    robot, bent = ag.Robot("capstan", gravity=(0, 0, 0)), DRUM + THIN - 1e-5
    rest = ag.ConstantCurvature(bend_z=1.0 / bent)
    rod = ag.Rod(ANGLE * bent, ag.Circle(THIN), ROPE, ag.strains.kirchhoff(3, twist_modes=1), rest=rest, intervals=32)
    string = robot.add(rod, at=robot.ground, joint=ag.Planar((0, 0, 1)), pose=pose((0, -bent, 0)), name="string")
    law = {"friction": MU, "damping": 5.0, "smooth": 1e-6}
    if around == "pillar":
        robot.load(ag.Contact(string, ag.Pillar((0, 0, 0), (0, 0, 1), DRUM), 1e6, **law))
    else:  # along its x
        upright = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]).T
        drum = robot.add(ag.RigidBody.cylinder(DRUM, 0.1, mass=1.0), at=robot.ground, pose=pose((0, 0, 0), upright))
        robot.load(ag.Contact(string, drum, 1e6, spacing=0.5 * THIN, **law))
    grow = lambda t: min(t / 0.15, 1.0)
    robot.load(ag.Wrench(string.root, force=lambda t: (-hold * grow(t), 0.0, 0.0)))
    pull = part * np.exp(MU * ANGLE) * hold
    robot.load(ag.Wrench(string.tip, force=lambda t: (-pull * grow(t), 0.0, 0.0)))
    run = ag.simulate(robot, duration=0.6, dt=2e-3)
    end = run.position(string.tip)
    return float(end[50, 0] - end[-1, 0]), float(np.ptp(end[-50:, 0]))


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.errors.AnguillaWarning")
@pytest.mark.parametrize("around", ["pillar", pytest.param("body", marks=pytest.mark.slow)])
def test_a_string_around_a_drum_holds_up_to_the_capstan_ratio(around):
    """Euler, Eytelwein: it holds at 95 % of exp(mu angle), and slips at 105 %."""
    held, creep = drawn(around, 0.95)
    slipped, _ = drawn(around, 1.05)
    assert abs(held) < 0.1 * THIN and creep < 1e-4 * THIN
    assert slipped > 10.0 * THIN


@pytest.mark.parametrize("load", [0.2, 0.4])
def test_two_crossing_rods_bend_as_beams_and_press_as_hertz(load):
    """Two short cantilevers, the upper one pushed down where they cross by P, the lower one by the force F of the contact.

    (P - F) a^3 / 3EI - F a^3 / 3EI = (F / (4/3 E* sqrt(R)))^(2/3), the depth, which is a tenth of the ways here.
    """
    radius, young, a = 0.01, 1e6, 0.04
    robot, across = ag.Robot("crossing", gravity=(0, 0, 0)), [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    bend = ag.PiecewisePolynomial(2, 1)  # moments have a kink where they cross
    material, strains = ag.Material(young, 1000.0, poisson=0.5), ag.Strains(bend_y=bend, bend_z=bend)
    rod = ag.Rod(2 * a, ag.Circle(radius), material, strains, intervals=16)
    lower = robot.add(rod, at=robot.ground, name="lower")
    upper = robot.add(rod, at=robot.ground, name="upper", pose=pose((a, -a, 2 * radius), across))
    robot.load(ag.Wrench(upper.section(a), force=(0, 0, -load)))
    touch = robot.load(ag.Contact(lower, upper, spacing=0.02 * radius, smooth=1e-3 * radius))
    eq = ag.statics(robot)
    soft, hertz = a**3 / (3 * young * np.pi / 4 * radius**4), 4 / 3 * 0.5 * young / 0.75 * np.sqrt(radius)
    force = brentq(lambda f: (load - 2 * f) * soft - (f / hertz) ** (2 / 3), 0.0, load)
    below, above = -eq.position(lower.section(a))[2], 2 * radius - eq.position(upper.section(a))[2]
    assert np.linalg.norm(eq.contacts(touch).force) == pytest.approx(force, rel=0.01)
    assert (below, above) == pytest.approx((force * soft, (load - force) * soft), rel=0.015)
    assert above - below == pytest.approx((force / hertz) ** (2 / 3), rel=0.03)


@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
def test_two_balls_leave_each_other_with_the_loss_that_damping_says(c):
    """m e e' = -k d (1 + c e): v0/c - ln(1 + c v0)/c^2 = v1^2/2 + c v1^3/3 + ... with the reduced mass; momentum is kept."""
    masses, radius, speed = (0.3, 0.1), 0.02, 1.0
    robot = ag.Robot("balls", gravity=(0, 0, 0))
    balls = [
        robot.add(
            ag.RigidBody.sphere(radius, mass=m), at=robot.ground, joint=ag.Prismatic((1, 0, 0)), name=f"b{k}",
            pose=pose((k * 2.5 * radius, 0, 0)),
        )
        for k, m in enumerate(masses)
    ]  # fmt: skip
    robot.load(ag.Contact(*balls, 1e4, damping=c, smooth=1e-7))
    run = ag.simulate(robot, start=([0.0, 0.0], [speed, 0.0]), duration=0.05, dt=1e-4)
    after = float(np.diff(run.v[-1])[0])
    expected = speed
    if c > 0.0:
        lost = speed / c - np.log1p(c * speed) / c**2
        roots = np.roots(
            [c**2 / 4, c / 3, 0.5, 0.0, -lost]
        )  # of the law on the way out, 1 / (1 - c e), to the fourth order
        expected = float(roots[(np.abs(roots.imag) < 1e-9) & (roots.real > 0)].real[0])
    assert after == pytest.approx(expected, rel=5e-3)
    np.testing.assert_allclose(run.v @ masses, masses[0] * speed, rtol=1e-6)


@pytest.mark.parametrize("lower", ["body", "frame"])
@pytest.mark.parametrize("upper", ["body", "frame"])
def test_a_ball_on_a_ball_sinks_in_by_its_weight_over_the_stiffness(upper, lower):
    """Of two bodies half as deep: either was a ball that touched the other. Two frames did not touch at all."""
    radius, mass, k = 0.03, 0.4, 1e4
    robot, body = ag.Robot("stack"), ag.RigidBody.sphere(radius, mass=mass)
    below = robot.add(body, at=robot.ground, name="below")
    above = robot.add(
        body, at=robot.ground, joint=ag.Prismatic((0, 0, 1)), pose=pose((0, 0, 1.999 * radius)), name="above"
    )
    sides = [x.frame if kind == "frame" else x for x, kind in ((below, lower), (above, upper))]
    given = {} if (upper, lower) == ("body", "body") else {"radius": radius}
    touch = robot.load(ag.Contact(*sides, k, damping=1.0, smooth=1e-7, **given))
    eq = ag.statics(robot)
    assert 2.0 * radius - eq.position(above.frame)[2] == pytest.approx(mass * G / k, rel=1e-3)
    assert eq.contacts(touch).points == 1
    np.testing.assert_allclose(eq.contacts(touch).force, (0.0, 0.0, mass * G), atol=1e-9)
    run = ag.simulate(
        robot, start=eq.q + 1e-4, duration=0.05, dt=1e-4, method=ag.Midpoint()
    )  # w^2 = k / m about the rest
    swing = run.q[:, 0] - eq.q[0]
    assert run.t[np.argmin(swing)] == pytest.approx(np.pi * np.sqrt(mass / k), abs=2e-4)


def test_a_frame_with_a_radius_touches_a_rod_as_a_ball_does():
    """All along the rod, with the default stiffness [N/m^2]; of a point, it was taken for one in N/m."""
    robot, tips = ag.Robot("pressed", gravity=(0, 0, 0)), []
    material = ag.Material(1e6, 1000.0, poisson=0.5)
    for y, of_frame in ((0.0, False), (0.2, True)):
        rod = robot.add(
            ag.Rod(0.2, ag.Circle(0.01), material, ag.Strains(bend_y=6)), at=robot.ground.offset_by((0, y, 0))
        )
        ball = robot.add(
            ag.RigidBody.sphere(0.01, mass=0.1),
            at=robot.ground,
            joint=ag.Prismatic((0, 0, 1)),
            pose=pose((0.11, y, 0.0199)),
        )
        robot.load(ag.Wrench(ball.frame, force=(0, 0, -0.02)))
        tips.append(
            (rod, ball, robot.load(ag.Contact(rod, ball.frame, radius=0.01) if of_frame else ag.Contact(rod, ball)))
        )
    eq = ag.statics(robot)
    (_, ball, touch), (_, other, same) = tips
    assert eq.contacts(same).force[2] == pytest.approx(0.02, rel=1e-9)
    assert eq.position(other.frame)[2] == pytest.approx(eq.position(ball.frame)[2], rel=1e-9)
    assert eq.contacts(same).points == eq.contacts(touch).points > 1
    with pytest.raises(ag.DescriptionError, match=r"touches a rod as a point: give a stiffness \[N/m\]"):
        ag.Contact(tips[0][0], other.frame)  # it was zero


def test_a_ball_slides_on_a_body_until_it_rolls():
    """Coulomb: it slows down by mu g, and from 2 v / (7 mu g) on it rolls with 5/7 of its speed."""
    mu, speed, radius, mass = 0.2, 1.0, 0.05, 0.2
    robot = ag.Robot("bowling")
    lane = robot.add(
        ag.RigidBody.box((4.0, 1.0, 0.1), mass=1.0), at=robot.ground, name="lane", pose=pose((1.0, 0, -0.05))
    )
    sink = mass * G / 1e5
    ball = robot.add(
        ag.RigidBody.sphere(radius, mass=mass),
        at=robot.ground,
        joint=ag.Free(),
        pose=pose((0, 0, radius - sink)),
        name="ball",
    )
    robot.load(ag.Contact(ball, lane, 1e5, friction=mu, damping=2.0, smooth=1e-7))
    v = np.zeros(6)
    v[0] = speed
    run = ag.simulate(robot, start=(np.zeros(6), v), duration=0.4, dt=1e-3)
    begin = 2.0 * speed / (7.0 * mu * G)
    sliding, rolling = run.t < 0.9 * begin, run.t > 1.1 * begin
    np.testing.assert_allclose(run.v[sliding, 0], speed - mu * G * run.t[sliding], atol=3e-3 * speed)
    np.testing.assert_allclose(run.v[rolling, 0], 5.0 / 7.0 * speed, rtol=2e-3)
