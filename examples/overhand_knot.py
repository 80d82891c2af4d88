"""An overhand knot is tied in a rope by moving one of its ends, and tightened.

The rope lies in honey, which keeps a loop where it was laid while the end goes around the standing part and through the loop.
Then the honey is washed off, and the end is pulled. There is no friction: the loop is held open by bending alone. A
circle of radius R has the energy pi B / R, of which the end takes dE = 2 pi T dR, so that the tension is T = B / (2 R^2)
(B. Audoly, N. Clauvelin, S. Neukirch, Elastic knots, 2007, to the first order of a thin rope).
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.panels import draw_solid
from anguilla.view.scene import scene
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, RADIUS, YOUNG = 1.0, 0.004, 2.5e6  # [m], [m], [Pa]
BENDING = YOUNG * np.pi / 4 * RADIUS**4  # [N m^2]
HONEY, WATER = 30.0, 1.0  # drag per length and speed [N s/m^2], while it is tied and while it is pulled
WAY = np.array(  # of the end: t [s], x, y, z [m]
    [
        (0.0, 0.97, 0.15, 0.0),
        (0.4, 0.97, 0.15, 0.0),
        (1.6, 0.62, 0.42, 0.03),
        (2.4, 0.36, 0.30, 0.04),  # a loop,
        (3.1, 0.28, 0.08, 0.04),
        (3.7, 0.32, -0.10, 0.03),  # in front of the standing part,
        (4.1, 0.39, -0.12, -0.02),
        (4.5, 0.41, -0.04, -0.06),  # behind it,
        (4.9, 0.42, 0.04, -0.05),
        (5.3, 0.43, 0.08, 0.02),  # through the loop,
        (5.7, 0.46, 0.08, 0.09),
        (7.0, 0.60, 0.03, 0.04),
    ]
)
PULL = np.array(  # t [s], x, y, z [m]
    [
        (0.0, 0.60, 0.03, 0.04),
        (2.0, 0.60, 0.0, 0.0),
        (4.0, 0.60, 0.0, 0.0),
        (6.0, 0.70, 0.0, 0.0),
        (8.0, 0.70, 0.0, 0.0),
    ]
)
HELD = (4.0, 8.0)  # instants at which the end was at rest for a while [s]
STEP = 0.025  # [s]


@dataclass
class Result:
    tying: ag.Trajectory
    pulling: ag.Trajectory
    rope: ag.RodHandle
    pull: np.ndarray  # along x, while pulling (time,) [N]
    radius: np.ndarray  # of a circle with the same energy of bending (time,) [m]


def build(way, drag):
    """The rope, the end of which goes a way (n, 4), t [s] and place [m]."""
    from scipy.interpolate import PchipInterpolator

    place = PchipInterpolator(way[:, 0], way[:, 1:])
    robot = ag.Robot("knot", gravity=(0, 0, 0))
    rubber = ag.Material(young=YOUNG, poisson=0.5, density=1000.0, damping=0.02)
    bend, twist = ag.PiecewisePolynomial(12, 2), ag.PiecewisePolynomial(4, 1)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), rubber, ag.Strains(twist=twist, bend_y=bend, bend_z=bend), intervals=72)
    rope = robot.add(rod, at=robot.ground, name="rope")
    robot.close(robot.ground, rope.tip, joint=ag.Spherical(), pose=lambda t: place(min(t, way[-1, 0])), name="hand")
    robot.load(ag.SelfContact(rope, damping=3.0, spacing=0.5 * RADIUS, name="itself"))
    for axis in np.eye(3):
        robot.load(ag.WorldSpring(rope, 0.0, axis, damping=drag))
    return robot, rope


def main():
    robot, _ = build(WAY, HONEY)
    tying = ag.simulate(robot, duration=WAY[-1, 0], dt=STEP)
    robot, rope = build(PULL, WATER)
    run = ag.simulate(robot, duration=PULL[-1, 0], dt=STEP, start=tying.q[-1])
    rotation = run.pose(rope.tip)[:, :3, :3]
    pull = np.einsum("tij,tj->ti", rotation, run.reaction(robot.closures["hand"])[:, 3:])[:, 0]
    X = np.linspace(0.0, LENGTH, 401)
    energy = 0.5 * BENDING * np.trapezoid(np.sum(run.strain(rope, X)[:, :, 1:3] ** 2, axis=2), X, axis=1)
    return Result(tying, run, rope, pull, np.pi * BENDING / energy)


def determinant(line):
    """Number that tells knots apart: 1 for a line (n, 3) that is not knotted, 3 for an overhand knot.

    The arcs between places where the line passes under itself are given colours, such that twice the colour of what passes
    over is the sum of those on both sides below; the number is the determinant of these equations, without one of them. The
    ends go on to infinity, along x.
    """
    ends = np.array([[10.0, 0.0, 0.0]])
    line = np.concatenate([line[:1] - ends, line, line[-1:] + ends]) @ _some_rotation()
    start, step = line[:-1], np.diff(line, axis=0)
    crossings = []  # place along the line below and above
    for i in range(len(step)):
        j = np.arange(i + 2, len(step))
        area = step[i, 0] * step[j, 1] - step[i, 1] * step[j, 0]
        gap = start[j] - start[i]
        area[area == 0.0] = np.nan  # parallel
        u = (gap[:, 0] * step[j, 1] - gap[:, 1] * step[j, 0]) / area
        v = (gap[:, 0] * step[i, 1] - gap[:, 1] * step[i, 0]) / area
        for k in np.flatnonzero((u > 0) & (u < 1) & (v > 0) & (v < 1)):
            a, b = i + u[k], j[k] + v[k]
            above = start[i, 2] + u[k] * step[i, 2] > start[j[k], 2] + v[k] * step[j[k], 2]
            crossings.append((b, a) if above else (a, b))
    below = np.sort([a for a, _ in crossings])
    rows = np.zeros((len(crossings), len(crossings) + 1))
    for row, (a, b) in zip(rows, crossings, strict=True):
        k = np.searchsorted(below, a)
        row[k] -= 1.0
        row[k + 1] -= 1.0
        row[np.searchsorted(below, b)] += 2.0
    rows[:, 0] += rows[:, -1]  # the first and the last arc meet at infinity
    return round(abs(np.linalg.det(rows[1:, 1:-1]))) if len(rows) > 1 else 1


def _some_rotation():
    q, _ = np.linalg.qr([[1.0, 0.23, 0.11], [-0.31, 1.0, 0.17], [0.07, -0.13, 1.0]])
    return q


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.5, 5.6)
        grid = fig.add_gridspec(2, 3, height_ratios=(1.0, 1.1))
        stills = [(result.tying, t, f"tied, {t:g} s") for t in (2.4, 4.3, 5.3)]
        stills += [(result.pulling, t, f"pulled, {t:g} s") for t in (0.0, 8.0)]
        for k, (run, when, title) in enumerate(stills):
            stage = fig.add_subplot(grid[k // 3, k % 3], projection="3d")
            draw_solid(stage, scene(run.picked([np.searchsorted(run.t, when)]), sections=200, around=16), [])
            stage.view_init(elev=65, azim=-90)
            stage.set_axis_off()
            stage.collections[0].set_clip_on(False)
            stage.set_title(title)
        ax, t = fig.add_subplot(grid[1, 2]), result.pulling.t
        ax.plot(t, 1e3 * result.pull, color=COLOURS[0], label="pull")
        ax.plot(t, 5e2 * BENDING / result.radius**2, "--", color=COLOURS[1], label="B / (2 R²)")
        ax.set(xlabel="t [s]", ylabel="[mN]", title="Pull, and theory of a thin rope")
        ax.legend(frameon=False)
        fig.savefig(Path(folder) / "overhand_knot.png", dpi=110)


if __name__ == "__main__":
    result = main()
    for run in (result.tying, result.pulling):
        print(run)
        shapes = run.centerline(run.robot.part("rope"), 200)
        for at in (0, -1):
            print(f"t = {run.t[at]:g} s: {'knotted' if determinant(shapes[at]) == 3 else 'not knotted'}")
    for t in HELD:
        at = np.argmin(np.abs(result.pulling.t - t))
        radius, pull = result.radius[at], result.pull[at]
        print(f"R = {1e3 * radius:.1f} mm: pull {1e3 * pull:.1f} mN, in theory {5e2 * BENDING / radius**2:.1f} mN")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figures(folder, result)
    ag.animate(result.tying, folder / "overhand_knot.html")
