"""Three silicone fingers on a tendon arm: soft volumes with chambers, a rigid palm and a rod in one robot.

The arm hangs from the ceiling. Its tendons aim the gripper, air in the chambers closes the fingers: at rest for growing
pressures, then both at once in motion.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

ARM, FINGER, PALM = 0.3, 0.1, 0.03  # lengths of arm and fingers, radius of the circle of their roots [m]
PRESSURES = (0.0, 6e3, 12e3, 18e3)  # [Pa]
PULL, DURATION = 4.0, 0.6  # [N], [s]
CORE = ag.Material(young=1.5e7, poisson=0.4, density=1200, damping=0.02)
SILICONE = ag.Material(young=1.2e5, poisson=0.4, density=1070, damping=0.02)


@dataclass
class Result:
    shapes: list  # equilibria of the arm with closing fingers
    run: ag.Trajectory  # arm and fingers in motion
    opening: np.ndarray  # radius of the circle through the finger tips at rest (pressures,) [m]
    fingers: list
    palm: ag.BodyHandle


def turned(angle):
    """Pose of a finger in the palm: along x, its lower side towards the axis."""
    c, s = np.cos(angle), np.sin(angle)
    pose = np.eye(4)
    pose[:3, 1], pose[:3, 2] = (0.0, s, -c), (0.0, c, s)
    pose[:3, 3] = 0.01, PALM * c, PALM * s
    return pose


def build():
    robot = ag.Robot("silicone_gripper")
    down = np.eye(4)
    down[:3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    arm = robot.add(ag.Rod(ARM, ag.Circle(0.008), CORE, ag.kirchhoff(3)), at=robot.ground, pose=down, name="arm")
    for k, angle in enumerate(2 * np.pi * np.arange(3) / 3):
        robot.actuate(f"pull_{k + 1}", ag.Tendon(arm, ag.parallel(y=0.012 * np.cos(angle), z=0.012 * np.sin(angle))))
    palm = robot.add(ag.RigidBody.cylinder(PALM + 0.01, 0.01, mass=0.05, com=(0.005, 0, 0)), at=arm.tip, name="palm")
    fingers = []
    for k, angle in enumerate(2 * np.pi * np.arange(3) / 3):
        finger = ag.Volume(
            ag.fem.finger((FINGER, 0.02, 0.02), wall=2e-3, offset=3e-3, cells=(10, 1, 1)),
            SILICONE,
            name=f"finger_{k + 1}",
        )
        finger.actuate("air", ag.fem.Chamber("chamber"))
        finger.effector("tip", (FINGER, 0.0, 0.0))
        fingers.append(robot.add(finger, at=palm.at(turned(angle)), patch="base"))
    return robot, fingers, palm


def air(pressure):
    """The same pressure in all fingers, as inputs."""
    return {f"finger_{k + 1}.air": pressure for k in range(3)}


def main(dt=2e-2):
    robot, fingers, palm = build()
    shapes, last = [], None
    for pressure in PRESSURES:
        last = ag.statics(robot, inputs=air(pressure), start=last)
        shapes.append(last)
    tips = np.array([[shape.volume(finger).position("tip") for finger in fingers] for shape in shapes])
    opening = np.linalg.norm((tips - tips.mean(axis=1, keepdims=True))[..., :2], axis=2).mean(axis=1)
    ramp = lambda t: min(t / (0.5 * DURATION), 1.0)
    inputs = air(lambda t: PRESSURES[-1] * ramp(t)) | {"pull_1": lambda t: PULL * ramp(t)}
    run = ag.simulate(robot, duration=DURATION, dt=dt, inputs=inputs, start=shapes[0], method=ag.GeneralisedAlpha(0.6))
    return Result(shapes, run, opening, fingers, palm)


def draw(ax, state, result, colour, k=None):
    """The arm as a line, the skins of the fingers as surfaces; k is an instant of a motion."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    line = state.centerline(state.robot.part("arm"))
    ax.plot(*(line if k is None else line[k]).T, color="k", lw=4)
    for finger in result.fingers:
        soft = state.volume(finger)
        x = soft.x if k is None else soft.x[k]
        faces = soft.system.grid.refine(finger.volume.mesh.boundary)
        ax.add_collection3d(Poly3DCollection(x[faces], facecolor=colour, edgecolor="k", lw=0.1, alpha=0.9))


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.0, 3.6)
        views = [fig.add_subplot(1, 3, k + 1, projection="3d") for k in range(2)]
        draw(views[0], result.shapes[0], result, COLOURS[4])
        draw(views[1], result.run, result, COLOURS[1], -1)
        for ax, title in zip(views, ("hanging, no air", "pulled and closed"), strict=True):
            ax.set(xlim=(-0.1, 0.1), ylim=(-0.1, 0.1), zlim=(-0.45, 0.0), title=title, xticks=[], yticks=[])
            ax.set_box_aspect((1, 1, 2.25), zoom=1.2)
            ax.view_init(12, -60)
        right = fig.add_subplot(1, 3, 3)
        right.plot(np.array(PRESSURES) / 1e3, 1e3 * result.opening, "-o", color=COLOURS[0])
        right.set(xlabel="pressure [kPa]", ylabel="opening of the finger tips [mm]", title="at rest")
        fig.savefig(Path(folder) / "silicone_gripper.png", dpi=80)


if __name__ == "__main__":
    result = main()
    print(result.run)
    print(f"opening {(1e3 * result.opening).round(1)} mm at {np.array(PRESSURES) / 1e3} kPa")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
