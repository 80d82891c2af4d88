"""Kernels that other kernels call by address.

Numba builds a kernel into every kernel that calls it, and optimises it again each time. A *distant* kernel is compiled
once: its address stands in a cell of memory, which its callers read. The kernels that Python calls (distant ones, and
*entries*) name the distant kernels that they need, and fill their cells before they start.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

import anguilla.compiler.claims  # not "from": kernels are not made of these
import anguilla.compiler.helper
import anguilla.compiler.telling
from anguilla.compiler.jit import kernel
from anguilla.compiler.table import Arrays

__all__ = ["MATRIX", "NUMBER", "VECTOR", "compiled", "direct", "distant", "entry"]

VECTOR, MATRIX, NUMBER = types.float64[::1], types.float64[:, ::1], types.float64

Function = Callable[..., Any]


def entry(*needed: Any) -> Callable[[Function], Any]:
    """Compile a kernel, called from Python, that calls distant kernels, directly or not; tables are among its arguments."""

    def decorate(function: Function) -> Any:
        if numba.config.DISABLE_JIT:
            return function
        ready: Any = kernel(function)
        unfilled = list(needed)

        @functools.wraps(function)
        def start(*arguments: Any) -> Any:
            if unfilled:  # a cell stays as it is once it is filled
                with anguilla.compiler.helper.beside(ready, _all(unfilled)):
                    if anguilla.compiler.helper.is_helper():
                        ready.compile(tuple(map(numba.typeof, arguments)))
                    compiled(*unfilled)
                    unfilled.clear()
                    return ready(*arguments)
            return ready(*arguments)

        start.py_func, start.compiled = function, ready  # type: ignore[attr-defined]
        return start

    return decorate


def direct(start: Any) -> Any:
    """The machine code of an entry, once it was compiled for arguments of one set of types; the entry itself before that.

    Numba looks at the types of all arguments in every call, which takes three quarters of the time of a call (3.7 of 4.6 us
    with twelve of them). This does not: whoever calls it vouches for the types, down to those of arrays.
    """
    found = getattr(start, "direct", None)
    if found is None:
        kinds = list(start.compiled.overloads.values()) if hasattr(start, "compiled") else []
        if len(kinds) != 1:
            return start
        found = start.direct = kinds[0].entry_point
    return found


def distant(*kinds: type[Arrays] | types.Type, needs: tuple[Any, ...] = ()) -> Callable[[Function], Any]:
    """Compile a kernel without a result that others call by address; `kinds` are those of its arguments.

    Args:
        kinds: classes of tables, VECTOR, MATRIX or NUMBER.
        needs: distant kernels that it calls itself.

    """

    def decorate(function: Function) -> Any:
        if numba.config.DISABLE_JIT:
            return function
        start = entry(*needs)(function)
        name = f"anguilla.{function.__name__}"
        cell = np.zeros(1, dtype=np.uint64)
        llvm.add_symbol(name, cell.__array_interface__["data"][0])

        def fill() -> None:
            """Compile, and write down the address."""
            signature = tuple(kind if isinstance(kind, types.Type) else kind._numba_type_ for kind in kinds)
            start.compiled.compile(signature)
            found = start.compiled.overloads[signature]
            cell[0] = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)

        call = _caller(name, kinds)

        @overload(start)
        def _typed(*arguments):  # Numba compares the parameters of this with those of what it returns
            return lambda *arguments: call(arguments)

        start.fill, start.cell, start.needs = fill, cell, needs
        return start

    return decorate


def compiled(*kernels: Any) -> None:
    """See to it that distant kernels, and those that they need, can be called; long ones and free ones come first."""
    if numba.config.DISABLE_JIT:
        return
    wanted = sorted(
        _all(kernels), key=lambda one: -anguilla.compiler.telling.cost(getattr(one.compiled._cache, "name", ""))
    )
    for one in wanted:
        with contextlib.suppress(anguilla.compiler.claims.BusyError), anguilla.compiler.claims.unhurried():
            one.fill()
    for one in wanted:
        if one.cell[0] == 0:  # another process was at it
            one.fill()


def _all(kernels: Iterable[Any]) -> list[Any]:
    """Distant kernels that are not yet there, with all that they need."""
    found: dict[int, Any] = {}
    ahead = list(kernels)
    while ahead:
        one = ahead.pop()
        if one.cell[0] == 0 and id(one) not in found:
            found[id(one)] = one
        ahead += one.needs
    return list(found.values())


def _fits(given: types.Type, kind: type[Arrays] | types.Type) -> bool:
    """Whether an argument lies in memory as a distant kernel reads it; that an array is read-only does not matter."""
    wanted = kind if isinstance(kind, types.Type) else kind._numba_type_
    if isinstance(wanted, types.Array) and isinstance(given, types.Array):
        return (given.dtype, given.ndim, given.layout) == (wanted.dtype, wanted.ndim, wanted.layout)
    return bool(given == wanted)


def _caller(name: str, kinds: tuple[type[Arrays] | types.Type, ...]) -> Function:
    """The call of the function whose address is in the cell `name`, with a tuple of arguments of the given kinds."""

    @intrinsic
    def call(_typing: Any, arguments: Any) -> Any:
        wrong = [given for given, kind in zip(arguments.types, kinds, strict=True) if not _fits(given, kind)]
        if wrong:  # an address knows no types: the kernel would misread them
            raise TypingError(f"{name} cannot take {', '.join(map(str, wrong))}: give C-contiguous arrays of float64.")

        def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            found, convention = signature.args[0].types, context.call_conv
            cell = builder.module.globals.get(name)
            if cell is None:
                cell = cgutils.add_global_variable(builder.module, ir.IntType(64), name)
            kind = convention.get_function_type(types.none, found)
            address = builder.load(cell)
            with cgutils.if_unlikely(builder, builder.icmp_unsigned("==", address, address.type(0))):
                convention.return_user_exc(builder, RuntimeError, (f"{name} was called before it was compiled",))
            pointer = builder.inttoptr(address, kind.as_pointer())
            given = cgutils.unpack_tuple(builder, values[0], len(kinds))
            status, _ = convention.call_function(builder, pointer, types.none, found, given)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return context.get_dummy_value()

        return types.none(arguments), write

    return call
