"""Sensors of a robot, to be put on it by `robot.sense(name, sensor)`."""

from anguilla.describe import sensors
from anguilla.describe.sensors import *  # noqa: F403

__all__ = list(sensors.__all__)
