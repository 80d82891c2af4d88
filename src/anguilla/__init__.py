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
    from anguilla.results_io import load
    from anguilla.solve.adjoint import Gradient, gradient
    from anguilla.solve.batch import simulate_batch
    from anguilla.solve.branches import Branch, trace
    from anguilla.solve.costs import Cost, Reach, Rest, Sampled, StateCost
    from anguilla.solve.dynamics import simulate
    from anguilla.solve.explicit import simulate_explicit
    from anguilla.solve.flow import ProjectiveFlow
    from anguilla.solve.lagrangian import (
        actuation_matrix,
        bias_forces,
        coriolis_matrix,
        damping,
        forward_dynamics,
        gravity_forces,
        mass_matrix,
        stiffness,
    )
    from anguilla.solve.linearise import LinearModel, linearise
    from anguilla.solve.modes import Modes, Stability, modes, stability
    from anguilla.solve.schemes import HHT, GeneralisedAlpha, Midpoint, Newmark
    from anguilla.solve.sensitivity import Sensitivities, sensitivities
    from anguilla.solve.statics import Flow, statics
    from anguilla.solve.swimming import Powers, Strides, TorqueEnvelope, powers, strides, torque_envelope
    from anguilla.view.page import animate
    from anguilla.view.plots import plot

__version__ = "0.1.0"

# Compiled code is imported when it is first asked for: `import anguilla` stays quick.
_LAZY = {
    "System": "anguilla.assemble.system",
    "Equilibrium": "anguilla.results",
    "Trajectory": "anguilla.results",
    "load": "anguilla.results_io",
    "statics": "anguilla.solve.statics",
    "Flow": "anguilla.solve.statics",
    "ProjectiveFlow": "anguilla.solve.flow",
    "simulate": "anguilla.solve.dynamics",
    "simulate_batch": "anguilla.solve.batch",
    "simulate_explicit": "anguilla.solve.explicit",
    "Newmark": "anguilla.solve.schemes",
    "HHT": "anguilla.solve.schemes",
    "GeneralisedAlpha": "anguilla.solve.schemes",
    "Midpoint": "anguilla.solve.schemes",
    "gradient": "anguilla.solve.adjoint",
    "sensitivities": "anguilla.solve.sensitivity",
    "Sensitivities": "anguilla.solve.sensitivity",
    "Cost": "anguilla.solve.costs",
    "Gradient": "anguilla.solve.adjoint",
    "Reach": "anguilla.solve.costs",
    "Rest": "anguilla.solve.costs",
    "Sampled": "anguilla.solve.costs",
    "StateCost": "anguilla.solve.costs",
    "mass_matrix": "anguilla.solve.lagrangian",
    "coriolis_matrix": "anguilla.solve.lagrangian",
    "bias_forces": "anguilla.solve.lagrangian",
    "gravity_forces": "anguilla.solve.lagrangian",
    "stiffness": "anguilla.solve.lagrangian",
    "damping": "anguilla.solve.lagrangian",
    "actuation_matrix": "anguilla.solve.lagrangian",
    "forward_dynamics": "anguilla.solve.lagrangian",
    "LinearModel": "anguilla.solve.linearise",
    "linearise": "anguilla.solve.linearise",
    "Modes": "anguilla.solve.modes",
    "Stability": "anguilla.solve.modes",
    "modes": "anguilla.solve.modes",
    "stability": "anguilla.solve.modes",
    "Branch": "anguilla.solve.branches",
    "trace": "anguilla.solve.branches",
    "Powers": "anguilla.solve.swimming",
    "Strides": "anguilla.solve.swimming",
    "TorqueEnvelope": "anguilla.solve.swimming",
    "powers": "anguilla.solve.swimming",
    "strides": "anguilla.solve.swimming",
    "torque_envelope": "anguilla.solve.swimming",
    "plot": "anguilla.view.plots",
    "animate": "anguilla.view.page",
}

__all__ = [
    "HHT",
    "AnguillaError",
    "AnguillaWarning",
    "Cost",
    "DescriptionError",
    "Equilibrium",
    "Flow",
    "GeneralisedAlpha",
    "Gradient",
    "Midpoint",
    "Newmark",
    "Powers",
    "ProjectiveFlow",
    "Reach",
    "Rest",
    "Sampled",
    "Sensitivities",
    "SolverError",
    "StateCost",
    "Strides",
    "System",
    "TorqueEnvelope",
    "Trajectory",
    "__version__",
    "animate",
    "gradient",
    "load",
    "sensitivities",
    "mass_matrix",
    "coriolis_matrix",
    "bias_forces",
    "gravity_forces",
    "stiffness",
    "damping",
    "actuation_matrix",
    "forward_dynamics",
    "LinearModel",
    "linearise",
    "Modes",
    "Stability",
    "modes",
    "stability",
    "Branch",
    "trace",
    "plot",
    "powers",
    "simulate",
    "simulate_batch",
    "simulate_explicit",
    "statics",
    "strides",
    "torque_envelope",
    *_described,
]


def __getattr__(name: str) -> Any:
    if name in ("fem", "control", "reference", "bridges"):
        return import_module(f"anguilla.{name}")
    if name == "gaits":
        return import_module("anguilla.describe.gaits")
    if name == "shooting":
        return import_module("anguilla.solve.shooting")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'anguilla' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
