"""What `ag.statics`, `ag.simulate` and others call for a robot with soft volumes."""

from anguilla.mixed.dynamics import simulate
from anguilla.mixed.gradients import gradient
from anguilla.mixed.modes import modes
from anguilla.mixed.statics import statics

__all__ = ["gradient", "modes", "simulate", "statics"]
