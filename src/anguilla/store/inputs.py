"""Inputs of actuators in records: columns over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.files import Table
from anguilla.store.record import Record

__all__ = ["add_inputs", "read_inputs"]

Array = NDArray[np.float64]
KINDS = {"actuator": "input", "port": "port_input"}  # what inputs belong to, and the name of their values


def add_inputs(
    record: Record,
    inputs: Mapping[str, Any],
    names: list[str],
    t: Array,
    kind: str = "actuator",
    title: str = "inputs; actuator_unit holds their units",
) -> None:
    """Add the inputs of actuators (time, actuator), or of ports, at the times t [s]; absent ones are zero."""
    if not names and kind != "actuator":
        return
    table = np.zeros((len(t), len(names)))
    for k, name in enumerate(names):
        value = inputs.get(name, 0.0)
        if (at_times := getattr(value, "at_times", None)) is not None:  # all instants at once, as `Sampled` gives them
            table[:, k] = at_times(t)
        else:
            table[:, k] = [float(value(x)) for x in t.tolist()] if callable(value) else value
    record.add(kind, (kind,), np.array(names, dtype=object), "", "names of the inputs")
    record.add(KINDS[kind], ("time", kind), table, "", title)


def read_inputs(record: Record) -> dict[str, Any]:
    """Inputs by name: a number where constant, else a table over time."""
    found: dict[str, Any] = {}
    for kind, column_name in KINDS.items():
        values = record.floats(column_name, 2) if kind in record else np.zeros((0, 0))
        for k, name in enumerate(record[kind].tolist() if kind in record else []):
            column = values[:, k]
            found[str(name)] = float(column[0]) if np.all(column == column[0]) else Table(column, t=record["time"])
    return found
