"""``anguilla info``: versions, the folder of compiled kernels, threads."""

from __future__ import annotations

import os
import platform

from anguilla.cli.common import DONE, JsonOption, Output, package_version

PACKAGES = ("numpy", "scipy", "numba", "matplotlib", "rich", "typer", "ruamel.yaml", "h5netcdf", "xarray", "viser")


def info(machine: JsonOption = False) -> int:
    """Show versions, the folder of compiled kernels, and threads."""
    from anguilla.compiler.jit import cache_root

    output = Output(machine)
    versions = {package: package_version(package) for package in ("anguilla", *PACKAGES)}
    files, size = compiled()
    rows = [
        ("anguilla", versions["anguilla"]),
        ("python", f"{platform.python_version()} ({platform.system()}, {platform.machine()})"),
        *((package, versions[package]) for package in PACKAGES),
        ("kernels", f"{files} files, {size / 1e6:.1f} MB" if files else "none yet: the first run compiles them"),
        ("cache folder", str(cache_root() or "none: there is no home folder; set ANGUILLA_CACHE")),
        ("threads", f"1 per simulation, {threads()} available"),
    ]
    output.table(rows)
    output.facts |= {"versions": versions, "python": platform.python_version(), "threads": threads()}
    output.facts |= {"kernels": files, "cache_folder": None if cache_root() is None else str(cache_root())}
    output.close()
    return DONE


def threads() -> int:
    """Threads this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def compiled() -> tuple[int, int]:
    """Number and total size [bytes] of the compiled kernels on disk."""
    from anguilla.compiler.jit import cache_root

    root = cache_root()
    sizes = [] if root is None else [file.stat().st_size for file in root.rglob("*.nb*")]
    return len(sizes), sum(sizes)
