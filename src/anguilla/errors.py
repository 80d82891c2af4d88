"""Errors, warnings, and the checks which user input passes at the door.

Every check returns the clean value or raises a :class:`DescriptionError` of one sentence: the field, what would be
right, what was given.
"""

from __future__ import annotations

import inspect
import math
import numbers
import os
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A pose typed with fewer digits than this is refused; a smaller error is removed by projection on the rotations.
POSE_TOLERANCE = 1e-6
FLOAT = np.dtype(np.float64)


class AnguillaError(Exception):
    """Base class of every error raised on purpose by the library."""


class DescriptionError(AnguillaError, ValueError):
    """A robot, one of its parts, or an argument is described in a way that makes no sense."""


class ArgumentError(DescriptionError, TypeError):
    """A function was called with arguments it does not have, or without some that it needs."""


class SolverError(AnguillaError, RuntimeError):
    """A solver stopped before reaching its goal.

    Attributes:
        result: what was reached before stopping (the result object of the solver), or None.
        advice: one sentence on what to try next; may be empty.

    """

    def __init__(self, message: str, result: Any = None, advice: str = "") -> None:
        super().__init__(f"{message} {advice}".strip())
        self.result = result
        self.advice = advice


class MissingPackageError(AnguillaError, ImportError):
    """What was asked for needs a package or a program that is not installed."""


def require(module: str, what: str, extra: str, package: str = "") -> ModuleType:
    """Import a package that not everybody needs, or say how to install it.

    Args:
        module: what is imported.
        what: who needs it, with the verb: "figures need".
        extra: the extra of this package that brings it.
        package: its name for pip, if it is another.

    """
    try:
        return import_module(module)
    except ImportError:
        raise missing(what, package or module, extra) from None


def missing(what: str, package: str, extra: str, otherwise: str = "") -> MissingPackageError:
    """Return (not raise) the error that names a missing package, how to get it, and what else would do."""
    hint = f"{what} {package}: pip install {package}, or pip install '.[{extra}]' in the folder of the sources"
    return MissingPackageError(f"{hint}; {otherwise}." if otherwise else f"{hint}.")


class AnguillaWarning(UserWarning):
    """Input that is valid but looks like a mistake, usually one of units."""


def warn(message: str) -> None:
    """Give an AnguillaWarning that names the line of the user who called, through however many doors."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("anguilla."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, AnguillaWarning, stacklevel=level)


def show(value: object) -> str:
    """Return a short one-line text of a value, for an error message."""
    if isinstance(value, type) and value.__module__.startswith("anguilla."):
        return f"the class {value.__name__} itself: write {value.__name__}(...)"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and value.size > 6:
        return f"an array of shape {value.shape}"
    text = " ".join((repr(value.tolist()) if isinstance(value, np.ndarray) else repr(value)).split())
    return text if len(text) <= 80 else text[:77] + "..."


def refuse(name: str, wanted: str, value: object) -> DescriptionError:
    """Return (not raise) the error "<name> must be <wanted>; got <value>."."""
    return DescriptionError(f"{name} must be {wanted}; got {show(value)}.")


def _with_unit(wanted: str, unit: str) -> str:
    return f"{wanted} [{unit}]" if unit else wanted


def _real(value: object) -> float | None:
    """Return a finite float, or None if the value is not one (a bool, a string or a complex number is not)."""
    if type(value) is float:  # the usual case, quickly
        return value if math.isfinite(value) else None
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer beyond all floats
        return None
    return number if math.isfinite(number) else None


def as_number(value: object, name: str, unit: str = "") -> float:
    """Return a finite float, or raise an error naming the field and its unit."""
    number = _real(value)
    if number is None:
        raise refuse(name, _with_unit("a finite number", unit), value)
    return number


def as_positive(value: object, name: str, unit: str = "") -> float:
    """Return a float > 0, or raise an error naming the field and its unit."""
    number = _real(value)
    if number is None or number <= 0.0:
        raise refuse(name, _with_unit("a positive number", unit), value)
    return number


def as_nonnegative(value: object, name: str, unit: str = "") -> float:
    """Return a float >= 0, or raise an error naming the field and its unit."""
    number = _real(value)
    if number is None or number < 0.0:
        raise refuse(name, f"a number, zero or positive{f', [{unit}]' if unit else ''}", value)
    return number


def as_range(value: object, name: str, example: str = "(0.0, 20.0)") -> tuple[float, float]:
    """Return a pair (least, most) of floats, which may be infinite, or raise an error naming the field."""
    try:
        low, high = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        low = high = np.nan
    if not np.ndim(low) == 0 == np.ndim(high) or not low <= high:
        raise refuse(name, f"a pair (least, most), such as {example}", value)
    return float(low), float(high)


def as_count(value: object, name: str, minimum: int = 1, maximum: int | None = None) -> int:
    """Return an integer >= minimum and <= maximum, or raise an error naming the field."""
    if type(value) is int:  # the usual case, quickly
        number = value
    elif isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)):
        number = int(value)
    else:
        number = minimum - 1
    if number < minimum:
        raise refuse(name, f"an integer of at least {minimum}", value)
    if maximum is not None and number > maximum:
        raise refuse(name, f"an integer of at most {maximum}", value)
    return number


def as_steps(duration: object, dt: object, every: object = 1) -> int:
    """Return the number of steps dt [s] in a duration [s], a whole one that `every` divides."""
    duration, dt, every = as_positive(duration, "duration", "s"), as_positive(dt, "dt", "s"), as_count(every, "every")
    steps = round(duration / dt)
    if steps < 1 or abs(steps * dt - duration) > 1e-6 * duration:
        count = max(steps, 1)
        raise DescriptionError(
            f"duration must be a whole number of steps; {duration:g} s / {dt:g} s = {duration / dt:g}. "
            f"Give dt={duration:g}/{count}, or duration={count * dt:g}."
        )
    if steps % every:
        raise DescriptionError(f"every must divide the number of steps, {steps}; got {every}.")
    return steps


def as_flag(value: object, name: str) -> bool:
    """Return a bool, or raise an error naming the field."""
    if not isinstance(value, (bool, np.bool_)):
        raise refuse(name, "True or False", value)
    return bool(value)


def as_named(value: Any, name: str = "inputs") -> Mapping[str, Any]:
    """Return a dictionary by names, an empty one for None, or raise an error naming the field."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise refuse(name, "a dictionary by names, such as {'pull': 2.0}", value)
    return value


def as_path(value: Any, name: str = "path") -> Path:
    """Return a path, or raise an error naming the field."""
    if not isinstance(value, (str, os.PathLike)):
        raise refuse(name, "the name of a file, a text or a Path", value)
    return Path(value)


def as_array(value: object, name: str, wanted: str) -> NDArray[np.float64]:
    """Return a new finite float64 array of any shape, or raise an error saying what was wanted."""
    if type(value) is np.ndarray and value.dtype is FLOAT and value.ndim == 1 and _is_finite(value):
        return value.copy()  # the usual case, quickly
    try:
        raw = np.asarray(value)
    except ValueError:
        raise refuse(name, wanted, value) from None
    if raw.dtype.kind not in "iuf" or not _is_finite(raw):
        raise refuse(name, wanted, value)
    return np.array(raw, dtype=np.float64)


def _is_finite(numbers: NDArray[Any]) -> bool:
    """Whether all are finite; the sum of their squares, if that is, says so in a third of the time."""
    return math.isfinite(np.vdot(numbers, numbers)) or bool(np.isfinite(numbers).all())


def all_finite(rows: object, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
    """Return many values at once as a new float64 array, or None if one is wrong: look for it with the checks of one value.

    A tenth of the time of checking each, which counts for functions that are sampled at every step.
    """
    try:
        raw = np.asarray(rows)
    except ValueError:
        return None
    if raw.shape != shape or raw.dtype.kind not in "iuf" or not np.isfinite(raw).all():
        return None
    return np.array(raw, dtype=np.float64)


def as_vector(value: object, n: int, name: str, unit: str = "") -> NDArray[np.float64]:
    """Return a new float64 array of shape (n,), or raise an error naming the field and its unit."""
    wanted = _with_unit(f"a vector of {n} finite numbers", unit)
    vector = as_array(value, name, wanted)
    if vector.shape != (n,):
        raise refuse(name, wanted, value)
    return vector


def _in_a_row(value: object) -> int:
    """How many numbers a list holds that has no lists in it."""
    row = value.tolist() if isinstance(value, np.ndarray) else value
    return len(row) if isinstance(row, list | tuple) and all(isinstance(x, numbers.Real) for x in row) else 0


def as_pose(value: object, name: str) -> NDArray[np.float64]:
    """Return a new 4x4 homogeneous matrix whose upper-left block is a rotation to machine precision.

    A position (3,) [m] is a pose with the same axes. Rotation errors up to 1e-6 (a pose read from a text file) are removed by
    projection; larger ones are refused.
    """
    wanted = "a 4x4 homogeneous matrix or a position of 3 finite numbers [m]"
    if hasattr(value, "as_matrix") or getattr(value, "shape", ()) == (3, 3):  # a rotation, of SciPy or as an array
        wanted += "; put a rotation into one: pose = np.eye(4), pose[:3, :3] = R, or anguilla.lie.pose(R, position)"
    elif isinstance(value, str | Mapping) or _in_a_row(value) in (4, 6, 7):  # words, angles, a quaternion
        wanted += "; anguilla.lie.pose(anguilla.lie.rotation((0, 1, 0), angle), position) makes one"
    pose = as_array(value, name, wanted)
    if pose.shape == (3,):
        place = np.eye(4)
        place[:3, 3] = pose
        return place
    if pose.shape != (4, 4):
        raise refuse(name, wanted, value)
    if np.max(np.abs(pose[3] - [0.0, 0.0, 0.0, 1.0])) > POSE_TOLERANCE:
        raise refuse(f"The last row of {name}", "(0, 0, 0, 1)", pose[3])
    block = pose[:3, :3]
    error = float(np.max(np.abs(block.T @ block - np.eye(3))))
    if error > POSE_TOLERANCE:
        raise DescriptionError(
            f"The upper-left 3x3 block of {name} must be a rotation, with R^T R = I to {POSE_TOLERANCE:g}; "
            f"got an error of {error:.2g}."
        )
    if np.linalg.det(block) < 0.0:
        raise DescriptionError(
            f"The upper-left 3x3 block of {name} must be a rotation, with determinant +1; got a reflection (-1)."
        )
    if error > 1e-14:
        u, _, vt = np.linalg.svd(block)
        pose[:3, :3] = u @ vt
    pose[3] = (0.0, 0.0, 0.0, 1.0)
    return pose
