"""Friction that holds: slopes, sliding, rolling, Hertz."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla.model.evaluate import residual

WEIGHT, MU = 9.81, 0.5
SILICONE = ag.Material(1e6, 1000.0, poisson=0.5)


def pose(x, rotation=None):
    out = np.eye(4)
    out[:3, 3], out[:3, :3] = x, np.eye(3) if rotation is None else rotation
    return out


def on_slope(body, height, part, **options):
    """A body on a slope, whose angle is a part of the steepest on which it can stay."""
    angle = part * np.arctan(MU)
    robot = ag.Robot("slope", gravity=(WEIGHT * np.sin(angle), 0.0, -WEIGHT * np.cos(angle)))
    place = pose((0, 0, height))
    body = robot.add(body, at=robot.ground, joint=ag.Free(), pose=place, name="body")
    robot.load(ag.Contact(body, ag.HalfSpace(), 5e3, friction=MU, damping=2.0, **options))
    return robot, body, angle


def block():
    return ag.RigidBody.box((0.1, 0.1, 0.05), mass=0.5)


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.errors.AnguillaWarning")
def test_a_block_stays_on_a_slope_and_does_not_creep():
    robot, body, angle = on_slope(block(), 0.0249, 0.95)
    eq = ag.statics(robot)
    force = eq.exerted(robot.loads[0]).force
    np.testing.assert_allclose(
        force, 0.5 * WEIGHT * np.array([-np.sin(angle), 0.0, np.cos(angle)]), rtol=1e-6, atol=1e-9
    )
    assert "one equilibrium of many" in eq.status.message
    run = ag.simulate(robot, start=eq, duration=10.0, dt=0.01)
    place = run.position(body.frame)
    assert np.abs(place - place[0]).max() < 1e-6 * 0.1


def rod_on_slope(part, steep):
    """A soft rod that lies down a slope, fixed in space or a part; and its angle, a part of the steepest."""
    angle, radius = np.arctan(steep * MU), 0.005
    robot = ag.Robot("slope", gravity=(WEIGHT * np.sin(angle), 0.0, -WEIGHT * np.cos(angle)))
    soft = ag.Material(1e7, 1100.0, poisson=0.5, damping=0.05)
    rod = ag.Rod(0.2, ag.Circle(radius), soft, ag.kirchhoff(3))
    rod = robot.add(rod, at=robot.ground, joint=ag.Free(), pose=pose((0, 0, radius - 1e-6)), name="rod")
    slope = robot.add(ag.HalfSpace(), at=robot.ground) if part else ag.HalfSpace()
    robot.load(ag.Contact(rod, slope, 1e6, friction=MU, damping=5.0))
    return robot, rod, angle


@pytest.mark.parametrize("part", [False, True])
def test_a_rod_stays_on_a_slope_and_does_not_creep(part):
    """At 95 % of the steepest, for 10 s, by less than 1e-6 of its length; all along it bears its weight."""
    robot, rod, angle = rod_on_slope(part, 0.95)
    eq = ag.statics(robot)
    assert "one equilibrium of many" in eq.status.message
    run = ag.simulate(robot, start=eq, duration=10.0, dt=0.01)
    for X in (0.0, 0.1, 0.2):
        assert np.ptp(run.position(rod.section(X)), axis=0).max() < 1e-6 * 0.2
    force = run.contacts(robot.loads[0]).force[-1] if part else -run.exerted(robot.loads[0]).force[-1]
    weight = rod.rod.mass * WEIGHT * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    np.testing.assert_allclose(force, weight, atol=1e-6 * np.linalg.norm(weight))


@pytest.mark.parametrize("part", [False, True])
def test_a_rod_on_a_steeper_slope_slides_as_coulomb_says(part):
    robot, _, angle = rod_on_slope(part, 1.05)
    with pytest.raises(ag.SolverError, match="slides on: friction does not hold it"):
        ag.statics(robot)
    run = ag.simulate(robot, duration=1.0, dt=2e-3)
    late = run.t > 0.5
    found = np.polyfit(run.t[late], run.v[late, 0], 1)[0]
    assert found == pytest.approx(WEIGHT * (np.sin(angle) - MU * np.cos(angle)), rel=1e-3)


@pytest.mark.parametrize("part", [False, True])
@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.errors.AnguillaWarning")
@pytest.mark.parametrize("steep", [0.97, 1.03])
def test_a_box_tips_over_its_edge(steep, part):
    """Pushed at its middle by more than b / h of its weight it falls on its side; it was said to slide on."""
    wide, high, mass = 0.04, 0.1, 0.3
    robot = ag.Robot("tall")
    body = ag.RigidBody.box((wide, 0.06, high), mass=mass)
    box = robot.add(body, at=robot.ground, joint=ag.Free(), pose=(0, 0, 0.5 * high), name="box")
    robot.load(ag.Wrench(box.frame, force=robot.input("push", "N", along=(1, 0, 0))))
    floor = robot.add(ag.HalfSpace(), at=robot.ground) if part else ag.HalfSpace()
    robot.load(ag.Contact(box, floor, 1e5, friction=2.0, damping=2.0, smooth=1e-7))
    push = steep * mass * WEIGHT * wide / high
    start = ag.statics(robot, inputs={"push": 0.0})
    run = ag.simulate(robot, duration=3.0, dt=1e-3, start=start, inputs={"push": lambda t: push * min(t, 1.0)})
    for end in (ag.statics(robot, inputs={"push": push}, start=start).pose(box.frame), run.pose(box.frame)[-1]):
        assert np.arccos(np.clip(end[2, 2], -1.0, 1.0)) == pytest.approx(0.0 if steep < 1.0 else 0.5 * np.pi, abs=1e-3)


@pytest.mark.parametrize("part", [False, True])
def test_statics_goes_on_from_a_motion_with_its_bristles(part):
    """A motion as a start was refused; from its end alone, what friction held there lets go and slips to new bristles."""
    robot, body, angle = on_slope(block(), 0.0249, 0.8)
    if part:
        robot, load = ag.Robot("slope", gravity=robot.gravity), robot.loads[0]
        body = robot.add(block(), at=robot.ground, joint=ag.Free(), pose=pose((0, 0, 0.0249)), name="body")
        plane = robot.add(ag.HalfSpace(), at=robot.ground, name="plane")
        robot.load(ag.Contact(body, plane, load.stiffness, friction=MU, damping=2.0))
    run = ag.simulate(robot, duration=3.0, dt=5e-3)
    there = run.position(body.frame)[-1]
    np.testing.assert_allclose(ag.statics(robot, start=run).position(body.frame), there, rtol=0.0, atol=1e-9)
    bent = 0.5 * WEIGHT * np.sin(angle) / (4 * 2 / 3 * 5e3)  # of four bristles, by the weight along the slope
    fresh = ag.statics(robot, start=run.q[-1]).position(body.frame)[0] - there[0]
    assert fresh == pytest.approx(bent, rel=0.05)


def carried(joint, spring=0.0, place=(0, 0, 0.0249)):
    """A block on a plate that moves as an input says, along x if there is a spring."""
    robot = ag.Robot("plate")
    plate = robot.add(ag.HalfSpace(), at=robot.ground, joint=joint(robot.input("way", "")), name="plate")
    slide = ag.Planar((0, 1, 0), stiffness=(0.0, spring, 0.0)) if spring else ag.Free()
    body = robot.add(block(), at=robot.ground, joint=slide, pose=pose(place), name="body")
    return robot, body, robot.load(ag.Contact(body, plate, 5e3, friction=MU, damping=2.0))


@pytest.mark.parametrize("way", [1e-4, 0.1])
def test_statics_takes_along_what_friction_holds(way):
    """A block on a plate that is moved; it stayed behind, without a word."""
    robot, body, touch = carried(lambda x: ag.Prismatic((1, 0, 0), motion=x))
    eq = ag.statics(robot, inputs={"way": 0.0})
    there = ag.statics(robot, inputs={"way": way}, start=eq)
    np.testing.assert_allclose(there.position(body.frame) - eq.position(body.frame), (way, 0.0, 0.0), atol=1e-9)
    np.testing.assert_allclose(there.contacts(touch).force, (0.0, 0.0, -0.5 * WEIGHT), atol=1e-6)


def test_statics_takes_along_what_lies_on_a_turntable():
    robot, body, _ = carried(lambda x: ag.Revolute((0, 0, 1), motion=x), place=(0.2, 0.0, 0.0249))
    eq = ag.statics(robot, inputs={"way": 0.0})
    turned = ag.statics(robot, inputs={"way": 0.5}, start=eq).pose(body.frame)
    np.testing.assert_allclose(turned[:2, 3], 0.2 * np.array([np.cos(0.5), np.sin(0.5)]), atol=5e-5)
    np.testing.assert_allclose(turned[:2, 0], [np.cos(0.5), np.sin(0.5)], atol=1e-4)


@pytest.mark.parametrize("way", [0.02, 0.2])
def test_statics_drags_a_block_against_a_spring_until_it_slips(way):
    """It rides along, less what its bristles bend, until the spring has mu times its weight."""
    k, most = 20.0, MU * 0.5 * WEIGHT
    robot, body, _ = carried(lambda x: ag.Prismatic((1, 0, 0), motion=x), k)
    start = ag.simulate(robot, duration=1.0, dt=5e-3, inputs={"way": 0.0})
    bent = 1.0 / (4 * 2 / 3 * 5e3)
    for before in (ag.statics(robot, inputs={"way": 0.0}), start):
        eq = ag.statics(robot, inputs={"way": way}, start=before)
        assert eq.position(body.frame)[0] == pytest.approx(min(way / (1.0 + k * bent), most / k), rel=5e-4)


def test_statics_carries_a_ball_between_two_walls():
    """It is held by friction alone; it slipped by 0.7 mm when it was carried by 10 mm."""
    robot, held, squeeze = ag.Robot("pinch"), 0.1 * WEIGHT, 4.5e-4
    walls = [
        robot.add(
            ag.HalfSpace((side, 0, 0)), at=robot.ground, joint=ag.Prismatic((1, 0, 0), motion=robot.input(name, "m")),
            pose=pose((-0.0201 * side, 0, 0)), name=name,
        )
        for side, name in ((1, "left"), (-1, "right"))
    ]  # fmt: skip
    ball = robot.add(ag.RigidBody.sphere(0.02, mass=0.1), at=robot.ground, joint=ag.Free(), name="ball")
    touches = [robot.load(ag.Contact(ball, wall, 1e4, friction=0.6, damping=2.0)) for wall in walls]
    inputs = lambda way: {"left": squeeze + way, "right": way - squeeze}
    eq = ag.statics(robot, inputs=inputs(0.0), start=ag.simulate(robot, duration=0.3, dt=1e-3, inputs=inputs(0.0)))
    there = ag.statics(robot, inputs=inputs(0.05), start=eq)
    np.testing.assert_allclose(there.position(ball.frame) - eq.position(ball.frame), (0.05, 0, 0), atol=1e-9)
    forces = [there.contacts(touch).force for touch in touches]
    np.testing.assert_allclose(np.sum(forces, axis=0), (0.0, 0.0, -held), atol=1e-6)


def test_statics_lifts_what_soft_fingers_hold():
    """On a wrist that moves along a line all of it moves along that line, whatever the fingers and the friction."""
    robot, slide = ag.Robot("hand", gravity=(0, 0, -2.0)), ag.Prismatic((0, 0, 1))
    slide.motion = robot.input("height", "m")
    wrist = robot.add(ag.RigidBody.box((0.02, 0.1, 0.02), mass=0.2), at=robot.ground, joint=slide)
    rod = ag.Rod(0.12, ag.Circle(0.006), ag.Material(3e6, 1000.0, poisson=0.45, damping=0.05), ag.strains.kirchhoff(3))
    ball = ag.RigidBody.sphere(0.018, mass=0.02)
    ball = robot.add(ball, at=robot.ground, joint=ag.Free(), pose=pose((0.09, 0, 0)), name="ball")
    for side in (1, -1):
        finger = robot.add(rod, at=wrist.frame.offset_by((0, side * 0.0245, 0)))
        robot.actuate(f"pull_{side}", ag.Tendon(finger, ag.parallel(y=-side * 0.004)))
        robot.load(ag.Contact(finger, ball, friction=1.5, damping=2.0))
    pull = lambda t: min(t / 0.02, 1.0)
    held = ag.simulate(robot, duration=1.0, dt=1e-3, inputs={"height": 0.0, "pull_1": pull, "pull_-1": pull})
    eq = ag.statics(robot, inputs={"height": 0.0, "pull_1": 1.0, "pull_-1": 1.0}, start=held)
    for height in (0.1, -0.02):
        there = ag.statics(robot, inputs={"height": height, "pull_1": 1.0, "pull_-1": 1.0}, start=eq)
        for frame in (ball.frame, finger.tip):
            np.testing.assert_allclose(there.position(frame) - eq.position(frame), (0, 0, height), atol=1e-7)


@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_statics_takes_no_driven_part_through_another(mu):
    """A paddle pushes a ball on a spring away; with friction it had gone through it."""
    robot = ag.Robot("paddle", gravity=(0, 0, 0))
    slide = ag.Prismatic((1, 0, 0), motion=robot.input("way", "m"))
    paddle = robot.add(ag.Box((0, 0, 0), (0.02, 0.2, 0.2)), at=robot.ground, joint=slide, pose=pose((-0.1, 0, 0)))
    spring = ag.Prismatic((1, 0, 0), stiffness=10.0)
    ball = robot.add(ag.RigidBody.sphere(0.02, mass=0.1), at=robot.ground, joint=spring, name="ball")
    robot.load(ag.Contact(ball, paddle, 1e4, damping=1.0, friction=mu, smooth=1e-6))
    eq = ag.statics(robot, inputs={"way": 0.2}, start=ag.statics(robot, inputs={"way": 0.0}))
    assert eq.position(ball.frame)[0] == pytest.approx(0.13 / (1.0 + 10.0 / 1e4), rel=1e-5)


def test_a_block_on_a_steeper_slope_slides_as_coulomb_says():
    robot, _, angle = on_slope(block(), 0.02465, 1.1)
    with pytest.raises(ag.SolverError, match="slides on: friction does not hold it"):
        ag.statics(robot)
    run = ag.simulate(robot, duration=1.0, dt=2e-3)
    speed = run.v[:, 0]
    late = run.t > 0.5
    found = np.polyfit(run.t[late], speed[late], 1)[0]
    assert found == pytest.approx(WEIGHT * (np.sin(angle) - MU * np.cos(angle)), rel=1e-3)


def test_a_ball_rolls_on_a_slope():
    """Without slipping: 5/7 of the acceleration of what slides freely."""
    robot, _, angle = on_slope(ag.RigidBody.sphere(0.05, mass=0.5), 0.0491, 0.4)
    run = ag.simulate(robot, duration=1.0, dt=2e-3)
    late = run.t > 0.5
    found = np.polyfit(run.t[late], run.v[late, 0], 1)[0]
    assert found == pytest.approx(5.0 / 7.0 * WEIGHT * np.sin(angle), rel=2e-3)


@pytest.mark.parametrize("depth", [2e-4, 5e-4])
def test_crossed_rods_push_as_hertz_says(depth):
    """4/3 E* sqrt(R) d^1.5, on average over where they cross; the theory is that of small depths."""
    R, found = 0.01, []
    across = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for shift in np.linspace(0.0, 0.002, 7):
        robot = ag.Robot("crossed", gravity=(0, 0, 0))
        rod = ag.Rod(0.2, ag.Circle(R), SILICONE, ag.strains.kirchhoff(1), intervals=4)
        a = robot.add(rod, at=robot.ground, name="a")
        b = robot.add(
            rod, at=robot.ground, name="b", pose=pose((0.1 + shift, -0.1 + 0.37 * shift, 2 * R - depth), across)
        )
        robot.load(ag.Contact(a, b, smooth=1e-9, spacing=0.1 * R))
        model = ag.Model(robot)
        loads, zero, out = model.loads(0.0, {}).loads, np.zeros(model.size), np.zeros(model.size)
        residual(model.tree, model.workspace, loads, zero, zero, zero, np.zeros(0), out)
        on_b = -np.array(model.tables.touching.sides) @ loads.touches.told[:, 2:5]
        found.append(on_b[2])
        np.testing.assert_allclose(on_b[:2], 0.0, atol=0.02 * on_b[2])
    modulus = 0.5 * 1e6 / (1.0 - 0.25)
    assert np.mean(found) == pytest.approx(4.0 / 3.0 * modulus * np.sqrt(R) * depth**1.5, rel=0.02)
    assert np.ptp(found) < 0.03 * np.mean(found)
