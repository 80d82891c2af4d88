"""The QP door against brute force and optimality conditions."""

from itertools import product

import numpy as np
import pytest

import anguilla as ag
from anguilla import control


def by_enumeration(H, f, lower, upper):
    """Minimum over a box by trying every set of active bounds."""
    best = None
    for choice in product((-1, 0, 1), repeat=len(f)):
        free = np.array(choice) == 0
        x = np.where(np.array(choice) < 0, lower, upper)
        if free.any():
            rhs = -f[free] - H[np.ix_(free, ~free)] @ x[~free]
            x[free] = np.linalg.solve(H[np.ix_(free, free)], rhs)
        if np.all(x >= lower - 1e-12) and np.all(x <= upper + 1e-12):
            value = 0.5 * x @ H @ x + f @ x
            if best is None or value < best[0]:
                best = (value, x)
    return best[1]


@pytest.mark.parametrize("seed", range(8))
def test_box_against_enumeration(seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((4, 4))
    H, f = M @ M.T + 0.1 * np.eye(4), rng.standard_normal(4)
    lower, upper = -rng.uniform(0, 0.5, 4), rng.uniform(0, 0.5, 4)
    answer = control.solve_qp(H, f, lower=lower, upper=upper)
    np.testing.assert_allclose(answer.x, by_enumeration(H, f, lower, upper), atol=1e-8)
    assert answer.feasible


def test_rows_hold_and_multipliers_balance():
    rng = np.random.default_rng(1)
    M = rng.standard_normal((5, 5))
    H, f, A = M @ M.T + 0.1 * np.eye(5), rng.standard_normal(5), rng.standard_normal((2, 5))
    free = np.linalg.solve(H, -f)
    answer = control.solve_qp(H, f, A=A, row_lower=A @ free + 0.3, row_upper=A @ free + 0.8)
    np.testing.assert_allclose(A @ answer.x, A @ free + 0.3, atol=1e-8)
    multiplier = np.linalg.lstsq(A.T, H @ answer.x + f, rcond=None)[0]
    np.testing.assert_allclose(A.T @ multiplier, H @ answer.x + f, atol=1e-8)
    assert np.all(multiplier > 0)
    assert answer.active.tolist() == [0, 0, 0, 0, 0, -1, -1]


def test_rows_that_cannot_hold_are_violated_least():
    answer = control.solve_qp(
        np.eye(2), np.zeros(2), lower=np.zeros(2), upper=np.ones(2), A=np.array([[1.0, 1.0]]), row_lower=np.array([3.0]),
    )  # fmt: skip
    assert not answer.feasible
    np.testing.assert_allclose(answer.x, [1.0, 1.0], atol=1e-4)


def test_a_semidefinite_problem_has_an_answer():
    answer = control.solve_qp(np.diag([1.0, 0.0]), np.array([-1.0, 0.0]), lower=np.full(2, -2.0), upper=np.full(2, 2.0))
    assert answer.x[0] == pytest.approx(1.0, abs=1e-6)


def test_bad_problems_are_refused():
    with pytest.raises(ag.DescriptionError, match="contradict"):
        control.solve_qp(np.eye(1), np.zeros(1), lower=np.ones(1), upper=np.zeros(1))
    with pytest.raises(ag.DescriptionError, match="finite"):
        control.solve_qp(np.full((1, 1), np.nan), np.zeros(1))
