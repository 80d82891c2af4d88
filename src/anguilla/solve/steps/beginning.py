"""The linear equations of the start of a motion: M a + dR/dlambda lambda = force, J a = asked; dense, or in blocks."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anguilla.errors import SolverError
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Model
from anguilla.model.operator import BlockOperator
from anguilla.solve.newton.closing import loose
from anguilla.solve.newton.dense import balanced, least
from anguilla.solve.newton.gaps import BlockGaps

__all__ = ["BlockBalance", "DenseBalance", "massless", "pushed", "solve"]

HEAVY = 1e30  # [1/s^2] weight of the mass matrix in a tangent in which nothing else counts
WRONG = 1e-6  # of the forces, that a solution may miss


class DenseBalance:
    """Of a small robot.

    Args:
        here: where constraints are taken, moving.
        still: where masses are taken.
        twist: (m,) whether a constraint holds rates only.
        free: coordinates whose motion is not given.

    """

    def __init__(self, here: Evaluation, still: Evaluation, twist: NDArray[np.bool_], free: Ints) -> None:
        self._still, self._free, self._n = still, free, here.model.size
        steep = here.by_rate[self._n :] if np.any(twist) else here.J
        self._J, self._column = np.where(twist[:, None], steep, here.J), here.flat[: self._n, self._n :]
        self._scale = here.model.tree.scale[free]

    def push(self, v: Floats) -> Floats:
        """J v (m,)."""
        return np.asarray(self._J @ v, dtype=float)

    def least(self, rows: Ints, asked: Floats) -> Floats:
        """The least change (n,) of free rates with J v = asked on some rows."""
        out = np.zeros(self._n)
        if np.all(np.isfinite(self._J)):
            found = np.linalg.lstsq(self._J[np.ix_(rows, self._free)] / self._scale, asked, rcond=1e-10)[0]
            out[self._free] = found / self._scale
        return out

    @cached_property
    def _matrix(self) -> Floats:
        free, scale, inner, m = self._free, self._scale, len(self._free), len(self._J)
        matrix = np.zeros((inner + m, inner + m))
        mass = self._still.by_acceleration
        matrix[:inner, :inner] = mass[np.ix_(free, free)] / np.outer(scale, scale)
        matrix[:inner, inner:] = self._column[free] / scale[:, None]
        matrix[inner:, :inner] = self._J[:, free] / scale
        return matrix

    def solve(self, force: Floats, asked: Floats, known: Ints, given: Floats) -> tuple[Floats, Floats]:
        """(a (n,), multipliers (m,)) with forces (n,), J a = asked (m,) but for rows whose multipliers are known."""
        matrix, inner, a = self._matrix.copy(), len(self._free), np.zeros(self._n)
        right = np.concatenate([force[self._free] / self._scale, asked])
        matrix[inner + known] = 0.0
        matrix[inner + known, inner + known] = 1.0
        right[inner + known] = given
        solution = solve(self._still.model, matrix, right, self._free)
        a[self._free] = solution[:inner] / self._scale
        return a, solution[inner:]


class BlockBalance:
    """Of a large robot."""

    def __init__(self, here: Evaluation, free: Ints) -> None:
        operator = here.operator(0.0, HEAVY)
        assert isinstance(operator, BlockOperator)
        self._operator, self._model, self._n = operator.shifted(np.zeros(here.model.size)), here.model, here.model.size
        self._free = np.zeros(self._n, dtype=bool)
        self._free[free] = True

    def push(self, v: Floats) -> Floats:
        """J v (m,)."""
        return pushed(self._operator, v)

    def least(self, rows: Ints, asked: Floats) -> Floats:
        """The least change (n,) of free rates with J v = asked on some rows."""
        scale = self._model.tree.scale
        gaps = BlockGaps(self._operator, scale, np.ones(self._model.rows), rows, np.ones(self._n))
        return gaps.least(asked) / scale

    def solve(self, force: Floats, asked: Floats, known: Ints, given: Floats) -> tuple[Floats, Floats]:
        """(a (n,), multipliers (m,)) with forces (n,), J a = asked (m,) but for rows whose multipliers are known."""
        operator, n = self._operator.released(known), self._n
        right = np.concatenate([np.where(self._free, HEAVY * force, 0.0), asked])
        if not np.all(np.isfinite(right)):
            raise _infinite(self._model)
        right[n + known] = HEAVY * given
        try:
            found = operator.solve(right)
            left = operator.times(found) - right
            left[:n][~self._free] = 0.0
            found += operator.solve(-left)
            left = operator.times(found) - right
        except np.linalg.LinAlgError as error:
            raise massless(self._model) from error
        scale = self._model.tree.scale
        size = np.max(np.abs(right[:n] / scale), initial=0.0) + np.max(np.abs(found[:n] * scale), initial=0.0)
        if not np.max(np.abs(left[:n] / scale)[self._free], initial=0.0) <= WRONG * HEAVY * max(size, 1e-300):
            raise massless(self._model)
        return np.where(self._free, found[:n], 0.0), found[n:] / HEAVY


def pushed(operator: BlockOperator, v: Floats) -> Floats:
    """J v (m,) of an operator in which twist constraints hold."""
    whole = np.concatenate([v, np.zeros(operator.size - len(v))])
    return np.asarray(operator.times(whole)[len(v) :], dtype=float)


def _infinite(system: Model) -> SolverError:
    return SolverError(
        f"The forces on {system.robot.name!r} at the start are not finite.", advice="Look at its loads and inputs."
    )


def solve(system: Model, matrix: Floats, right: Floats, free: Ints) -> Floats:
    """Solve a bordered system with rows and multipliers brought to one size."""
    inner = len(free)
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(right))):
        raise _infinite(system)
    balance = float(np.max(np.abs(np.diag(matrix)[:inner]), initial=0.0)) or 1.0
    grade = np.where(np.arange(len(right)) < inner, 1.0, balance)
    solution, rank = least(matrix, right, 1e-13, 1.0 / grade)
    if rank < len(right):
        full = np.eye(system.size + system.rows)
        places = np.concatenate([free, system.size + np.arange(system.rows)])
        full[np.ix_(places, places)] = matrix / balanced(matrix, 1.0 / grade)[1][:, None]
        raise massless(system, full)
    return solution


def massless(system: Model, matrix: Floats | None = None) -> SolverError:
    """The error of a start without a unique acceleration."""
    names = (loose(system, matrix) if matrix is not None else "") or "some coordinate"
    if names.split(", ")[0] in system.tables.row_names:
        return SolverError(
            f"The start of {system.robot.name!r} is singular: nothing there can move what {names} holds.",
            advice="Start elsewhere (start=...), let straight rods stretch, or leave the constraint out.",
        )
    return SolverError(
        f"The mass matrix of {system.robot.name!r} is singular: {names} moves no mass and nothing holds it.",
        advice="Give bodies an inertia, use fewer modes or more intervals, or fix the coordinate.",
    )
