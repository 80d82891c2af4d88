"""Contact in robot files and on the command line: by all its names, and its forces are told."""

import json

import numpy as np
import pytest

import anguilla as ag
from anguilla.cli import main

SEAT = """
anguilla: 1
name: seat
define:
  stiff: {type: material, young: 1e7, density: 1000, damping: 0.05}
parts:
  bar:
    rod: {length: 0.3, section: {type: circle, radius: 0.01}, material: stiff, strains: {type: kirchhoff, modes: 2}}
    at: ground
  ball:
    body: {type: sphere, radius: 0.03, mass: 0.05}
    at: ground
    joint: {type: prismatic, axis: [0, 0, 1]}
    pose: [0.15, 0, 0.0405]
loads:
  touch: {type: part_contact, a: bar, b: ball, friction: 0.5, damping: 1.0}
  itself: {type: self_contact, rod: bar, friction: 0.2}
  floor: {type: contact, where: bar.tip, obstacle: {type: half_space, offset: -0.02}, stiffness: 1e4, radius: 0.01}
simulate: {duration: 0.02, dt: 0.002}
"""


@pytest.fixture
def seat(tmp_path):
    path = tmp_path / "seat.yaml"
    path.write_text(SEAT)
    return path


def test_contacts_are_read_and_written(seat, tmp_path):
    robot = ag.read_robot(seat)
    touch, itself, floor = robot.loads
    assert touch.a.name == "bar" and touch.b.name == "ball" and touch.friction == 0.5
    assert itself.a is itself.b and itself.meets and floor.touches
    ag.write_robot(robot, tmp_path / "again.yaml")
    again = ag.read_robot(tmp_path / "again.yaml")
    assert [type(load) for load in again.loads] == [type(load) for load in robot.loads]
    assert again.loads[1].a is again.loads[1].b and again.loads[1].friction == 0.2


def test_forces_of_contacts_are_told(seat, capsys):
    """The bar carries the ball; a machine is told the same as people."""
    assert main(["statics", str(seat), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(facts["contacts"]["touch"][2], 0.05 * 9.81, rtol=1e-6)
    assert facts["contacts"]["itself"] == [0.0, 0.0, 0.0]
    assert main(["simulate", str(seat)]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in ("touch", "itself", "floor"):
        assert any(line.split()[:2] == [name, "pushes"] for line in lines), lines
