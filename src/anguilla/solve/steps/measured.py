"""Where and by what the errors of motions are measured: places on the robot, its length, what the steps miss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anguilla.compiler.distant import direct, entry
from anguilla.describe import RodHandle
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.model import Model
from anguilla.results.observe import S_X, SNAPSHOT, snapshots

if TYPE_CHECKING:
    from anguilla.results.states import Trajectory

PLACES = 12  # of the robot, and as many ends of its parts, at which motions are compared
THIN = 0.02  # of the length: turns of what reaches no farther do not matter
SPINNING = 1.0  # [rad] of a joint in a step
INSTANTS = 16  # of a window or of a motion at which states are looked at


class TimeError(NamedTuple):
    """Estimated error of the time steps."""

    size: float  # part of the length
    at: float  # instant [s] around which it arises
    where: int  # node at which it is largest
    sure: bool = False  # whether all steps were looked at
    calm: bool = False  # whether it is so small beside the motion that energies need not be looked at


def errors_of_steps(run: Trajectory, dt: float) -> tuple[float, float, float]:
    """Sums of the local errors of joints, and of all coordinates, as parts of the length; how far the robot moves [rad].

    Errors of joints may add up to this. Those of strains hardly do: most of their accelerations are those of fast modes.
    """
    a = run.integrated
    if a is None:
        return 0.0, math.inf, math.inf
    found: tuple[float, float, float] = direct(local_errors)(run.q, a, *run.system.once(_weights), dt)
    return found


@entry()
def local_errors(q, a, weight, turns, dt):
    """Sums of the local errors of joints, and of all coordinates, and how far the robot moves; all as angles [rad].

    q and a (nt, n), weights (n,) of all coordinates and of joints alone.
    """
    joints, everything, way = 0.0, 0.0, 0.0
    for t in range(len(a) - 1):
        one, whole = 0.0, 0.0
        for i in range(a.shape[1]):
            change = a[t + 1, i] - a[t, i]
            one += (turns[i] * change) ** 2
            whole += (weight[i] * change) ** 2
        joints += math.sqrt(one)
        everything += math.sqrt(whole)
    for t in range(1, len(q)):
        whole = 0.0
        for i in range(q.shape[1]):
            whole += (weight[i] * (q[t, i] - q[0, i])) ** 2
        way = max(way, whole)
    return dt * dt / 12.0 * joints, dt * dt / 12.0 * everything, math.sqrt(way)


def _weights(system: Model) -> tuple[Floats, Floats]:
    """Weights (n,) that make coordinates angles: of all that are not prescribed, and of those of joints among them."""
    weight = system.tree.scale.copy()
    weight[system.blank.driven] = 0.0
    return weight, np.where(system.tree.strain_scale == 0.0, weight, 0.0)


def added_up(run: Trajectory) -> Floats:
    """Sums (nt,) of the local errors of all coordinates up to each state, over that of the whole motion."""
    assert run.integrated is not None
    each = np.linalg.norm(np.diff(run.integrated, axis=0) * run.system.once(_weights)[0], axis=1)
    total = np.append(0.0, np.cumsum(each))
    return total / max(float(total[-1]), 1e-300)


def spins(run: Trajectory, dt: float) -> bool:
    """Whether a joint turns so far in a step that what turns with it may be seen at odd angles only."""
    turning = run.system.once(_turning)
    return bool(len(turning)) and dt * float(np.abs(run.v[:, turning]).max()) > SPINNING


def _turning(system: Model) -> Ints:
    """Coordinates (k,) that are angles of joints."""
    found = [
        layout.joint.start + k
        for layout in system.layout.parts
        if layout.part.joint is not None
        for k, turns in enumerate(layout.part.joint.turns)
        if turns
    ]
    balls = {int(k) + i for k in system.tree.ball[:, 0] for i in range(3)}
    return np.array([k for k in found if k not in balls], dtype=np.int64)


def _spread(nodes: Ints) -> Ints:
    """Some of many nodes, evenly."""
    count = min(len(nodes), PLACES)
    return nodes[(np.arange(count) * (len(nodes) - 1) / max(count - 1, 1) + 0.5).astype(np.int64)]


def nodes_of(system: Model) -> tuple[Ints, Floats]:
    """Nodes at which motions are compared, and how far [m] what they carry reaches, by which they feel turns."""
    heavy = np.flatnonzero(system.tree.mass > 0.0)
    entries = sorted(part.entry for part in system.layout.parts)  # the nodes of a part follow its entry
    ends = heavy.searchsorted([*entries[1:], len(system.tree.mass)]) - 1
    last = heavy[sorted(set(ends.tolist()))]
    nodes = np.array(sorted({*_spread(heavy).tolist(), *_spread(last).tolist()}))  # no body of a few is missed
    radii = np.sqrt(np.sum(system.tree.inertia[nodes], axis=1) / system.tree.mass[nodes])
    for part in system.robot.parts:
        if isinstance(part, RodHandle):  # whose inertia may be given as it is for no section
            thick = part.rod.section.thickness(np.linspace(0.0, part.length, PLACES))
            own = system.layout.parts[part.index].nodes  # one after the other
            radii[(nodes >= own[0]) & (nodes <= own[-1])] = 0.5 * float(np.max(thick))
    radii[radii < THIN * system.length] = 0.0
    return nodes, radii


def touches(system: Model) -> bool:
    """Whether it may touch obstacles, or its parts each other."""
    return any(load.touches or load.meets for load in system.robot.loads)


def has_strains(system: Model) -> bool:
    """Whether there are rods."""
    return bool(np.any(system.tree.strain_scale > 0.0))


def length_of(run: Trajectory, nodes: Ints) -> float:
    """What errors are measured by [m]: the length of the robot; of bodies alone, the room their motion takes."""
    length = run.system.length
    if run.system.once(has_strains):
        return length
    place = motion_of(run.system, nodes, np.ascontiguousarray(run.some(INSTANTS).q))[:, :, S_X : S_X + 3]
    return max(length, float(np.linalg.norm(np.ptp(place.reshape(-1, 3), axis=0))))


def apart(system: Model, nodes: Ints, radii: Floats, one: Floats, two: Floats) -> Floats:
    """How far (nt, nodes) [m] nodes, and places at radii [m] around them, are from each other in states (nt, n)."""
    change = motion_of(system, nodes, two) - motion_of(system, nodes, one)
    moved = change[:, :, S_X : S_X + 3]
    if not np.any(radii):
        return np.linalg.norm(moved, axis=2)
    turned = change[:, :, :9].reshape(*change.shape[:2], 3, 3)
    around = [moved + sign * radii[:, None] * turned[:, :, :, k] for k in range(3) for sign in (-1.0, 1.0)]
    return np.max(np.linalg.norm(around, axis=3), axis=0)


def motion_of(system: Model, nodes: Ints, q: Floats) -> Floats:
    """Poses (nt, nodes, SNAPSHOT) of nodes in states q (nt, n)."""
    out, zero = np.zeros((len(q), len(nodes), SNAPSHOT)), np.zeros_like(q)
    snapshots(system.tree, system.workspace, nodes, np.ascontiguousarray(q), zero, zero, out)
    return out
