"""What all results share: they can be kept in files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from anguilla.errors import require
from anguilla.store.netcdf import write_netcdf
from anguilla.store.record import Record
from anguilla.store.spare import saved, unsaved
from anguilla.store.tables import TABLES
from anguilla.store.whole import as_target

__all__ = ["Kept"]

# What other functions write, by the end of its name.
ELSEWHERE = {
    **dict.fromkeys(
        (".pvd", ".vtk", ".vtu", ".vtp"), "anguilla.view.export.export(result, 'run.pvd') writes for ParaView"
    ),
    **dict.fromkeys((".png", ".svg", ".pdf"), "anguilla.plot(result, 'run.png') writes a figure"),
    **dict.fromkeys((".html", ".gif", ".mp4"), "anguilla.animate(result, 'run.html') writes a page or a film"),
    **dict.fromkeys((".yaml", ".yml"), "anguilla.write_robot(result.robot, 'arm.yaml') writes the robot"),
    **dict.fromkeys((".h5", ".hdf5"), "a .nc file is an HDF5 file, which all readers of HDF5 open"),
}


class Kept:
    """A result that can be kept in a file; classes say in `_record` what is worth keeping."""

    def _record(self) -> Record:
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result with its robot to a netCDF file (.nc), complete or not at all; `load` reads it back.

        As .csv, .npz or .mat, only the numbers are written, for other programs.
        """
        target = as_target(path, (".nc", *TABLES), ELSEWHERE)
        write = TABLES.get(target.suffix.lower(), write_netcdf)
        try:
            write(self._record(), target)
        except BaseException:
            unsaved(self)
            raise
        if write is write_netcdf:
            saved(self)
        return target

    def to_xarray(self) -> Any:
        """Return an xarray.Dataset with the content of the file that `save` writes, with names and units.

        What is empty, such as the multipliers of a robot without constraints, is left out: no table would have rows.
        """
        xr = require("xarray", "labelled arrays need", "netcdf")

        record = self._record()
        arrays = {}
        for name, variable in record.variables.items():
            if 0 in variable.values.shape:
                continue
            about = {"units": variable.unit, "long_name": variable.title}
            arrays[name] = (variable.dimensions, variable.values, {key: text for key, text in about.items() if text})
        return xr.Dataset(arrays, attrs=record.facts).set_coords([name for name in arrays if _labels(record, name)])


def _labels(record: Record, name: str) -> bool:
    """Whether a variable labels a dimension rather than being a quantity."""
    return record.variables[name].dimensions == (name,) or name.endswith("_unit")
