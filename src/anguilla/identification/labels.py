"""Markers that cameras have mixed up: found by where the fitted robot has them, and put right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from anguilla.identification.measurements import Measurements
from anguilla.mechanics.tree import Floats

__all__ = ["mixed_up", "relabelled"]

CLEARLY = 0.25  # of the sum of squares that is left when labels are exchanged: less is no chance
BY_CHANCE = 5.0  # deviations of a measurement, within which nothing is said


def best_labels(data: Measurements, predicted: dict[str, Floats]) -> NDArray[np.int64]:
    """(rows, m) The marker whose measured place suits each marker best; each itself where nothing is clearly better."""
    seen = np.stack([np.asarray(data.positions[name]) for name in data.positions], axis=1)
    there = np.stack([predicted[name] for name in data.positions], axis=1)
    found = np.tile(np.arange(seen.shape[1]), (len(seen), 1))
    noise = BY_CHANCE * np.stack([data.deviation("positions", name) for name in data.positions], axis=1)
    for row in range(len(seen)):
        own = np.flatnonzero(np.isfinite(seen[row]).all(axis=1))
        if len(own) < 2 or not np.isfinite(there[row, own]).all():
            continue
        expected, measured = there[row, own], seen[row, own]
        square = np.sum((expected[:, None] - measured[None]) ** 2, axis=2)
        mine, theirs = linear_sum_assignment(square)
        if square[mine, theirs].sum() < CLEARLY * np.trace(square) and np.trace(square) > np.sum(noise[row, own] ** 2):
            found[row, own[mine]] = own[theirs]
    return found


def relabelled(data: Measurements, predicted: dict[str, Floats]) -> Measurements:
    """The same measurements, with markers called what they should be."""
    if len(data.positions) < 2:
        return data
    rows, names = best_labels(data, predicted), list(data.positions)
    every = np.stack([np.asarray(data.positions[name]) for name in names], axis=1)
    right = np.take_along_axis(every, rows[:, :, None], axis=1)
    new: dict[str, Any] = {name: right[:, k] for k, name in enumerate(names)}
    return replace(data, positions=new)


def mixed_up(data: Measurements, predicted: dict[str, Floats]) -> str:
    """A sentence about markers that seem to be exchanged; nothing if none are."""
    if len(data.positions) < 2:
        return ""
    rows, names = best_labels(data, predicted), list(data.positions)
    wrong = rows != np.arange(len(names))
    where = np.flatnonzero(wrong.any(axis=1))
    if not len(where):
        return ""
    who = " and ".join(name for name, w in zip(names, wrong.any(axis=0), strict=True) if w)
    some = ", ".join(map(str, where[:5])) + (", ..." if len(where) > 5 else "")
    return f"markers {who} of {data.name} seem to be mixed up in {len(where)} of {data.rows} rows ({some}): see relabelled()"
