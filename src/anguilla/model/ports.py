"""How the loads of a model depend on the inputs that `Robot.input` made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.ports import Along, Port, Spread
from anguilla.interact.kernels.table import GRAVITY, INPUT, MOTION, POSE, RATES, REST, TIME
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.model import Inputs, LoadTable, Model

__all__ = ["Glide", "PortMap", "Wiring", "map_at", "moving_ports", "only_ports", "port_map"]

TRIES = (1.7, 0.4, 0.9), (0.3, 1.1, 2.3)  # values at which inputs are tried out
LATER = 0.37  # [s] another instant to try them
SAME = 1e-12  # part of its size by which a number may differ


@dataclass(frozen=True)
class Glide:
    """An input that moves with a constant acceleration, for prescribed motions: they need its rate too.

    Attributes:
        t: instant [s] at which it has the value, rate and acceleration below.
        value, rate, acceleration: in its unit, per second, per second squared.

    """

    t: float
    value: float
    rate: float
    acceleration: float

    def __call__(self, t: float) -> float:
        """Value at time t [s]."""
        s = t - self.t
        return self.value + s * (self.rate + 0.5 * s * self.acceleration)

    def jets(self, times: Floats) -> Floats:
        """Values, rates and accelerations (nt, 3) at times (nt,) [s]."""
        s = times - self.t
        rate = self.rate + s * self.acceleration
        value = self.value + s * (self.rate + 0.5 * s * self.acceleration)
        return np.stack([value, rate, np.full_like(s, self.acceleration)], axis=1)


class PortMap(NamedTuple):
    """How the row of the loads depends on the inputs at one instant, if linearly."""

    columns: Ints  # (w,) places of the row that depend on some input, or on time
    rest: Floats  # (w,) what they are when all inputs are zero
    slope: Floats  # (3, inputs, w) how they change with the inputs, their rates and their accelerations
    linear: bool  # whether they do so linearly
    steady: bool  # whether this is the same at all times

    def rows(self, inputs: Floats, rates: Floats | None = None, accelerations: Floats | None = None) -> Floats:
        """What stands in the columns (..., w) under inputs (..., k), their rates and accelerations."""
        found = self.rest + inputs @ self.slope[0]
        if rates is not None:
            found = found + rates @ self.slope[1]
        return found if accelerations is None else found + accelerations @ self.slope[2]


def _row(model: Model, t: float, inputs: Mapping[str, float]) -> Floats:
    row = model.loads(t, inputs).loads.row.copy()
    row[TIME] = 0.0
    return row


def _at_zero(model: Model) -> dict[str, float]:
    """All inputs zero; of tendons that are driven by their length, which needs one, too."""
    return dict.fromkeys(model.robot.inputs, 0.0)


def map_at(model: Model, t: float, whole: bool = False) -> PortMap:
    """The map at one instant [s], taken to be linear; of the whole row if that is asked for."""
    zero = _at_zero(model)
    rest = _row(model, t, zero)
    slope = np.zeros((3, len(zero), len(rest)))
    first, ports = int(model.blank.at[INPUT]), model.robot.ports
    for k, name in enumerate(zero):
        if name in ports:
            slope[0, k] = _row(model, t, zero | {name: 1.0}) - rest
        else:
            slope[0, k, first + k] = 1.0
    low = int(model.blank.at[MOTION])
    for place in range(low, low + 3 * len(model.blank.driven), 3):  # a motion, its rate, its acceleration
        for order in (1, 2):
            slope[order, :, place + order] = slope[0, :, place]
    columns = np.arange(REST, len(rest)) if whole else np.flatnonzero(np.any(slope != 0.0, axis=(0, 1)))
    if whole or callable(model.robot.gravity):
        columns = np.union1d(columns, np.arange(GRAVITY, GRAVITY + 3))
    return PortMap(columns, rest[columns], np.ascontiguousarray(slope[:, :, columns]), True, False)


def port_map(model: Model) -> PortMap:
    """The map at t = 0, with what was found out by trying: whether it is linear, and the same at all times."""
    names, ports = list(model.robot.inputs), model.robot.ports
    found, zero = map_at(model, 0.0), _at_zero(model)
    later = map_at(model, LATER)
    steady = all(np.array_equal(a, b) for a, b in zip(found[:3], later[:3], strict=True))
    linear = True
    for t, here in ((0.0, found), (LATER, later)) if ports else ():
        for values in TRIES:
            some = {name: values[k % len(values)] for k, name in enumerate(names) if name in ports}
            row = _row(model, t, zero | some)[here.columns]
            expected = here.rows(np.array([some.get(name, 0.0) for name in names]))
            linear &= bool(np.all(np.abs(row - expected) <= SAME * (1.0 + np.abs(expected) + np.abs(here.rest))))
    return found._replace(linear=linear, steady=steady)


class Wiring:
    """Loads of a model under inputs that are numbers, where these enter linearly.

    Args:
        model: the model, at whose present desk it computes.

    """

    def __init__(self, model: Model) -> None:
        self._model, self._map = model, model.once(port_map)
        self._names, self.at = list(model.robot.inputs), 0.0
        self._row = model.loads(0.0, _at_zero(model)).loads.row.copy()
        self._nothing = np.zeros(0, np.int64)

    @staticmethod
    def serves(model: Model) -> bool:
        """Whether loads are so, and do not depend on time otherwise."""
        if model.user or not model.once(only_ports):
            return False
        found = model.once(port_map)
        return found.linear and found.steady

    def table(self, inputs: Inputs, times: ArrayLike) -> LoadTable:
        """The loads, which are the same at all times."""
        given: list[Any] = [inputs.get(name, 0.0) for name in self._names]
        at = np.atleast_1d(np.asarray(times, dtype=np.float64))
        row = self._row.copy()
        if any(callable(value) for value in given):
            jets = np.array([v.jets(at[:1])[0] if callable(v) else (v, 0.0, 0.0) for v in given]).reshape(-1, 3)
            row[self._map.columns] = self._map.rows(*jets.T)
        else:
            row[self._map.columns] = self._map.rows(np.array(given, dtype=np.float64))
        row[TIME] = at[0]
        loads = self._model.desk().loads._replace(row=row)
        return LoadTable(loads, self._nothing, np.zeros((len(at), 0)), at, self._model)


def only_ports(model: Model) -> bool:
    """Whether nothing depends on time but through inputs: every function of time is an input itself."""
    if model.is_steady({}):
        return True
    robot = model.robot
    found: list[Any] = [robot.gravity, *(closure.pose for closure in robot.closures.values())]
    found += [field for part in robot.parts for field in (part.joint.effort, part.joint.motion)]
    for thing in (*robot.loads, *robot.constraints):
        found += vars(thing).values()
    while found:
        one = found.pop()
        if isinstance(one, tuple | list):
            found += one
        elif callable(one) and not isinstance(one, Port | Along | Spread):
            return False
    return not model.shapes


def moving_ports(model: Model) -> list[str]:
    """Inputs on which prescribed motions depend: of joints, shapes, poses and rates."""
    ports = list(model.robot.ports)
    if not ports:
        return []
    zero, found = _at_zero(model), []
    ends = [*model.blank.at.tolist(), len(model.blank.row)]
    spans = [(ends[k], ends[k + 1]) for k in (MOTION, POSE, RATES)]
    rest = _row(model, LATER, zero)
    for name in ports:
        change = np.flatnonzero(_row(model, LATER, zero | {name: 1.0}) != rest)
        if any(low <= place < high for place in change.tolist() for low, high in spans):
            found.append(name)
    return found
