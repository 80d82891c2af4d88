"""One small run with everything a file must hold; computed once."""

import numpy as np
import pytest

import anguilla as ag


@pytest.fixture(scope="session")
def run() -> ag.Trajectory:
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000, damping=0.01)
    robot = ag.Robot("kept")
    section = ag.taper(ag.Circle(0.02), ag.Circle(0.01), 0.4)
    arm = robot.add(ag.Rod(0.4, section, rubber, ag.kirchhoff(2)), at=robot.ground, name="arm")
    hand = robot.add(ag.RigidBody.box((0.05, 0.04, 0.03), mass=0.1), at=arm.tip, joint=ag.Spherical(), name="hand")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.01)))
    robot.actuate("push", ag.Tendon(arm, ag.parallel(y=-0.01)))
    robot.load(ag.Wrench(hand.frame, force=lambda t: (0.0, np.sin(9 * t), 0.0)))
    inputs = {"pull": lambda t: 2.0 * t, "push": 0.5}
    return ag.simulate(robot, duration=0.2, dt=0.005, inputs=inputs)


@pytest.fixture(scope="session")
def equilibrium(run) -> ag.Equilibrium:
    arm = ag.Robot("still")
    rod = ag.Rod(0.4, ag.Circle(0.01), ag.Material(1e6, 1000), ag.kirchhoff(3))
    arm.actuate("pull", ag.Tendon(arm.add(rod, at=arm.ground, name="arm"), ag.parallel(z=0.005)))
    return ag.statics(arm, inputs={"pull": 1.0})
