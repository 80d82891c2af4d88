"""Settings for the whole test suite."""

import os
import sys
from pathlib import Path

import pytest

# Before anything imports matplotlib: tests draw without a display.
os.environ["MPLBACKEND"] = "Agg"

# Tests look at what is printed, and run in as many processes as there are cores: no word about compiling, no helpers.
os.environ.setdefault("ANGUILLA_COMPILING", "silent")
os.environ.setdefault("ANGUILLA_COMPILERS", "1")

# Tests start many a Python. Where it is told to write no bytecode, each would compile all the sources it imports anew,
# two to three seconds of them: here they share a folder that the next run finds again.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

# Groups of tests that take long, the longest first, so that the processes end together; what takes a moment comes last.
LONG = (
    "gradients", "fem", "faults", "multibody", "contact", "mixed", "shooting", "cli", "control", "linear",
    "validation_dynamics", "toolbox", "solve", "test_docs_blocks", "identification",
    "store", "many", "soak", "validation_statics", "view",
)  # fmt: skip
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """A folder of tests is run by one process, which makes its fixtures once; the other compiles other kernels meanwhile."""
    place = {name: number for number, name in enumerate(LONG)}

    def group(item):
        found = item.get_closest_marker("xdist_group")
        return (
            found.args[0] if found else Path(item.path).relative_to(Path(__file__).parent).parts[0].removesuffix(".py")
        )

    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(group(item)))
    items.sort(key=lambda item: place.get(group(item), len(place)))


def compile_kernels(order):
    """Compile what most tests need, in one of two orders, so that two processes share the work and do not wait."""
    from anguilla.solve.steps.ahead import compile_all

    usual = os.environ["ANGUILLA_COMPILERS"]
    os.environ["ANGUILLA_COMPILERS"] = order
    compile_all()
    os.environ["ANGUILLA_COMPILERS"] = usual


def pytest_sessionstart():
    if WORKER not in ("", "gw0"):
        compile_kernels("helper")


def pytest_collection_finish():
    if WORKER == "gw0":  # which has prepared the test files for all
        compile_kernels("1")
