"""Columns of factors against elimination of whole matrices of zeros and ones."""

import numpy as np
import pytest

from anguilla.linear.symbolic import beside, columns_of, counted


def graph(seed, n=40, edges=60):
    """A symmetric pattern (n, n), and its adjacency without the diagonal."""
    rng = np.random.default_rng(seed)
    pattern = np.eye(n, dtype=bool)
    pairs = rng.integers(0, n, (edges, 2))
    pattern[pairs[:, 0], pairs[:, 1]] = pattern[pairs[:, 1], pairs[:, 0]] = True
    rows, columns = np.nonzero(pattern & ~np.eye(n, dtype=bool))
    return pattern, np.searchsorted(rows, np.arange(n + 1)), np.ascontiguousarray(columns)


def eliminated(pattern, order):
    """Which entries of the lower factor are there, by elimination one after the other."""
    filled = pattern[np.ix_(order, order)].copy()
    for j in range(len(order)):
        below = j + 1 + np.flatnonzero(filled[j + 1 :, j])
        filled[np.ix_(below, below)] = True
    return np.tril(filled, -1)


@pytest.mark.parametrize("seed", range(6))
def test_columns_are_those_of_an_elimination(seed):
    pattern, indptr, indices = graph(seed, edges=20 + 20 * seed)
    order = np.random.default_rng(100 + seed).permutation(len(pattern))
    factor = eliminated(pattern, order)
    rows, parent = columns_of(order, indptr, indices)
    for j, found in enumerate(rows):
        assert found.tolist() == np.flatnonzero(factor[:, j]).tolist()
        assert parent[j] == (found[0] if len(found) else -1)
    same, count = counted(order, indptr, indices)
    assert np.array_equal(same, parent) and np.array_equal(count, factor.sum(axis=0))


def test_nodes_beside_the_other_side():
    pattern, indptr, indices = graph(7)
    side = np.random.default_rng(8).integers(0, 3, len(pattern))
    nodes, found = np.ascontiguousarray(np.flatnonzero(side == 1)), np.zeros(int((side == 1).sum()), dtype=bool)
    beside(nodes, side, indptr, indices, 2, found)
    assert found.tolist() == [bool(np.any(pattern[v] & (side == 2))) for v in nodes]
    assert 0 < found.sum() < len(found)
