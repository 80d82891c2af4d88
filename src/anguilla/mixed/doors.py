"""What `ag.statics`, `ag.simulate` and others call for a robot with soft volumes."""

from anguilla.mixed.dynamics import simulate
from anguilla.mixed.statics import statics

__all__ = ["simulate", "statics"]
