"""Sensors of a robot, to be put on it by `robot.sense(name, sensor)`."""

from anguilla.describe.sensors import (
    Accelerometer,
    ContactForce,
    Effort,
    Gyro,
    JointPosition,
    JointRate,
    LineLength,
    Pose,
    Position,
    Sensor,
    StateSensor,
    StrainGauge,
    Velocity,
)

__all__ = [
    "Accelerometer",
    "ContactForce",
    "Effort",
    "Gyro",
    "JointPosition",
    "JointRate",
    "LineLength",
    "Pose",
    "Position",
    "Sensor",
    "StateSensor",
    "StrainGauge",
    "Velocity",
]
