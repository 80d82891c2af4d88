"""Closed surfaces of triangles for tests: balls, boxes and lumens around a line, and how files hold them."""

import struct

import numpy as np


def lumen(line, radius, around=48):
    """Corners and triangles of a tube with flat ends around the points (n, 3) of a line in the plane y = 0."""
    line = np.asarray(line, dtype=float)
    tangent = np.gradient(line, axis=0, edge_order=2)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    across = np.cross(tangent, [0.0, 1.0, 0.0])
    angle = 2 * np.pi * np.arange(around) / around
    rings = line[:, None] + radius * (
        np.cos(angle)[:, None] * across[:, None] + np.sin(angle)[:, None] * np.array([0.0, 1.0, 0.0])
    )
    n, k = len(line), np.arange(around)
    after = (k + 1) % around
    faces = [np.stack([i * around + k, i * around + after, (i + 1) * around + after], 1) for i in range(n - 1)]
    faces += [np.stack([i * around + k, (i + 1) * around + after, (i + 1) * around + k], 1) for i in range(n - 1)]
    last = (n - 1) * around
    faces += [
        np.stack([0 * k + n * around, after, k], 1),
        np.stack([0 * k + n * around + 1, last + k, last + after], 1),
    ]
    return np.concatenate([rings.reshape(-1, 3), line[[0, -1]]]), np.concatenate(faces)


def straight(radius, length, around=64, rings=20):
    """A tube along x."""
    return lumen(np.linspace([0, 0, 0], [length, 0, 0], rings), radius, around)


def bend(radius, inlet, turn, angle, around=48, rings=40):
    """A tube along x that then turns upwards, by an angle around a circle of radius `turn`."""
    s = np.linspace(0.0, angle, rings)
    arc = np.stack([inlet + turn * np.sin(s), 0 * s, turn * (1 - np.cos(s))], axis=1)
    out = arc[-1] + np.linspace(0.0, inlet, 10)[1:, None] * [np.cos(angle), 0, np.sin(angle)]
    return lumen(np.concatenate([np.linspace([0, 0, 0], [inlet, 0, 0], 10)[:-1], arc, out]), radius, around)


def ball(radius, levels=4):
    """A ball of triangles of nearly one size: an octahedron, cut again and again."""
    vertices = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
    faces = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    for _ in range(levels):
        corners = vertices[faces]
        middles = 0.5 * (corners + np.roll(corners, -1, axis=1))
        points = np.concatenate([corners, middles / np.linalg.norm(middles, axis=2)[:, :, None]], axis=1)
        each = points[:, [[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]]].reshape(-1, 3)
        vertices, faces = np.unique(each.round(12), axis=0, return_inverse=True)
        vertices /= np.linalg.norm(vertices, axis=1)[:, None]
        faces = faces.reshape(-1, 3)
    return radius * vertices, faces


def block(size):
    """A box around the origin: twelve triangles."""
    vertices = 0.5 * np.asarray(size) * np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return vertices, np.array([t for a, b, c, d in quads for t in ([a, b, c], [a, c, d])])


def stl(vertices, faces):
    """Bytes of a binary STL file."""
    out = b"a surface".ljust(80) + struct.pack("<I", len(faces))
    for corners in vertices[faces]:
        out += struct.pack("<12fH", 0, 0, 0, *corners.ravel(), 0)
    return out


def stl_text(vertices, faces):
    lines = ["solid one"]
    for corners in vertices[faces]:
        lines += [" facet normal 0 0 0", "  outer loop", *(f"   vertex {x} {y} {z}" for x, y, z in corners.tolist())]
        lines += ["  endloop", " endfacet"]
    return "\n".join([*lines, "endsolid one"]).encode()


def obj(vertices, faces):
    lines = ["# one", *(f"v {x} {y} {z}" for x, y, z in vertices.tolist())]
    lines += [f"f {a}/1 {b}//2 {c}" for a, b, c in (faces + 1).tolist()]
    return "\n".join(lines).encode()
