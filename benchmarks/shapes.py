"""Cost of contact with obstacles of any shape: a rod that lies in a tube, against the closed form of the tube.

    python benchmarks/shapes.py

Each line is the least time of some runs of the same motion, per time step, and as a multiple of that in a `Pillar`.
"""

from __future__ import annotations

import time

import numpy as np

import anguilla as ag

RADIUS, LENGTH = 0.02, 0.5  # of the tube [m]
STEPS, DT, RUNS = 400, 2e-3, 5


def tube(around: int = 96, rings: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Corners and triangles of the tube, with flat ends."""
    angle = 2 * np.pi * np.arange(around) / around
    x = np.repeat(np.linspace(0.0, LENGTH, rings), around)
    turn = np.tile(angle, rings)
    corners = np.stack([x, RADIUS * np.cos(turn), RADIUS * np.sin(turn)], axis=1)
    here = (np.arange(rings - 1)[:, None] * around + np.arange(around)).ravel()
    after = (np.arange(rings - 1)[:, None] * around + (np.arange(around) + 1) % around).ravel()
    k, n = np.arange(around), len(corners)
    last = (rings - 1) * around
    ends = [
        np.stack([0 * k + n, (k + 1) % around, k], 1),
        np.stack([0 * k + n + 1, last + k, last + (k + 1) % around], 1),
    ]
    walls = [np.stack([here, after, after + around], 1), np.stack([here, after + around, here + around], 1)]
    return np.concatenate([corners, [[0, 0, 0], [LENGTH, 0, 0]]]), np.concatenate(walls + ends)


def shapes() -> dict[str, ag.Obstacle]:
    """The same tube as several shapes, and a floor."""
    corners, faces = tube()
    middle = (LENGTH / 2, 0, 0)
    return {
        "Pillar": ag.Pillar((0, 0, 0), (1, 0, 0), RADIUS, inside=True),
        "Capsule": ag.Capsule((0, 0, 0), (LENGTH, 0, 0), RADIUS, inside=True),
        "Cylinder": ag.Cylinder(middle, (1, 0, 0), RADIUS, LENGTH, inside=True, round=0.012),
        "Box": ag.Box(middle, (LENGTH, 2 * RADIUS, 2 * RADIUS), inside=True, round=0.012),
        "Mesh": ag.Mesh(vertices=corners, faces=faces, inside=True),
        "Mesh, spacing 1 mm": ag.Mesh(vertices=corners, faces=faces, inside=True, spacing=1e-3),
        "HalfSpace": ag.HalfSpace((0, 0, 1), -RADIUS),
    }


def step_time(obstacle: ag.Obstacle) -> float:
    """Least time of a step [s]: a soft rod falls onto the wall and comes to rest on it."""
    robot = ag.Robot("rod")
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.02)
    rod = ag.Rod(0.4, ag.Circle(0.008), rubber, ag.kirchhoff(6), intervals=24)
    arm = robot.add(rod, at=robot.ground.offset_by((0.03, 0, 0)), name="arm")
    robot.load(ag.Contact(arm, obstacle, 1e4, damping=1.0, friction=0.2))
    model = ag.Model(robot)
    took = []
    for _ in range(RUNS):
        before = time.perf_counter()
        ag.simulate(model, duration=STEPS * DT, dt=DT)
        took.append(time.perf_counter() - before)
    return min(took) / STEPS


def main() -> None:
    """Print the table."""
    first = None
    for name, obstacle in shapes().items():
        took = step_time(obstacle)
        first = first or took
        print(f"{name:20} {1e6 * took:8.1f} us a step {took / first:6.2f} x")


if __name__ == "__main__":
    main()
