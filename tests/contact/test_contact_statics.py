"""Equilibria of parts that touch each other: on the way there nothing passes through anything."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import anguilla as ag

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from overhand_knot import determinant

LENGTH, RADIUS, YOUNG = 0.4, 0.005, 2e6
BENDING = YOUNG * np.pi / 4 * RADIUS**4


def crossing(force, below=2.2):
    """Rod a along x, pushed up at its tip, under rod b along y; both are clamped."""
    robot = ag.Robot("crossing", gravity=(0, 0, 0))
    rubber = ag.Material(young=YOUNG, poisson=0.5, density=1000.0)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), rubber, ag.strains.kirchhoff(4))
    a = robot.add(rod, at=robot.ground, name="a")
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], (0.25, -0.25, below * RADIUS)
    b = robot.add(rod, at=robot.ground, pose=pose, name="b")
    robot.load(ag.Contact(a, b, name="touch"))
    robot.load(ag.Wrench(a.tip, force=(0.0, 0.0, force)))
    return robot, a, b


def beams(force, below=2.2):
    """Height of the crossing and force there, by linear theory of beams that press each other [m], [N]."""
    x, bend = 0.25, lambda u, v: u * u * (3.0 * v - u) / (6.0 * BENDING)  # of a cantilever at u by a force at v >= u
    gap = (below - 2.0) * RADIUS
    push = (force * bend(x, LENGTH) - gap) / (2.0 * bend(x, x))
    return push * bend(x, x) + gap, push


@pytest.mark.parametrize("method", ["newton", ag.Flow(dt=1e-3, steps=400)])
def test_a_rod_that_is_pushed_against_another_one_lifts_it(method):
    force = 0.2 * BENDING / LENGTH**2
    robot, _, b = crossing(force)
    state = ag.statics(robot, method=method)
    height, push = beams(force)
    assert np.linalg.norm(state.contacts(robot.loads[0]).force) == pytest.approx(push, rel=0.03)
    assert state.position(b.section(0.25))[2] - 2.2 * RADIUS == pytest.approx(height - 0.2 * RADIUS, rel=0.03)


@pytest.mark.parametrize("load", [0.5, 2.0, 5.0, 20.0])
def test_no_load_takes_a_rod_through_another_one(load):
    robot, a, b = crossing(load * BENDING / LENGTH**2)
    state = ag.statics(robot)
    lines = [np.asarray(state.centerline(rod, 401)).reshape(-1, 3) for rod in (a, b)]
    way = lines[1][None] - lines[0][:, None]
    apart = np.linalg.norm(way, axis=-1)
    nearest = np.unravel_index(np.argmin(apart), apart.shape)
    assert apart[nearest] == pytest.approx(2.0 * RADIUS, rel=0.02)
    assert way[nearest][2] > 0.0  # b is still above a


def long_trefoil(pieces):
    """Coordinates of the bending of a rod of length 1 that is tied in an overhand knot."""
    t = 2.1 * np.linspace(-1.0, 1.0, 4001)
    x = np.stack([t**5 / 5 - 2.0 * t, t**3 - 3.0 * t, 0.6 * (t**4 - 4.0 * t**2)], axis=-1)
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
    X = np.linspace(0.0, 1.0, 2001)
    tangent = CubicSpline(s / s[-1], x / s[-1])(X, 1)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    normal = [np.array([0.0, 0.0, 1.0])]
    for along in tangent:  # without twist
        across = normal[-1] - normal[-1] @ along * along
        normal.append(across / np.linalg.norm(across))
    normal, change = np.array(normal[1:]), np.gradient(tangent, X, axis=0)
    basis = ag.PiecewisePolynomial(pieces, 2)(X)
    curvatures = [-np.sum(change * np.cross(tangent, normal), axis=1), np.sum(change * normal, axis=1)]
    return [np.linalg.lstsq(basis, k, rcond=None)[0] for k in curvatures]


def rope(force):
    robot = ag.Robot("knot", gravity=(0, 0, 0))
    bend, twist = ag.PiecewisePolynomial(10, 2), ag.PiecewisePolynomial(2, 1)
    rubber = ag.Material(young=2.5e6, poisson=0.5, density=1000.0)
    strains = ag.Strains(twist=twist, bend_y=bend, bend_z=bend)
    rod = robot.add(ag.Rod(1.0, ag.Circle(0.0025), rubber, strains, intervals=40), at=robot.ground, name="rope")
    robot.load(ag.SelfContact(rod, spacing=0.0025))
    robot.load(ag.Wrench(rod.tip, force=force))
    bending = long_trefoil(10)
    return robot, rod, np.concatenate([np.zeros(twist.size), *bending])


def test_a_knotted_rod_is_not_pulled_through_itself():
    robot, rod, start = rope((1.68, 1.04, -0.28))
    with pytest.raises(ag.SolverError, match=r"nor does a damped motion from there come to rest\. Let it") as refused:
        ag.statics(robot, start=start)
    assert determinant(np.asarray(refused.value.result.centerline(rod, 200)).reshape(-1, 3)) == 3
