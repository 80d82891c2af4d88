"""Sets of small numbers as bits of words: how many a word holds, and the first of them. One instruction each in a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from anguilla.compiler.jit import built, inline

__all__ = ["BITS", "bit", "first", "ones"]

BITS = 64  # of a word
U = np.uint64


@intrinsic
def _ones(_typing: Any, x: Any) -> Any:
    def write(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return builder.ctpop(values[0])

    return types.int64(types.uint64), write


@intrinsic
def _first(_typing: Any, x: Any) -> Any:
    def write(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), write


def ones(x):
    """How many bits of a word are set."""
    return int(x).bit_count()


def first(x):
    """Number of the first bit that is set in a word, of which one is."""
    return (int(x) & -int(x)).bit_length() - 1


built(ones, lambda x: _ones(x))
built(first, lambda x: _first(x))


@inline
def bit(k):
    """A word with one bit, of number k in its word."""
    return U(1) << U(k % BITS)
