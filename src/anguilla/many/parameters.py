"""Sets of parameters: all combinations, samples, lists and columns."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from anguilla._doors import public
from anguilla.errors import DescriptionError, as_count, as_number, refuse

__all__ = ["Grid", "Parameters", "as_rows", "check_call", "grid", "sample"]

Parameters = Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]]


class Grid(tuple[dict[str, Any], ...]):
    """All combinations of values, as dictionaries; the last parameter changes fastest.

    Attributes:
        axes: the values of each parameter.

    """

    axes: dict[str, list[Any]]

    def __new__(cls, axes: Mapping[str, list[Any]]) -> Grid:
        """Combine the values of all axes."""
        made = super().__new__(
            cls, (dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))
        )
        made.axes = dict(axes)
        return made

    def __repr__(self) -> str:
        sizes = " x ".join(f"{len(values)} {name}" for name, values in self.axes.items())
        return f"Grid({sizes} = {len(self)})"


@public
def grid(**values: Any) -> Grid:
    """All combinations of the values of parameters.

    Args:
        values: for each parameter its values: a list or an array (the rows of one with several axes), or a single value.

    Returns:
        A sequence of dictionaries; the last parameter changes fastest.

    """
    if not values:
        raise DescriptionError("grid needs at least one parameter, such as grid(radius=[0.01, 0.02]).")
    axes = {name: _values(given) for name, given in values.items()}
    for name, listed in axes.items():
        if not listed:
            raise DescriptionError(f"grid: {name} has no values, so there are no combinations.")
    return Grid(axes)


@public
def sample(count: int, *, seed: int = 0, **ranges: tuple[float, float]) -> list[dict[str, float]]:
    """Points spread evenly over ranges of parameters, a Latin hypercube: each range is cut in `count` parts, each used once.

    Args:
        count: number of points.
        seed: another one gives other points.
        ranges: for each parameter its lowest and its highest value.

    """
    from scipy.stats import qmc

    count, seed = as_count(count, "count"), as_count(seed, "seed", minimum=0)
    if not ranges:
        raise DescriptionError("sample needs at least one range, such as sample(20, radius=(0.01, 0.02)).")
    low, high = [], []
    for name, given in ranges.items():
        if not isinstance(given, (Sequence, np.ndarray)) or isinstance(given, str) or len(given) != 2:
            raise refuse(f"sample: {name}", "a pair (lowest, highest)", given)
        low.append(as_number(given[0], f"sample: {name}"))
        high.append(as_number(given[1], f"sample: {name}"))
        if not low[-1] < high[-1]:
            raise refuse(f"sample: {name}", "a pair (lowest, highest) with lowest < highest", given)
    points = qmc.scale(qmc.LatinHypercube(len(ranges), rng=seed).random(count), low, high)
    return [dict(zip(ranges, point.tolist(), strict=True)) for point in points]


def _values(given: Any) -> list[Any]:
    """The values of an axis or a column; NumPy's numbers become plain ones."""
    if isinstance(given, np.ndarray):
        return given.tolist() if given.ndim == 1 else [given.item()] if given.ndim == 0 else list(given)
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        return [given]
    return [value.item() if isinstance(value, np.generic) else value for value in given]


def as_rows(parameters: Any) -> tuple[list[dict[str, Any]], dict[str, list[Any]] | None]:
    """Return one dictionary for each run, and the axes if they are a grid; or raise an error naming what is wrong."""
    if isinstance(parameters, Grid):
        return list(parameters), parameters.axes
    if isinstance(parameters, Mapping):
        return _from_columns(parameters), None
    if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Iterable):
        raise refuse("parameters", "ag.grid(...), a list of dictionaries, or a dictionary of columns", parameters)
    rows: list[dict[str, Any]] = []
    for k, row in enumerate(parameters):
        if not isinstance(row, Mapping) or not all(isinstance(name, str) for name in row):
            raise refuse(f"parameters[{k}]", "a dictionary of values by name", row)
        if rows and row.keys() != rows[0].keys():
            told = f"{', '.join(row) or 'none'}; parameters[0] has {', '.join(rows[0]) or 'none'}"
            raise DescriptionError(f"parameters must have the same names in all rows; parameters[{k}] has {told}.")
        rows.append({name: row[name].item() if isinstance(row[name], np.generic) else row[name] for name in row})
    if not rows:
        raise DescriptionError("parameters are empty: there is nothing to run.")
    return rows, None


def _from_columns(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    for name, given in columns.items():
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
            raise refuse(f"parameters[{name!r}]", "a column: a list or an array with one value for each run", given)
    values = {str(name): _values(given) for name, given in columns.items()}
    sizes = {name: len(listed) for name, listed in values.items()}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise DescriptionError(f"columns of parameters must be equally long; {told}. All combinations: ag.grid(...).")
    if not sizes or not next(iter(sizes.values())):
        raise DescriptionError("parameters are empty: there is nothing to run.")
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def check_call(job: Any, row: Mapping[str, Any]) -> None:
    """Refuse a job that cannot be called with the parameters, before the work begins."""
    if not callable(job):
        raise refuse("job", "a function of the parameters", job)
    try:
        signature = inspect.signature(job)
    except (TypeError, ValueError):  # compiled functions may have none
        return
    try:
        signature.bind(**row)
    except TypeError as error:
        raise DescriptionError(
            f"job{signature} cannot be called with the parameters {', '.join(row)}: {error}."
        ) from None


def name_of(job: Callable[..., Any]) -> str:
    """The name of a function, without its module."""
    while hasattr(job, "func"):  # functools.partial
        job = job.func
    return str(getattr(job, "__qualname__", type(job).__qualname__))
