"""The derivative of the boundary-value problem as a matrix, and the solution of its linear equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from anguilla.mechanics.tree import Floats, Ints
from anguilla.shooting.closing import tie_blocks
from anguilla.shooting.jointing import joint_blocks

if TYPE_CHECKING:
    from anguilla.shooting.problem import BoundaryProblem, Unknowns

DENSE = 300  # below this many unknowns a dense factorisation is faster


def pattern(problem: BoundaryProblem) -> tuple[Ints, Ints]:
    """Rows and columns of the entries written by `balance`."""
    nd, xdim = problem.nd, problem.xdim
    rows: list[Ints] = []
    cols: list[Ints] = []

    def block(row: int, height: int, col: int, width: int) -> None:
        r, c = np.meshgrid(np.arange(row, row + height), np.arange(col, col + width), indexing="ij")
        rows.append(r.ravel())
        cols.append(c.ravel())

    for s in range(problem.count):
        diagonal = np.arange(s * nd, s * nd + xdim)
        rows.append(diagonal)
        cols.append(diagonal)
        block(s * nd + xdim, 6, s * nd, nd)
        p = int(problem.nodes.parent[s])
        if p >= 0:
            block(s * nd, xdim, p * nd, nd)
            block(p * nd + xdim, 6, s * nd + xdim, 6)
    return np.concatenate(rows), np.concatenate(cols)


def derivative(problem: BoundaryProblem, u: Unknowns) -> csc_matrix | Floats:
    """Derivative of the residual, sparse if large, after `evaluate` with its tangent."""
    rows, cols, values = [problem.rows], [problem.cols], [problem.values]

    def block(at: int, to: int, part: Floats) -> None:
        r, c = np.meshgrid(np.arange(part.shape[0]) + at, np.arange(part.shape[1]) + to, indexing="ij")
        rows.append(r.ravel())
        cols.append(c.ravel())
        values.append(np.asarray(part, dtype=float).ravel())

    nd, xdim, n = problem.nd, problem.xdim, problem.size
    joint_blocks(problem, block, u)
    for k, s in enumerate(problem.roots):
        block(s * nd, problem.root_slice[k].start, problem.root_tangent[k])
        block(problem.root_slice[k].start, s * nd + xdim, np.eye(6))
    for k, tie in enumerate(problem.ties):
        tie_blocks(problem, block, k, tie, u.ties[k])
    r, c, v = np.concatenate(rows), np.concatenate(cols), np.concatenate(values)
    if n > DENSE:
        return csc_matrix((v, (r, c)), shape=(n, n))
    return np.bincount(r * n + c, weights=v, minlength=n * n).reshape(n, n)


def factorised(matrix: csc_matrix | Floats, rows: Floats, cols: Floats) -> Callable[[Floats], Floats] | None:
    """Solver of linear equations, told in the units of equations and unknowns; None if singular.

    In natural units: the pivots of a badly scaled matrix mislead.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(matrix, np.ndarray):
            scaled = matrix * cols / rows[:, None]
            if not np.all(np.isfinite(scaled)):
                return None
            lu, pivots, info = lapack.dgetrf(scaled)
            return None if info else lambda r: cols * lapack.dgetrs(lu, pivots, r / rows)[0]
        sparse = csc_matrix(matrix.multiply(cols).multiply(1.0 / rows[:, None]))
        if not np.all(np.isfinite(sparse.data)):
            return None
    try:
        solve = splu(sparse).solve
    except RuntimeError:
        return None
    return lambda r: cols * solve(r / rows)
