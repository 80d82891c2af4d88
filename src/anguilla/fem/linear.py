"""Sparse symmetric solvers behind one small interface: our own compiled one, MKL PARDISO, and SciPy's as a fallback.

A matrix is given by its blocks: rows (nb,), cols (nb,) with row <= col, and values (nb, 9). After `factor`, `solve` gives
K^-1 b, and `gram` gives W = B K^-1 B^T of many rows at once (002 (7)-(9)).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from anguilla.errors import DescriptionError, MissingPackageError, SolverError
from anguilla.fem.ldl import LANES, factorise, padded
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.ordering import analyse
from anguilla.fem.pardiso import DEFINITE, INDEFINITE, Handle, library
from anguilla.fem.substitution import backward, forward, forward_lanes, fullest, products, spread_lanes
from anguilla.fem.unknowns import give_nodes, take_nodes

__all__ = ["SOLVERS", "LinearSolver", "make_solver"]

Finish = Callable[[Floats], Floats]


class LinearSolver(Protocol):
    """What a linear solver offers; n is three times the number of nodes."""

    name: str

    count: int  # of matrices factored so far
    worth: float  # solves that one factorisation is worth, about

    def factor(self, values: Floats) -> int:
        """Factor the matrix with these blocks (nb, 9); returns the number of negative pivots, or -1 if unknown."""

    def solve(self, b: Floats) -> Floats:
        """K^-1 b for the rows of b: (m, n) -> (m, n)."""

    def gram(self, b: Floats) -> tuple[Floats, Finish]:
        """W = b K^-1 b^T (m, m), and a function c (m,) -> K^-1 b^T c (n,)."""


def _singular() -> SolverError:
    return SolverError(
        "The stiffness matrix is singular.", advice="Is the body held (fix), so that it cannot move as a rigid body?"
    )


def _in_lines(make: Callable[[int], Floats], n: int) -> Floats:
    """An array (n,) made by `np.zeros` or `np.empty`, of which each four numbers lie in one line of the cache."""
    room = make(n + 7)
    begin = -room.ctypes.data % 64 // 8
    return room[begin : begin + n]


class Multifrontal:
    """The built-in L D L^T, compiled; nothing to install."""

    name = "ldl"
    count = 0

    def __init__(self, points: Floats, rows: Ints, cols: Ints) -> None:
        n = len(points)
        from scipy.sparse import coo_array

        pattern = coo_array((np.ones(2 * len(rows)), (np.r_[rows, cols], np.r_[cols, rows])), shape=(n, n)).tocsr()
        pattern.sort_indices()
        f = self.fronts = analyse(points, pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64))
        place = np.empty(n, dtype=np.int64)
        place[f.order] = np.arange(n)
        r, c = place[rows], place[cols]
        low, high = np.minimum(r, c), np.maximum(r, c)
        own = np.searchsorted(f.first, low, side="right") - 1
        order = np.argsort(own, kind="stable")
        entry = np.zeros((len(rows), 3), dtype=np.int64)
        entry[:, 0], entry[:, 2] = order, (r > c)[order]
        # position of a node inside the front that owns it or is updated by it: the lists are sorted, so search a shifted copy
        key = np.repeat(np.arange(len(f.parent)), np.diff(f.start)) * (n + 1) + f.index
        at = lambda node: np.searchsorted(key, own * (n + 1) + node) - f.start[own]
        width = padded(3 * np.diff(f.start)[own])
        entry[:, 1] = (3 * at(low) * width + 3 * at(high))[order]
        self._entry = entry
        self._entry_at = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=len(f.parent)))]).astype(np.int64)
        sizes = (f.widest**2 + LANES, f.stack + LANES, int(f.panel[-1]))  # the last numbers are taken in fours too
        self._front, self._stack, self._panels = (_in_lines(np.zeros, size) for size in sizes)
        self._d = np.zeros(3 * n)
        self._negative = 0
        self._heads, self._local = np.zeros(len(f.parent), dtype=np.int64), np.zeros(f.widest)
        self.worth = f.operations / (4.0 * float(f.panel[-1]) + 1.0)  # solves that one factorisation is worth

    def factor(self, values: Floats) -> int:
        """Factor; returns the number of negative pivots."""
        self.count += 1
        f = self.fronts
        negative = factorise(
            f.first, f.start, f.relative, f.piece_at, f.piece, f.parent, f.panel, self._entry_at, self._entry, values,
            self._front, self._stack, self._panels, self._d, self._heads,
        )  # fmt: skip
        if negative < 0:
            raise _singular()
        self._negative = int(negative)
        return self._negative

    def _forward(self, b: Floats) -> Floats:
        f = self.fronts
        y = np.empty((len(b), self._d.size))
        take_nodes(np.ascontiguousarray(b).reshape(len(b), -1, 3), f.order, y.reshape(len(b), -1, 3))
        forward(f.first, f.start, f.index, f.panel, self._panels, self._local, y)
        return y

    def _backward(self, y: Floats) -> Floats:
        f = self.fronts
        backward(f.first, f.start, f.index, f.panel, self._panels, self._local, y)
        x = np.empty_like(y)
        give_nodes(y.reshape(len(y), -1, 3), f.order, x.reshape(len(y), -1, 3))
        return x

    def solve(self, b: Floats) -> Floats:
        """K^-1 b for the rows of b."""
        return self._backward(self._forward(b) / self._d)

    def gram(self, b: Floats) -> tuple[Floats, Finish]:
        """Half the solve for all rows, W as their products, and the other half once for the combination asked for."""
        f, b, order = self.fronts, np.ascontiguousarray(b), np.zeros((2, len(b)), dtype=np.int64)
        rows = order[1, : fullest(b, *order)]  # alike ones together; those of zeros not at all
        lanes = LANES * -(-len(rows) // LANES)
        n = self._d.size
        y = _in_lines(np.empty, n * lanes)
        scale = 1.0 / np.sqrt(np.abs(self._d))
        spread_lanes(b, f.order, rows, y.reshape(n, lanes))
        forward_lanes(f.first, f.start, f.index, f.panel, self._panels, scale, y, lanes)
        gram = np.zeros((len(b), len(b)))
        products(y, self._d, lanes, np.empty(lanes**2), rows, gram)
        if self._negative:
            scale = scale * np.sign(self._d)
        whole = np.zeros(lanes)

        def finish(c: Floats) -> Floats:
            whole[: len(rows)] = c[rows]
            return self._backward((y.reshape(n, lanes) @ whole * scale)[None, :])[0]

        return gram, finish


class _Whole:
    """A solver that only solves: W by multiplication."""

    name = ""
    count = 0
    worth = 10.0

    def __init__(self, points: Floats, rows: Ints, cols: Ints) -> None:
        from scipy.sparse import coo_array

        self.n = 3 * len(points)
        i, j = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
        r, c = 3 * rows[:, None] + i, 3 * cols[:, None] + j
        keep = r <= c
        self._upper = keep
        number = np.arange(1, int(keep.sum()) + 1)
        pattern = coo_array((number.astype(float), (r[keep], c[keep])), shape=(self.n, self.n)).tocsr()
        pattern.sort_indices()
        self._shuffle = pattern.data.astype(np.int64) - 1
        self._matrix = pattern

    def _fill(self, values: Floats) -> Any:
        self._matrix.data = values[self._upper][self._shuffle]
        return self._matrix

    def solve(self, b: Floats) -> Floats:
        raise NotImplementedError

    def gram(self, b: Floats) -> tuple[Floats, Finish]:
        """W = b K^-1 b^T by full solves."""
        x = self.solve(b)
        w = b @ x.T
        return 0.5 * (w + w.T), lambda c: c @ x


class SuperLU(_Whole):
    """SciPy's general sparse LU: slow, always there."""

    name = "splu"

    def factor(self, values: Floats) -> int:
        """Factor; the signs of the pivots tell if rows and columns were exchanged alike."""
        self.count += 1
        from scipy.sparse.linalg import splu

        upper = self._fill(values).tocsc()
        full = upper + upper.T
        full.setdiag(upper.diagonal())
        try:
            self._lu = splu(
                full.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError:
            raise _singular() from None
        pivots = self._lu.U.diagonal()
        if np.abs(pivots).min() < 1e-15 * np.abs(pivots).max():
            raise _singular()
        return int(np.sum(pivots < 0.0)) if np.array_equal(self._lu.perm_r, self._lu.perm_c) else -1

    def solve(self, b: Floats) -> Floats:
        """K^-1 b for the rows of b."""
        return np.ascontiguousarray(self._lu.solve(np.asfortranarray(b.T)).T)


class Pardiso(_Whole):
    """MKL PARDISO (extra `mkl`)."""

    name = "mkl"

    def __init__(self, points: Floats, rows: Ints, cols: Ints) -> None:
        self._mkl = library()
        super().__init__(points, rows, cols)
        self._take = np.flatnonzero(self._upper.ravel())[self._shuffle]
        self._data = np.zeros(len(self._take))
        self._definite = self._handle(DEFINITE)
        self._indefinite: Handle | None = None
        self._now = self._definite

    def _handle(self, kind: int) -> Handle:
        return Handle(self._mkl, kind, self._matrix.indptr, self._matrix.indices, self._data)

    def factor(self, values: Floats) -> int:
        """Factor; returns the number of negative pivots."""
        self.count += 1
        np.take(values.ravel(), self._take, out=self._data, mode="clip")  # "clip" writes into out without a copy
        self._now = self._definite
        if self._definite.factor():
            # a body that is not held shows at once; a stiffness that passes through zero later changes sign
            pivots = self._definite.first_pivots()
            if pivots is not None and not pivots.min() > 1e-15 * pivots.max():
                raise _singular()
            return 0
        self._indefinite = self._now = self._indefinite or self._handle(INDEFINITE)
        if not self._now.factor() or self._now.perturbed:
            raise _singular()
        return self._now.negative

    def solve(self, b: Floats) -> Floats:
        """K^-1 b for the rows of b."""
        return self._now.solve(np.ascontiguousarray(b))

    def gram(self, b: Floats) -> tuple[Floats, Finish]:
        """Half the solve for all rows if L L^T holds, as in `Multifrontal`; full solves otherwise."""
        if self._now is not self._definite:
            return super().gram(b)
        y = self._definite.forward(np.ascontiguousarray(b))
        return y @ y.T, lambda c: self._definite.backward((c @ y)[None, :])[0]


SOLVERS: dict[str, type] = {"ldl": Multifrontal, "mkl": Pardiso, "splu": SuperLU}
LARGE = 3000  # nodes from which on PARDISO is the faster one: twice as fast at 5,000 (benchmarks/volumes_growth.py)


def chosen(nodes: int) -> str:
    """The solver for so many nodes: PARDISO for large meshes, if it is installed."""
    if nodes < LARGE:
        return "ldl"
    try:
        library()
    except MissingPackageError:
        return "ldl"
    return "mkl"


def make_solver(name: object, points: Floats, rows: Ints, cols: Ints) -> LinearSolver:
    """Make a solver by name: "ldl", "mkl", "splu", or "auto": by size."""
    if name == "auto":
        name = chosen(len(points))
    if not isinstance(name, str) or name not in SOLVERS:
        known = ", ".join(map(repr, ("auto", *SOLVERS)))
        raise DescriptionError(f"solver must be one of {known}; got {name!r}.")
    return SOLVERS[name](points, rows, cols)
