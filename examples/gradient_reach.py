"""A soft arm finds the tensions, instant by instant, that bring its tip to a place and stop it there.

Two tendons bend an arm of two sections; their tensions at 80 instants are 160 unknowns. A quasi-Newton method minimises the
distance of the tip from the goal over the last instants, the rates at the end and a little effort, with exact gradients from
one backward sweep for each motion.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

DT, STEPS, LARGEST = 0.01, 80, 4.0  # [s], -, [N]
HOLD = {"sideways": 2.0, "upwards": 1.0}  # [N] would hold the arm where it should go
EFFORT = 1e-7


@dataclass
class Result:
    run: ag.Trajectory
    goal: np.ndarray
    pulls: np.ndarray
    miss: float
    speed: float
    costs: list[float]
    gradient_over_motion: float


def build():
    rubber = ag.Material(young=3e5, poisson=0.45, density=1000, damping=0.02)
    rod = ag.Rod(0.2, ag.Circle(0.015), rubber, ag.extensible_kirchhoff(2, twist_modes=1, stretch_modes=1), intervals=4)
    robot = ag.Robot("reacher", gravity=(9.81, 0, 0))
    near = robot.add(rod, at=robot.ground, name="near")
    far = robot.add(rod, at=near.tip, name="far")
    robot.actuate("sideways", ag.Tendon((near, far), ag.parallel(y=0.01)))
    robot.actuate("upwards", ag.Tendon((near, far), ag.parallel(z=0.01)))
    return robot, far.tip


def main(iterations=60):
    robot, tip = build()
    names = list(robot.actuators)
    goal = ag.statics(robot, inputs=HOLD).position(tip)
    late = np.linspace(0.0, 1.0, STEPS + 1) > 0.85
    cost = ag.Reach(tip, goal, weight=late.astype(float)) + ag.Rest(weight=1e-6 * late)
    costs, clock = [], {"motion": 0.0, "gradient": 0.0}

    def value_and_slope(flat):
        pulls = flat.reshape(len(names), -1)
        began = time.perf_counter()
        inputs = {name: ag.Sampled(row, DT) for name, row in zip(names, pulls, strict=True)}
        run = ag.simulate(robot, duration=STEPS * DT, dt=DT, inputs=inputs)
        clock["motion"] += time.perf_counter() - began
        began = time.perf_counter()
        found = ag.gradient(run, cost)
        clock["gradient"] += time.perf_counter() - began
        slope = np.array([found.inputs[name] for name in names])
        costs.append(found.value + 0.5 * EFFORT * float(np.sum(pulls**2)))
        return costs[-1], (slope + EFFORT * pulls).ravel()

    first = np.full(len(names) * (STEPS + 1), 1.0)
    bounds = [(0.0, LARGEST)] * len(first)
    best = minimize(
        value_and_slope,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": iterations, "ftol": 1e-14, "gtol": 1e-12},
    )
    pulls = best.x.reshape(len(names), -1)
    run = ag.simulate(
        robot,
        duration=STEPS * DT,
        dt=DT,
        inputs={name: ag.Sampled(row, DT) for name, row in zip(names, pulls, strict=True)},
    )
    miss = float(np.linalg.norm(run.position(tip)[-1] - goal))
    speed = float(np.linalg.norm(run.twist(tip)[-1, 3:]))
    return Result(run, goal, pulls, miss, speed, costs, clock["gradient"] / clock["motion"])


def figures(folder, result=None):
    result = result or main()
    robot, _ = build()
    with figure_style():
        fig = figure(9.0, 3.2)
        left, right = fig.subplots(1, 2)
        place = result.run.position(result.run.robot.parts[1].tip)
        for k, name in enumerate("xyz"):
            left.plot(result.run.t, 1e3 * place[:, k], color=COLOURS[k], label=name)
            left.axhline(1e3 * result.goal[k], color=COLOURS[k], lw=0.8, ls=":")
        for k, name in enumerate(robot.actuators):
            right.plot(result.run.t, result.pulls[k], color=COLOURS[k + 3], label=name)
        left.set(xlabel="t [s]", ylabel="[mm]", title="Tip (dotted: where it should stop)")
        right.set(xlabel="t [s]", ylabel="[N]", title="Tensions found")
        left.legend(frameon=False, ncols=3)
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "gradient_reach.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(f"misses the goal by {1e3 * result.miss:.2f} mm, still moving at {1e3 * result.speed:.1f} mm/s")
    share = f"{result.gradient_over_motion:.2f} motions"
    print(f"{len(result.costs)} motions; a gradient of {result.pulls.size} inputs takes {share}")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
