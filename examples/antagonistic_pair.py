"""Two tendons on opposite sides of a soft finger, driven by their lengths: one pulls while the other is slack.

A tendon cannot push. Where the finger would have to be pushed to keep the length of a tendon, that tendon goes slack: its
tension is zero and it hangs loose by a gap, until the finger comes back and pulls it tight.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, OFFSET, STROKE = 0.2, 0.008, 0.010  # [m]
RUBBER = ag.Material(young=1e6, poisson=0.48, density=1100, damping=0.01)
NAMES = ("up", "down")
GIVE = 1e-4  # of a tendon [m/N]


@dataclass
class Result:
    run: ag.Trajectory
    finger: ag.RodHandle
    tension: dict  # by name (time,) [N]
    gap: dict  # how loose a tendon hangs (time,) [m]


def wanted(t):
    """Lengths of the two tendons [m]; what one draws in, the other gives, and a little more."""
    draw = STROKE * np.sin(2 * np.pi * t) ** 3
    drawn = {"up": draw, "down": -draw}
    return {name: LENGTH - (x if x > 0.0 else 1.4 * x) for name, x in drawn.items()}


def build():
    robot = ag.Robot("antagonists", gravity=(0, -9.81, 0))
    rod = ag.Rod(LENGTH, ag.Circle(0.01), RUBBER, ag.planar(4, stretch_modes=1))
    finger = robot.add(rod, at=robot.ground, name="finger")
    for name, y in zip(NAMES, (OFFSET, -OFFSET), strict=True):
        robot.actuate(name, ag.Tendon(finger, ag.parallel(y=y), by="length", compliance=GIVE))
    return robot, finger


def main(dt=2e-3, duration=2.0):
    robot, finger = build()
    start = ag.statics(robot, inputs=wanted(0.0))
    inputs = {name: (lambda t, name=name: wanted(t)[name]) for name in NAMES}
    run = ag.simulate(robot, duration=duration, dt=dt, inputs=inputs, start=start)
    given = {name: np.array([wanted(t)[name] for t in run.t]) for name in NAMES}
    tension = {name: run.tension(name) for name in NAMES}
    gap = {name: given[name] + GIVE * tension[name] - run.length(name) for name in NAMES}
    return Result(run, finger, tension, gap)


def figures(folder, result=None):
    result = result or main()
    run = result.run
    with figure_style():
        fig = figure(9.0, 3.8)
        left, top, low = (fig.add_subplot(1, 2, 1), fig.add_subplot(2, 2, 2), fig.add_subplot(2, 2, 4))
        for shade, t in zip((0.3, 0.5, 0.75, 1.0), (0.0, 0.25, 0.5, 0.75), strict=True):
            line = run.centerline(result.finger, 40)[round(t / (run.t[1] - run.t[0]))]
            left.plot(100 * line[:, 0], 100 * line[:, 1], color=COLOURS[0], lw=4, alpha=shade)
        left.set(xlabel="x [cm]", ylabel="y [cm]", title="The finger in the first stroke")
        left.set_aspect("equal")
        for k, name in enumerate(NAMES):
            top.plot(run.t, result.tension[name], color=COLOURS[k], label=name)
            low.plot(run.t, 1e3 * result.gap[name], color=COLOURS[k], label=name)
        top.set(title="Tension [N]")
        low.set(title="Looseness [mm]", xlabel="t [s]")
        top.legend(frameon=False)
        fig.savefig(Path(folder) / "antagonistic_pair.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.run)
    for name in NAMES:
        print(
            f"{name}: up to {result.tension[name].max():.2f} N, slack {np.mean(result.tension[name] == 0.0):.0%} of the time"
        )
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
