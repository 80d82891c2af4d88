"""Large robots against closed forms: a chain of links hangs in a catenary, and rods clamped end to end are one rod."""

import numpy as np
import pytest
from numpy.polynomial import Legendre
from scipy.optimize import brentq

import anguilla as ag

SPAN, LENGTH = 1.0, 1.4  # [m] between the ends of the chain, along it


def catenary():
    """Half the horizontal tension over weight per length, a: LENGTH = 2 a sinh(SPAN / 2 a)."""
    return brentq(lambda a: 2 * a * np.sinh(SPAN / (2 * a)) - LENGTH, 0.05, 10.0, xtol=1e-15)


def links(count):
    """Rigid links on hinges, each of the same mass; the last one is pinned at the other end."""
    size = LENGTH / count
    bar = ag.RigidBody.box((size, 0.005, 0.005), mass=1.0 / count, com=(size / 2, 0, 0))
    robot = ag.Robot("chain")
    at, parts = robot.ground, []
    for k in range(count):
        hinge = ag.Revolute("y") if k else ag.Cylindrical("y")  # slides, so that the far end may hold it across
        parts.append(robot.add(bar, at=at, joint=hinge, name=f"link_{k + 1}"))
        at = parts[-1].at((size, 0, 0))
    robot.close(robot.ground, at, joint=ag.Spherical(), pose=(SPAN, 0, 0), name="end")
    return robot, parts


def hung(count):
    """Joints (count, 3) [m] of the chain, from a start on an arc of circle of its length."""
    robot, parts = links(count)
    open_by = brentq(lambda b: np.sin(b / 2) / (b / 2) - SPAN / LENGTH, 0.1, 6.0)
    angles = 0.5 * open_by - open_by * (np.arange(count) + 0.5) / count  # of the links below the horizontal
    state = ag.statics(robot, start=[0.0, *np.diff(angles, prepend=0.0)])
    return state, np.array([state.position(part.frame) for part in parts])


@pytest.mark.parametrize("count", [8, 32])
def test_no_link_bends_where_it_hangs(count):
    """Each link is in balance about its upper hinge: its neighbours' slopes differ by its weight over the tension."""
    _, joints = hung(count)
    ends = np.vstack([joints, [SPAN, 0, 0]])
    slopes = np.diff(ends[:, 2]) / np.diff(ends[:, 0])
    np.testing.assert_allclose(np.linalg.norm(np.diff(ends, axis=0), axis=1), LENGTH / count, rtol=1e-9)
    steps = np.diff(slopes)
    np.testing.assert_allclose(steps, steps.mean(), rtol=1e-7)


def test_links_hang_in_a_catenary_with_the_square_of_their_length():
    a, gaps = catenary(), []
    for count in (8, 16, 32):
        _, joints = hung(count)
        line = a * np.cosh((joints[:, 0] - SPAN / 2) / a) - a * np.cosh(SPAN / (2 * a))
        gaps.append(np.abs(joints[:, 2] - line).max())
    assert gaps[-1] < 1e-3 * LENGTH
    np.testing.assert_allclose(np.log2(np.array(gaps[:-1]) / gaps[1:]), 2.0, atol=0.1)


def clamped_chain(pieces, rod, force):
    robot = ag.Robot("pieces", gravity=(1.0, 2.0, -9.81))
    at, parts = robot.ground, []
    for _ in range(pieces):
        parts.append(robot.add(rod, at=at))
        at = parts[-1].tip
    robot.load(ag.Wrench(at, force=force))
    return robot, parts


def piecewise(pieces, modes):
    """Legendre polynomials on each of equal pieces, that need not meet."""

    def function(piece, mode):
        last = piece + 1 == pieces

        def value(x):
            u = 2 * (pieces * x - piece) - 1
            inside = -1 <= u < 1 or (last and u >= 1)
            return float(Legendre.basis(mode)(u)) if inside else 0.0

        return value

    functions = [function(piece, mode) for piece in range(pieces) for mode in range(modes)]
    return ag.FunctionBasis(functions, breakpoints=[k / pieces for k in range(1, pieces)], degree=modes - 1)


@pytest.mark.parametrize("pieces", [2, 6])
def test_rods_clamped_end_to_end_are_one_rod(pieces):
    length, modes = 1.0, 3
    material, force = ag.Material(2e6, 1000.0, damping=0.01), (0.1, 0.2, 0.3)
    short = ag.Rod(length / pieces, ag.Circle(0.01), material, ag.extensible_kirchhoff(modes), intervals=4)
    many, parts = clamped_chain(pieces, short, force)
    basis = piecewise(pieces, modes)
    strains = ag.Strains(twist=basis, bend_y=basis, bend_z=basis, stretch=basis)
    whole = ag.Rod(length, ag.Circle(0.01), material, strains, intervals=4 * pieces)
    one, (rod,) = clamped_chain(1, whole, force)
    assert many.size == one.size
    a, b = ag.statics(many), ag.statics(one)
    X = np.linspace(0, length, pieces + 1)[1:]
    tips = [a.position(part.tip) for part in parts]
    assert np.linalg.norm(tips[-1] - [length, 0, 0]) > 0.2 * length
    np.testing.assert_allclose(tips, [b.position(rod.section(x)) for x in X], atol=1e-8 * length)
    runs = [ag.simulate(robot, duration=0.2, dt=0.01, tolerance=1e-11) for robot in (many, one)]
    np.testing.assert_allclose(runs[0].position(parts[-1].tip), runs[1].position(rod.tip), atol=1e-8 * length)
