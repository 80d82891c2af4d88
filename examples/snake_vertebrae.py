"""A snake of forty vertebrae crawls: muscles turn each joint of its spine, and the friction of its scales does the rest.

Every vertebra is a rigid ball on the next one by a universal joint. Muscles on either side are a spring in each joint whose
rest angle runs from head to tail as a wave; up and down the spine only bends elastically, so that it lies on the ground. The
scales rub little along the body and much across it. No motion is prescribed: the harder the ground holds, the more
the spine lags behind what its muscles want.

x of a vertebra points from head to tail: crawling forward is sliding along -x, which Contact calls backward.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, FAINT, figure, figure_style

LENGTH, RADIUS = 1.0, 0.015  # [m]
BEND, WAVE, PERIOD = 10.0, 0.5, 2.0  # amplitude [rad/m], wavelength [m], period [s]
STIFFNESS, DAMPING = 0.1, 0.004  # of the spine in bending [N m^2], [N m^2 s]
ALONG, ACROSS, SLIP = 0.2, 1.0, 0.01  # friction, and the speed below which it fades [m/s]
DENSITY, GROUND = 1000.0, 2e4  # [kg/m^3], stiffness of the ground per length [N/m^2]
SMALL = {"vertebrae": 10, "beats": 1}  # what the tests run


@dataclass
class Result:
    run: ag.Trajectory
    vertebrae: list
    line: np.ndarray  # of the vertebrae (time, vertebrae, 3) [m]
    way: float  # of the middle of the body in the last beat, towards the head [m]


def build(vertebrae=40):
    """The snake, stretched out on the ground with its head at the origin, and its vertebrae from head to tail."""
    size = LENGTH / vertebrae
    mass = DENSITY * np.pi * RADIUS**2 * size
    ball = ag.RigidBody.sphere(RADIUS, mass=mass)
    sinks = mass * 9.81 / (GROUND * size)
    robot = ag.Robot("snake_of_vertebrae")
    friction = (ALONG, ALONG, ACROSS)

    def wanted(place):
        """Rest angle of the muscles of a joint."""
        return lambda t: BEND * size * min(2 * t / PERIOD, 1.0) * np.sin(2 * np.pi * (place / WAVE - t / PERIOD))

    bodies = []
    for k in range(vertebrae):
        spring, loss, angle = STIFFNESS / size, DAMPING / size, wanted(k * size)
        if k == 0:
            at, joint = robot.ground.offset_by((0, 0, RADIUS - sinks)), ag.Free()
        else:
            at = bodies[-1].at((size, 0, 0))
            muscle = lambda t, spring=spring, angle=angle: spring * angle(t)
            joint = ag.Universal("z", "y", stiffness=[spring] * 2, damping=[loss] * 2, effort=(muscle, 0.0))
        bodies.append(robot.add(ball, at=at, joint=joint, name=f"vertebra_{k + 1}"))
        robot.load(
            ag.Contact(
                bodies[-1], ag.HalfSpace(), stiffness=GROUND * size, damping=1.0, friction=friction, slip=SLIP,
                smooth=1e-4, name=f"belly_{k + 1}",
            )
        )  # fmt: skip
    return robot, bodies


def main(vertebrae=40, beats=3, dt=0.01):
    robot, bodies = build(vertebrae)
    run = ag.simulate(robot, duration=beats * PERIOD, dt=dt)
    line = np.stack([run.position(body.frame) for body in bodies], axis=1)
    before, after = line[[-1 - round(PERIOD / dt), -1]]
    forward = before[0] - before[-1]
    way = (after - before).mean(axis=0) @ forward / np.linalg.norm(forward)
    return Result(run, bodies, line, float(way))


def figures(folder, result=None):
    result = result or main()
    t, line = result.run.t, 100 * result.line
    with figure_style():
        fig = figure(9.0, 3.8)
        left, right = fig.subplots(1, 2, width_ratios=(1.7, 1))
        for row, k in enumerate(np.linspace(0, len(t) - 1, 6).astype(int)):
            x, y = line[k, :, 0], line[k, :, 1] - 15 * row
            left.plot(x, y, color=FAINT, lw=1.0, zorder=0)
            left.plot(x, y, "o", color=COLOURS[0], ms=3.5)
            left.plot(x[0], y[0], "o", color=COLOURS[1], ms=6)
            left.annotate(f"{t[k]:.1f} s", (x.max() + 3, -15 * row), va="center")
        left.set(xlabel="x [cm]", yticks=[], title="Seen from above, later ones below; the head is left")
        left.set_aspect("equal")
        for k, name in ((0, "head"), (len(result.vertebrae) // 2, "middle"), (-1, "tail")):
            right.plot(line[:, k, 0], line[:, k, 1], lw=1.2, label=name)
        right.set(xlabel="x [cm]", ylabel="y [cm]", title="Ways of head, middle and tail")
        right.set_aspect("equal", "datalim")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "snake_vertebrae.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.run)
    print(f"{len(result.vertebrae)} vertebrae make {100 * result.way:.2f} cm in a beat")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
