"""A straight rod is bent into a ring and its ends are turned against each other: at a certain turn the ring leaves its plane.

Michell found it in 1889: a round rod writhes when its ends have been turned by 2 pi sqrt(3) EI / GJ. The trace of the
plane ring finds the point, where two shapes (turned by an eighth of the ring) become neutral at once, and passes it. Then
the branch that leaves it is followed: the turn falls along it, so that a ring turned slowly snaps. The ring can also roll
in itself, and the writhed one slide along itself, at no cost: `neutral` says so. (The grid resists the sliding a little,
which leaves an imbalance of 2e-5 EI / L.)
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.lie import pose, rotation
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, RADIUS, YOUNG, POISSON = 1.0, 5e-3, 1e9, 0.0  # [m], [m], [Pa], -
CRITICAL = 2 * np.pi * np.sqrt(3) * (1 + POISSON)  # [rad]: GJ = EI / (1 + nu) of a round rod


@dataclass
class Result:
    plane: ag.Branch
    writhed: ag.Branch
    rod: ag.RodHandle
    turn: float  # at which the ring leaves its plane [CRITICAL]
    heights: np.ndarray  # (k,) of the writhed ring out of its mean plane [LENGTH]
    imbalance: float  # largest residual of the writhed ring, over EI / LENGTH


def build(modes=16, intervals=48):
    robot = ag.Robot("ring", gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, poisson=POISSON, density=1000.0)
    strains = ag.kirchhoff(modes, twist_modes=3)
    rod = robot.add(ag.Rod(LENGTH, ag.Circle(RADIUS), material, strains, intervals=intervals), at=robot.ground)
    robot.close(robot.ground, rod.tip, pose=lambda t: pose(rotation((1, 0, 0), t * CRITICAL)))
    return robot, rod


def height(eq, rod):
    """Distance from one side to the other across the mean plane of the ring [LENGTH]."""
    places = eq.centerline(rod, 80)
    normal = np.linalg.svd(places - places.mean(axis=0))[2][2]
    return float(np.ptp(places @ normal)) / LENGTH


def main():
    robot, rod = build()
    bent = np.zeros(robot.size)
    bent[robot.coordinates().index(f"{rod.name}.bend_z[0]")] = 2 * np.pi / LENGTH
    plane = ag.trace(robot, factors=(0.0, 1.05), start=bent, neutral=1e-7, largest_step=1.0)
    (point,) = plane.bifurcations
    start = {"start": point, "direction": (1, 0, 0), "neutral": 1e-6, "largest_step": 0.3}
    writhed = ag.trace(robot, factors=(0.0, 1.05), points=45, **start)
    stiff = YOUNG * np.pi * RADIUS**4 / 4 / LENGTH
    left = [plane.system.residual(eq.q, t=eq.t, multipliers=eq.multipliers) for eq in writhed.equilibria[1:]]
    scale = plane.system.tree.scale
    heights = np.array([height(eq, rod) for eq in writhed.equilibria])
    return Result(plane, writhed, rod, point.factor, heights, float(np.max(np.abs(left / scale))) / stiff)


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(8.0, 3.4)
        left, space = fig.add_subplot(1, 2, 1), fig.add_subplot(1, 2, 2, projection="3d")
        stable = np.append(result.plane.factors[result.plane.stable], result.turn)
        left.plot(stable, 0.0 * stable, color=COLOURS[0], lw=2.0)
        left.plot(result.plane.factors, 0.0 * result.plane.factors, color=COLOURS[0], lw=0.9, ls=":")
        left.plot(result.writhed.factors, result.heights, color=COLOURS[1], lw=0.9, ls=":")
        left.plot([result.turn], [0.0], "ko", ms=4)
        left.set(xlim=(0.8, 1.05), xlabel="turn / Michell's turn", ylabel="height out of the plane / length",
                 title="Full: stable; dotted: not")  # fmt: skip
        last = len(result.writhed) - 1
        for k, colour in zip((0, last // 3, 2 * last // 3, last), COLOURS, strict=False):
            space.plot(*result.writhed.equilibrium(k).centerline(result.rod, 120).T, color=colour, lw=1.6)
        space.set(title="Shapes", aspect="equal")
        space.set_axis_off()
        fig.savefig(Path(folder) / "twisted_ring.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.plane)
    print(
        f"leaves its plane at {result.turn:.7f} of Michell's turn; imbalance of the writhed ring {result.imbalance:.1e}"
    )
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
