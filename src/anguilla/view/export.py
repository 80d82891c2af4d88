"""Results in formats of other programs."""

from __future__ import annotations

import os
from pathlib import Path

from anguilla.store.tables import TABLES
from anguilla.store.whole import as_target
from anguilla.view.scene import Result, as_computed
from anguilla.view.vtk import write_vtk

__all__ = ["FORMATS", "export"]

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
    return write_vtk(result, target) if target.suffix.lower() == ".pvd" else result.save(target)
