"""What the scripts of Exudyn share: its import, options, timed solves and records."""

import contextlib
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measure import attempt, timed

sys.exudynFast = "--plain" not in sys.argv  # read by the import below: selects the faster of the two compiled modules
with contextlib.redirect_stdout(sys.stderr):  # it announces its choice, and stdout is for JSON
    import exudyn as exu
    import exudyn.itemInterface as item  # noqa: N813
    from exudyn.rigidBodyUtilities import RotationMatrix2RotationVector as rotation_vector  # noqa: F401, N813


class Setting(Protocol):
    """What the setting of every motion has."""

    step: float  # [s]
    spectral_radius: float  # of generalised alpha at infinite frequency
    linear_solver: str
    modified_newton: bool  # keeps the tangent over several steps


def options_of(linear_solver: str) -> exu.SimulationSettings:
    """Options without files, for one thread; a linear solver other than "dense" is sparse."""
    options = exu.SimulationSettings()
    options.solution.file.write = False
    options.parallel.numberOfThreads = 1
    kinds = exu.LinearSolverType
    options.linearSolver.solverType = kinds.EigenDense if linear_solver == "dense" else kinds.EigenSparse
    options.staticSolver.verboseMode = 0
    options.timeIntegration.verboseMode = 0
    return options


def motion_options(
    setting: Setting, *, until: float, write_period: float, tolerance: float = 1e-6
) -> exu.SimulationSettings:
    """Options of a motion of `until` seconds; `tolerance` is that of Newton, relative."""
    options = options_of(setting.linear_solver)
    options.solution.sensors.writePeriod = write_period
    dynamic = options.timeIntegration
    dynamic.endTime = until
    dynamic.numberOfSteps = round(until / setting.step)
    dynamic.minimumStepSize = setting.step / 64  # a failed step is halved; without a floor a bad setting takes hours
    dynamic.newton.relativeTolerance = tolerance
    dynamic.newton.useModifiedNewton = setting.modified_newton
    dynamic.generalizedAlpha.spectralRadius = setting.spectral_radius
    return options


def ground_coordinate(system: exu.MainSystem) -> int:
    """Marker of a coordinate that never moves."""
    node = system.AddNode(item.NodePointGround())
    return system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=node, coordinate=0))


def hold(system: exu.MainSystem, ground: int, node: int, coordinates: int) -> None:
    """Tie the first `coordinates` of `node` to the marker `ground`."""
    for coordinate in range(coordinates):
        held = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))
        system.AddObject(item.ObjectConnectorCoordinate(markerNumbers=[ground, held]))


def follow(system: exu.MainSystem, node: int) -> int:
    """Sensor of the position of `node`."""
    position = exu.OutputVariableType.Position
    return system.AddSensor(item.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=position))


def seconds_of(kind: str, solve: Callable[[], bool]) -> float:
    """Seconds of the `kind` solve; RuntimeError when it fails."""
    try:
        done, seconds = timed(solve)
    except (ValueError, MemoryError) as error:  # the latter on some coarse meshes, with memory to spare
        raise RuntimeError(f"the {kind} solve failed") from error
    if done is False:
        raise RuntimeError(f"the {kind} solve failed")
    return seconds


def measured(
    case: str,
    setting: Setting,
    run: Callable[[], tuple[np.ndarray, np.ndarray, float]],
    error: Callable[[np.ndarray, np.ndarray], float],
    *,
    repeat: int,
    simulated: float,
) -> dict:
    """The record of `setting`, or one that says why it failed."""
    label = {"peer": "exudyn", "version": exu.config.Version(), "case": case, "settings": asdict(setting)}
    with quiet():
        return attempt(label, run, error, repeat=repeat, simulated=simulated)


def quiet() -> contextlib.AbstractContextManager:
    """Keeps stdout for JSON: Exudyn prints its failures."""
    return contextlib.redirect_stdout(sys.stderr)
