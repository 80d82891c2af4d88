"""The rod: stiffness, inertia, mass, breakpoints, checks and warnings."""

import copy
import math

import numpy as np
import pytest

from anguilla.describe import (
    Circle,
    GeneralSection,
    Helix,
    Material,
    PiecewiseConstant,
    Rectangle,
    RestFunction,
    Rod,
    Straight,
    Strains,
    Tapered,
    kirchhoff,
    taper,
)
from anguilla.errors import AnguillaWarning, DescriptionError

RUBBER = Material(young=1e6, poisson=0.5, density=1000.0)


def make(**changes):
    fields = {"length": 0.5, "section": Circle(0.01), "material": RUBBER, "strains": kirchhoff(3), **changes}
    return Rod(**fields)


def test_hooke_and_inertia_in_the_order_of_the_strains():
    section = GeneralSection(1e-4, 2e-10, 3e-10, 4e-10, polar=6e-10, shear_y=0.8, shear_z=0.9)
    rod = make(section=section, material=Material(young=3e6, poisson=0.5, density=1000.0))
    hooke, inertia = rod.hooke([0.0, 0.5]), rod.inertia([0.0, 0.5])
    assert hooke.shape == inertia.shape == (2, 6)
    np.testing.assert_allclose(hooke[1], [4e-4, 6e-4, 9e-4, 300, 80, 90])
    np.testing.assert_allclose(inertia[1], [6e-7, 2e-7, 3e-7, 0.1, 0.1, 0.1])


def test_a_flat_strip_is_softer_about_its_wide_axis():
    _, about_y, about_z, *_ = make(section=Rectangle(size_y=0.02, size_z=0.002)).hooke(0.0)[0]
    assert about_z == pytest.approx(100 * about_y)


def test_mass_of_a_cylinder_a_cone_and_a_stepped_rod():
    assert make().mass == pytest.approx(1000 * np.pi * 0.01**2 * 0.5)
    cone = make(section=taper(Circle(0.02), Circle(0.01), 0.5))
    assert cone.mass == pytest.approx(1000 * np.pi * 0.5 / 3 * (0.02**2 + 0.02 * 0.01 + 0.01**2))
    stepped = make(section=Tapered(lambda X: Circle(0.02 if X < 0.1 else 0.01), breakpoints=[0.1]))
    assert stepped.mass == pytest.approx(1000 * np.pi * (0.02**2 * 0.1 + 0.01**2 * 0.4))


def test_breakpoints_are_gathered_sorted_and_merged():
    rod = make(
        strains=Strains(bend_y=PiecewiseConstant(5), bend_z=PiecewiseConstant([0.5])),
        section=Tapered(lambda X: Circle(0.01), breakpoints=[0.3, 0.35, 0.7]),
        rest=RestFunction(lambda X: (0, 0, 1), breakpoints=[0.05, 0.1 + 1e-14, 0.5 - 1e-14]),
    )
    np.testing.assert_allclose(rod.breakpoints, [0.05, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4])
    assert make().breakpoints == ()
    assert make(section=taper(Circle(0.02), Circle(0.01), 0.5)).breakpoints == ()


def test_size_defaults_and_copies():
    rod = make(intervals=4, name="arm")
    assert rod.size == 9 and rod.rest == Straight()
    assert copy.deepcopy(rod) == rod
    rod.length = 1
    assert rod.length == 1.0
    with pytest.raises(DescriptionError, match=r"Rod\.length"):
        rod.length = -1


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"length": 0}, "Rod.length must be a positive number [m]; got 0."),
        ({"section": 0.01}, "Rod.section must be a cross-section such as Circle(radius); got 0.01."),
        ({"material": 1e6}, "Rod.material must be a Material(young, density, ...); got 1000000.0."),
        ({"strains": 4}, "Rod.strains must be a Strains such as kirchhoff(modes=4); got 4."),
        ({"rest": None}, "Rod.rest must be a rest shape"),
        ({"rest": Helix}, "Rod.rest must be a rest shape"),
        ({"intervals": 0}, "Rod.intervals must be an integer of at least 1; got 0."),
        ({"intervals": 2.0}, "Rod.intervals must be an integer"),
        (
            {"intervals": 3, "strains": Strains(bend_z=PiecewiseConstant(4))},
            "Rod.intervals must be at least 4, one per",
        ),
        ({"name": "2nd"}, "Rod.name must be a name of letters"),
        ({"name": "a.b"}, "Rod.name must be a name of letters"),
        ({"section": Tapered(lambda X: None)}, "Tapered.function(X = 0 m) must be a cross-section"),
        ({"section": taper(Circle(1e-3), Circle(1e-3), 1), "rest": RestFunction(lambda X: 1)}, "RestFunction.function"),
    ],
)
def test_bad_rods(changes, text):
    with pytest.raises(DescriptionError) as caught:
        make(**changes)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"length": 0.03}, "Rod.length = 0.03 m is 1.5 times the thickness of its section: is the length in metres?"),
        ({"length": 5000}, "Rod.length = 5000 m is 2.5e+05 times the thickness"),
    ],
)
def test_strange_slenderness_warns_at_the_line_of_the_user(changes, text):
    with pytest.warns(AnguillaWarning) as caught:
        Rod(**{"length": 1, "section": Circle(0.01), "material": RUBBER, "strains": kirchhoff(1), **changes})
    assert len(caught) == 1 and text in str(caught[0].message)
    assert caught[0].filename == __file__


def test_a_common_rod_does_not_warn():
    assert math.isfinite(make(length=0.05).mass)
