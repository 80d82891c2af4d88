"""Release of a cantilever (benchmarks/cases.py) with Exudyn, one thread, compiled without range checks.

    python benchmarks/peers/exudyn_cantilever.py soft --repeat 3
    python benchmarks/peers/exudyn_cantilever.py soft --sweep

Prints one line of JSON per setting; the time is that of the dynamic solve alone.
"""

import argparse
import itertools
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.exudynFast = True  # read by the import below: the faster of the two compiled modules
import exudyn as exu  # noqa: E402
import exudyn.itemInterface as item  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cases import CANTILEVERS, GRAVITY, Cantilever, tip_error  # noqa: E402
from measure import show, summary, timed  # noqa: E402

SAMPLES = 600  # of the tip until the last check time; a multiple of the intervals between the check times


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation and solver of one run."""

    step: float  # [s]
    elements: int
    element: str = "ge"  # "ge": geometrically exact beam, "ancf": cable
    spectral_radius: float = 0.9  # of generalised alpha at infinite frequency
    linear_solver: str = "sparse"  # "sparse", "sparse-reuse" (keeps the analysed pattern), "dense", "exu-dense"
    modified_newton: bool = True
    tolerance: float = 1e-8  # relative, of Newton
    integrator: str = "alpha"
    contractivity: float = 0.5


def build(case, setting):
    container = exu.SystemContainer()
    system = container.AddSystem()
    size = case.length / setting.elements
    if setting.element == "ge":
        make_node, direction, clamped = item.NodeRigidBody2D, [-np.pi / 2], (0, 1, 2)
    else:
        make_node, direction, clamped = item.NodePoint2DSlope1, [0, -1], (0, 1, 2)
    nodes = [
        system.AddNode(make_node(referenceCoordinates=[0, -i * size, *direction])) for i in range(setting.elements + 1)
    ]
    for ends in itertools.pairwise(nodes):
        common = dict(nodeNumbers=list(ends), length=size, massPerLength=case.mass_per_length, bendingStiffness=case.bending_stiffness, axialStiffness=case.axial_stiffness)
        if setting.element == "ge":
            body = item.ObjectBeamGeometricallyExact2D(**common, crossSectionInertia=case.inertia_per_length, shearStiffness=case.shear_stiffness, includeReferenceRotations=False)
        else:
            body = item.ObjectANCFCable2D(**common, useReducedOrderIntegration=0 if setting.element == "ancf" else int(setting.element[4:]))
        marker = system.AddMarker(item.MarkerBodyMass(bodyNumber=system.AddObject(body)))
        system.AddLoad(item.LoadMassProportional(markerNumber=marker, loadVector=[0, -GRAVITY, 0]))
    ground = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=system.AddNode(item.NodePointGround()), coordinate=0))
    for coordinate in clamped:
        held = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=coordinate))
        system.AddObject(item.ObjectConnectorCoordinate(markerNumbers=[ground, held]))
    tip = system.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))
    force = system.AddLoad(item.LoadForceVector(markerNumber=tip, loadVector=[case.tip_force, 0, 0]))
    sensor = system.AddSensor(item.SensorNode(nodeNumber=nodes[-1], storeInternal=True, outputVariableType=exu.OutputVariableType.Position))
    system.Assemble()
    return container, system, force, sensor

LS = {"sparse": exu.LinearSolverType.EigenSparse, "sparse-reuse": exu.LinearSolverType.EigenSparse, "dense": exu.LinearSolverType.EigenDense, "exu-dense": exu.LinearSolverType.EXUdense}

def run(case, setting, until):
    container, system, force, sensor = build(case, setting)
    s = exu.SimulationSettings()
    s.solution.file.write = False
    s.linearSolver.solverType = LS[setting.linear_solver]
    s.linearSolver.reuseAnalyzedPattern = setting.linear_solver == "sparse-reuse"
    s.parallel.numberOfThreads = 1
    st = s.staticSolver
    st.verboseMode = 0
    st.numberOfLoadSteps = 40; st.loadStepGeometric = True; st.loadStepGeometricRange = 1e4
    st.adaptiveStep=False
    st.newton.relativeTolerance = 1e-6; st.newton.absoluteTolerance = 1e-6 * case.tip_force; st.newton.maxIterations = 60
    ok = system.SolveStatic(s, updateInitialValues=True)
    system.SetLoadParameter(force, "loadVector", [0, 0, 0])
    ti = s.timeIntegration
    ti.verboseMode = 0
    ti.endTime = until
    ti.numberOfSteps = round(until / setting.step)
    ti.newton.useModifiedNewton = setting.modified_newton
    ti.newton.modifiedNewtonContractivity = setting.contractivity
    ti.newton.relativeTolerance = setting.tolerance
    ti.newton.maxIterations = 30
    ti.minimumStepSize = setting.step / 64
    if setting.spectral_radius is None:
        ti.generalizedAlpha.useNewmark = True
        ti.generalizedAlpha.useIndex2Constraints = True
    else:
        ti.generalizedAlpha.spectralRadius = setting.spectral_radius
    s.solution.sensors.writePeriod = max(setting.step, case.last_check / SAMPLES)
    solver = {"alpha": exu.DynamicSolverType.GeneralizedAlpha, "dopri": exu.DynamicSolverType.DOPRI5, "rk44": exu.DynamicSolverType.RK44}[setting.integrator]
    try:
        ok, seconds = timed(lambda: system.SolveDynamic(s, solverType=solver))
    except Exception as e:
        return None, None, 0
    if ok is False: return None, None, 0
    d = np.array(system.GetSensorStoredData(sensor))
    return d[:, 0], d[:, 1:3], seconds
