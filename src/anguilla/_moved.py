"""Old places of modules: importing one gives the module that has moved, so that programs written before still run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["install"]

GROUPS = {
    "newton": "linear closing progress",
    "statics": "judging downhill relaxing flow",
    "steps": "schemes stepping starting origin easing pieces dynamics events kinks trust checkpoint identity stepper batch "
    "explicit",
    "gradients": "adjoint sweep sensitivity costs instants record",
    "modes": "linearise local lagrangian",
}
MOVED = {
    f"anguilla.solve.{name}": f"anguilla.solve.{room}.{name}"
    for room, names in GROUPS.items()
    for name in names.split()
}
MOVED |= {
    "anguilla._jit": "anguilla.compiler.jit",
    "anguilla.assemble": "anguilla.model",
    "anguilla.assemble.system": "anguilla.model.model",
    "anguilla.describe.files": "anguilla.files",
    "anguilla.quality": "anguilla.results.quality",
    "anguilla.solve.powers": "anguilla.results.powers",
    "anguilla.solve.shooting": "anguilla.shooting",
    "anguilla.solve.swimming": "anguilla.results.swimming",
}


class _Old(MetaPathFinder, Loader):
    """Finds a module under its old name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a module is that has moved; nothing else is looked for."""
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself, not a copy."""
        module = import_module(MOVED[spec.name])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It is made already; it keeps the name of its new place."""
        spec = module.__spec__
        module.__spec__ = spec.loader_state if spec else None


def install() -> None:
    """Look for old places, once everything else has failed."""
    if not any(isinstance(finder, _Old) for finder in sys.meta_path):
        sys.meta_path.append(_Old())
