"""Soft volumes by finite elements: meshes, elements, equilibria, constraint rows and their compliance (paper 002)."""

from __future__ import annotations

from anguilla._lazy import lazy

_LAZY = {
    "TetMesh": "mesh",
    "block": "shapes",
    "cylinder": "shapes",
    "tube": "shapes",
    "finger": "shapes",
    "parallel_robot": "shapes",
    "trunk": "shapes",
    "SoftBody": "body",
    "Tendon": "parts",
    "Chamber": "parts",
    "String": "parts",
    "Effector": "parts",
    "PointForce": "parts",
    "Layer": "parts",
    "Traction": "parts",
    "Spring": "parts",
    "PointMass": "parts",
    "MooneyRivlin": "hyperelastic",
    "Yeoh": "hyperelastic",
    "Ogden": "hyperelastic",
    "Fibres": "hyperelastic",
    "route": "parts",
    "SoftSystem": "system",
    "SoftState": "system",
    "SoftEquilibrium": "results",
    "statics": "equilibrium",
    "read_mesh": "files",
    "write_mesh": "files",
    "Measurement": "fitting",
    "Fit": "fitting",
    "fit_material": "fitting",
    "simulate": "dynamics",
    "Stepper": "stepper",
    "modes": "vibrations",
    "SoftModes": "vibrations",
    "linearise": "vibrations",
    "SoftLinearModel": "vibrations",
    "gradient": "gradients",
    "reduce": "reduction",
    "ReducedModel": "reduction",
    "SoftGradient": "gradients",
    "SoftTrajectory": "dynamics",
    "Prony": "viscosity",
    "Rayleigh": "viscosity",
    "SoftModel": "projection",
    "Projection": "projection",
}

__all__ = list(_LAZY)


__getattr__ = lazy(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted(__all__)
