"""Stability of large robots: a few eigenvalues of the stiffness along what constraints leave free.

In K x = mu D x, with D the own stiffness of each coordinate, mu < 0 leads down. Of an open tree, all is known from the blocks
as they are eliminated, one after the other from the tips: no pivot is negative if nothing leads down (Sylvester). With loops,
Lanczos' iteration looks at (K + s D)^-1 for some s: whatever lies below -s is negative there, and the largest of them
are found first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigs

from anguilla.interact.kernels.table import Loads
from anguilla.linear.choice import DENSE
from anguilla.linear.sparse import ROUGH
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.evaluation import RATE, Evaluation, at_rest
from anguilla.model.model import Model
from anguilla.model.operator import BlockOperator, Operator
from anguilla.solve.newton.gaps import RANK, large

__all__ = ["Stiffness", "diagonal", "lanczos", "stiffness_at", "unheld", "yielding"]

LEAST = 1e-6  # of the largest stiffness: less is round-off
SHIFTS = (1e-5, 1e-2, 1.0)  # places at which negative stiffnesses are looked for
STEPS = 40  # of Lanczos' iteration
SOFT = 1e-13  # by which redundant constraints give way
SLOWEST = 16  # motions that are looked at where loads have no potential
Map = Callable[[Floats], Floats]


def lanczos(apply: Map, weight: Floats, start: Floats, steps: int = STEPS) -> tuple[Floats, Floats]:
    """(values (k,), vectors (n, k)), rising, of an operator that is symmetric in the metric `weight`."""
    most, count, x = min(steps, len(start)), 0, start
    basis, images = np.empty((most, len(start))), np.empty((most, len(start)))
    for count in range(most + 1):
        before = float(np.sqrt(x @ (weight * x)))
        for _ in range(2):
            x = x - (basis[:count] @ (weight * x)) @ basis[:count]
        size = float(np.sqrt(x @ (weight * x)))
        if count == most or not size > 1e-10 * (before if count else 1e-300):
            break
        basis[count] = x / size
        x = images[count] = apply(basis[count])
    if not count:
        return np.zeros(0), np.zeros((len(start), 0))
    V, W = basis[:count].T, images[:count].T
    small = V.T @ (weight[:, None] * W)
    values, shapes = np.linalg.eigh(0.5 * (small + small.T))
    return values, V @ shapes


class Stiffness:
    """The stiffness of a large robot about a state.

    Attributes:
        operator: the bordered stiffness; twist constraints hold.
        weight: (n,) D; or the squared units of angles and relative displacements.

    """

    def __init__(self, here: Evaluation, driven: Ints, own_units: bool = True, beta: float = 0.0) -> None:
        raw = here.operator(0.0, beta)
        assert isinstance(raw, BlockOperator)
        scale = here.model.tree.scale
        self.operator, self._n, self._here = raw.shifted(np.zeros(len(scale))), len(scale), here
        self.own = raw.own_diagonal()
        sized = np.abs(self.own) / scale**2
        self.largest = float(np.max(sized, initial=0.0))
        self.weight = scale**2 * (np.maximum(sized, LEAST * self.largest) if own_units and self.largest else 1.0)
        self._free = np.ones(self._n)
        self._free[driven] = 0.0
        self._lowest: dict[float, tuple[float, Floats]] = {}  # what was found by shift

    def inverse(self, shift: float) -> Map:
        """(K + shift D)^-1 D along what is free; LinAlgError if that is singular. Redundant constraints give way."""
        m = self.operator.size - self._n
        operator = self.operator.shifted(shift * self.weight)
        try:
            _ = operator.solved
        except np.linalg.LinAlgError:
            operator = self.operator.shifted(shift * self.weight, np.full(m, SOFT / (self.largest or 1.0)))
            _ = operator.solved

        def apply(x: Floats) -> Floats:
            right = np.zeros(operator.size)
            right[: self._n] = self._free * self.weight * x
            return np.asarray(operator.solve(right, exact=ROUGH)[: self._n] * self._free, dtype=float)

        return apply

    def times(self, x: Floats) -> Floats:
        """K x (n,), with compliant constraints that answer."""
        whole, n = np.concatenate([x, np.zeros(self.operator.size - self._n)]), self._n
        force = self.operator.times(whole)
        soft = self.operator.diagonal
        if not np.any(soft):
            return self._free * force[:n]
        whole[n:] = np.where(soft != 0.0, -force[n:] / np.where(soft != 0.0, soft, 1.0), 0.0)
        return np.asarray(self._free * self.operator.times(whole)[:n], dtype=float)

    @cached_property
    def random(self) -> Floats:
        """(4, n) Random motions along what is free, of order one in the units of the coordinates."""
        x = np.random.default_rng(0).standard_normal((4, self._n)) * self._free / np.sqrt(self.weight)
        if self.operator.size == self._n:
            return x
        hard = np.flatnonzero(self.operator.diagonal == 0.0)
        gradient = self.operator.gradient(self.weight, hard, np.full(self.operator.size - self._n, SOFT))
        right = np.zeros((self.operator.size, len(x)))
        right[: self._n] = (self.weight * x).T
        return np.ascontiguousarray(gradient.solve(right)[: self._n].T) * self._free

    def has_potential(self, allowed: float) -> bool:
        """Whether K is symmetric along what is free, but for a part `allowed`, by trying."""
        x = self.random
        answer = np.array([self.times(y) for y in x])
        work = x @ answer.T
        size = float(np.max(np.sum(answer**2 / self.weight, axis=1), initial=0.0)) ** 0.5
        return bool(np.max(np.abs(work - work.T)) <= allowed * max(size, float(np.sqrt(self._n))))

    def lowest(self, shift: float) -> tuple[float, Floats]:
        """(least stiffness found below -shift, or the one next to it; its direction (n,)), D-normed."""
        if shift not in self._lowest:
            apply = self.inverse(shift)
            values, vectors = lanczos(apply, self.weight, apply(self.random[0]))
            k = 0 if len(values) and values[0] < 0.0 and abs(values[0]) > 1e-9 * values[-1] else -1
            found = (1.0 / float(values[k]) - shift, vectors[:, k]) if len(values) else (np.inf, self.random[0])
            self._lowest[shift] = found
        return self._lowest[shift]

    def down(self, flat: float) -> Floats | None:
        """A direction (n,) along which the stiffness is below -flat; None if there is none."""
        if self.operator.size == self._n:
            if self.leads_down(flat):
                found = [self.lowest(shift) for shift in (flat, *SHIFTS)]
                return min(found, key=lambda x: x[0])[1]
            return None
        for shift in (flat, *SHIFTS):
            try:
                value, direction = self.lowest(shift)
            except np.linalg.LinAlgError:  # a stiffness of exactly -shift
                value, direction = self.lowest(1.1 * shift)
            if value < -flat and direction @ self.times(direction) < -flat:
                return direction
        return None

    def leads_down(self, flat: float) -> bool:
        """Whether there is such a direction: of an open tree, known without looking for it."""
        if self.operator.size > self._n:
            return self.down(flat) is not None
        return bool(np.min(self.operator.pivots(flat * self.weight, 1.0 / np.sqrt(self.weight)), initial=np.inf) < 0.0)

    def is_firm(self, flat: float) -> bool:
        """Whether all stiffnesses are above `flat`, if none leads down."""
        if self.operator.size == self._n:
            return not self.leads_down(-flat)
        return self.lowest(flat)[0] > flat

    def grows(self) -> tuple[NDArray[np.complex128], bool]:
        """Rates (k,) of the slowest motions exp(rate t) of M x'' + C x' + K x = 0, by Arnoldi's iteration; and C != 0."""
        n, flat = self._n, self._here.operator()
        fast, heavy = self._here.operator(RATE), self._here.operator(0.0, RATE**2)

        def part(of: Operator, unit: float, x: Floats) -> Floats:
            whole = np.concatenate([x, np.zeros(of.size - n)])
            return (of.times(whole) - flat.times(whole))[:n] / unit

        inverse = self.inverse(0.0)
        unit = 1.0
        mass = lambda x: inverse(part(heavy, RATE**2, x) / self.weight)
        rub = lambda x: inverse(part(fast, RATE, x) / self.weight)
        start = self.random[1]
        for _ in range(5):  # the longest time
            start = mass(start)
            size = float(np.sqrt(start @ (self.weight * start)))
            start, unit = start / max(size, 1e-300), np.sqrt(max(size, 1e-300))

        def apply(z: Floats) -> Floats:
            x, v = z[:n], z[n:]
            return np.concatenate([v, -mass(x) / unit**2 - rub(v) / unit])

        whole = LinearOperator((2 * n, 2 * n), matvec=apply, dtype=float)
        start = np.concatenate([self.random[2], self.random[3]])
        times = eigs(whole, k=min(SLOWEST, 2 * n - 2), which="LM", v0=start, return_eigenvectors=False, tol=1e-6)
        damped = bool(np.any(part(fast, RATE, self.random[0])))
        return np.asarray(1.0 / (unit * times), dtype=np.complex128), damped


def diagonal(here: Evaluation) -> Floats:
    """(n,) Diagonal of the stiffness at a state."""
    operator = here.operator()
    return np.diag(here.K) if not isinstance(operator, BlockOperator) else operator.own_diagonal()


def yielding(here: Evaluation, driven: Ints, force: Floats, rank: float = RANK) -> Floats | None:
    """How scaled coordinates (n,) give way to forces (n,) along what constraints leave free; None if something leads down."""
    scale, n = here.model.tree.scale, here.model.size
    if here.model.linear == DENSE:
        jacobian = here.J / scale
        jacobian[:, driven] = 0.0
        _, s, vt = np.linalg.svd(jacobian, full_matrices=True)
        free = vt[int(np.sum(large(s, rank))) :].T
        free = free[:, np.linalg.norm(np.delete(free, driven, axis=0), axis=0) > 0.5]
        stiffness = free.T @ (here.K / np.outer(scale, scale)) @ free
        try:
            np.linalg.cholesky(0.5 * (stiffness + stiffness.T))
        except np.linalg.LinAlgError:
            return None
        return np.asarray(-free @ np.linalg.solve(stiffness, free.T @ force), dtype=float)
    found = Stiffness(here, driven)
    operator = found.operator.shifted(np.zeros(n), np.full(found.operator.size - n, SOFT / (found.largest or 1.0)))
    right = np.zeros(operator.size)
    right[:n] = -force * scale
    try:
        return None if found.leads_down(0.0) else np.asarray(operator.solve(right)[:n] * scale, dtype=float)
    except np.linalg.LinAlgError:
        return None


def unheld(here: Evaluation, driven: Ints) -> Floats | None:
    """(n,) Share of each scaled coordinate in a motion of a large robot that nothing resists; None if there is none."""
    stiffness = Stiffness(here, driven, own_units=False)
    limit = RANK * (stiffness.largest or 1.0)
    try:
        value, direction = stiffness.lowest(limit)
    except np.linalg.LinAlgError:
        return None
    return np.abs(direction * here.model.tree.scale) if abs(value) <= 2.0 * limit else None


def stiffness_at(system: Model, loads: Loads, q: Floats, lam: Floats, *, own_units: bool = True) -> Stiffness:
    """The stiffness of a large robot at rest."""
    return Stiffness(at_rest(system, loads, q, lam), loads.driven, own_units)
