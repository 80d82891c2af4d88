"""A net of elastic rods, pinned together where they cross and hung at its four corners, sags under its weight.

Long rods run in two directions. At every crossing two small clamps, one on either rod, turn on a common pin. Between two
crossings there is one rod of the library, clamped at both ends. There are two ways to write the same net down:

- every crossing floats (a Free joint from the ground), each rod grows from one crossing and is closed on the next one. The
  tree is three parts deep, however large the net is, and everything meets its neighbours only: made for sparse algebra;
- a spanning tree: rods and crossings grow out of one corner, and one rod of each mesh is closed. This has fewer coordinates,
  but the tree is as deep as the net is wide.
"""

import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

SIDE, RADIUS = 1.5, 5e-3  # of the net, of a rod [m]
YOUNG, DENSITY, DAMPING = 1e7, 1000.0, 0.01  # rubber [Pa], [kg/m^3], [s]
CLAMP = 2e-3  # mass of a clamp [kg]
CELLS = 15
MODES = {"twist": 1, "bend_y": 2, "bend_z": 2, "stretch": 1}  # of each rod between two crossings
SMALL = {"cells": 3}  # what the tests run
TURNS = (np.eye(4), np.eye(4)[:, [1, 0, 2, 3]] * [1, -1, 1, 1])  # frames whose x is along x, and along y


@dataclass
class Net:
    """A net in a robot: clamps by knot and direction, rods by the knots they join."""

    robot: ag.Robot
    clamps: dict
    rods: dict

    def place(self, result, knot):
        """Position (..., 3) [m] of a knot in a result."""
        return result.position(next(self.clamps[knot, k] for k in (0, 1) if (knot, k) in self.clamps).frame)


@dataclass
class Result:
    net: Net
    hanging: ag.Equilibrium
    sag: float  # of the middle [m]
    cells: int


def weave(robot, knots, spans, rod_of, *, held=None, shallow=True, clamp=None, drag=0.0):
    """Put a net into a robot.

    knots: position (3,) [m] by key; spans: (knot, knot, direction 0 or 1 for x or y) of each rod; rod_of(a, b): its rod;
    held: knots on a ball joint, by key: None, or a function t -> place (3,) to move them; clamp: the body of each rod at a
    knot; drag: of the air on a knot that floats [N s/m].
    """
    held, clamp = held or {}, clamp or ag.RigidBody.sphere(2 * RADIUS, mass=CLAMP)
    net = Net(robot, {}, {})
    at_knot = {knot: [] for knot in knots}
    for span in spans:
        at_knot[span[0]].append(span)
        at_knot[span[1]].append(span)

    def pin(knot):
        """The other clamp of a knot turns on the first one."""
        for k in {k for *_, k in at_knot[knot]}:
            if (knot, k) not in net.clamps:
                first = net.clamps[knot, 1 - k]
                net.clamps[knot, k] = robot.add(clamp, at=first.frame, joint=ag.Revolute("z"), name=_name("pin", knot))

    def stand(knot):
        """A knot that grows from the ground."""
        first = min(k for *_, k in at_knot[knot])
        joint = ag.Spherical() if knot in held and held[knot] is None else ag.Free(damping=[drag] * 3 + [0.0] * 3)
        net.clamps[knot, first] = robot.add(
            clamp, at=robot.ground, joint=joint, pose=knots[knot], name=_name("knot", knot)
        )
        pin(knot)

    def grow(a, b, k):
        handle = robot.add(rod_of(a, b), at=net.clamps[a, k].frame, pose=TURNS[k], name=_name("rod", (*a, *b)))
        net.rods[a, b] = handle
        return handle

    if shallow:
        for knot in knots:
            stand(knot)
        for a, b, k in spans:
            robot.close(grow(a, b, k).tip, net.clamps[b, k].frame, pose=TURNS[k].T, name=_name("end", (*a, *b)))
        hold = {knot: place for knot, place in held.items() if place is not None}
    else:
        root = next(iter(knots))
        hold = {knot: place for knot, place in held.items() if knot != root or place is not None}
        stand(root)
        todo = deque([root])
        while todo:
            knot = todo.popleft()
            for a, b, k in at_knot[knot]:
                if a != knot or (a, b) in net.rods:
                    continue
                tip = grow(a, b, k).tip
                if (b, k) in net.clamps:
                    robot.close(tip, net.clamps[b, k].frame, pose=TURNS[k].T, name=_name("end", (*a, *b)))
                else:
                    net.clamps[b, k] = robot.add(clamp, at=tip, pose=TURNS[k].T, name=_name("knot", b))
                    pin(b)
                    todo.append(b)
    for knot, place in hold.items():
        body = net.clamps[knot, min(k for *_, k in at_knot[knot])]
        pose = knots[knot] if place is None else place
        robot.close(robot.ground, body.frame, joint=ag.Spherical(), pose=pose, name=_name("hold", knot))
    return net


def _name(kind, key):
    return "_".join([kind, *map(str, key)])


def build(cells=CELLS, modes=MODES, *, shallow=True, intervals=None, damping=DAMPING, drag=0.0):
    """The net, hung at its corners: flat and without stress; drag of the air on every floating knot [N s/m]."""
    rubber = ag.Material(YOUNG, DENSITY, damping=damping)
    rod = ag.Rod(SIDE / cells, ag.Circle(RADIUS), rubber, ag.Strains(**modes), intervals=intervals)
    across = range(cells + 1)
    knots = {(i, j): np.array([i, j, 0]) * SIDE / cells for j in across for i in across}
    spans = [((i, j), (i + 1, j), 0) for j in across for i in range(cells)]
    spans += [((i, j), (i, j + 1), 1) for i in across for j in range(cells)]
    held = {(i, j): None for i in (0, cells) for j in (0, cells)}
    return weave(ag.Robot("net"), knots, spans, lambda a, b: rod, held=held, shallow=shallow, drag=drag)


def main(cells=CELLS, **options):
    net = build(cells, **options)
    hanging = ag.statics(net.robot)
    middle = net.place(hanging, (cells // 2, cells // 2))
    return Result(net, hanging, -float(middle[2]), cells)


def draw(axes, net, state, colours=COLOURS[:2], width=1.0):
    """Draw the rods of a net in three dimensions; the colour tells their direction."""
    for (a, b), rod in net.rods.items():
        axes.plot(*state.centerline(rod, 6).T, color=colours[int(a[0] == b[0])], lw=width)
    axes.set_box_aspect(np.ptp([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()], axis=1), zoom=1.0)  # equal scales
    axes.set_axis_off()


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(6.0, 4.5)
        axes = fig.add_subplot(projection="3d", elev=18, azim=-50)
        draw(axes, result.net, result.hanging)
        axes.set_title(f"{len(result.net.rods)} rods, sag {100 * result.sag:.1f} cm")
        fig.savefig(Path(folder) / "hanging_net.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.hanging)
    print(f"{len(result.net.rods)} rods, {result.net.robot.size} coordinates: the middle sags by {result.sag:.4f} m")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
