"""Robots and synthetic measurements for tests of identification."""

from __future__ import annotations

import numpy as np

import anguilla as ag

TENDONS = (("t1", 0.3), ("t2", 2.4), ("t3", 4.5))


def tendon_arm(by: str = "tension") -> ag.Robot:
    robot = ag.Robot("arm")
    rod = ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1100.0, poisson=0.5), ag.kirchhoff(2))
    arm = robot.add(rod, at=robot.ground, name="arm")
    for name, angle in TENDONS:
        place = ag.parallel(0.008 * np.cos(angle), 0.008 * np.sin(angle))
        robot.actuate(name, ag.Tendon(arm, place, by=by, compliance=1e-3 if by == "length" else 0.0))
    robot.load(ag.TipWrench(arm, force=(0.0, 0.0, -0.03), name="payload"))
    return robot


def pulls(rows: int, rng: np.random.Generator, most: float = 3.0) -> dict[str, np.ndarray]:
    return {name: rng.uniform(0.0, most, rows) for name, _ in TENDONS}


def filmed(
    robot: ag.Robot, inputs: dict[str, np.ndarray], noise: float, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Places of the tip and of the middle in equilibria."""
    arm, rows = robot.part("arm"), len(next(iter(inputs.values())))
    frames = {"tip": arm.tip, "mid": arm.section(0.15)}
    states = [ag.statics(robot, inputs={name: u[k] for name, u in inputs.items()}) for k in range(rows)]
    places = {name: np.array([eq.position(frame) for eq in states]) for name, frame in frames.items()}
    return {name: x + rng.normal(0.0, noise, x.shape) for name, x in places.items()}


MARKERS = {"tip": "arm.tip", "mid": "arm[0.15]"}
