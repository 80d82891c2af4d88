"""Find parameters of a robot from measurements: nonlinear least squares on exact sensitivities."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anguilla._doors import public
from anguilla.describe.description import did_you_mean
from anguilla.errors import DescriptionError, as_count, as_positive, refuse, warn
from anguilla.identification.labels import mixed_up
from anguilla.identification.measurements import Measurements
from anguilla.identification.parameters import Sought, Source, Unknown, as_free, is_described
from anguilla.identification.result import Identified
from anguilla.identification.search import Search
from anguilla.identification.sensors import read_sensors
from anguilla.identification.uncertainty import uncertainty
from anguilla.mechanics.tree import Floats

__all__ = ["identify"]

LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")
OTHER_UNIT = 10.0  # times the size of the robot, over which no marker of it is spread
NOT_MET = 0.1  # of the length of the robot, of positions that are missed by more the model does not tell
AT_END = 1e-6  # from a bound, in units of the search


@public
def identify(
    robot: Source, data: Measurements | Sequence[Measurements], free: Sequence[str | Unknown] | Mapping[str, float], *,
    held_out: Measurements | Sequence[Measurements] = (), loss: str = "linear", starts: int = 1, seed: int = 0,
    iterations: int = 50, tolerance: float = 1e-8,
) -> Identified:  # fmt: skip
    """Estimate parameters of a robot from measurements, with their uncertainty.

    Gauss-Newton with trust regions (SciPy's `least_squares`) on exact sensitivities of equilibria and of motions; where these
    have none (friction of tendons, contact that holds), on differences, as `by_differences` of the result tells. Unknown
    offsets of markers and poses are found at once.

    Args:
        robot: the robot; or a function of the free parameters (and of what is given of an experiment) that returns it. Or
            the same with a soft volume (`fem.SoftBody`), at rest, whose markers are its effectors (with
            orientation=True if they sit away from it), and whose paths are "material.young", "gravity[2]", ...
        data: one experiment or several.
        free: what is to be found: paths such as "arm.material.young", or `Unknown(path, bounds=..., prior=...)`.
        held_out: experiments that are not used, on which the fitted robot is judged.
        loss: "linear" for least squares; "soft_l1", "huber", "cauchy" or "arctan" listen less to outliers, which begin at two
            of the given deviations.
        starts: searches that are begun, all but the first from other values within the bounds; the best one counts.
        seed: of these values.
        iterations: most steps of a search.
        tolerance: relative change of the sum of squares, or of the parameters, at which a search ends.

    Returns:
        An Identified. What the data do not determine is in its `notes`, and in a warning.

    """
    began = time.perf_counter()
    if not is_described(robot) and not callable(robot):
        raise refuse("robot", "a Robot or a fem.SoftBody, or a function that returns one", robot)
    if loss not in LOSSES:
        raise refuse("loss", f"one of {', '.join(LOSSES)}", loss)
    tolerance = as_positive(tolerance, "tolerance", "")
    parameters = as_free(robot, free)
    experiments = _experiments(data, "data")
    _check_only(parameters, experiments)
    kept = _experiments(held_out, "held_out") if held_out else []
    search = Search(robot, parameters, experiments)
    best = None
    for x in search.beginnings(as_count(starts, "starts"), seed):
        found = search.run(x, loss, as_count(iterations, "iterations"), tolerance)
        best = found if best is None or found.cost < best.cost else best
    assert best is not None
    result = _result(search, best, time.perf_counter() - began)
    for experiment in kept:
        result.held_out[experiment.name] = result.error(experiment)
    for note in result.notes:
        warn(f"identify: {note}.")
    return result


def _experiments(data: Measurements | Sequence[Measurements], what: str) -> list[Measurements]:
    found: list[Any] = list(data) if isinstance(data, (list, tuple)) else [data]
    if not found or not all(isinstance(one, Measurements) for one in found):
        raise refuse(what, "Measurements, or a list of them", data)
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise DescriptionError(f"{what}: each experiment needs a name of its own; got {', '.join(names)}.")
    return found


def _check_only(parameters: list[Sought], experiments: list[Measurements]) -> None:
    """Refuse parameters of experiments that there are not."""
    known = list(dict.fromkeys(name for one in experiments for name in (one.name, one.group) if name))
    for parameter in parameters:
        for name in parameter.free.only or ():
            if name not in known:
                raise DescriptionError(
                    f"free: {parameter.name!r} is only of {name!r}{did_you_mean(name, known)}, but the experiments and their "
                    f"groups are {', '.join(known)}."
                )


def _result(search: Search, best: Any, seconds: float) -> Identified:
    """What was found, with its uncertainty."""
    x, k = best.x, len(search.parameters)
    residual, jacobian = search.residual(x), search.jacobian(x)
    low, high = search.bounds()
    found = uncertainty(search.parameters, jacobian[:, :k], jacobian[:, k:], residual)
    notes = list(found.notes)
    for i, p in enumerate(search.parameters):
        if x[i] - low[i] < AT_END or high[i] - x[i] < AT_END:
            end = p.low if x[i] - low[i] < AT_END else p.high
            notes.append(f"{p.name} ended at its bound {end:g}: the interval beside it is not to be trusted")
    if best.status == 0:
        notes.append(f"the search was not done after {best.nfev} steps: give more iterations")
    search.nuisances.values = x[k:]
    notes += _doubts(search, search.states(x))
    return Identified(
        source=search.source, parameters=search.parameters, data=search.experiments, found=search.values(x), search=x[:k],
        uncertain=found, nuisances=search.nuisances, notes=notes, evaluations=search.evaluations, seconds=seconds,
        by_differences={trial.data.name: trial.inexact for trial in search.trials if getattr(trial, "inexact", "")},
    )  # fmt: skip


def _doubts(search: Search, states: list[Any]) -> list[str]:
    """What is strange about the measurements: inputs that lack, another unit, exchanged labels, places that are not met."""
    notes = []
    for trial, there in zip(search.trials, states, strict=True):
        seen = {r.label[1]: r for r in read_sensors(trial, there, None, search.nuisances) if r.label[0] == "positions"}
        if not seen:
            continue
        computed = np.concatenate([r.value for r in seen.values()])
        measured = np.concatenate([r.value - r.miss for r in seen.values()])
        spread, size = _spread(measured), _spread(computed) + trial.size(there)
        if spread > OTHER_UNIT * size:
            notes.append(
                f"markers of {trial.data.name} are spread over {spread:.3g} m, far more than the robot is long: they may be "
                'in another unit, which Measurements.read(..., unit="mm") tells'
            )
        else:
            exchanged = mixed_up(trial.data, {name: r.value for name, r in seen.items()})
            notes.append(exchanged or _not_met(trial.data.name, computed, measured, trial.size(there)))
        notes += [_zeros(trial.data.name, name, r.value - r.miss) for name, r in seen.items()]
    return [*(note for note in notes if note), *_lacking(search, states, any("does not describe" in n for n in notes))]


def _lacking(search: Search, states: list[Any], hopeless: bool) -> list[str]:
    """What to say of inputs that no experiment gives; where none gives any, it just hung or swung, unless that fails."""
    given = {name for data in search.experiments for name in data.inputs}
    every = dict.fromkeys(
        name for trial, there in zip(search.trials, states, strict=True) for name in trial.actuators(there)
    )
    lacking = [name for name in every if name not in given]
    if not lacking or not (given or hopeless):
        return []
    return [f"no values are given for input{'s' * (len(lacking) > 1)} {', '.join(lacking)}; 0 is assumed"]


def _not_met(experiment: str, computed: Floats, measured: Floats, size: float) -> str:
    """What to say of places (rows, 3) that are missed by much of the size [m] of the robot; nothing if they are not."""
    seen = np.isfinite(measured).all(axis=1) & measured.any(axis=1)  # a lost marker may be at zero
    distances = np.linalg.norm((computed - measured)[seen], axis=1)
    off = float(np.sqrt(np.mean(distances**2))) / size if len(distances) else 0.0
    if off <= NOT_MET:
        return ""
    return (
        f"the model does not describe {experiment}: positions are off by {100 * off:.0f} % of the robot's length "
        "(axes? lengths? base?)"
    )


def _zeros(experiment: str, name: str, places: Floats) -> str:
    """What to say of a marker that is at zero now and then, as cameras write that have lost it; nothing if it is not."""
    zero, seen = np.all(places == 0.0, axis=1), np.isfinite(places).all(axis=1)
    if not zero.any() or zero.sum() == seen.sum():
        return ""
    return (
        f"marker {name} of {experiment} is at (0, 0, 0) in {zero.sum()} of {seen.sum()} rows: if it was lost there, give NaN "
        "or an empty cell"
    )


def _spread(places: Floats) -> float:
    """Diagonal [m] of the box around places (rows, 3), along the axes that were measured."""
    places = places[:, np.isfinite(places).any(axis=0)]
    return float(np.linalg.norm(np.nanmax(places, axis=0) - np.nanmin(places, axis=0)))
