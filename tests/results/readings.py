"""Given motions of robots with everything on them, and all that can be read from a motion."""

import dataclasses

import numpy as np

import anguilla as ag
from anguilla.results.states import Status, Trajectory

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1100.0, damping=0.02)


def given(robot, count, inputs=None, dt=0.01, size=0.2):
    """A smooth motion of a robot that nobody computed; nothing balances, and everything can be read."""
    model, rng = ag.Model(robot), np.random.default_rng(3)
    n = model.size
    t = dt * np.arange(count)
    scale, rate, phase = size / model.tree.scale, rng.uniform(2.0, 9.0, n), rng.uniform(0.0, 6.0, n)
    angle = rate * t[:, None] + phase
    states = t, scale * np.sin(angle), scale * rate * np.cos(angle), -scale * rate**2 * np.sin(angle)
    lam = rng.normal(size=(count, model.rows)) * np.cos(3.0 * t)[:, None]
    return Trajectory(robot, model, Status(True, "given"), *states, lam, inputs or {})


def crowded(count=30):
    """An arm of two rods on a driven joint, with a body at its tip, and loads of every kind that remembers or is spread."""
    robot = ag.Robot("crowded", gravity=(1.0, 2.0, -9.81))
    joint = ag.Revolute((0, 1, 0), motion=lambda t: 0.1 * np.sin(3.0 * t))
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.02), RUBBER, ag.reissner(2), intervals=4), at=robot.ground, joint=joint)
    fore = robot.add(ag.Rod(0.2, ag.Circle(0.01), RUBBER, ag.kirchhoff(2), intervals=3), at=arm.tip, name="fore")
    box = robot.add(ag.RigidBody.box((0.04, 0.06, 0.05), mass=0.1), at=fore.tip, name="box")
    robot.load(ag.Thruster(box.frame, 0.1, 2.0, velocity=lambda t: (0.1, np.sin(5.0 * t), 0.0), name="thruster"))
    robot.load(ag.Morison(arm, current=(0.1, 0.2, 0.0), name="water"))
    robot.load(ag.Lighthill(fore, name="fish"))
    robot.load(ag.DistributedWrench(arm, force=lambda X, t: (0.5 * X, np.sin(9.0 * t), 1.0)))
    robot.load(ag.DistributedWrench(fore, force=(0.1, 0.2, 0.3), follower=True))
    robot.load(ag.Wrench(fore.section(0.11), force=lambda t: (0.0, np.sin(t), 0.2), follower=True))
    robot.load(ag.Spring(robot.ground, box.at((0, 0.1, 0)), stiffness=30.0, rest=0.1, damping=0.5))
    robot.load(ag.Contact(box, ag.HalfSpace((0, 0, 1), 0.0), 200.0, damping=1.0, friction=0.5, name="floor"))
    robot.load(ag.Muscle(arm, moment=lambda X, t: (0.0, 0.01 * np.sin(t), X), gain=(0.01,) * 6))
    robot.load(ag.UserForce(lambda q, v, t: -0.001 * v))
    robot.actuate("rubbing", ag.Tendon([arm, box.at((0.02, 0.01, 0.0))], ag.parallel(y=0.01), friction=0.3))
    robot.actuate("free", ag.Tendon(fore, ag.helical(0.005, 0.5)))
    return given(robot, count, {"rubbing": lambda t: 1.0 + np.sin(4.0 * t), "free": 0.5})


def closed(count=30):
    """Two rods whose tips are joined, with a tendon driven by its length."""
    robot = ag.Robot("closed")
    left = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.kirchhoff(2), intervals=3), at=robot.ground, name="left")
    right = robot.add(
        ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.kirchhoff(2), intervals=3),
        at=robot.ground.offset_by((0.0, 0.1, 0.0)), joint=ag.Revolute((0, 0, 1)), name="right",
    )  # fmt: skip
    robot.close(left.tip, right.tip, name="loop")
    robot.actuate("line", ag.Tendon(left, ag.parallel(y=0.005), by="length"))
    return given(robot, count, {"line": lambda t: 0.29 + 0.01 * np.sin(t)})


def readings(run):
    """Everything that can be read from a motion, by name, each with the time as its first axis."""
    run = dataclasses.replace(run)  # forgets what was read before
    robot, found = run.robot, {"a": run.a, "com": run.center_of_mass, "momentum": run.momentum}
    found["angular momentum"], found["multipliers"] = run.angular_momentum, run.multipliers
    for part in robot.parts:
        found[f"effort {part.name}"] = run.effort(part)
        for name in ("position", "pose", "twist", "acceleration", "jacobian"):
            found[f"{name} {part.name}"] = getattr(run, name)(part.root.offset_by((0.01, 0.02, 0.03)))
        if hasattr(part, "rod"):
            X = part.length * np.array([0.77, 0.0, 0.31, 1.0])
            found[f"centerline {part.name}"] = run.centerline(part, 5)
            found[f"strain {part.name}"], found[f"wrench {part.name}"] = run.strain(part, X), run.wrench(part, X)
    for name in robot.actuators:
        found[f"tension {name}"], found[f"length {name}"] = run.tension(name), run.length(name)
    found["actuation"] = run.actuation()
    for closure in robot.closures.values():
        found[f"reaction {closure.name}"] = run.reaction(closure)
    for load in robot.loads:
        if load.name:
            found |= {f"{load.name} {name}": x for name, x in run.exerted(load)._asdict().items()}
        if load.touches:
            found["depth"] = run.depth(load)
    found |= {f"energy {name}": x for name, x in run.energy.items()}
    return found | {f"power {name}": x for name, x in vars(ag.powers(run)).items()}


def assert_same(one, other, rtol=1e-11):
    """All readings agree, to a part of the largest number of each."""
    assert one.keys() == other.keys()
    for name, values in one.items():
        size = max(float(np.max(np.abs(values), initial=0.0)), 1e-300)
        np.testing.assert_allclose(other[name], values, rtol=0.0, atol=rtol * size, err_msg=name)
