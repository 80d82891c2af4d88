"""The bordered tangent as an operator: what it makes of vectors, and its inverse; dense, or in blocks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from anguilla.interact.kernels.table import Loads
from anguilla.linear.back import times_back
from anguilla.linear.sparse import Net, Solved
from anguilla.mechanics.tree import Floats, Ints, Tree, Workspace
from anguilla.model.evaluate import times

if TYPE_CHECKING:
    from anguilla.model.model import Model

__all__ = ["BlockOperator", "DenseOperator", "Operator", "net_of"]


class Operator(Protocol):
    """A tangent dR/dq + alpha dR/dv + beta dR/da of n coordinates, bordered by m constraints."""

    size: int  # n + m

    def times(self, x: Floats, transposed: bool = False) -> Floats:
        """The tangent, or its transpose, times x (n + m,) or (n + m, k)."""
        ...

    def solve(self, b: Floats, transposed: bool = False) -> Floats:
        """Its inverse, or that of its transpose, times b (n + m,) or (n + m, k); imposed coordinates stay as they are.

        LinAlgError if it is singular.
        """
        ...


class DenseOperator:
    """Of a small robot."""

    def __init__(self, matrix: Floats, driven: Ints) -> None:
        self.matrix, self._driven, self.size = matrix, driven, len(matrix)

    def times(self, x: Floats, transposed: bool = False) -> Floats:
        """The tangent times x."""
        return self.matrix.T @ x if transposed else self.matrix @ x

    @cached_property
    def _factors(self) -> tuple[tuple[Floats, Ints], Floats, Floats]:
        matrix, size = self.matrix.copy(), np.abs(self.matrix)
        matrix[self._driven], matrix[:, self._driven] = 0.0, 0.0
        matrix[self._driven, self._driven] = 1.0
        size[self._driven], size[:, self._driven], size[self._driven, self._driven] = 0.0, 0.0, 1.0
        left = 1.0 / np.maximum(size.max(axis=1), 1e-300)
        right = 1.0 / np.maximum((size * left[:, None]).max(axis=0), 1e-300)
        factors = lu_factor(matrix * left[:, None] * right)
        if not np.all(np.diag(factors[0])):
            raise np.linalg.LinAlgError("the tangent is singular")
        return factors, left, right

    def solve(self, b: Floats, transposed: bool = False) -> Floats:
        """Its inverse times b."""
        factors, left, right = self._factors
        if transposed:
            left, right = right, left
        return (lu_solve(factors, (b.T * left).T, trans=int(transposed)).T * right).T


class BlockOperator:
    """Of a large robot, in blocks; it keeps what it needs of the memory in which `linearise` left them."""

    def __init__(self, tree: Tree, net: Net, ws: Workspace, loads: Loads) -> None:
        self.size, self._tree, self._net, c = net.given, tree, net, loads.constraints
        kept = {name: getattr(ws, name).copy() for name in ("matrix", "roots", "ports", "node")}
        self._ws = ws._replace(**kept, moved=np.zeros_like(ws.moved), pushed=np.zeros_like(ws.pushed))
        held = {name: getattr(c, name).copy() for name in ("jacobian", "column", "diagonal")}
        pairs = loads.pairs._replace(far=loads.pairs.far.copy())
        self._loads = loads._replace(constraints=c._replace(**held), pairs=pairs)

    def times(self, x: Floats, transposed: bool = False) -> Floats:
        """The tangent times x."""
        kernel = times_back if transposed else times
        columns = np.ascontiguousarray(x.reshape(self.size, -1).T, dtype=float)
        out = np.zeros_like(columns)
        for k, column in enumerate(columns):
            kernel(self._tree, self._ws, self._loads, column, out[k])
        return out.T.reshape(x.shape)

    @cached_property
    def solved(self) -> Solved:
        """Its factors."""
        found = self._net.factorise(self._net.data(self._ws, self._loads))
        if found is None or found.singular:
            raise np.linalg.LinAlgError("the tangent is singular")
        return found

    def solve(self, b: Floats, transposed: bool = False) -> Floats:
        """Its inverse times b."""
        return self.solved.solve(b, transposed)


def net_of(system: Model) -> Net:
    """Where the entries of the matrix of a model stand."""
    return Net(system.tree, system.blank)
