"""Surfaces of triangles: from files, closed, and facing outward."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anguilla.errors import DescriptionError

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

__all__ = ["check_closed", "outward", "read_triangles", "welded"]

MOST_BYTES = 200_000_000
MOST_TRIANGLES = 1_000_000
NEAR = 1e-6  # of the size of a surface: corners closer than that are one
SUFFIXES = (".stl", ".obj")


def read_triangles(path: str | Path) -> tuple[Array, Ints]:
    """Corners (n, 3), in the unit of the file, and triangles (m, 3) of a file in STL (binary or text) or OBJ."""
    file = Path(path)
    if file.suffix.lower() not in SUFFIXES:
        raise DescriptionError(f"Mesh.path must end in {' or '.join(SUFFIXES)}; got {file.name!r}.")
    if not file.is_file():
        raise DescriptionError(f"Mesh.path: there is no file {str(path)!r}.")
    with open(file, "rb") as stream:
        raw = stream.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise DescriptionError(f"Mesh.path: {file.name} has more than {MOST_BYTES} bytes; simplify the mesh.")
    try:
        vertices, faces = _obj(raw) if file.suffix.lower() == ".obj" else _stl(raw)
        if np.any(faces < 0) or np.any(faces >= len(vertices)):
            raise ValueError("some of its triangles refer to corners that do not exist")
    except DescriptionError:
        raise
    except (ValueError, IndexError) as error:
        raise DescriptionError(f"Mesh.path: {file.name} could not be read: {error}.") from None
    return vertices, faces


def _stl(raw: bytes) -> tuple[Array, Ints]:
    count = int.from_bytes(raw[80:84], "little")
    if len(raw) >= 84 and len(raw) == 84 + 50 * count:
        _check_count(count)
        records = np.frombuffer(raw, dtype=np.uint8, offset=84).reshape(count, 50)
        corners = np.ascontiguousarray(records[:, 12:48]).view("<f4").reshape(-1, 3).astype(np.float64)
    elif raw.lstrip()[:5].lower() == b"solid":
        found = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", raw, re.IGNORECASE)
        _check_count(len(found) // 3)
        corners = np.array(found, dtype="S32").astype(np.float64).reshape(-1, 3)
        if len(corners) % 3:
            raise ValueError("its triangles do not have three corners each")
    else:
        raise ValueError(f"it has {len(raw)} bytes, but {count} triangles of STL take {84 + 50 * count}")
    return corners, np.arange(len(corners), dtype=np.int64).reshape(-1, 3)


def _obj(raw: bytes) -> tuple[Array, Ints]:
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for line in raw.decode("utf-8", "replace").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(word) for word in words[1:4]])
            _check_count(len(vertices) // 3)
        elif words[:1] == ["f"]:
            numbers = [int(word.split("/")[0]) for word in words[1:]]
            around = [number - 1 if number > 0 else len(vertices) + number for number in numbers]
            faces += [(around[0], around[k], around[k + 1]) for k in range(1, len(around) - 1)]
            _check_count(len(faces))
    return np.array(vertices, dtype=np.float64).reshape(-1, 3), np.array(faces, dtype=np.int64).reshape(-1, 3)


def _check_count(count: int) -> None:
    if count > MOST_TRIANGLES:
        raise DescriptionError(f"a Mesh has {count} triangles; at most {MOST_TRIANGLES} are read: simplify the mesh.")


def welded(vertices: Array, faces: Ints) -> tuple[Array, Ints]:
    """The same surface with each corner once, without triangles that have no area because two corners are one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    size = float(np.ptp(vertices, axis=0).max())
    kept, place = np.unique(vertices, axis=0, return_inverse=True)
    pairs = cKDTree(kept).query_pairs(NEAR * size, output_type="ndarray")
    if len(pairs):
        graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(len(kept), len(kept)))
        _, group = connected_components(graph, directed=False)
        _, first = np.unique(group, return_index=True)
        kept, place = kept[first], group[place.ravel()]
    faces = place.ravel()[faces].astype(np.int64)
    a, b, c = faces.T
    return kept, np.ascontiguousarray(faces[(a != b) & (b != c) & (c != a)])


def check_closed(vertices: Array, faces: Ints, name: str) -> None:
    """Refuse a surface with open edges, or with neighbours that face opposite ways."""
    ends = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    low, high = ends.min(axis=1), ends.max(axis=1)
    edges, edge, count = np.unique(low * len(vertices) + high, return_inverse=True, return_counts=True)
    turns = np.bincount(edge.ravel(), np.where(ends[:, 0] < ends[:, 1], 1.0, -1.0))
    for wrong, told, advice in (
        (
            count % 2 == 1,
            "is not closed: {} belong to one triangle only",
            "Close it, ends included, and weld its corners",
        ),
        (turns != 0.0, "has triangles that face opposite ways along {}", "Make their orientations agree"),
    ):
        if np.any(wrong):
            at = int(edges[np.argmax(wrong)])
            place = 0.5 * (vertices[at // len(vertices)] + vertices[at % len(vertices)])
            many = f"{np.sum(wrong)} edge{'s' if np.sum(wrong) > 1 else ''}"
            where = ", ".join(f"{x:.4g}" for x in place)
            raise DescriptionError(f"{name} {told.format(many)}, one at ({where}) m. {advice} in a mesh editor.")


def outward(vertices: Array, faces: Ints) -> tuple[Ints, float, float]:
    """Faces of a closed surface turned outward, its volume [m^3] and area [m^2]."""
    a, b, c = np.moveaxis(vertices[faces] - vertices.mean(axis=0), 1, 0)
    normal = np.cross(b - a, c - a)
    volume = float(np.sum(a * normal) / 6.0)
    return (
        faces if volume > 0.0 else faces[:, ::-1].copy(),
        abs(volume),
        0.5 * float(np.linalg.norm(normal, axis=1).sum()),
    )
