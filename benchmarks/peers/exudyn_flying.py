"""The flying beam of benchmarks/flying.py with Exudyn, one thread: one line of JSON per setting.

    python benchmarks/peers/exudyn_flying.py                    # the quoted settings
    python benchmarks/peers/exudyn_flying.py --path --repeat 1  # for the diagram of work and precision
    python benchmarks/peers/exudyn_flying.py --sweep --repeat 1

Geometrically exact beams in space on nodes of the Lie group; the time is that of the dynamic solve. The load is a function
of the time in Python, as users write it; Exudyn has no other way to give this one.
"""

import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import flying
from exudyn_common import exu, follow, item, measured, motion_options, rotation_vector, seconds_of
from measure import parser_of, show


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
# The fastest that is also moved by less than 0.3 % by half the step, twice the elements and a tenth of the tolerance.
SETTLED = Setting(10, 0.05, 0.9, "dense", 1e-4)
# Usual options: the ordinary build and the sparse solver. Elements, step and damping are the fastest found within 1 %.
PLAIN = Setting(10, 0.05, 0.9, "sparse")


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


def build(setting: Setting) -> tuple[exu.SystemContainer, exu.MainSystem, list[int]]:
    """The beam at rest, and the sensors of its ends."""
    container = exu.SystemContainer()
    system = container.AddSystem()
    size = flying.LENGTH / setting.elements
    section = exu.BeamSection()
    section.stiffnessMatrix = np.diag([flying.EA, flying.GA, flying.GA, flying.GJ, flying.EI, flying.EI])
    section.massPerLength = flying.MASS
    section.inertia = flying.INERTIA * np.eye(3)
    turn = list(rotation_vector(flying.axes()))
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
    sensors = [follow(system, node) for node in (nodes[0], nodes[-1])]
    system.Assemble()
    return container, system, sensors


def run(setting: Setting) -> tuple[np.ndarray, np.ndarray, float]:
    """Times (m,) [s], ends (m, 2, 3) [m] and the seconds of the dynamic solve."""
    _container, system, sensors = build(setting)  # the container must outlive the system
    write_period = max(setting.step, flying.DURATION / 500)
    options = motion_options(setting, until=flying.DURATION, write_period=write_period, tolerance=setting.tolerance)
    seconds = seconds_of("dynamic", lambda: system.SolveDynamic(options))
    both = [np.array(system.GetSensorStoredData(sensor)) for sensor in sensors]
    return both[0][:, 0], np.stack([samples[:, 1:4] for samples in both], axis=1), seconds


def measure(setting: Setting, *, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    return measured("flying", setting, lambda: run(setting), flying.error, repeat=repeat, simulated=flying.DURATION)


def main() -> None:
    parser = parser_of(__doc__, repeat=3)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--plain", action="store_true", help="usual options")
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
