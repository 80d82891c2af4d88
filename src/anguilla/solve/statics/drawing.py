"""Equilibria of robots whose tendons rub, one after the other: what is reached from an equilibrium before.

Friction of tendons remembers: drawn in and let out they pull differently. From a known equilibrium the inputs and loads go
straight to the new ones, and bristles bend with the line on the way (`rubbing.py`), as part of the balance. Newton takes the
tangent by differences: friction couples all places of a line.
"""

from __future__ import annotations

import numpy as np

from anguilla.interact.kernels.rubbing import keep_rubbing
from anguilla.interact.kernels.table import DT, KIND, TWIST, Loads
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.results.reactions import evaluate
from anguilla.solve.newton.rules import CONVERGED, DIVERGED

__all__ = ["follow_lines", "remember_lines"]

SMALL = 1e-7  # [rad, relative displacement] of a difference
MOST, HALVINGS = 30, 12  # corrections of a solve, and halvings of one
LESS = 1e-3  # of the misses, by which a correction lowers them at least: where sliding turns round slopes jump
SHORTEST = 2.0**-12  # part of the way that a step may be
ON_THE_WAY = "along tendons with friction, from the equilibrium before (one of many)"


def remember_lines(system: Model, loads: Loads, q: Floats, lam: Floats) -> None:
    """Keep bristles and lengths of lines at an equilibrium that was just found."""
    zero = np.zeros(system.size)
    loads.row[DT] = np.finfo(float).tiny
    evaluate(system, loads, q, zero, zero, lam)
    keep_rubbing(loads.cables, 1.0)
    loads.row[DT] = 0.0


def follow_lines(
    system: Model, loads: Loads, before: Floats, q: Floats, lam: Floats, tolerance: float
) -> tuple[Floats, int, str, dict[str, int]]:
    """Go from the row `before` to that of the loads; q and lam are where it begins, lam where it ends.

    Returns (q, status, message, counters).
    """
    solve = _Newton(system, loads, tolerance)
    slip, wanted, done, step, pieces = loads.cables.slip, loads.row.copy(), 0.0, 1.0, 0
    while done < 1.0 and step >= SHORTEST:
        there, kept = min(1.0, done + step), slip.copy()
        loads.row[:] = wanted if there == 1.0 else (1.0 - there) * before + there * wanted
        found = solve(q, lam)
        if found is None:
            slip[:], step = kept, 0.25 * step
            continue
        q, lam[:] = found
        keep_rubbing(loads.cables, 1.0)
        done, step, pieces = there, 2.0 * step, pieces + 1
    loads.row[:] = wanted
    loads.row[DT] = 0.0
    counters = {"iterations": solve.iterations, "load_steps": pieces}
    if done < 1.0:
        return q, DIVERGED, f"it went {100 * done:.3g} % of the way {ON_THE_WAY}, and no further", counters
    return q, CONVERGED, f"reached {ON_THE_WAY}", counters


class _Newton:
    """Newton with a tangent by differences, for coordinates and multipliers at once."""

    def __init__(self, system: Model, loads: Loads, tolerance: float) -> None:
        self.system, self.loads, self.tolerance, self.iterations = system, loads, tolerance, 0
        n = system.size
        self.free = np.setdiff1d(np.arange(n + system.rows), loads.driven)
        unit = np.concatenate([1.0 / system.tree.scale, np.ones(system.rows)])
        self.unit, self.zero = unit[self.free], np.zeros(n)

    def residual(self, x: Floats) -> Floats:
        """Balance and constraints (free,) at coordinates and multipliers x."""
        n = self.system.size
        self.loads.row[DT] = np.finfo(float).tiny
        return evaluate(self.system, self.loads, x[:n], self.zero, self.zero, x[n:])[self.free]

    def __call__(self, q: Floats, lam: Floats) -> tuple[Floats, Floats] | None:
        """(q, lam) in balance near the given ones, or None. The last evaluation is there."""
        x, n = np.concatenate([q, lam]), self.system.size
        multiplier = max(1.0, float(np.max(np.abs(lam), initial=0.0)))
        unit = np.where(self.free < n, self.unit, multiplier)
        right = self.residual(x)
        for _ in range(MOST):
            self.iterations += 1
            matrix = np.empty((len(right), len(right)))
            for k, (place, size) in enumerate(zip(self.free, unit, strict=True)):
                near = x.copy()
                near[place] += SMALL * size
                matrix[:, k] = (self.residual(near) - right) / SMALL
            rows = np.max(np.abs(matrix), axis=1)
            if not np.all(np.isfinite(matrix)) or np.any(rows == 0.0):
                return None
            try:
                change = np.linalg.solve(matrix / rows[:, None], -right / rows)
            except np.linalg.LinAlgError:
                return None
            size, miss, part = float(np.linalg.norm(change)), float(np.linalg.norm(right / rows)), 1.0
            for _ in range(HALVINGS):
                trial = x.copy()
                trial[self.free] += part * unit * change
                there = self.residual(trial)
                if np.all(np.isfinite(there)) and np.linalg.norm(there / rows) <= (1.0 - LESS * part) * miss:
                    break
                if size < self.tolerance:
                    break
                part *= 0.5
            else:
                return None
            x, right = trial, there
            if part == 1.0 and size < max(self.tolerance, 1e-9):
                return x[:n], x[n:]
        return None


def has_twists(loads: Loads) -> bool:
    """Whether constraints on twists hold the robot, which they do only while it moves."""
    return bool(np.any(loads.constraints.table[:, KIND] == TWIST))
