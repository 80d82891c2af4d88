"""One matrix, the elimination of a tree and the sparse matrix of a net give the same answers."""

import functools
import warnings

import numpy as np
import pytest
from any_robots import made

import anguilla as ag
from anguilla.linear.tree import solve_tree
from anguilla.mechanics.tree import elimination
from anguilla.model.evaluate import linearise, residual

ALL = 50
FEW = (0, 1, 4, 5, 24, 38)  # flat, loops, lines, springs, shapes, streams, contact, trees
ROBOTS = [pytest.param(k, marks=() if k in FEW else pytest.mark.slow) for k in range(ALL)]
WEIGHTS = ((0.0, 0.0), (30.0, 0.0), (0.0, 900.0), (50.0, 2000.0), (0.0, 1e30))  # the last is that of starts
STEPS, DT = 10, 0.01


@functools.cache
def models(index):
    """What was made, its dense model, and all others that serve it."""
    found = made(index)
    dense, sparse = (ag.Model(found.robot, linear=way) for way in ("dense", "sparse"))
    others = {"sparse": sparse}
    if not (dense.rows or len(dense.blank.pairs.table) or len(dense.blank.streams.table)):
        others["tree"] = ag.Model(found.robot, linear="tree")
    return found, dense, others


def size_of(x):
    return np.max(np.abs(x), initial=1e-300)


def in_units(model, x):
    """Rows (and columns, of a matrix) in units of angles and relative displacements."""
    scale = np.concatenate([model.tree.scale, np.ones(len(x) - model.size)])
    return x / scale[:, None] / (scale if x.shape == (len(x), len(x)) else 1.0)


@pytest.mark.parametrize("index", ROBOTS)
def test_residuals_tangents_and_operators_are_those_of_the_dense_way(index):
    found, dense, others = models(index)
    rng = np.random.default_rng(index)
    q, v, a = (size * rng.normal(size=dense.size) / dense.tree.scale for size in (0.3, 2.0, 10.0))
    state = q, v, a, rng.normal(size=dense.rows)
    x = rng.normal(size=(dense.size + dense.rows, 3))
    x[dense.blank.driven] = 0.0
    for way, other in others.items():
        one, two = (model.evaluate(*state, t=0.2, inputs=found.inputs) for model in (dense, other))
        assert size_of(one.values - two.values) <= 1e-12 * size_of(one.values)
        for weights in WEIGHTS:
            matrix = one.bordered(*weights)
            change = in_units(dense, two.bordered(*weights) - matrix)
            assert size_of(change) <= 1e-12 * size_of(in_units(dense, matrix))
            op = two.operator(*weights)
            product = in_units(dense, matrix @ x)
            assert size_of(in_units(dense, op.times(x)) - product) <= 1e-12 * size_of(product)
            back = in_units(dense, matrix.T @ x)
            assert size_of(in_units(dense, op.times(x, transposed=True)) - back) <= 1e-12 * size_of(back)
            solves = [op.solve]
            if way == "tree":
                solves.append(eliminated(other, state, found.inputs, weights))
            _solves(dense, one.operator(*weights), solves, matrix, x)


def eliminated(model, state, inputs, weights):
    """The elimination of a tree, as Newton's solver has it: solves (n,), or (n, k)."""
    ws, loads, e = model.workspace, model.loads(0.2, inputs).loads, elimination(model.tree)
    ws.increment[:], e.good[:], e.held[loads.driven] = 0.0, 1, 1
    residual(model.tree, ws, loads, *state, np.zeros(model.size))
    linearise(model.tree, ws, loads, e, *weights, state[3])

    def solve(b, transposed):
        if transposed:
            return None
        columns = np.ascontiguousarray(b.reshape(model.size, -1).T)
        for column in columns:
            solve_tree(model.tree, e, column)
        return columns.T.reshape(b.shape)

    return solve


def _solves(dense, one, solves, matrix, x):
    """All solve alike, where there is one answer."""
    free = np.setdiff1d(np.arange(len(x)), dense.blank.driven)
    units = np.concatenate([dense.tree.scale, np.ones(dense.rows)])
    condition = np.linalg.cond((matrix / np.outer(units, units))[np.ix_(free, free)])
    if condition > 1e9:
        return
    for transposed in (False, True):
        for b in (x, x[:, 0].copy()):
            expected = units * one.solve(b, transposed).T
            for solve in solves:
                got = solve(b, transposed)
                if got is not None:
                    assert size_of(units * got.T - expected) <= 1e-14 * condition * size_of(expected)


def outcome(solve):
    """The result; or the kind of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)
        try:
            return solve()
        except ag.AnguillaError as error:
            return error


@pytest.mark.parametrize("index", ROBOTS)
def test_equilibria_are_those_of_the_dense_way(index):
    found, dense, others = models(index)
    if not found.rests:
        pytest.skip("nothing holds it")
    solve = lambda model: outcome(lambda: ag.statics(model, inputs=found.inputs, tolerance=1e-13))
    expected = solve(dense)
    for other in others.values():
        got = solve(other)
        assert isinstance(expected, ag.Equilibrium) and isinstance(got, ag.Equilibrium), (expected, got)
        if isinstance(expected, ag.Equilibrium):
            shape = dense.tree.scale * expected.q
            np.testing.assert_allclose(other.tree.scale * got.q, shape, atol=1e-10 * size_of(shape), rtol=0)
            force = size_of(expected.multipliers)
            np.testing.assert_allclose(got.multipliers, expected.multipliers, atol=1e-9 * force, rtol=0)


@pytest.mark.parametrize("index", ROBOTS)
def test_motions_are_those_of_the_dense_way(index):
    found, dense, others = models(index)
    move = lambda model: outcome(
        lambda: ag.simulate(model, duration=STEPS * DT, dt=DT, inputs=found.inputs, tolerance=1e-12)
    )
    expected = move(dense)
    for other in others.values():
        got = move(other)
        assert isinstance(expected, ag.Trajectory) and isinstance(got, ag.Trajectory), (expected, got)
        if isinstance(expected, ag.Trajectory):
            for a, b in ((expected.q, got.q), (expected.v, got.v)):
                a, b = a * dense.tree.scale, b * dense.tree.scale
                np.testing.assert_allclose(b, a, atol=1e-10 * size_of(a), rtol=0)


def test_the_robots_are_of_all_kinds():
    kinds = [made(k).kinds for k in range(ALL)]
    counts = {kind: sum(kind in found for found in kinds) for found in kinds for kind in found}
    wanted = (
        "fixed ball free motion shape loop rolling tendon chamber muscle spring magnet thruster water stream contact"
    )
    assert all(counts.get(kind, 0) >= 3 for kind in wanted.split()), counts
    assert all(counts[f"line by {kind}"] >= 4 for kind in ("tension", "length", "stretchy"))
