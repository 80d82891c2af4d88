"""Indices of arrays in kernels are taken as they are.

Numba lets an index that is negative count from the end, as Python does, and asks of every signed one whether it is. Where
an index was read from a table, the compiler cannot know that it is not: in the loops of the tangent these questions were half
of all instructions. Kernels of this library count from the end by no index but a written one, such as x[-1], which is left
alone; they are known by being compiled without Numba's run-time (jit.py).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.cpu import CPUContext
from numba.np import arrayobj

__all__: list[str] = []

_usual = arrayobj.fix_integer_index


def _as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """The place that an index means, in code that Numba writes."""
    ours = isinstance(context, CPUContext) and not context.enable_nrt
    if ours and kind.signed and not isinstance(index, ir.Constant):
        return context.cast(builder, index, kind, types.intp)
    return _usual(context, builder, kind, index, size)


arrayobj.fix_integer_index = _as_it_is
