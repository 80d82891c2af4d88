"""The multifrontal LU of nets: against dense algebra; late and missing pivots; rates of closures from the motion of nodes."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.linear.ordering import plan_of
from anguilla.linear.sparse import Store, factors_of
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Model
from anguilla.solve.steps.beginning import pushed
from anguilla.solve.steps.origin import origin


def grid(side: int, own: int, held: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(matrix, groups, kinds) of knots in a grid, `own` unknowns each, and bars between neighbours that hold `held` rows.

    A bar has four unknowns of its own; its rows have nothing on the diagonal.
    """
    rng, knots, bars = np.random.default_rng(seed), side * side, []
    bars = [(side * i + j, side * i + j + 1) for i in range(side) for j in range(side - 1)]
    bars += [(side * i + j, side * (i + 1) + j) for i in range(side - 1) for j in range(side)]
    group = np.concatenate([np.repeat(np.arange(knots), own), np.repeat(knots + np.arange(len(bars)), 4 + held)])
    kind = np.concatenate([np.zeros(knots * own), np.tile([0, 0, 0, 0, *[1] * held], len(bars))]).astype(np.int64)
    matrix = np.zeros((len(group), len(group)))
    for k, ends in enumerate(bars):
        inner = knots * own + (4 + held) * k + np.arange(4)
        near = np.concatenate([inner, *(own * e + np.arange(own) for e in ends)])
        rows = inner[-1] + 1 + np.arange(held)
        part = rng.standard_normal((len(near), len(near)))
        matrix[np.ix_(near, near)] += part @ part.T / len(near) + 0.05 * part  # not symmetric
        slope = rng.standard_normal((held, len(near)))
        matrix[np.ix_(rows, near)], matrix[np.ix_(near, rows)] = slope, -slope.T
    return matrix, group, kind


def factors(matrix: np.ndarray, group: np.ndarray, kind: np.ndarray) -> tuple:
    rows, columns = np.nonzero(matrix)
    plan = plan_of(group, kind, rows, columns)
    return plan, factors_of(plan, matrix[rows, columns][plan.entries])


@pytest.mark.parametrize("held", [0, 3, 4, 6])
@pytest.mark.parametrize("seed", range(3))
def test_fronts_solve_what_dense_algebra_solves(held, seed):
    matrix, group, kind = grid(5, 7, held, seed)
    shuffled = np.random.default_rng(seed).permutation(len(matrix))
    matrix, group, kind = matrix[np.ix_(shuffled, shuffled)], group[shuffled], kind[shuffled]
    plan, found = factors(matrix, group, kind)
    b = np.random.default_rng(seed).standard_normal((2, len(matrix)))
    for transposed in (False, True):
        right = np.empty_like(b)
        right[:, plan.rank] = b
        x = found.solve(right, transposed)[:, plan.rank]
        exact = np.linalg.solve(matrix.T if transposed else matrix, b.T).T
        assert np.max(np.abs(x - exact)) < 1e-9 * np.max(np.abs(exact))


def test_pivots_wait_where_a_group_has_more_rows_than_unknowns():
    plan, found = factors(*grid(5, 7, 6, 0))
    late = found.made[:, 1] - found.made[:, 0] - np.diff(plan.start)
    assert late.max() == 2 and late.sum() >= 60  # two of the six rows of a bar, unless it shares a front with a knot


def test_singular_matrix_has_no_factors():
    matrix, group, kind = grid(3, 7, 4, 0)
    rows, columns = np.nonzero(matrix)
    plan = plan_of(group, kind, rows, columns)
    matrix[-1] = 0.0
    assert factors_of(plan, matrix[rows, columns][plan.entries]) is None


def test_memory_grows_with_late_pivots(monkeypatch):
    monkeypatch.setattr("anguilla.linear.sparse.ROOMS", (0.1, 4.0))
    matrix, group, kind = grid(4, 7, 6, 1)
    plan, found = factors(matrix, group, kind)
    right = np.zeros((1, len(matrix)))
    right[0, plan.rank] = matrix @ np.ones(len(matrix))
    np.testing.assert_allclose(found.solve(right, False), 1.0, rtol=1e-9)


def test_rates_of_closures_are_what_the_tangent_says():
    robot = ag.Robot("loop")
    rod = ag.Rod(0.3, ag.Circle(5e-3), ag.Material(1e7, 1000.0), ag.Strains(twist=1, bend_y=2, bend_z=2, stretch=1))
    knot = robot.add(ag.RigidBody.sphere(0.01, mass=0.1), at=robot.ground, joint=ag.Free(), name="knot")
    for k, side in enumerate(([0, 0.1, 0], [0, -0.1, 0])):
        arm = robot.add(rod, at=robot.ground, pose=[0.1 * k, *side[1:]], joint=ag.Spherical(), name=f"arm{k}")
        robot.close(arm.tip, knot.frame, pose=side, joint=ag.Fixed() if k else ag.Revolute("z"), name=f"end{k}")
    model = Model(robot, linear="sparse")
    rng, n = np.random.default_rng(0), model.size
    q, v = 0.3 * rng.standard_normal(n) / model.tree.scale, rng.standard_normal(n) / model.tree.scale
    start = origin(model, {}, 0.01, (q[None], v[None], np.zeros((1, n)), np.zeros((1, model.rows))))
    operator = Evaluation(model, start.loads(), q, v, start.a, start.lam).operator()
    np.testing.assert_allclose(start.push(q, v), pushed(operator.shifted(np.zeros(n)), v), atol=1e-12)


def test_memory_that_was_enough_is_used_again(monkeypatch):
    monkeypatch.setattr("anguilla.linear.sparse.ROOMS", (0.1, 4.0))
    matrix, group, kind = grid(4, 7, 6, 1)
    rows, columns = np.nonzero(matrix)
    plan, store = plan_of(group, kind, rows, columns), Store()
    first = factors_of(plan, matrix[rows, columns][plan.entries], store)
    assert store.room == 1
    second = factors_of(plan, 2.0 * matrix[rows, columns][plan.entries], store)
    assert second.factor is first.factor  # no second try, no new memory
    right = np.zeros((1, len(matrix)))
    right[0, plan.rank] = 2.0 * matrix @ np.ones(len(matrix))
    np.testing.assert_allclose(second.solve(right, False), 1.0, rtol=1e-9)
