"""The cases of Exudyn as Exudyn solves them, with its own beams and bodies: prints JSON for `reference.json`.

    .bench/exudyn/bin/python validation/peers/peer_exudyn.py

Beams have as many elements as it takes to settle three digits; seconds are those of the second call.
"""

import json
import sys
import time
from itertools import pairwise

import exudyn as exu
import numpy as np
from exudyn.utilities import (
    CoordinateConstraint,
    Force,
    GenericJoint,
    InertiaCuboid,
    InertiaRodX,
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyPosition,
    MarkerNodeCoordinate,
    MarkerNodeRigid,
    NodePointGround,
    NodeRigidBody2D,
    NodeRigidBodyEP,
    ObjectBeamGeometricallyExact,
    ObjectBeamGeometricallyExact2D,
    ObjectGround,
    RevoluteJoint2D,
    RigidBody2D,
    Torque,
    eulerParameters0,
)


def system():
    container = exu.SystemContainer()
    return container, container.AddSystem()


def section(size_y, size_z, young, poisson, torsion=1.0, shear=(1.0, 1.0)):
    """Stiffness EA, GA, GA, GJ, EI2, EI3 of a rectangle."""
    area, second_y, second_z = size_y * size_z, size_y * size_z**3 / 12, size_z * size_y**3 / 12
    G = young / 2 / (1 + poisson)
    return [young * area, G * area * shear[0], G * area * shear[1], G * torsion * (second_y + second_z),
            young * second_y, young * second_z]  # fmt: skip


def beam_3d(length, stiffness, elements, force=(0, 0, 0), moment=(0, 0, 0), load_steps=5, tolerance=1e-6):
    """Displacement of the tip of a cantilever of geometrically exact beams."""
    _, mbs = system()
    data = exu.BeamSection()
    data.stiffnessMatrix = np.diag(stiffness)
    data.inertia, data.massPerLength = np.eye(3), 1.0
    nodes = [mbs.AddNode(NodeRigidBodyEP(referenceCoordinates=[length * k / elements, 0, 0, *eulerParameters0]))
             for k in range(elements + 1)]  # fmt: skip
    for a, b in pairwise(nodes):
        mbs.AddObject(
            ObjectBeamGeometricallyExact(nodeNumbers=[a, b], physicsLength=length / elements, sectionData=data)
        )
    ground = mbs.AddMarker(MarkerNodeRigid(nodeNumber=mbs.AddNode(NodePointGround())))
    mbs.AddObject(GenericJoint(markerNumbers=[ground, mbs.AddMarker(MarkerNodeRigid(nodeNumber=nodes[0]))]))
    tip = mbs.AddMarker(MarkerNodeRigid(nodeNumber=nodes[-1]))
    mbs.AddLoad(Force(markerNumber=tip, loadVector=list(force)))
    mbs.AddLoad(Torque(markerNumber=tip, loadVector=list(moment)))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.staticSolver.numberOfLoadSteps = load_steps
    settings.staticSolver.adaptiveStep = True
    settings.staticSolver.newton.relativeTolerance = tolerance
    settings.solutionSettings.writeSolutionToFile = False
    settings.linearSolverType = exu.LinearSolverType.EigenSparse
    mbs.SolveStatic(settings)
    return np.array(mbs.GetNodeOutput(nodes[-1], exu.OutputVariableType.Displacement))


def plane_beams(mbs, pairs, places, young, size, width, poisson, density, shear_modulus=None, tilt=0.0):
    """Beams of the plane between the pairs of places; returns the nodes."""
    area, second = size * width, width * size**3 / 12
    G = shear_modulus or young / 2 / (1 + poisson)
    ks = 10 * (1 + poisson) / (12 + 11 * poisson)
    nodes = [mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[x, y, tilt])) for x, y in places]
    for a, b in pairs:
        length = float(np.hypot(*(np.array(places[b]) - places[a])))
        mbs.AddObject(ObjectBeamGeometricallyExact2D(
            nodeNumbers=[nodes[a], nodes[b]], physicsLength=length, physicsMassPerLength=density * area,
            physicsCrossSectionInertia=density * second, physicsBendingStiffness=young * second,
            physicsAxialStiffness=young * area, physicsShearStiffness=ks * G * area,
            includeReferenceRotations=tilt != 0.0))  # fmt: skip
    return nodes


def hold(mbs, node):
    ground = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=mbs.AddNode(NodePointGround()), coordinate=0))
    for k in range(3):
        own = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=node, coordinate=k))
        mbs.AddObject(CoordinateConstraint(markerNumbers=[ground, own]))


def plane_static(mbs, load_steps=10):
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.linearSolverType = exu.LinearSolverType.EigenSparse
    settings.staticSolver.newton.maxIterations = 50
    settings.staticSolver.numberOfLoadSteps = load_steps
    settings.staticSolver.newton.relativeTolerance = 1e-6
    settings.solutionSettings.writeSolutionToFile = False
    mbs.SolveStatic(settings)


def cantilever_2011(force):
    ks = 10 * 1.3 / (12 + 11 * 0.3)
    stiffness = section(0.5, 0.1, 2.07e11, 0.3, shear=(ks, ks))
    x, y, _ = beam_3d(2.0, stiffness, 32, (0, force, 0), tolerance=1e-6 if force > 1e6 else 1e-4)
    return {"ux": -x, "uy": y}


def general_bending():
    x, y, z = beam_3d(2.0, section(0.2, 0.4, 2.07e11, 0.3, 0.5768, (0.8331, 0.7961)), 32, moment=(0.5e6, 2e6, 0))
    return {"ux": x, "uy": y, "uz": z}


def princeton(force):
    found = {"y": [], "z": []}
    for angle in np.radians([0, 15, 30, 45, 60, 75, 90]):
        stiffness = section(12.3777e-3, 3.2024e-3, 71.7e9, 0.31, 0.198)
        _, y, z = beam_3d(0.508, stiffness, 64, (0, -force * np.cos(angle), force * np.sin(angle)))
        found["y"].append(-y)
        found["z"].append(z)
    return found


def l_shape(per_leg=32):
    _, mbs = system()
    places = [(k / per_leg, 0.0) for k in range(per_leg + 1)] + [(1.0, (k + 1) / per_leg) for k in range(per_leg)]
    pairs = [(k, k + 1) for k in range(2 * per_leg)]
    nodes = plane_beams(mbs, pairs, places, 2.1e11, 0.05, 0.1, 0.3, 7800)
    hold(mbs, nodes[0])
    mbs.AddLoad(Force(markerNumber=mbs.AddMarker(MarkerNodeRigid(nodeNumber=nodes[-1])), loadVector=[1e6, 0, 0]))
    plane_static(mbs)
    return {"u": list(mbs.GetNodeOutput(nodes[-1], exu.OutputVariableType.Coordinates)[:2])}


def rolled_up(elements=64):
    _, mbs = system()
    tilt = np.pi / 4
    places = [(2 * k / elements * np.cos(tilt), 2 * k / elements * np.sin(tilt)) for k in range(elements + 1)]
    pairs = [(k, k + 1) for k in range(elements)]
    nodes = plane_beams(mbs, pairs, places, 2.07e11, 0.5, 0.1, 0.3, 7850, shear_modulus=7.9615e10, tilt=tilt)
    hold(mbs, nodes[0])
    tip = mbs.AddMarker(MarkerNodeRigid(nodeNumber=nodes[-1]))
    force = 5e8 * 0.5**3
    mbs.AddLoad(Force(markerNumber=tip, loadVector=[force * np.sin(tilt), -force * np.cos(tilt), 0]))
    mbs.AddLoad(Torque(markerNumber=tip, loadVector=[0, 0, -5e8]))
    plane_static(mbs)
    return {"u": list(mbs.GetNodeOutput(nodes[-1], exu.OutputVariableType.Coordinates)[:2])}


def grid(parts=8):
    """The grid with `parts` elements for each bay of the original."""
    _, mbs = system()
    places, pairs, number = [], [], {}

    def at(x, y):
        key = (round(x, 6), round(y, 6))
        if key not in number:
            number[key] = len(places)
            places.append(key)
        return number[key]

    def line(start, end, count):
        points = [at(*(np.array(start) + (np.array(end) - start) * k / count)) for k in range(count + 1)]
        pairs.extend(pairwise(points))

    for row in range(4):
        line((0.0, row * 0.5), (7.5, row * 0.5), 15 * parts)
    for column in (3, 7, 11, 15):
        for row in range(3):
            line((column * 0.5, row * 0.5), (column * 0.5, (row + 1) * 0.5), parts)
    nodes = plane_beams(mbs, pairs, places, 2.1e10, 0.1, 0.1, 0.3, 7800)
    for row in range(4):
        hold(mbs, nodes[at(0.0, row * 0.5)])
        tip = mbs.AddMarker(MarkerNodeRigid(nodeNumber=nodes[at(7.5, row * 0.5)]))
        mbs.AddLoad(Force(markerNumber=tip, loadVector=[0, -1e5, 0]))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = 200, 0.1
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.linearSolverType = exu.LinearSolverType.EigenSparse
    settings.solutionSettings.writeSolutionToFile = False
    mbs.SolveDynamic(settings)
    return {"u": list(mbs.GetNodeOutput(nodes[at(7.5, 1.5)], exu.OutputVariableType.Coordinates)[:2])}


def bricard():
    """Corner between the third and the fourth bar of Bricard's linkage after 0.5 and 1 s."""
    _, mbs = system()
    inertia = InertiaCuboid(density=100, sideLengths=[1.0, 0.1, 0.1]).Translated([0.5, 0, 0])
    turn = lambda axis, angle: np.round(
        {"y": lambda c, s: np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
         "z": lambda c, s: np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])}[axis](np.cos(angle), np.sin(angle)), 12)  # fmt: skip
    corners = [[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]]
    turns = [np.eye(3), turn("z", -np.pi / 2), turn("y", -np.pi / 2), turn("z", np.pi), turn("z", np.pi / 2)]
    axes = [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    ground = mbs.AddObject(ObjectGround())
    bodies = [ground]
    for place, turned, axis in zip(corners[:5], turns, axes[:5], strict=True):
        body = mbs.CreateRigidBody(
            inertia=inertia, referencePosition=place, referenceRotationMatrix=turned, gravity=[0, -9.81, 0])  # fmt: skip
        mbs.CreateRevoluteJoint(bodyNumbers=[bodies[-1], body], position=place, axis=axis)
        bodies.append(body)
    mbs.CreateGenericJoint(bodyNumbers=[bodies[-1], ground], position=corners[5], constrainedAxes=[1, 1, 1, 0, 1, 1])
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.newton.relativeTolerance = 1e-6
    settings.timeIntegration.numberOfSteps = 2000
    settings.timeIntegration.endTime = 1.0
    settings.solutionSettings.writeSolutionToFile = False
    settings.linearSolverType = exu.LinearSolverType.EigenDense
    settings.linearSolverSettings.ignoreSingularJacobian = True
    mbs.SolveDynamic(settings)
    place = mbs.GetObjectOutputBody(bodies[4], exu.OutputVariableType.Position, localPosition=[0, 0, 0])
    return {"corner": list(place)}


def four_bars():
    """Tip of the first bar of the double four-bar after 10 s."""
    _, mbs = system()
    J = InertiaRodX(1.0, 1.0).inertiaTensor[2, 2]
    places = [[0, 0.5, np.pi / 2], [0.5, 1, 0], [1, 0.5, np.pi / 2], [1.5, 1, 0], [2, 0.5, np.pi / 2]]
    rates = [[0.5, 0, -1], [1, 0, 0]] * 2 + [[0.5, 0, -1]]
    ends, bodies = [], []
    for place, rate in zip(places, rates, strict=True):
        node = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=place, initialVelocities=rate))
        body = mbs.AddObject(RigidBody2D(nodeNumber=node, physicsMass=1.0, physicsInertia=J))
        mbs.AddLoad(
            LoadMassProportional(markerNumber=mbs.AddMarker(MarkerBodyMass(bodyNumber=body)), loadVector=[0, -9.81, 0])
        )
        ends.append([mbs.AddMarker(MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0, 0])) for x in (-0.5, 0.5)])
        bodies.append(body)
    ground = mbs.AddObject(ObjectGround())
    feet = [mbs.AddMarker(MarkerBodyPosition(bodyNumber=ground, localPosition=[x, 0, 0])) for x in (0, 1, 2)]
    for pair in ((feet[0], ends[0][0]), (feet[1], ends[2][0]), (feet[2], ends[4][0]), (ends[0][1], ends[1][0]),
                 (ends[1][1], ends[3][0]), (ends[2][1], ends[3][0]), (ends[3][1], ends[4][1])):  # fmt: skip
        mbs.AddObject(RevoluteJoint2D(markerNumbers=list(pair)))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = 10000, 10.0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.95
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    settings.solutionSettings.writeSolutionToFile = False
    mbs.SolveDynamic(settings)
    place = mbs.GetObjectOutputBody(bodies[0], exu.OutputVariableType.Position, localPosition=[0.5, 0, 0])
    return {"tip": list(place[:2])}


CASES = {
    "cantilever, small load": lambda: cantilever_2011(5e5 * 0.5**3),
    "cantilever, large load": lambda: cantilever_2011(5e8 * 0.5**3),
    "bending and torsion": general_bending,
    "Princeton beam, 8.896 N": lambda: princeton(8.896),
    "Princeton beam, 13.345 N": lambda: princeton(13.345),
    "L of two beams": l_shape,
    "rolled up by a torque": rolled_up,
    "grid of beams": grid,
    "Bricard's linkage": bricard,
    "double four-bar": four_bars,
}


def main():
    exu.config.printToConsole = False
    for name, solve in CASES.items():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        try:
            solve()
            began = time.process_time()
            numbers = solve()
            line = {"case": name, "numbers": numbers, "seconds": round(time.process_time() - began, 4)}
        except Exception as error:
            line = {"case": name, "failure": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(line, default=float), flush=True)


if __name__ == "__main__":
    main()
