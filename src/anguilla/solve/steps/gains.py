"""What a motion gains of energy and momentum out of nothing, and how deep it sinks into obstacles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anguilla.compiler.distant import direct, entry
from anguilla.compiler.jit import inline, kernel, part
from anguilla.describe import Load, Robot
from anguilla.interact.kernels.table import KIND, TWIST
from anguilla.mechanics.tree import N_R, N_V, N_W, N_X, Floats, Ints
from anguilla.mechanics.vec import dot, load3, load9, tmatvec
from anguilla.model.evaluate import descend
from anguilla.model.model import SMALL, Inputs, Model
from anguilla.results.contacts import (
    bristle_energy,
    contact_energy,
    depths,
    kept_of_obstacles,
    kept_of_parts,
    load_energy,
)
from anguilla.results.reactions import grasps, relaxes

if TYPE_CHECKING:
    from anguilla.results.states import Status, Trajectory

ENERGIES = 64  # instants at which energies are looked at
FIRST = 32  # the same of a motion that touches, at first
NOTHING = np.zeros((0, 0))
SHORT = 1001  # states of a motion that may be kept whole until somebody asks
# windows of a motion; states of one at least; energies of contacts that count as alike, as parts of that in play
WINDOWS, NARROWEST, ALIKE = 25, 5, 1e-4
# states of a window in a first look at few of them; part of a gain that is worth a second one: of 127 random scenes, what
# the first look, at 40 states, showed was 0.3 of the gain at least; with fewer, 49 robots that gain were told as before
GLANCE, HINT = 2, 0.02
STILL, ROUND_OFF = 1e-6, 1e-9  # [rad] a robot that moves by less stands still; energies to which others are round-off


class Some(NamedTuple):
    """A motion at some of its instants."""

    kind: type[Trajectory]
    robot: Robot
    system: Model
    status: Status
    t: Floats
    q: Floats
    v: Floats
    lam: Floats
    inputs: Inputs

    def trajectory(self) -> Trajectory:
        """The same as a result."""
        return self.kind(self.robot, self.system, self.status, self.t, self.q, self.v, None, self.lam, self.inputs)

    def thinned(self, count: int = ENERGIES) -> Some:
        """A few of its instants."""
        if len(self.t) <= 1.5 * count:
            return self
        rows, (kind, robot, system, status, t, q, v, lam, inputs) = _evenly(len(self.t), count), self
        t, q, v = t.take(rows), q.take(rows, 0), v.take(rows, 0)
        return Some(kind, robot, system, status, t, q, v, lam.take(rows, 0), inputs)


@lru_cache(maxsize=64)
def _evenly(states: int, count: int) -> Ints:
    """Some of the numbers of states, first and last among them (count,), read-only."""
    rows = np.arange(count) * (states - 1) // (count - 1)
    rows.setflags(write=False)
    return rows


def all_of(run: Trajectory) -> Some:
    """A motion at all of its instants."""
    return Some(type(run), run.robot, run.system, run.status, *run.stored, run.inputs)


def some_of(states: Some) -> Callable[[], Some]:
    """A motion at the instants at which energies are looked at, made when it is needed; it does not keep a long one."""
    if len(states.t) <= SHORT:
        return states.thinned
    some = states.thinned()
    return lambda: some


def energy_gain(some: Some, bristles: Floats | None = None) -> tuple[float | None, float]:
    """Largest gain of energy as a part of that in play, and its end [s]; None where something unknown works on the robot.

    bristles (nt,) [J] is what those of contacts keep, if that is to count.
    """
    system = some.system
    if not passive(system, some.inputs):
        return None, 0.0
    rows, joins, (steady, firmest) = NOTHING, False, system.once(_constants)
    if system.once(_keeps_more) or some.inputs:
        rows, joins = _more_energies(some)
    if bristles is not None:
        rows[0] += bristles
    gain, k, play, size = direct(_gained)(
        system.tree, system.workspace, *steady, some.q, some.v, rows, joins
    )  # fmt: skip
    if play < STILL**2 * firmest + ROUND_OFF * size:
        return 0.0, 0.0  # it stands still
    return (gain / play if play > 0.0 else 0.0), float(some.t[k])


def _more_energies(some: Some) -> tuple[Floats, bool]:
    """Energies (k, nt) [J] that are not those of its motion alone; whether the first is of one kind with the elastic one."""
    system = some.system
    kept = [load_energy(system, some.q)] if system.once(_loaded) else []
    if system.size > SMALL:
        kept = [sum(kept, system.elastic_energy(some.q))]
    rows = [*kept, *potentials(some)]
    return (np.stack(rows) if rows else NOTHING), bool(kept)


def _keeps_more(system: Model) -> bool:
    """Whether there may be such energies without inputs."""
    return _loaded(system) or system.size > SMALL


def _constants(system: Model) -> tuple[tuple[Floats, ...], float]:
    """What energies are found with, and the firmest coordinate."""
    return system.once(_steady if system.size <= SMALL else _steady_large), system.once(_firmest)


def gain_of_touching(run: Trajectory, states: Some, enough: float) -> tuple[float, float]:
    """Gain of energy of a motion with contacts, as a part of that in play, and its end [s]; exact if more than `enough`.

    In play are the energy at the start and all work of weight and dead forces. Means over a twenty-fifth of the motion
    are compared, as fast modes trade energy with the steps, and only with later ones in which contacts keep as much: what a
    step misses of a contact as it is compressed is made up for as it opens. A few instants of the motion are looked at
    first, and all of a short one where these show a part of what is asked for.
    """
    some = states.thinned(FIRST if len(run.t) <= SHORT else ENERGIES)
    rows = energies(some)
    if some is not states and len(run.t) <= SHORT:
        gain, at = _growth(some, rows, GLANCE)
        if gain <= HINT * enough:
            return gain, at
        some, rows = states, energies(states)
    gain, at = _growth(some, rows, NARROWEST)
    if gain > enough and grasps(run.system.blank):
        rows[1:3] += kept_by_bristles(run, some)
        gain, at = _growth(some, rows, NARROWEST)
    return gain, at


def kept_by_bristles(run: Trajectory, some: Some) -> Floats:
    """Energy (nt,) [J] of the bristles of contacts at some instants of a motion."""
    return bristle_energy(run.evaluations)[np.searchsorted(run.stored.t, some.t)]


def energies(some: Some) -> Floats:
    """Kinetic and elastic energy, that of contacts in it, gravitational energy, then those of forces (4 + k, nt) [J].

    The robot is passive.
    """
    system, small, forces = some.system, some.system.size <= SMALL, potentials(some)
    out = np.zeros((4 + len(forces), len(some.t)))
    direct(_while_touching)(
        system.tree,
        system.workspace,
        system.blank.frames,
        system.blank.touches,
        *system.once(_steady if small else _steady_large),
        some.q,
        some.v,
        out,
    )
    if not small:
        out[1] += system.elastic_energy(some.q)
    if system.once(_has_springs):
        out[1] += load_energy(system, some.q) - contact_energy(system, some.q)
    for k, energy in enumerate(forces):
        out[4 + k] = energy
    return out


def _growth(some: Some, rows: Floats, narrowest: int) -> tuple[float, float]:
    """Growth of the means of energies (4 + k, nt), as a part of that in play, and its end [s]."""
    wide, lists = max(narrowest, len(some.t) // WINDOWS), np.zeros((3, len(some.t)))
    gain, at = direct(_grown)(rows, STILL**2 * some.system.once(_firmest), wide, lists)
    return gain, float(some.t[at]) if at else 0.0


def _loaded(system: Model) -> bool:
    """Whether there may be loads that keep energy."""
    return bool(system.robot.loads) or len(system.blank.touches.table) > 0


def _has_springs(system: Model) -> bool:
    """Whether loads other than contacts keep energy."""
    return any(load.is_passive and not (load.touches or load.meets) for load in system.robot.loads)


@part
def _in_play(rows, total):
    """Energy in play, and the size of energies (k, nt) as they are numbered by `energies`; their sum into total (nt,)."""
    low, size = rows[1, 0], 0.0
    for t in range(len(total)):
        total[t] = rows[0, t] + rows[1, t]
        low, size = min(low, rows[1, t]), max(size, abs(rows[1, t]))
    play = rows[0, 0] + rows[1, 0] - low
    for k in range(3, len(rows)):
        largest = 0.0
        for t in range(len(total)):
            total[t] += rows[k, t]
            play += abs(rows[k, t] - rows[k, max(t - 1, 0)])
            largest = max(largest, abs(rows[k, t]))
        size += largest
    return play, size


@kernel
def _grown(rows, still, wide, lists):
    """Largest growth of the means of the energy (k, nt), as a part of that in play, and the middle of the later one.

    Zero for what is too short to say, and for what stands still: nothing may be in play at all. An earlier mean counts for
    later ones in which contacts keep no less; of the earlier ones only those matter that have less energy than all others
    in which contacts keep no more: they stand in two of the lists (3, nt), sorted by what contacts keep.
    """
    low, least, total, kept, size = lists[0], lists[1], lists[2], rows[2], 0  # the first rises, the second falls
    play, most = _in_play(rows, total)
    if len(total) < 2 * wide or play <= still + ROUND_OFF * most:
        return 0.0, 0
    gain, at, mean, held = 0.0, 0, 0.0, 0.0
    for k in range(wide - 1):
        mean, held = mean + (total[k] - total[0]) / wide, held + kept[k] / wide
    for j in range(len(total) - wide + 1):
        mean, held = mean + (total[j + wide - 1] - total[0]) / wide, held + kept[j + wide - 1] / wide
        size = _listed(low, least, size, held, mean)
        growth = max(mean, mean - least[_behind(low, size, held + ALIKE * play) - 1])
        if growth > gain:
            gain, at = growth, j
        mean, held = mean - (total[j] - total[0]) / wide, held - kept[j] / wide
    return gain / play, at + wide // 2


@part
def _listed(low, least, size, held, mean):
    """Put a mean into the lists, in the place of those with more energy in which contacts keep no less; their new size."""
    place = _behind(low, size, held)
    if place > 0 and least[place - 1] <= mean:
        return size
    until = place
    while until < size and least[until] >= mean:
        until += 1
    if until == place:
        for k in range(size, place, -1):
            low[k], least[k] = low[k - 1], least[k - 1]
    else:
        for k in range(until, size):
            low[place + 1 + k - until], least[place + 1 + k - until] = low[k], least[k]
    low[place], least[place] = held, mean
    return size + 1 - (until - place)


@inline
def _behind(values, size, value):
    """How many of the first `size` values, which rise, are not larger than `value`."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


def _steady(system: Model) -> tuple[Floats, ...]:
    """Gravity (1, 3) of a robot on which nothing changes with time, its elastic stiffness (n, n), its rest, zeros (n,)."""
    stiffness = np.array(system.elastic_stiffness())
    return system.robot.gravity_values([0.0]), stiffness, system.rest.copy(), np.zeros(system.size)


def _steady_large(system: Model) -> tuple[Floats, ...]:
    """The same without a stiffness."""
    return system.robot.gravity_values([0.0]), np.zeros((0, 0)), system.rest.copy(), np.zeros(system.size)


@part
def _energies(tree, node, gravity, stiffness, rest, q):
    """Kinetic, elastic and gravitational energy [J] at the present motion, q (n,)."""
    kinetic, elastic, potential = 0.0, 0.0, 0.0
    g, flat = load3(gravity, 0, 0), tree.flat[0] == 1
    for i in range(len(tree.parent)):
        vel, w = load3(node, i, N_V), load3(node, i, N_W)
        if flat:
            turning = tree.turning[i] * w[2] * w[2]
        else:
            w, (j1, j2, j3) = tmatvec(load9(node, i, N_R), w), load3(tree.inertia, i, 0)
            turning = j1 * w[0] * w[0] + j2 * w[1] * w[1] + j3 * w[2] * w[2]
        kinetic += 0.5 * (tree.mass[i] * dot(vel, vel) + turning)
        potential -= tree.mass[i] * dot(g, load3(node, i, N_X))
    for i in range(len(stiffness)):
        row = 0.0
        for j in range(len(stiffness)):
            row += stiffness[i, j] * (q[j] - rest[j])
        elastic += 0.5 * row * (q[i] - rest[i])
    return kinetic, elastic, potential


@entry(descend)
def _while_touching(tree, ws, frames, touches, gravity, stiffness, rest, zero, q, v, out):
    """Kinetic and elastic energy, that of contacts in it, gravitational energy (4, nt), in states q, v (nt, n)."""
    for t in range(len(q)):
        descend(tree, ws, q[t], v[t], zero)
        kinetic, elastic, potential = _energies(tree, ws.node, gravity, stiffness, rest, q[t])
        kept = kept_of_obstacles(ws.node, frames) + kept_of_parts(ws.node, touches)
        out[0, t], out[1, t], out[2, t], out[3, t] = kinetic, elastic + kept, kept, potential


@entry(descend)
def _gained(tree, ws, gravity, stiffness, rest, zero, q, v, others, joins):
    """The largest gain of energy, its row, the energy in play, and the size of what is kept, of states q, v (nt, n).

    others (k, nt) are further energies; with `joins`, the first is of one kind with the elastic one.
    """
    gain, at, lowest, fastest, play, size = -1.0, 0, np.inf, 0.0, 0.0, 0.0
    low, high, lower, upper = np.inf, -np.inf, np.inf, -np.inf  # elastic, gravitational
    for t in range(len(q)):
        descend(tree, ws, q[t], v[t], zero)
        kinetic, elastic, potential = _energies(tree, ws.node, gravity, stiffness, rest, q[t])
        if joins:
            elastic += others[0, t]
        total = kinetic + elastic + potential
        for j in range(1 if joins else 0, len(others)):
            total += others[j, t]
        low, high = min(low, elastic), max(high, elastic)
        lower, upper = min(lower, potential), max(upper, potential)
        lowest, fastest = min(lowest, total), max(fastest, kinetic)
        if total - lowest > gain:
            gain, at = total - lowest, t
    for j in range(1 if joins else 0, len(others)):
        least, most = np.inf, -np.inf
        for t in range(len(q)):
            least, most = min(least, others[j, t]), max(most, others[j, t])
        play += most - least
        size += max(most, -least)
    return gain, at, play + (high - low) + (upper - lower) + fastest, size + max(high, -low) + max(upper, -lower)


def _firmest(system: Model) -> float:
    """The largest elastic stiffness of a coordinate, as an angle [N m/rad]."""
    return float(np.max(system.elastic_diagonal / system.tree.scale**2, initial=0.0))


def momentum_change(system: Model, some: Callable[[], Some]) -> float:
    """Change of the momentum of a robot that nothing acts on from outside, as a part of mass times speed; 0 for others."""
    if not system.once(_alone) or np.any(system.robot.gravity_values(some().t)):
        return 0.0
    run = some().trajectory()
    thrust = math.sqrt(2.0 * run.mass * float(np.max(run.energy["kinetic"])))
    return float(np.max(np.linalg.norm(run.momentum - run.momentum[0], axis=1))) / thrust if thrust > 0.0 else 0.0


def _alone(system: Model) -> bool:
    """Whether a robot floats freely, and everything but gravity that acts on it acts between its parts."""
    robot, outside = system.robot, [load for load in system.robot.loads if load.stress_on is None]
    frames = [frame for closure in robot.closures.values() for frame in (closure.a, closure.b)]
    frames += [frame for line in robot.actuators.values() for span in line.spans for frame in span]
    slides = np.any(system.blank.constraints.table[:, KIND] == TWIST)
    if outside or slides or system.shapes or any(frame.is_ground for frame in frames):
        return False
    roots = [part.joint for part in robot.parts if part.parent.is_ground]
    return all(joint.size == 6 and joint.motion is None and not np.any(joint.damping_values)
               and joint.effort_is_constant and not np.any(joint.effort_values([0.0])) for joint in roots)  # fmt: skip


def passive(system: Model, inputs: Inputs) -> bool:
    """Whether nothing acts but gravity, springs, contact, damping and loads with a potential, all of them steady."""
    return system.is_steady(inputs) and system.once(_takes_energy)


def _takes_energy(system: Model) -> bool:
    """The same but for its being steady."""
    return takes_energy(system, system.robot.loads)


def takes_energy(system: Model, loads: Sequence[Load]) -> bool:
    """The same with some of the loads alone."""
    robot = system.robot
    if len(system.blank.driven) or relaxes(system.blank):  # what is kept inside material that relaxes is not counted
        return False
    pulled = any(np.any(layout.part.joint.effort_values([0.0])) for layout in system.layout.parts)
    calm = all(load.is_passive or load.brakes or load.dead_force is not None for load in loads)
    lossy = any(getattr(line, "friction", 0.0) or getattr(line, "compliance", 0.0) for line in robot.actuators.values())
    return calm and not pulled and not lossy


def _has_dead_forces(system: Model) -> bool:
    return any(load.dead_force is not None for load in system.robot.loads)


def potentials(some: Some) -> list[Floats]:
    """Energies (nt,) [J] of dead forces, and of lines under constant tension; lines of constant length do no work."""
    dead = some.system.once(_has_dead_forces)
    if not (some.inputs or dead):
        return []
    forces = [(load.frames[0], load.dead_force) for load in some.robot.loads if load.dead_force is not None]
    pulls = [
        (name, line.tension_per_input * pull)
        for name, line in some.robot.actuators.items()
        if (pull := some.inputs.get(name, 0.0)) and not callable(pull) and getattr(line, "by", "tension") == "tension"
    ]
    if not (forces or pulls):
        return []
    run = some.trajectory()
    return [-run.position(frame) @ force for frame, force in forces] + [pull * run.length(name) for name, pull in pulls]


def penetration(run: Some) -> float | None:
    """How deep the robot sinks in, as a part of its thickness there; None without contact of something thick."""
    found = []
    for number, load in enumerate(run.system.robot.loads):
        if load.touches:
            radii = load.radii(run.system.tables.seats[number].X)
            if np.all(radii > 0.0):
                deep = np.maximum(depths(run.system, number, run.q), 0.0)
                found.append(float(np.max(deep / (2.0 * radii))))
    return max(found, default=None)
