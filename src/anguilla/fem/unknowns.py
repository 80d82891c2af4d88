"""From nodes to unknowns: fixed nodes drop out, rigid parts keep six numbers each.

A node of a rigid part moves with its centre c and rotation R: dx = dc + dtheta x r. The stiffness of the unknowns is
T^T K T, plus the curvature of the rotation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anguilla.compiler.jit import kernel
from anguilla.errors import DescriptionError
from anguilla.fem.mesh import Floats, Ints
from anguilla.lie import exp3

__all__ = ["Unknowns", "add_nodes", "give_nodes", "take_nodes"]

U = np.uint64  # unsigned indices: Numba drops its test for negative ones
X, Y, Z = U(0), U(1), U(2)


class _Folding(NamedTuple):
    """How blocks between nodes become blocks between unknowns."""

    row: Ints  # (nb,) nodes of each block
    col: Ints
    first: Ints  # (n,) unknown of a node: itself, or the centre of its part; -1 if fixed
    second: Ints  # (n,) unknown of the rotation of its part, or -1
    slot: Ints  # (nb, 4) block of unknowns for the pairs (first, first), (first, second), (second, first), (second, second)


@kernel
def _fold(folding, arm, blocks, out):
    """out += T^T K T; arm (n, 3) is r of the nodes of rigid parts."""
    for k in range(len(folding.row)):
        i, j = folding.row[k], folding.col[k]
        for side in range(4):
            slot = folding.slot[k, side]
            if slot < 0:
                continue
            left, right = side // 2, side % 2
            a = folding.second[i] if left == 1 else folding.first[i]
            b = folding.second[j] if right == 1 else folding.first[j]
            if i == j and a > b:
                continue  # the transpose of a pair already counted
            x, y, z = arm[i, 0], arm[i, 1], arm[i, 2]
            u, v, w = arm[j, 0], arm[j, 1], arm[j, 2]
            for n in range(3):  # column n of A_i^T K A_j, with A = 1 or -[r]x
                if right == 1:
                    c0, c1, c2 = (0.0, -w, v) if n == 0 else ((w, 0.0, -u) if n == 1 else (-v, u, 0.0))
                else:
                    c0, c1, c2 = (1.0, 0.0, 0.0) if n == 0 else ((0.0, 1.0, 0.0) if n == 1 else (0.0, 0.0, 1.0))
                k0 = blocks[k, 0] * c0 + blocks[k, 1] * c1 + blocks[k, 2] * c2
                k1 = blocks[k, 3] * c0 + blocks[k, 4] * c1 + blocks[k, 5] * c2
                k2 = blocks[k, 6] * c0 + blocks[k, 7] * c1 + blocks[k, 8] * c2
                if left == 1:  # (-[r]x)^T = [r]x
                    k0, k1, k2 = y * k2 - z * k1, z * k0 - x * k2, x * k1 - y * k0
                if a <= b:
                    out[slot, n] += k0
                    out[slot, 3 + n] += k1
                    out[slot, 6 + n] += k2
                if a > b or (a == b and i != j):
                    out[slot, 3 * n] += k0
                    out[slot, 3 * n + 1] += k1
                    out[slot, 3 * n + 2] += k2


@kernel
def _hold(rows, cols, held, size, blocks):
    """Replace held components (n, 3) by an identity times size (3,)."""
    for k in range(len(rows)):
        i, j = rows[k], cols[k]
        for a in range(3):
            for b in range(3):
                if held[i, a] or held[j, b]:
                    blocks[k, 3 * a + b] = size if (i == j and a == b) else 0.0


@kernel
def take_nodes(rows, nodes, out):
    """out (m, k, 3), any k >= len(nodes): the first ones become those of rows (m, n, 3) at the given nodes."""
    for r in range(len(rows)):
        for k in range(U(len(nodes))):
            n = U(nodes[k])
            out[r, k, X] = rows[r, n, X]
            out[r, k, Y] = rows[r, n, Y]
            out[r, k, Z] = rows[r, n, Z]


@kernel
def give_nodes(rows, nodes, out):
    """out (m, n, 3): at the given nodes it becomes rows (m, k, 3)."""
    for r in range(len(rows)):
        for k in range(U(len(nodes))):
            n = U(nodes[k])
            out[r, n, X] = rows[r, k, X]
            out[r, n, Y] = rows[r, k, Y]
            out[r, n, Z] = rows[r, k, Z]


@kernel
def add_nodes(rows, nodes, out):
    """out (n, 3) += rows (k, 3), any k >= len(nodes), at the given nodes."""
    for k in range(U(len(nodes))):
        n = U(nodes[k])
        out[n, X] += rows[k, X]
        out[n, Y] += rows[k, Y]
        out[n, Z] += rows[k, Z]


class Unknowns:
    """Numbering of the unknowns (blocks of three), and the maps between nodes and unknowns."""

    def __init__(
        self, points: Floats, fixed: np.ndarray, parts: dict[str, Ints], pattern_rows: Ints, pattern_cols: Ints,
        driven: Ints,
    ):  # fmt: skip
        n = len(points)
        held = fixed.all(axis=1)
        fixed = fixed.copy()
        fixed[driven] = True  # held too, but they keep their unknowns: what they move is told by their stiffness
        self.parts = list(parts.values())
        slave = np.zeros(n, dtype=bool)
        for name, nodes in parts.items():
            if fixed[nodes].any():
                raise DescriptionError(
                    f"rigid {name!r} has points that are fixed or moved: fix or move all of it instead."
                )
            slave[nodes] = True
        self.free = np.flatnonzero(~held & ~slave)
        if len(self.free) + len(parts) == 0:
            raise DescriptionError("every point of the body is fixed: nothing can move.")
        first, second = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        first[self.free] = np.arange(len(self.free))
        self.centres = np.zeros((len(parts), 3))
        for k, nodes in enumerate(self.parts):
            first[nodes], second[nodes] = len(self.free) + 2 * k, len(self.free) + 2 * k + 1
            self.centres[k] = points[nodes].mean(axis=0)
        self.first, self.second = first, second
        self.size = len(self.free) + 2 * len(parts)
        self.held = np.zeros((self.size, 3), dtype=bool)
        self.held[: len(self.free)] = fixed[self.free]
        self.any_held = bool(self.held.any())
        # of nodes that are no part of a rigid one, and free
        self.lone = np.where((second < 0) & (first >= 0) & ~self.held[first].any(axis=1), first, -1)
        self.points = np.zeros((self.size, 3))  # where the unknowns are, for the ordering
        self.points[: len(self.free)] = points[self.free]
        for k in range(len(parts)):
            self.points[len(self.free) + 2 * k : len(self.free) + 2 * k + 2] = self.centres[k]
        self._rest = points
        self._fold_pattern(pattern_rows, pattern_cols)

    def _fold_pattern(self, rows: Ints, cols: Ints) -> None:
        if not self.parts:
            self.rows, self.cols = self.first[rows], self.first[cols]
            self._folding = None
            return
        ends = []
        for left in (self.first, self.second):
            for right in (self.first, self.second):
                ends.append((left[rows], right[cols]))
        keys = []
        for a, b in ends:
            valid = (a >= 0) & (b >= 0)
            keys.append(np.where(valid, np.minimum(a, b) * self.size + np.maximum(a, b), -1))
        unique = np.unique(np.concatenate(keys))
        unique = unique[unique >= 0]
        slot = np.stack([np.where(key >= 0, np.searchsorted(unique, key), -1) for key in keys], axis=1)
        self.rows, self.cols = unique // self.size, unique % self.size
        self._folding = _Folding(rows, cols, self.first, self.second, np.ascontiguousarray(slot))

    # State: positions of all nodes, and the rotations of the rigid parts -----------------------------------------------

    def rest_rotations(self) -> Floats:
        """Rotations (parts, 3, 3) at rest."""
        return np.tile(np.eye(3), (len(self.parts), 1, 1))

    def move(self, x: Floats, rotations: Floats, step: Floats) -> tuple[Floats, Floats]:
        """Positions and rotations after a step (size, 3) of the unknowns."""
        x = x.copy()
        add_nodes(step, self.free, x)
        if not self.parts:
            return x, rotations
        rotations = rotations.copy()
        for k, nodes in enumerate(self.parts):
            centre = self._centre(x, k) + step[len(self.free) + 2 * k]
            rotations[k] = exp3(step[len(self.free) + 2 * k + 1]) @ rotations[k]
            x[nodes] = centre + (self._rest[nodes] - self.centres[k]) @ rotations[k].T
        return x, rotations

    def settled(self, x: Floats, rotations: Floats) -> tuple[Floats, Floats]:
        """The nearest positions in which the rigid parts are rigid, and their rotations."""
        x, rotations = x.copy(), rotations.copy()
        for k, nodes in enumerate(self.parts):
            centre, arm = self._centre(x, k), self._rest[nodes] - self.centres[k]
            one, _, two = np.linalg.svd((x[nodes] - centre).T @ arm)
            sign = np.array([1.0, 1.0, np.sign(np.linalg.det(one @ two))])
            rotations[k] = (one * sign) @ two
            x[nodes] = centre + arm @ rotations[k].T
        return x, rotations

    def _centre(self, x: Floats, k: int) -> Floats:
        return x[self.parts[k]].mean(axis=0)

    def _arms(self, x: Floats) -> Floats:
        arm = np.zeros_like(x)
        for k, nodes in enumerate(self.parts):
            arm[nodes] = x[nodes] - self._centre(x, k)
        return arm

    def spread(self, x: Floats, step: Floats) -> Floats:
        """Displacements (n, 3) of the nodes for a small step (size, 3), to first order."""
        out = np.zeros_like(x)
        out[self.free] = step[: len(self.free)]
        for k, nodes in enumerate(self.parts):
            shift, turn = step[len(self.free) + 2 * k], step[len(self.free) + 2 * k + 1]
            out[nodes] = shift + np.cross(turn, x[nodes] - self._centre(x, k))
        return out

    def length(self, x: Floats, step: Floats) -> float:
        """Largest component of a displacement [m] that a small step (size, 3) gives a node."""
        moved = step if not self.parts else self.spread(x, step)
        return float(np.abs(moved).max())

    def gather(self, x: Floats, rows: Floats) -> Floats:
        """Gradients with respect to the nodes (m, n, 3) as gradients with respect to the unknowns (m, 3 size)."""
        out = np.empty((len(rows), self.size, 3))
        take_nodes(rows, self.free, out)
        for k, nodes in enumerate(self.parts):
            at = len(self.free) + 2 * k
            arm = x[nodes] - self._centre(x, k)
            out[:, at] = rows[:, nodes].sum(axis=1)
            out[:, at + 1] = np.cross(arm, rows[:, nodes]).sum(axis=1)
        if self.any_held:
            out[:, self.held] = 0.0
        return out.reshape(len(rows), -1)

    def fold(self, x: Floats, blocks: Floats, gradient: Floats) -> Floats:
        """Blocks between unknowns, from blocks between nodes; rotations also need the gradient (n, 3) of the energy."""
        if self._folding is None:
            out = blocks
        else:
            out = np.zeros((len(self.rows), 9))
            _fold(self._folding, self._arms(x), blocks, out)
            diagonal = np.flatnonzero(self.rows == self.cols)
            for k, nodes in enumerate(self.parts):
                arm, g = x[nodes] - self._centre(x, k), gradient[nodes]
                outer = g.T @ arm
                bend = 0.5 * (outer + outer.T) - np.trace(outer) * np.eye(3)
                out[diagonal[len(self.free) + 2 * k + 1]] += bend.ravel()
        if self.any_held:
            size = float(np.abs(out[:, [0, 4, 8]]).max())
            _hold(self.rows, self.cols, self.held, size, out)
        return out
