"""Paper 003, test 1 (figure 2): a tendon arm bent by a convergent or by a spiral tendon, from 0 to 67.5 N.

The arm hangs along gravity: length 0.4 m, disks of diameter 0.04 m, steel rod of diameter 2 mm (errata 003.11).
Equilibria are solutions of the boundary-value problem (51)-(52) by multiple shooting. The paper takes the stress of a
tendon (17) at the rest strain; here it may follow the strain, too. The reference is the strain-mode core, which is
where the paper's own differences of "exactly" (convergent) and 1.4 % of the length (spiral) come from: with tendons
that follow the strain both methods agree.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.ticker import MaxNLocator

import anguilla as ag
from anguilla import shooting
from anguilla.view.style import COLOURS, FAINT, INK, figure, figure_style

LENGTH, DISK = 0.4, 0.02  # [m]
TENSIONS = np.linspace(0.0, 67.5, 10)  # [N]
ROUTINGS = {
    "convergent": ag.convergent((DISK, 0.0), (0.0, 0.0), LENGTH),
    "spiral": ag.helical(DISK, LENGTH),
}
MODES = (3, 5, 8, 12)


@dataclass
class Result:
    shapes: dict[str, np.ndarray]  # by routing: (tensions, points, 3) [m], tendons following the strain
    frozen: dict[str, np.ndarray]  # the same with (17) at the rest strain
    iterations: dict[str, list[int]]
    core: dict[tuple[str, int], float]  # by routing and modes: distance of the tips at 67.5 N over the length
    frozen_error: dict[str, float]  # distance between both tendon models at 67.5 N over the length


def arm(routing, modes=12):
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))
    steel = ag.Material(young=207e9, poisson=0.3, density=8000)
    rod = ag.Rod(LENGTH, ag.Circle(1e-3), steel, ag.kirchhoff(modes), intervals=60)
    handle = robot.add(rod, at=robot.ground)
    robot.actuate("pull", ag.Tendon(handle, ROUTINGS[routing]))
    return robot, handle


def sweep(routing, follow_strain):
    robot, handle = arm(routing)
    shapes, counts, start = [], [], None
    for tension in TENSIONS:
        start = shooting.statics(robot, inputs={"pull": tension}, start=start, follow_strain=follow_strain)
        shapes.append(start.centerline(handle, 80))
        counts.append(start.status.counters["iterations"])
    return np.array(shapes), counts


def main():
    result = Result({}, {}, {}, {}, {})
    for routing in ROUTINGS:
        result.shapes[routing], result.iterations[routing] = sweep(routing, True)
        result.frozen[routing], _ = sweep(routing, False)
        last = result.shapes[routing][-1, -1]
        result.frozen_error[routing] = float(np.linalg.norm(result.frozen[routing][-1, -1] - last) / LENGTH)
        for modes in MODES:
            robot, handle = arm(routing, modes)
            with warnings.catch_warnings():  # how few modes are too few is what this shows
                warnings.simplefilter("ignore", ag.AnguillaWarning)
                tip = ag.statics(robot, inputs={"pull": TENSIONS[-1]}).position(handle.tip)
            result.core[routing, modes] = float(np.linalg.norm(tip - last) / LENGTH)
    return result


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.6, 3.8)
        grid = fig.add_gridspec(1, 3, width_ratios=(1, 1, 1.1))
        axes = [fig.add_subplot(grid[0], projection="3d"), fig.add_subplot(grid[1], projection="3d")]
        for ax, routing in zip(axes, ROUTINGS, strict=True):
            for k, line in enumerate(result.shapes[routing]):
                ax.plot(line[:, 1], line[:, 2], -line[:, 0], color=COLOURS[0], alpha=0.3 + 0.07 * k, lw=1.2)
            line = result.frozen[routing][-1]
            ax.plot(line[:, 1], line[:, 2], -line[:, 0], "--", color=COLOURS[1], lw=1.0)
            ax.set(title=f"Figure 2: {routing}, to 67.5 N", xlabel="y [m]", ylabel="z [m]", box_aspect=(1, 1, 1))
            for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
                axis.set_major_locator(MaxNLocator(3))
        right = fig.add_subplot(grid[2])
        for routing, colour in zip(ROUTINGS, COLOURS, strict=False):
            values = [max(result.core[routing, m], 1e-16) for m in MODES]
            right.semilogy(MODES, values, "o-", color=colour)
            right.axhline(max(result.frozen_error[routing], 1e-16), color=colour, ls="--", lw=0.9)
            right.annotate(routing, (MODES[0], values[0]), xytext=(6, 2), textcoords="offset points", color=colour)
        right.set(title="distance of the core's tip / length", xlabel="modes of the core")
        right.text(0.98, 0.93, "dashed: tendon at the rest strain", transform=right.transAxes, ha="right", color=INK)
        right.grid(color=FAINT)
        fig.savefig(Path(folder) / "test1_tendons.png", dpi=110)


if __name__ == "__main__":
    result = main()
    for routing in ROUTINGS:
        print(routing, "Newton iterations by tension:", result.iterations[routing])
        print("  tip at 67.5 N [m]:", result.shapes[routing][-1, -1])
        print(
            "  tendon at the rest strain moves the tip by", f"{100 * result.frozen_error[routing]:.3f} % of the length"
        )
        for modes in MODES:
            print(f"  core with {modes:2d} modes: {result.core[routing, modes]:.1e} of the length")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
