"""Similar robots of steel, from a metre to a millimetre: speeds are the same, times as the lengths, at any size.

A small rod is a hard case: the square of its fastest frequency, stiffness over mass, is 1e13 / s^2 for a millimetre of steel.
"""

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
    one = ag.System(needle(1.0)).tree.scale
    scale = system.tree.scale[-len(one) :]
    assert np.allclose(scale[:6], size * one[:6], rtol=1e-12)
    assert np.allclose(scale[6:], one[6:], rtol=1e-12)
    return np.concatenate([np.ones(system.size - len(one)), one / scale])


@pytest.mark.parametrize("size", SIZES)
def test_mass_and_starting_acceleration_are_similar(size):
    large, small = ag.System(needle(1.0)), ag.System(needle(size))
    q = 0.01 * np.cos(np.arange(large.size))
    unit = units(small, size)
    mass, mass_small = large.matrices(q)[2], small.matrices(q * unit)[2]
    assert np.allclose(mass_small * np.outer(unit, unit), mass * size**5, rtol=1e-9, atol=1e-12 * size**5 * mass.max())
    runs = [ag.simulate(needle(s), duration=1e-9 * s, dt=1e-9 * s, start=x) for s, x in ((1.0, q), (size, q * unit))]
    a, a_small = (run.a[0] for run in runs)
    assert np.allclose(a_small / unit * size**2, a, rtol=0.0, atol=1e-9 * np.max(np.abs(a)))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["open", "closed", "moved"])
def test_motions_are_similar(size, kind):
    options = {"closed": kind == "closed", "moved": kind == "moved"}
    ways = []
    for s in (1.0, size):
        run = ag.simulate(needle(s, **options), duration=2e-2 * s, dt=2e-4 * s, tolerance=1e-10)
        ways.append(run.position(run.robot.parts[0].tip) / s)
    assert np.ptp(ways[0], axis=0).max() > 1e-2
    assert np.allclose(*ways, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("size", SIZES)
def test_explicit_accelerations_of_moved_needles_are_similar(size):
    ways = []
    for s in (1.0, size):
        run = ag.simulate_explicit(needle(s, moved=True), duration=1e-3 * s, dt=1e-4 * s, rtol=1e-8, atol=1e-10)
        ways.append(run.position(run.robot.parts[0].tip) / s)
    assert np.allclose(*ways, rtol=0.0, atol=1e-6)
