"""Robots that several tests share."""

import numpy as np

import anguilla as ag
from anguilla import fem

SILICONE = ag.Material(young=2.5e5, poisson=0.45, density=1070.0)
DIRECTIONS = ("east", "north", "west", "south")


def parallel(
    along=8, young=2.5e5, element="linear", law="corotational", friction=0.0, stroke=(-np.inf, np.inf), top=np.inf
):
    """The parallel robot of 002 figure 11, pulled at its elbows towards its axis."""
    mesh = fem.parallel_robot(along=along)
    material = ag.Material(young=young, poisson=0.45, density=1070.0)
    body = fem.SoftBody("parallel", mesh, material, element=element, law=law)
    body.fix("base")
    for name in DIRECTIONS:
        rim = mesh.points[mesh.nodes[f"elbow_{name}"]]
        middle = rim.mean(axis=0)
        nearest = rim[np.argmin(np.linalg.norm(rim - middle, axis=1))]
        tendon = fem.Tendon(
            [nearest], origin=(0, 0, 0.065), pad=0.012, friction=friction, stroke=stroke, force=(0.0, top)
        )
        body.actuate(name, tendon)
    body.effector("top", (0, 0, 0.13))
    return body


def guided(along=8, friction=0.0):
    """The parallel robot with cables that slide over the elbows and end on the upper legs."""
    body = parallel(along, young=1.5e5)
    for name in DIRECTIONS:
        elbow = body.actuators[name].points[0]
        end = 0.05 * elbow / np.linalg.norm(elbow[:2]) * [1, 1, 0] + [0, 0, 0.097]
        body.actuators[name] = fem.Tendon([elbow, end], origin=(0, 0, 0.065), pad=0.012, friction=friction)
    return body


def finger(young=1e6, cells=(10, 2, 2), load=None):
    """A bar with four tendons and three strings along it, clamped at x = 0."""
    material = ag.Material(young=young, poisson=0.3, density=1000.0)
    body = fem.SoftBody("finger", fem.block((0.1, 0.01, 0.01), cells), material)
    body.fix("base")
    for k, (y, z) in enumerate(((4e-3, 0), (0, 4e-3), (-4e-3, 0), (0, -4e-3))):
        body.actuate(f"pull_{k}", fem.Tendon([(x, y, z) for x in np.linspace(0, 0.1, 6)], pad=3e-3))
    for k, angle in enumerate(2 * np.pi / 3 * np.arange(3)):
        y, z = 4.5e-3 * np.cos(angle), 4.5e-3 * np.sin(angle)
        body.sense(f"string_{k}", fem.String([(x, y, z) for x in np.linspace(0, 0.1, 6)]))
    body.effector("tip", (0.1, 0, 0))
    if load is not None:
        body.load(fem.PointForce((0.1, 0, 0), load))
    return body


def rod(young=1e6, length=0.1, side=0.01):
    """The same finger as a rod: (robot, arm)."""
    material = ag.Material(young=young, poisson=0.3, density=1000.0)
    robot = ag.Robot("finger")
    arm = robot.add(ag.Rod(length, ag.Rectangle(side, side), material, ag.reissner(4)), at=robot.ground, name="arm")
    for k, (y, z) in enumerate(((4e-3, 0), (0, 4e-3), (-4e-3, 0), (0, -4e-3))):
        robot.actuate(f"pull_{k}", ag.Tendon(arm, ag.parallel(y=y, z=z)))
    return robot, arm
