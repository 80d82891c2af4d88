"""Control in constraint space: inverse kinematics, estimation, feedback, robustness, comparison models (paper 002)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Imported when first asked for: compiled code and SciPy are slow to import.
_LAZY = {
    "InverseKinematics": "inverse",
    "Reach": "settling",
    "inverse_kinematics": "inverse",
    "forward_kinematics": "forward",
    "Allocation": "allocation",
    "allocate": "allocation",
    "QpSolution": "qp",
    "solve_qp": "qp",
    "ConstraintModel": "model",
    "RodModel": "rods",
    "ArcModel": "curvature",
    "VertebraModel": "curvature",
    "arc_pose": "curvature",
    "vertebra_pose": "curvature",
    "fit_model": "curvature",
    "SensorControl": "loop",
    "Plant": "loop",
    "Run": "loop",
    "run_loop": "loop",
    "impedance_step": "loop",
    "Robustness": "robust",
    "robust_gamma": "robust",
    "exact_gamma": "robust",
    "workspace": "reachable",
}

__all__ = list(_LAZY)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"anguilla.control.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'anguilla.control' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
