"""How fast one step of inverse kinematics is: assemble, factor, project, QP, move, on meshes of growing size.

The robot is the parallel one of paper 002: 3 effector rows, 4 tendons. The paper needs 50 ms for the projection alone.
"""

import sys
import time
from dataclasses import dataclass

import numpy as np

import anguilla as ag
from anguilla import control, fem

SIZES = (8, 13, 22)  # boxes along half a leg: about 650, 1000 and 1640 nodes


@dataclass
class Timing:
    nodes: int
    tetrahedra: int
    solver: str
    best: float  # [s] of one step
    median: float  # [s]
    reused: float  # [s] best of a step that keeps its factorisation
    imbalance: float  # [N] largest force left on a node one step after the target stopped
    kept_imbalance: float  # [N] largest force left while the target moves and the factorisation is kept


def build(along, across=2):
    mesh = fem.parallel_robot(along=along, across=across)
    body = fem.SoftBody("parallel", mesh, ag.Material(young=1.5e5, poisson=0.45, density=1070))
    body.fix("base")
    for name in ("east", "north", "west", "south"):
        rim = mesh.points[mesh.nodes[f"elbow_{name}"]]
        elbow = rim[np.argmin(np.linalg.norm(rim - rim.mean(axis=0), axis=1))]
        body.actuate(name, fem.Tendon([elbow], origin=(0, 0, 0.065), pad=0.012))
    body.effector("top", (0, 0, 0.13))
    return body


def measure(along, across=2, solver="ldl", steps=40):
    model = fem.SoftModel(build(along, across), solver=solver)
    model.relax()
    centre = model.positions()[0] + [0, 0, 0.01]
    times: dict[int, list[float]] = {0: [], 1: []}
    left = 0.0
    for reuse in (0, 1):
        inverse = control.InverseKinematics(model, reuse=10 * reuse)
        for k in range(steps):
            goal = centre + 2e-3 * np.array([np.cos(0.1 * k), np.sin(0.1 * k), 0.0])
            before = time.perf_counter()
            inverse.step({"top": goal})
            times[reuse].append(time.perf_counter() - before)
            if reuse and k > 5:
                left = max(left, float(np.abs(model.system.residual(model.state, model.efforts)).max()))
    inverse = control.InverseKinematics(model)
    inverse.step({"top": goal})
    imbalance = float(np.abs(model.system.residual(model.state, model.efforts)).max())
    every = np.array(times[0][5:])
    return Timing(
        len(model.system.grid.points), len(model.system.body.mesh.tets), solver, float(every.min()),
        float(np.median(every)), float(min(times[1][5:])), imbalance, left,
    )  # fmt: skip


def main(sizes=SIZES, solvers=("ldl",), steps=25):
    return [measure(along, 2, solver, steps) for along in sizes for solver in solvers]


if __name__ == "__main__":
    rows = main(solvers=sys.argv[1:] or ("ldl",), steps=60)
    rows += [measure(along, across, "ldl", 20) for along, across in ((35, 3), (45, 4))]
    print("nodes  tetrahedra  solver  best [ms]  [Hz]  median [ms]  factor kept [ms]  imbalance [N]  (kept)")
    for r in rows:
        print(
            f"{r.nodes:5d}  {r.tetrahedra:10d}  {r.solver:6s}  {1e3 * r.best:9.2f}  {1 / r.best:4.0f}  {1e3 * r.median:11.2f}"
            f"  {1e3 * r.reused:16.2f}  {r.imbalance:.1e}  {r.kept_imbalance:.1e}"
        )
