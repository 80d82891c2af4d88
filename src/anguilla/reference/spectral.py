"""Linear equations along a rod by collocation on a Chebyshev grid (004 IX).

With the strains given, every equation of the inverse dynamics and of its tangent is linear in its unknown field,
x' = A(X) x + b(X) (004 (67)). They are solved one after the other, each feeding the next: quaternion, position, angular
velocity, velocity, angular acceleration, acceleration; then backwards force and moment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from anguilla import lie
from anguilla.reference.rod import Array

ROOT, TIP = 0, -1


@dataclass(frozen=True)
class Grid:
    """Chebyshev points on [0, l].

    Attributes:
        X: points (m,) [m], increasing, both ends included.
        D: differentiation matrix (m, m) [1/m]: (D f)_i = f'(X_i) for polynomials of degree m - 1.

    """

    X: Array
    D: Array


def chebyshev_grid(points: int, length: float) -> Grid:
    """The Gauss-Lobatto-Chebyshev points of [0, length] and their differentiation matrix (Trefethen, reference [42])."""
    x = -np.cos(np.pi * np.arange(points) / (points - 1))
    c = np.ones(points)
    c[[0, -1]] = 2.0
    c *= (-1.0) ** np.arange(points)
    differences = x[:, None] - x + np.eye(points)
    D = np.outer(c, 1.0 / c) / differences
    D -= np.diag(D.sum(axis=1))
    return Grid(0.5 * length * (1.0 + x), D * 2.0 / length)


def solve(grid: Grid, A: Array | None, b: Array, start: Array, end: int) -> Array:
    """Solve x' = A x + b (004 (67)) with x = start at one end.

    Args:
        grid: the Chebyshev grid of m points.
        A: (m, d, d), or None for zero.
        b: (m, d) or, for several right-hand sides at once, (m, d, k).
        start: x at that end, (d,) or (d, k).
        end: ROOT (X = 0) or TIP (X = l).

    Returns:
        x at the points, of the shape of b.

    """
    m, d = b.shape[:2]
    operator = np.einsum("ij,ab->iajb", grid.D, np.eye(d))
    if A is not None:
        operator[np.arange(m), :, np.arange(m), :] -= A
    right = np.array(b, dtype=float)
    operator[end], right[end] = 0.0, start
    operator[end, :, end, :] = np.eye(d)
    x = lu_solve(lu_factor(operator.reshape(m * d, m * d)), right.reshape(m * d, -1))
    field: Array = x.reshape(b.shape)
    return field


def integral(grid: Grid, b: Array) -> Array:
    """The integral over the rod of b (m, ...), as the end value of x' = b (004 IX, last lines)."""
    columns = b.reshape(len(b), 1, -1)
    total: Array = solve(grid, None, columns, np.zeros((1, columns.shape[2])), ROOT)[-1].reshape(b.shape[1:])
    return total


def poses(grid: Grid, xi: Array, start: Array) -> Array:
    """g (m, 4, 4) of g' = g xi^ (004 (35)) from the pose `start` (4, 4) at the root: first quaternions, then positions."""
    Q = solve(grid, 0.5 * quaternion_body_rate(xi[:, :3]), np.zeros((len(xi), 4)), np.array([1.0, 0, 0, 0]), ROOT)
    R = start[:3, :3] @ lie.rotation_from_wxyz(Q)
    r = solve(grid, None, (R @ xi[:, 3:, None])[:, :, 0], start[:3, 3], ROOT)
    return lie.pose(R, r)


def quaternion_body_rate(K: Array) -> Array:
    """A (m, 4, 4) with Q' = A Q / 2 for a rotation by K (m, 3) per length in body axes (000 (21) is for fixed axes)."""
    A = np.zeros((len(K), 4, 4))
    A[:, 0, 1:], A[:, 1:, 0], A[:, 1:, 1:] = -K, K, -lie.hat3(K)
    return A


def twists(grid: Grid, xi: Array, b: Array) -> Array:
    """x (m, 6[, k]) of x' = -ad_xi x + b, zero at the root: angular part first, it feeds the linear part."""
    A, G = -lie.hat3(xi[:, :3]), lie.hat3(xi[:, 3:])
    zero = np.zeros(b.shape[2:])
    angular = solve(grid, A, b[:, :3], np.zeros((3, *zero.shape)), ROOT)
    linear = solve(grid, A, b[:, 3:] - _times(G, angular), np.zeros((3, *zero.shape)), ROOT)
    return np.concatenate([angular, linear], axis=1)


def wrenches(grid: Grid, xi: Array, b: Array, tip: Array) -> Array:
    """Lambda (m, 6[, k]) of Lambda' = ad_xi^T Lambda + b with Lambda = tip at the tip: force first, it feeds the moment."""
    A, G = -lie.hat3(xi[:, :3]), lie.hat3(xi[:, 3:])
    force = solve(grid, A, b[:, 3:], tip[3:], TIP)
    moment = solve(grid, A, b[:, :3] - _times(G, force), tip[:3], TIP)
    return np.concatenate([moment, force], axis=1)


def _times(matrices: Array, fields: Array) -> Array:
    """Products (m, 3[, k]) of matrices (m, 3, 3) with fields (m, 3[, k])."""
    columns: Array = matrices @ fields.reshape(*fields.shape[:2], -1)
    return columns.reshape(fields.shape)
