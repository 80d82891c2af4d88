"""What a new user ran into: each wrong call is answered by a sentence that names the argument and what would be right."""

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.control import LQR, RodModel, Twin
from anguilla.env import Reach
from anguilla.identification.observer import Observer

RUBBER = ag.Material(young=1.3e6, poisson=0.45, density=1000, damping=0.02)
FILE = """
anguilla: 1
name: arm
parts:
  arm:
    rod:
      length: 0.3
      section: {type: circle, radius: 0.01}
      material: {young: 1e6, density: 1000}
      strains: {type: planar, modes: 2}
    at: ground
"""


def robot(inputs=("t1",), length=0.3):
    made = ag.Robot("arm")
    arm = made.add(ag.Rod(length, ag.Circle(0.01), RUBBER, ag.planar(2)), at=made.ground, name="arm")
    for name, y in zip(inputs, (0.008, -0.008), strict=False):
        made.actuate(name, ag.Tendon(arm, ag.parallel(y=y)))
    return made


def loop():
    """Two arms side by side, whose tips are held together."""
    made = ag.Robot("pair", gravity=(0, 0, 0))
    rod = ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.planar(3))
    a, b = (made.add(rod, at=made.ground, pose=(0, y, 0), name=name) for name, y in (("a", 0.0), ("b", 0.1)))
    made.close(a.tip, b.tip, pose=(0, 0.1, 0), name="loop")
    made.actuate("t1", ag.Tendon(a, ag.parallel(y=0.008)))
    return made


def measured(**other):
    given = {"positions": {"arm.tip": np.array([[0.3, 0.0, 0.0]] * 3)}, "inputs": {"t1": [0.0, 1.0, 2.0]}}
    return ag.Measurements(**(given | other))


def found():
    made = robot()
    eqs = [ag.statics(made, inputs={"t1": u}) for u in (0.0, 1.0, 2.0)]
    places = np.array([eq.position(made.parts[0].tip) for eq in eqs])
    return ag.identify(made, measured(positions={"arm.tip": places}), ["arm.material.young"])


def run():
    return ag.simulate(robot(), duration=0.02, dt=0.01)


def block(**options):
    body = fem.SoftBody("block", fem.block((0.1, 0.02, 0.02), (4, 1, 1)), ag.Material(5e5, 1000, poisson=0.45))
    body.fix("base")
    body.actuate("pull", fem.Tendon([(0.0, 0.0, 0.008), (0.095, 0.0, 0.008)]))
    return fem.reduce(body, **options)


def motion(**options):
    return ag.optimise_motion(robot(), ag.InputEffort(1.0), duration=0.1, dt=0.01, inputs={"t1": 1.0}, **options)


def tip_model(made, **options):
    return RodModel(made, {"tip": made.parts[0].tip}, **options)


def watch(**options):
    return Observer(robot(), **({"dt": 0.01, "markers": {"tip": "arm.tip"}} | options))


class Short:
    def update(self, reading):
        return {}


def short_update():
    return ag.control.run(ag.Stepper(robot(), dt=0.01, history=True), Short(), duration=0.1)


def read_with_parameters(tmp_path):
    (tmp_path / "arm.yaml").write_text(FILE)
    return ag.read_robot(tmp_path / "arm.yaml", parameters=3)


def result_as_measurements(tmp_path):
    run().save(tmp_path / "run.nc")
    return ag.Measurements.read(tmp_path / "run.nc")


def hold(inputs=("t1",), **options):
    return LQR(robot(inputs), period=0.01, **options)


# (call, of a folder if it takes one; words of the sentence)
REFUSED = {
    "RodModel without actuators": (lambda: tip_model(robot(())), ["RodModel.robot", "'arm' has none", "robot.actuate"]),
    "RodModel of a loop": (lambda: tip_model(loop()), ["RodModel", "loops", "'pair'", "ag.gradient"]),
    "RodModel(orientation of another)": (
        lambda: tip_model(robot(), orientation=["tp"]),
        ["RodModel.orientation", "['tip']", "'tp'"],
    ),
    "GeneralisedAlpha('x')": (lambda: ag.GeneralisedAlpha("x"), ["GeneralisedAlpha.rho_inf", "number", "'x'"]),
    "HHT('a')": (lambda: ag.HHT("a"), ["HHT.alpha", "number", "'a'"]),
    "Newmark('a')": (lambda: ag.Newmark("a"), ["Newmark.beta", "number", "'a'"]),
    "Unknown(prior=number)": (
        lambda: ag.identify(robot(), measured(), [ag.Unknown("arm.material.young", prior=1e6)]),
        ["prior of 'arm.material.young'", "(value, standard deviation)", "1000000.0"],
    ),
    "Unknown(bounds=number)": (
        lambda: ag.identify(robot(), measured(), [ag.Unknown("arm.material.young", bounds=1e6)]),
        ["bounds of 'arm.material.young'", "(lowest, highest)", "1000000.0"],
    ),
    "Unknown(bounds reversed)": (
        lambda: ag.identify(robot(), measured(), [ag.Unknown("arm.material.young", bounds=(2e6, 1e6))]),
        ["bounds of 'arm.material.young'", "lowest < highest", "(2000000.0, 1000000.0)"],
    ),
    "fem.reduce(inputs=number)": (
        lambda: block(inputs={"pull": 0.8}, samples=0, coordinates=4),
        ["inputs['pull']", "(least, most)", "0.8"],
    ),
    "Observer.step of numbers": (lambda: watch().step((0.3, 0, 0)), ["measured", "'tip'", "(0.3, 0, 0)"]),
    "Observer.step(inputs=number)": (
        lambda: watch().step({"tip": (0.3, 0, 0)}, 2.0),
        ["inputs", "dictionary by names"],
    ),
    "Observer(markers on nothing)": (lambda: watch(markers={"tip": "arm.tp"}), ["'arm.tp'", "arm.tip"]),
    "Observer(gyros on nothing)": (lambda: watch(gyros={"spin": "am.tip"}), ["'am.tip'", "'arm'"]),
    "Observer(lengths of nothing)": (lambda: watch(lengths=["t2"]), ["Observer.lengths", "'t2'", "t1"]),
    "read_robot(parameters=3)": (read_with_parameters, ["parameters", "dictionary", "3"]),
    "optimise_motion(bounds reversed)": (lambda: motion(bounds={"t1": (5, 0)}), ["bounds['t1']", "(least, most)"]),
    "optimise_motion(bounds=number)": (lambda: motion(bounds={"t1": 5}), ["bounds['t1']", "(least, most)", "5"]),
    "optimise_motion(knots=0)": (lambda: motion(knots=0), ["knots", "at least 2", "0"]),
    "Reach(frame)": (lambda: Reach(robot().parts[0].tip), ["Reach.robot", "a function that returns one"]),
    "controller without t": (short_update, ["controller", "update(reading, t)", "it has update(reading)"]),
    "energy['totl']": (lambda: run().energy["totl"], ["'totl'", "'total'", "kinetic, elastic, gravitational, total"]),
    "values['young']": (lambda: found().values["young"], ["'young'", "arm.material.young"]),
    "table[5]": (lambda: ag.sweep(lambda x: x, ag.grid(x=[1, 2]), workers=1)[5], ["run 5", "has 2", "0 to 1"]),
    "table[1.5]": (lambda: ag.sweep(lambda x: x, ag.grid(x=[1, 2]), workers=1)[1.5], ["column", "number", "1.5"]),
    "LQR(input_weight=-1)": (lambda: hold(input_weight=-1), ["input_weight", "positive definite", "-1"]),
    "LQR(input_weight=0)": (lambda: hold(input_weight=0), ["input_weight", "positive definite", "0"]),
    "LQR(state_weight=-1)": (lambda: hold(state_weight=-1), ["state_weight", "positive semidefinite", "-1"]),
    "LQR(state_weight askew)": (
        lambda: hold(state_weight=np.triu(np.ones((4, 4)))),
        ["state_weight", "symmetric"],
    ),
    "LQR without inputs": (lambda: hold(()), ["LQR needs inputs", "'arm' has none", "robot.actuate"]),
    "reaction of no closure": (lambda: ag.statics(loop()).reaction("lop"), ["'lop'", "'loop'", "or its name"]),
    "sample of a dictionary": (lambda: ag.sample(10, {"a": (0, 1)}), ["sample(10, a=(0, 1))"]),
    "Measurements(positon=)": (lambda: ag.Measurements(positon={}), ["'positon'", "'positions'"]),
    "wrench at a matrix": (
        lambda: (lambda r: r.wrench(r.robot.parts[0], [[0.1]]))(run()),
        ["X", "a list of them", "shape (1, 1)"],
    ),
    "Revolute(motion=text)": (
        lambda: ag.Revolute("z", motion="sin(t)"),
        ["Revolute.motion", "function of the time t", "ag.Expression('sin(t)')"],
    ),
    "Measurements.read(result)": (result_as_measurements, ["run.nc", "result", "ag.load", "positions="]),
    "Tendon(friction=-1)": (
        lambda: ag.Tendon(robot().parts[0], ag.parallel(y=0.008), friction=-1.0),
        ["Tendon.friction must be a number, zero or positive; got -1."],
    ),
    "simulate_batch(inputs=[])": (
        lambda: ag.simulate_batch(robot(), duration=0.1, dt=0.01, inputs=[]),
        ["simulate_batch inputs", "empty"],
    ),
}
NO_ATTRIBUTE = {
    "speed": (lambda: run().speed, [".twist(arm.tip)"]),
    "velocity": (lambda: run().velocity, [".twist(arm.tip)"]),
    "to_csv": (lambda: run().to_csv, [".save('run.csv')"]),
    "to_vtk": (lambda: run().to_vtk, ["export(run, 'run.pvd')"]),
    "gravty": (lambda: setattr(robot(), "gravty", (0, 0, 0)), ["'gravty'", "'gravity'"]),
}
REPRS = {
    "<LQR of 4 states: 2 inputs (t1, t2) every 0.01 s;": lambda: hold(("t1", "t2")),
    "<rod model of 'arm': effectors tip; actuators t1; 2 coordinates>": lambda: tip_model(robot()),
    "<observer of 'arm': tip every 0.01 s; 4 numbers, 0 unknown forces>": watch,
    "<twin of 'arm': 100 Hz, port ": lambda: Twin(ag.Stepper(robot(), dt=0.01)),
}


def told(text, words):
    assert "\n" not in text.strip() and text.strip().endswith((".", "?")), text
    assert not [word for word in words if word not in text], text


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_call_is_refused_with_a_sentence(call, words, tmp_path):
    with pytest.raises(ag.DescriptionError) as caught:
        call(tmp_path) if call.__code__.co_argcount else call()
    told(str(caught.value), words)


@pytest.mark.parametrize(("call", "words"), NO_ATTRIBUTE.values(), ids=NO_ATTRIBUTE)
def test_an_attribute_that_is_not_there_is_told_where_it_is(call, words):
    with pytest.raises(AttributeError) as caught:
        call()
    told(str(caught.value), words)


@pytest.mark.parametrize(("text", "make"), REPRS.items(), ids=lambda x: x.split()[0] if isinstance(x, str) else "")
def test_what_controls_and_watches_prints_in_one_line(text, make):
    made = make()
    assert repr(made).startswith(text) and "\n" not in repr(made) and " at 0x" not in repr(made)
    if isinstance(made, Twin):
        made.__exit__()


def test_a_robot_refuses_to_be_told_what_can_only_be_read():
    with pytest.raises(AttributeError, match="parts"):
        robot().parts = ()


def test_a_routing_takes_its_function_first():
    given = lambda X: (0.01 * X, 0.002)
    routing = ag.FunctionRouting(given, breakpoints=(0.1,))
    assert routing.function is given and routing == ag.FunctionRouting(function=given, breakpoints=(0.1,))
    assert np.allclose(routing.offset([0.1, 0.2]), [[0, 0.001, 0.002], [0, 0.002, 0.002]])


def test_a_closure_is_known_by_its_name():
    made = loop()
    eq = ag.statics(made, inputs={"t1": 1.0})
    wrench = eq.reaction("loop")
    assert np.abs(wrench).max() > 1e-3 and np.array_equal(wrench, eq.reaction(made.closures["loop"]))


def test_energies_and_values_are_dictionaries_still():
    energy = run().energy
    assert isinstance(energy, dict) and energy.get("none") is None and set(energy) == set(dict(energy))
