"""Dense linear equations, solved with rows and columns brought to entries of order one: pivots can then be compared.

Coordinates are angles and lengths, multipliers forces and moments; as they come, a matrix of them may span twenty decades.
"""

from __future__ import annotations

import numpy as np

from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model

__all__ = ["balanced", "least", "solve", "solve_bordered"]

TINY = 1e-300  # of an empty row


def balanced(matrix: Floats, units: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """(scaled, rows, columns) with matrix = rows x scaled x columns, the largest entry of each row and column about one.

    Args:
        matrix: (m, n).
        units: (n,) columns, where they are known; a column that is zero but for round-off then stays so.

    """
    if units is not None:
        matrix = matrix / units
    rows = np.abs(matrix).max(axis=1, initial=TINY)
    matrix = matrix / rows[:, None]
    columns = np.abs(matrix).max(axis=0, initial=TINY) if units is None else units
    return matrix if units is not None else matrix / columns, rows, columns


def solve(matrix: Floats, right: Floats) -> Floats:
    """Solve matrix x = right (n,) or (n, k); LinAlgError if it is singular."""
    scaled, rows, columns = balanced(matrix)
    return (np.linalg.solve(scaled, (right.T / rows).T).T / columns).T


def least(matrix: Floats, right: Floats, zero: float | None = None, units: Floats | None = None) -> tuple[Floats, int]:
    """(solution of matrix x = right (m,) or (m, k) by least squares, rank of the matrix).

    The solution does not move along what costs nothing: singular values below the part `zero` of the largest.
    """
    scaled, rows, columns = balanced(matrix, units)
    found, _, rank, _ = np.linalg.lstsq(scaled, (right.T / rows).T, rcond=zero)
    return (found.T / columns).T, int(rank)


def solve_bordered(system: Model, matrix: Floats, right: Floats) -> Floats:
    """Solve a system (n + m, n + m) of coordinates and multipliers; prescribed coordinates (n,) stay zero.

    Multipliers are counted in units of the block of the coordinates: the masses of a robot of a millimetre are 1e-15 beside
    the gradients of its constraints, and would be lost.
    """
    driven, units = system.blank.driven, system.once(_units)
    if len(driven):
        matrix, right = matrix.copy(), right.copy()
        matrix[driven], matrix[:, driven], right[driven] = 0.0, 0.0, 0.0
        matrix[driven, driven] = 1.0
    n, matrix, right = system.size, matrix / units[:, None] / units, (right.T / units).T
    unit = float(np.max(np.abs(matrix[:n, :n]), initial=0.0)) or 1.0
    matrix[:n, :n] /= unit
    matrix[n:, n:] *= unit
    right[:n] /= unit
    found = solve(matrix, right)
    found[n:] *= unit
    return (found.T / units).T


def _units(system: Model) -> Floats:
    """(n + m,) of coordinates, as the tree has them, and one for multipliers."""
    return np.concatenate([system.tree.scale, np.ones(system.rows)])
