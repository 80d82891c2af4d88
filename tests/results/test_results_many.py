"""Reading many frames and rods of one result: all are read at once after a few, and nothing else changes."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.results import places
from anguilla.results.fields import internal_wrench
from anguilla.results.places import FEW

SILICONE = ag.Material(young=5e6, poisson=0.5, density=1000, damping=0.01)


@pytest.fixture(scope="module")
def comb():
    """A body with more rods than are read one by one; one of them bends by itself."""
    robot = ag.Robot("comb")
    back = robot.add(ag.RigidBody.sphere(0.01, mass=0.1), at=robot.ground, joint=ag.Revolute("y", stiffness=0.3))
    rods = []
    for k in range(FEW + 4):
        rod = ag.Rod(0.1 + 0.01 * k, ag.Circle(0.004), SILICONE, ag.kirchhoff(2), intervals=3)
        rods.append(robot.add(rod, at=back.frame.offset_by((0.0, 0.02 * k, 0.0))))
    return robot, rods


@pytest.fixture(scope="module")
def run(comb):
    return ag.simulate(comb[0], duration=0.05, dt=0.01)


@pytest.mark.parametrize("points", [2, 7])
def test_centre_lines_of_many_rods_are_those_of_each_alone(comb, run, points):
    robot, rods = comb
    for rod in rods + rods[:1]:
        line = run.centerline(rod, points)
        alone = ag.simulate(robot, duration=0.05, dt=0.01) if rod is rods[-1] else None
        np.testing.assert_array_equal(line[:, 0], run.motion([rod.root])[:, 0, 9:12])
        np.testing.assert_array_equal(line[:, -1], run.motion([rod.tip])[:, 0, 9:12])
        if alone is not None:
            np.testing.assert_array_equal(line, alone.centerline(rod, points))
    line[:] = 0.0
    assert np.any(run.centerline(rods[0], points))  # what was given away is a copy


def test_frames_read_one_after_the_other_are_those_read_together(comb, run):
    _, rods = comb
    frames = [rod.tip for rod in rods] + [rod.tip.offset_by((0.01, 0.0, 0.02)) for rod in rods]
    together = run.motion(frames)
    for k, frame in enumerate(frames):
        np.testing.assert_allclose(run.position(frame), together[:, k, 9:12], rtol=0, atol=1e-15)
        turn, spin = together[:, k, :9].reshape(-1, 3, 3), together[:, k, 12:15]
        np.testing.assert_allclose(run.twist(frame)[:, :3], np.einsum("tji,tj->ti", turn, spin), rtol=0, atol=1e-12)


def loaded():
    """Rods that carry other rods and bodies, wrenches at sections and along them, springs, water, and a closure."""
    robot = ag.Robot("loaded", gravity=(0.0, 0.3, -9.81))
    rods = []
    for k in range(2 * FEW):
        rod = ag.Rod(0.1 + 0.02 * (k % 3), ag.Circle(0.004), SILICONE, ag.reissner(1), intervals=3)
        at = robot.ground.offset_by((0.0, 0.05 * k, 0.0)) if k % 4 == 0 else rods[-1].tip
        rods.append(robot.add(rod, at=at))
    robot.load(ag.Wrench(rods[1].section(0.05), force=(0.01, 0.0, 0.02)))
    robot.load(ag.Wrench(rods[5].section(0.07), force=lambda t: (0.0, 0.1 * t, 0.0), follower=True))
    robot.load(ag.DistributedWrench(rods[2], force=(0.02, 0.0, 0.0)))
    robot.load(ag.DistributedWrench(rods[9], force=lambda X, t: (0.0, X * t, 0.05), follower=True))
    robot.load(ag.Morison(rods[10], density=50.0, current=(0.1, 0.0, 0.0)))
    robot.load(ag.Spring(rods[3].tip, rods[7].tip, 0.5, rest=0.1))
    robot.add(ag.RigidBody.sphere(0.01, mass=0.01), at=rods[11].section(0.06))
    robot.close(rods[15].tip, robot.ground, joint=ag.Spherical(), pose=(0.46, 0.6, 0.0))
    return robot, rods


@pytest.mark.parametrize("given", [None, (0.0,), (0.09, 0.02, 0.05)])
def test_wrenches_of_many_rods_are_those_of_each_alone(given, monkeypatch):
    robot, rods = loaded()
    run = ag.simulate(robot, duration=0.004, dt=0.001)
    ways = []

    def one(*asked):
        ways.append(1)
        return internal_wrench(*asked)

    monkeypatch.setattr(places, "internal_wrench", one)
    read = [run.wrench(rod, given) for rod in rods]
    if given is None or given == (0.0,):
        assert len(ways) == FEW  # the others were found together
    with run.acting():
        for rod, wrench in zip(rods, read, strict=True):
            X = np.linspace(0.0, rod.length, 60) if given is None else np.array(given)
            alone = internal_wrench(run.evaluations, rod, X)
            np.testing.assert_allclose(wrench, alone, rtol=1e-12, atol=1e-12 * np.abs(alone).max())
    read[-1][:] = 0.0
    assert np.any(run.wrench(rods[-1], given))  # what was given away is a copy
