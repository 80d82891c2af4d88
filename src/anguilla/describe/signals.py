"""Three-vectors that are constant, or functions of time, or functions of arc length and time."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import as_points
from anguilla.errors import DescriptionError, all_finite, as_vector, refuse, show

Array = NDArray[np.float64]
Signal = ArrayLike | Callable[..., ArrayLike]


def as_time_signal(value: object, name: str, unit: str) -> Signal:
    """Return a constant 3-vector as a tuple, or a function of t unchanged."""
    wanted = f"a vector of 3 finite numbers [{unit}] or a function of the time t returning one"
    if not callable(value):
        return _as_constant(value, name, wanted)
    names = arguments_of(value, name, wanted)
    if len(names) != 1:
        raise DescriptionError(f"{name} must be {wanted}; got a function of ({', '.join(names)}).")
    return value


def as_field_signal(value: object, name: str, unit: str) -> Signal:
    """Return a constant 3-vector as a tuple, or a function of X or of (X, t) unchanged."""
    wanted = f"a vector of 3 finite numbers [{unit}] or a function of X or of (X, t) returning one"
    if not callable(value):
        return _as_constant(value, name, wanted)
    names = arguments_of(value, name, wanted)
    if len(names) not in (1, 2) or names[0] in ("t", "time"):
        raise DescriptionError(f"{name} must be {wanted}; got a function of ({', '.join(names)}).")
    return value


def depends_on_time(signal: Signal) -> bool:
    """Return whether a field signal is a function of (X, t), as opposed to a function of X or a constant."""
    return callable(signal) and len(arguments_of(signal, "The signal", "a function of X or of (X, t)")) == 2


def sample(signal: Signal, times: ArrayLike, name: str) -> Array:
    """Return the values (nt, 3) of a time signal at the times (nt,) [s]; errors give the name and the time."""
    moments = as_points(times)
    if not callable(signal):
        values = np.empty((moments.size, 3))
        values[:] = signal
        return values
    rows = [signal(t) for t in moments.tolist()]
    found = all_finite(rows, (moments.size, 3))
    if found is not None:
        return found
    rows = [as_vector(row, 3, f"{name} at t = {t:g} s") for row, t in zip(rows, moments.tolist(), strict=True)]
    return np.array(rows).reshape(moments.size, 3)


def sample_along(signal: Signal, X: ArrayLike, times: ArrayLike, name: str) -> Array:
    """Return the values (nt, m, 3) of a field signal at the arc lengths X (m,) [m] and times (nt,) [s]."""
    points, moments = as_points(X), as_points(times)
    shape = (moments.size, points.size, 3)
    if not callable(signal):
        return np.tile(np.asarray(signal), (*shape[:2], 1))
    field = getattr(signal, "field", None)  # a signal that knows how to sample itself
    if field is not None:
        return np.asarray(field(points, moments))
    if depends_on_time(signal):
        places = [(x, t) for t in moments.tolist() for x in points.tolist()]
        rows = [signal(x, t) for x, t in places]
        values = all_finite(rows, (len(places), 3))
        if values is not None:
            return values.reshape(shape)
        names = (f"{name} at X = {x:g} m, t = {t:g} s" for x, t in places)
        return np.array([as_vector(row, 3, what) for row, what in zip(rows, names, strict=True)]).reshape(shape)
    rows = [as_vector(signal(x), 3, f"{name} at X = {x:g} m, at every t,") for x in points.tolist()]
    return np.tile(np.array(rows).reshape(points.size, 3), (moments.size, 1, 1))


def _as_constant(value: object, name: str, wanted: str) -> tuple[float, ...]:
    try:
        return tuple(as_vector(value, 3, name).tolist())
    except DescriptionError:
        raise refuse(name, wanted, value) from None


def arguments_of(function: Callable[..., object], name: str, wanted: str) -> list[str]:
    """Return the names of the arguments a function is called with.

    An optional argument counts only if it is called t or time, so that ``lambda X, k=k: ...`` is a function of X.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        if isinstance(function, type):
            raise refuse(name, wanted, function) from None
        raise DescriptionError(f"{name} must be {wanted}; the arguments of {show(function)} cannot be read.") from None
    names = []
    for p in signature.parameters.values():
        required = p.default is p.empty
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and (required or p.name in ("t", "time")):
            names.append(p.name)
        elif p.kind is p.KEYWORD_ONLY and required:
            raise DescriptionError(f"{name} must be {wanted}; got a function {signature}.")
    if not names:
        raise DescriptionError(f"{name} must be {wanted}; got a function {signature}.")
    return names
