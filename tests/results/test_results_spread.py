"""Inner forces of rods with loads that are spread along them, between their nodes too, whatever kind of load it is."""

from dataclasses import dataclass

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe.load import PlacedLoad

STIFF = ag.Material(young=1e13, poisson=0.45, density=100.0, damping=1e-3)  # its own inertia hardly counts
LENGTH = 0.3


def bar(motion=None):
    """A rod that stays straight, along x, on a hinge about z that is moved if asked."""
    joint = ag.Fixed() if motion is None else ag.Revolute("z", motion=motion)
    robot = ag.Robot("bar", gravity=(0.0, 0.0, 0.0))
    rod = ag.Rod(LENGTH, ag.Circle(0.005), STIFF, ag.kirchhoff(1), intervals=3)
    return robot, robot.add(rod, at=robot.ground, joint=joint, name="bar")


X = np.linspace(0.0, LENGTH, 11)  # most lie between two nodes
BEYOND = LENGTH - X


def push(motion, t, X):
    return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.01])


@pytest.mark.parametrize("moving", [False, True])
def test_magnet_along_a_rod(moving):
    robot, rod = bar((lambda t: 0.0 * t) if moving else None)
    robot.load(ag.Magnet(rod, (0.0, 0.02, 0.0), field=lambda t: (0.1 + t, 0.0, 0.0)))
    rest = ag.statics(robot)
    run = ag.simulate(robot, duration=0.02, dt=0.001, start=rest) if moving else rest
    found, field = run.wrench(rod, X).reshape(-1, len(X), 6)[-1], 0.12 if moving else 0.1
    np.testing.assert_allclose(found[:, 2], -0.02 * field * BEYOND, atol=1e-8)  # m x B, on all that is beyond
    np.testing.assert_allclose(found[:, 3:], 0.0, atol=1e-8)


def test_magnet_in_a_gradient():
    """The force G m, and the moment of the field that grows along the rod."""
    robot, rod = bar()
    gradient = np.diag([0.5, 0.5, -1.0])
    robot.load(ag.Magnet(rod, (0.0, 0.02, 0.0), gradient=gradient))
    found = ag.statics(robot).wrench(rod, X)
    np.testing.assert_allclose(found[:, 4], 0.02 * 0.5 * BEYOND, atol=1e-9)
    own = -0.02 * 0.5 * (LENGTH**2 - X**2) / 2.0  # m x G x
    np.testing.assert_allclose(found[:, 2], own + 0.02 * 0.5 * BEYOND**2 / 2.0, atol=1e-9)


def test_load_written_in_python():
    robot, rod = bar()
    robot.load(ag.UserLoad(rod, push))
    found = ag.statics(robot).wrench(rod, X)
    np.testing.assert_allclose(found[:, 5], 0.01 * BEYOND, atol=1e-12)
    np.testing.assert_allclose(found[:, 1], -0.01 * BEYOND**2 / 2.0, atol=1e-12)


def test_load_written_in_python_feels_the_motion():
    """A drag on a bar that turns: -c v, with what inertia needs to turn it steadily."""
    robot, rod = bar(lambda t: 2.0 * t)
    robot.load(ag.UserLoad(rod, lambda motion, t, X: np.append(np.zeros(3), -0.3 * motion.velocity)))
    run = ag.simulate(robot, duration=0.06, dt=0.001)
    np.testing.assert_allclose(run.wrench(rod, X)[-1, :, 4], -0.3 * 2.0 * (LENGTH**2 - X**2) / 2.0, atol=1e-6)


@dataclass(eq=False)
class Pull(PlacedLoad):
    """A load of one's own on a kernel of the library."""

    where: ag.RodHandle
    name: str | None = None

    def enter(self, book):
        seat = book.seat(self.where)
        constants = np.tile([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (len(seat.nodes), 1))
        book.on_frames("world_spring", seat.nodes, constants * seat.weights[:, None])
        return seat


@dataclass(eq=False)
class Field(Pull):
    """The same, on a kernel that reads values in time."""

    def enter(self, book):
        seat = book.seat(self.where)
        values = lambda times: np.zeros((len(times), 3))
        book.on_frames("magnet", seat.nodes, np.zeros((len(seat.nodes), 12)), values=values, numbers=3)
        return seat


def test_a_load_of_ones_own_that_does_not_say_its_density():
    robot, rod = bar()
    robot.load(Pull(rod))
    np.testing.assert_allclose(ag.statics(robot).wrench(rod, X), 0.0, atol=1e-12)
    robot.load(Field(rod))
    with pytest.raises(ag.DescriptionError, match="Field along a rod does not say its wrench per length"):
        ag.statics(robot).wrench(rod, X)
