"""Whether parts that touch each other pass through each other between two states."""

from __future__ import annotations

from typing import Any

import numpy as np

from anguilla.compiler.distant import entry
from anguilla.describe import BodyHandle
from anguilla.errors import SolverError
from anguilla.interact.kernels.gliding import RADIUS
from anguilla.interact.kernels.impact import SUNK
from anguilla.interact.kernels.table import FIRST, LAST, OWN, QUIET, SINCE, UNTIL
from anguilla.interact.kernels.touch import THICK, THIN, find_touching
from anguilla.interact.kernels.touch_steps import DEEPEST, fastest
from anguilla.mechanics.joints import compose
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluate import descend
from anguilla.model.model import Model
from anguilla.model.user import between

__all__ = ["gives_way", "passes", "refuse_coinciding"]

DEEP = 0.5  # of both radii: middles that are nearer to each other have passed, or are about to
FAR = 0.8  # of both radii: what a motion may not do without a word, though it follows a law that lets it
ON_EACH_OTHER = 1e-6  # of both radii: middles that are nearer to each other are in one place
SHORTEST = 1e-4  # of the way, between two states that are looked at


@entry(descend)
def _walk(tree, ws, touches, start, way, rest, q, deepest, out):
    """out[0] = part of the way at which a point is deeper than `deepest` in another part, or 2 if none is.

    The robot goes on by no more than the thinnest of its parts at a time.
    """
    s, out[0] = 0.0, 2.0
    while out[0] == 2.0:
        for k in range(len(q)):
            q[k] = start[k] + s * way[k]
        for b in range(len(tree.ball)):
            k = tree.ball[b, 0]
            turn = s * way[k], s * way[k + 1], s * way[k + 2]
            q[k], q[k + 1], q[k + 2] = compose((start[k], start[k + 1], start[k + 2]), turn)
        descend(tree, ws, q, way, rest)
        touches.count[QUIET] = 0
        find_touching(ws.node, touches)
        for row in range(len(touches.deep)):
            if s == 0.0:  # what overlaps may not do so more
                deepest[row] = max(deepest[row], (1.0 + 1e-6) * touches.deep[row, 0])
            elif touches.deep[row, 0] > deepest[row]:
                out[0] = s
        if s >= 1.0:
            break
        s = min(1.0, s + max(touches.skin[0] / max(fastest(ws.node, touches), 1e-300), SHORTEST))
    touches.count[QUIET] = 0


def _thickness(system: Model) -> Floats:
    """Half of the thickness of each point that touches and of what it touches [m], together (rows of `deep`,).

    It is infinite for what nothing goes through.
    """
    touches, tables = system.blank.touches, system.tables
    out = np.full(len(touches.deep), np.inf)
    for row, number, side in zip(touches.table, tables.touch_loads, tables.touching.sides, strict=True):
        first, last = touches.cluster[row[SINCE], 0], touches.cluster[row[UNTIL] - 1, 1]
        load: Any = system.robot.loads[number]
        touched = load.b if side > 0.0 else load.a
        if row[FIRST] < len(touches.curve):
            other = float(np.min(touches.span[row[FIRST] : row[LAST], THIN : THICK + 1]))
        else:
            solid = touched.body.solid if isinstance(touched, BodyHandle) else None
            other = load.radius if solid is None else solid.inner_radius
        out[row[OWN] : row[OWN] + last - first] = touches.point[first:last, RADIUS] + other
    return out


def gives_way(system: Model) -> str:
    """That a contact gave way so far since a motion began that things go through each other, in a sentence; maybe nothing."""
    tables, touches, found = system.tables, system.blank.touches, {"": FAR}
    for number, load in enumerate(system.robot.loads):
        if load.touches:
            mine = np.array(tables.frame_loads, dtype=np.int64) == number
            thick = load.radii(tables.seats[number].X) + load.obstacles[0].inner_radius
            found[load.label] = float(np.max(system.blank.frames.state[mine, 2, SUNK] / thick, initial=0.0))
    if len(touches.table):
        deep = touches.before[:, DEEPEST] / _thickness(system)
        for row, number in zip(touches.table, tables.touch_loads, strict=True):
            count = touches.cluster[row[UNTIL] - 1, 1] - touches.cluster[row[SINCE], 0]
            deepest = float(np.max(deep[row[OWN] : row[OWN] + count], initial=0.0))
            label = system.robot.loads[number].label
            found[label] = max(found.get(label, 0.0), deepest)
    label, most = max(found.items(), key=lambda item: item[1])
    return label and (
        f"{label} gives way by {100 * most:.0f} % of the thickness there, so that things may go through each other: give it "
        "more stiffness."
    )


def passes(system: Model, before: Floats, after: Floats) -> bool:
    """Whether parts that touch each other pass through each other on the straight way between two states (n,)."""
    touches = system.blank.touches
    if not len(touches.table) or np.array_equal(before, after):
        return False
    out, zero = np.zeros(1), np.zeros(system.size)
    way = between(system.tree, before, after)
    _walk(system.tree, system.workspace, touches, before, way, zero, zero.copy(), DEEP * _thickness(system), out)
    return bool(out[0] <= 1.0)


def refuse_coinciding(system: Model, q: Floats) -> None:
    """Raise an error if the middles of parts that touch lie on each other in a state (n,): no side is the nearer one."""
    if not system.tables.touch_loads:
        return
    touches = system.blank.touches
    thick, zero = _thickness(system), np.zeros(system.size)
    _walk(system.tree, system.workspace, touches, q, zero, zero, zero.copy(), np.full(len(thick), np.inf), np.zeros(1))
    on_each_other = np.flatnonzero(touches.deep[:, 0] > (1.0 - ON_EACH_OTHER) * thick)
    if len(on_each_other):
        row = int(np.flatnonzero(touches.table[:, OWN] <= on_each_other[0])[-1])
        label = system.robot.loads[system.tables.touch_loads[row]].label
        raise SolverError(
            f"{label}: at the start their middles lie on each other, so that neither side is the nearer one: start with them "
            "apart, or leave out this contact."
        )
