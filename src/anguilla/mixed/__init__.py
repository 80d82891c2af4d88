"""Robots of rods, rigid bodies and soft volumes: one Newton on the coordinates of the former and the nodes of the latter."""

from __future__ import annotations

from anguilla._lazy import lazy

_LAZY = {
    "Volume": "volume",
    "MixedModel": "model",
    "MixedEquilibrium": "results",
    "MixedTrajectory": "results",
    "MixedModes": "modes",
    "MixedRobotModel": "projection",
    "simulate": "motion",
    "statics": "statics",
}

__all__ = list(_LAZY)


__getattr__ = lazy(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted(__all__)
