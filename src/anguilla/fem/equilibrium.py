"""Quasi-static equilibrium of soft bodies: Newton on the exact stiffness, with damping and load steps when needed."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace

import numpy as np

from anguilla.errors import AnguillaWarning, DescriptionError, SolverError, as_count, as_positive
from anguilla.fem.body import SoftBody
from anguilla.fem.elements import inside_out
from anguilla.fem.mesh import Floats
from anguilla.fem.parts import Tendon
from anguilla.fem.results import SoftEquilibrium, Status
from anguilla.fem.system import Efforts, SoftState, SoftSystem

__all__ = ["Task", "solve", "statics"]

SMALLEST_STEP = 1e-4  # of the load
TINY_STRAIN = 1e-9  # less is no load
BALANCED, LOOSE = 1e-6, 1e4  # most of the loads that may be left, and that over the tolerance of displacements
CONVERGED, INVERTED, DIVERGED, TOO_MANY, SINGULAR, CONTRADICTED, LIMITED, UNBALANCED = range(8)
EXPLANATION = {
    CONVERGED: "converged",
    INVERTED: "elements turned inside out",
    DIVERGED: "no shorter step lowered the imbalance",
    TOO_MANY: "too many iterations",
    SINGULAR: "the stiffness is singular",
    CONTRADICTED: "the strokes cannot hold together",
    LIMITED: "a stroke takes an effort beyond the limits",
    UNBALANCED: "steps became small without balance",
}
ADVICE = {
    SINGULAR: "Hold more points (fix): the body can still slide or turn as a whole.",
    LIMITED: "The stroke that was asked for needs it: give another one, or the effort itself (inputs).",
    CONTRADICTED: "Drive fewer actuators by their stroke: one of them cannot change without another, or at all.",
}
USUAL_ADVICE = 'Load it less or in pieces (start=...), refine the mesh where it folds, or try law="neo_hookean".'


@dataclass(frozen=True)
class Task:
    """What an equilibrium must satisfy.

    Attributes:
        efforts: (actuators,) given efforts; ignored for actuators whose stroke is given.
        driven: numbers of the actuators whose stroke is given.
        strokes: their strokes [m, m^3].

    """

    efforts: Floats
    driven: np.ndarray
    strokes: Floats


@dataclass
class _Counts:
    iterations: int = 0
    factorisations: int = 0
    halvings: int = 0
    shifts: int = 0
    unstable: int = 0  # directions in which the energy falls, at the last stiffness


def _factor(system: SoftSystem, values: Floats, counts: _Counts) -> None:
    """Factor; a matrix that is not positive definite gets a multiple of the identity until it is."""
    counts.factorisations += 1
    negative = counts.unstable = max(0, system.solver.factor(values))
    if negative == 0:
        return
    diagonal = system.unknowns.rows == system.unknowns.cols
    size = float(np.abs(values[diagonal][:, [0, 4, 8]]).mean())
    shift = 1e-7 * size  # soft modes of slender bodies lie far below the diagonal
    while negative > 0 and shift < 1e4 * size:
        counts.factorisations += 1
        counts.shifts += 1
        shifted = values.copy()
        for k in (0, 4, 8):
            shifted[diagonal, k] += shift
        negative = system.solver.factor(shifted)
        shift *= 10.0


def _driven_step(
    system: SoftSystem, state: SoftState, task: Task, factor: float, r: Floats, matrix: Floats, counts: _Counts
) -> tuple[Floats, Floats]:
    """Newton's step (size, 3), and the change of the driven efforts that brings their strokes to the goal."""
    counts.factorisations += 1
    negative = max(0, system.solver.factor(matrix))  # a driven actuator may hold what is unstable without it: no shift
    # efforts are counted per unit of load factor; the rows carry the factor
    rows = factor * system.unknowns.gather(state.x, system.actuator_rows(state)[task.driven])
    w, finish = system.solver.gram(np.vstack([rows, -r]))
    # what the strokes hold is not free to fall: the inertia of the whole is that of K and of minus W
    counts.unstable = max(0, negative - int(np.sum(np.linalg.eigvalsh(w[:-1, :-1]) < 0.0)))
    lack = factor * (factor * task.strokes - system.strokes(state)[task.driven]) - w[:-1, -1]
    change = np.linalg.lstsq(w[:-1, :-1], lack, rcond=None)[0]
    return finish(np.append(change, 1.0)).reshape(-1, 3), change


def solve(
    system: SoftSystem, state: SoftState, task: Task, *, factor: float = 1.0, tolerance: float = 1e-10, most: int = 40,
    counts: _Counts | None = None,
) -> tuple[SoftState, Floats, int]:  # fmt: skip
    """Newton from a state: (state, efforts, status)."""
    counts = counts or _Counts()
    u = system.unknowns
    efforts = task.efforts.copy()
    size = float(np.linalg.norm(np.ptp(system.rest.x, axis=0)))
    frictional = any(isinstance(p, Tendon) and p.friction for p in system.body.actuators.values())
    potential = not frictional and not len(task.driven)  # an energy that every step must lower
    energy, gradient, blocks = system.evaluate(state, efforts, factor=factor, stiffness=True)
    if not np.isfinite(energy):
        return state, efforts, INVERTED
    if system.can_drift(efforts) and not len(task.driven):
        return state, efforts, SINGULAR
    before = np.inf
    for _ in range(most):
        counts.iterations += 1
        r = u.gather(state.x, gradient[None])
        matrix = u.fold(state.x, blocks, gradient)
        try:
            if len(task.driven):
                step, change = _driven_step(system, state, task, factor, r, matrix, counts)
                efforts[task.driven] += change
            else:
                _factor(system, matrix, counts)
                step = system.solver.solve(-r)[0].reshape(-1, 3)
        except SolverError:
            return state, efforts, SINGULAR
        length = u.length(state.x, step)
        if not np.isfinite(length):
            return state, efforts, DIVERGED
        # reach of one step: half the size of the body, so that a soft direction does not throw it away
        part = min(1.0, 0.5 * size / max(length, 1e-300))
        slope = float(r[0] @ step.ravel())
        norm = float(np.linalg.norm(r))
        for _ in range(25):
            trial = SoftState(*u.move(state.x, state.rotations, part * step))
            new_energy, new_gradient, blocks = system.evaluate(
                trial, efforts, factor=factor, stiffness=True, blocks=blocks
            )
            if np.isfinite(new_energy):
                if not potential:
                    break
                low = new_energy <= energy + 1e-4 * part * slope + 1e-13 * abs(energy)
                if low or float(np.linalg.norm(u.gather(trial.x, new_gradient[None]))) < norm:
                    break
            part *= 0.5
            counts.halvings += 1
        else:
            if length <= 1e-7 * size:  # round-off
                return state, efforts, CONVERGED
            return state, efforts, INVERTED if not np.isfinite(new_energy) else DIVERGED
        state, energy, gradient = trial, new_energy, new_gradient
        if length <= tolerance * size or (part == 1.0 and length < 1e-7 * size and length >= 0.5 * before):
            return state, efforts, CONVERGED
        before = length
    return state, efforts, TOO_MANY


def statics(
    body: SoftBody | SoftSystem, *, inputs: Efforts | None = None, strokes: Efforts | None = None,
    start: SoftEquilibrium | SoftState | None = None, tolerance: float = 1e-10, iterations: int = 40,
    solver: str = "ldl", raise_on_failure: bool = True,
) -> SoftEquilibrium:  # fmt: skip
    """Find a static equilibrium of a soft body.

    Newton tries the full load first, from rest or from `start`; when that fails, gravity, loads, inputs and strokes are
    applied in steps that adapt themselves.

    Args:
        body: the body, or a compiled SoftSystem (saves the compilation when called often).
        inputs: tensions [N] and pressures [Pa] by name; absent ones are zero.
        strokes: actuators driven by displacement instead: shortening of tendons [m], gain of volume of chambers [m^3];
            the effort that this takes is found.
        start: an equilibrium of the same body to start from; rest if not given.
        tolerance: largest last displacement, over the size of the body.
        iterations: most iterations of one Newton solve.
        solver: "ldl" (built in), "mkl" or "splu"; see `linear`.
        raise_on_failure: raise SolverError (with the last good state in `.result`) instead of returning a failed result.

    Returns:
        A SoftEquilibrium.

    """
    system = body if isinstance(body, SoftSystem) else SoftSystem(body, solver=solver)
    as_positive(tolerance, "tolerance")
    as_count(iterations, "iterations")
    task = make_task(system, inputs, strokes)
    began = time.perf_counter()
    counts = _Counts()
    state = as_state(system, start)
    found, efforts, status = solve(system, state, task, tolerance=tolerance, most=iterations, counts=counts)
    pieces, factor = 1, 1.0
    if status != CONVERGED:
        found, efforts, status, pieces, factor = _continuation(system, task, tolerance, iterations, counts)
    counters = {**vars(counts), "load_steps": pieces}
    message = f"converged in {counts.iterations} iterations, {pieces} load step{'s' * (pieces > 1)}"
    lack = _missed(system, task, found)
    if factor < 1.0:
        message = f"stopped at {factor:.3g} of the load: {EXPLANATION[status]}"
    elif lack:
        status, message = CONTRADICTED, f"{EXPLANATION[CONTRADICTED]}: {lack}"
    elif wrong := _overdriven(system, task, efforts):
        status, message = LIMITED, wrong
    elif (left := unbalanced(system, found, efforts)) > max(BALANCED, LOOSE * tolerance):
        status, message = UNBALANCED, f"{EXPLANATION[UNBALANCED]}: {left:.2g} of the loads are left"
    elif counts.unstable:
        message += " (unstable: it would not stay there)"
    ok = factor >= 1.0 and status == CONVERGED
    result = SoftEquilibrium(
        system.body, system, found, efforts, Status(ok, message, counters, time.perf_counter() - began)
    )
    if ok:
        _warn(system, found, counts.unstable)
    if not ok and raise_on_failure:
        raise SolverError(
            f"No equilibrium of {system.body.name!r}: {message}.", result=result,
            advice=ADVICE.get(status, USUAL_ADVICE),
        )  # fmt: skip
    return result


def unbalanced(system: SoftSystem, state: SoftState, efforts: Floats) -> float:
    """Sum of the forces left on the unknowns, over that of the loads, or of the elastic forces where they are greater."""
    _, gradient, _ = system.evaluate(state, efforts)
    loads = np.zeros_like(gradient)
    system._external(state.x, efforts, 1.0, 0.0, loads, system._nothing, False)
    left = system.unknowns.gather(state.x, gradient[None]).reshape(-1, 3)
    at = len(system.unknowns.free) + 1
    left[at::2] /= float(np.linalg.norm(np.ptp(system.rest.x, axis=0)))  # moments of rigid parts
    total = lambda forces: float(np.linalg.norm(forces, axis=1).sum())
    el = system.elements
    nothing = TINY_STRAIN * float(el.mu @ el.weight.sum(axis=1) ** (2.0 / 3.0))  # forces of such a strain everywhere
    return total(left) / max(total(loads), total(gradient - loads), nothing)


def _warn(system: SoftSystem, state: SoftState, unstable: int) -> None:
    """Say what is wrong with an equilibrium that was found: it would not stay, or elements are inside out."""
    if unstable:
        warnings.warn(
            f"{system.body.name!r} is in balance but would not stay so: its energy falls in {unstable} "
            f"direction{'s' * (unstable > 1)}, and symmetry alone may hold it. Load it a little sideways first and give that "
            "result as start=, to find the shape that it takes.", AnguillaWarning, stacklevel=3,
        )  # fmt: skip
    if system.body.element != "quadratic":
        return  # linear elements have one deformation each, which the solver has seen
    bad = inside_out(system.grid, state.x)
    if len(bad):
        place = system.rest.x[system.grid.cells[bad[0], :4]].mean(axis=0)
        warnings.warn(
            f"{len(bad)} elements of {system.body.name!r} are inside out at a corner (the first is {bad[0]}, near "
            f"{place.round(4).tolist()} m at rest): stresses there mean nothing; refine the mesh there, or spread the load "
            "(pad=).", AnguillaWarning, stacklevel=3,
        )  # fmt: skip


def _missed(system: SoftSystem, task: Task, state: SoftState) -> str:
    """Which stroke was not reached, in words; empty if all were."""
    if not len(task.driven):
        return ""
    off = system.strokes(state)[task.driven] - task.strokes
    power = np.array([1 if isinstance(part, Tendon) else 3 for part in system.body.actuators.values()])
    scale = float(np.linalg.norm(np.ptp(system.rest.x, axis=0))) ** power[task.driven]  # of lengths and volumes
    worst = int(np.argmax(np.abs(off) / scale))
    if abs(off[worst]) <= 1e-7 * scale[worst]:
        return ""
    return f"that of {system.names[task.driven[worst]]!r} is off by {off[worst]:.3g}"


def _overdriven(system: SoftSystem, task: Task, efforts: Floats) -> str:
    """Which driven actuator would need an effort beyond its limits, in words; empty if none."""
    low, high, _, _ = system.limits()
    stiff = float(system.elements.mu.max())
    for k in task.driven:
        # round-off of the last displacement, as a pressure or a force
        slack = 1e-9 * stiff
        if isinstance(system.body.actuators[system.names[k]], Tendon):
            slack *= float(np.linalg.norm(np.ptp(system.rest.x, axis=0))) ** 2
        if not low[k] - slack <= efforts[k] <= high[k] + slack:
            return system.beyond(int(k), float(efforts[k]))
    return ""


def make_task(system: SoftSystem, inputs: Efforts | None, strokes: Efforts | None) -> Task:
    """Check inputs and strokes."""
    efforts = system.efforts(inputs)
    goals = system.efforts(strokes, "strokes")
    driven = np.array([system.names.index(name) for name in strokes or {}], dtype=np.int64)
    both = sorted(set(inputs or {}) & set(strokes or {}))
    if both:
        raise DescriptionError(f"{both[0]!r} is given both in inputs and in strokes: drive it by one of them.")
    return Task(efforts, driven, goals[driven])


def as_state(system: SoftSystem, start: SoftEquilibrium | SoftState | None) -> SoftState:
    """Check where to start."""
    if start is None:
        return system.rest
    state = start.state if isinstance(start, SoftEquilibrium) else start
    if not isinstance(state, SoftState) or state.x.shape != system.rest.x.shape:
        raise DescriptionError("start must be an equilibrium of the same body, with the same mesh and element.")
    return state


def _continuation(
    system: SoftSystem, task: Task, tolerance: float, iterations: int, counts: _Counts
) -> tuple[SoftState, Floats, int, int, float]:
    """Apply the load in steps from rest; the next start is extrapolated from the last two equilibria."""
    state, efforts, factor, step, pieces = system.rest, task.efforts, 0.0, 0.125, 1
    previous: tuple[float, SoftState] | None = None
    status = CONVERGED
    while factor < 1.0 and step > SMALLEST_STEP:
        goal = min(1.0, factor + step)
        guess = state
        if previous is not None and not len(state.rotations):
            ratio = (goal - factor) / (factor - previous[0])
            guess = SoftState(state.x + ratio * (state.x - previous[1].x), state.rotations)
        before = counts.iterations
        part = replace(task, efforts=efforts) if len(task.driven) else task
        trial, found, status = solve(
            system, guess, part, factor=goal, tolerance=tolerance, most=iterations, counts=counts
        )
        if status != CONVERGED and guess is not state:
            trial, found, status = solve(
                system, state, part, factor=goal, tolerance=tolerance, most=iterations, counts=counts
            )
        if status != CONVERGED:
            step *= 0.5
            continue
        previous, state, efforts, factor = (factor, state), trial, found, goal
        pieces += 1
        if counts.iterations - before <= 8:
            step *= 2.0
    return state, efforts, status, pieces, factor
