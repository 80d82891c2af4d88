"""What is kept of a computation: named arrays with dimensions and units, and facts about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.errors import DescriptionError

__all__ = ["Record", "Variable"]


@dataclass(frozen=True)
class Variable:
    """An array with its dimensions.

    Attributes:
        dimensions: names of its axes.
        values: the array; numbers or texts.
        unit: unit, "" for none.
        title: what it is.

    """

    dimensions: tuple[str, ...]
    values: NDArray[Any]
    unit: str = ""
    title: str = ""

    @property
    def is_text(self) -> bool:
        """Whether it holds texts."""
        return self.values.dtype.kind in "OUS"


@dataclass
class Record:
    """Variables by name and facts by name; dimensions of one name have one size.

    Attributes:
        variables: the variables. A variable with the name of a dimension labels it.
        facts: texts and numbers about the whole.

    """

    variables: dict[str, Variable] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, dimensions: tuple[str, ...], values: Any, unit: str = "", title: str = "") -> None:
        """Add a variable; its axes must agree with those already there."""
        array = np.asarray(values)
        if array.ndim != len(dimensions):
            raise DescriptionError(
                f"{name} must have the dimensions {dimensions}; got an array of shape {array.shape}."
            )
        for axis, size in zip(dimensions, array.shape, strict=True):
            if self.sizes.get(axis, size) != size:
                raise DescriptionError(f"{name} must have {self.sizes[axis]} entries along {axis!r}; got {size}.")
        self.variables[name] = Variable(dimensions, array, unit, title)

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the dimensions."""
        return {
            axis: size
            for variable in self.variables.values()
            for axis, size in zip(variable.dimensions, variable.values.shape, strict=True)
        }

    def floats(self, name: str, dimensions: int) -> NDArray[np.float64]:
        """Return the numbers of a variable with so many axes; raise a DescriptionError if one is not finite."""
        values = self[name]
        if values.dtype.kind not in "biuf" or values.ndim != dimensions:
            raise DescriptionError(f"its variable {name!r} must hold numbers with {dimensions} axes.")
        wrong = np.argwhere(~np.isfinite(values))
        if len(wrong):
            place = ", ".join(str(k) for k in wrong[0])
            raise DescriptionError(f"its variable {name!r} holds {values[tuple(wrong[0])]} at [{place}].")
        return np.ascontiguousarray(values, dtype=np.float64)

    def times(self) -> NDArray[np.float64]:
        """Return the times [s], which must increase."""
        t = self.floats("time", 1)
        if not len(t) or np.any(np.diff(t) <= 0.0):
            raise DescriptionError("its times must increase.")
        return t

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.variables[name].values

    def __contains__(self, name: str) -> bool:
        return name in self.variables
