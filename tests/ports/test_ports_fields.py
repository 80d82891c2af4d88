"""Inputs along directions that vary along a rod: sampled at once, and what is wrong is named."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe.ports import acting


@pytest.mark.parametrize("given", [lambda t: 2.0 * t, 3, -0.5], ids=["function", "integer", "number"])
def test_a_field_is_the_product_at_every_place_and_time(given):
    port = ag.Robot("arm").input("wave", "N/m")
    field = port.along(lambda X: (0.0, X, 1))
    X, t = np.array([0.0, 0.1, 0.4]), np.array([0.0, 0.5])
    with acting("arm", {"wave": given}):
        found = field.field(X, t)
        np.testing.assert_array_equal(found, [[field(x, s) for x in X.tolist()] for s in t.tolist()])


def test_what_is_wrong_in_a_field_is_named():
    port = ag.Robot("arm").input("wave", "N/m")
    X, t = np.array([0.0, 0.1]), np.array([0.0, 0.5])
    with acting("arm", {"wave": lambda s: np.nan if s > 0.2 else 1.0}):
        with pytest.raises(ag.DescriptionError, match=r"'wave' at t = 0.5 s"):
            port.along(lambda X: (0.0, X, 1.0)).field(X, t)
        with pytest.raises(ag.DescriptionError, match=r"direction of input 'wave' at X = 0.1 m"):
            port.along(lambda X: (0.0, 1.0) if X > 0.05 else (0.0, 0.0, 1.0)).field(X, t)
