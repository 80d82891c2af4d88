"""Exudyn's test models, remade. Files are in `main/pythonDev/TestModels` of its repository."""

from __future__ import annotations

import numpy as np
from case import Case, Numbers
from scipy.spatial.transform import Rotation

import anguilla as ag
from anguilla.lie import pose, rotation

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
PLANE = ag.planar(8, stretch_modes=8, shear_modes=8)


def beam(length, size_y, size_z, young, poisson, *, torsion=1.0, shear=(1.0, 1.0), strains=None, density=1e2):
    """A rectangular rod with G J = `torsion` G (I2 + I3) and the given shear factors."""
    area, second_y, second_z = size_y * size_z, size_y * size_z**3 / 12, size_z * size_y**3 / 12
    section = ag.GeneralSection(
        area, second_y, second_z, torsion * (second_y + second_z), shear_y=shear[0], shear_z=shear[1]
    )
    material = ag.Material(young=young, poisson=poisson, density=density)
    return ag.Rod(length, section, material, strains or ag.reissner(8))


def cowper(poisson: float) -> tuple[float, float]:
    """Shear factors of a rectangle that Exudyn's models take."""
    return (10 * (1 + poisson) / (12 + 11 * poisson),) * 2


def cantilever_2011(force: float) -> Numbers:
    """Tip of a thick cantilever; Nachbagauer, Pechstein, Irschik and Gerstmayr 2011."""
    robot = ag.Robot("cantilever", gravity=(0, 0, 0))
    arm = robot.add(beam(2.0, 0.5, 0.1, 2.07e11, 0.3, shear=cowper(0.3), strains=PLANE), at=robot.ground)
    robot.load(ag.TipWrench(arm, force=(0, force, 0)))
    x, y, _ = ag.statics(robot).position(arm.tip)
    return {"ux": 2.0 - x, "uy": y}


def general_bending() -> Numbers:
    """Tip of a beam bent and twisted at once; Nachbagauer, Gruber and Gerstmayr 2013."""
    robot = ag.Robot("bending", gravity=(0, 0, 0))
    rod = beam(2.0, 0.2, 0.4, 2.07e11, 0.3, torsion=0.5768, shear=(0.8331, 0.7961))
    arm = robot.add(rod, at=robot.ground)
    robot.load(ag.TipWrench(arm, moment=(0.5e6, 2e6, 0)))
    x, y, z = ag.statics(robot).position(arm.tip)
    return {"ux": x - 2.0, "uy": y, "uz": z}


def princeton(force: float) -> Numbers:
    """Tip of the Princeton beam under a force turned by 0, 15, ... 90 degrees."""
    found: dict[str, list[float]] = {"y": [], "z": []}
    for angle in np.radians([0, 15, 30, 45, 60, 75, 90]):
        robot = ag.Robot("princeton", gravity=(0, 0, 0))
        arm = robot.add(beam(0.508, 12.3777e-3, 3.2024e-3, 71.7e9, 0.31, torsion=0.198), at=robot.ground)
        robot.load(ag.TipWrench(arm, force=(0, -force * np.cos(angle), force * np.sin(angle))))
        _, y, z = ag.statics(robot).position(arm.tip)
        found["y"].append(-float(y))
        found["z"].append(float(z))
    return found


def l_shape() -> Numbers:
    """Tip of an L of two beams, pulled along its first leg."""
    robot = ag.Robot("l_shape", gravity=(0, 0, 0))
    rod = beam(1.0, 0.05, 0.1, 2.1e11, 0.3, shear=cowper(0.3), strains=PLANE)
    first = robot.add(rod, at=robot.ground)
    second = robot.add(rod, at=first.tip, pose=pose(rotation(Z, np.pi / 2), (0, 0, 0)))
    robot.load(ag.TipWrench(second, force=(1e6, 0, 0)))
    x, y, _ = ag.statics(robot).position(second.tip)
    return {"u": [x - 1.0, y - 1.0]}


def rolled_up() -> Numbers:
    """Tip of a slanted thick beam under a force and a torque that roll it up."""
    robot = ag.Robot("rolled", gravity=(0, 0, 0))
    area, second = 0.05, 0.1 * 0.5**3 / 12
    section = ag.GeneralSection(area, second, second, 2 * second, shear_y=cowper(0.3)[0], shear_z=cowper(0.3)[0])
    rod = ag.Rod(2.0, section, ag.Material(young=2.07e11, shear=7.9615e10, density=7850), PLANE)
    tilt = np.pi / 4
    arm = robot.add(rod, at=robot.ground, pose=pose(rotation(Z, tilt), (0, 0, 0)))
    force = 5e8 * 0.5**3
    robot.load(ag.TipWrench(arm, force=(force * np.sin(tilt), -force * np.cos(tilt), 0), moment=(0, 0, -5e8)))
    place = ag.statics(robot).position(arm.tip) - 2.0 * np.array([np.cos(tilt), np.sin(tilt), 0])
    return {"u": list(place[:2])}


def grid() -> Numbers:
    """Free corner of a plane grid of 16 x 4 beams, 0.1 s after its free end is loaded."""
    step, young = 0.5, 2.1e10
    robot = ag.Robot("grid", gravity=(0, 0, 0))
    strains = ag.planar(4, stretch_modes=3, shear_modes=3)
    make = lambda bays: beam(bays * step, 0.1, 0.1, young, 0.3, shear=cowper(0.3), strains=strains, density=7800)
    nodes = []
    for row in range(4):
        place, line = robot.ground.offset_by((0, row * step, 0)), []
        for bays in (3, 4, 4, 4):
            place = robot.add(make(bays), at=place).tip
            line.append(place)
        nodes.append(line)
    up = pose(rotation(Z, np.pi / 2), (0, 0, 0))
    for row in range(3):
        for column in range(4):
            post = robot.add(make(1), at=nodes[row][column], pose=up)
            robot.close(nodes[row + 1][column], post.tip, pose=up)
    for row in range(4):
        robot.load(ag.Wrench(nodes[row][3], force=(0, -1e5, 0)))
    run = ag.simulate(robot, duration=0.1, dt=1e-3)
    return {"u": list(run.position(nodes[3][3])[-1][:2] - (7.5, 1.5))}


def supported_frequencies() -> Numbers:
    """Circular frequencies of a thick beam on two ball supports, one of which slides along it."""
    robot = ag.Robot("supported", gravity=(0, 0, 0))
    rod = beam(2.0, 0.4, 0.4, 1e9, 0.3, torsion=0.8436, shear=cowper(0.3), density=7850, strains=ag.reissner(10))
    arm = robot.add(rod, at=robot.ground, joint=ag.Spherical())
    for direction in (
        Y,
        Z,
    ):  # a support that holds two directions is no joint here: springs, 1e6 times as stiff as the beam
        robot.load(ag.WorldSpring(arm.tip, stiffness=1e13, direction=direction))
    found = 2 * np.pi * ag.modes(robot, count=8).frequencies
    return {"omega": [float(x) for x in np.sort(found[found > 1.0])[:6]]}


def heavy_top() -> Numbers:
    """Euler parameters of the heavy top after 0.2 s; Terze, Mueller and Zlatar 2016."""
    robot = ag.Robot("top", gravity=(0, 0, -9.81))
    body = ag.RigidBody(15.0, (0.234375, 0.46875, 0.234375), com=(0, 1, 0))
    top = robot.add(body, at=robot.ground, joint=ag.Spherical(), name="top")
    run = ag.simulate(robot, duration=0.2, dt=1e-4, start=(np.zeros(3), [0, 150, -4.61538]))
    found = Rotation.from_matrix(run.pose(top.frame)[-1][:3, :3]).as_quat(scalar_first=True)
    return {"parameters": list(found * -np.sign(found[0]))}


def chain() -> Numbers:
    """Coordinates of two bodies of a chain of four on ball joints, the first of which slides: places and Euler parameters."""
    robot = ag.Robot("chain", gravity=(0, -9.81, 0))
    start = robot.ground.offset_by((-0.3, 0, 0))
    # Two joints in a row need a body between them; this one weighs a millionth of a link.
    place = robot.add(ag.RigidBody(2e-6), at=start, joint=ag.Prismatic(X), name="slider").frame
    bodies = []
    for k in range(4):
        com = (0, 0, 0) if k == 0 else (0.3, 0, -0.1)
        link = ag.RigidBody(2.0, (6, 1, 6), com=com, name=f"link_{k}")
        bodies.append(robot.add(link, at=place, joint=ag.Spherical()))
        place = bodies[-1].at((0.3, 0, 0.1) if k == 0 else (0.6, 0, 0))
    run = ag.simulate(robot, duration=1.0, dt=1e-3)
    numbers: list[float] = []
    for body, com in ((bodies[0], (0, 0, 0)), (bodies[1], (0.3, 0, -0.1))):
        numbers += list(run.position(body.at(com))[-1])
        found = Rotation.from_matrix(run.pose(body.frame)[-1][:3, :3]).as_quat(scalar_first=True)
        numbers += list(found)
    return {"sum": float(np.sum(np.abs(numbers)))}


CASES = (
    Case("cantilever, small load", "geometricallyExactBeamTest.py, case 0", "tip of a thick cantilever",
         lambda: cantilever_2011(5e5 * 0.5**3), {"ux": 1.88847418e-7, "uy": 8.09900305e-4}, 2e-4,
         {"ux": 8.1e-4, "uy": 8.1e-4}),
    Case("cantilever, large load", "geometricallyExactBeamTest.py, case 1", "tip of a thick cantilever",
         lambda: cantilever_2011(5e8 * 0.5**3), {"ux": 0.15097103, "uy": 0.71056837}, 1e-5),
    Case("bending and torsion", "geometricallyExactBeamTest.py, case 2", "tip displacement",
         general_bending, {"ux": -1.0943e-4, "uy": -1.8645e-4, "uz": -1.8117e-2}, 1e-3,
         {"ux": 1.8e-2, "uy": 1.8e-2, "uz": 1.8e-2}),
    Case("Princeton beam, 8.896 N", "geometricallyExactBeamTest.py, case 3", "tip at 7 angles of the load",
         lambda: princeton(8.896),
         {"y": [0.0107023, 0.0106295, 0.0101861, 0.0089529, 0.0067182, 0.0036079, 0.0],
          "z": [0.0, 0.0421374, 0.0794434, 0.1089703, 0.1297877, 0.1420319, 0.1460608]}, 5e-3,
         {"y": 0.146, "z": 0.146}, "published with 16 elements"),
    Case("Princeton beam, 13.345 N", "geometricallyExactBeamTest.py, case 4", "tip at 7 angles of the load",
         lambda: princeton(13.345),
         {"y": [0.0160454, 0.0165469, 0.0169316, 0.0155488, 0.0118996, 0.0064334, 0.0],
          "z": [0.0, 0.064622, 0.1179818, 0.1565214, 0.1817173, 0.1958343, 0.2003738]}, 5e-3,
         {"y": 0.2, "z": 0.2}, "published with 16 elements"),
    Case("L of two beams", "LShapeGeomExactBeam2D.py", "tip", l_shape, note="published with 4 elements a leg: -0.9181 across, peer here with 32"),
    Case("rolled up by a torque", "geometricallyExactBeam2Dtest.py", "tip", rolled_up, note="published with 16 elements: -2.2115 across, peer here with 64"),
    Case("grid of beams", "gridGeomExactBeam2D.py", "corner after 0.1 s", grid, slow=True,
         note="published with one element a bay: -1.5828 across, which is 10 % off; peer here with 8"),
    Case("frequencies of a supported beam", "ANCFBeamEigTest.py", "six circular frequencies", supported_frequencies,
         {"omega": [95.635645, 95.635645, 280.322475, 319.346597, 332.254249, 332.254249]}, 1e-3),
    Case("heavy top", "heavyTop.py", "Euler parameters after 0.2 s", heavy_top,
         {"parameters": [-0.70828, 0.43878, 0.54573, 0.0894]}, 1e-3),
    Case("chain on ball joints", "sphericalJointTest.py", "sum of the coordinates of two links after 1 s", chain,
         {"sum": 4.409080446575089}, 1e-3),
    Case("cable with a sliding joint", "ANCFslidingAndALEjointTest.py", "place of the slider",
         note="no joint here slides along a rod"),
    Case("rolling disc", "createRollingDiscTest.py", "place after 1 s",
         note="a disc that leans as it rolls touches at a point that moves in it: no constraint here follows it, only contact does"),
)  # fmt: skip
