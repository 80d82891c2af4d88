"""A soft arm of two sections, hanging down, is pulled by one tendon of each section and swings to its new shape.

Each section is 30 cm of soft rubber with a radius of 3 cm and three tendons, 2 cm off its axis. Those of the far section
run through the near one too, so pulling one bends both. At t = 0 two tendons are tightened by 5 N at once: one of the
near section, and one of the far section a quarter turn from it, which takes the arm out of its plane.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, RADIUS, OFFSET = 0.3, 0.03, 0.02  # of a section, of its cross-section, of the tendons [m]
PULL = 5.0  # [N]
DURATION = 1.0  # [s]
INPUTS = {"near_1": PULL, "far_1": PULL}


@dataclass
class Result:
    hanging: ag.Equilibrium
    run: ag.Trajectory
    settled: ag.Equilibrium
    tip: ag.Frame


def build(modes=4, intervals=None):
    """Return the robot and the frame of its tip; tendons are "near_1" to "near_3" and "far_1" to "far_3"."""
    rubber = ag.Material(young=1e6, poisson=0.49, density=1000, damping=0.01)
    strains = ag.extensible_kirchhoff(modes, twist_modes=2, stretch_modes=2)
    section = ag.Rod(LENGTH, ag.Circle(RADIUS), rubber, strains, intervals=intervals)
    robot = ag.Robot("tendon_arm", gravity=(9.81, 0, 0))  # it hangs along +x
    near = robot.add(section, at=robot.ground, name="near")
    far = robot.add(section, at=near.tip, name="far")
    for k in range(3):
        for name, rods, turn in (("near", near, 0.0), ("far", (near, far), np.pi / 2)):
            angle = turn + 2 * np.pi * k / 3
            path = ag.parallel(y=OFFSET * np.cos(angle), z=OFFSET * np.sin(angle))
            robot.actuate(f"{name}_{k + 1}", ag.Tendon(rods, path))
    return robot, far.tip


def main(modes=4, intervals=None, dt=0.005):
    robot, tip = build(modes, intervals)
    hanging = ag.statics(robot)
    run = ag.simulate(robot, duration=DURATION, dt=dt, inputs=INPUTS, start=hanging)
    return Result(hanging, run, ag.statics(robot, inputs=INPUTS), tip)


def figures(folder, result=None):
    result = result or main()
    run, end = result.run, result.settled
    ag.plot(run).savefig(Path(folder) / "tendon_arm.png", dpi=70)
    with figure_style():
        fig = figure(9.0, 3.4)
        left, right = fig.subplots(1, 2)
        for k, name in enumerate("xyz"):
            place = run.position(result.tip)[:, k] - result.hanging.position(result.tip)[k]
            left.plot(run.t, 1e3 * place, color=COLOURS[k], label=name)
            goal = end.position(result.tip)[k] - result.hanging.position(result.tip)[k]
            left.axhline(1e3 * goal, color=COLOURS[k], lw=0.8, ls=":")
        for k, name in enumerate(run.robot.actuators):
            change = 1e3 * (run.length(name) - result.hanging.length(name))
            style = "-" if name in INPUTS else "--"
            right.plot(run.t, change, style, color=COLOURS[k % len(COLOURS)], lw=1.4, label=name.replace("_", " "))
        left.set(xlabel="t [s]", ylabel="[mm]", ylim=(-5, 32), title="Way of the tip (dotted: where it settles)")
        right.set(xlabel="t [s]", ylabel="[mm]", title="Change of tendon length inside the arm")
        left.legend(frameon=False, ncols=3, loc="upper left")
        right.legend(frameon=False, ncols=3, fontsize=8, loc="lower right")
        right.set_ylim(-4.4, 0.4)
        fig.savefig(Path(folder) / "tendon_arm_lengths.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.run)
    print(f"tip after {DURATION:g} s: {result.run.position(result.tip)[-1].round(4)} m", end=", ")
    print(f"settled: {result.settled.position(result.tip).round(4)} m")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figures(folder, result)
    print(ag.animate(result.run, folder / "tendon_arm.html"))
