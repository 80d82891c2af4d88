"""Swimmers of the tests."""

import numpy as np

import anguilla as ag
from anguilla.reference.water import eel_body

SOFT = ag.Material(young=1.0, density=1000.0)  # a chain of motors has no stiffness of its own


def stick(gait=None, intervals=24, material=SOFT, strains=None, joint=None):
    """A stick of 2 m with a prescribed shape, in vacuum: the robot and its rod."""
    robot = ag.Robot("stick", gravity=(0, 0, 0))
    rod = ag.Rod(2.0, ag.Ellipse(0.04, 0.06), material, strains, intervals=intervals, shape=gait or ag.gaits.spiral())
    return robot, robot.add(rod, at=robot.ground, joint=joint or ag.Free(), name="eel")


def eel(gait, intervals=96, *, water=True, nose=False, **coefficients):
    """The eel of 001 in Morison's water: the robot and its rod."""
    body = eel_body()
    section = ag.EllipticProfile(lambda X: body.semi_axes(X)[0], lambda X: body.semi_axes(X)[1], body.breakpoints)
    robot = ag.Robot("eel", gravity=(0, 0, 0))
    rod = ag.Rod(body.length, section, SOFT, intervals=intervals, shape=gait)
    handle = robot.add(rod, at=robot.ground, joint=ag.Free(), name="eel")
    if water:
        robot.load(ag.Morison(handle, name="water", **coefficients))
    if nose:
        robot.load(ag.Hull(handle.root, drag=(1.767146, 0, 0), added=(0.441786, 0, 0), slender=True, potential=False))
    return robot, handle


def fish(gain=None, *, modes=10, intervals=24):
    """The fish of 003 VII.D in Lighthill's water, with the wave prescribed or with a muscle: the robot and its rod."""
    height = lambda X: 0.08 * np.sqrt(np.maximum(1 - ((X - 0.7) / 0.7) ** 2, 0.0))
    width = lambda X: 0.05 * np.sqrt(np.maximum(1 - ((X - 0.505) / 0.505) ** 2, 0.0))
    wave = ag.TravellingWave((1.0, 0.5, 2.0), strain="bend_y")
    own = dict(shape=wave) if gain is None else dict(strains=ag.Strains(bend_y=modes))
    robot = ag.Robot("fish", gravity=(0, 0, 0))
    rod = ag.Rod(1.0, ag.EllipticProfile(height, width), SOFT, intervals=intervals, **own)
    handle = robot.add(rod, at=robot.ground, joint=ag.Free(), name="fish")
    robot.load(ag.Lighthill(handle, name="water"))
    if gain is not None:
        robot.load(ag.Muscle(handle, gain=(0, gain, 0, 0, 0, 0), curvature=wave))
    return robot, handle
