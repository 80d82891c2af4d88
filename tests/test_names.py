"""Names at the top level: what error texts and pages mention is there, and a near miss is told."""

import pytest

import anguilla as ag


@pytest.mark.parametrize("name", ["read_robot", "write_robot", "read_urdf", "Expression", "Table", "Stepper", "view"])
def test_names_of_the_pages_are_there(name):
    assert callable(getattr(ag, name))


def test_every_name_is_found():
    for name in ag.__all__:
        assert getattr(ag, name) is not None


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
