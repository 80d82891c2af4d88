"""Kernels that ask Python in the middle of their work: for what a kept library does better than a kernel.

A question is a number. Its address in memory is a C function, made once, which looks up what answers that number. The kernel
runs without Python's lock; the function takes it as long as it answers.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any
from weakref import WeakMethod

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

__all__ = ["answered", "ask"]

FAILED = -1
_ANSWERS: dict[int, WeakMethod[Callable[[], int]]] = {}
_NUMBERS = itertools.count(1)


def answered(method: Callable[[], int]) -> int:
    """A new number for the question that a method answers, with a number from 0 on. It does not keep its object alive."""
    number = next(_NUMBERS)
    _ANSWERS[number] = WeakMethod(method, lambda _: _ANSWERS.pop(number, None))
    return number


def ask(number: int) -> int:
    """What the method with a number answers; FAILED if there is none, or it raised."""
    found = _ANSWERS[number]() if number in _ANSWERS else None
    if found is None:
        return FAILED
    try:
        return found()
    except BaseException as error:  # no exception passes through a kernel
        note = getattr(found.__self__, "failed", None)  # type: ignore[attr-defined]
        if note is None:
            raise
        note(error)
        return FAILED


_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(ask)
_CELL = (ctypes.c_int64 * 1)(ctypes.cast(_FUNCTION, ctypes.c_void_p).value or 0)
_NAME = "anguilla.ask"
llvm.add_symbol(_NAME, ctypes.addressof(_CELL))


@intrinsic
def _call(_typing: Any, number: Any) -> Any:
    def write(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        word = ir.IntType(64)
        cell = builder.module.globals.get(_NAME) or cgutils.add_global_variable(builder.module, word, _NAME)
        kind = ir.FunctionType(word, [word])
        return builder.call(builder.inttoptr(builder.load(cell), kind.as_pointer()), values)

    return types.int64(types.int64), write


if not numba.config.DISABLE_JIT:
    overload(ask)(lambda number: lambda number: _call(number))
