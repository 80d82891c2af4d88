"""Meshes from and to files, through meshio."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from anguilla._doors import public
from anguilla.describe.units import FACTORS
from anguilla.errors import DescriptionError, as_nonnegative, as_positive, require, warn
from anguilla.fem import abaqus
from anguilla.fem.mesh import TetMesh

__all__ = ["read_mesh", "write_mesh"]

UNITS = {unit: FACTORS[unit] for unit in ("m", "cm", "mm", "um", "inch")}
USUAL, POSSIBLE = (5e-4, 5.0), (1e-4, 100.0)  # sizes [m] that need no question, without and with a unit given
SOLIDS, FLATS = ("tetra", "tetra10"), ("triangle", "triangle6")
MIDDLES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))  # ends of the edges of nodes 4 to 9, in the order of VTK
MOST_BYTES = 2_000_000_000
FREE, FACTOR = 10_000_000, 10  # numbers of points in any file of Gmsh; beyond, times its bytes
READERS = {".vtk": "vtk", ".vtu": "vtu", ".mesh": "medit", ".meshb": "medit"}
POOR = 0.02  # below this shape an element spoils the accuracy


def _meshio() -> Any:
    return require("meshio", "files of meshes need", "fem")


def _read(file: Path) -> Any:
    """What meshio reads in a file, if that is a file which it can read without harm."""
    suffix, size = file.suffix.lower(), file.stat().st_size
    if size > MOST_BYTES:
        raise DescriptionError(f"read_mesh: {file.name} has {size} bytes; at most {MOST_BYTES} are read.")
    if suffix in (".xdmf", ".xmf", ".gz"):
        raise DescriptionError(
            f"read_mesh: {file.name} may name other files or unfold to any size; convert it to .vtu or .msh."
        )
    if suffix == ".inp":
        return abaqus.read(file, _meshio())
    if suffix != ".msh":
        reader = READERS.get(suffix)
        return getattr(_meshio(), reader).read(str(file)) if reader else _meshio().read(file)
    with _Ending(open(file, "rb", buffering=0)) as stream:
        if stream.peek(1)[:1] == b"(":
            return _meshio().ansys.read(stream)
        return _gmsh(stream, FREE + FACTOR * size)


def _gmsh(stream: _Ending, most: int) -> Any:
    """What meshio reads in a file of Gmsh, if no count and no number of a point there is above the most allowed.

    meshio makes tables as long as the largest number of a point says, and lists as long as counts say, before it looks
    whether so much is in the file. Its readers work here as ever, in copies of their modules with a watched numpy.
    """
    main = _meshio().gmsh.main
    readers: dict[str, Any] = {}
    for version, reader in main._readers.items():
        spec = reader.__spec__
        readers[version] = module_from_spec(spec)
        spec.loader.exec_module(readers[version])
        vars(readers[version])["np"] = _Frugal(most)
    return FunctionType(main.read_buffer.__code__, vars(main) | {"_readers": readers})(stream)


class _Frugal:
    """numpy that reads no integer above a limit, and makes no array longer than that."""

    def __init__(self, most: int) -> None:
        self._most = most

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def _bounded(self, numbers: Any) -> Any:
        if np.any(np.asarray(numbers) > self._most):
            raise EOFError(f"a count or a number of a point is above {self._most}, more than a file of its size needs")
        return numbers

    def fromfile(self, *arguments: Any, **options: Any) -> Any:
        found = np.fromfile(*arguments, **options)
        return self._bounded(found) if found.dtype.kind in "iu" else found

    def full(self, shape: Any, *arguments: Any, **options: Any) -> Any:
        return np.full(self._bounded(shape), *arguments, **options)

    def ones(self, shape: Any, *arguments: Any, **options: Any) -> Any:
        return np.ones(self._bounded(shape), *arguments, **options)

    def empty(self, shape: Any, *arguments: Any, **options: Any) -> Any:
        return np.empty(self._bounded(shape), *arguments, **options)

    def arange(self, end: Any, *arguments: Any, **options: Any) -> Any:
        return np.arange(self._bounded(end), *arguments, **options)


class _Ending(io.BufferedReader):
    """A file that is not read for ever beyond its end, as meshio does when a bracket is not closed or a count is wrong."""

    _beyond = 0

    def _counted(self, found: bytes) -> bytes:
        self._beyond = 0 if found else self._beyond + 1
        if self._beyond > 1000:
            raise EOFError("it ends too early")
        return found

    def read(self, size: int | None = -1) -> bytes:
        return self._counted(super().read(size))

    def readline(self, size: int | None = -1) -> bytes:
        return self._counted(super().readline(size))


@contextmanager
def whole_mesh(name: str) -> Iterator[None]:
    """Turn whatever goes wrong while a file becomes a mesh into one error that names the file."""
    try:
        yield
    except (DescriptionError, Warning):
        raise
    except (Exception, SystemExit) as error:
        reason = str(error) or type(error).__name__
        raise DescriptionError(f"read_mesh: {name} could not be read: {reason}") from None


@public
def read_mesh(path: str | Path, *, unit: str | float | None = None, merge: float = 0.0) -> TetMesh:
    """Read the tetrahedra of a file (vtk, vtu, msh, inp, mesh, ...), in SI units.

    Files do not say their unit: without `unit` they are taken to be in metres, and a body above 5 m or below 0.5 mm is
    warned of. Other cells and unused points are left out, with a warning if they are solid. Named groups of the file (sets
    and surfaces of Abaqus, physical groups of Gmsh; those without a name become "physical_3" and the like) are kept:
    tetrahedra as regions, triangles as surfaces, and the points of both, as of sets of points and lines, as nodes. Parts of
    Abaqus are where their instances are. Each closed piece of the boundary inside becomes a surface "cavity_1",
    "cavity_2", ... Edges are straight: of tetrahedra with ten nodes the corners are kept, and element="quadratic" puts new
    nodes in the middles of the edges; curved edges are warned of.

    Args:
        path: the file.
        unit: unit of its coordinates: "m", "cm", "mm", "um", "inch", or a number of metres.
        merge: points closer than this [m] become one (files with doubled points); 0 keeps all.

    """
    if isinstance(unit, str) and unit not in UNITS:
        raise DescriptionError(f"unit must be one of {', '.join(UNITS)}, or a number of metres; got {unit!r}.")
    scale = UNITS[unit or "m"] if unit is None or isinstance(unit, str) else as_positive(unit, "unit", "m")
    reach = as_nonnegative(merge, "merge", "m")
    file = Path(path)
    if not file.is_file():
        raise DescriptionError(f"read_mesh: there is no file {str(path)!r}.")
    with whole_mesh(file.name):
        data = _read(file)
        if not any(block.type in SOLIDS for block in data.cells):
            kinds = ", ".join(sorted({block.type for block in data.cells})) or "nothing"
            solid = any(block.dim == 3 for block in data.cells)
            advice = "Mesh the solid with tetrahedra of 4 or 10 nodes." if solid else "A surface must be meshed first."
            raise DescriptionError(f"read_mesh: {file.name} holds no tetrahedra; it holds: {kinds}. {advice}")
        points = scale * np.asarray(data.points, dtype=float)[:, :3]
        tets = np.concatenate([block.data[:, :4] for block in data.cells if block.type in SOLIDS]).astype(np.int64)
        if not np.all((0 <= tets) & (tets < len(points))):
            raise DescriptionError(f"read_mesh: {file.name} has tetrahedra that refer to points that do not exist.")
        label = _merged(points, reach) if reach > 0.0 else np.arange(len(points))
        used, renumbered = np.unique(label[tets], return_inverse=True)
        number = np.full(len(points), -1, dtype=np.int64)
        number[used] = np.arange(len(used))
        number = number[label]  # of every point of the file in the mesh, or -1
        bare = TetMesh(points[used], renumbered.reshape(-1, 4))
        nodes, surfaces, regions = _groups(data, number, bare, file.name)
        for k, shell in enumerate(bare.shells()[1:]):
            surfaces.setdefault(f"cavity_{k + 1}", shell)
        _judge(bare, file.name, unit is None, _bulge(data, points))
        _tell_missing(data, file.name)
        mesh = TetMesh(bare.points, bare.tets, nodes, surfaces, regions)
        source = {"file": str(path)} | ({} if unit is None else {"unit": unit}) | ({"merge": merge} if merge else {})
        object.__setattr__(mesh, "source", source)
        return mesh


def _judge(mesh: TetMesh, name: str, guessed: bool, bulge: float) -> None:
    """Warn of poor elements, of a size that speaks for another unit, and of edges that were curved."""
    worst = float(mesh.quality().min())
    if worst < POOR:
        warn(f"{name}: the worst tetrahedron has a shape of {worst:.2g} (1 is regular): expect poor accuracy there.")
    size = float(np.ptp(mesh.points, axis=0).max())
    low, high = USUAL if guessed else POSSIBLE
    if not low <= size <= high:
        taken = ", taken to be in metres," if guessed else ""
        warn(
            f"{name}{taken} is {size:.3g} m large: is its unit right? Give unit='mm' or the like, or unit='m' if it is."
        )
    if bulge > 1e-6 * size:
        warn(
            f"{name}: its curved edges, whose middles lie up to {bulge:.2g} m off the line between their ends, are made "
            "straight: refine the mesh until that is small against its walls."
        )


def _tell_missing(data: Any, name: str) -> None:
    """Warn of solid cells that are no tetrahedra: the body would lack them."""
    missing = {block.type: 0 for block in data.cells if block.dim == 3 and block.type not in SOLIDS}
    for block in data.cells:
        if block.type in missing:
            missing[block.type] += len(block.data)
    if missing:
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(missing.items()))
        warn(
            f"{name}: solid cells that are no tetrahedra are left out ({told}), so that a part of the body is missing: mesh "
            "the whole of it with tetrahedra of 4 or 10 nodes."
        )


def _bulge(data: Any, points: Any) -> float:
    """Largest distance [m] of a node in an edge from the middle between its ends."""
    far = 0.0
    for block in data.cells:
        if block.type == "tetra10":
            i, j = np.array(MIDDLES).T
            off = points[block.data[:, 4:]] - 0.5 * (points[block.data[:, i]] + points[block.data[:, j]])
            far = max(far, float(np.linalg.norm(off, axis=2).max()))
    return far


def _cell_sets(data: Any) -> dict[str, list[Any]]:
    """Named groups of cells: for each the numbers of cells in every block of the file."""
    groups = {name: list(sets) for name, sets in (data.cell_sets or {}).items() if not name.startswith("gmsh:")}
    tags = (data.cell_data or {}).get("gmsh:physical")
    if tags is None:
        return groups
    names = {(int(tag), int(dim)): name for name, (tag, dim) in (data.field_data or {}).items()}
    for k, (block, own) in enumerate(zip(data.cells, tags, strict=True)):
        for tag in np.unique(own):
            if tag == 0 and (0, block.dim) not in names:
                continue  # Gmsh's mark for no group
            name = names.get((int(tag), block.dim), f"physical_{tag}")
            sets = groups.setdefault(name, [np.zeros(0, dtype=np.int64) for _ in data.cells])
            sets[k] = np.union1d(np.asarray(sets[k], dtype=np.int64), np.flatnonzero(own == tag))
    return groups


def _groups(data: Any, number: Any, mesh: TetMesh, name: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Named points, surfaces and regions of a file, in the numbers of the mesh."""
    nodes: dict[str, Any] = {}
    surfaces: dict[str, Any] = {}
    regions: dict[str, Any] = {}
    lost = []
    for group, chosen in (data.point_sets or {}).items():
        if not group.startswith("gmsh:"):
            nodes[group] = number[np.asarray(chosen, dtype=np.int64)]
    first = np.cumsum([0] + [len(block.data) if block.type in SOLIDS else 0 for block in data.cells])
    for group, sets in _cell_sets(data).items():
        parts = [(k, np.asarray(own, dtype=np.int64)) for k, own in enumerate(sets) if own is not None and len(own)]
        solid = [first[k] + own for k, own in parts if data.cells[k].type in SOLIDS]
        faces = [data.cells[k].data[own][:, :3] for k, own in parts if data.cells[k].type in FLATS]
        if solid:
            regions[group] = np.concatenate(solid)
        if faces:
            triangles = number[np.concatenate(faces)]
            surfaces[group] = _turned(triangles[np.all(triangles >= 0, axis=1)], mesh)
        points = [number[data.cells[k].data[own].ravel()] for k, own in parts]
        nodes.setdefault(group, np.concatenate([*points, np.zeros(0, dtype=np.int64)]))
    for group, chosen in list(nodes.items()):
        nodes[group] = np.unique(chosen[chosen >= 0])
        if not len(nodes[group]):
            lost.append(group)
            for kind in (nodes, surfaces, regions):
                kind.pop(group, None)
    if lost:
        warn(
            f"{name}: the groups {', '.join(map(repr, lost))} are left out: none of their points belongs to a tetrahedron.",
        )  # fmt: skip
    return nodes, surfaces, regions


def _turned(triangles: Any, mesh: TetMesh) -> Any:
    """Triangles that lie in the boundary all turned like it, normals into the solid, as around a cavity."""
    outside = mesh.boundary
    n = len(mesh.points)
    code = lambda t: (np.sort(t, axis=1) @ np.array([n * n, n, 1])).astype(np.int64)
    order = np.argsort(code(outside))
    key = code(outside)[order]
    at = np.minimum(np.searchsorted(key, code(triangles)), len(key) - 1)
    found = key[at] == code(triangles)
    return np.where(found[:, None], outside[order[at]][:, ::-1], triangles)


def _merged(points: Any, reach: float) -> Any:
    """For every point the first one of those that are joined with it by steps no longer than reach."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(points).query_pairs(reach, output_type="ndarray")
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(points),) * 2)
    piece = connected_components(graph, directed=False)[1]
    return np.unique(piece, return_index=True)[1][piece]


@public
def write_mesh(path: str | Path, mesh: TetMesh, *, unit: str = "m", **point_data: Any) -> Path:
    """Write a mesh, and values at its points, to a file whose ending says the format (vtu, vtk, msh, ...).

    Names of places are not written.

    Args:
        path: the file.
        mesh: the mesh.
        unit: unit of the coordinates in the file.
        **point_data: arrays (n,) or (n, 3) by name, such as displacement=...

    """
    if unit not in UNITS:
        raise DescriptionError(f"unit must be one of {', '.join(UNITS)}; got {unit!r}.")
    meshio = _meshio()
    data = meshio.Mesh(mesh.points / UNITS[unit], [("tetra", mesh.tets)], point_data=point_data or None)
    data.write(path)
    return Path(path)
