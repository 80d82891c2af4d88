"""Rates and accelerations of prescribed motions, from their values alone."""

import numpy as np
import pytest

import anguilla as ag


@pytest.mark.parametrize("frequency", [1.0, 30.0, 300.0, 1e3, 2e4, 1e6, 1e3 * np.pi, 2e3 * np.pi, 2e4 * np.pi])
@pytest.mark.parametrize(
    "times", [np.linspace(0.0, 20.0, 57), np.linspace(0.0, 1e-3, 5), *np.linspace(0.0, 0.7, 9)[:, None]]
)
def test_motions_of_any_speed_are_differentiated(frequency, times):
    joint = ag.Revolute("z", motion=lambda t: 0.2 * np.sin(frequency * t))
    value, rate, acceleration = joint.motion_values(0, times).T
    assert np.array_equal(value, 0.2 * np.sin(frequency * times))
    assert np.allclose(rate / frequency, 0.2 * np.cos(frequency * times), rtol=0.0, atol=1e-7)
    assert np.allclose(acceleration / frequency**2, -0.2 * np.sin(frequency * times), rtol=0.0, atol=3e-6)


def test_a_kink_stays_spread_over_milliseconds_so_that_small_steps_feel_its_impulse():
    joint = ag.Prismatic("x", motion=lambda t: max(t - 1.0, 0.0))
    times = np.arange(0.9, 1.1, 2e-4)
    _, rate, acceleration = joint.motion_values(0, times).T
    assert np.isclose(np.trapezoid(acceleration, times), 1.0, atol=1e-3)
    assert np.isclose(rate[0], 0.0) and np.isclose(rate[-1], 1.0)


def test_a_constant_motion_has_no_rate():
    joint = ag.Prismatic("x", motion=lambda t: 3.0)
    assert np.allclose(joint.motion_values(0, np.linspace(0.0, 1.0, 5)), [3.0, 0.0, 0.0], atol=1e-9)


def test_fast_gaits_are_differentiated():
    gait = ag.ShapeFunction(lambda X, t: X * np.cos(5e3 * t))
    jets, _ = gait.factors("bend_z", np.array([0.2, 0.4]), np.linspace(0.0, 1.0, 9))
    t = np.linspace(0.0, 1.0, 9)[:, None]
    assert np.allclose(jets[:, 1], -5e3 * np.array([0.2, 0.4]) * np.sin(5e3 * t), atol=1e-3)
    assert np.allclose(jets[:, 2], -25e6 * np.array([0.2, 0.4]) * np.cos(5e3 * t), atol=25.0)


@pytest.mark.parametrize("name", ["x", "y", "z", "-x", "-y", "-z"])
def test_axes_go_by_their_names(name):
    sign, axis = (-1.0, name[1]) if name.startswith("-") else (1.0, name)
    assert np.array_equal(ag.Prismatic(name).axis, sign * np.eye(3)["xyz".index(axis)])


def test_an_unknown_axis_is_refused():
    with pytest.raises(ag.DescriptionError, match=r"Revolute.axis must be .* one of x, y, z, -x, -y, -z"):
        ag.Revolute("w")
