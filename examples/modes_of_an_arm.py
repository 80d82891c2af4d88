"""Vibrations of a soft arm that hangs down and is pulled by a tendon: frequencies, damping, shapes, and a controller's model.

The frequencies of the hanging arm are followed as the tendon bends it. The linear model at one of those shapes is compared
with the simulated motion after a small step of the tension.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, RADIUS, OFFSET = 0.4, 0.015, 0.01  # of the arm, of its cross-section, of the tendon [m]
PULLS = np.linspace(0.0, 12.0, 9)  # [N]
STEP = 0.02  # of the tension [N]


@dataclass
class Result:
    modes: list[ag.Modes]  # at each of PULLS
    model: ag.LinearModel  # at the last
    t: np.ndarray  # [s]
    linear: np.ndarray  # way of the tip (time, 3) [m]: linear model
    simulated: np.ndarray  # and simulation


def build(modes=5):
    """Return the arm, with its tendon "pull", and the frame of its tip."""
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000, damping=2e-3)
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))  # it hangs along +x
    arm = robot.add(
        ag.Rod(LENGTH, ag.Circle(RADIUS), rubber, ag.kirchhoff(modes, twist_modes=2)), at=robot.ground, name="arm"
    )
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=OFFSET)))
    return robot, arm.tip


def main(modes=5, dt=0.005, steps=100):
    robot, tip = build(modes)
    at = [ag.statics(robot, inputs={"pull": pull}) for pull in PULLS]
    found = [ag.modes(robot, eq, count=6) for eq in at]
    model = ag.linearise(robot, at[-1], outputs=tip, dt=dt)
    x, linear = np.zeros(len(model.A)), [np.zeros(3)]
    for _ in range(steps):
        x = model.A @ x + model.B[:, 0] * STEP
        linear.append(model.C @ x)
    run = ag.simulate(robot, duration=steps * dt, dt=dt / 8, every=8, inputs={"pull": PULLS[-1] + STEP}, start=at[-1])
    return Result(found, model, run.t, np.array(linear), run.position(tip) - at[-1].position(tip))


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.0, 3.4)
        left, middle, right = fig.subplots(1, 3)
        table = np.array([m.frequencies for m in result.modes])
        for k in range(table.shape[1]):
            left.plot(PULLS, table[:, k], color=COLOURS[k % len(COLOURS)])
        left.set(xlabel="tension [N]", ylabel="frequency [Hz]", title="Frequencies")
        last = result.modes[-1]
        rod = last.local.result.robot.parts[0]
        for k in range(3):
            run = last.motion(k, amplitude=0.5, instants=5)
            for j in range(3):
                line = run.centerline(rod)[j]
                middle.plot(line[:, 1], -line[:, 0], color=COLOURS[k], lw=1.2 if j != 1 else 0.6)
        middle.set(xlabel="y [m]", ylabel="-x [m]", aspect="equal", title="Modes 0, 1, 2 at 12 N")
        for k, name in enumerate("xyz"):
            right.plot(result.t, 1e6 * result.simulated[:, k], color=COLOURS[k], lw=2.0, label=name)
            right.plot(result.t, 1e6 * result.linear[:, k], "k--", lw=0.8)
        right.set(xlabel="t [s]", ylabel="way of the tip [µm]", title="Step of 20 mN (dashed: linear)")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "modes_of_an_arm.png", dpi=110)


if __name__ == "__main__":
    result = main()
    for pull, m in zip(PULLS, result.modes, strict=True):
        print(f"{pull:5.1f} N:", " ".join(f"{f:7.3f} Hz" for f in m.frequencies))
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figures(folder, result)
    print(ag.animate(result.modes[-1].motion(1), folder / "mode_1.html"))
