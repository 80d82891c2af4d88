"""How kernels are compiled: one decorator, one cache folder per version of the kernel sources.

Numba's disk cache does not notice an edit in an imported helper, so a stale binary could outlive a corrected formula.
The cache folder is therefore named after a hash of every kernel source file: any edit starts a fresh folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

__all__ = ["cache_folder", "inline", "kernel", "merge"]

_KERNEL_ROOMS = ("mechanics", "loads", "assemble", "solve")
# No 'nnan'/'ninf': a diverging Newton must be able to see a NaN.
_FASTMATH = {"contract", "nsz", "arcp", "reassoc"}


def _source_hash() -> str:
    here = Path(__file__).parent
    files = [Path(__file__), *(f for room in _KERNEL_ROOMS for f in sorted((here / room).glob("*.py")))]
    digest = hashlib.sha256(numba.__version__.encode())
    for file in files:
        text = file.read_bytes()
        # the rooms above hold kernels only in files that say so; below, constants of any file may end up in a kernel
        if file.parent.name not in ("assemble", "solve") or b"anguilla._jit" in text:
            digest.update(file.name.encode())
            digest.update(text)
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Folder of the compiled kernels: $ANGUILLA_CACHE, else ~/.cache/anguilla, then the hash of the sources."""
    root = (
        os.environ.get("ANGUILLA_CACHE") or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "anguilla"
    )
    return Path(root) / _source_hash()


_CACHE = cache_folder()


def _compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    # Without Numba's run-time (_nrt=False) a kernel cannot allocate memory, and pays no reference counting.
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_CACHE)  # read by numba when the dispatcher is made, restored at once
    try:
        return numba.njit(nogil=True, _nrt=False, fastmath=_FASTMATH, error_model="numpy", **options)(function)
    finally:
        numba.config.CACHE_DIR = before


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a module-level kernel, cached on disk, without the interpreter lock."""
    return _compiled(function, cache=True)


def inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a small helper that is always inlined into its kernel."""
    return _compiled(function, forceinline=True)


def merge(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a helper that takes a whole tree or workspace: its code is merged into the kernel before compilation.

    Passing those large tuples through a call costs much compilation time.
    """
    return _compiled(function, inline="always")
