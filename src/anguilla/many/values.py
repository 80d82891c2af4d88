"""Values as JSON: exact, without pickles, and readable where they are short."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from anguilla.errors import DescriptionError, show

__all__ = ["as_outputs", "decode", "encode", "key_of"]

READABLE = 64  # numbers; longer arrays are written as bytes


def as_outputs(value: Any, taken: Mapping[str, Any]) -> dict[str, Any]:
    """What a job returned, by name: arrays, plain numbers and texts. A value alone is called "value"."""
    given = value if isinstance(value, Mapping) else {"value": value}
    found: dict[str, Any] = {}
    for name, item in given.items():
        if not isinstance(name, str) or name in taken:
            what = f"another name than the parameter {name!r}" if name in taken else f"a text as name, not {name!r}"
            raise DescriptionError(f"an output of a job needs {what}.")
        if isinstance(item, str):
            found[name] = str(item)
            continue
        try:
            array = np.asarray(item)
        except ValueError:
            array = np.array(None)
        if array.dtype.kind not in "biufc":
            raise DescriptionError(
                f"a job must return a number, an array, or a dictionary of them; got {show(item)} for {name!r}."
            )
        found[name] = array.item() if array.ndim == 0 and array.dtype.kind in "bif" else array
    return found


def encode(value: Any) -> Any:
    """Return a value as JSON, or raise TypeError."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{show(value)} is not a number, a text or an array")
    plain = array.dtype in (np.float64, np.int64, np.bool_) and array.size <= READABLE and array.size > 0
    if plain and (array.dtype != np.float64 or np.isfinite(array).all()):
        return array.tolist()
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    data = base64.b64encode(little.tobytes()).decode("ascii")
    return {"dtype": array.dtype.str[1:], "shape": list(array.shape), "base64": data}


def decode(value: Any) -> Any:
    """Return a value from JSON."""
    if isinstance(value, dict):
        if value["dtype"][:1] not in "biufc":
            raise ValueError(f"{show(value['dtype'])} is not a kind of numbers")
        raw = base64.b64decode(value["base64"])
        array = np.frombuffer(raw, dtype="<" + value["dtype"]).reshape(value["shape"]).copy()
        return array.item() if array.ndim == 0 and array.dtype.kind in "if" else array
    return np.array(value) if isinstance(value, list) else value


def key_of(parameters: Mapping[str, Any]) -> str:
    """A text that is the same for the same parameters, whether 1 was written as 1 or as 1.0."""
    return json.dumps({name: _same(encode(parameters[name])) for name in sorted(parameters)}, separators=(",", ":"))


def _same(value: Any) -> Any:
    if isinstance(value, list):
        return [_same(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return float(value)
    return 0.0 if isinstance(value, float) and value == 0.0 else value  # -0.0 is 0.0
