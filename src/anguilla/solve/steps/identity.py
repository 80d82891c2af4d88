"""What a computation is made of, as a hash that is the same in every process: numbers, tables, and functions of the user.

A function is its code, its constants and defaults, and all that it reads from outside, as far as that is the user's own. A
function or class of an installed package is its name and the file it stands in. Other objects are what pickle would write of
them; what pickle cannot write has no identity, and is named in `unknown`.
"""

from __future__ import annotations

import hashlib
import sys
import sysconfig
import weakref
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from anguilla.compiler.table import Arrays
from anguilla.model.model import Model

__all__ = ["Identity"]

PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, type(...), type(NotImplemented), np.generic)
CODE = (
    "co_code", "co_consts", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_argcount",
    "co_posonlyargcount", "co_kwonlyargcount",
)  # fmt: skip
OF_CLASSES = {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__firstlineno__", "__qualname__"}


class Identity:
    """Hashes of things.

    Attributes:
        unknown: types of what was met that has no identity.

    """

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self._seen: dict[int, tuple[Any, bytes]] = {}

    def of(self, thing: Any) -> str:
        """The hash of a thing."""
        try:
            return self._digest(thing).hex()
        except RecursionError:
            self.unknown.append(f"{type(thing).__name__} (too deeply nested)")
            return ""

    def _digest(self, thing: Any) -> bytes:
        if id(thing) not in self._seen:
            self._seen[id(thing)] = thing, b"on the way"  # what refers to itself
            tag, parts = self._describe(thing)
            digest = hashlib.sha256(tag.encode("utf-8", "surrogatepass"))
            for part in parts:
                digest.update(self._digest(part))
            self._seen[id(thing)] = thing, digest.digest()
        return self._seen[id(thing)][1]

    def _describe(self, thing: Any) -> tuple[str, list[Any]]:
        """A text, and further things that it consists of."""
        kind = type(thing)
        if isinstance(thing, PLAIN):
            return f"{kind.__name__} {thing!r}", []
        if isinstance(thing, np.ndarray) and thing.dtype.kind != "O":
            data = hashlib.sha256(np.ascontiguousarray(thing).tobytes()).hexdigest()
            return f"array {thing.dtype} {thing.shape} {data}", []
        if isinstance(thing, (tuple, Arrays)) or kind is list:
            return f"{kind.__name__} {len(tuple(thing))}", list(thing)
        if kind in (dict, MappingProxyType):
            return f"dict {len(thing)}", [part for item in thing.items() for part in item]
        if kind in (set, frozenset):
            return "set " + " ".join(sorted(self._digest(part).hex() for part in thing)), []
        if isinstance(thing, (ModuleType, type)) or hasattr(thing, "__code__") or callable(thing):
            return self._describe_code(thing)
        if isinstance(thing, CodeType):
            return "code", [getattr(thing, name) for name in CODE]
        if isinstance(thing, Model):
            return "Model", [thing.robot]
        if is_dataclass(thing) and kind.__module__.startswith("anguilla."):
            return kind.__name__, [getattr(thing, field.name) for field in fields(thing)]
        return self._describe_object(thing)

    def _describe_code(self, thing: Any) -> tuple[str, list[Any]]:
        if isinstance(thing, ModuleType):
            return f"module {thing.__name__}", []
        if isinstance(thing, (MethodType, BuiltinFunctionType)):
            return f"method {thing.__name__}", [getattr(thing, "__func__", None), thing.__self__]
        if isinstance(thing, partial):
            return "partial", [thing.func, thing.args, thing.keywords]
        thing = getattr(thing, "py_func", getattr(thing, "__wrapped__", thing))  # compiled by Numba, or remembering
        if not isinstance(thing, (FunctionType, type)):
            return self._describe_object(thing)
        name = f"{thing.__module__}.{thing.__qualname__}"
        if _is_installed(thing.__module__):
            return f"{name} {_file_hash(thing.__module__)}", []
        if isinstance(thing, FunctionType):
            return "function", [thing.__code__, thing.__defaults__, thing.__kwdefaults__, *_outside(thing)]
        own = {key: value for key, value in sorted(vars(thing).items()) if key not in OF_CLASSES}
        return f"class {name}", [thing.__bases__, own]

    def _describe_object(self, thing: Any) -> tuple[str, list[Any]]:
        if isinstance(thing, weakref.ref):
            return "reference", [thing()]
        if isinstance(thing, (staticmethod, classmethod)):
            return "method", [thing.__func__]
        if isinstance(thing, property):
            return "property", [thing.fget, thing.fset]
        if isinstance(thing, np.ufunc):
            return f"ufunc {thing.__name__}", []
        try:
            reduced = thing.__reduce_ex__(4)
        except Exception:  # each type has its own way of refusing
            self.unknown.append(type(thing).__name__)
            return "unknown", []
        if isinstance(reduced, str):
            return f"{type(thing).__module__}.{reduced}", []
        made, given, state, *more = (*reduced, None, None)[:5]
        return "object", [made, given, state, *(list(items) for items in more[:2] if items is not None)]


def _outside(function: FunctionType) -> Iterator[Any]:
    """What a function reads from outside: its closure, and names of its module and of further modules of the user."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            yield "not yet there"
    names = sorted(_names(function.__code__))
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield name
            yield value
            if isinstance(value, ModuleType) and not _is_installed(value.__name__):
                yield {inner: getattr(value, inner) for inner in names if hasattr(value, inner)}


def _names(code: CodeType) -> set[str]:
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def _is_installed(module: str | None) -> bool:
    """Whether a module is not the user's own: of Python, of an installed package, or of this one."""
    if module is None or module == "__main__":
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module in sys.builtin_module_names or module.partition(".")[0] in sys.stdlib_module_names
    places = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return module.partition(".")[0] == "anguilla" or any(Path(file).is_relative_to(place) for place in places if place)


def _file_hash(module: str) -> str:
    """The hash of an installed module's file: another version of it is another function."""
    file = getattr(sys.modules.get(module), "__file__", None)
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
    except OSError:
        return ""
