"""Materials, and what every description does when a field is assigned."""

import copy
import dataclasses
import pickle

import pytest

from anguilla.describe import Circle, Material
from anguilla.errors import AnguillaWarning, DescriptionError


def test_shear_modulus_from_poisson():
    assert Material(young=2.6, density=1.0, poisson=0.3).shear_modulus == pytest.approx(1.0)
    assert Material(young=3.0, density=1.0, poisson=0.5).shear_modulus == pytest.approx(1.0)


def test_shear_modulus_given():
    assert Material(young=1e6, density=1000, shear=4e5).shear_modulus == 4e5


def test_default_poisson_is_0_3():
    bare, given = Material(1e6, 1000), Material(1e6, 1000, poisson=0.3)
    assert bare.shear_modulus == given.shear_modulus


def test_fields_are_floats():
    material = Material(young=1000000, density=1000)
    assert type(material.young) is float and type(material.density) is float and material.damping == 0.0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"young": 0}, "Material.young must be a positive number [Pa]; got 0."),
        ({"young": "soft"}, "Material.young must be a positive number [Pa]; got 'soft'."),
        ({"density": -1}, "Material.density must be a positive number [kg/m^3]; got -1."),
        ({"poisson": 0.6}, "Material.poisson must be greater than -1 and at most 0.5; got 0.6."),
        ({"poisson": -1}, "Material.poisson must be greater than -1 and at most 0.5; got -1.0."),
        ({"poisson": float("nan")}, "Material.poisson must be a finite number; got nan."),
        ({"shear": 0}, "Material.shear must be a positive number [Pa]; got 0."),
        ({"damping": -1e-3}, "Material.damping must be a number, zero or positive, [s]; got -0.001."),
        ({"poisson": 0.3, "shear": 1e5}, "either poisson or shear, not both; got poisson=0.3 and shear=100000.0."),
    ],
)
def test_bad_fields(arguments, text):
    with pytest.raises(DescriptionError) as caught:
        Material(**{"young": 1e6, "density": 1000.0, **arguments})
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"young": 0.5}, "Material.young = 0.5 Pa"),
        ({"young": 2e13}, "Material.young = 2e+13 Pa"),
        ({"density": 1e5}, "Material.density = 100000 kg/m"),
    ],
)
def test_suspicious_units_warn_once_at_the_line_of_the_user(arguments, text):
    with pytest.warns(AnguillaWarning) as caught:
        Material(**{"young": 1e6, "density": 1000.0, **arguments})
    assert len(caught) == 1
    assert text in str(caught[0].message)
    assert caught[0].filename == __file__


def test_assignment_is_checked_and_a_bad_value_leaves_the_old_one():
    material = Material(1e6, 1000, poisson=0.4)
    material.young = 2000000
    assert type(material.young) is float and material.young == 2e6
    with pytest.raises(DescriptionError, match=r"Material\.young"):
        material.young = -1
    with pytest.raises(DescriptionError, match="not both"):
        material.shear = 1e5
    assert material == Material(2e6, 1000, poisson=0.4)
    material.density = 900  # the checks still run after a refusal
    with pytest.raises(DescriptionError, match=r"Material\.density"):
        material.density = 0


def test_misspelt_field_is_refused_with_a_suggestion():
    with pytest.raises(DescriptionError, match=r"Circle has no field 'radios' \(did you mean 'radius'\?\)"):
        Circle(0.1).radios = 0.2


def test_descriptions_copy_replace_and_pickle():
    material = Material(1e6, 1000, poisson=0.4)
    for twin in (copy.deepcopy(material), copy.copy(material), pickle.loads(pickle.dumps(material))):
        assert twin == material
        twin.young = 5e6
        with pytest.raises(DescriptionError):
            twin.young = 0
        assert material.young == 1e6
    assert dataclasses.replace(material, poisson=None, shear=1e5).shear_modulus == 1e5
