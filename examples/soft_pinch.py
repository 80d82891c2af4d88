"""Two soft fingers pinch a soft ball and lift it: three soft volumes that touch each other, with friction.

The jaws of a hand press the fingers onto the ball, which lies on a floor; they give way and bend. Then the hand goes up. At
rest the ball hangs between the fingers by friction alone: what they give to it is its weight. With a tenth of the friction it
is left behind.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, WIDTH, GAP, RADIUS = 0.06, 0.014, 0.016, 0.014  # of fingers; between the middle and a finger; of the ball [m]
FRICTION, TRAVEL, RISE = 0.6, 0.01, 0.03  # [-]; of the jaws, of the hand [m]
CLOSE, LIFT, DURATION = 0.25, 0.6, 0.7  # when the fingers are closed, when the hand is up, and the end [s]
SILICONE = ag.Material(young=2e5, poisson=0.4, density=1070, damping=0.02)
FOAM = ag.Material(young=6e4, poisson=0.3, density=300, damping=0.05)


@dataclass
class Result:
    run: ag.Trajectory
    held: ag.Equilibrium | None  # at rest after the motion
    height: np.ndarray  # of the ball above the floor (time,) [m]
    force: np.ndarray  # of the two fingers on the ball (time, 2, 3) [N]
    contacts: list  # of the ball with the fingers and with the floor


def ramp(t, a, b):
    """From 0 at a to 1 at b, without a jump of speed or acceleration."""
    s = float(np.clip((t - a) / (b - a), 0.0, 1.0))
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def ball_mesh(cells):
    """A cube, blown up to a ball."""
    mesh = ag.fem.block((2.0, 2.0, 2.0), (cells,) * 3)
    x = mesh.points - [1.0, 0.0, 0.0]
    size = np.linalg.norm(x, axis=1, keepdims=True)
    places = RADIUS * x * np.abs(x).max(axis=1, keepdims=True) / np.maximum(size, 1e-12)
    return ag.fem.TetMesh(places, mesh.tets)


def build(friction=FRICTION, cells=(10, 2, 2), ball=4):
    robot = ag.Robot("soft_pinch")
    rise = lambda t: RISE * ramp(t, CLOSE, LIFT)
    hand = robot.add(
        ag.RigidBody.box((0.02, 0.06, 0.01), mass=0.05), at=robot.ground, joint=ag.Prismatic((0, 0, 1), motion=rise),
        pose=(0, 0, LENGTH - 0.6 * RADIUS), name="hand",
    )  # fmt: skip
    soft = robot.add(ag.Volume(ball_mesh(ball), FOAM, name="ball"), at=robot.ground)
    soft.frame("core", lambda x: np.linalg.norm(x, axis=1) < 0.6 * RADIUS)
    fingers = []
    for side, name in ((1.0, "left"), (-1.0, "right")):
        close = ag.Prismatic((0, 1, 0), motion=lambda t, side=side: -side * TRAVEL * ramp(t, 0.0, CLOSE))
        jaw = robot.add(ag.RigidBody(0.01), at=hand.frame, joint=close, name=f"{name}_jaw")
        finger = ag.Volume(ag.fem.block((LENGTH, WIDTH, WIDTH), cells), SILICONE, name=name)
        pose = np.eye(4)  # along -z, its lower side towards the middle
        pose[:3, :3] = np.column_stack([(0, 0, -1), (0, side, 0), (side, 0, 0)])
        pose[:3, 3] = 0.0, side * (GAP + 0.5 * WIDTH), 0.0
        fingers.append(robot.add(finger, at=jaw.frame, pose=pose, patch="base"))
    law = {"friction": friction, "damping": 1.0}
    contacts = [robot.load(ag.Contact(soft, finger, friction=friction, damping=1.0)) for finger in fingers]
    contacts.append(robot.load(ag.Contact(soft, ag.HalfSpace(offset=-RADIUS), **law)))
    return robot, contacts


def main(friction=FRICTION, dt=5e-3, duration=DURATION, settle=True, **options):
    robot, contacts = build(friction, **options)
    run = ag.simulate(robot, duration=duration, dt=dt, method=ag.GeneralisedAlpha(0.6))
    held = ag.statics(robot, start=run, t=duration) if settle else None
    height = run.volume("ball").x.mean(axis=1)[:, 2]
    force = -np.stack([run.contacts(contact).force for contact in contacts[:2]], axis=1)
    return Result(run, held, height - height[0], force, contacts)


def figures(folder, result=None):
    result = result or main()
    run = result.run
    with figure_style():
        fig = figure(11.0, 4.0)
        for k, t in enumerate((0.0, CLOSE, run.t[-1])):
            ax = fig.add_subplot(1, 4, k + 1, projection="3d")
            draw(ax, result, round(t / run.t[-1] * (len(run.t) - 1)))
            ax.set(title=f"t = {t:.2g} s")
        right = fig.add_subplot(1, 4, 4)
        right.plot(run.t, -result.force[:, 0, 1], color=COLOURS[0], label="left finger pushes [N]")
        right.plot(run.t, result.force[:, 1, 1], "--", color=COLOURS[1], label="right finger pushes [N]")
        right.plot(run.t, result.force[:, :, 2].sum(axis=1), color="k", label="both carry [N]")
        right.plot(run.t, 10 * result.height, color=COLOURS[3], label="height of the ball [dm]")
        right.set(xlabel="t [s]", title="on the ball")
        right.legend(frameon=False, fontsize=7, loc="upper left")
        fig.savefig(Path(folder) / "soft_pinch.png", dpi=80)


def draw(ax, result, k):
    """The skins of the volumes, and the forces of the fingers on the ball."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    run = result.run
    for volume, colour in zip(run.robot.volumes, (COLOURS[1], COLOURS[4], COLOURS[4]), strict=True):
        soft = run.volume(volume)
        faces = soft.system.grid.refine(volume.volume.mesh.boundary)
        ax.add_collection3d(Poly3DCollection(soft.x[k][faces], facecolor=colour, edgecolor="k", lw=0.1, alpha=0.6))
    for contact in result.contacts[:2]:
        found = run.contact_points(contact)[k]
        ax.quiver(*(found.place + 0.3 * found.force).T, *(-0.3 * found.force).T, color="r", lw=1.0)
    ax.set(xlim=(-0.03, 0.03), ylim=(-0.04, 0.04), zlim=(-0.015, 0.09), xticks=[], yticks=[], zticks=[])
    ax.set_box_aspect((0.6, 0.8, 1.05), zoom=1.3)
    ax.view_init(6, -12)


if __name__ == "__main__":
    result = main()
    print(result.run)
    print(f"lifted by {1e3 * result.height[-1]:.1f} mm")
    carried = -sum(result.held.contacts(contact).force for contact in result.contacts[:2])
    weight = 9.81 * result.run.robot.volumes[0].volume.mesh.volume * FOAM.density
    print(f"at rest the fingers carry {carried[2]:.5f} N of {weight:.5f} N")
    slipped = main(0.1 * FRICTION, settle=False)
    print(f"with a tenth of the friction it is lifted by {1e3 * slipped.height[-1]:.1f} mm")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
