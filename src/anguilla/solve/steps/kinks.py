"""Prescribed poses and lengths with kinks (measured ones, say): their rates jump, and multipliers ring."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anguilla.interact.kernels.table import INPUT, POSE
from anguilla.lie import log3
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
    found = [(name, first) for name, change in _changes(system, table) if (first := _first_jump(change)) >= 0]
    if not found:
        return ""
    return (
        f"What {', '.join(dict.fromkeys(name for name, _ in found))} of {system.robot.name!r} should follow has kinks, from "
        f"t = {dt * min(first for _, first in found):.3g} s on: rates jump, and reactions ring for many steps. Smooth it, "
        "by a spline through fewer points, or take "
        "method=GeneralisedAlpha(0.5), which forgets them soon."
    )


def _changes(system: Model, table: LoadTable) -> Iterator[tuple[str, Floats]]:
    """Name of what is prescribed, and its change from each sample to the next (nt - 1,).

    Lengths are parts of that of the robot. Rotations change by angles about axes of the moved frame: entries of matrices are
    no measure where a step turns far.
    """
    at, size = system.blank.at, system.layout.length
    columns = {j: k for k, j in enumerate(table.column.tolist())}
    for k, name in enumerate(system.robot.closures):
        first = int(at[POSE]) + 12 * k
        for j in range(9, 12):
            if first + j in columns:
                yield name, np.diff(table.table[:, columns[first + j]]) / size
        turning = [j for j in range(9) if first + j in columns]
        if turning:
            rotations = np.tile(table.loads.row[first : first + 9], (len(table.table), 1))
            rotations[:, turning] = table.table[:, [columns[first + j] for j in turning]]
            R = rotations.reshape(-1, 3, 3)
            for angle in log3(R[:-1].transpose(0, 2, 1) @ R[1:]).T:
                yield name, angle
    for k, (name, row) in enumerate(zip(system.robot.actuators, system.blank.constraints.input_row, strict=True)):
        if row >= 0 and int(at[INPUT]) + k in columns:
            yield name, np.diff(table.table[:, columns[int(at[INPUT]) + k]]) / size


def _first_jump(change: Floats) -> int:
    """Number of the step after which a change from sample to sample (nt - 1,) first jumps, if several times; or -1."""
    second = np.diff(change)
    size = np.abs(second)
    large = size > max(SEEN * float(np.max(size)), ROUND_OFF)
    if np.sum(large) < SEVERAL or np.sum(np.abs(np.diff(second))) <= JUMPS * np.sum(size):
        return -1
    return int(np.argmax(large)) + 2
