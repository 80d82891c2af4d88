"""In which order groups of unknowns are eliminated, and which of them share a dense front (symbolic factorisation)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from anguilla.linear.symbolic import Columns, columns_of, counted

__all__ = ["Plan", "minimum_degree", "plan_of", "postorder"]

Ints = npt.NDArray[np.int64]

SMALL = 24  # pivots of a front that may grow by zeros
WASTE = 0.3  # largest part of zeros in the rows of a front that took up another


@dataclass(frozen=True)
class Plan:
    """The fronts of a matrix, those below before those above (`fronts.py`).

    Attributes:
        rank: (n,) place of each unknown in the order of elimination; everything else here speaks of these places.
        first: (fronts + 1,) first own pivot.
        start: (fronts + 1,) where the updated unknowns of a front begin in `index`.
        index: updated unknowns, rising in each front.
        parent: (fronts,) front above, or -1.
        relative: of every updated unknown, its place in the front above: pivots first.
        entry_at: (fronts + 1,) first entry of the matrix that enters a front.
        entry: (entries, 2) row and column in the front of each entry.
        entries: (entries,) the entries in this order.

    """

    rank: Ints
    first: Ints
    start: Ints
    index: Ints
    parent: Ints
    relative: Ints
    entry_at: Ints
    entry: Ints
    entries: Ints

    @cached_property
    def room(self) -> tuple[int, int, int, int]:
        """Numbers that fit in the widest front, on the stack, in the factors and in the lists, if no pivot is late."""
        own, update = np.diff(self.first), np.diff(self.start)
        left, waiting, most = (update**2).tolist(), 0, 0
        below = [0] * len(left)
        for f, p in enumerate(self.parent.tolist()):
            waiting += left[f] - below[f]
            most = max(most, waiting)
            if p >= 0:
                below[p] += left[f]
        return int(np.max(own + update)) ** 2, most, int(own @ (own + 2 * update)), int(np.sum(own + update))


def minimum_degree(indptr: Ints, indices: Ints) -> Ints:
    """Ordering (n,) of a graph by SuperLU's multiple minimum degree."""
    n = len(indptr) - 1
    matrix = csc_array((np.full(len(indices), -1.0), indices, indptr), shape=(n, n))
    matrix.setdiag(4.0 * np.diff(indptr) + 4.0)
    lu = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.argsort(lu.perm_c).astype(np.int64)


def postorder(parent: Ints) -> Ints:
    """Nodes of a forest (n,), children before parents, each subtree together."""
    children: list[list[int]] = [[] for _ in range(len(parent))]
    roots: list[int] = []
    for j in range(len(parent) - 1, -1, -1):
        (children[parent[j]] if parent[j] >= 0 else roots).append(j)
    result: list[int] = []
    stack = roots
    while stack:  # parents before children, then turned round
        j = stack.pop()
        result.append(j)
        stack.extend(reversed(children[j]))
    return np.array(result[::-1], dtype=np.int64)


def _merged(size: list[int], updated: Columns, parent: Ints) -> list[tuple[int, int]]:
    """Fronts (from, to) of groups in postorder: one is joined with the next, its parent, where few zeros are added."""
    sizes = np.array(size)
    weight = [int(sizes[found].sum()) for found in updated]
    fronts: list[tuple[int, int, int, float]] = []  # from, to, pivots, zeros so far
    for j in range(len(size)):
        begin, pivots, zeros = j, size[j], 0.0
        while fronts and parent[fronts[-1][1] - 1] == j:
            b, e, own, before = fronts[-1]
            added = before + zeros + own * (pivots + weight[j] - weight[e - 1])
            whole = (own + pivots) * (own + pivots + weight[j])
            if added > 0.0 and (added > WASTE * whole or own + pivots > SMALL):
                break
            fronts.pop()
            begin, pivots, zeros = b, own + pivots, added
        fronts.append((begin, j + 1, pivots, zeros))
    return [(b, e) for b, e, _, _ in fronts]


def plan_of(group: Ints, kind: Ints, rows: Ints, columns: Ints) -> Plan:
    """Order the unknowns of a matrix and lay out its fronts.

    Args:
        group: (n,) which unknowns are eliminated together: numbers from 0 on, without gaps.
        kind: (n,) their order within a group.
        rows: (entries,) of the matrix,
        columns: (entries,) each pair once.

    """
    count = int(np.max(group, initial=-1)) + 1
    pairs = np.unique(np.concatenate([group[rows] * count + group[columns], group[columns] * count + group[rows]]))
    indices = pairs % count
    indptr = np.searchsorted(pairs // count, np.arange(count + 1))
    order = minimum_degree(indptr, indices)
    order = order[postorder(counted(order, indptr, indices)[0])]
    updated, parent = columns_of(order, indptr, indices)
    size = np.bincount(group, minlength=count)[order].tolist()
    fronts = _merged(size, updated, parent)
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    unknowns = np.lexsort((kind, place[group]))
    rank = np.empty(len(group), dtype=np.int64)
    rank[unknowns] = np.arange(len(group))
    return _laid_out(rank, size, fronts, [updated[e - 1].tolist() for _, e in fronts], rows, columns)


def _laid_out(
    rank: Ints, size: list[int], fronts: list[tuple[int, int]], updated: list[list[int]], rows: Ints, columns: Ints
) -> Plan:
    """The plan of fronts (groups from, to) that update groups."""
    n, at = len(rank), np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    first = at[np.array([b for b, _ in fronts] + [len(size)])]
    index = [np.concatenate([np.arange(at[g], at[g + 1]) for g in of] or [np.zeros(0, np.int64)]) for of in updated]
    start = np.concatenate([[0], np.cumsum([len(x) for x in index])]).astype(np.int64)
    whose = np.repeat(np.arange(len(fronts)), np.diff(first))  # front that eliminates an unknown
    every, owner = np.concatenate(index).astype(np.int64), np.repeat(np.arange(len(fronts)), np.diff(start))
    parent = np.array([whose[x[0]] if len(x) else -1 for x in index], dtype=np.int64)
    keys, own = owner * n + every, np.diff(first)

    def within(front: Ints, unknown: Ints) -> Ints:
        """Place of an unknown in a front."""
        behind = np.searchsorted(keys, front * n + unknown) - start[front] + own[front]
        return np.where(whose[unknown] == front, unknown - first[front], behind)

    r, c = rank[rows], rank[columns]
    front = whose[np.minimum(r, c)]
    entries = np.argsort(front, kind="stable")
    entry = np.stack([within(front, r), within(front, c)], axis=1)[entries]
    entry_at = np.searchsorted(front[entries], np.arange(len(fronts) + 1))
    relative = within(parent[owner], every)
    return Plan(rank, first, start, every, parent, relative, entry_at, np.ascontiguousarray(entry), entries)
