"""Branches of equilibria under a growing load: continuation by arc length, limit points, bifurcations, other branches.

The load factor is the time t of the loads: whatever is written as a function of t (wrenches, efforts, gravity, inputs,
prescribed motions, poses of closures) is taken at t = factor; the robot is at rest. A branch is followed in (q, lambda, t)
by steps along its tangent, each corrected in the plane across it, so that it passes the points where the load turns back.

At an equilibrium the constrained stiffness has as many negative eigenvalues as there are directions in which the energy
falls. Where that number changes, an eigenvalue crosses zero, with the direction z. If the load does work along z, the load
turns back there, a limit point (snap-through); if not, another branch crosses, a bifurcation (buckling).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe import Robot
from anguilla.errors import DescriptionError, SolverError, as_count, as_named, as_positive, as_vector, refuse
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Inputs, Model
from anguilla.results.reactions import refuse_holding
from anguilla.results.states import Equilibrium, Status, Trajectory
from anguilla.solve.branches.crossings import apart, located
from anguilla.solve.branches.paths import Curve, Point
from anguilla.solve.modes.modes import Stability
from anguilla.solve.newton.closing import close
from anguilla.solve.newton.dense import balanced
from anguilla.solve.statics.statics import statics

__all__ = ["Branch", "SpecialPoint", "trace"]

LIMIT, BIFURCATION = "limit", "bifurcation"
WORK = (
    1e-3  # of the load along the critical direction, relative: below, it is a bifurcation (grid and modes disturb it)
)


@dataclass(frozen=True)
class SpecialPoint:
    """A point of a branch where stability changes.

    Attributes:
        kind: "limit" where the load turns back, "bifurcation" where other branches cross.
        factor: load factor.
        after: number of the stored point before it.
        q, multipliers: the equilibrium there.
        directions: (n, k) changes of the coordinates in which it is neutral; k > 1 where several branches cross at once.

    """

    kind: str
    factor: float
    after: int
    q: Floats
    multipliers: Floats
    directions: Floats

    def __repr__(self) -> str:
        return f"<{self.kind} point at factor {self.factor:.8g}>"


@public
@dataclass(frozen=True)
class Branch:
    """A branch of equilibria.

    Attributes:
        factors: (k,) load factors.
        q, multipliers: (k, n), (k, m) coordinates and multipliers of the constraints.
        unstable: (k,) number of directions in which the energy falls.
        lowest: (k,) lowest eigenvalue of the constrained stiffness [J per square of an angle or relative displacement].
        special: limit points and bifurcations, in order.
        status: how the trace ended.

    """

    robot: Robot
    system: Model
    factors: Floats
    q: Floats
    multipliers: Floats
    unstable: np.ndarray
    lowest: Floats
    special: list[SpecialPoint]
    inputs: Inputs
    status: Status = field(repr=False)

    @property
    def stable(self) -> np.ndarray:
        """(k,) whether each equilibrium is stable."""
        return self.unstable == 0

    def __len__(self) -> int:
        return len(self.factors)

    def equilibrium(self, k: int) -> Equilibrium:
        """The k-th equilibrium, as `statics` returns it."""
        q = self.q[[k]]
        states = self.factors[[k]], q, 0.0 * q, 0.0 * q, self.multipliers[[k]]
        return Equilibrium(self.robot, self.system, Status(True, f"point {k} of a branch"), *states, self.inputs)

    @property
    def equilibria(self) -> list[Equilibrium]:
        """All equilibria."""
        return [self.equilibrium(k) for k in range(len(self))]

    def motion(self) -> Trajectory:
        """The branch as a Trajectory to look at, ten equilibria a second.

        Its times are not the load factors, so ask forces of `equilibrium(k)`.
        """
        rest = 0.0 * self.q
        times = 0.1 * np.arange(len(self), dtype=np.float64)
        return Trajectory(
            self.robot, self.system, self.status, times, self.q, rest, rest, self.multipliers, self.inputs
        )

    @property
    def limits(self) -> list[SpecialPoint]:
        """The limit points."""
        return [point for point in self.special if point.kind == LIMIT]

    @property
    def bifurcations(self) -> list[SpecialPoint]:
        """The bifurcations."""
        return [point for point in self.special if point.kind == BIFURCATION]

    def __repr__(self) -> str:
        low, high = float(np.min(self.factors)), float(np.max(self.factors))
        found = ", ".join(f"{p.kind} {p.factor:.5g}" for p in self.special) or "no special point"
        return f"<branch of {self.robot.name!r}: {len(self)} equilibria, factors {low:.4g} to {high:.4g}, {found}>"


def _special(path: Curve, point: Point, state: Stability, after: int, count: int, turns: bool) -> SpecialPoint:
    """Name the special point by the work of the load along the neutral directions; it is no limit unless the load turns.

    At the point the matrix F_x is singular; with l its left null vectors, l . F_s = 0 is the condition that the branch goes
    on in the direction of the load, and others cross it. (For a symmetric stiffness l are the neutral directions, with the
    multipliers that go with them.)
    """
    nearest = np.argsort(np.abs(state.eigenvalues), kind="stable")[:count]
    matrix, column = path.slopes(point)
    scaled, rows, _ = balanced(matrix)
    column = column / rows
    left = np.linalg.svd(scaled)[0][:, -count:]
    work = float(np.linalg.norm(left.T @ column))
    kind = LIMIT if turns and work > WORK * max(float(np.linalg.norm(column)), 1e-300) else BIFURCATION
    return SpecialPoint(kind, point.s, after, point.q, point.lam, state.shapes[:, nearest])


@public
def trace(
    robot: Robot | Model, *, factors: tuple[float, float], limits: tuple[float, float] | None = None,
    inputs: Inputs | None = None,
    start: Equilibrium | SpecialPoint | ArrayLike | None = None, direction: ArrayLike | int = 1, step: float = 0.05,
    largest_step: float = 0.2, points: int = 400, special: int | None = None, tolerance: float = 1e-10,
    neutral: float = 1e-12, raise_on_failure: bool = True,
) -> Branch:  # fmt: skip
    """Follow equilibria as the load changes, through limit points, and find where they lose stability.

    The load factor is the time t of everything that depends on it: write the growing load as a function of t, such as
    ``TipWrench(arm, force=lambda t: (-t, 0, 0))``, or an input as ``inputs={"pull": lambda t: 5 * t}``.

    Args:
        robot: the robot, or its model.
        factors: the first load factor, and the last.
        limits: lowest and highest load factor: the trace ends when the load leaves this range; `factors` if not given.
        inputs: inputs of the actuators by name: numbers, or functions of the load factor t.
        start: an equilibrium at the first factor, or coordinates (n,) near one; or a special point of another branch, to
            follow the branch that leaves it.
        direction: from a special point, +1 or -1 along its (first) neutral direction, or weights (k,) of its directions,
            or a change of all coordinates (n,). Else +1 to begin towards the last factor, -1 away from it.
        step: length of the first step, as an angle [rad] or relative displacement, or a part of the range of factors.
        largest_step: longest step.
        points: most points.
        special: stop after so many special points; go on to the end of the range if not given.
        tolerance: size of the last correction of each point.
        neutral: eigenvalues below this part of the largest are zero: raise it for a robot that can move without effort.
        raise_on_failure: raise SolverError (with the branch so far in `.result`) instead of returning it.

    Returns:
        A Branch.

    """
    model = model_of(robot)
    first, last = (float(x) for x in as_vector(factors, 2, "factors"))
    if first == last:
        raise DescriptionError("factors must be two different numbers, the first and the last load factor.")
    low, high = (
        float(x) for x in as_vector((min(first, last), max(first, last)) if limits is None else limits, 2, "limits")
    )
    if not low <= first <= high or not low < high:
        raise DescriptionError(
            f"limits must be two increasing numbers around the first factor, {first:g}; got {limits!r}."
        )
    for value, name in ((step, "step"), (largest_step, "largest_step"), (tolerance, "tolerance"), (neutral, "neutral")):
        as_positive(value, name, "")
    as_count(points, "points", minimum=2)
    enough = np.inf if special is None else as_count(special, "special")
    span = abs(last - first)
    refuse_holding(model.blank, "trace", "; or take statics, each equilibrium from the one before")
    if np.any(model.blank.cables.friction != 0.0):
        raise DescriptionError(
            "trace does not support tendons with friction, whose equilibria depend on their history. Set friction=0."
        )
    path, point = _start(model, start, as_named(inputs), first, span, tolerance, neutral)
    along = _begin(path, point, start, direction, float(np.sign(last - first)))
    walk = _walk(path, point, along, (low, high), step, largest_step, points,
                 leaving=isinstance(start, SpecialPoint))  # fmt: skip
    return _collect(model.source, path, walk, enough, raise_on_failure)


def _start(
    robot: Model, start, inputs: Inputs, first: float, span: float, tolerance: float, neutral: float
) -> tuple[Curve, Point]:
    """The path and its first point: a special point, a start corrected at the first factor, or what `statics` finds."""
    factor = start.factor if isinstance(start, SpecialPoint) else first
    if start is not None:
        system = start.system if isinstance(start, Equilibrium) else robot
        q = system.vector(start.q if isinstance(start, (Equilibrium, SpecialPoint)) else start, "start")
        if not system.is_plain and not isinstance(start, Equilibrium):
            system, closed = close(system, inputs, factor, q)
            q = q if isinstance(start, SpecialPoint) else closed
        lam = np.zeros(system.rows) if not hasattr(start, "multipliers") else np.array(start.multipliers)
        if lam.shape != (system.rows,):
            raise DescriptionError("start is a point of another robot.")
        path = Curve(system, inputs, span, tolerance, neutral)
        point = Point(path.drive(path.loads(factor), q), lam, factor)
        if isinstance(start, SpecialPoint):
            return path, point
        across = np.zeros(len(path.free) + path.m + 1)
        across[-1] = 1.0
        found = path.correct(point, across)
        if found is not None:
            return path, found
    at = statics(robot, inputs=inputs, t=first, start=start)
    path = Curve(at.system, inputs, span, tolerance, neutral)
    return path, Point(path.drive(path.loads(first), at.q), np.array(at.multipliers), first)


def _begin(path: Curve, point: Point, start, direction: ArrayLike | int, sign: float) -> Floats:
    """First direction: of the load, or away from a special point along a neutral direction."""
    f = len(path.free)
    along = np.zeros(f + path.m + 1)
    weights = np.atleast_1d(np.asarray(direction, dtype=np.float64))
    if not isinstance(start, SpecialPoint):
        if weights.shape != (1,) or abs(weights[0]) != 1.0:
            raise refuse("direction", "+1 or -1", direction)
        along[-1] = sign * weights[0]
        found = path.tangent(point, along)
        if found is None:
            raise SolverError("The branch has no tangent at its start.", advice="Start at another factor.")
        return found
    k = start.directions.shape[1]
    if weights.shape == (1,):
        change = weights[0] * start.directions[:, 0]
    elif weights.shape == (k,):
        change = start.directions @ weights
    elif weights.shape == (path.n,):
        change = weights
    else:
        raise refuse("direction", f"+1, -1, or {k} weights of the neutral directions", direction)
    along[:f] = (change * path.scale)[path.free]
    return along / max(float(np.linalg.norm(along)), 1e-300)


class _Found(NamedTuple):
    """What a walk yields: a point with its stability, special points before it, or why it ended."""

    point: Point | None
    state: Stability | None
    special: list[tuple[Point, Stability, int, bool]]  # with the number of crossings and whether the load turns
    message: str
    success: bool = True


def _walk(
    path: Curve, point: Point, along: Floats, limits: tuple[float, float], step: float, longest: float, most: int,
    leaving: bool,
) -> Iterator[_Found]:  # fmt: skip
    """Points of a branch, one after the other."""
    state = path.stability(point)
    yield _Found(point, state, [], "")
    shortest, count = 1e-6 * step, 1
    slack = 1e-12 * path.span
    origin, first = point, along
    while count < most:
        target = path.correct(path.shift(point, step * along), along)
        following = None if target is None else path.tangent(target, along)
        if target is None or following is None or float(path.metric(following) @ path.metric(along)) < 0.8:
            if step < shortest:
                yield _Found(None, None, [], "Newton fails however short the step", success=False)
                return
            step *= 0.5
            continue
        after = path.stability(target)
        special = []
        if after.unstable != state.unstable and not leaving:
            place = located(path, point, along, step, (state.unstable, after.unstable))
            if place is not None:
                crossed = abs(after.unstable - state.unstable)
                if crossed > 1 and step > 1e-3 * longest and apart(state, place[1], after):
                    step *= 0.5  # several crossings in one step
                    continue
                turns = bool(along[-1] * following[-1] < 0.0)
                special.append((*place, crossed + min(state.neutral, after.neutral), turns))
        if not limits[0] - slack <= target.s <= limits[1] + slack:
            edge = _to_edge(path, point, target, limits)
            if edge is not None:
                special = [x for x in special if limits[0] <= x[0].s <= limits[1]]
                yield _Found(edge, path.stability(edge), special, "")
            yield _Found(None, None, [], "the load left its range")
            return
        yield _Found(target, after, special, "")
        back = path.distance(origin, target) < step and float(path.metric(first) @ path.metric(following)) > 0.8
        point, state, along, leaving, count = target, after, following, False, count + 1
        if back and count > 5:
            yield _Found(None, None, [], "came back to its start")
            return
        step = min(1.5 * step, longest)
    yield _Found(None, None, [], f"stopped after {most} points")


def _to_edge(path: Curve, point: Point, beyond: Point, limits: tuple[float, float]) -> Point | None:
    """The last point of a branch, with the load at the end of its range."""
    edge = limits[0] if beyond.s < limits[0] else limits[1]
    if abs(edge - point.s) < 1e-9 * path.span:
        return None
    across = np.zeros(len(path.free) + path.m + 1)
    across[-1] = 1.0
    part = (edge - point.s) / (beyond.s - point.s)
    nearer = point if part < 0.5 else beyond
    trial = nearer._replace(q=path.drive(path.loads(edge), nearer.q), s=edge)
    return path.correct(trial, across)


def _collect(robot: Robot, path: Curve, walk: Iterator[_Found], enough: float, raise_on_failure: bool) -> Branch:
    points: list[Point] = []
    states: list[Stability] = []
    special: list[SpecialPoint] = []
    message, ok = "", True
    for found in walk:
        for x in found.special:
            special.append(_special(path, x[0], x[1], len(points) - 1, x[2], x[3]))
        if found.point is not None and found.state is not None:
            points.append(found.point)
            states.append(found.state)
        message, ok = found.message, found.success
        if len(special) >= enough:
            message = f"stopped after {len(special)} special points"
            break
    status = Status(ok, message, {"points": len(points)})
    branch = Branch(
        robot, path.system, np.array([p.s for p in points]), np.array([p.q for p in points]),
        np.array([p.lam for p in points]), np.array([s.unstable for s in states]),
        np.array([np.min(s.eigenvalues, initial=np.inf) for s in states]), special, path.inputs, status,
    )  # fmt: skip
    if not ok and raise_on_failure:
        raise SolverError(
            f"The branch of {robot.name!r} stopped at factor {points[-1].s:.6g} after {len(points)} points: {message}.",
            result=branch,
            advice="Try a shorter step, or start on the other side of the point where it stopped.",
        )
    return branch
