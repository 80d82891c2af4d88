"""Routings of tendons through rods: `ag.routings.helical` winds a tendon, where `ag.joints.Helical` is a screw."""

from anguilla.describe.actuators import FunctionRouting, Routing, convergent, helical, parallel

__all__ = ["FunctionRouting", "Routing", "convergent", "helical", "parallel"]
