"""A snake crawls on the ground: a wave of bending runs from head to tail, and the friction of its scales does the rest.

The body is a rod with a prescribed curvature that lies on the ground by its weight. Scales rub little along the body and much
across it. The more they do so, the more the body follows its own track, and the nearer the snake comes to the speed of its
wave; with the same friction in all directions it even slips back a little. The way it makes in a beat is compared with a
balance of friction alone, without inertia.

t1 points from head to tail: crawling forward is sliding along -t1, which Contact calls backward.
"""

import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import root

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, RADIUS = 1.0, 0.015  # [m]
BEND, WAVE, PERIOD = 10.0, 0.5, 4.0  # amplitude [rad/m], wavelength [m], period [s]
ALONG, SLIP = 0.2, 5e-3  # friction along the body, speed below which it fades [m/s]
RATIOS = (1.0, 2.0, 3.0, 5.0, 8.0)  # of the friction across the body to that along it
BEATS, DT = 3, 0.01


@dataclass
class Result:
    run: ag.Trajectory  # the snake with the roughest scales
    body: ag.RodHandle
    way: np.ndarray  # made in the last beat, for each ratio [m]
    balance: np.ndarray  # the same from friction alone


def build(ratio, period=PERIOD):
    wave = ag.TravellingWave(BEND, WAVE, period, ramp=(0.0, 0.5 * period))
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), ag.Material(young=1e5, density=1000), intervals=32, shape=wave)
    robot = ag.Robot("snake")
    body = robot.add(rod, at=robot.ground.offset_by((0, 0, RADIUS)), joint=ag.Free(), name="snake")
    friction = (ALONG, ALONG, ratio * ALONG)
    robot.load(
        ag.Contact(body, ag.HalfSpace(), stiffness=2e4, damping=1.0, friction=friction, slip=SLIP, name="ground")
    )
    return robot, body


def crawl(ratio, period=PERIOD, dt=DT, beats=BEATS):
    """(motion, body, way of its middle in the last beat [m]) of a snake."""
    robot, body = build(ratio, period)
    run = ag.simulate(robot, duration=beats * period, dt=dt)
    before, after = run.centerline(body, 81)[[-1 - round(period / dt), -1]]
    return run, body, ahead(before[:, :2].T, after[:, :2].T)


def ahead(before, after):
    """How far the middle of a shape (2, points) has come, in the direction from tail to head before."""
    way = before[:, 0] - before[:, -1]
    return float((after - before).mean(axis=1) @ way / np.linalg.norm(way))


def balance(ratio, period=PERIOD, instants=80, points=161):
    """Way in a beat [m] of a snake without inertia: at every instant friction has no resultant and no moment."""
    s, t = np.linspace(0, LENGTH, points), np.linspace(0, period, instants + 1)
    weight = np.full(points, LENGTH / (points - 1))
    weight[[0, -1]] *= 0.5

    def shape(t):
        """Centreline (2, points) in the axes of the head, and its tangent, for the curvature of the wave."""
        k = 2 * np.pi / WAVE
        angle = -BEND / k * (np.cos(k * s - 2 * np.pi * t / period) - np.cos(2 * np.pi * t / period))
        tangent = np.stack([np.cos(angle), np.sin(angle)])
        steps = 0.5 * (tangent[:, 1:] + tangent[:, :-1]) * np.diff(s)
        return np.hstack([np.zeros((2, 1)), np.cumsum(steps, axis=1)]), tangent

    def rubbing(head, r, tangent, rate):
        u = rate + head[:2, None] + head[2] * np.stack([-r[1], r[0]])
        along = np.sum(u * tangent, axis=0)
        speed = np.sqrt(np.sum(u**2, axis=0) + SLIP**2)
        force = -(ratio * u + (1 - ratio) * along * tangent) / speed * weight
        return [*force.sum(axis=1), np.sum(r[0] * force[1] - r[1] * force[0])]

    heads, head = [], np.zeros(3)
    for now in t:
        r, tangent = shape(now)
        rate = (shape(now + 1e-5)[0] - shape(now - 1e-5)[0]) / 2e-5
        head = root(rubbing, head, (r, tangent, rate), tol=1e-12).x
        heads.append(head)
    pose = np.eye(3)  # of the head in the plane
    for before, after in pairwise(heads):
        vx, vy, spin = 0.5 * (before + after) * period / instants
        c, d = np.cos(0.5 * spin), np.sin(0.5 * spin)
        half = np.array([[c, -d, 0], [d, c, 0], [0, 0, 1]])
        pose = pose @ half @ np.array([[1, 0, vx], [0, 1, vy], [0, 0, 1]]) @ half
    return ahead(shape(0.0)[0], pose[:2, :2] @ shape(period)[0] + pose[:2, 2:])


def main(ratios=RATIOS):
    runs = [crawl(ratio) for ratio in ratios]
    return Result(*runs[-1][:2], np.array([way for *_, way in runs]), np.array([balance(ratio) for ratio in ratios]))


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.0, 3.6)
        left, right = fig.subplots(1, 2, width_ratios=(1.7, 1))
        lines = 100 * result.run.centerline(result.body, 80)
        picked = np.linspace(round(0.5 * PERIOD / DT), len(lines) - 1, 5).astype(int)
        for row, k in enumerate(picked):
            line = lines[k, :, :2] - [0, 17 * row]
            left.plot(*line.T, color=COLOURS[0], lw=3.5)
            left.plot(*line[0], "o", color=COLOURS[0], ms=6)
            left.annotate(f"{result.run.t[k]:.1f} s", (line[:, 0].max() + 4, -17 * row), va="center")
        left.set(xlabel="x [cm]", yticks=[], title="Seen from above, later ones below; the head is left")
        left.set_aspect("equal")
        right.plot(RATIOS, 100 * result.balance, color="k", lw=0.8, label="friction alone")
        right.plot(RATIOS, 100 * result.way, "o", color=COLOURS[1], label="simulated")
        right.set(xlabel="friction across / along the body", ylabel="[cm]", title="Way in a beat")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "snake_on_the_ground.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.run)
    for ratio, way, exact in zip(RATIOS, result.way, result.balance, strict=True):
        print(
            f"friction across / along {ratio:4.1f}: {100 * way:5.2f} cm in a beat, {100 * exact:5.2f} from friction alone"
        )
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
