"""In which order to eliminate the nodes of a mesh, and which columns share one dense front (symbolic factorisation).

Everything here works on nodes (blocks of three unknowns) and is done once for a mesh.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from anguilla.fem.mesh import Floats, Ints
from anguilla.linear.fill import least_fill
from anguilla.linear.ordering import minimum_degree, postorder
from anguilla.linear.symbolic import beside, columns_of, counted

__all__ = ["Fronts", "analyse"]

MANY = 500  # nodes from which on METIS is asked
FEW = 6000  # nodes up to which minimum degree may win; a solid bar of 10,575 takes 1.6 times as long by it
SEARCHED = 3000  # nodes up to which little fill is searched for: the time grows with the square of their number
CARE = 1e5  # words per node that a search for little fill may compare: 0.05 s for 1,600 nodes
SMALL = 6  # leaves of the dissection, in nodes
MERGE = 8  # fronts with fewer pivot nodes than this may grow by explicit zeros
WASTE = 0.07  # largest part of zeros in a merged front


@dataclass(frozen=True, slots=True)
class Fronts:
    """The elimination tree of dense fronts, children before parents.

    Attributes:
        order: (n,) node eliminated at each place.
        first: (s + 1,) first place of each front's pivots.
        start: (s + 1,) where the nodes of a front begin in `index`.
        index: places of the nodes of the fronts: pivots first, then those they update, increasing.
        parent: (s,) parent front, or -1.
        relative: for every non-pivot node of a front, its position in the parent's front (same layout as `index`).
        piece_at: (3 s + 1,) where the pieces of a front begin, those of four nodes first, then those of two and of one.
        piece: (r, 2) unknowns below the pivots that follow each other in the parent's front too: the first of them here,
            counted from the pivots on, and there.
        panel: (s + 1,) where the factor of a front begins in the factor's storage.
        stack: doubles needed for update matrices that wait.
        widest: largest front, in unknowns.
        operations: multiply-adds of one factorisation.

    """

    order: Ints
    first: Ints
    start: Ints
    index: Ints
    parent: Ints
    relative: Ints
    piece_at: Ints
    piece: Ints
    panel: Ints
    stack: int
    widest: int
    operations: float


def _dissection(points: Floats, indptr: Ints, indices: Ints) -> Ints:
    """Nested dissection by planes: the two halves first, the nodes between them last."""
    side = np.zeros(len(points), dtype=np.int64)

    def halve(nodes: Ints) -> list[Ints]:
        if len(nodes) <= SMALL:
            return [nodes]
        place = points[nodes]
        axis = int(np.argmax(np.ptp(place, axis=0)))
        middle = np.median(place[:, axis])
        low = place[:, axis] < middle
        if not low.any() or low.all():
            low = np.arange(len(nodes)) < len(nodes) // 2
        side[nodes] = np.where(low, 1, 2)
        left = nodes[low]
        touches = np.empty(len(left), dtype=np.bool_)
        beside(left, side, indptr, indices, 2, touches)
        side[nodes] = 0
        return [*halve(left[~touches]), *halve(nodes[~low]), left[touches]]

    order = halve(np.arange(len(points)))
    return np.concatenate([part for part in order if len(part)]).astype(np.int64)


def _by_metis(indptr: Ints, indices: Ints) -> Ints | None:
    """Nested dissection by METIS (extra `metis`), which takes a quarter of the operations less; None if it is not there."""
    try:
        metis = import_module("pymetis")
    except ImportError:
        return None
    n = len(indptr) - 1
    row = np.repeat(np.arange(n), np.diff(indptr))
    other = row != indices
    starts = np.concatenate([[0], np.cumsum(np.bincount(row[other], minlength=n))])
    graph = metis.CSRAdjacency(adj_starts=starts, adjacent=indices[other])
    return np.asarray(metis.nested_dissection(graph)[0], dtype=np.int64)


def _of_least_fill(points: Floats, indptr: Ints, indices: Ints) -> list[Ints]:
    """Orders of little fill: of equals, nodes far from the middle first, and near ones."""
    along = points[:, int(np.argmax(np.ptp(points, axis=0)))]
    far = np.linalg.norm(points - points.mean(axis=0), axis=1)
    far = np.round(far / max(float(far.max(initial=0.0)), 1e-300), 9)
    return [least_fill(indptr, indices, along, tie, CARE * len(points)) for tie in (-far, far)]


def _from_inside(points: Floats, indptr: Ints, indices: Ints) -> Ints:
    """Minimum degree in which, of equals, nodes near the longest axis come first: a bar 44 x 5 x 5 takes a tenth less."""
    n = len(points)
    off = np.delete(points - points.mean(axis=0), int(np.argmax(np.ptp(points, axis=0))), axis=1)
    far = np.linalg.norm(off, axis=1)
    far = np.round(far / max(float(far.max(initial=0.0)), 1e-300), 9)
    first = np.argsort(far, kind="stable")
    graph = csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))[first][:, first].tocsr()
    graph.sort_indices()
    return first[minimum_degree(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))]


def _fundamental(rows: list[Ints], parent: Ints) -> list[tuple[int, int]]:
    """Chains of columns (from, to) whose structures differ only by themselves."""
    count = np.bincount(parent[parent >= 0], minlength=len(parent))
    chains = []
    begin = 0
    for j in range(1, len(rows) + 1):
        same = j < len(rows) and parent[j - 1] == j and count[j] == 1 and len(rows[j - 1]) == len(rows[j]) + 1
        if not same:
            chains.append((begin, j))
            begin = j
    return chains


def _merge(chains: list[tuple[int, int]], rows: list[Ints]) -> list[tuple[int, int]]:
    """Join a front with the parent that follows it where few zeros are added."""
    merged: list[tuple[int, int, float]] = []  # from, to, zeros so far
    for begin, end in chains:
        zeros = 0.0
        while merged:
            b, e, z = merged[-1]
            below = rows[e - 1]
            follows = e == begin and len(below) and below[0] < end
            if not follows or min(e - b, end - begin) > MERGE:
                break
            front = end - begin + len(rows[end - 1])
            added = z + zeros + (e - b) * (front - len(below))
            size = (end - b) * front
            if added > WASTE * size and not (end - b) <= 3:
                break
            merged.pop()
            begin, zeros = b, added
        merged.append((begin, end, zeros))
    return [(b, e) for b, e, _ in merged]


def _frugal(order: Ints, fronts: list[tuple[int, int]], rows: list[Ints]) -> tuple[Ints, list[tuple[int, int]]]:
    """The same fronts, so that least waits on the stack: of siblings, those first that need most beyond what they leave.

    No other order of siblings needs less (Liu 1986). A bar 44 x 5 x 5 waits in 0.6 MB instead of 3.5 MB, which stay in the
    cache: a tenth of the time.
    """
    first = [begin for begin, _ in fronts]
    left = [len(rows[end - 1]) ** 2 for _, end in fronts]
    need = left.copy()
    children: list[list[int]] = [[] for _ in fronts]
    walk: list[list[int]] = [[] for _ in fronts]  # the fronts of a subtree, as they are eliminated
    roots: list[int] = []
    for s, (_, end) in enumerate(fronts):
        waiting = 0
        for c in sorted(children[s], key=lambda c: left[c] - need[c]):
            need[s] = max(need[s], waiting + need[c])
            waiting += left[c]
            walk[s] += walk[c]
            walk[c] = []
        walk[s].append(s)
        below = rows[end - 1]
        if len(below):
            children[bisect_right(first, int(below[0])) - 1].append(s)
        else:
            roots.append(s)
    blocks = [order[slice(*fronts[s])] for root in roots for s in walk[root]]
    ends = np.cumsum([len(block) for block in blocks]).tolist()
    return np.concatenate(blocks), list(pairwise([0, *ends]))


def analyse(points: Floats, indptr: Ints, indices: Ints) -> Fronts:
    """Order the nodes and build the fronts.

    Args:
        points: (n, 3) positions of the nodes, for the dissection.
        indptr: (n + 1,) adjacency of the nodes, both directions, with or without the diagonal.
        indices: its columns.

    """
    best: tuple[float, Ints] | None = None
    split = _by_metis(indptr, indices) if len(points) >= MANY else None
    orders = [_dissection(points, indptr, indices) if split is None else split]
    if len(points) <= FEW:
        orders += [minimum_degree(indptr, indices), _from_inside(points, indptr, indices)]
    if len(points) <= SEARCHED:
        orders += _of_least_fill(points, indptr, indices)
    for order in orders:
        parent, count = counted(order, indptr, indices)
        cost = float(np.sum((count + 1.0) ** 2))
        if best is None or cost < best[0]:
            best = (cost, order[postorder(parent)])
    assert best is not None
    order = best[1]
    rows, parent = columns_of(order, indptr, indices)
    order, fronts = _frugal(order, _merge(_fundamental(rows, parent), rows), rows)
    return _layout(order, fronts, columns_of(order, indptr, indices)[0])


def _layout(order: Ints, fronts: list[tuple[int, int]], rows: list[Ints]) -> Fronts:
    first = np.array([b for b, _ in fronts] + [len(order)], dtype=np.int64)
    below = [rows[e - 1] for _, e in fronts]
    own = np.searchsorted(first, np.arange(len(order)), side="right") - 1
    parent = np.array([own[r[0]] if len(r) else -1 for r in below], dtype=np.int64)
    lists = [np.concatenate([np.arange(b, e), r]) for (b, e), r in zip(fronts, below, strict=True)]
    sizes = np.array([len(part) for part in lists])
    relative: list[Ints] = []
    for s, (b, e) in enumerate(fronts):
        position = np.full(sizes[s], -1, dtype=np.int64)
        if parent[s] >= 0:
            position[e - b :] = np.searchsorted(lists[parent[s]], below[s])
        relative.append(position)
    pivots = np.diff(first)
    long = 4 * ((3 * sizes + 3) // 4)  # rows of fronts, and of what they leave, come in fours (ldl.py)
    panel = np.concatenate([[0], np.cumsum(3 * pivots * long)])
    left = (3 * (sizes - pivots) * (long - 3 * pivots // 4 * 4)).tolist()
    depth = waiting = 0
    pending: list[list[int]] = [[] for _ in fronts]
    for s in range(len(fronts)):
        waiting += left[s] - sum(left[c] for c in pending[s])
        depth = max(depth, waiting)
        if parent[s] >= 0:
            pending[parent[s]].append(s)
    work = float(sum(27 * sum((m - k) ** 2 / 2 for k in range(p)) for p, m in zip(pivots, sizes, strict=True)))
    return Fronts(
        order, first, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), np.concatenate(lists), parent,
        np.concatenate(relative), *_pieces([r[p:] for r, p in zip(relative, pivots, strict=True)]),
        panel.astype(np.int64), depth, int(long.max()), work,
    )  # fmt: skip


def _pieces(places: list[Ints]) -> tuple[Ints, Ints]:
    """`piece_at` and `piece` of fronts whose nodes below the pivots have these places in the front above."""
    sizes = np.array([len(p) for p in places])
    there, front = np.concatenate(places), np.repeat(np.arange(len(places)), sizes)
    here = np.arange(len(there)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    begin = np.flatnonzero((np.diff(there, prepend=-2) != 1) | (here == 0))
    long = np.diff(np.append(begin, len(there)))
    within = np.arange(len(there)) - np.repeat(begin, long)
    of_four, of_two = (within < np.repeat(long // k * k, long) for k in (4, 2))
    kind = np.where(of_four, 0, np.where(of_two, 1, 2))
    first = np.flatnonzero((within % np.array([4, 2, 1])[kind]) == 0)
    first = first[np.lexsort((here[first], kind[first], front[first]))]
    count = np.bincount(3 * front[first] + kind[first], minlength=3 * len(places))
    piece_at = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    return piece_at, 3 * np.stack([here[first], there[first]], axis=1)
