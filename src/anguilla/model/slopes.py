"""How loads, and with them the balance, change with the inputs that `Robot.input` made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from anguilla.describe.differences import jets
from anguilla.errors import DescriptionError
from anguilla.interact.kernels.table import FRAME, KIND, MOTION, POSE, RATES, THRUSTER, Loads
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Inputs, Model
from anguilla.model.ports import port_map

__all__ = ["InputSlope", "WhyNot", "balance_slope", "input_slopes", "named"]

FOURTH = ((-2, 1.0 / 12.0), (-1, -8.0 / 12.0), (1, 8.0 / 12.0), (2, -1.0 / 12.0))
STEP = 1e-3  # of an input, over its size, where something is not linear in it
SAME = 1e-10  # part of its size by which a number may differ
MANY = 1e8  # of a force, in which the balance is linear: so much that subtracting the rest costs no digits


class WhyNot(dict[str, Any]):
    """Derivatives by input; one that there is not says why when it is asked for.

    Attributes:
        reasons: a sentence for each of those, by input.

    """

    def __init__(self, found: Mapping[str, Any], reasons: Mapping[str, str]) -> None:
        super().__init__(found)
        self.reasons = dict(reasons)

    def __missing__(self, name: str) -> Any:
        raise DescriptionError(
            self.reasons.get(name, f"there is no input {name!r}; there are: {', '.join(self) or 'none'}.")
        )


@dataclass(frozen=True)
class InputSlope:
    """How the row of the loads changes with one input, instant by instant.

    Attributes:
        name: the input.
        rows: (nt, row) derivative of the row at each instant with respect to the input then.
        moves: (nt, driven) of prescribed motions; they change with its rate and acceleration alike.
        first_asked: place in the row from which on there is no plain force.
        reason: why the balance cannot be differentiated by it, or an empty text.

    """

    name: str
    rows: Floats
    moves: Floats
    first_asked: int
    reason: str = ""

    @property
    def asked(self) -> bool:
        """Whether loads that are more than a force ask for the input: fields, flows, targets of thrusters."""
        return bool(np.any(self.rows[:, self.first_asked :]))

    def only_asked(self, k: int) -> Floats:
        """The change (row,) at an instant of what those loads ask for."""
        row = self.rows[k].copy()
        row[: self.first_asked] = 0.0
        return row

    @property
    def imposes(self) -> bool:
        """Whether motions follow the input."""
        return bool(np.any(self.moves))


@dataclass(frozen=True)
class _Shifted:
    """An input with a constant added."""

    value: Any
    by: float

    def __call__(self, t: float) -> float:
        return float(self.value(t) if callable(self.value) else self.value) + self.by

    def jets(self, times: Floats) -> Floats:
        if not callable(self.value):
            return np.tile([float(self.value) + self.by, 0.0, 0.0], (len(times), 1))
        known = getattr(self.value, "jets", None)
        found = (
            jets(lambda at: np.array([self.value(t) for t in at.tolist()]), times) if known is None else known(times)
        )
        return np.asarray(found) + np.array([self.by, 0.0, 0.0])


def _rows(model: Model, times: Floats, inputs: Inputs) -> Floats:
    """The whole row of the loads (nt, row) at all times."""
    table = model.loads(times, inputs)
    rows = np.tile(table.loads.row, (len(times), 1))
    rows[:, table.column] = table.table
    return rows


def input_slopes(model: Model, times: Floats, inputs: Inputs) -> list[InputSlope]:
    """Slopes of all inputs that `Robot.input` made, in their order, at times (nt,) [s] under these inputs."""
    ports = model.robot.ports
    if not ports:
        return []
    times, linear = np.atleast_1d(np.asarray(times, dtype=np.float64)), model.once(port_map).linear
    return [_slope(model, times, inputs, name, linear) for name in ports]


def _slope(model: Model, times: Floats, inputs: Inputs, name: str, linear: bool) -> InputSlope:
    value = inputs.get(name, 0.0)
    size = max(1.0, float(np.max(np.abs([value(t) for t in times.tolist()] if callable(value) else value))))
    steps, h = (((-1, -0.5), (1, 0.5)), 1.0) if linear else (FOURTH, STEP * size)

    def at(by: float) -> Floats:
        return _rows(model, times, {**inputs, name: _Shifted(value, by)})

    rows = np.sum([weight / h * at(step * h) for step, weight in steps], axis=0)
    ends = [*model.blank.at.tolist(), len(model.blank.row)]
    first = int(model.blank.at[MOTION])
    driven = slice(first, first + 3 * len(model.blank.driven))
    moves = rows[:, driven][:, ::3].copy()
    curved = np.any(moves) and not linear and not _straight(*(at(by * size)[:, driven] for by in (-1.0, 0.0, 1.0)))
    rows[:, driven] = 0.0
    reason = ""
    if any(np.any(rows[:, ends[k] : ends[k + 1]]) for k in (POSE, RATES)):
        reason = f"the input {name!r} moves a constraint: it counts as held, there is no derivative by it."
    elif curved:
        reason = (
            f"the input {name!r} moves a joint or a shape in a way that is not linear: there is no derivative by it."
        )
    elif np.any(rows[:, ends[FRAME] :]) and _remembers(model):
        reason = f"the input {name!r} is a target of thrusters with an integral gain: there is no derivative by it."
    return InputSlope(name, rows, moves, ends[FRAME], reason)


def _straight(low: Floats, middle: Floats, high: Floats) -> bool:
    """Whether three values lie on a straight line."""
    size = np.abs(low) + np.abs(middle) + np.abs(high)
    return bool(np.all(np.abs(low - 2.0 * middle + high) <= SAME * (1.0 + size)))


def _remembers(model: Model) -> bool:
    """Whether some thruster has an integral gain."""
    frames = model.blank.frames
    return bool(np.any(frames.data[frames.table[:, KIND] == THRUSTER, 6:12]))


def balance_slope(model: Model, loads: Loads, change: Floats, state: tuple[Floats, ...], size: float = 1.0) -> Floats:
    """d(R, phi) (n + m,) when the row of the loads changes by `change` (row,) per unit, in a state (q, v, a, lambda).

    The balance is linear in gravity, wrenches, efforts and stresses; in what other loads ask for it need not be.
    """
    first = int(loads.at[FRAME])
    forces, asked = change.copy(), change.copy()
    forces[first:], asked[:first] = 0.0, 0.0
    out = np.zeros(model.size + model.rows)

    def at(row: Floats) -> Floats:
        return Evaluation(model, loads._replace(row=loads.row + row), *state).values

    if np.any(forces):
        many = MANY / float(np.max(np.abs(forces)))
        out += (at(many * forces) - at(0.0 * forces)) / many
    if np.any(asked):
        h = STEP * max(size, 1.0)
        out += np.sum([weight / h * at(step * h * asked) for step, weight in FOURTH], axis=0)
    return out


def named(slopes: list[InputSlope]) -> dict[str, str]:
    """Why inputs that prescribe motions, or cannot be differentiated by, have no column of forces; by name."""
    return {
        slope.name: slope.reason
        or f"the input {slope.name!r} prescribes a motion: it acts by its rate and acceleration too, not by its value alone."
        for slope in slopes
        if slope.reason or slope.imposes
    }
