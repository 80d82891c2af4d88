"""Statics and dynamics of rods in their strong form, as optimal control problems solved by shooting (paper 003).

The library's second method: no strain modes, but the boundary-value problem along the rods, solved at every load or
time step.
"""

from anguilla._doors import hang
from anguilla.shooting.critical import critical_step
from anguilla.shooting.dynamics import simulate
from anguilla.shooting.inverse import Actuation, inverse_dynamics, inverse_statics
from anguilla.shooting.least_constraint import GaussConstraint, gauss_constraint
from anguilla.shooting.shape import Motion, StaticShape
from anguilla.shooting.stability import Stability, stability
from anguilla.shooting.statics import statics
from anguilla.shooting.strain_form import StrainSolution, strain_form
from anguilla.shooting.ties import Hold, Join

__all__ = [
    "Actuation",
    "GaussConstraint",
    "Hold",
    "Join",
    "Motion",
    "Stability",
    "StaticShape",
    "StrainSolution",
    "critical_step",
    "gauss_constraint",
    "inverse_dynamics",
    "inverse_statics",
    "simulate",
    "stability",
    "statics",
    "strain_form",
]

hang(__all__, globals())
