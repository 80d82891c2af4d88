"""Reading many frames and rods of one result: all are read at once after a few, and nothing else changes."""

import numpy as np
import pytest

import anguilla as ag
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
