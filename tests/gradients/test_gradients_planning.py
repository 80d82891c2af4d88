"""Costs of effort and energy, and optimal motions: gradients against differences, optima against closed forms."""

# ruff: noqa: B023  (functions of a loop are used within it)

import numpy as np
import pytest

import anguilla as ag
from anguilla.solve.gradients.planning import MotionProblem

RUBBER = ag.Material(young=1e6, density=1000, damping=0.01)
DT = 0.01


def arm():
    """A soft pole on a motor, with a tendon, a follower force and a cart that is moved."""
    robot = ag.Robot("arm")
    cart = robot.add(
        ag.RigidBody(1.0, (1e-3,) * 3),
        at=robot.ground,
        joint=ag.Prismatic("x", motion=robot.input("slide", "m")),
        name="cart",
    )
    hinge = ag.Revolute("y", effort=robot.input("motor", "N m"), stiffness=0.5, damping=0.02)
    rod = robot.add(ag.Rod(0.5, ag.Circle(0.01), RUBBER, ag.kirchhoff(2)), at=cart.frame, joint=hinge, name="pole")
    robot.load(ag.Wrench(rod.tip, force=robot.input("follow", "N", along=(0, 1, 1)), follower=True))
    robot.actuate("line", ag.Tendon(rod, ag.parallel(y=0.008)))
    return robot, rod


def four(value, h):
    return (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)


FORCES = ("motor", "follow", "line")


@pytest.mark.parametrize("recovered", [True, False])
def test_energy_and_effort_have_exact_gradients(recovered):
    robot, rod = arm()
    t = DT * np.arange(31)
    values = {"motor": 0.2 * np.sin(9 * t), "follow": 0.3 * np.cos(4 * t), "line": 1.0 + 0.5 * np.sin(8 * t)}
    cost = (
        ag.Energy(3.0, FORCES, recovered=recovered, smooth=0.05)
        + ag.InputEffort(0.1, FORCES)
        + ag.Reach(rod.tip, (0, 0, 0.4))
    )

    def motion(values):
        inputs = {name: ag.Sampled(column, DT) for name, column in values.items()}
        return ag.simulate(robot, duration=0.3, dt=DT, inputs=inputs, tolerance=1e-12, events=[])

    found = ag.gradient(motion(values), cost)
    for name in FORCES:
        for k in (1, 30) if recovered else (0, 1, 14, 30):
            unit = np.eye(31)[k]
            slope = four(lambda h: cost(motion(values | {name: values[name] + h * unit})), 4e-3 if recovered else 1e-3)
            assert abs(found.inputs[name][k] - slope) < 1e-6 * np.max(np.abs(found.inputs[name])), (name, k)


def test_what_is_spent_per_way_has_an_exact_gradient():
    robot, rod = arm()
    t = DT * np.arange(31)
    values = {"motor": 0.2 * np.sin(9 * t), "follow": 0.3 * np.cos(4 * t), "line": 1.0 + 0.5 * np.sin(8 * t)}
    cost = ag.Energy(3.0, FORCES, recovered=False, smooth=0.05) / ag.Travel(rod.tip, (0.3, -1.0, 2.0))

    def motion(values):
        inputs = {name: ag.Sampled(column, DT) for name, column in values.items()}
        return ag.simulate(robot, duration=0.3, dt=DT, inputs=inputs, tolerance=1e-12, events=[])

    run = motion(values)
    moved = run.position(rod.tip)
    assert ag.Travel(rod.tip, (0.3, -1.0, 2.0))(run) == pytest.approx((moved[-1] - moved[0]) @ (0.3, -1.0, 2.0))
    found = ag.gradient(run, cost)
    for name, k in (("motor", 3), ("line", 14), ("follow", 30)):
        unit = np.eye(31)[k]
        slope = four(lambda h, name=name, unit=unit: cost(motion(values | {name: values[name] + h * unit})), 1e-3)
        assert abs(found.inputs[name][k] - slope) < 1e-6 * np.max(np.abs(found.inputs[name])), (name, k)


def test_energy_is_that_of_powers():
    """The work of motor and tendon, as the balance of powers has it."""
    robot, _ = arm()
    t = DT * np.arange(61)
    inputs = {"motor": ag.Sampled(0.2 * np.sin(9 * t), DT), "line": ag.Sampled(1.0 + 0.5 * np.sin(8 * t), DT)}
    run = ag.simulate(robot, duration=0.6, dt=DT, inputs=inputs)
    powers = ag.powers(run)
    work = np.trapezoid(powers.motors, t)
    assert abs(ag.Energy(1.0, ["motor", "line"])(run) - work) < 1e-6 * abs(work)
    assert ag.Energy(1.0, ["motor", "line"], recovered=False, smooth=1e-9)(run) > work


def test_the_gradient_of_a_whole_problem():
    """By knots of forces and of a motion, the start, the design and the duration."""
    robot, rod = arm()
    cost = ag.Reach(rod.tip, (0.1, 0.1, 0.4), weight="last") + ag.InputEffort(0.1, FORCES) + ag.Energy(0.2, FORCES)
    wave = lambda count, size: size * np.sin(np.arange(count))
    problem = MotionProblem(
        robot, cost, 0.3, DT, {"motor": wave(7, 0.2), "line": 1.0 + wave(31, 0.3), "slide": wave(6, 0.05)},
        free_start=("pole.angle", "rate of pole.angle"), design=("pole.material.young", "pole.length"), free_duration=True,
    )  # fmt: skip
    x = problem.first
    _, slope, _ = problem.gradient(x)
    assert len(slope) == len(x) == 7 + 31 + 6 + 2 + 2 + 1
    groups = np.split(np.arange(len(x)), [7, 38, 44, 46, 47, 48])
    for group, h in zip(groups, (0.01, 0.05, 5e-4, 2e-3, 1e3, 1e-4, 1e-4), strict=True):
        size = np.max(np.abs(slope[group]))
        for k in {group[0], group[len(group) // 2], group[-1]}:
            unit = np.eye(len(x))[k]
            assert abs(four(lambda s: problem.value(x + s * unit), h) - slope[k]) < 1e-6 * size, k


def test_least_effort_is_the_closed_form():
    """A mass from rest to rest over a distance d in a time T: the force 6 d m/T^2 (1 - 2 t/T)."""
    robot = ag.Robot("mass", gravity=(0, 0, 0))
    push = robot.input("push", "N")
    body = robot.add(ag.RigidBody(2.0, (1e-3,) * 3), at=robot.ground, joint=ag.Prismatic("x", effort=push), name="mass")
    cost = ag.Reach(body.frame, (0.3, 0, 0), 1e6 * np.eye(51)[-1]) + ag.Rest(1e5 * np.eye(51)[-1]) + ag.InputEffort(1.0)
    plan = ag.optimise_motion(robot, cost, duration=1.0, dt=0.02, inputs={"push": 0.0}, knots=11, tolerance=1e-14)
    t = np.linspace(0, 1, 11)
    exact = 6 * 0.3 * 2.0 * (1 - 2 * t)
    assert np.max(np.abs(plan.inputs["push"] - exact)) < 0.02 * np.max(exact)
    assert abs(plan.run.q[-1, 0] - 0.3) < 1e-4
    assert abs(plan.cost - 6 * (2.0 * 0.3) ** 2) < 0.01 * plan.cost


def test_a_duration_and_a_design_are_found():
    """A pendulum let go reaches its lowest place after a quarter of its period; a longer one takes longer."""
    robot = ag.Robot("pendulum")
    robot.input("none")
    joint = ag.Revolute("y")
    body = ag.RigidBody(1.0, (1e-9,) * 3, com=(0.5, 0, 0))
    part = robot.add(body, at=robot.ground, joint=joint, name="bob")
    low = [np.pi / 2 - 0.02]
    goal = ag.Reach(part.at([0.5, 0, 0]), (0, 0, -0.5), weight="last")
    plan = ag.optimise_motion(
        robot, goal, duration=0.3, dt=0.003, inputs={}, start=np.array(low), free_duration=True,
        bounds={"duration": (0.2, 0.6)},
    )  # fmt: skip
    assert abs(plan.duration - 0.5 * np.pi * np.sqrt(0.5 / 9.81)) < 1e-3


def test_bad_problems_are_refused():
    robot, rod = arm()
    cost = ag.Reach(rod.tip, (0, 0, 0.4))
    options = {"duration": 0.1, "dt": DT}
    with pytest.raises(ag.DescriptionError, match="there is no input 'x'"):
        ag.optimise_motion(robot, cost, inputs={"x": 0.0}, **options)
    with pytest.raises(ag.DescriptionError, match="'slide' is not among the unknowns"):
        ag.optimise_motion(robot, cost, inputs={"motor": 0.0}, bounds={"slide": (0, 1)}, **options)
    with pytest.raises(ag.DescriptionError, match="free_duration needs bounds"):
        ag.optimise_motion(robot, cost, inputs={"motor": 0.0}, free_duration=True, **options)
    with pytest.raises(ag.DescriptionError, match=r"there is no coordinate 'pole\.angel'"):
        ag.optimise_motion(robot, cost, inputs={"motor": 0.0}, free_start=["pole.angel"], **options)
    run = ag.simulate(robot, **options)
    with pytest.raises(ag.DescriptionError, match="'slide' prescribes a motion"):
        ag.Energy()(run)
