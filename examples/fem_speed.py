"""How fast one step of inverse kinematics is: assemble, factor, project, QP, move, on meshes of growing size.

The robot is the parallel one of paper 002: 3 effector rows, 4 tendons. The paper needs 50 ms for the projection alone. Times
are those of the processor in this thread, so that other work on the machine disturbs them less; a product of two matrices,
timed in between, tells how fast and how quiet the machine is.
"""

import sys
import time
from dataclasses import dataclass

import numpy as np

import anguilla as ag
from anguilla import control, fem

SIZES = ((8, 2), (13, 2), (22, 2))  # boxes along half a leg and across it: about 650, 1000 and 1640 nodes
GROWTH = ((22, 3), (35, 3), (45, 4))


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
    kept_error: float  # [m] largest distance of the effector from the moving target, factorisation kept
    reference: float  # [s] best of a product of two matrices (200, 200)


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
    left = apart = 0.0
    square, reference = np.random.default_rng(0).random((200, 200)), np.inf
    for reuse in (0, 1):
        inverse = control.InverseKinematics(model, reuse=10 * reuse)
        for k in range(steps):
            goal = centre + 2e-3 * np.array([np.cos(0.1 * k), np.sin(0.1 * k), 0.0])
            before = time.thread_time()
            inverse.step({"top": goal})
            times[reuse].append(time.thread_time() - before)
            before = time.thread_time()
            square @ square
            reference = min(reference, time.thread_time() - before)
            if reuse and k > 5:
                left = max(left, float(np.abs(model.system.residual(model.state, model.efforts)).max()))
                apart = max(apart, float(np.linalg.norm(model.positions()[0] - goal)))
    inverse = control.InverseKinematics(model)
    inverse.step({"top": goal})
    imbalance = float(np.abs(model.system.residual(model.state, model.efforts)).max())
    every = np.array(times[0][5:])
    return Timing(
        len(model.system.grid.points), len(model.system.body.mesh.tets), solver, float(every.min()),
        float(np.median(every)), float(min(times[1][5:])), imbalance, left, apart, reference,
    )  # fmt: skip


def main(sizes=SIZES, solvers=("ldl",), steps=25):
    return [measure(*size, solver, steps) for size in sizes for solver in solvers]


if __name__ == "__main__":
    solvers = sys.argv[1:] or ("ldl",)
    rows = main(solvers=solvers, steps=200) + main(GROWTH, solvers, steps=30)
    print(
        "nodes  tetrahedra  solver  best [ms]  [Hz]  median [ms]  factor kept [ms]  imbalance [N]  (kept)  off [mm]  ref [ms]"
    )
    for r in rows:
        print(
            f"{r.nodes:5d}  {r.tetrahedra:10d}  {r.solver:6s}  {1e3 * r.best:9.2f}  {1 / r.best:4.0f}  {1e3 * r.median:11.2f}"
            f"  {1e3 * r.reused:16.2f}  {r.imbalance:13.1e}  {r.kept_imbalance:.1e}  {1e3 * r.kept_error:8.4f}"
            f"  {1e3 * r.reference:8.3f}"
        )
