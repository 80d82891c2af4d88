"""A second process that compiles some of the kernels that the first one needs, so that two cores are busy.

It starts when an entry finds that much is to be compiled, and ends when it has compiled what nobody else has claimed
(`claims.py`). ANGUILLA_COMPILERS=1 keeps it away.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import anguilla.compiler.claims
import anguilla.compiler.telling

__all__ = ["beside", "is_helper"]

WORTH_HELP = 8.0  # [s] of compiling, besides the longest kernel
HELPER = "helper"
CODE = "from anguilla.solve.steps.ahead import compile_all; compile_all()"


def is_helper() -> bool:
    """Whether this process is the second one, which begins at the other end."""
    return os.environ.get("ANGUILLA_COMPILERS") == HELPER


@contextlib.contextmanager
def beside(entry: Any, needed: list[Any]) -> Iterator[None]:
    """Tell how long it takes to compile an entry and the distant kernels it needs, and get help if it is long."""
    caches = [one._cache for one in (entry, *(distant.compiled for distant in needed))]
    lacking = [cache.name for cache in caches if hasattr(cache, "name") and not cache.is_there()]
    costs = sorted(map(anguilla.compiler.telling.cost, lacking))
    helped = sum(costs[:-1]) > WORTH_HELP and len(lacking) == len(caches) and _start()
    anguilla.compiler.telling.ahead(*lacking, processes=2 if helped else 1)
    try:
        yield
    finally:
        for name in lacking:
            anguilla.compiler.telling.ended(name)


def _start() -> bool:
    """Start the second process, if there is a core for it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if (
        os.environ.get("ANGUILLA_COMPILERS")
        or cores < 2
        or not anguilla.compiler.claims.AVAILABLE
        or not sys.executable
    ):
        return False
    code = f"import sys; sys.path[:] = {sys.path!r}; {CODE}"
    setting = os.environ | {"ANGUILLA_COMPILERS": HELPER, "ANGUILLA_COMPILING": "silent"}
    silent: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    try:
        process = subprocess.Popen([sys.executable, "-c", code], env=setting, start_new_session=True, **silent)
    except OSError:
        return False
    process.returncode = 0  # nobody waits for it
    return True
