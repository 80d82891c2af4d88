"""The curve of equilibria of a robot under a load factor: its residual, slopes, tangent, corrections and stability."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anguilla.interact.kernels.table import DT, MOTION, Loads
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import Evaluation, at_rest
from anguilla.model.model import Inputs, Model
from anguilla.model.user import move
from anguilla.solve.modes.local import free_directions
from anguilla.solve.modes.modes import Stability, second_variation
from anguilla.solve.newton.dense import least

BALANCED = 1e-15  # residual that is round-off, as a part of the stiffness
FREE = 1e-11  # singular values below this part of the largest are zero: the robot may move at no cost


class Point(NamedTuple):
    """An equilibrium on its way."""

    q: Floats
    lam: Floats
    s: float


class Curve:
    """Equilibria of a system as a curve in (q, lambda, s), measured in angles and parts of the range of factors."""

    def __init__(self, system: Model, inputs: Inputs, span: float, tolerance: float, neutral: float) -> None:
        self.neutral = neutral
        self.system, self.inputs, self.span, self.tolerance = system, inputs, span, tolerance
        self.n, self.m = system.size, system.rows
        self.free = np.setdiff1d(np.arange(self.n), system.blank.driven)
        self.scale = system.tree.scale

    def loads(self, s: float, beside: bool = False) -> Loads:
        """Loads at a factor; `beside` the curve, where differences are taken, nobody minds a tendon that pushes."""
        loads = self.system.loads(s, self.inputs, pulling=not beside).loads
        loads.row[DT] = 0.0
        return loads

    def drive(self, loads: Loads, q: Floats) -> Floats:
        """Coordinates with the prescribed ones set."""
        at = int(loads.at[MOTION])
        out = q.copy()
        out[loads.driven] = loads.row[at : at + 3 * len(loads.driven) : 3]
        return out

    def evaluate(self, point: Point, beside: bool = False) -> Evaluation:
        """The state of a point, with its prescribed coordinates set."""
        loads = self.loads(point.s, beside)
        return at_rest(self.system, loads, self.drive(loads, point.q), point.lam)

    def residual(self, point: Point, beside: bool = False) -> Floats:
        """Rows of the free coordinates and of the constraints."""
        out = self.evaluate(point, beside).values
        return np.concatenate([out[self.free] / self.scale[self.free], out[self.n :]])

    def slopes(self, point: Point) -> tuple[Floats, Floats]:
        """(matrix (f + m, f + m) by coordinates in angles and multipliers, column (f + m,) by the factor)."""
        h = 1e-6 * self.span
        ends = [self.residual(point._replace(s=point.s + x), beside=True) for x in (h, -h)]
        whole = self.evaluate(point).flat
        keep = np.concatenate([self.free, self.n + np.arange(self.m)])
        size = np.concatenate([1.0 / self.scale[self.free], np.ones(self.m)])
        matrix = whole[np.ix_(keep, keep)] * np.outer(size, size)
        return matrix, (ends[0] - ends[1]) / (2.0 * h) * self.span

    def stability(self, point: Point) -> Stability:
        """Second variation on what closures and prescribed coordinates leave free."""
        n = self.n
        whole = self.evaluate(point).flat
        diagonal = np.diag(whole)[n:]
        soft, hard = np.flatnonzero(diagonal != 0.0), np.flatnonzero(diagonal == 0.0)
        K = whole[:n, :n] - (whole[:n, n + soft] / diagonal[soft]) @ whole[n + soft, :n]
        basis, _ = free_directions(whole[n + hard, :n], self.free, self.scale)
        return second_variation(K, basis, self.scale, self.neutral)

    def solve(self, matrix: Floats, right: Floats) -> Floats:
        """Solve a bordered system, scaled to entries of order one; without moving in directions that cost nothing."""
        return least(matrix, right, max(FREE, self.neutral))[0]

    def shift(self, point: Point, change: Floats) -> Point:
        """A point moved by a change of (free coordinates in angles, multipliers, factor / span)."""
        f = len(self.free)
        dq = np.zeros(self.n)
        dq[self.free] = change[:f] / self.scale[self.free]
        s = point.s + self.span * float(change[-1])
        q = self.drive(self.loads(s), move(self.system.tree, point.q, dq))
        return Point(q, point.lam + change[f:-1], s)

    def metric(self, change: Floats) -> Floats:
        """A change without its multipliers: what lengths are measured with."""
        out = change.copy()
        out[len(self.free) : -1] = 0.0
        return out

    def distance(self, one: Point, two: Point) -> float:
        """Length of the straight way between two points."""
        change = np.append((two.q - one.q) * self.scale, (two.s - one.s) / self.span)
        return float(np.linalg.norm(change))

    def correct(self, point: Point, across: Floats) -> Point | None:
        """Newton in the plane across a direction; None if it fails. The last entry of `across` may hold the load."""
        size, before = np.inf, np.inf
        for _ in range(12):
            matrix, column = self.slopes(point)
            left = self.residual(point)
            if self.is_balanced(left, matrix):
                return point  # where branches cross the matrix is singular: no correction may be asked for
            bordered = np.vstack([np.column_stack([matrix, column]), self.metric(across)])
            change = self.solve(bordered, -np.append(left, 0.0))
            size = float(np.linalg.norm(self.metric(change)))
            if not np.isfinite(size) or size > 1.0 or size > 2.0 * before + self.tolerance:
                return None
            point = self.shift(point, change)
            if size < self.tolerance:
                return point
            before = size
        return point if size < 1e3 * self.tolerance else None

    def is_balanced(self, left: Floats, matrix: Floats) -> bool:
        """Whether a residual is round-off."""
        f = len(self.free)
        stiff = float(np.max(np.abs(np.diag(matrix)[:f]), initial=0.0))
        gap = float(np.max(np.abs(left[f:]), initial=0.0))
        return gap < BALANCED and float(np.max(np.abs(left[:f]), initial=0.0)) < BALANCED * stiff

    def tangent(self, point: Point, along: Floats) -> Floats | None:
        """Unit tangent of the curve, on the side of `along`."""
        matrix, column = self.slopes(point)
        bordered = np.vstack([np.column_stack([matrix, column]), self.metric(along)])
        found = self.solve(bordered, np.append(np.zeros(len(column)), 1.0))
        length = float(np.linalg.norm(self.metric(found)))
        return found / length if np.isfinite(length) and length > 0.0 else None
