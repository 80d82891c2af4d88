"""Linear and quadratic tetrahedra: shape functions, gradients, quadrature, loads; and the pattern of the stiffness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anguilla.errors import DescriptionError
from anguilla.fem.assembly import Elements, Stars
from anguilla.fem.mesh import EDGES, Floats, Ints, TetMesh, edges_of

__all__ = ["KINDS", "Grid", "Pattern", "inside_out", "make_elements", "make_grid", "make_stars", "shape_functions"]

KINDS = ("linear", "averaged", "quadratic")
_A, _B = 0.5854101966249685, 0.1381966011250105  # four-point rule of degree two: (5 + 3 sqrt 5) / 20, (5 - sqrt 5) / 20
_FOUR = np.full((4, 4), _B) + (_A - _B) * np.eye(4)


@dataclass(frozen=True, slots=True)
class Grid:
    """Nodes of the discretisation: the points of the mesh, and the middles of its edges if quadratic.

    Attributes:
        kind: "linear", "averaged" or "quadratic".
        points: (n, 3) rest positions [m]; the points of the mesh come first.
        cells: (m, 4 or 10) nodes of each tetrahedron: corners, then edges in the order of `mesh.EDGES`.
        middles: (k, 2) corners of each edge that carries a node, or (0, 2).

    """

    kind: str
    points: Floats
    cells: Ints
    middles: Ints

    def middles_of(self, triangles: Ints) -> Ints:
        """Nodes (t, 3) in the middles of the sides ab, bc, ca of triangles; -1 where a side is no edge of the mesh."""
        corners = len(self.points) - len(self.middles)
        n = corners + 1
        key = self.middles[:, 0] * n + self.middles[:, 1]  # sorted, as np.unique made it
        pairs = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2)
        wanted = pairs[:, :, 0] * n + pairs[:, :, 1]
        found = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        return np.where(key[found] == wanted, corners + found, -1)

    def refine(self, triangles: Ints) -> Ints:
        """Triangles of the surface through all the nodes: (4 k, 3) for a quadratic grid."""
        if not len(self.middles):
            return triangles
        middle = self.middles_of(triangles)
        if np.any(middle < 0):
            raise DescriptionError(f"{np.sum(middle < 0)} sides of a surface are no edges of the mesh.")
        a, b, c = triangles.T
        ab, bc, ca = middle.T
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        return np.concatenate([np.stack(part, axis=1) for part in parts])

    def with_middles(self, nodes: Ints) -> Ints:
        """The given corners, and the middles of edges between two of them."""
        if not len(self.middles):
            return nodes
        chosen = np.zeros(len(self.points), dtype=bool)
        chosen[nodes] = True
        chosen[len(self.points) - len(self.middles) :] = chosen[self.middles[:, 0]] & chosen[self.middles[:, 1]]
        return np.flatnonzero(chosen)


def make_grid(mesh: TetMesh, kind: str) -> Grid:
    """Nodes and cells of a mesh for one kind of element."""
    if kind not in KINDS:
        raise DescriptionError(f"element must be one of {', '.join(map(repr, KINDS))}; got {kind!r}.")
    if kind != "quadratic":
        return Grid(kind, mesh.points, mesh.tets, np.zeros((0, 2), dtype=np.int64))
    edges, number = edges_of(mesh.tets)
    points = np.concatenate([mesh.points, mesh.points[edges].mean(axis=1)])
    return Grid(kind, points, np.concatenate([mesh.tets, len(mesh.points) + number], axis=1), edges)


def shape_functions(bary: Floats, nodes: int) -> Floats:
    """Values (k, nodes) of the shape functions at barycentric coordinates (k, 4)."""
    if nodes == 4:
        return bary
    i, j = EDGES.T
    return np.concatenate([bary * (2.0 * bary - 1.0), 4.0 * bary[:, i] * bary[:, j]], axis=1)


def _slopes(bary: Floats, nodes: int) -> Floats:
    """Derivatives (k, nodes, 4) with respect to the barycentric coordinates."""
    if nodes == 4:
        return np.broadcast_to(np.eye(4), (len(bary), 4, 4))
    out = np.zeros((len(bary), 10, 4))
    for a in range(4):
        out[:, a, a] = 4.0 * bary[:, a] - 1.0
    for k, (i, j) in enumerate(EDGES):
        out[:, 4 + k, i], out[:, 4 + k, j] = 4.0 * bary[:, j], 4.0 * bary[:, i]
    return out


def _tables(grid: Grid) -> tuple[Ints, Floats, Floats]:
    """Nodes in increasing order (m, k), gradients (m, points, k, 3) and weights (m, points)."""
    corner = grid.points[grid.cells[:, :4]]
    edges = np.swapaxes(corner[:, 1:] - corner[:, :1], 1, 2)
    inner = np.linalg.inv(edges)  # gradients of the last three barycentric coordinates
    bary_gradient = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
    volume = np.abs(np.linalg.det(edges)) / 6.0
    k = grid.cells.shape[1]
    points = np.full((1, 4), 0.25) if k == 4 else _FOUR
    gradient = np.einsum("qab,ebi->eqai", _slopes(points, k), bary_gradient)
    weight = np.repeat(volume[:, None] / len(points), len(points), axis=1)
    order = np.argsort(grid.cells, axis=1)
    nodes = np.take_along_axis(grid.cells, order, axis=1)
    gradient = np.take_along_axis(gradient, order[:, None, :, None], axis=2)
    return nodes, np.ascontiguousarray(gradient), weight


def inside_out(grid: Grid, x: Floats) -> Ints:
    """Numbers of tetrahedra that positions x (n, 3) turn inside out at a corner; the solvers see their inner points only."""
    corner = grid.points[grid.cells[:, :4]]
    inner = np.linalg.inv(np.swapaxes(corner[:, 1:] - corner[:, :1], 1, 2))
    bary_gradient = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
    slopes = _slopes(np.eye(4) if grid.cells.shape[1] == 10 else np.full((1, 4), 0.25), grid.cells.shape[1])
    along = np.einsum("eai,qab->eqib", x[grid.cells], slopes)
    return np.flatnonzero(np.linalg.det(along @ bary_gradient[:, None]).min(axis=1) <= 0.0)


def pairs_of(nodes: Ints) -> tuple[Ints, Ints]:
    """All pairs (m, k (k + 1) / 2) of rows of node numbers, row by row of the upper triangle."""
    a, b = np.triu_indices(nodes.shape[1])
    return nodes[:, a], nodes[:, b]


class Pattern:
    """Which pairs of nodes share a block, and where it is. Pairs with a node that is not kept have no block."""

    def __init__(self, keep: np.ndarray, pairs: list[tuple[Ints, Ints]]) -> None:
        self._n = len(keep)
        self._keep = keep
        keys = [np.arange(self._n)[keep] * (self._n + 1)]
        for i, j in pairs:
            low, high = np.minimum(i, j).ravel(), np.maximum(i, j).ravel()
            inside = keep[low] & keep[high]
            keys.append(np.unique(low[inside] * self._n + high[inside]))
        self._keys = np.unique(np.concatenate(keys))
        self.rows, self.cols = self._keys // self._n, self._keys % self._n

    def slots(self, i: Ints, j: Ints) -> Ints:
        """Block of each pair of nodes i <= j, or -1 if one of them is not kept."""
        wanted, inside = i * self._n + j, self._keep[i] & self._keep[j]
        found = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        if np.any(inside & (self._keys[found] != wanted)):
            raise AssertionError("a pair of nodes was left out of the pattern of the stiffness")
        return np.where(inside, found, -1).astype(np.int64)


def make_elements(grid: Grid, mu: Floats, lam: Floats, law: Ints) -> Elements:
    """Tables of the elements; slots are filled in when the pattern is known."""
    nodes, gradient, weight = _tables(grid)
    k = nodes.shape[1]
    return Elements(nodes, gradient, weight, mu, lam, law, np.full((len(nodes), k * (k + 1) // 2), -1, dtype=np.int64))


def make_stars(grid: Grid, el: Elements) -> Stars:
    """Neighbourhoods of the averaged element; empty for the others. Slots are filled in when the pattern is known."""
    none = np.zeros(0, dtype=np.int64)
    if grid.kind != "averaged":
        zero = np.zeros(0)
        return Stars(zero, zero, none, none, np.zeros((0, 4), dtype=np.int64), none, none, none, none)
    n = len(grid.points)
    element = np.repeat(np.arange(len(el.nodes)), 4)
    node = el.nodes.ravel()
    order = np.argsort(node, kind="stable")
    element, node = element[order], node[order]
    element_at = np.searchsorted(node, np.arange(n + 1)).astype(np.int64)
    quarter = 0.25 * el.weight[element, 0]
    volume = np.bincount(node, quarter, minlength=n).astype(np.float64)
    bulk = np.bincount(node, quarter * el.lam[element], minlength=n).astype(np.float64)
    stars = [np.unique(el.nodes[element[element_at[i] : element_at[i + 1]]]) for i in range(n)]
    local = np.concatenate(
        [np.searchsorted(stars[i], el.nodes[element[element_at[i] : element_at[i + 1]]]) for i in range(n)]
    )
    size = np.array([len(star) for star in stars])
    node_at = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    slot_at = np.concatenate([[0], np.cumsum(size * (size + 1) // 2)]).astype(np.int64)
    slot = np.full(int(slot_at[-1]), -1, dtype=np.int64)
    return Stars(
        volume, bulk, element_at, element, local.astype(np.int64), node_at, np.concatenate(stars), slot_at, slot
    )


def star_pairs(stars: Stars) -> tuple[Ints, Ints]:
    """All pairs of nodes of every star, row by row of the upper triangles, in the order of `Stars.slot`."""
    first, second = [], []
    for i in range(len(stars.volume)):
        star = stars.node[stars.node_at[i] : stars.node_at[i + 1]]
        a, b = np.triu_indices(len(star))
        first.append(star[a])
        second.append(star[b])
    if not first:
        none = np.zeros(0, dtype=np.int64)
        return none, none
    return np.concatenate(first), np.concatenate(second)


def held_by(points: Floats, place: Floats, radius: float) -> tuple[Ints, Floats] | None:
    """Nodes within a radius [m] of a place and weights, as even as possible, that are exact for linear displacements.

    None if there are too few nodes to hold it.
    """
    near = np.flatnonzero(np.linalg.norm(points - place, axis=1) <= radius)
    if len(near) < 2:
        return None
    arms = points[near] - points[near].mean(axis=0)
    shift = place - points[near].mean(axis=0)
    weights = 1.0 / len(near) + arms @ np.linalg.lstsq(arms.T @ arms, shift, rcond=1e-9)[0]
    return near, weights


def traction_weights(grid: Grid, faces: Ints) -> Floats:
    """Area (n,) [m^2] of each node for a uniform traction on faces (k, 3) of the mesh: integrals of the shape functions."""
    a, b, c = (grid.points[faces[:, k]] for k in range(3))
    third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    nodes = grid.middles_of(faces) if len(grid.middles) else faces  # of six nodes those in the middles carry all
    out = np.zeros(len(grid.points))
    np.add.at(out, nodes, third[:, None])
    return out


def consistent_weights(grid: Grid, density: Floats) -> Floats:
    """Mass (n,) [kg] of each node for a uniform acceleration: the integral of its shape function times the density (m,)."""
    corner = grid.points[grid.cells[:, :4]]
    volume = np.abs(np.linalg.det(corner[:, 1:] - corner[:, :1])) / 6.0 * density
    share = np.full(4, 0.25) if grid.cells.shape[1] == 4 else np.r_[np.full(4, -0.05), np.full(6, 0.2)]
    out = np.zeros(len(grid.points))
    np.add.at(out, grid.cells, volume[:, None] * share)
    return out
