"""A continuum robot is pushed through a curved lumen, which is read from a mesh.

The lumen is a closed surface of triangles, written here to a file in STL and read from there as a file of a scanner would be.
A hand drives the robot in, slowly. Without friction the push is what the bending of the robot takes: the work of the hand is
the energy in the robot and in the walls. Friction adds to it, the more the further it is around the bends.
"""

import struct
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, TIME_MAP, figure, figure_style

INLET, TURN, ANGLE, BORE = (
    0.2,
    0.07,
    np.radians(70),
    0.008,
)  # straight inlet, radius and angle of two bends, its own [m]
LENGTH, RADIUS, YOUNG = 0.19, 0.002, 5e7  # of the robot [m], [m], [Pa]
WAY, DURATION = 0.17, 3.0  # how far the hand goes [m], in how long [s]
FRICTION = 0.2


@dataclass
class Result:
    line: np.ndarray  # the middle of the lumen (n, 3) [m]
    runs: tuple[ag.Trajectory, ag.Trajectory]  # without and with friction
    wire: ag.RodHandle
    push: tuple[np.ndarray, np.ndarray]  # force of the hand (time,) [N]
    way: np.ndarray  # of the hand (time,) [m]
    work: np.ndarray  # of the hand without friction (time,) [J]


def middle():
    """The middle of the lumen: straight, a bend up, a bend back, and straight on."""
    s = np.linspace(0.0, ANGLE, 30)
    up = np.stack([INLET + TURN * np.sin(s), 0 * s, TURN * (1 - np.cos(s))], axis=1)
    back = 2 * up[-1] - up[::-1]
    out = back[-1] + np.linspace(0.0, 0.06, 8)[1:, None] * [1.0, 0.0, 0.0]
    inlet = np.linspace([-0.02, 0, 0], [INLET, 0, 0], 16)
    return np.concatenate([inlet[:-1], up, back[1:], out])


def surface(line, around=40):
    """Corners (m, 3, 3) [m] of the triangles around a line, with flat ends."""
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    side = np.array([0.0, 1.0, 0.0])
    angle = 2 * np.pi * np.arange(around + 1) / around
    ring = line[:, None] + BORE * (
        np.cos(angle)[:, None] * np.cross(along, side)[:, None] + np.sin(angle)[:, None] * side
    )
    a, b, c, d = ring[:-1, :-1], ring[:-1, 1:], ring[1:, 1:], ring[1:, :-1]
    walls = [np.stack(corners, axis=2).reshape(-1, 3, 3) for corners in ((a, b, c), (a, c, d))]
    caps = []
    for centre, rim in ((line[0], ring[0, ::-1]), (line[-1], ring[-1])):
        caps.append(np.stack([np.broadcast_to(centre, (around, 3)), rim[:-1], rim[1:]], axis=1))
    return np.concatenate(walls + caps)


def write_stl(path, triangles):
    """Write triangles (m, 3, 3) in millimetres."""
    with open(path, "wb") as file:
        file.write(b"lumen".ljust(80) + struct.pack("<I", len(triangles)))
        for corners in 1e3 * triangles:
            file.write(struct.pack("<12fH", 0, 0, 0, *corners.ravel(), 0))


def build(lumen, friction):
    robot = ag.Robot("catheter", gravity=(0, 0, 0))
    forward = lambda t: WAY * 0.5 * (1 - np.cos(np.pi * min(t / DURATION, 1.0)))
    joint = ag.Prismatic((1, 0, 0), motion=forward)
    hand = robot.add(ag.RigidBody.sphere(0.003, mass=0.01), at=robot.ground, joint=joint, name="hand")
    plastic = ag.Material(young=YOUNG, poisson=0.45, density=1100, damping=0.02)
    wire = robot.add(
        ag.Rod(LENGTH, ag.Circle(RADIUS), plastic, ag.kirchhoff(12), intervals=80), at=hand.frame, name="wire"
    )
    rubbing = dict(damping=2.0, friction=friction, slip=2e-3, smooth=2e-4)
    robot.load(ag.Contact(wire, lumen, stiffness=2e5, **rubbing))
    robot.load(ag.Contact(wire.tip, lumen, stiffness=5e3, radius=RADIUS, **rubbing))
    return robot, wire, hand


def main(dt=5e-3):
    line = middle()
    with tempfile.TemporaryDirectory() as folder:
        write_stl(Path(folder) / "lumen.stl", surface(line))
        lumen = ag.Mesh(Path(folder) / "lumen.stl", inside=True, scale=1e-3)
    runs, push = [], []
    for friction in (0.0, FRICTION):
        robot, wire, hand = build(lumen, friction)
        runs.append(ag.simulate(robot, duration=DURATION, dt=dt))
        push.append(runs[-1].effort(hand)[:, 0])
    way = runs[1].position(hand.frame)[:, 0]
    work = np.concatenate([[0.0], np.cumsum(0.5 * (push[0][1:] + push[0][:-1]) * np.diff(way))])
    return Result(line, tuple(runs), wire, tuple(push), way, work)


def figures(folder, result=None):
    import matplotlib

    result = result or main()
    with figure_style():
        fig = figure(9.5, 3.6)
        left, right = fig.add_subplot(1, 2, 1), fig.add_subplot(1, 2, 2)
        along = np.gradient(result.line, axis=0)
        up = BORE * np.cross(along, [0.0, -1.0, 0.0]) / np.linalg.norm(along, axis=1)[:, None]
        for wall in (result.line + up, result.line - up):
            left.plot(*(100 * wall[:, [0, 2]].T), color="#8A94A0", lw=1.5)
        run, steps = result.runs[1], (0.0, 0.4, 0.6, 0.8, 1.0)
        for shade, part in zip(matplotlib.colormaps[TIME_MAP](np.linspace(0.0, 0.9, len(steps))), steps, strict=True):
            shape = 100 * run.centerline(result.wire, 80)[round(part * (len(run.t) - 1))]
            left.plot(shape[:, 0], shape[:, 2], color=shade, lw=2.2, label=f"{part * DURATION:.1f} s")
        left.set(xlabel="x [cm]", ylabel="z [cm]", title="A robot in a lumen")
        left.set_aspect("equal")
        left.legend(frameon=False, fontsize=8, loc="upper left")
        for force, label, colour in zip(result.push, ("no friction", f"friction {FRICTION}"), COLOURS, strict=False):
            right.plot(100 * result.way, force, color=colour, label=label)
        right.set(xlabel="way of the hand [cm]", ylabel="push [N]", title="What the hand must give")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "lumen.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.runs[1])
    print(f"push at most {result.push[0].max():.3f} N without friction, {result.push[1].max():.3f} N with")
    stored = result.runs[0].energy["elastic"]
    print(f"work of the hand {1e3 * result.work[-1]:.2f} mJ, energy in robot and walls {1e3 * stored[-1]:.2f} mJ")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
