"""A snake pushes itself along pegs, without any friction.

A wave of bending runs from head to tail. On open ground the snake would wriggle on the spot. Between pegs it cannot slip
sideways, so that it follows its own track, a wave in a beat; its sides lean on the pegs, and these push it forward against
the drag of the mud it lies in.
"""

import sys
from dataclasses import dataclass
from math import pi, sin
from pathlib import Path

import numpy as np
from matplotlib.patches import Circle

import anguilla as ag
from anguilla.view.style import COLOURS, SOLID, figure, figure_style

LENGTH, RADIUS, YOUNG = 1.0, 0.012, 2e6  # of the body [m], [m], [Pa]
BEND, WAVE, PERIOD = 9.0, 0.5, 2.0  # amplitude [rad/m], length along the body [m], time of a beat [s]
PEG, TIGHT = 0.012, 0.0005  # radius of the pegs, how far they reach into the track [m]
MUD = 0.5  # drag per length and speed [N s/m^2]
BEATS, STEP = 3, 0.01
BASIS = ag.PiecewisePolynomial(8, 2)  # of the bending
TRACK = BEATS * WAVE + LENGTH  # length of the track [m]


@dataclass
class Result:
    runs: tuple[ag.Trajectory, ag.Trajectory]  # with and without pegs
    body: ag.RodHandle
    pegs: np.ndarray  # (n, 2) [m]
    force: np.ndarray  # of each peg on the body (n, time, 2) [N]


def phase(t):
    """Of the wave [rad]: it starts from rest in a beat."""
    s = min(t / PERIOD, 1.0)
    return 2 * pi * (s**4 * (2.5 - 3.0 * s + s**2) if s < 1.0 else 0.5 + t / PERIOD - 1.0)


def track(s):
    """Points (n, 2) [m] and directions (n,) [rad] of the track; s [m] is 0 at the head in the beginning, negative ahead."""
    fine = np.linspace(-TRACK, LENGTH, 8001)
    angle = -BEND * WAVE / (2 * np.pi) * np.cos(2 * np.pi * fine / WAVE)
    step = np.diff(fine, prepend=fine[0])[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    place = np.cumsum(step, axis=0)
    place -= [np.interp(0.0, fine, x) for x in place.T]
    return np.stack([np.interp(s, fine, x) for x in place.T], axis=1), np.interp(s, fine, angle)


def gates():
    """Places (n, 2) [m] of pegs: a pair where the track is steepest, half a wave apart."""
    s = np.arange(-2 * BEATS, round(2 * LENGTH / WAVE) + 1) * 0.5 * WAVE
    place, angle = track(s)
    aside = (RADIUS + PEG - TIGHT) * np.stack([-np.sin(angle), np.cos(angle)], axis=1)
    return np.concatenate([place + aside, place - aside])


def build(pegs):
    robot = ag.Robot("snake", gravity=(0, 0, 0))
    muscle = ag.Material(young=YOUNG, density=1000.0, poisson=0.5, damping=0.02)
    start = np.eye(4)
    angle = track(np.zeros(1))[1][0]
    start[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), muscle, ag.Strains(bend_z=BASIS), intervals=80)
    body = robot.add(rod, at=robot.ground, joint=ag.Planar((0, 0, 1), (1, 0, 0)), pose=start, name="snake")
    bending = YOUNG * np.pi / 4 * RADIUS**4
    wave = lambda X, t: (0.0, 0.0, -bending * BEND * sin(2 * pi * X / WAVE - phase(t)))
    robot.load(ag.Muscle(body, moment=wave, name="muscles"))
    for axis in np.eye(3)[:2]:
        robot.load(ag.WorldSpring(body, 0.0, axis, damping=MUD))
    for k, (x, y) in enumerate(pegs):
        peg = ag.Pillar((x, y, 0), axis=(0, 0, 1), radius=PEG)
        robot.load(ag.Contact(body, peg, 3e4, damping=3.0, name=f"peg{k}"))
    return robot, body


def crawl(pegs):
    robot, body = build(pegs)
    X = np.linspace(0.0, 1.0, 401)
    bent = np.linalg.lstsq(BASIS(X), BEND * np.sin(2 * np.pi * X * LENGTH / WAVE))[0]
    start = np.concatenate([np.zeros(3), bent])
    return ag.simulate(robot, duration=BEATS * PERIOD, dt=STEP, start=start), body


def main():
    pegs = gates()
    (run, body), (lost, _) = crawl(pegs), crawl(pegs[:0])
    loads = [load for load in run.robot.loads if isinstance(load, ag.Contact)]
    return Result((run, lost), body, pegs, np.array([run.exerted(load).force[:, :2] for load in loads]))


def middle(run):
    """Of the body (time, 2) [m]."""
    return run.centerline(run.robot.part("snake"), 161)[:, :, :2].mean(axis=1)


def figures(folder, result=None):
    result = result or main()
    run, lost = result.runs
    with figure_style():
        fig = figure(9.5, 5.4)
        grid = fig.add_gridspec(4, 2, height_ratios=(1, 1, 1, 3.4))
        for row, when in enumerate((0.0, 0.5 * run.t[-1], run.t[-1])):
            ax, at = fig.add_subplot(grid[row, :]), np.argmin(np.abs(run.t - when))
            ax.fill(*(100 * outline(run, at)).T, color=COLOURS[0], lw=0)
            head = run.centerline(result.body, 2)[at, 0, :2]
            ax.plot(*(100 * head), "o", color=COLOURS[0], ms=6)
            for place, force in zip(result.pegs, result.force[:, at], strict=True):
                ax.add_patch(Circle(100 * place, 100 * PEG, color=SOLID, lw=0))
                if np.linalg.norm(force) > 0.1:
                    tail = place + (PEG * force / np.linalg.norm(force))
                    arrow = dict(width=0.35, head_width=1.4, head_length=1.6, length_includes_head=True, lw=0)
                    ax.arrow(*(100 * tail), *(40 * force), color=COLOURS[1], zorder=3, **arrow)
            ax.set(xlim=(-140, 95), ylim=(-10, 10), title=f"{run.t[at]:g} s")
            ax.set_aspect("equal")
            ax.set_axis_off()
        left, right = fig.add_subplot(grid[3, 0]), fig.add_subplot(grid[3, 1])
        for one, label, colour in ((run, "between pegs", COLOURS[0]), (lost, "without", SOLID)):
            left.plot(one.t, 100 * (middle(one)[0, 0] - middle(one)[:, 0]), color=colour, label=label)
        left.set(xlabel="t [s]", ylabel="way forward [cm]", title="The snake pushes itself along")
        left.legend(frameon=False)
        beat = round(PERIOD / STEP)
        mean = np.convolve(-result.force[:, :, 0].sum(axis=0), np.full(beat // 2, 2 / beat), "valid")
        label = "of all pegs, forward, mean of half a beat"
        right.plot(run.t[beat // 4 : beat // 4 + len(mean)], mean, color=COLOURS[1], label=label)
        speed = np.gradient(middle(run)[:, 0], run.t)
        right.plot(run.t, -MUD * LENGTH * speed, "--", color=SOLID, label="drag of the mud")
        right.set(xlabel="t [s]", ylabel="force [N]", title="What pushes it")
        right.legend(frameon=False, loc="lower right")
        fig.savefig(Path(folder) / "snake_on_pegs.png", dpi=110)


def outline(run, at):
    """Contour (n, 2) [m] of the body."""
    line = run.centerline(run.robot.part("snake"), 201)[at, :, :2]
    along = np.gradient(line, axis=0)
    aside = RADIUS * np.stack([-along[:, 1], along[:, 0]], axis=1) / np.linalg.norm(along, axis=1)[:, None]
    return np.concatenate([line + aside, (line - aside)[::-1]])


if __name__ == "__main__":
    result = main()
    beat = round(PERIOD / STEP)
    print(result.runs[0])
    for run, name in zip(result.runs, ("between pegs", "without"), strict=True):
        print(f"{name}: {100 * (middle(run)[-1 - beat, 0] - middle(run)[-1, 0]):.2f} cm in a beat")
    chord = np.diff(track(np.array([-WAVE, 0.0]))[0][:, 0])[0]
    print(f"a wave of its track is {100 * chord:.2f} cm long")
    print(f"the pegs push with {-result.force[:, -beat:, 0].sum(axis=0).mean():.3f} N forward on average")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figures(folder, result)
    ag.animate(result.runs[0], folder / "snake_on_pegs.html")
