"""What a step misses of its own rates, against polynomials: those of the degree that the rule integrates are not missed."""

import numpy as np
import pytest

from anguilla.solve.steps.carried import _missed, _prepare

DT = 0.1


def missed(q, v, a, first, last):
    """Of coordinates and of rates, in all steps of a piece (steps, 2)."""
    none, nobody, out = np.zeros((0, 2), np.int64), np.zeros(0, np.int64), np.zeros((last - first, 2, 1))
    for k in range(first, last):
        _missed(none, nobody, q, v, a, k, first, last, DT, *out[k - first])
    return out[..., 0]


@pytest.mark.parametrize("first, last, degree", [(0, 7, 3), (2, 7, 3), (1, 4, 3), (0, 2, 1)])
def test_rates_of_the_degree_of_the_rule_miss_nothing(first, last, degree):
    """A cubic through four states of the piece; with fewer, a straight line. One degree more is missed."""
    t = DT * np.arange(9)
    for more, exact in ((0, True), (1, False)):
        rates = np.polynomial.Polynomial(np.arange(2.0, degree + 3.0 + more))
        q, v, a = (p(t)[:, None] for p in (rates.integ(), rates, rates.deriv()))
        miss = np.abs(missed(q, v, a, first, last)).max(axis=0) / np.abs(np.diff(q, axis=0)).max()
        assert (miss[0] < 1e-14) == exact, miss
        assert miss[1] < 1e-13, "their rates are of one degree less"


def test_a_wrong_rate_is_missed_as_it_is_weighed():
    """The cubic rule gives a rate in the middle of a piece 13/24 of the step on each side, -1/24 beyond."""
    v = np.zeros((9, 1))
    v[4] = 1.0
    still = np.zeros((9, 1))
    miss = missed(still, v, still, 0, 8)[:, 0]
    np.testing.assert_allclose(miss[2:6], -DT / 24.0 * np.array([-1.0, 13.0, 13.0, -1.0]), rtol=1e-12)


def test_errors_are_carried_along_balls_as_their_coordinates_turn():
    """Inverse of step K + ..., whose columns of a ball's angles are first turned by (1 + step W)^-1; W = cross product."""
    rng = np.random.default_rng(7)
    n, step, k = 5, 0.13, 1
    at, v, scale = rng.standard_normal((3, n, n)), rng.standard_normal(n), np.zeros(n)
    whole, turn = np.zeros((n, n)), np.zeros((n, 3))
    pivot, none = np.zeros(n, np.int64), np.zeros(0, np.int64)
    assert _prepare(np.array([[k, 0]]), none, at, v, step, whole, pivot, scale, turn)
    x, y, z = step * v[k : k + 3]
    back = np.linalg.inv(np.eye(3) + np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]))
    matrix = step * at[2]
    matrix[:, k : k + 3] += step * at[0][:, k : k + 3] @ (back - np.eye(3))
    np.testing.assert_allclose(whole * scale, np.linalg.inv(matrix), rtol=1e-10, atol=1e-12)
