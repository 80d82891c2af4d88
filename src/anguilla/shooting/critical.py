"""The critical time step (88): how much the initial-value problem along a segment amplifies an error, and what follows.

A short step a = beta dt^2 makes the beam of one step stiff in space: small bending waves w obey EI w'''' + rho A w / a
= 0, whose solutions grow like exp(k X), k = (rho A / 4 a EI)^(1/4); rotary inertia, twisting and stretching have waves of
their own. Over a segment of length l the growth is exp(k l); where it is too large, Newton finds no root of the end
conditions any more (and beyond 1e16 there is none in double precision). A growth G is reached at
dt = l^2 sqrt(rho A / EI) / (2 sqrt(beta) ln^2 G): the law (88), with its prefactor.
"""

from __future__ import annotations

import numpy as np

from anguilla._doors import public
from anguilla.describe import STRAIN_NAMES, Robot, RodHandle
from anguilla.errors import as_count, as_positive
from anguilla.model.model import Model
from anguilla.shooting.door import robot_of
from anguilla.shooting.problem import BoundaryProblem

CARRIED = 2500.0  # growth exp(k l) over one segment that Newton still survives: measured 2300 to 6800

__all__ = ["critical_step"]


def growth_of(problem: BoundaryProblem) -> float:
    """Largest entry of the scaled transfers d end / d start of all segments, after an evaluation with its tangent."""
    scale = problem.scale
    with np.errstate(over="ignore", invalid="ignore"):
        T = problem.transfer * scale[None, None, :] / scale[None, :, None]
        return float(np.max(np.abs(T)))


def beam_time(rod: RodHandle) -> float:
    """l^2 sqrt(rho A / EI) [s], with the largest value along the rod."""
    X = np.linspace(0.0, rod.length, 50)
    stiffness, inertia = rod.rod.hooke(X), rod.rod.inertia(X)
    bending = [i for i, name in ((1, "bend_y"), (2, "bend_z")) if name in rod.rod.strains]
    if not bending:
        return 0.0
    return rod.length**2 * float(np.sqrt(np.max(inertia[:, 3] / np.min(stiffness[:, bending], axis=1))))


def growth_rate(rod: RodHandle, second: float) -> float:
    """Largest Re k [1/m] of waves exp(k X) in one step with 1/a = second [1/s^2], straight rod at rest.

    Bending EI k^4 - rho I k^2 / a + rho A / a = 0, twisting GJ k^2 = rho J / a, stretching EA k^2 = rho A / a.
    """
    X = np.linspace(0.0, rod.length, 50)
    stiffness, inertia = rod.rod.hooke(X), second * rod.rod.inertia(X)
    largest = 0.0
    for i, name in enumerate(STRAIN_NAMES):
        if name not in rod.rod.strains:
            continue
        if name.startswith("bend"):
            half = (0.5 * inertia[:, i] / stiffness[:, i]).astype(complex)
            roots = half + np.sqrt(half**2 - inertia[:, 3] / stiffness[:, i])
        else:
            roots = (inertia[:, i] / stiffness[:, i]).astype(complex)
        largest = max(largest, float(np.max(np.sqrt(roots).real)))
    return largest


@public
def critical_step(robot: Robot | Model, *, shoots: int = 10, growth: float = CARRIED, beta: float = 0.25) -> float:
    """Time step [s] below which shooting is expected to fail: (88), with the rotary inertia of thick rods.

    Args:
        robot: the robot, or its model.
        shoots: segments a rod is cut into.
        growth: growth over a segment that is still carried.
        beta: of the Newmark scheme.

    """
    robot = robot_of(robot)
    as_count(shoots, "shoots")
    carried = np.log(as_positive(growth, "growth")) * shoots
    rods = [part for part in robot.parts if isinstance(part, RodHandle)]
    low, high = 1e-12, 1e6  # [s]
    while high / low > 1.0 + 1e-6:
        dt = np.sqrt(low * high)
        grown = max((growth_rate(rod, 1.0 / (beta * dt * dt)) * rod.length for rod in rods), default=0.0)
        low, high = (dt, high) if grown > carried else (low, dt)
    return float(high)


def expected_growth(problem: BoundaryProblem) -> float:
    """Growth of waves over the longest segment of each rod, for the step a = 1 / scheme.second (or its like in (89))."""
    second = problem.scheme.second if problem.scheme.second > 0.0 else problem.scheme.rate**2
    largest = 0.0
    for part in problem.robot.parts:
        if isinstance(part, RodHandle):
            own = [problem.network.segments[s] for s in problem.network.of(part.index)]
            longest = max(segment.X1 - segment.X0 for segment in own)
            largest = max(largest, longest * growth_rate(part, second))
    return float(np.exp(min(largest, 700.0)))


def explain(problem: BoundaryProblem, dt: float, reason: str) -> str:
    """Why a time step failed, with the critical time step when that is the reason."""
    growth = expected_growth(problem)
    if growth < 0.1 * CARRIED:
        return reason
    scale = max(beam_time(part) for part in problem.robot.parts if isinstance(part, RodHandle))
    return (
        f"{reason}. dt = {dt:g} s, {dt / scale:.1e} of l^2 sqrt(rho A / EI) = {scale:.3g} s, is near or below the "
        f"critical time step of shooting (003 (88)): over one segment errors grow by {growth:.1e}; with "
        f"{_enough(problem)} shoots they would not"
    )


def _enough(problem: BoundaryProblem) -> int:
    """Number of shoots with which the growth over a segment is well below what is carried."""
    return int(np.ceil(problem.shoots * np.log(expected_growth(problem)) / np.log(0.1 * CARRIED)))
