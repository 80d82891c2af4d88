"""Learn to reach with a tendon arm: PPO of Stable-Baselines3 on 64 copies.

    python benchmarks/learn_reach.py [--seconds 540] [--steps 1500000] [--seed 0] [--out docs/figures/learn_reach]

Trains for at most so many seconds and steps, then counts 500 episodes with new seeds: how many goals are held within 2 % of
the arm's length at the end. Writes the curve as .csv and .png. Needs anguilla[rl] and
stable-baselines3.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from anguilla import env


def count(model, task, episodes, seed):
    """Part of the episodes that end near their goals, and the median distance there as a part of the length."""
    robots = env.RobotVectorEnv(task, episodes)
    seen, _ = robots.reset(seed=seed)
    for _ in range(task.horizon):
        action, _ = model.predict(seen, deterministic=True)
        seen, _, _, _, info = robots.step(action)
    return float(np.mean(info["is_success"])), float(np.median(info["distance"]))


def learn(seconds, seed, steps, copies=64):
    """Return the model, the rows (seconds, steps, part of goals held, median distance) and the task."""
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback

    torch.set_num_threads(1)
    task = env.Reach(horizon=60)
    robots = env.to_stable_baselines(task, copies)
    robots.seed(seed)
    began, rows = time.perf_counter(), []

    class Watch(BaseCallback):
        """Looks at 100 goals every few seconds."""

        def _on_step(self):
            return time.perf_counter() - began < seconds

        def _on_rollout_start(self):
            passed = time.perf_counter() - began
            if not rows or passed - rows[-1][0] > 10.0:
                held, distance = count(self.model, task, 100, 10_000 + len(rows))
                rows.append((time.perf_counter() - began, self.num_timesteps, held, distance))
                print(
                    f"{rows[-1][0]:6.0f} s  {self.num_timesteps:9d} steps  {held:6.1%} held  {distance:.2%} median",
                    flush=True,
                )

    def rate(left):
        return 7e-4 * (0.05 + 0.95 * left)

    model = PPO(
        "MlpPolicy", robots, n_steps=60, batch_size=960, n_epochs=8, gamma=0.9, gae_lambda=0.9, learning_rate=rate,
        ent_coef=0.0, seed=seed, policy_kwargs={"net_arch": [64, 64], "log_std_init": -0.7}, device="cpu",
    )  # fmt: skip
    watch = Watch()
    model.learn(steps, callback=watch)
    return model, rows, task


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=1_500_000)
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args()
    began = time.perf_counter()
    model, rows, task = learn(given.seconds, given.seed, given.steps)
    took = time.perf_counter() - began
    held, distance = count(model, task, 500, 123)
    print(f"{took:.0f} s, {model.num_timesteps} steps: {held:.1%} of 500 new goals held within 2 % of the length,")
    print(f"median distance {distance:.2%}.")
    if given.out is not None:
        with given.out.with_suffix(".csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["seconds", "steps", "held", "median distance / length"])
            writer.writerows(rows)
        from anguilla.view.style import COLOURS, figure, figure_style

        table = np.array(rows)
        with figure_style():
            fig = figure(5.0, 3.2)
            axes = fig.subplots()
            axes.plot(table[:, 0], 100 * table[:, 2], color=COLOURS[0])
            axes.axhline(95, lw=0.8, ls=":", color="0.5")
            axes.set(xlabel="time of learning [s]", ylabel="goals held within 2 % [%]", ylim=(0, 101))
            fig.savefig(given.out.with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
