"""Tetrahedral meshes: points, tetrahedra, named places, and the checks a mesh passes before it becomes a body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import did_you_mean
from anguilla.errors import DescriptionError, as_array, refuse

__all__ = ["Floats", "Ints", "TetMesh", "edges_of", "find_nodes", "locate"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Faces of a tetrahedron with positive volume, seen from outside counter-clockwise.
FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])
EDGES = np.array([[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]])
SAME = 1e-9  # points nearer than this part of the size of the mesh are at the same place
FLAT = 1e-10  # a tetrahedron below this part of its longest edge cubed has no volume


def signed_volumes(points: Floats, tets: Ints) -> Floats:
    """Signed volumes (m,) [m^3]."""
    a, b, c, d = (points[tets[:, k]] for k in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0


@dataclass(frozen=True)
class TetMesh:
    """A mesh of tetrahedra in SI units.

    Tetrahedra are put right way round on entry; flat ones, unused or doubled numbers, separate pieces, and points that lie on
    one another (cracks) are refused.

    Attributes:
        points: (n, 3) rest positions [m].
        tets: (m, 4) corner numbers, positive volume.
        nodes: named sets of points, such as "base".
        surfaces: named closed surfaces, (k, 3) triangles each, such as "chamber"; normals point out of the enclosed space.
        regions: named sets of tetrahedra, for several materials.

    """

    points: Floats
    tets: Ints
    nodes: Mapping[str, Ints] = field(default_factory=dict)
    surfaces: Mapping[str, Ints] = field(default_factory=dict)
    regions: Mapping[str, Ints] = field(default_factory=dict)
    source: ClassVar[dict[str, Any] | None] = None  # what it was made of, for robot files: a shape, or a file

    def __post_init__(self) -> None:
        points = as_array(self.points, "TetMesh.points", "finite positions of shape (n, 3) [m]")
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
            raise refuse("TetMesh.points", "at least 4 positions, of shape (n, 3) [m]", self.points)
        tets = np.array(self.tets)
        if tets.dtype.kind not in "iu" or tets.ndim != 2 or tets.shape[1] != 4 or len(tets) == 0:
            raise refuse("TetMesh.tets", "integers of shape (m, 4), the corners of each tetrahedron", self.tets)
        tets = tets.astype(np.int64)
        if tets.min() < 0 or tets.max() >= len(points):
            raise DescriptionError(
                f"TetMesh.tets must name points 0 to {len(points) - 1}; got numbers from {tets.min()} to {tets.max()}."
            )
        volume = signed_volumes(points, tets)
        span = np.max([np.linalg.norm(points[tets[:, i]] - points[tets[:, j]], axis=1) for i, j in EDGES], axis=0)
        flat = np.flatnonzero(np.abs(volume) <= FLAT * span**3)
        if len(flat):
            raise DescriptionError(
                f"TetMesh: tetrahedron {flat[0]} has no volume ({len(flat)} of {len(tets)} like it)."
            )
        wrong = volume < 0.0
        tets[wrong] = tets[wrong][:, [0, 2, 1, 3]]
        _check_connected(points, tets)
        for name, array in (("points", points), ("tets", tets)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for name, kind in (("nodes", len(points)), ("surfaces", len(points)), ("regions", len(tets))):
            object.__setattr__(self, name, _named(getattr(self, name), f"TetMesh.{name}", kind, name == "surfaces"))

    @property
    def volume(self) -> float:
        """Volume at rest [m^3]."""
        return float(signed_volumes(self.points, self.tets).sum())

    @property
    def boundary(self) -> Ints:
        """Triangles (k, 3) that belong to one tetrahedron only, normals out of the solid."""
        faces = self.tets[:, FACES].reshape(-1, 3)
        key = np.sort(faces, axis=1)
        _, first, count = np.unique(key, axis=0, return_index=True, return_counts=True)
        if count.max() > 2:
            raise DescriptionError("TetMesh: a triangle is shared by more than two tetrahedra.")
        return faces[np.sort(first[count == 1])]

    def quality(self) -> Floats:
        """Shape of each tetrahedron (m,): 1 for a regular one, towards 0 for a flat one (mean-ratio measure)."""
        squares = sum(
            np.sum((self.points[self.tets[:, i]] - self.points[self.tets[:, j]]) ** 2, axis=1) for i, j in EDGES
        )
        return 12.0 * (3.0 * signed_volumes(self.points, self.tets)) ** (2.0 / 3.0) / squares

    def shells(self) -> list[Ints]:
        """Closed connected pieces of the boundary, each (k, 3): the outside first, then the cavities.

        The triangles of a cavity are turned so that their normals point out of the enclosed space.
        """
        boundary = self.boundary
        label = _pieces(boundary, len(self.points))
        shells = [boundary[label == k] for k in range(label.max() + 1)]
        outside = [shell for shell in shells if enclosed_volume(self.points, shell) > 0.0]
        inside = [shell[:, ::-1] for shell in shells if enclosed_volume(self.points, shell) <= 0.0]
        return sorted(outside, key=len, reverse=True) + inside

    def __repr__(self) -> str:
        size = np.ptp(self.points, axis=0)
        return f"<TetMesh: {len(self.points)} points, {len(self.tets)} tetrahedra, {size[0]:g} x {size[1]:g} x {size[2]:g} m>"


def _named(value: object, name: str, limit: int, triangles: bool) -> dict[str, Ints]:
    if not isinstance(value, Mapping):
        raise refuse(name, "a dictionary from names to numbers", value)
    clean = {}
    for key, numbers in value.items():
        array = np.asarray(numbers, dtype=np.int64) if np.size(numbers) else np.zeros(0, dtype=np.int64)
        if array.size and (array.min() < 0 or array.max() >= limit):
            raise DescriptionError(f"{name}[{key!r}] must hold numbers from 0 to {limit - 1}.")
        if triangles and (array.ndim != 2 or array.shape[1] != 3):
            raise DescriptionError(f"{name}[{key!r}] must be triangles of shape (k, 3); got shape {array.shape}.")
        clean[str(key)] = array if triangles else array.ravel()
    return clean


def _pieces(cells: Ints, n: int) -> Ints:
    """Label (len(cells),) of the connected piece each cell belongs to, pieces joined by shared points."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = np.repeat(cells[:, 0], cells.shape[1] - 1)
    graph = coo_array((np.ones(len(first)), (first, cells[:, 1:].ravel())), shape=(n, n))
    label = connected_components(graph, directed=False)[1][cells[:, 0]]
    return np.unique(label, return_inverse=True)[1]


def _check_connected(points: Floats, tets: Ints) -> None:
    used = np.zeros(len(points), dtype=bool)
    used[tets] = True
    if not used.all():
        raise DescriptionError(
            f"TetMesh: {np.sum(~used)} of {len(points)} points belong to no tetrahedron (the first is "
            f"{np.flatnonzero(~used)[0]}); remove them, as read_mesh does."
        )
    _check_cracks(points)
    count = int(_pieces(tets, len(points)).max()) + 1
    if count > 1:
        raise DescriptionError(f"TetMesh: the tetrahedra form {count} separate pieces; one body must hang together.")
    _check_hinges(points, tets)
    doubled = len(tets) - len(np.unique(np.sort(tets, axis=1), axis=0))
    if doubled:
        raise DescriptionError(f"TetMesh: {doubled} tetrahedra appear twice.")


def _check_cracks(points: Floats) -> None:
    """Refuse points at the same place: the elements on either side are not joined, and would come apart or overlap."""
    from scipy.spatial import cKDTree

    pairs = cKDTree(points).query_pairs(SAME * float(np.ptp(points, axis=0).max()), output_type="ndarray")
    if len(pairs):
        one, two = pairs[np.lexsort(pairs.T[::-1])[0]]
        raise DescriptionError(
            f"TetMesh: {len(np.unique(pairs))} points lie on one another (the first are {one} and {two}, at "
            f"{points[one].round(6).tolist()} m), so that the body is cracked there: join them, as "
            "read_mesh(..., merge=1e-6) does, or move them apart if the crack is meant."
        )


def _check_hinges(points: Floats, tets: Ints) -> None:
    """Refuse a piece that hangs on the rest by a point or an edge only: it would turn freely."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    faces = np.sort(tets[:, FACES].reshape(-1, 3), axis=1)
    _, number = np.unique(faces, axis=0, return_inverse=True)
    owner = np.repeat(np.arange(len(tets)), 4)
    order = np.argsort(number.ravel(), kind="stable")
    same = np.flatnonzero(np.diff(number.ravel()[order]) == 0)
    one, two = owner[order[same]], owner[order[same + 1]]
    count, label = connected_components(coo_array((np.ones(len(one)), (one, two)), shape=(len(tets), len(tets))))
    for piece in range(count if count > 1 else 0):
        shared = points[np.intersect1d(tets[label == piece], tets[label != piece])]
        arms = shared - shared.mean(axis=0)
        if np.linalg.matrix_rank(arms, tol=1e-9 * float(np.ptp(points, axis=0).max())) < 2:
            raise DescriptionError(
                f"TetMesh: {np.sum(label == piece)} tetrahedra hang on the rest by a point or an edge only and would turn "
                "freely; join them by a face."
            )


def enclosed_volume(points: Floats, triangles: Ints) -> float:
    """Volume [m^3] inside a closed surface, positive when its normals point out of it."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def open_edges(triangles: Ints) -> int:
    """Number of edges of a surface without a partner running the other way: 0 for a closed, oriented surface."""
    edges = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    n = int(triangles.max()) + 1
    forth, back = edges[:, 0] * n + edges[:, 1], edges[:, 1] * n + edges[:, 0]
    return len(np.setdiff1d(forth, back)) + len(forth) - len(np.unique(forth))


def edges_of(tets: Ints) -> tuple[Ints, Ints]:
    """Unique edges (k, 2) and, for each tetrahedron, the numbers (m, 6) of its edges in the order of EDGES."""
    pairs = np.sort(tets[:, EDGES].reshape(-1, 2), axis=1)
    edges, number = np.unique(pairs, axis=0, return_inverse=True)
    return edges, number.reshape(-1, 6)


def find_nodes(mesh: TetMesh, where: object, name: str) -> Ints:
    """Numbers of the points a user means.

    Args:
        mesh: the mesh.
        where: a name in ``mesh.nodes``, numbers, a mask (n,), or a function of positions (n, 3) returning a mask.
        name: the field, for errors.

    """
    n = len(mesh.points)
    if isinstance(where, str):
        if where not in mesh.nodes:
            known = ", ".join(mesh.nodes) or "none"
            raise DescriptionError(
                f"{name}: the mesh has no set of points {where!r}{did_you_mean(where, mesh.nodes)}; it has: {known}."
            )
        chosen = mesh.nodes[where]
    else:
        value: Any = where(mesh.points) if callable(where) else where
        array = np.asarray(value)
        if array.dtype == bool and array.shape == (n,):
            chosen = np.flatnonzero(array)
        elif array.dtype.kind in "iu" and array.ndim == 1 and array.size and 0 <= array.min() and array.max() < n:
            chosen = np.unique(array.astype(np.int64))
        else:
            wanted = f"a named set, a mask of shape ({n},), numbers below {n}, or a function of positions giving one"
            raise refuse(name, wanted, value)
    if len(chosen) == 0:
        raise DescriptionError(f"{name} selects no point of the mesh.")
    return np.asarray(chosen, dtype=np.int64)


Where = str | ArrayLike | Callable[[Floats], ArrayLike]


REACH = 1e-3  # of the size of the mesh: a point outside by less lies on it


def locate(mesh: TetMesh, points: ArrayLike, name: str, *, pad: float | None = None) -> tuple[Ints, Floats]:
    """Tetrahedra (k,) holding the points (k, 3) [m], and the barycentric coordinates (k, 4) there.

    A point outside by less than a thousandth of the size of the mesh is taken to the nearest tetrahedron. With a pad [m] one
    that is outside by no more than the pad keeps its place: its coordinates go on outside the nearest tetrahedron, as if held
    by a bracket. None says that the part has no pad.
    """
    places = np.atleast_2d(as_array(points, name, "positions of shape (k, 3) [m]"))
    if places.ndim != 2 or places.shape[1] != 3:
        raise refuse(name, "positions of shape (k, 3) [m]", points)
    corner = mesh.points[mesh.tets]
    inverse = np.linalg.inv(np.swapaxes(corner[:, 1:] - corner[:, :1], 1, 2))
    size = float(np.linalg.norm(np.ptp(mesh.points, axis=0)))
    where, weights = np.zeros(len(places), dtype=np.int64), np.zeros((len(places), 4))
    for k, place in enumerate(places):
        inner = np.einsum("eij,ej->ei", inverse, place - corner[:, 0])
        bary = np.concatenate([1.0 - inner.sum(axis=1, keepdims=True), inner], axis=1)
        best = int(np.argmax(bary.min(axis=1)))
        if bary[best].min() < -1e-9:
            clipped = np.clip(bary, 0.0, None)
            clipped /= clipped.sum(axis=1, keepdims=True)
            gap = np.linalg.norm(np.einsum("ea,eai->ei", clipped, corner) - place, axis=1)
            best = int(np.argmin(gap))
            if gap[best] > max(REACH * size, pad or 0.0):
                advice = "" if pad is None else f"; a pad of {1.1 * gap[best]:.2g} m would hold it by a bracket"
                raise DescriptionError(
                    f"{name}: the point {place.round(6).tolist()} m lies outside the mesh, {gap[best]:.3g} m from it"
                    f"{advice}."
                )
            bary = bary if pad else clipped
        where[k], weights[k] = best, bary[best]
    return where, weights
