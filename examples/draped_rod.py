"""A soft rod drapes over a stiff one, off its middle, and stays there by friction; without, it slips off.

Each arm of it is a heavy elastica (Euler), which is found here by another method, a boundary-value problem: the slope where
it lies is such that its weight acts above where it touches. The stiff rod is a beam, clamped at both ends, with this
weight on it.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_bvp
from scipy.optimize import brentq

import anguilla as ag
from anguilla.view.panels import draw_solid
from anguilla.view.scene import scene
from anguilla.view.style import COLOURS, SOLID, figure, figure_style

LENGTH, RADIUS, YOUNG, DENSITY = 0.6, 0.006, 1.5e6, 1100.0  # of the soft rod [m], [m], [Pa], [kg/m^3]
BAR, THICK, STIFF, HEAVY = 0.4, 0.01, 2e7, 1200.0  # of the bar, likewise
ASIDE, FRICTION = 0.01, 0.5  # how far the soft rod is put off its middle [m]
WATER = 1.0  # drag per length and speed [N s/m^2], which lets it come to rest
DURATION, STEP = 5.0, 5e-3  # [s]
DROP = DENSITY * np.pi * RADIUS**2 * 9.81  # weight per length [N/m]
BENDING = YOUNG * np.pi / 4 * RADIUS**4


@dataclass
class Result:
    runs: tuple[ag.Trajectory, ag.Trajectory]  # with and without friction
    rod: ag.RodHandle
    bar: ag.RodHandle
    force: np.ndarray  # of the bar on the soft rod (time, 3) [N]
    shape: np.ndarray  # (n, 3) [m] of the soft rod at last, from the point of its middle line where it touches
    theory: np.ndarray  # shape (n, 2) [m] likewise, along x and z, by theory


def build(friction):
    robot = ag.Robot("drape")
    strains = lambda pieces: ag.Strains(
        twist=ag.PiecewisePolynomial(2, 1),
        bend_y=ag.PiecewisePolynomial(pieces, 2),
        bend_z=ag.PiecewisePolynomial(pieces, 1),
    )
    steel = ag.Material(young=STIFF, density=HEAVY, damping=0.02)
    along_y = np.array([[0.0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    bar = robot.add(ag.Rod(BAR, ag.Circle(THICK), steel, strains(4)), at=robot.ground, pose=along_y, name="bar")
    far = along_y.copy()
    far[1, 3] = BAR
    robot.close(robot.ground, bar.tip, joint=ag.Prismatic((1, 0, 0)), pose=far, name="clamp")
    rubber = ag.Material(young=YOUNG, density=DENSITY, poisson=0.5, damping=0.05)
    start = np.eye(4)
    start[:3, 3] = -0.5 * LENGTH + ASIDE, 0.5 * BAR, THICK + RADIUS
    rod = robot.add(
        ag.Rod(LENGTH, ag.Circle(RADIUS), rubber, strains(6)), at=robot.ground, joint=ag.Free(), pose=start, name="rod"
    )
    robot.load(ag.Contact(bar, rod, friction=friction, damping=2.0, name="touch"))
    for axis in np.eye(3):
        robot.load(ag.WorldSpring(rod, 0.0, axis, damping=WATER))
    return robot, rod, bar


def sagging():
    """Of the middle of the bar by beam theory [m]."""
    own = HEAVY * np.pi * THICK**2 * 9.81 * BAR
    return (DROP * LENGTH / 192 + own / 384) * BAR**3 / (STIFF * np.pi / 4 * THICK**4)


def arm(length, slope):
    """Shape (n, 2) [m] of a heavy elastica of a length from where it is held at a slope [rad]."""
    turn = lambda s, y: np.stack([y[1], DROP * (length - s) / BENDING * np.cos(y[0])])
    ends = lambda a, b: np.array([a[0] - slope, b[1]])
    s = np.linspace(0.0, length, 201)
    found = np.stack([slope + 0 * s, 0 * s])
    for part in (0.1, 0.3, 1.0):  # the weight grows
        weak = lambda s, y, part=part: np.stack([y[1], part * turn(s, y)[1]])
        found = solve_bvp(weak, ends, s, found, tol=1e-8, max_nodes=20000).sol(s)
    angle = found[0]
    steps = 0.5 * np.diff(s)[:, None] * (_along(angle)[1:] + _along(angle)[:-1])
    return np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])


def _along(angle):
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def elastica():
    """Shape (n, 2) [m] of the soft rod by theory, from the same point."""
    long, short = 0.5 * LENGTH + ASIDE, 0.5 * LENGTH - ASIDE

    def both(slope):
        return arm(short, slope) * [-1, 1], arm(long, -slope)

    def tipping(slope):
        """Moment of the weight about the place where it touches [N m]."""
        left, right = both(slope)
        moment = [np.mean(side[:, 0]) * size for side, size in ((left, short), (right, long))]
        return DROP * (sum(moment) - LENGTH * RADIUS * np.sin(-slope))

    left, right = both(brentq(tipping, -0.6, 0.6))
    return np.concatenate([left[::-1], right[1:]])


def main():
    runs = []
    for friction in (0.0, FRICTION):
        robot, rod, bar = build(friction)
        runs.append(ag.simulate(robot, duration=DURATION if friction else 2.0, dt=STEP))
    told = runs[1].contacts(robot.loads[0])
    shape = runs[1].centerline(rod, 301)[-1]
    near = np.argmin(np.linalg.norm(shape - told.place[-1], axis=1))
    across = np.gradient(shape, axis=0)[near]
    normal = np.array([-across[2], 0.0, across[0]]) / np.linalg.norm(across)
    return Result((runs[1], runs[0]), rod, bar, told.force, shape - told.place[-1] - RADIUS * normal, elastica())


def figures(folder, result=None):
    result = result or main()
    run, slips = result.runs
    with figure_style():
        fig = figure(9.5, 3.9)
        grid = fig.add_gridspec(1, 3, width_ratios=(1.2, 1.0, 1.0))
        stage = fig.add_subplot(grid[0], projection="3d")
        draw_solid(stage, scene(run.picked([len(run.t) - 1]), sections=100), [])
        stage.view_init(elev=18, azim=-50)
        stage.set_axis_off()
        stage.collections[0].set_clip_on(False)
        stage.set_title("A rod drapes over a rod")
        ax = fig.add_subplot(grid[1])
        ax.plot(*(100 * result.shape[:, [0, 2]].T), color=COLOURS[1], lw=4, alpha=0.5, label="simulated")
        ax.plot(*(100 * result.theory.T), "--", color="black", lw=1, label="heavy elastica")
        ax.set(xlabel="x [cm]", ylabel="z [cm]", title="Its shape")
        ax.set_aspect("equal", adjustable="datalim")
        ax.legend(frameon=False, fontsize=8)
        ax = fig.add_subplot(grid[2])
        for one, label, colour in ((run, f"friction {FRICTION}", COLOURS[1]), (slips, "none", SOLID)):
            middle = one.centerline(one.robot.part("rod"), 101)[:, :, 2].mean(axis=1)
            ax.plot(one.t, 100 * middle, color=colour, label=label)
        ax.set(xlabel="t [s]", ylabel="height of its middle [cm]", title="Held by friction")
        ax.legend(frameon=False, fontsize=8)
        fig.savefig(Path(folder) / "draped_rod.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.runs[0])
    print(f"the bar carries {result.force[-1, 2]:.6f} N, the weight is {DROP * LENGTH:.6f} N")
    away = 1e3 * np.linalg.norm(result.shape[[0, -1]][:, [0, 2]] - result.theory[[0, -1]], axis=1)
    print(f"its ends are {away[0]:.2f} and {away[1]:.2f} mm from where theory has them")
    low = result.runs[0].position(result.bar.section(0.5 * BAR))[-1, 2]
    print(f"the bar sags by {-1e3 * low:.3f} mm, in theory {1e3 * sagging():.3f} mm")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figures(folder, result)
    ag.animate(result.runs[0], folder / "draped_rod.html")
