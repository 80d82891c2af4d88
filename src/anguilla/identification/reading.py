"""Measurements from files.

A wide table has a row for each instant or equilibrium. Its columns are "t" [s]; "tip_x", "tip_y", "tip_z" of a marker "tip";
"length:t1" and "tension:t1" of an actuator "t1"; and inputs, named as their actuators. A unit may follow in brackets,
"tip_x [mm]": m, mm, cm, s, ms, N, mN, Pa, kPa. An empty cell is a gap. A long table has the columns "row" or "t", "name" and
either "x", "y", "z" or "value". Variables of a netCDF file are the columns; one whose last dimension is three is a marker.
A C3D file of a motion-capture system gives its markers by their labels, over time (needs the package c3d).
"""

from __future__ import annotations

import csv
import re
import warnings
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from anguilla.errors import DescriptionError, require
from anguilla.identification.measurements import Measurements
from anguilla.mechanics.tree import Floats

__all__ = ["read"]

UNITS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "s": 1.0, "ms": 1e-3, "N": 1.0, "mN": 1e-3, "Pa": 1.0, "kPa": 1e3, "": 1.0}
AXES = ("_x", "_y", "_z")


def read(path: str | PathLike[str], inputs: tuple[str, ...], options: dict[str, Any]) -> Measurements:
    """Measurements from a file."""
    where = Path(fspath(path))
    if not where.is_file():
        raise DescriptionError(f"there is no file {str(where)!r} to read measurements from.")
    readers = {".nc": _netcdf, ".c3d": _c3d}
    columns = readers.get(where.suffix.lower(), _csv)(where)
    return _arranged(columns, where, inputs, {"name": where.stem, **options})


def _arranged(
    columns: dict[str, Floats], where: Path, inputs: tuple[str, ...], options: dict[str, Any]
) -> Measurements:
    found: dict[str, Any] = {"positions": {}, "lengths": {}, "tensions": {}, "inputs": {}}
    if "t" in columns:
        found["t"] = columns.pop("t")
        options.setdefault("motion", not inputs and bool(np.all(np.diff(found["t"]) > 0.0)))
    for name in [n[:-2] for n in columns if n.endswith("_x")]:
        if all(name + axis in columns for axis in AXES):
            found["positions"][name] = np.stack([columns.pop(name + axis) for axis in AXES], axis=1)
    for name, values in columns.items():
        kind, _, rest = name.partition(":")
        if kind in ("length", "tension") and rest:
            found[kind + "s"][rest] = values
        elif name in inputs or not inputs:
            found["inputs"][name] = values
    missing = [name for name in inputs if name not in found["inputs"]]
    if missing:
        raise DescriptionError(
            f"{where.name} has no column {missing[0]!r}; it has {', '.join(columns) or 'no others'}."
        )
    return Measurements(**(found | options))


def _csv(where: Path) -> dict[str, Floats]:
    """Columns of a table by name, SI."""
    with where.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    if len(rows) < 2:
        raise DescriptionError(f"{where.name} has no rows: a line of names is followed by numbers.")
    names, units = zip(*(_name(text, where) for text in rows[0]), strict=True)
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(names):
            raise DescriptionError(f"{where.name}, line {number}: {len(row)} cells under {len(names)} names.")
    table = {name: [row[k] for row in rows[1:]] for k, name in enumerate(names)}
    if "name" in table:
        return _long(table, dict(zip(names, units, strict=True)), where)
    return {
        n: _numbers(x, n, where) * unit for (n, x), unit in zip(table.items(), units, strict=True) if _any_number(x)
    }


def _name(text: str, where: Path) -> tuple[str, float]:
    """Name and factor of a column's unit."""
    found = re.fullmatch(r"\s*(.*?)\s*(?:\[([^\]]*)\])?\s*", text)
    assert found is not None
    if (found[2] or "") not in UNITS:
        raise DescriptionError(f"{where.name}: the unit of column {text!r} must be one of {', '.join(UNITS)}.")
    return found[1], UNITS[found[2] or ""]


def _any_number(cells: list[str]) -> bool:
    """Whether a column holds numbers at all; one of remarks does not."""
    try:
        [float(cell) for cell in cells if cell.strip()]
    except ValueError:
        return any(_is_number(cell) for cell in cells)
    return True


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(cells: list[str], name: str, where: Path) -> Floats:
    try:
        return np.array([float(cell) if cell.strip() else np.nan for cell in cells])
    except ValueError as error:
        raise DescriptionError(f"{where.name}, column {name!r}: {error}.") from None


def _long(table: dict[str, list[str]], units: dict[str, float], where: Path) -> dict[str, Floats]:
    """A long table, made wide."""
    key = "t" if "t" in table else "row"
    if key not in table or not ({"x", "y", "z"} <= table.keys() or "value" in table):
        raise DescriptionError(
            f"{where.name}: a long table needs the columns 'row' or 't', 'name', and 'x, y, z' or 'value'."
        )
    keys, row = np.unique(_numbers(table[key], key, where) * units[key], return_inverse=True)
    found: dict[str, Floats] = {"t": keys} if key == "t" else {}
    parts = [(axis, "_" + axis) for axis in "xyz"] if "x" in table else []
    parts += [("value", "")] if "value" in table else []
    for column, ending in parts:
        numbers = _numbers(table[column], column, where) * units[column]
        for k, (name, number) in enumerate(zip(table["name"], numbers, strict=True)):
            if np.isfinite(number):
                found.setdefault(name.strip() + ending, np.full(len(keys), np.nan))[row[k]] = number
    return found


def _netcdf(where: Path) -> dict[str, Floats]:
    """Columns of a netCDF file, SI."""
    xarray = require("xarray", "netCDF files of measurements need", "netcdf")

    found: dict[str, Floats] = {}
    with xarray.open_dataset(where, engine="h5netcdf", decode_times=False) as data:
        for name, variable in data.variables.items():
            values = np.asarray(variable.values)
            if values.dtype.kind not in "iuf":
                continue
            unit = str(variable.attrs.get("units", ""))
            if unit not in UNITS:
                raise DescriptionError(
                    f"{where.name}: the unit of {name!r} must be one of {', '.join(UNITS)}; got {unit!r}."
                )
            values = values.astype(np.float64) * UNITS[unit]
            label = "t" if str(name) in ("t", "time") else str(name)
            if values.ndim == 2 and values.shape[1] == 3:
                found |= {label + axis: values[:, k] for k, axis in enumerate(AXES)}
            elif values.ndim == 1:
                found[label] = values
    return found


def _c3d(where: Path) -> dict[str, Floats]:
    """Time and markers of a C3D file, SI; a marker that was not seen is a gap."""
    c3d = require("c3d", "C3D files need", "capture")
    with where.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of files without analog data
        try:
            data = c3d.Reader(file)
            points = np.array([frame[:, :4] for _, frame, _ in data.read_frames()], dtype=np.float64)
            unit = data.get("POINT:UNITS")
            factor, labels = unit.string_value.strip() if unit else "mm", [str(x).strip() for x in data.point_labels]
            rate = float(data.point_rate)
        except Exception as error:  # its own errors are of many kinds
            raise DescriptionError(f"{where.name} cannot be read as a C3D file: {error}.") from None
    if factor not in UNITS or not len(points) or not rate > 0.0:
        raise DescriptionError(f"{where.name}: a C3D file must have markers over time, in m, cm or mm; got {factor!r}.")
    places = np.where(points[:, :, 3:] < 0.0, np.nan, UNITS[factor] * points[:, :, :3])
    found = {"t": np.arange(len(points)) / rate}
    for k, label in enumerate(labels):
        found |= {label + axis: places[:, k, i] for i, axis in enumerate(AXES)}
    return found
