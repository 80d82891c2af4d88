"""What is imported when it is first asked for: compiled code, SciPy and pictures are slow to import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from anguilla._doors import public
from anguilla._words import is_another_word, meant, offered, plain

__all__ = ["ShowsItself", "lazy"]


class _NoNameError(AttributeError):
    """A name that a package does not have. What was meant is looked for only when somebody reads it: `hasattr` asks often."""

    def __init__(self, package: str, name: str, known: Iterable[str], rooms: Mapping[str, str]) -> None:
        super().__init__(package, name)
        self.package, self.name, self.known, self.rooms = package, name, known, rooms
        self.asked = name  # the `name` of an AttributeError may be None

    def __str__(self) -> str:
        told = offered([self.package], self.asked.lower())
        found = None if told or self.asked.startswith("_") else self._nearest()
        more = f"; did you mean {found!r}?" if found else f": {told}." if told else ""
        return f"module {self.package!r} has no attribute {self.name!r}{more}"

    def __reduce__(self) -> Any:
        return AttributeError, (str(self),)

    def _nearest(self) -> str | None:
        """What may have been meant: the same name in a room of the package, or one that is near."""
        if not (is_another_word(self.asked) or plain(self.asked) in map(plain, self.known)):
            names = [(f"{room}.{name}", name) for room, place in self.rooms.items() for name in self._names_in(place)]
            for same in (str, plain):
                for full, name in names:
                    if same(name) == same(self.asked):
                        return full
        return meant(self.asked, self.known, near=0.75)

    def _names_in(self, place: str) -> list[str]:
        try:
            room = import_module(f"{self.package}.{place}")
        except ImportError:  # an extra that is not installed
            return []
        return list(getattr(room, "__all__", ()))


# A traceback shows the name that people know.
_NoNameError.__name__ = _NoNameError.__qualname__ = "AttributeError"
_NoNameError.__module__ = "builtins"


def lazy(package: str, names: Mapping[str, str], modules: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """The `__getattr__` of `package`.

    Args:
        package: its full name.
        names: the module in the package that defines each name.
        modules: modules in the package that are reached by a name of their own.

    """
    whole = modules or {}

    def known() -> set[str]:
        there = vars(sys.modules[package])  # not getattr, which would ask here again where there is no such list
        return {*names, *whole, *there.get("__all__", ())}

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name in whole:
            return import_module(f"{package}.{whole[name]}")
        if name in names:
            found = getattr(import_module(f"{package}.{names[name]}"), name)
            found = public(found) if isinstance(found, type) else found
            setattr(sys.modules[package], name, found)  # the next time nobody asks here
            return found
        raise _NoNameError(package, name, known(), whole)

    return __getattr__


class ShowsItself:
    """Something that a notebook shows as a picture and a table (`anguilla.view.notebook`)."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(import_module("anguilla.view.notebook").html_of(self))
