"""Adjoint gradients against differences of whole simulations: inputs, start, design; open, floating, closed robots."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.model.user import move

DT, STEPS = 0.01, 12
METHODS = {"newmark": ag.Newmark(), "hht": ag.HHT(-0.2), "alpha": ag.GeneralisedAlpha(0.7)}


def rubber(young):
    return ag.Material(young=young, poisson=0.4, density=1000, damping=0.01)


def tendon_arm(p=(1e6, 0.03, 0.3, 0.02, 0.4, 0.05)):
    """Two sections with rest curvature and a ball at the tip: modulus, radius, length, offset, curvature, mass."""
    young, radius, length, offset, curvature, mass = p
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))
    rest = ag.RestFunction(lambda X: (0.0, 0.0, curvature, 1.0, 0.0, 0.0))
    strains = ag.extensible_kirchhoff(2, twist_modes=1, stretch_modes=1)
    rod = ag.Rod(length, ag.Circle(radius), rubber(young), strains, rest, intervals=4)
    near = robot.add(rod, at=robot.ground, name="near")
    far = robot.add(rod, at=near.tip, joint=ag.Revolute((0, 1, 0), stiffness=2.0, damping=0.02), name="far")
    robot.add(ag.RigidBody.sphere(0.02, mass=mass), at=far.tip, name="ball")
    robot.actuate("near", ag.Tendon(near, ag.parallel(y=offset)))
    robot.actuate("far", ag.Tendon([near, far], [ag.parallel(z=offset), ag.parallel(z=1.4 * offset)]))
    return robot, far.tip


def floating(p=(1e6, 0.02, 0.5)):
    """A free rod with a follower force and a tendon: modulus, radius, length."""
    young, radius, length = p
    robot = ag.Robot("floating", gravity=(0, 0, -1.0))
    rod = ag.Rod(length, ag.Circle(radius), rubber(young), ag.kirchhoff(2), intervals=4)
    body = robot.add(rod, at=robot.ground, joint=ag.Free(), name="body")
    robot.load(ag.TipWrench(body, force=lambda t: (0, 0.3 * np.cos(9 * t), 0.1), moment=(0.01, 0, 0.02), follower=True))
    robot.actuate("pull", ag.Tendon(body, ag.parallel(y=0.01)))
    return robot, body.tip


def closed(p=(1e7, 0.01, 0.4)):
    """Two hinged rods that meet in a ball joint: modulus, radius, length."""
    young, radius, length = p
    robot = ag.Robot("closed")
    rod = ag.Rod(length, ag.Circle(radius), rubber(young), ag.kirchhoff(2), intervals=4)
    left = robot.add(rod, at=robot.ground, joint=ag.Revolute((0, 1, 0)), name="left")
    right = robot.add(rod, at=robot.ground.offset_by((0.3, 0, 0)), joint=ag.Revolute((0, 1, 0)), name="right")
    robot.close(left.tip, right.tip, joint=ag.Spherical())
    robot.actuate("pull", ag.Tendon(left, ag.parallel(z=0.01)))
    return robot, left.tip


OPEN_V = np.zeros(14)
OPEN_V[[0, 7]] = -1.1, -2.0
ROBOTS = {"arm": (tendon_arm, (1e6, 0.03, 0.3, 0.02, 0.4, 0.05)), "floating": (floating, (1e6, 0.02, 0.5)),
          "closed": (closed, (1e7, 0.01, 0.4))}  # fmt: skip


def cost_at(tip):
    return ag.Reach(tip, (0.1, 0.2, 0.3)) + ag.Reach(tip, (0.4, 0.1, 0.0), weight="last") + ag.Rest(1e-3)


def held(robot):
    """The equilibrium that a closed robot starts from."""
    return ag.statics(robot, start=OPEN_V, tolerance=1e-13) if robot.closures else None


def motion(robot, inputs, method, start=None):
    sampled = {name: ag.Sampled(values, DT) for name, values in inputs.items()}
    options = {"start": start, "method": method, "tolerance": 1e-13, "smooth_start": False}
    return ag.simulate(robot, duration=STEPS * DT, dt=DT, inputs=sampled, **options)


def pulls(robot, seed=0):
    rng = np.random.default_rng(seed)
    return {name: 5.0 * rng.random(STEPS + 1) for name in robot.actuators}


@pytest.mark.filterwarnings("ignore:Newmark.* has no numerical damping:anguilla.errors.AnguillaWarning")
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_gradient_with_respect_to_inputs(name, method):
    robot, tip = ROBOTS[name][0]()
    cost, inputs, start = cost_at(tip), pulls(robot), held(robot)
    given = ag.gradient(motion(robot, inputs, method, start), cost, method=method, start=start).inputs
    for actuator in robot.actuators:
        for k in (0, 1, 5, STEPS):
            ends = []
            for step in (1e-3, -1e-3):
                changed = {other: values.copy() for other, values in inputs.items()}
                changed[actuator][k] += step
                ends.append(cost(motion(robot, changed, method, start)))
            expected = (ends[0] - ends[1]) / 2e-3
            assert given[actuator][k] == pytest.approx(expected, rel=1e-6, abs=1e-9 * np.abs(given[actuator]).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_gradient_with_respect_to_every_design_parameter(name):
    make, p = ROBOTS[name]
    p = np.array(p)
    method = ag.GeneralisedAlpha(0.8)
    robot, tip = make(p)
    inputs, start = pulls(robot), held(robot)
    run = motion(robot, inputs, method, start)
    design = (lambda values: make(values)[0]), p
    given = ag.gradient(run, cost_at(tip), method=method, design=design, start=start).design
    for k in range(len(p)):
        values = []
        for step in (-2, -1, 1, 2):
            changed = p.copy()
            changed[k] *= 1 + 1e-3 * step
            robot, tip = make(changed)
            values.append(cost_at(tip)(motion(robot, inputs, method, held(robot))))
        expected = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12e-3 * p[k])
        assert given[k] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["arm", "floating"])
def test_gradient_with_respect_to_the_start(name):
    robot, tip = ROBOTS[name][0]()
    system, cost, inputs = ag.Model(robot), cost_at(tip), pulls(robot)
    n, rng = system.size, np.random.default_rng(1)
    method = ag.GeneralisedAlpha(0.8)
    q, v = 0.2 * rng.standard_normal(n), 0.5 * rng.standard_normal(n)
    given = ag.gradient(motion(robot, inputs, method, (q, v)), cost, method=method)
    for _ in range(3):
        way = rng.standard_normal(n)
        for slope, ends in ((given.q, lambda h, w=way: (move(system.tree, q, h * w), v)),
                            (given.v, lambda h, w=way: (q, v + h * w))):  # fmt: skip
            h = 2e-4
            a, b, c, d = (cost(motion(robot, inputs, method, ends(k * h))) for k in (-2, -1, 1, 2))
            expected = (a - 8 * b + 8 * c - d) / (12 * h)
            assert slope @ way == pytest.approx(expected, abs=1e-6 * np.abs(slope * way).sum())


def test_gradient_of_an_equilibrium():
    p = np.array(ROBOTS["arm"][1])
    robot, tip = tendon_arm(p)
    inputs = {"near": 3.0, "far": 2.0}
    eq = ag.statics(robot, inputs=inputs, tolerance=1e-13)
    cost = ag.Reach(tip, (0.1, 0.2, 0.3))
    given = ag.gradient(eq, cost, design=((lambda values: tendon_arm(values)[0]), p))
    for name in inputs:
        ends = [
            cost(ag.statics(robot, inputs=inputs | {name: inputs[name] + h}, tolerance=1e-13)) for h in (1e-3, -1e-3)
        ]
        assert given.inputs[name][0] == pytest.approx((ends[0] - ends[1]) / 2e-3, rel=1e-6)
    for k in range(len(p)):
        ends = []
        for step in (1e-4, -1e-4):
            changed = p * (1 + step * (np.arange(len(p)) == k))
            robot, tip = tendon_arm(changed)
            ends.append(ag.Reach(tip, (0.1, 0.2, 0.3))(ag.statics(robot, inputs=inputs, tolerance=1e-13)))
        assert given.design[k] == pytest.approx((ends[0] - ends[1]) / (2e-4 * p[k]), rel=1e-6)


def test_a_smooth_start_is_refused():
    robot, tip = closed()
    run = ag.simulate(robot, duration=0.02, dt=0.01, start=OPEN_V)
    with pytest.raises(ag.DescriptionError, match="smooth_start=False"):
        ag.gradient(run, ag.Reach(tip, (0, 0, 0)))


def test_doors():
    robot, tip = tendon_arm()
    run = ag.simulate(robot, duration=0.04, dt=0.01, every=2)
    with pytest.raises(ag.DescriptionError, match="all stored"):
        ag.gradient(run, ag.Reach(tip, (0, 0, 0)))
    with pytest.raises(ag.DescriptionError, match="cost must be a Cost"):
        ag.gradient(run, lambda run: 0.0)
    with pytest.raises(ag.DescriptionError, match="result must come"):
        ag.gradient("run", ag.Rest())
    with pytest.raises(ag.DescriptionError, match=r"weight must be a number or have the shape \(5,\)"):
        ag.gradient(ag.simulate(robot, duration=0.04, dt=0.01), ag.Rest(weight=[1.0, 2.0]))
