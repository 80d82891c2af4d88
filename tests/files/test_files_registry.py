"""A new description is known to files as soon as it is exported, with no line of registration."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import anguilla as ag
from anguilla import describe, interact
from anguilla.describe.signals import Signal
from anguilla.files import FileError, read_text_file, registry, robot_schema, robot_text


@dataclass(eq=False)
class SoftMagnet(ag.Load):
    """A load that somebody adds.

    Attributes:
        where: a frame.
        strength: how strong [A m^2].
        field: the field [T], a 3-vector or a function of t.
        motion: anything, for each.

    """

    where: ag.Frame
    strength: float
    field: Signal = (0.0, 0.0, 0.0)
    gain: ArrayLike | Callable[[float], ArrayLike] = 1.0
    motion: Any = None
    name: str | None = None

    label = "a magnet"

    @property
    def frames(self):
        return (self.where,)


@pytest.fixture
def known(monkeypatch):
    def forget():
        for cached in (registry.makers, registry.candidates):
            cached.cache_clear()

    monkeypatch.setattr(describe, "SoftMagnet", SoftMagnet, raising=False)
    monkeypatch.setattr(describe, "__all__", [*describe.__all__, "SoftMagnet"])
    forget()
    yield
    monkeypatch.undo()
    forget()


FILE = """
parts:
  arm:
    rod: {length: 0.4, section: {type: circle, radius: 0.01}, material: {young: 1e6, density: 1000}, strains: {bend_z: 2}}
    at: ground
loads:
  - {type: soft_magnet, where: "arm[0.1]", strength: 3, field: [0, 0, sin(t)], motion: [1, null, 2 * t]}
"""


def test_a_new_load_is_read_written_and_in_the_schema(known):
    robot = read_text_file(FILE).robot
    (load,) = robot.loads
    assert isinstance(load, SoftMagnet) and load.strength == 3 and load.where.X == 0.1
    assert load.field(np.pi / 2)[2] == 1.0
    assert load.motion[0] == 1 and load.motion[1] is None and load.motion[2](4.0) == 8.0
    again = read_text_file(robot_text(robot)).robot.loads[0]
    assert again.field == load.field and again.motion == load.motion and again.where.label == load.where.label
    assert robot_schema()["$defs"]["soft_magnet.soft_magnet"]["properties"]["strength"]["x-unit"] == "A m^2"


def test_its_mistakes_are_found_like_all_others(known):
    with pytest.raises(FileError) as caught:
        read_text_file(FILE.replace("strength", "strenght"))
    assert "did you mean 'strength'" in str(caught.value)


def test_without_it_the_type_is_unknown():
    with pytest.raises(FileError, match="soft_magnet"):
        read_text_file(FILE)


def test_every_public_description_is_known_or_left_out_on_purpose():
    known = {maker.make for maker in registry.makers()}
    for name in (*describe.__all__, *interact.__all__):
        thing = getattr(describe, name, None) or getattr(interact, name)
        if callable(thing) and name not in registry.NOT_IN_FILES | registry.BASES:
            assert thing in known or not vars(thing).get("in_files", True), name


def test_every_field_of_every_type_takes_something():
    for maker in registry.makers():
        for name, field in maker.fields.items():
            assert field.form != registry.Form(), f"{maker.name}.{name}"


@pytest.mark.parametrize(("axis", "vector"), [("z", (0, 0, 1)), ("-y", (0, -1, 0)), ("[0, 2, 0]", (0, 1, 0))])
def test_axes_go_by_their_names(tmp_path, axis, vector):
    text = "name: hinge\nparts:\n  hand:\n    body: {type: sphere, radius: 0.02, mass: 0.05}\n    at: ground\n"
    (tmp_path / "hinge.yaml").write_text(text + f"    joint: {{type: revolute, axis: {axis}}}\n")
    assert np.array_equal(ag.read_robot(tmp_path / "hinge.yaml").parts[0].joint.axis, vector)
