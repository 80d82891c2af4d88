"""What `ag.statics` and others call for a robot with soft volumes."""

from anguilla.mixed.statics import statics

__all__ = ["statics"]
