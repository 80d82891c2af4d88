"""MKL PARDISO behind the interface of `linear`: its library called directly, on arrays that are made once.

The matrix is tried as positive definite, L L^T: forward solves of all rows then give W as a Gram matrix (002
(7)-(9)). If it is not positive definite it is factored again as symmetric indefinite, with pivoting and the count of
negative pivots.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from anguilla.errors import SolverError, require
from anguilla.fem.mesh import Floats, Ints

__all__ = ["Handle", "library"]

DEFINITE, INDEFINITE = 2, -2
ANALYSE, FACTOR, SOLVE, FORWARD, BACKWARD, RELEASE = 11, 22, 33, 331, 333, -1
NOT_DEFINITE = -4  # what PARDISO answers to a pivot that is not positive
PARDISO_DOMAIN = 4
MINIMUM_DEGREE, DISSECTION = 0, 2
ORDERINGS = (MINIMUM_DEGREE, DISSECTION)  # the first is better for slender bodies, the second for solid ones


@cache
def library() -> Any:
    """The MKL library that pypardiso finds; PARDISO uses one thread unless MKL_NUM_THREADS says otherwise."""
    mkl = require("pypardiso", 'solver "mkl" needs', "mkl").PyPardisoSolver().libmkl
    mkl.pardiso.argtypes = None  # plain addresses are given
    if "MKL_NUM_THREADS" not in os.environ:
        mkl.MKL_Domain_Set_Num_Threads(1, PARDISO_DOMAIN)
    return mkl


class _Arrays(NamedTuple):
    """What PARDISO reads and keeps between calls."""

    memory: Any  # (64,) its own pointers
    data: Floats
    indptr: Any
    indices: Any
    permutation: Any
    settings: Any  # (64,) "iparm"


def _at(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _pardiso(mkl: Any, arrays: _Arrays, kind: int, phase: int, b: Floats, x: Floats) -> int:
    """One call for the rows of b (m, n); returns PARDISO's error, 0 if all went well."""
    error = ctypes.c_int(0)
    one, mtype, step, n, count, silent = (
        ctypes.byref(ctypes.c_int(v)) for v in (1, kind, phase, b.shape[1], len(b), 0)
    )
    mkl.pardiso(
        _at(arrays.memory), one, one, mtype, step, n, _at(arrays.data), _at(arrays.indptr), _at(arrays.indices),
        _at(arrays.permutation), count, _at(arrays.settings), silent, _at(b), _at(x), ctypes.byref(error),
    )  # fmt: skip
    return int(error.value)


class Handle:
    """One matrix type of PARDISO on one pattern: upper triangle, rows of increasing columns, numbered from 0."""

    def __init__(self, mkl: Any, kind: int, indptr: Ints, indices: Ints, data: Floats) -> None:
        self.kind = kind
        self.n = len(indptr) - 1
        self._mkl = mkl
        self.settings = np.zeros(64, dtype=np.int32)
        self._arrays = _Arrays(
            np.zeros(64, dtype=np.int64), data, np.ascontiguousarray(indptr, dtype=np.int32),
            np.ascontiguousarray(indices, dtype=np.int32), np.zeros(self.n, dtype=np.int32), self.settings,
        )  # fmt: skip
        self.settings[0] = 1  # not the defaults; what is not named below stays 0: no refinement, scaling or matching
        self.settings[9] = 13 if kind == DEFINITE else 8  # a pivot below 10^-k of the matrix is perturbed
        self.settings[20] = 1  # pivots of two by two for indefinite matrices
        self.settings[34] = 1  # numbered from 0
        self.settings[55] = 1  # gives its diagonal
        self._analysed = False

    def _run(self, phase: int, b: Floats, x: Floats) -> int:
        return _pardiso(self._mkl, self._arrays, self.kind, phase, b, x)

    def _checked(self, phase: int, b: Floats) -> Floats:
        x = np.empty_like(b)
        error = self._run(phase, b, x)
        if error:
            raise SolverError(f"MKL PARDISO stopped with its error {error}.", advice='Try solver="ldl".')
        return x

    def _analyse(self, nothing: Floats) -> None:
        """Take the ordering with the smaller factor."""
        sizes = []
        for method in ORDERINGS:
            self.settings[1], self.settings[17] = method, -1  # -1: count the entries of the factor
            self._checked(ANALYSE, nothing)
            self._run(RELEASE, nothing, nothing)
            sizes.append(int(self.settings[17]))
        self.settings[1], self.settings[17] = ORDERINGS[int(np.argmin(sizes))], 0
        self._checked(ANALYSE, nothing)
        self._analysed = True

    def factor(self) -> bool:
        """Factor the present data; False if the matrix is not of the kind."""
        nothing = np.zeros((1, self.n))
        if not self._analysed:
            weakref.finalize(
                self, _pardiso, self._mkl, self._arrays, self.kind, RELEASE, nothing, nothing
            ).atexit = False
            self._analyse(nothing)
        error = self._run(FACTOR, nothing, nothing)
        if error == NOT_DEFINITE:
            return False
        if error:
            raise SolverError(f"MKL PARDISO stopped with its error {error}.", advice='Try solver="ldl".')
        return True

    def first_pivots(self) -> Floats | None:
        """Diagonal (n,) of the factor, after the first factorisation only: to keep it takes time."""
        if not self.settings[55]:
            return None
        self.settings[55] = 0
        diagonal = np.zeros((2, self.n))  # of the factor, and of the matrix
        error, one = ctypes.c_int(0), ctypes.c_int(1)
        self._mkl.pardiso_getdiag(
            _at(self._arrays.memory), _at(diagonal[0]), _at(diagonal[1]), ctypes.byref(one), ctypes.byref(error)
        )
        return diagonal[0]

    @property
    def negative(self) -> int:
        """Number of negative pivots of an indefinite matrix."""
        return int(self.settings[22])

    @property
    def perturbed(self) -> int:
        """Number of pivots that were too small and have been replaced."""
        return int(self.settings[13])

    def solve(self, b: Floats) -> Floats:
        """K^-1 b for the rows of b (m, n)."""
        return self._checked(SOLVE, b)

    def forward(self, b: Floats) -> Floats:
        """L^-1 b for the rows of b (m, n), in PARDISO's own order."""
        return self._checked(FORWARD, b)

    def backward(self, y: Floats) -> Floats:
        """L^-T y for the rows of y (m, n), which are in PARDISO's own order."""
        return self._checked(BACKWARD, y)
