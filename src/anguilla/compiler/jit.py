"""How kernels are compiled: one decorator, one cache folder per version of the sources a kernel is made of.

Numba's disk cache does not notice an edit in an imported helper, so a stale binary could outlive a corrected formula.
The cache folder of a kernel is therefore named after a hash of its own file and of every file of the package that this one
imports, directly or not: an edit starts fresh folders for what depends on it, and for nothing else. Folders that nothing
used for two months are removed when a new one is started. Where nothing can be written, kernels are compiled all the same.

A wheel may bring kernels that were compiled for a common processor (`SHIPPED`), in folders named in the same way. They are
used where everything that their names are made of fits: sources, Python, Numba, LLVM, system, and a processor that can do
what the common one can. Set ANGUILLA_NATIVE=1 to have all kernels compiled for the processor at hand.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import os
import platform
import re
import shutil
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar

import llvmlite
import llvmlite.binding as llvm
import numba
from numba.core.caching import FunctionCache, NullCache, UserProvidedCacheLocator
from numba.core.codegen import get_host_cpu_features
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import overload

import anguilla.compiler.claims  # not "from": kernels are not made of these
import anguilla.compiler.interrupts
import anguilla.compiler.telling
import anguilla.errors
from anguilla.compiler import indexing as indexing  # kernels are made with it

__all__ = ["built", "cache_folder", "cache_root", "inline", "interpreted", "kernel", "part"]

# No 'nnan'/'ninf': a diverging Newton must be able to see a NaN.
_FASTMATH = {"contract", "nsz", "arcp", "reassoc"}
# Without Numba's run-time (_nrt=False) a kernel cannot allocate memory, and pays no reference counting.
_OPTIONS = {"nogil": True, "_nrt": False, "fastmath": _FASTMATH, "error_model": "numpy"}
_HELPER = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_OPTIONS}
# The common processor of shipped kernels: every x86 of the last ten years. Its name, and what it can do, as LLVM says it.
BASELINE = "x86-64-v3"
_ABLE = (
    "avx avx2 bmi bmi2 cmov cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf sse sse2 sse3 sse4.1 sse4.2 ssse3 xsave"
)
FEATURES = ",".join(f"+{name}" for name in _ABLE.split())
SHIPPED = Path(__file__).parents[1] / "kernels"
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


@functools.cache
def _scanned(path: Path, changed: int, size: int, package: Path) -> tuple[bytes, frozenset[Path]]:
    """The hash of a source file, and the files of the package that it imports."""
    text = path.read_bytes()
    return hashlib.sha256(text).digest(), frozenset(_imported(text, package))


def _scan(path: Path) -> tuple[bytes, frozenset[Path]]:
    found = path.stat()
    return _scanned(path, found.st_mtime_ns, found.st_size, Path(__file__).parents[1])


def sources(file: Path) -> list[Path]:
    """A source file of the package and all those it depends on, and this one."""
    seen: set[Path] = set()
    ahead = {file, Path(__file__)}
    while ahead:
        seen |= ahead
        ahead = set().union(*(_scan(path)[1] for path in ahead)) - seen
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
    return None if root is None else root / _folder_name(file, _processor())


def _folder_name(file: Path, processor: str) -> str:
    versions = f"{numba.__version__} {llvmlite.__version__} {llvm.get_process_triple()}"
    digest = hashlib.sha256(f"{versions} {processor}".encode())
    for path in sources(file):
        digest.update(path.name.encode())
        digest.update(_scan(path)[0])
    return digest.hexdigest()[:16]


@functools.cache
def _processor() -> str:
    """What kernels are compiled for: Numba mixes up files of unlike machines that write to one folder at the same time."""
    config = numba.config
    return f"{config.CPU_NAME or llvm.get_host_cpu_name()} {config.CPU_FEATURES or get_host_cpu_features()}"


@functools.cache
def misfit() -> str:
    """Why the kernels that came with the package do not serve here; "" if they do, or if there are none."""
    try:
        made_for = (SHIPPED / "made_for.txt").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
    have = made_for_here()
    if made_for != have:
        return f"they are for {made_for}, and this is {have}"
    able = llvm.get_host_cpu_features()
    unable = [name for name in _ABLE.split() if not able.get(name)]
    return f"this processor lacks {', '.join(unable)}" if unable else ""


def made_for_here() -> str:
    """What compiled kernels depend on beside their sources, for people to read."""
    python = ".".join(platform.python_version_tuple()[:2])
    return f"Python {python}, Numba {numba.__version__}, {platform.system()} {platform.machine()}"


def _shipped_folder(file: Path) -> Path | None:
    """Where the kernels of a source file that came with the package lie, if they serve here."""
    if not SHIPPED.is_dir() or numba.config.CPU_NAME or os.environ.get("ANGUILLA_NATIVE") == "1" or misfit():
        return None
    folder = SHIPPED / _folder_name(file, f"{BASELINE} {FEATURES}")
    return folder if folder.is_dir() else None


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
_SHIPPED_FOLDERS: dict[str, Path | None] = {}
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
        self._cache_path = str(Path(str(self.folders[file]), _room(file)))

    folders: ClassVar[dict[str, Path | None]] = _FOLDERS

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Place:
        """Make it, also where nothing can be written."""
        return cls(function, file)


def _room(file: str) -> str:
    """A folder name for the kernels of a file: of the package by its place in it, of users by its place on the disk."""
    path, package = Path(file), Path(__file__).parents[1]
    if path.is_relative_to(package):
        return ".".join(path.relative_to(package).parent.parts)
    return str(UserProvidedCacheLocator.get_suitable_cache_subpath(file))


class _ShippedPlace(_Place):
    """Where the kernels of a file lie that came with the package."""

    folders: ClassVar = _SHIPPED_FOLDERS


class _Form(FunctionCache._impl_class):
    """How a kernel is written to a file."""

    _locator_classes: ClassVar = [_Place]


class _ShippedForm(_Form):
    """How a kernel that came with the package is read."""

    _locator_classes: ClassVar = [_ShippedPlace]


class _ShippedKernels(FunctionCache):
    """Kernels for the common processor: looked up as such, whatever the processor at hand."""

    _impl_class = _ShippedForm

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        asked, (triple, *_), code = super()._index_key(signature, codegen)
        return asked, (triple, BASELINE, FEATURES), code


class _Kept(FunctionCache):
    """Numba's cache of a kernel on the disk; a disk that is full, read-only or damaged costs time, not the run."""

    _impl_class = _Form

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        index = Path(self._cache_file._index_path)
        self.name = f"{Path(function.__code__.co_filename).stem}.{function.__name__}"
        self.claim = anguilla.compiler.claims.Claim(index.with_suffix(".claim"))
        shipped = _SHIPPED_FOLDERS.get(function.__code__.co_filename)
        self.shipped = None if shipped is None else _ShippedKernels(function)
        self.places = [index] if self.shipped is None else [index, Path(self.shipped._cache_file._index_path)]

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The kernel, or None if it is to be compiled, by this process and no other."""
        found = self._load(signature, context)
        if found is None:
            if SHIPPED.is_dir() and misfit():
                anguilla.compiler.telling.say_once(
                    f"its ready kernels do not serve here and are compiled anew: {misfit()}."
                )
            anguilla.compiler.telling.began(self.name)
            self.claim.take()
            if self.is_there():  # now
                found = self._load(signature, context)
        return found

    def is_there(self) -> bool:
        """Whether there are files of it, without a look into them."""
        return any(place.exists() for place in self.places)

    def _load(self, signature: Any, context: Any) -> Any:
        try:
            with anguilla.compiler.interrupts.held_back():
                found = super().load_overload(signature, context)
                return self.shipped.load_overload(signature, context) if found is None and self.shipped else found
        except Exception:  # a file that may not be read, or that was cut short: pickle raises many kinds
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def compiling(self, compile: Callable[..., Any]) -> Callable[..., Any]:
        """How a dispatcher compiles: as usual, but others wait for it, and garbage is left lying about."""

        @functools.wraps(compile)
        def claimed(signature: Any) -> Any:
            with global_compiler_lock:  # of threads that want it at the same time, one compiles
                collects = gc.isenabled()
                gc.disable()  # a tenth of the time
                try:
                    return compile(signature)
                finally:
                    self.claim.drop()
                    anguilla.compiler.telling.ended(self.name)
                    if collects:
                        gc.enable()

        return claimed

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
            _SHIPPED_FOLDERS[file] = _shipped_folder(Path(file))
        made._cache = _NotKept() if _FOLDERS[file] is None else _Kept(function)  # as enable_caching() does
        if isinstance(made._cache, _Kept):
            made.compile = made._cache.compiling(made.compile)
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
