"""Control: closed loops and controllers of any robot; inverse kinematics and loops in constraint space (paper 002)."""

from __future__ import annotations

from anguilla._lazy import lazy

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
    "FixedRate": "twin",
    "Timing": "twin",
    "Twin": "twin",
    "ask_twin": "twin",
    "Door": "doors",
    "SerialDoor": "doors",
    "UdpDoor": "doors",
    "ClosedLoop": "running",
    "Controller": "running",
    "full_state": "running",
    "run": "running",
    "FeedForward": "feedback",
    "Impedance": "feedback",
    "PID": "feedback",
    "input_forces": "feedback",
    "input_limits": "feedback",
    "steady_gain": "feedback",
    "LQR": "regulators",
    "LQG": "regulators",
    "ComputedTorque": "torque",
    "InverseDynamics": "torque",
    "inverse_dynamics": "torque",
    "ILQR": "swinging",
    "ilqr": "swinging",
    "MPC": "horizon",
    "SensorMPC": "sensed",
    "Steer": "steering",
}

__all__ = list(_LAZY)


__getattr__ = lazy(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted(__all__)
