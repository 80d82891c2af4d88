"""Signed distances of the points of a grid from a surface of triangles.

The distance is exact: the nearest triangle is found in a tree of boxes. The sign comes from how often a line through the
points enters and leaves the surface. A line through an edge or a corner counts as one a little beside it, the same for all
triangles.
"""

# mypy: allow-untyped-defs
# (kernels are compiled, and carry no annotations)

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from anguilla.compiler.jit import inline, kernel
from anguilla.errors import DescriptionError

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

__all__ = ["distances_of_grid", "heights_of_grid"]

LEAF = 8  # triangles in a box that is not divided
SHIFTS = (0.0, 1.1e-7, -2.3e-7)  # of a spacing: how far beside the points lines are drawn


def distances_of_grid(vertices: Array, faces: Ints, low: Array, counts: tuple[int, int, int], h: float) -> Array:
    """Distances (nx, ny, nz) [m] from a closed surface, negative inside, at low + h (i, j, k)."""
    out = _unsigned(vertices, faces, low, counts, h)
    for shift in SHIFTS:
        around = np.zeros((counts[0] + 1, counts[1], counts[2]), dtype=np.int64)
        _crossings(vertices, faces, low + shift * h * np.array([0.0, 1.0, math.sqrt(2.0)]), h, around)
        around = np.cumsum(around, axis=0)
        if not around[-1].any():  # every line that goes in comes out again
            out[around[:-1] != 0] *= -1.0
            return out
    raise DescriptionError(
        "inside and outside of the surface cannot be told apart because of needle-shaped triangles: remesh it."
    )


def heights_of_grid(
    vertices: Array, faces: Ints, low: Array, counts: tuple[int, int, int], h: float, ground: Array
) -> Array:
    """Distances (nx, ny, nz) [m] from an open surface over the ground, negative below the heights (nx, ny) [m]."""
    out = _unsigned(vertices, faces, low, counts, h)
    out[low[2] + h * np.arange(counts[2]) < ground[:, :, None]] *= -1.0
    return out


def _unsigned(vertices: Array, faces: Ints, low: Array, counts: tuple[int, int, int], h: float) -> Array:
    boxes, nodes, order = _tree(vertices, faces)
    out = np.zeros(counts)
    _nearest(np.ascontiguousarray(vertices[faces[order]]), boxes, nodes, np.zeros(128, np.int64), low, h, out)
    return out


def _tree(vertices: Array, faces: Ints) -> tuple[Array, Ints, Ints]:
    """Boxes (n, 6) around triangles, (n, 2) first of two children or minus the first triangle - 1, and count; their order."""
    corners = vertices[faces]
    low, high, middle = corners.min(axis=1), corners.max(axis=1), corners.mean(axis=1)
    order = np.arange(len(faces))
    boxes: list[Array] = []
    nodes: list[tuple[int, int]] = []

    def add(first: int, last: int) -> None:
        inside = order[first:last]
        boxes.append(np.concatenate([low[inside].min(axis=0), high[inside].max(axis=0)]))
        nodes.append((-first - 1, last - first))

    add(0, len(faces))
    k = 0
    while k < len(nodes):
        first, count = -nodes[k][0] - 1, nodes[k][1]
        if count > LEAF:
            inside = order[first : first + count]
            axis = int(np.argmax(np.ptp(middle[inside], axis=0)))
            order[first : first + count] = inside[np.argpartition(middle[inside, axis], count // 2)]
            nodes[k] = len(nodes), 0
            add(first, first + count // 2)
            add(first + count // 2, first + count)
        k += 1
    return np.array(boxes), np.array(nodes, dtype=np.int64), order


@inline
def _to_box(x, y, z, box):
    """Square of the distance from a box."""
    a = max(box[0] - x, 0.0, x - box[3])
    b = max(box[1] - y, 0.0, y - box[4])
    c = max(box[2] - z, 0.0, z - box[5])
    return a * a + b * b + c * c


@inline
def _to_segment(x, y, z, ux, uy, uz):
    """Square of the distance of (x, y, z) from the line between the origin and u."""
    t = (x * ux + y * uy + z * uz) / max(ux * ux + uy * uy + uz * uz, 1e-300)
    t = min(max(t, 0.0), 1.0)
    a, b, c = x - t * ux, y - t * uy, z - t * uz
    return a * a + b * b + c * c


@inline
def _to_triangle(x, y, z, c):
    """Square of the distance from a triangle of corners c (3, 3)."""
    ax, ay, az = x - c[0, 0], y - c[0, 1], z - c[0, 2]
    bx, by, bz = x - c[1, 0], y - c[1, 1], z - c[1, 2]
    ux, uy, uz = c[1, 0] - c[0, 0], c[1, 1] - c[0, 1], c[1, 2] - c[0, 2]
    vx, vy, vz = c[2, 0] - c[0, 0], c[2, 1] - c[0, 1], c[2, 2] - c[0, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    nn = nx * nx + ny * ny + nz * nz
    # shares of the second and of the third corner in the foot of the perpendicular
    second = (ay * vz - az * vy) * nx + (az * vx - ax * vz) * ny + (ax * vy - ay * vx) * nz
    third = (uy * az - uz * ay) * nx + (uz * ax - ux * az) * ny + (ux * ay - uy * ax) * nz
    if nn > 0.0 and second >= 0.0 and third >= 0.0 and second + third <= nn:
        away = ax * nx + ay * ny + az * nz
        return away * away / nn
    edges = min(_to_segment(ax, ay, az, ux, uy, uz), _to_segment(ax, ay, az, vx, vy, vz))
    return min(edges, _to_segment(bx, by, bz, vx - ux, vy - uy, vz - uz))


@kernel
def _nearest(corners, boxes, nodes, stack, low, h, out):
    """Distances (nx, ny, nz) from triangles (m, 3, 3)."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            before = math.inf
            for k in range(out.shape[2]):
                x, y, z = low[0] + h * i, low[1] + h * j, low[2] + h * k
                best = (before + 1.001 * h) ** 2  # the neighbour is not nearer than that
                top, stack[0] = 1, 0
                while top > 0:
                    top -= 1
                    n = stack[top]
                    if _to_box(x, y, z, boxes[n]) >= best:
                        continue
                    if nodes[n, 0] < 0:
                        first = -nodes[n, 0] - 1
                        for t in range(first, first + nodes[n, 1]):
                            best = min(best, _to_triangle(x, y, z, corners[t]))
                    else:
                        a, b = nodes[n, 0], nodes[n, 0] + 1
                        if _to_box(x, y, z, boxes[a]) < _to_box(x, y, z, boxes[b]):
                            a, b = b, a
                        stack[top], stack[top + 1] = a, b  # the nearer one is looked at first
                        top += 2
                before = math.sqrt(best)
                out[i, j, k] = before


@inline
def _beside(p, q, vertices, y, z):
    """1 or -1: the side of the projected edge from corner p to q on which a line along x lies; 0 if the edge is a point."""
    turn = 1
    if p > q:
        p, q, turn = q, p, -1
    dy, dz = vertices[q, 1] - vertices[p, 1], vertices[q, 2] - vertices[p, 2]
    side = dy * (z - vertices[p, 2]) - dz * (y - vertices[p, 1])
    if side == 0.0:  # as if the line were at (y + e, z + e^2)
        side = -dz if dz != 0.0 else dy
    return turn if side > 0.0 else (-turn if side < 0.0 else 0)


@kernel
def _crossings(vertices, faces, low, h, out):
    """Count where lines along x enter (1) and leave (-1): at the first point behind; out (nx + 1, ny, nz)."""
    nx, ny, nz = out.shape[0] - 1, out.shape[1], out.shape[2]
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        y0 = min(vertices[a, 1], vertices[b, 1], vertices[c, 1])
        y1 = max(vertices[a, 1], vertices[b, 1], vertices[c, 1])
        z0 = min(vertices[a, 2], vertices[b, 2], vertices[c, 2])
        z1 = max(vertices[a, 2], vertices[b, 2], vertices[c, 2])
        uy, uz = vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
        vy, vz = vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2]
        area = uy * vz - uz * vy
        if area == 0.0:
            continue
        ux, vx = vertices[b, 0] - vertices[a, 0], vertices[c, 0] - vertices[a, 0]
        for j in range(max(math.floor((y0 - low[1]) / h), 0), min(math.ceil((y1 - low[1]) / h) + 1, ny)):
            y = low[1] + h * j
            for k in range(max(math.floor((z0 - low[2]) / h), 0), min(math.ceil((z1 - low[2]) / h) + 1, nz)):
                z = low[2] + h * k
                side = _beside(a, b, vertices, y, z)
                if side == 0 or _beside(b, c, vertices, y, z) != side or _beside(c, a, vertices, y, z) != side:
                    continue
                p, q = y - vertices[a, 1], z - vertices[a, 2]
                x = vertices[a, 0] + ((p * vz - q * vy) * ux + (uy * q - uz * p) * vx) / area
                i = min(max(math.ceil((x - low[0]) / h), 0), nx)
                out[i, j, k] -= side
