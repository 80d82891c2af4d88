"""Soft volumes for ParaView: one grid of tetrahedra (.vtu) per instant and a list of them (.pvd)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anguilla.fem.body import SoftBody
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.elements import make_grid
from anguilla.fem.fields import cauchy, equivalent_strain, green_strain, von_mises
from anguilla.store.whole import as_target
from anguilla.view.volumes import SoftResult
from anguilla.view.vtk import HEAD, Piece, data_array, write_pieces

__all__ = ["volume_piece", "write_volume"]

Array = NDArray[np.float64]
TETRAHEDRON, QUADRATIC = 10, 24  # types of VTK; its order of the edges of a quadratic tetrahedron is ours


def write_volume(result: SoftResult, path: str | os.PathLike[str]) -> Path:
    """Write a soft volume for ParaView.

    At the nodes: displacement [m], velocity [m/s] of a motion, 1 where they are fixed. Of the tetrahedra: Green-Lagrange
    strain (9 components, axes of rest), equivalent strain, Cauchy stress (9, world axes) [Pa], von Mises stress [Pa].
    Stresses are the elastic ones.

    Args:
        result: a SoftTrajectory, a SoftEquilibrium, or a SoftBody (at rest).
        path: file to write, .pvd; the grids go into a folder of the same name beside it.

    Returns:
        The path of the .pvd file; open this one.

    """
    target = as_target(path, (".pvd",))
    t = result.t if isinstance(result, SoftTrajectory) else np.zeros(1)
    return write_pieces(target, t, [volume_piece(result, "")])


def volume_piece(result: SoftResult, name: str) -> Piece:
    """The grid of a volume as a piece of what ParaView shows, with a name for the names of its files."""
    return Piece(name, ".vtu", lambda k: _grid(result, k))


def _grid(result: SoftResult, index: int) -> str:
    body = result if isinstance(result, SoftBody) else result.body
    grid = make_grid(body.mesh, body.element)
    x = grid.points
    nodes: dict[str, Array] = {}
    cells: dict[str, Array] = {}
    if not isinstance(result, SoftBody):
        x = result.x[index] if isinstance(result, SoftTrajectory) else result.x
        nodes["displacement"] = x - grid.points
        if isinstance(result, SoftTrajectory):
            nodes["velocity"] = result.v[index]
        system = result.system
        cells = {
            "strain": green_strain(system, x).reshape(-1, 9),
            "equivalent strain": equivalent_strain(system, x),
            "stress [Pa]": cauchy(system, x).reshape(-1, 9),
            "von Mises stress [Pa]": von_mises(system, x),
        }
    for k, (name, region) in enumerate(body.mesh.regions.items()):
        inside = np.zeros(len(grid.cells))
        inside[region] = 1.0
        cells.setdefault(f"region {name}" if name.isascii() else f"region {k}", inside)
    fixed = np.zeros(len(x))
    fixed[grid.with_middles(np.flatnonzero(body.fixed.any(axis=1)))] = 1.0
    nodes["fixed"] = fixed
    count, corners = grid.cells.shape
    offsets = (corners * np.arange(1, count + 1)).astype(np.int32)
    kind = np.full(count, TETRAHEDRON if corners == 4 else QUADRATIC, dtype=np.uint8)
    return (
        HEAD.format(kind="UnstructuredGrid") + f'<UnstructuredGrid>\n<Piece NumberOfPoints="{len(x)}" '
        f'NumberOfCells="{count}">\n<PointData>\n{_all(nodes)}</PointData>\n<CellData>\n{_all(cells)}</CellData>\n'
        f"<Points>\n{data_array('Points', x.astype(np.float64), 3)}</Points>\n<Cells>\n"
        f"{data_array('connectivity', grid.cells.ravel().astype(np.int32))}{data_array('offsets', offsets)}"
        f"{data_array('types', kind)}</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"
    )


def _all(fields: dict[str, Array]) -> str:
    return "".join(
        data_array(name, values.astype(np.float64), 1 if values.ndim == 1 else values.shape[1])
        for name, values in fields.items()
    )
