"""Release of a cantilever (benchmarks/cases.py) with Exudyn, one thread, its build without range checks (except with --plain).

    python benchmarks/peers/exudyn_cantilever.py soft --repeat 3
    python benchmarks/peers/exudyn_cantilever.py soft --sweep

Prints one line of JSON per setting; the time is that of the dynamic solve alone, `call_seconds` that with the assembly.
"""

import itertools
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cases import CANTILEVERS, GRAVITY, Cantilever, tip_error
from exudyn_common import exu, follow, ground_coordinate, hold, item, measured, motion_options, seconds_of
from measure import aside, parser_of, rounded, show, timed

SAMPLES = 600  # of the tip until the last check time; a multiple of the number of intervals between check times


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation and solver of one run."""

    element: str  # "beam": geometrically exact, "cable": ANCF with reduced integration of bending and stretch
    elements: int
    step: float  # [s]
    spectral_radius: float  # of generalised alpha at infinite frequency
    linear_solver: str  # "dense", "sparse" with its analysed pattern kept, or "default": sparse without
    tolerance: float = 1e-6  # of Newton, relative
    modified_newton: bool = False  # keeps the tangent over several steps


# The fastest found with an error of at most 1 % of the length, whatever the reason: with half the step these are off by
# 1.2 to 2.3 %, since part of the error of the coarse mesh is made up for by that of the long step.
FASTEST = {
    "soft": Setting("cable", 4, 0.05, 0.4, "dense", 1e-5),
    "stiff": Setting("beam", 36, 1.25e-3, 0.6, "sparse", 1e-4),
    "stiff200": Setting("cable", 4, 1e-3, 0.6, "dense"),
}

# The fastest found that passes the tests of Anguilla's own settings: within 1 %, and moved by less than 0.3 % of the length
# by half the step, twice the elements and a tenth of the tolerance.
SETTLED = {
    "soft": Setting("cable", 6, 0.03, 0.6, "dense", 1e-5),
    "stiff": Setting("beam", 48, 8e-4, 0.6, "sparse", 1e-4),
    "stiff200": Setting("cable", 6, 5e-4, 0.6, "dense", 1e-4),
}

# The same among geometrically exact beams only.
BEAM = {
    "soft": Setting("beam", 14, 0.05, 0.6, "dense", 1e-5),
    "stiff": SETTLED["stiff"],
    "stiff200": Setting("beam", 20, 5e-4, 0.4, "sparse", 1e-4),
}

# Geometrically exact beams with usual options: the ordinary build, modified Newton, tolerance 1e-8, the sparse solver and the
# numerical damping as they come. Elements and step are the fastest found within 1 % (on `stiff`, 1.1 %: 48 elements take longer).
PLAIN = {
    "soft": Setting("beam", 12, 0.025, 0.9, "default", 1e-8, True),
    "stiff": Setting("beam", 40, 5e-4, 0.9, "default", 1e-8, True),
    "stiff200": Setting("beam", 16, 1e-3, 0.9, "default", 1e-8, True),
}

# The same with the numerical damping that lets the steps be longest.
DAMPED = {
    "soft": Setting("beam", 12, 0.04, 0.7, "default", 1e-8, True),
    "stiff": Setting("beam", 40, 1.25e-3, 0.7, "default", 1e-8, True),
    "stiff200": Setting("beam", 12, 2e-3, 0.7, "default", 1e-8, True),
}


def sweep(case: Cantilever) -> Iterator[Setting]:
    """Grid of meshes, steps and dampings for `case`, then the other options around the chosen settings."""
    elements, steps = {
        "soft": ({"cable": (4, 5, 6), "beam": (10, 12, 16)}, (0.06, 0.05, 0.04, 0.025, 0.02, 0.01)),
        "stiff": ({"cable": (24, 32, 48), "beam": (32, 36, 40, 48, 64)}, (2e-3, 1.25e-3, 1e-3, 5e-4, 2.5e-4)),
        "stiff200": ({"cable": (4, 5, 6, 8), "beam": (12, 16, 24)}, (1.25e-3, 1e-3, 8e-4, 6.25e-4, 5e-4, 2.5e-4)),
    }[case.name]
    linear_solver = FASTEST[case.name].linear_solver
    for element, counts in elements.items():
        for count, step, radius in itertools.product(counts, steps, (0.9, 0.7, 0.6, 0.4)):
            yield Setting(element, count, step, radius, linear_solver)
    for chosen in (FASTEST[case.name], SETTLED[case.name]):
        yield replace(chosen, linear_solver="dense" if linear_solver == "sparse" else "sparse")
        yield replace(chosen, modified_newton=True)
        for tolerance in (1e-8, 1e-6, 1e-5, 1e-4, 1e-3):
            yield replace(chosen, tolerance=tolerance)
        for divisor in (2, 4, 8):
            yield replace(chosen, step=chosen.step / divisor)


def build(case: Cantilever, setting: Setting) -> tuple[exu.SystemContainer, exu.MainSystem, int, int]:
    """The hanging rod with gravity and tip force; also the numbers of that force and of the sensor of the tip."""
    container = exu.SystemContainer()
    system = container.AddSystem()
    size = case.length / setting.elements
    direction, node = {
        "beam": ([-math.pi / 2], item.NodeRigidBody2D),
        "cable": ([0, -1], item.NodePoint2DSlope1),
    }[setting.element]
    nodes = [system.AddNode(node(referenceCoordinates=[0, -i * size, *direction])) for i in range(setting.elements + 1)]
    for ends in itertools.pairwise(nodes):
        body = system.AddObject(finite_element(case, setting, list(ends), size))
        mass = system.AddMarker(item.MarkerBodyMass(bodyNumber=body))
        system.AddLoad(item.LoadMassProportional(markerNumber=mass, loadVector=[0, -GRAVITY, 0]))
    # x, y and angle of a beam node; x, y and the x of the slope of a cable node, whose length may still change.
    hold(system, ground_coordinate(system), nodes[0], 3)
    tip = system.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))
    force = system.AddLoad(item.LoadForceVector(markerNumber=tip, loadVector=[case.tip_force, 0, 0]))
    sensor = follow(system, nodes[-1])
    return container, system, force, sensor


def finite_element(case: Cantilever, setting: Setting, ends: list[int], size: float) -> object:
    """One element of the rod between two nodes."""
    shared = {
        "nodeNumbers": ends,
        "length": size,
        "massPerLength": case.mass_per_length,
        "bendingStiffness": case.bending_stiffness,
        "axialStiffness": case.axial_stiffness,
    }
    if setting.element == "cable":
        return item.ObjectANCFCable2D(**shared, useReducedOrderIntegration=2)
    return item.ObjectBeamGeometricallyExact2D(
        **shared,
        crossSectionInertia=case.inertia_per_length,
        shearStiffness=case.shear_stiffness,
        includeReferenceRotations=False,
    )


def simulation_settings(case: Cantilever, setting: Setting, until: float) -> exu.SimulationSettings:
    """Options of the static solve (load steps growing geometrically) and of the dynamic one."""
    options = motion_options(
        setting,
        until=until,
        write_period=max(setting.step, case.last_check / SAMPLES),
        tolerance=setting.tolerance,
    )
    options.timeIntegration.newton.maxIterations = 30
    options.linearSolver.reuseAnalyzedPattern = setting.linear_solver == "sparse"

    static = options.staticSolver
    static.adaptiveStep = False
    static.numberOfLoadSteps = 40
    static.loadStepGeometric = True
    static.loadStepGeometricRange = 1e4
    static.newton.maxIterations = 60
    static.newton.relativeTolerance = 1e-6
    static.newton.absoluteTolerance = 1e-6 * case.tip_force
    return options


def run(
    case: Cantilever, setting: Setting, until: float, assembling: list[float]
) -> tuple[np.ndarray, np.ndarray, float]:
    """Times (m,) [s] and tip (m, 2) [m] of the release, and the seconds of the dynamic solve; those of the assembly are added.

    RuntimeError when Newton fails.
    """
    _container, system, force, sensor = build(case, setting)  # the container must outlive the system
    assembling.append(timed(system.Assemble)[1])
    options = simulation_settings(case, setting, until)
    if aside(lambda: system.SolveStatic(options, updateInitialValues=True)) is False:
        raise RuntimeError("the static solve failed")
    system.SetLoadParameter(force, "loadVector", [0, 0, 0])
    seconds = seconds_of("dynamic", lambda: system.SolveDynamic(options))
    samples = np.array(system.GetSensorStoredData(sensor))
    return samples[:, 0], samples[:, 1:3], seconds


def measure(case: Cantilever, setting: Setting, *, until: float, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    assembling: list[float] = []
    found = measured(
        case.name,
        setting,
        lambda: run(case, setting, until, assembling),
        lambda t, tip: tip_error(case, t, tip),
        repeat=repeat,
        simulated=until,
    )
    if "seconds" in found:
        found["call_seconds"] = rounded(min(sum(both) for both in zip(found["seconds"], assembling, strict=True)))
    return found


def main() -> None:
    parser = parser_of(__doc__, repeat=3)
    parser.add_argument("case", choices=sorted(CANTILEVERS))
    parser.add_argument("--until", type=float, help="simulated time [s], by default the last check time")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--settled", action="store_true", help="a setting that also stands refinement")
    choice.add_argument("--beam", action="store_true", help="the same with geometrically exact beams")
    choice.add_argument("--plain", action="store_true", help="exact beams with usual options (and the ordinary build)")
    parser.add_argument("--damped", action="store_true", help="with --plain: numerical damping chosen for long steps")
    choice.add_argument("--sweep", action="store_true", help="every setting tried, one line each")
    arguments = parser.parse_args()
    case = CANTILEVERS[arguments.case]
    chosen = (
        DAMPED
        if arguments.damped
        else PLAIN
        if arguments.plain
        else BEAM
        if arguments.beam
        else SETTLED
        if arguments.settled
        else FASTEST
    )
    settings = sweep(case) if arguments.sweep else [chosen[case.name]]
    for setting in settings:
        show(measure(case, setting, until=arguments.until or case.last_check, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
