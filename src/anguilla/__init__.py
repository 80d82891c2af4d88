"""Anguilla: simulation, analysis and control of soft and continuum robots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anguilla._lazy import lazy
from anguilla._moved import install as _install_old_places
from anguilla.describe import *  # noqa: F403
from anguilla.describe import __all__ as _described
from anguilla.errors import AnguillaError, AnguillaWarning, DescriptionError, SolverError
from anguilla.interact import *  # noqa: F403
from anguilla.interact import __all__ as _acting

if TYPE_CHECKING:
    from anguilla.files import Expression, Table, read_robot, read_urdf, write_robot
    from anguilla.identification import Identified, Marker, Measurements, Observer, Unknown, identify
    from anguilla.many import Sweep, grid, sample, sweep
    from anguilla.mixed import Volume
    from anguilla.model.evaluation import Evaluation
    from anguilla.model.model import Model
    from anguilla.model.model import System as System
    from anguilla.results.powers import Powers, powers
    from anguilla.results.states import Equilibrium, Trajectory
    from anguilla.results.swimming import Strides, TorqueEnvelope, strides, torque_envelope
    from anguilla.results_io import load
    from anguilla.solve.branches.branches import Branch, trace
    from anguilla.solve.gradients.adjoint import Gradient, gradient
    from anguilla.solve.gradients.costs import Cost, Reach, Rest, Sampled, StateCost, Travel
    from anguilla.solve.gradients.planning import MotionPlan, optimise_motion
    from anguilla.solve.gradients.sensitivity import Sensitivities, sensitivities
    from anguilla.solve.gradients.spending import Energy, InputEffort
    from anguilla.solve.modes.lagrangian import (
        actuation_matrix,
        bias_forces,
        coriolis_matrix,
        damping,
        forward_dynamics,
        gravity_forces,
        mass_matrix,
        stiffness,
    )
    from anguilla.solve.modes.linearise import LinearModel, linearise
    from anguilla.solve.modes.modes import Modes, Stability, modes, stability
    from anguilla.solve.statics.flow import Flow, ProjectiveFlow
    from anguilla.solve.statics.statics import statics
    from anguilla.solve.steps.batch import simulate_batch
    from anguilla.solve.steps.copies import BatchStepper
    from anguilla.solve.steps.dynamics import simulate
    from anguilla.solve.steps.explicit import simulate_explicit
    from anguilla.solve.steps.schemes import HHT, GeneralisedAlpha, Midpoint, Newmark
    from anguilla.solve.steps.stepper import Stepper
    from anguilla.view.page import animate
    from anguilla.view.plots import plot

__version__ = "0.1.0"

# Compiled code is imported when it is first asked for: `import anguilla` stays quick.
_LAZY = {
    "Volume": "mixed",
    "Unknown": "identification",
    "Identified": "identification",
    "Marker": "identification",
    "Measurements": "identification",
    "Observer": "identification",
    "identify": "identification",
    "Evaluation": "model.evaluation",
    "Model": "model.model",
    "System": "model.model",
    "Equilibrium": "results.states",
    "Trajectory": "results.states",
    "load": "results_io",
    "Expression": "files",
    "Table": "files",
    "read_robot": "files",
    "read_urdf": "files",
    "write_robot": "files",
    "sweep": "many",
    "Sweep": "many",
    "grid": "many",
    "sample": "many",
    "statics": "solve.statics.statics",
    "Flow": "solve.statics.flow",
    "ProjectiveFlow": "solve.statics.flow",
    "simulate": "solve.steps.dynamics",
    "simulate_batch": "solve.steps.batch",
    "simulate_explicit": "solve.steps.explicit",
    "Stepper": "solve.steps.stepper",
    "BatchStepper": "solve.steps.copies",
    "Newmark": "solve.steps.schemes",
    "HHT": "solve.steps.schemes",
    "GeneralisedAlpha": "solve.steps.schemes",
    "Midpoint": "solve.steps.schemes",
    "gradient": "solve.gradients.adjoint",
    "sensitivities": "solve.gradients.sensitivity",
    "Sensitivities": "solve.gradients.sensitivity",
    "Cost": "solve.gradients.costs",
    "Gradient": "solve.gradients.adjoint",
    "Reach": "solve.gradients.costs",
    "Rest": "solve.gradients.costs",
    "Sampled": "solve.gradients.costs",
    "StateCost": "solve.gradients.costs",
    "Travel": "solve.gradients.costs",
    "InputEffort": "solve.gradients.spending",
    "Energy": "solve.gradients.spending",
    "MotionPlan": "solve.gradients.planning",
    "optimise_motion": "solve.gradients.planning",
    "mass_matrix": "solve.modes.lagrangian",
    "coriolis_matrix": "solve.modes.lagrangian",
    "bias_forces": "solve.modes.lagrangian",
    "gravity_forces": "solve.modes.lagrangian",
    "stiffness": "solve.modes.lagrangian",
    "damping": "solve.modes.lagrangian",
    "actuation_matrix": "solve.modes.lagrangian",
    "forward_dynamics": "solve.modes.lagrangian",
    "LinearModel": "solve.modes.linearise",
    "linearise": "solve.modes.linearise",
    "Modes": "solve.modes.modes",
    "Stability": "solve.modes.modes",
    "modes": "solve.modes.modes",
    "stability": "solve.modes.modes",
    "Branch": "solve.branches.branches",
    "trace": "solve.branches.branches",
    "Powers": "results.powers",
    "Strides": "results.swimming",
    "TorqueEnvelope": "results.swimming",
    "powers": "results.powers",
    "strides": "results.swimming",
    "torque_envelope": "results.swimming",
    "plot": "view.plots",
    "animate": "view.page",
}

_MODULES = {
    "fem": "fem",
    "mixed": "mixed",
    "control": "control",
    "reference": "reference",
    "bridges": "bridges",
    "gaits": "describe.gaits",
    "joints": "joints",
    "loads": "loads",
    "routings": "routings",
    "sensors": "sensors",
    "strains": "strains",
    "shooting": "shooting",
    "view": "view",
}

__all__ = [
    "HHT",
    "AnguillaError",
    "AnguillaWarning",
    "BatchStepper",
    "Branch",
    "Cost",
    "DescriptionError",
    "Energy",
    "Equilibrium",
    "Evaluation",
    "Expression",
    "Flow",
    "GeneralisedAlpha",
    "Gradient",
    "Identified",
    "InputEffort",
    "LinearModel",
    "Marker",
    "Measurements",
    "Midpoint",
    "Model",
    "Modes",
    "MotionPlan",
    "Newmark",
    "Observer",
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
    "Table",
    "TorqueEnvelope",
    "Trajectory",
    "Travel",
    "Unknown",
    "Volume",
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
    "identify",
    "linearise",
    "load",
    "mass_matrix",
    "modes",
    "optimise_motion",
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
    *_acting,
]

_install_old_places()
__getattr__ = lazy(__name__, _LAZY, _MODULES)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
