"""Inverse kinematics in constraint space: efforts and strokes that bring effectors to their targets (002 III)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla._words import numbered
from anguilla.compiler.jit import kernel
from anguilla.control.allocation import Allocation, allocate
from anguilla.control.model import ConstraintModel, as_model
from anguilla.control.settling import ARRIVED, BEYOND, Reach, arrived_at, give_up, settle, told
from anguilla.describe.description import did_you_mean
from anguilla.describe.plausible import check_target
from anguilla.errors import DescriptionError, SolverError, as_array, as_count, as_pose, as_positive, as_vector, refuse
from anguilla.fem.projection import Projection
from anguilla.lie import dexp3_inv
from anguilla.results.states import Status

__all__ = ["InverseKinematics", "inverse_kinematics"]

Floats = NDArray[np.float64]
Targets = Mapping[str, ArrayLike]
# largest part of the energy of a step that may come from an imbalance, to keep a factorisation: efforts for a target that
# moves then lag behind it by about a twentieth of a step (0.25 let slender fingers lag by nearly a whole one)
DRIVEN = 0.01
AWAY, CALM_REACH = 10.0, 0.01  # longest way of a node in a step, over the error of the effectors, or over the size
PROMISE = 1e-4  # of the size: a place so much nearer, as the linearised model sees it, is worth another search
BROKEN_PROMISE = 1e-2  # one so great that is not kept tells that the search did not end at the nearest place
SNAPS = "stopped where the body is about to snap or buckle; the nearest equilibrium met is given"
PLACE = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])  # rows of a target that is a position only


@public
class InverseKinematics:
    """Inverse kinematics of one robot, step by step or until it settles.

    Args:
        robot: a SoftBody, or a model (SoftModel, RodModel) whose state is then used and moved.
        weights: weight of a rotation error against a position error [m/rad]; the size of the robot by default.
        energy: weight of the deformation energy in the QP (002 (14)).
        reach: longest way of an effector or a node in one step, over the size of the robot.
        reuse: steps for which a factorisation may be kept (modified Newton) while steps are small and do not grow, and leave
            little imbalance; 0 factors at every step.

    """

    def __init__(
        self, robot: Any, *, weights: float | None = None, energy: float = 1e-6, reach: float = 0.1, reuse: int = 0
    ) -> None:
        self.model: ConstraintModel = as_model(robot)
        if not self.model.actuators:
            raise DescriptionError("inverse kinematics needs at least one actuator.")
        self.energy = as_positive(energy, "energy")
        self.reach = as_positive(reach, "reach") * self.model.size
        self.reuse = as_count(reuse, "reuse", 0)
        lever = self.model.size if weights is None else as_positive(weights, "weights", "m/rad")
        self._weights = np.concatenate(
            [np.r_[np.ones(3), np.full(rows - 3, lever)] for rows in self.model.effectors.values()] or [np.zeros(0)]
        )
        self._turns = 6 in self.model.effectors.values()
        self._kept, self._honest = 0, True
        self._choice: Allocation | None = None
        self._waypoint: Any = None  # an equilibrium on the way, to fall back to
        self._calm, self._change = 0.0, np.zeros(len(self.model.actuators))
        self._before = self._length = np.inf
        self.trust = self.reach
        self._origin = self.model.remember()
        self._begin = self.model.efforts.copy(), np.array(self.model.positions())

    def __repr__(self) -> str:
        return f"<inverse kinematics with {self.model!r}>"

    def retreat(self, trust: float) -> None:
        """Trust the linearised model over this length [m] only, and factor anew."""
        self._before = self._length = np.inf
        self._calm, self._change = 0.0, np.zeros(len(self.model.actuators))
        self.trust = trust

    def _steady(self, change: Floats, along: float, size: float) -> None:
        """Slow down if the efforts swing: the compliance, and with it the gentlest effort, changes with the shape.

        Given are the product of the last change with this one, and with itself, in the compliance.
        """
        if along < -0.3 * size:
            self._calm = min(2.0 * self._calm + 1.0, 63.0)
        elif along > 0.7 * size:
            self._calm = max(0.5 * (self._calm - 1.0), 0.0)
        self._change = change

    # Targets -----------------------------------------------------------------------------------------------------------

    def _goals(self, targets: Targets) -> tuple[list[Floats], list[Floats | None], Floats]:
        """Positions, rotations and a mask of the rows that count."""
        if not isinstance(targets, Mapping) or not targets:
            raise refuse(
                "targets", "a dictionary from names of effectors to positions (3,) [m] or poses (4, 4)", targets
            )
        rows = self.model.effectors
        for name in targets:
            if name not in rows:
                known = ", ".join(rows) or "none"
                raise DescriptionError(
                    f"targets: there is no effector {name!r}{did_you_mean(name, rows)}; there are: {known}."
                )
        positions: list[Floats] = []
        rotations: list[Floats | None] = []
        mask: list[Floats] = []
        places = self.model.positions() if len(targets) < len(rows) else []
        for k, name in enumerate(rows):
            if name not in targets:
                positions.append(places[k])
                rotations.append(None)
                mask.append(np.zeros(rows[name]))
                continue
            value = as_array(targets[name], f"The target of {name!r}", "a position (3,) [m] or a pose (4, 4)")
            if value.shape == (4, 4):
                if rows[name] == 3:
                    raise DescriptionError(f"targets: effector {name!r} has no orientation; give a position (3,) [m].")
                pose = as_pose(value, f"The target of {name!r}")
                positions.append(pose[:3, 3])
                rotations.append(pose[:3, :3])
                mask.append(np.ones(6))
            else:
                positions.append(as_vector(value, 3, f"The target of {name!r}", "m"))
                rotations.append(None)
                mask.append(PLACE[: rows[name]])
        return positions, rotations, np.concatenate(mask)

    def _turn(self, error: Floats) -> Floats | None:
        """Derivative (rows, rows) of the error: a rotation vector does not change as fast as the body turns.

        None stands for the identity, where only positions count.
        """
        if not self._turns:
            return None
        out = np.eye(len(error))
        at = 0
        for rows in self.model.effectors.values():
            if rows == 6:
                out[at + 3 : at + 6, at + 3 : at + 6] = dexp3_inv(error[at + 3 : at + 6])
            at += rows
        return out

    # Steps -------------------------------------------------------------------------------------------------------------

    def step(self, targets: Targets) -> tuple[Allocation, float]:
        """One linearised step (assemble, factor, project, QP, move) towards the targets, as in real-time control.

        Returns:
            (allocation, largest displacement [m]). The state is in equilibrium up to the second order of the step; with a
            factorisation kept (`reuse`) up to a small part of the step, which the next one takes into account.

        """
        goals = self._goals(targets)
        return self._step(*goals)

    def _step(self, positions: list[Floats], rotations: list[Floats | None], mask: Floats) -> tuple[Allocation, float]:
        # an old stiffness is good enough only for small steps that do not grow and do not chase their own errors
        small = self._length < min(0.005 * self.model.size, 1.5 * self._before)
        reuse = self._kept < self.reuse and small and self._honest
        projection = self.model.project(reuse=reuse)
        self._kept = self._kept + 1 if reuse else 0
        before = self.model.errors(positions, rotations)
        turn = self._turn(before)
        drift = projection.drift("e") if turn is None else turn @ projection.drift("e")
        error = before + drift
        weights = self._weights * mask
        size = _length(weights, error)
        error = error * min(1.0, self.trust / max(size, 1e-300))
        choice = allocate(
            projection, "e", error, self.model.limits(), weights=weights, energy=self.energy, calm=self._calm, turn=turn
        )
        along, size, driven = _products(projection, choice.change, self._change)
        self._steady(choice.change, along, size)
        # whether the step comes from the efforts, by energies, and not from an imbalance that earlier steps left
        self._honest = projection.lack <= DRIVEN * (projection.lack + driven)
        self._choice = choice
        # where the body is about to buckle a small imbalance throws it far: no node goes much further than the effectors
        far = max(AWAY * _length(weights, before), CALM_REACH * self.model.size)
        length = self.model.advance(projection, choice.change, reach=min(2.0 * self.trust, far))
        self._before, self._length = self._length, length
        # trust the linearised model as far as it proved right
        move = projection.W("e", "a") @ choice.change
        move = drift + (move if turn is None else turn @ move)
        miss = _length(weights, self.model.errors(positions, rotations) - before - move)
        # (a robot with more actuators than needed may move while its effectors stay: that is no failure of the model)
        way = max(_length(weights, move), 0.3 * min(length, 2.0 * self.trust), 1e-9 * self.model.size)
        ratio = miss / way
        if length > 2.0 * self.trust or ratio > 0.3:
            self.trust = max(0.5 * self.trust, 1e-3 * self.reach)
        elif ratio < 0.1:
            self.trust = min(1.5 * self.trust, self.reach)
        return choice, length

    def solve(
        self, targets: Targets, *, tolerance: float = 1e-7, iterations: int = 100, raise_on_failure: bool = True
    ) -> Reach:
        """Steps until nothing moves any more, then the exact equilibrium.

        A target that cannot be reached gives the nearest point that can, within the limits of efforts and strokes, and the
        message says how far that is: it is searched for from the present state and from where the robot was when this object
        was made, and no small change of the efforts brings it nearer. After a failure the model is back where it was before.

        Args:
            targets: position (3,) [m], or pose (4, 4), of each effector that matters.
            tolerance: largest last displacement, over the size of the robot.
            iterations: most steps.
            raise_on_failure: raise SolverError instead of returning a result that did not settle.

        """
        goals = self._goals(targets)
        for name, there, goal in zip(self.model.effectors, self.model.positions(), goals[0], strict=True):
            check_target(name, float(np.linalg.norm(goal - there)), self.model.size)
        as_positive(tolerance, "tolerance")
        home = self.model.remember()
        found: list[tuple[Reach, Any]] = []
        failure: SolverError | None = None
        for start in [home] if self._at_origin() else [home, self._origin]:
            self.model.restore(start)
            try:
                reach = self._search(*goals, tolerance, iterations)
            except SolverError as error:
                failure = failure or error
                if not isinstance(error.result, Reach):
                    continue
                reach = error.result
            reach = self._nearest(reach, *goals, tolerance, iterations)
            found.append((reach, self.model.remember()))
            if reach.status.success and reach.distance <= ARRIVED * self.model.size:
                break
        if not found:
            self.model.restore(home)
            assert failure is not None
            raise failure
        # a failure that ended clearly nearer tells that what settled is not the nearest place
        best, end = min(found, key=lambda item: item[0].distance * (1.0 if item[0].status.success else 1.001))
        best = told(best, self.model.size)
        self.model.restore(end if best.status.success else home)
        if raise_on_failure and not best.status.success:
            advice = BEYOND if failure is None else failure.advice
            raise SolverError(f"Inverse kinematics {best.status.message}.", result=best, advice=advice)
        return best

    def _at_origin(self) -> bool:
        """Whether the model is still where it was when this object was made."""
        return bool(
            np.array_equal(self.model.efforts, self._begin[0])
            and np.allclose(np.array(self.model.positions()), self._begin[1], atol=1e-9 * self.model.size)
        )

    def _nearest(
        self, found: Reach, positions: list[Floats], rotations: list[Floats | None], mask: Floats, tolerance: float,
        iterations: int,
    ) -> Reach:  # fmt: skip
        """What was found, or better: while the linearised model still promises a nearer place, step down to it.

        The weight of the energy keeps efforts tame, and may keep them from a target too: a smaller one is tried as well. A
        place from which the promise is great and no step keeps it is not the nearest: the body is about to snap or buckle.
        """
        weights, memory = self._weights * mask, self.model.remember()
        error = lambda: self.model.errors(positions, rotations) * mask

        def promise(energy: float) -> float:
            now = error()
            choice = allocate(
                self.model.project(),
                "e",
                now,
                self.model.limits(),
                weights=weights,
                energy=energy,
                turn=self._turn(now),
            )
            return float(np.linalg.norm(weights * now) - np.linalg.norm(weights * choice.left)) / self.model.size

        for energy in (self.energy, 1e-3 * self.energy):
            if found.distance <= ARRIVED * self.model.size or promise(energy) <= PROMISE:
                continue
            nearer = self._descend(memory, positions, rotations, mask, error, tolerance, iterations, energy)
            if nearer is not None and nearer.distance < found.distance:
                found, memory = nearer, self.model.remember()
            else:
                self.model.restore(memory)
        if (
            found.status.success
            and found.distance > ARRIVED * self.model.size
            and promise(self.energy) > BROKEN_PROMISE
        ):
            return replace(found, status=replace(found.status, success=False, message=SNAPS))
        return found

    def _search(
        self, positions: list[Floats], rotations: list[Floats | None], mask: Floats, tolerance: float, iterations: int
    ) -> Reach:
        """From the present state: straight there; if that fails, surely, or along the line in pieces."""

        def error() -> Floats:
            return self.model.errors(positions, rotations) * mask

        def step() -> tuple[Allocation, float]:
            return self._step(positions, rotations, mask)

        begin, home = self.model.positions(), self.model.remember()
        self._waypoint = home
        sure: Reach | None = None
        for pieces in (1, 4, 16):
            self.model.restore(home)
            self.retreat(self.reach / pieces)
            last = pieces == 16
            try:
                self._approach(begin, positions, mask, pieces)
                return settle(
                    self.model, step, error, tolerance, iterations if last else min(40, iterations), True, self
                )
            except SolverError as failure:
                if pieces == 1:
                    sure = self._descend(home, positions, rotations, mask, error, tolerance, iterations, self.energy)
                    if sure is not None and self._is_best(sure, mask):
                        return sure
                    end = self.model.remember()
                if not last:
                    continue
                if sure is not None:
                    self.model.restore(end)
                    if sure.status.success:
                        return sure
                    raise SolverError(
                        f"Inverse kinematics {sure.status.message}.", result=sure, advice=BEYOND
                    ) from None
                if not isinstance(failure.result, Reach) and self._choice is not None:
                    return give_up(self.model, [self._waypoint, home], self._choice, error, failure, True)
                raise
        raise AssertionError

    def _is_best(self, found: Reach, mask: Floats) -> bool:
        """Whether another way to the target cannot be expected to end nearer: it is there, or efforts fail it."""
        limited = np.any(found.allocation.effort_limit) or np.any(found.allocation.stroke_limit)
        few = len(self.model.actuators) < np.count_nonzero(mask)
        return found.status.success and (found.distance <= ARRIVED * self.model.size or bool(limited or few))

    def _descend(
        self, home: Any, positions: list[Floats], rotations: list[Floats | None], mask: Floats, error: Any,
        tolerance: float, most: int, energy: float,
    ) -> Reach | None:  # fmt: skip
        """Nearer with every step and in equilibrium after each: slow, and sure to end; None if it cannot begin.

        Steps of the linearised model may run away from equilibrium where the body balloons or buckles on the way to a target
        out of reach. Here each is followed by an equilibrium, and halved until the target is nearer.
        """
        model, weights, trust = self.model, self._weights * mask, self.reach
        model.restore(home)
        try:
            equilibrium = model.relax()
        except SolverError:
            return None
        choice, length, settled, count = None, np.inf, False, 0
        while count < most and not settled:
            count += 1
            now = model.errors(positions, rotations)
            merit, turn, memory = float(np.linalg.norm(weights * now)), self._turn(now), model.remember()
            projection = model.project()
            part = min(1.0, trust / max(merit, 1e-300))
            choice = allocate(projection, "e", part * now, model.limits(), weights=weights, energy=energy, turn=turn)
            blocked = False
            while not settled:
                length = min(model.advance(projection, choice.change, reach=trust), trust)
                try:
                    trial = model.relax()
                    better = float(np.linalg.norm(weights * model.errors(positions, rotations))) < merit
                except SolverError:
                    better, blocked = False, True
                if better:
                    equilibrium, trust = trial, min(2.0 * trust, self.reach)
                    break
                model.restore(memory)
                trust = (0.125 if blocked else 0.5) * min(trust, length)  # an equilibrium that fails costs much
                settled = trust <= tolerance * model.size
            settled = settled or length <= tolerance * model.size
        if choice is None or not settled:
            return None
        message = f"settled in {numbered(count, 'step')}, each of them in equilibrium"
        if blocked:
            message = "stopped where it found no equilibrium further on; the nearest one is given"
        return arrived_at(model, choice, error(), Status(not blocked, message, {"steps": count}), equilibrium)

    def _approach(self, begin: list[Floats], end: list[Floats], mask: Floats, pieces: int) -> None:
        """Bring the effectors near their targets along straight lines, in equilibrium at every piece."""
        for k in range(1, pieces):
            part = [a + k / pieces * (b - a) for a, b in zip(begin, end, strict=True)]
            for _ in range(12):
                if self._step(part, [None] * len(part), mask)[1] <= 1e-3 * self.model.size:
                    break
            self.model.relax(strokes=True)
            self._waypoint = self.model.remember()

    def follow(self, name: str, path: ArrayLike, **options: Any) -> list[Reach]:
        """Solve along a path of one effector, each point from the one before.

        Args:
            name: the effector.
            path: (k, 3) its wanted positions [m].
            options: those of `solve`.

        Returns:
            A `Reach` for each point.

        """
        points = as_array(path, "path", "positions of shape (k, 3) [m]")
        if points.ndim != 2 or points.shape[1] != 3:
            raise refuse("path", "positions of shape (k, 3) [m]", path)
        return [self.solve({name: point}, **options) for point in points]


@kernel
def _length(weights, v):
    """Length of a vector of which each number has a weight."""
    total = 0.0
    for k in range(len(v)):
        total += (weights[k] * v[k]) ** 2
    return np.sqrt(total)


def _products(projection: Projection, change: Floats, before: Floats) -> tuple[float, float, float]:
    """Products in the compliance: of the change of efforts before with this one, and with itself; work of this change [J]."""
    W, drift = np.ascontiguousarray(projection.W("a", "a")), np.ascontiguousarray(projection.drift("a"))
    return _in_compliance(W, drift, change, before)


@kernel
def _in_compliance(W, drift, change, before):
    along, size, driven = 0.0, 0.0, 0.0
    for i in range(len(W)):
        driven += 2.0 * change[i] * drift[i]
        for j in range(len(W)):
            along += change[i] * W[i, j] * before[j]
            size += before[i] * W[i, j] * before[j]
            driven += change[i] * W[i, j] * change[j]
    return along, size, driven


@public
def inverse_kinematics(robot: Any, targets: Targets, **options: Any) -> Reach:
    """Efforts and strokes that bring effectors to their targets, from the present state of a model or from rest.

    Args:
        robot: a SoftBody, or a model (SoftModel, RodModel).
        targets: position (3,) [m], or pose (4, 4), of each effector that matters.
        **options: those of `InverseKinematics`.

    """
    return InverseKinematics(robot, **options).solve(targets)
