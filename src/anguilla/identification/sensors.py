"""What an experiment would measure, and how that depends on states, on parameters, and on unknown offsets and poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anguilla.describe import Frame
from anguilla.errors import DescriptionError
from anguilla.identification.measurements import Marker, Measurements, frame_named
from anguilla.identification.trial import Changes, RowStates
from anguilla.lie import dexp3, dexp3_inv, exp3, log3
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.results.kinematics import body_jacobian, motion_of
from anguilla.results.lines import cable_length
from anguilla.results.observe import S_X

__all__ = ["Nuisances", "Reading", "read_sensors"]


@dataclass
class Nuisances:
    """Unknown offsets of markers and poses of the world, of all groups: numbers that measurements depend on directly.

    Attributes:
        names: of all of them.
        prior: (u,) their standard deviations before anything was measured; infinite if nothing was known.
        values: (u,) [m, rad].

    """

    names: list[str] = field(default_factory=list)
    prior: Floats = field(default_factory=lambda: np.zeros(0))
    values: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, experiments: Sequence[Measurements]) -> Nuisances:
        """Those of some experiments."""
        found: dict[str, float] = {}
        for data in experiments:
            for name, axes in _unknown(data).items():
                found |= {f"{name}.{axis}": sigma for axis, sigma in axes.items()}
        return cls(list(found), np.array(list(found.values())), np.zeros(len(found)))

    def take(self, name: str) -> tuple[Floats, list[tuple[int, int]]]:
        """Three numbers of a thing, zero where they are known; (axis, place among all) of the unknown ones."""
        found, places = np.zeros(3), []
        for axis, letter in enumerate("xyz"):
            if (full := f"{name}.{letter}") in self._at:
                place = self._at[full]
                found[axis] = self.values[place]
                places.append((axis, place))
        return found, places

    @property
    def _at(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}


def _unknown(data: Measurements) -> dict[str, dict[str, float]]:
    """Things with unknown numbers, and their axes with standard deviations."""
    of = f" of {data.group}" if data.group else ""
    found: dict[str, dict[str, float]] = {}
    for name in data.positions:
        marker = data.markers[name]
        assert isinstance(marker, Marker)
        if marker.free:
            found[f"offset of {name}{of}"] = {a: np.inf if marker.sigma is None else marker.sigma for a in marker.free}
    if data.base:
        found[f"place of the base{of}"] = dict.fromkeys("xyz", np.inf)
    if data.base == "pose":
        found[f"turn of the base{of}"] = dict.fromkeys("xyz", np.inf)
    return found


@dataclass
class Reading:
    """What would be measured, beside what was.

    Attributes:
        label: what it is: kind, name.
        value: (rows, w) predicted.
        miss: (rows, w) predicted minus measured, in its unit; NaN in a gap.
        sigma: (rows,) deviation of the measurement.
        by: (rows, w, k) derivative by the parameters.
        by_nuisance: (rows, w, u) by unknown offsets and poses.

    """

    label: tuple[str, str]
    value: Floats
    miss: Floats
    sigma: Floats
    by: Floats
    by_nuisance: Floats


def read_sensors(trial: Any, states: Any, changes: Any, nuisances: Nuisances) -> list[Reading]:
    """Everything that an experiment measures, predicted; with derivatives if the changes of states are given."""
    data = trial.data
    if not isinstance(states, RowStates):
        return _of_volume(trial, states, changes, nuisances)
    found = _positions(data, states, changes, nuisances)
    found += _turns(data, states, changes, nuisances)
    return found + _lines(data, states, changes, nuisances)


def _pose(data: Measurements, nuisances: Nuisances) -> tuple[Floats, Floats, list, list]:
    """Rotation and place of the world as it is seen, and the places of their unknowns."""
    of = f" of {data.group}" if data.group else ""
    shift, moved = nuisances.take(f"place of the base{of}")
    turn, turned = nuisances.take(f"turn of the base{of}")
    pose = np.asarray(data.pose)
    axes = [(dexp3(turn, side="right")[:, axis], place) for axis, place in turned]  # along which the world turns then
    return pose[:3, :3] @ exp3(turn), pose[:3, 3] + shift, moved, axes


def _placed(model: Model, frame: Frame | str, q: Floats) -> tuple[Floats, Floats]:
    """Rotation (rows, 3, 3) and position (rows, 3) of a frame."""
    zero = np.zeros_like(q)
    motion = motion_of(model, [frame_named(model.robot, frame)], q, zero, zero)[:, 0]
    return motion[:, :9].reshape(-1, 3, 3), motion[:, S_X : S_X + 3]


class _Seen:
    """Frames in states q (rows, n) of a model, each computed once however many markers sit on it."""

    def __init__(self, model: Model, q: Floats) -> None:
        self.model, self.q = model, q
        self._placed: dict[object, tuple[Floats, Floats]] = {}
        self._jacobian: dict[object, Floats] = {}

    def placed(self, frame: Frame | str) -> tuple[Floats, Floats]:
        """Rotation (rows, 3, 3) and position (rows, 3)."""
        key = frame if isinstance(frame, str) else id(frame)
        if key not in self._placed:
            self._placed[key] = _placed(self.model, frame, self.q)
        return self._placed[key]

    def jacobian(self, frame: Frame | str) -> Floats:
        """Jacobian (rows, 6, n) of its twist in its own axes."""
        key = frame if isinstance(frame, str) else id(frame)
        if key not in self._jacobian:
            self._jacobian[key] = body_jacobian(self.model, frame_named(self.model.robot, frame), self.q)
        return self._jacobian[key]


def _positions(data: Measurements, states: RowStates, changes: Changes | None, nuisances: Nuisances) -> list[Reading]:
    P, shift, moved, turned = _pose(data, nuisances)
    of, found = (f" of {data.group}" if data.group else ""), []
    seen = _Seen(states.model, states.q)
    for name, measured in data.positions.items():
        marker = data.markers[name]
        assert isinstance(marker, Marker)
        free, places = nuisances.take(f"offset of {name}{of}")
        offset = np.asarray(marker.offset) + free
        R, x = seen.placed(marker.frame)
        world = x + R @ offset
        value = world @ P.T + shift
        count, unknown = 0 if changes is None else changes.q.shape[2], len(nuisances.values)
        by, by_nuisance = np.zeros((*value.shape, count)), np.zeros((*value.shape, unknown))
        for axis, place in places:
            by_nuisance[:, :, place] = R[:, :, axis] @ P.T
        for axis, place in moved:
            by_nuisance[:, axis, place] = 1.0
        for axis, place in turned:
            by_nuisance[:, :, place] = np.cross(axis, world) @ P.T
        if changes is not None:
            change = seen.jacobian(marker.frame) @ changes.q
            by = P @ R @ (change[:, 3:] + np.cross(change[:, :3], offset[None, :, None], axis=1))
            for k, there in _moving(changes):

                def place_of(model: Model, at: Frame | str = marker.frame, arm: Floats = offset) -> Floats:
                    turn, origin = _placed(model, at, states.q)
                    return origin + turn @ arm

                by[:, :, k] += changes.twins.slope(there, place_of) @ P.T
        found.append(
            Reading(("positions", name), value, value - measured, data.deviation("positions", name), by, by_nuisance)
        )
    return found


def _of_volume(trial: Any, states: Any, changes: Any, nuisances: Nuisances) -> list[Reading]:
    """Positions that the effectors of a soft body show."""
    data = trial.data
    P, shift, moved, turned = _pose(data, nuisances)
    of, found = (f" of {data.group}" if data.group else ""), []
    for name, measured in data.positions.items():
        free, places = nuisances.take(f"offset of {name}{of}")
        axes, arm = states.turns[name], trial.arms(states, name, free)
        world = states.places[name] + arm
        value = world @ P.T + shift
        by_nuisance = np.zeros((*value.shape, len(nuisances.values)))
        for axis, place in places:
            by_nuisance[:, :, place] = axes[:, :, axis] @ P.T
        for axis, place in moved:
            by_nuisance[:, axis, place] = 1.0
        for axis, place in turned:
            by_nuisance[:, :, place] = np.cross(axis, world) @ P.T
        by = np.zeros((*value.shape, 0))
        if changes is not None:
            by = np.einsum(
                "ab,rbk->rak", P, changes[name].shift + np.cross(changes[name].turn, arm[:, :, None], axis=1)
            )
        sigma = data.deviation("positions", name)
        found.append(Reading(("positions", name), value, value - measured, sigma, by, by_nuisance))
    return found


def _moving(changes: Changes) -> list[tuple[int, int]]:
    """(parameter, number among the twins) of those that move something in the same state."""
    return [(k, j) for j, k in enumerate(changes.own) if changes.twins.placed[j]]


def _turns(data: Measurements, states: RowStates, changes: Changes | None, nuisances: Nuisances) -> list[Reading]:
    """Rotations: what is missed is the rotation vector from the predicted to the measured frame, reversed."""
    P, _, _, turned = _pose(data, nuisances)
    found = []
    for name, measured in data.turns.items():
        marker = data.markers[name]
        assert isinstance(marker, Marker)
        R, _ = _placed(states.model, marker.frame, states.q)
        seen, given = P @ R, np.asarray(measured).reshape(-1, 3, 3)
        there = np.isfinite(given).all(axis=(1, 2))
        miss = np.full((len(R), 3), np.nan)
        miss[there] = [-log3(a.T @ b) for a, b in zip(seen[there], given[there], strict=True)]
        count = 0 if changes is None else changes.q.shape[2]
        by, by_nuisance = np.zeros((len(R), 3, count)), np.zeros((len(R), 3, len(nuisances.values)))
        for axis, place in turned:
            by_nuisance[:, :, place] = axis @ R
        if changes is not None:
            jacobian = body_jacobian(states.model, frame_named(states.model.robot, marker.frame), states.q)
            by = np.einsum("rcn,rnk->rck", jacobian[:, :3], changes.q)
            for k, j in _moving(changes):

                def turn_of(model: Model, at: Frame | str = marker.frame) -> Floats:
                    return _placed(model, at, states.q)[0]

                rate = np.matmul(np.swapaxes(R, 1, 2), changes.twins.slope(j, turn_of))
                by[:, :, k] += np.stack([rate[:, 2, 1], rate[:, 0, 2], rate[:, 1, 0]], axis=1)
        far = np.tile(np.eye(3), (len(R), 1, 1))  # how the vector changes when the predicted frame turns
        far[there] = [dexp3_inv(-x) for x in miss[there]]
        found.append(Reading(("turns", name), miss, miss, data.deviation("turns", name), far @ by, far @ by_nuisance))
    return found


def _lines(data: Measurements, states: RowStates, changes: Changes | None, nuisances: Nuisances) -> list[Reading]:
    """Lengths of lines and tensions of those that are driven by their length."""
    found, unknown = [], len(nuisances.values)
    for name, measured in data.lengths.items():
        length, gradient = cable_length(states.model, name, states.q)
        by = np.zeros((len(length), 1, 0 if changes is None else changes.q.shape[2]))
        if changes is not None:
            by[:, 0] = np.einsum("rn,rnk->rk", gradient, changes.q)

            def length_of(model: Model, line: str = name) -> Floats:
                return cable_length(model, line, states.q)[0]

            for j, k in enumerate(changes.own):  # also a routing changes a length
                by[:, 0, k] += changes.twins.slope(j, length_of)
        value = length[:, None]
        none = np.zeros((len(length), 1, unknown))
        found.append(Reading(("lengths", name), value, value - measured, data.deviation("lengths", name), by, none))
    for name, measured in data.tensions.items():
        actuators = list(states.model.robot.actuators)
        row = int(states.model.blank.constraints.input_row[actuators.index(name)]) if name in actuators else -1
        if row < 0:
            raise DescriptionError(
                f"Measurements.tensions of {name!r}: there must be a tendon of that name driven by its length; the tension "
                "of others is their input."
            )
        value = states.lam[:, row : row + 1]
        by = np.zeros((len(value), 1, 0)) if changes is None else changes.lam[:, row : row + 1]
        none = np.zeros((len(value), 1, unknown))
        found.append(Reading(("tensions", name), value, value - measured, data.deviation("tensions", name), by, none))
    return found
