"""What is imported when it is first asked for: compiled code, SciPy and pictures are slow to import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from anguilla._doors import public
from anguilla._words import meant

__all__ = ["ShowsItself", "lazy"]


def _nearest(name: str, known: Iterable[str]) -> str:
    """A question that names what may have been meant, or nothing."""
    found = None if name.startswith("_") else meant(name, known, near=0.75)
    return f"; did you mean {found!r}?" if found else ""


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
        raise AttributeError(f"module {package!r} has no attribute {name!r}{_nearest(name, known())}")

    return __getattr__


class ShowsItself:
    """Something that a notebook shows as a picture and a table (`anguilla.view.notebook`)."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(import_module("anguilla.view.notebook").html_of(self))
