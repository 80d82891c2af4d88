"""The rules of Newton's method, one definition for the compiled solver of rods and for `Newton` in Python.

Sizes of corrections are angles [rad] or relative displacements, or parts of what was asked for.
"""

from __future__ import annotations

from anguilla.compiler.jit import inline

# Statuses
CONVERGED, TOO_MANY_ITERATIONS, DIVERGED, SINGULAR, NOT_FINITE, TOO_COARSE, TOO_STRICT, IMPACT, ENDLESS, TIGHTENED = (
    range(10)
)
EXPLANATION = {
    CONVERGED: "converged",
    TOO_MANY_ITERATIONS: "Newton's corrections still shrink, but not fast enough",
    DIVERGED: "Newton's corrections grow, even after halving them",
    SINGULAR: "the tangent is singular",
    NOT_FINITE: "the residual is not finite",
    TOO_COARSE: "an interval of a rod turned by more than 3 rad: give the rod more intervals",
    TOO_STRICT: "the error goal would need steps too small to take",
    IMPACT: "an impact on an obstacle is too short to be followed",
    ENDLESS: "its steps need so many pieces that it would hardly end",
    TIGHTENED: "a slack line became taut",
}

ROUND_OFF = 1e-9  # corrections below it that no longer shrink are round-off
TRUSTED = 0.5  # [rad, or relative displacement] a correction below it tells how fast the next ones shrink
SLOWEST = 0.9  # ratio of two corrections above which nothing is foretold of the next ones
PATIENCE = 4.0  # corrections that a new tangent is worth
CAREFUL = 4.0  # times what is expected of a new tangent


@inline
def converged(size, before, contraction, goal):
    """Whether what is left after a correction of this size, as far as the one before it tells, is below the goal.

    A huge correction, along what nothing holds, makes any next one look as if they converged: it is not trusted.
    """
    trusted = contraction < SLOWEST and before < TRUSTED
    return size <= goal or (trusted and size * contraction / (1.0 - contraction) <= goal)


@inline
def too_slow(size, contraction, goal, patience):
    """Whether a kept tangent would take more further corrections than a new one is worth."""
    return contraction > SLOWEST or size * contraction**patience > goal * (1.0 - contraction)


@inline
def at_once(size, way, stale):
    """Ratio of a correction by a new tangent to the next.

    With a tangent of a place at some distance corrections shrink by a ratio that grows with the distance, to first order in
    proportion: `stale`, the way of a step (or more) ago. The new one is a correction away; a few times what that gives.
    """
    return CAREFUL * stale * size / way if way > 0.0 else 1.0


@inline
def expected(fresh, last):
    """Ratio of the first correction of a solve to the next: that of the last solve, trusted less and less.

    It tends to 1 until it is measured again. Quadratic convergence says nothing about the next, older tangent.
    """
    return 1.0 if fresh else last**0.8
