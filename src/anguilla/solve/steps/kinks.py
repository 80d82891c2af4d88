"""Prescribed poses and lengths with kinks (measured ones, say): their rates jump, and multipliers ring."""

from __future__ import annotations

import numpy as np

from anguilla.interact.kernels.table import INPUT, POSE
from anguilla.mechanics.tree import Floats
from anguilla.model.model import LoadTable, Model
from anguilla.solve.steps.schemes import Coefficients, memory

SEVERAL = 5  # kinks
JUMPS = 1.0  # third differences as a part of second ones: of a smooth motion much less, of impulses 2, of noise 1.7
SEEN = 0.1  # part of the largest second difference
ROUND_OFF = 1e-9  # of angles and relative displacements
LASTING = 0.8  # part of an error that a scheme keeps over a step


def kinked(system: Model, table: LoadTable, scheme: Coefficients, dt: float) -> str:
    """A sentence if closures or lengths move with several kinks and the scheme is slow to forget them, or nothing."""
    if not system.rows or len(table.table) < 4 * SEVERAL or memory(scheme) < LASTING:
        return ""
    at, size = system.blank.at, system.layout.length
    units = np.repeat([1.0, size], [9, 3]).tolist()  # of rotations and translations
    places = {
        int(at[POSE]) + 12 * k + j: (name, units[j]) for k, name in enumerate(system.robot.closures) for j in range(12)
    }
    tendons = zip(system.robot.actuators, system.blank.constraints.input_row, strict=True)
    places |= {int(at[INPUT]) + k: (name, size) for k, (name, row) in enumerate(tendons) if row >= 0}
    columns = [(places[j], table.table[:, k]) for k, j in enumerate(table.column.tolist()) if j in places]
    found = [(name, first) for (name, unit), x in columns if (first := _first_jump(x / unit)) >= 0]
    if not found:
        return ""
    return (
        f"What {', '.join(dict.fromkeys(name for name, _ in found))} of {system.robot.name!r} should follow has kinks, from "
        f"t = {dt * min(first for _, first in found):.3g} s on: rates jump, and reactions ring for many steps. Smooth it, "
        "by a spline through fewer points, or take "
        "method=GeneralisedAlpha(0.5), which forgets them soon."
    )


def _first_jump(x: Floats) -> int:
    """Number of the step after which the slope of samples (nt,) first jumps, if it does so several times; or -1."""
    second = np.diff(x, 2)
    size = np.abs(second)
    large = size > max(SEEN * float(np.max(size)), ROUND_OFF)
    if np.sum(large) < SEVERAL or np.sum(np.abs(np.diff(second))) <= JUMPS * np.sum(size):
        return -1
    return int(np.argmax(large)) + 2
