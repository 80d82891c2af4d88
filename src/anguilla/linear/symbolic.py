"""What a Cholesky-like factor looks like for an order of elimination: its columns and their tree (symbolic factorisation).

Row i of the factor has a number wherever a walk from a neighbour of i, up the tree of the columns before i, passes.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from anguilla.compiler.jit import kernel

__all__ = ["Columns", "beside", "columns_of", "counted"]

Ints = npt.NDArray[np.int64]
Columns = list[Ints]


@kernel
def _walk(order, place, indptr, indices, parent, at, seen, rows):
    """Rows below the diagonal of each column, rising, into rows from at (n,) on, which moves to their ends.

    Without room in `rows` they are only counted. parent (n,), -1 at first, becomes the first row of each column.
    """
    for i in range(len(order)):
        seen[i] = i
        node = order[i]
        for k in range(indptr[node], indptr[node + 1]):
            j = place[indices[k]]
            while j < i and seen[j] != i:
                if parent[j] < 0:
                    parent[j] = i
                if len(rows) > 0:
                    rows[at[j]] = i
                at[j] += 1
                seen[j] = i
                j = parent[j]


@kernel
def beside(nodes, side, indptr, indices, other, out):
    """out (m,): 1 for each of the nodes (m,) that has a neighbour on the other side."""
    for i in range(len(nodes)):
        out[i] = 0
        for k in range(indptr[nodes[i]], indptr[nodes[i] + 1]):
            if side[indices[k]] == other:
                out[i] = 1
                break


def counted(order: Ints, indptr: Ints, indices: Ints) -> tuple[Ints, Ints]:
    """Parent (n,) of each column of the factor, or -1, and how many rows (n,) it has below its diagonal."""
    n = len(order)
    parent, count, seen = np.full(n, -1), np.zeros(n, np.int64), np.full(n, -1)
    _walk(order, _place(order), indptr, indices, parent, count, seen, np.zeros(0, np.int64))
    return parent, count


def columns_of(order: Ints, indptr: Ints, indices: Ints) -> tuple[Columns, Ints]:
    """Rows (places in the order) below the diagonal of every column of the factor, rising, and its parent, the first of them.

    Args:
        order: (n,) node eliminated at each place.
        indptr: (n + 1,) adjacency of the nodes, both directions, with or without the diagonal.
        indices: its columns.

    """
    parent, count = counted(order, indptr, indices)
    at = np.concatenate([[0], np.cumsum(count)])
    rows = np.empty(int(at[-1]), np.int64)
    _walk(order, _place(order), indptr, indices, parent, at[:-1].copy(), np.full(len(order), -1), rows)
    return [rows[a:b] for a, b in pairwise(at.tolist())], parent


def _place(order: Ints) -> Ints:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place
