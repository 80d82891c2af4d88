"""Meshes from and to files, through meshio."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from anguilla.errors import AnguillaWarning, DescriptionError, as_positive
from anguilla.fem.mesh import TetMesh

__all__ = ["read_mesh", "write_mesh"]

UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "inch": 0.0254}
POOR = 0.02  # below this shape an element spoils the accuracy


def _meshio() -> Any:
    try:
        import meshio
    except ImportError:
        raise DescriptionError('files of meshes need meshio: pip install "anguilla[fem]".') from None
    return meshio


def read_mesh(path: str | Path, *, unit: str | float = "m", merge: float = 0.0) -> TetMesh:
    """Read the tetrahedra of a file (vtk, vtu, msh, inp, mesh, ...), in SI units.

    Other cells and unused points are left out; named sets of points and of cells are kept; each closed piece of the boundary
    inside becomes a surface "cavity_1", "cavity_2", ...

    Args:
        path: the file.
        unit: unit of its coordinates: "m", "cm", "mm", "um", "inch", or a number of metres.
        merge: points closer than this [m] become one (files with doubled points); 0 keeps all.

    """
    if isinstance(unit, str) and unit not in UNITS:
        raise DescriptionError(f"unit must be one of {', '.join(UNITS)}, or a number of metres; got {unit!r}.")
    scale = UNITS[unit] if isinstance(unit, str) else as_positive(unit, "unit", "m")
    file = Path(path)
    if not file.is_file():
        raise DescriptionError(f"read_mesh: there is no file {str(path)!r}.")
    try:
        data = _meshio().read(file)
    except DescriptionError:
        raise
    except (Exception, SystemExit) as error:
        raise DescriptionError(
            f"read_mesh: {file.name} could not be read: {str(error) or type(error).__name__}"
        ) from None
    cells = [block.data for block in data.cells if block.type == "tetra"]
    higher = [block.data[:, :4] for block in data.cells if block.type == "tetra10"]
    if not cells and not higher:
        kinds = ", ".join(sorted({block.type for block in data.cells})) or "nothing"
        raise DescriptionError(
            f"read_mesh: {file.name} holds no tetrahedra; it holds: {kinds}. A surface must be meshed first."
        )
    tets = np.concatenate(cells + higher).astype(np.int64)
    points = scale * np.asarray(data.points, dtype=float)[:, :3]
    if merge > 0.0:
        tets, points = _merged(tets, points, merge)
    used, tets = np.unique(tets, return_inverse=True)
    number = np.full(len(points), -1, dtype=np.int64)
    number[used] = np.arange(len(used))
    nodes = {}
    for name, chosen in (data.point_sets or {}).items():
        kept = number[np.asarray(chosen, dtype=np.int64)]
        nodes[name] = kept[kept >= 0]
    mesh = TetMesh(points[used], tets.reshape(-1, 4), nodes)
    surfaces = {f"cavity_{k + 1}": shell for k, shell in enumerate(mesh.shells()[1:])}
    worst = float(mesh.quality().min())
    if worst < POOR:
        warnings.warn(
            f"{file.name}: the worst tetrahedron has a shape of {worst:.2g} (1 is regular): expect poor accuracy there.",
            AnguillaWarning, stacklevel=2,
        )  # fmt: skip
    size = np.ptp(mesh.points, axis=0).max()
    if not 1e-4 <= size <= 100.0:
        warnings.warn(
            f"{file.name} is {size:g} m large: is its unit right? Give unit='mm' or the like.",
            AnguillaWarning,
            stacklevel=2,
        )
    return TetMesh(mesh.points, mesh.tets, nodes, surfaces)


def _merged(tets: Any, points: Any, reach: float) -> tuple[Any, Any]:
    from scipy.spatial import cKDTree

    label = np.arange(len(points))
    for a, b in sorted(cKDTree(points).query_pairs(reach)):
        label[b] = min(label[b], label[a])
    return label[tets], points


def write_mesh(path: str | Path, mesh: TetMesh, *, unit: str = "m", **point_data: Any) -> Path:
    """Write a mesh, and values at its points, to a file whose ending says the format (vtu, vtk, msh, ...).

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
