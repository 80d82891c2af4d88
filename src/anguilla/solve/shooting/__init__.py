"""Statics and dynamics of rods in their strong form, as optimal control problems solved by shooting (paper 003)."""

from anguilla.solve.shooting.dynamics import simulate
from anguilla.solve.shooting.critical import critical_step
from anguilla.solve.shooting.inverse import Actuation, inverse_dynamics, inverse_statics
from anguilla.solve.shooting.shape import Motion, StaticShape
from anguilla.solve.shooting.statics import statics
from anguilla.solve.shooting.ties import Hold, Join

__all__ = ["Actuation", "Hold", "Join", "Motion", "StaticShape", "critical_step", "inverse_dynamics", "inverse_statics", "simulate", "statics"]
