"""Masses of soft bodies: consistent, with point masses."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from anguilla.fem.elements import Grid, pairs_of, shape_functions
from anguilla.fem.mesh import Floats
from anguilla.fem.system import SoftSystem

__all__ = ["mass_blocks", "mass_matrix"]


def _mass_of_element(nodes: int) -> Floats:
    """Integrals of products of shape functions over a tetrahedron of unit volume, exact (collapsed Gauss points)."""
    p, w = np.polynomial.legendre.leggauss(5)
    p, w = 0.5 * (p + 1.0), 0.5 * w
    a, b, c = (grid.ravel() for grid in np.meshgrid(p, p, p, indexing="ij"))
    weight = np.einsum("i,j,k->ijk", w, w, w).ravel() * (1 - a) ** 2 * (1 - b) * 6.0
    bary = np.stack([a, b * (1 - a), c * (1 - a) * (1 - b)], axis=1)
    bary = np.concatenate([1.0 - bary.sum(axis=1, keepdims=True), bary], axis=1)
    shape = shape_functions(bary, nodes)
    return np.einsum("q,qa,qb->ab", weight, shape, shape)


def mass_blocks(system: SoftSystem, lumped: np.ndarray | None = None) -> Floats:
    """Consistent mass (nb,) [kg] of every block of the pattern (times the identity).

    That of the elements marked in `lumped` (m,) is put on their nodes, in proportion to the diagonal.
    """
    grid: Grid = system.grid
    corner = grid.points[grid.cells[:, :4]]
    mass = np.abs(np.linalg.det(corner[:, 1:] - corner[:, :1])) / 6.0 * system.density
    unit = _mass_of_element(grid.cells.shape[1])
    order = np.argsort(grid.cells, axis=1)
    a, b = np.triu_indices(grid.cells.shape[1])
    values = mass[:, None] * unit[order[:, a], order[:, b]]
    if lumped is not None:
        own = np.where(a == b, unit[order[:, a], order[:, b]], 0.0) / np.trace(unit)
        values[lumped] = (mass[:, None] * own)[lumped]
    slot = system.elements.slot
    inside = slot >= 0
    out = np.bincount(slot[inside], values[inside], minlength=len(system.pattern.rows)).astype(np.float64)
    for nodes, share, added in system.masses:
        sort = np.argsort(nodes)
        place = system.pattern.slots(*pairs_of(nodes[sort][None, :]))[0]
        one, two = np.triu_indices(len(nodes))  # in the order of `pairs_of`
        kept = place >= 0
        np.add.at(out, place[kept], added * (share[sort][one] * share[sort][two])[kept])
    return out


def mass_matrix(system: SoftSystem, mass: Floats) -> csr_array:
    """Masses (n, n) [kg] between nodes, each times the identity."""
    rows, cols = system.pattern.rows, system.pattern.cols
    other, n = rows != cols, len(system.rest.x)
    ends = np.concatenate([rows, cols[other]]), np.concatenate([cols, rows[other]])
    return csr_array((np.concatenate([mass, mass[other]]), ends), shape=(n, n))


def multiply(system: SoftSystem, blocks: Floats, v: Floats) -> Floats:
    """Blocks between nodes times (n, 3)."""
    rows, cols = system.pattern.rows, system.pattern.cols
    k = blocks.reshape(-1, 3, 3)
    out = np.zeros_like(v)
    np.add.at(out, rows, np.einsum("bij,bj->bi", k, v[cols]))
    other = rows != cols
    np.add.at(out, cols[other], np.einsum("bji,bj->bi", k[other], v[rows[other]]))
    return out
