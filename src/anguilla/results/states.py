"""What solvers return: labelled states of a robot, and the fields and balances that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla._doors import public
from anguilla._lazy import ShowsItself
from anguilla._words import numbered
from anguilla.describe.description import copied
from anguilla.mechanics.tree import Floats, Ints
from anguilla.results.acting import OfEnergies
from anguilla.results.base import Status
from anguilla.results.blocks import Remembered
from anguilla.results.places import OfFrames, OfRods
from anguilla.results.quality import Quality
from anguilla.results.reactions import relaxes, remembers
from anguilla.results.reading import OfSensors
from anguilla.results.resolution import Resolution, doubtful, resolution
from anguilla.results.slices import Slices, refuse_key

Array = NDArray[np.float64]

__all__ = ["Equilibrium", "Status", "Trajectory"]


class _States(OfFrames, OfRods, OfSensors, OfEnergies, ShowsItself):
    """States of a robot over a leading axis, with everything that can be derived from them."""

    def _resolved(self, k: int, *, moving: bool = False) -> Resolution:
        """How well modes and intervals resolve state k, of a motion or at rest."""
        at = slice(k, k + 1)
        if self._a is not None or self._balance is None:
            a = self._accelerations[k]
        else:
            a = self._balance(self._t[at], self._q[at], self._v[at], None, self.inputs)[0]
        system = self.system
        loads = system.loads(self._t[at], self.inputs).at(0)
        over = self.evaluations.overstrain() if relaxes(system.blank) else None
        own = None if over is None else over[k]
        return resolution(system, loads, self._q[k], self._v[k], a, self._lam[k], own, moving=moving)


@public
@dataclass(frozen=True)
class Equilibrium(_States):
    """A static equilibrium of a robot.

    Attributes:
        q: (n,) coordinates, labelled by `coordinates`.
        status: how the solver ended, with counters.

    """

    @property
    def q(self) -> Array:
        """Coordinates (n,)."""
        return self._q[0]

    @property
    def remembered(self) -> Remembered | None:
        """What contacts that hold have as bristles there; None if none do."""
        return self._memory

    @cached_property
    def resolution(self) -> Resolution:
        """How well modes and intervals resolve the equilibrium: the error that more of them would mend, estimated."""
        return self._resolved(0)

    @property
    def error_estimate(self) -> float:
        """Estimated error of too few modes and intervals, as a part of the robot's length; `resolution` has its parts."""
        return self.resolution.total

    @property
    def t(self) -> float:
        """Time [s] at which time-dependent loads were taken."""
        return float(self._t[0])

    def _pick(self, array: Array) -> Any:
        value = array[0]
        return float(value) if np.ndim(value) == 0 else value

    def __repr__(self) -> str:
        return f"<equilibrium of {self.robot.name!r}: {self.status.message}>"


@public
@dataclass(frozen=True)
class Trajectory(_States, Slices):
    """A motion of a robot: its states over time.

    Attributes:
        t: (time,) [s].
        q, v, a: (time, n) coordinates, rates and accelerations, labelled by `coordinates`.
        status: how the solver ended, with counters.
        quality: how far the motion can be trusted; None if nobody judged it (it stopped, or was read from a file).

    """

    _judged: Callable[[], Quality] | None = field(default=None, repr=False)
    # the start as it was given, if its loops were open there
    _opened: Floats | None = field(default=None, repr=False)

    @property
    def opened(self) -> Floats | None:
        """The start (n,) as it was given, from which the loops of the robot were closed; None if they were closed there."""
        return self._opened

    @cached_property
    def quality(self) -> Quality | None:
        """How far the motion can be trusted; what no warning needs is found when it is read."""
        return None if self._judged is None else replace(self._judged(), space_error=self.space_error)

    @cached_property
    def resolution(self) -> Resolution:
        """How well modes and intervals resolve the motion, at the instant that asks most of them."""
        return self._resolved(int(np.argmax(doubtful(self.system, self._q))), moving=True)

    @property
    def space_error(self) -> float:
        """Estimated error of too few modes and intervals, at the instant that asks most of them, as a part of the length."""
        return self.resolution.total

    def resolved(self, t: float) -> Resolution:
        """How well modes and intervals resolve the state nearest to t [s]: the error that more would mend, estimated."""
        return self._resolved(int(np.argmin(np.abs(self._t - t))), moving=True)

    def __getitem__(self, key: str | slice) -> Any:
        """Return one coordinate by its label, such as "arm.bend_z[0]", or the motion at some of its states, run[a:b:step]."""
        if isinstance(key, slice):
            return Slices.__getitem__(self, key)
        if not isinstance(key, str):
            wanted = 'a label such as "arm.bend_z[0]", or a slice of the states such as run[10:20]'
            raise refuse_key(key, wanted, "; run.q[#] are its coordinates, run.position(frame)[#] is a place")
        return super().__getitem__(key)

    @cached_property
    def remembered(self) -> Remembered | None:
        """What friction and viscoelastic rods remember at the end, for a motion that goes on from there; None if nothing."""
        return self.evaluations.end() if remembers(self.system) else None

    def _picked(self, rows: Ints) -> Trajectory:
        return replace(self, **self._at(rows))

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle takes along: numbers in place of functions, of the inputs and of what is found later."""
        known = vars(self) | {"_a": self._accelerations, "_balance": None, "inputs": self.inputs_at_states}
        return known | {"_judged": None, "quality": self.quality}

    def __deepcopy__(self, memo: dict[int, Any]) -> Trajectory:
        return copied(self, memo)

    @property
    def t(self) -> Array:
        """Times (time,) [s]."""
        return self._t

    @property
    def q(self) -> Array:
        """Coordinates (time, n)."""
        return self._q

    @property
    def v(self) -> Array:
        """Rates of the coordinates (time, n)."""
        return self._v

    @property
    def a(self) -> Array:
        """Accelerations of the coordinates (time, n), those that balance the stored states.

        (The integrator's own accelerations belong to another instant of the step: they are first-order accurate.)
        """
        return self._accelerations

    def __repr__(self) -> str:
        states = numbered(len(self.t), "state")
        return f"<trajectory of {self.robot.name!r}: {states} to t = {self.t[-1]:g} s, {self.status.message}>"
