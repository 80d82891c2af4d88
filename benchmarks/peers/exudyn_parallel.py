"""The parallel robot of benchmarks/parallel.py with Exudyn, one thread: one line of JSON per setting.

Planar geometrically exact beams with the same viscosity in bending. The hinges of the bases hold two coordinates each, that
of the tips makes two pairs of coordinates equal. The torques are functions of the time in Python.
"""

import itertools
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import parallel as case
from exudyn_common import exu, follow, ground_coordinate, hold, item, measured, motion_options, seconds_of
from measure import parser_of, show


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation and solver of one run."""

    elements: int  # of each leg
    step: float  # [s]
    spectral_radius: float = 0.8
    linear_solver: str = "sparse"
    modified_newton: bool = True


SETTINGS = (Setting(12, 0.00625), Setting(16, 0.005), Setting(24, 0.0025), Setting(16, 0.00625, 0.8, "sparse", False))


def build(setting: Setting) -> tuple[exu.SystemContainer, exu.MainSystem, int]:
    """The robot at rest, and the sensor of its hinge."""
    container = exu.SystemContainer()
    system = container.AddSystem()
    size = case.LENGTH / setting.elements
    area, inertia = math.pi * case.RADIUS**2, math.pi * case.RADIUS**4 / 4
    stiffness = {
        "bendingStiffness": case.YOUNG * inertia,
        "axialStiffness": case.YOUNG * area,
        "shearStiffness": case.YOUNG / 3 * area,
        "massPerLength": case.DENSITY * area,
        "crossSectionInertia": case.DENSITY * inertia,
        "bendingDamping": case.MU * case.YOUNG * inertia,
    }
    ground = ground_coordinate(system)
    tips = []
    for leg, side in enumerate((1.0, -1.0)):
        angle = -side * case.TILT
        along = np.array([math.cos(angle), math.sin(angle)])
        nodes = [
            system.AddNode(
                item.NodeRigidBody2D(
                    referenceCoordinates=[*(np.array([0, side * case.HALF]) + k * size * along), angle]
                )
            )
            for k in range(setting.elements + 1)
        ]
        for ends in itertools.pairwise(nodes):
            system.AddObject(
                item.ObjectBeamGeometricallyExact2D(
                    nodeNumbers=list(ends), length=size, includeReferenceRotations=False, **stiffness
                )
            )
        hold(system, ground, nodes[0], 2)
        motor = system.AddMarker(item.MarkerNodeRigid(nodeNumber=nodes[0]))

        def torque(_system, t, _value, leg=leg):
            return [0.0, 0.0, case.torques(t)[leg]]

        system.AddLoad(item.LoadTorqueVector(markerNumber=motor, loadVectorUserFunction=torque))
        tips.append(nodes[-1])
    for coordinate in range(2):
        pair = [system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=tip, coordinate=coordinate)) for tip in tips]
        system.AddObject(item.ObjectConnectorCoordinate(markerNumbers=pair))
    sensor = follow(system, tips[0])
    system.Assemble()
    return container, system, sensor


def run(setting: Setting) -> tuple[np.ndarray, np.ndarray, float]:
    """Times (m,) [s], hinge (m, 2) [m] and the seconds of the dynamic solve."""
    _container, system, sensor = build(setting)  # the container must outlive the system
    options = motion_options(setting, until=case.DURATION, write_period=setting.step)
    # [N]; the robot is at rest for a second, where nothing is relative.
    options.timeIntegration.newton.absoluteTolerance = 1e-6
    seconds = seconds_of("dynamic", lambda: system.SolveDynamic(options))
    samples = np.array(system.GetSensorStoredData(sensor))
    return samples[:, 0], samples[:, 1:3], seconds


def measure(setting: Setting, *, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    return measured("parallel", setting, lambda: run(setting), case.error, repeat=repeat, simulated=case.DURATION)


def main() -> None:
    repeat = parser_of(__doc__, repeat=2).parse_args().repeat
    for setting in SETTINGS:
        show(measure(setting, repeat=repeat))


if __name__ == "__main__":
    main()
