"""Results in formats of other programs."""

from __future__ import annotations

import os
from pathlib import Path

from anguilla.store.gather import gather
from anguilla.store.tables import write_csv, write_mat, write_npz
from anguilla.store.whole import as_target
from anguilla.view.scene import Result, as_computed
from anguilla.view.vtk import write_vtk

__all__ = ["FORMATS", "export"]

TABLES = {".csv": write_csv, ".npz": write_npz, ".mat": write_mat}
FORMATS = (*TABLES, ".pvd", ".nc")


def export(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write a result for another program.

    Args:
        result: a Trajectory or an Equilibrium.
        path: file to write: .csv (a table), .npz (NumPy), .mat (MATLAB), .pvd (ParaView), .nc (netCDF).

    Returns:
        The path of the file.

    """
    as_computed(result)
    target = as_target(path, FORMATS)
    kind = target.suffix.lower()
    if kind == ".nc":
        return result.save(target)
    if kind == ".pvd":
        return write_vtk(result, target)
    TABLES[kind](gather(result), target)
    return target
