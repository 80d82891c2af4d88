"""Scales and rolling resistance between parts: closed forms, friction that holds, energies, files, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla.files import read_text_file, robot_text

WEIGHT = 9.81
SCALES = (0.2, 0.6, 0.4)  # forward, backward, sideways
RADIUS, LEVER, STIFF = 0.05, 2e-3, 1e5
SMOOTH = 1e-6  # [m]
SUNK = 1000.0 * np.pi * 0.01**2 * WEIGHT / STIFF + 0.5 * SMOOTH  # of a rod that lies still [m]
SLAB = 0.2  # [kg]


def pose(x):
    out = np.eye(4)
    out[:3, 3] = x
    return out


def skater(push=(0.0, 0.0, 0.0), moves=None, first=True, **options):
    """A scaly rod on a slab, which slides along `moves` or stays; pushed [N per kg]. Or the slab has the scales."""
    robot = ag.Robot("skater", gravity=(0.0, 0.0, -WEIGHT))
    joint = None if moves is None else ag.Prismatic(moves)
    body = ag.RigidBody.box((2.0, 2.0, 0.1), mass=SLAB)
    slab = robot.add(body, at=robot.ground, joint=joint, name="slab", pose=pose((0.0, 0.0, -0.05)))
    rod = ag.Rod(0.2, ag.Circle(0.01), ag.Material(1e9, 1000.0), ag.strains.kirchhoff(1), intervals=2)
    snake = robot.add(rod, at=robot.ground, joint=ag.Free(), name="snake", pose=pose((-0.1, 0.0, 0.01 - SUNK)))
    options = {"friction": SCALES, "damping": 20.0, "spacing": 0.02, "smooth": SMOOTH} | options
    robot.load(ag.Contact(*((snake, slab) if first else (slab, snake)), STIFF, **options))
    mass = 1000.0 * np.pi * 0.01**2 * 0.2
    robot.load(ag.Wrench(snake.section(0.1), force=tuple(mass * np.asarray(push))))
    return robot, snake, slab, mass


def late_slope(run, frame, axis):
    late = run.t > 0.5 * run.t[-1]
    return 2.0 * np.polyfit(run.t[late], run.position(frame)[late] @ np.asarray(axis), 2)[0]


@pytest.mark.parametrize("first", [True, False], ids=["rod", "slab"])
@pytest.mark.parametrize(
    ("axis", "which"), [((1.0, 0, 0), 0), ((-1.0, 0, 0), 1), ((0, 1.0, 0), 2)], ids=["forward", "backward", "sideways"]
)
def test_scales_slide_each_way_with_their_own_coefficient(axis, which, first):
    """m a = push - mu m g, and the slab is taken along by mu m g; scales of the slab meet the rod the other way round."""
    robot, snake, slab, mass = skater(8.0 * np.array(axis), moves=tuple(np.abs(axis)), first=first, rolling=1.0)
    mu = SCALES[which] if first else SCALES[(1, 0, 2)[which]]
    run = ag.simulate(robot, duration=0.08, dt=1e-3)
    assert late_slope(run, snake.section(0.1), axis) == pytest.approx(8.0 - mu * WEIGHT, rel=3e-4)
    assert late_slope(run, slab.frame, axis) == pytest.approx(mu * mass * WEIGHT / SLAB, rel=3e-4)


def test_scales_hold_more_one_way_than_the_other():
    """In statics, up to each limit; and no creep afterwards."""
    for push, mu in ((0.95, 0.2), (-0.95, 0.6)):
        robot, snake, _, mass = skater((push * mu * WEIGHT, 0.0, 0.0), rolling=1e-3)
        eq = ag.statics(robot)
        force = eq.contacts(robot.loads[0]).force
        np.testing.assert_allclose(force, mass * WEIGHT * np.array([push * mu, 0, -1]), atol=1e-6)
        run = ag.simulate(robot, start=eq, duration=0.5, dt=0.01)
        place = run.position(snake.tip)
        assert np.abs(place - place[0]).max() < 1e-8
    robot = skater((1.05 * 0.2 * WEIGHT, 0.0, 0.0), rolling=1e-3)[0]
    with pytest.raises(ag.SolverError, match="slides on: friction does not hold it"):
        ag.statics(robot)


def test_scales_that_turn_gain_no_energy():
    """A rod spins and slides on a slab that slides; what it loses is what friction takes."""
    robot, _, _, _ = skater(moves=(0, 1, 0), rolling=1e-3)
    model = ag.Model(robot)
    v = np.zeros(model.size)
    v[model.layout.parts[1].joint.start :][:6] = 0.4, 0.3, 0.0, 0.0, 0.0, 9.0
    run = ag.simulate(model, start=(np.zeros(model.size), v), duration=0.1, dt=5e-4)
    energy = run.energy["total"]
    assert energy[-1] < 0.7 * energy[0]
    assert np.diff(energy).max() < 1e-4 * energy[0]
    power = ag.powers(run)
    assert np.abs(power.imbalance).max() < 1e-4 * np.abs(power.others).max()
    assert np.trapezoid(power.others, run.t) == pytest.approx(energy[-1] - energy[0], rel=5e-3)


def ball_on(other, joint, gravity=(0.0, 0.0, -WEIGHT), rolling=LEVER, **options):
    robot = ag.Robot("ball", gravity=gravity)
    below = robot.add(other, at=robot.ground, joint=joint, name="below", pose=pose((0.0, 0.0, -0.05)))
    body = ag.RigidBody.sphere(RADIUS, mass=0.5)
    place = pose((0.0, 0.0, RADIUS - 0.5 * WEIGHT / STIFF - 0.5 * SMOOTH))
    ball = robot.add(body, at=robot.ground, joint=ag.Free(), name="ball", pose=place)
    robot.load(ag.Contact(ball, below, STIFF, friction=0.5, rolling=rolling, damping=5.0, smooth=SMOOTH, **options))
    return robot, ball, below


@pytest.mark.parametrize("options", [{}, {"slip": 1e-5}], ids=["bristles", "slip"])
def test_a_ball_that_rolls_on_a_cart_is_slowed_down(options):
    """By a force F between the two: F (1/m + 1/M + r^2/I) = -r c N/I, with c the arm of the resistance."""
    cart = ag.RigidBody.box((4.0, 1.0, 0.1), mass=1.5)
    robot, ball, below = ball_on(cart, ag.Prismatic((1, 0, 0)), **options)
    model = ag.Model(robot)
    v = np.zeros(model.size)
    v[1], v[5] = 1.0, 1.0 / RADIUS
    run = ag.simulate(model, start=(np.zeros(model.size), v), duration=0.3, dt=1e-3)
    m, M, r = 0.5, 1.5, RADIUS - 0.5 * WEIGHT / STIFF
    inertia = 0.4 * m * RADIUS**2
    push = -(r * LEVER * m * WEIGHT / inertia) / (1 / m + 1 / M + r * r / inertia)
    assert late_slope(run, ball.frame, (1, 0, 0)) == pytest.approx(push / m, rel=2e-3)
    assert late_slope(run, below.frame, (1, 0, 0)) == pytest.approx(-push / M, rel=2e-3)


def test_a_ball_stays_on_a_slope_that_its_rolling_resistance_holds():
    """tan(angle) = arm / radius; beyond that it rolls down with the rest."""
    below, steep = (np.arctan(part * LEVER / RADIUS) for part in (0.95, 2.0))
    on = lambda angle: ball_on(ag.HalfSpace(offset=0.05), None, WEIGHT * np.array([np.sin(angle), 0.0, -np.cos(angle)]))
    robot, ball, _ = on(below)
    eq = ag.statics(robot)
    run = ag.simulate(robot, start=eq, duration=0.5, dt=0.01)
    assert np.abs(run.position(ball.frame) - run.position(ball.frame)[0]).max() < 1e-8
    robot, ball, _ = on(steep)
    run = ag.simulate(robot, duration=0.3, dt=1e-3)
    drag = LEVER * WEIGHT * np.cos(steep) / RADIUS
    assert late_slope(run, ball.frame, (1, 0, 0)) == pytest.approx((WEIGHT * np.sin(steep) - drag) / 1.4, rel=2e-3)


def test_files_keep_scales_and_rolling():
    robot = skater(rolling=1e-3)[0]
    again = read_text_file(robot_text(robot)).robot
    assert again.loads[0].friction == SCALES and again.loads[0].rolling == 1e-3


def test_scales_and_rolling_that_make_no_sense_are_refused():
    robot, snake, slab, _ = skater()
    with pytest.raises(ag.DescriptionError, match="a rod that touches itself has one coefficient"):
        robot.load(ag.PartContact(snake, snake, friction=SCALES))
    with pytest.raises(ag.DescriptionError, match="scales are those of one part"):
        ag.contacts(robot, 1e4, friction=SCALES)
    with pytest.raises(ag.DescriptionError, match="rolling is for contact between parts"):
        ag.Contact(snake.tip, ag.HalfSpace(), 1e4, rolling=1e-3)
    with pytest.raises(ag.DescriptionError, match="three"):
        robot.load(ag.Contact(snake, slab, friction=(0.1, 0.2)))


@pytest.mark.parametrize("length", [0.05, 0.04])
@pytest.mark.parametrize("fixed", [False, True])
def test_a_cylinder_rolls_down_a_slope_on_balls_that_fill_it(length, fixed):
    """By 2/3 g sin(angle), and it does not hop. Between parts friction acts on the floor, which is nearer to its axis."""
    radius, angle, gravity = 0.02, np.radians(3.0), 9.81
    robot = ag.Robot("rolling", gravity=(gravity * np.sin(angle), 0, -gravity * np.cos(angle)))
    across = ag.lie.pose(ag.lie.rotation((0, 0, 1), 0.5 * np.pi), (0, 0, radius))
    body = ag.RigidBody.cylinder(radius, length, mass=0.2)
    can = robot.add(body, at=robot.ground, joint=ag.Free(), pose=across, name="can")
    floor = ag.HalfSpace() if fixed else robot.add(ag.HalfSpace(), at=robot.ground, name="floor")
    robot.load(ag.Contact(can, floor, 1e6, friction=0.8, damping=1.0))
    run = ag.simulate(robot, duration=0.5, dt=5e-4)
    place = run.position(can.frame)
    depth = radius - place[:, 2]
    lever = radius if fixed else radius - np.mean(depth)
    way = 0.5 * gravity * np.sin(angle) / (1.0 + 0.5 * (radius / lever) ** 2) * 0.5**2
    assert place[-1, 0] == pytest.approx(way, rel=1e-4)
    assert abs(place[-1, 1]) < 1e-9 and 0.0 <= depth.min() and depth.max() < 4e-3 * radius


def test_a_cylinder_still_stands_on_its_rim_and_leans_on_its_balls():
    """Upright all points of its lower rim bear it, as do the ball behind them; a long one on its side all its balls."""
    radius, length, mass, stiffness = 0.02, 0.1, 0.2, 1e5
    for axis, bearing in (
        ((0, 1, 0), 13),
        ((0, 0, 1), 4),
    ):  # turned about it by a right angle; x is the axis of the body
        robot = ag.Robot("standing")
        up = 0.5 * length if bearing == 13 else radius
        pose = ag.lie.pose(ag.lie.rotation(axis, 0.5 * np.pi), (0, 0, up))
        body = ag.RigidBody.cylinder(radius, length, mass=mass)
        can = robot.add(body, at=robot.ground, joint=ag.Free(), pose=pose, name="can")
        floor = robot.add(ag.HalfSpace(), at=robot.ground, name="floor")
        robot.load(ag.Contact(can, floor, stiffness, friction=0.5, damping=10.0, smooth=1e-9))
        run = ag.simulate(robot, duration=0.5, dt=1e-3)
        sunk = up - run.position(can.frame)[-1, 2]
        assert sunk == pytest.approx(mass * 9.81 / (bearing * stiffness), rel=1e-2)
