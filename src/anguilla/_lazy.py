"""What is imported when it is first asked for: compiled code, SciPy and pictures are slow to import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

__all__ = ["ShowsItself", "lazy"]


def _nearest(name: str, known: Iterable[str]) -> str:
    """A question that names what may have been meant, or nothing."""
    if name.startswith("_"):
        return ""
    by_small = {other.lower().replace("_", ""): other for other in known}
    found = get_close_matches(name.lower().replace("_", ""), by_small, n=3, cutoff=0.75)
    return f"; did you mean {' or '.join(repr(by_small[x]) for x in found)}?" if found else ""


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
            return getattr(import_module(f"{package}.{names[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}{_nearest(name, known())}")

    return __getattr__


class ShowsItself:
    """Something that a notebook shows as a picture and a table (`anguilla.view.notebook`)."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(import_module("anguilla.view.notebook").html_of(self))
