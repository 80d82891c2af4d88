"""Branches of equilibria under a growing load: continuation by arc length, limit points, bifurcations, other branches.

The load factor is the time t of the loads: whatever is written as a function of t (wrenches, efforts, gravity, inputs,
imposed motions, poses of closures) is taken at t = factor, and the robot is at rest. A branch is followed in (q, lambda, t)
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

from anguilla.assemble.reactions import evaluate
from anguilla.assemble.system import Inputs, System, as_robot
from anguilla.assemble.user import move
from anguilla.describe import Robot
from anguilla.errors import DescriptionError, SolverError, as_count, as_positive, as_vector, refuse
from anguilla.loads.table import DT, MOTION, Loads
from anguilla.mechanics.tree import Floats
from anguilla.results import Equilibrium, Status, Trajectory
from anguilla.solve.linearise import _free_directions
from anguilla.solve.modes import Stability, second_variation
from anguilla.solve.statics import statics

__all__ = ["Branch", "SpecialPoint", "trace"]

LIMIT, BIFURCATION = "limit", "bifurcation"
WORK = 1e-5  # of the load along the critical direction, relative: below, it is a bifurcation
BALANCED = 1e-15  # residual that is round-off, as a part of the stiffness
CRITICAL = 1e-11  # critical eigenvalue that is zero, as a part of the largest
FREE = 1e-11  # singular values below this part of the largest are zero: the robot may move at no cost
MOST_TRIALS = 80


class _Point(NamedTuple):
    """An equilibrium on its way."""

    q: Floats
    lam: Floats
    s: float


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
    system: System
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


class _Path:
    """Equilibria of a system as a curve in (q, lambda, s), measured in angles and parts of the range of factors."""

    def __init__(self, system: System, inputs: Inputs, span: float, tolerance: float, neutral: float) -> None:
        self.neutral = neutral
        self.system, self.inputs, self.span, self.tolerance = system, inputs, span, tolerance
        self.n, self.m = system.size, system.rows
        self.free = np.setdiff1d(np.arange(self.n), system._loads.driven)
        self.scale = system.tree.scale

    def loads(self, s: float) -> Loads:
        loads = self.system.loads(s, self.inputs).loads
        loads.row[DT] = 0.0
        return loads

    def drive(self, loads: Loads, q: Floats) -> Floats:
        at = int(loads.at[MOTION])
        out = q.copy()
        out[loads.driven] = loads.row[at : at + 3 * len(loads.driven) : 3]
        return out

    def residual(self, point: _Point) -> Floats:
        """Rows of the free coordinates and of the constraints."""
        loads = self.loads(point.s)
        zero = np.zeros(self.n)
        out = evaluate(self.system, loads, self.drive(loads, point.q), zero, zero, point.lam)
        return np.concatenate([out[self.free] / self.scale[self.free], out[self.n :]])

    def slopes(self, point: _Point) -> tuple[Floats, Floats]:
        """(matrix (f + m, f + m) by coordinates in angles and multipliers, column (f + m,) by the factor)."""
        h = 1e-6 * self.span
        ends = [self.residual(point._replace(s=point.s + x)) for x in (h, -h)]
        self.residual(point)
        whole = self.system._bordered(self.loads(point.s), point.lam, 0.0, 0.0)
        keep = np.concatenate([self.free, self.n + np.arange(self.m)])
        size = np.concatenate([1.0 / self.scale[self.free], np.ones(self.m)])
        matrix = whole[np.ix_(keep, keep)] * np.outer(size, size)
        return matrix, (ends[0] - ends[1]) / (2.0 * h) * self.span

    def stability(self, point: _Point) -> Stability:
        """Second variation on what closures and imposed coordinates leave free."""
        n = self.n
        loads = self.loads(point.s)
        evaluate(self.system, loads, self.drive(loads, point.q), np.zeros(n), np.zeros(n), point.lam)
        whole = self.system._bordered(loads, point.lam, 0.0, 0.0)
        diagonal = np.diag(whole)[n:]
        soft, hard = np.flatnonzero(diagonal != 0.0), np.flatnonzero(diagonal == 0.0)
        K = whole[:n, :n] - (whole[:n, n + soft] / diagonal[soft]) @ whole[n + soft, :n]
        basis, _ = _free_directions(whole[n + hard, :n], self.free, self.scale)
        return second_variation(K, basis, self.scale, self.neutral)

    def solve(self, matrix: Floats, right: Floats) -> Floats:
        """Solve a bordered system, scaled to entries of order one; without moving in directions that cost nothing."""
        rows = np.maximum(np.max(np.abs(matrix), axis=1), 1e-300)
        matrix, right = matrix / rows[:, None], right / rows
        columns = np.maximum(np.max(np.abs(matrix), axis=0), 1e-300)
        return np.linalg.lstsq(matrix / columns, right, rcond=FREE)[0] / columns

    def shift(self, point: _Point, change: Floats) -> _Point:
        """A point moved by a change of (free coordinates in angles, multipliers, factor / span)."""
        f = len(self.free)
        dq = np.zeros(self.n)
        dq[self.free] = change[:f] / self.scale[self.free]
        s = point.s + self.span * float(change[-1])
        q = self.drive(self.loads(s), move(self.system.tree, point.q, dq))
        return _Point(q, point.lam + change[f:-1], s)

    def metric(self, change: Floats) -> Floats:
        """A change without its multipliers: what lengths are measured with."""
        out = change.copy()
        out[len(self.free) : -1] = 0.0
        return out

    def correct(self, point: _Point, across: Floats) -> _Point | None:
        """Newton in the plane across a direction; None if it fails. The last entry of `across` may hold the load."""
        size, before = np.inf, np.inf
        for _ in range(12):
            matrix, column = self.slopes(point)
            left = self.residual(point)
            if self.is_balanced(left, matrix):
                return point  # where branches cross the matrix is singular: no correction may be asked for
            bordered = np.vstack([np.column_stack([matrix, column]), self.metric(across)])
            change = self.solve(bordered, -np.append(left, 0.0))
            size = float(np.linalg.norm(self.metric(change)))
            if not np.isfinite(size) or size > 1.0 or size > 2.0 * before + self.tolerance:
                return None
            point = self.shift(point, change)
            if size < self.tolerance:
                return point
            before = size
        return point if size < 1e3 * self.tolerance else None

    def is_balanced(self, left: Floats, matrix: Floats) -> bool:
        """Whether a residual is round-off."""
        f = len(self.free)
        stiff = float(np.max(np.abs(np.diag(matrix)[:f]), initial=0.0))
        gap = float(np.max(np.abs(left[f:]), initial=0.0))
        return gap < BALANCED and float(np.max(np.abs(left[:f]), initial=0.0)) < BALANCED * stiff

    def tangent(self, point: _Point, along: Floats) -> Floats | None:
        """Unit tangent of the curve, on the side of `along`."""
        matrix, column = self.slopes(point)
        bordered = np.vstack([np.column_stack([matrix, column]), self.metric(along)])
        found = self.solve(bordered, np.append(np.zeros(len(column)), 1.0))
        length = float(np.linalg.norm(self.metric(found)))
        return found / length if np.isfinite(length) and length > 0.0 else None


def _located(
    path: _Path, point: _Point, along: Floats, step: float, counts: tuple[int, int]
) -> tuple[_Point, Stability] | None:
    """The point, up to `step` along the branch, where the number of negative eigenvalues changes between two counts.

    By false position (Illinois) on the eigenvalue that crosses; by halving when others are zero throughout.
    """
    crossing, middle = min(counts), 0.5 * sum(counts)

    def at(x: float) -> tuple[_Point, Stability] | None:
        found = path.correct(path.shift(point, x * along), along)
        return None if found is None else (found, path.stability(found))

    first, last = at(0.0), at(step)
    if first is None or last is None:
        return None
    low, high, best, side = 0.0, step, last, 0
    f_low, f_high = (float(end[1].eigenvalues[crossing]) for end in (first, last))
    smooth = f_low * f_high < 0.0 and not first[1].neutral and not last[1].neutral
    largest = abs(float(first[1].eigenvalues[-1]))
    for _ in range(MOST_TRIALS):
        x = (low * f_high - high * f_low) / (f_high - f_low) if smooth else 0.5 * (low + high)
        found = at(x)
        if found is None:  # too close to the crossing of two branches for Newton
            return best
        best, value = found, float(found[1].eigenvalues[crossing])
        if high - low < 1e-10 * step or (smooth and abs(value) < CRITICAL * largest):
            break
        beyond = value * f_high > 0.0 if smooth else (found[1].unstable > middle) == (counts[1] > middle)
        if beyond:
            high, f_high, f_low = x, value, f_low * (0.5 if side == 1 else 1.0)
        else:
            low, f_low, f_high = x, value, f_high * (0.5 if side == -1 else 1.0)
        side = 1 if beyond else -1
    return best


def _special(path: _Path, point: _Point, state: Stability, after: int, count: int) -> SpecialPoint:
    """Name the special point by the work of the load along the neutral directions.

    At the point the matrix F_x is singular; with l its left null vectors, l . F_s = 0 is the condition that the branch goes
    on in the direction of the load, and others cross it. (For a symmetric stiffness l are the neutral directions, with the
    multipliers that go with them.)
    """
    nearest = np.argsort(np.abs(state.eigenvalues), kind="stable")[:count]
    matrix, column = path.slopes(point)
    rows = np.maximum(np.max(np.abs(matrix), axis=1), 1e-300)
    matrix, column = matrix / rows[:, None], column / rows
    left = np.linalg.svd(matrix / np.maximum(np.max(np.abs(matrix), axis=0), 1e-300))[0][:, -count:]
    work = float(np.linalg.norm(left.T @ column))
    kind = LIMIT if work > WORK * max(float(np.linalg.norm(column)), 1e-300) else BIFURCATION
    return SpecialPoint(kind, point.s, after, point.q, point.lam, state.shapes[:, nearest])


def trace(
    robot: Robot, *, factors: tuple[float, float], inputs: Inputs | None = None,
    start: Equilibrium | SpecialPoint | ArrayLike | None = None, direction: ArrayLike | int = 1, step: float = 0.05,
    largest_step: float = 0.2, points: int = 400, tolerance: float = 1e-10, neutral: float = 1e-12,
    raise_on_failure: bool = True,
) -> Branch:  # fmt: skip
    """Follow equilibria as the load changes, through limit points, and find where they lose stability.

    The load factor is the time t of everything that depends on it: write the growing load as a function of t, such as
    ``TipWrench(arm, force=lambda t: (-t, 0, 0))``, or an input as ``inputs={"pull": lambda t: 5 * t}``.

    Args:
        robot: the robot.
        factors: the first load factor, and the last: the trace ends when the load leaves this range.
        inputs: inputs of the actuators by name: numbers, or functions of the load factor t.
        start: an equilibrium at the first factor, or coordinates (n,) near one; or a special point of another branch, to
            follow the branch that leaves it.
        direction: from a special point, +1 or -1 along its (first) neutral direction, or weights (k,) of its directions,
            or a change of all coordinates (n,). Else +1 to begin towards the last factor, -1 away from it.
        step: length of the first step, as an angle [rad] or relative displacement, or a part of the range of factors.
        largest_step: longest step.
        points: most points.
        tolerance: size of the last correction of each point.
        neutral: eigenvalues below this part of the largest are zero: raise it for a robot that can move without effort.
        raise_on_failure: raise SolverError (with the branch so far in `.result`) instead of returning it.

    Returns:
        A Branch.

    """
    as_robot(robot)
    first, last = (float(x) for x in as_vector(factors, 2, "factors"))
    if first == last:
        raise DescriptionError("factors must be two different numbers, the first and the last load factor.")
    for value, name in ((step, "step"), (largest_step, "largest_step"), (tolerance, "tolerance"), (neutral, "neutral")):
        as_positive(value, name, "")
    as_count(points, "points", minimum=2)
    if isinstance(start, SpecialPoint):
        at = _at_special(robot, start, inputs)
    else:
        at = statics(robot, inputs=inputs, t=first, start=start)
    system = at.system
    if np.any(system._loads.cables.friction != 0.0):
        raise DescriptionError(
            "trace follows frictionless tendons: with friction an equilibrium depends on its history."
        )
    path = _Path(system, inputs or {}, abs(last - first), tolerance, neutral)
    point = _Point(path.drive(path.loads(at.t), at.q), np.array(at.multipliers), at.t)
    along = _begin(path, point, start, direction, float(np.sign(last - first)))
    walk = _walk(path, point, along, (min(first, last), max(first, last)), step, largest_step, points,
                 leaving=isinstance(start, SpecialPoint))  # fmt: skip
    return _collect(robot, path, walk, raise_on_failure)


def _at_special(robot: Robot, start: SpecialPoint, inputs: Inputs | None) -> Equilibrium:
    system = System(robot)
    if system.rows != len(start.multipliers):  # redundant constraints were left out: find them again
        at = statics(robot, inputs=inputs, t=start.factor, start=start.q, raise_on_failure=False)
        system = at.system
    if len(start.q) != system.size or len(start.multipliers) != system.rows:
        raise DescriptionError("start is a special point of another robot.")
    states = np.array([start.factor]), start.q[None], 0 * start.q[None], 0 * start.q[None], start.multipliers[None]
    return Equilibrium(robot, system, Status(True, "special point"), *states, inputs or {})


def _begin(path: _Path, point: _Point, start, direction: ArrayLike | int, sign: float) -> Floats:
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

    point: _Point | None
    state: Stability | None
    special: list[tuple[_Point, Stability, int]]
    message: str
    success: bool = True


def _walk(
    path: _Path, point: _Point, along: Floats, limits: tuple[float, float], step: float, longest: float, most: int,
    leaving: bool,
) -> Iterator[_Found]:  # fmt: skip
    """Points of a branch, one after the other."""
    state = path.stability(point)
    yield _Found(point, state, [], "")
    shortest, count = 1e-6 * step, 1
    slack = 1e-12 * path.span
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
            located = _located(path, point, along, step, (state.unstable, after.unstable))
            if located is not None:
                count = abs(after.unstable - state.unstable)
                several = np.sort(np.abs(located[1].eigenvalues))[count - 1]
                if several > 1e-6 * abs(float(located[1].eigenvalues[-1])) and step > 1e-3 * longest:
                    step *= 0.5  # two crossings in one step
                    continue
                special.append((*located, count + min(state.neutral, after.neutral)))
        if not limits[0] - slack <= target.s <= limits[1] + slack:
            edge = _to_edge(path, point, target, limits)
            if edge is not None:
                special = [x for x in special if limits[0] <= x[0].s <= limits[1]]
                yield _Found(edge, path.stability(edge), special, "")
            yield _Found(None, None, [], "the load left its range")
            return
        yield _Found(target, after, special, "")
        point, state, along, leaving, count = target, after, following, False, count + 1
        step = min(1.5 * step, longest)
    yield _Found(None, None, [], f"stopped after {most} points")


def _to_edge(path: _Path, point: _Point, beyond: _Point, limits: tuple[float, float]) -> _Point | None:
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


def _collect(robot: Robot, path: _Path, walk: Iterator[_Found], raise_on_failure: bool) -> Branch:
    points: list[_Point] = []
    states: list[Stability] = []
    special: list[SpecialPoint] = []
    message, ok = "", True
    for found in walk:
        for x in found.special:
            special.append(_special(path, x[0], x[1], len(points) - 1, x[2]))
        if found.point is not None and found.state is not None:
            points.append(found.point)
            states.append(found.state)
        message, ok = found.message, found.success
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
