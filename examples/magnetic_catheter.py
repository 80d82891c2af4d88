"""A catheter with a magnet in its tip is steered by a field from outside.

A magnet of moment m along the tip feels the couple m x B. In a uniform field the catheter bends to an arc whose angle
solves angle = (m B L / EI) sin(direction - angle). Then the field turns around the axis, and the tip draws a circle.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, TIME_MAP, figure, figure_style

LENGTH, RADIUS, YOUNG = 0.06, 0.5e-3, 5e6  # [m], [m], [Pa]
MOMENT, FIELD = 1e-3, 0.02  # of the magnet [A m^2], [T]
STIFFNESS = YOUNG * np.pi * RADIUS**4 / 4  # EI [N m^2]
DIRECTIONS = np.radians([15, 30, 60, 90, 120, 150, 170])
TURNS, CONE = 0.5, np.radians(70)  # of the field [1/s], angle of the field from the axis


@dataclass
class Result:
    lines: np.ndarray  # shapes for each direction of the field (directions, 40, 3) [m]
    angles: np.ndarray  # of the tip (directions,) [rad]
    run: ag.Trajectory
    catheter: ag.RodHandle
    path: np.ndarray  # of the tip in the turning field (time, 3) [m]


def build(field):
    robot = ag.Robot("catheter", gravity=(0, 0, 0))
    silicone = ag.Material(young=YOUNG, poisson=0.48, density=1100, damping=0.05)
    catheter = robot.add(ag.Rod(LENGTH, ag.Circle(RADIUS), silicone, ag.kirchhoff(4, twist_modes=2)), at=robot.ground)
    magnet = robot.add(ag.RigidBody.cylinder(RADIUS, 0.003, density=7500), at=catheter.tip, name="magnet")
    robot.load(ag.Magnet(magnet.frame, (MOMENT, 0, 0), field))
    return robot, catheter


def main(dt=5e-3, duration=3.0):
    lines, angles, last = [], [], None
    for direction in DIRECTIONS:  # each from the one before, so that the bend follows the field
        robot, catheter = build((FIELD * np.cos(direction), FIELD * np.sin(direction), 0.0))
        last = ag.statics(robot, start=None if last is None else last.q)
        lines.append(last.centerline(catheter, 40))
        tip = last.pose(catheter.tip)[:, 0]
        angles.append(np.arctan2(tip[1], tip[0]))
    spin = 2 * np.pi * TURNS
    across = lambda t: FIELD * np.sin(CONE) * min(1.0, t)
    turning = lambda t: (FIELD * np.cos(CONE), across(t) * np.cos(spin * t), across(t) * np.sin(spin * t))
    robot, catheter = build(turning)
    run = ag.simulate(robot, duration=duration, dt=dt)
    return Result(np.array(lines), np.unwrap(angles), run, catheter, run.position(catheter.tip))


def figures(folder, result=None):
    import matplotlib

    result = result or main()
    with figure_style():
        fig = figure(9.0, 3.8)
        left, right = fig.add_subplot(1, 2, 1), fig.add_subplot(1, 2, 2, projection="3d")
        shades = matplotlib.colormaps[TIME_MAP](np.linspace(0.0, 0.9, len(DIRECTIONS)))
        for line, shade, direction in zip(100 * result.lines, shades, np.degrees(DIRECTIONS), strict=True):
            left.plot(line[:, 0], line[:, 1], color=shade, lw=2.4, label=f"{direction:.0f}")
        left.set(xlabel="x [cm]", ylabel="y [cm]", title="Field of 20 mT at so many degrees")
        left.set_aspect("equal")
        left.legend(frameon=False, fontsize=8)
        run = result.run
        right.plot(*(100 * result.path.T), color=COLOURS[1], lw=1.0)
        for shade, k in zip(
            (0.2, 0.45, 0.7, 1.0), np.linspace(len(run.t) // 2, len(run.t) - 1, 4).astype(int), strict=True
        ):
            right.plot(*(100 * run.centerline(result.catheter, 40)[k].T), color=COLOURS[0], lw=2.0, alpha=shade)
        right.set(xlabel="x [cm]", ylabel="y [cm]", zlabel="z [cm]", title="The field turns around the axis")
        right.locator_params(nbins=4)
        right.set_aspect("equal")
        right.set_box_aspect(None, zoom=0.85)
        fig.savefig(Path(folder) / "magnetic_catheter.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.run)
    for direction, angle in zip(np.degrees(DIRECTIONS), np.degrees(result.angles), strict=True):
        print(f"field at {direction:5.1f} degrees: tip at {angle:5.1f}")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
