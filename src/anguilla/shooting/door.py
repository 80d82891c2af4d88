"""The door of shooting: a robot, or the model made of it."""

from __future__ import annotations

from anguilla.describe import Robot
from anguilla.model.model import Model, as_robot
from anguilla.solve.steps.identity import Identity

__all__ = ["robot_of"]


def robot_of(robot: Robot | Model) -> Robot:
    """The robot, or that of a model as it was compiled; shooting reads the description, not the tables made of it.

    That is the robot the model was made of, so that its parts and frames can be given, as long as that is unchanged; else the
    model's own copy (`model.robot`), whose parts and frames are then to be taken.
    """
    if not isinstance(robot, Model):
        return as_robot(robot)
    unchanged = Identity().of(robot.source) == Identity().of(robot.robot)
    return robot.source if unchanged else robot.robot
