"""Adjoint gradients of every kind of parameter against fourth-order differences of whole simulations, at 1e-6.

An arm with tendons, muscles, springs and an elastic tendon; a closed loop; a floating robot driven by thrusters with integral
gains. Then starts of closed robots, user-written loads, imposed motions.
"""

from functools import cache

import numpy as np
import pytest

import anguilla as ag
from anguilla.assemble.user import move

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
    """A floating head and a soft tail, both driven by thrusters with integrals; the head turns."""
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
    return robot, tail.tip


SWIMMER = {"young": 1e6, "length": 0.4, "radius": 0.02, "rest curvature": 0.5, "mass": 0.3, "tendon offset": 0.01, "kp": 1.0,
           "ki": 1.0, "speed": 0.5, "turn": 1.2}  # fmt: skip

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


@cache
def design_gradient(name):
    make, given = ROBOTS[name]
    keys = list(given)
    robot, tip = make(given)
    start = shape(robot)
    design = (lambda values: make(dict(zip(keys, values, strict=True)))[0]), list(given.values())
    at = start if isinstance(start, ag.Equilibrium) else None
    run = motion(robot, start)
    return dict(zip(keys, ag.gradient(run, cost_at(tip), method=METHOD, design=design, start=at).design, strict=True))


@pytest.mark.parametrize(("name", "key"), CASES)
def test_design(name, key):
    make, given = ROBOTS[name]

    def value(change):
        robot, tip = make(given | {key: given[key] + change})
        return cost_at(tip)(motion(robot, shape(robot)))

    assert design_gradient(name)[key] == pytest.approx(differences(value, 1e-3 * given[key]), rel=1e-6)


@pytest.mark.parametrize("name", ROBOTS)
def test_inputs(name):
    robot, tip = ROBOTS[name][0](ROBOTS[name][1])
    start, cost, rng = shape(robot), cost_at(tip), np.random.default_rng(5)
    actuator = next(iter(robot.actuators))
    values = 4.0 * rng.random(STEPS + 1)
    given = ag.gradient(motion(robot, start, {actuator: ag.Sampled(values, DT)} | ({"cable": 0.0} if name == "arm" else {})),
                        cost, method=METHOD).inputs[actuator]  # fmt: skip
    for k in (0, 1, 6, STEPS):
        unit = np.eye(STEPS + 1)[k]

        def value(h, unit=unit):
            inputs = {actuator: ag.Sampled(values + h * unit, DT)} | ({"cable": 0.0} if name == "arm" else {})
            return cost(motion(robot, start, inputs))

        assert given[k] == pytest.approx(differences(value, 1e-2), rel=1e-6, abs=1e-9 * np.max(np.abs(given)))


@pytest.mark.parametrize("name", ["arm", "swimmer"])
def test_start(name):
    robot, tip = ROBOTS[name][0](ROBOTS[name][1])
    (q, v), cost, system, rng = shape(robot), cost_at(tip), ag.System(robot), np.random.default_rng(1)
    given = ag.gradient(motion(robot, (q, v)), cost, method=METHOD)
    for _ in range(2):
        way = rng.standard_normal(len(q))
        expected = differences(lambda h, w=way: cost(motion(robot, (move(system.tree, q, h * w), v))), 3e-4)
        assert given.q @ way == pytest.approx(expected, abs=1e-6 * np.abs(given.q * way).sum())
        expected = differences(lambda h, w=way: cost(motion(robot, (q, v + h * w))), 3e-4)
        assert given.v @ way == pytest.approx(expected, abs=1e-6 * np.abs(given.v * way).sum())


def test_start_of_a_loop():
    """A loop that moves at the start: changes of q and v are closed by simulate, and the gradient knows it."""
    robot, tip = loop(LOOP)
    cost, rng = cost_at(tip), np.random.default_rng(2)
    eq = shape(robot)
    n = eq.system.size
    _, J = eq.system.constraints(eq.q)
    free = np.linalg.svd(J)[2][len(J) :].T
    q, v = eq.q, free @ (0.4 * rng.standard_normal(free.shape[1]))
    v = ag.forward_dynamics(robot, q, v).v
    given = ag.gradient(motion(robot, (q, v)), cost, method=METHOD)
    for _ in range(2):
        way = free @ rng.standard_normal(free.shape[1])
        expected = differences(lambda h, w=way: cost(motion(robot, (q + h * w, v))), 3e-4)
        assert given.q @ way == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(given.q * way).sum())
    way = rng.standard_normal(n)  # not on the constraints
    expected = differences(lambda h: cost(motion(robot, (q, v + h * way))), 3e-4)
    assert given.v @ way == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(given.v * way).sum())


def test_design_of_a_loop_that_starts_moving():
    """Lengths change the closing itself: the start is given, and closed again for every design."""
    robot, _ = loop(LOOP)
    eq = shape(robot)
    q = eq.q + 0.0
    v = ag.forward_dynamics(robot, q, np.linspace(-0.3, 0.3, len(q))).v
    run = motion(robot, (q, v))
    for key in ("length", "base", "young"):

        def made(value, key=key):
            return loop(LOOP | {key: float(np.ravel(value)[0])})

        def value(change, key=key, made=made):
            robot, tip = made(LOOP[key] + change)
            return cost_at(tip)(motion(robot, (q, v)))

        design = (lambda p, made=made: made(p)[0]), LOOP[key]
        given = ag.gradient(run, cost_at(robot.parts[0].tip), method=METHOD, design=design).design[0]
        assert given == pytest.approx(differences(value, 1e-4 * LOOP[key]), rel=1e-6)


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


@pytest.mark.slow
def test_user_written_loads_and_imposed_motions():
    p = np.array([0.5, 0.3])
    robot, tip = pendulum(p)
    run = motion(robot, None, tolerance=1e-10)
    given = ag.gradient(run, cost_at(tip), method=METHOD, design=((lambda values: pendulum(values)[0]), p))
    for k in range(2):

        def value(h, k=k):
            robot, tip = pendulum(p + h * np.eye(2)[k])
            return cost_at(tip)(motion(robot, None, tolerance=1e-10))

        assert given.design[k] == pytest.approx(differences(value, 1e-3 * p[k]), rel=1e-6)
    pulls = 4.0 * np.random.default_rng(0).random(STEPS + 1)
    for k in (1, 7):

        def pulled(h, k=k):
            changed = {"pull": ag.Sampled(pulls + h * np.eye(STEPS + 1)[k], DT)}
            return cost_at(tip)(motion(robot, None, changed, tolerance=1e-10))

        assert given.inputs["pull"][k] == pytest.approx(differences(pulled, 1e-2), rel=1e-6)


def test_friction_is_refused():
    robot = ag.Robot("arm")
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber(1e6), ag.planar(2), intervals=4), at=robot.ground)
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.005), friction=0.2))
    run = ag.simulate(robot, duration=0.05, dt=0.01, inputs={"pull": 1.0})
    with pytest.raises(ag.DescriptionError, match="friction"):
        ag.gradient(run, ag.Rest())
