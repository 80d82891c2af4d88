"""Four numbers at a time, where two arrays meet and the compiler cannot see that they lie apart.

Products of bases with coordinates, and of forces with bases, are made of these.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from anguilla._jit import built
from anguilla.mechanics.lanes import LANES

_FOUR = ir.VectorType(ir.DoubleType(), LANES)
_FAST = ("contract", "reassoc", "nsz")
_NUMBER = ir.IntType(32)


def _four(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Pointer to four numbers of an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _FOUR.as_pointer())


def _load(builder: Any, pointer: Any) -> Any:
    found = builder.load(pointer)
    found.align = 8
    return found


def _spread(builder: Any, x: Any) -> Any:
    """Four copies of a number."""
    one = builder.insert_element(ir.Constant(_FOUR, ir.Undefined), x, ir.Constant(_NUMBER, 0))
    zeros = ir.Constant(ir.VectorType(_NUMBER, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_FOUR, ir.Undefined), zeros)


def _fma(builder: Any, x: Any, y: Any, z: Any) -> Any:
    return builder.fadd(builder.fmul(x, y, flags=_FAST), z, flags=_FAST)


@intrinsic
def _blend4(_typing: Any, a: Any, i: Any, b: Any, j: Any, step: Any, c: Any, k: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array, at, other, start, stride, factors, first = values
        into = _four(context, builder, signature.args[0], array, at)
        number = context.make_array(signature.args[5])(context, builder, factors).data
        total = _load(builder, into)
        for n in range(LANES):
            given = _load(builder, _four(context, builder, signature.args[2], other, start))
            factor = builder.load(builder.gep(number, [builder.add(first, ir.Constant(first.type, n))]))
            total = _fma(builder, given, _spread(builder, factor), total)
            start = builder.add(start, stride)
        builder.store(total, into).align = 8
        return context.get_dummy_value()

    return types.none(a, i, b, j, j, c, k), write


@intrinsic
def _mix4(_typing: Any, a: Any, i: Any, b: Any, j: Any, x: Any, k: Any, y: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array, at, other, one, x, two, y = values
        into = _four(context, builder, signature.args[0], array, at)
        first = _load(builder, _four(context, builder, signature.args[2], other, one))
        second = _load(builder, _four(context, builder, signature.args[2], other, two))
        total = _fma(builder, second, _spread(builder, y), _load(builder, into))
        builder.store(_fma(builder, first, _spread(builder, x), total), into).align = 8
        return context.get_dummy_value()

    return types.none(a, i, b, j, types.float64, k, types.float64), write


@intrinsic
def _dot8(_typing: Any, a: Any, i: Any, b: Any, j: Any, k: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array, at, other, one, two = values
        low = _load(builder, _four(context, builder, signature.args[0], array, at))
        shifted = builder.add(at, ir.Constant(at.type, LANES))
        high = _load(builder, _four(context, builder, signature.args[0], array, shifted))
        first = _load(builder, _four(context, builder, signature.args[2], other, one))
        second = _load(builder, _four(context, builder, signature.args[2], other, two))
        total = _fma(builder, low, first, builder.fmul(high, second, flags=_FAST))
        parts = [builder.extract_element(total, ir.Constant(_NUMBER, n)) for n in range(LANES)]
        return builder.fadd(builder.fadd(parts[0], parts[1]), builder.fadd(parts[2], parts[3]))

    return types.float64(a, i, b, j, k), write


def blend4(a, i, b, j, step, c, k):
    """a[i:i+4] += sum over n < 4 of c[k+n] b[j+n*step:j+n*step+4]."""
    for n in range(LANES):
        for lane in range(LANES):
            a[i + lane] += c[k + n] * b[j + n * step + lane]


def mix4(a, i, b, j, x, k, y):
    """a[i:i+4] += x b[j:j+4] + y b[k:k+4]."""
    for lane in range(LANES):
        a[i + lane] += x * b[j + lane] + y * b[k + lane]


def dot8(a, i, b, j, k):
    """a[i:i+4] . b[j:j+4] + a[i+4:i+8] . b[k:k+4]."""
    total = 0.0
    for lane in range(LANES):
        total += a[i + lane] * b[j + lane] + a[i + LANES + lane] * b[k + lane]
    return total


built(blend4, lambda a, i, b, j, step, c, k: _blend4(a, i, b, j, step, c, k))
built(mix4, lambda a, i, b, j, x, k, y: _mix4(a, i, b, j, x, k, y))
built(dot8, lambda a, i, b, j, k: _dot8(a, i, b, j, k))
