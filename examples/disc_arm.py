"""A tendon arm of thirty discs: the tendons run straight from disc to disc, and the backbone between them is free to bend.

The backbone is a thin spring-steel rod; discs of plastic, clamped to it at equal distances, guide three tendons at a third
of a turn from each other. Arms of this kind are often computed as if their tendons followed the backbone at a fixed
distance. Between the discs a real tendon takes the chord: it comes nearer to a bent backbone. The more discs, the smaller
the difference; it goes with the square of their distance.

Every piece of the backbone is a rod of its own, and every disc a rigid body: sixty parts in one chain, with tendons that
touch all of them.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, FAINT, figure, figure_style

LENGTH, RADIUS, OFFSET = 0.6, 1e-3, 0.012  # of the arm, of the backbone, of the tendons from it [m]
STEEL = {"young": 60e9, "density": 6500.0, "poisson": 0.3}
DISC = {"radius": 0.015, "length": 0.002, "density": 1200.0}
PULLS = {"tendon_1": 8.0, "tendon_2": 4.0}  # [N]
COUNTS = (6, 10, 15, 20, 30)  # numbers of discs that are compared
SMALL = {"discs": 8, "counts": (8, 16)}  # what the tests run


@dataclass
class Result:
    arm: ag.Equilibrium
    discs: int
    counts: tuple
    tips: np.ndarray  # of arms with as many discs (counts, 3) [m]
    continuous: np.ndarray  # tip of an arm whose tendons follow the backbone (3,) [m]


def places():
    """Of the three tendons in the plane of a disc (3, 2) [m]."""
    angles = 2 * np.pi * np.arange(3) / 3
    return OFFSET * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def build(discs=30, modes=2, twist=1, *, disc=None, gravity=(9.81, 0, 0)):
    """The arm, hanging along +x, and its discs; tendons are "tendon_1" to "tendon_3"."""
    strains = ag.kirchhoff(modes, twist_modes=twist)
    piece = ag.Rod(LENGTH / discs, ag.Circle(RADIUS), ag.Material(**STEEL), strains)
    disc = disc or ag.RigidBody.cylinder(**DISC)
    robot = ag.Robot("disc_arm", gravity=gravity)
    bodies, at = [], robot.ground
    for k in range(discs):
        backbone = robot.add(piece, at=at, name=f"piece_{k + 1}")
        bodies.append(robot.add(disc, at=backbone.tip, name=f"disc_{k + 1}"))
        at = bodies[-1].frame
    for k, (y, z) in enumerate(places()):
        holes = [robot.ground.offset_by((0, y, z)), *(body.at((0, y, z)) for body in bodies)]
        robot.actuate(f"tendon_{k + 1}", ag.Tendon(holes, ()))
    return robot, bodies


def continuous(modes=8, twist=2, *, weight=0.0, gravity=(9.81, 0, 0)):
    """The arm with tendons that follow its backbone, and the frame of its tip; the mass of its discs is spread evenly.

    weight: mass of the discs [kg].
    """
    circle = ag.Circle(RADIUS)
    area = np.pi * RADIUS**2
    steel = ag.Material(**{**STEEL, "density": STEEL["density"] + weight / (area * LENGTH)})
    rod = ag.Rod(LENGTH, circle, steel, ag.kirchhoff(modes, twist_modes=twist))
    robot = ag.Robot("smooth_arm", gravity=gravity)
    arm = robot.add(rod, at=robot.ground, name="arm")
    for k, (y, z) in enumerate(places()):
        robot.actuate(f"tendon_{k + 1}", ag.Tendon(arm, ag.parallel(y=y, z=z)))
    return robot, arm.tip


def main(discs=30, counts=COUNTS):
    """The arm with its discs, and how its tip depends on their number: without weight, to compare tendons alone."""
    robot, _ = build(discs)
    arm = ag.statics(robot, inputs=PULLS)
    tips = []
    for count in counts:
        light, bodies = build(count, gravity=(0, 0, 0))
        tips.append(ag.statics(light, inputs=PULLS).position(bodies[-1].frame))
    smooth, tip = continuous(gravity=(0, 0, 0))
    return Result(arm, discs, tuple(counts), np.array(tips), ag.statics(smooth, inputs=PULLS).position(tip))


def figures(folder, result=None):
    result = result or main()
    arm, robot = result.arm, result.arm.robot
    with figure_style():
        fig = figure(9.0, 4.2)
        left = fig.add_subplot(1, 2, 1, projection="3d", elev=12, azim=-65)
        turn = np.linspace(0, 2 * np.pi, 25)
        rim = DISC["radius"] * np.stack([np.zeros(25), np.cos(turn), np.sin(turn)])
        holes = {k: [[0, y, z]] for k, (y, z) in enumerate(places())}
        for k in range(result.discs):
            pose = arm.pose(robot.part(f"disc_{k + 1}").frame)
            edge = pose[:3, :3] @ rim + pose[:3, 3:]
            left.plot(edge[2], edge[1], -edge[0], color=FAINT, lw=1.0)
            line = arm.centerline(robot.part(f"piece_{k + 1}"), 5).T
            left.plot(line[2], line[1], -line[0], color="k", lw=1.5)
            for h, (y, z) in enumerate(places()):
                holes[h].append(pose[:3, :3] @ [0, y, z] + pose[:3, 3])
        for h, way in holes.items():
            way = np.array(way).T
            left.plot(way[2], way[1], -way[0], color=COLOURS[h], lw=1.0)
        left.set_box_aspect(
            np.ptp([left.get_xlim(), left.get_ylim(), left.get_zlim()], axis=1), zoom=1.1
        )  # equal scales
        left.set_axis_off()
        left.set_title(f"{result.discs} discs, pulled by two of three tendons")
        right = fig.add_subplot(1, 2, 2)
        gap = 1e3 * np.linalg.norm(result.tips - result.continuous, axis=1)
        right.loglog(result.counts, gap, "o-", color=COLOURS[1], label="from tendons along the backbone")
        right.loglog(result.counts, gap[0] * (result.counts[0] / np.array(result.counts)) ** 2, "k:", label="order 2")
        right.set(xlabel="discs", ylabel="[mm]", title="Distance of the tip")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "disc_arm.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.arm)
    for count, tip in zip(result.counts, result.tips, strict=True):
        print(f"{count:3d} discs: tip {1e3 * np.linalg.norm(tip - result.continuous):7.3f} mm from continuous tendons")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
