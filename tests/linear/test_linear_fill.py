"""Orders of little fill, against a search that knows nothing of bits, and against minimum degree."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.compiler.bits import first, ones
from anguilla.fem import ordering
from anguilla.fem.system import SoftSystem
from anguilla.linear.fill import least_fill
from anguilla.linear.ordering import minimum_degree
from anguilla.linear.symbolic import counted


def graph(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Adjacency of n nodes on a line, near ones linked, and where they are."""
    rng = np.random.default_rng(seed)
    along = rng.random(n)
    meet = (np.abs(along[:, None] - along) < 12.0 / n) & (rng.random((n, n)) < 0.4)
    meet |= meet.T
    np.fill_diagonal(meet, seed % 2 == 0)  # with the diagonal or without it
    return np.r_[0, np.cumsum(meet.sum(axis=1))].astype(np.int64), np.nonzero(meet)[1].astype(np.int64), along


def greedy(indptr: np.ndarray, indices: np.ndarray, tie: np.ndarray) -> list[int]:
    """Always the node next whose neighbours lack fewest links to each other, each counted for both, per neighbour."""
    near = {v: set(indices[indptr[v] : indptr[v + 1]].tolist()) - {v} for v in range(len(tie))}
    order = []
    while near:
        lacks = {v: sum(u not in near[w] for u in of for w in of if u != w) / max(len(of), 1) for v, of in near.items()}
        v = min(near, key=lambda v: (lacks[v], tie[v]))
        of = near.pop(v)
        for u in of:
            near[u] = (near[u] | of) - {u, v}
        order.append(v)
    return order


@pytest.mark.parametrize("n", [1, 2, 60, 150])
def test_the_order_is_that_of_a_plain_search(n):
    for seed in (0, 1):
        indptr, indices, along = graph(n, seed)
        tie = np.random.default_rng(seed + 9).uniform(-1.0, 1.0, n)
        assert least_fill(indptr, indices, along, tie).tolist() == greedy(indptr, indices, tie)


def test_a_search_that_takes_too_long_goes_on_by_degree():
    indptr, indices, along = graph(150, 3)
    tie = np.arange(150) / 150.0
    found = least_fill(indptr, indices, along, tie, budget=0.0)
    assert sorted(found.tolist()) == list(range(150))
    degree = counted(found, indptr, indices)[1]
    near = minimum_degree(indptr, indices)
    assert np.sum((degree + 1.0) ** 2) < 1.3 * np.sum((counted(near, indptr, indices)[1] + 1.0) ** 2)


def test_a_solid_bar_takes_less_than_by_minimum_degree(monkeypatch):
    mesh = fem.block((0.1, 0.02, 0.02), (24, 5, 5))
    body = fem.SoftBody("bar", mesh, ag.Material(young=2e5, poisson=0.4, density=1e3))
    body.fix("base")
    monkeypatch.setattr(ordering, "_by_metis", lambda *_: None)
    now = SoftSystem(body, solver="ldl").solver.fronts.operations
    monkeypatch.setattr(ordering, "_of_least_fill", lambda *_: [])
    assert now < 0.9 * SoftSystem(body, solver="ldl").solver.fronts.operations


def test_bits_of_words():
    for word in (1, 6, 1 << 63, 0xF0F0F0F0F0F0F0F0):
        assert ones(np.uint64(word)) == bin(word).count("1")
        assert first(np.uint64(word)) == bin(word)[::-1].index("1")
