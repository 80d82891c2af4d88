"""Similar robots of steel, from a metre to a millimetre: speeds are the same, times as the lengths, at any size.

A small rod is a hard case: the square of its fastest frequency, stiffness over mass, is 1e13 / s^2 for a millimetre of steel.
"""

from functools import cache

import numpy as np
import pytest

import anguilla as ag

SIZES = [0.1, 0.01, 0.001]


def needle(size, *, closed=False, moved=False):
    """A thick needle of the length `size` [m], pulled sideways at its tip; maybe with its tip held on a line."""
    robot = ag.Robot("needle", gravity=(0, 0, 0))
    steel = ag.Material(young=2e11, poisson=0.3, density=7800.0, damping=1e-6 * size)
    rod = ag.Rod(size, ag.Circle(size / 30), steel, ag.reissner(2), intervals=4)
    joint = ag.Revolute("z", motion=lambda t: 0.2 * np.sin(50.0 * t / size)) if moved else ag.Fixed()
    part = robot.add(rod, at=robot.ground, joint=joint)
    robot.load(ag.TipWrench(part, force=np.array([2e4, 5e4, 1e4]) * size**2))
    if closed:
        robot.close(robot.ground, part.tip, joint=ag.Prismatic("y"), pose=(size, 0, 0))
    return robot


def units(system, size):
    """What one unit of each coordinate of the needle of one metre is in a similar one: curvatures go as 1 / length."""
    one = ag.Model(needle(1.0)).tree.scale
    scale = system.tree.scale[-len(one) :]
    assert np.allclose(scale[:6], size * one[:6], rtol=1e-12)
    assert np.allclose(scale[6:], one[6:], rtol=1e-12)
    return np.concatenate([np.ones(system.size - len(one)), one / scale])


@pytest.mark.parametrize("size", SIZES)
def test_mass_and_starting_acceleration_are_similar(size):
    large, small = ag.Model(needle(1.0)), ag.Model(needle(size))
    q = 0.01 * np.cos(np.arange(large.size))
    unit = units(small, size)
    mass, mass_small = large.matrices(q)[2], small.matrices(q * unit)[2]
    assert np.allclose(mass_small * np.outer(unit, unit), mass * size**5, rtol=1e-9, atol=1e-12 * size**5 * mass.max())
    runs = [ag.simulate(needle(s), duration=1e-9 * s, dt=1e-9 * s, start=x) for s, x in ((1.0, q), (size, q * unit))]
    a, a_small = (run.a[0] for run in runs)
    assert np.allclose(a_small / unit * size**2, a, rtol=0.0, atol=1e-9 * np.max(np.abs(a)))


@cache
def way(size, kind):
    """Of the tip of a needle, in its length; explicit integration is slow, and takes fewer steps."""
    robot = needle(size, closed=kind == "closed", moved=kind in ("moved", "explicit"))
    if kind == "explicit":
        run = ag.simulate_explicit(robot, duration=1e-3 * size, dt=1e-4 * size, rtol=1e-8, atol=1e-10)
    else:
        run = ag.simulate(robot, duration=2e-2 * size, dt=2e-4 * size, tolerance=1e-10)
    return run.position(run.robot.parts[0].tip) / size


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["open", "closed", "moved"])
def test_motions_are_similar(size, kind):
    ways = way(1.0, kind), way(size, kind)
    assert np.ptp(ways[0], axis=0).max() > 1e-2
    assert np.allclose(*ways, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("size", SIZES)
def test_explicit_accelerations_of_moved_needles_are_similar(size):
    assert np.allclose(way(1.0, "explicit"), way(size, "explicit"), rtol=0.0, atol=1e-6)


def soft_rod(size, length=0.4, strains=None):
    """A silicone rod, `size` times as large as an ordinary one."""
    silicone = ag.Material(young=1e6, poisson=0.4, density=1100.0, damping=0.02 * size)
    return ag.Rod(length * size, ag.Circle(0.012 * size), silicone, strains or ag.kirchhoff(modes=3), intervals=6)


def ball(size):
    """A body of 50 g for size 1."""
    return ag.RigidBody(mass=0.05 * size**3, inertia=(8e-6 * size**5,) * 3)


def hung(robot, size):
    """A body that hangs on springs between a rod and the ground: nothing holds its rotation."""
    arm = robot.add(soft_rod(size), at=robot.ground)
    body = robot.add(ball(size), at=robot.ground, joint=ag.Free(), pose=(0.1 * size, 0.2 * size, 0))
    for frame in (arm.tip, robot.ground):
        robot.load(ag.Spring(frame, body.frame, stiffness=20 * size, rest=0.1 * size, damping=0.1 * size**2))
    return arm.tip, {}


def sliding(robot, size):
    """A rod on a cart that springs hold."""
    cart = robot.add(ball(size), at=robot.ground, joint=ag.Prismatic("x", stiffness=100 * size, damping=size**2))
    arm = robot.add(soft_rod(size), at=cart.frame)
    robot.load(ag.TipWrench(arm, force=np.array([0.5, 0.1, 0.2]) * size**2))
    return arm.tip, {}


def pulled(robot, size):
    """Two rods with a hinge between them, pulled by a tension and by an elastic tendon drawn in."""
    arm = robot.add(soft_rod(size, strains=ag.reissner(2)), at=robot.ground)
    hand = robot.add(ball(size), at=arm.tip, joint=ag.Revolute("y", stiffness=0.05 * size**3))
    finger = robot.add(soft_rod(size, 0.2), at=hand.frame)
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008 * size)))
    robot.actuate("draw", ag.Tendon(finger, ag.parallel(z=0.008 * size), by="length", compliance=1e-4 / size))
    return finger.tip, {"pull": 1.5 * size**2, "draw": 0.198 * size}


def looped(robot, size):
    """Two rods with a ball joint between their tips."""
    arms = [robot.add(soft_rod(size), at=robot.ground, pose=(0, y * size, 0)) for y in (0.0, 0.1)]
    robot.close(arms[0].tip, arms[1].tip, joint=ag.Spherical())
    robot.load(ag.TipWrench(arms[0], force=np.array([0.0, 0.3, 0.2]) * size**2))
    return arms[0].tip, {}


def led(robot, size):
    """A rod whose tip is led along a path."""
    arm = robot.add(soft_rod(size), at=robot.ground)
    path = lambda t: np.array([0.3, 0.05 * np.sin(4.0 * t / size), 0.1]) * size
    robot.close(robot.ground, arm.tip, joint=ag.Spherical(), pose=path)
    return arm.section(0.2 * size), {}


@pytest.mark.filterwarnings("ignore::anguilla.AnguillaWarning")  # nothing holds the rotation of the hung body
@pytest.mark.parametrize("size", [1e-4, 0.01, 100.0])
@pytest.mark.parametrize("make", [hung, sliding, pulled, looped, led])
def test_equilibria_motions_and_modes_of_similar_robots(make, size):
    found = []
    for s in (1.0, size):
        robot = ag.Robot("similar", gravity=(0, 0, -9.81 / s))
        frame, inputs = make(robot, s)
        still = ag.statics(robot, inputs=inputs)
        run = ag.simulate(robot, duration=0.3 * s, dt=0.01 * s, inputs=inputs, tolerance=1e-10)
        pitch = [] if make is led else ag.modes(robot, still).frequencies[:6] * s
        found.append((still.position(frame) / s, run.position(frame) / s, pitch))
    (place, way, pitch), (small_place, small_way, small_pitch) = found
    assert np.ptp(way, axis=0).max() > 1e-2
    assert np.allclose(small_place, place, rtol=0.0, atol=1e-9)
    assert np.allclose(small_way, way, rtol=0.0, atol=1e-6)
    assert np.allclose(small_pitch, pitch, rtol=1e-8, atol=1e-7)
