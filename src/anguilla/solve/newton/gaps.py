"""Gradients of constraints at one state: the least changes that close them, what they leave free, and which are redundant.

Coordinates are scaled to angles and relative displacements, prescribed ones stay. Of a small robot by singular values. Of a
large one by solves with [[W, -J^T], [J, soft]], sparse, where a tiny `soft` lets redundant constraints give way; redundant
ones are those along which a block of random multipliers grows when it is solved for again and again.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from anguilla.interact.kernels.table import DT, KIND, ROTATION, TWIST, Loads
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.evaluation import Evaluation, at_rest
from anguilla.model.model import Model
from anguilla.model.operator import BlockOperator

__all__ = ["APART", "NEARLY", "RANK", "Gaps", "gaps_at", "large", "rate_gaps_at"]

RANK = 1e-9  # singular values of the scaled constraint gradient below this part of the largest are zero
NEARLY = 1e-5  # the same at a shape that was closed where they vanish: it ends beside that, by the root of the gap left
APART = 1e-7  # of the largest row: a row that is nearer to those before it depends on them
SOFT = 1e-13  # by which constraints give way
FIRST = 8  # random vectors that look for redundant constraints
SURE = 1e-6  # part of a null vector that is not round-off


def large(s: Floats, rank: float = RANK) -> NDArray[np.bool_]:
    """Which singular values, in falling order, are not zero."""
    return s > rank * max(float(np.max(s, initial=0.0)), 1e-300)


class Gaps(Protocol):
    """Constraints J y = b with scaled coordinates y (n,)."""

    def least(self, b: Floats) -> Floats:
        """The least y (n,), in the metric of the weights, that satisfies them as well as can be."""
        ...

    def free(self, y: Floats) -> Floats:
        """The part (n,) of y that they leave free."""
        ...

    def bearing(self, force: Floats) -> Floats:
        """Multipliers (k,) whose forces J^T y are nearest to scaled forces (n,), prescribed coordinates left out."""
        ...

    @property
    def null(self) -> Floats:
        """(k, r) Basis of the combinations of rows that vanish, orthonormal."""
        ...

    def independent(self, apart: float = APART) -> list[int]:
        """Rows that are independent of those before them, by more than a part `apart` of the largest."""
        ...


class DenseGaps:
    """Of a small robot."""

    def __init__(self, jacobian: Floats, weight: Floats, rank: float = RANK) -> None:
        self._jacobian, self._weight, self._rank = jacobian, weight, rank

    @cached_property
    def _parts(self) -> tuple[Floats, Floats, Floats]:
        u, s, vt = np.linalg.svd(self._jacobian / self._weight, full_matrices=False)
        return u, s, vt

    def least(self, b: Floats) -> Floats:
        """The least change."""
        u, s, vt = self._parts
        keep = large(s, self._rank)
        return np.asarray(vt[keep].T @ ((u.T @ b)[keep] / s[keep]) / self._weight, dtype=float)

    def free(self, y: Floats) -> Floats:
        """What is free."""
        _, s, vt = self._parts
        held = vt[large(s, self._rank)]
        return y - held.T @ (held @ (y * self._weight)) / self._weight

    def bearing(self, force: Floats) -> Floats:
        """Multipliers nearest to forces."""
        return np.asarray(np.linalg.lstsq((self._jacobian / self._weight).T, force / self._weight, rcond=1e-10)[0])

    @property
    def null(self) -> Floats:
        """Combinations that vanish."""
        u, s, _ = np.linalg.svd(self._jacobian, full_matrices=True)
        return np.asarray(u[:, int(np.sum(large(s, self._rank))) :], dtype=float)

    def independent(self, apart: float = APART) -> list[int]:
        """Rows independent of those before them."""
        jacobian = self._jacobian
        basis = np.zeros((0, jacobian.shape[1]))
        size = max(float(np.max(np.linalg.norm(jacobian, axis=1), initial=0.0)), 1e-9)
        chosen = []
        for k, row in enumerate(jacobian):
            rest = row - basis.T @ (basis @ row)
            rest = rest - basis.T @ (basis @ rest)
            length = float(np.linalg.norm(rest))
            if length > apart * size:
                basis = np.vstack([basis, rest / length])
                chosen.append(k)
        return chosen


class BlockGaps:
    """Of a large robot."""

    def __init__(self, operator: BlockOperator, scale: Floats, unit: Floats, rows: Ints, weight: Floats) -> None:
        self._operator, self._scale, self._rows, self._n = operator, scale, rows, len(scale)
        self._weight, self._unit = (scale * weight) ** 2, unit
        self._eased = operator.gradient(self._weight, rows, SOFT * unit**2)

    def _solve(self, top: Floats, bottom: Floats) -> tuple[Floats, Floats]:
        """(changes of coordinates, multipliers) for a right-hand side (n, ...) and (rows, ...)."""
        right = np.zeros((self._operator.size, *top.shape[1:]))
        right[: self._n], right[self._n + self._rows] = top, bottom
        found = self._eased.solve(right)
        return found[: self._n], found[self._n + self._rows]

    def least(self, b: Floats) -> Floats:
        """The least change."""
        return self._solve(np.zeros(self._n), b)[0] * self._scale

    def free(self, y: Floats) -> Floats:
        """What is free."""
        return self._solve(self._weight * y / self._scale, np.zeros(len(self._rows)))[0] * self._scale

    def bearing(self, force: Floats) -> Floats:
        """Multipliers nearest to forces."""
        return self._solve(-force * self._scale, np.zeros(len(self._rows)))[1]

    @cached_property
    def _plain(self) -> BlockOperator:
        """In the metric of the scaled coordinates."""
        return self._operator.gradient(self._scale**2, self._rows, SOFT * self._unit**2)

    def _slopes(self, y: Floats) -> Floats:
        """J^T y (n, k) of multipliers y (rows, k), in scaled coordinates."""
        whole = np.zeros((self._operator.size, y.shape[1]))
        whole[self._n + self._rows] = y
        return -self._plain.times(whole)[: self._n] / self._scale[:, None]

    @cached_property
    def null(self) -> Floats:
        """Combinations that vanish: (J J^T + soft)^-1 makes them grow."""
        m, rng, count = len(self._rows), np.random.default_rng(0), FIRST
        size = self._unit[self._rows]
        while True:
            count = min(count, m)
            found = np.linalg.qr(rng.standard_normal((m, count)))[0]
            for _ in range(3):
                right = np.zeros((self._operator.size, count))
                right[self._n + self._rows] = found * size[:, None]
                found = np.linalg.qr(self._plain.solve(right)[self._n + self._rows] * size[:, None])[0]
            slopes = self._slopes(found / size[:, None])
            _, s, vt = np.linalg.svd(np.linalg.qr(slopes)[1])
            least = np.concatenate([s, np.zeros(count - len(s))]) <= APART
            if not np.all(least) or count == m:
                return np.asarray(found @ vt[least].T / size[:, None], dtype=float)
            count *= 4

    def independent(self, apart: float = APART) -> list[int]:
        """Rows independent of those before them: a vanishing combination ends in each of the others."""
        left = self.null * self._unit[self._rows][:, None]
        dependent = set()
        left = np.linalg.qr(left)[0]
        for k in range(len(left) - 1, -1, -1):
            size = float(np.linalg.norm(left[k]))
            if left.shape[1] and size > SURE:
                dependent.add(k)
                others = qr(left[k][:, None])[0][:, 1:]  # combinations that do not contain this row
                left = left @ others
        return [k for k in range(len(left)) if k not in dependent]


def _units(system: Model, loads: Loads) -> Floats:
    """(m,) Size of a row of the gradient: of angles, or of lengths."""
    return np.where(loads.constraints.table[:, KIND] == ROTATION, 1.0, max(float(system.layout.length), 1e-300))


def gaps_at(system: Model, loads: Loads, here: Evaluation, rows: Ints, weight: Floats, rank: float = RANK) -> Gaps:
    """Constraints at a state, by coordinates."""
    if system.linear != DENSE:
        operator = here.operator()
        assert isinstance(operator, BlockOperator)
        return BlockGaps(operator, system.tree.scale, _units(system, loads), rows, weight)
    jacobian = here.J[rows] / system.tree.scale
    jacobian[:, loads.driven] = 0.0
    return DenseGaps(jacobian, weight, rank)


def rate_gaps_at(system: Model, loads: Loads, q: Floats, rows: Ints) -> Gaps:
    """Closures and twist constraints at a configuration, by rates."""
    if system.linear != DENSE:
        return gaps_at(system, loads, at_rest(system, loads, q), rows, np.ones(system.size))
    loads.row[DT] = 1.0  # not at rest: twists are held
    here = at_rest(system, loads, q)
    loads.row[DT] = 0.0
    flat, steep = here.J, here.by_rate[system.size :]
    twist = loads.constraints.table[:, KIND] == TWIST
    jacobian = (np.where(twist[:, None], steep, flat) / system.tree.scale)[rows]
    jacobian[:, loads.driven] = 0.0
    return DenseGaps(jacobian, np.ones(system.size))
