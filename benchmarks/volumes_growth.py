"""Soft volumes from 1,600 to 30,000 nodes: time of ordering, factorisation and solves with each linear solver that is there.

    python benchmarks/volumes_growth.py             all sizes
    python benchmarks/volumes_growth.py --nodes 5000 --statics

Times are of the processor, medians; solvers take turns, so that a busy machine is unfair to none. "ldl" is built in, "mkl" is
PARDISO (extra `mkl`), CHOLMOD is asked for where scikit-sparse is installed. `--statics` solves a bar bent by its weight too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import anguilla as ag
from anguilla import fem
from anguilla.errors import AnguillaError
from anguilla.fem.linear import SOLVERS, make_solver
from anguilla.fem.system import SoftSystem

SIZES = {1600: (24, 7, 7), 5000: (35, 11, 11), 10600: (46, 14, 14), 30000: (64, 21, 21)}
LENGTH, THICK = 0.2, 0.06


def bar(cells: tuple[int, int, int]) -> fem.SoftBody:
    """A clamped bar of silicone."""
    soft = ag.Material(young=2e5, poisson=0.45, density=1070.0)
    body = fem.SoftBody("bar", fem.block((LENGTH, THICK, THICK), cells), soft)
    body.fix("base")
    return body


def spent(work: Callable[[], object]) -> float:
    """Processor time of some work [s]."""
    began = time.process_time()
    work()
    return time.process_time() - began


class Cholmod:
    """CHOLMOD by scikit-sparse, to compare with."""

    def __init__(self, points: np.ndarray, rows: np.ndarray, cols: np.ndarray) -> None:
        from sksparse.cholmod import analyze  # type: ignore[import-not-found]

        self._whole = make_solver("splu", points, rows, cols)
        self._matrix = lambda values: self._whole._fill(values).tocsc()
        self._factor = analyze(self._matrix(np.ones((len(rows), 9))).T.tocsc())

    def factor(self, values: np.ndarray) -> int:
        self._factor.cholesky_inplace(self._matrix(values).T.tocsc())
        return 0

    def solve(self, b: np.ndarray) -> np.ndarray:
        return np.asarray(self._factor(b.T)).T


def compare(cells: tuple[int, int, int], repeats: int) -> tuple[int, dict[str, tuple[float, float, float]]]:
    """Nodes, and by solver seconds of ordering, of a factorisation and of a solve with one right side."""
    system = SoftSystem(bar(cells))
    none = np.zeros(len(system.names))
    _, gradient, blocks = system.evaluate(system.rest, none, stiffness=True)
    values = system.unknowns.fold(system.rest.x, blocks, gradient)
    right = system.unknowns.gather(system.rest.x, gradient[None])
    made: dict[str, object] = {}
    ordering: dict[str, float] = {}
    kinds = {name: (lambda *a, n=name: make_solver(n, *a)) for name in SOLVERS if name != "splu"} | {"cholmod": Cholmod}
    for name, make in kinds.items():
        try:
            began = time.process_time()
            made[name] = make(system.unknowns.points, system.unknowns.rows, system.unknowns.cols)
            ordering[name] = time.process_time() - began
        except (AnguillaError, ImportError) as error:
            print(f"  {name}: {str(error).splitlines()[0]}")
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in made}
    answers = {}
    for _ in range(repeats):
        for name, solver in made.items():
            factor = spent(lambda one=solver: one.factor(values))  # type: ignore[attr-defined]
            solve = spent(lambda one=solver, n=name: answers.update({n: one.solve(right)}))  # type: ignore[attr-defined]
            times[name].append((factor, solve))
    first = next(iter(answers.values()))
    for name, x in answers.items():
        assert np.abs(x - first).max() < 1e-8 * np.abs(first).max(), f"{name} finds something else"
    found = {name: (ordering[name], *np.median(np.array(rows), axis=0).tolist()) for name, rows in times.items()}
    return len(system.rest.x), found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, choices=sorted(SIZES), default=None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--statics", action="store_true")
    given = parser.parse_args()
    print(
        f"{'nodes':>7} {'solver':>8} {'ordering':>9} {'factor':>9} {'solve':>9} {'statics':>9}  [s of processor time]"
    )
    for size in [given.nodes] if given.nodes else sorted(SIZES):
        nodes, found = compare(SIZES[size], given.repeats)
        for name, (order, factor, solve) in found.items():
            whole = ""
            if given.statics and name in SOLVERS:
                body = bar(SIZES[size])
                whole = f"{spent(lambda n=name, b=body: fem.statics(b, solver=n)):9.3f}"
            print(f"{nodes:7d} {name:>8} {order:9.3f} {factor:9.4f} {solve:9.4f} {whole:>9}", flush=True)


if __name__ == "__main__":
    main()
