"""Memory asked for ahead of its use.

A processor guesses what comes next along a few arrays at a time. Where a kernel walks along many of them and knows the way,
`fetch` tells it. In Python it does nothing.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from anguilla.compiler.jit import built, inline

__all__ = ["fetch", "fetch_all"]

LINE = 8  # numbers that come at once
_BYTES, _NUMBER = ir.IntType(8).as_pointer(), ir.IntType(32)
_KIND = ir.FunctionType(ir.VoidType(), [_BYTES, _NUMBER, _NUMBER, _NUMBER])
_READ, _NEAR, _DATA = _NUMBER(0), _NUMBER(2), _NUMBER(1)


@intrinsic
def _fetch(_typing: Any, arrays: Any, o: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        function = builder.module.declare_intrinsic("llvm.prefetch", (_BYTES,), _KIND)
        for kind, array in zip(signature.args[0], cgutils.unpack_tuple(builder, values[0]), strict=True):
            data = context.make_array(kind)(context, builder, array).data
            place = builder.bitcast(builder.gep(data, [values[1]]), _BYTES)
            builder.call(function, [place, _READ, _NEAR, _DATA])
        return context.get_dummy_value()

    return types.none(arrays, o), write


def fetch(arrays, o):
    """Ask for the numbers at offset o of some arrays, counted along the memory of each."""


built(fetch, lambda arrays, o: _fetch(arrays, o))


@inline
def fetch_all(arrays, first, last):
    """Ask for the numbers from offset `first` to `last` of some arrays."""
    for o in range(first, last, LINE):
        fetch(arrays, o)
