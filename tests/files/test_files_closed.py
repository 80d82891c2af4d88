"""Loops, prescribed motions, muscles, thrusters and constraints in robot files."""

import numpy as np
import pytest
from files_oracles import agree

import anguilla as ag
from anguilla.files import Expression, FileError, read_text_file, robot_text

pytestmark = pytest.mark.skipif(not hasattr(ag.Robot, "close"), reason="needs closures of loops")

STUFF = "{young: 1e6, density: 1000, damping: 0.01}"
ROD = f"{{length: 0.4, section: {{type: circle, radius: 0.01}}, material: {STUFF}, strains: {{type: kirchhoff, modes: 3}}}}"
LOOP = f"""
name: loop
parts:
  left: {{rod: {ROD}, at: ground}}
  right:
    rod: {ROD}
    at: {{frame: ground, position: [0, 0.2, 0]}}
    joint: {{type: revolute, axis: [0, 0, 1], motion: "0.2 * sin(t)"}}
  hand: {{body: {{type: box, size: [0.05, 0.05, 0.05], mass: 0.1}}, at: left.tip, joint: spherical}}
loads:
  - {{type: muscle, part: left, moment: [0, 0, "0.001 * sin(9 * X - t)"], gain: [0, 0, "X", 0, 0, 0]}}
  - {{type: thruster, frame: hand, kp: [0, 0, 0, 1, 1, 1], ki: 0.1, velocity: [0, 0, "0.1 * t"]}}
  - {{type: spring, a: hand, b: "right[0.2]", stiffness: 2, rest: 0.1}}
  - {{type: magnet, where: right, moment: [1, 0, 0], field: [0, 0, "0.001 * t"]}}
closures:
  bar: {{a: left.tip, b: right.tip, joint: {{type: spherical}}, pose: [0, 0.01, 0]}}
"""


def test_everything_that_holds_and_pushes_is_read():
    robot = read_text_file(LOOP).robot
    muscle, thruster, spring, magnet = robot.loads
    np.testing.assert_allclose(muscle.values([0.1], [0.5])[0, 0, 2], 0.001 * np.sin(0.9 - 0.5))
    assert thruster.values([2.0])[0, 8] == pytest.approx(0.2)
    assert spring.b.label == "right[0.2]" and magnet.where is robot.part("right")
    assert robot.part("right").joint.motion(np.pi / 2) == pytest.approx(0.2)
    bar = robot.closures["bar"]
    assert bar.a.label == "left.tip" and isinstance(bar.joint, ag.Spherical)
    np.testing.assert_allclose(np.asarray(bar.pose)[:3, 3], (0, 0.01, 0))


def test_it_reads_back_as_it_was_written():
    robot = read_text_file(LOOP).robot
    text = robot_text(robot)
    again = read_text_file(text).robot
    assert robot_text(again) == text
    agree(robot, again, rtol=0.0)


def test_a_pose_may_move():
    text = LOOP.replace("pose: [0, 0.01, 0]", 'pose: {position: [0, "0.01 * t", 0], axis: [0, 0, 1], angle: t}')
    robot = read_text_file(text).robot
    pose = robot.closures["bar"].pose(0.5)
    np.testing.assert_allclose(pose[:3, 3], (0, 0.005, 0))
    np.testing.assert_allclose(pose[:2, 0], (np.cos(0.5), np.sin(0.5)))
    assert robot_text(read_text_file(robot_text(robot)).robot) == robot_text(robot)


def test_a_closing_joint_with_a_spring_reads_back():
    text = LOOP.replace("joint: {type: spherical}", "joint: {type: revolute, axis: [0, 1, 0], stiffness: 0.1}")
    robot = read_text_file(text).robot
    again = read_text_file(robot_text(robot)).robot
    assert again.coordinates() == robot.coordinates()
    assert robot_text(again) == robot_text(robot)


def test_constraints_and_tendons_by_length(tmp_path):
    text = f"""
parts:
  base: {{body: {{type: box, size: [0.1, 0.1, 0.1], mass: 1}}, at: ground, joint: {{type: planar, normal: [0, 0, 1]}}}}
  arm: {{rod: {ROD}, at: base}}
constraints:
  - {{type: no_slip, frame: base, direction: [0, 1, 0]}}
actuators:
  pull: {{type: tendon, part: arm, routing: {{type: parallel, y: 0.005}}, by: length}}
inputs: {{pull: "0.4 - 0.001 * t"}}
"""
    file = read_text_file(text)
    (constraint,) = file.robot.constraints
    assert constraint.coefficients == (0, 0, 0, 0, 1, 0)
    assert file.robot.actuators["pull"].by == "length" and file.inputs["pull"] == Expression("0.4 - 0.001 * t")
    again = read_text_file(robot_text(file.robot))
    assert again.robot.constraints[0].coefficients == constraint.coefficients
    run = ag.simulate(file.robot, duration=0.1, dt=0.01, inputs=file.inputs)
    loaded = ag.load(run.save(tmp_path / "run.nc"))
    for name in "tqva":
        np.testing.assert_array_equal(getattr(loaded, name), getattr(run, name))
    np.testing.assert_array_equal(loaded.multipliers, run.multipliers)
    np.testing.assert_allclose(loaded.tension("pull"), run.tension("pull"), rtol=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "field", "words"),
    [
        ("a: left.tip", "a: lft.tip", "closures.bar.a", "did you mean 'left'"),
        ("b: right.tip", "c: right.tip", "closures.bar.c", "no such field"),
        ("type: spherical}", "type: free}", "closures.bar", "holds nothing"),
        ("stiffness: 2", "stiffness: -2", "loads[2].stiffness", "zero or positive"),
        ('"0.2 * sin(t)"', '"0.2 * sin(X)"', "parts.right.joint.motion", "no meaning here"),
        ("pose: [0, 0.01, 0]", "pose: [0, 0.01]", "closures.bar.pose", "3 finite numbers"),
    ],
)
def test_mistakes_in_them_are_found(old, new, field, words):
    assert old in LOOP
    with pytest.raises(FileError) as caught:
        read_text_file(LOOP.replace(old, new))
    assert any(p.field.startswith(field) and words in str(p) for p in caught.value.problems), str(caught.value)
