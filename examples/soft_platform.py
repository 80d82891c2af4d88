"""A platform on three flexible legs with a soft column in the middle: rods in loops, a rigid plate and a soft volume.

A force pushes the plate sideways. The column of silicone, welded to the ground and to the plate, makes the platform
stiffer, and tendons that run across it move the plate too.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

HEIGHT, RADIUS = 0.12, 0.05  # of the platform, of the circle of its legs [m]
FORCES = np.linspace(0.0, 2.0, 5)  # along y [N]
PULL = 8.0  # of one tendon of the column [N]
STEEL = ag.Material(young=60e9, poisson=0.3, density=7800)
SILICONE = ag.Material(young=2e5, poisson=0.4, density=1070)
UP = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
UP[:3, :3] = UP[:3, :3].T  # x of a leg points up


@dataclass
class Result:
    sway: dict  # shift of the plate along y without and with the column (forces,) [m]
    pulled: ag.Equilibrium  # one tendon of the column pulls
    shift: np.ndarray  # how far the plate goes by that (3,) [m]
    column: object
    legs: list


def at(x, y, z, turn):
    pose = turn.copy()
    pose[:3, 3] = x, y, z
    return pose


def build(with_column=True):
    robot = ag.Robot("soft_platform" if with_column else "platform")
    rod = ag.Rod(HEIGHT, ag.Circle(0.0006), STEEL, ag.extensible_kirchhoff(3))
    corners = [RADIUS * np.array([np.cos(a), np.sin(a)]) for a in 2 * np.pi * np.arange(3) / 3]
    legs = [
        robot.add(rod, at=robot.ground, pose=at(x, y, 0.0, UP), name=f"leg_{k + 1}") for k, (x, y) in enumerate(corners)
    ]
    back = np.linalg.inv(UP)
    middle = back @ np.array([-corners[0][0], -corners[0][1], 0.0, 1.0])
    body = ag.RigidBody.cylinder(RADIUS + 0.005, 0.004, mass=0.03, com=(0.002, 0, 0))
    plate = robot.add(body, at=legs[0].tip, pose=middle[:3], name="plate")
    for leg, corner in zip(legs[1:], corners[1:], strict=True):
        robot.close(plate.at((back @ np.array([*corner, 0.0, 1.0]))[:3]), leg.tip)
    robot.load(ag.Wrench(plate.frame, force=robot.input("force", "N", along=(0.0, 1.0, 0.0))))
    if not with_column:
        return robot, plate, None, legs
    column = ag.Volume(ag.fem.cylinder(HEIGHT, 0.015, (8, 4)), SILICONE, name="column")
    for k, angle in enumerate(2 * np.pi * np.arange(3) / 3):
        side = 0.01 * np.array([np.cos(angle), np.sin(angle)])
        across = [(HEIGHT * part, *((1.0 - 2.0 * part) * side)) for part in np.linspace(0.0, 1.0, 6)]
        column.actuate(f"pull_{k + 1}", ag.fem.Tendon(across))
    soft = robot.add(column, at=robot.ground, pose=UP, patch="base")
    soft.clamp("tip", plate.frame)
    return robot, plate, soft, legs


def main():
    found = {}
    for name in ("without", "with"):
        robot, plate, soft, legs = build(name == "with")
        shapes = [ag.statics(robot, inputs={"force": force}) for force in FORCES.tolist()]
        found[name] = np.array([shape.position(plate.frame)[1] for shape in shapes])
    pulled = ag.statics(robot, inputs={"column.pull_1": PULL})
    return Result(found, pulled, pulled.position(plate.frame) - shapes[0].position(plate.frame), soft, legs)


def figures(folder, result=None):
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    result = result or main()
    with figure_style():
        fig = figure(8.0, 3.6)
        left, right = fig.add_subplot(1, 2, 1, projection="3d"), fig.add_subplot(1, 2, 2)
        for leg in result.legs:
            left.plot(*result.pulled.centerline(leg).T, color="k", lw=2.5)
        tips = np.array([result.pulled.position(leg.tip) for leg in result.legs])
        left.add_collection3d(Poly3DCollection([tips], facecolor=COLOURS[0], alpha=0.5))
        soft = result.pulled.volume(result.column)
        left.add_collection3d(
            Poly3DCollection(soft.x[soft.surface()], facecolor=COLOURS[1], edgecolor="k", lw=0.1, alpha=0.9)
        )
        left.set(xlim=(-0.06, 0.06), ylim=(-0.06, 0.06), zlim=(0, 0.12), title="one tendon of the column pulls")
        left.set(xticks=[], yticks=[], zticks=[])
        for k, (name, shifts) in enumerate(result.sway.items()):
            right.plot(FORCES, 1e3 * shifts, "-o", color=COLOURS[k], label=f"{name} the column")
        right.set(xlabel="force [N]", ylabel="shift of the plate [mm]")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "soft_platform.png", dpi=80)


if __name__ == "__main__":
    result = main()
    print({name: (1e3 * shifts).round(2) for name, shifts in result.sway.items()}, "mm")
    print(f"one tendon of the column shifts the plate by {(1e3 * result.shift).round(2)} mm")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
