"""The flying beam of benchmarks/flying.py with Exudyn, one thread: one line of JSON per setting.

    python benchmarks/peers/exudyn_flying.py                    # the quoted settings
    python benchmarks/peers/exudyn_flying.py --path --repeat 1  # for the diagram of work and precision
    python benchmarks/peers/exudyn_flying.py --sweep --repeat 1

Geometrically exact beams in space on nodes of the Lie group; the time is that of the dynamic solve. The load is a function
of the time in Python, as users write it; Exudyn has no other way to give this one.
"""

import argparse
import contextlib
import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import flying
from measure import record, show, timed

sys.exudynFast = "--plain" not in sys.argv  # read by the import below: selects the faster of the two compiled modules
with contextlib.redirect_stdout(sys.stderr):  # it announces its choice, and stdout is for JSON
    import exudyn as exu
    import exudyn.itemInterface as item  # noqa: N813
    from exudyn.rigidBodyUtilities import RotationMatrix2RotationVector


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation and solver of one run."""

    elements: int
    step: float  # [s]
    spectral_radius: float
    linear_solver: str = "dense"
    tolerance: float = 1e-6
    modified_newton: bool = True


# The fastest of the sweep within 1 % of the length: off by more than that with a fifth of the step.
FASTEST = Setting(8, 0.05, 0.9, "dense", 1e-4)
# The fastest that keeps within 1 % with the step divided by 2, 4 and 8.
SETTLED = Setting(10, 0.05, 0.9, "dense", 1e-4)
# Twelve elements and a round step, the ordinary build: the setting of a first try.
PLAIN = Setting(12, 0.02, 0.9, "sparse")


def sweep() -> Iterator[Setting]:
    """Meshes, steps and dampings tried, then the other options around the chosen setting."""
    for elements, step, radius in itertools.product((6, 8, 10, 12, 16), (0.1, 0.05, 0.025, 0.02, 0.01), (0.9, 0.7)):
        yield Setting(elements, step, radius)
    for solver, tolerance, modified in itertools.product(("dense", "sparse"), (1e-6, 1e-5, 1e-4), (True, False)):
        yield Setting(SETTLED.elements, SETTLED.step, SETTLED.spectral_radius, solver, tolerance, modified)


def path() -> Iterator[Setting]:
    """From too coarse to fine."""
    for elements, step in ((6, 0.1), (8, 0.05), (10, 0.05), (12, 0.025), (16, 0.025), (24, 0.02), (32, 0.01)):
        yield Setting(elements, step, 0.9, "dense" if elements < 16 else "sparse")


def run(setting: Setting) -> tuple[np.ndarray, np.ndarray, float]:
    """Times (m,) [s], ends (m, 2, 3) [m] and the seconds of the dynamic solve."""
    container = exu.SystemContainer()
    system = container.AddSystem()
    size = flying.LENGTH / setting.elements
    section = exu.BeamSection()
    section.stiffnessMatrix = np.diag([flying.EA, flying.GA, flying.GA, flying.GJ, flying.EI, flying.EI])
    section.massPerLength = flying.MASS
    section.inertia = flying.INERTIA * np.eye(3)
    turn = list(RotationMatrix2RotationVector(flying.axes()))
    nodes = [
        system.AddNode(
            item.NodeRigidBodyRotVecLG(referenceCoordinates=[*(flying.FIRST + k * size * flying.axes()[:, 0]), *turn])
        )
        for k in range(setting.elements + 1)
    ]
    for ends in itertools.pairwise(nodes):
        system.AddObject(item.ObjectBeamGeometricallyExact(nodeNumbers=list(ends), length=size, sectionData=section))
    first = system.AddMarker(item.MarkerNodeRigid(nodeNumber=nodes[0]))
    system.AddLoad(
        item.LoadForceVector(markerNumber=first, loadVectorUserFunction=lambda _system, t, _value: flying.force(t))
    )
    system.AddLoad(
        item.LoadTorqueVector(markerNumber=first, loadVectorUserFunction=lambda _system, t, _value: flying.moment(t))
    )
    position = exu.OutputVariableType.Position
    sensors = [
        system.AddSensor(item.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=position))
        for node in (nodes[0], nodes[-1])
    ]
    system.Assemble()
    options = exu.SimulationSettings()
    options.solution.file.write = False
    options.solution.sensors.writePeriod = max(setting.step, flying.DURATION / 500)
    options.parallel.numberOfThreads = 1
    kinds = exu.LinearSolverType
    options.linearSolver.solverType = kinds.EigenDense if setting.linear_solver == "dense" else kinds.EigenSparse
    dynamic = options.timeIntegration
    dynamic.verboseMode = 0
    dynamic.endTime = flying.DURATION
    dynamic.numberOfSteps = round(flying.DURATION / setting.step)
    dynamic.minimumStepSize = setting.step / 64
    dynamic.newton.relativeTolerance = setting.tolerance
    dynamic.newton.useModifiedNewton = setting.modified_newton
    dynamic.generalizedAlpha.spectralRadius = setting.spectral_radius
    try:
        done, seconds = timed(lambda: system.SolveDynamic(options))
    except ValueError as error:
        raise RuntimeError("the dynamic solve failed") from error
    if done is False:
        raise RuntimeError("the dynamic solve failed")
    both = [np.array(system.GetSensorStoredData(sensor)) for sensor in sensors]
    return both[0][:, 0], np.stack([samples[:, 1:4] for samples in both], axis=1), seconds


def measure(setting: Setting, *, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    label = {"peer": "exudyn", "version": exu.config.Version(), "case": "flying", "settings": asdict(setting)}
    try:
        with contextlib.redirect_stdout(sys.stderr):  # Exudyn also prints its failures
            runs = [run(setting) for _ in range(repeat)]
    except RuntimeError as error:
        return {**label, "failure": str(error)}
    t, ends, _ = runs[0]
    seconds = [seconds for *_, seconds in runs]
    return record(**label, error=flying.error(t, ends), seconds=seconds, simulated=flying.DURATION)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--plain", action="store_true", help="the setting of a first try")
    choice.add_argument("--fastest", action="store_true", help="a setting that only keeps within 1 %% with this step")
    choice.add_argument("--path", action="store_true", help="settings from too coarse to fine, one line each")
    choice.add_argument("--sweep", action="store_true", help="every setting tried, one line each")
    choice.add_argument("--settings", type=json.loads, help="these, as a JSON list")
    arguments = parser.parse_args()
    chosen = [PLAIN] if arguments.plain else [FASTEST] if arguments.fastest else [SETTLED]
    if arguments.settings:
        chosen = [Setting(**values) for values in arguments.settings]
    for setting in sweep() if arguments.sweep else path() if arguments.path else chosen:
        show(measure(setting, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
