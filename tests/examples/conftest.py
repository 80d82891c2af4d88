"""Runs an example once for all tests that ask for it."""

import copy
from collections import Counter
from functools import cache
from types import SimpleNamespace

import pytest
import script_modules

from anguilla.model.model import Model
from anguilla.solve.steps.identity import Identity


@cache
def _run(name: str) -> SimpleNamespace:
    module, made, first = script_modules.load(name), [], Model.__init__

    def counted(self, robot, linear=None):
        made.append(Identity().of(copy.deepcopy(robot)))  # of what it describes, so that a robot built anew counts too
        first(self, robot, linear)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Model, "__init__", counted)
        result = module.main(**getattr(module, "SMALL", {}))
    twice = [identity for identity, count in Counter(made).items() if count > 1]
    return SimpleNamespace(module=module, result=result, compiled=len(made), twice=len(twice))


@pytest.fixture(scope="session")
def example():
    """A function: name of an example -> its module and the result of its main(), in the size SMALL if it has one."""
    return _run
