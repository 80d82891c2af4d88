"""A silicone gripper on a tendon arm grasps a ball and lifts it: three soft fingers with chambers, contact with friction.

The ball rests on a soft mat. Air closes the fingers around it, a tendon bends the arm and lifts it off the mat. Then it hangs
in the fingers by friction alone: at rest the forces of the fingers balance its weight. With a tenth of the friction it
slips out.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

ARM, FINGER, PALM, BALL = 0.3, 0.1, 0.036, 0.025  # lengths of arm and fingers, radii of palm and ball [m]
MASS, FRICTION = 0.02, 0.8  # [kg], [-]
PRESSURE, PULL = 18e3, 25.0  # [Pa], [N]
CLOSE, LIFT, DURATION = 0.4, 1.2, 1.8  # when the fingers are closed, when the arm is bent, and the end [s]
CORE = ag.Material(young=1.5e7, poisson=0.4, density=1200, damping=0.5)
SILICONE = ag.Material(young=1.2e5, poisson=0.4, density=1070, damping=0.02)


@dataclass
class Result:
    run: ag.Trajectory
    held: ag.Equilibrium | None  # at rest after the motion
    height: np.ndarray  # of the ball above the mat (time,) [m]
    force: np.ndarray  # of fingers and mat on the ball (time, 4, 3) [N]
    fingers: list
    ball: ag.BodyHandle
    contacts: list  # of the three fingers and of the mat with the ball


def turned(angle):
    """Pose of a finger in the palm: along x, its lower side towards the axis."""
    c, s = np.cos(angle), np.sin(angle)
    pose = np.eye(4)
    pose[:3, 1], pose[:3, 2] = (0.0, s, -c), (0.0, c, s)
    pose[:3, 3] = 0.01, PALM * c, PALM * s
    return pose


def build(friction=FRICTION, cells=(10, 1, 1)):
    robot = ag.Robot("silicone_grasp")
    down = np.eye(4)
    down[:3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    arm = robot.add(ag.Rod(ARM, ag.Circle(0.008), CORE, ag.kirchhoff(3)), at=robot.ground, pose=down, name="arm")
    for k, angle in enumerate(2 * np.pi * np.arange(3) / 3):
        robot.actuate(f"pull_{k + 1}", ag.Tendon(arm, ag.parallel(y=0.012 * np.cos(angle), z=0.012 * np.sin(angle))))
    palm = robot.add(ag.RigidBody.cylinder(PALM + 0.01, 0.01, mass=0.05, com=(0.005, 0, 0)), at=arm.tip, name="palm")
    middle = -ARM - 0.01 - 0.7 * FINGER  # height of the ball
    place = np.eye(4)
    place[2, 3] = middle
    ball = robot.add(ag.RigidBody.sphere(BALL, mass=MASS), at=robot.ground, joint=ag.Free(), pose=place, name="ball")
    mat = ag.Volume(ag.fem.block((0.03, 0.03, 0.01), (3, 3, 1)), SILICONE, name="mat")
    under = np.eye(4)
    under[:3, 3] = -0.015, 0.0, middle - BALL - 0.005
    mat = robot.add(mat, at=robot.ground, pose=under)
    mat.clamp(lambda x: x[:, 2] < -0.005 + 1e-9, robot.ground)
    fingers = []
    for k, angle in enumerate(2 * np.pi * np.arange(3) / 3):
        mesh = ag.fem.finger((FINGER, 0.02, 0.02), wall=2e-3, offset=3e-3, cells=cells)
        finger = ag.Volume(mesh, SILICONE, name=f"finger_{k + 1}")
        finger.actuate("air", ag.fem.Chamber("chamber"))
        fingers.append(robot.add(finger, at=palm.at(turned(angle)), patch="base"))
    contacts = [robot.load(ag.Contact(soft, ball, friction=friction, damping=1.0)) for soft in (*fingers, mat)]
    return robot, fingers, ball, contacts


def inputs():
    """Air closes the fingers, then a tendon bends the arm."""
    ramp = lambda t, a, b: float(np.sin(0.5 * np.pi * np.clip((t - a) / (b - a), 0.0, 1.0)) ** 2)
    air = {f"finger_{k + 1}.air": lambda t: PRESSURE * ramp(t, 0.0, CLOSE) for k in range(3)}
    return air | {"pull_1": lambda t: PULL * ramp(t, CLOSE, LIFT)}


def main(friction=FRICTION, dt=5e-3, duration=DURATION, settle=True):
    robot, fingers, ball, contacts = build(friction)
    run = ag.simulate(robot, duration=duration, dt=dt, inputs=inputs(), method=ag.GeneralisedAlpha(0.6))
    end = {name: value(duration) for name, value in inputs().items()}
    held = ag.statics(robot, inputs=end, start=run) if settle else None
    height = run.position(ball.frame)[:, 2]
    force = np.stack([run.contacts(contact).force for contact in contacts], axis=1)
    return Result(run, held, height - height[0], force, fingers, ball, contacts)


def figures(folder, result=None):
    result = result or main()
    run = result.run
    with figure_style():
        fig = figure(11.0, 4.2)
        for k, t in enumerate((0.0, CLOSE, run.t[-1])):
            ax = fig.add_subplot(1, 4, k + 1, projection="3d")
            draw(ax, result, round(t / run.t[-1] * (len(run.t) - 1)))
            ax.set(title=f"t = {t:.2g} s")
        right = fig.add_subplot(1, 4, 4)
        size = np.linalg.norm(result.force, axis=2)
        for k in range(3):
            right.plot(run.t, size[:, k], color=COLOURS[k], label=f"finger {k + 1} [N]")
        right.plot(run.t, size[:, 3], color="k", label="mat [N]")
        right.plot(run.t, 10 * result.height, "--", color=COLOURS[3], label="height of the ball [dm]")
        right.set(xlabel="t [s]", title="on the ball", ylim=(-0.05, 1.05))
        right.legend(frameon=False, fontsize=7, loc="upper right")
        fig.savefig(Path(folder) / "silicone_grasp.png", dpi=80)


def draw(ax, result, k):
    """The arm as a line, the ball and the skins of the volumes as surfaces, forces on the ball as arrows."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    run = result.run
    line = run.centerline(run.robot.part("arm"))[k]
    ax.plot(*line[line[:, 2] < -0.18].T, color="k", lw=5)
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 24), np.linspace(0, np.pi, 13))
    ball = BALL * np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
    ax.plot_surface(*(ball + run.position(result.ball.frame)[k][:, None, None]), color=COLOURS[1], alpha=0.9)
    for volume in run.robot.volumes:
        soft = run.volume(volume)
        faces = soft.system.grid.refine(volume.volume.mesh.boundary)
        ax.add_collection3d(Poly3DCollection(soft.x[k][faces], facecolor=COLOURS[4], edgecolor="k", lw=0.1, alpha=0.6))
    for contact in result.contacts:
        found = run.contact_points(contact)[k]
        ax.quiver(*(found.place - 0.15 * found.force).T, *(0.15 * found.force).T, color="r", lw=1.5)
    ax.set(xlim=(-0.07, 0.13), ylim=(-0.1, 0.1), zlim=(-0.43, -0.18), xticks=[], yticks=[], zticks=[])
    ax.set_box_aspect((1, 1, 1.25), zoom=1.4)
    ax.view_init(8, -75)


if __name__ == "__main__":
    result = main()
    print(result.run)
    print(f"lifted by {1e3 * result.height[-1]:.0f} mm")
    total = sum(result.held.contacts(contact).force for contact in result.contacts)
    print(f"at rest the fingers carry {total[2]:.4f} N of {9.81 * MASS:.4f} N")
    slipped = main(0.1 * FRICTION, settle=False)
    print(f"with a tenth of the friction it is left {1e3 * (result.height[-1] - slipped.height[-1]):.0f} mm below")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
