"""Cross-sections against closed forms and against integrals over their area."""

import numpy as np
import pytest

from anguilla.describe import Circle, CrossSection, Ellipse, GeneralSection, Rectangle, Tapered, Tube, taper
from anguilla.describe.section import rectangle_torsion
from anguilla.errors import DescriptionError

X = np.array([0.0, 0.1, 0.7])

SECTIONS = [
    Circle(0.02),
    Tube(0.02, 0.015),
    Ellipse(0.03, 0.01),
    Rectangle(0.04, 0.01),
    GeneralSection(1e-4, 2e-9, 1e-9, 3e-9),
    taper(Circle(0.02), Circle(0.01), 0.7),
]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda s: type(s).__name__)
def test_every_section_has_the_same_interface(section):
    assert isinstance(section, CrossSection)
    properties = section.at(X)
    for values in properties:
        assert values.shape == (3,) and np.all(values > 0)
    np.testing.assert_allclose(properties.polar, properties.second_y + properties.second_z)
    np.testing.assert_array_equal(properties.shear_y, 1.0)
    np.testing.assert_array_equal(properties.shear_z, 1.0)
    assert section.at(0.3).area.shape == (1,)
    assert section.at([]).area.shape == (0,)
    assert section.thickness(X).shape == (3,)
    assert section.outline(0.1).shape == (24, 2)
    assert section.outline(0.1, count=7).shape == (7, 2)
    assert isinstance(section.breakpoints, tuple)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda s: type(s).__name__)
def test_torsion_never_exceeds_the_polar_moment(section):
    p = section.at(X)
    if not isinstance(section, GeneralSection):
        assert np.all(p.torsion <= p.polar * (1 + 1e-12))


def one(section):
    return {name: float(value[0]) for name, value in section.at(0.0)._asdict().items()}


def test_circle():
    p = one(Circle(0.5))
    assert p["area"] == pytest.approx(np.pi / 4)
    assert p["second_y"] == p["second_z"] == pytest.approx(np.pi / 64)
    assert p["torsion"] == p["polar"] == pytest.approx(np.pi / 32)
    assert Circle(0.5).thickness(0.0)[0] == 1.0


def test_tube_is_the_difference_of_two_circles():
    tube, outer, inner = one(Tube(0.3, 0.2)), one(Circle(0.3)), one(Circle(0.2))
    for name in ("area", "second_y", "second_z", "torsion", "polar"):
        assert tube[name] == pytest.approx(outer[name] - inner[name])
    assert one(Tube(0.3, 0)) == pytest.approx(one(Circle(0.3)))


def test_ellipse_moments_by_quadrature():
    # Integrate over the unit disc in polar coordinates, (y, z) = (b r cos, c r sin).
    b, c = 0.3, 0.1
    r, w = np.polynomial.legendre.leggauss(8)
    r, w = (r + 1) / 2, w / 2
    angle = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    weight = np.outer(w * r, np.full(16, 2 * np.pi / 16)) * b * c
    y, z = b * np.outer(r, np.cos(angle)), c * np.outer(r, np.sin(angle))
    p = one(Ellipse(semi_y=b, semi_z=c))
    assert p["area"] == pytest.approx(np.sum(weight))
    assert p["second_y"] == pytest.approx(np.sum(weight * z**2))
    assert p["second_z"] == pytest.approx(np.sum(weight * y**2))
    # Saint-Venant: the Prandtl function (1 - y^2/b^2 - z^2/c^2) b^2 c^2 / (b^2 + c^2); J is twice its integral.
    prandtl = (1 - y**2 / b**2 - z**2 / c**2) * b**2 * c**2 / (b**2 + c**2)
    assert p["torsion"] == pytest.approx(2 * np.sum(weight * prandtl))
    assert one(Ellipse(0.2, 0.2)) == pytest.approx(one(Circle(0.2)))


def test_rectangle_moments():
    p = one(Rectangle(size_y=0.4, size_z=0.1))
    assert p["area"] == pytest.approx(0.04)
    assert p["second_y"] == pytest.approx(0.4 * 0.1**3 / 12)
    assert p["second_z"] == pytest.approx(0.4**3 * 0.1 / 12)


@pytest.mark.parametrize(
    ("ratio", "coefficient"),
    # Timoshenko and Goodier, Theory of Elasticity, table of k1 in M = k1 G theta (2a)^3 (2b).
    [(1.0, 0.1406), (1.2, 0.166), (1.5, 0.196), (2.0, 0.229), (3.0, 0.263), (5.0, 0.291), (10.0, 0.312)],
)
def test_rectangle_torsion_against_the_classical_table(ratio, coefficient):
    a, b = 0.02 * ratio, 0.02
    assert rectangle_torsion(a, b) / (a * b**3) == pytest.approx(coefficient, abs=6e-4)
    assert rectangle_torsion(a, b) == rectangle_torsion(b, a)


def test_rectangle_torsion_of_a_thin_strip():
    assert rectangle_torsion(1e4, 1.0) / 1e4 == pytest.approx(1 / 3, rel=1e-4)
    # The first correction of a strip is 1/3 - 0.21008 b/a.
    assert (1 / 3 - rectangle_torsion(100.0, 1.0) / 100) * 100 == pytest.approx(0.21008, abs=1e-4)


@pytest.mark.parametrize("ratio", [1.0, 1.7, 6.0])
def test_rectangle_torsion_against_the_plain_series(ratio):
    n = np.arange(1, 4001, 2)
    plain = np.sum(np.tanh(n * np.pi * ratio / 2) / n**5)
    assert rectangle_torsion(ratio, 1.0) == pytest.approx(ratio * (1 / 3 - 64 / np.pi**5 / ratio * plain), rel=1e-13)


def test_general_section():
    section = GeneralSection(2.0, 3.0, 4.0, 5.0, shear_y=0.8, shear_z=0.9, width=6.0)
    assert one(section) == dict(area=2.0, second_y=3.0, second_z=4.0, torsion=5.0, polar=7.0, shear_y=0.8, shear_z=0.9)
    assert section.thickness(X) == pytest.approx([6.0] * 3)
    assert one(GeneralSection(2.0, 3.0, 4.0, 5.0, polar=8.0))["polar"] == 8.0


def test_general_section_without_width_has_that_of_the_equivalent_ellipse():
    ellipse = Ellipse(0.3, 0.1)
    p = one(ellipse)
    general = GeneralSection(p["area"], p["second_y"], p["second_z"], p["torsion"])
    assert general.thickness(0.0)[0] == pytest.approx(0.6)
    np.testing.assert_allclose(general.outline(0.0, 12), ellipse.outline(0.0, 12))


def area_of(polygon):
    y, z = polygon.T
    return 0.5 * np.sum(y * np.roll(z, -1) - np.roll(y, -1) * z)


def test_outlines_turn_counterclockwise_and_enclose_the_area():
    assert area_of(Ellipse(0.3, 0.1).outline(count=400)) == pytest.approx(np.pi * 0.03, rel=1e-3)
    assert area_of(Tube(0.3, 0.1).outline(count=400)) == pytest.approx(np.pi * 0.09, rel=1e-3)
    for count in (4, 5, 7, 24):
        outline = Rectangle(0.4, 0.1).outline(count=count)
        assert area_of(outline) == pytest.approx(0.04)
        assert len(np.unique(outline, axis=0)) == count


def test_outline_needs_four_points():
    with pytest.raises(DescriptionError, match="count must be an integer of at least 4; got 3"):
        Circle(1).outline(count=3)


def test_taper_is_linear_in_the_dimensions_and_constant_beyond():
    section = taper(Circle(0.02), Circle(0.01), length=0.4)
    np.testing.assert_allclose(section.thickness([0.0, 0.1, 0.2, 0.4, 0.5]), [0.04, 0.035, 0.03, 0.02, 0.02])
    np.testing.assert_allclose(section.at([0.2]).area, np.pi * 0.015**2)
    assert section.breakpoints == (0.4,)
    np.testing.assert_allclose(section.outline(0.4, 4)[0], (0.01, 0.0))


def test_taper_of_general_sections_keeps_what_is_not_given():
    section = taper(GeneralSection(1.0, 1.0, 1.0, 1.0), GeneralSection(3.0, 2.0, 2.0, 2.0), 1.0)
    p = one(section.section(0.5))
    assert p["area"] == 2.0 and p["polar"] == 3.0
    with pytest.raises(DescriptionError, match=r"GeneralSection\.polar for both sections or for none"):
        taper(GeneralSection(1.0, 1.0, 1.0, 1.0), GeneralSection(1.0, 1.0, 1.0, 1.0, polar=2.0), 1.0)


def test_tapered_by_a_function_with_a_step():
    section = Tapered(lambda X: Circle(0.02) if X < 0.1 else Rectangle(0.01, 0.02), breakpoints=[0.1])
    assert section.breakpoints == (0.1,)
    np.testing.assert_allclose(section.at([0.05, 0.1]).area, [np.pi * 0.02**2, 0.01 * 0.02])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Circle(-0.01), "Circle.radius must be a positive number [m]; got -0.01."),
        (lambda: Circle("2 mm"), "Circle.radius must be a positive number [m]; got '2 mm'."),
        (lambda: Tube(0, 0), "Tube.outer must be a positive number [m]; got 0."),
        (lambda: Tube(0.1, -0.1), "Tube.inner must be a number, zero or positive, [m]; got -0.1."),
        (lambda: Tube(0.1, 0.2), "Tube.inner must be smaller than Tube.outer = 0.1 [m]; got 0.2."),
        (lambda: Ellipse(None, 1), "Ellipse.semi_y must be"),
        (lambda: Ellipse(1, 0), "Ellipse.semi_z must be"),
        (lambda: Rectangle(0, 1), "Rectangle.size_y must be"),
        (lambda: Rectangle(1, float("nan")), "Rectangle.size_z must be"),
        (lambda: GeneralSection(0, 1, 1, 1), "GeneralSection.area must be a positive number [m^2]; got 0."),
        (lambda: GeneralSection(1, 0, 1, 1), "GeneralSection.second_y must be a positive number [m^4]; got 0."),
        (lambda: GeneralSection(1, 1, None, 1), "GeneralSection.second_z must be"),
        (lambda: GeneralSection(1, 1, 1, 0), "GeneralSection.torsion must be"),
        (lambda: GeneralSection(1, 1, 1, 1, polar=-1), "GeneralSection.polar must be"),
        (lambda: GeneralSection(1, 1, 1, 1, shear_y=None), "GeneralSection.shear_y must be a positive number; got"),
        (lambda: GeneralSection(1, 1, 1, 1, width=0), "GeneralSection.width must be a positive number [m]; got 0."),
        (lambda: Tapered(Circle(1)), "Tapered.function must be a function of X [m]"),
        (lambda: Tapered(Circle, breakpoints=(0.2, 0.1)), "Tapered.breakpoints must be a sequence of strictly"),
        (lambda: Tapered(Circle, breakpoints=(0.0,)), "Tapered.breakpoints must be"),
        (lambda: Tapered(lambda X: 0.1).at(0.25), "Tapered.function(X = 0.25 m) must be a cross-section"),
        (lambda: taper(Circle(1), Tube(1, 0.5), 1), "got a Circle and a Tube."),
        (lambda: taper(Circle(1), 0.5, 1), "taper tip must be a constant cross-section"),
        (lambda: taper(taper(Circle(1), Circle(2), 1), Circle(2), 1), "taper root must be a constant cross-section"),
        (lambda: taper(Circle(1), Circle(2), 0), "taper length must be a positive number [m]; got 0."),
    ],
)
def test_bad_sections(make, text):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert text in str(caught.value)


def test_a_user_may_write_a_plain_subclass():
    class Slot(CrossSection):
        def __init__(self, width):
            self.width = width

        def _properties(self):
            return (self.width,) * 5 + (1.0, 1.0)

        def _extent(self):
            return self.width, self.width

    np.testing.assert_array_equal(Slot(2.0).at([0, 1]).area, [2.0, 2.0])
