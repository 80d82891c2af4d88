"""The problem of least squares behind a fit: residuals of all measurements, and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import qmc

from anguilla.errors import DescriptionError, SolverError
from anguilla.identification.measurements import Measurements
from anguilla.identification.parameters import Sought, Source, is_volume
from anguilla.identification.sensors import Nuisances, Reading, read_sensors
from anguilla.identification.trial import NEXT_TO_NOTHING, Driven, RowStates, Trial
from anguilla.identification.uncertainty import NO_EFFECT
from anguilla.mechanics.tree import Floats

__all__ = ["Search", "readings"]

FAR = 1e3  # deviations that are reported for a trial that cannot be computed
HOLD = 1e-6  # deviations per unit of the search, by which what nothing depends on is held where it begins
BESIDE = 1e-5  # of a bound, in units of the search
SPREAD = 1.0  # of a start in a parameter without bounds, in units of the search


@dataclass
class Search:
    """The problem of least squares: numbers x (k + u,) of parameters, then of nuisances."""

    source: Source
    parameters: list[Sought]
    experiments: list[Measurements]
    trials: list[Trial] = field(init=False)
    nuisances: Nuisances = field(init=False)
    known: dict[bytes, list[RowStates]] = field(
        default_factory=dict, init=False
    )  # where it is, and where it looked last
    here: bytes = field(default=b"", init=False)  # parameters of the last derivative
    slopes: tuple[bytes, Floats] | None = field(default=None, init=False)  # that derivative, and of which numbers
    begun: bool = field(default=False, init=False)  # whether anything was computed from where the search is
    evaluations: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.trials = []
        for data in self.experiments:
            self.trials.append(self._trial(data))
        self.nuisances = Nuisances.of(self.experiments)

    def _trial(self, data: Measurements) -> Any:
        """One experiment, with a robot or with a soft body."""
        first = Driven(self.source, self.parameters, data)
        if not is_volume(first.made(np.array([p.value for p in self.parameters]))):
            trial = Trial(self.source, self.parameters, data)
            trial.like = next((other for other in self.trials if trial.is_like(other) and other.like is None), None)
            return trial
        from anguilla.identification.volumes import VolumeTrial

        return VolumeTrial(self.source, self.parameters, data)

    def values(self, x: Floats) -> Floats:
        """Values (k,) of the parameters."""
        return np.array(
            [p.from_search(float(y)) for p, y in zip(self.parameters, x[: len(self.parameters)], strict=True)]
        )

    def beginnings(self, count: int, seed: int) -> list[Floats]:
        """Where searches begin: at the given values, then spread over the bounds."""
        first, (low, high) = np.zeros(len(self.parameters)), self.bounds()
        if count == 1:
            return [first]
        low, high = np.maximum(low, -SPREAD), np.minimum(high, SPREAD)
        spread = qmc.scale(qmc.LatinHypercube(len(first), rng=seed).random(count - 1), low, high)
        return [first, *spread]

    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest numbers (k,) that are searched."""
        ends = []
        for p in self.parameters:
            low = -np.inf if p.log and p.low <= 0.0 else p.to_search(p.low)
            ends.append((low, p.to_search(p.high)))
        low, high = np.array(ends).T
        return low, high

    def states(self, x: Floats) -> list[RowStates]:
        """RowStates of all experiments; those of the last parameters are kept, and those of the last derivative."""
        key = self._key(x)
        if key not in self.known:
            self.evaluations += 1
            values = self.values(x)
            found = [trial.states(values) for trial in self.trials]
            self.known = {place: states for place, states in self.known.items() if place == self.here} | {key: found}
        return self.known[key]

    def _key(self, x: Floats) -> bytes:
        """The parameters among the numbers that are searched."""
        return x[: len(self.parameters)].tobytes()

    def residual(self, x: Floats) -> Floats:
        """Weighed misses (r,) of all measurements, then of priors."""
        self.nuisances.values = x[len(self.parameters) :]
        try:
            states = self.states(x)
        except (SolverError, DescriptionError):  # a step too far: nothing balances, or the description refuses a value
            if not self.begun:
                raise
            return np.full(self.rows, FAR)
        self.begun = True
        found = [_weighed(reading) for trial, there in zip(self.trials, states, strict=True)
                 for reading in read_sensors(trial, there, None, self.nuisances)]  # fmt: skip
        return np.concatenate([*found, self._priors(x)])

    def jacobian(self, x: Floats) -> Floats:
        """Derivative (r, k + u) of the residual."""
        if self.slopes is None or self.slopes[0] != x.tobytes():
            self.here, self.slopes = self._key(x), (x.tobytes(), self._jacobian(x))
        return self.slopes[1].copy()  # a robust loss weighs its rows anew, in place

    def _jacobian(self, x: Floats) -> Floats:
        self.nuisances.values = x[len(self.parameters) :]
        k, values = len(self.parameters), self.values(x)
        slope = np.array([p.slope(v) for p, v in zip(self.parameters, values, strict=True)])
        rows = []
        for trial, there in zip(self.trials, self.states(x), strict=True):
            for reading in read_sensors(trial, there, trial.changes(there), self.nuisances):
                both = np.concatenate([reading.by * slope, reading.by_nuisance], axis=2) / reading.sigma[:, None, None]
                rows.append(both[np.isfinite(reading.miss)])
        priors = np.zeros((len(self._priors(x)), len(x)))
        for row, (place, by) in enumerate(self.prior_slopes(values)):
            priors[row, place] = by
        return np.concatenate([*rows, priors]).reshape(-1, k + len(self.nuisances.values))

    @property
    def rows(self) -> int:
        """Number of residuals."""
        count = sum(int(np.isfinite(np.asarray(x)).sum()) for data in self.experiments
                    for kind in ("positions", "lengths", "tensions") for x in getattr(data, kind).values())  # fmt: skip
        count += sum(
            3 * int(np.isfinite(np.asarray(x)).all(axis=1).sum()) for d in self.experiments for x in d.turns.values()
        )
        return count + len(self._priors(np.zeros(len(self.parameters) + len(self.nuisances.values))))

    def _priors(self, x: Floats) -> Floats:
        values = self.values(x)
        found = [
            (v - p.free.prior[0]) / p.free.prior[1]
            for p, v in zip(self.parameters, values, strict=True)
            if p.free.prior
        ]
        known = np.isfinite(self.nuisances.prior)
        return np.concatenate([found, x[len(self.parameters) :][known] / self.nuisances.prior[known]])

    def prior_slopes(self, values: Floats) -> list[tuple[int, float]]:
        """(place in x, derivative) of each prior."""
        found = [(i, p.slope(v) / p.free.prior[1])
                 for i, (p, v) in enumerate(zip(self.parameters, values, strict=True)) if p.free.prior]  # fmt: skip
        first = len(self.parameters)
        return found + [(first + i, 1.0 / s) for i, s in enumerate(self.nuisances.prior) if np.isfinite(s)]

    def with_nuisances(self, x: Floats) -> Floats:
        """Parameters x (k,) with the nuisances that suit them best, to first order."""
        k, unknown = len(self.parameters), len(self.nuisances.values)
        full = np.concatenate([x, np.zeros(unknown)])
        for _ in range(3 if unknown else 0):
            full[k:] += nuisance_step(self, full)
        return full

    def run(self, x: Floats, loss: str, iterations: int, tolerance: float) -> Any:
        """One search from parameters x (k,)."""
        self.known, self.slopes, self.begun = {}, None, False
        unknown = len(self.nuisances.values)
        low, high = self.bounds()
        ends = np.concatenate([low, np.full(unknown, -np.inf)]), np.concatenate([high, np.full(unknown, np.inf)])
        margin = np.minimum(0.5 * NEXT_TO_NOTHING, 0.25 * (high - low))
        inside = np.clip(x, low + margin, high - margin)
        begin = self.with_nuisances(inside)
        size = np.linalg.norm(self.jacobian(begin), axis=0)
        size[size <= NO_EFFECT * np.max(size, initial=0.0)] = 0.0
        held = size == 0.0  # if anything were free, SciPy would never take a short step
        shift = self._from_bounds(begin, ends, size)

        def at(z: Floats) -> Floats:
            return np.clip(z + shift, *ends) if np.any(shift) else z

        def residual(z: Floats) -> Floats:
            return np.concatenate([self.residual(at(z)), HOLD * (at(z) - begin)[held]])

        def jacobian(z: Floats) -> Floats:
            return np.concatenate([self.jacobian(at(z)), HOLD * np.eye(len(z))[held]])

        found = least_squares(
            residual, begin - shift, jac=jacobian, bounds=(ends[0] - shift, ends[1] - shift), loss=loss, f_scale=2.0,
            x_scale="jac", max_nfev=iterations, ftol=tolerance, xtol=tolerance, gtol=1e-14,
        )  # fmt: skip
        found.x = at(found.x)
        return found

    def _from_bounds(self, begin: Floats, ends: tuple[Floats, Floats], size: Floats) -> Floats:
        """Where zero is (k + u,) for SciPy, whose first step is as long as where it begins, or of length one from zero.

        Beside a bound it begins the least bit away from it, which would be that length, and its end: nothing would change.
        """
        if not np.any(np.minimum(begin - ends[0], ends[1] - begin) < BESIDE):
            return np.zeros(len(begin))
        felt = size > 0.0
        return begin - np.where(felt, 1.0 / np.where(felt, size, 1.0), 0.0) / np.sqrt(max(int(felt.sum()), 1))


def _weighed(reading: Reading) -> Floats:
    weighed = reading.miss / reading.sigma[:, None]
    return weighed[np.isfinite(weighed)]


def nuisance_step(search: Search, x: Floats, which: Any = slice(None)) -> Floats:
    """Change (u,) of the nuisances, or of some of them, that fits best; all else is held."""
    k = len(search.parameters)
    residual, rows = search.residual(x), []
    for trial, there in zip(search.trials, search.states(x), strict=True):
        for reading in read_sensors(trial, there, None, search.nuisances):
            rows.append((reading.by_nuisance / reading.sigma[:, None, None])[np.isfinite(reading.miss)])
    slopes = [(place - k, by) for place, by in search.prior_slopes(search.values(x))]
    priors = np.zeros((len(slopes), len(x) - k))
    for row, (place, by) in enumerate(slopes):
        if place >= 0:
            priors[row, place] = by
    found, matrix = np.zeros(len(x) - k), np.concatenate([*rows, priors])
    found[which] = np.linalg.lstsq(matrix[:, which], -residual, rcond=1e-10)[0]
    return found


def readings(
    source: Source, parameters: list[Sought], x: Floats, data: Measurements, known: Nuisances
) -> list[Reading]:
    """What an experiment would measure for parameters x (k,); unknowns that nobody has found are fitted to it."""
    search = Search(source, parameters, [data])
    full = np.concatenate([x, np.zeros(len(search.nuisances.values))])
    found = dict(zip(known.names, known.values, strict=True))
    new = np.array([name not in found for name in search.nuisances.names], dtype=bool)
    full[len(x) :] = [found.get(name, 0.0) for name in search.nuisances.names]
    for _ in range(3 if new.any() else 0):
        full[len(x) :] += np.where(new, nuisance_step(search, full, new), 0.0)
    search.nuisances.values = full[len(x) :]
    return read_sensors(search.trials[0], search.states(full)[0], None, search.nuisances)
