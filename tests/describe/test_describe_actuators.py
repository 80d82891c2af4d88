"""Actuators: where they run, and what is refused."""

import pickle

import numpy as np
import pytest

import anguilla as ag
from anguilla.errors import DescriptionError

MATERIAL = ag.Material(young=1e6, poisson=0.4, density=1000.0)
X = np.linspace(0.0, 0.4, 7)


def make(name="robot", rods=1):
    robot = ag.Robot(name)
    handles, at = [], robot.ground
    for _ in range(rods):
        handles.append(robot.add(ag.Rod(0.4, ag.Circle(0.01), MATERIAL, ag.kirchhoff(2)), at=at))
        at = handles[-1].tip
    return robot, *handles


# Routings -------------------------------------------------------------------------------------------------------------

ROUTINGS = {
    "parallel": (ag.parallel(y=0.01, z=-0.02), lambda x: (0.01, -0.02)),
    "convergent": (ag.convergent((0.01, 0.02), (-0.01, 0.0), 0.4), lambda x: (0.01 - 0.05 * x, 0.02 - 0.05 * x)),
    "helical": (
        ag.helical(0.01, 0.2, 0.3), lambda x: (0.01 * np.cos(10 * np.pi * x + 0.3), 0.01 * np.sin(10 * np.pi * x + 0.3))
    ),
    "left_handed": (ag.helical(0.01, -0.2), lambda x: (0.01 * np.cos(10 * np.pi * x), -0.01 * np.sin(10 * np.pi * x))),
    "polynomial": (ag.Routing((0.1, 0.2, 0.3), (0.0, -1.0)), lambda x: (0.1 + 0.2 * x + 0.3 * x**2, -x)),
    "both": (
        ag.Routing((0.1, 0.2), radius=0.01, rate=4.0), lambda x: (0.1 + 0.2 * x + 0.01 * np.cos(4 * x), 0.01 * np.sin(4 * x))
    ),
    "function": (ag.FunctionRouting(function=lambda x: (x**2, np.sin(x))), lambda x: (x**2, np.sin(x))),
}  # fmt: skip


@pytest.mark.parametrize(("routing", "exact"), ROUTINGS.values(), ids=ROUTINGS)
def test_offset_and_slope(routing, exact):
    expected = np.array([(0.0, *exact(x)) for x in X])
    np.testing.assert_allclose(routing.offset(X), expected, atol=1e-15)
    h = 1e-3
    at = lambda k: np.array([(0.0, *exact(x + k * h)) for x in X])
    slope = (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * h)
    np.testing.assert_allclose(routing.slope(X), slope, atol=1e-7)
    assert routing.offset([]).shape == routing.slope([]).shape == (0, 3)


def test_breakpoints_of_a_routing_become_nodes():
    robot, arm = make()
    routing = ag.FunctionRouting(function=lambda x: (abs(x - 0.123), 0.0), breakpoints=(0.123,))
    robot.actuate("p", ag.Tendon(arm, routing, span=(0.0, 0.317)))
    nodes = ag.Model(robot).layout.parts[0].grid.X
    for place in (0.123, 0.317):
        assert np.min(np.abs(nodes - place)) < 1e-12


# Actuators ------------------------------------------------------------------------------------------------------------


def test_stretches():
    _, a, b = make(rods=2)
    one, two = ag.parallel(y=0.01), ag.parallel(z=0.01)
    assert ag.Tendon(a, one).stretches == [(a, one, 0.0, 0.4)]
    assert ag.Tendon((a, b), one).stretches == [(a, one, 0.0, 0.4), (b, one, 0.0, 0.4)]
    assert ag.Tendon([a, b], (one, two), span=(0.1, 0.2)).stretches == [(a, one, 0.0, 0.4), (b, two, 0.1, 0.2)]


def test_inputs_pull_and_push():
    _, arm = make()
    assert ag.Tendon(arm, ag.parallel()).tension_per_input == 1.0
    assert ag.Chamber(arm, ag.parallel(), area=3e-4).tension_per_input == -3e-4


def test_robot_keeps_the_order_of_its_actuators():
    robot, arm = make()
    pull = robot.actuate("b", ag.Tendon(arm, ag.parallel(y=0.01)))
    push = robot.actuate("a", ag.Chamber(arm, ag.parallel(y=0.01)))
    assert list(robot.actuators.items()) == [("b", pull), ("a", push)]
    robot.actuators.clear()
    assert len(robot.actuators) == 2
    again = pickle.loads(pickle.dumps(ag.parallel(y=0.01)))
    assert again == ag.parallel(y=0.01)


def test_absent_inputs_are_zero():
    robot, arm = make()
    robot.actuate("p", ag.Tendon(arm, ag.parallel(y=0.01)))
    robot.actuate("c", ag.Chamber(arm, ag.parallel(y=0.01)))
    system = ag.Model(robot)
    q = np.ones(system.size)
    np.testing.assert_array_equal(system.residual(q), system.residual(q, inputs={"p": 0.0, "c": 0.0}))
    np.testing.assert_array_equal(
        system.residual(q, inputs={"p": lambda t: 2.0 * t}, t=1.5), system.residual(q, inputs={"p": 3.0})
    )


# Refusals -------------------------------------------------------------------------------------------------------------

BAD = {
    "zero_axis": (lambda a: ag.Revolute((0, 0, 0)), r"Revolute\.axis must be a direction"),
    "zero_slider": (lambda a: ag.Prismatic((0, 0, 0)), r"Prismatic\.axis"),
    "zero_screw": (lambda a: ag.Helical((0, 0, 0), pitch=0.1), r"Helical\.axis"),
    "zero_shaft": (lambda a: ag.Cylindrical((0, 0, 0)), r"Cylindrical\.axis"),
    "zero_cardan": (lambda a: ag.Universal((1, 0, 0), (0, 0, 0)), r"Universal\.second"),
    "zero_table": (lambda a: ag.Planar((0, 0, 0)), r"Planar\.normal"),
    "span_beyond": (lambda a: ag.Tendon(a, ag.parallel(), span=(0.1, 0.5)), r"Tendon\.span .*within 0\.4 m"),
    "span_before": (lambda a: ag.Tendon(a, ag.parallel(), span=(-0.1, 0.3)), r"Tendon\.span"),
    "span_reversed": (lambda a: ag.Chamber(a, ag.parallel(), span=(0.3, 0.1)), r"Chamber\.span"),
    "span_nan": (lambda a: ag.Tendon(a, ag.parallel(), span=(0.0, np.nan)), r"Tendon\.span .*nan"),
    "no_rods": (lambda a: ag.Tendon((), ag.parallel()), r"Tendon\.part"),
    "frame": (lambda a: ag.Tendon((a.tip,), ag.parallel()), r"Tendon\.part must be a rod"),
    "too_many_routings": (lambda a: ag.Tendon(a, [ag.parallel()] * 2), r"Tendon\.routing"),
    "not_a_routing": (lambda a: ag.Tendon(a, (0.01,)), r"Tendon\.routing"),
    "area": (lambda a: ag.Chamber(a, ag.parallel(), area=0.0), r"Chamber\.area must be a positive number \[m\^2\]"),
    "nan_place": (lambda a: ag.parallel(y=np.nan), r"parallel\.y"),
    "pitch": (lambda a: ag.helical(0.01, 0.0), r"helical\.pitch"),
    "radius": (lambda a: ag.helical(-0.01, 0.1), r"helical\.radius"),
    "length": (lambda a: ag.convergent((0, 0), (1, 0), 0.0), r"convergent\.length"),
    "points": (lambda a: ag.convergent((0, 0, 0), (1, 0), 0.4), r"convergent must be two points"),
    "function": (
        lambda a: ag.FunctionRouting(function=lambda x: (0.0, 0.0, 0.0)).offset([0.1]),
        r"routing at X = 0\.1 m must be 2 finite numbers",
    ),
    "function_nan": (
        lambda a: ag.FunctionRouting(function=lambda x: (0.0, np.nan)).offset([0.1]),
        r"routing at X = 0\.1 m",
    ),
}


@pytest.mark.parametrize(("make_bad", "text"), BAD.values(), ids=BAD)
def test_refused(make_bad, text):
    with pytest.raises(DescriptionError, match=text):
        make_bad(make()[1])


def test_bad_assignment_keeps_the_old_value():
    _, arm = make()
    tendon = ag.Tendon(arm, ag.parallel(), span=(0.1, 0.2))
    with pytest.raises(DescriptionError, match=r"Tendon\.span"):
        tendon.span = (0.2, 0.9)
    assert tendon.span == (0.1, 0.2)
    with pytest.raises(DescriptionError, match="no field 'rooting'"):
        tendon.rooting = ag.parallel()


def test_actuators_of_another_robot_and_taken_names():
    robot, arm = make("mine")
    other = make("yours")[1]
    with pytest.raises(DescriptionError, match=r"actuator 'p' .*'mine'.*another robot, 'yours'"):
        robot.actuate("p", ag.Tendon(other, ag.parallel()))
    with pytest.raises(DescriptionError, match=r"actuator 'p' .*'mine'.*another robot, 'yours'"):
        robot.actuate("p", ag.Tendon((arm, other), ag.parallel()))
    with pytest.raises(DescriptionError, match=r"Chamber\.part must be a rod of the robot or several in series"):
        ag.Chamber((arm, other), ag.parallel())
    assert not robot.actuators
    robot.actuate("p", ag.Tendon(arm, ag.parallel()))
    with pytest.raises(DescriptionError, match="already has an actuator 'p'"):
        robot.actuate("p", ag.Tendon(arm, ag.parallel()))
    with pytest.raises(DescriptionError, match=r"Robot\.actuate name"):
        robot.actuate("2 tendons", ag.Tendon(arm, ag.parallel()))
    with pytest.raises(DescriptionError, match=r"Robot\.actuate actuator"):
        robot.actuate("q", ag.parallel())


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({"x": 1.0}, "inputs: robot 'robot' has no input 'x'; it has: p"),
        ({"p": np.nan}, "inputs: the input of actuator 'p' must be a finite number"),
        ({"p": lambda t: np.inf}, "inputs: the input of actuator 'p' at t = 0 s must be a finite number"),
    ],
)
def test_bad_inputs(inputs, text):
    robot, arm = make()
    robot.actuate("p", ag.Tendon(arm, ag.parallel(y=0.01)))
    with pytest.raises(DescriptionError, match=text):
        ag.statics(robot, inputs=inputs)
    with pytest.raises(DescriptionError, match=text):
        ag.simulate(robot, duration=0.1, dt=0.01, inputs=inputs)


def test_length_of_an_unknown_actuator():
    robot, _ = make()
    with pytest.raises(DescriptionError, match="no actuator 'p'; there are: none"):
        ag.simulate(robot, duration=0.01, dt=0.01).length("p")


# Doors that let bad values through: each must become a DescriptionError that names its field.
OPEN = {
    "part_none": (lambda r, a: ag.Tendon(None, ag.parallel()), r"Tendon\.part"),
    "part_rod": (lambda r, a: ag.Tendon(a.rod, ag.parallel()), r"Tendon\.part"),
    "part_twice": (lambda r, a: ag.Tendon((a, a), ag.parallel()), r"Tendon\.part"),
    "routing_number": (lambda r, a: ag.Tendon(a, 0.01), r"Tendon\.routing"),
    "span_number": (lambda r, a: ag.Tendon(a, ag.parallel(), span=0.1), r"Tendon\.span"),
    "span_of_one": (lambda r, a: ag.Tendon(a, ag.parallel(), span=(0.1,)), r"Tendon\.span"),
    "routing_nan": (lambda r, a: ag.Routing(y=(np.nan,)), r"Routing\.y"),
    "function_number": (lambda r, a: ag.FunctionRouting(function=3), r"FunctionRouting\.function"),
    "input_text": (lambda r, a: ag.statics(r, inputs={"p": "a"}), "input of actuator 'p'"),
    "input_pair": (lambda r, a: ag.statics(r, inputs={"p": [1.0, 2.0]}), "input of actuator 'p'"),
    "input_function": (lambda r, a: ag.statics(r, inputs={"p": lambda: 1.0}), "input of actuator 'p'"),
    "inputs_number": (lambda r, a: ag.statics(r, inputs=5), "inputs must be"),
}


@pytest.mark.parametrize(("call", "text"), OPEN.values(), ids=OPEN)
def test_open_doors(call, text):
    robot, arm = make()
    robot.actuate("p", ag.Tendon(arm, ag.parallel(y=0.01)))
    with pytest.raises(DescriptionError, match=text):
        call(robot, arm)
