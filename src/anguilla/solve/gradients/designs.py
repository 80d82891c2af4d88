"""Parameters of a design, and how what depends on the robot changes with them: differences between compiled twins.

A design is (make, p), a function of parameters that returns a robot, or a list of paths such as "arm.material.young" into the
description of the robot itself. Twins of a robot with slightly other parameters are compiled once for all states that ask.
Those with other materials, sections or lengths of rods, or other lines of tendons, are not compiled at all (patching.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe import Robot
from anguilla.describe.alike import Differences, at_path
from anguilla.describe.paths import changed, number_at
from anguilla.errors import DescriptionError, as_array
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.solve.gradients.patching import patched

__all__ = [
    "STEP",
    "Design",
    "Make",
    "Twins",
    "around",
    "as_design",
    "design_slopes",
    "moves",
    "twins",
    "with_same_rows",
]

STEP = 2e-5  # relative, of a difference in a parameter; of second order
LONG_STEP = 5e-4  # the same, of fourth order
SHORT_STEP = 1e-6  # the same where bristles hold or slip: few change from one to the other within it
FROM_ZERO = 1e-6  # step from a parameter that is zero, in its own unit
# places of a difference in steps, with their weights: around the value, or to one side where a description allows no other
SCHEMES = (
    ((-1.0, -0.5), (1.0, 0.5)),
    ((0.0, -1.5), (1.0, 2.0), (2.0, -0.5)),
    ((0.0, 1.5), (-1.0, -2.0), (-2.0, 0.5)),
)
PLACES = ("fixed", "length", "prescribed", "basis")  # tables of a tree that say where things are

T = TypeVar("T")
N = TypeVar("N", float, Floats)
Make = Callable[[Floats], Robot]
Design = tuple[Make, ArrayLike] | Sequence[str]


def as_design(design: Design, robot: Robot) -> tuple[Make, Floats, list[str]]:
    """(make, p, names) of a design: a function that makes the robot, the parameters (k,), and what they are called."""
    if isinstance(design, tuple) and len(design) == 2 and callable(design[0]):
        p = np.atleast_1d(as_array(design[1], "design parameters", "finite numbers")).astype(np.float64)
        return design[0], p, [f"design[{k}]" for k in range(len(p))]
    if not isinstance(design, (list, tuple)) or not design or not all(isinstance(path, str) for path in design):
        raise DescriptionError(
            "design must be (make, p), a function of parameters that returns a robot and their values, or paths such as "
            '["arm.material.young", "arm.length"].'
        )
    paths = [str(path) for path in design]
    values = np.array([number_at(robot, path) for path in paths])

    def made(p: Floats) -> Robot:
        """The robot with those numbers that are others: two paths may lead to one number, and each changes it."""
        return changed(robot, {path: x for path, x, now in zip(paths, p, values, strict=True) if x != now})

    return made, values, paths


@dataclass
class Twins:
    """A model and its twins with slightly other parameters.

    Attributes:
        model: the model itself.
        names: (k,) of the parameters.
        around: of each parameter, models with the weights that make a derivative of what they give.
        placed: of each parameter, whether it moves something by itself, in the same state.

    """

    model: Model
    names: list[str]
    around: list[list[tuple[float, Model]]] = field(default_factory=list)
    placed: list[bool] = field(default_factory=list)

    design: Design = ()

    def whole(self) -> Twins:
        """The same, each twin with a description of its own."""
        return twins(self.model, self.design, whole=True)

    def slope(self, k: int, of: Callable[[Model], N]) -> N:
        """Derivative by parameter k of what a function finds in a model."""
        terms: Any = (weight * of(model) for weight, model in self.around[k])
        total: N = sum(terms)
        return total


def twins(model: Model, design: Design, *, whole: bool = False, steps: Floats | None = None) -> Twins:
    """Compile the twins of a model; with `whole`, each with a description of its own. Those of paths are kept beside it.

    steps: (k,) of the differences, where a function makes the robot; a part of each parameter if they are not given.
    """
    if isinstance(design, tuple) and len(design) == 2 and callable(design[0]):
        return _twins(model, design, whole, steps)
    key = tuple(design) if isinstance(design, (list, tuple)) else design, whole
    kept = model.once(_kept)
    found = kept.get(key)
    if found is None:
        found = _twins(model, design, whole)
        kept.clear()
        kept[key] = found
    return found


def _kept(model: Model) -> dict[object, Twins]:
    """The last twins of a model, by their paths: its description never changes."""
    return {}


def _twins(model: Model, design: Design, whole: bool, steps: Floats | None = None) -> Twins:
    robot = model.robot
    make, p, names = as_design(design, robot)
    found = Twins(model, names, design=design)
    by_path = not (isinstance(design, tuple) and callable(design[0]))
    for k, value in enumerate(p):
        h = (STEP * abs(value) or FROM_ZERO) if steps is None else float(steps[k])
        other = at_path(robot, names[k]) if by_path and not whole else None

        def at(place: float, k: int = k, h: float = h, other: Differences | None = other) -> Model:
            new = p.copy()
            new[k] += place * h
            if not place:
                return model
            twin = make(new)
            quick = None if whole else patched(model, twin, other)
            return with_same_rows(Model(twin), model) if quick is None else quick

        found_around = around(at, h)
        found.around.append(found_around)
        found.placed.append(any(moves(model, other) for _, other in found_around))
    return found


def around(at: Callable[[float], T], h: float) -> list[tuple[float, T]]:
    """What `at` finds some steps from a value, with the weights of a difference; to one side where the other is refused."""
    for scheme in SCHEMES:
        try:
            return [(weight / h, at(steps)) for steps, weight in scheme]
        except DescriptionError:
            if scheme is SCHEMES[-1]:
                raise
    raise AssertionError


def moves(model: Model, other: Model) -> bool:
    """Whether places differ between two models in the same state."""
    if model.tree is other.tree:
        return False
    tables = [(getattr(model.tree, name), getattr(other.tree, name)) for name in PLACES]
    return not all(a is b or np.array_equal(a, b) for a, b in tables)


def design_slopes(
    design: tuple[Make, Floats], function: Callable[[Robot], float | Floats], *, short: bool = False
) -> list:
    """Derivative of a function of the robot with respect to each parameter, by fourth-order differences.

    With `short`, over short steps: for functions with kinks.
    """
    make, p = design
    slopes = []
    for k in range(len(p)):
        h = (SHORT_STEP if short else LONG_STEP) * abs(p[k]) or FROM_ZERO
        values = []
        for step in (-2, -1, 1, 2):
            other = p.copy()
            other[k] += step * h
            values.append(function(make(other)))
        slopes.append((values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * h))
    return slopes


def with_same_rows(system: Model, other: Model) -> Model:
    """A system of a changed design, with the same rows left out as in the other one."""
    if system.size != other.size:
        raise DescriptionError("design: the number of coordinates must not depend on the parameters.")
    return system if other.left_out is None else system.without(other.left_out[1])
