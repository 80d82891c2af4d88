"""Every public function, class and method answers a wrong call with a sentence, and lets a right one through."""

import copy
import inspect
import pickle
from importlib import import_module
from types import FunctionType
from typing import Protocol

import pytest

import anguilla as ag
from anguilla._doors import public

ROOMS = ["", ".fem", ".control", ".describe.gaits", ".sensors", ".shooting", ".identification", ".many", ".files"]


def public_things():
    found = {}
    for room in ROOMS:
        module = import_module("anguilla" + room)
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, FunctionType | type) and thing.__module__.startswith("anguilla."):
                found[f"{thing.__module__}.{name}"] = thing
    return found


THINGS = public_things()
ANY_NAME = {"grid", "sample", "Strains", "contacts", "inverse_kinematics", "write_mesh", "Template", "simulate_batch"}
MADE_BY_READERS = {"Run", "Problem", "RobotFile"}


def made_by_users(kind):
    """Errors, protocols, named tuples and bases without fields have a constructor of Python's own."""
    plain = issubclass(kind, BaseException) or Protocol in kind.__mro__
    return not plain and isinstance(inspect.getattr_static(kind, "__init__"), FunctionType)


@pytest.mark.parametrize("thing", THINGS.values(), ids=THINGS)
def test_an_argument_that_is_not_there_is_named(thing):
    if thing.__name__ in ANY_NAME | MADE_BY_READERS or (isinstance(thing, type) and not made_by_users(thing)):
        return
    with pytest.raises(ag.DescriptionError, match=r"has no argument 'no_such_thing'") as caught:
        thing(no_such_thing=1)
    assert isinstance(caught.value, TypeError)  # as Python's own, for those who catch that


def test_options_that_are_handed_on_are_looked_at_before_the_work():
    with pytest.raises(ag.DescriptionError, match=r"simulate_batch has no argument 'tol'; did you mean 'tolerance'"):
        ag.simulate_batch(ag.Robot("r"), duration=1.0, dt=0.1, count=2, tol=1e-6)


def public_methods():
    kinds = (
        ag.Robot,
        ag.Stepper,
        ag.BatchStepper,
        ag.Trajectory,
        ag.Equilibrium,
        ag.RodHandle,
        ag.Frame,
        ag.fem.SoftBody,
    )
    for kind in kinds:
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_"):
                yield pytest.param(kind, method, id=f"{kind.__name__}.{name}")


@pytest.mark.parametrize(("kind", "method"), list(public_methods()))
def test_methods_name_it_too(kind, method):
    if any(p.kind is p.VAR_KEYWORD for p in inspect.signature(method).parameters.values()):
        return
    with pytest.raises(ag.DescriptionError, match=rf"{kind.__name__}\.{method.__name__} has no argument"):
        method(object.__new__(kind), no_such_thing=1)


@public
def area(width: float, height: float = 1.0, *, twice: bool = False) -> float:
    """Area of a thing.

    Args:
        width: its width [m].
        height: its height [m]; one if not given.
        twice: both sides.

    """
    if width < 0:
        raise TypeError("from within")
    return width * height * (2 if twice else 1)


@pytest.mark.parametrize(
    ("args", "named", "sentence"),
    [
        ((), {}, "area needs width (its width [m])."),
        ((), {"height": 2}, "area needs width (its width [m])."),
        ((1,), {"hight": 2}, "area has no argument 'hight'; did you mean 'height' (its height [m])?"),
        ((1,), {"colour": 2}, "area has no argument 'colour'; its arguments are width, height, twice."),
        (
            (1,),
            {"hight": 2, "colour": 3},
            "area has no arguments 'hight', 'colour'; did you mean 'height' (its height [m])? Its arguments are width, "
            "height, twice.",
        ),
        ((1,), {"width": 2}, "area is given 'width' twice: by its place among the arguments, and by its name."),
        (
            (1, 2, True),
            {},
            "area takes 2 arguments by place (width, height) and was given 3: name the others, such as twice=True.",
        ),
    ],
)
def test_sentences(args, named, sentence):
    with pytest.raises(ag.DescriptionError) as caught:
        area(*args, **named)
    assert str(caught.value) == sentence


def test_what_binds_goes_through_unchanged():
    assert area(2.0, height=3.0) == 6.0
    with pytest.raises(TypeError, match=r"^from within$"):
        area(-1.0)
    with pytest.raises(TypeError, match=r"unsupported operand|not supported"):
        area("a", "b")
    assert str(inspect.signature(area)).startswith("(width: ")
    assert list(inspect.signature(ag.Circle).parameters) == ["radius"]


def test_public_functions_and_objects_are_pickled_and_copied():
    assert pickle.loads(pickle.dumps(ag.statics)) is ag.statics
    section = pickle.loads(pickle.dumps(ag.Circle(0.01)))
    assert copy.deepcopy(section) == section == ag.Circle(0.01)


def test_a_motion_is_pickled_with_its_inputs_as_numbers(held):
    robot = ag.Robot("arm")
    arm = robot.add(held.robot.parts[0].rod, at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008)))
    run = ag.simulate(robot, duration=0.04, dt=0.01, inputs={"pull": lambda t: 10.0 * t})
    again = pickle.loads(pickle.dumps(run))
    assert again.q.tobytes() == run.q.tobytes() and again.a.tobytes() == run.a.tobytes()
    assert again.quality == run.quality and again.tension("pull").tolist() == run.tension("pull").tolist()
    assert again.position(again.robot.part("arm").tip).tobytes() == run.position(arm.tip).tobytes()
    twin = copy.deepcopy(run)
    assert twin.inputs == run.inputs and twin.energy["total"].tolist() == run.energy["total"].tolist()


def test_a_copy_of_a_robot_shares_nothing_with_it(held):
    robot = held.robot
    other = copy.copy(robot)
    other.load(ag.TipWrench(other.parts[0], force=(0, 0, 1)))
    other.parts[0].rod.length = 1.0
    assert not robot.loads and robot.parts[0].length == 0.3 and other.parts[0].robot is other


def test_a_stepper_is_copied_whole(held):
    stepper = ag.Stepper(held.robot, dt=0.01)
    stepper.step()
    twin = copy.deepcopy(stepper)
    stepper.step(3)
    assert twin.t == 0.01 and repr(stepper) == "<stepper of 'arm': at t = 0.04 s, steps of 0.01 s>"
    twin.step(3)
    assert twin.q.tobytes() == stepper.q.tobytes()


def test_tools_say_what_they_are():
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000.0), ag.planar(1)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008)))
    assert repr(ag.control.PID(robot, 0.0, kp=1.0, period=0.01)) == "<PID of pull: every 0.01 s>"
    reach = ag.control.InverseKinematics(ag.control.RodModel(robot, {"tip": arm.tip}))
    assert repr(reach).startswith("<inverse kinematics with <rod model of 'arm'")
    assert repr(ag.BatchStepper(robot, 3, dt=0.01)) == "<3 copies of 'arm': steps of 0.01 s>"
    at_rest = ag.Model(robot).evaluate([0.0], inputs={"pull": 0.0})
    assert repr(at_rest) == "<evaluation of 'arm': 1 coordinate, residual of at most 0>"


def test_attributes_that_are_not_there_are_guessed_at():
    robot = ag.Robot("r")
    with pytest.raises(AttributeError, match=r"Robot has no attribute 'add_rod'; did you mean 'add'\?"):
        robot.add_rod  # noqa: B018
    with pytest.raises(AttributeError, match=r"'remove': parts and loads stay"):
        robot.remove("arm")
    assert not hasattr(robot, "anything") and getattr(robot, "_private", 3) == 3


@pytest.mark.parametrize(
    ("thing", "name", "sentence"),
    [
        ("robot", "simulate", r"anguilla\.simulate\(robot, duration"),
        ("robot", "statics", r"anguilla\.statics\(robot"),
        ("robot", "plot", r"anguilla\.view\(robot\)"),
        ("robot", "tip", r"robot\.part\('arm'\)\.tip"),
        ("robot", "ndof", r"\.size"),
        ("body", "mass", r"\.body\.mass"),
        ("body", "position", r"result\.position\(body\.frame\)"),
        ("arm", "material", r"\.rod\.material\.young"),
        ("arm", "position", r"result\.position\(arm\.tip\)"),
        ("stepper", "state", r"\.q \(coordinates\)"),
        ("stepper", "history", r"\.trajectory\(\)"),
        ("sweep", "save", r"\.to_csv\('table\.csv'\)"),
        ("package", "Motor", r"motion=\.\."),
        ("package", "Gravity", r"Robot\(name, gravity="),
        ("package", "ik", r"control\.inverse_kinematics"),
    ],
)
def test_what_people_look_for_elsewhere_is_named(thing, name, sentence, held):
    arm, other = held.robot.parts[0], ag.Robot("other")
    body = other.add(ag.RigidBody.sphere(0.01, mass=0.01), at=other.ground, joint=ag.Revolute("y"))
    things = {"body": lambda: body,
              "robot": lambda: held.robot, "arm": lambda: arm, "stepper": lambda: ag.Stepper(held.robot, dt=0.01),
              "sweep": lambda: ag.Sweep("job", []), "package": lambda: ag}  # fmt: skip
    with pytest.raises(AttributeError, match=f"'{name}': .*{sentence}"):
        getattr(things[thing](), name)


@pytest.fixture(scope="module")
def held():
    robot = ag.Robot("arm")
    material = ag.Material(young=1e6, density=1000.0)
    robot.add(ag.Rod(0.3, ag.Circle(0.01), material, ag.planar(1)), at=robot.ground, name="arm")
    return ag.statics(robot)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tip", r"Equilibrium has no attribute 'tip': the place of a tip is \.position\(arm\.tip\) \[m\]\."),
        ("backbone", r"\.centerline\(arm\)"),
        ("deflection", r"\.position\(arm\.tip\)"),
        ("to_pandas", r"\.to_xarray\(\)\['q'\]\.to_pandas\(\)"),
        ("plot", r"anguilla\.plot\(result\)"),
        ("converged", r"\.status: success"),
        ("tensions", r"\.tension\(name\)"),
        ("internal_force", r"\.wrench\(arm, X\)"),
        ("animate", r"anguilla\.animate\(result, 'run\.html'\)"),
        ("times", r"are \.t\."),
        ("stable", r"anguilla\.stability\(robot, at=result\)"),
    ],
)
def test_results_say_where_to_find_what_people_expect(name, sentence, held):
    with pytest.raises(AttributeError, match=sentence) as caught:
        getattr(held, name)
    assert type(caught.value).__name__ == "AttributeError"  # what a traceback shows
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is AttributeError and str(again) == str(caught.value)


def test_a_body_says_where_its_frames_are():
    robot = ag.Robot("r")
    body = robot.add(ag.RigidBody.sphere(0.01, mass=0.01), at=robot.ground, joint=ag.Revolute("y"))
    with pytest.raises(AttributeError, match=r"no attribute 'tip': .* body\.at\(\(x, y, z\)\)"):
        body.tip  # noqa: B018


def test_a_reaction_is_of_a_closure_and_a_wrench_of_a_rod(held):
    with pytest.raises(ag.DescriptionError, match=r"it has: none\. .* wrench\(arm, 0\.0\)"):
        held.reaction(held.robot.parts[0])


def test_a_property_that_fails_says_why():
    class Broken(ag.Circle):
        @property
        def half(self):
            return self.no_such_field

    with pytest.raises(AttributeError, match="no_such_field"):
        Broken(0.01).half  # noqa: B018


def test_a_warning_names_the_line_of_the_user():
    with pytest.warns(ag.AnguillaWarning) as told:
        ag.Material(young=0.5, density=1000)
    assert told[0].filename == __file__
