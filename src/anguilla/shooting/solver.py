"""Root finding for the boundary-value problem: Newton's method on it, or Levenberg-Marquardt (73)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from anguilla.mechanics.tree import Floats
from anguilla.shooting.problem import BoundaryProblem, Unknowns
from anguilla.shooting.state import LAM
from anguilla.solve.newton.method import KeptSolver, Newton, Outcome
from anguilla.solve.newton.rules import (
    CONVERGED,
    DIVERGED,
    EXPLANATION,
    NOT_FINITE,
    SINGULAR,
    TOO_MANY_ITERATIONS,
)

LARGEST_TURN = 1.0  # of one correction [rad]
HALVINGS = 12
COARSEST = 1e-9  # precision of the stages along the rods in the first evaluation of a time step
STAGES_TO_STEP = 1e-7  # and of later ones, over the size of the correction: errors of stages grow along a segment
WORDS = EXPLANATION | {
    NOT_FINITE: "the integration along a rod overflowed",
    SINGULAR: "the derivative of the end conditions is singular",
}


def correction_size(problem: BoundaryProblem, u: Unknowns, step: Floats) -> tuple[float, float]:
    """Largest turn or relative displacement of a correction, and the largest relative change of any unknown."""
    d = step[: problem.count * problem.nd].reshape(problem.count, problem.nd)
    turn = max(float(np.max(np.abs(d[:, :3]))), float(np.max(np.abs(d[:, 3:6]))) / problem.length)
    largest = turn
    for at, scale in ((0, problem.force_scale * problem.length), (3, problem.force_scale)):
        size = max(scale, float(np.max(np.abs(u.start[:, LAM + at : LAM + at + 3]))))
        largest = max(largest, float(np.max(np.abs(d[:, problem.xdim + at : problem.xdim + at + 3]))) / size)
    return turn, largest


class _At(NamedTuple):
    """What is known at some unknowns: the residual, and its norm in natural units."""

    u: Unknowns
    residual: Floats
    merit: float


class EndConditions:
    """The residual of a boundary-value problem, as a problem for Newton's method.

    With `coarse`, the stages along the rods are found no more exactly than the last correction deserves.
    """

    reach = LARGEST_TURN

    def __init__(self, problem: BoundaryProblem, slack: Sequence[Floats], coarse: bool) -> None:
        self.problem, self.slack, self.coarse = problem, slack, coarse
        self.finest = float(problem.rule.precision[0])
        if coarse:
            problem.rule.precision[0] = max(self.finest, COARSEST)

    def evaluate(self, x: Unknowns) -> _At | None:
        """The residual; None if an integration overflowed."""
        if not self.problem.evaluate(x, False, self.slack):
            return None
        merit = _merit(self.problem)
        return _At(x, self.problem.residual.copy(), merit) if np.isfinite(merit) else None

    def factorise(self, at: _At) -> Callable[[_At], Floats] | None:
        """Integrate the tangent along the rods too, and factor it."""
        self.problem.evaluate(at.u, True, self.slack)
        solve = self.problem.factorise(at.u)
        return None if solve is None else lambda now: -solve(now.residual)

    def measure(self, at: _At, step: Floats) -> tuple[float, float]:
        """Size of a correction, and its largest turn or displacement."""
        turn, size = correction_size(self.problem, at.u, step)
        if self.coarse and np.isfinite(size):
            self.problem.rule.precision[0] = max(self.finest, min(COARSEST, STAGES_TO_STEP * size))
        return size, turn

    def move(self, at: _At, step: Floats, part: float) -> Unknowns:
        """Unknowns after a part of a correction."""
        return self.problem.move(at.u, step, part)

    def improves(self, at: _At, new: _At, step: Floats, part: float, near: bool) -> bool:
        """Whether the error falls."""
        return near or new.merit < at.merit


def newton(
    problem: BoundaryProblem, u: Unknowns, *, tolerance: float, most: int, slack: Sequence[Floats] = (),
    memory: KeptSolver | None = None,
) -> Outcome[Unknowns]:  # fmt: skip
    """Newton's method with the exact derivative, which a memory keeps over several solves (chord).

    The problem is left as evaluated at the unknowns that are returned.
    """
    ends = EndConditions(problem, slack, coarse=memory is not None)
    try:
        out = Newton(tolerance, most, chord=memory is not None, halvings=HALVINGS).solve(ends, u, memory)
    finally:
        problem.rule.precision[0] = ends.finest
    if out.status != CONVERGED:
        problem.evaluate(out.x, False, slack)
    return out


def _merit(problem: BoundaryProblem) -> float:
    """Norm of the residual in natural units; infinite rather than an overflow."""
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(problem.residual / problem.units[0]))


def levenberg(
    problem: BoundaryProblem, u: Unknowns, *, tolerance: float, most: int, slack: Sequence[Floats] = ()
) -> Outcome[Unknowns]:
    """Levenberg-Marquardt with an adaptive damping sigma (73) (errata 003.12: x - (J^T J + sigma 1)^-1 J^T r)."""
    rows, cols = problem.units
    if not problem.evaluate(u, True, slack):
        return Outcome(u, NOT_FINITE, 0, np.inf)
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
            return Outcome(u, DIVERGED, iteration, size)
        u, merit, sigma = trial, new, max(0.1 * sigma, 1e-16)
        if size < tolerance:
            return Outcome(u, CONVERGED, iteration, size)
    return Outcome(u, TOO_MANY_ITERATIONS, most, size)


SOLVERS = {"newton": newton, "levenberg": levenberg}
