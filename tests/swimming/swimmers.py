"""Swimmers of the tests."""

import anguilla as ag

SOFT = ag.Material(young=1.0, density=1000.0)  # a chain of motors has no stiffness of its own


def stick(gait=None, intervals=24, material=SOFT, strains=None, joint=None):
    """A stick of 2 m with an imposed shape, in vacuum: the robot and its rod."""
    robot = ag.Robot("stick", gravity=(0, 0, 0))
    rod = ag.Rod(2.0, ag.Ellipse(0.04, 0.06), material, strains, intervals=intervals, shape=gait or ag.gaits.spiral())
    return robot, robot.add(rod, at=robot.ground, joint=joint or ag.Free(), name="eel")
