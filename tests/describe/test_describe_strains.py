"""Strains and their presets."""

import pytest

import anguilla as ag
from anguilla.describe import (
    STRAIN_NAMES,
    Chebyshev,
    FreeTip,
    Legendre,
    PiecewiseConstant,
    Strains,
    extensible_kirchhoff,
    kirchhoff,
    planar,
    reissner,
)
from anguilla.errors import DescriptionError


def sizes(strains):
    return {name: basis.size for name, basis in strains.items()}


def test_items_come_in_canonical_order_whatever_the_order_given():
    strains = Strains(shear_z=1, bend_z=Chebyshev(2), twist=3)
    assert strains.names == ("twist", "bend_z", "shear_z")
    assert strains.items() == [("twist", Legendre(3)), ("bend_z", Chebyshev(2)), ("shear_z", Legendre(1))]
    assert strains.size == 6
    assert "twist" in strains and "bend_y" not in strains
    assert strains["bend_z"] == Chebyshev(2)


def test_zero_modes_means_absent():
    assert Strains(twist=0, bend_z=2) == Strains(bend_z=2)


def test_breakpoints_are_those_of_all_bases():
    strains = Strains(twist=PiecewiseConstant(2), bend_y=PiecewiseConstant([0.2, 0.5]), bend_z=3)
    assert strains.breakpoints == (0.2, 0.5)


def test_presets():
    assert sizes(kirchhoff(4)) == {"twist": 4, "bend_y": 4, "bend_z": 4}
    assert sizes(kirchhoff(4, twist_modes=1)) == {"twist": 1, "bend_y": 4, "bend_z": 4}
    assert sizes(kirchhoff(4, twist_modes=0)) == {"bend_y": 4, "bend_z": 4}
    assert sizes(extensible_kirchhoff(3, stretch_modes=1)) == {"twist": 3, "bend_y": 3, "bend_z": 3, "stretch": 1}
    assert sizes(extensible_kirchhoff(3))["stretch"] == 3
    assert sizes(reissner(2)) == dict.fromkeys(STRAIN_NAMES, 2)
    assert sizes(reissner(3, twist_modes=4, stretch_modes=1, shear_modes=2)) == {
        "twist": 4,
        "bend_y": 3,
        "bend_z": 3,
        "stretch": 1,
        "shear_y": 2,
        "shear_z": 2,
    }
    assert sizes(planar(3)) == {"bend_z": 3}
    assert sizes(planar(3, stretch_modes=2, shear_modes=1)) == {"bend_z": 3, "stretch": 2, "shear_y": 1}


def test_presets_take_a_kind_of_basis():
    assert kirchhoff(2, basis="free_tip")["bend_y"] == FreeTip(2)
    assert planar(2, "chebyshev")["bend_z"] == Chebyshev(2)
    assert reissner(2, PiecewiseConstant)["shear_z"] == PiecewiseConstant(2)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Strains(), "at least one strain"),
        (lambda: Strains(twist=0), "at least one strain"),
        (lambda: Strains(bendz=2), "no strain 'bendz' (did you mean 'bend_z'?); the six strains are twist, bend_y"),
        (lambda: Strains(q=2), "shear_y, shear_z"),
        (lambda: Strains(twist=-1), "Strains.twist must be a Basis or a number of Legendre modes; got -1."),
        (lambda: Strains(stretch="legendre"), "Strains.stretch must be"),
        (lambda: Strains(stretch=True), "Strains.stretch must be"),
        (lambda: Strains(bend_y=2)["twist"], "Strain 'twist' is not active; the active strains are bend_y."),
        (lambda: kirchhoff(0), "kirchhoff modes must be an integer of at least 1; got 0."),
        (lambda: kirchhoff(2, twist_modes=-1), "kirchhoff twist_modes must be an integer of at least 0; got -1."),
        (lambda: extensible_kirchhoff(1.5), "extensible_kirchhoff modes"),
        (lambda: extensible_kirchhoff(1, twist_modes=0.5), "extensible_kirchhoff twist_modes"),
        (lambda: extensible_kirchhoff(1, stretch_modes="1"), "extensible_kirchhoff stretch_modes"),
        (lambda: reissner(None), "reissner modes"),
        (lambda: reissner(1, twist_modes=-2), "reissner twist_modes"),
        (lambda: reissner(1, stretch_modes=-2), "reissner stretch_modes"),
        (lambda: reissner(1, shear_modes=-2), "reissner shear_modes"),
        (lambda: planar("2"), "planar modes"),
        (lambda: planar(2, stretch_modes=None), "planar stretch_modes"),
        (lambda: planar(2, shear_modes=-1), "planar shear_modes"),
        (lambda: planar(2, basis="hermite"), "The basis must be one of"),
    ],
)
def test_bad_strains(make, text):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert text in str(caught.value)


@pytest.mark.parametrize("make", [ag.kirchhoff, ag.extensible_kirchhoff, ag.reissner, ag.planar, ag.universal])
def test_a_basis_in_place_of_a_number_is_shown_its_door(make):
    with pytest.raises(ag.DescriptionError, match=r"Strains\(bend_y=basis"):
        make(ag.PiecewisePolynomial(2, 3))
