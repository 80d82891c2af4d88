"""A small robot for pictures: a round, tapered rod that carries a flat one; computed once."""

from dataclasses import dataclass

import numpy as np
import pytest

import anguilla as ag


@dataclass(frozen=True)
class Case:
    robot: ag.Robot
    arm: ag.describe.RodHandle
    blade: ag.describe.RodHandle
    eq: ag.Equilibrium
    run: ag.Trajectory


@pytest.fixture(scope="session")
def case() -> Case:
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000, damping=0.01)
    robot = ag.Robot("two_rods")
    section = ag.taper(ag.Circle(radius=0.02), ag.Circle(radius=0.01), 0.4)
    arm = robot.add(ag.Rod(0.4, section, rubber, ag.kirchhoff(2)), at=robot.ground, name="arm")
    blade = robot.add(ag.Rod(0.2, ag.Rectangle(0.03, 0.006), rubber, ag.reissner(2)), at=arm.tip, name="blade")
    robot.load(ag.TipWrench(blade, force=(0.0, 0.4, 0.0), moment=(0.005, 0.0, 0.0)))
    eq = ag.statics(robot)
    return Case(robot, arm, blade, eq, ag.simulate(robot, duration=0.5, dt=0.01))


@pytest.fixture(scope="session")
def flat_run() -> ag.Trajectory:
    """A motion in the plane x, z."""
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000, damping=0.01)
    robot = ag.Robot("flat")
    robot.add(ag.Rod(0.4, ag.Circle(0.01), rubber, ag.Strains(bend_y=3)), at=robot.ground, name="arm")
    run = ag.simulate(robot, duration=0.3, dt=0.01)
    assert np.ptp(run.position(robot.part("arm").tip)[:, 2]) > 0.05
    return run
