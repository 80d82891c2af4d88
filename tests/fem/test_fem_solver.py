"""The linear solver is chosen by size, and METIS orders the built-in one where it is installed."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.errors import DescriptionError, MissingPackageError
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
