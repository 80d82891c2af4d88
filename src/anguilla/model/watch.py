"""Whether a description is still what it was: every object it is made of is looked at, which takes microseconds.

`Watch` walks through everything that can be reached from an object and notes what could change in place: attributes,
items of lists and dictionaries, numbers of arrays, and what functions refer to (closures, defaults, globals). `unchanged`
compares the notes with what is there now: items by identity, plain numbers and texts by value, arrays by their bytes.
What has a state that cannot be looked at (an iterator, a file, an object of a compiled extension) counts as changed always.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import is_dataclass
from functools import partial
from itertools import chain
from operator import attrgetter, is_
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary

import numpy as np

from anguilla._doors import has_doors
from anguilla.describe.description import Description

__all__ = ["Watch"]

MOST = 20_000  # objects, and
LARGEST = 4_000_000  # bytes of one array, that are looked at; more takes longer than compiling
PLAIN = (int, float, complex, bool, str, bytes, type(None))
CONSTANT = (
    *PLAIN, ModuleType, BuiltinFunctionType, CodeType, np.generic, np.dtype, np.ufunc, type(Ellipsis), slice, range,
)  # fmt: skip


class Watch:
    """What an object looked like when it was made.

    Args:
        thing: any object.

    """

    def __init__(self, thing: object) -> None:
        self._seen: dict[int, object] = {}  # kept alive: an id is worth nothing afterwards
        self._shown: list[Collection[Any]] = []  # what shows its items as they are now,
        self._asked: list[Callable[[], Collection[Any]]] = []  # and what has to be asked for them
        self._arrays: list[tuple[np.ndarray, tuple[int, ...], np.dtype, bytes]] = []
        self._known = True
        waiting = [thing]
        while waiting and self._known:
            one = waiting.pop()
            if id(one) not in self._seen and not isinstance(one, CONSTANT) and not _is_library(one):
                self._seen[id(one)] = one
                waiting += self._note(one)
                self._known &= len(self._seen) <= MOST
        found = [*self._shown, *[ask() for ask in self._asked]] if self._known else []
        self._before = list(map(len, found)), list(chain.from_iterable(found))

    @property
    def unchanged(self) -> bool:
        """Whether everything is as it was."""
        if not self._known:
            return False
        try:
            # what shows or tells all items as they are now
            found, (sizes, before) = [*self._shown, *[ask() for ask in self._asked]], self._before
            if [*map(len, found)] != sizes:
                return False
            items = chain.from_iterable
            if not (all(map(is_, items(found), before)) or all(map(_same, items(found), before))):
                return False
        except (AttributeError, ValueError, RuntimeError):  # a name or a closure that is gone; changed meanwhile
            return False
        for array, shape, kind, kept in self._arrays:
            if array.tobytes() != kept or array.shape != shape or array.dtype != kind:
                return False
        return True

    def _note(self, thing: Any) -> Iterable[Any]:
        """Note what an object consists of; what is to be looked at next."""
        if isinstance(thing, tuple | frozenset):  # these do not change, what is in them may
            return thing
        if isinstance(thing, np.ndarray):
            return self._note_array(thing)
        reads = _reads(thing)
        if reads is None:
            self._known = False
            return ()
        found: list[Any] = []
        for read in reads:
            asked = isinstance(read, FunctionType | partial)
            (self._asked if asked else self._shown).append(read)
            found += read() if asked else read
        return found

    def _note_array(self, array: np.ndarray) -> Iterable[Any]:
        self._known &= array.nbytes <= LARGEST
        if self._known:
            self._arrays.append((array, array.shape, array.dtype, array.tobytes()))
        return array.ravel().tolist() if array.dtype.hasobject else ()


def _same(now: object, before: object) -> bool:
    """Whether an item is the same object, or a plain value equal to it."""
    return now is before or (type(now) is type(before) and isinstance(now, PLAIN) and now == before)


def _reads(thing: Any) -> list[Any] | None:
    """Collections that show what an object consists of, or functions that give them; None if its state cannot be seen."""
    if isinstance(thing, type):  # a class of the user's own: its functions and constants
        return [
            lambda: [
                value
                for value in vars(thing).values()
                if not isinstance(value, GetSetDescriptorType | MemberDescriptorType)
            ]
        ]
    if isinstance(thing, list | set):
        return [thing if type(thing) in (list, set) else partial(list, thing), *_attributes(thing)]
    if isinstance(thing, dict):
        return [thing.keys(), *([thing.values()] if thing else []), *_attributes(thing)]
    if isinstance(thing, FunctionType):
        return [partial(_of_function, thing)]
    if isinstance(thing, MethodType):
        return [partial(_of_names, thing, ("__self__", "__func__"))]
    if isinstance(thing, partial):
        return [partial(_of_names, thing, ("func", "args", "keywords"))]
    if isinstance(thing, ReferenceType):
        return [lambda: (thing(),)]
    if not has_doors(type(thing)) and hasattr(thing, "py_func"):  # compiled by Numba: what it refers to is frozen
        return []
    if isinstance(thing, property | staticmethod | classmethod):
        return [partial(_of_names, thing, tuple(n for n in ("fget", "__func__") if getattr(thing, n, None)))]
    found = _attributes(thing)
    if not found and _is_closed(type(thing)):
        return None
    if _is_of_library(type(thing)):
        return found
    return [*found, partial(_of_names, type(thing), ("__mro__",))]


def _is_library(thing: Any) -> bool:
    """Whether an object is a function or a class of a library, which stays what it is."""
    if has_doors(type(thing)) or not hasattr(thing, "__qualname__") or isinstance(thing, MethodType):
        return False
    root = (getattr(thing, "__module__", None) or "").partition(".")[0]
    if root in ("anguilla", "") or root in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return "site-packages" in file or "dist-packages" in file


def _is_of_library(kind: type) -> bool:
    """Whether a class and all that it derives from are of libraries, found once."""
    found = _OF_LIBRARY.get(kind)
    if found is None:
        found = _OF_LIBRARY[kind] = all(_is_library(base) for base in kind.__mro__)
    return found


def _attributes(thing: Any) -> list[Any]:
    """The same of the attributes of an object, by `__dict__` and by slots."""
    found: list[Any] = []
    own = getattr(thing, "__dict__", None)
    if isinstance(own, dict):
        found.append(own.values())
        if not (isinstance(thing, Description) and is_dataclass(thing)):  # which takes no attributes but its fields
            found.append(own.keys())
    slots = _all_slots(type(thing))
    if len(slots) > 1 and all(hasattr(thing, name) for name in slots):  # one that is gone is a change
        found.append(partial(attrgetter(*slots), thing))
    elif slots:
        found.append(partial(_of_names, thing, tuple(slots)))
    return found


def _all_slots(kind: type) -> list[str]:
    """Slots of a class and of those that it derives from, found once."""
    found = _SLOTS.get(kind)
    if found is None:
        hidden = getattr(kind, "UNWATCHED", ())
        found = _SLOTS[kind] = [name for base in kind.__mro__ for name in _slots(base) if name not in hidden]
    return found


def _slots(kind: type) -> list[str]:
    given = kind.__dict__.get("__slots__", ())
    names = [given] if isinstance(given, str) else list(given)
    mangled = (f"_{kind.__name__.lstrip('_')}{name}" if name.startswith("__") and not name.endswith("__") else name
               for name in names)  # fmt: skip
    return [name for name in mangled if name not in ("__dict__", "__weakref__")]


def _is_closed(kind: type) -> bool:
    """Whether objects of a class may have a state that Python does not show: it, or what it derives from, is compiled."""
    return any(base is not object and not base.__flags__ & (1 << 9) for base in kind.__mro__)  # 9: made by `class`


_ABSENT = object()
_SLOTS: WeakKeyDictionary[type, list[str]] = WeakKeyDictionary()
_OF_LIBRARY: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def _of_names(thing: Any, names: tuple[str, ...]) -> list[Any]:
    return [getattr(thing, name, _ABSENT) for name in names]


def _of_function(function: FunctionType) -> list[Any]:
    """Code, defaults, closure and globals of a function."""
    names = _names(function.__code__)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    given = [function.__globals__[name] for name in names if name in function.__globals__]
    return [function.__code__, function.__defaults__, function.__kwdefaults__, *cells, *given]


def _names(code: CodeType) -> list[str]:
    """Names that code, and functions written in it, may look up among globals."""
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in _names(part)]
    return [*code.co_names, *inner]
