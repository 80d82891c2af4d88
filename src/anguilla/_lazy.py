"""Names of a package that are imported when they are first asked for: compiled code and SciPy are slow to import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy"]


def lazy(package: str, names: Mapping[str, str], modules: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """The `__getattr__` of `package`.

    Args:
        package: its full name.
        names: the module in the package that defines each name.
        modules: modules in the package that are reached by a name of their own.

    """
    whole = modules or {}

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name in whole:
            return import_module(f"{package}.{whole[name]}")
        if name in names:
            return getattr(import_module(f"{package}.{names[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return __getattr__
