"""Names at the top level: what error texts and pages mention is there, and a near miss is told."""

import inspect
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

import anguilla as ag

SOURCE = Path(ag.__file__).parent


@pytest.mark.parametrize("name", ["read_robot", "write_robot", "read_urdf", "Expression", "Table", "Stepper", "view"])
def test_names_of_the_pages_are_there(name):
    assert callable(getattr(ag, name))


def test_every_name_is_found():
    for name in ag.__all__:
        assert getattr(ag, name) is not None


def test_robot_files_and_commands_know_the_schemes():
    from anguilla.cli.simulate import METHODS
    from anguilla.files.read import CHOICES
    from anguilla.solve.steps.schemes import NAMES

    assert CHOICES["method"] == tuple(NAMES) == tuple(METHODS.split(", "))


def test_completion_offers_the_rooms():
    assert {"control", "fem", "gaits", "shooting", "view"} <= set(dir(ag))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("linearize", "linearise"), ("Kirchhoff", "kirchhoff"), ("generalized_alpha", "GeneralisedAlpha")],
)
def test_a_near_miss_is_told(wrong, right):
    with pytest.raises(AttributeError, match=f"did you mean '{right}'"):
        getattr(ag, wrong)


def test_what_is_like_nothing_stays_plain():
    with pytest.raises(AttributeError, match=r"no attribute 'xyz'$"):
        _ = ag.xyz


def test_load_names_what_reads_a_robot(tmp_path):
    with pytest.raises(ag.DescriptionError, match=r"ag\.read_robot reads it"):
        ag.load(tmp_path / "arm.yaml")


NAMESPACES = (ag.joints, ag.strains, ag.routings, ag.loads)


@pytest.mark.parametrize("room", NAMESPACES, ids=lambda room: room.__name__)
def test_names_of_small_namespaces_are_those_of_the_package(room):
    for name in room.__all__:
        assert getattr(room, name) is getattr(ag, name)


def test_names_that_differ_in_case_alone_are_kept_apart():
    """A function may return what it is named after (`modes` gives Modes); other pairs stand in different namespaces."""
    by_small = defaultdict(set)
    for name in ag.__all__:
        by_small[name.lower()].add(name)
    for pair in (names for names in by_small.values() if len(names) > 1):
        large, small = sorted(pair)
        if large not in str(inspect.signature(getattr(ag, small)).return_annotation):
            homes = {name: [room for room in NAMESPACES if name in room.__all__] for name in pair}
            assert homes[large] and homes[large] != homes[small], pair


def test_no_room_gives_a_public_class_of_the_package_another_meaning():
    """Volumes, shooting and plain algorithms have namespaces of their own; inside the library a name means one thing."""
    apart = {"fem", "reference", "shooting", "control", "env", "view", "cli"}
    defined = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0]
        if room not in apart:
            for name in re.findall(r"^class ([^\W_]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
                defined[name].add(path.relative_to(SOURCE).as_posix())
    twice = {name: places for name, places in defined.items() if len(places) > 1}
    assert not twice


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("anguilla.solve.checkpoint", "anguilla.solve.steps.checkpoint"),
        ("anguilla.solve.shooting", "anguilla.shooting"),
        ("anguilla.describe.files", "anguilla.files"),
    ],
)
def test_a_module_is_found_at_its_old_place_too(old, new):
    assert import_module(old) is import_module(new)
    assert import_module(new).__spec__.name == new


def test_results_are_found_where_they_were():
    from anguilla.results import Equilibrium, Trajectory

    assert (Equilibrium, Trajectory) == (ag.Equilibrium, ag.Trajectory)
