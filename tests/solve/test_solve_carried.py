"""What a step misses of its own rates, against polynomials: those of the degree that the rule integrates are not missed."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from anguilla.mechanics.tree import N_R, N_X
from anguilla.solve.steps.carried import _choose_instants, _farthest, _missed, _prepare

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


def test_turns_of_a_ball_are_missed_by_the_fifth_power_of_the_step():
    """Rates of exp(t a) exp(t b) in its own axes, exp(-t b) a + b; they turn, so that they do not just add up."""
    a, b = np.array([0.9, -0.4, 0.6]), np.array([-0.5, 1.1, 0.8])

    def missed(dt):
        t = 0.3 + dt * np.arange(4)[:, None]
        q = (Rotation.from_rotvec(t * a) * Rotation.from_rotvec(t * b)).as_rotvec()
        v = Rotation.from_rotvec(-t * b).apply(a) + b
        out = np.zeros((2, 3))
        _missed(np.array([[0, 0]]), np.zeros(0, np.int64), q, v, np.zeros((4, 3)), 1, 0, 3, dt, *out)
        return np.linalg.norm(out[0])

    sizes = [missed(dt) for dt in (0.2, 0.1, 0.05)]
    np.testing.assert_allclose(np.diff(np.log2(sizes)), -5.0, atol=0.3)


@pytest.mark.parametrize("begin", [0, 5])
def test_matrices_are_taken_in_the_middle_of_equal_parts_and_at_rough_starts(begin):
    """Three parts of four steps, and a start after which a step or more takes its own."""
    m = SimpleNamespace(rows=np.zeros(4, np.int64), of=np.zeros(begin + 12, np.int64))
    _choose_instants(begin, 3, np.array([begin + 8]), m)
    np.testing.assert_array_equal(m.rows, begin + np.array([2, 6, 10, 8]))
    parts = m.of[begin:]
    np.testing.assert_array_equal(parts[:8], np.repeat([0, 1], 4))
    assert parts[8] == 3 and parts[-1] == 2 and set(parts[8:]) == {2, 3}


@pytest.mark.parametrize("radius", [0.0, 0.02, 0.5])
def test_a_node_has_moved_as_far_as_the_farthest_place_around_it(radius):
    """Of both ends of each of its axes, as long as the radius."""
    x0, x1, w0, w1 = np.random.default_rng(8).normal(size=(4, 3))
    before, after = Rotation.from_rotvec(w0).as_matrix(), Rotation.from_rotvec(w1).as_matrix()
    node = np.zeros((1, 1 + max(N_R + 8, N_X + 2)))
    node[0, N_R : N_R + 9], node[0, N_X : N_X + 3] = after.ravel(), x1
    places = radius * np.concatenate([np.eye(3), -np.eye(3)])
    expected = np.linalg.norm(x1 + places @ after.T - x0 - places @ before.T, axis=1).max()
    assert _farthest(node, 0, np.concatenate([before.ravel(), x0]), radius) == pytest.approx(expected, rel=1e-12)
