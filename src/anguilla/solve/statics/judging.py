"""What an answer of statics is worth: whether its forces balance, in units of the loads, and nothing contradicts it."""

from __future__ import annotations

import numpy as np

from anguilla.compiler.jit import kernel
from anguilla.interact.kernels.rubbing import UNKNOWN, set_friction
from anguilla.interact.kernels.table import GRAVITY, KIND, POSE, ROTATION, TRANSLATION, TWIST, Loads
from anguilla.mechanics.motion import too_coarse
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.evaluation import at_rest
from anguilla.model.model import Model
from anguilla.results.reactions import evaluate
from anguilla.solve.newton.closing import relative_poses, units
from anguilla.solve.newton.rules import EXPLANATION, TOO_COARSE
from anguilla.solve.newton.spectrum import diagonal
from anguilla.solve.statics.stability import WHOLE, bare, last_balanced, size_of_loads

__all__ = ["adrift", "balanced", "contradiction", "unbalanced"]

DIGITS = 1e-13  # of a stiffness, times a turn of 1 rad: forces that are round-off
LOST = 1e-12  # of all loads, times the size of the robot: the same for loads that cancel each other
ROUNDED = 1e-4  # of the loads, that rounding of what a constraint bears may take
KEPT = 1e-7  # [m, rad] by which constraints may miss; of robots below 1 m, a part of their length


# Balance --------------------------------------------------------------------------------------------------------------


def _left(system: Model, loads: Loads, q: Floats, lam: Floats) -> tuple[Floats, Floats]:
    """Forces (n,) that are left on each coordinate, beyond round-off, and the largest of the loads on it (n,), both [N m].

    The loads of a coordinate are the elastic forces (with contacts and springs), the weight, other given forces, and those
    of constraints, as generalised forces, each without regard to the others.
    """
    n, zero, scale = system.size, np.zeros(system.size), system.tree.scale
    row, forces = loads.row.copy(), system.force_places
    terms = []
    for gravity in (False, True):
        loads.row[forces] = 0.0
        if gravity:
            loads.row[GRAVITY : GRAVITY + 3] = row[GRAVITY : GRAVITY + 3]
        terms.append(evaluate(system, loads, q, zero, zero, 0.0 * lam)[:n])
    loads.row[:] = row
    given = evaluate(system, loads, q, zero, zero, 0.0 * lam)[:n]
    here = at_rest(system, loads, q, lam)
    left = here.residual
    elastic, weighed = terms
    present = np.max(np.abs([elastic, weighed - elastic, given - weighed, left - given]), axis=0) / scale
    firm = np.abs(diagonal(here)) / scale**2
    for layout in system.layout.parts:  # stiffness of its parts makes the round-off of a whole rod
        own = slice(layout.joint.start, layout.coordinates.stop)
        firm[own] = np.max(firm[own], initial=0.0)
    lost = LOST * size_of_loads(system, loads)
    beyond = np.abs(left / scale) - DIGITS * firm - lost
    beyond = np.where(np.isfinite(beyond), np.maximum(beyond, 0.0), np.inf)
    beyond[loads.driven] = 0.0
    return beyond, present


@kernel
def _turned_too_far(ws):
    return too_coarse(ws)


def balanced(system: Model, loads: Loads, q: Floats, lam: Floats, limit: float) -> bool:
    """Whether little is left on every part beside its elastic forces: what `unbalanced` would find, at a third of the cost.

    If not, or if intervals turned too far, that has to look, and `contradiction`.
    """
    if last_balanced(system, loads, q, lam, limit) is not None:
        return True
    here = at_rest(system, loads, q, lam)
    if _turned_too_far(system.desk().held(here)):
        return False
    springs = system.once(_springs)
    if springs is not None:
        elastic = springs[0] + springs[1] @ q
    else:
        row, zero = loads.row.copy(), np.zeros(system.size)
        loads.row[system.force_places] = 0.0
        elastic = evaluate(system, loads, q, zero, zero, 0.0 * lam)
        loads.row[:] = row
    left = here.values / limit
    left[loads.driven] = 0.0
    fits = bool(_is_less(left, elastic, system.tree.scale, system.once(_owns)))
    system.desk().kept["balanced"] = (limit, here) if fits else None
    return fits


@kernel
def _is_less(left, elastic, scale, owns):
    """Whether the largest of some forces (n,) on each part, with coordinates owns (p, 2), is less than that of others."""
    for p in range(len(owns)):
        most, least = 0.0, 0.0
        for i in range(owns[p, 0], owns[p, 1]):
            if not np.isfinite(left[i]):
                return False
            most, least = max(most, abs(left[i]) / scale[i]), max(least, abs(elastic[i]) / scale[i])
        if not most <= least:
            return False
    return True


def _owns(model: Model) -> Ints:
    """First coordinate of each part, and that behind its last: (parts, 2)."""
    found = [(layout.joint.start, layout.coordinates.stop) for layout in model.layout.parts]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _springs(model: Model) -> tuple[Floats, Floats] | None:
    """Elastic forces (n,) where all coordinates are zero, and their stiffness (n, n): of rods and joints alone, not balls."""
    if not model.once(bare) or len(model.tree.ball) or model.size > WHOLE:
        return None
    zero = np.zeros(model.size)
    return evaluate(model, model.blank, zero, zero, zero, np.zeros(0)), model.elastic_stiffness()


def unbalanced(system: Model, loads: Loads, q: Floats, lam: Floats) -> tuple[float, str]:
    """(largest share of its loads that is left on a part of the robot, name of that part); gaps of loops are not judged."""
    left, present = _left(system, loads, q, lam)
    worst, name = 0.0, ""
    for layout in system.layout.parts:
        own = slice(layout.joint.start, layout.coordinates.stop)
        size = float(np.max(left[own], initial=0.0))
        ratio = size / max(float(np.max(present[own], initial=0.0)), 1e-300) if size else 0.0
        if not ratio <= worst:
            worst, name = ratio, layout.part.name
    return worst, name


def adrift(system: Model, loads: Loads, q: Floats, lam: Floats) -> str:
    """Names of parts that their loads still push along a joint without any stiffness; maybe none."""
    left, present = _left(system, loads, q, lam)
    firm = np.abs(diagonal(at_rest(system, loads, q, lam))) / system.tree.scale**2
    pushed = (left > 0.5 * present) & (left > 1e3 * firm)
    return " and ".join(repr(part.part.name) for part in system.layout.parts if np.any(pushed[part.joint]))


def contradiction(system: Model, loads: Loads, q: Floats, lam: Floats) -> str:
    """What contradicts the model, as a sentence; maybe nothing.

    Intervals turned too far; tensions of tendons that rub; gaps; and closures turned over: the right angles that hold a
    joint do not mind half a turn.
    """
    zero = np.zeros(system.size)
    poses = relative_poses(system, loads, q) if len(loads.constraints.closure) else []
    gap = np.abs(evaluate(system, loads, q, zero, zero, lam)[system.size :])  # last: a tangent may follow
    if _turned_too_far(system.workspace):
        return EXPLANATION[TOO_COARSE]
    if np.any(loads.cables.friction > 0.0) and np.all(loads.cables.slip[..., 0] == UNKNOWN):  # lines are drawn in
        factor = loads.cables.factor.copy()
        set_friction(system.tree, system.workspace, loads.cables, loads.pairs)
        change = float(np.max(np.abs(loads.cables.factor - factor), initial=0.0))
        loads.cables.factor[:] = factor
        if not change <= KEPT:
            return f"the tensions along tendons with friction do not settle: they still change by {change:.2g}"
    if not system.rows:
        return ""
    gap[loads.constraints.table[:, KIND] == TWIST] = 0.0
    missed = gap / units(system, loads.constraints.table[:, KIND])
    if not np.max(missed, initial=0.0) <= KEPT:
        worst = int(np.argmax(missed))
        return f"{system.tables.row_names[worst]} misses by {gap[worst]:.2g} (m or rad)"
    if unbearable := _unbearable(system, loads, q, lam):
        return unbearable
    closures = list(system.robot.closures.values())
    for c, relative in enumerate(poses):
        angles = sum(row[0] == "rotation" for row in closures[c].rows)
        at = int(loads.at[POSE]) + 12 * c
        turn = loads.row[at : at + 9].reshape(3, 3).T @ relative[:3, :3]
        if (angles == 3 and np.trace(turn) < 0.0) or (angles == 2 and turn[0, 0] < 0.0):
            return f"{closures[c].name} is turned over: its joint was closed the wrong way round"
    return ""


def _unbearable(system: Model, loads: Loads, q: Floats, lam: Floats) -> str:
    """Which constraint bears so much that the loads are lost in its rounding, as a straight rod held at its full length."""
    zero, lever = np.zeros(system.size), float(system.layout.length)
    kind = loads.constraints.table[:, KIND]
    size = np.abs(lam) * np.where(kind == ROTATION, 1.0, lever)
    loops = (kind == ROTATION) | (kind == TRANSLATION)
    borne, lines = np.where(loops, size, 0.0), float(np.max(size[~loops & (kind != TWIST)], initial=0.0))
    given = evaluate(system, loads, q, zero, zero, 0.0 * lam)[: system.size] / system.tree.scale
    present = max(size_of_loads(system, loads), lines, float(np.max(np.abs(given), initial=0.0)))
    worst = int(np.argmax(borne)) if len(borne) else -1
    if worst < 0 or np.finfo(float).eps * borne[worst] <= ROUNDED * present:
        return ""
    return (
        f"{system.tables.row_names[worst]} would have to bear {abs(lam[worst]):.1e} N or N m: a rod that cannot stretch is "
        "held straight, at its full length; let it stretch (extensible_kirchhoff), or leave it some slack"
    )
