"""The door of all solvers: a robot, or the model made of it."""

from __future__ import annotations

from typing import NamedTuple

from anguilla.describe import Robot
from anguilla.errors import DescriptionError
from anguilla.model.model import Model, as_robot
from anguilla.model.watch import Watch

__all__ = ["model_of"]


def model_of(robot: Robot | Model) -> Model:
    """The model of a robot, or the given one.

    The model of a robot is kept beside it and used again as long as its description is unchanged; that is looked up in
    all of it, so a number changed in place in a material, a list or an array is seen.
    """
    if isinstance(robot, Robot):
        kept = getattr(robot, "kept", None)
        if isinstance(kept, _Kept) and kept.watch.unchanged:
            return kept.model
    if isinstance(robot, Model):
        if robot.carries:
            raise DescriptionError(
                "This model contains only the rods and bodies of a robot with soft volumes: pass the robot itself."
            )
        return robot
    model = Model(as_robot(robot))
    robot.kept = _Kept(model, Watch(robot))
    return model


class _Kept(NamedTuple):
    """The last model of a robot, and what the robot looked like then."""

    model: Model
    watch: Watch
