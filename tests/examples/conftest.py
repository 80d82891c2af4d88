"""Runs an example once for all tests that ask for it."""

from functools import cache
from types import SimpleNamespace

import pytest
import script_modules


@cache
def _run(name: str) -> SimpleNamespace:
    module = script_modules.load(name)
    return SimpleNamespace(module=module, result=module.main())


@pytest.fixture(scope="session")
def example():
    """A function: name of an example -> its module and the result of its main()."""
    return _run
