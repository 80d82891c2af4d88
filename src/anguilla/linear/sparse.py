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

from heapq import heapify, heappop, heappush

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import SuperLU, splu

from anguilla.compiler.lanes import LANES
from anguilla.interact.kernels.table import Loads
from anguilla.mechanics.tree import F_P0, F_TH0, FACE, N_X, Floats, Ints, Tree, Workspace

__all__ = ["ROUGH", "Net", "Solved"]

SIDES = np.array([F_TH0, F_TH0 + 1, F_TH0 + 2, F_P0, F_P0 + 1, F_P0 + 2])  # lanes of a face that its wrench works on
IN_PLANE = np.array([2, 5, 8, 9, 10, 12, 13, 15, 16])  # lanes of a face that move in a flat robot
ARM = ((0, 1, 1.0, 2), (0, 2, -1.0, 1), (1, 2, 1.0, 0), (1, 0, -1.0, 2), (2, 0, 1.0, 1), (2, 1, -1.0, 0))
TINY = 1e-300
# The order of elimination is good as long as pivots stay where it has them: they may be this part of the largest entry. What
# that costs in digits, a few corrections win back; where they do not, pivots are free to move.
PIVOT, CORRECTIONS, EXACT = 1e-6, 3, 1e-13
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

    """

    def __init__(self, tree: Tree, loads: Loads) -> None:
        self.tree, self.given = tree, len(tree.lane) + len(loads.constraints.table)
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
            packs = pairs.pack[pairs.table[p, 2] : pairs.table[p, 3]]
            lanes = (LANES * packs[:, None] + np.arange(LANES)).ravel()
            places = far + int(pairs.far_at[p]) + np.arange(len(lanes) ** 2).reshape(len(lanes), -1)
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
        """Sort the entries in the order of elimination; those of imposed coordinates are those of the identity."""
        rows, columns, values, signs = found.all()
        driven, still = loads.driven, np.zeros(self.size, dtype=bool)
        still[driven] = True
        keep = ~(still[rows] | still[columns])
        rows, columns = np.concatenate([rows[keep], driven]), np.concatenate([columns[keep], driven])
        self._values = np.concatenate([values[keep], np.full(len(driven), one)])
        self._signs = np.concatenate([signs[keep], np.ones(len(driven))])
        self.rank = self._ranks(loads, rows, columns)
        keys, self._into = np.unique(self.rank[columns] * self.size + self.rank[rows], return_inverse=True)
        self.columns, self.rows = np.divmod(keys, self.size)
        self._starts = np.searchsorted(self.columns, np.arange(self.size + 1))
        self._by_row = np.argsort(self.rows, kind="stable")
        self._row_starts = np.searchsorted(self.rows[self._by_row], np.arange(self.size))
        self._sparse = self.rows.astype(np.int32), self._starts.astype(np.int32)
        # many faces and constraints: a net written as a deep tree, for which pivots are better chosen freely
        self._shallow = not len(loads.constraints.table) or 2 * len(self.faced) < len(self.tree.root)

    def _ranks(self, loads: Loads, rows: Ints, columns: Ints) -> Ints:
        """When each unknown is eliminated: segment by segment, each with its face and the constraints at its end.

        A rod that is closed onto another part takes the forces there along: coordinates first, then multipliers, which by
        then have something on their diagonal.
        """
        tree, c, n = self.tree, loads.constraints, len(self.tree.lane)
        segment = np.repeat(np.arange(len(tree.first)), tree.own_packs)[tree.lane // LANES]  # of each coordinate
        group, kind = np.zeros(self.size, dtype=np.int64), np.zeros(self.size, dtype=np.int64)
        group[:n] = segment
        for unknowns in (self._z, self._w):
            there = unknowns >= 0
            group[unknowns[there]] = np.broadcast_to(tree.root[:, None], unknowns.shape)[there]
        for k in range(len(c.table)):
            lanes = (LANES * c.pack[c.entry[k] : c.entry[k + 1], None] + np.arange(LANES)).ravel()
            near, count = np.unique(segment[tree.of_lane[lanes][tree.of_lane[lanes] >= 0]], return_counts=True)
            group[n + k] = near[np.argmax(count)] if len(near) else 0
        kind[self.given :], kind[n : self.given] = 1, 2
        order = np.lexsort((kind, _least_fill(group, rows, columns)[group]))
        rank = np.empty(self.size, dtype=np.int64)
        rank[order] = np.arange(self.size)
        return rank

    def data(self, ws: Workspace, loads: Loads) -> Floats:
        """Values (entries,) of the matrix in the order of `rows` and `columns`, from the blocks of `linearise`."""
        c, tree = loads.constraints, self.tree
        below = tree.parent[tree.first[tree.root[self.faced]]]
        above = tree.parent[tree.first[tree.root[tree.host[self.faced]]]]
        arms = np.zeros((len(self.faced), 9))
        arms[:, :3] = ws.node[below, N_X : N_X + 3] - ws.node[above, N_X : N_X + 3]
        pieces = ws.matrix, ws.roots, ws.ports, arms, loads.pairs.far, c.jacobian, c.column, c.diagonal, np.ones(1)
        values = np.concatenate([x.ravel() for x in pieces])
        found = np.bincount(self._into, self._signs * values[self._values], minlength=len(self.rows))
        return np.asarray(found, dtype=float)

    def factorise(self, data: Floats) -> Solved | None:
        """The matrix with these values, factorised; None if it is beyond all numbers, as where Newton strays."""
        size, left, right = np.abs(data), np.ones(self.size), np.ones(self.size)
        right[self.rank[: len(self.tree.scale)]], faces = 1.0 / self.tree.scale, self.rank[self.given :]
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(SWEEPS):  # entries of order one; motions and wrenches of faces in units of what makes them
                most = np.maximum.reduceat((size * right[self.columns])[self._by_row], self._row_starts)
                left = 1.0 / np.maximum(most, TINY)
                right[faces] = np.maximum(most, TINY)[faces]
            most = np.maximum.reduceat(size * left[self.rows], self._starts[:-1])
            right = 1.0 / np.maximum(most, TINY)
            scaled = data * left[self.rows] * right[self.columns]
        if not np.isfinite(scaled).all():
            return None
        matrix = csc_matrix((scaled, *self._sparse), shape=(self.size, self.size), copy=True)
        matrix.eliminate_zeros()  # half of the entries, at rest, which would fill in
        return Solved(matrix, left, right, self.rank[: self.given], self._shallow)


def _least_fill(group: Ints, rows: Ints, columns: Ints) -> Ints:
    """When each group of unknowns is eliminated: always the one with the fewest neighbours (minimum degree).

    Args:
        group: (unknowns,) to which each belongs.
        rows: (entries,) unknowns that entries of the matrix join,
        columns: (entries,) and the others.

    """
    size = np.bincount(group).tolist()
    near: list[set[int]] = [set() for _ in size]
    for a, b in np.unique(np.stack([group[rows], group[columns]], axis=1), axis=0).tolist():
        if a != b:
            near[a].add(b)
            near[b].add(a)
    degree = [sum(size[x] for x in found) for found in near]
    ahead = [(degree[s], s) for s in range(len(size)) if size[s]]
    heapify(ahead)
    rank = np.zeros(len(size), dtype=np.int64)
    gone: set[int] = set()
    while ahead:
        fewest, s = heappop(ahead)
        if s in gone or fewest != degree[s]:
            continue
        rank[s] = len(gone)
        gone.add(s)
        for x in near[s]:
            near[x] |= near[s]
            near[x] -= {x, s}
        for x in near[s]:
            degree[x] = sum(size[y] for y in near[x])
            heappush(ahead, (degree[x], x))
    return rank


class Solved:
    """A factorised matrix: solves for coordinates and multipliers; imposed coordinates stay as they are."""

    def __init__(self, matrix: csc_matrix, left: Floats, right: Floats, place: Ints, ordered: bool) -> None:
        self._matrix, self._left, self._right, self._place = matrix, left, right, place
        self._strict = not ordered
        self._factors = self._factorised()

    def _factorised(self) -> SuperLU | None:
        """Factors of the matrix; None if it is singular."""
        try:
            if self._strict:
                return splu(self._matrix)
            return splu(self._matrix, permc_spec="NATURAL", diag_pivot_thresh=PIVOT, options={"SymmetricMode": True})
        except RuntimeError:
            return None

    @property
    def singular(self) -> bool:
        """Whether there is no solution."""
        if self._factors is None and not self._strict:
            self._relent()
        return self._factors is None

    def _relent(self) -> None:
        """Let pivots move freely."""
        self._strict = True
        self._factors = self._factorised()

    def _corrected(self, b: Floats, way: str, exact: float) -> Floats | None:
        """Solution with corrections; None if they do not win back what pivots have cost."""
        assert self._factors is not None
        matrix = self._matrix.T if way == "T" else self._matrix
        x = self._factors.solve(b, way)
        size = float(np.max(np.abs(b), initial=0.0))
        for _ in range(CORRECTIONS):
            rest = b - matrix @ x
            left = float(np.max(np.abs(rest), initial=0.0))
            if left <= exact * (size + float(np.max(np.abs(x), initial=0.0))):
                return x
            x = x + self._factors.solve(rest, way)
        return x if self._strict else None

    def solve(self, b: Floats, transposed: bool = False, exact: float = EXACT) -> Floats:
        """Solve for coordinates and multipliers (n + m,) or (n + m, k); this part of b may be left."""
        left, right = (self._right, self._left) if transposed else (self._left, self._right)
        whole, way = np.zeros((len(left), *b.shape[1:])), "T" if transposed else "N"
        whole[self._place] = (b.T * left[self._place]).T
        found = None if self.singular else self._corrected(whole, way, exact)
        if found is None and not self._strict:
            self._relent()
            found = None if self.singular else self._corrected(whole, way, exact)
        if found is None:
            return np.full_like(b, np.nan)
        return (found[self._place].T * right[self._place]).T
