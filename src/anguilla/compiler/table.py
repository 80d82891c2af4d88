"""Tables of arrays that kernels take by address.

A kernel that gets a tuple of a hundred arrays spends 17 us on unpacking it, and a minute on being compiled. An `Arrays` is a
frozen set of named arrays, or of further tables; its place in memory lists where each array lies and how long it is, and a
kernel gets the address of that list. `table.name` reads the same in Python and in a kernel. The list never changes, so the
compiler may read it once and keep what it found.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import zlib
from array import array
from collections.abc import Callable, Iterator
from operator import is_
from typing import Any, ClassVar, Self, dataclass_transform

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, register_model, typeof_impl, unbox

__all__ = ["Arrays"]

NOT_CONTIGUOUS = "an array of a table must be C-contiguous."


class ArraysType(types.Type):
    """What a compiler knows of a table: the type of every field, and where in the list it starts."""

    def __init__(self, name: str, fields: tuple[tuple[str, types.Type], ...]) -> None:
        self.fields = fields
        self.types = dict(fields)
        self.places: dict[str, int] = {}
        at = 0
        for field, kind in fields:
            self.places[field] = at
            at += 1 + getattr(kind, "ndim", 0)
        described = ", ".join(f"{field}={kind}" for field, kind in fields)
        super().__init__(name=f"{name}_{zlib.crc32(described.encode()):08x}")  # short: it is part of many symbols


@dataclass_transform(eq_default=False, frozen_default=True)
class Arrays:
    """Named C-contiguous arrays and tables, frozen (what the arrays contain may change).

    All tables of a class have arrays of the same types and dimensions, so that one compilation serves them all.
    """

    __slots__ = ("_words", "address")
    _fields: ClassVar[tuple[str, ...]] = ()
    _known: ClassVar[frozenset[str]] = frozenset()
    _numba_type_: ClassVar[ArraysType | None] = None

    def __init_subclass__(cls) -> None:
        """Fields are the annotations of the class, in their order."""
        cls._fields = tuple(cls.__annotations__)
        cls._known = frozenset(cls._fields)

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = self.__dict__
        fields.update(zip(self._fields, values, strict=False))
        if named or len(values) != len(self._fields):
            fields.update(named)
            if len(values) + len(named) != len(self._fields) or fields.keys() != self._known:
                raise TypeError(f"{type(self).__name__} wants {', '.join(self._fields)}; got {', '.join(fields)}.")
            values = tuple(fields[name] for name in self._fields)
        words: list[int] = []
        kinds: list[Any] = []
        for value in values:
            if isinstance(value, np.ndarray):
                if not value.flags.c_contiguous:
                    raise TypeError(NOT_CONTIGUOUS)
                words.append(_address(value))
                words += value.shape
                kinds.append(_array_type(value.dtype, value.ndim))
            else:
                words.append(value.address)
                kinds.append(value._numba_type_)
        self._settle(kinds)
        self._write(array("q", words))

    def _write(self, words: array[int]) -> None:
        """Keep the list, where it lies."""
        object.__setattr__(self, "_words", words)
        object.__setattr__(self, "address", words.buffer_info()[0])

    @classmethod
    def _settle(cls, kinds: list[Any]) -> None:
        """The first table of a class says what all of them contain; types are kept once, and compared as objects."""
        if cls._numba_type_ is None:
            cls._numba_type_ = ArraysType(cls.__name__, tuple(zip(cls._fields, kinds, strict=True)))
        if all(map(is_, kinds, cls._numba_type_.types.values())):
            return
        for kind, (name, usual) in zip(kinds, cls._numba_type_.fields, strict=True):
            if kind is not usual:
                raise TypeError(f"{cls.__name__}.{name} is {kind}, but {usual} elsewhere.")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: use _replace to get one with another {name}.")

    def __iter__(self) -> Iterator[Any]:
        """Values of the fields."""
        return (getattr(self, name) for name in self._fields)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are built again from the arrays, which then lie elsewhere."""
        return type(self), tuple(self)

    def _asdict(self) -> dict[str, Any]:
        """Fields by name."""
        return {name: getattr(self, name) for name in self._fields}

    def _replace(self, **changes: Any) -> Self:
        """Return a table with some fields changed."""
        kind: Any = self._numba_type_
        words = self._words[:]  # type: ignore[attr-defined]
        for name, value in changes.items():
            if not _is_like(kind.types.get(name), value):
                return type(self)(**(self._asdict() | changes))  # which says what is wrong
            place = (value.address,) if isinstance(value, Arrays) else _place(value)  # type: ignore[attr-defined]
            words[kind.places[name] : kind.places[name] + len(place)] = array("q", place)
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.__dict__.update(changes)
        twin._write(words)
        return twin

    def copied(self) -> Self:
        """A copy with all its arrays and tables; the same one if there is nothing in them."""
        kind: Any = self._numba_type_
        words, changes = self._words[:], {}  # type: ignore[attr-defined]
        for name, value in zip(self._fields, self, strict=True):
            twin = value.copied() if isinstance(value, Arrays) else value.copy() if value.size else value
            if twin is not value:
                changes[name] = twin
                words[kind.places[name]] = twin.address if isinstance(twin, Arrays) else _address(twin)  # type: ignore[attr-defined]
        return self._changed(words, changes) if changes else self

    def _changed(self, words: array[int], changes: dict[str, Any]) -> Self:
        """The same table with other fields, and the list of where they lie."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.__dict__.update(changes)
        twin._write(words)
        return twin


def _is_like(kind: Any, value: Any) -> bool:
    """Whether a value has the type of a field."""
    return kind is (value._numba_type_ if isinstance(value, Arrays) else _array_type(value.dtype, value.ndim))


# The address of an array's numbers stands behind the two words that every Python object begins with. To read it there takes
# a tenth of the time of `__array_interface__`, of which a robot needs a hundred; where it does not stand there, that is used.
_WORD = ctypes.sizeof(ctypes.c_ssize_t)
_MEMORY = (ctypes.c_ssize_t * (sys.maxsize // (2 * _WORD))).from_address(0)  # as words: only those asked for are read


def _read_address(values: np.ndarray) -> int:
    return _MEMORY[id(values) // _WORD + 2]


def _ask_address(values: np.ndarray) -> int:
    return int(values.__array_interface__["data"][0])


def _choose_address() -> Callable[[np.ndarray], int]:
    probes = np.arange(4.0)[1:], np.zeros((2, 3), dtype=np.int64), np.zeros((0, 2))
    usual = sys.implementation.name == "cpython" and all(_read_address(x) == _ask_address(x) for x in probes)
    return _read_address if usual else _ask_address


_address = _choose_address()


def _place(values: np.ndarray) -> tuple[int, ...]:
    """Address and shape of an array."""
    if not values.flags.c_contiguous:
        raise TypeError(NOT_CONTIGUOUS)
    return _address(values), *values.shape


@functools.cache
def _array_type(dtype: np.dtype, ndim: int) -> types.Array:
    return types.Array(numba.from_dtype(dtype), ndim, "C")


@typeof_impl.register(Arrays)
def _typeof(value: Arrays, _context: Any) -> ArraysType | None:
    return value._numba_type_


register_model(ArraysType)(models.OpaqueModel)


@infer_getattr
class _Fields(AttributeTemplate):
    key = ArraysType

    def generic_resolve(self, table: ArraysType, name: str) -> types.Type | None:
        return table.types.get(name)


@unbox(ArraysType)
def _unbox(_kind: ArraysType, value: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(address)


def _word(builder: Any, base: Any, at: int) -> Any:
    """Word `at` of a list, which never changes."""
    found = builder.load(builder.gep(base, [ir.Constant(ir.IntType(32), at)]))
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


@lower_getattr_generic(ArraysType)
def _get(context: Any, builder: Any, table: ArraysType, value: Any, name: str) -> Any:
    kind: Any = table.types[name]
    at = table.places[name]
    base = builder.bitcast(value, ir.IntType(64).as_pointer())
    address = _word(builder, base, at)
    if isinstance(kind, ArraysType):
        return builder.inttoptr(address, cgutils.voidptr_t)
    found = context.make_array(kind)(context, builder)
    shape = [_word(builder, base, at + 1 + k) for k in range(kind.ndim)]
    itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    stride = context.get_constant(types.intp, itemsize)
    strides: list[Any] = []
    for length in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, length)
    context.populate_array(
        found, data=builder.inttoptr(address, found.data.type), shape=shape, strides=strides,
        itemsize=context.get_constant(types.intp, itemsize), meminfo=None,
    )  # fmt: skip
    return found._getvalue()
