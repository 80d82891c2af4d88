"""Runs an example once for all tests that ask for it."""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def _run(name: str) -> SimpleNamespace:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return SimpleNamespace(module=module, result=module.main())


@pytest.fixture(scope="session")
def example():
    """A function: name of an example -> its module and the result of its main()."""
    return _run
