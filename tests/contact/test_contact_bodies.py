"""Rigid bodies that fall, bounce, rest, slide and roll: closed forms."""

import numpy as np
import pytest
from scipy.optimize import brentq

import anguilla as ag

G = 9.81
MASS, RADIUS = 0.2, 0.05
FLOOR = ag.HalfSpace((0, 0, 1), 0.0)


def ball(obstacle=FLOOR, stiffness=2000.0, body=None, gravity=(0, 0, -G), **options):
    robot = ag.Robot("ball", gravity=gravity)
    part = robot.add(body or ag.RigidBody.sphere(RADIUS, mass=MASS), at=robot.ground, joint=ag.Free(), name="ball")
    return robot, part, robot.load(ag.Contact(part, obstacle, stiffness, **options))


def at(*place):
    return np.concatenate([place, np.zeros(3)])


def test_a_bounce_keeps_its_energy_with_the_order_of_the_scheme():
    robot, body, contact = ball(smooth=2e-3)
    drifts, steps = [], np.array([5e-4, 2.5e-4, 1.25e-4, 6.25e-5])  # longer ones are cut at the impact
    for dt in steps:
        run = ag.simulate(robot, duration=0.5, dt=dt, start=at(0, 0, 0.15), method=ag.Midpoint(), tolerance=1e-11)
        drifts.append(np.ptp(run.energy["total"]) / (MASS * G * 0.1))
        assert run.depth(contact).max() > 5e-3
        assert run.position(body.frame)[-1, 2] > RADIUS  # it has been down and is up again
    assert drifts[-1] < 2e-5
    assert np.polyfit(np.log(steps), np.log(drifts), 1)[0] > 1.9


def test_energy_of_contact_is_seen_in_the_middle_of_a_bounce():
    """At the lowest point all of m g (h + depth) is in the contact: k (d^2 - s d)/2 + 0.15 k s^2."""
    smooth, k, h = 2e-3, 2000.0, 0.1
    robot, body, contact = ball(smooth=smooth)
    run = ag.simulate(robot, duration=0.2, dt=1e-4, start=at(0, 0, RADIUS + h), method=ag.Midpoint(), tolerance=1e-11)
    lowest = int(np.argmin(run.position(body.frame)[:, 2]))
    stored = lambda d: k * ((d**2 - smooth * d) / 2 + 0.15 * smooth**2)
    depth = brentq(lambda d: stored(d) - MASS * G * (h + d), smooth, 0.1)
    assert run.depth(contact)[lowest, 0] == pytest.approx(depth, rel=1e-4)
    elastic = run.energy["elastic"]
    assert elastic[lowest] == pytest.approx(stored(depth), rel=2e-4)
    assert elastic[0] == 0.0 and np.ptp(run.energy["total"]) < 1e-3 * MASS * G * h


@pytest.mark.parametrize("damping", [0.3, 2.0])
def test_restitution(damping):
    """Speeds before and after: v0/c - ln(1 + c v0)/c^2 = v1^2/2 + c v1^3/3 + c^2 v1^4/4, whatever the stiffness."""
    robot, body, _ = ball(damping=damping, gravity=(0, 0, 0), smooth=1e-4)
    v0, c = 1.5, damping
    run = ag.simulate(robot, duration=0.1, dt=1e-5, every=100, start=(at(0, 0, 0.06), at(0, 0, -v0)))
    lost = v0 / c - np.log1p(c * v0) / c**2
    v1 = brentq(lambda v: v**2 / 2 + c * v**3 / 3 + c**2 * v**4 / 4 - lost, 0.0, v0)
    after = run.twist(body.frame)[-1, 5]
    assert after == pytest.approx(v1, rel=2e-4)
    if damping < 1.0:  # what the description promises
        assert after / v0 == pytest.approx(1 - 2 / 3 * c * v0, abs=0.1)


def test_rest_depth():
    """m g = k (depth - smooth / 2), found from high above and from deep inside."""
    robot, _, _ = ball(smooth=1e-4)
    depth = MASS * G / 2000.0 + 0.5e-4
    for start in (RADIUS - 1e-4, RADIUS - 0.04):
        eq = ag.statics(_upright(robot), start=[start])
        assert eq.depth(eq.robot.loads[0])[0] == pytest.approx(depth, rel=1e-9)
    np.testing.assert_allclose(eq.exerted(eq.robot.loads[0]).force, [0, 0, MASS * G], atol=1e-9)


def _upright(robot):
    """The same ball on a vertical slide, so that the floor alone holds it."""
    out = ag.Robot("ball")
    body = out.add(robot.parts[0].body, at=out.ground, joint=ag.Prismatic((0, 0, 1)))
    load = robot.loads[0]
    out.load(ag.Contact(body, load.obstacle, load.stiffness, smooth=load.smooth))
    return out


def test_statics_lets_a_body_fall_on_the_floor():
    """Without contact at the start there is no stiffness at all: it slides downhill, if nothing else is loose."""
    robot, _, _ = ball(ag.HalfSpace((0, 0, 1), -0.6), smooth=1e-4)
    eq = ag.statics(_upright(robot))
    assert eq.q[0] == pytest.approx(-0.6 + RADIUS - MASS * G / 2000.0 - 0.5e-4, rel=1e-9)


def test_nothing_holds_a_body_that_does_not_touch():
    robot, _, _ = ball(ag.HalfSpace((0, 0, -1), -1.0))  # a ceiling
    with pytest.raises(ag.SolverError, match=r"nothing holds ball.x.* Obstacles hold what touches them"):
        ag.statics(robot)


def test_a_free_ball_on_the_floor_is_in_balance_anywhere():
    robot, _, contact = ball(smooth=1e-4)
    with pytest.warns(ag.AnguillaWarning, match="not unique: nothing holds ball.x, ball.y"):
        eq = ag.statics(robot, start=at(0.1, 0.2, RADIUS - 1e-4))
    np.testing.assert_allclose(eq.exerted(contact).force, [0, 0, MASS * G], atol=1e-9)
    np.testing.assert_allclose(eq.q[:2], [0.1, 0.2], atol=1e-12)


INCLINE = np.radians(25.0)
DOWN, OUT = np.array([np.cos(INCLINE), 0, -np.sin(INCLINE)]), np.array([np.sin(INCLINE), 0, np.cos(INCLINE)])


def slope(body, friction, stiffness=2e4, where=None, **options):
    """A body on an incline through the origin, at rest in its balance of weight and support."""
    robot = ag.Robot("slope")
    part = robot.add(body, at=robot.ground, joint=ag.Free(), name="body")
    places = [part] if where is None else [part.at(x) for x in where]
    contacts = [
        robot.load(ag.Contact(x, ag.HalfSpace(OUT), stiffness, friction=friction, smooth=1e-6, **options))
        for x in places
    ]
    return robot, part, contacts


@pytest.mark.parametrize("mu", [0.1, 0.3])
def test_a_block_slides_down(mu):
    """a = g (sin - mu cos): a block on four corners, flat on the incline."""
    robot, part, _ = slope(ag.RigidBody.box((0.1, 0.1, 0.02), mass=MASS), mu, slip=1e-4)
    depth = MASS * G * np.cos(INCLINE) / (4 * 2e4) + 0.5e-6
    angle = np.array([0.0, INCLINE, 0.0])
    start = np.concatenate([(0.01 - depth) * OUT, angle])
    run = ag.simulate(robot, duration=0.4, dt=1e-3, start=start, method=ag.HHT(-0.1))
    slid = run.position(part.frame) @ DOWN
    a = G * (np.sin(INCLINE) - mu * np.cos(INCLINE))
    assert slid[-1] == pytest.approx(a * 0.4**2 / 2, rel=3e-3)
    assert np.abs(run.pose(part.frame)[-1, :3, :3] @ [0, 0, 1] - OUT).max() < 2e-3  # and stays flat on it


def test_a_block_sticks_below_the_angle_of_friction():
    """tan(25 deg) = 0.466 < 0.6: it creeps at the speed at which 0.466/0.6 of the friction acts, less than slip."""
    mu, slip = 0.6, 1e-3
    robot, part, _ = slope(ag.RigidBody.box((0.1, 0.1, 0.02), mass=MASS), mu, slip=slip, damping=5.0)
    depth = MASS * G * np.cos(INCLINE) / (4 * 2e4) + 0.5e-6
    start = np.concatenate([(0.01 - depth) * OUT, [0.0, INCLINE, 0.0]])
    run = ag.simulate(robot, duration=0.6, dt=1e-3, start=start, method=ag.HHT(-0.1))
    part_of = np.tan(INCLINE) / mu
    creep = slip * part_of / np.sqrt(1 - part_of**2)
    speed = np.linalg.norm(run.twist(part.frame)[:, 3:], axis=1)
    assert speed[-1] == pytest.approx(creep, rel=0.02)
    assert (run.position(part.frame)[-1] - run.position(part.frame)[0]) @ DOWN < 1.1 * 0.6 * creep + 1e-4


@pytest.mark.parametrize("kind", ["sphere", "cylinder", "rod"])
def test_rolling_without_slip(kind):
    """a = 5/7 g sin for a sphere, 2/3 g sin for a cylinder; and as long as 2/7 or 1/3 of tan is below mu."""
    mu = 0.5
    if kind == "rod":  # stiff, lying across the incline
        robot = ag.Robot("slope")
        stiff = ag.Material(young=1e9, poisson=0.3, density=1000.0)
        rod = ag.Rod(0.2, ag.Circle(RADIUS), stiff, ag.Strains(bend_y=1, bend_z=1), intervals=6)
        across = np.eye(4)
        across[:3, :3] = np.stack([[0, 1, 0], np.cross(OUT, [0, 1, 0]), OUT], axis=1)
        part = robot.add(rod, at=robot.ground.offset_by(across), joint=ag.Free(), name="rod")
        robot.load(ag.Contact(part, ag.HalfSpace(OUT), 1e5, friction=mu, slip=1e-3, damping=1.0))
        frame, mass = part.section(0.1), 1000 * np.pi * RADIUS**2 * 0.2
        start = np.zeros(robot.size)
        start[:3] = [0, 0, RADIUS - mass * G * np.cos(INCLINE) / (1e5 * 0.2)]
    else:
        shape = (
            ag.RigidBody.sphere(RADIUS, mass=MASS)
            if kind == "sphere"
            else ag.RigidBody.cylinder(RADIUS, 0.1, mass=MASS)
        )
        where = [(0.0, 0.0, 0.0)] if kind == "sphere" else [(-0.05, 0.0, 0.0), (0.05, 0.0, 0.0)]
        robot, part, _ = slope(shape, mu, where=where, radius=RADIUS, slip=1e-3, damping=1.0)
        frame = part.frame
        turn = np.stack([[0, 1, 0], np.cross(OUT, [0, 1, 0]), OUT], axis=1)
        start = np.concatenate([(RADIUS - MASS * G * np.cos(INCLINE) / 2e4 / len(where)) * OUT, _vector(turn)])
    run = ag.simulate(robot, duration=0.5, dt=1e-3, start=start, method=ag.HHT(-0.1))
    went = (run.position(frame) - run.position(frame)[0]) @ DOWN
    share = 5 / 7 if kind == "sphere" else 2 / 3
    assert went[-1] == pytest.approx(share * G * np.sin(INCLINE) * 0.5**2 / 2, rel=5e-3)
    twist, pose = run.twist(frame)[-1], run.pose(frame)[-1, :3, :3]
    spin = pose @ twist[:3]
    assert spin[1] * RADIUS == pytest.approx(
        (pose @ twist[3:]) @ DOWN, rel=5e-3
    )  # it turns forward, with the way it goes


def _vector(rotation):
    """Rotation vector of a rotation matrix."""
    angle = np.arccos((np.trace(rotation) - 1) / 2)
    axis = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    return angle * axis / (2 * np.sin(angle))


def test_a_ball_rolls_to_the_bottom_of_a_bowl():
    """Small rolling oscillations in a hollow sphere: w^2 = 5/7 g / (R - r)."""
    bowl = ag.Sphere((0, 0, 0.5), 0.5, inside=True)
    robot, body, _ = ball(bowl, 1e5, friction=0.8, slip=1e-4)
    angle, apart = 0.05, 0.5 - RADIUS
    start = at(apart * np.sin(angle), 0, 0.5 - apart * np.cos(angle) - MASS * G / 1e5)
    period = 2 * np.pi * np.sqrt(7 / 5 * apart / G)
    run = ag.simulate(robot, duration=period, dt=period / 2000, start=start, method=ag.HHT(-0.1))
    x = run.position(body.frame)[:, 0]
    assert x[1000] == pytest.approx(-x[0], rel=0.02)
    assert x[-1] == pytest.approx(x[0], rel=0.02)
    assert np.abs(x[500]) < 0.05 * x[0]


@pytest.mark.parametrize("friction", [0.0, 100.0], ids=["slides", "rolls"])
def test_a_ball_on_a_sphere_gets_lighter_until_it_leaves(friction):
    """N = m g (3 cos - 2 cos a) if it slides from rest at the angle a, m g (17 cos - 10 cos a) / 7 if it rolls."""
    tilt, apart, stiffness = 0.2, 0.5 + RADIUS, 1e6
    robot, body, contact = ball(ag.Sphere((0, 0, 0), 0.5), stiffness, friction=friction, slip=1e-4, smooth=1e-6)
    sunk = apart - MASS * G * np.cos(tilt) / stiffness - 0.5e-6
    start = at(sunk * np.sin(tilt), 0, sunk * np.cos(tilt))
    run = ag.simulate(robot, duration=0.8, dt=2.5e-4, start=start, method=ag.HHT(-0.3), tolerance=1e-11)
    place = run.position(body.frame)
    n = place / np.linalg.norm(place, axis=1, keepdims=True)
    a, b, c = (3, 2, 1) if friction == 0.0 else (17, 10, 7)
    wanted = MASS * G * (a * n[:, 2] - b * np.cos(tilt)) / c
    pressed = np.sum(run.exerted(contact).force * n, axis=1)
    np.testing.assert_allclose(pressed, np.maximum(wanted, 0.0), atol=0.005 * MASS * G)
    assert wanted[-1] < -0.3 * MASS * G


def test_a_spinning_ball_sets_off_and_rolls():
    """A spinning ball on a floor: mu m g drives it, and slows its spin, until it rolls at 2/7 of w r."""
    mu, spin = 0.3, 60.0
    robot, body, _ = ball(stiffness=1e4, friction=mu, slip=1e-4, smooth=1e-6)
    start = at(0, 0, RADIUS - MASS * G / 1e4), np.array([0, 0, 0, 0, spin, 0])
    run = ag.simulate(robot, duration=0.5, dt=5e-4, start=start, method=ag.HHT(-0.1))
    world = np.einsum("tij,tj->ti", run.pose(body.frame)[:, :3, :3], run.twist(body.frame)[:, 3:])[:, 0]
    until = 2 / 7 * spin * RADIUS / (mu * G)
    early = run.t < 0.9 * until
    np.testing.assert_allclose(world[early], mu * G * run.t[early], atol=5e-3)
    assert world[-1] == pytest.approx(2 / 7 * spin * RADIUS, rel=2e-3) and until < 0.35
