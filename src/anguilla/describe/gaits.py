"""Gaits: prescribed shapes of a rod in time, K_d(X, t), with their exact first and second time derivatives (001 IX).

A gait names the strains it prescribes. Most gaits are short sums of products of a function of X and a function of t: a wave
that travels is two standing ones. So a rod that takes its strains from its gait follows it exactly, with two or three
coordinates; a rod with a basis of its own follows the projection on it.

Gaits add up, are scaled by numbers, and fade in and out: ``swim.fade(end=(8, 10)) + dive.fade(begin=(8, 10))``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla.describe.description import Description, as_points, did_you_mean
from anguilla.describe.profiles import Profile, ProfileBasis, oscillation, product, quintic, start
from anguilla.describe.strains import STRAIN_NAMES, Strains
from anguilla.errors import DescriptionError, as_array, as_number, as_positive, refuse

Array = NDArray[np.float64]
Span = tuple[float, float]

__all__ = [
    "FadedGait",
    "Gait",
    "GaitSum",
    "StrainOffset",
    "StrainSteps",
    "TravellingWave",
    "forward",
    "spiral",
    "submergence",
    "turning",
]


class Term(NamedTuple):
    """A product of a function of X and a function of t, added to one strain."""

    strain: str
    profile: Profile
    law: Callable[[Array], Array]  # times (nt,) [s] -> jets (nt, 3)


# Gaits ----------------------------------------------------------------------------------------------------------------


class Gait(Description):
    """Base class of gaits. A subclass gives its ``terms``, or ``factors`` if it is no finite sum of products."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """The products it is the sum of."""
        raise NotImplementedError

    @property
    def names(self) -> tuple[str, ...]:
        """The strains it prescribes, in the order of STRAIN_NAMES."""
        found = {term.strain for term in self.terms}
        return tuple(name for name in STRAIN_NAMES if name in found)

    @property
    def is_finite(self) -> bool:
        """Whether it is a finite sum of products, which a few coordinates follow exactly."""
        return True

    def factors(self, strain: str, X: ArrayLike, times: ArrayLike) -> tuple[Array, Array]:
        """(nt, 3, r) and (r, m): the change of a strain is the sum over r of their products; jets in the second axis."""
        points, moments = as_points(X), as_points(times)
        own = [term for term in self.terms if term.strain == strain]
        law = np.array([term.law(moments) for term in own]).reshape(-1, moments.size, 3)
        return law.transpose(1, 2, 0), np.array([term.profile(points) for term in own]).reshape(-1, points.size)

    def jets(self, X: ArrayLike, times: ArrayLike) -> Array:
        """Prescribed change of the strains from rest and two time derivatives: (nt, m, 6, 3) at X (m,) [m], t (nt,) [s]."""
        points, moments = as_points(X), as_points(times)
        out = np.zeros((moments.size, points.size, 6, 3))
        for name in self.names:
            law, along = self.factors(name, points, moments)
            out[:, :, STRAIN_NAMES.index(name)] = np.einsum("tjr,rm->tmj", law, along)
        return out

    def strains(self, length: float) -> Strains:
        """Strains of a rod of this length [m] with bases that hold the gait exactly."""
        length = as_positive(length, "length of a gait's rod", "m")
        if not self.is_finite:
            raise DescriptionError("A shape function has no basis of its own: give Rod.strains, such as universal(12).")
        bases = {}
        for name in self.names:
            own = dict.fromkeys(term.profile for term in self.terms if term.strain == name)
            bases[name] = ProfileBasis(tuple(own), length)
        return Strains(**bases)

    def fade(self, begin: Span | None = None, end: Span | None = None) -> FadedGait:
        """Return the gait fading in over the times ``begin`` [s] and out over ``end`` [s], smoothly."""
        return FadedGait(self, 1.0, begin, end)

    def __add__(self, other: Gait) -> GaitSum:
        if not isinstance(other, Gait):
            return NotImplemented
        own, more = (g.gaits if isinstance(g, GaitSum) else (g,) for g in (self, other))
        return GaitSum((*own, *more))

    def __mul__(self, factor: float) -> FadedGait:
        return FadedGait(self, as_number(factor, "factor of a gait"))

    __rmul__ = __mul__

    def __neg__(self) -> FadedGait:
        return self * -1.0


def as_strain(value: object, name: str) -> str:
    if value not in STRAIN_NAMES:
        hint = did_you_mean(value, STRAIN_NAMES) if isinstance(value, str) else ""
        raise DescriptionError(f"{name} must be one of {', '.join(STRAIN_NAMES)}; got {value!r}{hint}.")
    return str(value)


def _as_span(value: object, name: str) -> Span | None:
    if value is None:
        return None
    wanted = "two increasing times [s], or None"
    span = as_array(value, name, wanted)
    if span.shape != (2,) or span[1] <= span[0]:
        raise refuse(name, wanted, value)
    return float(span[0]), float(span[1])


def _as_envelope(value: object, name: str) -> tuple[float, ...]:
    wanted = "coefficients of 1, X, X^2, ..., X in [m]"
    given = np.atleast_1d(as_array(value, name, wanted))
    if given.ndim != 1 or given.size == 0:
        raise refuse(name, wanted, value)
    return tuple(given.tolist())


def _gated(law: Callable[[Array], Array], ramp: Span | None) -> Callable[[Array], Array]:
    return law if ramp is None else lambda t: product(start(t, *ramp), law(t))


@dataclass
class TravellingWave(Gait):
    """A strain wave that runs from head to tail, envelope(X) sin(2 pi (X / wavelength - t / period) + phase) (001 (67)-(69)).

    Attributes:
        envelope: coefficients of 1, X, X^2, ... [rad/m for a curvature, X in m].
        wavelength: length of the wave [m]; negative runs from tail to head.
        period: time of one beat [s].
        strain: the strain it bends.
        phase: phase at X = 0, t = 0 [rad].
        ramp: times (begin, end) [s] over which it starts smoothly; None to start at once.

    """

    envelope: ArrayLike
    wavelength: float = 1.0
    period: float = 1.0
    strain: str = "bend_z"
    phase: float = 0.0
    ramp: tuple[float, float] | None = (0.0, 1.0)

    def _check(self) -> None:
        self.envelope = _as_envelope(self.envelope, "TravellingWave.envelope")
        self.wavelength = as_number(self.wavelength, "TravellingWave.wavelength", "m")
        if self.wavelength == 0.0:
            raise refuse("TravellingWave.wavelength", "a length other than zero [m]", self.wavelength)
        self.period = as_positive(self.period, "TravellingWave.period", "s")
        self.strain = as_strain(self.strain, "TravellingWave.strain")
        self.phase = as_number(self.phase, "TravellingWave.phase", "rad")
        self.ramp = _as_span(self.ramp, "TravellingWave.ramp")

    @property
    def terms(self) -> tuple[Term, ...]:
        """Two standing waves: sin(kX) cos(wt - phase) - cos(kX) sin(wt - phase)."""
        k, w, phase, ramp = 2.0 * np.pi / self.wavelength, 2.0 * np.pi / self.period, self.phase, self.ramp
        envelope = tuple(np.atleast_1d(np.asarray(self.envelope, dtype=np.float64)).tolist())
        even = Term(self.strain, Profile(envelope, k, True), _gated(lambda t: oscillation(t, w, -phase), ramp))
        # -sin(x) = cos(x + pi/2)
        odd = Term(self.strain, Profile(envelope, k), _gated(lambda t: oscillation(t, w, 0.5 * np.pi - phase), ramp))
        return even, odd


@dataclass
class StrainOffset(Gait):
    """A strain that stays, envelope(X): a turn, or zero to hold a strain at rest.

    Attributes:
        envelope: coefficients of 1, X, X^2, ... [rad/m for a curvature, X in m]; one number for a constant.
        strain: the strain.
        ramp: times (begin, end) [s] over which it starts smoothly; None to have it from the start.

    """

    envelope: ArrayLike = 0.0
    strain: str = "bend_z"
    ramp: tuple[float, float] | None = (0.0, 1.0)

    def _check(self) -> None:
        self.envelope = _as_envelope(self.envelope, "StrainOffset.envelope")
        self.strain = as_strain(self.strain, "StrainOffset.strain")
        self.ramp = _as_span(self.ramp, "StrainOffset.ramp")

    @property
    def terms(self) -> tuple[Term, ...]:
        """One product; a strain held at zero still needs a coordinate."""
        coefficients = tuple(np.atleast_1d(np.asarray(self.envelope, dtype=np.float64)).tolist())
        still = not any(coefficients)
        value = np.array([0.0 if still else 1.0, 0.0, 0.0])
        law = _gated(lambda t: np.tile(value, (t.size, 1)), self.ramp)
        return (Term(self.strain, Profile((1.0,) if still else coefficients), law),)


@dataclass
class StrainSteps(Gait):
    """A strain that goes from value to value and rests at each: quintic polynomials between given times (001 IX.D).

    Attributes:
        times: increasing times [s].
        values: the strain at these times, times ``envelope`` [rad/m for a curvature]; it is constant before and after.
        strain: the strain.
        envelope: coefficients of 1, X, X^2, ... [-, X in m].

    """

    times: ArrayLike
    values: ArrayLike
    strain: str = "bend_y"
    envelope: ArrayLike = 1.0

    def _check(self) -> None:
        wanted = "at least two increasing times [s]"
        times = as_array(self.times, "StrainSteps.times", wanted)
        if times.ndim != 1 or times.size < 2 or np.any(np.diff(times) <= 0.0):
            raise refuse("StrainSteps.times", wanted, self.times)
        values = as_array(self.values, "StrainSteps.values", f"{times.size} numbers, one for each time")
        if values.shape != times.shape:
            raise refuse("StrainSteps.values", f"{times.size} numbers, one for each time", self.values)
        self.times, self.values = tuple(times.tolist()), tuple(values.tolist())
        self.strain = as_strain(self.strain, "StrainSteps.strain")
        self.envelope = _as_envelope(self.envelope, "StrainSteps.envelope")

    def _law(self, moments: Array) -> Array:
        times, values = np.asarray(self.times, dtype=float), np.asarray(self.values, dtype=float)
        jets = np.tile([values[0], 0.0, 0.0], (moments.size, 1))
        for (t0, t1), (f0, f1) in zip(pairwise(times), pairwise(values), strict=True):
            jets += (f1 - f0) * quintic(moments, t0, t1)
        return jets

    @property
    def terms(self) -> tuple[Term, ...]:
        """One product."""
        coefficients = tuple(np.atleast_1d(np.asarray(self.envelope, dtype=np.float64)).tolist())
        return (Term(self.strain, Profile(coefficients), self._law),)


@dataclass
class FadedGait(Gait):
    """A gait times a number, fading in and out.

    Attributes:
        gait: the gait.
        factor: the number.
        begin: times [s] over which it fades in; None: it is there from the start.
        end: times [s] over which it fades out; None: it stays.

    """

    gait: Gait
    factor: float = 1.0
    begin: tuple[float, float] | None = None
    end: tuple[float, float] | None = None

    def _check(self) -> None:
        if not isinstance(self.gait, Gait):
            raise refuse("FadedGait.gait", "a gait such as TravellingWave(...)", self.gait)
        self.factor = as_number(self.factor, "FadedGait.factor")
        self.begin, self.end = _as_span(self.begin, "FadedGait.begin"), _as_span(self.end, "FadedGait.end")
        if self.begin and self.end and self.end[0] < self.begin[1]:
            raise DescriptionError(f"FadedGait starts to fade out at {self.end[0]:g} s, before it has faded in.")

    def _gate(self, law: Array, times: Array) -> Array:
        """Jets (nt, 3) times the number, in and out."""
        if self.begin is not None:
            law = product(start(times, *self.begin), law)
        if self.end is not None:
            law = product(np.array([1.0, 0.0, 0.0]) - start(times, *self.end), law)
        return self.factor * law

    @property
    def terms(self) -> tuple[Term, ...]:
        """Those of the gait, with their functions of time multiplied."""
        gate = self._gate
        return tuple(Term(s, p, lambda t, law=law: gate(law(t), t)) for s, p, law in self.gait.terms)  # type: ignore[misc]

    @property
    def names(self) -> tuple[str, ...]:
        """The strains it prescribes."""
        return self.gait.names

    @property
    def is_finite(self) -> bool:
        """Whether the gait is a finite sum of products."""
        return self.gait.is_finite

    def factors(self, strain: str, X: ArrayLike, times: ArrayLike) -> tuple[Array, Array]:
        """(nt, 3, r) and (r, m), as those of the gait."""
        moments = as_points(times)
        law, along = self.gait.factors(strain, X, moments)
        gated = [self._gate(law[:, :, k], moments) for k in range(law.shape[2])]
        return (np.stack(gated, axis=2) if gated else law), along


@dataclass
class GaitSum(Gait):
    """Several gaits at once.

    Attributes:
        gaits: the gaits.

    """

    gaits: tuple[Gait, ...]

    def _check(self) -> None:
        if not isinstance(self.gaits, (list, tuple)) or not self.gaits:
            raise refuse("GaitSum.gaits", "a list of gaits", self.gaits)
        for gait in self.gaits:
            if not isinstance(gait, Gait):
                raise refuse("GaitSum.gaits", "a list of gaits such as TravellingWave(...)", gait)
        self.gaits = tuple(self.gaits)

    @property
    def terms(self) -> tuple[Term, ...]:
        """Those of all gaits."""
        return tuple(term for gait in self.gaits for term in gait.terms)

    @property
    def names(self) -> tuple[str, ...]:
        """The strains that any of them prescribes."""
        found = {name for gait in self.gaits for name in gait.names}
        return tuple(name for name in STRAIN_NAMES if name in found)

    @property
    def is_finite(self) -> bool:
        """Whether all of them are finite sums of products."""
        return all(gait.is_finite for gait in self.gaits)

    def factors(self, strain: str, X: ArrayLike, times: ArrayLike) -> tuple[Array, Array]:
        """(nt, 3, r) and (r, m), one after the other."""
        pieces = [gait.factors(strain, X, times) for gait in self.gaits if strain in gait.names]
        return np.concatenate([law for law, _ in pieces], axis=2), np.concatenate([along for _, along in pieces])


# The four gaits of 001 IX ---------------------------------------------------------------------------------------------

ENVELOPE = (1.0, -0.75, 1.0)  # X^2 - 0.75 X + 1 [rad/m]
DIVE_TIMES = (4.0, 6.0, 8.0, 10.0, 12.0, 14.0)  # t_1 .. t_6 [s]; neither they nor the offsets are printed


@public
def forward(envelope: ArrayLike = ENVELOPE, wavelength: float = 1.0, period: float = 1.0) -> TravellingWave:
    """Return planar forward swimming (001 (67)-(69)): a curvature wave in bend_z that starts over the first second.

    Args:
        envelope: coefficients of 1, X, X^2, ... [rad/m, X in m].
        wavelength: length of the wave [m].
        period: time of one beat [s].

    """
    return TravellingWave(envelope, wavelength, period)


@public
def turning(offset: float = 0.5) -> GaitSum:
    """Return forward swimming with a constant curvature on top (001 IX.C), offset [rad/m]."""
    return forward() + StrainOffset(as_number(offset, "turning offset", "rad/m"))


@public
def submergence(offset: float = 0.5, times: ArrayLike = DIVE_TIMES) -> GaitSum:
    """Return forward swimming with a dive (001 IX.D): bend_y goes to offset [rad/m] and back, then to the other side.

    Args:
        offset: largest curvature [rad/m].
        times: t_1 .. t_6 [s]: begin, peak and end of the first bend, then of the second.

    """
    offset = as_number(offset, "submergence offset", "rad/m")
    return forward() + StrainSteps(times, (0.0, offset, 0.0, 0.0, -offset, 0.0))


@public
def spiral(dive: float = 0.5, turn: float = 0.5) -> GaitSum:
    """Return turning and diving at once (001 IX.D, figure 8): constant bend_y = dive and bend_z offset = turn [rad/m]."""
    return turning(turn) + StrainOffset(as_number(dive, "spiral dive", "rad/m"), "bend_y")
