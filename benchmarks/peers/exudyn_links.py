"""The chain of benchmarks/links.py with Exudyn, one thread: one line of JSON per setting.

    python benchmarks/peers/exudyn_links.py --links 64
    python benchmarks/peers/exudyn_links.py --links 16 --sweep

Geometrically exact beams in space on nodes of the Lie group, spherical joints between the links.
"""

import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import links as case
from exudyn_common import exu, follow, item, measured, motion_options, seconds_of
from measure import parser_of, show


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation and solver of one run."""

    elements: int  # of each link
    step: float = 0.02  # [s]
    spectral_radius: float = 0.7
    linear_solver: str = "sparse"
    tolerance: float = 1e-4
    modified_newton: bool = True


QUOTED = Setting(2)


def sweep() -> Iterator[Setting]:
    """Meshes, steps and dampings, then the other options around the quoted setting."""
    for elements, step, radius in itertools.product((1, 2, 3, 4), (0.04, 0.02, 0.01, 0.005), (0.9, 0.7)):
        yield Setting(elements, step, radius)
    for tolerance, modified in itertools.product((1e-6, 1e-5, 1e-4, 1e-3), (True, False)):
        yield replace(QUOTED, tolerance=tolerance, modified_newton=modified)


def section() -> exu.BeamSection:
    """Of every link."""
    shear = case.YOUNG / (2 * (1 + case.POISSON))
    made = exu.BeamSection()
    across, bending = case.SHEAR * shear * case.AREA, case.YOUNG * case.SECOND
    made.stiffnessMatrix = np.diag([case.YOUNG * case.AREA, across, across, 2 * shear * case.SECOND, bending, bending])
    made.massPerLength = case.DENSITY * case.AREA
    made.inertia = case.DENSITY * case.SECOND * np.diag([2.0, 1.0, 1.0])
    return made


def build(links: int, setting: Setting) -> tuple[exu.SystemContainer, exu.MainSystem, list[int]]:
    """The straight chain with its weight, and the sensors of the watched ends."""
    container = exu.SystemContainer()
    system = container.AddSystem()
    rod, size = section(), case.LENGTH / setting.elements
    ground = system.AddObject(item.ObjectGround())
    before = system.AddMarker(item.MarkerBodyPosition(bodyNumber=ground))
    ends = []
    for link in range(links):
        nodes = [
            system.AddNode(
                item.NodeRigidBodyRotVecLG(referenceCoordinates=[link * case.LENGTH + k * size, 0, 0, 0, 0, 0])
            )
            for k in range(setting.elements + 1)
        ]
        for pair in itertools.pairwise(nodes):
            beam = item.ObjectBeamGeometricallyExact(nodeNumbers=list(pair), length=size, sectionData=rod)
            mass = system.AddMarker(item.MarkerBodyMass(bodyNumber=system.AddObject(beam)))
            system.AddLoad(item.LoadMassProportional(markerNumber=mass, loadVector=list(case.GRAVITY)))
        first, last = (system.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[k])) for k in (0, -1))
        system.AddObject(item.ObjectJointSpherical(markerNumbers=[before, first]))
        before = last
        ends.append(nodes[-1])
    sensors = [follow(system, ends[k]) for k in case.watched(links)]
    system.Assemble()
    return container, system, sensors


def swing(links: int, setting: Setting) -> tuple[np.ndarray, np.ndarray, float]:
    """Times (m,) [s], ends (m, 4, 3) [m] and the seconds of the dynamic solve."""
    _container, system, sensors = build(links, setting)  # the container must outlive the system
    options = motion_options(setting, until=case.DURATION, write_period=setting.step, tolerance=setting.tolerance)
    options.linearSolver.reuseAnalyzedPattern = setting.linear_solver == "sparse"
    seconds = seconds_of("dynamic", lambda: system.SolveDynamic(options))
    every = [np.array(system.GetSensorStoredData(sensor)) for sensor in sensors]
    return every[0][:, 0], np.stack([samples[:, 1:4] for samples in every], axis=1), seconds


def measure(links: int, setting: Setting, *, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    judge = lambda t, ends: case.error(links, t, ends)
    run = lambda: swing(links, setting)
    return measured(f"links {links}", setting, run, judge, repeat=repeat, simulated=case.DURATION)


def main() -> None:
    parser = parser_of(__doc__, repeat=1)
    parser.add_argument("--links", type=int, nargs="+", default=[64])
    parser.add_argument("--sweep", action="store_true", help="every setting tried, one line each")
    parser.add_argument("--settings", type=json.loads, help="these, as a JSON list")
    arguments = parser.parse_args()
    chosen = [Setting(**values) for values in arguments.settings or ()] or [QUOTED]
    for links in arguments.links:
        for setting in sweep() if arguments.sweep else chosen:
            show(measure(links, setting, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
