"""Steps until nothing moves any more, and the equilibrium they end in: what inverse and forward kinematics share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla._doors import public
from anguilla.control.allocation import Allocation
from anguilla.control.model import ConstraintModel
from anguilla.errors import SolverError, as_count
from anguilla.results.states import Status

__all__ = ["Reach", "arrived_at", "give_up", "settle", "told"]

Floats = NDArray[np.float64]
ARRIVED = 1e-5  # of the size of the robot: an effector so near its target is there
BEYOND = "If the target is out of reach, limit the efforts or strokes of the actuators, or bring it nearer."
CRAWL = 1e-4  # steps below this part of the size end the search when the target does not come nearer


@public
@dataclass(frozen=True)
class Reach:
    """Where an inverse (or forward) kinematic problem ended, at equilibrium.

    Attributes:
        inputs: tension [N] or pressure [Pa] of each actuator.
        strokes: shortening [m] or gain of volume [m^3] of each actuator.
        readings: length [m] of each sensor.
        positions: position (3,) [m] of each effector.
        error: (rows,) what is left of the error [m, rad].
        distance: its norm.
        allocation: the last QP, with the limits that hold.
        status: how it ended; success means that it settled, `distance` says where.
        equilibrium: the equilibrium.

    """

    inputs: dict[str, float]
    strokes: dict[str, float]
    readings: dict[str, float]
    positions: dict[str, Floats]
    error: Floats
    distance: float
    allocation: Allocation
    status: Status
    equilibrium: Any

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name} = {value:.4g}" for name, value in self.inputs.items())
        left = "" if "from the target" in self.status.message else f", {self.distance:.3g} m from the target"
        return f"<{self.status.message}{left}: {inputs}>"


def _stands(distances: list[float]) -> bool:
    """Whether the distance to a target out of reach has not changed for ten steps."""
    last = distances[-10:]
    return len(last) == 10 and max(last) - min(last) <= 1e-7 * max(last)


def settle(
    model: ConstraintModel,
    step: Any,
    error: Any,
    tolerance: float,
    most: int,
    raise_on_failure: bool,
    owner: Any = None,
) -> Reach:
    """Repeat steps until they vanish; shorten them when elements turn inside out."""
    as_count(most, "iterations")
    length, halvings, count, settled = np.inf, 0, 0, False
    distances: list[float] = []
    choice: Allocation | None = None
    good = memory = model.remember()  # good: before the last step, whose end may turn out to be inside out
    start, nearest = memory, (np.inf, memory)
    for count in range(1, most + 1):  # noqa: B007
        try:
            now = model.remember()
            choice, length = step()
        except SolverError as failure:
            if choice is not None and halvings >= 12:
                return give_up(model, [nearest[1], start], choice, error, failure, raise_on_failure)
            if owner is None or halvings >= 12:
                raise
            halvings += 1
            owner.retreat(0.25 * owner.trust)
            model.restore(good)
            continue
        good, memory = memory, now
        if distances and distances[-1] < nearest[0]:
            nearest = (distances[-1], now)
        distances.append(float(np.linalg.norm(error())))
        if length <= tolerance * model.size or (length <= CRAWL * model.size and _stands(distances)):
            settled = True
            break
    if choice is None:
        raise SolverError(
            "Inverse kinematics could not make a single step.", advice="Start from an equilibrium (relax)."
        )
    try:
        equilibrium = model.relax(strokes=True)
    except SolverError as failure:
        return give_up(model, [nearest[1], start], choice, error, failure, raise_on_failure)
    left = error()
    # with more actuators than needed, effectors arrive long before the least energy is found: that is an answer
    arrived = not settled and float(np.linalg.norm(left)) <= ARRIVED * model.size
    message = f"settled in {count} steps" if settled else f"still moving by {length:.2e} m after {count} steps"
    if arrived:
        message, settled = f"arrived in {count} steps, while the shape still eases by {length:.1e} m a step", True
    if settled and not choice.feasible:
        message += "; the limits of strokes and efforts contradict each other, strokes are violated least"
    result = arrived_at(
        model, choice, left, Status(settled, message, {"steps": count, "halvings": halvings}), equilibrium
    )
    if not settled and raise_on_failure:
        raise SolverError(
            f"Inverse kinematics did not settle: {message}.", result=result,
            advice="Move the target in smaller pieces, lower reach, raise energy, or allow more iterations.",
        )  # fmt: skip
    return result


def give_up(
    model: ConstraintModel,
    memories: list[Any],
    choice: Allocation,
    error: Any,
    failure: SolverError,
    raise_on_failure: bool,
) -> Reach:
    """The equilibrium nearest to the target that was met on the way, as a failure."""
    for memory in memories:
        model.restore(memory)
        try:
            equilibrium = model.relax(strokes=True)
            break
        except SolverError:
            continue
    else:
        raise failure
    message = "stopped on its way to the target; the nearest equilibrium met is given"
    result = arrived_at(model, choice, error(), Status(False, message, {}), equilibrium)
    if not raise_on_failure:
        return result
    raise SolverError(
        f"Inverse kinematics {message}. The reason: {failure}", result=result,
        advice=BEYOND,
    )  # fmt: skip


def told(found: Reach, size: float) -> Reach:
    """The same result; its message also says how far it misses the target, and what keeps it there."""
    words = found.status.message
    if found.distance > ARRIVED * size:
        words += f"; {found.distance:.3g} m from the target"
        if found.status.success:
            words += ", no nearer place was found"
    return replace(found, status=replace(found.status, message=words))


def arrived_at(model: ConstraintModel, choice: Allocation, left: Floats, status: Status, equilibrium: Any) -> Reach:
    """The result at the present state of the model."""
    named = lambda names, values: dict(zip(names, np.asarray(values).tolist(), strict=True))
    return Reach(
        named(model.actuators, model.efforts), named(model.actuators, model.strokes()),
        named(model.sensors, model.readings()), dict(zip(model.effectors, model.positions(), strict=True)),
        left, float(np.linalg.norm(left)), choice, status, equilibrium,
    )  # fmt: skip
