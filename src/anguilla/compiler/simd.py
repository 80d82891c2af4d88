"""Four numbers at a time.

`take` reads four neighbouring numbers of an array as one value, which is added, subtracted and multiplied like a number, and
`lay` writes them; in a kernel each of these is one vector instruction. Code written for numbers works for such values as it
stands. In Python they are arrays of four.
"""

from __future__ import annotations

import operator
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

from anguilla.compiler.jit import built, inline
from anguilla.compiler.lanes import LANES, ROW_2, ROW_3, SECOND, THIRD, U

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INDEX = ir.IntType(32)
_FAST = ("contract", "reassoc", "nsz")


class Four(types.Type):
    """Four numbers in one register."""

    def __init__(self) -> None:
        super().__init__(name="Four")


FOUR_NUMBERS = Four()


@register_model(Four)
class _FourModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


# Instructions ---------------------------------------------------------------------------------------------------------


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Pointer to four numbers of an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())


def _load(builder: Any, pointer: Any) -> Any:
    found = builder.load(pointer)
    found.align = 8
    return found


def _store(builder: Any, value: Any, pointer: Any) -> None:
    builder.store(value, pointer).align = 8


def _spread(builder: Any, x: Any) -> Any:
    """Four copies of a number; four numbers as they are."""
    if x.type == _VECTOR:
        return x
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), x, ir.Constant(_INDEX, 0))
    zeros = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), zeros)


# The type -------------------------------------------------------------------------------------------------------------


def _operator(function: Any, instruction: str) -> None:
    @intrinsic
    def both(_typing: Any, a: Any, b: Any) -> Any:
        def write(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            return getattr(builder, instruction)(*(_spread(builder, x) for x in values), flags=_FAST)

        return FOUR_NUMBERS(*(x if isinstance(x, Four) else types.float64 for x in (a, b))), write

    def fits(a: Any, b: Any) -> bool:
        return (isinstance(a, Four) and isinstance(b, (Four, types.Float))) or (
            isinstance(a, types.Float) and isinstance(b, Four)
        )

    built(function, lambda a, b: both(a, b), fits)


if not numba.config.DISABLE_JIT:
    _operator(operator.add, "fadd")
    _operator(operator.sub, "fsub")
    _operator(operator.mul, "fmul")
    built(operator.neg, lambda a: -1.0 * a, lambda a: isinstance(a, Four))


@intrinsic
def _take(_typing: Any, a: Any, o: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _load(builder, _place(context, builder, signature.args[0], *values))

    return FOUR_NUMBERS(a, o), write


@intrinsic
def _lay(_typing: Any, a: Any, o: Any, x: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        _store(builder, _spread(builder, values[2]), _place(context, builder, signature.args[0], *values[:2]))
        return context.get_dummy_value()

    return types.none(a, o, x), write


@intrinsic
def _repeat(_typing: Any, x: Any) -> Any:
    def write(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return _spread(builder, values[0])

    return FOUR_NUMBERS(types.float64), write


def spread(x):
    """Four copies of a number."""
    return np.full(LANES, x)


def take(a, o):
    """Four numbers at offset o, counted along the memory of the array."""
    return a.reshape(-1)[int(o) : int(o) + LANES].copy()


def lay(a, o, x):
    """Write four numbers, or one number four times, at offset o."""
    a.reshape(-1)[int(o) : int(o) + LANES] = x


built(spread, lambda x: _repeat(x))
built(take, lambda a, o: _take(a, o))
built(lay, lambda a, o, x: _lay(a, o, x))


@inline
def take2(a, o):
    """Four vectors of a plane at field offset o."""
    return take(a, o), take(a, o + SECOND)


@inline
def lay2(a, o, x):
    """Write four vectors of a plane at field offset o."""
    lay(a, o, x[0])
    lay(a, o + SECOND, x[1])


@inline
def take3(a, o):
    """Four three-vectors at field offset o."""
    return take(a, o), take(a, o + SECOND), take(a, o + THIRD)


@inline
def lay3(a, o, x):
    """Write four three-vectors at field offset o."""
    lay(a, o, x[0])
    lay(a, o + SECOND, x[1])
    lay(a, o + THIRD, x[2])


@inline
def take9(a, o):
    """Four 3x3 matrices at field offset o."""
    x, y, z = take3(a, o), take3(a, o + ROW_2), take3(a, o + ROW_3)
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@inline
def lay9(a, o, m):
    """Write four 3x3 matrices at field offset o."""
    lay3(a, o, (m[0], m[1], m[2]))
    lay3(a, o + ROW_2, (m[3], m[4], m[5]))
    lay3(a, o + ROW_3, (m[6], m[7], m[8]))


# Products -------------------------------------------------------------------------------------------------------------


@intrinsic
def _total(_typing: Any, x: Any) -> Any:
    def write(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        parts = [builder.extract_element(values[0], ir.Constant(_INDEX, n)) for n in range(LANES)]
        return builder.fadd(builder.fadd(parts[0], parts[1]), builder.fadd(parts[2], parts[3]))

    return types.float64(x), write


def total(x):
    """Sum of four numbers."""
    return x[0] + x[1] + (x[2] + x[3])


built(total, lambda x: _total(x))


@intrinsic
def _turned(_typing: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        def mixed(one: Any, two: Any, places: list[int]) -> Any:
            return builder.shuffle_vector(one, two, ir.Constant(ir.VectorType(_INDEX, LANES), places))

        even, odd = (
            [mixed(one, two, places) for one, two in (values[:2], values[2:])]
            for places in ([0, 4, 2, 6], [1, 5, 3, 7])
        )
        rows = [mixed(one, two, places) for places in ([0, 1, 4, 5], [2, 3, 6, 7]) for one, two in (even, odd)]
        return context.make_tuple(builder, signature.return_type, rows)

    return types.Tuple([FOUR_NUMBERS] * LANES)(a, b, c, d), write  # type: ignore[attr-defined]


def turned(a, b, c, d):
    """Rows of the transpose of four rows of four numbers."""
    return tuple(np.stack([a, b, c, d], axis=1))


built(turned, lambda a, b, c, d: _turned(a, b, c, d))


@inline
def blend(a, i, step, b, j):
    """Sum over n < 4 of b[j + n] times four numbers of a, at i + n step; offsets are unsigned."""
    two, three = i + step + step, i + step + step + step
    low = b[j] * take(a, i) + b[j + U(1)] * take(a, i + step)
    return low + (b[j + U(2)] * take(a, two) + b[j + U(3)] * take(a, three))
