"""Results as xarray datasets."""

from __future__ import annotations

from typing import Any

from anguilla.store.gather import gather

__all__ = ["dataset"]


def dataset(states: Any) -> Any:
    """Return the xarray.Dataset of a Trajectory or an Equilibrium, with the content of its file."""
    import xarray as xr

    record = gather(states)
    arrays = {}
    for name, variable in record.variables.items():
        about = {"units": variable.unit, "long_name": variable.title}
        arrays[name] = (variable.dimensions, variable.values, {key: text for key, text in about.items() if text})
    labels = [name for name, variable in record.variables.items() if variable.dimensions == (name,)]
    return xr.Dataset(arrays, attrs=record.facts).set_coords([*labels, "coordinate_unit"])
