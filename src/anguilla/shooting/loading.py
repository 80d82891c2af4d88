"""Loads of a robot at a time, sampled at the points and nodes of its segments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from anguilla.describe import RodHandle
from anguilla.describe.actuators import warn_slack
from anguilla.errors import DescriptionError, as_number
from anguilla.interact import DistributedWrench, Muscle
from anguilla.mechanics.tree import Floats
from anguilla.shooting.joints import imposed_values

if TYPE_CHECKING:
    from anguilla.shooting.problem import BoundaryProblem

Inputs = Mapping[str, float | Callable[[float], float]]
Stress = Mapping[RodHandle, Callable[[Floats, float], Floats]]


def sample_loads(problem: BoundaryProblem, t: float, inputs: Inputs | None, factor: float = 1.0) -> None:
    """Sample gravity, loads, inputs and active stress at a time [s], times a load factor."""
    robot, f, nodes = problem.robot, problem.fields, problem.nodes
    gravity = factor * robot.gravity_values([t])[0]
    f.dead[:, :3], f.dead[:, 3:] = 0.0, problem.weight[:, None] * gravity
    f.follower[:], f.stress[:], nodes.follower[:], nodes.dead[:] = 0.0, 0.0, 0.0, 0.0
    for load in robot.loads:
        if isinstance(load, DistributedWrench):
            goal = f.follower if load.follower else f.dead
            for s in problem.network.of(load.part.index):
                if problem.segments.intervals[s]:
                    goal[problem.points(s)] += factor * load.values(problem.network.X(s), [t])[0]
    for row, mass in problem.weights:
        nodes.dead[row, 3:] = mass * gravity
    for wrench, where, transport in problem.wrenches:
        if wrench.follower:
            nodes.follower[where] += factor * (transport @ wrench.values([t])[0])
        else:
            nodes.dead[where] = factor * wrench.values([t])[0]
    for rod, function in problem.stress.items():
        for s in problem.network.of(rod.index):
            if problem.segments.intervals[s]:
                X = problem.network.X(s)
                f.stress[problem.points(s)] += factor * as_field(
                    function(X, t), len(X), f"The active stress of {rod.name}"
                )
    for muscle, s, gain in problem.muscles:  # gain (xi - goal) = gain (xi - rest) + gain (rest - goal)
        at = problem.points(s)
        f.stress[at] += factor * (muscle.values(problem.network.X(s), [t])[0] + gain * problem.rest[at])
    tension = factor * _tensions(problem, t, inputs)
    if problem.follow_strain:
        problem.pulls[:] = np.where(problem.within, tension, 0.0)
    else:  # (17) at the rest strain
        for s in range(problem.count):
            at = problem.points(s)
            for k in np.flatnonzero(problem.within[s]):
                D, slope = problem.routes[at, k, :3], problem.routes[at, k, 3:]
                line = problem.rest[at, 3:] + np.cross(problem.rest[at, :3], D) + slope
                line /= np.linalg.norm(line, axis=1)[:, None]
                f.stress[at] += tension[k] * np.hstack([np.cross(D, line), line])
    problem.efforts = [factor * part.joint.effort_values([t])[0] for _, part in problem.jointed]
    problem.given = [
        (1.0 - factor) * part.joint.rest_values + factor * imposed_values(part, t)[:, 0] for _, part in problem.jointed
    ]


def _tensions(problem: BoundaryProblem, t: float, inputs: Inputs | None) -> Floats:
    tension = np.zeros(len(problem.robot.actuators))
    for k, (name, actuator) in enumerate(problem.robot.actuators.items()):
        given = (inputs or {}).get(name, 0.0)
        value = as_number(given(t) if callable(given) else given, f"inputs: the input of actuator {name!r}")
        if callable(given) and len(actuator.pushing(np.array([value]))):
            if name not in problem.told_slack:
                problem.told_slack.add(name)
                warn_slack(name, value, f"at t = {t:g} s")
            value = 0.0
        actuator.refuse_pushing(name, np.array([value]), np.array([t]))
        tension[k] = actuator.tension_per_input * value
    return tension


def add_muscles(problem: BoundaryProblem, f: dict[str, Floats]) -> list[tuple[Muscle, int, Floats]]:
    """Add the gains of muscles to the stiffness (92); returns muscles with the segments of their rods and the gains there."""
    muscles: list[tuple[Muscle, int, Floats]] = []
    for load in problem.robot.loads:
        if isinstance(load, Muscle):
            for s in problem.network.of(load.part.index):
                if problem.segments.intervals[s]:
                    free = f["compliance"][problem.points(s)] > 0.0
                    muscles.append((load, s, np.where(free, load.gains(problem.network.X(s)), 0.0)))
    for load, s, gain in muscles:
        at = problem.points(s)
        f["hooke"][at] += gain
        if np.any(f["hooke"][at] <= 0.0):
            raise DescriptionError(f"{load.label}: the sum of its gain and the stiffness of the rod must be positive.")
        f["compliance"][at] = np.where(f["compliance"][at] > 0.0, 1.0 / f["hooke"][at], 0.0)
    return muscles


def stream_inertia(load) -> Callable[[Floats], Floats]:
    """Added inertia (m, 6) per length of a stream along a rod, from its table of coefficients (m, 19)."""
    return lambda X: load.coefficients(X)[:, [15, 16, 17, 12, 13, 14]]


def as_field(value: object, n: int, name: str) -> Floats:
    """Check a field (n, 6) that a user's function returned."""
    array = np.asarray(value, dtype=float)
    if array.shape != (n, 6) or not np.all(np.isfinite(array)):
        raise DescriptionError(f"{name} must be an array of finite numbers ({n}, 6), one row per X; got {array.shape}.")
    return array
