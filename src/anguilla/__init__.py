"""Anguilla: simulation, analysis and control of soft and continuum robots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anguilla._lazy import lazy
from anguilla.describe import *  # noqa: F403
from anguilla.describe import __all__ as _described
from anguilla.errors import AnguillaError, AnguillaWarning, DescriptionError, SolverError

if TYPE_CHECKING:
    from anguilla.assemble.system import System
    from anguilla.describe.files import Expression, Table, read_robot, read_urdf, write_robot
    from anguilla.many import Sweep, grid, sample, sweep
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
    from anguilla.solve.powers import Powers, powers
    from anguilla.solve.schemes import HHT, GeneralisedAlpha, Midpoint, Newmark
    from anguilla.solve.sensitivity import Sensitivities, sensitivities
    from anguilla.solve.statics import Flow, statics
    from anguilla.solve.stepper import Stepper
    from anguilla.solve.swimming import Strides, TorqueEnvelope, strides, torque_envelope
    from anguilla.view.page import animate
    from anguilla.view.plots import plot

__version__ = "0.1.0"

# Compiled code is imported when it is first asked for: `import anguilla` stays quick.
_LAZY = {
    "System": "assemble.system",
    "Equilibrium": "results",
    "Trajectory": "results",
    "load": "results_io",
    "Expression": "describe.files",
    "Table": "describe.files",
    "read_robot": "describe.files",
    "read_urdf": "describe.files",
    "write_robot": "describe.files",
    "sweep": "many",
    "Sweep": "many",
    "grid": "many",
    "sample": "many",
    "statics": "solve.statics",
    "Flow": "solve.statics",
    "ProjectiveFlow": "solve.flow",
    "simulate": "solve.dynamics",
    "simulate_batch": "solve.batch",
    "simulate_explicit": "solve.explicit",
    "Stepper": "solve.stepper",
    "Newmark": "solve.schemes",
    "HHT": "solve.schemes",
    "GeneralisedAlpha": "solve.schemes",
    "Midpoint": "solve.schemes",
    "gradient": "solve.adjoint",
    "sensitivities": "solve.sensitivity",
    "Sensitivities": "solve.sensitivity",
    "Cost": "solve.costs",
    "Gradient": "solve.adjoint",
    "Reach": "solve.costs",
    "Rest": "solve.costs",
    "Sampled": "solve.costs",
    "StateCost": "solve.costs",
    "mass_matrix": "solve.lagrangian",
    "coriolis_matrix": "solve.lagrangian",
    "bias_forces": "solve.lagrangian",
    "gravity_forces": "solve.lagrangian",
    "stiffness": "solve.lagrangian",
    "damping": "solve.lagrangian",
    "actuation_matrix": "solve.lagrangian",
    "forward_dynamics": "solve.lagrangian",
    "LinearModel": "solve.linearise",
    "linearise": "solve.linearise",
    "Modes": "solve.modes",
    "Stability": "solve.modes",
    "modes": "solve.modes",
    "stability": "solve.modes",
    "Branch": "solve.branches",
    "trace": "solve.branches",
    "Powers": "solve.powers",
    "Strides": "solve.swimming",
    "TorqueEnvelope": "solve.swimming",
    "powers": "solve.powers",
    "strides": "solve.swimming",
    "torque_envelope": "solve.swimming",
    "plot": "view.plots",
    "animate": "view.page",
}

_MODULES = {
    "fem": "fem",
    "control": "control",
    "reference": "reference",
    "bridges": "bridges",
    "gaits": "describe.gaits",
    "shooting": "solve.shooting",
    "view": "view",
}

__all__ = [
    "HHT",
    "AnguillaError",
    "AnguillaWarning",
    "Branch",
    "Cost",
    "DescriptionError",
    "Equilibrium",
    "Expression",
    "Flow",
    "GeneralisedAlpha",
    "Gradient",
    "LinearModel",
    "Midpoint",
    "Modes",
    "Newmark",
    "Powers",
    "ProjectiveFlow",
    "Reach",
    "Rest",
    "Sampled",
    "Sensitivities",
    "SolverError",
    "Stability",
    "StateCost",
    "Stepper",
    "Strides",
    "Sweep",
    "System",
    "Table",
    "TorqueEnvelope",
    "Trajectory",
    "__version__",
    "actuation_matrix",
    "animate",
    "bias_forces",
    "coriolis_matrix",
    "damping",
    "forward_dynamics",
    "gradient",
    "gravity_forces",
    "grid",
    "linearise",
    "load",
    "mass_matrix",
    "modes",
    "plot",
    "powers",
    "read_robot",
    "read_urdf",
    "sample",
    "sensitivities",
    "simulate",
    "simulate_batch",
    "simulate_explicit",
    "stability",
    "statics",
    "stiffness",
    "strides",
    "sweep",
    "torque_envelope",
    "trace",
    "write_robot",
    *_described,
]

__getattr__ = lazy(__name__, _LAZY, _MODULES)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
