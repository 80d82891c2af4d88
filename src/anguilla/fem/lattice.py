"""Meshes without a mesher: boxes of a lattice, each cut into six tetrahedra, then bent into shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations

import numpy as np

from anguilla.fem.mesh import FACES, Floats, Ints, TetMesh, signed_volumes

__all__ = ["lattice"]


def _cut(index: Ints, flips: tuple[Ints, Ints, Ints], closed: bool) -> Ints:
    """Six tetrahedra for every box: (i, j, k, 6, 4) numbers. `index` numbers the lattice points.

    Each box is cut along the paths from one corner to the opposite one. Which corner may change from box to box along an
    axis, by that axis's own flips: the cuts still meet on shared faces.
    """
    count = (len(flips[0]), len(flips[1]), len(flips[2]))
    base = np.meshgrid(*(np.arange(n) for n in count), indexing="ij")
    tets = np.zeros((*count, 6, 4), dtype=np.int64)
    for number, order in enumerate(permutations(range(3))):
        step = np.zeros(3, dtype=np.int64)
        for corner in range(4):
            if corner:
                step[order[corner - 1]] = 1
            at = []
            for axis in range(3):
                flip = flips[axis].reshape([-1 if a == axis else 1 for a in range(3)])
                place = base[axis] + np.where(flip == 1, 1 - step[axis], step[axis])
                if closed and axis == 1:
                    place = place % count[1]
                at.append(place)
            tets[..., number, corner] = index[tuple(at)]
    return tets


def lattice(
    shape: tuple[int, int, int], place: Callable[[Floats], Floats], *, keep: np.ndarray | None = None,
    closed: bool = False, flips: tuple[Ints, Ints, Ints] | None = None,
    nodes: Mapping[str, np.ndarray] | None = None, holes: Mapping[str, np.ndarray] | None = None,
) -> TetMesh:  # fmt: skip
    """Mesh of a lattice of boxes.

    Args:
        shape: number of boxes along the three axes.
        place: from lattice coordinates (n, 3), whole numbers, to positions (n, 3) [m].
        keep: mask (shape) of the boxes to fill; all by default.
        closed: whether the second axis closes into a ring (an even number of boxes then).
        flips: for each axis, 0 or 1 per box: mirrors the cut; alternating by default.
        nodes: named masks over lattice points.
        holes: named masks (shape) of boxes that are empty and closed all around: their surface is named.

    """
    points = tuple(n + 1 - (closed and a == 1) for a, n in enumerate(shape))
    index = np.arange(np.prod(points), dtype=np.int64).reshape(points)
    flips = flips or tuple(np.arange(n) % 2 for n in shape)  # type: ignore[assignment]
    assert flips is not None
    cut = _cut(index, flips, closed)
    keep = np.ones(shape, dtype=bool) if keep is None else keep
    tets = cut[keep].reshape(-1, 4)
    used, renumbered = np.unique(tets, return_inverse=True)
    number = np.full(index.size, -1, dtype=np.int64)
    number[used] = np.arange(len(used))
    places = place(np.stack(np.unravel_index(np.arange(index.size), points), axis=1).astype(float))
    named = {name: np.flatnonzero(np.asarray(mask).ravel()[used]) for name, mask in (nodes or {}).items()}
    surfaces = {name: number[_skin(places, cut[mask].reshape(-1, 4))] for name, mask in (holes or {}).items()}
    return TetMesh(places[used], renumbered.reshape(-1, 4), named, surfaces)


def _skin(places: Floats, tets: Ints) -> Ints:
    """Triangles (k, 3) around a set of tetrahedra, normals out of it."""
    faces = tets[:, FACES]
    wrong = signed_volumes(places, tets) < 0.0
    faces[wrong] = faces[wrong][:, :, ::-1]
    faces = faces.reshape(-1, 3)
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[np.sort(first[count == 1])]
