"""Statics and dynamics of rods in their strong form, as optimal control problems solved by shooting (paper 003)."""

from anguilla.solve.shooting.shape import Motion, StaticShape
from anguilla.solve.shooting.statics import statics
from anguilla.solve.shooting.ties import Hold, Join

__all__ = ["Hold", "Join", "Motion", "StaticShape", "statics"]
