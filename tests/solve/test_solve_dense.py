"""Dense equations whose rows and columns span many decades."""

import numpy as np
import pytest

from anguilla.solve.newton.dense import balanced, least, solve
from anguilla.solve.newton.linear import factorise, invert, is_definite, multiply, solve_factorised


@pytest.fixture
def wild():
    """A matrix of condition ten, hidden behind thirty decades of units; its inverse and those units."""
    rng = np.random.default_rng(1)
    u, _, v = np.linalg.svd(rng.standard_normal((8, 8)))
    plain = u @ np.diag(np.linspace(1.0, 10.0, 8)) @ v
    rows, columns = 10.0 ** rng.uniform(-15, 15, 8), 10.0 ** rng.uniform(-15, 15, 8)
    return rows[:, None] * plain * columns, plain, rows, columns


@pytest.mark.parametrize("shape", [(8,), (8, 3)])
def test_units_cost_no_digits(wild, shape):
    matrix, plain, rows, columns = wild
    x = np.random.default_rng(2).standard_normal(shape)
    right = (rows * (plain @ x).T).T
    for found in (solve(matrix, right), least(matrix, right)[0]):
        assert (columns * found.T).T == pytest.approx(x, abs=1e-13)


def test_balanced_gives_the_matrix_back(wild):
    matrix = wild[0]
    scaled, rows, columns = balanced(matrix)
    assert rows[:, None] * scaled * columns == pytest.approx(matrix, rel=1e-14)
    assert np.max(np.abs(scaled), axis=0) == pytest.approx(np.ones(8))


def test_what_costs_nothing_is_not_moved():
    matrix = np.array([[1e9, 1e9], [1.0, 1.0]])
    found, rank = least(matrix, np.array([2e9, 2.0]), 1e-11)
    assert rank == 1 and found == pytest.approx([1.0, 1.0])


def test_known_units_keep_a_column_of_round_off_small():
    matrix = np.array([[1.0, 1e-20], [0.5, 3e-20]])
    assert least(matrix, np.ones(2), 1e-13)[1] == 2
    assert least(matrix, np.ones(2), 1e-13, np.ones(2))[1] == 1


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9, 14, 30])
def test_an_inverse_is_one(n):
    rng = np.random.default_rng(n)
    matrix = rng.standard_normal((n, n))
    matrix[0, 0] = 0.0 if n > 1 else 2.0  # it must exchange rows
    found, pivot, x = matrix.copy(), np.zeros(n, np.int64), np.zeros(n)
    assert invert(found, pivot)
    assert found @ matrix == pytest.approx(np.eye(n), abs=1e-11)
    factors, right = matrix.copy(), rng.standard_normal(n)
    assert factorise(factors, pivot)
    multiply(found, right, x)
    solve_factorised(factors, pivot, right)
    assert x == pytest.approx(right, abs=1e-11 * np.max(np.abs(right)))


@pytest.mark.parametrize("bad", [0.0, np.nan])
def test_what_has_no_inverse_is_said(bad):
    matrix = np.array([[1.0, 2.0, 3.0], [bad, bad, bad], [4.0, 5.0, 7.0]])
    assert not invert(matrix, np.zeros(3, np.int64))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_definite_symmetric_part_is_told_by_its_smallest_eigenvalue(n):
    rng = np.random.default_rng(n)
    root, skew = rng.standard_normal((2, n + 1, n + 1))
    even = root @ root.T
    lowest = np.linalg.eigvalsh(even[:n, :n])[0]
    for shift, definite in ((0.999, True), (1.001, False)):
        matrix = even - shift * lowest * np.eye(n + 1) + skew - skew.T
        assert is_definite(matrix, n) == definite
