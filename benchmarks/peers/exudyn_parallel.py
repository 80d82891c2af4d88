"""The parallel robot of benchmarks/parallel.py with Exudyn, one thread: one line of JSON per setting.

Planar geometrically exact beams with the same viscosity in bending. The hinges of the bases hold two coordinates each, that
of the tips makes two pairs of coordinates equal. The torques are functions of the time in Python.
"""

import argparse
import contextlib
import itertools
import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import parallel as case
from measure import record, show, timed

sys.exudynFast = True  # read by the import below: selects the faster of the two compiled modules
with contextlib.redirect_stdout(sys.stderr):  # it announces its choice, and stdout is for JSON
    import exudyn as exu
    import exudyn.itemInterface as item  # noqa: N813


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
    ground = system.AddMarker(
        item.MarkerNodeCoordinate(nodeNumber=system.AddNode(item.NodePointGround()), coordinate=0)
    )
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
        for coordinate in range(2):
            held = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=coordinate))
            system.AddObject(item.ObjectConnectorCoordinate(markerNumbers=[ground, held]))
        motor = system.AddMarker(item.MarkerNodeRigid(nodeNumber=nodes[0]))

        def torque(_system, t, _value, leg=leg):
            return [0.0, 0.0, case.torques(t)[leg]]

        system.AddLoad(item.LoadTorqueVector(markerNumber=motor, loadVectorUserFunction=torque))
        tips.append(nodes[-1])
    for coordinate in range(2):
        pair = [system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=tip, coordinate=coordinate)) for tip in tips]
        system.AddObject(item.ObjectConnectorCoordinate(markerNumbers=pair))
    position = exu.OutputVariableType.Position
    sensor = system.AddSensor(item.SensorNode(nodeNumber=tips[0], storeInternal=True, outputVariableType=position))
    system.Assemble()
    return container, system, sensor


def run(setting: Setting) -> tuple[np.ndarray, np.ndarray, float]:
    """Times (m,) [s], hinge (m, 2) [m] and the seconds of the dynamic solve."""
    _container, system, sensor = build(setting)  # the container must outlive the system
    options = exu.SimulationSettings()
    options.solution.file.write = False
    options.solution.sensors.writePeriod = setting.step
    options.parallel.numberOfThreads = 1
    kinds = exu.LinearSolverType
    options.linearSolver.solverType = kinds.EigenDense if setting.linear_solver == "dense" else kinds.EigenSparse
    dynamic = options.timeIntegration
    dynamic.verboseMode = 0
    dynamic.endTime = case.DURATION
    dynamic.numberOfSteps = round(case.DURATION / setting.step)
    dynamic.minimumStepSize = setting.step / 64
    dynamic.newton.relativeTolerance = 1e-6
    dynamic.newton.absoluteTolerance = 1e-6  # [N]; the robot is at rest for a second, where nothing is relative
    dynamic.newton.useModifiedNewton = setting.modified_newton
    dynamic.generalizedAlpha.spectralRadius = setting.spectral_radius
    try:
        done, seconds = timed(lambda: system.SolveDynamic(options))
    except ValueError as error:
        raise RuntimeError("the dynamic solve failed") from error
    if done is False:
        raise RuntimeError("the dynamic solve failed")
    samples = np.array(system.GetSensorStoredData(sensor))
    return samples[:, 0], samples[:, 1:3], seconds


def measure(setting: Setting, *, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    label = {"peer": "exudyn", "version": exu.config.Version(), "case": "parallel", "settings": asdict(setting)}
    try:
        with contextlib.redirect_stdout(sys.stderr):  # Exudyn also prints its failures
            runs = [run(setting) for _ in range(repeat)]
    except RuntimeError as error:
        return {**label, "failure": str(error)}
    t, hinge, _ = runs[0]
    seconds = [seconds for *_, seconds in runs]
    return record(**label, error=case.error(t, hinge), seconds=seconds, simulated=case.DURATION)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=2)
    for setting in SETTINGS:
        show(measure(setting, repeat=parser.parse_args().repeat))


if __name__ == "__main__":
    main()
