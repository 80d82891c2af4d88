"""Whether parts that touch each other pass through each other between two states."""

from __future__ import annotations

import numpy as np

from anguilla.compiler.distant import entry
from anguilla.describe.gridded import FINE
from anguilla.errors import SolverError
from anguilla.interact.kernels.distance import BOX, CYLINDER, GRID, HALF_SPACE, ROUND, SHAPE, SIDE, SIZE
from anguilla.interact.kernels.table import FIRST, LAST, OWN, QUIET, SINCE, UNTIL
from anguilla.interact.kernels.touch import RADIUS, THICK, THIN, find_touching
from anguilla.interact.kernels.touch_steps import fastest
from anguilla.mechanics.joints import compose
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluate import descend
from anguilla.model.model import Model
from anguilla.model.user import between

__all__ = ["passes", "refuse_coinciding"]

DEEP = 0.5  # of both radii: middles that are nearer to each other have passed, or are about to
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


def _half_width(shape: Floats) -> float:
    """Half of the least width of the shape of a body [m]: of a grid about, infinite for what nothing goes through."""
    if shape[SHAPE] == HALF_SPACE or shape[SIDE] < 0.0:
        return np.inf
    if shape[SHAPE] == GRID:
        return 0.5 * FINE * float(shape[SIZE + 4])
    widths = {BOX: 3, CYLINDER: 2}.get(float(shape[SHAPE]), 1)
    return float(np.min(shape[SIZE : SIZE + widths])) + (float(shape[ROUND]) if widths > 1 else 0.0)


def _thickness(system: Model) -> Floats:
    """Half of the thickness of each point that touches and of what it touches [m], together (rows of `deep`,)."""
    touches = system.blank.touches
    out = np.full(len(touches.deep), np.inf)
    for row in touches.table:
        first, last = touches.cluster[row[SINCE], 0], touches.cluster[row[UNTIL] - 1, 1]
        if row[FIRST] < len(touches.curve):
            other = float(np.min(touches.span[row[FIRST] : row[LAST], THIN : THICK + 1]))
        else:
            other = _half_width(touches.shape[row[FIRST] - len(touches.curve)])
        out[row[OWN] : row[OWN] + last - first] = touches.point[first:last, RADIUS] + other
    return out


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
