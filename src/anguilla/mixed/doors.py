"""What `ag.statics`, `ag.simulate` and others call for a robot with soft volumes."""

from anguilla.mixed.gradients import gradient
from anguilla.mixed.model import MixedModel as Model
from anguilla.mixed.modes import modes
from anguilla.mixed.motion import simulate
from anguilla.mixed.statics import statics
from anguilla.mixed.stepper import MixedRobotStepper as Stepper

__all__ = ["Model", "Stepper", "gradient", "modes", "simulate", "statics"]
