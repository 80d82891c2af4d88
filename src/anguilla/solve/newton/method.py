"""Newton's method, for any problem that tells its residual, its linear solver and the size of a correction.

Volumes and shooting use it as it stands. The solver of rods (newton.py) is compiled as a whole, with the same rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from anguilla.solve.newton.rules import (
    CONVERGED,
    DIVERGED,
    NOT_FINITE,
    PATIENCE,
    ROUND_OFF,
    SINGULAR,
    TOO_MANY_ITERATIONS,
    converged,
    expected,
    too_slow,
)

__all__ = ["Equations", "KeptSolver", "Newton", "Outcome"]


X = TypeVar("X")
E = TypeVar("E")


class Equations(Protocol[X, E]):
    """What Newton's method asks of a problem; X is a state and E an evaluation there, as the problem likes them."""

    reach: float  # largest correction made at once, in its own measure

    def evaluate(self, x: X) -> E | None:
        """What is known at a state; None where nothing is: an element turned inside out, an overflow."""
        ...

    def factorise(self, at: E) -> Callable[[E], Any] | None:
        """The linear solver of the tangent: the correction at an evaluation, there or near. None if it is singular."""
        ...

    def measure(self, at: E, step: Any) -> tuple[float, float]:
        """(size of a correction, size of what `reach` limits), as angles [rad] or relative displacements."""
        ...

    def move(self, at: E, step: Any, part: float) -> X:
        """The state after a part of a correction."""
        ...

    def improves(self, at: E, new: E, step: Any, part: float, near: bool) -> bool:
        """Whether a part of a correction leads to something better; near the solution round-off spoils most measures."""
        ...


@dataclass
class KeptSolver:
    """A linear solver that is kept from one solve to the next (chord), and how fast corrections shrank with it."""

    solve: Callable[[Any], Any] | None = None
    contraction: float = 1.0
    factorisations: int = 0
    halvings: int = 0

    def forget(self) -> None:
        """Let the solver go: the next solve begins with a new one."""
        self.solve = None


@dataclass(frozen=True)
class Outcome(Generic[X]):
    """What Newton's method reached.

    Attributes:
        x: the last accepted state.
        status: CONVERGED, or why it stopped (rules.py).
        iterations: corrections made.
        size: the last of them, as an angle [rad] or a relative displacement.

    """

    x: X
    status: int
    iterations: int
    size: float


@dataclass(frozen=True)
class Newton:
    """Newton's method with the exact tangent; a correction that does not help is halved.

    Attributes:
        tolerance: error of the solution, estimated by the last corrections.
        most: iterations.
        chord: keep the factorised tangent, over several solves with one memory, while corrections shrink fast enough.
        halvings: of one correction, at most.
        round_off: a correction below it that no longer shrinks, or that nothing improves, is round-off.
        patience: corrections that a new factorisation is worth, when one is kept.

    """

    tolerance: float
    most: int
    chord: bool = False
    halvings: int = 25
    round_off: float = ROUND_OFF
    patience: float = PATIENCE

    def solve(self, problem: Equations[X, E], x: X, memory: KeptSolver | None = None) -> Outcome[X]:
        """Solve from a state."""
        memory = memory or KeptSolver()
        at = problem.evaluate(x)
        if at is None:
            memory.forget()
            return Outcome(x, NOT_FINITE, 0, np.inf)
        size = np.inf
        for number in range(1, self.most + 1):
            fresh = memory.solve is None
            if memory.solve is None:
                memory.factorisations += 1
                memory.solve = problem.factorise(at)
                if memory.solve is None:
                    return Outcome(x, SINGULAR, number, size)
            step = memory.solve(at)
            before, (size, far) = size, problem.measure(at, step)
            if not np.isfinite(size):
                memory.forget()
                return Outcome(x, DIVERGED, number, size)
            found, part = self._search(problem, at, step, min(1.0, problem.reach / max(far, 1e-300)), size, memory)
            if found is None:
                memory.forget()
                if not fresh:
                    size = before
                    continue  # judge with a new tangent
                if size <= self.round_off:
                    return Outcome(x, CONVERGED, number, size)
                return Outcome(x, NOT_FINITE if part == 0.0 else DIVERGED, number, size)
            at, x = found
            known = 0.0 < before < np.inf
            contraction = size / before if known else expected(fresh, memory.contraction)
            memory.contraction = 1.0 if fresh else contraction
            stalled = fresh and size <= self.round_off and not size < 0.5 * before
            found_it = converged(size, before if known else 0.0, contraction, self.tolerance) or stalled
            if size <= self.tolerance or (part == 1.0 and found_it):
                if not self.chord:
                    memory.forget()
                return Outcome(x, CONVERGED, number, size)
            slow = known and not fresh and too_slow(size, contraction, self.tolerance, self.patience)
            if not self.chord or part < 1.0 or slow:
                memory.forget()
        memory.forget()
        return Outcome(x, TOO_MANY_ITERATIONS, self.most, size)

    def _search(
        self, problem: Equations[X, E], at: E, step: Any, part: float, size: float, memory: KeptSolver
    ) -> tuple[tuple[E, X] | None, float]:
        """(what is known after a part of a correction that helps, the state there), and that part.

        None if there is none; the part is then 0 where nothing is known after any of them.
        """
        near, known = size <= 1e3 * self.tolerance, False
        for _ in range(self.halvings):
            x = problem.move(at, step, part)
            new = problem.evaluate(x)
            if new is not None:
                known = True
                if problem.improves(at, new, step, part, near):
                    return (new, x), part
            part *= 0.5
            memory.halvings += 1
        return None, part if known else 0.0
