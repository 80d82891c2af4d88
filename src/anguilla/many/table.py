"""What a sweep returns: one row for each run, columns of parameters and outputs."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anguilla._doors import public
from anguilla._words import numbered
from anguilla.errors import DescriptionError, refuse, require
from anguilla.store.whole import as_target, whole_file

__all__ = ["Run", "Sweep"]

SHOWN = 6  # rows of a short table


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a sweep.

    Attributes:
        parameters: by name.
        outputs: by name; None if the run failed or has not been made.
        error: why it failed, else empty.
        trace: where it failed: the lines of the program.
        seconds: how long it took [s], where it ran.

    """

    parameters: Mapping[str, Any]
    outputs: Mapping[str, Any] | None = None
    error: str = ""
    trace: str = ""
    seconds: float = float("nan")

    @property
    def ok(self) -> bool:
        """Whether there are outputs."""
        return self.outputs is not None

    @property
    def status(self) -> str:
        """One of "ok", "failed", "not run"."""
        return "ok" if self.ok else "failed" if self.error else "not run"

    def __getitem__(self, name: str) -> Any:
        """A parameter or an output."""
        if name in self.parameters:
            return self.parameters[name]
        if self.outputs is None:
            raise KeyError(f"{name!r}: the run has no outputs: {self.error or 'not run'}")
        return self.outputs[name]


class _NumberError(DescriptionError, IndexError):
    """A number that no run has."""


@public
class Sweep(Sequence[Run]):
    """The runs of a sweep, in the order of their parameters.

    ``table["radius"]`` and ``table["tip"]`` are the columns of parameters and outputs, as arrays whose first axis is the run;
    ``table[3]`` is one run, and ``for run in table`` goes through all.

    Attributes:
        name: of the function.
        runs: all runs.
        axes: values of the parameters if they are a grid, else None.

    """

    def __init__(self, name: str, runs: Sequence[Run], axes: Mapping[str, Sequence[Any]] | None = None) -> None:
        self.name = name
        self.runs = tuple(runs)
        self.axes = None if axes is None else {key: list(values) for key, values in axes.items()}

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __getitem__(self, which: Any) -> Any:
        """A column by its name, or a run by its number."""
        if isinstance(which, str):
            return self.column(which)
        try:
            return self.runs[which]
        except IndexError:
            raise _NumberError(
                f"there is no run {which}: the table has {len(self)}, from 0 to {len(self) - 1}."
            ) from None
        except TypeError:
            raise refuse("table[...]", "the name of a column, or the number of a run", which) from None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.runs[0].parameters)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return tuple(dict.fromkeys(name for run in self.runs for name in run.outputs or ()))

    @property
    def ok(self) -> np.ndarray:
        """Whether each run has outputs."""
        return np.array([run.ok for run in self.runs])

    @property
    def failed(self) -> list[Run]:
        """The runs that failed, each with its `error`."""
        return [run for run in self.runs if run.status == "failed"]

    @property
    def missing(self) -> list[int]:
        """Numbers of the runs that have not been made: the sweep was stopped, or other shards make them."""
        return [k for k, run in enumerate(self.runs) if run.status == "not run"]

    @property
    def seconds(self) -> np.ndarray:
        """Time of each run [s], where it ran; NaN for those not made."""
        return np.array([run.seconds for run in self.runs])

    def column(self, name: str) -> np.ndarray:
        """A parameter or an output of all runs: (runs, ...). Runs without outputs have NaN, or None for texts."""
        if name in self.parameters:
            return _parameter_array([run.parameters[name] for run in self.runs])
        if name not in self.outputs:
            have = ", ".join((*self.parameters, *self.outputs))
            why = f"; no run is ok, the first says: {self.failed[0].error}" if self.failed and not self.outputs else ""
            raise DescriptionError(f"the table has no column {name!r}; it has {have}{why}.")
        values = [run.outputs.get(name) if run.outputs is not None else None for run in self.runs]
        return _output_array(name, values)

    def shaped(self, name: str) -> np.ndarray:
        """A column of a sweep over a grid, with one axis for each parameter: (n1, n2, ..., ...)."""
        if self.axes is None:
            raise DescriptionError("shaped needs parameters that are a grid: ag.sweep(job, ag.grid(...)).")
        column = self.column(name)
        return column.reshape(*(len(values) for values in self.axes.values()), *column.shape[1:])

    def to_xarray(self) -> Any:
        """The table as an xarray.Dataset.

        Its dimensions are the parameters of a grid, else "run"; `run_ok` and `run_seconds` tell about the runs.
        """
        xarray = require("xarray", "labelled arrays need", "netcdf")

        gridded = self.axes is not None
        dims = tuple(self.axes) if self.axes is not None else ("run",)
        take = self.shaped if gridded else self.column
        data: dict[str, Any] = {}
        for name in self.outputs:
            values = take(name)
            data[name] = ((*dims, *(f"{name}_{k}" for k in range(values.ndim - len(dims)))), values)
        shape = (len(self),) if self.axes is None else tuple(len(values) for values in self.axes.values())
        data["run_ok"] = (dims, self.ok.reshape(shape))
        data["run_seconds"] = (dims, self.seconds.reshape(shape), {"units": "s"})
        coordinates: dict[str, Any] = {}
        for name in self.parameters:
            values = _parameter_array(self.axes[name]) if self.axes is not None else self.column(name)
            along = name if gridded else "run"
            if values.ndim == 1:
                coordinates[name] = ((along,), values)
            else:  # a variable with the name of its dimension must have one axis only
                more = tuple(f"{name}_{k}" for k in range(values.ndim - 1))
                coordinates[f"{name}_values" if gridded else name] = ((along, *more), values)
        return xarray.Dataset(data, coordinates, {"title": f"sweep of {self.name}"})

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as text: parameters, outputs (one column for each number), run_ok, run_seconds, run_error."""
        target = as_target(path, (".csv",))
        heads: list[str] = []
        columns: list[list[Any]] = []
        for name in (*self.parameters, *self.outputs):
            values = self.column(name)
            for place in np.ndindex(values.shape[1:]):
                heads.append(name + "".join(f"[{k}]" for k in place))
                columns.append(["" if x is None else x for x in values[(slice(None), *place)].tolist()])
        columns += [self.ok.tolist(), self.seconds.tolist(), [run.error for run in self.runs]]
        with whole_file(target) as part, open(part, "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow([*heads, "run_ok", "run_seconds", "run_error"])
            writer.writerows(zip(*columns, strict=True))
        return target

    def __repr__(self) -> str:
        failed, missing = len(self.failed), len(self.missing)
        told = [numbered(len(self), "run"), f"{len(self) - failed - missing} ok"]
        told += [f"{failed} failed"] * bool(failed) + [f"{missing} not run"] * bool(missing)
        spent = float(np.nansum(self.seconds))
        head = f"Sweep of {self.name}: {', '.join(told)}; {spent:.3g} s of work"
        names = (*self.parameters, *self.outputs, *(["status"] if failed or missing else []))
        n = len(self)
        picked = list(range(n)) if n <= SHOWN else [*range(SHOWN // 2), -1, *range(n - SHOWN // 2, n)]
        lines = [names] + [tuple("..." for _ in names) if k < 0 else self._texts(k, names) for k in picked]
        widths = [max(len(line[j]) for line in lines) for j in range(len(names))]
        body = (
            "  " + "  ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)).rstrip() for line in lines
        )
        return "\n".join([head, *body])

    def _texts(self, k: int, names: Sequence[str]) -> tuple[str, ...]:
        run = self.runs[k]
        known = {**run.parameters, **(run.outputs or {})}
        if not run.ok:
            known |= {"status": f"{run.status}: {run.error}" if run.error else run.status}
        return tuple("" if known.get(name) is None else _short(known[name]) for name in names)


def _short(value: Any) -> str:
    """A value in few letters."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (int, float)):
        return f"{value:.4g}" if isinstance(value, float) else str(value)
    if isinstance(value, (np.ndarray, tuple, list)):
        array = np.asarray(value)
        if array.dtype.kind in "biufc" and array.ndim == 1 and array.size <= 4:
            return "(" + ", ".join(f"{x:.4g}" for x in array.tolist()) + ")"
        return f"array {array.shape}"
    text = " ".join(str(value).split())
    return text if len(text) <= 40 else text[:37] + "..."


def _parameter_array(values: Sequence[Any]) -> np.ndarray:
    """Numbers and arrays of one shape as a plain array; anything else as objects."""
    kinds = {type(value) for value in values}
    if not kinds & {bool, str} or len(kinds) == 1:
        try:
            found = np.array(values)
        except ValueError:
            found = np.array(None)
        if found.ndim and found.dtype.kind in "biufcU":
            return found
    boxed = np.empty(len(values), dtype=object)
    boxed[:] = [*values]
    return boxed


def _output_array(name: str, values: Sequence[Any]) -> np.ndarray:
    known = {k: np.asarray(value) for k, value in enumerate(values) if value is not None}
    first, like = next(iter(known.items()))
    for k, array in known.items():
        if array.shape != like.shape:
            raise DescriptionError(
                f"{name!r} has no column: its shape is {like.shape} in run {first} and {array.shape} in run {k}. "
                f"Each value is in table[k][{name!r}]."
            )
    kinds = {array.dtype.kind for array in known.values()}
    if "U" in kinds:
        boxed = np.empty(len(values), dtype=object)
        boxed[:] = [*values]
        return boxed
    dtype = np.result_type(*known.values())
    if len(known) < len(values) and dtype.kind in "biu":
        dtype = np.dtype(np.float64)
    column = np.full((len(values), *like.shape), np.nan if dtype.kind in "fc" else 0, dtype=dtype)
    for k, array in known.items():
        column[k] = array
    return column
