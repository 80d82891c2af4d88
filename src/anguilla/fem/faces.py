"""Curved faces of chambers: the volume behind a face as an exact sum of determinants of its nodes.

A face is x(u, v) = sum N_a x_a, of three or six nodes. The volume between it and the origin is the integral of
x . (x_u x x_v) / 3, and the moment of that volume along g the integral of (g . x) x . (x_u x x_v) / 4: an alternating form of
three nodes, and a linear form times one. Both are therefore sums over triples of nodes of constants times det[x_a, x_b, x_c],
whatever the shape of the face: gradient and curvature follow without quadrature, and are exact.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations

import numpy as np

from anguilla.fem.elements import Grid, Pattern
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.rows import Surfaces

__all__ = ["make_surfaces", "pairs_of_faces", "with_slots"]

SIDES = ((0, 1), (1, 2), (2, 0))  # nodes 3, 4, 5 of a face are the middles of these


def _shape(u: Floats, v: Floats, nodes: int) -> tuple[Floats, Floats, Floats]:
    """Shape functions and their derivatives by u and v, (q, nodes) each."""
    bary = np.stack([1.0 - u - v, u, v], axis=1)
    slope = np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])
    if nodes == 3:
        return bary, np.tile(slope[:, 0], (len(u), 1)), np.tile(slope[:, 1], (len(u), 1))
    i, j = np.array(SIDES).T
    value = np.concatenate([bary * (2.0 * bary - 1.0), 4.0 * bary[:, i] * bary[:, j]], axis=1)
    corner = (4.0 * bary - 1.0)[:, :, None] * slope
    middle = 4.0 * (bary[:, i, None] * slope[j] + bary[:, j, None] * slope[i])
    by = np.concatenate([corner, middle], axis=1)
    return value, by[:, :, 0], by[:, :, 1]


def _forms(nodes: int) -> tuple[Floats, Floats]:
    """T (k, k, k) and Q (k, k, k, k), alternating in a, b, c: volume T_abc det[abc], moment Q_dabc (g.x_d) det[abc]."""
    p, w = np.polynomial.legendre.leggauss(5)
    p, w = 0.5 * (p + 1.0), 0.5 * w
    a, b = (grid.ravel() for grid in np.meshgrid(p, p, indexing="ij"))
    weight = np.outer(w, w).ravel() * (1.0 - a)
    n, nu, nv = _shape(a, b * (1.0 - a), nodes)
    plain = np.einsum("q,qa,qb,qc->abc", weight, n, nu, nv) / 3.0
    lifted = np.einsum("q,qd,qa,qb,qc->dabc", weight, n, n, nu, nv) / 4.0
    T, Q = np.zeros_like(plain), np.zeros_like(lifted)
    for order in permutations(range(3)):
        sign = np.linalg.det(np.eye(3)[list(order)])
        T += sign / 6.0 * np.transpose(plain, order)
        Q += sign / 6.0 * np.transpose(lifted, (0, *(k + 1 for k in order)))
    return T, Q


@cache
def _terms(nodes: int) -> tuple[Ints, Ints, Floats, Floats]:
    """Terms of every kind of face: (first term of each kind, nodes (t, 3), weights (t,), lifts (t, k)).

    Bit e of the kind says that side e has no node of its own: it is no edge of the mesh, and stays straight.
    """
    T, Q = _forms(nodes)
    at, triples, weights, lifts = [0], [], [], []
    for kind in range(8 if nodes == 6 else 1):
        P = np.eye(nodes)
        for side, ends in enumerate(SIDES):
            if kind >> side & 1:
                P[3 + side] = 0.5 * (np.eye(nodes)[ends[0]] + np.eye(nodes)[ends[1]])
        t = np.einsum("abc,ai,bj,ck->ijk", T, P, P, P)
        q = np.einsum("dabc,dl,ai,bj,ck->lijk", Q, P, P, P, P)
        for i, j, k in combinations(range(nodes), 3):
            one, lift = 6.0 * t[i, j, k], 6.0 * q[:, i, j, k]  # six orders of a triple
            if max(abs(one), np.abs(lift).max()) > 1e-14:
                triples.append((i, j, k))
                weights.append(one)
                lifts.append(np.where(np.abs(lift) > 1e-15, lift, 0.0))
        at.append(len(triples))
    return np.array(at, dtype=np.int64), np.array(triples, dtype=np.int64), np.array(weights), np.array(lifts)


def make_surfaces(grid: Grid, triangles: list[Ints], fluid: list[list[float]]) -> Surfaces:
    """Compile closed surfaces, (t, 3) corners each; blocks of the stiffness are filled in when the pattern is known."""
    corners = np.concatenate([np.zeros((0, 3), dtype=np.int64), *triangles])
    at = np.concatenate([[0], np.cumsum([len(t) for t in triangles])]).astype(np.int64)
    face, kind = corners, np.zeros(len(corners), dtype=np.int64)
    if len(grid.middles):
        middle = grid.middles_of(corners)
        missing = middle < 0
        face = np.concatenate([corners, np.where(missing, corners, middle)], axis=1)
        kind = missing @ np.array([1, 2, 4])
    k = face.shape[1]
    return Surfaces(
        at, np.ascontiguousarray(face), np.ascontiguousarray(kind, dtype=np.int64),
        np.zeros((len(face), k, k), dtype=np.int64), *_terms(k), np.array(fluid, dtype=float).reshape(-1, 4),
    )  # fmt: skip


def pairs_of_faces(surfaces: Surfaces) -> tuple[Ints, Ints]:
    """All pairs of nodes of every face, (f, k, k) each, the smaller node first."""
    one, two = surfaces.face[:, :, None], surfaces.face[:, None, :]
    return np.minimum(one, two), np.maximum(one, two)


def with_slots(surfaces: Surfaces, pattern: Pattern) -> Surfaces:
    """The same surfaces, which know their blocks."""
    return surfaces._replace(slot=np.ascontiguousarray(pattern.slots(*pairs_of_faces(surfaces))))
