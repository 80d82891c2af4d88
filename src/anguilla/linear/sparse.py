"""Newton's system of a net as one sparse matrix: coordinates, multipliers, and the faces between blocks.

Its unknowns are the coordinates x, the multipliers, and of every face its motion z and the wrench w that passes through it:
    T_x x + T_z z + sum of G^T w + columns x multipliers = r     on coordinates of a block; w of blocks that hang on it
    w - W_x x - W_z z - sum of carried w = 0                     on what a block gives back to its host
    z - A z_host - B x_host = 0                                  the face as a frame of the host
    J (x, z) + diagonal = -gap                                   constraints
Loads between distant parts and constraints act on coordinates and faces alike. The places of the entries never change: they
are found once for a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import SuperLU, splu

from anguilla.compiler.lanes import LANES
from anguilla.interact.kernels.table import Loads
from anguilla.linear.fronts import (
    DONE,
    MADE,
    SINGULAR,
    WIDTH,
    collect,
    equilibrate,
    factorise,
    missing,
    solve,
    solve_transposed,
)
from anguilla.linear.ordering import Plan, plan_of
from anguilla.mechanics.tree import F_P0, F_TH0, FACE, N_X, Floats, Ints, Tree, Workspace

__all__ = ["EXACT", "ROUGH", "Net", "Solved", "Store", "factors_of"]

SIDES = np.array([F_TH0, F_TH0 + 1, F_TH0 + 2, F_P0, F_P0 + 1, F_P0 + 2])  # lanes of a face that its wrench works on
IN_PLANE = np.array([2, 5, 8, 9, 10, 12, 13, 15, 16])  # lanes of a face that move in a flat robot
ARM = ((0, 1, 1.0, 2), (0, 2, -1.0, 1), (1, 2, 1.0, 0), (1, 0, -1.0, 2), (2, 0, 1.0, 1), (2, 1, -1.0, 0))
TINY = 1e-300
# What pivots that are not the largest cost in digits, a few corrections win back; where they do not, pivots move freely.
CORRECTIONS, EXACT = 3, 1e-13
ROOMS = 1.5, 4.0, 16.0, 64.0  # times the memory that suffices if no pivot is late
WIDEST = 8  # segments that a constraint joins without being eliminated by itself
ROUGH = 1e-9  # part of the right-hand side that may be left where Newton corrects anyway
SWEEPS = 3  # what reaches a wrench through parts without mass comes from further on


class _Entries:
    """Entries of a matrix, collected in pieces: row, column, sign and place of the value."""

    def __init__(self) -> None:
        self.pieces: list[tuple[Ints, Ints, Ints, Floats]] = []

    def add(self, rows: Ints, columns: Ints, values: Ints, sign: Floats | float = 1.0) -> None:
        """Add entries; those in row or column -1 are none."""
        rows, columns, values, signs = np.broadcast_arrays(rows, columns, values, sign)
        there = (rows >= 0) & (columns >= 0)
        self.pieces.append((rows[there], columns[there], values[there], signs[there]))

    def all(self) -> tuple[Ints, Ints, Ints, Floats]:
        """All of them."""
        rows, columns, values, signs = (np.concatenate(piece) for piece in zip(*self.pieces, strict=True))
        return rows, columns, values, signs


class Net:
    """Where the entries of the matrix of a model stand, and where their values come from.

    Attributes:
        size: number of unknowns.
        given: number of coordinates and multipliers, the first of them.
        plan: how it is eliminated.
        rank: (unknowns,) place of each in the order of elimination.
        rows: (entries,) rows of the entries, such places,
        columns: (entries,) and columns.

    """

    def __init__(self, tree: Tree, loads: Loads) -> None:
        self.tree, self.given = tree, len(tree.lane) + len(loads.constraints.table)
        self._room = 0  # that was enough so far
        self.faced = np.flatnonzero(tree.face)
        wide = len(loads.frames.table) + len(loads.pairs.table) > 0
        moving = IN_PLANE if tree.flat[0] else np.arange(FACE)
        self._moving = moving[moving < (FACE if wide else F_P0)]
        self._sides = np.array([2, 3, 4]) if tree.flat[0] else np.arange(6)
        faces, z, w = len(self.faced), len(self._moving), len(self._sides)
        self.size = self.given + faces * (z + w)
        self._z = np.full((len(tree.root), FACE), -1)
        self._z[self.faced[:, None], self._moving] = self.given + np.arange(faces * z).reshape(faces, z)
        self._w = np.full((len(tree.root), 6), -1)
        self._w[self.faced[:, None], self._sides] = self.given + faces * z + np.arange(faces * w).reshape(faces, w)
        self._column = tree.of_lane.copy()  # unknown of an extended lane
        self._row, self._sign = tree.of_lane.copy(), np.ones(len(tree.of_lane))  # equation that a force on it enters
        at = LANES * tree.extended_at[self.faced]
        self._column[at[:, None] + np.arange(FACE)] = self._z[self.faced]
        self._row[at[:, None] + SIDES] = self._w[self.faced]
        self._sign[at[:, None] + SIDES] = -1.0
        self._lay_out(tree, loads)

    def _lay_out(self, tree: Tree, loads: Loads) -> None:
        """Find the pattern: `_values` of a state go to `_into` of the matrix, with signs."""
        c, pairs = loads.constraints, loads.pairs
        width = LANES * (tree.face + tree.packs)
        sizes = [int(LANES * tree.packs @ width), 6 * int(width.sum()), 0, 9 * len(self.faced), len(pairs.far)]
        sizes[2] = FACE * int(width[tree.host[tree.host >= 0]].sum())
        sizes += [c.jacobian.size, c.column.size, len(c.diagonal), 1]
        matrix, roots, ports, arms, far, jacobian, column, diagonal, one = np.cumsum([0, *sizes[:-1]]).tolist()
        found = _Entries()
        for b in range(len(tree.root)):
            self._block(found, b, matrix + int(tree.block_at[b]), roots + 24 * int(tree.extended_at[b]))
        for k, b in enumerate(self.faced.tolist()):
            self._face(found, b, ports + int(tree.port_at[b]), arms + 9 * k, one)
        for p in range(len(pairs.table)):
            packs = slice(pairs.table[p, 2], pairs.table[p, 3])
            used = np.arange(LANES) < pairs.lanes[packs, None]
            lanes = (LANES * pairs.pack[packs, None] + np.arange(LANES))[used]
            places = far + int(pairs.far_at[p]) + np.arange(len(lanes) ** 2).reshape(len(lanes), len(lanes))
            found.add(self._row[lanes][:, None], self._column[lanes], places, self._sign[lanes][:, None])
        multiplier = len(tree.lane) + np.repeat(np.arange(len(c.table)), np.diff(c.entry))[:, None]
        lanes, places = LANES * c.pack[:, None] + np.arange(LANES), np.arange(c.jacobian.size).reshape(-1, LANES)
        found.add(multiplier, self._column[lanes], jacobian + places)
        found.add(self._row[lanes], multiplier, column + places, self._sign[lanes])
        own = np.arange(len(tree.lane), self.given)
        found.add(own, own, diagonal + np.arange(len(own)))
        self._freeze(found, loads, one)

    def _block(self, found: _Entries, b: int, matrix: int, roots: int) -> None:
        """Entries of a block and of what it gives back; segments on different branches do not feel each other."""
        tree, face = self.tree, int(self.tree.face[b])
        width, start = LANES * (face + int(tree.packs[b])), LANES * int(tree.extended_at[b])
        columns = self._column[start : start + width]
        for s in tree.member[tree.member_at[b] : tree.member_at[b + 1]].tolist():
            at, own = int(tree.own_at[s]), int(tree.own_packs[s])
            above = tree.path[tree.path_at[s] : tree.path_at[s] + tree.path_packs[s]]
            near = np.concatenate([above, face + at + np.arange(tree.sub_packs[s])])
            lanes = (LANES * near[:, None] + np.arange(LANES)).ravel()
            rows = LANES * at + np.arange(LANES * own)
            places = matrix + rows[:, None] * width + lanes
            found.add(self._row[start + LANES * face + rows][:, None], columns[lanes], places)
        if face:
            found.add(self._w[b][:, None], columns, roots + np.arange(6 * width).reshape(6, width), -1.0)

    def _face(self, found: _Entries, b: int, ports: int, arms: int, one: int) -> None:
        """Entries of the motion of a face and of the wrench through it."""
        tree, z, w = self.tree, self._z[b], self._w[b]
        h = int(tree.host[b])
        width, start = LANES * int(tree.face[h] + tree.packs[h]), LANES * int(tree.extended_at[h])
        places = ports + np.arange(FACE * width).reshape(FACE, width)
        found.add(z, z, np.array(one))
        found.add(w, w, np.array(one))
        found.add(z[:, None], self._column[start : start + width], places, -1.0)
        own = slice(LANES * int(tree.face[h]), width)
        found.add(self._row[start : start + width][own, None], w, places[SIDES][:, own].T)
        if tree.face[h]:
            above = self._w[h]
            found.add(above, w, np.array(one), -1.0)
            for r, k, sign, x in ARM:  # moment r of a force k with arm x
                found.add(above[r : r + 1], w[3 + k : 4 + k], np.array(arms + x), sign)

    def _freeze(self, found: _Entries, loads: Loads, one: int) -> None:
        """Sort the entries in the order of elimination; those of prescribed coordinates are those of the identity."""
        rows, columns, values, signs = found.all()
        driven, still = loads.driven, np.zeros(self.size, dtype=bool)
        still[driven] = True
        keep = ~(still[rows] | still[columns])
        rows, columns = np.concatenate([rows[keep], driven]), np.concatenate([columns[keep], driven])
        values = np.concatenate([values[keep], np.full(len(driven), one)])
        signs = np.concatenate([signs[keep], np.ones(len(driven))])
        keys, into = np.unique(columns * self.size + rows, return_inverse=True)
        columns, rows = np.divmod(keys, self.size)
        self.plan = plan_of(*self._groups(loads), rows, columns)
        self.rank = self.plan.rank
        self.rows, self.columns = self.rank[rows[self.plan.entries]], self.rank[columns[self.plan.entries]]
        place = np.empty(len(keys), dtype=np.int64)
        place[self.plan.entries] = np.arange(len(keys))
        order = np.argsort(values, kind="stable")
        self._values, self._signs, self._into = values[order], signs[order], place[into[order]]
        self._faces = np.zeros(self.size, dtype=np.int64)
        self._faces[self.rank[self.given :]] = 1

    def _groups(self, loads: Loads) -> tuple[Ints, Ints]:
        """Which unknowns are eliminated together, and their order there: a segment with its face and its constraints.

        A rod that is closed onto another part takes the forces there along: coordinates first, then multipliers, which by
        then have something on their diagonal. A constraint on many segments stands by itself.
        """
        tree, c, n = self.tree, loads.constraints, len(self.tree.lane)
        segment = np.repeat(np.arange(len(tree.first)), tree.own_packs)[tree.lane // LANES]  # of each coordinate
        group, kind = np.zeros(self.size, dtype=np.int64), np.zeros(self.size, dtype=np.int64)
        group[:n] = segment
        for unknowns in (self._z, self._w):
            there = unknowns >= 0
            group[unknowns[there]] = np.broadcast_to(tree.root[:, None], unknowns.shape)[there]
        count = len(tree.first)
        held = tree.of_lane[LANES * c.pack[:, None] + np.arange(LANES)]  # coordinates of the entries of the constraints
        whose = np.broadcast_to(np.repeat(np.arange(len(c.table)), np.diff(c.entry))[:, None], held.shape)
        constraint, near = np.divmod(np.unique((whose * count + segment[held])[held >= 0]), count)
        deep = tree.path_packs + WIDEST * np.arange(count) // count  # far from the root, and last
        best = np.full(len(c.table), -1)
        np.maximum.at(best, constraint, deep[near] * count + count - 1 - near)
        many = np.bincount(constraint, minlength=len(c.table))
        alone = (many > WIDEST) | (many == 0)
        group[n : self.given] = np.where(alone, count + np.arange(len(c.table)), count - 1 - best % count)
        kind[self.given :], kind[n : self.given] = 1, 2
        return np.unique(group, return_inverse=True)[1], kind

    def data(self, ws: Workspace, loads: Loads) -> Floats:
        """Values (entries,) of the matrix in the order of `rows` and `columns`, from the blocks of `linearise`."""
        c, tree = loads.constraints, self.tree
        below = tree.parent[tree.first[tree.root[self.faced]]]
        above = tree.parent[tree.first[tree.root[tree.host[self.faced]]]]
        arms = np.zeros((len(self.faced), 9))
        arms[:, :3] = ws.node[below, N_X : N_X + 3] - ws.node[above, N_X : N_X + 3]
        pieces = ws.matrix, ws.roots, ws.ports, arms, loads.pairs.far, c.jacobian, c.column, c.diagonal, np.ones(1)
        found, at = np.zeros(len(self.rows)), 0
        for piece in pieces:
            first, last = np.searchsorted(self._values, (at, at + piece.size))
            part = slice(first, last)
            collect(piece.ravel(), self._values[part] - at, self._signs[part], self._into[part], found)
            at += piece.size
        return found

    def factorise(self, data: Floats, store: Store | None = None) -> Solved | None:
        """The matrix with these values, factorised; None if it is beyond all numbers, as where Newton strays.

        In a store, the one before is overwritten.
        """
        left, right, scaled = np.ones(self.size), np.ones(self.size), np.empty_like(data)
        right[self.rank[: len(self.tree.scale)]] = 1.0 / self.tree.scale
        if not equilibrate(self.rows, self.columns, data, self._faces, SWEEPS, TINY, left, right, scaled):
            return None
        store = Store(self._room) if store is None else store
        found = Solved(self, scaled, left, right, store)
        self._room = max(self._room, store.room)
        return found


@dataclass(frozen=True, slots=True)
class Factors:
    """Factors in fronts (`fronts.py`)."""

    made: Ints
    factor: Floats
    rows: Ints
    columns: Ints

    def solve(self, b: Floats, transposed: bool) -> Floats:
        """Solve for right-hand sides (k, n)."""
        x, work = b.copy(), (np.empty(int(np.max(self.made[:, WIDTH]))), np.empty(b.shape[1]))
        (solve_transposed if transposed else solve)(self.made, self.factor, self.rows, self.columns, *work, x)
        return x


class _Room(NamedTuple):
    """Scratch, and what is made: arguments of `factorise`."""

    front: Floats
    stack: Floats
    place: Ints
    heads: Ints
    factor: Floats
    rows: Ints
    columns: Ints
    made: Ints


class Store:
    """Memory in which one matrix after the other is factorised: the factors of the last one overwrite those before.

    room: number of the room (`ROOMS`) that was enough so far.
    """

    def __init__(self, room: int = 0) -> None:
        self.room = room
        self._kept: _Room | None = None

    def of(self, plan: Plan) -> _Room:
        """The memory, as large as the present room."""
        front, stack, factor, lists = (int(ROOMS[self.room] * x) + 1 for x in plan.room)
        if self._kept is None or len(self._kept.front) != front:
            count = len(plan.parent)
            heads, place, made = (np.zeros(shape, np.int64) for shape in (count, isqrt(front), (count, MADE)))
            rows, columns = np.zeros(lists, np.int64), np.zeros(lists, np.int64)
            self._kept = _Room(np.empty(front), np.empty(stack), place, heads, np.empty(factor), rows, columns, made)
        return self._kept


def factors_of(plan: Plan, values: Floats, store: Store | None = None) -> Factors | None:
    """Factors of a matrix with these entries, of order one, in the order of a plan; None if it is singular."""
    store = store or Store()
    for room in range(store.room, len(ROOMS)):
        store.room = room
        memory = store.of(plan)
        code = factorise(
            plan.first, plan.start, plan.index, plan.parent, plan.relative, plan.entry_at, plan.entry, values, *memory
        )
        if code == DONE:
            return Factors(memory.made, memory.factor, memory.rows, memory.columns)
        if code == SINGULAR:
            break
    return None


@dataclass(frozen=True, slots=True)
class FreeFactors:
    """Factors of SuperLU, whose pivots move as they like."""

    factors: SuperLU

    def solve(self, b: Floats, transposed: bool) -> Floats:
        """Solve for right-hand sides (k, n)."""
        return np.ascontiguousarray(self.factors.solve(np.asfortranarray(b.T), "T" if transposed else "N").T)


class Solved:
    """A factorised matrix: solves for coordinates and multipliers; prescribed coordinates stay as they are."""

    def __init__(self, net: Net, scaled: Floats, left: Floats, right: Floats, store: Store) -> None:
        self._net, self._scaled, self._left, self._right = net, scaled, left, right
        self._place, self._free, self._proven = net.rank[: net.given], False, False
        self._factors: Factors | FreeFactors | None = factors_of(net.plan, scaled, store)

    @property
    def singular(self) -> bool:
        """Whether there is no solution."""
        if self._factors is None and not self._free:
            self._relent()
        return self._factors is None

    def _relent(self) -> None:
        """Let pivots move freely."""
        self._free, net = True, self._net
        matrix = csc_matrix((self._scaled, (net.rows, net.columns)), shape=(net.size, net.size))
        matrix.eliminate_zeros()
        try:
            self._factors = FreeFactors(splu(matrix))
        except RuntimeError:
            self._factors = None

    def _corrected(self, b: Floats, transposed: bool, exact: float) -> Floats | None:
        """Solutions (k, n) with corrections; None if they do not win back what pivots have cost."""
        assert self._factors is not None
        places = (self._net.columns, self._net.rows) if transposed else (self._net.rows, self._net.columns)
        x = self._factors.solve(b, transposed)
        if self._proven and exact >= ROUGH:  # digits are lost by the factors, whatever the right-hand side
            return x
        rest = np.empty_like(b)
        size = float(np.max(np.abs(b), initial=0.0))
        for count in range(CORRECTIONS):
            missing(*places, self._scaled, x, b, rest)
            left = float(np.max(np.abs(rest), initial=0.0))
            if left <= exact * (size + float(np.max(np.abs(x), initial=0.0))):
                self._proven = self._proven or count == 0
                return x
            x = x + self._factors.solve(rest, transposed)
        return x if self._free else None

    def solve(self, b: Floats, transposed: bool = False, exact: float = EXACT) -> Floats:
        """Solve for coordinates and multipliers (n + m,) or (n + m, k); this part of b may be left."""
        left, right = (self._right, self._left) if transposed else (self._left, self._right)
        columns = b.reshape(len(b), -1).T
        whole = np.zeros((len(columns), len(left)))
        whole[:, self._place] = columns * left[self._place]
        found = None if self.singular else self._corrected(whole, transposed, exact)
        if found is None and not self._free:
            self._relent()
            found = None if self.singular else self._corrected(whole, transposed, exact)
        if found is None:
            return np.full_like(b, np.nan)
        return np.ascontiguousarray((found[:, self._place] * right[self._place]).T).reshape(b.shape)
