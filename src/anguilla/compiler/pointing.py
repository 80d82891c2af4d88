"""Tables by their address: a kernel that works on many robots finds the tables of each in a list of addresses."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from anguilla.compiler.table import Arrays, ArraysType

__all__ = ["address_of", "table_at"]

_TABLES: WeakValueDictionary[int, Arrays] = WeakValueDictionary()


def address_of(table: Arrays) -> int:
    """Where a table lies. Whoever takes it keeps the table as long as kernels use the address."""
    found: int = table.address  # type: ignore[attr-defined]
    if numba.config.DISABLE_JIT:
        _TABLES[found] = table
    return found


@intrinsic
def _table_at(_typing: Any, address: Any, like: Any) -> Any:
    if not (isinstance(address, types.Integer) and isinstance(like, ArraysType)):
        return None

    def write(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return builder.inttoptr(builder.zext(values[0], ir.IntType(64)), cgutils.voidptr_t)

    return like(address, like), write


def _look_up(address: int, _like: Arrays) -> Arrays:
    return _TABLES[int(address)]


# The table at an address; `like` is one of the same class.
table_at = _look_up if numba.config.DISABLE_JIT else _table_at
