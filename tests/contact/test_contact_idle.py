"""Contacts that are not looked for, because nothing has moved far enough: none is missed, and little is paid for them."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla.interact.kernels.nearest import between_lines
from anguilla.interact.kernels.table import HITS, KNOWN, QUIET
from anguilla.interact.kernels.touch import ALONE, NEXT, ROD, TURN, WAY
from anguilla.model.evaluate import residual
from anguilla.model.touching import _in_rows

SILICONE = ag.Material(1e6, 1000.0, poisson=0.5)


def curling():
    """A rod that may curl up; some twenty intervals."""
    robot = ag.Robot("curling", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(0.5, ag.Circle(0.01), SILICONE, ag.strains.kirchhoff(3), intervals=20), at=robot.ground)
    robot.load(ag.SelfContact(rod, 1e4, friction=0.3))
    return robot


def company():
    """Two rods on hinges, a ball and a box that fly between them: everything with everything."""
    robot = ag.Robot("company", gravity=(0, 0, 0))
    rods = [
        robot.add(
            ag.Rod(0.3, ag.Circle(0.008 + 0.004 * k), SILICONE, ag.strains.reissner(2), intervals=8),
            at=robot.ground.offset_by((0.0, 0.12 * k, 0.0)), joint=ag.Spherical(), name=f"rod{k}",
        )
        for k in range(2)
    ]  # fmt: skip
    place = np.eye(4)
    place[:3, 3] = 0.15, 0.06, 0.03
    ball = robot.add(ag.RigidBody.sphere(0.01, mass=0.01), at=robot.ground, joint=ag.Free(), pose=place, name="ball")
    place[2, 3] = -0.05
    box = robot.add(
        ag.RigidBody.box((0.02, 0.03, 0.01), mass=0.02), at=robot.ground, joint=ag.Free(), pose=place, name="box"
    )
    robot.load(ag.Contact(rods[0], rods[1], 1e4))
    for rod in rods:
        robot.load(ag.Contact(rod, ball, 1e4))
        robot.load(ag.Contact(rod, box, 1e4))
        robot.load(ag.SelfContact(rod, 1e4))
    robot.load(ag.Contact(ball, box, 1e4))
    return robot


def walk(model, rng, angle, curl, count):
    """States (count, n) that follow each other closely, and come back: every coordinate swings by about an angle [rad].

    The first one of bending goes to and fro by `curl` [rad].
    """
    frequency, phase = rng.uniform(2.0, 12.0, model.size), rng.uniform(0.0, 2.0 * np.pi, model.size)
    size = angle * rng.uniform(0.2, 1.0, model.size) / model.tree.scale
    first = next(k for k, name in enumerate(model.robot.coordinates()) if ".bend" in name)
    if curl:
        size[first], frequency[first] = curl / model.tree.scale[first], 3.0
    for t in np.linspace(0.0, 1.0, count):
        yield size * np.sin(2.0 * np.pi * frequency * t + phase)


@pytest.mark.parametrize(
    ("make", "seed", "angle", "curl"),
    [(curling, 1, 0.3, 9.0), (curling, 2, 0.3, 9.0), (company, 3, 0.25, 0.0), (company, 4, 0.25, 0.0)],
)
def test_what_is_not_looked_for_does_not_touch(make, seed, angle, curl):
    """Along a random path: the contacts are those of a search of its own in every state."""
    model, rng = ag.Model(make()), np.random.default_rng(seed)
    desks = [model.new_desk() for _ in range(2)]
    zero, lam, out, still, touching = np.zeros(model.size), np.zeros(0), np.zeros(model.size), 0, 0
    for q in walk(model, rng, angle, curl, 4000):
        found = []
        for desk, fresh in zip(desks, (False, True), strict=True):
            touches = desk.loads.touches
            if fresh:
                touches.free[:], touches.count[KNOWN] = 0.0, 0
            before = touches.anchor.copy()
            residual(model.tree, desk.workspace, desk.loads, q, zero, zero, lam, out)
            found.append({tuple(row) for row in touches.hits[: touches.count[HITS]].tolist()})
            if not fresh and touches.count[QUIET] == 1 and touches.free[WAY] > 0.0:
                still += np.array_equal(before, touches.anchor)
                assert desks[1].loads.touches is not touches
        assert found[0] == found[1]
        touching += bool(found[0])
    assert still > 300 and touching > 100, (still, touching)


def test_a_list_that_was_left_is_not_trusted_again():
    """What goes away and comes back may have passed something: a new list has to be made."""
    model = ag.Model(curling())
    desk, zero, lam, out = model.new_desk(), np.zeros(model.size), np.zeros(0), np.zeros(model.size)
    bent = zero.copy()
    bent[0] = 0.3 / model.tree.scale[0]
    ways = []
    for q in (zero, bent, zero):
        residual(model.tree, desk.workspace, desk.loads, q, zero, zero, lam, out)
        ways.append(desk.loads.touches.free[[WAY, TURN]].copy())
    assert ways[0][0] > 0.0
    far = zero.copy()
    far[:] = 2.0 / model.tree.scale
    for q in (zero, far, zero):
        residual(model.tree, desk.workspace, desk.loads, q, zero, zero, lam, out)
    np.testing.assert_allclose(desk.loads.touches.free[WAY], ways[0][0], rtol=1e-12)


def test_rows_of_nodes_name_every_interval():
    """Nodes in an order of their own; an interval whose ends do not follow each other gets rows of its own."""
    rows = _in_rows(np.array([7, 2, 3, 4, 9]), np.array([[2, 3], [3, 4], [4, 7], [9, 9]]))
    assert rows.tolist() == [[7, ROD], [2, ROD], [3, NEXT], [4, NEXT], [9, ALONE], [4, ROD], [7, NEXT]]


@pytest.mark.parametrize("kind", ["any", "parallel", "nearly parallel", "point and line", "line and point", "points"])
def test_distance_between_lines(kind):
    """Never more than between any two points of them, and hardly less."""
    rng, s = np.random.default_rng(5), np.linspace(0.0, 1.0, 101)
    for _ in range(30):
        p, d, q, e = rng.normal(size=(4, 3))
        if "parallel" in kind:
            e = rng.normal() * d + (1e-6 * rng.normal(size=3) if "nearly" in kind else 0.0)
        d = 0.0 * d if kind in ("point and line", "points") else d
        e = 0.0 * e if kind in ("line and point", "points") else e
        apart = (p + s[:, None] * d)[:, None] - (q + s[:, None] * e)
        true = np.linalg.norm(apart, axis=2).min()
        found = between_lines(tuple(p), tuple(d), tuple(q), tuple(e))
        assert true - 0.02 < found < true + 1e-12


def test_a_rod_that_may_touch_itself_and_does_not_moves_as_one_that_cannot():
    """Bit for bit, and in as many iterations: contacts are left out of the steps."""
    runs = []
    for contact in (False, True):
        robot = ag.Robot("arm")
        rod = robot.add(
            ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000.0, damping=0.01), ag.strains.kirchhoff(3)),
            at=robot.ground,
        )
        if contact:
            robot.load(ag.SelfContact(rod, friction=0.3))
        runs.append(ag.simulate(robot, duration=0.5, dt=1e-3, every=500, progress=False))
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0.0, atol=1e-12 * np.abs(runs[0].q).max())
    assert runs[0].status.counters["iterations"] == runs[1].status.counters["iterations"]
