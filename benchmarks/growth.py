"""A Newton iteration along a chain of rods, solved part by part: how it grows with the rods.

    python benchmarks/growth.py

Every rod has nine coordinates (three modes of twist and of both bendings) and ten intervals. An iteration is a residual, the
tangent with its elimination, and a solution; the best of several rounds, one thread.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from collections.abc import Callable

import numpy as np
from measure import exponent, timed

import anguilla as ag
from anguilla.linear.tree import solve_tree
from anguilla.mechanics.tree import elimination
from anguilla.model.evaluate import linearise, residual

RODS = (1, 4, 16, 64, 256, 1024)
WARM = 64  # times a chain of one rod is called in a round; longer ones are called less often


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


def works(count: int) -> tuple[float, tuple[Callable[[], object], ...]]:
    """Time [ms] of compiling, and residual, tangent with elimination, and solution, to be called."""
    robot = chain(count)
    compiling = 1e3 * min(timed(lambda: ag.Model(robot, linear="tree"))[1] for _ in range(2))
    model = ag.Model(robot, linear="tree")
    tree, space, loads, memory = model.tree, model.workspace, model.loads(0.0).loads, elimination(model.tree)
    q, still, none, out = np.full(model.size, 0.1), np.zeros(model.size), np.zeros(0), np.zeros(model.size)
    return compiling, (
        lambda: residual(tree, space, loads, q, still, still, none, out),
        lambda: linearise(tree, space, loads, memory, 10.0, 100.0, none),
        lambda: solve_tree(tree, memory, out.copy()),
    )


def measured(rounds: int = 25) -> dict[int, list[float]]:
    """Times [ms] of compiling, residual, tangent with elimination, and solution, by the number of rods.

    All sizes take turns, so that they see the same machine; each is warm when it is timed.
    """
    models = {count: works(count) for count in RODS}
    found = {count: [compiling, *[np.inf] * len(parts)] for count, (compiling, parts) in models.items()}
    for _ in range(rounds):
        for count, (_, parts) in models.items():
            for k, work in enumerate(parts):
                work()
                taken = min(timed(work)[1] for _ in range(max(1, WARM // count)))
                found[count][k + 1] = min(found[count][k + 1], 1e3 * taken)
    return found


def main() -> None:
    """Print the table and the exponents."""
    print(
        "| rods | coordinates | model [ms] | residual [ms] | tangent, eliminated [ms] | solution [ms] | iteration [ms] |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|")
    totals = []
    for count, (model, *parts) in measured().items():
        totals.append(sum(parts))
        print(f"| {count} | {9 * count} | {model:.1f} | " + " | ".join(f"{x:.3f}" for x in (*parts, sum(parts))) + " |")
    later = [k for k, count in enumerate(RODS) if count >= 16]
    print(f"\nfrom 16 rods on: time ~ n^{exponent([RODS[k] for k in later], [totals[k] for k in later]):.2f}")


if __name__ == "__main__":
    main()
