"""The linear solver is chosen by size, and METIS orders the built-in one where it is installed."""

from __future__ import annotations

import sys
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.errors import DescriptionError, MissingPackageError, SolverError
from anguilla.fem import linear, ordering
from anguilla.fem.system import SoftSystem
from anguilla.linear.ordering import minimum_degree


def bar() -> fem.SoftBody:
    body = fem.SoftBody(
        "bar", fem.block((0.2, 0.06, 0.06), (14, 5, 5)), ag.Material(young=2e5, poisson=0.4, density=1000.0)
    )
    body.fix("base")
    return body


def test_large_bodies_take_pardiso_if_it_is_there(monkeypatch):
    monkeypatch.setattr(linear, "library", lambda: None)
    assert [linear.chosen(n) for n in (1600, 2999, 3000, 30000)] == ["ldl", "ldl", "mkl", "mkl"]

    def missing():
        raise MissingPackageError("not here")

    monkeypatch.setattr(linear, "library", missing)
    assert linear.chosen(30000) == "ldl"
    assert SoftSystem(bar()).solver.name == "ldl"
    with pytest.raises(DescriptionError, match="solver must be one of 'auto', 'ldl', 'mkl', 'splu'; got 'lu'"):
        fem.statics(bar(), solver="lu")


def test_an_order_of_metis_gives_the_same_answers(monkeypatch):
    asked = []

    def dissect(graph):
        asked.append(graph)
        return minimum_degree(graph.adj_starts, graph.adjacent), None

    plain = fem.statics(bar(), solver="ldl")
    stand_in = SimpleNamespace(CSRAdjacency=lambda **named: SimpleNamespace(**named), nested_dissection=dissect)
    monkeypatch.setitem(sys.modules, "pymetis", stand_in)
    found = fem.statics(bar(), solver="ldl")
    (graph,) = asked
    rows = np.repeat(np.arange(len(graph.adj_starts) - 1), np.diff(graph.adj_starts))
    assert not np.any(rows == graph.adjacent)  # METIS takes no node for its own neighbour
    assert np.abs(found.x - plain.x).max() < 1e-12


def test_metis_saves_operations():
    pytest.importorskip("pymetis")
    system = SoftSystem(bar(), solver="ldl")
    with_it = system.solver.fronts.operations
    original = ordering._by_metis
    ordering._by_metis = lambda *_: None
    try:
        assert with_it <= SoftSystem(bar(), solver="ldl").solver.fronts.operations
    finally:
        ordering._by_metis = original


def scattered(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Points, rows and columns of blocks, blocks (nb, 9) and the whole of a random indefinite matrix: near points meet."""
    rng = np.random.default_rng(seed)
    points = rng.random((n, 3)) * [4.0, 1.0, 1.0]
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    meet = (far < np.sort(far, axis=1)[:, min(n - 1, 6)][:, None]) & (rng.random((n, n)) < 0.9)
    meet = np.triu(meet | meet.T, 1) | np.eye(n, dtype=bool)
    rows, cols = np.nonzero(meet)
    turned = rng.random(len(rows)) < 0.5  # as blocks may be told either way
    rows, cols = np.where(turned, cols, rows), np.where(turned, rows, cols)
    blocks = rng.standard_normal((len(rows), 3, 3))
    own = rows == cols
    blocks[own] += (
        np.swapaxes(blocks[own], 1, 2) + 12.0 * np.eye(3) * rng.choice([1.0, 1.0, -1.0], own.sum())[:, None, None]
    )
    whole = np.zeros((n, 3, n, 3))
    for i, j, block in zip(rows, cols, blocks, strict=True):
        whole[i, :, j] = block
        whole[j, :, i] = block.T
    return points, rows, cols, blocks.reshape(-1, 9), whole.reshape(3 * n, 3 * n)


@pytest.mark.parametrize("n", [1, 2, 5, 40, 230])
def test_factors_of_scattered_matrices_against_dense_algebra(n):
    points, rows, cols, blocks, whole = scattered(n, seed=n)
    solver = linear.Multifrontal(points, rows, cols)
    for scale in (1.0, 0.5):  # a second matrix finds what the first has left
        negative = solver.factor(scale * blocks)
        assert negative == np.count_nonzero(np.linalg.eigvalsh(whole) < 0.0)  # Sylvester
        rng = np.random.default_rng(7)
        for m in (1, 4, 5, 8, 13, 29):
            b = rng.standard_normal((m, 3 * n))
            b[1::3] = 0.0
            b[::4, : 3 * n // 2] = 0.0
            expected = np.linalg.solve(scale * whole, b.T).T
            limit = 1e-10 * np.abs(expected).max()
            assert np.abs(solver.solve(b) - expected).max() <= limit
            w, finish = solver.gram(b)
            assert np.abs(w - b @ expected.T).max() <= 1e-10 * np.abs(b @ expected.T).max()
            part = rng.standard_normal(m)
            assert np.abs(finish(part) - part @ expected).max() <= m * limit


def test_rows_of_zeros_have_no_compliance():
    """As those of a volume that the ground alone holds, where nothing acts on it."""
    points, rows, cols, blocks, _ = scattered(5, seed=4)
    solver = linear.Multifrontal(points, rows, cols)
    solver.factor(blocks)
    w, finish = solver.gram(np.zeros((3, 15)))
    assert not w.any() and not finish(np.ones(3)).any()


def test_a_matrix_without_a_pivot_is_singular():
    points, rows, cols, blocks, _ = scattered(40, seed=3)
    blocks[(rows == 7) | (cols == 7)] = 0.0
    with pytest.raises(SolverError, match="singular"):
        linear.Multifrontal(points, rows, cols).factor(blocks)


def test_no_order_of_siblings_waits_in_less_memory():
    points, rows, cols, _, _ = scattered(60, seed=5)
    fronts = linear.Multifrontal(points, rows, cols).fronts
    left = (np.diff(fronts.start) - np.diff(fronts.first)) ** 2
    children = [np.flatnonzero(fronts.parent == s).tolist() for s in range(len(left))]
    assert max(map(len, children)) >= 3

    def needed(s: int, orders) -> int:
        """Least that waits while the subtree of a front is eliminated, of these orders of all its siblings."""
        need = {c: needed(c, orders) for c in children[s]}
        found = []
        for order in orders(children[s]):
            waiting = np.cumsum([0, *left[list(order)]])
            found.append(max([left[s], *(w + need[c] for w, c in zip(waiting, order, strict=False))]))
        return min(found)

    roots = np.flatnonzero(fronts.parent < 0).tolist()
    as_they_are = [needed(s, lambda siblings: [siblings]) for s in roots]
    assert as_they_are == [needed(s, permutations) for s in roots]
    assert as_they_are < [needed(s, lambda siblings: [siblings[::-1]]) for s in roots]  # which is why it matters


@pytest.mark.parametrize("small, singular", [(1e-12, False), (1e-17, True)])
def test_a_pivot_far_below_the_others_is_singular(small, singular):
    points, rows, cols, blocks, _ = scattered(5, seed=2)
    blocks[:] = np.where((rows == cols)[:, None], np.eye(3).ravel(), 0.0)
    blocks[(rows == 2) & (cols == 2), 4] = small
    solver = linear.Multifrontal(points, rows, cols)
    if singular:
        with pytest.raises(SolverError, match="singular"):
            solver.factor(blocks)
    else:
        assert solver.factor(blocks) == 0
