"""Measurements from files.

A wide table has a row for each instant or equilibrium. Its columns are "t" [s]; "tip_x", "tip_y", "tip_z" of a marker "tip",
"tip_qw", "tip_qx", "tip_qy", "tip_qz" (a quaternion) or "tip_rx", "tip_ry", "tip_rz" (a rotation vector) of its frame, and
"tip_sigma" (a standard deviation); "length:t1" and "tension:t1" of an actuator "t1"; and inputs, named as their actuators.
Names as others write them are understood, too: "Time (s)", "Tip X", "tip.x". A unit may follow: "tip_x [mm]", "tip_x (mm)",
"tip_x_mm". An empty cell is a gap. Cells are parted by commas, semicolons (with decimal commas), tabs or spaces; lines before
the one with the names are skipped. A long table has the columns "row" or "t", "name" (or "marker") and either "x", "y", "z"
or "value". Variables of a netCDF file are the columns; one whose last dimension is three is a marker, four a quaternion (w,
x, y, z), named "tip_q". A C3D file of a motion-capture system gives its markers by their labels, over time (needs the package
c3d).
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from anguilla.describe.description import did_you_mean
from anguilla.errors import DescriptionError, refuse, require
from anguilla.identification.columns import UNITS, TableColumn, as_turns, named, renamed
from anguilla.identification.measurements import Measurements
from anguilla.mechanics.tree import Floats

__all__ = ["read"]

NOTHING = ("", "nan", "na", "n/a", "null", "none", "-")  # cells of a gap
PREAMBLE = 30  # most lines among which the one with the names is
LONG_NAMES = ("name", "marker")
WHOLE = (("x", "y", "z"), ("qw", "qx", "qy", "qz"), ("rx", "ry", "rz"))  # columns that only mean something together
Table = list[tuple[TableColumn, Floats]]


def read(
    path: str | PathLike[str], inputs: tuple[str, ...], unit: str, columns: Mapping[str, str], options: dict[str, Any]
) -> Measurements:
    """Measurements from a file."""
    where = Path(fspath(path))
    if not where.is_file():
        raise DescriptionError(f"there is no file {str(where)!r} to read measurements from.")
    if unit not in ("m", "cm", "mm", "um"):
        raise refuse("unit", "the unit of positions that do not say their own: 'm', 'cm', 'mm' or 'um'", unit)
    readers = {".nc": _netcdf, ".c3d": _c3d}
    table = readers.get(where.suffix.lower(), _csv)(where)
    names = renamed([column for column, _ in table], columns, where.name)
    return _arranged(
        [(column, values) for column, (_, values) in zip(names, table, strict=True)], where, inputs, unit, options
    )


def _arranged(table: Table, where: Path, inputs: tuple[str, ...], unit: str, options: dict[str, Any]) -> Measurements:
    """Columns, put where they belong."""
    found: dict[str, Any] = {"positions": {}, "turns": {}, "lengths": {}, "tensions": {}, "inputs": {}, "sigma": {}}
    others: dict[str, Floats] = {}
    markers: dict[str, dict[str, tuple[TableColumn, Floats]]] = {}
    for column, values in table:
        if column.part:
            markers.setdefault(column.name, {})[column.part] = column, values
        else:
            others[column.name] = values * column.factor(None)
    for name, parts in markers.items():
        _marker(name or "marker", parts, unit, found, where)
        others |= {column.key if name else column.part: x * column.factor(None) for column, x in parts.values()}
    left = {name or "marker": parts for name, parts in markers.items()}
    for name in options.get("markers") or {}:
        _check_named(name, left, name in found["positions"] or name in found["turns"], where)
    if "t" in others:
        found["t"] = others.pop("t")
        options.setdefault("motion", not inputs and bool(np.all(np.diff(found["t"]) > 0.0)))
    for name, values in others.items():
        kind, _, rest = name.partition(":")
        if kind in ("length", "tension") and rest:
            found[kind + "s"][rest] = values
        elif name in inputs or not inputs:
            found["inputs"][name] = values
    missing = [name for name in inputs if name not in found["inputs"]]
    if missing:
        raise DescriptionError(f"{where.name} has no column {missing[0]!r}; it has {', '.join(others) or 'no others'}.")
    options["sigma"] = {**found.pop("sigma"), **options.get("sigma", {})}
    return Measurements(**(found | {"name": where.stem} | options))


def _marker(
    label: str, parts: dict[str, tuple[TableColumn, Floats]], unit: str, found: dict[str, Any], where: Path
) -> None:
    """Take what columns of one name say together, a position and a rotation; what is not whole is left."""

    def take(axes: tuple[str, ...], usual: str) -> dict[str, Floats]:
        pairs = {axis: parts.pop(axis) for axis in axes} if set(axes) <= parts.keys() else {}
        return {axis: values * column.factor(usual) for axis, (column, values) in pairs.items()}

    if places := take(WHOLE[0], unit):
        found["positions"][label] = np.stack(list(places.values()), axis=1)
        for deviation in take(("sigma",), unit).values():
            found["sigma"][label] = deviation
    for axes in WHOLE[1:]:
        if turns := take(axes, "rad"):
            found["turns"][label] = as_turns(turns, label, where.name)


def _check_named(name: str, left: dict[str, dict[str, Any]], whole: bool, where: Path) -> None:
    """Refuse a marker that the user named and the file lacks, as a whole or in part: of each, the columns that are left."""
    for axes in WHOLE:
        there = [f"{name}_{axis}" for axis in axes if axis in left.get(name, {})]
        missing = [f"{name}_{axis}" for axis in axes if axis not in left.get(name, {})]
        if there and missing:
            raise DescriptionError(
                f"{where.name}: marker {name!r} has {', '.join(there)}, but {', '.join(missing)} is missing: give them all."
            )
    if not whole:
        raise DescriptionError(
            f"{where.name} has no marker {name!r}{did_you_mean(name, left)}: its columns would be "
            f"{', '.join(f'{name}_{axis}' for axis in 'xyz')}; there are: {', '.join(left) or 'none'}."
        )


def _csv(where: Path) -> Table:
    """Columns of a table."""
    text = _text(where)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    mark = next((c for c in ";\t" if any(c in line for line in lines[-3:])), ",")
    if not any(mark in line for line in lines[-3:]):  # parted by spaces, or there is one column
        lines = [",".join(line.split()) for line in lines]
    rows = list(csv.reader(lines, delimiter=mark))
    first = 1 + max(range(min(len(rows), PREAMBLE)), key=lambda k: _names(rows[k]), default=0)
    if len(rows) <= first:
        raise DescriptionError(f"{where.name} has no rows: a line of names is followed by numbers.")
    header, rows = rows[first - 1], rows[first:]
    for number, row in enumerate(rows, first + 1):
        if len(row) != len(header):
            raise DescriptionError(f"{where.name}, line {number}: {len(row)} cells under {len(header)} names.")
    names = [named(text, where.name) for text in header]
    cells = {k: [row[k].strip() for row in rows] for k in range(len(header))}
    if mark != ",":
        cells = {k: [re.sub(r"(?<=\d),(?=\d)", ".", cell) for cell in column] for k, column in cells.items()}
    keys = [name.key for name in names]
    for key in keys:
        if key and keys.count(key) > 1:
            raise DescriptionError(f"{where.name}: two columns are called {key!r}.")
    if any(key.lower() in LONG_NAMES for key in keys):
        return _long(
            {key.lower(): (name, cells[k]) for k, (key, name) in enumerate(zip(keys, names, strict=True))}, where
        )
    return [
        (name, _numbers(cells[k], name.key, where))
        for k, name in enumerate(names)
        if name.key and _any_number(cells[k])
    ]


def _text(where: Path) -> str:
    """What is written in a file, in Unicode or as older programs wrote it."""
    raw = where.read_bytes()
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _names(row: list[str]) -> int:
    """How many names a line has; none if there is a number in it."""
    filled = [cell for cell in row if cell.strip().lower() not in NOTHING]
    return 0 if any(_is_number(cell.replace(",", ".")) for cell in filled) else len(filled)


def _any_number(cells: list[str]) -> bool:
    """Whether a column holds numbers at all; one of remarks does not."""
    filled = [cell for cell in cells if cell.lower() not in NOTHING]
    return not filled or any(_is_number(cell) for cell in filled)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(cells: list[str], name: str, where: Path) -> Floats:
    try:
        return np.array([np.nan if cell.lower() in NOTHING else float(cell) for cell in cells])
    except ValueError as error:
        raise DescriptionError(f"{where.name}, column {name!r}: {error}.") from None


def _long(table: dict[str, tuple[TableColumn, list[str]]], where: Path) -> Table:
    """A long table, made wide."""
    key = "t" if "t" in table else "row"
    if key not in table or not ({"_x", "_y", "_z"} <= table.keys() or "value" in table):
        raise DescriptionError(
            f"{where.name}: a long table needs the columns 'row' or 't', 'name', and 'x, y, z' or 'value'."
        )
    keys, row = np.unique(_numbers(table[key][1], key, where), return_inverse=True)
    found: dict[str, tuple[TableColumn, Floats]] = {"t": (table["t"][0], keys)} if key == "t" else {}
    labels = next(table[name][1] for name in LONG_NAMES if name in table)
    for column in (c for c in ("_x", "_y", "_z", "value") if c in table):
        meant, cells = table[column]
        for k, (label, number) in enumerate(zip(labels, _numbers(cells, column, where), strict=True)):
            if np.isfinite(number):
                new = TableColumn(label, meant.part, meant.unit) if meant.part else TableColumn(label, "", meant.unit)
                found.setdefault(new.key, (new, np.full(len(keys), np.nan)))[1][row[k]] = number
    return list(found.values())


def _netcdf(where: Path) -> Table:
    """Columns of a netCDF file."""
    xarray = require("xarray", "netCDF files of measurements need", "netcdf")

    found: Table = []
    with xarray.open_dataset(where, engine="h5netcdf", decode_times=False) as data:
        if "anguilla_format" in data.attrs:
            raise DescriptionError(
                f"{where.name} is a result of Anguilla, not a file of measurements: read it with run = ag.load(path) and "
                "give what would have been measured, such as "
                "Measurements(t=run.t, positions={'tip': run.position(frame)}, motion=True)."
            )
        for name, variable in data.variables.items():
            values = np.asarray(variable.values)
            if values.dtype.kind not in "iuf":
                continue
            unit = variable.attrs.get("units")
            if unit is not None and str(unit) not in UNITS:
                raise DescriptionError(
                    f"{where.name}: the unit of {name!r} must be one of {', '.join(u for u in UNITS if u)}; got {unit!r}."
                )
            meant = named(str(name), where.name)
            axes = {3: "xyz", 4: ("qw", "qx", "qy", "qz")}.get(values.shape[-1] if values.ndim == 2 else 0, ())
            for k, axis in enumerate(axes):
                label = str(name).removesuffix("_q") if len(axes) == 4 else str(name)
                found.append((TableColumn(label, axis, unit), values[:, k].astype(np.float64)))
            if values.ndim == 1:
                found.append((TableColumn(meant.name, meant.part, unit), values.astype(np.float64)))
    return found


def _c3d(where: Path) -> Table:
    """Time and markers of a C3D file; a marker that was not seen is a gap."""
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
    places = np.where(points[:, :, 3:] < 0.0, np.nan, points[:, :, :3])
    found: Table = [(TableColumn("t", "", "s"), np.arange(len(points)) / rate)]
    for k, label in enumerate(labels):
        found += [(TableColumn(label, axis, factor), places[:, k, i]) for i, axis in enumerate("xyz")]
    return found
