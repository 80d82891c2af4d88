"""Robots with one parameter of every kind, their motions and costs, and differences of fourth order."""

import numpy as np

import anguilla as ag

DT, STEPS = 0.01, 12
METHOD = ag.GeneralisedAlpha(0.8)


def rubber(young, damping=0.01, density=1000.0):
    return ag.Material(young=young, poisson=0.4, density=density, damping=damping)


def bent(curvature):
    return ag.RestFunction(lambda X: (0.0, 0.5 * curvature, curvature * (1 + X), 1.0, 0.0, 0.0))


def arm(p):
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))
    strains = ag.extensible_kirchhoff(2, twist_modes=1, stretch_modes=1)
    material = rubber(p["young"], p["damping"], p["density"])
    rod = ag.Rod(p["length"], ag.Circle(p["radius"]), material, strains, bent(p["rest curvature"]), intervals=4)
    near = robot.add(rod, at=robot.ground, name="near")
    hinge = ag.Revolute((0, 1, 0), stiffness=p["joint spring"], damping=p["joint damper"], rest=p["joint rest"])
    far = robot.add(rod, at=near.tip, joint=hinge, name="far")
    robot.add(ag.RigidBody.sphere(0.02, mass=p["mass"]), at=far.tip, name="ball")
    robot.actuate("near", ag.Tendon(near, ag.parallel(y=p["tendon offset"])))
    robot.actuate(
        "cable", ag.Tendon([near], [ag.parallel(z=-p["tendon offset"])], by="length", compliance=p["compliance"])
    )
    gain = p["muscle gain"] * np.array([1.0, 1, 1, 0, 0, 0])
    robot.load(
        ag.Muscle(far, moment=lambda X, t: (0, p["muscle moment"] * np.sin(9 * t), 0), gain=gain, curvature=(0, 1, 0))
    )
    robot.load(
        ag.Spring(robot.ground.offset_by((0.1, 0.3, 0)), far.tip, p["spring"], rest=p["spring rest"], damping=0.5)
    )
    robot.load(
        ag.Magnet(
            far.tip, moment=(p["magnet"], 0, 0), field=(0, 0.02, 0.05), gradient=[[1, 0, 0], [0, -1, 0], [0, 0, 0]]
        )
    )
    return robot, far.tip


ARM = {"young": 1e6, "damping": 0.01, "density": 1000.0, "length": 0.3, "radius": 0.03, "rest curvature": 0.4,
       "joint spring": 2.0, "joint damper": 0.02, "joint rest": 0.2, "mass": 0.05, "tendon offset": 0.02, "compliance": 2e-3,
       "muscle gain": 0.05, "muscle moment": 0.1, "spring": 20.0, "spring rest": 0.2, "magnet": 0.5}  # fmt: skip


def loop(p):
    robot = ag.Robot("loop", gravity=(0, 0, -p["gravity"]))
    material = rubber(p["young"], p["damping"])
    rod = ag.Rod(p["length"], ag.Circle(p["radius"]), material, ag.kirchhoff(2), bent(p["rest curvature"]), intervals=4)
    hinge = ag.Revolute((0, 1, 0), stiffness=p["joint spring"], damping=p["joint damper"])
    left = robot.add(rod, at=robot.ground, joint=hinge, name="left")
    right = robot.add(rod, at=robot.ground.offset_by((p["base"], 0, 0)), joint=ag.Revolute((0, 1, 0)), name="right")
    robot.add(ag.RigidBody.sphere(0.02, mass=p["mass"]), at=left.section(0.5 * p["length"]), name="ball")
    robot.close(left.tip, right.tip, joint=ag.Spherical())
    robot.actuate("pull", ag.Tendon(left, ag.parallel(z=p["tendon offset"])))
    return robot, left.tip


LOOP = {"young": 1e7, "damping": 0.01, "length": 0.4, "radius": 0.01, "rest curvature": 0.3, "joint spring": 0.5,
        "joint damper": 0.01, "base": 0.3, "mass": 0.02, "tendon offset": 0.01, "gravity": 9.81}  # fmt: skip


def swimmer(p):
    """A floating head and a soft tail in water, both driven by thrusters with integrals, and by a tendon; the head turns."""
    robot = ag.Robot("swimmer", gravity=(0, 0, -0.5))
    head = robot.add(
        ag.RigidBody(p["mass"], inertia=np.diag([1e-3, 2e-3, 2e-3])), at=robot.ground, joint=ag.Free(), name="head"
    )
    rod = ag.Rod(
        p["length"], ag.Circle(p["radius"]), rubber(p["young"]), ag.kirchhoff(2), bent(p["rest curvature"]), intervals=4
    )
    tail = robot.add(rod, at=head.at((0.03, 0, 0.01)), name="tail")
    gains = {
        "kp": p["kp"] * np.array([0.02, 0.03, 0.04, 1, 2, 3]),
        "ki": p["ki"] * np.array([0.2, 0.3, 0.4, 10, 20, 30]),
    }
    speed, turn = p["speed"], p["turn"]
    robot.load(ag.Thruster(head.frame, **gains, velocity=lambda t: (speed, 0.2 * np.sin(9 * t), 0), spin=(0, 0.3, turn),
                           place=(0.1, 0, 0)))  # fmt: skip
    robot.load(ag.Thruster(tail.tip, kp=0.1, ki=0.5 * p["ki"], velocity=(0, 0, 0.3)))
    robot.actuate("pull", ag.Tendon(tail, ag.parallel(y=p["tendon offset"])))
    robot.load(ag.Lighthill(tail, density=p["water"]))
    robot.load(ag.Morison(tail, density=p["water"], axial=0.1, normal=p["drag"], added=0.0, added_spin=0.0))
    robot.load(ag.Hull(head.frame, drag=(0.5, 1.0, 1.0), added=(0.1, 0.2, 0.2, 1e-3, 2e-3, 2e-3)))
    return robot, tail.tip


SWIMMER = {"young": 1e6, "length": 0.4, "radius": 0.02, "rest curvature": 0.5, "mass": 0.3, "tendon offset": 0.01, "kp": 1.0,
           "ki": 1.0, "speed": 0.5, "turn": 1.2, "water": 1000.0, "drag": 1.2}  # fmt: skip

ROBOTS = {"arm": (arm, ARM), "loop": (loop, LOOP), "swimmer": (swimmer, SWIMMER)}
CASES = [(name, key) for name, (_, p) in ROBOTS.items() for key in p]
OPEN = np.zeros(14)
OPEN[[0, 7]] = -1.1, -2.0


def cost_at(tip):
    return (
        ag.Reach(tip.offset_by((0.01, 0.02, 0)), (0.1, 0.2, 0.3))
        + ag.Reach(tip, (0.4, 0.1, 0), weight="last")
        + ag.Rest(1e-3)
    )


def shape(robot):
    """Where the motion starts, bent and moving; a loop at the equilibrium."""
    if robot.name == "loop":
        return ag.statics(robot, start=OPEN, tolerance=1e-13)
    rng = np.random.default_rng(3)
    return 0.2 * rng.standard_normal(robot.size), 0.3 * rng.standard_normal(robot.size)


def motion(robot, start, inputs=None, **options):
    rng = np.random.default_rng(0)
    given = (
        {name: ag.Sampled(4.0 * rng.random(STEPS + 1), DT) for name in robot.actuators} if inputs is None else inputs
    )
    if "cable" in given:
        given["cable"] = lambda t: 0.28 - 0.1 * t
    settings = {"start": start, "method": METHOD, "tolerance": 1e-13, "smooth_start": False} | options
    return ag.simulate(robot, duration=STEPS * DT, dt=DT, inputs=given, **settings)


def differences(function, h):
    a, b, c, d = (function(step * h) for step in (-2, -1, 1, 2))
    return (a - 8 * b + 8 * c - d) / (12 * h)


def pendulum(p):
    """A rod on a hinge that is moved, with drag written by a user on its tip."""
    drag, size = p
    robot = ag.Robot("pendulum", gravity=(0, 0, -9.81))
    hinge = ag.Revolute((0, 1, 0), motion=lambda t: size * np.sin(8 * t))
    rod = robot.add(
        ag.Rod(0.3, ag.Circle(0.01), rubber(1e6), ag.planar(2), intervals=4), at=robot.ground, joint=hinge, name="rod"
    )
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.01)))

    def wrench(motion, t):
        push = -drag * np.linalg.norm(motion.velocity + 0.1) * motion.velocity - 0.01 * motion.acceleration
        return np.concatenate([1e-4 * np.cross(motion.velocity, motion.acceleration), push])

    robot.load(ag.UserLoad(rod.tip, wrench))
    return robot, rod.tip
