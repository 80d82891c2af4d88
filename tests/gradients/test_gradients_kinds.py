"""Adjoint gradients of every kind of parameter against fourth-order differences of whole simulations, at 1e-6.

An arm with tendons, muscles, springs and an elastic tendon; a closed loop; a floating robot driven by thrusters with integral
gains. Then starts of closed robots, user-written loads, prescribed motions.
"""

from functools import cache

import numpy as np
import pytest
from gradients_robots import (
    CASES,
    DT,
    LOOP,
    METHOD,
    ROBOTS,
    STEPS,
    cost_at,
    differences,
    loop,
    motion,
    pendulum,
    rubber,
    shape,
)

import anguilla as ag
from anguilla.model.user import move


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
    (q, v), cost, system, rng = shape(robot), cost_at(tip), ag.Model(robot), np.random.default_rng(1)
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
        round_off = 1e-8 * abs(value(0.0)) / LOOP[key]  # of the differences: the slope by the length nearly vanishes
        assert given == pytest.approx(differences(value, 1e-4 * LOOP[key]), rel=1e-6, abs=round_off)


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
    with pytest.raises(ag.DescriptionError, match="equilibria with friction"):
        ag.gradient(ag.statics(robot, inputs={"pull": 1.0}), ag.Reach(rod.tip, (0.2, 0.1, 0.0)))
