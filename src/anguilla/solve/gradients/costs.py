"""Scalar costs of motions and equilibria with their derivatives, and inputs given by samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe import Frame, Robot
from anguilla.describe.sampled import Sampled
from anguilla.errors import DescriptionError, as_array, as_vector
from anguilla.mechanics.tree import N_R, N_X, Floats
from anguilla.model.model import Model
from anguilla.results.kinematics import motion_of
from anguilla.results.observe import S_X
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.results.virtual import generalised_forces

__all__ = ["Cost", "Reach", "Rest", "Sampled", "StateCost", "Travel", "pulled"]

Terms = tuple[float, Floats, Floats]
Pulls = list[tuple[Frame, Floats]]


class Cost:
    """A scalar cost of a motion or of an equilibrium; costs can be added, and divided by each other.

    Attributes:
        of_places: whether it depends on nothing but places, coordinates and rates: not on forces, say.

    """

    of_places: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """A class with terms of its own does not have the pulls of the class that it is derived from."""
        if not {"terms", "__call__"}.isdisjoint(vars(cls)) and "whole_terms" not in vars(cls):
            cls.whole_terms = Cost.whole_terms  # type: ignore[method-assign]

    def __call__(self, result: Trajectory | Equilibrium) -> float:
        """The value."""
        return self.terms(result)[0]

    def terms(self, result: Trajectory | Equilibrium) -> Terms:
        """Value, and its derivatives (nt, n) with respect to coordinates and rates (balls: small rotations, child's axes)."""
        raise NotImplementedError

    def by_inputs(self, result: Trajectory | Equilibrium) -> dict[str, Floats]:
        """Its derivatives (nt,) with respect to inputs that it depends on itself, by name: in the same states."""
        return {}

    def whole_terms(self, result: Trajectory | Equilibrium) -> tuple[Terms, Pulls | None]:
        """Its terms; and frames with the derivatives (nt, 3) by their positions, if a design moves it by these alone."""
        return self.terms(result), None

    def on(self, robot: Robot) -> Cost:
        """The same cost with its frames taken on another robot of the same parts."""
        return self

    def __add__(self, other: Cost) -> Cost:
        return _Sum((self, other))

    def __truediv__(self, other: Cost) -> Cost:
        return _Quotient(self, other)


@dataclass(frozen=True)
class _Sum(Cost):
    parts: tuple[Cost, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "of_places", all(part.of_places for part in self.parts))

    def __call__(self, result: Trajectory | Equilibrium) -> float:
        return sum(part(result) for part in self.parts)

    def terms(self, result: Trajectory | Equilibrium) -> Terms:
        return self.whole_terms(result)[0]

    def whole_terms(self, result: Trajectory | Equilibrium) -> tuple[Terms, Pulls | None]:
        terms, pulls = zip(*(part.whole_terms(result) for part in self.parts), strict=True)
        values, by_q, by_v = zip(*terms, strict=True)
        every = None if None in pulls else [pull for some in pulls for pull in some]
        return (sum(values), np.sum(by_q, axis=0), np.sum(by_v, axis=0)), every

    def by_inputs(self, result: Trajectory | Equilibrium) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        for part in self.parts:
            for name, slope in part.by_inputs(result).items():
                found[name] = found[name] + slope if name in found else slope
        return found

    def on(self, robot: Robot) -> Cost:
        return _Sum(tuple(part.on(robot) for part in self.parts))


@dataclass(frozen=True)
class _Quotient(Cost):
    above: Cost
    below: Cost

    def __post_init__(self) -> None:
        object.__setattr__(self, "of_places", self.above.of_places and self.below.of_places)

    def _values(
        self, result: Trajectory | Equilibrium
    ) -> tuple[tuple[Terms, Pulls | None], tuple[Terms, Pulls | None]]:
        above, below = self.above.whole_terms(result), self.below.whole_terms(result)
        if below[0][0] == 0.0:
            raise DescriptionError("the cost in the denominator is zero for this motion: start from another motion.")
        return above, below

    def terms(self, result: Trajectory | Equilibrium) -> Terms:
        return self.whole_terms(result)[0]

    def whole_terms(self, result: Trajectory | Equilibrium) -> tuple[Terms, Pulls | None]:
        (above, first), (below, second) = self._values(result)
        value = above[0] / below[0]
        by_q, by_v = ((a - value * b) / below[0] for a, b in zip(above[1:], below[1:], strict=True))
        pulls = None
        if first is not None and second is not None:
            pulls = [(frame, f / below[0]) for frame, f in first]
            pulls += [(frame, -value / below[0] * f) for frame, f in second]
        return (value, by_q, by_v), pulls

    def by_inputs(self, result: Trajectory | Equilibrium) -> dict[str, Floats]:
        (above, _), (below, _) = self._values(result)
        value, first, second = above[0] / below[0], self.above.by_inputs(result), self.below.by_inputs(result)
        slopes = {name: slope / below[0] for name, slope in first.items()}
        for name, slope in second.items():
            slopes[name] = slopes.get(name, 0.0) - value * slope / below[0]
        return slopes

    def on(self, robot: Robot) -> Cost:
        return _Quotient(self.above.on(robot), self.below.on(robot))


def _weights(weight: ArrayLike | str, count: int) -> Floats:
    if type(weight) is float and math.isfinite(weight):  # the usual case, quickly
        return np.full(count, weight)
    if isinstance(weight, str):
        if weight != "last":
            raise DescriptionError(f"weight must be numbers or 'last'; got {weight!r}.")
        return np.append(np.zeros(count - 1), 1.0)
    w = as_array(weight, "weight", "a number, or one for each instant")
    if w.ndim == 0:
        return np.full(count, float(w))
    if w.shape != (count,):
        raise DescriptionError(f"weight must be a number or have the shape ({count},); got {w.shape}.")
    return w


@dataclass(frozen=True)
class Reach(Cost):
    """Sum over instants of weight/2 |x - goal|^2, x the position of a frame [m].

    Attributes:
        frame: the frame.
        goal: (3,) or (nt, 3) [m].
        weight: a number, one for each instant (nt,), or "last" for the last instant alone.

    """

    frame: Frame
    goal: ArrayLike
    weight: ArrayLike | str = 1.0

    of_places: ClassVar[bool] = True

    def __call__(self, result: Trajectory | Equilibrium) -> float:
        """The value."""
        return self._missed(result)[0]

    def terms(self, result: Trajectory | Equilibrium) -> Terms:
        """Value and derivatives: those with respect to q are the generalised forces of weight (x - goal) on the frame."""
        return Reach.whole_terms(self, result)[0]  # also where a class derived from it has terms of its own

    def whole_terms(self, result: Trajectory | Equilibrium) -> tuple[Terms, Pulls | None]:
        """The same; and the frame with weight (x - goal)."""
        value, motion, force = self._missed(result)
        slope = position_slope(result, self.frame, motion, force)
        return (value, slope, np.zeros_like(result.stored.q)), [(self.frame, force)]

    def _missed(self, result: Trajectory | Equilibrium) -> tuple[float, Floats, Floats]:
        """The value, the motion of the frame, and weight (x - goal) (nt, 3)."""
        w = _weights(self.weight, len(result.stored.q))
        motion = result.motion([self.frame])[:, 0]
        goal = as_array(self.goal, "goal", "3 numbers, or 3 for each instant [m]")
        if goal.shape not in ((3,), (len(w), 3)):
            raise DescriptionError(f"goal must have the shape (3,) or ({len(w)}, 3) [m]; got {goal.shape}.")
        miss = motion[:, S_X : S_X + 3] - goal
        force = w[:, None] * miss
        return 0.5 * float(np.vdot(force, miss)), motion, force

    def on(self, robot: Robot) -> Cost:
        """The same cost for the same frame of another robot."""
        return replace(self, frame=Frame(robot, self.frame.part_index, self.frame.place, self.frame.offset))


@dataclass(frozen=True)
class Travel(Cost):
    """Way of a frame along a direction, from the first to the last instant [m]: Energy() / Travel(...) is spent per way.

    Attributes:
        frame: the frame.
        direction: (3,); its length counts as a weight.

    """

    frame: Frame
    direction: ArrayLike

    of_places: ClassVar[bool] = True

    def terms(self, result: Trajectory | Equilibrium) -> Terms:
        """Value and derivatives: those of the two ends."""
        return Travel.whole_terms(self, result)[0]  # also where a class derived from it has terms of its own

    def whole_terms(self, result: Trajectory | Equilibrium) -> tuple[Terms, Pulls | None]:
        """The same; and the frame with the direction, backwards at the first instant."""
        way = as_vector(self.direction, 3, "Travel.direction")
        motion = result.motion([self.frame])[:, 0]
        force = np.zeros((len(motion), 3))
        force[0] -= way
        force[-1] += way
        value = float(way @ (motion[-1, S_X : S_X + 3] - motion[0, S_X : S_X + 3]))
        slope = position_slope(result, self.frame, motion, force)
        return (value, slope, np.zeros_like(result.stored.q)), [(self.frame, force)]

    def on(self, robot: Robot) -> Cost:
        """The same cost for the same frame of another robot."""
        return replace(self, frame=Frame(robot, self.frame.part_index, self.frame.place, self.frame.offset))


def pulled(pulls: Pulls, model: Model, q: Floats) -> float:
    """Sum of force . x over pulls (1, 3) on frames of a model, in the state q (n,) that was evaluated at its desk last."""
    total, node = 0.0, model.workspace.node  # a frame without a node is observed at another desk
    for frame, force in pulls:
        there = Frame(model.robot, frame.part_index, frame.place, frame.offset)
        i = model.layout.node(there.bare)
        if i is None:
            zero = np.zeros((1, len(q)))
            x = motion_of(model, [there], q[None], zero, zero)[0, 0, S_X : S_X + 3]
        elif frame.offset is None:
            x = node[i, N_X : N_X + 3]
        else:
            x = node[i, N_X : N_X + 3] + node[i, N_R : N_R + 9].reshape(3, 3) @ there.offset_pose[:3, 3]
        total += float(force[0] @ x)
    return total


def position_slope(result: Trajectory | Equilibrium, frame: Frame, motion: Floats, force: Floats) -> Floats:
    """Derivative (nt, n) of force . x with respect to q: force (nt, 3) in world axes, x the position of a frame."""
    system, node = result.system, result.system.layout.node(frame.bare)
    if node is None:
        system = system.observing([frame])
        node = system.layout.node(frame.bare)
    wrench = np.zeros((len(force), 6))
    wrench[:, 3:] = force
    if frame.offset is not None:  # about the node of the frame
        arm = -np.einsum("tij,j->ti", motion[:, :9].reshape(-1, 3, 3), np.linalg.inv(frame.offset_pose)[:3, 3])
        wrench[:, :3] = np.cross(arm, force)
    q, out = np.ascontiguousarray(result.stored.q), np.zeros(result.stored.q.shape)
    generalised_forces(system.tree, system.workspace, node, q, np.zeros(system.size), wrench, out)
    return out


@dataclass(frozen=True)
class Rest(Cost):
    """Sum over instants of weight/2 |v|^2: rates of the coordinates.

    Attributes:
        weight: a number, one for each instant, or "last".

    """

    weight: ArrayLike | str = 1.0

    of_places: ClassVar[bool] = True

    def terms(self, result: Trajectory | Equilibrium) -> Terms:
        """Value and derivatives."""
        v = result.stored.v
        w = _weights(self.weight, len(v))
        return float(0.5 * np.sum(w[:, None] * v**2)), np.zeros_like(v), w[:, None] * v

    def whole_terms(self, result: Trajectory | Equilibrium) -> tuple[Terms, Pulls | None]:
        """The same; rates do not depend on places."""
        return self.terms(result), []


@dataclass(frozen=True)
class StateCost(Cost):
    """Any cost of the states: function of (t, q, v) returning (value, dvalue/dq (nt, n), dvalue/dv (nt, n))."""

    function: Callable[[Floats, Floats, Floats], tuple[float, Floats, Floats]]

    of_places: ClassVar[bool] = True

    def terms(self, result: Trajectory | Equilibrium) -> Terms:
        """Value and derivatives."""
        value, by_q, by_v = self.function(result.stored.t, result.stored.q, result.stored.v)
        slopes = []
        for slope, name in ((by_q, "dq"), (by_v, "dv")):
            array = as_array(slope, f"StateCost: dvalue/{name}", "finite numbers").astype(np.float64)
            if array.shape != result.stored.q.shape:
                raise DescriptionError(
                    f"StateCost: dvalue/{name} must have the shape {result.stored.q.shape}; got {array.shape}."
                )
            slopes.append(np.ascontiguousarray(array))
        return float(value), slopes[0], slopes[1]

    def whole_terms(self, result: Trajectory | Equilibrium) -> tuple[Terms, Pulls | None]:
        """The same; coordinates and rates do not depend on places."""
        return self.terms(result), []
