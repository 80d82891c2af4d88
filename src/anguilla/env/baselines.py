"""Environments for Stable-Baselines3, whose interface of vectors is its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla._doors import public
from anguilla.env.task import Task
from anguilla.env.vector import RobotVectorEnv
from anguilla.errors import AnguillaError

__all__ = ["to_stable_baselines"]


@public
def to_stable_baselines(task: Task, num_envs: int = 64, **keywords: Any) -> Any:
    """Copies of a robot as a `VecEnv` of Stable-Baselines3; keywords are those of `RobotVectorEnv`."""
    try:
        from stable_baselines3.common.vec_env import VecEnv
    except ImportError:
        raise AnguillaError("this needs Stable-Baselines3: pip install stable-baselines3.") from None

    class Robots(VecEnv):
        """Copies of a robot."""

        def __init__(self) -> None:
            self.robots = RobotVectorEnv(task, num_envs, same_step=True, **keywords)
            super().__init__(num_envs, self.robots.single_observation_space, self.robots.single_action_space)
            self._actions: NDArray[Any] = np.zeros((num_envs, len(task.names)))

        def reset(self) -> NDArray[np.float32]:
            seeds = self._seeds[0] if self._seeds and self._seeds[0] is not None else None
            seen, _ = self.robots.reset(seed=seeds)
            self._reset_seeds()
            return seen

        def step_async(self, actions: NDArray[Any]) -> None:
            self._actions = actions

        def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
            seen, reward, terminated, truncated, told = self.robots.step(self._actions)
            over = terminated | truncated
            infos: list[dict[str, Any]] = [{} for _ in range(num_envs)]
            for k in np.flatnonzero(over).tolist():
                last = {name: values[k] for name, values in told["final_info"].items() if not name.startswith("_")}
                infos[k] = {
                    "terminal_observation": told["final_obs"][k],
                    "TimeLimit.truncated": bool(truncated[k]),
                } | last
            return seen, reward.astype(np.float32), over, infos

        def close(self) -> None:
            self.robots.close()

        def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
            return [getattr(self.robots, attr_name, None)] * num_envs

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            setattr(self.robots, attr_name, value)

        def env_method(self, method_name: str, *args: Any, indices: Any = None, **named: Any) -> list[Any]:
            return [getattr(self.robots, method_name)(*args, **named)] * num_envs

        def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
            return [False] * num_envs

    return Robots()
