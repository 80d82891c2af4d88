"""Results in formats of other programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from anguilla.errors import DescriptionError
from anguilla.store.kept import Kept
from anguilla.store.tables import TABLES
from anguilla.store.whole import as_target
from anguilla.view.mixed import Result as MixedResult
from anguilla.view.mixed import bare, is_mixed
from anguilla.view.scene import Result, as_computed
from anguilla.view.volume_vtk import volume_piece, write_volume
from anguilla.view.volumes import SoftResult, is_soft
from anguilla.view.vtk import surface_piece, write_pieces, write_vtk

__all__ = ["FORMATS", "export"]

FORMATS = (*TABLES, ".pvd", ".nc")


def export(result: Result | SoftResult | MixedResult, path: str | os.PathLike[str]) -> Path:
    """Write a result for another program.

    Args:
        result: a Trajectory or an Equilibrium, of rods, of a soft volume, or of a robot that has both.
        path: file to write: .csv (a table), .npz (NumPy), .mat (MATLAB), .pvd (ParaView), .nc (netCDF). Volumes for ParaView
            (also a SoftBody) carry displacement and velocity at the nodes, strain and stress of the tetrahedra; of a robot
            with volumes the list names a surface of the rods and bodies, and a grid of each volume.

    Returns:
        The path of the file.

    """
    target = as_target(path, FORMATS)
    if is_soft(result):
        if target.suffix.lower() == ".pvd":
            return write_volume(result, target)  # type: ignore[arg-type]
        return _kept(result).save(target)
    if is_mixed(result):
        return _write_mixed(result, target) if target.suffix.lower() == ".pvd" else _kept(result).save(target)  # type: ignore
    as_computed(result)  # type: ignore[type-var]
    return write_vtk(result, target) if target.suffix.lower() == ".pvd" else result.save(target)  # type: ignore


def _write_mixed(result: MixedResult, target: Path) -> Path:
    """A robot with volumes for ParaView: its rods and bodies are the first part of every instant, then its volumes come."""
    picture, surfaces = surface_piece(bare(result))
    volumes = [volume_piece(each, f"_{name}") for name, each in result.volumes.items()]
    return write_pieces(target, picture.t, [surfaces, *volumes] if picture.tubes else volumes)


def _kept(result: Any) -> Kept:
    if not isinstance(result, Kept):
        raise DescriptionError("a SoftBody has no result to export: give what fem.statics or fem.simulate returned.")
    return result
