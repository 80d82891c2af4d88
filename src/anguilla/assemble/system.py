"""A compiled robot with its loads: the residual, its tangent, and what follows from them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from anguilla.assemble.evaluate import Forces, residual, tangent
from anguilla.describe import DistributedWrench, Frame, Robot, Wrench
from anguilla.errors import DescriptionError, as_array, as_number, refuse
from anguilla.mechanics.compile import Model, compile_robot
from anguilla.mechanics.tree import Floats, Ints, Workspace, workspace

__all__ = ["Inputs", "LoadTable", "System"]

Inputs = Mapping[str, float | Callable[[float], float]]


@dataclass(frozen=True, slots=True)
class LoadTable:
    """Loads sampled at given times: one row per time, or a single row when nothing depends on time.

    Attributes:
        where: (m,) node of each wrench.
        follower: (m,) 1 if it turns with its node.
        gravity: (nt or 1, 3) [m/s^2].
        wrench: (nt or 1, m, 6) moment [N m], force [N].
        effort: (nt or 1, n) torques [N m] and forces [N] of joint motors, by coordinate.
        tension: (nt or 1, actuators) inputs of tendons [N] and chambers [Pa].

    """

    where: Ints
    follower: Ints
    gravity: Floats
    wrench: Floats
    effort: Floats
    tension: Floats

    def at(self, row: int = 0, factor: float = 1.0) -> Forces:
        """Forces of one row, multiplied by a load factor."""
        gravity = self.gravity[min(row, len(self.gravity) - 1)]
        wrench = self.wrench[min(row, len(self.wrench) - 1)]
        effort = self.effort[min(row, len(self.effort) - 1)]
        tension = self.tension[min(row, len(self.tension) - 1)]
        if factor != 1.0:
            gravity, wrench, effort, tension = factor * gravity, factor * wrench, factor * effort, factor * tension
        return Forces(gravity, self.where, self.follower, wrench, effort, tension)


def as_robot(robot: object) -> Robot:
    """Check that a solver got a robot."""
    if not isinstance(robot, Robot):
        raise refuse("robot", "a Robot", robot)
    return robot


class System:
    """A robot compiled for computation.

    `residual` and `tangent` are the two functions everything else uses; sizes are checked here, at the door.
    """

    def __init__(self, robot: Robot, observed: Sequence[Frame] = ()) -> None:
        self.robot = copy.deepcopy(as_robot(robot))  # what was computed stays what it was when the description changes
        self.model: Model = compile_robot(self.robot, observed)
        self.tree = self.model.tree
        self.workspace: Workspace = workspace(self.tree)
        self.size = self.model.size
        self._steady: LoadTable | None = None  # the loads, once known not to depend on time

    def observing(self, frames: Sequence[Frame]) -> System:
        """Return this system, or one with the same coordinates and motion in which every given frame has a node."""
        bare = [frame.bare for frame in frames]
        if all(self.model.node(frame) is not None for frame in bare):
            return self
        return System(self.robot, bare)

    def elastic_stiffness(self) -> Floats:
        """The constant stiffness K_ee (n, n) of rods (000 (26)) and joint springs."""
        tree = self.tree
        lanes = 4 * len(tree.pack_slot)
        padded = np.zeros((lanes, lanes))
        for s in range(1, len(tree.first)):
            width, start = 4 * int(tree.own_packs[s]), 4 * int(tree.own_pack[s])
            block = tree.stiffness[tree.stiffness_at[s] :][: width * width].reshape(width, width)
            padded[start : start + width, start : start + width] = block
        return padded[np.ix_(tree.lane, tree.lane)]

    def elastic_energy(self, q: Floats) -> Floats:
        """Elastic energy (nt,) [J] of rods and joint springs in states q (nt, n)."""
        rest = np.zeros(self.size)
        for layout in self.model.parts:
            rest[layout.joint] = layout.part.joint.rest_values
        return 0.5 * np.einsum("ti,ij,tj->t", q - rest, self.elastic_stiffness(), q - rest)

    def _tensions(self, times: Floats, inputs: Inputs | None) -> Floats:
        """Inputs of the actuators (nt or 1, actuators) at the given times [s]; absent ones are zero."""
        names = list(self.robot.actuators)
        if inputs is None:
            return np.zeros((1, len(names)))
        if not isinstance(inputs, Mapping):
            raise refuse("inputs", "a dictionary from names of actuators to numbers or functions of t", inputs)
        for name in inputs:
            if name not in names:
                known = ", ".join(names) or "none"
                raise DescriptionError(f"inputs: robot {self.robot.name!r} has no actuator {name!r}; it has: {known}.")
        steady = not any(callable(value) for value in inputs.values())
        table = np.zeros((1 if steady else len(times), len(names)))
        for name, value in inputs.items():
            what = f"inputs: the input of actuator {name!r}"
            if callable(value):
                try:
                    column = [value(t) for t in times.tolist()]
                except TypeError as error:
                    raise DescriptionError(f"{what} must be a number or a function of the time t; {error}.") from error
                table[:, names.index(name)] = [
                    as_number(x, f"{what} at t = {t:g} s") for x, t in zip(column, times, strict=True)
                ]
            else:
                table[:, names.index(name)] = as_number(value, what)
        return table

    def loads(self, times: ArrayLike = 0.0, inputs: Inputs | None = None) -> LoadTable:
        """Sample gravity, all loads and the inputs of the actuators at the given times [s]."""
        robot, times = self.robot, np.atleast_1d(np.asarray(times, dtype=float))
        if not np.all(np.isfinite(times)):
            raise DescriptionError(f"t must be finite [s]; got {times[~np.isfinite(times)][0]}.")
        if self._steady is not None:
            return replace(self._steady, tension=self._tensions(times, inputs))
        constant = all(load.is_constant for load in robot.loads)
        where: list[int] = []
        follower: list[int] = []
        values = [np.zeros((1 if constant else len(times), 0, 6))]
        for load in robot.loads:
            if isinstance(load, Wrench):
                node = self.model.node(load.frame)
                if node is None:
                    raise DescriptionError(f"{load.label} was moved after the robot was compiled: compile it again.")
                nodes, value = [node], load.values(times[:1] if constant else times)[:, None, :]
            elif isinstance(load, DistributedWrench):
                rod = self.model.parts[load.part.index]
                assert rod.grid is not None
                inside = np.flatnonzero(rod.grid.weights > 0.0)
                nodes = rod.nodes[inside].tolist()
                density = load.values(rod.grid.X[inside], times[:1] if constant else times)
                value = density * rod.grid.weights[inside][None, :, None]
            else:
                raise DescriptionError(f"{load.label}: a load of type {type(load).__name__} is not known to the core.")
            where += nodes
            follower += [int(load.follower)] * len(nodes)
            values.append(value)
        steady = all(part.joint.effort_is_constant for part in robot.parts)
        effort = np.zeros((1 if steady else len(times), self.size))
        for layout in self.model.parts:
            effort[:, layout.joint] = layout.part.joint.effort_values(times[: len(effort)])
        gravity = robot.gravity_values(times[:1] if robot.gravity_is_constant else times)
        table = LoadTable(
            np.array(where, dtype=np.int64),
            np.array(follower, dtype=np.int64),
            np.ascontiguousarray(gravity, dtype=np.float64),
            np.ascontiguousarray(np.concatenate(values, axis=1), dtype=np.float64),
            effort,
            self._tensions(times, inputs),
        )
        if constant and steady and robot.gravity_is_constant:
            self._steady = table
        return table

    def vector(self, value: ArrayLike | None, name: str) -> Floats:
        """Check a vector of coordinates, rates or accelerations; None is zero."""
        if value is None:
            return np.zeros(self.size)
        wanted = f"{self.size} finite numbers, one per coordinate"
        array = as_array(value, name, wanted).astype(np.float64)
        if array.shape != (self.size,):
            raise DescriptionError(f"{name} must have shape ({self.size},), one per coordinate; got {array.shape}.")
        return array

    def residual(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *,
        t: float = 0.0, inputs: Inputs | None = None,
    ) -> Floats:  # fmt: skip
        """R(q, v, a) (n,): inertia plus internal minus external generalised forces at time t [s]."""
        out = np.zeros(self.size)
        forces = self.loads(t, inputs).at()
        state = self.vector(q, "q"), self.vector(v, "v"), self.vector(a, "a")
        residual(self.tree, self.workspace, forces, *state, out)
        return out

    def tangent(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *,
        alpha: float = 0.0, beta: float = 0.0, t: float = 0.0, inputs: Inputs | None = None,
    ) -> Floats:  # fmt: skip
        """dR/dq + alpha dR/dv + beta dR/da (n, n), exact, at time t [s]."""
        alpha, beta = as_number(alpha, "alpha", "1/s"), as_number(beta, "beta", "1/s^2")
        self.residual(q, v, a, t=t, inputs=inputs)
        self.workspace.increment[:] = 0.0
        out = np.zeros((self.size, self.size))
        tangent(self.tree, self.workspace, self.loads(t, inputs).at(), alpha, beta, out)
        return out

    def matrices(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *,
        t: float = 0.0, inputs: Inputs | None = None,
    ) -> tuple[Floats, Floats, Floats]:  # fmt: skip
        """(K, C, M): dR/dq, dR/dv and the mass matrix, (n, n) each."""
        stiffness = self.tangent(q, v, a, t=t, inputs=inputs)
        damping = self.tangent(q, v, a, alpha=1.0, t=t, inputs=inputs) - stiffness
        mass = self.tangent(q, v, a, beta=1.0, t=t, inputs=inputs) - stiffness
        return stiffness, damping, mass
