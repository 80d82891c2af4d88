"""A curved needle is pushed into tissue, turned half around, and pushed on: its path turns with it.

The needle slides and turns in a guide at its root, both prescribed. The tissue lets its tip move along itself only: two
constraints on the velocity of the tip. What the guide has to push is a result.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, CURVATURE = 0.15, 4.0  # [m], [1/m]
NITINOL = ag.Material(young=60e9, poisson=0.3, density=6450, damping=2e-3)
PUSH, PAUSE, SPEED = 1.5, 1.0, 0.04  # times of pushing and of turning [s], speed [m/s]


@dataclass
class Result:
    run: ag.Trajectory
    needle: ag.RodHandle
    path: np.ndarray  # of the tip (time, 3) [m]
    sideways: float  # largest speed of the tip across itself [m/s]
    force: np.ndarray  # of the guide along the needle (time,) [N]
    torque: np.ndarray  # of the guide about it (time,) [N m]


def ease(x):
    """From 0 to 1 while x goes from 0 to 1, smoothly."""
    x = min(max(x, 0.0), 1.0)
    return x - np.sin(2 * np.pi * x) / (2 * np.pi)


def slide(t):
    """Push, pause, push [m]."""
    return SPEED * PUSH * (ease(t / PUSH) + ease((t - PUSH - PAUSE) / PUSH))


def turn(t):
    """Half a turn in the pause [rad]."""
    return np.pi * ease((t - PUSH) / PAUSE)


def build():
    robot = ag.Robot("needle", gravity=(0, 0, 0))
    rest = ag.ConstantCurvature(bend_z=CURVATURE)
    rod = ag.Rod(LENGTH, ag.Circle(0.6e-3), NITINOL, ag.kirchhoff(4, twist_modes=2), rest=rest)
    guide = ag.Cylindrical((1, 0, 0), motion=(slide, turn))
    needle = robot.add(rod, at=robot.ground, joint=guide, name="needle")
    for name, axis in (("y", (0, 1, 0)), ("z", (0, 0, 1))):
        robot.constrain(ag.no_slip(needle.tip, axis, name=f"tissue-{name}"))
    return robot, needle


def main(dt=5e-3):
    robot, needle = build()
    run = ag.simulate(robot, duration=2 * PUSH + PAUSE, dt=dt, method=ag.GeneralisedAlpha(0.5))
    effort = run.effort(needle)
    sideways = np.abs(run.twist(needle.tip)[:, 4:]).max()
    return Result(run, needle, run.position(needle.tip), sideways, effort[:, 0], effort[:, 1])


def figures(folder, result=None):
    result = result or main()
    run = result.run
    with figure_style():
        fig = figure(9.0, 3.6)
        left, right = fig.subplots(1, 2, width_ratios=(1.5, 1))
        for shade, t in zip((0.3, 0.6, 1.0), (0.0, PUSH + PAUSE, run.t[-1]), strict=True):
            line = run.centerline(result.needle, 60)[round(t / (run.t[1] - run.t[0]))]
            left.plot(100 * line[:, 0], 100 * line[:, 1], color=COLOURS[0], lw=2.2, alpha=shade)
        left.plot(100 * result.path[:, 0], 100 * result.path[:, 1], "--", color=COLOURS[1], lw=1.4)
        left.set(
            xlabel="x [cm]", ylabel="y [cm]", title="Before, after the half turn, at the end; dashed: path of the tip"
        )
        left.set_aspect("equal")
        right.plot(run.t, result.force, color=COLOURS[0], label="push [N]")
        right.plot(run.t, 100 * result.torque, color=COLOURS[1], label="torque [N cm]")
        right.set(xlabel="t [s]", title="What the guide has to give")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "steered_needle.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.run, f"tip at {result.path[-1].round(4)} m, across itself {result.sideways:.1e} m/s", sep="\n")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
