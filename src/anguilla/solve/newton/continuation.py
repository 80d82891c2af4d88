"""Continuation: a solution followed from one problem to another, in steps that adapt themselves.

Statics of rods, volumes and shooting apply their loads with it when Newton fails under the whole of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from anguilla._words import numbered
from anguilla.solve.newton.rules import CONVERGED, ENDLESS

__all__ = ["Attempt", "Continuation", "Followed", "counted", "halted"]

X = TypeVar("X")


@dataclass(frozen=True)
class Attempt(Generic[X]):
    """A solution at a part of the way, or why there is none.

    Attributes:
        x: the solution.
        status: CONVERGED, or why it was not found.
        iterations: what it took.
        far: why it was found too far away to be the same solution followed; maybe nothing.

    """

    x: X
    status: int
    iterations: int
    far: str = ""


@dataclass(frozen=True)
class Followed(Generic[X]):
    """How far a solution was followed.

    Attributes:
        x: the last one.
        factor: part of the way at which it is; 1 if all of it was followed.
        steps: made, and one.
        status: of the last attempt.
        far: why that was refused although it converged; maybe nothing.

    """

    x: X
    factor: float
    steps: int
    status: int
    far: str


@dataclass(frozen=True)
class Continuation:
    """Steps from 0 to 1: doubled after an easy one, halved after a failure, given up when they get too small.

    Attributes:
        first: first step.
        smallest: smallest one.
        most: steps tried at most.
        easy: iterations up to which a step is an easy one.
        again: whether a step that fails from the extrapolated start is tried from the last solution before it is halved.
        cut: part of a step that is tried after a failure before any solution is found.

    """

    first: float = 0.125
    smallest: float = 1e-5
    most: int = 1000
    easy: int = 6
    again: bool = False
    cut: float = 0.5

    def follow(
        self, x: X, solve: Callable[[X, X, float], Attempt[X]], ahead: Callable[[X, X, float], X] | None
    ) -> Followed[X]:
        """Follow a solution from x, which holds at 0.

        Args:
            x: the solution at 0.
            solve: (start, last solution, part of the way) -> attempt there.
            ahead: (solution before, last solution, ratio) -> start of the next, on the line through both, by so many times
                their distance beyond the last; None to start from the last.

        """
        factor, step, steps, attempt = 0.0, self.first, 1, Attempt(x, CONVERGED, 0)
        before: tuple[float, Any] | None = None
        for _ in range(self.most):
            if factor >= 1.0 or step <= self.smallest:
                return Followed(x, factor, steps, attempt.status, attempt.far)
            goal = min(1.0, factor + step)
            if before is None or ahead is None:
                attempt = solve(x, x, goal)
            else:
                attempt = solve(ahead(before[1], x, (goal - factor) / (factor - before[0])), x, goal)
                if self.again and attempt.status != CONVERGED:
                    attempt = solve(x, x, goal)
            if attempt.status != CONVERGED or attempt.far:
                step *= 0.5 if before else self.cut
                continue
            before, x, factor = (factor, x), attempt.x, goal
            steps += 1
            if attempt.iterations <= self.easy:
                step *= 2.0
        return Followed(x, factor, steps, CONVERGED if factor >= 1.0 else ENDLESS, "")


def counted(iterations: int, steps: int) -> str:
    """How an equilibrium was found, in words."""
    return f"converged in {numbered(iterations, 'iteration')}, {numbered(steps, 'load increment')}"


def halted(factor: float, why: str) -> str:
    """How far the loads could be applied, in words."""
    return f"stopped at {factor:.3g} of the load: {why}"
