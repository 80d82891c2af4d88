"""What columns of tables mean: names, axes and units as measuring programs write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from anguilla.describe import units
from anguilla.describe.description import did_you_mean
from anguilla.errors import DescriptionError
from anguilla.lie import exp3, rotation_from_wxyz
from anguilla.mechanics.tree import Floats

__all__ = ["UNITS", "TableColumn", "as_turns", "named", "renamed"]

KNOWN = ("m", "mm", "cm", "um", "s", "ms", "us", "N", "mN", "kN", "Pa", "kPa", "MPa", "mbar", "bar", "rad", "deg")
UNITS = {"": 1.0, **{unit: units.FACTORS[unit] for unit in KNOWN}}
WORDS = {**units.WORDS, "1": "", "-": ""}
SUFFIXES = (
    "mm",
    "cm",
    "um",
    "ms",
    "us",
    "mN",
    "kPa",
    "MPa",
    "mbar",
    "deg",
    "rad",
)  # behind "_"; others only behind an axis
TIMES = ("t", "time", "timestamp")
AXIS = re.compile(r"(.*?)[\s_.:-]*(?:pos|position)?[\s_.:-]+([xyz]|q[wxyz]|r[xyz]|sigma)", re.IGNORECASE)


@dataclass(frozen=True)
class TableColumn:
    """What a column holds.

    Attributes:
        name: of the marker, actuator or "t".
        part: "x", "qw", "rx", "sigma", ... of a marker; "" else.
        unit: as written; None if none was.

    """

    name: str
    part: str
    unit: str | None

    @property
    def key(self) -> str:
        """A name of its own."""
        return f"{self.name}_{self.part}" if self.part else self.name

    def factor(self, unit: str | None) -> float:
        """To SI; lengths and turns without a unit of their own are in the given one."""
        return UNITS[self.unit if self.unit is not None else unit or ""]


def named(text: str, where: str) -> TableColumn:
    """The meaning of a column's name: "tip_x [mm]", "Tip X (mm)", "tip.x", "tip_x_mm", "tip_qw", "Time (s)", ..."""
    name, unit = _split(text.strip(), where)
    found = AXIS.fullmatch(name)
    if found and found[1] and found[1].lower() not in ("length", "tension"):
        return TableColumn(found[1].strip(), found[2].lower(), unit)
    if name.lower() in ("x", "y", "z"):
        return TableColumn("", name.lower(), unit)
    return TableColumn("t" if name.lower() in TIMES else name, "", unit)


def _split(text: str, where: str) -> tuple[str, str | None]:
    """Name and unit of a column."""
    if found := re.fullmatch(r"(.*?)\s*\[([^\]]*)\]", text):
        unit = WORDS.get(found[2].strip().lower(), found[2].strip())
        if unit not in UNITS:
            raise _no_unit(text, where)
        return found[1], unit
    if found := re.fullmatch(r"(.*?)\s*(?:\(([^)]*)\)|/\s*(\S+))", text):
        unit = (found[2] or found[3] or "").strip()
        unit = WORDS.get(unit.lower(), unit)
        if unit not in UNITS and AXIS.fullmatch(found[1]):
            raise _no_unit(text, where)
        return (found[1], unit) if unit in UNITS else (text, None)
    if found := re.fullmatch(r"(.+)_([a-zA-Z]+)", text):
        plain = found[2] in UNITS and (found[1].lower() in TIMES or AXIS.fullmatch(found[1]) is not None)
        if found[2] in SUFFIXES or plain:
            return found[1], found[2]
    return text, None


def _no_unit(text: str, where: str) -> DescriptionError:
    return DescriptionError(f"{where}: the unit of column {text!r} must be one of {', '.join(u for u in UNITS if u)}.")


def renamed(columns: list[TableColumn], other: Mapping[str, str], where: str) -> list[TableColumn]:
    """Columns with other names: of a column as a whole, or of all columns of a marker."""
    names = [x for column in columns for x in (column.key, column.name)]
    for name in other:
        if name not in names:
            there = ", ".join(dict.fromkeys(column.name for column in columns))
            raise DescriptionError(
                f"{where}: there is no column {name!r} to rename{did_you_mean(name, names)}; it has {there}."
            )
    found = []
    for column in columns:
        if column.key in other:
            new = named(other[column.key], where)
            found.append(TableColumn(new.name, new.part, column.unit))
        else:
            found.append(TableColumn(other.get(column.name, column.name), column.part, column.unit))
    return found


def as_turns(parts: dict[str, Floats], name: str, where: str) -> Any:
    """Rotations (rows, 3, 3) of quaternions qw, qx, qy, qz or of rotation vectors rx, ry, rz [rad]; NaN in a gap."""
    if {"qw", "qx", "qy", "qz"} <= parts.keys():
        q = np.stack([parts[key] for key in ("qw", "qx", "qy", "qz")], axis=1)
        size = np.linalg.norm(q, axis=1)
        wrong = np.flatnonzero(np.abs(size - 1.0) > 0.05)
        if len(wrong):
            raise DescriptionError(
                f"{where}: the quaternion of {name!r} in row {wrong[0]} has the length {size[wrong[0]]:.3g}, not 1."
            )
        seen = np.isfinite(size)
        turned = rotation_from_wxyz(q[seen])
    else:
        vectors = np.stack([parts[key] for key in ("rx", "ry", "rz")], axis=1)
        seen = np.isfinite(vectors).all(axis=1)
        turned = exp3(vectors[seen])
    out = np.full((len(seen), 3, 3), np.nan)
    out[seen] = turned
    return out
