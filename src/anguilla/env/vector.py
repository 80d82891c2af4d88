"""Many robots behind Gymnasium's interface of vectors: one compiled step for all copies."""

from __future__ import annotations

import sys
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from anguilla.env import tasks, touching
from anguilla.env.task import Fleet, Task
from anguilla.errors import DescriptionError, as_count, refuse, require
from anguilla.mechanics.tree import Floats

__all__ = ["RobotVectorEnv", "make"]

MODES = ("rgb_array", "human")  # of rendering


def as_task(task: Task | str, **options: Any) -> Task:
    """A task, or one of the ready-made by its name."""
    if isinstance(task, Task):
        if options:
            raise DescriptionError(f"a task that is made already takes no options; got {', '.join(options)}.")
        return task
    known: dict[str, Any] = {"Reach": tasks.Reach, "Track": tasks.Track, "Swim": tasks.Swim}
    known |= {"Grasp": touching.Grasp, "Crawl": touching.Crawl}
    if task not in known:
        raise refuse("task", f"a Task, or one of {', '.join(known)}", task)
    made: Task = known[task](**options)
    return made


class RobotVectorEnv(gymnasium.vector.VectorEnv):
    """Copies of a robot with a task. Actions lie between -1 and 1.

    Args:
        task: the task.
        num_envs: number of copies.
        same_step: whether a copy whose episode ends begins a new one in the same step, with the last observation in
            `info["final_obs"]`; else in the next one, which ignores the action.
        threads: how many run at once; all cores by default.
        render_mode: "rgb_array" draws the first copy when asked; "human" shows it in the browser, in real time, at the
            address that is printed at the first reset (needs the package ``viser``).

    """

    def __init__(
        self,
        task: Task,
        num_envs: int = 64,
        *,
        same_step: bool = False,
        threads: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        if not isinstance(task, Task):
            raise refuse(
                "task", "a task, such as Reach(robot, arm.tip, ...) or an object of your own class of Task", task
            )
        self.task, self.num_envs = task, as_count(num_envs, "num_envs")
        mode = AutoresetMode.SAME_STEP if same_step else AutoresetMode.NEXT_STEP
        self.metadata = {"render_modes": list(MODES), "render_fps": round(1 / task.period), "autoreset_mode": mode}
        if render_mode not in (None, *MODES):
            raise refuse("render_mode", f"None, {' or '.join(MODES)}", render_mode)
        self._monitor: Any = None
        self._due = 0.0
        self.render_mode, self._threads, self._same = render_mode, threads, same_step
        self._fleet: Fleet | None = None
        self._count = np.zeros(self.num_envs, dtype=np.int64)
        self._over = np.zeros(self.num_envs, dtype=bool)
        self._inputs = np.tile(task.first_inputs(), (self.num_envs, 1))
        self._goals = task.new_goals(np.random.default_rng(0), self.num_envs)
        self._start(np.random.default_rng(0))
        size = self._observe()[0].shape[1]
        box = gymnasium.spaces.Box
        self.single_action_space = box(-1.0, 1.0, (len(task.names),), np.float32)
        self.single_observation_space = box(-np.inf, np.inf, (size,), np.float32)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def _start(self, rng: np.random.Generator) -> None:
        """Make the robots."""
        self._fleet = Fleet(self.task, self.num_envs, rng, self._threads)

    @property
    def fleet(self) -> Fleet:
        """The robots."""
        assert self._fleet is not None
        return self._fleet

    @property
    def _efforts(self) -> Floats:
        task = self.task
        return (2.0 * self._inputs - task.low - task.high) / (task.high - task.low)

    def _observe(self) -> tuple[NDArray[np.float32], Floats]:
        """Observations, and what the sensors show."""
        readings = self.fleet.read()
        seen = self.task.observe(readings, self._efforts, self._goals, self._time)
        return seen.astype(np.float32), readings

    @property
    def _time(self) -> Floats:
        return np.asarray(self._count * self.task.period, dtype=np.float64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin episodes with all copies, or with those that `options["reset_mask"]` names."""
        super().reset(seed=seed)
        if seed is not None and self.task.randomise:
            self._start(self.np_random)
        mask = (options or {}).get("reset_mask")
        self._begin(np.ones(self.num_envs, dtype=bool) if mask is None else np.asarray(mask, dtype=bool))
        self._show()
        return self._observe()[0], {}

    def _begin(self, which: NDArray[np.bool_]) -> None:
        """New episodes with some copies."""
        self._inputs[which] = self.task.first_inputs()
        self._goals[which] = self.task.new_goals(self.np_random, int(which.sum()))
        self._count[which], self._over[which] = 0, False
        self.fleet.reset(which, self._inputs)

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.float32], Floats, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One action (copies, k) of every copy."""
        task = self.task
        action = np.clip(np.asarray(actions, dtype=np.float64).reshape(self.num_envs, -1), -1.0, 1.0)
        if not np.isfinite(action).all():
            raise DescriptionError("actions must be finite numbers.")
        new = self._over.copy()
        span = task.high - task.low
        if task.rate is None:
            moved = task.low + 0.5 * span * (action + 1.0)
        else:
            moved = np.clip(self._inputs + task.rate * task.period * span * action, task.low, task.high)
        self._inputs = np.where(new[:, None], self._inputs, moved)
        self.fleet.step(self._inputs)
        self._count += 1
        if new.any():
            self._begin(new)
        seen, readings = self._observe()
        reward, told = task.reward(readings, self._efforts, self._goals, self._time, action)
        reward = np.where(new, 0.0, reward)
        terminated = self.fleet.failed & ~new
        truncated = (self._count >= task.horizon) & ~terminated & ~new
        info: dict[str, Any] = {}
        for name, values in told.items():
            info[name], info[f"_{name}"] = values, np.ones(self.num_envs, dtype=bool)
        self._over = terminated | truncated
        if self._same and self._over.any():
            seen = self._restart(seen, info, told)
        self._show()
        return seen, reward, terminated, truncated, info

    def _restart(self, seen: NDArray[np.float32], info: dict[str, Any], told: dict[str, Any]) -> NDArray[np.float32]:
        """Begin the next episodes at once; the last observations go into info."""
        over = self._over.copy()
        last = np.empty(self.num_envs, dtype=object)
        for k in np.flatnonzero(over).tolist():
            last[k] = seen[k]
        info["final_obs"], info["_final_obs"] = last, over
        info["final_info"] = {name: np.where(over, values, 0) for name, values in told.items()}
        info["final_info"] |= {f"_{name}": over for name in told}
        info["_final_info"] = over
        self._begin(over)
        return np.where(over[:, None], self._observe()[0], seen)

    def render(self) -> Any:
        """A picture (height, width, 3) of the first copy, in a tuple with one for each copy that is drawn."""
        if self.render_mode != "rgb_array":
            return None
        return (draw(self.fleet.first.result(0)),)

    def _show(self) -> None:
        """Show the first copy in the browser, not before the time has come."""
        if self.render_mode != "human":
            return
        now = self.fleet.first.result(0)
        if self._monitor is None:
            from anguilla.view.monitor import Monitor

            self._monitor = Monitor(now)
            print(f"the first robot is shown at {self._monitor.address}", file=sys.stderr, flush=True)
        self._monitor.show(now)
        time.sleep(max(0.0, self._due - time.perf_counter()))
        self._due = time.perf_counter() + self.task.period

    def close_extras(self, **_: Any) -> None:
        """Let the robots go."""
        self._fleet = None
        if self._monitor is not None:
            self._monitor.close()
            self._monitor = None


def draw(result: Any) -> NDArray[np.uint8]:
    """A picture (height, width, 3) of a result."""
    require("matplotlib", "pictures need", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from anguilla.view.plots import snapshots

    canvas = FigureCanvasAgg(snapshots(result, count=1))
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()


def make(
    task: Task | str = "Reach",
    num_envs: int = 64,
    max_episode_steps: int | None = None,
    *,
    same_step: bool = False,
    threads: int | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> RobotVectorEnv:
    """An environment of many robots, as `gymnasium.make_vec` asks for it; options are those of the task."""
    if max_episode_steps is not None:
        options["horizon"] = max_episode_steps
    return RobotVectorEnv(
        as_task(task, **options), num_envs, same_step=same_step, threads=threads, render_mode=render_mode
    )
