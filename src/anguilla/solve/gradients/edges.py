"""Tendons of given length stay slack or taut while differences are taken beside an equilibrium.

A kernel decides anew whether such a tendon is slack, from its tension and from what its length misses. Where it is about to
change, the two sides of a difference would be on either side of a jump. With a given length further on, the decision is that
of the equilibrium; the balance of a taut tendon is only shifted by a constant, which no difference sees.
"""

from __future__ import annotations

import numpy as np

from anguilla.interact.kernels.table import INPUT, Loads
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import at_rest
from anguilla.model.model import LoadTable, Model

__all__ = ["actuators", "away_from_edges", "moved_lengths"]

AWAY = 1e-2  # of the length of the robot, far more than a step of a difference changes


def moved_lengths(model: Model, loads: Loads, q: Floats, lam: Floats) -> Floats:
    """By how much (actuators,) inputs in a state at rest (n,), (m,) are to be moved; zero for those that are no lengths."""
    rows = loads.constraints.input_row
    out = np.zeros(len(rows))
    held = np.flatnonzero(rows >= 0)
    if len(held):
        at_rest(model, loads, q, lam)
        slack = model.blank.constraints.slack[rows[held]] == 1
        out[held] = np.where(slack, AWAY, -AWAY) * model.length
    return out


def away_from_edges(table: LoadTable, q: Floats, lam: Floats) -> LoadTable:
    """The loads of an equilibrium (n,), (m,) with other lengths of tendons; the same table if none is given."""
    loads = table.loads
    if not len(lam) or not np.any(moved := moved_lengths(table.system, loads, q, lam)):
        return table
    loads = loads._replace(row=loads.row.copy())
    actuators(loads)[:] += moved
    return LoadTable(loads, table.column, table.table, table.times, table.system)


def actuators(loads: Loads) -> Floats:
    """Where the inputs (actuators,) lie in the row of the loads."""
    first = int(loads.at[INPUT])
    return loads.row[first : first + len(loads.constraints.input_row)]
