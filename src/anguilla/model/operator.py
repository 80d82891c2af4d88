"""The bordered tangent as an operator: what it makes of vectors, and its inverse; dense, or in blocks."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse import csr_matrix

from anguilla.compiler.lanes import LANES
from anguilla.interact.kernels.table import KIND, TWIST, Constraints, Loads
from anguilla.linear.back import times_back
from anguilla.linear.sparse import EXACT, SIDES, Net, Solved
from anguilla.mechanics.tree import F_P0, FACE, N_X, Floats, Ints, Tree, Workspace
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
        """Its inverse, or that of its transpose, times b (n + m,) or (n + m, k); prescribed coordinates stay as they are.

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

    def solve(self, b: Floats, transposed: bool = False, exact: float = EXACT) -> Floats:
        """Its inverse times b; this part of b may be left."""
        return self.solved.solve(b, transposed, exact)

    @property
    def kinds(self) -> Ints:
        """(m,) Kinds of the constraints."""
        return self._loads.constraints.table[:, KIND]

    @property
    def diagonal(self) -> Floats:
        """(m,) Derivatives of the constraints with respect to their own multipliers."""
        return self._loads.constraints.diagonal

    def _like(self, matrix: Floats, constraints: Constraints, still: bool = False) -> BlockOperator:
        """One with another matrix of the coordinates and other constraints; `still`: nothing else answers a motion."""
        ws, loads = self._ws._replace(matrix=matrix), self._loads._replace(constraints=constraints)
        if still:
            ws = ws._replace(roots=np.zeros_like(ws.roots))
            loads = loads._replace(pairs=loads.pairs._replace(far=np.zeros_like(loads.pairs.far)))
        found = copy(self)
        found.__dict__.pop("solved", None)
        found._ws, found._loads = ws, loads
        return found

    def shifted(self, diagonal: Floats, softer: Floats | None = None) -> BlockOperator:
        """With a diagonal (n,) added to the derivative by coordinates, and one (m,) to that of the constraints.

        Twist constraints hold, as they do not at rest.
        """
        c, matrix = self._loads.constraints, self._ws.matrix
        twist = c.table[:, KIND] == TWIST
        if np.any(diagonal):
            matrix = matrix.copy()
            matrix[_diagonal_places(self._tree)] += diagonal
        elif softer is None and not np.any(twist):
            return self
        jacobian, own = c.jacobian.copy(), np.where(twist, 0.0, c.diagonal)
        entries = np.repeat(twist, np.diff(c.entry))
        jacobian[entries] = -c.column[entries]
        return self._like(matrix, c._replace(jacobian=jacobian, diagonal=own if softer is None else own + softer))

    def released(self, rows: Ints) -> BlockOperator:
        """With some constraints replaced by: multiplier = given."""
        if not len(rows):
            return self
        c = self._loads.constraints
        jacobian, own = c.jacobian.copy(), c.diagonal.copy()
        gone = np.zeros(len(c.table), dtype=bool)
        gone[rows] = True
        jacobian[np.repeat(gone, np.diff(c.entry))], own[gone] = 0.0, 1.0
        return self._like(self._ws.matrix, c._replace(jacobian=jacobian, diagonal=own))

    def replaced(self, matrix: csr_matrix, softer: Floats) -> BlockOperator:
        """With another derivative (n, n) by coordinates, which has entries within blocks only; softer as in `shifted`."""
        c, found, blocks = self._loads.constraints, matrix.tocoo(), np.zeros_like(self._ws.matrix)
        np.add.at(blocks, _places(self._tree, found.row, found.col), found.data)
        return self._like(blocks, c._replace(diagonal=c.diagonal + softer), still=True)

    def gradient(self, weight: Floats, rows: Ints, soft: Floats) -> BlockOperator:
        """[[W, -J^T], [J, soft]] with W = diag(weight) (n,), J the gradient of some constraints by rates, soft (m,) > 0.

        The other rows say: multiplier = given. It stands for the smallest changes of coordinates that constraints ask for.
        """
        c, matrix = self._loads.constraints, np.zeros_like(self._ws.matrix)
        matrix[_diagonal_places(self._tree)] = weight
        held = np.zeros(len(c.table), dtype=bool)
        held[rows] = True
        entries, twist = (np.repeat(x, np.diff(c.entry))[:, None] for x in (held, c.table[:, KIND] == TWIST))
        jacobian = np.where(entries, np.where(twist, -c.column, c.jacobian), 0.0)
        changed = c._replace(jacobian=jacobian, column=-jacobian, diagonal=np.where(held, soft, 1.0))
        return self._like(matrix, changed, still=True)

    def own_diagonal(self) -> Floats:
        """(n,) Diagonal of the derivative by coordinates: of a moved coordinate, whatever hangs on it follows rigidly.

        Without what constraints and loads between distant parts add.
        """
        found = np.zeros(len(self._tree.lane))

        def keep(own: Ints, matrix: Floats, wrench: Floats) -> Floats:
            face = matrix.shape[1] - len(own)
            found[own] = np.diag(matrix[:, face:])
            return wrench[:, :face]

        self._upwards(np.zeros(len(found)), keep)
        return found

    def pivots(self, diagonal: Floats, units: Floats) -> Floats:
        """(n,) Eigenvalues of the blocks of an open tree as they are eliminated, with a diagonal (n,) added, in units (n,).

        As many of them are negative as eigenvalues of the whole, if it is symmetric.
        """
        found = np.zeros(len(self._tree.lane))

        def keep(own: Ints, matrix: Floats, wrench: Floats) -> Floats:
            unit = units[own]
            face = matrix.shape[1] - len(own)
            scaled = unit[:, None] * matrix[:, face:] * unit
            even = 0.5 * (scaled + scaled.T)
            found[own] = np.linalg.eigvalsh(even) if np.all(np.isfinite(even)) else -np.inf
            if not face:
                return wrench[:, :0]
            if np.min(np.abs(found[own]), initial=np.inf) < 1e-14:
                scaled = scaled + 1e-14 * np.eye(len(own))
            moved = unit[:, None] * np.linalg.solve(scaled, unit[:, None] * matrix[:, :face])
            return wrench[:, :face] - wrench[:, face:] @ moved

        self._upwards(diagonal, keep)
        return found

    def _upwards(self, diagonal: Floats, keep: Callable[[Ints, Floats, Floats], Floats]) -> None:
        """Go from the tips to the root, with what is below each block in it.

        keep(own coordinates, matrix (own, [face and] own), wrench (6, face and own)) returns what the block gives back
        when its face moves (6, face).
        """
        tree, ws = self._tree, self._ws
        reach = FACE if len(self._loads.frames.table) + len(self._loads.pairs.table) else F_P0  # as in `linearise`
        all_lanes = LANES * (tree.face + tree.packs)
        below: dict[int, list[tuple[int, Floats]]] = {}
        for b in range(len(tree.root) - 1, -1, -1):
            face, width, start = LANES * int(tree.face[b]), int(all_lanes[b]), int(LANES * tree.extended_at[b])
            own = tree.coordinate[tree.lead[b] : tree.lead[b + 1]]
            lanes = tree.extended[own] - start
            columns = np.concatenate([np.arange(reach), lanes]) if face else lanes
            matrix = ws.matrix[tree.block_at[b] :][: (width - face) * width].reshape(width - face, width)[lanes - face][
                :, columns
            ]
            matrix[:, len(columns) - len(own) :] += np.diag(diagonal[own])
            wrench = ws.roots[6 * start :][: 6 * width].reshape(6, width)[:, columns].copy()
            for child, given in below.pop(b, []):
                port = ws.ports[tree.port_at[child] :][: FACE * width].reshape(FACE, width)[:, columns]
                answer = given @ port[:reach]
                matrix += port[SIDES][:, len(columns) - len(own) :].T @ answer
                if face:
                    nodes = tree.parent[tree.first[tree.root[[child, b]]]]
                    arm = np.subtract(*ws.node[nodes, N_X : N_X + 3])
                    wrench[3:] += answer[3:]
                    wrench[:3] += answer[:3] + np.cross(arm, answer[3:], axisb=0, axisc=0)
            given = keep(own, matrix, wrench)
            if face:
                below.setdefault(int(tree.host[b]), []).append((b, given))


def _places(tree: Tree, rows: Ints, columns: Ints) -> Ints:
    """Places in `Workspace.matrix` of entries between coordinates, each pair of one block."""
    block = np.zeros(len(tree.lane), np.int64)
    block[tree.coordinate] = np.repeat(np.arange(len(tree.root)), np.diff(tree.lead))
    lane = tree.extended - LANES * tree.extended_at[block]
    at = block[rows]
    width = LANES * (tree.face + tree.packs)[at]
    return np.asarray(tree.block_at[at] + (lane[rows] - LANES * tree.face[at]) * width + lane[columns], dtype=np.int64)


def _diagonal_places(tree: Tree) -> Ints:
    """(n,) Places of the diagonal of the coordinates in `Workspace.matrix`."""
    every = np.arange(len(tree.lane))
    return _places(tree, every, every)


def net_of(system: Model) -> Net:
    """Where the entries of the matrix of a model stand."""
    return Net(system.tree, system.blank)
