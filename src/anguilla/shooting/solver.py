"""Root finding for the boundary-value problem: Newton with backtracking, or Levenberg-Marquardt (73)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anguilla.mechanics.tree import Floats
from anguilla.shooting.problem import Problem, Unknowns
from anguilla.shooting.state import LAM

LARGEST_TURN = 1.0  # of one correction [rad]
HALVINGS = 12
COARSEST = 1e-9  # precision of the stages along the rods in the first evaluation of a time step
STAGES_TO_STEP = 1e-7  # and of later ones, over the size of the correction: errors of stages grow along a segment
SLOW = 0.35  # a kept derivative is renewed when corrections shrink less than this


@dataclass
class Outcome:
    """What a root finder reached.

    Attributes:
        unknowns: the last accepted ones.
        success: whether the corrections became small enough.
        reason: why it stopped.
        iterations: corrections made.
        size: the last correction, in radians or relative to the length and to the stresses.

    """

    unknowns: Unknowns
    success: bool
    reason: str
    iterations: int
    size: float


def correction_size(problem: Problem, u: Unknowns, step: Floats) -> tuple[float, float]:
    """Largest turn or relative displacement of a correction, and the largest relative change of any unknown."""
    d = step[: problem.count * problem.nd].reshape(problem.count, problem.nd)
    turn = max(float(np.max(np.abs(d[:, :3]))), float(np.max(np.abs(d[:, 3:6]))) / problem.length)
    largest = turn
    for at, scale in ((0, problem.force_scale * problem.length), (3, problem.force_scale)):
        size = max(scale, float(np.max(np.abs(u.start[:, LAM + at : LAM + at + 3]))))
        largest = max(largest, float(np.max(np.abs(d[:, problem.xdim + at : problem.xdim + at + 3]))) / size)
    return turn, largest


@dataclass
class Memory:
    """A factorised derivative kept from one solve to the next (chord iterations)."""

    solve: Callable[[Floats], Floats] | None = None
    factorisations: int = 0


def newton(
    problem: Problem, u: Unknowns, *, tolerance: float, most: int, slack: Sequence[Floats] = (),
    memory: Memory | None = None,
) -> Outcome:  # fmt: skip
    """Newton's method with the exact derivative; a correction that does not help is halved.

    With a memory, the derivative is kept while the corrections shrink fast enough, over several solves.
    """
    chord, memory = memory is not None, memory or Memory()
    finest = float(problem.rule.precision[0])
    try:
        return _iterate(problem, u, tolerance, most, slack, memory, chord, finest)
    finally:
        problem.rule.precision[0] = finest


def _iterate(
    problem: Problem, u: Unknowns, tolerance: float, most: int, slack: Sequence[Floats], memory: Memory, chord: bool,
    finest: float,
) -> Outcome:  # fmt: skip
    if chord:
        problem.rule.precision[0] = max(finest, COARSEST)
    if not problem.evaluate(u, False, slack):
        memory.solve = None
        return Outcome(u, False, "the integration along a rod overflowed", 0, np.inf)
    merit = _merit(problem)
    size = np.inf
    for iteration in range(1, most + 1):
        fresh = memory.solve is None
        if fresh:
            problem.evaluate(u, True, slack)
            memory.solve = problem.factorise(u)
            memory.factorisations += 1
            if memory.solve is None:
                return Outcome(u, False, "the derivative of the end conditions is singular", iteration, size)
        assert memory.solve is not None
        step = -memory.solve(problem.residual)
        before = size
        turn, size = correction_size(problem, u, step)
        if not np.isfinite(size):
            memory.solve = None
            return Outcome(u, False, "the derivative of the end conditions is singular", iteration, size)
        if chord:  # stages as exact as this correction deserves
            problem.rule.precision[0] = max(finest, min(COARSEST, STAGES_TO_STEP * size))
        trial, new, factor = _search(problem, u, step, merit, turn, size < 1e3 * tolerance, slack)
        if trial is None:
            problem.evaluate(u, False, slack)
            memory.solve = None
            if not fresh:
                size = before
                continue  # judge with a new derivative
            reason = "Newton's corrections do not reduce the error, even when halved"
            if size < 1e-5:
                reason = f"corrections stay at {size:.1e}: round-off"
            return Outcome(u, False, reason, iteration, size)
        u, merit = trial, new
        contraction = size / before if before > 0.0 else 1.0  # zero at the first correction, which is not trusted
        shrinks = 0.0 < contraction < 0.5
        if factor == 1.0 and (size < tolerance or (shrinks and size * contraction < 0.1 * tolerance)):
            if not chord:
                memory.solve = None
            return Outcome(u, True, "converged", iteration, size)
        if size < 1e3 * tolerance and fresh and not size < 0.5 * before:
            memory.solve = None
            return Outcome(u, False, f"corrections stay at {size:.1e}: round-off", iteration, size)
        if not chord or (np.isfinite(before) and size > SLOW * before) or factor < 1.0:
            memory.solve = None
    memory.solve = None
    return Outcome(u, False, f"no convergence in {most} iterations", most, size)


def _merit(problem: Problem) -> float:
    """Norm of the residual in natural units; infinite rather than an overflow."""
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(problem.residual / problem.units[0]))


def _search(problem: Problem, u: Unknowns, step: Floats, merit: float, turn: float, near: bool, slack):
    """Unknowns after a part of a correction that reduces the error, the new error and that part; None if there is none."""
    factor = min(1.0, LARGEST_TURN / max(turn, 1e-300))
    for _ in range(HALVINGS):
        trial = problem.move(u, step, factor)
        if problem.evaluate(trial, False, slack):
            new = _merit(problem)
            if new < merit or (near and np.isfinite(new)):
                return trial, new, factor
        factor *= 0.5
    return None, merit, factor


def levenberg(problem: Problem, u: Unknowns, *, tolerance: float, most: int, slack: Sequence[Floats] = ()) -> Outcome:
    """Levenberg-Marquardt with an adaptive damping sigma (73) (errata 003.12: x - (J^T J + sigma 1)^-1 J^T r)."""
    rows, cols = problem.units
    if not problem.evaluate(u, True, slack):
        return Outcome(u, False, "the integration along a rod overflowed", 0, np.inf)
    sigma, size = 1e-3, np.inf
    merit = _merit(problem)
    n = problem.size
    for iteration in range(1, most + 1):
        matrix = problem.matrix(u)
        dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        J, r = dense * cols / rows[:, None], problem.residual / rows
        for _ in range(30):
            # the least-squares form of the normal equations keeps their accuracy
            stacked = np.vstack([J, np.sqrt(sigma) * np.eye(n)])
            step = cols * np.linalg.lstsq(stacked, np.concatenate([-r, np.zeros(n)]), rcond=None)[0]
            turn, size = correction_size(problem, u, step)
            trial = problem.move(u, step)
            good = turn < 2.0 * LARGEST_TURN and problem.evaluate(trial, True, slack)
            new = _merit(problem) if good else np.inf
            if new < merit or size < tolerance:
                break
            sigma = max(10.0 * sigma, 1e-12)
        else:
            return Outcome(u, False, "no damping reduces the error", iteration, size)
        u, merit, sigma = trial, new, max(0.1 * sigma, 1e-16)
        if size < tolerance:
            return Outcome(u, True, "converged", iteration, size)
    return Outcome(u, False, f"no convergence in {most} iterations", most, size)


SOLVERS = {"newton": newton, "levenberg": levenberg}
