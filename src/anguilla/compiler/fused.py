"""Products that are subtracted in one instruction, in the order in which they are written.

Sums of ordinary products may be put together anew by the compiler: x - a b - c d becomes x - (a b + c d), which takes an
instruction more. Where many products are taken off numbers that stay in registers, that is a third of the time.
"""

from __future__ import annotations

from typing import Any

from numba.extending import intrinsic

from anguilla.compiler.jit import built
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
