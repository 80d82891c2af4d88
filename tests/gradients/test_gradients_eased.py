"""Gradients and sensitivities of motions that start with a jolt: through the eased accelerations of the first step."""

import numpy as np
import pytest

import anguilla as ag

STEEL = ag.Material(young=2e11, poisson=0.3, density=7800.0, damping=1e-4)


def arm(parameters=(4e5, 0.4)):
    """A soft rod that shears and stretches."""
    young, length = parameters
    robot = ag.Robot("arm")
    rod = ag.Rod(length, ag.Circle(0.012), ag.Material(young, 1070.0, 0.5, damping=0.03), ag.reissner(2), intervals=4)
    part = robot.add(rod, at=robot.ground)
    robot.actuate("pull", ag.Tendon(part, ag.parallel(y=0.008)))
    return robot, part.tip


def hand(parameters=(2e11, 0.3)):
    """A steel rod with a body on a hinge."""
    young, length = parameters
    robot = ag.Robot("hand")
    steel = ag.Material(young, 7800.0, 0.3, damping=1e-4)
    part = robot.add(ag.Rod(length, ag.Circle(0.002), steel, ag.kirchhoff(3), intervals=5), at=robot.ground)
    body = ag.RigidBody(mass=0.1, inertia=(1e-4, 1e-4, 1e-4), com=(0.02, 0.0, 0.01))
    end = robot.add(body, at=part.tip, joint=ag.Revolute("y", damping=1e-3))
    robot.actuate("pull", ag.Tendon(part, ag.parallel(y=0.0015)))
    return robot, end.frame


def floating(parameters=(2e11, 0.3)):
    """A steel rod that floats, with a ball among its coordinates."""
    young, length = parameters
    robot = ag.Robot("floating", gravity=(0, 0, 0))
    steel = ag.Material(young, 7800.0, 0.3, damping=1e-4)
    rod = ag.Rod(length, ag.Circle(0.002), steel, ag.kirchhoff(3), intervals=5)
    part = robot.add(rod, at=robot.ground, joint=ag.Free())
    robot.actuate("pull", ag.Tendon(part, ag.parallel(y=0.0015)))
    return robot, part.tip


CASES = {"arm": (arm, 1.0, (4e5, 0.4)), "hand": (hand, 20.0, (2e11, 0.3)), "floating": (floating, 20.0, (2e11, 0.3))}
STEPS, DT = 8, 0.004


def swing(make, parameters, pull, q=None, v=None):
    """A motion of a few steps, with an input that changes."""
    robot, frame = make(parameters)
    n = robot.size
    q = 0.02 * np.cos(np.arange(n)) if q is None else q
    v = 0.3 * np.sin(np.arange(n)) if v is None else v
    inputs = {"pull": ag.Sampled(pull, DT)}
    run = ag.simulate(robot, duration=STEPS * DT, dt=DT, inputs=inputs, start=(q, v), tolerance=1e-13)
    assert run.status.counters["eased"] == 1
    return run, ag.Reach(frame, (0.2, 0.1, 0.05))


def differences(function, x, size):
    """Derivatives (k,) of a function of x (k,), by fourth-order differences."""
    out = []
    for k in range(len(x)):
        unit = size[k] * np.eye(len(x))[k]
        ends = [weight * function(x + step * unit) for step, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1))]
        out.append(sum(ends) / (12.0 * size[k]))
    return np.array(out)


@pytest.mark.parametrize("name", CASES)
def test_gradient_of_an_eased_start(name):
    make, tension, parameters = CASES[name]
    pull = tension * (1.0 + 0.1 * np.arange(STEPS + 1))
    run, cost = swing(make, parameters, pull)
    found = ag.gradient(run, cost, design=(lambda p: make(p)[0], parameters))
    q, v, scale = run.q[0], run.v[0], run.system.tree.scale
    value = lambda **change: (lambda r: r[1].terms(r[0])[0])(
        swing(make, **({"parameters": parameters, "pull": pull} | change))
    )

    by_inputs = differences(lambda x: value(pull=x, q=q, v=v), pull, 0.02 * pull)
    assert np.allclose(found.inputs["pull"], by_inputs, rtol=0.0, atol=2e-6 * np.max(np.abs(by_inputs)))
    assert np.max(np.abs(by_inputs[:2])) > 1e-3 * np.max(np.abs(by_inputs))
    by_v = differences(lambda x: value(v=x, q=q), v, 0.02 / scale)
    assert np.allclose(found.v / scale, by_v / scale, rtol=0.0, atol=2e-6 * np.max(np.abs(by_v / scale)))
    held = np.ones(len(q), dtype=bool)
    held[[k + j for k in run.system.tree.ball[:, 0] for j in range(3)]] = (
        False  # differences of rotation vectors are others
    )
    by_q = differences(lambda x: value(q=x, v=v), q, 1e-3 / scale)
    assert np.allclose(
        (found.q / scale)[held], (by_q / scale)[held], rtol=0.0, atol=2e-6 * np.max(np.abs(by_q / scale))
    )
    by_design = differences(lambda x: value(parameters=x, q=q, v=v), np.array(parameters), 1e-3 * np.array(parameters))
    assert np.allclose(found.design * parameters, by_design * parameters, rtol=1e-5, atol=0.0)


@pytest.mark.parametrize("name", CASES)
def test_sensitivities_of_an_eased_start_agree_with_its_gradient(name):
    make, tension, parameters = CASES[name]
    pull = tension * (1.0 + 0.1 * np.arange(STEPS + 1))
    run, cost = swing(make, parameters, pull)
    design = (lambda p: make(p)[0], parameters)
    back = ag.gradient(run, cost, design=design)
    forth = ag.sensitivities(run, design=design, inputs={"pull": np.eye(STEPS + 1)}, state=True).of(cost)
    n = run.system.size
    expected = np.concatenate([back.design, back.inputs["pull"], back.q, back.v])
    size = np.concatenate([parameters, pull, 1.0 / run.system.tree.scale, 1.0 / run.system.tree.scale])
    assert len(forth) == len(expected) == 2 + STEPS + 1 + 2 * n
    assert np.allclose(forth * size, expected * size, rtol=1e-6, atol=1e-8 * np.max(np.abs(expected * size)))


@pytest.mark.parametrize("smooth", [True, False])
def test_a_jolt_on_the_way_is_refused(smooth):
    robot, frame = arm()
    run = ag.simulate(robot, duration=STEPS * DT, dt=DT, inputs={"pull": 1.0}, smooth_start=smooth)
    assert run.status.counters["eased"] == smooth
    cost = ag.Reach(frame, (0.2, 0.1, 0.05))
    ag.gradient(run, cost)
    run.status.counters["eased"] += 1  # as if one had been eased on the way
    with pytest.raises(ag.DescriptionError, match="abrupt accelerations, on the way"):
        ag.gradient(run, cost)
