"""Soft volumes that touch each other, or themselves: points of one surface against the triangles of the other.

The blocks of the stiffness of each volume get what its own nodes feel when the other one stands still. What is left of the
derivatives E, between the nodes of both and where friction follows the pressing force, is small and full: it is put to the
factorised tangent of the volumes alone by Woodbury's formula on the nodes that touch (`Ties`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.spatial import cKDTree

from anguilla.errors import SolverError
from anguilla.fem.body import SoftBody
from anguilla.fem.closest import boxes, find, meet, normals, root_all
from anguilla.fem.contact import NOWHERE, Grip, Touched, law_of, plane_modulus, surface_points
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.pressing import SLIDES
from anguilla.interact.volume_contact import VolumeContact
from anguilla.mixed.half import Half, Poses

__all__ = ["Met", "Ties", "VolumePair", "tie"]

LEAF = 4  # triangles of a leaf of the tree of boxes, about
NEAR = 2.0  # of the reach: what is nearer at rest does not touch itself
_ROW, _COLUMN = np.triu_indices(3)


class Met(NamedTuple):
    """Points `on` (k,) that touch at a state, and what they and the triangles do to each other (see `closest.meet`)."""

    on: Ints
    state: Ints
    force: Floats
    change: Floats
    mode: Ints
    corner: Ints
    root: Floats
    kept: Floats


class _Surface:
    """The triangles of a volume, in a binary tree of boxes."""

    def __init__(self, half: Half) -> None:
        body: SoftBody = half.system.body
        grid = half.system.grid
        faces = grid.refine(body.mesh.boundary)
        leaves = 1 << max(0, int(np.ceil(np.log2(max(1, len(faces)) / LEAF))))
        self.start = (np.arange(leaves + 1) * len(faces)) // leaves
        self.faces = np.ascontiguousarray(faces[self._order(grid.points[faces].mean(axis=1))])
        self.beside = _beside(self.faces)
        self.box = np.zeros((2 * leaves - 1, 6))
        self.stack = np.zeros(2 * int(np.log2(leaves)) + 4, dtype=np.int64)
        corners = grid.points[self.faces]
        self.edge = float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1).mean())
        self.normal, self.around = np.zeros((len(faces), 3)), np.zeros((len(grid.points), 3))
        a, b = self.faces[:, _ROW], self.faces[:, _COLUMN]
        low, high = np.minimum(a, b), np.maximum(a, b)
        self.slot = half.system.pattern.slots(low, high)
        self.turned = a > b

    def _order(self, centres: Floats) -> Ints:
        """Triangles so that those of each branch of the tree are near each other."""
        order = np.arange(len(centres))
        ahead = [(0, len(self.start) - 1)]
        while ahead:
            first, last = ahead.pop()
            if last - first < 2:
                continue
            own = slice(int(self.start[first]), int(self.start[last]))
            axis = int(np.argmax(np.ptp(centres[order[own]], axis=0))) if own.stop > own.start else 0
            order[own] = order[own][np.argsort(centres[order[own], axis], kind="stable")]
            middle = (first + last) // 2
            ahead += [(first, middle), (middle, last)]
        return order

    def look(self, x: Floats) -> None:
        """Normals and boxes for nodes at x (n, 3)."""
        normals(x, self.faces, self.normal, self.around)
        boxes(x, self.faces, self.start, self.box)


def _beside(faces: Ints) -> Ints:
    """Triangles (f, 3) beyond the edges ab, bc, ca of each; -1 where there is none."""
    ends = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    n = int(faces.max()) + 1
    forth, back = ends[:, 0] * n + ends[:, 1], ends[:, 1] * n + ends[:, 0]
    order = np.argsort(forth)
    at = np.minimum(np.searchsorted(forth[order], back), len(order) - 1)
    return np.where(forth[order][at] == back, order[at] // 3, -1).reshape(-1, 3)


class VolumePair:
    """Two volumes that may touch each other, or one that may touch itself.

    Attributes:
        contacts: the contact, as described.
        numbers: of the volume whose points touch, and of the one whose triangles do.
        nodes, weights: (p, 3) nodes of each point, and its weights.
        reach: distance [m] from which triangles are seen.
        rubs: whether there is friction.

    """

    def __init__(self, contact: VolumeContact, numbers: tuple[int, int], halves: Sequence[Half]) -> None:
        self.contacts, self.numbers, self.rubs = [contact], numbers, contact.friction > 0.0
        a, b = (halves[k] for k in numbers)
        self.surface = _Surface(b)
        system, alone = a.system, numbers[0] != numbers[1]
        softest = float(plane_modulus(b.system.body, b.system.grid)[self.surface.faces].min())
        modulus = np.minimum(plane_modulus(system.body, system.grid), softest)
        spacing = self.surface.edge if contact.spacing is None else contact.spacing
        points = surface_points(system.body, system.grid, contact, spacing, modulus, inside=True)
        self.nodes, self.weights, self.law = points.nodes, points.weights, law_of(contact, points)
        share = self.weights[:, _ROW] * self.weights[:, _COLUMN]
        self._share, self._slot = share, system.pattern.slots(self.nodes[:, _ROW], self.nodes[:, _COLUMN])
        thick = float(
            np.ptp(b.system.rest.x, axis=0).min()
        )  # no place inside is further from the surface than half of it
        self.reach = thick if alone else 0.5 * self.surface.edge
        self._skips, self._skip = np.zeros(len(self.nodes) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._alone = alone
        if not alone:
            self._leave_out(system.rest.x)
        self._numbers = (
            np.zeros((7, 3)),
            np.zeros((7, 3), dtype=complex),
            np.zeros((4, 3)),
            np.zeros((4, 3), dtype=complex),
        )

    def _leave_out(self, rest: Floats) -> None:
        """Note the triangles that are near to each point at rest: these do not touch it."""
        faces = self.surface.faces
        middles = rest[faces].mean(axis=1)
        wide = float(np.linalg.norm(rest[faces] - middles[:, None], axis=2).max())
        found = cKDTree(middles).query_ball_point(self.places(rest), NEAR * self.reach + wide)
        self._skips[1:] = np.cumsum([len(own) for own in found])
        self._skip = np.concatenate([np.asarray(own, dtype=np.int64) for own in found])

    def places(self, x: Floats, which: Ints | slice = slice(None)) -> Floats:
        """Where points are (p, 3) [m]."""
        return np.asarray(np.einsum("pa,pai->pi", self.weights[which], x[self.nodes[which]]))

    def _found(self, x: Floats, y: Floats) -> tuple[Ints, Floats]:
        """The closest triangle of each point and what of it (p, 2), and depths (p,) [m]."""
        s, p = self.surface, len(self.nodes)
        s.look(y)
        away = np.zeros((0, 3))
        if not self._alone:
            away = np.einsum("pa,pai->pi", self.weights, s.around[self.nodes])
            away /= np.linalg.norm(away, axis=1, keepdims=True)
        state, depth = np.zeros((p, 2), dtype=np.int64), np.zeros(p)
        find(
            x, self.nodes, self.weights, y, s.faces, s.beside, s.normal, s.around, s.start, s.box, self.reach, away,
            self._skips, self._skip, s.stack, state, depth,
        )  # fmt: skip
        return state, depth

    def _ends(self, x: Sequence[Floats]) -> tuple[Floats, Floats]:
        return x[self.numbers[0]], x[self.numbers[1]]

    def grip(self, x: Sequence[Floats], root: Floats | None, rate: float = 0.0, weight: float = 1.0) -> Grip:
        """What points remember at a state; bristles are rooted where they are, if not told."""
        a, b = self._ends(x)
        state, depth = self._found(a, b)
        if root is None or root.shape != (len(self.nodes), 4):
            root = np.zeros((len(self.nodes), 4))
            root_all(a, self.nodes, self.weights, b, self.surface.faces, state, root)
        return Grip(root, depth, NOWHERE, rate, weight)

    def press(self, x: Sequence[Floats], grip: Grip | None, *, wants: bool = True) -> Met:
        """What touches; without friction and damping if nothing is remembered."""
        a, b = self._ends(x)
        state, depth = self._found(a, b)
        on, p = np.flatnonzero((state[:, 0] >= 0) & (depth > 0.0)), len(self.nodes)
        k, past = len(on), grip or Grip(np.zeros((p, 4)), np.zeros(p), NOWHERE, 0.0)
        force, change, kept = np.zeros((k, 4, 3)), np.zeros((k if wants else 1, 12, 21)), np.zeros(k)
        mode, corner, root = np.zeros(k, dtype=np.int64), np.zeros((k, 3), dtype=np.int64), np.zeros((p, 4))
        root_all(a, self.nodes, self.weights, b, self.surface.faces, state, root)
        meet(
            a, self.nodes, self.weights, self.law, b, self.surface.faces, on, state, depth, past.root, past.depth,
            float(past.rate), grip is not None, wants, *self._numbers, force, change, mode, corner, root, kept,
        )  # fmt: skip
        return Met(on, state, past.weight * force, past.weight * change, mode, corner, root, kept)

    def spread(self, number: int, on: Ints, face: Ints, force: Floats, out: Floats) -> None:
        """Add forces (k, 4, 3) on some points, and on the corners of triangles, to those (n, 3) on the nodes of a volume."""
        if number == self.numbers[0]:
            np.add.at(out, self.nodes[on], self.weights[on][:, :, None] * force[:, :1])
        if number == self.numbers[1]:
            np.add.at(out, self.surface.faces[face], force[:, 1:])

    def add(self, number: int, met: Met, gradient: Floats, blocks: Floats | None) -> None:
        """Add what touches to the gradient (n, 3) and the blocks of a volume, if it is one of the two."""
        if number not in self.numbers or not len(met.on):
            return
        face = met.state[met.on, 0]
        self.spread(number, met.on, face, -met.force, gradient)
        if blocks is None:
            return
        points, corners = self._even(met)
        if number == self.numbers[0]:
            slot, values = self._slot[met.on], points.reshape(-1, 1, 9) * self._share[met.on][:, :, None]
            np.add.at(blocks, slot[slot >= 0], values[slot >= 0])
        if number == self.numbers[1]:
            values = corners[:, _ROW, :, _COLUMN, :].transpose(1, 0, 2, 3)
            turned = self.surface.turned[face]
            values = np.where(turned[:, :, None, None], np.swapaxes(values, 2, 3), values).reshape(*turned.shape, 9)
            slot = self.surface.slot[face]
            np.add.at(blocks, slot[slot >= 0], values[slot >= 0])

    def _even(self, met: Met) -> tuple[Floats, Floats]:
        """Symmetric stiffness of points (k, 3, 3), and between the corners of triangles (k, 3, 3, 3, 3)."""
        points = -met.change[:, :3, :3]
        corners = -met.change[:, 3:, 3:12]
        same = np.all(met.corner == self.surface.faces[met.state[met.on, 0]], axis=1)
        corners = corners - same[:, None, None] * met.change[:, 3:, 12:]
        even = [0.5 * (own + np.swapaxes(own, 1, 2)) for own in (points, corners)]
        return even[0], even[1].reshape(-1, 3, 3, 3, 3)

    def rest(self, met: Met) -> tuple[Ints, Ints, Floats]:
        """What of the derivatives is not in blocks: nodes (k, 6) and (k, 9), and values (k, 6, 3, 9, 3).

        Forces on the first depend on the second: nodes of the point, of the triangle, and of the one with the root. Numbers
        of the nodes of the second volume are told by a sign: -1 - node.
        """
        k, faces = len(met.on), self.surface.faces[met.state[met.on, 0]]
        nodes = np.hstack([self.nodes[met.on], -1 - faces, -1 - met.corner])
        to = np.zeros((k, 9, 7))
        to[:, :3, 0] = self.weights[met.on]
        to[:, np.arange(3, 9), np.arange(1, 7)] = 1.0
        change = -met.change.reshape(k, 4, 3, 7, 3)
        values = np.einsum("krp,kpiqj,kcq->kricj", to[:, :6, :4], change, to, optimize=True)
        points, corners = self._even(met)
        w = self.weights[met.on]
        values[:, :3, :, :3] -= np.einsum("ka,kij,kb->kaibj", w, points, w)
        values[:, 3:, :, 3:6] -= corners
        return nodes[:, :6], nodes, values

    def touched(self, x: Sequence[Floats], grip: Grip | None) -> Touched:
        """What touches, to be read and to start from."""
        met = self.press(x, grip and grip._replace(weight=1.0), wants=False)
        energy, none = np.array([met.kept.sum()]), np.zeros(len(met.on), dtype=np.int64)
        place = self.places(x[self.numbers[0]], met.on)
        face = met.state[met.on, 0]
        return Touched(
            none, place, -met.force[:, 0], met.mode == SLIDES, energy, met.root, met.on, face, met.force[:, 1:]
        )


class Ties(NamedTuple):
    """What couples volumes that touch each other, in a tangent of which T is the rest: T + S^T E S, with S the nodes."""

    E: Floats  # (k, k)
    nodes: list[
        tuple[Ints, Ints]
    ]  # of each volume: numbers of components of nodes that are unknown, and which unknowns
    led: Ints  # numbers of components of nodes that frames lead
    lever: Floats  # (led, n): how these move with the coordinates
    step: Floats  # T^-1 S^T: (n + m, k) of the coordinates
    alone: list[Floats]  # (k, 3 f) of each volume
    inner: Any  # factors of 1 + E W, with W = S T^-1 S^T
    W: Floats

    def moved(self, step: Floats, alone: list[Floats]) -> Floats:
        """S (k, m) of m solutions."""
        out = np.zeros((len(self.E), step.shape[1]))
        for (mine, unknown), rows in zip(self.nodes, alone, strict=True):
            out[mine] = rows[:, unknown].T
        out[self.led] = self.lever @ step[: self.lever.shape[1]]
        return out

    def corrected(self, step: Floats, alone: list[Floats]) -> tuple[Floats, list[Floats]]:
        """Solutions of the whole, from those of T."""
        c = lu_solve(self.inner, self.E @ self.moved(step, alone))
        return step - self.step @ c, [rows - c.T @ own for rows, own in zip(alone, self.alone, strict=True)]

    def falling(self) -> int:
        """How many more directions there are in which the energy falls than T has; less than none if there are fewer."""
        values, vectors = np.linalg.eigh(0.5 * (self.E + self.E.T))
        kept = np.abs(values) > 1e-9 * np.abs(values).max(initial=0.0)
        values, vectors = values[kept], vectors[:, kept]
        inner = vectors.T @ (0.5 * (self.W + self.W.T)) @ vectors
        inner[np.diag_indices(len(values))] += 1.0 / values
        return int(np.sum(np.linalg.eigvalsh(inner) > 0.0)) - int(np.sum(values > 0.0))


def tie(model: Any, at: Any, driven: Ints, size: int, solve: Any) -> Ties | None:
    """What couples volumes at a state; None if nothing does.

    solve(right, alone) is T^-1 of columns (size, k) and of rows of each volume that are solved for its own nodes already.
    """
    parts = [(pair, met) for pair, met in zip(model.pairs, at.meets, strict=False) if len(met.on)]
    if not parts:
        return None
    J = at.lead.J.copy()
    J[:, driven] = 0.0
    far = 1 + max(len(half.system.rest.x) for half in model.halves)
    keyed = []
    for pair, met in parts:
        rows, columns, values = pair.rest(met)
        a, b = pair.numbers
        key = lambda nodes, a=a, b=b: np.where(nodes >= 0, a * far + nodes, b * far - 1 - nodes)
        keyed.append((key(rows), key(columns), values))
    every = np.unique(np.concatenate([columns.ravel() for _, columns, _ in keyed]))
    kept = np.array([_moves(model.halves[key // far], key % far) for key in every.tolist()])
    every = every[kept]
    E = _assembled(every, keyed)
    nodes, led, lever = _unknown(model, every // far, every % far, J, at.lead.poses)
    right = np.zeros((size, len(E)))
    right[: lever.shape[1], led] = lever.T
    step, alone = solve(right, _compliance(model, len(E), nodes))
    found = Ties(E, nodes, led, lever, step, alone, None, E)
    W = found.moved(step, alone)
    inner = np.eye(len(E)) + E @ W
    if not np.isfinite(inner).all():
        raise SolverError("The tangent of volumes that touch each other is not finite.")
    return found._replace(inner=lu_factor(inner, check_finite=False), W=W)


def _moves(half: Half, node: int) -> bool:
    """Whether a node is unknown or led by a frame that moves."""
    return bool(half.system.unknowns.first[node] >= 0 or half.leaders(np.array([node]))[0] >= 0)


def _assembled(every: Ints, keyed: list[tuple[Ints, Ints, Floats]]) -> Floats:
    """E (3 k, 3 k) on nodes with keys (k,)."""
    size, three = 3 * len(every), np.arange(3)
    E = np.zeros(size * size)
    for rows, columns, values in keyed:
        r, c = (np.minimum(np.searchsorted(every, keys), len(every) - 1) for keys in (rows, columns))
        inside = (every[r] == rows)[:, :, None] & (every[c] == columns)[:, None, :]
        at = (3 * r[:, :, None, None, None] + three[:, None, None]) * size + 3 * c[:, None, None, :, None] + three
        both = np.broadcast_to(inside[:, :, None, :, None], values.shape)
        E += np.bincount(at[both], values[both], minlength=size * size)
    return E.reshape(size, size)


def _unknown(
    model: Any, number: Ints, node: Ints, J: Floats, poses: Poses
) -> tuple[list[tuple[Ints, Ints]], Ints, Floats]:
    """Where the components of nodes stand among the unknowns: of each volume, and of the coordinates."""
    found, led, levers, three = [], [], [], np.arange(3)
    for k, half in enumerate(model.halves):
        mine = np.flatnonzero(number == k)
        first = half.system.unknowns.first[node[mine]]
        free, held = mine[first >= 0], mine[first < 0]
        found.append(((3 * free[:, None] + three).ravel(), (3 * first[first >= 0][:, None] + three).ravel()))
        own = J[model.rows_of(half)].reshape(-1, 6, J.shape[1])
        T = half.lever(node[held], poses)
        led.append((3 * held[:, None] + three).ravel())
        levers.append(np.einsum("kij,kjn->kin", T, own[half.leaders(node[held])]).reshape(-1, J.shape[1]))
    return found, np.concatenate(led), np.concatenate(levers)


def _compliance(model: Any, size: int, nodes: list[tuple[Ints, Ints]]) -> list[Floats]:
    """Displacements (size, 3 f) of each volume by unit forces on components of its own nodes."""
    rows = []
    for half, (mine, unknown) in zip(model.halves, nodes, strict=True):
        out = np.zeros((size, 3 * len(half.free)))
        if len(mine):
            own = np.zeros((len(mine), 3 * len(half.free)))
            own[np.arange(len(mine)), unknown] = 1.0
            out[mine] = half.system.solver.solve(own)
        rows.append(out)
    return rows
