"""What a user reads when a file is wrong, and what may be said in a file."""

import json
import math
import warnings

import numpy as np
import pytest
from disks import full_disk
from files_oracles import agree

import anguilla as ag
from anguilla.files import (
    Expression,
    FileError,
    Table,
    Template,
    read_file,
    read_robot,
    read_text_file,
    robot_schema,
    robot_text,
    write_robot,
)
from anguilla.lie import rotation

GOOD = """
name: arm
parameters:
  L: {default: 0.4, unit: m, min: 0.1, max: 1}
  half: L / 2
define:
  rubber: {type: material, young: 1e6, density: 1000}
parts:
  arm:
    rod: {length: L, section: {type: circle, radius: 0.01}, material: rubber, strains: {type: kirchhoff, modes: 3}}
    at: ground
  hand: {body: {type: sphere, radius: 0.02, mass: 0.1}, at: arm.tip, joint: spherical}
loads:
  weight: {type: wrench, frame: "arm[half]", force: [0, 0, -1]}
actuators:
  pull: {type: tendon, part: arm, routing: {type: parallel, y: 0.005}}
inputs: {pull: 3 * t}
"""


def problems(text, **options):
    with pytest.raises(FileError) as caught:
        read_text_file(text, name="arm.yaml", **options)
    return caught.value.problems


def one(text):
    (found,) = problems(text)
    return found


def test_the_good_file_is_good():
    file = read_text_file(GOOD)
    assert file.robot.part("arm").length == 0.4
    assert file.robot.loads[0].frame.X == 0.2 and file.robot.loads[0].name == "weight"
    assert isinstance(file.robot.part("hand").joint, ag.Spherical)
    assert file.inputs["pull"](2.0) == 6.0


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "words"),
    [
        ("young: 1e6", "young: -1e6", 7, "define.rubber.young", "Material.young must be a positive number [Pa]"),
        ("young: 1e6", "yuong: 1e6", 7, "define.rubber.yuong", "did you mean 'young'?"),
        ("density: 1000", "density: [1, 2]", 7, "define.rubber.density", "Material.density must be a positive number"),
        ("length: L,", "length: LL,", 10, "parts.arm.rod.length", "unknown name 'LL' (did you mean 'L'?)"),
        ("type: circle", "type: cirlce", 10, "parts.arm.rod.section.type", "did you mean 'circle'?"),
        ("material: rubber", "material: ruber", 10, "parts.arm.rod.material", "did you mean 'rubber'?"),
        ("modes: 3", "modes: 2.5", 10, "parts.arm.rod.strains.modes", "whole number"),
        ("at: ground", "att: ground", 11, "parts.arm.att", "did you mean 'at'?"),
        ("at: arm.tip", "at: arm", 12, "parts.hand.at", "arm.root, arm.tip"),
        ("at: arm.tip", "at: arn.tip", 12, "parts.hand.at", "did you mean 'arm'?"),
        ("joint: spherical", "joint: sphericall", 12, "parts.hand.joint", "did you mean 'spherical'?"),
        ("arm[half]", "arm[2 * L]", 14, "loads.weight.frame", "between 0 and the length 0.4"),
        ("[0, 0, -1]", "[0, 0]", 14, "loads.weight.force", "vector of 3 finite numbers"),
        ("[0, 0, -1]", '[0, 0, "X"]', 14, "loads.weight.force", "uses X, which has no meaning here"),
        ("part: arm", "part: hand", 16, "actuators.pull.part", "a rod of the robot"),
        ("part: arm", "part: amr", 16, "actuators.pull.part", "did you mean 'arm'?"),
        ("pull: 3 * t", "pul: 3 * t", 17, "inputs.pul", "did you mean 'pull'?"),
        ("pull: 3 * t", "pull: 3 * time", 17, "inputs.pull", "unknown name 'time'"),
        ("pull: 3 * t", "pull: -1", 17, "inputs.pull", "a tendon cannot push"),
        ("name: arm", "nmae: arm", 2, "nmae", "did you mean 'name'?"),
        ("default: 0.4", "default: 4", 4, "parameters.L", "between 0.1 and 1"),
    ],
)  # fmt: skip
def test_a_mistake_is_found_where_it_is(old, new, line, field, words):
    assert old in GOOD
    found = [p for p in problems(GOOD.replace(old, new, 1)) if p.field.startswith(field)]
    assert found, problems(GOOD.replace(old, new, 1))
    assert found[0].line == line and found[0].file == "arm.yaml"
    assert words in str(found[0])


@pytest.mark.parametrize(
    ("settings", "field", "words"),
    [
        ("simulate: {duration: -1}", "simulate.duration", "duration must be a positive number [s]"),
        ("simulate: {duration: 1, dt: 0}", "simulate.dt", "dt must be a positive number"),
        ("simulate: {duration: 1, dt: 0.3}", "simulate.dt", "a whole number of steps"),
        ("simulate: {duration: 1, dt: 0.1, every: 3}", "simulate.every", "every must divide the number of steps, 10"),
        ("simulate: {duration: 1, dt: 0.1, every: 0}", "simulate.every", "every must be an integer of at least 1"),
        ("simulate: {error: 0}", "simulate.error", "error must be a positive number"),
        ("statics: {tolerance: -1}", "statics.tolerance", "tolerance must be a positive number"),
        ("statics: {iterations: 0}", "statics.iterations", "iterations must be an integer of at least 1"),
    ],
)
def test_settings_that_solvers_refuse_are_found(settings, field, words):
    found = one(GOOD + settings + "\n")
    assert found.field == field and found.line == 18 and words in str(found)


def test_settings_that_solvers_take_pass():
    file = read_text_file(
        GOOD + "simulate: {duration: L, dt: L / 40, every: 4, error: null}\nstatics: {tolerance: 1e-9}\n"
    )
    assert file.simulate["every"] == 4 and file.statics == {"tolerance": 1e-9}


def test_all_mistakes_come_at_once():
    text = (
        GOOD.replace("young: 1e6", "young: -1")
        .replace("density: 1000", "density: 0")
        .replace("radius: 0.01", "radius: x")
    )
    text = text.replace("part: arm", "part: leg")
    assert {p.field for p in problems(text)} == {
        "define.rubber.young", "define.rubber.density", "parts.arm.rod.section.radius", "actuators.pull.part",
    }  # fmt: skip


def test_one_mistake_gives_one_problem():
    # the parts that need the bad material are not blamed
    assert one(GOOD.replace("young: 1e6", "young: -1")).field == "define.rubber.young"


def test_problems_are_in_the_order_of_the_file_and_readable_by_machines():
    found = problems(GOOD.replace("young: 1e6", "young: -1").replace("pull: 3", "pul: 3"))
    assert [p.line for p in found] == sorted(p.line for p in found)
    assert set(found[0].as_dict()) == {"file", "line", "column", "field", "message", "suggestion"}


def test_parts_may_come_in_any_order_and_circles_are_found():
    text = """
parts:
  hand: {body: {type: point_mass, mass: 1}, at: arm.tip}
  arm:
    rod: {length: 1, section: {type: circle, radius: 0.01}, material: {young: 1e6, density: 1000}, strains: {bend_z: 2}}
    at: ground
"""
    assert [part.name for part in read_text_file(text).robot.parts] == ["arm", "hand"]
    assert {p.field for p in problems(text.replace("at: ground", "at: hand"))} == {"parts.hand.at", "parts.arm.at"}


def test_warnings_have_their_place(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(GOOD.replace("young: 1e6", "young: 1e15"))
    with pytest.warns(ag.AnguillaWarning, match=r"arm\.yaml:7:.*is it in pascals"):
        read_robot(path)


# parameters and includes ----------------------------------------------------------------------------------------------


def test_parameters_replace_defaults():
    file = read_text_file(GOOD, parameters={"L": 0.8})
    assert file.robot.part("arm").length == 0.8 and file.robot.loads[0].frame.X == 0.4
    assert file.parameters["L"].unit == "m" and file.parameters["L"].default == 0.4
    assert "did you mean 'half'" in str(problems(GOOD, parameters={"hlaf": 1})[0])
    assert "between 0.1 and 1" in str(problems(GOOD, parameters={"L": 2})[0])


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("{default: 45, unit: deg}", "default: 0.785398, unit: rad"),
        ("{default: 5, unit: kPa}", "default: 5000, unit: Pa"),
        ("{default: 1.2, unit: g/cm^3}", "default: 1200, unit: kg/m^3"),
        ("{default: 7, unit: N mm}", "default: 0.007, unit: N m"),
    ],
)
def test_units_that_are_not_si_are_refused(given, right):
    (found,) = problems(GOOD.replace("parameters:", f"parameters:\n  a: {given}"))
    assert found.field == "parameters.a.unit" and found.line == 4 and right in found.suggestion


@pytest.mark.parametrize("name", ["X", "t", "pi", "sin", "2a"])
def test_parameters_cannot_take_names_of_formulas(name):
    assert "cannot be used" in problems(GOOD.replace("parameters:", f"parameters:\n  {name}: 1"))[0].message


def test_includes(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "stuff.yaml").write_text("define:\n  rubber: {type: material, young: 1, density: 1}\n")
    main = tmp_path / "arm.yaml"
    main.write_text("include: [sub/stuff.yaml]\n" + GOOD)
    assert read_file(main).robot.part("arm").rod.material.young == 1e6  # the including file wins
    main.write_text("include: [sub/stuff.yaml, ../nothing.yaml, /etc/passwd]\n" + GOOD)
    with pytest.raises(FileError) as caught:
        read_file(main)
    assert [p.field for p in caught.value.problems] == ["include[1]", "include[2]"]
    (tmp_path / "sub" / "stuff.yaml").write_text("include: ../arm.yaml\n")
    main.write_text("include: sub/stuff.yaml\n" + GOOD)
    with pytest.raises(FileError, match="includes itself"):
        read_file(main)


# formulas -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 ** 2", 19.0),
        ("-2 ** 2", -4.0),
        ("7 % 4", 3.0),
        ("atan2(1, 1)", math.pi / 4),
        ("clip(5, 0, 1) + sign(-3)", 0.0),
        ("1 if 2 < 3 <= 3 and not 1 > 2 else 0", 1.0),
        ("min(3, 1, 2)", 1.0),
        ("(1, 2 * 3)", (1.0, 6.0)),
    ],
)
def test_formulas_have_their_values(text, value):
    assert Expression(text)() == value


def test_formulas_are_functions_of_what_they_use():
    assert Expression("X * t").arguments == ("X", "t") and Expression("X * t")(2, 3) == 6.0
    assert Expression(["t", 1, "2 * t"])(3) == (3.0, 1.0, 6.0)
    assert Expression("a * t", names={"a": 0.1}).text == "0.1 * t"
    assert Expression(Expression("a * t", names={"a": 0.1}).text) == Expression("0.1 * t")


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "t.real", "[x for x in (1, 2)]", "lambda: 1", "t[0]", "open('f')", "'a'", "sin(*t)", "sin(x=1)",
     "1j", "f'{t}'", "(t := 1)", "1 // 2", "1 << 2", "sin", "eval('1')", "t if", "", "sin()", "1e999"],
)  # fmt: skip
def test_everything_else_is_refused(text):
    with pytest.raises(ag.DescriptionError):
        Expression(text)


@pytest.mark.parametrize("text", ["1 / t", "sqrt(t - 1)", "(t - 1) ** 0.5", "exp(1e6 + t)", "9.0 ** 9 ** (9 + t)"])
def test_a_formula_without_a_value_says_where(text):
    with pytest.raises(ag.DescriptionError, match=r"no value at t = 0"):
        Expression(text)(0.0)


def test_tables_interpolate():
    table = Table([[0, 0], [2, 4]], t=[0, 1])
    np.testing.assert_array_equal(table(0.25), [0.5, 1.0])
    np.testing.assert_array_equal(table(-1), [0, 0])
    np.testing.assert_array_equal(table(9), [2, 4])
    plane = Table([[0, 1], [10, 11]], t=[0, 1], X=[0, 2])  # 10 t + X / 2
    assert plane.arguments == ("X", "t") and plane(1.0, 0.5) == pytest.approx(5.5, abs=1e-15)
    with pytest.raises(ag.DescriptionError, match="increasing"):
        Table([1, 2], t=[1, 0])
    with pytest.raises(ag.DescriptionError, match="3 entries"):
        Table([1, 2], t=[1, 2, 3])


# writing --------------------------------------------------------------------------------------------------------------


def everything():
    """A robot with one of nearly everything."""
    rubber = ag.Material(young=1e6, density=1000, shear=3e5, damping=0.01)
    robot = ag.Robot("all", gravity=Expression(["0", "sin(t)", "-9.81"]))
    base = robot.add(ag.RigidBody.box((0.1, 0.2, 0.3), mass=2.0), at=robot.ground, joint=ag.Free(), name="base")
    rods = {
        "tapered": ag.taper(ag.Rectangle(0.02, 0.01), ag.Rectangle(0.01, 0.01), 0.3),
        "formula": ag.Tapered(Template("tube", outer="0.02 - 0.03 * X", inner=0.005), (0.2,)),
        "general": ag.GeneralSection(1e-4, 1e-9, 2e-9, 3e-9, width=0.02),
        "oval": ag.Ellipse(0.02, 0.01),
    }
    bases = [ag.Legendre(3), ag.FreeTip(2), ag.PiecewisePolynomial((0.3, 0.6), 2), ag.PiecewiseConstant(3)]
    rests = [
        ag.Helix(0.1, 0.05),
        ag.ConstantCurvature(bend_z=2.0),
        ag.RestFunction(Expression(["X", "0", "1 - X"])),
        ag.Straight(),
    ]
    joints = [ag.Revolute((0, 1, 1), stiffness=3, rest=0.1), ag.Universal((0, 1, 0), (0, 0, 1), damping=(1, 2)),
              ag.Planar((0, 0, 1), effort=Expression(["t", "0", "1"])), ag.Helical((1, 0, 0), 0.01)]  # fmt: skip
    pose = np.eye(4)
    pose[:3, :3] = rotation((1.0, 2.0, 3.0), 0.7)
    pose[:3, 3] = 0.1, 0.2, 0.3
    handles = []
    for (name, section), basis, rest, joint in zip(rods.items(), bases, rests, joints, strict=True):
        strains = ag.Strains(bend_y=basis, stretch=2)
        rod = ag.Rod(0.3, section, rubber, strains, rest=rest)
        handles.append(robot.add(rod, at=base.at(pose), pose=pose, joint=joint, name=name))
    own = ag.Strains(bend_z=ag.FunctionBasis([Expression("x"), Expression("sin(pi * x)")]))
    last = robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber, own), at=handles[0].section(0.1), name="own")
    more = robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.kirchhoff(2)), at=last.tip, name="more")
    robot.actuate("a", ag.Tendon((last, more), (ag.parallel(y=0.003), ag.helical(0.003, 0.1)), span=(0.0, 0.2)))
    robot.actuate("b", ag.Chamber(more, ag.FunctionRouting(function=Expression(["0.003 * cos(X)", "0"])), area=2e-5))
    robot.load(ag.Wrench(base.at((0, 0, 0.1)), force=Expression(["t", "1", "0"]), follower=True, name="push"))
    robot.load(ag.DistributedWrench(more, force=Expression(["X * t", "0", "0"]), moment=(0, 1, 0)))
    robot.load(ag.TipWrench(more, moment=Table([[0, 0, 0], [1, 2, 3]], t=[0, 1])))
    return robot


def test_everything_reads_back(tmp_path):
    robot = everything()
    path = write_robot(robot, tmp_path / "all.yaml", inputs={"a": 3.0, "b": Expression("t")})
    again = read_file(path)
    agree(again.robot, robot, rtol=0.0)
    assert again.inputs == {"a": 3.0, "b": Expression("t")}
    assert robot_text(again.robot) == robot_text(robot)


def test_functions_in_python_are_refused_or_sampled(tmp_path):
    robot = ag.Robot("f")
    rod = ag.Rod(0.4, ag.Circle(0.01), ag.Material(1e6, 1000), ag.kirchhoff(2))
    arm = robot.add(rod, at=robot.ground, name="arm")
    robot.load(ag.TipWrench(arm, force=lambda t: (0, 0, 2 * t)))
    with pytest.raises(ag.DescriptionError, match=r"loads\[0\]\.force is a function written in Python.*Expression"):
        write_robot(robot, tmp_path / "f.yaml")
    assert not list(tmp_path.iterdir())
    again = read_text_file(robot_text(robot, times=np.linspace(0, 1, 11))).robot
    np.testing.assert_allclose(again.loads[0].values([0.33]), [[0, 0, 0, 0, 0, 0.66]], atol=1e-15)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"simulate": {"duraton": 1}}, "simulate.duraton: there is no such setting.*did you mean 'duration'"),
        ({"simulate": {"duration": 1, "dt": 0.3}}, "simulate.dt: .*whole number of steps"),
        ({"inputs": {"pul": 1}}, "inputs.pul: there is no such input.*did you mean 'pull'"),
        ({"inputs": {"pull": -1}}, "inputs.pull: .*cannot push"),
    ],
)
def test_what_could_not_be_read_is_not_written(given, words, tmp_path):
    with pytest.raises(FileError, match=words):
        write_robot(read_text_file(GOOD).robot, tmp_path / "arm.yaml", **given)
    assert not list(tmp_path.iterdir())


def test_the_schema_names_units_and_defaults():
    schema = robot_schema()
    json.dumps(schema)
    rod = schema["$defs"]["rod.rod"]
    assert rod["properties"]["length"]["x-unit"] == "m" and "length" in rod["required"]
    assert schema["$defs"]["material.material"]["properties"]["damping"]["default"] == 0.0
    names = {option.get("$ref") for option in schema["$defs"]["joint"]["anyOf"]}
    assert "#/$defs/revolute.revolute" in names


def test_the_schema_accepts_the_examples():
    jsonschema = pytest.importorskip("jsonschema")
    from pathlib import Path

    from anguilla.files.text import parse_text

    validator = jsonschema.Draft202012Validator(robot_schema())
    for path in (Path(__file__).parents[2] / "examples" / "robots").glob("*.yaml"):
        errors = list(validator.iter_errors(parse_text(path.read_text(), path.name).plain))
        assert not errors, (path.name, errors[0].message)
    bad = {"parts": {"arm": {"rod": {"length": 1}, "at": "ground"}}}
    assert list(validator.iter_errors(bad))


def test_reading_warns_of_nothing_by_itself():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_text_file(GOOD)


@pytest.mark.parametrize(
    ("text", "words"),
    [("0.3^2", "** for powers"), ("30 cm", "units are not written, all are SI"), ("2 pi t", "is not a formula")],
)
def test_formulas_as_people_write_them(text, words):
    with pytest.raises(ag.DescriptionError) as caught:
        ag.Expression(text)
    assert words in str(caught.value) and "?." not in str(caught.value)


def test_a_full_disk_leaves_the_robot_file_that_was_there(tmp_path):
    path = write_robot(read_text_file(GOOD).robot, tmp_path / "arm.yaml")
    before = path.read_bytes()
    with full_disk(10), pytest.raises(ag.AnguillaError, match=r"arm\.yaml' could not be written \(File too large\)"):
        write_robot(read_text_file(GOOD).robot, path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
