"""Derivatives by inputs that `Robot.input` made: linear models, gradients and sensitivities, against differences."""

# ruff: noqa: B023  (functions of a loop are used within it)

import numpy as np
import pytest

import anguilla as ag

RUBBER = ag.Material(young=1e6, density=1000, damping=0.01)
DT, STEPS = 0.01, 30
SMALL = {"motor": 0.02, "push": 0.02, "squared": 0.05, "field": 0.05, "line": 0.05, "coil": 2e-3}


class Ride:
    """A motion sin^3 with its rate and acceleration, and something added to each at one instant."""

    def __init__(self, extra=None):
        self.extra = extra

    def __call__(self, t):
        return float(self.jets(np.array([t]))[0, 0])

    def jets(self, times):
        s, c = np.sin(3 * times), np.cos(3 * times)
        found = 0.05 * np.stack([s**3, 9 * s**2 * c, 27 * (2 * s * c**2 - s**3)], axis=1)
        if self.extra is not None:
            k, order, h = self.extra
            found[np.isclose(times, k * DT), order] += h
        return found


def pole(*, moving=False, wind=False):
    """A soft pole on a cart: motor, force, a force that is a function of an input, gravity and the cart are inputs."""
    robot = ag.Robot("pole")
    tilt = robot.input("field", "m/s^2")
    robot.gravity = lambda t: (tilt(t), 0.0, -9.81)
    motor, push = robot.input("motor", "N m"), robot.input("push", "N", along=(0.3, 0, 1))
    square = robot.input("squared")
    joint = ag.Prismatic("x", motion=robot.input("slide", "m")) if moving else ag.Prismatic("x", stiffness=30.0)
    cart = robot.add(ag.RigidBody(1.0, (1e-3,) * 3), at=robot.ground, joint=joint, name="cart")
    hinge = ag.Revolute("y", effort=motor, stiffness=0.5, damping=0.02)
    rod = robot.add(ag.Rod(0.5, ag.Circle(0.01), RUBBER, ag.kirchhoff(2)), at=cart.frame, joint=hinge, name="pole")
    robot.load(ag.Wrench(rod.tip, force=push))
    robot.load(ag.Wrench(rod.tip, moment=lambda t: (0.0, 0.02 * square(t) ** 2, 0.0), follower=True))
    robot.actuate("line", ag.Tendon(rod, ag.parallel(y=0.008)))
    if wind:
        magnet = robot.input("coil", "T", along=(0.2, 0, 1))
        robot.load(ag.Magnet(rod, moment=(3.0, 0, 0), field=magnet))
    return robot, rod


def laws(robot):
    t = DT * np.arange(STEPS + 1)
    known = {
        "motor": 0.2 * np.sin(5 * t), "push": 0.1 * np.cos(4 * t), "squared": 1.0 + t, "field": np.sin(3 * t),
        "line": 1.0 + 0.5 * np.sin(8 * t), "coil": 0.01 * np.cos(6 * t),
    }  # fmt: skip
    return {name: known[name] for name in robot.inputs if name in known}


def motion(robot, values, **keywords):
    inputs = {name: ag.Sampled(column, DT) for name, column in values.items()}
    options = {"duration": STEPS * DT, "dt": DT, "tolerance": 1e-12, "events": []} | keywords
    return ag.simulate(robot, inputs=inputs | options.pop("more", {}), **options)


def four(value, h):
    """Derivative at zero by differences of fourth order."""
    return (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)


def the_cost(rod):
    return ag.Reach(rod.tip, [0.1, 0.2, 0.3]) + ag.Rest(1e-3)


@pytest.mark.parametrize("wind", [False, True])
def test_gradients_by_inputs_are_those_of_differences(wind):
    robot, rod = pole(wind=wind)
    values, cost = laws(robot), the_cost(rod)
    found = ag.gradient(motion(robot, values), cost)
    assert set(found.inputs) == set(robot.inputs)
    for name in robot.inputs:
        size = np.max(np.abs(found.inputs[name]))
        assert size > 0
        for k in (0, 1, 12, STEPS):
            unit = np.eye(STEPS + 1)[k]
            slope = four(lambda h: cost(motion(robot, values | {name: values[name] + h * unit})), SMALL[name])
            assert abs(found.inputs[name][k] - slope) < 1e-6 * size, (name, k)


def test_sensitivities_by_inputs_are_those_of_differences():
    robot, _ = pole(wind=True)
    values = laws(robot)
    shape = np.sin(np.arange(STEPS + 1))
    found = ag.sensitivities(motion(robot, values), inputs={name: shape for name in robot.inputs})
    assert len(found.names) == len(robot.inputs)
    for k, name in enumerate(robot.inputs):
        slope = four(lambda h: motion(robot, values | {name: values[name] + h * shape}).q, 0.1 * SMALL[name])
        assert np.max(np.abs(found.q[..., k] - slope)) < 1e-6 * np.max(np.abs(slope)), name


def test_an_eased_start():
    """What a jolt at the start does to the first step depends on follower forces and gravity then."""
    robot = ag.Robot("arm")
    weight = robot.input("weight", "m/s^2")
    robot.gravity = lambda t: (0.0, 0.0, -9.81 - weight(t))
    material = ag.Material(4e5, 1070.0, 0.5, damping=0.03)
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.012), material, ag.reissner(2), intervals=4), at=robot.ground)
    robot.load(ag.Wrench(arm.tip, force=robot.input("follow", "N", along=(-1, 0, 1)), follower=True))
    cost, ones = ag.Reach(arm.tip, (0.2, 0.1, 0.05)), np.ones(9)
    q, v = (wave(np.arange(robot.size)) for wave in (lambda k: 0.02 * np.cos(k), lambda k: 0.3 * np.sin(k)))

    def swing(values):
        inputs = {name: ag.Sampled(column, 0.004) for name, column in values.items()}
        run = ag.simulate(robot, duration=0.032, dt=0.004, inputs=inputs, start=(q, v), tolerance=1e-13)
        assert run.status.counters["eased"] == 1
        return run

    given = {"weight": ones, "follow": 0.5 * ones}
    found = ag.gradient(swing(given), cost)
    forward = ag.sensitivities(swing(given), inputs={name: np.eye(9)[:, :3] for name in given})
    for k in range(3):
        for j, name in enumerate(given):
            slope = four(lambda h: cost(swing(given | {name: given[name] + h * np.eye(9)[k]})), 0.02)
            assert abs(found.inputs[name][k] - slope) < 1e-6 * np.max(np.abs(found.inputs[name])), (name, k)
            assert abs(forward.of(cost)[3 * j + k] - slope) < 1e-6 * np.max(np.abs(found.inputs[name])), (name, k)


def test_gradients_by_imposed_motions():
    """By value, rate and acceleration of the input at an instant."""
    robot, rod = pole(moving=True)
    values, cost = laws(robot), the_cost(rod)
    found = ag.gradient(motion(robot, values, more={"slide": Ride()}), cost)
    assert "slide" not in found.inputs and found.motions["slide"].shape == (STEPS + 1, 3)
    with pytest.raises(ag.DescriptionError, match="'slide' prescribes a motion"):
        found.inputs["slide"]
    for order, h in enumerate((1e-3, 1e-2, 1.0)):
        size = np.max(np.abs(found.motions["slide"][:, order]))
        for k in (0, 1, 12, STEPS):
            slope = four(lambda x: cost(motion(robot, values, more={"slide": Ride((k, order, x))})), h)
            assert abs(found.motions["slide"][k, order] - slope) < 1e-6 * size, (order, k)


def test_equilibria():
    robot, rod = pole(wind=True)
    inputs = {"motor": 0.05, "push": 0.1, "squared": 0.7, "field": 0.5, "line": 1.0, "coil": 0.01}
    cost, eq = the_cost(rod), ag.statics(robot, inputs=inputs, tolerance=1e-12)
    found, forward = ag.gradient(eq, cost), ag.sensitivities(eq, inputs=list(robot.inputs))
    for k, name in enumerate(robot.inputs):
        at = lambda h: ag.statics(robot, inputs=inputs | {name: inputs[name] + h}, tolerance=1e-12, start=eq)
        slope = four(lambda h: cost(at(h)), 1e-3)
        assert abs(found.inputs[name][0] - slope) < 1e-6 * abs(slope), name
        moved = four(lambda h: at(h).q, 1e-3)
        assert np.max(np.abs(forward.q[..., k] - moved)) < 1e-6 * np.max(np.abs(moved)), name


def test_linear_models_have_all_inputs():
    robot, _ = pole(wind=True)
    inputs = {"motor": 0.05, "push": 0.1, "squared": 0.7, "field": 0.5, "line": 1.0, "coil": 0.01}
    eq = ag.statics(robot, inputs=inputs, tolerance=1e-12)
    model, n = ag.linearise(robot, eq), robot.size
    assert model.inputs == list(robot.inputs) and not model.held
    for k, name in enumerate(robot.inputs):
        change = lambda h: ag.forward_dynamics(robot, eq.q, inputs=inputs | {name: inputs[name] + h}).a
        slope = four(change, 1e-2)
        assert np.max(np.abs(model.B[n:, k] - slope)) < 1e-6 * np.max(np.abs(slope)), name
    step = ag.linearise(robot, eq, dt=DT, method="newmark")
    assert step.B.shape == (3 * n, len(robot.inputs))


def test_what_is_held_is_said():
    robot, _ = pole(moving=True)
    model = ag.linearise(robot)
    assert "slide" not in model.inputs and "'slide' prescribes a motion" in model.held["slide"]
    assert "held: slide" in repr(model)
    eq = ag.statics(robot)
    with pytest.raises(ag.DescriptionError, match="'slide' prescribes a motion"):
        ag.sensitivities(eq, inputs=["slide"])
    with pytest.raises(ag.DescriptionError, match="there is no input 'x'; there are: line, field, motor"):
        ag.sensitivities(eq, inputs=["x"])
