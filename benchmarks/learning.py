"""How fast environments are, and how well a loop keeps its rate.

    python benchmarks/learning.py [--copies 64] [--seconds 5] [--loop 60]

Prints steps of the environment "Reach" (a tendon arm of 12 coordinates with observations, rewards and resets) per second,
with one and with five time steps an action, and the timing of a loop at 200 Hz around a stepper with sensors.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import anguilla as ag
from anguilla import env
from anguilla.control import FixedRate
from anguilla.env.tasks import tendon_arm


def environment(copies, substeps, seconds):
    """Steps of the environment per second of time, and per second of processor time on two cores."""
    robots = env.RobotVectorEnv(env.Reach(substeps=substeps), copies)
    robots.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1, 1, (64, copies, len(robots.task.names))).astype(np.float32)
    robots.step(actions[0])
    count, began, busy = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        robots.step(actions[count % 64])
        count += 1
    passed, busy = time.perf_counter() - began, time.process_time() - busy
    return copies * count / passed, 2 * copies * count / busy


def loop(seconds):
    """Timing of a loop at 200 Hz: read the sensors, a PD law, a step."""
    stepper = ag.Stepper(tendon_arm(), dt=0.005)
    goal = stepper.read()[:3] + np.array([-0.02, 0.1, 0.0])
    steps = FixedRate(200.0, round(200 * seconds))
    for _ in steps:
        seen = stepper.read()
        pull = np.clip(20.0 * (goal[1] - seen[1]) - 2.0 * seen[4], 0.0, 15.0)
        stepper.step({"near_1": pull, "far_1": 0.5 * pull})
    return steps.timing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--loop", type=float, default=60.0)
    given = parser.parse_args()
    for substeps in (1, 5):
        rate, free = environment(given.copies, substeps, given.seconds)
        steps = f"{substeps} time step{'s' if substeps > 1 else ''} each"
        print(
            f"{given.copies} copies, {steps}: {rate:9,.0f} environment steps/s ({free:,.0f} by processor time on two cores)"
        )
    print(loop(given.loop))


if __name__ == "__main__":
    main()
