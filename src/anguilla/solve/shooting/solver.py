"""Root finding for the boundary-value problem: Newton with backtracking, or Levenberg-Marquardt (73)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anguilla.mechanics.tree import Floats
from anguilla.solve.shooting.point import LAM
from anguilla.solve.shooting.problem import Problem, Unknowns

LARGEST_TURN = 1.0  # of one correction [rad]
HALVINGS = 12
FLOOR = 1e-13


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


def scales(problem: Problem) -> tuple[Floats, Floats]:
    """Sizes of the equations and of the unknowns (size,): 1 rad, one length, and the forces of one rod bent by 1 rad."""
    length, force = problem.length, problem.force_scale
    motion = [1.0] * 3 + [length] * 3
    wrench = [force * length] * 3 + [force] * 3
    rate = np.sqrt(problem.scheme.second) if problem.scheme.second > 0.0 else max(problem.scheme.reduced, 1.0)
    if problem.moving:
        one = np.concatenate([motion, rate * np.array(motion), rate**2 * np.array(motion), wrench])
    else:
        one = np.array(motion + wrench)
    rows = np.tile(one, problem.count)
    extra_rows: list[float] = []
    extra_cols: list[float] = []
    for _, part in problem.jointed:
        turns = [bool(axis.turn) for axis in part.joint.axes for _ in range(axis.size)]
        extra_rows += [force * length if turn else force for turn in turns]
        extra_cols += [1.0 if turn else length for turn in turns]
    for _ in problem.roots:
        extra_rows += wrench
        extra_cols += motion
    for tie in problem.ties:
        angular = np.max(np.abs(tie.held[:3]), axis=0) > 0.5
        extra_rows += np.where(angular, 1.0, length).tolist()
        extra_cols += np.where(angular, force * length, force).tolist()
    return np.concatenate([rows, extra_rows]), np.concatenate([rows, extra_cols])


def correction_size(problem: Problem, u: Unknowns, step: Floats) -> tuple[float, float]:
    """Largest turn or relative displacement of a correction, and the largest relative change of any unknown."""
    d = step[: problem.count * problem.nd].reshape(problem.count, problem.nd)
    turn = max(float(np.max(np.abs(d[:, :3]))), float(np.max(np.abs(d[:, 3:6]))) / problem.length)
    largest = turn
    for at, scale in ((0, problem.force_scale * problem.length), (3, problem.force_scale)):
        size = max(scale, float(np.max(np.abs(u.start[:, LAM + at : LAM + at + 3]))))
        largest = max(largest, float(np.max(np.abs(d[:, problem.xdim + at : problem.xdim + at + 3]))) / size)
    return turn, largest


def newton(
    problem: Problem, u: Unknowns, *, tolerance: float, most: int, slack: Sequence[Floats] = ()
) -> Outcome:
    """Newton's method with the exact derivative; a correction that does not help is halved."""
    weight = 1.0 / scales(problem)[0]
    if not problem.evaluate(u, True, slack):
        return Outcome(u, False, "the integration along a rod overflowed", 0, np.inf)
    merit = float(np.linalg.norm(problem.residual * weight))
    size = np.inf
    for iteration in range(1, most + 1):
        step = problem.solve(u)
        if step is None:
            return Outcome(u, False, "the derivative of the end conditions is singular", iteration, size)
        before = size
        turn, size = correction_size(problem, u, step)
        factor = min(1.0, LARGEST_TURN / max(turn, 1e-300))
        for _ in range(HALVINGS):
            trial = problem.move(u, step, factor)
            if problem.evaluate(trial, True, slack):
                new = float(np.linalg.norm(problem.residual * weight))
                if new < merit or size < 1e3 * tolerance:
                    break
            factor *= 0.5
        else:
            problem.evaluate(u, True, slack)
            if size < 1e-6:
                return Outcome(u, False, f"corrections stay at {size:.1e}: round-off", iteration, size)
            return Outcome(u, False, "Newton's corrections do not reduce the error, even when halved", iteration, size)
        u, merit = trial, new
        if size < tolerance and factor == 1.0:
            return Outcome(u, True, "converged", iteration, size)
        if size < 1e3 * tolerance and not size < 0.5 * before:
            return Outcome(u, False, f"corrections stay at {size:.1e}: round-off", iteration, size)
    return Outcome(u, False, f"no convergence in {most} iterations", most, size)


def levenberg(
    problem: Problem, u: Unknowns, *, tolerance: float, most: int, slack: Sequence[Floats] = ()
) -> Outcome:
    """Levenberg-Marquardt with an adaptive damping sigma (73) (errata 003.12: x - (J^T J + sigma 1)^-1 J^T r)."""
    rows, cols = scales(problem)
    if not problem.evaluate(u, True, slack):
        return Outcome(u, False, "the integration along a rod overflowed", 0, np.inf)
    sigma, size = 1e-3, np.inf
    merit = float(np.linalg.norm(problem.residual / rows))
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
            new = float(np.linalg.norm(problem.residual / rows)) if good else np.inf
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
