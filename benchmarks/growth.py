"""A Newton iteration along a chain of rods, solved part by part: how it grows with the rods.

    python benchmarks/growth.py

Every rod has nine coordinates (three modes of twist and of both bendings) and ten intervals. An iteration is a residual, the
tangent with its elimination, and a solution; the best of several rounds, one thread.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np
from measure import exponent, timed

import anguilla as ag
from anguilla.linear.tree import solve_tree
from anguilla.mechanics.tree import elimination
from anguilla.model.evaluate import linearise, residual

RODS = (1, 4, 16, 64, 256, 1024)


def chain(count: int) -> ag.Robot:
    """Rods clamped end to end."""
    robot = ag.Robot("chain")
    rod = ag.Rod(
        0.3, ag.Circle(0.01), ag.Material(1e6, 1000.0, poisson=0.5, damping=0.01), ag.kirchhoff(3), intervals=10
    )
    at = robot.ground
    for _ in range(count):
        at = robot.add(rod, at=at).tip
    return robot


def best(work, rounds: int = 15) -> float:
    """Shortest time of some work [ms]."""
    work()
    return 1e3 * min(timed(work)[1] for _ in range(rounds))


def measured(count: int) -> tuple[float, float, float, float]:
    """Times [ms] of compiling, residual, tangent with elimination, and solution."""
    robot = chain(count)
    compiling = best(lambda: ag.Model(robot, linear="tree"), 2)
    model = ag.Model(robot, linear="tree")
    tree, space, loads, memory = model.tree, model.workspace, model.loads(0.0).loads, elimination(model.tree)
    q, still, none, out = np.full(model.size, 0.1), np.zeros(model.size), np.zeros(0), np.zeros(model.size)
    return (
        compiling,
        best(lambda: residual(tree, space, loads, q, still, still, none, out)),
        best(lambda: linearise(tree, space, loads, memory, 10.0, 100.0, none)),
        best(lambda: solve_tree(tree, space, memory, out.copy())),
    )


def main() -> None:
    """Print the table and the exponents."""
    print(
        "| rods | coordinates | model [ms] | residual [ms] | tangent, eliminated [ms] | solution [ms] | iteration [ms] |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|")
    totals = []
    for count in RODS:
        model, *parts = measured(count)
        totals.append(sum(parts))
        print(f"| {count} | {9 * count} | {model:.1f} | " + " | ".join(f"{x:.3f}" for x in (*parts, sum(parts))) + " |")
    later = [k for k, count in enumerate(RODS) if count >= 16]
    print(f"\nfrom 16 rods on: time ~ n^{exponent([RODS[k] for k in later], [totals[k] for k in later]):.2f}")


if __name__ == "__main__":
    main()
