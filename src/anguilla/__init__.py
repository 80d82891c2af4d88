"""Anguilla: simulation, analysis and control of soft and continuum robots."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from anguilla.describe import *  # noqa: F403
from anguilla.describe import __all__ as _described
from anguilla.errors import AnguillaError, AnguillaWarning, DescriptionError, SolverError

if TYPE_CHECKING:
    from anguilla.assemble.system import System
    from anguilla.results import Equilibrium, Trajectory
    from anguilla.solve.dynamics import simulate
    from anguilla.solve.explicit import simulate_explicit
    from anguilla.solve.flow import ProjectiveFlow
    from anguilla.solve.schemes import HHT, GeneralisedAlpha, Midpoint, Newmark
    from anguilla.solve.statics import Flow, statics
    from anguilla.view.page import animate
    from anguilla.view.plots import plot

__version__ = "0.1.0"

# Compiled code is imported when it is first asked for: `import anguilla` stays quick.
_LAZY = {
    "System": "anguilla.assemble.system",
    "Equilibrium": "anguilla.results",
    "Trajectory": "anguilla.results",
    "statics": "anguilla.solve.statics",
    "Flow": "anguilla.solve.statics",
    "ProjectiveFlow": "anguilla.solve.flow",
    "simulate": "anguilla.solve.dynamics",
    "simulate_explicit": "anguilla.solve.explicit",
    "Newmark": "anguilla.solve.schemes",
    "HHT": "anguilla.solve.schemes",
    "GeneralisedAlpha": "anguilla.solve.schemes",
    "Midpoint": "anguilla.solve.schemes",
    "plot": "anguilla.view.plots",
    "animate": "anguilla.view.page",
}

__all__ = [
    "HHT",
    "AnguillaError",
    "AnguillaWarning",
    "DescriptionError",
    "Equilibrium",
    "Flow",
    "GeneralisedAlpha",
    "Midpoint",
    "Newmark",
    "ProjectiveFlow",
    "SolverError",
    "System",
    "Trajectory",
    "__version__",
    "animate",
    "plot",
    "simulate",
    "simulate_explicit",
    "statics",
    *_described,
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'anguilla' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
