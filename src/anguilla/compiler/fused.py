"""Products that are subtracted in one instruction, in the order in which they are written; and the first of four numbers.

Sums of ordinary products may be put together anew by the compiler: x - a b - c d becomes x - (a b + c d), which takes an
instruction more. Where many products are taken off numbers that stay in registers, that is a third of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from anguilla.compiler.jit import built
from anguilla.compiler.lanes import LANES
from anguilla.compiler.simd import FOUR_NUMBERS, spread


@intrinsic
def _less(_typing: Any, x: Any, a: Any, b: Any) -> Any:
    def write(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        x, a, b = values
        return builder.fsub(x, builder.fmul(a, b, flags=("contract",)), flags=("contract",))

    return FOUR_NUMBERS(x, a, b), write


def less(x, a, b):
    """x - a b of four numbers x and b each, and a number a."""
    return x - a * b


built(less, lambda x, a, b: _less(x, spread(a), b))


def _first(count: int) -> Any:
    """The first numbers of four, zeros after them: a choice, so that what is dropped may be anything."""

    @intrinsic
    def chosen(_typing: Any, x: Any) -> Any:
        def write(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            (four,) = values
            places = [n if n < count else LANES + n for n in range(LANES)]
            zeros = ir.Constant(four.type, [0.0] * LANES)
            return builder.shuffle_vector(four, zeros, ir.Constant(ir.VectorType(ir.IntType(32), LANES), places))

        return FOUR_NUMBERS(x), write

    return chosen


_first_two, _first_three = _first(2), _first(3)


def first_two(x):
    """The first two of four numbers, then zeros."""
    return np.where(np.arange(LANES) < 2, x, 0.0)


def first_three(x):
    """The first three of four numbers, then a zero."""
    return np.where(np.arange(LANES) < 3, x, 0.0)


built(first_two, lambda x: _first_two(x))
built(first_three, lambda x: _first_three(x))
