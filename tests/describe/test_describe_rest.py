"""Rest shapes: strains, and the helix rebuilt by integration."""

import numpy as np
import pytest

from anguilla.describe import ConstantCurvature, Helix, RestFunction, Straight
from anguilla.errors import DescriptionError


def integrate(shape, length, steps=4000):
    """Return positions (steps + 1, 3) of the curve by classical Runge-Kutta on (p, R), p' = R Gamma, R' = R hat(K)."""

    def rate(R, X):
        k = shape.strain(X)[0]
        hat = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
        return R @ k[3:], R @ hat

    p, R, h = np.zeros(3), np.eye(3), length / steps
    points = [p]
    for i in range(steps):
        X = i * h
        p1, R1 = rate(R, X)
        p2, R2 = rate(R + h / 2 * R1, X + h / 2)
        p3, R3 = rate(R + h / 2 * R2, X + h / 2)
        p4, R4 = rate(R + h * R3, X + h)
        p = p + h / 6 * (p1 + 2 * p2 + 2 * p3 + p4)
        R = R + h / 6 * (R1 + 2 * R2 + 2 * R3 + R4)
        points.append(p)
    return np.array(points)


def test_straight_and_constant_curvature():
    np.testing.assert_array_equal(Straight().strain([0.0, 1.0]), [[0, 0, 0, 1, 0, 0]] * 2)
    np.testing.assert_array_equal(ConstantCurvature(1, 2, 3).strain(0.5), [[1, 2, 3, 1, 0, 0]])
    assert Straight().breakpoints == () and Straight() == Straight()


@pytest.mark.parametrize("left_handed", [False, True])
def test_helix_stays_on_its_cylinder_with_the_right_pitch_and_hand(left_handed):
    radius, pitch = 0.05, 0.08
    turn = np.hypot(2 * np.pi * radius, pitch)  # length of one turn
    points = integrate(Helix(radius, pitch, left_handed=left_handed), 2 * turn)
    # After whole turns the curve has advanced along its axis only.
    advance = points[-1] - points[0]
    assert np.linalg.norm(advance) == pytest.approx(2 * pitch, rel=1e-9)
    axis = advance / np.linalg.norm(advance)
    # t2 points to the axis of the cylinder at the start.
    centre = np.array([0.0, radius, 0.0])
    assert axis @ centre == pytest.approx(0.0, abs=1e-9)
    offset = points - centre
    radial = offset - np.outer(offset @ axis, axis)
    np.testing.assert_allclose(np.linalg.norm(radial, axis=1), radius, rtol=1e-8)
    # A right-handed screw turns positively about the direction in which it advances.
    spin = np.cross(radial[0], radial[100]) @ axis
    assert (spin < 0) == left_handed


def test_helix_of_zero_pitch_is_a_circle():
    np.testing.assert_allclose(Helix(0.5, 0).strain(0.0), [[0, 0, 2, 1, 0, 0]])
    points = integrate(Helix(0.5, 0), np.pi, steps=500)
    np.testing.assert_allclose(points[-1], 0.0, atol=1e-8)


def test_rest_function_with_curvatures_or_strains():
    shape = RestFunction(lambda X: (0, 0, X), breakpoints=[0.5])
    np.testing.assert_array_equal(shape.strain([0.0, 2.0]), [[0, 0, 0, 1, 0, 0], [0, 0, 2, 1, 0, 0]])
    assert shape.breakpoints == (0.5,)
    assert RestFunction(lambda X: np.arange(6)).strain([]).shape == (0, 6)
    np.testing.assert_array_equal(RestFunction(lambda X: np.arange(6)).strain(0), [np.arange(6)])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ConstantCurvature(bend_y="1"), "ConstantCurvature.bend_y must be a finite number [rad/m]; got '1'."),
        (lambda: ConstantCurvature(twist=float("inf")), "ConstantCurvature.twist"),
        (lambda: ConstantCurvature(bend_z=None), "ConstantCurvature.bend_z"),
        (lambda: Helix(0, 1), "Helix.radius must be a positive number [m]; got 0."),
        (lambda: Helix(1, -1), "Helix.pitch must be a number, zero or positive, [m]; got -1."),
        (lambda: Helix(1, 1, "yes"), "Helix.left_handed must be True or False; got 'yes'."),
        (lambda: RestFunction((0, 0, 1)), "RestFunction.function must be a function of X [m]"),
        (lambda: RestFunction(np.sin, breakpoints=[-1]), "RestFunction.breakpoints"),
        (lambda: RestFunction(lambda X: (0, 1)).strain(0.25), "got (0, 1) at X = 0.25 m."),
        (lambda: RestFunction(lambda X: (0, 0, np.nan)).strain(0.25), "RestFunction.function must return 3 curvatures"),
        (lambda: RestFunction(lambda X: None).strain(0.25), "got None at X = 0.25 m."),
    ],
)
def test_bad_rest_shapes(make, text):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert text in str(caught.value)
