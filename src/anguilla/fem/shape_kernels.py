"""Compiled mechanics of a body that moves along few shapes: its tetrahedra, eight at a time, and its lines.

With displacements u_n of nodes 1 to 3 of a corotational tetrahedron against node 0, and the names of `lanes`, its tangent is

    2 mu |sum u_n g_n^T|^2 + lambda (sum p_n . u_n)^2 + (lambda theta - 2 mu) s . Y^-1 s,   s = sum p_n x u_n,

of which the first part does not change with the shape of the body, and the rest is told by four numbers for each shape.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anguilla.compiler.jit import kernel
from anguilla.fem.assembly import Elements
from anguilla.fem.lanes import (
    BLOCK,
    EDGE,
    FORCE,
    GRADIENT,
    WIDTH,
    WORK,
    deform,
    load,
    load9,
    make_lanes,
    rotate,
    store,
    store9,
    stretch,
)
from anguilla.fem.mesh import Floats
from anguilla.mechanics.vec import cross, dot, matvec

__all__ = ["FewTets", "add_lines", "few_tets"]

U = np.uint64  # unsigned indices: Numba drops its test for negative ones
# Places in the work array, in rows, where blocks between nodes would be.
AXIS, SPIN, BULK, WAY, FOUND = BLOCK, BLOCK + 9, BLOCK + 18, BLOCK + 19, BLOCK + 28


class FewTets(NamedTuple):
    """Corotational linear tetrahedra along r shapes, in groups of eight; those added to fill the last group weigh nothing."""

    constant: Floats  # (groups, 12, 8): gradients of nodes 1 to 3 [1/m], weight [m^3], mu, lambda [Pa]
    edge: Floats  # (groups * 72,) places of nodes 1 to 3 seen from node 0 [m]: of each group 9 rows of 8
    along: Floats  # (r, groups * 72) how these change with the shapes
    same: Floats  # (r, r) the part of the tangent that stays the same
    work: Floats  # (WORK,) scratch
    force: Floats  # (groups * 72,) forces on nodes 1 to 3 [N], scratch
    seen: (
        Floats  # (2, r, groups * 32) four numbers of each element for each shape, and what it answers to these, scratch
    )

    def evaluate(self, q: Floats, stiffness: bool) -> tuple[float, int, Floats, Floats]:
        """Energy [J], an element inside out or -1, slope (r,) and tangent (r, r) at q (r,); the tangent only if asked for."""
        seen, answer = self.seen if stiffness else self.seen[:, :0]
        energy, bad = _pull(self.constant, self.edge + q @ self.along, self.along, self.work, self.force, seen, answer)
        tangent = self.same + seen @ answer.T if stiffness else self.same
        return energy, bad, self.along @ self.force, tangent


def few_tets(el: Elements, x0: Floats, basis: Floats) -> FewTets | None:
    """Tables of elements whose nodes are at x0 (m, 4, 3) and move along a basis (r, m, 4, 3); None for other elements."""
    lanes = make_lanes(el)
    if lanes is None:
        return None
    constant, groups = lanes.constant.copy(), len(lanes.constant)
    constant[-1, 9, lanes.number - WIDTH * (groups - 1) :] = 0.0
    take = np.minimum(np.arange(groups * WIDTH), lanes.number - 1)

    def side_by_side(nodes: Floats) -> Floats:
        edges = (nodes[..., take, 1:, :] - nodes[..., take, :1, :]).reshape(*nodes.shape[:-3], groups, WIDTH, 9)
        return np.ascontiguousarray(np.swapaxes(edges, -1, -2)).reshape(*nodes.shape[:-3], -1)

    moved = np.einsum("rmki,mkj->rmij", basis, el.gradient[:, 0]).reshape(len(basis), lanes.number, 9)
    same = np.einsum("rmi,smi,m->rs", moved, moved, 2.0 * el.weight[:, 0] * el.mu, optimize=True)
    scratch = np.zeros(WORK), np.zeros(72 * groups), np.zeros((2, len(basis), 32 * groups))
    return FewTets(constant, side_by_side(x0), side_by_side(basis), 0.5 * (same + same.T), *scratch)


@kernel
def _pull(constant, edge, along, work, force, seen, answer):
    """Energy [J] and -1, or the number of an inverted element; fills forces on nodes 1 to 3, as `edge` is laid out.

    Also fills the four numbers of each element for each shape (r, groups * 32), and their tangent times them, unless there is
    no room for them.
    """
    energy = 0.0
    shapes, groups = U(len(seen)), U(len(constant))
    for group in range(groups):
        at = U(72) * group
        for k in range(U(72)):
            work[U(WIDTH * EDGE) + k] = edge[at + k]
        for k in range(U(12)):
            for l in range(U(WIDTH)):
                work[U(WIDTH) * (U(GRADIENT) + k) + l] = constant[group, k, l]
        if not deform(work) > 0.0:
            return energy, np.int64(U(WIDTH) * group)
        rotate(work)
        for l in range(U(WIDTH)):
            p, q, s, g, _, bulk, kept = stretch(work, 1.0, l)
            energy += kept
            store9(work, AXIS, l, (p[0], p[1], p[2], q[0], q[1], q[2], s[0], s[1], s[2]))
            store9(work, SPIN, l, g)
            work[U(WIDTH * BULK) + l] = bulk
        for k in range(U(72)):
            force[at + k] = work[U(WIDTH * (FORCE + 3)) + k]
        for c in range(shapes):
            for k in range(U(72)):
                work[U(WIDTH * WAY) + k] = along[c, at + k]
            for l in range(U(WIDTH)):
                p, q, s = load(work, AXIS, l), load(work, AXIS + 3, l), load(work, AXIS + 6, l)
                u, v, w = load(work, WAY, l), load(work, WAY + 3, l), load(work, WAY + 6, l)
                a, b, d = cross(p, u), cross(q, v), cross(s, w)
                turn = (a[0] + b[0] + d[0], a[1] + b[1] + d[1], a[2] + b[2] + d[2])
                wider = dot(p, u) + dot(q, v) + dot(s, w)
                store(work, FOUND, l, turn)
                work[U(WIDTH * (FOUND + 3)) + l] = wider
                store(work, FOUND + 4, l, matvec(load9(work, SPIN, l), turn))
                work[U(WIDTH * (FOUND + 7)) + l] = work[U(WIDTH * BULK) + l] * wider
            to = U(32) * group
            for k in range(U(32)):
                seen[c, to + k] = work[U(WIDTH * FOUND) + k]
            for k in range(U(32)):
                answer[c, to + k] = work[U(WIDTH * (FOUND + 4)) + k]
    return energy, np.int64(-1)


@kernel
def add_lines(spans, change, first, tension, q, lengths, slopes, stiff, along):
    """Lengths (lines,) [m] of lines and their slopes (lines, r); adds what tight ones do to the stiffness (r, r).

    Args:
        spans: (s, 3) segments of all lines, one line after the other, for q = 0 [m].
        change: (3 s, r) how they change with q.
        first: (lines + 1,) where the segments of a line begin.
        tension: of the first lines, as many as are tight [N].
        q: (r,).
        lengths: (lines,) to fill.
        slopes: (lines, r) to fill.
        stiff: (r, r) to add to, or (0, 0).
        along: (r,) scratch.

    """
    for k in range(len(first) - 1):
        lengths[k], slopes[k] = 0.0, 0.0
        for s in range(first[k], first[k + 1]):
            x, y, z = spans[s, 0], spans[s, 1], spans[s, 2]
            for a in range(len(q)):
                x += change[3 * s, a] * q[a]
                y += change[3 * s + 1, a] * q[a]
                z += change[3 * s + 2, a] * q[a]
            length = np.sqrt(x * x + y * y + z * z)
            lengths[k] += length
            x, y, z = x / length, y / length, z / length
            for a in range(len(q)):
                along[a] = x * change[3 * s, a] + y * change[3 * s + 1, a] + z * change[3 * s + 2, a]
                slopes[k, a] += along[a]
            pull = tension[k] / length if k < len(tension) else 0.0
            if pull != 0.0:
                for a in range(len(stiff)):
                    u, v, w, t = change[3 * s, a], change[3 * s + 1, a], change[3 * s + 2, a], along[a]
                    for b in range(len(stiff)):
                        stiff[a, b] += pull * (
                            u * change[3 * s, b] + v * change[3 * s + 1, b] + w * change[3 * s + 2, b] - t * along[b]
                        )
