"""A load of one's own, outside the library, on kernels that are there: all rooms take it without being told of it."""

from dataclasses import dataclass

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe.load import FrameLoad, RodLoad
from anguilla.view.scene import scene
from anguilla.view.stage import Tracks, load_forces

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1100.0, damping=0.02)


@dataclass(eq=False)
class Gusts(RodLoad):
    """A force per length along y that comes and goes [N/m]."""

    part: ag.RodHandle
    size: float
    name: str | None = None

    @property
    def is_constant(self):
        return False

    @property
    def density_on(self):
        return self.part

    def enter(self, book):
        seat = book.seat(self.part)
        each = lambda t: self.size * np.sin(9.0 * t)[:, None, None] * np.eye(6)[4] * seat.weights[:, None]
        book.wrenches(seat.nodes, False, False, each)
        return seat


@dataclass(eq=False)
class Silent(FrameLoad):
    """It does not say how it enters."""

    frame: ag.Frame
    name: str | None = None


def arm():
    robot = ag.Robot("arm")
    return robot, robot.add(ag.Rod(0.3, ag.Circle(0.02), RUBBER, ag.kirchhoff(2)), at=robot.ground)


def test_it_does_what_the_load_of_the_library_does():
    robot, rod = arm()
    robot.load(Gusts(rod, 2.0))
    other, same = arm()
    other.load(ag.DistributedWrench(same, force=lambda X, t: (0.0, 2.0 * np.sin(9.0 * t), 0.0)))
    run, expected = (ag.simulate(one, duration=0.1, dt=2e-3) for one in (robot, other))
    assert np.abs(run.q).max() > 0.01
    np.testing.assert_allclose(run.q, expected.q, atol=1e-13)
    powers = ag.powers(run)
    assert np.abs(powers.imbalance).max() < 1e-6 * np.abs(powers.others).max()
    X = [0.0, 0.1, 0.21]
    np.testing.assert_allclose(run.wrench(rod, X), expected.wrench(same, X), atol=1e-12)


def test_a_load_that_does_not_enter_is_refused():
    robot, rod = arm()
    robot.load(Silent(rod.tip))
    with pytest.raises(ag.DescriptionError, match="Silent does not say how it enters a model"):
        ag.Model(robot)


def test_given_wrenches_that_do_not_say_where_are_refused(monkeypatch):
    monkeypatch.setattr(Gusts, "density_on", None)
    robot, rod = arm()
    robot.load(Gusts(rod, 2.0))
    with pytest.raises(ag.DescriptionError, match="must say the frame"):
        ag.Model(robot)


def test_a_load_of_which_nothing_is_known_has_no_arrows():
    robot, rod = arm()
    robot.load(ag.Buoyancy(rod))
    result = ag.statics(robot)
    assert len(load_forces(Tracks(result), scene(result), 0)[0]) == 0
