"""How kernels are compiled: one decorator, one cache folder per version of the sources a kernel is made of.

Numba's disk cache does not notice an edit in an imported helper, so a stale binary could outlive a corrected formula.
The cache folder of a kernel is therefore named after a hash of its own file and of every file of the package that this one
imports, directly or not: an edit starts fresh folders for what depends on it, and for nothing else. Folders that nothing
used for two months are removed when a new one is started.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.extending import overload

__all__ = ["built", "cache_folder", "cache_root", "inline", "interpreted", "kernel", "part"]

# No 'nnan'/'ninf': a diverging Newton must be able to see a NaN.
_FASTMATH = {"contract", "nsz", "arcp", "reassoc"}
# Without Numba's run-time (_nrt=False) a kernel cannot allocate memory, and pays no reference counting.
_OPTIONS = {"nogil": True, "_nrt": False, "fastmath": _FASTMATH, "error_model": "numpy"}
_HELPER = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_OPTIONS}
KEPT_DAYS = 60.0  # without use, before compiled kernels are removed
_IMPORT = re.compile(rb"^\s*from\s+anguilla([\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)


def _imported(text: bytes, package: Path) -> set[Path]:
    """Files of the package that a source text imports."""
    found = set()
    for module, names in _IMPORT.findall(text):
        place = package.joinpath(*module.decode().strip(".").split("."))
        modules = [place, *(place / name for name in re.findall(r"\w+", names.decode()))]
        for path in modules:
            found |= {file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()}
    return found


def sources(file: Path) -> list[Path]:
    """A source file of the package and all those it depends on, and this one."""
    package = Path(__file__).parent
    seen: set[Path] = set()
    ahead = {file, package / "_jit.py"}
    while ahead:
        seen |= ahead
        ahead = set().union(*(_imported(path.read_bytes(), package) for path in ahead)) - seen
    return sorted(seen)


def cache_root() -> Path:
    """Folder of all compiled kernels: $ANGUILLA_CACHE, else ~/.cache/anguilla."""
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(os.environ.get("ANGUILLA_CACHE") or home / "anguilla")


def cache_folder(file: Path) -> Path:
    """Folder of the compiled kernels of a source file: below the root, the hash of the sources they are made of."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sources(file):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return cache_root() / digest.hexdigest()[:16]


_FOLDERS: dict[str, str] = {}


def _used_folder(file: Path) -> Path:
    """The cache folder of a source file, marked as used today; a new one sends those away that were not used for long."""
    folder = cache_folder(file)
    with contextlib.suppress(OSError):  # a cache that cannot be written is Numba's to deal with
        if folder.exists():
            os.utime(folder)
        else:
            forget_unused(folder.parent)
    return folder


def forget_unused(root: Path, days: float = KEPT_DAYS) -> None:
    """Remove the folders of compiled kernels that nothing used for some days: those of older versions."""
    for folder in root.iterdir() if root.is_dir() else ():
        if re.fullmatch(r"[0-9a-f]{16}", folder.name) and time.time() - folder.stat().st_mtime > days * 86400.0:
            shutil.rmtree(folder, ignore_errors=True)


def _compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    file = function.__code__.co_filename
    if options.get("cache") and file not in _FOLDERS:
        _FOLDERS[file] = str(_used_folder(Path(file)))
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _FOLDERS.get(file, "")  # read by numba when the dispatcher is made, restored at once
    try:
        return numba.njit(**_OPTIONS, **options)(function)
    finally:
        numba.config.CACHE_DIR = before


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a module-level kernel, cached on disk, without the interpreter lock."""
    return _compiled(function, cache=True, no_cfunc_wrapper=True)


def inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a small helper that is always built into the kernels that call it; from Python it is an ordinary function."""
    return _helper(function, forceinline=True)


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a longer helper, compiled as a function of its own inside the kernels that call it."""
    return _helper(function)


def built(function: Callable[..., Any], compiled: Callable[..., Any], fits: Callable[..., bool] | None = None) -> None:
    """Give a function of Python another function as its compiled form, where the types of its arguments fit."""
    if not numba.config.DISABLE_JIT:
        options = {"forceinline": True, **_HELPER}
        overload(function, jit_options=options, strict=False)(
            lambda *kinds: compiled if fits is None or fits(*kinds) else None
        )


def _helper(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    if not numba.config.DISABLE_JIT:
        overload(function, jit_options=options | _HELPER, strict=False)(lambda *kinds: function)
    return function


def interpreted(function: Callable[..., Any], replaced: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    """Return a kernel as Python code in which some kernels it calls, directly or not, are replaced by others.

    Kernels that call none of the replaced ones stay compiled.
    """
    plain = getattr(function, "py_func", function)
    names = dict(plain.__globals__)
    changed = False
    for name in plain.__code__.co_names:
        if name in replaced:
            names[name], changed = replaced[name], True
        elif isinstance(getattr(names.get(name), "py_func", names.get(name)), FunctionType):
            inner = names[name]
            if getattr(inner, "py_func", inner).__module__.startswith("anguilla.solve"):
                names[name] = interpreted(inner, replaced)
                changed = changed or names[name] is not inner
    return FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__) if changed else function
