"""One robot behind Gymnasium's interface."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla import sensors
from anguilla._doors import public
from anguilla.describe import Frame, Robot
from anguilla.env.task import Task
from anguilla.env.tasks import Reach
from anguilla.env.vector import MODES, RobotVectorEnv, as_task
from anguilla.errors import DescriptionError

__all__ = ["RobotEnv", "from_file", "make"]


class RobotEnv(gymnasium.Env):
    """A robot with a task: a vector of one.

    Args:
        task: the task.
        render_mode: "rgb_array", "human" or None, as in `RobotVectorEnv`.

    """

    def __init__(self, task: Task, *, render_mode: str | None = None) -> None:
        self._vector = RobotVectorEnv(task, 1, threads=1, render_mode=render_mode)
        self.task, self.render_mode = task, render_mode
        self.metadata = {"render_modes": list(MODES), "render_fps": round(1 / task.period)}
        self.action_space = self._vector.single_action_space
        self.observation_space = self._vector.single_observation_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        seen, _ = self._vector.reset(seed=seed)
        return seen[0], {}

    def step(self, action: ArrayLike) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """One action (k,)."""
        seen, reward, terminated, truncated, info = self._vector.step(np.asarray(action)[None])
        told = {name: values[0] for name, values in info.items() if not name.startswith("_")}
        return seen[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), told

    def render(self) -> Any:
        """A picture (height, width, 3)."""
        drawn = self._vector.render()
        return None if drawn is None else drawn[0]

    def close(self) -> None:
        """Let the robot go."""
        self._vector.close()


def make(task: Task | str = "Reach", *, render_mode: str | None = None, **options: Any) -> RobotEnv:
    """An environment of one robot, as `gymnasium.make` asks for it; options are those of the task."""
    return RobotEnv(as_task(task, **options), render_mode=render_mode)


@public
def from_file(
    path: str | os.PathLike[str],
    frame: str,
    limits: Mapping[str, tuple[float, float]],
    *,
    num_envs: int | None = None,
    parameters: Mapping[str, float] | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> RobotEnv | RobotVectorEnv:
    """Make an environment of a robot file: bring a frame of the robot to goals that it can reach.

    Args:
        path: the robot file.
        frame: the frame, such as "arm.tip".
        limits: (low, high) of the inputs that actions move, by name.
        num_envs: number of copies; one robot behind the simple interface if not given.
        parameters: values of parameters of the file.
        render_mode: "rgb_array", "human" or None.
        options: further keywords of `Reach` and `Task`; `randomise={"young": (8e5, 1.2e6)}` draws parameters of the file.

    """
    from anguilla.files import read_robot

    def robot(**drawn: float) -> Robot:
        made = read_robot(path, parameters={**(parameters or {}), **drawn})
        place = _frame(made, frame)
        for name, kind in (("tip", sensors.Position), ("speed", sensors.Velocity)):
            if name not in made.sensors:
                made.sense(name, kind(place))
        return made

    task = Reach(robot, limits, **options)
    return (
        RobotEnv(task, render_mode=render_mode)
        if num_envs is None
        else RobotVectorEnv(task, num_envs, render_mode=render_mode)
    )


def _frame(robot: Robot, text: str) -> Frame:
    """A frame by its name, "part.tip", "part.root" or "part.frame"."""
    part, _, place = text.partition(".")
    found = getattr(robot.part(part), place or "tip", None)
    if not isinstance(found, Frame):
        raise DescriptionError(f"there is no frame {text!r}: give a part and tip, root or frame, such as 'arm.tip'.")
    return found
