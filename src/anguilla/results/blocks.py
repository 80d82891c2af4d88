"""States of a motion, evaluated in compiled code block by block: reading a long motion takes bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import interpreted
from anguilla.describe import FrameMotion
from anguilla.interact.kernels.contact import keep_grips
from anguilla.interact.kernels.rubbing import UNKNOWN, keep_rubbing, rubs, set_friction
from anguilla.interact.kernels.table import DT, KIND, THRUSTER, TIME, Loads
from anguilla.interact.kernels.thruster import step_states
from anguilla.interact.kernels.touch_steps import keep_bristles
from anguilla.mechanics.relaxing import keep_relaxing
from anguilla.mechanics.tree import N_A, N_AL, N_MI, N_R, N_V, N_W, N_X, Floats, Ints
from anguilla.model.evaluate import residual
from anguilla.model.model import Inputs, LoadTable, Model
from anguilla.results.reactions import bend, evaluate, grasps, straighten

__all__ = ["BYTES", "Block", "Evaluations", "Remembered", "States", "parts"]

BYTES = 4_000_000  # of an array in a block, about
KEPT = N_MI  # numbers kept of a node: its motion, and the wrench from it on


class States(NamedTuple):
    """States one after the other; loads may remember those before."""

    t: Floats  # (nt,) [s]
    q: Floats  # (nt, n)
    v: Floats  # (nt, n)
    a: Floats  # (nt, n)
    lam: Floats  # (nt, m) multipliers

    def some(self, at: slice | Ints) -> States:
        """Some of them."""
        return States(*(array[at] for array in self))


@dataclass(frozen=True)
class AtStates:
    """An input that was a function of time, by its values at the instants of states; straight lines in between."""

    t: Floats  # (nt,) [s]
    values: Floats  # (nt,)

    def __call__(self, t: float) -> float:
        """Value at time t [s]."""
        return float(np.interp(t, self.t, self.values))

    def at_times(self, times: Floats) -> Floats:
        """Values at many times [s], at once."""
        return np.interp(times, self.t, self.values)


class Remembered(NamedTuple):
    """What loads remember of the states before."""

    state: Floats  # (f, 3, 6) integrals of thrusters, as in Frames.state
    slip: Floats  # (places, 2, 2) of tendons with friction, as in Cables.slip
    held: Floats  # (h, 2, 7) bristles of contacts, as in Touches.held
    past: Floats  # internal coordinates of viscoelastic rods, as in Relaxing.past

    @classmethod
    def of(cls, loads: Loads) -> Remembered:
        """The arrays in which loads remember."""
        return cls(loads.frames.state, loads.cables.slip, loads.touches.held, loads.relaxing.past)

    def copy(self) -> Remembered:
        """What they remember now."""
        return Remembered(*(array.copy() for array in self))

    @property
    def flat(self) -> Floats:
        """All numbers (k,), one after the other."""
        return np.concatenate([array.ravel() for array in self])

    def shaped(self, numbers: Floats) -> Remembered:
        """Numbers (k,) in arrays like these."""
        ends = np.cumsum([array.size for array in self])[:-1]
        pieces = zip(self, np.split(numbers, ends), strict=True)
        return Remembered(*(piece.reshape(array.shape).copy() for array, piece in pieces))

    def recall(self, before: Remembered) -> None:
        """Let them remember that."""
        for array, value in zip(self, before, strict=True):
            array[:] = value


@dataclass(frozen=True)
class Block:
    """Some states and what their evaluation gave, over a leading axis (nb, ...).

    Attributes:
        at: which of the states.
        states: the states themselves.
        loads: the tables of the loads, which all states share.
        row: what depends on time in the loads (nb, ...).
        residual: residual, then constraints (nb, n + m).
        node: motion of the nodes asked for, and the wrench from each on (nb, nodes, KEPT), as in Workspace.node.
        wrench: of frame loads (nb, f, 6), world axes.
        tension: inputs of actuators, given or found (nb, actuators).
        factor: parts of it that friction leaves in free spans (nb, spans).
        stress: of streams along fish (nb, s, 6).
        pushed: wrenches of contacts between parts on the nodes that they act on (nb, v, 6), world axes.
        told: what else is known of each of them (nb, t, 10), as in `Touches.told`.

    """

    at: slice
    states: States
    loads: Loads
    row: Floats
    residual: Floats
    node: Floats
    wrench: Floats
    tension: Floats
    factor: Floats
    stress: Floats
    pushed: Floats
    told: Floats

    @property
    def found(self) -> tuple[Floats, ...]:
        """All that the evaluation gave."""
        whole = self.residual, self.node, self.wrench, self.tension, self.factor
        return *whole, self.stress, self.pushed, self.told

    def motion(self, nodes: Ints) -> FrameMotion:
        """Motion (nb, k) of some nodes (k,), of a block of all."""
        node = self.node[:, nodes]
        three = (node[:, :, k : k + 3] for k in (N_X, N_W, N_V, N_AL, N_A))
        return FrameMotion(node[:, :, N_R : N_R + 9].reshape(*node.shape[:2], 3, 3), *three)

    def some(self, at: slice, rows: Ints) -> Block:
        """Some of its states, which are those `at` of a shorter motion."""
        arrays = (
            self.row,
            self.residual,
            self.node,
            self.wrench,
            self.tension,
            self.factor,
            self.stress,
            self.pushed,
            self.told,
        )
        return Block(at, self.states.some(rows), self.loads, *(array[rows] for array in arrays))


def parts(count: int, numbers: int) -> Iterator[slice]:
    """Slices of `count` states, such that an array with so many numbers for each of them takes about BYTES."""
    size = max(1, BYTES // (8 * max(1, numbers)))
    for first in range(0, count, size):
        yield slice(first, min(first + size, count))


def _split(pieces: Iterator[slice], at: list[int]) -> Iterator[slice]:
    """The same slices, cut where new ones shall begin."""
    for piece in pieces:
        ends = [piece.start, *(k for k in at if piece.start < k < piece.stop), piece.stop]
        yield from map(slice, ends[:-1], ends[1:])


@entry(residual)
def evaluate_states(
    tree, ws, loads, column, table, times, steps, q, v, a, lam, nodes,
    out, motion, wrench, tension, factor, stress, pushed, told,
):  # fmt: skip
    """Evaluate states one after the other, loads remembering those before, and keep what was found.

    column (w,) are the places in loads.row that change with time, table (nb, w) their values; steps (nb,) [s] are the times
    since the state before. The rest is that of `Block`.
    """
    for t in range(len(q)):
        for j in range(len(column)):
            loads.row[column[j]] = table[t, j]
        loads.row[TIME], loads.row[DT] = times[t], steps[t]
        if len(loads.relaxing.term) > 0:
            loads.relaxing.over[0] = steps[t] if steps[t] > 0.0 else math.inf
        residual(tree, ws, loads, q[t], v[t], a[t], lam[t], out[t])
        for j in range(len(nodes)):
            for k in range(KEPT):
                motion[t, j, k] = ws.node[nodes[j], k]
        for f in range(wrench.shape[1]):
            for k in range(6):
                wrench[t, f, k] = loads.frames.wrench[f, k]
        for k in range(tension.shape[1]):
            tension[t, k] = loads.tension[k]
        for k in range(factor.shape[1]):
            factor[t, k] = loads.pairs.factor[k]
        for s in range(stress.shape[1]):
            for k in range(6):
                stress[t, s, k] = loads.streams.stress[s, k]
        for k in range(6):
            for s in range(pushed.shape[1]):
                pushed[t, s, k] = loads.touches.wrench[s, k]
        for s in range(told.shape[1]):
            for k in range(told.shape[2]):
                told[t, s, k] = loads.touches.told[s, k]
        if rubs(loads.cables):
            keep_rubbing(loads.cables, 1.0)
        if len(loads.touches.table) > 0:
            keep_bristles(loads.touches)
        keep_grips(loads.frames)
        step_states(loads.frames, steps[t])
        if len(loads.relaxing.term) > 0:
            keep_relaxing(tree, loads.relaxing, q[t], loads.relaxing.over[0])
            loads.relaxing.over[0] = math.inf


@dataclass(frozen=True)
class Evaluations:
    """States of a motion that can be evaluated, in blocks.

    Attributes:
        model: the robot.
        states: the states.
        inputs: inputs of the actuators.
        whole: the states of the whole motion, and which of them these are; None if they are all, or nothing remembers.
        memory: what loads remember at the first state of all, if that is not the start of a motion.
        known: what they remember at states that were not reached in one step from the one before, which does not tell it.

    """

    model: Model
    states: States
    inputs: Inputs
    whole: tuple[States, Ints] | None = None
    memory: Remembered | None = None
    known: dict[int, Remembered] = field(default_factory=dict)

    def blocks(
        self, nodes: Ints | None = None, *, in_space: bool = False, idle: bool = False, single: bool = False
    ) -> Iterator[Block]:
        """Evaluate the states in order; integrals of thrusters are taken over them by the trapezoidal rule.

        Args:
            nodes: the nodes to keep; all if not given.
            in_space: find wrenches out of the plane of a flat robot too.
            idle: without the forces of actuators and constraints.
            single: one state in each block, so that what the tables of the loads hold belongs to it.

        """
        nodes = np.arange(len(self.model.tree.parent)) if nodes is None else nodes
        if self.whole is None:
            yield from self._evaluate(self.states, nodes, in_space, idle, single)
            return
        states, rows = self.whole
        for block in self._evaluate(states, nodes, in_space, idle, single):
            first, last = np.searchsorted(rows, (block.at.start, block.at.stop))
            if first < last:
                yield block.some(slice(int(first), int(last)), rows[first:last] - block.at.start)

    def remembered(self) -> dict[int, Remembered]:
        """What loads remember at each state, by its number."""
        before, rows = self._until_last()
        blocks = before.blocks(np.zeros(0, np.int64), single=True)
        every = [Remembered.of(self.model.blank).copy() for _ in blocks]
        return {k: every[row] for k, row in enumerate(rows.tolist())}

    def _until_last(self) -> tuple[Evaluations, Ints]:
        """The whole motion up to the last of these states, and which of its states these are."""
        states, rows = self.whole or (self.states, np.arange(len(self.states.t)))
        last = int(rows[-1]) + 1
        known = {row: memory for row, memory in self.known.items() if row < last}
        return Evaluations(self.model, states.some(slice(last)), self.inputs, memory=self.memory, known=known), rows

    def end(self) -> Remembered:
        """What loads remember at the last state; integrals of thrusters begin anew."""
        for _ in self._until_last()[0].blocks(np.zeros(0, np.int64)):
            pass
        frames, memory = self.model.blank.frames, Remembered.of(self.model.blank).copy()
        memory.state[frames.table[:, KIND] == THRUSTER] = 0.0
        return memory

    def inside(self) -> tuple[Floats, Floats, Floats]:
        """Internal coordinates (nt, p, n) of the Prony terms of rods, and the weights and times [s] (p, n) of these."""
        relaxing, lane = self.model.blank.relaxing, self.model.tree.lane
        states, rows = self.whole or (self.states, np.arange(len(self.states.t)))
        count = relaxing.term.shape[1] // 2
        term = relaxing.term[relaxing.owner].reshape(self.model.size, count, 2)
        weight, time = term[:, :, 0].T, term[:, :, 1].T
        z = np.zeros((len(states.t), count, self.model.size))
        x = np.diff(states.t)[:, None, None] / time
        left, added = np.exp(-x), -np.expm1(-x) / x * np.diff(states.q, axis=0)[:, None]
        known = dict(self.known) if self.memory is None else {0: self.memory, **self.known}
        for k in range(len(z)):
            if k in known:
                z[k] = known[k].past.reshape(count + 1, -1)[1:, lane]
            elif k:
                z[k] = left[k - 1] * z[k - 1] + added[k - 1]
        return z[rows], weight, time

    def overstrain(self) -> Floats | None:
        """What Prony terms add to the coordinates (nt, n) that rods are stressed by; None without."""
        if not len(self.model.blank.relaxing.term):
            return None
        z, weight, _ = self.inside()
        return np.einsum("tpn,pn->tn", z, weight)

    def _evaluate(self, states: States, nodes: Ints, in_space: bool, idle: bool, single: bool) -> Iterator[Block]:
        """Blocks of states, from the first that loads remember."""
        model = self.model
        tree, shared = model.spatial if in_space else model.tree, model.blank
        memory = Remembered.of(shared)
        kept = self.memory or Remembered(
            np.zeros_like(memory.state), np.full_like(memory.slip, UNKNOWN), *map(np.zeros_like, memory[2:])
        )
        steps = np.diff(states.t, prepend=states.t[:1])
        steps[0] = 0.0 if self.memory is None else np.finfo(np.float64).tiny
        numbers = len(shared.row) + KEPT * len(nodes) + shared.frames.wrench.size + model.size + model.rows
        steps[list(self.known)] = np.finfo(np.float64).tiny
        starts = self.memory is None and 0 not in self.known and len(states.t) > 1 and grasps(shared)
        cuts = sorted({*self.known, 1} if starts else self.known)
        for at in _split(parts(len(states.t), BYTES if single else numbers), cuts):
            kept = self.known.get(at.start, kept)
            some, table = states.some(at), _loads(model, states.t[at], self.inputs, idle)
            memory.recall(kept)  # others may have used the model since the last block
            if steps[at.start] == 0.0 and rubs(
                shared.cables
            ):  # all that is known of the lines is that they were drawn in
                evaluate(model, table.at(0), *(x[0] for x in some[1:]), in_space=in_space)
                set_friction(tree, model.workspace, shared.cables, shared.pairs)
            bent = starts and at.start == 0 and bend(model, table.at(0), some.q[0], some.v[0], float(steps[1]))
            block = _empty(model, at, some, table, len(nodes))
            lam = np.zeros_like(some.lam) if idle else some.lam
            out = block.found
            fixed = tree, model.workspace, table.loads, table.column, table.table
            kernel = interpreted(evaluate_states, {"residual": model.user.residual}) if model.user else evaluate_states
            kernel(*fixed, some.t, steps[at], *some[1:4], lam, nodes, *out)
            if bent:
                straighten(shared)
            kept = memory.copy()
            yield block


def _loads(model: Model, times: Floats, inputs: Inputs, idle: bool) -> LoadTable:
    """Loads at some times; idle actuators pull with nothing (those driven by their length do so without multipliers)."""
    if idle:
        held = zip(model.robot.actuators, model.blank.constraints.input_row, strict=True)
        by_length = {name: inputs[name] for name, row in held if row >= 0}
        inputs = {name: value for name, value in inputs.items() if name in model.robot.ports} | by_length
    return model.loads(times, inputs)


def _empty(model: Model, at: slice, states: States, table: LoadTable, nodes: int) -> Block:
    """A block to be filled."""
    count, loads = len(states.t), table.loads
    row = np.tile(loads.row, (count, 1))
    row[:, table.column], row[:, TIME] = table.table, states.t
    return Block(
        at, states, loads, row, np.zeros((count, model.size + model.rows)), np.zeros((count, nodes, KEPT)),
        np.zeros((count, *loads.frames.wrench.shape)), np.zeros((count, len(loads.tension))),
        np.zeros((count, len(loads.pairs.factor))), np.zeros((count, *loads.streams.stress.shape)),
        np.zeros((count, *loads.touches.wrench.shape)), np.zeros((count, *loads.touches.told.shape)),
    )  # fmt: skip
