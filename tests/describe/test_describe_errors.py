"""The checks at the door: one sentence that names the field, what is right, what was given."""

import pickle

import numpy as np
import pytest

from anguilla.errors import (
    AnguillaError,
    DescriptionError,
    SolverError,
    as_count,
    as_flag,
    as_nonnegative,
    as_number,
    as_pose,
    as_positive,
    as_vector,
)

BAD_NUMBERS = [float("nan"), float("inf"), -float("inf"), "1", None, True, 1j, [1.0], np.ones(2)]


def message(function, *args):
    with pytest.raises(DescriptionError) as caught:
        function(*args)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


def test_the_errors_are_also_the_common_python_ones():
    assert issubclass(DescriptionError, ValueError) and issubclass(DescriptionError, AnguillaError)
    assert issubclass(SolverError, RuntimeError) and issubclass(SolverError, AnguillaError)


def test_solver_error_carries_result_and_advice_even_through_pickle():
    error = SolverError("Newton stalled.", result={"q": 1}, advice="Try more steps.")
    for e in (error, pickle.loads(pickle.dumps(error))):
        assert e.result == {"q": 1}
        assert e.advice == "Try more steps."
        assert str(e) == "Newton stalled. Try more steps."
    assert str(SolverError("Stopped.")) == "Stopped."


def test_message_reads_as_one_sentence():
    assert message(as_positive, -0.01, "Circle.radius", "m") == (
        "Circle.radius must be a positive number [m]; got -0.01."
    )


@pytest.mark.parametrize("check", [as_number, as_positive, as_nonnegative])
@pytest.mark.parametrize("value", BAD_NUMBERS, ids=repr)
def test_numbers_refuse_what_is_no_finite_real_number(check, value):
    text = message(check, value, "Thing.size", "m")
    assert text.startswith("Thing.size must be")
    assert "[m]" in text


def test_numbers_accept_numpy_scalars_and_integers():
    for value in (2, 2.0, np.float32(2), np.int64(2), np.array(2.0)):
        number = as_positive(value, "x")
        assert number == 2.0 and type(number) is float


def test_zero_is_nonnegative_but_not_positive():
    assert as_nonnegative(0, "x") == 0.0
    assert "got 0" in message(as_positive, 0, "x")
    assert "got -1" in message(as_nonnegative, -1, "x")


def test_numpy_values_are_shown_without_numpy_noise():
    assert "got -1.5." in message(as_positive, np.float64(-1.5), "x")
    assert "an array of shape (3, 4)" in message(as_vector, np.ones((3, 4)), 3, "x")
    assert len(message(as_number, "long " * 100, "x")) < 150


@pytest.mark.parametrize("value", [0, 1.0, True, "2", None])
def test_counts_are_integers_of_at_least_the_minimum(value):
    assert message(as_count, value, "modes").startswith("modes must be an integer of at least 1")


def test_count_and_flag_accept_numpy_types():
    assert as_count(np.int64(3), "n") == 3
    assert as_flag(np.bool_(True), "f") is True
    assert message(as_flag, 1, "f") == "f must be True or False; got 1."


@pytest.mark.parametrize(
    "value", [1.0, (1, 2), (1, 2, 3, 4), (1, 2, float("nan")), "abc", None, ((1, 2, 3),), [1, [2, 3], 4], (True,) * 3]
)
def test_vectors_refuse_wrong_shapes_and_contents(value):
    assert message(as_vector, value, 3, "load.force", "N").startswith(
        "load.force must be a vector of 3 finite numbers [N]; got"
    )


def test_vector_is_a_copy():
    given = np.array([1.0, 2.0])
    result = as_vector(given, 2, "v")
    result[0] = 9.0
    assert given[0] == 1.0


def turned(angle):
    g = np.eye(4)
    g[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    g[:3, 3] = (1.0, 2.0, 3.0)
    return g


def test_pose_passes_and_is_a_copy():
    g = turned(0.3)
    result = as_pose(g, "pose")
    np.testing.assert_allclose(result, g, atol=1e-15)
    result[0, 3] = 7.0
    assert g[0, 3] == 1.0
    assert np.array_equal(as_pose(np.eye(4, dtype=int), "pose"), np.eye(4))


def test_rounded_pose_is_projected_on_the_rotations():
    rounded = np.round(turned(0.3), 7)
    block = as_pose(rounded, "pose")[:3, :3]
    np.testing.assert_allclose(block.T @ block, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(block, turned(0.3)[:3, :3], atol=1e-6)


@pytest.mark.parametrize("value", [np.eye(3), np.full((4, 4), np.nan), "pose", None])
def test_pose_of_wrong_shape_or_content(value):
    assert message(as_pose, value, "Robot.add pose").startswith("Robot.add pose must be a 4x4 homogeneous matrix")


def test_pose_with_bad_last_row():
    g = np.eye(4)
    g[3, 0] = 0.5
    assert "last row of pose must be (0, 0, 0, 1); got [0.5, 0.0, 0.0, 1.0]." in message(as_pose, g, "pose")


def test_pose_that_scales_or_reflects():
    text = message(as_pose, np.diag([2.0, 1.0, 1.0, 1.0]), "pose")
    assert "3x3 block of pose must be a rotation" in text and "error of 3" in text
    assert "reflection" in message(as_pose, np.diag([-1.0, 1.0, 1.0, 1.0]), "pose")


def test_a_position_is_a_pose_with_the_same_axes():
    np.testing.assert_array_equal(as_pose((1, 2, 3), "pose"), [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
