"""States of a robot over a leading axis: what all readings of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe import Frame, Part, Robot, RodHandle
from anguilla.describe.description import did_you_mean
from anguilla.describe.ports import acting
from anguilla.errors import DescriptionError, as_array
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.model import Inputs, Model
from anguilla.results.blocks import AtStates, Evaluations, Remembered, States
from anguilla.results.kinematics import motions
from anguilla.results.observe import SNAPSHOT
from anguilla.results.reactions import remembers
from anguilla.store.kept import Kept
from anguilla.store.record import Record

__all__ = ["ByName", "Computed", "Status"]

FLOAT = np.dtype(np.float64)


class _LabelError(DescriptionError, KeyError):
    """A label that no coordinate has."""

    __str__ = Exception.__str__  # not that of KeyError, which shows a sentence in quotes


class ByName(dict[str, Any]):
    """A dictionary that answers a wrong name with the names it has."""

    def __missing__(self, name: str) -> Any:
        """Raise a KeyError that is a sentence."""
        raise _LabelError(
            f"There is no {name!r}{did_you_mean(str(name), self)}; there are {', '.join(self) or 'none'}."
        )


@dataclass(frozen=True)
class Status:
    """How a solver ended.

    Attributes:
        success: whether it reached the end.
        message: one sentence.
        counters: iterations, factorisations, halvings, substeps, steps, ...
        seconds: wall time of the computation [s].

    """

    success: bool
    message: str
    counters: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


class Stored(NamedTuple):
    """States as they are stored, over a leading axis."""

    t: Floats  # (time,) [s]
    q: Floats  # (time, n)
    v: Floats  # (time, n)
    lam: Floats  # (time, m) multipliers


AnyStates = TypeVar("AnyStates", bound="Computed")


@dataclass(frozen=True)
class Computed(Kept):
    """States of a robot over a leading axis; its subclasses read everything from them that follows."""

    robot: Robot
    _system: Model
    status: Status
    _t: Floats
    _q: Floats
    _v: Floats
    _a: Floats | None = None
    _lam: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    inputs: Inputs = field(default_factory=dict)
    # of times, coordinates, rates, guesses and inputs: accelerations that balance the states
    _balance: Callable[[Floats, Floats, Floats, Floats | None, Inputs], Floats] | None = field(default=None, repr=False)
    # accelerations of the integrator, balanced to its tolerance
    _integrated: Floats | None = field(default=None, repr=False)
    # inputs of the actuators (time, actuators) at the states, if the computation asked the functions for all of them
    _given: Floats | None = field(default=None, repr=False)
    # of a part of a motion, where loads remember what was before: the whole motion, and which of its states these are
    _whole: tuple[Computed, Ints] | None = field(default=None, repr=False)
    # what loads remember at the first state, if that is not the start of the motion
    _memory: Remembered | None = field(default=None, repr=False)
    # what they remember at states that were not reached in one step from the one before
    _known: dict[int, Remembered] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name in ("_t", "_q", "_v", "_a", "_lam"):  # as kernels read them: a view may skip numbers
            states = getattr(self, name)
            fits = type(states) is np.ndarray and states.dtype is FLOAT and states.flags.c_contiguous
            if not fits and states is not None:
                object.__setattr__(self, name, np.ascontiguousarray(states, dtype=np.float64))
        if len(self._lam) != len(self._t):
            object.__setattr__(self, "_lam", np.zeros((len(self._t), self.system.rows)))

    @property
    def system(self) -> Model:
        """The model of the robot it was computed with."""
        return self._system

    @cached_property
    def inputs_at_states(self) -> Inputs:
        """The inputs, with the values at the states in place of functions, which are asked once."""
        found: dict[str, Any] = dict(self.inputs)
        known = {} if self._given is None else dict(zip(self.system.robot.actuators, self._given.T, strict=True))
        for name, value in self.inputs.items():
            if callable(value) and not hasattr(value, "at_times"):
                values = known.get(name)
                if values is None:
                    values = np.array([value(t) for t in self._t.tolist()], dtype=np.float64)
                found[name] = AtStates(self._t, values)
        return found

    def acting(self) -> AbstractContextManager[None]:
        """Within this block, inputs in the description have the values they had in this motion."""
        return acting(self.robot.name, self.inputs_at_states)

    @cached_property
    def _accelerations(self) -> Floats:
        """Accelerations: as given, or those that balance the states, or zero where nothing moves."""
        if self._a is not None:
            return self._a
        return (
            np.zeros_like(self._q)
            if self._balance is None
            else self._balance(self._t, self._q, self._v, self._integrated, self.inputs_at_states)
        )

    @property
    def stored(self) -> Stored:
        """Times (time,), coordinates and rates (time, n) and multipliers (time, m), also of an equilibrium."""
        return Stored(self._t, self._q, self._v, self._lam)

    @property
    def integrated(self) -> Floats | None:
        """Accelerations (time, n) of the integrator, balanced to its tolerance, if it stored them at the states."""
        return self._integrated

    @property
    def states(self) -> States:
        """The same with the accelerations (time, n) that balance them, as they are evaluated."""
        return States(self._t, self._q, self._v, self._accelerations, self._lam)

    @property
    def evaluations(self) -> Evaluations:
        """What evaluates the states, block by block."""
        if self._whole is None:
            return Evaluations(self.system, self.states, self.inputs_at_states, memory=self._memory, known=self._known)
        whole, rows = self._whole
        every = whole.evaluations
        whole_states = every.states, rows
        return Evaluations(self.system, self.states, every.inputs, whole_states, every.memory, every.known)

    @property
    def noted(self) -> dict[int, Remembered]:
        """What loads remember, by the number of the state, where the states before it do not tell."""
        if not remembers(self.system):
            return {}
        if self._whole is not None:
            return self.evaluations.remembered()
        return self._known if self._memory is None else {0: self._memory, **self._known}

    def _at(self, rows: Ints) -> dict[str, Any]:
        """Fields of the same result with some of its states only, in ascending order."""
        names = ("_t", "_q", "_v", "_a", "_lam", "_integrated", "_given")
        found: dict[str, Any] = {name: None if (x := getattr(self, name)) is None else x[rows] for name in names}
        if "_accelerations" in vars(self):
            found["_a"] = self._accelerations[rows]
        if remembers(self.system):
            whole, of = self._whole or (self, np.arange(len(self._t)))
            found["_whole"] = whole, of[rows]
        return found

    @property
    def coordinates(self) -> list[str]:
        """Labels of the coordinates, the columns of q."""
        return self.system.robot.coordinates()

    def __getitem__(self, label: str) -> Any:
        """Return one coordinate by its label, such as "arm.bend_z[0]"."""
        labels = self.coordinates
        if label not in labels:
            known = ", ".join(labels) if len(labels) <= 6 else f"{', '.join(labels[:6])} and {len(labels) - 6} more"
            raise _LabelError(f"There is no coordinate {label!r}{did_you_mean(str(label), labels)}; there are {known}.")
        return self._pick(self._q[:, labels.index(label)])

    def _pick(self, array: Floats) -> Any:
        return array

    def own(self, part: Part) -> Part:
        """Return a part of the robot as it was when the result was computed."""
        if not isinstance(part, Part) or (part.robot is not self.robot and part.robot is not self.system.robot):
            raise DescriptionError(
                f"expected a part of robot {self.robot.name!r}, as returned by robot.add; got {part!r}."
            )
        if part.index >= len(self.system.robot.parts):
            raise DescriptionError(f"{part.name!r} was added after this was computed: compute it again.")
        return self.system.robot.parts[part.index]

    def own_rod(self, rod: RodHandle) -> RodHandle:
        """Return a rod of the robot as it was when the result was computed."""
        if not isinstance(rod, RodHandle) or (rod.robot is not self.robot and rod.robot is not self.system.robot):
            raise DescriptionError(
                f"expected a rod of robot {self.robot.name!r}, as returned by robot.add; got {rod!r}."
            )
        own = self.own(rod)
        assert isinstance(own, RodHandle)
        return own

    def motions(self, frames: list[Frame], accelerations: bool = False) -> Iterator[tuple[slice, Floats]]:
        """Motion of frames, world axes, of one block of states after the other.

        Yields:
            Which states, and their motion (nb, m, 24): rotation (9), position, angular velocity, velocity, and without
            meaning unless they are asked for, angular acceleration and acceleration.

        """
        for frame in frames:
            if not isinstance(frame, Frame):
                given = f"its name, {frame!r}: give the frame itself" if isinstance(frame, str) else repr(frame)
                raise DescriptionError(f"expected a frame such as arm.tip or arm.section(X); got {given}.")
            if frame.robot is not self.robot and frame.robot is not self.system.robot:
                name = f".part({frame.part.name!r})" if not frame.is_ground else ".ground"
                raise DescriptionError(
                    f"frame {frame.label} belongs to another robot, {frame.robot.name!r}; a result that was loaded has a "
                    f"robot of its own: take its frames, from run.robot{name}."
                )
        a = self._accelerations if accelerations else np.zeros_like(self._q)
        return motions(self.system, frames, self._q, self._v, a)

    def motion(self, frames: list[Frame], accelerations: bool = False) -> Floats:
        """All that `motions` gives, at once: (time, m, 24), also of an equilibrium."""
        out = np.zeros((len(self._t), len(frames), SNAPSHOT))
        for at, motion in self.motions(frames, accelerations):
            out[at] = motion
        return out

    def _record(self) -> Record:
        from anguilla.store.gather import gather

        return gather(self)


def of_states(kind: type[AnyStates], fields: dict[str, Any]) -> AnyStates:
    """What the constructor makes, quickly: of C-contiguous arrays of floats, and all fields without a fixed default."""
    found = object.__new__(kind)
    object.__setattr__(found, "__dict__", fields)
    return found


def sections(rod: RodHandle, X: ArrayLike | None) -> Floats:
    """Arc lengths (m,) [m] of a rod, checked; 60 equally spaced ones if none are given."""
    wanted = f"arc lengths between 0 and the length {rod.length:g} of {rod.name} [m]"
    points = np.linspace(0.0, rod.length, 60) if X is None else np.atleast_1d(as_array(X, "X", wanted))
    if points.ndim != 1:
        raise DescriptionError(f"X must be one arc length or a list of them [m]; got an array of shape {points.shape}.")
    if not np.all((points >= 0.0) & (points <= rod.length * (1 + 1e-12))):
        raise DescriptionError(f"X must lie between 0 and the length {rod.length:g} m of {rod.name}; got {X!r}.")
    return np.minimum(points, rod.length)
