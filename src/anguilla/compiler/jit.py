"""How kernels are compiled: one decorator, one cache folder per version of the sources a kernel is made of.

Numba's disk cache does not notice an edit in an imported helper, so a stale binary could outlive a corrected formula.
The cache folder of a kernel is therefore named after a hash of its own file and of every file of the package that this one
imports, directly or not: an edit starts fresh folders for what depends on it, and for nothing else. Folders that nothing
used for two months are removed when a new one is started. Where nothing can be written, kernels are compiled all the same.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shutil
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar

import llvmlite.binding as llvm
import numba
from numba.core.caching import FunctionCache, NullCache, UserProvidedCacheLocator
from numba.core.codegen import get_host_cpu_features
from numba.extending import overload

import anguilla.compiler.interrupts  # not "from": kernels are not made of it
import anguilla.errors
from anguilla.compiler import indexing as indexing  # kernels are made with it

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
    package = Path(__file__).parents[1]
    seen: set[Path] = set()
    ahead = {file, package / "compiler/jit.py"}
    while ahead:
        seen |= ahead
        ahead = set().union(*(_imported(path.read_bytes(), package) for path in ahead)) - seen
    return sorted(seen)


def cache_root() -> Path | None:
    """Folder of all compiled kernels: $ANGUILLA_CACHE, else ~/.cache/anguilla; None if neither it nor a home is known."""
    if os.environ.get("ANGUILLA_CACHE"):
        return Path(os.environ["ANGUILLA_CACHE"])
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"], "anguilla")
    try:
        return Path.home() / ".cache" / "anguilla"
    except RuntimeError:  # a user without a name, as in containers
        return None


def cache_folder(file: Path) -> Path | None:
    """Folder of the compiled kernels of a source file: below the root, the hash of the sources they are made of."""
    root = cache_root()
    if root is None:
        return None
    digest = hashlib.sha256(f"{numba.__version__} {_processor()}".encode())
    for path in sources(file):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return root / digest.hexdigest()[:16]


@functools.cache
def _processor() -> str:
    """What kernels are compiled for: Numba mixes up files of unlike machines that write to one folder at the same time."""
    config = numba.config
    return f"{config.CPU_NAME or llvm.get_host_cpu_name()} {config.CPU_FEATURES or get_host_cpu_features()}"


def _used_folder(file: Path) -> Path | None:
    """The cache folder of a source file, marked as used today; a new one sends those away that were not used for long."""
    folder = cache_folder(file)
    if folder is not None:
        with contextlib.suppress(OSError):  # it may be read-only
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


_FOLDERS: dict[str, Path | None] = {}
_TOLD: set[str] = set()


def _not_kept(why: object) -> None:
    """Say once that kernels could not be written to the disk."""
    if not _TOLD:
        _TOLD.add(str(why))
        told = f"compiled kernels cannot be kept ({why}), so that every new process compiles them again, for a minute or so"
        advice = "set ANGUILLA_CACHE to a folder that can be written"
        warnings.warn(f"{told}: {advice}.", anguilla.errors.AnguillaWarning, stacklevel=2)


class _Place(UserProvidedCacheLocator):
    """Where the kernels of a file are kept. Whether it can be written is found out when something is to be written."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        self._cache_path = str(Path(str(_FOLDERS[file]), self.get_suitable_cache_subpath(file)))

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Place:
        """Make it, also where nothing can be written."""
        return cls(function, file)


class _Form(FunctionCache._impl_class):
    """How a kernel is written to a file."""

    _locator_classes: ClassVar = [_Place]


class _Kept(FunctionCache):
    """Numba's cache of a kernel on the disk; a disk that is full, read-only or damaged costs time, not the run."""

    _impl_class = _Form

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The kernel, or None if it is to be compiled."""
        try:
            with anguilla.compiler.interrupts.held_back():
                return super().load_overload(signature, context)
        except Exception:  # a file that may not be read, or that was cut short: pickle raises many kinds
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write the kernel, if that is possible."""
        try:
            super().save_overload(signature, compiled)
        except OSError as error:
            _not_kept(f"{error.strerror or error}: {str(Path(self.cache_path).parents[1])!r}")


class _NotKept(NullCache):
    """The cache of a kernel where no folder is known."""

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Say that it is not kept."""
        _not_kept("there is no home folder")


def _compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """A kernel, kept on the disk where it can be."""
    made = numba.njit(**_OPTIONS, **options)(function)
    if not numba.config.DISABLE_JIT:
        file = function.__code__.co_filename
        if file not in _FOLDERS:
            _FOLDERS[file] = _used_folder(Path(file))
        made._cache = _NotKept() if _FOLDERS[file] is None else _Kept(function)  # as enable_caching() does
    return made


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a module-level kernel, cached on disk, without the interpreter lock."""
    return _compiled(function, no_cfunc_wrapper=True)


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
