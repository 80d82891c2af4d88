"""The soft parallel robot of paper 002: inverse kinematics to 28 places, an imperfect copy of it, two laws, loads.

Four bent silicone legs join two hubs; four cables pull the elbows towards the axis. The model finds the cable strokes for a
place of the top. The strokes are then given to a robot that differs from the model (stiffness, mesh), as a real one would:
its distances to the goals play the part of figure 12. Then cables slide over the elbows, where they rub.
Figure 14 (load at the top) and the comparison of laws of IV.D follow.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla import control, fem
from anguilla.view.style import COLOURS, INK, figure, figure_style

BOX = np.array([0.025, 0.025, 0.05])  # workspace [m]
CENTRE = np.array([0.0, 0.0, 0.13])  # the top at rest
LOADS = np.linspace(0.0, 0.3, 5)  # [N] hung at the top
YOUNG = 1.5e5  # [Pa]
DIRECTIONS = ("east", "north", "west", "south")


@dataclass
class Result:
    goals: np.ndarray  # (28, 3) [m]
    reached: np.ndarray  # (28, 3) by the relaxed model
    measured: np.ndarray  # (28, 3) by the other robot
    model_error: np.ndarray  # (28,) [m]
    plant_error: np.ndarray  # (28,) [m]
    rubbing: dict  # name of a robot with sliding cables -> (28,) [m]
    stroke_difference: float  # corotational against St Venant-Kirchhoff, part of the largest stroke
    force_difference: float  # the same of the tensions
    deflection: np.ndarray  # (loads, 2) of the top, model and other robot [m]
    shape: tuple  # positions and triangles at the last goal


def build(along=10, young=YOUNG, law="corotational", load=0.0, friction=None):
    """The robot; with a friction, its cables slide over the elbows and end on the upper legs."""
    mesh = fem.parallel_robot(along=along)
    silicone = ag.Material(young=young, poisson=0.45, density=1070)
    body = fem.SoftBody("parallel", mesh, silicone, law=law)
    body.fix("base")
    for name in DIRECTIONS:
        rim = mesh.points[mesh.nodes[f"elbow_{name}"]]
        elbow = rim[np.argmin(np.linalg.norm(rim - rim.mean(axis=0), axis=1))]
        end = 0.05 * elbow / np.linalg.norm(elbow[:2]) * [1, 1, 0] + [0, 0, 0.097]
        points = [elbow] if friction is None else [elbow, end]
        body.actuate(name, fem.Tendon(points, origin=(0, 0, 0.065), pad=0.012, friction=friction or 0.0))
    body.effector("top", (0, 0, 0.13))
    if load:
        body.load(fem.PointForce((0, 0, 0.13), (0, 0, -load)))
    return body


def goals():
    """28 places in the box of the paper: a 3 x 3 x 3 grid and its middle again, in a path without long jumps."""
    steps = np.array([-0.5, 0.0, 0.5])
    places = []
    for i, z in enumerate(steps):
        for j, y in enumerate(steps if i % 2 == 0 else steps[::-1]):
            for x in steps if (i + j) % 2 == 0 else steps[::-1]:
                places.append((x, y, z))
    return CENTRE + BOX * np.array([*places, (0.0, 0.0, 0.0)])


def main(along=10, other=12):
    places = goals()
    model, answers = solve(build(along), places)
    reached = np.array([answer.positions["top"] for answer in answers])
    measured = play(build(other, young=0.95 * YOUNG), answers)
    shape = (model.state.x.copy(), model.system.grid.refine(model.system.body.mesh.boundary))
    stroke, force = compare_laws(along, places[[0, 4, 8, 18, 22, 26]])
    return Result(
        places, reached, measured, np.linalg.norm(reached - places, axis=1), np.linalg.norm(measured - places, axis=1),
        rubbing(along, other, places), stroke, force, deflections(along, other), shape,
    )  # fmt: skip


def solve(body, places):
    """Inverse kinematics from place to place: (model, answers)."""
    model = fem.SoftModel(body)
    model.relax()  # it sinks under its weight
    return model, control.InverseKinematics(model).follow("top", places)


def play(body, answers):
    """Where the top of a robot goes (k, 3) [m] when its cables get the strokes of the answers."""
    system, state, tops = fem.SoftSystem(body), None, []
    for answer in answers:
        eq = fem.statics(system, strokes=answer.strokes, start=state)
        state = eq.state
        tops.append(eq.position("top"))
    return np.array(tops)


def rubbing(along, other, places):
    """Distances to the goals (28,) [m] of robots with sliding cables that differ from their model more and more."""
    _, answers = solve(build(along, friction=0.0), places)
    robots = {
        "5 % softer": build(along, 0.95 * YOUNG, friction=0.0),
        "and a finer mesh": build(other, 0.95 * YOUNG, friction=0.0),
        "and friction 0.3": build(other, 0.95 * YOUNG, friction=0.3),
    }
    return {name: np.linalg.norm(play(body, answers) - places, axis=1) for name, body in robots.items()}


def compare_laws(along, places):
    """Strokes and tensions for the same places with two laws: largest differences, over the largest value."""
    tables = []
    for law in ("corotational", "st_venant"):
        _, answers = solve(build(along, law=law), places)
        tables.append([[list(a.strokes.values()), list(a.inputs.values())] for a in answers])
    one, two = np.array(tables)
    difference, size = np.abs(one - two).max(axis=(0, 2)), np.ptp(two, axis=(0, 2))
    return difference / size


def deflections(along, other):
    """Sinking of the top under a hanging load, cables held; model and other robot."""
    out = []
    for body_of in (lambda load: build(along, load=load), lambda load: build(other, young=0.95 * YOUNG, load=load)):
        answer = control.inverse_kinematics(body_of(0.0), {"top": CENTRE})
        heights = [fem.statics(body_of(load), strokes=answer.strokes).position("top")[2] for load in LOADS]
        out.append(heights[0] - np.array(heights))
    return np.array(out).T


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.6, 3.6)
        left, middle, right = fig.subplots(1, 3)
        x, triangles = result.shape
        order = np.argsort(x[triangles].mean(axis=1)[:, 1])[::-1]
        from matplotlib.collections import PolyCollection

        left.add_collection(
            PolyCollection(
                1e3 * x[triangles[order]][:, :, [0, 2]], facecolors="#DCE6EE", edgecolors=INK, linewidths=0.15
            )
        )
        left.plot(*(1e3 * result.goals[:, [0, 2]].T), ".", ms=3, color=COLOURS[1])
        left.set(xlabel="x [mm]", ylabel="z [mm]", title="The robot and its 28 goals", aspect="equal")
        left.autoscale_view()
        k = np.arange(1, len(result.goals) + 1)
        middle.bar(k, 1e3 * result.plant_error, color=COLOURS[0], label="other robot")
        middle.plot(k, 1e3 * result.model_error, "_", color=COLOURS[1], label="relaxed model")
        middle.plot(
            k, 1e3 * result.rubbing["and friction 0.3"], ".", color=COLOURS[2], label="sliding cables, friction"
        )
        middle.set(xlabel="goal", ylabel="distance [mm]", title="Distance to the goal (figure 12)")
        middle.legend(frameon=False, fontsize=8)
        for j, name in enumerate(("model", "other robot")):
            right.plot(LOADS, 1e3 * result.deflection[:, j], "o-", ms=3, color=COLOURS[j], label=name)
        right.set(xlabel="load [N]", ylabel="sinking [mm]", title="Load at the top (figure 14)")
        right.legend(frameon=False, fontsize=8)
        fig.savefig(Path(folder) / "parallel_robot.png", dpi=100)


if __name__ == "__main__":
    result = main()
    print(f"model: largest distance {1e3 * result.model_error.max():.4f} mm")
    e = 1e3 * result.plant_error
    print(f"other robot: mean {e.mean():.2f} mm, deviation {e.std():.2f} mm, largest {e.max():.2f} mm")
    for name, error in result.rubbing.items():
        e = 1e3 * error
        print(f"sliding cables, {name}: mean {e.mean():.2f} mm, deviation {e.std():.2f} mm, largest {e.max():.2f} mm")
    print(
        f"laws: strokes differ by {100 * result.stroke_difference:.2f} %, tensions by {100 * result.force_difference:.2f} %"
    )
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
