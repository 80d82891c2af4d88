"""A grid shell: a flat grid of straight laths, hinged where they cross, is pushed in at its rim and rises to a dome.

Eleven laths of glass fibre run in each direction over a circle of five and a half metres. Their ends stand on feet with
ball joints; at every crossing two clamps turn on a common pin, so that squares may become diamonds. The feet are pushed
towards the middle of their laths, each by the share that fits a dome: the excess of a shallow arc goes with the cube of its
chord. A crane lifts the grid a little at first, which decides that it buckles up and not down, and carries it: its weight
comes on with the way of the feet.

Between two crossings there is one rod: about 200 in all. The net is written down as in hanging_net.py.
"""

import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from hanging_net import Net, draw, weave

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

SPACING, RADIUS = 0.5, 0.015  # of the laths, of their section [m]
GLASS = {"young": 25e9, "density": 1900.0}  # [Pa], [kg/m^3]
HEIGHT = 0.3  # of the dome, over the radius of the circle
CLAMP = 0.1  # mass of a clamp [kg]
LATHS = 11
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)  # of the way of the feet
MODES = {"twist": 1, "bend_y": 2, "bend_z": 2, "stretch": 1}
SMALL = {"laths": 3, "shares": (0.1, 1.0)}  # what the tests run


@dataclass
class Result:
    net: Net
    risen: list  # equilibria, one for each share
    shares: tuple
    top: np.ndarray  # height of the middle (shares,) [m]
    laths: int


def build(laths=LATHS, modes=MODES, *, shallow=True, weight=9.81):
    """The grid, flat on its feet; at time t the feet have made the share t of their way, and it carries as much of itself."""
    half = laths // 2
    reach = half + 0.5  # radius of the circle, in spacings
    chord = {k: np.sqrt(reach**2 - k**2) for k in range(-half, half + 1)}
    knots, spans, held = {}, [], {}
    for direction in (0, 1):
        for k, c in chord.items():
            inside = [i for i in range(-half, half + 1) if abs(i) < c - 0.2]
            stops = [(-c, "start"), *((i, i) for i in inside), (c, "end")]
            keys = []
            for x, label in stops:
                key = (
                    (direction, k, label) if isinstance(label, str) else ((label, k) if direction == 0 else (k, label))
                )
                keys.append(key)
                place = SPACING * np.array([x, k, 0.0] if direction == 0 else [k, x, 0.0])
                knots.setdefault(key, place)
                if isinstance(label, str):
                    held[key] = foot(place, direction, (2 / 3) * HEIGHT**2 * c**3 / reach**2 * SPACING)
            spans += [(a, b, direction) for a, b in pairwise(keys)]
    glass = ag.Material(**GLASS)
    strains = ag.Strains(**modes)

    def lath(a, b):
        length = float(np.linalg.norm(knots[b] - knots[a]))
        return ag.Rod(length, ag.Circle(RADIUS), glass, strains)

    clamp = ag.RigidBody.sphere(2 * RADIUS, mass=CLAMP)
    robot = ag.Robot("grid_shell", gravity=lambda t: (0.0, 0.0, -t * weight))
    return weave(robot, knots, spans, lath, held=held, shallow=shallow, clamp=clamp)


def foot(place, direction, way):
    """Where a foot stands at time t."""
    inward = np.zeros(3)
    inward[direction] = -np.sign(place[direction]) * way
    return lambda t: place + t * inward


def lifted(net, laths, share):
    """Coordinates (n,) with every knot lifted to the dome that the feet ask for."""
    labels = {label: k for k, label in enumerate(net.robot.coordinates())}
    reach = SPACING * (laths // 2 + 0.5)
    q = np.zeros(len(labels))
    for clamp in net.clamps.values():
        if f"{clamp.name}.z" in labels:
            x, y, _ = clamp.pose[:3, 3]
            q[labels[f"{clamp.name}.z"]] = np.sqrt(share) * HEIGHT * reach * max(0.0, 1 - (x**2 + y**2) / reach**2)
    return q


def main(laths=LATHS, shares=SHARES, **options):
    net = build(laths, **options)
    risen, state = [], lifted(net, laths, shares[0])
    for share in shares:
        state = ag.statics(net.robot, t=share, start=state)
        risen.append(state)
    top = np.array([net.place(state, (0, 0))[2] for state in risen])
    return Result(net, risen, tuple(shares), top, laths)


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.0, 4.0)
        left = fig.add_subplot(1, 2, 1, projection="3d", elev=22, azim=-55)
        draw(left, result.net, result.risen[-1])
        left.set_title(f"{len(result.net.rods)} rods")
        right = fig.add_subplot(1, 2, 2)
        right.plot([0, *result.shares], [0, *result.top], "o-", color=COLOURS[1])
        right.set(xlabel="share of the way of the feet", ylabel="height of the middle [m]", title="Rise from flat")
        fig.savefig(Path(folder) / "grid_shell.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.risen[-1])
    print(f"{len(result.net.rods)} rods, {result.net.robot.size} coordinates: {result.top[-1]:.3f} m high")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
