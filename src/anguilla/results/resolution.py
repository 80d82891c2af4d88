"""How well modes and intervals resolve a state: an estimate of the error in space, without computing on a finer grid.

*Modes.* The residual is orthogonal to the modes of a rod, not zero: at the Gauss points the force on the strains, f, misses
the stress w H (eps + mu eps'). The part of -(f / w + stress) / H that the next two polynomials of each panel can take is the
strain that more modes would add. *Intervals.* The strains of a rod at the Gauss points of half intervals give the motion over
each interval once more, with a sixteenth of the error. Both changes of strain and of turns are carried along the tree as
small motions of all nodes, in world axes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial.legendre import legvander

from anguilla.compiler.jit import kernel
from anguilla.compiler.lanes import LANES
from anguilla.describe import STRAIN_NAMES, Chebyshev, Legendre, Monomial, RodHandle
from anguilla.interact.kernels.table import Loads
from anguilla.lie import exp6, inverse, log6
from anguilla.mechanics.compile import PartLayout
from anguilla.mechanics.grid import GAUSS, gauss_points
from anguilla.mechanics.rodmap import FORCE, MAGNUS, RATE, RHO, STRAIN, TURN
from anguilla.mechanics.tree import N_R, N_X, Floats
from anguilla.model.model import Model
from anguilla.results.fields import strain_field
from anguilla.results.reactions import evaluate

__all__ = ["Resolution", "doubtful", "like_a_good_one", "resolution"]

MORE = 2  # polynomials beyond those of the basis, on each panel
COMPLETE = Legendre, Chebyshev, Monomial  # all polynomials up to their degree
MOST_DEGREE = 9  # of polynomials that are easy to solve for
# Parts of the length by which more of them may move a robot without a word. Large errors are estimated up to three times too
# large, so a robot that is said to lack modes is off by a tenth of its length.
FEW_MODES, FEW_INTERVALS = 0.15, 0.02
# The same of a motion, whose errors add up: of 400 motions of random arms none that was said to lack modes was off by less
# than a twentieth of the length, and four fifths of those that were off by more than a tenth were said to.
MOVING = 0.03
# Sizes [rad] of the last mode below which too little is left: of one or two modes, and of more, since those that follow them
# average out (in 1,400 random arms at most a quarter of what would be said). Share of the mode before it.
FADING, MORE_FADING, BEFORE = 0.15, 0.6, 0.3
LIKE, GOOD = 0.1, 0.5  # parts by which a state may differ from one that was good enough by this part, to be so too
TURN_OF_INTERVAL = 1.0  # [rad] up to which the error of an interval does not matter: at most a quarter of the same


@dataclass(frozen=True)
class Resolution:
    """Estimated error of a state in space, as parts of the length of the robot.

    Attributes:
        modes: what more modes would move.
        intervals: what more intervals would move.
        rod: name of the rod that its modes or intervals serve worst; empty without rods.
        enough: what more modes may move without a word.

    """

    modes: float = 0.0
    intervals: float = 0.0
    rod: str = ""
    enough: float = FEW_MODES

    @property
    def total(self) -> float:
        """Both together."""
        return self.modes + self.intervals

    @property
    def want(self) -> float:
        """How much more modes or intervals are wanted: above 1 it is said."""
        return max(self.modes / self.enough, self.intervals / FEW_INTERVALS)

    @property
    def words(self) -> str:
        """What to say of it and what to do; nothing if it is good enough."""
        if self.want <= 1.0:
            return ""
        what = "modes" if self.modes / self.enough > self.intervals / FEW_INTERVALS else "intervals"
        more = " or more" if self.enough < FEW_MODES else ""  # errors of motions add up
        size = f"about {self.total:.0%} of the length{more}" if self.total < 0.5 else "half of the length or more"
        return f"rod {self.rod!r} has too few {what}; more of them would move it by {size}."


def resolution(
    system: Model, loads: Loads, q: Floats, v: Floats, a: Floats, lam: Floats, overstrain: Floats | None = None
) -> Resolution:
    """Estimate how far a state is off for want of modes and of intervals: q, v, a (n,), multipliers (m,).

    `overstrain` (n,) is what Prony terms add to the coordinates that stress rods.
    """
    rods = [layout for layout in system.layout.rods if layout.part.index not in system.shapes]
    if not rods:
        return Resolution()
    evaluate(system, loads, q, v, a, lam, in_space=True)
    nodes = len(system.tree.parent)
    worst, found = ("", -1.0), []
    for changes in (_missing_strain, _missing_turns):
        turn, shift = np.zeros((nodes, 3)), np.zeros((nodes, 3))
        for layout in rods:
            own = changes(system, layout, q, overstrain)
            turn[layout.nodes[1:]], shift[layout.nodes[1:]] = own
            size = float(np.max(np.abs(_displacement(system, layout, *own))))
            worst = max(worst, (layout.part.name, size), key=lambda one: one[1])
        found.append(_carried(system, rods, turn, shift) / system.length)
    return Resolution(found[0], found[1], worst[0])


def doubtful(system: Model, q: Floats) -> Floats:
    """How much states q (nt, n) may want more modes or intervals (nt,): not at all below 1, which spares the estimate.

    Where the last modes of every strain have faded, those left out have too; a strain with few modes or pieces is looked at
    as a whole. The estimate decides.
    """
    sizes, turns = system.once(_looked_at)
    if not len(turns):
        return np.zeros(len(q))
    out = np.zeros(len(q))
    _doubt(q, sizes, turns, out)
    return out


@kernel
def _doubt(q, sizes, turns, out):
    """`doubtful`, with weights sizes (n,) and turns (strains, n), into out (nt,)."""
    for t in range(len(q)):
        for i in range(len(sizes)):
            out[t] = max(out[t], abs(q[t, i]) * sizes[i])
        for s in range(len(turns)):
            total = 0.0
            for i in range(len(sizes)):
                total += abs(q[t, i]) * turns[s, i]
            out[t] = max(out[t], total)


def like_a_good_one(kept: dict[str, Any], row: Floats, q: Floats, weight: Floats, find: Callable[[], float]) -> bool:
    """Whether a state (n,) under a row of loads is well resolved, or differs little from the last that was.

    Args:
        kept: where the last one is kept.
        row: loads.
        q: (n,) coordinates.
        weight: (n,) that make them angles.
        find: estimates how much more is wanted; it costs more than a step of Newton.

    """
    before = kept.get("resolved")
    if before is not None:
        there, acted = before
        size = LIKE * float(np.max(np.abs(there * weight), initial=0.0))
        same = row.shape == acted.shape and np.all(np.abs(row - acted) <= LIKE * np.abs(acted))
        if same and float(np.max(np.abs((q - there) * weight), initial=0.0)) <= size:
            return True
    want = find()
    kept["resolved"] = (q.copy(), row.copy()) if want <= GOOD else None
    return want <= 1.0


def _looked_at(system: Model) -> tuple[Floats, Floats]:
    """For `doubtful`: weights (n,) of the last modes, and (strains, n) of the turn of an interval."""
    sizes, turns = np.zeros(system.size), []
    for layout in system.layout.rods:
        if layout.part.index in system.shapes:
            continue
        at, part = layout.coordinates.start, layout.part
        assert layout.grid is not None and isinstance(part, RodHandle)
        longest = float(np.max(np.diff(layout.grid.X)))
        for _, basis in part.rod.strains.items():
            turn, own = np.zeros(system.size), slice(at, at + basis.size)
            scale = system.tree.strain_scale[own]
            turn[own] = scale * longest / part.length / TURN_OF_INTERVAL
            sizes[own] = scale / FADING
            if basis.size > 2 and not basis.breakpoints:  # (of symmetric shapes every other mode is zero)
                sizes[own] = 0.0
                sizes[own][-2:] = scale[-2:] * np.array([BEFORE, 1.0]) / MORE_FADING
            turns.append(turn)
            at += basis.size
    return sizes, np.array(turns).reshape(-1, system.size)


def _fields(system: Model, layout: PartLayout, first: np.uint64, count: int) -> Floats:
    """Fields of the records of a rod's intervals (N, count)."""
    at = system.tree.record_at[layout.nodes[1:]].astype(np.int64)
    return np.asarray(system.workspace.local[at[:, None] + int(first) + LANES * np.arange(count)])


def _ends(system: Model, layout: PartLayout) -> tuple[Floats, Floats]:
    """Rotations (m, 3, 3) and positions (m, 3) of the nodes of a rod."""
    rows = system.workspace.node[layout.nodes]
    return rows[:, N_R : N_R + 9].reshape(-1, 3, 3), rows[:, N_X : N_X + 3]


def _missing_strain(system: Model, layout: PartLayout, q: Floats, overstrain: Floats | None) -> tuple[Floats, Floats]:
    """Turn and shift (N, 3) over each interval that more modes would add, world axes; shift as seen from the origin."""
    part, grid = layout.part, layout.grid
    assert grid is not None and isinstance(part, RodHandle)
    rod = part.rod
    points, h = gauss_points(grid.X), np.diff(grid.X)
    X, weight = points.ravel(), np.repeat(0.5 * h, 2)
    strain, rate, force = (_fields(system, layout, at, 12).reshape(-1, 6) for at in (STRAIN, STRAIN + RATE, FORCE))
    hooke = rod.hooke(X)
    strained = strain - rod.rest.strain(X) + rod.material.damping * rate
    if overstrain is not None:
        strained += strain_field(system, part, X, overstrain[None])[0] - rod.rest.strain(X)
    left = force / weight[:, None] + hooke * strained
    tension, panel = np.maximum(-force[:, 3] / weight, 0.0), float(np.max(np.diff(grid.X[grid.panels])))
    change, polynomials = np.zeros((len(X), 6)), legvander(2.0 * X / rod.length - 1.0, MOST_DEGREE)
    most = min(MOST_DEGREE, len(X) // 2 - 1)
    for name, basis in rod.strains.items():
        k = STRAIN_NAMES.index(name)
        if not np.all(hooke[:, k] > 0.0):
            continue  # nothing resists: no stress tells
        firm = hooke[:, k].copy()
        if name in ("bend_y", "bend_z"):  # a taut rod resists waves of its length over pi n as a string does
            firm += tension * (panel / (np.pi * (basis.degree + 1))) ** 2
        if isinstance(basis, COMPLETE) and not rod.breakpoints and basis.degree + MORE <= most:
            wider = polynomials[:, : basis.size + MORE]
            unmet = wider.T @ (weight * left[:, k])
            unmet[: basis.size] = 0.0  # along modes forces balance
            change[:, k] = -wider @ np.linalg.solve(wider.T @ (wider * (weight * firm)[:, None]), unmet)
            continue
        root = np.sqrt(weight * firm)
        modes = root[:, None] * basis(X / rod.length)
        wider = root[:, None] * _panel_polynomials(X, grid.X[grid.panels], basis.degree + MORE)
        own = np.linalg.qr(modes)[0]
        wider -= own @ (own.T @ wider)
        new, size, _ = np.linalg.svd(wider, full_matrices=False)
        new = new[:, size > 1e-8 * max(float(size[0]), 1e-300)]
        change[:, k] = -(new @ (new.T @ (left[:, k] * weight / root))) / root
    rotation, place = _ends(system, layout)
    middle = 0.5 + GAUSS * np.array([-1.0, 1.0])
    turned = np.einsum("ngij,ngj->ngi", _between(rotation, middle), change.reshape(-1, 2, 6)[:, :, :3])
    moved = np.einsum("ngij,ngj->ngi", _between(rotation, middle), change.reshape(-1, 2, 6)[:, :, 3:])
    turned, moved = 0.5 * h[:, None, None] * turned, 0.5 * h[:, None, None] * moved
    return turned.sum(axis=1), (moved - _cross(turned, _between(place, middle))).sum(axis=1)


def _between(values: Floats, parts: Floats) -> Floats:
    """Values (N, 2, ...) inside the intervals between nodes with values (N + 1, ...), linear."""
    s = parts.reshape(1, -1, *[1] * (values.ndim - 1))
    return (1.0 - s) * values[:-1, None] + s * values[1:, None]


def _panel_polynomials(X: Floats, ends: Floats, degree: int) -> Floats:
    """Legendre polynomials (m, k) on each panel between ends, up to a degree, as far as its points X (m,) tell them apart."""
    columns = []
    for low, high in pairwise(ends.tolist()):
        inside = (X > low) & (X < high)
        most = min(degree, max(int(inside.sum()) // 2 - 1, 0))
        values = legvander((2.0 * X - low - high) / (high - low), most)
        columns.append(np.where(inside[:, None], values, 0.0))
    return np.concatenate(columns, axis=1)


def _missing_turns(system: Model, layout: PartLayout, q: Floats, _overstrain: Floats | None) -> tuple[Floats, Floats]:
    """Turn and shift (N, 3) over each interval that half intervals would add, world axes; shift as seen from the origin."""
    part, grid = layout.part, layout.grid
    assert grid is not None and isinstance(part, RodHandle)
    middle = 0.5 * (grid.X[:-1] + grid.X[1:])
    fine = np.insert(grid.X, np.arange(1, len(grid.X)), middle)
    strain = strain_field(system, part, gauss_points(fine).ravel(), q[None])[0].reshape(-1, 2, 6)
    half = exp6(_magnus(strain[:, 0], strain[:, 1], np.diff(fine)))
    before = np.tile(np.eye(4), (len(middle), 1, 1))
    before[:, :3, :3] = _fields(system, layout, TURN, 9).reshape(-1, 3, 3)
    before[:, :3, 3] = _fields(system, layout, RHO, 3)
    rotation, place = _ends(system, layout)
    change = log6(half[0::2] @ half[1::2] @ inverse(before))  # in the axes of the parent, about its origin
    turned, moved = (np.einsum("nij,nj->ni", rotation[:-1], change[:, k : k + 3]) for k in (0, 3))
    return turned, moved - _cross(turned, place[:-1])


def _cross(a: Floats, b: Floats) -> Floats:
    """Cross products (..., 3), without the overhead of NumPy's for any axis."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for k, i, j in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., k] = a[..., i] * b[..., j] - a[..., j] * b[..., i]
    return out


def _magnus(one: Floats, two: Floats, h: Floats) -> Floats:
    """Exponents (N, 6) of intervals h (N,) with strains (N, 6) at their two Gauss points: see mechanics/rodmap.py."""
    bracket = np.concatenate(
        [
            _cross(one[:, :3], two[:, :3]),
            _cross(one[:, :3], two[:, 3:]) - _cross(two[:, :3], one[:, 3:]),
        ],
        axis=1,
    )
    return 0.5 * h[:, None] * (one + two) + MAGNUS * h[:, None] ** 2 * bracket


def _displacement(system: Model, layout: PartLayout, turn: Floats, shift: Floats) -> Floats:
    """Displacements (m, 3) of the nodes of a rod whose root stays."""
    _, place = _ends(system, layout)
    turns, shifts = (np.concatenate([np.zeros((1, 3)), np.cumsum(x, axis=0)]) for x in (turn, shift))
    return _cross(turns, place) + shifts


def _carried(system: Model, rods: list[PartLayout], turn: Floats, shift: Floats) -> float:
    """Largest displacement [m] of a node: along the tree, or, in a robot with loops, of rods held at both ends."""
    if system.rows:
        sizes = [0.0]
        for layout in rods:
            moved = _displacement(system, layout, turn[layout.nodes[1:]], shift[layout.nodes[1:]])
            assert layout.grid is not None
            moved = moved - (layout.grid.X / layout.grid.X[-1])[:, None] * moved[-1]
            sizes.append(float(np.max(np.linalg.norm(moved, axis=1))))
        return max(sizes)
    parent = system.tree.parent
    for i in range(1, len(parent)):
        turn[i] += turn[parent[i]]
        shift[i] += shift[parent[i]]
    moved = _cross(turn, system.workspace.node[:, N_X : N_X + 3]) + shift
    return float(np.max(np.linalg.norm(moved, axis=1)))
