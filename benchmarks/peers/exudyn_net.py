"""The net of benchmarks/net.py with Exudyn, one thread: one line of JSON per setting.

    python benchmarks/peers/exudyn_net.py --cells 5                     # equilibrium and motion at the quoted settings
    python benchmarks/peers/exudyn_net.py --cells 3 --sweep --repeat 1  # every setting tried

Geometrically exact beams in space. The rods of one direction share a node at a crossing, so that only the pins are joints
(five rows each), and the clamps are rigid bodies on those nodes. Motions use nodes of the Lie group, equilibria nodes with
Euler parameters (the former have no static solver).
"""

import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import net as case
from exudyn_common import exu, follow, item, measured, motion_options, options_of, quiet, seconds_of
from measure import parser_of, record, rounded, show, whole_call


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation and solver of one run."""

    elements: int  # of each rod between two crossings
    step: float = 0.01  # [s]
    spectral_radius: float = 0.8
    linear_solver: str = "sparse"
    tolerance: float = 1e-5
    modified_newton: bool = True
    load_steps: int = 1  # of an equilibrium, which adapt themselves; its Newton is never modified (it fails from flat)


QUOTED = Setting(2)


def sweep() -> Iterator[Setting]:
    """Meshes, steps and dampings, then the other options around the quoted setting."""
    for elements, step, radius in itertools.product((1, 2, 3), (0.02, 0.01, 0.005), (0.9, 0.7)):
        yield Setting(elements, step, radius)
    for tolerance, modified in itertools.product((1e-6, 1e-4, 1e-3), (True, False)):
        yield replace(QUOTED, tolerance=tolerance, modified_newton=modified)


def section() -> exu.BeamSection:
    """Of every rod."""
    shear = case.YOUNG / (2 * (1 + case.POISSON))
    made = exu.BeamSection()
    across = case.SHEAR * shear * case.AREA
    stiffness = np.diag(
        [case.YOUNG * case.AREA, across, across, 2 * shear * case.SECOND, *2 * [case.YOUNG * case.SECOND]]
    )
    made.stiffnessMatrix = stiffness
    made.massPerLength = case.DENSITY * case.AREA
    made.inertia = case.DENSITY * case.SECOND * np.diag([2.0, 1.0, 1.0])
    return made


def build(cells: int, setting: Setting, *, motion: bool) -> tuple[exu.SystemContainer, exu.MainSystem, list[int]]:
    """The flat net with gravity, and the nodes of the watched knots."""
    container = exu.SystemContainer()
    system = container.AddSystem()
    rod, size = section(), case.SIDE / cells / setting.elements
    half = np.sqrt(0.5)
    turns = ([0.0, 0.0, 0.0], [0.0, 0.0, np.pi / 2]) if motion else ([1.0, 0.0, 0.0, 0.0], [half, 0.0, 0.0, half])
    kind = item.NodeRigidBodyRotVecLG if motion else item.NodeRigidBodyEP
    weight = [0.0, 0.0, -case.GRAVITY]

    def load(body: int) -> None:
        mass = system.AddMarker(item.MarkerBodyMass(bodyNumber=body))
        system.AddLoad(item.LoadMassProportional(markerNumber=mass, loadVector=weight))

    knots = {}
    for direction, line in itertools.product((0, 1), range(cells + 1)):
        places = np.zeros((cells * setting.elements + 1, 3))
        places[:, direction] = size * np.arange(len(places))
        places[:, 1 - direction] = line * case.SIDE / cells
        nodes = [system.AddNode(kind(referenceCoordinates=[*place, *turns[direction]])) for place in places]
        for ends in itertools.pairwise(nodes):
            load(
                system.AddObject(
                    item.ObjectBeamGeometricallyExact(nodeNumbers=list(ends), length=size, sectionData=rod)
                )
            )
        inertia = 0.4 * case.CLAMP * case.CLAMP_RADIUS**2
        for k, node in enumerate(nodes[:: setting.elements]):
            knots[direction, *((k, line) if direction == 0 else (line, k))] = node
            load(
                system.AddObject(
                    item.ObjectRigidBody(mass=case.CLAMP, inertia=[*3 * [inertia], 0, 0, 0], nodeNumber=node)
                )
            )
    markers = {key: system.AddMarker(item.MarkerNodeRigid(nodeNumber=node)) for key, node in knots.items()}
    ground = system.AddObject(item.ObjectGround())
    for i, j in itertools.product(range(cells + 1), repeat=2):
        system.AddObject(item.ObjectJointRevoluteZ(markerNumbers=[markers[0, i, j], markers[1, i, j]]))
        if i in (0, cells) and j in (0, cells):
            place = [i * case.SIDE / cells, j * case.SIDE / cells, 0.0]
            held = system.AddMarker(item.MarkerBodyPosition(bodyNumber=ground, localPosition=place))
            system.AddObject(item.ObjectJointSpherical(markerNumbers=[held, markers[0, i, j]]))
        else:
            air = system.AddMarker(item.MarkerBodyPosition(bodyNumber=ground))
            ends, drag = [air, markers[0, i, j]], 3 * [case.drag(cells)]
            system.AddObject(item.ObjectConnectorCartesianSpringDamper(markerNumbers=ends, damping=drag))
    return container, system, [knots[0, i, j] for i, j in case.watched(cells)]


def fall(cells: int, setting: Setting) -> tuple[np.ndarray, np.ndarray, float]:
    """Times (m,) [s], knots (m, 4, 3) [m] and the seconds of the dynamic solve."""
    _container, system, nodes = build(cells, setting, motion=True)  # the container must outlive the system
    sensors = [follow(system, node) for node in nodes]
    system.Assemble()
    options = motion_options(setting, until=case.DURATION, write_period=setting.step, tolerance=setting.tolerance)
    options.linearSolver.reuseAnalyzedPattern = setting.linear_solver == "sparse"
    seconds = seconds_of("dynamic", lambda: system.SolveDynamic(options))
    every = [np.array(system.GetSensorStoredData(sensor)) for sensor in sensors]
    return every[0][:, 0], np.stack([samples[:, 1:4] for samples in every], axis=1), seconds


def hang(cells: int, setting: Setting) -> tuple[np.ndarray, float]:
    """Knots (4, 3) [m] at rest and the seconds of the static solve."""
    _container, system, nodes = build(cells, setting, motion=False)
    system.Assemble()
    options = options_of(setting.linear_solver)
    options.linearSolver.reuseAnalyzedPattern = setting.linear_solver == "sparse"
    options.staticSolver.numberOfLoadSteps = setting.load_steps
    options.staticSolver.newton.relativeTolerance = setting.tolerance
    options.staticSolver.newton.maxIterations = 40
    seconds = seconds_of("static", lambda: system.SolveStatic(options, updateInitialValues=True))
    place = exu.OutputVariableType.Position
    return np.array([system.GetNodeOutput(node, place) for node in nodes]), seconds


def measure(cells: int, setting: Setting, *, repeat: int, motion: bool) -> dict:
    """The record of `setting`, or one that says why it failed."""
    if motion:
        judge = lambda t, knots: case.error(cells, t, knots)
        return measured(
            f"net {cells}", setting, lambda: fall(cells, setting), judge, repeat=repeat, simulated=case.DURATION
        )
    label = {"peer": "exudyn", "version": exu.config.Version(), "case": f"net {cells}", "settings": asdict(setting)}
    try:
        with quiet():
            calls = [whole_call(lambda: hang(cells, setting)) for _ in range(repeat)]
    except RuntimeError as failure:
        return {**label, "failure": str(failure)}
    seconds, whole = [seconds for (_, seconds), _ in calls], min(taken for _, taken in calls)
    off = case.static_error(cells, calls[0][0][0])
    return record(**label, error=off, seconds=seconds, simulated=1.0, whole_seconds=rounded(whole))


def main() -> None:
    parser = parser_of(__doc__, repeat=1)
    parser.add_argument("--cells", type=int, nargs="+", default=[5])
    parser.add_argument("--static", action="store_true", help="the equilibrium, not the motion")
    parser.add_argument("--sweep", action="store_true", help="every setting tried, one line each")
    parser.add_argument("--settings", type=json.loads, help="these, as a JSON list")
    arguments = parser.parse_args()
    chosen = [Setting(**values) for values in arguments.settings or ()] or [QUOTED]
    for cells in arguments.cells:
        for setting in sweep() if arguments.sweep else chosen:
            show(measure(cells, setting, repeat=arguments.repeat, motion=not arguments.static))


if __name__ == "__main__":
    main()
