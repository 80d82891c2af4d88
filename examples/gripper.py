"""Three soft fingers, each bent by a tendon, grasp a ball, lift it, turn it, hold it and let it go.

The fingers touch the ball all along, with friction that holds: the ball does not creep. The palm goes up and turns by given
motions of its joints; the ball is a free body on a table. With a tenth of the friction it stays on the table.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

FINGER, THICK, APART = 0.12, 0.006, 0.045  # length and radius of a finger, distance from the middle [m]
BALL, MASS = 0.03, 0.03  # radius [m] and mass [kg]
LIFT, TURN, PULL = 0.08, 1.0, 4.0  # of the palm [m], [rad]; of each tendon [N]
GRASP, RAISE, TWIST, RELEASE = (0.0, 0.7), (1.0, 2.0), (2.0, 3.0), (6.0, 6.5)  # from, until [s]
DURATION, STEP = 7.5, 4e-3  # [s]
FRICTION = 0.8


@dataclass
class Result:
    runs: tuple[ag.Trajectory, ag.Trajectory]  # with friction, and with a tenth of it
    ball: ag.BodyHandle
    forces: np.ndarray  # of each finger on the ball (3, time, 3) [N]


def smoothly(t, when):
    """From 0 to 1 between two instants."""
    s = np.clip((t - when[0]) / (when[1] - when[0]), 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def pose(place, rotation=None):
    out = np.eye(4)
    out[:3, 3] = place
    if rotation is not None:
        out[:3, :3] = rotation
    return out


def gripper(friction):
    """The robot and its ball."""
    robot = ag.Robot("gripper")
    silicone = ag.Material(young=1.5e6, density=1100.0, poisson=0.5, damping=0.02)
    up = ag.Prismatic((0, 0, 1), motion=lambda t: LIFT * smoothly(t, RAISE))
    around = ag.Revolute((0, 0, 1), motion=lambda t: TURN * smoothly(t, TWIST))
    slide = robot.add(
        ag.RigidBody.box((0.02, 0.02, 0.02), mass=0.1), at=robot.ground, joint=up, pose=pose((0, 0, 0.125))
    )
    palm = robot.add(ag.RigidBody.box((0.1, 0.1, 0.01), mass=0.2), at=slide.frame, joint=around, name="palm")
    resting = pose((0, 0, BALL))
    ball = robot.add(ag.RigidBody.sphere(BALL, mass=MASS), at=robot.ground, joint=ag.Free(), pose=resting, name="ball")
    for k in range(3):
        out = np.array([np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3), 0.0])
        down = np.array([0.0, 0.0, -1.0])
        axes = np.stack([down, -out, np.cross(down, -out)], axis=1)  # along the finger, inwards, sideways
        rod = ag.Rod(FINGER, ag.Circle(THICK), silicone, ag.strains.kirchhoff(3))
        finger = robot.add(rod, at=palm.frame, pose=pose(APART * out, axes), name=f"finger{k}")
        robot.actuate(f"tendon{k}", ag.Tendon(finger, ag.routings.parallel(y=0.004)))
        robot.load(ag.Contact(finger, ball, friction=friction, damping=1.0, name=f"touch{k}"))
    robot.load(ag.Contact(ball, ag.HalfSpace(), 5e3, friction=0.5, damping=2.0, name="table"))
    return robot, ball


def pull(t):
    """Tension of each tendon [N]."""
    return PULL * smoothly(t, GRASP) * (1.0 - smoothly(t, RELEASE))


def main():
    runs = []
    for friction in (0.1 * FRICTION, FRICTION):
        robot, ball = gripper(friction)
        runs.append(ag.simulate(robot, duration=DURATION, dt=STEP, inputs=dict.fromkeys(robot.actuators, pull)))
    forces = [runs[1].contacts(robot.loads[k]).force for k in range(3)]
    return Result((runs[1], runs[0]), ball, np.array(forces))


def figures(folder, result=None):
    result = result or main()
    run, slipping = result.runs
    with figure_style():
        fig = figure(9.5, 3.4)
        left, right = fig.add_subplot(1, 2, 1), fig.add_subplot(1, 2, 2)
        for one, label, colour in (
            (run, f"friction {FRICTION}", COLOURS[0]),
            (slipping, f"{0.1 * FRICTION:.2f}", COLOURS[1]),
        ):
            left.plot(one.t, 100 * one.position(one.robot.part("ball").frame)[:, 2], color=colour, label=label)
        left.set(xlabel="t [s]", ylabel="height of the ball [cm]", title="Grasp, lift, turn, hold, release")
        left.legend(frameon=False)
        for k, force in enumerate(result.forces):
            right.plot(run.t, np.linalg.norm(force, axis=1), color=COLOURS[k], label=f"finger {k + 1}")
        right.plot(run.t, result.forces.sum(axis=0)[:, 2], color="#8A94A0", label="all, upwards")
        right.set(xlabel="t [s]", ylabel="force on the ball [N]", title="What the fingers give")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "gripper.png", dpi=110)


if __name__ == "__main__":
    result = main()
    run, slipping = result.runs
    height = run.position(run.robot.part("ball").frame)[:, 2]
    held = (run.t > TWIST[1] + 0.5) & (run.t < RELEASE[0])
    print(run)
    print(
        f"the ball is lifted to {100 * height[held][-1]:.2f} cm and creeps by {1e9 * np.ptp(height[held][-200:]):.1f} nm"
    )
    print(f"the fingers carry {result.forces[:, held].sum(axis=0)[-1, 2]:.6f} N, its weight is {9.81 * MASS:.6f} N")
    low = slipping.position(slipping.robot.part("ball").frame)[:, 2].max()
    print(f"with a tenth of the friction it gets no higher than {100 * low:.2f} cm")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figures(folder, result)
    ag.animate(run, folder / "gripper.html")
