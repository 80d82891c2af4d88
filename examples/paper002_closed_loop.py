"""Closed loop of paper 002 on a bellows trunk: set points, an unknown push, poor sensors and valves, robustness.

The controller believes in a trunk that is softer than the real one. It reads six strings with a coarse scale, estimates the
shape with its forward model, and corrects the pressures by a PI law in sensor space (figures 16 to 18) with the gains of the
paper. A second set point comes, then a force that nobody announces.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla import control, fem
from anguilla.view.style import COLOURS, figure, figure_style

KP, KI = 0.14, 0.0003
SECOND, PUSH, STEPS = 50, 100, 150  # when the second set point and the push come, and the end [control steps]
LENGTH = 0.206


@dataclass
class Result:
    run: control.Run
    clean: control.Run
    gamma: float
    exact: float


def build(young, push=0.0):
    mesh = fem.trunk(folds=2)
    body = fem.SoftBody("trunk", mesh, ag.Material(young=young, poisson=0.3, density=1200), gravity=(-9.81, 0, 0))
    body.fix("base")
    for k in range(6):
        body.actuate(f"p{k + 1}", fem.Chamber(f"chamber_{k + 1}", pressure=(0.0, 1.5e5)))
        angle = 2 * np.pi / 3 * (k % 3)
        ends = np.array([0.0, LENGTH / 2]) + (k // 3) * LENGTH / 2
        radii = 0.036 - 0.006 * ends / LENGTH
        body.sense(
            f"l{k + 1}",
            fem.String([(r * np.cos(angle), r * np.sin(angle), z) for r, z in zip(radii, ends, strict=True)]),
        )
    body.effector("tip", fem.Effector((0, 0, LENGTH), radius=0.045))
    if push:
        body.load(fem.PointForce((0.03, 0, LENGTH), (0, push, 0)))
    return body


def set_points():
    """Lengths of the real trunk at two sets of pressures [Pa]: they can be reached."""
    system = fem.SoftSystem(build(2.4e6))
    rows = []
    for pressures in ((4e4, 1e4, 2e4, 1e4, 3e4, 2e4), (1e4, 3e4, 1e4, 4e4, 1e4, 2e4)):
        eq = fem.statics(system, inputs={f"p{k + 1}": p for k, p in enumerate(pressures)})
        rows.append(system.readings(eq.state))
    return rows


def loop(goals, steps, **faults):
    own, real, pushed = (fem.SoftModel(body) for body in (build(2e6), build(2.4e6), build(2.4e6, push=1.5)))
    own.relax()
    real.relax()

    def disturb(k, plant):
        if k == PUSH:
            pushed.restore(plant.model.remember())
            plant.model = pushed
            pushed.relax()

    regulator = control.SensorControl(own, kp=KP, ki=KI)
    return control.run_loop(
        regulator, control.Plant(real, **faults), [(0, goals[0]), (SECOND, goals[1])], steps, disturb=disturb
    )


def main(steps=STEPS):
    goals = set_points()
    clean = loop(goals, steps)
    run = loop(goals, min(steps, PUSH), noise=2e-5, resolution=2e-4, dead_zone=300.0, delay=1)
    exact = control.exact_gamma(KP, KI)
    try:
        gamma = control.robust_gamma(KP, KI).gamma
    except ag.DescriptionError:  # the extra `robust` is not installed
        gamma = exact
    return Result(run, clean, gamma, exact)


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.6, 3.3)
        left, right = fig.subplots(1, 2, sharey=True)
        for ax, run, title in (
            (left, result.clean, "Perfect sensors; pushed after 100 steps (figure 18)"),
            (right, result.run, "Coarse sensors, dead zone, delay (figure 17)"),
        ):
            for k in range(6):
                ax.plot(1e3 * run.measured[:, k], lw=1.2, color=COLOURS[k], label=f"l{k + 1}")
                ax.plot(1e3 * run.goals[:, k], ":", lw=0.9, color=COLOURS[k])
            ax.set(xlabel="control step", title=title)
        left.set_ylabel("length [mm]")
        right.legend(frameon=False, fontsize=7, ncols=2)
        fig.savefig(Path(folder) / "closed_loop.png", dpi=100)


if __name__ == "__main__":
    result = main()
    error = np.abs(result.clean.lengths - result.clean.goals).max(axis=1)
    print(f"largest error [mm]: at once {1e3 * error[0]:.3f}, step 49 {1e3 * error[49]:.4f}, pushed {1e3 * error[PUSH]:.3f}, "
          f"end {1e3 * error[-1]:.4f}")  # fmt: skip
    print(f"settling (5 %): {result.clean.settling(0, SECOND)} and {result.clean.settling(SECOND, PUSH)} steps")
    rough = np.abs(result.run.lengths - result.run.goals).max(axis=1)
    print(f"poor plant: largest error of the last ten steps {1e3 * rough[-10:].max():.3f} mm")
    print(
        f"largest gamma: {result.gamma:.6f} by matrix inequality, {result.exact:.6f} exactly; 002 (54) prints 0.98685"
    )
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
