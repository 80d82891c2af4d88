"""Quasi-static equilibrium of soft bodies: Newton on the exact stiffness, with damping and load increments when needed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from anguilla._doors import public
from anguilla.errors import DescriptionError, SolverError, as_count, as_positive, warn
from anguilla.fem.body import SoftBody
from anguilla.fem.contact import Grip
from anguilla.fem.elements import inside_out
from anguilla.fem.mesh import Floats
from anguilla.fem.moves import Moves, lifted, moves_of, positions
from anguilla.fem.parts import Goal, Tendon
from anguilla.fem.results import SoftEquilibrium, Status
from anguilla.fem.system import Efforts, SoftState, SoftSystem
from anguilla.solve.newton.continuation import Attempt, Continuation, Followed, counted, halted
from anguilla.solve.newton.method import KeptSolver, Newton
from anguilla.solve.newton.rules import CONVERGED, EXPLANATION, NOT_FINITE, SINGULAR

__all__ = ["Task", "solve", "statics"]

TINY_STRAIN = 1e-7  # less is no load; BALANCED of it is still above the round-off of positions
BALANCED, LOOSE = 1e-6, 1e4  # most of the loads that may be left, and that over the tolerance of displacements
ROUND_OFF = 1e-7  # of the size of a body: a slender one has a stiffness whose condition costs nine digits
LOOSE_YET = 10**9  # directions of a stiffness that is singular
TOUCHING = 1e-3  # of the tolerance, where something touches
REACH = 0.5  # of the size of the body, in one correction: a soft direction does not throw it away
CONTRADICTED, LIMITED, UNBALANCED = range(100, 103)  # beside the statuses of Newton's method
WORDS = EXPLANATION | {
    NOT_FINITE: "elements turned inside out",
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
        moves: where the moved points go, by name; those of the body if not given.
        grip: what points that touch remember of the start, if friction shall act.

    """

    efforts: Floats
    driven: np.ndarray
    strokes: Floats
    moves: Mapping[str, Goal] | None = None
    grip: Grip | None = None


@dataclass
class Counts:
    """What solves took."""

    iterations: int = 0
    factorisations: int = 0
    halvings: int = 0
    shifts: int = 0
    unstable: int = 0  # directions in which the energy falls, at the last stiffness


class Held(NamedTuple):
    """A body and the efforts that hold it there."""

    state: SoftState
    efforts: Floats


class _At(NamedTuple):
    """What is known of a body: its energy [J], gradient (n, 3), what is left on the unknowns, blocks of the stiffness."""

    x: Held
    energy: float
    gradient: Floats
    left: Floats  # (3 size,)
    blocks: Floats  # those of the last evaluation


class Correction(NamedTuple):
    """A step (size, 3) of the unknowns, and the change of the driven efforts that goes with it."""

    step: Floats
    change: Floats


class Balance:
    """The balance of a body under a part of its load, as a problem for Newton's method."""

    reach = REACH

    def __init__(self, system: SoftSystem, task: Task, factor: float, counts: Counts) -> None:
        self.system, self.task, self.factor, self.counts = system, task, factor, counts
        self.size = float(np.linalg.norm(np.ptp(system.rest.x, axis=0)))
        frictional = any(isinstance(p, Tendon) and p.friction for p in system.body.actuators.values())
        self.potential = (
            not frictional and not len(task.driven) and task.grip is None
        )  # an energy that every step must lower
        self._blocks = np.zeros((len(system.pattern.rows), 9))

    def evaluate(self, x: Held) -> _At | None:
        """Energy, gradient and stiffness; None if an element is inside out."""
        energy, gradient, blocks = self.system.evaluate(
            x.state, x.efforts, factor=self.factor, stiffness=True, blocks=self._blocks, grip=self.task.grip
        )
        if not np.isfinite(energy):
            return None
        return _At(x, energy, gradient, self.system.unknowns.gather(x.state.x, gradient[None])[0], blocks)

    def factorise(self, at: _At) -> Callable[[_At], Correction] | None:
        """Factor the stiffness; a driven actuator may hold what is unstable without it, otherwise it is made definite."""
        solver, matrix = self.system.solver, self.system.unknowns.fold(at.x.state.x, at.blocks, at.gradient)
        try:
            if len(self.task.driven):
                self.counts.factorisations += 1
                negative = max(0, solver.factor(matrix))
                return lambda now: self._driven(now, negative)
            self._make_definite(matrix)
        except SolverError:
            return None
        return lambda now: Correction(solver.solve(-now.left[None])[0].reshape(-1, 3), np.zeros(0))

    def _make_definite(self, values: Floats) -> None:
        """Factor; a matrix that is not positive definite gets a multiple of the identity until it is."""
        system, counts = self.system, self.counts
        counts.factorisations += 1
        try:
            negative = counts.unstable = max(0, system.solver.factor(values))
        except SolverError:
            if system.touching is None:
                raise
            negative = counts.unstable = LOOSE_YET  # it falls until it touches
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

    def _driven(self, at: _At, negative: int) -> Correction:
        """The step with the change of the driven efforts that brings their strokes to the goal."""
        system, task, factor, state = self.system, self.task, self.factor, at.x.state
        # efforts are counted per unit of load factor; the rows carry the factor
        rows = factor * system.unknowns.gather(state.x, system.actuator_rows(state)[task.driven])
        w, finish = system.solver.gram(np.vstack([rows, -at.left]))
        # what the strokes hold is not free to fall: the inertia of the whole is that of K and of minus W
        self.counts.unstable = max(0, negative - int(np.sum(np.linalg.eigvalsh(w[:-1, :-1]) < 0.0)))
        lack = factor * (factor * task.strokes - system.strokes(state)[task.driven]) - w[:-1, -1]
        change = np.linalg.lstsq(w[:-1, :-1], lack, rcond=None)[0]
        return Correction(finish(np.append(change, 1.0)).reshape(-1, 3), change)

    def measure(self, at: _At, step: Correction) -> tuple[float, float]:
        """Largest displacement of a node, over the size of the body."""
        length = self.system.unknowns.length(at.x.state.x, step.step) / self.size
        return length, length

    def move(self, at: _At, step: Correction, part: float) -> Held:
        """The body after a part of a step; efforts are found anew by every correction, and changed at once."""
        state, efforts = at.x
        efforts = efforts.copy()
        if len(self.task.driven):
            efforts[self.task.driven] += step.change
        return Held(SoftState(*self.system.unknowns.move(state.x, state.rotations, part * step.step)), efforts)

    def improves(self, at: _At, new: _At, step: Correction, part: float, near: bool) -> bool:
        """Whether the energy falls, or what is left; without an energy nothing tells."""
        if not self.potential:
            return True
        slope = float(at.left @ step.step.ravel())
        low = new.energy <= at.energy + 1e-4 * part * slope + 1e-13 * abs(at.energy)
        return low or float(np.linalg.norm(new.left)) < float(np.linalg.norm(at.left))


def solve(
    system: SoftSystem, start: Held, task: Task, *, factor: float = 1.0, tolerance: float = 1e-10, most: int = 40,
    counts: Counts | None = None,
) -> Attempt[Held]:  # fmt: skip
    """Newton from a state under a part of the load; efforts of the start count where they are driven."""
    efforts = task.efforts.copy()
    efforts[task.driven] = start.efforts[task.driven]
    counts, start = counts or Counts(), Held(start.state, efforts)
    if system.can_drift(efforts) and not len(task.driven):
        return Attempt(start, SINGULAR, 0)
    if len(system.driven):
        goals = moves_of(system, None) if task.moves is None else task.moves
        try:
            state = lifted(system, start.state, efforts, positions(system, goals, factor=factor), factor)
        except SolverError:
            return Attempt(start, SINGULAR, 0)
        start = Held(state, efforts)
    memory = KeptSolver()
    round_off = ROUND_OFF * (1.0 if system.touching is None else TOUCHING)
    out = Newton(tolerance, most, round_off=round_off).solve(Balance(system, task, factor, counts), start, memory)
    counts.iterations += out.iterations
    counts.halvings += memory.halvings
    return Attempt(out.x, out.status, out.iterations)


@public
def statics(
    body: SoftBody | SoftSystem, *, inputs: Efforts | None = None, strokes: Efforts | None = None,
    moves: Moves | None = None, start: SoftEquilibrium | SoftState | None = None, tolerance: float = 1e-10,
    iterations: int = 40, solver: str = "auto", raise_on_failure: bool = True,
) -> SoftEquilibrium:  # fmt: skip
    """Find a static equilibrium of a soft body.

    Newton tries the full load first, from rest or from `start`; when that fails, gravity, loads, inputs and strokes are
    applied in steps that adapt themselves.

    Args:
        body: the body, or a compiled SoftSystem (saves the compilation when called often).
        inputs: tensions [N] and pressures [Pa] by name; absent ones are zero.
        strokes: actuators driven by displacement instead: shortening of tendons [m], gain of volume of chambers [m^3];
            the effort that this takes is found.
        moves: where moved points go, by the names of `SoftBody.move`: displacements (3,) [m] or poses (4, 4).
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
    task = make_task(system, inputs, strokes, moves)
    began = time.perf_counter()
    counts = Counts()
    held = task.efforts.copy()
    if isinstance(start, SoftEquilibrium):  # what drove a stroke there is near what it takes now
        held[task.driven] = start.efforts[task.driven]
    begin = Held(as_state(system, start), held)
    task = replace(task, grip=grip_of(system, start))
    fine = 1.0 if system.touching is None else TOUCHING  # a small depth is a large force
    options: dict[str, Any] = {"tolerance": fine * tolerance, "most": iterations, "counts": counts}
    out = solve(system, begin, task, **options)
    pieces, factor = 1, 1.0
    if out.status != CONVERGED and task.grip is None:
        found = _in_steps(system, task, options)
        out, pieces, factor = Attempt(found.x, found.status, 0), found.steps, found.factor
    elif out.status != CONVERGED:
        factor = 0.0
    (state, efforts), status = out.x, out.status
    counters = {**vars(counts), "load_steps": pieces}
    message = counted(counts.iterations, pieces)
    lack = _missed(system, task, state)
    if factor < 1.0:
        message = halted(factor, WORDS[status])
    elif lack:
        status, message = CONTRADICTED, f"{WORDS[CONTRADICTED]}: {lack}"
    elif wrong := _overdriven(system, task, efforts):
        status, message = LIMITED, wrong
    elif (left := unbalanced(system, state, efforts, task.grip)) > max(BALANCED, LOOSE * tolerance):
        status, message = UNBALANCED, f"{WORDS[UNBALANCED]}: {left:.2g} of the loads are left"
    elif counts.unstable == LOOSE_YET:
        status, message = SINGULAR, WORDS[SINGULAR]
    elif counts.unstable:
        message += " (unstable: it would not stay there)"
    ok = factor >= 1.0 and status == CONVERGED
    status_of = Status(ok, message, counters, time.perf_counter() - began)
    touched = None if system.touching is None else system.touching.touched(state.x, grip=task.grip)
    result = SoftEquilibrium(system.body, system, state, efforts, status_of, task.grip, touched)
    if ok:
        _warn(system, state, counts.unstable)
    if not ok and raise_on_failure:
        raise SolverError(
            f"No equilibrium of {system.body.name!r}: {message}.", result=result,
            advice=ADVICE.get(status, USUAL_ADVICE),
        )  # fmt: skip
    return result


def grip_of(system: SoftSystem, start: object, rate: float = 0.0) -> Grip | None:
    """What points that touch remember of a start; nothing without one, or without friction."""
    if system.touching is None or start is None or not (system.touching.rubs or rate):
        return None
    touched = start.touched if isinstance(start, SoftEquilibrium) else None
    root = touched.root if touched is not None and len(touched.root) == len(system.touching.nodes) else None
    return system.touching.grip(start.x, root=root, rate=rate)  # type: ignore[attr-defined]


def unbalanced(system: SoftSystem, state: SoftState, efforts: Floats, grip: Grip | None = None) -> float:
    """Sum of the forces left on the unknowns, over that of the loads, or of the elastic forces where they are greater."""
    _, gradient, _ = system.evaluate(state, efforts, grip=grip)
    loads = np.zeros_like(gradient)
    system.external_forces(state.x, efforts, 1.0, 0.0, loads, system.nothing_pulled, False)
    left = system.unknowns.gather(state.x, gradient[None]).reshape(-1, 3)
    at = len(system.unknowns.free) + 1
    left[at::2] /= float(np.linalg.norm(np.ptp(system.rest.x, axis=0)))  # moments of rigid parts
    total = lambda forces: float(np.linalg.norm(forces, axis=1).sum())
    el = system.elements
    nothing = TINY_STRAIN * float(el.mu @ el.weight.sum(axis=1) ** (2.0 / 3.0))  # forces of such a strain everywhere
    if system.body.natural:  # a body that has taken its natural shape has no stress left to compare with
        nothing = max(nothing, total(system.evaluate(system.rest, efforts, factor=0.0)[1]))
    return total(left) / max(total(loads), total(gradient - loads), nothing)


def _warn(system: SoftSystem, state: SoftState, unstable: int) -> None:
    """Say what is wrong with an equilibrium that was found: it would not stay, or elements are inside out."""
    if unstable:
        warn(
            f"{system.body.name!r} is in balance but would not stay so: its energy falls in {unstable} "
            f"direction{'s' * (unstable > 1)}, and symmetry alone may hold it. Load it a little sideways first and give that "
            "result as start=, to find the shape that it takes.",
        )  # fmt: skip
    if system.body.element != "quadratic":
        return  # linear elements have one deformation each, which the solver has seen
    bad = inside_out(system.grid, state.x)
    if len(bad):
        place = system.rest.x[system.grid.cells[bad[0], :4]].mean(axis=0)
        warn(
            f"{len(bad)} elements of {system.body.name!r} are inside out at a corner (the first is {bad[0]}, near "
            f"{place.round(4).tolist()} m at rest): stresses there mean nothing; refine the mesh there, or spread the load "
            "(pad=).",
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


def make_task(system: SoftSystem, inputs: Efforts | None, strokes: Efforts | None, moves: Moves | None = None) -> Task:
    """Check inputs and strokes."""
    efforts = system.efforts(inputs)
    goals = system.efforts(strokes, "strokes")
    driven = np.array([system.names.index(name) for name in strokes or {}], dtype=np.int64)
    both = sorted(set(inputs or {}) & set(strokes or {}))
    if both:
        raise DescriptionError(f"{both[0]!r} is given both in inputs and in strokes: drive it by one of them.")
    return Task(efforts, driven, goals[driven], moves_of(system, moves))


def as_state(system: SoftSystem, start: SoftEquilibrium | SoftState | None) -> SoftState:
    """Check where to start."""
    if start is None:
        return system.rest
    state = start.state if isinstance(start, SoftEquilibrium) else start
    if not isinstance(state, SoftState) or state.x.shape != system.rest.x.shape:
        raise DescriptionError("start must be an equilibrium of the same body, with the same mesh and element.")
    return state


def _in_steps(system: SoftSystem, task: Task, options: dict[str, Any]) -> Followed[Held]:
    """Apply the load in steps from rest."""

    def attempt(start: Held, last: Held, goal: float) -> Attempt[Held]:
        return solve(system, start, task, factor=goal, **options)

    def ahead(before: Held, now: Held, ratio: float) -> Held:
        x = now.state.x + ratio * (now.state.x - before.state.x)
        return Held(SoftState(x, now.state.rotations), now.efforts)

    straight = not len(system.rest.rotations)  # turns of rigid parts are not extrapolated
    return Continuation(again=True).follow(Held(system.rest, task.efforts), attempt, ahead if straight else None)
