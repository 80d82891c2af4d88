"""How well parameters are known: intervals, correlations, and what the data do not determine, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from anguilla.identification.parameters import Sought
from anguilla.mechanics.tree import Floats

__all__ = ["Uncertainty", "uncertainty"]

SINGULAR = 1e-6  # of the largest singular value of the scaled sensitivities: less is round-off of differences
TOO_MUCH = 1.0  # of its own size, by which the deviation of a parameter or of a combination makes it unknown
ALIKE = 0.99  # correlation of two parameters that the data cannot tell apart
SHARE = 0.2  # of a combination, from which on a parameter is named
NO_EFFECT = 1e-9  # of the largest sensitivity


@dataclass(frozen=True)
class Uncertainty:
    """What a linear analysis at the solution says.

    Attributes:
        deviation: (k,) standard deviations of the parameters in units of the search; infinite where nothing is known.
        correlation: (k, k).
        factor: half-width of a 95 % interval in standard deviations.
        scatter: estimated deviation of the residuals, in units of the given sigmas.
        notes: one sentence for each thing that the data do not determine.

    """

    deviation: Floats
    correlation: Floats
    factor: float
    scatter: float
    notes: list[str]


def uncertainty(parameters: list[Sought], jacobian: Floats, nuisance: Floats, residual: Floats) -> Uncertainty:
    """Uncertainty from the weighed sensitivities (r, k) of parameters and (r, u) of nuisances, and residuals (r,)."""
    k = len(parameters)
    projected = jacobian - nuisance @ np.linalg.lstsq(nuisance, jacobian, rcond=1e-10)[0] if nuisance.size else jacobian
    unknown = int(np.linalg.matrix_rank(nuisance)) if nuisance.size else 0
    scale = np.linalg.norm(projected, axis=0)
    without = scale <= NO_EFFECT * max(
        np.max(scale, initial=0.0), np.max(np.linalg.norm(jacobian, axis=0), initial=0.0)
    )
    unit = np.where(without, 1.0, scale)
    _, S, V = np.linalg.svd(projected / unit, full_matrices=False)
    V = np.vstack([V, np.zeros((k - len(V), k))]) if len(V) < k else V
    S = np.concatenate([S, np.zeros(k - len(S))])
    seen = S > SINGULAR * max(np.max(S, initial=0.0), 1e-300)
    freedom = max(len(residual) - int(seen.sum()) - unknown, 1)
    scatter = float(np.sqrt(residual @ residual / freedom))
    inverse = (V[seen].T / S[seen] ** 2) @ V[seen] / np.outer(unit, unit)
    spread = np.sqrt(np.maximum(np.diag(inverse), 0.0))
    hidden = np.zeros(k)
    for direction in V[~seen]:
        hidden = np.maximum(hidden, np.abs(direction) if np.any(direction) else 0.0)
    deviation = np.where(without | (hidden > 1e-3), np.inf, scatter * spread)
    safe = np.where(spread > 0.0, spread, 1.0)
    correlation = np.clip(inverse / np.outer(safe, safe), -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    notes = _without_effect(parameters, without)
    notes += _hidden(parameters, V[~seen] / unit, without)
    notes += _vague(parameters, deviation, correlation)
    return Uncertainty(deviation, correlation, float(student.ppf(0.975, freedom)), scatter, notes)


def _without_effect(parameters: list[Sought], without: Floats) -> list[str]:
    return [f"the data do not depend on {p.name}: leave it out, or measure something it changes" for p, w in
            zip(parameters, without, strict=True) if w]  # fmt: skip


def _hidden(parameters: list[Sought], directions: Floats, without: Floats) -> list[str]:
    """Combinations along which nothing changes at all."""
    notes = []
    for direction in directions:
        direction = np.where(without, 0.0, direction)
        if not np.any(direction):
            continue
        direction = direction / direction[np.argmax(np.abs(direction))]
        parts = [(p, c) for p, c in zip(parameters, direction, strict=True) if abs(c) > SHARE * SHARE]
        changes = ", ".join(_change(p, c) for p, c in parts)
        notes.append(
            f"the data do not determine {' and '.join(p.name for p, _ in parts)} together: nothing changes when they change "
            f"at once ({changes}); hold one of them"
        )
    return notes


def _change(parameter: Sought, share: float) -> str:
    """A small change along a combination, in words."""
    if parameter.log:
        return f"{parameter.name} by {10.0 * share:+.3g} %"
    return f"{parameter.name} by {0.1 * share * (parameter.size or 1.0):+.3g}"


def _vague(parameters: list[Sought], deviation: Floats, correlation: Floats) -> list[str]:
    """Parameters that the data determine badly, and pairs that they cannot tell apart."""
    notes, known = [], np.isfinite(deviation)
    for i in range(len(parameters)):
        for j in range(i):
            if parameters[i].free.prior or parameters[j].free.prior:
                continue  # what tells them apart
            if known[i] and known[j] and abs(correlation[i, j]) > ALIKE:
                notes.append(
                    f"the data hardly tell {parameters[j].name} and {parameters[i].name} apart (correlation "
                    f"{correlation[i, j]:+.4f}): hold one of them, or give a prior"
                )
    for k, parameter in enumerate(parameters):
        if known[k] and parameter.size and deviation[k] > TOO_MUCH:
            notes.append(
                f"the data hardly determine {parameter.name}: its standard deviation is {100.0 * deviation[k]:.0f} % of it"
            )
    return notes
