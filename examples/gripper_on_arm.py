"""A soft gripper on a rigid arm: two hinges are driven along a path while three tendon fingers close.

The motion of the hinges is prescribed; the torques it takes are results. The fingers swing with the arm, so that the torques
feel them.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

UPPER, FORE, FINGER = 0.3, 0.25, 0.12  # lengths [m]
DURATION, PULL = 1.5, 2.0  # [s], [N]
RUBBER = ag.Material(young=8e5, poisson=0.48, density=1100, damping=0.02)
Y = (0, 1, 0)


@dataclass
class Result:
    run: ag.Trajectory
    fingers: list
    efforts: np.ndarray  # torques of shoulder and elbow (time, 2) [N m]
    opening: np.ndarray  # radius of the circle through the finger tips (time,) [m]
    work: float  # of the hinges over the run [J]


def smooth(t, a, b):
    """From a to b in the first second, without jerks at the ends."""
    x = min(max(t, 0.0), 1.0)
    return a + (b - a) * (x - np.sin(2 * np.pi * x) / (2 * np.pi))


def build():
    robot = ag.Robot("gripper")
    shoulder = ag.Revolute(Y, motion=lambda t: smooth(t, -1.2, -0.3))
    elbow = ag.Revolute(Y, motion=lambda t: smooth(t, 1.6, 1.4))
    bar = lambda length, mass: ag.RigidBody.box((length, 0.04, 0.04), mass=mass, com=(length / 2, 0, 0))
    upper = robot.add(bar(UPPER, 1.0), at=robot.ground, joint=shoulder, name="upper")
    fore = robot.add(bar(FORE, 0.7), at=upper.at((UPPER, 0, 0)), joint=elbow, name="fore")
    palm = robot.add(ag.RigidBody.cylinder(0.04, 0.02, mass=0.15), at=fore.at((FORE, 0, 0)), name="palm")
    rod = ag.Rod(FINGER, ag.taper(ag.Circle(0.009), ag.Circle(0.0055), FINGER), RUBBER, ag.kirchhoff(3, twist_modes=1))
    fingers = []
    for k, angle in enumerate(2 * np.pi * np.arange(3) / 3):
        turn = np.eye(4)  # y of each finger points away from the axis of the palm
        c, s = np.cos(angle), np.sin(angle)
        turn[1:3, 1:3] = [[c, -s], [s, c]]
        turn[:3, 3] = 0.01, 0.03 * c, 0.03 * s
        fingers.append(robot.add(rod, at=palm.at(turn), name=f"finger_{k + 1}"))
        robot.actuate(f"pull_{k + 1}", ag.Tendon(fingers[-1], ag.parallel(y=-0.004)))
    return robot, fingers


def main(dt=2e-3):
    robot, fingers = build()
    pull = lambda t: PULL * smooth(t - 0.3, 0.0, 1.0)
    inputs = {f"pull_{k + 1}": pull for k in range(3)}
    start = ag.statics(robot, inputs=inputs)
    run = ag.simulate(robot, duration=DURATION, dt=dt, inputs=inputs, start=start)
    joints = [robot.part("upper"), robot.part("fore")]
    efforts = np.stack([run.effort(part)[:, 0] for part in joints], axis=1)
    rates = np.stack([run.v[:, run.coordinates.index(f"{part.name}.angle")] for part in joints], axis=1)
    work = float(np.trapezoid(np.sum(efforts * rates, axis=1), run.t))
    tips = np.stack([run.position(finger.tip) for finger in fingers], axis=1)
    opening = np.linalg.norm(tips - tips.mean(axis=1, keepdims=True), axis=2).mean(axis=1)
    return Result(run, fingers, efforts, opening, work)


def figures(folder, result=None):
    result = result or main()
    run, robot = result.run, result.run.robot
    with figure_style():
        fig = figure(9.0, 3.8)
        left, right = fig.subplots(1, 2)
        for shade, k in zip((0.25, 0.45, 0.7, 1.0), np.linspace(0, len(run.t) - 1, 4).astype(int), strict=True):
            arm = np.array(
                [run.position(f)[k] for f in (robot.ground, robot.part("fore").frame, robot.part("palm").frame)]
            )
            left.plot(arm[:, 0], arm[:, 2], "-o", color="k", lw=3, ms=5, alpha=shade)
            for c, finger in enumerate(result.fingers):
                line = run.centerline(finger, 30)[k]
                left.plot(line[:, 0], line[:, 2], color=COLOURS[c], lw=2.5, alpha=shade)
        left.set(xlabel="x [m]", ylabel="z [m]", title="The arm reaches out, the fingers close")
        left.set_aspect("equal")
        for k, name in enumerate(("shoulder", "elbow")):
            right.plot(run.t, result.efforts[:, k], color=COLOURS[k], label=f"torque of the {name} [N m]")
        right.plot(run.t, 100 * result.opening, color=COLOURS[2], label="opening of the fingers [cm]")
        right.set(xlabel="t [s]", title="What it takes", ylim=(-6, 6))
        right.legend(frameon=False, loc="upper right")
        fig.savefig(Path(folder) / "gripper_on_arm.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.run)
    print(f"torques up to {np.abs(result.efforts).max(axis=0).round(2)} N m, work {result.work:.3f} J")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
