"""Records in other formats: CSV, NumPy, MATLAB."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from anguilla.errors import DescriptionError
from anguilla.store.record import Record
from anguilla.store.whole import whole_file, write_archive

__all__ = ["TABLES", "write_csv", "write_mat", "write_npz"]


def write_csv(record: Record, target: Path) -> None:
    """Write all variables over time as columns: one row per instant, names and units in the first row."""
    if "time" not in record:
        raise DescriptionError("a table (.csv) has a row per instant, and this result has none; .npz and .mat hold it.")
    t = record["time"]
    names, columns = ["time [s]"], [t]
    for name, variable in record.variables.items():
        if variable.is_text or variable.dimensions[:1] != ("time",) or name in ("time", "rotation"):
            continue
        flat = variable.values.reshape(len(t), -1)
        for k, place in enumerate(np.ndindex(variable.values.shape[1:])):
            labels = [_label(record, axis, i) for axis, i in zip(variable.dimensions[1:], place, strict=True)]
            unit = _unit(record, name, place) or _own(variable.unit, place)
            names.append(" ".join([name, *labels]) + (f" [{unit}]" if unit else ""))
            columns.append(flat[:, k])
    with whole_file(target) as part, open(part, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows([repr(float(x)) for x in row] for row in np.stack(columns, axis=1))


def _label(record: Record, axis: str, index: int) -> str:
    return str(record[axis][index]) if axis in record else str(index)


def _unit(record: Record, name: str, place: tuple[int, ...]) -> str:
    inputs = {"input": "actuator_unit", "port_input": "port_unit"}
    if name in inputs and inputs[name] in record:
        return str(record[inputs[name]][place[0]])
    if name not in ("q", "v", "a") or "coordinate_unit" not in record:
        return ""
    unit = str(record["coordinate_unit"][place[0]])
    return unit + {"q": "", "v": "/s", "a": "/s^2"}[name]


def _own(unit: str, place: tuple[int, ...]) -> str:
    """The unit of one component of a twist, whose units are those of its angular and of its linear part: "rad/s, m/s"."""
    angular, _, linear = unit.partition(", ")
    return linear if linear and place[-1] >= 3 else angular


def write_npz(record: Record, target: Path) -> None:
    """Write all variables by name; texts as unicode, so that no pickle is needed to read them."""
    with whole_file(target) as part, open(part, "wb") as stream:
        write_archive(stream, np.savez_compressed, _plain(record))


def write_mat(record: Record, target: Path) -> None:
    """Write all variables by name for MATLAB; texts as cell arrays."""
    from scipy.io import savemat

    variables: dict[str, Any] = {}
    for name, variable in record.variables.items():
        texts = variable.is_text and variable.values.ndim
        variables[name] = variable.values.astype(object) if texts else _plain_one(variable.values)
    facts = {f"about_{name}"[:31]: value for name, value in record.facts.items()}
    with whole_file(target) as part:
        savemat(part, variables | facts, appendmat=False, do_compression=True, oned_as="column")


def _plain(record: Record) -> dict[str, Any]:
    found = {name: _plain_one(variable.values) for name, variable in record.variables.items()}
    return found | {f"about_{name}": np.asarray(value) for name, value in record.facts.items()}


def _plain_one(values: np.ndarray) -> np.ndarray:
    return np.array(values.tolist(), dtype=str) if values.dtype.kind in "OUS" else values


TABLES = {".csv": write_csv, ".npz": write_npz, ".mat": write_mat}
