"""What a motion gains of energy out of nothing, and how deep it sinks into obstacles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anguilla.compiler.distant import direct, entry
from anguilla.compiler.jit import part
from anguilla.describe import Load, Robot
from anguilla.mechanics.tree import N_R, N_V, N_W, N_X, Floats
from anguilla.mechanics.vec import dot, load3, load9, tmatvec
from anguilla.model.evaluate import descend
from anguilla.model.model import SMALL, Inputs, Model
from anguilla.results.acting import energies
from anguilla.results.contacts import contact_energy, depths, load_energy
from anguilla.results.reactions import grasps, relaxes

if TYPE_CHECKING:
    from anguilla.results.states import Status, Trajectory

ENERGIES = 64  # instants at which energies are looked at
NOTHING = np.zeros((0, 0))
SHORT = 1001  # states of a motion that may be kept whole until somebody asks
# windows of a motion; states of one at least; energies of contacts that count as alike, as parts of that in play
WINDOWS, NARROWEST, ALIKE = 25, 5, 1e-4
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

    def thinned(self) -> Some:
        """A few of its instants."""
        if len(self.t) <= 1.5 * ENERGIES:
            return self
        rows = np.arange(ENERGIES) * (len(self.t) - 1) // (ENERGIES - 1)
        return self._replace(t=self.t[rows], q=self.q[rows], v=self.v[rows], lam=self.lam[rows])


def some_of(run: Trajectory) -> Callable[[], Some]:
    """A motion at the instants at which energies are looked at, made when it is needed; it does not keep a long one."""
    states = Some(type(run), run.robot, run.system, run.status, run.t, run.q, run.v, run.stored.lam, run.inputs)
    if len(run.t) <= SHORT:
        return states.thinned
    some = states.thinned()
    return lambda: some


def energy_gain(some: Some) -> tuple[float | None, float]:
    """Largest gain of energy as a part of that in play, and its end [s]; None where something unknown works on the robot."""
    system = some.system
    if not passive(system, some.inputs):
        return None, 0.0
    robot, small = system.robot, system.size <= SMALL
    kept = [load_energy(system, some.q)] if robot.loads or len(system.blank.touches.table) else []
    if not small:
        kept = [sum(kept, system.elastic_energy(some.q))]
    rows = [*kept, *potentials(some)]
    others = np.stack(rows) if rows else NOTHING
    gain, k, play, size = direct(_gained)(
        system.tree,
        system.workspace,
        *system.once(_steady if small else _steady_large),
        some.q,
        some.v,
        others,
        bool(kept),
    )
    if play < STILL**2 * system.once(_firmest) + ROUND_OFF * size:
        return 0.0, 0.0  # it stands still
    return (gain / play if play > 0.0 else 0.0), float(some.t[k])


def gain_of_touching(run: Trajectory, enough: float) -> tuple[float, float]:
    """Gain of energy of a motion with contacts, as a part of that in play, and its end [s]; exact if more than `enough`.

    In play are the energy at the start and all work of weight and dead forces. Means over a twenty-fifth of the motion
    are compared, as fast modes trade energy with the steps, and only with later ones in which contacts keep as much: what a
    step misses of a contact as it is compressed is made up for as it opens.
    """
    states = Some(type(run), run.robot, run.system, run.status, run.t, run.q, run.v, run.stored.lam, run.inputs)
    some = states if len(run.t) <= SHORT else states.thinned()
    system, wide = run.system, max(NARROWEST, len(some.t) // WINDOWS)
    kinetic, elastic, gravitational = energies(system, some.t, some.q, some.v)
    works = [gravitational, *potentials(some)]
    play = float(kinetic[0] + max(elastic[0] - np.min(elastic), 0.0) + sum(np.sum(np.abs(np.diff(x))) for x in works))
    size = float(np.max(np.abs(elastic)) + sum(np.max(np.abs(x)) for x in works))
    if len(some.t) < 2 * wide or play <= STILL**2 * system.once(_firmest) + ROUND_OFF * size:
        return 0.0, 0.0  # too short to say, or it stands still: nothing may be in play at all
    total, kept = kinetic + elastic + np.sum(works, axis=0), contact_energy(system, some.q)
    gain, at = _grown(total, kept, play, wide)
    if gain > enough and grasps(system.blank) and some is states:  # what bristles keep
        meeting = [load for load in run.robot.loads if load.meets]
        held = sum((run.contacts(load).energy for load in meeting), np.zeros(len(some.t)))
        held -= contact_energy(system, some.q, obstacles=False) if meeting else 0.0
        gain, at = _grown(total + held, kept + held, play, wide)
    return gain, float(some.t[at])


def _grown(total: Floats, kept: Floats, play: float, wide: int) -> tuple[float, int]:
    """Largest growth of the means of an energy (nt,), as a part of that in play, and the middle of the later one."""
    mean = lambda x: np.convolve(x, np.ones(wide) / wide, "valid")
    means, held = mean(total), mean(kept)
    later = np.triu(held[:, None] <= held[None, :] + ALIKE * play)
    growth = np.where(later, means[None, :] - means[:, None], 0.0)
    growth[0] = np.maximum(growth[0], means - total[0])
    row, column = np.unravel_index(int(np.argmax(growth)), growth.shape)
    return float(growth[row, column]) / play, int(column) + wide // 2


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
    return float(np.max(system.elastic.diagonal() / system.tree.scale**2, initial=0.0))


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


def potentials(some: Some) -> list[Floats]:
    """Energies (nt,) [J] of dead forces, and of lines under constant tension; lines of constant length do no work."""
    robot = some.robot
    if not (robot.loads or robot.actuators):
        return []
    run = some.trajectory()
    forces = [(load.frames[0], load.dead_force) for load in robot.loads]
    found = [-run.position(frame) @ force for frame, force in forces if force is not None]
    for name, line in robot.actuators.items():
        pull = some.inputs.get(name, 0.0)
        if pull and not callable(pull) and getattr(line, "by", "tension") == "tension":
            found.append(line.tension_per_input * pull * run.length(name))
    return found


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
