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

from anguilla.compiler.distant import direct, entry
from anguilla.compiler.lanes import LANES
from anguilla.describe import STRAIN_NAMES, Chebyshev, Legendre, Monomial, Rod, RodHandle
from anguilla.interact.kernels.table import Loads
from anguilla.lie import exp6, inverse, log6
from anguilla.mechanics.compile import PartLayout
from anguilla.mechanics.grid import GAUSS, RodGrid, gauss_points
from anguilla.mechanics.rodmap import FORCE, MAGNUS, RATE, RHO, STRAIN, TURN
from anguilla.mechanics.tree import N_R, N_X, Floats, Ints
from anguilla.model.model import Model
from anguilla.results.fields import strains_of
from anguilla.results.reactions import evaluate

__all__ = ["Resolution", "doubtful", "like_a_good_one", "most_doubtful", "resolution"]

MORE = 2  # polynomials beyond those of the basis, on each panel
COMPLETE = Legendre, Chebyshev, Monomial  # all polynomials up to their degree
MOST_DEGREE = 9  # of polynomials that are easy to solve for
# Parts of the length by which more of them may move a robot without a word. Errors are estimated up to three times too large
# or too small: of 125 random equilibria with an estimate between this and 0.15, 98 were off by more than 0.02, 51 by more
# than 0.05; of 99 with an estimate between 0.03 and this, 38 by less than 0.02.
FEW_MODES, FEW_INTERVALS = 0.05, 0.02
# The same of a net: errors are carried along its tree, as if its loops did not hold (of one that is off by 0.008, 0.12).
NET, LOOPS = 0.15, 3
# The same of a motion, whose errors add up: of 209 motions of random arms that were said to lack modes none was off by less
# than 2 % of the length, and four by less than 5 %; of 227 that were off by more than 10 %, 194 were said to.
MOVING = 0.03
# Sizes [rad] of the last mode below which too little is left: of one or two modes, and of more, since those that follow them
# average out (in 1,400 random arms at most a quarter of what would be said). Share of the mode before it.
FADING, MORE_FADING, BEFORE = 0.15, 0.6, 0.3
LIKE, GOOD = 0.1, 0.5  # parts by which a state may differ from one that was good enough by this part, to be so too
NOWHERE = np.zeros(0)
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
    system: Model, loads: Loads, q: Floats, v: Floats, a: Floats, lam: Floats, overstrain: Floats | None = None, *,
    moving: bool = False,
) -> Resolution:  # fmt: skip
    """Estimate how far a state is off because modes and intervals are few: q, v, a (n,), multipliers (m,).

    `overstrain` (n,) is what Prony terms add to the coordinates that stress rods; `moving` tells a state of a motion.
    """
    kinds = system.once(_alike)
    if not kinds:
        return Resolution()
    evaluate(system, loads, q, v, a, lam, in_space=True)
    nodes = len(system.tree.parent)
    worst, found = ("", -1.0), []
    for changes in (_missing_strain, _missing_turns):
        turn, shift = np.zeros((nodes, 3)), np.zeros((nodes, 3))
        for alike in kinds:
            own = changes(system, alike, q, overstrain, moving)
            turn[alike.nodes[:, 1:]], shift[alike.nodes[:, 1:]] = own
            sizes = np.max(np.abs(_displacement(system, alike, *own)), axis=(1, 2))
            k = int(np.argmax(sizes))
            worst = max(worst, (alike.names[k], float(sizes[k])), key=lambda one: one[1])
        found.append(_carried(system, kinds, turn, shift) / system.length)
    few = NET if len(system.robot.closures) >= LOOPS else FEW_MODES
    return Resolution(found[0], found[1], worst[0], MOVING if moving else few)


def doubtful(system: Model, q: Floats) -> Floats:
    """How much states q (nt, n) may want more modes or intervals (nt,): not at all below 1, which spares the estimate.

    Where the last modes of every strain have faded, those left out have too; a strain with few modes or pieces is looked at
    as a whole. The estimate decides.
    """
    out = np.zeros(len(q))
    _doubt(q, *system.once(_looked_at), out)
    return out


def most_doubtful(system: Model, q: Floats) -> tuple[int, float]:
    """Number of the state of q (nt, n) that may want more modes or intervals most, and how much (`doubtful`)."""
    found: tuple[int, float] = direct(_doubt)(q, *system.once(_looked_at), NOWHERE)
    return found


@entry()
def _doubt(q, sizes, turns, begins, out):
    """`doubtful`, with weights sizes (n,) and turns (n,) of strains that begin at (strains + 1,), into out (nt,) or nowhere.

    Returns the number of the first state with the largest, and this.
    """
    worst, most = 0, 0.0
    for t in range(len(q)):
        doubt = 0.0
        for s in range(len(begins) - 1):
            total = 0.0
            for i in range(begins[s], begins[s + 1]):
                doubt = max(doubt, abs(q[t, i]) * sizes[i])
                total += abs(q[t, i]) * turns[i]
            doubt = max(doubt, total)
        if len(out) > 0:
            out[t] = doubt
        if doubt > most:
            worst, most = t, doubt
    return worst, most


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
        there, acted, like = before
        size = like * float(np.max(np.abs(there * weight), initial=0.0))
        same = row.shape == acted.shape and np.all(np.abs(row - acted) <= like * np.abs(acted))
        if same and float(np.max(np.abs((q - there) * weight), initial=0.0)) <= size:
            return True
    want = find()
    kept["resolved"] = (q.copy(), row.copy(), LIKE if want <= GOOD else 0.0) if want <= 1.0 else None
    return want <= 1.0


def _looked_at(system: Model) -> tuple[Floats, Floats, Ints]:
    """For `doubtful`: weights (n,) of the last modes and of the turn of an interval, and where strains begin."""
    sizes, turns, begins = np.zeros(system.size), np.zeros(system.size), []
    for layout in system.layout.rods:
        if layout.part.index in system.shapes:
            continue
        at, part = layout.coordinates.start, layout.part
        assert layout.grid is not None and isinstance(part, RodHandle)
        longest = float(np.max(np.diff(layout.grid.X)))
        for _, basis in part.rod.strains.items():
            own = slice(at, at + basis.size)
            scale = system.tree.strain_scale[own]
            turns[own] = scale * longest / part.length / TURN_OF_INTERVAL
            sizes[own] = scale / FADING
            if basis.size > 2 and not basis.breakpoints:  # (of symmetric shapes every other mode is zero)
                sizes[own] = 0.0
                sizes[own][-2:] = scale[-2:] * np.array([BEFORE, 1.0]) / MORE_FADING
            begins.append(at)
            at += basis.size
    return sizes, turns, np.array([*begins, system.size], dtype=np.int64)


@dataclass(frozen=True)
class _Alike:
    """Rods of one description with one grid: what is missing is found for all of them at once.

    Attributes:
        rod: their description.
        grid: their nodes along the arc.
        names: of each.
        nodes: (k, N + 1) their nodes,
        coordinates: (k, own) and coordinates.

    """

    rod: Rod
    grid: RodGrid
    names: list[str]
    nodes: Ints
    coordinates: Ints


def _alike(system: Model) -> list[_Alike]:
    """All rods whose shapes are not prescribed, those that are alike together."""
    kinds: dict[tuple[int, bytes], list[PartLayout]] = {}
    for layout in system.layout.rods:
        if layout.part.index not in system.shapes:
            assert layout.grid is not None and isinstance(layout.part, RodHandle)
            kinds.setdefault((id(layout.part.rod), layout.grid.X.tobytes()), []).append(layout)
    found = []
    for layouts in kinds.values():
        part, grid = layouts[0].part, layouts[0].grid
        assert grid is not None and isinstance(part, RodHandle)
        own = np.array([np.arange(layout.coordinates.start, layout.coordinates.stop) for layout in layouts])
        names = [layout.part.name for layout in layouts]
        found.append(_Alike(part.rod, grid, names, np.array([layout.nodes for layout in layouts]), own))
    return found


def _fields(system: Model, alike: _Alike, first: np.uint64, count: int) -> Floats:
    """Fields of the records of the intervals of rods (k, N, count)."""
    at = system.tree.record_at[alike.nodes[:, 1:]].astype(np.int64)
    return np.asarray(system.workspace.local[at[..., None] + int(first) + LANES * np.arange(count)])


def _ends(system: Model, alike: _Alike) -> tuple[Floats, Floats]:
    """Rotations (k, N + 1, 3, 3) and positions (k, N + 1, 3) of the nodes of rods."""
    rows = system.workspace.node[alike.nodes]
    return rows[..., N_R : N_R + 9].reshape(*rows.shape[:2], 3, 3), rows[..., N_X : N_X + 3]


def _missing_strain(
    system: Model, alike: _Alike, q: Floats, overstrain: Floats | None, moving: bool
) -> tuple[Floats, Floats]:
    """Turn and shift (k, N, 3) over each interval that more modes would add, world axes; shift as seen from the origin."""
    rod, grid, count = alike.rod, alike.grid, len(alike.nodes)
    points, h = gauss_points(grid.X), np.diff(grid.X)
    X, weight = points.ravel(), np.repeat(0.5 * h, 2)
    strain, rate, force = (
        _fields(system, alike, at, 12).reshape(count, -1, 6) for at in (STRAIN, STRAIN + RATE, FORCE)
    )
    hooke = rod.hooke(X)
    strained = strain - rod.rest.strain(X) + rod.material.damping * rate
    if overstrain is not None:
        strained += strains_of(rod, X, overstrain[alike.coordinates]) - rod.rest.strain(X)
    left = force / weight[:, None] + hooke * strained
    change, polynomials = np.zeros((count, len(X), 6)), legvander(2.0 * X / rod.length - 1.0, MOST_DEGREE)
    most = min(MOST_DEGREE, len(X) // 2 - 1)
    for name, basis in rod.strains.items():
        k = STRAIN_NAMES.index(name)
        if not np.all(hooke[:, k] > 0.0):
            continue  # nothing resists: no stress tells
        if isinstance(basis, COMPLETE) and not rod.breakpoints and basis.degree + MORE <= most:
            wider = polynomials[:, : basis.size + MORE]
            unmet = wider.T @ (weight * left[:, :, k]).T
            unmet[: basis.size] = 0.0  # along modes forces balance
            change[:, :, k] = -(wider @ np.linalg.solve(wider.T @ (wider * (weight * hooke[:, k])[:, None]), unmet)).T
            continue
        root = np.sqrt(weight * hooke[:, k])
        modes = root[:, None] * basis(X / rod.length)
        wider = root[:, None] * _panel_polynomials(X, grid.X[grid.panels], basis.degree + MORE)
        own = np.linalg.qr(modes)[0]
        wider -= own @ (own.T @ wider)
        new, size, _ = np.linalg.svd(wider, full_matrices=False)
        new = new[:, size > 1e-8 * max(float(size[0]), 1e-300)]
        change[:, :, k] = -((left[:, :, k] * weight / root) @ new @ new.T) / root
    if moving:  # a taut rod resists waves of a length of panel / (pi n) as a string does, a limp one does so alone
        tension, panel = np.maximum(-force[:, :, 3] / weight, 0.0), float(np.max(np.diff(grid.X[grid.panels])))
        for name, basis in rod.strains.items():
            if name not in ("bend_y", "bend_z"):
                continue
            k, wave = STRAIN_NAMES.index(name), panel / (np.pi * (basis.degree + 1))
            change[:, :, k] *= hooke[:, k] / np.maximum(hooke[:, k] + tension * wave**2, 1e-300)
    rotation, place = _ends(system, alike)
    middle = 0.5 + GAUSS * np.array([-1.0, 1.0])
    between, pairs = _between(rotation, middle), change.reshape(count, -1, 2, 6)
    turned, moved = (0.5 * h[:, None, None] * (between @ pairs[..., at : at + 3, None])[..., 0] for at in (0, 3))
    return turned.sum(axis=2), (moved - _cross(turned, _between(place, middle))).sum(axis=2)


def _between(values: Floats, parts: Floats) -> Floats:
    """Values (k, N, 2, ...) inside the intervals between nodes with values (k, N + 1, ...), linear."""
    s = parts.reshape(1, 1, -1, *[1] * (values.ndim - 2))
    return (1.0 - s) * values[:, :-1, None] + s * values[:, 1:, None]


def _panel_polynomials(X: Floats, ends: Floats, degree: int) -> Floats:
    """Legendre polynomials (m, k) on each panel between ends, up to a degree, as far as its points X (m,) tell them apart."""
    columns = []
    for low, high in pairwise(ends.tolist()):
        inside = (X > low) & (X < high)
        most = min(degree, max(int(inside.sum()) // 2 - 1, 0))
        values = legvander((2.0 * X - low - high) / (high - low), most)
        columns.append(np.where(inside[:, None], values, 0.0))
    return np.concatenate(columns, axis=1)


def _missing_turns(
    system: Model, alike: _Alike, q: Floats, _overstrain: Floats | None, _moving: bool
) -> tuple[Floats, Floats]:
    """Turn and shift (k, N, 3) over each interval that half intervals would add, world axes, as seen from the origin."""
    X, count = alike.grid.X, len(alike.nodes)
    middle = 0.5 * (X[:-1] + X[1:])
    fine = np.insert(X, np.arange(1, len(X)), middle)
    strain = strains_of(alike.rod, gauss_points(fine).ravel(), q[alike.coordinates]).reshape(-1, 2, 6)
    half = exp6(_magnus(strain[:, 0], strain[:, 1], np.tile(np.diff(fine), count)))
    before = np.tile(np.eye(4), (count * len(middle), 1, 1))
    before[:, :3, :3] = _fields(system, alike, TURN, 9).reshape(-1, 3, 3)
    before[:, :3, 3] = _fields(system, alike, RHO, 3).reshape(-1, 3)
    rotation, place = _ends(system, alike)
    change = log6(half[0::2] @ half[1::2] @ inverse(before))  # in the axes of the parent, about its origin
    change = change.reshape(count, -1, 6, 1)
    turned, moved = ((rotation[:, :-1] @ change[:, :, k : k + 3])[..., 0] for k in (0, 3))
    return turned, moved - _cross(turned, place[:, :-1])


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


def _displacement(system: Model, alike: _Alike, turn: Floats, shift: Floats) -> Floats:
    """Displacements (k, N + 1, 3) of the nodes of rods whose roots stay."""
    _, place = _ends(system, alike)
    turns, shifts = np.zeros_like(place), np.zeros_like(place)
    np.cumsum(turn, axis=1, out=turns[:, 1:])
    np.cumsum(shift, axis=1, out=shifts[:, 1:])
    return _cross(turns, place) + shifts


def _carried(system: Model, kinds: list[_Alike], turn: Floats, shift: Floats) -> float:
    """Largest displacement [m] of a node: along the tree, or, in a robot with loops, of rods held at both ends."""
    if system.rows:
        largest = 0.0
        for alike in kinds:
            X, inner = alike.grid.X, alike.nodes[:, 1:]
            moved = _displacement(system, alike, turn[inner], shift[inner])
            moved = moved - (X / X[-1])[:, None] * moved[:, -1:]
            largest = max(largest, float(np.max(np.linalg.norm(moved, axis=2))))
        return largest
    parent = system.tree.parent
    for i in range(1, len(parent)):
        turn[i] += turn[parent[i]]
        shift[i] += shift[parent[i]]
    moved = _cross(turn, system.workspace.node[:, N_X : N_X + 3]) + shift
    return float(np.max(np.linalg.norm(moved, axis=1)))
