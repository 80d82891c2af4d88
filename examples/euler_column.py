"""A column clamped at its foot and pressed down at its head: where it buckles, and what becomes of it.

The straight column is traced under a growing load. It loses stability at Euler's load and once more at nine times that; from
both points the bent shapes are followed. Those that leave the first are compared with Euler's elastica.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import ellipk

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, RADIUS, YOUNG = 1.0, 5e-3, 1e9  # [m], [m], [Pa]
EI = YOUNG * np.pi * RADIUS**4 / 4
EULER = np.pi**2 * EI / (4 * LENGTH**2)  # [N]


@dataclass
class Result:
    straight: ag.Branch
    bent: list[ag.Branch]  # two sides of the first, then of the second buckling load
    head: ag.Frame
    critical: np.ndarray  # buckling loads [EULER]
    error: float  # largest difference from the elastica, as a part of the load


def build(modes=9, intervals=30):
    """Return the column, under a dead load of t x EULER, and the frame of its head."""
    robot = ag.Robot("column", gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, poisson=0.3, density=1000.0)
    upright = np.array([[0.0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    section = ag.Circle(RADIUS)
    rod = ag.Rod(LENGTH, section, material, ag.planar(modes), intervals=intervals)
    column = robot.add(rod, at=robot.ground, pose=upright, name="column")
    robot.load(ag.TipWrench(column, force=lambda t: (0, -t * EULER, 0)))
    return robot, column.tip


def tilt(equilibrium, head):
    """Angle of the head from the vertical [rad]."""
    x, y = equilibrium.pose(head)[:2, 0]
    return float(np.arctan2(-x, y))


def main(modes=9, intervals=30):
    robot, head = build(modes, intervals)
    straight = ag.trace(robot, factors=(0.0, 12.0), step=0.01, largest_step=0.01)
    bent = [
        ag.trace(robot, factors=(0.0, 12.0), limits=(0.0, last), start=point, direction=side)
        for point, last in zip(straight.bifurcations, (3.0, 12.0), strict=True)
        for side in (1, -1)
    ]
    errors = []
    for eq in [eq for branch in bent[:2] for eq in branch.equilibria[1:]]:
        k = np.sin(0.5 * tilt(eq, head))
        errors.append(eq.t / (2 * ellipk(k**2) / np.pi) ** 2 - 1.0)  # Euler's elastica
    critical = np.array([point.factor for point in straight.bifurcations])
    return Result(straight, bent, head, critical, float(np.max(np.abs(errors))))


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.0, 3.6)
        left, right = fig.subplots(1, 2)
        for k, branch in enumerate([result.straight, *result.bent]):
            colour = COLOURS[(k + 1) // 2]
            angle = np.degrees([tilt(eq, result.head) for eq in branch.equilibria])
            left.plot(angle, branch.factors, color=colour, lw=0.9, ls=":")
            left.plot(angle, np.where(branch.stable, branch.factors, np.nan), color=colour, lw=2.0)
            for j in range(0, len(branch), 4 if k else 1000):
                line = branch.equilibrium(j).centerline(branch.robot.parts[0])
                right.plot(line[:, 0], line[:, 1], color=colour, lw=1.0)
        tilted = np.radians(np.linspace(1, 120, 60))
        for side in (1, -1):
            left.plot(side * np.degrees(tilted), (2 * ellipk(np.sin(tilted / 2) ** 2) / np.pi) ** 2, "k--", lw=0.8)
        left.set(xlabel="tilt of the head [deg]", ylabel="load / Euler's load", title="Full: stable; dashed: elastica")
        right.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="Shapes")
        fig.savefig(Path(folder) / "euler_column.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.straight)
    print(f"buckling loads / Euler's load: {result.critical}; largest error against the elastica {result.error:.1e}")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
